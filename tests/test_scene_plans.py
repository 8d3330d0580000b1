"""Ready scenes by both planners: everybody arrives, no body touches anything, and trees cost little more than A*."""

from __future__ import annotations

import pytest

from gaitway.planning import plan_scene
from gaitway.scene import load_scene, ready_scenes
from planned_scenes import BUSY, CLIMBED, HANDLED, LARGE, arrive, arrive_by_both_planners

NAMES = sorted(set(ready_scenes()) - {*BUSY, *LARGE, *CLIMBED, *HANDLED})


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_ready_scenes_pass_the_audit_by_both_planners(name: str) -> None:
    arrive_by_both_planners(load_scene(name), 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_ready_scenes_pass_the_audit_at_other_seeds(name: str, seed: int) -> None:
    arrive(plan_scene(load_scene(name), seed=seed))
