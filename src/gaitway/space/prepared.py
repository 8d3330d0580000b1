"""What a crowd shares: libraries prepared for planning in a world, each once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gaitway.behavior.heuristics import HEURISTICS, Heuristics
from gaitway.behavior.search import TIME_WEIGHT, Searcher
from gaitway.core.arrays import FloatArray
from gaitway.library.actions import ActionTable, action_table, path_length
from gaitway.library.behavior import Behavior, Library
from gaitway.library.body_discs import BodyDiscs, body_discs
from gaitway.library.families import with_families
from gaitway.library.reach import reaches
from gaitway.performing.arrival.footwork import Footworks
from gaitway.performing.standing import standing_behaviors, standing_sway
from gaitway.scene.characters import Character, LibraryRef
from gaitway.space.clip_choice import ClipChoice
from gaitway.space.fields import WorldFields
from gaitway.space.slopes import fit_for, steepest_for
from gaitway.world.regions import Reach
from gaitway.world.world import World

SPEEDS = {"slow": 1.0, "normal": 1.4, "fast": 2.8}
"""What the words mean [m/s]; a library that cannot go so slowly or fast comes as near as it can."""
_STRICTNESS = 0.6
"""How much dearer a metre becomes when it is covered e times as fast as one likes."""
_SLOWEST = 0.5
"""What is slower is no way of getting on [m/s]."""


_Which = tuple[LibraryRef, bool]
"""A library, and whether with blends of its clips."""


@dataclass(frozen=True, eq=False)
class PreparedLibrary:
    """A library prepared for characters of one speed, in one world."""

    library: Library
    table: ActionTable
    discs: BodyDiscs
    fields: WorldFields
    searcher: Searcher
    heuristics: Heuristics

    def standing_discs(self, behavior: str | None = None) -> FloatArray:
        """What somebody takes up who stands after a behaviour (None: in the first state that it can stand in)."""
        state = None if behavior is None else self.library.graph[behavior].end
        if state not in self._standing:
            self._standing[state] = self._discs_in(state)
        return self._standing[state]

    @cached_property
    def sway(self) -> float:
        """How far the root of somebody who stands gets from where it stopped [m]."""
        return standing_sway(self.library)

    @cached_property
    def instances(self) -> ClipChoice:
        """Which of its clips are played."""
        return ClipChoice(self.searcher)

    @cached_property
    def footworks(self) -> Footworks:
        """What is known of how its clips step."""
        return Footworks(self.library)

    @cached_property
    def _standing(self) -> dict[str | None, FloatArray]:
        return {}

    def _discs_in(self, state: str | None) -> FloatArray:
        names = standing_behaviors(self.library, state) or standing_behaviors(self.library)
        actions = np.flatnonzero(np.isin(self.table.behavior, [self.table.index(name) for name in names]))
        starts = self.discs.static_starts
        return np.concatenate([self.discs.static[starts[a] : starts[a + 1]] for a in actions])


@dataclass(eq=False)
class PlanningContext:
    """Kits by library and speed. **Mutable**: they are made when they are asked for."""

    world: World
    libraries: dict[LibraryRef, Library] = field(default_factory=dict)
    """As they were loaded."""
    fitting: dict[_Which, Library] = field(default_factory=dict)
    """As they are used in this world."""
    bodies: dict[_Which, tuple[BodyDiscs, tuple[Reach, ...], WorldFields]] = field(default_factory=dict)
    made: dict[tuple[_Which, str | float, tuple[str, ...], float], PreparedLibrary] = field(default_factory=dict)

    def of(self, character: Character) -> PreparedLibrary:
        """For a character."""
        ref, names = character.library, tuple(getattr(character.plan, "heuristics", HEURISTICS))
        second, which = (
            getattr(character.plan, "time_weight", TIME_WEIGHT),
            (ref, getattr(character.plan, "blends", False)),
        )
        key = (which, character.speed, names, second)
        if key not in self.made:
            library = self._library(which)
            table = action_table(library, weights=speed_weights(library, character.speed))
            if which not in self.bodies:
                reach = reaches(library)
                passing = [r for r in reach if r.edge is None]  # the search goes over and under things, and onto none
                fields = WorldFields.of(self.world, passing, max_slope=steepest_for(library), who=library.name)
                self.bodies[which] = body_discs(library, table), reach, fields
            discs, reach, fields = self.bodies[which]
            searcher = Searcher(table, discs, reach, second)
            heuristics = Heuristics.of(table, searcher.costs, fields, discs, names)
            self.made[key] = PreparedLibrary(library, table, discs, fields, searcher, heuristics)
        return self.made[key]

    def _library(self, which: _Which) -> Library:
        ref, blends = which
        if which not in self.fitting:
            if ref not in self.libraries:
                self.libraries[ref] = ref.load()
            whole = self.libraries[ref]
            self.fitting[which] = fit_for(with_families(whole) if blends else whole, self.world)
        return self.fitting[which]


def speed_weights(library: Library, speed: str | float) -> dict[str, float]:
    """Factors on the costs of behaviours for somebody who likes to go at a speed: a word, or metres in a second.

    What is faster costs more; so does what is slower, of ways to get on (and not of turning, starting or passing).
    """
    means = {b.name: _speed(library, b) for b in library.graph.behaviors}
    gaits = {
        b.name for b in library.graph.behaviors if b.start == b.end and b.obstacle is None and means[b.name] > _SLOWEST
    }
    liked = SPEEDS[speed] if isinstance(speed, str) else float(speed)
    if gaits:
        liked = min(max(liked, min(means[name] for name in gaits)), max(means[name] for name in gaits))
    return {
        name: 1.0 + _STRICTNESS * abs(math.log(mean / liked)) if mean > liked or name in gaits else 1.0
        for name, mean in means.items()
    }


def _speed(library: Library, behavior: Behavior) -> float:
    clips = [library.clips[name] for name in behavior.clips]
    return float(np.mean([path_length(clip) / max(clip.duration, 1e-9) for clip in clips]))


def planning_context(world: World, libraries: Mapping[LibraryRef, Library] | None = None) -> PlanningContext:
    """For a world, with libraries that are loaded already."""
    return PlanningContext(world, dict(libraries or {}))
