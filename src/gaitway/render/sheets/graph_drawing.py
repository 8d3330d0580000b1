"""What pictures of behaviour graphs are drawn with: colours, words, boxes, bows and arrows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from PIL import ImageDraw

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.library.behavior import Behavior
from gaitway.render.raster.labels import text_font

SUPERSAMPLE = 2
"""Factor by which pictures are drawn larger and then reduced, to be smooth."""
INK, FAINT, ACCENT, EDGE, CARD, BACKDROP = "#2f3338", "#8b8f94", "#b5532f", "#7f95a8", "#ffffff", "#f4f4f2"
LINE, PAD = 19, 12
"""Pixels a line of text, and around it."""


@dataclass(frozen=True)
class GraphBox:
    """An upright rectangle on the picture [px]."""

    x: float
    y: float
    width: float
    height: float

    def overlaps(self, other: GraphBox, gap: float = 4.0) -> bool:
        """Return whether the two are nearer than `gap` in both directions."""
        return (
            abs(self.x - other.x) < 0.5 * (self.width + other.width) + gap
            and abs(self.y - other.y) < 0.5 * (self.height + other.height) + gap
        )

    def holds(self, points: FloatArray, margin: float = 0.0) -> BoolArray:
        """Return which of points (N, 2) are inside; (N,)."""
        away = np.abs(points - [self.x, self.y]) - [0.5 * self.width + margin, 0.5 * self.height + margin]
        inside: BoolArray = np.logical_and(away[:, 0] < 0.0, away[:, 1] < 0.0)
        return inside


def text_width(text: str, size: float = 14) -> float:
    """Return the width of a text [px]."""
    return float(text_font(size).getlength(text))


def words(behavior: Behavior) -> str:
    """Return the name of a behaviour, with the obstacle that it passes unless the name says it."""
    said = behavior.obstacle is None or behavior.obstacle in behavior.name
    return behavior.name if said else f"{behavior.name}  [{behavior.obstacle}]"


def bow(start: GraphBox, end: GraphBox, others: list[GraphBox]) -> FloatArray:
    """Return points (N, 2) of a bow from the rim of one box to another that crosses as few other boxes as possible."""
    a, b = np.array([start.x, start.y]), np.array([end.x, end.y])
    along = b - a
    normal = np.array([-along[1], along[0]])
    t = np.linspace(0.0, 1.0, 240)[:, None]
    best, fewest = np.stack([a, b]), np.inf
    for bend in (0.12, 0.2, 0.32, 0.45, 0.6, -0.3, -0.5, -0.7):
        bow = (1 - t) ** 2 * a + 2 * t * (1 - t) * (0.5 * (a + b) + bend * normal) + t**2 * b
        bow = bow[~start.holds(bow, 3.0) & ~end.holds(bow, 5.0)]
        crossed = sum(float(other.holds(bow, 8.0).sum()) for other in others) if len(bow) > 2 else np.inf
        if crossed < fewest:
            best, fewest = bow, crossed
        if fewest == 0:
            break
    return best


def corners(box: GraphBox) -> list[float]:
    """Return the left, upper, right and lower edge of a box on the enlarged picture [px]."""
    half_x, half_y = 0.5 * box.width, 0.5 * box.height
    return [SUPERSAMPLE * v for v in (box.x - half_x, box.y - half_y, box.x + half_x, box.y + half_y)]


def draw_arrow(pen: ImageDraw.ImageDraw, line: FloatArray, width: float = 2.0) -> None:
    """Draw a line (N, 2) with a head at its end; `width` in pixels."""
    points = [(float(x) * SUPERSAMPLE, float(y) * SUPERSAMPLE) for x, y in line]
    for a, b in pairwise(points):
        pen.line([a, b], fill=EDGE, width=round(width * SUPERSAMPLE))
    tip = line[-1]
    back = tip - line[max(len(line) - 6, 0)]
    back = back / max(float(np.linalg.norm(back)), 1e-9) * 13.0
    side = 0.42 * np.array([-back[1], back[0]])
    head = [tip, tip - back + side, tip - back - side]
    pen.polygon([(float(x) * SUPERSAMPLE, float(y) * SUPERSAMPLE) for x, y in head], fill=EDGE)


def write(pen: ImageDraw.ImageDraw, at: tuple[float, float], text: str, size: float, fill: str, anchor: str) -> None:
    """Write a text at a place [px] on the enlarged picture."""
    place = (at[0] * SUPERSAMPLE, at[1] * SUPERSAMPLE)
    pen.text(place, text, fill=fill, font=text_font(size * SUPERSAMPLE), anchor=anchor)
