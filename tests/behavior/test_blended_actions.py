"""Planning with blends: a library of few clips does nearly what one with more clips does, and its takes are clean."""

from __future__ import annotations

from functools import cache

import pytest

from gaitway.audit import audit_take
from gaitway.cast.catalog import load_cast
from gaitway.library.behavior import Library
from gaitway.library.families import with_families
from gaitway.planning import Planned, plan_scene
from gaitway.scene import Scene, scene_from_dict
from gaitway.scene.characters import LibraryRef

FEW = [
    "stand",
    "start_walk",
    "stop_walk",
    "walk_forward",
    "walk_left_45",
    "walk_right_45",
    "turn_left_90",
    "turn_right_90",
]
MORE = [*FEW, "walk_left_15", "walk_left_30", "walk_right_15", "walk_right_30"]


@cache
def place() -> Scene:
    """A room with a pillar, and somebody in each of five lanes whose goal lies a little beside straight ahead."""
    goals = [(14.0, y + off) for y, off in zip((0.0, 8.0, 16.0, 24.0, 32.0), (1.5, -2.5, 3.5, -1.0, 2.0), strict=True)]
    return scene_from_dict({
        "gaitway": 1, "library": "person", "bounds": [-4, -6, 20, 40],
        "obstacles": [{"cylinder": {"center": [6, 16.5], "radius": 0.8, "height": 2}}],
        "characters": [
            {"name": f"n{k}", "start": [0, 8.0 * k, 0], "goal": list(goal)} for k, goal in enumerate(goals)
        ],
    })  # fmt: skip


@cache
def planned(kind: str) -> Planned:
    library = load_cast("person", behaviors=MORE if kind == "more" else FEW)
    return plan_scene(place(), libraries={LibraryRef(): with_families(library) if kind == "blends" else library})


def cost(kind: str) -> float:
    return sum(plan.cost for plan in planned(kind).crowd.plans.values())


def used(kind: str) -> set[str]:
    library: Library = next(iter(planned(kind).crowd.libraries.values()))
    names = {step.behavior for plan in planned(kind).crowd.plans.values() for step in plan.steps}
    assert names <= {behavior.name for behavior in library.graph.behaviors}
    return names


@pytest.mark.slow
def test_blends_of_two_clips_do_for_clips() -> None:
    assert not planned("blends").failed and not planned("few").failed
    assert cost("blends") < 0.98 * cost("few")
    assert cost("blends") == pytest.approx(cost("more"), rel=0.03)
    assert used("blends") & {"walk_left_15", "walk_left_30", "walk_right_15", "walk_right_30"}


@pytest.mark.slow
def test_takes_with_blends_pass_the_audit() -> None:
    report = audit_take(planned("blends").take, place().world)
    for row in report.rows:
        assert row.ok, row.cells()
