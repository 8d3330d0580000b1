"""Things that people handle, on the page: one mesh each, that goes where its thing is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import viser

from gaitway.core.arrays import FloatArray
from gaitway.studio.page.storeys import HIDDEN
from gaitway.studio.things import StudioThing
from gaitway.studio.tones import surface_color
from gaitway.take.things import ThingTrack
from gaitway.world.surface import surface


class PageThings:
    """Meshes of things. This class is **mutable**.

    Attributes:
        look: how a thing looks whose underside is so high [m], as `PageStoreys.at` says.
    """

    def __init__(self, server: viser.ViserServer, look: Callable[[float], str]) -> None:
        self._server, self.look = server, look
        self._drawn: dict[str, tuple[tuple[object, ...], viser.MeshHandle]] = {}
        self._at: dict[str, FloatArray] = {}

    def show(self, things: Sequence[StudioThing]) -> None:
        """Draw things where they are; what has not moved is not sent again."""
        there = {thing.track.name for thing in things}
        for name in [name for name in self._drawn if name not in there]:
            self._drawn.pop(name)[1].remove()
            del self._at[name]
        for number, thing in enumerate(things):
            handle = self._handle(number, thing.track)
            where = np.concatenate([thing.place, thing.turn])
            if not np.array_equal(self._at.get(thing.track.name, ()), where):
                handle.position, handle.wxyz = thing.place, thing.turn
                self._at[thing.track.name] = where
            seen = self.look(float(thing.place[2])) != HIDDEN
            if handle.visible != seen:
                handle.visible = seen

    def _handle(self, number: int, track: ThingTrack) -> viser.MeshHandle:
        """Return the mesh of a thing, drawn anew if the thing looks different now."""
        wanted = (number, track.shape, track.size, track.color, track.mesh)
        if track.name in self._drawn:
            known, handle = self._drawn[track.name]
            if known == wanted:
                return handle
            handle.remove()
            self._at.pop(track.name, None)
        vertices, faces = surface(track.solid())
        made = self._server.scene.add_mesh_simple(
            f"/things/{number}", vertices.astype(np.float32), faces.astype(np.uint32),
            color=surface_color(track.color), flat_shading=track.shape in ("box", "mesh"), cast_shadow=False,
            receive_shadow=False,
        )  # fmt: skip
        self._drawn[track.name] = (wanted, made)
        return made
