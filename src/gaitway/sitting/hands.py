"""Arms of who sits: hands and forearms laid on thighs, or held before the trunk, exact by contact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray
from gaitway.limbs import solve_limb
from gaitway.limbs._joint_kernels import PLANNED, ROLL, TWIST
from gaitway.motion.anatomy import t_pose
from gaitway.motion.clip import Clip
from gaitway.sitting.figure import SIDES, Figure, smooth
from gaitway.sitting.manners import BeforeTrunk, ForearmOnThigh, HandPlace, OnThigh

_CLEAR = 0.003
"""Room between a hand and what it lies on, beside both radii [m]."""
STRETCH = 0.9975
"""Longest reach of an arm, as a share of its length."""
_STRAIGHT = 0.99999
"""Reach of an arm that counts as straight, as a share of its length."""
SOFT_REACH = 0.85
"""Share of the longest reach from which on an arm stretches softly."""
_PUSHES = 6
"""How often a hand is moved out of a thigh."""
_SOFT = 2.0
"""Standard deviation of the filter over these moves [frames]."""
_LEFT_ALONE = 0.12
"""Weight of an arm's way below which it is not moved out of a thigh: whoever stands may touch it."""
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class HandGoal:
    """Where an arm is led in every frame."""

    wrist: FloatArray
    """Place of the wrist [m]; (F, 3)."""
    pole: FloatArray
    """Direction toward which the elbow bends, a unit vector; (F, 3)."""
    turn: FloatArray
    """World rotation of the wrist joint; (F, 4)."""

    def toward(self, other: HandGoal, share: FloatArray, starts: FloatArray) -> HandGoal:
        """Return goals on the way to others, by shares (F,); wrists go around the shoulders (F, 3)."""
        some = share[:, None]
        first, second = (np.linalg.norm(wrist - starts, axis=-1, keepdims=True) for wrist in (self.wrist, other.wrist))
        ways = _unit(_unit(self.wrist - starts) * (1.0 - some) + some * _unit(other.wrist - starts))
        return HandGoal(
            starts + (first + some * (second - first)) * ways, _unit(self.pole + some * (other.pole - self.pole)),
            rotations.slerp(self.turn, other.turn, share),
        )  # fmt: skip


def hand_goal(
    figure: Figure, side: int, where: HandPlace, positions: FloatArray, slid: FloatArray | float = 0.0
) -> HandGoal:
    """Return where an arm is led for a hand that lies in a place.

    Args:
        figure: the body.
        side: 0 for the left arm, 1 for the right one.
        where: the place of the hand.
        positions: joints of the body [m]; (F, J, 3).
        slid: how far a hand on a thigh slides toward the knee, as a share of the thigh; (F,).
    """
    arm = figure.arms[side]
    starts = positions[:, arm.joints[0]]
    if isinstance(where, OnThigh):
        wrists, hands, backs, poles = _on_thigh(figure, side, where, positions, slid)
    elif isinstance(where, BeforeTrunk):
        wrists, hands, backs, poles = _before_trunk(figure, side, where, positions)
        hands = wrists - _elbows(starts, wrists, poles, arm.lengths)  # the hand goes on along its forearm
    else:
        wrists, hands, backs, poles = _forearm_on_thigh(figure, side, where, positions)
    turns = _hand_turns(hands, backs, (1.0, -1.0)[side])
    # a place that comes into reach is neared softly: an arm that stretches to its end would jerk
    far, longest = np.linalg.norm(wrists - starts, axis=-1, keepdims=True), STRETCH * arm.lengths.sum()
    soft, over = SOFT_REACH * longest, (1.0 - SOFT_REACH) * longest
    near = np.where(far > soft, soft + over * np.tanh((far - soft) / over), far)
    wrists = starts + _unit(wrists - starts) * near
    return HandGoal(wrists, _unit(poles), rotations.multiply(turns, t_pose(arm.skeleton)[arm.joints[2]]))


def hanging_goal(figure: Figure, side: int, positions: FloatArray, yaw: FloatArray) -> HandGoal:
    """Return where an arm hangs: as in the standing pose, whatever the lean of the trunk.

    Args:
        figure: the body.
        side: 0 for the left arm, 1 for the right one.
        positions: joints of the body [m]; (F, J, 3).
        yaw: where the chest faces [rad]; (F,).
    """
    shoulder, elbow, wrist = (int(j) for j in figure.arms[side].joints)
    turn, still = rotations.from_yaw(yaw), figure.positions
    line = _unit(still[wrist] - still[shoulder])
    out = still[elbow] - still[shoulder]
    pole = _unit(out - line * float(out @ line))
    return HandGoal(
        positions[:, shoulder] + rotations.rotate(turn, still[wrist] - still[shoulder]), rotations.rotate(turn, pole),
        rotations.multiply(turn, figure.world[wrist]),
    )  # fmt: skip


def led_arm(figure: Figure, side: int, goal: HandGoal, clip: Clip, loose: FloatArray) -> Clip:
    """Return a motion with one arm led to its goals.

    Args:
        figure: the body.
        side: 0 for the left arm, 1 for the right one.
        goal: where the arm is led.
        clip: the motion, with arms as in the standing pose.
        loose: how much of the standing pose's own bends is kept, 0 to 1; (F,).
    """
    arm = figure.arms[side]
    positions, world = clip.joint_transforms()
    starts, bases = arm.hanging(positions, world)
    elbows = _elbows(starts, goal.wrist, goal.pole, arm.lengths)
    own = arm.postures(figure.stand)
    kept = np.zeros((len(clip), own.shape[1]))
    kept[:, PLANNED:] = loose[:, None] * own[0, PLANNED:]  # bends that anatomy does not have
    swivels = _swivels(starts, elbows, goal.wrist)
    postures = solve_limb(arm, starts, bases, goal.wrist, goal.turn, swivels, kept)[0]
    postures[:, [TWIST, ROLL]] = np.unwrap(postures[:, [TWIST, ROLL]], axis=0)
    # what the standing pose has beside them fades
    still = hanging_goal(figure, side, figure.positions[None], np.zeros(1))
    start, base = arm.hanging(figure.positions[None], figure.world[None])
    elbow = _elbows(start, still.wrist, still.pole, arm.lengths)
    plain = solve_limb(arm, start, base, still.wrist, still.turn, _swivels(start, elbow, still.wrist), own)[0]
    rest = own - plain
    rest[:, [TWIST, ROLL]] = planar.wrap_angle(rest[:, [TWIST, ROLL]])
    return arm.applied(clip, postures + loose[:, None] * rest)


def clear_of_thighs(
    figure: Figure, side: int, goal: HandGoal, positions: FloatArray, weight: FloatArray
) -> HandGoal:  # fmt: skip
    """Return goals with hand and forearm moved out of the thigh of their side.

    Args:
        figure: the body.
        side: 0 for the left arm, 1 for the right one.
        goal: where the arm is led.
        positions: joints of the body [m]; (F, J, 3).
        weight: 0 where the arm hangs as it stands, and is left alone; (F,).
    """
    arm, name = figure.arms[side], SIDES[side]
    starts = positions[:, arm.joints[0]]
    hip, knee = positions[:, figure.joint(f"{name}_hip")], positions[:, figure.joint(f"{name}_knee")]
    tip = figure.body.ends[figure.body.names.index(f"{name}_hand")]
    thick = figure.radius(f"{name}_hip") + figure.radius(f"{name}_hand") + 0.5 * _CLEAR
    wrist = np.array(goal.wrist)
    for _ in range(_PUSHES):
        elbows = _elbows(starts, wrist, goal.pole, arm.lengths)
        pushes = [
            _out_of(first, second, hip, knee, thick)
            for first, second in ((wrist, wrist + rotations.rotate(goal.turn, tip)), (0.5 * (elbows + wrist), wrist))
        ]
        far = [np.linalg.norm(push, axis=-1, keepdims=True) for push in pushes]
        wrist += np.where(far[0] >= far[1], pushes[0], pushes[1])
    moved = goal.wrist + smooth(weight, 0.0, _LEFT_ALONE)[:, None] * _softened(wrist - goal.wrist)
    still = figure.positions[arm.joints]  # an arm may hang straighter than it is led
    away, longest = moved - starts, max(STRETCH * float(arm.lengths.sum()), float(np.linalg.norm(still[2] - still[0])))
    far_away = np.maximum(np.linalg.norm(away, axis=-1, keepdims=True), 1e-9)
    return HandGoal(starts + away * np.minimum(1.0, longest / far_away), goal.pole, goal.turn)


def _out_of(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, thick: float) -> FloatArray:
    """Return the moves that bring capsules ab out of capsules cd of both radii together [m]; (F, 3)."""
    own, other = closest_points(a, b, c, d)
    far = np.linalg.norm(own - other, axis=-1, keepdims=True)
    return np.asarray(np.maximum(thick - far, 0.0) * (own - other) / np.maximum(far, 1e-6))


def _softened(moves: FloatArray) -> FloatArray:
    """Return moves (F, 3) that begin and end softly and are nowhere shorter."""
    size = np.linalg.norm(moves, axis=-1)
    longest = gaussian_filter1d(
        maximum_filter1d(size, 2 * round(2.0 * _SOFT) + 1, mode="nearest"), _SOFT, mode="nearest"
    )
    way = gaussian_filter1d(moves, _SOFT, axis=0, mode="nearest")
    return np.asarray(
        _unit(way) * longest[:, None] * np.minimum(np.linalg.norm(way, axis=-1, keepdims=True) / 1e-4, 1.0)
    )


def closest_points(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the points of segments ab and cd that are nearest to one another [m]; (F, 3) each."""
    one, two, apart = b - a, d - c, a - c
    aa, bb, ab = (np.sum(u * v, axis=-1) for u, v in ((one, one), (two, two), (one, two)))
    ac, bc = np.sum(one * apart, axis=-1), np.sum(two * apart, axis=-1)
    area = aa * bb - ab**2
    s = np.clip(np.where(area > 1e-12, (ab * bc - ac * bb) / np.maximum(area, 1e-12), 0.0), 0.0, 1.0)
    t = np.clip((ab * s + bc) / np.maximum(bb, 1e-12), 0.0, 1.0)
    s = np.clip((ab * t - ac) / np.maximum(aa, 1e-12), 0.0, 1.0)
    return np.asarray(a + s[:, None] * one), np.asarray(c + t[:, None] * two)


def _thigh(figure: Figure, side: int, positions: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return hip [m], bone [m], the direction of its top, and that of its outer side; (F, 3) each."""
    hip = positions[:, figure.joint(f"{SIDES[side]}_hip")]
    bone = positions[:, figure.joint(f"{SIDES[side]}_knee")] - hip
    along = _unit(bone)
    top = _unit(_UP - along * along[:, 2:])
    return hip, bone, top, (1.0, -1.0)[side] * np.cross(top, along)


def _on_thigh(
    figure: Figure, side: int, where: OnThigh, positions: FloatArray, slid: FloatArray | float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    hip, bone, top, out = _thigh(figure, side, positions)
    around, inward = np.radians(where.outward_deg), np.radians(where.inward_deg)
    back = np.cos(around) * top + np.sin(around) * out
    gap = figure.radius(f"{SIDES[side]}_hip") + figure.radius(f"{SIDES[side]}_hand") + _CLEAR
    aside = np.cos(around) * out - np.sin(around) * top
    hands = np.cos(inward) * _unit(bone) - np.sin(inward) * aside
    along = np.minimum(where.along + np.broadcast_to(slid, len(hip)), max(0.85, where.along))[:, None]
    return hip + along * bone + gap * back, hands, back, 1.25 * out - 0.4 * _unit(bone) - 0.4 * _UP


def _before_trunk(
    figure: Figure, side: int, where: BeforeTrunk, positions: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    shoulders = [positions[:, figure.joint(f"{s}_shoulder")] for s in SIDES]
    hips = 0.5 * sum(positions[:, figure.joint(f"{s}_hip")] for s in SIDES)
    trunk = 0.5 * (shoulders[0] + shoulders[1]) - hips
    across = shoulders[0] - shoulders[1]
    left = _unit(across - _unit(trunk) * np.sum(across * _unit(trunk), axis=-1, keepdims=True))
    ahead, length = np.cross(left, _unit(trunk)), np.linalg.norm(trunk, axis=-1, keepdims=True)
    out, half = (1.0, -1.0)[side] * left, 0.5 * np.linalg.norm(across, axis=-1, keepdims=True)
    wrists = hips + where.up * trunk + where.ahead * length * ahead + where.outward * half * out
    forward, outward, up = where.elbow
    return wrists, ahead, ahead, forward * ahead + outward * out + up * _unit(trunk)


def _forearm_on_thigh(
    figure: Figure, side: int, where: ForearmOnThigh, positions: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Put the elbow on the thigh where the upper arm reaches it, and the wrist inward of it."""
    hip, bone, top, out = _thigh(figure, side, positions)
    starts, (upper, lower) = positions[:, figure.arms[side].joints[0]], figure.arms[side].lengths
    gap = figure.radius(f"{SIDES[side]}_hip") + figure.radius(f"{SIDES[side]}_elbow") + _CLEAR
    base = hip + gap * top - starts
    # |base + share * bone| = upper arm: the farther of both places, held on the thigh
    a, b = np.sum(bone**2, axis=-1), np.sum(base * bone, axis=-1)
    c = np.sum(base**2, axis=-1) - upper**2
    share = np.clip((-b + np.sqrt(np.maximum(b**2 - a * c, 0.0))) / a, 0.45, 0.92)[:, None]
    elbows = hip + share * bone + gap * top
    inward, down = np.radians(where.inward_deg), np.radians(where.down_deg)
    level = _unit(bone * np.array([1.0, 1.0, 0.0]))
    ways = np.cos(down) * (np.cos(inward) * level - np.sin(inward) * _level(out)) - np.sin(down) * _UP
    wrists = elbows + lower * ways
    return wrists, ways - 0.25 * _UP, _unit(_UP + 0.6 * out), elbows - 0.5 * (starts + wrists)


def _level(v: FloatArray) -> FloatArray:
    return _unit(v * np.array([1.0, 1.0, 0.0]))


def _unit(v: FloatArray) -> FloatArray:
    return np.asarray(v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12))


def _elbows(starts: FloatArray, wrists: FloatArray, poles: FloatArray, lengths: FloatArray) -> FloatArray:
    """Return the elbows of arms that reach from shoulders to wrists and bend toward poles [m]; (F, 3)."""
    line = wrists - starts
    far = np.clip(np.linalg.norm(line, axis=-1, keepdims=True), 0.2 * lengths.sum(), _STRAIGHT * lengths.sum())
    along = _unit(line)
    aside = _unit(poles - along * np.sum(poles * along, axis=-1, keepdims=True))
    near = (far**2 + lengths[0] ** 2 - lengths[1] ** 2) / (2.0 * far)
    return np.asarray(starts + near * along + np.sqrt(np.maximum(lengths[0] ** 2 - near**2, 0.0)) * aside)


def _swivels(starts: FloatArray, elbows: FloatArray, wrists: FloatArray) -> FloatArray:
    """Return the swivel angles of elbows, as `limbs.reaching.swivel_of` counts them [rad]; (F,)."""
    line = _unit(wrists - starts)
    level = np.sqrt(np.maximum(1.0 - line[:, 2:] ** 2, 1e-12))
    low = np.concatenate([line[:, 2:] * line[:, :2], line[:, 2:] ** 2 - 1.0], axis=1) / level
    out = elbows - starts
    return np.asarray(np.arctan2(np.sum(out * np.cross(line, low), axis=-1), np.sum(out * low, axis=-1)))


def _hand_turns(hands: FloatArray, backs: FloatArray, sign: float) -> FloatArray:
    """Return turns away from the T-pose of hands that point along `hands`, with their backs toward `backs`; (F, 4)."""
    left = sign * _unit(hands)
    up = _unit(backs - left * np.sum(backs * left, axis=-1, keepdims=True))
    return rotations.from_matrix(np.stack([np.cross(left, up), left, up], axis=-1))
