"""Targets of a foot in every frame: it stands still in stances, passes through locked frames, and never sinks.

This extends `motion.footplants` by three rules. A stance with a locked frame lies where the foot is in that frame.
Planted points lie at their height at rest. A free foot that would sink below that height is lifted. If two locked
frames of one stance disagree, the foot moves slowly from one place to the other.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.graphs.snap.soles import Sole, bounded, covering, read_sole, tipped
from gaitway.graphs.snap.stance_places import SnapStance
from gaitway.graphs.snap.toes import held_toes, raise_toes, tip_held, to_tip_locks
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances
from gaitway.motion.footplants import Foot, FootPlan, bridge, read_foot


def foot_track(
    clip: Clip,
    side: str,
    transforms: tuple[FloatArray, FloatArray],
    locked: BoolArray,
    rest: FloatArray,
    window_s: float = 0.3,
) -> FootPlan:
    """Compute the targets of one foot; in locked frames they are those of the clip.

    Args:
        clip: Motion with contacts of points named "left_heel" and "left_ball" (and "left_toe").
        side: "left" or "right".
        transforms: World positions [m] (F, J, 3) and rotations (F, J, 4) of all joints.
        locked: Frames that stay as they are; (F,).
        rest: Height of each contact point at rest [m]; (C,).
        window_s: Time over which a correction fades in free frames [s].
    """
    sole, fps = read_sole(clip, side, rest), clip.fps
    foot, tip = _whole_foot(clip, side, transforms)
    both, planted = foot.heel & foot.ball, foot.heel | foot.ball
    shift, turn, pins = np.zeros_like(foot.ankle), np.zeros_like(foot.ankle), np.zeros_like(foot.ankle)
    for start, stop in stances(planted):
        stance = SnapStance(foot, sole, start, stop, start + np.flatnonzero(locked[start:stop]), fps)
        stance.hold(shift, turn, pins)
    shift[locked], turn[locked] = 0.0, 0.0
    shift, turn = bridge(shift, both | locked, fps, window_s), bridge(turn, both | locked, fps, window_s)
    ankle, held = foot.ankle + shift, rotations.multiply(rotations.from_rotation_vector(turn), foot.rotations)
    more_shift, more_turn = np.zeros_like(ankle), np.zeros_like(ankle)
    for flags, offset in ((foot.heel & ~both, foot.heel_offset), (foot.ball & ~both, foot.ball_offset)):
        chosen = flags & ~locked
        arm = rotations.rotate(held[chosen], offset)
        swing = bounded(rotations.between(-arm, ankle[chosen] - pins[chosen]), offset is foot.heel_offset)
        swing = _not_under(sole, foot, rotations.multiply(swing, held[chosen]), swing, offset is foot.heel_offset)
        more_turn[chosen] = rotations.to_rotation_vector(swing)
        more_shift[chosen] = pins[chosen] - rotations.rotate(swing, arm) - ankle[chosen]
    more_shift, more_turn = (bridge(e, planted | locked, fps, window_s) for e in (more_shift, more_turn))
    held = rotations.multiply(rotations.from_rotation_vector(more_turn), held)
    toes = held_toes(foot, sole, held, locked, fps, window_s)
    ankle = ankle + more_shift
    if toes is not None:
        down = tip & ~planted, planted, locked
        ankle = ankle + to_tip_locks(sole, foot, (ankle, held, toes), down, fps, window_s)
        ankle, held, toes = tip_held(sole, foot, (ankle, held, toes), down, fps, window_s)
        toes = raise_toes(sole, foot, ankle, held, toes, ~planted | foot.toes_still | tip | locked, fps)
    planted = planted | tip
    ankle[:, 2] += lift(sole.heights(ankle, held, toes, foot.ball_offset), planted | locked, fps)
    return FootPlan(ankle, held, toes, planted)


def lift(heights: FloatArray, fixed: BoolArray, fps: float) -> FloatArray:
    """Return a smooth curve by which a free foot is raised [m]; (F,).

    Args:
        heights: Heights of its points over their heights at rest [m]; (F, points).
        fixed: Frames in which the foot is not raised; (F,).
        fps: Frame rate [Hz].
    """
    return covering(np.where(fixed, 0.0, np.maximum(-heights.min(axis=1, initial=0.0), 0.0)), fixed, fps)


def _whole_foot(clip: Clip, side: str, transforms: tuple[FloatArray, FloatArray]) -> tuple[Foot, BoolArray]:
    """Return the captured foot, with its ball down if heel and tip are, and the frames with the tip down (F,)."""
    foot, tip = read_foot(clip, side, *transforms), np.zeros(len(clip), dtype=bool)
    for column, point in enumerate(clip.skeleton.contact_points):
        if point.name == f"{side}_toe" and clip.contacts is not None and foot.toes is not None:
            tip = np.array(clip.contacts[:, column])
    bridged = foot.heel & tip
    return replace(foot, ball=foot.ball | bridged, toes_still=foot.toes_still | bridged), tip


def _not_under(sole: Sole, foot: Foot, held: FloatArray, swing: FloatArray, heel: bool) -> FloatArray:
    """Return turns (n, 4) of a foot about its planted point that keep its other end over the ground.

    Args:
        sole: Heights at rest.
        foot: Offsets of the foot.
        held: Rotations of the foot after the turn; (n, 4).
        swing: Turns; (n, 4).
        heel: Whether the heel is planted and the ball is the other end; else the ball is planted.
    """
    arm = foot.ball_offset - foot.heel_offset if heel else foot.heel_offset - foot.ball_offset
    lowest = (sole.pivot - sole.heel) if heel else (sole.heel - sole.pivot)
    return rotations.multiply(tipped(rotations.rotate(held, arm), lowest), swing)
