"""Walkable surfaces: open spans, sheets, portals and routes, on clean and on crude geometry."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import WorldError
from gaitway.world.levels import _span_kernels
from gaitway.world.levels.sheets import WalkableSurface
from gaitway.world.levels.spans import Geometry, OpenSpans, WalkLimits
from gaitway.world.meshes import load_mesh
from gaitway.world.shapes import Box, Stairs
from gaitway.world.surface import surface
from gaitway.world.world import World
from level_places import PERSON, bridge, geometry, plate, winding

SHARED = Path(__file__).parents[3] / "shared" / "meshes"


def length(route: FloatArray) -> float:
    return float(np.linalg.norm(np.diff(route, axis=0), axis=1).sum())


def test_level_ground_is_one_sheet() -> None:
    found = WalkableSurface.of(geometry(plate(0, 0, 4, 3, 1.5)), PERSON, cell=0.1)
    (sheet,) = found.sheets
    assert not found.portals and sheet.area == (40 - 2 * 2) * (30 - 2 * 2)
    assert np.nanmin(sheet.heights) == np.nanmax(sheet.heights) == 1.5
    inside = found.open.points(np.flatnonzero(found.owners == 0))
    assert inside[:, 0].min() == pytest.approx(0.25, abs=1e-6) and inside[:, 0].max() == pytest.approx(3.75, abs=1e-6)


def test_a_bridge_is_walked_over_and_under() -> None:
    found = WalkableSurface.of(bridge(), PERSON, cell=0.1)
    at = found.open.spec.cells((0.05, 0.05))
    cell = at[0] * found.open.spec.shape[1] + at[1]
    first, end = found.open.starts[cell], found.open.starts[cell + 1]
    assert found.open.heights[first:end].tolist() == [0.0, 3.0]
    assert len({int(s) for s in found.owners[first:end]}) == 2, "ground and deck are on different sheets"
    under = found.route((0, -4, 0), (0, 4, 0))
    over = found.route((-11, 0, 0), (0, 0, 3))
    assert under is not None and over is not None
    assert length(under) == pytest.approx(8.0, abs=0.15) and np.abs(under[:, 2]).max() == 0.0
    assert length(over) == pytest.approx(1.0 + math.hypot(7.0, 3.0) + 3.0, rel=0.02)
    blocked = found.route((0, 0, 0), (0, 0, 3))
    assert blocked is not None and length(blocked) > 12.0, "nobody goes through the deck"


def test_too_little_room_under_a_bridge() -> None:
    low = geometry(plate(-6, -5, 6, 5, 0.0), plate(-6, -1, 6, 1, 1.6))
    assert WalkableSurface.of(low, PERSON, 0.1).route((0, -4, 0), (0, 4, 0)) is None
    crawler = WalkLimits(radius=0.25, headroom=1.0, step=0.22, slope=PERSON.slope)
    assert WalkableSurface.of(low, crawler, 0.1).route((0, -4, 0), (0, 4, 0)) is not None


@pytest.mark.parametrize("turns", [0.9, 2.5, 4.0])
def test_a_winding_ramp_lies_over_itself(turns: float) -> None:
    found = WalkableSurface.of(winding(turns, 2.6), PERSON, cell=0.1)
    assert len(found.sheets) >= math.ceil(turns)
    assert {s for portal in found.portals for s in portal.sheets} == set(range(len(found.sheets))) or turns < 1.0
    end = 2.0 * math.pi * turns
    top = (2.0 * math.cos(end - 0.3), 2.0 * math.sin(end - 0.3), (end - 0.3) / (2.0 * math.pi) * 2.6)
    route = found.route((2.0 * math.cos(0.3), 2.0 * math.sin(0.3), 0.12), top)
    assert route is not None
    shortest = math.hypot((1.25) * (end - 0.6), top[2])
    assert shortest * 0.9 < length(route) < shortest * 1.25


def stepped(rise: float, run: float = 0.3, count: int = 10) -> Geometry:
    top = count * rise
    stairs = Stairs(center=(0.0, 0.0), width=2.0, steps=count, rise=rise, run=run)
    far = 0.5 * count * run
    landing = Box((far + 1.5, 0.0), (3.0, 2.0), top)
    parts = [surface(shape) for shape in (stairs, landing)]
    return geometry(plate(-far - 3.0, -3.0, far + 5.0, 3.0, 0.0), *(v[t] for v, t in parts))


def test_stairs_are_walked_if_a_step_can_be_climbed() -> None:
    for rise, climbs in ((0.13, True), (0.2, True), (0.3, False)):
        found = WalkableSurface.of(stepped(rise), PERSON, cell=0.05)
        route = found.route((-3.0, 0.0, 0.0), (3.0, 0.0, 10 * rise))
        assert (route is not None) == climbs, rise
        if route is not None:
            assert route[-1, 2] == pytest.approx(10 * rise) and length(route) < 7.5


def crude(clean: FloatArray, seed: int) -> FloatArray:
    """Return the same surface as bad files have it: doubled, upside down, cut at T-junctions, with slivers."""
    rng = np.random.default_rng(seed)
    middle = 0.5 * (clean[:, 0] + clean[:, 1])
    halves = np.concatenate([
        np.stack([clean[:, 0], middle, clean[:, 2]], axis=1), np.stack([middle, clean[:, 1], clean[:, 2]], axis=1)
    ])  # fmt: skip
    slivers = clean[:, [0, 0, 1]]
    parts = np.concatenate([halves, clean[rng.permutation(len(clean))[: len(clean) // 2]], slivers])
    turned = rng.random(len(parts)) < 0.4
    parts[turned] = parts[turned, ::-1]
    return parts[rng.permutation(len(parts))]


@pytest.mark.parametrize("seed", range(3))
def test_crude_geometry_gives_the_same_surface(seed: int) -> None:
    for place in (bridge(), winding(1.5, 2.6)):
        clean = OpenSpans.of(place, PERSON, 0.1)
        other = OpenSpans.of(geometry(crude(place.corners, seed)), PERSON, 0.1)
        assert np.array_equal(clean.cells, other.cells) and np.array_equal(clean.links, other.links)
        assert np.allclose(clean.heights, other.heights, atol=1e-9)


def test_a_place_far_from_the_origin() -> None:
    far = np.array([50_000.0, -50_000.0, 800.0])
    here, there = OpenSpans.of(bridge(), PERSON, 0.125), OpenSpans.of(geometry(bridge().corners + far), PERSON, 0.125)
    assert np.array_equal(here.links, there.links) and np.allclose(here.heights + far[2], there.heights, atol=1e-6)


def test_solids_have_no_inside_and_walls_stop() -> None:
    world = World((0, 0, 10, 6), obstacles=())
    ground = Geometry.of_world(world)
    shapes = Geometry.of_shapes([Box((5.0, 3.0), (2.0, 6.0), 3.0)])
    whole = Geometry(
        np.concatenate([ground.corners, shapes.corners]), np.concatenate([ground.facing, shapes.facing]), shapes.solids
    )
    found = WalkableSurface.of(whole, PERSON, 0.1)
    assert found.route((2, 3, 0), (8, 3, 0)) is None, "the wall is as wide as the place"
    points = found.open.points(np.arange(len(found.open)))
    tops = points[np.abs(points[:, 0] - 5.0) < 0.9]
    assert (tops[:, 2] == 3.0).all(), "nobody stands inside a block"


coordinate = st.floats(-2.0, 2.0).map(lambda v: round(v, 3))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(coordinate, coordinate, coordinate), min_size=3, max_size=3))
def test_spans_of_a_triangle_are_those_of_its_parts_in_the_cells(corners: list[tuple[float, float, float]]) -> None:
    triangle, cell, shape = np.array([corners]), 0.5, (8, 8)
    flat = shapely.Polygon(triangle[0, :, :2])
    arrays = np.empty(500, np.int64), np.empty((500, 3)), np.empty(500, np.uint8)
    origin = np.array([-2.0, -2.0])
    count = _span_kernels.triangle_spans(triangle, np.ones(1, np.uint8), origin, cell, shape, *arrays)
    cells, heights = arrays[0][:count], arrays[1][:count]
    assert len(set(cells.tolist())) == count
    if not flat.is_valid or flat.area < 1e-3:
        return
    matrix = np.column_stack([triangle[0, :, :2], np.ones(3)])
    plane = np.linalg.solve(matrix, triangle[0, :, 2])
    for number in range(64):
        x, y = -2.0 + cell * (number % 8), -2.0 + cell * (number // 8)
        part = flat.intersection(shapely.box(x, y, x + cell, y + cell))
        if part.area > 1e-6:
            points = shapely.get_coordinates(part)
            z = np.column_stack([points, np.ones(len(points))]) @ plane
            (at,) = np.flatnonzero(cells == number)
            assert heights[at, 0] == pytest.approx(z.min(), abs=1e-6)
            assert heights[at, 1] == pytest.approx(z.max(), abs=1e-6)
        elif part.is_empty:
            assert number not in cells


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000))
def test_sheets_never_lie_over_themselves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = [plate(-4, -4, 4, 4, 0.0)]
    for _ in range(6):
        x, y = rng.uniform(-3, 1, 2)
        w, h = rng.uniform(1.0, 3.0, 2)
        low = rng.uniform(0.0, 4.0)
        parts.append(plate(x, y, x + w, y + h, *(low + rng.uniform(0.0, 0.8, 4))))
    found = WalkableSurface.of(geometry(*parts), PERSON, cell=0.2)
    spans = found.open
    for side in range(4):
        there = spans.links[:, side]
        back = spans.links[there[there >= 0], side ^ 2]
        assert np.array_equal(back, np.flatnonzero(there >= 0)), "every step leads back"
    assert ((found.owners >= 0) == (spans.wide == 1)).all(), "every place with room is on one sheet"
    assert sum(sheet.area for sheet in found.sheets) == int(spans.wide.sum())
    for sheet in found.sheets:
        inside = sheet.spans >= 0
        where = spans.cells[sheet.spans[inside]]
        rows, columns = np.nonzero(inside)
        assert np.array_equal(where, (rows + sheet.window.row) * spans.spec.shape[1] + columns + sheet.window.column)
        assert (found.owners[sheet.spans[sheet.core]] == sheet.number).all()
    for portal in found.portals:
        assert (found.owners[portal.spans] == portal.sheets).all()


RECAST = (60.32, 49.97, 43.7, 45.29, 43.96, 17.35, 45.14, 42.17, 40.13, 39.31, 19.89, 30.2, 16.9, 24.9, 23.03, 34.56,
          28.21, 39.18, 24.97, 28.25, 16.89)  # fmt: skip
"""Lengths of the routes that Recast 1.6 finds for its own queries, with the limits below [m]."""


@pytest.mark.skipif(not SHARED.exists(), reason="shared meshes are not here")
def test_queries_of_a_level_that_nobody_here_made() -> None:
    place = Geometry.of_shapes([load_mesh(SHARED / "nav_test.obj")])
    found = WalkableSurface.of(place, WalkLimits(0.6, 2.0, 0.9, math.radians(45.0)), cell=0.2)
    rows = [
        line.split()[1:7] for line in (SHARED / "nav_test_queries.txt").read_text().splitlines() if line[:2] == "pf"
    ]
    routes = [found.route(q[[2, 0, 1]], q[[5, 3, 4]]) for q in (np.array(row, float) for row in rows)]
    assert all(route is not None for route in routes)
    ours = np.array([length(route) for route in routes if route is not None])
    assert np.median(ours / RECAST) < 1.01 and (ours / RECAST).max() < 1.05


def test_places_without_ground() -> None:
    with pytest.raises(WorldError, match="without any geometry has no ground"):
        WalkableSurface.of(Geometry.of_shapes([]))
    with pytest.raises(WorldError, match=r"only 0\.012 x 0\.008 x 0\.003 m large; is its unit another one"):
        WalkableSurface.of(geometry(plate(0, 0, 0.012, 0.008, 0.0), plate(0, 0, 0.012, 0.008, 0.003)), cell=0.001)
    upright = plate(0, 0, 20, 20, 0.0)[..., [0, 2, 1]]
    with pytest.raises(WorldError, match="is another axis its up axis"):
        WalkableSurface.of(geometry(upright))
    with pytest.raises(WorldError, match=r"no ground is 0\.6 m wide; the widest is 0\.[45]"):
        WalkableSurface.of(geometry(plate(0, 0, 20, 0.5, 0.0)))
    with pytest.raises(WorldError, match="radius -1; write a length above 0"):
        WalkLimits(radius=-1.0)
    with pytest.raises(WorldError, match="slope 90 degrees"):
        WalkLimits(slope=math.pi / 2)
