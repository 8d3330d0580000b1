"""Extraction: kernels and the general search against every walk there is, paths, changes of manner, steering."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from gaitway.core import planar
from gaitway.core.errors import GraphError
from gaitway.graphs.corpus import build_corpus
from gaitway.graphs.kovar import _extraction_kernels as kernels
from gaitway.graphs.kovar import _steering_kernels as steering_kernels
from gaitway.graphs.kovar.building import build_graph
from gaitway.graphs.kovar.extraction import GraphSearch, best_walks, extract
from gaitway.graphs.kovar.following import PathFollower, PathKeyframe, follow_path, keyframed
from gaitway.graphs.kovar.motion_graph import MotionGraph
from gaitway.graphs.kovar.path_task import PathPart, beginning_move, edge_costs, path_task
from gaitway.graphs.kovar.paths import GroundPath, polyline, sketched, spline
from gaitway.graphs.kovar.steering import SteeredCharacter, steering_table
from gaitway.graphs.kovar.transitions import TransitionThresholds
from gaitway.graphs.kovar.walks import walk_clip
from toy_motions import slide, toy_corpus

GRAPH = build_graph(toy_corpus(), TransitionThresholds(0.12), spacing_s=0.3)
BEND = spline([(0.0, 0.0), (1.0, 0.1), (1.7, 0.8), (2.6, 1.0)])


@dataclass(frozen=True)
class PathState:
    node: int
    move: tuple[float, ...]
    last: tuple[float, ...]
    along: float
    frames: int


class PathObjective:
    """Following a path, frame by frame in plain Python: the twin of `_extraction_kernels.advance`."""

    def __init__(self, graph: MotionGraph, path: GroundPath, move: np.ndarray, horizon: int) -> None:
        self.graph, self.path, self.horizon = graph, path, horizon
        task = path_task(graph, path, (PathPart(),), 0.6)
        self.first = PathState(0, tuple(move), tuple(path.points[0]), 0.0, 0)
        self.least, self.give, self.inside = float(task.measures[2]), float(task.measures[3]), task.inside[0]
        self.costs, (self.starts, self.track) = edge_costs(graph), graph.tracks

    def start(self, node: int) -> PathState:
        return self.first

    def append(self, state: PathState, edge: int) -> tuple[float, PathState]:
        error, last, along, frames = float(self.costs[edge]), np.array(state.last), state.along, state.frames
        for place in planar.transform_points(state.move, self.track[self.starts[edge] : self.starts[edge + 1]]):
            gone = float(np.linalg.norm(place - last))
            choices = [along + max((1.0 + k * self.give) * gone, self.least) for k in (-1, 0, 1)]
            away = [float(np.sum((place - self.path.at(there)) ** 2)) for there in choices]
            error, along = error + min(away), choices[int(np.argmin(away))]
            last, frames = place, frames + 1
            if frames >= self.horizon or along >= self.path.length:
                break
        move = tuple(planar.compose(state.move, self.graph.moves[edge]))
        return error, PathState(int(self.graph.edges.head[edge]), move, tuple(last), along, frames)

    def allowed(self, state: PathState, edge: int) -> bool:
        return bool(self.inside[edge])

    def complete(self, state: PathState) -> bool:
        return state.along >= self.path.length or state.frames >= self.horizon


def every_walk(graph: MotionGraph, objective: PathObjective, node: int) -> list[tuple[float, tuple[int, ...]]]:
    """All walks up to the horizon, by brute force."""
    out, todo = [], [(0.0, (), objective.first, node)]
    while todo:
        error, edges, state, here = todo.pop()
        for edge in graph.out_edges(here).tolist():
            if objective.allowed(state, edge):
                added, after = objective.append(state, edge)
                longer = (error + added, (*edges, edge), after, int(graph.edges.head[edge]))
                if objective.complete(after):
                    out.append(longer[:2])
                else:
                    todo.append(longer)
    return sorted(out)


def searched(node: int, move: np.ndarray, horizon: int, best: int, budget: int = 10**6) -> kernels.BestWalks:
    follower = PathFollower(GRAPH, GraphSearch(horizon_s=horizon / 30.0, keep_s=0.1))
    task = path_task(GRAPH, BEND, (PathPart(),), 0.6)
    state = np.zeros(kernels.STATE)
    state[:3], state[3:5] = move, BEND.points[0]
    found = follower._empty_best(best)
    kernels.branch_and_bound(follower.arrays, task, node, state, horizon, -1.0, budget, follower._branches, found)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("node", [0, 7])
def test_branch_and_bound_finds_the_best_of_all_walks(node: int) -> None:
    horizon = 18
    move = beginning_move(GRAPH, node, BEND)
    objective = PathObjective(GRAPH, BEND, move, horizon)
    walks = every_walk(GRAPH, objective, node)
    assert len(walks) >= 20
    found = searched(node, move, horizon, 3)
    assert np.allclose(found.errors, [error for error, _ in walks[:3]], rtol=1e-9)
    best = {edges for error, edges in walks if error <= walks[0][0] * (1.0 + 1e-9)}  # equal but for rounding
    assert tuple(found.walks[0, : found.lengths[0]].tolist()) in best
    general = best_walks(GRAPH, objective, node, objective.first, horizon=horizon, best=3)
    assert [walk.error for walk in general] == pytest.approx([error for error, _ in walks[:3]], rel=1e-9)
    assert general[0].edges in best


def test_kernels_are_their_python_twins() -> None:
    move = beginning_move(GRAPH, 3, BEND)
    objective = PathObjective(GRAPH, BEND, move, 25)
    follower = PathFollower(GRAPH)
    task = path_task(GRAPH, BEND, (PathPart(),), 0.6)
    state, out = np.zeros(kernels.STATE), np.zeros(kernels.STATE)
    state[:3], state[3:5] = move, BEND.points[0]
    twin, total, here, rng = objective.first, 0.0, 3, np.random.default_rng(1)
    for _ in range(4):
        edge = int(rng.choice(GRAPH.out_edges(here)))
        kernels.advance(follower.arrays, task, state, edge, 0, 25, out)
        added, twin = objective.append(twin, edge)
        total, here = total + added, twin.node
        state = out.copy()
    assert state[kernels.ERROR] == pytest.approx(total, rel=1e-9)
    assert state[kernels.ALONG] == pytest.approx(twin.along, rel=1e-9)
    assert np.allclose(planar.relative(twin.move, state[:3]), 0.0, atol=1e-9)
    assert int(state[kernels.FRAMES]) == twin.frames


@pytest.mark.slow
def test_a_beam_is_never_better_than_the_best() -> None:
    node, horizon = 7, 10
    move = beginning_move(GRAPH, node, BEND)
    best = searched(node, move, horizon, 1).errors[0]
    follower = PathFollower(GRAPH, GraphSearch(horizon_s=horizon / 30.0, keep_s=0.1, beam=40))
    task = path_task(GRAPH, BEND, (PathPart(),), 0.6)
    state, walk = np.zeros(kernels.STATE), np.empty(50, dtype=np.int64)
    state[:3], state[3:5] = move, BEND.points[0]
    count, wide = kernels.beam(follower.arrays, task, node, state, horizon, 40, follower._beam, walk)
    assert count > 0
    assert wide >= best - 1e-12
    _, narrow = kernels.beam(follower.arrays, task, node, state, horizon, 1, follower._beam, walk)
    assert narrow >= best - 1e-12


def test_the_general_search_completes_walks() -> None:
    move = beginning_move(GRAPH, 7, BEND)
    objective = PathObjective(GRAPH, BEND, move, 10**6)
    edges = extract(GRAPH, objective, 7, GraphSearch(horizon_s=0.3, keep_s=0.2, budget=500))
    heads, tails = GRAPH.edges.head[list(edges[:-1])], GRAPH.edges.tail[list(edges[1:])]
    assert np.array_equal(heads, tails)
    drawn = extract(
        GRAPH, objective, 7, GraphSearch(0.3, 0.2, 500, best=4, tolerance=5.0), rng=np.random.default_rng(0)
    )
    assert drawn != edges


def test_walks_follow_paths() -> None:
    followed = follow_path(GRAPH, BEND)
    assert followed.error < 0.1
    away = np.linalg.norm(followed.walk.places[:, None] - BEND.points, axis=-1).min(axis=1)
    assert away.max() < 0.3
    assert np.linalg.norm(followed.walk.places[-1] - BEND.points[-1]) < 0.4
    assert np.array_equal(followed.walk.edges, follow_path(GRAPH, BEND).walk.edges)
    clip = walk_clip(followed.walk)
    assert clip.duration == pytest.approx(followed.walk.duration)


def test_drawing_among_the_best_gives_others() -> None:
    search = GraphSearch(best=5, tolerance=3.0, budget=2000)
    walks = {
        tuple(follow_path(GRAPH, BEND, search=search, start=7, rng=np.random.default_rng(seed)).walk.edges.tolist())
        for seed in range(4)
    }
    assert len(walks) > 1


def test_manners_change_where_asked() -> None:
    graph = build_graph(toy_corpus("walk", "turn", "turn"), TransitionThresholds(0.12))
    path = polyline([(0.0, 0.0), (8.0, 0.0)])
    followed = follow_path(graph, path, [PathPart(("walk",), 3.0), PathPart(("turn",), 6.0), PathPart(("walk",))])
    ((asked, made), (asked_back, made_back)) = followed.changes
    assert (asked, asked_back) == (3.0, 6.0)
    assert abs(made - asked) < 1.2
    assert abs(made_back - asked_back) < 1.2
    words = followed.walk.labels()
    assert all("walk" in labels for labels, part in zip(words, followed.part_of, strict=True) if part == 0)
    assert sum("turn" in labels for labels in words) > 3


def test_keys_make_paths_and_parts() -> None:
    path, parts = keyframed(
        [PathKeyframe(0, 0, ("a",)), PathKeyframe(2, 0, ("a",)), PathKeyframe(4, 1, ("b",)), PathKeyframe(6, 1)]
    )
    assert [part.labels for part in parts] == [("a",), ("b",)]
    assert np.allclose(path.at(parts[0].until), (4.0, 1.0), atol=0.02)
    assert parts[1].until == np.inf


def test_paths() -> None:
    line = polyline([(0.0, 0.0), (3.0, 0.0), (3.0, 4.0)])
    assert line.length == pytest.approx(7.0)
    assert np.allclose(line.at([0.0, 3.0, 5.0, 99.0]), [(0, 0), (3, 0), (3, 2), (3, 4)], atol=1e-6)
    through = np.array([(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)])
    curve = spline(through)
    assert max(np.linalg.norm(curve.points - p, axis=1).min() for p in through) < 0.02
    ring = spline([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)], closed=True)
    assert ring.length == pytest.approx(2.0 * np.pi, rel=0.05)
    assert np.allclose(ring.points[0], ring.points[-1])
    rng = np.random.default_rng(0)
    drawn = np.column_stack([np.linspace(0.0, 3.0, 100), rng.normal(0.0, 0.02, 100)])
    smooth = sketched(drawn)
    assert smooth.length < 0.8 * polyline(drawn).length
    assert np.allclose(smooth.points[[0, -1]], drawn[[0, -1]], atol=1e-6)


def test_a_character_is_steered() -> None:
    table = steering_table(GRAPH)
    walker = SteeredCharacter(table, (1.0, 2.0, 0.5))
    frames = [walker.step(0.5) for _ in range(20)]
    assert np.linalg.norm(frames[0].place - (1.0, 2.0)) < 0.1
    for wanted in (0.5, 2.0, -2.0):
        for _ in range(110):
            frames.append(walker.step(wanted))
        way = frames[-1].place - frames[-25].place
        off = (np.arctan2(way[1], way[0]) - wanted + np.pi) % (2.0 * np.pi) - np.pi
        assert abs(off) < 0.45
    clip = walk_clip(walker.walk(), clean=False)
    assert np.allclose([frame.root for frame in frames], clip.root_positions[: len(frames)])


def test_steering_costs_against_numpy() -> None:
    starts, track = GRAPH.tracks
    before = np.zeros((len(GRAPH.edges), 2))
    out = np.empty((len(GRAPH.edges), 8), dtype=np.float32)
    steering_kernels.edge_costs(starts, track, before, 0.01, out)
    for edge in (0, len(GRAPH.edges) - 1):
        steps = np.diff(np.concatenate([before[edge : edge + 1], track[starts[edge] : starts[edge + 1]]]), axis=0)
        long = np.maximum(np.linalg.norm(steps, axis=1), 0.01)[:, None]
        for k in range(8):
            unit = np.array([np.cos(k * np.pi / 4), np.sin(k * np.pi / 4)])
            assert out[edge, k] == pytest.approx(np.sum((steps - long * unit) ** 2), rel=1e-4, abs=1e-6)


def test_bad_input() -> None:
    with pytest.raises(GraphError, match="at least two different points"):
        polyline([(1.0, 1.0), (1.0, 1.0)])
    with pytest.raises(GraphError, match="no frame is labelled 'fly'"):
        follow_path(GRAPH, BEND, "fly")
    with pytest.raises(GraphError, match="no node 99999"):
        follow_path(GRAPH, BEND, start=99999)
    with pytest.raises(GraphError, match="one after another"):
        follow_path(GRAPH, BEND, [PathPart((), 3.0), PathPart((), 1.0), PathPart(())])
    with pytest.raises(GraphError, match="each but the last"):
        follow_path(GRAPH, BEND, [PathPart(), PathPart()])
    with pytest.raises(GraphError, match="0 < keep_s <= horizon_s"):
        GraphSearch(horizon_s=1.0, keep_s=2.0)
    with pytest.raises(GraphError, match="at least two keys"):
        keyframed([PathKeyframe(0, 0)])
    with pytest.raises(GraphError, match="4 or more"):
        steering_table(GRAPH, directions=2)
    with pytest.raises(GraphError, match="node -5 has no edge for every direction"):
        SteeredCharacter(steering_table(GRAPH), node=-5)


def test_parts_without_motion_between_them() -> None:
    clips = [slide("a", 60, wave=0.3, label="go"), slide("b", 60, wave=1.4, speed=3.0, label="rush")]
    motions = build_corpus(clips, half_window_s=1.0 / 30.0)
    graph = build_graph(motions, TransitionThresholds(0.02, {("go", "rush"): 1e-6, ("rush", "go"): 1e-6}))
    with pytest.raises(GraphError, match="no motion leads from 'go' to 'rush'"):
        follow_path(graph, BEND, [PathPart(("go",), 1.0), PathPart(("rush",))])
