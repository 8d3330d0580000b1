"""Estimates of the cost to the goal, of which the largest counts; one bundle of arrays for each goal.

`distance`: the straight line at the least cost of a metre. `heading`: what turning, starting, stopping and whole steps
cost beyond that (`obstacle_free_cost`). `route`: the path around the obstacles (`space.routes`). For weight 1 no
estimate is above the least cost, up to the rounding of the table's cells, so that a search finds the best plan.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
import numpy.typing as npt

from gaitway.behavior._heuristic_kernels import HeuristicArrays, Values, straight_line
from gaitway.behavior.obstacle_free_cost import ObstacleFreeCost, least_per_metre
from gaitway.behavior.options import HEURISTICS
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError
from gaitway.library.actions import ActionTable
from gaitway.library.body_discs import BodyDiscs
from gaitway.space.fields import WorldFields
from gaitway.space.routes import CELL, RouteFields, RouteMap, thinnest
from gaitway.space.states import States


class Heuristics:
    """Estimates for a library, and for a world if routes are wanted. **Mutable**: it keeps tables and fields.

    Attributes:
        names: which estimates are used; the distance always is.
        per_metre: least cost of a metre in a straight line [1/m].
        routes: fields of the world for searches that need not find the best plan, or None.
    """

    def __init__(
        self, table: ActionTable, costs: FloatArray, names: Collection[str], routes: RouteFields | None = None
    ) -> None:
        """Store the parts; callers use `of` instead."""
        unknown = sorted(set(names) - set(HEURISTICS))
        if unknown:
            raise GaitwayError(f"no heuristic '{unknown[0]}'; there are {', '.join(HEURISTICS)}")
        self.names = tuple(name for name in HEURISTICS if name in names)
        self.per_metre = least_per_metre(table, costs)
        self.routes = routes
        self._sure_routes: RouteFields | None = None
        self._table, self._costs, self._states = table, costs, States.of(table)
        self._free: dict[float, ObstacleFreeCost] = {}

    @staticmethod
    def of(
        table: ActionTable,
        costs: FloatArray,
        fields: WorldFields | None = None,
        discs: BodyDiscs | None = None,
        names: Collection[str] = HEURISTICS,
    ) -> Heuristics:
        """Make estimates for a library in a world.

        Args:
            table: actions of the library.
            costs: costs of the actions (`PreparedActions.costs`); (A,).
            fields: the world; None leaves routes out.
            discs: bodies of the actions, which limit where a route can lead; None counts them as points.
            names: which estimates to use.

        Raises:
            GaitwayError: if a name is not known.
        """
        routes = None
        if fields is not None and "route" in names:
            routes = RouteFields(RouteMap.of(fields, 0.0 if discs is None else thinnest(discs)))
        return Heuristics(table, costs, names, routes)

    def moved(self, fields: WorldFields, discs: BodyDiscs | None = None) -> Heuristics:
        """Return the same estimates in another world; the tables of the library are shared."""
        out = Heuristics.of(self._table, self._costs, fields, discs, self.names)
        out._free = self._free
        return out

    def routed(self, routes: RouteFields | None) -> Heuristics:
        """Return the same estimates with other route fields, or without; the library's tables are shared."""
        names = [name for name in self.names if name != "route"]
        out = Heuristics(self._table, self._costs, names if routes is None else (*names, "route"), routes)
        out._free = self._free
        return out

    def obstacle_free_cost(self, tolerance: float) -> ObstacleFreeCost:
        """Return the obstacle-free cost of the library for a tolerance [m]; computed once."""
        key = float(tolerance)
        if key not in self._free:
            self._free[key] = ObstacleFreeCost.of(self._table, self._states, self._costs, key)
        return self._free[key]

    def forget(self) -> None:
        """Forget all goals; what belongs to the library and the world stays."""
        for routes in (self.routes, self._sure_routes):
            if routes is not None:
                routes.forget()

    def arrays(
        self, goal: tuple[float, float], tolerance: float, start: npt.ArrayLike | None = None, weight: float = 1.0
    ) -> HeuristicArrays:
        """Return the arrays of the estimates for a goal.

        Args:
            goal: x and y [m].
            tolerance: distance from the goal within which a plan may end [m].
            start: x and y of the start [m], so that routes need not be computed everywhere; None computes all.
            weight: weight of the search. Above 1 the best plan is not asked for: then routes do not leak through thin
                walls, and the turn towards them counts too.
        """
        out = straight_line(float(goal[0]), float(goal[1]), float(tolerance), self.per_metre)
        if "heading" in self.names:
            free = self.obstacle_free_cost(tolerance)
            frame = _frozen(np.array([free.cell, free.reach]))
            out = out._replace(near_frame=frame, near=free.near, far_rates=free.rates, far=free.far)
        routes = self._routes(weight)
        if routes is not None:
            field = routes.field((float(goal[0]), float(goal[1])), float(tolerance), start)
            # where large cells know of no way, nothing is claimed
            route: Values = field.lengths * np.float32(self.per_metre * (1.0 - 1e-6))
            route[np.isinf(route)] = 0.0
            route.setflags(write=False)
            spec = routes.map.spec  # after the field, for which cells may have been made smaller
            frame = _frozen(np.array([*spec.origin, spec.cell]))
            out = out._replace(route_frame=frame, route=route, ways=field.ways)
            if weight > 1.0 and "heading" in self.names:
                out = out._replace(turns=self.obstacle_free_cost(tolerance).turns)
        return out

    def _routes(self, weight: float) -> RouteFields | None:
        """Return the route fields for a weight."""
        if weight > 1.0 or self.routes is None:
            return self.routes
        if self._sure_routes is None:
            known = self.routes.map
            self._sure_routes = RouteFields(RouteMap.of(known.fields, known.radius, CELL, hopeful=True))
        return self._sure_routes


def with_estimate(
    arrays: HeuristicArrays, fields: WorldFields, estimate: Callable[[FloatArray], npt.ArrayLike]
) -> HeuristicArrays:
    """Return estimates with one more, of which the largest counts, as of all others.

    It is asked once for the middle of each cell of the floor plan, so that it costs a search nothing. Where a search
    shall find the best plan, it must nowhere be above the least cost from anywhere in that cell.

    Args:
        arrays: the estimates for a goal (`Heuristics.arrays`).
        fields: the world.
        estimate: cost to that goal from points x, y [m]; (N, 2) to (N,).

    Raises:
        GaitwayError: if it gives anything but one finite number for each point.
    """
    frame, shape = arrays.route_frame, arrays.route.shape
    if arrays.route.size == 0:  # no route was asked for, and so there are no cells yet
        spec = RouteMap.of(fields).spec
        frame, shape = _frozen(np.array([*spec.origin, spec.cell])), spec.shape
    rows, columns = np.indices(shape, dtype=np.float64)
    points = frame[:2] + frame[2] * (np.stack([columns, rows], axis=-1).reshape(-1, 2) + 0.5)
    costs = np.asarray(estimate(points), dtype=np.float64)
    if costs.shape != (len(points),) or not np.isfinite(costs).all():
        raise GaitwayError(f"an estimate must give one finite number for each of {len(points)} points, not {costs}")
    known = arrays.route if arrays.route.size > 0 else np.zeros(shape, dtype=np.float32)
    route: Values = np.maximum(known, costs.reshape(shape).astype(np.float32))
    ways = arrays.ways if arrays.ways.size > 0 else np.zeros(shape, dtype=np.uint8)
    for array in (route, ways):
        array.setflags(write=False)
    return arrays._replace(route_frame=frame, route=route, ways=ways)


def _frozen(values: FloatArray) -> FloatArray:
    values.setflags(write=False)
    return values
