"""Both searches beside twins that evaluate every graph as a whole (algorithms 5 and 6)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaitway.bench.variation import small_trial
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import VariationError
from gaitway.variation.network.prior import Prior, PriorSearch, find_prior
from gaitway.variation.network.structure import Structure, topological_order
from gaitway.variation.network.transition import (
    FoundTransition,
    KnownNodes,
    TransitionSearch,
    Trial,
    descendants,
    find_transition,
)
from variation_takes import make_takes


def random_edges(seed: int, nodes: int, share: float = 0.12) -> BoolArray:
    edges = np.random.default_rng(seed).random((nodes, 2 * nodes)) < share
    own = np.arange(nodes)
    edges[own, own] = edges[own, nodes + own] = False
    return edges


def plain_search(trial: Trial, rounds: int, most_parents: int) -> FoundTransition:
    """Algorithm 6 with nothing kept: every graph that differs by an edge is re-synthesised as a whole."""
    nodes = trial.rows.nodes
    edges = np.zeros((nodes, 2 * nodes), np.bool_)
    score = trial.resynthesis(Structure.of(edges))[1].sum()
    for _ in range(rounds):
        scores = {}
        for node, parent in np.ndindex(edges.shape):
            tried = edges.copy()
            tried[node, parent] ^= True
            if parent % nodes != node and not trial.fixed[node] and tried[node].sum() <= most_parents:
                scores[node, parent] = trial.resynthesis(Structure.of(tried))[1].sum()
        change = max(scores, key=lambda edge: scores[edge])
        if scores[change] <= score:
            break
        edges[change] ^= True
        score = scores[change]
    return FoundTransition(Structure.of(edges), float(score))


@given(st.integers(0, 10_000), st.integers(1, 9))
def test_leading_is_by_any_number_of_edges(seed: int, nodes: int) -> None:
    edges = random_edges(seed, nodes)
    way = np.eye(nodes, dtype=int)
    for _ in range(nodes):
        way = np.minimum(way + way @ (edges[:, :nodes] | edges[:, nodes:]).T.astype(int), 1)
    np.testing.assert_array_equal(descendants(edges), way > 0)


@pytest.mark.parametrize("seed", range(4))
def test_nodes_that_a_change_does_not_lead_to_stay_as_they_are(seed: int) -> None:
    trial, _ = small_trial(make_takes(4), 6)
    edges = random_edges(seed, 6)
    guess, scores = trial.resynthesis(Structure.of(edges))
    node = seed % 6
    edges[node, (node + 3) % 6] ^= True
    known = KnownNodes(guess, scores, ~descendants(edges)[node])
    assert known.fixed.any()
    part, whole = trial.resynthesis(Structure.of(edges), known), trial.resynthesis(Structure.of(edges))
    np.testing.assert_array_equal(part[0], whole[0])
    np.testing.assert_array_equal(part[1], whole[1])


@pytest.mark.slow
@pytest.mark.parametrize(("most_parents", "given_columns"), [(13, ()), (2, ()), (13, (1, 4))])
def test_the_exact_search_finds_what_a_search_without_memory_finds(
    most_parents: int, given_columns: tuple[int, ...]
) -> None:
    trial, search = small_trial(make_takes(4), 6)
    fixed = np.isin(np.arange(6), given_columns)
    trial = replace(trial, fixed=fixed)
    exact = find_transition(trial, replace(search, exact=True, rounds=12, most_parents=most_parents), 0)
    plain = plain_search(trial, 12, most_parents)
    np.testing.assert_array_equal(exact.structure.edges(12), plain.structure.edges(12))
    assert exact.score == pytest.approx(plain.score, abs=1e-9)
    assert exact.structure.edge_count >= 4


def test_the_exact_search_goes_on_until_nothing_is_better() -> None:
    trial, _ = small_trial(make_takes(4), 4)
    search = TransitionSearch(exact=True)
    found = find_transition(trial, search, 0)
    edges = found.structure.edges(8)
    for node, parent in np.ndindex(edges.shape):
        if parent % 4 != node:
            edges[node, parent] ^= True
            assert trial.resynthesis(Structure.of(edges))[1].sum() <= found.score + 1e-9
            edges[node, parent] ^= True
    again = find_transition(trial, search, 0)
    np.testing.assert_array_equal(again.structure.edges(8), edges)


def node_score(prior: Prior, edges: BoolArray, node: int) -> float:
    """Left-out score of one node of a prior network by NumPy (equation 5.3)."""
    changed = replace(prior, structure=Structure.of(edges))
    total = 0.0
    for j, take in enumerate(prior.takes):
        (mean,), (variance,) = changed._predict(node, prior.values[None, :, j].astype(float), prior.takes != take)
        held = max(float(variance), prior.settings.floor**2)
        total += -0.5 * ((prior.values[node, j] - mean) ** 2 / held + np.log(2 * np.pi * held))
    return float(total)


def plain_prior_search(prior: Prior) -> BoolArray:
    """Algorithm 5 with nothing kept: all graphs without cycles that differ by an edge added, deleted or turned."""
    m = len(prior.values)
    edges = np.zeros((m, m), np.bool_)

    def score(graph: BoolArray) -> float:
        return sum(node_score(prior, graph, node) for node in range(m))

    now = score(edges)
    while True:
        best, change = now + 1e-6, None
        for to, start in np.ndindex(edges.shape):
            for turned in (False, True):
                tried = edges.copy()
                tried[to, start] ^= True
                if turned:
                    tried[start, to] = True
                if (
                    to == start
                    or (turned and not edges[to, start])
                    or tried.sum(axis=1).max() > prior.settings.most_parents
                ):
                    continue
                try:
                    topological_order(tried)
                except VariationError:
                    continue
                got = score(tried)
                if got > best:
                    best, change = got, tried
        if change is None:
            return edges
        edges, now = change, best


def correlated_takes(seed: int) -> list[FloatArray]:
    """Takes whose two columns, and how they go on, hang together more or less."""
    rng = np.random.default_rng(seed)
    takes = []
    for _ in range(10):
        x, y, z, w = rng.standard_normal(4)
        t = np.linspace(0.0, 1.0, 4)
        takes.append(np.column_stack([x + (1.0 + 0.3 * w) * t, x + 0.3 * y + (1.0 + 0.5 * x + 0.2 * z) * t]))
    return takes


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_prior_search_finds_what_a_search_without_memory_finds(seed: int, whole: bool) -> None:
    # with as many neighbours as there are, a node without parents is predicted by all others in both
    chosen = PriorSearch(pairs=1, neighbours=9, floor=0.3, most_parents=2, whole_takes=whole)
    prior = find_prior(correlated_takes(seed), chosen, 0)
    edges = plain_prior_search(prior)
    np.testing.assert_array_equal(prior.structure.edges(4), edges)
    assert prior.score == pytest.approx(sum(node_score(prior, edges, node) for node in range(4)), abs=1e-3)
    assert edges.sum() >= 2
