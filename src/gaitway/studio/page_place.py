"""The place on the page: ground, obstacles that can be dragged, movers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import viser

from gaitway import rotations
from gaitway.arrays import FloatArray
from gaitway.errors import StudioError
from gaitway.render.kinds import obstacle_color
from gaitway.scene.scene import Scene
from gaitway.studio.edits import item_names, item_pose
from gaitway.studio.events import MoveItem
from gaitway.world.obstacle import Obstacle
from gaitway.world.surface import surface, terrain_surface
from gaitway.world.world import World

Post = Callable[[MoveItem], None]
_GROUND = (226, 223, 215)
_EDGE = (150, 146, 138)


class PlaceView:
    """What stands and moves. This class is **mutable**."""

    def __init__(self, server: viser.ViserServer, post: Post, clicked: Callable[[str], None]) -> None:
        self._server, self._post, self._clicked = server, post, clicked
        self._handles: dict[str, viser.SceneNodeHandle] = {}
        self._movers: list[viser.MeshHandle] = []
        self._grabbed: tuple[str, FloatArray, tuple[float, float, float]] | None = None
        self.scene: Scene | None = None

    def show(self, scene: Scene) -> None:
        """Draw a place; what is dragged just now is left alone."""
        before, self.scene = self.scene, scene
        names = item_names(scene.source)
        world = scene.world
        if before is None or before.world.bounds != world.bounds or before.world.terrain is not world.terrain:
            self._draw_ground(world)
        if self._grabbed is not None and before is not None and item_names(before.source) == names:
            return
        for handle in self._handles.values():
            handle.remove()
        self._handles.clear()
        fixed = [name for name in names if not name.startswith("movers/")]
        own = len(fixed) == len(world.obstacles)  # things of included files cannot be dragged
        for number, obstacle in enumerate(world.obstacles):
            self._draw(fixed[number] if own else "", f"/place/{number}", obstacle)
        self._draw_movers(world)

    def move(self, poses: FloatArray) -> None:
        """Put movers where they are: x, y, heading (M, 3)."""
        for handle, (x, y, heading) in zip(self._movers, poses.tolist(), strict=False):
            handle.position = (x, y, 0.0)
            handle.wxyz = rotations.from_yaw(heading)

    def _draw_ground(self, world: World) -> None:
        x0, y0, x1, y1 = world.bounds
        vertices, faces = terrain_surface(world.terrain, world.bounds)
        scene = self._server.scene
        scene.add_mesh_simple(
            "/ground", vertices.astype(np.float32), faces.astype(np.uint32), color=_GROUND, cast_shadow=False,
            position=(0.0, 0.0, -0.005),
        )  # fmt: skip
        corners = np.array([[x0, y0, 0.0], [x1, y0, 0.0], [x1, y1, 0.0], [x0, y1, 0.0]])
        edges = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)
        scene.add_line_segments("/edge", edges, _EDGE, thickness=0.06)

    def _draw(self, item: str, place: str, obstacle: Obstacle) -> None:
        vertices, faces = surface(obstacle.shape)
        handle = self._server.scene.add_mesh_simple(
            place, vertices.astype(np.float32), faces.astype(np.uint32), color=_rgb(obstacle_color(obstacle)),
            flat_shading=True,
        )  # fmt: skip
        self._handles[place] = handle
        if item:
            handle.on_drag("left")(lambda event: self._drag(item, event))
            handle.on_click(lambda _: self._clicked(item))

    def _draw_movers(self, world: World) -> None:
        for handle in self._movers:
            handle.remove()
        self._movers = []
        for number, mover in enumerate(world.movers):
            vertices, faces = surface(mover.phases[0].shape)
            self._movers.append(
                self._server.scene.add_mesh_simple(
                    f"/movers/{number}", vertices.astype(np.float32), faces.astype(np.uint32),
                    color=_rgb(mover.color or "#6a7fb8"), flat_shading=True,
                )
            )  # fmt: skip

    def _drag(self, item: str, event: viser.SceneNodeDragEvent[viser.MeshHandle]) -> None:
        """Slide a thing over the ground under the pointer."""
        if self.scene is None:
            return
        at = _on_plane(event)
        if event.phase == "start" or self._grabbed is None or self._grabbed[0] != item:
            try:
                pose = item_pose(self.scene.source, item)
            except StudioError:
                return
            self._grabbed = (item, np.array(event.start_position[:2]), pose)
        _, first, (x, y, yaw) = self._grabbed
        dx, dy = (at - first).tolist()
        event.target.position = (dx, dy, 0.0)
        done = event.phase == "end"
        if done:
            self._grabbed = None
        self._post(MoveItem(item, x + dx, y + dy, yaw, done))


def ground_point(scene: Scene, origin: tuple[float, ...], direction: tuple[float, ...]) -> tuple[float, float] | None:
    """Where a ray meets the ground within bounds: x, y [m], or None."""
    start, along = np.array(origin), np.array(direction)
    if along[2] > -1e-6:
        return None
    height = 0.0
    for _ in range(8):  # the ground is nearly level: a few steps are enough
        x, y = (start + (height - start[2]) / along[2] * along)[:2].tolist()
        height = float(scene.world.ground(np.array([x, y])))
    x0, y0, x1, y1 = scene.world.bounds
    return (x, y) if x0 <= x <= x1 and y0 <= y <= y1 else None


def _on_plane(event: viser.SceneNodeDragEvent[viser.MeshHandle]) -> FloatArray:
    """Where the pointer is at the height at which the thing was grabbed; (2,)."""
    eye, to = np.array(event.client.camera.position), np.array(event.end_position)
    along, height = to - eye, event.start_position[2]
    if abs(along[2]) < 1e-6:
        return to[:2]
    share = (height - eye[2]) / along[2]
    if not (math.isfinite(share) and 0.0 < share < 50.0):
        return to[:2]
    out: FloatArray = (eye + share * along)[:2]
    return out


def _rgb(color: str) -> tuple[int, int, int]:
    digits = color.removeprefix("#")
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)
