"""A session: events from any thread, applied between ticks, recorded, and shown.

A recorded session is a file of lines, one JSON object each: first the scene, then every event with the number of the
tick before which it was applied. Played again it leads to the same bytes.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from gaitway.core.errors import FormatError, GaitwayError, StudioError
from gaitway.core.files import atomic_write
from gaitway.scene.scene import Scene, scene_from_dict
from gaitway.scene.writing import scene_to_yaml
from gaitway.studio.engine import Say, StudioEngine
from gaitway.studio.events import MoveItem, StudioEvent, event_from, event_to_dict
from gaitway.studio.frames import NullFront, StudioFront

MOST_WAITING = 500
"""Largest number of events that wait for a tick; more are dropped."""
_VERSION = 1


class StudioSession:
    """An engine, its front, and its events. This class is **mutable**.

    `post` may be called from any thread, all else from one.

    Attributes:
        engine: what happens.
        front: who is shown it.
        selected: name of the character that is selected, or "".
        dropped: events that came too fast and were left out.
    """

    def __init__(self, scene: Scene, front: StudioFront | None = None, say: Say | None = None) -> None:
        self.front: StudioFront = front or NullFront()
        self._first = scene_to_yaml(scene.source)
        self.engine = StudioEngine(scene, say or self.front.tell)
        self.selected = ""
        self.dropped, self._told = 0, ""
        self._waiting: deque[StudioEvent] = deque()
        self._lock = threading.Lock()
        self._log: list[tuple[int, StudioEvent]] = []
        self._ticks = 0
        self.front.show_place(scene)
        self._edition = 0

    def post(self, event: StudioEvent) -> None:
        """Let an event be applied before the next tick; of several moves of one obstacle only the latest counts."""
        with self._lock:
            last = self._waiting[-1] if self._waiting else None
            if isinstance(event, MoveItem) and isinstance(last, MoveItem) and last.item == event.item and not last.done:
                self._waiting[-1] = event
            elif len(self._waiting) < MOST_WAITING:
                self._waiting.append(event)
            else:
                self.dropped += 1

    def tick(self) -> None:
        """Apply the events that wait, go on by a frame, and show it."""
        with self._lock:
            events, self._waiting = list(self._waiting), deque()
        for event in events:
            self.apply(event)
        self.engine.tick()
        self._ticks += 1
        self.show()

    def apply(self, event: StudioEvent) -> None:
        """Apply an event at once; if it cannot be applied, the front is told why."""
        try:
            self.engine.apply(event)
        except StudioError as problem:
            self.front.tell(str(problem))
        else:
            self._log.append((self._ticks, event))

    def select(self, name: str) -> None:
        """Select a character by name; "" selects none."""
        self.selected = name

    def show(self) -> None:
        """Show the present frame."""
        frame = self.engine.frame()
        if frame.edition != self._edition:
            self._edition = frame.edition
            self.front.show_place(self.engine.scene)
        self.front.show(frame)
        if frame.message != self._told:
            self._told = frame.message
            if frame.message:
                self.front.tell(frame.message)
        if self.selected and self.selected not in frame.names:
            self.selected = ""
        known = self.selected
        self.front.show_selected(
            known, self.engine.behavior(known) if known else "", self.engine.ahead(known) if known else None
        )

    def save_log(self, path: str | Path) -> None:
        """Write the recorded events, as `replay` reads them.

        Raises:
            FormatError: if it cannot be written.
        """
        lines: list[dict[str, Any]] = [{"gaitway session": _VERSION, "scene": self._first, "ticks": self._ticks}]
        lines += [{"tick": tick, **event_to_dict(event)} for tick, event in self._log]
        with atomic_write(path) as file:
            file.write("".join(f"{json.dumps(line)}\n" for line in lines).encode())

    def close(self) -> None:
        """End the thread that plans."""
        self.engine.close()


def replay(path: str | Path, front: StudioFront | None = None) -> StudioSession:
    """Play a recorded session again, as fast as it goes.

    Raises:
        FormatError: if it is no record of a session.
    """
    place = Path(path)
    try:
        lines = place.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise FormatError(place, f"cannot be read: {problem}") from None
    head, entries = _parsed(place, lines)
    session = StudioSession(_scene(place, head["scene"]), front)
    waiting = deque(entries)
    for tick in range(int(head["ticks"])):
        while waiting and waiting[0][0] <= tick:
            session.apply(waiting.popleft()[1])
        session.tick()
    return session


def _parsed(place: Path, lines: Iterable[str]) -> tuple[dict[str, Any], list[tuple[int, StudioEvent]]]:
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            rows.append(json.loads(line))
        except ValueError:
            raise FormatError(place, f"line {number} is not JSON; record the session anew") from None
    if not rows or not isinstance(rows[0], dict) or rows[0].get("gaitway session") != _VERSION:
        raise FormatError(place, "no record of a session; 'gaitway studio --record FILE' writes one")
    head, entries = rows[0], []
    if not isinstance(head.get("scene"), str) or not isinstance(head.get("ticks"), int) or head["ticks"] < 0:
        raise FormatError(place, "line 1 lacks its scene or the number of its ticks; record the session anew")
    for number, row in enumerate(rows[1:], 2):
        try:
            tick = row.pop("tick")
            entries.append((int(tick), event_from(row)))
        except (AttributeError, KeyError, TypeError, ValueError, StudioError) as problem:
            raise FormatError(place, f"line {number}: {problem}") from None
    return head, entries


def _scene(place: Path, text: str) -> Scene:
    try:
        return scene_from_dict(yaml.safe_load(text), place.parent)
    except (yaml.YAMLError, GaitwayError) as problem:
        raise FormatError(place, f"its scene does not hold together: {problem}") from None
