"""People of a throng who walk as whole bodies: the dynamics lead, bodies follow, and limbs that meet hold them back.

Bodies are looked at in each step, before anybody is shown. Bodies that are made for known trajectories and moved apart
afterwards find no room where the trajectories left none; here the dynamics learn at once that somebody has to wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import planar
from gaitway.core.archives import Arrays
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.crowd.dynamics.walls import Walls
from gaitway.crowd.locomotion.space import LocomotionSpace
from gaitway.crowd.locomotion.steering import narrow_places
from gaitway.crowd.throng.bodies import ThrongBodies, smooth_paths
from gaitway.crowd.throng.parting import Poses, depths_in_movers, part_throng, pushed_softly
from gaitway.crowd.throng.patience import SLOWED, allowed_depths, is_late, paces_on, pauses_on, waited_on
from gaitway.crowd.throng.simulation import ThrongMoment, ThrongSimulation

MIDDLE = 0.06
"""How far the middle of a standing person, from the back to the toes, lies ahead of the root [m]."""
LOOK_EVERY = 0.2
"""Time between two looks at who is near [s]."""
STOPPED = 0.3
"""Share of the velocity of its path that is left to who waits."""
_TWIST = 0.6
"""Greatest angle by which outlines in the dynamics are turned ahead of bodies [rad]."""
_FAR, _NEAR = 1.2, 0.75
"""Distances of the next person at which arms begin to be held down beside the thighs, and are so wholly [m]."""
_TURN_RATE = 1.5
"""Speed at which people turn who stand at their goals [rad/s]."""
_PATH, _PUSHED, _LOWERED, _WAITED, _PACE, _PAUSE, _PAUSED, _REST, _STRUCK, _COLUMNS = (
    slice(0, 6), slice(6, 8), 8, 9, 10, 11, 12, 13, 14, 15,
)  # fmt: skip
"""Columns of `WalkingThrong._table`: the path that a body follows (x, y [m], velocity [m/s], heading [rad] and its rate
[rad/s]); velocity at which it is moved out of the way of others [m/s]; how far arms are held down, 0 to 1; how long it
has waited [s]; the share of time for which its feet go on; how much longer it stands still before it tries to go on
[s]; how long it stood still the last time [s]; how much longer its feet rest after a step on the spot [s]; and how deep
it was in something that moves since somebody asked [m]."""
_CREEP = 0.3
"""Nobody goes slower than this whose feet rest [m/s]."""
_SLOW, _WIDE, _REST_S, _REST_SPREAD, _CALM = 0.2, 0.36, 1.2, 1.0, 2.0
"""Speed of who steps on the spot [m/s]; how far apart feet stand well [m]; how long they rest after that [s], and the
share of it by which people differ; and by how much farther than usual from where it should be a foot stays meanwhile.
Among others a foot seldom finds the room where it should be, and who tries again at once treads on the spot.
"""


def ahead(along: float | FloatArray, headings: FloatArray) -> FloatArray:
    """Return moves ahead by a length, or by one for each (N,) [m], along headings (N,) [rad]; (N, 2)."""
    return np.asarray(np.reshape(along, (-1, 1)) * np.column_stack([np.cos(headings), np.sin(headings)]))


def lowered_arms(places: FloatArray, headings: FloatArray, walls: Walls) -> FloatArray:
    """Return how far arms are held down, 0 to 1 (N,): where others, or walls, are near.

    Args:
        places: where people are [m]; (N, 2).
        headings: which way they face [rad]; (N,).
        walls: walls of the place.
    """
    lowered = narrow_places(places, headings, walls)
    if len(places) > 1:
        away = scipy.spatial.cKDTree(places).query(places, 2)[0][:, 1]
        lowered = np.maximum(lowered, np.clip((_FAR - away) / (_FAR - _NEAR), 0.0, 1.0))
    return lowered


def follow_dynamics(
    bodies: ThrongBodies, simulation: ThrongSimulation, rows: IntArray, headings: FloatArray, path: FloatArray,
    along: float | FloatArray, lowered: FloatArray, paces: FloatArray, dt: float, threads: int = 1,
) -> FloatArray:  # fmt: skip
    """Let bodies follow to where people are in the dynamics, who are held back where feet are left behind.

    Args:
        bodies: the bodies, which are changed.
        simulation: the dynamics, in which people are held back.
        rows: their rows in it; (N,).
        headings: which way they want to face [rad]; (N,).
        path: see `smooth_paths`; (N, 6); it goes on.
        along: how far ahead of their roots people are in the dynamics [m]; one, or (N,).
        lowered: how far arms are held down; (N,).
        paces: share of the time for which feet go on; (N,).
        dt: time of the step [s].
        threads: number of threads; the result is the same with any.

    Returns:
        Which way outlines face, which may turn a little ahead of bodies [rad]; (N,).
    """
    smooth_paths(path, simulation.positions[rows], headings, dt)
    path[:, 4] = bodies.turned_as_feet_allow(path[:, 4], dt * paces)
    roots = path[:, :2] - ahead(along, path[:, 4])
    back = bodies.held_by_feet(roots)
    path[:, :2] += back
    simulation.nudge(rows, back)
    bodies.follow(roots + back, path[:, 4], dt, lowered, paces * bodies.hurried(), threads)
    return np.asarray(path[:, 4] + np.clip(planar.wrap_angle(headings - path[:, 4]), -_TWIST, _TWIST))


def moved_by_limbs(
    bodies: ThrongBodies, pushed: FloatArray, path: FloatArray, wishes: FloatArray, dt: float
) -> FloatArray:
    """Return how far bodies are moved now who should be moved by so much, softly and as far as feet allow (N, 2) [m].

    Args:
        bodies: the bodies.
        pushed: velocities at which they were moved until now [m/s]; (N, 2).
        path: see `smooth_paths`; (N, 6); it is moved, too.
        wishes: how far they should be moved [m]; (N, 2).
        dt: time of the step [s].
    """
    moves = dt * pushed_softly(pushed, path, wishes, dt)
    back = bodies.held_by_feet(bodies.places + moves)
    path[:, :2] += back
    return np.asarray(moves + back)


class WalkingMoment(NamedTuple):
    """A throng as it was at a moment."""

    simulation: ThrongMoment
    bodies: list[Arrays]
    table: FloatArray
    next_look: float


class WalkingThrong:
    """Whole bodies of people in the dynamics, nobody of whom ever leaves. This class is **mutable**.

    Attributes:
        bodies: bodies by skeleton; their numbers are rows of the dynamics.
    """

    def __init__(self, simulation: ThrongSimulation, spaces: Sequence[LocomotionSpace]) -> None:
        """Make it without people.

        Args:
            simulation: the dynamics.
            spaces: gaits of those who may join.
        """
        self.bodies = [ThrongBodies(space) for space in spaces]
        self._simulation = simulation
        self._table: FloatArray = np.zeros((0, _COLUMNS))
        self._next_look = -np.inf

    def join(self, group: int, rows: IntArray, styles: IntArray, seed: int) -> None:
        """Let people stand where they are in the dynamics.

        Args:
            group: number of their gaits.
            rows: rows in the dynamics; (N,).
            styles: their styles; (N,).
            seed: draws how they tuck their arms, and which foot they begin with.
        """
        simulation = self._simulation
        lack = len(simulation) - len(self._table)
        self._table = np.concatenate([self._table, np.zeros((max(lack, 0), _COLUMNS))])
        places, headings = simulation.positions[rows], simulation.headings[rows]
        self.bodies[group].stand(rows, places - ahead(MIDDLE, headings), headings, styles, seed)
        self._table[rows[:, None], [0, 1, 4]] = np.column_stack([places, headings])
        self._table[rows, _PACE] = 1.0
        self._next_look = -np.inf

    @property
    def waited(self) -> FloatArray:
        """How long each row of the dynamics has waited since others were in the way of its limbs [s]; (R,)."""
        return self._table[:, _WAITED].copy()

    def struck(self) -> FloatArray:
        """Return how deep each row of the dynamics was in something that moves since this was asked [m]; (R,)."""
        out = self._table[:, _STRUCK].copy()
        self._table[:, _STRUCK] = 0.0
        return out

    def moment(self) -> WalkingMoment:
        """Return all that `return_to` needs to go on from now once more."""
        states = [bodies.state() for bodies in self.bodies]
        return WalkingMoment(self._simulation.moment(), states, self._table.copy(), self._next_look)

    def return_to(self, moment: WalkingMoment) -> None:
        """Go back to a moment since which nobody has joined."""
        self._simulation.return_to(moment.simulation)
        for bodies, state in zip(self.bodies, moment.bodies, strict=True):
            bodies.put_back(state, bodies.slots)
        self._table, self._next_look = moment.table.copy(), moment.next_look

    def step(self, dt: float, others: Sequence[Poses], facing: FloatArray) -> None:
        """Go on by a time [s].

        Args:
            dt: the time.
            others: people who are not moved by the dynamics, by skeleton.
            facing: which way each row of the dynamics is to face that has arrived [rad]; NaN for any; (R,).
        """
        simulation, table = self._simulation, self._table
        then, old, places, faces = (
            [b.state() for b in self.bodies],
            table.copy(),
            simulation.positions,
            simulation.faces,
        )
        simulation.step(dt)
        if simulation.time >= self._next_look - 1e-9:
            self._next_look = simulation.time + LOOK_EVERY
            here = np.flatnonzero(simulation.present)
            table[here[here < len(table)], _LOWERED] = lowered_arms(
                simulation.positions[here], simulation.headings[here], simulation.walls
            )[here < len(table)]
        table[simulation.dodging, _PAUSE] = 0.0  # who stands still is run over
        pauses = np.flatnonzero(table[:, _PAUSE] > 0.0)
        simulation.put_rows_back(pauses, places[pauses], faces[pauses], 0.0)
        # who stands well waits for room to go on, instead of creeping after every centimetre
        calm = np.flatnonzero(table[:, _REST] > 0.0)
        stays = np.setdiff1d(calm[np.hypot(*simulation.velocities[calm].T) < _CREEP], simulation.dodging)
        simulation.put_rows_back(stays, places[stays], simulation.faces[stays], 1.0)
        before, wanted = simulation.headings, simulation.headings
        turns = np.isfinite(facing) & simulation.arrived
        away = planar.wrap_angle(facing[turns] - before[turns])
        wanted[turns] += np.clip(away, -_TURN_RATE * dt, _TURN_RATE * dt)
        for bodies in self.bodies:
            own = bodies.slots
            path = table[own, _PATH]
            swung = bodies.swings >= 0.0
            bodies.calm_down(np.where(table[own, _REST] > 0.0, _CALM, 0.0))
            outlines = follow_dynamics(
                bodies, simulation, own, wanted[own], path, MIDDLE, table[own, _LOWERED], table[own, _PACE], dt
            )
            apart = bodies.prints()[:, 0, :2] - bodies.prints()[:, 1, :2]
            landed = (swung & (bodies.swings < 0.0)).any(axis=1) & (np.hypot(*apart.T) < _WIDE)
            landed &= np.hypot(*path[:, 2:4].T) < _SLOW
            rests = _REST_S * (1.0 + _REST_SPREAD * ((0.618034 * own) % 1.0))
            table[own, _REST] = np.where(landed, rests, np.maximum(table[own, _REST] - dt, 0.0))
            table[own, _PATH] = path
            simulation.face(own, outlines)
        self._part(dt, others, then, old, places, faces)
        table[pauses, _PAUSE] -= dt

    def _part(
        self, dt: float, others: Sequence[Poses], then: Sequence[Arrays], old: FloatArray,
        places: FloatArray, faces: FloatArray,
    ) -> None:  # fmt: skip
        """Move bodies apart, limb by limb, and out of walls; who finds no room is as it was before the step."""
        simulation, table = self._simulation, self._table

        def shown() -> list[Poses]:
            return [(bodies.roots, bodies.turns) for bodies in self.bodies]

        def pushed(bodies: ThrongBodies, wishes: FloatArray) -> FloatArray:
            path = table[bodies.slots, _PATH]
            moves = moved_by_limbs(bodies, table[bodies.slots, _PUSHED], path, wishes, dt)
            table[bodies.slots, _PATH], table[bodies.slots, _PUSHED] = path, moves / dt
            return moves

        def put_back(who: IntArray) -> None:
            for bodies, state in zip(self.bodies, then, strict=True):
                own = who[np.isin(who, bodies.slots)]
                if len(own):
                    bodies.put_back(state, own)

        waited = [table[bodies.slots, _WAITED] for bodies in self.bodies]
        moves, held = part_throng(
            self.bodies,
            [(b.slots, (state["roots"], state["turns"])) for b, state in zip(self.bodies, then, strict=True)],
            [allowed_depths(some) for some in waited],
            [is_late(some, strict=True) for some in waited], shown(), shown, others, pushed, put_back,
            simulation.walls_now(), dt,
        )  # fmt: skip
        for bodies, roots, waits in zip(self.bodies, moves, held, strict=True):
            table[bodies.slots, _STRUCK] = np.maximum(
                table[bodies.slots, _STRUCK], depths_in_movers(bodies, simulation.walls_now())
            )
            slots = bodies.slots[waits]
            simulation.put_rows_back(slots, places[slots], faces[slots], SLOWED)
            table[slots, _PATH] = old[slots, _PATH]
            table[slots, 2:4] *= STOPPED
            table[slots, :2] += roots[waits]
            simulation.nudge(bodies.slots, roots)
            still = waits | (table[bodies.slots, _PAUSE] > 0.0)
            table[bodies.slots, _WAITED] = waited_on(table[bodies.slots, _WAITED], still, dt)
            table[bodies.slots, _PACE] = paces_on(table[bodies.slots, _PACE], waits)
            fresh = bodies.slots[waits & (table[bodies.slots, _PAUSE] <= 0.0)]
            table[fresh, _PAUSED] = pauses_on(table[fresh, _PAUSED], table[fresh, _WAITED], fresh)
            table[fresh, _PAUSE] = table[fresh, _PAUSED]
