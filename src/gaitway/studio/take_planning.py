"""The planning of a take on a thread of its own, so that the live place goes on meanwhile.

Most of the time of planning is spent in kernels that other threads need not wait for.
"""

from __future__ import annotations

import threading

from gaitway.core.errors import StudioError
from gaitway.planning import Planned, plan_scene
from gaitway.scene.scene import Scene


class _Cancelled(Exception):
    """Nobody wants the take any more."""


class TakePlanning:
    """A take that is being planned. This class is **mutable**.

    Attributes:
        scene: what is planned.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._words = "planning the take ..."
        self._cancelled = False
        self._planned: Planned | None = None
        self._problem: Exception | None = None
        self._thread = threading.Thread(target=self._plan, daemon=True, name="take planning")
        self._thread.start()

    @property
    def words(self) -> str:
        """What is being done, such as "planning the take: walk 3 of 12"."""
        return self._words

    @property
    def done(self) -> bool:
        """Whether it has ended, in whatever way."""
        return not self._thread.is_alive()

    def cancel(self) -> None:
        """Let it end soon, without a take."""
        self._cancelled = True

    def result(self) -> Planned:
        """Wait for the end, and return what was planned.

        Raises:
            StudioError: if it was cancelled.
            Exception: whatever planning raised.
        """
        self._thread.join()
        if self._problem is not None:
            raise self._problem
        if self._planned is None:
            raise StudioError("planning was cancelled")
        return self._planned

    def _plan(self) -> None:
        try:
            self._planned = plan_scene(self.scene, progress=self._go_on)
        except _Cancelled:
            pass
        except Exception as problem:
            self._problem = problem

    def _go_on(self, what: str, done: int, total: int | None) -> None:
        if self._cancelled:
            raise _Cancelled
        self._words = f"planning the take: {what} {done} of {total}" if total else f"planning the take: {what} ..."
