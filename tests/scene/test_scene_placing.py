"""Groups stand where they may: apart, inside, clear of obstacles, and always in the same places."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.spatial
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.core.errors import SceneError
from gaitway.scene import load_scene, ready_scenes, scene_from_dict
from gaitway.world.exact import distance

BASE = {"gaitway": 1, "bounds": [0, 0, 40, 30]}
CRATES = [
    {"box": {"center": [10, 10], "size": [6, 3], "height": 2, "yaw_deg": 30}},
    {"cylinder": {"center": [5, 20], "radius": 2, "height": 1}},
    {"polygon": {"points": [[15, 2], [20, 2], [20, 8], [18, 4]], "height": 1}},
]


def scene(*characters, **keys):
    return scene_from_dict({**BASE, "characters": list(characters), **keys})


def starts(loaded):
    return np.array([c.start[:2] for c in loaded.characters])


def goals(loaded):
    return np.array([c.goal for c in loaded.characters])


def least_gap(points, radii):
    """Least room between discs [m]."""
    gaps = scipy.spatial.distance.squareform(scipy.spatial.distance.pdist(points)) - (radii[:, None] + radii)
    np.fill_diagonal(gaps, np.inf)
    return gaps.min()


areas = st.sampled_from(
    [
        [1, 1, 15, 25],
        [-20, -20, 25, 25],
        {"circle": {"center": [8, 12], "radius": 7}},
        {"polygon": [[2, 2], [24, 4], [22, 14], [12, 14], [4, 28]]},
    ]
)


@given(areas, areas, st.integers(1, 25), st.sampled_from([0.2, 0.3, 0.45]), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_groups_are_apart_inside_and_free(start_area, goal_area, count, radius, seed):
    loaded = scene(
        {"count": count, "name": "a", "start_area": start_area, "goal_area": goal_area, "radius": radius},
        {"count": 10, "name": "b", "start_area": [2, 2, 25, 25], "goal_area": [25, 2, 38, 28]},
        {"name": "ada", "start": [3, 3], "goal": [36, 26]},
        obstacles=CRATES,
        seed=seed,
    )
    assert len(loaded.characters) == count + 11
    radii = np.array([c.radius for c in loaded.characters])
    for points in (starts(loaded), goals(loaded)):
        assert least_gap(points, radii) > -1e-9
        assert (points >= radii[:, None] - 1e-9).all()
        assert (points <= np.array([40, 30]) - radii[:, None] + 1e-9).all()
        assert (distance(loaded.world, points) >= radii - 1e-9).all()


@pytest.mark.parametrize("name", sorted(ready_scenes()))
def test_ready_scenes_place_nobody_on_another(name):
    loaded = load_scene(name)
    radii = np.array([c.radius for c in loaded.characters])
    assert least_gap(starts(loaded), radii) > -1e-9
    assert least_gap(goals(loaded), radii) > -1e-9


def test_points_lie_in_their_area():
    loaded = scene(
        {"count": 40, "start_area": {"circle": {"center": [10, 10], "radius": 5}}, "goal_area": [30, 1, 39, 29]}
    )
    assert (np.hypot(*(starts(loaded) - 10).T) <= 5).all()
    assert ((goals(loaded) >= [30, 1]) & (goals(loaded) <= [39, 29])).all()
    assert np.ptp(goals(loaded), axis=0).min() > 5  # spread, not in a heap


def test_a_ring_is_even_and_opposite_is_across():
    loaded = scene({"count": 8, "start_area": {"ring": {"center": [20, 15], "radius": 9}}, "goal": "opposite"})
    off = starts(loaded) - [20, 15]
    np.testing.assert_allclose(np.hypot(*off.T), 9)
    np.testing.assert_allclose(np.unwrap(np.arctan2(off[:, 1], off[:, 0])), np.arange(8) * np.pi / 4, atol=1e-12)
    np.testing.assert_allclose(goals(loaded) - [20, 15], -off, atol=1e-12)
    for character in loaded.characters:  # everybody faces the middle
        x, y, heading = character.start
        np.testing.assert_allclose([np.cos(heading), np.sin(heading)], [(20 - x) / 9, (15 - y) / 9], atol=1e-12)


def test_the_same_seed_gives_the_same_places_and_another_does_not():
    crowd = {"count": 20, "start_area": [1, 1, 15, 25], "goal_area": [25, 1, 39, 29]}
    first, again, other = (scene(crowd, seed=seed) for seed in (3, 3, 4))
    assert first.characters == again.characters
    assert (starts(first) != starts(other)).any()
    assert (starts(first) != goals(first) - [24, 0]).any()  # starts and goals are drawn apart


def test_a_later_group_moves_no_earlier_one():
    one = {"count": 15, "name": "one", "start_area": [1, 1, 15, 25], "goal_area": [25, 1, 39, 29]}
    two = {**one, "name": "two"}
    alone, both = scene(one), scene(one, two)
    assert both.characters[:15] == alone.characters
    first, last = scene(two, one), scene(two)
    assert first.characters[:15] == last.characters  # places hang on the name, not on the order


def test_fixed_characters_are_placed_first_wherever_they_are_written():
    crowd = {"count": 30, "start_area": [1, 1, 8, 8], "goal_area": [25, 1, 39, 29]}
    loaded = scene(crowd, {"name": "ada", "start": [4, 4], "goal": [30, 15]})
    assert [c.name for c in loaded.characters][-1] == "ada"
    assert least_gap(starts(loaded), np.full(31, 0.3)) > -1e-9
    assert least_gap(goals(loaded), np.full(31, 0.3)) > -1e-9


def test_a_crowd_that_just_fits_is_packed():
    loaded = scene({"count": 90, "start_area": [5, 5, 11, 10], "goal_area": [15, 1, 39, 29]})
    assert least_gap(starts(loaded), np.full(90, 0.3)) > -1e-9  # 0.85 of the densest packing


def test_who_does_not_fit_is_counted():
    with pytest.raises(SceneError, match=r"^characters\[0\].start_area: no room for 500 .*: \d+ fit"):
        scene({"count": 500, "start_area": [5, 5, 11, 10], "goal_area": [15, 1, 39, 29]})
    with pytest.raises(
        SceneError, match=r"^characters\[0\].start_area: .*the area is empty or all of it is in the way"
    ):
        crate = {"box": {"center": [10, 10], "size": [6, 6], "height": 1}}
        scene({"count": 3, "start_area": [8, 8, 12, 12], "goal_area": [15, 1, 39, 29]}, obstacles=[crate])


def test_names_have_as_many_digits_as_they_need():
    loaded = scene({"count": 120, "name": "fan", "start_area": [1, 1, 18, 28], "goal_area": [20, 1, 39, 29]})
    assert loaded.characters[0].name == "fan-001"
    assert loaded.characters[-1].name == "fan-120"


def test_unnamed_groups_have_names_of_their_own():
    crowd = {"count": 2, "start_area": [1, 1, 18, 28], "goal_area": [20, 1, 39, 29]}
    names = [c.name for c in scene(crowd, crowd, {"start": [19, 15], "goal": [30, 30]}).characters]
    assert names == ["crowd-01", "crowd-02", "crowd2-01", "crowd2-02", "character1"]


def test_another_seed_draws_areas_anew_and_leaves_the_rest(tmp_path):
    path = tmp_path / "square.yaml"
    ada = "{name: ada, start: [2, 2, 90], goal: [38, 28]}"
    crowd = "{count: 8, name: crowd, start_area: [0, 4, 8, 24], goal_area: [30, 0, 40, 24]}"
    path.write_text(f"gaitway: 1\nseed: 7\nbounds: [0, 0, 40, 30]\ncharacters:\n  - {ada}\n  - {crowd}\n")
    own, same, other = load_scene(path), load_scene(path, seed=7), load_scene(path, seed=8)
    assert own.hash == same.hash != other.hash and own.world_hash == other.world_hash
    assert np.array_equal(starts(own), starts(same)) and other.seed == 8
    assert own.characters[0] == other.characters[0]
    moved = np.hypot(*(starts(other) - starts(own))[1:].T)
    assert (moved > 0.01).all() and (np.hypot(*(goals(other) - goals(own))[1:].T) > 0.01).all()
    assert own.drawn and not scene({"start": [2, 2], "goal": [8, 8]}).drawn
    path.write_text(path.read_text().replace("seed: 7", "seed: 8"))
    assert load_scene(path).hash == other.hash
    path.write_text(path.read_text().replace("30]\n", "30]\nobstacles: [{sphere: {center: [20, 15], radius: 1}}]\n"))
    assert load_scene(path).world_hash != own.world_hash
    with pytest.raises(SceneError, match="seed -1; write a whole number from 0 to 4294967295"):
        load_scene(path, seed=-1)
