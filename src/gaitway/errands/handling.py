"""Errands with things, step by step: where to stand, the walk there, and the reach itself."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import LimbError
from gaitway.errands.orders import Order, Outcome, Pose, Reach, Stand, Step, Walk
from gaitway.scene.errands import Handle

if TYPE_CHECKING:
    from gaitway.errands.desk import HandlingDesk
    from gaitway.errands.reach_stops import Stop
    from gaitway.errands.standing_places import StandingPlaces

_NEAR = 0.6
"""Least distance from whoever a thing is given to or taken from [m]; others are farther away."""
_APART = 0.85
"""Least distance from others [m]."""
_AGAIN = 2.0
"""Time after which somebody looks again whether another one stands [s]."""

Doing = Generator[Order, Outcome, str]


class Doer(Protocol):
    """Somebody who does errands, as far as things need to know."""

    @property
    def name(self) -> str:
        """Name of the person."""

    @property
    def pose(self) -> Pose:
        """Where the person stands."""

    @property
    def radius(self) -> float:
        """[m]."""

    @property
    def time(self) -> float:
        """Time of the last outcome [s]."""


class Guide(Protocol):
    """Whoever tells people what to do next, as far as things need to know."""

    @property
    def desk(self) -> HandlingDesk | None:
        """Where things are; None where nobody handles any."""

    @property
    def standing(self) -> StandingPlaces:
        """Where everybody stands."""

    @property
    def people(self) -> Mapping[str, Doer]:
        """Everybody, by name."""

    @property
    def next_stop(self) -> Callable[[str, float], float | None]:
        """When a mover, by name, stands the next time from a time on [s]; None if it never does."""

    @property
    def walk(self) -> Callable[..., Generator[Order, Outcome, Outcome]]:
        """Walks of somebody by an order."""


def handle(dispatcher: Guide, doer: Doer, errand: Handle) -> Doing:
    """Do an errand with a thing; return why it could not be done, or nothing."""
    desk = dispatcher.desk
    if desk is None:
        return "live people handle nothing yet"
    if why := desk.refusal(doer.name, errand):
        return why
    if errand.other is not None and errand.other != doer.name:
        return (yield from _with_other(dispatcher, doer, errand, errand.other))
    if desk.in_place(doer.name, errand):
        outcome = yield Reach(errand, desk.hands(doer.name, errand)[0])
        return outcome.reason
    if (ride := desk.rides(errand.thing, doer.time)) is not None:
        stands = dispatcher.next_stop(ride, doer.time)
        if stands is not None and stands <= doer.time + errand.patience:
            yield Stand(stands)
    late, waited = doer.time + errand.patience, False
    while True:
        try:
            stops = _stops(desk, doer, errand, _free(dispatcher, doer, None))
            break
        except LimbError as problem:
            if not waited and not _held_up(dispatcher, desk, doer, errand):
                return str(problem)
        if doer.time >= late:
            return f"'{errand.thing}' cannot be reached: others stand where people reach it from"
        waited = True
        yield Stand(doer.time + _AGAIN)
        if why := desk.refusal(doer.name, errand):
            return why
    return (yield from _at_stops(dispatcher, doer, errand, stops))


def _stops(desk: HandlingDesk, doer: Doer, errand: Handle, free: Callable[[FloatArray], BoolArray]) -> list[Stop]:
    """Return the best places for an errand with a thing that nobody else has."""
    found: list[Stop] = _reach_stops().stops(desk, doer.name, doer.pose, doer.radius, errand, doer.time, free)
    return found


def _held_up(dispatcher: Guide, desk: HandlingDesk, doer: Doer, errand: Handle) -> bool:
    """Return whether there are places for an errand where nobody but others stands, who may go away."""
    if all(name == doer.name for name in dispatcher.standing.taken):
        return False
    try:
        return bool(_stops(desk, doer, errand, lambda points: np.ones(len(points), dtype=np.bool_)))
    except LimbError:
        return False


def _with_other(dispatcher: Guide, doer: Doer, errand: Handle, name: str) -> Doing:
    """Give a thing to somebody who stands, or take it from there."""
    desk, late = dispatcher.desk, doer.time + errand.patience
    while desk is not None:
        other = dispatcher.people.get(name)
        if other is None or dispatcher.standing.taken.get(name) is None:
            return f"'{name}' is not there"
        if why := desk.refusal(doer.name, errand):
            return why
        stands = dispatcher.standing.taken[name] == other.pose[:2]
        if stands:
            try:
                free = _free(dispatcher, doer, name)
                stops: list[Stop] = _reach_stops().stops_before(
                    desk, doer.name, name, other.pose, doer.radius, errand, doer.time, free
                )
            except LimbError as problem:
                return str(problem)
            reason = yield from _at_stops(dispatcher, doer, errand, stops)
            if not reason or other.pose[:2] == dispatcher.standing.taken.get(name):
                return reason
        if doer.time >= late:
            return f"'{name}' does not stand still within {errand.patience:g} s"
        yield Stand(doer.time + _AGAIN)
    return "nobody handles things here"


def _at_stops(dispatcher: Guide, doer: Doer, errand: Handle, stops: list[Stop]) -> Doing:
    """Walk to one place after another until the reach is done from there; return why it is not."""
    reason = ""
    for stop in stops:
        x, y, heading = stop.pose
        outcome = None
        if dispatcher.desk is not None and _reach_stops().steps_along(
            dispatcher.desk, doer.name, doer.pose, stop.pose, doer.time
        ):
            outcome = yield Step(stop.pose)
        if outcome is None or outcome.reason:
            outcome = yield from dispatcher.walk(doer, Walk((x, y), heading, exact=True, ahead=stop.ahead))
        if not outcome.reason and stop.step is not None:
            outcome = yield Step(stop.step)
        if not outcome.reason:
            outcome = yield Reach(errand, stop.hand)
            if stop.step is not None:
                yield Step(stop.pose)
        if not outcome.reason:
            return ""
        reason = reason or outcome.reason
    return reason


def _reach_stops() -> ModuleType:
    """Return the module that finds places to stand, which loads the planner of limbs; few scenes need it."""
    return import_module("gaitway.errands.reach_stops")


def _free(dispatcher: Guide, doer: Doer, beside: str | None) -> Callable[[FloatArray], BoolArray]:
    """Return a test of points (N, 2) for places of others; (N,)."""

    def free(points: FloatArray) -> BoolArray:
        clear = np.ones(len(points), dtype=np.bool_)
        for name, place in dispatcher.standing.taken.items():
            if name != doer.name:
                away = np.hypot(points[:, 0] - place[0], points[:, 1] - place[1])
                clear &= away >= (_NEAR if name == beside else _APART)
        return clear

    return free
