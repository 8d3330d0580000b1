"""The part of the panel that is about time: play, pause, step, live or a take, its moment, and how fast."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import viser

from gaitway.studio import events
from gaitway.studio.events import Event
from gaitway.studio.frames import Frame

_OWN = 0.5
"""For how long a slider that somebody holds is left to its hand [s]."""


class TimePart:
    """Buttons and sliders. This class is **mutable**."""

    def __init__(self, gui: viser.GuiApi, post: Callable[[Event], None]) -> None:
        self._post, self._playing, self._takes, self._touched = post, True, False, 0.0
        self._buttons = gui.add_button_group("Time", ("pause", "step", "restart"))
        self._buttons.on_click(self._pressed)
        mode = gui.add_button_group("Mode", ("live", "take"), hint="a take is planned once, then scrubbed")
        mode.on_click(self._set_mode)
        self._slider = gui.add_slider("Moment", 0.0, 1.0, 0.01, 0.0, visible=False)
        self._slider.on_update(self._scrubbed)
        speed = gui.add_slider("Speed", 0.1, 4.0, 0.1, 1.0)
        speed.on_update(lambda _: self._post(events.SetSpeed(float(speed.value))))

    def show(self, frame: Frame) -> None:
        """What is played, and when."""
        self._playing, self._takes = frame.playing, frame.mode == "take"
        self._buttons.options = ("pause" if frame.playing else "play", "step", "restart")
        self._slider.visible = self._takes
        if self._takes:
            self._slider.max = max(round(frame.length, 2), 0.1)
            if frame.playing or time.perf_counter() - self._touched > _OWN:
                self._slider.value = min(round(frame.time, 2), self._slider.max)  # type: ignore[misc]

    def toggle(self) -> None:
        """Play or pause."""
        self._post(events.Pause() if self._playing else events.Play())

    def _pressed(self, event: viser.GuiEvent[viser.GuiButtonGroupHandle]) -> None:
        if event.target.value in ("play", "pause"):
            self.toggle()
        else:
            self._post(events.Step() if event.target.value == "step" else events.Restart())

    def _set_mode(self, event: viser.GuiEvent[viser.GuiButtonGroupHandle]) -> None:
        self._post(events.SetMode("live" if event.target.value == "live" else "take"))

    def _scrubbed(self, event: Any) -> None:
        if event.client is not None and self._takes:
            self._touched = time.perf_counter()
            self._post(events.Scrub(float(self._slider.value)))
