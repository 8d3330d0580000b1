"""Doors of a live crowd: they open and shut by rules and by calls, shut on nobody, and tell of it."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
import shapely

from gaitway.audit import audit_take
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import LiveError
from gaitway.errands.dispatcher import DONE
from gaitway.errands.doors import Doorkeeper
from gaitway.live.crowd import LiveCrowd
from gaitway.live.doors import DoorMoved, LiveDoors
from gaitway.live.errands import ErrandDone, LiveErrands
from gaitway.scene import scene_from_dict
from gaitway.space.prepared import PreparedLibrary
from gaitway.world.world import World

GATE: dict[str, Any] = {
    "gaitway": 1,
    "bounds": [0, 0, 18, 10],
    "places": {"hall": {"area": [12, 2, 17, 8]}},
    "obstacles": [
        {"wall": {"points": [[9, 0], [9, 3.6]], "thickness": 0.2}},
        {"wall": {"points": [[9, 6.4], [9, 10]], "thickness": 0.2}},
    ],
    "doors": [{"name": "gate", "center": [9, 5], "size": [2.8, 0.1], "yaw_deg": 90, "slide": [0, 2.8]}],
    "characters": [
        {"name": "ada", "start": [3, 5], "errands": [{"go": "hall"}]},
        {"name": "ben", "start": [2, 3], "errands": [{"wait": 12}, {"go": "hall"}]},
    ],
    "rules": [{"event": "boarding", "at": 8, "open": ["gate"]}],
}


def played(run: LiveErrands, seconds: float) -> list[DoorMoved | ErrandDone]:
    told: list[DoorMoved | ErrandDone] = []
    while not run.over and run.time < seconds:
        run.step(1 / 30)
        leaf = shapely.Polygon(run.world.movers[-1].at(run.time).shape.footprint().rings[0])
        gaps = shapely.distance(leaf, shapely.points(run.crowd.positions()[:, :2]))
        assert (gaps > 0.15).all()  # whoever walks never meets the leaf
        told += [event for event in run.events() if isinstance(event, DoorMoved | ErrandDone)]
    return told


@pytest.mark.slow
def test_a_live_door_opens_by_a_rule_and_shuts_by_a_call_on_nobody() -> None:
    with LiveErrands(scene_from_dict(GATE), seed=1) as run:
        assert played(run, 7.9) == []
        x, y = run.crowd.positions("ada")[0, :2]
        assert 1.0 < 9.0 - x < 4.0 and np.hypot(*run.crowd.goals("ada")[0] - (x, y)) < 0.6  # she waits before it
        (opens, *_) = played(run, 10.0)
        assert isinstance(opens, DoorMoved) and (opens.door, opens.opens) == ("gate", True)
        assert opens.time == pytest.approx(8.0, abs=0.05) and opens.until == pytest.approx(opens.time + 1.5)
        while run.crowd.positions("ada")[0, 0] < 8.3:
            played(run, run.time + 0.1)
        run.close_door("gate")  # she is in the doorway
        told = played(run, run.time + 15.0)
        (shuts,) = [event for event in told if isinstance(event, DoorMoved)]
        assert not shuts.opens and shuts.time > shuts.asked + 0.3 and shuts.waited_for == "ada"
        assert "ada" in [event.name for event in told if isinstance(event, ErrandDone)]
        assert run.crowd.positions("ben")[0, 0] < 9.0  # he waits before it
        run.let_happen("boarding")
        (*_, last) = played(run, run.time + 40.0)
        assert isinstance(last, ErrandDone) and last.name == "ben" and last.span.outcome == DONE
        take = run.take()
        assert [row[0] for row in take.facts["doors"]["gate"]["moves"]] == ["opens", "shuts", "opens"]
        assert audit_take(take, run.scene.world).ok
        part = run.take(5.0)  # which begins later
        begins = [row[2] for row in part.facts["doors"]["gate"]["moves"]]
        later = [row[2] - (run.time - 5.0) for row in take.facts["doors"]["gate"]["moves"]]
        assert begins == pytest.approx(later, abs=0.04)


class OneOnTheFloor:
    """Stands for a crowd of one, who is put anywhere."""

    names = ("ada",)

    def __init__(self) -> None:
        self.here, self.worlds = (4.0, 5.0), list[World]()

    def positions(self, name: str) -> FloatArray:
        return np.array([[*self.here, 0.0]])

    def roots_in_plane(self, name: str) -> FloatArray:
        return self.positions(name)

    def way_ahead(self, name: str) -> tuple[FloatArray, FloatArray]:
        return self.positions(name), np.zeros(3)

    def set_world(self, world: World) -> None:
        self.worlds.append(world)


def test_a_door_that_shuts_opens_again_for_who_gets_in_its_way() -> None:
    world = scene_from_dict({**GATE, "doors": [{**GATE["doors"][0], "open": True}]}).world
    crowd, keeper, told = OneOnTheFloor(), Doorkeeper(world), list[DoorMoved]()
    doors = LiveDoors(keeper, world, world, cast(PreparedLibrary, None), cast(LiveCrowd, crowd))
    keeper.ask("gate", False, 1.0)
    doors.step(1.0, told.append)
    assert not told[-1].opens and len(crowd.worlds) == 1  # nobody plans a way through it any more
    crowd.here = (9.0, 5.0)
    doors.step(1.5, told.append)
    assert told[-1].opens and told[-1].until == pytest.approx(2.0)
    doors.step(4.0, told.append)
    assert len(told) == 2 and keeper.waiting["gate"][1] == "ada"  # it waits
    assert len(crowd.worlds) == 2  # and she can get out
    crowd.here = (12.0, 5.0)
    doors.step(5.0, told.append)
    assert not told[-1].opens and told[-1].waited_for == "ada"
    assert keeper.pose("gate", 10.0) == pytest.approx(keeper.doors["gate"].shut)
    assert [row[0] for row in doors.facts()["doors"]["gate"]["moves"]] == ["shuts", "opens", "shuts"]


def test_a_door_of_no_such_name_is_named() -> None:
    with LiveErrands(scene_from_dict(GATE), seed=1) as run:
        with pytest.raises(LiveError, match="no door 'gaet'; did you mean 'gate'"):
            run.open_door("gaet")
        moved = {**GATE, "doors": [{**GATE["doors"][0], "center": [9, 5.1]}]}
        with pytest.raises(LiveError, match="other doors"):
            run.change(scene_from_dict(moved))
