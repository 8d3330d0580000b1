"""Where a foot shall be in every frame so that it stands still, passes through locked frames, and never sinks.

As `motion.footplants`, with three things more: some frames are locked, so every stance that holds one lies where the
foot is in that frame; planted points lie at their height of rest; and a free foot that would dip below it is lifted.
Where two locked frames of one stance do not agree, the foot goes from one to the other, slowly.
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
    """Targets for one foot; in locked frames they are the clip's own.

    Args:
        clip: motion with contacts for points named "left_heel" and "left_ball" (and "left_toe").
        side: "left" or "right".
        transforms: world positions (F, J, 3) [m] and rotations (F, J, 4) of all joints.
        locked: frames that stay as they are; (F,).
        rest: height of each contact point at rest [m]; (C,).
        window_s: time over which a correction fades where it is free to [s].
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
    """By how much to raise a free foot whose points are so high over their rest, (F, points); (F,) [m], smooth."""
    return covering(np.where(fixed, 0.0, np.maximum(-heights.min(axis=1, initial=0.0), 0.0)), fixed, fps)


def _whole_foot(clip: Clip, side: str, transforms: tuple[FloatArray, FloatArray]) -> tuple[Foot, BoolArray]:
    """The captured foot, its ball down wherever heel and tip are, and frames in which the tip of its toes is (F,)."""
    foot, tip = read_foot(clip, side, *transforms), np.zeros(len(clip), dtype=bool)
    for column, point in enumerate(clip.skeleton.contact_points):
        if point.name == f"{side}_toe" and clip.contacts is not None and foot.toes is not None:
            tip = np.array(clip.contacts[:, column])
    bridged = foot.heel & tip
    return replace(foot, ball=foot.ball | bridged, toes_still=foot.toes_still | bridged), tip


def _not_under(sole: Sole, foot: Foot, held: FloatArray, swing: FloatArray, heel: bool) -> FloatArray:
    """Turns (n, 4) of a foot about its one planted point, which give it rotations `held`, with its other end not under.

    Args:
        sole: heights at rest.
        foot: offsets.
        held: rotations of the foot after the turn; (n, 4).
        swing: the turn; (n, 4).
        heel: the heel is planted, and the ball is its other end; else the other way round.
    """
    arm = foot.ball_offset - foot.heel_offset if heel else foot.heel_offset - foot.ball_offset
    lowest = (sole.pivot - sole.heel) if heel else (sole.heel - sole.pivot)
    return rotations.multiply(tipped(rotations.rotate(held, arm), lowest), swing)
