"""Tracks: laid like `motion.concatenate`, assembled into takes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.core import planar, rotations
from gaitway.core.errors import TakeError
from gaitway.motion import concatenate, move, place, resample
from gaitway.motion.blending import height_step
from gaitway.take import ClipEnds, assemble, lay_track, take_of

WALK = ("stand", "start_walk", "walk_forward", "walk_left_30", "walk_forward", "stop_walk", "stand")
STAIRS = ("stand", "start_stairs_up", "stairs_up", "stairs_up", "stop_stairs_up", "stand")


@pytest.fixture(scope="module")
def person():
    return load_cast("person", behaviors=[*WALK, *STAIRS])


def chain(library, names):
    return [library.clips[name] for name in names]


def agree(clip, wanted) -> None:
    assert len(clip) == len(wanted)
    np.testing.assert_allclose(clip.root_positions, wanted.root_positions, atol=1e-6)
    assert rotations.angle_between(clip.rotations, wanted.rotations).max() < 1e-6
    np.testing.assert_array_equal(clip.contacts, wanted.contacts)


@pytest.mark.parametrize("names", [WALK, STAIRS], ids=["walk", "stairs"])
@pytest.mark.parametrize("blend", [0.0, 0.3])
def test_a_track_is_what_concatenate_makes(person, names, blend):
    clips = chain(person, names)
    if blend == 0.0 and names is STAIRS:
        clips = clips[1:-1]  # they are entered and left by ways of their own
    pose = (3.0, -2.0, 0.7)
    take = assemble([lay_track("ada", clips, pose, blend=blend)])
    agree(take.clip(0), concatenate([place(clips[0], pose), *clips[1:]], 0.3, overlap=blend > 0.0))


def test_stairs_carry_the_next_clip_up(person):
    clips = chain(person, STAIRS[1:-1])
    take = assemble([lay_track("ada", clips, height=0.5)])
    heights = take.segments.height
    assert heights[0] == 0.5
    assert heights[-1] > 0.8
    assert take.clip(0).contact_positions()[-1, :, 2].min() > 0.8


def test_joins_of_many_clips_are_those_of_each_pair(person):
    """As found one pair after another, from whole clips."""
    clips = chain(person, ["stand", *STAIRS[1:-1], "stand", *WALK])
    fades = [0, 4, 0, 5, 0, 0, 3, 0, 0, 0, 0, 0]
    ends, expected = ClipEnds(), []
    for before, after, fade in zip(clips[:-1], clips[1:], fades, strict=True):
        here = before.planar_path()[len(before) - fade + fade // 2 if fade else -1]
        move = planar.compose(here, planar.inverse(after.planar_path()[fade // 2]))
        resting = before.contacts[-1] & after.contacts[0]
        gaps = before.contact_positions()[-1, resting, 2] - after.contact_positions()[0, resting, 2]
        rise = gaps.mean() if len(gaps) and abs(gaps.mean()) > 0.04 else 0.0
        assert height_step(before, after) == pytest.approx(rise, abs=1e-12)
        expected.append([*move, 0.0 if fade else rise])
    for _ in range(2):
        np.testing.assert_allclose(ends.joined(clips, fades), expected, atol=1e-12)
    assert np.any(np.array(expected)[:, 3] != 0.0)


def test_speed_scales_time_alone(person):
    clips = chain(person, WALK)
    for blend in (0.0, 0.3):
        slow = assemble([lay_track("a", clips, blend=blend, speed=0.5)])
        usual = assemble([lay_track("a", clips, blend=blend)])
        assert slow.duration == pytest.approx(2.0 * usual.duration)
        for time in (0.0, 1.234, usual.duration):
            a, b = usual.poses(time)[0], slow.poses(2.0 * time)[0]
            np.testing.assert_allclose(a.root_positions, b.root_positions, atol=1e-6)
            assert rotations.angle_between(a.rotations, b.rotations).max() < 1e-5


def test_assembled_takes_share_clips_and_equal_skeletons(person):
    stroll = replace(person.clips["walk_forward"], skeleton=replace(person.skeleton))
    assert stroll.skeleton is not person.skeleton
    ends = ClipEnds()
    tracks = [
        lay_track("ada", chain(person, WALK), goal=(1.0, 2.0), radius=0.3, ends=ends),
        lay_track("bob", chain(person, WALK), (5.0, 0.0, 1.0), 2.0, goal=(1.0, 2.0, 0.5, 0.1), ends=ends),
        lay_track("eve", [stroll] * 2, behaviors=["stroll", None]),
    ]
    take = assemble(tracks, fps=25.0, facts={"seed": 7})
    assert len(take.skeletons) == 1 and len(take.clips) == len(set(WALK)) + 1
    assert take.start(1) == 2.0 and take.fps == 25.0 and take.facts["seed"] == 7
    np.testing.assert_array_equal(take.goals[1], [1.0, 2.0, 0.5, 0.1])
    np.testing.assert_array_equal(np.isnan(take.goals), [[0, 0, 1, 1], [0] * 4, [1] * 4])
    np.testing.assert_array_equal(np.isnan(take.radii), [False, True, True])
    assert take.behavior_at(0.1) == ("stand", None, "stroll")
    assert take.index("eve") == 2


def test_clips_as_they_stand_become_a_take(person):
    clip = move(person.clips["walk_forward"], (4.0, 5.0, 2.0))
    take = take_of([clip, clip], start_times=[0.0, 1.5])
    assert take.names == ("walk_forward", "walk_forward-2") and take.fps == clip.fps
    assert take.start(1) == 1.5
    for c in range(2):
        agree(take.clip(c), clip)


def test_wrong_tracks(person):
    walk, horse = person.clips["walk_forward"], load_cast("horse", behaviors=["stand"]).clips["stand"]
    short = replace(walk, root_positions=walk.root_positions[:3], rotations=walk.rotations[:3], contacts=None)
    wrong = [
        (lambda: lay_track("a", []), "track 'a' has no clips"),
        (lambda: lay_track("a", [walk, horse]), "different skeletons"),
        (lambda: lay_track("a", [walk], (1.0, 2.0)), "three finite numbers"),
        (lambda: lay_track("a", [walk], speed=0.0), "speed 0"),
        (lambda: lay_track("a", [walk, resample(walk, 60.0)], blend=0.2), "differ in rate"),
        (lambda: lay_track("a", [walk, short, walk], blend=0.3), "too short to fade"),
        (lambda: lay_track("a", [walk], goal=[1.0]), "a goal is x, y"),
        (lambda: lay_track("a", [walk, walk], behaviors=["x"]), "1 behaviours for 2 clips"),
        (lambda: assemble([]), "at least one track"),
        (lambda: assemble([lay_track("a", [walk]), lay_track("a", [walk])]), "two characters are called 'a'"),
        (lambda: take_of([walk], names=["x", "y"]), "do not fit together"),
    ]
    for call, message in wrong:
        with pytest.raises(TakeError, match=message):
            call()
