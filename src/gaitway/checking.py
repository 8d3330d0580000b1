"""All that is wrong with a scene before it is planned: its file, special obstacles, and goals out of reach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from gaitway.errands.arrivals import Arrival, stranger
from gaitway.levels.level_scene import LevelScene
from gaitway.scene.characters import Character
from gaitway.scene.errands import Look, Place, Repeat, every, target_of
from gaitway.scene.problem import Problem
from gaitway.scene.scene import Scene, examine_scene
from gaitway.space.prepared import PlanningContext, planning_context
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
    if scene is None or not (scene.characters or scene.sources):
        return SceneCheck(scene, tuple(problems))
    if has_levels(scene.world):
        levels = LevelScene.of(scene)
        lost = levels.unreachable()
        told = tuple(Problem("specials", text, scene.path, warning=True) for text in levels.troubles)
        return SceneCheck(scene, (*problems, *told, *_warnings(scene, lost)), tuple(lost))
    context = planning_context(scene.world)
    lost = unreachable([c for c in scene.characters if not c.errands], context)
    cut_off = _cut_off(scene, context)
    told = (*_warnings(scene, lost), *(problem for problem, _ in cut_off))
    return SceneCheck(scene, (*problems, *told), (*lost, *(one for _, one in cut_off)))


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


def _cut_off(scene: Scene, context: PlanningContext) -> list[tuple[Problem, Unreachable]]:
    """Return the places of errands that somebody cannot get to, each once for an entry, with a warning."""
    wishes: list[tuple[str, str, Character]] = []  # where it is written, who it is, and who goes where
    for group in scene.groups:
        first = scene.characters[group.first]
        wishes += [(f"characters[{group.index}].errands", f"'{first.name}'", one) for one in _walkers(first)]
    for number, source in enumerate(scene.sources):
        middle = source.area.representative_point()
        for arrival in [Arrival(source.name, 0.0, source, kind, kind.library) for kind in source.kinds]:
            somebody = stranger(arrival, (middle.x, middle.y, 0.0))
            wishes += [(f"sources[{number}].errands", f"who comes from '{source.name}'", w) for w in _walkers(somebody)]
    numbered = [replace(walker, name=f"{k}") for k, (_, _, walker) in enumerate(wishes)]
    out: dict[tuple[str, str], tuple[Problem, Unreachable]] = {}
    for lost in unreachable(numbered, context):
        place, who, walker = wishes[int(lost.character.name)]
        if lost.inside != "goal":  # of a place in a thing, such as a counter, people go to what is before it
            text = f"{who} cannot get to '{walker.name}': {lost.reason()}"
            out.setdefault((place, walker.name), (Problem(place, text, scene.path, warning=True), lost))
    return list(out.values())


def _walkers(somebody: Character) -> Iterator[Character]:
    """Yield somebody with each place of the errands as goal, named after the place."""
    for errand in every(somebody.errands):
        target = target_of(errand)
        if isinstance(target, Place) and not isinstance(errand, Look | Repeat):
            inside = None if target.area is None else target.area.representative_point()
            goal = target.point if inside is None else (inside.x, inside.y)
            yield replace(somebody, name=target.name, goal=goal, goal_heading=None, errands=())
