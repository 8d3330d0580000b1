"""Rides: people who stand until a lift has come and go up and down with it, or whom an escalator carries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gaitway.levels.links import LiftRide, Link
from gaitway.motion.clip import Clip
from gaitway.space.mover_sweep import Swept
from gaitway.space.plan import OwnStep, Plan, PlanStep
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.traffic import Traffic, swept_step

RIDE = "~ride-"
"""Part of the names of clips in which somebody rides a lift."""


def setting_off(prepared: PreparedLibrary) -> str | None:
    """Return a behaviour that comes only after standing: what it can follow stands; None if there is none."""
    states, followers = prepared.actions.arrays.states, prepared.actions.arrays.followers
    own = prepared.actions.start_state(None)
    after = [set(followers[states[k, 0] : states[k + 1, 0]].tolist()) for k in range(len(states) - 1)]
    others = set[int]().union(*(some for k, some in enumerate(after) if k != own))
    found = sorted(after[own] - others)
    return prepared.table.behaviors[found[0]] if found else None


def stood_until(prepared: PreparedLibrary, traffic: Traffic, plan: Plan, time: float) -> Plan | None:
    """Return a plan that stands at its end at least until a time [s]; None if others come there."""
    rest = rest_after(prepared, plan.steps[-1].behavior if plan.steps else None)
    if rest is None:
        return None
    steps, cost, now = list(plan.steps), plan.cost, plan.end_time
    behavior, clip = prepared.table.behaviors[prepared.table.behavior[rest]], prepared.table.clips[rest]
    speed = float(prepared.speeds[rest])
    lasts = float(prepared.table.durations[rest]) / speed
    while now < time - 1e-9:
        steps.append(PlanStep(behavior, clip, plan.end_pose, now, speed))
        if traffic.met_by(swept_step(steps[-1], prepared.table, prepared.discs)) is not None:
            return None
        cost, now = cost + float(prepared.actions.costs[rest]), now + lasts
    return Plan(tuple(steps), plan.end_pose, now, cost, plan.own)


def rides(
    prepared: PreparedLibrary, traffic: Traffic, plan: Plan, ride: LiftRide, arrives: float, name: str
) -> Plan | None:
    """Return a plan that stands on a platform until it has come to another height; None if others are there.

    Args:
        prepared: library and world of the character.
        traffic: all others.
        plan: plan that ends on the platform.
        ride: the ride.
        arrives: when the platform comes to that height [s].
        name: suffix of the name of the clip of this ride; different for each of them.
    """
    stood = stood_until(prepared, traffic, plan, arrives)
    if stood is None:
        return None
    more = stood.steps[len(plan.steps) :]
    source = prepared.library.clips[more[0].clip]
    clip = ridden_clip(source, ride, plan.end_time, len(more), more[0].speed, f"{more[0].clip}{RIDE}{name}")
    swept = Swept.joined([swept_step(step, prepared.table, prepared.discs) for step in more])
    step = replace(more[0], clip=clip.name)
    (x, y, heading), (dx, dy) = plan.end_pose, ride.across
    return Plan(
        (*plan.steps, step), (x + dx, y + dy, heading), stood.end_time, stood.cost,
        {**plan.own, clip.name: OwnStep(clip, swept)},
    )  # fmt: skip


def ridden_clip(source: Clip, ride: LiftRide, start: float, rounds: int, speed: float, name: str) -> Clip:
    """Return a clip of somebody who stands on a platform, as high as that is at each moment.

    Args:
        source: the clip of somebody who stands; it ends as it begins.
        ride: the ride.
        start: when the clip begins [s].
        rounds: how often the source is played.
        speed: how fast it is played.
        name: name of the clip.
    """
    once = len(source) - 1
    frames = np.append(np.tile(np.arange(once), rounds), once)
    tops = ride.lift.height(start + np.arange(len(frames)) / (source.fps * speed))
    roots = np.array(source.root_positions[frames])
    roots[:, 2] += tops - tops[0]
    contacts = None if source.contacts is None else source.contacts[frames]
    return replace(source, name=name, root_positions=roots, rotations=source.rotations[frames], contacts=contacts)


def carried_by(link: Link, clip: Clip) -> Clip:
    """Return the clip of a link as high at each moment as the tread is that carries it, wherever that is.

    The clip was made for one place of the tread on its escalator. All of the body rides on one tread where that is not
    level with a floor, so that it goes up and down as a whole.
    """
    if link.belt is None:
        return clip
    tread = link.played.tread + link.belt.speed * np.arange(len(clip)) / clip.fps
    roots = np.array(clip.root_positions)
    roots[:, 2] += link.belt.climbed(tread + link.shift) - link.belt.climbed(tread)
    return replace(clip, root_positions=roots)


def rise_of(plan: Plan, step: PlanStep) -> float:
    """Return by how much a step of a plan leads up in a lift [m]; 0 for all other steps."""
    if RIDE not in step.clip:
        return 0.0
    heights = plan.own[step.clip].clip.root_positions[:, 2]
    return float(heights[-1] - heights[0])


def rest_after(prepared: PreparedLibrary, behavior: str | None) -> int | None:
    """Return the clip in which a character stands after a behaviour, or at the start; None if it cannot stand."""
    actions = prepared.actions
    rest = int(actions.arrays.states[actions.start_state(behavior), 1])
    return None if rest < 0 else rest
