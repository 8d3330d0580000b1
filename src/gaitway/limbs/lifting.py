"""Steps that are lifted: a leg whose foot is in the air passes over or beside what it would touch.

The ankle leaves its way by one offset, upward and aside, which grows from nothing where the foot leaves the ground and
is nothing again where it comes down; so feet that are down stay. The knee follows by IK, and the foot keeps its turn.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.planar import wrap_angle
from gaitway.limbs._joint_kernels import PLANNED, ROLL, TWIST
from gaitway.limbs.planner import LimbPlan, LimbWindow
from gaitway.limbs.reaching import solve_limb, swivel_of
from gaitway.motion.anatomy import leg_length

_LEG = 0.85
"""Length of the leg that the lengths below belong to [m]."""
_UPS = (0.0, 0.02, 0.04, 0.06, 0.08, 0.11, 0.14, 0.18, 0.23, 0.3)
_ASIDES = (0.0, 0.04, -0.04, 0.09, -0.09)
"""How far an ankle may be lifted and be held aside [m]."""
_ASIDE = 1.5
"""How many times as far as it is, an offset to the side counts beside one upward."""
_SLACK = 1e-4
"""How much nearer to other things a leg may come where it touches nothing [m]."""


def lift_step(
    window: LimbWindow,
    air: tuple[int, int],
    bad: tuple[int, int],
    margin: float,
    passes: Callable[[LimbPlan], bool] = lambda _: True,
) -> LimbPlan | None:
    """Return the smallest offset of an ankle with which its leg touches nothing, or None if there is none.

    Args:
        window: the leg on its motion.
        air: the last frame in which the foot is down before, and the first in which it is down again.
        bad: first and last frame in which the leg touches something.
        margin: gap that is kept there [m]; elsewhere, as much as the motion itself keeps will do.
        passes: a last test of a plan.
    """
    limb, clip, (start, end) = window.limb, window.clip, air
    if end - start < 4:
        return None
    bumps = _bumps(len(clip), air, bad)
    frames = np.arange(start, end + 1)
    positions, world = clip.joint_transforms()
    starts, bases = limb.hanging(positions, world)
    heading = clip.headings()[frames]
    left = np.stack([-np.sin(heading), np.cos(heading), np.zeros(len(frames))], axis=1)
    swivels = np.array([swivel_of(*positions[f, limb.joints]) for f in frames])
    ankles, ends = positions[frames, limb.joints[2]], world[frames, limb.joints[2]]
    own = window.gaps(bar=margin)
    if (own[: start + 1] < 0.0).any() or (own[end:] < 0.0).any():
        return None  # it touches something while its foot is down
    need = np.where(own < 0.0, margin, np.minimum(own, margin)) - _SLACK
    size = leg_length(clip.skeleton) / _LEG
    ways = sorted((round(up**2 + (_ASIDE * aside) ** 2, 9), up, aside) for up in _UPS for aside in _ASIDES)[1:]
    for tried, ((_, up, aside), weights) in enumerate(product(ways, bumps)):
        shift = up * np.array([0.0, 0.0, 1.0]) + aside * left
        q, reached = solve_limb(
            limb, starts[frames], bases[frames], ankles + size * weights[frames, None] * shift, ends, swivels,
            window.source[frames],
        )  # fmt: skip
        if not reached.all():
            continue
        offsets = np.zeros((len(clip), PLANNED))
        offsets[frames] = q[:, :PLANNED] - window.source[frames, :PLANNED]
        offsets[:, [TWIST, ROLL]] = wrap_angle(offsets[:, [TWIST, ROLL]])
        offsets[weights == 0.0] = 0.0  # what stands stays exactly
        gaps = window.gaps(offsets, margin)
        if (gaps < need).any():
            continue
        span = (window.begin + start / clip.fps, window.begin + end / clip.fps)
        plan = LimbPlan(offsets, span, window.effort(offsets), float(gaps.min()), 0.0, True, 1, tried + 1)
        if passes(plan):
            return plan
    return None


def _bumps(count: int, air: tuple[int, int], bad: tuple[int, int]) -> list[FloatArray]:
    """Return weights (F,) that are 0 where the foot is down, and 1 for some time while it is in the air.

    The first ones are 1 while the leg would touch something. Others rise and fall for as long as they can, which is
    calmer where something is near the place at which a foot leaves the ground or comes down.
    """
    start, end = air
    first, last = min(max(bad[0], start + 2), end - 2), max(min(bad[1], end - 2), start + 2)
    half, out = 0.5 * (start + end), []
    at = np.arange(count, dtype=np.float64)
    for share in (0.0, 0.5, 1.0):
        early, late = first + share * (half - first), last + share * (half - last)
        u = np.clip(np.minimum((at - start) / max(early - start, 1.0), (end - at) / max(end - late, 1.0)), 0.0, 1.0)
        out.append(0.5 - 0.5 * np.cos(np.pi * u))
    return out
