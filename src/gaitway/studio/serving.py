"""The studio on a port of this machine: a loop of frames, and files in one folder."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from gaitway.core.errors import GaitwayError, StudioError
from gaitway.core.warming import expect
from gaitway.export import export_take
from gaitway.scene.scene import Scene, load_scene
from gaitway.scene.writing import save_scene
from gaitway.studio.engine import FPS
from gaitway.studio.page.page import StudioPage
from gaitway.studio.page.server import LocalServer
from gaitway.studio.session import StudioSession
from gaitway.take.model import Take
from gaitway.take.storage import save_take

LOOPBACK = "127.0.0.1"
PORT = 8080
_ALONE = 0.1
"""Time to sleep while there is no viewer [s]."""
_MINUTES = 2.0
"""Length of a live take that is saved [min]."""
_LATE = 0.25
"""A delay of a frame beyond this is not made up for [s]."""


class Studio:
    """A session on a page. This class is **mutable**; all methods but `stop` must be called from one thread.

    Attributes:
        session: what happens.
        page: what is seen.
        port: where.
        folder: where files are saved, and nowhere else.
    """

    def __init__(self, scene: Scene, *, host: str = LOOPBACK, port: int = PORT, folder: str | Path = ".") -> None:
        """Serve a scene.

        Args:
            scene: the place and who wants to be where.
            host: address to listen on; others than loopback let other machines in.
            port: the next free one is taken if it is in use.
            folder: where files are saved.

        Raises:
            StudioError: if there is no such folder, or no port is free.
        """
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise StudioError(f"no folder '{self.folder}' to save files in; make it, or name another")
        try:
            server = LocalServer(host, port)
        except OSError as problem:
            raise StudioError(f"cannot listen on {host}:{port}: {problem.strerror or problem}") from None
        self._server = server
        self.port = int(server.get_port())
        self.page = StudioPage(server)
        self.page.panel.on_open(self._open_later)
        self.page.panel.on_save(self._save_later)
        self.session = self._began(scene)
        self._wanted: list[Callable[[], None]] = []
        self._stopped = False

    def run(self, ticks: int | None = None, *, alone: bool = False) -> None:
        """Serve until the studio is stopped.

        Args:
            ticks: how many frames; None for ever.
            alone: whether to go on while nobody looks.
        """
        due, done = time.perf_counter(), 0
        while not self._stopped and (ticks is None or done < ticks):
            for task in self._taken():
                task()
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
        self.session.close()
        self._server.stop()

    def save(self, what: str, name: str) -> Path:
        """Write a file into the folder.

        Args:
            what: "scene", or of what was lived in the last minutes (or of the take that is played): "take", "glb",
                "mp4".
            name: without ending.

        Raises:
            GaitwayError: if the name is none, or it cannot be written.
        """
        place = self.folder / file_name(what, name)
        if what == "scene":
            save_scene(self.session.engine.scene.source, place)
            return place
        take, world = self._take(), self.session.engine.scene.world
        if what == "take":
            save_take(take, place)
        else:
            export_take(take, place, world=world)
        return place

    def _take(self) -> Take:
        engine = self.session.engine
        if engine.mode == "take" and engine.take is not None:
            return engine.take
        return engine.live_take(60.0 * _MINUTES)

    def _began(self, scene: Scene) -> StudioSession:
        session = StudioSession(scene, self.page)
        self.page.attach(session)
        return session

    def _open_later(self, name: str) -> None:
        self._wanted.append(lambda: self._open(name))

    def _open(self, name: str) -> None:
        self.page.tell(f"opening {name} ...")
        try:
            scene = load_scene(name)
            before, self.session = self.session, self._began(scene)
            before.close()
        except GaitwayError as problem:
            self.page.tell(str(problem))

    def _save_later(self, what: str, name: str) -> None:
        self._wanted.append(lambda: self._save(what, name))

    def _save(self, what: str, name: str) -> None:
        self.page.tell(f"writing {what} ...")
        try:
            self.page.tell(f"wrote {self.save(what, name)}")
        except GaitwayError as problem:
            self.page.tell(str(problem))

    def _taken(self) -> list[Callable[[], None]]:
        tasks, self._wanted = self._wanted, []
        return tasks


def studio(
    scene: Scene | str | Path = "market_square",
    *,
    host: str = LOOPBACK,
    port: int = PORT,
    folder: str | Path = ".",
    run: bool = True,
) -> Studio:
    """Open the studio for a scene, and serve it until it is stopped (`gaitway.studio`).

    Args:
        scene: a scene, its file, or the name of a ready scene.
        host: address to listen on; others than loopback let other machines in.
        port: port to listen on; the next free one is taken if it is in use.
        folder: folder in which files are saved.
        run: whether to serve at once, until Ctrl-C; otherwise call `run` and `close` of the result.

    Raises:
        StudioError: if there is no such folder, or no port is free.
    """
    expect(["studio"], unless_known=True)
    made = Studio(scene if isinstance(scene, Scene) else load_scene(scene), host=host, port=port, folder=folder)
    if run:
        with suppress(KeyboardInterrupt):
            made.run()
        made.close()
    return made


def file_name(what: str, name: str) -> str:
    """Return the name of a file, without any folder.

    Raises:
        StudioError: if it could lead elsewhere, or there is no such kind of file.
    """
    endings = {"scene": ".yaml", "take": ".npz", "glb": ".glb", "mp4": ".mp4"}
    if what not in endings:
        raise StudioError(f"no kind of file '{what}'; there are {', '.join(endings)}")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_. -]{0,80}", name) or name.endswith((".", " ")):
        raise StudioError(f"'{name[:40]}' is no name for a file; use letters, digits, '-' and '_'")
    return name + endings[what]
