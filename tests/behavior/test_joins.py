"""Clips that do not share their end poses are led on from one another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gaitway import rotations
from gaitway.audit import audit_take
from gaitway.behavior.joins import LAYER
from gaitway.behavior.synthesis import Performer, plans_to_take
from gaitway.library.behavior import Library
from gaitway.library.cast.catalog import load_cast
from gaitway.motion.clip import Clip
from gaitway.motion.footskate import foot_slide
from gaitway.world.world import World
from hand_plans import plan_of

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
    assert [layer.name for layer in take.layers] == [LAYER]
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
