"""Edits lead from one scene that holds together to the next, and back."""

from __future__ import annotations

import math

import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.core.errors import StudioError
from gaitway.scene import load_scene, ready_scenes, scene_from_dict
from gaitway.scene.scene import Scene
from gaitway.scene.writing import scene_to_yaml
from gaitway.studio import edits, events
from gaitway.studio.stage import MOST_EDITS, StudioStage


def small_scene() -> Scene:
    return scene_from_dict({
        "gaitway": 1, "bounds": [0, 0, 20, 20],
        "obstacles": [
            {"box": {"center": [8, 8], "size": [2, 1], "yaw_deg": 20, "height": 2}},
            {"cylinder": {"center": [4, 12], "radius": 0.5, "height": 2}},
            {"wall": {"points": [[12, 4], [12, 8], [15, 8]]}},
            {"polygon": {"points": [[2, 16], [4, 16], [3, 18]], "height": 1}},
        ],
        "specials": [{"jump": {"center": [10, 14], "size": [4, 0.2], "height": 0.4}}],
        "movers": [{"cylinder": {"radius": 0.4, "height": 1.5}, "path": [[0, 16, 12, 0], [4, 18, 12, 0]]}],
        "characters": [{"name": "ada", "start": [1, 1], "goal": [18, 18]}],
    })  # fmt: skip


@given(
    st.sampled_from(edits.item_names(small_scene().source)),
    st.floats(-0.9, 0.9),
    st.floats(-0.9, 0.9),
    st.sampled_from([0.0, 15.0, -30.0]),
)
@settings(max_examples=40, deadline=None)
def test_a_thing_goes_where_it_is_put_and_keeps_its_shape(item: str, dx: float, dy: float, turn: float) -> None:
    stage = StudioStage(small_scene())
    x, y, yaw = edits.item_pose(stage.model, item)
    number = [name for name in edits.item_names(stage.model) if not name.startswith("movers")]
    before = stage.scene.world
    stage.apply(events.MoveItem(item, x + dx, y + dy, yaw + turn))
    after = edits.item_pose(stage.model, item)
    assert math.dist(after[:2], (x + dx, y + dy)) < 1e-3
    if item in number:
        old, new = (w.obstacles[number.index(item)].shape.footprint() for w in (before, stage.scene.world))
        assert old.radius == new.radius
        assert len(old.points) == len(new.points)
        spans = [math.dist(f.points[0], f.points[len(f.points) // 2]) for f in (old, new)]
        assert spans[0] == pytest.approx(spans[1], abs=1e-3)


@pytest.mark.parametrize("name", ready_scenes())
def test_all_things_of_ready_scenes_can_be_named_and_moved(name: str) -> None:
    stage = StudioStage(load_scene(name))
    moved = 0
    for item in edits.item_names(stage.model)[:6]:
        x, y, yaw = edits.item_pose(stage.model, item)
        try:
            moved += stage.apply(events.MoveItem(item, x + 0.01, y, yaw)) is not None
        except StudioError as problem:
            assert "characters" in str(problem) or "bounds" in str(problem)  # it would stand on somebody's place
    assert moved or not edits.item_names(stage.model)


def test_undo_and_redo_lead_back_and_forth() -> None:
    stage = StudioStage(small_scene())
    texts = [scene_to_yaml(stage.model)]
    for event in (
        events.AddItem("box", 5.0, 5.0),
        events.AddPeople(4, 3.0, 3.0, 16.0, 16.0, 2.0),
        events.RemoveItem("obstacles/0"),
        events.Choose("", "", 9),
        events.RemovePeople(2),
    ):
        assert stage.apply(event)
        texts.append(scene_to_yaml(stage.model))
    for text in texts[-2::-1]:
        stage.apply(events.Undo())
        assert scene_to_yaml(stage.model) == text
    assert not stage.can_undo
    with pytest.raises(StudioError, match="nothing to undo"):
        stage.apply(events.Undo())
    for text in texts[1:]:
        stage.apply(events.Redo())
        assert scene_to_yaml(stage.model) == text
    with pytest.raises(StudioError, match="nothing to redo"):
        stage.apply(events.Redo())


def test_a_drag_is_one_edit() -> None:
    stage = StudioStage(small_scene())
    first = scene_to_yaml(stage.model)
    for k in range(1, 10):
        stage.apply(events.MoveItem("obstacles/0", 8.0 + 0.1 * k, 8.0, 20.0, k == 9))
    stage.apply(events.Undo())
    assert scene_to_yaml(stage.model) == first


def test_new_things_of_every_shape() -> None:
    stage = StudioStage(small_scene())
    for shape in ("box", "cylinder", "fence", "beam", "mover"):
        before = len(edits.item_names(stage.model))
        assert stage.apply(events.AddItem(shape, 6.0, 15.0, 0.0, 2.0, 0.5, 1.0))  # type: ignore[arg-type]
        assert len(edits.item_names(stage.model)) == before + 1
    kinds = {o.kind for o in stage.scene.world.obstacles}
    assert {"wall", "jump", "duck"} <= kinds


@pytest.mark.parametrize(
    ("event", "problem"),
    [
        (events.MoveItem("obstacles/0", 1.0, 1.0, 0.0), "start"),
        (events.MoveItem("obstacles/99", 1.0, 1.0, 0.0), "no thing"),
        (events.RemoveItem("../etc"), "no thing"),
        (events.AddPeople(500, 3.0, 3.0, 16.0, 16.0, 0.5), "characters"),
        (events.Choose("nonsense"), "planner"),
    ],
)
def test_what_cannot_be_leaves_everything_as_it_was(event: events.StudioEvent, problem: str) -> None:
    stage = StudioStage(small_scene())
    before = scene_to_yaml(stage.model)
    with pytest.raises(StudioError, match=problem):
        stage.apply(event)
    assert scene_to_yaml(stage.model) == before
    assert not stage.can_undo


@pytest.mark.slow
def test_the_past_is_bounded() -> None:
    stage = StudioStage(small_scene())
    for k in range(MOST_EDITS + 20):
        stage.apply(events.Choose("", "", k))
    undone = 0
    while stage.can_undo:
        stage.apply(events.Undo())
        undone += 1
    assert undone == MOST_EDITS


AREAS = (
    [2, 2, 4, 3],
    {"circle": {"center": [3, 3], "radius": 1.5}},
    {"polygon": [[2, 2], [5, 2], [2, 5]]},
    {"ring": {"center": [4, 4], "radius": 2}},
)


@pytest.mark.parametrize("area", AREAS)
def test_the_goal_of_a_group_goes_where_it_is_put_and_keeps_its_shape(area: object) -> None:
    group = {"count": 4, "name": "crowd", "start_area": [14, 14, 19, 19], "goal_area": area}
    stage = StudioStage(scene_from_dict({"gaitway": 1, "bounds": [0, 0, 20, 20], "characters": [group]}))
    assert edits.goal_names(stage.model) == ("characters/0",)
    before, people = edits.goal_area(stage.model, "characters/0"), stage.scene.characters
    stage.apply(events.MoveGoal("characters/0", 10.0, 9.0))
    after = edits.goal_area(stage.model, "characters/0")
    assert math.dist((after.centroid.x, after.centroid.y), (10.0, 9.0)) < 1e-3
    assert after.area == pytest.approx(before.area, rel=1e-3)
    assert [c.start[:2] for c in stage.scene.characters] == [c.start[:2] for c in people]
    assert all(after.buffer(1e-3).contains(shapely.Point(c.goal)) for c in stage.scene.characters)
    stage.apply(events.Undo())
    assert [c.goal for c in stage.scene.characters] == [c.goal for c in people]


def test_only_groups_that_go_to_an_area_can_be_sent_elsewhere_so() -> None:
    stage = StudioStage(small_scene())
    for name in ("characters/0", "characters/7", "obstacles/0", "ada"):
        with pytest.raises(StudioError, match="no group"):
            stage.apply(events.MoveGoal(name, 3.0, 3.0))
