"""Clips prepared for the camera: one time line, characters side by side, cameras that see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError
from gaitway.motion.clip import Clip
from gaitway.motion.editing import place, resample
from gaitway.render.bodies.body import BodyShape, built_in_palette
from gaitway.render.bodies.figures import Figure, render_frame
from gaitway.render.bodies.palette import Palette
from gaitway.render.film.cameras import orbit_cameras
from gaitway.render.film.encoder import Picture
from gaitway.render.film.shot import MOST_LABELS, Shot, bearing, name_label, trail_color
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.drawables import Label, Trail

HIGHEST_RATE = 60.0
"""Highest frame rate of a film of clips [Hz]; clips with more frames are thinned out."""
_FLESH = 0.25
"""Distance that a body may reach beyond its joints [m]."""
_ELEVATION = np.radians(14.0)
"""Usual angle of the camera above the horizon [rad]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ClipStage:
    """Figures over time: world joints of every clip at one rate."""

    clips: tuple[Clip, ...]
    positions: tuple[FloatArray, ...]
    """World positions of the joints [m]; one (F, J, 3) for each clip."""
    rotations: tuple[FloatArray, ...]
    """World rotations of the joints; one (F, J, 4) for each clip."""
    colors: tuple[Palette, ...]
    bodies: tuple[BodyShape | None, ...]
    fps: float
    """Frames a second [Hz]."""

    def __len__(self) -> int:
        return max(len(p) for p in self.positions)

    def frame_at(self, time: float) -> int:
        """Return the frame at a time [s]; the last one after the end."""
        if not (np.isfinite(time) and time >= 0.0):
            raise GaitwayError(f"time {time} s; write 0 or more")
        return min(round(time * self.fps), len(self) - 1)

    def draw(
        self,
        frame: int,
        camera: Camera,
        shot: Shot,
        size: tuple[int, int],
        samples: int,
        *,
        whole_paths: bool = False,
    ) -> Picture:
        """Draw one frame.

        Args:
            frame: number of the frame.
            camera: the point of view.
            shot: settings of the picture, except for the camera and the size.
            size: width and height [px].
            samples: samples in each pixel, unless the shot has its own.
            whole_paths: whether endless trails show whole clips rather than the path so far.
        """
        end = len(self) if whole_paths and np.isinf(shot.trail_seconds) else frame
        return render_frame(
            self.figures(frame),
            camera,
            size=size,
            obstacles=shot.obstacles,
            paint=[*shot.paint, *self.trails(end, shot.trail_seconds)],
            labels=[*shot.notes, *self.labels(frame, shot.names())],
            lighting=shot.lighting,
            samples=samples if shot.samples is None else shot.samples,
        )

    def figures(self, frame: int) -> list[Figure]:
        """Return all figures at one frame; a clip that has ended holds its last pose."""
        rows = zip(self.clips, self.positions, self.rotations, self.colors, self.bodies, strict=True)
        return [
            Figure(clip.skeleton, p[min(frame, len(p) - 1)], q[min(frame, len(p) - 1)], color, body)
            for clip, p, q, color, body in rows
        ]

    def trails(self, frame: int, seconds: float) -> list[Trail]:
        """Return ribbons along the paths of the last seconds before a frame."""
        if not seconds > 0.0:
            return []
        first = 0 if np.isinf(seconds) else max(frame - round(seconds * self.fps), 0)
        return [
            Trail(p[first : frame + 1, 0, :2], color=trail_color(c[0]))
            for p, c in zip(self.positions, self.colors, strict=True)
        ]

    def labels(self, frame: int, names: Sequence[str] | None) -> list[Label]:
        """Return names over heads: these, or all unless they are too many to read."""
        chosen = range(len(self.clips)) if names is None else [self.index(name) for name in names]
        if names is None and len(self.clips) > MOST_LABELS:
            return []
        held = ((self.clips[i].name, self.positions[i]) for i in chosen)
        return [name_label(name, p[min(frame, len(p) - 1)]) for name, p in held]

    def index(self, name: str) -> int:
        """Return the number of the first clip of a name."""
        names = [clip.name for clip in self.clips]
        if name not in names:
            raise GaitwayError(f"no clip is called '{name}'; the clips are {', '.join(names)}")
        return names.index(name)

    def cameras(self, shot: Shot, size: tuple[int, int], frames: Sequence[int] | None = None) -> list[Camera]:
        """Return the cameras of a shot.

        Args:
            shot: settings of the picture.
            size: width and height of a picture [px].
            frames: the frames of a still; None gives one camera for each frame of a film.
        """
        count = len(self) if frames is None else len(frames)
        if isinstance(shot.camera, Camera):
            return [shot.camera] * count
        view = "three-quarter" if shot.view is None else shot.view
        near = look_from("top" if shot.camera == "top" else view, shot.elevation)
        if shot.camera == "orbit":
            cloud = np.concatenate([_hull(p) for p in self._tracks(shot.who)])
            times = [f / self.fps for f in (range(len(self)) if frames is None else frames)]
            azimuth, elevation = float(np.arctan2(near.eye[1], near.eye[0])), shot.elevation or 2.0 * _ELEVATION
            return orbit_cameras(cloud.min(axis=0), cloud.max(axis=0), times, size, azimuth, elevation)
        if shot.camera in ("overview", "top"):
            return [self._seeing(near, range(len(self)), shot.who, size)] * count
        if frames is not None:
            return [self._seeing(near, frames, shot.who, size)] * count
        return self._following(near, shot.who, size)

    def _tracks(self, who: Sequence[str] | None) -> list[FloatArray]:
        return list(self.positions) if who is None else [self.positions[self.index(name)] for name in who]

    def _seeing(self, near: Camera, frames: Sequence[int], who: Sequence[str] | None, size: tuple[int, int]) -> Camera:
        """Return a camera that sees all characters in all these frames."""
        cloud = np.concatenate([_hull(p[np.minimum(frames, len(p) - 1)]) for p in self._tracks(who)])
        return near.fit(cloud, size, margin=0.04)

    def _following(self, near: Camera, who: Sequence[str] | None, size: tuple[int, int]) -> list[Camera]:
        """Return one camera for each frame; it moves smoothly with the middle of the group and sees all of it."""
        held = [p[np.minimum(np.arange(len(self)), len(p) - 1)] for p in self._tracks(who)]
        middles = np.mean([p[:, 0] for p in held], axis=0)
        middles[:, 2] = 0.0
        track = scipy.ndimage.gaussian_filter1d(middles, 0.4 * self.fps, axis=0, mode="nearest")
        near = near.fit(np.concatenate([_hull(p - track[:, None]) for p in held]), size, margin=0.04)
        return [
            Camera(eye=near.eye + at, target=near.target + at, up=near.up, field=near.field, span=near.span)
            for at in track
        ]


def set_stage(
    clips: Clip | Sequence[Clip],
    *,
    arrange: str = "row",
    fps: float | None = None,
    gap: float = 1.2,
    colors: Sequence[Palette] | Palette | None = None,
    body: BodyShape | None = None,
    side_tint: float = 0.35,
) -> ClipStage:
    """Put clips on one stage and one time line.

    Args:
        clips: one clip or more.
        arrange: "row" starts all characters side by side, facing +X; "placed" leaves clips where they are.
        fps: frames a second [Hz]; None takes the highest rate among the clips, at most 60.
        gap: distance between neighbours in a row [m].
        colors: one palette for all, or one each; None draws a different one for each.
        body: recipe of the bodies; None makes them from the bones.
        side_tint: 0..1, how warm left limbs and how cool right limbs are coloured if colours are drawn.
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
    return ClipStage(
        clips=tuple(actors),
        positions=tuple(p for p, _ in moved),
        rotations=tuple(q for _, q in moved),
        colors=tuple(palettes),
        bodies=(body,) * len(actors),
        fps=rate,
    )


def film_rate(clips: Sequence[Clip]) -> float:
    """Return the highest rate among clips [Hz], halved until it is at most 60."""
    rate = max(clip.fps for clip in clips)
    while rate > HIGHEST_RATE + 1e-6:
        rate /= 2.0
    return rate


def look_from(view: str | float, elevation: float | None = None) -> Camera:
    """Return a perspective camera with this bearing and elevation [rad]; "top" looks straight down."""
    usual = _ELEVATION if elevation is None else elevation
    height = 0.5 * np.pi if view == "top" else usual
    return Camera.around(np.zeros(3), azimuth=bearing(view), elevation=height, field=np.radians(28.0))


def _hull(points: FloatArray) -> FloatArray:
    """Return the corners of a box around joints (..., 3), the flesh on them and the floor below; (8, 3)."""
    flat = points.reshape(-1, 3)
    low, high = flat.min(axis=0) - _FLESH, flat.max(axis=0) + _FLESH
    low[2] = min(low[2] + _FLESH, 0.0)
    corners = np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    return corners
