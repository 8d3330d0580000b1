"""Whether everybody is there, stays inside and arrives."""

from __future__ import annotations

import numpy as np

from gaitway.audit.bodies import Walker
from gaitway.audit.ground import worst_of_runs
from gaitway.audit.report import Bars, Finding
from gaitway.core import planar
from gaitway.take.model import Take
from gaitway.world.world import World

_TOLERANCE = 0.5
"""Distance to the goal that counts as arrived where nothing else was asked for [m]."""


def absence(take: Take, character: int) -> str:
    """Why a character cannot be shown at all; empty if it can."""
    if take.rows[character] >= take.rows[character + 1]:
        return "has no segments"
    if not take.ends[character] > take.start(character):
        return "ends when it starts"
    return ""


def missing(take: Take, character: int, why: str) -> Finding:
    """A finding about a character that cannot be shown."""
    time = float(take.start(character)) if take.rows[character] < take.rows[character + 1] else 0.0
    return Finding("presence", 1.0, 0.0, time, round(time * take.fps), (take.names[character],), why)


def outside(walker: Walker, world: World, bar: float) -> list[Finding]:
    """How far a root is outside of the bounds [m], one finding for each span of time; else the farthest out."""
    x0, y0, x1, y1 = world.bounds
    x, y = walker.clip.root_positions[:, 0], walker.clip.root_positions[:, 1]
    out = np.maximum.reduce([x0 - x, x - x1, y0 - y, y - y1])
    return [
        Finding(
            "bounds", max(float(out[f]), 0.0), bar, float(walker.times[f]), walker.frame(float(walker.times[f])),
            (walker.name,), "root", "", _point(walker, f), span,
        )
        for f, span in worst_of_runs(out, walker.times, bar)
    ]  # fmt: skip


def arrivals(walker: Walker, bars: Bars) -> list[Finding]:
    """Distance of the root from its goal at the end [m], and the difference of its heading if one was asked for."""
    goals = walker.take.goals
    if len(goals) == 0 or not np.isfinite(goals[walker.index, :2]).all():
        return []
    x, y, heading, tolerance = (float(v) for v in goals[walker.index])
    time = float(walker.take.ends[walker.index])
    (poses,) = walker.take.poses(time, np.array([walker.index]))
    at = poses.root_positions[0]
    away = float(np.hypot(at[0] - x, at[1] - y))
    bar = tolerance if np.isfinite(tolerance) else _TOLERANCE
    who, frame, place = (walker.name,), walker.frame(time), (float(at[0]), float(at[1]), float(at[2]))
    out = [Finding("arrival", away, bar, time, frame, who, "root", "", place)]
    if np.isfinite(heading):
        faced = float(walker.clip.headings()[-1])
        off = abs(float(np.degrees(planar.wrap_angle(faced - heading))))
        out.append(Finding("arrival_heading", off, bars.heading_deg, time, frame, who, "heading", "", place))
    return out


def _point(walker: Walker, frame: int) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in walker.clip.root_positions[frame])
    return x, y, z
