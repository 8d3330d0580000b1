"""Files on disk: nothing half-written is ever left behind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from gaitway.errors import FormatError


@contextmanager
def atomic_write(path: str | Path) -> Iterator[BinaryIO]:
    """A binary file to write into, which takes the name `path` only when the block ends without an error.

    It is written under a temporary name in the same folder. After an error (or Ctrl-C) that file is removed, and
    whatever was at `path` before is still there.

    Raises:
        FormatError: if the folder does not exist or cannot be written.
    """
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        yield file


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """As `atomic_write`, for libraries that write by name: the temporary file to write, with the ending of `path`.

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
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except BaseException as problem:
        temporary.unlink(missing_ok=True)
        if isinstance(problem, OSError):
            raise FormatError(target, f"cannot be written: {problem.strerror or problem}") from None
        raise


def check_writable(path: str | Path) -> None:
    """Find out, before long work, that a file could not be written at its end.

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
    """The process's file mode mask, which `mkstemp` does not honour (there is no way to read it without setting it)."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
