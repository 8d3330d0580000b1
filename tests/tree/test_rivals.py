"""Other choices of paths: each is its plain twin, keeps to its budget, and is a part of the tree it chose from."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.errors import TreeError
from gaitway.tree import _rival_kernels as kernels
from gaitway.tree.growing import Budget, exhaustive_tree
from gaitway.tree.moves import choose_moves
from gaitway.tree.rivals import RIVALS, inclusion_exclusion_tree, survivable_tree
from search_twin import WALKER, small_table

MOVES = choose_moves(small_table(WALKER), "walk", ["straight", "left", "right", "stop", "start"])
WHOLE = exhaustive_tree(MOVES, 4)


def sequences(tree) -> set[tuple[int, ...]]:  # type: ignore[no-untyped-def]
    return {tuple(tree.actions[tree.path(n)].tolist()) for n in range(len(tree))}


@pytest.mark.parametrize("name", RIVALS)
@pytest.mark.parametrize("nodes", [2, 30, 77])
def test_a_part_of_the_candidates(name: str, nodes: int) -> None:
    tree = RIVALS[name](WHOLE, Budget(nodes))
    assert len(tree) == nodes
    assert sequences(tree) <= sequences(WHOLE)
    assert len(sequences(tree)) == nodes
    again = RIVALS[name](WHOLE, Budget(nodes))
    assert again.links.tobytes() == tree.links.tobytes()


@pytest.mark.parametrize("name", RIVALS)
def test_all_of_the_candidates(name: str) -> None:
    """Nothing is left when the budget is large."""
    deepest = sequences(WHOLE)
    assert {s for s in sequences(RIVALS[name](WHOLE, Budget(10_000))) if len(s) == 4} == {
        s for s in deepest if len(s) == 4
    }


@pytest.mark.parametrize("name", RIVALS)
def test_few_of_many_candidates(name: str) -> None:
    trees = [RIVALS[name](WHOLE, Budget(10_000), seed=seed, most=20) for seed in (0, 0, 1)]
    assert trees[0].links.tobytes() == trees[1].links.tobytes()
    assert sequences(trees[0]) != sequences(trees[2])
    assert sum(len(s) == 4 for s in sequences(trees[0])) == 20


def random_cells(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((12, 40)) < 0.3


@pytest.mark.parametrize("seed", range(4))
def test_least_dispersion_is_its_twin(seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(15, 6, 2)).astype(np.float32)
    apart = kernels.distances(points)
    twin = np.linalg.norm(points[:, None] - points[None], axis=-1).mean(axis=-1)
    assert np.allclose(apart, twin, atol=1e-5)
    order = kernels.least_dispersion(apart, 8)
    chosen: list[int] = []
    for path in order.tolist():
        left = [c for c in range(15) if c not in chosen]
        value = {c: apart[[*chosen, c]].min(axis=0).max() for c in left}
        assert value[path] == min(value.values())
        chosen.append(path)


@pytest.mark.parametrize("seed", range(4))
def test_choices_by_cells_are_their_twins(seed: int) -> None:
    cells = random_cells(seed)
    shared, free, obstructed = (
        kernels.least_shared(cells, 9).tolist(),
        kernels.most_likely_free(cells, 0.9, 9).tolist(),
        kernels.least_obstructed(cells, 9).tolist(),
    )
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


def test_grown_cells() -> None:
    cells = np.zeros((1, 9 * 11), np.bool_)
    cells[0, [4 * 11 + 5, 0]] = True
    out = kernels.grown(cells, 9, 11, 2.3).reshape(9, 11)
    rows, columns = np.mgrid[:9, :11]
    twin = (np.hypot(rows - 4, columns - 5) <= 2.3) | (np.hypot(rows, columns) <= 2.3)
    assert (out == twin).all()


def test_dispersion_is_less_than_by_chance() -> None:
    rng = np.random.default_rng(0)
    apart = kernels.distances(rng.normal(size=(200, 6, 2)).astype(np.float32))
    chosen = apart[kernels.least_dispersion(apart, 20)].min(axis=0).max()
    others = [apart[rng.choice(200, 20, replace=False)].min(axis=0).max() for _ in range(50)]
    assert chosen < min(others)


def test_refusals() -> None:
    with pytest.raises(TreeError, match="between 0 and 1"):
        inclusion_exclusion_tree(WHOLE, Budget(10), blocked=1.0)
    with pytest.raises(TreeError, match="radius"):
        survivable_tree(WHOLE, Budget(10), radius=0.0)
