"""Goal areas of groups: flat marks on the ground that can be dragged."""

from __future__ import annotations

from gaitway.scene.scene import Scene
from gaitway.studio.edits import goal_area, goal_floor, goal_names
from gaitway.studio.events import MoveGoal, StudioEvent
from gaitway.studio.page.ground_marks import GroundMarks

_COLORS = ((86, 150, 92), (74, 122, 170), (176, 120, 60), (140, 96, 164), (170, 84, 92), (70, 148, 150))
"""Colours of groups, in turn."""
_OPACITY = 0.28
_WORDS = "a group goes here; drag it to send all of them elsewhere"


class GoalMarks(GroundMarks):
    """Marks of all groups that go to an area. This class is **mutable**."""

    folder = "goals"

    def _draw(self, scene: Scene) -> None:
        model = scene.source
        for number, name in enumerate(goal_names(model)):
            floor = goal_floor(model, name, self._floors)
            self._put(name, goal_area(model, name), floor, _COLORS[number % len(_COLORS)], _OPACITY, _WORDS)

    def _moved(self, name: str, x: float, y: float) -> StudioEvent:
        return MoveGoal(name, x, y)
