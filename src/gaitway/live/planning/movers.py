"""Movers as live characters know them: for a minute or more ahead, computed a little at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping

from gaitway.core.archives import counted
from gaitway.space._traffic_kernels import FOREVER, LAST_SLOT, SLOT
from gaitway.space.fields import WorldFields
from gaitway.space.traffic import Traffic

HORIZON = 60.0
"""Least time ahead for which movers are known [s]."""
_BEGIN = 100.0
"""When movers are known for no longer than this ahead, more is computed [s]."""
_FIRST = 240.0
"""Time for which movers are known at first [s]."""


class MoversAhead:
    """Traffic of the movers of a world. This class is **mutable**: the traffic is computed anew as time goes on.

    Attributes:
        traffic: traffic of the movers, with owners that are not in it at first.
        owners: numbers of these owners.
    """

    def __init__(self, fields: WorldFields, now: float, owners: int = 0) -> None:
        """Add all movers from a time on [s], and reserve a number of owners for characters."""
        self._fields, self._count = fields, owners
        self._horizon = now + _FIRST
        self.traffic = self._empty()
        for mover in fields.world.movers:
            self.traffic.add_mover(mover)
        self.owners = [self.traffic.enroll(str(k)) for k in range(owners)]
        self._next: Traffic | None = None

    def look_ahead(self, now: float) -> bool:
        """Compute more where it is time for that, one mover in each call; return whether `traffic` is a new one."""
        movers = self._fields.world.movers
        if (now + HORIZON) / SLOT > self.traffic.horizon:  # too late for one mover at a time
            self._horizon, self._next = now + _FIRST, None
            self.traffic.extend(self._horizon)
            return True
        if self._next is None:
            if (now + _BEGIN) / SLOT > self.traffic.horizon:
                self._horizon = now + max(_FIRST, 0.5 * now)
                self._next = self._empty()
            return False
        done = len(self._next.names)
        if done < len(movers):
            self._next.add_mover(movers[done])
            return False
        self.traffic, self._next = self._next, None
        self.owners = [self.traffic.enroll(str(k)) for k in range(self._count)]
        return True

    def state(self) -> dict[str, float | int]:
        """Return what `restore` needs, as plain values."""
        done = -1 if self._next is None else len(self._next.names)
        return {
            "until": self._horizon,
            "slots": self.traffic.horizon,
            "next": done,
            "last": int(self.traffic.arrays.last),
        }

    def restore(self, state: Mapping[str, float | int]) -> None:
        """Compute movers for as long as an earlier object did, in the same world.

        Raises:
            ValueError: if the values cannot be those of such an object.
        """
        movers = self._fields.world.movers
        slots = counted(state["slots"], LAST_SLOT, "slots")
        done = counted(int(state["next"]) + 1, len(movers) + 1, "movers") - 1
        last = counted(state["last"], FOREVER, "slots")
        horizon = float(state["until"])
        farthest = 1.5 * abs(self._horizon) + 10.0 * _FIRST  # see `look_ahead`
        if not (math.isfinite(horizon) and abs(horizon) <= farthest and slots * SLOT <= farthest):
            raise ValueError(f"movers known until {horizon} s")
        self._horizon = slots * SLOT
        self.traffic = self._empty()
        self.traffic.horizon = slots
        for mover in movers:
            self.traffic.add_mover(mover)
        self.traffic._last = max(self.traffic._last, last)  # characters were in it, which a search never forgets
        self.owners = [self.traffic.enroll(str(k)) for k in range(self._count)]
        self._horizon, self._next = horizon, None
        if done >= 0:
            self._next = self._empty()
            for mover in movers[:done]:
                self._next.add_mover(mover)

    def _empty(self) -> Traffic:
        return Traffic(self._fields.kinds, terrain=self._fields.world.terrain, horizon=self._horizon)
