"""A take set up for the camera: who stands where at a time, in which colours, and cameras that go along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray
from gaitway.render.bodies.body import BodyShape
from gaitway.render.bodies.cast_bodies import built_in_palette, individual_shape
from gaitway.render.bodies.palette import Palette
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.picture import Studio
from gaitway.render.raster.place import Place, split_trails
from gaitway.render.raster.things import Figure, Label, Paint, Solid
from gaitway.take.model import Take
from gaitway.world.world import World

_TRAIL_RATE = 12.0
"""Points of a trail in a second."""
_MARGIN = 2.0
"""Metres of floor around a take without a world."""
_HIGH = 2.1
"""Height of a standing person with room to spare [m]."""
_MOST_LABELS = 60


@dataclass(frozen=True, eq=False)
class TakeStage:
    """A take in its place."""

    take: Take
    place: Place
    studio: Studio
    palettes: tuple[Palette, ...]
    """Colours of each character, by its number, so that they are the same in every picture."""
    bodies: tuple[BodyShape | None, ...]
    """Build and clothes of each character, likewise."""
    track_times: FloatArray
    """When `tracks` were looked at [s]; (T,)."""
    tracks: FloatArray
    """x and y of each root at those times [m], NaN where it is not present; (C, T, 2)."""

    @staticmethod
    def of(
        take: Take, world: World | None = None, cutaway: float | None = None, studio: Studio | None = None
    ) -> TakeStage:
        """Prepare a take.

        Args:
            take: what happens.
            world: where; None is an empty floor around everybody's way.
            cutaway: height at which things are cut off [m].
            studio: light and floor.
        """
        count = max(2, int(np.ceil(take.duration * _TRAIL_RATE)) + 1)
        times = np.linspace(0.0, max(take.duration, 1e-3), count)
        tracks = take.planar(times)[..., :2]
        place = Place(World(_around(tracks)), cutaway, (), ()) if world is None else Place.of(world, cutaway)
        palettes = tuple(built_in_palette(take.skeletons[body], i) for i, body in enumerate(take.bodies))
        bodies = tuple(individual_shape(take.skeletons[body], i) for i, body in enumerate(take.bodies))
        return TakeStage(take, place, place.studio(studio), palettes, bodies, times, tracks)

    def figures(self, time: float) -> list[Figure]:
        """Everybody who is present at a time [s]."""
        out = []
        for group in self.take.joints(time):
            for row, character in enumerate(group.characters):
                pose = (group.positions[row], group.rotations[row])
                out.append(Figure(group.skeleton, *pose, self.palettes[character], self.bodies[character]))
        return out

    def trails(self, time: float, seconds: float) -> tuple[list[Solid], list[Paint]]:
        """The last seconds of everybody's way: ribbons on hills, paint on a floor."""
        if not seconds > 0.0:
            return [], []
        past = (self.track_times <= time) & (self.track_times >= time - seconds)
        trails = []
        for track, palette in zip(self.tracks[:, past], self.palettes, strict=True):
            path = track[np.isfinite(track[:, 0])]
            if len(path) > 1:
                red, green, blue = (float(v) for v in 0.8 * palette[0])
                trails.append(self.place.on_ground(path, 0.07, (red, green, blue), 0.7))
        return split_trails(trails)

    def labels(self, time: float, names: Sequence[str] | None = None) -> list[Label]:
        """Names over heads.

        Args:
            time: when [s].
            names: whose; None is everybody, unless that is a crowd in which nobody could read them.
        """
        chosen = None if names is None else {self.take.index(name) for name in names}
        out = []
        for group in self.take.joints(time):
            for row, character in enumerate(group.characters):
                if chosen is None or int(character) in chosen:
                    x, y = (float(v) for v in group.positions[row, 0, :2])
                    place = (x, y, float(group.positions[row, :, 2].max()) + 0.3)
                    out.append(Label(self.take.names[character], place, anchor="ms", halo="#f6f6f4"))
        return out if len(out) <= _MOST_LABELS or chosen is not None else []

    def following(
        self, times: Sequence[float], size: tuple[int, int], who: Sequence[str] | None = None
    ) -> list[Camera]:
        """Cameras that go smoothly along with some people and keep them in the picture."""
        chosen = [self.take.index(name) for name in who] if who is not None else list(range(len(self.take)))
        middles, reach = _middles(self.tracks[chosen])
        step = float(self.track_times[1] - self.track_times[0])
        smooth = scipy.ndimage.gaussian_filter1d(middles, 0.7 / step, axis=0, mode="nearest")
        track = np.stack([np.interp(times, self.track_times, smooth[:, k]) for k in range(2)], axis=1)
        ground = self.place.world.ground(track)
        half = min(reach, 0.5 * float(np.ptp(np.reshape(self.place.world.bounds, (2, 2)), axis=0).max())) + 1.2
        box = np.array([(x, y, z) for x in (-half, half) for y in (-half, half) for z in (0.0, _HIGH)])
        steep = np.radians(18.0) + min(0.02 * half, np.radians(22.0))
        near = Camera.around(np.zeros(3), azimuth=np.radians(-65.0), elevation=steep, field=np.radians(30.0))
        near = near.fit(box, size, margin=0.02)
        places = np.column_stack([track, ground])
        return [Camera(near.eye + at, near.target + at, near.up, near.field) for at in places]


def _middles(tracks: FloatArray) -> tuple[FloatArray, float]:
    """Mean place of those who are present, (T, 2), and how far anyone is from it for most of the time [m]."""
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
    """Bounds of everybody's way with a margin [m]."""
    flat = tracks.reshape(-1, 2)
    flat = flat[np.isfinite(flat[:, 0])]
    if len(flat) == 0:
        flat = np.zeros((1, 2))
    low, high = flat.min(axis=0) - _MARGIN, flat.max(axis=0) + _MARGIN
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])
