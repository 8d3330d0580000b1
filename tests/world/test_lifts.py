"""Lifts: their timetable, where they are at a time, and what stands on them."""

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
from gaitway.world.levels.floors import Floors
from gaitway.world.lifts import Lift
from gaitway.world.world import World


def lift(**more: Any) -> Lift:
    return Lift(**{"center": (8.0, 4.0), "size": (2.0, 3.0), "heights": (0.0, 3.0, 5.0), "dwell": 6.0, **more})


def test_it_stands_at_all_heights_from_low_to_high_and_back() -> None:
    one = lift(speed=1.5)  # rides of 3 s and 2 s
    assert one.stops == (0, 1, 2, 1)
    assert one.keys.tolist() == [[0.0, 6.0], [9.0, 15.0], [17.0, 23.0], [25.0, 31.0]]
    assert one.period == pytest.approx(34.0)
    assert one.height([0.0, 5.9, 7.5, 12.0, 20.0, 28.0, 32.5, 34.0]).tolist() == pytest.approx(
        [0.0, 0.0, 1.5, 3.0, 5.0, 3.0, 1.5, 0.0]
    )


@given(
    st.lists(st.floats(0.5, 6.0), min_size=1, max_size=4), st.floats(0.3, 3.0), st.floats(3.0, 20.0),
    st.floats(-50.0, 50.0), st.floats(-100.0, 300.0),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_its_stands_are_where_it_stands(
    rises: list[float], speed: float, dwell: float, start: float, time: float
) -> None:
    heights = tuple(np.concatenate([[0.0], np.cumsum(rises)]).tolist())
    one = lift(heights=heights, speed=speed, dwell=dwell, start=start)
    for number, height in enumerate(heights):
        come, leave = one.stand(number, time)
        assert leave > time
        assert leave - come == pytest.approx(dwell)
        assert one.height(np.linspace(come + 1e-6, leave - 1e-6, 5)) == pytest.approx(height, abs=1e-6)
        assert one.stand(number, leave + 1e-6)[0] > leave
    times = np.arange(time, time + one.period, 0.01)
    assert np.abs(np.diff(one.height(times))).max() <= 0.01 * speed + 1e-9


def test_it_is_drawn_where_it_is_and_stood_on() -> None:
    one = lift(yaw=0.5 * math.pi, speed=1.5)
    world = World((0.0, 0.0, 20.0, 10.0), lifts=(one,))
    (platform,) = world.at(7.5).moved
    assert platform.shape.heights[1] == pytest.approx(1.5)
    assert platform.shape.footprint().bounds == pytest.approx((6.5, 3.0, 9.5, 5.0))
    points = np.array([[9.4, 4.0], [8.0, 5.4], [8.0, 4.0]])
    assert one.inside(points).tolist() == [True, False, True]
    near = np.full(3, 1.4)
    assert world.standing_height(points, near, np.full(3, 7.5)).tolist() == pytest.approx([1.5, 0.0, 1.5])
    assert world.standing_height(points, np.full(3, 2.9)).tolist() == pytest.approx([3.0, 0.0, 3.0])
    assert world.standing_height(points).tolist() == [0.0, 0.0, 0.0]


def test_keys_tell_all_of_its_ride() -> None:
    one = lift(speed=1.5)
    times = one.moments(0.0, 34.0, 0.1)
    assert len(times) < 140
    assert np.interp(8.13, times, one.height(times)) == pytest.approx(float(one.height(8.13)), abs=0.01)
    assert times[[0, -1]].tolist() == [0.0, 34.0]


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"heights": (0.0,)}, "two or more"),
        ({"heights": (3.0, 0.0)}, "from low to high"),
        ({"speed": 0.0}, "never comes: speed 0"),
        ({"dwell": 0.0}, "never comes"),
        ({"dwell": math.inf}, "never comes"),
    ],
)
def test_lifts_that_never_come(more: dict[str, Any], problem: str) -> None:
    with pytest.raises(WorldError, match=problem):
        lift(**more)


def place(more: dict[str, Any] | None = None, **own: Any) -> dict[str, Any]:
    return {
        "gaitway": 1, "bounds": [0, 0, 18, 8],
        "specials": [{"platform": {"center": [13.5, 4], "size": [8, 7], "clearance": 2.75, "height": 0.25},
                      "name": "gallery"}],
        "lifts": [{"center": [8.5, 4], "size": [2, 2], "floors": [0, 3], "name": "lift", **own}],
        **(more or {}),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (place(size=[0.6, 2]), "lift 'lift' is 0.6 by 2 m; write 1 by 1 or more"),
        (place(center=[0.5, 4]), "lift 'lift' is not within the bounds"),
        (place(center=[10, 4]), "lift 'lift': 'gallery' is in its way; leave its area free at all heights"),
        (
            place({"characters": [{"start": [8.5, 4], "goal": [2, 2]}]}),
            "[8.5, 4] is nearer than 0.3 m to 'lift'; write",
        ),
        (place({"terrain": {"hills": {"height": 0.4, "wavelength": 9, "seed": 1}}}), "no lifts beside slopes yet"),
    ],
)
def test_lifts_in_the_wrong_place(data: dict[str, Any], problem: str) -> None:
    with pytest.raises(SceneError) as told:
        scene_from_dict(data)
    assert problem in str(told.value)
    assert "\n" not in str(told.value).strip()


def test_platforms_are_ground_of_the_plane_and_nobody_stays_there() -> None:
    scene = scene_from_dict(place())
    floors = Floors.of(scene.world)
    assert [(f.name, f.lift) for f in floors.floors] == [
        ("ground", None), ("gallery", None), ("lift at 0 m", 0), ("lift at 3 m", 0)
    ]  # fmt: skip
    assert floors.at(8.5, 4.0, 3.0).name == "ground"
    with pytest.raises(WorldError, match=r"no floor 'lift at 3 m'; .* 'ground' \(0 m\), 'gallery' \(3 m\)$"):
        floors.named("lift at 3 m")
    below, above = floors.lifts
    assert (below.out, above.out) == (pytest.approx(math.pi, abs=1e-9) if below.out > 0 else -math.pi, 0.0)
    walls = [o for o in floors.plane.obstacles if o.name == "lift"]
    assert [w.shape.footprint().bounds for w in walls] == [pytest.approx((7.5, 3.0, 9.5, 5.0))]
    assert len(floors.origins) == len(floors.plane.obstacles)
    again = scene_from_dict(scene.source.model_dump(by_alias=True, exclude_unset=True, exclude_none=True))
    assert again.world.lifts[0].heights == (0.0, 3.0)
    assert "lifts:" in scene_to_yaml(scene.source)


def test_whoever_is_before_the_door_or_in_the_lift_is_seen_on_both_floors() -> None:
    floors = Floors.of(scene_from_dict(place()).world)
    mirrors = floors.mirrors

    def seen(x: float, y: float) -> set[tuple[float, float]]:
        return {
            (round(x + dx, 6), round(y + dy, 6))
            for x0, y0, x1, y1, dx, dy in mirrors
            if x0 <= x <= x1 and y0 <= y <= y1
        }

    low, high = (floors.floors[sheet.number].offset for sheet in floors.lifts)
    assert seen(6.5, 4.0) == {(6.5 + low[0], 4.0 + low[1])}
    assert seen(6.5 + low[0], 4.0 + low[1]) == {(6.5, 4.0)}
    assert seen(8.5 + low[0], 4.0 + low[1]) == {(8.5 + high[0], 4.0 + high[1])}
    assert seen(8.5 + high[0], 4.0 + high[1]) == {(8.5 + low[0], 4.0 + low[1])}
