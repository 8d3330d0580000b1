"""Motion graphs: pieces of captured motion and transitions between them (Kovar, Gleicher and Pighin 2002, section 3).

A node lies between two frames of a clip; other pieces may follow there. An edge is a piece of an original clip, or a
transition that blends one motion into another. A walk along edges is a motion.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, owned
from gaitway.core.errors import GraphError
from gaitway.graphs.corpus import Corpus, LabelSet
from gaitway.graphs.kovar.pruning import Arcs, Census
from gaitway.graphs.kovar.transitions import Transitions, blended_paths


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges of a motion graph; one row for each edge."""

    tail: IntArray
    """Node that each edge leaves; (E,)."""
    head: IntArray
    """Node that each edge leads to; (E,)."""
    first: IntArray
    """First frame of each edge in the corpus; for a transition, in the motion that it leaves; (E,)."""
    frames: IntArray
    """Number of frames of each edge; (E,)."""
    transition: IntArray
    """Number of the transition, or -1 for a piece of an original clip; (E,)."""
    label_set: IntArray
    """Label set of all frames of each edge; -1 if frames differ, or no original frame has that set; (E,)."""
    labels: BoolArray
    """Which labels of the corpus all frames of each edge have; (E, L)."""

    def __post_init__(self) -> None:
        count = len(self.tail)
        for name in ("tail", "head", "first", "frames", "transition", "label_set"):
            object.__setattr__(self, name, owned(getattr(self, name), name, (count,), np.int64, GraphError))
        object.__setattr__(self, "labels", owned(self.labels, "labels", (count, None), np.bool_, GraphError))

    def __len__(self) -> int:
        return len(self.tail)

    def chosen(self, which: BoolArray) -> Edges:
        """Return some of the edges."""
        names = ("tail", "head", "first", "frames", "transition", "label_set", "labels")
        return Edges(*(getattr(self, name)[which] for name in names))


@dataclass(frozen=True)
class LabelPart:
    """Frames of a label set before and after pruning."""

    labels: LabelSet
    frames: int
    """Number of original frames with this set."""
    kept: int
    """Number of these frames after pruning."""


@dataclass(frozen=True)
class Pruning:
    """Report on pruning."""

    census: Census
    """Dead ends and sinks before pruning."""
    parts: tuple[LabelPart, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class MotionGraph:
    """Directed graph of motions with numbered nodes."""

    corpus: Corpus
    transitions: Transitions
    node_frames: IntArray
    """Frame that follows each node in its clip; at the end of a clip, the frame after the last one; (N,)."""
    node_clips: IntArray
    """Clip of each node; (N,)."""
    edges: Edges
    pruning: Pruning | None = None
    """None for a graph that was not pruned."""
    actions: frozenset[str] = frozenset()
    """Labels of short motions, such as a jump, that need not continue for ever."""

    def __repr__(self) -> str:
        return f"MotionGraph({len(self.node_frames)} nodes, {len(self.edges)} edges, {self.corpus!r})"

    @property
    def arcs(self) -> Arcs:
        """The graph without motion: nodes and edges alone."""
        return Arcs(len(self.node_frames), self.edges.tail, self.edges.head, self.edges.frames)

    @cached_property
    def outgoing(self) -> tuple[IntArray, IntArray]:
        """Entry at which each node's edges begin in the second array (N + 1,); edges sorted by their tail (E,)."""
        order = np.argsort(self.edges.tail, kind="stable")
        starts = np.searchsorted(self.edges.tail[order], np.arange(len(self.node_frames) + 1))
        return starts, order

    @cached_property
    def tracks(self) -> tuple[IntArray, FloatArray]:
        """Places of the body in the frames of every edge, as its first motion lies in the corpus.

        Returns:
            Row at which each edge begins in the second array (E + 1,), and places [m] (S, 2).
        """
        starts = np.cumsum([0, *self.edges.frames])
        points = np.empty((starts[-1], 2))
        blends = blended_paths(self.corpus, self.transitions)
        for edge, (first, frames, which) in enumerate(
            zip(self.edges.first.tolist(), self.edges.frames.tolist(), self.edges.transition.tolist(), strict=True)
        ):
            points[starts[edge] : starts[edge + 1]] = (
                blends[which] if which >= 0 else self.corpus.paths[first : first + frames]
            )
        return starts, points

    @cached_property
    def moves(self) -> FloatArray:
        """Planar move that each edge adds to the moves of later edges: the alignment of a transition; (E, 3)."""
        out = np.zeros((len(self.edges), 3))
        changes = self.edges.transition >= 0
        out[changes] = self.transitions.moves[self.edges.transition[changes]]
        return out

    def out_edges(self, node: int) -> IntArray:
        """Return the edges that leave a node."""
        starts, order = self.outgoing
        return order[starts[node] : starts[node + 1]]
