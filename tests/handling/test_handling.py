"""Hands that reach: they are at their targets, keep clear, begin and end softly, and things stay in them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from gaitway import Box, Obstacle, World, load_cast
from gaitway.core import rotations
from gaitway.core.errors import LimbError
from gaitway.handling import Handler, ThingPose, hand_motion, thing_carried
from gaitway.handling.carrying import Carry, hung, with_carrying
from gaitway.handling.grips import grasp_place, touch_place
from gaitway.handling.motion import body_of, hand_middle
from gaitway.limbs.planner import LimbWindow
from gaitway.limbs.surroundings import OtherBody, inside
from gaitway.motion.body import capsule_body
from gaitway.scene.things import Thing
from gaitway.take import assemble, lay_track
from gaitway.world.thing_forms import thing_capsules

CUP = Thing(name="cup", shape="cylinder", size=(0.08, 0.08, 0.1))
TABLE = Obstacle(Box((0.75, 0.0), (0.9, 1.2), 0.75), name="table")
WORLD = World((-5.0, -5.0, 5.0, 5.0), (TABLE,))


@cache
def somebody() -> Handler:
    return Handler.at(load_cast("person", behaviors=["stand"]), (0.0, 0.0, 0.0), WORLD)


@cache
def taken():
    """Somebody who takes the cup from the table: the motion, and the cup's pose at first."""
    handler, pose = somebody(), ThingPose.upright((0.43, -0.12, 0.75), 0.0)
    task = handler.grasping(CUP, "right", pose)

    def grasped(goal):
        inner = pose.within(handler.wrist(goal, "right"))
        return handler.carrying(CUP, "right", inner, handler.rest), thing_carried(CUP, inner)

    return hand_motion(handler, task, handler.rest, grasped=grasped), pose


def test_the_hand_is_at_the_target_at_its_moment_and_stays_for_the_grasp():
    motion, pose = taken()
    limb = somebody().limb("right")
    places, turns = motion.clip.joint_transforms()
    for frame in (motion.reach, motion.leave):
        wrist = ThingPose(places[frame, limb.joints[2]], turns[frame, limb.joints[2]])
        at = wrist.point(rotations.rotate(limb.turns[3], motion.mark))
        assert np.linalg.norm(at - pose.point(grasp_place(CUP))) < 0.005
    assert motion.gap > 0.002


def test_it_begins_and_ends_at_rest_and_no_joint_jumps():
    clip = taken()[0].clip
    steps = rotations.angle_between(clip.rotations[1:], clip.rotations[:-1]) * clip.fps
    assert steps[[0, -1]].max() < 0.3
    changes = np.diff(steps, axis=0) * clip.fps
    assert np.abs(changes).max() < 60.0
    assert np.allclose(clip.rotations[0], somebody().clip.rotations[0], atol=1e-6)


def test_a_hand_comes_straight_towards_another_one_and_leaves_straight_away_from_it():
    handler, other = somebody(), np.array([0.5, -0.05, 1.1])
    task = handler.passed(CUP, "right", ThingPose.upright((0.45, -0.15, 1.05), 0.0))
    motion = hand_motion(handler, task, handler.rest, beside=other)
    hand = np.array([hand_middle(motion.clip, "right", frame) for frame in range(len(motion.clip))])
    away = np.linalg.norm(hand - other, axis=1)
    straight = (hand[motion.reach] - other) / away[motion.reach]
    for frame in (motion.reach - 5, motion.leave + 5):
        step = hand[frame] - hand[motion.reach]
        assert 0.015 < away[frame] - away[motion.reach] < 0.07
        assert step @ straight > 0.9 * np.linalg.norm(step)
    steps = np.diff(away)
    assert (steps[motion.reach - 6 : motion.reach] < 1e-4).all() and (
        steps[motion.leave : motion.leave + 6] > -1e-4
    ).all()


def test_grasps_beside_another_hand_are_known_by_their_gaps():
    handler, pose = somebody(), ThingPose.upright((0.45, -0.15, 1.05), 0.0)
    task = handler.passed(CUP, "right", pose)
    other = OtherBody(np.array([[[[0.45, -0.25, 1.1], [0.45, -0.05, 1.1]]]]), np.array([0.03]))  # through the cup
    gaps, above = handler.hand_gaps(task, other), handler.above_ways(task, pose)
    assert gaps.shape == above.shape == (len(task.ways),) and gaps.min() < 0.0 < gaps.max()
    goal = handler.goal(task.only(above & (gaps > 0.01)), handler.rest, 0.0)
    assert handler.above(CUP, "right", handler.wrist(goal.posture, "right"), pose)
    body = body_of(handler.stander.applied(goal.posture[None]))
    hand = body.segments[0, capsule_body(handler.clip.skeleton).names.index("right_hand")]
    along = np.linspace(0.0, 1.0, 50)[:, None]
    mine, theirs = (one[0] + along * (one[1] - one[0]) for one in (hand, other.segments[0, 0]))
    assert np.linalg.norm(mine[:, None] - theirs[None], axis=-1).min() > 0.01 + 0.03 + 0.03


def test_feet_stay():
    clip = taken()[0].clip
    feet = [clip.skeleton.roles[f"{side}_ankle"] for side in ("left", "right")]
    places = clip.joint_positions()[:, feet]
    assert np.abs(places - places[0]).max() < 1e-3


def test_what_is_carried_is_upright_before_the_body():
    motion, pose = taken()
    limb, handler = somebody().limb("right"), somebody()
    inner = pose.within(motion.wrist)
    places, turns = motion.clip.joint_transforms()
    carried = ThingPose(places[-1, limb.joints[2]], turns[-1, limb.joints[2]]).carried(inner)
    up = rotations.rotate(carried.turn, np.array([0.0, 0.0, 1.0]))
    assert up[2] > 0.999
    assert carried.at[0] - handler.clip.root_positions[0, 0] > 0.2


def test_the_gaze_is_there_before_the_hand():
    clip, pose = taken()[0].clip, taken()[1]
    head, start = clip.skeleton.roles["head"], round(0.4 * clip.fps)
    places, turns = clip.joint_transforms()
    ahead = rotations.rotate(rotations.conjugate(turns[0, head]), np.array([1.0, 0.0, 0.0]))

    def off(frame):
        way = pose.at - places[frame, head]
        return np.degrees(
            np.arccos(np.clip(rotations.rotate(turns[frame, head], ahead) @ way / np.linalg.norm(way), -1, 1))
        )

    assert off(start) < 0.6 * off(0)
    wrist = somebody().limb("right").joints[2]
    assert np.linalg.norm(places[start, wrist] - places[0, wrist]) < 0.03


def test_arms_that_carry_are_a_layers_so_clips_join():
    motion = taken()[0]
    arm = somebody().limb("right").joints
    clip = hung(motion.clip, somebody().clip)
    assert rotations.angle_between(clip.rotations[-1, arm], somebody().clip.rotations[0, arm]).max() < 1e-3
    assert np.array_equal(clip.rotations[motion.reach], motion.clip.rotations[motion.reach])


def test_who_carries_at_the_end_does_so_up_to_the_last_moment():
    handler, arm = somebody(), somebody().limb("right").joints
    clip = replace(handler.stander.applied(np.repeat(handler.rest[None], 41, axis=0)), fps=37.0)  # ends between frames
    take = replace(assemble([lay_track("ada", [clip], (0.0, 0.0, 0.0))]), fps=30.0)
    turns = taken()[0].clip.rotations[-1, arm]
    (layer,) = with_carrying(take, [Carry("ada", "right", 0.0, np.inf, turns)], {}).layers
    assert layer.start + (len(layer.turns) - 1) / take.fps >= take.ends[0]
    assert layer.start + (len(layer.turns) - 2) / take.fps < take.ends[0]


@pytest.mark.parametrize(
    ("target", "words"),
    [((3.0, 0.0, 1.0), r"cannot reach \(3.00, 0.00, 1.00\): it is \d.\d\d m beyond the arm"),
     ((0.7, 0.0, 0.4), "cannot reach")],
)  # fmt: skip
def test_who_cannot_reach_says_how_far_it_got(target, words):
    handler = somebody()
    with pytest.raises(LimbError, match=words):
        hand_motion(handler, handler.touching("right", np.array(target)), handler.rest)


def test_a_point_in_a_wall_is_known():
    assert inside(WORLD, np.array([0.7, 0.0, 0.4])) == "table"
    assert inside(WORLD, np.array([0.7, 0.0, 0.9])) is None


def test_fingers_touch_the_side_that_is_nearest_or_the_place_that_is_written():
    switch, pose = Thing(name="switch", shape="box", size=(0.02, 0.08, 0.1)), ThingPose.upright((2.0, 0.0, 1.0), 0.0)
    assert np.allclose(touch_place(switch, pose, (0.0, 0.0)), (1.99, 0.0, 1.05))
    button = Thing(name="button", shape="box", size=(0.02, 0.08, 0.1), touch=(0.0, 0.0, 0.1))
    assert np.allclose(touch_place(button, pose, (0.0, 0.0)), (2.0, 0.0, 1.1))


@pytest.mark.parametrize("form", ["box", "cylinder", "ball"])
@pytest.mark.parametrize("size", [(0.1, 0.1, 0.1), (0.28, 0.28, 0.1), (0.07, 0.07, 0.22), (0.3, 0.2, 0.02)])
def test_capsules_stay_within_the_box_around_a_thing(form, size):
    if form == "ball":
        size = (size[0],) * 3
    if form == "cylinder":
        size = (size[0], size[0], size[2])
    starts, ends, radii = thing_capsules(form, size)
    for points in (starts, ends):
        assert (np.abs(points[:, :2]) + radii[:, None] <= 0.5 * np.array(size[:2]) + 2e-3).all()
        assert (points[:, 2] - radii >= -2e-3).all()
        assert (points[:, 2] + radii <= size[2] + 2e-3).all()


def test_a_wide_thing_needs_a_place_to_be_grasped():
    assert "write grasps" in Thing(name="tray", shape="box", size=(0.4, 0.3, 0.03)).problem()
    assert not Thing(name="tray", shape="box", size=(0.4, 0.3, 0.03), grasps=((0.2, 0.0, 0.01),)).problem()
    assert Thing(name="rail", shape="box", size=(0.1, 0.1, 0.1), fixed=True).problem() == "it is fixed"


@pytest.mark.parametrize("place", [(0.45, 0.12), (0.5, 0.3)])
@pytest.mark.parametrize("hand", ["left", "right"])
def test_either_hand_carries_upright_with_its_elbow_low(hand, place):
    x, y = place[0], place[1] if hand == "left" else -place[1]
    table = Obstacle(Box((x + 0.3, y), (0.66, 1.2), 0.75), name="table")
    handler = Handler.at(load_cast("person", behaviors=["stand"]), (0.0, 0.0, 0.0), World((-5, -5, 5, 5), (table,)))
    pose = ThingPose.upright((x, y, 0.75), 0.0)
    goal = handler.goal(handler.grasping(CUP, hand, pose), handler.rest, 0.02).posture
    inner = pose.within(handler.wrist(goal, hand))
    carried = handler.carrying(CUP, hand, inner, handler.rest)
    up = rotations.rotate(handler.wrist(carried, hand).carried(inner).turn, np.array([0.0, 0.0, 1.0]))
    shoulder, elbow, _ = handler.stander.applied(carried[None]).joint_positions()[0, handler.limb(hand).joints]
    assert up[2] > 0.999
    assert (shoulder - elbow)[2] > 0.8 * np.linalg.norm(shoulder - elbow)


@pytest.mark.parametrize("grasps", [(), ((-0.06, 0.0, 0.01), (0.0, 0.04, 0.01), (0.0, -0.04, 0.01))])
def test_flat_things_are_taken_from_a_table(grasps):
    card = Thing(name="card", shape="box", size=(0.12, 0.08, 0.02), grasps=grasps)
    handler, pose = somebody(), ThingPose.upright((0.45, -0.12, 0.75), 0.0)
    task = handler.from_above(card, handler.grasping(card, "right", pose), pose)  # so that it can be put down, too
    goal = handler.goal(task, handler.rest, 0.005)
    assert handler.above(card, "right", handler.wrist(goal.posture, "right"), pose)


def test_an_arm_keeps_off_a_thing_that_its_hand_grasps():
    motion, pose = taken()
    load = thing_carried(CUP, pose)
    hand = body_of(motion.clip).segments[:, capsule_body(motion.clip.skeleton).names.index("right_hand")]
    for at, fine in ((np.zeros(3), True), (hand[motion.reach].mean(axis=0) - [0.16, 0.06, 0.0] - pose.at, False)):
        ends = np.stack([pose.point(end) + at for end in (load.starts - pose.at, load.ends - pose.at)], axis=1)
        thing = OtherBody(np.repeat((ends)[None], len(motion.clip), axis=0), load.radii, grasped=True)
        window = LimbWindow(somebody().limb("right"), motion.clip, 0.0, World((-5.0, -5.0, 5.0, 5.0)), [thing])
        assert (window.gaps().min() > 0.0) == fine
