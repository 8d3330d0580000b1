"""Flat marks on the ground that can be dragged: where groups go, places of errands, and sources."""

from __future__ import annotations

import contextlib
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import shapely
import viser

from gaitway.scene.scene import Scene
from gaitway.studio.events import StudioEvent
from gaitway.studio.page.camera import on_level
from gaitway.studio.page.paint import flat_mesh
from gaitway.studio.page.storeys import HIDDEN, SHOWN
from gaitway.world.levels.floors import Floor, Floors

LIFT = 0.022
"""Height of marks over the ground, so that they do not flicker [m]."""
_BACK = 0.5
"""Time after which a mark returns from a place where it cannot be [s]."""
Color = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class GroundMark:
    """A mark, its middle, and its corners seen from there [m]."""

    handle: viser.MeshHandle
    middle: tuple[float, float]
    height: float
    """Height of the floor that it lies on; 0 on the ground of the place [m]."""
    corners: tuple[float, float, float, float]


class GroundMarks(ABC):
    """Marks of a scene, by name. This class is **mutable**."""

    folder = ""
    """Name of the marks among all that the page shows."""

    def __init__(
        self, server: viser.ViserServer, post: Callable[[StudioEvent], None], told: Callable[[str], None]
    ) -> None:
        self._server, self._post, self._told = server, post, told
        self._marks: dict[str, GroundMark] = {}
        self._words: list[viser.LabelHandle] = []
        self._handle: tuple[int, str] | None = None
        self._grip = np.zeros(3)
        self._loose = 0.0
        self._scene: Scene | None = None
        self._floors: Floors | None = None
        self._look: Callable[[float], str] = lambda height: SHOWN
        self._wanted = True

    @abstractmethod
    def _draw(self, scene: Scene) -> None:
        """Draw all marks of a scene by `_put`."""

    @abstractmethod
    def _moved(self, name: str, x: float, y: float) -> StudioEvent:
        """Return what happens when a mark was dragged; x, y is its new middle [m]."""

    def enter(self, scene: Scene, floors: Floors | None, look: Callable[[float], str]) -> None:
        """Draw the marks of a scene, but not on floors that are hidden.

        Args:
            scene: the scene.
            floors: its floors; None if it has one.
            look: how things look that stand at a height.
        """
        self._scene, self._floors, self._look, self._handle = scene, floors, look, None
        for handle in (*self._words, *(mark.handle for mark in self._marks.values())):
            handle.remove()
        self._marks, self._words = {}, []
        if self._wanted:
            self._draw(scene)

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

    def _put(
        self, name: str, area: shapely.Geometry, floor: Floor | None, color: Color, opacity: float, words: str,
        middle: tuple[float, float] | None = None, lift: float = LIFT,
    ) -> str | None:  # fmt: skip
        """Draw a mark.

        Args:
            name: its name.
            area: what is painted.
            floor: where it lies; None in a place with one floor.
            color: its colour.
            opacity: from 0 to 1.
            words: what a click on it tells.
            middle: the point that is told when it was dragged [m]; None for the middle of the area.
            lift: height over the ground [m].

        Returns:
            The node of the mark, so that more can be fixed to it; None if its floor is hidden.
        """
        assert self._scene is not None
        height = 0.0 if floor is None or floor.ground else floor.height
        if self._look(height) == HIDDEN:
            return None
        x, y = middle or (area.centroid.x, area.centroid.y)
        vertices, faces = flat_mesh(area, lift)
        relief = self._scene.world.terrain if floor is None or floor.ground else floor.relief
        if relief is not None:
            vertices[:, 2] += (relief.height(vertices[:, :2].astype(np.float64)) - height).astype(np.float32)
        vertices[:, :2] -= np.array([x, y], dtype=np.float32)
        node = f"/{self.folder}/{name.replace('/', '-')}"
        handle = self._server.scene.add_mesh_simple(
            node, vertices, faces, color=color, opacity=opacity, side="double", cast_shadow=False,
            receive_shadow=False, position=(x, y, height),
        )  # fmt: skip
        x0, y0, x1, y1 = area.bounds
        self._marks[name] = GroundMark(handle, (x, y), height, (x0 - x, y0 - y, x1 - x, y1 - y))
        handle.on_drag("left")(partial(self._drag, name))
        handle.on_click(lambda _: self._told(words))
        return node

    def _write(self, node: str, text: str, at: tuple[float, float, float]) -> None:
        """Write a text beside the middle of a mark [m], which moves with it."""
        label = self._server.scene.add_label(f"{node}/name", text, position=at, font_screen_scale=0.75)
        self._words.append(label)

    async def _drag(self, name: str, event: viser.SceneNodeDragEvent[viser.MeshHandle]) -> None:
        """Slide a mark over the ground under the pointer; its event is posted when it is let go."""
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
            self._post(self._moved(name, x, y))
