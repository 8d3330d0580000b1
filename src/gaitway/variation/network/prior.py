"""The prior network: how the first two frames of a motion depend on one another (algorithm 5).

Nodes 0 to n-1 are the first frame, nodes n to 2n-1 the second. Here the second frame is stored as steps from the first,
in deviations of such steps. With absolute values, as in the thesis, the second frame is drawn almost independently of
the first, and the motion begins with a jerk. Instances are the first few pairs of frames of every take. A whole take is
left out at a time, because consecutive pairs of a take are nearly the same. The mean movement of all takes in these
frames is removed, so that instances differ as takes do and not as frames do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray, read_only
from gaitway.core.progress import Progress, silent
from gaitway.variation.network import _score_kernels
from gaitway.variation.network._neighbour_kernels import LANES
from gaitway.variation.network.structure import Structure, reachable, topological_order


@dataclass(frozen=True)
class PriorSearch:
    """Settings of the prior network, and of the search for its structure."""

    pairs: int = 4
    """Number of pairs of frames of each take that are instances."""
    neighbours: int = 12
    width: float = 0.5
    """Kernel width, as a multiple of the distance of the farthest neighbour."""
    floor: float = 0.1
    """Least deviation of an error in the score."""
    most_parents: int = 8
    restarts: int = 0
    """Number of further searches, each from random edges; the best result is taken."""
    steps: bool = True
    """Whether the second frame is stored as steps from the first; False: absolute values (the thesis)."""
    at_start: bool = True
    """Whether later pairs are moved to where takes begin; False: they are taken as they are (the thesis)."""
    whole_takes: bool = True
    """Whether a whole take is left out at a time; False: one instance (the thesis)."""


@dataclass(frozen=True, eq=False)
class Prior:
    """The prior network: instances and edges."""

    values: SingleArray
    """Instances: the values of both frames of each; (2n, R)."""
    takes: IntArray
    """Number of the take of each instance; (R,)."""
    step_scale: FloatArray
    """Factors that turn the second half into steps; (n,). All zero where it is absolute values."""
    structure: Structure
    settings: PriorSearch
    score: float

    def moved_to(self, takes: Sequence[FloatArray]) -> Prior:
        """Return the same network about the first frames of other takes (F, n)."""
        first = np.mean([take[0] for take in takes], axis=0)
        second = np.mean([take[1] for take in takes], axis=0)
        scale = np.where(self.step_scale > 0.0, self.step_scale, 1.0)
        wanted = np.concatenate([first, (second - first) / scale if self.settings.steps else second])
        begins = np.array([np.flatnonzero(self.takes == take)[0] for take in range(int(self.takes.max()) + 1)])
        have = self.values[:, begins].mean(axis=1)
        return replace(self, values=(self.values + (wanted - have)[:, None]).astype(np.float32))

    @cached_property
    def order(self) -> IntArray:
        """Numbers of the nodes, parents first."""
        return topological_order(self.structure.edges(len(self.values)))

    @cached_property
    def residuals(self) -> FloatArray:
        """Differences between each take's first pair and its prediction from the other takes; (takes, 2n)."""
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
        """Draw the first two frames of a motion, scaled; (2, n). As `sample_many`, with `mix` (n, takes)."""
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
        """Draw the first two frames of several motions, scaled; (count, 2, n).

        Args:
            rng: Generator for independent draws at every node, as in the thesis, where there are no `mixes`.
            count: Number of motions.
            mixes: Weights of the takes' residuals for every column; (count, n, takes).
            given: First two frames of columns that are `fixed`; (2, n).
            fixed: Columns whose values are given; (n,).
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
        """Return means and variances (B,) of a node (equations 5.5 and 5.6).

        They are conditional on the values of its parents in states (B, 2n).
        """
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


def find_prior(takes: Sequence[FloatArray], settings: PriorSearch, seed: int, progress: Progress = silent) -> Prior:
    """Learn the prior network of takes (F, n), which are scaled to deviation one."""
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
    """Return instances (takes * pairs, n), with the mean movement since the first pair removed."""
    grouped = values.reshape(takes, -1, values.shape[1])
    course = grouped.mean(axis=0)
    out: FloatArray = (grouped - (course - course[0])).reshape(values.shape)
    return out


def _random_edges(rng: np.random.Generator, nodes: int) -> BoolArray:
    """Return one random parent for every second node, in a random order without cycles."""
    order = rng.permutation(nodes)
    edges = np.zeros((nodes, nodes), np.bool_)
    for place in range(1, nodes, 2):
        edges[order[place], order[rng.integers(place)]] = True
    return edges


def _climb(
    values: SingleArray, groups: IntArray, settings: PriorSearch, edges: BoolArray, progress: Progress
) -> tuple[float, BoolArray]:
    """Add, delete or reverse the best edge until none improves the score (algorithm 5).

    The score is a sum over nodes, so only the one or two nodes that a change affects are scored again.
    """
    m, every = len(values), np.arange(len(values))
    blank = -len(groups) % LANES
    whole = read_only(np.pad(values, ((0, 0), (0, blank))))
    owners = read_only(np.pad(groups, (0, blank), constant_values=-1))

    def scored(nodes: IntArray) -> FloatArray:
        out = np.empty((len(nodes), m))
        _score_kernels.prior_scores(
            read_only(nodes), whole, owners, read_only(edges), settings.neighbours,
            float(settings.width), settings.floor**2, out,
        )  # fmt: skip
        return out

    table, reach = scored(every), reachable(edges)
    best, best_edges = -np.inf, edges.copy()
    while True:
        now = table[every, every]
        if now.sum() <= best + 1e-6:  # the gain was rounding, as where all takes begin in one pose
            return best, best_edges
        best, best_edges = float(now.sum()), edges.copy()
        count = int(edges.sum())
        progress(f"prior network: {count} edges, score {now.sum():.0f}", min(count, 4 * m), 4 * m)
        gain, change, turned = _best_change(table - now[:, None], edges, reach, settings.most_parents)
        if gain <= 1e-6:
            return best, best_edges
        node, parent = change
        edges[node, parent] ^= True
        if turned:
            edges[parent, node] = True
        if edges[node, parent]:  # all that reached the parent now reaches all that the node reached
            reach |= np.outer(reach[:, parent], reach[node])
        else:
            reach = reachable(edges)
        touched = np.array([node, parent] if turned else [node])
        table[touched] = scored(touched)


def _best_change(
    gains: FloatArray, edges: BoolArray, reach: BoolArray, most_parents: int
) -> tuple[float, tuple[int, int], bool]:
    """Return the best change: its gain, its edge (to, from), and whether the edge is reversed.

    `reach[a, b]` tells whether a path leads from a to b.
    """
    full = edges.sum(axis=1) >= most_parents
    # with a path from i to c, the edge c -> i would close a cycle
    adding = np.where(edges | reach | full[:, None], -np.inf, gains)
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
        # another path from the parent to the node, through another of its parents, would close a cycle
        if not (others & reach[parent]).any():
            return float(turning[place]), (node, parent), True
    return best[0], change, False
