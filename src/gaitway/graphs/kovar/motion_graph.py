"""Motion graphs: pieces of captured motion and transitions between them (Kovar, Gleicher and Pighin 2002, section 3).

A node is a place between two frames of a clip, at which other pieces may follow. An edge is a piece of an original
clip, or a transition that blends one motion into another. Motion is a walk along edges.
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
    """The edges of a motion graph, a row each."""

    tail: IntArray
    """Node that an edge leaves; (E,)."""
    head: IntArray
    """Node that it leads to; (E,)."""
    first: IntArray
    """Its first frame in the corpus; of a transition, in the motion that is left; (E,)."""
    frames: IntArray
    """How many frames it has; (E,)."""
    transition: IntArray
    """Which transition it is, or -1 for a piece of an original; (E,)."""
    label_set: IntArray
    """The label set that all its frames have; -1 where they differ, or no original frame has that set; (E,)."""
    labels: BoolArray
    """Which of the corpus's labels all its frames have; (E, L)."""

    def __post_init__(self) -> None:
        count = len(self.tail)
        for name in ("tail", "head", "first", "frames", "transition", "label_set"):
            object.__setattr__(self, name, owned(getattr(self, name), name, (count,), np.int64, GraphError))
        object.__setattr__(self, "labels", owned(self.labels, "labels", (count, None), np.bool_, GraphError))

    def __len__(self) -> int:
        return len(self.tail)

    def chosen(self, which: BoolArray) -> Edges:
        """Some of them."""
        names = ("tail", "head", "first", "frames", "transition", "label_set", "labels")
        return Edges(*(getattr(self, name)[which] for name in names))


@dataclass(frozen=True)
class LabelPart:
    """What of a label set is left."""

    labels: LabelSet
    frames: int
    """Original frames that have this set."""
    kept: int
    """Those of them that are left."""


@dataclass(frozen=True)
class Pruning:
    """What pruning found and did."""

    census: Census
    """Dead ends and sinks before."""
    parts: tuple[LabelPart, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class MotionGraph:
    """A directed graph of motions; its nodes are numbered."""

    corpus: Corpus
    transitions: Transitions
    node_frames: IntArray
    """The frame that would come next at each node if its clip went on; one beyond the last at a clip's end; (N,)."""
    node_clips: IntArray
    """The clip that each node is in; (N,)."""
    edges: Edges
    pruning: Pruning | None = None
    """None for a graph that was not pruned."""
    actions: frozenset[str] = frozenset()
    """Labels of motions that pass, such as a jump, and need not go on for ever."""

    def __repr__(self) -> str:
        return f"MotionGraph({len(self.node_frames)} nodes, {len(self.edges)} edges, {self.corpus!r})"

    @property
    def arcs(self) -> Arcs:
        """Nodes and edges alone."""
        return Arcs(len(self.node_frames), self.edges.tail, self.edges.head, self.edges.frames)

    @cached_property
    def outgoing(self) -> tuple[IntArray, IntArray]:
        """Edges by the node that they leave: where each node's begin in the second array (N + 1,); edges (E,)."""
        order = np.argsort(self.edges.tail, kind="stable")
        starts = np.searchsorted(self.edges.tail[order], np.arange(len(self.node_frames) + 1))
        return starts, order

    @cached_property
    def tracks(self) -> tuple[IntArray, FloatArray]:
        """The way over the ground of every edge, as its first motion lies in the corpus.

        Returns:
            Where each edge's frames begin in the second array (E + 1,), and places [m] (S, 2).
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
        """What each edge adds to the planar move of all that follows it: a transition's alignment; (E, 3)."""
        out = np.zeros((len(self.edges), 3))
        changes = self.edges.transition >= 0
        out[changes] = self.transitions.moves[self.edges.transition[changes]]
        return out

    def out_edges(self, node: int) -> IntArray:
        """Edges that leave a node."""
        starts, order = self.outgoing
        return order[starts[node] : starts[node + 1]]
