"""What a search sees of a path: which edges each part of it may use, and what is known of nodes beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.core import planar
from gaitway.core.arrays import BoolArray, FloatArray, read_only
from gaitway.core.errors import GraphError
from gaitway.graphs.kovar import _extraction_kernels as kernels
from gaitway.graphs.kovar.motion_graph import MotionGraph
from gaitway.graphs.kovar.paths import GroundPath
from gaitway.graphs.kovar.pruning import Arcs, distances_from, largest_component

_LEAST_SPEED = 0.4
"""Standing still counts as going on at this share of a usual speed: the path runs away from who waits."""
_SLOWEST = 0.05
"""And no slower than this [m/s]."""
GIVE = 0.5
"""Share by which progress along the path may differ from the way that the body goes. 0 is the paper's measure, for
which who has cut a corner must make a detour."""
_CALM = 1.0
"""How much a transition's distance counts beside as great a distance from the path over all its frames: as much."""
_TURNING_S = 0.1
"""The direction in which a body goes is that of its way from so long before to so long after [s]."""
_FORESIGHT_S = 0.8
"""Walks are judged by where they lead within this time if their clips go on [s]."""
_AHEAD_S = 0.7
"""Who begins is turned so that the way of this time lies along the path [s]."""


@dataclass(frozen=True)
class PathPart:
    """A part of a path, gone along in one manner."""

    labels: tuple[str, ...] = ()
    """Every frame must have all of these; none allows every motion."""
    until: float = np.inf
    """Arc length at which it ends [m]; the last part goes to the path's end."""


def path_task(graph: MotionGraph, path: GroundPath, parts: Sequence[PathPart], slack: float) -> kernels.PathArrays:
    """What a search sees of a path and its parts.

    Raises:
        GraphError: if a part has no motion, or no way leads to it.
    """
    ends = np.array([part.until for part in parts], dtype=np.float64)
    ends[-1] = np.inf
    if not np.isfinite(ends[:-1]).all() or (ends[:-1] > ends[1:]).any():
        raise GraphError("the parts of a path must end one after another; give each but the last a greater `until`")
    inside = np.stack([part_edges(graph, part.labels) for part in parts])
    bridges = np.zeros_like(inside)
    for k in range(len(parts) - 1):
        bridges[k] = bridge_edges(graph, inside[k], inside[k + 1])
        meeting = np.intersect1d(graph.edges.head[inside[k]], graph.edges.tail[inside[k + 1]])
        if not bridges[k].any() and not len(meeting):
            raise GraphError(
                f"there is no way from {_named(parts[k])} to {_named(parts[k + 1])}; raise the threshold between them"
            )
    least = max(_LEAST_SPEED * min(_usual_step(graph, mine) for mine in inside), _SLOWEST / graph.corpus.fps)
    measures = np.array([path.step, slack, least, GIVE])
    return kernels.PathArrays(
        read_only(path.points), read_only(measures), read_only(ends), read_only(inside), read_only(bridges)
    )


def _usual_step(graph: MotionGraph, edges: BoolArray) -> float:
    """How far the body gets in a frame of some edges, where it goes rather fast [m]."""
    starts, track = graph.tracks
    last = starts[1:][edges] - 1
    longer = graph.edges.frames[edges] > 1
    if not longer.any():
        return 0.0
    return float(np.percentile(np.linalg.norm(track[last[longer]] - track[last[longer] - 1], axis=-1), 75.0))


def part_edges(graph: MotionGraph, labels: Sequence[str]) -> BoolArray:
    """Edges for a manner of going: all frames have the labels, and, but for actions, it can go on for ever; (E,).

    Raises:
        GraphError: if there are none.
    """
    corpus = graph.corpus
    corpus.having(*labels)
    columns = [corpus.labels.index(label) for label in labels]
    mine = np.asarray(graph.edges.labels[:, columns].all(axis=1))
    if not set(labels) & graph.actions:
        mine[mine] = largest_component(graph.arcs.part(mine))
    if not mine.any():
        raise GraphError(
            f"no motion of the graph is {_named(PathPart(tuple(labels)))} and can go on; raise the threshold"
        )
    return mine


def bridge_edges(graph: MotionGraph, before: BoolArray, after: BoolArray) -> BoolArray:
    """Edges on the shortest ways from the motion of one part to that of the next; (E,)."""
    edges, arcs = graph.edges, graph.arcs
    goal = np.zeros(arcs.nodes, dtype=bool)
    goal[edges.tail[after]] = True
    left = distances_from(Arcs(arcs.nodes, edges.head, edges.tail, edges.frames), goal)
    start = np.zeros(arcs.nodes, dtype=bool)
    start[edges.head[before]] = True
    nearer: BoolArray = left[edges.head] < left[edges.tail]
    way = np.isfinite(distances_from(arcs.part(nearer), start))
    return np.asarray(nearer & way[edges.tail] & np.isfinite(left[edges.tail]) & ~after)


def beginning_move(graph: MotionGraph, node: int, path: GroundPath) -> FloatArray:
    """The planar move that puts a node at a path's begin, and turns the way that its clip goes on along the path."""
    corpus = graph.corpus
    frame, clip = int(graph.node_frames[node]), int(graph.node_clips[node])
    last = int(corpus.starts[clip + 1]) - 1
    frame = min(frame, last)
    there = min(frame + max(round(_AHEAD_S * corpus.fps), 1), last)
    way = corpus.paths[there] - corpus.paths[frame]
    gone = float(np.linalg.norm(way))
    if gone < 0.1:
        local = frame - int(corpus.starts[clip])
        facing = float(corpus.clips[clip].headings()[local])
        ahead = path.at(min(0.3, path.length)) - path.points[0]
    else:
        facing = float(np.arctan2(way[1], way[0]))
        ahead = path.at(min(gone, path.length)) - path.points[0]
    turn = float(np.arctan2(ahead[1], ahead[0])) - facing
    shifted = path.points[0] - planar.transform_points(np.array([0.0, 0.0, turn]), corpus.paths[frame])
    return np.array([*shifted, turn])


def edge_costs(graph: MotionGraph) -> FloatArray:
    """What edges cost wherever they lead [m^2]; (E,): transitions are taken only where they are of use."""
    out, changes = np.zeros(len(graph.edges)), graph.edges.transition >= 0
    distances = graph.transitions.distances[graph.edges.transition[changes]]
    out[changes] = _CALM * graph.transitions.window * distances**2
    return out


def node_headings(graph: MotionGraph) -> FloatArray:
    """Where the body goes at each node, as its clip lies in the corpus [rad]; (N,). Who stands goes where it faces."""
    corpus = graph.corpus
    first, last = corpus.starts[graph.node_clips], corpus.starts[graph.node_clips + 1] - 1
    reach = max(round(_TURNING_S * corpus.fps), 1)
    low = np.maximum(np.minimum(graph.node_frames, last) - reach, first)
    high = np.minimum(graph.node_frames + reach, last)
    way = corpus.paths[high] - corpus.paths[low]
    facing = np.concatenate([clip.headings() for clip in corpus.clips])[np.minimum(graph.node_frames, last)]
    moves = np.linalg.norm(way, axis=-1) > 0.05
    return np.where(moves, np.arctan2(way[:, 1], way[:, 0]), facing)


def places_ahead(graph: MotionGraph) -> FloatArray:
    """Where the body will be if the clip at each node goes on, as it lies in the corpus [m]; (N, A, 2).

    A clip that ends goes on straight and as fast as it does at its end.
    """
    corpus = graph.corpus
    last = corpus.starts[graph.node_clips + 1] - 1
    count = max(round(_FORESIGHT_S * corpus.fps / kernels.AHEAD_STEP), 1)
    frames = graph.node_frames[:, None] + kernels.AHEAD_STEP * (1 + np.arange(count))
    beyond = np.maximum(frames - last[:, None], 0)[..., None]
    speed = corpus.paths[last] - corpus.paths[np.maximum(last - 1, 0)]
    return np.asarray(corpus.paths[np.minimum(frames, last[:, None])] + beyond * speed[:, None])


def _named(part: PathPart) -> str:
    return " + ".join(f"'{label}'" for label in part.labels) or "any motion"
