"""Results on disk, so that what was computed once on a machine need not be computed again in the next process.

An entry is one .npz file that NumPy alone can read, without pickle. Its name is made of a SHA-256 over all that the
result depends on: what it was computed from, the source code that computes it and the versions of what that rests on.
So an entry is never out of date; at worst nobody asks for it any more.

A cache is a convenience: whatever is wrong with an entry or with the folder, the result is computed instead.
Set GAITWAY_CACHE to a folder to keep entries there, or to "off" to keep none.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import platform
import re
import time
import zipfile
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt
import scipy

from gaitway.core.errors import GaitwayError
from gaitway.core.files import atomic_write, cache_folder
from gaitway.core.jit import JIT_ENABLED
from gaitway.core.sources import source_digest

MOST_BYTES, MOST_ENTRIES = 500_000_000, 1000
"""What the folder may hold; the entries that were not used for longest go first."""
WORTH_KEEPING = 0.05
"""What is computed faster is not worth a file [s]."""
_ENTRY = re.compile(r"\.?[a-z_]+-[0-9a-f]{64}(\..{1,20}\.part)?\.npz")
"""Names of entries and of those half-written; no other file of the folder is ever removed."""
_FACTS = "facts"
"""Member of an entry with its own name and all that is no array, as JSON."""

Value = TypeVar("Value")
Packed = Mapping[str, Any]
"""Arrays, and else what JSON can hold, by name."""


def cached(
    kind: str,
    sources: Collection[str],
    inputs: Iterable[object],
    make: Callable[[], Value],
    pack: Callable[[Value], Packed],
    unpack: Callable[[dict[str, Any]], Value],
) -> Value:
    """The result of `make`, from disk if it is there.

    Args:
        kind: of result, in small letters.
        sources: modules and packages that say how it is made, such as `__name__` or "gaitway.cast". All that they
            import of this package counts too, and so does all that that imports.
        inputs: all that the result depends on besides: numbers, words, arrays, data classes, and lists and mappings
            of them.
        make: computes the result.
        pack: takes it apart into arrays and what JSON can hold.
        unpack: puts it together again, the same to the last bit. Its arrays are read-only.
    """
    path = _entry(kind, sources, inputs)
    if path is None:
        return make()
    found = _load(path, unpack)
    if found is not None:
        return found
    began = time.process_time()
    made = make()
    if time.process_time() - began >= WORTH_KEEPING:
        with suppress(GaitwayError, OSError, TypeError, ValueError):  # there is no place, or it is nothing to be kept
            _keep(path, pack(made))
    return made


def digest(*parts: object) -> str:
    """SHA-256 over values of the kinds that `cached` takes; different values have different digests.

    Raises:
        TypeError: if a part is of another kind.
    """
    total, seen = hashlib.sha256(), dict[int, tuple[int, object]]()
    for part in parts:
        _feed(total, part, seen)
    return total.hexdigest()


def _feed(total: Any, part: object, seen: dict[int, tuple[int, object]]) -> None:
    """Add one part; a data class that occurred before is not gone through again, but only its number is added."""
    if isinstance(part, np.ndarray):
        total.update(f"array {part.dtype.str} {part.shape}\n".encode())
        total.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
    elif id(part) in seen:
        total.update(f"again {seen[id(part)][0]}\n".encode())
    elif dataclasses.is_dataclass(part) and not isinstance(part, type):
        seen[id(part)] = len(seen), part
        total.update(f"{type(part).__qualname__}\n".encode())
        _feed(total, [getattr(part, field.name) for field in dataclasses.fields(part)], seen)
    elif isinstance(part, Mapping):
        _feed(total, [list(part), list(part.values())], seen)
    elif isinstance(part, frozenset):
        _feed(total, sorted(part), seen)
    elif isinstance(part, list | tuple):
        total.update(f"list {len(part)}\n".encode())
        for item in part:
            _feed(total, item, seen)
    elif part is None or isinstance(part, bool | int | float | str):
        total.update(f"{type(part).__name__} {part!r}\n".encode())
    elif isinstance(part, np.generic):
        _feed(total, part.item(), seen)
    else:
        raise TypeError(f"{type(part).__name__} cannot be part of a cache's key")


def _entry(kind: str, sources: Collection[str], inputs: Iterable[object]) -> Path | None:
    """The file of a result, whether or not it exists; None where nothing is kept."""
    folder = cache_folder()
    if folder is None:
        return None
    try:
        return folder / f"{kind}-{digest(_environment(), source_digest(tuple(sources)), *inputs)}.npz"
    except (OSError, TypeError):  # the source is no plain files, or they are being edited; or an input is unheard of
        return None


@cache
def _environment() -> tuple[str, ...]:
    """What may change the last bits of a result besides our own code."""
    return platform.machine(), str(JIT_ENABLED), np.__version__, scipy.__version__, numba.__version__


def _load(path: Path, unpack: Callable[[dict[str, Any]], Value]) -> Value | None:
    """What an entry holds, or None. The archive's checksums tell whether its bytes are those that were written."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        name, facts = json.loads(arrays.pop(_FACTS).tobytes())
        for array in arrays.values():
            array.setflags(write=False)
        value = unpack(facts | arrays) if name == path.name else None
    except Exception:  # there is none, or it is damaged or foreign in one of many ways
        return None
    with suppress(OSError):
        os.utime(path)
    return value


def _keep(path: Path, packed: Packed) -> None:
    """Write an entry, and remove old ones."""
    arrays = {name: value for name, value in packed.items() if isinstance(value, np.ndarray)}
    facts = json.dumps([path.name, {name: value for name, value in packed.items() if name not in arrays}]).encode()
    members: dict[str, npt.NDArray[Any]] = {_FACTS: np.frombuffer(facts, np.uint8), **arrays}
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with atomic_write(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in members.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array, order="C"), allow_pickle=False)
    _make_room(path.parent)


def _make_room(folder: Path) -> None:
    """Remove the entries that were not used for longest until the rest is within the limits."""
    with os.scandir(folder) as files:
        known = [(file.stat(), file.path) for file in files if _ENTRY.fullmatch(file.name)]
    entries = [(about.st_mtime, about.st_size, path) for about, path in known]
    room = MOST_BYTES
    for number, (_, size, path) in enumerate(sorted(entries, reverse=True)):
        room -= size
        if room < 0 or number >= MOST_ENTRIES:
            Path(path).unlink(missing_ok=True)
