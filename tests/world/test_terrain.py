"""Terrain: heights, slopes, extremes, hills, and files good and bad."""

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from gaitway.core.errors import FormatError, GaitwayError, WorldError
from gaitway.world import Box, Cylinder, Footprint, Polygon, Sphere, Stairs, Terrain
from gaitway.world.footprint import drawn_geometry
from gaitway.world.standing import stood_on
from gaitway.world.terrain_files import load_terrain

BOUNDS = (-3.0, 1.0, 7.0, 6.0)
ROUGH = Terrain(np.random.default_rng(5).normal(size=(8, 11)), 0.75, (-2.0, 0.5))


def test_heights_are_bilinear_and_level_beyond_the_edge():
    terrain = Terrain([[0.0, 1.0], [2.0, 5.0]], 2.0, (10.0, 20.0))
    assert terrain.height([[10, 20], [12, 20], [10, 22], [12, 22], [11, 21]]).tolist() == [0, 1, 2, 5, 2]
    assert terrain.height([[-99, 20], [13, 99]]).tolist() == [0, 5]


def test_of_a_function_that_bilinear_cells_reproduce():
    terrain = Terrain.of(lambda p: 1.0 + 0.3 * p[..., 0] - 0.2 * p[..., 1] + 0.05 * p[..., 0] * p[..., 1], BOUNDS, 0.5)
    points = np.random.default_rng(0).uniform(BOUNDS[:2], BOUNDS[2:], (200, 2))
    x, y = points.T
    assert terrain.height(points) == pytest.approx(1.0 + 0.3 * x - 0.2 * y + 0.05 * x * y)
    assert terrain.gradients(points) == pytest.approx(np.stack([0.3 + 0.05 * y, -0.2 + 0.05 * x], axis=1))
    assert terrain.slopes(points) == pytest.approx(np.arctan(np.hypot(0.3 + 0.05 * y, -0.2 + 0.05 * x)))


@given(st.floats(-1.9, 5.4), st.floats(0.6, 5.6))
def test_gradients_are_differences_of_heights(x, y):
    step = 1e-6
    inside = np.abs(((np.array([x, y]) - ROUGH.origin) / ROUGH.cell) % 1.0 - 0.5).max() < 0.49
    if inside:
        across = (ROUGH.height([x + step, y]) - ROUGH.height([x - step, y])) / (2 * step)
        along = (ROUGH.height([x, y + step]) - ROUGH.height([x, y - step])) / (2 * step)
        assert ROUGH.gradients([x, y]) == pytest.approx([across, along], abs=1e-6)
    normal = ROUGH.normals([x, y])
    assert np.linalg.norm(normal) == pytest.approx(1.0)
    assert np.arccos(normal[2]) == pytest.approx(ROUGH.slopes([x, y]), abs=1e-6)


def test_beyond_the_corner_it_is_level():
    assert ROUGH.gradients([-9.0, -9.0]).tolist() == [0.0, 0.0]
    assert ROUGH.gradients([-9.0, 3.0])[0] == 0.0


NODES = np.stack(np.meshgrid(-2.0 + 0.75 * np.arange(11), 0.5 + 0.75 * np.arange(8)), axis=-1).reshape(-1, 2)


@settings(max_examples=40)
@given(
    st.floats(-3.0, 6.0),
    st.floats(0.0, 6.5),
    st.floats(0.05, 3.0),
    st.floats(0.05, 3.0),
    st.floats(-3.0, 3.0),
    st.booleans(),
)
def test_extremes_under_a_footprint(x, y, length, width, yaw, disc):
    shape = Cylinder((x, y), length, 1.0) if disc else Box((x, y), (length, width), 1.0, yaw)
    low, high = ROUGH.extremes(shape.footprint())
    outline = drawn_geometry(shape.footprint())
    x0, y0, x1, y1 = outline.bounds
    grid = np.stack(np.meshgrid(np.linspace(x0, x1, 40), np.linspace(y0, y1, 40)), axis=-1).reshape(-1, 2)
    grid = np.concatenate([grid, NODES])
    inside = grid[shapely.contains_xy(outline, *grid.T)]
    edge = shapely.get_coordinates(outline.boundary.segmentize(0.01))
    heights = ROUGH.height(np.concatenate([inside, edge]))
    assert low <= heights.min() + 1e-12
    assert high >= heights.max() - 1e-12
    assert low == pytest.approx(heights.min(), abs=0.03)
    assert high == pytest.approx(heights.max(), abs=0.03)


def test_extremes_of_points_lines_and_nothing():
    point = Footprint.of_rings([[[1.0, 2.0]]])
    assert ROUGH.extremes(point) == (pytest.approx(float(ROUGH.height([1.0, 2.0]))),) * 2
    line = Footprint.of_rings([[[-1.0, 1.0], [4.0, 5.0]]])
    along = ROUGH.height(np.linspace([-1.0, 1.0], [4.0, 5.0], 20001))
    assert ROUGH.extremes(line) == pytest.approx((along.min(), along.max()), abs=1e-6)
    with pytest.raises(WorldError, match="empty"):
        ROUGH.extremes(Footprint.of_rings([]))


def test_hills_are_smooth_seeded_and_as_high_as_told():
    hills = Terrain.hills((0, 0, 60, 40), 2.0, 12.0, seed=4)
    assert hills.heights.min() == 0.0
    assert hills.heights.max() == pytest.approx(2.0)
    assert np.array_equal(hills.heights, Terrain.hills((0, 0, 60, 40), 2.0, 12.0, seed=4).heights)
    assert not np.allclose(hills.heights, Terrain.hills((0, 0, 60, 40), 2.0, 12.0, seed=5).heights)
    steepest = hills.slopes(np.random.default_rng(0).uniform((0, 0), (60, 40), (20_000, 2))).max()
    assert 0.2 < np.tan(steepest) / (np.pi * 2.0 / 12.0) < 1.3  # a sine of this height and length has 1
    bend = np.abs(np.diff(hills.heights, 2, axis=0)).max() / 0.25
    assert bend < 2.0 * (2.0 * np.pi / 9.0) ** 2
    assert not Terrain.hills((0, 0, 60, 40), 0.0, 12.0).heights.any()


def test_png_top_row_is_the_far_edge(tmp_path):
    values = np.array([[0, 255, 128], [51, 102, 153]], np.uint8)
    Image.fromarray(values).save(tmp_path / "a.png")
    terrain = load_terrain(tmp_path / "a.png", 0.5, 2.0, (3.0, 4.0))
    assert terrain.heights == pytest.approx(2.0 * values[::-1] / 255.0)
    assert (terrain.cell, terrain.origin) == (0.5, (3.0, 4.0))
    deep = np.array([[0, 65535], [32768, 1]], np.uint16)
    Image.fromarray(deep).save(tmp_path / "b.PNG")
    assert load_terrain(tmp_path / "b.PNG", 1.0).heights == pytest.approx(deep[::-1] / 65535.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, np.uint8])
def test_npy_row_0_is_at_the_origin(tmp_path, dtype):
    np.save(tmp_path / "a.npy", np.arange(6).reshape(2, 3).astype(dtype))
    assert load_terrain(tmp_path / "a.npy", 1.0, 0.5).heights.tolist() == [[0.0, 0.5, 1.0], [1.5, 2.0, 2.5]]


def _bomb(path):
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)})


def _cut(path, data):
    path.write_bytes(data[: len(data) // 2])


def _png(mode, size=(4, 4)):
    def make(path):
        Image.new(mode, size).save(path)

    return make


def torn_header(path):
    """A header whose bracket is never closed, which NumPy takes for Python source."""
    np.save(path, np.zeros((2, 3)))
    return path.read_bytes().replace(b"}", b" ")


@pytest.mark.parametrize(
    ("name", "make", "message"),
    [
        ("none.png", lambda p: None, "no such file"),
        ("a.tif", lambda p: p.write_text(""), "'.tif' is not a file of heights; write a .png or a .npy"),
        ("color.png", _png("RGB"), "mode RGB; save it as grey"),
        ("palette.png", _png("P"), "mode P"),
        ("thin.png", _png("L", (4, 1)), "at least 2 by 2"),
        ("large.png", _png("1", (5000, 5000)), "5000 by 5000 heights; at most"),
        ("rubbish.png", lambda p: p.write_bytes(b"rubbish" * 99), "not a whole PNG"),
        ("empty.npy", lambda p: p.write_bytes(b""), "not a whole NPY"),
        ("torn.npy", lambda p: p.write_bytes(torn_header(p)), "not a whole NPY"),
        ("rubbish.npy", lambda p: p.write_bytes(b"rubbish" * 99), "not a whole NPY"),
        ("pickle.npy", lambda p: np.save(p, np.array([[{}]], object), allow_pickle=True), "holds object"),
        ("text.npy", lambda p: np.save(p, np.array([["a"]])), "heights are a 2D array of numbers"),
        ("line.npy", lambda p: np.save(p, np.arange(4.0)), r"shape \(4,\)"),
        ("bomb.npy", _bomb, "1000000 by 1000000 heights; at most"),
        ("nan.npy", lambda p: np.save(p, np.full((2, 2), np.nan)), "not finite"),
        ("high.npy", lambda p: np.save(p, np.full((2, 2), 1e9)), "height of 1e"),
    ],
)
def test_bad_files(tmp_path, name, make, message):
    make(tmp_path / name)
    with pytest.raises(FormatError, match=message) as caught:
        load_terrain(tmp_path / name, 1.0)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["a.png", "a.npy"])
def test_truncated_files(tmp_path, name):
    path = tmp_path / name
    values = np.random.default_rng(0).integers(0, 255, (50, 50)).astype(np.uint8)
    Image.fromarray(values).save(path) if name == "a.png" else np.save(path, values)
    _cut(path, path.read_bytes())
    with pytest.raises(FormatError, match="not a whole"):
        load_terrain(path, 1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Terrain([[1.0, 2.0]], 1.0), "at least 2 by 2"),
        (lambda: Terrain(np.zeros((2, 2)), 0.0), "cell 0.0"),
        (lambda: Terrain(np.zeros((2, 2)), 1.0, (np.nan, 0.0)), "origin"),
        (lambda: Terrain(np.zeros((2, 2, 2)), 1.0), "shape"),
        (lambda: Terrain.of(lambda p: p, BOUNDS, 1.0), "returned shape"),
        (lambda: Terrain.of(lambda p: p[..., 0], (0, 0, 1e6, 1e6), 0.01), "give a larger cell"),
        (lambda: Terrain.of(lambda p: p[..., 0], (0, 0, 0, 1), 0.5), "bounds"),
        (lambda: Terrain.of(lambda p: p[..., 0] / 0.0, BOUNDS, -1.0), "cell -1.0"),
        (lambda: Terrain.hills(BOUNDS, -1.0, 5.0), "height -1.0"),
        (lambda: Terrain.hills(BOUNDS, 1.0, 0.0), "wavelength 0.0"),
        (lambda: Terrain.hills(BOUNDS, 1.0, 5.0, seed=-1), "seed -1"),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(GaitwayError, match=message):
        make()


@pytest.mark.parametrize(
    "shape",
    [Box((1.0, 3.0), (2.0, 1.0), 1.5, 0.4), Cylinder((1.0, 3.0), 0.8, 1.5), Polygon(((0, 2), (3, 2), (1, 4)), 1.5)],
)
def test_things_stand_on_terrain(shape):
    stood = stood_on(shape, ROUGH)
    x0, y0, x1, y1 = shape.footprint().bounds
    center = getattr(shape, "center", (0.5 * (x0 + x1), 0.5 * (y0 + y1)))
    lowest, _ = ROUGH.extremes(shape.footprint())
    assert stood.heights == pytest.approx((lowest, float(ROUGH.height(center)) + 1.5))
    assert stood.footprint().points == pytest.approx(shape.footprint().points)
    assert stood_on(shape, None) is shape


def test_what_hangs_keeps_its_clearance():
    beam = Box((1.0, 3.0), (2.0, 1.0), 0.3, bottom=1.2)
    ground = float(ROUGH.height((1.0, 3.0)))
    assert stood_on(beam, ROUGH).heights == pytest.approx((ground + 1.2, ground + 1.5))
    for shape in (Sphere((1.0, 3.0), 0.5), Stairs((1.0, 3.0), 1.0, 4)):
        assert stood_on(shape, ROUGH).heights == pytest.approx((ground, ground + shape.heights[1]))
