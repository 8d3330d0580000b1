"""Structure search for the transition network (algorithm 6): which degrees of freedom tell where another goes next.

A structure is scored by re-synthesis (equation 5.4): each take is unrolled from its own first two frames with the rows
of the others, and compared with what it is. Two searches raise that score. The exact one is the thesis's: every
candidate edge is tried by a joint re-synthesis and the best is taken, again and again. The fast one tries candidates
with all other nodes held as they are at present, then takes the best change of every node at once, or of the better
half of them, and so on until the joint score rises; it visits other graphs on its way, but the scores of graphs are
the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.variation.network.regression import Rows, score_changes, unroll
from gaitway.variation.network.structure import Structure

Progress = Callable[[str, float], None]
"""Told what is done and which share of it, from 0 to 1."""
_ROUNDS = 8
_WHOLE_TABLE, _SHORTLIST = 4, 32
"""The fast search tries all candidates of a node in every so manieth round, and in between the best so many of them."""
_LEARN_MEMORY = 0.9
"""Of the noise under which structures are learnt, from frame to frame."""


@dataclass(frozen=True)
class Search:
    """Settings of a search for a transition network."""

    exact: bool = False
    rounds: int | None = None
    """At most. The exact search changes one edge in each. None: 8 of the fast one, and until nothing is better of the
    exact one."""
    most_parents: int = 13
    """Of a node, besides its own two values."""
    floor: float = 0.3
    """Least deviation of an error in the score, in deviations of the node. Without it tiny variances rule the score."""
    noise: float = 2.0
    """Structures are learnt under so many deviations of noise, one draw for all; 0: re-synthesis follows the mean."""
    restarts: int = 0
    """Further searches, each from random edges; the best is taken."""
    first_edges: int = 2
    """Random parents of each node that a restart begins with."""


@dataclass(frozen=True, eq=False)
class Trial:
    """The takes, as a search sees them."""

    rows: Rows
    truth: SingleArray
    """(takes, F, n), zero behind the end of a take."""
    lengths: IntArray
    phases: SingleArray
    """(takes, F)."""
    draws: SingleArray
    """(takes, F, n)."""
    fixed: BoolArray
    """Columns that are given and not predicted; (n,)."""
    floor: float

    @classmethod
    def of(
        cls,
        rows: Rows,
        takes: Sequence[FloatArray],
        phases: Sequence[FloatArray],
        search: Search,
        fixed: BoolArray,
        seed: int,
    ) -> Trial:
        """Takes (F, n) with their phases, and one draw of the noise under which structures are tried."""
        lengths = np.array([len(take) for take in takes])
        truth = np.zeros((len(takes), lengths.max(), rows.nodes), np.float32)
        when = np.zeros(truth.shape[:2], np.float32)
        for number, (take, phase) in enumerate(zip(takes, phases, strict=True)):
            truth[number, : len(take)] = take
            when[number, : len(take)] = phase if rows.half_period > 1e20 else np.mod(phase, 2.0 * rows.half_period)
        draws = np.random.default_rng(seed).standard_normal(truth.shape)
        slow = scipy.signal.lfilter([1.0 - _LEARN_MEMORY], [1.0, -_LEARN_MEMORY], draws, axis=1)
        return cls(rows, truth, lengths, when, (search.noise * slow).astype(np.float32), fixed, search.floor**2)

    def resynthesis(self, structure: Structure, known: Known | None = None) -> tuple[SingleArray, FloatArray]:
        """Takes as a structure gives them from the rows of the others, and the score of each node (equation 5.4).

        Nodes that are `known` are not computed again.
        """
        fixed = self.fixed if known is None else known.fixed | self.fixed
        got = unroll(
            self.rows, structure.parents, structure.counts, self.truth[:, :2], self.phases, self.truth.shape[1],
            omitted=np.arange(len(self.truth)), given=self.truth if known is None else known.guess, fixed=fixed,
            draws=self.draws,
        )  # fmt: skip
        free = np.flatnonzero(~fixed)
        variances = np.maximum(got.variances[..., free], self.floor, dtype=np.float64)
        errors = self.truth[..., free] - got.values[..., free]
        terms = -0.5 * (errors**2 / variances + np.log(2.0 * np.pi * variances))
        frame = np.arange(self.truth.shape[1])
        counted = (frame >= 2) & (frame < self.lengths[:, None])
        scores = np.zeros(len(fixed)) if known is None else known.scores.copy()
        scores[free] = np.where(counted[..., None], terms, 0.0).sum(axis=(0, 1))
        return got.values, scores


@dataclass(frozen=True, eq=False)
class Known:
    """What a structure gives already, where only some nodes of it have changed."""

    guess: SingleArray
    """(takes, F, n)."""
    scores: FloatArray
    """(n,)."""
    fixed: BoolArray
    """Nodes that are as they were; (n,)."""


@dataclass(frozen=True, eq=False)
class Found:
    """A structure and its score."""

    structure: Structure
    score: float


def find_transition(trial: Trial, search: Search, seed: int, progress: Progress | None = None) -> Found:
    """The best structure of all searches; the same seed gives the same one."""
    rng = np.random.default_rng(seed)
    nodes = trial.rows.nodes
    best: Found | None = None
    for turn in range(search.restarts + 1):
        edges = np.zeros((nodes, 2 * nodes), np.bool_)
        if turn > 0:
            chance = min(1.0, search.first_edges / (2.0 * nodes))
            edges = (rng.random(edges.shape) < chance) & _possible(trial)
        climb = _climb_exactly if search.exact else _climb
        found = climb(trial, search, edges, _part(progress, turn, search.restarts + 1))
        if best is None or found.score > best.score:
            best = found
    assert best is not None
    return best


def _part(progress: Progress | None, turn: int, turns: int) -> Progress | None:
    return None if progress is None else lambda what, share: progress(what, (turn + share) / turns)


def _possible(trial: Trial) -> BoolArray:
    """Edges that there may be: not to what is given, and not from a node's own values, which are there always."""
    nodes = trial.rows.nodes
    own = np.eye(nodes, dtype=np.bool_)
    return ~np.concatenate([own, own], axis=1) & ~trial.fixed[:, None]


def _climb(trial: Trial, search: Search, edges: BoolArray, progress: Progress | None) -> Found:
    """The fast search: the best change of every node at once, halved until the joint score rises."""
    every, possible = np.arange(trial.rows.nodes), _possible(trial)
    structure = Structure.of(edges)
    guess, scores = trial.resynthesis(structure)
    promise = np.full(edges.shape, -np.inf)
    shortlist = min(2 * len(edges), _SHORTLIST)
    whole = True
    rounds = _ROUNDS if search.rounds is None else search.rounds
    for turn in range(rounds):
        if progress is not None:
            progress(f"transition network: {structure.edge_count} edges, score {scores.sum():.0f}", turn / rounds)
        full = structure.counts >= search.most_parents
        allowed = possible & (edges | ~full[:, None])
        if not whole:  # a candidate that was far behind is not soon the best
            allowed &= edges | (promise >= np.sort(promise, axis=1)[:, -shortlist, None])
        table = score_changes(
            trial.rows, structure.parents, structure.counts, trial.truth, guess, trial.lengths, trial.phases,
            trial.floor, trial.draws, every, allowed,
        )  # fmt: skip
        promise = np.where(allowed, table - table[every, every][:, None], promise)
        pick = table.argmax(axis=1)
        gain = table[every, pick] - table[every, every]
        order = [int(i) for i in np.argsort(-gain, kind="stable") if gain[i] > 1e-6 and not trial.fixed[i]]
        while order:
            tried = edges.copy()
            tried[order, pick[order]] ^= True
            other = Structure.of(tried)
            new_guess, new_scores = trial.resynthesis(other)
            if new_scores.sum() > scores.sum():
                edges, structure, guess, scores = tried, other, new_guess, new_scores
                break
            order = order[: len(order) // 2]
        if not order and whole:
            break
        whole = not order or (turn + 1) % _WHOLE_TABLE == 0
    return Found(structure, float(scores.sum()))


def _climb_exactly(trial: Trial, search: Search, edges: BoolArray, progress: Progress | None) -> Found:
    """Algorithm 6 as it is written: every candidate by a joint re-synthesis, the best one taken.

    An edge leads from frame t or t+1 to frame t+2, so none can be reversed. A change of an edge to a node alters what
    that node and those that it leads to do, and nothing else: only these are computed, and gains that rest on nothing
    that the last change altered are kept. The result is the same as without.
    """
    possible, nodes = _possible(trial), trial.rows.nodes
    guess, scores = trial.resynthesis(Structure.of(edges))
    led = leads(edges)
    gains = np.full(edges.shape, np.nan)  # by node and parent; NaN where it is not known
    most = edges.size if search.rounds is None else search.rounds
    for turn in range(most):
        allowed = possible & (edges | (edges.sum(axis=1) < search.most_parents)[:, None])
        wanted = np.argwhere(allowed & np.isnan(gains))
        for number, (node, parent) in enumerate(wanted):
            if progress is not None:
                share = (turn + number / len(wanted)) / most
                progress(f"exact search: {int(edges.sum())} edges, score {scores.sum():.0f}", share)
            edges[node, parent] ^= True
            after = trial.resynthesis(Structure.of(edges), Known(guess, scores, ~led[node]))[1]
            edges[node, parent] ^= True
            gains[node, parent] = (after - scores).sum()
        node, parent = divmod(int(np.where(allowed, gains, -np.inf).argmax()), 2 * nodes)
        if not (allowed[node, parent] and gains[node, parent] > 0.0):
            break
        edges[node, parent] ^= True
        guess, scores = trial.resynthesis(Structure.of(edges), Known(guess, scores, ~led[node]))
        before, led = led, leads(edges)
        _forget(gains, edges, before | led, led[node])
    return Found(Structure.of(edges), float(scores.sum()))


def leads(edges: BoolArray) -> BoolArray:
    """Which nodes a node leads to, itself included, in however many frames; (n, n) by [from, to]."""
    nodes = len(edges)
    way: BoolArray = (edges[:, :nodes] | edges[:, nodes:]).T | np.eye(nodes, dtype=np.bool_)
    while True:
        farther = way @ way
        if np.array_equal(farther, way):
            return way
        way = farther


def _forget(gains: FloatArray, edges: BoolArray, led: BoolArray, altered: BoolArray) -> None:
    """Make gains unknown that rest on nodes that were altered.

    That of an edge to a node rests on the nodes it leads to (before or after), on their parents, and on the edge's.
    """
    nodes = len(edges)
    parents = edges[:, :nodes] | edges[:, nodes:]
    rests = led | (led @ parents)
    gains[(rests & altered).any(axis=1)] = np.nan
    gains[:, np.concatenate([altered, altered])] = np.nan
