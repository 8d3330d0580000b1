"""Worlds in pictures: shapes, paint, hills, cutaways, movers."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.core.errors import GaitwayError
from gaitway.render import Solid, render_frame
from gaitway.render.film.scenery import Scenery
from gaitway.render.raster.colors import KIND_COLORS, MOVER_COLOR, OTHER_COLOR, kind_color, obstacle_color
from gaitway.render.raster.drawables import Patch
from gaitway.render.raster.mesh import SurfaceMesh, box
from gaitway.scene import load_scene
from gaitway.world import PASSABLE, Box, Cylinder, Mover, Obstacle, Polygon, Sphere, Stairs, Terrain, World

SIZE = (240, 160)
SHAPES = (
    Box((3, 3), (1, 2), 1.5, yaw=0.4),
    Cylinder((6, 3), 0.6, 2.0),
    Sphere((9, 3), 0.7),
    Polygon(((2, 6), (5, 6), (5, 9), (2, 9)), 2.0, (((3, 7), (4, 7), (4, 8), (3, 8)),)),
    Stairs((9, 7), 2.0, 8),
)


def picture(scenery: Scenery, time: float = 0.0, samples: int = 4):
    camera = scenery.overview(SIZE)
    return render_frame(
        [],
        camera,
        size=SIZE,
        obstacles=scenery.solids(time),
        paint=scenery.paint,
        lighting=scenery.lighting(),
        samples=samples,
    )


def test_every_shape_becomes_a_solid_of_the_right_size_that_faces_outward():
    scenery = Scenery.of(World((0, 0, 12, 12), tuple(Obstacle(shape) for shape in SHAPES)))
    assert len(scenery.solids()) == len(SHAPES)
    for solid, shape in zip(scenery.solids(), SHAPES, strict=True):
        mesh = solid.mesh
        low, high = shape.heights
        assert mesh.points[:, 2].min() == pytest.approx(low, abs=1e-9)
        assert mesh.points[:, 2].max() == pytest.approx(high, abs=1e-9)
        corners = mesh.points[mesh.triangles]
        volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0
        assert volume > 0.0
        assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1.0)


def test_a_cutaway_lowers_walls_and_leaves_out_what_hangs_above():
    hanging = Obstacle(Box((6, 6), (2, 2), 0.3, bottom=2.4))
    world = World((0, 0, 12, 12), (Obstacle(Box((3, 3), (4, 0.2), 2.5)), Obstacle(Box((8, 3), (1, 1), 0.4)), hanging))
    tops = [s.mesh.points[:, 2].max() for s in Scenery.of(world, cutaway=1.2).solids()]
    assert tops == pytest.approx([1.2, 0.4])
    assert len(Scenery.of(world).solids()) == 3
    with pytest.raises(GaitwayError, match="cutaway"):
        Scenery.of(world, cutaway=0.0)


def test_a_cutaway_leaves_beams_and_movers_whole():
    beam = Obstacle(Box((6, 6), (2, 0.1), 0.3, bottom=1.15), "duck")
    cart = Mover.of(Box((0, 0), (1, 1), 2.0), [0.0, 1.0], [(2, 2, 0), (4, 2, 0)])
    scenery = Scenery.of(World((0, 0, 12, 12), (beam,), (cart,)), cutaway=1.0)
    assert [s.mesh.points[:, 2].max() for s in scenery.solids()] == pytest.approx([1.45, 2.0])


def test_a_cutaway_is_counted_from_the_ground():
    world = World(
        (0, 0, 12, 12), (Obstacle(Box((6, 6), (2, 2), 3.0, bottom=5.0)),), terrain=Terrain(np.full((3, 3), 5.0), 6.0)
    )
    assert Scenery.of(world, cutaway=1.0).solids()[-1].mesh.points[:, 2].max() == pytest.approx(6.0)


def test_a_cutaway_is_counted_from_the_floor_that_a_thing_stands_on():
    deck = Obstacle(Box((6, 6), (8, 8), 0.3, bottom=2.1), "platform")
    wall = Obstacle(Box((6, 6), (4, 0.2), 2.5, bottom=2.4))
    low, high = Scenery.of(World((0, 0, 12, 12), (deck, wall)), cutaway=1.2).solids()
    assert low.mesh.points[:, 2].max() == pytest.approx(2.4)
    assert high.mesh.points[:, 2].max() == pytest.approx(3.6)


def test_thin_passable_things_are_paint():
    carpet = Obstacle(Polygon(((2, 2), (6, 2), (6, 4)), 0.01), PASSABLE, color="#884422")
    scenery = Scenery.of(World((0, 0, 10, 10), (carpet,)))
    assert scenery.solids() == []
    patch = next(p for p in scenery.paint if isinstance(p, Patch))
    corners, triangles = patch.surface()
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    area = 0.5 * ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
    assert (area > 0.0).all()
    assert area.sum() == pytest.approx(4.0)


def test_movers_are_at_their_place_in_time():
    mover = Mover.of(Cylinder((0, 0), 0.5, 1.0), [0.0, 2.0], [[2, 2, 0], [8, 2, 0]])
    scenery = Scenery.of(World((0, 0, 10, 10), movers=(mover,)))
    for time, x in ((0.0, 2.0), (1.0, 5.0), (5.0, 8.0)):
        (solid,) = scenery.solids(time)
        assert solid.mesh.points[:, 0].mean() == pytest.approx(x, abs=0.05)


def test_hills_replace_the_floor():
    x, y = np.meshgrid(np.arange(13.0), np.arange(13.0))
    world = World((0, 0, 12, 12), terrain=Terrain(0.3 * x + 0.02 * y, 1.0))
    scenery = Scenery.of(world)
    assert scenery.lighting().ground is None
    (ground,) = scenery.solids()
    points = ground.mesh.points
    assert points[:, 2] == pytest.approx(world.ground(points[:, :2]))
    assert (ground.mesh.normals[:, 2] > 0.9).all()
    shown = picture(scenery)
    assert shown[SIZE[1] // 2, SIZE[0] // 2].astype(int)[1] > shown[SIZE[1] // 2, SIZE[0] // 2].astype(int)[2]  # green
    ribbon = scenery.on_ground(np.array([[1.0, 1.0], [9.0, 1.0]]), 0.1, "#ff0000", 1.0)
    assert isinstance(ribbon, Solid)
    assert ribbon.mesh.points[:, 2] == pytest.approx(world.ground(ribbon.mesh.points[:, :2]) + 0.03)


def test_the_overview_sees_all_of_the_place():
    for bounds in ((0, 0, 40, 10), (0, 0, 10, 40), (-5, -5, 5, 5)):
        scenery = Scenery.of(World(bounds, (Obstacle(Box((2, 2), (1, 1), 6.0)),)))
        camera = scenery.overview(SIZE)
        x0, y0, x1, y1 = bounds
        corners = np.array([(x, y, 0.0) for x in (x0, x1) for y in (y0, y1)] + [(2, 2, 6.0)])
        seen = camera.project(corners, SIZE)
        assert (seen[:, 0] > 0).all() and (seen[:, 0] < SIZE[0]).all()
        assert (seen[:, 1] > 0).all() and (seen[:, 1] < SIZE[1]).all()


def test_colours_by_kind():
    assert kind_color("jump") == KIND_COLORS["jump"]
    assert kind_color("vault") == OTHER_COLOR
    wall = Obstacle(Box((0, 0), (1, 1), 1.0))
    assert obstacle_color(wall, moves=True) == MOVER_COLOR
    assert obstacle_color(Obstacle(wall.shape, color="#123456"), moves=True) == "#123456"


def test_a_solid_takes_one_colour_or_one_for_each_vertex():
    mesh = box((0, 0, 0.5), np.eye(3), (0.5, 0.5, 0.5))
    assert Solid(mesh, "#ffffff").colors() == pytest.approx(np.ones((len(mesh.points), 3)))
    with pytest.raises(GaitwayError, match="solid colours"):
        Solid(mesh, np.zeros((3, 3))).colors()
    with pytest.raises(GaitwayError, match="colour"):
        Solid(SurfaceMesh(mesh.points, mesh.normals, mesh.triangles), "blue").colors()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["city_block", "hills", "furnished_flat", "moving_spheres"])
def test_ready_scenes_can_be_pictured(name: str):
    assert picture(Scenery.of(load_scene(name).world), 3.0).std() > 5.0
