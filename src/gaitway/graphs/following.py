"""Motion along a path: each part of it in its own manner (Kovar et al. 2002, section 5).

The error of a frame is the squared distance from where the body is to the point of the path at the arc length that the
body has gone, give or take a share. Where a part of the path ends, motion of the next part's labels takes over, up to
some slack before or after that place.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from gaitway import planar
from gaitway.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.errors import GraphError
from gaitway.graphs import _extraction_kernels as kernels
from gaitway.graphs.extraction import Search, drawn
from gaitway.graphs.motion_graph import MotionGraph
from gaitway.graphs.paths import Path, spline
from gaitway.graphs.pruning import Arcs, distances_from, largest
from gaitway.graphs.walks import Walk

SLACK = 0.6
"""How far before or after its place a change of labels may come [m]."""
_LEAST_SPEED = 0.4
"""Standing still counts as going on at this share of a usual speed: the path runs away from who waits."""
_SLOWEST = 0.05
"""And no slower than this [m/s]."""
GIVE = 0.5
"""Share by which progress along the path may differ from the way that the body goes. 0 is the paper's measure, for
which who has cut a corner must make a detour."""
GOOD_ENOUGH = 0.01
"""A window that stays as near to the path as this in the mean is not searched further [m]."""
STARTS = 24
"""Places in the graph that are tried to begin with."""
_CALM = 0.1
"""How much a transition's distance counts beside as great a distance from the path over all its frames."""
_TURNING_S = 0.1
"""The direction in which a body goes is that of its way from so long before to so long after [s]."""
_FORESIGHT_S = 0.8
"""Walks are judged by where they lead within this time if their clips go on [s]."""
_AHEAD_S = 0.7
"""Who begins is turned so that the way of this time lies along the path [s]."""


@dataclass(frozen=True)
class Part:
    """A part of a path, gone along in one manner."""

    labels: tuple[str, ...] = ()
    """Every frame must have all of these; none allows every motion."""
    until: float = np.inf
    """Arc length at which it ends [m]; the last part goes to the path's end."""


@dataclass(frozen=True, eq=False)
class Followed:
    """A walk along a path."""

    walk: Walk
    path: Path
    parts: tuple[Part, ...]
    part_of: IntArray
    """Which part of the path each edge of the walk belongs to; (K,)."""
    error: float
    """Root mean square of the distances of all frames from the path [m]."""
    seconds: float
    """That the search took [s]."""
    looked: int
    """Edges that were looked at."""

    @property
    def changes(self) -> list[tuple[float, float]]:
        """For each change of parts the arc length at which it was asked for and that at which it was made [m]."""
        places, firsts = self.walk.places, self.walk.firsts
        gone = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=-1)))
        starts = [int(np.argmax(self.part_of >= part)) for part in range(1, len(self.parts))]
        return [(self.parts[k].until, float(gone[firsts[edge]])) for k, edge in enumerate(starts)]


class PathFollower:
    """Searches a motion graph for walks along one path after another; keeps its arrays."""

    def __init__(self, graph: MotionGraph, search: Search = Search()) -> None:  # noqa: B008  (frozen)
        self.graph, self.search = graph, search
        fps = graph.corpus.fps
        self.horizon = max(round(search.horizon_s * fps), 1)
        self.keep = max(round(search.keep_s * fps), 1)
        out_starts, out_edges = graph.outgoing
        track_starts, track = graph.tracks
        self.arrays = kernels.GraphArrays(
            read_only(out_starts),
            read_only(out_edges),
            read_only(graph.edges.head),
            read_only(track_starts),
            read_only(track),
            read_only(graph.moves),
            read_only(edge_costs(graph)),
            read_only(node_headings(graph)),
            read_only(places_ahead(graph)),
        )
        ways = max(int(np.diff(out_starts).max(initial=1)), 1)
        depth, width = self.horizon + 1, max(search.beam, 1)
        self._tree = kernels.TreeRoom(
            np.empty((depth, ways, kernels.STATE)),
            np.empty((depth, ways), dtype=np.int64),
            np.empty((depth, ways), dtype=bool),
            np.empty(depth, dtype=np.int64),
            np.empty(depth, dtype=np.int64),
        )
        rows = self.horizon * kernels.SECTORS * width
        self._beam = kernels.BeamRoom(
            np.empty((rows, kernels.STATE)),
            np.empty(rows, dtype=np.int64),
            np.empty(rows, dtype=np.int64),
            np.empty(rows, dtype=np.int64),
            np.empty(self.horizon * kernels.SECTORS, dtype=np.int64),
            np.empty(kernels.STATE),
        )
        self.looked = 0

    def follow(
        self,
        path: Path,
        parts: Sequence[Part] | str = (),
        *,
        start: int | None = None,
        slack: float = SLACK,
        rng: np.random.Generator | None = None,
    ) -> Followed:
        """A walk along a path.

        Args:
            path: where to go.
            parts: manners in order; a word is one label for the whole path; none allows every motion.
            start: node to begin at; None tries some and takes the best.
            slack: how far before or after its place a change of parts may come [m].
            rng: draws where to begin and among the best walks; None always takes the best.

        Raises:
            GraphError: if a part cannot be gone in its manner, or be come to from the one before.
        """
        began, self.looked = time.perf_counter(), 0
        parts = (Part((parts,)),) if isinstance(parts, str) else tuple(parts) or (Part(),)
        task = path_task(self.graph, path, parts, slack)
        node, move = self._beginning(task, path, start, rng)
        state = np.zeros(kernels.STATE)
        state[:3], state[3:5] = move, path.points[0]
        edges, stages, complete = list[int](), list[int](), False
        total = frames = 0.0
        while not complete:
            window = self._window(task, node, state, rng)
            kept = taken = 0
            for edge in window.tolist():
                stage = int(state[kernels.STAGE])
                leave = kernels.leaving(self.arrays, task, node, stage, state[kernels.ALONG])
                stage = kernels.stage_after(task, stage, edge, leave)
                before = state.copy()
                complete = kernels.advance(self.arrays, task, before, edge, stage, 1 << 30, state)
                edges.append(edge)
                stages.append(stage)
                taken += 1
                node = int(self.graph.edges.head[edge])
                kept += int(self.graph.edges.frames[edge])
                if complete or kept >= self.keep:
                    break
            own = float(self.arrays.costs[edges[len(edges) - taken :]].sum())
            total, frames = total + state[kernels.ERROR] - own, frames + state[kernels.FRAMES]
            state[kernels.ERROR] = state[kernels.FRAMES] = 0.0
        walk = Walk(self.graph, np.array(edges), move)
        rms = float(np.sqrt(total / max(frames, 1.0)))
        part_of = (np.array(stages) + 1) // 2
        return Followed(walk, path, parts, part_of, rms, time.perf_counter() - began, self.looked)

    def _window(
        self, task: kernels.PathArrays, node: int, state: FloatArray, rng: np.random.Generator | None
    ) -> IntArray:
        """Edges of the walk that one search takes."""
        best = self._empty_best(self.search.best if rng is not None else 1)
        enough = self.horizon * GOOD_ENOUGH**2
        count, error = 0, np.inf
        if self.search.beam:
            width = self.search.beam
            count, error = kernels.beam(self.arrays, task, node, state, self.horizon, width, self._beam, best.walks[0])
        if count:
            best.errors[0], best.lengths[0] = error, count
        if not error < enough or len(best.errors) > 1:
            self.looked += kernels.branch_and_bound(
                self.arrays, task, node, state, self.horizon, enough if len(best.errors) == 1 else -1.0,
                self.search.budget, self._tree, best,
            )  # fmt: skip
        if not np.isfinite(best.errors[0]):
            raise GraphError(
                f"no motion of the wanted labels goes on from node {node}; raise the threshold, or widen the slack"
            )
        errors = [float(e) for e in best.errors if np.isfinite(e)]
        chosen = drawn(errors, self.search.tolerance, rng)
        return best.walks[chosen, : best.lengths[chosen]].copy()

    def _empty_best(self, count: int) -> kernels.Best:
        walks = np.empty((count, self.horizon + 1), dtype=np.int64)
        return kernels.Best(np.full(count, np.inf), np.zeros(count, dtype=np.int64), walks)

    def _beginning(
        self, task: kernels.PathArrays, path: Path, start: int | None, rng: np.random.Generator | None
    ) -> tuple[int, FloatArray]:
        """A node to begin at, and the planar move that turns what follows it along the path."""
        if start is not None:
            if not 0 <= start < len(self.graph.node_frames):
                raise GraphError(f"no node {start}; the graph has {len(self.graph.node_frames)}")
            return start, beginning_move(self.graph, start, path)
        nodes = np.unique(self.graph.edges.tail[task.inside[0]])
        rng = np.random.default_rng(0) if rng is None else rng
        tried = rng.permutation(nodes)[:STARTS].tolist()
        scores: list[tuple[float, int, FloatArray]] = []
        state, walk = np.zeros(kernels.STATE), np.empty(self.horizon + 1, dtype=np.int64)
        for node in tried:
            move = beginning_move(self.graph, node, path)
            state[:3], state[3:5] = move, path.points[0]
            count, error = kernels.beam(self.arrays, task, node, state, self.horizon, 1, self._beam, walk)
            if count:
                scores.append((error, node, move))
        if not scores:
            raise GraphError("no motion of the wanted labels goes along the path; raise the threshold")
        best = min(scores, key=lambda score: score[0])
        return best[1], best[2]


def follow_path(
    graph: MotionGraph,
    path: Path,
    parts: Sequence[Part] | str = (),
    *,
    start: int | None = None,
    search: Search = Search(),  # noqa: B008  (frozen)
    slack: float = SLACK,
    rng: np.random.Generator | None = None,
) -> Followed:
    """A walk along a path; see `PathFollower.follow`."""
    return PathFollower(graph, search).follow(path, parts, start=start, slack=slack, rng=rng)


@dataclass(frozen=True)
class Key:
    """A place to pass, and what to do from there on."""

    x: float
    """[m]."""
    y: float
    """[m]."""
    labels: tuple[str, ...] = ()
    """From here to the next key."""


def keyframed(keys: Sequence[Key]) -> tuple[Path, tuple[Part, ...]]:
    """The path and parts that keys on the ground ask for: what should happen, and where.

    Keys with the same labels as those before them only bend the path.

    Raises:
        GraphError: if there are fewer than two.
    """
    if len(keys) < 2:
        raise GraphError("keyframing needs at least two keys; write Key(x, y, labels)")
    path = spline([(key.x, key.y) for key in keys])
    parts: list[Part] = []
    for key, after in pairwise(keys):
        until = path.nearest((after.x, after.y)) if after is not keys[-1] else np.inf
        if parts and parts[-1].labels == key.labels:
            parts.pop()
        parts.append(Part(key.labels, until))
    return path, tuple(parts)


def path_task(graph: MotionGraph, path: Path, parts: Sequence[Part], slack: float) -> kernels.PathArrays:
    """What a search sees of a path and its parts.

    Raises:
        GraphError: if a part has no motion, or no way leads to it.
    """
    ends = np.array([part.until for part in parts], dtype=np.float64)
    ends[-1] = np.inf
    if (np.diff(ends) < 0.0).any():
        raise GraphError("the parts of a path must end one after another; write them in order of `until`")
    inside = np.stack([part_edges(graph, part.labels) for part in parts])
    bridges = np.zeros_like(inside)
    for k in range(len(parts) - 1):
        bridges[k] = bridge_edges(graph, inside[k], inside[k + 1])
        if not bridges[k].any() and not (inside[k] & inside[k + 1]).any():
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
        mine[mine] = largest(graph.arcs.part(mine))
    if not mine.any():
        raise GraphError(f"no motion of the graph is {_named(Part(tuple(labels)))} and can go on; raise the threshold")
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


def beginning_move(graph: MotionGraph, node: int, path: Path) -> FloatArray:
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


def straight(direction: float, length: float) -> Path:
    """A straight path from the origin."""
    return Path(np.array([[0.0, 0.0], [length * np.cos(direction), length * np.sin(direction)]]), length)


def _named(part: Part) -> str:
    return " + ".join(f"'{label}'" for label in part.labels) or "any motion"


def places_error(places: FloatArray, path: Path) -> npt.NDArray[np.float64]:
    """How far each place (F, 2) is from the nearest point of a path [m]; (F,)."""
    return np.array([float(np.linalg.norm(path.points - place, axis=-1).min()) for place in places])
