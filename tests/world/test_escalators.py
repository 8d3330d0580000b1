"""Escalators: where their treads are at any time, what stands on them, and how they are drawn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.core.errors import SceneError, WorldError
from gaitway.scene import scene_from_dict
from gaitway.scene.writing import scene_to_yaml
from gaitway.world.escalators import DEPTH, LEVEL, Escalator
from gaitway.world.levels.floors import Floors
from gaitway.world.world import World

RISES, SLOPES, SPEEDS = st.floats(1.0, 9.0), st.floats(10.0, 35.0), st.floats(0.2, 0.75)


def escalator(**more: Any) -> Escalator:
    return Escalator(**{"center": (10.0, 3.0), "rise": 3.0, **more})


@given(RISES, SLOPES)
@settings(max_examples=40, deadline=None)
def test_it_is_level_at_both_ends_and_as_steep_as_asked_for_between(rise: float, slope_deg: float) -> None:
    one = escalator(rise=rise, slope=math.radians(slope_deg))
    along = np.linspace(0.0, one.length, 4001)
    heights = one.profile(along)
    assert heights[along <= LEVEL].max() == 0.0
    assert heights[along >= one.length - LEVEL].min() == pytest.approx(rise)
    steep = np.diff(heights) / np.diff(along)
    assert steep.min() >= -1e-9
    assert steep.max() == pytest.approx(math.tan(math.radians(slope_deg)), rel=2e-2)
    assert np.abs(np.diff(steep)).max() < 2.0 * along[1]  # it is nowhere bent at once
    assert one.profile(one.length - along) == pytest.approx(rise - heights)


@given(SPEEDS, st.booleans(), st.floats(0.0, 300.0), st.floats(0.0, 1.0))
@settings(max_examples=40, deadline=None)
def test_whoever_stands_on_a_tread_is_carried_with_it(speed: float, down: bool, time: float, share: float) -> None:
    one = escalator(yaw=0.7, down=down, speed=speed)
    middle = one.middle(share * one.length, time)
    later = np.linspace(0.0, 3.0, 31)
    carried = one.carried(time + later) - one.carried(time)
    start = np.array([math.cos(0.7), math.sin(0.7)]) * (middle - 0.5 * one.length) + one.center
    track = start + carried
    there = one.inside(track)
    own = one.along(track)[:, 0]
    assert one.middle(own, time + later) == pytest.approx(own, abs=1e-6)
    near = one.bottom + one.profile(own)
    assert one.height(track, time + later, near)[there] == pytest.approx(near[there], abs=1e-6)
    assert np.hypot(*carried[-1]) == pytest.approx(3.0 * speed)


def test_a_foot_over_an_edge_is_on_the_tread_that_is_nearer_in_height() -> None:
    one = escalator(center=(0.0, 0.0))
    middle = one.middle(0.5 * one.length, 0.0)
    over = np.array([[middle + 0.5 * DEPTH + 0.02 - 0.5 * one.length, 0.0]])
    low, high = (one.profile(middle + k * DEPTH) for k in (0, 1))
    assert high - low == pytest.approx(DEPTH * math.tan(one.slope))
    assert one.height(over, np.zeros(1), np.array([low]))[0] == pytest.approx(high)
    assert one.height(over, np.zeros(1), np.array([low]), 0.04)[0] == pytest.approx(low)


def test_treads_are_ground_at_their_time_and_drawn_where_they_are() -> None:
    one = escalator()
    world = World((0.0, 0.0, 20.0, 8.0), one.panels(), escalators=(one,))
    treads = world.at(7.3).moved
    assert len(treads) == one.tread_count
    for tread in treads:
        x0, y0, x1, y1 = tread.shape.footprint().bounds
        point = np.array([[0.5 * (x0 + x1), 0.5 * (y0 + y1)]])
        along, top = float(one.along(point)[0, 0]), tread.shape.heights[1]
        if 0.5 * DEPTH < along < one.length - 0.5 * DEPTH:
            assert world.standing_height(point, np.array([top]), np.array([7.3]))[0] == pytest.approx(top, abs=0.004)
    assert world.standing_height(np.array([[10.0, 3.0]]), np.array([1.5]))[0] == 0.0  # nobody knows when


@given(SPEEDS, st.booleans(), st.floats(0.0, 100.0), st.integers(0, 19))
@settings(max_examples=25, deadline=None)
def test_keys_tell_all_of_the_way_of_a_tread(speed: float, down: bool, start: float, number: int) -> None:
    one = escalator(speed=speed, down=down)
    times = one.tread_moments(number, start, start + 60.0)
    places = one.tread_places(number, times)
    asked = np.linspace(start, start + 60.0, 1501)
    exact = one.tread_places(number, asked)
    drawn = np.stack([np.interp(asked, times, places[:, k]) for k in range(3)], axis=-1)
    off = np.linalg.norm(drawn - exact, axis=-1)
    assert (off > 0.01).sum() <= 2 * math.ceil(60.0 * speed / one.length)  # only while it begins anew
    assert len(times) < 40 * (2 + 60.0 * speed / one.length)


@pytest.mark.parametrize(
    ("more", "problem"),
    [({"rise": 0.4}, "rises by 0.4 m; write 1 or more"), ({"speed": 0.0}, "carries nobody: speed 0"),
     ({"rise": math.inf}, "rises by inf m")],
)  # fmt: skip
def test_escalators_that_carry_nobody(more: dict[str, Any], problem: str) -> None:
    with pytest.raises(WorldError, match=problem):
        escalator(**more)


WAY_UP = {"center": [8, 4], "height": 3, "name": "way up"}


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"escalators": [{**WAY_UP, "center": [2, 4]}]}, "'way up' (8.5 by 1.2 m) is not within the bounds; move it"),
        ({"obstacles": [{"box": {"center": [8, 4], "size": [1, 1], "height": 2}, "name": "pillar"}]},
         "escalators[0]: escalator 'way up': 'pillar' is in its way; leave its area free at all heights"),
        ({"escalators": [WAY_UP, {**WAY_UP, "center": [8, 4.5], "name": "way down"}]},
         "escalators[0]: escalator 'way up': 'way down' is in its way; leave its area free"),
        ({"terrain": {"hills": {"height": 0.4, "wavelength": 9, "seed": 1}}}, "no escalators beside slopes yet"),
    ],
)  # fmt: skip
def test_escalators_in_the_wrong_place(more: dict[str, Any], problem: str) -> None:
    with pytest.raises(SceneError) as told:
        scene_from_dict({"gaitway": 1, "bounds": [0, 0, 40, 30], "escalators": [WAY_UP], **more})
    assert problem in str(told.value)
    assert "\n" not in str(told.value).strip()


def test_nobody_walks_through_it_on_the_lower_floor_and_its_panels_are_in_the_way() -> None:
    scene = scene_from_dict({
        "gaitway": 1, "bounds": [0, 0, 24, 9],
        "specials": [{"platform": {"center": [19.5, 4.5], "size": [8.6, 8.6], "clearance": 2.75, "height": 0.25},
                      "name": "gallery"}],
        "escalators": [{"center": [10.9, 3], "height": 3, "name": "way up", "direction": "down"}],
    })  # fmt: skip
    (one,) = scene.world.escalators
    assert one.down
    assert len(scene.world.obstacles) == 1 + len(one.panels())
    floors = Floors.of(scene.world)
    assert [floor.name for floor in floors.floors] == ["ground", "gallery"]
    ground = [o for o in floors.plane.obstacles if o.name == "way up"]
    assert any(o.shape.footprint().bounds == pytest.approx(one.area.bounds) for o in ground)
    assert len(floors.origins) == len(floors.plane.obstacles)
    assert "escalators:" in scene_to_yaml(scene.source)
