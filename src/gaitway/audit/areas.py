"""Checks of rules of the ground: how far characters walk against one-way areas, and how fast through limited ones."""

from __future__ import annotations

import math

import numpy as np

from gaitway.audit.bodies import AuditedCharacter
from gaitway.audit.report import Finding
from gaitway.core.arrays import FloatArray
from gaitway.world.areas import Area

_WINDOW = 1.1
"""Time over which a way is measured [s]: about a stride, within which the root sways and is now faster, now slower."""


def against_ways(walker: AuditedCharacter, area: Area, bar: float) -> Finding | None:
    """Return how far a character walks against a one-way area [m]; None if it is never in it."""
    assert area.one_way is not None
    moved, middles = _moved(walker)
    inside = area.holds(middles)
    if not inside.any():
        return None
    along = moved @ np.array([math.cos(area.one_way), math.sin(area.one_way)])
    back = np.where(inside, np.maximum(-along, 0.0), 0.0)
    frames = max(round(_WINDOW * walker.take.fps), 1)
    return _finding("one_way", walker, area, float(back.sum()) / frames, bar, int(np.argmax(back.round(9))))


def over_limit(walker: AuditedCharacter, area: Area, bar: float) -> Finding | None:
    """Return the greatest speed over the limit of an area, as a multiple; None if it is never in it for a stride."""
    assert area.speed_limit is not None
    moved, _ = _moved(walker)
    frames = max(round(_WINDOW * walker.take.fps), 1)
    there = area.holds(walker.clip.root_positions)
    counted = np.concatenate([[0], np.cumsum(there)])
    whole = counted[frames + 1 :] - counted[: -frames - 1] == frames + 1 if len(there) > frames else np.zeros(0, bool)
    if not whole.any():
        return None
    speed = np.where(whole, np.hypot(moved[:, 0], moved[:, 1]) / _WINDOW, 0.0)
    worst = int(np.argmax(speed.round(9)))
    return _finding("speed_limit", walker, area, float(speed[worst]) / area.speed_limit, bar, worst)


def _moved(walker: AuditedCharacter) -> tuple[FloatArray, FloatArray]:
    """Return how far the root moves in each window [m] (F, 2), and where it is in the middle of it [m] (F, 3)."""
    roots = walker.clip.root_positions
    frames = max(round(_WINDOW * walker.take.fps), 1)
    if len(roots) <= frames:
        return np.zeros((0, 2)), np.zeros((0, 3))
    return (roots[frames:] - roots[:-frames])[:, :2], roots[frames // 2 : frames // 2 + len(roots) - frames]


def _finding(row: str, walker: AuditedCharacter, area: Area, value: float, bar: float, window: int) -> Finding:
    frames = max(round(_WINDOW * walker.take.fps), 1)
    at = min(window + frames // 2, len(walker.times) - 1)
    x, y, z = walker.clip.root_positions[at].tolist()
    time = float(walker.times[at])
    return Finding(
        row=row, value=value, bar=bar, time=time, frame=walker.frame(time), characters=(walker.name,), part="root",
        obstacle=area.name or "an area", place=(x, y, z),
    )  # fmt: skip
