"""People of a live throng who have to wait for a moment: they are as they were, in the dynamics and as bodies.

Limbs that would get into somebody, or into a wall, have nowhere to go in the midst of a jam. Who was apart a moment
before is apart as long as it stays as it was. The dynamics go on from there, slower, and find another way; feet go on
slower, too, so that they are led around what is in their way and do not leap over it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.live.mixing.bodies import ThrongBodies
from gaitway.live.mixing.handover import HandOvers
from gaitway.live.mixing.parting import Poses
from gaitway.live.mixing.simulation import LiveSimulation

BAR = 0.003
"""Depth of bodies in one another from which on somebody waits [m]; less than the audit's bar, for it looks between
frames, too."""
_PATIENCE = 0.5
"""Time for which somebody waits before more is allowed [s]; else two may wait for one another for ever."""
_RELAX, _JAMMED = 0.05, 0.005
"""Depth by which more is allowed for each second of waiting after that [m/s], and the most of it [m]."""
_LOCKED, _LOOSEN, _LOOSE = 3.0, 0.01, 0.01
"""Time after which two count as locked by their limbs [s]; how much more is allowed for each second of waiting then
[m/s], and the most of it [m]. Legs that are in between one another, or around the corner of a wall, find no other way
out, and who stands there for ever holds up everybody behind. In all that is less than the 2 cm by which sleeves may
touch in a jam; the audit counts such touches."""
_HOPELESS, _LAST = 10.0, 0.02
"""Time after which that did not serve [s], and how much more is allowed then, at the same rate [m]. Few get there: one
pair of 500 people at an opening, which stood in the midst of it for 54 s without this."""
_FORGET = 1.0
"""Seconds of waiting that are forgotten in a second in which nobody is in the way."""
_SLOWEST, _HASTE = 0.5, 1.4
"""Least pace of feet, and the factor by which it grows in a step in which nobody is in the way."""
_SLOWED = 0.85
"""Share of its velocity that who waits keeps."""


class LastMoment:
    """How the people of a throng were before a step.

    Attributes:
        shown: what was shown of them, by skeleton: numbers in the engine, and poses.
    """

    def __init__(
        self,
        throng: Sequence[ThrongBodies],
        blends: Sequence[HandOvers],
        shown: Sequence[tuple[IntArray, FloatArray, FloatArray, BoolArray]],
        numbers: FloatArray,
        simulation: LiveSimulation | None,
    ) -> None:
        """Keep all that is needed to put people back; nobody can be put back without a simulation."""
        known = simulation is not None and len(shown) == len(throng)
        self.shown: list[tuple[IntArray, Poses]] = [
            (slots if known else slots[:0], (roots, turns)) for slots, roots, turns, _ in shown
        ]
        if not self.shown:
            self.shown = [(bodies.slots[:0], (bodies.roots[:0], bodies.turns[:0])) for bodies in throng]
        self._bodies, self._blends = [some.state() for some in throng], [some.state() for some in blends]
        self._numbers = numbers.copy()
        self._places = None if simulation is None else simulation.places_of_all()

    def put_bodies_back(self, slots: IntArray, throng: Sequence[ThrongBodies], blends: Sequence[HandOvers]) -> None:
        """Let bodies of some people (N,) be as they were; `throng` and `blends` are by skeleton."""
        for bodies, blend, then, handed in zip(throng, blends, self._bodies, self._blends, strict=True):
            own = slots[np.isin(slots, bodies.slots)]
            if len(own):
                bodies.put_back(then, own)
                blend.put_back(handed, own)

    def put_back(
        self, slots: IntArray, numbers: FloatArray, columns: Sequence[int], simulation: LiveSimulation
    ) -> None:
        """Let some people be as they were in the dynamics.

        Args:
            slots: who; (N,).
            numbers: numbers of all characters, a row each.
            columns: those of them that are put back.
            simulation: the dynamics.
        """
        assert self._places is not None
        numbers[slots[:, None], list(columns)] = self._numbers[slots[:, None], list(columns)]
        simulation.put_back(slots, *self._places, _SLOWED)


def allowed_depths(waited: FloatArray) -> FloatArray:
    """Return how deep people may be in others [m], who have waited for so long [s]; (N,)."""
    more = np.clip(_LOOSEN * (waited - _LOCKED), 0.0, _LOOSE) + np.clip(_LOOSEN * (waited - _HOPELESS), 0.0, _LAST)
    return np.asarray(BAR + np.clip(_RELAX * (waited - _PATIENCE), 0.0, _JAMMED) + more)


def is_late(waited: FloatArray) -> BoolArray:
    """Return who sets a swinging foot down where it is, of people who have waited for so long [s]; (N,)."""
    return np.asarray(waited > _PATIENCE)


def waited_on(waited: FloatArray, held: BoolArray, dt: float) -> FloatArray:
    """Return how long people have waited [s] (N,) after a further step, in which some did (N,)."""
    return np.where(held, waited + dt, np.maximum(waited - _FORGET * dt, 0.0))


def paces_on(paces: FloatArray, held: BoolArray) -> FloatArray:
    """Return the paces of feet (N,) after a further step, in which some had to wait (N,)."""
    return np.where(held, np.maximum(0.5 * paces, _SLOWEST), np.minimum(_HASTE * paces, 1.0))
