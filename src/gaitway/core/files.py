"""Files and folders: only regular files are read, a file appears when it is complete, and where results are cached."""

from __future__ import annotations

import logging
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import BinaryIO

from gaitway.core.errors import FormatError

_UNFINISHED: set[Path] = set()
"""Temporary files and folders that are being written now; a process that must end at once removes them."""
_LOG = logging.getLogger(__name__)
_CHUNK = 1 << 20
"""Bytes that are read at once of a file that does not tell its size."""


def open_file(path: str | Path) -> BinaryIO:
    """Open a regular file for reading.

    Pipes and devices are refused before anything is read: they may never end, and opening a pipe may wait for ever.

    Raises:
        FormatError: if there is no such file, it is not a regular one, or it may not be read.
    """
    place = Path(path)
    try:
        _check_regular(place, place.stat().st_mode)
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        handle = os.open(place, flags)
    except (OSError, ValueError) as problem:
        if str(place) == "-":
            raise FormatError(place, "standard input is not read; save it as a file and name that") from None
        raise FormatError(place, f"cannot be read: {_reason(problem)}") from None
    try:
        _check_regular(place, os.fstat(handle).st_mode)  # it may have been replaced meanwhile
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_file(path: str | Path, most: int) -> bytes:
    """Return the content of a regular file.

    Args:
        path: the file.
        most: greatest size that is read [bytes].

    Raises:
        FormatError: as `open_file`, and if the file is larger.
    """
    with open_file(path) as file:
        try:
            size = os.fstat(file.fileno()).st_size
            data = b"" if size > most else file.read(size + 1)
            while size < len(data) <= most and (more := file.read(_CHUNK)):  # some files do not tell their size
                data += more
        except OSError as problem:
            raise FormatError(path, f"cannot be read: {_reason(problem)}") from None
    if max(size, len(data)) > most:
        raise FormatError(path, f"is {max(size, len(data)) / 2**20:.0f} MiB; at most {most / 2**20:.0f} MiB are read")
    return data


def _reason(problem: Exception) -> str:
    """Return what an error of the operating system says, without the path."""
    return (problem.strerror if isinstance(problem, OSError) else None) or str(problem)


def _check_regular(path: Path, mode: int) -> None:
    """Refuse to read what is not a regular file, given its mode."""
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise FormatError(path, "is a folder; name a file")
    if stat.S_ISFIFO(mode):
        raise FormatError(path, "is a pipe, which is not read; save what comes out of it as a file and name that")
    raise FormatError(path, f"is a {_special(mode)}, which is not read; name a file")


def _special(mode: int) -> str:
    """Return the word for something that is neither a file nor a folder, given its mode."""
    return "pipe" if stat.S_ISFIFO(mode) else "socket" if stat.S_ISSOCK(mode) else "device"


def _written_place(path: Path) -> Path:
    """Return where a file of this name is written: links lead there and stay links.

    Raises:
        FormatError: if something is there that is neither a file nor a folder.
    """
    try:
        target = Path(os.path.realpath(path)) if path.is_symlink() else path
        mode = target.lstat().st_mode
    except FileNotFoundError:
        return target
    except (OSError, ValueError) as problem:
        raise FormatError(path, f"cannot be written: {_reason(problem)}") from None
    if stat.S_ISLNK(mode):
        raise FormatError(path, "cannot be written: it is a link that leads to itself; name a file")
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise FormatError(path, f"cannot be written: it is a {_special(mode)}; name a file")
    return target


@contextmanager
def atomic_write(path: str | Path) -> Iterator[BinaryIO]:
    """Open a binary file for writing; it gets the name `path` only if the block ends without an error.

    It is written under a temporary name in the same folder. After an error (or Ctrl-C) that file is removed, and
    whatever was at `path` before is still there. A link stays: the file that it leads to is replaced.

    Raises:
        FormatError: if the folder does not exist or cannot be written, or `path` is a device or a pipe.
    """
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        yield file


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path for libraries that write by name; it gets the name `path` as with `atomic_write`.

    Raises:
        FormatError: if the folder does not exist or cannot be written, or `path` is a device or a pipe.
    """
    target = _written_place(Path(path))
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.stem}.", suffix=f".part{target.suffix}", dir=target.parent)
    except OSError as problem:
        raise FormatError(target, f"cannot be written: {problem.strerror or problem}") from None
    os.close(handle)
    temporary = Path(name)
    _UNFINISHED.add(temporary)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except BaseException as problem:
        temporary.unlink(missing_ok=True)
        if isinstance(problem, OSError):
            raise FormatError(target, f"cannot be written: {problem.strerror or problem}") from None
        raise
    finally:
        _UNFINISHED.discard(temporary)


@contextmanager
def atomic_folder(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a folder to fill; its files move into the folder `path` only if the block ends without an error.

    They are written to a temporary folder beside it. After an error that folder is removed and `path` is as it was.

    Args:
        path: the folder; it is made if it does not exist, and must be empty otherwise.
        overwrite: the folder need not be empty; files of the same name are replaced, others stay.

    Raises:
        FormatError: if the folder is not empty, or it or the folder above it cannot be written.
    """
    target = _written_place(Path(path))
    if target.exists() and not target.is_dir():
        raise FormatError(target, "cannot be filled: it is a file; name a folder")
    if not overwrite and target.is_dir() and any(target.iterdir()):
        raise FormatError(target, "the folder is not empty; name a new one, or allow its files to be replaced")
    try:
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    except OSError as problem:
        raise FormatError(target, f"cannot be written: {problem.strerror or problem}") from None
    _UNFINISHED.add(temporary)
    try:
        yield temporary
        target.mkdir(exist_ok=True)
        files = sorted(temporary.iterdir())
        places = [_written_place(target / file.name) for file in files]
        for file, place in zip(files, places, strict=True):
            file.replace(place)
    except OSError as problem:
        raise FormatError(target, f"cannot be written: {problem.strerror or problem}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        _UNFINISHED.discard(temporary)


def remove_unfinished() -> None:
    """Remove what is being written at this moment, for a process that is about to end without unwinding."""
    for temporary in list(_UNFINISHED):
        if temporary.is_dir():
            shutil.rmtree(temporary, ignore_errors=True)
        else:
            temporary.unlink(missing_ok=True)


def check_writable(path: str | Path) -> None:
    """Check before long work that a file can be written at its end.

    Raises:
        FormatError: if `path` is a folder, a device or a pipe, or the folder that it is to lie in does not exist or
            cannot be written.
    """
    target = _written_place(Path(path))
    if target.is_dir():
        raise FormatError(target, "cannot be written: it is a folder; name a file")
    if not target.parent.is_dir():
        raise FormatError(target, f"cannot be written: there is no folder '{target.parent}'")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise FormatError(target, f"cannot be written: the folder '{target.parent}' allows no new files")


def _umask() -> int:
    """Return the file mode mask of the process, which `mkstemp` does not honour.

    The mask cannot be read without setting it.
    """
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def cache_folder() -> Path | None:
    """Where entries are kept, whether or not it exists; None where there is no place or none is wanted.

    A folder that others can write is not trusted, for what is read from it is believed: then nothing is kept.
    """
    asked = os.environ.get("GAITWAY_CACHE", "")
    if asked.lower() in ("off", "0"):
        return None
    try:
        folder = Path(asked).expanduser() if asked else _usual_folder()
    except RuntimeError:  # nobody's home
        return None
    try:
        private = is_private(folder)
    except (OSError, ValueError):  # there is none yet; it is made private
        private = True
    if not private:
        _warn_of(folder)
        return None
    return folder


@cache
def _warn_of(folder: Path) -> None:
    """Say once that a folder is not used."""
    _LOG.warning("%s: others can write this folder, so nothing is cached; 'chmod go-w' mends it", folder)


def is_private(folder: Path) -> bool:
    """Return whether no other user can put files into a folder: what is loaded from a cache is trusted.

    A group may write if it is the user's own, as many systems have it.

    Raises:
        OSError: if there is no such folder.
    """
    if not hasattr(os, "getuid"):  # Windows: folders of a user are private unless they were shared on purpose
        return True
    about = folder.stat()
    by_group = about.st_mode & 0o020 and about.st_gid != os.getgid()
    return about.st_uid in (os.getuid(), 0) and not by_group and not about.st_mode & 0o002


def _usual_folder() -> Path:
    """Where programs of this system keep what they can make again."""
    shared = os.environ.get("XDG_CACHE_HOME", "")
    if Path(shared).is_absolute():
        return Path(shared) / "gaitway"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "gaitway" / "cache"
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "gaitway"
