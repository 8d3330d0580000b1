"""Whole scenes as throngs: `planner: crowd`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import yaml

from gaitway import planners
from gaitway.audit import audit_take
from gaitway.core.errors import PlanError
from gaitway.crowd.locomotion.space import locomotion_space
from gaitway.crowd.planner import ThrongPlanner
from gaitway.crowd.throng.locks import LOCKED, LockBreaker
from gaitway.crowd.throng.simulation import ThrongSimulation, throng_options
from gaitway.crowd.throng.walking import _PAUSE, _WAITED, WalkingThrong
from gaitway.planners import PlannerEntry
from gaitway.planning import Planned, plan_scene
from gaitway.scene.plan_options import PlanOptions
from gaitway.scene.scene import Scene, load_scene
from gaitway.world.obstacle import Mover
from gaitway.world.shapes import Box
from gaitway.world.world import World

GATE = {
    "gaitway": 1,
    "bounds": [0, 0, 12, 8],
    "obstacles": [
        {"box": {"center": [6, 1.75], "size": [0.3, 3.5], "height": 2.2}},
        {"box": {"center": [6, 6.25], "size": [0.3, 3.5], "height": 2.2}},
    ],
    "plan": {"planner": "crowd", "upper_body": False},
}


class _Options(PlanOptions):
    """Options of a second planner of whole scenes."""

    planner: Literal["crowd2"] = "crowd2"


def _scene(folder: Path, characters: list[dict[str, Any]], **changes: Any) -> Scene:
    path = folder / "gate.yaml"
    path.write_text(yaml.safe_dump({**GATE, "characters": characters, **changes}), encoding="utf-8")
    return load_scene(path)


@pytest.fixture(scope="module")
def both_ways(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    left = [{"name": f"l{k}", "start": [2.0, 3.0 + k, 0], "goal": [10.0, 3.0 + k]} for k in range(3)]
    right = [{"name": f"r{k}", "start": [10.0, 2.5 + k, 180], "goal": [2.0, 2.5 + k]} for k in range(3)]
    return plan_scene(_scene(tmp_path_factory.mktemp("gate"), left + right), seed=2)


def test_both_sides_get_through_a_gate(both_ways: Planned) -> None:
    assert not both_ways.failed
    assert both_ways.found_by == {"crowd": 6}
    report = audit_take(both_ways.take, both_ways.scene.world)
    for row in ("skate", "height", "arrival"):
        assert report[row].ok, report[row]
    # which toes brush against one another between two frames hangs on the last bit; that bodies stay apart does not
    touches = [f for f in report.violations if f.row in ("penetration", "penetration_characters")]
    assert all(f.value < 0.015 for f in touches), touches
    rows = {row["character"]: row for row in both_ways.rows()}
    assert all(5.0 < row["arrives_s"] < 60.0 and row["goal_m"] <= 0.5 for row in rows.values())
    assert both_ways.take.facts["planner"] == "crowd"
    assert both_ways.motion_seconds > 30.0


@pytest.mark.slow
def test_who_is_locked_goes_back_in_time_and_comes_later() -> None:
    simulation = ThrongSimulation(World((0.0, 0.0, 6.0, 6.0)), throng_options(), 1)
    throng = WalkingThrong(simulation, [locomotion_space("person")])
    rows = simulation.add([[1.0, 3.0], [5.0, 3.0]], [[5.0, 3.0], [1.0, 3.0]], speeds=[1.2, 1.2])
    throng.join(0, rows, np.zeros(2, np.int64), 1)
    locks, anywhere = LockBreaker(throng, simulation), np.full(2, np.nan)
    locks.forget()
    seen = []
    for _ in range(200):  # they pass one another and nobody is locked
        throng.step(
            1.0 / 30.0, [(np.empty((0, 3)), np.empty((0, len(throng.bodies[0].space.rig.skeleton), 4)))], anywhere
        )
        seen.append(throng.bodies[0].roots.copy())
        assert locks.watch() is None
    assert simulation.arrived.all()
    throng._table[:, _WAITED] = LOCKED + 0.5, 0.0  # the first one is locked
    back = locks.watch()
    assert back is not None and 0.0 < back < 200 / 30.0 - LOCKED
    assert simulation.time == back and throng.waited.max() == 0.0
    assert np.array_equal(throng.bodies[0].roots, seen[round(back * 30.0) - 1])
    assert simulation.speeds.tolist() == pytest.approx([0.4 * 1.2, 1.2])


def test_who_pauses_stands_still_and_then_goes_on() -> None:
    simulation = ThrongSimulation(World((0.0, 0.0, 9.0, 6.0)), throng_options(), 1)
    throng = WalkingThrong(simulation, [locomotion_space("person")])
    rows = simulation.add([[1.0, 2.0], [1.0, 4.0]], [[8.0, 2.0], [8.0, 4.0]], speeds=[1.2, 1.2])
    throng.join(0, rows, np.zeros(2, np.int64), 1)
    others = [(np.empty((0, 3)), np.empty((0, len(throng.bodies[0].space.rig.skeleton), 4)))]
    throng._table[0, _PAUSE] = 0.5
    for frame in range(60):
        throng.step(1.0 / 30.0, others, np.full(2, np.nan))
        if frame == 14:
            assert simulation.positions[0].tolist() == [1.0, 2.0] and simulation.positions[1, 0] > 1.1
    assert throng._table[0, _PAUSE] <= 0.0 and simulation.positions[0, 0] > 1.8


@pytest.mark.slow
def test_people_step_out_of_the_way_of_a_cart_and_it_touches_nobody(tmp_path: Path) -> None:
    people = [
        {"name": "head-on", "start": [9.0, 5.0, 0], "goal": [9.0, 5.0]},
        {"name": "left", "start": [6.0, 5.3, 180], "goal": [6.0, 5.3]},
        {"name": "crosses", "start": [11.0, 1.0, 90], "goal": [11.0, 9.0]},
        {"name": "meets", "start": [1.5, 5.0, 0], "goal": [18.0, 5.0]},
    ]
    cart = {"box": {"size": [1.5, 1.0], "height": 1.0}, "path": [[0, 16, 5, 0], [14, 2, 5, 0]]}
    planned = plan_scene(_scene(tmp_path, people, bounds=[0, 0, 20, 10], obstacles=[], movers=[cart]), seed=1)
    assert not planned.failed
    report = audit_take(planned.take, planned.scene.world)
    assert report.ok, report.violations
    path = planned.take.planar(np.arange(0.0, 14.0, 0.1), [planned.take.names.index("head-on")])[0]
    assert np.ptp(path[:, 0]) < 0.8 and np.ptp(path[:, 1]) > 0.6  # aside, and not ahead of the cart


@pytest.mark.slow
def test_no_limb_gets_into_what_moves_in_a_throng(tmp_path: Path) -> None:
    def to_and_fro(every: float, there: list[float], back: list[float]) -> list[list[float]]:
        return [[every * k, *(back if k % 2 else there)] for k in range(10)]

    cart = {"box": {"size": [1.6, 0.9], "height": 1.0}}
    carts = [
        {**cart, "path": to_and_fro(8.0, [6, 1.5, 90], [6, 10.5, 90])},
        {**cart, "path": to_and_fro(6.0, [12, 10.5, 90], [12, 1.5, 90])},
        {"sphere": {"radius": 0.5}, "path": to_and_fro(12.0, [3, 4], [15, 4.5])},
        {"sphere": {"radius": 0.25}, "path": to_and_fro(7.0, [15, 2.5], [4, 9.5])},
    ]
    people = [
        {"count": 7, "name": "east", "start_area": [0.8, 1, 3, 11], "goal_area": [14.5, 1, 17, 11]},
        {"count": 7, "name": "west", "start_area": [15, 1, 17, 11], "goal_area": [1, 1, 3.5, 11]},
        {"name": "stays", "start": [6, 5, 0], "goal": [6, 5]},
    ]
    planned = plan_scene(_scene(tmp_path, people, bounds=[0, 0, 18, 12], obstacles=[], movers=carts), seed=1)
    assert not planned.failed
    report = audit_take(planned.take, planned.scene.world)
    assert report["penetration"].ok, report["penetration"].violations


@pytest.mark.slow
def test_nobody_goes_on_resting_before_a_cart_that_comes() -> None:
    cart = Mover.of(Box((0.0, 0.0), (1.5, 1.0), height=1.0), [0.0, 6.0], [[9.0, 3.0, 0.0], [3.0, 3.0, 0.0]])
    world = World((0.0, 0.0, 12.0, 6.0), movers=(cart,))
    simulation = ThrongSimulation(world, throng_options(), 1)
    throng = WalkingThrong(simulation, [locomotion_space("person")])
    throng.join(0, simulation.add([[6.5, 2.9], [2.0, 5.0]], [[6.5, 2.9], [2.0, 5.0]]), np.zeros(2, np.int64), 1)
    others = [(np.empty((0, 3)), np.empty((0, len(throng.bodies[0].space.rig.skeleton), 4)))]
    throng._table[:, _PAUSE] = 5.0
    deepest = np.zeros(2)
    for _ in range(120):
        throng.step(1.0 / 30.0, others, np.full(2, np.nan))
        deepest = np.maximum(deepest, throng.struck())
    assert simulation.positions[0, 1] < 2.5 and simulation.positions[1].tolist() == [2.0, 5.0]
    assert not deepest.any() and not throng.struck().any()


@pytest.mark.slow
def test_the_same_seed_is_the_same_take(both_ways: Planned) -> None:
    again, other = (plan_scene(both_ways.scene, seed=seed).take for seed in (2, 3))
    assert np.array_equal(again.dense().rotations, both_ways.take.dense().rotations)
    assert not np.array_equal(other.dense().root[:200], both_ways.take.dense().root[:200])


@pytest.mark.slow
def test_who_cannot_arrive_is_named(tmp_path: Path) -> None:
    scene = _scene(
        tmp_path,
        [
            {"name": "ada", "start": [2, 2, 0], "goal": [3, 6]},
            {"name": "bob", "start": [4, 2, 0], "goal": [10, 6]},
        ],
        obstacles=[{"box": {"center": [6, 4], "size": [0.3, 8], "height": 2.2}}],
    )
    planned = plan_scene(scene)
    assert list(planned.failed) == ["bob"]
    assert "no way" in planned.failed["bob"].reason
    assert set(planned.take.names) == {"ada", "bob"}
    alone = plan_scene(scene, failed="out")
    assert alone.take.names == ("ada",)
    assert alone.take.facts["left_out"] == ["bob"]


def test_a_throng_walks_around_those_who_are_planned_one_by_one(tmp_path: Path) -> None:
    lead = {"name": "lead", "start": [2, 4, 0], "goal": [10, 4], "plan": {"planner": "behavior", "upper_body": False}}
    others = [{"name": f"p{k}", "start": [10, 3.4 + 0.6 * k, 180], "goal": [2, 3.4 + 0.6 * k]} for k in range(3)]
    scene = _scene(tmp_path, [others[0], lead, *others[1:]], obstacles=[])
    planned = plan_scene(scene, seed=1)
    assert not planned.failed
    assert planned.take.names == ("p0", "lead", "p1", "p2")
    assert planned.found_by == {"crowd": 3, "A*": 1}
    alone = plan_scene(replace(scene, characters=(scene.characters[1],)), seed=1)
    times = np.arange(0.0, float(alone.take.ends[0]), 0.2)
    lead_goes = planned.take.planar(times, [1])[0]
    assert np.allclose(lead_goes, alone.take.planar(times, [0])[0], atol=1e-6)  # nobody is in the way of it
    for k in (0, 2, 3):
        other = planned.take.planar(times, [k])[0]
        assert np.hypot(*(other - lead_goes)[:, :2].T).min() > 0.35
    assert audit_take(planned.take, scene.world)["presence"].ok


def test_two_planners_of_whole_scenes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = PlannerEntry(name="crowd2", title="another", options=_Options, planner=ThrongPlanner)
    monkeypatch.setitem(planners._TABLE, "crowd2", other)
    scene = _scene(
        tmp_path,
        [
            {"name": "ada", "start": [2, 2, 0], "goal": [3, 6]},
            {"name": "bob", "start": [4, 2, 0], "goal": [5, 6]},
        ],
    )
    bob = replace(scene.characters[1], plan=_Options())
    with pytest.raises(PlanError, match="'ada' is planned by 'crowd' and 'bob' by 'crowd2', which both move everybody"):
        plan_scene(replace(scene, characters=(scene.characters[0], bob)))


def test_people_appear_wait_and_turn_at_the_goal(tmp_path: Path) -> None:
    scene = _scene(
        tmp_path,
        [
            {"name": "ada", "start": [2, 2, 0], "goal": [4, 4, 90]},
            {"name": "bob", "start": [2, 6, 0], "goal": [4, 6], "start_time": 3.0, "speed": 0.8},
        ],
    )
    planned = plan_scene(scene)
    assert not planned.failed
    take = planned.take
    assert take.start(1) == pytest.approx(3.0)
    x, y, heading = take.planar([float(take.ends[0])], [0])[0, 0]
    assert np.hypot(x - 4.0, y - 4.0) < 0.5
    assert abs(np.degrees(heading) - 90.0) < 15.0
    assert planned.crowd.plans["bob"].end_time - 3.0 > 1.5 / 0.8
