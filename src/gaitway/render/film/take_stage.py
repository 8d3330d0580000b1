"""A take prepared for the camera: figures at a time, their colours, trails and names, and cameras."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.render.bodies.body import BodyShape, built_in_palette, individual_shape
from gaitway.render.bodies.figures import Figure, counted_parts, in_sight, render_frame
from gaitway.render.bodies.palette import Palette
from gaitway.render.film.cameras import (
    FIELD,
    best_direction,
    led_cameras,
    lifted,
    orbit_cameras,
    standing_boxes,
    top_camera,
)
from gaitway.render.film.encoder import Picture
from gaitway.render.film.scenery import Scenery, solid_of, split_trails
from gaitway.render.film.shot import MOST_LABELS, Shot, bearing, name_label, trail_color
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.drawables import Label, Paint, Solid
from gaitway.render.raster.mesh import SurfaceMesh
from gaitway.render.raster.picture import Lighting, checked_size, draw_labels
from gaitway.render.raster.plates import FilmSet, Plate
from gaitway.render.raster.triangles import paint_parts, solid_part
from gaitway.take.model import Take
from gaitway.take.things import thing_poses, things_of
from gaitway.world.world import World, realised

_TRAIL_RATE = 12.0
"""Rate at which the tracks of roots are sampled [Hz]."""
_MARGIN = 2.0
"""Width of the floor around a take without a world [m]."""
_HIGH = 2.1
"""Height of the box that a camera keeps in the picture: more than a standing person [m]."""
_ROOM = 0.5
"""Half width of that box [m]."""
_LED_RATE = 4.0
"""Rate at which it is computed where a camera should be [Hz]."""
_WALKS = 0.2
"""Pace from which on somebody counts as moving [m/s]."""
_STILL_SECONDS = 1.5
"""How long before and after a move somebody still counts as moving [s]."""
_CIRCLING = np.radians(32.0)
"""Elevation of a camera that circles a place [rad]."""


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
        world = realised(world, take.facts)
        count = max(2, int(np.ceil(take.duration * _TRAIL_RATE)) + 1)
        times = np.linspace(0.0, max(take.duration, 1e-3), count)
        tracks = take.planar(times)[..., :2]
        scenery = Scenery(World(_around(tracks)), cutaway, (), ()) if world is None else Scenery.of(world, cutaway)
        if world is not None and not world.grounded:
            scenery = replace(scenery, walked=_walked_height(take))
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
            obstacles=[*self.scenery.solids(time), *self.things(time), *ribbons, *shot.obstacles],
            paint=[*self.scenery.paint, *shot.paint, *paint],
            labels=[*shot.notes, *self.labels(time, shot.names())],
            lighting=self.lighting,
            samples=samples if shot.samples is None else shot.samples,
        )

    def film_set(self, shot: Shot, times: Sequence[float], cameras: Sequence[Camera], size: tuple[int, int]) -> FilmSet:
        """Return all that stands still during a film of these moments [s] and cameras."""
        solids, paint = [*self.scenery.still, *shot.obstacles], [*self.scenery.paint, *shot.paint]
        return FilmSet.of(solids, paint, self._reached(times), cameras, size[1], self.lighting)

    def film_frame(
        self,
        film_set: FilmSet,
        plate: Plate | None,
        time: float,
        camera: Camera,
        shot: Shot,
        size: tuple[int, int],
        samples: int,
    ) -> Picture:
        """Draw one moment [s] of a film; the plate is that of the camera, or None if the camera moves."""
        ribbons, paint = self.trails(time, shot.trail_seconds)
        terrain = self.scenery.world.terrain
        lowest = 0.0 if terrain is None else float(terrain.heights.min())
        there = in_sight(self.figures(time), camera, size, film_set.scene.light, lowest)
        figures = counted_parts(there, camera, size[1])
        parts = [part for part, _ in figures]
        parts += [solid_part(solid) for solid in (*self.scenery.moved(time), *self.things(time), *ribbons)]
        parts += paint_parts(paint, film_set.painted_layers)
        things = [count for _, count in figures] + [1] * (len(parts) - len(figures))
        picture = film_set.frame(camera, plate, parts, things, size, samples)
        labels = [*shot.notes, *self.labels(time, shot.names())]
        return draw_labels(picture, labels, camera) if labels else picture

    def _reached(self, times: Sequence[float]) -> FloatArray:
        """Return points around all that moves during these moments [m]; (N, 3)."""
        within = (self.track_times >= times[0] - 0.2) & (self.track_times <= times[-1] + 0.2)
        tracks = self.tracks[:, within].reshape(-1, 2)
        tracks = tracks[np.isfinite(tracks[:, 0])]
        size = max(float(np.ptp(s.rest_positions, axis=0).max()) for s in self.take.skeletons)
        middle = np.mean(np.reshape(self.scenery.world.bounds, (2, 2)), axis=0)[None]
        flat = np.concatenate([tracks, middle])
        low = np.column_stack([flat, self.scenery.floor(flat)])
        corners = [(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (0.0, 2.0)]
        around = [low + 0.7 * size * np.array(corner) for corner in corners]
        some = np.linspace(times[0], times[-1], 40)
        return np.concatenate([*around, *(s.mesh.points for t in some for s in self.scenery.moved(float(t)))])

    def figures(self, time: float) -> list[Figure]:
        """Return the figures of all characters that are present at a time [s]."""
        out = []
        for group in self.take.joints(time):
            for row, character in enumerate(group.characters):
                pose = (group.positions[row], group.rotations[row])
                out.append(Figure(group.skeleton, *pose, self.palettes[character], self.bodies[character]))
        return out

    def things(self, time: float) -> list[Solid]:
        """Return the things that people handle, at a time [s]."""
        out = []
        for track in things_of(self.take):
            solid = solid_of(track.solid(), track.color)
            (at,), (turn,) = thing_poses(self.take, track, time, self.scenery.world)
            mesh = solid.mesh
            placed = SurfaceMesh(
                at + rotations.rotate(turn, mesh.points), rotations.rotate(turn, mesh.normals), mesh.triangles
            )
            out.append(replace(solid, mesh=placed))
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
        kind = shot.camera or ("overview" if self.in_world else "follow")
        azimuth = None if shot.view is None else bearing(shot.view)
        elevation = 0.5 * np.pi if shot.view == "top" else shot.elevation
        world = self.scenery.world
        if kind == "overview":
            return [self.scenery.overview(size, azimuth, elevation)] * len(times)
        if kind == "top":
            middle = np.mean(np.reshape(world.bounds, (2, 2)), axis=0)
            return [top_camera(world.bounds, float(self.scenery.floor(middle)), size)] * len(times)
        if kind == "orbit":
            return self._circling(times, size, shot.who, azimuth, elevation)
        return self._led(times, size, shot.who, azimuth, elevation, closely=kind == "follow")

    def interest(self, times: FloatArray, who: Sequence[str] | None = None) -> tuple[FloatArray, BoolArray]:
        """Return whom a camera should show, and when.

        Args:
            times: the moments [s]; (T,).
            who: names of those who matter; None is everybody who moves, or everybody as long as nobody does.

        Returns:
            x and y of their roots [m] (P, T, 2), and who matters when (P, T).
        """
        chosen = [self.take.index(name) for name in who] if who is not None else list(range(len(self.take)))
        tracks = self.take.planar(times, chosen)[..., :2] if len(chosen) else np.empty((0, len(times), 2))
        present = np.isfinite(tracks[..., 0])
        tracks = np.where(present[..., None], tracks, 0.0)
        if who is not None or len(times) < 2:
            return tracks, present
        pace = np.linalg.norm(np.diff(tracks, axis=1), axis=-1) / np.diff(times)
        pace = np.where(present[:, 1:] & present[:, :-1], pace, 0.0)
        pace = np.concatenate([pace[:, :1], pace], axis=1)
        reach = max(1, round(_STILL_SECONDS / float(times[1] - times[0])))
        moving = scipy.ndimage.maximum_filter1d(pace, 2 * reach + 1, axis=1, mode="nearest") > _WALKS
        return tracks, np.where((moving & present).any(axis=0), moving & present, present)

    def _led(
        self,
        times: Sequence[float],
        size: tuple[int, int],
        who: Sequence[str] | None,
        azimuth: float | None,
        elevation: float | None,
        *,
        closely: bool,
    ) -> list[Camera]:
        """Return cameras that keep some characters in the picture, from where obstacles hide them least.

        If they follow closely, they move with the middle of the characters; otherwise they move no more than needed.
        """
        count = max(2, int(np.ceil((times[-1] - times[0]) * _LED_RATE)) + 1)
        moments = np.linspace(times[0], max(times[-1], times[0] + 1e-3), count)
        tracks, present = self.interest(moments, who)
        ground = self.scenery.floor
        boxes = standing_boxes(tracks, ground(tracks), _ROOM, _HIGH)
        usual = self.scenery.bearing() if self.in_world else np.radians(-65.0)
        given = (None if azimuth is None else [azimuth], None if elevation is None else [elevation])
        solids = [*self.scenery.still, *self.scenery.moved(float(moments[len(moments) // 2]))]
        chosen = best_direction(
            boxes, present, moments, solids, size, usual, ground, azimuths=given[0], elevations=given[1]
        )
        near = Camera.around(np.zeros(3), azimuth=chosen[0], elevation=chosen[1], field=FIELD)
        if closely or len(tracks) == 1:
            return lifted(self._following(near, times, size, who), ground)
        return lifted(led_cameras(near, boxes, present, moments, times, size), ground)

    def _following(
        self, near: Camera, times: Sequence[float], size: tuple[int, int], who: Sequence[str] | None
    ) -> list[Camera]:
        """Return cameras with one direction that move smoothly with the middle of some characters."""
        chosen = [self.take.index(name) for name in who] if who is not None else list(range(len(self.take)))
        middles, reach = _middles(self.tracks[chosen])
        step = float(self.track_times[1] - self.track_times[0])
        smooth = scipy.ndimage.gaussian_filter1d(middles, 0.7 / step, axis=0, mode="nearest")
        track = np.stack([np.interp(times, self.track_times, smooth[:, k]) for k in range(2)], axis=1)
        half = min(reach, 0.5 * float(np.ptp(np.reshape(self.scenery.world.bounds, (2, 2)), axis=0).max())) + 1.2
        fitted = near.fit(standing_boxes(np.zeros(2), np.array(0.0), half, _HIGH), size, margin=0.02)
        places = np.column_stack([track, self.scenery.floor(track)])
        return [Camera(fitted.eye + at, fitted.target + at, fitted.up, fitted.field) for at in places]

    def _circling(
        self,
        times: Sequence[float],
        size: tuple[int, int],
        who: Sequence[str] | None,
        azimuth: float | None,
        elevation: float | None,
    ) -> list[Camera]:
        """Return cameras that circle all places where the characters walk."""
        tracks, present = self.interest(np.linspace(times[0], max(times[-1], times[0] + 1e-3), 60), who)
        flat = tracks[present] if present.any() else np.mean(np.reshape(self.scenery.world.bounds, (2, 2)), 0)[None]
        ground = self.scenery.floor(flat)
        low = np.array([*(flat.min(axis=0) - 1.0), ground.min()])
        high = np.array([*(flat.max(axis=0) + 1.0), ground.max() + _HIGH])
        start = self.scenery.bearing() if azimuth is None else azimuth
        cameras = orbit_cameras(low, high, times, size, start, _CIRCLING if elevation is None else elevation)
        return lifted(cameras, self.scenery.floor)


def _walked_height(take: Take) -> float:
    """Return the height of the ground on which most characters of a take walk [m]."""
    times = np.linspace(0.0, take.duration, 5).tolist()
    lowest = [group.positions[..., 2].min(axis=1) for time in times for group in take.joints(time)]
    return float(np.median(np.concatenate([np.zeros(0), *lowest]))) if lowest else 0.0


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
