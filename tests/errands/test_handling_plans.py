"""Errands with things, from a scene to a take: what is done, what the take says of it, and what cannot be done."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gaitway.audit import audit_take
from gaitway.audit.report import AuditBars
from gaitway.audit.things import depth_findings, hand_findings, jump_findings
from gaitway.export.glb import export_glb
from gaitway.planning import Planned, plan_scene
from gaitway.scene import scene_from_dict
from gaitway.take import load_take, save_take
from gaitway.take.things import thing_poses, things_of
from planned_scenes import HANDLED

SCENE = {
    "gaitway": 1,
    "bounds": [0, 0, 7, 6],
    "obstacles": [{"box": {"center": [4.5, 3], "size": [0.8, 1.6], "height": 0.75}, "name": "table"}],
    "objects": [
        {"name": "cup", "cylinder": [0.04, 0.1], "at": [4.28, 3.2, 0.75]},
        {"name": "gem", "ball": 0.03, "at": [4.5, 3.0, 0.4]},
        {"name": "star", "ball": 0.03, "at": [2, 5, 3.5]},
        {"name": "bell", "box": [0.06, 0.06, 0.08], "at": [4.25, 2.6, 0.75], "fixed": True},
    ],
    "characters": [
        {
            "name": "ada",
            "start": [2.6, 3, 0],
            "errands": [
                {"take": "cup"},
                {"take": "cup"},
                {"press": "bell"},
                {"put": "cup", "at": [4.3, 3.0, 0.75]},
                {"put": "cup", "on": "table"},
                {"touch": "star"},
                {"take": "gem"},
            ],
        },
        {"name": "bob", "start": [1, 1, 0], "errands": [{"wait": {"event": "rung"}}, {"wait": 1}]},
    ],
    "rules": [{"event": "rung", "press": "bell"}],
}


@cache
def planned() -> Planned:
    return plan_scene(scene_from_dict(SCENE))


def rows(name: str) -> dict[str, list[list[object]]]:
    out: dict[str, list[list[object]]] = {}
    for row in planned().take.facts["errands"][name]:
        out.setdefault(row[0], []).append(row)
    return out


@pytest.mark.slow
def test_a_cup_is_taken_carried_and_put_down():
    done = rows("ada")
    assert [done[word][0][3] for word in ("take cup", "press bell", "put cup")] == ["done"] * 3
    take = planned().take
    cup = next(track for track in things_of(take) if track.name == "cup")
    assert [span.who for span in cup.spans] == [None, "ada", None]
    assert np.allclose(cup.spans[-1].pose[:3], (4.3, 3.0, 0.75), atol=0.005)
    places, _ = thing_poses(take, cup, np.arange(0.0, take.duration, 1.0 / 60.0))
    assert np.linalg.norm(np.diff(places, axis=0), axis=1).max() * 60.0 < 3.0


@pytest.mark.slow
def test_what_cannot_be_done_is_said_in_one_line_and_the_rest_is_done():
    done = rows("ada")
    assert done["take cup"][1][4] == "'ada' carries 'cup' already"
    assert done["put cup"][1][4] == "'cup' is not in a hand of 'ada'"
    assert "beyond the arm" in str(done["touch star"][0][4])
    assert done["take gem"][0][4] == "'gem' cannot be reached: it is inside 'table'"


@pytest.mark.slow
def test_a_rule_hears_the_bell():
    bell = rows("ada")["press bell"][0]
    waits = rows("bob")["wait"][0]
    assert waits[3] == "done"
    assert float(bell[1]) < float(waits[2]) <= float(bell[2]) + 1.5


@pytest.mark.slow
def test_the_audit_finds_nothing_and_sees_a_thing_that_jumps_and_a_hand_elsewhere():
    take, world = planned().take, planned().scene.world
    assert audit_take(take, world).ok
    facts = json.loads(json.dumps(dict(take.facts)))
    facts["things"]["cup"]["spans"][1][3][0] += 0.3
    facts["reaches"][0][5][2] += 0.02
    broken, bars = replace(take, facts=facts), AuditBars()
    assert max(finding.value for finding in jump_findings(broken, world, bars)) == pytest.approx(0.3, abs=0.01)
    assert max(finding.value for finding in hand_findings(broken, bars)) == pytest.approx(0.02, abs=1e-3)
    assert depth_findings(take, world, bars)[1] > 100


@pytest.mark.slow
def test_things_are_saved_and_written_into_glb(tmp_path: Path):
    take = planned().take
    save_take(take, tmp_path / "take.npz")
    assert things_of(load_take(tmp_path / "take.npz")) == things_of(take)
    export_glb(take, tmp_path / "take.glb", planned().scene.world, fps=10.0)
    data = (tmp_path / "take.glb").read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    content = json.loads(data[20 : 20 + length])
    node = next(k for k, one in enumerate(content["nodes"]) if one["name"] == "cup")
    assert [owner[1] for owner in content["nodes"][node]["extras"]["owners"]] == [None, "ada", None]
    targets = [channel["target"] for channel in content["animations"][0]["channels"]]
    assert {"node": node, "path": "translation"} in targets


@pytest.mark.slow
@pytest.mark.parametrize("name", HANDLED)
def test_in_ready_scenes_everything_is_done_and_the_audit_finds_nothing(name: str):
    made = plan_scene(name)
    spans = [row for rows in made.take.facts["errands"].values() for row in rows]
    assert {row[3] for row in spans} == {"done"}
    assert audit_take(made.take, made.scene.world).violations == ()
