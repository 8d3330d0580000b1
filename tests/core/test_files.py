"""Files are complete or not there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from gaitway.core.errors import FormatError
from gaitway.core.files import atomic_folder, atomic_path, atomic_write, check_writable


def test_the_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "out.bin"
    with atomic_write(path) as file:
        file.write(b"half")
        file.flush()
        assert not path.exists()
        file.write(b" and half")
    assert path.read_bytes() == b"half and half"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="file modes are a POSIX matter")
def test_the_file_has_the_usual_mode(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    with atomic_write(tmp_path / "ours"):
        pass
    usual, ours = (stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "ours"))
    assert ours == usual


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_what_was_there(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "out.bin"
    path.write_bytes(b"before")

    def fail() -> None:
        with atomic_write(path) as file:
            file.write(b"new")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with (
        pytest.raises(FormatError, match=r"x\.bin: cannot be written: No such file"),
        atomic_write(tmp_path / "no/x.bin"),
    ):
        pass
    (tmp_path / "folder").mkdir()
    with pytest.raises(FormatError, match="folder: cannot be written"), atomic_write(tmp_path / "folder") as file:
        file.write(b"x")
    assert list((tmp_path).iterdir()) == [tmp_path / "folder"]


def test_check_writable_names_what_is_in_the_way(tmp_path: Path) -> None:
    check_writable(tmp_path / "new.png")
    for path, words in ((tmp_path, "is a folder"), (tmp_path / "no" / "new.png", "no folder")):
        with pytest.raises(FormatError, match=words):
            check_writable(path)
    assert not list(tmp_path.iterdir())


def test_libraries_that_write_by_name_get_one_with_the_right_ending(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "out.usdc") as temporary:
        assert (temporary.parent, temporary.suffix) == (tmp_path, ".usdc")
        temporary.write_bytes(b"x")
        assert not (tmp_path / "out.usdc").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["out.usdc"]


def test_a_folder_is_filled_at_once(tmp_path: Path) -> None:
    with atomic_folder(tmp_path / "out") as temporary:
        (temporary / "a").write_text("new")
        assert not (tmp_path / "out").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    with pytest.raises(FormatError, match="not empty"), atomic_folder(tmp_path / "out"):
        pass
    (tmp_path / "out" / "b").write_text("mine")
    with atomic_folder(tmp_path / "out", overwrite=True) as temporary:
        (temporary / "a").write_text("newer")
    assert {p.name: p.read_text() for p in (tmp_path / "out").iterdir()} == {"a": "newer", "b": "mine"}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_the_folder_as_it_was(tmp_path: Path, error: type[BaseException]) -> None:
    def fail() -> None:
        with atomic_folder(tmp_path / "out") as temporary:
            (temporary / "a").write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FormatError, match="it is a file; name a folder"), atomic_folder(tmp_path / "file"):
        pass
    with pytest.raises(FormatError, match="cannot be written: No such file"), atomic_folder(tmp_path / "no" / "out"):
        pass
