"""Ground and light against a plain NumPy reading of the same formulas."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gaitway.render import Camera, Lighting, render_frame
from gaitway.render.film.scenery import solid_of
from gaitway.render.raster import _floor_kernels, _kernels, picture
from gaitway.render.raster import shadows as _shadows
from gaitway.render.raster._kernels import PATCH, TILE, SceneLight
from gaitway.render.raster.picture import _srgb_steps, camera_view, hiding, scene_light
from gaitway.render.raster.triangles import Triangles, gather
from gaitway.world import Box

SIZE = (48, 36)
NOBODY, NOTHING = np.full((SIZE[1], SIZE[0], 1), -1, np.int32), np.zeros(1, np.uint8)
"""No triangle at any sample, and none that hides anything."""


def staged(view, setting, shadow=None, *, size=SIZE, touched=None, owner=NOBODY, opaque=NOTHING, out=None):
    """Ground and backdrop of a whole picture, in linear colours and as 8-bit pixels, of which each tile has either."""
    tiles = np.ones((-(-size[1] // TILE), -(-size[0] // TILE)), np.uint8)
    touched = tiles if touched is None else touched
    out = np.empty((size[1], size[0], 4), np.float32) if out is None else out
    pixels = np.zeros((size[1], size[0], 3), np.uint8)
    shadow = _shadows.no_shadow() if shadow is None else shadow
    room = np.empty((TILE, 9)), np.empty((4, TILE))
    _floor_kernels.stage(
        view, setting, shadow, 0, size[1], tiles, touched, owner, opaque, _srgb_steps(), *room, out, pixels
    )
    return out, pixels


def look(**changes) -> SceneLight:
    light = np.array([0.6, 0.0, 0.8])
    base = scene_light(Lighting(), light, np.array([[-1.0, -2.0, 0.0], [1.0, 2.0, 1.0]]))
    return base._replace(**changes)


def stage_twin(camera: Camera, look: SceneLight, size) -> np.ndarray:
    """The ground's colour by shooting each ray and, for the lines, its neighbours."""
    width, height = size
    cols, rows = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)

    def hit(px, py):
        right, up = (px - 0.5 * width) / camera.scale(height), (0.5 * height - py) / camera.scale(height)
        aside = right[..., None] * camera.axes[0] + up[..., None] * camera.axes[1]
        if camera.span is None:
            origin, way = np.broadcast_to(camera.eye, aside.shape), camera.axes[2] + aside
        else:
            origin, way = camera.eye + aside, np.broadcast_to(camera.axes[2], aside.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            far = -origin[..., 2] / way[..., 2]
        return origin + far[..., None] * way, (way[..., 2] < -1e-4) & (origin[..., 2] > 0)

    place, seen = hit(cols, rows)
    small = 1e-4  # derivatives by differences
    across = (hit(cols + small, rows)[0] - place) / small
    upward = (hit(cols, rows - small)[0] - place) / small
    foot = np.abs(across) + np.abs(upward)

    def cover(k):
        """Line share by counting fine samples of the pixel's window."""
        inside = place[..., k, None] + foot[..., k, None] * (np.linspace(0, 1, 4001)[:-1] + 0.5 / 4000 - 0.5)
        return (np.abs(inside - np.round(inside)) < 0.006).mean(axis=-1)

    line = look.grid * (cover(0) + cover(1) - cover(0) * cover(1))
    rise = (1.0 - rows / height)[..., None]
    back = look.backdrop_low + (look.backdrop_high - look.backdrop_low) * rise
    low, high = look.focus[:2], look.focus[2:]
    away = np.linalg.norm(np.maximum(np.maximum(low - place[..., :2], place[..., :2] - high), 0.0), axis=-1)
    t = np.clip(away / look.fade, 0, 1)
    near = (1 - t * t * (3 - 2 * t))[..., None]
    ground = look.ground + (look.line - look.ground) * line[..., None]
    return np.where(seen[..., None], back + (ground - back) * near, back)


@pytest.mark.parametrize("span", [None, 5.0])
@pytest.mark.parametrize("elevation", [0.25, 1.0, 0.5 * np.pi])
@pytest.mark.parametrize("roll", [0.0, 0.3])
def test_stage_is_its_twin(span, elevation, roll):
    camera = Camera.around([0.3, 0.2, 0.5], azimuth=0.7, elevation=elevation, distance=6.0, span=span)
    camera = replace(camera, up=np.cos(roll) * camera.axes[1] + np.sin(roll) * camera.axes[0])
    setting = look(grid=0.8)
    out, _ = staged(camera_view(camera, *SIZE), setting)
    twin = stage_twin(camera, setting, SIZE)
    assert np.abs(out[..., :3] - twin).max() < 0.01
    assert (out[..., 3] == 1.0).all()


def test_stage_without_ground_is_backdrop():
    camera = Camera.around([0, 0, 0.5], elevation=0.5)
    setting = look(has_ground=False)
    out, _ = staged(camera_view(camera, *SIZE), setting)
    rise = (1 - (np.arange(36) + 0.5) / 36)[:, None, None]
    expected = setting.backdrop_low + (setting.backdrop_high - setting.backdrop_low) * rise
    np.testing.assert_allclose(out[..., :3], np.broadcast_to(expected, (36, 48, 3)), atol=1e-6)


def light_twin(setting: SceneLight, normal, sight, color, height, lit=1.0):
    """Light from one surface point, by the formulas of `_body`."""
    facing = normal @ setting.light
    wrapped = max(0.0, (facing + 0.22) / 1.22)
    diffuse = wrapped**2 * (0.35 + 0.65 * wrapped) * (0.12 + 0.88 * lit)
    upward = 0.5 + 0.5 * normal[2]
    t = np.clip((height + 0.25 * normal[2] + 0.05) / 0.5, 0, 1)
    open_share = 0.55 + 0.45 * t * t * (3 - 2 * t)
    rim = (1 - np.clip(-normal @ sight, 0, 1)) ** 3 * 0.16 * upward
    half = setting.light - sight
    sheen = max(0.0, normal @ half / np.linalg.norm(half)) ** 24 * 0.05 * lit
    ambient = (setting.bounce + (setting.sky - setting.bounce) * upward) * open_share
    return color * (setting.key * diffuse + ambient) + rim * setting.sky + sheen * setting.key


def test_faces_of_a_box_have_the_light_of_their_normals():
    camera = Camera.around([0, 0, 0.5], azimuth=0.6, elevation=0.5, span=2.0)
    lighting = Lighting(light_azimuth=0.5, light_elevation=0.9)
    thing = solid_of(Box((0.0, 0.0), (1.0, 1.0), 1.0), "#808080")
    image = render_frame([], camera, size=(200, 200), obstacles=[thing], lighting=lighting, samples=1)
    setting = scene_light(lighting, picture.key_direction(lighting, camera), thing.mesh.points)
    color = picture.from_hex("#808080")
    steps = _srgb_steps()
    for normal, place in (((1, 0, 0), (0.5, 0.1, 0.6)), ((0, 1, 0), (-0.2, 0.5, 0.4)), ((0, 0, 1), (0.1, 0.1, 1.0))):
        light = light_twin(setting, np.array(normal, float), camera.axes[2], color, place[2])
        expected = steps[(np.clip(light, 0, 1) * (len(steps) - 1)).astype(int)].astype(int)
        x, y, _ = camera.project(place, (200, 200))
        assert np.abs(image[int(y), int(x)].astype(int) - expected).max() <= 2


def test_srgb_steps_end_in_black_and_white_and_never_fall():
    steps = _srgb_steps().astype(int)
    assert steps[0] == 0 and steps[-1] == 255 and (np.diff(steps) >= 0).all()
    assert steps[round(0.2140 * (len(steps) - 1))] == pytest.approx(127.5, abs=1)


def test_ground_is_not_computed_where_it_is_hidden() -> None:
    """Pixels whose samples all belong to opaque triangles stay as they were; all others are as without triangles."""
    camera = Camera.around((0.0, 0.0, 0.5), elevation=0.4, distance=6.0)
    setting = scene_light(Lighting(), np.array([0.3, 0.2, 0.93]), np.zeros((1, 3)))
    owner = np.full((SIZE[1], SIZE[0], 4), -1, np.int32)
    owner[:10], owner[10:20], owner[20:25, :, :3] = 0, 1, 0  # opaque, paint, and in part opaque
    opaque = np.array([1, 0], np.uint8)
    view, out = camera_view(camera, *SIZE), np.full((SIZE[1], SIZE[0], 4), -7.0, np.float32)
    plain, _ = staged(view, setting)
    staged(view, setting, owner=owner, opaque=opaque, out=out)
    assert (out[:10] == -7.0).all()
    np.testing.assert_array_equal(out[10:], plain[10:])


def test_what_dips_into_the_floor_or_is_paint_hides_nothing() -> None:
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 1], [0, 0, -0.5]])
    colors = np.ones((4, 4), np.float32)
    corners = np.array([[0, 1, 2], [1, 2, 3], [0, 1, 2]], np.int32)
    made = Triangles(points, points, colors, corners, np.array([0, 0, 1], np.uint8), np.zeros(3, np.int32))
    assert hiding(made).tolist() == [1, 0, 0]
    colors[0, 3] = 0.0
    assert hiding(made).tolist() == [0, 0, 0]


@pytest.mark.parametrize("elevation", [0.06, 0.35, 0.5 * np.pi])
@pytest.mark.parametrize("roll", [0.0, 0.4])
@pytest.mark.parametrize("span", [None, 9.0])
def test_tiles_without_triangles_look_as_if_there_were_some(elevation: float, roll: float, span: float | None) -> None:
    """Bare tiles are drawn in short cuts (one colour, even runs, no shadow looked up); nobody can tell."""
    size = (320, 200)
    camera = Camera.around([0.3, 0.2, 0.5], azimuth=0.7, elevation=elevation, distance=9.0, span=span)
    camera = replace(camera, up=np.cos(roll) * camera.axes[1] + np.sin(roll) * camera.axes[0])
    lighting = Lighting(fade=3.0)
    light = picture.key_direction(lighting, camera)
    thing = solid_of(Box((0.5, 0.5), (1.0, 0.4), 1.2)).mesh
    corners = np.ascontiguousarray(thing.triangles, np.int32)
    still = _shadows.StillShadows.of(thing.points, corners, thing.points, light, 0.01)
    setting, view = scene_light(lighting, light, thing.points), camera_view(camera, *size)
    nobody, tiles = (
        np.full((size[1], size[0], 1), -1, np.int32),
        np.zeros((-(-size[1] // TILE), size[0] // TILE), np.uint8),
    )
    linear, _ = staged(view, setting, still.shadow, size=size, owner=nobody)
    _, pixels = staged(view, setting, still.shadow, size=size, owner=nobody, touched=tiles)
    steps = _srgb_steps()
    expected = steps[(np.clip(linear[..., :3] * linear[..., 3:], 0, 1) * (len(steps) - 1)).astype(int)].astype(int)
    assert np.abs(pixels.astype(int) - expected).max() <= 1
    assert (linear[..., 3] < 0.9).any() and (pixels.astype(int) != pixels[0, 0]).any()  # there is a shadow, and floor


def test_even_light_of_flat_walls_is_what_each_pixel_would_get() -> None:
    """Runs of pixels on a plane are computed at their ends, but not where a colour differs in its last bit."""
    boxes = [solid_of(Box((0.0, 0.0), (2.4, 0.4), 1.3)), solid_of(Box((0.9, -0.9), (0.3, 0.3), 0.9))]
    even = gather([], boxes, [])
    colors = even.colors.copy()
    colors[np.unique(even.corners[:, 0]), 2] = np.nextafter(colors[np.unique(even.corners[:, 0]), 2], np.float32(2.0))
    for span, elevation in ((None, 0.4), (5.0, 1.1), (None, 0.05)):
        camera = Camera.around([0.2, 0.0, 0.5], azimuth=-1.9, elevation=elevation, distance=5.0, span=span)
        drawn = [
            picture.draw_triangles(triangles, camera, size=(330, 230), samples=4, threads=1).astype(int)
            for triangles in (even, replace(even, colors=colors))
        ]
        assert np.abs(drawn[0] - drawn[1]).max() <= 1
        assert len(np.unique(drawn[0].reshape(-1, 3), axis=0)) > 60  # there are light, shade and shadow


def test_the_highest_of_patches_are_those_of_numpy() -> None:
    rng = np.random.default_rng(5)
    closest = rng.normal(size=(23, 31)).astype(np.float32)
    padded = np.pad(closest, ((0, PATCH - 1), (0, PATCH - 1)), constant_values=-np.inf)
    expected = np.lib.stride_tricks.sliding_window_view(padded, (PATCH, PATCH)).max(axis=(2, 3))
    found = np.full_like(closest, 99.0)
    _kernels.highest_of_patches(closest, 0, 23, 0, 31, found)
    assert (found == expected).all()
    part = np.full_like(closest, 99.0)
    _kernels.highest_of_patches(closest, 4, 20, 6, 31, part)
    assert (part[4:20, 6:] == expected[4:20, 6:]).all()
    part[4:20, 6:] = 99.0
    assert (part == 99.0).all()
