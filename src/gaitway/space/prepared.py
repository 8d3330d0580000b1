"""Libraries prepared for planning in a world: made once, shared by all characters and planners."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.library.actions import ActionTable, action_table, path_length
from gaitway.library.behavior import Behavior, Library
from gaitway.library.body_discs import BodyDiscs, body_discs
from gaitway.library.families import with_families
from gaitway.library.reach import reaches
from gaitway.library.standing import standing_behaviors, standing_sway
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.plan_options import Preparation
from gaitway.space.fields import WorldFields
from gaitway.space.prepared_actions import PreparedActions
from gaitway.space.slopes import fit_for, steepest_for
from gaitway.world.regions import Reach
from gaitway.world.world import World

SPEEDS = {"slow": 1.0, "normal": 1.4, "fast": 2.8}
"""Speeds of the words that a scene may use [m/s]; a library comes as near to them as it can."""
_STRICTNESS = 0.6
"""Share by which a metre becomes more expensive when it is covered e times as fast as the preferred speed."""
_SLOWEST = 0.5
"""Least speed of a gait [m/s]; slower behaviours do not serve to get anywhere."""

Part = TypeVar("Part")
_Variant = tuple[LibraryRef, bool]
"""A library, and whether blends of its clips are added."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedLibrary:
    """A library prepared for characters of one speed, in one world."""

    library: Library
    table: ActionTable
    discs: BodyDiscs
    """Discs that cover the bodies of the actions."""
    reaches: tuple[Reach, ...]
    """Obstacles that the special behaviours can pass."""
    fields: WorldFields
    time_weight: float
    """Cost of a second [m/s]."""

    @cached_property
    def actions(self) -> PreparedActions:
        """The actions of the library, for kernels."""
        return PreparedActions(self.table, self.discs, self.reaches, self.time_weight)

    @cached_property
    def sway(self) -> float:
        """How far the root of a standing character moves from where it stopped [m]."""
        return standing_sway(self.library)

    def standing_discs(self, behavior: str | None = None) -> FloatArray:
        """Return the discs of a character that stands after a behaviour (None: in the first state to stand in)."""
        state = None if behavior is None else self.library.graph[behavior].end
        return self.part(("standing discs", state), lambda: self._discs_in(state))

    def part(self, key: Hashable, make: Callable[[], Part]) -> Part:
        """Return a value that a planner derives from this library; it is made once for each key and shared."""
        if key not in self._parts:
            self._parts[key] = make()
        found: Part = self._parts[key]
        return found

    @cached_property
    def _parts(self) -> dict[Hashable, Any]:
        return {}

    def _discs_in(self, state: str | None) -> FloatArray:
        names = standing_behaviors(self.library, state) or standing_behaviors(self.library)
        actions = np.flatnonzero(np.isin(self.table.behavior, [self.table.index(name) for name in names]))
        starts = self.discs.static_starts
        return np.concatenate([self.discs.static[starts[a] : starts[a + 1]] for a in actions])


@dataclass(eq=False)
class PlanningContext:
    """A world, and libraries prepared for it. **Mutable**: a library is prepared when it is first asked for."""

    world: World
    libraries: dict[LibraryRef, Library] = field(default_factory=dict)
    """Libraries as they were loaded."""
    _fitting: dict[_Variant, Library] = field(default_factory=dict)
    _bodies: dict[_Variant, tuple[BodyDiscs, tuple[Reach, ...], WorldFields]] = field(default_factory=dict)
    _prepared: dict[tuple[_Variant, str | float, Preparation], PreparedLibrary] = field(default_factory=dict)

    def prepared(self, character: Character) -> PreparedLibrary:
        """Return the library of a character, prepared for its speed and as its planner asks for it."""
        wishes = character.plan.preparation()
        variant = (character.library, wishes.blends)
        key = (variant, character.speed, wishes)
        if key not in self._prepared:
            library = self._library(variant)
            weights = speed_weights(library, character.speed)
            for name, factor in wishes.weights:
                weights[name] = weights.get(name, 1.0) * factor
            table = action_table(library, weights=weights)
            if variant not in self._bodies:
                reach = reaches(library)
                passing = [r for r in reach if r.edge is None]  # planners pass obstacles over and under, and climb none
                fields = WorldFields.of(self.world, passing, max_slope=steepest_for(library), who=library.name)
                self._bodies[variant] = body_discs(library, table), reach, fields
            discs, reach, fields = self._bodies[variant]
            self._prepared[key] = PreparedLibrary(
                library=library, table=table, discs=discs, reaches=reach, fields=fields, time_weight=wishes.time_weight
            )
        return self._prepared[key]

    def _library(self, variant: _Variant) -> Library:
        ref, blends = variant
        if variant not in self._fitting:
            if ref not in self.libraries:
                self.libraries[ref] = ref.load()
            whole = self.libraries[ref]
            self._fitting[variant] = fit_for(with_families(whole) if blends else whole, self.world)
        return self._fitting[variant]


def speed_weights(library: Library, speed: str | float) -> dict[str, float]:
    """Return factors on the costs of behaviours for a preferred speed: a word of `SPEEDS`, or metres per second.

    Faster behaviours cost more. So do slower gaits, but not slower turns, starts or special behaviours.
    """
    means = {b.name: _speed(library, b) for b in library.graph.behaviors}
    gaits = {
        b.name for b in library.graph.behaviors if b.start == b.end and b.obstacle is None and means[b.name] > _SLOWEST
    }
    preferred = SPEEDS[speed] if isinstance(speed, str) else float(speed)
    if gaits:
        preferred = min(max(preferred, min(means[name] for name in gaits)), max(means[name] for name in gaits))
    return {
        name: 1.0 + _STRICTNESS * abs(math.log(mean / preferred)) if mean > preferred or name in gaits else 1.0
        for name, mean in means.items()
    }


def _speed(library: Library, behavior: Behavior) -> float:
    clips = [library.clips[name] for name in behavior.clips]
    return float(np.mean([path_length(clip) / max(clip.duration, 1e-9) for clip in clips]))


def planning_context(world: World, libraries: Mapping[LibraryRef, Library] | None = None) -> PlanningContext:
    """Return the planning context of a world, with libraries that are loaded already."""
    return PlanningContext(world, dict(libraries or {}))
