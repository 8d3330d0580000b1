"""Crowds: everybody arrives, nobody is walked over, and who cannot be planned is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gaitway.behavior.crowd import CrowdPlan, plan_crowd
from gaitway.behavior.member_planner import brief_halts, turning
from gaitway.behavior.planner import BehaviorPlanner
from gaitway.behavior.starts import CrowdMember, is_hemmed, start_delays
from gaitway.cast.catalog import load_cast
from gaitway.core import planar
from gaitway.library.behavior import Library
from gaitway.performing.standing import Standing
from gaitway.scene import Scene, scene_from_dict
from gaitway.scene.characters import LibraryRef
from gaitway.space.movement_costs import SPEEDS, speed_weights
from gaitway.space.plan import Plan, PlanStep, SearchResult, Status
from gaitway.space.planner import Effort, PlanRequest
from gaitway.space.prepared import planning_context
from gaitway.space.query import Query
from gaitway.space.traffic import Traffic

WALKING = [
    "stand", "start_walk", "stop_walk", "walk_forward", "walk_short", "walk_left_45", "walk_right_45", "walk_left_15",
    "walk_right_15", "turn_left_90", "turn_right_90", "turn_left_180", "step_left", "step_right",
]  # fmt: skip


@pytest.fixture(scope="module")
def libraries() -> Mapping[LibraryRef, Library]:
    return {LibraryRef(): load_cast("person", behaviors=WALKING)}


def scene(characters: list[dict[str, Any]], **more: Any) -> Scene:
    given = {"gaitway": 1, "library": "person", "bounds": [-8, -8, 8, 8], "characters": characters, **more}
    return scene_from_dict(given)


def at(crowd: CrowdPlan, name: str, times: np.ndarray) -> np.ndarray:
    """Where a character's root is by its steps, straight in between; (T, 2)."""
    plan = crowd.plans[name]
    keys = [(step.time, *step.pose[:2]) for step in plan.steps] + [(plan.end_time, *plan.end_pose[:2])]
    t, x, y = np.array(keys).T
    return np.column_stack([np.interp(times, t, x), np.interp(times, t, y)])


def test_four_who_cross_arrive_without_meeting(libraries: Mapping[LibraryRef, Library]) -> None:
    place = scene([
        {"name": "a", "start": [-5, 0, 0], "goal": [5, 0]},
        {"name": "b", "start": [5, 0, 180], "goal": [-5, 0]},
        {"name": "c", "start": [0, -5, 90], "goal": [0, 5]},
        {"name": "d", "start": [0, 5, -90], "goal": [0, -5]},
    ])  # fmt: skip
    seen: list[tuple[str, int, int]] = []
    crowd = plan_crowd(place, libraries, seed=1, progress=lambda *what: seen.append(what))
    assert crowd.failed == () and sorted(crowd.order) == ["a", "b", "c", "d"]
    times = np.arange(0.0, 1.0 + max(plan.end_time for plan in crowd.plans.values()), 0.05)
    ways = [at(crowd, name, times) for name in crowd.names]
    for i in range(4):
        goal = np.array(place.characters[i].goal)
        assert np.linalg.norm(ways[i][-1] - goal) <= 0.5
        for j in range(i):
            assert np.linalg.norm(ways[i] - ways[j], axis=1).min() > 0.4
    assert seen[-1] == ("characters", 4, 4) and ("libraries", 4, 4) in seen
    again = plan_crowd(place, libraries, seed=1)
    assert again.plans == crowd.plans and again.expanded == crowd.expanded


def test_who_cannot_be_planned_is_named_and_the_others_walk(libraries: Mapping[LibraryRef, Library]) -> None:
    wall = {"box": {"center": [6, 0], "size": [3, 0.4], "height": 2}, "name": "wall"}
    cell = {"wall": {"points": [[-7, -7], [-4, -7], [-4, -4], [-7, -4]], "thickness": 0.2, "height": 2, "closed": True}}
    place = scene([
        {"name": "free", "start": [-3, 3, 0], "goal": [3, 3]},
        {"name": "walled", "start": [0, -3, 0], "goal": [-5.5, -5.5]},
    ], obstacles=[wall, cell])  # fmt: skip
    crowd = plan_crowd(place, libraries)
    assert crowd.failed == ("walled",) and crowd.rounds == 1
    assert crowd.results["walled"].status is Status.NO_PATH
    assert crowd.plans["walled"].steps == () and crowd.plans["walled"].end_pose == place.characters[1].start


def test_two_with_one_goal_stop_side_by_side(libraries: Mapping[LibraryRef, Library]) -> None:
    place = scene([
        {"name": "first", "start": [-3, 0, 0], "goal": [2, 0]},
        {"name": "second", "start": [-5, 0, 0], "goal": [2, 0]},
    ], plan={"planner": "behavior", "tolerance": 0.15})  # fmt: skip
    crowd = plan_crowd(place, libraries, rounds=1)
    assert crowd.results["first"].found or crowd.results["second"].found
    (late,) = crowd.failed
    assert crowd.results[late].status is Status.PARTIAL and "stops" in crowd.results[late].reason
    ends = [np.array(plan.end_pose[:2]) for plan in crowd.plans.values()]
    assert 0.3 < np.linalg.norm(ends[0] - ends[1]) < 2.5


PRIORITIES = ({"a": 0, "b": 3, "c": 1}, {"a": 2, "b": 0, "c": 1}, {"a": 1, "b": 1, "c": 4})


@pytest.mark.parametrize("priorities", PRIORITIES)
def test_who_has_priority_is_planned_first(libraries: Mapping[LibraryRef, Library], priorities: dict[str, int]) -> None:
    """Whoever has the longer distance or starts sooner: those count only among equals."""
    ways, starts = {"a": 6.0, "b": 3.0, "c": 4.5}, {"a": 0.0, "b": 1.0, "c": 0.5}
    place = scene([
        {"name": name, "start": [-4, 3 * row - 3, 0], "goal": [ways[name] - 4, 3 * row - 3],
         "priority": priorities[name], "start_time": starts[name]}
        for row, name in enumerate("abc")
    ])  # fmt: skip
    crowd = plan_crowd(place, libraries)
    assert crowd.failed == ()
    assert crowd.order == tuple(sorted("abc", key=lambda name: (-priorities[name], starts[name])))


@pytest.mark.slow
@pytest.mark.parametrize("favoured", ["near", "far"])
def test_of_two_with_one_goal_who_has_priority_arrives(libraries: Mapping[LibraryRef, Library], favoured: str) -> None:
    """In every round: who fails is put in front of its equals, never in front of a higher priority."""
    place = scene([
        {"name": name, "start": [x, 0, 0], "goal": [2, 0], "priority": int(name == favoured)}
        for name, x in (("near", -2), ("far", -5))
    ], plan={"planner": "behavior", "tolerance": 0.25})  # fmt: skip
    crowd = plan_crowd(place, libraries, rounds=3)
    (late,) = crowd.failed
    assert crowd.results[favoured].found and late != favoured
    assert crowd.order[0] == favoured


def test_somebody_in_the_way_of_a_priority_moves_first_or_is_gone_around(
    libraries: Mapping[LibraryRef, Library],
) -> None:
    """A corridor that one fills: who stands in it is planned late, but must leave before the other can pass."""
    walls = [{"box": {"center": [0, y], "size": [8, 1], "height": 2}} for y in (-1.3, 1.3)]
    place = scene([
        {"name": "hurried", "start": [-6, 0, 0], "goal": [6, 0], "priority": 5},
        {"name": "plug", "start": [1, 0, 0], "goal": [6, 4]},
    ], obstacles=walls)  # fmt: skip
    crowd = plan_crowd(place, libraries)
    assert crowd.failed == () and crowd.rounds == 1
    assert crowd.order == ("hurried", "plug")
    assert {name: result.status for name, result in crowd.results.items()} == dict.fromkeys(crowd.names, Status.FOUND)


def test_who_is_planned_later_is_not_walked_through(libraries: Mapping[LibraryRef, Library]) -> None:
    place = scene([
        {"name": "passes", "start": [-5, 0, 0], "goal": [5, 0]},
        {"name": "home", "start": [0, 0, 90], "goal": [0, 0]},
    ])  # fmt: skip
    crowd = plan_crowd(place, libraries, rounds=1)
    assert crowd.order == ("passes", "home") and crowd.failed == ()
    times = np.arange(0.0, crowd.plans["passes"].end_time, 0.05)
    assert np.linalg.norm(at(crowd, "passes", times), axis=1).min() > 0.45


def test_another_order_is_tried_and_the_better_round_is_kept(libraries: Mapping[LibraryRef, Library]) -> None:
    """Who starts first stops in the mouth of a dead end, and whoever goes to its far end must be planned before it."""
    walls = [{"box": {"center": [4.5, y], "size": [6, 1], "height": 2}} for y in (-1.05, 1.05)]
    walls.append({"box": {"center": [7.3, 0], "size": [0.4, 3], "height": 2}})
    place = scene([
        {"name": "mouth", "start": [-5, 0, 0], "goal": [3, 0]},
        {"name": "deep", "start": [-5, 3, 0], "goal": [6, 0], "start_time": 4.0},
    ], obstacles=walls)  # fmt: skip
    once, often = (plan_crowd(place, libraries, rounds=rounds) for rounds in (1, 8))
    assert once.failed == ("deep",) and once.order == ("mouth", "deep")
    assert often.failed == () and often.order == ("deep", "mouth") and often.rounds == 2


def test_speeds_make_gaits_dear() -> None:
    library = load_cast("person", behaviors=["stand", "walk_forward", "jog_forward"])
    slow, fast = speed_weights(library, "normal"), speed_weights(library, "fast")
    assert slow["jog_forward"] > slow["walk_forward"] and fast["walk_forward"] > fast["jog_forward"]
    assert slow["stand"] == fast["stand"] == 1.0
    assert speed_weights(library, SPEEDS["fast"]) == fast


def test_who_stands_shoulder_to_shoulder_gets_away(libraries: Mapping[LibraryRef, Library]) -> None:
    """Discs of radius 0.3 m do not overlap, though elbows nearly touch; nobody starts far from where it is to."""
    names = ("a", "b", "c", "d")
    place = scene([
        {"name": name, "start": [-4, 0.63 * row, 0], "goal": [4, 0.63 * row]} for row, name in enumerate(names)
    ])  # fmt: skip
    crowd = plan_crowd(place, libraries)
    assert crowd.failed == ()
    starts = np.array([crowd.plans[name].steps[0].pose[:2] for name in names])
    aside = starts - [character.start[:2] for character in place.characters]
    assert np.hypot(*aside.T).max() <= 0.16  # elbow to elbow, the last of four in a row begins farthest aside


def test_arms_of_neighbours_need_more_room_than_shoulders() -> None:
    """Starts that are drawn are 0.6 m apart, and people of the whole cast hold their arms out a little."""
    starts = [[-5.0, -0.3, 0], [-5.15, 0.3, 0], [-4.9, 0.92, 0]]
    place = scene([{"name": f"p{k}", "start": start, "goal": [5, start[1]]} for k, start in enumerate(starts)])
    crowd = plan_crowd(place)
    assert crowd.failed == ()
    begun = [crowd.plans[f"p{k}"].steps[0].pose for k in range(3)]
    assert max(np.hypot(pose[0] - x, pose[1] - y) for pose, (x, y, _) in zip(begun, starts, strict=True)) <= 0.2


@pytest.mark.parametrize("heading", [-149, -90, 0, 45, 180])
def test_who_starts_right_at_a_wall_gets_away(libraries: Mapping[LibraryRef, Library], heading: float) -> None:
    wall = {"box": {"center": [0, -1], "size": [12, 1.34], "height": 2}, "name": "wall"}  # 0.33 m from the start
    place = scene([{"name": "a", "start": [0, 0, heading], "goal": [4, 4]}], obstacles=[wall])
    crowd = plan_crowd(place, libraries)
    assert crowd.failed == ()
    assert np.hypot(*crowd.plans["a"].steps[0].pose[:2]) <= 0.1


@pytest.mark.parametrize("options", [{"tolerance": 0.2}, {"exact": True}])
@pytest.mark.parametrize("count", [2, 3])
def test_those_who_stand_on_one_anothers_goals_all_arrive(
    libraries: Mapping[LibraryRef, Library], count: int, options: dict[str, Any]
) -> None:
    """Each goal is taken until somebody leaves, and nobody can be the first to arrive."""
    angles = np.arange(count) * 2.0 * np.pi / count
    corners = np.column_stack([5.0 * np.cos(angles), 5.0 * np.sin(angles)]).tolist()
    place = scene(
        [{"name": f"p{k}", "start": corners[k], "goal": corners[(k + 1) % count]} for k in range(count)],
        plan={"planner": "behavior", **options},
    )
    crowd = plan_crowd(place, libraries)
    assert crowd.failed == () and crowd.rounds == 1
    assert crowd.expanded < 5_000


def test_who_stands_on_a_goal_and_cannot_leave_is_named(libraries: Mapping[LibraryRef, Library]) -> None:
    place = scene([
        {"name": "comes", "start": [-5, 0, 0], "goal": [3, 0]},
        {"name": "home", "start": [3, 0, 0], "goal": [3, 0]},
    ], plan={"planner": "behavior", "tolerance": 0.2})  # fmt: skip
    crowd = plan_crowd(place, libraries, rounds=2)
    assert crowd.failed == ("comes",) and crowd.results["home"].found
    assert "'home'" in crowd.results["comes"].reason


def test_a_fence_without_a_name_is_told_of_by_one_name() -> None:
    """Whether it is in the way of the body or of the jump: here there is no room for a run-up."""
    place = scene_from_dict({
        "gaitway": 1,
        "bounds": [0, 0, 16, 10],
        "library": "person",
        "obstacles": [{"box": {"center": [6.2, 5], "size": [0.2, 10], "height": 2}}],
        "specials": [{"jump": {"center": [8, 5], "size": [0.12, 10], "height": 0.5}}],
        "characters": [{"name": "a", "start": [7.2, 5, 0], "goal": [13, 5]}],
    })  # fmt: skip
    assert set(plan_crowd(place).results["a"].blockers) == {"jump 1"}


def test_whose_steps_cannot_end_at_a_free_goal_stops_near_it() -> None:
    straight = load_cast("person", behaviors=["stand", "start_walk", "stop_walk", "walk_forward"])
    place = scene(
        [{"name": "a", "start": [-5, 0, 0], "goal": [2, 0.7]}], plan={"planner": "behavior", "tolerance": 0.3}
    )
    crowd = plan_crowd(place, {LibraryRef(): straight})
    result = crowd.results["a"]
    assert result.status is Status.PARTIAL and 0.3 < result.remaining < 2.0
    assert "nothing is in the way" in result.reason and "tolerance" in result.reason
    assert crowd.plans["a"].end_pose[0] > 0.0


def test_those_who_start_together_set_off_one_after_another() -> None:
    shares = start_delays([f"p-{k}" for k in range(12)], 5)
    assert len(np.unique(shares)) == 12 and shares.min() >= 0.0 and shares.max() < 1.0
    for cycle in (0.5, 1.0):
        turns = np.exp(2j * np.pi * shares / cycle)
        assert abs(turns.mean()) < 0.15  # by chance it is 0.26
    assert start_delays([f"p-{k}" for k in range(12)], 5).tobytes() == shares.tobytes()
    assert start_delays([f"p-{k}" for k in range(12)], 6).tobytes() != shares.tobytes()
    assert start_delays(["alone"], 5).tolist() == [0.0]


def test_how_far_starts_are_spread_is_asked_for(libraries: Mapping[LibraryRef, Library]) -> None:
    people = [{"name": f"p-{k}", "start": [-5, 2 * k - 4, 0], "goal": [5, 2 * k - 4]} for k in range(4)]
    firsts = {}
    for spread in (None, 0.0, 5.0):
        place = scene(people, **({} if spread is None else {"plan": {"start_spread": spread}}))
        crowd = plan_crowd(place, libraries, seed=1)
        assert crowd.failed == ()
        firsts[spread] = [plan.steps[0].time for plan in crowd.plans.values()]
    assert set(firsts[0.0]) == {0.0}
    for spread, most in ((None, 2.0), (5.0, 5.0)):
        assert len(set(firsts[spread])) == 4
        assert 0.3 * most < max(firsts[spread]) - min(firsts[spread]) <= most


def test_who_stands_where_a_mover_comes_sets_off_at_once(libraries: Mapping[LibraryRef, Library]) -> None:
    mover = {
        "cylinder": {"center": [0, 0], "radius": 0.4, "height": 2},
        "path": [[0, -5, -7], [9, -5, 7]],
        "name": "cart",
    }
    people = [{"name": f"p-{k}", "start": [-5 + 5 * k, 0, 0], "goal": [5, 2 * k - 2]} for k in range(2)]
    crowd = plan_crowd(scene(people, movers=[mover]), libraries, seed=3)
    assert crowd.plans["p-0"].steps[0].time == 0.0
    assert crowd.plans["p-1"].steps[0].time > 0.0


@pytest.mark.parametrize(("room", "moved"), [(0.0, True), (0.05, False)])
def test_nobody_starts_with_a_hand_in_a_wall(libraries: Mapping[LibraryRef, Library], room: float, moved: bool) -> None:
    """Discs reach into the box by less than they may; a hand, in one moment of standing, by more than a centimetre."""
    box = {"center": [-0.8305, 1.583 + room], "size": [2.689, 1.496], "height": 1.8, "yaw_deg": 80.461}
    place = scene([{"name": "a", "start": [0, 0, -175.4], "goal": [-5, -4]}], obstacles=[{"box": box}])
    crowd = plan_crowd(place, libraries)
    away = float(np.hypot(*crowd.plans["a"].steps[0].pose[:2]))
    assert crowd.failed == () and away <= 0.1 + 1e-9
    assert (away > 0.02) == moved


class HaltsAtFirst(BehaviorPlanner):
    """A planner whose first plan begins with a single step."""

    def __init__(self) -> None:
        self.asked = 0

    def find(self, request: PlanRequest) -> SearchResult:
        self.asked += 1
        if self.asked > 1:
            return super().find(request)
        table, start = request.prepared.table, request.query.start
        action = table.clips.index("step_left")
        lasts = float(table.durations[action] / request.prepared.speeds[action])
        aside = planar.compose(np.array(start), table.moves[action])
        later = replace(request.query, start=tuple(aside.tolist()), start_time=request.query.start_time + lasts)
        result = super().find(replace(request, query=later))
        step = PlanStep(
            "step_left", "step_left", start, request.query.start_time, float(request.prepared.speeds[action])
        )
        assert result.plan is not None
        return replace(result, plan=replace(result.plan, steps=(step, *result.plan.steps)))


def test_who_halts_for_no_time_is_planned_again(libraries: Mapping[LibraryRef, Library]) -> None:
    place = scene([{"name": "a", "start": [-5, 0, 0], "goal": [5, 0], "plan": {"relax": False}}])
    planner = HaltsAtFirst()
    crowd = plan_crowd(place, libraries, planners={"behavior": planner})
    assert planner.asked == 2
    assert "step_left" not in crowd.plans["a"].behaviors and crowd.plans["a"].steps[0].pose[:2] == (-5.0, 0.0)


def test_who_has_left_by_then_is_not_gone_around(
    libraries: Mapping[LibraryRef, Library], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody with a long way is planned first, while a row of others still stands across the way."""
    row = [(f"b{k}", 1.0 * k, 90 if k >= 0 else -90) for k in range(-2, 3)]
    place = scene(
        [
            {"name": "a", "start": [-7, 0, 0], "goal": [7, 0]},
            *({"name": name, "start": [1, y, yaw], "goal": [1, y + (4 if yaw > 0 else -4)]} for name, y, yaw in row),
        ],
        plan={"start_spread": 0, "speed_spread": 0},
    )
    crowd = plan_crowd(place, libraries)
    assert crowd.failed == () and turning(crowd.plans["a"]) < np.radians(30.0)
    monkeypatch.setattr("gaitway.behavior.crowd._LOOKS", 0)
    assert turning(plan_crowd(place, libraries).plans["a"]) > np.radians(60.0)


def test_who_waits_comes_before_who_steps_aside(libraries: Mapping[LibraryRef, Library]) -> None:
    """Somebody stands in a passage and leaves after a moment: who comes behind waits, and does not step about."""
    place = scene([{"name": "a", "start": [-5, 0, 0], "goal": [5, 0]}])
    prepared = planning_context(place.world, libraries).prepared(place.characters[0])
    request = PlanRequest(
        character=place.characters[0], prepared=prepared, query=Query((-5.0, 0.0, 0.0), (-5.0, 0.9), tolerance=0.35),
        traffic=Traffic(prepared.fields.kinds), effort=Effort.PATIENT,
    )  # fmt: skip
    near = BehaviorPlanner().find(request).plan
    usual = BehaviorPlanner().find(replace(request, effort=Effort.USUAL)).plan
    assert usual is not None and "step_left" in usual.behaviors
    assert near is None or "step_left" not in near.behaviors


def test_who_has_a_plan_does_not_hurry_for_a_better_one() -> None:
    """A gate closes before who walks is there: the only way is to jog, and a glance does not find it."""
    place = scene(
        [{"name": "ada", "start": [-5.5, 0, 0], "goal": [5, 0]}],
        obstacles=[{"wall": {"points": [[0, 8 * side], [0, 0.8 * side]], "height": 2.5}} for side in (-1, 1)],
        movers=[{"box": {"size": [0.4, 3.0], "height": 2.0}, "path": gate_that_closes(opens=False)}],
    )
    ada = place.characters[0]
    prepared = planning_context(place.world).prepared(ada)
    traffic = Traffic(prepared.fields.kinds)
    traffic.enroll("ada")
    traffic.add_mover(place.world.movers[0])
    traffic.extend(60.0)
    request = PlanRequest(character=ada, prepared=prepared, query=Query(ada.start, ada.goal), traffic=traffic)
    usual = BehaviorPlanner().find(request).plan
    glance = BehaviorPlanner().find(replace(request, effort=Effort.GLANCE, query=replace(request.query, most_cost=1e3)))
    assert usual is not None and any("jog" in name for name in usual.behaviors)
    assert not glance.found


def test_waits_are_no_brief_halts(libraries: Mapping[LibraryRef, Library]) -> None:
    place = scene([{"name": "a", "start": [-5, 0, 0], "goal": [5, 0]}])
    prepared = planning_context(place.world, libraries).prepared(place.characters[0])
    steps = [PlanStep("step_left", "step_left", (0.0, 0.0, 0.0), 0.0), PlanStep("stand", "stand", (0.0, 0.3, 0.0), 2.0)]
    walk = [
        PlanStep("start_walk", "start_walk", (0.0, 0.3, 0.0), 2.0),
        PlanStep("stop_walk", "stop_walk", (1, 0, 0), 4),
    ]
    assert brief_halts(prepared, Plan((steps[0], *walk), (2.0, 0.3, 0.0), 5.0, 0.0)) == 1
    later = [replace(step, time=step.time + 4.0) for step in walk]
    assert brief_halts(prepared, Plan((*steps, *later), (2.0, 0.3, 0.0), 9.0, 0.0)) == 0


def gate_that_closes(opens: bool) -> list[list[float]]:
    """A box that moves into the only gap of a wall at 5 s, and out of it again at 30 s if it opens."""
    shut = [[0.0, 0.0, 6.0], [4.0, 0.0, 6.0], [5.0, 0.0, 0.0], [30.0, 0.0, 0.0]]
    return [*shut, [31.0, 0.0, 6.0], [90.0, 0.0, 6.0]] if opens else [*shut, [500.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("speed", "opens", "jogs"), [("normal", True, False), ("fast", True, True), ("normal", False, True)]
)
def test_nobody_jogs_who_can_wait(speed: str, opens: bool, jogs: bool) -> None:
    """A gate closes before who walks is there. Who walks waits until it opens, and jogs if it would never open."""
    place = scene(
        [{"name": "ada", "start": [-5.5, 0, 0], "goal": [5, 0], "speed": speed}],
        obstacles=[{"wall": {"points": [[0, 8 * side], [0, 0.8 * side]], "height": 2.5}} for side in (-1, 1)],
        movers=[{"box": {"size": [0.4, 3.0], "height": 2.0}, "path": gate_that_closes(opens)}],
        plan={"start_spread": 0},
    )  # fmt: skip
    crowd = plan_crowd(place, seed=1)
    names = crowd.plans["ada"].behaviors
    assert crowd.failed == ()
    assert any("jog" in name for name in names) == jogs


@pytest.mark.parametrize(("clearance", "passed"), [(1.06, "crouch"), (1.25, "duck"), (1.55, "stoop")])
def test_people_go_no_lower_than_the_beam_asks_for(clearance: float, passed: str) -> None:
    place = scene(
        [{"name": "ada", "start": [-6, 0, 0], "goal": [6, 0]}],
        specials=[{"duck": {"center": [0, 0], "size": [0.2, 16], "clearance": clearance}}],
    )
    assert passed in plan_crowd(place, seed=1).plans["ada"].behaviors


@pytest.mark.parametrize(("room", "hemmed"), [(0.26, True), (1.0, False)])
def test_who_ends_close_to_a_wall_stands_still(
    libraries: Mapping[LibraryRef, Library], room: float, hemmed: bool
) -> None:
    """Hands of who moves while standing would be in the wall beside."""
    place = scene(
        [{"name": "ada", "start": [-4, 3, 0], "goal": [4, 3]}],
        obstacles=[{"box": {"center": [0, -1], "size": [16, 2], "height": 2.5}}],
    )
    character = place.characters[0]
    member = CrowdMember(character, planning_context(place.world, libraries).prepared(character), 0, 0)
    plan = Plan((PlanStep("stop_walk", "stop_walk", (0.0, room, 0.0), 0.0),), (0.6, room, 0.0), 1.2, 1.0)
    assert is_hemmed(place.world, member, plan) == hemmed
    still = Standing.of(load_cast("person")).calmed(0.0)
    assert all(np.ptp(clip.joint_positions(), axis=0).max() < 1e-9 for clip in still.clips)
