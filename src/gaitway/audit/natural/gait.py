"""Cycles of walking and jogging: phases, steps, and how the body moves in them.

All is measured from joints of known roles, on stretches that are straight and long enough: a clip that only turns says
nothing of a walk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.ndimage import binary_dilation, gaussian_filter1d
from scipy.signal import hilbert

from gaitway.audit.natural.way import JOGGING, RATE, STRAIGHT, Way, directions, turn_rate, wrapped
from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances

NEEDED = ("hips", "left_hip", "right_hip", "left_ankle", "right_ankle")
"""Roles without which there are no cycles."""
_WALKING = 0.6
"""Least speed of a walk with regular cycles [m/s]."""
_FACING, _UPRIGHT = 0.35, 0.85
"""Greatest angle between body and way [rad], and least height of the hips as a share of their usual height."""
_LIFTED = 0.35
"""Greatest height of one ankle above the other in a walk, as a share of the hips' height: captured people and the cast
reach 0.25, and who steps over a fence more than 0.45."""
_STEPPING_OVER = 0.5
"""Time before and after such a step in which cycles are not those of a walk either [s]."""
_WALK_STRETCH, _JOG_STRETCH = 1.6, 0.8
"""Least lengths of a stretch: somewhat more than a cycle [s]."""
_SETTLE = 0.15
"""Time at both ends of a stretch that is left out, where starts, stops and turns show [s]."""


@dataclass(frozen=True, eq=False)
class Cycles:
    """One straight stretch of a gait, seen along its direction."""

    frames: tuple[int, int]
    """First frame and the frame after the last."""
    ahead: FloatArray
    """Direction of travel; (F, 2)."""
    phase: FloatArray
    """Phase of the gait, which grows by a turn with each cycle [rad]; (F,)."""
    left: tuple[int, ...]
    """Frames, counted from the first, in which the left foot is farthest ahead of the right one."""
    right: tuple[int, ...]
    """Frames in which the right foot is."""
    passes: tuple[FloatArray, FloatArray]
    """Times at which the left foot passes the right one, and at which the right foot passes the left one [frames]."""


def step_signal(clip: Clip, positions: FloatArray) -> FloatArray:
    """Return how far the left ankle is ahead of the right one, along the body's heading [m]; (F,)."""
    left, right = clip.skeleton.require("left_ankle", "right_ankle")
    heading = clip.headings()
    apart = positions[:, left, :2] - positions[:, right, :2]
    signal: FloatArray = apart[:, 0] * np.cos(heading) + apart[:, 1] * np.sin(heading)
    return signal


def phases(signal: FloatArray) -> FloatArray:
    """Return the phase of a signal that swings about zero [rad]; (F,)."""
    phase: FloatArray = np.unwrap(np.angle(hilbert(signal - signal.mean())))
    return phase


def stretches(clip: Clip, positions: FloatArray, way: Way, *, jog: bool = False) -> list[Cycles]:
    """Return the straight stretches of a walk, or of a jog.

    Args:
        clip: motion at 30 Hz.
        positions: its joints [m]; (F, J, 3).
        way: its way.
        jog: whether stretches of jogging are wanted.
    """
    fast = way.speed > JOGGING
    steady = (fast if jog else ~fast & (way.speed > _WALKING)) & (np.abs(turn_rate(way)) < STRAIGHT)
    steady &= _upright(clip, positions, way)
    if not jog:
        steady &= ~_steps_over(clip, positions)
    signal, margin, found = step_signal(clip, positions), round(_SETTLE * RATE), []
    for a, b in stances(steady):
        if b - a < ((_JOG_STRETCH if jog else _WALK_STRETCH) + 2.0 * _SETTLE) * RATE:
            continue
        first, last = a + margin, b - margin
        part = gaussian_filter1d(signal[first:last], 0.03 * RATE)
        left, right = _peaks(part), _peaks(-part)
        if len(left) + len(right) >= (2 if jog else 3):
            step = way.places[min(last, len(way.places) - 1)] - way.places[first]
            ahead = np.broadcast_to(step / max(np.linalg.norm(step), 1e-9), (last - first, 2))
            found.append(Cycles((first, last), ahead, phases(part), left, right, (_crossings(part), _crossings(-part))))
    return found


def _upright(clip: Clip, positions: FloatArray, way: Way) -> BoolArray:
    """Return whether the body faces where it goes and is as high as when it stands; (F,)."""
    facing = np.abs(wrapped(gaussian_filter1d(clip.headings(), 0.3 * RATE) - directions(way), 2.0 * np.pi))
    hips, *feet = clip.skeleton.require("hips", "left_ankle", "right_ankle")
    height = positions[:, hips, 2] - positions[:, feet, 2].min(axis=1)
    upright: BoolArray = (facing < _FACING) & (height > _UPRIGHT * np.percentile(height, 90.0))
    return upright


def _steps_over(clip: Clip, positions: FloatArray) -> BoolArray:
    """Return whether the body lifts a foot over something, or is about to, or has just done so; (F,)."""
    hips, left, right = clip.skeleton.require("hips", "left_ankle", "right_ankle")
    height = positions[:, hips, 2] - positions[:, [left, right], 2].min(axis=1)
    lifted: BoolArray = np.abs(positions[:, left, 2] - positions[:, right, 2]) > _LIFTED * np.percentile(height, 90.0)
    if not lifted.any():
        return lifted
    over: BoolArray = binary_dilation(lifted, iterations=round(_STEPPING_OVER * RATE))
    return over


def gait_figures(clip: Clip, way: Way, positions: FloatArray, world: FloatArray) -> Mapping[str, float]:
    """Return the figures of all cycles of a clip, by name; those that cannot be measured are left out.

    Args:
        clip: motion at 30 Hz.
        way: its way.
        positions: world positions of its joints [m]; (F, J, 3).
        world: world rotations of its joints; (F, J, 4).
    """
    if any(role not in clip.skeleton.roles for role in NEEDED):
        return {}
    walks = stretches(clip, positions, way)
    parts = [_walk_figures(clip, c, positions, world) for c in walks]
    figures = {name: _mean([p[name] for p in parts if name in p]) for name in sorted({n for p in parts for n in p})}
    intervals = np.concatenate([*(_intervals(c) for c in walks), np.empty(0)])
    if len(intervals) >= 5:
        figures["step_time_change"] = float(intervals.std() / intervals.mean())
    jogs = [_pelvis_yaw(clip, c, positions) for c in stretches(clip, positions, way, jog=True)]
    if jogs:
        figures["jog_pelvis_yaw"] = _mean(jogs)
    return figures


def _walk_figures(clip: Clip, cycles: Cycles, positions: FloatArray, world: FloatArray) -> dict[str, float]:
    roles, (a, b) = clip.skeleton.roles, cycles.frames
    side = np.column_stack([-cycles.ahead[:, 1], cycles.ahead[:, 0]])
    at = np.array(sorted(cycles.left + cycles.right))
    apart = positions[a:b, roles["left_ankle"], :2] - positions[a:b, roles["right_ankle"], :2]
    root = positions[a:b, roles["hips"], :2]
    drift = gaussian_filter1d(root, 0.6 * RATE, axis=0, mode="nearest")
    across = ((root - drift) * side).sum(axis=1)
    figures = {
        "step_width": float((apart * side).sum(axis=1)[at].mean()),
        "sway": _swing(across, cycles),
    }
    if "neck" in roles:
        trunk = positions[a:b, roles["neck"]] - positions[a:b, roles["hips"]]
        figures["trunk_pitch"] = _swing(_pitch(trunk, cycles.ahead), cycles)
    if "head" in roles:
        ahead = np.column_stack([cycles.ahead, np.zeros(b - a)])
        head = world[a:b, roles["head"]]
        # the direction that the head shows ahead on the whole nods up and down with it
        nose = rotations.rotate(rotations.conjugate(rotations.mean(head)), ahead.mean(axis=0))
        now = rotations.rotate(head, nose)
        figures["head_nod"] = _swing(np.degrees(np.arcsin(np.clip(now[:, 2], -1.0, 1.0))), cycles)
    if all(f"{s}_{part}" in roles for s in ("left", "right") for part in ("shoulder", "wrist")):
        swings = []
        for s in ("left", "right"):
            hand = positions[a:b, roles[f"{s}_wrist"], :2] - positions[a:b, roles[f"{s}_shoulder"], :2]
            swings.append(_swing((hand * cycles.ahead).sum(axis=1), cycles))
        if max(swings) > 0.05:
            figures["arm_difference"] = (max(swings) - min(swings)) / max(swings)
    return figures


def _pelvis_yaw(clip: Clip, cycles: Cycles, positions: FloatArray) -> float:
    """Return how far the pelvis turns about the vertical in a cycle, from end to end [deg]."""
    a, b = cycles.frames
    across = positions[a:b, clip.skeleton.roles["left_hip"]] - positions[a:b, clip.skeleton.roles["right_hip"]]
    yaw = np.unwrap(np.arctan2(across[:, 1], across[:, 0]))
    return _swing(np.degrees(yaw - gaussian_filter1d(yaw, 0.6 * RATE, mode="nearest")), cycles)


def _swing(values: FloatArray, cycles: Cycles) -> float:
    """Return the mean range of values in a cycle, from end to end."""
    marks = cycles.left if len(cycles.left) >= len(cycles.right) else cycles.right
    spans = [values[i : j + 1] for i, j in pairwise(marks)]
    return float(np.mean([np.ptp(span) for span in spans])) if spans else float(np.ptp(values))


def _pitch(trunk: FloatArray, ahead: FloatArray) -> FloatArray:
    """Return the angle by which a trunk leans forward [deg]; (F,)."""
    lean: FloatArray = np.degrees(np.arctan2((trunk[:, :2] * ahead).sum(axis=1), trunk[:, 2]))
    return lean


def _intervals(cycles: Cycles) -> FloatArray:
    """Return the times of whole cycles, over their mean; (N,)."""
    pieces = [np.diff(times) for times in cycles.passes if len(times) >= 3]
    return np.concatenate([p / p.mean() for p in pieces]) if pieces else np.empty(0)


def _crossings(signal: FloatArray) -> FloatArray:
    """Return the times at which a signal passes zero upward, between frames [frames]."""
    before = np.flatnonzero((signal[:-1] < 0.0) & (signal[1:] >= 0.0))
    times: FloatArray = before + signal[before] / (signal[before] - signal[before + 1])
    return times


def _peaks(signal: FloatArray) -> tuple[int, ...]:
    """Return the frames of the maxima between zero crossings, but for those that the ends cut off."""
    runs: BoolArray = signal > 0.0
    found = []
    for a, b in stances(runs):
        if a > 0 and b < len(signal):
            found.append(a + int(np.argmax(signal[a:b])))
    return tuple(found)


def _mean(values: list[float]) -> float:
    return float(np.mean(values))
