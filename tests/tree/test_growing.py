"""Trees grow as the thesis says: every node is a sequence that the graph allows, in the region, spread evenly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.cast.catalog import load_cast
from gaitway.core import planar
from gaitway.core.errors import TreeError
from gaitway.library.actions import action_table
from gaitway.tree.building import _density_kernels as kernels
from gaitway.tree.building._growing_kernels import HEADINGS
from gaitway.tree.building.coverage import coverage, covered, density
from gaitway.tree.building.growing import Budget, diverse_tree, exhaustive_size, exhaustive_tree, pruned_tree
from gaitway.tree.building.growth import cost_bound, move_arrays, new_growth
from gaitway.tree.model import NODE_BYTES, Tree
from gaitway.tree.moves import Moves, choose_moves
from gaitway.tree.region import Region
from search_twin import WALKER, small_table

MOVES = choose_moves(small_table(WALKER), "walk")
REGION = Region.disc(7.0, cell=0.29)
"""Of cells such that no point of the moves lies on a border."""
DISC_OR_SO = (
    REGION,
    Region.half_disc(8.0, cell=0.31),
    Region.polygon([(-1.0, -1.0), (9.0, -4.0), (6.0, 0.0), (9.0, 5.0), (-1.0, 2.0)], cell=0.31),
)


def followers(moves: Moves, before: int) -> list[int]:
    return moves.followers[moves.follower_starts[before] : moves.follower_starts[before + 1]].tolist()


def trace_twin(region: Region, path: np.ndarray) -> set[tuple[int, int]]:
    cells = np.floor((path - region.spec.origin) / region.spec.cell).astype(int)
    return {(int(y), int(x)) for x, y in cells}


def paths_of(tree: Tree) -> list[np.ndarray]:
    """Points of each node's move in the tree's frame, without its kernels."""
    starts, points = tree.moves.points(0.5 * tree.region.spec.cell)
    poses = [np.zeros(3)]
    out = [np.zeros((1, 2))]
    for node in range(1, len(tree)):
        parent, move = int(tree.parents[node]), int(tree.actions[node])
        out.append(planar.transform_points(poses[parent], points[starts[move] : starts[move + 1]]))
        poses.append(planar.compose(poses[parent], tree.moves.table.moves[tree.moves.actions[move]]))
    return out


def check(tree: Tree) -> None:
    """A tree hangs together, obeys the graph, stays in its region, and no two siblings are the same."""
    actions, parents = tree.actions, tree.parents
    before = np.where(parents == 0, len(tree.moves), actions[parents])
    assert all(actions[n] in followers(tree.moves, int(before[n])) for n in range(1, len(tree)))
    pairs = set(zip(parents[1:].tolist(), actions[1:].tolist(), strict=True))
    assert len(pairs) == len(tree) - 1
    inside = tree.region.inside
    for path in paths_of(tree):
        assert all(inside[cell] for cell in trace_twin(tree.region, path))


@pytest.mark.parametrize("region", DISC_OR_SO)
@pytest.mark.parametrize("stretch", [None, 1.5])
def test_diverse_trees_keep_the_rules(region: Region, stretch: float | None) -> None:
    tree = diverse_tree(MOVES, region, Budget(400), stretch=stretch, seed=3)
    assert len(tree) == 400
    check(tree)


def test_pruned_trees_keep_the_rules_and_their_cells() -> None:
    tree = pruned_tree(MOVES, REGION, Budget(600), per_cell=2, levels=9, seed=1)
    check(tree)
    full = tree.unfold().poses[1:, :2]
    cells = np.floor((full - REGION.spec.origin) / REGION.spec.cell).astype(int)
    _, counts = np.unique(cells, axis=0, return_counts=True)
    assert counts.max() == 2
    assert tree.depths.max() <= 9


def test_pruned_level_by_level() -> None:
    """A tree that is cut off in some level has no node beyond it, and every node that fits before."""
    tree = pruned_tree(MOVES, Region.disc(30.0), Budget(200), per_cell=10_000, seed=1)
    counts = np.bincount(tree.depths)
    sizes = [1, *(exhaustive_size(MOVES, depth) for depth in range(1, len(counts) - 1))]
    assert counts[:-1].tolist() == [1, *np.diff(sizes).tolist()]


@pytest.mark.parametrize("levels", [1, 2, 3, 4])
def test_exhaustive_trees_have_every_sequence_once(levels: int) -> None:
    tree = exhaustive_tree(MOVES, levels)
    found = [tuple(tree.actions[tree.path(n)].tolist()) for n in range(len(tree))]
    wanted, latest = [()], [()]
    for _ in range(levels):
        latest = [(*s, m) for s in latest for m in followers(MOVES, s[-1] if s else len(MOVES))]
        wanted += latest
    assert sorted(found) == sorted(wanted)
    assert len(tree) == exhaustive_size(MOVES, levels)
    check(tree)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), fill=st.integers(1, 60))
def test_density_changes_agree(seed: int, fill: int) -> None:
    """In closed form, by frequencies, and by the formula itself."""
    rng = np.random.default_rng(seed)
    growth = new_growth(REGION, fill + 2, True)
    inside, counts = np.flatnonzero(REGION.inside), growth.counts.reshape(REGION.inside.shape)
    for _ in range(fill):
        some = rng.choice(inside, size=int(rng.integers(1, 9)), replace=False).astype(np.int64)
        before = density(counts, REGION)
        closed = kernels.change_in_closed_form(some, len(some), growth, len(REGION))
        slow = kernels.change_by_frequencies(some, len(some), growth, len(REGION))
        kernels.count_cells(some, len(some), growth, True)
        after = density(counts, REGION)
        assert closed == pytest.approx(after - before, abs=1e-6)
        assert slow == pytest.approx(after - before, abs=1e-6)
    assert growth.frequencies[: int(growth.counts.max()) + 1].tolist() == np.bincount(counts[REGION.inside]).tolist()


def twin_diverse(moves: Moves, region: Region, count: int, seed: int) -> list[tuple[int, int]]:
    """Algorithm 2 again: all nodes searched for the nearest, densities by the formula."""
    rng = np.random.default_rng(seed)
    samples = region.points(rng, 65_536)
    starts, points = moves.points(0.5 * region.spec.cell)
    m = np.zeros(region.inside.shape, np.int64)
    nodes, poses, used = [(-1, -1)], [np.zeros(3)], [set()]
    for sample in samples:
        if len(nodes) == count:
            break
        open_nodes = [n for n, (_, a) in enumerate(nodes) if used[n] != set(followers(moves, a if n else len(moves)))]
        near = min(open_nodes, key=lambda n: float(np.square(poses[n][:2] - sample).sum()))
        best, least = None, math.inf
        for move in followers(moves, nodes[near][1] if near else len(moves)):
            if move in used[near]:
                continue
            cells = trace_twin(region, planar.transform_points(poses[near], points[starts[move] : starts[move + 1]]))
            rows, columns = region.inside.shape
            if not all(0 <= i < rows and 0 <= j < columns and region.inside[i, j] for i, j in cells):
                used[near].add(move)
                continue
            more = m.copy()
            for cell in cells:
                more[cell] += 1
            change = (density(more, region) - density(m, region)) / len(cells)
            if change < least - 1e-9:
                best, least = (move, more), change
        if best is not None:
            used[near].add(best[0])
            nodes.append((near, best[0]))
            poses.append(planar.compose(poses[near], moves.table.moves[moves.actions[best[0]]]))
            used.append(set())
            m = best[1]
    return nodes


@pytest.mark.parametrize("seed", [0, 5])
def test_diverse_tree_is_its_twin(seed: int) -> None:
    twin = twin_diverse(MOVES, REGION, 120, seed)
    tree = diverse_tree(MOVES, REGION, Budget(120), stretch=None, seed=seed)
    children: dict[int, list[int]] = {}
    for number, (parent, _) in enumerate(twin[1:], 1):
        children.setdefault(parent, []).append(number)
    order, stack = [], [0]
    while stack:
        order.append(stack.pop())
        stack += reversed(children.get(order[-1], []))
    assert [twin[n][1] for n in order[1:]] == tree.actions[1:].tolist()
    assert [order.index(twin[n][0]) for n in order[1:]] == tree.parents[1:].tolist()


def test_same_seed_same_bytes() -> None:
    first, again, other = (diverse_tree(MOVES, REGION, Budget(500), seed=s) for s in (4, 4, 5))
    assert first.links.tobytes() == again.links.tobytes()
    assert first.links.tobytes() != other.links.tobytes()


@pytest.mark.parametrize("stretch", [None, 1.5])
def test_small_cells_change_nothing(stretch: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are there to find the nearest node faster."""
    trees = []
    for crowd in (1e9, 0.05):
        monkeypatch.setattr("gaitway.tree.building.growth._CROWD", crowd)
        trees.append(diverse_tree(MOVES, REGION, Budget(700), stretch=stretch))
    assert new_growth(REGION, 700).heads.size > REGION.inside.size
    assert trees[0].links.tobytes() == trees[1].links.tobytes()


def test_who_can_stop_stops() -> None:
    """Plans end at rest: where there is room to stop after a move, the tree does, as long as nodes are left."""
    tree = diverse_tree(MOVES, REGION, Budget(1500))
    table, moves, states = MOVES.table, MOVES.actions, tree.states
    stop = next(m for m in range(len(MOVES)) if table.behaviors[table.behavior[moves[m]]] == "stop")
    stopped = set(tree.parents[tree.actions == stop].tolist())
    walking = [n for n in range(1, len(tree)) if table.states[states[n]] == "walk"]
    assert len(stopped) > 0.65 * len(walking)  # near the border there is no room, and some would be too dear
    plain = diverse_tree(MOVES, REGION, Budget(1500), stretch=None)
    assert table.rest[tree.states].mean() > 1.1 * table.rest[plain.states].mean()


def best_costs(tree: Tree, goals: np.ndarray) -> np.ndarray:
    """Cheapest node that ends at rest within half a metre of each goal."""
    ends = tree.moves.table.rest[tree.states]
    away = np.linalg.norm(tree.points[ends, None] - goals, axis=2)
    return np.where(away < 0.5, tree.costs[ends, None], np.inf).min(axis=0)


def test_cheap_ways_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the best way to a place is better than in a tree that takes them as they come."""
    moves, region = choose_moves(action_table(load_cast("person")), "walk"), Region.disc(9.0)
    goals = region.points(np.random.default_rng(1), 300)
    ours = best_costs(diverse_tree(moves, region, Budget(20_000)), goals)
    monkeypatch.setattr("gaitway.tree.building.growing._PHASES", ((1.0, 1.0),))
    other = best_costs(diverse_tree(moves, region, Budget(20_000)), goals)
    both = np.isfinite(ours) & np.isfinite(other)
    assert both.sum() > 200
    assert ours[both].mean() < 0.97 * other[both].mean()


def test_frequencies_grow_as_good_a_tree() -> None:
    closed, slow = (diverse_tree(MOVES, REGION, Budget(800), by_frequencies=f) for f in (False, True))
    assert coverage(slow)[1] == pytest.approx(coverage(closed)[1], rel=0.05)


def test_diverse_is_evener_than_pruned() -> None:
    diverse = diverse_tree(MOVES, REGION, Budget(800), stretch=None)
    pruned = pruned_tree(MOVES, REGION, Budget(800))
    assert coverage(diverse)[1] < 0.5 * coverage(pruned)[1]


def test_stretch_bounds_costs() -> None:
    """No way costs much more than the cheapest to about the same cell."""
    tree = diverse_tree(MOVES, REGION, Budget(2000), stretch=1.2)
    bound = cost_bound(MOVES, REGION, move_arrays(MOVES, REGION), 1.2)
    full = tree.unfold()
    cells = np.floor((full.poses[:, :2] - REGION.spec.origin) / REGION.spec.cell).astype(int) // 2
    least = bound.least[cells[:, 1], cells[:, 0]]
    dear = np.flatnonzero(full.costs > 1.2 * least + 0.5 + 1e-9)
    assert len(dear) < 0.2 * len(tree)
    turns = np.floor(full.poses[:, 2] / (2.0 * np.pi) * HEADINGS + 0.5).astype(int) % HEADINGS
    parts = turns * (bound.groups.max() + 1) + bound.groups[tree.actions]
    assert (full.costs <= bound.by_heading[cells[:, 1], cells[:, 0], parts] + 1e-5)[dear].all()
    free = diverse_tree(MOVES, REGION, Budget(2000), stretch=None)
    assert full.costs.mean() < free.unfold().costs.mean()


def test_least_costs_are_those_of_an_exhaustive_tree() -> None:
    """Never less than what some sequence costs, and hardly more."""
    region = Region.disc(3.0)
    bound = cost_bound(MOVES, region, move_arrays(MOVES, region), 1.5)
    full = exhaustive_tree(MOVES, 5).unfold()
    cells = np.floor((full.poses[:, :2] - region.spec.origin) / (2.0 * region.spec.cell)).astype(int)
    rows, columns = bound.least.shape
    for row in range(rows):
        for column in range(columns):
            own = full.costs[(cells[:, 1] == row) & (cells[:, 0] == column)]
            if len(own) and own.min() < 5.0:
                assert bound.least[row, column] <= own.min() * 1.3 + 0.3


def test_coverage_counts_each_cell_once() -> None:
    tree = diverse_tree(MOVES, REGION, Budget(60))
    counts, value = coverage(tree)
    twin = np.zeros_like(counts)
    for path in paths_of(tree)[1:]:
        for cell in trace_twin(REGION, path):
            twin[cell] += 1
    assert (counts == twin).all()
    mean = twin[REGION.inside].mean()
    assert value == pytest.approx(sum((mean - c) ** 2 for c in twin[REGION.inside].tolist()))


def test_a_persons_tree_ends_in_states_of_the_graph() -> None:
    table = action_table(load_cast("person"))
    moves = choose_moves(table, "walk")
    names = {table.behaviors[table.behavior[a]] for a in moves.actions.tolist()}
    assert {"walk_forward", "stop_walk", "start_walk", "turn_left_90"} <= names
    assert not names & {"stand", "duck", "jog_forward"}
    tree = diverse_tree(moves, Region.disc(10.0), Budget(2000))
    assert {table.states[s] for s in np.unique(tree.states).tolist()} == {"stand", "walk"}
    assert len(tree) == 2000


def test_budgets() -> None:
    assert Budget.memory(1.6).nodes * NODE_BYTES == 1_600_000
    for wrong in (lambda: Budget(0), lambda: Budget(-3), lambda: Budget.memory(0.0), lambda: Budget(1 << 25)):
        with pytest.raises(TreeError, match="budget of"):
            wrong()


def test_refusals() -> None:
    with pytest.raises(TreeError, match="no room for a single move"):
        diverse_tree(MOVES, Region.disc(0.3), Budget(100))
    with pytest.raises(TreeError, match="no room for a single move"):
        pruned_tree(MOVES, Region.disc(0.3), Budget(100))
    with pytest.raises(TreeError, match="nodes, beyond 1000"):
        exhaustive_tree(MOVES, 8, budget=Budget(1000))
    with pytest.raises(TreeError, match="levels"):
        diverse_tree(MOVES, REGION, Budget(100), levels=0)
    with pytest.raises(TreeError, match="stretch"):
        diverse_tree(MOVES, REGION, Budget(100), stretch=0.5)
    with pytest.raises(TreeError, match="in a cell"):
        pruned_tree(MOVES, REGION, Budget(100), per_cell=0)
    with pytest.raises(TreeError, match="none of the behaviours begins there"):
        choose_moves(small_table(WALKER), "walk", ["start", "turn_left"])


def test_points_lie_close() -> None:
    arrays = move_arrays(MOVES, REGION)
    for move in range(len(MOVES)):
        part = arrays.points[arrays.point_starts[move] : arrays.point_starts[move + 1]]
        assert np.hypot(*np.diff(part, axis=0).T).max(initial=0.0) <= 0.5 * REGION.spec.cell + 1e-9
        assert np.allclose(part[-1], MOVES.table.moves[MOVES.actions[move], :2])


@pytest.mark.parametrize("cell", [0.28, 0.5, 1.6240000000000003, 0.07])
def test_what_is_covered_has_room_for_the_root(cell: float) -> None:
    """Whatever rounding does to the place of the grid."""
    whole = exhaustive_tree(MOVES, 3)
    region = covered(whole, cell).region
    assert region.holds((0.0, 0.0))
    assert coverage(whole, region)[0].sum() > 0
