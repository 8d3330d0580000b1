"""The ground of the page: paving, surroundings, shadows of obstacles, a metre grid, and a map of clearance."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import trimesh
import viser
from PIL import Image

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.studio.page.paint import TEXTURE, Pixels, flat_mesh, paving, room_picture, sky, soft_shadows
from gaitway.studio.tones import BACKDROP, FLOOR, SHADE, surface_color
from gaitway.world.surface import terrain_surface
from gaitway.world.world import World

_EDGE = (190, 187, 181)
_LIFTS = {"shadow": 0.012, "room": 0.02, "grid": 0.025}
"""Heights of layers over the ground, so that they do not flicker [m]."""


class PageGround:
    """The ground under all characters and obstacles. This class is **mutable**."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._scene = server.scene
        self._world: World | None = None
        self._shadows: list[viser.MeshHandle] = []
        self._room: viser.GlbHandle | None = None
        self._grid: viser.LineSegmentsHandle | None = None
        self.wanted = {"grid": False, "clearance": False}
        server.scene.set_background_image(sky(), format="png")

    def enter(self, world: World) -> None:
        """Draw the ground of a world, with the shadows of its obstacles."""
        before, self._world = self._world, world
        if before is None or before.bounds != world.bounds or before.terrain is not world.terrain:
            self._draw_ground(world)
        self._draw_shadows(world)
        self._draw_room()
        self._draw_grid()

    def show(self, what: str, on: bool) -> None:
        """Show "grid" or "clearance", or hide it."""
        self.wanted[what] = on
        self._draw_room()
        self._draw_grid()

    def _draw_ground(self, world: World) -> None:
        x0, y0, x1, y1 = world.bounds
        size = max(x1 - x0, y1 - y0)
        vertices, faces = terrain_surface(world.terrain, world.bounds)
        mesh = _painted(vertices, faces, vertices[:, :2] / TEXTURE, paving())
        self._scene.add_mesh_trimesh("/ground", mesh, cast_shadow=False, position=(0.0, 0.0, -0.004))
        low = float(vertices[:, 2].min())
        far = 4.0 * size
        corners = np.array([[x0 - far, y0 - far], [x1 + far, y0 - far], [x1 + far, y1 + far], [x0 - far, y1 + far]])
        self._scene.add_mesh_simple(
            "/meadow", np.column_stack([corners, np.full(4, low - 0.06)]), np.array([[0, 1, 2], [0, 2, 3]]),
            color=surface_color(BACKDROP), cast_shadow=False, receive_shadow=False,
        )  # fmt: skip
        rim = self._on_ground(_dense(np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]])), 0.01)
        self._scene.add_line_segments("/edge", np.stack([rim[:-1], rim[1:]], axis=1), _EDGE, thickness=0.08)

    def _draw_shadows(self, world: World) -> None:
        for handle in self._shadows:
            handle.remove()
        self._shadows = []
        if world.terrain is not None:
            return  # a flat shadow would be cut by the slopes
        for number, (area, share) in enumerate(soft_shadows(world)):
            vertices, faces = flat_mesh(area, _LIFTS["shadow"] * (0.5 + 0.5 * share))
            if len(faces):
                color = surface_color(FLOOR, 1.0 - share * SHADE)
                self._shadows.append(
                    self._scene.add_mesh_simple(
                        f"/shadow/{number}", vertices, faces, color=color, side="double", cast_shadow=False,
                        receive_shadow=False,
                    )
                )  # fmt: skip

    def _draw_room(self) -> None:
        if self._room is not None:
            self._room.remove()
            self._room = None
        if self._world is None or not self.wanted["clearance"]:
            return
        world = self._world
        colors, bounds = room_picture(world)
        x0, y0, x1, y1 = bounds
        corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
        vertices, faces = np.column_stack([corners, np.zeros(4)]), np.array([[0, 1, 2], [0, 2, 3]])
        if world.terrain is not None:
            vertices, faces = terrain_surface(world.terrain, bounds)
        mesh = _painted(vertices, faces, (vertices[:, :2] - (x0, y0)) / (x1 - x0, y1 - y0), colors[::-1])
        self._room = self._scene.add_mesh_trimesh("/room", mesh, cast_shadow=False, position=(0.0, 0.0, _LIFTS["room"]))

    def _draw_grid(self) -> None:
        if self._grid is not None:
            self._grid.remove()
            self._grid = None
        if self._world is None or not self.wanted["grid"]:
            return
        x0, y0, x1, y1 = self._world.bounds
        lines = [((x, y0), (x, y1)) for x in np.arange(np.ceil(x0), x1 + 1e-9)]
        lines += [((x0, y), (x1, y)) for y in np.arange(np.ceil(y0), y1 + 1e-9)]
        strokes = [self._on_ground(_dense(np.array(line)), _LIFTS["grid"]) for line in lines]
        points = np.concatenate([np.stack([s[:-1], s[1:]], axis=1) for s in strokes])
        self._grid = self._scene.add_line_segments("/grid", points, (128, 138, 150), thickness=0.02)

    def _on_ground(self, points: FloatArray, over: float) -> FloatArray:
        """Return points (K, 2) at a height over the ground [m]; (K, 3)."""
        if self._world is None or self._world.terrain is None:
            return np.column_stack([points, np.full(len(points), over)])
        return np.column_stack([points, self._world.ground(points) + over])


def _painted(vertices: FloatArray, faces: IntArray, uv: FloatArray, picture: Pixels) -> trimesh.Trimesh:
    """Return a mesh with a picture on it, which may be transparent."""
    paint: Any = trimesh.visual
    material = paint.material.PBRMaterial(
        baseColorTexture=Image.fromarray(picture), roughnessFactor=1.0, metallicFactor=0.0,
        alphaMode="BLEND" if picture.shape[-1] == 4 else "OPAQUE",
    )  # fmt: skip
    visual = paint.TextureVisuals(uv=uv, material=material)
    return trimesh.Trimesh(vertices, faces, visual=visual, process=False)


def _dense(corners: FloatArray, step: float = 1.0) -> FloatArray:
    """Return a line with points no farther apart than a distance, so that it can follow slopes; (K, 2)."""
    parts = [corners[:1]]
    for a, b in pairwise(corners):
        count = max(int(np.ceil(np.linalg.norm(b - a) / step)), 1)
        parts.append(a + (b - a) * np.arange(1, count + 1)[:, None] / count)
    return np.concatenate(parts)
