"""A take prepared for the camera: figures at a time, their colours, trails and names, and cameras."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray
from gaitway.render.bodies.body import BodyShape, built_in_palette, individual_shape
from gaitway.render.bodies.figures import Figure, render_frame
from gaitway.render.bodies.palette import Palette
from gaitway.render.film.encoder import Picture
from gaitway.render.film.scenery import Scenery, split_trails
from gaitway.render.film.shot import MOST_LABELS, Shot, bearing, name_label, trail_color
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.drawables import Label, Paint, Solid
from gaitway.render.raster.picture import Lighting, checked_size
from gaitway.take.model import Take
from gaitway.world.world import World

_TRAIL_RATE = 12.0
"""Rate at which the tracks of roots are sampled [Hz]."""
_MARGIN = 2.0
"""Width of the floor around a take without a world [m]."""
_HIGH = 2.1
"""Height of the box that a camera keeps in the picture: more than a standing person [m]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TakeStage:
    """A take in its world, with all that its pictures share."""

    take: Take
    scenery: Scenery
    lighting: Lighting
    palettes: tuple[Palette, ...]
    """Colours of each character. They depend on its number alone, so they are the same in every picture."""
    bodies: tuple[BodyShape | None, ...]
    """Build and clothes of each character."""
    track_times: FloatArray
    """Times of `tracks` [s]; (T,)."""
    tracks: FloatArray
    """x and y of each root at those times [m], NaN where it is not present; (C, T, 2)."""
    in_world: bool
    """Whether the take has a world."""

    @staticmethod
    def of(
        take: Take, world: World | None = None, cutaway: float | None = None, lighting: Lighting | None = None
    ) -> TakeStage:
        """Prepare a take.

        Args:
            take: the take.
            world: world of the take; None is an empty floor around all paths.
            cutaway: height above the ground at which obstacles are cut off [m]; None cuts nothing.
            lighting: light, floor and backdrop; None takes what suits the world.
        """
        count = max(2, int(np.ceil(take.duration * _TRAIL_RATE)) + 1)
        times = np.linspace(0.0, max(take.duration, 1e-3), count)
        tracks = take.planar(times)[..., :2]
        scenery = Scenery(World(_around(tracks)), cutaway, (), ()) if world is None else Scenery.of(world, cutaway)
        palettes = tuple(built_in_palette(take.skeletons[body], i) for i, body in enumerate(take.bodies))
        bodies = tuple(individual_shape(take.skeletons[body], i) for i, body in enumerate(take.bodies))
        return TakeStage(
            take=take,
            scenery=scenery,
            lighting=scenery.lighting(lighting),
            palettes=palettes,
            bodies=bodies,
            track_times=times,
            tracks=tracks,
            in_world=world is not None,
        )

    def draw(self, time: float, camera: Camera, shot: Shot, size: tuple[int, int], samples: int) -> Picture:
        """Draw one moment [s]."""
        ribbons, paint = self.trails(time, shot.trail_seconds)
        return render_frame(
            self.figures(time),
            camera,
            size=size,
            obstacles=[*self.scenery.solids(time), *ribbons, *shot.obstacles],
            paint=[*self.scenery.paint, *shot.paint, *paint],
            labels=[*shot.notes, *self.labels(time, shot.names())],
            lighting=self.lighting,
            samples=samples if shot.samples is None else shot.samples,
        )

    def figures(self, time: float) -> list[Figure]:
        """Return the figures of all characters that are present at a time [s]."""
        out = []
        for group in self.take.joints(time):
            for row, character in enumerate(group.characters):
                pose = (group.positions[row], group.rotations[row])
                out.append(Figure(group.skeleton, *pose, self.palettes[character], self.bodies[character]))
        return out

    def trails(self, time: float, seconds: float) -> tuple[list[Solid], list[Paint]]:
        """Return the paths of the last seconds before a time [s]: ribbons on hills, paint on a floor."""
        if not seconds > 0.0:
            return [], []
        past = (self.track_times <= time) & (self.track_times >= time - seconds)
        trails = []
        for track, palette in zip(self.tracks[:, past], self.palettes, strict=True):
            path = track[np.isfinite(track[:, 0])]
            if len(path) > 1:
                trails.append(self.scenery.on_ground(path, 0.07, trail_color(palette[0]), 0.7))
        return split_trails(trails)

    def labels(self, time: float, names: Sequence[str] | None = None) -> list[Label]:
        """Return names over heads.

        Args:
            time: the moment [s].
            names: the characters; None is all, unless they are too many to read.
        """
        chosen = None if names is None else {self.take.index(name) for name in names}
        out = []
        for group in self.take.joints(time):
            for row, character in enumerate(group.characters):
                if chosen is None or int(character) in chosen:
                    out.append(name_label(self.take.names[character], group.positions[row]))
        return out if len(out) <= MOST_LABELS or chosen is not None else []

    def cameras(self, shot: Shot, times: Sequence[float], size: tuple[int, int]) -> list[Camera]:
        """Return one camera for each moment [s] of a shot, for pictures of a size [px]."""
        checked_size(size)
        if isinstance(shot.camera, Camera):
            return [shot.camera] * len(times)
        azimuth = None if shot.view is None else bearing(shot.view)
        elevation = 0.5 * np.pi if shot.view == "top" else shot.elevation
        if (shot.camera or ("overview" if self.in_world else "follow")) == "overview":
            return [self.scenery.overview(size, azimuth, elevation)] * len(times)
        return self._following(times, size, shot.who, azimuth, elevation)

    def _following(
        self,
        times: Sequence[float],
        size: tuple[int, int],
        who: Sequence[str] | None,
        azimuth: float | None,
        elevation: float | None,
    ) -> list[Camera]:
        """Return cameras that move smoothly with some characters and keep them in the picture."""
        chosen = [self.take.index(name) for name in who] if who is not None else list(range(len(self.take)))
        middles, reach = _middles(self.tracks[chosen])
        step = float(self.track_times[1] - self.track_times[0])
        smooth = scipy.ndimage.gaussian_filter1d(middles, 0.7 / step, axis=0, mode="nearest")
        track = np.stack([np.interp(times, self.track_times, smooth[:, k]) for k in range(2)], axis=1)
        ground = self.scenery.world.ground(track)
        half = min(reach, 0.5 * float(np.ptp(np.reshape(self.scenery.world.bounds, (2, 2)), axis=0).max())) + 1.2
        box = np.array([(x, y, z) for x in (-half, half) for y in (-half, half) for z in (0.0, _HIGH)])
        steep = np.radians(18.0) + min(0.02 * half, np.radians(22.0))
        near = Camera.around(
            np.zeros(3),
            azimuth=np.radians(-65.0) if azimuth is None else azimuth,
            elevation=steep if elevation is None else elevation,
            field=np.radians(30.0),
        )
        near = near.fit(box, size, margin=0.02)
        places = np.column_stack([track, ground])
        return [Camera(near.eye + at, near.target + at, near.up, near.field) for at in places]


def _middles(tracks: FloatArray) -> tuple[FloatArray, float]:
    """Return the mean position of all present roots [m] (T, 2), and the 0.9 quantile of their distance from it [m]."""
    present = np.isfinite(tracks[..., 0])
    count = present.sum(axis=0)
    total = np.where(present[..., None], tracks, 0.0).sum(axis=0)
    middles = total / np.maximum(count, 1)[:, None]
    known = np.flatnonzero(count)
    if len(known):
        steps = np.arange(len(count))
        middles = np.stack([np.interp(steps, known, middles[known, k]) for k in range(2)], axis=1)
    away = np.linalg.norm(tracks - middles, axis=-1)[present]
    return middles, float(np.quantile(away, 0.9)) if len(away) else 1.0


def _around(tracks: FloatArray) -> tuple[float, float, float, float]:
    """Return bounds around all paths with a margin [m]."""
    flat = tracks.reshape(-1, 2)
    flat = flat[np.isfinite(flat[:, 0])]
    if len(flat) == 0:
        flat = np.zeros((1, 2))
    low, high = flat.min(axis=0) - _MARGIN, flat.max(axis=0) + _MARGIN
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])
