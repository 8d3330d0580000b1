"""Files are complete or not there."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from gaitway.core.errors import FormatError
from gaitway.core.files import (
    atomic_folder,
    atomic_path,
    atomic_write,
    cache_folder,
    check_writable,
    open_file,
    read_file,
    remove_unfinished,
)


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


def test_what_is_unfinished_is_removed_by_who_must_end_at_once(tmp_path: Path) -> None:
    """And nothing else: neither what is finished nor what was there before."""
    (tmp_path / "old.bin").write_bytes(b"before")
    with atomic_write(tmp_path / "done.bin") as file:
        file.write(b"done")
    with ExitStack() as stack:
        stack.enter_context(pytest.raises(FormatError, match="cannot be written"))
        half = stack.enter_context(atomic_write(tmp_path / "old.bin"))
        half.write(b"half")
        with atomic_folder(tmp_path / "out") as folder:
            (folder / "a").write_text("half")
            assert len(list(tmp_path.iterdir())) == 4
            remove_unfinished()
            assert sorted(p.name for p in tmp_path.iterdir()) == ["done.bin", "old.bin"]
            folder.mkdir()
    assert (tmp_path / "old.bin").read_bytes() == b"before"


STUBBORN = """
import sys, time
from gaitway.cli import interrupt
from gaitway.core.files import atomic_folder, atomic_write
interrupt.PATIENCE_S = 0.2
interrupt.handle_signals()
with atomic_write(sys.argv[1] + "/film.mp4") as file, atomic_folder(sys.argv[1] + "/out") as folder:
    file.write(b"half")
    file.flush()
    (folder / "a").write_text("half")
    try:
        print("ready", flush=True)
        time.sleep(600.0)
    except BaseException:
        time.sleep(600.0)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_process_that_does_not_unwind_leaves_nothing_unfinished(tmp_path: Path, number: int, code: int) -> None:
    command = [sys.executable, "-c", STUBBORN, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
            assert len(list(tmp_path.iterdir())) == 2
            process.send_signal(number)
            assert process.wait(300.0) == code
        finally:
            process.kill()
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FormatError, match="it is a file; name a folder"), atomic_folder(tmp_path / "file"):
        pass
    with pytest.raises(FormatError, match="cannot be written: No such file"), atomic_folder(tmp_path / "no" / "out"):
        pass


posix = pytest.mark.skipif(os.name != "posix", reason="pipes, devices and file modes are a POSIX matter")


@posix
def test_only_regular_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_file(tmp_path / "file", 7) == read_file(tmp_path / "link", 7) == b"content"
    os.mkfifo(tmp_path / "pipe")
    for path, words in (
        (tmp_path / "pipe", "is a pipe, which is not read; save what comes out of it as a file"),
        (Path("/dev/zero"), "is a device, which is not read"),
        (tmp_path, "is a folder; name a file"),
        (tmp_path / "none", "cannot be read: No such file"),
        (Path("-"), "standard input is not read"),
    ):
        with pytest.raises(FormatError, match=words):
            open_file(path)
    with pytest.raises(FormatError, match="at most"):
        read_file(tmp_path / "file", 6)


@posix
def test_files_that_do_not_tell_their_size_are_limited(tmp_path: Path) -> None:
    path = Path("/proc/self/environ")
    if not path.is_file():
        pytest.skip("no such files here")
    with pytest.raises(FormatError, match="at most"):
        read_file(path, 3)


@posix
def test_links_stay_links(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "file").write_bytes(b"before")
    (tmp_path / "link").symlink_to(tmp_path / "deep" / "file")
    (tmp_path / "new").symlink_to("deep/new file")
    check_writable(tmp_path / "link")
    for name, target in (("link", "file"), ("new", "new file")):
        with atomic_write(tmp_path / name) as file:
            file.write(b"after")
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / "deep" / target).read_bytes() == b"after"
    (tmp_path / "round").symlink_to(tmp_path / "round")
    (tmp_path / "folder").symlink_to(tmp_path / "deep")
    with atomic_folder(tmp_path / "folder", overwrite=True) as folder:
        (folder / "more").touch()
    assert (tmp_path / "deep" / "more").exists()
    with pytest.raises(FormatError, match="a link that leads to itself"), atomic_write(tmp_path / "round"):
        pass


@posix
def test_devices_and_pipes_are_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "null").symlink_to("/dev/null")
    for path, what in ((Path("/dev/null"), "device"), (tmp_path / "null", "device"), (tmp_path / "pipe", "pipe")):
        with pytest.raises(FormatError, match=f"cannot be written: it is a {what}; name a file"):
            check_writable(path)
        with pytest.raises(FormatError, match=f"cannot be written: it is a {what}"), atomic_write(path) as file:
            file.write(b"x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    with (
        pytest.raises(FormatError, match="it is a pipe"),
        atomic_folder(tmp_path, overwrite=True) as folder,
    ):
        (folder / "pipe").touch()
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@posix
def test_a_cache_that_others_can_write_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "cache"
    monkeypatch.setenv("GAITWAY_CACHE", str(folder))
    assert cache_folder() == folder  # it is made private
    folder.mkdir()
    for mode, trusted in ((0o700, True), (0o755, True), (0o775, True), (0o757, False), (0o1777, False)):
        folder.chmod(mode)
        assert (cache_folder() == folder) == trusted
    assert "others can write this folder" in caplog.text
    assert len(caplog.records) == 1
    folder.chmod(0o775)
    group = os.getgid()
    monkeypatch.setattr(os, "getgid", lambda: group + 1)
    assert cache_folder() is None
