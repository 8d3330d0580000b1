"""Who wants to be where: the characters of a scene."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from gaitway.core.errors import LibraryError
from gaitway.core.suggest import nearest
from gaitway.scene.plan_options import PlanOptions

if TYPE_CHECKING:
    from gaitway.library import Library

RADII = {"person": 0.3, "skateboarder": 0.4, "horse": 0.8}
"""Disc that a character of each cast keeps clear where none is written [m]."""


@dataclass(frozen=True)
class LibraryRef:
    """Which library a character uses; `load` makes it. Equal references are the same library."""

    cast: str = "person"
    style: str | int | None = None
    takes: int = 1
    seed: int = 0
    file: str = ""
    """A library file, which then counts instead of all the others; absolute, or from the folder of the process."""

    @property
    def name(self) -> str:
        """What to call it."""
        return Path(self.file).name if self.file else self.cast

    def load(self, behaviors: Collection[str] | None = None) -> Library:
        """Read the library from its file, or generate it (as `gaitway.load_cast`, only some `behaviors` if asked).

        Raises:
            FormatError: if there is no such file, or it is no library.
        """
        if self.file:
            storage = import_module("gaitway.library.storage")
            read: Library = storage.load_library(self.file)
            return read
        catalog = import_module("gaitway.cast.catalog")
        library: Library = catalog.load_cast(
            self.cast, style=self.style, seed=self.seed, takes=self.takes, behaviors=behaviors
        )
        return library


def library_ref(name: str | Path, style: str | int | None = None, seed: int = 0) -> LibraryRef:
    """The library that somebody means.

    Args:
        name: a built-in cast, or a library file (.gwlib).
        style: whose manner, of a cast.
        seed: draw of the takes, of a cast.

    Raises:
        LibraryError: if there is neither a cast nor a file of that name, or a style is wanted of a file.
        FormatError: if the file is no library.
    """
    casts = import_module("gaitway.cast.catalog").cast_names()
    if str(name) in casts:
        return LibraryRef(str(name), style, seed=seed)
    file = Path(name)
    if not file.suffix and not file.exists():
        near = nearest(str(name), casts)
        hint = f"did you mean '{near}'?" if near else f"write {', '.join(casts)}, or the name of a .gwlib file"
        raise LibraryError(f"no library '{name}'; {hint}")
    if style is not None:
        raise LibraryError(f"'{file.name}' is a file and has no styles; leave --style out")
    import_module("gaitway.library.storage").describe_library(file)
    return LibraryRef(file=str(file.absolute()))


@dataclass(frozen=True)
class Character:
    """One character of a scene."""

    name: str
    start: tuple[float, float, float]
    """x, y [m] and heading [rad]."""
    goal: tuple[float, float]
    """x, y [m]."""
    goal_heading: float | None
    """[rad], or None where any will do."""
    library: LibraryRef
    plan: PlanOptions
    """Its planner and options: the scene's with its own over them."""
    radius: float = 0.3
    """Of the disc that it keeps clear [m]."""
    speed: str | float = "normal"
    """How fast it likes to go: "slow", "normal", "fast", or metres in a second."""
    priority: int = 0
    """Higher goes first where planners take turns."""
    start_time: float = 0.0
    """When it appears [s]."""
