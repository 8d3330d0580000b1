"""Words in pictures (one font, and a placer that keeps words apart), and PNG files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from gaitway.core.files import atomic_write

Rect = tuple[float, float, float, float]
"""Left, top, right, bottom [px]."""

_SIDES = ((1.0, -0.6), (1.0, 0.6), (-1.0, -0.6), (-1.0, 0.6), (0.0, -1.0), (0.0, 1.0), (1.0, 0.0), (-1.0, 0.0))
"""Positions of words around their point: right and down, in half sizes; the first free one is taken."""
_DISTANCES = (1.0, 1.8, 3.0)
"""Distances that are tried, in gaps."""


def text_font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return the font of all pictures in a letter height [px]."""
    return ImageFont.load_default(size)


def text_size(text: str, size: float) -> tuple[float, float]:
    """Return width and height of words [px]."""
    left, _, right, _ = text_font(size).getbbox(text)
    return float(right - left), 1.15 * size


@dataclass(frozen=True)
class Wish:
    """Words that are to be written near a point of the picture."""

    text: str
    x: float
    y: float
    """The point that they belong to [px]."""
    size: float = 13.0
    """Letter height [px]."""
    color: str = "#2f3338"
    gap: float = 6.0
    """Distance from the point [px]; 0 puts their middle on it."""
    halo: str | None = None
    """Colour of a rim around the letters."""
    anchor: str | None = None
    """Pillow's text anchor: the first choice puts this point of the words on the point."""


@dataclass(frozen=True)
class Placed:
    """Words and the rectangle that they fill."""

    wish: Wish
    box: Rect


@dataclass
class LabelPlacer:
    """Finds free rectangles for words, one after another, so that words do not cover words."""

    width: float
    height: float
    taken: list[Rect] = field(default_factory=list)
    """Rectangles that are not free any more."""

    def block(self, box: Rect) -> None:
        """Keep words off a rectangle."""
        self.taken.append(box)

    def place(self, wishes: Iterable[Wish], keep: bool = False) -> list[Placed]:
        """Place words; earlier ones choose first.

        Args:
            wishes: the words.
            keep: whether words without a free rectangle are written at their first choice; else they are left out.

        Returns:
            The words that are written, with their rectangles.
        """
        placed = []
        for wish in wishes:
            choices = list(_choices(wish))
            box = next((b for b in choices if self._free(b)), choices[0] if keep else None)
            if box is not None:
                self.taken.append(box)
                placed.append(Placed(wish, box))
        return placed

    def _free(self, box: Rect) -> bool:
        inside = box[0] >= 1.0 and box[1] >= 1.0 and box[2] <= self.width - 1.0 and box[3] <= self.height - 1.0
        return inside and not any(overlap(box, other) for other in self.taken)


def overlap(a: Rect, b: Rect) -> bool:
    """Return whether two rectangles share more than an edge."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def write(pen: ImageDraw.ImageDraw, placed: Sequence[Placed]) -> None:
    """Write words where they were placed."""
    for item in placed:
        wish, box = item.wish, item.box
        middle = (0.5 * (box[0] + box[2]), 0.5 * (box[1] + box[3]))
        rim = 0 if wish.halo is None else max(1, round(0.14 * wish.size))
        font = text_font(wish.size)
        pen.text(middle, wish.text, wish.color, font, "mm", stroke_width=rim, stroke_fill=wish.halo)


def _choices(wish: Wish) -> Iterable[Rect]:
    """Yield rectangles for words, the best first."""
    width, height = text_size(wish.text, wish.size)
    if wish.anchor is not None:
        left = wish.x - width * {"l": 0.0, "m": 0.5, "r": 1.0}[wish.anchor[0]]
        top = wish.y - height * {"a": 0.0, "t": 0.0, "m": 0.5, "s": 0.8, "b": 1.0, "d": 1.0}[wish.anchor[1]]
        yield left, top, left + width, top + height
    elif wish.gap <= 0.0:
        yield wish.x - 0.5 * width, wish.y - 0.5 * height, wish.x + 0.5 * width, wish.y + 0.5 * height
        return
    for distance in _DISTANCES:
        away = wish.gap * distance
        for right, down in _SIDES:
            x = wish.x + right * (away + 0.5 * width)
            y = wish.y + down * (away + 0.5 * height)
            yield x - 0.5 * width, y - 0.5 * height, x + 0.5 * width, y + 0.5 * height


def save_png(image: Image.Image, path: str | Path) -> None:
    """Write a PNG under its final name only when it is complete."""
    with atomic_write(path) as file:
        image.save(file, format="PNG", optimize=False)
