"""Moves of a few steps on level ground: turns in place, U-turns while walking, single steps and side-walk."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from gaitway.cast.curves import bump, smooth_step
from gaitway.cast.person.gait.stride import FPS, NEUTRAL
from gaitway.cast.person.steps.footwork import FootPlacement, FootStep, StepPlan
from gaitway.cast.person.steps.leads import Lead, LeadJoin, lead_of, moved_step
from gaitway.cast.person.steps.stepping import Tempo, stand_to_stand, steady_lead, step_out
from gaitway.cast.person.styles import Style
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip


def turn_in_place(name: str, degrees: float, style: Style = NEUTRAL, seed: int | None = None) -> Clip:
    """Turn on the spot, left positive; the foot on the inside steps first, up to 90 degrees with a pair of steps."""
    lead, tempo = lead_of("stand", style), Tempo(seed)
    home = {"left": lead.left, "right": lead.right}
    order = ("left", "right") if degrees > 0.0 else ("right", "left")
    pairs = max(1, round(abs(degrees) / 90.0))
    steps: list[FootStep] = []
    time = tempo.around(0.45)
    for k in range(1, pairs + 1):
        pose = np.array([0.0, 0.0, np.radians(degrees) * k / pairs])
        if k < pairs:
            pose[:2] += tempo.draw(0.015, 2)
        for side in order:
            swing = tempo.around(0.42 if abs(degrees) > 60.0 else 0.36)
            steps.append(FootStep(side, time, time + swing, home[side].moved(pose), "turn", 0.025))
            time += swing + tempo.around(0.14)
    plan = StepPlan(lead.left, lead.right, tuple(steps), 0.0)
    return stand_to_stand(name, plan, np.array([0.0, 0.0, np.radians(degrees)]), style, seed)


def u_turn(name: str, left: bool, style: Style = NEUTRAL, seed: int | None = None) -> Clip:
    """Walk on, brake, turn about in two steps and walk back; the foot on the inside turns out first."""
    lead, tempo = lead_of("walk", style), Tempo(seed)
    sign, inside, outside = (1.0, "left", "right") if left else (-1.0, "right", "left")
    steps = lead.under_way()
    swing = steps[-1]  # the right foot, in the air at the hub
    time, front, side_step = swing.land, swing.target.x, abs(swing.target.y)

    def step(side: str, wait: float, swing_s: float, where: FootPlacement, kind: str = "forward") -> None:
        nonlocal time
        lift = time + tempo.around(wait)
        steps.append(FootStep(side, lift, lift + tempo.around(swing_s), where, kind, 0.025))
        time = steps[-1].land

    if not left:  # one more straight step, so that the inside foot comes next
        front += 0.58
        step("left", 0.08, 0.48, FootPlacement(front, side_step, 0.0))
    far = front + 0.40 + float(tempo.draw(0.02)[0])
    across = 0.46 + float(tempo.draw(0.015)[0])
    step(inside, 0.11, 0.50, FootPlacement(front + 0.42, sign * 0.12, sign * np.radians(50.0)))
    step(outside, 0.14, 0.58, FootPlacement(far, sign * across, sign * np.radians(165.0)), "turn")
    line = sign * (across - side_step)
    if not left:
        far -= 0.55
        step("right", 0.11, 0.48, FootPlacement(far, line + side_step, -np.pi))
    return _walk_back(name, steps, np.array([far, line, sign * np.pi]), tempo, style, seed)


def _walk_back(
    name: str, steps: list[FootStep], after: FloatArray, tempo: Tempo, style: Style, seed: int | None
) -> Clip:
    """Finish a turn: one more step of the left foot brings the walker into the hub of the walk.

    Args:
        name: Name of the clip.
        steps: All steps so far.
        after: X of the last footprint, y of the new line, and the new heading.
        tempo: Tempo of this take.
        style: Style of the character.
        seed: For the restlessness.
    """
    lead = lead_of("walk", style)
    arrive = lead.arrivals(np.zeros(3), 0.0)[0]
    pose = np.array([after[0] - 0.62 + arrive.target.x, after[1], after[2]])
    lift = steps[-1].land + tempo.around(0.09)
    end = round((lift + tempo.around(0.48) - arrive.land) * FPS) / FPS
    first, *others = lead.arrivals(pose, end)
    steps += [replace(first, lift=lift), *others]
    plan = StepPlan(lead.left, lead.right, tuple(steps), end)
    joins = [LeadJoin(lead, 0.0, np.zeros(3), 0.45), LeadJoin(lead, end, pose, 0.55)]
    return step_out(name, plan, joins, style=style, seed=seed).clip


SIDE_PERIOD_S = 1.0
SIDE_STRIDE = 0.48
"""Time and width of one side-walk cycle (open, close) [s, m]."""
LOOK = 0.6
"""How far the eyes look to the side they walk to [rad]."""
_FLARE = 0.34
"""How far the arms are carried out in each cycle of walking sideways [rad]; see `_flare`."""


def short_step(name: str, direction: str, style: Style = NEUTRAL, seed: int | None = None) -> Clip:
    """Return one step to the "front", "left" or "right", the other foot follows; about 0.3 m."""
    lead, tempo = lead_of("stand", style), Tempo(seed)
    length = {"front": 0.32, "left": 0.28, "right": 0.28}[direction] + float(tempo.draw(0.02)[0])
    move = np.array([length, 0.0, 0.0]) if direction == "front" else np.array([0.0, length, 0.0])
    if direction == "right":
        move = -move
    order = ("right", "left") if direction == "right" else ("left", "right")
    kinds = ("forward", "forward") if direction == "front" else ("side", "close")
    home = {"left": lead.left, "right": lead.right}
    time, steps = tempo.around(0.45), []
    for side, kind in zip(order, kinds, strict=True):
        swing = tempo.around(0.42)
        steps.append(FootStep(side, time, time + swing, home[side].moved(move), kind))
        time += swing + tempo.around(0.11)
    return stand_to_stand(name, StepPlan(lead.left, lead.right, tuple(steps), 0.0), move, style, seed)


def _side_cycle(direction: str, style: Style) -> list[FootStep]:
    """Return one cycle, open and close; in the hub the feet are together."""
    lead = lead_of("stand", style)
    opening, closing = (direction, "right" if direction == "left" else "left")
    home = {"left": lead.left, "right": lead.right}
    move = np.array([0.0, SIDE_STRIDE if direction == "left" else -SIDE_STRIDE, 0.0])
    return [
        FootStep(opening, 0.03, 0.45, home[opening].moved(move), "side", 0.025),
        FootStep(closing, 0.52, 0.94, home[closing].moved(move), "close", 0.02),
    ]


@cache
def side_lead(direction: str, style: Style = NEUTRAL) -> Lead:
    """Return the lead of walking sideways to the "left" or "right"."""
    sign = 1.0 if direction == "left" else -1.0
    move = np.array([0.0, sign * SIDE_STRIDE, 0.0])
    return steady_lead(_side_cycle(direction, style), move, SIDE_PERIOD_S, style=style, aside=sign * LOOK)


def side_walk(name: str, direction: str, part: str, style: Style = NEUTRAL, seed: int | None = None) -> Clip:
    """Return a clip of walking sideways: the "start" out of the stand, the "cycle", or the "stop" into the stand."""
    stand, side = lead_of("stand", style), side_lead(direction, style)
    sign = 1.0 if direction == "left" else -1.0
    move = np.array([0.0, sign * SIDE_STRIDE, 0.0])
    wait = 0.40 if part == "start" else 0.0
    settle = 0.45 if part == "stop" else 0.0
    end = SIDE_PERIOD_S + wait + settle
    steps = [moved_step(step, np.zeros(3), wait) for step in _side_cycle(direction, style)]
    before = stand if part == "start" else side
    after = stand if part == "stop" else side
    if part != "start":
        steps = [*side.under_way(), *steps]
    if part != "stop":
        steps += [s for s in side.arrivals(move, end) if s.lift > end]
    plan = StepPlan(before.left, before.right, tuple(steps), end)
    fade_in = wait + 0.15 if part == "start" else 0.3
    fade_out = settle + 0.2 if part == "stop" else 0.3
    joins = [LeadJoin(before, 0.0, np.zeros(3), fade_in), LeadJoin(after, end, move, fade_out)]
    times = np.arange(round(end * FPS) + 1) / FPS
    looking = {
        "start": smooth_step(times, 0.05, 0.6),
        "cycle": np.ones(len(times)),
        "stop": 1.0 - smooth_step(times, 0.5, 1.1),
    }
    flare = _flare(times - wait, direction, Tempo(seed))
    return step_out(name, plan, joins, style=style, seed=seed, aside=sign * LOOK * looking[part], flare=flare).clip


def _flare(times: FloatArray, direction: str, tempo: Tempo) -> tuple[FloatArray, FloatArray]:
    """Return how far the left and the right arm go out in a cycle [rad]; (F,) each, 0 in the hub.

    The arm ahead opens with its leg, the other one follows and goes less far, as captured people do.
    """
    opening = tempo.around(_FLARE, 0.15) * bump(times / SIDE_PERIOD_S, 3.0, 4.0)
    closing = tempo.around(0.5 * _FLARE, 0.15) * bump(times / SIDE_PERIOD_S, 4.0, 3.0)
    return (opening, closing) if direction == "left" else (closing, opening)
