"""Common poses, linked footplants, hub graphs and playing them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.audit.sources import turn_steps
from gaitway.core import planar, rotations
from gaitway.core.errors import ClipError, GraphError
from gaitway.graphs.corpus import build_corpus
from gaitway.graphs.snap.common_pose import HubPose, align_members, common_pose, hub_places, settled_pose, with_contacts
from gaitway.graphs.snap.hub_graph import HubGraph, snap_together
from gaitway.graphs.snap.linked import (
    FootStand,
    average_stand,
    foot_places,
    foot_stand,
    linked_classes,
    linked_contacts,
    linked_feet,
    linked_place,
    similar_poses,
    with_stand,
)
from gaitway.graphs.snap.match_sets import MatchSet, choose_match_sets
from gaitway.graphs.snap.playing import HubPlayer, play_clips, random_clips
from gaitway.library.actions import action_table
from gaitway.library.checks import check_joins
from gaitway.motion.editing import move
from gaitway.motion.quality import foot_slide
from gaitway.render.sheets.hub_picture import hub_picture
from snap_walks import stand, walk


@cache
def graph() -> HubGraph:
    motions = build_corpus([walk(), walk(1), stand()])
    return snap_together(motions, choose_match_sets(motions, 3), rounds=1)


@cache
def standing() -> HubPose:
    return common_pose([(stand(), 10), (stand(), 30)])


@cache
def walking() -> HubPose:
    return common_pose([(walk(), 12), (walk(), 45), (walk(1), 12)], base=0)


@settings(max_examples=5, deadline=None)
@given(st.tuples(st.floats(-5, 5), st.floats(-5, 5), st.floats(-3, 3)))
def test_a_common_pose_does_not_depend_on_where_its_members_lie(by):
    plain = walking()
    moved = common_pose([(walk(), 12), (move(walk(), by), 45), (walk(1), 12)], base=0)
    assert np.allclose(plain.root, moved.root, atol=1e-6)
    assert rotations.angle_between(plain.rotations, moved.rotations).max() < 1e-5
    assert np.allclose(plain.root_velocity, moved.root_velocity, atol=1e-6)


def test_a_common_pose_of_one_frame_is_that_frame():
    pose = common_pose([(walk(), 12)])
    anchor = pose.anchor(12, walk().planar_path()[12])
    assert np.allclose(anchor.root, walk().root_positions[12], atol=2e-3)
    assert rotations.angle_between(anchor.rotations, walk().rotations[12]).max() < np.radians(3.0)
    assert np.array_equal(pose.contacts, walk().contacts[12])


def test_contacts_of_a_common_pose_are_those_of_the_majority_and_satisfied():
    sunk = replace(walk(), root_positions=walk().root_positions - [0.0, 0.0, 0.04])
    members = [(walk(), 12), (sunk, 45), (sunk, 12)]
    for pose in (common_pose(members), settled_pose(members, rounds=2)):
        flags = [clip.contacts[frame] for clip, frame in members]
        assert np.array_equal(pose.contacts, np.sum(flags, axis=0) >= 2)
        heights = pose.clip().contact_positions()[0, :, 2]
        assert np.abs(heights[pose.contacts]).max() < 0.003 and heights.min() > -0.003
        assert abs(pose.clip().headings()[0]) < 1e-9 and np.allclose(pose.root[:2], 0.0)


def test_alignments_are_consistent_and_places_lead_back():
    members = [(walk(), 12), (move(walk(), [1.0, 2.0, 0.5]), 12)]
    placed, away = align_members(members, 0)
    assert np.allclose(away, 0.0, atol=1e-3)
    assert np.allclose(placed[0][0].root_positions, placed[1][0].root_positions, atol=1e-6)
    places = hub_places(members, 0)
    assert np.allclose(places[1], planar.compose([1.0, 2.0, 0.5], places[0]), atol=1e-6)


def test_a_match_frame_takes_on_the_contacts_of_its_pose():
    clip, pose = walk(), standing()
    out = with_contacts(clip, [7, 20], [pose, replace(pose, contacts=np.zeros_like(pose.contacts))])
    assert np.array_equal(out.contacts[7], pose.contacts) and not out.contacts[20].any()
    assert np.array_equal(np.delete(out.contacts, [7, 20], axis=0), np.delete(clip.contacts, [7, 20], axis=0))
    with pytest.raises(ClipError, match="has no contacts"):
        with_contacts(replace(clip, contacts=None), [7], [pose])


def test_poses_of_nothing_or_of_other_rates_are_refused():
    with pytest.raises(GraphError, match="a common pose of no frames"):
        common_pose([])
    with pytest.raises(GraphError, match="match frame 999 of clip 'walk-0'"):
        common_pose([(walk(), 999)])
    with pytest.raises(GraphError, match="cannot share a pose"):
        common_pose([(walk(), 5), (replace(walk(), fps=60.0), 5)])
    with pytest.raises(GraphError, match="base 2 of 1 match frames"):
        common_pose([(walk(), 5)], base=2)


def test_feet_take_on_a_stand_and_keep_their_middle():
    pose = standing()
    stand_now = foot_stand(pose)
    wanted = FootStand(stand_now.distance + 0.05, stand_now.left + 0.1, stand_now.right - 0.15)
    changed = with_stand(pose, wanted)
    found = foot_stand(changed)
    assert found.distance == pytest.approx(wanted.distance, abs=1e-3)
    assert (found.left, found.right) == pytest.approx((wanted.left, wanted.right), abs=2e-3)
    heights = changed.clip().contact_positions()[0, :6, 2]
    assert np.abs(heights - pose.clip().contact_positions()[0, :6, 2]).max() < 2e-3
    same = with_stand(pose, stand_now)
    assert rotations.angle_between(same.rotations, pose.rotations).max() < 1e-3


def test_a_stand_is_the_same_wherever_the_pose_is():
    pose = standing()
    turned = foot_places(pose)
    line = turned[1, :2] - turned[0, :2]
    assert foot_stand(pose).distance == pytest.approx(float(np.linalg.norm(line)))
    mean = average_stand([FootStand(0.2, 3.0, 1.5), FootStand(0.4, -3.0, 1.7)])
    assert mean.distance == pytest.approx(0.3) and mean.right == pytest.approx(1.6)
    assert abs(mean.left) == pytest.approx(np.pi)  # not 0, where no foot points
    with pytest.raises(GraphError, match="no foot stands"):
        average_stand([])


def test_classes_are_of_poses_linked_with_both_feet():
    skeleton = standing().skeleton
    both, left = np.zeros(10, dtype=bool), np.zeros(10, dtype=bool)
    both[[0, 4]], left[0] = True, True
    assert linked_feet(skeleton, both) == ("left", "right") and linked_feet(skeleton, left) == ("left",)
    assert linked_classes(4, [(0, 1, both), (1, 3, both), (1, 2, left), (2, 2, both)], skeleton) == [(0, 1, 3)]


def test_a_foot_links_if_some_point_of_it_is_always_down():
    skeleton, contacts = standing().skeleton, np.zeros((4, 10), dtype=bool)
    contacts[:, 0], contacts[1:, 1] = [True, True, False, True], True
    assert linked_contacts(skeleton, contacts).tolist() == [True] + [False] * 9
    contacts[2, 1] = False
    assert not linked_contacts(skeleton, contacts).any()
    rolling = np.zeros((3, 10), dtype=bool)
    rolling[:2, 3], rolling[1:, 4] = True, True  # from the heel to the ball
    assert np.flatnonzero(linked_contacts(skeleton, rolling)).tolist() == [3, 4]


def test_similar_poses_lie_on_one_another_with_both_feet():
    one = standing()
    other = with_stand(one, replace(foot_stand(one), distance=foot_stand(one).distance + 0.06))
    held = np.array([p.name.endswith(("heel", "ball")) for p in one.skeleton.contact_points])
    a, b = similar_poses([one, other], [(0, 1, held)])
    assert foot_stand(a).distance == pytest.approx(foot_stand(b).distance, abs=1e-3)
    start = np.array([2.0, -1.0, 0.4])
    there = linked_place(start, a, b, held, np.array([2.3, -1.0, 0.5]))
    points = [
        planar.transform_points(place, pose.clip().contact_positions()[0, held, :2])
        for place, pose in ((start, a), (there, b))
    ]
    assert np.abs(points[0] - points[1]).max() < 0.006
    assert linked_place(start, a, b, np.zeros(10, dtype=bool), start) is None


@pytest.mark.slow
def test_every_clip_begins_and_ends_in_a_common_pose():
    for edge in graph().clips:
        path = edge.clip.planar_path()
        assert np.allclose(path[0], 0.0, atol=1e-12)
        for frame, hub in ((0, edge.start), (-1, edge.end)):
            anchor = graph().hubs[hub].pose.anchor(0, path[frame])
            assert np.abs(anchor.root - edge.clip.root_positions[frame]).max() < 1e-9
            assert rotations.angle_between(anchor.rotations, edge.clip.rotations[frame]).max() < 1e-9
            assert np.array_equal(graph().hubs[hub].pose.contacts, edge.clip.contacts[frame])


@pytest.mark.slow
def test_feet_of_its_clips_stay():
    slides = np.concatenate([foot_slide(edge.clip, ("heel", "ball", "toe")) for edge in graph().clips])
    assert slides.max() < 0.01 and np.percentile(slides, 95) < 0.005
    assert min(edge.clip.contact_positions()[..., 2].min() for edge in graph().clips) > -0.01


def test_playing_is_continuous_in_place_and_speed():
    rng = np.random.default_rng(1)
    clips = random_clips(graph(), 8, rng, hub=graph().clips[0].start)
    motion = play_clips(graph(), clips, (1.0, 2.0, 0.5))
    assert len(motion) == sum(len(graph().clips[c].clip) - 1 for c in clips) + 1
    assert np.allclose(motion.planar_path()[0], [1.0, 2.0, 0.5])
    joins = np.cumsum([len(graph().clips[c].clip) - 1 for c in clips])[:-1]
    for join, before in zip(joins, clips[:-1], strict=True):
        edge = graph().clips[before]  # its last frame, moved, is the first of what follows
        start = motion.planar_path()[join - len(edge.clip) + 1]
        last = move(edge.clip, start)
        assert np.abs(last.root_positions[-1] - motion.root_positions[join]).max() < 1e-9
        assert rotations.angle_between(last.rotations[-1], motion.rotations[join]).max() < 1e-9
    usual = np.maximum(np.percentile(np.concatenate([turn_steps(c) for c in graph().motions.clips]), 99.9, axis=0), 0.3)
    assert (turn_steps(motion)[joins - 1] / usual).max() < 1.5


def test_a_player_yields_the_same_frames_and_wanders_on():
    clips = random_clips(graph(), 3, np.random.default_rng(2), hub=graph().clips[0].start)
    player = HubPlayer(graph(), graph().clips[clips[0]].start, (0.0, 1.0, 0.2))
    frames = [frame for clip in clips for frame in player.play(clip)]
    motion = play_clips(graph(), clips, (0.0, 1.0, 0.2))
    assert np.allclose([root for root, _ in frames], motion.root_positions[:-1], atol=1e-12)
    assert np.allclose([local for _, local in frames], motion.rotations[:-1], atol=1e-12)
    wandering = list(islice(HubPlayer(graph(), player.hub).wander(np.random.default_rng(0)), 200))
    assert len(wandering) == 200 or player.hub in graph().dead_ends()


def test_a_library_of_hubs_joins_and_can_be_planned_with():
    library = graph().to_library("walker")
    states = {name for behavior in library.graph.behaviors for name in (behavior.start, behavior.end)}
    assert states <= {hub.name for hub in graph().hubs}
    assert max(join.angle for join in check_joins(library)) < 1e-6
    table = action_table(library)
    assert len(table.durations) == len(library.clips)


def test_hubs_without_a_way_back_are_dead_ends():
    whole = graph()
    start = next(e.start for e in whole.clips if e.start != e.end)
    kept = tuple(e for e in whole.clips if e.end != start or e.start == start)
    assert set(replace(whole, clips=()).dead_ends()) == set(range(len(whole.hubs)))
    with pytest.raises(GraphError, match="has no cycle"):
        replace(whole, clips=tuple(e for e in kept if e.start == start and e.end != start)[:1]).to_library("none")


def test_wrong_graphs_and_sequences_are_refused():
    motions = build_corpus([walk()])
    one = MatchSet(5, np.array([5, 40]), np.array([0.0, 0.01]))
    with pytest.raises(GraphError, match="no match sets"):
        snap_together(motions, [])
    with pytest.raises(GraphError, match="frame 5 of 'walk-0' is in two match sets"):
        snap_together(motions, [one, one])
    with pytest.raises(GraphError, match="match frames 5 to 900"):
        snap_together(motions, [MatchSet(5, np.array([5, 900]), np.zeros(2))])
    with pytest.raises(GraphError, match="nothing to play"):
        play_clips(graph(), [])
    with pytest.raises(GraphError, match="clip 999 of a graph"):
        play_clips(graph(), [999])
    with pytest.raises(GraphError, match="does not leave hub"):
        HubPlayer(graph(), 0).play(next(i for i, e in enumerate(graph().clips) if e.start != 0))
    with pytest.raises(GraphError, match="hub 99 of a graph"):
        HubPlayer(graph(), 99)


def test_it_is_drawn():
    picture = hub_picture(graph(), title="walks", width=1200)
    assert picture.size[0] == 1200 and picture.size[1] > 500
    assert len(picture.getcolors(maxcolors=1 << 24) or []) > 100
