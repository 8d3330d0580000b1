"""`gaitway plan` and `gaitway papers` from end to end, as processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
