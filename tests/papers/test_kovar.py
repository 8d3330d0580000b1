"""`gaitway papers kovar` from end to end."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gaitway.cli import app

RUN = CliRunner()


@pytest.mark.slow
def test_graphs_paths_changes_and_steering(tmp_path: Path) -> None:
    done = RUN.invoke(app, ["papers", "kovar", "--quick", "--out", str(tmp_path)])
    assert "graphs" in done.output
    assert "walk to jog" in done.output
    assert "holds: feet slide no more than in the captures" in done.output
    names = {path.name for path in tmp_path.iterdir()}
    assert {"kovar.csv", "kovar-errors.png", "kovar-circle.png", "kovar-changes-strip.png"} <= names
    with (tmp_path / "kovar.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["what"] for row in rows} >= {"graph of paths", "circle", "steering"}


def test_a_folder_without_captures_is_refused(tmp_path: Path) -> None:
    done = RUN.invoke(app, ["papers", "kovar", "--mocap", str(tmp_path)])
    assert done.exit_code != 0
    assert str(tmp_path) in str(done.exception) + done.output
