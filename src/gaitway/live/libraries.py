"""The libraries of a live crowd, by name, and the engine that they are prepared for."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gaitway.core.errors import LiveError
from gaitway.core.suggest import did_you_mean
from gaitway.levels.links import LevelLibrary, Link, level_library
from gaitway.library.behavior import Library
from gaitway.live.climbing.places import CrowdFloors
from gaitway.live.engine import LiveEngine
from gaitway.live.options import LiveOptions
from gaitway.live.planning.forest import live_forest
from gaitway.scene.characters import Character, LibraryRef, library_ref
from gaitway.scene.plan_options import PlanOptions
from gaitway.space.movement_costs import HURRY_SPREAD, SPEEDS, own_pace
from gaitway.space.prepared import PreparedLibrary, planning_context
from gaitway.world.regions import passable, reaches_for
from gaitway.world.world import World

KINDS = ("jump", "duck")
"""Kinds of special obstacles that live characters pass."""
_LEVEL, _APART = 0.6, 1.25
"""Draws of speed nearer to the mean than the first take the mean, others the second, all in standard deviations. So
there are three speeds, which together have about that deviation."""
_MOST_TAKES = 16
"""Most takes of a cast that a saved state may ask for, where the crowd does not have them already."""
AnyLibrary = str | Path | Library | LibraryRef
"""A library: the name of a built-in cast, a .gwlib file, a library, or a reference of a scene."""


class LibraryKind(NamedTuple):
    """A library at one preferred speed: one library of the engine."""

    ref: LibraryRef
    speed: str | float


class CrowdLibraries:
    """Libraries by name, and the engine with those that are in use. This class is **mutable**.

    Attributes:
        base: the world that libraries are prepared for.
        special: kinds of special obstacles that the trees of the engine pass.
        kinds: the libraries of the engine, by number.
        names: libraries by name; the first is that of characters for which none is named.
        loaded: libraries that are loaded.
        engine: the engine; None until the first library is prepared.
    """

    def __init__(
        self,
        world: World,
        plan: PlanOptions,
        options: LiveOptions,
        seed: int,
        start_time: float,
        loaded: Mapping[LibraryRef, Library],
        begun: Callable[[LiveEngine], None],
        floors: CrowdFloors | None = None,
    ) -> None:
        """Prepare the libraries of a crowd; none is loaded yet.

        Args:
            world: world of the crowd.
            plan: options of planning.
            options: options of the characters' planning.
            seed: seed of the engine.
            start_time: time at which the engine begins [s].
            loaded: libraries that are loaded already.
            begun: called with each new engine.
            floors: floors of the world, if it has several.
        """
        self._floors, self._level = floors, dict[LibraryRef, LevelLibrary]()
        self._plan, self._options, self._seed, self._begun = plan, options, seed, begun
        self.names: dict[str, LibraryRef] = {}
        self.loaded = dict(loaded)
        self.begin(world, special_kinds(world), start_time)

    def begin(self, base: World, special: Sequence[str], start_time: float) -> None:
        """Forget the engine, and prepare libraries for a world from now on."""
        self.base, self.special, self._start_time = base, tuple(special), start_time
        self.kinds: list[LibraryKind] = []
        self.engine: LiveEngine | None = None
        if self._floors is None:
            self._context = planning_context(base, self.loaded)
        else:
            extended = {ref: one.library for ref, one in self._level.items()}
            self._context = planning_context(self._floors.plane(base), extended)

    def begun_by(self, begun: Callable[[LiveEngine], None]) -> None:
        """Let another function be told of new engines."""
        self._begun = begun

    @property
    def start_time(self) -> float:
        """Time at which the engine begins or began [s]."""
        return self._start_time

    def default(self) -> str:
        """Return the name of the first library, the built-in person where there is none yet."""
        return next(iter(self.names), "") or self.named(LibraryRef())

    def named(self, library: AnyLibrary) -> str:
        """Return the name of a library in this crowd, a new one where it has none yet.

        Raises:
            LibraryError: if there is no such library.
        """
        if isinstance(library, str) and library in self.names:
            return library
        if isinstance(library, Library):
            ref = next((ref for ref, known in self.loaded.items() if known is library), None)
            if ref is None:  # a reference that no file or cast has
                ref = LibraryRef(library.name, seed=min([0, *(known.seed for known in self.loaded)]) - 1)
                self.loaded[ref] = library
                if self._floors is None:
                    self._context.libraries[ref] = library
        else:
            ref = library if isinstance(library, LibraryRef) else library_ref(library)
        found = next((name for name, known in self.names.items() if known == ref), None)
        if found is not None:
            return found
        name, number = ref.name, 2
        while name in self.names:
            name, number = f"{ref.name} {number}", number + 1
        self.names[name] = ref
        return name

    def name_of(self, number: int) -> str:
        """Return the name of a library of the engine."""
        return next(name for name, known in self.names.items() if known == self.kinds[number].ref)

    def numbers(self, name: str) -> list[int]:
        """Return the numbers in the engine of a library, one for each speed.

        Raises:
            LiveError: if there is no library of that name.
        """
        if name not in self.names:
            raise LiveError(f"no library '{name}' in this crowd{did_you_mean(name, self.names)}")
        found = [number for number, kind in enumerate(self.kinds) if kind.ref == self.names[name]]
        return found or [self.number(name, "normal")]

    def number(self, name: str, speed: str | float) -> int:
        """Return the number in the engine of a library at a speed; it is prepared at its first use.

        Raises:
            LiveError: if there is no such speed.
        """
        if isinstance(speed, str):
            if speed not in SPEEDS:
                raise LiveError(f"no speed '{speed}'; write {', '.join(SPEEDS)}, or metres per second")
        elif not (np.isfinite(speed) and speed > 0.0):
            raise LiveError(f"speed of {speed} m/s; write a number above 0")
        kind = LibraryKind(self.names[name], speed)
        if kind not in self.kinds:
            self.open(kind)
        return self.kinds.index(kind)

    def own_speeds(self, name: str, speed: str | float, ids: Sequence[int]) -> list[str | float]:
        """Return the speeds of new characters of a library, drawn by seed for those whose speed is a word.

        Args:
            name: name of the library.
            speed: their preferred speed.
            ids: numbers of the characters, by which speeds are drawn.
        """
        spread = self._options.speed_spread
        if not isinstance(speed, str) or spread == 0.0 or speed not in SPEEDS:
            return [speed] * len(ids)
        ref = self.names[name]
        if ref not in self.loaded:
            self.loaded[ref] = ref.load()
            if self._floors is None:
                self._context.libraries[ref] = self.loaded[ref]
        drawn = [float(np.random.default_rng([self._seed, number, 11]).standard_normal()) for number in ids]
        ways = [0 if abs(z) < _LEVEL else int(math.copysign(1.0, z)) for z in drawn]
        return [level_speed(self.loaded[ref], speed, spread, way) for way in ways]

    def open(self, kind: LibraryKind) -> None:
        """Prepare a library at a speed, and give it to the engine."""
        who = Character(
            name="anyone",
            start=(0.0, 0.0, 0.0),
            goal=(0.0, 0.0),
            goal_heading=None,
            library=kind.ref,
            plan=self._plan.model_copy(update={"correct": False}),  # nobody corrects arms while they are played
            speed=kind.speed,
        )
        links = self._links(kind.ref)
        prepared = self._context.prepared(who)
        if self._floors is None:
            self.loaded[kind.ref] = self._context.libraries[kind.ref]
        passed = tuple(special for special in self.special if special in prepared.table.kinds)
        forest = live_forest(
            prepared.table, passed, time_weight=prepared.time_weight, without=_passing_nothing(prepared)
        )
        if self.engine is None:
            floors = None if self._floors is None else self._floors.floors
            self.engine = LiveEngine(
                prepared, forest, self._options, seed=self._seed, start_time=self._start_time, floors=floors,
                links=links,
            )  # fmt: skip
            self._begun(self.engine)
        else:
            self.engine.add_library(prepared, forest, links)
        self.kinds.append(kind)

    def _links(self, ref: LibraryRef) -> tuple[Link, ...]:
        """Return the ways between floors for a library, which gets clips for those that it climbs."""
        if self._floors is None:
            return ()
        if ref not in self._level:
            if ref not in self.loaded:
                self.loaded[ref] = ref.load()
            self._level[ref] = level_library(self.loaded[ref], self._floors.floors)
        self._context.libraries[ref] = self._level[ref].library
        links = self._level[ref].links
        self._floors.links = self._floors.links or tuple((link.entry, link.exit) for link in links)
        return links

    def state(self) -> dict[str, Any]:
        """Return all that `restore` needs besides the base world, as plain values."""
        return {
            "special": list(self.special),
            "kinds": [{**asdict(kind.ref), "speed": kind.speed} for kind in self.kinds],
            "names": [[name, asdict(ref)] for name, ref in self.names.items()],
        }

    def restore(self, state: Mapping[str, Any], base: World, known: Collection[LibraryRef] = ()) -> None:
        """Prepare the libraries of a saved crowd, in their order, for its base world.

        Args:
            state: values of `state`.
            base: the base world.
            known: libraries that may be read, besides those that are loaded and casts.

        Raises:
            ValueError: if a library is not known here.
        """
        special = tuple(str(kind) for kind in state["special"])
        if not set(special) <= set(KINDS):
            raise ValueError(f"special obstacles {special}")
        self.names = {str(name): LibraryRef(**ref) for name, ref in state["names"]}
        for ref in self.names.values():
            self._check_known(ref, known)
        self.begin(base, special, self._start_time)
        for row in state["kinds"]:
            ref = LibraryRef(**{key: value for key, value in row.items() if key != "speed"})
            self._check_known(ref, known)
            self.open(LibraryKind(ref, row["speed"]))

    def _check_known(self, ref: LibraryRef, known: Collection[LibraryRef]) -> None:
        """Refuse a library that a saved state names, unless it is a cast: a state never makes another file be read.

        Raises:
            ValueError: if this crowd does not have it.
        """
        if (ref.seed < 0 or ref.file or ref.takes > _MOST_TAKES) and ref not in (*self.loaded, *known):
            raise ValueError(f"library '{ref.name}' is not known here; add it first")


def special_kinds(world: World) -> tuple[str, ...]:
    """Return the kinds of special obstacles of a world that live characters pass."""
    there = {obstacle.kind for obstacle in world.obstacles}
    return tuple(kind for kind in KINDS if kind in there)


def neutral(library: LibraryRef) -> LibraryRef:
    """Return a library in its neutral manner: live characters that differ in manner alone share one library."""
    return LibraryRef(library.cast, file=library.file, size=library.size)


def level_speed(library: Library, speed: str, spread: float, way: int) -> str | float:
    """Return one of the three speeds at which live people walk whose speed is a word: that word, or [m/s].

    Args:
        library: the library.
        speed: the word.
        spread: how far speeds of people spread, as a share.
        way: -1 for the slowest, 0 for the one that the word stands for, 1 for the fastest.
    """
    gait, _ = own_pace(library, SPEEDS[speed])
    if way == 0 or not isinstance(gait, float) or gait == SPEEDS[speed]:
        return speed
    if speed == "hurry":  # nobody walks faster
        return speed if way > 0 else round(SPEEDS[speed] * (1.0 - _APART * HURRY_SPREAD * spread), 3)
    return round(gait * (1.0 + way * _APART * spread), 3)


def _passing_nothing(prepared: PreparedLibrary) -> set[str]:
    """Return the special behaviours that pass no obstacle of their kind, although others do: low steps, high fences."""
    specials = prepared.fields.specials
    fitting = [[o for o in specials if reaches_for(o, [reach])] for reach in prepared.reaches]
    passing = [r for r, own in zip(prepared.reaches, fitting, strict=True) if any(passable(o, [r]) for o in own)]
    kinds, names = {reach.kind for reach in passing}, {reach.behavior for reach in passing}
    return {reach.behavior for reach in prepared.reaches if reach.kind in kinds} - names
