"""Motion of a hand to a target and back, in two legs through one moment, over a body that stands.

The body bends as far as the reach needs, and the arm goes along straight in its angles. A leg that would touch
something is planned anew by the synchronised planner (Shapiro et al. 2007, section 4): its offsets are nothing where it
begins and ends, so the hand is at the target at the right moment.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, read_only
from gaitway.core.errors import LimbError
from gaitway.handling.grips import ThingPose, thing_carried
from gaitway.handling.handler import Handler, HandTask
from gaitway.limbs import _collision_kernels
from gaitway.limbs._joint_kernels import PLANNED
from gaitway.limbs._stance_kernels import ANGLE, ARM
from gaitway.limbs.linkage import Limb
from gaitway.limbs.planner import LimbPlanOptions, LimbWindow
from gaitway.limbs.reaching import solve_limb, swivel_of
from gaitway.limbs.stance import HANDS
from gaitway.limbs.surroundings import Carried, OtherBody, absent
from gaitway.motion.body import capsule_body
from gaitway.motion.clip import Clip
from gaitway.motion.editing import slice_frames
from gaitway.performing.upper_body.rig import upper_body
from gaitway.scene.things import Thing

FPS = 30.0
"""Frame rate of all motion of this room [Hz]."""
MARGINS = (0.02, 0.01, 0.003, 0.0)
"""Gaps that are planned with [m], one after another."""
LEAD = 0.4
"""Time by which the gaze is ahead of the hand [s]."""
_SETTLE, _PACE, _LONGEST = 0.55, 0.75, 1.7
"""Time of a short leg [s], seconds for each metre of the hand's way, and longest time of a leg [s]."""
_GRASP = 0.27
"""Time for which the hand stays where it grasps [s]."""
_BACK = 0.12
"""Time before the moment at which a planned leg is back on its straight way [s]."""
LIFT, _LIFT_S = 0.06, 0.4
"""How far a thing is lifted straight up from where it stands [m], and how long that takes [s]."""
_PACES = (1.0, 1.5, 2.2)
"""How many times as long as usual legs take, one after another: a way around something needs its time."""
_GRIPS = 3
"""How many grips are tried."""
_WIDER, _SLACK = 1.5, 3e-4
"""How many times as far as asked for plans keep from everything before they are rounded, where there is room; and how
exactly gaps are known [m]."""
_YAW, _UP, _DOWN = math.radians(55.0), math.radians(25.0), math.radians(40.0)
"""How far a head turns aside, up and down [rad]."""
_NECK = 0.4
"""Share of a look that the neck has."""
_MISS = 0.005
"""Greatest distance of the hand from its target [m]."""


@dataclass(frozen=True, eq=False)
class HandMotion:
    """Somebody who reaches, and is back."""

    clip: Clip
    """The motion in the world, at 30 Hz."""
    hand: str
    reach: int
    """Frame at which the hand is at the target (t_b)."""
    leave: int
    """Frame at which it leaves."""
    miss: float
    """Distance of the hand from the target then [m]."""
    gap: float
    """Least gap of the arm from everything, at most the margin [m]."""
    planned: tuple[bool, bool]
    """Whether each leg had to be planned around something."""
    wrist: ThingPose
    """The wrist joint at the target."""
    after: FloatArray
    """The posture at the end; (22,)."""
    mark: FloatArray
    """The point of the hand that is at the target, in the frame of its last segment [m]; (3,)."""

    @property
    def seconds(self) -> float:
        """Time from the beginning to the moment [s]."""
        return self.reach / FPS


def leg_seconds(handler: Handler, task: HandTask, home: FloatArray, goal: FloatArray) -> float:
    """Return how long a leg takes [s], by the way of the hand."""
    a, b = handler.wrist(home, task.hand).at, handler.wrist(goal, task.hand).at
    return min(_SETTLE + _PACE * float(np.linalg.norm(a - b)), _LONGEST)


def hand_motion(
    handler: Handler,
    task: HandTask,
    home: FloatArray,
    after: FloatArray | None = None,
    *,
    before: Carried | None = None,
    carried: Carried | None = None,
    grasped: Callable[[FloatArray], tuple[FloatArray, Carried]] | None = None,
    hold: float = 0.0,
    first: float | None = None,
    others: Sequence[OtherBody] = (),
    look: FloatArray | None = None,
    lift: float = LIFT,
    beside: FloatArray | None = None,
    seed: int = 0,
) -> HandMotion:
    """Return the motion of a hand to a target and back, with a look at it before.

    Args:
        handler: who, where and when.
        task: the hand and its target.
        home: the posture before; (22,).
        after: the posture afterwards; (22,). None: the same.
        before: what that hand holds on the way to the target.
        carried: what it holds on the way back.
        grasped: tells from the posture at the target what `after` and `carried` are; None: they are given.
        hold: how long the hand stays at the target beyond a grasp [s].
        first: time of the first leg [s]; None: by its length.
        others: other bodies, from the time of the handler on, with as many frames as there are or with one.
        look: what is looked at [m]; (3,). None: the target.
        lift: how far a thing is lifted straight up before it goes elsewhere [m].
        beside: the middle of somebody else's hand at the target [m]; (3,). The hand then comes straight towards that
            one and leaves straight away from it, as far as a thing is lifted. None: nobody else's is there.
        seed: of all random choices.

    Raises:
        LimbError: that says how far it got.
    """
    told: LimbError | None = None
    for margin, pace, exact in product(MARGINS, _PACES, (True, False)):
        left = task
        for _ in range(_GRIPS):  # where no way leads to the easiest grip, another one may do
            try:
                goal = handler.goal(left, home, margin)
            except LimbError as problem:
                told = told or problem
                break
            later, load = (home if after is None else after, carried) if grasped is None else grasped(goal.posture)
            try:
                return _moved(handler, task, (home, goal.posture, later), goal.mark, (before, load), hold, first,
                              others, task.target if look is None else look, margin, exact, seed, lift,
                              beside, pace)  # fmt: skip
            except LimbError as problem:
                told = told or problem
            left = replace(left, ways=tuple(way for k, way in enumerate(left.ways) if k != goal.way))
            if not left.ways:
                break
    raise told or LimbError("no margin to plan with")


def overlap(one: Clip, other: Clip) -> float:
    """Return how deep two bodies are in one another at most, over two motions that begin together [m]; 0 if apart."""
    count = max(len(one), len(other))
    return _deepest(_shown(body_of(one), 0, count), _shown(body_of(other), 0, count))


def _deepest(a: OtherBody, b: OtherBody) -> float:
    depths = np.zeros((len(a.radii), len(b.radii)))
    _collision_kernels.pair_depths(a.segments, read_only(np.array(a.radii)), b.segments, read_only(np.array(b.radii)),
                                   depths)  # fmt: skip
    return float(depths.max())


def thing_body(thing: Thing, inner: ThingPose, clip: Clip, hand: str, frames: tuple[int, int]) -> OtherBody:
    """Return a thing in a hand as a body that another hand grasps; it is there in some frames of a motion only.

    Args:
        thing: the thing.
        inner: its pose in the frame of the wrist joint.
        clip: the motion of whoever has it.
        hand: the hand.
        frames: first frame, and that after the last.
    """
    joint, load = int(clip.skeleton.roles[f"{hand}_wrist"]), thing_carried(thing, inner)
    positions, turns = clip.joint_transforms()
    at, turn = positions[:, joint, None], turns[:, joint, None]
    ends = np.stack([at + rotations.rotate(turn, end) for end in (load.starts, load.ends)], axis=2)
    there = (np.arange(len(clip)) >= frames[0]) & (np.arange(len(clip)) < frames[1])
    return OtherBody(np.ascontiguousarray(absent(ends, there)), load.radii, grasped=True)


def arm_overlap(thing: OtherBody, clip: Clip, hand: str) -> float:
    """Return how deep a thing is in a body at most, but for one hand, over a motion of as many frames [m]; 0 if apart.

    Args:
        thing: the thing.
        clip: the motion of the body.
        hand: the hand that grasps the thing.
    """
    names, body, count = capsule_body(clip.skeleton).names, body_of(clip), max(len(clip), len(thing.segments))
    kept = [k for k, name in enumerate(names) if name != f"{hand}_hand"]
    body = OtherBody(np.ascontiguousarray(body.segments[:, kept]), body.radii[kept])
    return _deepest(_shown(thing, 0, count), _shown(body, 0, count))


def still(handler: Handler, home: FloatArray, seconds: float, look: FloatArray | None = None) -> Clip:
    """Return somebody who stands still at home for some seconds and may look at a point [m] in between."""
    count = max(round(seconds * FPS), 2)
    clip = handler.stander.applied(np.repeat(home[None], count + 1, axis=0), FPS, "handle")
    if look is None:
        return clip
    edge = min(0.5, 0.4 * seconds)
    return _looking(clip, look, _weights(count + 1, 0.0, edge, seconds - edge, seconds))


def _moved(
    handler: Handler, task: HandTask, postures: tuple[FloatArray, FloatArray, FloatArray], mark: FloatArray,
    holds: tuple[Carried | None, Carried | None], hold: float, first: float | None, others: Sequence[OtherBody],
    look: FloatArray, margin: float, exact: bool, seed: int, high: float,
    beside: FloatArray | None, pace: float,
) -> HandMotion:  # fmt: skip
    home, goal, after = postures
    one = pace * leg_seconds(handler, task, home, goal) if first is None else first
    two = pace * leg_seconds(handler, task, after, goal)
    lead, reach = round(LEAD * FPS), round((LEAD + one) * FPS)
    leave = reach + round((_GRASP + hold) * FPS)
    last = leave + round(two * FPS)
    frames = np.arange(last + 1, dtype=np.float64)
    lift = round(_LIFT_S * FPS)
    if beside is None:  # what stands on something is set down and lifted straight
        steps = [None if load is None else np.array([0.0, 0.0, high]) for load in holds]
    else:
        steps = [_away(handler, goal, task.hand, beside, high)] * 2
    off = [goal if step is None else _shifted(handler, goal, task.hand, step) for step in steps]
    there, near = _eased((frames - lead) / (reach - lead)), _eased((frames - reach + lift) / lift)
    far, back = _eased((frames - leave) / lift), _eased((frames - leave) / (last - leave))
    if steps[0] is not None:
        there = _eased((frames - lead) / (reach - lead - 0.4 * lift))
    if steps[1] is not None:
        back = _eased((frames - leave - 0.4 * lift) / (last - leave - 0.4 * lift))
    rows = home + there[:, None] * (off[0] - home) + near[:, None] * (goal - off[0])
    rows += far[:, None] * (off[1] - goal) + back[:, None] * (after - off[1])
    clip, limb = handler.stander.applied(rows, FPS, "handle"), handler.limb(task.hand)
    edge = round(_BACK * FPS) if beside is None else lift // 2
    early, late = (edge if load is None else lift for load in holds)
    planned, gaps = [], []
    for span, free, load in (
        ((0, reach if holds[0] is None else reach - early), (lead, reach - early), holds[0]),
        ((leave if holds[1] is None else leave + late, last), (leave + late, last), holds[1]),
    ):
        part, made, gap = _leg(handler, limb, clip, span, free, load, others, margin, exact, seed)
        planned.append(made)
        gaps.append(gap)
        clip = _with_rows(clip, part, span[0])
    seen = _weights(last + 1, 0.0, LEAD + 0.15, (leave / FPS) + 0.15, (leave / FPS) + 0.75 * two)
    clip = _looking(clip, look, seen)
    positions, turns = clip.joint_transforms()
    wrist = ThingPose(positions[reach, limb.joints[2]], turns[reach, limb.joints[2]])
    miss = float(np.linalg.norm(wrist.point(rotations.rotate(limb.turns[3], mark)) - task.target))
    if miss > _MISS:
        raise LimbError(f"the {task.hand} hand misses its target by {1000.0 * miss:.0f} mm")
    return HandMotion(clip, task.hand, reach, leave, miss, min(gaps), (planned[0], planned[1]), wrist, after, mark)


def _away(handler: Handler, goal: FloatArray, hand: str, beside: FloatArray, far: float) -> FloatArray:
    """Return a step (3,) [m] of a hand in a posture (22,) straight away from the middle of another one, so far [m]."""
    way = hand_middle(handler.stander.applied(goal[None]), hand) - beside
    return np.asarray(far * way / max(float(np.linalg.norm(way)), 1e-9))


def _shifted(handler: Handler, goal: FloatArray, hand: str, step: FloatArray) -> FloatArray:
    """Return a posture (22,) with one hand elsewhere, by a step (3,) [m], and turned as it is; all else stays.

    As far as the arm reaches.
    """
    limb, begin = handler.limb(hand), ARM * HANDS.index(hand) + ANGLE
    clip = handler.stander.applied(goal[None])
    positions, world = clip.joint_transforms()
    starts, bases = limb.hanging(positions, world)
    shoulder, elbow, wrist = positions[0, limb.joints]
    swivel, own = swivel_of(shoulder, elbow, wrist), limb.postures(clip)
    for share in (1.0, 0.7, 0.4):
        target = wrist + share * step
        found, reached = solve_limb(limb, starts, bases, target[None], world[:, limb.joints[2]], swivel, own)
        if reached[0] and limb.limits.hold(found)[0]:
            out = np.array(goal)
            out[begin : begin + PLANNED] = found[0, :PLANNED]
            return out
    return goal


def _leg(
    handler: Handler, limb: Limb, clip: Clip, frames: tuple[int, int], free: tuple[int, int], load: Carried | None,
    others: Sequence[OtherBody], margin: float, exact: bool, seed: int,
) -> tuple[Clip, bool, float]:  # fmt: skip
    """Return the frames of a leg, planned anew if they touch something; whether they were, and their least gap [m].

    Unless it is `exact`, rounding may use up half of the margin.
    """
    begin, end = frames
    part = slice_frames(clip, begin, end + 1)
    start = handler.time + begin / FPS
    around = [_shown(other, begin, end + 1) for other in others]
    window = LimbWindow(limb, part, start, handler.world, around, carried=load)
    gaps = window.gaps(bar=_WIDER * margin + 1e-6)
    gap = float(gaps.min())
    if gap >= margin - _SLACK:
        return part, False, gap
    # rounded corners are nearer than planned ones; where the ends of a leg are near something, so is its plan
    wide = max(margin, min(float(gaps[frame - begin]) for frame in free) - 1e-3)
    begins, ends = (handler.time + frame / FPS for frame in free)
    plan = None
    tries = ((wide, min(margin + _SLACK, wide - _SLACK)), (margin, margin - _SLACK))
    if not exact:
        tries = ((margin, 0.5 * margin),) * 2
    for number, (keeps, kept) in enumerate(tries):
        options = LimbPlanOptions(margin=keeps, plans=3, kept=max(kept / keeps, 0.0) if keeps > 0.0 else 0.5)
        plan = window.plan(begins, ends, options=options, seed=seed + 1000 * number)
        if plan is not None:
            break
    if plan is None:
        raise LimbError(f"the {limb.name.replace('_', ' ')} finds no way that keeps {100.0 * margin:.1f} cm")
    return window.applied(plan), True, min(plan.gap, margin)


def _shown(other: OtherBody, first: int, stop: int) -> OtherBody:
    """Return another body in some frames; who has fewer stays as in the last one."""
    at = np.minimum(np.arange(first, stop), len(other.segments) - 1)
    return replace(other, segments=np.ascontiguousarray(other.segments[at]))


def _with_rows(clip: Clip, part: Clip, first: int) -> Clip:
    local = np.array(clip.rotations)
    local[first : first + len(part)] = part.rotations
    return replace(clip, rotations=rotations.continuous(local))


def _eased(share: FloatArray) -> FloatArray:
    """Return shares (F,), held at 0 and 1, along the calmest way from rest to rest."""
    u = np.clip(share, 0.0, 1.0)
    return np.asarray(u**3 * (10.0 - 15.0 * u + 6.0 * u * u))


def _weights(count: int, begin: float, full: float, fade: float, end: float) -> FloatArray:
    """Return weights (F,) that rise from one time to another and fall between two later ones [s]."""
    times = np.arange(count) / FPS
    return _eased((times - begin) / max(full - begin, 1e-6)) * (1.0 - _eased((times - fade) / max(end - fade, 1e-6)))


def _looking(clip: Clip, target: FloatArray, weights: FloatArray) -> Clip:
    """Return a clip whose head turns to a point [m], with weights (F,)."""
    body = upper_body(clip.skeleton)
    if body is None or body.column("head") < 0:
        return clip
    head, neck = body.column("head"), body.column("neck")
    positions, world = clip.joint_transforms()
    joint = int(body.joints[head])
    way = rotations.rotate(rotations.conjugate(world[:, joint]), target - positions[:, joint])
    ahead, left, up = (way @ axis for axis in body.axes[head])
    yaw = weights * np.clip(np.arctan2(left, ahead), -_YAW, _YAW)
    pitch = weights * np.clip(-np.arctan2(up, np.hypot(ahead, left)), -_UP, _DOWN)
    local = np.array(clip.rotations)
    for row, share in ((head, 1.0 if neck < 0 else 1.0 - _NECK), (neck, _NECK)):
        if row >= 0:
            at = int(body.joints[row])
            local[:, at] = rotations.multiply(local[:, at], body.turned(row, share * yaw, share * pitch))
    return replace(clip, rotations=rotations.continuous(rotations.normalize(local)))


def hand_middle(clip: Clip, hand: str, frame: int = 0) -> FloatArray:
    """Return the middle of a hand in a frame [m]; (3,)."""
    row = capsule_body(clip.skeleton).names.index(f"{hand}_hand")
    return np.asarray(body_of(clip).segments[frame, row].mean(axis=0))


def body_of(clip: Clip) -> OtherBody:
    """Return the capsules of a body over its motion."""
    shape = capsule_body(clip.skeleton)
    return OtherBody(np.ascontiguousarray(shape.segments(*clip.joint_transforms())), np.asarray(shape.radii))
