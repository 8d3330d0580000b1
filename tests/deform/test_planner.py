"""The planner `deform` leads characters through gaps that are narrower than their arms swing, and touches nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gaitway
from gaitway.audit.auditing import audit_take
from gaitway.bench.deform import gate, pillars
from gaitway.deform.planner import DeformPlanner, DeformRun
from gaitway.deform.tucking import own_depths
from gaitway.motion.contacts import contact_slip
from gaitway.papers.choi_course import many_cylinders
from gaitway.scene import scene_from_dict
from gaitway.scene.scene import Scene
from gaitway.space.plan import Status


def forest(wide: float, **options: Any) -> Scene:
    """Return a scene with two rows of cylinders, gaps between them."""
    step, shapes = 0.5 + wide, []
    for row in range(2):
        for k in range(-round(4.0 / step), round(4.0 / step) + 1):
            center = [3.0 + 1.6 * row, round(5.0 + (k + 0.5 * row) * step, 3)]
            shapes.append({"cylinder": {"center": center, "radius": 0.25, "height": 1.4}})
    walls = [{"box": {"center": [3.8, y], "size": [2.4, 2.0], "height": 2.0}} for y in (0.6, 9.4)]
    return scene_from_dict(
        {
            "gaitway": 1,
            "library": "person",
            "bounds": [0, 0, 9, 10],
            "obstacles": [*shapes, *walls],
            "characters": [{"name": "ada", "start": [1, 5, 0], "goal": [7.5, 5]}],
            "plan": {"planner": "deform", "start_spread": 0, "speed_spread": 0, **options},
        }
    )


@pytest.mark.slow
def test_a_character_squeezes_through_a_forest_and_the_audit_is_clean() -> None:
    scene = forest(0.5)
    planned = gaitway.plan_scene(scene)
    result = planned.crowd.results["ada"]
    assert result.found and result.found_by == "deform", result.reason
    plan = planned.crowd.plans["ada"]
    assert plan.own and all(np.isfinite(step.swept.discs).all() for step in plan.own.values())
    report = audit_take(planned.take, scene.world)
    wrong = {row.name: row.worst for row in report.rows if row.decides and row.violations}
    assert not wrong, wrong
    assert all(contact_slip(step.clip) < 0.01 for step in plan.own.values())


@pytest.mark.slow
@pytest.mark.parametrize("width", [0.5, 0.42, 0.4])
def test_gates_are_passed_with_arms_that_are_led_out_of_the_own_body(width: float) -> None:
    """Arms are ahead of the body or behind it, and never in it by more than 1 cm."""
    scene = gate(width)
    planned = gaitway.plan_scene(scene)
    plan = planned.crowd.plans["ada"]
    assert audit_take(planned.take, scene.world).violations == ()
    assert 0.0 < max(own_depths(step.clip).max() for step in plan.own.values()) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("width", [0.36, 0.3])
def test_gates_too_narrow_for_a_walk_are_passed_by_side_steps(width: float) -> None:
    scene = gate(width)
    planned = gaitway.plan_scene(scene)
    assert not planned.failed and audit_take(planned.take, scene.world).violations == ()
    assert any("side" in step.behavior for step in planned.crowd.plans["ada"].steps)


@pytest.mark.slow
@pytest.mark.parametrize(("thick", "yaw"), [(0.6, 30.0), (1.0, -30.0)])
def test_oblique_gates_in_thick_walls_are_passed(thick: float, yaw: float) -> None:
    scene = gate(0.45, thick, yaw)
    planned = gaitway.plan_scene(scene)
    assert not planned.failed and audit_take(planned.take, scene.world).violations == ()


@pytest.mark.slow
def test_a_gap_that_nobody_fits_is_told() -> None:
    planned = gaitway.plan_scene(forest(0.2, max_nodes=30))
    assert "wide enough" in planned.failed["ada"].reason


@pytest.mark.slow
def test_people_cross_pillars_in_both_directions_and_keep_clear_of_one_another() -> None:
    scene = pillars(0.5, "deform")
    planned = gaitway.plan_scene(scene)
    assert not planned.failed and audit_take(planned.take, scene.world).violations == ()
    own = [step.clip for plan in planned.crowd.plans.values() for step in plan.own.values()]
    assert max(float(own_depths(clip).max()) for clip in own) < 0.01


def test_the_time_to_look_for_a_plan_is_kept() -> None:
    planned = gaitway.plan_scene(forest(0.45, max_seconds=1e-3))
    result = planned.crowd.results["ada"]
    assert not result.found and result.status is Status.BUDGET and result.expanded < 3


def test_no_clock_decides_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DeformRun, "seconds", property(lambda run: 1e9))  # as slow a machine as there may be
    assert not gaitway.plan_scene(gate(0.5)).failed


@pytest.mark.slow
def test_two_people_cross_many_cylinders_with_gaps_of_45_cm() -> None:
    scene = many_cylinders(0.45)
    planned = gaitway.plan_scene(scene)
    assert not planned.failed and audit_take(planned.take, scene.world).violations == ()


def lane(special: dict[str, Any]) -> Scene:
    """Return a lane with something across it that one cannot go around."""
    return scene_from_dict(
        {
            "gaitway": 1,
            "library": "person",
            "bounds": [0, 0, 11, 4],
            "specials": [special],
            "characters": [{"name": "ada", "start": [1.2, 2, 0], "goal": [9.5, 2]}],
            "plan": {"planner": "deform", "start_spread": 0, "speed_spread": 0},
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("special", "passed_by"),
    [
        ({"jump": {"center": [5.5, 2], "size": [0.15, 4], "height": 0.4}}, "step_over"),
        ({"duck": {"center": [5.5, 2], "size": [0.25, 4], "clearance": 1.25, "height": 0.2}}, "duck"),
        ({"crawl": {"center": [5.5, 2], "size": [0.5, 4], "clearance": 0.85, "height": 0.2}}, "crawl_under"),
    ],
)
def test_what_spans_a_lane_is_passed_once_over_or_under(special: dict[str, Any], passed_by: str) -> None:
    scene = lane(special)
    planned = gaitway.plan_scene(scene)
    assert not planned.failed
    names = [step.behavior for step in planned.crowd.plans["ada"].steps]
    assert sum(name.startswith(passed_by) for name in names) == 1, names
    assert audit_take(planned.take, scene.world).violations == ()


def test_the_same_question_is_not_answered_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crowd asks again and again for somebody who is alone and finds no way."""
    asked, answered = [], []
    find, result = DeformPlanner.find, DeformRun.result
    monkeypatch.setattr(DeformPlanner, "find", lambda self, request: (asked.append(1), find(self, request))[1])
    monkeypatch.setattr(DeformRun, "result", lambda self: (answered.append(self.query), result(self))[1])
    planned = gaitway.plan_scene(forest(0.45, max_nodes=2))
    assert planned.failed and 0 < len(answered) < len(asked)
