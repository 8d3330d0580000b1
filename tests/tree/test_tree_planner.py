"""Scenes planned by tree: the same people arrive as by A*, nothing is hit, and who is planned how can be chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gaitway.audit import audit_take
from gaitway.behavior.options import BehaviorOptions
from gaitway.core.errors import GaitwayError, SceneError
from gaitway.planning import Planned, plan_scene
from gaitway.scene import scene_from_dict
from gaitway.scene.plan_options import with_planner
from gaitway.space.plan import Status
from gaitway.space.planner import Effort, PlanRequest
from gaitway.space.prepared import planning_context
from gaitway.space.query import Query
from gaitway.space.traffic import Traffic
from gaitway.tree.options import TreeOptions
from gaitway.tree.planner import TreePlanner

BARE: dict[str, Any] = {"gaitway": 1, "bounds": [0, 0, 30, 12], "library": "person", "plan": {"planner": "tree"}}


def planned(*people: dict[str, Any], **parts: Any) -> Planned:
    return plan_scene(scene_from_dict({**BARE, "characters": list(people), **parts}))


def walker(name: str = "ada", **more: Any) -> dict[str, Any]:
    return {"name": name, "start": [2, 6, 0], "goal": [27, 6], **more}


def wall(*points: list[float]) -> dict[str, Any]:
    return {"wall": {"points": list(points), "thickness": 0.3, "height": 2}, "name": "wall"}


@pytest.mark.slow
def test_people_walk_by_tree_around_walls_and_one_another() -> None:
    people = [walker(f"p{k}", start=[2, 2 + 2 * k, 0], goal=[27, 10 - 2 * k]) for k in range(5)]
    made = planned(*people, obstacles=[wall([12, 0], [12, 5]), wall([18, 12], [18, 7])])
    assert not made.failed and made.found_by["tree"] >= 3
    assert {row["by"] for row in made.rows()} <= {"tree", "A*"}
    assert audit_take(made.take, made.scene.world).violations == ()
    assert made.take.facts["planner"] == "tree"
    by_search = plan_scene(made.scene, planner="behavior")
    assert by_search.found_by == {"A*": 5} and by_search.take.facts["planner"] == "behavior"
    costs = [sum(plan.cost for plan in each.crowd.plans.values()) for each in (made, by_search)]
    assert costs[0] < 1.15 * costs[1]


@pytest.mark.slow
@pytest.mark.parametrize(("height", "jogs"), [(0.3, False), (0.6, True)])
def test_people_jog_only_to_fences_that_ask_for_it(height: float, jogs: bool) -> None:
    fence = {"jump": {"center": [15, 6], "size": [0.15, 12], "height": height}, "name": "fence"}
    made = planned(walker(), specials=[fence])
    assert not made.failed
    assert any("jog" in behavior for behavior in made.crowd.plans["ada"].behaviors) is jogs


@pytest.mark.slow
def test_the_same_scene_and_seed_give_the_same_take() -> None:
    takes = [planned(walker(), walker("bo", start=[27, 6.2, 180], goal=[2, 6])).take for _ in range(2)]
    for character in range(2):
        assert np.array_equal(takes[0].clip(character).rotations, takes[1].clip(character).rotations)


@pytest.mark.slow
def test_characters_may_differ_in_their_planner() -> None:
    made = planned(walker(), walker("bo", start=[2, 3, 0], goal=[27, 3], plan={"planner": "behavior"}))
    by = {row["character"]: row["by"] for row in made.rows()}
    assert by == {"ada": "tree", "bo": "A*"} and not made.failed


@pytest.mark.slow
def test_exact_arrival() -> None:
    made = planned(walker(goal=[20, 8, 90], plan={"planner": "tree", "exact": True}))
    x, y, heading = made.crowd.plans["ada"].end_pose
    assert not made.failed and np.hypot(x - 20.0, y - 8.0) < 0.02 and abs(heading - np.pi / 2) < np.radians(2.0)


@pytest.mark.slow
def test_without_fallback_only_trees_count() -> None:
    """Two narrow doors close to one another, which a small tree has no path through."""
    doors = [wall([8, 0], [8, 5.6]), wall([8, 6.4], [8, 12]), wall([9.2, 0], [9.2, 7]), wall([9.2, 7.8], [9.2, 12])]
    narrow = {"nodes": 1_000, "planner": "tree"}
    alone = planned(walker(), obstacles=doors, plan={**narrow, "fallback": False})
    assert list(alone.failed) == ["ada"] and "write fallback: true" in alone.failed["ada"].reason
    together = planned(walker(), obstacles=doors, plan=narrow)
    assert not together.failed and together.found_by == {"A*": 1}


@pytest.mark.slow
def test_who_would_rather_wait_is_planned_by_search() -> None:
    """Trees know of no waiting: with `fallback: false` they still give the answer that they have."""
    place = scene_from_dict({**BARE, "characters": [walker()]})
    for fallback, by in ((True, "A*"), (False, "tree")):
        who = replace(place.characters[0], plan=TreeOptions(fallback=fallback))
        prepared = planning_context(place.world).prepared(who)
        request = PlanRequest(
            character=who, prepared=prepared, query=Query(who.start, who.goal), traffic=Traffic(prepared.fields.kinds),
        )  # fmt: skip
        found = [TreePlanner().find(replace(request, effort=e)).found_by for e in (Effort.USUAL, Effort.PATIENT)]
        assert found == ["tree", by]


def test_a_goal_in_another_part_of_free_space_is_refused() -> None:
    made = planned(walker(), obstacles=[wall([15, 0], [15, 12])])
    result = made.crowd.results["ada"]
    assert result.status is Status.NO_PATH and result.found_by == "A*" and "another part of free space" in result.reason


def test_options_go_with_the_planner() -> None:
    tree = with_planner(BehaviorOptions(tolerance=0.3, weight=2.0, exact=True), "tree")
    assert isinstance(tree, TreeOptions) and tree.tolerance == 0.3 and tree.exact and tree.time_weight == 0.5
    assert with_planner(tree, "tree") is tree
    with pytest.raises(SceneError, match="there is no planner 'bush'; write one of behavior, tree"):
        with_planner(tree, "bush")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"nodes": 0}, "nodes"),
        ({"reach": 1.0}, "reach"),
        ({"weight": 2.0}, "weight"),
        ({"fallback": "perhaps"}, "fallback"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(GaitwayError, match=problem):
        planned(walker(), plan={"planner": "tree", **options})
