"""How somebody moves, stretch by stretch: standing, walking, running, backward, sideways, turning, or none of these."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.arrays import BoolArray, FloatArray
from gaitway.graphs.intake.measures import Measures
from gaitway.graphs.intake.smoothing import low_pass
from gaitway.graphs.intake.takes import Phase, PhaseKind, Thresholds
from gaitway.motion.contacts import stances

KINDS: tuple[PhaseKind, ...] = ("stand", "walk", "jog", "run", "back", "side", "turn", "crawl", "other")
_AHEAD, _BACK = np.radians(50.0), np.radians(130.0)
"""Going within the first angle of the facing is forward, beyond the second backward, between them sideways."""
_FLIGHT_WINDOW_S = 0.4
"""A gait counts as running this long around each flight [s]."""
_TURN_S = 0.4
"""Turning on the spot goes in steps; the rate is judged over about this time [s]."""
_CRAWL_SPEED = 0.06
"""Crawls are slow [m/s]."""


def find_phases(measures: Measures, limits: Thresholds) -> tuple[Phase, ...]:
    """The phases of a take, from its first frame to its last."""
    names = _settled(_kinds(measures, limits), max(int(limits.shortest_phase_s * measures.fps), 1))
    edges = [0, *(np.flatnonzero(names[1:] != names[:-1]) + 1).tolist(), len(names)]
    return tuple(make_phase(measures, start, stop, str(names[start])) for start, stop in pairwise(edges))


def make_phase(measures: Measures, start: int, stop: int, name: str) -> Phase:
    """A phase by the name of its kind, such as "walk" or "other:bend"."""
    word, _, detail = name.partition(":")
    kind: PhaseKind = next((k for k in KINDS if k == word), "other")
    turn = float(measures.heading[stop - 1] - measures.heading[start])
    return Phase(start, stop, kind, float(measures.speed[start:stop].mean()), turn, detail)


def _kinds(m: Measures, limits: Thresholds) -> np.ndarray:
    """A word for every frame, such as "walk" or "other:bend"; (F,)."""
    pace, speed = m.stature.pace, m.speed
    moving = _hysteresis(speed, limits.stand_speed * pace, limits.move_speed * pace)
    direction = np.abs(np.arctan2(m.aside, m.ahead))
    low_head, low_pelvis = m.head < limits.low_head, m.pelvis < limits.low_pelvis
    flat = (m.head < limits.crawl_head) & (m.pelvis < limits.low_pelvis)
    turning = np.abs(low_pass(m.turning, 0.5 * _TURN_S * m.fps)) > limits.turn_rate
    conditions: list[tuple[BoolArray, str]] = [
        (flat & (speed > _CRAWL_SPEED * pace), "crawl"),
        (flat, "other:lie"),
        ((low_head | low_pelvis) & moving, "other:low walk"),
        (low_pelvis, "other:crouch"),
        (low_head, "other:bend"),
        (~moving & turning, "turn"),
        (~moving, "stand"),
        (direction > _BACK, "back"),
        (direction > _AHEAD, "side"),
        (~_in_flight_gait(m) & (speed < limits.walk_speed * pace), "walk"),
        (speed < limits.run_speed * pace, "jog"),
    ]
    return np.select([c for c, _ in conditions], [word for _, word in conditions], "run")


def _hysteresis(values: FloatArray, low: float, high: float) -> BoolArray:
    """True above `high`, false below `low`, in between as in the nearest frame that is clear; (F,)."""
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


def _in_flight_gait(m: Measures) -> BoolArray:
    """Frames around a time in the air; (F,)."""
    flights = np.zeros(len(m), dtype=bool)
    for start, stop in stances(m.airborne):
        if stop - start >= 2:
            flights[start:stop] = True
    window = max(int(2 * _FLIGHT_WINDOW_S * m.fps) | 1, 1)
    around: BoolArray = scipy.ndimage.maximum_filter1d(flights.astype(np.int8), window) > 0
    return around


def _settled(names: np.ndarray, shortest: int) -> np.ndarray:
    """Names in which no stretch is shorter than `shortest` frames: the shortest joins its longer neighbour first."""
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
