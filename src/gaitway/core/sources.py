"""Source files behind a module: its own, and those of all that it imports of this package.

What was made by code is out of date when the code changes: cached results, compiled kernels and baked data are known by
the content of the files that they were made from. The files are found by reading imports, so that no list is kept by
hand.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Collection
from functools import cache
from pathlib import Path

_IMPORT = re.compile(r"^[ \t]*from (gaitway|gaitway\.[\w.]+|\.[\w.]*) import (\([^)]*\)|[^\n#]*)", re.MULTILINE)
"""Imports of this package, which all are of this form."""
_PACKAGE = Path(__file__).parents[1]
_BEGAN = time.time()


@cache
def source_digest(sources: tuple[str, ...]) -> str:
    """Return the hash of the bytes of some sources: times and sizes say little after an installation.

    Args:
        sources: modules and packages, such as "gaitway.cast"; what they import of this package counts too.

    Raises:
        OSError: if a file cannot be read, or is newer than this process, which may have loaded what was there before.
    """
    total = hashlib.sha256()
    for file in source_files(sources):
        total.update(_file_digest(file))
    return total.hexdigest()


@cache
def _file_digest(file: Path) -> bytes:
    if file.stat().st_mtime > _BEGAN:
        raise OSError(f"{file} changed")
    content = file.read_bytes()
    return hashlib.sha256(f"{file.relative_to(_PACKAGE).as_posix()} {len(content)}\n".encode() + content).digest()


def source_files(sources: Collection[str]) -> list[Path]:
    """Files behind some modules and packages: their own code and data, and the code of all that they import, in order.

    Raises:
        OSError: if there is no such module.
    """
    found: set[Path] = set()
    waiting = [file for source in sources for file in _own_files(source)]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _imported(file) if file.suffix in (".py", ".pyi") else []
    return sorted(found)


def _own_files(source: str) -> list[Path]:
    """Files of a module, or of everything in a package."""
    place = _PACKAGE.joinpath(*source.split(".")[1:])
    if place.is_dir():
        return [*place.rglob("*.py"), *place.rglob("*.npz")]
    return [place.with_suffix(".py")]


@cache
def _imported(file: Path) -> list[Path]:
    """Files of the modules that a file imports; of a package from which names are taken, what it lists."""
    found = []
    for home, names in _IMPORT.findall(file.read_text(encoding="utf-8")):
        start, path = (file.parent, home[1:]) if home.startswith(".") else (_PACKAGE, home[8:])
        place = start.joinpath(*filter(None, path.split(".")))
        if not place.is_dir():
            found.append(place.with_suffix(".py"))
            continue
        for name in re.findall(r"(?:^|[(,])\s*(\w+)", names):
            module = place / f"{name}.py"
            inside = place / name
            found.append(
                module if module.is_file() else inside / "__init__.py" if inside.is_dir() else place / "__init__.py"
            )
        found += [stub] if (stub := place / "__init__.pyi").is_file() else []
    return found
