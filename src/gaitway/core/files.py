"""Files and folders: a file appears under its name only when it is complete; and where results are cached."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from gaitway.core.errors import FormatError

_UNFINISHED: set[Path] = set()
"""Temporary files and folders that are being written now; a process that must end at once removes them."""


@contextmanager
def atomic_write(path: str | Path) -> Iterator[BinaryIO]:
    """Open a binary file for writing; it gets the name `path` only if the block ends without an error.

    It is written under a temporary name in the same folder. After an error (or Ctrl-C) that file is removed, and
    whatever was at `path` before is still there.

    Raises:
        FormatError: if the folder does not exist or cannot be written.
    """
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        yield file


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path for libraries that write by name; it gets the name `path` as with `atomic_write`.

    Raises:
        FormatError: if the folder does not exist or cannot be written.
    """
    target = Path(path)
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
    target = Path(path)
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
        for file in sorted(temporary.iterdir()):
            file.replace(target / file.name)
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
        FormatError: if `path` is a folder, or the folder it is to lie in does not exist or cannot be written.
    """
    target = Path(path)
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
    """Where entries are kept, whether or not it exists; None where there is no place or none is wanted."""
    asked = os.environ.get("GAITWAY_CACHE", "")
    if asked.lower() in ("off", "0"):
        return None
    try:
        return Path(asked).expanduser() if asked else _usual_folder()
    except RuntimeError:  # nobody's home
        return None


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
