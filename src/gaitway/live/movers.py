"""Where things move, as live characters know it: for a minute or more beyond now, and made a little at a time."""

from __future__ import annotations

from gaitway.space._traffic_kernels import SLOT
from gaitway.space.fields import WorldFields
from gaitway.space.traffic import Traffic

HORIZON = 60.0
"""Movers are known for at least so long beyond now [s]."""
_BEGIN = 100.0
"""When they are known for no longer than this beyond now [s], more is made of them."""
_FIRST = 240.0
"""For how long they are known at first [s]."""


class MoversAhead:
    """Traffic of the movers of a world. This class is **mutable**: it is made anew as time goes on.

    Attributes:
        traffic: of the movers, and of the owners, none of whom is in it at first.
        owners: numbers for others that may be put in.
    """

    def __init__(self, fields: WorldFields, now: float, owners: int = 0) -> None:
        """Know movers from now on [s], and have numbers for so many others."""
        self._fields, self._count = fields, owners
        self._horizon = now + _FIRST
        self.traffic = self._empty()
        for mover in fields.world.movers:
            self.traffic.add_mover(mover)
        self.owners = [self.traffic.enroll(str(k)) for k in range(owners)]
        self._next: Traffic | None = None

    def look_ahead(self, now: float) -> bool:
        """Know more where it is time for that, one mover in each call; whether the traffic is another one now."""
        movers = self._fields.world.movers
        if (now + HORIZON) / SLOT > self.traffic.horizon:  # somebody is in a hurry
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

    def _empty(self) -> Traffic:
        return Traffic(self._fields.kinds, terrain=self._fields.world.terrain, horizon=self._horizon)
