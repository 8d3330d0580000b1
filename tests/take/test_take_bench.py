"""The benchmark of takes, made small."""

from __future__ import annotations

import json

import pytest

from gaitway.bench import _timing, run_benches, take


def test_the_table_is_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_timing, "_SHORTEST_TURN", 0.0)
    monkeypatch.setattr(take, "CHARACTERS", 20)
    (table,) = run_benches("take")
    assert [row.peer for row in table.rows] == ["FK kernel alone"] * 5 + ["plain NumPy"]
    assert all(row.theirs is not None and row.ours.median > 0.0 for row in table.rows)
    json.dumps(table.as_dict())
