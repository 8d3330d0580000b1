"""Around the map: title and description above it, metres along its edges."""

from __future__ import annotations

from PIL import ImageDraw

from gaitway.render.labels import text_font, text_size
from gaitway.render.plan.canvas import Canvas
from gaitway.render.plan.ground import EDGE, grid_lines, nice_step

FAINT = "#7d7a72"
_TITLE, _TEXT = 26, 14


def wrapped(text: str, size: float, width: float) -> list[str]:
    """Lines of words no wider than `width` [px]."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_size(longer, size)[0] <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def header_height(words: tuple[str, str], width: int, side: int) -> int:
    """Pixels of the title and the description."""
    title, text = words
    if not title and not text:
        return 10
    lines = wrapped(text, _TEXT, min(width - 2 * side, 900))
    return (48 if title else 14) + 19 * len(lines) + 8


def draw_header(pen: ImageDraw.ImageDraw, words: tuple[str, str], width: int, side: int) -> None:
    """Write the title and the description."""
    title, text = words
    if title:
        size = _TITLE
        while size > 12 and text_size(title, size)[0] > width - 2 * side:
            size -= 2
        pen.text((side, 40), title, fill=EDGE, font=text_font(size), anchor="ls")
    for i, line in enumerate(wrapped(text, _TEXT, min(width - 2 * side, 900))):
        pen.text((side, (64 if title else 24) + 19 * i), line, fill=FAINT, font=text_font(_TEXT), anchor="ls")


def draw_ticks(pen: ImageDraw.ImageDraw, canvas: Canvas, corner: tuple[int, int]) -> None:
    """Numbers of metres along the lower and the left edge of the map."""
    x0, y0, x1, y1 = canvas.bounds
    step = nice_step(52.0 / canvas.scale)
    font = text_font(12)
    for x in grid_lines(x0, x1, step):
        at = canvas.pixels((x, y0)) + corner
        pen.line([(at[0], at[1]), (at[0], at[1] + 5)], fill=EDGE)
        pen.text((at[0], at[1] + 8), f"{x:g}", fill=FAINT, font=font, anchor="mt")
    for y in grid_lines(y0, y1, nice_step(34.0 / canvas.scale)):
        at = canvas.pixels((x0, y)) + corner
        pen.line([(at[0] - 5, at[1]), (at[0], at[1])], fill=EDGE)
        pen.text((at[0] - 8, at[1]), f"{y:g}", fill=FAINT, font=font, anchor="rm")
