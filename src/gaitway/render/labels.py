"""Words in pictures: one font, and a placer that keeps them off one another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from PIL import ImageDraw, ImageFont

Rect = tuple[float, float, float, float]
"""Left, top, right, bottom [px]."""

_SIDES = ((1.0, -0.6), (1.0, 0.6), (-1.0, -0.6), (-1.0, 0.6), (0.0, -1.0), (0.0, 1.0), (1.0, 0.0), (-1.0, 0.0))
"""Where words may stand around their place: right and down, in half sizes; the first that is free is taken."""
_DISTANCES = (1.0, 2.2, 3.6)
"""Tries further out, in gaps."""


def text_font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The font of all pictures."""
    return ImageFont.load_default(size)


def text_size(text: str, size: float) -> tuple[float, float]:
    """Width and height of words [px]."""
    left, _, right, _ = text_font(size).getbbox(text)
    return float(right - left), 1.15 * size


@dataclass(frozen=True)
class Wish:
    """Words that want to stand near a place of the picture."""

    text: str
    x: float
    y: float
    """The place they belong to [px]."""
    size: float = 13.0
    """Letter height [px]."""
    color: str = "#2f3338"
    gap: float = 6.0
    """How far from the place they stay [px]; 0 puts their middle right on it."""
    halo: str | None = None
    """Colour of a rim that sets them off from what is under them."""


@dataclass(frozen=True)
class Placed:
    """Words and the rectangle they fill."""

    wish: Wish
    box: Rect


@dataclass
class LabelPlacer:
    """Finds room for words, one after another; what finds none is left out, never written over others."""

    width: float
    height: float
    taken: list[Rect] = field(default_factory=list)
    """What is not free any more."""

    def block(self, box: Rect) -> None:
        """Keep words off a rectangle."""
        self.taken.append(box)

    def place(self, wishes: Iterable[Wish]) -> list[Placed]:
        """Those of the wishes for which there is room; earlier ones come first."""
        placed = []
        for wish in wishes:
            box = next((b for b in _choices(wish) if self._free(b)), None)
            if box is not None:
                self.taken.append(box)
                placed.append(Placed(wish, box))
        return placed

    def _free(self, box: Rect) -> bool:
        inside = box[0] >= 1.0 and box[1] >= 1.0 and box[2] <= self.width - 1.0 and box[3] <= self.height - 1.0
        return inside and not any(overlap(box, other) for other in self.taken)


def overlap(a: Rect, b: Rect) -> bool:
    """Whether two rectangles share more than an edge."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def write(pen: ImageDraw.ImageDraw, placed: Sequence[Placed]) -> None:
    """Write words where they were placed."""
    for item in placed:
        wish, box = item.wish, item.box
        middle = (0.5 * (box[0] + box[2]), 0.5 * (box[1] + box[3]))
        rim = {} if wish.halo is None else {"stroke_width": max(1, round(0.14 * wish.size)), "stroke_fill": wish.halo}
        pen.text(middle, wish.text, fill=wish.color, font=text_font(wish.size), anchor="mm", **rim)


def _choices(wish: Wish) -> Iterable[Rect]:
    """Rectangles for a wish, the best first."""
    width, height = text_size(wish.text, wish.size)
    if wish.gap <= 0.0:
        yield wish.x - 0.5 * width, wish.y - 0.5 * height, wish.x + 0.5 * width, wish.y + 0.5 * height
        return
    for distance in _DISTANCES:
        away = wish.gap * distance
        for right, down in _SIDES:
            x = wish.x + right * (away + 0.5 * width)
            y = wish.y + down * (away + 0.5 * height)
            yield x - 0.5 * width, y - 0.5 * height, x + 0.5 * width, y + 0.5 * height
