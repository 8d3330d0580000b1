"""Checks of scenes before planning: who cannot get to the goal, and why."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
import yaml

from gaitway.checking import check_scene
from gaitway.cli.scenes import scene_check
from gaitway.planning import plan_scene
from gaitway.scene import ready_scenes, scene_from_dict
from gaitway.scene.scene import Scene
from gaitway.space.prepared import planning_context
from gaitway.space.reachability import Unreachable, unreachable
from gaitway.world import Terrain


def hall(*obstacles: dict[str, Any], specials: tuple[dict[str, Any], ...] = (), **more: Any) -> dict[str, Any]:
    """A hall of 20 by 10 m that Ada wants to cross."""
    ada = {"name": "ada", "start": [2, 5, 0], "goal": [18, 5]}
    return {
        "gaitway": 1, "bounds": [0, 0, 20, 10], "obstacles": list(obstacles), "specials": list(specials),
        "characters": [ada], **more,
    }  # fmt: skip


def divided(gap: float, thickness: float = 0.3) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two walls across the hall, with a gap in the middle."""
    depth = 5.0 - 0.5 * gap
    south = {"name": "south", "box": {"center": [10, 0.5 * depth], "size": [thickness, depth], "height": 2.5}}
    north = {"name": "north", "box": {"center": [10, 10 - 0.5 * depth], "size": [thickness, depth], "height": 2.5}}
    return south, north


def cut_off(scene: Scene) -> list[Unreachable]:
    return unreachable(scene.characters, planning_context(scene.world))


@pytest.mark.parametrize(("gap", "thickness"), [(0.2, 0.1), (0.4, 0.3), (0.48, 2.0)])
def test_a_gap_too_narrow_is_named_with_its_width_and_what_a_person_needs(gap: float, thickness: float) -> None:
    (lost,) = cut_off(scene_from_dict(hall(*divided(gap, thickness))))
    (found,) = lost.gaps
    assert found.width == pytest.approx(gap, abs=0.01)
    assert found.place == pytest.approx((10.0, 5.0), abs=0.5 * thickness + 0.05)
    assert found.between == ("north", "south")
    assert 0.48 < found.needed < 0.6  # sideways
    assert "'person' needs 0.5" in lost.reason()


@pytest.mark.parametrize("gap", [0.56, 0.7, 1.0])
def test_a_gap_wide_enough_for_a_plan_is_not_named(gap: float) -> None:
    assert cut_off(scene_from_dict(hall(*divided(gap)))) == []


def test_the_narrowest_gap_of_the_widest_way_is_named() -> None:
    screen = {"name": "screen", "box": {"center": [14, 4.85], "size": [0.2, 9.7], "height": 2.5}}
    (lost,) = cut_off(scene_from_dict(hall(*divided(0.4), screen)))
    assert [gap.between for gap in lost.gaps] == [("screen", "bounds"), ("north", "south")]
    assert lost.gaps[0].width == pytest.approx(0.3, abs=0.01)
    assert "1 more gap is too narrow" in lost.reason()
    # a way around the first wall that is still too narrow, but wider, is the one that is measured
    slot = {"name": "block", "box": {"center": [10, 3.975], "size": [0.3, 7.15], "height": 2.5}}
    low = {"name": "low", "box": {"center": [10, 8.9], "size": [0.3, 2.2], "height": 2.5}}
    (lost,) = cut_off(scene_from_dict(hall(slot, low)))
    assert lost.gaps[0].width == pytest.approx(0.4, abs=0.01)
    assert lost.gaps[0].between == ("block", "bounds")


def test_what_closes_a_goal_off_is_named_and_what_stands_about_is_not() -> None:
    cell = {"points": [[16, 3], [19.5, 3], [19.5, 7], [16, 7]], "thickness": 0.2, "closed": True}
    sofa = {"name": "sofa", "box": {"center": [5, 2], "size": [2, 1], "height": 1}}
    (lost,) = cut_off(scene_from_dict(hall({"name": "cell", "wall": cell}, sofa)))
    assert lost.gaps == ()
    assert lost.reason() == "no way leads there; 'cell' closes it off"


def test_special_obstacles_block_only_if_the_library_cannot_pass_them() -> None:
    stairs = {"name": "flight", "stairs": {"center": [10, 5], "width": 10, "steps": 4}}
    fence = {"name": "fence", "jump": {"center": [10, 5], "size": [0.2, 10], "height": 0.35}}
    high = {"name": "hedge", "jump": {"center": [10, 5], "size": [0.2, 10], "height": 1.5}}
    assert cut_off(scene_from_dict(hall(specials=(fence,)))) == []
    for special, name in ((stairs, "flight"), (high, "hedge")):
        (lost,) = cut_off(scene_from_dict(hall(specials=(special,))))
        assert f"'{name}'" in lost.reason()
    platform = {"name": "platform", "box": {"center": [18, 5], "size": [3, 3], "height": 0.45}}
    (lost,) = cut_off(scene_from_dict(hall(specials=(platform,))))
    assert lost.reason().startswith("the goal is in 'platform' (box")


@pytest.mark.slow
def test_steep_ground_closes_a_goal_off() -> None:
    heights = np.zeros((21, 41))
    heights[:, 20:] = 3.0  # a step of 3 m across the hall
    terrain = Terrain(heights, 0.5, (0.0, 0.0))
    scene = scene_from_dict(hall())
    (lost,) = cut_off(replace(scene, world=replace(scene.world, terrain=terrain)))
    assert lost.reason() == "no way leads there; steep ground closes it off"


def test_who_stands_at_a_wall_or_stops_near_a_goal_is_not_cut_off() -> None:
    data = hall(*divided(2.0), {"name": "crate", "box": {"center": [18, 5], "size": [0.5, 0.5], "height": 1}})
    data["characters"] = [
        {"name": "corner", "start": [0.3, 0.3], "goal": [19.7, 9.7]},
        {"name": "near", "start": [2, 5], "goal": [18, 5.56], "plan": {"tolerance": 1.0}},
    ]
    assert cut_off(scene_from_dict(data)) == []


def test_members_of_a_group_are_told_in_one_line_at_their_place(tmp_path: Path) -> None:
    data = hall(*divided(0.4))
    data["characters"] = [
        {"name": "ada", "start": [2, 5], "goal": [8, 5]},
        {"name": "crowd", "count": 5, "start_area": [1, 1, 8, 4], "goal_area": [12, 1, 19, 9]},
    ]
    path = tmp_path / "hall.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False))
    check = check_scene(path)
    assert check.usable and not check.ok
    (line,) = check.problems
    assert line.warning and line.place == "characters[1].goal_area" and line.line is not None
    assert line.text.startswith("5 of 5 cannot get to their goals, such as 'crowd-01' to (")
    assert [one.character.name for one in check.unreachable] == [f"crowd-{k:02}" for k in range(1, 6)]


@pytest.mark.parametrize("name", sorted(ready_scenes()))
def test_nobody_of_a_ready_scene_is_cut_off(name: str) -> None:
    assert check_scene(name).ok


def test_the_command_line_says_who_cannot_get_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hall.yaml"
    path.write_text(json.dumps(hall(*divided(0.4))))
    with pytest.raises(typer.Exit) as ended:
        scene_check([str(path)])
    assert ended.value.exit_code == 3
    said = capsys.readouterr().out
    assert "'ada' cannot get to the goal (18, 5): the gap at (10.0, 5.0)" in said
    assert "is 0.40 m wide, and 'person' needs 0.52 m" in said
    with pytest.raises(typer.Exit):
        scene_check([str(path)], as_json=True)
    (found,) = json.loads(capsys.readouterr().out)
    assert not found["ok"] and found["unreachable"]["ada"]["gaps"][0]["width"] == pytest.approx(0.4, abs=0.01)


@pytest.mark.slow
def test_a_plan_that_fails_at_a_narrow_gap_says_how_wide_it_is() -> None:
    data = hall(*divided(0.4))
    data["characters"][0]["plan"] = {"max_nodes": 2000}
    planned = plan_scene(scene_from_dict(data))
    assert "between 'north' and 'south' is 0.40 m wide, and 'person' needs 0.52 m" in planned.failed["ada"].reason
    assert planned.take.facts["failed"]["ada"] == planned.failed["ada"].reason


def test_places_of_errands_that_nobody_reaches_are_told(tmp_path) -> None:
    text = """
gaitway: 1
bounds: [0, 0, 14, 10]
places: {island: [7, 5], shore: [12, 8], stall: [2, 8]}
obstacles:
  - {wall: {points: [[5, 3], [9, 3], [9, 7], [5, 7]], closed: true}, name: moat}
  - {box: {center: [2, 8], size: [1, 1], height: 1}, name: stall}
characters:
  - {name: ada, start: [1, 1], errands: [{go: shore}, {go: stall}, {look: island}, {leave: island}]}
sources:
  - {name: p, area: [6, 4, 8, 6], times: [0], errands: [{leave: shore}]}
"""
    (tmp_path / "scene.yaml").write_text(text, encoding="utf-8")
    found = check_scene(tmp_path / "scene.yaml")
    assert found.usable and not found.ok
    told = [(problem.place, problem.text) for problem in found.problems]
    assert [place for place, _ in told] == ["characters[0].errands", "sources[0].errands"]
    assert told[0][1].startswith("'ada' cannot get to 'island'") and "moat" in told[0][1]
    assert told[1][1].startswith("who comes from 'p' cannot get to 'shore'")
