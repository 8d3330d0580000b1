"""Sources: places where people come in, one after another, who do errands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gaitway.scene.characters import DrawnTraits, LibraryRef
from gaitway.scene.errands import Errand
from gaitway.scene.plan_options import PlanOptions

if TYPE_CHECKING:
    import shapely


@dataclass(frozen=True, eq=False, kw_only=True)
class SourceKind:
    """One kind of people that come from a source."""

    share: float
    """How often it is drawn, over the shares of the others."""
    library: LibraryRef
    draws: DrawnTraits
    """What everybody draws."""
    speed: str | float
    age: float | None = None
    """Age of its people [years]; None for adults of any age."""
    errands: tuple[Errand, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Source:
    """Where people come in, one after another."""

    name: str
    area: shapely.Geometry
    floor: str | None
    rate: float
    """People a second on average; 0 with a timetable."""
    times: tuple[tuple[float, int], ...]
    """Timetable: times [s], and how many come then."""
    start: float
    until: float
    """Time from which and until which people come at the rate [s]."""
    count: int
    """Most people who come."""
    kinds: tuple[SourceKind, ...]
    companions: int
    """How many come at a time and go together; 1 for people who are alone."""
    plan: PlanOptions
    radius: float
    """Radius of the disc that each keeps clear [m]."""
