"""All formats that a take can be written to, by name and by the ending of a file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gaitway.core.errors import FormatError, GaitwayError
from gaitway.core.progress import Progress, silent
from gaitway.take.model import Take
from gaitway.world.world import World


@dataclass(frozen=True, kw_only=True)
class ExportFormat:
    """A file format that a take can be written to."""

    name: str
    """Name for `gaitway export --to`."""
    about: str
    """What a file holds, in a few words."""
    suffixes: tuple[str, ...]
    """Endings of its files; none if it fills a folder."""
    module: str
    function: str
    """Module and name of its writer, which is loaded when it is needed."""
    shows_world: bool = False
    """Whether the file can show the world."""
    has_rate: bool = True
    """Whether the file has frames."""

    @property
    def writer(self) -> Callable[..., Any]:
        """Return the function that writes it: `writer(take, path, [world=..., fps=..., progress=...,] **options)`."""
        return getattr(import_module(self.module), self.function)  # type: ignore[no-any-return]


_ALL = (
    ExportFormat(
        name="glb", about="skinned people in their world", suffixes=(".glb",),
        module="gaitway.export.glb", function="export_glb", shows_world=True,
    ),
    ExportFormat(
        name="usd", about="UsdSkel people in their world", suffixes=(".usd", ".usda", ".usdc", ".usdz"),
        module="gaitway.export.usd", function="export_usd", shows_world=True,
    ),
    ExportFormat(
        name="bvh", about="a folder with one file for each character", suffixes=(),
        module="gaitway.export.bvh", function="export_bvh",
    ),
    ExportFormat(
        name="csv", about="root paths as text", suffixes=(".csv",),
        module="gaitway.export.tables", function="export_trajectories",
    ),
    ExportFormat(
        name="parquet", about="root paths, compact", suffixes=(".parquet",),
        module="gaitway.export.tables", function="export_trajectories",
    ),
    ExportFormat(
        name="errands", about="who did what and when, as text", suffixes=(".csv",),
        module="gaitway.export.errands", function="export_errands", has_rate=False,
    ),
    ExportFormat(
        name="npz-dense", about="all poses as NumPy arrays", suffixes=(".npz",),
        module="gaitway.export.dense", function="export_dense",
    ),
    ExportFormat(
        name="mp4", about="a film", suffixes=(".mp4", ".webp"),
        module="gaitway.render.film.takes", function="take_film", shows_world=True,
    ),
    ExportFormat(
        name="png", about="eight moments, or one", suffixes=(".png",),
        module="gaitway.export.pictures", function="export_picture", shows_world=True, has_rate=False,
    ),
)  # fmt: skip
ENTRY_POINTS = "gaitway.formats"
"""Group of entry points that name an `ExportFormat` each."""
_TABLE = {f.name: f for f in _ALL}
FORMATS: Mapping[str, ExportFormat] = MappingProxyType(_TABLE)
"""All formats, by name; `register` adds one."""


def register(new: ExportFormat) -> None:
    """Add a format to the table, so that `export_take` and `gaitway export` know it.

    Formats of installed distributions are found by the entry point group `gaitway.formats`.

    Raises:
        GaitwayError: if another format has that name.
    """
    if _TABLE.get(new.name, new) != new:
        raise GaitwayError(f"there is a format '{new.name}' already; choose another name")
    _TABLE[new.name] = new


def unregister(name: str) -> None:
    """Take a format out of the table that was added by `register`."""
    _TABLE.pop(name, None)


def _find_installed() -> None:
    for point in entry_points(group=ENTRY_POINTS):
        if point.name not in _TABLE:
            found = point.load()
            if not isinstance(found, ExportFormat):
                raise GaitwayError(
                    f"entry point '{point.name}' of {ENTRY_POINTS} is {found!r}; it must be an ExportFormat"
                )
            register(found)


def export_take(
    take: Take,
    path: str | Path,
    to: str | None = None,
    world: World | None = None,
    fps: float | None = None,
    progress: Progress = silent,
    **options: Any,
) -> list[Path]:
    """Write a take in any format.

    Args:
        take: the take.
        path: name of the file, or of the folder for BVH.
        to: one of `FORMATS`; None takes the format that the ending of `path` names.
        world: the world, for formats that can show it.
        fps: frames a second [Hz]; None takes the rate of the take.
        progress: called now and then by the formats that take long.
        options: further arguments of the writer of that format.

    Returns:
        The files that were written.

    Raises:
        FormatError: for an unknown format or ending, or if the file cannot be written.
        GaitwayError: for an option that the format does not have.
    """
    path = Path(path)
    chosen = choose_format(path, to)
    accepted = inspect.signature(chosen.writer).parameters
    unknown = [name for name in options if name not in accepted]
    if unknown:
        others = [p for p in accepted if p not in ("take", "path", "folder", "world", "fps", "progress")]
        possible = f"its options are {', '.join(others)}" if others else "it has none"
        raise GaitwayError(f"format {chosen.name} has no option '{unknown[0]}'; {possible}")
    general = {"world": world, "fps": fps, "progress": progress}
    options |= {name: value for name, value in general.items() if name in accepted}
    written = chosen.writer(take, path, **options)
    return list(written) if isinstance(written, list) else [path]


def choose_format(path: str | Path, to: str | None = None) -> ExportFormat:
    """Return the format called `to`, or the one whose files end as `path` does.

    Raises:
        FormatError: if there is no such format, or if the ending is not one of its endings.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    _find_installed()
    if to is None:
        found = next((f for f in FORMATS.values() if suffix in f.suffixes), None)
        if found is None:
            problem = f"'{path.suffix}' is no known ending" if suffix else "has no ending that names its format"
            raise FormatError(path, f"{problem}; the formats are {_listed()}")
        return found
    if to not in FORMATS:
        raise FormatError(path, f"there is no format '{to}'; the formats are {_listed()}")
    chosen = FORMATS[to]
    if chosen.suffixes and suffix not in chosen.suffixes:
        raise FormatError(path, f"the name of a {to} file must end in {' or '.join(chosen.suffixes)}")
    return chosen


def _listed() -> str:
    return ", ".join(f"{f.name} ({', '.join(f.suffixes) or 'a folder'})" for f in FORMATS.values())
