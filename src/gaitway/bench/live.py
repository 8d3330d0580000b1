"""Benchmark of live crowds at 30 Hz, from the thesis's 150 on: planning, playing and all joints in every frame."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.behavior.planner import prepared_search
from gaitway.behavior.search import search
from gaitway.bench._live_scenes import Errands, prepared_person, square
from gaitway.bench._timing import BenchRow, BenchTable, Timing, machine
from gaitway.core.arrays import FloatArray
from gaitway.live.engine import LiveEngine
from gaitway.live.planning.forest import live_forest
from gaitway.live.playing.check import overlaps
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.query import Query
from gaitway.space.traffic import Traffic, placed_discs

NUMBERS = (150, 1_000, 5_000, 10_000, 20_000)
FRAME = 1.0 / 30.0
"""Time of a frame [s]."""
WARM_UP, FRAMES = 600, 240
"""Number of frames before the measurement, until all characters are under way, and during it."""
_QUERIES = 40
"""Number of plans of the A* search that are timed."""
_AROUND = 16.0
"""Characters within this distance are given to the A* search [m]."""
_PEER = "A* (weight 2) for each plan, same others"


@dataclass(frozen=True, eq=False)
class LiveRun:
    """Figures of a run; times are those of F frames [ms]."""

    characters: int
    frames: FloatArray
    """Time of whole frames by the clock: playing, and poses beside planning; (F,)."""
    planning: FloatArray
    """Processor time of planning; (F,)."""
    poses: FloatArray
    """Processor time of all joints of all characters; (F,)."""
    plans: float
    """Number of plans per second of the crowd's time."""
    failures: float
    """Number of turns without a plan per second."""
    arrivals: float
    """Number of arrivals per minute and thousand characters."""
    overlaps: int
    """Number of discs that overlapped, over all frames."""
    serial: float
    """Share of the processor time of planning that is not shared among threads."""
    speed_up: float
    """How much sooner two threads are done with planning than one, by processor time."""
    megabytes: float
    """Memory of plans, frames and routes, the world and the trees aside [MB]."""

    def __str__(self) -> str:
        """Return one line of text."""
        late = float((self.frames > 1e3 * FRAME).mean())
        return (
            f"{self.characters} characters: p99 {np.percentile(self.frames, 99):.1f} ms, {late:.0%} of frames late; "
            f"{self.plans:.0f} plans/s, {self.failures:.0f} failures/s, {self.arrivals:.0f} arrivals/min/1000; "
            f"{self.overlaps} overlaps; planning {self.serial:.1%} serial, {self.speed_up:.2f} times as fast on two "
            f"threads; {self.megabytes:.0f} MB"
        )


def run(numbers: Sequence[int] = NUMBERS, frames: int = FRAMES) -> BenchTable:
    """Measure crowds on errands, and compare with an A* search for each plan."""
    rows = []
    for number in numbers:
        result, each = live_run(prepared_person(square(number)), number, frames)
        turns = (result.plans + result.failures) * FRAME
        peer = Timing(*(turns * ms for ms in (each.median, each.low, each.high)))
        rows.append(BenchRow(str(result), "", _timing(result.frames), None))
        rows.append(BenchRow("  of which planning (processor)", _PEER, _timing(result.planning), peer))
        rows.append(BenchRow("  of which all joints (processor)", "", _timing(result.poses), None))
    title = (
        f"live: full-body characters for {frames} frames, 33.3 ms a frame hold 30 Hz; planning runs beside poses on "
        "another core; median, fastest and slowest frame"
    )
    return BenchTable(title, tuple(rows), machine())


def live_run(prepared: PreparedLibrary, characters: int, frames: int = FRAMES) -> tuple[LiveRun, Timing]:
    """Play a crowd and check it in every frame; return its figures, and the time of an A* plan in it [ms]."""
    errands = Errands(prepared, live_forest(prepared.table), characters)
    crowd = errands.crowd
    for _ in range(WARM_UP):
        errands.step(FRAME)
    before, met = crowd.counts, 0
    times = np.empty((frames, 4))
    for row in times:
        began = time.perf_counter()
        errands.step(FRAME)
        joints = crowd.joints()
        crowd.settle()
        row[0] = 1e3 * (time.perf_counter() - began)
        counts = crowd.counts
        row[1:] = counts.planning_cpu_ms, counts.evaluation_cpu_ms, counts.planning_serial_ms
        met += len(overlaps(joints.positions[:, 0], crowd.options.radius))
    after, seconds = crowd.counts, frames * FRAME
    each = a_star(crowd)
    crowd.close()
    arrivals = after.arrivals - before.arrivals
    result = LiveRun(
        characters=len(crowd),
        frames=times[:, 0],
        planning=times[:, 1],
        poses=times[:, 2],
        plans=(after.plans - before.plans) / seconds,
        failures=(after.failures - before.failures) / seconds,
        arrivals=6e4 * arrivals / seconds / len(crowd),
        overlaps=met,
        serial=float(np.median(times[:, 3] / times[:, 1])),
        speed_up=float(np.median(times[:, 1] / (times[:, 3] + 0.5 * (times[:, 1] - times[:, 3])))),
        megabytes=1e-6 * crowd.nbytes,
    )
    return result, each


def a_star(crowd: LiveEngine, seed: int = 0) -> Timing:
    """Measure the processor time of A* plans to where live characters will rest, among all others around them [ms].

    The time to give the others to the search is not counted.
    """
    prepared, rng, spent = crowd.prepared, np.random.default_rng(seed), []
    places = crowd.poses().root_positions[:, :2]
    plans = {who: crowd.plan(who) for who in crowd.characters.tolist()}
    who_is = crowd.characters
    for row in rng.permutation(len(who_is))[:_QUERIES].tolist():
        plan = plans[int(who_is[row])]
        if len(plan.steps) < 4:
            continue
        traffic = Traffic(prepared.fields.kinds)
        for other in np.flatnonzero(np.hypot(*(places - places[row]).T) < _AROUND).tolist():
            if other != row:
                theirs = plans[int(who_is[other])]
                number = traffic.enroll(str(other))
                traffic.add_plan(number, theirs, prepared.table, prepared.discs)
                stands = placed_discs(theirs.end_pose, prepared.standing_discs(theirs.behaviors[-1]))
                traffic.add_standing(number, stands, theirs.end_time)
        first = plan.steps[1]
        query = Query(first.pose, plan.end_pose[:2], tolerance=crowd.options.reach, weight=2.0, start_time=first.time,
                      start_behavior=plan.steps[0].behavior, max_seconds=1.0)  # fmt: skip
        search(prepared_search(prepared).searcher, prepared.fields, query, traffic, explain=False)
        began = time.thread_time()
        search(prepared_search(prepared).searcher, prepared.fields, query, traffic, explain=False)
        spent.append(1e3 * (time.thread_time() - began))
    return _timing(np.array(spent))


def _timing(times: FloatArray) -> Timing:
    return Timing(float(np.median(times)), float(times.min()), float(times.max()))
