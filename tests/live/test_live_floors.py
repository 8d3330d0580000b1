"""Live errands on several floors: people queue, sit, wait and leave upstairs, and the record of it is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gaitway.audit import audit_take
from gaitway.core.errors import LiveError
from gaitway.errands.dispatcher import DONE
from gaitway.errands.doors import Doorkeeper, barring_door, place_before
from gaitway.errands.standing_places import StandingPlaces
from gaitway.live.climbing.places import CrowdFloors
from gaitway.live.doors import DoorMoved
from gaitway.live.errands import ErrandDone, LiveErrands
from gaitway.scene import scene_from_dict
from gaitway.space.fields import WorldFields
from gaitway.world.levels.floors import Floors
from gaitway.world.world import realised, with_doors

TOP = 2.04
SPECIALS = [
    {"platform": {"center": [17, 6], "size": [10, 8], "height": TOP}, "name": "deck"},
    {"stairs": {"center": [10.26, 6], "width": 2.4, "steps": 12}, "name": "flight"},
]
LOFT: dict[str, Any] = {
    "gaitway": 1,
    "bounds": [0, 0, 26, 12],
    "specials": SPECIALS,
    "obstacles": [{"box": {"center": [18, 9.2], "size": [2.4, 0.42], "height": 0.45, "bottom": TOP}, "name": "bench"}],
    "places": {
        "view": {"at": [19, 7, 90], "floor": "deck"},
        "door": [1, 2],
        "bench": {"seats": [[17.5, 8.99, -90], [18.5, 8.99, -90]], "floor": "deck"},
        "kiosk": {"line": [[20.5, 3.2], [16.5, 3.2]], "service": 3, "floor": "deck"},
    },
    "characters": [
        {
            "name": "ada",
            "start": [3, 3],
            "errands": [{"sit": "bench", "seconds": 5}, {"go": [15, 4, 0, TOP]}, {"leave": "door"}],
        }
    ],
    "sources": [
        {
            "name": "up",
            "floor": "deck",
            "area": [13, 3, 16, 9],
            "times": [2],
            "errands": [{"queue": "kiosk"}, {"look": "view"}, {"leave": "door"}],
        }
    ],
}

BELOW = {"name": "up", "area": [1, 1, 4, 4], "times": [500], "errands": [{"leave": [2, 2]}]}


@pytest.mark.slow
def test_people_sit_and_queue_upstairs_and_leave_below() -> None:
    lowest, told = 9.0, list[ErrandDone]()
    with LiveErrands(scene_from_dict(LOFT), seed=1) as run:
        while not run.over and run.time < 150.0:
            run.step(1 / 30)
            told += [event for event in run.events() if isinstance(event, ErrandDone)]
            if "ada" in run.crowd and run.sits("ada"):
                x, y, z = run.crowd.joints("ada").positions[0, 0].tolist()
                lowest = min(lowest, z)
                assert 17.0 < x < 19.0 and 8.0 < y < 9.5
        assert run.over and len(run.crowd) == 0 and run.refused == {}
        assert {(event.name, event.span.label, event.span.outcome) for event in told} == {
            ("ada", "sit bench", DONE), ("ada", "go (15, 4)", DONE), ("ada", "leave door", DONE),
            ("up-001", "queue kiosk", DONE), ("up-001", "look view", DONE), ("up-001", "leave door", DONE),
        }  # fmt: skip
        assert TOP + 0.4 < lowest < TOP + 0.65  # hips on the seat
        # people of another speed came while ada was on the stairs: the record knows her steps all the same
        report = audit_take(run.take(), run.world)
        assert report.ok, str(report)


def test_a_point_of_the_plane_is_one_of_the_place() -> None:
    floors = CrowdFloors(scene_from_dict(LOFT).world)
    for x, y, height in ((3.0, 3.0, None), (15.0, 4.0, TOP), (15.0, 4.0, 0.0)):
        flat = floors.into(np.array([[x, y]]), None if height is None else np.array([height]), "goals")[0]
        assert np.allclose(floors.place_of(*flat), (x, y, height or 0.0))
    deck = floors.floors.named("deck")
    beside = floors.place_of(11.0 + deck.offset[0], 6.0 + deck.offset[1])  # a metre off the deck, over the stairs
    assert np.allclose(beside, (12.0, 6.0, TOP), atol=1e-6)


def test_who_comes_out_of_a_source_upstairs_is_there_and_an_edit_keeps_floors() -> None:
    with LiveErrands(scene_from_dict({**LOFT, "characters": []}), seed=1) as run:
        while "up-001" not in run.crowd:
            run.step(1 / 30)
        assert run.crowd.positions("up-001")[0, 2] > TOP + 0.8
        moved = {**LOFT["places"], "kiosk": {**LOFT["places"]["kiosk"], "line": [[20.5, 9.0], [16.5, 9.0]]}}
        run.change(scene_from_dict({**LOFT, "characters": [], "places": moved}))
        assert run.dispatcher.people["up-001"].errand is None  # begins again
        x, y, heading = run.crowd.roots("up-001")[0].tolist()
        run.take_out("up-001")
        assert run.is_away("up-001") and run.put_back("up-001", (x, y, heading))
        assert run.crowd.positions("up-001")[0, 2] > TOP + 0.8
        for other in ([], [*SPECIALS, {"platform": {"center": [3, 10], "size": [3, 3], "height": 1.0}}]):
            with pytest.raises(LiveError, match="floors"):
                run.change(scene_from_dict({**LOFT, "characters": [], "specials": other, "obstacles": [],
                                            "places": {}, "sources": [BELOW]}))  # fmt: skip


WALLS = [
    {"box": {"center": [18, y], "size": [0.2, 3.2], "height": 2.1, "bottom": TOP}, "name": "wall"} for y in (3.6, 8.4)
]
UPSTAIRS: dict[str, Any] = {
    "gaitway": 1,
    "bounds": [0, 0, 26, 12],
    "specials": SPECIALS,
    "obstacles": WALLS,
    "doors": [{"name": "gate", "center": [18, 6], "size": [1.6, 0.1], "yaw_deg": 90, "slide": [0, 1.6], "bottom": TOP}],
    "areas": [{"area": [13, 2.5, 17, 9.5], "floor": "deck", "one_way": 0, "name": "in"}],
    "places": {"room": {"area": [19.2, 3, 21.5, 9], "floor": "deck"}},
    "characters": [{"name": "ada", "start": [3, 3], "errands": [{"go": "room"}]}],
    "rules": [{"event": "opening", "at": 24, "open": ["gate"]}],
}
STAIRS = (((8.0, 6.0, 0.0), (12.5, 6.0, 0.0)), ((12.5, 6.0, 3.14), (8.0, 6.0, 3.14)))


def test_a_door_upstairs_is_in_the_way_of_who_is_below_and_has_its_floor_in_the_plane() -> None:
    world = scene_from_dict(UPSTAIRS).world
    floors = Floors.of(world)
    dx, dy = floors.named("deck").offset
    flat, keeper = floors.plane, Doorkeeper(floors.plane)
    (gate,) = flat.doors
    assert gate.middle == (18 + dx, 6 + dy) and gate.shape.heights == (0.0, 2.1)
    assert [mover.name for mover in flat.movers] == ["gate"]  # on the deck alone
    links = [tuple((x + dx * (x > 9), y + dy * (x > 9), yaw) for x, y, yaw in link) for link in STAIRS]
    below, room, view = (3.0, 3.0), (20.0 + dx, 6.0 + dy), (15.0 + dx, 4.0 + dy)
    shut = WorldFields.of(with_doors(flat, {"gate": False}))
    assert barring_door(shut.parts, [gate], below, room, 0.3, links) is gate
    assert barring_door(shut.parts, [gate], below, view, 0.3, links) is None
    assert barring_door(WorldFields.of(with_doors(flat, {"gate": True})).parts, [gate], below, room, 0.3, links) is None
    waits = place_before(shut.parts, gate, StandingPlaces(shut.clearance), "ada", 0.3, (*below, 0.0), links=links)
    assert waits is not None and 13.0 < waits[0] - dx < 17.5  # upstairs, on this side of it
    keeper.ask("gate", True, 2.0)
    keeper.begin("gate", 2.0)
    (leaf,) = realised(world, {"doors": keeper.facts()}).movers
    assert leaf.pose(9.0).tolist() == pytest.approx([18.0, 7.6, np.pi / 2])  # in the place


def test_an_area_upstairs_is_on_its_floor_alone() -> None:
    world = scene_from_dict(UPSTAIRS).world
    ((area,), (flat,)) = world.areas, Floors.of(world).plane.areas
    assert area.heights == (TOP, TOP)
    assert area.holds([[15.0, 5.0, TOP + 0.98], [15.0, 5.0, 0.98], [12.0, 5.0, TOP + 0.98]]).tolist() == [
        True,
        False,
        False,
    ]
    assert np.allclose(flat.outline - area.outline, Floors.of(world).named("deck").offset)


@pytest.mark.slow
def test_a_live_door_upstairs_opens_and_who_waited_before_it_goes_on() -> None:
    with LiveErrands(scene_from_dict({**UPSTAIRS, "areas": []}), seed=1) as run:
        told, before = list[Any](), 0.0
        while not run.over and run.time < 60.0:
            run.step(1 / 30)
            told += [event for event in run.events() if isinstance(event, ErrandDone | DoorMoved)]
            if run.time < 24.0:
                before = max(before, float(run.crowd.positions("ada")[0, 0]))
        assert [(type(event), event.time > 24.0 - 1e-6) for event in told] == [(DoorMoved, True), (ErrandDone, True)]
        assert told[1].span.outcome == DONE and 15.0 < before < 17.6  # she waited upstairs
        x, y, z = run.crowd.positions("ada")[0].tolist()
        assert x > 19.0 and 2.5 < y < 9.5 and z > TOP + 0.8
        report = audit_take(run.take(), run.world)
        assert report.ok, str(report)
