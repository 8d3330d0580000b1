"""Benchmark of pictures of people, beside a plain NumPy z-buffer without light and smooth edges.

Both draw the same triangles.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gaitway.bench._timing import BenchRow, BenchTable, machine, measure
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.kinematics import forward_kinematics
from gaitway.render import Camera, Figure, render_frame
from gaitway.render.bodies.figures import figure_parts
from gaitway.render.bodies.palette import person_palette
from gaitway.render.raster.triangles import gather

PEOPLE, SIZE = 24, (1280, 720)
FEW, SMALL = 3, (480, 270)
TARGET = 5.0
"""Target: how many times faster our picture is, although it has four samples per pixel, light and shadows."""


def run() -> BenchTable:
    """Draw 24 people at 1280 x 720, and a few in a small picture with NumPy alone beside it."""
    large, small = _scene(PEOPLE, SIZE), _scene(FEW, SMALL)
    timings = measure(
        {
            "large": lambda: render_frame(*large, size=SIZE, samples=4),
            "small": lambda: render_frame(*small, size=SMALL, samples=4),
            "numpy": lambda: _plain_picture(*small, SMALL),
        },
        rounds=5,
    )
    rows = (
        BenchRow(f"{PEOPLE} people at {SIZE[0]} x {SIZE[1]}", "none; the bar is 500 ms", timings["large"], None),
        BenchRow(
            f"{FEW} people at {SMALL[0]} x {SMALL[1]}",
            "NumPy z-buffer, flat colours",
            timings["small"],
            timings["numpy"],
            TARGET,
        ),
    )
    return BenchTable("render: median [fastest..slowest] over 5 interleaved rounds", rows, machine(("pillow",)))


def _scene(count: int, size: tuple[int, int]) -> tuple[list[Figure], Camera]:
    figures = crowd(count)
    cloud = np.concatenate([f.positions for f in figures])
    return figures, Camera.around(np.zeros(3), elevation=0.25).fit(cloud, size)


def crowd(count: int, seed: int = 0) -> list[Figure]:
    """Return people in different poses on a square."""
    skeleton = person_skeleton()
    rng = np.random.default_rng(seed)
    local = rotations.from_rotation_vector(rng.normal(0.0, 0.2, (count, len(skeleton), 3)))
    side = int(np.ceil(np.sqrt(count)))
    for i in range(count):
        local[i, 0] = rotations.from_yaw(rng.uniform(-np.pi, np.pi))
    roots = np.array([(1.1 * (i % side), 1.1 * (i // side), 1.0) for i in range(count)])
    places, turns = forward_kinematics(skeleton, roots, local)
    return [Figure(skeleton, places[i], turns[i], person_palette(i)) for i in range(count)]


def _plain_picture(figures: list[Figure], camera: Camera, size: tuple[int, int]) -> npt.NDArray[np.uint8]:
    """Draw one sample per pixel, each triangle in the colour of its corner, by array operations on its bounding box."""
    scene = gather(figure_parts(figures, camera, size[1]), [], [])
    screen = camera.project(scene.points, size)
    depth = np.full((size[1], size[0]), np.inf)
    picture = np.full((size[1], size[0], 3), 230, dtype=np.uint8)
    colors = (255.0 * scene.colors[:, :3]).astype(np.uint8)
    for corners in scene.corners:
        _plain_triangle(screen[corners], colors[corners[0]], depth, picture)
    return picture


def _plain_triangle(
    corners: FloatArray, color: npt.NDArray[np.uint8], depth: FloatArray, picture: npt.NDArray[np.uint8]
) -> None:
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = corners
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    if area >= 0.0:
        return
    left, right = max(int(min(ax, bx, cx)), 0), min(int(max(ax, bx, cx)) + 1, depth.shape[1])
    top, low = max(int(min(ay, by, cy)), 0), min(int(max(ay, by, cy)) + 1, depth.shape[0])
    if left >= right or top >= low:
        return
    x, y = np.arange(left, right) + 0.5 - ax, np.arange(top, low)[:, None] + 0.5 - ay
    share_b = (x * (cy - ay) - y * (cx - ax)) / area
    share_c = (y * (bx - ax) - x * (by - ay)) / area
    far = az + share_b * (bz - az) + share_c * (cz - az)
    window = (slice(top, low), slice(left, right))
    hit = (share_b >= 0.0) & (share_c >= 0.0) & (share_b + share_c <= 1.0) & (far < depth[window])
    depth[window][hit] = far[hit]
    picture[window][hit] = color
