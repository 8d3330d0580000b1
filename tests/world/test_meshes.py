"""Meshes: slices with known answers, files of every kind, and broken ones."""

import logging

import numpy as np
import pytest
import shapely
import trimesh
from hypothesis import given
from hypothesis import strategies as st

from gaitway.core import planar
from gaitway.core.errors import FormatError, WorldError
from gaitway.world import Box, Cylinder, Polygon, Sphere, Stairs
from gaitway.world.footprint import core_geometry, drawn_geometry
from gaitway.world.meshes import MeshShape, load_mesh
from gaitway.world.surface import surface


def of(*parts):
    whole = trimesh.util.concatenate(list(parts))
    return MeshShape.of(whole.vertices, whole.faces)


def block(size, center):
    return trimesh.creation.box(extents=size, transform=trimesh.transformations.translation_matrix(center))


def table():
    """A top of 2 by 1 from 0.6 to 0.8 and four legs of 0.1 that reach 5 cm into it."""
    legs = [block((0.1, 0.1, 0.65), (x, y, 0.325)) for x in (-0.9, 0.9) for y in (-0.4, 0.4)]
    return of(block((2.0, 1.0, 0.2), (0.0, 0.0, 0.7)), *legs)


def area(mesh, low=-np.inf, high=np.inf):
    return core_geometry(mesh.footprint(low, high))


def test_table_is_legs_below_and_top_above():
    mesh = table()
    assert mesh.closed
    assert area(mesh, 0.0, 0.6).area == pytest.approx(4 * 0.01)
    assert len(mesh.footprint(0.0, 0.6).rings) == 4
    assert area(mesh, 0.6, 0.8).area == pytest.approx(2.0)  # where legs overlap the top it is solid all the same
    assert area(mesh, 0.61, 0.64).area == pytest.approx(2.0)
    assert area(mesh).area == pytest.approx(2.0)
    assert area(mesh, 0.8, 2.0).is_empty
    assert area(mesh, -1.0, 0.0).is_empty
    assert area(mesh, 0.3, 0.2).is_empty


def test_archway_is_open_below_its_arch():
    arch = of(
        block((0.5, 1.0, 2.0), (-1.25, 0, 1)), block((0.5, 1.0, 2.0), (1.25, 0, 1)), block((3, 1, 0.5), (0, 0, 2.25))
    )
    assert area(arch, 0.1, 1.9).area == pytest.approx(1.0)
    assert not area(arch, 0.1, 1.9).intersects(shapely.Point(0.0, 0.0))
    assert area(arch, 0.1, 2.1).area == pytest.approx(3.0)


def test_torus_is_a_ring_at_every_height():
    ring = trimesh.creation.torus(1.0, 0.3, major_sections=256, minor_sections=128)
    mesh = of(ring)
    for low, high in [(-np.inf, np.inf), (-0.1, 0.05), (0.1, 0.2), (-1.0, -0.25), (0.2, 1.0)]:
        wide = np.sqrt(0.09 - max(low, -high, 0.0) ** 2)
        assert area(mesh, low, high).area == pytest.approx(4.0 * np.pi * wide, rel=2e-3), (low, high)
        assert len(mesh.footprint(low, high).rings) == 2
    assert area(mesh, 0.31, 1.0).is_empty


def test_a_cavity_stays_empty_where_nothing_is_over_it():
    outer, inner = trimesh.creation.box(extents=(4, 4, 4)), trimesh.creation.box(extents=(2, 2, 2))
    inner.invert()
    hollow = of(outer, inner)
    assert area(hollow, -0.5, 0.5).area == pytest.approx(12.0)
    assert area(hollow, -0.5, 1.5).area == pytest.approx(16.0)


@pytest.mark.parametrize(
    "shape",
    [
        Box((1.0, 2.0), (4.0, 0.5), 2.5, 0.3, 0.1),
        Cylinder((1.0, 2.0), 0.5, 3.0, 1.0),
        Polygon(((0, 0), (4, 0), (4, 4), (0, 4)), 2.0, (((1, 1), (2, 1), (2, 2)),)),
        Stairs((1.0, 1.0), 2.0, 4, 0.2, 0.3, 0.5, 0.25),
        Sphere((0.5, 0.5), 1.0, 0.25),
    ],
)
@pytest.mark.parametrize("span", [(-np.inf, np.inf), (0.31, 0.5), (0.9, 1.3), (1.2, 5.0)])
def test_the_mesh_of_a_shape_has_the_plan_of_the_shape(shape, span):
    mesh = MeshShape.of(*surface(shape))
    assert mesh.closed
    assert mesh.model.oriented
    assert mesh.heights == pytest.approx(shape.heights)
    expected = drawn_geometry(shape.footprint(*span))
    tolerance = 0.03 if isinstance(shape, Sphere) else 1e-9
    assert area(mesh, *span).symmetric_difference(expected).area <= tolerance * max(expected.area, 1.0)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.floats(-0.4, 0.4), st.floats(0.0, 1.0))
def test_plan_of_a_lumpy_solid_against_rays(seed, low, thick):
    """A point is covered if a vertical line through it is inside between the heights: counted by crossings."""
    rng = np.random.default_rng(seed)
    ball = trimesh.creation.icosphere(1)
    vertices = ball.vertices * rng.uniform(0.5, 1.5, (len(ball.vertices), 1))
    high, mesh = low + thick, MeshShape.of(vertices, ball.faces)
    points = rng.uniform(-1.4, 1.4, (40, 2))
    plan = area(mesh, low, high)
    assert not plan.is_empty
    sure = shapely.distance(plan.boundary, shapely.points(points)) > 1e-6
    covered = np.array([_inside_between(vertices[ball.faces], x, y, low, high) for x, y in points])
    assert (shapely.contains_xy(plan, *points.T) == covered)[sure].all()


def _inside_between(corners, x, y, low, high):
    a, b, c = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    size = b[:, 0] * c[:, 1] - b[:, 1] * c[:, 0]
    v = ((x - a[:, 0]) * c[:, 1] - (y - a[:, 1]) * c[:, 0]) / size
    w = ((y - a[:, 1]) * b[:, 0] - (x - a[:, 0]) * b[:, 1]) / size
    heights = np.sort((a[:, 2] + v * b[:, 2] + w * c[:, 2])[(v >= 0) & (w >= 0) & (v + w <= 1)])
    return any(bottom < high and top > low for bottom, top in zip(heights[::2], heights[1::2], strict=True))


def test_crumpled_and_turned_round_triangles_still_work():
    rng = np.random.default_rng(1)
    ball = trimesh.creation.icosphere(4)
    rough = ball.vertices * (1.0 + 0.05 * rng.normal(size=(len(ball.vertices), 1)))
    expected = shapely.union_all(shapely.polygons(rough[ball.faces][..., :2]))
    assert area(MeshShape.of(rough, ball.faces)).symmetric_difference(expected).area < 1e-7
    mixed = ball.faces.copy()
    mixed[::2] = mixed[::2, ::-1]
    odd = MeshShape.of(ball.vertices, mixed)
    assert odd.closed
    assert not odd.model.oriented
    straight = MeshShape.of(ball.vertices, ball.faces)
    assert area(odd, 0.3, 0.5).symmetric_difference(area(straight, 0.3, 0.5)).area < 1e-9


def test_an_inside_out_mesh_is_turned():
    cube = trimesh.creation.box()
    mesh = MeshShape.of(cube.vertices, cube.faces[:, ::-1])
    corners = mesh.vertices[mesh.triangles]
    assert (corners[:, 0] * np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0 == pytest.approx(1.0)
    assert area(mesh, -0.2, 0.2).area == pytest.approx(1.0)


def test_an_open_mesh_is_its_surface_and_walls_are_lines():
    cube = trimesh.creation.box()
    walls = MeshShape.of(cube.vertices, cube.faces[np.abs(cube.face_normals[:, 2]) < 0.5])
    assert not walls.closed
    assert area(walls, -0.2, 0.2).area == 0.0
    assert area(walls, -0.2, 0.2).length == pytest.approx(4.0)
    assert all(len(ring) == 2 for ring in walls.footprint(-0.2, 0.2).rings)
    lid = MeshShape.of(cube.vertices, cube.faces[cube.face_normals[:, 2] > -0.5])
    assert area(lid, 0.0, 1.0).area == pytest.approx(1.0)
    assert area(lid, -0.2, 0.2).area == 0.0
    assert lid.footprint(0.5, 1.0).empty


@given(st.tuples(*[st.floats(-5.0, 5.0)] * 3), st.floats(-3.0, 3.0))
def test_placed_and_raised_meshes_move_their_plans(pose, by):
    mesh = TABLE.placed(pose).raised(by)
    low, high = mesh.heights
    assert (low, high) == pytest.approx((by, 0.8 + by))
    expected = TABLE.footprint(0.2, 0.5).placed(pose)
    assert mesh.footprint(0.2 + by, 0.5 + by).points == pytest.approx(expected.points, abs=1e-9)
    moved = planar.transform_points(pose, TABLE.vertices[:, :2])
    assert mesh.vertices == pytest.approx(np.column_stack([moved, TABLE.vertices[:, 2] + by]), abs=1e-9)


TABLE = table()


def test_moving_a_mesh_slices_nothing_anew(monkeypatch):
    mesh = table()
    mesh.footprint(0.2, 0.5)
    monkeypatch.setattr("gaitway.world.meshes.plan_of", lambda *_: pytest.fail("sliced again"))
    assert len(mesh.placed((1.0, 2.0, 3.0)).footprint(0.2, 0.5).rings) == 4


@pytest.fixture
def corner():
    """An L of two blocks, nothing symmetric: 3 long in x, 2 in y, 1 high."""
    return trimesh.util.concatenate([block((3.0, 1.0, 1.0), (1.5, 0.5, 0.5)), block((1.0, 1.0, 0.5), (0.5, 1.5, 0.25))])


@pytest.mark.parametrize("ending", ["stl", "ply", "obj", "glb", "gltf"])
def test_files_of_every_kind(tmp_path, corner, ending):
    path = tmp_path / f"corner.{ending}"
    if ending in ("obj", "glb", "gltf"):  # y up: (x, y, z) here is written as (y, z, x)
        corner.vertices = corner.vertices[:, [1, 2, 0]]
    if ending == "gltf":
        for name, data in trimesh.Scene(corner).export(file_type="gltf").items():
            (tmp_path / name.replace("model.gltf", path.name)).write_bytes(data)
    else:
        corner.export(path)
    mesh = load_mesh(path)
    assert mesh.closed
    assert mesh.vertices.min(axis=0) == pytest.approx([0, 0, 0], abs=1e-6)
    assert mesh.vertices.max(axis=0) == pytest.approx([3, 2, 1], abs=1e-6)
    assert area(mesh, 0.1, 0.4).area == pytest.approx(4.0, abs=1e-6)
    assert area(mesh, 0.6, 0.9).area == pytest.approx(3.0, abs=1e-6)
    big = load_mesh(path, scale=2.0)
    assert big.vertices.max(axis=0) == pytest.approx([6, 4, 2], abs=1e-6)


def test_up_can_be_told(tmp_path, corner):
    corner.export(tmp_path / "a.ply")
    assert load_mesh(tmp_path / "a.ply", up="y").vertices.max(axis=0) == pytest.approx([1, 3, 2])


def test_scene_graphs_are_flattened(tmp_path):
    scene = trimesh.Scene()
    cube = trimesh.creation.box()
    for place in ((0, 0, 0), (0, 0, 5)):  # y up: 5 along z is 5 along x here
        scene.add_geometry(cube, transform=trimesh.transformations.translation_matrix(place), geom_name="cube")
    mirror = np.diag([1.0, 1.0, -1.0, 1.0])
    mirror[:3, 3] = (0, 0, 10)
    scene.add_geometry(cube, transform=mirror, geom_name="cube")
    scene.export(tmp_path / "three.glb")
    mesh = load_mesh(tmp_path / "three.glb")
    assert len(mesh.triangles) == 36
    assert mesh.closed
    assert mesh.vertices.max(axis=0) == pytest.approx([10.5, 0.5, 0.5])
    corners = mesh.vertices[mesh.triangles]
    assert (corners[:, 0] * np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0 == pytest.approx(3.0)


def test_quads_are_split(tmp_path):
    (tmp_path / "q.obj").write_text("v 0 0 0\nv 0 0 2\nv 1 0 2\nv 1 0 0\nf 1 2 3 4\n")
    mesh = load_mesh(tmp_path / "q.obj")
    assert area(mesh).area == pytest.approx(2.0)


def _truncated(path, ending):
    trimesh.creation.icosphere(2).export(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])


@pytest.mark.parametrize(
    ("name", "make", "message"),
    [
        ("none.glb", lambda p: None, "no such file"),
        ("a.fbx", lambda p: p.write_text("x"), "'.fbx' is not a mesh; write a file that ends in .glb"),
        ("a", lambda p: p.write_text("x"), "is not a mesh"),
        ("dir.stl", lambda p: p.mkdir(), "is a folder; name a file"),
        ("empty.obj", lambda p: p.write_text(""), "(no triangles|not a whole OBJ)"),
        ("empty.glb", lambda p: p.write_text(""), "not a whole GLB"),
        ("empty.stl", lambda p: p.write_text(""), "(not a whole STL|no triangles)"),
        ("empty.ply", lambda p: p.write_text(""), "not a whole PLY"),
        ("rubbish.glb", lambda p: p.write_bytes(bytes(range(256)) * 9), "not a whole GLB"),
        ("rubbish.gltf", lambda p: p.write_text("{}"), "(not a whole GLTF|no triangles)"),
        ("rubbish.stl", lambda p: p.write_bytes(bytes(range(256)) * 9), "(not a whole STL|no triangles)"),
        ("rubbish.ply", lambda p: p.write_bytes(bytes(range(256)) * 9), "not a whole PLY"),
        ("rubbish.obj", lambda p: p.write_bytes(bytes(range(256)) * 9), "(not a whole OBJ|no triangles)"),
        ("cut.glb", lambda p: _truncated(p, "glb"), "not a whole GLB"),
        ("cut.stl", lambda p: _truncated(p, "stl"), "(not a whole STL|no triangles)"),
        ("cut.ply", lambda p: _truncated(p, "ply"), "not a whole PLY"),
        ("points.ply", lambda p: trimesh.PointCloud(np.eye(3)).export(p), "no triangles"),
        ("nan.obj", lambda p: p.write_text("v 0 0 0\nv 1 0 nan\nv 0 1 0\nf 1 2 3\n"), "not (finite|a whole)"),
        ("far.obj", lambda p: p.write_text("v 0 0 0\nv 1e9 0 0\nv 0 1 0\nf 1 2 3\n"), "at most 1e\\+06"),
    ],
)
def test_broken_files_are_one_line(tmp_path, name, make, message, caplog, capfd):
    path = tmp_path / name
    make(path)
    with caplog.at_level(logging.CRITICAL), pytest.raises(FormatError, match=message) as caught:
        load_mesh(path)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_limits_come_before_memory(tmp_path, monkeypatch):
    path = tmp_path / "ball.stl"
    trimesh.creation.icosphere(2).export(path)
    monkeypatch.setattr("gaitway.world.meshes.MAX_TRIANGLES", 100)
    with pytest.raises(FormatError, match="320 triangles; at most 100"):
        load_mesh(path)
    monkeypatch.setattr("gaitway.world.meshes.MAX_FILE_BYTES", 100)
    with pytest.raises(FormatError, match="at most 0 MiB are read"):
        load_mesh(path)


@pytest.mark.parametrize(
    ("vertices", "triangles", "message"),
    [
        ([[0, 0, 0]], np.empty((0, 3)), "0 triangles"),
        ([[0, 0, 0]], [[0, 0, 1]], "vertex 0 to 1 of 1"),
        ([[0, 0, 0]], [[0, 0, -1]], "vertex -1"),
        ([[0, 0]], [[0, 0, 0]], "shape"),
        ([[0, 0, np.inf]], [[0, 0, 0]], "not finite"),
    ],
)
def test_bad_arrays(vertices, triangles, message):
    with pytest.raises(WorldError, match=message):
        MeshShape.of(vertices, triangles)


def test_bad_options(tmp_path):
    trimesh.creation.box().export(tmp_path / "a.stl")
    with pytest.raises(WorldError, match="write y or z"):
        load_mesh(tmp_path / "a.stl", up="x")
    with pytest.raises(WorldError, match="scale 0"):
        load_mesh(tmp_path / "a.stl", scale=0)
