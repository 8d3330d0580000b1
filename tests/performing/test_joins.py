"""Clips that do not share their end poses are led on from one another."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from gaitway.audit import audit_take
from gaitway.cast.catalog import load_cast
from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray
from gaitway.library.behavior import Library
from gaitway.motion.anatomy import upper_joints
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import detect_contacts
from gaitway.motion.editing import resample, slice_frames
from gaitway.motion.footskate import clean_footskate
from gaitway.motion.formats import load_clip
from gaitway.motion.quality import foot_slide
from gaitway.performing.joins import LAYER, mend_joins
from gaitway.performing.synthesis import Performer, plans_to_take
from gaitway.performing.terrain.footing import on_ground
from gaitway.performing.terrain.ground import follow_ground
from gaitway.space.plan import Plan, PlanStep
from gaitway.take.model import Take
from gaitway.take.tracks import assemble, lay_track
from gaitway.world.world import World
from hand_plans import plan_of
from knees import knee_speeds
from shared_data import MOCAP, needs_mocap

WALK = ["start_walk", "walk_forward", "walk_forward", "stop_walk"]
FLOOR = World((-20.0, -20.0, 20.0, 20.0))


@pytest.fixture(scope="module")
def person() -> Library:
    return load_cast("person", behaviors=["stand", "wait", *WALK])


@pytest.fixture(scope="module")
def torn(person: Library) -> Library:
    """A library whose gait clip holds its arms and thighs differently, as another capture would."""

    def other(clip: Clip) -> Clip:
        turned = np.array(clip.rotations)
        for role, angle in (("left_shoulder", 0.3), ("right_elbow", 0.25), ("left_hip", 0.05)):
            joint = clip.skeleton.roles[role]
            turned[:, joint] = rotations.multiply(turned[:, joint], rotations.from_axis_angle([0.0, 1.0, 0.0], angle))
        return replace(clip, rotations=rotations.normalize(turned))

    clips = {name: other(clip) if name == "walk_forward" else clip for name, clip in person.clips.items()}
    return Library("torn", person.skeleton, clips, person.graph)


def performer(library: Library) -> Performer:
    return Performer("ann", library, (1.0, 2.0, 0.5), plan_of(library, WALK, (1.0, 2.0, 0.5)))


def test_clips_made_to_follow_one_another_stay_exact(person: Library) -> None:
    assert plans_to_take(FLOOR, [performer(person)]).layers == ()


def test_what_differs_dies_away(torn: Library) -> None:
    who = performer(torn)
    take = plans_to_take(FLOOR, [who])
    bare = replace(take, layers=())
    assert take.layers[0].name == LAYER
    assert not audit_take(bare, FLOOR)["continuity"].ok, "else there is nothing to mend"
    report = audit_take(take, FLOOR)
    assert report["continuity"].ok, report["continuity"].cells()
    assert foot_slide(take.clip(0)).max() < 0.005 < foot_slide(bare.clip(0)).max()
    assert who.plan is not None
    shoulder = torn.skeleton.roles["left_shoulder"]
    late = who.plan.steps[2].time - 0.1  # long after the first join, and before the next
    a, b = (t.poses(late)[0].rotations[0, shoulder] for t in (take, bare))
    assert rotations.angle_between(a, b) < 1e-3


def test_the_plan_is_kept(torn: Library) -> None:
    who = performer(torn)
    take = plans_to_take(FLOOR, [who])
    assert who.plan is not None
    for step in who.plan.steps:
        np.testing.assert_allclose(take.planar(step.time, [0])[0, 0, :2], step.pose[:2], atol=0.06)


def crowd_of(library: Library, gait: str, count: int = 12) -> tuple[Take, list[Plan]]:
    """People who walk side by side, each with takes drawn for every step."""
    rng, plans = np.random.default_rng(0), []
    for number in range(count):
        pose, time, steps = np.array([0.0, 2.0 * number, 0.0]), 0.0, []
        for name in (f"start_{gait}", *[f"{gait}_forward"] * 4, f"stop_{gait}"):
            clips = library.graph[name].clips
            clip = library.clips[clips[int(rng.integers(len(clips)))]]
            path = clip.planar_path()
            steps.append(PlanStep(name, clip.name, (float(pose[0]), float(pose[1]), float(pose[2])), time))
            pose, time = planar.compose(pose, planar.relative(path[0], path[-1])), time + clip.duration
        plans.append(Plan(tuple(steps), (float(pose[0]), float(pose[1]), float(pose[2])), time, 0.0))
    performers = [Performer(f"p{k}", library, plan.steps[0].pose, plan) for k, plan in enumerate(plans)]
    return plans_to_take(World((-5.0, -5.0, 40.0, 40.0)), performers), plans


def spread(poses: list[FloatArray]) -> float:
    """How much upper bodies differ: the root mean square angle from the mean, mean over joints [rad]."""
    all_poses = np.array(poses)
    near = np.where((all_poses * all_poses[:1]).sum(axis=-1, keepdims=True) < 0.0, -all_poses, all_poses)
    away = rotations.angle_between(all_poses, rotations.normalize(near.mean(axis=0)))
    return float(np.sqrt((away**2).mean(axis=0)).mean())


@pytest.mark.parametrize("gait", ["walk", "jog"])
def test_manner_and_rhythm_survive_joins(gait: str) -> None:
    """At the joins of a crowd upper bodies differ nearly as much as in the midst of clips, and steps as long."""
    behaviors = ["stand", "wait", f"start_{gait}", f"{gait}_forward", f"stop_{gait}"]
    library = load_cast("person", takes=6, behaviors=behaviors)
    take, plans = crowd_of(library, gait)
    upper = upper_joints(library.skeleton)
    joins, middles, times = [], [], []
    for who, plan in enumerate(plans):
        for one, after in pairwise(plan.steps):
            if one.behavior == after.behavior:
                joins.append(take.poses(after.time, [who])[0].rotations[0, upper])
                middles.append(take.poses(0.5 * (one.time + after.time), [who])[0].rotations[0, upper])
                times.append(after.time - one.time)
    assert spread(joins) > 0.6 * spread(middles) > np.radians(0.5)
    assert 0.01 < np.std(times) / np.mean(times) < 0.05
    assert audit_take(take, World((-5.0, -5.0, 40.0, 40.0))).violations == ()
    assert foot_slide(take.clip(0)).max() < 0.001, "legs stay as the clips have them"


def test_a_join_just_before_the_end_is_mended_too(torn: Library) -> None:
    """Where a take ends within the window after a join."""
    clips = [torn.clips[name] for name in ("start_walk", "walk_forward")]
    for frames in (1, 2, 4):
        short = slice_frames(clips[1], 0, 1 + frames)
        take = mend_joins(assemble([lay_track("ann", [clips[0], short])], 30.0))
        assert audit_take(take, FLOOR)["continuity"].ok, frames


CAPTURED = ("15", "21", "22", "58", "11", "12", "13", "17", "18", "19", "23", "24", "25", "26", "27", "28", "29", "30")
"""Walks, turns to both sides and veers of one person, at 0.9 to 1.7 m/s."""


def captured_strides() -> list[Clip]:
    """Captures cut where the left foot is flat and the right one passes it; no two share a pose."""
    strides: list[Clip] = []
    for name in CAPTURED:
        clip = clean_footskate(detect_contacts(resample(load_clip(MOCAP / "bvh" / f"16_{name}.bvh"), 30.0)))
        assert clip.contacts is not None
        clip = on_ground(clip, World((-20.0, -20.0, 20.0, 20.0)))
        points, ahead = [p.name for p in clip.skeleton.contact_points], clip.headings()
        left, right = (clip.joint_positions()[:, clip.skeleton.roles[f"{side}_ankle"]] for side in ("left", "right"))
        lead = ((right - left)[:, :2] * np.column_stack([np.cos(ahead), np.sin(ahead)])).sum(axis=1)
        flat = clip.contacts[:, [points.index(f"left_{part}") for part in ("heel", "ball")]].all(axis=1)
        free = ~clip.contacts[:, [p.startswith("right") for p in points]].any(axis=1)
        cuts = np.flatnonzero((lead[:-1] < 0.0) & (lead[1:] >= 0.0) & flat[1:] & free[1:]) + 1
        if len(cuts) > 1:
            part = slice_frames(replace(clip, name=name), int(cuts[0]), int(cuts[-1]) + 1)
            strides.append(replace(part, skeleton=strides[0].skeleton) if strides else part)
    return strides


@needs_mocap
@pytest.mark.slow
def test_captures_in_any_order_keep_their_feet_knees_and_smoothness() -> None:
    strides, world = captured_strides(), World((-200.0, -200.0, 200.0, 200.0))
    assert len(strides) >= 10
    for seed in range(3):
        order = [strides[i] for i in np.random.default_rng(seed).permutation(len(strides))]
        bare = assemble([lay_track("ann", order)], 30.0)
        rough = audit_take(bare, world)
        assert not rough["skate"].ok and not rough["continuity"].ok, "else there is nothing to mend"
        take = follow_ground(mend_joins(bare), world)
        report = audit_take(take, world)
        for row in ("skate", "continuity", "limits", "height"):
            assert report[row].ok, (seed, report[row].cells())
        assert knee_speeds(take.clip(0)).max() < 1.35 * max(knee_speeds(clip).max() for clip in order)
