"""The plain A*: as cheap as an exhaustive tree on a lattice, free by the same checks, and its counts are right."""

from __future__ import annotations

import heapq
import math

import numpy as np
import pytest

from gaitway.core import planar
from gaitway.core.errors import TreeError
from gaitway.tree.building.growing import Budget, diverse_tree
from gaitway.tree.moves import Moves, choose_moves
from gaitway.tree.region import Region
from gaitway.tree.thesis.backward import BackwardSearch
from gaitway.tree.thesis.forward import BIN, HEADINGS, ForwardSearch, cheapest_metre, goal_square
from gaitway.tree.thesis.gridmap import EnvironmentMap, GoalMap
from gaitway.tree.thesis.mapping import FREE, MappedGrid, MappedThings
from gaitway.world.grid import GridSpec
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World
from search_twin import LATTICE, WALKER, small_table

STEPS = choose_moves(small_table(LATTICE), "stand", ["ahead", "left", "right"])
WALKS = choose_moves(small_table(WALKER), "walk", ["straight", "left", "right", "stop", "start", "turn_left"])
SPEC = GridSpec((-8.125, -8.125), 0.25, (65, 65))


def random_grid(moves: Moves, seed: int, spec: GridSpec = SPEC) -> MappedGrid:
    rng, grid = np.random.default_rng(seed), MappedGrid(spec)
    boxes = [Box(tuple(rng.uniform(-7, 7, 2)), tuple(rng.uniform(0.3, 3, 2)), 1.0, float(rng.uniform(0, 7)))
             for _ in range(14)]  # fmt: skip
    things = tuple(Obstacle(box) for box in boxes if np.hypot(*box.center) > 2.5)
    grid.map(MappedThings.of(World((-50, -50, 50, 50), things), moves), (0, 0, 0), 0.2)
    return grid


def content(grid: MappedGrid, point: np.ndarray) -> int:
    row, column = grid.spec.cells(point)
    rows, columns = grid.spec.shape
    return int(grid.cells[row * columns + column]) if 0 <= row < rows and 0 <= column < columns else -1


def replay(moves: Moves, grid: MappedGrid, path: np.ndarray) -> tuple[np.ndarray, float]:
    """End and cost of moves one after another; each end and middle must be free, and each may follow the last."""
    pose, cost, before = np.zeros(3), 0.0, len(moves)
    middles = moves.middles()[:, 0]
    for move in path.tolist():
        assert move in moves.followers[moves.follower_starts[before] : moves.follower_starts[before + 1]]
        assert content(grid, planar.transform_points(pose, middles[move])) == FREE
        pose = planar.compose(pose, moves.table.moves[moves.actions[move]])
        assert content(grid, pose[:2]) == FREE
        cost, before = cost + moves.costs[move], move
    return pose, cost


def lattice_twin(grid: MappedGrid, square: tuple[float, float, float, float]) -> float:
    """Dijkstra over whole metres and quarter turns."""
    best: dict[tuple[int, int, int], float] = {(0, 0, 0): 0.0}
    heap = [(0.0, 0, 0, 0)]
    while heap:
        cost, x, y, turn = heapq.heappop(heap)
        if cost > best[x, y, turn] + 1e-9:
            continue
        if square[0] <= x <= square[2] and square[1] <= y <= square[3]:
            return cost
        dx, dy = ((1, 0), (0, 1), (-1, 0), (0, -1))[turn]
        steps = [(x + dx, y + dy, turn, STEPS.costs[0], (x + dx / 2, y + dy / 2))]
        steps += [(x, y, (turn + by) % 4, STEPS.costs[1], (x, y)) for by in (1, -1)]
        for to_x, to_y, turned, price, middle in steps:
            if content(grid, np.array([to_x, to_y])) != FREE or content(grid, np.array(middle)) != FREE:
                continue
            if cost + price < best.get((to_x, to_y, turned), math.inf) - 1e-9:
                best[to_x, to_y, turned] = cost + price
                heapq.heappush(heap, (cost + price, to_x, to_y, turned))
    return math.inf


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_cheapest_on_a_lattice(seed: int) -> None:
    grid = random_grid(STEPS, seed)
    search = ForwardSearch(STEPS, grid)
    rng, found = np.random.default_rng(seed), 0
    for goal in rng.integers(-6, 7, (8, 2)).tolist():
        square = (goal[0] - 0.4, goal[1] - 0.4, goal[0] + 0.4, goal[1] + 0.4)
        way = search.find(square)
        assert way.cost == pytest.approx(lattice_twin(grid, square))
        if math.isfinite(way.cost):
            found += 1
            end, cost = replay(STEPS, grid, way.moves)
            assert cost == pytest.approx(way.cost)
            assert end[:2] == pytest.approx(goal, abs=1e-6)
    assert found > 3


@pytest.mark.parametrize("weight", [1.0, 2.0])
def test_ways_are_free_and_arrive(weight: float) -> None:
    grid, found = random_grid(WALKS, 3), 0
    search = ForwardSearch(WALKS, grid)
    least = {square: search.find(square).cost for square in squares(3)}
    for square, cheapest in least.items():
        way = search.find(square, weight)
        assert math.isfinite(way.cost) == math.isfinite(cheapest)
        if math.isfinite(way.cost):
            found += 1
            end, cost = replay(WALKS, grid, way.moves)
            assert cost == pytest.approx(way.cost)
            assert square[0] <= end[0] <= square[2]
            assert square[1] <= end[1] <= square[3]
            assert way.cost <= 1.5 * weight * cheapest
    assert found > 10


def squares(seed: int) -> list[tuple[float, float, float, float]]:
    middles = np.random.default_rng(seed).uniform(-6.5, 6.5, (20, 2)).tolist()
    return [(x - 0.6, y - 0.6, x + 0.6, y + 0.6) for x, y in middles]


def test_a_weight_expands_less() -> None:
    search = ForwardSearch(WALKS, random_grid(WALKS, 5))
    plain, greedy = ([search.find(s, w) for s in squares(1)] for w in (1.0, 2.0))
    assert sum(w.expanded for w in greedy) < 0.7 * sum(w.expanded for w in plain)
    assert sum(w.checks for w in greedy) < 0.7 * sum(w.checks for w in plain)


def test_checks_on_open_ground() -> None:
    """One node is expanded: the ends of all its moves are looked up, and the middles too."""
    grid = MappedGrid(SPEC)
    way = ForwardSearch(STEPS, grid).find((0.9, -0.1, 1.1, 0.1))
    assert way.moves.tolist() == [0]
    # turns end where the root is, which has no bin yet
    assert (way.expanded, way.checks) == (1, 6)


def test_no_dearer_than_a_tree() -> None:
    """Whatever a tree reaches, the search reaches too, and hardly dearer: bins may cost it a little."""
    tree = diverse_tree(WALKS, Region.disc(8.0), Budget(3000))
    goals = GoalMap.of(tree)
    backward = BackwardSearch(tree, EnvironmentMap.of(tree, 0.25), goals)
    things = (Obstacle(Box((3.0, 1.0), (1.0, 3.0), 1.0)), Obstacle(Box((-2.0, -4.0), (3.0, 1.0), 1.0, 0.4)))
    backward.grid.map(MappedThings.of(World((-50, -50, 50, 50), things), WALKS), (0, 0, 0), 0.3)
    forward = ForwardSearch(WALKS, backward.grid)
    ratios, costs = [], tree.unfold().costs
    for goal in np.random.default_rng(0).uniform(-6, 6, (40, 2)).tolist():
        found = backward.find(tuple(goal))
        backward.reset()
        way = forward.find(goal_square(goals, tuple(goal)))
        if found.node > 0:
            assert math.isfinite(way.cost)
            ratios.append(way.cost / costs[found.node])
    assert len(ratios) > 20
    assert max(ratios) < 1.15
    assert np.mean(ratios) <= 1.0


def test_cheapest_metre_is_a_lower_bound() -> None:
    rng = np.random.default_rng(0)
    for moves in (STEPS, WALKS):
        for _ in range(50):
            pose, cost = np.zeros(3), 0.0
            for move in rng.integers(len(moves), size=6).tolist():
                pose, cost = planar.compose(pose, moves.table.moves[moves.actions[move]]), cost + moves.costs[move]
            assert cheapest_metre(moves) * np.hypot(*pose[:2]) <= cost + 1e-9


def test_goal_square_is_that_of_the_list() -> None:
    tree = diverse_tree(WALKS, Region.disc(8.0), Budget(2000))
    goals = GoalMap.of(tree, 0.5, 1.2)
    for goal in np.random.default_rng(2).uniform(-6, 6, (30, 2)).tolist():
        x0, y0, x1, y1 = goal_square(goals, tuple(goal))
        points = tree.points
        inside = (points >= (x0 + 1e-9, y0 + 1e-9)).all(axis=1) & (points <= (x1 - 1e-9, y1 - 1e-9)).all(axis=1)
        assert set(np.flatnonzero(inside).tolist()) <= set(goals.near(tuple(goal)).tolist())
        assert x0 <= goal[0] <= x1
        assert y0 <= goal[1] <= y1


def test_refusals() -> None:
    grid = MappedGrid(SPEC)
    with pytest.raises(TreeError, match="weight"):
        ForwardSearch(STEPS, grid).find((1, 1, 2, 2), 0.5)
    with pytest.raises(TreeError, match="beyond 50 nodes"):
        ForwardSearch(STEPS, grid, nodes=50).find((6, 6, 7, 7))
    assert BIN > 0
    assert HEADINGS == 24
