"""What shows a session: a page in a browser, or nothing at all, or a record for tests."""

from __future__ import annotations

from typing import Protocol

from gaitway.scene.scene import Scene
from gaitway.studio.frames import StudioRoute, Frame


class Front(Protocol):
    """Shows what the engine does. All calls come from one thread."""

    def show_place(self, scene: Scene) -> None:
        """Draw a place, anew where there was one."""

    def show(self, frame: Frame) -> None:
        """Draw a moment; it may be left out where the one before is still on its way."""

    def show_selected(self, name: str, behavior: str, ahead: StudioRoute | None) -> None:
        """Tell of the character that is selected; an empty name is nobody."""

    def tell(self, message: str) -> None:
        """Say something to the person."""


class NullFront:
    """Shows nothing."""

    def show_place(self, scene: Scene) -> None:
        """Nothing."""

    def show(self, frame: Frame) -> None:
        """Nothing."""

    def show_selected(self, name: str, behavior: str, ahead: StudioRoute | None) -> None:
        """Nothing."""

    def tell(self, message: str) -> None:
        """Nothing."""


class RecordingFront:
    """Keeps all that it is told.

    Attributes:
        places: scenes that were drawn.
        frames: moments that were drawn.
        selected: names that were selected.
        messages: what was said.
    """

    def __init__(self) -> None:
        self.places: list[Scene] = []
        self.frames: list[Frame] = []
        self.selected: list[str] = []
        self.messages: list[str] = []

    def show_place(self, scene: Scene) -> None:
        """Keep it."""
        self.places.append(scene)

    def show(self, frame: Frame) -> None:
        """Keep it."""
        self.frames.append(frame)

    def show_selected(self, name: str, behavior: str, ahead: StudioRoute | None) -> None:
        """Keep its name."""
        del behavior, ahead
        self.selected.append(name)

    def tell(self, message: str) -> None:
        """Keep it."""
        self.messages.append(message)
