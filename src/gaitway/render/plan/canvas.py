"""The sheet a plan is drawn on: world to pixels, shapes with holes, dashes, hatching; smooth by drawing it larger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import shapely
from PIL import Image, ImageColor, ImageDraw

from gaitway.core.arrays import FloatArray
from gaitway.render.raster.labels import Wish

Paint = str | tuple[str, float]
"""A colour, or a colour and an opacity 0..1."""


class Canvas:
    """A map under construction. Lengths that end in `_px` are pixels of the finished picture."""

    def __init__(self, bounds: tuple[float, float, float, float], size: tuple[int, int], scale: float, paper: str):
        """Make a blank sheet.

        Args:
            bounds: xmin, ymin, xmax, ymax of what is drawn [m]; it lies in the middle.
            size: width and height of the finished map [px].
            scale: pixels a metre.
            paper: colour of the paper.
        """
        # four samples a pixel each way for small maps, two for large ones, whose memory would be gigabytes
        self.factor = 4 if size[0] * size[1] <= 1_500_000 else 2
        self.size, self.bounds, self.scale = size, bounds, scale
        self.image = Image.new("RGB", (size[0] * self.factor, size[1] * self.factor), paper)
        self.pen = ImageDraw.Draw(self.image, "RGBA")
        self.wishes: list[Wish] = []
        """Words to be placed when everything is drawn."""
        self.middle = np.array([0.5 * (bounds[0] + bounds[2]), 0.5 * (bounds[1] + bounds[3])])

    def pixels(self, points: npt.ArrayLike) -> FloatArray:
        """Return pixels (..., 2) of the finished map of points (..., 2) [m]."""
        points = np.asarray(points, dtype=np.float64)
        centre = 0.5 * np.array(self.size)
        return np.asarray(centre + (points - self.middle) * [self.scale, -self.scale])

    def fine(self, points: npt.ArrayLike) -> list[tuple[float, float]]:
        """Return points (N, 2) [m] in the pixels of the enlarged drawing."""
        at = self.pixels(points) * self.factor
        return list(zip(at[:, 0].tolist(), at[:, 1].tolist(), strict=True))

    def fill(
        self, area: shapely.Geometry, paint: Paint, hatch: float = 0.0, shift: tuple[float, float] = (0, 0)
    ) -> None:
        """Fill an area, holes left free.

        Args:
            area: polygons [m].
            paint: colour of the area.
            hatch: pixels between diagonal strokes; 0 fills it.
            shift: moved by this much [m].
        """
        for polygon in polygons(area):
            self._fill_one(polygon, paint, hatch, np.asarray(shift))

    def _fill_one(self, polygon: shapely.Polygon, paint: Paint, hatch: float, shift: FloatArray) -> None:
        rings = [self.fine(np.array(ring.coords) + shift) for ring in (polygon.exterior, *polygon.interiors)]
        if len(rings) == 1 and hatch <= 0.0:
            self.pen.polygon(rings[0], fill=rgba(paint))
            return
        outer = np.array(rings[0])
        low = np.maximum(np.floor(outer.min(axis=0)).astype(int), 0)
        high = np.minimum(np.ceil(outer.max(axis=0)).astype(int) + 1, self.image.size)
        if (high <= low).any():
            return
        mask = Image.new("L", (int(high[0] - low[0]), int(high[1] - low[1])), 0)
        pen = ImageDraw.Draw(mask)
        for ring, value in zip(rings, (255, *([0] * (len(rings) - 1))), strict=True):
            pen.polygon([(x - low[0], y - low[1]) for x, y in ring], fill=value)
        if hatch > 0.0:
            strokes = _strokes((int(high[0] - low[0]), int(high[1] - low[1])), low, hatch * self.factor)
            mask = Image.composite(mask, Image.new("L", mask.size, 0), strokes)
        red, green, blue, opacity = rgba(paint)
        if opacity < 255:
            mask = mask.point([round(v * opacity / 255) for v in range(256)])
        self.image.paste((red, green, blue), (int(low[0]), int(low[1])), mask)

    def outline(self, area: shapely.Geometry, paint: Paint, width_px: float = 1.0, dash_px: float = 0.0) -> None:
        """Draw the edges of an area."""
        for polygon in polygons(area):
            for ring in (polygon.exterior, *polygon.interiors):
                self.line(np.array(ring.coords), paint, width_px, dash_px)

    def line(self, points: npt.ArrayLike, paint: Paint, width_px: float = 1.0, dash_px: float = 0.0) -> None:
        """Draw a line through points (N, 2) [m], broken into dashes if wanted."""
        points = np.asarray(points, dtype=np.float64)
        width = max(1, round(width_px * self.factor))
        for piece in _dashes(points, dash_px / self.scale) if dash_px > 0.0 else [points]:
            if len(piece) > 1:
                self.pen.line(self.fine(piece), fill=rgba(paint), width=width, joint="curve")

    def disc(
        self, place: npt.ArrayLike, radius_px: float, paint: Paint | None, rim: Paint | None = None, rim_px: float = 1.0
    ) -> None:
        """Draw a disc about a point [m], filled, rimmed or both."""
        x, y = self.pixels(place) * self.factor
        r = radius_px * self.factor
        self.pen.ellipse(
            [x - r, y - r, x + r, y + r],
            fill=None if paint is None else rgba(paint),
            outline=None if rim is None else rgba(rim),
            width=max(1, round(rim_px * self.factor)),
        )

    def arrow_head(self, tip: npt.ArrayLike, heading: float, length_px: float, paint: Paint) -> None:
        """Draw a filled arrow head with its tip at a point [m]."""
        length = length_px / self.scale
        shape = np.array([[0.0, 0.0], [-1.0, 0.42], [-0.78, 0.0], [-1.0, -0.42]]) * length
        c, s = np.cos(heading), np.sin(heading)
        self.pen.polygon(self.fine(shape @ np.array([[c, s], [-s, c]]) + np.asarray(tip)), fill=rgba(paint))

    def wish(self, text: str, place: npt.ArrayLike, size: float, color: str, gap: float, halo: str | None) -> None:
        """Ask for words near a point [m]."""
        x, y = self.pixels(place)
        self.wishes.append(Wish(text=text, x=float(x), y=float(y), size=size, color=color, gap=gap, halo=halo))

    def finished(self) -> Image.Image:
        """Return the map in its final size, without words."""
        return self.image.reduce(self.factor)


def rgba(paint: Paint) -> tuple[int, int, int, int]:
    """Return 8-bit colour and opacity."""
    color, opacity = (paint, 1.0) if isinstance(paint, str) else paint
    red, green, blue = ImageColor.getrgb(color)[:3]
    return red, green, blue, round(255 * opacity)


def mixed(color: str, other: str, share: float) -> str:
    """Return a colour mixed with a share of another."""
    a, b = np.array(ImageColor.getrgb(color)[:3]), np.array(ImageColor.getrgb(other)[:3])
    red, green, blue = (int(v) for v in np.round(a + share * (b - a)))
    return f"#{red:02x}{green:02x}{blue:02x}"


def polygons(area: shapely.Geometry) -> Iterable[shapely.Polygon]:
    """Return the polygons in a geometry; lines and points are left out."""
    if isinstance(area, shapely.Polygon):
        return () if area.is_empty else (area,)
    return [p for part in getattr(area, "geoms", ()) for p in polygons(part)]


def _strokes(size: tuple[int, int], low: Sequence[int] | npt.NDArray[np.int64], pitch: float) -> Image.Image:
    """Return diagonal strokes as a mask, in step over the whole map."""
    x, y = np.arange(size[0]) + int(low[0]), np.arange(size[1])[:, None] + int(low[1])
    return Image.fromarray(np.where((x + y) % pitch < 0.42 * pitch, 255, 0).astype(np.uint8))


def _dashes(points: FloatArray, length: float) -> list[FloatArray]:
    """Return pieces of a line, `length` [m] on and 0.7 of it off."""
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    total = float(along[-1])
    if total <= 0.0 or length <= 0.0:
        return []
    period = 1.7 * length
    if total / period > 4000:
        return [points]
    pieces = []
    for start in np.arange(0.0, total, period):
        stop = min(start + length, total)
        inner = points[(along > start) & (along < stop)]
        ends = np.stack([np.interp([start, stop], along, points[:, k]) for k in range(2)], axis=1)
        pieces.append(np.concatenate([ends[:1], inner, ends[1:]]))
    return pieces
