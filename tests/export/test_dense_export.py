"""Dense arrays, read as somebody reads them who has only NumPy."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from gaitway.core.errors import FormatError, GaitwayError
from gaitway.export import dense, export_dense
from small_takes import odd_take, walkers


def outsider(path: Path, name: str) -> tuple[int, np.ndarray]:
    """First frame and joint positions (F, J, 3) of one character, by NumPy alone."""
    z = np.load(path, allow_pickle=False)
    c = z["names"].tolist().index(name)
    begin = z["length"][:c].sum()
    rows = slice(begin, begin + z["length"][c])
    w, x, y, v = np.moveaxis(z["rotations"][rows].astype(float), -1, 0)
    local = np.stack([
        np.stack([1 - 2 * (y * y + v * v), 2 * (x * y - w * v), 2 * (x * v + w * y)], -1),
        np.stack([2 * (x * y + w * v), 1 - 2 * (x * x + v * v), 2 * (y * v - w * x)], -1),
        np.stack([2 * (x * v - w * y), 2 * (y * v + w * x), 1 - 2 * (x * x + y * y)], -1),
    ], -2)  # fmt: skip
    turns, places = local.copy(), np.repeat(z["root"][rows][:, None], local.shape[1], axis=1)
    for j, parent in enumerate(z["parents"]):
        if parent >= 0:
            turns[:, j] = turns[:, parent] @ local[:, j]
            places[:, j] = places[:, parent] + turns[:, parent] @ z["offsets"][j]
    return int(z["start"][c]), places


@pytest.mark.parametrize("fps", [30.0, 24.0])
def test_an_outsider_finds_the_joints(tmp_path: Path, fps: float) -> None:
    take = walkers(4, 1.0, (0.0, 0.51, 0.2, 0.0))
    export_dense(take, tmp_path / "x.npz", fps)
    for character, name in enumerate(take.names):
        start, places = outsider(tmp_path / "x.npz", name)
        stored = np.load(tmp_path / "x.npz")
        begin = int(stored["length"][:character].sum())
        np.testing.assert_allclose(stored["positions"][begin : begin + len(places)], places, atol=2e-6)
        for frame in (0, 5, len(places) - 1):
            (joints,) = take.joints((start + frame) / fps, [character])
            np.testing.assert_allclose(places[frame], joints.positions[0], atol=1e-6)
        assert (start + len(places)) / fps > take.ends[character] >= (start + len(places) - 1) / fps - 1e-6


def test_it_is_what_the_take_gives(tmp_path: Path) -> None:
    take = walkers(3, 0.5, (0.0, 0.3))
    export_dense(take, tmp_path / "x.npz")
    want, got = take.dense(), np.load(tmp_path / "x.npz", allow_pickle=False)
    assert sorted(got.files) == sorted(vars(want))
    assert float(got["fps"]) == want.fps
    for name in ("names", "joint_names"):
        assert tuple(got[name]) == getattr(want, name)
    for name in ("parents", "offsets", "start", "length", "root"):
        np.testing.assert_array_equal(got[name], getattr(want, name))
    np.testing.assert_allclose(got["rotations"], want.rotations, atol=1e-7)
    np.testing.assert_allclose(got["positions"], want.positions, atol=1e-5)
    assert [got[name].dtype for name in ("rotations", "root", "positions")] == [np.float32, np.float64, np.float32]


def test_pieces_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take = walkers(5, 0.5)
    export_dense(take, tmp_path / "whole.npz")
    monkeypatch.setattr(dense, "_ROWS_AT_ONCE", 20)
    export_dense(take, tmp_path / "pieces.npz")
    with np.load(tmp_path / "whole.npz") as whole, np.load(tmp_path / "pieces.npz") as pieces:
        for name in whole.files:
            np.testing.assert_array_equal(whole[name], pieces[name])
    assert zipfile.ZipFile(tmp_path / "pieces.npz").testzip() is None


def test_one_skeleton_a_file(tmp_path: Path) -> None:
    take = odd_take()
    with pytest.raises(GaitwayError, match="2 different skeletons; choose one"):
        export_dense(take, tmp_path / "x.npz")
    for number, skeleton in enumerate(take.skeletons):
        export_dense(take, tmp_path / "x.npz", skeleton=number)
        assert tuple(np.load(tmp_path / "x.npz")["joint_names"]) == skeleton.names
    with pytest.raises(GaitwayError, match="no skeleton 2"):
        export_dense(take, tmp_path / "x.npz", skeleton=2)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("x.npy", {}, r"written as \.npz, not '\.npy'"),
        ("no/x.npz", {}, "there is no folder"),
        ("x.npz", {"fps": -3.0}, "frame rate -3"),
    ],
)
def test_bad_input(tmp_path: Path, name: str, options: dict, words: str) -> None:
    with pytest.raises(GaitwayError, match=words):
        export_dense(walkers(1, 0.3), tmp_path / name, **options)
    assert not list(tmp_path.iterdir())


def test_a_failure_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.npz"
    path.write_bytes(b"before")

    def full(*_: object):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(dense, "sampled", full)
    with pytest.raises(FormatError, match=r"x\.npz: cannot be written: No space left"):
        export_dense(walkers(1, 0.3), path)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]
