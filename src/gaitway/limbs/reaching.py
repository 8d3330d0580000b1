"""Analytic IK of arms and legs, with a search over the swivel of the elbow or knee (Shapiro et al. 2007, section 5)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, read_only
from gaitway.core.errors import LimbError
from gaitway.limbs import _joint_kernels
from gaitway.limbs._joint_kernels import ANGLES, BASE, GIVEN, START, SWIVEL, TARGET, TURN
from gaitway.limbs.linkage import Limb

STEP = math.radians(4.0)
"""First step of the search over swivel angles [rad]."""
GROWTH = 1.15
"""Factor by which each step is longer than the one before."""


@dataclass(frozen=True, eq=False)
class Reach:
    """A posture that reaches a target."""

    posture: FloatArray
    """(9,) [rad]."""
    swivel: float
    """Its swivel angle [rad]."""
    tests: int
    """Number of postures that were tested."""


def solve_limb(
    limb: Limb, starts: FloatArray, bases: FloatArray, targets: npt.ArrayLike, ends: npt.ArrayLike,
    swivels: npt.ArrayLike = 0.0, postures: FloatArray | None = None,
) -> tuple[FloatArray, BoolArray]:  # fmt: skip
    """Return postures (N, 9) [rad] that bring the wrist or ankle to targets, and which targets are in reach (N,).

    Args:
        limb: the limb.
        starts: places of the shoulder or hip [m]; (N, 3). See `Limb.hanging`.
        bases: frames that the limb hangs on; (N, 3, 3).
        targets: wanted places of the wrist or ankle [m]; (N, 3).
        ends: wanted world rotations of the wrist or ankle joint, wxyz; (N, 4).
        swivels: angles of the elbow or knee about the line from start to target, 0 is the lowest place [rad]; (N,).
        postures: postures whose sideward bend and end twist are kept (N, 9); None has none.
    """
    count = len(starts)
    goal, turn = np.asarray(targets, dtype=np.float64), np.asarray(ends, dtype=np.float64)
    if goal.shape != (count, 3) or turn.shape != (count, 4):
        raise LimbError(f"targets {goal.shape} and ends {turn.shape} must be ({count}, 3) and ({count}, 4)")
    hands = rotations.to_matrix(rotations.multiply(turn, limb.turns[3]))
    q = np.zeros((count, ANGLES)) if postures is None else np.array(postures)
    angles = np.array(np.broadcast_to(np.asarray(swivels, dtype=np.float64), (count,)))
    reached = np.empty(count)
    _joint_kernels.solve_all(
        read_only(bases), read_only(starts), limb.lengths, read_only(goal), read_only(hands), read_only(angles),
        q, reached,
    )  # fmt: skip
    return q, reached > 0.0


def swivel_of(start: FloatArray, middle: FloatArray, end: FloatArray) -> float:
    """Return the swivel angle of an elbow or knee about the line from start to end; 0 is the lowest place [rad].

    A straight limb has the angle 0.
    """
    line = (end - start) / max(float(np.linalg.norm(end - start)), 1e-12)
    level = math.sqrt(max(1.0 - float(line[2]) ** 2, 0.0))
    low = np.array([1.0, 0.0, 0.0])
    if level > 1e-6:
        low = np.array([line[2] * line[0], line[2] * line[1], line[2] ** 2 - 1.0]) / level
    out = middle - start
    return math.atan2(float(out @ np.cross(line, low)), float(out @ low))


def reach_posture(
    limb: Limb, start: FloatArray, base: FloatArray, target: npt.ArrayLike, end: npt.ArrayLike, *,
    swivel: float = 0.0, posture: FloatArray | None = None, valid: Callable[[FloatArray], bool] | None = None,
) -> Reach:  # fmt: skip
    """Return the posture nearest to a swivel angle that reaches a target within the limits, and is valid.

    The elbow or knee is turned to both sides by growing steps, until a posture keeps the limits and passes the test.

    Args:
        limb: the limb.
        start: place of the shoulder or hip [m]; (3,).
        base: frame that the limb hangs on; (3, 3).
        target: wanted place of the wrist or ankle [m]; (3,).
        end: wanted world rotation of the wrist or ankle joint, wxyz; (4,).
        swivel: where the search begins [rad], such as `swivel_of` the present posture.
        posture: posture whose sideward bend and end twist are kept; (9,).
        valid: test of a posture, such as `Surroundings.clear`; None has no more than the limits.

    Raises:
        LimbError: that says how far the limb would have to reach, or that no swivel angle fits.
    """
    given, offsets = np.empty(GIVEN), swivel_offsets()
    given[BASE:START], given[START:TARGET] = base.ravel(), start
    given[TARGET:TURN], given[TURN:SWIVEL], given[SWIVEL] = target, end, swivel
    q = np.zeros(ANGLES) if posture is None else np.array(posture, dtype=np.float64)
    lengths, turns, limits, tests, at = limb.lengths, limb.turns, limb.limits.table, 0, 0
    while True:
        at = _joint_kernels.search_swivel(given, lengths, turns, offsets, at, limits, q)
        if at < 0 or at == len(offsets):
            away = math.dist(given[TARGET:TURN], given[START:TARGET])
            raise LimbError(_unreached(limb, away, at < 0, tests))
        tests += 1
        if valid is None or valid(q):
            return Reach(q, float(swivel + offsets[at]), tests)
        at += 1


def reach_postures(
    limb: Limb, starts: FloatArray, bases: FloatArray, targets: npt.ArrayLike, ends: npt.ArrayLike,
    swivels: npt.ArrayLike = 0.0,
) -> tuple[FloatArray, BoolArray]:  # fmt: skip
    """Return the postures (N, 9) nearest to swivel angles that reach targets within the limits, and which do (N,).

    This is `reach_posture` for many targets in one call, without a test of yours; arguments are those of `solve_limb`.
    """
    count, offsets = len(starts), swivel_offsets()
    given, q, found = np.empty((count, GIVEN)), np.zeros((count, ANGLES)), np.empty(count, dtype=np.int64)
    given[:, BASE:START], given[:, START:TARGET] = np.reshape(bases, (count, 9)), starts
    given[:, TARGET:TURN], given[:, TURN:SWIVEL], given[:, SWIVEL] = targets, ends, swivels
    _joint_kernels.search_swivels(given, limb.lengths, limb.turns, offsets, limb.limits.table, q, found)
    return q, (found >= 0) & (found < len(offsets))


def _unreached(limb: Limb, away: float, beyond: bool, tests: int) -> str:
    if beyond:
        return (
            f"{limb.name} cannot reach the target: it is {away:.2f} m away, and the limb is "
            f"{float(limb.lengths.sum()):.2f} m long"
        )
    why = "touches something" if tests else "is beyond the limits of its joints"
    return f"{limb.name} reaches the target {away:.2f} m away, but every posture {why}"


@cache
def swivel_offsets() -> FloatArray:
    """Return the offsets of the search over swivel angles, from 0 to half a turn on both sides [rad]; (N,)."""
    out, step, at = [0.0], STEP, STEP
    while at < math.pi:
        out += [at, -at]
        step *= GROWTH
        at += step
    return read_only(np.array([*out, math.pi]))
