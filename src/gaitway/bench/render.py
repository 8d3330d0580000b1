"""Benchmark of pictures and films of people.

A picture is drawn beside a plain NumPy z-buffer of the same triangles, without light and smooth edges. A film is
written beside the way in which films were made before: every frame drawn as a whole, with all shadows, in order.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

from gaitway.bench._former_film import write_former_film
from gaitway.bench._timing import BenchRow, BenchTable, installed, machine, measure
from gaitway.cast.catalog import load_cast
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.kinematics import forward_kinematics
from gaitway.render import Camera, Figure, render_frame
from gaitway.render.bodies.figures import figure_parts
from gaitway.render.bodies.palette import person_palette
from gaitway.render.film.shot import Shot
from gaitway.render.film.takes import take_film
from gaitway.render.raster.triangles import gather
from gaitway.take import Take, assemble, lay_track
from gaitway.world import Box, Obstacle, World

PEOPLE, SIZE = 24, (1280, 720)
FEW, SMALL = 3, (480, 270)
TARGET = 5.0
"""Target: how many times faster our picture is, although it has four samples per pixel, light and shadows."""


FILM_PEOPLE, FILM_FRAMES, FILM_RATE = 12, 120, 30.0
FILM = Shot(camera="overview", cutaway=1.2)
MOVING = {"follows them": Shot(camera="follow", cutaway=1.2), "circles them": Shot(camera="orbit", cutaway=1.2)}
MOVING_FRAMES = 60
FILM_TARGET = 4.0
"""Target: how many times faster a film is written than it was before."""


def run() -> BenchTable:
    """Draw 24 people at 1280 x 720, a few in a small picture beside NumPy alone, and three films of 12 people."""
    large, small = _scene(PEOPLE, SIZE), _scene(FEW, SMALL)
    take, world = walkers_between_walls()
    last = (FILM_FRAMES - 1) / FILM_RATE
    timings = measure(
        {
            "large": lambda: render_frame(*large, size=SIZE, samples=4),
            "small": lambda: render_frame(*small, size=SMALL, samples=4),
            "numpy": lambda: _plain_picture(*small, SMALL),
        },
        rounds=5,
    )
    with TemporaryDirectory(prefix="gaitway-") as folder:
        timings |= measure(
            {
                "film": lambda: take_film(take, Path(folder) / f"film{_ending()}", FILM, world=world, end=last),
                "former": lambda: write_former_film(
                    take, world, Path(folder) / f"former{_ending()}", FILM, SIZE, FILM_RATE, FILM_FRAMES
                ),
            },
            rounds=2,
        )
        last = (MOVING_FRAMES - 1) / FILM_RATE
        for name, shot in MOVING.items():
            timings |= measure(
                {
                    name: lambda shot=shot: take_film(  # type: ignore[misc]
                        take, Path(folder) / f"moving{_ending()}", shot, world=world, end=last
                    ),
                    f"former, {name}": lambda shot=shot: write_former_film(  # type: ignore[misc]
                        take, world, Path(folder) / f"former{_ending()}", shot, SIZE, FILM_RATE, MOVING_FRAMES
                    ),
                },
                rounds=2,
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
        BenchRow(
            f"film{_ending()} of {FILM_PEOPLE} people between walls, {FILM_FRAMES} frames at {SIZE[0]} x {SIZE[1]}",
            "the former way: every frame drawn whole, x264 medium",
            timings["film"],
            timings["former"],
            FILM_TARGET,
        ),
        *(
            BenchRow(
                f"the same with a camera that {name}, {MOVING_FRAMES} frames",
                "the former way",
                timings[name],
                timings[f"former, {name}"],
                FILM_TARGET,
            )
            for name in MOVING
        ),
    )
    return BenchTable(
        "render: median [fastest..slowest] over 5 interleaved rounds (film: 2)", rows, machine(("pillow",))
    )


def walkers_between_walls() -> tuple[Take, World]:
    """Return people who walk along a hall between two long walls, and the hall."""
    walk = load_cast("person", behaviors=["walk_forward"]).clips["walk_forward"]
    tracks = []
    for i in range(FILM_PEOPLE):
        east = i % 2 == 0
        place = (3.0 + 1.6 * (i // 2) if east else 33.0 - 1.6 * (i // 2), 4.6 + 0.55 * (i % 6), 0.0 if east else np.pi)
        tracks.append(lay_track(f"walker-{i}", [walk] * 6, place))
    walls = tuple(Obstacle(Box((18.0, y), (18.0, 4.0), 2.5)) for y in (2.0, 10.0))
    return assemble(tracks, fps=FILM_RATE), World((0.0, 0.0, 36.0, 12.0), walls)


def _ending() -> str:
    return ".mp4" if installed("imageio-ffmpeg") else ".webp"


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
