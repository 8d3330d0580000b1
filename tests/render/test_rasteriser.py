"""The kernels against slow NumPy twins on tiny pictures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.core import rotations
from gaitway.render import Camera
from gaitway.render.raster import _kernels
from gaitway.render.raster._kernels import TILE, View, video_planes
from gaitway.render.raster.picture import _SAMPLES

WIDTH, HEIGHT = 23, 17
SEEDS = st.integers(0, 10_000)


def raster_twin(screen, triangles, offsets):
    """Every sample of every pixel against every triangle."""
    rows, cols = np.mgrid[:HEIGHT, :WIDTH]
    x = cols[..., None] + offsets[:, 0]
    y = rows[..., None] + offsets[:, 1]
    closest = np.full(x.shape, -np.inf, np.float32)
    owner = np.full(x.shape, -1, np.int32)
    for t, corners in enumerate(triangles):
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = screen[corners]
        area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
        if not area < -1e-12:
            continue
        b = ((x - ax) * (cy - ay) - (y - ay) * (cx - ax)) / area
        c = ((y - ay) * (bx - ax) - (x - ax) * (by - ay)) / area
        near = (az + b * (bz - az) + c * (cz - az)).astype(np.float32)
        hit = (b >= 0) & (c >= 0) & (b + c <= 1) & (near > closest)
        closest[hit], owner[hit] = near[hit], t
    return closest, owner


def random_scene(seed, count=30):
    rng = np.random.default_rng(seed)
    screen = rng.uniform([-8, -8, 0.1], [WIDTH + 8, HEIGHT + 8, 1.0], (3 * count, 3))
    return screen, rng.permutation(3 * count).reshape(-1, 3).astype(np.int32)


def draw(screen, triangles, offsets, bands=1):
    """Rasterise from rubbish: samples of tiles that are not touched are not valid, and say nothing here."""
    closest = np.full((HEIGHT, WIDTH, len(offsets)), 7.0, np.float32)
    owner = np.full((HEIGHT, WIDTH, len(offsets)), 12345, np.int32)
    for first in np.array_split(np.arange(HEIGHT), bands):
        band = slice(first[0], first[-1] + 1)
        touched = np.zeros((-(-len(first) // TILE), -(-WIDTH // TILE)), np.uint8)
        _kernels.raster(screen, triangles, offsets, 0, int(first[0]), touched, closest[band], owner[band])
        bare = np.repeat(np.repeat(touched, TILE, axis=0), TILE, axis=1)[: len(first), :WIDTH] == 0
        assert (closest[band][bare] == 7.0).all() and (owner[band][bare] == 12345).all()
        closest[band][bare], owner[band][bare] = -np.inf, -1
    return closest, owner


@settings(deadline=None, max_examples=40)
@given(SEEDS, st.sampled_from([1, 4, 8]))
def test_raster_is_its_twin(seed, samples):
    screen, triangles = random_scene(seed)
    offsets = np.array(_SAMPLES[samples]) / 16.0
    closest, owner = draw(screen, triangles, offsets)
    twin_closest, twin_owner = raster_twin(screen, triangles, offsets)
    # a sample that lies on an edge may fall to either side by the last bit of the arithmetic
    assert (owner != twin_owner).mean() < 0.002
    same = owner == twin_owner
    np.testing.assert_allclose(closest[same], twin_closest[same], rtol=1e-5)
    assert (owner >= 0).any()


@settings(deadline=None, max_examples=40)
@given(SEEDS, st.integers(2, 7))
def test_raster_in_bands_is_raster_at_once(seed, bands):
    screen, triangles = random_scene(seed)
    offsets = np.array(_SAMPLES[4]) / 16.0
    whole, parts = draw(screen, triangles, offsets), draw(screen, triangles, offsets, bands)
    same = whole[1] == parts[1]
    assert same.mean() > 0.998  # rows are counted from the band's first, which may move a last bit


@settings(deadline=None, max_examples=40)
@given(SEEDS)
def test_raster_both_is_nearest_and_farthest_of_either_side(seed):
    screen, triangles = random_scene(seed)
    closest, farthest = np.full((HEIGHT, WIDTH), -np.inf, np.float32), np.full((HEIGHT, WIDTH), np.inf, np.float32)
    _kernels.raster_both(screen, triangles, closest, farthest)
    middle = np.array([[0.5, 0.5]])
    flip = screen * [1, 1, -1]
    near = np.maximum(*(raster_twin(screen, t, middle)[0][..., 0] for t in (triangles, triangles[:, ::-1])))
    far = -np.maximum(*(raster_twin(flip, t, middle)[0][..., 0] for t in (triangles, triangles[:, ::-1])))
    differ = ~np.isclose(closest, near, rtol=1e-5) | ~np.isclose(farthest, far, rtol=1e-5)
    assert differ.mean() < 0.005
    assert np.isfinite(closest).any()


def test_raster_ignores_what_is_outside_degenerate_or_not_a_number():
    screen = np.array([[-9, -9, 1], [-5, -9, 1], [-9, -5, 1], [5, 5, 1], [5, 5, 1], [9, 9, 1], [np.nan, 3, 1]], float)
    triangles = np.array([[0, 2, 1], [3, 4, 5], [6, 4, 5], [0, 6, 5]], np.int32)
    closest, owner = draw(screen, triangles, np.array([[0.5, 0.5]]))
    assert (owner == -1).all() and np.isneginf(closest).all()


def test_closer_triangle_wins_whatever_the_order():
    near = np.array([[0, 0, 2.0], [0, 20, 2.0], [20, 0, 2.0]])
    screen = np.concatenate([near, near * [1, 1, 0.5]])
    for order in ([[0, 1, 2], [3, 4, 5]], [[3, 4, 5], [0, 1, 2]]):
        closest, owner = draw(screen, np.array(order, np.int32), np.array([[0.5, 0.5]]))
        assert closest.max() == 2.0 and closest[owner >= 0].min() == 2.0


def test_neighbours_leave_no_gap_and_no_back_is_seen():
    """A ball cut into many triangles covers its disc without holes; seen from inside it covers nothing."""
    turn = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    rim = np.stack([11.0 + 7 * np.cos(turn), 8.0 - 7 * np.sin(turn), np.ones(40)], axis=1)
    screen = np.concatenate([[[11.0, 8.0, 2.0]], rim])
    fan = np.array([(0, i + 1, (i + 1) % 40 + 1) for i in range(40)], np.int32)
    _, owner = draw(screen, fan, np.array(_SAMPLES[16]) / 16.0)
    area = (owner >= 0).mean() * WIDTH * HEIGHT
    assert area == pytest.approx(0.5 * 40 * 49 * np.sin(2 * np.pi / 40), rel=0.01)
    assert (draw(screen, fan[:, ::-1], np.array([[0.5, 0.5]]))[1] == -1).all()


@settings(deadline=None, max_examples=40)
@given(SEEDS, st.integers(1, 9), st.integers(1, 12), st.integers(1, 12))
def test_blur_is_a_mean_over_a_box(seed, radius, height, width):
    picture = np.random.default_rng(seed).random((height, width)).astype(np.float32)
    out = np.empty_like(picture)
    _kernels.blur(picture, radius, out)
    padded = np.pad(picture.astype(float), radius)
    side = 2 * radius + 1
    windows = np.lib.stride_tricks.sliding_window_view(padded, (side, side))
    np.testing.assert_allclose(out, windows.mean(axis=(2, 3)), atol=1e-6)


@settings(deadline=None, max_examples=40)
@given(SEEDS)
def test_skin_moves_each_vertex_with_its_joints(seed):
    rng = np.random.default_rng(seed)
    figures, joints, vertices = 3, 6, 11
    places, rest_places = rng.normal(size=(figures, joints, 3)), rng.normal(size=(joints, 3))
    turns, rest_turns = (rotations.normalize(rng.normal(size=(*n, joints, 4))) for n in ((figures,), ()))
    which = rng.integers(joints, size=(vertices, 4))
    shares = -np.sort(-rng.random((vertices, 4)) * (np.arange(4) < rng.integers(1, 5, (vertices, 1))), axis=1)
    shares /= shares.sum(axis=1, keepdims=True)
    rest_points, rest_normals = rng.normal(size=(2, vertices, 3))
    points, normals = np.empty((2, figures, vertices, 3))
    for array in (rest_places, rest_turns, which, shares, rest_points, rest_normals):
        array.setflags(write=False)  # as bodies have them: another type to Numba, and compiled already
    _kernels.skin(places, turns, rest_places, rest_turns, which, shares, rest_points, rest_normals, points, normals)
    back = rotations.conjugate(rest_turns)[which]
    local = rotations.rotate(back, rest_points[:, None] - rest_places[which])
    moved = places[:, which] + rotations.rotate(turns[:, which], local)
    np.testing.assert_allclose(points, np.einsum("vk,nvkc->nvc", shares, moved), atol=1e-12)
    turned = rotations.rotate(turns[:, which], rotations.rotate(back, rest_normals[:, None]))
    blended = np.einsum("vk,nvkc->nvc", shares, turned)
    np.testing.assert_allclose(normals, blended / np.linalg.norm(blended, axis=-1, keepdims=True), atol=1e-9)


@settings(deadline=None, max_examples=40)
@given(SEEDS, st.booleans())
def test_project_is_the_camera(seed, flat):
    rng = np.random.default_rng(seed)
    camera = Camera.around(rng.normal(size=3), azimuth=rng.uniform(-3, 3), elevation=0.4, span=3.0 if flat else None)
    points = camera.target + rng.uniform(-1, 1, (20, 3))
    screen = np.empty((20, 3))
    view = View(np.array(camera.eye), camera.axes, camera.scale(90), 80.0, 45.0, not flat)
    _kernels.project(points, view, screen)
    x, y, depth = camera.project(points, (160, 90)).T
    np.testing.assert_allclose(screen, np.stack([x, y, -depth if flat else 1 / depth], axis=1), rtol=1e-9, atol=1e-9)


def test_split_of_shadow_and_contact():
    farthest = np.array([[np.inf, -3.0], [-2.5, -2.0]], np.float32)
    crisp, soft = np.empty((2, 2), np.float32), np.empty((2, 2), np.float32)
    _kernels.split_shadow(farthest, 3.0, 0.25, 0.0, crisp, soft)
    gap = np.array([[np.nan, 0.0], [0.75, 1.25]])
    share = np.clip((gap - 0.05) / 0.75, 0, 1)
    np.testing.assert_allclose(soft, np.nan_to_num(share), atol=1e-6)
    np.testing.assert_allclose(crisp, [[0, 1], [1 - share[1, 0], 0]], atol=1e-6)
    close, wide = np.empty((2, 2), np.float32), np.empty((2, 2), np.float32)
    _kernels.split_contact(farthest, 3.0, close, wide)
    height = np.array([[np.inf, 0.0], [0.5, 1.0]])
    np.testing.assert_allclose(close, np.exp(-height / 0.035), atol=1e-6)
    np.testing.assert_allclose(wide, np.exp(-height / 0.45), atol=1e-6)


def test_planes_of_a_film_are_the_colours_of_the_standard():
    """ITU-R BT.709 by its formula, of single colours and of a picture of noise; colour is the mean of four pixels."""
    rng = np.random.default_rng(3)
    noise = rng.integers(0, 256, (6, 8, 3)).astype(np.uint8)
    plain = [np.full((2, 2, 3), c, np.uint8) for c in ((0, 0, 0), (255, 255, 255), (255, 0, 0), (0, 0, 255))]
    for picture in (noise, *plain):
        height, width, _ = picture.shape
        planes = np.zeros(height * width * 3 // 2, np.uint8)
        video_planes(picture, planes)
        rgb = picture / 255.0
        luma = rgb @ [0.2126, 0.7152, 0.0722]
        block = rgb.reshape(height // 2, 2, width // 2, 2, 3).mean(axis=(1, 3))
        mean = block @ [0.2126, 0.7152, 0.0722]
        blue, red = (block[..., 2] - mean) / 1.8556, (block[..., 0] - mean) / 1.5748
        expected = np.concatenate([(16 + 219 * luma).ravel(), (128 + 224 * blue).ravel(), (128 + 224 * red).ravel()])
        assert np.abs(planes - expected).max() < 0.75
