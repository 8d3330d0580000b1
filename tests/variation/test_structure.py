"""Edges: tables and back, ways through a graph, orders; and both searches for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaitway.bench.variation import small_trial
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import VariationError
from gaitway.variation.network.prior import Prior, PriorSearch, _best_change, find_prior
from gaitway.variation.network.structure import Structure, reachable, topological_order
from gaitway.variation.network.transition import FoundTransition, TransitionSearch, find_transition
from variation_takes import make_takes


def random_dag(seed: int, nodes: int) -> BoolArray:
    rng = np.random.default_rng(seed)
    order = rng.permutation(nodes)
    edges = np.zeros((nodes, nodes), np.bool_)
    for place, node in enumerate(order):
        edges[node, order[:place]] = rng.random(place) < 0.3
    return edges


@given(st.integers(0, 10_000), st.integers(1, 9))
def test_structures_keep_their_edges(seed: int, nodes: int) -> None:
    edges = np.random.default_rng(seed).random((nodes, 2 * nodes)) < 0.4
    structure = Structure.of(edges)
    np.testing.assert_array_equal(structure.edges(2 * nodes), edges)
    assert structure.edge_count == edges.sum()


def test_structures_that_do_not_hold_together() -> None:
    with pytest.raises(VariationError, match="a node has 3 parents in a table of 2"):
        Structure(np.zeros((1, 2), np.int64), np.array([3]))


@given(st.integers(0, 10_000), st.integers(1, 9))
def test_ways_and_orders(seed: int, nodes: int) -> None:
    edges = random_dag(seed, nodes)
    power = np.eye(nodes, dtype=int)
    for _ in range(nodes):
        power = np.minimum(power + power @ edges.T.astype(int), 1)
    np.testing.assert_array_equal(reachable(edges), power > 0)
    place = np.argsort(topological_order(edges))
    for node, parent in np.argwhere(edges):
        assert place[parent] < place[node]


def test_cycles_have_no_order() -> None:
    with pytest.raises(VariationError, match="has a cycle"):
        topological_order(np.array([[False, True], [True, False]]))


@given(st.integers(0, 10_000))
def test_the_best_change_never_closes_a_cycle(seed: int) -> None:
    edges = random_dag(seed, 7)
    gains = np.random.default_rng(seed + 1).normal(size=(7, 7))
    np.fill_diagonal(gains, 0.0)
    gain, (node, parent), turned = _best_change(gains, edges, reachable(edges), 4)
    changed = edges.copy()
    changed[node, parent] ^= True
    if turned:
        changed[parent, node] = True
    topological_order(changed)
    assert not (edges[node, parent] and not turned) or gain == gains[node, parent]
    allowed = [gains[i, c] for i in range(7) for c in range(7) if edges[i, c]]
    assert gain >= max(allowed, default=-np.inf)


def prior_takes() -> list[FloatArray]:
    """The second column is the first, the third is drawn alone."""
    rng = np.random.default_rng(0)
    takes = []
    for _ in range(40):
        x, z = rng.standard_normal(2)
        t = np.linspace(0.0, 1.0, 10)
        takes.append(np.column_stack([x + t, 2.0 * x + t, z - t]))
    return takes


def plain_score(prior: Prior) -> float:
    """The left-out score by NumPy, node by node and instance by instance (equation 5.3)."""
    total = 0.0
    for node in range(len(prior.values)):
        for j, take in enumerate(prior.takes):
            (mean,), (variance,) = prior._predict(node, prior.values[None, :, j].astype(float), prior.takes != take)
            held = max(variance, prior.settings.floor**2)
            total += -0.5 * ((prior.values[node, j] - mean) ** 2 / held + np.log(2 * np.pi * held))
    return float(total)


def test_the_prior_network_finds_what_hangs_together() -> None:
    settings = PriorSearch(pairs=1, neighbours=5, floor=0.3)
    prior = find_prior(prior_takes(), settings, 0)
    edges = prior.structure.edges(6)
    assert edges[0, 1] or edges[1, 0]  # the first two columns of the first frame
    topological_order(edges)
    empty = find_prior(prior_takes(), replace(settings, most_parents=0), 0)
    assert empty.structure.edge_count == 0
    assert prior.score > empty.score


@pytest.mark.parametrize("whole", [True, False])
def test_prior_scores_are_as_numpy_has_them(whole: bool) -> None:
    settings = PriorSearch(pairs=1, neighbours=5, floor=0.3, whole_takes=whole)
    prior = find_prior(prior_takes(), settings, 0)
    if whole:
        # a node without parents is predicted by the mean of all others in the kernel and in NumPy alike
        assert prior.score == pytest.approx(plain_score(prior), rel=0.05)
    drawn = np.array([prior.sample(np.random.default_rng(k)) for k in range(60)])
    assert np.corrcoef(drawn[:, 0, 0], drawn[:, 0, 1])[0, 1] > 0.7
    assert abs(np.corrcoef(drawn[:, 0, 0], drawn[:, 0, 2])[0, 1]) < 0.5


def test_given_columns_are_kept_by_the_prior() -> None:
    prior = find_prior(prior_takes(), PriorSearch(pairs=1, neighbours=5, floor=0.3), 0)
    given = np.array([[1.5, 0.0, 0.0], [1.6, 0.0, 0.0]])
    drawn = prior.sample(np.random.default_rng(0), given=given, fixed=np.array([True, False, False]))
    np.testing.assert_allclose(drawn[:, 0], given[:, 0], atol=1e-6)


def search_small(**changes: object) -> FoundTransition:
    trial, search = small_trial(make_takes(4), 5)
    return find_transition(trial, replace(search, **changes), 0)  # type: ignore[arg-type]


def test_both_searches_raise_the_score_and_the_fast_one_is_not_far_behind() -> None:
    none = search_small(rounds=0)
    assert none.structure.edge_count == 0
    fast, exact = search_small(rounds=8), search_small(exact=True, rounds=8)
    assert fast.score > none.score
    assert exact.score > none.score
    assert exact.score - none.score < 2.0 * (fast.score - none.score) + 1.0


def test_the_exact_search_takes_the_best_edge_of_all() -> None:
    trial, search = small_trial(make_takes(4), 4)
    one = find_transition(trial, replace(search, exact=True, rounds=1), 0)
    scores = {}
    for node in range(4):
        for parent in range(8):
            if parent % 4 != node:
                edges = np.zeros((4, 8), np.bool_)
                edges[node, parent] = True
                scores[node, parent] = trial.resynthesis(Structure.of(edges))[1].sum()
    best = max(scores, key=lambda edge: scores[edge])
    assert one.score == pytest.approx(scores[best])
    assert one.structure.edges(8)[best]


def test_restarts_never_make_it_worse_and_parents_are_limited() -> None:
    alone, again = search_small(rounds=3), search_small(rounds=3, restarts=2)
    assert again.score >= alone.score
    assert search_small(rounds=6, most_parents=1).structure.counts.max() <= 1


def test_progress_is_told() -> None:
    told: list[tuple[str, int, int | None]] = []
    trial, search = small_trial(make_takes(4), 4)
    find_transition(trial, replace(search, rounds=2), 0, lambda *what: told.append(what))
    assert told
    assert told[0][0].startswith("transition network: 0 edges, score")
    assert [(done, total) for _, done, total in told] == [(0, 2), (1, 2)]


def test_given_columns_get_no_edges() -> None:
    trial, search = small_trial(make_takes(4), 5)
    fixed = np.array([True, False, True, False, False])
    found = find_transition(replace(trial, fixed=fixed), replace(search, rounds=4), 0)
    assert (found.structure.counts[fixed] == 0).all()
    assert found.structure.counts[~fixed].sum() > 0
    assert TransitionSearch().exact is False
