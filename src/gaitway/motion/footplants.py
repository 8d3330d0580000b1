"""Targets of a foot in every frame so that its planted points do not move.

Within a stance a foot turns about its heel after it lands, rests while heel and ball are down, and turns about the ball
when the heel rises. While both are down the foot is held as a whole. While one is down that point is held and the ankle
stays as near to its captured track as the foot's length allows, so noise in the captured foot cannot shake the leg.
Everywhere else the corrections are carried on with equal value and slope until they fade.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion import _kernels
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances

SLOPE_S = 0.06
"""Time in which the speed of a correction fades outside the known frames [s]; longer overshoots."""
SLOPE_FROM_S = 0.025
"""Time over which the speed of a correction is measured at the edge of a stance [s]."""
STEEPEST = 0.4
"""Highest speed with which a correction is continued [m/s or rad/s]; faults of captures are faster."""


@dataclass(frozen=True, eq=False)
class FootPlan:
    """Targets of one foot."""

    ankle: FloatArray
    """Positions of the ankle [m]; (F, 3)."""
    foot: FloatArray
    """World rotations of the ankle joint; (F, 4)."""
    toes: FloatArray | None
    """World rotations of the toe joint; (F, 4), or None on a rig without toes."""
    planted: BoolArray
    """Frames in which the heel or the ball is down; (F,)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Foot:
    """The foot as captured."""

    ankle: FloatArray
    """Positions of the ankle [m]; (F, 3)."""
    rotations: FloatArray
    """World rotations of the ankle joint; (F, 4)."""
    toes: FloatArray | None
    """World rotations of the toe joint; (F, 4), or None on a rig without toes."""
    heel_offset: FloatArray
    """The heel in the ankle's frame [m]; (3,)."""
    ball_offset: FloatArray
    """Pivot of the foot over its toes, in the ankle's frame [m]; (3,)."""
    heel: BoolArray
    """Frames in which the heel is down; (F,)."""
    ball: BoolArray
    """Frames in which the ball is down; (F,)."""
    toes_still: BoolArray
    """Frames in which the toes lie still; (F,)."""

    def track(self, offset: FloatArray) -> FloatArray:
        """Return the captured positions of a point given in the ankle's frame [m]; (F, 3)."""
        return np.asarray(self.ankle + rotations.rotate(self.rotations, offset))


def plan_foot(
    clip: Clip, side: str, positions: FloatArray, world: FloatArray, window_s: float, hold: bool = False
) -> FootPlan:
    """Compute the targets of one foot.

    Args:
        clip: motion with contacts for points named "left_heel" and "left_ball" (and "left_toe").
        side: "left" or "right".
        positions: world positions of all joints [m]; (F, J, 3).
        world: world rotations of all joints; (F, J, 4).
        window_s: time over which a correction fades where it is free to [s].
        hold: whether what is changed while the foot is flat stays until it has left the ground, so that a foot which
            rolls over its toes does not turn back under the body.
    """
    foot, fps = read_foot(clip, side, positions, world), clip.fps
    both, planted = foot.heel & foot.ball, foot.heel | foot.ball
    shift, turn, pins = np.zeros_like(foot.ankle), np.zeros_like(foot.ankle), np.zeros_like(foot.ankle)
    for start, stop in stances(planted):
        _hold_stance(foot, start, stop, shift, turn, pins)
    known = _held_on((shift, turn), both, planted) if hold else both
    shift, turn = bridge(shift, known, fps, window_s), bridge(turn, known, fps, window_s)
    ankle, held = foot.ankle + shift, rotations.multiply(rotations.from_rotation_vector(turn), foot.rotations)
    extra_shift, extra_turn = np.zeros_like(ankle), np.zeros_like(ankle)
    for flags, offset in ((foot.heel & ~both, foot.heel_offset), (foot.ball & ~both, foot.ball_offset)):
        arm = rotations.rotate(held[flags], offset)
        swing = rotations.between(-arm, ankle[flags] - pins[flags])
        extra_turn[flags] = rotations.to_rotation_vector(swing)
        extra_shift[flags] = pins[flags] - rotations.rotate(swing, arm) - ankle[flags]
    extra_shift, extra_turn = (bridge(e, planted, fps, window_s) for e in (extra_shift, extra_turn))
    held = rotations.multiply(rotations.from_rotation_vector(extra_turn), held)
    return FootPlan(ankle + extra_shift, held, _hold_toes(foot, held, fps, window_s), planted)


def _held_on(corrections: Sequence[FloatArray], flat: BoolArray, planted: BoolArray) -> BoolArray:
    """Continue corrections (F, 3) of flat frames over whole stances, in place; return the corrected frames (F,)."""
    known = np.array(flat)
    for start, stop in stances(planted):
        frames = start + np.flatnonzero(flat[start:stop])
        if len(frames):
            nearest = frames[np.abs(np.arange(start, stop)[:, None] - frames).argmin(axis=1)]
            for correction in corrections:
                correction[start:stop] = correction[nearest]
            known[start:stop] = True
    return known


def read_foot(clip: Clip, side: str, positions: FloatArray, world: FloatArray) -> Foot:
    """Return one foot of a clip with contacts; the arguments are those of `plan_foot`."""
    skeleton, never = clip.skeleton, np.zeros(len(clip), dtype=bool)
    ankle, toe = skeleton.roles[f"{side}_ankle"], skeleton.roles.get(f"{side}_toe")
    points = {p.name.removeprefix(f"{side}_"): (c, p) for c, p in enumerate(skeleton.contact_points)}
    down, offsets = dict.fromkeys(("heel", "ball", "toe"), never), {"heel": np.zeros(3), "ball": np.zeros(3)}
    for part in down:
        column, point = points.get(part, (0, None))
        if point is not None and point.joint in (ankle, toe) and clip.contacts is not None:
            down[part] = np.array(clip.contacts[:, column])
            offsets[part] = np.array(point.offset)
    still = down["ball"] & down["toe"]
    if toe is not None and "ball" in points and points["ball"][1].joint == toe:
        # a ball that belongs to the toes stays if they lie still, and the foot turns about their joint
        step = positions[0, toe] - positions[0, ankle]
        offsets["ball"] = rotations.rotate(rotations.conjugate(world[0, ankle]), step)
        still = down["ball"]
    heel, ball = np.array(down["heel"]), np.array(down["ball"])
    _overlap(heel, ball)
    toes = None if toe is None else world[:, toe]
    return Foot(
        ankle=positions[:, ankle],
        rotations=world[:, ankle],
        toes=toes,
        heel_offset=offsets["heel"],
        ball_offset=offsets["ball"],
        heel=heel,
        ball=ball,
        toes_still=still,
    )


def _overlap(heel: BoolArray, ball: BoolArray) -> None:
    """Give both points the two frames of the change if one takes over from the other without a common frame."""
    change = np.flatnonzero(
        (heel[:-1] & ~ball[:-1] & ~heel[1:] & ball[1:]) | (ball[:-1] & ~heel[:-1] & heel[1:] & ~ball[1:])
    )
    for frames in (change, change + 1):
        heel[frames] = ball[frames] = True


def _hold_stance(foot: Foot, start: int, stop: int, shift: FloatArray, turn: FloatArray, pins: FloatArray) -> None:
    """Fill in one stance: corrections of the frames with both points down, and the places of single points."""
    heel, ball = foot.track(foot.heel_offset)[start:stop], foot.track(foot.ball_offset)[start:stop]
    heel_down, ball_down = foot.heel[start:stop], foot.ball[start:stop]
    flats = stances(heel_down & ball_down)
    if not flats:
        track, down = (heel, heel_down) if heel_down.any() else (ball, ball_down)
        pins[start:stop] = resting_place(track[down])
        return
    rise = np.median(ball[ball_down, 2]) - np.median(heel[heel_down, 2])
    reference = max(range(len(flats)), key=lambda i: flats[i][1] - flats[i][0])
    held = [held_rotation(foot, start + a, start + b, float(rise)) for a, b in flats]
    places: list[FloatArray] = [np.zeros(3)] * len(flats)  # of the ankle
    a, b = flats[reference]
    lever = rotations.rotate(held[reference], 0.5 * (foot.heel_offset + foot.ball_offset))
    places[reference] = resting_place(0.5 * (heel[a:b] + ball[a:b])) - lever
    for step in (1, -1):
        i = reference + step
        while 0 <= i < len(flats):  # the point that stays down between two flats is shared by both
            between = flats[min(i, i - step)][1]
            offset = foot.ball_offset if ball_down[between] else foot.heel_offset
            places[i] = places[i - step] + rotations.rotate(held[i - step], offset) - rotations.rotate(held[i], offset)
            i += step
    for (a, b), rotation, place in zip(flats, held, places, strict=True):
        shift[start + a : start + b] = place - foot.ankle[start + a : start + b]
        undone = rotations.multiply(rotation, rotations.conjugate(foot.rotations[start + a : start + b]))
        turn[start + a : start + b] = rotations.to_rotation_vector(undone)
    for first, last in stances(~(heel_down & ball_down)):
        i = next(k for k, flat in enumerate(flats) if first == flat[1] or last == flat[0])
        offset = foot.ball_offset if ball_down[first] else foot.heel_offset
        pins[start + first : start + last] = places[i] + rotations.rotate(held[i], offset)


def resting_place(track: FloatArray) -> FloatArray:
    """Return where a point rests: the middle of its track in the middle half of its time; (3,)."""
    inner = len(track) // 4
    return np.asarray(np.median(track[inner : len(track) - inner], axis=0))


def held_rotation(foot: Foot, start: int, stop: int, rise: float) -> FloatArray:
    """Return one rotation for a foot that lies still: the mean, with the ball `rise` metres above the heel; (4,)."""
    inner = (stop - start) // 4
    mean = rotations.mean(foot.rotations[start + inner : stop - inner])
    line = rotations.rotate(mean, foot.ball_offset - foot.heel_offset)
    length = float(np.linalg.norm(line))
    rise = min(max(rise, -0.9 * length), 0.9 * length)
    level = line[:2] / max(float(np.linalg.norm(line[:2])), 1e-9) * np.sqrt(length**2 - rise**2)
    return rotations.multiply(rotations.between(line, np.array([level[0], level[1], rise])), mean)


def _hold_toes(foot: Foot, held: FloatArray, fps: float, window_s: float) -> FloatArray | None:
    """Return toe rotations that follow the corrected foot and lie still while the toes are down; (F, 4)."""
    if foot.toes is None:
        return None
    change = rotations.multiply(held, rotations.conjugate(foot.rotations))
    toes = rotations.multiply(change, foot.toes)
    turn = np.zeros_like(foot.ankle)
    for start, stop in stances(foot.toes_still):
        inner = (stop - start) // 4
        mean = rotations.mean(toes[start + inner : stop - inner])
        turn[start:stop] = rotations.to_rotation_vector(rotations.multiply(mean, rotations.conjugate(toes[start:stop])))
    turn = bridge(turn, foot.toes_still, fps, window_s)
    return rotations.multiply(rotations.from_rotation_vector(turn), toes)


def bridge(values: FloatArray, known: BoolArray, fps: float, window_s: float) -> FloatArray:
    """Fill the frames that are not known so that value and slope go on; (F, k).

    From each known run values fade to zero within the window; across a shorter gap they go straight to the next run.
    """
    out, frames = np.array(values), len(values)
    window, fade = max(window_s * fps, 1.0), max(SLOPE_S * fps, 2.0)
    for start, stop in stances(~known):
        gap = stop - start + 1
        part = np.zeros((stop - start, values.shape[1]))
        for edge, inward, steps, open_ended in (
            (start - 1, -1, np.arange(1, gap), stop == frames),
            (stop, 1, np.arange(gap - 1, 0, -1), start == 0),
        ):
            if 0 <= edge < frames:
                reach = window if open_ended else min(window, gap)
                t = np.minimum(steps / reach, 1.0)[:, None]
                slope = _outward_slope(out, known, edge, inward, fps)
                part += out[edge] * (1.0 - t * t * (3.0 - 2.0 * t)) + slope * _spent(steps, min(fade, reach))
        out[start:stop] = part
    return out


def bridge_track(values: FloatArray, known: BoolArray, fps: float, window_s: float) -> FloatArray:
    """Return what `bridge` does, of one number a frame (F,); many times as fast where there are many gaps."""
    out, window, fade = np.array(values), max(window_s * fps, 1.0), max(SLOPE_S * fps, 2.0)
    _kernels.bridge(out, np.array(known), float(fps), window, fade, STEEPEST, max(round(SLOPE_FROM_S * fps), 1))
    return out


def _outward_slope(values: FloatArray, known: BoolArray, edge: int, inward: int, fps: float) -> FloatArray:
    """Return the change per frame at the edge of a known run, outward, over several frames for robustness."""
    depth = 0
    while depth < max(round(SLOPE_FROM_S * fps), 1):
        inner = edge + inward * (depth + 1)
        if not (0 <= inner < len(values) and known[inner]):
            break
        depth += 1
    if depth == 0:
        return np.zeros(values.shape[1])
    slope = (values[edge] - values[edge + inward * depth]) / depth
    size = float(np.linalg.norm(slope)) * fps
    return np.asarray(slope * min(1.0, STEEPEST / max(size, 1e-12)))


def _spent(i: npt.NDArray[np.int64], length: float) -> FloatArray:
    """Return a curve that leaves 0 with slope 1 and is back at 0, with slope 0, after `length` frames."""
    return np.asarray(i * np.clip(1.0 - i / length, 0.0, 1.0) ** 2)[:, None]
