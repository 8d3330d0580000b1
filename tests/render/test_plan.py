"""Plans of scenes: what is where, in which colour, at any size and shape."""

from __future__ import annotations

import dataclasses
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from gaitway.core.errors import GaitwayError
from gaitway.render.plan import scene_plan as plan_module
from gaitway.render.plan.canvas import Canvas, mixed, rgba
from gaitway.render.plan.characters import group_colors, group_of
from gaitway.render.plan.ground import nice_step
from gaitway.render.plan.obstacles import BLOCK, LOW, TALL
from gaitway.render.plan.scene_plan import scene_plan
from gaitway.render.raster.colors import MOVER_COLOR, kind_color
from gaitway.render.raster.labels import overlap
from gaitway.scene import load_scene, ready_scenes, scene_from_dict
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.plan_options import PlanOptions
from gaitway.world import Box, Cylinder, Mover, MoverPhase, Obstacle, Polygon, Stairs, Terrain, World
from gaitway.world.clearance import Clearance
from gaitway.world.doors import Door
from gaitway.world.occupancy import Occupancy
from gaitway.world.world import realised


def drawn(world: World, time: float = 0.0, **options: object) -> tuple[Image.Image, Canvas]:
    """The map alone of a world: no header, legend or margins to reckon with."""
    kept: list[Canvas] = []

    class Kept(Canvas):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            kept.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan_module, "Canvas", Kept)
        scene_plan(world, size=600, time=time, title="", legend=False, **options)
    return kept[0].finished(), kept[0]


def color_at(picture: Image.Image, canvas: Canvas, place: tuple[float, float]) -> tuple[int, int, int]:
    x, y = canvas.pixels(place)
    return picture.getpixel((int(x), int(y)))


def near_color(a: tuple[int, int, int], color: str, within: int = 6) -> bool:
    return bool(np.abs(np.array(a) - rgba(color)[:3]).max() <= within)


def test_walls_have_the_colour_of_their_height_and_thickness():
    world = World(
        (0, 0, 20, 10),
        (
            Obstacle(Box((4, 5), (0.3, 6), 2.5)),
            Obstacle(Box((10, 5), (4, 4), 9.0)),
            Obstacle(Box((16, 5), (2, 2), 0.5)),
            Obstacle(Box((16, 8.5), (2, 1), 0.5), color="#336699"),
        ),
    )
    picture, canvas = drawn(world)
    for place, color in (((4, 5), TALL), ((10, 5), BLOCK), ((16, 5), LOW), ((16, 8.5), "#336699")):
        assert near_color(color_at(picture, canvas, place), color)
    assert min(color_at(picture, canvas, (7.4, 2.3))) > 240


def test_a_hole_in_a_building_stays_free():
    ring = ((2, 2), (8, 2), (8, 8), (2, 8))
    hole = ((4, 4), (6, 4), (6, 6), (4, 6))
    picture, canvas = drawn(World((0, 0, 10, 10), (Obstacle(Polygon(ring, 3.0, (hole,))),)))
    assert near_color(color_at(picture, canvas, (3, 3)), BLOCK)
    assert min(color_at(picture, canvas, (5.5, 4.6))) > 235


def test_specials_have_the_colour_of_their_kind_and_beams_are_hatched():
    world = World(
        (0, 0, 20, 10),
        (Obstacle(Box((4, 5), (1, 6), 0.4), "jump"), Obstacle(Box((12, 5), (2, 6), 0.3, bottom=1.2), "duck")),
    )
    picture, canvas = drawn(world)
    assert near_color(color_at(picture, canvas, (4, 7)), kind_color("jump"))
    strokes = {color_at(picture, canvas, (12 + dx, 7.0)) for dx in np.linspace(-0.6, 0.6, 40)}
    assert any(near_color(c, kind_color("duck"), 12) for c in strokes)
    assert any(near_color(c, mixed(kind_color("duck"), "#fdfcfa", 0.72), 12) for c in strokes)


def test_an_arrow_points_up_the_stairs():
    picture, canvas = drawn(World((0, 0, 10, 10), (Obstacle(Stairs((5, 5), 3.0, 12, yaw=0.5 * np.pi), "stairs"),)))
    shaft = [sum(color_at(picture, canvas, (5.0, y))) for y in np.linspace(4.0, 6.0, 9)]
    assert max(shaft) < 330
    beside = [min(color_at(picture, canvas, (4.94, y))) for y in (3.5, 6.6)]
    assert beside[1] < beside[0]  # the head is wide where the flight ends


def test_movers_are_where_and_what_they_are_at_a_time():
    moving = Mover.of(Cylinder((0, 0), 0.8, 1.5), [0.0, 4.0], [[2, 5, 0], [10, 5, 0]])
    changing = Mover(
        (MoverPhase(0.0, Box((0, 0), (2, 2), 1.0), "wall"), MoverPhase(3.0, Box((0, 0), (2, 2), 0.4), "jump")),
        [0.0],
        [[15, 5, 0]],
    )
    world = World((0, 0, 20, 10), movers=(moving, changing))
    for time, x in ((0.0, 2.0), (2.0, 6.0), (9.0, 10.0)):
        picture, canvas = drawn(world, time)
        assert near_color(color_at(picture, canvas, (x, 5.3)), MOVER_COLOR)
        assert near_color(color_at(picture, canvas, (14.7, 5)), MOVER_COLOR if time < 3.0 else kind_color("jump"))


def test_a_door_is_drawn_where_it_stands_and_dashed_where_it_moves_to():
    door = Door(
        name="gate", shape=Box((0, 0), (2, 0.8), 2.0), middle=(5, 5), across=0.5 * np.pi, width=2.0, shut=(5, 5, 0),
        open=(9, 5, 0), seconds=1.0,
    )  # fmt: skip
    world = World((0, 0, 20, 10), movers=(door.mover(),), doors=(door,))
    picture, canvas = drawn(world)
    assert near_color(color_at(picture, canvas, (5.5, 5)), MOVER_COLOR)
    assert not near_color(color_at(picture, canvas, (9, 5)), MOVER_COLOR)
    rim = [sum(color_at(picture, canvas, (x, 5.4))) for x in np.linspace(8.1, 9.9, 60)]
    assert min(rim) < 500 and max(rim) > 700  # dashes
    moved, canvas = drawn(realised(world, {"doors": {"gate": {"path": [[0, 5, 5, 0], [1, 9, 5, 0]]}}}), 3.0)
    assert near_color(color_at(moved, canvas, (9.5, 5)), MOVER_COLOR)


def test_hills_are_shaded_and_contoured():
    x, y = np.meshgrid(np.linspace(0, 20, 41), np.linspace(0, 10, 21))
    world = World((0, 0, 20, 10), terrain=Terrain(2.0 * np.exp(-((x - 10) ** 2 + (y - 5) ** 2) / 12), 0.5))
    picture, canvas = drawn(world)
    # light comes from the upper left
    sunny, shady = (sum(color_at(picture, canvas, p)) for p in ((8.5, 6.5), (11.5, 3.5)))
    assert sunny > shady + 30
    level, _ = drawn(World((0, 0, 20, 10), terrain=Terrain(np.zeros((3, 3)), 10.0)))
    spread = np.asarray(level.crop((20, 20, 490, 200))).std(axis=(0, 1)).max()
    assert spread < 6.0  # no contour lines where it is level


def test_starts_and_goals_are_where_the_scene_has_them():
    scene = scene_from_dict(
        {
            "gaitway": 1,
            "bounds": [0, 0, 10, 10],
            "characters": [{"name": "ada", "start": [2, 3, 90], "goal": [7, 8], "radius": 0.4}],
        }
    )
    (ink,) = group_colors(scene.characters).values()
    kept: list[Canvas] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan_module, "Canvas", lambda *a: kept.append(Canvas(*a)) or kept[-1])
        scene_plan(scene, size=700, legend=False)
    picture, canvas = kept[0].finished(), kept[0]
    assert near_color(color_at(picture, canvas, (2, 3)), ink)
    assert near_color(color_at(picture, canvas, (2, 3.55)), ink)  # its nose points up the page
    assert not near_color(color_at(picture, canvas, (2.55, 3)), ink, 60)
    assert near_color(color_at(picture, canvas, (7, 8)), ink)
    assert not near_color(color_at(picture, canvas, (7.25, 8)), ink, 60)  # a ring, not a disc
    assert near_color(color_at(picture, canvas, (7.37, 8)), ink, 30)


def test_groups_share_a_colour_and_few_characters_have_their_own():
    people = [SimpleNamespace(name=f"{g}-{i:02d}") for g in ("east", "west") for i in range(20)]
    colors = group_colors(people)
    assert set(colors) == {"east", "west"}
    assert len(set(colors.values())) == 2
    assert len(group_colors([SimpleNamespace(name=f"swap-{i:02d}") for i in range(16)])) == 16
    assert [group_of(n) for n in ("crowd-07", "ada", "7")] == ["crowd", "ada", "7"]


@pytest.mark.parametrize("name", ["falling_tree", "furnished_flat", "fence_and_beam"])
def test_no_words_overlap(name: str, monkeypatch: pytest.MonkeyPatch):
    placed = []
    monkeypatch.setattr(plan_module, "write", lambda pen, items: placed.extend(items))
    scene = load_scene(name)
    scene_plan(scene, size=1000)
    assert not any(overlap(a.box, b.box) for a, b in combinations(placed, 2))
    words = {p.wish.text for p in placed}
    assert {c.name for c in scene.characters} <= words


def test_heights_of_specials_can_be_read(monkeypatch: pytest.MonkeyPatch):
    placed = []
    monkeypatch.setattr(plan_module, "write", lambda pen, items: placed.extend(items))
    scene_plan(load_scene("fence_and_beam"), size=1200)
    assert {"fence 1, 0.40 m", "beam, 1.25 m clear"} <= {p.wish.text for p in placed}


def test_overlays_change_the_map_where_they_should():
    world = World((0, 0, 10, 10), (Obstacle(Box((5, 5), (2, 2), 2.5)),))
    plain, canvas = drawn(world)
    grid, _ = drawn(world, grid=Occupancy.of(world, 0.1, 0.5))
    assert color_at(grid, canvas, (6.3, 5)) != color_at(plain, canvas, (6.3, 5))  # covered by the grown wall
    assert color_at(grid, canvas, (8.3, 5.3)) == color_at(plain, canvas, (8.3, 5.3))
    field, _ = drawn(world, clearance=Clearance(Occupancy.of(world, 0.1, 0.0)))
    # most room between the box and the edge, least beside the box
    assert sum(color_at(field, canvas, (2.2, 2.2))) < sum(color_at(field, canvas, (3.8, 5.3))) - 60


@pytest.mark.parametrize("bounds", [(0, 0, 10, 10), (0, 0, 500, 420), (-3, 0, 97, 4), (0, 0, 3, 60), (0, 0, 0.5, 0.4)])
def test_any_size_and_shape_of_world(bounds):
    world = World(bounds)
    picture = scene_plan(world, size=500)
    assert picture.width == 500
    assert scene_plan(world, size=(500, 400)).size == (500, 400)


@pytest.mark.slow
def test_ten_thousand_people():
    rng = np.random.default_rng(0)
    places = rng.uniform(0.0, 500.0, (10_000, 4))
    empty = scene_from_dict({"gaitway": 1, "bounds": [0, 0, 500, 500]})
    people = tuple(
        Character(
            name=f"crowd-{i}",
            start=(a, b, 0.0),
            goal=(c, d),
            goal_heading=None,
            library=LibraryRef(),
            plan=PlanOptions(),
        )
        for i, (a, b, c, d) in enumerate(places.tolist())
    )
    scene = dataclasses.replace(empty, characters=people)
    assert scene_plan(scene, size=800).width == 800


def test_several_times_make_a_sheet(tmp_path):
    scene = load_scene("falling_tree")
    one = scene_plan(scene, size=600)
    sheet = scene_plan(scene, tmp_path / "sheet.png", size=600, time=(0.0, 5.5, 7.0))
    assert sheet.height > 2 * one.height * 0.7
    with Image.open(tmp_path / "sheet.png") as saved:
        assert saved.size == sheet.size


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"size": 20}, "cannot be read"),
        ({"size": (300, 60)}, "no room for the map"),
        ({"size": (20_000, 20_000)}, "too large"),
        ({"time": -1.0}, "0 or more"),
        ({"time": np.nan}, "0 or more"),
        ({"time": []}, "0 or more"),
        ({"time": (0.0, 1.0), "size": (900, 900)}, "width alone"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, words):
    with pytest.raises(GaitwayError, match=words):
        scene_plan(World((0, 0, 10, 10)), **options)


def test_round_steps():
    assert [nice_step(v) for v in (0.07, 0.1, 0.3, 1.0, 1.2, 5.1, 60.0)] == pytest.approx(
        [0.1, 0.1, 0.5, 1, 2, 10, 100]
    )


def test_the_same_scene_gives_the_same_picture():
    scene = load_scene("c_trap")
    assert np.array_equal(scene_plan(scene, size=400), scene_plan(scene, size=400))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ready_scenes()))
def test_every_ready_scene_draws(name: str):
    picture = scene_plan(load_scene(name), size=1200)
    assert picture.width == 1200
    assert np.asarray(picture).std() > 10.0


def test_where_people_do_errands_is_drawn() -> None:
    """Each kind of place, a source and a thing change the plan where they are, and nothing does elsewhere."""
    scene = scene_from_dict({
        "gaitway": 1, "bounds": [0, 0, 12, 8],
        "places": {"hall": {"area": [1, 1, 3, 3]}, "kiosk": {"line": [[5, 6], [5, 3]], "service": 4},
                   "seat": {"seats": [[8, 2, 90]]}, "flag": [10.5, 2]},
        "objects": [{"name": "cup", "ball": 0.05, "at": [10.5, 5, 0]}],
        "sources": [{"name": "guests", "area": [1, 5, 3, 7], "times": [0], "errands": [{"leave": "hall"}]}],
    })  # fmt: skip
    sizes = {"title": "", "legend": False, "size": 600}
    bare, shown = (np.asarray(scene_plan(scene, people=people, **sizes)).astype(int) for people in (False, True))
    width = bare.shape[1]
    changed = np.abs(shown - bare).sum(axis=-1) > 20

    def differs(x: float, y: float) -> bool:
        """Whether anything is drawn within 20 cm of a point."""
        left = 600 - width + 40  # the numbers along the axes come first
        scale = (width - left - 26) / 12.0
        column, row = round(left + x * scale), round((8.0 - y) * scale + 14)
        near = round(0.35 * scale)
        return bool(changed[max(row - near, 0) : row + near, column - near : column + near].any())

    assert all(differs(*point) for point in ((2.6, 1.4), (5, 4), (8, 2), (10.5, 2), (10.5, 5), (1.4, 5.4)))
    assert not any(differs(*point) for point in ((6.5, 4.5), (8, 7), (6.5, 1.2)))
