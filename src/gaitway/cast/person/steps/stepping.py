"""Footprints in, a planted clip out: the body follows the step model, the feet the plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.cast.curves import smooth_step
from gaitway.cast.person.gait.planting import FootPin, FootStance, Motion, Planted, plant
from gaitway.cast.person.gait.stride import FPS, NEUTRAL
from gaitway.cast.person.skeleton import SHANK, THIGH, person_skeleton
from gaitway.cast.person.steps.footwork import SIDES, FootStep, GroundHeight, StepPlan, both_feet, shifted
from gaitway.cast.person.steps.leads import Lead, LeadJoin, lead_of, moved_step
from gaitway.cast.person.steps.model import StepModel
from gaitway.cast.person.steps.trunk import flare_arms, lead_with_eyes, lean_forward, whole_pose
from gaitway.cast.person.styles import Style
from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.motion.clip import Clip
from gaitway.motion.ik import two_bone
from gaitway.motion.kinematics import forward_kinematics

PADDING = 24
"""Frames that are made before and after a clip, so that its own ends are in the middle of things."""
EYES_SHARE = 0.6
"""Head and neck leave a hub's pose in this share of the time that the body takes."""


@dataclass(frozen=True, eq=False)
class Performance:
    """A body over a plan's frames, `PADDING` of them before and after the clip; its legs are not solved yet."""

    root: FloatArray
    """Root positions [m]; (F, 3)."""
    rotations: FloatArray
    """Local, the pelvis in the world; (F, J, 4)."""
    heading: FloatArray
    """Heading of the pelvis [rad]; (F,)."""
    splay: FloatArray
    """Outward turn of the knees [rad]; (F,), or (2, F) for the left and the right one."""


def plan_times(plan: StepPlan) -> FloatArray:
    """Return the times [s] of a plan's frames with the padding; (F,)."""
    return np.arange(-PADDING, round(plan.duration * FPS) + PADDING + 1) / FPS


def step_out(
    name: str,
    plan: StepPlan,
    joins: Sequence[LeadJoin],
    *,
    style: Style = NEUTRAL,
    seed: int | None = None,
    lean: FloatArray | float = 0.0,
    sink: FloatArray | float = 0.0,
    aside: FloatArray | float = 0.0,
    flare: tuple[FloatArray, FloatArray] | None = None,
) -> Planted:
    """Perform a plan with the step model.

    Args:
        name: Name of the clip.
        plan: Footprints and times; the clip's frame 0 is time 0.
        joins: Ends that are known.
        style: Style of the character.
        seed: Draws small restlessness of trunk and arms; None has none.
        lean: Forward lean that is added to the trunk [rad]; (F,) or a number.
        sink: How much lower the pelvis goes than the step model says [m]; (F,) or a number.
        aside: How far to the left of the way ahead the eyes look [rad]; (F,) or a number.
        flare: How far the left and the right arm are carried out to their sides [rad]; (F,) each.

    Returns:
        The planted clip from time 0 to the plan's duration, and what the planter found.
    """
    times = plan_times(plan)
    body = lead_with_eyes(StepModel.load().body(plan.body_steps(), times), _padded(aside, len(times)))
    local = whole_pose(body, times, style, seed, plan.duration)
    lean_forward(local, _padded(lean, len(times)))
    if flare is not None:
        # bent elbows would stick out ahead of who walks sideways through a gap
        flare_arms(local, _padded(flare[0], len(times)), _padded(flare[1], len(times)), bend=0.0)
    root = body.root.copy()
    root[:, 2] -= _padded(sink, len(times))
    return perform_plan(name, plan, Performance(root, local, body.heading, np.zeros(len(times))), joins)


def perform_plan(
    name: str, plan: StepPlan, body: Performance, joins: Sequence[LeadJoin], feet: FloatArray | None = None
) -> Planted:
    """Put a body on the feet of a plan, fade it into what is known at its ends, plant it and cut the padding off.

    Args:
        name: Name of the clip.
        plan: The feet.
        body: The rest.
        joins: Ends that are known.
        feet: `both_feet` of the plan, for a caller who tries several bodies on them; (2, F, 6).
    """
    times = plan_times(plan)
    feet = both_feet(plan, times) if feet is None else feet
    root, local = body.root.copy(), _with_legs(feet, body)
    for join in joins:
        _fade(join, times, plan.duration, root, local)
    motion = Motion(root, rotations.normalize(local), _stances(plan, np.round(times * FPS).astype(np.int64)), FPS)
    planted = plant(motion, [_pin(join) for join in joins], name)
    return _cropped(planted, joins)


def _padded(curve: FloatArray | float, frames: int) -> FloatArray:
    """Return a curve over the clip's frames, or a number, held beyond both ends of the clip; (frames,)."""
    values = np.atleast_1d(np.asarray(curve, dtype=np.float64))
    inside = np.broadcast_to(values, (frames - 2 * PADDING,)) if len(values) == 1 else values
    out: FloatArray = np.pad(inside, PADDING, mode="edge")
    return out


def _with_legs(feet: FloatArray, body: Performance) -> FloatArray:
    """Return local rotations with the feet on their curves; knees point between the foot's and the pelvis' headings."""
    skeleton, local, heading = person_skeleton(), body.rotations.copy(), body.heading
    positions, world = forward_kinematics(skeleton, body.root, local)
    splay = np.broadcast_to(body.splay, (2, len(heading)))
    for side, curve, outward in zip(SIDES, feet, (splay[0], -splay[1]), strict=True):
        thigh, shank, foot = (skeleton.index(side.title() + part) for part in ("UpLeg", "Leg", "Foot"))
        knees = rotations.from_yaw(heading + outward + 0.65 * planar.wrap_angle(curve[:, 3] - heading))
        hip = positions[:, thigh]
        knee = hip + rotations.rotate(knees, [0.0, 0.0, -THIGH])
        ankle = knee + rotations.rotate(knees, [0.0, 0.0, -SHANK])
        pole = rotations.rotate(knees, [1.0, 0.0, 0.0])
        upper, lower = two_bone(hip, knee, ankle, knees, knees, curve[:, :3], pole)
        sole = rotations.from_euler("zyx", np.stack([curve[:, 3], -curve[:, 4], curve[:, 5]], axis=-1))
        local[:, thigh] = rotations.multiply(rotations.conjugate(world[:, 0]), upper)
        local[:, shank] = rotations.multiply(rotations.conjugate(upper), lower)
        local[:, foot] = rotations.multiply(rotations.conjugate(lower), sole)
    return local


def _fade(join: LeadJoin, times: FloatArray, duration: float, root: FloatArray, local: FloatArray) -> None:
    """Let the lead hold up to its hub, or from it on, and give way to the steps (in place)."""
    lead = join.lead
    row = np.round((times - join.time) * FPS).astype(np.int64) + lead.reach
    away = np.maximum((times - join.time) * (1.0 if join.time < 0.5 * duration else -1.0), 0.0)
    weight = 1.0 - smooth_step(away, 0.0, join.fade_s)
    here = (weight > 0.0) & (row >= 0) & (row < len(lead.root))
    row, weight = row[here], weight[here]
    eyes = 1.0 - smooth_step(away[here], 0.0, EYES_SHARE * join.fade_s)
    placed = lead.root[row].copy()
    placed[:, :2] = planar.transform_points(join.pose, placed[:, :2])
    placed[:, 2] += join.height
    turned = lead.rotations[row].copy()
    turned[:, 0] = rotations.multiply(rotations.from_yaw(join.pose[2]), turned[:, 0])
    root[here] += weight[:, None] * (placed - root[here])
    shares = np.broadcast_to(weight[:, None], turned.shape[:2]).copy()
    shares[:, person_skeleton().require("neck", "head")] = eyes[:, None]
    local[here] = rotations.slerp(local[here], turned, shares)


def _stances(plan: StepPlan, frames: IntArray) -> tuple[FootStance, ...]:
    """Return the plan's stances as rows of `frames`."""
    out, count = [], len(frames)
    for side in SIDES:
        for start, end, where in plan.stances(side):
            first = 0 if start == -np.inf else max(int(np.ceil(start * FPS - 1e-6)) - int(frames[0]), 0)
            last = count if end == np.inf else min(int(np.floor(end * FPS + 1e-6)) + 1 - int(frames[0]), count)
            if first < last:
                out.append(FootStance(side, first, last, (where.x, where.y, where.heading), where.height))
    return tuple(out)


def _pin(join: LeadJoin) -> FootPin:
    feet = join.lead.feet.copy()
    feet[:, :2] = planar.transform_points(join.pose, feet[:, :2])
    feet[:, 2] += join.height
    feet[:, 3] += join.pose[2]
    return FootPin(round(join.time * FPS) + PADDING, feet, 0.0)


def _cropped(planted: Planted, joins: Sequence[LeadJoin]) -> Planted:
    """Return what lies inside the clip, its hub frames set to the hub poses to the last bit."""
    rows = slice(PADDING, len(planted.clip) - PADDING)
    clip = planted.clip
    root, local = clip.root_positions[rows].copy(), clip.rotations[rows].copy()
    for join in joins:
        frame, at = round(join.time * FPS), join.lead
        root[frame, :2] = planar.transform_points(join.pose, at.root[at.reach, :2])
        root[frame, 2] = at.root[at.reach, 2] + join.height
        local[frame] = at.rotations[at.reach]
        local[frame, 0] = rotations.multiply(rotations.from_yaw(join.pose[2]), at.rotations[at.reach, 0])
    contacts = None if clip.contacts is None else clip.contacts[rows]
    inner = replace(clip, root_positions=root, rotations=rotations.continuous(local), contacts=contacts)
    return Planted(inner, planted.feet[rows], planted.pelvis[rows], planted.drop[rows])


def steady_lead(
    cycle: Sequence[FootStep],
    move: FloatArray,
    period_s: float,
    *,
    style: Style,
    lean: float = 0.0,
    sink: float = 0.0,
    aside: float = 0.0,
    ground: GroundHeight | None = None,
) -> Lead:
    """Return a lead that repeats the same steps.

    Args:
        cycle: Steps of one cycle, in order of landing, at times relative to the hub [s].
        move: X, y and height gained in a cycle [m]; (3,).
        period_s: Length of a cycle [s]; rounded to frames.
        style: Style of the character.
        lean: Forward lean of the trunk [rad].
        sink: How much lower the pelvis goes than the step model says [m].
        aside: How far to the left of the way ahead the eyes look [rad].
        ground: Height of the ground where it is not level.
    """
    frames = round(period_s * FPS)
    period, reach, around = frames / FPS, 2 * frames, 4
    steps = [
        moved_step(step, np.array([k * move[0], k * move[1], 0.0]), k * period, k * move[2])
        for k in range(-around, around + 1)
        for step in cycle
    ]
    before = {step.side: step.target for step in steps[: len(cycle)]}
    kept = steps[len(cycle) :]
    begin = 3 * period
    plan = StepPlan(before["left"], before["right"], tuple(shifted(s, begin) for s in kept), 6.0 * period, ground)
    planted = step_out("steady", plan, (), style=style, lean=lean, sink=sink, aside=aside)
    middle = 3 * frames
    rows = slice(middle - reach, middle + reach + 1)
    clip = planted.clip
    return Lead(
        clip.root_positions[rows],
        clip.rotations[rows],
        reach,
        before["left"],
        before["right"],
        tuple(kept),
        planted.feet[middle],
    )


class Tempo:
    """Seeded small differences between takes; without a seed there are none."""

    def __init__(self, seed: int | None) -> None:
        self._rng = None if seed is None else np.random.default_rng(seed)

    def around(self, value: float, spread: float = 0.06) -> float:
        """Return a value with a random change."""
        if self._rng is None:
            return value
        return value * float(1.0 + np.clip(spread * self._rng.normal(), -2.0 * spread, 2.0 * spread))

    def draw(self, size: float, count: int = 1) -> FloatArray:
        """Return numbers about zero of typical `size`, at most twice that; (count,)."""
        if self._rng is None:
            return np.zeros(count)
        return size * np.clip(self._rng.normal(size=count), -2.0, 2.0)


def stand_to_stand(
    name: str, plan: StepPlan, end: FloatArray, style: Style = NEUTRAL, seed: int | None = None, settle_s: float = 0.6
) -> Clip:
    """Perform a plan that begins in the stand at the origin and ends in the stand at a planar pose (3,)."""
    lead, landed = lead_of("stand", style), plan.steps[-1].land
    duration = round((landed + settle_s) * FPS) / FPS
    joins = [
        LeadJoin(lead, 0.0, np.zeros(3), plan.steps[0].lift + 0.12),
        LeadJoin(lead, duration, end, duration - landed + 0.15),
    ]
    return step_out(name, replace(plan, duration=duration), joins, style=style, seed=seed).clip
