"""Estimates of the cost to the goal: never more than the truth, and enough to keep a search out of traps."""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import scipy
import shapely

from gaitway.behavior._heuristic_kernels import HeuristicArrays, estimate, straight_line
from gaitway.behavior.heuristics import Heuristics
from gaitway.behavior.obstacle_free_cost import ObstacleFreeCost, least_per_metre
from gaitway.behavior.options import HEURISTICS
from gaitway.behavior.search import search
from gaitway.behavior.searcher import Searcher
from gaitway.cast.catalog import load_cast
from gaitway.core.errors import GaitwayError
from gaitway.library.actions import ActionTable, action_table
from gaitway.library.body_discs import body_discs
from gaitway.space.fields import WorldFields
from gaitway.space.query import Query
from gaitway.space.routes import KEPT, RouteFields, RouteMap, thinnest
from gaitway.space.states import States
from gaitway.world import Box, Obstacle, World
from search_twin import JUMPER, WALKER, small_searcher

TOLERANCE = 0.5


def table_of(actions: list[tuple[str, str, float, float, float, float]]) -> ActionTable:
    """Actions (start state, end state, x, y, heading, cost), each a behaviour of its own."""
    count, moves = len(actions), np.array([a[2:5] for a in actions])
    followers = [[k for k, after in enumerate(actions) if after[0] == before[1]] for before in actions]
    names, states = tuple(f"b{k}" for k in range(count)), tuple(dict.fromkeys(a[0] for a in actions))
    starts, ends = (np.array([states.index(a[k]) for a in actions]) for k in (0, 1))
    idle = (starts == ends) & (np.abs(moves) < 0.01).all(axis=1)
    return ActionTable(
        behaviors=names, clips=names, kinds=(), states=states, behavior=np.arange(count), start_state=starts,
        end_state=ends, idle=idle, quiet=idle, on_foot=np.zeros(count, dtype=bool),
        rest=np.isin(np.arange(len(states)), starts[idle]), moves=moves,
        frames=np.full(count, 30), durations=np.ones(count), costs=np.array([a[5] for a in actions]),
        rises=np.zeros(count), kind=np.full(count, -1), pass_times=np.full(count, np.nan),
        sample_starts=np.arange(count + 1), samples=np.zeros((count, 3)), sample_times=np.zeros(count),
        follower_starts=np.cumsum([0, *map(len, followers)]), followers=np.concatenate(followers).astype(int),
        spacing=0.2,
    )  # fmt: skip


SMALL = table_of(
    [
        ("stand", "stand", 0.0, 0.0, 0.0, 0.1),
        ("stand", "stand", 0.0, 0.0, math.pi / 2, 0.4),
        ("stand", "stand", 0.0, 0.0, -math.pi / 2, 0.4),
        ("stand", "walk", 1.0, 0.0, 0.0, 1.1),
        ("walk", "walk", 1.2, 0.0, 0.0, 1.2),
        ("walk", "walk", 1.1, 0.3, 0.5, 1.2),
        ("walk", "walk", 1.1, -0.3, -0.5, 1.2),
        ("walk", "stand", 0.7, 0.0, 0.0, 0.75),
    ]
)
WIDE = table_of(
    [
        ("stand", "stand", 0.0, 0.0, 0.0, 0.3),
        ("stand", "run", 3.0, 0.0, 0.0, 3.3),
        ("run", "run", 3.5, 0.0, 0.0, 3.5),
        ("run", "run", 3.3, 0.6, 0.35, 3.45),
        ("run", "run", 3.3, -0.6, -0.35, 3.45),
        ("run", "stand", 2.5, 0.0, 0.0, 2.7),
    ]
)


def all_ends(table: ActionTable, state: int, most: float) -> np.ndarray:
    """x, y and cost (N, 3) of each and every sequence from the origin that ends at rest and costs no more."""
    states = States.of(table)
    found, seen = [], set()
    queue = [(0.0, 0, (0.0, 0.0, 0.0), state)]
    order = itertools.count(1)
    while queue:
        cost, _, (x, y, heading), at = heapq.heappop(queue)
        same = (round(x, 6), round(y, 6), round(math.cos(heading), 6), round(math.sin(heading), 6), at)
        if same in seen:
            continue
        seen.add(same)
        if states.rest[at] >= 0:
            found.append((x, y, cost))
        for action in states.followers[states.follower_starts[at] : states.follower_starts[at + 1]]:
            along, aside, turn = table.moves[action]
            if states.idle[action] or cost + table.costs[action] > most:
                continue
            place = (
                x + math.cos(heading) * along - math.sin(heading) * aside,
                y + math.sin(heading) * along + math.cos(heading) * aside,
                heading + turn,
            )
            heapq.heappush(queue, (cost + table.costs[action], next(order), place, int(states.after[action])))
    return np.array(found).reshape(-1, 3)


def estimates(arrays: HeuristicArrays, goals: np.ndarray, state: int) -> np.ndarray:
    """Of a character at the origin, heading along x, for goals (N, 2)."""
    here = arrays._replace(goal=np.array([0.0, 0.0, *arrays.goal[2:]]))
    here.goal.setflags(write=False)
    return np.array([estimate(-x, -y, 0.0, state, here) for x, y in goals])


def plain_estimate(x: float, y: float, heading: float, state: int, arrays: HeuristicArrays) -> float:
    """`estimate` in NumPy."""
    goal_x, goal_y, tolerance, per_metre = arrays.goal
    apart = np.array([goal_x - x, goal_y - y])
    straight = max(np.linalg.norm(apart) - tolerance, 0.0) * per_metre
    total = straight
    if arrays.near.size and np.linalg.norm(apart) < arrays.near_frame[1]:
        turn = np.array([[np.cos(heading), np.sin(heading)], [-np.sin(heading), np.cos(heading)]])
        column, row = np.floor(turn @ apart / arrays.near_frame[0] + arrays.near.shape[1] / 2).astype(int)
        total += arrays.near[state, row, column]
    elif arrays.near.size:
        direction = (np.arctan2(apart[1], apart[0]) - heading + np.pi) % (2.0 * np.pi)
        column = int(direction / (2.0 * np.pi) * arrays.far.shape[2]) % arrays.far.shape[2]
        total += np.minimum(arrays.far[state, :, column], arrays.far_rates * straight).max()
    if arrays.route.size:
        row, column = np.floor((np.array([y, x]) - arrays.route_frame[1::-1]) / arrays.route_frame[2]).astype(int)
        if 0 <= row < arrays.route.shape[0] and 0 <= column < arrays.route.shape[1]:
            around = arrays.route[row, column]
            if around > straight and arrays.turns.size:
                way = np.pi + np.radians(22.5 * arrays.ways[row, column]) - heading
                direction = (way + np.pi) % (2.0 * np.pi)
                around += arrays.turns[
                    state, int(direction / (2.0 * np.pi) * arrays.turns.shape[1]) % arrays.turns.shape[1]
                ]
            total = max(total, around)
    return float(total)


def wall(x: float, y: float, width: float, height: float) -> Obstacle:
    return Obstacle(Box((x, y), (width, height), 2.0))


TRAP = World((-15, -15, 15, 15), (wall(4, 0, 0.3, 10), wall(0, 5, 8, 0.3), wall(0, -5, 8, 0.3)))
MAZE = World((-12, -10, 12, 10), tuple(wall(-8 + 4 * k, 2.5 if k % 2 == 0 else -2.5, 0.3, 15) for k in range(5)))


def test_least_cost_of_a_metre() -> None:
    assert least_per_metre(SMALL, SMALL.costs) == pytest.approx(1.0)
    assert least_per_metre(SMALL, SMALL.costs + 0.1) == pytest.approx(1.3 / 1.2)
    assert least_per_metre(table_of([("stand", "stand", 0.0, 0.0, 0.0, 0.1)]), np.array([0.1])) == 0.0


@pytest.mark.parametrize(("table", "most"), [(SMALL, 7.5), (WIDE, 28.0)], ids=["small", "wide"])
@pytest.mark.parametrize("state", [0, 1])
def test_no_estimate_is_more_than_the_cheapest_way(table: ActionTable, most: float, state: int) -> None:
    ends = all_ends(table, state, most)
    assert len(ends) > 100
    rng = np.random.default_rng(3)
    chosen = ends[rng.permutation(len(ends))[:3000]]
    angle, part = rng.uniform(0.0, 2.0 * np.pi, len(chosen)), np.sqrt(rng.random(len(chosen)))
    goals = chosen[:, :2] + TOLERANCE * (part * [np.cos(angle), np.sin(angle)]).T
    arrays = Heuristics.of(table, table.costs, names=("heading",)).arrays((0.0, 0.0), TOLERANCE)
    tree = scipy.spatial.cKDTree(ends[:, :2])
    cheapest = np.array([ends[near, 2].min() for near in tree.query_ball_point(goals, TOLERANCE + 1e-9)])
    claimed = estimates(arrays, goals, state)
    assert (claimed <= cheapest + 0.02).all()
    straight = np.maximum(np.hypot(*goals.T) - TOLERANCE, 0.0) * arrays.goal[3]
    # what is gained: of the cost beyond the straight line, a good part is known beforehand
    assert np.sum(claimed - straight) > 0.35 * np.sum(cheapest - straight)


def test_far_goals_cost_the_turn() -> None:
    arrays = Heuristics.of(SMALL, SMALL.costs, names=("heading",)).arrays((0.0, 0.0), TOLERANCE)
    ahead, behind = estimates(arrays, np.array([[40.0, 0.0], [-40.0, 0.0]]), 0)
    assert 39.5 <= ahead < 39.9
    assert behind == pytest.approx(ahead + 0.8, abs=0.1)  # two quarter turns


def test_a_library_that_never_rests_keeps_the_distance() -> None:
    table = table_of([("walk", "walk", 1.0, 0.0, 0.0, 1.0), ("walk", "walk", 1.0, 0.2, 0.3, 1.1)])
    free = ObstacleFreeCost.of(table, States.of(table), table.costs, TOLERANCE)
    assert np.isfinite(free.near).all() and (free.near >= 0.0).all()


@pytest.mark.parametrize("weight", [1.0, 2.0])
@pytest.mark.parametrize("names", [("distance",), ("heading",), ("route",), HEURISTICS])
def test_estimate_and_its_twin(names: tuple[str, ...], weight: float) -> None:
    heuristics = Heuristics.of(SMALL, SMALL.costs, WorldFields.of(TRAP), names=names)
    arrays = heuristics.arrays((9.0, 1.0), TOLERANCE, weight=weight)
    rng = np.random.default_rng(0)
    for x, y, heading in rng.uniform([-16, -16, -7], [16, 16, 7], (300, 3)):
        state = int(rng.integers(2))
        assert estimate(x, y, heading, state, arrays) == pytest.approx(
            plain_estimate(x, y, heading, state, arrays), rel=1e-6
        )


def test_names() -> None:
    assert Heuristics.of(SMALL, SMALL.costs, names=("heading", "distance")).names == ("distance", "heading")
    with pytest.raises(GaitwayError, match="no heuristic 'near'; there are distance, route, heading"):
        Heuristics.of(SMALL, SMALL.costs, names=("near",))
    assert straight_line(3.0, 4.0, 0.5, 2.0).near.size == 0


THIN = 0.15
"""Radius of a body for which routes are never too long [m]: three cells of the world's fields."""


def shortest(world: World, starts: np.ndarray, goal: tuple[float, float]) -> np.ndarray:
    """Length of the shortest way of a thin body around boxes from each start (N, 2), by lines between corners."""
    boxes = [shapely.Polygon(o.shape.footprint().points).buffer(THIN, quad_segs=2) for o in world.obstacles]
    solid = shapely.union_all([box.buffer(-1e-6) for box in boxes])
    corners = np.concatenate([shapely.get_coordinates(box)[:-1] for box in boxes])
    shapely.prepare(solid)
    points = np.concatenate([[goal], starts, corners[~shapely.contains_xy(solid, corners)]])
    first, second = np.triu_indices(len(points), 1)
    lines = shapely.linestrings(np.stack([points[first], points[second]], axis=1))
    seen = ~shapely.intersects(solid, lines)
    graph = np.zeros((len(points), len(points)))
    graph[first[seen], second[seen]] = shapely.length(lines[seen])
    lengths: np.ndarray = scipy.sparse.csgraph.dijkstra(graph, directed=False, indices=0)[1 : len(starts) + 1]
    return lengths


@pytest.mark.parametrize("seed", range(12))
def test_routes_are_not_longer_than_the_shortest_way(seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = rng.uniform([-8, -8, 0.3, 0.3, 0], [8, 8, 7, 3, 3], (9, 5))
    boxes = tuple(Obstacle(Box((x, y), (w, h), 2.0, yaw=a)) for x, y, w, h, a in drawn)
    world = World((-10, -10, 10, 10), boxes)
    routes = RouteMap.of(WorldFields.of(world), hopeful=True)
    solid = shapely.union_all([shapely.Polygon(o.shape.footprint().points) for o in boxes])
    free = np.array([p for p in rng.uniform(-9, 9, (60, 2)) if shapely.Point(p).distance(solid) > 0.2])
    goal, places = (float(free[0, 0]), float(free[0, 1])), free[1:]
    field, _, known = routes.field(goal, TOLERANCE)
    assert math.isinf(known)
    truth = shortest(world, places, goal)
    claimed = field[tuple(routes.spec.cells(places).T)]
    assert (claimed <= np.maximum(truth - TOLERANCE, 0.0) + 1e-6)[np.isfinite(truth)].all()
    straight = np.hypot(*(places - goal).T)
    around = np.isfinite(truth) & (truth > 1.15 * straight + 0.5)
    assert (claimed > straight - TOLERANCE)[around].any() or not around.any()
    assert field[tuple(routes.spec.cells(goal))] == 0.0


def test_routes_lead_around_the_trap_and_nowhere_through_walls() -> None:
    routes = RouteMap.of(WorldFields.of(TRAP))
    field = routes.field((9.0, 0.0), TOLERANCE).lengths
    inside = field[tuple(routes.spec.cells((0.0, 0.0)))]
    assert shortest(TRAP, np.zeros((1, 2)), (9.0, 0.0))[0] - TOLERANCE - 1.5 < inside
    closed = replace(TRAP, obstacles=(*TRAP.obstacles, wall(-4, 0, 0.3, 10.3)))
    sealed = RouteMap.of(WorldFields.of(closed)).field((9.0, 0.0), TOLERANCE).lengths
    assert math.isinf(sealed[tuple(routes.spec.cells((0.0, 0.0)))])
    assert not WorldFields.of(closed).parts.connected((0.0, 0.0), (9.0, 0.0), TOLERANCE)


def test_who_is_too_near_to_a_fence_has_to_get_away_first() -> None:
    """The jumper takes off at least a metre before a fence, and its body is as long."""
    jumper = small_searcher(JUMPER)
    fence = Obstacle(Box((8.0, 6.0), (0.2, 12.4), 0.4), "jump")
    fields = WorldFields.of(World((0.0, 0.0, 16.0, 12.0), (fence,)), jumper.reaches, cell=0.05)
    (away,) = fields.run_ups.values()
    assert 0.9 < away < 1.2
    routes = RouteMap.of(fields)
    field = routes.field((13.0, 6.0), TOLERANCE).lengths
    before = field[tuple(routes.spec.cells([(x, 6.0) for x in (5.0, 6.5, 7.5)]).T)]
    assert before[0] - before[1] == pytest.approx(1.5, abs=0.1)
    assert before[2] > before[1] - 0.3  # nearer, and yet no nearer
    beyond = field[tuple(routes.spec.cells([(x, 6.0) for x in (8.5, 9.5)]).T)]
    assert beyond[0] - beyond[1] == pytest.approx(1.0, abs=0.1)
    unable = WorldFields.of(fields.world, small_searcher(WALKER).reaches, cell=0.05)
    assert unable.run_ups == {}


def test_estimates_stay_below_what_a_plan_over_a_fence_costs() -> None:
    jumper = small_searcher(JUMPER)
    fence = Obstacle(Box((8.0, 6.0), (0.2, 12.4), 0.4), "jump")
    fields = WorldFields.of(World((0.0, 0.0, 16.0, 12.0), (fence,)), jumper.reaches, cell=0.05)
    heuristics = Heuristics.of(jumper.table, jumper.costs, fields)
    for y in (3.0, 6.1, 8.3):
        query = Query((2.13, y, 0.4), (13.13, 6.17), tolerance=0.5)
        arrays = heuristics.arrays(query.goal, query.tolerance)
        plan = search(jumper, fields, query, None, arrays).plan
        assert plan is not None and "jump" in plan.behaviors
        spent, state = 0.0, jumper.start_state(None)
        for step in plan.steps:
            assert estimate(*step.pose, state, arrays) <= plan.cost - spent + 1e-6
            state = int(jumper.states.after[jumper.table.index(step.behavior)])
            spent += float(jumper.costs[jumper.table.clips.index(step.clip)])
        assert spent == pytest.approx(plan.cost)


def test_narrow_gaps_make_the_cells_smaller() -> None:
    """In a large world, a gap that large cells do not see."""
    gap = (wall(0.0, 15.175, 0.8, 29.65), wall(0.0, -15.025, 0.8, 29.95))
    fields = WorldFields.of(World((-30, -30, 30, 30), gap), cell=0.1)
    routes = RouteFields(RouteMap.of(fields, 0.15))
    coarse = routes.map.spec.cell
    assert coarse == pytest.approx(0.3)
    start, goal = (-10.0, 3.0), (10.0, -2.0)
    length = routes.field(goal, TOLERANCE, start).lengths[tuple(routes.map.spec.cells(start))]
    assert 19.0 < length < 21.0
    assert routes.map.spec.cell < coarse


def test_a_field_ends_beyond_its_start_and_grows_when_it_must() -> None:
    routes = RouteFields(RouteMap.of(WorldFields.of(MAZE)))
    goal, near, far = (10.0, 0.0), (9.0, 3.0), (-10.0, 8.0)
    whole = routes.map.field(goal, TOLERANCE).lengths
    part = routes.field(goal, TOLERANCE, near).lengths
    assert (part <= whole).all() and (part < whole).any()
    assert part[tuple(routes.map.spec.cells(near))] == whole[tuple(routes.map.spec.cells(near))]
    assert routes.field(goal, TOLERANCE, near).lengths is part
    np.testing.assert_array_equal(routes.field(goal, TOLERANCE, far).lengths, whole)
    for k in range(KEPT + 5):
        routes.field((10.0, 0.05 * k), TOLERANCE, near)
    assert len(routes._kept) == KEPT


def plain_field(routes: RouteMap, goal: tuple[float, float], tolerance: float) -> np.ndarray:
    """`RouteMap.field` by SciPy over the graph of all steps."""
    cells = np.asarray(routes.cells > 0).astype(int)
    width, (steps, lengths) = cells.shape[1], routes._steps
    flat = cells.ravel()
    inside = np.flatnonzero(flat)
    rows, columns, weights = [], [], []
    for k, ((step, left, right), length) in enumerate(zip(steps, lengths, strict=True)):
        allowed = (k % 2 == 0) | (flat[inside + left] == 1) | (flat[inside + right] == 1)
        target = inside + step
        allowed &= (flat[target] == 1) | (k % 2 == 0)
        rows.append(inside[allowed]), columns.append(target[allowed]), weights.append(np.full(allowed.sum(), length))
    graph = scipy.sparse.csr_array(
        (np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))), (flat.size, flat.size)
    )
    found = scipy.sparse.csgraph.dijkstra(graph, indices=routes._seeds(goal, tolerance), min_only=True)
    inner = found.reshape(-1, width)[2:-2, 2:-2]
    return np.maximum((0.9731 * inner - math.sqrt(2.0)) * routes.spec.cell, 0.0)


@pytest.mark.parametrize("cell", [0.1, 0.2, 0.4])
@pytest.mark.parametrize("world", [TRAP, MAZE], ids=["trap", "maze"])
def test_fields_and_their_twin(world: World, cell: float) -> None:
    routes = RouteMap.of(WorldFields.of(world), cell=cell)
    field = routes.field((3.0, 1.0), 0.3).lengths
    np.testing.assert_allclose(field, plain_field(routes, (3.0, 1.0), 0.3), rtol=1e-5, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "query"),
    [
        (TRAP, Query((0.0, 0.0, 0.0), (9.0, 0.0), weight=2.0)),
        (MAZE, Query((-10.0, 8.0, -1.57), (10.0, 0.0), weight=2.0)),
    ],
    ids=["trap", "maze"],
)
def test_traps_need_a_tenth_of_the_expansions(world: World, query: Query) -> None:
    library = load_cast("person")
    table = action_table(library)
    discs = body_discs(library, table)
    searcher, fields = Searcher(table, discs), WorldFields.of(world)
    assert 0.05 < thinnest(discs) < 0.3
    plain = search(searcher, fields, query)
    heuristics = Heuristics.of(table, searcher.costs, fields, discs)
    arrays = heuristics.arrays(query.goal, query.tolerance, query.start[:2], query.weight)
    guided = search(searcher, fields, query, heuristics=arrays)
    assert plain.found and guided.found
    assert 10 * guided.expanded <= plain.expanded
