"""Phases of a motion: how far it has come in each frame, so that takes of different timing can be compared.

A person who stands still before cheering looks like one who stands still after it. Two frames alone do not tell whether
the motion is about to begin or to end. So each frame has a phase, in frames of a take of mean length. The phases are
found by warping every take to the common mean. The phase of a cyclic motion starts again with every cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray
from gaitway.variation.network import _phase_kernels

_EVENNESS = 1.0
"""Cost of matching two frames that are a whole motion apart; it divides pauses evenly between takes."""
_LEAST_NOISE = 0.02
"""Variance between takes, of columns of variance one, below which a column gains no more weight."""
_SMOOTH = 0.03
"""Standard deviation of the filter over warped time, in lengths of the motion."""
_SLOWEST = 0.3
"""Least step of the phase from frame to frame."""
_ROUNDS = 2
"""Number of times that takes are warped to their mean, after the first warp to one of them."""
_TAIL = 8
"""Greatest number of frames at the end of a cycle that repeat its beginning."""
_CLOSED = 0.35
"""Greatest distance between the last and the first frame of a cycle, relative to that of any two of its frames."""
_ONWARD = 0.2
"""Least cosine of the angle between the steps at the end and at the beginning of a cycle."""
_MOVING = 0.3
"""Least speed of a cycle where it closes, relative to its mean speed; a motion that rests there is no cycle."""


@dataclass(frozen=True, eq=False)
class PhaseAlignment:
    """Phases of takes that are aligned in time, in frames of a take of mean length."""

    period: float
    """Phase of the last frame."""
    phases: tuple[FloatArray, ...]
    """Phases of every take's frames, from 0 to the period; (F,) each."""
    mean: FloatArray
    """Mean of the takes at equal phases, about one frame apart; (G, n)."""
    weights: FloatArray
    """Weight of each column in finding phases; (n,)."""

    @property
    def grid(self) -> float:
        """Entries of `mean` per unit of phase."""
        return (len(self.mean) - 1) / self.period


def align_phases(takes: Sequence[FloatArray]) -> PhaseAlignment:
    """Warp takes (F, n), whose columns are scaled to deviation one, to their common mean."""
    lengths = [len(take) for take in takes]
    period = float(np.mean(lengths)) - 1.0
    grid = np.linspace(0.0, 1.0, round(period) + 1)
    middle = takes[int(np.argsort(lengths, kind="stable")[len(takes) // 2])]
    mean = resampled(middle, np.linspace(0.0, 1.0, len(middle)), grid)
    shares = [np.linspace(0.0, 1.0, length) for length in lengths]
    weights = np.ones(takes[0].shape[1])
    for _ in range(_ROUNDS + 1):
        warped = np.array([resampled(take, share, grid) for take, share in zip(takes, shares, strict=True)])
        weights = _phase_weights(warped)
        shares = [phase_shares(take, mean, weights) for take in takes]
        mean = np.mean([resampled(take, share, grid) for take, share in zip(takes, shares, strict=True)], axis=0)
    return PhaseAlignment(period, tuple(period * share for share in shares), mean, weights)


def phase_shares(take: FloatArray, mean: FloatArray, weights: FloatArray) -> FloatArray:
    """Return how far each frame of a take has come through a motion.

    Args:
        take: Take; (F, n).
        mean: Mean motion; (G, n).
        weights: Weights of the columns; (n,).

    Returns:
        Shares (F,) from 0 to 1, rising.
    """
    frames = len(take)
    even = np.linspace(0.0, 1.0, frames)
    if frames < 4 or len(mean) < 4:
        return even
    a, b = take * np.sqrt(weights), mean * np.sqrt(weights)
    # not by SciPy's cdist, which rounds otherwise: models would no longer be the same bit for bit
    costs = np.maximum((a**2).sum(1)[:, None] + (b**2).sum(1)[None] - 2.0 * a @ b.T, 0.0) / take.shape[1]
    costs = np.ascontiguousarray(costs + _EVENNESS * (even[:, None] - np.linspace(0.0, 1.0, len(mean))[None]) ** 2)
    path = np.zeros((frames + len(mean), 2), np.int64)
    count = _phase_kernels.warp(costs, path)
    if count == 0:
        return even
    path = path[-count:]
    matched = np.bincount(path[:, 0], path[:, 1], frames) / np.bincount(path[:, 0], minlength=frames)
    bent = matched / (len(mean) - 1) - even
    bent[[0, -1]] = 0.0
    width = _SMOOTH * frames
    away = max(1, min(frames - 1, int(4 * width)))
    padded = np.concatenate([-bent[away:0:-1], bent, -bent[-2 : -away - 2 : -1]])  # odd: both ends stay
    smooth = scipy.ndimage.gaussian_filter1d(padded, width)[away : away + frames]
    steps = np.maximum(np.diff(even + smooth), _SLOWEST / frames)
    gone = np.cumsum(steps)
    return np.concatenate([[0.0], gone / gone[-1]])


def resampled(values: FloatArray, at: FloatArray, grid: FloatArray) -> FloatArray:
    """Return columns (F, n), known at rising places `at` (F,), at the places `grid` (G,); (G, n)."""
    places = np.interp(grid, at, np.arange(len(at)))
    lower = np.minimum(places.astype(np.int64), len(at) - 2)
    share = (places - lower)[:, None]
    out: FloatArray = (1.0 - share) * values[lower] + share * values[lower + 1]
    return out


def cycle_ends(takes: Sequence[FloatArray]) -> list[int] | None:
    """Return the frame in which each take (F, n) is where it began and moves as it did; None if they are no cycles.

    A tail that repeats the beginning is allowed.
    """
    if min(map(len, takes)) < 2 * _TAIL:
        return None
    grid = np.linspace(0.0, 1.0, min(map(len, takes)))
    even = np.array([resampled(take, np.linspace(0.0, 1.0, len(take)), grid) for take in takes])
    weights = np.sqrt(_phase_weights(even))
    scaled = [take * weights for take in takes]
    apart = np.array([[np.linalg.norm(rows[-1 - tail] - rows[0]) for tail in range(_TAIL + 1)] for rows in scaled])
    tail = int(np.median(apart, axis=0).argmin())  # one tail for all: takes were cut in the same way
    gaps = apart[:, tail] / np.sqrt(2.0 * (weights**2).sum())
    turns, seams = [], []
    for rows in scaled:
        steps = rows[2:] - rows[:-2]
        before, after = steps[len(rows) - 3 - tail], steps[0]
        speeds = np.linalg.norm(before), np.linalg.norm(after)
        turns.append(float(before @ after) / max(float(speeds[0] * speeds[1]), 1e-12))
        seams.append(0.5 * float(speeds[0] + speeds[1]) / float(np.linalg.norm(steps, axis=1).mean()))
    closed = np.median(gaps) <= _CLOSED and np.median(turns) >= _ONWARD and np.median(seams) >= _MOVING
    return [len(take) - 1 - tail for take in takes] if closed else None


def _phase_weights(warped: FloatArray) -> FloatArray:
    """Return how much each column of takes at equal phases (takes, G, n) tells about the phase; (n,), one on average.

    A column in which takes differ throughout, such as how the head is held, tells little about the phase.
    """
    weights = 1.0 / (warped.var(axis=0).mean(axis=0) + _LEAST_NOISE)
    out: FloatArray = weights / weights.mean()
    return out
