"""`gaitway papers` from end to end: tables, JSON, files, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gaitway.cli import app

RUN = CliRunner()


@pytest.mark.slow
def test_a_table_with_files(tmp_path: Path) -> None:
    done = RUN.invoke(app, ["papers", "lau-4.3", "--quick", "--out", str(tmp_path / "tables")])
    assert done.exit_code == 0, done.output
    assert "1080x1080" in done.output
    assert "holds: finer grids take longer" in done.output
    names = {path.name for path in (tmp_path / "tables").iterdir()}
    assert names == {"lau-4.3.csv", "lau-4.3-times.png", "lau-4.3-success.png"}


@pytest.mark.slow
def test_json() -> None:
    done = RUN.invoke(app, ["papers", "lau-4.3", "--quick", "--library", "horse", "--json"])
    assert done.exit_code == 0, done.output
    (table,) = json.loads(done.stdout)
    assert table["ok"]
    assert {row["method"] for row in table["rows"]} == {"A*", "SPST, 25 MB"}
    assert table["notes"][0].startswith("horse: 5 moves")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lau-9"], "no paper 'lau-9'; there are lau-3, lau-4.1, lau-4.2, lau-4.3"),
        (["lau-4.1", "--library", "cat"], "no cast 'cat'"),
    ],
)
def test_refusals(arguments: list[str], words: str) -> None:
    done = RUN.invoke(app, ["papers", *arguments])
    assert done.exit_code != 0
    assert words in str(done.exception) + done.output
