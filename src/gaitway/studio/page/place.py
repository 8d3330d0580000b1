"""The world on the page: obstacles and movers that can be dragged and turned."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import viser

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import StudioError
from gaitway.render.raster.colors import MOVER_COLOR, obstacle_color
from gaitway.scene.scene import Scene
from gaitway.studio.edits import item_names, item_pose
from gaitway.studio.events import MoveItem, StudioEvent
from gaitway.studio.page.camera import on_level
from gaitway.studio.page.ground import PageGround
from gaitway.studio.page.people import flattening
from gaitway.studio.page.storeys import FADE, FADED, HIDDEN, SHOWN, PageStoreys
from gaitway.studio.tones import FLOOR, SHADE, copied_color, surface_color
from gaitway.world.obstacle import Obstacle
from gaitway.world.surface import surface
from gaitway.world.world import World

Post = Callable[[StudioEvent], None]
_RING = (226, 120, 40)
_SIDES = 48
_BACK = 0.4
"""Time after which an obstacle returns from a place where it cannot be [s]."""


@dataclass(frozen=True, eq=False)
class _PlaceGrip:
    """An obstacle or mover that a viewer holds."""

    client: int
    item: str
    at: FloatArray
    """Point at which it was gripped [m]; (2,)."""
    pose: tuple[float, float, float]
    """Pose of the obstacle then: x, y [m], yaw [degrees]."""


class PlaceView:
    """Obstacles and movers. This class is **mutable**."""

    def __init__(
        self, server: viser.ViserServer, post: Post, clicked: Callable[[str], None], storeys: PageStoreys
    ) -> None:
        self._server, self._post, self._clicked, self._storeys = server, post, clicked, storeys
        self._handles: dict[str, viser.MeshHandle] = {}
        self._drawn: dict[str, tuple[str, Obstacle, str]] = {}
        self._movers: list[viser.MeshHandle] = []
        self._shades: list[viser.BatchedMeshHandle] = []
        self._grip: _PlaceGrip | None = None
        self._ring: viser.LineSegmentsHandle | None = None
        self._ringed: int | None = None
        """Number of the mover that has the ring, which goes along with it."""
        self._loose: tuple[str, float] | None = None
        self._lifts: list[viser.MeshHandle] = []
        self._treads: list[viser.BatchedMeshHandle] = []
        self._looks: tuple[str, ...] = ()
        """How movers look, as the storeys on which they are."""
        self.ground = PageGround(server)
        self.scene: Scene | None = None

    def show(self, scene: Scene) -> None:
        """Draw the world of a scene; what is being dragged or has not changed is left as it is."""
        before, self.scene = self.scene, scene
        names, world = item_names(scene.source), scene.world
        if self._grip is not None and before is not None and item_names(before.source) == names:
            return
        self.ground.enter(self._storeys.solid(world))  # nothing else casts a shadow
        fixed = [name for name in names if not name.startswith("movers/")]
        panels = sum(len(one.panels()) for one in world.escalators)  # the last of the obstacles; no items of their own
        own = len(fixed) == len(world.obstacles) - panels  # things of included files cannot be dragged
        wanted = {
            f"/place/{number}": (fixed[number] if own and number < len(fixed) else "", obstacle, look)
            for number, obstacle in enumerate(world.obstacles)
            if (look := self._storeys.look_of(obstacle)) != HIDDEN
        }
        for place in [place for place in self._handles if wanted.get(place) != self._drawn[place]]:
            self._handles.pop(place).remove()
            del self._drawn[place]
        for place, (item, obstacle, look) in wanted.items():
            if place not in self._handles:
                self._draw(item, place, obstacle, look)
        looks = tuple(self._storeys.at(mover.phases[0].shape.heights[0]) for mover in world.movers)
        if before is None or before.world.lifts != world.lifts:
            self._draw_lifts(world)
        if before is None or before.world.escalators != world.escalators:
            self._draw_treads(world)
        if before is None or before.world.movers != world.movers or looks != self._looks:
            self._looks = looks
            self._draw_movers(world, [name for name in names if name.startswith("movers/")])

    def move(self, poses: FloatArray, now: float) -> None:
        """Move movers to their poses (M, 3), lifts and treads too, and put things back that cannot be there."""
        for handle, lift in zip(self._lifts, self.scene.world.lifts if self.scene is not None else (), strict=False):
            handle.position = (0.0, 0.0, float(lift.height(now)) - lift.heights[0])
        belts = self.scene.world.escalators if self.scene is not None else ()
        for treads, belt in zip(self._treads, belts, strict=False):
            treads.batched_positions = belt.tread_places(np.arange(belt.tread_count), now).astype(np.float32)
        if self._loose is not None and self._grip is None and time.perf_counter() - self._loose[1] > _BACK:
            place, self._loose = self._loose[0], None
            if place in self._handles and self._handles[place].position.any() and self.scene is not None:
                self._handles.pop(place).remove()
                self._draw(self._drawn[place][0], place, *self._drawn[place][1:])
        for handle, (x, y, heading) in zip(self._movers, poses.tolist(), strict=False):
            handle.position = (x, y, 0.0)
            handle.wxyz = rotations.from_yaw(heading)
        for shade, (x, y, heading) in zip(self._shades, poses.tolist(), strict=False):
            shade.batched_positions, shade.batched_wxyzs = _flat_pose(x, y, heading)
        if self._ring is not None and self._ringed is not None and self._ringed < len(poses):
            self._ring.position = (*poses[self._ringed, :2].tolist(), 0.0)

    def ring(self, item: str) -> None:
        """Mark the selected obstacle or mover; "" marks none."""
        if self._ring is not None:
            self._ring.remove()
            self._ring, self._ringed = None, None
        shapes = [obstacle.shape for name, obstacle, _ in self._drawn.values() if name == item and name]
        mover = self._mover(item)
        if mover is not None and self.scene is not None:
            shapes = [self.scene.world.movers[mover].phases[0].shape]
        if not shapes:
            return
        x0, y0, x1, y1 = shapes[0].footprint().bounds
        angles = np.linspace(0.0, 2.0 * np.pi, _SIDES + 1)
        radius = 0.5 * math.hypot(x1 - x0, y1 - y0) + 0.25
        rim = np.column_stack([0.5 * (x0 + x1) + radius * np.cos(angles), 0.5 * (y0 + y1) + radius * np.sin(angles)])
        rim = np.column_stack([rim, np.full(len(rim), max(shapes[0].heights[0], 0.0) + 0.04)])
        self._ring = self._server.scene.add_line_segments(
            "/ring", np.stack([rim[:-1], rim[1:]], axis=1), _RING, thickness=0.06
        )
        self._ringed = mover
        if mover is not None and mover < len(self._movers):
            self._ring.position = self._movers[mover].position

    def words(self, item: str) -> str:
        """Return what an obstacle or mover is, as users read it."""
        found = [obstacle for name, obstacle, _ in self._drawn.values() if name == item]
        return (found[0].name or found[0].kind) if found else "mover" if item else ""

    def _mover(self, item: str) -> int | None:
        """Return the number of a mover, or None if the item is none."""
        key, _, number = item.partition("/")
        known = key == "movers" and number.isdecimal() and int(number) < len(self._movers)
        return int(number) if known else None

    def turn(self, item: str, by_deg: float) -> None:
        """Turn an obstacle or mover where it stands."""
        if self.scene is None or not item:
            return
        try:
            x, y, yaw = item_pose(self.scene.source, item)
        except StudioError:
            return
        self._post(MoveItem(item, x, y, yaw + by_deg))

    def let_go(self, client: int) -> None:
        """Release what a viewer held who has left."""
        grip = self._grip
        if grip is None or grip.client != client or self.scene is None:
            return
        self._grip = None
        try:
            x, y, yaw = item_pose(self.scene.source, grip.item)
        except StudioError:
            return
        self._post(MoveItem(grip.item, x, y, yaw))

    def _draw(self, item: str, place: str, obstacle: Obstacle, look: str) -> None:
        """Draw an obstacle; one that is faded cannot be gripped, so that the mouse reaches what is behind it."""
        vertices, faces = surface(obstacle.shape)
        handle = self._server.scene.add_mesh_simple(
            place, vertices.astype(np.float32), faces.astype(np.uint32),
            color=surface_color(obstacle_color(obstacle)), flat_shading=True, cast_shadow=False, receive_shadow=False,
            opacity=FADE if look == FADED else None,
        )  # fmt: skip
        self._handles[place], self._drawn[place] = handle, (item, obstacle, look)
        if item and look == SHOWN:
            handle.on_drag("left")(partial(self._drag, item, False))
            handle.on_drag("left", modifier="shift")(partial(self._drag, item, True))
            handle.on_click(lambda _: self._clicked(item))

    def _draw_movers(self, world: World, items: list[str]) -> None:
        for handle in (*self._movers, *self._shades):
            handle.remove()
        self._movers, self._shades = [], []
        for number, (mover, look) in enumerate(zip(world.movers, self._looks, strict=True)):
            vertices, faces = surface(mover.phases[0].shape)
            if world.terrain is None:
                self._shades.append(self._shade(number, vertices.astype(np.float32), faces.astype(np.uint32)))
                self._shades[-1].visible = look == SHOWN
            handle = self._server.scene.add_mesh_simple(
                f"/movers/{number}", vertices.astype(np.float32), faces.astype(np.uint32),
                color=surface_color(mover.color or MOVER_COLOR), flat_shading=True, cast_shadow=False,
                receive_shadow=False, opacity=FADE if look == FADED else None, visible=look != HIDDEN,
            )  # fmt: skip
            if number < len(items) == len(world.movers) - len(world.doors) and look == SHOWN:  # doors come last
                item = items[number]
                handle.on_click(lambda _, item=item: self._clicked(item))  # type: ignore[misc]
                handle.on_drag("left")(partial(self._drag, item, False))
                handle.on_drag("left", modifier="shift")(partial(self._drag, item, True))
            self._movers.append(handle)

    def _draw_lifts(self, world: World) -> None:
        for handle in self._lifts:
            handle.remove()
        self._lifts = []
        for number, lift in enumerate(world.lifts):
            platform = lift.at(lift.start)
            vertices, faces = surface(platform.shape)
            handle = self._server.scene.add_mesh_simple(
                f"/lifts/{number}", vertices.astype(np.float32), faces.astype(np.uint32),
                color=surface_color(obstacle_color(platform)), flat_shading=True, cast_shadow=False,
                receive_shadow=False,
            )  # fmt: skip
            self._lifts.append(handle)

    def _draw_treads(self, world: World) -> None:
        for handle in self._treads:
            handle.remove()
        self._treads = []
        for number, belt in enumerate(world.escalators):
            count = belt.tread_count
            vertices, faces = surface(belt.tread(0).shape)
            colors = [surface_color(obstacle_color(belt.tread(k))) for k in range(count)]
            handle = self._server.scene.add_batched_meshes_simple(
                f"/escalators/{number}", vertices.astype(np.float32), faces.astype(np.uint32),
                batched_wxyzs=np.tile(np.array([1.0, 0.0, 0.0, 0.0], np.float32), (count, 1)),
                batched_positions=belt.tread_places(np.arange(count), 0.0).astype(np.float32),
                batched_colors=np.array(colors, np.uint8), lod="off", flat_shading=True, cast_shadow=False,
                receive_shadow=False,
            )  # fmt: skip
            self._treads.append(handle)

    def _shade(
        self, number: int, vertices: npt.NDArray[np.float32], faces: npt.NDArray[np.uint32]
    ) -> viser.BatchedMeshHandle:
        """Return the shadow of a mover: itself, flattened along the light (see `flattening`)."""
        turn, scale, _, _ = flattening()
        place, own = _flat_pose(0.0, 0.0, 0.0)
        return self._server.scene.add_batched_meshes_simple(
            f"/shades/{number}", vertices, faces, batched_wxyzs=own, batched_positions=place,
            batched_colors=copied_color(FLOOR, 1.0 - SHADE), lod="off", cast_shadow=False, receive_shadow=False,
            scale=scale, wxyz=turn, position=(0.0, 0.0, 0.014), side="double", flat_shading=True,
        )  # fmt: skip

    async def _drag(self, item: str, turns: bool, event: viser.SceneNodeDragEvent[viser.MeshHandle]) -> None:
        """Move an obstacle over the ground under the pointer, or turn it about its middle.

        A coroutine, for viser runs those in the order of events, and plain functions in any.
        """
        grip, scene = self._grip, self.scene
        if scene is None:
            return
        at = _on_plane(event)
        if event.phase == "start" or grip is None or grip.item != item or grip.client != event.client_id:
            if event.phase == "end" or (grip is not None and grip.client != event.client_id):
                return  # somebody else has it in hand
            try:
                grip = _PlaceGrip(
                    event.client_id, item, np.array(event.start_position[:2]), item_pose(scene.source, item)
                )
            except StudioError:
                return
            self._grip = grip
            self._clicked(item)
        x, y, yaw = grip.pose
        if turns:
            turn = _angle(at - (x, y)) - _angle(grip.at - (x, y))
            c, s = math.cos(turn), math.sin(turn)
            shift = (x - c * x + s * y, y - s * x - c * y, 0.0)
            yaw = yaw + math.degrees(turn)
        else:
            dx, dy = (at - grip.at).tolist()
            shift, turn = (dx, dy, 0.0), 0.0
            x, y = x + dx, y + dy
        if self._mover(item) is None:  # movers are where frames have them
            _put(event.target, shift, turn)
        done = event.phase == "end"
        if done:
            self._grip, self._loose = None, (event.target.name, time.perf_counter())
        self._post(MoveItem(item, *_sane(x, y, yaw), done))


def _flat_pose(x: float, y: float, heading: float) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return the position (1, 3) and the turn (1, 4) of a copy that is flattened at a planar pose."""
    _, _, before, ray = flattening()
    place = rotations.rotate(before, np.array([[x, y, 0.0]]))
    place -= (place @ ray)[:, None] * ray
    own = rotations.multiply(before, rotations.from_yaw(heading)).reshape(1, 4)
    return place.astype(np.float32), own.astype(np.float32)


def _put(target: viser.MeshHandle, position: tuple[float, float, float], turn: float) -> None:
    """Move what is dragged, unless it was removed meanwhile."""
    with contextlib.suppress(RuntimeError):
        target.position = position
        target.wxyz = rotations.from_yaw(turn)


def _sane(x: float, y: float, yaw: float) -> tuple[float, float, float]:
    """Return numbers within the limits of events, whatever a browser sends."""
    far = 1e4
    values = (x, y, yaw)
    if not all(map(math.isfinite, values)):
        return 0.0, 0.0, 0.0
    return min(max(x, -far), far), min(max(y, -far), far), math.remainder(yaw, 360.0)


def _on_plane(event: viser.SceneNodeDragEvent[viser.MeshHandle]) -> FloatArray:
    """Return the point under the pointer at the height at which the obstacle was gripped; (2,)."""
    eye, to = np.array(event.client.camera.position), np.array(event.end_position)
    return on_level(eye, to, event.start_position[2])


def _angle(vector: FloatArray) -> float:
    return math.atan2(float(vector[1]), float(vector[0]))
