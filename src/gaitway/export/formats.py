"""All formats that a take can be written to, by name and by the ending of a file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from gaitway.core.errors import FormatError, GaitwayError
from gaitway.take.model import Take
from gaitway.world.world import World

Progress = Callable[[int, int], None]
"""Told how much is done, and of how much."""


@dataclass(frozen=True)
class Format:
    """A way to write a take."""

    name: str
    """As in `gaitway export --to`."""
    about: str
    """What it is good for, in some words."""
    suffixes: tuple[str, ...]
    """Endings of its files; none if it fills a folder."""
    module: str
    function: str
    """Where its writer is, which is loaded when it is needed."""
    shows_world: bool = False
    """Whether the place can be in the file."""
    has_rate: bool = True
    """Whether it has frames at all."""

    @property
    def writer(self) -> Callable[..., Any]:
        """The function that writes it: `writer(take, path, [world=..., fps=..., progress=...,] **options)`."""
        return getattr(import_module(self.module), self.function)  # type: ignore[no-any-return]


_ALL = (
    Format("glb", "skinned people in their place", (".glb",), "gaitway.export.glb", "export_glb", True),
    Format(
        "usd", "UsdSkel people in their place", (".usd", ".usda", ".usdc", ".usdz"),
        "gaitway.export.usd", "export_usd", True,
    ),
    Format("bvh", "a folder with one file a character", (), "gaitway.export.bvh", "export_bvh"),
    Format("csv", "root paths as text", (".csv",), "gaitway.export.tables", "export_trajectories"),
    Format("parquet", "root paths, compact", (".parquet",), "gaitway.export.tables", "export_trajectories"),
    Format("npz-dense", "all poses as NumPy arrays", (".npz",), "gaitway.export.dense", "export_dense"),
    Format("mp4", "a film", (".mp4", ".webp"), "gaitway.render.film.take_film", "take_film", True),
    Format("png", "eight moments, or one", (".png",), "gaitway.export.pictures", "export_picture", True, False),
)  # fmt: skip
FORMATS: Mapping[str, Format] = {f.name: f for f in _ALL}


def export_take(
    take: Take,
    path: str | Path,
    to: str | None = None,
    world: World | None = None,
    fps: float | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> list[Path]:
    """Write a take in any format.

    Args:
        take: what to write.
        path: the file, or the folder for BVH.
        to: one of `FORMATS`; None judges by the ending of `path`.
        world: the place, for those formats that can show it.
        fps: frames a second [Hz]; the take's own if None.
        progress: called with (done, in all) now and then, by those formats that take long.
        options: what the writer of that format accepts besides.

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


def choose_format(path: str | Path, to: str | None = None) -> Format:
    """The format called `to`, or the one whose files end as `path` does.

    Raises:
        FormatError: if there is none, or if the two do not go together.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if to is None:
        found = next((f for f in _ALL if suffix in f.suffixes), None)
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
    return ", ".join(f"{f.name} ({', '.join(f.suffixes) or 'a folder'})" for f in _ALL)
