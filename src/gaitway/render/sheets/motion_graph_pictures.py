"""Pictures of motion graphs: error functions with their minima, walks along paths, poses across transitions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError
from gaitway.graphs.kovar.following import FollowedPath
from gaitway.graphs.kovar.walks import Walk
from gaitway.graphs.minima import Minima
from gaitway.motion.clip import Clip
from gaitway.motion.editing import slice_frames, with_name
from gaitway.render.raster.colors import from_oklch, to_hex
from gaitway.render.raster.labels import text_font, text_size
from gaitway.render.sheets.strips import filmstrip

PAPER, INK, FAINT, ROAD, WRONG = "#ffffff", "#2f3338", "#7d848c", "#f0d264", "#c4623f"
_FINE = 3
"""Factor by which lines are drawn larger and then reduced, to be smooth."""
_MARGIN, _TOP, _WORDS = 46, 64, 15.0


def error_picture(
    matrix: npt.NDArray[np.float32],
    minima: Minima,
    below: float,
    *,
    title: str,
    names: tuple[str, str],
    width: int = 900,
) -> Image.Image:
    """Draw an error function: white where frames are alike, black where not, with its local minima (figure 3).

    Args:
        matrix: distances [m], frames of the first motion down and of the second across; (A, B).
        minima: local minima of the matrix.
        below: minima under this are transitions, and drawn full [m].
        title: title over the picture.
        names: names of both motions.
        width: width of the matrix in the picture [px].

    Raises:
        GaitwayError: if no frame can be compared.
    """
    known = matrix[np.isfinite(matrix)]
    if not len(known):
        raise GaitwayError("an error function without numbers cannot be drawn")
    low, high = float(known.min()), float(np.percentile(known, 99.0))
    shade = np.clip((matrix - low) / max(high - low, 1e-9), 0.0, 1.0)
    grey = np.where(np.isfinite(matrix), 255.0 * (1.0 - shade), 235.0).astype(np.uint8)
    scale = width / matrix.shape[1]
    size = width, max(round(matrix.shape[0] * scale), 1)
    picture = Image.fromarray(grey).resize(size, Image.Resampling.BILINEAR).convert("RGB")
    sheet = Image.new("RGB", (width + 2 * _MARGIN, size[1] + _TOP + 2 * _MARGIN), PAPER)
    sheet.paste(picture, (_MARGIN, _TOP))
    big = sheet.resize((sheet.width * 2, sheet.height * 2), Image.Resampling.NEAREST)
    pen = ImageDraw.Draw(big)
    for row, column, distance in zip(minima.rows, minima.columns, minima.distances, strict=True):
        x, y = 2 * (_MARGIN + (column + 0.5) * scale), 2 * (_TOP + (row + 0.5) * scale)
        if distance < below:
            pen.ellipse([x - 9, y - 9, x + 9, y + 9], fill=WRONG, outline=PAPER, width=2)
        else:
            pen.ellipse([x - 6, y - 6, x + 6, y + 6], outline="#4f86b5", width=3)
    sheet = big.reduce(2)
    pen = ImageDraw.Draw(sheet)
    pen.text((_MARGIN, 12), title, INK, text_font(20.0))
    under = int((minima.distances < below).sum())
    shades = f"white {100 * low:.1f} cm, black {100 * high:.0f} cm"
    words = f"{shades}; {under} of {len(minima)} minima under {100 * below:.1f} cm"
    pen.text((_MARGIN, 40), words, FAINT, text_font(_WORDS))
    pen.text((_MARGIN, _TOP + size[1] + 8), f"across: {names[1]}; down: {names[0]}", FAINT, text_font(_WORDS))
    return sheet


def path_picture(followed: FollowedPath, *, title: str, width: int = 1000) -> Image.Image:
    """Draw a path and the walk along it: parts in their colours, transitions as dots, changes as bars."""
    path, places = followed.path.points, followed.walk.places
    every = np.concatenate([path, places])
    low, high = every.min(axis=0) - 0.4, every.max(axis=0) + 0.4
    scale = (width - 2 * _MARGIN) / max(float((high - low)[0]), 0.6 * float((high - low)[1]))
    size = width, _TOP + _MARGIN + round(float((high - low)[1]) * scale)
    image = Image.new("RGB", (size[0] * _FINE, size[1] * _FINE), PAPER)
    pen = ImageDraw.Draw(image)

    def at(points: FloatArray) -> list[tuple[float, float]]:
        x = _MARGIN + (points[:, 0] - low[0]) * scale
        y = _TOP + (high[1] - points[:, 1]) * scale
        return [(float(u) * _FINE, float(v) * _FINE) for u, v in zip(x, y, strict=True)]

    half = max(0.11 * scale, 1.5) * _FINE
    for x, y in at(path):
        pen.ellipse([x - half, y - half, x + half, y + half], fill=ROAD)
    colors, firsts = part_colors(len(followed.parts)), followed.walk.firsts
    for edge, part in enumerate(followed.part_of.tolist()):
        piece = places[max(firsts[edge] - 1, 0) : firsts[edge + 1]]
        if len(piece) > 1:
            pen.line(at(piece), fill=colors[part], width=3 * _FINE, joint="curve")
    for x, y in at(places[followed.walk.transitions]):
        pen.ellipse([x - 2.6 * _FINE, y - 2.6 * _FINE, x + 2.6 * _FINE, y + 2.6 * _FINE], fill=INK)
    for part in followed.parts[:-1]:
        ends = at(np.atleast_2d(followed.path.at(part.until)))[0]
        pen.ellipse([v + d * 8 * _FINE for v, d in zip(ends * 2, (-1, -1, 1, 1), strict=True)], outline=WRONG, width=6)
    out = image.reduce(_FINE)
    _legend(ImageDraw.Draw(out), followed, title, colors)
    return out


def part_colors(count: int) -> list[str]:
    """Return colours of the parts of a path."""
    return [to_hex(from_oklch(0.50, 0.14, (255.0 + 137.5 * k) % 360.0)) for k in range(count)]


def _legend(pen: ImageDraw.ImageDraw, followed: FollowedPath, title: str, colors: Sequence[str]) -> None:
    walk = followed.walk
    pen.text((_MARGIN, 10), title, INK, text_font(20.0))
    x = float(_MARGIN)
    for part, color in zip(followed.parts, colors, strict=True):
        words = " + ".join(part.labels) or "any motion"
        pen.rectangle([x, 46, x + 18, 52], fill=color)
        pen.text((x + 24, 40), words, INK, text_font(_WORDS))
        x += 40 + text_size(words, _WORDS)[0]
    words = (
        f"{followed.path.length:.1f} m, {walk.duration:.1f} s found in {followed.seconds:.2f} s; "
        f"{100 * followed.error:.1f} cm off; {len(walk.transitions)} transitions"
    )
    pen.text((x + 10, 40), words, FAINT, text_font(_WORDS))


def transition_strips(
    walk: Walk, clip: Clip, which: Sequence[int], *, around: int = 6, columns: int = 12
) -> Image.Image:
    """Draw poses across transitions of a walk, one row each.

    Args:
        walk: edges of the graph.
        clip: motion of the walk.
        which: numbers of transitions, as they come in the walk.
        around: frames before and after each.
        columns: poses in a row.

    Raises:
        GaitwayError: if the walk has no such transition.
    """
    starts, window = walk.transitions, walk.graph.transitions.window
    if not which or max(which) >= len(starts):
        raise GaitwayError(f"no such transitions; the walk has {len(starts)}")
    rows = []
    for number in which:
        first = max(int(starts[number]) - around, 0)
        stop = min(int(starts[number]) + window + around, len(clip))
        edge = int(walk.edges[np.searchsorted(walk.firsts, starts[number], side="right") - 1])
        row = int(walk.graph.edges.transition[edge])
        distance = 100 * float(walk.graph.transitions.distances[row])
        rows.append(with_name(slice_frames(clip, first, stop), f"{first / clip.fps:.1f} s, {distance:.1f} cm"))
    return filmstrip(rows, columns=columns)
