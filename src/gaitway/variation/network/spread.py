"""How takes spread about their mean, and the draws that make variants spread as they do.

Independent draws for each degree of freedom, as the thesis has them, give a spread that is too narrow and too rough,
and lose what joints have in common: if one arm swings high, so does the other. So what is drawn here is weights of
takes. The residual of a take at some phase is what its step has beyond what the network predicts from the other takes;
a variant's residual is a mix of those of all takes, the same for all joints, the weights changing slowly. Its
covariance is that of the takes' residuals, its texture is theirs, and where a take was fast in all joints so is the
variant: timing varies along with the poses. (Were even a tenth of the variance drawn for each part of the body alone,
joints would no longer go together as in takes, and a test on their correlations would tell.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray, IntArray, SingleArray
from gaitway.variation.network.phase import Clock, resampled
from gaitway.variation.network.regression import Course, Rows, closed, unroll
from gaitway.variation.network.structure import Structure
from gaitway.variation.network.texture import Texture

TIMING = "timing"
"""The dial of the clock, beside those of the parts of the body."""
_SETTLED = 6.0
"""Time constants after which a smooth process has forgotten that it began at zero."""
_LEAST_SPREAD = 0.02
"""Deviation between takes, in deviations of the column, below which it is not believed."""
_SMOOTH = 0.02
"""Deviation of the filter over spreads, in lengths of the motion."""


@dataclass(frozen=True, eq=False)
class Drift:
    """What the root's velocities of a whole run add up to, put right: a turn is a sum of small errors too."""

    found: FloatArray
    """Sum of each column over a run as it is drawn, on average; (n,)."""
    wanted: FloatArray
    """The same of the takes; (n,)."""
    gains: FloatArray
    """How much of what differs from it is kept; (n,)."""

    @staticmethod
    def none(nodes: int) -> Drift:
        """All is left as it is."""
        return Drift(np.zeros(nodes), np.zeros(nodes), np.ones(nodes))

    def shift(self, rows: FloatArray) -> FloatArray:
        """What is to be added to all frames of a run (F, n); (n,)."""
        total = run_total(rows)
        return np.asarray((self.wanted + self.gains * (total - self.found) - total) / max(len(rows) - 1, 1))


def run_total(rows: FloatArray) -> FloatArray:
    """Sum of each column over a run (F, n), less the first frame, whose velocity leads nowhere; (n,)."""
    return np.asarray(rows[1:].sum(axis=0, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class Variation:
    """What variants are made of besides the network's means."""

    table: SingleArray
    """Residuals by take and phase, scaled so that weights of deviation one give the takes' covariance;
    (takes, G, n + 1), the clock's in the last column."""
    spreads: SingleArray
    """Deviation between takes by phase; (G, n)."""
    gains: SingleArray
    """By which residuals are multiplied so that variants spread as wide as the takes; (n + 1,)."""
    stream_gains: SingleArray
    """The same for streams."""
    memory: float
    """Time constant of the weights in a stream [frames]. Those of a single run of the motion stay as they are drawn: so
    early and late frames of a variant belong together as those of a take do."""
    natural: float
    """How far a part of the body may deviate in a frame, root mean square in deviations of the takes."""
    texture: Texture
    """What is finer than the network's motion."""
    drift: Drift
    """Where a whole run leads to."""


def spread_table(takes: Sequence[FloatArray], clock: Clock, cyclic: bool) -> SingleArray:
    """Deviation between takes (F, n) by phase, smoothed; (G, n)."""
    grid = np.linspace(0.0, clock.period, len(clock.mean))
    warped = np.array([resampled(take, phase, grid) for take, phase in zip(takes, clock.phases, strict=True)])
    mode = "wrap" if cyclic else "nearest"
    smooth = scipy.ndimage.gaussian_filter1d(warped.std(axis=0, ddof=1), _SMOOTH * len(grid), axis=0, mode=mode)
    out: SingleArray = np.maximum(smooth, _LEAST_SPREAD).astype(np.float32)
    return out


def make_course(takes: Sequence[FloatArray], clock: Clock, cyclic: bool, spreads: SingleArray) -> Course:
    """Tables by phase of mean and pace of takes (F, n), with the deviation that was learnt."""
    grid = np.linspace(0.0, clock.period, len(clock.mean))
    warped = np.array([resampled(take, phase, grid) for take, phase in zip(takes, clock.phases, strict=True)])
    paces = np.mean([_paces(phase, grid, cyclic, clock.period) for phase in clock.phases], axis=0)
    return Course(
        paces[:, None].astype(np.float32),
        warped.mean(axis=0).astype(np.float32),
        spreads,
        clock.grid,
    )


def _paces(phase: FloatArray, grid: FloatArray, cyclic: bool, period: float) -> FloatArray:
    """Frames that a unit of phase takes at each place of the grid.

    Their mean over takes gives the mean length of the takes; that of their inverses would not.
    """
    steps = 1.0 / np.diff(phase)
    if cyclic:
        return np.interp(grid, phase[:-1], steps, period=period)
    return np.interp(grid, phase[:-1], steps)


def residual_table(
    rows: Rows, structure: Structure, takes: Sequence[FloatArray], clock: Clock, cyclic: bool
) -> SingleArray:
    """Residuals of every take by phase, predicted from the others; (takes, G, n + 1)."""
    grid = np.linspace(0.0, clock.period, len(clock.mean))
    pace = [_paces(phase, grid, cyclic, clock.period) for phase in clock.phases]
    scale = np.sqrt(max(len(takes) - 1, 1)) / len(takes)  # weights of deviation one then give the unbiased covariance
    out = np.zeros((len(takes), len(grid), rows.nodes + 1), np.float32)
    for number, (take, phase) in enumerate(zip(takes, clock.phases, strict=True)):
        whole, when = closed(take, phase, clock.period) if cyclic else (take, phase)
        if cyclic and rows.clock > 0.0:
            when = np.mod(when, clock.period)
        starts = np.stack([whole[:-2], whole[1:-1]], axis=1)
        phases = np.stack([when[:-2], when[1:-1], when[2:]], axis=1)
        omitted = np.full(len(starts), number if len(takes) > 1 else -1)
        got = unroll(rows, structure.parents, structure.counts, starts, phases, 3, omitted=omitted)
        rest = whole[2:] - got.values[:, 2]
        order = np.argsort(when[1:-1], kind="stable")
        at = when[1:-1][order]
        for node in range(rows.nodes):
            out[number, :, node] = np.interp(grid, at, rest[order, node], period=clock.period if cyclic else None)
        out[number, :, -1] = pace[number] - np.mean(pace, axis=0)
    # those of the other takes are as much larger as the mean without a take is farther from it
    out[..., -1] *= len(takes) / max(len(takes) - 1, 1)
    return out * np.float32(scale)


class Weights:
    """Weights of takes, drawn frame by frame: constant, or slowly changing with a time constant `memory` [frames].

    Each is then a normal process smoothed twice with that time constant; its deviation is one. However many frames are
    asked for at a time, the same generator gives the same weights.
    """

    def __init__(self, rng: np.random.Generator, variation: Variation, memory: float) -> None:
        self._rng, self._takes = rng, len(variation.table)
        self._constant: FloatArray | None = None
        if np.isinf(memory):
            self._constant = rng.standard_normal(self._takes)
            return
        m = float(np.exp(-1.0 / max(memory, 1e-3)))
        self._coefficients = [1.0], [1.0, -2.0 * m, m * m]
        # of white noise of deviation one through the two filters
        self._scale = np.sqrt((1.0 - m * m) ** 3 / (1.0 + m * m))
        self._state = np.zeros((2, self._takes))
        self._filtered(int(np.ceil(_SETTLED * memory)) + 1)

    def _filtered(self, frames: int) -> FloatArray:
        white = self._rng.standard_normal((frames, self._takes))
        out, self._state = scipy.signal.lfilter(*self._coefficients, white, axis=0, zi=self._state)
        return np.asarray(self._scale * out, dtype=np.float64)

    def next(self, frames: int, dials: FloatArray) -> SingleArray:
        """Weights of the next frames; (frames, parts + 1, takes), the clock's last.

        They are the same for all but for the `dials` (parts + 1,), which multiply them.
        """
        if self._constant is not None:
            drawn = np.repeat(self._constant[None], frames, axis=0)
        else:
            drawn = self._filtered(frames)
        whole: SingleArray = (drawn[:, None] * dials[None, :, None]).astype(np.float32)
        return whole


def node_mix(weights: SingleArray, parts: IntArray) -> FloatArray:
    """Weights (parts + 1, takes) of one frame for every node; (n, takes)."""
    return weights[parts].astype(np.float64)
