"""Things in a take: what they are, who has them when, and where they are at any time.

A take knows things by its facts. Each thing has a track of spans: from a time on it stands somewhere, or it is fixed to
a joint of somebody, so that it follows whatever that body does.
"""

from __future__ import annotations

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
from gaitway.world.shapes import Shape, TriangleMesh
from gaitway.world.thing_forms import MESH, SHAPES, mesh_facts, mesh_told, solid_form
from gaitway.world.world import World

MOVER = "mover"
"""What has a thing that rides on a mover."""
COLOR = "#c8a04a"
"""Colour of a thing that has none."""


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
    """"box", "cylinder", "ball" or "mesh"."""
    size: tuple[float, float, float]
    """Length, width and height [m]."""
    color: str
    spans: tuple[ThingSpan, ...]
    """In the order of time."""
    mesh: TriangleMesh | None = None
    """The triangles of a mesh, in its own frame."""

    def span(self, time: float) -> ThingSpan:
        """Return the span of a time [s]; the first one before that."""
        return next((span for span in reversed(self.spans) if span.start <= time + 1e-9), self.spans[0])

    def solid(self) -> Shape:
        """Return its shape at the origin."""
        return solid_form(self.shape, self.size, self.mesh)


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


def thing_facts(
    shape: str, size: Sequence[float], color: str | None, rows: Sequence[Sequence[Any]],
    mesh: TriangleMesh | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return what the facts of a take say about one thing, as plain JSON values.

    Args:
        shape: "box", "cylinder", "ball" or "mesh".
        size: length, width and height [m].
        color: as #rrggbb; None for the usual one.
        rows: time [s], who has it, with which part, and its pose (7,), one row for each span.
        mesh: the triangles of a mesh.
    """
    told = {"shape": shape, "size": list(size), "color": color or COLOR, "spans": [list(row) for row in rows]}
    return told if mesh is None else {**told, "mesh": mesh_facts(mesh)}


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
    if not spans or any(len(span.pose) != 7 for span in spans) or row["shape"] not in SHAPES:
        raise ValueError(f"thing '{name}' has no spans, or another shape than it may have")
    mesh = mesh_told(row["mesh"]) if row["shape"] == MESH else None
    return ThingTrack(name, row["shape"], (length, width, height), str(row["color"]), spans, mesh)
