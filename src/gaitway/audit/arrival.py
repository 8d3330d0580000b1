"""Whether everybody is there, stays inside and arrives."""

from __future__ import annotations

import numpy as np

from gaitway.audit.bodies import AuditedCharacter
from gaitway.audit.ground import worst_of_runs
from gaitway.audit.report import AuditBars, Finding
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
    return Finding(
        row="presence",
        value=1.0,
        bar=0.0,
        time=time,
        frame=round(time * take.fps),
        characters=(take.names[character],),
        part=why,
    )


def outside(walker: AuditedCharacter, world: World, bar: float) -> list[Finding]:
    """How far a root is outside of the bounds [m], one finding for each span of time; else the farthest out."""
    x0, y0, x1, y1 = world.bounds
    x, y = walker.clip.root_positions[:, 0], walker.clip.root_positions[:, 1]
    out = np.maximum.reduce([x0 - x, x - x1, y0 - y, y - y1])
    return [
        Finding(
            row="bounds",
            value=max(float(out[f]), 0.0),
            bar=bar,
            time=float(walker.times[f]),
            frame=walker.frame(float(walker.times[f])),
            characters=(walker.name,),
            part="root",
            obstacle="",
            place=_point(walker, f),
            span=span,
        )
        for f, span in worst_of_runs(out, walker.times, bar)
    ]


def arrivals(walker: AuditedCharacter, bars: AuditBars) -> list[Finding]:
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
    out = [
        Finding(
            row="arrival",
            value=away,
            bar=bar,
            time=time,
            frame=frame,
            characters=who,
            part="root",
            obstacle="",
            place=place,
        )
    ]
    if np.isfinite(heading):
        faced = float(walker.clip.headings()[-1])
        off = abs(float(np.degrees(planar.wrap_angle(faced - heading))))
        out.append(
            Finding(
                row="arrival_heading",
                value=off,
                bar=bars.heading_deg,
                time=time,
                frame=frame,
                characters=who,
                part="heading",
                obstacle="",
                place=place,
            )
        )
    return out


def _point(walker: AuditedCharacter, frame: int) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in walker.clip.root_positions[frame])
    return x, y, z
