"""Arms of who sits: hands and forearms laid on thighs, or held before the trunk, exact by contact."""

from __future__ import annotations

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.limbs import solve_limb
from gaitway.motion.anatomy import t_pose
from gaitway.sitting.figure import SIDES, Figure
from gaitway.sitting.manners import BeforeTrunk, ForearmOnThigh, HandPlace, OnThigh

_CLEAR = 0.003
"""Room between a hand and what it lies on, beside both radii [m]."""
_UP = np.array([0.0, 0.0, 1.0])


def arm_postures(
    figure: Figure, side: int, where: HandPlace, positions: FloatArray, world: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return the postures of an arm (F, 9) [rad] that bring its hand to a place, and where it reaches that place (F,).

    Args:
        figure: the body.
        side: 0 for the left arm, 1 for the right one.
        where: the place of the hand.
        positions: joints of the body [m]; (F, J, 3).
        world: world rotations of its joints; (F, J, 4).
    """
    sign, arm = (1.0, -1.0)[side], figure.arms[side]
    starts, bases = arm.hanging(positions, world)
    if isinstance(where, OnThigh):
        wrists, hands, backs, poles = _on_thigh(figure, side, where, positions)
    elif isinstance(where, BeforeTrunk):
        wrists, hands, backs, poles = _before_trunk(figure, side, where, positions, starts)
    else:
        wrists, hands, backs, poles = _forearm_on_thigh(figure, side, where, positions, starts)
    elbows = _elbows(starts, wrists, poles, arm.lengths)
    if isinstance(where, BeforeTrunk):  # the hand goes on along its forearm
        hands = _unit(wrists - elbows)
    ends = rotations.multiply(_hand_turns(hands, backs, sign), t_pose(arm.skeleton)[arm.joints[2]])
    return solve_limb(arm, starts, bases, wrists, ends, _swivels(starts, elbows, wrists))


def _thigh(figure: Figure, side: int, positions: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return hip [m], bone [m], the direction of its top, and that of its outer side; (F, 3) each."""
    hip = positions[:, figure.joint(f"{SIDES[side]}_hip")]
    bone = positions[:, figure.joint(f"{SIDES[side]}_knee")] - hip
    along = _unit(bone)
    top = _unit(_UP - along * along[:, 2:])
    return hip, bone, top, (1.0, -1.0)[side] * np.cross(top, along)


def _on_thigh(
    figure: Figure, side: int, where: OnThigh, positions: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    hip, bone, top, out = _thigh(figure, side, positions)
    around, inward = np.radians(where.outward_deg), np.radians(where.inward_deg)
    back = np.cos(around) * top + np.sin(around) * out
    gap = figure.radius(f"{SIDES[side]}_hip") + figure.radius(f"{SIDES[side]}_hand") + _CLEAR
    aside = np.cos(around) * out - np.sin(around) * top
    hands = np.cos(inward) * _unit(bone) - np.sin(inward) * aside
    return hip + where.along * bone + gap * back, hands, back, 0.9 * out - 0.5 * _unit(bone) - 0.4 * _UP


def _before_trunk(
    figure: Figure, side: int, where: BeforeTrunk, positions: FloatArray, starts: FloatArray
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
    return wrists, wrists - starts, ahead, forward * ahead + outward * out + up * _unit(trunk)


def _forearm_on_thigh(
    figure: Figure, side: int, where: ForearmOnThigh, positions: FloatArray, starts: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Put the elbow on the thigh where the upper arm reaches it, and the wrist inward of it."""
    hip, bone, top, out = _thigh(figure, side, positions)
    upper, lower = figure.arms[side].lengths
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
    far = np.clip(np.linalg.norm(line, axis=-1, keepdims=True), 0.2 * lengths.sum(), 0.999 * lengths.sum())
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
    return np.arctan2(np.sum(out * np.cross(line, low), axis=-1), np.sum(out * low, axis=-1))


def _hand_turns(hands: FloatArray, backs: FloatArray, sign: float) -> FloatArray:
    """Return turns away from the T-pose of hands that point along `hands`, with their backs toward `backs`; (F, 4)."""
    left = sign * _unit(hands)
    up = _unit(backs - left * np.sum(backs * left, axis=-1, keepdims=True))
    return rotations.from_matrix(np.stack([np.cross(left, up), left, up], axis=-1))
