"""Ready scenes by both planners: everybody arrives, no body touches anything, and trees cost little more than A*."""

from __future__ import annotations

import pytest

from gaitway.scene import load_scene, ready_scenes
from planned_scenes import BUSY, CLIMBED, HANDLED, LARGE, arrive_by_both_planners


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", sorted(set(ready_scenes()) - {*BUSY, *LARGE, *CLIMBED, *HANDLED}))
def test_ready_scenes_pass_the_audit_by_both_planners(name: str, seed: int) -> None:
    arrive_by_both_planners(load_scene(name), seed)
