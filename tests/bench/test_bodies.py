"""The benchmark of bodies measures what it says."""

from __future__ import annotations

from gaitway.bench import bodies


def test_rows_compare_a_frame_of_bodies_with_its_time_and_with_played_clips() -> None:
    rows = bodies.bench_rows(count=70, rounds=1)
    assert [row.peer for row in rows] == ["a frame of 30 Hz"] * 2 + ["the same poses, recorded and played"]
    assert all(row.name.startswith("70 bodies") for row in rows)
    assert rows[0].theirs is not None and abs(rows[0].theirs.median - 33.33) < 0.1
    assert rows[0].target == 1.0
    assert rows[2].theirs is not None and rows[2].theirs.median > 0.0
