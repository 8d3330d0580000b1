"""Benchmark of bodies along trajectories: ten thousand people, feet and poses, beside clips that are played."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gaitway.bench._timing import BenchRow, BenchTable, Timing, machine, measure
from gaitway.core.arrays import FloatArray
from gaitway.crowd.locomotion import BodyState, advance, animate, begin_bodies, locomotion_space, pose_bodies
from gaitway.crowd.trajectories import joined
from gaitway.take.model import Take

PEOPLE = 10_000
FRAME = 1.0 / 30.0
THREADS = 2
_SPEEDS = ((0.0, 0.10), (0.12, 0.15), (0.35, 0.20), (0.9, 0.25), (1.35, 0.30))
"""Speeds of the people [m/s], and how many have each."""


class _Walkers:
    """People who walk on arcs, each at a speed of its own."""

    def __init__(self, count: int) -> None:
        rng = np.random.default_rng(1)
        values, shares = zip(*_SPEEDS, strict=True)
        self.speed: FloatArray = rng.choice(values, count, p=shares)
        self.turn: FloatArray = rng.uniform(-0.3, 0.3, count)
        self.place: FloatArray = rng.uniform(0.0, 2.0 * np.sqrt(count), (count, 2))
        self.heading: FloatArray = rng.uniform(-np.pi, np.pi, count)
        self.close: FloatArray = rng.uniform(0.0, 1.0, count)
        self.state: BodyState = begin_bodies(
            locomotion_space("person"), self.place, self.heading, velocities=self._velocity()
        )

    def _velocity(self) -> FloatArray:
        return np.asarray(self.speed[:, None] * np.column_stack([np.cos(self.heading), np.sin(self.heading)]))

    def frame(self, threads: int) -> None:
        """Let everybody go on by a frame, feet and poses included."""
        self.heading += FRAME * self.turn
        self.place += FRAME * self._velocity()
        advance(self.state, self.place, self.heading, FRAME, close=self.close, threads=threads)
        pose_bodies(self.state, FRAME, threads=threads)


def bench_rows(count: int = PEOPLE, rounds: int = 7) -> tuple[BenchRow, ...]:
    """Return a frame of live bodies with one thread and with two, beside a frame of 30 Hz and beside played clips.

    Args:
        count: number of people.
        rounds: number of rounds of the measurement.
    """
    walkers, played = _Walkers(count), _played(count)
    times = measure(
        {
            "one": lambda: walkers.frame(1),
            "two": lambda: walkers.frame(THREADS),
            "clips": lambda: played.poses(2.0),
        },
        rounds,
    )
    budget = 1e3 * FRAME
    frame = Timing(budget, budget, budget)
    return (
        BenchRow(f"{count} bodies, {THREADS} threads", "a frame of 30 Hz", times["two"], frame, target=1.0),
        BenchRow(f"{count} bodies, one thread", "a frame of 30 Hz", times["one"], frame),
        BenchRow(f"{count} bodies, one thread", "the same poses, recorded and played", times["one"], times["clips"]),
    )


def _played(count: int) -> Take:
    """Return a take of bodies that were animated beforehand, which many people play."""
    path = np.column_stack([1.3 * np.arange(100) / 25.0, np.zeros(100)])
    one = animate(joined(25.0, ["walker"], [0], [path]))
    table = one.segments
    many = {name: np.repeat(getattr(table, name), count, axis=0) for name in table.__dataclass_fields__}
    return replace(
        one,
        names=tuple(f"walker-{i}" for i in range(count)),
        bodies=np.zeros(count, dtype=np.int64),
        segments=replace(table, **many),
        rows=np.arange(count + 1),
        ends=np.repeat(one.ends, count),
        goals=np.repeat(one.goals, count, axis=0),
        radii=np.repeat(one.radii, count),
    )


def run() -> BenchTable:
    """Measure a frame of live bodies."""
    title = f"bodies: {PEOPLE} people along trajectories, feet and poses; median, fastest and slowest of 7 rounds"
    return BenchTable(title, bench_rows(), machine())
