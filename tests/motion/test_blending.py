from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from figures import standing, walking
from gaitway.cast.catalog import load_cast
from gaitway.core import planar, rotations
from gaitway.core.errors import ClipError
from gaitway.motion import blend, concatenate, detect_contacts, ease, mirror, place, resample, slice_frames
from strategies import oblique


@pytest.fixture(scope="module")
def walk():
    return detect_contacts(walking(2.2))


def steps(clip):
    """Largest turn of any joint [deg] and largest move of the root [m] from frame to frame."""
    turn = np.degrees(rotations.angle_between(clip.rotations[1:], clip.rotations[:-1])).max()
    return turn, np.linalg.norm(np.diff(clip.root_positions, axis=0), axis=-1).max()


@given(st.floats(-1.0, 2.0))
def test_ease_is_a_smooth_step(t):
    assert 0.0 <= ease(t) <= 1.0
    assert ease(t) + ease(1.0 - t) == pytest.approx(1.0)
    slope = (ease(t + 1e-6) - ease(t - 1e-6)) / 2e-6
    inside = 6.0 * t * (1.0 - t) if 0.0 < t < 1.0 else 0.0
    assert slope == pytest.approx(inside, abs=1e-4)


def test_blend_at_both_ends_and_between(walk):
    other = mirror(walk)
    np.testing.assert_allclose(blend(walk, other, 0.0).joint_positions(), walk.joint_positions(), atol=1e-9)
    np.testing.assert_allclose(blend(walk, other, 1.0).joint_positions(), other.joint_positions(), atol=1e-9)
    half = blend(walk, other, 0.5)
    np.testing.assert_allclose(half.root_positions, 0.5 * (walk.root_positions + other.root_positions))
    a, b = (rotations.angle_between(half.rotations, c.rotations) for c in (walk, other))
    np.testing.assert_allclose(a, b, atol=1e-6)
    weights = np.linspace(0.0, 1.0, len(walk))
    mixed = blend(walk, other, weights)
    np.testing.assert_array_equal(mixed.contacts[0], walk.contacts[0])
    np.testing.assert_array_equal(mixed.contacts[-1], other.contacts[-1])


@pytest.mark.parametrize("overlap", [True, False])
def test_concatenation_is_as_smooth_as_its_clips(walk, overlap):
    joined = concatenate([walk, mirror(walk), walk], 0.4, overlap=overlap)
    turn, move = steps(joined)
    own_turn, own_move = steps(walk)
    assert turn < 1.5 * own_turn
    assert move < 1.5 * own_move
    assert joined.contacts is not None and len(joined.contacts) == len(joined)
    lost = 2 * round(0.4 * walk.fps) if overlap else 2
    assert len(joined) == 3 * len(walk) - lost


def test_each_clip_begins_where_the_last_one_ends(walk):
    turned = place(walk, [5.0, -3.0, 2.0])
    joined = concatenate([walk, turned], 0.3, overlap=False)
    path = joined.planar_path()
    np.testing.assert_allclose(
        path[-1],
        planar.compose(walk.planar_path()[-1], planar.relative(walk.planar_path()[0], walk.planar_path()[-1])),
        atol=1e-6,
    )


def test_blend_is_exact_outside_its_window(walk):
    joined = concatenate([walk, walk], 0.3)
    window = round(0.3 * walk.fps)
    np.testing.assert_array_equal(joined.rotations[: len(walk) - window], walk.rotations[: len(walk) - window])
    np.testing.assert_allclose(joined.rotations[-10:, 1:], walk.rotations[-10:, 1:], atol=1e-12)


def test_labels_and_names_are_joined(walk):
    a, b = replace(walk, name="a", labels=("walk", "x")), replace(walk, name="b", labels=("walk", "y"))
    joined = concatenate([a, b])
    assert joined.name == "a+b"
    assert joined.labels == ("walk", "x", "y")
    assert concatenate([a], name="z").name == "z"


def test_very_short_clips_can_be_joined(walk):
    frame = slice_frames(walk, 5, 6)
    assert len(concatenate([frame, frame], 0.5)) == 1
    assert len(concatenate([frame, walk], 0.5, overlap=False)) == len(walk)
    assert len(concatenate([walk, frame, walk], 0.5)) == 2 * len(walk) - 30


def test_clips_that_do_not_fit_are_refused(walk):
    with pytest.raises(ClipError, match="at least one"):
        concatenate([])
    with pytest.raises(ClipError, match="resample one first"):
        concatenate([walk, resample(walk, 30.0)])
    other = replace(standing(3), skeleton=oblique(walk.skeleton))
    with pytest.raises(ClipError, match="retarget one first"):
        concatenate([walk, other])
    with pytest.raises(ClipError, match="equal counts"):
        blend(walk, slice_frames(walk, 0, 5), 0.5)


def test_clips_without_contacts_stay_without(walk):
    bare = replace(walk, contacts=None)
    assert concatenate([walk, bare]).contacts is None
    assert blend(walk, bare, 0.3).contacts is None


def test_clips_made_to_follow_are_joined_without_any_change() -> None:
    person = load_cast("person", behaviors=["walk_forward", "start_stairs_up", "stairs_up", "stop_stairs_up"])
    names = ["walk_forward", "start_stairs_up", "stairs_up", "stairs_up", "stop_stairs_up", "walk_forward"]
    parts = [person.clips[n] for n in names]
    whole = concatenate(parts, overlap=False)
    assert len(whole) == sum(len(c) for c in parts) - len(parts) + 1
    assert whole.contacts is not None
    points = whole.contact_positions()
    for k in range(points.shape[1]):
        held = whole.contacts[1:, k] & whole.contacts[:-1, k]
        assert np.linalg.norm(np.diff(points[:, k], axis=0)[held], axis=-1).max(initial=0.0) < 0.002
    risen = whole.contact_positions()[-1, whole.contacts[-1], 2].min()
    assert risen > 0.5  # it ends on the upper floor and stays there
