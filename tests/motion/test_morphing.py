"""Motions between two clips: aligned by their steps, feet planted, ends untouched."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.library import Library
from gaitway.motion import Clip, foot_slide, mirror
from gaitway.motion.morphing import Morph, align, step_sequence

PAIRS = (
    ("person", "walk_forward", "walk_left_15"),
    ("person", "walk_short", "walk_forward"),
    ("person", "jog_right_15", "jog_right_30"),
    ("person", "turn_left_45", "turn_left_90"),
    ("person", "step_front", "step_left"),
    ("horse", "gallop_left_20", "gallop_right_20"),
    ("skateboarder", "glide_left_25", "glide_left_50"),
)


@cache
def library(name: str) -> Library:
    return load_cast(name, behaviors=[clip for cast, *pair in PAIRS for clip in pair if cast == name])


@cache
def morph(cast: str, a: str, b: str) -> Morph:
    made = Morph.between(library(cast).clips[a], library(cast).clips[b])
    assert made is not None
    return made


def support(clip: Clip, side: str) -> np.ndarray:
    """Whether some point of a foot is down; (F,)."""
    assert clip.contacts is not None
    return clip.contacts[:, [p.name.startswith(side) for p in clip.skeleton.contact_points]].any(axis=1)


def seen_from_root(clip: Clip, frame: int) -> np.ndarray:
    """Joint rotations of a frame without the heading; (J, 4)."""
    pose = np.array(clip.rotations[frame])
    pose[0] = rotations.multiply(rotations.from_yaw(-clip.headings()[frame]), pose[0])
    return pose


@pytest.mark.parametrize(("cast", "a", "b"), PAIRS)
def test_a_share_of_nothing_or_all_is_a_source(cast: str, a: str, b: str) -> None:
    one = morph(cast, a, b).clip(0.0, "one")
    source = library(cast).clips[a]
    assert len(one) == len(source) and one.name == "one"
    np.testing.assert_allclose(one.joint_positions(), source.joint_positions(), atol=2e-4)
    np.testing.assert_array_equal(one.contacts, source.contacts)
    other = morph(cast, a, b).clip(1.0, "other")
    np.testing.assert_allclose(other.planar_path(), library(cast).clips[b].planar_path(), atol=1e-6)


@given(st.sampled_from(PAIRS), st.floats(0.0, 1.0))
@settings(max_examples=30, deadline=None)
def test_whatever_the_share_feet_stay_and_ends_are_those_of_the_sources(
    pair: tuple[str, str, str], share: float
) -> None:
    clip = morph(*pair).clip(share, "between")
    assert foot_slide(clip, ("heel", "ball", "toe", "hoof")).max(initial=0.0) < 0.001
    assert clip.contacts is not None
    assert np.abs(clip.contact_positions()[..., 2][clip.contacts]).max(initial=0.0) < 0.005
    sources = [library(pair[0]).clips[name] for name in pair[1:]]
    for frame in (0, -1):
        for source in sources:
            assert rotations.angle_between(seen_from_root(clip, frame), seen_from_root(source, frame)).max() < 1e-4
            assert clip.root_positions[frame, 2] == pytest.approx(source.root_positions[frame, 2], abs=1e-6)
    turns = [np.ptp(source.headings()[[0, -1]]) * np.sign(source.headings()[-1]) for source in sources]
    turned = clip.headings()[-1] - clip.headings()[0]
    assert turned == pytest.approx(turns[0] + share * (turns[1] - turns[0]), abs=1e-9)
    assert min(map(len, sources)) <= len(clip) <= max(map(len, sources))


@given(st.floats(0.0, 1.0))
@settings(max_examples=20, deadline=None)
def test_steps_come_between_those_of_the_sources(share: float) -> None:
    pair = ("person", "walk_short", "walk_forward")
    clip = morph(*pair).clip(share, "between")
    for side in ("left", "right"):
        changes = [np.flatnonzero(np.diff(support(library("person").clips[name], side))) for name in pair[1:]]
        found = np.flatnonzero(np.diff(support(clip, side)))
        assert len(found) == len(changes[0])
        assert np.abs(found - (changes[0] + share * (changes[1] - changes[0]))).max() <= 1.5


def on_arc(clip: Clip, speed: float, rate: float) -> Clip:
    """The clip with its root led along a circle at a speed [m/s], turning at a rate [rad/s]."""
    heading = rate * np.arange(len(clip)) / clip.fps
    roots, joints = np.array(clip.root_positions), np.array(clip.rotations)
    roots[:, :2] = speed / rate * np.column_stack([np.sin(heading), 1.0 - np.cos(heading)])
    joints[:, 0] = rotations.from_yaw(heading)
    return replace(clip, root_positions=roots, rotations=joints)


@given(st.floats(0.0, 1.0))
@settings(max_examples=10, deadline=None)
def test_two_arcs_give_an_arc(share: float) -> None:
    clip = library("skateboarder").clips["glide_left_25"]
    made = Morph.between(on_arc(clip, 4.0, 0.4), on_arc(clip, 3.0, 1.2))
    assert made is not None
    path, radius = made.path(share), (4.0 - share) / (0.4 + 0.8 * share)
    centre = np.array([0.0, radius])
    np.testing.assert_allclose(np.linalg.norm(path[:, :2] - centre, axis=1), radius, atol=1e-3)
    np.testing.assert_allclose(np.diff(path[:, 2]), (0.4 + 0.8 * share) / clip.fps, atol=1e-9)


def test_clips_of_other_steps_have_nothing_between_them() -> None:
    clips = library("person").clips
    assert align(clips["walk_forward"], clips["turn_left_45"]) is None
    assert align(clips["walk_forward"], mirror(clips["walk_forward"])) is None
    faster = replace(clips["walk_forward"], fps=60.0)
    assert Morph.between(faster, clips["walk_forward"]) is None
    unknown = replace(clips["walk_forward"], contacts=None)
    assert step_sequence(unknown) is None and Morph.between(unknown, clips["walk_forward"]) is None


def test_feet_that_land_in_another_order_do_not_match() -> None:
    clip = library("person").clips["turn_left_45"]
    assert clip.contacts is not None
    swapped = replace(clip, contacts=clip.contacts[:, [3, 4, 5, 0, 1, 2, 8, 9, 6, 7]])
    assert step_sequence(clip) == step_sequence(swapped)
    assert align(clip, clip) is not None and align(clip, swapped) is None


def test_the_same_input_gives_the_same_bytes() -> None:
    clips = library("person").clips
    made = [Morph.between(clips["walk_short"], clips["walk_forward"]) for _ in range(2)]
    first, second = (m.clip(0.3, "x") for m in made if m is not None)
    assert first.rotations.tobytes() == second.rotations.tobytes()
    assert first.root_positions.tobytes() == second.root_positions.tobytes()
