"""Doors of plans: whose way a door bars, who turns back before one that shuts, and when its leaf may move."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import shapely

from gaitway.errands.busy import Busy, PlannedWalk
from gaitway.errands.dispatcher import Dispatcher
from gaitway.errands.doors import (
    Doorkeeper,
    FloorLink,
    PlacedLibraries,
    barring_door,
    free_from,
    place_before,
    spans_within,
)
from gaitway.errands.orders import Outcome, Pose, Walk
from gaitway.errands.running import REACTS
from gaitway.scene.characters import Character
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.traffic import Traffic
from gaitway.world.doors import Door

TURNS = 4
"""Most steps of a walk, one after another, at which somebody tries to break it off who is sent elsewhere."""
_IN_DOORWAY, _TOO_LATE = 1.0, 2.2
"""Distances from a door that is about to shut within which it does not bar the way of somebody who stands, and within
which nobody who walks turns back [m]: to stop and wait before it takes that much."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PlannedDoors:
    """The doors of a run whose walks are planned: what the keeper is asked for moves in the traffic of that run."""

    keeper: Doorkeeper
    placed: PlacedLibraries
    prepared: Mapping[str, PreparedLibrary]
    """Libraries of everybody for the doors of the beginning, by name."""
    traffic: Traffic
    leaves: Mapping[str, int]
    """Owners of the leaves of doors in traffic, by the name of the door."""
    dispatcher: Dispatcher
    people: Mapping[str, Busy]
    links: Callable[[Character], Sequence[FloorLink]]
    """Ways of somebody from floor to floor."""
    may_open: Callable[[str], bool]
    """Whether something may still open a door, by name."""
    break_off: Callable[[Busy, PlannedWalk, int, Walk], Outcome | None]
    """Lets somebody break off a walk before one of its steps for another one; None if that cannot be."""
    turned: Callable[[str, Outcome], None]
    """Called with who has turned back, and what comes of the new walk."""

    def library(self, name: str, pose: Pose | None = None) -> PreparedLibrary:
        """Return the library of somebody for the doors as they are; who is in a doorway gets out before it shuts."""
        are_open = dict(self.keeper.asked_open)
        for door in self.keeper.shut:
            if pose is not None and door.name in self.keeper.waiting and _near_doorway(door, pose, _IN_DOORWAY):
                are_open[door.name] = True
        return self.placed.prepared(self.prepared[name], are_open)

    def barred(self, busy: Busy, order: Walk, pose: Pose, time: float) -> Outcome | None:
        """Return what comes of a walk from a pose that no way leads to before a door opens; None if none is shut."""
        shut, parts, near = self.keeper.shut, busy.prepared.fields.parts, busy.character.plan.tolerance
        hopeful = [door for door in shut if self.may_open(door.name)]
        links = self.links(busy.character)
        if (door := barring_door(parts, hopeful, pose[:2], order.goal, near, links)) is not None:
            return Outcome(time, pose, f"door '{door.name}' is shut", shut=door.name)
        if (door := barring_door(parts, shut, pose[:2], order.goal, near, links)) is None:
            return None
        reason = f"door '{door.name}' is shut and nothing opens it"
        return Outcome(time, pose, reason, hopeless=True, shut=door.name)

    def place(self, name: str, door: str, pose: Pose | None = None) -> Pose | None:
        """Return where somebody waits before a door that is shut, for who is at a pose; None if there is no room."""
        busy, parts = self.people[name], self.library(name).fields.parts
        here = busy.pose if pose is None else pose
        return place_before(
            parts, self.keeper.doors[door], self.dispatcher.standing, name, busy.character.radius, here,
            links=self.links(busy.character),
        )  # fmt: skip

    def move(self, time: float) -> None:
        """Move the doors that wait from when on nobody is in the way; who would walk into one is planned anew."""
        keeper = self.keeper
        for name in list(keeper.waiting):
            area = keeper.needed(name)
            if not keeper.asked_open[name] and keeper.waiting[name] == (time, ""):
                self._turn_back(keeper.doors[name], area, time)
            held = {
                busy.name: partial(self.traffic.held, busy.owner)
                for busy in self.people.values()
                if busy.leaves is None or busy.leaves > time
            }
            begins, who = free_from(held, area, time)
            if who:
                keeper.wait_for(name, who)
            if math.isfinite(begins):
                keeper.begin(name, begins)
                self.traffic.replace_mover(self.leaves[name], keeper.mover(name))

    def _turn_back(self, door: Door, area: shapely.Geometry, time: float) -> None:
        """Let everybody break off walks who would come into a doorway after a time [s], if that can still be."""
        for busy in [one for one in self.people.values() if one.order is not None and not one.stands(time)]:
            within = spans_within(self.traffic.held(busy.owner), area, time)
            walk, order = busy.walks[-1], busy.order
            if not within or walk.sits is not None or order is None:
                continue
            reacts = time + float(self.dispatcher.people[busy.name].rng.uniform(*REACTS))
            steps = walk.plan.steps
            later = [k for k in range(1, len(steps)) if reacts <= steps[k].time < within[0][0]]
            later = [k for k in later if not _near_doorway(door, steps[k].pose, _TOO_LATE)]
            any(self._turned_back(busy, walk, number, order) for number in later[:TURNS])

    def _turned_back(self, busy: Busy, walk: PlannedWalk, number: int, order: Walk) -> bool:
        """Let somebody break off a walk before one of its steps and go another way, or wait before the door."""
        step = walk.plan.steps[number]
        busy.prepared = self.library(busy.name, step.pose)
        barred, instead = self.barred(busy, order, step.pose, step.time), order
        if barred is not None:
            place = self.place(busy.name, barred.shut, step.pose)
            if place is None:
                return False
            instead = Walk(place[:2], exact=True)
        outcome = self.break_off(busy, walk, number, instead)
        if outcome is None:
            busy.order = order
            return False
        if barred is not None:
            self.dispatcher.standing.taken[busy.name] = outcome.pose[:2]
        self.turned(busy.name, outcome if barred is None else replace(barred, time=outcome.time, pose=outcome.pose))
        return True


def _near_doorway(door: Door, pose: Pose, near: float) -> bool:
    """Return whether somebody is so near to the floor that the leaf of a door sweeps [m]."""
    return float(shapely.distance(door.sweep, shapely.Point(pose[:2]))) < near
