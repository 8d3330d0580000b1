"""Baselines to compare variants with: takes with noise added (Lau 2009, section 5.6.4).

Both baselines are given the size of variants. The normalised sum of squared differences between a noisy take and its
original is drawn from that of pairs of a variant and an input, within one deviation of its mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import VariationError
from gaitway.motion.clip import Clip
from gaitway.variation.network.dofs import ROOT_NAMES, Dofs
from gaitway.variation.network.phase import align_phases, phase_shares, resampled

SMOOTHING_S = 0.08
"""Standard deviation of the filter that smooths the strawman's noise [s]."""
PERLIN_HZ = 1.5
"""Rate of the lattice of Perlin noise; each octave has twice the rate and half the size [Hz]."""
_OCTAVES = 2
_MOMENTS = 48


@dataclass(frozen=True, eq=False)
class AlignedTakes:
    """Takes, aligned in time, that noise is added to."""

    takes: tuple[Clip, ...]
    dofs: Dofs
    rows: tuple[FloatArray, ...]
    shares: tuple[FloatArray, ...]
    """How far each frame has come through the motion, from 0 to 1; (F,) each."""
    spread: FloatArray
    """Standard deviation between takes at equal phases, by column; (48, D)."""
    overall: FloatArray
    """Standard deviation of each column over all frames; (D,)."""

    @staticmethod
    def of(takes: Sequence[Clip]) -> AlignedTakes:
        """Warp takes to one another and measure how they differ, one column at a time.

        Raises:
            VariationError: if there are fewer than two takes.
        """
        if len(takes) < 2:
            raise VariationError(f"{len(takes)} takes; noise is measured by 2 or more")
        dofs = Dofs.of(takes)
        rows = [dofs.rows(take) for take in takes]
        scale = np.concatenate(rows).std(axis=0)
        alignment = align_phases([row / scale for row in rows])
        shares = [phase_shares(row / scale, alignment.mean, alignment.weights) for row in rows]
        moments = np.linspace(0.0, 1.0, _MOMENTS)
        warped = np.array([resampled(row, share, moments) for row, share in zip(rows, shares, strict=True)])
        return AlignedTakes(tuple(takes), dofs, tuple(rows), tuple(shares), warped.std(axis=0, ddof=1), scale)

    def size(self, rows: FloatArray, take: int, columns: BoolArray) -> float:
        """Return the normalised sum of squared differences between rows (F, D) and a take at equal phases."""
        moments = np.linspace(0.0, 1.0, _MOMENTS)
        even = np.linspace(0.0, 1.0, len(rows))
        gap = resampled(rows, even, moments) - resampled(
            self.rows[take], np.linspace(0.0, 1.0, len(self.rows[take])), moments
        )
        return float(np.mean((gap / self.overall)[:, columns] ** 2))

    def sizes(self, variants: Sequence[Clip], joints: Sequence[str] | None = None) -> FloatArray:
        """Return the sizes of all pairs of a variant and a take, in all joints or in these; (pairs,)."""
        rows, columns = [self.dofs.rows(variant) for variant in variants], self.columns(joints)
        return np.array([self.size(row, take, columns) for row in rows for take in range(len(self.takes))])

    @property
    def joints(self) -> BoolArray:
        """Columns that belong to joints, and not to the root's position and velocity; (D,)."""
        return np.asarray(self.dofs.kept >= len(ROOT_NAMES))

    def columns(self, joints: Sequence[str] | None) -> BoolArray:
        """Return which columns belong to joints, all or these; (D,).

        Raises:
            VariationError: if none of them moves.
        """
        chosen = self.joints if joints is None else self.joints & self.dofs.columns(joints)
        if not chosen.any():
            raise VariationError(f"none of {', '.join(joints or ())} moves; name other joints to add noise to")
        return np.asarray(chosen)


Draw = Callable[[AlignedTakes, int, np.random.Generator], FloatArray]
"""Function that returns noise (F, D) of any size for one of the takes."""


def strawman_noise(aligned: AlignedTakes, take: int, rng: np.random.Generator) -> FloatArray:
    """Return smoothed noise in each column, scaled by how far takes differ in it at that phase; (F, D)."""
    shape, fps = aligned.rows[take].shape, aligned.dofs.fps
    white = rng.normal(size=shape)
    smooth = scipy.ndimage.gaussian_filter1d(white, SMOOTHING_S * fps, axis=0, mode="reflect")
    smooth /= np.maximum(smooth.std(axis=0), 1e-9)
    moments = np.linspace(0.0, 1.0, _MOMENTS)
    return np.asarray(smooth * resampled(aligned.spread, moments, aligned.shares[take]))


def perlin_noise(aligned: AlignedTakes, take: int, rng: np.random.Generator) -> FloatArray:
    """Return band-limited gradient noise in each column, scaled by how far takes differ in it overall; (F, D)."""
    frames, columns = aligned.rows[take].shape
    time = np.arange(frames) / aligned.dofs.fps
    total = np.zeros((frames, columns))
    for octave in range(_OCTAVES):
        at = time * PERLIN_HZ * 2**octave + rng.uniform(size=(columns, 1))
        slopes = rng.uniform(-1.0, 1.0, size=(columns, int(at.max()) + 2))
        low = at.astype(np.int64)
        t = at - low
        fade = t**3 * (t * (6.0 * t - 15.0) + 10.0)
        left, right = np.take_along_axis(slopes, low, 1) * t, np.take_along_axis(slopes, low + 1, 1) * (t - 1.0)
        total += ((1.0 - fade) * left + fade * right).T / 2**octave
    return np.asarray(total / np.maximum(total.std(), 1e-9) * np.sqrt((aligned.spread**2).mean(axis=0)))


def noisy_takes(
    aligned: AlignedTakes,
    sizes: FloatArray,
    draw: Draw,
    count: int,
    rng: np.random.Generator,
    joints: Sequence[str] | None = None,
) -> list[Clip]:
    """Return takes with noise added to their joints.

    Args:
        aligned: Takes.
        sizes: Sizes to match, as `AlignedTakes.sizes` gives for the same joints.
        draw: `strawman_noise` or `perlin_noise`.
        count: Number of clips.
        rng: Generator that draws takes, sizes and noise.
        joints: Only these joints, roles or parts of the body; None for all.
    """
    if len(sizes) < 2:
        raise VariationError(f"{len(sizes)} pairs to match the size of noise with; give 2 or more")
    chosen = aligned.columns(joints)
    out = []
    for number in range(count):
        take = int(rng.integers(len(aligned.takes)))
        noise = np.where(chosen, draw(aligned, take, rng), 0.0)
        wanted = max(float(sizes.mean() + sizes.std() * np.clip(rng.normal(), -1.0, 1.0)), 0.1 * float(sizes.mean()))
        unit = aligned.size(aligned.rows[take] + noise, take, chosen)
        rows = aligned.rows[take] + noise * np.sqrt(wanted / max(unit, 1e-12))
        source = aligned.takes[take]
        out.append(aligned.dofs.clip(rows, f"{source.name} noise {number + 1}", contacts=source.contacts))
    return out
