"""Construction of motion graphs: find transitions, set up nodes and edges, and prune dead ends."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.errors import GraphError
from gaitway.graphs.corpus import Corpus, LabelSet
from gaitway.graphs.kovar.motion_graph import Edges, LabelPart, MotionGraph, Pruning
from gaitway.graphs.kovar.pruning import census, lasting_edges, reachable_nodes
from gaitway.graphs.kovar.transitions import (
    SPACING_S,
    Transitions,
    TransitionThresholds,
    find_transitions,
    transition_limits,
)

_EASES, _NEARLY = (0.7, 0.8, 0.9), 0.95
"""Factors of the limits that are tried, the strictest first, and the share of motion that the chosen one must keep."""
FEW_S = 2.0
"""Duration of the remaining motion of a label set below which there is a warning [s]."""


def build_graph(
    corpus: Corpus,
    thresholds: TransitionThresholds = TransitionThresholds(),  # noqa: B008  (frozen)
    *,
    actions: Collection[str] = (),
    spacing_s: float = SPACING_S,
    prune: bool = True,
    passages: bool = True,
) -> MotionGraph:
    """Build the motion graph of a corpus.

    Args:
        corpus: Labelled motions.
        thresholds: Limits of the distances of transitions.
        actions: Labels of short motions, such as a jump; frames with one of them need not continue for ever.
        spacing_s: Least time between two transitions in both motions [s].
        prune: Whether only motion that can continue for ever is kept.
        passages: Whether motion that connects such parts is kept too, such as slowing down to a stand. The paper keeps
            only transitions.

    Raises:
        GraphError: If there are no transitions below the limits, or no motion can continue for ever.
    """
    table = transition_limits(corpus, thresholds)
    transitions = find_transitions(corpus, table, spacing_s=spacing_s)
    if not len(transitions):
        raise GraphError(
            f"no two frames of {len(corpus.clips)} clips are within {100.0 * float(table.max()):.1f} cm of one "
            "another; raise the threshold, or give motions that are more alike"
        )
    graph = assemble_graph(corpus, transitions)
    if not prune:
        return graph
    if thresholds.ease is None and thresholds.common is None:
        sets = corpus.set_of
        limit = table[
            sets[transitions.leave + transitions.window // 2], sets[transitions.enter + transitions.window // 2]
        ]
        graph = _strictest(graph, transitions.distances / limit, actions, passages)
    return pruned(graph, actions, passages=passages)


def _strictest(graph: MotionGraph, shares: FloatArray, actions: Collection[str], passages: bool) -> MotionGraph:
    """Return the graph with the fewest transitions that keeps nearly all frames and all connections of label sets.

    Args:
        graph: Graph with all transitions.
        shares: Distance of each transition divided by its limit, below 1; (T,).
        actions: As for `build_graph`.
        passages: As for `build_graph`.
    """
    passing = _passing(graph.corpus, actions)

    def kept(trial: MotionGraph) -> tuple[IntArray, int]:
        edges = trial.edges
        keep, parts = lasting_edges(trial.arcs, edges.label_set, len(graph.corpus.sets), passing, passages)
        frames = np.array([part.kept for part in _label_parts(trial, keep)])
        return frames, sum(1 for _ in _cut_off(trial, keep, parts))

    most, fewest = kept(graph)
    for ease in _EASES:
        trial = assemble_graph(graph.corpus, graph.transitions.chosen(shares < ease))
        frames, cut = kept(trial)
        if (frames >= _NEARLY * most).all() and cut <= fewest:
            return trial
    return graph


def pruned(graph: MotionGraph, actions: Collection[str] = (), *, passages: bool = True) -> MotionGraph:
    """Return the part of a graph in which motion of the same labels can continue for ever, from any edge.

    Args:
        graph: Any motion graph.
        actions: As for `build_graph`.
        passages: As for `build_graph`.

    Raises:
        GraphError: If no edge is left.
    """
    corpus, edges = graph.corpus, graph.edges
    passing = _passing(corpus, actions)
    keep, parts = lasting_edges(graph.arcs, edges.label_set, len(corpus.sets), passing, passages)
    if not keep.any():
        raise GraphError(
            f"with {len(graph.transitions)} transitions no motion can continue for ever; raise the threshold, or give "
            "motions that come back to where they were"
        )
    left = _cut_down(graph, keep)
    report = Pruning(census(graph.arcs), _label_parts(graph, keep), tuple(_warnings(graph, keep, parts, passing)))
    return MotionGraph(
        corpus, left.transitions, left.node_frames, left.node_clips, left.edges, report, frozenset(actions)
    )


def assemble_graph(corpus: Corpus, transitions: Transitions) -> MotionGraph:
    """Build the graph of clips and transitions without pruning; nodes are where transitions, labels or clips change."""
    window, clip_of = transitions.window, corpus.clip_of
    # a clip of n frames has n + 1 places for nodes, so the number of a place is its frame plus the clip's number
    leave = transitions.leave + clip_of[transitions.leave]
    enter = transitions.enter + window + clip_of[transitions.enter]
    changes = 1 + np.flatnonzero((np.diff(corpus.set_of) != 0) & (np.diff(clip_of) == 0))
    ends = corpus.starts[:-1] + np.arange(len(corpus.clips)), corpus.starts[1:] + np.arange(len(corpus.clips))
    places = np.unique(np.concatenate([leave, enter, changes + clip_of[changes], *ends]))
    clips = np.searchsorted(corpus.starts[1:] + np.arange(len(corpus.clips)), places)
    frames = places - clips
    originals = np.flatnonzero(np.diff(clips) == 0)
    count = len(originals)
    label_rows = np.array([[word in labels for word in corpus.labels] for labels in corpus.sets], dtype=bool)
    label_rows = label_rows.reshape(len(corpus.sets), len(corpus.labels))
    sets, all_labels = _transition_labels(corpus, transitions, label_rows)
    edges = Edges(
        tail=np.concatenate([originals, np.searchsorted(places, leave)]),
        head=np.concatenate([originals + 1, np.searchsorted(places, enter)]),
        first=np.concatenate([frames[originals], transitions.leave]),
        frames=np.concatenate([frames[originals + 1] - frames[originals], np.full(len(transitions), window)]),
        transition=np.concatenate([np.full(count, -1), np.arange(len(transitions))]),
        label_set=np.concatenate([corpus.set_of[frames[originals]], sets]),
        labels=np.concatenate([label_rows[corpus.set_of[frames[originals]]], all_labels]),
    )
    return MotionGraph(corpus, transitions, frames, clips, edges)


def _transition_labels(corpus: Corpus, transitions: Transitions, label_rows: BoolArray) -> tuple[IntArray, BoolArray]:
    """Return the label set of each transition, or -1 if no original frame has it, and the labels of all its frames.

    A blended frame has the labels of both frames.
    """
    over = np.arange(transitions.window)
    a = corpus.set_of[transitions.leave[:, None] + over]
    b = corpus.set_of[transitions.enter[:, None] + over]
    unions = label_rows[a] | label_rows[b]
    number = {row.tobytes(): k for k, row in enumerate(label_rows)}
    same = (unions == unions[:, :1]).all(axis=(1, 2))
    sets = [number.get(row.tobytes(), -1) if alike else -1 for row, alike in zip(unions[:, 0], same, strict=True)]
    return np.array(sets, dtype=np.int64), unions.all(axis=1)


def _cut_down(graph: MotionGraph, keep: BoolArray) -> MotionGraph:
    """Return the graph with some of its edges, and the nodes and transitions of these edges."""
    edges = graph.edges.chosen(keep)
    nodes = np.unique(np.concatenate([edges.tail, edges.head]))
    used = np.unique(edges.transition[edges.transition >= 0])
    transition = np.where(edges.transition >= 0, np.searchsorted(used, edges.transition), -1)
    tail, head = np.searchsorted(nodes, edges.tail), np.searchsorted(nodes, edges.head)
    edges = Edges(tail, head, edges.first, edges.frames, transition, edges.label_set, edges.labels)
    return MotionGraph(
        graph.corpus, graph.transitions.chosen(used), graph.node_frames[nodes], graph.node_clips[nodes], edges
    )


def _label_parts(graph: MotionGraph, keep: BoolArray) -> tuple[LabelPart, ...]:
    edges, out = graph.edges, []
    for number, labels in enumerate(graph.corpus.sets):
        mine = (edges.label_set == number) & (edges.transition < 0)
        out.append(LabelPart(labels, int(edges.frames[mine].sum()), int(edges.frames[mine & keep].sum())))
    return tuple(out)


def _warnings(graph: MotionGraph, keep: BoolArray, parts: list[BoolArray], passing: list[int]) -> list[str]:
    """Return warnings about label sets with little motion left, and about sets that others cannot reach."""
    corpus, out = graph.corpus, []
    names = [_named(labels) for labels in corpus.sets]
    for number, part in enumerate(_label_parts(graph, keep)):
        if part.kept < FEW_S * corpus.fps and number not in passing:
            out.append(
                f"of {names[number]}, {part.kept} of {part.frames} frames can continue for ever; "
                "a higher threshold would keep more"
            )
    out += [
        f"no motion leads from {names[before]} to {names[after]}; a higher threshold between them may give one"
        for before, after in _cut_off(graph, keep, parts)
    ]
    return out


def _cut_off(graph: MotionGraph, keep: BoolArray, parts: list[BoolArray]) -> Iterator[tuple[int, int]]:
    """Yield pairs of label sets of which the second cannot be reached from the first."""
    arcs = graph.arcs.part(keep)
    for number, nodes in enumerate(parts):
        if nodes.any():
            to = reachable_nodes(arcs, nodes)
            for other, there in enumerate(parts):
                if other != number and there.any() and not (to & there).any():
                    yield number, other


def _passing(corpus: Corpus, actions: Collection[str]) -> list[int]:
    """Return the numbers of the label sets that hold one of some labels."""
    for label in actions:
        corpus.having(label)
    return [k for k, labels in enumerate(corpus.sets) if labels & set(actions)]


def _named(labels: LabelSet) -> str:
    return " + ".join(f"'{label}'" for label in sorted(labels)) or "motion without labels"
