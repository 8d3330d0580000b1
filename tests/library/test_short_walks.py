"""Short walks: as long as asked for, with feet that stay, between the poses that a library stands in."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.library import short_walks
from gaitway.library.short_walks import BEHAVIOR, LENGTHS, shortened, with_short_walks
from gaitway.motion.contacts import STILL, contact_slip
from gaitway.motion.editing import joined


@pytest.fixture(scope="module")
def library():
    return with_short_walks(load_cast("person"))


@pytest.mark.parametrize("length", LENGTHS)
def test_they_are_as_long_as_asked_for_and_feet_stay(library, length):
    clip = library.clips[f"{BEHAVIOR}_{round(100 * length)}"]
    path = clip.planar_path()
    assert path[-1] - path[0] == pytest.approx([length, 0.0, 0.0], abs=5e-3)
    assert contact_slip(clip) < STILL
    assert 1.2 < clip.duration < 2.6


def test_they_begin_and_end_in_the_standing_pose(library):
    stand = library.clips["stand"].rotations[0]
    for length in LENGTHS:
        clip = library.clips[f"{BEHAVIOR}_{round(100 * length)}"]
        for pose in (clip.rotations[0], clip.rotations[-1]):
            assert np.degrees(rotations.angle_between(pose, stand)).max() < 0.2


def test_knees_do_not_pop(library):
    whole = joined(library.clips["start_walk"], library.clips["stop_walk"])
    own = np.abs(np.diff(whole.joint_positions(), n=2, axis=0)).max()
    for length in LENGTHS[1:]:
        clip = library.clips[f"{BEHAVIOR}_{round(100 * length)}"]
        assert np.abs(np.diff(clip.joint_positions(), n=2, axis=0)).max() < 1.4 * own


def test_a_walk_that_is_not_shortened_stays_the_same_length(library):
    whole = joined(library.clips["start_walk"], library.clips["stop_walk"])
    same = shortened(whole, 0.999)
    assert same.planar_path()[-1, 0] - same.planar_path()[0, 0] == pytest.approx(1.96, abs=0.02)


def test_bodies_without_legs_of_people_keep_their_library():
    horse = load_cast("horse")
    assert with_short_walks(horse) is horse


def test_a_library_gets_them_once(library):
    assert with_short_walks(library) is library


def test_a_walk_that_legs_cannot_take_is_left_out(library, monkeypatch):
    """Legs of captures are quite straight: a knee of a short walk may have to turn farther than knees do."""
    beyond = {f"{BEHAVIOR}_50": 6.3, f"{BEHAVIOR}_70": 0.4}
    real, made = short_walks.shortened, {}
    whole = joined(library.clips["start_walk"], library.clips["stop_walk"]).planar_path()[-1, 0]

    def named(clip, share):
        made[id(one := real(clip, share))] = f"{BEHAVIOR}_{round(100 * share * whole)}"
        return one

    monkeypatch.setattr(short_walks, "shortened", named)
    monkeypatch.setattr(short_walks, "violations", lambda clip: np.array([[beyond.get(made.get(id(clip), ""), 0.0)]]))
    names = {b.name for b in with_short_walks(load_cast("person")).graph.behaviors if b.name.startswith(BEHAVIOR)}
    assert names == {f"{BEHAVIOR}_{n}" for n in (70, 90, 115, 145)}


def test_planted_points_are_on_the_ground(library):
    for length in LENGTHS:
        clip = library.clips[f"{BEHAVIOR}_{round(100 * length)}"]
        assert clip.contact_positions()[clip.contacts][:, 2].max() < 0.01
