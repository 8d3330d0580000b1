"""Pops and limits: joints and root change speed as in the source clips, and no joint bends farther than it may."""

from __future__ import annotations

import numpy as np

from gaitway.arrays import FloatArray
from gaitway.audit.bodies import Walker
from gaitway.audit.ground import worst_of_runs
from gaitway.audit.report import Finding
from gaitway.audit.sources import root_steps, turn_steps
from gaitway.motion.limits import JointLimits, violations


def pops(walker: Walker, usual: tuple[FloatArray, float], bar: float) -> list[Finding]:
    """Sudden changes of speed as multiples of the usual ones, one finding for each moment; else the most sudden."""
    if len(walker.clip) <= 2:
        return []
    turns, roots = turn_steps(walker.clip) / usual[0], root_steps(walker.clip) / usual[1]
    shares = np.column_stack([turns, roots])
    part = np.argmax(shares, axis=1)
    worst = shares[np.arange(len(part)), part]
    names = [*walker.clip.skeleton.names, "root"]
    out = []
    for step, span in worst_of_runs(worst, walker.times[1:-1], bar):
        joint = int(part[step]) if part[step] < turns.shape[1] else 0
        out.append(_finding("continuity", walker, step + 1, joint, names[part[step]], float(worst[step]), bar, span))
    return out


def strained(walker: Walker, limits: JointLimits, bar: float) -> list[Finding]:
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
    row: str, walker: Walker, frame: int, joint: int, part: str, value: float, bar: float,
    span: tuple[float, float] | None,
) -> Finding:  # fmt: skip
    time = float(walker.times[frame])
    x, y, z = (float(v) for v in walker.positions[frame, joint])
    return Finding(row, value, bar, time, walker.frame(time), (walker.name,), part, "", (x, y, z), span)
