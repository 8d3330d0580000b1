"""From scenes to takes, end to end: everybody arrives, nothing collides, and who cannot arrive is told why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gaitway
from gaitway.audit import audit_take
from gaitway.cli.plans import summary
from gaitway.core.errors import GaitwayError, PlanError
from gaitway.papers import run_paper
from gaitway.planning import EXACTLY, Planned, plan_scene
from gaitway.scene import scene_from_dict

BARE: dict[str, Any] = {"gaitway": 1, "bounds": [0, 0, 20, 12], "library": "person"}
WALKER = {"name": "walker", "start": [2, 10, 0], "goal": [17, 10]}


def planned(**parts: Any) -> Planned:
    return plan_scene(scene_from_dict({**BARE, **parts}))


def wall(*points: list[float], name: str = "wall") -> dict[str, Any]:
    return {"wall": {"points": list(points), "thickness": 0.3, "height": 2}, "name": name}


def test_a_scene_becomes_a_take() -> None:
    scene = scene_from_dict({**BARE, "obstacles": [wall([8, 4], [8, 12])], "characters": [WALKER]})
    take = gaitway.plan(scene, seed=5)
    assert take.names == ("walker",)
    assert take.facts["failed"] == {} and take.facts["seed"] == 5 and take.facts["scene_hash"] == scene.hash
    assert audit_take(take, scene.world).ok
    again = gaitway.plan(scene, seed=5)
    assert np.array_equal(again.clip(0).rotations, take.clip(0).rotations)


def test_rows_say_how_everybody_fared() -> None:
    made = planned(characters=[WALKER, {"name": "lost", "start": [3, 3, 0], "goal": [15, 3]}],
                   obstacles=[wall([10, 0], [10, 6], [20, 6], name="fortress")])  # fmt: skip
    rows = {row["character"]: row for row in made.rows()}
    assert rows["walker"]["status"] == "found" and rows["walker"]["goal_m"] <= 0.5 and rows["walker"]["steps"] > 3
    assert rows["lost"]["status"] == "no path" and "fortress" in rows["lost"]["reason"]
    assert list(made.failed) == ["lost"] and made.take.facts["failed"].keys() == {"lost"}
    assert made.take.names == ("walker", "lost")
    assert made.motion_seconds > 8.0 and made.seconds > 0.0


@pytest.mark.parametrize(("away", "most"), [(0.7, 1), (1.3, 1), (1.7, 2)])
def test_a_few_steps_are_one_short_walk(away: float, most: int) -> None:
    made = planned(characters=[{"name": "near", "start": [5, 5, 0], "goal": [5 + away, 5]}])
    plan = made.crowd.plans["near"]
    assert not made.failed and 1 <= len(plan.steps) <= most
    assert plan.end_time - plan.steps[0].time < 4.0
    assert audit_take(made.take, made.scene.world).ok


def test_upper_bodies_are_layers_that_can_be_left_out() -> None:
    two = [WALKER, {**WALKER, "name": "other", "start": [2, 6, 0], "goal": [17, 6], "plan": {"upper_body": False}}]
    scene = scene_from_dict({**BARE, "characters": two})
    made = plan_scene(scene, seed=5)
    assert {(layer.name, layer.character) for layer in made.take.layers} == {("upper body", 0)}
    assert made.remarks == ()
    bare = plan_scene(scene, seed=5, upper_body=False).take
    assert bare.layers == ()
    assert len(bare.segments) == sum(len(plan.steps) for plan in made.crowd.plans.values()) + _stands(bare)
    starts = bare.segments.start[bare.rows[:-1] + [_before(bare, c) for c in range(2)]]
    assert starts[0] != starts[1]


def _stands(take: gaitway.Take) -> int:
    stand = [k for k, name in enumerate(take.behaviors) if name in ("stand", "wait")]
    return int(np.isin(take.segments.behavior, stand).sum())


def _before(take: gaitway.Take, character: int) -> int:
    """Number of segments of standing before a character sets off."""
    rows = slice(take.rows[character], take.rows[character + 1])
    stand = [k for k, name in enumerate(take.behaviors) if name in ("stand", "wait")]
    return int(np.argmin(np.isin(take.segments.behavior[rows], stand)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"obstacles": [wall([10, 0], [10, 6], [20, 6], name="fortress")]}, "'fortress' is in the way"),
        (
            {
                "obstacles": [wall([10, 6], [20, 6])],
                "specials": [{"jump": {"center": [10, 3], "size": [0.2, 6], "height": 1.5}, "name": "hurdle"}],
            },
            "no behaviour passes a jump ('hurdle')",
        ),
        (
            {
                "obstacles": [wall([10, 0], [10, 5]), wall([10, 6], [10, 12])],
                "movers": [{"box": {"size": [1, 2], "height": 2}, "name": "bus", "path": [[0, 10, 5.5, 0]]}],
            },
            "'bus'",
        ),
        ({"plan": {"max_nodes": 2}}, "the budget ran out"),
    ],
)
def test_who_cannot_arrive_is_told_why(parts: dict[str, Any], reason: str) -> None:
    made = planned(**parts, characters=[{"name": "lost", "start": [3, 3, 0], "goal": [15, 3]}])
    assert reason in made.failed["lost"].reason
    assert made.failed["lost"].closest is not None
    assert audit_take(made.take, made.scene.world).ok


def test_who_cannot_even_stand_is_counted() -> None:
    near = {"name": "near", "start": [2.11, 10, 0], "goal": [9, 3], "radius": 0.05}
    made = planned(characters=[{**WALKER, "radius": 0.05}, near])
    assert made.take.names == ("walker",) and summary(made).startswith("1 of 2 arrive; ")
    assert [row["character"] for row in made.rows()] == ["walker", "near"]


def test_a_goal_on_a_platform_is_told_in_plain_words() -> None:
    platform = {"name": "platform", "box": {"center": [15, 3], "size": [4, 4], "height": 0.9}}
    made = planned(specials=[platform], characters=[{"name": "lost", "start": [3, 3, 0], "goal": [15, 3]}])
    said = "goal (15, 3) is in a box ('platform'), which no behaviour passes, or too near to it"
    assert made.failed["lost"].reason == said
    assert summary(made) == "0 of 1 arrive; nobody moves"


CART = {"name": "cart", "box": {"size": [1.5, 1], "height": 1.2}, "path": [[0, 0.8, 3], [8, 12, 3]]}
CELL = {"name": "cell", "wall": {"points": [[15, 1], [19, 1], [19, 5], [15, 5]], "thickness": 0.3, "closed": True}}
LOST = {"name": "lost", "start": [5, 3, 0], "goal": [17, 3]}


def test_who_does_not_arrive_steps_aside_for_a_mover_and_others_keep_clear() -> None:
    north, south = {"start": [6, 1, 90], "goal": [6, 10]}, {"start": [4, 10], "goal": [4, 1]}
    crossing = [{"name": "north", **north}, {"name": "south", **south}]
    made = planned(obstacles=[CELL], movers=[CART], characters=[LOST, *crossing])
    assert list(made.failed) == ["lost"] and made.failed["lost"].reason.endswith("steps aside for 'cart'")
    lost = made.take.names.index("lost")
    assert abs(made.take.clip(lost).root_positions[-1, 1] - 3.0) > 0.4
    report = audit_take(made.take, made.scene.world)
    assert report.ok and report["arrival"].checked == 2
    assert report["arrival"].note == "'lost' does not arrive, as the plan said, which does not count"


def test_who_can_stay_stays() -> None:
    later = {**CART, "path": [[0, 0.8, 8], [8, 12, 8]]}
    made = planned(obstacles=[CELL], movers=[later], characters=[LOST])
    assert made.crowd.plans["lost"].steps == () and "aside" not in made.failed["lost"].reason
    assert audit_take(made.take, made.scene.world).ok


@pytest.mark.slow
def test_who_cannot_step_aside_is_left_out_on_request() -> None:
    wide = {**CART, "box": {"size": [1.5, 12], "height": 1.2}, "path": [[0, 0.8, 6], [8, 20, 6]]}
    late = {"name": "late", "start": [2, 10], "goal": [9, 10], "start_time": 4.0}
    parts = {**BARE, "obstacles": [CELL], "movers": [wide], "characters": [{**LOST, "start": [12, 3, 0]}, late]}
    scene = scene_from_dict(parts)
    kept = plan_scene(scene)
    assert kept.failed["lost"].reason.endswith("'cart' comes to where it stands, and there is nowhere to step aside")
    assert not audit_take(kept.take, scene.world).ok
    made = plan_scene(scene, failed="out")
    assert made.take.names == ("late",) and list(made.failed) == ["lost"]
    assert made.take.facts["left_out"] == ["lost"] and "lost" in made.take.facts["failed"]
    assert {row["character"]: row["arrives_s"] for row in made.rows()}["lost"] is None
    assert audit_take(made.take, scene.world).ok
    with pytest.raises(PlanError, match="nobody arrives, so that nobody is left"):
        plan_scene(scene_from_dict({**BARE, "obstacles": [CELL], "characters": [LOST]}), failed="out")
    with pytest.raises(PlanError, match="failed 'drop'; write keep or out"):
        plan_scene(scene, failed="drop")


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({}, "there is nobody to plan"),
        ({"characters": [{"name": "a", "start": [float("nan"), 3, 0], "goal": [15, 3]}]}, r"characters\[0\].start"),
        ({"characters": [{"name": "a", "start": [-3, 3, 0], "goal": [15, 3]}]}, "outside bounds"),
        ({"characters": [WALKER, {"name": "b", "start": [2.1, 10, 0], "goal": [15, 3]}]}, "they overlap"),
        ({"characters": [{**WALKER, "goal": [8, 10]}], "obstacles": [wall([8, 4], [8, 12])]}, "is inside"),
    ],
)
def test_bad_scenes_end_in_a_line(parts: dict[str, Any], problem: str) -> None:
    with pytest.raises(GaitwayError, match=problem) as raised:
        planned(**parts)
    assert "\n" not in str(raised.value)


def test_nobody_can_stand() -> None:
    """A body needs more room than the disc that a scene keeps clear."""
    sides = {"bus": 3.81, "lorry": 0.19}  # arms reach farther to the sides than that
    box = {"size": [3, 3], "height": 2}
    movers = [{"box": box, "name": name, "path": [[0, x, 10, 0]]} for name, x in sides.items()]
    with pytest.raises(PlanError, match=r"'walker': start .* '(bus|lorry)'"):
        planned(characters=[{**WALKER, "start": [2, 10, 90]}], movers=movers)


def test_waiting_for_the_start_is_no_motion() -> None:
    soon, late = (planned(characters=[{**WALKER, "start_time": start}]) for start in (0.0, 7.0))
    assert late.crowd.plans["walker"].end_time == pytest.approx(soon.crowd.plans["walker"].end_time + 7.0)
    assert late.motion_seconds == pytest.approx(soon.motion_seconds)


@pytest.mark.slow
def test_the_seed_of_a_call_replaces_that_of_the_scene() -> None:
    people = [{"name": f"p{k}", "start": [2, 2 + 2 * k, 0], "goal": [17, 2 + 2 * k]} for k in range(5)]
    own = [planned(characters=people, seed=seed).crowd.order for seed in (1, 2, 3)]
    asked = [plan_scene(scene_from_dict({**BARE, "characters": people}), seed=seed).crowd.order for seed in (1, 2, 3)]
    assert asked == own and len(set(own)) > 1


def test_goals_are_met_exactly_when_asked() -> None:
    goals = [(16.3, 9.1, 40.0), (15.2, 4.4, -120.0), (17.1, 6.7, 90.0)]
    people = [
        {"name": f"p{k}", "start": [2, 3 + 3 * k, 0], "goal": [x, y, yaw], "plan": {"exact": True}}
        for k, (x, y, yaw) in enumerate(goals)
    ]
    made = planned(characters=people)
    assert not made.failed
    assert made.take.goals[:, 3].tolist() == [EXACTLY] * 3, "the audit holds them to it"
    assert audit_take(made.take, made.scene.world).ok
    for k, (x, y, yaw) in enumerate(goals):
        root = made.take.clip(k)
        away = np.hypot(*(root.root_positions[-1, :2] - (x, y)))
        turn = root.planar_path()[-1, 2] - np.radians(yaw)
        assert away <= EXACTLY
        assert abs(np.degrees(np.arctan2(np.sin(turn), np.cos(turn)))) <= 2.0


@pytest.mark.slow
def test_blends_are_played() -> None:
    people = [{"name": f"p{k}", "start": [2, 2 + 2 * k, 0], "goal": [17, 11 - 2 * k]} for k in range(5)]
    made = planned(characters=people, plan={"blends": True})
    assert not made.failed
    plain = planned(characters=people)
    extra = {b.name for b in made.crowd.libraries["p0"].graph.behaviors}
    assert extra > {b.name for b in plain.crowd.libraries["p0"].graph.behaviors}
    assert audit_take(made.take, made.scene.world).ok


def test_unknown_papers() -> None:
    with pytest.raises(GaitwayError, match="no paper 'lau-9'; there are lau-3"):
        run_paper("lau-9")
