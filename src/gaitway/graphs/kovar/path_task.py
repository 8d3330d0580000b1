"""Input of the search along a path: the edges that each part of the path may use, and facts about nodes and edges."""

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
"""Least progress along the path, as a share of a usual speed. Without it, standing still would cost nothing."""
_SLOWEST = 0.05
"""Least progress along the path [m/s]."""
GIVE = 0.5
"""Share by which the progress along the path may differ from the distance that the body covers. 0 is the paper's
measure; with it, a walk that has cut a corner must make a detour."""
_CALM = 1.0
"""Weight of a transition's distance, relative to an equal distance from the path in all frames of the transition."""
_TURNING_S = 0.1
"""Time before and after a frame over which the direction of travel is measured [s]."""
_FORESIGHT_S = 0.8
"""Time for which the clip of a node is continued to compute the expected error of a walk [s]."""
_AHEAD_S = 0.7
"""Duration of the begin of a walk that is laid along the path [s]."""


@dataclass(frozen=True)
class PathPart:
    """Part of a path, with the labels of its motion."""

    labels: tuple[str, ...] = ()
    """Labels that every frame must have; an empty tuple allows every motion."""
    until: float = np.inf
    """Arc length at which the part ends [m]; the last part ends with the path."""


def path_task(graph: MotionGraph, path: GroundPath, parts: Sequence[PathPart], slack: float) -> kernels.PathArrays:
    """Build the arrays of a path and its parts for the search.

    Args:
        graph: Motion graph.
        path: Path to follow.
        parts: Parts of the path, in order.
        slack: Largest distance between the end of a part and the change to the next part [m].

    Raises:
        GraphError: If a part has no motion, or no motion leads to it.
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
                f"no motion leads from {_named(parts[k])} to {_named(parts[k + 1])}; raise the threshold between them"
            )
    least = max(_LEAST_SPEED * min(_usual_step(graph, mine) for mine in inside), _SLOWEST / graph.corpus.fps)
    measures = np.empty(4)
    measures[kernels.POINT_STEP], measures[kernels.PART_SLACK] = path.step, slack
    measures[kernels.LEAST_PROGRESS], measures[kernels.PROGRESS_SHARE] = least, GIVE
    return kernels.PathArrays(
        read_only(path.points), read_only(measures), read_only(ends), read_only(inside), read_only(bridges)
    )


def _usual_step(graph: MotionGraph, edges: BoolArray) -> float:
    """Return the distance that the body covers in a frame of some edges, 75th percentile [m]."""
    starts, track = graph.tracks
    last = starts[1:][edges] - 1
    longer = graph.edges.frames[edges] > 1
    if not longer.any():
        return 0.0
    return float(np.percentile(np.linalg.norm(track[last[longer]] - track[last[longer] - 1], axis=-1), 75.0))


def part_edges(graph: MotionGraph, labels: Sequence[str]) -> BoolArray:
    """Return the edges whose frames all have some labels; (E,). Except for actions, their motion can continue for ever.

    Raises:
        GraphError: If there are none.
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
    """Return the edges on the shortest paths from the motion of one part to that of the next; (E,)."""
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
    """Return the planar move that puts a node at the begin of a path, with the motion after it along the path."""
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
    """Return the costs of edges, independent of the path [m^2]; (E,). They avoid transitions that are of no use."""
    out, changes = np.zeros(len(graph.edges)), graph.edges.transition >= 0
    distances = graph.transitions.distances[graph.edges.transition[changes]]
    out[changes] = _CALM * graph.transitions.window * distances**2
    return out


def node_headings(graph: MotionGraph) -> FloatArray:
    """Return the direction of travel at each node, as its clip lies in the corpus [rad]; (N,).

    The direction of a standing body is its facing direction.
    """
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
    """Return the places of the body if the clip at each node continues, as it lies in the corpus [m]; (N, A, 2).

    A clip that ends continues straight, at the speed at its end.
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
