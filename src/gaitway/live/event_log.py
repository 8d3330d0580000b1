"""The log of a live crowd: what has happened to its characters since a program last asked, and who is hindered now."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.live.blocking import Blocker, blocker_of
from gaitway.live.climbing.places import CrowdFloors
from gaitway.live.engine import LiveEngine
from gaitway.live.events import Arrived, Blocked, Hindered, LiveEvent, LiveWatch, Refused, Removed, Stuck
from gaitway.live.live_world import LiveWorld
from gaitway.live.roster import Roster

_MOST_EVENTS = 100_000
"""Number of events that are kept for a caller that does not ask for them; older ones are dropped."""

_NAMED = 3
"""Most characters that are named besides the one that is in the way."""


class EventLog:
    """Events of a crowd, by the ids and names of its characters. This class is **mutable**.

    Attributes:
        watch: what is remembered of characters from step to step.
        unseen: whether a step was begun whose events were not looked for yet.
    """

    def __init__(self, roster: Roster, world: LiveWorld, floors: CrowdFloors | None = None) -> None:
        """Make an empty log of characters of a roster in a world, and on its floors if it has several."""
        self.watch = LiveWatch()
        self.unseen = False
        self._roster, self._world, self._floors = roster, world, floors
        self._events: deque[LiveEvent] = deque(maxlen=_MOST_EVENTS)
        self._hindered: dict[int, Blocked | Stuck] = {}

    def drain(self) -> tuple[LiveEvent, ...]:
        """Return the events since this was last called, in order of time, and forget them."""
        out = tuple(self._events)
        self._events.clear()
        return out

    def hindered_ids(self) -> list[int]:
        """Return the ids of characters that were blocked or stuck when `hindered` was last called, or since."""
        return sorted(self._hindered)

    def hindered(self, arrived: BoolArray) -> tuple[Blocked | Stuck, ...]:
        """Return the latest event of each character that is blocked or stuck now, by id.

        Args:
            arrived: which characters of `hindered_ids` have arrived; (N,).
        """
        ids = self.hindered_ids()
        still = self.watch.holds([self._hindered[n] for n in ids], self._roster.places(ids)) & ~arrived
        self._hindered = {n: self._hindered[n] for n, holds in zip(ids, still, strict=True) if holds}
        return tuple(self._hindered.values())

    def look(self, engine: LiveEngine, held: Collection[int]) -> None:
        """Wait until the latest step is planned, and log what happened in it, but for characters that are held."""
        if not self.unseen:
            return
        self.unseen = False
        engine.settle()
        later = [] if engine.climbing is None else engine.climbing.on_the_way().tolist()
        seen = self.watch.look(engine.plans, [self._roster.slots[number] for number in held], engine.time, later)
        rest = engine.plans.steps[:, -1, :2]
        for slot in seen.arrived.tolist():
            number = self._roster.id_in(slot)
            name = self._roster.names[number]
            self._events.append(Arrived(time=engine.time, id=number, name=name, position=self._point(rest[slot])))
        for slot in seen.blocked.tolist():
            number = self._roster.id_in(slot)
            name = self._roster.names[number]
            self._log_hindered(Blocked, engine.time, number, name, rest[slot], blocker_of(engine, slot))
        for slot, seconds in zip(seen.stuck.tolist(), seen.seconds.tolist(), strict=True):
            number = self._roster.id_in(slot)
            name, blocker = self._roster.names[number], blocker_of(engine, slot)
            self._log_hindered(Stuck, engine.time, number, name, rest[slot], blocker, seconds=seconds)

    def log_refused(self, time: float, name: str, point: FloatArray, blocker: Blocker) -> None:
        """Log that there was no room for a character."""
        self._log_hindered(Refused, time, -1, name, point, blocker)

    def log_removed(self, time: float, number: int, name: str, point: FloatArray) -> None:
        """Log that a character was taken out."""
        self._hindered.pop(number, None)
        self._events.append(Removed(time=time, id=number, name=name, position=self._point(point)))

    def _log_hindered(
        self, kind: type[Hindered], time: float, number: int, name: str, place: FloatArray, blocker: Blocker,
        **more: float,
    ) -> None:  # fmt: skip
        by = self._roster.id_in(blocker.character) if blocker.character >= 0 else -1
        thing = blocker.obstacle
        if self._floors is not None and thing >= 0:
            thing = self._floors.thing(thing)
        obstacle = list(self._world.obstacles)[thing] if thing >= 0 else -1
        reason = blocker.reason.replace("{who}", f"'{self._roster.names[by]}'" if by >= 0 else "a character")
        if blocker.behind:
            chain = ", ".join(f"'{self._roster.names[self._roster.id_in(one)]}'" for one in blocker.behind[:_NAMED])
            reason += f", and {chain} in the way of that one"
        event = kind(time=time, id=number, name=name, position=self._point(place), reason=reason, by=by,
                     obstacle=obstacle, **more)  # fmt: skip
        self._events.append(event)
        if isinstance(event, Stuck) or (isinstance(event, Blocked) and number not in self._hindered):
            self._hindered[number] = event

    def _point(self, place: FloatArray) -> tuple[float, float]:
        x, y = (float(value) for value in place[:2])
        if self._floors is not None:
            dx, dy, _ = self._floors.back(np.array([[x, y]]))[0].tolist()
            return x + dx, y + dy
        return x, y
