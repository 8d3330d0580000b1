"""Libraries prepared for planning in a world: made once, shared by all characters and planners."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from gaitway.core.arrays import FloatArray, read_only
from gaitway.core.errors import LibraryError
from gaitway.library.actions import ActionTable
from gaitway.library.behavior import Library
from gaitway.library.body_discs import BodyDiscs, body_discs
from gaitway.library.families import with_families
from gaitway.library.reach import reaches
from gaitway.library.standing import standing_behaviors, standing_sway
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.plan_options import Preparation
from gaitway.space.fields import WorldFields
from gaitway.space.movement_costs import forward_speeds, hurries, own_pace, planning_table, sidesteps
from gaitway.space.prepared_actions import PreparedActions
from gaitway.space.slopes import fit_for, steepest_for
from gaitway.world.regions import Reach
from gaitway.world.world import World

Part = TypeVar("Part")
_SPECIAL_PACES = (0.85, 1.1)
"""Least and greatest speed at which obstacles are passed, over that of the clip; nobody rushes over or under one."""
_Variant = tuple[LibraryRef, bool]
"""A library, and whether blends of its clips are added."""
_Wishes = tuple[_Variant, str | float, Preparation, float, bool]
"""What a prepared library depends on: variant, speed, the planner's wishes, pace, and whether arms count."""


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
    speeds: FloatArray
    """Seconds of each action's clip that pass in a second, for characters that walk faster or slower; (A,)."""
    hurried: frozenset[str] = frozenset()
    """Behaviours that break into a gait which is much faster than preferred."""
    sidesteps: frozenset[str] = frozenset()
    """Behaviours that take a step to stand again beside, or that set off to the side."""
    shared_parts: dict[Hashable, Any] = field(default_factory=dict, repr=False)
    """What planners derive from the library for characters of any pace; see `part`."""
    placed_parts: dict[Hashable, Any] = field(default_factory=dict, repr=False)
    """The same, of what they derive from the world too."""

    @cached_property
    def actions(self) -> PreparedActions:
        """The actions of the library, for kernels."""
        return PreparedActions(self.table, self.discs, self.reaches, self.time_weight, speeds=self.speeds)

    @cached_property
    def sway(self) -> float:
        """How far the root of a standing character moves from where it stopped [m]."""
        return standing_sway(self.library)

    def standing_discs(self, behavior: str | None = None) -> FloatArray:
        """Return the discs of a character that stands after a behaviour (None: in the first state to stand in)."""
        state = None if behavior is None else self.library.graph[behavior].end
        return self.part(("standing discs", state), lambda: self._discs_in(state))

    def part(self, key: Hashable, make: Callable[[], Part], *, paced: bool = False, placed: bool = False) -> Part:
        """Return a value that a planner derives from this library; it is made once for each key and shared.

        Args:
            key: name of the value.
            make: makes the value.
            paced: whether it depends on `speeds`, so that it is not shared with characters of another pace.
            placed: whether it depends on `fields`, so that it is not shared with a world that has changed.
        """
        parts = self._own_parts if paced else self.placed_parts if placed else self.shared_parts
        if key not in parts:
            parts[key] = make()
        found: Part = parts[key]
        return found

    def at_pace(self, pace: float) -> PreparedLibrary:
        """Return the library for characters that play its clips on foot faster or slower; all else is shared."""
        low, high = _SPECIAL_PACES
        special = min(max(pace, low), high)
        return replace(
            self,
            speeds=read_only(np.where(self.table.on_foot, np.where(self.table.kind < 0, pace, special), 1.0)),
        )

    def in_world(self, fields: WorldFields, parts: dict[Hashable, Any]) -> PreparedLibrary:
        """Return the library in a world that has changed; all that does not depend on the world is shared.

        Args:
            fields: the fields of that world.
            parts: what planners derive from that world, shared by characters of every pace.
        """
        return replace(self, fields=fields, placed_parts=parts)

    @cached_property
    def _own_parts(self) -> dict[Hashable, Any]:
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
    _speeds: dict[_Variant, list[float]] = field(default_factory=dict)
    _bodies: dict[tuple[_Variant, bool], tuple[BodyDiscs, tuple[Reach, ...], WorldFields]] = field(default_factory=dict)
    _prepared: dict[_Wishes, PreparedLibrary] = field(default_factory=dict)

    def prepared(self, character: Character, share: float = 1.0) -> PreparedLibrary:
        """Return the library of a character, prepared for its speed and as its planner asks for it.

        Args:
            character: the character.
            share: its own speed over what its `speed` says.
        """
        wishes = character.plan.preparation()
        variant = (character.library, wishes.blends)
        library = self._library(variant)
        if variant not in self._speeds:
            self._speeds[variant] = forward_speeds(library)
        speed, pace = own_pace(library, character.speed, share, self._speeds[variant])
        arms = not character.plan.correct  # arms that are corrected afterwards need no room now
        usual = self._usual(variant, speed, wishes, arms)
        if pace == 1.0:
            return usual
        key = (variant, speed, wishes, pace, arms)
        if key not in self._prepared:
            self._prepared[key] = usual.at_pace(pace)
        return self._prepared[key]

    def _usual(self, variant: _Variant, speed: str | float, wishes: Preparation, arms: bool) -> PreparedLibrary:
        """Return a library, prepared for characters that play its clips as they are."""
        key = (variant, speed, wishes, 1.0, arms)
        if key not in self._prepared:
            library = self._library(variant)
            if not standing_behaviors(library):
                raise LibraryError(
                    f"library '{library.name}': no behaviour stays in place, so nobody can stop; add one like 'stand'"
                )
            table = planning_table(library, speed, dict(wishes.weights))
            if (variant, arms) not in self._bodies:
                reach, discs = reaches(library), body_discs(library, table, arms=arms)
                self._bodies[variant, arms] = discs, reach, _fields(self.world, library, reach)
            discs, reach, fields = self._bodies[variant, arms]
            self._prepared[key] = PreparedLibrary(
                library=library, table=table, discs=discs, reaches=reach, fields=fields,
                time_weight=wishes.time_weight, speeds=read_only(np.ones(len(table))),
                hurried=frozenset(hurries(library, speed)), sidesteps=frozenset(sidesteps(library)),
            )  # fmt: skip
        return self._prepared[key]

    def _library(self, variant: _Variant) -> Library:
        ref, blends = variant
        if variant not in self._fitting:
            if ref not in self.libraries:
                self.libraries[ref] = ref.load()
            whole = self.libraries[ref]
            self._fitting[variant] = fit_for(with_families(whole) if blends else whole, self.world)
        return self._fitting[variant]


def changed_fields(prepared: PreparedLibrary, world: World) -> WorldFields:
    """Return the fields of a world that has changed, for a library that was prepared for it before."""
    return _fields(world, prepared.library, prepared.reaches)


def _fields(world: World, library: Library, reach: Sequence[Reach]) -> WorldFields:
    passing = [r for r in reach if r.edge is None]  # planners pass obstacles over and under, and climb none
    return WorldFields.of(world, passing, max_slope=steepest_for(library), who=library.name)


def planning_context(world: World, libraries: Mapping[LibraryRef, Library] | None = None) -> PlanningContext:
    """Return the planning context of a world, with libraries that are loaded already."""
    return PlanningContext(world, dict(libraries or {}))
