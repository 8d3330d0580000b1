"""Film strips: one row for each clip, its poses side by side in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import GaitwayError
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import floor_height
from gaitway.render.bodies.body import BodyShape
from gaitway.render.bodies.figures import Figure, render_frame
from gaitway.render.bodies.palette import Palette, study_palette
from gaitway.render.film.shot import bearing
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.labels import save_png
from gaitway.render.raster.picture import MAX_PIXELS, Lighting

_INK, _FAINT, _LEFT, _RIGHT = "#2f3338", "#8b8f94", "#c4623f", "#4f86b5"
_BACKDROP = "#f4f4f2"
_BELOW, _ABOVE = np.array([0.32, 0.14]), np.array([0.32, 0.24])
"""Room for flesh around the joints [m]: right and up."""


@dataclass(frozen=True, eq=False)
class _Row:
    """One clip's figures, placed for its picture."""

    clip: Clip
    frames: IntArray
    figures: list[Figure]
    low: FloatArray
    """Smallest right and up in the picture's own axes [m]; (2,)."""
    high: FloatArray
    slots: FloatArray
    """Position of each figure's root along the picture's right [m]."""


def filmstrip(
    clips: Clip | Sequence[Clip],
    path: str | Path | None = None,
    *,
    columns: int = 12,
    view: str | float = "side",
    frames: Sequence[int] | None = None,
    step: float | None = None,
    labels: bool | Sequence[str] = True,
    layout: str = "spaced",
    times: bool = True,
    row_height: int = 210,
    max_width: int = 3000,
    colors: Palette | None = None,
    body: BodyShape | None = None,
    samples: int = 8,
) -> Image.Image:
    """Draw clips as rows of poses, left to right in time. Left limbs are warm, right limbs cool.

    Args:
        clips: one clip, or one for each row; they may have different skeletons, lengths and rates.
        path: PNG file to write; None writes nothing.
        columns: most figures in a row, unless `frames` says which.
        view: "side", "front", "three-quarter", "back", "top", or the camera's bearing [rad] seen from the figure
            (0 is in front of it). Every clip is turned so that its first pose faces the right edge in a side view.
        frames: the frames to draw, of every clip; None spreads `columns` of them over each clip.
        step: seconds between figures, so that rows of a sheet can be compared; None spreads them.
        labels: write each clip's name, or these words, at the left.
        layout: "spaced" puts figures side by side whether they travel or not; "travel" leaves them where they are.
        times: write the time under each figure, and a bar for every foot on the ground where contacts are known.
        row_height: pixels for a standing person's row.
        max_width: pixels; wider sheets are drawn smaller.
        colors: palette of all figures; None is made for reading poses.
        body: recipe of the bodies; None makes them from the bones.
        samples: samples in each pixel: 1, 4, 8 or 16.

    Returns:
        The picture.
    """
    rows_of = [clips] if isinstance(clips, Clip) else list(clips)
    if not rows_of:
        raise GaitwayError("a film strip needs at least one clip")
    if layout not in ("spaced", "travel"):
        raise GaitwayError(f"film strip layout '{layout}'; write 'spaced' or 'travel'")
    words = _words(rows_of, labels)
    lighting = Lighting(
        grid=0.5 if layout == "travel" else 0.0,
        fade=2.5,
        reach=(1000.0, 0.4),
        backdrop=(_BACKDROP, _BACKDROP),
        light_azimuth=np.radians(-62.0),
    )
    camera = _camera(view)
    rows = [_row(clip, _chosen(clip, columns, frames, step), camera, view, layout, colors, body) for clip in rows_of]
    scale = _scale(rows, row_height, max_width, _label_width(words))
    sheet = _sheet(rows, words, camera, scale, lighting, samples, times)
    if path is not None:
        save_png(sheet, path)
    return sheet


def _words(clips: Sequence[Clip], labels: bool | Sequence[str]) -> list[str]:
    if labels is True:
        return [clip.name for clip in clips]
    if labels is False:
        return [""] * len(clips)
    if len(labels) != len(clips):
        raise GaitwayError(f"{len(labels)} labels for {len(clips)} clips; give one a clip, True or False")
    return [str(word) for word in labels]


def _camera(view: str | float) -> Camera:
    """Return the camera of all rows, which run along +X and are seen from -Y; `_row` turns the figures."""
    elevation = np.radians(90.0 if view == "top" else 7.0)
    return Camera.around([0.0, 0.0, 0.9], azimuth=-0.5 * np.pi, elevation=elevation, distance=50.0, span=2.0)


def _chosen(clip: Clip, columns: int, frames: Sequence[int] | None, step: float | None) -> IntArray:
    """Return frames of a row."""
    if columns < 1:
        raise GaitwayError(f"a film strip of {columns} columns; write 1 or more")
    if frames is not None:
        picked = np.asarray(frames, dtype=np.int64)
        picked = picked[(picked >= 0) & (picked < len(clip))]
        if len(picked) == 0:
            raise GaitwayError(f"none of the frames asked for is in clip '{clip.name}', which has {len(clip)}")
        return picked
    if step is not None:
        if not step > 0.0:
            raise GaitwayError(f"{step:g} seconds between figures; write more than 0")
        count = min(columns, int(clip.duration / step + 1e-9) + 1)
        return np.minimum(np.round(np.arange(count) * step * clip.fps).astype(np.int64), len(clip) - 1)
    count = min(columns, len(clip))
    return np.round(np.linspace(0.0, len(clip) - 1, count)).astype(np.int64)


def _row(
    clip: Clip,
    frames: IntArray,
    camera: Camera,
    view: str | float,
    layout: str,
    colors: Palette | None,
    body: BodyShape | None,
) -> _Row:
    """Turn the clip so that the camera at -Y has the wanted bearing at first, and place its figures."""
    places, turns = clip.joint_transforms()
    heading = clip.headings()[: max(1, int(0.1 * clip.fps))]
    turn = rotations.from_yaw(-0.5 * np.pi - bearing(view) - float(np.mean(heading)))
    start = np.array([*clip.root_positions[frames[0], :2], _ground(clip)])
    places = rotations.rotate(turn, places[frames] - start)
    turns = rotations.multiply(turn, turns[frames])
    axes = camera.axes
    if layout == "spaced":
        places = places - places[:, :1] * [1.0, 1.0, 0.0]
        across = places @ axes[0]
        low, high = across.min(axis=1), across.max(axis=1)
        # enough for the widest pose, and no pair of neighbours touches
        pitch = max(0.62, float(np.max(high[:-1] - low[1:], initial=0.0)) + 0.30)
        slots = pitch * np.arange(len(frames))
        places = places + slots[:, None, None] * axes[0]
    slots = places[:, 0] @ axes[0]
    seen = np.stack([places @ axes[0], places @ axes[1]], axis=-1).reshape(-1, 2)
    if abs(axes[1, 2]) > 0.5:  # a standing person's height is always in the picture
        seen = np.concatenate([seen, [[slots[0], 0.0], [slots[0], 1.75 * axes[1, 2]]]])
    fades = np.linspace(0.45, 0.0, len(frames)) if layout == "travel" else np.zeros(len(frames))
    figures = [
        Figure(clip.skeleton, places[i], turns[i], study_palette(float(fades[i])) if colors is None else colors, body)
        for i in range(len(frames))
    ]
    low, high = seen.min(axis=0) - _BELOW, seen.max(axis=0) + _ABOVE
    return _Row(clip, frames, figures, low, high, slots)


def _ground(clip: Clip) -> float:
    """Return the height of the lowest ground under the clip [m], so that captures do not float nor descents sink."""
    if clip.contacts is not None and clip.contacts.any():
        return float(clip.contact_positions()[..., 2][clip.contacts].min())
    return floor_height(clip) if clip.skeleton.contact_points else 0.0


def _scale(rows: Sequence[_Row], row_height: int, max_width: int, label_width: int) -> float:
    """Return pixels per metre, the same for all rows."""
    if row_height < 24:
        raise GaitwayError(f"rows of {row_height} pixels are too low to read; write 24 or more")
    widest = max(float(row.high[0] - row.low[0]) for row in rows)
    return min(row_height / 2.1, max(max_width - label_width, 100) / widest)


def _label_width(words: Sequence[str]) -> int:
    if not any(words):
        return 12
    font = ImageFont.load_default(15)
    return max(125, int(max(font.getlength(word) for word in words)) + 28)


def _sheet(
    rows: Sequence[_Row],
    words: Sequence[str],
    camera: Camera,
    scale: float,
    lighting: Lighting,
    samples: int,
    times: bool,
) -> Image.Image:
    """Draw every row and put them under one another."""
    left, foot = _label_width(words), 22 if times else 6
    sizes = [tuple(int(np.ceil(d * scale)) for d in row.high - row.low) for row in rows]
    width = left + max(w for w, _ in sizes)
    height = sum(h + foot for _, h in sizes)
    if width * height > MAX_PIXELS:
        raise GaitwayError(
            f"a film strip of {width} x {height} pixels is too large; draw fewer clips at a time or smaller rows"
        )
    sheet = Image.new("RGB", (width, height), _BACKDROP)
    pen = ImageDraw.Draw(sheet)
    top = 0
    for row, word, (_, h) in zip(rows, words, sizes, strict=True):
        sheet.paste(_row_picture(row, camera, (width - left, h), scale, lighting, samples), (left, top))
        _write_label(pen, row, word, top, h)
        if times:
            _write_times(pen, row, left, top + h, scale)
        pen.line([(0, top + h + foot - 1), (width, top + h + foot - 1)], fill="#dcdcd9")
        top += h + foot
    return sheet


def _row_picture(
    row: _Row, camera: Camera, size: tuple[int, int], scale: float, lighting: Lighting, samples: int
) -> Image.Image:
    """Draw one row; its left edge is the row's smallest right coordinate."""
    axes, span = camera.axes, size[1] / scale
    middle = np.array([row.low[0] + 0.5 * size[0] / scale, 0.5 * (row.low[1] + row.high[1])])
    depth = float(np.mean([f.positions[0] @ axes[2] for f in row.figures]))
    target = axes.T @ np.array([*middle, depth])
    placed = Camera(eye=target - 60.0 * axes[2], target=target, up=camera.up, span=span)
    return Image.fromarray(render_frame(row.figures, placed, size=size, lighting=lighting, samples=samples))


def _write_label(pen: ImageDraw.ImageDraw, row: _Row, word: str, top: int, height: int) -> None:
    if not word:
        return
    middle = top + height // 2
    pen.text((14, middle - 10), word, fill=_INK, font=ImageFont.load_default(15), anchor="lm")
    facts = f"{row.clip.duration:.2f} s, {len(row.clip)} frames"
    pen.text((14, middle + 9), facts, fill=_FAINT, font=ImageFont.load_default(11), anchor="lm")


def _write_times(pen: ImageDraw.ImageDraw, row: _Row, left: int, top: int, scale: float) -> None:
    """Write the time under each figure, between bars for feet on the ground: warm for left, cool for right."""
    font = ImageFont.load_default(11)
    names = [p.name for p in row.clip.skeleton.contact_points]
    previous = -1e9
    for frame, slot in zip(row.frames, row.slots, strict=True):
        x = left + (slot - row.low[0]) * scale
        if x - previous < 34:
            continue
        previous = x
        pen.text((x, top + 11), f"{frame / row.clip.fps:.2f}", fill=_FAINT, font=font, anchor="mm")
        if row.clip.contacts is None:
            continue
        for side, color, at in (("left", _LEFT, x - 27), ("right", _RIGHT, x + 17)):
            columns = [i for i, name in enumerate(names) if name.startswith(side)]
            if row.clip.contacts[frame, columns].any():
                pen.rectangle([at, top + 9, at + 10, top + 13], fill=color)
