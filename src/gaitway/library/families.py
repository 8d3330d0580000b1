"""Families of behaviours: turn by any angle, step any length, by blending two neighbours (Lau 2009, chapter 3.7).

Behaviours form a family if they begin and end in the same states, take the same steps and differ in one parameter only:
turn, length or direction. Families are found from the clips, not from names. Any value in the range of a family is
reached by a blend of the two neighbours; the share of the blend is solved for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, product

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import planar
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import LibraryError
from gaitway.library.behavior import Behavior, BehaviorGraph, Library
from gaitway.motion.blending import concatenate
from gaitway.motion.clip import Clip
from gaitway.motion.morphing import Morph, step_sequence

SAME = {"turn": float(np.radians(5.0)), "length": 0.1, "direction": float(np.radians(20.0))}
"""Parameters, and the least difference in each that counts [rad, m, rad]."""
_PRECISE = 1e-4
"""Accuracy of the share of the blend that gives a value."""


@dataclass(frozen=True)
class Move:
    """The displacement of a motion on the floor plan."""

    length: float
    """Distance from the first root position to the last [m]."""
    direction: float
    """Direction of that displacement, seen from half the turn [rad]; an arc leads straight ahead."""
    turn: float
    """Change of heading [rad]; left is positive."""

    @classmethod
    def of(cls, path: FloatArray) -> Move:
        """Return the displacement of a path of planar poses (F, 3) with continuous headings."""
        x, y = path[-1, :2] - path[0, :2]
        halfway = 0.5 * (path[0, 2] + path[-1, 2])
        direction = float(planar.wrap_angle(np.arctan2(y, x) - halfway))
        return cls(float(np.hypot(x, y)), direction, float(path[-1, 2] - path[0, 2]))

    @property
    def way(self) -> FloatArray:
        """Displacement, seen from half the turn [m]; (2,)."""
        return self.length * np.array([np.cos(self.direction), np.sin(self.direction)])

    def along(self, parameter: str) -> float:
        """Return one of its parameters by name."""
        return float(getattr(self, parameter))

    def differs_in(self, parameter: str, other: Move) -> bool:
        """Return whether two displacements differ in one parameter."""
        gap = self.along(parameter) - other.along(parameter)
        return abs(float(planar.wrap_angle(gap)) if parameter == "direction" else gap) >= SAME[parameter]


@dataclass(frozen=True, eq=False)
class FamilyMember:
    """A behaviour of a family."""

    behavior: Behavior
    clips: tuple[Clip, ...]
    """Its interchangeable clips."""
    move: Move
    """Displacement of the first of them."""


@dataclass(frozen=True, eq=False)
class Family:
    """Behaviours that differ in one parameter only, and the blends between them; found by `families`."""

    parameter: str
    """"turn" [rad], "length" [m] or "direction" [rad], as in `Move`."""
    members: tuple[FamilyMember, ...]
    """Members in rising order of the parameter."""
    morphs: tuple[Morph, ...]
    """Blends between the first clips of neighbours."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its behaviours."""
        return tuple(member.behavior.name for member in self.members)

    @property
    def values(self) -> FloatArray:
        """The parameter of each member, rising; (M,)."""
        return np.array([member.move.along(self.parameter) for member in self.members])

    def clip(self, value: float, name: str | None = None, take: int = 0) -> Clip:
        """Return the motion that has a value of the parameter.

        Args:
            value: turn or direction [rad], or length [m], within the members' range.
            name: name of the clip; None makes one such as "walk_left_22.5".
            take: which takes of the neighbours to blend, counted round.

        Raises:
            LibraryError: if the value is not in the range.
        """
        name = self.label(value) if name is None else name
        low, high = self.neighbors(value)
        if low == high:
            clips = self.members[low].clips
            return replace(clips[take % len(clips)], name=name)
        morph = self._morph(low, take)
        return morph.clip(self._share(morph, value), name)

    def neighbors(self, value: float) -> tuple[int, int]:
        """Return the indices of the members just below and above a value; twice the same for a member's value.

        Raises:
            LibraryError: if the value is not in the range.
        """
        values = self.values
        slack = 1e-6 * max(float(np.ptp(values)), 1.0)
        if not values[0] - slack <= value <= values[-1] + slack:
            given, low, high = (self._shown(v) for v in (value, values[0], values[-1]))
            raise LibraryError(f"{self.parameter} {given} of '{self.stem}' is out of range; ask for {low} to {high}")
        nearest = int(np.argmin(np.abs(values - value)))
        if abs(values[nearest] - value) <= slack:
            return nearest, nearest
        above = int(np.searchsorted(values, value))
        return above - 1, above

    def label(self, value: float) -> str:
        """Return a name for a value, such as "walk_left_22.5" or "walk_1.20m"."""
        if self.parameter == "length":
            return f"{self.stem}_{value:.2f}m"
        degrees = round(float(np.degrees(value)), 2)
        if self.parameter == "direction":
            return f"{self.stem}_toward_{degrees:g}"
        if degrees == 0.0:
            return f"{self.stem}_straight"
        side = "left" if degrees > 0.0 else "right"
        known = side in self.stem.split("_")
        return f"{self.stem}_{abs(degrees):g}" if known else f"{self.stem}_{side}_{abs(degrees):g}"

    @property
    def stem(self) -> str:
        """Common first words of its behaviours' names, or else the state that they begin in."""
        words = [name.split("_") for name in self.names]
        shared = 0
        while all(len(w) > shared and w[shared] == words[0][shared] for w in words):
            shared += 1
        return "_".join(words[0][:shared]) or self.members[0].behavior.start

    def _shown(self, value: float) -> str:
        return f"{value:.2f} m" if self.parameter == "length" else f"{np.degrees(value):.1f} deg"

    def _morph(self, low: int, take: int) -> Morph:
        """Return the blend between two neighbours, by some of their clips."""
        one, other = self.members[low].clips, self.members[low + 1].clips
        chosen = one[take % len(one)], other[take % len(other)]
        found = Morph.between(*chosen) if chosen != (one[0], other[0]) else None
        return self.morphs[low] if found is None else found

    def _share(self, morph: Morph, value: float) -> float:
        """Return the share of the upper neighbour that gives a value."""

        def beyond(share: float) -> float:
            return Move.of(morph.path(share)).along(self.parameter) - value

        below, above = beyond(0.0), beyond(1.0)
        if below * above >= 0.0:  # takes differ a little from the first one, which the range is of
            return 0.0 if abs(below) <= abs(above) else 1.0
        return float(scipy.optimize.brentq(beyond, 0.0, 1.0, xtol=_PRECISE))


_WIDEST = {"turn": float(np.radians(100.0)), "length": np.inf, "direction": float(np.radians(100.0))}
"""Greatest distance of neighbours between which a blend makes sense [rad, m, rad]."""
_SIMILAR, _NEAR_BY = 0.3, 0.1
"""Greatest difference of similar displacements: share of their length, and least value [m]."""
_COARSE = {"turn": float(np.radians(20.0)), "length": 0.4, "direction": float(np.radians(45.0))}
"""Distance of neighbours above which a planner lacks something in between [rad, m, rad]."""
_STAYS = 0.05
"""Displacement up to which a behaviour stays where it is [m]."""
_SOMEWHERE = 0.5
"""Least displacement of a family that goes somewhere [m]; more turns on the spot only slow a search down."""
_THERE = 0.2
"""Distance to a member's value, as a share of `SAME`, below which a new value adds nothing."""
_REPEATS = (2, 3)
"""Numbers of repetitions of a straight behaviour that are tried to match a longer one."""

_Steps = tuple[str, str, tuple[tuple[bool, int], ...]]
"""Start state, end state and step sequence of a behaviour."""


def families(library: Library) -> tuple[Family, ...]:
    """Return all families of a library, in the order of their first behaviours."""
    found: list[Family] = []
    for natives, repeated in _groups(library):
        for parameter in SAME:
            pool = natives + repeated if parameter == "turn" else natives
            for cluster in _clusters(pool, parameter):
                found += _chains(cluster, parameter)
    order = [behavior.name for behavior in library.graph.behaviors]
    return tuple(sorted(found, key=lambda family: min(order.index(name) for name in family.names)))


def with_families(
    library: Library,
    *,
    turns_deg: Sequence[float] | None = None,
    lengths: Sequence[float] | None = None,
    directions_deg: Sequence[float] | None = None,
) -> Library:
    """Return a library with more behaviours, blended from neighbours of its families.

    What is not in a family's range, or is what one of its behaviours does already, is left out. A list may be empty,
    which adds nothing, or None, which adds what a planner gains most by: few behaviours, evenly between neighbours
    that are far apart, of families that go somewhere.

    Args:
        library: library to extend.
        turns_deg: turns to add, to both sides [degrees].
        lengths: lengths of path to add [m].
        directions_deg: directions of steps to add, to both sides [degrees].
    """
    asked = {"turn": _both_sides(turns_deg), "length": lengths, "direction": _both_sides(directions_deg)}
    clips, sources = dict(library.clips), {b.name: frozenset([b.name]) for b in library.graph.behaviors}
    behaviors = list(library.graph.behaviors)
    for family in families(library):
        for value in _new_values(family, asked[family.parameter]):
            behavior, made = _blended(family, value, sources.keys() | clips.keys())
            behaviors.append(behavior)
            clips |= {clip.name: clip for clip in made}
            sources[behavior.name] = frozenset(family.names[i] for i in family.neighbors(value))
    graph = BehaviorGraph(tuple(behaviors), _forbidden(library.graph, sources))
    return Library(library.name, library.skeleton, clips, graph)


def _groups(library: Library) -> list[tuple[list[FamilyMember], list[FamilyMember]]]:
    """Return behaviours with the same states and steps, and straight ones repeated to take as many steps."""
    natives: dict[_Steps, list[FamilyMember]] = {}
    for behavior in library.graph.behaviors:
        clips = [library.clips[name] for name in behavior.clips]
        steps = step_sequence(clips[0]) if clips else None
        if behavior.obstacle is not None or steps is None:
            continue
        move = Move.of(clips[0].planar_path())
        if move.length > _STAYS or abs(move.turn) > SAME["turn"]:  # who shifts the feet goes nowhere
            alike = tuple(clip for clip in clips if step_sequence(clip) == steps)
            member = FamilyMember(behavior, alike, move)
            natives.setdefault((behavior.start, behavior.end, steps), []).append(member)
    return [(group, _repeated(natives, key)) for key, group in natives.items()]


def _repeated(natives: Mapping[_Steps, list[FamilyMember]], wanted: _Steps) -> list[FamilyMember]:
    """Return straight behaviours that lead back to their own state, repeated until they take the wanted steps."""
    out: list[FamilyMember] = []
    for ((start, end, steps), group), times in product(natives.items(), _REPEATS):
        longer = (start, end, tuple((down, times * changes) for down, changes in steps))
        if start == end and longer == wanted and steps != wanted[2]:
            out += [_played(member, times) for member in group if abs(member.move.turn) < SAME["turn"]]
    return out


def _played(member: FamilyMember, times: int) -> FamilyMember:
    """Return a behaviour played several times."""
    clips = tuple(concatenate([clip] * times, overlap=False, name=clip.name) for clip in member.clips)
    return FamilyMember(member.behavior, clips, Move.of(clips[0].planar_path()))


def _clusters(group: Sequence[FamilyMember], parameter: str) -> Iterator[list[FamilyMember]]:
    """Yield members of a group that are alike except for one parameter, the largest cluster first."""
    left = list(group)
    while len(left) > 1:
        near = [[other for other in left if _alike(one.move, other.move, parameter)] for one in left]
        largest = max(near, key=len)
        if len(largest) < 2:
            return
        yield largest
        left = [member for member in left if member not in largest]


def _alike(one: Move, other: Move, parameter: str) -> bool:
    """Return whether two displacements are alike except for one parameter."""
    margin = max(_SIMILAR * one.length, _NEAR_BY)
    if parameter == "turn":
        return bool(np.linalg.norm(one.way - other.way) <= margin)
    if one.differs_in("turn", other) or min(one.length, other.length) < SAME["length"]:
        return False
    return not one.differs_in("direction", other) if parameter == "length" else abs(one.length - other.length) <= margin


def _chains(cluster: Sequence[FamilyMember], parameter: str) -> Iterator[Family]:
    """Yield the families of a cluster: runs of members in order whose neighbours can be blended.

    Neighbours that are too far apart, or that do not take the same steps, end a run.
    """
    ordered = _distinct(cluster, parameter)
    run, morphs = ordered[:1], list[Morph]()
    for member in ordered[1:]:
        gap = member.move.along(parameter) - run[-1].move.along(parameter)
        morph = Morph.between(run[-1].clips[0], member.clips[0]) if gap <= _WIDEST[parameter] else None
        if morph is not None:
            run.append(member)
            morphs.append(morph)
            continue
        if morphs:
            yield Family(parameter, tuple(run), tuple(morphs))
        run, morphs = [member], []
    if morphs:
        yield Family(parameter, tuple(run), tuple(morphs))


def _distinct(cluster: Sequence[FamilyMember], parameter: str) -> list[FamilyMember]:
    """Return members in order of a parameter; of equal ones, the one with the most usual length."""
    usual = float(np.median([member.move.length for member in cluster]))
    chosen: list[FamilyMember] = []
    for member in sorted(cluster, key=lambda m: abs(m.move.length - usual)):
        if all(member.move.differs_in(parameter, other.move) for other in chosen):
            chosen.append(member)
    return sorted(chosen, key=lambda m: m.move.along(parameter))


def _both_sides(degrees: Sequence[float] | None) -> list[float] | None:
    return None if degrees is None else [float(sign * np.radians(d)) for d in degrees for sign in (1, -1)]


def _new_values(family: Family, asked: Sequence[float] | None) -> list[float]:
    """Return the requested values within a family's range that are not there yet.

    None requests evenly spaced values where neighbours are far apart.
    """
    values = family.values
    if asked is None:
        goes = min(member.move.length for member in family.members) > _SOMEWHERE
        parts = np.ceil(np.diff(values) / _COARSE[family.parameter] - 1e-6).astype(int)
        filled = [
            np.linspace(low, high, n + 1)[1:-1] for low, high, n in zip(values[:-1], values[1:], parts, strict=True)
        ]
        return np.concatenate(filled).tolist() if goes else []
    inside = [float(v) for v in dict.fromkeys(asked) if values[0] < v < values[-1]]
    return [v for v in inside if np.abs(values - v).min() >= _THERE * SAME[family.parameter]]


def _blended(family: Family, value: float, taken: Collection[str]) -> tuple[Behavior, tuple[Clip, ...]]:
    """Return a new behaviour with a value and its clips; its names differ from those that are taken."""
    one, other = (family.members[i] for i in family.neighbors(value))
    first = family.clip(value)
    longer = f"{first.name}_{first.duration:.1f}s"
    choices = chain([first.name, longer], (f"{longer}_{number}" for number in count(2)))
    name = next(choice for choice in choices if choice not in taken)
    others = [family.clip(value, f"{name}.{take}", take) for take in range(1, min(len(one.clips), len(other.clips)))]
    clips = (replace(first, name=name), *others)
    weight = max(one.behavior.weight, other.behavior.weight)
    made = replace(one.behavior, name=name, clips=tuple(clip.name for clip in clips), weight=weight)
    return made, clips


def _forbidden(graph: BehaviorGraph, sources: Mapping[str, frozenset[str]]) -> frozenset[tuple[str, str]]:
    """Return the forbidden pairs; blends inherit those of their sources."""
    pairs = graph.forbidden
    heirs = {name: [new for new, old in sources.items() if name in old] for pair in pairs for name in pair}
    return frozenset((a, b) for before, after in pairs for a in heirs[before] for b in heirs[after])
