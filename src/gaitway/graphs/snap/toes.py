"""Toes: held flat while they are down, and held by their tip while only the tip of the foot is down."""

from __future__ import annotations

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.graphs.snap.soles import OTHER_GROUND, Sole, bounded, covering, tip_offset, tipped
from gaitway.motion.blending import ease
from gaitway.motion.contacts import stances
from gaitway.motion.footplants import Foot, bridge, resting_place

_SUNK = 0.002
"""Depth below its height at rest from which a point is under the ground [m]."""


def held_toes(
    foot: Foot, sole: Sole, held: FloatArray, locked: BoolArray, fps: float, window_s: float
) -> FloatArray | None:
    """Return rotations of the toes that follow the corrected foot, are still and level while down, and keep locks.

    Args:
        foot: Captured foot.
        sole: Heights at rest.
        held: Corrected rotations of the foot; (F, 4).
        locked: Frames that stay as they are; (F,).
        fps: Frame rate [Hz].
        window_s: Time over which corrections fade [s].

    Returns:
        (F, 4), or None if the foot has no toe joint.
    """
    if foot.toes is None:
        return None
    change = rotations.multiply(held, rotations.conjugate(foot.rotations))
    toes = rotations.multiply(change, foot.toes)
    turn = np.zeros_like(foot.ankle)
    for start, stop in stances(foot.toes_still):
        locks = start + np.flatnonzero(locked[start:stop])
        inner = (stop - start) // 4
        if len(locks):
            nearest = locks[np.abs(np.arange(start, stop)[:, None] - locks).argmin(axis=1)]
            wanted = foot.toes[nearest]
        else:
            wanted = _level_toes(sole, rotations.mean(toes[start + inner : stop - inner]))
        undone = rotations.multiply(wanted, rotations.conjugate(toes[start:stop]))
        turn[start:stop] = rotations.to_rotation_vector(undone)
    turn[locked] = 0.0
    turn = bridge(turn, foot.toes_still | locked, fps, window_s)
    return rotations.multiply(rotations.from_rotation_vector(turn), toes)


def _level_toes(sole: Sole, toes: FloatArray) -> FloatArray:
    """Return a rotation of the toes (4,), pitched so that ball and tip both rest on the ground."""
    known = {part: offset for part, offset, _ in sole.points if part in sole.on_toes}
    if "ball" not in known or "toe" not in known:
        return toes
    line = rotations.rotate(toes, known["toe"] - known["ball"])
    level = np.array([line[0], line[1], 0.0])
    if np.linalg.norm(level) < 0.5 * np.linalg.norm(line):  # toes that point down are not on the ground
        return toes
    return rotations.multiply(rotations.between(line, level), toes)


def raise_toes(
    sole: Sole, foot: Foot, ankle: FloatArray, held: FloatArray, toes: FloatArray, fixed: BoolArray, fps: float
) -> FloatArray:
    """Return the rotations of the toes (F, 4), bent up where their tip would be under the ground."""
    known = tip_offset(sole)
    if known is None:
        return toes
    joint = ankle + rotations.rotate(held, foot.ball_offset)
    line = rotations.rotate(toes, known[0])
    turn = rotations.to_rotation_vector(tipped(line, known[1] - joint[:, 2]))
    angle = np.linalg.norm(turn, axis=-1)
    angle[fixed] = 0.0
    flat = np.column_stack([line[:, 1], -line[:, 0], np.zeros(len(line))])  # about this axis the tip goes up
    return rotations.multiply(rotations.from_axis_angle(flat, covering(angle, fixed, fps)), toes)


def to_tip_locks(
    sole: Sole,
    foot: Foot,
    plan: tuple[FloatArray, FloatArray, FloatArray],
    flags: tuple[BoolArray, BoolArray, BoolArray],
    fps: float,
    window_s: float,
) -> FloatArray:
    """Return the shift of the foot (F, 3) that moves a stance to a locked frame in which only the tip of toes is down.

    The arguments are those of `tip_held`. A stance with another locked frame moves from one to the other.
    """
    (ankle, held, toes), (alone, planted, locked), known = plan, flags, tip_offset(sole)
    shift = np.zeros_like(ankle)
    if known is None or not (alone & locked).any():
        return shift
    track = ankle + rotations.rotate(held, foot.ball_offset) + rotations.rotate(toes, known[0])
    for start, stop in stances(planted | alone):
        frames = np.arange(start, stop)
        rows, tips = frames[planted[frames]], frames[(alone & locked)[frames]]
        if not len(rows) or not len(tips):
            continue
        tip, others = int(tips[-1]), rows[locked[rows]]
        near = int(rows[np.abs(rows - tip).argmin()])
        gap = (track[tip] - track[near]) * np.array([1.0, 1.0, 0.0])
        share = np.ones(len(rows))
        if len(others):
            other = int(others[np.abs(others - tip).argmax()])
            share = ease(np.clip((rows - other) / (tip - other), 0.0, 1.0))
        shift[rows] = share[:, None] * gap
    shift[locked] = 0.0
    return bridge(shift, planted | alone | locked, fps, window_s)


def tip_held(
    sole: Sole,
    foot: Foot,
    plan: tuple[FloatArray, FloatArray, FloatArray],
    flags: tuple[BoolArray, BoolArray, BoolArray],
    fps: float,
    window_s: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a plan in which the tip of the toes stays in place while only the tip is down.

    Foot and toes turn about the ankle as far as the ball stays over the ground, and the ankle moves by the rest. If the
    whole leg were held back at this moment, the knee would bend with a jerk.

    Args:
        sole: Heights at rest.
        foot: Offsets of the foot.
        plan: Positions of the ankle [m] (F, 3), rotations of the foot (F, 4) and of its toes (F, 4).
        flags: Frames in which only the tip is down, frames in which heel or ball are, and locked frames; (F,) each.
        fps: Frame rate [Hz].
        window_s: Time over which corrections fade [s].
    """
    (ankle, held, toes), (alone, planted, locked), known = plan, flags, tip_offset(sole)
    if known is None or not (alone & ~locked).any():
        return plan
    track = ankle + rotations.rotate(held, foot.ball_offset) + rotations.rotate(toes, known[0])
    gap = np.zeros_like(ankle)
    for start, stop in stances(alone):
        frames = np.arange(max(start - 1, 0), min(stop + 1, len(track)))
        beside = frames[planted[frames] | locked[frames]]
        place = track[beside[0]] if len(beside) else resting_place(track[start:stop])
        if abs(place[2] - known[1]) < OTHER_GROUND:
            place = np.array([place[0], place[1], known[1]])
        gap[start:stop] = place - track[start:stop]
        if len(beside) > 1:  # the foot comes down again at another place
            share = ease((np.arange(start, stop) - beside[0]) / (beside[-1] - beside[0]))[:, None]
            gap[start:stop] += share * (track[beside[-1]] - track[beside[0]])
    rows, fixed = alone & ~locked, alone | planted | locked
    shift, turn = np.zeros_like(ankle), np.zeros_like(ankle)
    arm = (track - ankle)[rows]
    swing = bounded(rotations.between(arm, arm + gap[rows]), heel=False)
    turned = rotations.multiply(swing, held[rows]), rotations.multiply(swing, toes[rows])
    shift[rows] = gap[rows] + arm - rotations.rotate(swing, arm)
    turn[rows] = rotations.to_rotation_vector(swing)
    sunk = sole.heights((ankle + shift)[rows], *turned, foot.ball_offset).min(axis=1, initial=0.0) < -_SUNK
    stiff = _runs_of(rows, np.flatnonzero(rows)[sunk])
    shift[stiff], turn[stiff] = gap[stiff], 0.0
    spin = rotations.from_rotation_vector(bridge(turn, fixed, fps, window_s))
    ankle = ankle + bridge(shift, fixed, fps, window_s)
    return ankle, rotations.multiply(spin, held), rotations.multiply(spin, toes)


def _runs_of(flags: BoolArray, frames: IntArray) -> BoolArray:
    """Return the runs of flags (F,) that hold one of some frames; (F,)."""
    out = np.zeros(len(flags), dtype=bool)
    for start, stop in stances(flags):
        out[start:stop] = bool(((frames >= start) & (frames < stop)).any())
    return out
