"""Walks along a path, with motion of given labels on each part of it (Kovar et al. 2002, section 5).

The error of a frame is the squared distance from the body to the point of the path at the arc length that the body has
covered; that arc length may differ by a share. Where a part of the path ends, motion with the labels of the next part
begins; the change may come somewhat before or after that place.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.core.errors import GraphError
from gaitway.graphs.kovar import _extraction_kernels as kernels
from gaitway.graphs.kovar.extraction import GraphSearch, draw_walk
from gaitway.graphs.kovar.motion_graph import MotionGraph
from gaitway.graphs.kovar.path_task import PathPart, beginning_move, edge_costs, node_headings, path_task, places_ahead
from gaitway.graphs.kovar.paths import GroundPath, spline
from gaitway.graphs.kovar.walks import Walk

SLACK = 0.6
"""Largest distance between the end of a part and the change of labels [m]."""
GOOD_ENOUGH = 0.01
"""Mean distance from the path below which the search of a window ends [m]."""
STARTS = 24
"""Number of nodes that are tried as the first node."""


@dataclass(frozen=True, eq=False)
class FollowedPath:
    """Walk along a path, and how the search found it."""

    walk: Walk
    path: GroundPath
    parts: tuple[PathPart, ...]
    part_of: IntArray
    """Number of the part of the path that each edge of the walk belongs to; (K,)."""
    error: float
    """Root mean square of the distances of all frames from the path [m]."""
    seconds: float
    """Duration of the search [s]."""
    looked: int
    """Number of edges that the search examined."""

    @property
    def changes(self) -> list[tuple[float, float]]:
        """For each change of parts, the arc lengths at which it was asked for and at which it happens [m]."""
        places, firsts = self.walk.places, self.walk.firsts
        gone = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=-1)))
        starts = [int(np.argmax(self.part_of >= part)) for part in range(1, len(self.parts))]
        return [(self.parts[k].until, float(gone[firsts[edge]])) for k, edge in enumerate(starts)]


class PathFollower:
    """Search of a motion graph for walks along paths; it keeps its arrays from one path to the next."""

    def __init__(self, graph: MotionGraph, search: GraphSearch = GraphSearch()) -> None:  # noqa: B008  (frozen)
        self.graph, self.search = graph, search
        fps = graph.corpus.fps
        self.horizon = max(round(search.horizon_s * fps), 1)
        self.keep = max(round(search.keep_s * fps), 1)
        out_starts, out_edges = graph.outgoing
        track_starts, track = graph.tracks
        self.arrays = kernels.GraphArrays(
            out_starts=read_only(out_starts),
            out_edges=read_only(out_edges),
            heads=read_only(graph.edges.head),
            track_starts=read_only(track_starts),
            track=read_only(track),
            moves=read_only(graph.moves),
            costs=read_only(edge_costs(graph)),
            headings=read_only(node_headings(graph)),
            ahead=read_only(places_ahead(graph)),
        )
        ways = max(int(np.diff(out_starts).max(initial=1)), 1)
        depth, width = self.horizon + 1, max(search.beam, 1)
        self._branches = kernels.BranchMemory(
            children=np.empty((depth, ways, kernels.STATE)),
            edges=np.empty((depth, ways), dtype=np.int64),
            done=np.empty((depth, ways), dtype=bool),
            counts=np.empty(depth, dtype=np.int64),
            cursors=np.empty(depth, dtype=np.int64),
        )
        rows = self.horizon * kernels.SECTORS * width
        self._beam = kernels.BeamMemory(
            states=np.empty((rows, kernels.STATE)),
            nodes=np.empty(rows, dtype=np.int64),
            parents=np.empty(rows, dtype=np.int64),
            via=np.empty(rows, dtype=np.int64),
            filled=np.empty(self.horizon * kernels.SECTORS, dtype=np.int64),
            scratch=np.empty(kernels.STATE),
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
        """Find a walk along a path.

        Args:
            path: Path to follow.
            parts: Parts in order; a string is the label of the whole path; an empty sequence allows every motion.
            start: First node; None tries some nodes and takes the best.
            slack: Largest distance between the end of a part and the change to the next part [m].
            rng: Generator that draws the first nodes to try, and one of the best walks; None takes the best walk.

        Raises:
            GraphError: If a part has no motion with its labels, or no motion leads to it from the part before.
        """
        began, self.looked = time.perf_counter(), 0
        parts = (PathPart((parts,)),) if isinstance(parts, str) else tuple(parts) or (PathPart(),)
        task = path_task(self.graph, path, parts, slack)
        node, move = self._beginning(task, path, start, rng)
        state = _first_state(move, path)
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
        """Search the best walk for one window; return its edges."""
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
                self.search.budget, self._branches, best,
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
        """Choose the first node; also return the planar move that lays its motion along the path."""
        if start is not None:
            if not 0 <= start < len(self.graph.node_frames):
                raise GraphError(f"no node {start}; the graph has {len(self.graph.node_frames)}")
            return start, beginning_move(self.graph, start, path)
        nodes = np.unique(self.graph.edges.tail[task.inside[0]])
        rng = np.random.default_rng(0) if rng is None else rng
        tried = rng.permutation(nodes)[:STARTS].tolist()
        scores: list[tuple[float, int, FloatArray]] = []
        walk = np.empty(self.horizon + 1, dtype=np.int64)
        for node in tried:
            move = beginning_move(self.graph, node, path)
            state = _first_state(move, path)
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
    """Find a walk along a path; see `PathFollower.follow`."""
    return PathFollower(graph, search).follow(path, parts, start=start, slack=slack, rng=rng)


@dataclass(frozen=True)
class PathKeyframe:
    """Place to pass, and the labels of the motion from there on."""

    x: float
    """Place along x [m]."""
    y: float
    """Place along y [m]."""
    labels: tuple[str, ...] = ()
    """Labels of the motion from here to the next key."""


def keyframed(keys: Sequence[PathKeyframe]) -> tuple[GroundPath, tuple[PathPart, ...]]:
    """Return the path through keys on the ground, and its parts.

    A key with the same labels as the key before it only bends the path.

    Raises:
        GraphError: If there are fewer than two keys.
    """
    if len(keys) < 2:
        raise GraphError("keyframing needs at least two keys; write PathKeyframe(x, y, labels)")
    path = spline([(key.x, key.y) for key in keys])
    parts: list[PathPart] = []
    for key, after in pairwise(keys):
        until = path.nearest((after.x, after.y)) if after is not keys[-1] else np.inf
        if parts and parts[-1].labels == key.labels:
            parts.pop()
        parts.append(PathPart(key.labels, until))
    return path, tuple(parts)


def _first_state(move: FloatArray, path: GroundPath) -> FloatArray:
    """Return the state of a walk without edges that begins with a planar move (3,) at the start of a path."""
    state = np.zeros(kernels.STATE)
    state[[kernels.X, kernels.Y, kernels.TURN]] = move
    state[[kernels.LAST_X, kernels.LAST_Y]] = path.points[0]
    return state
