"""Carried things by their exact triangles, compared with those of obstacles and with bodies by python-fcl.

The audit of things looks at points of a surface; this looks at all of it, where that is asked for. A thing counts as
inside something by as much as it would have to be smaller on all sides to be outside.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from gaitway.audit.penetration import shape_name
from gaitway.audit.report import AuditBars, Finding
from gaitway.audit.things import held_times, thing_finding
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import GaitwayError
from gaitway.motion.body import capsule_body
from gaitway.motion.kinematics import forward_kinematics
from gaitway.take.evaluation import sampled
from gaitway.take.model import Take
from gaitway.take.things import ThingTrack, thing_poses, things_of
from gaitway.world.obstacle import PASSABLE
from gaitway.world.shapes import Shape
from gaitway.world.surface import surface
from gaitway.world.world import World

_LEVELS = (1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0)
"""By how much a thing is made smaller, over the bar, one after another."""
_LEAST_SHARE = 0.2
"""Least share of a thing's size that is left."""
_BODY = 1.2
"""Distance of roots from a thing within which bodies matter [m]."""


class ExactWorld:
    """The obstacles and movers of a world as triangles of python-fcl."""

    def __init__(self, world: World | None) -> None:
        """Prepare.

        Raises:
            GaitwayError: if python-fcl is not installed.
        """
        try:
            self.fcl: Any = import_module("fcl")
        except ImportError:
            raise GaitwayError("exact meshes need python-fcl; write pip install 'gaitway[collision]'") from None
        self.world = world

    @cached_property
    def _standing(self) -> list[tuple[str, Any, FloatArray]]:
        rows = []
        for number, one in enumerate(() if self.world is None else self.world.obstacles):
            if one.kind != PASSABLE and (made := self._model(one.shape)) is not None:
                name = shape_name(one.name or "", one.kind, number)
                rows.append((name, self.fcl.CollisionObject(made[0]), made[1]))
        return rows

    @cached_property
    def _moving(self) -> list[tuple[str, Any, list[tuple[float, Any, FloatArray]]]]:
        rows = []
        for number, mover in enumerate(() if self.world is None else self.world.movers):
            phases = [(phase.start, *made) for phase in mover.phases
                      if phase.kind != PASSABLE and (made := self._model(phase.shape)) is not None]  # fmt: skip
            rows.append((mover.name or f"mover {number}", mover, phases))
        return rows

    def _model(self, shape: Shape) -> tuple[Any, FloatArray] | None:
        vertices, triangles = surface(shape)
        if not len(triangles):
            return None
        return self.triangles(vertices, triangles), np.array([vertices.min(axis=0), vertices.max(axis=0)])

    def triangles(self, vertices: FloatArray, triangles: IntArray) -> Any:
        """Return a model of triangles."""
        model = self.fcl.BVHModel()
        model.beginModel(len(vertices), len(triangles))
        model.addSubModel(np.ascontiguousarray(vertices), np.ascontiguousarray(triangles))
        model.endModel()
        return model

    def thing(self, track: ThingTrack, level: float) -> tuple[Any, float]:
        """Return a model of a thing that is smaller by a level on all sides [m], and how far it reaches [m]."""
        vertices, triangles = surface(track.solid())
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        size, middle = np.maximum(high - low, 1e-6), 0.5 * (low + high)
        share = np.maximum((size - 2.0 * level) / size, _LEAST_SHARE)
        return self.triangles(middle + share * (vertices - middle), triangles), float(
            np.linalg.norm(vertices, axis=1).max()
        )

    def touched(self, thing: Any, far: float, place: FloatArray, turn: FloatArray, time: float) -> str | None:
        """Return the name of what a thing at a place (3,) [m] with a turn (4,) touches at a time [s], or None."""
        one = self.fcl.CollisionObject(thing, self.fcl.Transform(rotations.to_matrix(turn), place))
        for name, other, box in self._standing:
            if ((place + far > box[0]) & (place - far < box[1])).all() and self._meet(one, other):
                return name
        for name, mover, phases in self._moving:
            shown = [phase for phase in phases if phase[0] <= time]
            if shown:
                x, y, heading = mover.pose(time).tolist()
                at = self.fcl.Transform(rotations.to_matrix(rotations.from_yaw(heading)), np.array([x, y, 0.0]))
                if self._meet(one, self.fcl.CollisionObject(shown[-1][1], at)):
                    return str(name)
        return None

    def touches_capsule(self, thing: Any, place: FloatArray, turn: FloatArray, axis: FloatArray, radius: float) -> bool:
        """Return whether a thing touches a capsule with an axis (2, 3) and a radius [m]."""
        one = self.fcl.CollisionObject(thing, self.fcl.Transform(rotations.to_matrix(turn), place))
        way = axis[1] - axis[0]
        length = float(np.linalg.norm(way))
        lean = rotations.between(np.array([0.0, 0.0, 1.0]), way) if length > 1e-9 else np.array([1.0, 0.0, 0.0, 0.0])
        at = self.fcl.Transform(rotations.to_matrix(lean), axis.mean(axis=0))
        return self._meet(one, self.fcl.CollisionObject(self.fcl.Capsule(radius, length), at))

    def _meet(self, one: Any, other: Any) -> bool:
        return bool(self.fcl.collide(one, other, self.fcl.CollisionRequest(), self.fcl.CollisionResult()))


def exact_findings(
    take: Take, world: World | None, bars: AuditBars = AuditBars(), exact: ExactWorld | None = None  # noqa: B008
) -> list[Finding]:  # fmt: skip
    """Return where carried things are inside obstacles, movers or bodies by more than the bar, by exact triangles.

    Args:
        take: the take.
        world: its world.
        bars: what is let pass.
        exact: the triangles of the world, where these are known.

    Raises:
        GaitwayError: if python-fcl is not installed.
    """
    known, out = exact or ExactWorld(world), list[Finding]()
    for track in things_of(take):
        models = [known.thing(track, level * bars.thing) for level in _LEVELS]
        hollow = any(span.part == "head" for span in track.spans)  # a hat
        for times, who, part in held_times(take, track):
            places, turns = thing_poses(take, track, times, world)
            found: dict[tuple[str, str], tuple[float, int]] = {}
            for frame, time in enumerate(times.tolist()):
                for deep, (model, far) in enumerate(models):
                    name = known.touched(model, far, places[frame], turns[frame], time)
                    if name is None:
                        break
                    _deeper(found, (name, ""), _LEVELS[deep] * bars.thing, frame)
            for other in range(len(take.names)):
                _bodies(known, take, other, models, places, turns, times, (who, part), hollow, bars, found)
            for (name, whose), (depth, frame) in found.items():
                people = (who, whose) if whose else (who,)
                out.append(
                    thing_finding(take, "thing_inside", 1.01 * depth, bars.thing, float(times[frame]), people,
                                  track.name, name, places[frame])
                )  # fmt: skip
    return out


def _deeper(found: dict[tuple[str, str], tuple[float, int]], key: tuple[str, str], depth: float, frame: int) -> None:
    if depth > found.get(key, (0.0, 0))[0]:
        found[key] = (depth, frame)


def _bodies(
    known: ExactWorld, take: Take, other: int, models: list[tuple[Any, float]], places: FloatArray, turns: FloatArray,
    times: FloatArray, holder: tuple[str, str], hollow: bool, bars: AuditBars,
    found: dict[tuple[str, str], tuple[float, int]],
) -> None:  # fmt: skip
    """Look at one body. Hands may be inside things, and of whoever has the thing the arm that has it does not count."""
    who, part = holder
    own = take.names[other] == who
    if own and part == "head":
        return
    side = part.removesuffix("_wrist") if own else ""
    roots = take.planar(times)[other, :, :2]
    there = (times >= take.start(other) - 1e-9) & (times <= float(take.ends[other]) + 1e-9)
    near = np.flatnonzero(there & (np.linalg.norm(places[:, :2] - roots, axis=1) < _BODY))
    if not len(near):
        return
    body = int(take.bodies[other])
    shape = capsule_body(take.skeletons[body])
    left_out = {f"{side}_shoulder", f"{side}_elbow"} if own else set()
    rows = [k for k, name in enumerate(shape.names)
            if not name.endswith("_hand") and name not in left_out and not (hollow and name == "head")]  # fmt: skip
    local: IntArray = np.full(len(near), other, dtype=np.int64)
    axes = shape.segments(*forward_kinematics(take.skeletons[body], *sampled(take, body, local, times[near])))
    for number, frame in enumerate(near.tolist()):
        for row in rows:
            axis, radius = axes[number, row], float(shape.radii[row])
            reach = float(np.linalg.norm(places[frame] - axis, axis=1).min())
            for deep, (model, far) in enumerate(models):
                if reach > far + radius + float(np.linalg.norm(axis[1] - axis[0])):
                    break
                if not known.touches_capsule(model, places[frame], turns[frame], axis, radius):
                    break
                key = (shape.names[row], "" if own else take.names[other])
                _deeper(found, key, _LEVELS[deep] * bars.thing, frame)
