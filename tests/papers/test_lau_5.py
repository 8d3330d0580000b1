"""Chapters 5 and 6 run again: what is said holds, and what is missing is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gaitway.core.errors import GaitwayError
from gaitway.papers import PAPERS, PaperOptions, lau_5_captured, run_paper, save_paper
from gaitway.papers.lau_5_captured import (
    MOTIONS,
    _uncertain,
    captured_rows,
    captured_studies,
    captured_walkers,
    found_files,
)
from gaitway.papers.lau_5_selection import selection_rows
from gaitway.papers.lau_5_sets import Sizes
from gaitway.papers.lau_6 import joggers
from shared_data import MOCAP, needs_mocap

QUICK, SMALL = PaperOptions(quick=True), Sizes(1, 8, 0, 0, 1)


def test_both_chapters_are_among_the_papers() -> None:
    assert {"lau-5", "lau-6"} <= PAPERS.keys()


def test_captures_are_looked_for_where_they_are_named(tmp_path: Path) -> None:
    assert captured_walkers(None) == {}
    with pytest.raises(GaitwayError, match="is no folder"):
        captured_walkers(tmp_path / "nowhere")
    for name in ("35_01", "35_02", "16_15"):
        (tmp_path / f"{name}.bvh").touch()
    assert {subject: len(files) for subject, files in captured_walkers(tmp_path).items()} == {"35": 2}
    assert selection_rows(captured_walkers(tmp_path), QUICK, lambda what, done, total: None) == ([], [], [])


def test_captured_motions_need_captures(tmp_path: Path) -> None:
    quiet = lambda what, done, total: None  # noqa: E731
    assert captured_studies(None, SMALL, 0, quiet) == ([], [])
    assert captured_studies(tmp_path, SMALL, 0, quiet) == ([], [])
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "35_17.bvh").touch()
    assert [file.name for file in found_files(tmp_path, ("35_17", "35_18"))] == ["35_17.bvh"]
    assert len({motion.name for motion in MOTIONS}) == len(MOTIONS)


def test_standard_error_of_a_mean_is_the_one_of_the_books() -> None:
    values = np.random.default_rng(0).normal(size=12)
    mean, error = _uncertain(lambda some: float(values[some].mean()), len(values))
    assert mean == pytest.approx(values.mean())
    assert error == pytest.approx(values.std(ddof=1) / np.sqrt(12))


@pytest.mark.slow
@needs_mocap
def test_strokes_of_a_swimmer_vary_as_real_ones_do(monkeypatch: pytest.MonkeyPatch) -> None:
    swim = tuple(motion for motion in MOTIONS if motion.name.startswith("breast stroke"))
    monkeypatch.setattr(lau_5_captured, "MOTIONS", swim)
    studies, notes = captured_studies(MOCAP, SMALL, 0, lambda what, done, total: None)
    assert len(studies) == 1
    assert "cycles of 1 captures" in notes[0]
    rows = {row["clips"]: row for row in captured_rows(studies)}
    spread = {name: float(row["spread"].split()[0]) for name, row in rows.items()}
    assert 0.7 < spread["variants"] < 1.4 < spread["strawman noise"]


def test_joggers_start_side_by_side() -> None:
    scene = joggers(PaperOptions())
    assert len(scene.characters) == 9
    assert {character.start[0] for character in scene.characters} == {2.0}
    assert len(joggers(QUICK).characters) == 4


@pytest.mark.slow
def test_chapter_5_in_a_hurry(tmp_path: Path) -> None:
    table = run_paper("lau-5", options=QUICK)
    assert table.ok, table.notes
    rows = {row["clips"]: row for title, part in table.sections[:1] for row in part}
    assert rows["variants"]["slide mm"] < 1.0 < rows["as drawn"]["slide mm"] < rows["strawman noise"]["slide mm"]
    repeated = next(part[0] for title, part in table.sections if title.startswith("Repetition"))
    assert repeated["cycle animation"] == 0.0
    assert repeated["variants"] > 0.05
    assert rows["variants"]["rough"] < rows["Perlin noise"]["rough"] < rows["strawman noise"]["rough"]
    names = {path.name for path in save_paper("lau-5", table, tmp_path)}
    assert {"lau-5.csv", "lau-5-cheer-poses.png", "lau-5-cheer-curves.png", "lau-5-cheer-strip.png"} <= names


@pytest.mark.slow
def test_chapter_6_in_a_hurry(tmp_path: Path) -> None:
    table = run_paper("lau-6", options=QUICK)
    assert table.ok, table.notes
    for plain, varied in (table.rows[:2], table.rows[2:]):  # by trees, and by the search
        assert plain["by"] == varied["by"]
        assert varied["clips"] > plain["clips"]
        assert varied["clones %"] < plain["clones %"]
        assert plain["faults"] == varied["faults"] == 0
    assert len(save_paper("lau-6", table, tmp_path)) == 3
