"""What a report says, in words and in JSON; and the pictures of the worst."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

import gaitway.audit
from audit_takes import OPEN, STAND, take_with, track
from gaitway.audit import AuditBars, Finding, Report, ReportRow, audit_take, draw_worst
from gaitway.audit.bodies import walker
from gaitway.audit.ground import worst_of_runs
from gaitway.audit.report import shown, summed_up
from gaitway.core.errors import ClipError
from gaitway.world import Box, Obstacle, World


def finding(value: float, bar: float = 1.0, time: float = 0.5) -> Finding:
    return Finding(
        row="row",
        value=value,
        bar=bar,
        time=time,
        frame=round(30 * time),
        characters=("ada",),
        part="left_hand",
        obstacle="wall",
    )


@pytest.fixture(scope="module")
def bumped() -> tuple[Report, object, World]:
    take = take_with(track(words=STAND, goal=(0.0, 0.0, np.nan, 0.5)), track("bob", STAND, (0.0, 3.0, 0.0)))
    world = World((-5.0, -5.0, 5.0, 5.0), (Obstacle(Box((0.3, 0.0), (0.4, 3.0), 1.2), name="bench"),))
    return audit_take(take, world), take, world


def test_rows_are_summed_up_by_how_far_they_are_beyond_their_bars() -> None:
    kind = ReportRow(name="row", title="a row", unit="m", bar=1.0)
    row = summed_up([finding(0.5), finding(3.0), finding(4.0, 3.9), finding(1.0)], kind, 7)
    assert [f.value for f in row.violations] == [3.0, 4.0]
    assert row.worst is not None
    assert row.worst.value == 3.0
    assert not row.ok
    assert row.checked == 7
    assert summed_up([finding(0.5), finding(1.0)], kind, 2).ok
    assert summed_up([finding(1.0)], kind, 1).verdict == "ok"
    assert summed_up([], kind, 0).verdict == "not checked"


def test_what_is_not_a_number_is_a_violation() -> None:
    row = summed_up([finding(2.0), finding(float("nan"))], ReportRow(name="row", title="a row", unit="m", bar=1.0), 2)
    assert len(row.violations) == 2
    assert np.isnan(row.violations[0].value)


def test_a_row_that_does_not_decide_is_reported_and_does_not_count() -> None:
    row = summed_up([finding(2.0)], ReportRow(name="row", title="a row", unit="m", bar=1.0, decides=False), 1)
    report = Report((row,))
    assert report.ok
    assert report.violations == ()
    assert row.violations
    assert "beyond" in row.verdict


def test_words() -> None:
    assert finding(2.0).words() == "ada, left_hand in wall, 0.50 s (frame 15)"
    assert shown(0.0123, "m") == "1.23 cm"
    assert shown(2.345, "deg") == "2.35 deg" or shown(2.345, "deg") == "2.34 deg"
    assert shown(float("nan"), "m") == "as asked"
    assert shown(3.0, "") == "3"


def test_a_report_is_plain_json(bumped) -> None:
    report = bumped[0]
    plain = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert plain["ok"] is False
    assert [row["name"] for row in plain["rows"]] == [row.name for row in report.rows]
    row = next(r for r in plain["rows"] if r["name"] == "penetration")
    assert row["verdict"] == "violated"
    assert row["worst"]["characters"] == ["ada"]
    assert row["worst"]["obstacle"] == "bench"
    assert len(row["worst"]["place"]) == 3
    assert plain["characters"]["ada"]["penetration"] == pytest.approx(row["worst"]["value"])
    assert "penetration" not in plain["characters"]["bob"]


def test_a_table_has_a_line_for_every_row(bumped) -> None:
    table = bumped[0].table()
    assert len(table) == len(bumped[0].rows)
    assert all(len(line) == 5 and all(isinstance(cell, str) for cell in line) for line in table)
    assert any("bench" in line[3] and line[4] == "violated" for line in table)


def test_bars_can_be_set() -> None:
    take = take_with(track(words=STAND, height=0.008))
    assert audit_take(take, OPEN).ok
    assert not audit_take(take, OPEN, bars=AuditBars(height=0.005)).ok


def test_progress_is_told(bumped) -> None:
    told: list[tuple[str, int, int]] = []
    audit_take(bumped[1], bumped[2], progress=lambda what, done, total: told.append((what, done, total)))
    assert {what for what, _, _ in told} >= {"characters", "characters against one another"}
    for what in {what for what, _, _ in told}:
        done = [d for w, d, _ in told if w == what]
        totals = {t for w, _, t in told if w == what}
        assert len(totals) == 1
        assert done == sorted(done)
        assert done[-1] == totals.pop()


def test_the_same_twice(bumped) -> None:
    assert audit_take(bumped[1], bumped[2]).as_dict() == bumped[0].as_dict()


def test_pictures_of_the_worst(bumped, tmp_path) -> None:
    report, take, world = bumped
    paths = draw_worst(report, take, world, tmp_path / "new" / "folder")
    assert [p.stem for p in paths] == [row.name for row in report.rows if row.violations]
    with Image.open(paths[0]) as picture:
        pixels = np.asarray(picture.convert("RGB")).astype(int)
    red = (pixels[..., 0] > 180) & (pixels[..., 1] < 80) & (pixels[..., 2] < 80)
    half = pixels.shape[1] // 2
    assert red[80:, :half].sum() > 100, "a ring in the view from afar"
    assert red[80:, half:].sum() > 100, "a ring in the view from near by"
    assert draw_worst(Report(()), take, world, tmp_path) == []


def test_somebody_who_cannot_be_shown(monkeypatch) -> None:
    def broken(take, index, bodies):
        if index == 1:
            raise ClipError("root_positions has a value that is not finite at index (3, 0)")
        return walker(take, index, bodies)

    monkeypatch.setattr("gaitway.audit.auditing.walker", broken)
    report = audit_take(take_with(track(words=STAND), track("bob", STAND, (0.0, 3.0, 0.0))), OPEN)
    assert not report.ok
    (found,) = report["presence"].violations
    assert found.characters == ("bob",)
    assert "not finite" in found.part
    assert report["presence"].checked == 2
    assert [row.name for row in report.rows if row.violations] == ["presence"]


def test_of_a_run_the_worst_moment_is_told_with_its_span() -> None:
    values, times = np.array([0.0, 2.0, 5.0, 3.0, 0.0, 0.0, 0.0, 4.0, 0.5]), np.arange(9) / 10.0
    assert worst_of_runs(values, times, 1.0) == [(2, (0.1, 0.3)), (7, (0.7, 0.7))]
    assert worst_of_runs(values, times, 1.0, gap=4) == [(2, (0.1, 0.7))]
    assert worst_of_runs(values, times, 9.0) == [(2, None)]
    assert worst_of_runs(np.array([0.0, np.nan]), times[:2], 1.0) == [(1, (0.1, 0.1))]


def test_public_names() -> None:
    assert gaitway.audit_take is audit_take
    assert all(hasattr(gaitway.audit, name) for name in gaitway.audit.__all__)
