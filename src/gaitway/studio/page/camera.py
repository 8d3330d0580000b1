"""Cameras of the viewers (the whole world, from above, or beside a character), and rays from pointers to the ground."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import viser

from gaitway.core.arrays import FloatArray
from gaitway.scene.scene import Scene
from gaitway.studio.page.server import sent_to
from gaitway.world.levels.floors import has_levels
from gaitway.world.world import World

_FIELD = 0.5
"""Angle of view from bottom to top [rad]; a wider one lets people lean outwards at the sides."""
_ABOVE = np.array([-0.12, -0.80, 0.72])
"""Direction from which the whole world is seen."""
_BESIDE = np.array([-5.6, -7.4, 4.0])
"""Position of the camera at first, seen from the character that it follows [m]."""
_PANEL = 345.0
"""Width that the panel covers [px]."""
_CHEST = 1.0
"""Height of the point of a character that the camera looks at [m]."""
_EVERY = 0.06
"""Time between two moves of a camera that follows [s]."""
_DRIVING = 0.8
"""Time for which a key holds the camera's bearing, since the same keys move the browser's camera [s]."""
_SIGHT, _FARTHEST = 0.02, 400.0
"""Distance between two points of a ray at which it is looked for ground, and its greatest length [m]."""
_HEIGHT = 2.0
"""Height of what stands on the ground and is to be seen [m]."""
_ROOM = 1.04
"""Room around what is to be seen, as a multiple of it."""
_MARGIN = 1.0
"""Margin around what is to be seen [m]."""


class PageCameras:
    """The cameras of all viewers. This class is **mutable**."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._server = server
        self._followers: set[int] = set()
        self._held: dict[int, tuple[float, FloatArray]] = {}
        self._scene: Scene | None = None
        self._moved = 0.0
        self._at: FloatArray | None = None

    def enter(self, scene: Scene) -> None:
        """Take a scene; viewers see all of it if its world has changed."""
        before, self._scene = self._scene, scene
        if before is None or before.world.bounds != scene.world.bounds:
            self._followers.clear()
            for client in self._server.get_clients().values():
                self.look(client)

    def forget(self, client: viser.ClientHandle) -> None:
        """Forget a viewer who has left."""
        self._followers.discard(client.client_id)
        self._held.pop(client.client_id, None)

    def look(self, client: viser.ClientHandle, top: bool = False) -> None:
        """Let a viewer see the whole world."""
        self._followers.discard(client.client_id)
        if self._scene is None:
            return
        eye, target = framing(seen(self._scene), client.camera.aspect, client.camera.image_width, top)
        with sent_to(client):
            client.camera.fov = _FIELD
            client.camera.up_direction = (0.0, 0.0, 1.0)
            client.camera.position = tuple(eye)
            client.camera.look_at = tuple(target)

    def toggle(self, client: viser.ClientHandle) -> bool:
        """Follow the selected character, or no longer; return whether the camera follows now."""
        if client.client_id in self._followers:
            self._followers.discard(client.client_id)
            return False
        self.begin(client)
        return True

    def begin(self, client: viser.ClientHandle) -> None:
        """Follow the selected character."""
        if client.client_id not in self._followers and self._at is not None:
            self._followers.add(client.client_id)
            self._put(client, self._at, _BESIDE)

    def fly(self, client: viser.ClientHandle, place: npt.ArrayLike) -> None:
        """Let a viewer look at a place from near, from the side from which it looks now."""
        self._followers.discard(client.client_id)
        away = _offset(client)
        flat = math.hypot(float(away[0]), float(away[1]))
        near = math.hypot(_BESIDE[0], _BESIDE[1])
        offset = _BESIDE if flat < 1e-3 else np.array([away[0] * near / flat, away[1] * near / flat, _BESIDE[2]])
        self._put(client, np.asarray(place, dtype=np.float64), offset)

    def drive(self, client: viser.ClientHandle) -> None:
        """Follow the selected character while a viewer drives it, and keep the bearing for a while."""
        self.begin(client)
        handle = self._held.get(client.client_id)
        now = time.perf_counter()
        offset = handle[1] if handle is not None and now - handle[0] < _DRIVING else _offset(client)
        self._held[client.client_id] = (now, offset)

    def track(self, target: npt.ArrayLike | None) -> None:
        """Move the cameras that follow along with a character; None where none is selected."""
        if target is None:
            self._at = None
            self._followers.clear()
            return
        now, at = time.perf_counter(), np.asarray(target, dtype=np.float64)
        steady = 0.0 if self._at is None or np.linalg.norm(at - self._at) > 3.0 else 0.7
        self._at = steady * (self._at if self._at is not None else at) + (1.0 - steady) * at
        if not self._followers or now - self._moved < _EVERY:
            return
        self._moved = now
        for number, client in self._server.get_clients().items():
            if number in self._followers:
                when, offset = self._held.get(number, (0.0, _BESIDE))
                self._put(client, self._at, offset if now - when < _DRIVING else _offset(client))

    def eyes(self) -> FloatArray | None:
        """Return the places of the cameras of all viewers [m]; (C, 3), or None if nobody looks."""
        places = [client.camera.position for client in self._server.get_clients().values()]
        return np.array(places, dtype=np.float64) if places else None

    def nearest(self, places: FloatArray, most: int) -> Sequence[int]:
        """Return the rows of the places (N, 3) that are nearest to what a viewer looks at."""
        clients = list(self._server.get_clients().values())
        if not clients or len(places) <= most:
            return range(len(places))
        away = np.linalg.norm(places[:, :2] - np.array(clients[0].camera.look_at)[:2], axis=1)
        chosen: list[int] = np.argpartition(away, most)[:most].tolist()
        return chosen

    def _put(self, client: viser.ClientHandle, at: FloatArray, offset: FloatArray) -> None:
        """Let a viewer look at a place, which is then in the middle of what the panel leaves free."""
        far = float(np.linalg.norm(offset))
        aspect = min(max(client.camera.aspect, 0.5), 3.0)
        right = np.array([-offset[1], offset[0], 0.0]) / max(math.hypot(offset[0], offset[1]), 1e-6)
        aside = panel_share(client.camera.image_width) * far * math.tan(0.5 * _FIELD) * aspect
        target = np.array([at[0], at[1], _CHEST]) + aside * right
        with sent_to(client):
            client.camera.fov = _FIELD
            client.camera.position = tuple(target + offset)
            client.camera.look_at = tuple(target)


def _offset(client: viser.ClientHandle) -> FloatArray:
    """Return the vector from the point that a viewer looks at to the camera [m]; (3,)."""
    out: FloatArray = np.array(client.camera.position) - np.array(client.camera.look_at)
    return out


def panel_share(width: float) -> float:
    """Return the share of a page's width that the panel covers; width [px]."""
    return min(_PANEL / max(width, 1.0), 0.45)


def framing(
    box: tuple[FloatArray, FloatArray], aspect: float, width: float, top: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return a camera that has a box on the ground and what stands on it in view, beside the panel.

    Args:
        box: low and high corner of the box [m]; (2,) each.
        aspect: width of the page, as a multiple of its height.
        width: width of the page [px].
        top: whether to look from above.

    Returns:
        Positions of the camera and of the point that it looks at [m]; (3,) each.
    """
    (low, high), aspect = box, min(max(aspect, 0.5), 3.0)
    away = np.array([0.0, -1e-3, 1.0]) if top else _ABOVE / np.linalg.norm(_ABOVE)
    right = np.array([1.0, 0.0, 0.0]) if top else np.array([-away[1], away[0], 0.0]) / math.hypot(away[0], away[1])
    up = np.cross(away, right)
    corners = np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (0.0, _HEIGHT)])
    slope, covered = math.tan(0.5 * _FIELD), panel_share(width)
    left, free = slope * aspect, slope * aspect * (1.0 - 2.0 * covered)  # slopes of what is seen to either side
    target = np.array([*(0.5 * (low + high)), 0.0])
    reach = 1.0
    for _ in range(40):  # what is in the middle of the page depends on the distance, so both are found in turn
        across, along, depth = (corners - target) @ right, (corners - target) @ up, (corners - target) @ away
        need = np.maximum.reduce([-across / left, across / free, np.abs(along) / slope]) * _ROOM
        reach = max(float((need + depth).max()), 1.0)
        x, y = across / (reach - depth), along / (reach - depth)
        aside, over = 0.5 * (x.max() + x.min() + left - free), 0.5 * (y.max() + y.min())
        target = target + 0.7 * reach * (aside * right + over * up)
    return target + reach * away, target


def seen(scene: Scene) -> tuple[FloatArray, FloatArray]:
    """Return the corners (2,) of the part of the world with obstacles, people and places, with a margin [m]."""
    x0, y0, x1, y1 = scene.world.bounds
    boxes = [o.shape.footprint().bounds for o in scene.world.obstacles if not o.shape.footprint().empty]
    points = [p for box in boxes for p in (box[:2], box[2:])]
    points += [p for c in scene.characters for p in (c.start[:2], c.goal)]
    areas = [source.area for source in scene.sources] + [p.area for p in scene.places.values() if p.area is not None]
    points += [p for area in areas for p in (area.bounds[:2], area.bounds[2:])]
    points += [p for place in scene.places.values() for p in (place.point, *place.line)]
    if not points:
        return np.array([x0, y0]), np.array([x1, y1])
    spread = np.array(points, dtype=np.float64)
    low = np.maximum(spread.min(axis=0) - _MARGIN, (x0, y0))
    high = np.minimum(spread.max(axis=0) + _MARGIN, (x1, y1))
    return low, high


def ground_point(scene: Scene, origin: tuple[float, ...], direction: tuple[float, ...]) -> tuple[float, float] | None:
    """Return the point where a ray meets the ground within bounds: x, y [m], or None."""
    start, along = np.array(origin), np.array(direction)
    if not (np.isfinite(start).all() and np.isfinite(along).all()) or along[2] > -1e-6:
        return None
    height = 0.0
    for _ in range(8):  # the ground is nearly level: a few steps are enough
        x, y = (start + (height - start[2]) / along[2] * along)[:2].tolist()
        height = float(scene.world.ground(np.array([x, y])))
    x0, y0, x1, y1 = scene.world.bounds
    return (x, y) if x0 <= x <= x1 and y0 <= y <= y1 else None


def near_heights(world: World, points: FloatArray) -> FloatArray:
    """Return heights of the ground at points (N, 2) [m], or of the floor nearest to points (N, 3); (N,)."""
    if points.shape[1] == 3 and has_levels(world):
        return world.standing_height(points[:, :2], points[:, 2])
    return world.ground(points[:, :2])


def seen_point(
    world: World, origin: tuple[float, ...], direction: tuple[float, ...]
) -> tuple[float, float, float] | None:
    """Return the first point within bounds where a ray comes down on something to stand on: x, y, z [m], or None.

    In a place with several floors a ray may pass below one of them, so that the ground that counts is the one nearest
    to the ray, and not the highest one.
    """
    start, along = np.array(origin), np.array(direction)
    if not (np.isfinite(start).all() and np.isfinite(along).all()) or along[2] > -1e-6:
        return None
    along = along / np.linalg.norm(along)
    lowest = 0.0 if world.terrain is None else min(0.0, float(world.terrain.heights.min()))
    length = min((start[2] - lowest) / -along[2], _FARTHEST)
    if length <= 0.0:
        return None
    points = start + np.linspace(0.0, length, max(round(length / _SIGHT), 2))[:, None] * along
    x0, y0, x1, y1 = world.bounds
    points = points[((points[:, :2] >= (x0, y0)) & (points[:, :2] <= (x1, y1))).all(axis=1)]
    above = points[:, 2] - world.standing_height(points[:, :2], points[:, 2])
    met = np.flatnonzero((above[:-1] > 0.0) & (above[1:] <= 0.0) & (above[1:] > -2.0 * _SIGHT))
    if not len(met):
        return None
    x, y, z = points[int(met[0]) + 1].tolist()
    return x, y, z - float(above[int(met[0]) + 1])


def on_level(eye: FloatArray, to: FloatArray, height: float) -> FloatArray:
    """Return the point at which the line of sight through a point has a height; (2,)."""
    along = to - eye
    if abs(along[2]) < 1e-6:
        return to[:2]
    share = (height - eye[2]) / along[2]
    if not (math.isfinite(share) and 0.0 < share < 50.0):
        return to[:2]
    out: FloatArray = (eye + share * along)[:2]
    return out
