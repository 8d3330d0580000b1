"""Which files of a folder are captures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path

from gaitway.core.errors import LibraryError

ENDINGS = (".bvh", ".amc", ".glb", ".gltf")
"""Of files that hold motion; `.asf` skeletons are found by the `.amc` beside them."""


def capture_files(
    source: str | Path | Iterable[str | Path], *, recursive: bool = True, only: Sequence[str] = ()
) -> tuple[Path, ...]:
    """The capture files of a folder, or those that are named one by one; in the order of their names.

    Hidden files and folders (whose name begins with a dot) are passed over, as is everything without one of `ENDINGS`.

    Args:
        source: a folder, or files.
        recursive: look into folders within it.
        only: patterns, one of which a file's name must match, with or without its ending.

    Raises:
        LibraryError: if there is no such folder or no capture in it.
    """
    if isinstance(source, str | Path):
        folder = Path(source)
        found = _in_folder(folder, recursive)
        place = str(folder)
    else:
        found = [Path(path) for path in source]
        place = "the files named"
        missing = [path for path in found if not path.is_file()]
        if missing:
            raise LibraryError(f"{missing[0]}: no such file; name capture files that exist")
    if only:
        found = [path for path in found if any(fnmatch(path.name, p) or fnmatch(path.stem, p) for p in only)]
    if not found:
        chosen = f" that matches {' or '.join(only)}" if only else ""
        raise LibraryError(
            f"{place}: no capture file{chosen} there; put .bvh, .amc with .asf, .glb or .gltf files in it"
        )
    return tuple(found)


def _in_folder(folder: Path, recursive: bool) -> list[Path]:
    if folder.is_file():
        raise LibraryError(
            f"{folder}: is a file; name the folder that holds it, so that all takes of a person are used"
        )
    if not folder.is_dir():
        raise LibraryError(f"{folder}: no such folder; name one that holds capture files")
    try:
        candidates = folder.rglob("*") if recursive else folder.glob("*")
        inside = [(path.relative_to(folder), path) for path in candidates]
    except OSError as problem:
        raise LibraryError(f"{folder}: cannot be read: {problem.strerror}; check its permissions") from None
    visible = [(name, path) for name, path in inside if not any(part.startswith(".") for part in name.parts)]
    return [p for _, p in sorted(visible) if p.suffix.lower() in ENDINGS and p.is_file()]
