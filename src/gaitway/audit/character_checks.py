"""Checks of one character alone: presence, bounds, arrival, speeds and their sudden changes, joint limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from gaitway.audit.bodies import AuditedCharacter
from gaitway.audit.ground import worst_of_runs
from gaitway.audit.report import AuditBars, Finding
from gaitway.audit.sources import TURN_HZ, Played, Source, root_steps, speeds, turn_steps, turns
from gaitway.core import planar
from gaitway.core.arrays import FloatArray
from gaitway.motion.limits import JointLimits, violations
from gaitway.take.model import Take
from gaitway.world.world import World

_TOLERANCE = 0.5
"""Distance to the goal that counts as arrived if the take gives none [m]."""


def absence(take: Take, character: int) -> str:
    """Return why a character cannot be shown at all; empty if it can."""
    if take.rows[character] >= take.rows[character + 1]:
        return "has no segments"
    if not take.ends[character] > take.start(character):
        return "ends when it starts"
    return ""


def missing(take: Take, character: int, why: str) -> Finding:
    """Return the finding about a character that cannot be shown."""
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
    """Return how far a root is outside the bounds [m]: one finding for each span of time, or the farthest."""
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
    """Return the distance of the root from its goal at the end [m], and that of its heading if one was asked for.

    A character whose plan says that it does not arrive (`take.facts["failed"]`) keeps no promise and breaks none.
    """
    goals = walker.take.goals
    if len(goals) == 0 or not np.isfinite(goals[walker.index, :2]).all() or walker.name in given_up(walker.take):
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


def given_up(take: Take) -> tuple[str, ...]:
    """Return the names of characters of a take that do not arrive, as their planner said."""
    failed = take.facts.get("failed")
    return tuple(name for name in take.names if name in failed) if isinstance(failed, Mapping) else ()


def _point(walker: AuditedCharacter, frame: int) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in walker.clip.root_positions[frame])
    return x, y, z


_FAITHFUL = 1.1
"""Factor by which a take's changes of speed may exceed those of its source clip at the same frames."""


def pops(
    walker: AuditedCharacter, usual: tuple[FloatArray, float], sources: dict[int, Source], bar: float, most_deg: float
) -> tuple[list[Finding], Finding | None]:
    """Return sudden changes of speed as multiples of the usual ones: one finding for each moment, or the greatest.

    What a source clip does itself, at the very frames that are played, is not held against the take, up to a change of
    a joint's turn in 1/30 s by `most_deg`; beyond it is the fault of the library, however usual it is there. Who walks
    faster than its clip moves its limbs faster: bars grow with the square of that speed. The second result is the
    greatest that is not held against the take, with its clip for an obstacle.
    """
    if len(walker.clip) <= 2:
        return [], None
    scale = np.append(usual[0], usual[1])
    shares = np.column_stack([turn_steps(walker.clip), root_steps(walker.clip)]) / scale
    most = np.append(np.radians(most_deg * TURN_HZ) / usual[0], np.inf)
    excused, played = None, Played(walker.take, walker.index)
    hurry = played.faster(walker.times)[1:-1, None] ** 2  # changes of speed grow with the square of the speed
    bars = np.minimum(bar * hurry, most) + np.zeros(shares.shape)
    blamed, names = bars, [*walker.clip.skeleton.names, "root"]
    if (shares > bars).any():
        blamed = _FAITHFUL * hurry * played.own(sources, walker.times, lambda source: source.sudden)[1:-1] / scale
        bars = np.minimum(np.maximum(bar * hurry, blamed), most)
        own = np.where((shares > bar * hurry) & (shares <= bars), shares, 0.0)
        at, joint = (int(i) for i in np.unravel_index(np.argmax(own), own.shape))
        if own[at, joint] > 0.0:
            found = _finding("continuity", walker, at + 1, 0, names[joint], float(own[at, joint]), bar, None)
            excused = replace(found, obstacle=played.clip_name(found.time))
    part = np.argmax(shares - bars, axis=1)
    rows = np.arange(len(part))
    worst, beyond = shares[rows, part], (shares - bars)[rows, part]
    out = []
    for step, span in worst_of_runs(beyond, walker.times[1:-1], 0.0):
        place = int(part[step]) if part[step] < len(names) - 1 else 0
        limit = float(bars[step, part[step]])
        found = _finding("continuity", walker, step + 1, place, names[part[step]], float(worst[step]), limit, span)
        at_fault = limit < worst[step] <= blamed[step, part[step]]
        out.append(replace(found, clip=played.clip_name(found.time)) if at_fault else found)
    return out, excused


def turned(walker: AuditedCharacter, sources: dict[int, Source], bar: float) -> list[Finding]:
    """Return turns of joints in 1/30 s [degrees]: one finding for each span of time, or the greatest."""
    found = turns(walker.clip)
    joint = np.argmax(found, axis=1)
    names = walker.clip.skeleton.names
    return _absolute(
        "turn", walker, sources, found[np.arange(len(joint)), joint], bar,
        lambda frame: (int(joint[frame]), names[joint[frame]]), lambda source: source.turned,
    )  # fmt: skip


def hurried(walker: AuditedCharacter, sources: dict[int, Source], bar: float) -> list[Finding]:
    """Return speeds of the root [m/s]: one finding for each span of time, or the greatest."""
    return _absolute(
        "speed", walker, sources, speeds(walker.clip), bar, lambda frame: (0, "root"), lambda source: source.speed
    )


def _absolute(
    row: str, walker: AuditedCharacter, sources: dict[int, Source], values: FloatArray, bar: float,
    part: Callable[[int], tuple[int, str]], measure: Callable[[Source], FloatArray],
) -> list[Finding]:  # fmt: skip
    """Return values from frame to frame that nothing excuses, with the clip that does the same."""
    out = []
    played = Played(walker.take, walker.index)
    own: FloatArray | None = None
    for frame, span in worst_of_runs(values, walker.times[1:], bar):
        joint, name = part(frame)
        found = _finding(row, walker, frame + 1, joint, name, float(values[frame]), bar, span)
        if found.violated:
            own = played.own(sources, walker.times, measure) if own is None else own
            if _FAITHFUL * own[frame + 1, joint] >= values[frame]:
                found = replace(found, clip=played.clip_name(found.time))
        out.append(found)
    return out


def strained(walker: AuditedCharacter, limits: JointLimits, bar: float) -> list[Finding]:
    """Return joints beyond their limits [degrees]: one finding for each span of time, or the farthest."""
    over = violations(walker.clip, limits)
    joint = np.argmax(over, axis=1)
    worst = over[np.arange(len(joint)), joint]
    names = walker.clip.skeleton.names
    return [
        _finding("limits", walker, frame, int(joint[frame]), names[joint[frame]], float(worst[frame]), bar, span)
        for frame, span in worst_of_runs(worst, walker.times, bar)
    ]


def _finding(
    row: str, walker: AuditedCharacter, frame: int, joint: int, part: str, value: float, bar: float,
    span: tuple[float, float] | None,
) -> Finding:  # fmt: skip
    time = float(walker.times[frame])
    x, y, z = (float(v) for v in walker.positions[frame, joint])
    return Finding(
        row=row,
        value=value,
        bar=bar,
        time=time,
        frame=walker.frame(time),
        characters=(walker.name,),
        part=part,
        obstacle="",
        place=(x, y, z),
        span=span,
    )
