"""Scenes with several floors, as planners see them: all floors in one plane; and plans brought back into the place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from gaitway.core.errors import SceneError, WorldError
from gaitway.levels.links import LevelLibrary, level_library
from gaitway.levels.planner import LevelPlanner, lacking
from gaitway.levels.riding import rise_of
from gaitway.levels.routing import LevelRoutes
from gaitway.library.behavior import Library
from gaitway.performing.terrain.underfoot import GroundSpan
from gaitway.planners import planner_entry
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.scene import Scene
from gaitway.space.plan import Plan, PlanStep, Pose
from gaitway.space.planner import Planner
from gaitway.space.prepared import planning_context
from gaitway.space.reachability import Unreachable
from gaitway.world.levels.floors import Floor, Floors
from gaitway.world.terrain import Terrain

_EVEN = 1e-3
"""Difference in height that is rounding [m]."""


class StepGround(NamedTuple):
    """The ground under a step."""

    time: float
    """Time at which the step begins [s]."""
    relief: Terrain | None
    """Heights of a slope; None for a level floor."""
    height: float
    """Height of a level floor [m]."""
    rise: float
    """How far up the clip of the step leads by itself [m]."""


def ground_spans(grounds: Sequence[StepGround], height: float) -> tuple[tuple[GroundSpan, ...], list[float]]:
    """Return the ground under steps in order, and the height in their motion at which each begins.

    Args:
        grounds: what is under each step.
        height: height in the motion at which the first one begins [m].

    Returns:
        Spans of ground, none if all of it is where the clips suppose; and heights [m], one for each step.
    """
    spans, levels = list[GroundSpan](), list[float]()
    for number, (time, relief, floor, rise) in enumerate(grounds):
        if relief is not None:
            over, level = 0.0, height
        else:  # where clips have led to the height of the floor, it is a thing that is stood on
            over, level = (0.0, 0.0) if abs(floor - height) < _EVEN else (floor, height)
        if not spans or (spans[-1].relief, spans[-1].height, spans[-1].level) != (relief, over, level):
            spans.append(GroundSpan(-np.inf if number == 0 else time, relief, over, level))
        levels.append(height)
        height += rise
    flat = all(span.relief is None and span.level == span.height == 0.0 for span in spans)
    return () if flat else tuple(spans), levels


@dataclass(frozen=True, eq=False)
class LevelScene:
    """A scene whose characters walk on several floors."""

    scene: Scene
    """The scene in its place."""
    floors: Floors
    flat: Scene
    """The scene in the plane of the floors."""
    made: Mapping[LibraryRef, LevelLibrary]
    """Libraries with clips for all stairs, and the links that these are."""
    planners: Mapping[str, Planner]
    """Planners by name, which lead over links."""
    troubles: tuple[str, ...]
    """Stairs that nobody can climb, one line each."""

    @staticmethod
    def of(
        scene: Scene, libraries: Mapping[LibraryRef, Library] | None = None, further: Sequence[Character] = ()
    ) -> LevelScene:
        """Lay out a scene in the plane of its floors.

        Args:
            scene: the scene in its place.
            libraries: libraries that are loaded already.
            further: people who come later, besides the characters of the scene.

        Raises:
            SceneError: if a character is on no floor.
        """
        floors = Floors.of(scene.world)
        known, made = dict(libraries or {}), dict[LibraryRef, LevelLibrary]()
        everybody = (*scene.characters, *further)
        for character in everybody:
            ref = character.library
            if ref not in made:
                made[ref] = level_library(known[ref] if ref in known else ref.load(), floors)
        flat = replace(
            scene, world=floors.plane, characters=tuple(in_plane(character, floors) for character in scene.characters)
        )
        names = dict.fromkeys(character.plan.planner for character in everybody)
        planners = {name: LevelPlanner(planner_entry(name).make(), floors, made) for name in names}
        troubles = dict.fromkeys(trouble for library in made.values() for trouble in library.troubles)
        return LevelScene(scene, floors, flat, made, planners, tuple(troubles))

    @cached_property
    def libraries(self) -> dict[LibraryRef, Library]:
        """Libraries with clips for all stairs."""
        return {ref: one.library for ref, one in self.made.items()}

    def unreachable(self) -> list[Unreachable]:
        """Find the characters to whose goals no way leads, over floors and stairs, whatever the others do."""
        context, out = planning_context(self.flat.world, self.libraries), []
        for character, flat in zip(self.scene.characters, self.flat.characters, strict=True):
            prepared, known = context.prepared(flat), self.made[character.library]
            routes = prepared.part("level routes", partial(LevelRoutes, prepared, known.links), placed=True)
            if routes.route(flat.start[:2], flat.goal, flat.plan.tolerance) is None:
                out.append(Unreachable(character, why=lacking(self.floors, flat.start, flat.goal, known)))
        return out

    def in_place(self, plan: Plan) -> Plan:
        """Return a plan of the plane in the place."""
        steps = tuple(self._placed(step) for step in plan.steps)
        return replace(plan, steps=steps, end_pose=self.pose(plan.end_pose))

    def _placed(self, step: PlanStep) -> PlanStep:
        return replace(step, pose=self.pose(step.pose))

    def pose(self, pose: Pose) -> Pose:
        """Return a pose of the plane in the place."""
        dx, dy = self.floors.under(pose[0], pose[1]).offset
        return pose[0] - dx, pose[1] - dy, pose[2]

    def ground(self, character: Character, plan: Plan) -> tuple[GroundSpan, ...]:
        """Return the ground under a plan of the plane, from floor to floor; empty if it is where its clips suppose."""
        rises = {link.behavior: link.fitted.rise for link in self.made[character.library].links if link.fitted}
        start = plan.steps[0].pose if plan.steps else plan.end_pose
        places = [(step.time, step.pose, rises.get(step.behavior, 0.0) + rise_of(plan, step)) for step in plan.steps]
        every = [*places, (plan.end_time, plan.end_pose, 0.0)]
        floors = [self.floors.under(pose[0], pose[1]) for _, pose, _ in every]
        grounds = [
            StepGround(time, floor.relief, floor.height, rise)
            for (time, _, rise), floor in zip(every, floors, strict=True)
        ]
        return ground_spans(grounds, self.height(start))[0]

    def offset(self, point: Sequence[float], floor: str | None, height: float | None = None) -> tuple[float, float]:
        """Return how far a point is moved into the plane [m].

        Args:
            point: x, y [m].
            floor: name of its floor; None for that at the height.
            height: height of the floor [m]; None for the lowest that is there.

        Raises:
            SceneError: if there is no such floor.
        """
        return offset(self.floors, point, floor, height)

    def links(self, character: Character) -> list[tuple[Pose, Pose]]:
        """Return the ways of a character from floor to floor: poses in which they begin and end, in the plane."""
        return [(link.entry, link.exit) for link in self.made[character.library].links]

    def height(self, pose: Pose) -> float:
        """Return the height over the terrain of the floor under a pose of the plane [m]."""
        return self.floors.under(pose[0], pose[1]).height


def offset(
    floors: Floors, point: Sequence[float], floor: str | None, height: float | None = None
) -> tuple[float, float]:
    """Return how far a point of a place is moved into the plane of its floors [m]; see `LevelScene.offset`."""
    try:
        if floor is not None:
            found = floors.named(floor, "place")
        else:
            found = floors.at(point[0], point[1], height, what="place")
    except WorldError as problem:
        raise SceneError(str(problem)) from None
    dx, dy = found.offset
    return dx, dy


def in_plane(character: Character, floors: Floors) -> Character:
    """Return a character with its start and its goal in the plane of the floors.

    Raises:
        SceneError: if it is on no floor.
    """
    try:
        start = _floor(floors, character.start, character.start_floor, f"'{character.name}': start")
        goal = _floor(floors, character.goal, character.goal_floor, f"'{character.name}': goal")
    except WorldError as problem:
        raise SceneError(str(problem)) from None
    (x, y, heading), (gx, gy) = character.start, character.goal
    return replace(
        character,
        start=(x + start.offset[0], y + start.offset[1], heading),
        goal=(gx + goal.offset[0], gy + goal.offset[1]),
    )


def _floor(floors: Floors, point: Sequence[float], name: str | None, what: str) -> Floor:
    return floors.at(point[0], point[1], what=what) if name is None else floors.named(name, what)
