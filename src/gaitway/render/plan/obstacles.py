"""Obstacles and movers in a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, product

import numpy as np
import shapely
from PIL import Image, ImageChops, ImageFilter

from gaitway.core import planar
from gaitway.core.arrays import FloatArray
from gaitway.render.plan.canvas import Canvas, mixed
from gaitway.render.raster.colors import MOVER_COLOR, kind_color, obstacle_color
from gaitway.render.raster.labels import text_size
from gaitway.world.footprint import drawn_geometry, united
from gaitway.world.obstacle import PASSABLE, WALL, Mover, Obstacle
from gaitway.world.shapes import Ramp, Stairs
from gaitway.world.world import World

INK, HALO = "#2f3338", "#fdfcfa"
TALL = "#565b63"
"""Colour of walls that are higher than a person and thin, as architects draw them."""
BLOCK = "#c9c4ba"
"""Colour of tall walls that are thick: whole buildings."""
LOW = "#e2ddd2"
"""Colour of walls that a person can look over."""
OVERHEAD = 1.95
"""Height above which obstacles are over all heads [m]."""
_TALL = 1.6
_SHADOW = 0.10
"""Length of a shadow as a share of the obstacle's height."""


@dataclass(frozen=True, eq=False)
class Item:
    """An obstacle and the area that it covers in the plan."""

    obstacle: Obstacle
    area: shapely.Geometry
    low: float
    high: float
    """Underside and top above the ground at its middle [m]."""


def items_of(world: World, obstacles: Sequence[Obstacle]) -> list[Item]:
    """Return the obstacles that are drawn, the lowest first."""
    items = []
    for obstacle in obstacles:
        area = drawn_geometry(obstacle.shape.footprint())
        if area.is_empty:
            continue
        ground = 0.0 if world.terrain is None else float(world.ground(np.array(area.centroid.coords[0])))
        low, high = obstacle.shape.heights
        items.append(Item(obstacle, area, low - ground, high - ground))
    return sorted(
        items,
        key=lambda item: (item.obstacle.kind != PASSABLE, item.low > OVERHEAD, round(item.high, 2), wall_fill(item)),
    )


def wall_fill(item: Item) -> str:
    """Return the colour of a wall: its own, or by how high and how thick it is."""
    if item.obstacle.color is not None:
        return item.obstacle.color
    if item.high < _TALL:
        return LOW
    thickness = 2.0 * item.area.area / max(item.area.length, 1e-9)
    return TALL if thickness < 0.9 else BLOCK


def draw_obstacles(canvas: Canvas, items: Sequence[Item]) -> None:
    """Draw all that does not move: paint, shadows, obstacles, and dashed what is overhead."""
    solid = [item for item in items if item.obstacle.kind != PASSABLE]
    for item in items:
        if item.obstacle.kind == PASSABLE:
            canvas.fill(item.area, obstacle_color(item.obstacle))
    _draw_shadows(canvas, solid)
    _draw_walls(canvas, [i for i in solid if i.obstacle.kind == WALL and i.low <= OVERHEAD])
    for item in solid:
        if item.obstacle.kind != WALL:
            draw_special(canvas, item)
        elif item.low > OVERHEAD:
            color = item.obstacle.color or LOW
            canvas.fill(item.area, (color, 0.38))
            canvas.outline(item.area, (mixed(color, INK, 0.35), 0.9), 0.9, 5.0)


def _draw_shadows(canvas: Canvas, items: Sequence[Item]) -> None:
    """Draw one soft shadow of everything, to the lower right."""
    if not items:
        return
    layer = Canvas(canvas.bounds, canvas.size, canvas.scale, "#000000")
    for item in items:
        length = min(_SHADOW * item.high, 12.0 / canvas.scale)
        layer.fill(item.area, "#ffffff" if item.low < OVERHEAD else "#777777", shift=(0.8 * length, -length))
    frame = canvas.pixels([[canvas.bounds[0], canvas.bounds[3]], [canvas.bounds[2], canvas.bounds[1]]]) * canvas.factor
    inside = Image.new("L", canvas.image.size, 0)
    inside.paste(255, tuple(int(v) for v in np.round(frame.ravel())))  # type: ignore[arg-type]
    mask = layer.image.getchannel(0).filter(ImageFilter.BoxBlur(1.3 * canvas.factor))
    mask = ImageChops.multiply(mask, inside).point([round(0.20 * v) for v in range(256)])
    canvas.image.paste((40, 42, 60), (0, 0), mask)


def _draw_walls(canvas: Canvas, items: Sequence[Item]) -> None:
    """Draw walls from the lowest to the highest; walls that touch and look alike are joined without seams."""
    tree = shapely.STRtree([item.area for item in items])
    for (color, _), alike in groupby(items, key=lambda item: (wall_fill(item), round(item.high, 2))):
        members = list(alike)
        area = united([item.area for item in members])
        canvas.fill(area, color)
        canvas.outline(area, mixed(color, INK, 0.55), 1.0)
        for item in members if color != TALL else ():
            if item.obstacle.name:
                about = (items[i] for i in tree.query(item.area))
                above = [other.area for other in about if other.high > item.high + 0.01]
                _name_inside(canvas, item, color, shapely.union_all(above))


def draw_special(canvas: Canvas, item: Item) -> None:
    """Draw an obstacle that can be passed: coloured by its kind, hatched if characters pass under it."""
    color = kind_color(item.obstacle.kind)
    edge = mixed(color, INK, 0.35)
    if isinstance(item.obstacle.shape, Stairs):
        _draw_stairs(canvas, item.obstacle.shape, item.area, color)
    elif isinstance(item.obstacle.shape, Ramp):
        _draw_ramp(canvas, item.obstacle.shape, item.area, color)
    elif item.low > 0.2:
        canvas.fill(item.area, (mixed(color, HALO, 0.72), 1.0))
        canvas.fill(item.area, color, hatch=5.0)
        canvas.outline(item.area, edge, 1.2)
    else:
        canvas.fill(item.area, color)
        canvas.outline(item.area, edge, 1.2)
    _name_special(canvas, item, mixed(color, INK, 0.45))


def _name_special(canvas: Canvas, item: Item, ink: str) -> None:
    """Write the words of a special obstacle: inside it if they fit and cover nothing, else beside it."""
    text = special_words(item)
    width, height = (n / canvas.scale for n in text_size(text, 13.0))
    plain = item.low <= 0.2 and not isinstance(item.obstacle.shape, Stairs | Ramp)
    place = _place_inside(item.area, 1.1 * width, 1.2 * height) if plain else None
    if place is not None:
        canvas.wish(text, place, 13.0, HALO, 0.0, None)
        return
    x0, y0, x1, y1 = item.area.bounds
    gap = 0.5 * min(x1 - x0, y1 - y0) * canvas.scale + 5.0
    canvas.wish(text, (0.5 * (x0 + x1), 0.5 * (y0 + y1)), 13.0, ink, gap, HALO)


def special_words(item: Item) -> str:
    """Return the name or kind of a special obstacle, and its height or clear height."""
    name = item.obstacle.name or item.obstacle.kind
    if item.low > 0.2:
        return f"{name}, {item.low:.2f} m clear"
    return f"{name}, {item.high:.2f} m"


def _draw_stairs(canvas: Canvas, stairs: Stairs, area: shapely.Geometry, color: str) -> None:
    """Draw steps as lines and an arrow that points up the flight."""
    frame = (*stairs.center, stairs.yaw)
    length, half = stairs.steps * stairs.run, 0.5 * stairs.width
    canvas.fill(area, mixed(color, HALO, 0.55))
    edge = mixed(color, INK, 0.5)
    for i in range(1, stairs.steps):
        x = -0.5 * length + i * stairs.run
        canvas.line(planar.transform_points(frame, [[x, -half], [x, half]]), edge, 0.9)
    canvas.outline(area, edge, 1.3)
    _draw_upward(canvas, frame, -0.5 * length + 0.4 * stairs.run, 0.5 * length)


def _draw_ramp(canvas: Canvas, ramp: Ramp, area: shapely.Geometry, color: str) -> None:
    """Draw a slope as an area that grows darker, and an arrow that points up."""
    frame, half = (*ramp.center, ramp.yaw), 0.5 * ramp.length
    for share in range(6):
        ends = -half + ramp.length * share / 6.0, -half + ramp.length * (share + 1) / 6.0
        corners = [(x, y) for x, y in zip((ends[0], ends[1], ends[1], ends[0]), (-1.0, -1.0, 1.0, 1.0), strict=True)]
        part = shapely.Polygon(planar.transform_points(frame, [[x, 0.5 * y * ramp.width] for x, y in corners]))
        canvas.fill(part, mixed(color, HALO, 0.75 - 0.12 * share))
    canvas.outline(area, mixed(color, INK, 0.5), 1.3)
    _draw_upward(canvas, frame, 0.15 - half, half)


def _draw_upward(canvas: Canvas, frame: tuple[float, float, float], begin: float, end: float) -> None:
    """Draw an arrow along the x axis of a frame, from one distance to another [m]."""
    ends = planar.transform_points(frame, [[begin, 0.0], [end, 0.0]])
    canvas.line(ends, INK, 1.3)
    canvas.disc(ends[0], 2.4, INK)
    canvas.arrow_head(ends[1], frame[2], 11.0, INK)


def _name_inside(canvas: Canvas, item: Item, color: str, covered: shapely.Geometry) -> None:
    """Write a wall's name, and the height of buildings, where there is room inside it."""
    name = item.obstacle.name
    texts = [f"{name}, {item.high:.3g} m", name] if item.high >= 5.0 else [name]
    ink = HALO if sum(int(color[i : i + 2], 16) for i in (1, 3, 5)) < 330 else mixed(color, INK, 0.75)
    room = shapely.difference(item.area, covered)
    for text, size in product(texts, (14.0, 12.0, 10.0)):
        width, height = text_size(text, size)
        place = _place_inside(room, (width + 3.0) / canvas.scale, (height + 1.0) / canvas.scale)
        if place is not None:
            canvas.wish(text, place, size, ink, 0.0, None)
            return


def _place_inside(area: shapely.Geometry, width: float, height: float) -> FloatArray | None:
    """Return where a rectangle [m] fits into an area, as near to its middle as possible; None if nowhere."""
    x0, y0, x1, y1 = area.bounds
    if not (x1 - x0 >= width and y1 - y0 >= height):
        return None
    middle = np.array(shapely.centroid(area).coords[0])
    shares = np.linspace(0.0, 1.0, 25)
    x = np.append(x0 + 0.5 * width + shares * (x1 - x0 - width), middle[0])
    y = np.append(y0 + 0.5 * height + shares * (y1 - y0 - height), middle[1])
    places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    half = np.array([0.5 * width, 0.5 * height])
    low, high = places - half, places + half
    fits = shapely.contains(area, shapely.box(low[:, 0], low[:, 1], high[:, 0], high[:, 1]))
    if not fits.any():
        return None
    inside = places[fits]
    return np.asarray(inside[np.argmin(np.linalg.norm(inside - middle, axis=1))])


def draw_movers(canvas: Canvas, world: World, time: float) -> None:
    """Draw the paths of movers, and what they are at a time [s]."""
    far = 60.0 if len(world.movers) <= 8 else 12.0  # many long ways would be a tangle
    for mover in world.movers:
        if mover.phase(time).kind == PASSABLE and len(mover.phases) == 1 and len(mover.times) == 1:
            continue  # paint that was drawn with the floor
        _draw_path(canvas, mover, time, far)
    for mover in world.movers:
        _draw_phases(canvas, mover, time)
    for item in items_of(world, [m.at(time) for m in world.movers if len(m.times) > 1 or len(m.phases) > 1]):
        _draw_moved(canvas, item)
    _name_movers(canvas, world, time)
    _draw_doors(canvas, world, time)


def _draw_doors(canvas: Canvas, world: World, time: float) -> None:
    """Draw doors where they are at a time [s], with dashed outlines where they shut or open to, and their names."""
    leaves = {mover.name: mover for mover in world.movers}
    for door in world.doors:
        color = door.color or MOVER_COLOR
        for is_open in (False, True):
            outline = drawn_geometry(door.obstacle(is_open).shape.footprint())
            canvas.outline(outline, (mixed(color, INK, 0.2), 0.9), 1.2, 4.0)
        for item in items_of(world, [leaves[door.name].at(time)]):
            _draw_moved(canvas, item)
        if len(leaves[door.name].times) == 1:  # a door that has moved has its name as a mover
            canvas.wish(door.name, door.middle, 11.0, mixed(color, INK, 0.5), 8.0, HALO)


def painted(world: World) -> list[Obstacle]:
    """Return movers that never move nor change and block no character: paint on the floor."""
    still = [m for m in world.movers if len(m.times) == 1 and len(m.phases) == 1]
    return [m.at(0.0) for m in still if m.phases[0].kind == PASSABLE]


def _draw_path(canvas: Canvas, mover: Mover, time: float, far: float) -> None:
    """Draw the rest of a mover's path, dashed, with arrow heads; later parts are fainter, none after `far` seconds."""
    color = mover.color or MOVER_COLOR
    ahead = mover.times > time
    if not ahead.any():
        return
    points = np.concatenate([[mover.pose(time)[:2]], mover.poses[ahead, :2]])
    times = np.concatenate([[time], mover.times[ahead]])
    for i in range(len(points) - 1):
        strength = float(np.clip(0.9 - (times[i] - time) / far, 0.0, 0.85))
        length = float(np.linalg.norm(points[i + 1] - points[i])) * canvas.scale
        if length < 1.0 or strength < 0.05:
            continue
        canvas.line(points[i : i + 2], (mixed(color, INK, 0.15), strength), 1.2, 5.0)
        if length > 26.0 and strength > 0.3:
            way = points[i + 1] - points[i]
            canvas.arrow_head(points[i] + 0.62 * way, float(np.arctan2(way[1], way[0])), 8.0, (color, strength))


def _draw_phases(canvas: Canvas, mover: Mover, time: float) -> None:
    """Draw the other phases of a mover as dashed outlines with their times."""
    if len({phase.kind for phase in mover.phases}) < 2:
        return
    now = mover.phase(time)
    for i, phase in enumerate(mover.phases):
        until = mover.phases[i + 1].start if i + 1 < len(mover.phases) else np.inf
        area = drawn_geometry(phase.shape.placed(mover.pose(max(phase.start, 0.0))).footprint())
        color = MOVER_COLOR if phase.kind in (WALL, PASSABLE) else kind_color(phase.kind)
        if phase is not now:
            canvas.outline(area, (mixed(color, INK, 0.2), 0.9), 1.2, 4.0)
        span = f"from {phase.start:g} s" if until == np.inf else f"{max(phase.start, 0.0):g} to {until:g} s"
        # one line of words for each phase, spread along the thing so that they do not pile up
        _, y0, x1, y1 = area.bounds
        share = (i + 0.7) / (len(mover.phases) + 0.4)
        canvas.wish(f"{phase.kind}, {span}", (x1, y1 + share * (y0 - y1)), 12.0, mixed(color, INK, 0.4), 8.0, HALO)


def _draw_moved(canvas: Canvas, item: Item) -> None:
    if item.obstacle.special:
        color = kind_color(item.obstacle.kind)
        canvas.fill(item.area, color)
        canvas.outline(item.area, mixed(color, INK, 0.35), 1.2)
        return
    color = item.obstacle.color or MOVER_COLOR
    canvas.fill(item.area, (color, 0.35) if item.obstacle.kind == PASSABLE else color)
    canvas.outline(item.area, mixed(color, INK, 0.5), 1.2)


def _name_movers(canvas: Canvas, world: World, time: float) -> None:
    named = [m for m in world.movers if m.name and (len(m.times) > 1 or len(m.phases) > 1)]
    for mover in named if len(named) <= 30 else ():
        x0, y0, x1, y1 = mover.at(time).shape.footprint().bounds
        gap = 0.5 * min(x1 - x0, y1 - y0) * canvas.scale + 3.0
        canvas.wish(
            mover.name, (0.5 * (x0 + x1), 0.5 * (y0 + y1)), 11.0, mixed(mover.color or MOVER_COLOR, INK, 0.5), gap, HALO
        )
