"""Displacement maps pass through their anchors and leave the rest alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.core import rotations
from gaitway.core.errors import ClipError
from gaitway.graphs.snap.displacement import Anchor, displaced, velocities
from gaitway.motion.clip import Clip
from gaitway.motion.editing import resample, slice_frames
from snap_walks import walk

LONG = slice_frames(walk(), 0, 91)


def own_anchor(clip: Clip, frame: int) -> Anchor:
    return Anchor(frame, clip.root_positions[frame], clip.rotations[frame], *velocities(clip, frame))


def other_anchor(clip: Clip, frame: int, seed: int, size: float = 0.3) -> Anchor:
    """The clip's own pose and speeds, all changed at random."""
    rng = np.random.default_rng(seed)
    own, joints = own_anchor(clip, frame), len(clip.skeleton)
    turned = rotations.multiply(rotations.from_rotation_vector(size * rng.normal(size=(joints, 3))), own.rotations)
    return Anchor(
        frame,
        own.root + size * rng.normal(size=3),
        turned,
        own.root_velocity + rng.normal(size=3),
        own.angular_velocity + rng.normal(size=(joints, 3)),
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 90), st.integers(0, 1000))
def test_it_passes_through_an_anchor_to_the_bit(frame, seed):
    anchor = other_anchor(LONG, frame, seed)
    out = displaced(LONG, [anchor])
    assert np.array_equal(out.root_positions[frame], anchor.root)
    assert np.array_equal(out.rotations[frame], anchor.rotations)


def test_anchors_of_the_clip_itself_change_nothing():
    out = displaced(LONG, [own_anchor(LONG, f) for f in (0, 20, 55, 90)])
    assert np.abs(out.root_positions - LONG.root_positions).max() < 1e-12
    assert rotations.angle_between(out.rotations, LONG.rotations).max() < 1e-7


@pytest.mark.parametrize("frame", [30, 45, 60])
def test_it_has_the_wanted_velocities_at_an_anchor(frame):
    fine = resample(LONG, 960.0)  # so fine that differences of frames are derivatives
    at = frame * 32
    anchor = other_anchor(fine, at, 3, 0.2)
    out = displaced(fine, [anchor], reach_s=0.5)
    root, spin = velocities(out, at, window_s=0.004)
    clip_root, clip_spin = velocities(fine, at, window_s=0.004)
    wide_root, wide_spin = velocities(fine, at)
    # the clip's own speed is measured over a window, so what is finer than that stays in the result
    assert np.allclose(root - (clip_root - wide_root), anchor.root_velocity, atol=0.03)
    assert np.allclose(spin - (clip_spin - wide_spin), anchor.angular_velocity, atol=0.05)


def test_beyond_its_reach_nothing_changes_and_maps_end_at_the_next_anchor():
    anchors = [other_anchor(LONG, 20, 1), own_anchor(LONG, 32), other_anchor(LONG, 70, 2)]
    out = displaced(LONG, anchors, reach_s=0.5)
    same = np.all(np.isclose(out.root_positions, LONG.root_positions, atol=1e-12), axis=1)
    assert same[:6].all() and not same[8:20].any() and not same[21:31].any()
    assert same[32:56].all() and same[85:].all() and not same[60:80].any()


def test_it_is_smooth_at_both_sides_of_an_anchor():
    still = replace(LONG, root_positions=np.zeros((91, 3)), rotations=np.repeat(LONG.rotations[:1], 91, axis=0))
    fine = resample(still, 480.0)
    at = 45 * 16
    out = displaced(fine, [other_anchor(fine, at, 5)])
    before, after = np.diff(out.root_positions[at - 1 : at + 2], axis=0) * 480.0
    assert np.linalg.norm(after - before) < 0.05 * np.linalg.norm(before)


def test_velocities_of_steady_motion_are_exact_at_the_ends_too():
    spin = np.array([0.3, -0.2, 0.5])
    times = np.arange(20)[:, None] / 30.0
    turns = np.repeat(LONG.rotations[:1], 20, axis=0)
    turns[:, 0] = rotations.from_rotation_vector(times * spin)
    clip = Clip(LONG.skeleton, times * np.array([1.0, 2.0, -0.5]), turns, 30.0)
    for frame in (0, 7, 19):
        root, angular = velocities(clip, frame)
        assert np.allclose(root, [1.0, 2.0, -0.5])
        assert np.allclose(angular[0], spin, atol=1e-6) and np.allclose(angular[1:], 0.0)


def test_bad_anchors_are_refused():
    anchor = own_anchor(LONG, 5)
    with pytest.raises(ClipError, match="anchor at frame 91 of clip 'walk-0', which has frames 0 to 90"):
        displaced(LONG, [replace(anchor, frame=91)])
    with pytest.raises(ClipError, match="two anchors at frame 5"):
        displaced(LONG, [anchor, anchor])
    with pytest.raises(ClipError, match="reach of a displacement map is 0"):
        displaced(LONG, [anchor], reach_s=0.0)
    few = replace(anchor, rotations=anchor.rotations[:3], angular_velocity=anchor.angular_velocity[:3])
    with pytest.raises(ClipError, match="has 3 joints and clip 'walk-0' has 25"):
        displaced(LONG, [few])
