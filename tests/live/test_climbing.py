"""Live crowds on several floors: people climb stairs, and all that a crowd promises holds there too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaitway
from gaitway.audit.auditing import audit_take
from gaitway.core.errors import LiveError
from gaitway.live.climbing.flights import BENT, COLUMNS, FlightOrder
from gaitway.live.climbing.places import CrowdFloors, crowd_floors
from gaitway.live.crowd import LiveCrowd
from gaitway.live.events import Arrived
from gaitway.scene import scene_from_dict
from gaitway.scene.scene import Scene
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box

STEPS, RISE, RUN = 8, 0.17, 0.29
TOP = round(STEPS * RISE, 3)
FRAME = 1.0 / 30.0


def deck(*characters: dict[str, Any]) -> Scene:
    """Return a scene with a deck, and one flight that leads onto it."""
    return scene_from_dict(
        {
            "gaitway": 1,
            "bounds": [0, 0, 22, 9],
            "specials": [
                {"platform": {"center": [16, 4.5], "size": [9, 7], "height": TOP}, "name": "deck"},
                {"stairs": {"center": [11.5 - 0.5 * STEPS * RUN, 4.5], "width": 2.2, "steps": STEPS}, "name": "flight"},
            ],
            "characters": list(characters),
        }
    )


UP = {"name": "ada", "start": [2, 2], "goal": [17, 6, 0, TOP]}
DOWN = {"name": "bo", "start": [18, 3, 180, TOP], "goal": [2, 7]}


def run(crowd: LiveCrowd, seconds: float) -> list[Any]:
    """Step a crowd until all have arrived, or for some seconds; return its events."""
    events = list[Any]()
    for _ in range(round(seconds / FRAME)):
        crowd.step(FRAME)
        events += crowd.events()
        if crowd.arrived().all():
            break
    return events


@pytest.mark.slow
def test_people_climb_both_ways_and_the_take_is_clean() -> None:
    scene = deck(UP, DOWN)
    with gaitway.live(scene, seed=1) as crowd:
        assert crowd.positions()[1, 2] > TOP  # hips over the deck
        np.testing.assert_allclose(crowd.goals(), [[17, 6], [2, 7]])
        events = run(crowd, 40.0)
        assert {e.name: np.round(e.position, 0).tolist() for e in events if isinstance(e, Arrived)} == {
            "ada": [17.0, 6.0], "bo": [2.0, 7.0]
        }  # fmt: skip
        heights = crowd.joints().positions[:, :, 2].min(axis=1)
        np.testing.assert_allclose(heights, [TOP, 0.0], atol=0.05)
        assert audit_take(crowd.take(), scene.world).ok


@pytest.mark.slow
def test_who_walks_slowly_and_has_to_turn_climbs_too() -> None:
    deck = {"points": [[9.2, 0.3], [15.7, 0.3], [15.7, 10.7], [9.2, 10.7]], "clearance": 2.13, "height": 0.25}
    flight = {"center": [7.17, 5.5], "width": 2.2, "steps": 14, "rise": 0.17, "run": 0.29}
    slow = {"name": "ada", "start": [1.5, 5.5, 0], "goal": [12, 4], "goal_floor": "deck", "speed": "slow"}
    scene = scene_from_dict({
        "gaitway": 1, "bounds": [0, 0, 16, 11], "characters": [slow],
        "specials": [{"platform": deck, "name": "deck"}, {"stairs": flight, "name": "flight"}],
    })  # fmt: skip
    with gaitway.live(scene, seed=3) as crowd:
        assert [event.name for event in run(crowd, 60.0) if isinstance(event, Arrived)] == ["ada"]


@pytest.mark.slow
def test_a_restored_crowd_goes_on_alike_on_the_stairs(tmp_path: Path) -> None:
    scene = deck(UP, DOWN)
    with gaitway.live(scene, seed=1) as crowd, gaitway.live(scene, seed=1) as other:
        for _ in range(240):
            crowd.step(FRAME)
        assert any(name.startswith("stairs") for name in crowd.behaviors())
        crowd.save(tmp_path / "crowd.gwlive")
        other.restore(tmp_path / "crowd.gwlive")
        for _ in range(240):
            crowd.step(FRAME)
            other.step(FRAME)
            assert np.array_equal(crowd.joints().positions, other.joints().positions)
        first, second = crowd.take(), other.take()
        # where people looked before a state was restored is not part of it
        for a, b in zip((first.clip(k) for k in range(2)), (second.clip(k) for k in range(2)), strict=True):
            assert np.array_equal(a.root_positions, b.root_positions)
        assert audit_take(second, scene.world).ok


@pytest.mark.slow
def test_things_come_and_goals_change_while_people_climb() -> None:
    scene = deck(UP)
    with gaitway.live(scene, seed=2) as crowd:
        for _ in range(240):
            crowd.step(FRAME)
        crowd.add_obstacle(Obstacle(Box((15.0, 7.0), (0.6, 0.6), 1.0, bottom=TOP), name="crate"))
        crowd.send("ada", [18.0, 2.5, TOP])
        run(crowd, 40.0)
        assert crowd.arrived().all()
        np.testing.assert_allclose(crowd.positions()[0, :2], [18.0, 2.5], atol=0.6)
        crowd.send("ada", [3.0, 3.0])
        run(crowd, 40.0)
        assert crowd.arrived().all()
        assert abs(crowd.positions()[0, 2] - 0.95) < 0.15
        with pytest.raises(LiveError, match="on no floor"):
            crowd.add([40.0, 3.0, 0.0, TOP], [3.0, 3.0])
        crowd.set_world(scene_from_dict({"gaitway": 1, "bounds": [0, 0, 22, 9]}).world)
        with pytest.raises(LiveError, match="floors and stairs stay"):
            crowd.step(FRAME)


def test_dynamics_that_know_one_floor_are_refused() -> None:
    with pytest.raises(LiveError, match="write 'clips'"):
        gaitway.live(deck(UP), dynamics="mixed")
    assert crowd_floors(deck(UP).world, "mixed") is None


def test_places_and_the_plane_of_floors() -> None:
    floors = CrowdFloors(deck(UP).world)
    places = np.array([[17.0, 6.0], [17.0, 6.0], [2.0, 2.0]])
    plane = floors.into(places, np.array([TOP, 0.0, 0.0]), "goals")
    np.testing.assert_array_equal(plane + floors.back(plane)[:, :2], places)
    np.testing.assert_allclose(floors.back(plane)[:, 2], [TOP, 0.0, 0.0])
    assert floors.plane(floors.floors.world) is floors.plane(floors.floors.world)
    names = [floors.floors.world.obstacles[k].name if k >= 0 else "" for k in floors.floors.origins]
    seen = [o.name if not o.name.startswith(("edge", "bounds")) else "" for o in floors.floors.plane.obstacles]
    assert names == seen


def test_orders_of_flights_survive_as_numbers() -> None:
    order = FlightOrder(7, 3, 1, 0, 2, 4, -1, 1.25, (0.1, 0.2, 0.3), (5, 6))
    assert len(order.row()) == COLUMNS
    assert FlightOrder.of_row(order.row()) == order
    full = FlightOrder(7, 3, 1, 0, 2, -1, 9, 1.25, (0.1, 0.2, 0.3), tuple(range(BENT)))
    assert FlightOrder.of_row(full.row()) == full


def slope(*characters: dict[str, Any]) -> Scene:
    """Return a scene with a deck, and a ramp that leads onto it."""
    return scene_from_dict(
        {
            "gaitway": 1,
            "bounds": [0, 0, 25, 9],
            "specials": [
                {"platform": {"center": [20, 4.5], "size": [9, 8], "height": 1.2}, "name": "deck"},
                {"ramp": {"center": [11.5, 4.5], "length": 8, "width": 2.6, "height": 1.2}, "name": "slope"},
            ],
            "characters": list(characters),
        }
    )


@pytest.mark.slow
def test_people_walk_up_and_down_a_ramp_and_a_restored_crowd_goes_on_alike(tmp_path: Path) -> None:
    up = {"name": "ada", "start": [2, 2], "goal": [20, 6, 0, 1.2]}
    scene = slope(up, {"name": "bo", "start": [21, 3, 180, 1.2], "goal": [2, 7]})
    with gaitway.live(scene, seed=1) as crowd, gaitway.live(scene, seed=1) as other:
        run(crowd, 8.0)
        assert (crowd.positions()[:, 2] > 1.02).any()  # on the ramp, or over it
        crowd.save(tmp_path / "crowd.gwlive")
        other.restore(tmp_path / "crowd.gwlive")
        for _ in range(900):
            crowd.step(FRAME)
            other.step(FRAME)
            assert np.array_equal(crowd.joints().positions, other.joints().positions)
        assert crowd.arrived().all()
        np.testing.assert_allclose(crowd.positions()[:, 2], [2.15, 0.95], atol=0.1)
        report = audit_take(crowd.take(), scene.world)
        assert report.ok, [row for row in report.rows if not row.ok]


def test_ground_that_two_floors_share_is_taken_on_both() -> None:
    with gaitway.live(slope(), seed=1) as crowd:
        crowd.add([2.0, 2.0, 0.0], [2.0, 2.0])
        assert crowd.floors is not None
        engine = crowd._started()
        dx, dy = crowd.floors.floors.named("slope").offset
        place, there = np.array([[6.6, 4.5, 0.0]]), np.array([[6.6 + dx, 4.5 + dy, 0.0]])
        assert engine.add(place, place[:, :2])[0] >= 0
        assert engine.add(there, there[:, :2])[0] == -1  # somebody is there, though on another floor
        far = there + np.array([4.0, 0.0, 0.0])
        assert engine.add(far, far[:, :2])[0] >= 0


def test_heights_on_a_slope_in_the_plane() -> None:
    floors = CrowdFloors(slope().world)
    plane = floors.into(np.array([[11.5, 4.5], [20.0, 4.5], [2.0, 2.0]]), np.array([0.6, 1.2, 0.0]), "goals")
    numbers = floors.numbers(plane)
    heights = floors.back(plane)[:, 2] + floors.ground(numbers, plane, 0.0)
    np.testing.assert_allclose(heights, [0.6, 1.2, 0.0], atol=1e-6)


@pytest.mark.slow
def test_people_climb_onto_blocks_and_down_and_hands_stay_on_them() -> None:
    scene = scene_from_dict(
        {
            "gaitway": 1,
            "bounds": [0, 0, 16, 12],
            "specials": [
                {"climb": {"center": [5, 4], "size": [2.6, 2.6], "height": 0.9}, "name": "block"},
                {"climb": {"center": [11, 4], "size": [2.6, 2.6], "height": 0.9}, "name": "other"},
                {"platform": {"center": [13, 10], "size": [4, 2], "height": 0.5}, "name": "deck"},
            ],
            "characters": [
                {"name": "ada", "start": [1.5, 9], "goal": [5, 4], "goal_floor": "block"},
                {"name": "bo", "start": [11, 4.3, 0, 0.9], "goal": [15, 2]},
            ],
        }
    )
    with gaitway.live(scene, seed=1) as crowd:
        run(crowd, 60.0)
        assert crowd.arrived().all()
        np.testing.assert_allclose(crowd.positions()[:, 2], [0.9 + 0.95, 0.95], atol=0.1)
        report = audit_take(crowd.take(), scene.world)
        assert report.ok, [row for row in report.rows if not row.ok]
