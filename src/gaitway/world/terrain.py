"""Terrain: ground that is not flat, as heights on a regular grid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import shapely

from gaitway.core.arrays import FloatArray, IntArray, owned
from gaitway.core.errors import WorldError
from gaitway.world.footprint import Footprint, drawn_geometry

MAX_HEIGHTS = 16_000_000
"""Most heights of one terrain: 4000 by 4000."""
MAX_HEIGHT = 1e6
"""Greatest height [m]; beyond it a file is garbage."""
_WAVES = 32
"""Waves that hills are the sum of; enough for no direction to be seen in them."""


@dataclass(frozen=True, eq=False)
class Terrain:
    """Heights at the corners of square cells; bilinear in between and level beyond the edge."""

    heights: FloatArray
    """Heights [m]; row i lies at y = origin[1] + i * cell, column j at x = origin[0] + j * cell; (H, W)."""
    cell: float
    """Distance between neighbours [m]."""
    origin: tuple[float, float] = (0.0, 0.0)
    """x and y of `heights[0, 0]` [m]."""

    def __post_init__(self) -> None:
        heights = owned(self.heights, "terrain heights", (None, None), error=WorldError)
        if min(heights.shape) < 2:
            raise WorldError(f"terrain has {heights.shape} heights; at least 2 by 2 are needed")
        if np.abs(heights).max() > MAX_HEIGHT:
            raise WorldError(
                f"terrain has a height of {np.abs(heights).max():.4g} m; at most {MAX_HEIGHT:g} is possible"
            )
        if not (np.isfinite(self.cell) and self.cell > 0.0):
            raise WorldError(f"terrain cell {self.cell}; write a length above 0 in metres")
        if len(self.origin) != 2 or not np.isfinite(self.origin).all():
            raise WorldError(f"terrain origin {self.origin} must be x and y in metres")
        object.__setattr__(self, "heights", heights)
        object.__setattr__(self, "cell", float(self.cell))
        object.__setattr__(self, "origin", (float(self.origin[0]), float(self.origin[1])))

    @staticmethod
    def of(
        function: Callable[[FloatArray], npt.ArrayLike], bounds: tuple[float, float, float, float], cell: float
    ) -> Terrain:
        """Build a terrain from a function of points.

        Args:
            function: heights [m] (H, W) of points (H, W, 2).
            bounds: xmin, ymin, xmax, ymax [m] to cover; the far edges may go up to a cell beyond.
            cell: distance between heights [m].

        Raises:
            WorldError: if it returns something else, or there would be more than `MAX_HEIGHTS`.
        """
        points = _corners(bounds, cell)
        heights = np.asarray(function(points), dtype=np.float64)
        if heights.shape != points.shape[:2]:
            raise WorldError(f"terrain function returned shape {heights.shape} for points of {points.shape}")
        return Terrain(heights, cell, (bounds[0], bounds[1]))

    @staticmethod
    def hills(
        bounds: tuple[float, float, float, float],
        height: float,
        wavelength: float,
        seed: int = 0,
        cell: float = 0.5,
    ) -> Terrain:
        """Return the smooth random hills.

        Args:
            bounds: xmin, ymin, xmax, ymax [m] to cover.
            height: height difference between the deepest point, which is at 0, and the highest [m].
            wavelength: approximate distance from one hill to the next [m]; larger is gentler.
            seed: seed; the same seed gives the same hills.
            cell: distance between heights [m].
        """
        if not (np.isfinite(height) and height >= 0.0 and np.isfinite(wavelength) and wavelength > 0.0):
            raise WorldError(f"hills of height {height} and wavelength {wavelength}; write lengths above 0 in metres")
        if seed < 0:
            raise WorldError(f"hills of seed {seed}; it must not be negative")
        rng = np.random.default_rng(seed)
        length = wavelength * rng.uniform(0.75, 1.75, _WAVES)
        direction, phase = rng.uniform(0.0, 2.0 * np.pi, (2, _WAVES))
        points = _corners(bounds, cell)
        total = np.zeros(points.shape[:2])
        for wave in range(_WAVES):  # long waves are higher, so that all are about equally steep
            k = 2.0 * np.pi / length[wave]
            along = points[..., 0] * np.cos(direction[wave]) + points[..., 1] * np.sin(direction[wave])
            total += length[wave] * np.sin(k * along + phase[wave])
        span = max(float(np.ptp(total)), 1e-9)
        return Terrain(height * (total - total.min()) / span, cell, (bounds[0], bounds[1]))

    def height(self, points: npt.ArrayLike) -> FloatArray:
        """Return the height of the ground [m] (...) at points (..., 2)."""
        i, j, u, v = self._cells(points)
        h = self.heights
        near = h[i, j] + u * (h[i, j + 1] - h[i, j])
        far = h[i + 1, j] + u * (h[i + 1, j + 1] - h[i + 1, j])
        return np.asarray(near + v * (far - near))

    def gradients(self, points: npt.ArrayLike) -> FloatArray:
        """Return how much the ground rises along x and y [m/m] (..., 2) at points (..., 2); 0 beyond the edge.

        On the line between two cells it is that of the cell further on, or of the last one.
        """
        points = np.asarray(points, dtype=np.float64)
        i, j, u, v = self._cells(points)
        h = self.heights
        across = (1.0 - v) * (h[i, j + 1] - h[i, j]) + v * (h[i + 1, j + 1] - h[i + 1, j])
        along = (1.0 - u) * (h[i + 1, j] - h[i, j]) + u * (h[i + 1, j + 1] - h[i, j + 1])
        size = np.array([self.heights.shape[1] - 1, self.heights.shape[0] - 1]) * self.cell
        off = points - self.origin
        return np.where((off < 0.0) | (off > size), 0.0, np.stack([across, along], axis=-1) / self.cell)

    def slopes(self, points: npt.ArrayLike) -> FloatArray:
        """Return the steepness of the ground [rad] (...) at points (..., 2): 0 is level."""
        gradient = self.gradients(points)
        return np.arctan(np.hypot(gradient[..., 0], gradient[..., 1]))

    def normals(self, points: npt.ArrayLike) -> FloatArray:
        """Return the unit vectors (..., 3) that stand upright on the ground at points (..., 2)."""
        gradient = self.gradients(points)
        up = np.concatenate([-gradient, np.ones((*gradient.shape[:-1], 1))], axis=-1)
        return np.asarray(up / np.linalg.norm(up, axis=-1, keepdims=True))

    def extremes(self, footprint: Footprint) -> tuple[float, float]:
        """Return the lowest and highest ground [m] under a footprint (whose round parts are taken with 32 sides).

        Raises:
            WorldError: if the footprint is empty.
        """
        if footprint.empty:
            raise WorldError("nothing has no ground under it: the footprint is empty")
        # Inside a cell the surface is a saddle, and between two corners it is straight, so that only corners inside the
        # footprint and its outline can be extreme; along a straight piece within a cell it is a parabola.
        outline = drawn_geometry(footprint)
        heights = np.concatenate([self._heights_along(outline), self._heights_inside(outline)])
        return float(heights.min()), float(heights.max())

    def _heights_inside(self, outline: shapely.Geometry) -> FloatArray:
        rows, columns = self.heights.shape
        x0, y0, x1, y1 = ((np.array(outline.bounds).reshape(2, 2) - self.origin) / self.cell).ravel()
        j, i = (
            np.arange(int(np.clip(np.ceil(low), 0, count)), int(np.clip(np.floor(high), -1, count - 1)) + 1)
            for low, high, count in ((x0, x1, columns), (y0, y1, rows))
        )
        x, y = np.meshgrid(self.origin[0] + self.cell * j, self.origin[1] + self.cell * i)
        return np.asarray(self.heights[np.ix_(i, j)][shapely.contains_xy(outline, x, y)])

    def _heights_along(self, outline: shapely.Geometry) -> FloatArray:
        """Return the heights at all places of an outline's lines and points that can be extreme."""
        places = []
        for part in shapely.get_parts(outline):
            rings = [part.exterior, *part.interiors] if part.geom_type == "Polygon" else [part]
            for chain in (shapely.get_coordinates(ring) for ring in rings):
                places.append(chain)
                places += [self._turning_points(a, b) for a, b in pairwise(chain)]
        return self.height(np.concatenate(places))

    def _turning_points(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return where a straight line leaves cells, and the top or bottom of the parabola within each; (N, 2)."""
        low, high = np.minimum(a, b), np.maximum(a, b)
        shares = [np.array([0.0, 1.0])]
        for axis, count in ((0, self.heights.shape[1]), (1, self.heights.shape[0])):
            first, last = ((v[axis] - self.origin[axis]) / self.cell for v in (low, high))
            lines = np.arange(max(int(np.ceil(first)), 0), min(int(np.floor(last)), count - 1) + 1)
            if a[axis] != b[axis]:
                shares.append((self.origin[axis] + self.cell * lines - a[axis]) / (b[axis] - a[axis]))
        cuts = np.unique(np.clip(np.concatenate(shares), 0.0, 1.0))
        middle = 0.5 * (cuts[:-1] + cuts[1:])
        ends, mid = self.height(a + cuts[:, None] * (b - a)), self.height(a + middle[:, None] * (b - a))
        left, right = ends[:-1], ends[1:]
        bend = left - 2.0 * mid + right
        with np.errstate(divide="ignore", invalid="ignore"):
            vertex = np.nan_to_num((3.0 * left - 4.0 * mid + right) / (4.0 * bend), posinf=0.0, neginf=0.0)
        inner = cuts[:-1] + np.clip(vertex, 0.0, 1.0) * np.diff(cuts)
        return np.asarray(a + np.concatenate([cuts, inner])[:, None] * (b - a))

    def _cells(self, points: npt.ArrayLike) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Return the row and column of the cell of points (..., 2), and where in it they are, along x and along y."""
        points = np.asarray(points, dtype=np.float64)
        rows, columns = self.heights.shape
        x = np.clip((points[..., 0] - self.origin[0]) / self.cell, 0.0, columns - 1.0)
        y = np.clip((points[..., 1] - self.origin[1]) / self.cell, 0.0, rows - 1.0)
        j, i = np.minimum(x.astype(np.int64), columns - 2), np.minimum(y.astype(np.int64), rows - 2)
        return i, j, x - j, y - i


def _corners(bounds: tuple[float, float, float, float], cell: float) -> FloatArray:
    """Return the corners (H, W, 2) of the cells that cover bounds."""
    x0, y0, x1, y1 = bounds
    if not (np.isfinite(bounds).all() and x0 < x1 and y0 < y1):
        raise WorldError(f"terrain bounds {bounds} must be xmin, ymin, xmax, ymax with xmin < xmax and ymin < ymax")
    if not (np.isfinite(cell) and cell > 0.0):
        raise WorldError(f"terrain cell {cell}; write a length above 0 in metres")
    columns, rows = (np.ceil(side / cell - 1e-9) + 1.0 for side in (x1 - x0, y1 - y0))
    if columns * rows > MAX_HEIGHTS:
        raise WorldError(
            f"terrain of {columns:.0f} by {rows:.0f} heights; at most {MAX_HEIGHTS} are possible, so give a larger cell"
        )
    x, y = x0 + cell * np.arange(int(columns)), y0 + cell * np.arange(int(rows))
    return np.stack(np.meshgrid(x, y), axis=-1)
