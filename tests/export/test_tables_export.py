"""Trajectories as CSV and Parquet, read as others read them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pedpy
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaitway.core.errors import FormatError, GaitwayError, MissingExtraError
from gaitway.export import _kernels, export_trajectories, tables
from gaitway.export import characters as clock
from gaitway.take.tracks import assemble, lay_track
from small_takes import odd_take, walkers


def read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("fps", [None, 10.0, 59.94])
def test_rows_are_those_of_the_take(tmp_path: Path, suffix: str, fps: float | None) -> None:
    take = walkers(4, 1.0, (0.0, 0.51, -0.4))
    export_trajectories(take, tmp_path / f"x{suffix}", fps)
    table, want = read(tmp_path / f"x{suffix}"), take.trajectories(fps)
    assert tuple(table.columns) == tables.COLUMNS
    assert table["id"].tolist() == want.id.tolist()
    assert table["frame"].tolist() == want.frame.tolist()
    slack = 0.5001e-4 if suffix == ".csv" else 1e-12
    for column in ("x", "y", "heading"):
        np.testing.assert_allclose(table[column], getattr(want, column), rtol=0, atol=slack)
    assert tuple(table["behaviour"]) == want.behavior
    assert set(table["behaviour"]) == {"walk", "stroll"}
    np.testing.assert_allclose(table["time"] * want.fps, table["frame"], atol=1e-4)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_pedpy_reads_them(tmp_path: Path, suffix: str) -> None:
    take = walkers(3, 2.0, (0.0, 0.5))
    export_trajectories(take, tmp_path / f"x{suffix}")
    table = read(tmp_path / f"x{suffix}")
    rate = 1.0 / np.diff(np.unique(table["time"])).mean()
    trajectory = pedpy.TrajectoryData(table[["id", "frame", "x", "y"]], frame_rate=float(np.round(rate, 3)))
    assert trajectory.frame_rate == 30.0
    speeds = pedpy.compute_individual_speed(traj_data=trajectory, frame_step=5)
    walking = speeds[speeds["id"] == 1]["speed"]
    assert len(walking) == 51  # five frames at either end have no speed
    assert walking.mean() == pytest.approx(1.0, abs=0.02)  # what the walkers were made to do


def test_parquet_says_its_rate_and_names(tmp_path: Path) -> None:
    export_trajectories(walkers(2, 0.5, names=("ada", "bo")), tmp_path / "x.parquet", 25.0)
    metadata = pyarrow.parquet.read_schema(tmp_path / "x.parquet").metadata
    assert float(metadata[b"fps"]) == 25.0
    assert json.loads(metadata[b"gaitway"])["names"] == ["ada", "bo"]


def test_odd_names_of_behaviours_survive(tmp_path: Path) -> None:
    clip = walkers(1, 0.3).clip(0)
    names = ('say "hi", then go', "umlaut ü", "two\nlines", None)
    take = assemble([lay_track(f"c{i}", [clip], behaviors=[name]) for i, name in enumerate(names)], fps=30.0)
    export_trajectories(take, tmp_path / "x.csv")
    table = pd.read_csv(tmp_path / "x.csv", keep_default_na=False)
    assert table.groupby("id")["behaviour"].first().tolist() == [n or "" for n in names]


def test_several_skeletons_share_a_table(tmp_path: Path) -> None:
    take = odd_take()
    export_trajectories(take, tmp_path / "x.csv")
    table = pd.read_csv(tmp_path / "x.csv")
    np.testing.assert_allclose(table["heading"], take.trajectories().heading, atol=0.5001e-4)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_blocks_do_not_show(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    take = walkers(7, 0.5, (0.0, 0.2))
    export_trajectories(take, tmp_path / f"whole{suffix}")
    plain = clock.clock_blocks
    monkeypatch.setattr(tables, "clock_blocks", lambda take, fps, who: plain(take, fps, who, 40))
    export_trajectories(take, tmp_path / f"pieces{suffix}")
    pd.testing.assert_frame_equal(read(tmp_path / f"whole{suffix}"), read(tmp_path / f"pieces{suffix}"))


@pytest.mark.slow
@given(rows_at_once=st.integers(1, 200), starts=st.lists(st.floats(0.0, 3.0), min_size=5, max_size=5))
def test_blocks_hold_every_row_once(rows_at_once: int, starts: list[float]) -> None:
    take = walkers(5, 0.5, starts)
    blocks = list(clock.clock_blocks(take, 30.0, np.arange(5), rows_at_once))
    want = take.trajectories()
    assert np.concatenate([b[0] for b in blocks]).tolist() == want.id.tolist()
    assert np.concatenate([b[1] for b in blocks]).tolist() == want.frame.tolist()
    assert all(len(b[0]) <= rows_at_once or len(set(b[0])) == 1 for b in blocks)


def test_someone_between_two_frames_has_no_row(tmp_path: Path) -> None:
    clip = walkers(1, 0.3).clip(0, 120.0)
    track = lay_track("brief", [clip], start_time=0.11)
    take = assemble([lay_track("long", [clip])], fps=30.0)
    brief = assemble([track], fps=2.0)
    export_trajectories(brief, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == ",".join(tables.COLUMNS) + "\n"
    export_trajectories(take, tmp_path / "y.csv", 2.0)
    assert len(pd.read_csv(tmp_path / "y.csv")) == 1


def plain_rows(numbers, decimals, words, column, names) -> str:
    """The twin of the kernel."""
    lines = []
    for row, word in zip(numbers.tolist(), words.tolist(), strict=True):
        cells = []
        for value, places in zip(row, decimals.tolist(), strict=True):
            digits = str(abs(value)).rjust(places + 1, "0")
            body = f"{digits[:-places]}.{digits[-places:]}" if places else digits
            cells.append(("-" if value < 0 else "") + body)
        cells.insert(column, names[word])
        lines.append(",".join(cells) + "\n")
    return "".join(lines)


@given(
    rows=st.lists(st.tuples(*[st.integers(-(10**18), 10**18)] * 3, st.integers(0, 2)), min_size=1, max_size=20),
    decimals=st.tuples(*[st.integers(0, 7)] * 3),
    column=st.integers(0, 2),
)
def test_kernel_agrees_with_its_twin(rows, decimals, column) -> None:
    table = np.array(rows, dtype=np.int64)
    names = ["walk", "", "ü,"]
    words = [n.encode() for n in names]
    text = np.frombuffer(b"".join(words), dtype=np.uint8)
    starts = np.cumsum([0, *map(len, words)])
    out = np.zeros(len(table) * (4 * 22 + 8), dtype=np.uint8)
    args = (table[:, :3].copy(), np.array(decimals), table[:, 3].copy(), column, text, starts, out)
    used = _kernels.write_rows(*args)
    assert out[:used].tobytes().decode() == plain_rows(*args[:4], names)


def test_nothing_is_minus_zero(tmp_path: Path) -> None:
    take = assemble([lay_track("ada", [walkers(1, 0.3).clip(0)], (-1e-6, -1e-6, -1e-6))], fps=30.0)
    export_trajectories(take, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text().splitlines()[1].startswith("0,0,0.0000,0.0000,0.0000,")


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("x.txt", {}, r"trajectories are written as \.csv or \.parquet, not '\.txt'"),
        ("no/x.csv", {}, "there is no folder"),
        ("no/x.parquet", {}, "there is no folder"),
        ("x.csv", {"fps": 0}, "frame rate 0"),
        ("x.parquet", {"fps": float("inf")}, "frame rate inf"),
    ],
)
def test_bad_input(tmp_path: Path, name: str, options: dict, words: str) -> None:
    with pytest.raises(GaitwayError, match=words):
        export_trajectories(walkers(1, 0.3), tmp_path / name, **options)
    assert not list(tmp_path.iterdir())


def test_too_far_away_for_text() -> None:
    with pytest.raises(GaitwayError, match="at most 1e"):
        assemble([lay_track("ada", [walkers(1, 0.3).clip(0)], (1e13, 0.0, 0.0))], fps=30.0)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_failure_leaves_what_was_there(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_bytes(b"before")

    def broken(*_: object):
        raise KeyboardInterrupt

    monkeypatch.setattr(tables, "planar_poses", broken)
    with pytest.raises(KeyboardInterrupt):
        export_trajectories(walkers(1, 0.3), path)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"gaitway\[parquet\]"):
        export_trajectories(walkers(1, 0.3), tmp_path / "x.parquet")
    export_trajectories(walkers(1, 0.3), tmp_path / "x.csv")
    assert len((tmp_path / "x.csv").read_text().splitlines()) == 11
    with pytest.raises(FormatError):
        export_trajectories(walkers(1, 0.3), tmp_path / "x.feather")
