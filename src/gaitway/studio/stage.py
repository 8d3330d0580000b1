"""The scene that is edited, with all its earlier states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from gaitway.core.errors import GaitwayError, StudioError
from gaitway.scene.model import SceneModel
from gaitway.scene.scene import Scene, build_scene
from gaitway.studio import edits
from gaitway.studio.events import (
    AddItem,
    AddPeople,
    AddSource,
    Choose,
    MoveGoal,
    MoveItem,
    MovePlace,
    MoveSource,
    Redo,
    RemoveItem,
    RemovePeople,
    RemoveSource,
    StudioEvent,
    Undo,
)

MOST_EDITS = 200
"""Number of commands that can be undone."""
Place = tuple[float, float]
Spot = tuple[float, ...]
"""A place: x, y, and in a place with several floors a height [m]."""
Pose = tuple[float, float, float]


class StageState(NamedTuple):
    """All that commands change: the scene, and what live characters were told apart from it."""

    model: SceneModel
    orders: Mapping[str, Spot] = MappingProxyType({})
    """Where characters were sent that are not to go where the scene says: x, y [m], by name."""
    gone: Mapping[str, Pose] = MappingProxyType({})
    """Where characters were that were taken away: x, y [m] and heading [rad], by name."""


class StudioStage:
    """A scene under edit. This class is **mutable**; every edit either leads to a scene that holds together or to none.

    Attributes:
        scene: as it is now.
        state: the scene's model, and what live characters were told.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.state = StageState(scene.source)
        self._before: list[tuple[StageState, str]] = []
        self._after: list[tuple[StageState, str]] = []
        self._dragging = ""

    @property
    def model(self) -> SceneModel:
        """The model of the scene file."""
        return self.state.model

    @property
    def can_undo(self) -> bool:
        """Whether there is a command to undo."""
        return bool(self._before)

    def apply(self, event: StudioEvent) -> str | None:
        """Apply an event; return what was done or undone, in words, or None if the event is no edit.

        Raises:
            StudioError: if it leads to a scene that does not hold together; nothing has changed then.
        """
        if isinstance(event, Undo | Redo):
            return self._turn_back(event)
        model = self._edited(event)
        if model is None:
            return None
        scene = self._built(model)
        dragged = event.item if isinstance(event, MoveItem) else ""
        words = _words(event)
        if not (dragged and dragged == self._dragging):
            self._keep(words)
        self._dragging = dragged if isinstance(event, MoveItem) and not event.done else ""
        self._after = []
        goals = {c.name: c.goal for c in scene.characters}
        others = {c.name for c in self.scene.characters if goals.get(c.name) != c.goal}
        orders, gone = self.state.orders, self.state.gone
        if isinstance(event, Choose):  # which begins anew
            orders, gone = {}, {}
        self.state = StageState(
            model,
            {name: place for name, place in orders.items() if name not in others},
            {name: pose for name, pose in gone.items() if name not in others},
        )
        self.scene = scene
        return words

    def order(self, name: str, place: Spot) -> None:
        """Note that a live character was sent elsewhere."""
        self._note(self.state._replace(orders={**self.state.orders, name: place}), f"{name} sent elsewhere")

    def take_away(self, name: str, pose: Pose) -> None:
        """Note that a live character was taken away from where it was."""
        orders = {other: place for other, place in self.state.orders.items() if other != name}
        state = StageState(self.state.model, orders, {**self.state.gone, name: pose})
        self._note(state, f"{name} taken away")

    def begin_anew(self) -> None:
        """Note that all live characters are back where the scene has them."""
        if self.state.orders or self.state.gone:
            self._note(StageState(self.state.model), "begun anew")

    def _note(self, state: StageState, words: str) -> None:
        self._keep(words)
        self._dragging, self._after, self.state = "", [], state

    def _keep(self, words: str) -> None:
        self._before = [*self._before[1 - MOST_EDITS :], (self.state, words)]

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
            return edits.add_people(model, event, self._new_name("group"))
        if isinstance(event, MovePlace):
            return edits.move_place(model, event.place, event.x, event.y)
        if isinstance(event, MoveSource):
            return edits.move_source(model, event.source, event.x, event.y)
        if isinstance(event, AddSource):
            return edits.add_source(model, event, self._new_name("source"))
        if isinstance(event, RemoveSource):
            return edits.remove_source(model, event.source)
        if isinstance(event, RemovePeople) and not event.character:
            return edits.remove_people(model, event.count)
        if isinstance(event, Choose):
            return edits.choose(model, event.planner, event.library, event.seed)
        return None

    def _new_name(self, word: str) -> str:
        """Return a name that no group and no source has, such as "group-1"."""
        names = {item.name for item in self.model.characters or ()} | {item.name for item in self.model.sources or ()}
        number = 1
        while f"{word}-{number}" in names:
            number += 1
        return f"{word}-{number}"

    def _turn_back(self, event: Undo | Redo) -> str:
        undo = isinstance(event, Undo)
        source, target = (self._before, self._after) if undo else (self._after, self._before)
        if not source:
            raise StudioError(f"nothing to {'undo' if undo else 'redo'}")
        state, words = source[-1]
        scene = self.scene if state.model is self.model else self._built(state.model)
        target.append((self.state, words))
        source.pop()
        self._dragging, self.scene, self.state = "", scene, state
        return f"{'undone' if undo else 'done again'}: {words}"

    def _built(self, model: SceneModel) -> Scene:
        folder: Path = self.scene.folder
        try:
            return replace(build_scene(model, folder), path=self.scene.path)
        except StudioError:
            raise
        except GaitwayError as problem:
            raise StudioError(str(problem)) from None


def _words(event: StudioEvent) -> str:
    """Return what an edit does, as users read it."""
    if isinstance(event, MoveItem):
        return "a thing moved"
    if isinstance(event, AddItem):
        return f"a {event.shape} put there"
    if isinstance(event, RemoveItem):
        return "a thing taken away"
    if isinstance(event, MoveGoal):
        return "the goal of a group moved"
    if isinstance(event, MovePlace):
        return f"the place '{event.place}' moved"
    if isinstance(event, MoveSource):
        return f"the source '{event.source}' moved"
    if isinstance(event, AddSource):
        return f"a source of {event.count} people put there"
    if isinstance(event, RemoveSource):
        return f"the source '{event.source}' taken away"
    if isinstance(event, AddPeople):
        return f"{event.count} people added"
    if isinstance(event, RemovePeople):
        return f"{event.count} people taken away"
    return "planner, library or seed chosen"
