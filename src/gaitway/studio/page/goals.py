"""Goal areas of groups: flat marks on the ground that can be dragged."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import viser

from gaitway.scene.scene import Scene
from gaitway.studio.edits import goal_area, goal_floor, goal_names
from gaitway.studio.events import MoveGoal, StudioEvent
from gaitway.studio.page.camera import on_level
from gaitway.studio.page.paint import flat_mesh
from gaitway.studio.page.storeys import HIDDEN, SHOWN
from gaitway.world.levels.floors import Floors

_COLORS = ((86, 150, 92), (74, 122, 170), (176, 120, 60), (140, 96, 164), (170, 84, 92), (70, 148, 150))
"""Colours of groups, in turn."""
_LIFT = 0.022
"""Height of marks over the ground, so that they do not flicker [m]."""
_BACK = 0.5
"""Time after which a mark returns from a place where it cannot be [s]."""


@dataclass(frozen=True, eq=False)
class _GoalMark:
    """A mark, its middle, and its corners seen from there [m]."""

    handle: viser.MeshHandle
    middle: tuple[float, float]
    height: float
    """Height of the floor that it lies on; 0 on the ground of the place [m]."""
    corners: tuple[float, float, float, float]


class GoalMarks:
    """Marks of all groups that go to an area. This class is **mutable**."""

    def __init__(
        self, server: viser.ViserServer, post: Callable[[StudioEvent], None], told: Callable[[str], None]
    ) -> None:
        self._server, self._post, self._told = server, post, told
        self._marks: dict[str, _GoalMark] = {}
        self._handle: tuple[int, str] | None = None
        self._grip = np.zeros(3)
        self._loose = 0.0
        self._scene: Scene | None = None
        self._floors: Floors | None = None
        self._look: Callable[[float], str] = lambda height: SHOWN
        self._wanted = True

    def enter(self, scene: Scene, floors: Floors | None, look: Callable[[float], str]) -> None:
        """Draw the marks of a scene, but not on floors that are hidden.

        Args:
            scene: the scene.
            floors: its floors; None if it has one.
            look: how things look that stand at a height.
        """
        self._scene, self._floors, self._look, self._handle = scene, floors, look, None
        self._remove()
        for number, name in enumerate(goal_names(scene.source) if self._wanted else ()):
            self._draw(name, _COLORS[number % len(_COLORS)])

    def show(self, on: bool) -> None:
        """Show the marks, or hide them."""
        self._wanted = on
        if self._scene is not None:
            self.enter(self._scene, self._floors, self._look)

    def look(self) -> None:
        """Put marks back from places where they cannot be."""
        if self._loose and self._handle is None and time.perf_counter() - self._loose > _BACK:
            self._loose = 0.0
            for mark in self._marks.values():
                mark.handle.position = (*mark.middle, mark.height)

    def let_go(self, client: int) -> None:
        """Release a mark that a viewer held who has left."""
        if self._handle is not None and self._handle[0] == client:
            self._handle, self._loose = None, time.perf_counter()

    def _draw(self, name: str, color: tuple[int, int, int]) -> None:
        assert self._scene is not None
        area = goal_area(self._scene.source, name)
        x, y = area.centroid.x, area.centroid.y
        floor = goal_floor(self._scene.source, name, self._floors)
        height = 0.0 if floor is None or floor.ground else floor.height
        if self._look(height) == HIDDEN:
            return
        vertices, faces = flat_mesh(area, _LIFT)
        relief = self._scene.world.terrain if floor is None or floor.ground else floor.relief
        if relief is not None:
            vertices[:, 2] += (relief.height(vertices[:, :2].astype(np.float64)) - height).astype(np.float32)
        vertices[:, :2] -= np.array([x, y], dtype=np.float32)
        handle = self._server.scene.add_mesh_simple(
            f"/goals/{name.replace('/', '-')}", vertices, faces, color=color, opacity=0.28, side="double",
            cast_shadow=False, receive_shadow=False, position=(x, y, height),
        )  # fmt: skip
        x0, y0, x1, y1 = area.bounds
        self._marks[name] = _GoalMark(handle, (x, y), height, (x0 - x, y0 - y, x1 - x, y1 - y))
        handle.on_drag("left")(partial(self._drag, name))
        handle.on_click(lambda _: self._told("a group goes here; drag it to send all of them elsewhere"))

    def _remove(self) -> None:
        for mark in self._marks.values():
            mark.handle.remove()
        self._marks = {}

    async def _drag(self, name: str, event: viser.SceneNodeDragEvent[viser.MeshHandle]) -> None:
        """Slide a mark over the ground under the pointer; its group goes there when it is let go."""
        mark, scene = self._marks.get(name), self._scene
        if mark is None or scene is None or (self._handle is not None and self._handle != (event.client_id, name)):
            return
        if self._handle is None:  # later events tell where that point of the mark is now
            self._grip = np.array(event.start_position)
        eye, to, grip = np.array(event.client.camera.position), np.array(event.end_position), self._grip
        dx, dy = (on_level(eye, to, float(grip[2])) - grip[:2]).tolist()
        if not (math.isfinite(dx) and math.isfinite(dy)):
            return
        x0, y0, x1, y1 = scene.world.bounds
        x = min(max(mark.middle[0] + dx, x0 - mark.corners[0]), x1 - mark.corners[2])
        y = min(max(mark.middle[1] + dy, y0 - mark.corners[1]), y1 - mark.corners[3])
        with contextlib.suppress(RuntimeError):  # it has gone meanwhile
            mark.handle.position = (x, y, mark.height)
        self._handle = (event.client_id, name)
        if event.phase == "end":
            self._handle, self._loose = None, time.perf_counter()
            self._post(MoveGoal(name, x, y))
