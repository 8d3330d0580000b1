"""All planners, by name: one table of their options and their code.

A planner is two things: a model of its options, which scene files are checked by, and a class that finds plans
(`gaitway.space.planner.Planner`) or moves all characters at once (`gaitway.space.planner.ScenePlanner`). Both are named
here as "module:name" and loaded when a scene first asks for them, so that this table costs nothing and may stand below
all that it names. Planners from outside the package are added by `register`, or found by the entry point group
`gaitway.planners` of any installed distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Literal

from gaitway.core.errors import PlanError
from gaitway.core.suggest import nearest

ENTRY_POINTS = "gaitway.planners"
"""Group of entry points that name a `PlannerEntry` each."""
DEFAULT_PLANNER = "behavior"
"""The planner of scenes that name none."""


@dataclass(frozen=True, kw_only=True)
class PlannerEntry:
    """A planner: its name, its options, and the class that finds plans."""

    name: str
    title: str
    """A few words for people, such as "A* search"."""
    options: str | type[Any]
    """The model of its options, a subclass of `gaitway.scene.PlanOptions`; or where it is, as "module:name"."""
    planner: str | type[Any]
    """The class of the planner, made without arguments for each run; or where it is, as "module:name"."""
    areas: Literal["everywhere", "routes", "nowhere"] = "nowhere"
    """Where it heeds areas of the ground (`gaitway.world.areas`): "routes" are the coarse ways that it follows."""

    def options_model(self) -> Any:
        """Return the model of the planner's options, a subclass of `gaitway.scene.PlanOptions`."""
        return _loaded(self.options)

    def make(self) -> Any:
        """Return a new planner for one run, a `gaitway.space.planner.Planner` or `ScenePlanner`."""
        return _loaded(self.planner)()


_TABLE = {
    entry.name: entry
    for entry in (
        PlannerEntry(
            name="behavior",
            title="A* search",
            options="gaitway.behavior.options:BehaviorOptions",
            planner="gaitway.behavior.planner:BehaviorPlanner",
            areas="everywhere",
        ),
        PlannerEntry(
            name="tree",
            title="search trees",
            options="gaitway.tree.options:TreeOptions",
            planner="gaitway.tree.planner:TreePlanner",
            areas="routes",
        ),
        PlannerEntry(
            name="crowd",
            title="a throng",
            options="gaitway.crowd.plan_options:ThrongOptions",
            planner="gaitway.crowd.planner:ThrongPlanner",
        ),
        PlannerEntry(
            name="deform",
            title="deformable motion",
            options="gaitway.deform.options:DeformOptions",
            planner="gaitway.deform.planner:DeformPlanner",
        ),
    )
}


def register(entry: PlannerEntry) -> None:
    """Add a planner to the table, so that scenes, messages, the JSON Schema and the command line know it.

    Raises:
        PlanError: if another planner has that name.
    """
    if _TABLE.get(entry.name, entry) != entry:
        raise PlanError(f"there is a planner '{entry.name}' already; choose another name")
    _TABLE[entry.name] = entry


def unregister(name: str) -> None:
    """Take a planner out of the table that was added by `register`."""
    _TABLE.pop(name, None)


def planner_names() -> tuple[str, ...]:
    """Return the names of all planners, those of installed distributions included."""
    _find_installed()
    return tuple(_TABLE)


def planner_entry(name: str) -> PlannerEntry:
    """Return the entry of a planner.

    Raises:
        PlanError: if there is no such planner.
    """
    if name not in _TABLE:
        _find_installed()
    if name not in _TABLE:
        near = nearest(str(name), _TABLE)
        hint = f"did you mean '{near}'?" if near else f"write one of {', '.join(_TABLE)}"
        raise PlanError(f"there is no planner '{name}'; {hint}")
    return _TABLE[name]


def _find_installed() -> None:
    for point in entry_points(group=ENTRY_POINTS):
        if point.name not in _TABLE:
            entry = point.load()
            if not isinstance(entry, PlannerEntry):
                raise PlanError(f"entry point '{point.name}' of {ENTRY_POINTS} is {entry!r}; it must be a PlannerEntry")
            register(entry)


def _loaded(place: str | type[Any]) -> Any:
    if not isinstance(place, str):
        return place
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
