"""Two who meet where it is narrow pass each other by shoulders and arms, and do not touch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gaitway.audit.auditing import audit_take
from gaitway.behavior.giving_way import Motion, narrow_place, standing_time, touching
from gaitway.cast.catalog import load_cast
from gaitway.planning import plan_scene
from gaitway.scene import scene_from_dict
from gaitway.scene.scene import Scene
from gaitway.space.plan import Plan, PlanStep
from gaitway.space.prepared import planning_context
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World


def corridor(wide: float, **options: Any) -> Scene:
    """Return a corridor of 8 m, and two people who come from both ends."""
    walls = [
        {"box": {"center": [6.0, side * (0.5 * wide + 0.25)], "size": [8.0, 0.5], "height": 2.5}} for side in (-1, 1)
    ]
    ways = (("ada", [0.5, 0, 0], [11.5, 0]), ("bo", [11.5, 0, 180], [0.5, 0]))
    return scene_from_dict(
        {
            "gaitway": 1,
            "bounds": [-1, -2, 13, 2],
            "obstacles": walls,
            "characters": [{"name": name, "start": start, "goal": goal} for name, start, goal in ways],
            "plan": {"planner": "deform", **options},
        }
    )


def world_of(wide: float, yaw: float = 0.0, aside: float = 0.0) -> World:
    """Return a corridor whose walls are turned about the origin and moved to a side."""
    normal = np.exp(1j * (yaw + 0.5 * np.pi))
    middles = [(aside + side * (0.5 * wide + 0.25)) * normal for side in (-1, 1)]
    boxes = [Box((m.real, m.imag), (6.0, 0.5), 2.0, yaw) for m in middles]
    return World((-5.0, -5.0, 5.0, 5.0), tuple(Obstacle(box) for box in boxes))


def test_the_narrow_place_is_the_middle_of_a_corridor() -> None:
    found = narrow_place(world_of(1.1, 0.0, 0.2), 0.0j, complex(1.0, 0.0))
    assert found is not None
    assert found.width == pytest.approx(1.1, abs=1e-6)
    assert found.middle == pytest.approx(0.2j, abs=1e-6)
    assert found.along == pytest.approx(1.0)


def test_a_corridor_that_is_turned_against_the_way_is_measured_across() -> None:
    yaw = np.radians(20.0)
    found = narrow_place(world_of(1.1, yaw), 0.0j, complex(1.0, 0.0))
    assert found is not None
    assert found.width == pytest.approx(1.1, abs=1e-6)
    assert found.along == pytest.approx(np.exp(1j * yaw))


@pytest.mark.parametrize("wide", [0.7, 3.0])
def test_places_that_are_too_narrow_or_wide_enough_are_left(wide: float) -> None:
    assert narrow_place(world_of(wide), 0.0j, complex(1.0, 0.0)) is None


def test_blocks_leave_a_slit_along_the_middle() -> None:
    found = narrow_place(world_of(1.0), 0.0j, complex(1.0, 0.0))
    assert found is not None
    for side in (1, -1):
        ends = side * found.block(side, 3.0, "half").shape.footprint().points[:, 1]
        assert ends.min() == pytest.approx(0.01 + side * found.middle.imag)
        assert ends.max() > 0.55  # it goes into the wall


def walking(y: float, heading: float, x: float) -> Motion:
    """Return one cycle of a walk from a place."""
    scene = scene_from_dict(
        {"gaitway": 1, "bounds": [-9, -9, 9, 9], "characters": [{"name": "ada", "start": [0, 0], "goal": [1, 0]}]}
    )
    prepared = planning_context(scene.world).prepared(scene.characters[0])
    clip = load_cast("person").clips["walk_forward"]
    step = PlanStep("walk", "walk_forward", (x, y, heading), 0.0)
    return Motion(prepared, Plan((step,), (x, y, heading), clip.duration, 1.0), {})


def test_bodies_on_either_side_of_a_line_do_not_touch() -> None:
    there, along = walking(0.0, 0.0, 0.0), complex(1.0, 0.0)
    assert touching(there, walking(0.3, np.pi, 1.0), along)
    assert not touching(there, walking(1.0, np.pi, 1.0), along)
    assert not touching(there, walking(0.0, np.pi, 6.0), along)  # far ahead
    # in a row behind one another they are parted along the way
    assert not touching(there, walking(0.0, 0.0, 1.7), along)


def test_waits_in_a_plan_are_told() -> None:
    steps = tuple(PlanStep("any", "any", (x, 0.0, 0.0), t) for x, t in ((0.0, 0.0), (1.0, 1.0), (1.02, 3.0)))
    assert standing_time(Plan(steps, (2.0, 0.0, 0.0), 4.0, 1.0)) == pytest.approx(2.0)


@pytest.mark.slow
@pytest.mark.parametrize("wide", [1.0, 1.2])
def test_two_who_meet_in_a_corridor_both_arrive_and_no_later_than_without(wide: float) -> None:
    scene = corridor(wide)
    planned = plan_scene(scene)
    assert not planned.failed
    assert not audit_take(planned.take, scene.world).violations
    waiting = plan_scene(corridor(wide, give_way=False))
    ends, late = (sum(plan.end_time for plan in one.crowd.plans.values()) for one in (planned, waiting))
    assert ends <= late + 1e-6  # where there is a way around the walls, it may be taken instead


@pytest.mark.slow
def test_two_who_meet_where_nobody_can_wait_pass_each_other() -> None:
    ways = (("ada", [1, 0, 0], [11, 0]), ("bo", [11, 0, 180], [1, 0]))
    document = {
        "gaitway": 1,
        "bounds": [0, -0.6, 12, 0.6],
        "characters": [{"name": name, "start": start, "goal": goal} for name, start, goal in ways],
        "plan": {"planner": "deform"},
    }
    planned = plan_scene(scene_from_dict(document))
    assert not planned.failed
    assert not audit_take(planned.take, planned.scene.world).violations
