"""Tests of an hour: the studio with 200 characters and regular edits, and a hall in which people come and go.

Does it slow down, does its memory grow?
"""

from __future__ import annotations

import math
import mmap
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gaitway.audit.collisions import CollisionWatch
from gaitway.bench._timing import BenchRow, BenchTable, Timing, machine
from gaitway.core.arrays import FloatArray
from gaitway.live.errands import LiveErrands
from gaitway.scene.scene import Scene, scene_from_dict
from gaitway.studio import events
from gaitway.studio.engine import FPS
from gaitway.studio.session import StudioSession

PEOPLE, MINUTES = 200, 60.0
TARGET = 0.8
"""Least ratio of early to late time and memory: the end may take a quarter more than the second tenth."""
_EDIT_EVERY = 20.0
"""Time between edits [s]."""


@dataclass(frozen=True, eq=False)
class SoakRun:
    """Figures of T ticks."""

    people: int
    ticks: FloatArray
    """Time of each tick [ms]; (T,)."""
    megabytes: FloatArray
    """Memory of the process after each tick [MB]; (T,)."""
    collisions: int
    """Number of collisions that were seen."""

    def __str__(self) -> str:
        """Return one line of text."""
        seconds, late = 1e-3 * float(self.ticks.sum()), int((self.ticks > 1e3 / FPS).sum())
        minutes = len(self.ticks) / FPS / 60.0
        return (
            f"{self.people} people for {minutes:g} minutes, {60.0 * minutes / seconds:.1f} times as fast as in life: "
            f"{self.collisions} collisions, {late} of {len(self.ticks)} ticks late, "
            f"{self.megabytes[0]:.0f} MB at first, {self.megabytes[-1]:.0f} at last"
        )


def run(people: int = PEOPLE, minutes: float = MINUTES) -> BenchTable:
    """Run a session of the studio and a live hall, and compare the last tenth of each with its second."""
    rows = (*_rows(soak(people, minutes), "in the studio"), *_rows(come_and_go(minutes), "who come and go"))
    return BenchTable(f"soak: {minutes:g} minutes without a page, {FPS:g} ticks a second", rows, machine())


def _rows(done: SoakRun, where: str) -> tuple[BenchRow, BenchRow]:
    tenth = max(len(done.ticks) // 10, 1)
    early, late = done.ticks[tenth : 2 * tenth], done.ticks[-tenth:]
    handle = [float(part.mean()) for part in (done.megabytes[tenth : 2 * tenth], done.megabytes[-tenth:])]
    return (
        BenchRow(f"{where}: {done}; a tick, in the last tenth", "the second tenth", _timing(late), _timing(early),
                 TARGET),
        BenchRow(f"{where}: memory [MB], in the last tenth", "the second tenth",
                 Timing(handle[1], handle[1], done.megabytes[-1]), Timing(handle[0], handle[0], handle[0]), TARGET),
    )  # fmt: skip


def come_and_go(minutes: float, seed: int = 0) -> SoakRun:
    """Run a live hall into which people come, queue, sit, wait and leave.

    Args:
        minutes: length of the run in its own time [min].
        seed: seed of all that is drawn.
    """
    count = round(60.0 * minutes * FPS)
    times, megabytes, came, watch = np.empty(count), np.empty(count), set[str](), CollisionWatch()
    with LiveErrands(hall(), seed=seed) as run:
        for tick in range(count):
            began = time.perf_counter()
            run.step(1.0 / FPS)
            run.events()
            times[tick] = 1e3 * (time.perf_counter() - began)
            megabytes[tick] = _memory()
            came.update(run.crowd.names)
            watch.look(run.time, [run.crowd.joints()], run.crowd.names, run.scene.world)
    return SoakRun(len(came), times, megabytes, watch.count)


def hall() -> Scene:
    """Return a hall with two counters, a bench and two doors, into which about eight people a minute come."""
    doors = {"west": [0.3, 2, 1.2, 6], "east": [28.8, 2, 29.7, 6]}
    counters = {name: {"line": [[x, 18], [x, 10]], "service": [1, 3]} for name, x in (("tickets", 14), ("kiosk", 22))}
    errands = [
        {"choose": [[{"queue": "tickets"}], [{"queue": "kiosk"}], [{"sit": "bench", "seconds": [10, 20]}],
                    [{"go": "hall"}, {"wait": [3, 10]}]]},
        {"choose": [[{"leave": "west"}], [{"leave": "east"}]], "by": "distance"},
    ]  # fmt: skip
    sources = [
        {"name": name, "area": area, "rate": 4, "until": 86_400, "errands": errands}
        for name, area in (("from the west", [0.5, 8, 3, 14]), ("from the east", [27, 8, 29.5, 14]))
    ]
    boxes = [((14, 19), (4, 0.8), 1.1), ((22, 19), (4, 0.8), 1.1), ((7, 14.21), (4, 0.42), 0.45)]
    return scene_from_dict({
        "gaitway": 1, "bounds": [0, 0, 30, 20],
        "places": {"bench": {"seats": [[6, 14, -90], [8, 14, -90]]}, "hall": {"area": [4, 5, 26, 9]}, **counters,
                   **{name: {"area": area} for name, area in doors.items()}},
        "obstacles": [{"box": {"center": [*at], "size": [*size], "height": high}} for at, size, high in boxes],
        "sources": sources,
    })  # fmt: skip


def soak(people: int, minutes: float, seed: int = 0, told: Callable[[SoakRun], None] | None = None) -> SoakRun:
    """Run a session.

    Args:
        people: number of characters.
        minutes: length of the session in its own time [min].
        seed: seed of the edits.
        told: called with the figures so far after each of these minutes.
    """
    session, rng = StudioSession(place(people)), np.random.default_rng(seed)
    side = session.engine.scene.world.bounds[2]
    count, every = round(60.0 * minutes * FPS), round(_EDIT_EVERY * FPS)
    times, megabytes, collisions = np.empty(count), np.empty(count), 0
    for tick in range(count):
        if tick % every == every - 1:
            x, y = _empty_place(session, rng.uniform(0.1 * side, 0.9 * side, (400, 2)))
            session.post(events.MoveItem("obstacles/0", x, y, 0.0))
        began = time.perf_counter()
        session.tick()
        times[tick] = 1e3 * (time.perf_counter() - began)
        megabytes[tick] = _memory()
        collisions = max(collisions, session.engine.collisions)
        if told is not None and (tick + 1) % round(60.0 * FPS) == 0:
            told(SoakRun(people, times[: tick + 1], megabytes[: tick + 1], collisions))
    session.close()
    return SoakRun(people, times, megabytes, collisions)


def _empty_place(session: StudioSession, places: FloatArray) -> tuple[float, float]:
    """Return the place of some (N, 2) that is farthest from all characters, so that they have room to stop."""
    roots = np.concatenate([joints.positions[:, 0, :2] for joints in session.engine.frame().joints])
    away = np.hypot(*np.moveaxis(places[:, None] - roots, -1, 0)).min(axis=1)
    x, y = places[int(np.argmax(away))].tolist()
    return x, y


def place(people: int) -> Scene:
    """Return a square that a number of characters cross from side to side, with a box that is moved about."""
    side = math.ceil(math.sqrt(12.0 * people)) + 8
    groups = [
        {"count": people // 2, "name": "east", "start_area": [1, 1, 0.3 * side, side - 1],
         "goal_area": [0.7 * side, 1, side - 1, side - 1]},
        {"count": people - people // 2, "name": "west", "start_area": [0.7 * side, 1, side - 1, side - 1],
         "goal_area": [1, 1, 0.3 * side, side - 1]},
    ]  # fmt: skip
    middle = 0.5 * side
    box = {"box": {"center": [middle, middle], "size": [1.5, 1.5], "height": 2}}
    return scene_from_dict({"gaitway": 1, "bounds": [0, 0, side, side], "obstacles": [box], "characters": groups})


def _memory() -> float:
    """Return the memory of this process [MB]; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * mmap.PAGESIZE * 1e-6
    except OSError:
        return 0.0


def _timing(times: FloatArray) -> Timing:
    return Timing(float(np.median(times)), float(times.min()), float(times.max()))
