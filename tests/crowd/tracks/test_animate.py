"""`gaitway animate` and `gaitway.animate`: from a table to a take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import gaitway
from gaitway.cast.catalog import load_cast
from gaitway.cli import app
from gaitway.core.errors import CrowdError, GaitwayError
from gaitway.crowd.tracks import read_tracks
from gaitway.crowd.trajectories import Trajectories, joined
from gaitway.take import Take, load_take, take_of

PEDESTRIANS = Path(__file__).parents[4] / "shared" / "pedestrians"
RUN = CliRunner()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Bodies that are a second of standing, and what was asked for."""
    calls = list[dict[str, Any]]()
    library = load_cast("person", behaviors=("wait",))
    clip = library.clips[library.graph["wait"].clips[0]]

    def bodies(tracks: Trajectories, library: object, seed: int, **options: Any) -> Take:
        calls.append({"tracks": tracks, "library": library, "seed": seed, **options})
        options["progress"]("people", 1, 1)
        return take_of([clip] * len(tracks), tracks.names, fps=options["fps"], facts=options["facts"])

    monkeypatch.setattr("gaitway.crowd.locomotion.animation.animate", bodies)
    return calls


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [f"{p},{f},{1.2 * f / 25:.4f},{2.0 * p}" for p in range(3) for f in range(60) if (p, f) != (1, 30)]
    path = tmp_path / "tracks.csv"
    path.write_text("\n".join(["id,frame,x,y", *rows]) + "\n")
    return path


def test_a_table_becomes_a_take(table: Path, tmp_path: Path, asked: list[dict[str, Any]]) -> None:
    words = ["animate", str(table), "-o", str(tmp_path / "take.npz"), "--seed", "3", "--fps", "20", "--rate", "24"]
    done = RUN.invoke(app, [*words, "--people", "0-1", "--until", "2", "--no-heads", "--scene", "corridor"])
    assert done.exit_code == 0, done.output
    assert "2 people for 2 s" in done.output and "20 Hz (as asked)" in done.output
    assert "1 gaps of up to 0.1 s are filled" in done.output
    (call,) = asked
    assert (call["seed"], call["fps"], call["library"], call["tracks"].names) == (3, 24.0, "person", ("0", "1"))
    take = load_take(tmp_path / "take.npz")
    assert take.names == ("0", "1") and take.facts["tracks"]["people"] == 2
    assert take.facts["scene"] == "corridor.yaml" and "world_hash" in take.facts


def test_programs_get_the_same(table: Path, tmp_path: Path, asked: list[dict[str, Any]]) -> None:
    done = RUN.invoke(app, ["animate", str(table), "-o", str(tmp_path / "take.npz"), "--json"])
    facts = json.loads(done.stdout)
    assert facts["characters"] == 3 and facts["tracks"]["unit"] == "m" and len(facts["tracks"]["repairs"]) == 1
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.csv", "-o", "take.npz"], "cannot be read"),
        (["tracks.csv", "-o", "take.glb"], "must end in .npz"),
        (["tracks.csv", "-o", "no/take.npz"], "there is no folder"),
        (["tracks.csv", "-o", "take.npz", "--unit", "km"], "none of m, cm, mm"),
        (["tracks.csv", "-o", "take.npz", "--library", "cat"], "no library 'cat'"),
        (["tracks.csv", "-o", "take.npz", "--people", "bob"], "nobody of that name"),
        (["tracks.csv", "-o", "take.npz", "--from", "9"], "nobody is there from 9 s"),
    ],
)
def test_wrong_input_leaves_nothing(
    words: list[str], said: str, table: Path, asked: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(table.parent)
    done = RUN.invoke(app, ["animate", *words])
    assert isinstance(done.exception, GaitwayError) and said in str(done.exception)
    assert [path.name for path in table.parent.iterdir()] == ["tracks.csv"] and not asked


def test_from_python(table: Path, asked: list[dict[str, Any]]) -> None:
    gaitway.animate(table, seed=1, unit="cm", fps=50.0)
    assert asked[0]["tracks"].positions.max() < 0.1 and asked[0]["fps"] == 30.0
    tracks = joined(10.0, ["a"], [0], [np.zeros((9, 2))])
    gaitway.animate(tracks, "horse", rate=60.0)
    assert asked[1]["tracks"] is tracks and asked[1]["library"].name == "horse" and asked[1]["facts"] == {}
    with pytest.raises(CrowdError, match="unit: only for files"):
        gaitway.animate(tracks, unit="cm")
    with pytest.raises(CrowdError, match="nobody"):
        gaitway.animate(joined(10.0, [], [], []))


def test_words_that_are_no_commands_lead_here() -> None:
    from gaitway.cli import _MEANT

    assert _MEANT["trajectories"] == "animate"


@pytest.mark.slow
def test_real_people_walk_as_bodies() -> None:
    pytest.importorskip("gaitway.crowd.locomotion.animation")
    if not PEDESTRIANS.is_dir():
        pytest.skip("no tracked people beside the clone")
    read = read_tracks(PEDESTRIANS / "corner.txt", until=8.0, people="1-8")
    take = gaitway.animate(read)
    rows = {row.name: row for row in gaitway.audit_take(take, None).rows}
    for name in ("skate", "skate_found", "continuity", "limits"):
        assert not rows[name].violations
    for person, name in enumerate(read.trajectories.names):
        times = read.trajectories.times(person)
        roots = take.planar(times, [take.names.index(name)])[0, :, :2]
        seen = np.isfinite(roots).all(axis=1)
        track = read.trajectories.positions[read.trajectories.rows(person)]
        assert np.linalg.norm(roots - track, axis=1)[seen].max() < 0.05
