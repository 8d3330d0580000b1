"""What variation is not: noise added to a take (Lau 2009, section 5.6.4), as baselines to compare variants with.

Both baselines are given the size that variants have: the normalised sum of squared differences between the noisy take
and the one that it was made of is drawn from that of pairs of a variant and an input, within one deviation of its mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import VariationError
from gaitway.motion.clip import Clip
from gaitway.variation.network.dofs import ROOT_NAMES, Degrees
from gaitway.variation.network.phase import progress, resampled, set_clock

SMOOTHING_S = 0.08
"""Deviation of the filter that smooths the strawman's noise [s]."""
PERLIN_HZ = 1.5
"""Rate of the lattice of Perlin noise; each octave has twice the rate and half the size [Hz]."""
_OCTAVES = 2
_MOMENTS = 48


@dataclass(frozen=True, eq=False)
class Ground:
    """Takes, aligned in time, that noise is added to."""

    takes: tuple[Clip, ...]
    degrees: Degrees
    rows: tuple[FloatArray, ...]
    shares: tuple[FloatArray, ...]
    """How far each frame has come through the motion, from 0 to 1; (F,) each."""
    spread: FloatArray
    """Deviation between takes at equal phases, by column; (48, D)."""
    overall: FloatArray
    """Deviation of each column over all frames; (D,)."""

    @staticmethod
    def of(takes: Sequence[Clip]) -> Ground:
        """Warp takes to one another and measure how they differ, one column at a time.

        Raises:
            VariationError: if there are fewer than two takes.
        """
        if len(takes) < 2:
            raise VariationError(f"{len(takes)} takes; noise is measured by 2 or more")
        degrees = Degrees.of(takes)
        rows = [degrees.rows(take) for take in takes]
        scale = np.concatenate(rows).std(axis=0)
        clock = set_clock([row / scale for row in rows])
        shares = [progress(row / scale, clock.mean, clock.weights) for row in rows]
        moments = np.linspace(0.0, 1.0, _MOMENTS)
        warped = np.array([resampled(row, share, moments) for row, share in zip(rows, shares, strict=True)])
        return Ground(tuple(takes), degrees, tuple(rows), tuple(shares), warped.std(axis=0, ddof=1), scale)

    def size(self, rows: FloatArray, take: int, columns: BoolArray) -> float:
        """Normalised sum of squared differences of columns between rows (F, D) and a take, both at equal phases."""
        moments = np.linspace(0.0, 1.0, _MOMENTS)
        even = np.linspace(0.0, 1.0, len(rows))
        gap = resampled(rows, even, moments) - resampled(
            self.rows[take], np.linspace(0.0, 1.0, len(self.rows[take])), moments
        )
        return float(np.mean((gap / self.overall)[:, columns] ** 2))

    def sizes(self, variants: Sequence[Clip], joints: Sequence[str] | None = None) -> FloatArray:
        """Sizes of all pairs of a variant and a take, in all joints or in these; (pairs,)."""
        rows, columns = [self.degrees.rows(variant) for variant in variants], self.columns(joints)
        return np.array([self.size(row, take, columns) for row in rows for take in range(len(self.takes))])

    @property
    def joints(self) -> BoolArray:
        """Which columns are of joints, and not the root's place and speed; (D,)."""
        return np.asarray(self.degrees.kept >= len(ROOT_NAMES))

    def columns(self, joints: Sequence[str] | None) -> BoolArray:
        """Which columns are of joints, all or these; (D,).

        Raises:
            VariationError: if none of them moves.
        """
        chosen = self.joints if joints is None else self.joints & self.degrees.columns(joints)
        if not chosen.any():
            raise VariationError(f"none of {', '.join(joints or ())} moves; name other joints to add noise to")
        return np.asarray(chosen)


Draw = Callable[[Ground, int, np.random.Generator], FloatArray]
"""Noise (F, D) for one of the takes, of whatever size."""


def strawman_noise(ground: Ground, take: int, rng: np.random.Generator) -> FloatArray:
    """Smoothed noise in each column, by how far takes differ in it at that phase; (F, D)."""
    shape, fps = ground.rows[take].shape, ground.degrees.fps
    white = rng.normal(size=shape)
    smooth = scipy.ndimage.gaussian_filter1d(white, SMOOTHING_S * fps, axis=0, mode="reflect")
    smooth /= np.maximum(smooth.std(axis=0), 1e-9)
    moments = np.linspace(0.0, 1.0, _MOMENTS)
    return np.asarray(smooth * resampled(ground.spread, moments, ground.shares[take]))


def perlin_noise(ground: Ground, take: int, rng: np.random.Generator) -> FloatArray:
    """Band-limited gradient noise in each column, by how far takes differ in it on the whole; (F, D)."""
    frames, columns = ground.rows[take].shape
    time = np.arange(frames) / ground.degrees.fps
    total = np.zeros((frames, columns))
    for octave in range(_OCTAVES):
        at = time * PERLIN_HZ * 2**octave + rng.uniform(size=(columns, 1))
        slopes = rng.uniform(-1.0, 1.0, size=(columns, int(at.max()) + 2))
        low = at.astype(np.int64)
        t = at - low
        fade = t**3 * (t * (6.0 * t - 15.0) + 10.0)
        left, right = np.take_along_axis(slopes, low, 1) * t, np.take_along_axis(slopes, low + 1, 1) * (t - 1.0)
        total += ((1.0 - fade) * left + fade * right).T / 2**octave
    return np.asarray(total / np.maximum(total.std(), 1e-9) * np.sqrt((ground.spread**2).mean(axis=0)))


def noisy_takes(
    ground: Ground,
    sizes: FloatArray,
    draw: Draw,
    count: int,
    rng: np.random.Generator,
    joints: Sequence[str] | None = None,
) -> list[Clip]:
    """Takes with noise added to their joints.

    Args:
        ground: the takes.
        sizes: of what to compare with, as `Ground.sizes` gives for the same joints.
        draw: `strawman_noise` or `perlin_noise`.
        count: how many.
        rng: draws takes, sizes and noise.
        joints: only these joints, roles or parts of the body; None for all.
    """
    if len(sizes) < 2:
        raise VariationError(f"{len(sizes)} pairs to match the size of noise with; give 2 or more")
    chosen = ground.columns(joints)
    out = []
    for number in range(count):
        take = int(rng.integers(len(ground.takes)))
        noise = np.where(chosen, draw(ground, take, rng), 0.0)
        wanted = max(float(sizes.mean() + sizes.std() * np.clip(rng.normal(), -1.0, 1.0)), 0.1 * float(sizes.mean()))
        unit = ground.size(ground.rows[take] + noise, take, chosen)
        rows = ground.rows[take] + noise * np.sqrt(wanted / max(unit, 1e-12))
        source = ground.takes[take]
        out.append(ground.degrees.clip(rows, f"{source.name} noise {number + 1}", contacts=source.contacts))
    return out
