"""A front of the studio that shows nothing and keeps everything."""

from __future__ import annotations

from gaitway.scene.scene import Scene
from gaitway.studio.frames import StudioFrame, StudioRoute


class RecordingFront:
    """A front that keeps all that it is told.

    Attributes:
        places: scenes that were drawn.
        frames: moments that were drawn.
        selected: names that were selected.
        messages: what was said.
    """

    def __init__(self) -> None:
        self.places: list[Scene] = []
        self.frames: list[StudioFrame] = []
        self.selected: list[str] = []
        self.messages: list[str] = []

    def show_place(self, scene: Scene) -> None:
        """Keep what is shown."""
        self.places.append(scene)

    def show(self, frame: StudioFrame) -> None:
        """Keep what is shown."""
        self.frames.append(frame)

    def show_selected(self, name: str, behavior: str, ahead: StudioRoute | None) -> None:
        """Keep the name."""
        del behavior, ahead
        self.selected.append(name)

    def tell(self, message: str) -> None:
        """Keep what is shown."""
        self.messages.append(message)
