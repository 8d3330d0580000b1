"""What moves by itself and gives no way: people see where it goes, and step aside or let it pass before it is there.

Local dynamics treat walls as if they stood still. A cart that comes towards somebody is no such wall: who stops before
it is run over. Here velocities are tried out beside the wished one, each for some seconds, and the one that is nearest
to the wish and stays clear of everything that moves is taken.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.crowd.dynamics import _mover_kernels
from gaitway.crowd.dynamics._people_kernels import MX, MY
from gaitway.crowd.dynamics.walls import WallHash, edges_of, mover_outlines, moving_edges
from gaitway.world.world import World

_EVERY, _LOOKS = 0.25, 12
"""Time between the moments at which a way is looked at [s], and how many of them."""
_LATER, _STRIDE = 24, 3
"""Number of further moments at which those are looked at who stand still after that, and every how many are. Who only
goes ahead of what comes has it behind him still; who goes aside is out of its way."""
_BEFORE_WALLS, _AT_WALLS = (0.7, 1.4, 2.1, 2.8), (1.0, 1.0, 0.4, 0.3)
"""Times after which nobody who steps aside is in a wall [s], and how much each of them counts: who walks may turn
before it is there."""
_STEADY = 0.2
"""What a change of the velocity that it has now costs who stands at its place, by 1 m/s: else it would begin to step to
one side and then to the other before what comes."""
_ROOM = 0.25
"""Room that people leave to what moves, beside what their bodies need [m]."""
_TURNS = np.radians([0.0, -20.0, 20.0, -40.0, 40.0, -65.0, 65.0, -90.0, 90.0, -135.0, 135.0, 180.0])
"""Directions that are tried, from the wished one; to the right first [rad]."""
_SPEEDS = (1.0, 0.6, 0.3, 0.0)
"""Shares of the speed that are tried."""
_STANDS = 0.1
"""Who wishes to go slower than this stands [m/s]."""
_ASIDE = 0.6
"""Least speed at which somebody steps aside [m/s]."""
_SLOWEST = 0.35
"""The least other than 0 that is tried: nobody creeps aside [m/s]."""
_DREAD, _FORGIVEN = 8.0, 0.7
"""What a metre of lacking room costs, beside a change of the velocity by 1 m/s, and the share of it that does not count
when it is lacking only at the last look."""
_DREAD_LATER, _LEAST_LATER = 2.0, 0.3
"""The same at the further moments, and the share of it that counts at the last one of them."""
_COMFORT, _SHY = 0.6, 0.3
"""Room beside that which people like to have [m], and what a metre of it costs that is lacking; so they go to the
nearer side."""


class _Ways(NamedTuple):
    """Outlines that ways are compared with; see `_mover_kernels.lacking_room`."""

    seconds: FloatArray
    weights: FloatArray
    edges: FloatArray
    outlines: IntArray
    looks: IntArray

    def lacking(
        self, places: FloatArray, now: FloatArray, velocities: FloatArray, agility: float, room: float
    ) -> FloatArray:
        """Return how much room lacks on the ways of people who go like this (N, 2), at the worst [m]; (N, K).

        They try velocities (N, K, 2), which they reach as fast as they can.
        """
        worst = np.empty(velocities.shape[:2])
        _mover_kernels.lacking_room(
            places, now, np.ascontiguousarray(velocities), agility, self.seconds, self.weights, room, self.edges,
            self.outlines, self.looks, worst,
        )  # fmt: skip
        return worst

    def directions(self, places: FloatArray) -> FloatArray:
        """Return which way that goes which comes nearest to people (N, 2), as unit vectors; (N, 2)."""
        counts = np.diff(self.looks)
        if counts.min() != counts.max():  # something comes or goes: nobody knows what was where
            return np.tile((1.0, 0.0), (len(places), 1))
        middles = np.add.reduceat(self.edges[:, MX : MY + 1], self.outlines[:-1]) / np.diff(self.outlines)[:, None]
        middles = middles.reshape(len(counts), counts[0], 2)
        away = np.hypot(*np.moveaxis(middles[:, None] - places[:, None], -1, 0))  # looks, people, outlines
        nearest = away.swapaxes(0, 1).reshape(len(places), -1).argmin(axis=1)
        look, outline = np.divmod(nearest, counts[0])
        way = middles[np.minimum(look + 1, len(counts) - 1), outline] - middles[np.maximum(look - 1, 0), outline]
        far = np.hypot(*way.T)[:, None]
        return np.where(far > 1e-6, way / np.maximum(far, 1e-6), (1.0, 0.0))


def _gone(now: FloatArray, tried: FloatArray, seconds: float, agility: float) -> FloatArray:
    """Return how far people get in a time [m] (..., 2), whose velocities change to those that they try."""
    if agility <= 0.0:
        return seconds * tried
    full = np.hypot(*np.moveaxis(tried - now, -1, 0))[..., None] / agility
    rises = np.minimum(full, seconds)
    share = rises / np.maximum(full, 1e-9)
    return np.asarray(now * rises + 0.5 * share * (tried - now) * rises + (seconds - rises) * tried)


class MovingWalls:
    """Walls of a world and what moves in it, at any time. This class is **mutable**: it keeps the last moments."""

    def __init__(self, world: World | None, standing: WallHash, reach: float) -> None:
        """Take walls.

        Args:
            world: a world whose movers count; None for none.
            standing: the walls that stand.
            reach: distance within which what moves matters to somebody [m].
        """
        self._world = world if world is not None and world.movers else None
        self._standing, self._reach = standing, reach
        self._known = deque[tuple[float, WallHash]](maxlen=2)

    def at(self, time: float) -> WallHash:
        """Return all edges at a time [s]."""
        if self._world is None:
            return self._standing
        for known, walls in self._known:
            if known == time:
                return walls
        edges, velocities = moving_edges(self._world, time)
        self._known.append((time, self._standing.joined(edges, self._reach, velocities)))
        return self._known[-1][1]


class MoverWatch:
    """Looks ahead at what moves in a world. This class is **mutable**: it keeps what it has seen."""

    def __init__(self, world: World, reach: float, agility: float = 0.0) -> None:
        """Watch a world.

        Args:
            world: the world.
            reach: how far bodies reach from their middle [m].
            agility: how fast people change their velocities [m/s2]; 0 for at once.
        """
        self._world, self._room, self._agility = world, reach + _ROOM, agility
        self._seen: dict[int, list[FloatArray]] = {}

    def change_wishes(
        self, rows: IntArray, places: FloatArray, velocities: FloatArray, wishes: FloatArray, time: float,
        walls: WallHash, stands: BoolArray,
    ) -> IntArray:  # fmt: skip
        """Change the wished velocities of those whom something that moves would run into.

        Args:
            rows: who is there; (M,).
            places: where people are [m]; (N, 2).
            velocities: how fast they go now [m/s]; (N, 2).
            wishes: velocities that they wish [m/s]; (N, 2); changed.
            time: the time now [s].
            walls: walls, towards which nobody steps aside.
            stands: who stands at its place, to which it goes back later; (N,).

        Returns:
            The rows of these people; (K,).
        """
        first = int(np.floor(time / _EVERY + 1e-9)) + 1
        near, far = range(first, first + _LOOKS), range(first + _LOOKS, first + _LOOKS + _LATER, _STRIDE)
        every = range(first, first + _LOOKS + _LATER)
        self._seen = {look: seen for look, seen in self._seen.items() if look in every}
        ways = self._ways(near, time, np.linspace(1.0, 1.0 - _FORGIVEN, _LOOKS))
        if ways is None:
            return rows[:0]
        agility = self._agility
        rows = rows[ways.lacking(places[rows], velocities[rows], wishes[rows, None], agility, self._room)[:, 0] > 0.0]
        if not len(rows):
            return rows
        here, now = places[rows], velocities[rows]
        # who stands and has begun to step aside does not long for its place yet
        wish = np.where(stands[rows, None], 0.0, wishes[rows])
        size = np.hypot(*wish.T)
        # who stands, or hardly goes, steps aside from the way from what comes to where it is
        goes = size[:, None] > _STANDS
        way = np.where(goes, wish / np.maximum(size, _STANDS)[:, None], ways.directions(places[rows]))
        turns = np.stack([np.cos(_TURNS), np.sin(_TURNS)], axis=-1)
        turned = np.stack([way @ (turns * (1.0, -1.0)).T, way @ turns[:, ::-1].T], axis=-1)
        fast = np.maximum(size, _ASIDE)[:, None] * np.array(_SPEEDS)
        fast = np.where(fast > 0.0, np.maximum(fast, _SLOWEST), 0.0)[:, None, :, None]
        tried = np.concatenate([wish[:, None], (turned[:, :, None] * fast).reshape(len(rows), -1, 2)], axis=1)
        cost = np.hypot(*np.moveaxis(tried - wish[:, None], -1, 0))
        cost += np.where(goes, 0.0, _STEADY) * np.hypot(*np.moveaxis(tried - now[:, None], -1, 0))
        cost += _DREAD * ways.lacking(here, now, tried, agility, self._room)
        cost += _SHY * ways.lacking(here, now, tried, agility, self._room + _COMFORT)
        later = self._ways(far, near[-1] * _EVERY, np.linspace(1.0, _LEAST_LATER, len(far)))
        if later is not None:
            ends = (here[:, None] + _gone(now[:, None], tried, near[-1] * _EVERY - time, agility)).reshape(-1, 2)
            rest = np.zeros_like(ends)
            rested = later.lacking(ends, rest, rest[:, None], agility, self._room)
            cost += _DREAD_LATER * rested.reshape(cost.shape)
        count = len(walls.edges)
        standing = _Ways(
            np.array(_BEFORE_WALLS),
            np.array(_AT_WALLS),
            np.tile(walls.edges, (len(_BEFORE_WALLS), 1)),
            np.arange(len(_BEFORE_WALLS) * count + 1),
            count * np.arange(len(_BEFORE_WALLS) + 1),
        )
        cost += _DREAD * standing.lacking(here, now, tried, agility, self._room - _ROOM)
        # what is the same up to rounding is the same: the first of them is taken
        wishes[rows] = tried[np.arange(len(rows)), np.round(cost, 6).argmin(axis=1)]
        return rows

    def _ways(self, looks: range, time: float, weights: FloatArray) -> _Ways | None:
        """Return what moves at some moments, which count so much, seen from a time [s]; None if nothing does."""
        for look in looks:
            if look not in self._seen:
                self._seen[look] = [edges_of([out]) for out in mover_outlines(self._world, look * _EVERY)]
        outlines = [outline for look in looks for outline in self._seen[look]]
        if not outlines:
            return None
        counts = [len(self._seen[look]) for look in looks]
        return _Ways(
            np.array(looks) * _EVERY - time,
            weights,
            np.concatenate(outlines),
            np.cumsum([0, *map(len, outlines)]),
            np.cumsum([0, *counts]),
        )
