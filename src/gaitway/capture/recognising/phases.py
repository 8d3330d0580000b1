"""Recognition of phases: standing, walking, running, backward, sideways, turning, crawling, or none of these."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.capture.reading.smoothing import low_pass
from gaitway.capture.recognising.measures import GRAVITY, TakeMeasures
from gaitway.capture.takes import MotionPhase, PhaseKind, RecognitionThresholds
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.contacts import stances

KINDS: tuple[PhaseKind, ...] = ("stand", "walk", "jog", "run", "back", "side", "turn", "crawl", "other")
_AHEAD, _BACK = np.radians(50.0), np.radians(130.0)
"""Angles between the direction of travel and the facing direction: up to the first, motion is forward; beyond the
second, backward; between them, sideways [rad]."""
_FLIGHT_WINDOW_S = 0.4
"""Time around each flight in which a gait counts as running [s]."""
_FLIGHT_HEIGHT = 0.025
"""Least height of both soles in a flight [m]; a walking character may seem to leave the ground by less."""
_SLOWEST_JOG, _JOG_ON, _JOG_GAP_S = 1.1, 1.5, 1.2
"""Least speed of a gait with flights [m/s]; speed above which a jog continues without a flight [m/s], and for how long
[s]."""
UPSIDE_DOWN = np.radians(115.0)
"""Tilt above which the head is clearly below the hips, as in cartwheels and rolls [rad]."""
GESTURE = 0.6
"""Speed of the hands above which a standing character gestures or handles an object [m/s]."""
_ON_SPOT_S = 1.5
"""Time over which steps on the spot are distinguished from a single step [s]."""
_TURN_S = 0.4
"""Time over which the rate of a turn on the spot is averaged, because such a turn consists of steps [s]."""
_CRAWL_SPEED, _FASTEST_CRAWL = 0.1, 1.2
"""Range of the usual speed of a crawl; faster motion is a dive [m/s]."""
_CRAWL_WAY = 0.6
"""Least length of a crawl; a shorter motion is a crouch, or lies down [m]."""
_CRAWL_S = 0.7
"""Least duration of a crawl [s]."""
_CRAWL_HAND = 0.3
"""Largest height of the lower hand in a crawl [m]."""
_LYING = 0.35
"""Pelvis height below which a character lies or sits on the floor, as a share of standing."""
_LEAN_FROM, _LEAN_TO = 1.2, 4.2
"""Range of speeds in which people lean more with more speed [m/s]."""
_LEAN_HEAD, _LEAN_PELVIS = 0.04, 0.03
"""Allowed drop of head and pelvis for each m/s in this range, as shares of standing."""
_BENT_FASTER = np.radians(4.0)
"""Additional allowed lean for each m/s [rad]."""
_HOP_RISE = 0.09
"""Least rise of the body over its usual height in a hop [m]: skips have 0.10 to 0.17, bouncy walks up to 0.08."""
_HOP_WINDOW_S = 0.35
"""Time around each hop in which the character hops [s]."""
_LEVEL_HANDS, _BOX = 0.1, (0.25, 0.6)
"""Largest difference in height of hands that hold a box, and the range of the distance between them [m]."""
_CARRY_S = 1.0
"""Time over which hands are observed to find out whether they hold an object [s]."""


def find_phases(measures: TakeMeasures, limits: RecognitionThresholds) -> tuple[MotionPhase, ...]:
    """Find the phases of a take, from its first frame to its last."""
    names = _settled(_kinds(measures, limits), max(int(limits.shortest_phase_s * measures.fps), 1))
    edges = [0, *(np.flatnonzero(names[1:] != names[:-1]) + 1).tolist(), len(names)]
    return tuple(make_phase(measures, start, stop, str(names[start])) for start, stop in pairwise(edges))


def make_phase(measures: TakeMeasures, start: int, stop: int, name: str) -> MotionPhase:
    """Return a phase; `name` is its kind, such as "walk" or "other:bend"."""
    word, _, detail = name.partition(":")
    kind: PhaseKind = next((k for k in KINDS if k == word), "other")
    turn = float(measures.heading[stop - 1] - measures.heading[start])
    return MotionPhase(start, stop, kind, float(measures.speed[start:stop].mean()), turn, detail)


def _kinds(m: TakeMeasures, limits: RecognitionThresholds) -> np.ndarray:
    """Return the kind of motion in every frame, such as "walk" or "other:bend"; (F,)."""
    pace, speed = m.stature.pace, m.speed
    moving = _hysteresis(speed, limits.stand_speed * pace, limits.move_speed * pace)
    direction = np.abs(np.arctan2(m.aside, m.ahead))
    low_head, low_pelvis = low_parts(m, limits)
    flat = (m.head < limits.crawl_head) & low_pelvis
    turning = np.abs(low_pass(m.turning, 0.5 * _TURN_S * m.fps)) > limits.turn_rate
    conditions: list[tuple[BoolArray, str]] = [
        (crawling(m, limits), "crawl"),
        (filled(m.tilt > UPSIDE_DOWN, int(0.5 * m.fps)) & moving, "other:tumble"),
        (flat & (m.pelvis < _LYING), "other:lie"),
        ((low_head | low_pelvis) & moving, "other:low walk"),
        (low_pelvis, "other:crouch"),
        (low_head, "other:bend"),
        (moving & holding(m), "other:carry"),
        (moving & _bent(m, limits), "other:bent walk"),
        (moving & _hopping(m) & (direction < _AHEAD) & (speed < limits.run_speed * pace), "other:hop"),
        (holding(m), "other:hold"),
        (_gesturing(m, ~moving), "other:gesture"),
        (~moving & m.arms_out, "other:arms out"),
        (~moving & turning, "turn"),
        (~moving & _on_one_foot(m), "other:on the spot"),
        (~moving, "stand"),
        (direction > _BACK, "back"),
        (direction > _AHEAD, "side"),
        (~_running(m, limits), "walk"),
        (speed < limits.run_speed * pace, "jog"),
    ]
    return np.select([c for c, _ in conditions], [word for _, word in conditions], "run")


def low_parts(m: TakeMeasures, limits: RecognitionThresholds) -> tuple[BoolArray, BoolArray]:
    """Return the frames in which the head is low, and those in which the pelvis is low; (F,) each.

    The limits drop with speed, because runners lean and bend their knees.
    """
    fast = np.clip(m.speed / m.stature.pace - _LEAN_FROM, 0.0, _LEAN_TO - _LEAN_FROM)
    head = m.head < limits.low_head - _LEAN_HEAD * fast
    pelvis = m.pelvis < limits.low_pelvis - _LEAN_PELVIS * fast
    return np.asarray(head), np.asarray(pelvis)


def crawling(m: TakeMeasures, limits: RecognitionThresholds) -> BoolArray:
    """Return the frames in which the character crawls on hands and knees, or lower; (F,)."""
    flat = (m.head < limits.crawl_head) & (m.pelvis < limits.low_pelvis) & (m.reach < _CRAWL_HAND * m.stature.size)
    out = np.zeros(len(m), dtype=bool)
    for start, stop in stances(filled(flat, int(0.5 * m.fps))):
        track = low_pass(m.mass[start:stop, :2], 0.5 * m.fps)
        way = float(np.linalg.norm(np.diff(track, axis=0), axis=1).sum())
        usual = float(np.median(m.speed[start:stop])) / m.stature.pace
        slow = _CRAWL_SPEED < usual < _FASTEST_CRAWL
        if stop - start >= _CRAWL_S * m.fps and slow and way > _CRAWL_WAY * m.stature.size:
            out[start:stop] = True
    return out & (m.head < limits.low_head)


def _bent(m: TakeMeasures, limits: RecognitionThresholds) -> BoolArray:
    """Return the frames in which the character leans farther than its speed and acceleration explain; (F,)."""
    width = 0.2 * m.fps
    gaining = np.gradient(low_pass(m.ahead, width)) * m.fps if len(m) > 1 else np.zeros(len(m))
    excess = low_pass(m.lean, width) - np.arctan2(np.maximum(gaining, 0.0), GRAVITY)
    return np.asarray(excess > np.radians(limits.bent_deg) + _BENT_FASTER * m.speed / m.stature.pace)


def _hopping(m: TakeMeasures) -> BoolArray:
    """Return the frames around flights in which the foot that took off also lands, as in skipping; (F,)."""
    hops = np.zeros(len(m), dtype=bool)
    for start, stop in stances(m.airborne):
        second = int(m.fps)
        usual = np.median(m.mass[max(start - second, 0) : stop + second, 2])
        rises = m.mass[start:stop, 2].max() - usual > _HOP_RISE * m.stature.size
        before, after = m.last_down(start, -1), m.last_down(stop - 1, 1)
        hops[start:stop] = rises and sum(before) == 1 and before == after
    window = max(int(2 * _HOP_WINDOW_S * m.fps) | 1, 1)
    near: BoolArray = scipy.ndimage.maximum_filter1d(hops.astype(np.int8), window) > 0
    return near


def _on_one_foot(m: TakeMeasures) -> BoolArray:
    """Return the frames around which one foot is off the ground most of the time: marching, balancing; (F,)."""
    single = (m.down[:, 0] != m.down[:, 1]).astype(np.float64)
    often: FloatArray = scipy.ndimage.uniform_filter1d(single, max(int(_ON_SPOT_S * m.fps), 1), mode="reflect")
    return np.asarray(often > 0.5)


def _gesturing(m: TakeMeasures, standing: BoolArray) -> BoolArray:
    """Return the frames of standing (F,) in which the hands move fast for a second or more; (F,)."""
    busy = m.hand_speed > GESTURE * m.stature.pace
    out = np.zeros(len(m), dtype=bool)
    for start, stop in stances(np.asarray(busy & standing)):
        out[start:stop] = stop - start >= m.fps
    return out


def holding(m: TakeMeasures) -> BoolArray:
    """Return the frames in which both hands hold something ahead of the body, such as a box; (F,).

    Their distance does not change and they are level, whether the person walks or stands. Who sneaks holds the hands
    ahead, too, but one higher than the other, or moves them.
    """
    size, window = m.stature.size, max(int(_CARRY_S * m.fps), 3)
    ahead = (m.hands[..., 0] > 0.15 * size).all(axis=1) & (m.hands[..., 2] > 0.05 * size).all(axis=1)
    level = np.abs(m.hands[:, 0, 2] - m.hands[:, 1, 2]) < _LEVEL_HANDS * size
    held = np.asarray(ahead & level & _rigid_hands(m, window, 0.02))
    out = np.zeros(len(m), dtype=bool)
    for start, stop in stances(held):
        out[start:stop] = stop - start >= 0.5 * _CARRY_S * m.fps
    return filled(out, window)


def handling(m: TakeMeasures) -> BoolArray:
    """Return the frames in which both hands are on an object at any height, as when a box is picked up; (F,)."""
    ahead = (m.hands[..., 0] > 0.12 * m.stature.size).all(axis=1)
    return np.asarray(ahead & _rigid_hands(m, max(int(0.5 * _CARRY_S * m.fps), 3), 0.012))


def _rigid_hands(m: TakeMeasures, window: int, spread: float) -> BoolArray:
    """Return the frames around which the distance of the hands is that of the ends of a box, and does not change; (F,).

    Args:
        m: Measures.
        window: Number of frames that are observed.
        spread: Largest standard deviation of the distance [m].
    """
    size = m.stature.size
    gap = np.linalg.norm(m.hands[:, 0] - m.hands[:, 1], axis=-1)
    mean = scipy.ndimage.uniform_filter1d(gap, window, mode="nearest")
    change = scipy.ndimage.uniform_filter1d((gap - mean) ** 2, window, mode="nearest")
    wide = (mean > _BOX[0] * size) & (mean < _BOX[1] * size)
    return np.asarray(wide & (change < (spread * size) ** 2))


def filled(flags: BoolArray, gap: int) -> BoolArray:
    """Return flags (F,) with gaps of up to `gap` frames between runs of True filled."""
    pad = gap + 1
    closed: BoolArray = scipy.ndimage.binary_closing(np.pad(flags, pad), np.ones(gap + 1))[pad:-pad] | flags
    return closed


def _hysteresis(values: FloatArray, low: float, high: float) -> BoolArray:
    """Return True above `high`, False below `low`, and between them the flag of the nearest clear frame; (F,)."""
    clear = (values > high) | (values < low)
    if not clear.any():
        return np.asarray(values > 0.5 * (low + high))
    known = np.flatnonzero(clear)
    nearest = np.searchsorted(known, np.arange(len(values)))
    right = known[np.minimum(nearest, len(known) - 1)]
    left = known[np.maximum(nearest - 1, 0)]
    frames = np.arange(len(values))
    chosen = np.where(np.abs(frames - left) <= np.abs(right - frames), left, right)
    return np.asarray(values[chosen] > high)


def _running(m: TakeMeasures, limits: RecognitionThresholds) -> BoolArray:
    """Return the frames of a gait with flights, or of a gait too fast for a walk; (F,).

    A stride whose flight is not detected does not end the gait.
    """
    pace = m.stature.pace
    around = _around_flights(m) & (m.speed > _SLOWEST_JOG * pace)
    fast = around | (m.speed > limits.walk_speed * pace)
    return filled(fast, int(_JOG_GAP_S * m.fps)) & (fast | (m.speed > _JOG_ON * pace))


def _around_flights(m: TakeMeasures) -> BoolArray:
    """Return the frames around flights; (F,)."""
    flights, height = np.zeros(len(m), dtype=bool), _FLIGHT_HEIGHT * m.stature.size
    for start, stop in stances(m.airborne):
        flights[start:stop] = stop - start >= 2 and m.soles[start:stop].min(axis=1).max() > height
    window = max(int(2 * _FLIGHT_WINDOW_S * m.fps) | 1, 1)
    around: BoolArray = scipy.ndimage.maximum_filter1d(flights.astype(np.int8), window) > 0
    return around


def _settled(names: np.ndarray, shortest: int) -> np.ndarray:
    """Return names in which no run is shorter than `shortest` frames: the shortest run joins its longer neighbour."""
    names = np.array(names)
    while True:
        edges = np.array([0, *(np.flatnonzero(names[1:] != names[:-1]) + 1), len(names)])
        lengths = np.diff(edges)
        if len(lengths) < 2 or lengths.min() >= shortest:
            return names
        i = int(np.argmin(lengths))
        before = lengths[i - 1] if i > 0 else -1
        after = lengths[i + 1] if i + 1 < len(lengths) else -1
        names[edges[i] : edges[i + 1]] = names[edges[i] - 1] if before >= after else names[edges[i + 1]]
