"""Walks along the edges of a motion graph, and their motion (Kovar et al. 2002, section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray, IntArray, owned
from gaitway.core.errors import GraphError
from gaitway.graphs.kovar.motion_graph import MotionGraph
from gaitway.graphs.kovar.transitions import blended
from gaitway.motion.clip import Clip
from gaitway.motion.footskate import clean_footskate
from gaitway.motion.ik import LEFT_LEG, RIGHT_LEG


@dataclass(frozen=True, eq=False)
class Walk:
    """Sequence of edges of a motion graph, placed on the ground."""

    graph: MotionGraph = field(repr=False)
    edges: IntArray
    """Edges; each begins at the node at which the one before it ends; (K,)."""
    start: FloatArray
    """Planar move of the first edge's frames from their place in the corpus; (3,)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", owned(self.edges, "edges", (None,), np.int64, GraphError))
        object.__setattr__(self, "start", owned(self.start, "start", (3,), error=GraphError))
        if not len(self.edges):
            raise GraphError("a walk along no edges; give at least one")
        table = self.graph.edges
        if (self.edges < 0).any() or (self.edges >= len(table)).any():
            raise GraphError(f"a walk along edges that are not there; the graph has {len(table)}")
        broken = np.flatnonzero(table.head[self.edges[:-1]] != table.tail[self.edges[1:]])
        if len(broken):
            k = int(broken[0])
            raise GraphError(f"edge {self.edges[k + 1]} does not begin where edge {self.edges[k]} ends")

    def __len__(self) -> int:
        return int(self.graph.edges.frames[self.edges].sum())

    @property
    def duration(self) -> float:
        """Duration [s]."""
        return (len(self) - 1) / self.graph.corpus.fps

    @property
    def firsts(self) -> IntArray:
        """First frame of each edge in the walk, and the number of frames at the end; (K + 1,)."""
        return np.cumsum([0, *self.graph.edges.frames[self.edges]])

    @property
    def moves(self) -> FloatArray:
        """Planar move of each edge's frames from their place in the corpus; (K, 3)."""
        out, here = np.empty((len(self.edges), 3)), self.start
        for k, move in enumerate(self.graph.moves[self.edges]):
            out[k] = here
            here = planar.compose(here, move)
        return out

    @property
    def places(self) -> FloatArray:
        """Place of the body over the ground in every frame, without the sway of steps [m]; (F, 2)."""
        starts, points = self.graph.tracks
        moves = self.moves
        pieces = [
            planar.transform_points(moves[k], points[starts[edge] : starts[edge + 1]])
            for k, edge in enumerate(self.edges)
        ]
        return np.concatenate(pieces)

    @property
    def transitions(self) -> IntArray:
        """First frames of the transitions of the walk."""
        return self.firsts[:-1][self.graph.edges.transition[self.edges] >= 0]

    def labels(self) -> list[tuple[str, ...]]:
        """Return the labels that all frames of an edge have, for each edge."""
        words = self.graph.corpus.labels
        return [tuple(w for w, on in zip(words, row, strict=True) if on) for row in self.graph.edges.labels[self.edges]]


def walk_clip(walk: Walk, *, clean: bool = True, name: str = "walk") -> Clip:
    """Build the motion of a walk.

    Args:
        walk: Walk.
        clean: Whether planted feet that slide after blending are held; only for characters with human legs.
        name: Name of the clip.
    """
    graph, corpus = walk.graph, walk.graph.corpus
    edges = graph.edges
    which = edges.transition[walk.edges]
    blend = blended(corpus, graph.transitions.chosen(which[which >= 0]))
    roots, turned, contacts = [], [], []
    number = 0
    for move, edge, transition in zip(walk.moves, walk.edges.tolist(), which.tolist(), strict=True):
        if transition >= 0:
            piece = blend.roots[number], blend.rotations[number], blend.contacts[number]
            number += 1
        else:
            span = slice(int(edges.first[edge]), int(edges.first[edge] + edges.frames[edge]))
            piece = corpus.roots[span], corpus.rotations[span], corpus.contacts[span]
        placed = place_frames(piece[0], piece[1], move)
        roots.append(placed[0])
        turned.append(placed[1])
        contacts.append(piece[2])
    clip = Clip(
        corpus.skeleton, np.concatenate(roots), np.concatenate(turned), corpus.fps, name, np.concatenate(contacts)
    )
    legs = all(role in corpus.skeleton.roles for role in (*LEFT_LEG, *RIGHT_LEG))
    return clean_footskate(clip, hold=True) if clean and legs else clip


def place_frames(roots: FloatArray, turned: FloatArray, move: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return root positions (F, 3) and local rotations (F, J, 4) after a planar move (3,)."""
    move = np.asarray(move, dtype=np.float64)
    roots, turned = np.array(roots), np.array(turned)
    roots[:, :2] = planar.transform_points(move, roots[:, :2])
    turned[:, 0] = rotations.multiply(rotations.from_yaw(move[2]), turned[:, 0])
    return roots, turned


def random_walk(graph: MotionGraph, seconds: float, rng: np.random.Generator, node: int | None = None) -> Walk:
    """Draw a random walk.

    Args:
        graph: Pruned motion graph, in which every node has an edge.
        seconds: Least duration [s].
        rng: Generator that draws the edges.
        node: First node; None draws one.

    Raises:
        GraphError: If the walk comes to a node without edges.
    """
    here = int(rng.integers(len(graph.node_frames))) if node is None else node
    edges, frames = list[int](), 0
    while frames < seconds * graph.corpus.fps:
        ways = graph.out_edges(here)
        if not len(ways):
            raise GraphError(f"node {here} is a dead end; prune the graph first")
        edges.append(int(rng.choice(ways)))
        frames += int(graph.edges.frames[edges[-1]])
        here = int(graph.edges.head[edges[-1]])
    return Walk(graph, np.array(edges), np.zeros(3))
