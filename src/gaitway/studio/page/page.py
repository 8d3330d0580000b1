"""The page of the studio: a scene in a browser, its keys and its panel."""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import viser

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import StudioError, WorldError
from gaitway.scene.scene import Scene
from gaitway.studio import events
from gaitway.studio.edits import item_names
from gaitway.studio.events import SetGoal, StudioEvent
from gaitway.studio.frames import StudioFrame, StudioRoute, StudioTrouble
from gaitway.studio.page.camera import PageCameras, ground_point, near_heights, on_level, seen_point
from gaitway.studio.page.flow import PageFlow
from gaitway.studio.page.gallery import PageWindows
from gaitway.studio.page.goals import GoalMarks
from gaitway.studio.page.marks import MOST_NAMES, PageNames, PageRoute, PageTraces
from gaitway.studio.page.panel import THINGS, PagePanel
from gaitway.studio.page.people import PagePeople
from gaitway.studio.page.place import PlaceView
from gaitway.studio.page.places import PlaceMarks, SourceMarks
from gaitway.studio.page.server import LocalServer
from gaitway.studio.page.storeys import PageStoreys
from gaitway.studio.page.things import PageThings
from gaitway.studio.page.troubles import TroubleMarks
from gaitway.studio.session import StudioSession
from gaitway.studio.tones import add_lights
from gaitway.world.levels.floors import Floors, has_levels

Action = Callable[[viser.ClientHandle], object]
_AGAIN = 0.5
"""Least time after which a key that is held down is posted again [s]."""
_RELEASED = 0.8
"""Pages tell that a key is down, again and again while it is held, and not that it was let go. When nothing was heard
for so long, it was [s]: longer than browsers wait before the first repetition."""


class PageKeys:
    """The keys of the page. This class is **mutable**."""

    def __init__(self, server: viser.ViserServer, page: StudioPage) -> None:
        self._page = page
        self._last: tuple[events.Drive, float] | None = None
        self._heard = 0.0
        panel, post = page.panel, page.post
        self._add(server, "Play or pause", ("P", "space"), lambda _: panel.toggle())
        self._add(server, "One frame", ("N",), lambda _: post(events.Step()))
        self._add(server, "Undo", ("Z",), lambda _: post(events.Undo()))
        self._add(server, "Redo", ("Y",), lambda _: post(events.Redo()))
        self._add(server, "From above", ("T",), lambda client: page.look(client, top=True))
        self._add(server, "The whole place", ("H",), page.look)
        self._add(server, "Hide the highest floor", ("L",), lambda _: page.lower_storey())
        self._add(server, "Follow the selected person", ("F",), page.follow)
        self._add(server, "Send the selected person", ("G",), lambda _: panel.hold("send"))
        self._add(server, "Turn the selected thing", ("R",), lambda _: page.turn_item())
        self._add(server, "Delete what is selected", ("delete", "backspace"), lambda _: panel.delete())
        self._add(server, "Put the tool down", ("escape",), lambda _: panel.hold(""))
        self._add(server, "Keys", ("K",), page.windows.show_keys)
        for number, thing in enumerate(THINGS, 1):
            self._add(server, f"Put a {thing}", (str(number),), partial(self._hold, thing))
        for label, keys, forward, turn in (
            ("Drive ahead", ("W", "arrowup"), 1.0, 0.0),
            ("Drive left", ("A", "arrowleft"), 0.6, 1.0),
            ("Drive right", ("D", "arrowright"), 0.6, -1.0),
            ("Stop", ("S", "arrowdown"), 0.0, 0.0),
        ):
            self._add(server, label, keys, partial(self._drive, forward, turn))

    def look(self) -> None:
        """Stop the character whose key was released; called in every frame."""
        last = self._last
        if last is not None and time.perf_counter() - self._heard > _RELEASED:
            self._last = None
            if last[0].forward or last[0].turn:
                self._page.post(events.Drive(last[0].character, 0.0, 0.0))

    def _add(self, server: viser.ViserServer, label: str, keys: tuple[str, ...], action: Action) -> None:
        for key in keys:
            command = server.gui.add_command(label, hotkey=key)  # type: ignore[arg-type]
            command.on_trigger(partial(_call, action))

    def _hold(self, thing: str, client: viser.ClientHandle) -> None:
        del client
        self._page.panel.hold(thing)

    def _drive(self, forward: float, turn: float, client: viser.ClientHandle) -> None:
        name, now = self._page.selected(), time.perf_counter()
        if not name:
            self._page.tell("click a person first, then drive it")
            return
        self._page.cameras.drive(client)
        event, self._heard = events.Drive(name, forward, turn), now
        if self._last is None or self._last[0] != event or now - self._last[1] > _AGAIN:
            self._last = (event, now)
            self._page.post(event)


def _call(action: Action, event: Any) -> None:
    """Carry out the action of a key for the viewer who pressed it."""
    if event.client is not None:
        action(event.client)


_INDIVIDUALS = 4096
"""Number of individuals that characters beyond those of the scene are drawn from."""
_SLOW = 0.2
"""Time between two drawings of trails, plans and names [s]."""
_MOST_PLANS = 200
"""Largest number of plans that are drawn."""
_TURN = 15.0
"""Angle by which a key turns an obstacle [degrees]."""


class StudioPage:
    """A front (`frames.StudioFront`) in a browser. This class is **mutable**.

    Attributes:
        panel: what can be pressed and read.
        cameras: where everybody looks from.
        windows: what is over the page.
        storeys: which floors are shown.
        tool: what a click on the ground does, or "".
        item: the thing that is selected, or "".
        dropped: frames that were left out, for nobody had got the one before.
        sending_ms: what the latest frame took to be handed to viser.
    """

    def __init__(self, server: LocalServer) -> None:
        self._server = server
        self._session: StudioSession | None = None
        self._scene: Scene | None = None
        self._roots: dict[str, FloatArray] = {}
        self._floors: Floors | None = None
        self._numbers: dict[str, int] = {}
        self._slow, self._left_out, self._marked, self._preparing = 0.0, False, False, True
        self._awaited: frozenset[str] | None = None
        """Things that there were when one more was put; the new one is to be selected."""
        self.tool, self.item, self.dropped, self.sending_ms = "", "", 0, 0.0
        self.cameras, self.windows = PageCameras(server), PageWindows()
        self._people = PagePeople(server, self._select, self._individual)
        self.storeys = PageStoreys()
        self._place = PlaceView(server, self.post, self.select_item, self.storeys)
        self._things = PageThings(server, self.storeys.at)
        self._way = PageRoute(server, self._send, self._under)
        self._traces, self._names = PageTraces(server), PageNames(server)
        self._troubles, self._flow, self._flows = TroubleMarks(server), PageFlow(server), False
        self._goals = GoalMarks(server, self.post, self.tell)
        self._places = (PlaceMarks(server, self.post, self.tell), SourceMarks(server, self.post, self.tell))
        self.panel = PagePanel(server, self.post, self)
        self._keys = PageKeys(server, self)
        server.scene.set_up_direction("+z")
        add_lights(server)
        server.scene.on_click()(self._on_ground)
        server.on_client_connect(self.look)
        server.on_client_disconnect(self._leave)

    def attach(self, session: StudioSession) -> None:
        """Take a session to show and to post to."""
        self._session = session
        self._preparing = False

    def show_place(self, scene: Scene) -> None:
        """Draw the world of a scene; a thing that was put just now is selected."""
        self._scene = scene
        self._floors = Floors.of(scene.world) if has_levels(scene.world) else None
        self._numbers = {character.name: number for number, character in enumerate(scene.characters)}
        names = item_names(scene.source)
        new = [name for name in names if self._awaited is not None and name not in self._awaited]
        self._awaited = None
        if self.storeys.enter(self._floors):
            self.panel.show_storeys()
        with self._server.atomic():
            self._place.show(scene)
            if new or (self.item and self.item not in names):
                self.select_item(new[-1] if new else "")
            self._place.ring(self.item)
            for marks in (self._goals, *self._places):
                marks.enter(scene, self._floors, self.storeys.at)
        self.panel.show_scene(scene)
        self.cameras.enter(scene)

    def show(self, frame: StudioFrame) -> None:
        """Draw a frame, unless the frame before is still being sent."""
        self._keys.look()
        self._left_out = not self._server.ready
        if self._left_out:
            self.dropped += 1
            return
        self._preparing = frame.preparing
        began = time.perf_counter()
        self._roots = dict(zip(frame.names, _roots(frame), strict=True))
        whole, frame = frame, self.storeys.seen(frame)
        roots = _roots(frame)
        with self._server.atomic():
            level = self._scene is not None and self._scene.world.terrain is None
            eyes = self.cameras.eyes()
            self._people.show(frame.joints, frame.names, self._heights, level, eyes, self.selected())
            self._place.move(frame.movers, frame.time)
            self._things.show(frame.things)
            for marks in (self._goals, *self._places):
                marks.look()
            if frame.troubles or self._marked:
                tops = [some.positions[:, :, 2].max(axis=1) for some in frame.joints]
                self._troubles.show(frame, roots, np.concatenate([np.empty(0), *tops]), self._heights)
                self._marked = bool(frame.troubles)
            self._traces.note(frame.time, frame.names, roots)
            self._flow.note(frame.time, frame.names, roots[:, :2])
            if began - self._slow > _SLOW:
                self._slow = began
                self._show_slow(frame, roots)
        self.panel.show_frame(began, whole, self.sending_ms, self.dropped)
        self._server.mark()
        self.sending_ms = 1e3 * (time.perf_counter() - began)

    def show_selected(self, name: str, behavior: str, ahead: StudioRoute | None) -> None:
        """Draw the plan of the selected character."""
        if self._left_out:
            return
        self.panel.show_selected(name, behavior, ahead)
        at = self._roots.get(name)
        self._way.show(ahead, at, self._heights, self.panel.shows("plans"), self.panel.shows("labels"))
        self.cameras.track(at)

    def tell(self, message: str) -> None:
        """Show a message to all viewers."""
        self.panel.tell(message)

    def post(self, event: StudioEvent) -> None:
        """Post an event to the session."""
        if self._session is not None and not self._preparing:
            self._session.post(event)
        else:
            self.tell("the scene is being prepared; in a moment")

    def selected(self) -> str:
        """Return the name of the selected character, or ""."""
        return "" if self._session is None else self._session.selected

    def look(self, client: viser.ClientHandle, top: bool = False) -> None:
        """Let a viewer see the whole world."""
        self.cameras.look(client, top)

    def viewers(self) -> list[viser.ClientHandle]:
        """Return all viewers."""
        return list(self._server.get_clients().values())

    def shown(self) -> list[tuple[int, FloatArray]]:
        """Return joints, and where their pieces are (N, 3) [m]."""
        return self._people.shown()

    def whole(self) -> dict[str, FloatArray]:
        """Return the vertices [m] of those who have whole bodies, by name; (V, 3) each."""
        return self._people.vertices()

    def close(self) -> None:
        """Remove all people, and end the threads that make their bodies."""
        self._people.close()

    def visit(self, trouble: StudioTrouble, client: viser.ClientHandle) -> None:
        """Let a viewer see a trouble: its moment in a take, and the place."""
        if self._session is not None and self._session.engine.mode == "take":
            self.post(events.Pause())
            self.post(events.Scrub(trouble.time))
        here = trouble.names[0]
        if here in self._roots:
            self._select(here)
        at = self._roots.get(here) if trouble.kind in ("stuck", "not arrived") else None
        place = at if at is not None else trouble.place
        if place is not None:
            self.cameras.fly(client, place)

    def await_item(self) -> None:
        """Select the thing that is put next, so that it can be dragged at once."""
        self._awaited = frozenset(item_names(self._scene.source)) if self._scene is not None else None

    def follow(self, client: viser.ClientHandle) -> None:
        """Let a viewer's camera follow the selected character, or no longer."""
        if not self.selected():
            self.tell("click a person first, then follow it")
        else:
            self.cameras.toggle(client)

    def show_what(self, what: str, on: bool) -> None:
        """Show something, or no longer."""
        if what in ("grid", "clearance"):
            self._place.ground.show(what, on)
        elif what == "capsules":
            self._people.capsules = on
        elif what == "contacts":
            self._people.contacts = on
        elif what == "goals":
            self._goals.show(on)
        elif what == "places":
            for marks in self._places:
                marks.show(on)
        self._slow = 0.0

    def select_item(self, item: str) -> None:
        """Select an obstacle or mover, or none."""
        self.item = item
        self._place.ring(item)
        self.panel.show_item(item, self._place.words(item))

    def turn_item(self) -> None:
        """Turn the selected obstacle or mover a little."""
        if self.item:
            self._place.turn(self.item, _TURN)
        else:
            self.tell("click a thing first, then turn it")

    def _show_slow(self, frame: StudioFrame, roots: FloatArray) -> None:
        """Draw trails, plans of all characters, flow and density, and names."""
        self._traces.show_trails(self.panel.shows("trails"), self._heights)
        self._traces.show_plans(self._all_ahead(frame) if self.panel.shows("all plans") else (), self._heights)
        flows = self.panel.shows("flow and density")
        if self._scene is not None and (flows or self._flows):
            self._flow.show(flows, self._scene.world.bounds, self._heights)
            self._flows = flows
        named = self.cameras.nearest(roots, MOST_NAMES) if self.panel.shows("names") else ()
        heads = np.array([[*roots[k, :2], roots[k, 2] + 0.95] for k in named]).reshape(-1, 3)
        self._names.show([frame.names[k] for k in named], heads)

    def _all_ahead(self, frame: StudioFrame) -> list[StudioRoute]:
        if self._session is None:
            return []
        out = []
        for name in frame.names[:_MOST_PLANS]:
            try:
                out.append(self._session.engine.ahead(name))
            except StudioError:  # it went away just now
                continue
        return out

    def _individual(self, name: str) -> int:
        """Return which individual somebody is: as in films, the number in the scene; others are told by their names."""
        number = self._numbers.get(name)
        return zlib.crc32(name.encode()) % _INDIVIDUALS if number is None else number

    def _heights(self, points: FloatArray) -> FloatArray:
        """Return heights of the ground at points (N, 2), or of the ground nearest to points (N, 3); (N,)."""
        return np.zeros(len(points)) if self._scene is None else near_heights(self._scene.world, points)

    def _select(self, name: str) -> None:
        if self._session is not None:
            self._session.select(name)
            self.select_item("")

    def lower_storey(self) -> None:
        """Hide the highest storey that is seen, or show all again."""
        if self.storeys.storeys:
            self.storeys.lower()
            self.panel.show_storeys()
            self._show_storeys()
        else:
            self.tell("there is one floor here, or a mesh, which is one thing")

    def set_storey(self, name: str, look: str) -> None:
        """Let a storey be shown, faded or hidden."""
        if self.storeys.set(name, look):
            self._show_storeys()

    def _show_storeys(self) -> None:
        if self._scene is None:
            return
        with self._server.atomic():
            self._place.show(self._scene)
            for marks in (self._goals, *self._places):
                marks.enter(self._scene, self._floors, self.storeys.at)
            self._place.ring(self.item)
        self._slow = 0.0

    def _under(self, eye: FloatArray, to: FloatArray) -> tuple[float, float, float]:
        """Return the place to stand at that is seen from a point (3,) through another (3,); NaN if there is none."""
        if self._scene is None:
            return (math.nan,) * 3
        if self._floors is None:
            x, y = on_level(eye, to, float(self._scene.world.ground(to[:2]))).tolist()
            return x, y, float(self._scene.world.ground(np.array([x, y])))
        world = self.storeys.solid(self._scene.world)
        return seen_point(world, tuple(eye.tolist()), tuple((to - eye).tolist())) or (math.nan,) * 3

    def _send(self, place: tuple[float, float, float]) -> None:
        """Give the selected character another goal, within bounds, on the floor at that place."""
        if self._scene is None or not self.selected():
            return
        (x0, y0, x1, y1), (x, y, z) = self._scene.world.bounds, place
        x, y = min(max(x, x0), x1), min(max(y, y0), y1)
        floor = self._floor_at((x, y, z)) if self._floors is not None else ""
        if floor is not None:
            self.post(SetGoal(self.selected(), x, y, floor))

    def _floor_at(self, place: tuple[float, float, float]) -> str | None:
        """Return the name of the floor at a place; None if there is none, which is said."""
        assert self._floors is not None
        try:
            return self._floors.at(*place).name
        except WorldError:
            self.tell("nobody can stand there")
            return None

    def _leave(self, client: viser.ClientHandle) -> None:
        self._place.let_go(client.client_id)
        self._way.let_go(client.client_id)
        for marks in (self._goals, *self._places):
            marks.let_go(client.client_id)
        self.cameras.forget(client)
        self.windows.forget(client)

    def _on_ground(self, event: viser.SceneClickEvent) -> None:
        """Use the selected tool at a place on the ground."""
        if self._scene is None or not self.tool:
            return
        if self._floors is None:
            at = ground_point(self._scene, event.ray_origin, event.ray_direction)
            if at is not None:
                self.panel.use_tool(self.tool, (*at, 0.0))
            return
        seen = seen_point(self.storeys.solid(self._scene.world), event.ray_origin, event.ray_direction)
        floor = None if seen is None else self._floor_at(seen)
        if seen is not None and floor is not None:
            self.panel.use_tool(self.tool, seen, floor)


def _roots(frame: StudioFrame) -> FloatArray:
    """Return the root positions of all characters of a frame [m]; (N, 3)."""
    return np.concatenate([np.empty((0, 3)), *(some.positions[:, 0] for some in frame.joints)])
