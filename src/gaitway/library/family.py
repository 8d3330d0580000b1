"""A family of behaviours: motions that differ in one parameter, and everything between them.

Any value in the family's range is given by a blend of the two neighbours, of which the share is solved for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import planar
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import LibraryError
from gaitway.library.behavior import Behavior
from gaitway.motion.clip import Clip
from gaitway.motion.morphing import Morph

SAME = {"turn": float(np.radians(5.0)), "length": 0.1, "direction": float(np.radians(20.0))}
"""Parameters, and by how much moves differ in one if it counts [rad, m, rad]."""
_PRECISE = 1e-4
"""How exactly the share of two neighbours is found that gives a value."""


@dataclass(frozen=True)
class Move:
    """What a motion does on the floor plan."""

    length: float
    """From the first place of the root to the last [m]."""
    direction: float
    """In which direction that is, seen from half the turn [rad]; an arc leads straight ahead."""
    turn: float
    """How far it turns [rad]; left is positive."""

    @classmethod
    def of(cls, path: FloatArray) -> Move:
        """What a path of planar poses (F, 3) with continuous headings does."""
        x, y = path[-1, :2] - path[0, :2]
        halfway = 0.5 * (path[0, 2] + path[-1, 2])
        direction = float(planar.wrap_angle(np.arctan2(y, x) - halfway))
        return cls(float(np.hypot(x, y)), direction, float(path[-1, 2] - path[0, 2]))

    @property
    def way(self) -> FloatArray:
        """From the first place to the last, seen from half the turn [m]; (2,)."""
        return self.length * np.array([np.cos(self.direction), np.sin(self.direction)])

    def along(self, parameter: str) -> float:
        """One of its parameters by name."""
        return float(getattr(self, parameter))

    def differs_in(self, parameter: str, other: Move) -> bool:
        """Whether it does not do the same as another in one parameter."""
        gap = self.along(parameter) - other.along(parameter)
        return abs(float(planar.wrap_angle(gap)) if parameter == "direction" else gap) >= SAME[parameter]


@dataclass(frozen=True, eq=False)
class Member:
    """A behaviour of a family."""

    behavior: Behavior
    clips: tuple[Clip, ...]
    """Its takes."""
    move: Move
    """What the first of them does."""


@dataclass(frozen=True, eq=False)
class Family:
    """Behaviours that differ in one parameter only, and everything between them; found by `families.families`."""

    parameter: str
    """"turn" [rad], "length" [m] or "direction" [rad], as in `Move`."""
    members: tuple[Member, ...]
    """In rising order of the parameter."""
    morphs: tuple[Morph, ...]
    """What is between the first takes of neighbours."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its behaviours."""
        return tuple(member.behavior.name for member in self.members)

    @property
    def values(self) -> FloatArray:
        """The parameter of each member, rising; (M,)."""
        return np.array([member.move.along(self.parameter) for member in self.members])

    def clip(self, value: float, name: str | None = None, take: int = 0) -> Clip:
        """The motion that has a value of the parameter.

        Args:
            value: turn or direction [rad], or length [m], within the members' range.
            name: of the clip; None makes one such as "walk_left_22.5".
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
        """Numbers of the members just below and above a value; twice that of one that has it.

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
        """A name for what has a value, such as "walk_left_22.5" or "walk_1.20m"."""
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
        """The words that all its behaviours' names begin with; else the state that they begin in."""
        words = [name.split("_") for name in self.names]
        shared = 0
        while all(len(w) > shared and w[shared] == words[0][shared] for w in words):
            shared += 1
        return "_".join(words[0][:shared]) or self.members[0].behavior.start

    def _shown(self, value: float) -> str:
        return f"{value:.2f} m" if self.parameter == "length" else f"{np.degrees(value):.1f} deg"

    def _morph(self, low: int, take: int) -> Morph:
        """What is between two neighbours, by some of their takes."""
        one, other = self.members[low].clips, self.members[low + 1].clips
        chosen = one[take % len(one)], other[take % len(other)]
        found = Morph.between(*chosen) if chosen != (one[0], other[0]) else None
        return self.morphs[low] if found is None else found

    def _share(self, morph: Morph, value: float) -> float:
        """The share of the upper neighbour that gives a value."""

        def beyond(share: float) -> float:
            return Move.of(morph.path(share)).along(self.parameter) - value

        below, above = beyond(0.0), beyond(1.0)
        if below * above >= 0.0:  # takes differ a little from the first one, which the range is of
            return 0.0 if abs(below) <= abs(above) else 1.0
        return float(scipy.optimize.brentq(beyond, 0.0, 1.0, xtol=_PRECISE))
