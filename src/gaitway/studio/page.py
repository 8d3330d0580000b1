"""The page: a session in a browser, by viser. Everything here only shows, or posts events."""

from __future__ import annotations

import time

import numpy as np
import viser

from gaitway.scene.scene import Scene
from gaitway.studio.events import Event
from gaitway.studio.frames import Ahead, Frame
from gaitway.studio.page_panel import Panel
from gaitway.studio.page_people import People
from gaitway.studio.page_place import PlaceView, ground_point
from gaitway.studio.session import Session

_WAY, _GOAL = (210, 90, 60), (60, 150, 90)
"""Colours of what the selected character means to do."""
_LIFT = 0.03
"""How high over the ground lines are drawn [m]."""
_SLOWEST = 0.12
"""Where a viewer is slower than this between frames [s], frames are left out for it."""


class LocalServer(viser.ViserServer):
    """A server of viser that never asks an outside relay to forward it."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Refuse: a page that wants to be shared is not."""
        del verbose
        return None


class Page:
    """A front (`front.Front`) in a browser. This class is **mutable**."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._server = server
        self._session: Session | None = None
        self._scene: Scene | None = None
        self._people = People(server, self._select)
        self._place = PlaceView(server, self._post, self._select_item)
        self.panel = Panel(server, self._post, self)
        self._drawn = 0.0
        self._marks: list[viser.SceneNodeHandle] = []
        self._labels: tuple[tuple[str, float, float], ...] = ()
        self.tool = ""
        self.follow = False
        self.item = ""
        server.scene.set_up_direction("+z")
        server.scene.configure_default_lights(True, cast_shadow=False)
        server.scene.on_click()(self._on_ground)
        server.on_client_connect(self._welcome)

    def attach(self, session: Session) -> None:
        """Take a session to show and to post to."""
        self._session = session

    def show_place(self, scene: Scene) -> None:
        """Draw a place."""
        first = self._scene is None or self._scene.world.bounds != scene.world.bounds
        self._scene = scene
        with self._server.atomic():
            self._place.show(scene)
        self.panel.show_scene(scene)
        if first:
            for client in self._server.get_clients().values():
                self.look(client)

    def show(self, frame: Frame) -> None:
        """Draw a moment."""
        now = time.perf_counter()
        if frame.playing and now - self._drawn < 1.0 / 40.0:
            return
        self._drawn = now
        with self._server.atomic():
            self._people.show(frame.joints, frame.names)
            self._place.move(frame.movers)
        self.panel.show_frame(frame)
        if self.follow and self._session is not None and self._session.selected in frame.names:
            self._track(frame, frame.names.index(self._session.selected))

    def show_selected(self, name: str, behavior: str, ahead: Ahead | None) -> None:
        """Draw what the selected character means to do."""
        self.panel.show_selected(name, behavior, ahead)
        self._draw_way(ahead)

    def tell(self, message: str) -> None:
        """Say something to everybody who looks."""
        self.panel.tell(message)

    def look(self, client: viser.ClientHandle, top: bool = False) -> None:
        """Let a viewer see all of the place."""
        if self._scene is None:
            return
        x0, y0, x1, y1 = self._scene.world.bounds
        middle, size = np.array([0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.0]), max(x1 - x0, y1 - y0)
        away = np.array([0.0, -0.001, 1.15]) if top else np.array([0.05, -0.72, 0.55])
        client.camera.position = tuple(middle + size * away)
        client.camera.look_at = tuple(middle)

    def _welcome(self, client: viser.ClientHandle) -> None:
        self.look(client)

    def _post(self, event: Event) -> None:
        if self._session is not None:
            self._session.post(event)

    def _select(self, name: str) -> None:
        if self._session is not None:
            self._session.select(name)
            self.item = ""

    def _select_item(self, item: str) -> None:
        self.item = item
        self.panel.show_item(item)

    def _on_ground(self, event: viser.SceneClickEvent) -> None:
        """Do with a place on the ground what the tool in hand is for."""
        if self._scene is None or event.ray_origin is None or event.ray_direction is None:
            return
        at = ground_point(self._scene, event.ray_origin, event.ray_direction)
        if at is None:
            return
        self.panel.use_tool(self.tool, at)

    def selected(self) -> str:
        """Name of the selected character, or ""."""
        return "" if self._session is None else self._session.selected

    def viewers(self) -> list[viser.ClientHandle]:
        """Who looks."""
        return list(self._server.get_clients().values())

    def _track(self, frame: Frame, number: int) -> None:
        """Keep the selected character in the middle of every view."""
        roots = np.concatenate([some.positions[:, 0] for some in frame.joints])
        target = roots[number]
        for client in self.viewers():
            offset = np.array(client.camera.position) - np.array(client.camera.look_at)
            client.camera.look_at = tuple(target)
            client.camera.position = tuple(target + offset)

    def _draw_way(self, ahead: Ahead | None) -> None:
        scene = self._server.scene
        for mark in self._marks:
            mark.remove()
        self._marks = []
        if ahead is None or len(ahead.points) < 2 or not self.panel.shows("plans"):
            return
        points = np.column_stack([ahead.points, np.full(len(ahead.points), _LIFT)])
        lines = np.stack([points[:-1], points[1:]], axis=1)
        self._marks.append(scene.add_line_segments("/way/line", lines, _WAY, thickness=0.07))
        if ahead.goal is not None:
            self._marks.append(
                scene.add_icosphere(
                    "/way/goal", 0.22, _GOAL, subdivisions=2, position=(*ahead.goal, 0.22), cast_shadow=False
                )
            )
        if self.panel.shows("labels"):
            for number, (behavior, x, y) in enumerate(ahead.labels[:12]):
                self._marks.append(scene.add_label(f"/way/label{number}", behavior, position=(x, y, 0.1)))
