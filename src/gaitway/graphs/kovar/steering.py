"""Interactive steering: a table of the next edge for every node and direction (Kovar et al. 2002, section 5.3).

The paper fits a walk to a straight line for every node and direction. Here the walks of all nodes and directions are
found together; each round makes them one edge longer. The error of a frame is the difference of its step to a step of
the same length in the wanted direction. These errors add up along a walk, and later ones count less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gaitway.core import planar
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, owned, read_only
from gaitway.core.errors import GraphError
from gaitway.graphs.kovar import _steering_kernels as kernels
from gaitway.graphs.kovar.motion_graph import MotionGraph
from gaitway.graphs.kovar.path_task import part_edges
from gaitway.graphs.kovar.transitions import blended
from gaitway.graphs.kovar.walks import Walk, place_frames

DIRECTIONS = 36
"""Number of directions in a table."""
MEMORY_S = 2.5
"""Time after which an error counts 1 / e as much [s]."""
_SWEEPS, _SETTLED = 300, 1e-3
"""Largest number of rounds, and the relative change of costs below which the rounds end."""
_LEAST_SPEED = 0.5
"""Least speed that is wanted [m/s]; it is the error of a standing character."""


@dataclass(frozen=True, eq=False)
class SteeringTable:
    """Table of the next edge, by node and direction."""

    graph: MotionGraph = field(repr=False)
    first: IntArray
    """Next edge of each node in K evenly spaced directions from 0 on, as the node's clip lies in the corpus; -1 if no
    edge is allowed; (N, K)."""

    def __post_init__(self) -> None:
        shape = (len(self.graph.node_frames), None)
        object.__setattr__(self, "first", owned(self.first, "first", shape, np.int64, GraphError))

    def edge(self, node: int, direction: float) -> int:
        """Return the next edge at a node in a direction [rad], as the node's clip lies in the corpus; -1 for none."""
        count = self.first.shape[1]
        return int(self.first[node, round(direction / (2.0 * np.pi) * count) % count])

    @property
    def nodes(self) -> IntArray:
        """Nodes that have a next edge in every direction."""
        return np.flatnonzero((self.first >= 0).all(axis=1))


def steering_table(
    graph: MotionGraph,
    labels: Sequence[str] = (),
    *,
    directions: int = DIRECTIONS,
    memory_s: float = MEMORY_S,
) -> SteeringTable:
    """Build the steering table of a graph.

    Args:
        graph: Pruned motion graph.
        labels: Labels that all motion must have; an empty sequence allows all motion that can continue for ever.
        directions: Number of directions.
        memory_s: Time after which an error counts 1 / e as much [s].

    Raises:
        GraphError: If no motion has the labels.
    """
    if directions < 4 or not memory_s > 0.0:
        raise GraphError(f"steering by {directions} directions with {memory_s:g} s; write 4 or more, and above 0 s")
    corpus, edges = graph.corpus, graph.edges
    starts, track = graph.tracks
    costs = np.empty((len(edges), directions), dtype=np.float32)
    # the place before an edge; for an edge at the begin of a clip, its first frame
    before = corpus.paths[np.maximum(edges.first - 1, corpus.starts[corpus.clip_of[edges.first]])]
    kernels.edge_costs(read_only(starts), read_only(track), read_only(before), _LEAST_SPEED / corpus.fps, costs)
    nodes, allowed = len(graph.node_frames), part_edges(graph, labels)
    values, first = np.zeros((nodes, directions), dtype=np.float32), np.empty((nodes, directions), dtype=np.int64)
    turns = np.round(graph.moves[:, 2] / (2.0 * np.pi) * directions).astype(np.int64)
    fades = np.exp(-edges.frames / (memory_s * corpus.fps))
    out_starts, out_edges = graph.outgoing
    for _ in range(_SWEEPS):
        longer = np.empty_like(values)
        kernels.improved(
            read_only(out_starts), read_only(out_edges), read_only(edges.head), read_only(turns), read_only(fades),
            read_only(allowed), read_only(costs), read_only(values), longer, first,
        )  # fmt: skip
        known = np.isfinite(longer)
        change = float(np.abs(longer[known] - values[known]).max(initial=0.0))
        values = longer
        if change < _SETTLED * float(values[known].max(initial=0.0)):
            break
    return SteeringTable(graph, first)


@dataclass(frozen=True, eq=False)
class SteeredFrame:
    """Frame of a steered character."""

    root: FloatArray
    """World position of the root [m]; (3,)."""
    rotations: FloatArray
    """Local rotations; (J, 4)."""
    contacts: BoolArray
    """Contacts; (C,)."""
    place: FloatArray
    """Place of the body over the ground, without the sway of steps [m]; (2,)."""


class SteeredCharacter:
    """Character that follows a direction, frame by frame."""

    def __init__(self, table: SteeringTable, pose: Sequence[float] = (0.0, 0.0, 0.0), node: int | None = None) -> None:
        """Place a character.

        Args:
            table: Steering table.
            pose: Planar pose: x, y [m], heading [rad]; (3,).
            node: Node of the graph to begin at; None takes the first node of the table.

        Raises:
            GraphError: If the node has no next edge in some direction.
        """
        self.table, self.graph = table, table.graph
        known = table.nodes
        if not len(known):
            raise GraphError("no node of this table has an edge for every direction; raise the threshold of the graph")
        self.node = int(known[0]) if node is None else node
        if self.node not in known:
            raise GraphError(f"node {self.node} has no edge for every direction; take one of the table's `nodes`")
        corpus = self.graph.corpus
        frame = min(int(self.graph.node_frames[self.node]), len(corpus) - 1)
        clip = int(corpus.clip_of[frame])
        facing = float(corpus.clips[clip].headings()[frame - int(corpus.starts[clip])])
        here = np.array([*corpus.paths[frame], facing])
        self.start = planar.compose(np.asarray(pose, dtype=np.float64), planar.inverse(here))
        self.move, self.edges = self.start, list[int]()
        self._piece: tuple[FloatArray, FloatArray, BoolArray, FloatArray] | None = None
        self._next = 0

    def step(self, direction: float) -> SteeredFrame:
        """Return the next frame, given a direction in the world [rad]."""
        if self._piece is None or self._next == len(self._piece[0]):
            self._take(self.table.edge(self.node, direction - float(self.move[2])))
        assert self._piece is not None
        roots, turned, contacts, places = self._piece
        k, self._next = self._next, self._next + 1
        return SteeredFrame(roots[k], turned[k], contacts[k], places[k])

    def walk(self) -> Walk:
        """Return the walk along all edges so far.

        Raises:
            GraphError: If there are none.
        """
        return Walk(self.graph, np.array(self.edges, dtype=np.int64), self.start)

    def _take(self, edge: int) -> None:
        graph, corpus = self.graph, self.graph.corpus
        which = int(graph.edges.transition[edge])
        if which >= 0:
            blend = blended(corpus, graph.transitions.chosen([which]))
            piece = blend.roots[0], blend.rotations[0], blend.contacts[0]
        else:
            first = int(graph.edges.first[edge])
            span = slice(first, first + int(graph.edges.frames[edge]))
            piece = corpus.roots[span], corpus.rotations[span], corpus.contacts[span]
        starts, track = graph.tracks
        places = planar.transform_points(self.move, track[starts[edge] : starts[edge + 1]])
        self._piece = *place_frames(piece[0], piece[1], self.move), piece[2], places
        self._next = 0
        self.move = planar.compose(self.move, graph.moves[edge])
        self.node = int(graph.edges.head[edge])
        self.edges.append(edge)
