"""Live characters whose clips differ above the pelvis at their ends: led on softly, each with ends of its own."""

from __future__ import annotations

from functools import cache
from unittest import mock

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.library.behavior import Library
from gaitway.live.engine import LiveEngine
from gaitway.live.options import LiveOptions
from gaitway.live.planning.forest import live_forest
from gaitway.live.playing.joins import LiveJoins
from gaitway.motion.anatomy import upper_joints
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.plan_options import PlanOptions
from gaitway.space.prepared import PreparedLibrary, planning_context
from gaitway.tree.building.growing import Budget
from live_crowds import OPEN

STEP = 1.0 / 60.0


@cache
def takes() -> Library:
    return load_cast("person", takes=4, behaviors=["wait", "start_walk", "stop_walk", "walk_forward", "turn_left_90"])


@cache
def prepared() -> PreparedLibrary:
    who = Character(
        name="live", start=(0.0, 0.0, 0.0), goal=(0.0, 0.0), goal_heading=None, library=LibraryRef(), plan=PlanOptions()
    )
    return planning_context(OPEN, {LibraryRef(): takes()}).prepared(who)


def played(upper_body: bool) -> tuple[LiveEngine, FloatArray]:
    """Local rotations of three people who walk across; (F, C, J, 4)."""
    forest = live_forest(prepared().table, budget=Budget(20_000))
    crowd = LiveEngine(prepared(), forest, LiveOptions(upper_body=upper_body), seed=3)
    crowd.add([[-9.0, 3.0 * k, 0.0] for k in range(3)], [[6.0, 3.0 * k] for k in range(3)])
    seen = []
    for _ in range(300):
        crowd.step(STEP)
        seen.append(crowd.poses().rotations.copy())
    return crowd, np.array(seen)


def jerks(poses: FloatArray) -> FloatArray:
    """Change of the angular velocity of upper bodies from step to step [rad/s]; (F - 2, C, U)."""
    own = poses[:, :, upper_joints(takes().skeleton)]
    turns = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(own[:-1]), own[1:])) / STEP
    return np.linalg.norm(np.diff(turns, axis=0), axis=-1)


@pytest.mark.slow
def test_upper_bodies_are_led_on_and_frames_are_held_once() -> None:
    for upper_body in (True, False):
        crowd, poses = played(upper_body)
        with mock.patch.object(LiveJoins, "layers", lambda self, crowd, live, now, others: others):
            _, cut = played(upper_body)
        assert jerks(cut).max() > 4.0, "else nothing differs"
        assert jerks(poses).max() < 0.5 * jerks(cut).max()
        legs = ~upper_joints(takes().skeleton)
        assert np.array_equal(poses[:, :, legs], cut[:, :, legs])
    assert len(crowd.libraries[0].frames.pool) == sum(len(clip) for clip in takes().clips.values())


@pytest.mark.slow
def test_an_offset_begins_in_the_pose_before_and_dies_away() -> None:
    crowd, _ = played(False)
    for _ in range(400):
        before = crowd.poses().rotations[0].copy()
        crowd.step(0.002)
        since = crowd.time - float(crowd._live.table[crowd.characters[0], 0])
        if 0.0 <= since < 0.002:
            break
    after = crowd.poses().rotations[0]
    assert rotations.angle_between(before, after).max() < np.radians(1.0)
