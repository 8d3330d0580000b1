"""From plans of errands to a take: who performs which walks, and what a take says about errands."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from gaitway.errands.busy import Busy
from gaitway.errands.dispatcher import Span
from gaitway.errands.planning import ErrandPlan
from gaitway.levels.level_scene import LevelScene
from gaitway.performing.synthesis import REST, SWAY, Leg, Performer
from gaitway.performing.terrain.underfoot import GroundSpan
from gaitway.space.plan import Plan
from gaitway.take.model import Take
from gaitway.take.things import things_of


def errand_performers(found: ErrandPlan, seed: int, levels: LevelScene | None = None) -> list[Performer]:
    """Return everybody with all walks, as `plans_to_take` wants them.

    Args:
        found: the plans, in the plane in which they were made.
        seed: seed of how people stand.
        levels: the floors of that plane; None for a place with one floor.
    """
    return [_performer(busy, found, seed, levels) for busy in found.people]


def errand_rows(found: ErrandPlan) -> dict[str, list[list[Any]]]:
    """Return what everybody did, by name, as plain JSON values: label, start, end [s], what came of it, and why."""
    return {busy.name: [_row(span) for span in busy.spans] for busy in found.people}


def company_rows(found: ErrandPlan) -> list[list[str]]:
    """Return the names of those who did errands together, company by company; only of those who came."""
    came = {busy.name for busy in found.people}
    all_of_them = dict.fromkeys(busy.character.companions for busy in found.people)
    together = ([name for name in names if name in came] for names in all_of_them)
    return [names for names in together if len(names) > 1]


def thing_rows(found: ErrandPlan) -> dict[str, Any]:
    """Return what became of things, as facts of a take; nothing without things."""
    return {} if found.desk is None else found.desk.facts()


def shown_until(found: ErrandPlan) -> float | None:
    """Return when the last errand is over, if that is after the last walk [s]: people may wait at their goals."""
    walked = max((walk.plan.end_time for busy in found.people for walk in busy.walks), default=0.0)
    return found.end if found.end > walked + REST else None


def door_rows(found: ErrandPlan) -> dict[str, Any]:
    """Return how doors moved, as facts of a take; nothing without doors."""
    return {} if found.keeper is None else {"doors": found.keeper.facts()}


def with_arms_that_carry(take: Take, found: ErrandPlan) -> Take:
    """Return a take in which whoever has a thing carries it, with closed fingers where the rig has some."""
    if found.desk is None:
        return take
    carrying = import_module("gaitway.handling.carrying")  # which loads the planner of limbs
    fingers = import_module("gaitway.handling.fingers")
    carried: Take = carrying.with_carrying(take, found.desk.carries, found.desk.motions)
    closed: Take = fingers.with_fingers(carried, things_of(carried))
    return closed


def _row(span: Span) -> list[Any]:
    return [span.label, round(span.start, 3), round(span.end, 3), span.outcome, span.reason]


def _performer(busy: Busy, found: ErrandPlan, seed: int, levels: LevelScene | None) -> Performer:
    plans = [walk.plan for walk in busy.walks]
    height, start = None, busy.character.start
    ground: tuple[GroundSpan, ...] = ()
    if levels is not None:
        first = plans[0] if plans else Plan((), busy.pose, busy.character.start_time, 0.0)
        height = levels.height(first.steps[0].pose if first.steps else start)
        ground = _ground(busy, levels, plans)
        plans, start = [levels.in_place(plan) for plan in plans], levels.pose(start)
    legs = [Leg(plan, walk.clips, SWAY if walk.exact else None) for plan, walk in zip(plans, busy.walks, strict=True)]
    return Performer(
        busy.name,
        found.libraries[busy.name],
        start,
        start_time=busy.character.start_time,
        radius=busy.character.radius,
        seed=seed,
        height=height,
        ground=ground,
        later=legs,
        leaves=busy.leaves,
    )


def _ground(busy: Busy, levels: LevelScene, plans: Sequence[Plan]) -> tuple[GroundSpan, ...]:
    """Return the ground under all walks of a person, one after another."""
    spans: list[GroundSpan] = []
    for plan in plans:
        found = levels.ground(busy.character, plan)
        begin = plan.steps[0].time if plan.steps else plan.end_time
        for k, span in enumerate(found):
            first = -np.inf if not spans and k == 0 else begin if k == 0 else span.start
            spans.append(GroundSpan(first, span.relief, span.height, span.level))
    return tuple(spans)
