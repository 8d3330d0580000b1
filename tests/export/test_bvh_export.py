"""A folder of BVH files: one a character, all or none."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaitway.core.errors import FormatError, GaitwayError
from gaitway.export import bvh, export_bvh
from gaitway.motion.clip import Clip
from gaitway.motion.formats import load_clip
from gaitway.motion.skeleton import Skeleton
from gaitway.take.tracks import assemble, lay_track
from small_takes import walkers


def positions_like(model: Clip, clip: Clip) -> np.ndarray:
    """Joint positions of a clip, in the order in which a model lists the same joints."""
    return clip.joint_positions()[:, [clip.skeleton.index(name) for name in model.skeleton.names]]


def test_every_character_comes_back(tmp_path: Path) -> None:
    take = walkers(3, 1.0, (0.0, 0.51), ("ada", "Ada", "a/b: c"))
    files = export_bvh(take, tmp_path / "out")
    assert [f.name for f in files] == ["ada.bvh", "Ada_2.bvh", "a_b_c.bvh"]
    for character, file in enumerate(files):
        want, got = take.clip(character), load_clip(file, unit="cm", up="y")
        assert len(got) == len(want)
        assert got.fps == pytest.approx(30.0, rel=1e-6)
        np.testing.assert_allclose(positions_like(want, got), want.joint_positions(), atol=1e-5)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out"]


def test_the_index_says_who_and_when(tmp_path: Path) -> None:
    export_bvh(walkers(2, 1.0, (0.0, 0.51), ("ada", "b,ob")), tmp_path / "out", fps=60.0)
    with (tmp_path / "out" / bvh.INDEX).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows == [
        {"file": "ada.bvh", "name": "ada", "start": "0", "frames": "61", "fps": "60"},
        {"file": "b_ob.bvh", "name": "b,ob", "start": "0.51", "frames": "61", "fps": "60"},
    ]


def test_units_and_axes_are_passed_on(tmp_path: Path) -> None:
    take = walkers(1, 0.5)
    (file,) = export_bvh(take, tmp_path / "out", unit="m", up="z", euler_order="xyz")
    got = load_clip(file, unit="m", up="z")
    np.testing.assert_allclose(positions_like(take.clip(0), got), take.clip(0).joint_positions(), atol=1e-5)
    assert "Xrotation Yrotation Zrotation" in file.read_text()


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "walker_0.bvh").write_text("old")
    with pytest.raises(FormatError, match="the folder is not empty"):
        export_bvh(walkers(1, 0.3), tmp_path)
    assert (tmp_path / "walker_0.bvh").read_text() == "old"
    export_bvh(walkers(1, 0.3), tmp_path, overwrite=True)
    assert (tmp_path / "walker_0.bvh").read_text().startswith("HIERARCHY")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["index.csv", "mine.txt", "walker_0.bvh"]


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert all(p.is_file() for p in export_bvh(walkers(2, 0.3), tmp_path / "out"))


def test_a_failure_leaves_no_files(tmp_path: Path) -> None:
    skeleton = Skeleton(("hips", "bad{name"), np.array([-1, 0]), np.array([[0, 0, 1.0], [0, 0, 0.2]]))
    clip = Clip(skeleton, np.zeros((3, 3)), np.tile([1.0, 0, 0, 0], (3, 2, 1)), 30.0)
    take = assemble([lay_track("ada", [walkers(1, 0.3).clip(0)]), lay_track("odd", [clip])], fps=30.0)
    with pytest.raises(FormatError, match=r"out/odd\.bvh: joint name 'bad\{name'"):
        export_bvh(take, tmp_path / "out")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("folder", "options", "words"),
    [
        ("file", {}, "it is a file; name a folder"),
        ("no/out", {}, "cannot be written: No such file"),
        ("out", {"fps": -1.0}, "frame rate -1"),
        ("out", {"unit": "ell"}, "unit 'ell' is not known"),
        ("out", {"euler_order": "xxy"}, "must name each of x, y, z once"),
    ],
)
def test_bad_input(tmp_path: Path, folder: str, options: dict, words: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(GaitwayError, match=words):
        export_bvh(walkers(1, 0.3), tmp_path / folder, **options)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@given(
    st.lists(
        st.text(max_size=8) | st.sampled_from(["con", "NUL.x", "..", "a" * 300, "a" * 301, "\u4e2d" * 200, "A", "a"])
    )
)
def test_file_names_are_safe_and_different(names: list[str]) -> None:
    found = bvh.file_names(names)
    assert len({n.casefold() for n in found}) == len(found) == len(names)
    for name in found:
        assert name
        assert not set(name) & set('/\\:*?"<>|\0\n')
        assert not name.startswith(".")
        assert len(name.encode()) <= 250
        assert name.split(".")[0].lower() not in ("con", "nul", "prn", "aux")
