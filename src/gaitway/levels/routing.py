"""Routes over floors: which links lead from one place to another by the shortest way."""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from gaitway.levels.links import Link
from gaitway.space._route_kernels import Distances
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.routes import RouteFields, RouteMap, thinnest

_PER_SECOND = 1.3
"""Length of way that a second on a link counts as [m]."""
NEAR = 0.4
"""Distance from the entry of a link within which a way to it ends [m]."""
_JOINT = 4.0 * NEAR
"""Length of way that every link counts as at least [m]."""


@dataclass(eq=False)
class LevelRoutes:
    """Lengths of ways on floors to the links of a library. **Mutable**: it keeps the fields that were asked for."""

    prepared: PreparedLibrary
    links: tuple[Link, ...]
    _fields: RouteFields = field(init=False)
    _lengths: dict[int, Distances] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._fields = RouteFields(RouteMap.of(self.prepared.fields, thinnest(self.prepared.discs)))

    def route(
        self,
        start: tuple[float, float],
        goal: tuple[float, float],
        tolerance: float,
        without: Collection[int] = (),
        *,
        roughly: bool = False,
    ) -> list[int] | None:
        """Return the links on the shortest way from a place to another, in order; None if there is no way.

        Args:
            start: x, y in the plane [m].
            goal: x, y in the plane [m].
            tolerance: distance from the goal at which the way may end [m].
            without: links that are not taken.
            roughly: whether the last part of the way is taken to be straight; there are many goals, and a field of
                lengths for each takes long.
        """
        to_goal = None if roughly else self._fields.field(goal, tolerance).lengths
        costs = {-1: 0.0}
        before: dict[int, int] = {}
        queue = [(0.0, -1)]
        best, last, done = math.inf, -2, set[int]()
        while queue:
            cost, node = heapq.heappop(queue)
            if cost >= best:
                break
            if node in done:
                continue
            done.add(node)
            here = start if node < 0 else self.links[node].exit[:2]
            end = cost + (self._straight(here, goal, tolerance) if to_goal is None else self._at(to_goal, here))
            if end < best:
                best, last = end, node
            for number, link in enumerate(self.links):
                if number in without or number in done or not self._together(here, link):
                    continue
                # ways to links end NEAR to them, so that one over two joints and back would seem to be the shortest
                there = cost + self._at(self._to(number), here) + max(_PER_SECOND * link.seconds, _JOINT)
                if there < costs.get(number, math.inf):
                    costs[number], before[number] = there, node
                    heapq.heappush(queue, (there, number))
        if last == -2:
            return None
        out = []
        while last >= 0:
            out.append(last)
            last = before[last]
        return out[::-1]

    def _straight(self, here: tuple[float, float], goal: tuple[float, float], tolerance: float) -> float:
        """Return the distance to a goal on the same part of the same floor [m]; infinity elsewhere."""
        connected = self.prepared.fields.parts.connected(np.array(here), np.array(goal), tolerance)
        return math.dist(here, goal) if connected else math.inf

    def _together(self, here: tuple[float, float], link: Link) -> bool:
        """Return whether a place may be on the floor on which a link begins; ways never leave a floor otherwise."""
        (x0, y0, x1, y1), (dx, dy) = link.source.region.bounds, link.source.offset
        return bool(x0 + dx <= here[0] <= x1 + dx and y0 + dy <= here[1] <= y1 + dy)

    def _to(self, number: int) -> Distances:
        """Return the lengths of the ways to the entry of a link [m]; (rows, columns)."""
        if number not in self._lengths:
            entry = self.links[number].entry
            self._lengths[number] = self._fields.field((entry[0], entry[1]), NEAR).lengths
        return self._lengths[number]

    def _at(self, lengths: Distances, point: tuple[float, float]) -> float:
        """Return the length of the way from a point [m]; infinity if there is none."""
        spec = self._fields.map.spec
        cell = spec.cells(np.asarray(point))
        return float(lengths[cell[0], cell[1]]) if spec.contains(cell) else math.inf
