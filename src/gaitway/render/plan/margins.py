"""Around the map of a plan: title and description above it, metres along its edges, the legend below it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import shapely
from PIL import Image, ImageDraw

from gaitway.render.plan.canvas import Canvas, mixed
from gaitway.render.plan.characters import group_colors, group_of
from gaitway.render.plan.ground import EDGE, grid_lines, nice_step
from gaitway.render.plan.obstacles import BLOCK, HALO, INK, LOW, OVERHEAD, TALL, Item, items_of, wall_fill
from gaitway.render.raster.colors import MOVER_COLOR, kind_color
from gaitway.render.raster.labels import text_font, text_size
from gaitway.world.obstacle import WALL
from gaitway.world.world import World

if TYPE_CHECKING:
    from gaitway.scene import Character


FAINT = "#7d7a72"
_TITLE, _TEXT = 26, 14


def wrapped(text: str, size: float, width: float) -> list[str]:
    """Return lines of words no wider than `width` [px]."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_size(longer, size)[0] <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def header_height(words: tuple[str, str], width: int, side: int) -> int:
    """Return the height of the title and the description [px]."""
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
    """Draw numbers of metres along the lower and the left edge of the map."""
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


_FAINT = "#7d7a72"
_ROW, _SWATCH, _SIDE, _SIZE = 26, 30, 26, 13.0
_RULER = 250
"""Width of the scale bar at the left [px]."""


@dataclass(frozen=True)
class LegendEntry:
    """A sign and what it means."""

    draw: Callable[[Canvas], None]
    """Draws it on a sheet of 30 by 18 pixels, one pixel a metre, about the origin."""
    text: str


def legend_entries(world: World, characters: Sequence[Character], time: float) -> list[LegendEntry]:
    """Return one entry for each sign that occurs."""
    items = items_of(world, world.obstacles)
    entries = _wall_entries(items)
    for kind in dict.fromkeys(i.obstacle.kind for i in items if i.obstacle.special):
        high = [i for i in items if i.obstacle.kind == kind]
        entries.append(LegendEntry(_special_sign(kind, high[0].low > 0.2), _kind_words(kind)))
    later = {phase.kind for mover in world.movers for phase in mover.phases} - {i.obstacle.kind for i in items}
    for kind in sorted(later - {WALL, "passable"}):
        entries.append(LegendEntry(_special_sign(kind, hangs=False), _kind_words(kind)))
    leaves = {door.name for door in world.doors}
    if any(len(m.times) > 1 or len(m.phases) > 1 for m in world.movers if m.name not in leaves):
        entries.append(LegendEntry(_mover_sign, "mover and its way"))
    if world.doors:
        entries.append(LegendEntry(_swatch(world.doors[0].color or MOVER_COLOR), "door, dashed where it moves to"))
    return entries + _people_entries(characters)


def _wall_entries(items: Sequence[Item]) -> list[LegendEntry]:
    plain = {wall_fill(i) for i in items if i.obstacle.kind == WALL and i.low <= OVERHEAD and i.obstacle.color is None}
    names = ((TALL, "wall, higher than a person"), (BLOCK, "building or pillar"), (LOW, "low, can be looked over"))
    entries = [LegendEntry(_swatch(color), text) for color, text in names if color in plain]
    overhead = next((i for i in items if i.low > OVERHEAD), None)
    if overhead is not None:
        entries.append(LegendEntry(_overhead_sign(overhead.obstacle.color or LOW), "overhead"))
    return entries


def _people_entries(characters: Sequence[Character]) -> list[LegendEntry]:
    colors = group_colors(characters)
    counts: dict[str, int] = {}
    for character in characters:
        key = character.name if character.name in colors else group_of(character.name)
        counts[key] = counts.get(key, 0) + 1
    if len(counts) > 8:
        first = next(iter(colors.values()))
        return [LegendEntry(_person_sign(first), f"start and goal of {len(characters)}, one colour each")]
    return [
        LegendEntry(_person_sign(colors[key]), f"{key}, {count}" if count > 1 else key) for key, count in counts.items()
    ]


def _kind_words(kind: str) -> str:
    under = {"duck": "to duck under", "crawl": "to crawl under", "jump": "to jump over", "climb": "to climb",
             "box": "to jump onto", "stairs": "stairs, up along the arrow",
             "ramp": "ramp, up along the arrow"}  # fmt: skip
    return under.get(kind, kind)


def _swatch(color: str) -> Callable[[Canvas], None]:
    def draw(canvas: Canvas) -> None:
        area = shapely.box(-11, -5, 11, 5)
        canvas.fill(area, color)
        canvas.outline(area, mixed(color, INK, 0.55), 1.0)

    return draw


def _overhead_sign(color: str) -> Callable[[Canvas], None]:
    def draw(canvas: Canvas) -> None:
        area = shapely.box(-11, -5, 11, 5)
        canvas.fill(area, (color, 0.38))
        canvas.outline(area, mixed(color, INK, 0.35), 0.9, 4.0)

    return draw


def _special_sign(kind: str, hangs: bool) -> Callable[[Canvas], None]:
    color = kind_color(kind)

    def draw(canvas: Canvas) -> None:
        area = shapely.box(-11, -5, 11, 5)
        canvas.fill(area, mixed(color, HALO, 0.72) if hangs or kind == "stairs" else color)
        if hangs:
            canvas.fill(area, color, hatch=5.0)
        if kind in ("stairs", "ramp"):
            for x in (-6, -1, 4) if kind == "stairs" else ():
                canvas.line([[x, -5], [x, 5]], mixed(color, INK, 0.5), 0.9)
            canvas.line([[-8, 0], [8, 0]], INK, 1.0)
            canvas.arrow_head((11, 0), 0.0, 7.0, INK)
        canvas.outline(area, mixed(color, INK, 0.35), 1.2)

    return draw


def _mover_sign(canvas: Canvas) -> None:
    canvas.disc((-8, 0), 5.0, MOVER_COLOR, mixed(MOVER_COLOR, INK, 0.5), 1.1)
    canvas.line([[-2, 0], [8, 0]], MOVER_COLOR, 1.2, 3.5)
    canvas.arrow_head((14, 0), 0.0, 7.0, MOVER_COLOR)


def _person_sign(color: str) -> Callable[[Canvas], None]:
    def draw(canvas: Canvas) -> None:
        canvas.arrow_head((3.0, 0.0), 0.0, 8.0, color)
        canvas.disc((-7, 0), 5.0, color, HALO, 1.0)
        canvas.disc((9, 0), 5.0, HALO, color, 1.4)
        canvas.disc((9, 0), 1.7, color)

    return draw


def _widths(entries: Sequence[LegendEntry]) -> list[float]:
    return [_SWATCH + 8.0 + text_size(e.text, _SIZE)[0] + 26.0 for e in entries]


def _places(entries: Sequence[LegendEntry], width: int) -> list[tuple[float, int]]:
    """Return left edge and row of each entry; the first row leaves room for the scale bar."""
    start = float(_RULER if width >= 700 else _SIDE)
    x, row = start, 0 if width >= 700 else 1
    places = []
    for wide in _widths(entries):
        if x + wide > width - _SIDE + 26 and x > start:
            x, row = start, row + 1
        places.append((x, row))
        x += wide
    return places


def legend_height(entries: Sequence[LegendEntry], width: int) -> int:
    """Return the height of the legend [px]."""
    if not entries:
        return 6
    return _ROW * (max(row for _, row in _places(entries, width)) + 1) + 42


def draw_legend(
    entries: Sequence[LegendEntry], scale: float, extra: str, width: int, height: int, paper: str
) -> Image.Image:
    """Draw the strip below the map: a scale bar, then the signs."""
    strip = Image.new("RGB", (width, height), paper)
    pen = ImageDraw.Draw(strip)
    _draw_ruler(pen, scale)
    for entry, (x, row) in zip(entries, _places(entries, width), strict=True):
        y = 14 + _ROW * row + (0 if width >= 700 else 10)
        sign = Canvas((-_SWATCH / 2, -9.0, _SWATCH / 2, 9.0), (_SWATCH, 18), 1.0, paper)
        entry.draw(sign)
        strip.paste(sign.finished(), (int(x), y - 9))
        pen.text((x + _SWATCH + 6, y), entry.text, fill=INK, font=text_font(_SIZE), anchor="lm")
    if extra:
        pen.text((width - _SIDE, height - 10), extra, fill=_FAINT, font=text_font(12), anchor="rs")
    return strip


def _draw_ruler(pen: ImageDraw.ImageDraw, scale: float) -> None:
    """Draw a bar of a round number of metres in four black and white parts."""
    length = nice_step(70.0 / scale)
    if length * scale > 180.0:
        length /= 2.0
    part = 0.25 * length * scale
    for i in range(4):
        box = [_SIDE + i * part, 10, _SIDE + (i + 1) * part, 16]
        pen.rectangle(box, fill=INK if i % 2 == 0 else HALO, outline=INK)
    for share in (0.0, 0.5, 1.0):
        words = f"{share * length:g}" + (" m" if share == 1.0 else "")
        x = _SIDE + share * length * scale
        pen.text((x, 21), words, fill=_FAINT, font=text_font(12), anchor="mt")
