"""People of a live throng who have to wait for a moment: they are as they were, in the dynamics and as bodies.

Limbs that would get into somebody, or into a wall, have nowhere to go in the midst of a jam. Who was apart a moment
before is apart as long as it stays as it was. The dynamics go on from there, slower, and find another way; feet go on
slower, too, so that they are led around what is in their way and do not leap over it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.crowd.throng.bodies import ThrongBodies
from gaitway.crowd.throng.parting import Poses
from gaitway.crowd.throng.patience import SLOWED
from gaitway.live.mixing.handover import HandOvers
from gaitway.live.mixing.simulation import LiveSimulation


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
        simulation.put_back(slots, *self._places, SLOWED)
