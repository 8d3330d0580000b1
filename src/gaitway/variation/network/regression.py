"""Training rows, and the kernel regression that predicts the next frame from the last two.

A training row is three consecutive frames of a take: the values in frames t and t+1, and the step to frame t+2. In a
cyclic motion the first frames follow the last ones, moved to where those ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray, read_only
from gaitway.variation.network import _score_kernels, _unroll_kernels
from gaitway.variation.network._neighbour_kernels import FAR, LANES, Bits, KernelSettings, RowArrays
from gaitway.variation.network._score_kernels import TakeArrays
from gaitway.variation.network._unroll_kernels import CourseArrays, NoiseArrays, PartArrays, SequenceArrays
from gaitway.variation.network.phase import PhaseAlignment
from gaitway.variation.network.structure import Structure

_WINDOW_S = 0.1
"""Time whose frames, of all takes, are the neighbours, where their number is not given [s]."""
_MOST_NEIGHBOURS = 60
"""Greatest number of neighbours, where it is not given."""


@dataclass(frozen=True)
class RegressionKernel:
    """Settings of the regression."""

    neighbours: int = 0
    """Number of nearest rows that count; 0: as many as all takes have in a tenth of a second. More neighbours give
    smoother motion nearer to the mean."""
    width: float = 0.7
    """Kernel width, as a multiple of the distance of the farthest neighbour."""
    taper: bool = True
    """Whether weights fall to zero at the farthest neighbour, so that none comes or goes with a jerk; False: equation
    5.5."""
    velocity: float = 1.0
    """Weight of the velocity term in distances, in deviations of that velocity."""
    pull: float = 0.1
    """Share of the distance to the neighbours' mean that a value moves in each frame. 0 is the thesis's method (steps
    alone), 1 its absolute values. Without a pull, and without phases, a stream drifts or freezes."""
    span: float = 1.0
    """Share of the range of the takes by which values may leave that range; it only matters where there are no other
    limits."""
    phase_scale: float = 0.02
    """Difference in phase that counts as much as one deviation of a degree of freedom, in lengths of the motion; 0:
    phases do not count (the thesis)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingRows:
    """All training rows of some takes, sorted by phase; those of a cyclic motion are stored twice."""

    pairs: SingleArray
    """Scaled values in frames t and t+1; (2n, R)."""
    steps: SingleArray
    """Steps from frame t+1 to t+2; (n, R)."""
    phases: SingleArray
    """Phases of frame t+1; (R,)."""
    takes: IntArray
    """Number of the take of each row; (R,)."""
    spans: SingleArray
    """Least and greatest value that a column may have; (n, 2)."""
    velocities: SingleArray
    """Weights of the velocity terms; (n,)."""
    half_period: float
    """Half the period of a cyclic motion; `FAR` for other motions."""
    phase_weight: float
    """Weight of squared differences in phase."""
    kernel: RegressionKernel
    neighbours: int
    """Number of neighbours. It is never more than the rows that are left when the longest take is omitted."""

    @property
    def count(self) -> int:
        """Number of different rows."""
        return int(self.steps.shape[1]) // (2 if self.half_period < FAR else 1)

    @cached_property
    def padded(self) -> tuple[SingleArray, SingleArray, SingleArray, Bits]:
        """`pairs`, `steps`, `phases` and `takes` with a block of zeros behind them, for kernels that process blocks."""
        pairs, steps, phases = (_single(_longer(part)) for part in (self.pairs, self.steps, self.phases))
        owners: Bits = _longer(self.takes.astype(np.int32))
        owners.setflags(write=False)
        return pairs, steps, phases, owners

    @property
    def nodes(self) -> int:
        """Number of degrees of freedom."""
        return int(self.steps.shape[0])


def make_rows(
    takes: Sequence[FloatArray], alignment: PhaseAlignment, cyclic: bool, kernel: RegressionKernel, fps: float
) -> TrainingRows:
    """Return the training rows of takes (F, n), scaled to deviation one, at `fps` frames a second."""
    olds, news, steps, phases, owners = [], [], [], [], []
    for number, (take, phase) in enumerate(zip(takes, alignment.phases, strict=True)):
        whole, when = (take, phase) if not cyclic else closed(take, phase, alignment.period)
        olds.append(whole[:-2])
        news.append(whole[1:-1])
        steps.append(whole[2:] - whole[1:-1])
        phases.append(when[1:-1])
        owners.append(np.full(len(whole) - 2, number))
    old, new, step, phase, owner = (np.concatenate(part) for part in (olds, news, steps, phases, owners))
    spread = step.std(axis=0)
    count, largest = len(owner), int(np.bincount(owner).max())
    half, timed = float(FAR), kernel.phase_scale > 0.0
    if cyclic and timed:
        half = 0.5 * alignment.period
        phase = np.mod(phase, alignment.period)
        phase = np.concatenate([phase, np.where(phase < half, phase + alignment.period, phase - alignment.period)])
        old, new, step, owner = (np.concatenate([part, part]) for part in (old, new, step, owner))
    order = np.argsort(phase, kind="stable")
    low, high = new.min(axis=0), new.max(axis=0)
    room = kernel.span * (high - low)
    single = _single
    wanted = kernel.neighbours or int(np.clip(len(takes) * max(2, round(_WINDOW_S * fps)), 6, _MOST_NEIGHBOURS))
    return TrainingRows(
        pairs=single(np.concatenate([old, new], axis=1)[order].T),
        steps=single(step[order].T),
        phases=single(phase[order]),
        takes=read_only(owner[order].astype(np.int64)),
        spans=single(np.column_stack([low - room, high + room])),
        velocities=single(kernel.velocity / (spread**2 + 1e-6)),
        half_period=half,
        phase_weight=1.0 / (kernel.phase_scale * alignment.period) ** 2 if timed else 0.0,
        kernel=kernel,
        neighbours=max(2, min(wanted, count - largest if len(takes) > 1 else count)),
    )


def closed(take: FloatArray, phase: FloatArray, period: float) -> tuple[FloatArray, FloatArray]:
    """Return a cycle and its phases, with the first two frames of the next cycle appended."""
    again = take[-1] + (take[1:3] - take[0])
    return np.concatenate([take, again]), np.concatenate([phase, period + phase[1:3]])


def _longer(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.concatenate([values, np.zeros((*values.shape[:-1], LANES), values.dtype)], axis=-1)


def _single(values: npt.ArrayLike) -> SingleArray:
    return read_only(np.ascontiguousarray(values, dtype=np.float32))


@dataclass(frozen=True, eq=False)
class Noise:
    """Noise that is added to the means: a mix of residuals of the takes (`gaitway.variation.network.spread`)."""

    mix: SingleArray
    """Weights of the takes, the last part for the pace; (B, F, parts + 1, takes)."""
    table: SingleArray
    """Residuals by take and phase, those of the pace last; (takes, G, n + 1)."""
    gains: SingleArray
    """Gains of the residuals; (n + 1,)."""


@dataclass(frozen=True, eq=False)
class MeanCourse:
    """The mean motion: tables by phase."""

    paces: SingleArray
    """Number of frames for a unit of phase; (G, 1)."""
    means: SingleArray
    """Mean of the takes; (G, n)."""
    spreads: SingleArray
    """Standard deviation between takes; (G, n)."""
    grid: float
    """Entries per unit of phase."""


@dataclass(frozen=True, eq=False)
class Unrolled:
    """Sequences that a network gave."""

    values: SingleArray
    """Values of the sequences; (B, F, n)."""
    variances: SingleArray
    """Predicted variance of the step to each frame; (B, F, n)."""
    phases: SingleArray
    """Phase of each frame; (B, F)."""


def unroll(
    rows: TrainingRows,
    structure: Structure,
    start: npt.ArrayLike,
    phases: npt.ArrayLike,
    frames: int,
    *,
    omitted: npt.ArrayLike | None = None,
    given: npt.ArrayLike | None = None,
    fixed: BoolArray | None = None,
    draws: npt.ArrayLike | None = None,
    course: MeanCourse | None = None,
    noise: Noise | None = None,
    parts: IntArray | None = None,
    limits: FloatArray | None = None,
) -> Unrolled:
    """Unroll sequences from their first two frames.

    Args:
        rows: Training rows.
        structure: Parents of each node; those below n are in frame t, others in frame t+1.
        start: First two frames; (B, 2, n).
        phases: Phases of the first two frames (B, 2), after which they follow the course; or of all frames (B, frames).
        frames: Number of frames, the first two included.
        omitted: Number of the take whose rows each sequence must not use; (B,).
        given: Values of the columns that are `fixed`; (B, frames, n).
        fixed: Columns whose values are given; (n,).
        draws: Normal numbers for independent noise; (B, frames, n).
        course: Mean motion; needed for phases that are not given, for noise and for limits.
        noise: Residuals of takes to add.
        parts: Part of the body of each node; (n,).
        limits: How far each part may deviate, root mean square in deviations.
    """
    first = np.asarray(start, dtype=np.float32)
    batch, n = len(first), rows.nodes
    out = np.zeros((batch, frames, n), np.float32)
    held = np.zeros(n, np.bool_) if fixed is None else fixed
    if given is not None:
        out[:, :, held] = np.asarray(given, dtype=np.float32)[:, :, held]
    out[:, :2] = first
    when = np.zeros((batch, frames), np.float32)
    known = np.asarray(phases, dtype=np.float32)
    when[:, : known.shape[1]] = known
    course = _no_course(n) if course is None else course
    noise = _no_noise(batch, frames, n) if noise is None else noise
    parts = np.zeros(n, np.int64) if parts is None else parts
    unit = np.zeros((batch, frames, n), np.float32) if draws is None else np.asarray(draws, dtype=np.float32)
    variances = np.zeros_like(out)
    omit = np.full(batch, -1, np.int64) if omitted is None else np.asarray(omitted, dtype=np.int64)
    pairs, steps, moments, owners = rows.padded
    sizes = np.bincount(parts, minlength=noise.mix.shape[2])
    _unroll_kernels.unroll(
        rows.steps.shape[1],
        RowArrays(pairs, steps, moments, owners, rows.velocities, rows.spans),
        _settings(rows),
        read_only(structure.parents),
        read_only(structure.counts),
        SequenceArrays(out, variances, when, read_only(unit), read_only(omit), read_only(held)),
        known.shape[1] == frames,
        NoiseArrays(read_only(noise.mix), read_only(noise.table), read_only(noise.gains)),
        CourseArrays(read_only(course.paces), read_only(course.means), read_only(course.spreads), float(course.grid)),
        PartArrays(read_only(parts), read_only(sizes), _limits(limits)),
    )
    return Unrolled(out, variances, when)


def score_changes(
    rows: TrainingRows,
    structure: Structure,
    resynthesis: TakeArrays,
    nodes: IntArray,
    allowed: BoolArray,
    floor: float,
) -> FloatArray:
    """Return the score of nodes after each change of one edge, with the other nodes as re-synthesised; (nodes, 2n).

    Args:
        rows: Training rows.
        structure: Present structure of the network.
        resynthesis: Takes, and their re-synthesis by the present structure.
        nodes: Numbers of the nodes whose edges are changed.
        allowed: Parents that may be added or removed; (nodes, 2n).
        floor: Least variance of an error.
    """
    out = np.empty((len(nodes), 2 * rows.nodes))
    _score_kernels.score_changes(
        read_only(nodes),
        read_only(allowed),
        TakeArrays(
            truth=read_only(resynthesis.truth),
            guess=read_only(resynthesis.guess),
            lengths=read_only(resynthesis.lengths),
            phases=read_only(resynthesis.phases),
            draws=read_only(resynthesis.draws),
        ),
        RowArrays(rows.pairs, rows.steps, rows.phases, rows.takes, rows.velocities, rows.spans),
        _settings(rows),
        read_only(structure.parents),
        read_only(structure.counts),
        float(floor),
        out,
    )
    return out


def _settings(rows: TrainingRows) -> KernelSettings:
    single, kernel = np.float32, rows.kernel
    return KernelSettings(
        k=rows.neighbours,
        width=single(kernel.width),
        taper=bool(kernel.taper),
        pull=single(kernel.pull),
        phase_weight=single(rows.phase_weight),
        half_period=single(rows.half_period),
    )


def _limits(limits: FloatArray | None) -> FloatArray:
    return read_only(np.zeros(0) if limits is None else np.asarray(limits, dtype=np.float64))


def _no_course(nodes: int) -> MeanCourse:
    ones = np.ones((2, nodes), np.float32)
    return MeanCourse(np.ones((2, 1), np.float32), ones, ones, 0.0)


def _no_noise(batch: int, frames: int, nodes: int) -> Noise:
    single = np.float32
    return Noise(
        np.zeros((batch, frames, 2, 1), single), np.zeros((1, 2, nodes + 1), single), np.zeros(nodes + 1, single)
    )
