"""Keys of the page."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import viser

from gaitway.studio import events
from gaitway.studio.page.gallery import show_keys
from gaitway.studio.page.panel import THINGS

if TYPE_CHECKING:
    from gaitway.studio.page.page import Page

Action = Callable[[viser.ClientHandle], object]
_AGAIN = 0.5
"""A key that is held down is posted again after this time [s], and no sooner."""
_RELEASED = 0.8
"""Pages tell that a key is down, again and again while it is held, and not that it was let go. When nothing was heard
for so long, it was [s]: longer than browsers wait before the first repetition."""


class Keys:
    """What keys do. This class is **mutable**."""

    def __init__(self, server: viser.ViserServer, page: Page) -> None:
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
        self._add(server, "Follow the selected person", ("F",), page.follow)
        self._add(server, "Send the selected person", ("G",), lambda _: panel.hold("send"))
        self._add(server, "Turn the selected thing", ("R",), lambda _: page.turn_item())
        self._add(server, "Delete what is selected", ("delete", "backspace"), lambda _: panel.delete())
        self._add(server, "Put the tool down", ("escape",), lambda _: panel.hold(""))
        self._add(server, "Keys", ("K",), show_keys)
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
        """Let somebody stop whose key was let go; called in every frame."""
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
    """Do what a key is for, for whoever pressed it."""
    if event.client is not None:
        action(event.client)
