"""Things in a take: what they are, who has them when, and where they are at any time.

A take knows things by its facts. Each thing has a track of spans: from a time on it stands somewhere, or it is fixed to
a joint of somebody, so that it follows whatever that body does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import TakeError
from gaitway.motion.kinematics import forward_kinematics
from gaitway.take.evaluation import sampled
from gaitway.take.model import Take
from gaitway.world.shapes import Box, Cylinder, Shape, Sphere
from gaitway.world.world import World

BOX, CYLINDER, BALL = "box", "cylinder", "ball"
MOVER = "mover"
"""What has a thing that rides on a mover."""
COLOR = "#c8a04a"
"""Colour of a thing that has none."""
_MOST_ROWS = 6
"""Most capsules that fill a flat thing."""


@dataclass(frozen=True)
class ThingSpan:
    """Where a thing is from a time on."""

    start: float
    """[s]."""
    who: str | None
    """Who has it, or the mover that it is on; None if it stands somewhere."""
    part: str
    """Role of the joint that it is fixed to, such as right_wrist or head, or "mover"; empty if it stands somewhere."""
    pose: tuple[float, ...]
    """Its origin [m] and its turn (wxyz), in the world or in the frame of the joint or the mover; (7,)."""


@dataclass(frozen=True)
class ThingTrack:
    """A thing of a take. Its own frame has its origin in the middle of its underside, and z up."""

    name: str
    shape: str
    """"box", "cylinder" or "ball"."""
    size: tuple[float, float, float]
    """Length, width and height [m]."""
    color: str
    spans: tuple[ThingSpan, ...]
    """In the order of time."""

    def span(self, time: float) -> ThingSpan:
        """Return the span of a time [s]; the first one before that."""
        return next((span for span in reversed(self.spans) if span.start <= time + 1e-9), self.spans[0])

    def solid(self) -> Shape:
        """Return its shape at the origin."""
        length, width, height = self.size
        if self.shape == CYLINDER:
            return Cylinder((0.0, 0.0), 0.5 * length, height)
        return Sphere((0.0, 0.0), 0.5 * length) if self.shape == BALL else Box((0.0, 0.0), (length, width), height)


def things_of(take: Take) -> tuple[ThingTrack, ...]:
    """Return all things of a take.

    Raises:
        TakeError: if the facts of the take say something else than they should.
    """
    told = take.facts.get("things", {})
    try:
        return tuple(_track(name, row) for name, row in told.items())
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as problem:
        raise TakeError(f"the facts about things cannot be read: {problem}") from None


def thing_facts(shape: str, size: Sequence[float], color: str | None, rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Return what the facts of a take say about one thing, as plain JSON values.

    Args:
        shape: "box", "cylinder" or "ball".
        size: length, width and height [m].
        color: as #rrggbb; None for the usual one.
        rows: time [s], who has it, with which part, and its pose (7,), one row for each span.
    """
    return {"shape": shape, "size": list(size), "color": color or COLOR, "spans": [list(row) for row in rows]}


def thing_poses(
    take: Take, track: ThingTrack, times: npt.ArrayLike, world: World | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return where a thing is at times (N,) [s]: origins (N, 3) [m] and turns (N, 4).

    Args:
        take: the take.
        track: the thing.
        times: when [s].
        world: the world, for things that ride on a mover.
    """
    at = np.atleast_1d(np.asarray(times, dtype=np.float64))
    starts = np.array([span.start for span in track.spans])
    chosen = np.clip(np.searchsorted(starts, at + 1e-9, side="right") - 1, 0, len(starts) - 1)
    places, turns = np.empty((len(at), 3)), np.empty((len(at), 4))
    for number, span in enumerate(track.spans):
        some = np.flatnonzero(chosen == number)
        if len(some):
            places[some], turns[some] = _placed(take, span, at[some], world)
    return places, turns


def thing_capsules(form: str, size: Sequence[float]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return capsules that fill a thing, in its own frame: starts (N, 3), ends (N, 3) and radii (N,) [m]."""
    length, width, height = size
    if form == BALL:
        ends = np.array([[0.0, 0.0, 0.5 * height - 1e-3], [0.0, 0.0, 0.5 * height + 1e-3]])
        return ends[:1], ends[1:], np.array([0.5 * height])
    if form == CYLINDER and height >= width:
        radius = 0.5 * width
        ends = np.array([[0.0, 0.0, radius - 1e-4], [0.0, 0.0, height - radius + 1e-4]])
        return ends[:1], ends[1:], np.array([radius])
    order = np.argsort(np.round([-length, -width, -height], 9), kind="stable")
    longest, middle, least = (int(k) for k in order)
    sizes, centre = np.array(size), np.array([0.0, 0.0, 0.5 * height])
    radius = 0.5 * float(sizes[least])
    count = min(max(math.ceil(sizes[middle] / sizes[least]), 1), _MOST_ROWS)
    starts, ends = np.tile(centre, (count, 1)), np.tile(centre, (count, 1))
    aside = np.linspace(-1.0, 1.0, count) * (0.5 * sizes[middle] - radius) if count > 1 else np.zeros(1)
    half = np.full(count, max(0.5 * float(sizes[longest]) - radius, 1e-3))
    if form == CYLINDER:  # a disc: chords
        half = np.maximum(np.sqrt(np.maximum((0.5 * width - radius) ** 2 - aside**2, 0.0)), 1e-3)
    starts[:, middle] += aside
    ends[:, middle] += aside
    starts[:, longest] -= half
    ends[:, longest] += half
    return starts, ends, np.full(count, radius)


def _placed(take: Take, span: ThingSpan, times: FloatArray, world: World | None) -> tuple[FloatArray, FloatArray]:
    own_at, own_turn = np.array(span.pose[:3]), np.array(span.pose[3:])
    if span.who is None:
        return np.tile(own_at, (len(times), 1)), np.tile(own_turn, (len(times), 1))
    if span.part == MOVER:
        mover = None if world is None else next((one for one in world.movers if one.name == span.who), None)
        poses = np.zeros((len(times), 3)) if mover is None else mover.pose(times)
        at, turn = np.column_stack([poses[:, :2], np.zeros(len(times))]), rotations.from_yaw(poses[:, 2])
    else:
        at, turn = joint_path(take, take.index(span.who), span.part, times)
    return at + rotations.rotate(turn, own_at), rotations.normalize(rotations.multiply(turn, own_turn))


def joint_path(take: Take, character: int, role: str, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where a joint of a character is at times (N,) [s]: places (N, 3) [m] and turns (N, 4)."""
    body = int(take.bodies[character])
    skeleton = take.skeletons[body]
    who: IntArray = np.full(len(times), character, dtype=np.int64)
    positions, world = forward_kinematics(skeleton, *sampled(take, body, who, times))
    (joint,) = skeleton.require(role)
    return positions[:, joint], world[:, joint]


def _track(name: str, row: Mapping[str, Any]) -> ThingTrack:
    length, width, height = (float(v) for v in row["size"])
    spans = tuple(
        ThingSpan(float(start), who, str(part), tuple(float(v) for v in pose))
        for start, who, part, pose in row["spans"]
    )
    if not spans or any(len(span.pose) != 7 for span in spans) or row["shape"] not in (BOX, CYLINDER, BALL):
        raise ValueError(f"thing '{name}' has no spans, or another shape than it may have")
    return ThingTrack(name, row["shape"], (length, width, height), str(row["color"]), spans)
