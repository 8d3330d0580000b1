"""Streams: one cycle after another, never the same, frame by frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import BoolArray, FloatArray, SingleArray
from gaitway.core.errors import VariationError
from gaitway.motion.anatomy import PARTS
from gaitway.motion.clip import Clip
from gaitway.variation.network.model import VariationModel
from gaitway.variation.network.regression import Noise, unroll
from gaitway.variation.network.spread import TakeWeights
from gaitway.variation.network.texture import filter_reach, filtered
from gaitway.variation.sampling.synthesis import Gain, check_all_generated, dials, first_frames, with_detail


@dataclass(frozen=True, eq=False)
class StreamFrame:
    """One frame of a stream."""

    root_position: FloatArray
    """Position of the root [m]; (3,)."""
    rotations: FloatArray
    """Local rotations; (J, 4)."""
    contacts: BoolArray | None
    """Contact points that rest on the ground; (C,)."""
    phase: float
    """Phase within the cycle, from 0 to 1."""


@dataclass(frozen=True)
class _StreamCourse:
    """How far a stream has come at its last frame."""

    heading: float = 0.0
    """Heading [rad]."""
    wanted: float = 0.0
    """Mean heading of the takes [rad]."""
    phase: float = 0.0
    cycles: int = 0
    """Number of whole cycles."""


class Stream:
    """A motion without end; `next` gives rows, which are the same however many the caller asks for at a time."""

    def __init__(self, model: VariationModel, rng: np.random.Generator, gain: Gain = 1.0) -> None:
        if not model.cyclic:
            raise VariationError(f"'{model.name}' does not repeat, so it cannot be streamed; learn it with cyclic=True")
        self.model = model
        self._dials = dials(gain)
        self._rng = rng
        self._literal = model.options.literal
        self._reach = 0 if self._literal else filter_reach(model.dofs.fps)
        self._course = _StreamCourse()
        self._weights = TakeWeights(rng, model.variation, model.variation.memory)
        before = self._weights.next(2, self._dials)
        if self._literal:
            self._last = model.prior.sample(rng)
            self._phases = np.zeros(2)
        else:
            self._last = first_frames(model, rng, before[1:])[0]
            self._phases = np.array([0.0, 1.0 / float(model.course.paces[0, 0])])
            self._buffer = self._unrolled(2 * self._reach)

    def next(self, frames: int) -> tuple[FloatArray, FloatArray]:
        """Return the next frames as scaled rows (F, n), and their phases (F,)."""
        rows, phases, mix = self._unrolled(frames)
        if self._literal:
            return rows, phases
        # smoothing needs frames before and behind, so the returned frames are `reach` frames old
        whole = [np.concatenate([old, new]) for old, new in zip(self._buffer, (rows, phases, mix), strict=True)]
        reach, end = self._reach, self._reach + frames
        self._buffer = whole[0][frames:], whole[1][frames:], whole[2][frames:]
        smooth, phases, mix = filtered(whole[0], self.model.dofs.fps), whole[1][reach:end], whole[2][reach:end]
        return self._steered(with_detail(self.model, smooth, phases, mix, self._dials), phases), phases

    def _unrolled(self, frames: int) -> tuple[FloatArray, FloatArray, SingleArray]:
        """Return the network's next rows (F, n), phases (F,) and weights of takes (F, parts + 1, takes)."""
        model, n = self.model, len(self.model.dofs)
        mix = np.zeros((1, frames + 2, len(PARTS) + 1, len(model.variation.table)), np.float32)
        course, noise, limits = None, None, None
        draws = np.zeros((1, frames + 2, n), np.float32)
        if self._literal:
            draws[0, 2:] = self._rng.standard_normal((frames, n)) * self._dials[model.dofs.parts]
        else:
            mix[0, 2:] = self._weights.next(frames, self._dials)
            course, limits = model.course, np.full(len(PARTS) + 1, model.variation.natural)
            noise = Noise(mix, model.variation.table, model.variation.stream_gains)
        got = unroll(
            model.rows, model.transition, self._last[None], self._phases[None],
            frames + 2, draws=draws, course=course, noise=noise, parts=model.dofs.parts, limits=limits,
        )  # fmt: skip
        self._last, self._phases = got.values[0, -2:].astype(np.float64), got.phases[0, -2:].astype(np.float64)
        return got.values[0, 2:].astype(np.float64), got.phases[0, 2:].astype(np.float64), mix[0, 2:]

    def _steered(self, values: FloatArray, phases: FloatArray) -> FloatArray:
        """Return the frames with the mean heading of the takes in the long run; other turns fade within a cycle.

        Otherwise small errors of the turning rate would add up, and a straight walk would end in a circle.
        """
        names, model, last = self.model.dofs.names, self.model, self._course
        if "turning" not in names:
            return values
        column = names.index("turning")
        over = np.diff(phases, prepend=last.phase) < 0.0  # a new cycle
        cycles = last.cycles + np.cumsum(over)
        at = np.arange(len(model.headings)) / model.course.grid
        wanted = np.interp(phases, at, model.headings) + cycles * model.headings[-1]
        leak = 1.0 / model.alignment.period
        turned = (values[:, column] * model.scale[column] + model.centre[column]) / model.dofs.fps
        drawn = turned + leak * np.concatenate([[last.wanted], wanted[:-1]])
        # heading[t] = (1 - leak) heading[t - 1] + leak wanted[t - 1] + turned[t]
        begin = np.array([(1.0 - leak) * last.heading])
        heading, _ = scipy.signal.lfilter([1.0], [1.0, leak - 1.0], drawn, zi=begin)
        rate = np.diff(heading, prepend=last.heading) * model.dofs.fps
        self._course = _StreamCourse(float(heading[-1]), float(wanted[-1]), float(phases[-1]), int(cycles[-1]))
        values[:, column] = (rate - model.centre[column]) / model.scale[column]
        return values


def stream(model: VariationModel, rng: np.random.Generator, gain: Gain = 1.0, chunk: int = 16) -> Iterator[StreamFrame]:
    """Yield frames without end, from the origin on.

    Args:
        model: Model of a cyclic motion.
        rng: Random generator; the same state gives the same stream.
        gain: How far the motion goes from the mean, as in `sample`.
        chunk: Number of frames that are made at a time; more is a little faster, and adds delay.

    Raises:
        VariationError: if the motion is not cyclic.
    """
    check_all_generated(model)
    source, place = Stream(model, rng, gain), np.zeros(3)
    return _frames(source, place, chunk)


def _frames(source: Stream, place: FloatArray, chunk: int) -> Iterator[StreamFrame]:
    model = source.model
    last: FloatArray | None = None
    while True:
        scaled, phases = source.next(chunk)
        rows = scaled * model.scale + model.centre
        contacts = model.contacts_at(phases)
        # one more frame in front, from which the path goes on
        whole = rows if last is None else np.concatenate([last[None], rows])
        roots, local, path = model.dofs.poses(whole, place)
        place, skip = path[-1], len(whole) - len(rows)
        for frame in range(len(rows)):
            touching = None if contacts is None else contacts[frame]
            at = frame + skip
            yield StreamFrame(roots[at], local[at], touching, float(phases[frame] / model.alignment.period))
        last = rows[-1]


def stream_clip(model: VariationModel, rng: np.random.Generator, seconds: float, gain: Gain = 1.0) -> Clip:
    """Return a stream of some length as one clip."""
    check_all_generated(model)
    frames = max(3, round(seconds * model.dofs.fps))
    scaled, phases = Stream(model, rng, gain).next(frames)
    rows = scaled * model.scale + model.centre
    return model.dofs.clip(
        rows, f"{model.name}_stream", contacts=model.contacts_at(phases), labels=("variant", "stream")
    )
