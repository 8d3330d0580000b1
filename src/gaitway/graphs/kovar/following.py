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

from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.core.errors import GraphError
from gaitway.graphs.kovar import _extraction_kernels as kernels
from gaitway.graphs.kovar.extraction import GraphSearch, draw_walk
from gaitway.graphs.kovar.motion_graph import MotionGraph
from gaitway.graphs.kovar.path_task import PathPart, beginning_move, edge_costs, node_headings, path_task, places_ahead
from gaitway.graphs.kovar.paths import GroundPath, spline
from gaitway.graphs.kovar.walks import Walk

SLACK = 0.6
"""How far before or after its place a change of labels may come [m]."""
GOOD_ENOUGH = 0.01
"""A window that stays as near to the path as this in the mean is not searched further [m]."""
STARTS = 24
"""Places in the graph that are tried to begin with."""


@dataclass(frozen=True, eq=False)
class FollowedPath:
    """A walk along a path."""

    walk: Walk
    path: GroundPath
    parts: tuple[PathPart, ...]
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

    def __init__(self, graph: MotionGraph, search: GraphSearch = GraphSearch()) -> None:  # noqa: B008  (frozen)
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
        self._tree = kernels.BranchMemory(
            np.empty((depth, ways, kernels.STATE)),
            np.empty((depth, ways), dtype=np.int64),
            np.empty((depth, ways), dtype=bool),
            np.empty(depth, dtype=np.int64),
            np.empty(depth, dtype=np.int64),
        )
        rows = self.horizon * kernels.SECTORS * width
        self._beam = kernels.BeamMemory(
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
        path: GroundPath,
        parts: Sequence[PathPart] | str = (),
        *,
        start: int | None = None,
        slack: float = SLACK,
        rng: np.random.Generator | None = None,
    ) -> FollowedPath:
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
        parts = (PathPart((parts,)),) if isinstance(parts, str) else tuple(parts) or (PathPart(),)
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
        return FollowedPath(walk, path, parts, part_of, rms, time.perf_counter() - began, self.looked)

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
        chosen = draw_walk(errors, self.search.tolerance, rng)
        return best.walks[chosen, : best.lengths[chosen]].copy()

    def _empty_best(self, count: int) -> kernels.BestWalks:
        walks = np.empty((count, self.horizon + 1), dtype=np.int64)
        return kernels.BestWalks(np.full(count, np.inf), np.zeros(count, dtype=np.int64), walks)

    def _beginning(
        self, task: kernels.PathArrays, path: GroundPath, start: int | None, rng: np.random.Generator | None
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
    path: GroundPath,
    parts: Sequence[PathPart] | str = (),
    *,
    start: int | None = None,
    search: GraphSearch = GraphSearch(),  # noqa: B008  (frozen)
    slack: float = SLACK,
    rng: np.random.Generator | None = None,
) -> FollowedPath:
    """A walk along a path; see `PathFollower.follow`."""
    return PathFollower(graph, search).follow(path, parts, start=start, slack=slack, rng=rng)


@dataclass(frozen=True)
class PathKey:
    """A place to pass, and what to do from there on."""

    x: float
    """[m]."""
    y: float
    """[m]."""
    labels: tuple[str, ...] = ()
    """From here to the next key."""


def keyframed(keys: Sequence[PathKey]) -> tuple[GroundPath, tuple[PathPart, ...]]:
    """The path and parts that keys on the ground ask for: what should happen, and where.

    Keys with the same labels as those before them only bend the path.

    Raises:
        GraphError: if there are fewer than two.
    """
    if len(keys) < 2:
        raise GraphError("keyframing needs at least two keys; write Key(x, y, labels)")
    path = spline([(key.x, key.y) for key in keys])
    parts: list[PathPart] = []
    for key, after in pairwise(keys):
        until = path.nearest((after.x, after.y)) if after is not keys[-1] else np.inf
        if parts and parts[-1].labels == key.labels:
            parts.pop()
        parts.append(PathPart(key.labels, until))
    return path, tuple(parts)


def places_error(places: FloatArray, path: GroundPath) -> npt.NDArray[np.float64]:
    """How far each place (F, 2) is from the nearest point of a path [m]; (F,)."""
    return np.array([float(np.linalg.norm(path.points - place, axis=-1).min()) for place in places])
