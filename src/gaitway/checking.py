"""All that is wrong with a scene before it is planned: its file, special obstacles, and goals out of reach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gaitway.levels.level_scene import LevelScene
from gaitway.scene.problem import Problem
from gaitway.scene.scene import Scene, examine_scene
from gaitway.space.prepared import planning_context
from gaitway.space.reachability import Unreachable, unreachable
from gaitway.world.levels.floors import has_levels


@dataclass(frozen=True, eq=False)
class SceneCheck:
    """What a check of a scene found."""

    scene: Scene | None
    """The scene; None if it cannot be loaded."""
    problems: tuple[Problem, ...]
    """All problems; if the scene can be loaded, these are warnings."""
    unreachable: tuple[Unreachable, ...] = ()
    """Characters that cannot get to their goals; they are among the warnings too."""

    @property
    def usable(self) -> bool:
        """Whether the scene can be loaded."""
        return self.scene is not None

    @property
    def ok(self) -> bool:
        """Whether the scene can be loaded, and no character is cut off from its goal."""
        return self.usable and not self.unreachable


def check_scene(path: str | Path) -> SceneCheck:
    """Check a scene: whether it can be loaded, what is probably a mistake, and who cannot get to the goal.

    A character cannot get to its goal if obstacles close it off, or if a gap on the widest way is too narrow for the
    bodies of its library. Movers and other characters are left out. That a way is wide enough does not promise a plan.

    Args:
        path: a scene file, or the name of a ready scene.
    """
    scene, problems = examine_scene(path)
    if scene is None or not scene.characters:
        return SceneCheck(scene, tuple(problems))
    if has_levels(scene.world):
        levels = LevelScene.of(scene)
        lost = levels.unreachable()
        told = tuple(Problem("specials", text, scene.path, warning=True) for text in levels.troubles)
        return SceneCheck(scene, (*problems, *told, *_warnings(scene, lost)), tuple(lost))
    lost = unreachable(scene.characters, planning_context(scene.world))
    return SceneCheck(scene, (*problems, *_warnings(scene, lost)), tuple(lost))


def _warnings(scene: Scene, lost: list[Unreachable]) -> Iterator[Problem]:
    """Yield one warning for each entry of `characters` and each reason."""
    reasons = {one.character.name: one for one in lost}
    for group in scene.groups:
        own: dict[str, list[Unreachable]] = {}
        for one in (reasons[name] for name in group.names if name in reasons):
            own.setdefault(one.reason(), []).append(one)
        for reason, members in own.items():
            first = members[0].character
            who = f"'{first.name}'" if len(members) == 1 else f"{len(members)} of {len(group.names)}"
            goal = f"({first.goal[0]:.4g}, {first.goal[1]:.4g})"
            to = f"the goal {goal}" if len(members) == 1 else f"their goals, such as '{first.name}' to {goal}"
            key = "goal" if group.item.goal is not None else "goal_area"
            yield group.entry.problem(key, text=f"{who} cannot get to {to}: {reason}", warning=True)
