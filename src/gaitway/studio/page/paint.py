"""Colours and flat shapes of the page's ground: paving, sky, shadows, and how much room there is."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import shapely
import shapely.affinity

from gaitway.studio.tones import FLOOR, SUN, surface_color
from gaitway.world.clearance import Clearance
from gaitway.world.footprint import drawn_geometry
from gaitway.world.occupancy import Occupancy
from gaitway.world.shapes import Shape
from gaitway.world.world import World

Pixels = npt.NDArray[np.uint8]
_SKY_TOP, _SKY_LOW = (246, 246, 245), (236, 235, 232)
_JOINT = 0.9
"""Light of the joints between paving stones, as a share of that of the stones."""
_STONE, _STONES = 32, 4
"""Pixels of a paving stone, and stones along the side of the texture."""
TEXTURE = 2.0 * _STONES
"""Side of the texture [m]."""
_FALL = (-SUN[0], -SUN[1])
"""Where the shadow of a point falls, for each metre of its height [m]."""
_LONGEST = 3.0
"""Height above which shadows grow no longer [m]."""
_PENUMBRA, _RINGS = 0.07, 5
"""Half width of the soft edge of a shadow [m], and the steps that it is made of."""
_FULL = 1.5
"""Clearance above which colours do not change any more [m]."""


def paving() -> Pixels:
    """Return a picture of paving stones, each a little different from the next; (P, P, 3)."""
    stones = np.random.default_rng(5).normal(0.0, 2.2, (_STONES, _STONES, 1))
    grain = np.random.default_rng(6).normal(0.0, 1.6, (_STONES * _STONE, _STONES * _STONE, 1))
    out = np.array(surface_color(FLOOR)) + np.kron(stones, np.ones((_STONE, _STONE, 1))) + grain
    rows = np.arange(_STONES * _STONE) % _STONE < 1
    joint = np.array(surface_color(FLOOR, _JOINT))
    out[rows], out[:, rows] = joint, joint
    pixels: Pixels = np.clip(out, 0, 255).astype(np.uint8)
    return pixels


def sky(height: int = 128) -> Pixels:
    """Return the colours of the sky from the top down to the horizon; (H, 2, 3)."""
    share = np.linspace(0.0, 1.0, height)[:, None, None] ** 0.8
    picture = (1.0 - share) * np.array(_SKY_TOP) + share * np.array(_SKY_LOW)
    return np.repeat(picture, 2, axis=1).astype(np.uint8)


def shadows(world: World) -> shapely.Geometry:
    """Return the shadows of the obstacles of a world on flat ground: each sweeps its outline away from the sun."""
    parts = [_shadow(obstacle.shape) for obstacle in world.obstacles]
    return shapely.union_all(parts).intersection(shapely.box(*world.bounds))


def soft_shadows(world: World) -> list[tuple[shapely.Geometry, float]]:
    """Return the shadows of a world as areas that do not meet, from their rims inwards, and the share of the shade.

    Their edges are as soft as those of the renderer; what is left around the foot of an obstacle is its contact shadow.
    """
    area, frame = shadows(world), shapely.box(*world.bounds)
    if area.is_empty:
        return []
    steps = np.linspace(_PENUMBRA, -_PENUMBRA, _RINGS)
    rings = [area.buffer(step, quad_segs=2).simplify(0.01).intersection(frame) for step in steps]
    inner = [*rings[1:], shapely.Polygon()]
    return [
        (shapely.difference(ring, next_ring), (number + 1.0) / _RINGS)
        for number, (ring, next_ring) in enumerate(zip(rings, inner, strict=True))
    ]


@lru_cache(maxsize=2048)
def _shadow(shape: Shape) -> shapely.Geometry:
    low, high = (min(max(height, 0.0), _LONGEST) for height in shape.heights)
    outline = drawn_geometry(shape.footprint(), 4)
    if outline.area == 0.0 or high <= 0.02:
        return shapely.Polygon()
    near = shapely.affinity.translate(outline, _FALL[0] * low, _FALL[1] * low)
    return _swept(near, np.array(_FALL) * (high - low))


def _swept(area: shapely.Geometry, along: npt.NDArray[np.float64]) -> shapely.Geometry:
    """Return all that an area passes over on a straight line."""
    pieces = [area, shapely.affinity.translate(area, *along)]
    for part in shapely.get_parts(area):
        corners = shapely.get_coordinates(part.exterior) if isinstance(part, shapely.Polygon) else np.empty((0, 2))
        pieces += [shapely.MultiPoint([a, b, a + along, b + along]).convex_hull for a, b in pairwise(corners)]
    return shapely.union_all([piece for piece in pieces if piece.area > 0.0])


def flat_mesh(area: shapely.Geometry, height: float) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32]]:
    """Return an area as triangles at a height [m]: vertices (V, 3) and faces (T, 3)."""
    parts = [part for part in shapely.get_parts(area) if isinstance(part, shapely.Polygon) and part.area > 0.0]
    cut = shapely.get_parts(shapely.constrained_delaunay_triangles(np.array(parts, dtype=object)))
    flat = shapely.get_coordinates(cut).reshape(-1, 4, 2)[:, :3].reshape(-1, 2)
    vertices = np.column_stack([flat, np.full(len(flat), height)]).astype(np.float32)
    return vertices, np.arange(len(flat), dtype=np.uint32).reshape(-1, 3)


def room_picture(world: World) -> tuple[Pixels, tuple[float, float, float, float]]:
    """Return the clearance as colours from red (none) over sand to green (rows, columns, 4), and where it lies."""
    x0, y0, x1, y1 = world.bounds
    cell = max(0.1, max(x1 - x0, y1 - y0) / 512.0)
    clearance = Clearance(Occupancy.of(world, cell=cell, radius=0.0), reach=2.0 * _FULL)
    share = np.clip(clearance.distances / _FULL, 0.0, 1.0)[..., None]
    low, middle, high = (np.array(color) for color in ((196, 92, 76), (232, 208, 140), (132, 186, 150)))
    colors = np.where(share < 0.5, low + 2.0 * share * (middle - low), middle + (2.0 * share - 1.0) * (high - middle))
    return np.dstack([colors, np.full(share.shape, 150.0)]).astype(np.uint8), clearance.spec.bounds
