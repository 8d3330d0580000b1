"""Rows of training data, and the kernel regression that predicts the next frame from the last two.

A row is three frames that follow one another in a take: where they were at t and t+1, and the step to t+2. Of a motion
that is cyclic the first frames follow the last ones, moved to where those left off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray, read_only
from gaitway.variation.network import _score_kernels
from gaitway.variation.network._neighbour_kernels import FAR, LANES, Bits
from gaitway.variation.network.phase import Clock
from gaitway.variation.sampling import _unroll_kernels

_WINDOW_S = 0.1
"""Time over which neighbours are taken, where their number is not given [s]."""
_MOST_NEIGHBOURS = 60


@dataclass(frozen=True)
class Kernel:
    """Settings of the regression."""

    neighbours: int = 0
    """Nearest rows that count; 0: as many as all takes have in a tenth of a second. More is smoother and nearer to the
    mean."""
    width: float = 0.7
    """Kernel width, in distances of the farthest of them."""
    taper: bool = True
    """Weights fall to zero at the farthest of them, so that none comes or goes with a jerk; False: equation 5.5."""
    velocity: float = 1.0
    """Weight of the velocity term in distances, in deviations of that velocity."""
    pull: float = 0.1
    """Share of the way to the neighbours' mean that is gone in each frame; 0 is the thesis's (steps alone), 1 its
    absolute values. Without it, and without a clock, a stream drifts or freezes."""
    span: float = 1.0
    """Values may leave the range of the takes by this share of it; a last fence, far out where limits hold them."""
    clock: float = 0.02
    """Difference in phase that counts as much as one deviation of a degree of freedom, in lengths of the motion; 0 for
    no clock (the thesis)."""


@dataclass(frozen=True, eq=False)
class Rows:
    """All rows of some takes, sorted by phase; twice where the motion is cyclic."""

    pairs: SingleArray
    """Frames t and t+1, scaled; (2n, R)."""
    steps: SingleArray
    """From t+1 to t+2; (n, R)."""
    phases: SingleArray
    """Of frame t+1; (R,)."""
    takes: IntArray
    """The take of each row; (R,)."""
    spans: SingleArray
    """Least and greatest value; (n, 2)."""
    velocities: SingleArray
    """Weights of the velocity terms; (n,)."""
    half_period: float
    """Of a cyclic motion; `FAR` for others."""
    clock: float
    """Weight of squared differences in phase."""
    kernel: Kernel
    neighbours: int
    """As many as there are when the longest take is left out, if that is less than the kernel asks for."""

    @property
    def count(self) -> int:
        """Of different rows."""
        return int(self.steps.shape[1]) // (2 if self.half_period < FAR else 1)

    @cached_property
    def padded(self) -> tuple[SingleArray, SingleArray, SingleArray, Bits]:
        """`pairs`, `steps`, `phases` and `takes` with a block of zeros behind them, for kernels that go by blocks."""
        pairs, steps, phases = (_single(_longer(part)) for part in (self.pairs, self.steps, self.phases))
        owners: Bits = _longer(self.takes.astype(np.int32))
        owners.setflags(write=False)
        return pairs, steps, phases, owners

    @property
    def nodes(self) -> int:
        """Degrees of freedom."""
        return int(self.steps.shape[0])


def make_rows(takes: Sequence[FloatArray], clock: Clock, cyclic: bool, kernel: Kernel, fps: float) -> Rows:
    """The rows of takes (F, n), scaled to deviation one, at `fps` frames a second."""
    olds, news, steps, phases, owners = [], [], [], [], []
    for number, (take, phase) in enumerate(zip(takes, clock.phases, strict=True)):
        whole, when = (take, phase) if not cyclic else closed(take, phase, clock.period)
        olds.append(whole[:-2])
        news.append(whole[1:-1])
        steps.append(whole[2:] - whole[1:-1])
        phases.append(when[1:-1])
        owners.append(np.full(len(whole) - 2, number))
    old, new, step, phase, owner = (np.concatenate(part) for part in (olds, news, steps, phases, owners))
    spread = step.std(axis=0)
    count, largest = len(owner), int(np.bincount(owner).max())
    half, timed = float(FAR), kernel.clock > 0.0
    if cyclic and timed:
        half = 0.5 * clock.period
        phase = np.mod(phase, clock.period)
        phase = np.concatenate([phase, np.where(phase < half, phase + clock.period, phase - clock.period)])
        old, new, step, owner = (np.concatenate([part, part]) for part in (old, new, step, owner))
    order = np.argsort(phase, kind="stable")
    low, high = new.min(axis=0), new.max(axis=0)
    room = kernel.span * (high - low)
    single = _single
    wanted = kernel.neighbours or int(np.clip(len(takes) * max(2, round(_WINDOW_S * fps)), 6, _MOST_NEIGHBOURS))
    return Rows(
        single(np.concatenate([old, new], axis=1)[order].T),
        single(step[order].T),
        single(phase[order]),
        read_only(owner[order].astype(np.int64)),
        single(np.column_stack([low - room, high + room])),
        single(kernel.velocity / (spread**2 + 1e-6)),
        half,
        1.0 / (kernel.clock * clock.period) ** 2 if timed else 0.0,
        kernel,
        max(2, min(wanted, count - largest if len(takes) > 1 else count)),
    )


def closed(take: FloatArray, phase: FloatArray, period: float) -> tuple[FloatArray, FloatArray]:
    """A cycle and its phases, with two frames of its next round behind it."""
    again = take[-1] + (take[1:3] - take[0])
    return np.concatenate([take, again]), np.concatenate([phase, period + phase[1:3]])


def _longer(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.concatenate([values, np.zeros((*values.shape[:-1], LANES), values.dtype)], axis=-1)


def _single(values: npt.ArrayLike) -> SingleArray:
    return read_only(np.ascontiguousarray(values, dtype=np.float32))


@dataclass(frozen=True, eq=False)
class Noise:
    """What is added to the means: residuals of the takes, mixed; made by `gaitway.variation.network.spread`."""

    mix: SingleArray
    """Weights; (B, F, parts + 1, takes), the last for the clock."""
    table: SingleArray
    """Residuals by take and phase; (takes, G, n + 1), the clock's last."""
    gains: SingleArray
    """(n + 1,)."""


@dataclass(frozen=True, eq=False)
class Course:
    """How a motion goes on average: tables by phase."""

    paces: SingleArray
    """Frames that a unit of phase takes; (G, 1)."""
    means: SingleArray
    """(G, n)."""
    spreads: SingleArray
    """Deviation between takes; (G, n)."""
    grid: float
    """Entries per unit of phase."""


@dataclass(frozen=True, eq=False)
class Unrolled:
    """Sequences that a network gave."""

    values: SingleArray
    """(B, F, n)."""
    variances: SingleArray
    """Of the step to each frame, as predicted; (B, F, n)."""
    phases: SingleArray
    """(B, F)."""


def unroll(
    rows: Rows,
    parents: IntArray,
    counts: IntArray,
    start: npt.ArrayLike,
    phases: npt.ArrayLike,
    frames: int,
    *,
    omitted: npt.ArrayLike | None = None,
    given: npt.ArrayLike | None = None,
    fixed: BoolArray | None = None,
    draws: npt.ArrayLike | None = None,
    course: Course | None = None,
    noise: Noise | None = None,
    parts: IntArray | None = None,
    limits: FloatArray | None = None,
) -> Unrolled:
    """Unroll sequences from their first two frames.

    Args:
        rows: training data.
        parents: of each node, below n in frame t, others in t+1; (n, most).
        counts: how many each has; (n,).
        start: first two frames; (B, 2, n).
        phases: (B, 2) of these, after which they follow the course, or (B, frames) if they are all given.
        frames: to unroll, the first two included.
        omitted: take whose rows each sequence must not use; (B,).
        given: values of the columns that are `fixed`; (B, frames, n).
        fixed: columns that are given; (n,).
        draws: normals for independent noise; (B, frames, n).
        course: needed for a clock that runs, for noise and for limits.
        noise: residuals of takes to add.
        parts: part of the body of each node; (n,).
        limits: how far each part may deviate, root mean square in deviations.
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
    _unroll_kernels.unroll(
        rows.steps.shape[1], pairs, steps, moments, owners, read_only(parents), read_only(counts), rows.velocities,
        *_settings(rows), rows.spans, read_only(omit), out, variances, when, read_only(held),
        known.shape[1] == frames, read_only(unit), read_only(noise.mix), read_only(noise.table),
        read_only(course.paces), read_only(noise.gains), read_only(course.means), read_only(course.spreads),
        read_only(parts), read_only(np.bincount(parts, minlength=noise.mix.shape[2])), _limits(limits),
        float(course.grid),
    )  # fmt: skip
    return Unrolled(out, variances, when)


def score_changes(
    rows: Rows,
    parents: IntArray,
    counts: IntArray,
    truth: SingleArray,
    guess: SingleArray,
    lengths: IntArray,
    phases: SingleArray,
    floor: float,
    draws: SingleArray,
    nodes: IntArray,
    allowed: BoolArray,
) -> FloatArray:
    """Score of nodes after each change of one edge, the other nodes being as in `guess`; (nodes, 2n).

    Args:
        rows: training data.
        parents: (n, most).
        counts: (n,).
        truth: the takes; (takes, F, n).
        guess: the takes as the network gives them at present.
        lengths: of the takes; (takes,).
        phases: of the takes; (takes, F).
        floor: least variance of an error.
        draws: normals; (takes, F, n).
        nodes: whose edges are changed.
        allowed: which parents may be changed; (nodes, 2n).
    """
    out = np.empty((len(nodes), 2 * rows.nodes))
    _score_kernels.score_changes(
        read_only(nodes), read_only(truth), read_only(guess), read_only(lengths), read_only(phases), rows.pairs,
        rows.steps, rows.phases, rows.takes, read_only(parents), read_only(counts), rows.velocities, *_settings(rows),
        rows.spans, float(floor), read_only(draws), read_only(allowed), out,
    )  # fmt: skip
    return out


def _settings(rows: Rows) -> tuple[int, Any, bool, Any, Any, Any]:
    single = np.float32
    kernel = rows.kernel
    return (
        rows.neighbours, single(kernel.width), bool(kernel.taper), single(kernel.pull), single(rows.clock),
        single(rows.half_period),
    )  # fmt: skip


def _limits(limits: FloatArray | None) -> FloatArray:
    return read_only(np.zeros(0) if limits is None else np.asarray(limits, dtype=np.float64))


def _no_course(nodes: int) -> Course:
    ones = np.ones((2, nodes), np.float32)
    return Course(np.ones((2, 1), np.float32), ones, ones, 0.0)


def _no_noise(batch: int, frames: int, nodes: int) -> Noise:
    single = np.float32
    return Noise(
        np.zeros((batch, frames, 2, 1), single), np.zeros((1, 2, nodes + 1), single), np.zeros(nodes + 1, single)
    )
