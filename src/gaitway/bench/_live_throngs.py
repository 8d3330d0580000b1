"""Throngs of whole bodies that live crowds must get through, for `gaitway bench crowd` and slow tests."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gaitway.audit.auditing import audit_take
from gaitway.core.arrays import FloatArray
from gaitway.library.behavior import Library
from gaitway.live.crowd import LiveCrowd
from gaitway.live.options import LiveOptions
from gaitway.planning import plan_scene
from gaitway.scene.scene import scene_from_dict
from gaitway.take.model import Take
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World

FRAME = 1.0 / 30.0
_SPACING = 0.95
"""Distance between people who wait at first [m]."""
_SLEEVES = 0.02
"""Depth of touches that are counted apart: what sleeves may touch by where people are packed [m]."""


class LiveThrong(NamedTuple):
    """A place, and people who want to get through it both ways."""

    world: World
    starts: FloatArray
    """x, y [m], heading [rad]; (N, 3)."""
    goals: FloatArray
    """x, y [m]; (N, 2)."""
    seconds: float
    """Time in which enough of them are to arrive [s]."""
    share: float
    """Share of them that is enough."""
    line: float = 0.0
    """x of the line that everybody has to cross [m]."""


class ThrongResult(NamedTuple):
    """How a throng got through."""

    people: int
    arrived: int
    seconds: float
    """Time at which enough had arrived, or at which the run was ended [s]."""
    processor_ms: float
    """Mean time of the processor for a frame, joints included [ms]; of the whole plan for one that is planned."""
    most: int
    """Most people who were in the dynamics at a time."""
    flow: float
    """People who crossed the line in a second, between the first and the last fifth of them; NaN if fewer did."""
    touches: tuple[float, ...] = ()
    """Depths of bodies in one another beyond the bar of the audit, the deepest first [m]."""
    walls: tuple[float, ...] = ()
    """Depths of bodies in walls, the same [m]."""
    audited: bool = False
    """Whether whole bodies were compared."""
    stuck: tuple[str, ...] = ()
    """Who does not get on in the end, and why: a line each."""

    @property
    def text(self) -> str:
        """Return it in words."""
        out = f"{self.arrived} of {self.people} in {self.seconds:.0f} s"
        if np.isfinite(self.flow):
            out += f", {self.flow:.2f}/s"
        if self.audited:
            deep = sum(depth > _SLEEVES for depth in self.touches)
            out += f", {len(self.touches)} touches over 1 cm, {deep} over 2 cm, {len(self.walls)} in walls"
            worst = max((*self.touches, *self.walls), default=0.0)
            out += f" (deepest {100.0 * worst:.1f} cm)" if worst else ""
        return out + (f"; stuck: {'; '.join(self.stuck[:3])}" if self.stuck else "")


def gates(count: int = 6, people: tuple[int, int] = (22, 18)) -> LiveThrong:
    """Return a wall with gates of 0.7 m, and people on both sides of it."""
    high, width = 3.6 * count - 1.6, 0.7
    edges = [0.0]
    for k in range(count):
        low = 3.6 * k + 0.65
        edges += [low, low + width]
    edges.append(high)
    walls = [
        Obstacle(Box((12.0, 0.5 * (a + b)), (0.3, b - a), 2.2)) for a, b in zip(edges[::2], edges[1::2], strict=True)
    ]
    return _both_ways(World((0.0, 0.0, 24.0, high), tuple(walls)), people, 12.0, 180.0, 1.0)


def opening(each: int, width: float = 6.0, seconds: float = 120.0, share: float = 0.95) -> LiveThrong:
    """Return a wall with one opening, and as many people on either side."""
    high = 36.0 if each > 60 else 20.0
    half = 0.5 * (high - width)
    walls = tuple(Obstacle(Box((30.0, y), (0.4, half), 2.4)) for y in (0.5 * half, high - 0.5 * half))
    return _both_ways(World((0.0, 0.0, 60.0, high), walls), (each, each), 30.0, seconds, share)


def corridor(each: int = 100, width: float = 4.0, seconds: float = 180.0) -> LiveThrong:
    """Return a corridor in which as many people walk either way; those in front go farthest, so that nobody stands."""
    abreast, k = max(int((width - 1.1) / _SPACING) + 1, 1), np.arange(each)
    length = 2.0 * (6.0 + _SPACING * ((each - 1) // abreast))
    y = 0.55 + (width - 1.1) / max(abreast - 1, 1) * (k % abreast)
    near = 3.0 + _SPACING * (k // abreast)
    starts, goals = [], []
    for side in (-1.0, 1.0):
        starts.append(np.column_stack([0.5 * length + side * near, y, np.full(each, 0.0 if side < 0.0 else np.pi)]))
        goals.append(np.column_stack([0.5 * length - side * near[::-1], y]))
    world = World((0.0, 0.0, length, width))
    return LiveThrong(world, np.concatenate(starts), np.concatenate(goals), seconds, 0.99, 0.5 * length)


def door(people: int = 200, width: float = 1.0, seconds: float = 240.0) -> LiveThrong:
    """Return a room that people leave by a door."""
    high, wall, k = 12.0, 14.0, np.arange(people)
    half = 0.5 * (high - width)
    walls = tuple(Obstacle(Box((wall, y), (0.3, half), 2.4)) for y in (0.5 * half, high - 0.5 * half))
    y = 0.8 + 0.9 * (k % 12)
    starts = np.column_stack([wall - 1.2 - 0.75 * (k // 12), y, np.zeros(people)])
    goals = np.column_stack([wall + 22.0 - 1.0 * (k // 12), y])
    return LiveThrong(World((0.0, 0.0, wall + 24.0, high), walls), starts, goals, seconds, 0.95, wall)


def run_live(
    throng: LiveThrong,
    library: Library | None = None,
    options: LiveOptions | None = None,
    *,
    seed: int = 3,
    audited: bool = False,
) -> ThrongResult:
    """Let a live crowd of people get through, until enough of them have arrived or the time is over.

    Args:
        throng: the place and the people.
        library: their library; None for the built-in person.
        options: options of the crowd; None for mixed dynamics.
        seed: seed of the crowd.
        audited: whether what was shown is recorded, and whole bodies are compared afterwards.
    """
    options = LiveOptions(dynamics="mixed") if options is None else options
    minutes = throng.seconds / 60.0 + 0.1 if audited else 0.0
    with LiveCrowd(throng.world, seed=seed, options=options, record_minutes=minutes) as crowd:
        crowd.add_library("person" if library is None else library)
        there = crowd.add_many(throng.starts, throng.goals) >= 0
        people, frames, most, spent = int(there.sum()), 0, 0, 0.0
        sides, crossed = np.sign(throng.line - throng.starts[there, 0]), list[int]()
        while crowd.time < throng.seconds and crowd.counts.there < throng.share * people:
            began = time.process_time()
            crowd.step(FRAME)
            crowd.joints()
            crowd.settle()
            spent += time.process_time() - began
            frames, most = frames + 1, max(most, crowd.counts.in_throng)
            crossed.append(int((sides * (crowd.positions()[:, 0] - throng.line) > 0.0).sum()))
        count = np.array(crossed)
        first, last = (int(np.searchsorted(np.maximum.accumulate(count), part * people)) for part in (0.2, 0.8))
        flow = 0.6 * people / (FRAME * (last - first)) if first < last < len(count) else np.nan
        stuck = tuple(f"{event.name} since {event.time:.0f} s: {event.reason}" for event in crowd.hindered())
        touches, walls = _depths(crowd.take(), throng.world) if audited else ((), ())
        return ThrongResult(
            people, crowd.counts.there, crowd.time, 1e3 * spent / max(frames, 1), most, flow, touches, walls, audited,
            stuck,
        )  # fmt: skip


def run_planned(throng: LiveThrong, seed: int = 3) -> ThrongResult:
    """Plan the same throng as a take (`planner: crowd`), and compare whole bodies."""
    x0, y0, x1, y1 = throng.world.bounds
    boxes = [obstacle.shape for obstacle in throng.world.obstacles]
    scene = scene_from_dict(
        {
            "gaitway": 1,
            "bounds": [x0, y0, x1, y1],
            "obstacles": [
                {"box": {"center": list(box.center), "size": list(box.size), "height": box.height}}
                for box in boxes
                if isinstance(box, Box)
            ],
            "plan": {"planner": "crowd", "upper_body": False},
            "characters": [
                {"name": f"p{k}", "start": [x, y, float(np.degrees(heading))], "goal": goal}
                for k, ((x, y, heading), goal) in enumerate(
                    zip(throng.starts.tolist(), throng.goals.tolist(), strict=True)
                )
            ],
        }
    )
    began = time.process_time()
    planned = plan_scene(scene, seed=seed)
    spent = time.process_time() - began
    people, failed = len(throng.starts), planned.failed
    seconds = max((row["arrives_s"] for row in planned.rows() if row["character"] not in failed), default=np.nan)
    stuck = tuple(f"{name}: {result.reason}" for name, result in failed.items())
    touches, walls = _depths(planned.take, throng.world)
    return ThrongResult(
        people, people - len(failed), seconds, 1e3 * spent, people, np.nan, touches, walls, True, stuck
    )  # fmt: skip


def _depths(take: Take, world: World) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return how deep bodies are in one another and in walls beyond the bars of the audit, the deepest first [m]."""
    report = audit_take(take, world)
    found = [tuple(f.value for f in report[row].violations) for row in ("penetration_characters", "penetration")]
    return found[0], found[1]


def _both_ways(world: World, people: tuple[int, int], wall: float, seconds: float, share: float) -> LiveThrong:
    """Return people in rows on both sides of a wall, who go as far beyond it as they are away from it."""
    rows = max(int((world.bounds[3] - 2.0) / _SPACING), 1)
    starts = []
    for count, side in zip(people, (-1.0, 1.0), strict=True):
        k = np.arange(count)
        x = wall + side * (3.0 + _SPACING * (k // rows))
        y = 1.0 + _SPACING * (k % rows) + 0.3 * (k // rows % 2)
        starts.append(np.column_stack([x, y, np.full(count, 0.0 if side < 0.0 else np.pi)]))
    every = np.concatenate(starts)
    goals = np.column_stack([2.0 * wall - every[:, 0], world.bounds[3] - every[:, 1]])
    return LiveThrong(world, every, goals, seconds, share, wall)


LIVE_THRONGS: dict[str, Callable[[], LiveThrong]] = {
    "gates": gates,
    "opening50": lambda: opening(50, seconds=90.0, share=0.99),
    "opening250": lambda: opening(250),
    "corridor": corridor,
    "door": door,
}
"""The throngs of the bars, by name."""
