"""Footprints to foot motion: when each foot stands where, and how it rolls, swings and lands in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator

from gaitway.cast.curves import bump, hermite, plateau, smooth_step
from gaitway.cast.person.gait.foot_roll import TOE_SHARE, TOES_FLAT, roll
from gaitway.cast.person.skeleton import ANKLE_HEIGHT, BALL, HEEL, TOE_TIP
from gaitway.cast.person.steps.model import BodyStep
from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray

SIDES = ("left", "right")
MIDDLE = (BALL[0] + HEEL[0]) / 2.0
"""Middle of the sole ahead of the ankle [m]."""
_TOE_RELAX_S = 0.12
GroundHeight = Callable[[FloatArray], FloatArray]
"""Height of the ground [m] (...) at points (..., 2)."""

_PHASES = (-0.5, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.35)
_PITCH_DEG: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        # medians of captured steps at shares of the swing time; toes up is positive
        "forward": (0, -11.0, -24.0, -44.0, -64.0, -70.0, -60.0, -43.0, -25.0, -7.0, 11.0, 25.0, 27.0, 16.0, 4.0, 0, 0),
        "back": (0, 0, 1.0, 5.0, 9.0, 6.0, -0.3, -12.2, -24.4, -35.1, -41.0, -40.1, -32.0, -19.4, -9.5, -4.0, 0),
        "side": (0, 0, -2.0, -6.0, -9.0, -10.0, -9.0, -8.6, -8.0, -9.0, -10.8, -13.1, -13.6, -10.0, -5.0, -1.5, 0),
        "close": (0, -4.0, -8.0, -13.0, -18.0, -17.0, -13.0, -10.0, -8.0, -8.3, -10.0, -11.0, -9.0, -5.0, -2.0, 0, 0),
        "turn": (0, -0.5, -2.0, -6.0, -8.0, -7.0, -4.0, -2.0, -1.5, -1.3, -0.7, 1.5, 3.0, 2.0, 0.5, 0, 0),
        "up": (
            0,
            -13.0,
            -17.4,
            -25.4,
            -37.3,
            -40.0,
            -36.7,
            -32.7,
            -27.8,
            -22.3,
            -15.6,
            -11.2,
            -9.0,
            -7.0,
            -4.0,
            -1.5,
            0,
        ),
        "down": (
            0,
            -13.1,
            -19.8,
            -29.0,
            -34.0,
            -29.8,
            -22.0,
            -18.4,
            -17.2,
            -16.0,
            -16.5,
            -18.0,
            -19.0,
            -17.0,
            -9.0,
            -3.0,
            0,
        ),
        "climb": (
            0,
            -14.0,
            -32.0,
            -58.0,
            -66.0,
            -70.0,
            -72.0,
            -72.0,
            -70.0,
            -64.0,
            -54.0,
            -40.0,
            -22.0,
            -6.0,
            -2.0,
            0,
            0,
        ),
        "over": (0, -11.0, -24.0, -42.0, -52.0, -46.0, -32.0, -20.0, -13.0, -10.0, -6.0, 2.0, 9.0, 10.0, 3.0, 0, 0),
        "after": (0, -11.0, -24.0, -44.0, -60.0, -64.0, -56.0, -45.0, -37.0, -30.0, -14.0, 6.0, 16.0, 13.0, 4.0, 0, 0),
        "jump": (0, -22.0, -38.0, -54.0, -64.0, -61.0, -50.0, -39.0, -29.0, -21.0, -14.0, -9.0, -7.0, -6.0, -3.0, 0, 0),
    }
)
_TYPICAL_LENGTH: Mapping[str, float] = MappingProxyType(
    {"back": 1.08, "side": 0.5, "close": 0.6, "turn": 0.2, "up": 0.5, "down": 0.5, "jump": 0.7, "climb": 0.7}
)
"""How far the feet went in the steps that the roll was taken from [m]."""
_EARLY: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"up": (-0.18, 0.2), "down": (0.26, -0.04), "jump": (0.0, 0.15)}
)
"""How much earlier than on the level a foot moves forward, and up or down, in mid-swing (share of the swing)."""
_JUMP_SPEED = 2.0
"""How fast a foot leaves the ground in a jump [m/s]."""
_MOMENT = 1e-4
"""Time over which the speed of a rolling foot is taken [s]."""


@dataclass(frozen=True)
class FootPlacement:
    """Position and heading of a flat foot."""

    x: float
    y: float
    heading: float
    """Planar pose of the point under the ankle [m, rad]."""
    height: float = 0.0
    """Height of the ground [m]."""

    @property
    def pose(self) -> FloatArray:
        """x, y, heading; (3,)."""
        return np.array([self.x, self.y, self.heading])

    @property
    def sole(self) -> FloatArray:
        """Planar pose of the middle of the sole, and the height; (4,)."""
        return np.array([*planar.transform_points(self.pose, [MIDDLE, 0.0]), self.heading, self.height])

    def moved(self, pose: FloatArray, height: float = 0.0) -> FootPlacement:
        """Return the footprint carried along by a planar pose (3,) that its frame is put at."""
        x, y, _ = planar.compose(pose, self.pose)
        return FootPlacement(float(x), float(y), float(self.heading + pose[2]), self.height + height)


@dataclass(frozen=True)
class FootStep:
    """One foot leaves the ground and comes down somewhere."""

    side: str
    lift: float
    land: float
    """Times [s]."""
    target: FootPlacement
    kind: str = "forward"
    """How the foot rolls: forward, back, side, close, turn, up, down, over, after, jump or climb."""
    clearance: float = 0.02
    """Least height of the sole over the ground in mid-swing [m]."""
    gain: float | None = None
    """Scale of the roll; None takes it from the length of the step."""
    arc: float = 0.0
    """Sideways bulge of the swing to the left of its course [m]."""
    via: tuple[tuple[float, float, float, float], ...] = ()
    """Shares of the swing and the places (x, y, z of the ankle, [m]) that it leads through; none is a plain arc."""


@dataclass(frozen=True, eq=False)
class StepPlan:
    """First positions of both feet, and every step after that, in order of landing."""

    left: FootPlacement
    right: FootPlacement
    steps: tuple[FootStep, ...]
    duration: float
    """Duration of the plan [s]."""
    ground: GroundHeight | None = None
    """Height of the ground where it is not level."""

    def stances(self, side: str) -> list[tuple[float, float, FootPlacement]]:
        """Return (from, to, where) of every stance of a foot [s]; the first has no beginning, the last no end."""
        out = []
        start, where = -np.inf, self.left if side == "left" else self.right
        for step in self.steps:
            if step.side == side:
                out.append((start, step.lift, where))
                start, where = step.land, step.target
        return [*out, (start, np.inf, where)]

    def body_steps(self) -> list[BodyStep]:
        """Return the steps as the step model sees them."""
        where = {"left": self.left, "right": self.right}
        landed = {"left": -np.inf, "right": -np.inf}
        out = []
        for i, step in enumerate(self.steps):
            other = "right" if step.side == "left" else "left"
            support = where[other]
            following = next((s for s in self.steps[i + 1 :] if s.side == other), None)
            soon = following is not None and following.land - step.land < 1.2
            out.append(
                BodyStep(
                    side=step.side,
                    shift=max(landed[other], step.lift - 0.45),
                    lift=step.lift,
                    land=step.land,
                    support=support.sole,
                    source=where[step.side].sole,
                    target=step.target.sole,
                    next_target=following.target.sole if following is not None and soon else support.sole,
                )
            )
            where[step.side], landed[step.side] = step.target, step.land
        return out


@cache
def _pitch_profile(kind: str) -> PchipInterpolator:
    return PchipInterpolator(_PHASES, np.radians(_PITCH_DEG[kind]))


def foot_curve(plan: StepPlan, side: str, times: FloatArray) -> FloatArray:
    """Return the ankle x, y, z [m], yaw, pitch and roll [rad] of one foot at times (F,); (F, 6). Stances are exact."""
    stances, steps = plan.stances(side), [s for s in plan.steps if s.side == side]
    sources = [where for _, _, where in stances]
    gains = [_gains(plan, step, sources[i]) for i, step in enumerate(steps)]
    ankles = np.array([(where.x, where.y, where.height + ANKLE_HEIGHT) for where in sources])
    turns = np.unwrap([where.heading for where in sources])
    # the ends of each swing, and a moment before and after, say where it leaves from and how fast
    ends = np.array([(s.lift - _MOMENT, s.lift, s.land, s.land + _MOMENT) for s in steps]).reshape(-1, 4)
    pitch = _pitch(steps, gains, np.concatenate([times, ends.ravel()]))
    stance = np.searchsorted([start for start, _, _ in stances[1:]], times, side="right")
    stance = np.concatenate([stance, (np.arange(len(steps))[:, None] + [0, 0, 1, 1]).ravel()])
    standing = np.column_stack([roll(ankles[stance], turns[stance], pitch), turns[stance]])
    out = np.zeros((len(times), 6))
    out[:, :4], out[:, 4] = standing[: len(times)], pitch[: len(times)]
    edges = standing[len(times) :].reshape(-1, 4, 4)
    for step, (before, off, on, after) in zip(steps, edges, strict=True):
        here = (times > step.lift) & (times < step.land)
        rates = (step.land - step.lift) / _MOMENT * np.stack([off - before, after - on])
        out[here, :4] = _swing(plan, step, times[here], out[here, 4], (off, on), rates)
    return out


def both_feet(plan: StepPlan, times: FloatArray) -> FloatArray:
    """Return `foot_curve` of the left and of the right foot; (2, F, 6)."""
    return np.stack([foot_curve(plan, side, times) for side in SIDES])


def _pitch(steps: list[FootStep], gains: list[tuple[float, float]], times: FloatArray) -> FloatArray:
    """Return the pitch of a foot [rad] at times (N,): what all its steps ask for, added up."""
    total = np.zeros(len(times))
    for step, (off, on) in zip(steps, gains, strict=True):
        share = (times - step.lift) / (step.land - step.lift)
        near = np.flatnonzero((share > _PHASES[0]) & (share < _PHASES[-1]))
        if len(near):
            gain = off + (on - off) * smooth_step(share[near], 0.2, 0.7)
            total[near] += gain * _pitch_profile(step.kind)(share[near])
    return total


def _gains(plan: StepPlan, step: FootStep, source: FootPlacement) -> tuple[float, float]:
    """Return how far the foot rolls off its old place and onto its new one, against a typical step of its kind.

    A foot that trails far behind the standing one must rise on its toes, one that reaches far ahead lands on its heel.
    """
    if step.gain is not None:
        return step.gain, step.gain
    if step.kind == "forward":
        other = "right" if step.side == "left" else "left"
        support = next(where for _, end, where in plan.stances(other) if end > step.lift)
        trail = float(planar.relative(source.pose, support.pose)[0])
        reach = float(planar.relative(support.pose, step.target.pose)[0])
        return float(np.clip(trail / 0.72, 0.3, 1.05)), float(np.clip(reach / 0.72, 0.3, 1.05))
    length = float(np.hypot(step.target.x - source.x, step.target.y - source.y))
    gain = float(np.clip(length / _TYPICAL_LENGTH[step.kind], 0.4, 1.05))
    return gain, gain


def _swing(
    plan: StepPlan,
    step: FootStep,
    times: FloatArray,
    pitch: FloatArray,
    ends: tuple[FloatArray, FloatArray],
    rates: FloatArray,
) -> FloatArray:
    """Return ankle and yaw (n, 4) of a foot in the air: a quintic between the rolls, lifted until the sole is clear.

    Args:
        plan: The plan that the step belongs to.
        step: The step.
        times: Inside the swing [s]; (n,).
        pitch: Pitch of the foot at these times [rad]; (n,).
        ends: Ankle and yaw when it lifts and when it lands; (4,) each.
        rates: Their change a swing time; (2, 4).
    """
    span = step.land - step.lift
    if step.kind in ("jump", "climb"):  # the body, not the roll of the foot, takes it off the ground
        rates[0, 2] = span * _JUMP_SPEED
    share = (times - step.lift) / span
    if step.via:
        return _led(step, share, ends, rates)
    across, up = (share + early * 16.0 * (share * (1.0 - share)) ** 2 for early in _EARLY.get(step.kind, (0.0, 0.0)))
    path = hermite(across, ends[0], rates[0], ends[1], rates[1])
    path[:, 2] = hermite(up, ends[0], rates[0], ends[1], rates[1])[:, 2]
    course = ends[1][:2] - ends[0][:2]
    length = max(float(np.linalg.norm(course)), 1e-6)
    path[:, :2] += step.arc * bump(share)[:, None] * np.array([-course[1], course[0]]) / length
    rise = plateau(share, 0.0, 0.3, 0.4, 1.0) if step.kind == "forward" else plateau(share, 0.0, 0.4, 0.6, 1.0)
    path[:, 2] += _needed_lift(plan, step, share, path, pitch, rise) * rise
    return path


def _led(step: FootStep, share: FloatArray, ends: tuple[FloatArray, FloatArray], rates: FloatArray) -> FloatArray:
    """Return the ankle and yaw (n, 4) of a foot that is led through given places."""
    start, end = ends
    shares = np.array([0.0, *(v[0] for v in step.via), 1.0])
    middle = [np.array([*v[1:], start[3] + (end[3] - start[3]) * v[0]]) for v in step.via]
    curve = CubicSpline(shares, np.stack([start, *middle, end]), bc_type=((1, rates[0]), (1, rates[1])))
    out: FloatArray = curve(share)
    return out


def _needed_lift(
    plan: StepPlan, step: FootStep, share: FloatArray, path: FloatArray, pitch: FloatArray, rise: FloatArray
) -> float:
    """Return how high the bump must be for the sole to keep its clearance in the middle of the swing [m]."""
    middle = (share > 0.2) & (share < 0.8)
    if not middle.any():
        return 0.0
    turn = rotations.from_euler("zyx", np.stack([path[:, 3], -pitch, np.zeros(len(pitch))], axis=-1))
    down = np.maximum(-pitch, 0.0)
    bend = (down - TOE_SHARE * np.maximum(down - TOES_FLAT, 0.0)) * np.exp(
        -share * (step.land - step.lift) / _TOE_RELAX_S
    )
    tip = BALL + rotations.rotate(rotations.from_axis_angle([0.0, -1.0, 0.0], bend), [TOE_TIP[0] - BALL[0], 0.0, 0.0])
    sole = np.stack([np.broadcast_to(HEEL, tip.shape), np.broadcast_to(BALL, tip.shape), tip], axis=1)
    points = path[:, None, :3] + rotations.rotate(turn[:, None], sole)
    floor = np.full(points.shape[:2], step.target.height) if plan.ground is None else plan.ground(points[..., :2])
    lack = (floor + step.clearance - points[..., 2]).max(axis=1)
    return float(np.maximum(lack[middle] / rise[middle], 0.0).max())


def shifted(step: FootStep, seconds: float) -> FootStep:
    """Return the same step, later."""
    return replace(step, lift=step.lift + seconds, land=step.land + seconds)
