"""The characters of a scene, and references to their libraries."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from gaitway.core.errors import LibraryError
from gaitway.core.suggest import nearest
from gaitway.scene.errands import Errand
from gaitway.scene.plan_options import PlanOptions

if TYPE_CHECKING:
    from gaitway.library import Library

RADII = {"person": 0.3, "skateboarder": 0.4, "horse": 0.8}
"""Default radius of the disc that a character of each cast keeps clear [m]."""


@dataclass(frozen=True)
class LibraryRef:
    """A reference to a library; `load` returns the library. Equal references are the same library."""

    cast: str = "person"
    style: str | int | None = None
    takes: int = 1
    seed: int = 0
    file: str = ""
    """A library file, absolute or relative to the current folder. If given, all fields but `size` are ignored."""
    size: float = 1.0
    """Factor on the height of its body (`gaitway.library.size`)."""

    @property
    def name(self) -> str:
        """Name of the file or of the cast."""
        return Path(self.file).name if self.file else self.cast

    def load(self, behaviors: Collection[str] | None = None) -> Library:
        """Return the library: read from its file, or by `gaitway.load_cast` (only some `behaviors` if given).

        Raises:
            FormatError: If there is no such file, or it is not a library.
        """
        if self.file:
            storage = import_module("gaitway.library.storage")
            return self._sized(storage.load_library(self.file))
        catalog = import_module("gaitway.cast.catalog")
        return self._sized(
            catalog.load_cast(self.cast, style=self.style, seed=self.seed, takes=self.takes, behaviors=behaviors)
        )

    def _sized(self, library: Library) -> Library:
        if self.size == 1.0:
            return library
        sized: Library = import_module("gaitway.library.size").sized(library, self.size)
        return sized


@dataclass(frozen=True)
class DrawnTraits:
    """What everybody with one library draws by name: a size, a style, both or neither."""

    size: bool = False
    style: bool = False

    def of(self, library: LibraryRef, seed: int, name: str) -> LibraryRef:
        """Return the library of somebody of that name."""
        if self.size:
            library = replace(library, size=import_module("gaitway.library.size").drawn_size(seed, name))
        if self.style:
            library = replace(library, style=import_module("gaitway.cast.catalog").drawn_style(seed, name))
        return library


def library_ref(name: str | Path, style: str | int | None = None, seed: int = 0) -> LibraryRef:
    """Return the reference to a library that a user names.

    Args:
        name: Name of a built-in cast, or a library file (.gwlib).
        style: Style of the cast.
        seed: Seed of the takes of the cast.

    Raises:
        LibraryError: If there is neither a cast nor a file of that name, or a style is given with a file.
        FormatError: If the file is not a library.
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


@dataclass(frozen=True, kw_only=True)
class Character:
    """One character of a scene."""

    name: str
    start: tuple[float, float, float]
    """Start pose: x, y [m] and heading [rad]."""
    goal: tuple[float, float]
    """Goal position: x, y [m]."""
    goal_heading: float | None
    """Heading at the goal [rad]; None if any heading will do."""
    library: LibraryRef
    plan: PlanOptions
    """Planner and its options: those of the scene, overridden by the character's own."""
    radius: float = 0.3
    """Radius of the disc that the character keeps clear [m]."""
    speed: str | float = "normal"
    """Preferred speed: "slow", "normal", "hurry", "fast", or a number [m/s]."""
    age: float | None = None
    """Age [years], by which the speed differs that a word stands for; None for an adult of any age."""
    priority: int = 0
    """Characters of higher priority are planned first."""
    start_time: float = 0.0
    """Time at which the character appears [s]."""
    start_floor: str | None = None
    """Floor on which it starts, in a place with several (`gaitway.world.levels.floors`)."""
    goal_floor: str | None = None
    """Floor of its goal."""
    errands: tuple[Errand, ...] = ()
    """What it does one after another; empty for a character with a goal."""
    companions: tuple[str, ...] = ()
    """Names of all who do errands together, its own among them; empty for somebody alone."""
