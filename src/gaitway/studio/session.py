"""A session: events from any thread, applied between ticks, recorded, and shown.

A recorded session is a file of lines, one JSON object each: first the scene, then every event with the number of the
tick before which it was applied. Played again it leads to the same bytes. A file that is written while the session goes
on has the number of ticks so far about once a second, so that a session that was killed can be played again too.

A take is planned on another thread while the live place goes on. When it is ready the session goes to it, by an event
that is recorded with its tick as any other; played again, the take is planned at that tick.
"""

from __future__ import annotations

import json
import logging
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any, Literal

from gaitway.core.errors import FormatError, GaitwayError, StudioError
from gaitway.core.files import atomic_write
from gaitway.scene.reading.nodes import parse_nodes
from gaitway.scene.scene import Scene, scene_from_dict
from gaitway.scene.writing import relocated, scene_to_yaml
from gaitway.studio.engine import Say, StudioEngine
from gaitway.studio.events import CancelPlanning, MoveItem, SetMode, StudioEvent, event_from, event_to_dict
from gaitway.studio.frames import NullFront, StudioFront
from gaitway.studio.take_planning import TakePlanning

MOST_WAITING = 500
"""Largest number of events that wait for a tick; more are dropped."""
MOST_KEPT = 1_000_000
"""Largest number of events that are kept in memory for `save_log`."""
MOST_BYTES, MOST_TICKS = 64 * 1024 * 1024, 30 * 60 * 60 * 24
"""Largest record that is read [bytes], and the number of ticks of a day."""
_BUDGET = 0.1
"""Time for the events of one tick [s]; at least one is applied, and the others wait for the next tick."""
_MARKED = 30
"""Number of ticks between two notes of their number in a record."""
_LONGEST = 300
"""Largest number of letters of a message about an error."""
_VERSION = 1
_LOG = logging.getLogger(__name__)


class StudioSession:
    """An engine, its front, and its events. This class is **mutable**.

    `post` may be called from any thread, all else from one.

    Attributes:
        engine: what happens.
        front: who is shown it.
        selected: name of the character that is selected, or "".
        dropped: events that came too fast and were left out.
        failures: errors that ticks and events survived.
    """

    def __init__(
        self,
        scene: Scene,
        front: StudioFront | None = None,
        say: Say | None = None,
        engine: StudioEngine | None = None,
        plans: Literal["at once", "meanwhile", "as recorded"] = "at once",
    ) -> None:
        """Begin.

        Args:
            scene: the place and who wants to be where.
            front: who is shown what happens.
            say: called with what is being done while it takes long; the front is told if left out.
            engine: an engine of that scene that is made already.
            plans: when takes are planned: at once, so that a tick takes as long as that; on another thread while ticks
                go on; or, for a record, only when it says so.
        """
        self._plans = plans
        self._planning: TakePlanning | None = None
        self.front: StudioFront = front or NullFront()
        self._first = scene
        self.engine = engine or StudioEngine(scene, say or self.front.tell)
        self.selected = ""
        self.dropped, self.failures, self._told, self._failed = 0, 0, "", ""
        self._waiting: deque[StudioEvent] = deque()
        self._lock = threading.Lock()
        self._log: list[tuple[int, StudioEvent]] = []
        self._count, self._ticks = 0, 0
        self._file: FileIO | None = None
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
        """Apply the events that wait, go on by a frame, and show it.

        An error, whosever it is, ends none of that: the front is told of it, and time stands still.
        """
        began, done = time.perf_counter(), False
        while not done or time.perf_counter() - began < _BUDGET:
            with self._lock:
                if not self._waiting:
                    break
                event = self._waiting.popleft()
            self._survives(partial(self.apply, event))
            done = True
        if self._planning is not None and self._planning.done:
            self._survives(self._finish)
        if not self._survives(self.engine.tick):
            self.engine.playing = False
        self._ticks += 1
        if self._file is not None and self._ticks % _MARKED == 0:
            self._write({"ticks": self._ticks})
        if not self._survives(self.show):
            self.selected = ""

    def apply(self, event: StudioEvent) -> None:
        """Apply an event at once; if it cannot be applied, the front is told why.

        A take that is not planned yet may come later; see `plans`. An edit of the scene of a take has it planned anew.
        """
        if isinstance(event, CancelPlanning):
            self._cancel("planning was cancelled")
            return
        if isinstance(event, SetMode) and event.mode == "live":
            self._cancel("")
        if isinstance(event, SetMode) and event.mode == "take" and self.engine.stale and self._plans == "meanwhile":
            self._plan()
            return
        before = self.engine.scene
        if not self._applied(event) or self.engine.scene is before or self._plans == "as recorded":
            return
        wanted = self._planning is not None or self.engine.mode == "take"
        if wanted and not (isinstance(event, MoveItem) and not event.done):
            if self._plans == "meanwhile":
                self._plan()
            elif not self._applied(SetMode("take")):
                self._applied(SetMode("live"))

    def _applied(self, event: StudioEvent) -> bool:
        """Let the engine carry out an event, and record it; return whether it could be."""
        try:
            self.engine.apply(event)
        except StudioError as problem:
            self.front.tell(str(problem))
            return False
        except Exception as problem:  # it may have been done in part, so it is recorded
            self.fail(problem)
        self._count += 1
        if self._count <= MOST_KEPT:
            self._log.append((self._ticks, event))
        if self._file is not None:
            self._write({"tick": self._ticks, **event_to_dict(event)})
        return True

    @property
    def planning(self) -> str:
        """What is being done for the take that is planned meanwhile; "" if none is."""
        return "" if self._planning is None else self._planning.words

    def _plan(self) -> None:
        """Let the scene as it is now be planned meanwhile."""
        if self._planning is not None:
            if self._planning.scene is self.engine.scene:
                return
            self._planning.cancel()
        self._planning = TakePlanning(self.engine.scene)

    def _cancel(self, words: str) -> None:
        if self._planning is not None:
            self._planning.cancel()
            self._planning = None
            self.front.tell(words)
            if self.engine.mode == "take" and self.engine.stale:
                self._applied(SetMode("live"))

    def _finish(self) -> None:
        """Go to the take that was planned meanwhile, or say why there is none."""
        planning, self._planning = self._planning, None
        assert planning is not None
        try:
            self.engine.offer(planning.scene, planning.result())
        except Exception as problem:
            if self.engine.mode == "take":
                self._applied(SetMode("live"))
            self.fail(problem) if not isinstance(problem, GaitwayError) else self.front.tell(str(problem))
            return
        self.front.tell("")
        self._applied(SetMode("take"))

    def fail(self, problem: Exception) -> None:
        """Tell the front of an error that is survived, and log it if it is another than the one before."""
        self.failures += 1
        text = failure(problem)
        if text != self._failed:
            self._failed = text
            _LOG.error("studio: %s", text)
        with suppress(Exception):  # the front itself may be what failed
            self.front.tell(text)

    def select(self, name: str) -> None:
        """Select a character by name; "" selects none."""
        self.selected = name

    def show(self) -> None:
        """Show the present frame."""
        frame = replace(self.engine.frame(), planning=self.planning)
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
            FormatError: if it cannot be written, or there were more events than are kept.
        """
        if self._count > MOST_KEPT:
            raise FormatError(path, f"the session has {self._count:,} events; record it while it goes on instead")
        lines = [{**self._head(path), "ticks": self._ticks}, *self._lines()]
        with atomic_write(path) as file:
            file.write("".join(f"{json.dumps(line)}\n" for line in lines).encode())

    def record(self, path: str | Path) -> None:
        """Write all events to a file, those so far and then each at once, until the session is closed.

        Raises:
            FormatError: if it cannot be written.
        """
        try:
            self._file = FileIO(path, "w")
        except OSError as problem:
            raise FormatError(path, f"cannot be written: {problem.strerror or problem}") from None
        for line in (self._head(path), *self._lines(), {"ticks": self._ticks}):
            self._write(line)

    def close(self) -> None:
        """End the record, and the threads that plan."""
        if self._planning is not None:
            self._planning.cancel()
            self._planning = None
        if self._file is not None:
            self._write({"ticks": self._ticks})
        if self._file is not None:
            self._file.close()
            self._file = None
        self.engine.close()

    def _head(self, path: str | Path) -> dict[str, Any]:
        """Return the first line of a record, with file names as they are seen from it."""
        model = relocated(self._first.source, self._first.folder, Path(path).parent)
        return {"gaitway session": _VERSION, "scene": scene_to_yaml(model)}

    def _lines(self) -> list[dict[str, Any]]:
        return [{"tick": tick, **event_to_dict(event)} for tick, event in self._log]

    def _write(self, line: dict[str, Any]) -> None:
        """Write a line of the record; where that cannot be done the session goes on without it."""
        if self._file is None:
            return
        data = f"{json.dumps(line)}\n".encode()
        try:
            if self._file.write(data) == len(data):
                return
            reason = "no room left"
        except OSError as problem:
            reason = problem.strerror or str(problem)
        file, self._file = self._file, None
        with suppress(OSError):
            file.close()
        self.front.tell(f"the record '{file.name}' ends here: {reason}")

    def _survives(self, action: Callable[[], None]) -> bool:
        try:
            action()
        except Exception as problem:
            self.fail(problem)
            return False
        return True


def failure(problem: Exception) -> str:
    """Return what users are told of an error: one line, and where it is if it is one of gaitway itself."""
    if isinstance(problem, GaitwayError):
        text = str(problem)
    else:
        frames = traceback.extract_tb(problem.__traceback__)
        place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
        text = f"an error of gaitway, please report it: {type(problem).__name__}{place}: {problem}"
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def replay(path: str | Path, front: StudioFront | None = None) -> StudioSession:
    """Play a recorded session again, as fast as it goes.

    Raises:
        FormatError: if it is no record of a session.
    """
    place = Path(path)
    scene, ticks, entries = _parsed(place, _lines(place))
    session = StudioSession(_scene(place, scene), front, plans="as recorded")
    waiting = deque(entries)
    for tick in range(ticks):
        while waiting and waiting[0][0] <= tick:
            session.apply(waiting.popleft()[1])
        session.tick()
    return session


def _lines(place: Path) -> list[str]:
    """Return the lines of a record; a last one that was not written to its end is left out."""
    try:
        if place.exists() and not place.is_file():
            raise FormatError(place, "cannot be read: it is no file; name one")
        size = place.stat().st_size
        if size > MOST_BYTES:
            raise FormatError(place, f"has {size:,} bytes; a record may have {MOST_BYTES:,}")
        text = place.read_bytes().decode()
    except (OSError, ValueError) as problem:
        raise FormatError(place, f"cannot be read: {problem}") from None
    lines = text.splitlines()
    torn = len(lines) > 1 and not text.endswith(("}", "\n"))
    return lines[:-1] if torn else lines


def _parsed(place: Path, lines: Iterable[str]) -> tuple[str, int, list[tuple[int, StudioEvent]]]:
    """Return the scene of a record, its number of ticks, and its events."""
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            rows.append(json.loads(line))
        except (ValueError, RecursionError):
            raise FormatError(place, f"line {number} is not JSON; record the session anew") from None
    if not rows or not isinstance(rows[0], dict) or rows[0].get("gaitway session") != _VERSION:
        raise FormatError(place, "no record of a session; 'gaitway studio --record FILE' writes one")
    head, ticks = rows[0], 0
    entries: list[tuple[int, StudioEvent]] = []
    if not isinstance(head.get("scene"), str) or not _is_tick(head.get("ticks", 0)):
        raise FormatError(place, "line 1 lacks its scene or the number of its ticks; record the session anew")
    for number, row in enumerate(rows[1:], 2):
        try:
            if not isinstance(row, dict):
                raise StudioError(f"{json.dumps(row)[:40]} is no event")
            marked = set(row) == {"ticks"}
            tick = row.pop("ticks" if marked else "tick", None)
            if not _is_tick(tick):
                raise StudioError(f"the number of its tick must be a whole number from 0 to {MOST_TICKS}")
            ticks = tick if marked else tick + 1
            if not marked:
                entries.append((tick, event_from(row)))
        except StudioError as problem:
            raise FormatError(place, f"line {number}: {problem}") from None
    return head["scene"], head.get("ticks", ticks), entries


def _is_tick(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST_TICKS


def _scene(place: Path, text: str) -> Scene:
    try:
        return scene_from_dict(parse_nodes(text.encode("utf-8", "surrogatepass"), Path("scene")).plain(), place.parent)
    except GaitwayError as problem:
        raise FormatError(place, f"its scene does not hold together: {problem}") from None
