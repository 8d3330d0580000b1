"""A plan of a scene from above: a map to look at before anything is planned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw

from gaitway.core.errors import GaitwayError
from gaitway.render.plan.areas import draw_areas
from gaitway.render.plan.canvas import Canvas
from gaitway.render.plan.characters import draw_people
from gaitway.render.plan.ground import EDGE, draw_ground
from gaitway.render.plan.margins import (
    LegendEntry,
    draw_header,
    draw_legend,
    draw_ticks,
    header_height,
    legend_entries,
    legend_height,
)
from gaitway.render.plan.obstacles import draw_movers, draw_obstacles, items_of, painted
from gaitway.render.plan.overlays import draw_clearance, draw_occupancy, draw_regions
from gaitway.render.plan.places import draw_places, draw_sources, draw_things
from gaitway.render.raster.labels import LabelPlacer, save_png, text_font, write
from gaitway.render.raster.picture import MAX_PIXELS
from gaitway.world.clearance import Clearance
from gaitway.world.occupancy import Occupancy
from gaitway.world.regions import Reach
from gaitway.world.world import World

if TYPE_CHECKING:
    from gaitway.scene import Character, Scene
    from gaitway.scene.errands import Place
    from gaitway.scene.sources import Source
    from gaitway.scene.things import Thing

PAPER = "#f3f1ec"
_SIDE, _TICKS, _GAP = 26, 40, 14
"""Pixels at the sides, for the numbers along the axes, and between the parts."""
_LEAST = 160
"""Least length of a side [px]."""


@dataclass(frozen=True, eq=False)
class _Wanted:
    """Further contents of a plan."""

    title: str
    text: str
    legend: bool
    grid: Occupancy | None
    clearance: Clearance | None
    reaches: Sequence[Reach]
    radius: float
    places: tuple[Place, ...] = ()
    sources: tuple[Source, ...] = ()
    things: tuple[Thing, ...] = ()

    @property
    def words(self) -> tuple[str, str]:
        """Title and description."""
        return self.title, self.text


@dataclass(frozen=True)
class _Sheet:
    """How a sheet is divided [px]."""

    size: tuple[int, int]
    header: int
    legend: int
    map_corner: tuple[int, int]
    map_size: tuple[int, int]
    scale: float
    """Pixels a metre."""


def scene_plan(
    scene: Scene | World,
    path: str | Path | None = None,
    *,
    size: int | tuple[int, int] = 1400,
    time: float | Sequence[float] = 0.0,
    title: str | None = None,
    people: bool = True,
    legend: bool = True,
    grid: Occupancy | None = None,
    clearance: Clearance | None = None,
    reaches: Sequence[Reach] = (),
    radius: float = 0.3,
) -> Image.Image:
    """Draw a scene, or a world alone, as a plan with +X to the right and +Y up.

    Args:
        scene: scene or world to draw.
        path: PNG file to write; None writes nothing.
        size: width in pixels (the height follows from the bounds), or width and height.
        time: time of the plan [s]: movers are drawn as they are then; several times make a sheet of plans.
        title: words at the top; None takes the scene's own, "" leaves the header out.
        people: draw starts and goals, and where people do errands.
        legend: explain the signs below the map.
        grid: show which cells of an occupancy grid are covered.
        clearance: show how far obstacles are.
        reaches: show where these motions may begin to pass special obstacles (`library.reach.reaches`), and within
            `radius` of them where one may only be while passing.
        radius: radius of a character, for `reaches` [m].

    Returns:
        The picture.

    Raises:
        GaitwayError: for a size or a time that cannot be drawn.
    """
    world = scene if isinstance(scene, World) else scene.world
    characters = () if isinstance(scene, World) or not people else scene.characters
    times = _checked_times(time)
    errands = (
        () if isinstance(scene, World) or not people else (tuple(scene.places.values()), scene.sources, scene.things)
    )
    wanted = _Wanted(*_words(scene, title), legend, grid, clearance, reaches, radius, *errands)
    if len(times) > 1:
        picture = _sheet_of_times(world, characters, wanted, size, times)
    else:
        picture = _one_plan(world, characters, wanted, size, times[0])
    if path is not None:
        save_png(picture, path)
    return picture


def _words(scene: Scene | World, title: str | None) -> tuple[str, str]:
    """Return title and description."""
    if isinstance(scene, World) or title is not None:
        return title or "", ""
    return scene.title or (scene.path.stem if scene.path else ""), getattr(scene, "description", "") or ""


def _one_plan(
    world: World, characters: Sequence[Character], wanted: _Wanted, size: int | tuple[int, int], time: float
) -> Image.Image:
    entries = legend_entries(world, characters, time) if wanted.legend else []
    sheet = _divide(world, wanted.words, entries, size)
    canvas = Canvas(world.bounds, sheet.map_size, sheet.scale, PAPER)
    contour_words = draw_ground(canvas, world.terrain)
    draw_areas(canvas, world)
    if wanted.clearance is not None:
        draw_clearance(canvas, wanted.clearance)
    draw_obstacles(canvas, items_of(world, [*painted(world), *world.obstacles]))
    draw_movers(canvas, world, time)
    if wanted.grid is not None:
        draw_occupancy(canvas, wanted.grid)
    if wanted.reaches:
        draw_regions(canvas, world, time, wanted.reaches, wanted.radius)
    draw_sources(canvas, wanted.sources)
    draw_places(canvas, wanted.places, world.bounds)
    draw_things(canvas, wanted.things)
    draw_people(canvas, characters)
    x0, y0, x1, y1 = world.bounds
    canvas.line([[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]], EDGE, 1.4)
    picture = Image.new("RGB", sheet.size, PAPER)
    picture.paste(_with_words(canvas, characters), sheet.map_corner)
    pen = ImageDraw.Draw(picture)
    draw_header(pen, wanted.words, sheet.size[0], _SIDE)
    draw_ticks(pen, canvas, sheet.map_corner)
    if entries:
        top = sheet.size[1] - sheet.legend
        picture.paste(draw_legend(entries, canvas.scale, contour_words, sheet.size[0], sheet.legend, PAPER), (0, top))
    if world.movers:
        stamp = (sheet.size[0] - _SIDE, max(sheet.map_corner[1] - 12, 14))
        _draw_stamp(pen, stamp, time)
    return picture


def _draw_stamp(pen: ImageDraw.ImageDraw, place: tuple[int, int], time: float) -> None:
    """Draw the time of a plan with movers."""
    pen.text(place, f"t = {time:g} s", fill=EDGE, font=text_font(15), anchor="rs")


def _with_words(canvas: Canvas, characters: Sequence[Character]) -> Image.Image:
    """Write the words on the finished map, none over another nor over a start or goal."""
    picture = canvas.finished()
    placer = LabelPlacer(*canvas.size)
    for character in characters[:200]:
        for place in (character.start, character.goal):
            x, y = canvas.pixels(np.asarray(place[:2]))
            r = max(0.8 * character.radius * canvas.scale, 4.0)
            placer.block((x - r, y - r, x + r, y + r))
    write(ImageDraw.Draw(picture), placer.place(canvas.wishes))
    return picture


def _divide(
    world: World, words: tuple[str, str], entries: Sequence[LegendEntry], size: int | tuple[int, int]
) -> _Sheet:
    """Divide the sheet into header, map and legend."""
    width = size if isinstance(size, int) else size[0]
    if width < _LEAST:
        raise GaitwayError(f"a plan {width} pixels wide cannot be read; write {_LEAST} or more")
    x0, y0, x1, y1 = world.bounds
    header, legend = header_height(words, width, _SIDE), legend_height(entries, width)
    room = width - 2 * _SIDE - _TICKS
    if isinstance(size, int):
        # very tall places are drawn smaller than the width would allow
        scale = min(room / (x1 - x0), 1.6 * room / (y1 - y0))
        height = max(header + max(int(np.ceil((y1 - y0) * scale)), 40) + _TICKS + 2 * _GAP + legend, _LEAST)
    else:
        height = size[1]
    tall = height - header - _TICKS - 2 * _GAP - legend
    if height < _LEAST or tall < 40 or width * height > MAX_PIXELS:
        raise GaitwayError(
            f"a plan of {width} x {height} pixels leaves no room for the map or is too large; "
            f"write at least {_LEAST} x {header + legend + 2 * _GAP + _TICKS + 40}, and at most "
            f"{MAX_PIXELS // 1_000_000} million pixels"
        )
    scale = min(room / (x1 - x0), tall / (y1 - y0))
    map_size = (max(2, round((x1 - x0) * scale) + 2), max(2, round((y1 - y0) * scale) + 2))
    left = _SIDE + _TICKS + (room - map_size[0]) // 2
    top = header + _GAP + (tall - map_size[1]) // 2
    return _Sheet((width, height), header, legend, (left, top), map_size, scale)


def _sheet_of_times(
    world: World, characters: Sequence[Character], wanted: _Wanted, size: int | tuple[int, int], times: Sequence[float]
) -> Image.Image:
    """Draw plans side by side, as many in a row as suits the shape of the bounds."""
    if not isinstance(size, int):
        raise GaitwayError(
            f"a sheet of {len(times)} plans with size {size}; write its width alone, for example size=1800"
        )
    x0, y0, x1, y1 = world.bounds
    columns = int(np.clip(round(np.sqrt(len(times) * 1.5 * (y1 - y0) / (x1 - x0))), 1, len(times)))
    tile = size // columns
    last = len(times) - 1
    # the first has the words and the last the legend
    kinds = [
        replace(wanted, title=wanted.title if i == 0 else "", text=wanted.text if i == 0 else "", legend=legend)
        for i, legend in enumerate(wanted.legend and i == last for i in range(len(times)))
    ]
    plans = [_one_plan(world, characters, kind, tile, time) for kind, time in zip(kinds, times, strict=True)]
    rows = [plans[i : i + columns] for i in range(0, len(plans), columns)]
    heights = [max(plan.height for plan in row) for row in rows]
    picture = Image.new("RGB", (tile * columns, sum(heights)), PAPER)
    for r, row in enumerate(rows):
        for c, plan in enumerate(row):
            picture.paste(plan, (c * tile, sum(heights[:r])))
    return picture


def _checked_times(time: float | Sequence[float]) -> list[float]:
    times = [float(t) for t in np.atleast_1d(np.asarray(time, dtype=np.float64))]
    if not times or not np.isfinite(times).all() or min(times) < 0.0 or len(times) > 64:
        raise GaitwayError(f"plan at times {times}; write up to 64 numbers of seconds, 0 or more")
    return times
