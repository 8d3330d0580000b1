"""Pops and limits: joints and root change speed as in the source clips, and no joint bends farther than it may."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gaitway.audit.bodies import AuditedCharacter
from gaitway.audit.ground import worst_of_runs
from gaitway.audit.report import Finding
from gaitway.audit.sources import Played, Source, root_steps, turn_steps
from gaitway.core.arrays import FloatArray
from gaitway.motion.limits import JointLimits, violations

_FAITHFUL = 1.1
"""A take may change speed by this much more than its source clip does at the same frames."""


def pops(
    walker: AuditedCharacter, usual: tuple[FloatArray, float], sources: dict[int, Source], bar: float
) -> tuple[list[Finding], Finding | None]:
    """Sudden changes of speed as multiples of the usual ones, one finding for each moment; else the most sudden.

    What a source clip does itself, at the very frames that are played, is not held against the take. The second result
    is the greatest of that kind beyond the bar, with its clip for an obstacle.
    """
    if len(walker.clip) <= 2:
        return [], None
    scale = np.append(usual[0], usual[1])
    shares = np.column_stack([turn_steps(walker.clip), root_steps(walker.clip)]) / scale
    bars = np.full(shares.shape, bar)
    names = [*walker.clip.skeleton.names, "root"]
    excused = None
    if (shares > bar).any():
        played = Played(walker.take, walker.index)
        bars = np.maximum(
            bar, _FAITHFUL * played.own(sources, walker.times, lambda source: source.sudden)[1:-1] / scale
        )
        own = np.where((shares > bar) & (shares <= bars), shares, 0.0)
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
        out.append(_finding("continuity", walker, step + 1, place, names[part[step]], float(worst[step]), limit, span))
    return out, excused


def strained(walker: AuditedCharacter, limits: JointLimits, bar: float) -> list[Finding]:
    """Joints beyond their limits [degrees], one finding for each span of time; else the farthest."""
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
