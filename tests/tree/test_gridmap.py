"""Grids over trees: every node in its cell, middles at the right times, goal lists complete and by cost."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gaitway.core import planar
from gaitway.core.errors import TreeError
from gaitway.tree.building.growing import Budget, diverse_tree
from gaitway.tree.model import Tree
from gaitway.tree.moves import choose_moves
from gaitway.tree.region import Region
from gaitway.tree.thesis.gridmap import NOWHERE, EnvironmentMap, GoalMap, parts_for
from search_twin import JUMPER, small_table

TABLE = small_table(JUMPER)
MOVES = choose_moves(TABLE, "walk", ["straight", "left", "right", "stop", "start", "turn_left", "jump"])
TREE = diverse_tree(MOVES, Region.disc(7.0), Budget(500))


def cell_twin(point: np.ndarray, grid: EnvironmentMap) -> int:
    column, row = (math.floor(v) for v in (point - np.array(grid.spec.origin)) / grid.spec.cell)
    rows, columns = grid.spec.shape
    return row * columns + column if 0 <= row < rows and 0 <= column < columns else NOWHERE


def place(tree: Tree, node: int, share: float) -> np.ndarray:
    """Where a node's move is after a share of its time."""
    row = int(MOVES.actions[tree.actions[node]])
    part = slice(TABLE.sample_starts[row], TABLE.sample_starts[row + 1])
    time = share * TABLE.durations[row]
    point = np.array([np.interp(time, TABLE.sample_times[part], TABLE.samples[part, k]) for k in range(2)])
    return planar.transform_points(tree.unfold().poses[tree.parents[node]], point)


@pytest.mark.parametrize("parts", [2, 4])
def test_environment_cells(parts: int) -> None:
    grid = EnvironmentMap.of(TREE, 0.137, parts)
    poses = TREE.unfold().poses
    assert grid.cells.tolist() == [cell_twin(pose[:2], grid) for pose in poses]
    assert (grid.cells >= 0).all()
    assert grid.middles.shape == (len(TREE), parts - 1)
    for node in range(1, len(TREE), 7):
        special = TABLE.kind[MOVES.actions[TREE.actions[node]]] >= 0
        shares = [0.5] * (parts - 1) if special else [k / parts for k in range(1, parts)]
        assert grid.middles[node].tolist() == [cell_twin(place(TREE, node, share), grid) for share in shares]


def test_enough_parts_leave_no_gap() -> None:
    parts = parts_for(TREE, 0.28)
    between = MOVES.middles(parts)
    ends = TABLE.moves[MOVES.actions][:, None, :2]
    ordinary = TABLE.kind[MOVES.actions] < 0
    whole = np.concatenate([np.zeros_like(ends), between, ends], axis=1)[ordinary]
    assert np.linalg.norm(np.diff(whole, axis=1), axis=-1).max() <= 0.28 + 1e-9
    assert parts > 2


@pytest.mark.parametrize(("cell", "overlap"), [(0.9, 2.1), (0.45, 1.05), (1.0, 1.0)])
def test_goal_lists(cell: float, overlap: float) -> None:
    goals = GoalMap.of(TREE, cell, overlap)
    rows, columns = goals.spec.shape
    for at in range(rows * columns):
        nodes = goals.nodes[goals.starts[at] : goals.starts[at + 1]]
        middle = np.array(goals.spec.origin) + cell * (np.array([at % columns, at // columns]) + 0.5)
        inside = np.abs(TREE.points - middle).max(axis=1)
        assert set(np.flatnonzero(inside < 0.5 * overlap - 1e-9)) <= set(nodes.tolist())
        assert (inside[nodes] <= 0.5 * overlap + 1e-9).all()
        assert (np.diff(TREE.prices[nodes].astype(int)) >= 0).all()
        assert len(set(nodes.tolist())) == len(nodes)


def test_goals_near_and_outside() -> None:
    goals = GoalMap.of(TREE)
    node = len(TREE) // 2
    assert node in goals.near(tuple(TREE.points[node].tolist())).tolist()
    assert len(goals.near((50.0, 0.0))) == 0
    assert len(goals.near((0.0, -7.5))) == 0


def test_refusals() -> None:
    with pytest.raises(TreeError, match="squares must be as large"):
        GoalMap.of(TREE, 1.0, 0.5)
    with pytest.raises(TreeError, match="parts"):
        EnvironmentMap.of(TREE, 0.28, 1)
    with pytest.raises(TreeError, match="length above 0"):
        EnvironmentMap.of(TREE, 0.0)
