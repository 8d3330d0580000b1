"""A studio that goes on in a thread, and a page of a real browser that looks at it, for tests."""

from __future__ import annotations

import math
import threading
from pathlib import Path

import numpy as np

from chromium import Browser, Tab, until
from gaitway.scene import scene_from_dict
from gaitway.studio import events
from gaitway.studio.frames import StudioFrame, StudioRoute
from gaitway.studio.serving import Studio

PATIENCE = 300.0
"""How long to wait for what a busy machine takes long for [s]."""
SIZE = (800, 450)


class Stand:
    """A studio that goes on in a thread, and a page that looks at it."""

    def __init__(self, folder: Path, scene: dict[str, object]) -> None:
        self.studio = Studio(scene_from_dict(scene), port=0, folder=folder)
        self._thread = threading.Thread(target=self.studio.run, daemon=True)
        self.browser = Browser(SIZE)
        self.session = self.studio.session
        self.session.apply(events.Pause())
        self.frame = self.session.engine.frame()
        self.ahead: StudioRoute | None = None
        self.doing = ""
        self._listen()
        self._thread.start()
        self.tab = self.look()

    def _listen(self) -> None:
        """Keep what the page is given, in the thread that gives it."""
        page = self.studio.page
        show, show_selected = page.show, page.show_selected

        def keep(frame: StudioFrame) -> None:
            self.frame = frame
            show(frame)

        def keep_selected(name: str, behavior: str, ahead: StudioRoute | None) -> None:
            self.ahead, self.doing = ahead, behavior
            show_selected(name, behavior, ahead)

        page.show, page.show_selected = keep, keep_selected  # type: ignore[method-assign]

    def look(self) -> Tab:
        """One more page, ready."""
        before = len(self.studio.page.viewers())
        tab = self.browser.tab()
        tab.open(self.studio.address)
        until(lambda: len(self.studio.page.viewers()) > before, PATIENCE, "somebody who looks")
        until(lambda: drawn(tab.picture()), PATIENCE, "a picture with the ground in it", every=1.0)
        return tab

    def pixel(self, point: tuple[float, float, float]) -> tuple[float, float]:
        """Where a point of the world is on the first page."""
        camera = self.studio.page.viewers()[0].camera
        eye, ahead = np.array(camera.position), np.array(camera.look_at) - np.array(camera.position)
        ahead /= np.linalg.norm(ahead)
        right = np.cross(ahead, (0.0, 0.0, 1.0))
        right /= np.linalg.norm(right)
        away = np.array(point) - eye
        scale = 0.5 * SIZE[1] / math.tan(0.5 * camera.fov) / (away @ ahead)
        return 0.5 * SIZE[0] + scale * (away @ right), 0.5 * SIZE[1] - scale * (away @ np.cross(right, ahead))

    def place(self, name: str) -> np.ndarray:
        """Where somebody is."""
        frame = self.frame
        return frame.joints[0].positions[frame.names.index(name), 0]

    def close(self) -> None:
        """End everything."""
        self.browser.close()
        self.studio.stop()
        self._thread.join(PATIENCE)
        self.studio.close()


def drawn(picture: np.ndarray) -> bool:
    """Whether there is something in the middle of the left part, and not one colour."""
    return bool(picture[150:400, 50:440].std() > 12.0)
