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
from gaitway.live.playing import _playing_kernels as playing
from gaitway.live.playing._join_kernels import NONE, UNKNOWN, find_joins
from gaitway.live.playing.joins import LiveJoins
from gaitway.motion.anatomy import upper_joints
from gaitway.motion.blending import ease
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
        with mock.patch.object(LiveJoins, "layers", lambda self, crowd, live, now, others, *_: others):
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


def test_those_who_are_led_on_are_those_who_began_a_clip_that_was_not_made_to_follow() -> None:
    rng, people, actions, first = np.random.default_rng(5), 400, 9, 2
    counts = rng.integers(0, 3, (people, 14))
    counts[:, playing.STATUS] = rng.choice([playing.EMPTY, playing.GOING], people)
    counts[:, playing.EARLIER] = rng.integers(-1, actions, people)
    played = rng.integers(0, actions, (people, 4)).astype(np.int32)
    table = rng.uniform(4.5, 5.2, (people, 12))  # the first column is when each clip began
    clips = np.where(rng.uniform(size=(actions + 1, actions)) < 0.3, 100, np.arange(actions))
    clips[-1] = np.arange(actions)
    own, end, now, window = rng.integers(0, 5, actions), actions - 2, 5.0, 0.25
    known = np.array([[number, number % 7 - 1] for number in range(-1, 25) if number % 3 != 1])
    pairs, shares = np.full(people, NONE), np.zeros(people)
    missing = find_joins(counts, played, table, clips, own, first, end, known, now, window, pairs, shares)
    rows = dict(known.tolist())
    for c in range(people):
        action, before, since = (
            int(played[c, counts[c, playing.FIRST]]),
            int(counts[c, playing.EARLIER]),
            now - table[c, 0],
        )
        led = counts[c, playing.STATUS] != playing.EMPTY and before >= 0 and 0.0 <= since < window
        if led and first <= action < end and clips[before, action] == clips[-1, action]:
            assert pairs[c] == rows.get(int(own[before] * (end - first) + own[action]), UNKNOWN)
            assert shares[c] == pytest.approx(1.0 - float(ease(since / window)))
        else:
            assert (pairs[c], shares[c]) == (NONE, 0.0)
    assert missing == (pairs == UNKNOWN).sum() > 0
    assert (pairs >= 0).any()
