"""The scene that is edited, with all its earlier states."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gaitway.core.errors import GaitwayError, StudioError
from gaitway.scene.model import SceneModel
from gaitway.scene.scene import Scene, build_scene
from gaitway.studio import edits
from gaitway.studio.events import (
    AddItem,
    AddPeople,
    Choose,
    MoveGoal,
    MoveItem,
    Redo,
    RemoveItem,
    RemovePeople,
    StudioEvent,
    Undo,
)

MOST_EDITS = 200
"""Number of edits that can be undone."""


class StudioStage:
    """A scene under edit. This class is **mutable**; every edit either leads to a scene that holds together or to none.

    Attributes:
        scene: as it is now.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._before: list[SceneModel] = []
        self._after: list[SceneModel] = []
        self._dragging = ""

    @property
    def model(self) -> SceneModel:
        """The model of the scene file."""
        return self.scene.source

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit to undo."""
        return bool(self._before)

    def apply(self, event: StudioEvent) -> bool:
        """Apply an event; return whether it was an edit.

        Raises:
            StudioError: if it leads to a scene that does not hold together; nothing has changed then.
        """
        if isinstance(event, Undo | Redo):
            self._turn_back(event)
            return True
        model = self._edited(event)
        if model is None:
            return False
        scene = self._built(model)
        dragged = event.item if isinstance(event, MoveItem) else ""
        if not (dragged and dragged == self._dragging):
            self._before = [*self._before[1 - MOST_EDITS :], self.model]
        self._dragging = dragged if isinstance(event, MoveItem) and not event.done else ""
        self._after, self.scene = [], scene
        return True

    def _edited(self, event: StudioEvent) -> SceneModel | None:
        """Return the model after an edit, or None if the event is no edit."""
        model = self.model
        if isinstance(event, MoveItem):
            return edits.move_item(model, event.item, event.x, event.y, event.yaw_deg)
        if isinstance(event, AddItem):
            return edits.add_item(model, event)[0]
        if isinstance(event, RemoveItem):
            return edits.remove_item(model, event.item)
        if isinstance(event, MoveGoal):
            return edits.move_goal(model, event.group, event.x, event.y)
        if isinstance(event, AddPeople):
            return edits.add_people(model, event, self._new_group())
        if isinstance(event, RemovePeople) and not event.character:
            return edits.remove_people(model, event.count)
        if isinstance(event, Choose):
            return edits.choose(model, event.planner, event.library, event.seed)
        return None

    def _new_group(self) -> str:
        """Return a name that no group has."""
        names = {item.name for item in self.model.characters or ()}
        number = 1
        while f"group-{number}" in names:
            number += 1
        return f"group-{number}"

    def _turn_back(self, event: Undo | Redo) -> None:
        source, target = (self._before, self._after) if isinstance(event, Undo) else (self._after, self._before)
        if not source:
            raise StudioError(f"nothing to {'undo' if isinstance(event, Undo) else 'redo'}")
        scene = self._built(source[-1])
        target.append(self.model)
        source.pop()
        self._dragging, self.scene = "", scene

    def _built(self, model: SceneModel) -> Scene:
        folder: Path = self.scene.folder
        try:
            return replace(build_scene(model, folder), path=self.scene.path)
        except StudioError:
            raise
        except GaitwayError as problem:
            raise StudioError(str(problem)) from None
