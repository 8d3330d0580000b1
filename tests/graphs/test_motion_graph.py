"""Motion graphs: blends, thresholds, known graphs pruned, warnings, bad input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gaitway.core import planar, rotations
from gaitway.core.errors import GraphError
from gaitway.graphs.corpus import LabelSpan, build_corpus
from gaitway.graphs.kovar.building import assemble_graph, build_graph, pruned
from gaitway.graphs.kovar.pruning import Arcs, census, distances_from, largest_component, lasting_edges, returning_edges
from gaitway.graphs.kovar.transitions import (
    Transitions,
    TransitionThresholds,
    blend_weights,
    blended,
    find_transitions,
    tempos,
    thinned,
    transition_limits,
)
from gaitway.graphs.kovar.walks import Walk, random_walk, walk_clip
from gaitway.graphs.minima import Minima
from gaitway.motion.editing import move
from gaitway.motion.skeleton import ContactPoint
from toy_motions import TOY, slide, toy_corpus


def arcs(nodes: int, *edges: tuple[int, int], frames: int = 1) -> Arcs:
    tail, head = np.array(edges).T
    return Arcs(nodes, tail, head, np.full(len(edges), frames))


# the paper's figure 4: largest part 1, 2, 3, 6, 7, 8; node 4 is a sink, 5 a dead end
FIGURE_4 = arcs(9, (1, 2), (2, 3), (3, 6), (6, 7), (7, 8), (8, 1), (3, 4), (4, 4), (6, 5))


def test_the_papers_graph() -> None:
    inside = largest_component(FIGURE_4)
    assert {(int(a), int(b)) for a, b in zip(FIGURE_4.tail[inside], FIGURE_4.head[inside], strict=True)} == {
        (1, 2), (2, 3), (3, 6), (6, 7), (7, 8), (8, 1),
    }  # fmt: skip
    assert census(FIGURE_4).dead_ends == 1
    assert census(FIGURE_4).sinks == 1


def test_the_largest_part_has_the_most_frames() -> None:
    graph = Arcs(5, np.array([0, 1, 2, 3, 4]), np.array([1, 0, 3, 4, 2]), np.array([50, 50, 1, 1, 1]))
    assert largest_component(graph).tolist() == [True, True, False, False, False]
    assert not largest_component(arcs(3, (0, 1), (1, 2))).any()


def test_distances_take_the_shorter_of_two_edges() -> None:
    graph = Arcs(3, np.array([0, 0, 1]), np.array([1, 1, 2]), np.array([9, 4, 5]))
    start = np.array([True, False, False])
    assert distances_from(graph, start).tolist() == [0.0, 4.0, 9.0]
    assert np.isinf(distances_from(graph, np.zeros(3, dtype=bool))).all()


def test_labels_keep_their_own_parts_and_what_joins_them() -> None:
    # walk 0-1-0, sneak 3-4-3; 1 to 3 by a walk's end (2) and a blend; back by a blend; 5 leads nowhere
    edges = arcs(6, (0, 1), (1, 0), (1, 2), (2, 3), (3, 4), (4, 3), (4, 0), (1, 5))
    sets = np.array([0, 0, 0, -1, 1, 1, -1, 0])
    keep, parts = lasting_edges(edges, sets, 2, [])
    assert keep.tolist() == [True] * 7 + [False]
    assert np.flatnonzero(parts[0]).tolist() == [0, 1]
    strict, _ = lasting_edges(edges, sets, 2, [], passages=False)
    assert strict.tolist() == [True, True, False, False, True, True, True, False]
    jump = np.array([0, 0, 2, 2, 1, 1, -1, 0])
    kept, parts = lasting_edges(edges, jump, 3, [2], passages=False)
    assert kept.tolist() == [True] * 7 + [False]
    assert np.flatnonzero(parts[2]).tolist() == [1, 2, 3]


def test_around_needs_a_way_there_and_back() -> None:
    core = np.array([True, False, False, False])
    assert returning_edges(arcs(4, (0, 1), (1, 0), (0, 2), (3, 0)), core).tolist() == [True, True, False, False]


def test_blend_weights_are_the_papers() -> None:
    weights = blend_weights(9)
    p = np.arange(9)
    assert np.allclose(weights, 2 * ((p + 1) / 9) ** 3 - 3 * ((p + 1) / 9) ** 2 + 1)
    assert weights[-1] == 0.0
    assert (np.diff(weights) < 0.0).all()
    fine = np.concatenate([[1.0, 1.0], blend_weights(1000), [0.0, 0.0]])
    assert np.abs(np.diff(fine, n=2)).max() < 1e-5  # C1: no jump in slope


def test_a_blend_begins_as_one_motion_and_ends_as_the_other() -> None:
    motions = toy_corpus()
    found = find_transitions(motions, np.full((1, 1), 0.2))
    blend = blended(motions, found)
    share = blend_weights(found.window)
    last = found.enter + found.window - 1
    for k in (0, len(found) // 2, len(found) - 1):
        arrived = move(motions.clips[motions.clip_of[last[k]]], found.moves[k])
        local = last[k] - motions.starts[motions.clip_of[last[k]]]
        assert np.allclose(blend.roots[k, -1], arrived.root_positions[local])
        gap = np.linalg.norm(blend.roots[k, 0] - motions.roots[found.leave[k]])
        assert gap <= (1.0 - share[0]) * 0.6 + 1e-9
    assert np.allclose(np.linalg.norm(blend.rotations, axis=-1), 1.0)


def test_constraints_change_in_the_middle_of_a_blend() -> None:
    footed = replace(TOY, contact_points=(ContactPoint("foot", 0, (0.0, 0.0, -1.0)),))
    flags = np.ones((40, 1), dtype=bool)
    clips = [
        replace(slide("a"), skeleton=footed, contacts=flags),
        replace(slide("b"), skeleton=footed, contacts=~flags),
    ]
    motions = build_corpus(clips, half_window_s=1.0 / 30.0)
    found = Transitions(np.array([10]), np.array([60]), np.zeros((1, 3)), np.zeros(1), 9)
    assert blended(motions, found).contacts[0, :, 0].tolist() == [True] * 4 + [False] * 5


def test_thresholds_follow_tempo_and_pairs() -> None:
    slow, fast = slide("slow", wave=0.1, label="slow"), slide("fast", wave=0.9, label="fast")
    motions = build_corpus([slow, fast], half_window_s=1.0 / 30.0)
    own = tempos(motions)
    assert own[1] > own[0] >= 0.035
    table = transition_limits(motions, TransitionThresholds())
    assert table[0, 1] == pytest.approx(0.5 * (own[0] + own[1]))
    assert np.array_equal(transition_limits(motions, TransitionThresholds(0.1)), np.full((2, 2), 0.1))
    paired = transition_limits(motions, TransitionThresholds(0.1, {("slow", "fast"): 0.3}, 2.0))
    assert paired.tolist() == [[0.2, 0.6], [0.2, 0.2]]
    with pytest.raises(GraphError, match="above 0"):
        TransitionThresholds(-0.1)
    with pytest.raises(GraphError, match="no frame is labelled 'hop'; there are fast, slow"):
        transition_limits(motions, TransitionThresholds(0.1, {("slow", "hop"): 0.3}))


def test_thinning_keeps_the_best_of_neighbours() -> None:
    found = Minima(np.array([0, 1, 5, 5]), np.array([0, 1, 5, 20]), np.array([0.2, 0.1, 0.3, 0.3]))
    left = thinned(found, 3)
    assert (left.rows.tolist(), left.columns.tolist()) == ([1, 5, 5], [1, 5, 20])
    assert thinned(found, 1) is found


def test_every_edge_of_a_pruned_graph_goes_on() -> None:
    graph = build_graph(toy_corpus(), TransitionThresholds(0.12))
    assert len(graph.edges) > 10
    assert set(graph.edges.head.tolist()) <= set(graph.edges.tail.tolist())
    assert largest_component(graph.arcs).all()
    assert graph.pruning is not None
    assert graph.pruning.census.dead_ends > 0
    whole = build_graph(toy_corpus(), TransitionThresholds(0.12), prune=False)
    assert len(whole.edges) > len(graph.edges)
    originals = whole.edges.transition < 0
    assert whole.edges.frames[originals].sum() == len(whole.corpus)


def test_edges_join_without_a_gap() -> None:
    graph = build_graph(toy_corpus(), TransitionThresholds(0.12))
    walk = random_walk(graph, 6.0, np.random.default_rng(0))
    clip = walk_clip(walk)
    assert len(clip) == len(walk) >= 180
    steps = np.linalg.norm(np.diff(clip.root_positions, axis=0), axis=1)
    assert steps.max() < 0.06  # a frame of 1 m/s is 3.3 cm, and a blend adds little
    assert np.abs(walk.places - clip.root_positions[:, :2]).max() < 0.05
    there = replace(walk, start=planar.compose((3.0, 4.0, 1.0), walk.start))
    assert np.allclose(walk_clip(there).root_positions, move(clip, (3.0, 4.0, 1.0)).root_positions)
    assert walk.duration == pytest.approx((len(walk) - 1) / 30.0)


def test_labels_are_carried_into_transitions() -> None:
    graph = build_graph(toy_corpus("walk", "turn", "turn"), TransitionThresholds(0.12))
    edges = graph.edges
    walk, turn = graph.corpus.labels.index("walk"), graph.corpus.labels.index("turn")
    changes = edges.transition >= 0
    mixed = changes & edges.labels[:, walk] & edges.labels[:, turn]
    assert mixed.any()
    assert (edges.label_set[mixed] == -1).all()
    assert (edges.labels[~changes].sum(axis=1) == 1).all()


def test_spans_divide_clips_at_nodes() -> None:
    spans = [LabelSpan("a", 10, 20, frozenset({"hop"}))]
    motions = build_corpus([slide("a", label="go")], spans=spans, half_window_s=1.0 / 30.0)
    assert motions.sets == (frozenset({"go"}), frozenset({"hop"}))
    none = Transitions(np.empty(0), np.empty(0), np.empty((0, 3)), np.empty(0), 3)
    graph = assemble_graph(motions, none)
    assert graph.node_frames.tolist() == [0, 10, 20, 40]
    assert graph.edges.label_set.tolist() == [0, 1, 0]


def test_warnings_say_what_is_cut_off() -> None:
    a, b = slide("a", 60, wave=0.3, label="go"), slide("b", 60, wave=1.4, speed=3.0, label="rush")
    motions = build_corpus([a, b], half_window_s=1.0 / 30.0)
    graph = build_graph(motions, TransitionThresholds(0.01, {("go", "rush"): 1e-6, ("rush", "go"): 1e-6}))
    assert graph.pruning is not None
    assert any("no motion leads from 'go' to 'rush'" in words for words in graph.pruning.warnings)
    assert any("can continue for ever" in words for words in graph.pruning.warnings)


def test_bad_input() -> None:
    drawn = rotations.normalize(np.random.default_rng(0).normal(size=(40, 3, 4)))
    random_poses = replace(slide("random"), rotations=drawn)
    with pytest.raises(GraphError, match="no clips"):
        build_corpus([])
    other = replace(TOY, names=("root", "leg", "tip"), name="other")
    with pytest.raises(GraphError, match="'a' and 'b' are of different skeletons"):
        build_corpus([slide("a"), replace(slide("b"), skeleton=other)])
    with pytest.raises(GraphError, match="run at 30 and 25 Hz"):
        build_corpus([slide("a"), replace(slide("b"), fps=25.0)])
    with pytest.raises(GraphError, match="clip 'b' has 5 frames, fewer than a window of 9"):
        build_corpus([slide("a"), slide("b", 5)])
    with pytest.raises(GraphError, match="a clip 'c', which is not there"):
        build_corpus([slide("a")], spans=[LabelSpan("c", 0, 1, frozenset({"x"}))])
    with pytest.raises(GraphError, match="frames 30 to 50 of clip 'a', which has 40"):
        build_corpus([slide("a")], spans=[LabelSpan("a", 30, 50, frozenset({"x"}))])
    with pytest.raises(GraphError, match=r"within 0\.0 cm of one another; raise the threshold"):
        build_graph(build_corpus([random_poses]), TransitionThresholds(1e-9))
    lonely = build_corpus([slide("a", 12)], half_window_s=1.0 / 30.0)
    none = Transitions(np.empty(0), np.empty(0), np.empty((0, 3)), np.empty(0), 3)
    with pytest.raises(GraphError, match="no motion can continue for ever"):
        pruned(assemble_graph(lonely, none))
    graph = build_graph(toy_corpus(), TransitionThresholds(0.12))
    with pytest.raises(GraphError, match="at least one"):
        Walk(graph, np.empty(0), np.zeros(3))
    with pytest.raises(GraphError, match="does not begin where"):
        Walk(graph, np.array([0, 0]), np.zeros(3))
    with pytest.raises(GraphError, match="dead end"):
        random_walk(assemble_graph(lonely, none), 9.0, np.random.default_rng(0))
