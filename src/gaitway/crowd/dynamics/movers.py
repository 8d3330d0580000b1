"""What moves by itself and gives no way: people see where it goes, and step aside or let it pass before it is there.

Local dynamics treat walls as if they stood still. A cart that comes towards somebody is no such wall: who stops before
it is run over. Here velocities are tried out beside the wished one, each for some seconds, and the one that is nearest
to the wish and stays clear of everything that moves is taken.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.crowd.dynamics import _mover_kernels
from gaitway.crowd.dynamics.walls import WallHash, edges_of, mover_outlines
from gaitway.world.world import World

_EVERY, _LOOKS = 0.25, 12
"""Time between the moments at which a way is looked at [s], and how many of them."""
_BEFORE_WALLS = 0.7
"""Time after which nobody who steps aside is in a wall [s]."""
_ROOM = 0.25
"""Room that people leave to what moves, beside what their bodies need [m]."""
_TURNS = np.radians([0.0, -20.0, 20.0, -40.0, 40.0, -65.0, 65.0, -90.0, 90.0, -135.0, 135.0, 180.0])
"""Directions that are tried, from the wished one; to the right first [rad]."""
_SPEEDS = (1.0, 0.6, 0.3, 0.0)
"""Shares of the speed that are tried."""
_ASIDE = 0.6
"""Least speed at which somebody steps aside [m/s]."""
_DREAD, _FORGIVEN = 8.0, 0.7
"""What a metre of lacking room costs, beside a change of the velocity by 1 m/s, and the share of it that does not count
when it is lacking only at the last look."""


class _Ways(NamedTuple):
    """Outlines that ways are compared with; see `_mover_kernels.lacking_room`."""

    seconds: FloatArray
    weights: FloatArray
    edges: FloatArray
    outlines: IntArray
    looks: IntArray

    def lacking(self, places: FloatArray, velocities: FloatArray, room: float) -> FloatArray:
        """Return how much room lacks on the ways of people who try velocities (N, K, 2), at the worst [m]; (N, K)."""
        worst = np.empty(velocities.shape[:2])
        _mover_kernels.lacking_room(
            places, np.ascontiguousarray(velocities), self.seconds, self.weights, room, self.edges, self.outlines,
            self.looks, worst,
        )  # fmt: skip
        return worst


class MoverWatch:
    """Looks ahead at what moves in a world. This class is **mutable**: it keeps what it has seen."""

    def __init__(self, world: World, reach: float) -> None:
        """Watch a world.

        Args:
            world: the world.
            reach: how far bodies reach from their middle [m].
        """
        self._world, self._room = world, reach + _ROOM
        self._seen: dict[int, list[FloatArray]] = {}

    def change_wishes(
        self, rows: IntArray, places: FloatArray, wishes: FloatArray, time: float, walls: WallHash
    ) -> None:
        """Change the wished velocities of those whom something that moves would run into.

        Args:
            rows: who is there; (M,).
            places: where people are [m]; (N, 2).
            wishes: velocities that they wish [m/s]; (N, 2); changed.
            time: the time now [s].
            walls: walls, towards which nobody steps aside.
        """
        first = int(np.floor(time / _EVERY + 1e-9)) + 1
        looks = range(first, first + _LOOKS)
        self._seen = {look: self._seen[look] if look in self._seen else self._look(look) for look in looks}
        outlines = [outline for look in looks for outline in self._seen[look]]
        if not outlines:
            return
        counts = [len(self._seen[look]) for look in looks]
        ways = _Ways(
            np.array(looks) * _EVERY - time,
            np.linspace(1.0, 1.0 - _FORGIVEN, _LOOKS),
            np.concatenate(outlines),
            np.cumsum([0, *map(len, outlines)]),
            np.cumsum([0, *counts]),
        )
        rows = rows[ways.lacking(places[rows], wishes[rows, None], self._room)[:, 0] > 0.0]
        if not len(rows):
            return
        wish = wishes[rows]
        size = np.hypot(*wish.T)
        way = np.where(size[:, None] > 1e-6, wish / np.maximum(size, 1e-6)[:, None], (1.0, 0.0))
        turns = np.stack([np.cos(_TURNS), np.sin(_TURNS)], axis=-1)
        turned = np.stack([way @ (turns * (1.0, -1.0)).T, way @ turns[:, ::-1].T], axis=-1)
        fast = np.maximum(size, _ASIDE)[:, None, None, None] * np.array(_SPEEDS)[:, None]
        tried = np.concatenate([wish[:, None], (turned[:, :, None] * fast).reshape(len(rows), -1, 2)], axis=1)
        cost = np.hypot(*np.moveaxis(tried - wish[:, None], -1, 0))
        cost += _DREAD * ways.lacking(places[rows], tried, self._room)
        each = np.arange(len(walls.edges) + 1)
        standing = _Ways(np.array([_BEFORE_WALLS]), np.ones(1), walls.edges, each, each[[0, -1]])
        cost += _DREAD * standing.lacking(places[rows], tried, self._room - _ROOM)
        # what is the same up to rounding is the same: the first of them is taken
        wishes[rows] = tried[np.arange(len(rows)), np.round(cost, 6).argmin(axis=1)]

    def _look(self, look: int) -> list[FloatArray]:
        """Return the edges of each thing that moves, at a moment."""
        return [edges_of([outline]) for outline in mover_outlines(self._world, look * _EVERY)]
