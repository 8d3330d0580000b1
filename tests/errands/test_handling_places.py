"""Things on upper floors, in niches and out of other hands, and people who carry something wide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gaitway.audit import audit_take
from gaitway.audit.report import AuditBars
from gaitway.errands.laden import LoadRoom, grown
from gaitway.errands.thing_ground import ThingGround
from gaitway.planning import Planned, plan_scene
from gaitway.scene import scene_from_dict
from gaitway.take.things import things_of
from gaitway.world import World
from gaitway.world.levels.floors import Floors
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box


def _planned(**parts: Any) -> Planned:
    return plan_scene(scene_from_dict({"gaitway": 1, "seed": 1, **parts}))


def _undone(planned: Planned) -> list[Any]:
    return [row for rows in planned.take.facts["errands"].values() for row in rows if row[3] != "done"]


def _clean(planned: Planned) -> list[str]:
    report = audit_take(planned.take, planned.scene.world)
    return [row.worst.words() for row in report.rows if not row.ok and row.worst is not None]


@pytest.mark.slow
def test_a_cup_is_carried_upstairs() -> None:
    planned = _planned(
        bounds=[0, 0, 16, 11],
        specials=[
            {"platform": {"center": [12.45, 5.5], "size": [6.5, 10.4], "clearance": 2.13, "height": 0.25},
             "name": "upper floor"},
            {"stairs": {"center": [7.17, 5.5], "width": 2.2, "steps": 14, "rise": 0.17, "run": 0.29}},
        ],
        obstacles=[
            {"box": {"center": [3.2, 8], "size": [1.6, 0.9], "height": 0.75}, "name": "table"},
            {"box": {"center": [13.2, 2], "size": [1.2, 0.7], "height": 0.75, "bottom": 2.38}, "name": "desk"},
        ],
        objects=[{"name": "cup", "cylinder": [0.04, 0.1], "at": [3, 7.7, 0.75]}],
        characters=[{"name": "ada", "start": [1.5, 5, 0], "errands": [{"take": "cup"}, {"put": "cup", "on": "desk"}]}],
    )  # fmt: skip
    assert not _undone(planned) and not _clean(planned)
    (cup,) = things_of(planned.take)
    assert cup.spans[-1].who is None and cup.spans[-1].pose[2] == pytest.approx(2.38 + 0.75, abs=0.005)
    assert 12.6 < cup.spans[-1].pose[0] < 13.8 and 1.6 < cup.spans[-1].pose[1] < 2.4


def test_things_are_on_the_highest_floor_under_them() -> None:
    deck = Obstacle(Box((6.0, 0.0), (6.0, 6.0), 0.25, 0.0, 2.75), "platform", "deck")
    floors = Floors.of(World((-10.0, -10.0, 10.0, 10.0), (deck,)))
    ground = ThingGround(floors.plane, floors)
    for at, height in (((6.0, 0.0, 0.75), 0.0), ((6.0, 0.0, 3.75), 3.0), ((9.3, 0.0, 4.1), 3.0)):
        into = ground.into(at)
        assert into[2] == pytest.approx(at[2] - height)
        assert ground.out(into) == pytest.approx(np.array(at))
    assert ground.height(0.0, 0.0) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("form", [{"cylinder": [0.04, 0.1]}, {"ball": 0.04}])
def test_what_was_given_is_put_down(form: dict[str, Any]) -> None:
    planned = _planned(
        bounds=[0, 0, 8, 8],
        obstacles=[{"box": {"center": [4.5, 2], "size": [1.2, 0.7], "height": 0.75}, "name": "desk"}],
        objects=[{"name": "mug", **form, "at": [4.3, 2.2, 0.75]}],
        characters=[
            {"name": "bo", "start": [2, 4.2, 0], "errands": [{"take": "mug"}, {"give": "mug", "to": "cy"},
                                                             {"go": [1.5, 3]}]},
            {"name": "cy", "start": [3, 6.5, -90], "errands": [{"wait": 35}, {"put": "mug", "at": [4.7, 2.1, 0.75]}]},
        ],
    )  # fmt: skip
    assert not _undone(planned)


@pytest.mark.slow
@pytest.mark.parametrize("form", [{"cylinder": [0.04, 0.1]}, {"box": [0.06, 0.06, 0.06]}, {"ball": 0.035}])
@pytest.mark.parametrize(("giving", "getting"), [("right", "right"), ("left", "left"), ("right", "left")])
def test_hands_stay_apart_where_a_small_thing_is_handed_over(form: dict[str, Any], giving: str, getting: str) -> None:
    planned = _planned(
        bounds=[0, 0, 8, 7],
        objects=[{"name": "mug", **form, "held": "ada", "hand": giving}],
        characters=[
            {"name": "ada", "start": [3, 3, 0], "errands": [{"wait": 16}]},
            {"name": "bo", "start": [4.6, 3.6, 200], "errands": [{"take": "mug", "from": "ada", "hand": getting}]},
        ],
    )  # fmt: skip
    assert not _undone(planned)
    bars = AuditBars(penetration=0.005, thing=0.005)
    assert audit_take(planned.take, planned.scene.world, bars=bars).violations == ()


@pytest.mark.slow
@pytest.mark.parametrize(("giving", "getting", "form"), [
    ("right", "left", {"cylinder": [0.11, 0.025], "grasps": [[0.1, 0, 0.012], [-0.1, 0, 0.012], [0, 0.1, 0.012]]}),
    ("left", "right", {"box": [0.1, 0.2, 0.03]}),
])  # fmt: skip
def test_plates_and_books_go_from_hand_to_hand(giving: str, getting: str, form: dict[str, Any]) -> None:
    planned = _planned(
        bounds=[0, 0, 8, 7],
        objects=[{"name": "it", **form, "held": "ada", "hand": giving}],
        characters=[
            {"name": "ada", "start": [3, 3, 0], "errands": [{"wait": 16}]},
            {"name": "bo", "start": [4.6, 3.6, 200], "errands": [{"take": "it", "from": "ada", "hand": getting}]},
        ],
    )  # fmt: skip
    assert not _undone(planned) and not _clean(planned)


@pytest.mark.slow
def test_a_left_hand_takes_a_can_and_gives_it() -> None:
    planned = _planned(
        bounds=[0, 0, 8, 8],
        obstacles=[{"box": {"center": [4.5, 2], "size": [1.2, 0.7], "height": 0.75}, "name": "desk"}],
        objects=[{"name": "can", "cylinder": [0.033, 0.12], "at": [4.3, 2.2, 0.75]}],
        characters=[
            {"name": "bo", "start": [2, 4.2, 0], "errands": [{"take": "can", "hand": "left"}, {"go": [2.5, 4.5]},
                                                             {"give": "can", "to": "cy"}]},
            {"name": "cy", "start": [3, 6.5, -90], "errands": [{"wait": 35}, {"put": "can", "on": "desk"}]},
        ],
    )  # fmt: skip
    assert not _undone(planned) and not _clean(planned)


@pytest.mark.slow
def test_who_holds_a_cup_from_above_hands_it_over_so_that_it_can_be_put_down() -> None:
    planned = _planned(
        bounds=[0, 0, 8, 8],
        obstacles=[{"box": {"center": [4.5, 2], "size": [1.2, 0.7], "height": 0.75}, "name": "desk"}],
        objects=[{"name": "cup", "cylinder": [0.04, 0.1], "at": [4.3, 2.2, 0.75]}],
        characters=[
            {"name": "bo", "start": [2, 4.2, 0], "errands": [{"take": "cup", "hand": "right"}, {"go": [2.5, 4.5]},
                                                             {"give": "cup", "to": "cy"}, {"go": [1.5, 3]}]},
            {"name": "cy", "start": [3, 6.5, -90], "errands": [{"wait": 35}, {"put": "cup", "on": "desk"}]},
        ],
    )  # fmt: skip
    assert not _undone(planned) and not _clean(planned)


@pytest.mark.slow
def test_a_step_leads_into_a_niche() -> None:
    planned = _planned(
        bounds=[0, 0, 8, 8],
        obstacles=[
            {"box": {"center": [5.4, 3.15], "size": [0.8, 0.9], "height": 2.0}, "name": "cupboard"},
            {"box": {"center": [5.4, 4.85], "size": [0.8, 0.9], "height": 2.0}, "name": "wardrobe"},
            {"box": {"center": [6.1, 4.0], "size": [0.6, 2.8], "height": 0.9}, "name": "sideboard"},
        ],
        objects=[{"name": "cup", "cylinder": [0.04, 0.12], "at": [5.92, 4.0, 0.9]}],
        characters=[{"name": "ada", "start": [2, 3, 0], "errands": [{"take": "cup"}, {"go": [2.5, 5]}]}],
    )  # fmt: skip
    assert not _undone(planned) and not _clean(planned)


def test_tall_things_are_given_room_and_tables_are_not() -> None:
    wall = Obstacle(Box((0.0, 0.0), (1.0, 1.0), 2.0), name="wall")
    table = Obstacle(Box((3.0, 0.0), (1.0, 1.0), 0.75), name="table")
    wide = grown(World((-5.0, -5.0, 5.0, 5.0), (wall, table)), LoadRoom(0.3, 0.95, 1.2))
    assert [one.name for one in wide.obstacles] == ["wall", "table", "wall"]
    x0, _, x1, _ = wide.obstacles[-1].shape.footprint().bounds
    assert (x0, x1) == pytest.approx((-0.8, 0.8), abs=0.01)


@pytest.mark.slow
def test_who_finds_others_before_a_shelf_waits_and_a_cart_is_awaited() -> None:
    planned = _planned(
        bounds=[0, 0, 9, 7],
        obstacles=[{"box": {"center": [2, 6.5], "size": [0.7, 0.5], "height": 0.9}, "name": "stand"}],
        objects=[
            {"name": "cup", "cylinder": [0.035, 0.1], "at": [2.1, 6.35, 0.9]},
            {"name": "mug", "cylinder": [0.035, 0.1], "at": [1.85, 6.35, 0.9]},
            {"name": "jar", "cylinder": [0.035, 0.1], "at": [0, 0, 0.8], "rides": "cart"},
        ],
        movers=[{"name": "cart", "box": {"size": [0.5, 0.5], "height": 0.8},
                 "path": [[0, 3, 3.5, 0], [6, 5, 3.5, 0], [60, 5, 3.5, 0]]}],
        characters=[
            {"name": "ada", "start": [2, 5, 90], "errands": [{"take": "cup"}, {"go": [4.5, 5.5]}]},
            {"name": "bo", "start": [1, 3, 90], "errands": [{"take": "mug"}]},
            {"name": "cy", "start": [7, 4.5, 90], "errands": [{"take": "jar"}]},
        ],
    )  # fmt: skip
    assert not _undone(planned) and not _clean(planned)
    rows = planned.take.facts["errands"]
    assert rows["bo"][0][2] > rows["ada"][0][2]
    assert rows["cy"][0][2] > 6.0
