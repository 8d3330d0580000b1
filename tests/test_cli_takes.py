"""Scenes, audits and exports from end to end, as processes."""

from __future__ import annotations

import csv
import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import typer
from PIL import Image

from gaitway.cast.catalog import load_cast
from gaitway.cli.takes import _scene_name, audit, export
from gaitway.scene import load_scene
from gaitway.take import assemble, lay_track, load_take, save_take
from test_cli import BVH
from test_cli import gaitway_here as gaitway

SCENE = """
gaitway: 1
bounds: [-3, -3, 12, 3]
obstacles:
  - {name: pillar, cylinder: {center: [3, 0.45], radius: 0.3, height: 2}}
characters:
  - {name: ada, start: [0, 0], goal: [6, 0]}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A take of two walkers, one of whom brushes the pillar of a scene."""
    folder = tmp_path_factory.mktemp("takes")
    acts = ("start_walk", "walk_forward", "walk_forward", "stop_walk")
    cast = load_cast("person", behaviors=sorted(set(acts)))
    clips = [cast.clips[name] for name in acts]
    tracks = [lay_track(name, clips, (0.0, y, 0.0), behaviors=acts) for name, y in (("ada", 0.0), ("ben", -1.5))]
    save_take(assemble(tracks), folder / "walk.npz")
    (folder / "pillar.yaml").write_text(SCENE)
    (folder / "free.yaml").write_text(SCENE.replace("0.45]", "2.0]"))
    return folder


def test_ready_scenes_are_listed_and_checked(tmp_path: Path) -> None:
    listed = json.loads(gaitway("scene", "list", "--json").stdout)
    assert {"maze", "falling_tree", "city_block"} <= {scene["name"] for scene in listed}
    assert gaitway("scene", "check", "maze").stdout == "maze: ok\n"
    gaitway("scene", "draw", "maze", "-o", tmp_path / "maze.png", "--width", "400")
    with Image.open(tmp_path / "maze.png") as drawn:
        assert drawn.width == 400
    gaitway("scene", "schema", "-o", tmp_path / "schema.json")
    assert "obstacles" in json.loads((tmp_path / "schema.json").read_text())["properties"]


@pytest.mark.slow
def test_an_audit_in_another_place_warns(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who stands where does not matter, and a take that does not know its place is no reason to doubt."""
    take, pillar = load_take(folder / "walk.npz"), load_scene(folder / "pillar.yaml")
    monkeypatch.chdir(tmp_path)
    for name, facts in (
        ("new.npz", {"scene": "pillar.yaml", "scene_hash": "other people", "world_hash": pillar.world_hash}),
        ("old.npz", {"scene": "pillar.yaml", "scene_hash": pillar.hash}),
        ("unknown.npz", {}),
    ):
        save_take(replace(take, facts={**take.facts, **facts}), Path(name))
        for scene, same in (("pillar.yaml", True), ("free.yaml", not facts)):
            with suppress(typer.Exit):
                audit(Path(name), str(folder / scene))
            said = capsys.readouterr().err
            assert ("warning" in said) is not same
            assert same or "it was planned in 'pillar.yaml', not in 'free.yaml'" in said
    export(Path("new.npz"), Path("people.csv"), scene=str(folder / "free.yaml"))
    assert "not in 'free.yaml'" in capsys.readouterr().err
    export(Path("new.npz"), Path("people.glb"))  # nobody would guess why the walls are missing
    assert "it was planned in 'pillar.yaml': add --scene pillar.yaml" in capsys.readouterr().err
    export(Path("new.npz"), Path("people.glb"), scene=str(folder / "pillar.yaml"))
    export(Path("new.npz"), Path("people.csv"))
    export(Path("unknown.npz"), Path("people.glb"))
    assert (_scene_name("corridor.yaml"), _scene_name("mine.yaml")) == ("corridor", "mine.yaml")
    assert "add --scene" not in capsys.readouterr().err
    (tmp_path / "pillar.yaml").write_text(SCENE.replace("0.45]", "0.5]"))
    with suppress(typer.Exit):
        audit(Path("new.npz"), "pillar.yaml", as_json=True)
    said = capsys.readouterr()
    assert "or 'pillar.yaml' was edited since" in said.err and len(json.loads(said.out)["warnings"]) == 1


def test_every_problem_of_a_scene_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(SCENE.replace("radius", "radios").replace("goal: [6, 0]", "goal: [6]"))
    done = gaitway("scene", "check", tmp_path / "bad.yaml", code=2)
    lines = done.stdout.splitlines()
    assert len(lines) >= 2
    assert any(
        "bad.yaml:5: obstacles[0].cylinder.radios" in line and "did you mean 'radius'?" in line for line in lines
    )
    assert any("characters[0].goal" in line for line in lines)
    assert not gaitway("scene", "draw", tmp_path / "bad.yaml", "-o", tmp_path / "x.png", code=2).stdout
    assert not (tmp_path / "x.png").exists()
    facts = json.loads(gaitway("scene", "check", tmp_path / "bad.yaml", "--json", code=2).stdout)
    assert facts[0]["problems"][0]["line"] == 5


def test_an_audit_names_what_is_wrong_and_draws_it(folder: Path, tmp_path: Path) -> None:
    clean = gaitway("audit", folder / "walk.npz", folder / "free.yaml")
    assert clean.stdout.endswith("no violations\n")
    found = gaitway("audit", folder / "walk.npz", folder / "pillar.yaml", "--json", code=1)
    report = json.loads(found.stdout)
    assert not report["ok"]
    broken = [row for row in report["rows"] if not row["ok"]]
    assert [row["name"] for row in broken] == ["penetration"]
    assert broken[0]["worst"]["characters"] == ["ada"]
    assert broken[0]["worst"]["obstacle"] == "pillar"
    shown = gaitway("audit", folder / "walk.npz", folder / "pillar.yaml", "--draw", tmp_path / "worst", code=1)
    assert "violation" in shown.stdout
    with Image.open(tmp_path / "worst" / "penetration.png") as drawn:
        assert drawn.width > 300


def test_a_motion_file_counts_as_a_take_of_one(tmp_path: Path) -> None:
    (tmp_path / "leg.bvh").write_text(BVH)
    facts = json.loads(gaitway("take", "info", tmp_path / "leg.bvh", "--json").stdout)
    assert facts["characters"] == 1
    gaitway("export", tmp_path / "leg.bvh", "-o", tmp_path / "leg.csv")
    assert (tmp_path / "leg.csv").read_text().startswith("id,frame,x,y,heading")


@pytest.mark.slow
def test_exports(folder: Path, tmp_path: Path) -> None:
    gaitway("export", folder / "walk.npz", "-o", tmp_path / "walk.csv", "--fps", "10")
    rows = list(csv.DictReader((tmp_path / "walk.csv").read_text().splitlines()))
    assert {row["id"] for row in rows} == {"0", "1"}
    assert float(rows[-1]["y"]) == pytest.approx(-1.5, abs=0.1)
    gaitway("export", folder / "walk.npz", "-o", tmp_path / "walk.glb", "--scene", folder / "pillar.yaml")
    assert (tmp_path / "walk.glb").read_bytes()[:4] == b"glTF"
    gaitway("export", folder / "walk.npz", "--to", "bvh", "-o", tmp_path / "bvh")
    assert {p.name for p in (tmp_path / "bvh").glob("*.bvh")} == {"ada.bvh", "ben.bvh"}
    refused = gaitway("export", folder / "walk.npz", "--to", "bvh", "-o", tmp_path / "bvh", code=2)
    assert "not empty" in refused.stderr
    gaitway("export", folder / "walk.npz", "--to", "bvh", "-o", tmp_path / "bvh", "--overwrite")
    gaitway("export", folder / "walk.npz", "--to", "npz-dense", "-o", tmp_path / "dense.npz")
    filmed = SCENE + "camera: {eye: [2, -6, 2], target: [2, 0, 1]}\n"
    (tmp_path / "filmed.yaml").write_text(filmed)
    span = ("--from", "0.5", "--until", "1", "--fps", "4", "--width", "160")
    gaitway(
        *("export", folder / "walk.npz", "-o", tmp_path / "walk.webp", "--scene", tmp_path / "filmed.yaml"),
        *(*span, "--trails", "1", "--labels", "--no-cutaway"),
    )
    with Image.open(tmp_path / "walk.webp") as film:
        assert (film.n_frames, film.size) == (3, (160, 90))
        own = np.asarray(film.convert("RGB")).astype(int)
    gaitway("export", folder / "walk.npz", "-o", tmp_path / "ada.webp", "--camera", "follow ada", *span)
    with Image.open(tmp_path / "ada.webp") as film:
        assert np.abs(np.asarray(film.convert("RGB")).astype(int) - own).max() > 60
    with np.load(tmp_path / "dense.npz", allow_pickle=False) as dense:
        assert dense["root"].shape == (dense["length"].sum(), 3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["audit", "missing.npz"], "missing.npz"),
        (["audit", "FOLDER/walk.npz", "nowhere"], "no ready scene of that name"),
        (["export", "FOLDER/walk.npz", "-o", "walk.fbx"], "the formats are glb"),
        (["export", "FOLDER/walk.npz", "--to", "glb", "-o", "walk.usd"], "must end in .glb"),
        (["export", "FOLDER/walk.npz", "-o", "nowhere/walk.glb"], "there is no folder 'nowhere'"),
        (["export", "FOLDER/pillar.yaml", "-o", "walk.glb"], "pillar.yaml"),
        (["export", "FOLDER/walk.npz", "-o", "walk.glb", "--width", "300"], "--width is for films and pictures"),
        (["export", "FOLDER/walk.npz", "-o", "walk.webp", "--camera", "drone"], "'follow NAME', or scene"),
        (["export", "FOLDER/walk.npz", "-o", "walk.webp", "--camera", "scene"], "add --scene"),
        (["export", "FOLDER/walk.npz", "-o", "walk.webp", "--camera", "follow zoe"], "zoe"),
        (["scene", "draw", "maze", "-o", "maze.jpg"], "must end in .png"),
        (["take", "info", "FOLDER"], "FOLDER"),
    ],
)
def test_wrong_input_is_one_line(arguments: list[str], words: str, folder: Path, tmp_path: Path) -> None:
    arguments = [a.replace("FOLDER", str(folder)) for a in arguments]
    done = gaitway(*arguments, code=2, cwd=tmp_path)
    assert words.replace("FOLDER", str(folder)) in done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())
