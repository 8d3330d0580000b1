"""Clips set up for the camera: one time line, places side by side, a camera that goes along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError
from gaitway.motion.clip import Clip
from gaitway.motion.editing import place, resample
from gaitway.render.bodies.body import BodyShape
from gaitway.render.bodies.cast_bodies import built_in_palette
from gaitway.render.bodies.palette import Palette
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.things import Figure, Trail

VIEWS = {"side": -90.0, "front": 0.0, "three-quarter": -45.0, "back": 180.0, "top": -90.0}
"""Bearing of the camera [deg] seen from a figure that faces +X."""
HIGHEST_RATE = 60.0
"""Films of clips with more frames a second than this take every so many only."""
_FLESH = 0.25
"""How far a body may reach beyond its joints [m]."""


@dataclass(frozen=True, eq=False)
class Stage:
    """Figures over time: world joints of every clip at one rate."""

    clips: tuple[Clip, ...]
    positions: tuple[FloatArray, ...]
    """One (F, J, 3) a clip [m]."""
    rotations: tuple[FloatArray, ...]
    """One (F, J, 4) a clip."""
    colors: tuple[Palette, ...]
    bodies: tuple[BodyShape | None, ...]
    fps: float

    def __len__(self) -> int:
        return max(len(p) for p in self.positions)

    def figures(self, frame: int) -> list[Figure]:
        """Everybody at one frame; a clip that is over holds its last pose."""
        rows = zip(self.clips, self.positions, self.rotations, self.colors, self.bodies, strict=True)
        return [
            Figure(clip.skeleton, p[min(frame, len(p) - 1)], q[min(frame, len(p) - 1)], color, body)
            for clip, p, q, color, body in rows
        ]

    def trails(self, frame: int | None = None) -> list[Trail]:
        """Ribbons along the paths so far; of the whole clips if `frame` is None."""
        return [
            Trail(p[: len(p) if frame is None else frame + 1, 0, :2], color=_trail_color(c))
            for p, c in zip(self.positions, self.colors, strict=True)
        ]

    def middle(self, frame: int) -> FloatArray:
        """Mean place of all roots at one frame [m]; (3,)."""
        middle: FloatArray = np.mean([p[min(frame, len(p) - 1), 0] for p in self.positions], axis=0)
        return middle


def bearing(view: str | float) -> float:
    """The camera's bearing [rad] of a named view, or the number itself.

    Raises:
        GaitwayError: for a name that is not known.
    """
    if isinstance(view, str):
        if view not in VIEWS:
            raise GaitwayError(f"view '{view}' is not known; write {', '.join(VIEWS)} or a bearing in radians")
        return float(np.radians(VIEWS[view]))
    return float(view)


def set_stage(
    clips: Clip | Sequence[Clip],
    *,
    arrange: str = "row",
    fps: float | None = None,
    gap: float = 1.2,
    colors: Sequence[Palette] | Palette | None = None,
    body: BodyShape | None = None,
    side_tint: float = 0.35,
) -> Stage:
    """Put clips on one stage and one time line.

    Args:
        clips: one or more.
        arrange: "row" starts everybody facing +X, side by side; "placed" leaves clips where they are.
        fps: frames a second; None takes the highest rate among the clips, at most 60.
        gap: metres between neighbours in a row.
        colors: one palette for all, or one each; None draws a different one for each.
        body: recipe of the bodies; None makes them from the bones.
        side_tint: 0..1, how far left limbs turn warm and right limbs cool where colours are drawn.
    """
    actors = [clips] if isinstance(clips, Clip) else list(clips)
    if not actors:
        raise GaitwayError("nothing to show: give at least one clip")
    if arrange not in ("row", "placed"):
        raise GaitwayError(f"arrangement '{arrange}' is not known; write 'row' or 'placed'")
    rate = film_rate(actors) if fps is None else float(fps)
    actors = [resample(clip, rate) for clip in actors]
    if arrange == "row":
        middle = 0.5 * (len(actors) - 1)
        actors = [place(clip, (0.0, gap * (middle - i), 0.0)) for i, clip in enumerate(actors)]
    moved = [clip.joint_transforms() for clip in actors]
    if colors is None:
        palettes = [built_in_palette(clip.skeleton, i, side_tint) for i, clip in enumerate(actors)]
    else:
        palettes = [colors] * len(actors) if isinstance(colors, np.ndarray) else list(colors)
    if len(palettes) != len(actors):
        raise GaitwayError(f"{len(palettes)} palettes for {len(actors)} clips; give one for all or one each")
    return Stage(
        clips=tuple(actors),
        positions=tuple(p for p, _ in moved),
        rotations=tuple(q for _, q in moved),
        colors=tuple(palettes),
        bodies=(body,) * len(actors),
        fps=rate,
    )


def film_rate(clips: Sequence[Clip]) -> float:
    """The highest rate among clips, halved until it is at most 60 Hz."""
    rate = max(clip.fps for clip in clips)
    while rate > HIGHEST_RATE + 1e-6:
        rate /= 2.0
    return rate


def still_camera(
    stage: Stage, frames: Sequence[int], view: str | float, elevation: float, size: tuple[int, int]
) -> Camera:
    """A camera that sees everybody in all these frames."""
    cloud = np.concatenate([_hull(p[np.minimum(frames, len(p) - 1)]) for p in stage.positions])
    return look_from(view, elevation).fit(cloud, size, margin=0.04)


def look_from(view: str | float, elevation: float) -> Camera:
    """A perspective camera with this bearing and elevation [rad]; "top" looks straight down."""
    height = 0.5 * np.pi if view == "top" else elevation
    return Camera.around(np.zeros(3), azimuth=bearing(view), elevation=height, field=np.radians(28.0))


def following_cameras(stage: Stage, view: str | float, elevation: float, size: tuple[int, int]) -> list[Camera]:
    """One camera a frame, that goes smoothly along with the middle of the group and keeps everybody in the picture."""
    middles = np.array([stage.middle(f) for f in range(len(stage))])
    middles[:, 2] = 0.0
    track = scipy.ndimage.gaussian_filter1d(middles, 0.4 * stage.fps, axis=0, mode="nearest")
    cloud = []
    for p in stage.positions:
        held = p[np.minimum(np.arange(len(stage)), len(p) - 1)]
        cloud.append(_hull(held - track[:, None]))
    near = look_from(view, elevation).fit(np.concatenate(cloud), size, margin=0.04)
    return [
        Camera(eye=near.eye + at, target=near.target + at, up=near.up, field=near.field, span=near.span) for at in track
    ]


def _hull(points: FloatArray) -> FloatArray:
    """Corners of a box around joints (..., 3) and the flesh on them, and of the floor under it; (16, 3)."""
    flat = points.reshape(-1, 3)
    low, high = flat.min(axis=0) - _FLESH, flat.max(axis=0) + _FLESH
    low[2] = min(low[2] + _FLESH, 0.0)
    corners = np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    return corners


def _trail_color(colors: Palette) -> tuple[float, float, float]:
    """The shirt's colour, a little deeper."""
    r, g, b = (float(c) for c in 0.8 * colors[0])
    return r, g, b
