"""Takes as BVH: one file for each character."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from pathlib import Path

from gaitway.core.errors import FormatError
from gaitway.core.files import atomic_folder
from gaitway.core.progress import Progress, silent
from gaitway.export.characters import different
from gaitway.motion.editing import with_name
from gaitway.motion.formats import save_clip
from gaitway.take.model import Take

INDEX = "index.csv"
"""Name of the file that lists the characters, their files and their start times, which BVH cannot hold."""
_LONGEST = 120
"""Largest length of a file name [bytes]; every file system allows it."""
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{i}" for port in ("com", "lpt") for i in range(10))}
"""File names that Windows reserves."""


def export_bvh(
    take: Take,
    folder: str | Path,
    fps: float | None = None,
    *,
    overwrite: bool = False,
    unit: str | float | None = None,
    up: str | None = None,
    euler_order: str = "zxy",
    progress: Progress = silent,
) -> list[Path]:
    """Write one BVH file for each character, and `index.csv` with their names and start times.

    A file begins with its character's first frame, whenever that is; the index tells when. Either all files appear in
    the folder or none.

    Args:
        take: what to write.
        folder: where to; made if it does not exist.
        fps: frames a second [Hz]; the take's own if None.
        overwrite: the folder may hold other files; those of the same name are replaced.
        unit: the files' unit of length, as for `save_clip`.
        up: the files' vertical axis, as for `save_clip`.
        euler_order: order of rotations, as for `save_clip`.
        progress: called with the number of characters that are done.

    Returns:
        The files, in the order of the characters.

    Raises:
        FormatError: if the folder is not empty or cannot be written.
    """
    folder = Path(folder)
    names = [f"{name}.bvh" for name in file_names(take.names)]
    with (
        atomic_folder(folder, overwrite=overwrite) as temporary,
        (temporary / INDEX).open("w", newline="", encoding="utf-8") as file,
    ):
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["file", "name", "start", "frames", "fps"])
        for character, name in enumerate(names):
            clip = with_name(take.clip(character, fps), take.names[character])
            try:
                save_clip(clip, temporary / name, unit=unit, up=up, euler_order=euler_order)
            except FormatError as problem:
                raise FormatError(folder / name, str(problem).removeprefix(f"{problem.path}: ")) from None
            rows.writerow([name, clip.name, f"{take.start(character):.9g}", len(clip), f"{clip.fps:.9g}"])
            progress(folder.name, character + 1, len(take))
    return [folder / name for name in names]


def file_names(names: Iterable[str]) -> list[str]:
    """Return a file name without ending for each name: safe on every system, different even if case is ignored."""
    return different(_file_name(name) for name in names)


def _file_name(name: str) -> str:
    plain = re.sub(r"[^\w.-]+", "_", name).strip("._").encode()[:_LONGEST].decode(errors="ignore").rstrip(".")
    if not plain or plain.split(".")[0].lower() in _RESERVED:
        plain = f"character_{plain}".rstrip("_")
    return plain
