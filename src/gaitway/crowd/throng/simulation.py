"""The dynamics of a throng of whole bodies: outlines leave room for limbs, and limbs that are in the way hold back."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.crowd.dynamics._route_kernels import STAND
from gaitway.crowd.dynamics.options import CrowdBody, CrowdOptions
from gaitway.crowd.dynamics.simulation import _STATE, CrowdSimulation
from gaitway.crowd.dynamics.walls import WallHash

BODY = CrowdBody(0.48, 0.36)
"""Outline of people, with arms and some room for feet that step. So deep that two do not try to pass one another in a
gate of 0.7 m: their legs would have no room there, and both would wait for ever."""
_HEADWAY = 0.0
"""Time gap to whoever walks in front [s]. Outlines leave room for the next step already. With a longer one everybody
waits for somebody in front where streams meet and cross, and 500 people at an opening of 6 m lock."""
_SWEEPS = 4
"""Sweeps in which bodies are moved apart."""
_TRUNK_RATE = 2.2
"""Greatest speed at which trunks turn [rad/s]. Feet have to follow while the crowd is watched."""
_TRUNK_TURN = 0.5
"""Greatest angle between the way that people go and the way that their trunks face [rad]. With 1.4 rad all who waited
at a door stood sideways, shuffled through it, and their legs were in one another's way: 0.9 people a second passed a
door of 1 m, and 1.6 with this. The outline is hardly wider than deep, so that a turn gains little room."""
_AGILITY = 2.0
"""Greatest acceleration of people [m/s2]. Bodies have to follow."""
_YIELD_AFTER = 3.0
"""Time without progress after which people of one side of a narrow place step back [s]."""
_HELD_BACK = 0.03
"""Greatest change of a velocity by limbs that are in the way, in a step [m/s]. With 0.1, 135 of 500 people had crossed
an opening of 6 m after 40 s, and 191 with this: the dynamics keep clear of people already."""
_LANES, _KEEP_SIDE = 1.2, 1.0
"""See `CrowdOptions`: more than there, since bodies that meet need more room than outlines do."""


def throng_options(
    model: Literal["orca", "social_force"] = "orca", keep_side: float = _KEEP_SIDE, threads: int | None = None
) -> CrowdOptions:
    """Return how people of a throng of whole bodies walk; see `CrowdOptions`."""
    return CrowdOptions(
        model=model,
        body=BODY,
        at_goal="stand",
        sweeps=_SWEEPS,
        trunk_rate=_TRUNK_RATE,
        trunk_turn=_TRUNK_TURN,
        agility=_AGILITY,
        headway=_HEADWAY,
        lanes=_LANES,
        keep_side=keep_side,
        yield_after=_YIELD_AFTER,
        threads=threads,
    )


class ThrongMoment(NamedTuple):
    """All that changes in the dynamics, as it was at a moment."""

    time: float
    """When that was [s]."""
    tick: int
    arrays: dict[str, Any]


class ThrongSimulation(CrowdSimulation):
    """People whose bodies may hold them back. This class is **mutable**."""

    foresees = True

    def nudge(self, rows: IntArray, moves: FloatArray) -> None:
        """Move people out of the way of limbs by some millimetres, (N, 2) [m]; they go no farther against it."""
        size = np.hypot(moves[:, 0], moves[:, 1])
        rows, moves, out = rows[size > 0.0], moves[size > 0.0], moves[size > 0.0] / size[size > 0.0, None]
        self._positions[rows] += moves
        against = np.clip(-(self._velocities[rows] * out).sum(axis=1), 0.0, _HELD_BACK)
        self._velocities[rows] += against[:, None] * out
        stands = self._modes[rows] == STAND
        self._holds[rows[stands]] += moves[stands]

    def put_rows_back(self, rows: IntArray, places: FloatArray, faces: FloatArray, share: float) -> None:
        """Put people (N,) back.

        Args:
            rows: who; (N,).
            places: to where [m]; (N, 2).
            faces: unit vectors that trunks face; (N, 2).
            share: share of its velocity that each keeps.
        """
        self._positions[rows], self._faces[rows] = places, faces
        self._velocities[rows] *= share

    def face(self, rows: IntArray, headings: FloatArray) -> None:
        """Tell which way trunks face [rad]; (N,)."""
        self._faces[rows] = np.stack([np.cos(headings), np.sin(headings)], axis=-1)

    def moment(self) -> ThrongMoment:
        """Return all that `return_to` needs to go on from now once more."""
        return ThrongMoment(self.time, self._tick, {name: getattr(self, name).copy() for name in _STATE})

    def return_to(self, moment: ThrongMoment) -> None:
        """Go back to a moment since which nobody was added or removed."""
        self.time, self._tick = moment.time, moment.tick
        for name, array in moment.arrays.items():
            setattr(self, name, array.copy())

    def set_speeds(self, rows: IntArray, speeds: FloatArray) -> None:
        """Let people (N,) walk at other speeds when nobody is in the way [m/s]; (N,)."""
        self._speeds[rows] = speeds

    @property
    def speeds(self) -> FloatArray:
        """Speeds at which people walk when nobody is in the way [m/s]; (N,)."""
        return self._speeds.copy()

    @property
    def faces(self) -> FloatArray:
        """Unit vectors that trunks face; (N, 2)."""
        return self._faces.copy()

    def walls_now(self) -> WallHash:
        """Return the edges of walls, with movers where they are now."""
        return self._moving_walls.at(self.time)

    @property
    def dodging(self) -> IntArray:
        """Rows of those who make room for something that moves, in the last step; (K,)."""
        return self._dodge
