"""Over a low fence without leaving the walk: one leg is led over it, the other one follows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from gaitway.cast.curves import plateau
from gaitway.cast.person.gait.stride import FPS, NEUTRAL, turn_joint
from gaitway.cast.person.skeleton import HEEL, TOE_TIP
from gaitway.cast.person.steps.footwork import FootPlacement, FootStep, StepPlan, both_feet
from gaitway.cast.person.steps.leads import LeadJoin, lead_of
from gaitway.cast.person.steps.model import StepModel
from gaitway.cast.person.steps.stepping import PADDING, Performance, Tempo, perform_plan, plan_times
from gaitway.cast.person.steps.trunk import flare_arms, lead_with_eyes, lean_forward, whole_pose
from gaitway.cast.person.styles import Style
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.limits import joint_limits, violations

FENCE_HEIGHT, FENCE_DEPTH = 0.45, 0.15
"""Height and depth of the fence that every step over clears [m]; lower ones may be deeper."""
_ACROSS = 0.86
"""Length of the step across the fence [m]."""
_BEFORE, _AFTER = 0.62, 0.64
"""Length of the step before it and of the one with which the other foot follows [m]."""
_HALF_WIDTH = 0.075
_LEAD_WAY = ((0.40, -0.31, 0.62), (0.52, -0.06, 0.70), (0.64, 0.17, 0.62))
_TRAIL_WAY = ((0.17, -0.47, 0.36), (0.37, -0.26, 0.64), (0.48, -0.05, 0.71), (0.60, 0.20, 0.62))
"""Shares of the swing, and the place of the ankle then: ahead of the fence's middle and over the floor [m]."""
_LOW_TRAIL_WAY = ((0.40, -0.20, 0.64), (0.52, 0.0, 0.71), (0.66, 0.24, 0.58))
"""The second way over a low fence: the foot need not be drawn up at once."""
_LOWEST = 0.2
"""Height of the ankle that both ways begin from, if a fence is low [m]."""
_CLEAREST = 0.085
"""How far behind that middle there is most room under both legs [m]: the knee of the second one comes low."""
_SPLAY = 0.6
"""How far the knee of the following leg turns out [rad]."""
_FOOT_OUT, _FOOT_TILT = 0.85, 0.5
"""How far its foot turns out, and tilts with the shank [rad]."""
_STRADDLE_S = 0.055
"""How long both feet stand on either side of the fence [s]."""
_ASIDE = 1.6
"""How far from the line the following foot is led, as a share of where it stands."""
_FORWARD = 0.072
"""How much farther ahead the pelvis is over the fence than in a step on the level [m]; the legs straddle it."""
_HELD = 0.13
"""How far the pelvis is behind that when the following foot is drawn up [m]; its knee would be stretched otherwise."""
_STRAINED, _MORE, _TRIES = float(np.radians(0.5)), 1.3, 4
"""Angle beyond a hip's limit from which on the pelvis helps [rad]; how much more than that it tips; number of tries."""
_EASE_S = 0.08
"""Standard deviation of the time in which it tips [s]."""


@dataclass(frozen=True)
class CrossingWay:
    """How somebody carries the body over a fence."""

    lean: float = 0.16
    """Forward lean of the trunk [rad]."""
    nod: float = 0.22
    """How far the head is bowed towards the fence before [rad]."""
    hike: float = 0.16
    """How far the hip of the leg in the air is raised over the other one [rad]."""
    arms: float = 0.14
    """How far the arms are carried out for balance [rad]; twice that beside the following leg."""
    wide: float = 1.3
    """How far from the line the leading foot is led, as a share of where it stands."""
    splay: float = 0.0
    """How far the knee of the leading leg turns out [rad]."""
    high: float = 1.0
    """How far both feet are lifted and the following leg turns out, as a share of what the highest fence needs."""
    turn: float = 0.0
    """Turn of the trunk towards the leading leg [rad]; the face stays on the way."""


AS_MOST = CrossingWay()
"""The usual way."""
CROSSING_WAYS = {
    "watching": CrossingWay(lean=0.28, nod=0.5, hike=0.12, arms=0.06),
    "wide": CrossingWay(lean=0.08, nod=0.3, arms=0.3, wide=2.6, splay=0.5, turn=-0.12),
    "upright": CrossingWay(lean=0.03, nod=0.06, hike=0.22, arms=0.2, turn=0.22),
}
"""Other ways over a fence, by name: eyes on the fence, the leg swung around it, and the trunk upright."""
LOW_HEIGHT = 0.32
"""Height of the fence that every low step over clears, as deep as the others [m]."""
LOW_CROSSING = CrossingWay(lean=0.08, nod=0.18, hike=0.08, arms=0.06, high=0.68)
LOW_CROSSING_WAYS = {
    "watching": CrossingWay(lean=0.14, nod=0.42, hike=0.05, arms=0.02, high=0.68),
    "upright": CrossingWay(lean=0.01, nod=0.04, hike=0.1, arms=0.1, high=0.68, turn=0.12),
}
"""The usual way over a low fence, and others."""


def step_over(
    name: str, leading: str, style: Style = NEUTRAL, seed: int | None = None, way: CrossingWay = AS_MOST
) -> tuple[Clip, float]:
    """Make the walk over a low fence, two cycles from hub to hub.

    Args:
        name: Name of the clip.
        leading: Leg that goes over first, "left" or "right".
        style: Style of the character.
        seed: Draws timing, feet and restlessness; None gives the mean take.
        way: How the body is carried. Clips of one seed in different ways take the same steps in the same time.

    Returns:
        The clip, and the time [s] at which the pelvis is over the fence.
    """
    lead, tempo = lead_of("walk", style), Tempo(seed)
    steps = lead.under_way()
    if leading == "right":  # one more step, so that the right foot comes next
        _add(steps, "left", tempo.around(0.08), tempo.around(0.47), steps[-1].target.x + _BEFORE)
    near = steps[-1].target.x  # the foot that stays before the fence
    across = _ACROSS + float(tempo.draw(0.015)[0])
    free = across - TOE_TIP[0] + HEEL[0]
    fence = near + TOE_TIP[0] + 0.5 * free + float(tempo.draw(0.01)[0])
    first = _add(steps, leading, tempo.around(0.08), tempo.around(0.80, 0.04), near + across, "over")
    steps[-1] = replace(first, via=_way(first, _LEAD_WAY, fence, way.wide, tempo, way.high))
    follows = "right" if leading == "left" else "left"
    after = _add(steps, follows, tempo.around(_STRADDLE_S), tempo.around(0.72, 0.04), near + across + _AFTER, "after")
    trail = _TRAIL_WAY if way.high == 1.0 else _LOW_TRAIL_WAY
    steps[-1] = replace(after, via=_way(after, trail, fence, _ASIDE, tempo, way.high))
    last = after
    if leading == "left":
        last = _add(steps, "left", tempo.around(0.09), tempo.around(0.47), after.target.x + _AFTER)
    arrive = lead.arrivals(np.zeros(3), 0.0)[0]  # the left foot comes down as it does in a walk
    pose = np.array([last.target.x - arrive.target.x, 0.0, 0.0])
    end = round((last.land - arrive.land) * FPS) / FPS
    landing, *others = lead.arrivals(pose, end)
    steps[-1:] = [replace(steps[-1], land=landing.land, target=landing.target), *others]
    plan = StepPlan(lead.left, lead.right, tuple(steps), end)
    joins = [LeadJoin(lead, 0.0, np.zeros(3), 0.4), LeadJoin(lead, end, pose, 0.5)]
    turned = _turned_out(plan_times(plan), after)
    body, feet = _body(plan, first, follows, after, style, seed, way), both_feet(plan, plan_times(plan))
    side, out = (0, 1.0) if follows == "left" else (1, -1.0)
    turned *= way.high
    body.splay[side] = _SPLAY * turned
    body.splay[1 - side] = way.splay * _swung(plan_times(plan), first)
    feet[side, :, 3] += out * _FOOT_OUT * turned
    feet[side, :, 5] += out * _FOOT_TILT * turned
    clip = perform_plan(name, plan, body, joins, feet).clip
    for _ in range(_TRIES):
        tilt = _relief(clip, leading)
        if not tilt.any():
            break
        _tip_pelvis(body.rotations, np.pad(tilt, PADDING))
        clip = perform_plan(name, plan, body, joins, feet).clip
    return clip, float(np.interp(fence + _CLEAREST, clip.root_positions[:, 0], np.arange(len(clip)) / FPS))


def _relief(clip: Clip, leading: str) -> FloatArray:
    """Return how far the pelvis should tip forward [rad], so that neither hip bends farther than it can; (F,).

    A pelvis that tips back bends the leading hip less, and one that tips forward the following hip, which is stretched.
    """
    follows = "right" if leading == "left" else "left"
    over = np.radians(violations(clip, joint_limits(clip.skeleton)))
    bent, stretched = (over[:, clip.skeleton.roles[f"{side}_hip"]] for side in (leading, follows))
    if max(bent.max(), stretched.max()) < _STRAINED:
        return np.zeros(len(clip))
    width = _EASE_S * FPS
    return np.asarray(
        sum(
            sign * gaussian_filter1d(maximum_filter1d(amount, 2 * round(width) + 1), width)
            for sign, amount in ((-_MORE, bent), (_MORE, stretched))
        )
    )


def _tip_pelvis(local: FloatArray, tilt: FloatArray) -> None:
    """Tip the pelvis forward [rad] (F,) and bend the spine against it, in local rotations (F, J, 4) in place."""
    local[:, 0] = rotations.multiply(local[:, 0], rotations.from_axis_angle([0.0, 1.0, 0.0], tilt))
    for joint in ("Spine", "Spine1", "Spine2"):
        turn_joint(local, joint, 0.0, -tilt / 3.0, 0.0)


def _add(steps: list[FootStep], side: str, wait: float, swing: float, x: float, kind: str = "forward") -> FootStep:
    """Add the next step, `wait` after the last one landed [s], and return it."""
    sign = 1.0 if side == "left" else -1.0
    lift = steps[-1].land + wait
    gain = None if kind == "forward" else 1.0
    steps.append(FootStep(side, lift, lift + swing, FootPlacement(x, sign * _HALF_WIDTH, 0.05 * sign), kind, gain=gain))
    return steps[-1]


def _way(
    step: FootStep,
    way: tuple[tuple[float, float, float], ...],
    fence: float,
    wide: float,
    tempo: Tempo,
    high: float,
) -> tuple[tuple[float, float, float, float], ...]:
    """Return the places that a foot is led through, a little to the side of the straight line."""
    aside = wide * step.target.y
    higher = abs(float(tempo.draw(0.012)[0]))
    return tuple((share, fence + x, aside, _LOWEST + high * (z - _LOWEST) + higher) for share, x, z in way)


def _body(
    plan: StepPlan, first: FootStep, follows: str, after: FootStep, style: Style, seed: int | None, way: CrossingWay
) -> Performance:
    """Return pelvis, trunk and arms: bowed to the fence, the hip of the free leg raised, the arms out for balance."""
    times = plan_times(plan)
    body = lead_with_eyes(StepModel.load().body(plan.body_steps(), times), np.zeros(len(times)))
    local = whole_pose(body, times, style, seed, plan.duration)
    crossing = plateau(times, first.lift - 0.1, first.lift + 0.4, after.land - 0.5, after.land + 0.1)
    lean_forward(local, way.lean * crossing)
    nod = way.nod * plateau(times, first.lift - 0.55, first.lift - 0.05, first.lift + 0.3, after.lift + 0.25)
    turn_joint(local, "Neck", 0.0, 0.5 * nod, 0.0)
    turn_joint(local, "Head", 0.0, 0.5 * nod, 0.0)
    sign = 1.0 if follows == "right" else -1.0  # the leading leg is on the left side if positive
    up = plateau(times, first.lift, first.lift + 0.32, first.lift + 0.38, first.land)
    hike = sign * way.hike * (up - plateau(times, after.lift - 0.12, after.lift + 0.14, after.lift + 0.30, after.land))
    about_itself = rotations.from_axis_angle([1.0, 0.0, 0.0], hike)
    local[:, 0] = rotations.multiply(local[:, 0], about_itself)
    for joint in ("Spine", "Spine1", "Spine2"):
        turn_joint(local, joint, -0.3 * hike, 0.0, sign * way.turn / 3.0 * crossing)
    for joint in ("Neck", "Head"):
        turn_joint(local, joint, 0.0, 0.0, -sign * way.turn / 2.0 * crossing)
    high = plateau(times, after.lift - 0.15, after.lift + 0.15, after.lift + 0.25, after.land)
    near, far = way.arms * crossing, way.arms * (crossing + high)  # farther on the side that the leg comes over
    flare_arms(local, *((near, far) if follows == "right" else (far, near)))
    over = plateau(times, first.land - 0.4, first.land - 0.05, after.lift + 0.2, after.land)
    held = _HELD * plateau(times, first.land - 0.1, after.lift + 0.16, after.lift + 0.24, after.land - 0.04)
    root = body.root + np.column_stack([_FORWARD * over - held, np.zeros(len(times)), np.zeros(len(times))])
    return Performance(root, local, body.heading, np.zeros((2, len(times))))


def _swung(times: FloatArray, first: FootStep) -> FloatArray:
    """Return how far the leading leg is swung around the fence, 0 to 1; (F,)."""
    return plateau(times, first.lift + 0.05, first.lift + 0.35, first.lift + 0.5, first.land - 0.02)


def _turned_out(times: FloatArray, after: FootStep) -> FloatArray:
    """Return how far the following leg is turned out, 0 to 1; (F,)."""
    return plateau(times, after.lift - 0.08, after.lift + 0.14, after.lift + 0.30, after.land - 0.04)
