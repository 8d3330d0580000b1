"""The studio on a port of this machine: a loop of frames, and files in one folder."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import viser

from gaitway.core.errors import FormatError, GaitwayError, StudioError
from gaitway.core.warming import expect
from gaitway.export import export_take
from gaitway.scene.scene import Scene, load_scene
from gaitway.scene.writing import relocated, save_scene
from gaitway.studio.engine import FPS
from gaitway.studio.page.page import StudioPage
from gaitway.studio.page.server import LocalServer
from gaitway.studio.session import StudioSession, failure
from gaitway.studio.waiting import Opening
from gaitway.take.model import Take
from gaitway.take.storage import save_take

LOOPBACK = "127.0.0.1"
PORT = 8080
FOLDER = "gaitway-studio"
"""Folder in the working folder in which files are saved if no other is named."""
KINDS = {"scene": ("scenes", ".yaml"), "take": ("takes", ".npz"), "glb": ("models", ".glb"), "mp4": ("films", ".mp4")}
"""Kinds of files that can be saved: the folder of each, and the ending of names."""
_SAVED = 2.0
"""Least time between two files that viewers save [s]."""
_ALONE = 0.1
"""Time to sleep while there is no viewer [s]."""
_MOMENT = 0.05
"""Time to sleep while a scene is prepared [s]."""
_DEVICES = {"CON", "PRN", "AUX", "NUL", *(f"{port}{number}" for port in ("COM", "LPT") for number in range(10))}
"""Names that Windows takes for devices, with any ending."""
_MINUTES = 2.0
"""Length of a live take that is saved [min]."""
_LATE = 0.25
"""A delay of a frame beyond this is not made up for [s]."""


class Studio:
    """A session on a page. This class is **mutable**; all methods but `stop` must be called from one thread.

    Attributes:
        page: what is seen.
        port: where.
        folder: where files are saved, each kind in a folder of its own, and nowhere else.
        records: files in which sessions are recorded, in the order of the sessions.
    """

    def __init__(
        self,
        scene: Scene,
        *,
        host: str = LOOPBACK,
        port: int = PORT,
        folder: str | Path | None = None,
        record: str | Path | None = None,
    ) -> None:
        """Serve a scene. The place and the people are shown at once; they live as soon as all is prepared.

        Args:
            scene: the place and who wants to be where.
            host: address to listen on; others than loopback let other machines in.
            port: the next free one is taken if it is in use.
            folder: where files are saved; it is made if it does not exist. None for `gaitway-studio` in the working
                folder, which is made when the first file is saved.
            record: file in which the session is recorded while it goes on; each further scene has one more file.

        Raises:
            StudioError: if the folder cannot be made, or no port is free.
            FormatError: if the record cannot be written.
        """
        self.folder = Path(FOLDER if folder is None else folder)
        if folder is not None:
            _make_folder(self.folder)
        self._record = None if record is None else Path(record)
        self.records: list[Path] = []
        self._wanted: dict[str, Callable[[], None]] = {}
        self._lock = threading.Lock()
        """Kept by who reads or changes what viewers want, for their messages come in other threads."""
        self._saving, self._saved, self._stopped = False, -_SAVED, False
        self._entering = threading.RLock()
        """Kept by who begins a session."""
        try:
            server = LocalServer(host, port)
        except OSError as problem:
            raise StudioError(f"cannot listen on {host}:{port}: {problem.strerror or problem}") from None
        self._server = server
        self.port = int(server.get_port())
        try:
            self.page = StudioPage(server)
            self.page.panel.on_open(self._open_later)
            self.page.panel.on_save(self._save_later)
            if self._record is not None:
                _check_writable(self._record)
            self._session: StudioSession | None = None
            self._opening: Opening | None = self._prepare(scene)
        except BaseException:
            server.stop()
            raise

    @property
    def session(self) -> StudioSession:
        """What happens; this waits while the first scene is prepared.

        Raises:
            GaitwayError: if it cannot be lived.
        """
        with self._entering:
            if self._session is None:
                assert self._opening is not None
                self._enter(self._opening)
            assert self._session is not None
            return self._session

    @property
    def ready(self) -> bool:
        """Whether the scene that was opened last is prepared."""
        return self._opening is None

    @property
    def address(self) -> str:
        """Address of the page, with the token without which nobody is let in."""
        return self._server.gate.address

    def run(self, ticks: int | None = None, *, alone: bool = False) -> None:
        """Serve until the studio is stopped.

        Args:
            ticks: how many frames; None for ever.
            alone: whether to go on while nobody looks.
        """
        due, done = time.perf_counter(), 0
        while not self._stopped and (ticks is None or done < ticks):
            if self._prepares(alone):
                due = time.perf_counter()
                continue
            for task in self._taken():
                self._survive(task)
            if not (alone or self._server.get_clients()):
                time.sleep(_ALONE)
                due = time.perf_counter()
                continue
            self.session.tick()
            done += 1
            due += 1.0 / FPS
            late = time.perf_counter() - due
            if late < 0.0:
                time.sleep(-late)
            elif late > _LATE:
                due = time.perf_counter()

    def stop(self) -> None:
        """End the loop; may be called from any thread."""
        self._stopped = True

    def close(self) -> None:
        """End the session and the server."""
        if self._opening is not None:
            self._opening.close()
        if self._session is not None:
            self._session.close()
        self.page.close()
        self._server.stop()

    def save(self, what: str, name: str, *, replace: bool = False) -> Path:
        """Write a file into the folder of its kind.

        Args:
            what: "scene", or of what was lived in the last minutes (or of the take that is played): "take", "glb",
                "mp4".
            name: without ending.
            replace: whether a file of that name may be replaced.

        Raises:
            GaitwayError: if the name is none, there is such a file, or it cannot be written.
        """
        place = self.place(what, name)
        if not replace and os.path.lexists(place):
            other = self.free_name(what, name)
            raise StudioError(f"'{place}' is there already; save it as '{other}', or let it be replaced")
        self._check_inside(place)
        _make_folder(place.parent)
        if what == "scene":
            scene = self.session.engine.scene
            save_scene(relocated(scene.source, scene.folder, place.parent), place)
            return place
        take, world = self._take(), self.session.engine.scene.world
        if what == "take":
            save_take(take, place)
        else:
            export_take(take, place, world=world)
        return place

    def _check_inside(self, place: Path) -> None:
        """Check that a file is in the folder of the studio, wherever links lead.

        Raises:
            StudioError: if it is not.
        """
        if place.is_symlink() or not place.parent.resolve().is_relative_to(self.folder.resolve()):
            link = place if place.is_symlink() else place.parent
            raise StudioError(f"'{link}' is a link that leads elsewhere; remove it, or choose a folder by '--folder'")

    def place(self, what: str, name: str) -> Path:
        """Return where a file is saved.

        Raises:
            StudioError: if the name could lead elsewhere, or there is no such kind of file.
        """
        file = file_name(what, name)
        return self.folder / KINDS[what][0] / file

    def free_name(self, what: str, name: str) -> str:
        """Return the first of "name-2", "name-3" and so on that no file has."""
        number, start = 2, name[:70]
        while os.path.lexists(self.place(what, f"{start}-{number}")):
            number += 1
        return f"{start}-{number}"

    def _take(self) -> Take:
        engine = self.session.engine
        if engine.mode == "take" and engine.stale:
            raise StudioError("the take is being planned anew; save it in a moment")
        if engine.mode == "take" and engine.take is not None:
            return engine.take
        return engine.live_take(60.0 * _MINUTES)

    def _prepare(self, scene: Scene) -> Opening:
        """Show a scene in which all stand, and prepare it meanwhile."""
        self.page.show_place(scene)
        return Opening(scene, self.page.tell, self.page.show)

    def _prepares(self, alone: bool) -> bool:
        """Wait a moment for the scene that is being prepared, if there is one; enter it when it is ready."""
        opening = self._opening
        if opening is None:
            return False
        if not (alone or opening.done):
            time.sleep(_MOMENT)
            return True
        with self._entering:
            if self._opening is not None:
                self._enter(self._opening)
        return True

    def _enter(self, opening: Opening) -> None:
        """Begin the session of a scene that is prepared, in place of the one before."""
        before = self._session
        try:
            made = self._began(opening)
        except Exception as problem:
            self._opening = None
            if before is None:
                raise
            self.page.show_place(before.engine.scene)
            self.page.tell(failure(problem))
            return
        self._session, self._opening = made, None
        if before is not None:
            before.close()
        self.page.tell("")

    def _began(self, opening: Opening) -> StudioSession:
        session = StudioSession(opening.scene, self.page, engine=opening.engine(), plans="meanwhile")
        try:
            if self._record is not None:
                place, number = self._record, 2
                while self.records and os.path.lexists(place):  # the first one was named by the user
                    place, number = self._record.with_stem(f"{self._record.stem}-{number}"), number + 1
                session.record(place)
                self.records.append(place)
        except BaseException:
            session.close()
            raise
        self.page.attach(session)
        return session

    def _open_later(self, name: str) -> None:
        with self._lock:
            self._wanted["open"] = partial(self._open, name)

    def _open(self, name: str) -> None:
        self._opening = self._prepare(load_scene(name))

    def _save_later(self, what: str, name: str, client: viser.ClientHandle | None, replace: bool = False) -> None:
        """Save a file after this frame, unless one was saved just now, is being saved or waits already."""
        with self._lock:
            busy = self._saving or time.monotonic() - self._saved < _SAVED
            if not busy:
                self._saving = True
                self._wanted["save"] = partial(self._save, what, name, client, replace)
        if busy:
            self.page.tell(f"one file at a time, every {_SAVED:g} seconds: save it again in a moment")

    def _save(self, what: str, name: str, client: viser.ClientHandle | None, replace: bool) -> None:
        try:
            self._save_or_ask(what, name, client, replace)
        finally:
            self._saving = False

    def _save_or_ask(self, what: str, name: str, client: viser.ClientHandle | None, replace: bool) -> None:
        """Save a file, or ask first where one is there already."""
        place = self.place(what, name)
        if not replace and client is not None and os.path.lexists(place):
            other = self.free_name(what, name)
            answers: dict[str, Callable[[], None]] = {
                f"Save as {other}": partial(self._save_later, what, other, client),
                "Replace it": partial(self._save_later, what, name, client, True),
                "Cancel": lambda: None,
            }
            self.page.windows.ask(client, f"'{place.name}' is there already", answers)
            return
        self.page.tell(f"writing {what} ...")
        try:
            self.page.tell(f"wrote {self.save(what, name, replace=replace)}")
        finally:
            self._saved = time.monotonic()

    def _survive(self, task: Callable[[], None]) -> None:
        """Do what a viewer wanted; where it fails the viewers are told, and the studio goes on."""
        try:
            task()
        except GaitwayError as problem:
            self.page.tell(failure(problem))
        except Exception as problem:
            self.session.fail(problem)

    def _taken(self) -> list[Callable[[], None]]:
        with self._lock:
            tasks, self._wanted = list(self._wanted.values()), {}
        return tasks


def studio(
    scene: Scene | str | Path = "market_square",
    *,
    host: str = LOOPBACK,
    port: int = PORT,
    folder: str | Path | None = None,
    record: str | Path | None = None,
    scene_seed: int | None = None,
    run: bool = True,
) -> Studio:
    """Open the studio for a scene, and serve it until it is stopped (`gaitway.studio`).

    Args:
        scene: a scene, its file, or the name of a ready scene.
        host: address to listen on; others than loopback let other machines in.
        port: port to listen on; the next free one is taken if it is in use.
        folder: folder in which files are saved, each kind in a folder of its own; None for `gaitway-studio` in the
            working folder.
        record: file in which the session is recorded while it goes on.
        scene_seed: seed with which starts and goals in areas are drawn anew, of a scene that is named; None keeps its
            own.
        run: whether to serve at once, until Ctrl-C; otherwise call `run` and `close` of the result, whose `address`
            is the page.

    Raises:
        StudioError: if the folder cannot be made, no port is free, or a seed is given for a loaded scene.
    """
    expect(["studio"], unless_known=True)
    if isinstance(scene, Scene) and scene_seed is not None:
        raise StudioError("a scene that is loaded has its places; write load_scene(path, seed=...)")
    loaded = scene if isinstance(scene, Scene) else load_scene(scene, seed=scene_seed)
    made = Studio(loaded, host=host, port=port, folder=folder, record=record)
    if run:
        print(f"the studio is at {made.address}")  # noqa: T201 - nobody could guess it
        try:
            with suppress(KeyboardInterrupt):
                made.run()
        finally:
            made.close()
    return made


def file_name(what: str, name: str) -> str:
    """Return the name of a file, without any folder.

    Raises:
        StudioError: if it could lead elsewhere, or there is no such kind of file.
    """
    if what not in KINDS:
        raise StudioError(f"no kind of file '{what}'; there are {', '.join(KINDS)}")
    wrong = not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_. -]{0,80}", name) or name.endswith((".", " "))
    if wrong or name.partition(".")[0].strip().upper() in _DEVICES:
        raise StudioError(f"'{name[:40]}' is no name for a file; use letters, digits, '-' and '_'")
    return name + KINDS[what][1]


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise StudioError(f"no folder '{folder}' can be made: {problem.strerror or problem}; name another") from None


def _check_writable(path: Path) -> None:
    """Check that a record can be written.

    Raises:
        FormatError: if it cannot be.
    """
    try:
        with path.open("ab"):
            pass
    except OSError as problem:
        raise FormatError(path, f"cannot be written: {problem.strerror or problem}") from None
