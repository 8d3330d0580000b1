"""The prior network: how the first two frames of a motion hang together (algorithm 5).

Nodes 0..n-1 are the first frame, n..2n-1 the second. Here the second are steps from the first, in deviations of such
steps: as absolute values, which the thesis has, they would be drawn almost independently of the first, and the motion
would begin with a jerk. Instances are the first few pairs of frames of every take; a whole take is left out at a time,
because pairs that follow one another in it are nearly the same. What all takes do in these frames is taken out, so that
instances differ as takes do and not as frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray, read_only
from gaitway.variation.network import _prior_kernels
from gaitway.variation.network._neighbour_kernels import LANES
from gaitway.variation.network.structure import Structure, reachable, topological
from gaitway.variation.network.transition import Progress


@dataclass(frozen=True)
class PriorSearch:
    """Settings of the prior network."""

    pairs: int = 4
    """Pairs of frames of each take that are instances."""
    neighbours: int = 12
    width: float = 0.5
    """Kernel width, in distances of the farthest neighbour."""
    floor: float = 0.1
    """Least deviation of an error in the score."""
    most_parents: int = 8
    restarts: int = 0
    """Further searches, each from random edges; the best is taken."""
    steps: bool = True
    """The second frame as steps from the first; False: absolute values (the thesis)."""
    at_start: bool = True
    """Later pairs are moved to where takes begin; False: they are taken as they are (the thesis)."""
    whole_takes: bool = True
    """Take by take is left out; False: instance by instance (the thesis)."""


@dataclass(frozen=True, eq=False)
class Prior:
    """Instances and edges."""

    values: SingleArray
    """(2n, R)."""
    takes: IntArray
    """Take of each instance; (R,)."""
    step_scale: FloatArray
    """What the second half is multiplied by to give steps; (n,). All zero where it is absolute values."""
    structure: Structure
    settings: PriorSearch
    score: float

    def moved_to(self, takes: Sequence[FloatArray]) -> Prior:
        """The same network about where other takes (F, n) begin."""
        first = np.mean([take[0] for take in takes], axis=0)
        second = np.mean([take[1] for take in takes], axis=0)
        scale = np.where(self.step_scale > 0.0, self.step_scale, 1.0)
        wanted = np.concatenate([first, (second - first) / scale if self.settings.steps else second])
        begins = np.array([np.flatnonzero(self.takes == take)[0] for take in range(int(self.takes.max()) + 1)])
        have = self.values[:, begins].mean(axis=1)
        return replace(self, values=(self.values + (wanted - have)[:, None]).astype(np.float32))

    @cached_property
    def order(self) -> IntArray:
        """Nodes, parents first."""
        return topological(self.structure.edges(len(self.values)))

    @cached_property
    def residuals(self) -> FloatArray:
        """What each take's first pair has beyond what its parents tell from the other takes; (takes, 2n)."""
        count = int(self.takes.max()) + 1
        out = np.zeros((count, len(self.values)))
        for take in range(count):
            first = self.values[:, int(np.flatnonzero(self.takes == take)[0])].astype(np.float64)
            usable = self.takes != take if count > 1 else np.ones(len(self.takes), np.bool_)
            means = [self._predict(node, first[None], usable)[0][0] for node in range(len(first))]
            out[take] = first - np.array(means)
        return out

    def sample(
        self,
        rng: np.random.Generator,
        mix: FloatArray | None = None,
        given: FloatArray | None = None,
        fixed: BoolArray | None = None,
    ) -> FloatArray:
        """Draw first two frames, scaled; (2, n). As `sample_many`, with `mix` (n, takes)."""
        out: FloatArray = self.sample_many(rng, 1, None if mix is None else mix[None], given, fixed)[0]
        return out

    def sample_many(
        self,
        rng: np.random.Generator,
        count: int,
        mixes: FloatArray | None = None,
        given: FloatArray | None = None,
        fixed: BoolArray | None = None,
    ) -> FloatArray:
        """Draw first two frames of several motions, scaled; (count, 2, n).

        Args:
            rng: for independent draws at every node, as the thesis has them, where there are no `mixes`.
            count: how many.
            mixes: weights of the takes' residuals for every column; (count, n, takes).
            given: first two frames of columns that are `fixed`; (2, n).
            fixed: columns that are given; (n,).
        """
        n = len(self.values) // 2
        drawn = np.zeros((count, 2 * n))
        every = np.ones(len(self.takes), np.bool_)
        scale = np.where(self.step_scale > 0.0, self.step_scale, 1.0)
        normals = rng.standard_normal((count, 2 * n)) if mixes is None else np.zeros((0, 2 * n))
        for place, node in enumerate(self.order):
            column = int(node) % n
            if fixed is not None and given is not None and fixed[column]:
                step = (given[1, column] - given[0, column] * self.settings.steps) / scale[column]
                drawn[:, node] = given[0, column] if node < n else step
                continue
            mean, variance = self._predict(int(node), drawn, every)
            if mixes is None:
                drawn[:, node] = mean + np.sqrt(variance) * normals[:, place]
            else:
                drawn[:, node] = mean + mixes[:, column] @ self.residuals[:, node]
        second = drawn[:, :n] + drawn[:, n:] * scale if self.settings.steps else drawn[:, n:]
        return np.stack([drawn[:, :n], second], axis=1)

    def _predict(self, node: int, states: FloatArray, usable: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Means and variances of a node given its parents' values in states (B, 2n) (equations 5.5 and 5.6); (B,)."""
        own = self.values[node, usable].astype(np.float64)
        parents = self.structure.parents[node, : self.structure.counts[node]]
        if len(parents) == 0:
            variance = own.var(ddof=1) if len(own) > 1 else 0.0
            return np.full(len(states), own.mean()), np.full(len(states), variance)
        apart = ((self.values[parents][:, usable] - states[:, parents, None]) ** 2).sum(axis=1)
        near = np.argsort(apart, axis=1, kind="stable")[:, : self.settings.neighbours]
        squared = np.take_along_axis(apart, near, axis=1)
        weights = np.exp(-(squared - squared[:, :1]) / (self.settings.width**2 * squared[:, -1:] + 1e-12))
        weights *= weights > 1e-6
        total, used = weights.sum(axis=1), np.count_nonzero(weights, axis=1)
        mean = (weights * own[near]).sum(axis=1) / total
        variance = (weights * (own[near] - mean[:, None]) ** 2).sum(axis=1) / total
        return mean, np.where(used > 1, variance * used / np.maximum(used - 1, 1), 0.0)


def find_prior(
    takes: Sequence[FloatArray], settings: PriorSearch, seed: int, progress: Progress | None = None
) -> Prior:
    """Learn the prior network of takes (F, n), scaled to deviation one."""
    pairs = min(settings.pairs, *(len(take) - 1 for take in takes))
    first = np.concatenate([take[:pairs] for take in takes])
    second = np.concatenate([take[1 : pairs + 1] for take in takes])
    owner = np.repeat(np.arange(len(takes)), pairs)
    scale = np.concatenate([np.diff(take, axis=0) for take in takes]).std(axis=0) + 1e-6
    tail = (second - first) / scale if settings.steps else second
    if settings.at_start:
        first, tail = (_as_at_start(half, len(takes)) for half in (first, tail))
    values = np.ascontiguousarray(np.concatenate([first, tail], axis=1).T, dtype=np.float32)
    whole = settings.whole_takes and len(takes) > 1
    groups = owner if whole else np.arange(len(owner))
    rng = np.random.default_rng(seed)
    best: tuple[float, BoolArray] | None = None
    for turn in range(settings.restarts + 1):
        edges = np.zeros((len(values), len(values)), np.bool_)
        if turn > 0:
            edges = _random_edges(rng, len(values))
        found = _climb(values, groups, settings, edges, progress)
        if best is None or found[0] > best[0]:
            best = found
    assert best is not None
    steps = scale if settings.steps else np.zeros_like(scale)
    return Prior(values, owner, steps, Structure.of(best[1]), settings, best[0])


def _as_at_start(values: FloatArray, takes: int) -> FloatArray:
    """Instances (takes * pairs, n) of which later pairs are moved by what takes have moved on average."""
    grouped = values.reshape(takes, -1, values.shape[1])
    course = grouped.mean(axis=0)
    out: FloatArray = (grouped - (course - course[0])).reshape(values.shape)
    return out


def _random_edges(rng: np.random.Generator, nodes: int) -> BoolArray:
    """One random parent for every second node, in a random order that has no cycles."""
    order = rng.permutation(nodes)
    edges = np.zeros((nodes, nodes), np.bool_)
    for place in range(1, nodes, 2):
        edges[order[place], order[rng.integers(place)]] = True
    return edges


def _climb(
    values: SingleArray, groups: IntArray, settings: PriorSearch, edges: BoolArray, progress: Progress | None
) -> tuple[float, BoolArray]:
    """Algorithm 5: the best edge added, deleted or reversed, until none is better.

    The score is a sum over nodes, so after a change only the one or two nodes that it touches are scored anew.
    """
    m, every = len(values), np.arange(len(values))
    blank = -len(groups) % LANES
    whole = read_only(np.pad(values, ((0, 0), (0, blank))))
    owners = read_only(np.pad(groups, (0, blank), constant_values=-1))

    def scored(nodes: IntArray) -> FloatArray:
        out = np.empty((len(nodes), m))
        _prior_kernels.prior_scores(
            read_only(nodes), whole, owners, read_only(edges), settings.neighbours,
            float(settings.width), settings.floor**2, out,
        )  # fmt: skip
        return out

    table, reach = scored(every), reachable(edges)
    best, best_edges = -np.inf, edges.copy()
    while True:
        now = table[every, every]
        if now.sum() <= best + 1e-6:  # what a change promised was rounding, as where takes begin in one pose
            return best, best_edges
        best, best_edges = float(now.sum()), edges.copy()
        if progress is not None:
            progress(
                f"prior network: {int(edges.sum())} edges, score {now.sum():.0f}", min(1.0, edges.sum() / (4.0 * m))
            )
        gain, change, turned = _best_change(table - now[:, None], edges, reach, settings.most_parents)
        if gain <= 1e-6:
            return best, best_edges
        node, parent = change
        edges[node, parent] ^= True
        if turned:
            edges[parent, node] = True
        if edges[node, parent]:  # whatever reached the parent now reaches what the node reached
            reach |= np.outer(reach[:, parent], reach[node])
        else:
            reach = reachable(edges)
        touched = np.array([node, parent] if turned else [node])
        table[touched] = scored(touched)


def _best_change(
    gains: FloatArray, edges: BoolArray, reach: BoolArray, most_parents: int
) -> tuple[float, tuple[int, int], bool]:
    """The best change: how much it gains, the edge (to, from), and whether it is turned round.

    `reach[a, b]` says whether there is a way from a to b.
    """
    full = edges.sum(axis=1) >= most_parents
    adding = np.where(edges | reach | full[:, None], -np.inf, gains)  # a way from i to c would make c -> i a cycle
    deleting = np.where(edges, gains, -np.inf)
    best = max(((float(t.max()), t) for t in (adding, deleting)), key=lambda pair: pair[0])
    change = divmod(int(best[1].argmax()), len(edges))
    ends = np.argwhere(edges & ~full[None, :])
    turning = gains[ends[:, 0], ends[:, 1]] + gains[ends[:, 1], ends[:, 0]]
    for place in np.argsort(-turning, kind="stable"):
        if turning[place] <= max(best[0], 0.0):
            break
        node, parent = int(ends[place, 0]), int(ends[place, 1])
        others = edges[node].copy()
        others[parent] = False
        # another way from the parent to the node, through another of its parents, would close a cycle
        if not (others & reach[parent]).any():
            return float(turning[place]), (node, parent), True
    return best[0], change, False
