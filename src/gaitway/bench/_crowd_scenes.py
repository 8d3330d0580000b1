"""Throngs that a crowd must get through, and what came of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.crowd.dynamics.options import CrowdOptions
from gaitway.crowd.dynamics.simulation import CrowdSimulation
from gaitway.crowd.dynamics.walls import Walls
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World

CLOSE, DEEP = 0.01, 0.05
"""Overlaps that are counted, and that must not be [m]."""


@dataclass(frozen=True)
class ThrongResult:
    """What came of a throng."""

    people: int
    arrived: int
    most: float
    """Time after which 95 of 100 people had arrived [s]; infinity if they did not."""
    last: float
    """Time of the last arrival or of the end [s]."""
    flow: float
    """People in a second, between the first fifth and the last fifth of the arrivals."""
    close: float
    """Share of people and steps with an overlap of more than 1 cm."""
    deepest: float
    """Deepest overlap [m]."""
    least_gap: float
    """Least distance of a body from a wall [m]; negative inside of it."""
    wall_time: float
    """Time that it took to compute, without these checks [s]."""

    @property
    def text(self) -> str:
        """What came of it, in words."""
        most = "-" if np.isinf(self.most) else f"{self.most:.0f} s"
        return (
            f"{self.arrived} of {self.people}, 95 % in {most}, {self.flow:.2f}/s, "
            f"{100.0 * self.close:.2f} % over 1 cm, deepest {100.0 * self.deepest:.1f} cm"
        )


def corridor(options: CrowdOptions, seed: int = 0, people: int = 100, width: float = 4.0) -> CrowdSimulation:
    """Two streams against one another in a corridor of 40 m."""
    length, abreast = 40.0, int(width / 0.7)
    crowd = CrowdSimulation(Walls.of_segments([], (0.0, 0.0, length, width)), options, seed)
    rng, k = np.random.default_rng(seed), np.arange(people)
    for side in (-1.0, 1.0):
        x = 0.5 * length + side * (5.0 + 0.8 * (k // abreast)) + rng.uniform(-0.1, 0.1, people)
        y = 0.35 + (k % abreast) * (width - 0.7) / max(abreast - 1, 1) + rng.uniform(-0.05, 0.05, people)
        goal = (length - 1.5, 0.0, length, width) if side < 0.0 else (0.0, 0.0, 1.5, width)
        crowd.add(np.column_stack([x, y]), goal)
    return crowd


def opening(options: CrowdOptions, seed: int = 0, people: int = 250, gap: float = 6.0) -> CrowdSimulation:
    """Two crowds that change places through one opening between two halls, each to a goal of its own."""
    side, half = (20.0, 10.0) if people > 100 else (12.0, 10.0)
    walls = Walls.of_segments(
        [[side, 0.0, side, half - 0.5 * gap], [side, half + 0.5 * gap, side, 2.0 * half]],
        (0.0, 0.0, 2.0 * side, 2.0 * half),
    )
    crowd = CrowdSimulation(walls, options, seed)
    rng, rows = np.random.default_rng(seed), int(np.ceil(np.sqrt(people)))
    k = np.arange(people)
    spots = np.column_stack([1.0 + k // rows, 1.0 + (k % rows) * (2.0 * half - 2.0) / (rows - 1)])
    spots = spots + rng.uniform(-0.15, 0.15, spots.shape)
    goals = spots[rng.permutation(people)]
    across = (2.0 * side, 0.0) + spots * (-1.0, 1.0)
    crowd.add(spots, (2.0 * side, 0.0) + goals * (-1.0, 1.0), reach=0.8)
    crowd.add(across, goals, reach=0.8)
    return crowd


def gates(options: CrowdOptions, seed: int = 0) -> CrowdSimulation:
    """Six gates of 0.7 m in two walls, 22 people one way and 18 the other."""
    edges = [0.0, *(edge for y in (3.0, 8.0, 13.0) for edge in (y - 0.35, y + 0.35)), 16.0]
    segments = [[x, edges[k], x, edges[k + 1]] for x in (10.0, 18.0) for k in range(0, len(edges), 2)]
    crowd = CrowdSimulation(Walls.of_segments(segments, (0.0, 0.0, 28.0, 16.0)), options, seed)
    rng = np.random.default_rng(seed)
    for count, start, goal in ((22, 2.0, 22.0), (18, 22.0, 2.0)):
        k = np.arange(count)
        spots = np.column_stack([start + k % 4, 1.0 + 2.2 * (k // 4)]) + rng.uniform(-0.2, 0.2, (count, 2))
        crowd.add(spots, np.column_stack([goal + rng.uniform(0.0, 4.0, count), rng.uniform(1.0, 15.0, count)]))
    return crowd


def door(options: CrowdOptions, seed: int = 0, people: int = 200, width: float = 1.0) -> CrowdSimulation:
    """People who leave a room by a door."""
    walls = Walls.of_segments(
        [[12.0, 0.0, 12.0, 6.0 - 0.5 * width], [12.0, 6.0 + 0.5 * width, 12.0, 12.0]], (0.0, 0.0, 20.0, 12.0)
    )
    crowd = CrowdSimulation(walls, options, seed)
    rng, k = np.random.default_rng(seed), np.arange(people)
    spots = np.column_stack([11.0 - 0.75 * (k // 14), 0.8 + (k % 14) * 0.8]) + rng.uniform(-0.08, 0.08, (people, 2))
    crowd.add(spots, (17.0, 0.0, 20.0, 12.0))
    return crowd


THRONGS: dict[str, tuple[Callable[..., CrowdSimulation], float]] = {
    "corridor 4 m, 100 + 100": (corridor, 180.0),
    "opening 6 m, 250 + 250": (opening, 120.0),
    "gates 0.7 m, 22 + 18": (gates, 180.0),
    "door 1 m, 200": (door, 240.0),
}
"""Throngs and the time that they have [s]."""


def run_throng(crowd: CrowdSimulation, seconds: float, check_every: int = 5) -> ThrongResult:
    """Let a throng walk until everybody has arrived or a time is over [s]; overlaps are counted in some steps."""
    dt, arrivals, took, close, seen, deepest, least = 0.05, [], 0.0, 0, 0, 0.0, np.inf
    while crowd.time < seconds - 1e-6 and not crowd.arrived.all():
        began = time.perf_counter()
        crowd.step(dt)
        took += time.perf_counter() - began
        arrivals.append(int(crowd.arrived.sum()))
        present = crowd.present
        if len(arrivals) % check_every == 0 and present.any():
            depths = crowd.overlaps()
            close, seen = close + int((depths > CLOSE).sum()), seen + int(present.sum())
            deepest = max(deepest, float(depths.max()))
            least = min(least, float(crowd.wall_gaps()[present].min()))
    counts, people = np.array(arrivals), len(crowd)
    most = dt * (1 + int(np.argmax(counts >= 0.95 * people))) if (counts >= 0.95 * people).any() else np.inf
    first, last = (int(np.argmax(counts >= share * people)) for share in (0.2, 0.8))
    flow = 0.6 * people / (dt * (last - first)) if last > first else np.nan
    return ThrongResult(
        people, int(crowd.arrived.sum()), most, crowd.time, flow, close / max(seen, 1), deepest, least, took
    )


@dataclass(frozen=True)
class Square:
    """A square with pillars, and two flows against one another in it."""

    side: float
    pillars: tuple[tuple[float, float, float, float], ...]
    """xmin, ymin, xmax, ymax of each [m]."""
    spots: FloatArray
    """Starts [m]; (N, 2); the first half goes to the right."""

    def crowd(self, options: CrowdOptions) -> CrowdSimulation:
        """Return the crowd of it."""
        boxes = tuple(
            Obstacle(Box((0.5 * (x0 + x1), 0.5 * (y0 + y1)), (x1 - x0, y1 - y0), 2.0))
            for x0, y0, x1, y1 in self.pillars
        )
        crowd, half = CrowdSimulation(World((0.0, 0.0, self.side, self.side), boxes), options), len(self.spots) // 2
        crowd.add(self.spots[:half], (self.side - 2.0, 0.0, self.side, self.side))
        crowd.add(self.spots[half:], (0.0, 0.0, 2.0, self.side))
        return crowd


def square(people: int, density: float = 0.5, seed: int = 0) -> Square:
    """Return a square of a density [1/m^2] with pillars of 2 m every 10 m."""
    side = float(np.ceil(np.sqrt(people / density) / 10.0) * 10.0)
    middles = np.arange(5.0, side, 10.0).tolist()
    pillars = tuple((x - 1.0, y - 1.0, x + 1.0, y + 1.0) for x in middles for y in middles)
    count = int(np.ceil(np.sqrt(1.35 * people)))
    x, y = (a.ravel() for a in np.meshgrid(*2 * (np.linspace(0.6, side - 0.6, count),)))
    aside = np.maximum(abs((x - 5.0 + 5.0) % 10.0 - 5.0), abs((y - 5.0 + 5.0) % 10.0 - 5.0))
    free = np.flatnonzero(aside > 1.5)
    chosen = np.random.default_rng(seed).permutation(free)[:people]
    return Square(side, pillars, np.column_stack([x, y])[chosen])
