"""Episodes of places: spans of time in which nobody comes or goes, against a plain look at every tick."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel
from gaitway.space._safe_interval_kernels import PLACES, TICK, SafeIntervals, no_intervals, safe_interval
from gaitway.space._traffic_kernels import SLOT, TrafficArrays
from gaitway.space.traffic import Traffic

BODY = 0.3
SIDE = 8.0


@kernel
def numbered(traffic: TrafficArrays, intervals: SafeIntervals, queries: FloatArray, out: FloatArray) -> None:
    """Number and finality of the episode of each query (x, y, t)."""
    for k in range(len(queries)):
        number, final = safe_interval(traffic, intervals, queries[k, 0], queries[k, 1], queries[k, 2])
        out[k, 0], out[k, 1] = number, final


def memory(last: int, rows: int) -> SafeIntervals:
    places = int(SIDE * PLACES)
    return no_intervals()._replace(
        rows=np.full((places, places), -1, np.int32), numbers=np.empty((rows, last // TICK + 2), np.uint8)
    )


def crossed(rng: np.random.Generator) -> tuple[Traffic, list[tuple[float, float, float, int, int]]]:
    """People who stand about for a while, and one for ever."""
    traffic, kept = Traffic(), []
    for owner in range(25):
        traffic.enroll(str(owner))
        (x, y), r = rng.uniform(0.5, SIDE - 0.5, 2), float(rng.uniform(0.1, 0.6))
        first, slots = int(rng.integers(0, 150)), int(rng.integers(1, 60))
        end = 2**31 - 1 if owner == 0 else first + slots
        traffic.add_standing(owner, [[x, y, r]], first * SLOT, np.inf if owner == 0 else end * SLOT)
        kept.append((x, y, r, first, end))
    return traffic, kept


@pytest.mark.parametrize("seed", range(4))
def test_episodes_change_when_somebody_comes_or_has_gone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    traffic, kept = crossed(rng)
    arrays = traffic.arrays
    ticks = arrays.last // TICK + 2
    places = (rng.integers(0, int(SIDE * PLACES), (60, 2)) + 0.5) / PLACES
    queries = np.array([(x, y, (tick + 0.5) * TICK * SLOT) for x, y in places for tick in range(ticks)])
    out = np.empty((len(queries), 2))
    numbered(arrays, memory(arrays.last, 1000), queries, out)
    seen = out.reshape(len(places), ticks, 2)
    changes = 0
    for (x, y), found in zip(places, seen, strict=True):
        taken = np.zeros(ticks, dtype=bool)
        for u, v, r, first, end in kept:
            if (u - x) ** 2 + (v - y) ** 2 < (r + BODY) ** 2:
                taken[first // TICK : (min(end, TICK * ticks) - 1) // TICK + 1] = True
        expected = np.cumsum(np.diff(taken.astype(int), prepend=0) != 0)
        assert np.array_equal(found[:, 0], expected)
        assert np.array_equal(found[:, 1] == 1.0, expected == expected[-1])
        changes += int(expected[-1])
    assert changes > 20


def test_without_room_moments_are_told_apart() -> None:
    traffic, _ = crossed(np.random.default_rng(1))
    arrays = traffic.arrays
    times = np.arange(0.05, 10.0, TICK * SLOT)
    queries = np.column_stack([np.full((len(times), 2), 2.0), times])
    out = np.empty((len(queries), 2))
    numbered(arrays, memory(arrays.last, 0), queries, out)
    assert np.array_equal(out[:, 0], np.arange(len(times)))
    assert not out[:, 1].any()


def test_a_place_outside_is_no_place() -> None:
    traffic, _ = crossed(np.random.default_rng(2))
    out = np.empty((1, 2))
    numbered(traffic.arrays, memory(traffic.arrays.last, 10), np.array([[-3.0, 2.0, 1.3]]), out)
    assert out[0].tolist() == [3.0, 0.0]
