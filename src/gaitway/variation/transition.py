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

from gaitway.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.variation.regression import Rows, score_changes, unroll
from gaitway.variation.structure import Structure

Progress = Callable[[str, float], None]
"""Told what is done and which share of it, from 0 to 1."""
_WHOLE_TABLE, _SHORTLIST = 4, 32
"""The fast search tries all candidates of a node in every so manieth round, and in between the best so many of them."""
_LEARN_MEMORY = 0.9
"""Of the noise under which structures are learnt, from frame to frame."""


@dataclass(frozen=True)
class Search:
    """Settings of a search for a transition network."""

    exact: bool = False
    rounds: int = 8
    """At most; the exact search changes one edge in each."""
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

    def resynthesis(self, structure: Structure) -> tuple[SingleArray, FloatArray]:
        """Takes as a structure gives them from the rows of the others, and the score of each node (equation 5.4)."""
        got = unroll(
            self.rows, structure.parents, structure.counts, self.truth[:, :2], self.phases, self.truth.shape[1],
            omitted=np.arange(len(self.truth)), given=self.truth, fixed=self.fixed, draws=self.draws,
        )  # fmt: skip
        variances = np.maximum(got.variances, self.floor, dtype=np.float64)
        terms = -0.5 * ((self.truth - got.values) ** 2 / variances + np.log(2.0 * np.pi * variances))
        frame = np.arange(self.truth.shape[1])
        counted = (frame >= 2) & (frame < self.lengths[:, None])
        scores = np.where(counted[..., None], terms, 0.0).sum(axis=(0, 1))
        return got.values, np.where(self.fixed, 0.0, scores)


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
    for turn in range(search.rounds):
        if progress is not None:
            progress(
                f"transition network: {structure.edge_count} edges, score {scores.sum():.0f}", turn / search.rounds
            )
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

    An edge leads from frame t or t+1 to frame t+2, so none can be reversed.
    """
    possible = _possible(trial)
    score = float(trial.resynthesis(Structure.of(edges))[1].sum())
    for turn in range(search.rounds):
        counts = edges.sum(axis=1)
        candidates = np.argwhere(possible & (edges | (counts < search.most_parents)[:, None]))
        best, change = score, None
        for number, (node, parent) in enumerate(candidates):
            if progress is not None:
                progress(
                    f"exact search: {int(counts.sum())} edges, score {score:.0f}",
                    (turn + number / len(candidates)) / search.rounds,
                )
            edges[node, parent] ^= True
            got = float(trial.resynthesis(Structure.of(edges))[1].sum())
            edges[node, parent] ^= True
            if got > best:
                best, change = got, (node, parent)
        if change is None:
            break
        edges[change] ^= True
        score = best
    return Found(Structure.of(edges), score)
