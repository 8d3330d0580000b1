"""Life of who stands: arms that are crossed or set on the hips for a while, sway and breath, each person's own.

Captured people who stand turn their joints by 8 to 15 degrees a second on the mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.blending import ease
from gaitway.performing.upper_body.crowd import Onlookers
from gaitway.performing.upper_body.rig import UpperBody
from gaitway.performing.upper_body.ways import WAYS, StandingWay, TakenWay, taken

NEIGHBORS = 4.0
"""Distance within which no two stand alike [m]."""
_OTHERS = 0.42
"""Room that another body takes around its root [m]."""
_RAMP = (1.1, 1.8)
"""Time in which arms come to their places [s]."""
_FREQUENCIES = np.array([0.13, 0.31, 0.74, 1.3])
"""Frequencies of sway, before each person's own rate [Hz]."""
_SIZES = np.radians([2.2, 1.25, 0.62, 0.32])
"""Greatest angles of sway at these frequencies [rad]."""
_RUN = 64
"""Moments in a run whose sines are made of those of its first moment."""
_ROLES = {
    "spine": 0.35,
    "chest": 0.4,
    "neck": 0.5,
    "head": 0.9,
    "shoulder": 1.1,
    "elbow": 1.9,
    "wrist": 1.7,
    "eye": 0.0,
}
"""Share of the sway of each joint."""


@dataclass(eq=False)
class TakenPlaces:
    """Who stands where, when and how, so that neighbours differ. This class is **mutable**."""

    cells: dict[tuple[int, int], list[tuple[float, float, float, float, str]]] = field(default_factory=dict)
    """x, y [m], begin, end [s] and name of the way, by the square of side `NEIGHBORS` that a place lies in."""

    def add(self, place: FloatArray, begin: float, end: float, way: str) -> None:
        """Note that somebody stands at a place (2,) from one time to another [s]."""
        x, y = float(place[0]), float(place[1])
        self.cells.setdefault(_cell(x, y), []).append((x, y, begin, end, way))

    def near(self, place: FloatArray, begin: float, end: float) -> set[str]:
        """Return the ways in which neighbours stand within a span of time."""
        x0, y0 = float(place[0]), float(place[1])
        column, row = _cell(x0, y0)
        about = [(column + i, row + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        return {
            way for cell in about for x, y, a, b, way in self.cells.get(cell, ())
            if a < end and begin < b and math.hypot(x - x0, y - y0) < NEIGHBORS
        }  # fmt: skip


def _cell(x: float, y: float) -> tuple[int, int]:
    return math.floor(x / NEIGHBORS), math.floor(y / NEIGHBORS)


@dataclass(frozen=True, eq=False)
class Held:
    """A way to stand that is held for a time."""

    taken: TakenWay
    weight: FloatArray
    """How far it is taken in each frame, 0 to 1; (F,)."""


@dataclass(frozen=True, eq=False)
class Spot:
    """Where and when a character stands."""

    character: int
    """Its number in the take."""
    place: FloatArray
    """Where its root is [m]; (2,)."""
    span: tuple[float, float]
    """Begin and end [s]."""
    fps: float
    """Rate of its frames [Hz]."""
    first: bool
    """Whether nothing comes before, so that a way may be held from the begin."""
    last: bool
    """Whether nothing comes after, so that a way may be held to the end."""
    room: float
    """Distance to the next obstacle [m]."""


def drawn_ways(
    body: UpperBody, pose: FloatArray, spot: Spot, seen: Onlookers, places: TakenPlaces, rng: np.random.Generator
) -> list[Held]:
    """Draw the ways in which a character stands, other than those of its neighbours.

    Args:
        body: its upper body.
        pose: local rotations of its standing pose; (J, 4).
        spot: where and when it stands.
        seen: where all characters are.
        places: how others stand; the drawn ways are added.
        rng: generator of its own.
    """
    (begin, end), place = spot.span, spot.place
    frames = np.arange(round((end - begin) * spot.fps)) / spot.fps
    out: list[Held] = []
    known: dict[str, TakenWay] = {}
    at = float(rng.uniform(-1.5, 2.0) if spot.first else rng.uniform(0.2, 2.5))
    while at < end - begin - 3.0:
        hold = float(rng.uniform(5.0, 14.0))
        until = min(at + hold, end - begin)
        closed = spot.last and until >= end - begin - 1.0
        way = _draw(places.near(place, begin + max(at, 0.0), begin + until), rng)
        until = min(until, at + way.longest)
        ramp, back = rng.uniform(*_RAMP, 2)
        if way.left is None and way.right is None:
            places.add(place, begin + at, begin + until, way.name)
        else:
            alone = min(spot.room, seen.room(spot.character, begin + max(at, 0.0), begin + until) - _OTHERS)
            known = known or {own.way.name: own for own in taken(body, WAYS, pose)}
            own = known[way.name]
            if own.reach < alone:
                places.add(place, begin + at, begin + until, way.name)
                weight = ease(np.clip((frames - at) / ramp, 0.0, 1.0))
                if not (closed and until > end - begin - 0.5):
                    weight = weight * ease(np.clip((until - frames) / back, 0.0, 1.0))
                out.append(Held(own, weight))
            else:
                until = at + 0.5
        at = until + float(rng.uniform(0.3, 3.0))
    return out


def _draw(used: set[str], rng: np.random.Generator) -> StandingWay:
    free: Sequence[StandingWay] = [way for way in WAYS if way.name not in used] or WAYS
    shares = np.array([way.share for way in free])
    chances = (shares / shares.sum()).cumsum()
    return free[int((chances / chances[-1]).searchsorted(rng.random(), side="right"))]  # as `rng.choice`, but faster


def place_arms(turns: FloatArray, held: Sequence[Held]) -> None:
    """Turn arms further for ways that are held one after another (in place); (F, K, 4)."""
    for one in held:
        some = np.ix_(np.flatnonzero(one.weight > 0.0), one.taken.rows)
        turns[some] = rotations.multiply(turns[some], one.taken.turns(one.weight[some[0][:, 0]]))


def bowed(held: Sequence[Held], count: int) -> FloatArray:
    """Return the angle by which the head is bowed for ways that are held [rad]; (F,)."""
    out = np.zeros(count)
    for one in held:
        out += np.radians(one.taken.way.looks_down) * one.weight
    return out


def sway(body: UpperBody, times: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return small turns of all joints, as rotation vectors in the joints' frames [rad]; (F, K, 3)."""
    rate, size = rng.uniform(0.8, 1.25), rng.uniform(0.8, 1.3)
    scale = np.array([_ROLES[role.rpartition("_")[2]] for role in body.roles])
    phases = rng.uniform(0.0, 2.0 * np.pi, (len(_FREQUENCIES), len(scale), 3))
    pace = rng.uniform(0.8, 1.2, phases.shape)
    angles = 2.0 * np.pi * rate * _FREQUENCIES[:, None, None] * pace
    out = _waves(times, angles, phases, _SIZES)
    out *= size * scale[:, None]
    for row in (k for k, role in enumerate(body.roles) if role.endswith("elbow")):
        # an elbow bends about its hinge and twists, but does not bend sideways
        out[:, row] -= np.outer(out[:, row] @ body.axes[row, 0], body.axes[row, 0])
    return out


def _waves(times: FloatArray, angles: FloatArray, phases: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return sums of N sine waves at evenly spaced times [s] (F,); (F, ...).

    The sine of a sum is made of sines and cosines of its parts: those of the first moment of each run of moments, and
    those of the time since then. So few are needed, and not one for each moment and wave.

    Args:
        times: the moments; (F,).
        angles: angle by which each wave goes on in a second [rad/s]; (N, ...).
        phases: its angle at time 0 [rad]; (N, ...).
        sizes: its greatest value; (N,).
    """
    firsts = times[::_RUN, None] * angles.reshape(1, -1) + phases.reshape(1, -1)
    since = (times[:_RUN, None] - times[:1, None]) * angles.reshape(1, -1)
    shape = (-1, len(sizes), phases[0].size)
    scale = sizes[:, None]
    before = np.concatenate([part.reshape(shape) * scale for part in (np.sin(firsts), np.cos(firsts))], axis=1)
    after = np.concatenate([part.reshape(shape) for part in (np.cos(since), np.sin(since))], axis=1)
    sums = before.transpose(2, 0, 1) @ after.transpose(2, 1, 0)  # of each wave: runs by moments
    out: FloatArray = sums.reshape(len(sums), -1).T[: len(times)].reshape(-1, *phases.shape[1:])
    return out
