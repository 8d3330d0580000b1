"""Up and down stairs, one foot a tread: into the flight from a walk, two treads a cycle, and out into a walk."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from gaitway.cast.curves import smooth_step
from gaitway.cast.person.gait.stride import FPS, NEUTRAL
from gaitway.cast.person.steps.footwork import FootPlacement, FootStep, GroundHeight, StepPlan
from gaitway.cast.person.steps.leads import Lead, LeadJoin, lead_of
from gaitway.cast.person.steps.stepping import Tempo, steady_lead, step_out
from gaitway.cast.person.styles import Style
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip

RISER, TREAD = 0.17, 0.29
"""Height and depth of a step [m]."""
PERIOD_S = {"up": 1.3, "down": 1.2}
"""Time for two treads [s]."""
LEAN = {"up": 0.13, "down": 0.03}
"""Forward lean of the trunk on the stairs [rad]."""
SINK = {"up": 0.01, "down": 0.035}
"""How much lower the pelvis goes than the step model says [m]; it knows few captured stairs."""
NEXT_EDGE = {"up": 0.25, "down": 0.19}
"""Edge ahead of the ankle of a foot on a tread [m]: going up the next riser, going down the end of its own tread."""
_HALF_WIDTH = 0.085
_SWING_SHARE = 0.42
"""Swing time as a share of the cycle; two feet leave 8% of double support after each landing."""


def stair_ground(first_edge: float, direction: str, first: float = -np.inf, last: float = np.inf) -> GroundHeight:
    """Return heights of a flight along +x.

    Args:
        first_edge: X of the edge after level 0 [m].
        direction: "up" or "down".
        first: Level of the floor before the flight; -inf has none.
        last: Level of the floor after it.
    """
    rise = _rise(direction)

    def height(points: FloatArray) -> FloatArray:
        level = np.floor((points[..., 0] - first_edge) / TREAD) + 1.0
        out: FloatArray = rise * np.clip(level, first, last)
        return out

    return height


def _rise(direction: str) -> float:
    return RISER if direction == "up" else -RISER


def _tread_step(side: str, level: int, direction: str, landing: float) -> FootStep:
    """Return a step onto a tread whose level is counted from the left foot's in the hub."""
    swing = _SWING_SHARE * PERIOD_S[direction]
    sign = 1.0 if side == "left" else -1.0
    where = FootPlacement(level * TREAD, sign * _HALF_WIDTH, sign * np.radians(7.0), level * _rise(direction))
    return FootStep(side, landing - swing, landing, where, direction, 0.03, 1.0)


@cache
def stair_lead(direction: str, style: Style = NEUTRAL) -> Lead:
    """Return the lead of climbing or descending; in the hub the left foot stands and the right one passes it."""
    period = PERIOD_S[direction]
    landing = 0.5 * _SWING_SHARE * period
    cycle = [_tread_step("right", 1, direction, landing), _tread_step("left", 2, direction, landing + 0.5 * period)]
    move = np.array([2.0 * TREAD, 0.0, 2.0 * _rise(direction)])
    ground = stair_ground(NEXT_EDGE[direction], direction)
    return steady_lead(cycle, move, period, style=style, lean=LEAN[direction], sink=SINK[direction], ground=ground)


def stair_cycle(name: str, direction: str, style: Style = NEUTRAL, seed: int | None = None) -> Clip:
    """Return two treads, from hub to hub; the first tread under the left foot is at height 0."""
    lead, period = stair_lead(direction, style), PERIOD_S[direction]
    move, height = np.array([2.0 * TREAD, 0.0, 0.0]), 2.0 * _rise(direction)
    ground = stair_ground(NEXT_EDGE[direction], direction)
    plan = StepPlan(lead.left, lead.right, lead.steps, period, ground)
    joins = [LeadJoin(lead, 0.0, np.zeros(3), 0.3), LeadJoin(lead, period, move, 0.3, height)]
    return step_out(name, plan, joins, style=style, seed=seed, lean=LEAN[direction], sink=SINK[direction]).clip


def stair_start(name: str, direction: str, style: Style = NEUTRAL, seed: int | None = None) -> tuple[Clip, float]:
    """Make the steps from the walk into the flight; with the time of the first tread [s].

    Two steps on the floor, then two treads.
    """
    walk, stairs, tempo = lead_of("walk", style), stair_lead(direction, style), Tempo(seed)
    rise = _rise(direction)
    steps = walk.under_way()
    edge_foot = steps[-1].target.x + (0.42 if direction == "up" else 0.46)
    edge = edge_foot + (0.30 if direction == "up" else NEXT_EDGE["down"])
    second = edge - NEXT_EDGE[direction] + 2.0 * TREAD  # where the left ankle is in the hub
    lift = steps[-1].land + 0.08
    steps.append(FootStep("left", lift, lift + tempo.around(0.46), FootPlacement(edge_foot, _HALF_WIDTH, 0.1)))
    lift = steps[-1].land + tempo.around(0.10)
    first = _tread_step("right", 1, direction, lift + tempo.around(0.52))
    where = FootPlacement(second - TREAD, first.target.y, first.target.heading, rise)
    steps.append(replace(first, lift=lift, target=where))
    arrive = stairs.arrivals(np.zeros(3), 0.0)[0]
    lift = steps[-1].land + tempo.around(0.10)
    end = round((lift + (arrive.land - arrive.lift) - arrive.land) * FPS) / FPS
    pose = np.array([second, 0.0, 0.0])
    landing, *others = stairs.arrivals(pose, end, 2.0 * rise)
    passing = steps[-1].land
    steps += [replace(landing, lift=lift), *others]
    ground = stair_ground(edge, direction, first=0.0)
    plan = StepPlan(walk.left, walk.right, tuple(steps), end, ground)
    joins = [LeadJoin(walk, 0.0, np.zeros(3), 0.45), LeadJoin(stairs, end, pose, 0.5, 2.0 * rise)]
    inside = smooth_step(np.arange(round(end * FPS) + 1) / FPS, 0.3, passing)
    lean, sink = LEAN[direction] * inside, SINK[direction] * inside
    return step_out(name, plan, joins, style=style, seed=seed, lean=lean, sink=sink).clip, passing


def stair_end(name: str, direction: str, style: Style = NEUTRAL, seed: int | None = None) -> tuple[Clip, float]:
    """Make the steps from the flight into the walk; with the time at which the right foot lands on the floor [s].

    Three steps gather speed after that.
    """
    walk, stairs, tempo = lead_of("walk", style), stair_lead(direction, style), Tempo(seed)
    rise = _rise(direction)
    steps = stairs.under_way()
    reached = steps[-1].land
    x, wide = steps[-1].target.x, _HALF_WIDTH
    for side, length, swing in (("left", 0.50, 0.50), ("right", 0.64, 0.48)):
        x, wide = x + length, 0.75 * wide
        sign = 1.0 if side == "left" else -1.0
        lift = steps[-1].land + tempo.around(0.09)
        where = FootPlacement(x, sign * wide, 0.08 * sign, rise)
        kind = "up" if side == "left" and direction == "up" else "forward"  # the left foot still has an edge to pass
        steps.append(FootStep(side, lift, lift + tempo.around(swing), where, kind))
    arrive = walk.arrivals(np.zeros(3), 0.0)[0]
    pose = np.array([x + 0.70 - arrive.target.x, 0.0, 0.0])
    lift = steps[-1].land + tempo.around(0.08)
    end = round((lift + 0.49 - arrive.land) * FPS) / FPS
    landing, *others = walk.arrivals(pose, end, rise)
    steps += [replace(landing, lift=lift), *others]
    ground = stair_ground(NEXT_EDGE[direction], direction, last=1.0)
    plan = StepPlan(stairs.left, stairs.right, tuple(steps), end, ground)
    joins = [LeadJoin(stairs, 0.0, np.zeros(3), 0.4), LeadJoin(walk, end, pose, 0.5, rise)]
    inside = 1.0 - smooth_step(np.arange(round(end * FPS) + 1) / FPS, 0.1, 1.0)
    lean, sink = LEAN[direction] * inside, SINK[direction] * inside
    return step_out(name, plan, joins, style=style, seed=seed, lean=lean, sink=sink).clip, reached
