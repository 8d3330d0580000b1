"""Benchmark of occupancy and clearance grids, beside Pillow, shapely and SciPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle

import numpy as np
import numpy.typing as npt
import scipy
import shapely
from PIL import Image, ImageDraw

from gaitway.bench._timing import BenchRow, BenchTable, machine, measure, peer_label
from gaitway.core.arrays import FloatArray
from gaitway.world.clearance import Clearance
from gaitway.world.footprint import core_geometry, drawn_geometry
from gaitway.world.grid import GridSpec
from gaitway.world.obstacle import WALL, Obstacle
from gaitway.world.occupancy import Occupancy
from gaitway.world.shapes import Box, Cylinder, Polygon, Shape
from gaitway.world.world import World

CELLS, CELL, RADIUS, OBSTACLES = 1080, 0.05, 0.3, 200
REACH = 2.0
"""Reach of the live clearance [m]."""
FILL_TARGET, EXACT_TARGET, MOVE_TARGET = 4.0, 100.0, 50.0
CLEARANCE_TARGET, UPDATE_TARGET = 4.0, 30.0


def run() -> BenchTable:
    """Build a grid of 200 obstacles, move one of them, and compute clearances (one thread)."""
    world = _scene()
    size = f"{CELLS} x {CELLS}"
    spec = GridSpec.covering(world.bounds, CELL)
    grid = Occupancy.of(world, spec, RADIUS)
    live, near = grid.copy(), Clearance(grid, REACH)
    places = cycle([world.obstacles[0], _moved(world.obstacles[0])])
    outlines = [_outline(obstacle.shape, spec) for obstacle in world.obstacles]
    tasks: dict[str, Callable[[], object]] = {
        "build": lambda: Occupancy.of(world, spec, RADIUS),
        "grow": lambda: _filled([_outline(obstacle.shape, spec) for obstacle in world.obstacles], spec),
        "fill": lambda: _filled(outlines, spec),
        "move": lambda: live.replace(0, next(places)),
        "clearance": lambda: Clearance(grid),
        "edt": lambda: scipy.ndimage.distance_transform_edt(grid.mask == 0) * CELL,
        "near": lambda: Clearance(grid, REACH),
        "update": lambda: near.update(grid.window(0)),
    }
    times = measure(tasks)
    slow = measure({"shapely": lambda: _by_shapely(world, spec)}, rounds=1)
    polygons, squares = f"{peer_label('pillow')} fill, not conservative", f"{peer_label('shapely')}, squares in reach"
    rows = (
        BenchRow(f"occupancy {size}", f"{polygons}, grown by shapely", times["build"], times["grow"], FILL_TARGET),
        BenchRow(f"occupancy {size}", f"{polygons}, grown beforehand", times["build"], times["fill"]),
        BenchRow(f"occupancy {size}", squares, times["build"], slow["shapely"], EXACT_TARGET),
        BenchRow("move one obstacle", "gaitway, all anew", times["move"], times["build"], MOVE_TARGET),
        BenchRow(
            f"clearance {size}", f"{peer_label('scipy')}, EDT", times["clearance"], times["edt"], CLEARANCE_TARGET
        ),
        BenchRow(
            f"clearance to {REACH:g} m, one moved", "gaitway, anew", times["update"], times["near"], UPDATE_TARGET
        ),
    )
    title = f"world: {OBSTACLES} obstacles in {size} cells; median, fastest and slowest of interleaved rounds"
    return BenchTable(title, rows, machine(("shapely", "pillow", "scipy")))


def _scene() -> World:
    """Return a world of random boxes, cylinders and polygons; some of them can be jumped over or ducked under."""
    rng = np.random.default_rng(0)
    side = CELLS * CELL
    kinds = (WALL, WALL, WALL, "jump", "duck")
    obstacles = [Obstacle(_shape(rng, number, side), kinds[number % len(kinds)]) for number in range(OBSTACLES)]
    return World((0.0, 0.0, side, side), tuple(obstacles))


def _shape(rng: np.random.Generator, number: int, side: float) -> Shape:
    x, y = (float(v) for v in rng.uniform(0.0, side, 2))
    if number % 3 == 0:
        length, width = (float(v) for v in rng.uniform(0.5, 4.0, 2))
        return Box((x, y), (length, width), 2.0, float(rng.uniform(0.0, np.pi)))
    if number % 3 == 1:
        return Cylinder((x, y), float(rng.uniform(0.2, 1.5)), 2.0)
    angles, lengths = np.linspace(0.0, 2.0 * np.pi, 7, endpoint=False), rng.uniform(0.4, 2.0, 7)
    corners = np.stack([x + lengths * np.cos(angles), y + lengths * np.sin(angles)], axis=-1)
    return Polygon(tuple((float(a), float(b)) for a, b in corners), 2.0)


def _moved(obstacle: Obstacle) -> Obstacle:
    return Obstacle(obstacle.shape.placed((0.7, 0.4, 0.0)), obstacle.kind)


def _outline(shape: Shape, spec: GridSpec) -> list[float]:
    """Return the outline of a shape enlarged by the radius as Pillow takes it: x, y of each corner in turn [cells]."""
    area = drawn_geometry(shape.footprint().grown(RADIUS))
    corners: list[float] = ((shapely.get_coordinates(area.exterior) - spec.origin) / spec.cell).ravel().tolist()
    return corners


def _filled(outlines: Sequence[list[float]], spec: GridSpec) -> npt.NDArray[np.uint8]:
    """Fill outlines that are already enlarged; cells that are only touched stay free."""
    picture = Image.new("L", spec.shape[::-1])
    draw = ImageDraw.Draw(picture)
    for outline in outlines:
        draw.polygon(outline, fill=1)
    return np.asarray(picture)


def _by_shapely(world: World, spec: GridSpec) -> FloatArray:
    """Compute the cells within the radius of each obstacle, as exactly as ours; only nearby cells are tested."""
    x, y = (a + spec.cell * np.arange(n) for a, n in zip(spec.origin, spec.shape[::-1], strict=True))
    counts = np.zeros(spec.shape)
    for obstacle in world.obstacles:
        footprint = obstacle.shape.footprint()
        x0, y0, x1, y1 = footprint.grown(RADIUS).bounds
        i, j = np.flatnonzero((y >= y0 - spec.cell) & (y <= y1)), np.flatnonzero((x >= x0 - spec.cell) & (x <= x1))
        squares = shapely.box(x[j], y[i, None], x[j] + spec.cell, y[i, None] + spec.cell)
        core = core_geometry(footprint)
        shapely.prepare(core)
        counts[np.ix_(i, j)] += shapely.dwithin(core, squares, footprint.radius + RADIUS)
    return counts
