"""The benchmark of variation, on a motion that is short."""

from __future__ import annotations

import pytest

from gaitway.bench import run_benches, variation


@pytest.mark.slow
def test_the_table_has_limits_scores_and_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MOTION", "jog_forward"), ("STREAM_S", 20.0), ("SMALL_NODES", 3), ("EXACT_ROUNDS", 2)):
        monkeypatch.setattr(variation, name, value)
    (table,) = run_benches("variation")
    learning, numpy, limit, variants, stream, searches, first = table.rows
    assert learning.name.startswith("learn 4 takes x 24 frames x 6")
    assert numpy.ratio is not None
    assert numpy.ratio > 1.0
    assert limit.ours == numpy.ours
    assert variants.name.startswith("20 variants, 4")
    assert "cycles of 23." in stream.name or "cycles of 22." in stream.name
    assert "score" in searches.name
    assert "exact search to its end" in searches.peer
    assert "first 2 edges" in first.peer
    assert "CPU s" in learning.name
