"""Repeats of motions whose period is known, and of captures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.errors import VariationError
from gaitway.motion import Clip, concatenate, place, slice_frames
from gaitway.motion.editing import resample
from gaitway.variation.inputs.cycles import capture_of
from gaitway.variation.inputs.repeats import RepeatOptions, captured_repeats, cut_repeats, lying
from shared_data import MOCAP, needs_mocap


def person(behavior: str) -> Clip:
    library = load_cast("person", behaviors=[behavior])
    return library.clips[library.graph[behavior].clips[0]]


def waving(period: int, count: float, fps: float = 60.0, name: str = "wave") -> Clip:
    """Somebody who stands and swings both arms, left twice as far as right, every `period` frames."""
    stand = slice_frames(person("walk_forward"), 0, 1)
    frames = int(count * period)
    turns = np.repeat(stand.rotations, frames, axis=0)
    for joint, size in ((stand.skeleton.index("LeftArm"), 0.8), (stand.skeleton.index("RightArm"), 0.4)):
        angle = size * np.sin(2.0 * np.pi * np.arange(frames) / period)
        turns[:, joint] = rotations.multiply(
            turns[:, joint], rotations.from_rotation_vector(angle[:, None] * [0, 0, 1])
        )
    return Clip(stand.skeleton, np.repeat(stand.root_positions, frames, axis=0), turns, fps, name)


@settings(max_examples=5, deadline=None)
@given(st.integers(40, 120), st.integers(3, 5))
def test_repeats_of_a_wave_last_its_period(period: int, count: int) -> None:
    found = cut_repeats([waving(period, count + 0.5)])
    assert count - 1 <= len(found) <= count
    for one in found:
        assert len(one) - RepeatOptions().tail == period
        assert np.allclose(one.rotations[0], one.rotations[period], atol=1e-6)


def test_repeats_of_a_walk_are_whole_cycles_and_begin_alike_in_all_takes() -> None:
    walk = person("walk_forward")
    first = concatenate([walk] * 4, 0.0, overlap=False)
    second = replace(place(slice_frames(first, 11), (3.0, -2.0, 1.3)), name="second")
    found = cut_repeats([first, second], RepeatOptions(tail=2))
    assert len(found) >= 5
    assert {len(one) - 2 for one in found} == {len(walk) - 1}
    assert {capture_of(one) for one in found} == {first.name, "second"}
    starts = np.array([one.joint_positions()[0] for one in found])
    assert np.abs(starts - starts[0]).max() < 1e-5
    assert all(one.contacts is not None for one in found)


def test_slower_and_faster_strokes_are_found_together() -> None:
    fast, slow = waving(60, 3.5), waving(60, 3.5, name="slow")
    slow = resample(replace(slow, fps=50.0), 60.0)
    lengths = {capture_of(one): len(one) - 3 for one in cut_repeats([fast, slow])}
    assert lengths == {"wave": 60, "slow": 72}


def test_what_does_not_come_again_is_refused() -> None:
    stand = slice_frames(person("walk_forward"), 0, 1)
    nodding = waving(600, 0.5)
    with pytest.raises(VariationError, match="nothing comes again"):
        cut_repeats([nodding])
    with pytest.raises(VariationError, match="too short"):
        cut_repeats([stand])
    with pytest.raises(VariationError, match="different rates"):
        cut_repeats([waving(60, 3), waving(60, 3, fps=30.0)])


def test_a_body_that_lies_heads_where_its_head_is() -> None:
    skeleton = person("walk_forward").skeleton
    lain = lying(skeleton)
    up = rotations.rotate(rotations.conjugate(skeleton.rest_rotations[0]), np.array([0.0, 0.0, 1.0]))
    assert np.allclose(lain.forward, up, atol=1e-9)
    head, hips = lain.rest_positions[lain.index("head")], lain.rest_positions[0]
    assert (head - hips)[0] > 0.3
    assert abs((head - hips)[2]) < 0.1


@needs_mocap
def test_strokes_of_a_swimmer() -> None:
    strokes = captured_repeats(MOCAP / "bvh" / "126_04.bvh")
    assert 6 <= len(strokes) <= 8
    seconds = np.array([stroke.duration for stroke in strokes])
    assert np.all((seconds > 1.3) & (seconds < 2.1))
    assert strokes[0].contacts is None
    for stroke in strokes:  # a swimmer heads where the head is, all the time
        head = stroke.joint_positions()[:, stroke.skeleton.index("head"), :2] - stroke.root_positions[:, :2]
        bearing = np.arctan2(head[:, 1], head[:, 0])
        assert np.abs(stroke.headings() - bearing).max() < np.radians(15.0)
        assert np.ptp(stroke.headings()) < np.radians(15.0)


@needs_mocap
def test_strides_of_runs_are_one_a_take() -> None:
    files = [MOCAP / "bvh" / f"09_0{number}.bvh" for number in range(1, 7)]
    strides = captured_repeats(files)
    assert [capture_of(one) for one in strides] == [f"09_0{number}" for number in range(1, 7)]
    assert np.std([one.duration for one in strides]) < 0.03
    assert all(one.contacts is not None for one in strides)
