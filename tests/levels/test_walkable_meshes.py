"""Walkable meshes: floors at several heights from crude triangles, and people who walk on them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
import trimesh

import gaitway
from gaitway.audit.auditing import audit_take
from gaitway.cast.catalog import load_cast
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import LiveError, PlanError, SceneError, WorldError
from gaitway.levels.links import level_library, seam_links
from gaitway.levels.routing import LevelRoutes
from gaitway.planning import plan_scene
from gaitway.scene import load_scene
from gaitway.scene.characters import Character, LibraryRef, PlanOptions
from gaitway.scene.scene import Scene
from gaitway.space.prepared import planning_context
from gaitway.world.levels.floors import Floors
from gaitway.world.levels.mesh_floors import mesh_floors
from gaitway.world.levels.missing import least_step
from gaitway.world.meshes import MeshShape
from gaitway.world.obstacle import WALKABLE, Obstacle
from gaitway.world.shapes import Box
from gaitway.world.surface import join, surface
from gaitway.world.world import World

MESHES = Path(__file__).parents[3] / "shared" / "meshes"
HIGH = 2.7
BOUNDS = (0.0, 0.0, 24.0, 14.0)
PARTS = [
    Box((12.0, 7.0), (24.0, 14.0), 0.2, bottom=-0.2),
    Box((18.0, 7.0), (12.0, 14.0), 0.2, bottom=HIGH - 0.2),
    Box((8.1, 10.0), (0.2, 8.0), 2.4),
]
"""Two storeys: a slab, another one over its right half, and a wall on the lower one."""
SLOPE = (
    np.array([[2.0, 1.0, 0.0], [12.0, 1.0, HIGH], [12.0, 3.6, HIGH], [2.0, 3.6, 0.0]]),
    np.array([[0, 2, 1], [0, 2, 3]]),
)
"""A sheet without thickness that leads from the one to the other."""


def storeys() -> tuple[FloatArray, IntArray]:
    """Return the two storeys as one crude mesh: a third of the triangles upside down, some twice, some slivers."""
    vertices, triangles = join([*(surface(part) for part in PARTS), SLOPE])
    rng = np.random.default_rng(0)
    flipped = np.where(rng.random(len(triangles))[:, None] < 0.3, triangles[:, ::-1], triangles)
    slivers = np.column_stack([triangles[:5, 0], triangles[:5, 1], triangles[:5, 1]])
    return vertices, np.concatenate([flipped, triangles[:10], slivers])


def place(offset: float = 0.0, more: tuple[Obstacle, ...] = ()) -> World:
    """Return the two storeys as a world."""
    vertices, triangles = storeys()
    mesh = Obstacle(MeshShape.of(vertices + np.array([offset, offset, 0.0]), triangles), WALKABLE, "house")
    x0, y0, x1, y1 = (value + offset for value in BOUNDS)
    return World((x0, y0, x1, y1), (mesh, *more), grounded=False)


def scene_file(folder: Path, mesh: dict[str, Any], people: list[dict[str, Any]], bounds: Any = BOUNDS) -> Path:
    """Write a scene with one walkable mesh."""
    keys = ", ".join(f"{key}: {value}" for key, value in {"walkable": "true", **mesh}.items())
    lines = ["gaitway: 1", f"bounds: {list(bounds)}", "obstacles:", f"  - {{mesh: {{{keys}}}, name: house}}"]
    lines += ["characters:"] if people else []
    lines += [f"  - {{{', '.join(f'{key}: {value}' for key, value in one.items())}}}" for one in people]
    path = folder / "scene.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def written(folder: Path, name: str = "house.stl", scale: float = 1.0, axes: tuple[int, ...] = (0, 1, 2)) -> str:
    """Write the two storeys as a file, in some unit and with some order of axes; return its name."""
    vertices, triangles = storeys()
    trimesh.Trimesh(scale * vertices[:, list(axes)], triangles, process=False).export(folder / name)
    return name


@pytest.fixture(scope="module")
def floors() -> Floors:
    return Floors.of(place())


class TestFloors:
    def test_both_storeys_are_floors(self, floors: Floors) -> None:
        assert [floor.name for floor in floors.floors] == ["house", "house (2)"]
        assert floors.height(floors.at(20.0, 10.0, 2.5), 20.0, 10.0) == pytest.approx(HIGH)
        assert floors.height(floors.at(20.0, 10.0, 0.3), 20.0, 10.0) == pytest.approx(0.0)

    def test_without_a_height_the_lowest_counts(self, floors: Floors) -> None:
        assert floors.at(20.0, 10.0) is floors.at(20.0, 10.0, 0.0)

    def test_a_point_between_two_storeys_is_an_error_that_lists_them(self, floors: Floors) -> None:
        with pytest.raises(WorldError, match=r"as near to 'house' \(0 m\) as to 'house \(2\)' \(2.7 m\)"):
            floors.at(20.0, 10.0, 0.5 * HIGH)

    def test_the_ramp_is_ground_of_both(self, floors: Floors) -> None:
        for x in (5.0, 6.0, 8.0):
            there = [floor for floor in floors.floors if shapely.intersects_xy(floor.region, x, 2.3)]
            heights = [floors.height(floor, x, 2.3) for floor in there]
            assert heights == pytest.approx([0.27 * (x - 2.0)] * 2, abs=2e-3)

    def test_walls_and_drops_are_no_ground(self, floors: Floors) -> None:
        lower, upper = floors.floors
        assert not shapely.intersects_xy(lower.region, 8.1, 10.0)
        assert shapely.intersects_xy(lower.region, np.array([7.8, 8.4]), 10.0).all()
        assert not shapely.intersects_xy(upper.region, np.array([11.9, 8.1]), 10.0).any()
        assert shapely.intersects_xy(upper.region, 12.2, 10.0)

    def test_no_part_of_a_floor_is_nearer_to_a_wall_than_it_is(self, floors: Floors) -> None:
        assert floors.floors[0].region.intersection(shapely.box(8.0, 6.0, 8.2, 14.0)).is_empty

    def test_heights_are_those_of_the_triangles(self, floors: Floors) -> None:
        rng = np.random.default_rng(1)
        house = floors.world.obstacles[0].shape
        for floor in floors.floors:
            x0, y0, x1, y1 = floor.region.bounds
            points = rng.uniform((x0, y0), (x1, y1), (400, 2))
            points = points[shapely.contains_xy(floor.region.buffer(-0.1), *points.T)]
            assert floor.relief is not None
            found = floor.relief.height(points)
            exact = house.upper_side(points, found)
            assert exact is not None
            assert len(points) > 100
            assert found == pytest.approx(exact, abs=0.006)

    def test_it_is_the_same_fifty_kilometres_away(self, floors: Floors) -> None:
        far = Floors.of(place(50_000.0))
        assert [floor.name for floor in far.floors] == [floor.name for floor in floors.floors]
        for near, other in zip(floors.floors, far.floors, strict=True):
            assert other.core.area == pytest.approx(near.core.area, rel=2e-3)

    def test_whoever_is_on_the_ramp_is_on_both(self, floors: Floors) -> None:
        (dx, dy) = floors.floors[1].offset
        x0, y0, x1, y1, mx, my = floors.mirrors.T
        on_lower = (x0 <= 6.0) & (x1 >= 6.0) & (y0 <= 2.3) & (y1 >= 2.3)
        assert (mx[on_lower].tolist(), my[on_lower].tolist()) == ([dx], [dy])
        assert not ((x0 <= 18.0) & (x1 >= 18.0) & (y0 <= 7.0) & (y1 >= 7.0)).any()

    def test_ways_up_and_down_keep_to_the_right(self, floors: Floors) -> None:
        up, down = seam_links(load_cast("person"), floors)
        (x, y, heading), (dx, dy) = down.exit, down.target.offset
        assert math.cos(up.entry[2]) == pytest.approx(1.0)
        assert math.cos(heading) == pytest.approx(-1.0)
        assert up.entry[1] < y - dy
        assert 2.0 < x - dx < 12.0

    def test_what_stands_on_one_storey_is_in_nobodys_way_on_the_other(self) -> None:
        crate = Obstacle(Box((18.0, 7.0), (1.0, 1.0), 1.0, bottom=HIGH), name="crate")
        found = Floors.of(place(more=(crate,)))
        names = {o.name: o.shape.footprint().bounds for o in found.plane.obstacles if o.name == "crate"}
        assert names["crate"][0] == pytest.approx(17.5 + found.at(18.0, 4.0, HIGH).offset[0])
        assert sum(o.name == "crate" for o in found.plane.obstacles) == 1


class TestFiles:
    @pytest.mark.parametrize(
        ("name", "axes"),
        [("house.obj", (1, 2, 0)), ("house.glb", (1, 2, 0)), ("house.stl", (0, 1, 2)), ("house.ply", (0, 1, 2))],
    )
    def test_every_format(self, tmp_path: Path, floors: Floors, name: str, axes: tuple[int, ...]) -> None:
        scene = load_scene(scene_file(tmp_path, {"file": written(tmp_path, name, axes=axes)}, []))
        found = mesh_floors(scene.world)
        assert len(found.parts) == 2
        assert found.parts[1].region.area == pytest.approx(floors.floors[1].region.area, rel=0.01)
        assert not scene.world.grounded

    @pytest.mark.parametrize(
        ("scale", "message"),
        [
            (0.001, r"0.024 x 0.014 m large and 0.0029 m high, too small to walk on; .*\(scale: 1000\)"),
            (1000.0, r"2.4e\+04 x 1.4e\+04 m large and 2.9e\+03 m high; .*\(scale: 0.001 for millimetres\)"),
        ],
    )
    def test_the_wrong_unit_is_said(self, tmp_path: Path, scale: float, message: str) -> None:
        file = written(tmp_path, scale=scale)
        with pytest.raises(SceneError, match=rf"scene.yaml:4: obstacles\[0\]: mesh is {message}"):
            load_scene(scene_file(tmp_path, {"file": file}, []))

    def test_a_mesh_on_its_side_is_said(self, tmp_path: Path) -> None:
        file = written(tmp_path, "house.stl", axes=(1, 2, 0))
        with pytest.raises(SceneError, match=r"obstacles\[0\]: mesh is .* seems to lie on its side; write up: y"):
            load_scene(scene_file(tmp_path, {"file": file}, []))
        assert len(mesh_floors(load_scene(scene_file(tmp_path, {"file": file, "up": "y"}, [])).world).parts) == 2

    def test_a_mesh_without_level_ground_is_said(self, tmp_path: Path) -> None:
        wall = trimesh.creation.icosphere(radius=0.7)
        wall.export(tmp_path / "ball.stl")
        with pytest.raises(SceneError, match=r"obstacles\[0\]: nobody can walk there"):
            load_scene(scene_file(tmp_path, {"file": "ball.stl", "position": "[5, 5, 1]"}, []))

    def test_a_room_that_is_modelled_from_within(self, tmp_path: Path) -> None:
        vertices, triangles = surface(Box((12.0, 7.0), (20.0, 10.0), 3.0))
        trimesh.Trimesh(vertices, triangles[:, ::-1], process=False).export(tmp_path / "room.stl")
        found = Floors.of(load_scene(scene_file(tmp_path, {"file": "room.stl"}, [])).world)
        assert found.height(found.at(12.0, 7.0, 0.0), 12.0, 7.0) == pytest.approx(0.0)

    def test_ground_around_a_mesh(self, tmp_path: Path) -> None:
        trimesh.creation.box((4.0, 4.0, 0.15)).export(tmp_path / "step.stl")
        mesh = {"file": "step.stl", "position": "[12, 7, 0.075]"}
        alone = Floors.of(load_scene(scene_file(tmp_path, mesh, [])).world)
        with pytest.raises(WorldError, match=r"start \(2, 2\) is on no floor; the floors are 'house' \(0.15 m\)"):
            alone.at(2.0, 2.0, what="start")
        both = Floors.of(load_scene(scene_file(tmp_path, {**mesh, "ground": "true"}, [])).world)
        assert [floor.name for floor in both.floors] == ["ground"]
        assert both.height(both.at(2.0, 2.0), 2.0, 2.0) == pytest.approx(0.0)
        assert both.height(both.at(12.0, 7.0), 12.0, 7.0) == pytest.approx(0.15)

    def test_what_does_not_know_meshes_says_so(self, tmp_path: Path) -> None:
        ada = {"name": "ada", "start": [14, 8], "goal": [4, 11]}
        scene = load_scene(scene_file(tmp_path, {"file": written(tmp_path)}, [ada]))
        with pytest.raises(LiveError, match="write 'clips'"):
            gaitway.live(scene, dynamics="mixed")
        with pytest.raises(PlanError, match="planner 'crowd' knows one floor, and the scene has several"):
            plan_scene(scene, planner="crowd")


class TestOutOfReach:
    def test_the_least_step_that_is_missing(self) -> None:
        block = Obstacle(MeshShape.of(*surface(Box((4.0, 10.0), (3.0, 3.0), 1.2))), WALKABLE, "block")
        world = place(more=(block,))
        step = least_step(world, (2.0, 5.0, 0.0), (4.0, 10.0, 1.2))
        assert step is not None
        assert step[0] == pytest.approx(1.2, abs=1e-6)
        assert step[1][2] == pytest.approx(0.0)
        assert max(abs(step[1][0] - 4.0), abs(step[1][1] - 10.0)) == pytest.approx(1.5, abs=0.1)

    def test_no_step_is_missing_where_a_way_leads(self) -> None:
        assert least_step(place(), (2.0, 5.0, 0.0), (20.0, 10.0, HIGH)) == (0.0, (0.0, 0.0, 0.0))

    def test_nothing_leads_there(self) -> None:
        apart = Obstacle(MeshShape.of(*surface(Box((4.0, 10.0), (3.0, 3.0), 0.2, bottom=40.0))), WALKABLE, "cloud")
        assert least_step(place(more=(apart,)), (2.0, 5.0, 0.0), (4.0, 10.0, 40.2)) is None


def planned_and_audited(scene: Scene) -> FloatArray:
    """Plan a scene in which everybody arrives, audit it, and return the last root of each character."""
    planned = plan_scene(scene)
    assert {name: result.reason for name, result in planned.crowd.results.items() if not result.found} == {}
    report = audit_take(planned.take, scene.world)
    assert report.ok, [row for row in report.rows if not row.ok]
    (group,) = planned.take.joints(planned.take.duration)
    return np.asarray(group.positions[:, 0])


@pytest.mark.slow
def test_people_walk_from_storey_to_storey(tmp_path: Path) -> None:
    people = [
        {"name": "ada", "start": [14, 8], "goal": [20, 10, 0, HIGH]},
        {"name": "bo", "start": [20, 3, 90, HIGH], "goal": [4, 11]},
    ]
    roots = planned_and_audited(load_scene(scene_file(tmp_path, {"file": written(tmp_path)}, people)))
    assert roots[:, 2] == pytest.approx([HIGH + 0.95, 0.95], abs=0.1)


@pytest.mark.slow
@pytest.mark.skipif(not MESHES.is_dir(), reason="the meshes of Recast are not here")
def test_people_walk_on_a_level_that_nobody_made_for_them(tmp_path: Path) -> None:
    people = [
        {"name": "ada", "start": [-7.0, 18.25], "goal": [2.0, 2.44]},  # streets
        {"name": "ed", "start": [-42.95, 52.06], "goal": [-31.0, 47.0]},  # hills
    ]
    mesh = {"file": (MESHES / "nav_test.obj").as_posix()}
    scene = load_scene(scene_file(tmp_path, mesh, people, (-46.0, -29.0, 31.0, 62.0)))
    roots = planned_and_audited(scene)
    assert roots[0, 2] == pytest.approx(-2.37 + 0.95, abs=0.1)


@pytest.mark.slow
def test_live_people_walk_from_storey_to_storey(tmp_path: Path) -> None:
    bo = {"name": "bo", "start": [20, 5, 180, HIGH], "goal": [3, 8]}
    scene = load_scene(scene_file(tmp_path, {"file": written(tmp_path)}, [bo]))
    with gaitway.live(scene, seed=1) as crowd:
        assert crowd.positions()[0, 2] == pytest.approx(HIGH + 0.95, abs=0.1)
        seen = list[float]()
        while crowd.time < 60.0 and not crowd.arrived().all():
            crowd.step(1 / 30)
            seen.append(float(crowd.positions()[0, 2]))
        assert crowd.arrived().all()
        assert seen[-1] == pytest.approx(0.95, abs=0.1)
        assert np.abs(np.diff(seen)).max() < 0.05  # down the slope, and never from floor to floor at once
        report = audit_take(crowd.take(), scene.world)
        assert report.ok, [row for row in report.rows if not row.ok]


def test_no_way_leads_over_a_seam_and_back() -> None:
    floors = Floors.of(place())
    known = level_library(load_cast("person"), floors)
    ada = Character(
        name="ada", start=(0.0, 0.0, 0.0), goal=(0.0, 0.0), goal_heading=None, library=LibraryRef(), plan=PlanOptions()
    )
    prepared = planning_context(floors.plane, {LibraryRef(): known.library}).prepared(ada)
    routes = LevelRoutes(prepared, known.links)
    (x, y, _) = known.links[0].entry
    for roughly in (True, False):
        assert routes.route((x - 0.4, y + 0.3), (4.1, 12.6), 0.5, roughly=roughly) == []
