"""`gaitway plan` and `gaitway papers` from end to end, as processes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.library.behavior import BehaviorGraph, Library
from gaitway.library.storage import save_library
from gaitway.take import load_take
from test_cli import gaitway_here as gaitway

SCENE = """\
gaitway: 1
title: Two rooms
bounds: [0, 0, 20, 12]
obstacles:
  - {wall: {points: [[10, 0], [10, 6], [20, 6]], thickness: 0.3, height: 2}, name: fortress}
characters:
  - {name: ada, start: [2, 10, 0], goal: [17, 10]}
  - {name: ben, start: [3, 3, 0], goal: [%s]}
"""


def written(folder: Path, goal: str) -> Path:
    path = folder / "rooms.yaml"
    path.write_text(SCENE % goal, encoding="utf-8")
    return path


def test_a_scene_is_planned_and_audited(tmp_path: Path) -> None:
    scene, take = written(tmp_path, "5, 9"), tmp_path / "rooms.npz"
    done = gaitway("plan", scene, "-o", take, "--seed", 3)
    assert "2 of 2 arrive" in done.stdout and f"wrote {take}" in done.stdout
    assert load_take(take).facts["seed"] == 3
    gaitway("audit", take, scene)


def test_upper_bodies_can_be_switched_off(tmp_path: Path) -> None:
    scene, take = written(tmp_path, "5, 9"), tmp_path / "rooms.npz"
    gaitway("plan", scene, "-o", take)
    assert [layer.name for layer in load_take(take).layers] == ["upper body"] * 2
    gaitway("plan", scene, "-o", take, "--no-upper-body")
    assert load_take(take).layers == ()


@pytest.mark.slow
def test_a_body_that_cannot_look_is_told_in_a_line(tmp_path: Path) -> None:
    scene, take = written(tmp_path, "5, 9"), tmp_path / "rooms.npz"
    done = gaitway("plan", scene, "-o", take, "--library", "horse", "--json", code=3)
    line = "skeleton 'horse': no joint known as left_hip, right_hip; its upper body stays as its clips have it"
    assert done.stderr.splitlines()[-1] == f"note: {line}"
    assert json.loads(done.stdout)["remarks"] == [line]


@pytest.mark.slow
def test_a_scene_is_planned_by_tree(tmp_path: Path) -> None:
    scene, take = written(tmp_path, "5, 9"), tmp_path / "rooms.npz"
    done = gaitway("plan", scene, "-o", take, "--planner", "tree")
    assert "2 of 2 arrive, 2 by tree;" in done.stdout
    assert load_take(take).facts["planner"] == "tree"


def test_who_does_not_arrive_is_listed(tmp_path: Path) -> None:
    scene, take = written(tmp_path, "15, 3"), tmp_path / "rooms.npz"
    done = gaitway("plan", scene, "-o", take, code=3)
    assert done.stderr.startswith("ben (no path): ") and "'fortress' is in the way" in done.stderr
    told = json.loads(gaitway("plan", scene, "-o", take, "--json", code=3).stdout)
    assert told["arrived"] == 1 and list(told["failed"]) == ["ben"]
    assert told["failed"]["ben"]["blockers"].keys() == {"fortress"}
    assert [row["status"] for row in told["characters"]] == ["found", "no path"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["plan", "nowhere.yaml", "-o", "a.npz"], "nowhere.yaml"),
        (["plan", "corridor", "-o", "a.txt"], "must end in .npz"),
        (["plan", "corridor", "-o", "missing/a.npz"], "missing"),
        (["plan", "corridor"], "--out"),
        (["papers", "lau-9"], "no paper 'lau-9'"),
    ],
)
def test_wrong_calls_end_in_a_line(tmp_path: Path, arguments: list[str], problem: str) -> None:
    done = gaitway(*arguments, code=2, cwd=tmp_path)
    assert problem in done.stderr and len(done.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


ODD_SCENE = """\
gaitway: 1
bounds: [0, 0, 9, 6]
%scharacters:
  - {name: ada, start: [1, 2, 0], goal: [6, 2]%s}
  - {name: bob, start: [1, 4, 0], goal: [3, 4]}
"""
ODD_BUT_USABLE = {
    "9 m/s": (
        {"ada": ", speed: 9"},
        0,
        "note: 'ada': speed 9 m/s, but gaits of library 'person' go 0.5 to 2.8 m/s; the nearest is taken",
    ),
    "a beam at 0.4 m": (
        {"more": "specials:\n  - {duck: {center: [4.5, 3], size: [0.3, 6], clearance: 0.4}}\n"},
        3,
        "note: duck 0: 0.40 m clearance over 0.30 m cannot be passed by 'duck' of library 'person' (0.92 m at least)",
    ),
    "one walk": (
        {"more": "library: one.gwlib\n"},
        2,
        "error: library 'one': no behaviour stays in place, so nobody can stop; add one like 'stand'",
    ),
    "no gaze roles": (
        {"more": "library: blind.gwlib\n"},
        0,
        "note: skeleton 'person': no joint known as chest, head; its upper body stays as its clips have it",
    ),
}


@pytest.mark.parametrize("case", ODD_BUT_USABLE)
def test_what_cannot_be_done_is_one_line_and_the_rest_is_done(case: str, tmp_path: Path) -> None:
    person = load_cast("person", behaviors=["wait", "start_walk", "stop_walk", "walk_forward", "walk_short"])
    walk = person.graph["walk_forward"]
    one = Library("one", person.skeleton, {name: person.clips[name] for name in walk.clips}, BehaviorGraph((walk,)))
    roles = {role: joint for role, joint in person.skeleton.roles.items() if role not in ("head", "chest")}
    bare = replace(person.skeleton, roles=roles)
    clips = {name: replace(clip, skeleton=bare) for name, clip in person.clips.items()}
    save_library(one, tmp_path / "one.gwlib")
    save_library(Library("blind", bare, clips, person.graph), tmp_path / "blind.gwlib")
    parts, code, line = ODD_BUT_USABLE[case]
    scene, out = tmp_path / "scene.yaml", tmp_path / "take.npz"
    scene.write_text(ODD_SCENE % (parts.get("more", ""), parts.get("ada", "")), encoding="utf-8")
    done = gaitway("plan", scene, "-o", out, code=code)
    assert [said for said in done.stderr.splitlines() if said.startswith(("note:", "error:"))] == [line]
    assert out.exists() == (code != 2)
    if code != 2:
        take = load_take(out)
        assert take.names == ("ada", "bob")
        assert np.hypot(*(take.planar(take.ends[1], [1])[0, 0, :2] - [3.0, 4.0])) < 0.6, "the rest is done"
