"""The table of planners: built-in ones, planners from outside the package, and names that there are not."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from typing import Any, Literal

import numpy as np
import pytest

import gaitway
from gaitway import planners
from gaitway.core.errors import GaitwayError, PlanError, SceneError
from gaitway.planners import PlannerEntry, planner_entry, planner_names
from gaitway.planning import unheeded_areas
from gaitway.scene import scene_from_dict, scene_schema
from gaitway.scene.fields import field
from gaitway.scene.plan_options import PlanOptions
from gaitway.space.plan import LaidSteps, Plan, SearchResult, Status
from gaitway.space.planner import PlanRequest
from gaitway.world.areas import Area

WALK = ("start_walk", "walk_forward", "walk_forward", "stop_walk")


class StraightOptions(PlanOptions):
    """Options of a planner that knows one thing: to walk straight on."""

    planner: Literal["straight"] = field("Which planner", "straight")
    strides: int = field("Steps at full speed", 2, ge=0, le=100)


class StraightPlanner:
    """Walks straight on, whatever there is; a toy."""

    prepared: list[str] = []  # noqa: RUF012

    def prepare(self, character: Any, prepared: Any) -> None:
        """Note that it was asked to."""
        self.prepared.append(character.name)

    def find(self, request: PlanRequest) -> SearchResult:
        """Lay clips one after another."""
        table, options = request.prepared.table, request.character.plan
        assert isinstance(options, StraightOptions)
        (x, y, heading), time = request.query.start, request.query.start_time
        rows = []
        for name in ("start_walk", *["walk_forward"] * options.strides, "stop_walk"):
            action = int(np.flatnonzero(table.behavior == table.index(name))[0])
            rows.append((x, y, heading, time, action))
            dx, dy, turn = table.moves[action]
            x, y = x + np.cos(heading) * dx - np.sin(heading) * dy, y + np.sin(heading) * dx + np.cos(heading) * dy
            heading, time = heading + turn, time + table.durations[action]
        steps = LaidSteps(np.array(rows), request.prepared.actions.names, table.clips)
        away = float(np.hypot(x - request.query.goal[0], y - request.query.goal[1]))
        status = Status.FOUND if away <= request.query.tolerance else Status.PARTIAL
        return SearchResult(status, Plan(steps, (x, y, heading), time, 0.0), remaining=away, found_by="ruler")


ENTRY = PlannerEntry(name="straight", title="straight on", options=StraightOptions, planner=StraightPlanner)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The table as it is, whatever a test adds to it."""
    monkeypatch.setattr(planners, "_TABLE", dict(planners._TABLE))
    monkeypatch.setattr(StraightPlanner, "prepared", [])
    yield


def walk(**plan: Any) -> Any:
    people = [{"name": "ann", "start": [2, 4, 0], "goal": [6, 4], "plan": plan}]
    return scene_from_dict({"gaitway": 1, "library": "person", "bounds": [0, 0, 20, 8], "characters": people})


@pytest.mark.usefixtures("table")
def test_a_planner_from_outside_plans_a_scene() -> None:
    planners.register(ENTRY)
    planned = gaitway.plan_scene(walk(planner="straight", strides=3, tolerance=3.0))
    assert StraightPlanner.prepared == ["ann"], "made ready once"
    assert planned.found_by == {"ruler": 1} and planned.rows()[0]["by"] == "ruler"
    assert planned.crowd.plans["ann"].behaviors == ("start_walk", *["walk_forward"] * 3, "stop_walk")
    root = planned.take.clip(0).root_positions
    assert root[-1, 0] - root[0, 0] > 3.0 and abs(root[-1, 1] - root[0, 1]) < 0.2
    again = gaitway.plan_scene(walk(), planner="straight")
    assert again.take.facts["planner"] == "straight" and again.found_by == {"ruler": 1}


@pytest.mark.usefixtures("table")
def test_its_options_are_those_of_scene_files() -> None:
    planners.register(ENTRY)
    assert "straight" in planner_names()
    assert "strides" in str(scene_schema())
    with pytest.raises(SceneError, match=r"strides"):
        walk(planner="straight", strides=-1)
    with pytest.raises(SceneError, match=r"weight: unknown key"):
        walk(planner="straight", weight=2)


@pytest.mark.usefixtures("table")
def test_an_installed_planner_is_found_by_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    point = metadata.EntryPoint("straight", f"{__name__}:ENTRY", planners.ENTRY_POINTS)
    monkeypatch.setattr(metadata.EntryPoint, "load", lambda self: ENTRY)
    monkeypatch.setattr(planners, "entry_points", lambda group: [point])
    assert planner_entry("straight") is ENTRY


@pytest.mark.usefixtures("table")
def test_what_an_entry_point_names_must_be_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    point = metadata.EntryPoint("odd", "math:pi", planners.ENTRY_POINTS)
    monkeypatch.setattr(planners, "entry_points", lambda group: [point])
    with pytest.raises(PlanError, match=r"entry point .odd. of gaitway.planners is 3.14.*must be a PlannerEntry"):
        planner_names()


@pytest.mark.usefixtures("table")
def test_a_name_is_taken_once() -> None:
    planners.register(ENTRY)
    planners.register(ENTRY)  # the same again does no harm
    other = PlannerEntry(name="straight", title="other", options=StraightOptions, planner=StraightPlanner)
    with pytest.raises(PlanError, match="there is a planner 'straight' already"):
        planners.register(other)
    planners.unregister("straight")
    assert "straight" not in planner_names()


def test_an_unknown_planner_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(PlanError, match="there is no planner 'trees'; did you mean 'tree'"):
        planner_entry("trees")
    with pytest.raises(GaitwayError, match="there is no planner 'xyz'; write one of behavior, tree"):
        gaitway.plan(walk(), planner="xyz")
    with pytest.raises(SceneError, match=r"planner.*did you mean 'behavior'"):
        walk(planner="behaviour")


@pytest.mark.parametrize("name", ["behavior", "tree"])
def test_built_in_planners_can_be_made(name: str) -> None:
    entry = planner_entry(name)
    assert entry.options_model()().planner == name
    one, other = entry.make(), entry.make()
    assert callable(one.find) and one is not other and type(one) is type(other) is not type


def test_planners_that_do_not_heed_areas_say_so_in_one_line() -> None:
    lane, gate = (
        Area(outline=np.array([[0, 0], [4, 0], [4, 4]]), one_way=0.0),
        Area(outline=np.array([[0, 0], [4, 0], [4, 4]]), priority=2),
    )
    assert unheeded_areas([lane], ["behavior", "behavior"]) == unheeded_areas([], ["crowd", "tree"]) == ()
    (throng,) = unheeded_areas([lane], ["crowd", "behavior", "crowd"])
    assert "'crowd' does not know them" in throng
    (tree,) = unheeded_areas([lane], ["tree"])
    assert "from sub-goal to sub-goal" in tree
    assert unheeded_areas([gate], ["behavior"]) == ()
    (errands,) = unheeded_areas([gate], ["behavior"], errands=True)
    assert "who set out first goes first" in errands
