"""A hub graph on one sheet: its nodes and edges, the distances it was found in, and where its motions were cut.

After figure 10 of gleicher2003: the distance of all frames to all frames (darker is nearer), its slice for one frame,
and the motions as lines with their match frames as ticks, all frames of a match set in one colour.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError
from gaitway.graphs.distance import distances
from gaitway.graphs.snap.hub_graph import HubGraph
from gaitway.render.raster.colors import from_oklch, to_hex
from gaitway.render.raster.labels import text_font, text_size
from gaitway.render.sheets.graph_drawing import BACKDROP, CARD, EDGE, FAINT, INK

_FINE = 2
"""Factor by which pictures are drawn larger and then reduced, to be smooth."""
_PAD, _PANEL, _TOP = 28, 430, 66
_ROW, _ROWS = 15, 34
"""Pixels a line of the schematic, and most lines of it."""
_DARK, _PALE = (38, 50, 64), (247, 247, 245)


@dataclass(frozen=True)
class _Area:
    """A part of the sheet [px]."""

    left: float
    top: float
    width: float
    height: float


def hub_colors(count: int) -> list[str]:
    """Return a colour for each hub, well apart."""
    return [to_hex(from_oklch(0.62, 0.15, (28.0 + 137.5 * k) % 360.0)) for k in range(count)]


def hub_picture(
    graph: HubGraph,
    *,
    title: str = "",
    frame: int | None = None,
    matrix: npt.NDArray[np.float32] | None = None,
    width: int = 1600,
) -> Image.Image:
    """Draw a hub graph.

    Args:
        graph: hubs and clips.
        title: words over it.
        frame: frame whose distances from all others are shown; None takes the seed of the first hub.
        matrix: distances of all frames (F, F) [m], if they are known.
        width: width of the picture [px], 1200 or more.

    Raises:
        GaitwayError: if the frame is none of the graph's, or the picture too narrow.
    """
    if width < 1200:
        raise GaitwayError(f"a picture of a hub graph {width} pixels wide; write 1200 or more")
    chosen = int(graph.hubs[0].matches.seed) if frame is None else frame
    if not 0 <= chosen < len(graph.motions):
        raise GaitwayError(f"frame {chosen} of motions with frames 0 to {len(graph.motions) - 1}")
    matrix = distances(graph.motions.clouds, graph.motions.clouds) if matrix is None else matrix
    lines = _lines(graph, width - 2 * _PAD - 10)
    height = _TOP + _PANEL + 70 + _ROW * (max(lines.values(), default=0) + 1) + _PAD
    sheet = Image.new("RGB", (width * _FINE, height * _FINE), BACKDROP)
    pen, colors = ImageDraw.Draw(sheet), hub_colors(len(graph.hubs))
    nodes = _Area(_PAD, _TOP, width - 2 * _PANEL - 4 * _PAD, _PANEL)
    image = _Area(nodes.left + nodes.width + _PAD, _TOP, _PANEL, _PANEL)
    curve = _Area(image.left + image.width + _PAD, _TOP, _PANEL, _PANEL)
    cut = _Area(_PAD, _TOP + _PANEL + 60, width - 2 * _PAD, height)
    _write(pen, (_PAD, 16), title, 20.0, INK)
    _draw_nodes(pen, nodes, graph, colors)
    _draw_matrix(sheet, pen, image, graph, matrix, chosen, colors)
    _draw_slice(pen, curve, graph, matrix[chosen], chosen, colors)
    _draw_motions(pen, cut, graph, lines, colors)
    return sheet.resize((width, height), Image.Resampling.LANCZOS)


def _write(
    pen: ImageDraw.ImageDraw, at: tuple[float, float], words: str, size: float, color: str, anchor: str = "la"
) -> None:
    place = (at[0] * _FINE, at[1] * _FINE)
    rim = 0 if color == CARD else 2 * _FINE  # sets words off from lines under them
    pen.text(place, words, color, text_font(size * _FINE), anchor, stroke_width=rim, stroke_fill=BACKDROP)


def _line(pen: ImageDraw.ImageDraw, points: FloatArray, color: str, width: float) -> None:
    pen.line([(float(x) * _FINE, float(y) * _FINE) for x, y in points], color, round(width * _FINE), joint="curve")


def _draw_nodes(pen: ImageDraw.ImageDraw, area: _Area, graph: HubGraph, colors: list[str]) -> None:
    """Draw hubs around a circle, with an arrow for the clips between two hubs and their number."""
    _write(pen, (area.left, area.top - 22), f"{len(graph.hubs)} hubs, {len(graph.clips)} clips", 14.0, FAINT)
    middle = np.array([area.left + 0.5 * area.width, area.top + 0.5 * area.height])
    count = len(graph.hubs)
    angles = np.pi + 2.0 * np.pi * np.arange(count) / max(count, 1)
    ring = 0.0 if count == 1 else 0.29 * min(area.width, area.height)
    places = middle + ring * np.column_stack([np.cos(angles), np.sin(angles)])
    radius = 26.0
    pairs: dict[tuple[int, int], int] = {}
    for edge in graph.clips:
        pairs[edge.start, edge.end] = pairs.get((edge.start, edge.end), 0) + 1
    for (start, end), clips in pairs.items():
        if start == end:
            way = (places[start] - middle) if count > 1 else np.array([0.0, -1.0])
            _draw_loop(pen, places[start], way / max(float(np.linalg.norm(way)), 1e-9), radius, clips)
        else:
            _draw_arrow(pen, places[start], places[end], radius, clips)
    dead = graph.dead_ends()
    for hub, (x, y) in enumerate(places):
        box = [(x - radius) * _FINE, (y - radius) * _FINE, (x + radius) * _FINE, (y + radius) * _FINE]
        pen.ellipse(box, fill=colors[hub], outline=INK if hub in dead else CARD, width=2 * _FINE)
        _write(pen, (x, y), str(len(graph.hubs[hub].matches)), 17.0, CARD, "mm")
        name = graph.hubs[hub].name + (" (dead end)" if hub in dead else "")
        below = (hub, hub) not in pairs or y < middle[1] + 0.5 * ring or count == 1  # a loop takes the room under it
        _write(pen, (x, y + (radius + 4 if below else -radius - 6)), name, 14.0, INK, "ma" if below else "md")


def _draw_arrow(pen: ImageDraw.ImageDraw, a: FloatArray, b: FloatArray, radius: float, clips: int) -> None:
    """Draw a bent arrow, so that the arrow back is seen beside it."""
    way = b - a
    length = float(np.linalg.norm(way))
    aside = np.array([-way[1], way[0]]) / length
    bend = 0.5 * (a + b) + 0.16 * length * aside
    t = np.linspace(0.0, 1.0, 60)[:, None]
    line = (1 - t) ** 2 * a + 2 * t * (1 - t) * bend + t**2 * b
    line = line[(np.linalg.norm(line - a, axis=1) > radius) & (np.linalg.norm(line - b, axis=1) > radius + 3.0)]
    _line(pen, line, EDGE, 1.2 + 0.5 * np.log2(clips + 1))
    _draw_head(pen, line[-1], line[-1] - line[-4])
    x, y = 0.5 * (0.5 * (a + b) + bend) + 12.0 * aside
    _write(pen, (x, y), str(clips), 14.0, INK, "mm")


def _draw_loop(pen: ImageDraw.ImageDraw, at: FloatArray, way: FloatArray, radius: float, clips: int) -> None:
    angles = np.linspace(0.0, 2.0 * np.pi, 60)
    size = 24.0
    centre = at + way * (radius + 0.75 * size)
    ring = centre + size * np.column_stack([np.cos(angles), np.sin(angles)])
    start = int(np.argmin(np.linalg.norm(ring - at, axis=1)))
    line = np.roll(ring[:-1], -start, axis=0)
    line = line[np.linalg.norm(line - at, axis=1) > radius + 2.0]
    _line(pen, line, EDGE, 1.2 + 0.5 * np.log2(clips + 1))
    _draw_head(pen, line[-1], line[-1] - line[-3])
    x, y = centre + way * (size + 13.0)
    _write(pen, (x, y), str(clips), 14.0, INK, "mm")


def _draw_head(pen: ImageDraw.ImageDraw, tip: FloatArray, way: FloatArray) -> None:
    along = way / max(float(np.linalg.norm(way)), 1e-9)
    aside = np.array([-along[1], along[0]])
    corners = [tip + 5.0 * along, tip - 5.0 * along + 5.5 * aside, tip - 5.0 * along - 5.5 * aside]
    pen.polygon([(float(x) * _FINE, float(y) * _FINE) for x, y in corners], fill=EDGE)


def _draw_matrix(
    sheet: Image.Image,
    pen: ImageDraw.ImageDraw,
    area: _Area,
    graph: HubGraph,
    matrix: npt.NDArray[np.float32],
    chosen: int,
    colors: list[str],
) -> None:
    """Draw distances of all frames to all frames, the least of each cell; match frames are ticks along the edge."""
    _write(pen, (area.left, area.top - 22), "distance of all frames, darker is nearer", 14.0, FAINT)
    cells = min(int(area.width) * _FINE, len(matrix))
    edges = np.linspace(0, len(matrix), cells + 1).astype(np.int64)[:-1]
    least = np.minimum.reduceat(np.minimum.reduceat(matrix, edges, axis=0), edges, axis=1)
    top = float(np.percentile(least[np.isfinite(least)], 90.0)) if np.isfinite(least).any() else 1.0
    share = np.sqrt(np.clip(least / max(top, 1e-6), 0.0, 1.0))[..., None]
    pixels = (1.0 - share) * np.array(_DARK) + share * np.array(_PALE)
    size = (round(area.width * _FINE), round(area.height * _FINE))
    picture = Image.fromarray(pixels.astype(np.uint8)).resize(size, Image.Resampling.BOX)
    sheet.paste(picture, (round(area.left * _FINE), round(area.top * _FINE)))
    scale = area.width / len(matrix)
    y = area.top + chosen * scale
    _line(pen, np.array([[area.left, y], [area.left + area.width, y]]), colors[0], 1.0)
    for hub, color in zip(graph.hubs, colors, strict=True):
        for frame in hub.matches.frames:
            x = area.left + float(frame) * scale
            _line(pen, np.array([[x, area.top + area.height], [x, area.top + area.height + 7]]), color, 1.2)


def _draw_slice(
    pen: ImageDraw.ImageDraw, area: _Area, graph: HubGraph, row: npt.NDArray[np.float32], chosen: int, colors: list[str]
) -> None:
    """Draw distances of one frame to all, with the match frames of every hub on the curve."""
    motion = int(np.searchsorted(graph.motions.starts, chosen, side="right")) - 1
    where = f"'{graph.motions.clips[motion].name}' {chosen - graph.motions.starts[motion]}"
    _write(pen, (area.left, area.top - 22), f"distance to frame {where} [cm]", 14.0, FAINT)
    finite = row[np.isfinite(row)]
    top = float(np.percentile(finite, 97.0)) if len(finite) else 1.0
    values = np.clip(np.where(np.isfinite(row), row, top) / max(top, 1e-6), 0.0, 1.0)
    x = area.left + area.width * np.arange(len(row)) / len(row)
    y = area.top + area.height * (1.0 - values)
    for k in range(5):
        level = area.top + area.height * (1.0 - k / 4.0)
        _line(pen, np.array([[area.left, level], [area.left + area.width, level]]), "#e2e3e4", 1.0)
        _write(pen, (area.left + area.width - 2, level - 2), f"{25.0 * k * top:.0f}", 11.0, FAINT, "rb")
    for start, stop in zip(graph.motions.starts[:-1], graph.motions.starts[1:], strict=True):
        if stop - start > 1:
            _line(pen, np.column_stack([x[start:stop], y[start:stop]]), EDGE, 1.0)
    for hub, color in zip(graph.hubs, colors, strict=True):
        for frame in hub.matches.frames:
            box = [x[frame] - 3.5, y[frame] - 3.5, x[frame] + 3.5, y[frame] + 3.5]
            pen.ellipse([float(v) * _FINE for v in box], fill=color)


def _lines(graph: HubGraph, width: float) -> dict[int, int]:
    """Return the line of the schematic on which each motion lies: motions follow one another and wrap like words."""
    scale, lines, used, line = _frame_width(graph, width), dict[int, int](), 0.0, 0
    for motion, clip in enumerate(graph.motions.clips):
        need = len(clip) * scale + 16.0
        if used > 0.0 and used + need > width:
            line, used = line + 1, 0.0
        lines[motion], used = line, used + need
    return lines


def _frame_width(graph: HubGraph, width: float) -> float:
    """Return the width of a frame [px], so that the longest motion fits and there are not too many lines."""
    longest = max(len(clip) for clip in graph.motions.clips)
    room = width * _ROWS * 0.8 / len(graph.motions)
    return float(min((width - 16.0) / longest, room, 4.0))


def _draw_motions(
    pen: ImageDraw.ImageDraw, area: _Area, graph: HubGraph, lines: dict[int, int], colors: list[str]
) -> None:
    """Draw motions as lines, clips of the graph as thick ones, match frames as ticks."""
    words = "motions, and where they were cut; thick: clips of the graph"
    _write(pen, (area.left, area.top - 26), words, 14.0, FAINT)
    x = area.left + text_size(words, 14.0)[0] + 30
    for hub, color in zip(graph.hubs, colors, strict=True):
        pen.rectangle([x * _FINE, (area.top - 23) * _FINE, (x + 10) * _FINE, (area.top - 13) * _FINE], fill=color)
        _write(pen, (x + 16, area.top - 26), hub.name, 14.0, INK)
        x += text_size(hub.name, 14.0)[0] + 42
    scale = _frame_width(graph, area.width - 10)
    left, last = area.left, -1
    marks = {int(f): color for hub, color in zip(graph.hubs, colors, strict=True) for f in hub.matches.frames}
    for motion, clip in enumerate(graph.motions.clips):
        if lines[motion] != last:
            left, last = area.left, lines[motion]
        y = area.top + _ROW * (lines[motion] + 0.5)
        _line(pen, np.array([[left, y], [left + len(clip) * scale, y]]), FAINT, 1.0)
        for edge in graph.clips:
            if edge.motion == motion:
                _line(pen, np.array([[left + edge.first * scale, y], [left + edge.last * scale, y]]), INK, 2.6)
        first = int(graph.motions.starts[motion])
        for frame in range(first, first + len(clip)):
            if frame in marks:
                at = left + (frame - first) * scale
                _line(pen, np.array([[at, y - 5.5], [at, y + 5.5]]), marks[frame], 2.4)
        left += len(clip) * scale + 16.0
