"""Other choices of paths: each is its plain twin, keeps to its budget, and is a part of the tree it chose from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from gaitway.core import planar
from gaitway.core.errors import TreeError
from gaitway.tree.building.growing import Budget, diverse_tree, exhaustive_tree
from gaitway.tree.moves import choose_moves
from gaitway.tree.thesis import _baseline_kernels as kernels
from gaitway.tree.thesis import baselines
from gaitway.tree.thesis.baselines import BASELINES, green_kelly_tree, inclusion_exclusion_tree, survivable_tree
from search_twin import WALKER, small_table

MOVES = choose_moves(small_table(WALKER), "walk", ["straight", "left", "right", "stop", "start"])
WHOLE = exhaustive_tree(MOVES, 4)


def sequences(tree) -> set[tuple[int, ...]]:  # type: ignore[no-untyped-def]
    return {tuple(tree.actions[tree.path(n)].tolist()) for n in range(len(tree))}


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("nodes", [2, 30, 77])
def test_a_part_of_the_candidates(name: str, nodes: int) -> None:
    tree = BASELINES[name](WHOLE, Budget(nodes))
    assert len(tree) == nodes
    assert sequences(tree) <= sequences(WHOLE)
    assert len(sequences(tree)) == nodes
    again = BASELINES[name](WHOLE, Budget(nodes))
    assert again.links.tobytes() == tree.links.tobytes()


@pytest.mark.parametrize("name", BASELINES)
def test_all_of_the_candidates(name: str) -> None:
    """Nothing is left when the budget is large."""
    assert sequences(BASELINES[name](WHOLE, Budget(10_000))) >= {s for s in sequences(WHOLE) if len(s) == 4}


@pytest.mark.parametrize("name", BASELINES)
def test_few_of_many_candidates(name: str) -> None:
    trees = [BASELINES[name](WHOLE, Budget(10_000), seed=seed, most=20) for seed in (0, 0, 1)]
    assert trees[0].links.tobytes() == trees[1].links.tobytes()
    assert sequences(trees[0]) != sequences(trees[2])
    assert len(trees[0]) <= 1 + 20 * 4


class Paths(NamedTuple):
    """Cells of paths as the kernels want them; each path ends in a node of its own and has no other."""

    cells: np.ndarray
    lengths: np.ndarray
    nodes: np.ndarray
    table: np.ndarray

    @staticmethod
    def random(seed: int) -> Paths:
        table = np.random.default_rng(seed).random((12, 40)) < 0.3
        lists = [np.flatnonzero(row) for row in table]
        cells = np.zeros((12, 40), np.int32)
        for row, some in zip(cells, lists, strict=True):
            row[: len(some)] = some
        return Paths(cells, np.array([len(some) for some in lists]), np.arange(1, 13)[:, None], table)


def kept() -> np.ndarray:
    return np.arange(13) == 0


@pytest.mark.parametrize("seed", range(4))
def test_least_dispersion_is_its_twin(seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(15, 6, 2)).astype(np.float32)
    apart = kernels.distances(np.ascontiguousarray(points.swapaxes(1, 2)))
    twin = np.linalg.norm(points[:, None] - points[None], axis=-1).mean(axis=-1)
    assert np.allclose(apart, twin, atol=1e-5)
    order = kernels.least_dispersion(apart, np.arange(1, 16)[:, None], np.arange(16) == 0, 8)
    assert len(order) == 8
    chosen: list[int] = []
    for path in order.tolist():
        left = [c for c in range(15) if c not in chosen]
        value = {c: apart[[*chosen, c]].min(axis=0).max() for c in left}
        assert value[path] == min(value.values())
        chosen.append(path)


@pytest.mark.parametrize("seed", range(4))
def test_choices_by_cells_are_their_twins(seed: int) -> None:
    paths = Paths.random(seed)
    own, cells = (paths.cells, paths.lengths, 40), paths.table
    shared = kernels.least_shared(*own, paths.nodes, kept(), 9).tolist()
    free = kernels.most_likely_free(*own, 0.9, paths.nodes, kept(), 9).tolist()
    obstructed = kernels.least_obstructed(*own, paths.nodes, kept(), 9).tolist()
    assert len(shared) == len(free) == len(obstructed) == 9
    for step in range(9):
        left = [c for c in range(12) if c not in shared[:step]]
        product = {c: sum(int(cells[c] @ cells[p].astype(int)) for p in shared[:step]) for c in left}
        assert product[shared[step]] == min(product.values())
        left = [c for c in range(12) if c not in free[:step]]
        gain = {c: 0.9 ** cells[c].sum() - sum(0.9 ** (cells[c] | cells[p]).sum() for p in free[:step]) for c in left}
        assert gain[free[step]] == pytest.approx(max(gain.values()))
        left = [c for c in range(12) if c not in obstructed[:step]]
        counts = cells[obstructed[:step]].sum(axis=0)
        growth = {c: (((counts + cells[c]) ** 2).sum() - (counts**2).sum()) / cells[c].sum() for c in left}
        assert growth[obstructed[step]] == pytest.approx(min(growth.values()))


def test_choosing_ends_with_enough_nodes() -> None:
    """A path of two nodes counts for two, and for one once a part of it is there."""
    paths = Paths.random(0)
    nodes = np.array([[1, -1]] + [[1, k] for k in range(2, 13)])
    for count in (1, 5, 12):
        order = kernels.least_obstructed(paths.cells, paths.lengths, 40, nodes, kept(), count)
        assert len({int(n) for path in order for n in nodes[path] if n > 0}) >= count
        assert len({int(n) for path in order[:-1] for n in nodes[path] if n > 0}) < count


@pytest.mark.parametrize("reach", [0.0, 2.3])
def test_cells_near_paths(reach: float) -> None:
    """By all points of all moves of each path, one by one."""
    ends = np.array([1, 5, len(WHOLE) - 1])
    paths = baselines._paths(WHOLE, ends)
    assert [row[row >= 0].tolist() for row in paths] == [WHOLE.path(int(n)).tolist() for n in ends]
    cells, lengths = baselines._cells(WHOLE, ends, reach)
    starts, points = MOVES.points(0.5 * WHOLE.region.spec.cell)
    rows, columns = np.indices(WHOLE.region.spec.shape)
    poses = WHOLE.unfold().poses
    for k, end in enumerate(ends.tolist()):
        twin = np.zeros(WHOLE.region.spec.shape, np.bool_)
        for node in WHOLE.path(end).tolist():
            move = WHOLE.actions[node]
            along = planar.transform_points(poses[WHOLE.parents[node]], points[starts[move] : starts[move + 1]])
            for row, column in WHOLE.region.spec.cells(along).tolist():
                twin |= np.hypot(rows - row, columns - column) <= reach
        own = cells[k, : lengths[k]].tolist()
        assert sorted(own) == np.flatnonzero(twin).tolist()


def test_what_the_thesis_saw() -> None:
    """I-P keeps shorter paths than I-E does."""
    short, long = (BASELINES[f"Branicky et al. {name}"](WHOLE, Budget(40)) for name in ("I-P", "I-E"))
    assert short.depths.mean() < long.depths.mean()


def test_dispersion_is_less_than_by_chance() -> None:
    rng = np.random.default_rng(0)
    apart = kernels.distances(rng.normal(size=(200, 2, 6)).astype(np.float32))
    order = kernels.least_dispersion(apart, np.arange(1, 201)[:, None], np.arange(201) == 0, 20)
    others = [apart[rng.choice(200, 20, replace=False)].min(axis=0).max() for _ in range(50)]
    assert apart[order].min(axis=0).max() < min(others)


def test_refusals() -> None:
    with pytest.raises(TreeError, match="between 0 and 1"):
        inclusion_exclusion_tree(WHOLE, Budget(10), blocked=1.0)
    with pytest.raises(TreeError, match="root alone"):
        green_kelly_tree(diverse_tree(MOVES, WHOLE.region, Budget(1)), Budget(10))
    with pytest.raises(TreeError, match="radius"):
        survivable_tree(WHOLE, Budget(10), radius=0.0)
