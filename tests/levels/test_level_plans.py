"""Plans over several floors, from scenes to takes that pass the audit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gaitway.audit.auditing import audit_take
from gaitway.cast.catalog import load_cast
from gaitway.checking import check_scene
from gaitway.core.errors import LiveError, PlanError, SceneError
from gaitway.levels.leading import on_both_floors
from gaitway.levels.links import lanes, level_library
from gaitway.live.opening import live
from gaitway.planning import Planned, plan_scene
from gaitway.scene import scene_from_dict
from gaitway.scene.scene import Scene
from gaitway.scene.writing import scene_to_yaml
from gaitway.space._traffic_kernels import SLOT
from gaitway.space.mover_sweep import Swept
from gaitway.world.levels.floors import Floors

STEPS, RISE, RUN = 8, 0.17, 0.29
TOP = round(STEPS * RISE, 3)


def deck(*characters: dict[str, Any], steps: int = STEPS, **more: Any) -> Scene:
    """Return a scene with a deck, and one flight that leads onto it."""
    height = round(steps * RISE, 3)
    return scene_from_dict(
        {
            "gaitway": 1,
            "bounds": [0, 0, 22, 9],
            "specials": [
                {"platform": {"center": [16, 4.5], "size": [9, 7], "height": height}, "name": "deck"},
                {"stairs": {"center": [11.5 - 0.5 * steps * RUN, 4.5], "width": 2.2, "steps": steps}, "name": "flight"},
                *more.pop("specials", []),
            ],
            "characters": list(characters),
            **more,
        }
    )


def clean(planned: Planned) -> None:
    """Check that everybody arrives and that the audit finds nothing."""
    assert not planned.failed
    report = audit_take(planned.take, planned.scene.world)
    assert report.ok, [row for row in report.rows if not row.ok]


@pytest.fixture(scope="module")
def both_ways() -> Planned:
    up = {"name": "ada", "start": [2, 2], "goal": [17, 6, 0, TOP], "speed": 1.3}
    down = {"name": "bo", "start": [18, 3, 180, TOP], "goal": [2, 7], "speed": 1.3}
    return plan_scene(deck(up, down), upper_body=False)


@pytest.mark.slow
def test_two_people_meet_on_the_stairs(both_ways: Planned) -> None:
    clean(both_ways)


def test_people_end_on_their_floors(both_ways: Planned) -> None:
    take = both_ways.take
    heights = {name: take.clip(k).root_positions[-1, 2] for k, name in enumerate(take.names)}
    assert heights["ada"] - heights["bo"] == pytest.approx(TOP, abs=0.03)
    for name, plan in both_ways.crowd.plans.items():
        assert sum(step.behavior.startswith("stairs_") for step in plan.steps) == 1, name


def test_goals_are_reached(both_ways: Planned) -> None:
    for row in both_ways.rows():
        assert row["goal_m"] <= 0.5


@pytest.mark.slow
@pytest.mark.parametrize("steps", [3, 6])
@pytest.mark.parametrize("planner", ["behavior", "tree"])
def test_flights_of_any_number_of_steps(steps: int, planner: str) -> None:
    goal = [17, 6, 0, round(steps * RISE, 3)]
    clean(plan_scene(deck({"name": "ada", "start": [2, 2], "goal": goal}, steps=steps, plan={"planner": planner})))


@pytest.mark.slow
def test_a_station_with_platforms_bridge_and_underpass() -> None:
    planned = plan_scene(Path(__file__).with_name("station.yaml"))
    clean(planned)
    climbed = {step.behavior for plan in planned.crowd.plans.values() for step in plan.steps if step.clip in plan.own}
    assert {"stairs_up_20x290x170", "stairs_down_20x290x170"} <= climbed


def test_who_stays_on_one_floor_takes_no_stairs() -> None:
    planned = plan_scene(deck({"name": "ada", "start": [14, 2.5, 0, TOP], "goal": [18, 6, 0, TOP]}), upper_body=False)
    (plan,) = planned.crowd.plans.values()
    assert not planned.failed
    assert not plan.own


@pytest.mark.slow
def test_people_under_a_bridge_do_not_meet_those_on_it() -> None:
    scene = scene_from_dict(
        {
            "gaitway": 1,
            "bounds": [0, 0, 12, 12],
            "specials": [{"bridge": {"center": [6, 6], "size": [10, 3], "clearance": 2.5, "height": 0.3}, "name": "b"}],
            "characters": [
                {"name": "over", "start": [2, 6, 0, 2.8], "goal": [10, 6, 0, 2.8], "plan": {"start_spread": 0}},
                {"name": "under", "start": [6, 1], "goal": [6, 11], "plan": {"start_spread": 0}},
            ],
        }
    )
    planned = plan_scene(scene, upper_body=False)
    clean(planned)
    lengths = [np.hypot(*(np.array(p.end_pose[:2]) - p.steps[0].pose[:2])) for p in planned.crowd.plans.values()]
    assert min(lengths) > 7.0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"specials": [{"platform": {"center": [5, 7], "size": [2, 2], "height": 1.2}, "name": "roof"}]},
         "no path from 'ground' (0 m) to 'roof' (1.2 m): it needs a step of 1.2 m up; 'person' climbs up "
         "0.84 to 0.97 m, where a block is of kind climb: add stairs, a ramp or a lift"),
        ({"obstacles": [{"box": {"center": [10.3, 4.5], "size": [1, 2], "height": 0.3, "bottom": 2.2}, "name": "beam"}],
          "goal": [17, 6, 0, TOP]},
         "stairs 'flight': 'beam' is in the way on it"),
    ],
)  # fmt: skip
def test_goals_that_nobody_can_reach(more: dict[str, Any], message: str) -> None:
    goal = more.pop("goal", [5, 7, 0, 1.2])
    planned = plan_scene(deck({"name": "ada", "start": [2, 2], "goal": goal}, **more), upper_body=False)
    (result,) = planned.failed.values()
    assert message in result.reason


@pytest.mark.parametrize(
    ("character", "message"),
    [
        ({"start": [2, 2], "goal": [17, 6], "goal_floor": "roof"}, "no floor 'roof'; the floors are 'ground'"),
        ({"start": [2, 2], "goal": [17, 6, 0, 0.68]}, "as near to 'ground' (0 m) as to 'deck' (1.36 m)"),
        ({"start": [2, 2], "goal": [11.6, 6, 0, TOP]}, "nearer than 0.3 m to the edge of its floor"),
    ],
)  # fmt: skip
def test_starts_and_goals_on_no_floor(character: dict[str, Any], message: str) -> None:
    with pytest.raises(SceneError) as problem:
        deck({"name": "ada", **character})
    assert message in str(problem.value)


def test_heights_in_a_place_with_one_floor() -> None:
    with pytest.raises(SceneError, match="one floor"):
        scene_from_dict({"gaitway": 1, "bounds": [0, 0, 9, 9], "characters": [{"start": [2, 2, 0, 1], "goal": [4, 4]}]})


def test_areas_lie_on_their_floor() -> None:
    scene = deck(
        {"count": 5, "name": "a", "start_area": [10, 0, 22, 9], "start_floor": "deck", "goal_area": [0, 0, 5, 9]}
    )
    deck_floor = Floors.of(scene.world).named("deck")
    assert all(deck_floor.covers(*c.start[:2]) and c.start_floor == "deck" for c in scene.characters)
    assert all(c.goal_floor == "ground" for c in scene.characters)


@pytest.mark.parametrize(("width", "count"), [(0.5, 0), (0.7, 1), (1.3, 1), (2.0, 1), (3.0, 2), (5.0, 3)])
def test_lanes_lie_on_the_right(width: float, count: int) -> None:
    found = lanes(width)
    assert len(found) == count
    assert all(-0.5 * width + 0.3 - 1e-9 <= aside <= 0.0 for aside in found)


def test_who_is_over_the_heads_of_others_is_not_in_their_way() -> None:
    floors = Floors.of(deck(steps=20).world)
    for link in level_library(load_cast("person"), floors).links:
        clip = link.played.clip
        count = int(clip.duration / SLOT)
        discs = np.column_stack([np.arange(count), np.zeros(count), np.full(count, 0.3)])
        slots = np.column_stack([np.arange(count), np.arange(count) + 1])
        swept = Swept(discs, discs, np.arange(count + 1), slots, np.full(count, -1))
        found = on_both_floors(swept, link, 0.0)
        here = found.discs[:, 1] == 0.0 if link.across[1] else found.discs[:, 0] < count
        first, last = set(found.slots[here, 0].tolist()), set(found.slots[~here, 0].tolist())
        assert first | last == set(range(count))  # whoever is on it is seen by others on it
        assert {0} <= first < set(range(count))
        assert {count - 1} <= last < set(range(count))
        height = clip.root_positions[:, 2] - clip.root_positions[0, 2]
        unseen = [abs(height[round(k * SLOT * clip.fps)]) for k in set(range(count)) - first]
        assert min(unseen) > 2.0  # over the heads of people on the other floor, or below their feet
        assert len(first & last) * SLOT > 0.5  # two who can touch are seen on one floor


def test_a_flight_with_room_for_two_has_a_lane_for_each_direction() -> None:
    assert lanes(1.3) == [0.0]
    assert lanes(1.4) == pytest.approx([-0.4])


def test_a_library_without_stair_clips_says_so() -> None:
    scene = deck({"name": "ada", "start": [2, 2], "goal": [4, 4], "library": "skateboarder"})
    known = level_library(scene.characters[0].library.load(), Floors.of(scene.world))
    assert not known.links
    assert "no clips of kind 'stairs_up'" in known.troubles[0]


def checked(folder: Path, scene: Scene) -> list[str]:
    """Return what the check of a scene says."""
    file = folder / "scene.yaml"
    file.write_text(scene_to_yaml(scene.source), encoding="utf-8")
    return [str(problem) for problem in check_scene(file).problems]


def test_scenes_with_stairs_pass_the_check(tmp_path: Path) -> None:
    assert not checked(tmp_path, deck({"name": "ada", "start": [2, 2], "goal": [17, 6, 0, TOP]}))


def test_the_check_tells_of_floors_out_of_reach(tmp_path: Path) -> None:
    roof = {"platform": {"center": [5, 7], "size": [2, 2], "height": 1.2}, "name": "roof"}
    (problem,) = checked(tmp_path, deck({"name": "ada", "start": [2, 2], "goal": [5, 7, 0, 1.2]}, specials=[roof]))
    assert "to 'roof' (1.2 m): it needs a step of 1.2 m up; 'person' climbs up 0.84 to 0.97 m" in problem


def test_throngs_say_that_they_know_one_floor() -> None:
    scene = deck({"name": "ada", "start": [2, 2], "goal": [17, 6, 0, TOP]})
    with pytest.raises(PlanError, match="planner 'crowd' knows one floor"):
        plan_scene(scene, planner="crowd")
    with pytest.raises(LiveError, match="dynamics 'crowd' knows one floor"):
        live(scene, dynamics="crowd")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 5, 7])
def test_everybody_gets_about_the_house(seed: int) -> None:
    planned = plan_scene("house", seed=seed)
    clean(planned)


@pytest.mark.slow
def test_everybody_gets_about_the_ready_station() -> None:
    clean(plan_scene("station", seed=3))
