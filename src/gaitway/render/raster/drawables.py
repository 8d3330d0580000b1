"""Solids, paint on the floor and words of a picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray, owned
from gaitway.render.raster.colors import linear_color
from gaitway.render.raster.mesh import SurfaceMesh


@dataclass(frozen=True, eq=False)
class Solid:
    """A closed surface; `scenery.solid_of` makes one of any shape of a world."""

    mesh: SurfaceMesh
    color: str | FloatArray = "#b9b4aa"
    """One sRGB colour, or linear RGB of every vertex; (V, 3)."""
    smooth: bool = False
    """Whether it is one rounded surface rather than faces with edges; it is then drawn faster."""

    def colors(self) -> FloatArray:
        """Return linear RGB of every vertex; (V, 3)."""
        if isinstance(self.color, str):
            return np.tile(linear_color(self.color), (len(self.mesh.points), 1))
        return owned(self.color, "solid colours", (len(self.mesh.points), 3))


@dataclass(frozen=True, eq=False)
class Trail:
    """A ribbon of paint on the floor along a path."""

    path: FloatArray
    """x and y of its points [m]; (N, 2)."""
    color: str | tuple[float, float, float] = "#7f8fa6"
    width: float = 0.05
    """Width of the ribbon [m]."""
    opacity: float = 0.65

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", owned(self.path, "trail path", (None, 2)))

    def surface(self) -> tuple[FloatArray, IntArray]:
        """Return corners (V, 2) [m] and triangles (T, 3), anticlockwise seen from above."""
        gaps = np.linalg.norm(np.diff(self.path, axis=0), axis=1)
        path = self.path[np.append(True, gaps > 1e-4)] if len(self.path) > 1 else self.path
        if len(path) < 2:
            return np.empty((0, 2)), np.empty((0, 3), np.int64)
        way = np.gradient(path, axis=0)
        way = way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9)
        aside = 0.5 * self.width * np.stack([-way[:, 1], way[:, 0]], axis=1)
        left = np.arange(len(path) - 1)
        right = left + len(path)
        fans = [np.stack([right, right + 1, left + 1], axis=1), np.stack([right, left + 1, left], axis=1)]
        return np.concatenate([path + aside, path - aside]), np.concatenate(fans)


@dataclass(frozen=True, eq=False)
class FloorMark:
    """A convex patch of paint on the floor, such as a footprint."""

    outline: FloatArray
    """x and y of its corners [m], anticlockwise; (N, 2)."""
    color: str | tuple[float, float, float] = "#7f8fa6"
    opacity: float = 0.7

    def __post_init__(self) -> None:
        object.__setattr__(self, "outline", owned(self.outline, "mark outline", (None, 2)))

    def surface(self) -> tuple[FloatArray, IntArray]:
        """Return corners (V, 2) [m] and triangles (T, 3), anticlockwise seen from above."""
        after = np.arange(1, len(self.outline) - 1)
        return self.outline, np.stack([np.zeros_like(after), after, after + 1], axis=1)


@dataclass(frozen=True, eq=False)
class Patch:
    """Paint on the floor of any outline, as triangles."""

    corners: FloatArray
    """x and y of its corners [m]; (V, 2)."""
    triangles: IntArray
    """Anticlockwise seen from above; (T, 3)."""
    color: str | tuple[float, float, float] = "#7f8fa6"
    opacity: float = 1.0

    def surface(self) -> tuple[FloatArray, IntArray]:
        """Return corners (V, 2) [m] and triangles (T, 3), anticlockwise seen from above."""
        return self.corners, self.triangles


@dataclass(frozen=True)
class Label:
    """Words beside a point of the world."""

    text: str
    place: tuple[float, float, float]
    """The point [m]."""
    color: str = "#3b3f45"
    size: int = 0
    """Letter height in pixels; 0 takes one that suits the picture."""
    anchor: str = "mm"
    """Pillow's text anchor: the point of the words that is put there, unless other words are there."""
    halo: str | None = None
    """Colour of a rim around the letters."""


Paint = Trail | FloorMark | Patch
