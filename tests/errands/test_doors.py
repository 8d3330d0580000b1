"""Doors: people wait before a door that is shut, it shuts on nobody, and the take tells how it moved."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import shapely

from gaitway.audit import audit_take
from gaitway.errands.doors import Doorkeeper, barring_door, free_from, place_before, spans_within
from gaitway.errands.standing_places import StandingPlaces
from gaitway.planning import Planned, plan_scene
from gaitway.scene import scene_from_dict
from gaitway.space.fields import WorldFields
from gaitway.space.mover_sweep import Swept
from gaitway.world.world import realised, with_doors

GATE: dict[str, Any] = {
    "gaitway": 1,
    "bounds": [0, 0, 14, 8],
    "end": 40,
    "places": {"hall": {"area": [9.5, 1, 13, 7]}},
    "obstacles": [
        {"wall": {"points": [[7, 0], [7, 3.2]], "thickness": 0.3}},
        {"wall": {"points": [[7, 4.8], [7, 8]], "thickness": 0.3}},
    ],
    "doors": [{"name": "gate", "center": [7, 4], "size": [1.6, 0.12], "yaw_deg": 90, "slide": [0, 1.6]}],
    "characters": [
        {"name": "ada", "start": [2, 4], "errands": [{"go": "hall"}]},
        {"name": "ben", "start": [1.5, 1], "start_time": 9, "errands": [{"go": "hall"}]},
    ],
    "rules": [
        {"event": "boarding", "at": 10, "open": ["gate"]},
        {"event": "full", "at": 11.7, "close": ["gate"]},
        {"event": "boarding again", "at": 26, "open": ["gate"]},
    ],
}


def with_parts(**parts: Any) -> dict[str, Any]:
    return {**copy.deepcopy(GATE), **parts}


@pytest.fixture(scope="module")
def gate() -> Planned:
    return plan_scene(scene_from_dict(GATE), seed=1)


def crossing(planned: Planned, name: str) -> float:
    """When the middle of somebody is beyond the wall for good [s]."""
    times = np.arange(0.0, planned.take.duration, 0.1)
    x = planned.take.planar(times)[planned.take.names.index(name), :, 0]
    return float(times[np.flatnonzero(x < 7.0)[-1]])


def test_people_wait_for_a_door_that_is_shut_and_go_on_when_it_opens(gate: Planned) -> None:
    assert gate.failed == {}
    assert {row[3] for rows in gate.take.facts["errands"].values() for row in rows} == {"done"}
    waits = gate.take.planar(np.array([9.5]))[gate.take.names.index("ada"), 0]
    assert 0.9 < 7.0 - waits[0] < 3.0 and abs(waits[1] - 4.0) > 0.35  # near the door, beside the way through it
    assert 10.0 < crossing(gate, "ada") < 20.0


def test_who_is_on_the_way_when_a_door_is_to_close_turns_and_waits(gate: Planned) -> None:
    assert crossing(gate, "ben") > 26.0
    (opens, shuts, again) = gate.take.facts["doors"]["gate"]["moves"]
    assert opens == ["opens", 10.0, 10.0, 11.5, ""]
    assert again[:2] == ["opens", 26.0]
    assert shuts[0] == "shuts" and shuts[1] == 11.7 and shuts[4] == "ada"
    assert crossing(gate, "ada") < shuts[2] == shuts[3] - 1.5  # it waited for her


def test_the_audit_knows_the_door_as_it_moved(gate: Planned) -> None:
    report = audit_take(gate.take, gate.scene.world)
    assert report.ok, str(report)
    written = scene_from_dict(GATE).world  # where the door never moves
    assert audit_take(gate.take, written).ok
    deaf = replace(gate.take, facts={key: value for key, value in gate.take.facts.items() if key != "doors"})
    assert not audit_take(deaf, written).ok  # they would have walked through it


def test_nobody_ever_is_where_the_leaf_is(gate: Planned) -> None:
    world = realised(scene_from_dict(GATE).world, gate.take.facts)
    (leaf,) = [mover for mover in world.movers if mover.name == "gate"]
    for time in np.arange(0.0, gate.take.duration, 0.2).tolist():
        covered = shapely.Polygon(leaf.at(time).shape.footprint().rings[0])
        for x, y in gate.take.planar(np.array([time]))[:, 0, :2].tolist():
            assert math.isnan(x) or covered.distance(shapely.Point(x, y)) > 0.2


def test_a_door_that_nothing_opens_is_named() -> None:
    planned = plan_scene(scene_from_dict(with_parts(rules=[])), seed=1)
    assert planned.failed["ada"].reason == "go hall: door 'gate' is shut and nothing opens it"


def test_who_waits_when_the_run_ends_is_told_of() -> None:
    rules = [{"event": "never", "reach": "hall", "open": ["gate"]}]
    people = [GATE["characters"][0]]
    planned = plan_scene(scene_from_dict(with_parts(rules=rules, characters=people, end=15)), seed=1)
    (row,) = planned.take.facts["errands"]["ada"]
    assert row[3:] == ["going on", "waits for door 'gate', which stays shut"]


def test_there_may_be_another_way() -> None:
    walls = [{"wall": {"points": [[7, 1.6], [7, 3.2]], "thickness": 0.3}}, GATE["obstacles"][1]]
    planned = plan_scene(scene_from_dict(with_parts(obstacles=walls, rules=[])), seed=1)
    assert planned.failed == {}


def test_a_door_waits_for_who_stands_in_the_doorway() -> None:
    people = [{"name": "cy", "start": [7, 4], "errands": [{"wait": 8}, {"go": "hall"}]}]
    doors = [{**GATE["doors"][0], "open": True}]
    rules = [{"event": "night", "at": 2, "close": ["gate"]}]
    planned = plan_scene(scene_from_dict(with_parts(doors=doors, characters=people, rules=rules)), seed=1)
    ((_, asked, begins, _, who),) = planned.take.facts["doors"]["gate"]["moves"]
    assert planned.failed == {} and (asked, who) == (2.0, "cy") and begins > 8.0
    assert audit_take(planned.take, planned.scene.world).ok


def test_doors_hang_on_the_seed_alone(gate: Planned) -> None:
    again = plan_scene(scene_from_dict(GATE), seed=1)
    assert again.take.facts["doors"] == gate.take.facts["doors"]
    assert again.take.facts["errands"] == gate.take.facts["errands"]


ROOMS = scene_from_dict(
    {
        "gaitway": 1,
        "bounds": [0, 0, 18, 6],
        "obstacles": [
            {"wall": {"points": [[x, a], [x, b]], "thickness": 0.3}} for x in (6, 12) for a, b in ((0, 2.2), (3.8, 6))
        ],
        "doors": [
            {"name": "first", "center": [6, 3], "size": [1.6, 0.1], "yaw_deg": 90},
            {"name": "second", "center": [12, 3], "size": [1.6, 0.1], "yaw_deg": 90, "swing_deg": 90},
        ],
        "characters": [{"name": "ada", "start": [2, 3], "goal": [3, 3]}],
    }
).world


def fields(**are_open: bool) -> WorldFields:
    return WorldFields.of(with_doors(ROOMS, {"first": False, "second": False, **are_open}))


def test_the_first_of_several_doors_on_the_way_is_in_the_way() -> None:
    first, second = ROOMS.doors
    shut = fields().parts
    assert barring_door(shut, ROOMS.doors, (2.0, 3.0), (16.0, 3.0), 0.3) is first
    assert barring_door(shut, ROOMS.doors, (16.0, 3.0), (2.0, 3.0), 0.3) is second
    assert barring_door(shut, ROOMS.doors, (9.0, 3.0), (2.0, 3.0), 0.3) is first
    assert barring_door(shut, ROOMS.doors, (2.0, 3.0), (4.0, 1.0), 0.3) is None
    assert barring_door(shut, [second], (2.0, 3.0), (16.0, 3.0), 0.3) is None  # the first one is a wall
    assert barring_door(fields(first=True).parts, [second], (2.0, 3.0), (16.0, 3.0), 0.3) is second


@pytest.mark.parametrize(("x", "sign"), [(2.0, -1.0), (9.0, 1.0)])
def test_people_wait_on_their_side_and_leave_the_way_free(x: float, sign: float) -> None:
    place, taken = fields(), StandingPlaces(fields().clearance)
    found = []
    for name in ("a", "b", "c", "d"):
        pose = place_before(place.parts, ROOMS.doors[0], taken, name, 0.3, (x, 3.0, 0.0))
        assert pose is not None
        taken.taken[name] = pose[:2]
        found.append(pose)
    points = np.array(found)
    assert (sign * (points[:, 0] - 6.0) > 1.0).all() and (np.abs(points[:, 1] - 3.0) > 0.6).all()
    gaps = np.hypot(*(points[:, None, :2] - points[None, :, :2]).T)
    assert gaps[np.triu_indices(4, 1)].min() >= 0.85
    assert (np.cos(points[:, 2]) * sign < 0.0).all()  # they look at the door


def test_nobody_waits_where_a_leaf_swings() -> None:
    door, taken = ROOMS.doors[1], StandingPlaces(fields().clearance)
    for name in ("a", "b", "c", "d"):
        pose = place_before(fields(first=True).parts, door, taken, name, 0.3, (9.0, 3.0, 0.0))
        assert pose is not None and shapely.distance(door.sweep, shapely.Point(pose[:2])) > 0.5
        taken.taken[name] = pose[:2]


def test_a_door_turns_round_on_its_way() -> None:
    keeper = Doorkeeper(ROOMS)
    assert keeper.ask("first", True, 10.0) and not keeper.ask("first", True, 10.5)
    keeper.begin("first", 10.0)
    assert keeper.pose("first", 10.75) == pytest.approx(keeper.doors["first"].pose(0.5))
    keeper.ask("first", False, 10.5)
    move = keeper.begin("first", 10.5)
    assert move is not None and move.ends == pytest.approx(11.0)
    assert keeper.pose("first", 20.0) == pytest.approx(keeper.doors["first"].shut)
    assert [m.ends for m in keeper.moves["first"]] == pytest.approx([10.5, 11.0])
    times = keeper.mover("first").times
    assert (np.diff(times) > 0.0).all()


def test_a_move_that_never_began_is_not_told() -> None:
    keeper = Doorkeeper(ROOMS)
    keeper.ask("first", True, 1.0)
    keeper.begin("first", 1.0)
    keeper.ask("first", False, 5.0)
    keeper.begin("first", 9.0)  # it waits for somebody
    keeper.ask("first", True, 6.0)
    assert keeper.begin("first", 6.0) is None
    assert [move.opens for move in keeper.moves["first"]] == [True]
    assert keeper.pose("first", 30.0) == pytest.approx(keeper.doors["first"].open)
    keeper.ask("first", False, 7.0)
    keeper.ask("first", True, 8.0)  # before it could move
    assert keeper.waiting == {}


def test_a_swing_door_needs_its_quarter_and_a_sliding_one_its_doorway() -> None:
    keeper = Doorkeeper(ROOMS)
    keeper.asked_open = {"first": False, "second": True}
    assert keeper.needed("first").contains(shapely.Point(6.0, 3.0))
    assert not keeper.needed("first").intersects(shapely.Point(5.0, 3.0))
    swing = keeper.doors["second"]
    assert keeper.needed("second").contains(shapely.Point(swing.pose(0.5)[:2]).buffer(0.01)) is False  # the hinge
    assert keeper.needed("second").contains(shapely.Point(11.2, 3.0))


def test_a_doorway_is_free_when_the_last_one_is_out() -> None:
    here = np.array([[6.0, 3.0, 0.3]])
    area = Doorkeeper(ROOMS).doors["first"].leaf
    first, second = Swept.standing(here, 20, 35, -1), Swept.standing(here, 50, 62, -1)
    aside = Swept.standing(here + np.array([2.0, 0.0, 0.0]), 0, 900, -1)
    assert np.allclose(spans_within([first, second, aside], area, 3.0), [(3.0, 3.5), (5.0, 6.2)])
    people = {"ada": lambda: [first], "ben": lambda: [second], "cy": lambda: [aside]}
    assert free_from(people, area, 1.0) == (pytest.approx(6.2), "ben")
    assert free_from({"cy": lambda: [aside]}, area, 1.0) == (1.0, "")
    stays = {"dan": lambda: [Swept.standing(here, 0, 2**31 - 1, -1)]}
    assert free_from(stays, area, 1.0) == (math.inf, "dan")
