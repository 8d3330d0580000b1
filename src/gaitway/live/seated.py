"""Live people who sit: the motion from where a walk happens to end to the seat, on it, and up again.

It is shown in place of a person who stands (`LiveEngine.perform`): a few steps to the place before the seat, sitting
down, sitting, getting up, and a step away from the seat, to where there is room to walk on from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gaitway.errands.orders import Pose, SitDown
from gaitway.library.behavior import Library
from gaitway.live.playing.shown_motions import HELD_S
from gaitway.motion.clip import Clip
from gaitway.scene.errands import SeatPlace
from gaitway.sitting import CALLED, Seat, down_seconds, standing_place, visit
from gaitway.sitting.stepping import step_aside

SITTING = "sit"
"""Behaviour of somebody who sits down, sits and gets up."""
SHORTEST = 3.0
"""Shortest time to sit [s]."""
MANNERS = ("upright", "leaning back", "forearms on thighs", "arms crossed")
"""Manners of sitting that are drawn."""
_TURNS = 0.6
"""How much more somebody would turn to sit down from the front than along the seat [rad]."""


@dataclass(frozen=True, eq=False)
class Sitter:
    """Somebody who sits: who, where and how."""

    order: SitDown
    body: Library
    here: Pose
    """Where the person stood."""
    there: Pose
    """Where the person stands afterwards."""
    side: str
    """Where the seat is as seen from who stands before it."""
    seconds: float
    """How long [s]."""
    manner: str
    seed: int
    start: float
    """When it begins [s]."""
    floor: float
    """Height of the floor [m]."""
    until: float | None = None
    """Time after which somebody gets up who is called away [s]; None: nobody is called."""

    @property
    def seat(self) -> Seat:
        """The seat."""
        return seat_of(self.order.seat, self.floor)

    def motion(self) -> Clip:
        """Return the whole motion, in the world at 30 Hz."""
        made = visit(self.body, self.seat, self.seconds, self.manner, self.seed, self.side, self.until).clip
        after = step_aside(self.body, standing_place(self.body, self.seat), np.array(self.there), self.floor)
        return _joined([*self._before(), made, *([after] if after is not None else [])])

    def _before(self) -> list[Clip]:
        """Return the steps to the place before the seat: the turn where there is room for it, then a step back."""
        before = standing_place(self.body, self.seat, self.side)
        turned = np.array([*self.there[:2], before[2]])
        steps = (
            step_aside(self.body, np.array(self.here), turned, self.floor),
            step_aside(self.body, turned, before, self.floor),
        )
        return [step for step in steps if step is not None]

    def called(self, time: float) -> Sitter:
        """Return the same person who is called away at a time [s], and gets up as soon as possible."""
        down = down_seconds(self.seat, self.side) + sum(step.duration for step in self._before())
        until = max(time - self.start - down + CALLED, SHORTEST)
        return self if until >= self.seconds else replace(self, until=until)


def seat_of(seat: SeatPlace, floor: float = 0.0) -> Seat:
    """Return a seat of a scene on a floor [m], as `gaitway.sitting` has it."""
    x, y, yaw = seat.pose
    return Seat((x, y), yaw, seat.height, seat.depth, floor=floor)


def nearest_side(body: Library, seat: Seat, here: Pose) -> str:
    """Return on which side somebody who stands near a seat has it, with as little turning as possible."""

    def turn(side: str) -> float:
        heading = float(standing_place(body, seat, side)[2])
        return round(abs(math.remainder(heading - here[2], math.tau)) + (0.0 if side == "front" else _TURNS), 6)

    return min(("front", "left", "right"), key=turn)


def _joined(parts: list[Clip]) -> Clip:
    """Return motions one after another, and a moment of standing after them; parts begin as the ones before end."""
    kept = [slice(None), *[slice(1, None)] * (len(parts) - 1)]
    contacts = [part.contacts for part in parts if part.contacts is not None]
    still = round(HELD_S * parts[-1].fps)

    def whole(arrays: list[Any]) -> Any:
        found = [own[some] for own, some in zip(arrays, kept, strict=True)]
        return np.concatenate([*found, np.repeat(arrays[-1][-1:], still, axis=0)])

    return replace(
        parts[0],
        root_positions=whole([part.root_positions for part in parts]),
        rotations=whole([part.rotations for part in parts]),
        contacts=whole(contacts),
        name=SITTING,
        labels=(SITTING,),
    )
