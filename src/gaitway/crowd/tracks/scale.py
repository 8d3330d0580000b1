"""Units and rates of trajectory tables: as the file tells them, else as people walk.

A person walks at 0.5 to 2 m/s. Lengths in metres, centimetres and millimetres differ by factors of ten and a hundred,
so that the steps from row to row tell the unit. They do not tell the rate as surely. One that is nowhere written is
assumed, and said.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import FormatError
from gaitway.crowd.tracks.columns import METERS
from gaitway.crowd.tracks.table import TrackTable

USUAL_FPS = 25.0
"""Rate of Juelich's archive and of most trackers [Hz], assumed where none is told."""
_RATES = (25.0, 30.0, 50.0, 60.0, 16.0, 20.0, 12.5, 10.0, 100.0, 120.0, 5.0, 2.5, 1.0)
"""Rates that are tried where people would not walk at the usual one [Hz], the commonest first."""
WALK = 1.3
"""Speed at which people walk freely [m/s]."""
_WALKING = (0.3, 2.0)
"""Speeds of people on foot, in crowds too [m/s]."""
_FREE = (0.9, 1.7)
"""Speeds of people with room before them [m/s]."""
_DOUBT = (0.15, 3.5)
"""Typical speeds below and above which unit or rate are doubted [m/s]."""
_NOBODY = 10.0
"""Typical speed that no people have [m/s]."""
_WINDOW = 12
"""Rows over which a speed is measured: about half a second, more than a step's sway."""
_SAMPLED = 400
"""People of whom speeds are measured."""
_NICE = (1.0, 2.0, 2.5, 4.0, 5.0, 6.25, 8.0, 10.0, 12.0, 12.5, 15.0, 16.0, 20.0, 24.0, 25.0, 30.0, 48.0, 50.0, 60.0,
         100.0, 120.0)  # fmt: skip


@dataclass(frozen=True, eq=False)
class TrackScale:
    """Metres and frames of a table."""

    unit: str
    unit_by: str
    """How the unit is known, in words."""
    fps: float
    fps_by: str
    clock: FloatArray
    """Moment of each row in frames, not necessarily whole; (N,)."""
    speed: float
    """Typical speed of people [m/s]; 0 if nobody moves."""
    doubts: tuple[str, ...]

    @property
    def meters(self) -> float:
        """Length of the unit [m]."""
        return METERS[self.unit]


def settle_scale(table: TrackTable, unit: str | None = None, fps: float | None = None) -> TrackScale:
    """Return unit, rate and moments of a table whose rows are ordered by person and moment.

    Args:
        table: rows in the units of the file.
        unit: the unit if it is known better: m, cm or mm.
        fps: the rate if it is known better [Hz].

    Raises:
        FormatError: if people would be faster than people are, and not both unit and rate were given.
    """
    moments, told, told_by = _moments(table)
    step = typical_step(table, moments)
    rate, rate_by = (fps, "as asked") if fps is not None else (told, told_by)
    chosen, chosen_by = (unit, "as asked") if unit is not None else (table.unit, table.unit_by)
    doubts = list[str]()
    if fps is not None and told is not None and abs(told / fps - 1.0) > 0.01:
        doubts.append(f"the file tells {told:.4g} Hz ({told_by}), and {fps:.4g} Hz were asked for, which counts")
    guessed = chosen is None
    if chosen is None:
        chosen = _unit_of_step(step, rate)
    if rate is None:
        rate, rate_by = _rate_of_step(step * METERS[chosen])
    speed = step * METERS[chosen] * rate
    if guessed:
        chosen_by = f"by the speed of people, {speed:.2f} m/s" if speed > 0.0 else "assumed, for nobody moves"
    how = f"{chosen} ({chosen_by}) and {rate:.4g} Hz ({rate_by})"
    if speed > _NOBODY and (unit is None or fps is None):
        raise FormatError(
            table.path, f"in {how} people would go at {speed:.3g} m/s; tell the unit or the rate: --unit cm, --fps 25"
        )
    if speed > _DOUBT[1] or 0.0 < speed < _DOUBT[0]:
        doubts.append(
            f"in {how} people go at {speed:.2g} m/s, where people walk at 0.5 to 2 m/s; if that is wrong, tell the "
            "unit or the rate: --unit, --fps"
        )
    return TrackScale(chosen, chosen_by, rate, rate_by, moments, speed, tuple(doubts))


def _moments(table: TrackTable) -> tuple[FloatArray, float | None, str]:
    """Return the moment of each row in frames, the rate if it is told [Hz], and how."""
    frame, time = table.frame, table.time
    if frame is not None and np.abs(frame - np.rint(frame)).max(initial=0.0) > 1e-3:
        frame, time = None, frame if time is None else time  # times under the name of frames
    if frame is not None:
        frame = np.rint(frame)
        if table.fps is not None or time is None:
            return frame, table.fps, table.fps_by
        rate = _slope(table, frame, time)
        return frame, rate, "its times"
    time = table.clock if time is None else time
    step = _time_step(table, time)
    if step is None:
        return time * (table.fps or USUAL_FPS), table.fps, table.fps_by
    second = 1.0 if table.time_known or step < 2.0 else 1e-3 if step < 2e3 else 1e-6 if step < 2e6 else 1e-9
    rate = _nice(1.0 / (step * second))
    first = time.min(initial=np.inf)
    units = "" if second == 1.0 else f", in units of {second:g} s"
    return (time - first) * second * rate, rate, f"its times{units}"


def _slope(table: TrackTable, frame: FloatArray, time: FloatArray) -> float | None:
    """Return frames by seconds, from rows of the same person; None if the times do not tell it."""
    same = (np.diff(table.person) == 0) & (np.diff(frame) > 0) & (np.diff(time) > 0)
    if not same.any():
        return None
    rate = float(np.median(np.diff(frame)[same] / np.diff(time)[same]))
    if not table.time_known and rate < 0.5:  # milliseconds
        rate *= 1000.0
    return _nice(rate)


def _time_step(table: TrackTable, time: FloatArray) -> float | None:
    """Return the usual time from a row of a person to the next, in the unit of the file; None if there is none."""
    steps = np.diff(time)[(np.diff(table.person) == 0) & (np.diff(time) > 0)]
    if not steps.size:
        return None
    step = float(np.median(steps))
    near = steps[np.abs(steps / step - 1.0) < 0.2]  # times with few decimals take turns: 0.03, 0.04
    return float(near.mean()) if near.size else step


def _nice(rate: float) -> float:
    """Return a usual rate for one that is nearly that [Hz]: times in files are rounded."""
    for usual in _NICE:
        if abs(rate / usual - 1.0) < 0.005:
            return usual
    return rate


def typical_step(table: TrackTable, moments: FloatArray) -> float:
    """Return how far people typically go from frame to frame while they walk, in the unit of the file.

    It is the median over people of the 80th percentile of each, measured over a dozen rows; 0 if nobody moves.
    """
    bounds = np.flatnonzero(np.diff(table.person)) + 1
    firsts, lasts = np.concatenate([[0], bounds]), np.concatenate([bounds, [len(table)]])
    chosen = np.unique(np.linspace(0, len(firsts) - 1, min(len(firsts), _SAMPLED)).astype(np.int64))
    found = list[float]()
    for first, last in zip(firsts[chosen], lasts[chosen], strict=True):
        apart = min(_WINDOW, last - first - 1)
        if apart < 1:
            continue
        path, clock = table.positions[first:last], moments[first:last]
        gone = np.linalg.norm(path[apart:] - path[:-apart], axis=1)
        took = clock[apart:] - clock[:-apart]
        if (took > 0).any():
            found.append(float(np.quantile(gone[took > 0] / took[took > 0], 0.8)))
    return float(np.median(found)) if found else 0.0


def _unit_of_step(step: float, rate: float | None) -> str:
    """Return the unit in which people walk, given how far they go in a frame."""
    if step <= 0.0:
        return "m"
    return min(METERS, key=lambda unit: abs(np.log(step * METERS[unit] * (rate or USUAL_FPS) / WALK)))


def _rate_of_step(step: float) -> tuple[float, str]:
    """Return the rate that is assumed where none is told [Hz], given how far people go in a frame [m]."""
    if step <= 0.0 or _WALKING[0] <= step * USUAL_FPS <= _WALKING[1]:
        said = f"assumed: people walk at {step * USUAL_FPS:.2f} m/s then" if step > 0.0 else "assumed"
        return USUAL_FPS, said
    usual = next((fps for fps in _RATES if _FREE[0] <= step * fps <= _FREE[1]), None)
    best = usual or min(_RATES, key=lambda fps: abs(np.log(step * fps / WALK)))
    return best, f"assumed: people walk at {step * best:.2f} m/s then, and at {step * USUAL_FPS:.2g} m/s at 25 Hz"
