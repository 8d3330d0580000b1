"""Recognition of special motions: jumps, ducks, crawls and steps onto objects, which pass an obstacle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gaitway.capture.reading.smoothing import low_pass
from gaitway.capture.recognising.measures import GRAVITY, TakeMeasures
from gaitway.capture.recognising.phases import UPSIDE_DOWN, crawling, filled, handling, low_parts
from gaitway.capture.takes import RecognitionThresholds, SpecialKind, SpecialMotion
from gaitway.core.arrays import FloatArray
from gaitway.motion.contacts import stances

SPECIAL_KINDS: tuple[SpecialKind, ...] = ("jump", "duck", "crawl", "step")
_STANDING = 0.97
"""Height of pelvis and head of a standing character, as a share of their height in the T-pose."""
_SHORT_FLIGHT_S = 0.18
"""Least duration of the flight of a high jump [s]."""
_SHORT_DUCK_S = 0.2
"""Least duration of a duck [s]."""
_CLEAR_DUCK = 0.07
"""Distance of the head in a duck below the limit of a low head, as a share of standing."""
_STEADY = 0.4
"""Least ratio of the speeds at the begin and end of a duck; a character that brakes or starts to run bends, too."""
_LONG_DUCK_S = 1.5
"""Duration above which a low motion is a duck even if the speed changes [s]."""
_CLEARANCE = 0.06
"""Least height of both soles at the top of a jump [m]; a skipping character hardly leaves the ground."""
_LANDING_S = 0.25
"""Time around a jump in which a low body belongs to the jump and is no duck [s]."""
_WIGGLE = 0.015
"""Drop of the pelvis that does not end its rise after a dip, as a share of its height."""
_LEAD_S = 1.0
"""Longest run-up or recovery that belongs to a special motion [s]."""
_BUSY = 0.2
"""Least share of a low motion with both hands on an object; the person then handles the object and ducks nothing."""
_GAP_S = 0.3
"""Time for which the head may come up within a duck [s]."""


def find_specials(measures: TakeMeasures, limits: RecognitionThresholds) -> tuple[SpecialMotion, ...]:
    """Find the special motions of a take, in the order of their starts."""
    jumps = list(_jumps(measures, limits))
    lows = [low for low in _lows(measures, limits) if not _lands(low, jumps, measures.fps)]
    found = [*jumps, *lows, *_climbs(measures, limits)]
    return tuple(sorted(found, key=lambda special: (special.start, special.stop)))


def stated_special(measures: TakeMeasures, kind: str, start: int, stop: int) -> SpecialMotion:
    """Return a special motion that a label of the override file states, with its measured heights."""
    word: SpecialKind = next((k for k in SPECIAL_KINDS if k == kind), "jump")
    track = measures.mass[start:stop, 2] if word in ("jump", "step") else -measures.head[start:stop]
    top = start + int(np.argmax(track))
    low = word in ("duck", "crawl")
    height = float(measures.head[top]) * measures.stature.head if low else float(measures.soles[top].min())
    extreme = measures.pelvis[start:stop].min() if low else measures.pelvis[start:stop].max()
    flight = max((b - a for a, b in stances(measures.airborne[start:stop])), default=0) / measures.fps
    rise = float(extreme - _STANDING) * measures.stature.pelvis
    return _special(measures, word, start, stop, top, height, rise, flight if word == "jump" else 0.0)


def _jumps(m: TakeMeasures, limits: RecognitionThresholds) -> Iterator[SpecialMotion]:
    """Yield jumps: flights that are too long or too high for a running stride, with their take-off and landing."""
    for start, stop in stances(m.airborne):
        if start == 0 or stop == len(m):
            continue
        seconds = (stop - start) / m.fps
        top = start + int(np.argmax(m.mass[start:stop, 2]))
        rise = float(m.pelvis[start:stop].max() - _STANDING) * m.stature.pelvis
        high = rise > limits.jump_rise * m.stature.size and seconds >= _SHORT_FLIGHT_S
        clear = m.soles[top].min() > _CLEARANCE * m.stature.size
        if clear and (seconds > limits.jump_flight_s or high) and _falls_freely(m, start, stop):
            first, last = _until_level(m, start, -1), _until_level(m, stop - 1, 1) + 1
            yield _special(m, "jump", first, last, top, float(m.soles[top].min()), rise, seconds)


def _falls_freely(m: TakeMeasures, start: int, stop: int) -> bool:
    """Return whether the centre of mass falls at about g while no foot is down; a hanging body does not fall."""
    time = np.arange(stop - start) / m.fps
    if len(time) < 5:
        return True
    curve = np.polyfit(time, m.mass[start:stop, 2], 2)
    return bool(0.4 * GRAVITY < -2.0 * curve[0] < 1.8 * GRAVITY)


def _until_level(m: TakeMeasures, frame: int, step: int) -> int:
    """Return the frame at which the dip of the pelvis before (`step` -1) or after (1) a flight begins or ends.

    That is the next maximum of the pelvis height after the next minimum, or standing height, within `_LEAD_S`.
    """
    reach = int(_LEAD_S * m.fps)
    last = max(frame - reach, 0) if step < 0 else min(frame + reach, len(m) - 1)
    smooth = low_pass(m.pelvis, 0.04 * m.fps)
    track = smooth[last : frame + 1][::-1] if step < 0 else smooth[frame : last + 1]
    rising = np.diff(track) > 0.0
    bottom = int(np.argmax(rising)) if rising.any() else len(track) - 1
    top = bottom
    for k in range(bottom, len(track)):
        if track[top] > _STANDING - 0.03 or track[k] < track[top] - _WIGGLE:
            break
        top = k if track[k] > track[top] else top
    return frame + step * top


def _lows(m: TakeMeasures, limits: RecognitionThresholds) -> Iterator[SpecialMotion]:
    """Yield ducks and crawls: the head or the pelvis stays low while the body travels."""
    low_head, low_pelvis = low_parts(m, limits)
    crawls, hands = crawling(m, limits), handling(m)
    low = filled(low_head | low_pelvis | crawls, int(_GAP_S * m.fps))
    for start, stop in stances(low):
        if stop - start < _SHORT_DUCK_S * m.fps:
            continue
        bottom = start + int(np.argmin(m.head[start:stop]))
        way = float(np.linalg.norm(m.positions[stop - 1, 0, :2] - m.positions[start, 0, :2]))
        crawled = crawls[start:stop].sum() > 0.5 * m.fps and way > 0.4 * m.stature.size
        lead = int(_GAP_S * m.fps)
        busy = hands[max(start - lead, 0) : stop + lead].mean() > _BUSY  # picks up or puts down a box
        passes = way > 0.5 * m.stature.size and not busy and _passes(m, start, stop, limits)
        if crawled or passes:
            first, last = _risen(m.head, start, -1), _risen(m.head, stop - 1, 1) + 1
            rise = float(m.pelvis[start:stop].min() - _STANDING) * m.stature.pelvis
            height = float(m.head[bottom]) * m.stature.head
            yield _special(m, "crawl" if crawled else "duck", first, last, bottom, height, rise, 0.0)


def _lands(low: SpecialMotion, jumps: Sequence[SpecialMotion], fps: float) -> bool:
    """Return whether a low motion is only the take-off or the landing of a jump."""
    near = _LANDING_S * fps
    return low.kind == "duck" and any(j.start - near <= low.pass_frame < j.stop + near for j in jumps)


def _passes(m: TakeMeasures, start: int, stop: int, limits: RecognitionThresholds) -> bool:
    """Return whether a low character travels on, and does not stop, brake or start to run."""
    speed, track = m.speed[start:stop], m.head[start:stop]
    if track.min() > limits.low_head - _CLEAR_DUCK or m.tilt[start:stop].max() > UPSIDE_DOWN:
        return False
    brakes = min(speed[0], speed[-1]) < _STEADY * max(speed[0], speed[-1])
    if brakes and stop - start < _LONG_DUCK_S * m.fps:
        return False
    lowest = track < track.min() + 0.3 * (limits.low_head - min(track.min(), limits.low_head)) + 0.01
    return bool((speed[lowest] > limits.move_speed * m.stature.pace).mean() > 0.7)


def _risen(head: FloatArray, frame: int, step: int) -> int:
    """Return the frame, from `frame` on, at which the head is up again or stops rising."""
    while 0 <= frame + step < len(head) and head[frame] < _STANDING - 0.03 and head[frame + step] > head[frame] - 1e-3:
        frame += step
    return frame


def _climbs(m: TakeMeasures, limits: RecognitionThresholds) -> Iterator[SpecialMotion]:
    """Yield the frames in which a foot stands on an object above the floor."""
    height = limits.step_height * m.stature.size
    raised = np.asarray((m.down & (m.soles > height)).any(axis=1))
    for start, stop in stances(filled(raised, int(m.fps))):
        level = float(np.median(m.soles[start:stop][m.down[start:stop] & (m.soles[start:stop] > height)]))
        top = start + int(np.argmax(m.pelvis[start:stop]))
        rise = float(m.pelvis[top] - _STANDING) * m.stature.pelvis
        lead = int(0.5 * m.fps)
        yield _special(m, "step", max(start - lead, 0), min(stop + lead, len(m)), top, level, rise, 0.0)


def _special(
    m: TakeMeasures, kind: SpecialKind, start: int, stop: int, at: int, height: float, rise: float, flight_s: float
) -> SpecialMotion:
    way = m.positions[stop - 1, 0, :2] - m.positions[start, 0, :2]
    lowest = float(m.pelvis[start:stop].min())
    return SpecialMotion(
        start=start,
        stop=stop,
        kind=kind,
        pass_frame=at,
        height=height,
        rise=rise,
        lowest=lowest,
        flight_s=flight_s,
        distance=float(np.linalg.norm(way)),
    )
