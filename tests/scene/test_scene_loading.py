"""What a scene file says is what the world and its characters are."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import gaitway.scene
from gaitway import planners
from gaitway.behavior.options import BehaviorOptions
from gaitway.core.errors import GaitwayError, SceneError
from gaitway.scene import (
    LibraryRef,
    PlanOptions,
    build_scene,
    find_scene,
    load_scene,
    ready_scenes,
    scene_from_dict,
    scene_problems,
)
from gaitway.scene.building import wall_boxes
from gaitway.world import Box, Cylinder, Polygon, Sphere, Stairs
from gaitway.world.footprint import core_geometry

BASE = {"gaitway": 1, "bounds": [0, 0, 40, 30]}


def scene(**keys):
    return scene_from_dict({**BASE, **keys})


def world(**keys):
    return scene(**keys).world


@pytest.mark.parametrize("name", sorted(ready_scenes()))
def test_ready_scenes_hold_together(name):
    loaded = load_scene(name)
    assert loaded.title
    assert loaded.characters
    assert [str(w) for w in loaded.warnings] == []
    assert scene_problems(name, passing=False) == []


def test_there_are_a_dozen_ready_scenes_under_either_spelling():
    assert len(ready_scenes()) >= 12
    assert find_scene("circle-swap") == find_scene("circle_swap") == ready_scenes()["circle_swap"]


def test_a_file_wins_over_a_ready_scene(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("maze").write_text("gaitway: 1\nbounds: [0, 0, 1, 1]\ntitle: mine\n")
    assert load_scene("maze").title == "mine"


def test_shapes_of_obstacles():
    obstacles = world(
        obstacles=[
            {"box": {"center": [12, 8], "size": [4, 1], "yaw_deg": 30, "height": 2.5, "bottom": 0.5}, "name": "crate"},
            {"cylinder": {"center": [20, 15], "radius": 0.6, "height": 3}, "color": "#102030"},
            {"sphere": {"center": [5, 5], "radius": 0.5, "bottom": 1}},
            {
                "polygon": {
                    "points": [[1, 1], [5, 1], [5, 5], [1, 5]],
                    "holes": [[[2, 2], [3, 2], [3, 3]]],
                    "height": 2,
                }
            },
        ]
    ).obstacles
    box, cylinder, sphere, polygon = (obstacle.shape for obstacle in obstacles)
    assert box == Box((12.0, 8.0), (4.0, 1.0), 2.5, math.radians(30), 0.5)
    assert cylinder == Cylinder((20.0, 15.0), 0.6, 3.0)
    assert sphere == Sphere((5.0, 5.0), 0.5, 1.0)
    assert isinstance(polygon, Polygon)
    assert polygon.holes == (((2.0, 2.0), (3.0, 2.0), (3.0, 3.0)),)
    assert [o.kind for o in obstacles] == ["wall"] * 4
    assert obstacles[0].name == "crate"
    assert obstacles[1].color == "#102030"


def test_walls_meet_in_their_corners():
    boxes = wall_boxes([(0, 0), (10, 0), (10, 5)], 0.2, 2.5, closed=False)
    assert [round(box.size[0], 9) for box in boxes] == [10.1, 5.1]
    assert sum(
        core_geometry(box.outline).intersection(core_geometry(boxes[1].outline)).area for box in boxes[:1]
    ) == pytest.approx(0.04)
    corner = core_geometry(boxes[0].outline).union(core_geometry(boxes[1].outline))
    assert corner.covers(core_geometry(Box((10.0, 0.0), (0.2, 0.2), 1.0).outline).buffer(-1e-9))
    assert not corner.buffer(1e-9).covers(
        core_geometry(Box((0.0, 0.0), (0.2, 0.2), 1.0).outline)
    )  # its ends are where it says


def test_closed_walls_and_corners_written_twice():
    boxes = wall_boxes([(0, 0), (4, 0), (4, 0), (4, 4), (0, 4)], 0.3, 2.0, closed=True)
    assert len(boxes) == 4
    np.testing.assert_allclose([box.size for box in boxes], [(4.3, 0.3)] * 4)


def test_specials_by_kind():
    obstacles = world(
        specials=[
            {"jump": {"center": [15, 10], "size": [6, 0.4], "height": 0.5}},
            {"duck": {"center": [25, 10], "size": [6, 0.5], "clearance": 1.2}, "name": "beam"},
            {"crawl": {"center": [25, 20], "size": [6, 0.5], "clearance": 0.8, "height": 1.0}},
            {"stairs": {"center": [5, 5], "width": 2, "steps": 10, "yaw_deg": 90}},
            {"vault": {"points": [[1, 1], [3, 1], [2, 4]], "height": 0.4}},
            {"passable": {"center": [30, 20], "size": [3, 3], "height": 0.01}},
        ]
    ).obstacles
    assert [o.kind for o in obstacles] == ["jump", "duck", "crawl", "stairs", "vault", "passable"]
    assert [o.shape.heights for o in obstacles[:3]] == [(0.0, 0.5), (1.2, 1.5), (0.8, 1.8)]
    assert obstacles[3].shape == Stairs((5.0, 5.0), 2.0, 10, 0.17, 0.29, math.radians(90))
    assert isinstance(obstacles[4].shape, Polygon)


def test_movers_their_paths_and_phases():
    cart, tree = world(
        movers=[
            {"cylinder": {"radius": 0.5, "height": 1.8}, "path": [[0, 5, 5, 45], [4, 9, 5]], "name": "cart"},
            {
                "box": {"size": [0.5, 0.5], "height": 6},
                "path": [[0, 5, 5]],
                "phases": [
                    {"from": 0, "kind": "passable"},
                    {"from": 3},
                    {"from": 4.5, "kind": "jump", "box": {"size": [6, 0.5], "height": 0.5, "center": [3, 0]}},
                ],
            },
        ]
    ).movers
    np.testing.assert_allclose(cart.pose(2.0), [7, 5, math.radians(45)])
    assert cart.at(0).kind == "wall"
    assert [tree.at(t).kind for t in (-1, 1, 3, 4.4, 4.5, 99)] == [
        "passable",
        "passable",
        "wall",
        "wall",
        "jump",
        "jump",
    ]
    assert tree.at(4).shape == Box((5.0, 5.0), (0.5, 0.5), 6.0)
    assert tree.at(5).shape == Box((8.0, 5.0), (6.0, 0.5), 0.5)


def test_a_path_can_be_walked_over_and_over():
    (mover,) = world(
        movers=[{"sphere": {"radius": 0.5}, "path": [[0, 5, 5], [1, 9, 5], [2, 5, 5]], "repeat": True}]
    ).movers
    for time in (0.25, 0.5, 1.75):
        np.testing.assert_allclose(mover.pose(time + 1000.0), mover.pose(time), atol=1e-9)


def test_things_stand_on_hills():
    keys = {
        "terrain": {"hills": {"height": 3, "wavelength": 10, "seed": 2}},
        "obstacles": [{"box": {"center": [12, 8], "size": [4, 4], "height": 2}}],
        "specials": [{"duck": {"center": [25, 10], "size": [6, 0.5], "clearance": 1.2}}],
    }
    place = world(**keys)
    assert place.terrain is not None
    assert np.ptp(place.terrain.heights) == pytest.approx(3)
    box, beam = (obstacle.shape for obstacle in place.obstacles)
    ground = float(place.ground([12, 8]))
    corners = place.ground([[x, y] for x in np.linspace(10, 14, 9) for y in np.linspace(6, 10, 9)])
    assert box.heights[1] == pytest.approx(ground + 2)
    assert box.heights[0] <= corners.min() + 1e-9
    assert beam.heights[0] == pytest.approx(float(place.ground([25, 10])) + 1.2)


def test_heights_from_files(tmp_path):
    Image.fromarray(np.array([[0, 255], [255, 0]], dtype=np.uint8)).save(tmp_path / "hills.png")
    np.save(tmp_path / "hills.npy", np.array([[0.0, 1.0], [2.0, 3.0]]))
    data = {**BASE, "terrain": {"heights": "hills.png", "cell": 10, "scale": 2.0, "origin": [5, 5]}}
    terrain = scene_from_dict(data, tmp_path).world.terrain
    assert terrain.height([5, 5]) == pytest.approx(2.0)
    assert terrain.height([15, 5]) == pytest.approx(0.0)
    data["terrain"] = {"heights": "hills.npy", "cell": 10}
    assert scene_from_dict(data, tmp_path).world.terrain.height([15, 15]) == pytest.approx(3.0)


def test_meshes_are_found_beside_the_file_and_placed(tmp_path):
    pyramid = "v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nv 0 2 0\nf 1 2 3 4\nf 2 1 5\nf 3 2 5\nf 4 3 5\nf 1 4 5\n"
    (tmp_path / "pyramid.obj").write_text(pyramid)
    item = {"mesh": {"file": "pyramid.obj", "position": [10, 5, 0.5], "scale": 0.5}}
    (obstacle,) = scene_from_dict({**BASE, "obstacles": [item]}, tmp_path).world.obstacles
    assert obstacle.shape.heights == pytest.approx((0.5, 1.5))
    np.testing.assert_allclose(obstacle.shape.footprint().bounds, (9.5, 4.5, 10.5, 5.5))


def test_characters_and_what_they_override():
    loaded = scene(
        library={"cast": "person", "style": "style-3", "takes": 2},
        plan={"tolerance": 0.4, "weight": 1.5},
        characters=[
            {"name": "ada", "start": [2, 2, 90], "goal": [38, 28, -90]},
            {
                "start": [5, 5],
                "goal": [5, 15],
                "library": "horse",
                "plan": {"weight": 3},
                "speed": 1.8,
                "priority": 4,
                "start_time": 2.5,
            },
            {"count": 3, "start_area": [20, 5, 30, 10], "goal_area": [20, 20, 30, 25], "radius": 0.5, "speed": "slow"},
        ],
    )
    ada, rider, *crowd = loaded.characters
    assert ada.start == (2.0, 2.0, math.pi / 2)
    assert (ada.goal, ada.goal_heading) == ((38.0, 28.0), -math.pi / 2)
    assert ada.library == LibraryRef("person", "style-3", 2)
    assert (ada.plan.tolerance, ada.plan.weight, ada.radius, ada.speed) == (0.4, 1.5, 0.3, "normal")
    assert rider.name == "character1"
    assert rider.start[2] == pytest.approx(math.pi / 2)  # towards its goal
    assert rider.goal_heading is None
    assert rider.library == LibraryRef("horse")
    assert (rider.plan.tolerance, rider.plan.weight) == (0.4, 3.0)
    assert (rider.speed, rider.priority, rider.start_time, rider.radius) == (1.8, 4, 2.5, 0.8)
    assert [c.name for c in crowd] == ["crowd-01", "crowd-02", "crowd-03"]
    assert {(c.radius, c.speed) for c in crowd} == {(0.5, "slow")}
    assert loaded.plan == BehaviorOptions(tolerance=0.4, weight=1.5)


def test_defaults():
    loaded = scene()
    assert (loaded.seed, loaded.title, loaded.characters, loaded.plan) == (0, "", (), BehaviorOptions())
    assert loaded.world.terrain is None


def test_library_of_a_character_can_be_loaded():
    (ada,) = scene(characters=[{"start": [2, 2], "goal": [8, 8]}]).characters
    assert "walk" in ada.library.load(behaviors=["walk_forward"]).graph.states


def test_another_planner_brings_its_own_options(monkeypatch):
    class BushOptions(PlanOptions):
        planner: str = "bush"
        depth: int = 5

    monkeypatch.setattr(planners, "_TABLE", dict(planners._TABLE))
    planners.register(planners.PlannerEntry(name="bush", title="bushes", options=BushOptions, planner="no:where"))
    loaded = scene(
        plan={"planner": "bush", "depth": 7, "tolerance": 0.3},
        characters=[
            {"start": [2, 2], "goal": [8, 8]},
            {"start": [4, 2], "goal": [8, 9], "plan": {"depth": 3}},
            {"start": [6, 2], "goal": [8, 10], "plan": {"planner": "behavior", "weight": 2}},
        ],
    )
    assert [c.plan.planner for c in loaded.characters] == ["bush", "bush", "behavior"]
    assert [getattr(c.plan, "depth", None) for c in loaded.characters] == [7, 3, None]
    assert [c.plan.tolerance for c in loaded.characters] == [0.3, 0.3, 0.5]  # options of one planner are not another's
    with pytest.raises(SceneError, match=r"^plan.weight: unknown key"):
        scene(plan={"planner": "bush", "weight": 2})


def test_what_hangs_high_and_what_is_passable_is_in_nobodys_way():
    crown = {"sphere": {"center": [5, 5], "radius": 1.5, "bottom": 2.5}}
    paint = {"passable": {"center": [5, 5], "size": [2, 2], "height": 0.2}}
    people = [{"start": [5, 5], "goal": [20, 20]}]
    assert scene(obstacles=[crown], specials=[paint], characters=people).characters
    with pytest.raises(SceneError, match=r"inside obstacles\[0\]"):
        scene(obstacles=[{"sphere": {**crown["sphere"], "bottom": 1.5}}], characters=people)


def test_one_may_begin_on_what_one_can_stand_on_but_groups_do_not():
    top = {"climb": {"center": [5, 5], "size": [4, 4], "height": 1}}
    assert scene(specials=[top], characters=[{"start": [5, 5], "goal": [20, 20]}]).characters
    crowd = {"count": 4, "start_area": [2, 2, 8, 8], "goal_area": [20, 20, 30, 28]}
    for character in scene(specials=[top], characters=[crowd]).characters:
        assert max(abs(character.start[0] - 5), abs(character.start[1] - 5)) > 2


def test_who_comes_later_may_begin_where_somebody_stood():
    place = {"start": [5, 5], "goal": [20, 20]}
    assert len(scene(characters=[place, {**place, "goal": [22, 22], "start_time": 3}]).characters) == 2
    with pytest.raises(SceneError, match="they overlap"):
        scene(characters=[place, {**place, "goal": [22, 22]}])


def test_movers_count_where_they_are_when_one_begins():
    ball = {"sphere": {"radius": 1}, "path": [[0, 5, 5], [10, 30, 5]]}
    here = {"start": [5.5, 5], "goal": [20, 20]}
    with pytest.raises(SceneError, match=r"inside movers\[0\]"):
        scene(movers=[ball], characters=[here])
    assert scene(movers=[ball], characters=[{**here, "start_time": 5}]).characters


def test_warnings_do_not_keep_a_scene_from_loading(tmp_path):
    loaded = scene(
        obstacles=[{"box": {"center": [50, 8], "size": [4, 1], "height": 1}}],
        movers=[{"sphere": {"radius": 1}, "path": [[0, 5, 5], [4, 45, 5]]}],
        characters=[
            {"start": [1, 1], "goal": [9, 9]},
            {"start": [3, 1], "goal": [9.4, 9]},
            {"count": 2, "start_area": [5, 10, 9, 20], "goal": [20, 20]},
        ],
    )
    assert [str(w) for w in loaded.warnings] == [
        "obstacles[0]: warning: lies outside bounds [0, 0, 40, 30]",
        "movers[0].path: warning: leaves bounds [0, 0, 40, 30] at 4 s",
        "characters[1].goal: warning: [9.4, 9] is 0.4 m from the goal of 'character1': they cannot both stand there",
        "characters[2].goal: warning: [20, 20] is one goal for 2 characters, who cannot all stand there; "
        "write goal_area: ...",
    ]
    path = tmp_path / "scene.yaml"
    path.write_text("gaitway: 1\nbounds: [0, 0, 1, 1]\nobstacles:\n- {sphere: {center: [5, 5], radius: 1}}\n")
    assert [(p.line, p.warning) for p in scene_problems(path)] == [(4, True)]


def test_special_obstacles_that_nobody_can_pass_are_warned_of(tmp_path):
    path = tmp_path / "scene.yaml"
    path.write_text(
        "gaitway: 1\nbounds: [0, 0, 20, 20]\nlibrary: skateboarder\nspecials:\n"
        "- {jump: {center: [5, 5], size: [4, 0.2], height: 0.1}}\n"
        "- {jump: {center: [5, 9], size: [4, 0.2], height: 1.9}}\n"
        "- {climb: {center: [5, 15], size: [4, 4], height: 0.9}}\n"
        "characters: [{start: [12, 12], goal: [1, 1]}]\n"
    )
    too_high, unknown = scene_problems(path)
    assert (too_high.place, too_high.line, too_high.warning) == ("specials[1]", 6, True)
    assert "1.90 m height over 0.20 m cannot be passed by 'jump' of library 'skateboarder'" in too_high.text
    assert str(unknown) == (
        f"{path}:7: specials[2]: warning: library 'skateboarder' has no behaviour that passes 'climb'"
    )
    assert scene_problems(path, passing=False) == []


def test_python_values_of_all_kinds():
    loaded = scene_from_dict(
        {
            "gaitway": np.int64(1),
            "bounds": np.array([0, 0, 40, 30]),
            "title": None,
            "characters": ({"start": np.array([1.0, 2.0]), "goal": (3, np.float32(4.0))},),
        }
    )
    assert loaded.characters[0].goal == (3.0, 4.0)


def test_scenes_are_frozen_and_can_be_edited_through_their_source():
    loaded = scene(characters=[{"start": [2, 2], "goal": [8, 8]}])
    with pytest.raises(FrozenInstanceError):
        loaded.seed = 3
    edited = build_scene(loaded.source.model_copy(update={"bounds": (0.0, 0.0, 9.0, 9.0), "seed": 4}))
    assert edited.world.bounds == (0.0, 0.0, 9.0, 9.0)
    assert edited.seed == 4
    with pytest.raises(GaitwayError, match="outside bounds"):
        build_scene(loaded.source.model_copy(update={"bounds": (0.0, 0.0, 5.0, 5.0)}))


def test_importing_scenes_costs_nothing():
    code = (
        "import sys, gaitway.scene\n"
        "assert not {'shapely', 'trimesh', 'pydantic', 'numba', 'numpy'} & set(sys.modules)\n"
        "gaitway.scene.load_scene('maze')\n"
        "assert 'trimesh' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_public_names():
    names = gaitway.scene.__all__
    assert list(names) == sorted(set(names))
    assert [name for name in names if not hasattr(gaitway.scene, name)] == []
    with pytest.raises(AttributeError, match="load_scenes"):
        _ = gaitway.scene.load_scenes
