"""How takes spread about their mean, and the random draws that make variants spread in the same way.

Independent draws for each degree of freedom, as in the thesis, give a spread that is too narrow and too rough, and lose
what joints have in common: if one arm swings high, so does the other. So here weights of takes are drawn. The residual
of a take at some phase is the difference between its step and the step that the network predicts from the other takes.
The residual of a variant is a mix of the residuals of all takes, with the same weights for all joints; the weights
change slowly. Its covariance and its texture are those of the takes' residuals. Where a take was fast in all joints so
is the variant: timing varies along with the poses. (If even a tenth of the variance were drawn for each part of the
body alone, joints would no longer go together as in takes, and a test on their correlations would show it.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray, IntArray, SingleArray
from gaitway.variation.network.phase import PhaseAlignment, resampled
from gaitway.variation.network.regression import MeanCourse, TrainingRows, closed, unroll
from gaitway.variation.network.structure import Structure
from gaitway.variation.network.texture import Texture

TIMING = "timing"
"""Name of the gain of the pace, beside those of the parts of the body."""
_SETTLED = 6.0
"""Number of time constants after which a smooth process has forgotten that it began at zero."""
_LEAST_SPREAD = 0.02
"""Least deviation between takes, in deviations of the column."""
_SMOOTH = 0.02
"""Standard deviation of the filter over spreads, in lengths of the motion."""


@dataclass(frozen=True, eq=False)
class Drift:
    """Correction of where whole variants lead: small errors of the root's velocities add up, as in a turn."""

    found: FloatArray
    """Mean sum of each column over a variant as it is drawn; (n,)."""
    wanted: FloatArray
    """Mean sum of each column over the takes; (n,)."""
    gains: FloatArray
    """Share of the difference from the mean sum that is kept; (n,)."""

    @staticmethod
    def none(nodes: int) -> Drift:
        """Return a correction that changes nothing."""
        return Drift(np.zeros(nodes), np.zeros(nodes), np.ones(nodes))

    def shift(self, rows: FloatArray) -> FloatArray:
        """Return the values to add to all frames of a variant (F, n); (n,)."""
        total = run_total(rows)
        return np.asarray((self.wanted + self.gains * (total - self.found) - total) / max(len(rows) - 1, 1))


def run_total(rows: FloatArray) -> FloatArray:
    """Return the sum of each column (F, n) without the first frame, whose velocity leads nowhere; (n,)."""
    return np.asarray(rows[1:].sum(axis=0, dtype=np.float64))


@dataclass(frozen=True, eq=False, kw_only=True)
class Variation:
    """What variants are made of besides the network's means."""

    table: SingleArray
    """Residuals by take and phase, scaled so that weights of deviation one give the takes' covariance; those of the
    pace are in the last column; (takes, G, n + 1)."""
    spreads: SingleArray
    """Standard deviation between takes by phase; (G, n)."""
    gains: SingleArray
    """Gains of the residuals, by which variants spread as wide as the takes; (n + 1,)."""
    stream_gains: SingleArray
    """The same for streams; (n + 1,)."""
    memory: float
    """Time constant of the weights in a stream [frames]. In a single variant the weights are constant, so that early
    and late frames belong together as those of a take do."""
    natural: float
    """Greatest deviation of a part of the body in a frame, root mean square in deviations of the takes."""
    texture: Texture
    """Detail that is finer than the network's motion."""
    drift: Drift
    """Correction of where a whole variant leads."""


def spread_table(takes: Sequence[FloatArray], alignment: PhaseAlignment, cyclic: bool) -> SingleArray:
    """Return the standard deviation between takes (F, n) by phase, smoothed; (G, n)."""
    grid = np.linspace(0.0, alignment.period, len(alignment.mean))
    warped = np.array([resampled(take, phase, grid) for take, phase in zip(takes, alignment.phases, strict=True)])
    mode = "wrap" if cyclic else "nearest"
    smooth = scipy.ndimage.gaussian_filter1d(warped.std(axis=0, ddof=1), _SMOOTH * len(grid), axis=0, mode=mode)
    out: SingleArray = np.maximum(smooth, _LEAST_SPREAD).astype(np.float32)
    return out


def make_course(
    takes: Sequence[FloatArray], alignment: PhaseAlignment, cyclic: bool, spreads: SingleArray
) -> MeanCourse:
    """Return tables by phase of mean and pace of takes (F, n), with the deviation that was learnt."""
    grid = np.linspace(0.0, alignment.period, len(alignment.mean))
    warped = np.array([resampled(take, phase, grid) for take, phase in zip(takes, alignment.phases, strict=True)])
    paces = np.mean([_paces(phase, grid, cyclic, alignment.period) for phase in alignment.phases], axis=0)
    return MeanCourse(
        paces[:, None].astype(np.float32),
        warped.mean(axis=0).astype(np.float32),
        spreads,
        alignment.grid,
    )


def _paces(phase: FloatArray, grid: FloatArray, cyclic: bool, period: float) -> FloatArray:
    """Return the number of frames for a unit of phase at each entry of the grid.

    Their mean over takes gives the mean length of the takes; the mean of their inverses would not.
    """
    steps = 1.0 / np.diff(phase)
    if cyclic:
        return np.interp(grid, phase[:-1], steps, period=period)
    return np.interp(grid, phase[:-1], steps)


def residual_table(
    rows: TrainingRows, structure: Structure, takes: Sequence[FloatArray], alignment: PhaseAlignment, cyclic: bool
) -> SingleArray:
    """Return the residuals of every take by phase, as predicted from the other takes; (takes, G, n + 1)."""
    grid = np.linspace(0.0, alignment.period, len(alignment.mean))
    pace = [_paces(phase, grid, cyclic, alignment.period) for phase in alignment.phases]
    scale = np.sqrt(max(len(takes) - 1, 1)) / len(takes)  # weights of deviation one then give the unbiased covariance
    out = np.zeros((len(takes), len(grid), rows.nodes + 1), np.float32)
    for number, (take, phase) in enumerate(zip(takes, alignment.phases, strict=True)):
        whole, when = closed(take, phase, alignment.period) if cyclic else (take, phase)
        if cyclic and rows.phase_weight > 0.0:
            when = np.mod(when, alignment.period)
        starts = np.stack([whole[:-2], whole[1:-1]], axis=1)
        phases = np.stack([when[:-2], when[1:-1], when[2:]], axis=1)
        omitted = np.full(len(starts), number if len(takes) > 1 else -1)
        got = unroll(rows, structure, starts, phases, 3, omitted=omitted)
        rest = whole[2:] - got.values[:, 2]
        order = np.argsort(when[1:-1], kind="stable")
        at = when[1:-1][order]
        for node in range(rows.nodes):
            out[number, :, node] = np.interp(grid, at, rest[order, node], period=alignment.period if cyclic else None)
        out[number, :, -1] = pace[number] - np.mean(pace, axis=0)
    # relative to the mean of the other takes, differences are larger by this factor
    out[..., -1] *= len(takes) / max(len(takes) - 1, 1)
    return out * np.float32(scale)


class TakeWeights:
    """Weights of takes, drawn frame by frame: constant, or slowly changing with a time constant `memory` [frames].

    Changing weights are normal processes of deviation one, smoothed twice with that time constant. The same generator
    gives the same weights, however many frames the caller asks for at a time.
    """

    def __init__(self, rng: np.random.Generator, variation: Variation, memory: float) -> None:
        self._rng, self._takes = rng, len(variation.table)
        self._constant: FloatArray | None = None
        if np.isinf(memory):
            self._constant = rng.standard_normal(self._takes)
            return
        m = float(np.exp(-1.0 / max(memory, 1e-3)))
        self._coefficients = [1.0], [1.0, -2.0 * m, m * m]
        # deviation of white noise of deviation one after the two filters
        self._scale = np.sqrt((1.0 - m * m) ** 3 / (1.0 + m * m))
        self._state = np.zeros((2, self._takes))
        self._filtered(int(np.ceil(_SETTLED * memory)) + 1)

    def _filtered(self, frames: int) -> FloatArray:
        white = self._rng.standard_normal((frames, self._takes))
        out, self._state = scipy.signal.lfilter(*self._coefficients, white, axis=0, zi=self._state)
        return np.asarray(self._scale * out, dtype=np.float64)

    def next(self, frames: int, dials: FloatArray) -> SingleArray:
        """Return the weights of the next frames, those of the pace last; (frames, parts + 1, takes).

        They are the same for all parts but for the factors `dials` (parts + 1,).
        """
        if self._constant is not None:
            drawn = np.repeat(self._constant[None], frames, axis=0)
        else:
            drawn = self._filtered(frames)
        whole: SingleArray = (drawn[:, None] * dials[None, :, None]).astype(np.float32)
        return whole


def node_mix(weights: SingleArray, parts: IntArray) -> FloatArray:
    """Return the weights (parts + 1, takes) of one frame for every node; (n, takes)."""
    return weights[parts].astype(np.float64)
