"""What every ready scene is held to, by both planners."""

from __future__ import annotations

from gaitway.audit import audit_take
from gaitway.planning import Planned, plan_scene
from gaitway.scene import Scene

LARGE = ("city_block", "fairground")
"""Scenes that take longer than all others together; each is planned with one seed."""

CLIMBED = ("playground", "station")
"""Scenes with several floors that `tests/levels` plans."""

BUSY = ("cafe", "office", "platform")
"""Scenes whose people do errands, which `tests/errands/test_busy_scenes.py` plans."""

HANDLED = ("cheese_and_hat", "kitchen")
"""Scenes with things, which `tests/errands/test_handling_plans.py` plans."""


def arrive(planned: Planned) -> None:
    """Everybody of a planned scene arrives, and its audit is clean."""
    assert not planned.failed
    assert audit_take(planned.take, planned.scene.world).violations == ()


def arrive_by_both_planners(scene: Scene, seed: int | None, by_search: Planned | None = None) -> None:
    """Plan a scene by A* (or take its plan) and by tree: all arrive, audits are clean, and trees cost little more."""
    made = (by_search or plan_scene(scene, seed=seed), plan_scene(scene, seed=seed, planner="tree"))
    for each in made:
        arrive(each)
    costs = [sum(plan.cost for plan in each.crowd.plans.values()) for each in made]
    assert costs[1] < 1.15 * costs[0]
