"""Structure search for the transition network (algorithm 6): which degrees of freedom predict the next value of others.

A structure is scored by re-synthesis (equation 5.4): each take is unrolled from its own first two frames with the rows
of the other takes, and compared with the take itself. Two searches raise that score. The exact one is the thesis's: it
tries every candidate edge by a joint re-synthesis and takes the best, again and again. The fast one tries candidates
with all other nodes fixed. It then takes the best change of every node at once, or of the better half of the nodes, and
so on, until the joint score rises. It visits other graphs than the exact search, but scores them in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.core.progress import Progress, silent
from gaitway.variation.network._score_kernels import TakeArrays
from gaitway.variation.network.regression import TrainingRows, score_changes, unroll
from gaitway.variation.network.structure import Structure

_ROUNDS = 8
_WHOLE_TABLE, _SHORTLIST = 4, 32
"""Number of rounds after which the fast search tries all candidates of a node again, and the number of best candidates
that it tries in the rounds between."""
_LEARN_MEMORY = 0.9
"""Correlation, from frame to frame, of the noise under which structures are learnt."""


@dataclass(frozen=True)
class TransitionSearch:
    """Settings of the search for a transition network."""

    exact: bool = False
    rounds: int | None = None
    """Greatest number of rounds. The exact search changes one edge in each. None: 8 rounds of the fast search; the
    exact search runs until nothing improves."""
    most_parents: int = 13
    """Greatest number of parents of a node, besides its own two values."""
    floor: float = 0.3
    """Least deviation of an error in the score, in deviations of the node. Without it, tiny variances dominate the
    score."""
    noise: float = 2.0
    """Deviation of the noise under which structures are learnt, one draw for all; 0: re-synthesis follows the mean."""
    restarts: int = 0
    """Number of further searches, each from random edges; the best result is taken."""
    first_edges: int = 2
    """Number of random parents of each node that a restart begins with, on average."""


@dataclass(frozen=True, eq=False)
class Trial:
    """The takes, prepared for a search."""

    rows: TrainingRows
    truth: SingleArray
    """Values of the takes, zero behind the end of a take; (takes, F, n)."""
    lengths: IntArray
    phases: SingleArray
    """Phases of the frames; (takes, F)."""
    draws: SingleArray
    """Noise under which structures are tried; (takes, F, n)."""
    fixed: BoolArray
    """Columns that are given and not predicted; (n,)."""
    floor: float

    @classmethod
    def of(
        cls,
        rows: TrainingRows,
        takes: Sequence[FloatArray],
        phases: Sequence[FloatArray],
        search: TransitionSearch,
        fixed: BoolArray,
        seed: int,
    ) -> Trial:
        """Build a trial of takes (F, n) with their phases, and draw the noise under which structures are tried."""
        lengths = np.array([len(take) for take in takes])
        truth = np.zeros((len(takes), lengths.max(), rows.nodes), np.float32)
        when = np.zeros(truth.shape[:2], np.float32)
        for number, (take, phase) in enumerate(zip(takes, phases, strict=True)):
            truth[number, : len(take)] = take
            when[number, : len(take)] = phase if rows.half_period > 1e20 else np.mod(phase, 2.0 * rows.half_period)
        draws = np.random.default_rng(seed).standard_normal(truth.shape)
        slow = scipy.signal.lfilter([1.0 - _LEARN_MEMORY], [1.0, -_LEARN_MEMORY], draws, axis=1)
        return cls(rows, truth, lengths, when, (search.noise * slow).astype(np.float32), fixed, search.floor**2)

    def resynthesis(self, structure: Structure, known: KnownNodes | None = None) -> tuple[SingleArray, FloatArray]:
        """Re-synthesise the takes, each from the other takes; return them and the score of each node (equation 5.4).

        Nodes that are `known` are not computed again.
        """
        fixed = self.fixed if known is None else known.fixed | self.fixed
        got = unroll(
            self.rows, structure, self.truth[:, :2], self.phases, self.truth.shape[1],
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
class KnownNodes:
    """Results of a structure that stay valid after some nodes have changed."""

    guess: SingleArray
    """Re-synthesis by the structure before the change; (takes, F, n)."""
    scores: FloatArray
    """Scores of the nodes; (n,)."""
    fixed: BoolArray
    """Nodes that the change does not affect; (n,)."""


@dataclass(frozen=True, eq=False)
class FoundTransition:
    """A structure of the transition network, and its score."""

    structure: Structure
    score: float


def find_transition(trial: Trial, search: TransitionSearch, seed: int, progress: Progress = silent) -> FoundTransition:
    """Return the best structure of all searches; the same seed gives the same structure."""
    rng = np.random.default_rng(seed)
    nodes = trial.rows.nodes
    best: FoundTransition | None = None
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


def _part(progress: Progress, turn: int, turns: int) -> Progress:
    """Return the progress of one of several searches."""
    return lambda what, done, total: progress(what, turn * (total or 1) + done, turns * (total or 1))


def _possible(trial: Trial) -> BoolArray:
    """Return the possible edges: none to given columns, none from a node's own values, which always count."""
    nodes = trial.rows.nodes
    own = np.eye(nodes, dtype=np.bool_)
    return ~np.concatenate([own, own], axis=1) & ~trial.fixed[:, None]


def _climb(trial: Trial, search: TransitionSearch, edges: BoolArray, progress: Progress) -> FoundTransition:
    """Run the fast search: take the best change of every node at once, or of fewer until the joint score rises."""
    every, possible = np.arange(trial.rows.nodes), _possible(trial)
    structure = Structure.of(edges)
    guess, scores = trial.resynthesis(structure)
    promise = np.full(edges.shape, -np.inf)
    shortlist = min(2 * len(edges), _SHORTLIST)
    whole = True
    rounds = _ROUNDS if search.rounds is None else search.rounds
    for turn in range(rounds):
        progress(f"transition network: {structure.edge_count} edges, score {scores.sum():.0f}", turn, rounds)
        full = structure.counts >= search.most_parents
        allowed = possible & (edges | ~full[:, None])
        if not whole:  # a candidate that was far behind does not soon become the best
            allowed &= edges | (promise >= np.sort(promise, axis=1)[:, -shortlist, None])
        resynthesis = TakeArrays(trial.truth, guess, trial.lengths, trial.phases, trial.draws)
        table = score_changes(trial.rows, structure, resynthesis, every, allowed, trial.floor)
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
    return FoundTransition(structure, float(scores.sum()))


def _climb_exactly(trial: Trial, search: TransitionSearch, edges: BoolArray, progress: Progress) -> FoundTransition:
    """Run algorithm 6 as it is written: try every candidate by a joint re-synthesis, and take the best one.

    An edge leads from frame t or t+1 to frame t+2, so none can be reversed. A change of an edge to a node affects that
    node and its descendants, and nothing else. So only these are computed, and gains that do not depend on what the
    last change affected are kept. The result is the same as without these savings.
    """
    possible, nodes = _possible(trial), trial.rows.nodes
    guess, scores = trial.resynthesis(Structure.of(edges))
    led = descendants(edges)
    gains = np.full(edges.shape, np.nan)  # by node and parent; NaN where it is not known
    most = edges.size if search.rounds is None else search.rounds
    for turn in range(most):
        allowed = possible & (edges | (edges.sum(axis=1) < search.most_parents)[:, None])
        wanted = np.argwhere(allowed & np.isnan(gains))
        for number, (node, parent) in enumerate(wanted):
            what = f"exact search: {int(edges.sum())} edges, score {scores.sum():.0f}"
            progress(what, turn * len(wanted) + number, most * len(wanted))
            edges[node, parent] ^= True
            after = trial.resynthesis(Structure.of(edges), KnownNodes(guess, scores, ~led[node]))[1]
            edges[node, parent] ^= True
            gains[node, parent] = (after - scores).sum()
        node, parent = divmod(int(np.where(allowed, gains, -np.inf).argmax()), 2 * nodes)
        if not (allowed[node, parent] and gains[node, parent] > 0.0):
            break
        edges[node, parent] ^= True
        guess, scores = trial.resynthesis(Structure.of(edges), KnownNodes(guess, scores, ~led[node]))
        before, led = led, descendants(edges)
        _forget(gains, edges, before | led, led[node])
    return FoundTransition(Structure.of(edges), float(scores.sum()))


def descendants(edges: BoolArray) -> BoolArray:
    """Return which nodes a node leads to, itself included, over any number of frames; (n, n) by [from, to]."""
    nodes = len(edges)
    way: BoolArray = (edges[:, :nodes] | edges[:, nodes:]).T | np.eye(nodes, dtype=np.bool_)
    while True:
        farther = way @ way
        if np.array_equal(farther, way):
            return way
        way = farther


def _forget(gains: FloatArray, edges: BoolArray, led: BoolArray, altered: BoolArray) -> None:
    """Make gains unknown that depend on nodes that were altered.

    The gain of an edge to a node depends on the node's descendants (before or after the change), on their parents, and
    on the edge's own parent.
    """
    nodes = len(edges)
    parents = edges[:, :nodes] | edges[:, nodes:]
    rests = led | (led @ parents)
    gains[(rests & altered).any(axis=1)] = np.nan
    gains[:, np.concatenate([altered, altered])] = np.nan
