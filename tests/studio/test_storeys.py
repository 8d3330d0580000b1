"""Floors in the studio: which are listed, what belongs to them, and what is seen, clicked and put where."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.errors import StudioError
from gaitway.scene import load_scene, scene_from_dict
from gaitway.studio import events
from gaitway.studio.edits import add_item, add_people, goal_floor, goal_names
from gaitway.studio.engine import StudioEngine
from gaitway.studio.frames import StudioFigures, StudioFrame, StudioRoute, StudioTrouble
from gaitway.studio.live_play import climbed
from gaitway.studio.page.camera import near_heights, seen_point
from gaitway.studio.page.marks import segments
from gaitway.studio.page.people import PageShadows
from gaitway.studio.page.storeys import FADED, HIDDEN, SHOWN, PageStoreys, storeys_of
from gaitway.take.evaluation import Joints
from gaitway.world.levels.floors import Floors

UPPER = "upper floor"
DECK: dict[str, object] = {
    "gaitway": 1, "bounds": [0, 0, 20, 9], "seed": 1,
    "specials": [
        {"platform": {"center": [14, 4.5], "size": [9, 7], "clearance": 2.3, "height": 0.25}, "name": "deck"},
    ],
    "characters": [
        {"name": "finn", "start": [2, 2], "goal": [4, 7]},
        {"count": 2, "name": "pair", "start_area": [1, 4, 3, 6], "goal_area": [12, 3, 15, 6], "goal_floor": "deck",
         "start_floor": "ground"},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def house() -> Floors:
    return Floors.of(load_scene("house").world)


def entered(floors: Floors, **looks: str) -> PageStoreys:
    storeys = PageStoreys()
    storeys.enter(floors)
    for name, look in looks.items():
        assert storeys.set(name.replace("_", " "), look)
    return storeys


def test_storeys_are_listed_by_height_and_blocks_are_none(house: Floors) -> None:
    assert [(s.name, s.height) for s in storeys_of(house)] == [("ground", 0.0), (UPPER, pytest.approx(2.38))]
    assert storeys_of(None) == ()
    blocks = Floors.of(load_scene("playground").world)
    assert len(blocks) > 3
    assert max(f.height for f in blocks.floors) < 1.9 or len(storeys_of(blocks)) == 2


def test_things_belong_to_the_storey_that_they_stand_on(house: Floors) -> None:
    storeys = entered(house, upper_floor=HIDDEN)
    hidden = {o.name for o in house.world.obstacles if storeys.look_of(o) == HIDDEN}
    assert hidden == {UPPER, "partition", "bed", "wardrobe"}
    assert {o.name for o in storeys.solid(house.world).obstacles}.isdisjoint(hidden)
    assert entered(house).solid(house.world) is house.world


def test_clicks_go_through_what_is_not_shown(house: Floors) -> None:
    down, eye = (0.0, 0.0, -1.0), (12.0, 4.0, 9.0)
    for look, height in ((SHOWN, 2.38), (FADED, 0.0), (HIDDEN, 0.0)):
        storeys = PageStoreys()
        storeys.enter(house)
        storeys.set(UPPER, look)
        seen = seen_point(storeys.solid(house.world), eye, down)
        assert seen == pytest.approx((12.0, 4.0, height), abs=1e-6)
        assert house.at(*seen).name == (UPPER if look == SHOWN else "ground")


def test_one_key_hides_from_the_top_and_shows_all_again(house: Floors) -> None:
    storeys = entered(house)
    storeys.lower()
    assert [storeys.look(s.name) for s in storeys.storeys] == [SHOWN, HIDDEN]
    assert not storeys.enter(house)  # an edit of the scene leaves them so
    assert storeys.look(UPPER) == HIDDEN
    storeys.lower()
    assert [storeys.look(s.name) for s in storeys.storeys] == [SHOWN, SHOWN]
    assert not storeys.set(UPPER, "upside down")
    assert not storeys.set("attic", HIDDEN)


def frame_of(roots: list[list[float]]) -> StudioFrame:
    """People who stand, with their roots at places."""
    skeleton = load_cast("person").clips["walk_forward"].skeleton
    joints = len(skeleton)
    positions = np.repeat(np.array(roots)[:, None], joints, axis=1)
    positions[:, -1, 2] -= 0.95  # their feet
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (len(roots), joints, 1))
    people = Joints(skeleton, np.arange(len(roots)), positions, turns)
    names = tuple(f"p{k}" for k in range(len(roots)))
    troubles = tuple(StudioTrouble("stuck", (name,), "why", 0.0) for name in names)
    return StudioFrame(0, "live", True, 0.0, 0.0, names, (people,), np.empty((0, 3)), StudioFigures(), 0, "", troubles)


def test_people_go_with_their_storey(house: Floors) -> None:
    frame = frame_of([[12.0, 4.0, 0.95], [12.0, 4.0, 3.33], [7.0, 5.5, 2.0]])
    assert entered(house).seen(frame) is frame
    upper = entered(house, upper_floor=HIDDEN).seen(frame)
    assert upper.names == ("p0", "p2")  # who is on the stairs belongs to the ground
    assert upper.joints[0].positions[:, 0, 2].tolist() == [0.95, 2.0]
    assert [trouble.names for trouble in upper.troubles] == [("p0",), ("p2",)]
    assert entered(house, ground=HIDDEN).seen(frame).names == ("p1",)


def test_ways_are_drawn_on_their_floors(house: Floors) -> None:
    heights = partial(near_heights, house.world)
    points = np.array([[3.5, 5.5, 0.0], [11.0, 5.5, 2.38], [12.0, 4.0, 2.4], [12.0, 4.0, 0.1]])
    lines = segments(StudioRoute(points, (), None).points, heights)
    assert lines[:, 0, 2].tolist() == pytest.approx([0.035, 2.415, 2.415], abs=1e-4)
    assert lines[-1, 1, 2] == pytest.approx(0.035, abs=1e-4)


def test_the_line_of_a_way_follows_the_stairs(house: Floors) -> None:
    ends = np.array([[2.0, 5.5, 0.0], [3.5, 5.5, 0.0], [11.0, 5.5, 2.38], [12.0, 5.5, 2.38]])
    points = climbed(ends)
    assert points[[0, 1, -2, -1]] == pytest.approx(ends)
    assert np.linalg.norm(np.diff(points[1:-1], axis=0), axis=1).max() < 0.201
    heights = segments(points, partial(near_heights, house.world))[:, 0, 2] - 0.035
    on_flight = (points[:-1, 0] > 5.3) & (points[:-1, 0] < 9.0)
    assert on_flight.sum() > 15
    treads = house.world.standing_height(points[:-1][on_flight, :2])
    assert heights[on_flight] == pytest.approx(treads, abs=1e-4)


def test_shadows_lie_on_the_floor_of_whoever_casts_them() -> None:
    """As browsers draw it: copies are scaled and turned with their node."""
    nodes: list[dict[str, object]] = []
    scene = SimpleNamespace(add_batched_meshes_simple=lambda *_, **node: nodes.append(node))
    people = frame_of([[12.0, 4.0, 0.95], [12.0, 4.0, 3.33]]).joints[0]
    PageShadows(scene, "/shadow", people.skeleton).show(people, np.array([0.0, 2.38]))  # type: ignore[arg-type]
    assert nodes
    for node in nodes:
        places = np.asarray(node["batched_positions"], dtype=np.float64) * np.array(node["scale"])
        world = rotations.rotate(np.asarray(node["wxyz"]), places) + np.array(node["position"])
        assert world[:, 2] == pytest.approx([0.016, 2.396], abs=1e-3)
        assert world[0, :2] == pytest.approx(world[1, :2], abs=1e-3)


def test_groups_and_things_are_put_on_floors() -> None:
    model = scene_from_dict(DECK).source
    model = add_people(model, events.AddPeople(2, 2.0, 2.0, 14.0, 4.0, 1.0, "ground", "deck"), "more")
    scene = scene_from_dict(model.model_dump(by_alias=True, exclude_unset=True, exclude_none=True))
    assert [c.goal_floor for c in scene.characters if c.name.startswith("more")] == ["deck", "deck"]
    floors = Floors.of(scene.world)
    assert [goal_floor(model, name, floors).height for name in goal_names(model)] == pytest.approx([2.55, 2.55])
    assert goal_floor(model, goal_names(model)[0], None) is None
    shapes = ("box", "cylinder", "fence", "beam", "mover")
    for shape in shapes:
        model, _ = add_item(model, events.AddItem(shape, 14.0, 4.0, 0.0, 1.0, 1.0, 0.5, 2.55))
    world = scene_from_dict(model.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)).world
    lows = [o.shape.heights[0] for o in world.obstacles if o.name != "deck"]
    assert sorted(lows) == pytest.approx([2.55, 2.55, 2.55, 3.8])
    assert world.movers[0].phases[0].shape.heights[0] == pytest.approx(2.55)
    with pytest.raises(StudioError, match="bottom"):
        events.checked(replace(events.AddItem("box", 0.0, 0.0), bottom=1e9))


@pytest.mark.slow
def test_an_engine_keeps_the_floor_of_a_group_that_is_added() -> None:
    engine = StudioEngine(scene_from_dict({**DECK, "characters": []}))
    engine.apply(events.AddPeople(1, 13.0, 3.0, 15.0, 6.0, 1.0, "deck", "deck"))
    name = engine.frame().names[0]
    assert engine.frame().joints[0].positions[0, 0, 2] == pytest.approx(2.55 + 0.95, abs=0.1)
    assert engine.ahead(name).goal[2] == pytest.approx(2.55)
    engine.close()
