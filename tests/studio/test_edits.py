"""Edits of a scene, as functions from one model of a scene file to the next."""

from __future__ import annotations

from typing import Any

import pytest

from gaitway.core.errors import StudioError
from gaitway.scene.model import SceneModel
from gaitway.scene.reading.documents import plain_data
from gaitway.studio.edits import (
    add_item,
    add_people,
    choose,
    item_names,
    item_pose,
    move_item,
    remove_item,
    remove_people,
)
from gaitway.studio.events import AddItem, AddPeople


def model(**parts: Any) -> SceneModel:
    return SceneModel.model_validate(plain_data({"gaitway": 1, "bounds": [0, 0, 20, 20], **parts}))


CROWD = [
    {"name": "ada", "start": [1, 1], "goal": [9, 9]},
    {"count": 5, "name": "north", "start_area": [1, 1, 5, 5], "goal_area": [9, 9, 12, 12]},
    {"count": 3, "name": "south", "start_area": [1, 1, 5, 5], "goal_area": [9, 9, 12, 12]},
]


@pytest.mark.parametrize(
    ("removed", "left"),
    [(1, [1, 5, 2]), (2, [1, 5, 1]), (3, [1, 5]), (4, [1, 4]), (7, [1, 1]), (8, [1]), (9, []), (99, [])],
)
def test_the_latest_go_first_and_no_more_than_were_named(removed: int, left: list[int]) -> None:
    after = remove_people(model(characters=CROWD), removed)
    assert [item.count or 1 for item in after.characters or ()] == left


def test_a_new_group_starts_and_ends_in_circles_of_its_radius() -> None:
    after = add_people(model(characters=CROWD[:1]), AddPeople(4, 3.0, 4.0, 15.0, 16.0, radius=2.5), "late")
    new = (after.characters or ())[-1]
    assert (new.count, new.name) == (4, "late")
    circles = [area.circle for area in (new.start_area, new.goal_area) if area is not None]
    assert [(tuple(c.center), c.radius) for c in circles if c is not None] == [((3.0, 4.0), 2.5), ((15.0, 16.0), 2.5)]


def test_what_is_chosen_replaces_and_what_is_not_stays() -> None:
    before = model(seed=7, library="horse", plan={"planner": "tree", "nodes": 2_000})
    assert choose(before).seed == 7
    after = choose(before, seed=0)
    assert after.seed == 0
    assert choose(before, planner="behavior").plan["planner"] == "behavior"  # type: ignore[index]


def test_things_are_named_by_their_place_and_move_alone() -> None:
    boxes = [{"box": {"center": [x, 2], "size": [1, 1], "height": 1}} for x in (2, 6)]
    before = model(obstacles=boxes)
    assert item_names(before) == ("obstacles/0", "obstacles/1")
    moved = move_item(before, "obstacles/1", 8.0, 9.0, 30.0)
    assert item_pose(moved, "obstacles/1") == pytest.approx((8.0, 9.0, 30.0))
    assert item_pose(moved, "obstacles/0") == item_pose(before, "obstacles/0")
    more, name = add_item(moved, AddItem("box", 4.0, 4.0))
    assert name == "obstacles/2" and item_pose(more, name)[:2] == (4.0, 4.0)
    assert item_pose(remove_item(more, "obstacles/0"), "obstacles/0") == pytest.approx((8.0, 9.0, 30.0))
    with pytest.raises(StudioError):
        remove_item(before, "obstacles/7")
