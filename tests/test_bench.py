"""Benchmarks: the table, with peers and without."""

from __future__ import annotations

import json
from typing import get_type_hints

import pytest

from gaitway import bench
from gaitway.bench import BenchRow, Timing, _timing, motion, run_benches
from gaitway.cli import bench as cli_bench
from gaitway.core.errors import GaitwayError


def test_rows_know_whether_a_target_was_missed() -> None:
    row = BenchRow("load", "peer 1.0", Timing(2.0, 1.0, 3.0), Timing(30.0, 20.0, 50.0), target=20.0)
    assert row.ratio == 15.0
    assert row.missed
    assert row.as_dict()["faster"] == "15.0x (>= 20)"
    assert row.as_dict()["gaitway ms"] == "2 [1..3]"
    assert not BenchRow("load", "peer", row.ours, row.theirs, target=10.0).missed
    assert not BenchRow("load", "not installed", row.ours, None, target=10.0).missed


def test_tasks_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_timing, "_SHORTEST_TURN", 0.0)
    calls: list[str] = []
    monkeypatch.setattr(_timing.time, "perf_counter", iter(range(100)).__next__)
    timings = _timing.measure({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, rounds=2)
    assert calls[:2] == ["a", "b"]  # warm-up
    assert timings.keys() == {"a", "b"}
    assert timings["a"] == Timing(1000.0, 1000.0, 1000.0)


def test_without_peers_the_table_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_timing, "_SHORTEST_TURN", 0.0)
    monkeypatch.setattr(motion, "FRAMES", 20)
    monkeypatch.setattr(motion, "installed", lambda package: False)
    monkeypatch.setattr(_timing, "installed", lambda package: package in ("numpy", "numba"))
    (table,) = run_benches("motion")
    assert len(table.rows) == 3
    for row in table.rows:
        assert row.theirs is None
        assert row.peer == "not installed: pip install 'gaitway[bench]'"
        assert row.ours.median > 0.0
    assert "Python" in table.machine
    json.dumps(table.as_dict())


def test_unknown_benchmarks() -> None:
    with pytest.raises(GaitwayError, match="no benchmark 'crowds'; there are behavior, bodies, crowd, deform, fuzz"):
        run_benches("crowds")
    assert "motion" in bench.BENCHES


def test_help_names_all_benchmarks() -> None:
    (name, *_) = get_type_hints(cli_bench, include_extras=True)["name"].__metadata__
    assert name.help.startswith(f"One of {', '.join(bench.BENCHES)}; all but {' and '.join(bench.LONG)} ")
