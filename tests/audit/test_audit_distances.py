"""The audit's own geometry against independent judges: python-fcl, trimesh, shapely and dense sampling."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from audit_takes import clips, segment_gap
from gaitway.audit import _body_kernels, _pair_kernels, _solid_kernels
from gaitway.audit.bodies import axes_of, hulls, reach, skin
from gaitway.audit.penetration import run_scan
from gaitway.audit.solids import chosen, gather, is_convex
from gaitway.core import rotations
from gaitway.core.arrays import read_only
from gaitway.motion.body import capsule_body
from gaitway.world.footprint import Footprint
from gaitway.world.shapes import Ball, Box, Cylinder, Polygon, Prism, Sphere, TriangleMesh

STACK, SPANS = np.empty(64, np.int64), np.empty((64, 4))
COURT = Polygon(((0, 0), (4, 0), (4, 4), (2, 1), (0, 4)), 2.0, holes=(((0.8, 0.4), (1.6, 0.4), (0.8, 1.2)),))


def torus() -> TriangleMesh:
    mesh = trimesh.creation.torus(1.0, 0.35, major_sections=24, minor_sections=12)
    return TriangleMesh(np.asarray(mesh.vertices), np.asarray(mesh.faces), True)


def two_boxes() -> TriangleMesh:
    """A closed mesh of two boxes that overlap."""
    parts = [
        trimesh.creation.box((1.0, 1.0, 1.0)),
        trimesh.creation.box((1.0, 0.5, 0.5), transform=trimesh.transformations.translation_matrix((0.5, 0, 0))),
    ]
    both = trimesh.util.concatenate(parts)
    return TriangleMesh(np.asarray(both.vertices), np.asarray(both.faces), True)


SOLIDS = (
    *Box((0.3, -0.2), (1.0, 2.0), 1.5, 0.4).solids(),
    *Cylinder((1.0, 1.0), 0.5, 2.0).solids(),
    *COURT.solids(),
    *Sphere((0.0, 0.0), 1.0).solids(),
    torus(),
    two_boxes(),
    Prism(Footprint.of_rings([[(0, 0), (2, 1)]], 0.3), 0.2, 1.0),
    Prism(Footprint.of_rings([[(0, 0), (2, 0), (2, 2), (0, 2)], [(3, 1), (4, 1)]], 0.1), 0.0, 1.0),
)
GATHERED = gather(SOLIDS)


def distance(s: int, point: np.ndarray) -> float:
    return _solid_kernels.signed_distance(GATHERED, s, *(float(v) for v in point), STACK)


def prism_twin(prism: Prism, point: np.ndarray) -> float:
    """Signed distance to a prism by shapely."""
    filled = [shapely.Polygon(r) for r in prism.footprint.rings if len(r) > 2]
    area = shapely.Polygon()
    for ring in filled:
        area = shapely.symmetric_difference(area, ring)
    bare = [shapely.LineString(r) if len(r) > 1 else shapely.Point(r[0]) for r in prism.footprint.rings if len(r) < 3]
    spot = shapely.Point(point[:2])
    flat = np.inf
    if not area.is_empty:
        flat = -spot.distance(area.boundary) if area.contains(spot) else spot.distance(area)
    flat = min([flat, *(spot.distance(b) for b in bare)]) - prism.footprint.radius
    high = max(prism.bottom - point[2], point[2] - prism.top)
    return float(np.hypot(flat, high)) if flat > 0.0 and high > 0.0 else max(flat, high)


def mesh_twin(mesh: TriangleMesh, point: np.ndarray) -> float:
    """Signed distance to a mesh: all triangles by trimesh, inside by the solid angle they fill."""
    corners = mesh.vertices[mesh.triangles]
    near = trimesh.triangles.closest_point(corners, np.tile(point, (len(corners), 1)))
    away = float(np.linalg.norm(near - point, axis=1).min())
    a, b, c = (corners[:, i] - point for i in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
    top = np.einsum("ij,ij->i", a, np.cross(b, c))
    low = la * lb * lc + np.sum(a * b, 1) * lc + np.sum(b * c, 1) * la + np.sum(c * a, 1) * lb
    return -away if 2.0 * np.arctan2(top, low).sum() > 2.0 * np.pi else away


@pytest.mark.slow
@pytest.mark.parametrize("s", range(len(SOLIDS)))
def test_signed_distances(s: int) -> None:
    rng, solid = np.random.default_rng(s), SOLIDS[s]
    low, high = GATHERED.boxes[s, :3] - 0.4, GATHERED.boxes[s, 3:] + 0.4
    signs = set()
    for point in rng.uniform(low, high, (150, 3)):
        if isinstance(solid, Prism):
            expected = prism_twin(solid, point)
        elif isinstance(solid, Ball):
            expected = float(np.linalg.norm(point - solid.center)) - solid.radius
        else:
            expected = mesh_twin(solid, point)
        assert distance(s, point) == pytest.approx(expected, abs=1e-9)
        signs.add(expected > 0.0)
    assert signs == {True, False}, "both inside and outside were tried"


@pytest.mark.parametrize("s", range(len(SOLIDS)))
def test_depths_of_capsules_are_those_of_dense_sampling(s: int) -> None:
    rng = np.random.default_rng(10 + s)
    low, high = GATHERED.boxes[s, :3] - 0.3, GATHERED.boxes[s, 3:] + 0.3
    for _ in range(40):
        start = rng.uniform(low, high)
        ends = np.stack([start, start + rng.normal(0.0, 0.3, 3)])
        radius = float(rng.uniform(0.02, 0.12))
        depth, share = _solid_kernels.capsule_depth(GATHERED, s, ends, radius, -np.inf, 0.01, STACK, SPANS)
        along = np.linspace(0.0, 1.0, 200)
        dense = max(radius - distance(s, ends[0] + x * (ends[1] - ends[0])) for x in along)
        step = np.linalg.norm(ends[1] - ends[0]) / 199.0
        slack = (
            _solid_kernels.FINE
            if GATHERED.kinds[s] in (_solid_kernels.CONVEX, _solid_kernels.BALL)
            else _solid_kernels.COARSE
        )
        if dense > 0.0:
            assert dense - slack - 1e-9 <= depth <= dense + 0.5 * step + 1e-9
            at = radius - distance(s, ends[0] + share * (ends[1] - ends[0]))
            assert at == pytest.approx(depth, abs=1e-9), "the place is where the depth is"
        else:  # what is clear may be said to be a quarter nearer, never farther
            assert dense - 1e-9 <= depth <= max(0.75 * dense, dense + slack) + 0.5 * step + 1e-9


def test_depths_near_the_bar_are_fine() -> None:
    wall = gather([*COURT.solids()])
    for depth in (0.0095, 0.0099, 0.0101, 0.0105):
        ends = np.array([[4.05 - depth, 0.5, 0.5], [4.05 - depth, 1.5, 1.0]])
        found, _ = _solid_kernels.capsule_depth(wall, 0, ends, 0.05, -1.0, 0.01, STACK, SPANS)
        assert found == pytest.approx(depth, abs=2e-4)
        assert (found > 0.01) == (depth > 0.01)


def test_clear_capsules_agree_with_fcl() -> None:
    fcl = pytest.importorskip("fcl")
    rng = np.random.default_rng(3)
    mesh = torus()
    model = fcl.BVHModel()
    model.beginModel(len(mesh.vertices), len(mesh.triangles))
    model.addSubModel(mesh.vertices, mesh.triangles)
    model.endModel()
    box = SOLIDS[0]
    assert isinstance(box, Prism)
    size = fcl.Box(1.0, 2.0, 1.5)
    turned = fcl.Transform(rotations.from_yaw(0.4), np.array([0.3, -0.2, 0.75]))
    compared = 0
    for _ in range(300):
        start = rng.uniform(-2.5, 2.5, 3)
        ends = np.stack([start, start + rng.normal(0.0, 0.3, 3)])
        line = ends[1] - ends[0]
        length = float(np.linalg.norm(line))
        turn, _ = trimesh_align(line / length)
        capsule = fcl.CollisionObject(fcl.Capsule(0.07, length), fcl.Transform(turn, ends.mean(axis=0)))
        for s, other in ((4, fcl.CollisionObject(model)), (0, fcl.CollisionObject(size, turned))):
            theirs = fcl.distance(capsule, other, fcl.DistanceRequest(), fcl.DistanceResult())
            ours = -_solid_kernels.capsule_depth(GATHERED, s, ends, 0.07, -np.inf, 0.01, STACK, SPANS)[0]
            inside = distance(s, ends[0]) < 0.0 or distance(s, ends[1]) < 0.0
            if theirs > 0.0 and not inside:
                compared += 1
                slack = 2e-4 if s == 0 else max(1e-3, 0.26 * theirs)
                assert theirs - slack <= ours <= theirs + 2e-4
    assert compared > 200


def trimesh_align(direction: np.ndarray) -> tuple[np.ndarray, float]:
    """A rotation matrix that turns +Z into a direction."""
    matrix = trimesh.geometry.align_vectors([0.0, 0.0, 1.0], direction)
    return np.ascontiguousarray(matrix[:3, :3]), 0.0


numbers = st.floats(-2.0, 2.0, allow_nan=False)
points = st.tuples(numbers, numbers, numbers)


@pytest.mark.slow
@given(points, points, points, points)
@settings(max_examples=150)
def test_segment_distance_is_the_plain_one(a, b, c, d) -> None:
    one, other = np.array([a, b]), np.array([c, d])
    found = _pair_kernels.segment_distance(one, other)
    assert found == pytest.approx(float(segment_gap(one, other)), abs=1e-6)
    assert found == pytest.approx(_pair_kernels.segment_distance(other, one), abs=1e-6)


def test_segments_that_are_parallel_or_points() -> None:
    a = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    for b, expected in (
        (a + np.array([0.25, 0.0, 0.3]), 0.3),
        (a + np.array([1.5, 0.0, 0.0]), 0.5),
        (np.array([[0.5, 0.2, 0.0]] * 2), 0.2),
        (np.array([[2.0, 0.0, 0.0]] * 2), 1.0),
        (a[::-1] - np.array([3.0, 0.0, 0.0]), 2.0),
    ):
        assert _pair_kernels.segment_distance(a, np.ascontiguousarray(b)) == pytest.approx(expected)
    point = np.zeros((2, 3))
    assert _pair_kernels.segment_distance(point, point + 1.0) == pytest.approx(np.sqrt(3.0))


def test_axes_are_those_of_the_body() -> None:
    clip = clips()["walk_forward"]
    body = capsule_body(clip.skeleton)
    np.testing.assert_allclose(
        axes_of(body, *clip.joint_transforms()), body.segments(*clip.joint_transforms()), atol=1e-6
    )


def test_hulls_and_steps_are_the_plain_ones() -> None:
    clip = clips()["walk_forward"]
    body = capsule_body(clip.skeleton)
    axes = body.segments(*clip.joint_transforms())
    low, high = hulls(axes, body.radii)
    np.testing.assert_allclose(low, (axes - body.radii[:, None, None]).min(axis=(1, 2)))
    np.testing.assert_allclose(high, (axes + body.radii[:, None, None]).max(axis=(1, 2)))
    steps = np.linalg.norm(np.diff(axes, axis=0), axis=-1).max(axis=-1)
    ways = reach(axes)
    assert (ways >= 1.25 * steps - 1e-12).all()
    np.testing.assert_allclose(ways[5], 1.25 * steps[4:7].max(axis=0))
    assert reach(axes[:1]).shape == (0, len(body))
    np.testing.assert_allclose(reach(axes[:2]), 1.25 * steps[:1])


def test_turn_steps_are_the_plain_ones() -> None:
    clip = clips()["jog_forward"]
    q = np.array(clip.rotations)
    q[5] *= -1.0  # the same rotation
    turns = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(q[:-1]), q[1:])) * 30.0
    out = np.empty((len(q) - 2, q.shape[1]))
    _body_kernels.turn_steps(read_only(q), 30.0, out)
    np.testing.assert_allclose(out, np.linalg.norm(np.diff(turns, axis=0), axis=-1), atol=1e-9)


def test_planar_distances_and_discs_are_those_of_shapely() -> None:
    rng = np.random.default_rng(5)
    spots = rng.uniform(-1.0, 5.0, (200, 2))
    prisms = gather([*COURT.solids(), *Cylinder((1.0, 1.0), 0.5, 2.0).solids()])
    out = np.empty(200)
    _solid_kernels.planar_distances(prisms, 0, read_only(spots), out)
    area = shapely.Polygon(COURT.points, COURT.holes)
    dots = shapely.points(spots)
    expected = np.where(area.contains(dots), -area.boundary.distance(dots), area.distance(dots))
    np.testing.assert_allclose(out, expected, atol=1e-12)
    depths, which = np.full(200, -np.inf), np.zeros(200, np.int64)
    bands = np.tile([0.1, 1.7], (200, 1))
    _solid_kernels.disc_depths(read_only(spots), read_only(bands), 0.3, prisms, depths, which)
    both = np.stack([0.3 - expected, 0.3 - (np.linalg.norm(spots - 1.0, axis=1) - 0.5)])
    near = depths > -0.2
    np.testing.assert_allclose(depths[near], both.max(axis=0)[near], atol=1e-12)
    np.testing.assert_array_equal(which[near], np.argmax(both, axis=0)[near])
    assert (both.max(axis=0)[~near] < 0.0).all()
    over = np.full(200, -np.inf)
    _solid_kernels.disc_depths(read_only(spots), read_only(bands + 2.0), 0.3, prisms, over, which)
    assert (over == -np.inf).all(), "what is below the band is not run into"


@pytest.mark.parametrize(
    ("rings", "convex"),
    [
        ([[(0, 0), (1, 0), (1, 1), (0, 1)]], True),
        ([[(0, 1), (1, 1), (1, 0), (0, 0)]], True),
        ([COURT.points], False),
        ([COURT.points, *COURT.holes], False),
        ([[(0, 0)]], True),
        ([[(0, 0), (1, 0)]], True),
        ([[(np.cos(2.4 * np.pi * k / 3), np.sin(2.4 * np.pi * k / 3)) for k in range(5)]], False),
    ],
)
def test_convex_footprints_are_known(rings, convex: bool) -> None:
    assert is_convex(Footprint.of_rings(rings)) == convex


def test_some_of_the_solids() -> None:
    some = chosen(GATHERED, np.array([4, 0]))
    point = (0.9, 0.1, 0.2)
    assert _solid_kernels.signed_distance(some, 0, *point, STACK) == distance(4, np.array(point))
    assert _solid_kernels.signed_distance(some, 1, *point, STACK) == distance(0, np.array(point))


@pytest.mark.slow
def test_scan_misses_nothing_that_a_dense_look_finds() -> None:
    """A capsule on a fast, curved way past poles: wherever a fine sampling is in one, scan reports or flags it."""
    rng = np.random.default_rng(8)
    radii = np.array([0.03])
    for _ in range(40):
        poles = gather([s for p in rng.uniform(-1, 1, (6, 2)) for s in Cylinder(tuple(p), 0.01, 1.0).solids()])
        a, b, c = rng.uniform(-1.0, 1.0, (3, 3)) * [1.0, 1.0, 0.2] + [0.0, 0.0, 0.5]
        fine = np.linspace(0.0, 1.0, 8 * 64 + 1)[:, None]
        way = (1 - fine) ** 2 * a + 2 * fine * (1 - fine) * b + fine**2 * c
        ends = np.stack([way, way + np.array([0.0, 0.0, 0.1])], axis=1)[:, None]
        frames = ends[::64]
        hits, _, flags = run_scan(frames, radii, reach(frames), poles, 0.01)
        told = {(f, s) for f, _, s in hits[1:].tolist()} | {(f - 1, s) for f, _, s in hits[1:].tolist()}
        told |= {(f, s) for f, _, s in flags.tolist()}
        for i in range(0, len(ends), 4):
            for s in range(6):
                depth, _ = _solid_kernels.capsule_depth(poles, s, ends[i, 0], 0.03, -1.0, 0.01, STACK, SPANS)
                assert depth <= 0.01 or (min(i // 64, 7), s) in told


def test_skin_is_where_the_contact_points_are() -> None:
    skeleton = clips()["stand"].skeleton
    body = capsule_body(skeleton)
    thick = skin(body, skeleton)
    hand, foot = body.names.index("left_hand"), body.names.index("left_foot")
    assert (thick <= body.radii[:, None] + 1e-12).all()
    assert (thick[hand] < body.radii[hand]).all()
    assert thick[foot] == pytest.approx(body.radii[foot])


def crumpled() -> TriangleMesh:
    """An open mesh of triangles that lie about in all directions."""
    rng = np.random.default_rng(8)
    corners = rng.uniform(-1.0, 1.0, (60, 1, 3)) + rng.uniform(-0.4, 0.4, (60, 3, 3))
    return TriangleMesh(corners.reshape(-1, 3), np.arange(180).reshape(-1, 3), False)


def test_capsules_beside_and_through_open_meshes():
    """The depth is that of the deepest of many points of the axis, whether it goes through triangles or not."""
    mesh, rng = gather([crumpled()]), np.random.default_rng(9)
    through = 0
    for _ in range(60):
        ends = np.ascontiguousarray(rng.uniform(-1.2, 1.2, (1, 3)) + rng.uniform(-0.3, 0.3, (2, 3)))
        depth, share = _solid_kernels.capsule_depth(mesh, 0, ends, 0.05, -np.inf, 0.01, STACK, SPANS)
        shares = np.linspace(0.0, 1.0, 401)
        points = ends[0] + shares[:, None] * (ends[1] - ends[0])
        near = min(_solid_kernels.signed_distance(mesh, 0, *point.tolist(), STACK) for point in points)
        step = np.linalg.norm(ends[1] - ends[0]) / 400.0
        assert 0.05 - near - 1e-9 <= depth + _solid_kernels.COARSE
        assert depth <= 0.05 - near + 0.5 * step + 1e-9
        assert 0.0 <= share <= 1.0
        through += near < 0.5 * step
    assert 3 <= through <= 57


def test_heights_of_meshes_are_those_nearest_to_a_point():
    """Shapely tells over which triangles a point lies."""
    mesh, rng = crumpled(), np.random.default_rng(10)
    points = rng.uniform(-1.3, 1.3, (300, 3))
    corners = mesh.vertices[mesh.triangles]
    plans = shapely.polygons(corners[..., :2])
    found = np.empty(len(points))
    _solid_kernels.mesh_heights(gather([torus(), mesh]), 1, read_only(points), STACK, found)
    for k, (x, y, z) in enumerate(points):
        over = corners[shapely.contains_xy(plans, x, y)]
        weights = [np.linalg.solve(np.vstack([t[:, :2].T, np.ones(3)]), (x, y, 1.0)) for t in over]
        heights = np.array([w @ t[:, 2] for w, t in zip(weights, over, strict=True)])
        nearest = heights[np.argmin(np.abs(heights - z))] if len(heights) else -np.inf
        assert found[k] == pytest.approx(nearest, abs=1e-6)
    assert 50 < np.isfinite(found).sum() < 290
