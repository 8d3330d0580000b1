"""A live character squeezes through gates while it searches on, a few fragments in each frame."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.bench.deform import gate
from gaitway.core.errors import GaitwayError
from gaitway.deform.place import SqueezePlace
from gaitway.deform.tucking import body_depths, capsule_groups
from gaitway.deform.walker import DeformCrowd, DeformWalker
from gaitway.scene import scene_from_dict


@pytest.mark.slow
def test_a_live_character_passes_a_gate_and_turns_back_when_it_is_sent_back() -> None:
    scene = gate(0.45)
    walker, place = DeformWalker(scene, "ada"), SqueezePlace(scene.world)
    groups = capsule_groups(walker.pose.skeleton)
    last, tried, goals = walker.root, walker._run.search.checks, [(1.2, 3.0)]
    for _ in range(1200):
        walker.step()
        assert walker._run.search.checks - tried <= 4, "every frame costs as much"
        tried = walker._run.search.checks
        depths, _ = body_depths(walker.pose, place, np.array([walker.time]), groups, 0.01)
        assert depths.max() == 0.0 and np.linalg.norm(walker.root - last) < 0.12
        last = walker.root
        if walker.arrived and not goals:
            break
        if walker.arrived:
            assert walker.root[0] > 6.0
            walker.send(goals.pop())
            tried = walker._run.search.checks
    assert walker.arrived and np.hypot(*(walker.root[:2] - [1.2, 3.0])) < 0.6


def test_bad_input_is_told_in_one_line() -> None:
    with pytest.raises(GaitwayError, match="no character 'bo'"):
        DeformWalker(gate(0.5), "bo")
    with pytest.raises(GaitwayError, match="write 1 or more"):
        DeformWalker(gate(0.5), "ada", checks=0)


@pytest.mark.slow
def test_live_characters_keep_clear_of_one_another() -> None:
    people = [
        {"name": name, "start": start, "goal": goal}
        for name, start, goal in (("ada", [1, 2.5, 0], [7, 2.5]), ("bo", [7, 2.5, 180], [1, 2.5]))
    ]
    crowd = DeformCrowd(
        scene_from_dict({"gaitway": 1, "bounds": [0, 0, 8, 5], "characters": people, "plan": {"planner": "deform"}})
    )
    nearest = np.inf
    for _ in range(900):
        crowd.step()
        ada, bo = crowd.walkers
        nearest = min(nearest, float(np.hypot(*(ada.root - bo.root)[:2])))
        if crowd.walkers[1].arrived:
            break
    assert crowd.walkers[1].arrived and 0.4 < nearest < 2.0
