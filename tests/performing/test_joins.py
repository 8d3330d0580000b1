"""Clips that do not share their end poses are led on from one another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gaitway.audit import audit_take
from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.library.behavior import Library
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
