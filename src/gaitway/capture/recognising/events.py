"""Detection of events: frames at which a take may be cut, so that pieces of different takes meet in similar poses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gaitway.capture.recognising.measures import TakeMeasures
from gaitway.capture.recognising.phases import GESTURE, holding
from gaitway.capture.takes import CaptureEvent, FootSide, RecognitionThresholds
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.motion.contacts import stances
from gaitway.motion.skeleton import Skeleton

FEET: tuple[FootSide, FootSide] = ("left", "right")
_PAUSE_S = 0.4
"""Least duration of a pause [s]."""
_SETTLE_S = 0.2
"""Time after the begin of a pause, and before its end, at which the pause may be cut [s]."""
_SHORTEST_SWING_S = 0.1
"""Least duration of a swing of a foot [s]."""
_SIDE_STEP = 0.1
"""Least distance that a foot moves relative to the other foot in a step to the side [m]."""
_STEP_PAUSE_S = 0.25
"""Least time on both feet between two steps of a turn on the spot at which the turn may be cut [s]."""
_TURNING = 0.8
"""Turning rate that counts as much as the largest speed of a standing character [rad/s]."""
_SIDE_BY_SIDE = 0.09
"""Largest distance along the facing direction of feet that stand side by side [m]."""


def find_events(measures: TakeMeasures, skeleton: Skeleton, limits: RecognitionThresholds) -> tuple[CaptureEvent, ...]:
    """Find all events of a take, in the order of their frames."""
    pauses = list(_pauses(measures, limits))
    taken = {event.frame for event in pauses}
    turns = [e for e in _turning_pauses(measures, skeleton, limits) if not _near(e.frame, taken, measures.fps)]
    found = [*_steps(measures, skeleton, limits), *pauses, *turns, *_flights(measures)]
    return tuple(sorted(found, key=lambda event: (event.frame, event.kind)))


def _steps(m: TakeMeasures, skeleton: Skeleton, limits: RecognitionThresholds) -> Iterator[CaptureEvent]:
    """Yield an event in every swing: when the swinging ankle passes the planted one, else halfway in a side step."""
    ankles = m.positions[:, [skeleton.roles["left_ankle"], skeleton.roles["right_ankle"]], :2]
    speed = m.speed
    slow = 0.8 * limits.move_speed * m.stature.pace
    for foot in (0, 1):
        for start, stop in stances(m.down[:, foot] & ~m.down[:, 1 - foot]):
            if stop - start < _SHORTEST_SWING_S * m.fps or (start == 0 and stop == len(m)):
                continue
            way = m.positions[min(stop, len(m) - 1), 0, :2] - m.positions[max(start - 1, 0), 0, :2]
            gap = ankles[start:stop, 1 - foot] - ankles[start:stop, foot]
            frame = _passing(gap, way, start)
            if frame is None and abs(m.aside[start:stop].mean()) > abs(m.ahead[start:stop].mean()):
                frame = _halfway(gap, way, start)
            if frame is not None and speed[frame] > slow:
                yield CaptureEvent(frame, "step", FEET[foot], float(speed[frame]))


def _passing(gap: FloatArray, way: FloatArray, start: int) -> int | None:
    """Return the frame in which the gap between the feet, along the path, changes sign; None if it never does.

    Args:
        gap: Swinging ankle relative to the planted one [m]; (n, 2).
        way: Motion of the pelvis during the swing [m]; (2,).
        start: Frame of the first row.
    """
    length = float(np.linalg.norm(way))
    if length < 1e-6:
        return None
    along = gap @ (way / length)
    crossings: IntArray = np.flatnonzero((along[:-1] < 0.0) & (along[1:] >= 0.0))
    if len(crossings) == 0:
        return None
    first = int(crossings[len(crossings) // 2])
    return start + first + int(abs(along[first + 1]) < abs(along[first]))


def _halfway(gap: FloatArray, way: FloatArray, start: int) -> int | None:
    """Return the frame in which a foot is halfway through a side step; None if it hardly moves. See `_passing`."""
    length = float(np.linalg.norm(way))
    along = gap @ (way / length) if length > 1e-6 else np.zeros(len(gap))
    if abs(along[-1] - along[0]) < _SIDE_STEP:
        return None
    return start + int(np.argmin(np.abs(along - 0.5 * (along[0] + along[-1]))))


def standing(m: TakeMeasures, limits: RecognitionThresholds) -> BoolArray:
    """Return the frames in which the character stands upright on both feet with still, empty hands; (F,)."""
    pace = m.stature.pace
    still = (m.speed < limits.stand_speed * pace) & (np.abs(m.turning) < limits.turn_rate)
    upright = (m.head > limits.low_head) & (m.pelvis > limits.low_pelvis)
    arms = ~m.arms_out & ~holding(m) & (m.hand_speed < GESTURE * pace)
    quiet: BoolArray = still & upright & arms & m.down.all(axis=1)
    return quiet


def _pauses(m: TakeMeasures, limits: RecognitionThresholds) -> Iterator[CaptureEvent]:
    settle = int(_SETTLE_S * m.fps)
    for start, stop in stances(standing(m, limits)):
        if stop - start < _PAUSE_S * m.fps:
            continue
        first = start + (settle if start > 0 else 0)
        last = stop - 1 - (settle if stop < len(m) else 0)
        yield CaptureEvent(first, "pause", "", float(m.speed[first]))
        if last - first >= settle:
            yield CaptureEvent(last, "pause", "", float(m.speed[last]))


def _turning_pauses(m: TakeMeasures, skeleton: Skeleton, limits: RecognitionThresholds) -> Iterator[CaptureEvent]:
    """Yield the moments of a turn on the spot in which both feet stand side by side, between two of its steps."""
    ankles = m.positions[:, [skeleton.roles["left_ankle"], skeleton.roles["right_ankle"]], :2]
    gap = ankles[:, 0] - ankles[:, 1]
    apart = np.abs(np.cos(m.heading) * gap[:, 0] + np.sin(m.heading) * gap[:, 1])
    unrest = m.speed / (limits.stand_speed * m.stature.pace) + np.abs(m.turning) / _TURNING
    low = (m.head < limits.low_head) | (m.pelvis < limits.low_pelvis)
    for start, stop in stances(np.asarray(m.down[:, 0] & m.down[:, 1] & ~low)):
        if stop - start < _STEP_PAUSE_S * m.fps:
            continue
        frame = start + int(np.argmin(unrest[start:stop]))
        turned = abs(m.heading[min(stop, len(m) - 1)] - m.heading[max(start - 1, 0)])
        if unrest[frame] < 1.5 and apart[frame] < _SIDE_BY_SIDE * m.stature.size and turned > np.radians(5.0):
            yield CaptureEvent(frame, "pause", "", float(m.speed[frame]))


def _near(frame: int, frames: set[int], fps: float) -> bool:
    return any(abs(frame - other) < _PAUSE_S * fps for other in frames)


def _flights(m: TakeMeasures) -> Iterator[CaptureEvent]:
    """Yield the middle of every time in the air that begins and ends within the take."""
    for start, stop in stances(m.airborne):
        if start == 0 or stop == len(m) or stop - start < 2:
            continue
        middle = (start + stop) // 2
        left, right = m.last_down(start, -1)
        foot: FootSide = "" if left and right else "left" if left else "right"
        yield CaptureEvent(middle, "flight", foot, float(m.speed[middle]))
