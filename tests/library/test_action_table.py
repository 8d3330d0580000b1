"""What the planner is told about clips, against the clips themselves and hand-made libraries."""

from dataclasses import replace

import numpy as np
import pytest

from figures import standing, walking
from gaitway.cast.catalog import load_cast
from gaitway.core import planar
from gaitway.core.errors import LibraryError
from gaitway.library.actions import action_table, path_length, planning_problems, stays
from gaitway.library.behavior import Behavior, BehaviorGraph, Library
from gaitway.motion.clip import Clip


def sliding(name, path, fps=30.0):
    """A standing person moved along planar poses (F, 3), for moves that are known exactly."""
    base = standing(len(path), fps)
    half = 0.5 * np.asarray(path)[:, 2]
    turns = np.stack([np.cos(half), 0.0 * half, 0.0 * half, np.sin(half)], axis=-1)
    roots = np.column_stack([np.asarray(path)[:, :2], base.root_positions[:, 2]])
    rotations = base.rotations.copy()
    rotations[:, 0] = turns
    return Clip(base.skeleton, roots, rotations, fps, name)


def ahead(name, length, frames=31, fps=30.0, start=(0.0, 0.0, 0.0)):
    path = np.column_stack([np.linspace(0.0, length, frames), np.zeros((frames, 2))])
    return sliding(name, planar.compose(start, path), fps)


def library(*behaviors, forbidden=(), name="small"):
    """From tuples (Behavior, clips...)."""
    clips = {clip.name: clip for _, *clips in behaviors for clip in clips}
    graph = BehaviorGraph(tuple(b for b, *_ in behaviors), frozenset(forbidden))
    return Library(name, next(iter(clips.values())).skeleton if clips else standing(2).skeleton, clips, graph)


@pytest.fixture(scope="module")
def small():
    turn = np.column_stack([np.zeros((31, 2)), np.linspace(0.0, 1.5 * np.pi, 31)])
    return library(
        (Behavior("stand", ("stand",), "still", "still"), ahead("stand", 0.0)),
        (Behavior("start", ("start",), "still", "moving"), ahead("start", 0.5)),
        (
            Behavior("go", ("go", "go_far"), "moving", "moving"),
            ahead("go", 1.0, start=(3.0, -2.0, 2.0)),
            ahead("go_far", 3.0, 61),
        ),
        (Behavior("hop", ("hop",), "moving", "moving", "jump", 0.4), ahead("hop", 2.0, 25, 24.0)),
        (Behavior("stop", ("stop",), "moving", "still"), ahead("stop", 0.5)),
        (Behavior("spin", ("spin",), "still", "still"), sliding("spin", turn)),
        forbidden=[("hop", "hop")],
    )


@pytest.fixture(scope="module")
def table(small):
    return action_table(small, spacing=0.2)


def test_one_action_a_clip_in_the_order_of_the_graph(small, table):
    assert table.clips == ("stand", "start", "go", "go_far", "hop", "stop", "spin")
    assert [table.behaviors[b] for b in table.behavior] == ["stand", "start", "go", "go", "hop", "stop", "spin"]
    assert table.states == ("still", "moving")
    assert [table.states[s] for s in table.start_state] == ["still"] * 2 + ["moving"] * 4 + ["still"]
    assert [table.states[s] for s in table.end_state] == ["still"] + ["moving"] * 4 + ["still"] * 2
    assert len(table) == 7
    again = action_table(small, spacing=0.2)
    assert all(np.array_equal(getattr(table, k), getattr(again, k)) for k in ("costs", "samples", "followers", "moves"))


def test_moves_are_seen_from_the_first_frame_and_count_whole_turns(table):
    np.testing.assert_allclose(table.moves[2], [1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(table.moves[6], [0.0, 0.0, 1.5 * np.pi], atol=1e-9)
    assert table.frames.tolist() == [30, 30, 30, 60, 24, 30, 30]
    np.testing.assert_allclose(table.durations, [1, 1, 1, 2, 1, 1, 1])


def test_clips_of_a_behaviour_cost_the_mean_of_their_paths(small, table):
    np.testing.assert_allclose(table.costs, [0.0, 0.5, 2.0, 2.0, 2.0, 0.5, 0.0], atol=1e-12)
    weighted = action_table(small, weights={"go": 0.5, "spin": 7.0, "stop": 0.0})
    np.testing.assert_allclose(weighted.costs, [0.0, 0.5, 1.0, 1.0, 2.0, 0.0, 0.0], atol=1e-12)


def test_paths_are_measured_along_their_bends():
    bend = sliding("bend", [[0, 0, 0], [3, 0, 0], [3, 4, 0], [0, 4, 0]])
    assert path_length(bend) == pytest.approx(10.0)


def test_followers_are_those_of_the_graph(small, table):
    for b, name in enumerate(table.behaviors):
        allowed = table.followers[table.follower_starts[b] : table.follower_starts[b + 1]]
        expected = [c for other in small.graph.followers(name) for c in small.graph[other].clips]
        assert [table.clips[a] for a in allowed] == expected
    assert "hop" not in [table.clips[a] for a in table.followers[table.follower_starts[3] : table.follower_starts[4]]]


@pytest.mark.parametrize("spacing", [0.03, 0.1, 0.45])
def test_samples_are_poses_of_the_clip_no_farther_apart_than_asked(small, spacing):
    table = action_table(small, spacing=spacing)
    for a, name in enumerate(table.clips):
        part = slice(table.sample_starts[a], table.sample_starts[a + 1])
        samples, times, clip = table.samples[part], table.sample_times[part], small.clips[name]
        frames = np.round(times * clip.fps).astype(int)
        path = clip.planar_path()
        seen = planar.relative(path[0], path[frames])
        np.testing.assert_allclose(samples[:, :2], seen[:, :2], atol=1e-12)
        np.testing.assert_allclose(planar.wrap_angle(samples[:, 2] - seen[:, 2]), 0.0, atol=1e-9)
        assert frames[0] == 0 and frames[-1] == len(clip) - 1 and (np.diff(frames) > 0).all()
        step = path_length(clip) / (len(clip) - 1)
        assert np.linalg.norm(np.diff(samples[:, :2], axis=0), axis=1).max() <= max(spacing, step) + 1e-9
        np.testing.assert_array_equal(samples[-1], table.moves[a])


def test_special_behaviours_have_a_kind_and_a_sample_where_they_pass(small, table):
    assert table.kinds == ("jump",)
    assert table.kind.tolist() == [-1, -1, -1, -1, 0, -1, -1]
    assert table.pass_times[4] == 0.4 and np.isnan(np.delete(table.pass_times, 4)).all()
    wide = action_table(small, spacing=50.0)
    times = wide.sample_times[wide.sample_starts[4] : wide.sample_starts[5]]
    np.testing.assert_allclose(times, [0.0, 10 / 24, 1.0])  # frame 10 is the nearest to 0.4 s
    hop = small.graph["hop"]
    unmarked = library((replace(hop, pass_time=None), small.clips["hop"]))
    assert action_table(unmarked).pass_times[0] == 0.5
    np.testing.assert_allclose(action_table(unmarked, spacing=50.0).sample_times, [0.0, 0.5, 1.0])


def test_rest_is_where_something_stays(table):
    assert table.idle.tolist() == [True] + [False] * 6  # to spin on the spot is not to stay
    assert table.quiet.tolist() == table.idle.tolist()
    assert table.rest.tolist() == [True, False]
    assert table.state("moving") == 1 and table.index("hop") == 3


def test_who_ends_in_another_state_does_not_stay():
    """However still it is meanwhile: to sit down is not to wait."""
    sits = library(
        (Behavior("stand", ("stand",), "up", "up"), ahead("stand", 0.0)),
        (Behavior("sit_down", ("sit_down",), "up", "down"), ahead("sit_down", 0.0)),
    )
    table = action_table(sits)
    assert table.idle.tolist() == [True, False]
    assert table.rest.tolist() == [True, False]


def test_what_stays_neither_strays_nor_turns():
    out = np.concatenate([np.linspace(0.0, 1.0, 16), np.linspace(1.0, 0.0, 16)])
    assert not stays(sliding("out_and_back", np.column_stack([out, 0.0 * out, 0.0 * out])))
    assert stays(sliding("sway", np.column_stack([0.1 * out, 0.0 * out, 0.0 * out])))
    assert not stays(sliding("turn", np.column_stack([0.0 * out, 0.0 * out, np.linspace(0.0, 0.3, 32)])))
    assert not stays(walking(1.0))


def test_gestures_are_idle_but_not_quiet():
    person = load_cast("person", behaviors=["wait", "wave"])
    table = action_table(person)
    assert table.idle.tolist() == [True, True]
    assert dict(zip(table.clips, table.quiet.tolist(), strict=True)) == {"wait": True, "wave": False}
    alone = action_table(load_cast("person", behaviors=["wave"]))
    assert alone.quiet.tolist() == [True]  # better than nothing to stand with


@pytest.mark.parametrize("cast", ["horse", "skateboarder"])
def test_the_cast_can_be_planned_with(cast):
    assert planning_problems(load_cast(cast)) == []


def test_a_library_without_behaviours_is_refused():
    empty = library(name="nothing")
    with pytest.raises(LibraryError, match="library 'nothing' has no behaviours to plan with"):
        action_table(empty)
    assert planning_problems(empty) == ["library 'nothing' has no behaviours to plan with; give it a graph of them"]


def test_behaviours_without_clips_or_time_are_refused(small):
    bare = Library("bare", small.skeleton, {}, BehaviorGraph((Behavior("go", (), "a", "a"),)))
    with pytest.raises(LibraryError, match="behaviour 'go' of library 'bare' has no clip"):
        action_table(bare)
    pose = library((Behavior("pose", ("pose",), "a", "a"), ahead("pose", 0.0, 1)))
    with pytest.raises(LibraryError, match="clip 'pose' of behaviour 'pose' is a single pose"):
        action_table(pose)


def test_a_graph_that_cannot_stop_is_named(small):
    def of(*names):
        return library(*((small.graph[n], *(small.clips[c] for c in small.graph[n].clips)) for n in names))

    assert planning_problems(small) == []
    (problem,) = planning_problems(of("go"))
    assert problem.startswith("library 'small' cannot stop: no behaviour stays where it is")
    assert "cannot stop from state 'moving': nothing leads to still" in planning_problems(of("stand", "start", "go"))
    assert "library 'small' cannot go anywhere: all its behaviours stay where they are" in planning_problems(
        of("stand")
    )
    assert any("dead end" in line for line in planning_problems(of("stand", "start")))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": {"gallop": 1.0}}, "weight for behaviour 'gallop', which library 'small' does not have"),
        ({"weights": {"go": -1.0}}, "weight -1.0 of behaviour 'go' must be 0 or more"),
        ({"weights": {"go": float("nan")}}, "weight nan of behaviour 'go'"),
        ({"spacing": 0.0}, "spacing 0.0 must be a length above 0"),
        ({"spacing": float("nan")}, "spacing nan"),
    ],
)
def test_wrong_options_are_named(small, arguments, message):
    with pytest.raises(LibraryError, match=message):
        action_table(small, **arguments)


def test_unknown_names_are_listed(table):
    with pytest.raises(LibraryError, match="no behaviour 'fly'; there are stand, start"):
        table.index("fly")
    with pytest.raises(LibraryError, match="no state 'air'; there are still, moving"):
        table.state("air")


def test_arrays_are_read_only(table):
    for array in (table.moves, table.costs, table.pass_times, table.rest, table.samples, table.followers):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_only_what_ends_where_it_began_is_a_wait():
    assert stays(ahead("sway", 0.0015))  # planners take it for nothing, and nobody sees it
    assert not stays(ahead("creep", 0.01))
