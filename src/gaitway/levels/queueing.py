"""Queues: people who stand near a link until others have left it, in a throng."""

from __future__ import annotations

import math

import numpy as np

from gaitway.core import planar
from gaitway.levels.links import Link
from gaitway.levels.riding import rest_after
from gaitway.space.mover_sweep import Swept
from gaitway.space.plan import Plan, PlanStep
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.traffic import Traffic, swept_steps

_BACK = (2.2, 3.2, 4.2, 5.4, 6.8, 8.4)
"""Distances before the entry of a link at which people queue [m]."""
_ASIDE = (0.0, 0.8, -0.8, 1.6, -1.6)
"""How far to the left of its middle they stand [m]."""
_ROOM, _PASS, _APART = 0.55, 0.4, 0.25
"""Room around such a place, and around all points on the way from there to the link, a point each so far [m]."""
_EVEN = 0.7
"""Least share of a clip of standing that is played slower or faster, to stand for just as long as is needed."""


def queue_places(prepared: PreparedLibrary, link: Link) -> tuple[tuple[float, float], ...]:
    """Return where people queue for a link, the nearest places first: x, y in the plane of the floors [m]."""
    return prepared.part(("queue", link.entry), lambda: tuple(_places(prepared, link)), placed=True)


def _places(prepared: PreparedLibrary, link: Link) -> list[tuple[float, float]]:
    (x0, y0, x1, y1), (dx, dy) = link.source.region.bounds, link.source.offset
    out = []
    for back, aside in sorted(((b, a) for b in _BACK for a in _ASIDE), key=lambda place: math.hypot(*place)):
        x, y = planar.transform_points(link.entry, (-back, aside)).tolist()
        share = np.linspace(0.0, 1.0, 1 + math.ceil(math.hypot(back, aside) / _APART))[:, None]
        way = (1.0 - share) * (x, y) + share * link.entry[:2]
        room = prepared.fields.clearance(way)
        if x0 <= x - dx <= x1 and y0 <= y - dy <= y1 and room[0] >= _ROOM and room.min() >= _PASS:
            out.append((x, y))
    return out


def stood_for(prepared: PreparedLibrary, traffic: Traffic, plan: Plan, seconds: float) -> Plan | None:
    """Return a plan that stands at its end for a time [s]; None if others come there, or if it cannot stand.

    It stands for just as long if that is about the length of a clip of standing or more: a gap between others is missed
    by whoever waits for half a second more or less.
    """
    rest = rest_after(prepared, plan.steps[-1].behavior if plan.steps else None)
    if rest is None:
        return None
    table = prepared.table
    speed = float(prepared.speeds[rest])
    lasts = float(table.durations[rest]) / speed
    count = max(round(seconds / lasts), 1)
    if seconds > _EVEN * lasts:
        speed, lasts = speed * count * lasts / seconds, seconds / count
    behavior, clip, begin = table.behaviors[table.behavior[rest]], table.clips[rest], plan.end_time
    stands = [PlanStep(behavior, clip, plan.end_pose, begin + k * lasts, speed) for k in range(count)]
    if traffic.met_by(Swept.joined(swept_steps(stands, table, prepared.discs))) is not None:
        return None
    cost = plan.cost + count * float(prepared.actions.costs[rest])
    return Plan((*plan.steps, *stands), plan.end_pose, begin + count * lasts, cost, plan.own)
