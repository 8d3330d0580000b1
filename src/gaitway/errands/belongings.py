"""Belongings: where every thing of a run is, and who has it in which hand or on the head."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import LimbError
from gaitway.errands.orders import Pose
from gaitway.errands.thing_ground import ThingGround
from gaitway.handling.grips import ThingPose, thing_obstacle
from gaitway.handling.handler import Handler
from gaitway.library.behavior import Library
from gaitway.limbs._stance_kernels import ARM
from gaitway.limbs.stance import HANDS
from gaitway.limbs.surroundings import OtherBody
from gaitway.scene.errands import Handle
from gaitway.scene.things import ANY, HEAD, Thing
from gaitway.world.world import World

_WORN = 0.105
"""How high above the head joint the underside of a thing is that is worn, for a body of usual size [m]."""
_LOOK, _STILL = 1.0, 0.005
"""Time over which a thing on a mover is looked at [s], and how far it may move meanwhile to be as good as still [m]."""


@dataclass(frozen=True, eq=False)
class ThingState:
    """Where a thing is."""

    pose: ThingPose
    """In the world, or in the frame of who or what has it."""
    who: str | None = None
    """Who has it; None if it stands somewhere."""
    part: str = ""
    """"right" or "left" for a hand, "head", or "mover"."""
    grasp: int = 0
    """Which of its grasps is held."""


@dataclass(eq=False)
class Belongings:
    """All things of a run, and everybody's hands. This class is **mutable**."""

    world: World
    """Where people are planned."""
    ground: ThingGround
    things: Mapping[str, Thing]
    library: Callable[[str], Library]
    """The library of somebody, by name."""
    clearance: Callable[[FloatArray], FloatArray]
    """Distances of points (N, 2) to the nearest obstacle [m]; (N,)."""
    spare: Callable[[str, Pose], float]
    """How far somebody, by name, who stands at a pose is from obstacles, with the whole body [m]; below 0 too near."""
    states: dict[str, ThingState] = field(default_factory=dict)
    tracks: dict[str, list[list[Any]]] = field(default_factory=dict)
    """For each thing: times [s] from which it is somewhere, who has it, with which part, and its pose there."""
    arms: dict[tuple[str, str], FloatArray] = field(default_factory=dict)
    """Angles of the arm that carries, by person and hand; (7,) each."""

    def holds(self, who: str, hand: str) -> str | None:
        """Return what somebody has in a hand."""
        return next((name for name, one in self.states.items() if (one.who, one.part) == (who, hand)), None)

    def refusal(self, who: str, errand: Handle) -> str:
        """Return why somebody cannot do an errand now, in one line; nothing if that is possible."""
        thing, state = self.things[errand.thing], self.states[errand.thing]
        has = state.who == who and state.part in HANDS
        owner = None if state.part == "mover" else state.who
        if errand.verb in ("put", "give") and not has:
            return f"'{thing.name}' is not in a hand of '{who}'{f'; {_had(state)}' if owner else ''}"
        if errand.verb == "take":
            if why := thing.problem():
                return f"'{thing.name}' cannot be grasped: {why}"
            if owner == who and state.part != HEAD:
                return f"'{who}' carries '{thing.name}' already"
            if owner is not None and owner not in (who, errand.other):
                return f"'{thing.name}' is carried already: {_had(state)}; write from: {owner}"
            if errand.other is not None and owner != errand.other:
                return f"'{errand.other}' does not have '{thing.name}'"
        if errand.verb in ("touch", "press") and owner is not None:
            return f"'{thing.name}' is carried: {_had(state)}"
        if errand.verb == "hold" and not has and not thing.fixed:
            return f"'{thing.name}' is neither in a hand of '{who}' nor fixed"
        if not self.hands(who, errand):
            asked = "both hands are" if errand.hand == ANY else f"the {errand.hand} hand is"
            busy = self.holds(who, errand.hand if errand.hand != ANY else "right")
            return f"{asked} not free: '{who}' carries '{busy}'"
        return ""

    def hands(self, who: str, errand: Handle) -> list[str]:
        """Return the hands that somebody may use for an errand."""
        state = self.states[errand.thing]
        if state.who == who and state.part in HANDS:
            return [state.part]
        wanted = HANDS if errand.hand == ANY else (errand.hand,)
        return [hand for hand in wanted if self.holds(who, hand) is None]

    def in_place(self, who: str, errand: Handle) -> bool:
        """Return whether somebody does an errand where that person stands."""
        mine = self.states[errand.thing].who == who
        return mine and (errand.verb == "hold" or errand.on == HEAD or errand.verb == "take")

    def pose_of(self, name: str, time: float) -> ThingPose:
        """Return where a thing is that nobody has, at a time [s]."""
        state = self.states[name]
        if state.part != "mover":
            return state.pose
        mover, _ = self.ground.mover(state.who or "")
        x, y, yaw = mover.pose(np.array([time]))[0].tolist()
        return ThingPose.upright((x, y, 0.0), yaw).carried(state.pose)

    def home(self, handler: Handler, who: str) -> FloatArray:
        """Return the posture in which somebody stands, with arms that carry; (22,)."""
        out = np.array(handler.rest)
        for number, hand in enumerate(HANDS):
            if (who, hand) in self.arms:
                out[ARM * number : ARM * (number + 1)] = self.arms[who, hand]
        return out

    def worn_pose(self, who: str) -> ThingPose:
        """Return where a thing is that is worn, in the frame of the head joint."""
        bare = self.handler(who, (0.0, 0.0, 0.0), 0.0, set(self.things), bare=True)
        head = bare.joint(bare.rest, HEAD)
        size = float(bare.stander.table.size)
        return ThingPose.upright(head.at + np.array([0.0, 0.0, size * _WORN]), 0.0).within(head)

    def handler(
        self, who: str, pose: Pose, time: float, without: set[str], bare: bool = False,
        others: Sequence[OtherBody] = (),
    ) -> Handler:  # fmt: skip
        """Return somebody who stands at a pose, among things that stand around but for some.

        Raises:
            LimbError: if the ground slopes there.
        """
        if bare:
            return _bare(self.library(who))
        resting = [
            thing_obstacle(self.things[name], self.pose_of(name, time))
            for name, state in self.states.items()
            if (state.who is None or state.part == "mover") and name not in without
        ]
        height = self.ground.height(pose[0], pose[1])
        if height is None:
            raise LimbError(f"the ground slopes where '{who}' stands, and things are handled on level ground")
        world = replace(self.world, obstacles=(*self.world.obstacles, *resting))
        return Handler.at(self.library(who), pose, world, time, others, height=height)

    def rides(self, name: str, time: float) -> str | None:
        """Return the mover that moves on with a thing at a time [s]; None for a thing that is as good as still."""
        state = self.states[name]
        if state.part != "mover":
            return None
        moved = self.pose_of(name, time + _LOOK).at - self.pose_of(name, time).at
        return state.who if float(np.linalg.norm(moved)) > _STILL else None

    def put(self, name: str, time: float, state: ThingState) -> None:
        """Note where a thing is from a time on [s]."""
        self.states[name] = state
        part = f"{state.part}_wrist" if state.part in HANDS else state.part
        row = [*state.pose.at.tolist(), *state.pose.turn.tolist()]
        self.tracks.setdefault(name, []).append([round(time, 4), state.who, part, [round(v, 6) for v in row]])


@lru_cache(maxsize=32)
def _bare(library: Library) -> Handler:
    """Return somebody who stands at the origin of an empty place."""
    return Handler.at(library, (0.0, 0.0, 0.0), World((-10.0, -10.0, 10.0, 10.0)))


def _had(state: ThingState) -> str:
    where = "wears it" if state.part == HEAD else f"has it in the {state.part} hand"
    return f"'{state.who}' {where}"
