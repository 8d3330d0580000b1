"""The scenes that ship with the package: they load, and what they ask for can be done."""

from __future__ import annotations

import subprocess
import sys
from functools import lru_cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import shapely

from gaitway.cast.catalog import load_cast
from gaitway.core.errors import FormatError, SceneError
from gaitway.levels.level_scene import LevelScene
from gaitway.motion.body import capsule_body, capsules
from gaitway.scene import Scene, load_scene, ready_scenes, scene_problems, scene_summary
from gaitway.world import PASSABLE
from gaitway.world.footprint import drawn_geometry
from gaitway.world.levels.floors import Floors

NAMES = (
    "c_trap", "cafe", "cheese_and_hat", "circle_swap", "city_block", "corridor", "doorways", "fairground",
    "falling_tree", "fence_and_beam", "furnished_flat", "hills", "house", "kitchen", "market_square", "maze",
    "moving_spheres", "office", "open_square", "platform", "playground", "station",
)  # fmt: skip
LEVELS = ("house", "playground", "station")
"""Scenes with several floors."""
FLAT = tuple(name for name in NAMES if name not in LEVELS)
BUSY = ("cafe", "office", "platform")
"""Scenes whose people do errands, and have no goal."""
HEAD = 1.9
"""What hangs higher than this above the ground is in nobody's way [m]."""


@lru_cache
def ready(name: str) -> Scene:
    return load_scene(name)


def solid_area(scene: Scene, time: float = 0.0, specials: bool = True) -> shapely.Geometry:
    """What a person cannot walk through at a time."""
    areas = []
    for obstacle in scene.world.at(time).obstacles:
        if obstacle.kind == PASSABLE or (obstacle.special and not specials):
            continue
        area = drawn_geometry(obstacle.shape.footprint())
        ground = float(scene.world.ground(np.array(area.centroid.coords[0])))
        if obstacle.shape.heights[0] - ground < HEAD:
            areas.append(area)
    return shapely.union_all(areas)


def free_area(scene: Scene, radius: float, specials: bool = True) -> shapely.Geometry:
    """Where a disc of this radius can be."""
    x0, y0, x1, y1 = scene.world.bounds
    room = shapely.box(x0 + radius, y0 + radius, x1 - radius, y1 - radius)
    return shapely.difference(room, shapely.buffer(solid_area(scene, specials=specials), radius))


def same_part(area: shapely.Geometry, a: tuple[float, float], b: tuple[float, float]) -> bool:
    """Whether one can get from a to b within an area."""
    parts = getattr(area, "geoms", [area])
    return any(shapely.contains_xy(part, *a) and shapely.contains_xy(part, *b) for part in parts)


def test_all_are_known():
    assert tuple(sorted(ready_scenes())) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_loads_with_a_title_and_a_description(name: str):
    scene = ready(name)
    assert scene.title
    assert len(scene.description) > 60
    assert scene.characters or scene.sources


@pytest.mark.parametrize("name", NAMES)
def test_the_summary_tells_what_is_loaded(name: str):
    scene, summary = ready(name), scene_summary(name)
    assert (summary.title, summary.bounds) == (scene.title, scene.world.bounds)
    assert summary.characters == len(scene.characters)
    assert (summary.obstacles, summary.movers) == (len(scene.world.obstacles), len(scene.world.movers))


def test_a_summary_needs_the_form_of_a_scene(tmp_path: Path):
    with pytest.raises(FormatError, match="did you mean 'maze'"):
        scene_summary("mase")
    (tmp_path / "odd.yaml").write_text("gaitway: 1\nobstacels: []\n")
    with pytest.raises(SceneError, match="did you mean 'obstacles'"):
        scene_summary(tmp_path / "odd.yaml")


def test_summaries_need_neither_numpy_nor_kernels():
    code = "import sys, gaitway.scene as s; s.scene_summary('maze'); print({'numpy', 'numba'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("name", FLAT)
def test_starts_and_goals_are_free(name: str):
    scene = ready(name)
    x0, y0, x1, y1 = scene.world.bounds
    for character in scene.characters:
        solid = solid_area(scene, character.start_time)
        for x, y in (character.start[:2], character.goal):
            assert x0 + character.radius <= x <= x1 - character.radius, character.name
            assert y0 + character.radius <= y <= y1 - character.radius, character.name
            away = np.inf if solid.is_empty else shapely.distance(solid, shapely.Point(x, y))
            assert away > character.radius + 0.05, character.name


@pytest.mark.parametrize("name", NAMES)
def test_nobody_starts_or_ends_in_another(name: str):
    for a, b in combinations(ready(name).characters, 2):
        reach = a.radius + b.radius
        assert np.hypot(a.start[0] - b.start[0], a.start[1] - b.start[1]) > reach
        assert np.hypot(a.goal[0] - b.goal[0], a.goal[1] - b.goal[1]) > reach


@pytest.mark.parametrize("name", LEVELS)
def test_starts_and_goals_on_floors_are_free(name: str):
    scene = ready(name)
    floors = Floors.of(scene.world)
    for character in scene.characters:
        for (x, y), floor in ((character.start[:2], character.start_floor), (character.goal, character.goal_floor)):
            found = floors.named(floor or "ground")
            place = shapely.Point(x + found.offset[0], y + found.offset[1])
            for obstacle in floors.plane.obstacles:
                if obstacle.shape.heights[0] < HEAD:
                    away = shapely.distance(drawn_geometry(obstacle.shape.footprint()), place)
                    assert away > character.radius + 0.04, (character.name, obstacle.name)


@pytest.mark.slow
@pytest.mark.parametrize("name", LEVELS)
def test_there_is_a_way_over_floors_for_everybody(name: str):
    levels = LevelScene.of(ready(name))
    assert not levels.troubles
    assert not levels.unreachable()


@pytest.mark.parametrize("name", FLAT)
def test_there_is_a_way_for_everybody(name: str):
    scene = ready(name)
    free = free_area(scene, 0.35, specials=False)
    for character in scene.characters:
        assert same_part(free, character.start[:2], character.goal), character.name


def test_the_course_has_no_way_around():
    scene = ready("fence_and_beam")
    free = free_area(scene, 0.05)
    for character in scene.characters:
        assert not same_part(free, character.start[:2], character.goal), character.name


def test_the_trap_catches_who_walks_straight():
    scene = ready("c_trap")
    ada = scene.characters[0]
    straight = shapely.LineString([ada.start[:2], ada.goal])
    assert shapely.intersects(solid_area(scene), straight)


def test_the_fallen_tree_bars_the_whole_path_and_the_standing_one_nothing():
    scene = ready("falling_tree")
    path = shapely.LineString([(20.0, 1.7), (20.0, 9.3)])
    lane = shapely.box(18.0, 1.61, 22.0, 9.39)
    assert not shapely.intersects(solid_area(scene, 0.0), lane)
    for time, kind in ((5.5, "wall"), (7.0, "jump"), (100.0, "jump")):
        assert {o.kind for o in scene.world.at(time).moved} == {kind, PASSABLE}
        assert shapely.length(shapely.difference(path, solid_area(scene, time))) < 0.05


def test_moving_things_do_not_touch_one_another_nor_come_to_where_people_start():
    scene = ready("moving_spheres")
    assert len(scene.world.movers) == 20
    assert len(scene.characters) == 20
    radii = np.array([m.phases[0].shape.radius for m in scene.world.movers])
    for time in np.arange(0.0, 60.0, 0.25):
        places = np.array([m.pose(time)[:2] for m in scene.world.movers])
        gaps = np.linalg.norm(places[:, None] - places, axis=-1) - radii[:, None] - radii
        assert gaps[~np.eye(20, dtype=bool)].min() > -0.02
        assert (places[:, 0] - radii).min() > 5.0
        assert (places[:, 0] + radii).max() < 27.0


def test_people_clear_the_fence_and_the_beam_with_their_whole_body():
    """The clips pass the specials of the ready scenes, with 10 cm to spare before and behind; a walker with 2 cm."""
    names = ["step_over_left", "step_over_right", "hurdle", "jump", "duck", "duck_jog"]
    cast = load_cast("person", behaviors=names)
    specials = [o for o in ready("fence_and_beam").world.obstacles if o.special]
    specials += [o for o in ready("falling_tree").world.at(10.0).moved if o.special]
    assert {o.kind for o in specials} == {"jump", "duck"}
    for obstacle in specials:
        depth = float(min(np.ptp(obstacle.shape.footprint().points, axis=0)))
        low, high = obstacle.shape.heights
        for behavior in cast.graph.behaviors:
            narrow = behavior.name == "hurdle" or behavior.name.startswith("step_over")  # the tree is thick
            if behavior.obstacle == obstacle.kind and not (narrow and depth > 0.3):
                spare = 0.02 if behavior.name.startswith("step_over") else 0.1
                bottom, top = envelope(cast.clips[behavior.clips[0]], behavior.pass_time, 0.5 * depth + spare)
                assert bottom > high or top < low, (obstacle.name, behavior.name)


def envelope(clip, pass_time: float, half: float) -> tuple[float, float]:
    """Lowest and highest of the body over a strip about where the root is at the pass time [m]."""
    body = capsule_body(clip.skeleton)
    segments = capsules(clip, body)
    middle = np.interp(pass_time, np.arange(len(clip)) / clip.fps, clip.planar_path()[:, 0])
    points = segments[:, :, :1] + (segments[:, :, 1:] - segments[:, :, :1]) * np.linspace(0.0, 1.0, 9)[:, None]
    radii = body.radii[:, None]
    away = np.maximum(np.abs(points[..., 0] - middle) - half, 0.0)
    reach = np.sqrt(np.maximum(radii**2 - away**2, 0.0))
    over = away < radii
    return float((points[..., 2] - reach)[over].min()), float((points[..., 2] + reach)[over].max())


@pytest.mark.parametrize("name", NAMES)
def test_no_warnings(name: str):
    assert not scene_problems(ready_scenes()[name])
