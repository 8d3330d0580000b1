"""Algorithm 3: the same answer as trying every node by itself, marks that are all taken away, counts that are right."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.core.errors import TreeError
from gaitway.tree.building.growing import Budget, diverse_tree, exhaustive_tree
from gaitway.tree.moves import choose_moves
from gaitway.tree.region import Region
from gaitway.tree.thesis.backward import BackwardResult, BackwardSearch
from gaitway.tree.thesis.gridmap import EnvironmentMap, GoalMap
from gaitway.tree.thesis.mapping import FREE, OCCUPIED, MappedGrid, MappedThings
from gaitway.world.grid import GridSpec
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World
from search_twin import JUMPER, small_table

MOVES = choose_moves(small_table(JUMPER), "walk", ["straight", "left", "right", "jump"])
JUMP = int(np.flatnonzero(MOVES.table.kind[MOVES.actions] >= 0)[0])
TREE = diverse_tree(MOVES, Region.disc(8.0), Budget(4000))
GOALS = GoalMap.of(TREE)
MAPS = {parts: EnvironmentMap.of(TREE, 0.25, parts) for parts in (2, 5)}


def random_world(rng: np.random.Generator, count: int = 9) -> World:
    out = [Obstacle(Box((3.5, 0.0), (0.4, 12.0), 0.5), "jump")]
    for number in range(count):
        shape = Box(tuple(rng.uniform(-8, 8, 2)), tuple(rng.uniform(0.2, 2.5, 2)), 0.5, float(rng.uniform(0, 7)))
        if np.hypot(*shape.center) > 2.6:
            out.append(Obstacle(shape, "jump" if number % 3 == 0 else "wall"))
    return World((-50, -50, 50, 50), tuple(out))


def free_nodes(search: BackwardSearch, maps: EnvironmentMap) -> np.ndarray:
    """Nodes to which the whole way is free, from the root on, in plain Python; (N,)."""
    tree, grid, table = search.tree, search.grid.cells, MOVES.table
    kinds = table.kind[MOVES.actions]
    out = np.zeros(len(tree), np.bool_)
    out[0] = True
    for node in range(1, len(tree)):
        wanted = FREE if kinds[tree.actions[node]] < 0 else 2 + kinds[tree.actions[node]]
        cells = [maps.cells[node], *maps.middles[node].tolist()]
        content = [grid[cell] if cell >= 0 else OCCUPIED for cell in cells]
        own = content[0] == FREE and all(what == wanted for what in content[1:])
        out[node] = own and out[tree.parents[node]]
    return out


@pytest.mark.slow
@pytest.mark.parametrize("parts", [2, 5])
@pytest.mark.parametrize("seed", range(4))
def test_the_same_as_trying_all_nodes(parts: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    search = BackwardSearch(TREE, MAPS[parts], GOALS)
    jumped = found = 0
    for _ in range(12):
        things = MappedThings.of(random_world(rng), MOVES)
        search.grid.map(things, (0.0, 0.0, 0.0), 0.3)
        free = free_nodes(search, MAPS[parts])
        for goal in rng.uniform(-7, 7, (10, 2)).tolist():
            nodes = GOALS.near(tuple(goal))
            wanted = next((int(n) for n in nodes if free[n]), -1)
            assert search.find(tuple(goal)).node == wanted
            found += wanted > 0
            jumped += wanted > 0 and (TREE.actions[TREE.path(wanted)] == JUMP).any()
            search.reset()
            assert not search.blocked.any()
        search.grid.reset()
    assert found > 20
    assert jumped > 0


def test_counts_and_marks() -> None:
    """By a tree of two levels and a wall across: each node is looked at once, and marked ones are unmarked."""
    tree = exhaustive_tree(choose_moves(small_table(JUMPER), "walk", ["straight", "left", "right"]), 3)
    maps, goals = EnvironmentMap.of(tree, 0.2), GoalMap.of(tree, 30.0, 60.0)  # one goal cell for all nodes
    search = BackwardSearch(tree, maps, goals)
    open_ground = search.find((1.0, 0.0))
    assert open_ground == BackwardResult(0, 1, 0)  # the root is the cheapest of all
    assert search.reset() == 0
    wall = World((-50, -50, 50, 50), (Obstacle(Box((0.9, 0.0), (0.1, 30.0), 2.0)),))
    search.grid.map(MappedThings.of(wall, tree.moves), (0.0, 0.0, 0.0), 0.3)
    handle = BackwardSearch(tree, maps, GoalMap.of(tree, 1.0, 1.0))
    handle.grid.map(MappedThings.of(wall, tree.moves), (0.0, 0.0, 0.0), 0.3)
    far = tuple(tree.points[len(tree) - 1].tolist())
    examined = len(handle.goals.near(far))
    out = handle.find(far)
    assert (out.node, out.examined) == (-1, examined)
    marked = handle.blocked.sum()
    # every marked node had its end looked up, and all that end beyond the wall their middle too
    assert marked <= out.checks <= 2 * marked
    assert handle.reset() == marked
    assert not handle.blocked.any()


def test_a_goal_outside() -> None:
    search = BackwardSearch(TREE, MAPS[2], GOALS)
    assert search.find((100.0, 0.0)) == BackwardResult(-1, 0, 0)
    assert search.reset() == 0


def test_another_trees_map_is_refused() -> None:
    other = diverse_tree(MOVES, Region.disc(8.0), Budget(100))
    with pytest.raises(TreeError, match="gridmap of 100 nodes"):
        BackwardSearch(TREE, EnvironmentMap.of(other, 0.25), GOALS)
    with pytest.raises(TreeError, match="grid of"):
        BackwardSearch(TREE, MAPS[2], GOALS, MappedGrid(GridSpec((0, 0), 1.0, (3, 4))))
