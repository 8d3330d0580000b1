"""Groups of characters before they are placed: names, libraries and planner options, checked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import FormatError
from gaitway.core.suggest import nearest
from gaitway.planners import DEFAULT_PLANNER, planner_entry, planner_names
from gaitway.scene.characters import RADII, Character, DrawnTraits, LibraryRef
from gaitway.scene.errands import Errand, Place, target_of
from gaitway.scene.model import DRAWN, MAX_CHARACTERS, CharacterItem, LibraryItem
from gaitway.scene.placing.companies import companions_of, gathered
from gaitway.scene.placing.placement import CharacterGroup, Placement, heading_towards
from gaitway.scene.plan_options import PlanOptions
from gaitway.scene.problem import Problem, file_problem, shown
from gaitway.scene.reading.documents import MergedScene, Reader, SceneEntry


class CharacterGroups:
    """All groups of characters of a scene. It collects problems in `problems`."""

    def __init__(self, whole: MergedScene) -> None:
        self.whole = whole
        self.problems: list[Problem] = []
        self.files: list[Path] = []
        """Library files; their content is a part of the scene's hash."""
        self.library = self.library_of(whole.singles.get("library")) or LibraryRef()
        self.plan_data: dict[str, Any] = {}
        self.plan = self._options(whole.singles.get("plan"), {}) or planner_entry(DEFAULT_PLANNER).options_model()()
        if "plan" in whole.singles:
            self.plan_data = whole.singles["plan"].value
        entries = whole.lists["characters"]
        self.libraries = [self.library_of(inner(e, "library")) or self.library for e in entries]
        self.drawn = [drawn_traits(inner(e, "library") or whole.singles.get("library")) for e in entries]
        self.plans = [self.options_of(inner(e, "plan")) for e in entries]
        self.groups = self._groups(entries)

    def _groups(self, entries: tuple[SceneEntry, ...]) -> list[CharacterGroup]:
        out: list[CharacterGroup] = []
        taken: dict[str, SceneEntry] = {}
        first, unnamed = 0, Counter[str]()
        for entry, library in zip(entries, self.libraries, strict=True):
            item: CharacterItem = entry.value
            base = item.name
            if base is None:
                kind = "character" if item.count is None else "crowd"
                unnamed[kind] += 1
                base = f"{kind}{unnamed[kind]}" if unnamed[kind] > 1 or kind == "character" else kind
            if first + (item.count or 1) > MAX_CHARACTERS:
                text = f"{first + (item.count or 1)} characters so far; a scene may have {MAX_CHARACTERS}"
                self.problems.append(entry.problem("count", text=text))
                return []
            names = _names(base, item.count)
            clash = next((name for name in names if name in taken), None)
            if clash is not None:
                other = taken[clash].problem(text="").place
                text = f"'{clash}' is the name of {other} already; write another name"
                self.problems.append(entry.problem("name", text=text))
            taken |= dict.fromkeys(names, entry)
            radius = item.radius if item.radius is not None else library.size * RADII.get(library.cast, 0.3)
            out.append(CharacterGroup(entry, base, names, radius, first, len(out)))
            first += len(names)
        return out

    def characters(
        self, group: CharacterGroup, placement: Placement, errands: tuple[Errand, ...] = ()
    ) -> list[Character]:
        """Return the characters of a group that has been placed, with what they do if they have no goals."""
        target = next((found for one in errands if (found := target_of(one)) is not None), None)
        seen = np.array(target.point) if isinstance(target, Place) else None
        item, index = group.item, group.index
        goals = placement.goals[group.first]
        yaw = math.radians(item.start[2]) if item.start is not None and len(item.start) >= 3 else None
        turned = isinstance(item.goal, tuple) and len(item.goal) >= 3
        goal_heading = math.radians(float(item.goal[2])) if turned and item.goal else None
        starts = gathered(group, placement, seen)
        return [
            Character(
                name=name,
                start=(float(start[0]), float(start[1]), _heading(start, goal if seen is None else seen, yaw)),
                goal=(float(goal[0]), float(goal[1])),
                goal_heading=goal_heading,
                library=self._of_one(index, name, placement.seed),
                plan=self.plans[index],
                radius=group.radius,
                speed=item.speed,
                age=item.age,
                priority=item.priority,
                start_time=item.start_time,
                start_floor=placement.floor_name(group, "start"),
                goal_floor=placement.floor_name(group, "goal"),
                errands=errands,
                companions=companions_of(group.names, number, item.companions),
            )
            for number, (name, start, goal) in enumerate(zip(group.names, starts, goals, strict=True))
        ]

    def _of_one(self, index: int, name: str, seed: int) -> LibraryRef:
        """Return the library of one member of a group."""
        return self.drawn[index].of(self.libraries[index], seed, name)

    def library_of(self, entry: SceneEntry | None) -> LibraryRef | None:
        """Return the library of an entry, checked; None if there is no entry."""
        if entry is None:
            return None
        item: LibraryItem = entry.value
        if item.file is not None:
            return replace(self._library_file(entry, item.file), size=_size(item))
        catalog = import_module("gaitway.cast.catalog")
        for key, value, choices in (
            ("cast", item.cast, catalog.cast_names()),
            ("style", item.style, (*catalog.style_names(), DRAWN)),
        ):
            if isinstance(value, str) and value not in choices:
                near = nearest(value, choices)
                hint = f"did you mean '{near}'?" if near else f"write one of {', '.join(choices)}"
                self.problems.append(entry.problem(key, text=f"{shown(value)} is no {key} that there is; {hint}"))
        style = None if item.style == DRAWN else item.style
        return LibraryRef(item.cast, style, item.takes, item.seed, size=_size(item))

    def _library_file(self, entry: SceneEntry, name: str) -> LibraryRef:
        file = (entry.document.folder / name).absolute()
        storage = import_module("gaitway.library.storage")
        try:
            storage.describe_library(file)
        except FormatError as error:
            found = file_problem(error)
            self.problems.append(
                entry.problem(text=f"{shown(name)} {found.text}; import a folder of capture, or name a cast")
            )
        else:
            self.files.append(file)
        return LibraryRef(file=str(file))

    def options_of(self, entry: SceneEntry | None) -> PlanOptions:
        """Return the planner options of an entry, which override the scene's; those of the scene without one."""
        return self._options(entry, self.plan_data) or self.plan

    def _options(self, entry: SceneEntry | None, base: Mapping[str, Any]) -> PlanOptions | None:
        """Return options checked by their planner's model; they override the scene's if the planner is the same."""
        if entry is None:
            return None
        own: dict[str, Any] = entry.value
        planner = own.get("planner", base.get("planner", DEFAULT_PLANNER))
        if planner not in planner_names() and "planner" not in own:
            return None  # the scene's own is wrong, which has been said
        if planner not in planner_names():
            near = nearest(str(planner), planner_names())
            hint = f"did you mean '{near}'?" if near else f"write one of {', '.join(planner_names())}"
            self.problems.append(entry.problem("planner", text=f"{shown(planner)} is no planner that there is; {hint}"))
            return None
        same = base.get("planner", DEFAULT_PLANNER) == planner
        reader = Reader()
        checked = reader.validate(entry.document, own, planner_entry(planner).options_model(), entry.place)
        self.problems += reader.problems
        if checked is None:
            return None
        model: type[PlanOptions] = planner_entry(planner).options_model()
        return model.model_validate({**base, **own}) if same else checked


def inner(entry: SceneEntry, key: str) -> SceneEntry | None:
    """Return the entry of a value inside another one; None if it is not written."""
    value = getattr(entry.value, key)
    return None if value is None else SceneEntry(value, entry.document, (*entry.place, key))


def _heading(start: FloatArray, seen: FloatArray, yaw: float | None) -> float:
    return heading_towards(start, seen) if yaw is None else yaw


def _names(base: str, count: int | None) -> tuple[str, ...]:
    if count is None:
        return (base,)
    width = max(2, len(str(count)))
    return tuple(f"{base}-{number:0{width}d}" for number in range(1, count + 1))


def _size(item: LibraryItem) -> float:
    """Return the size of a library's body; 1 where everybody draws a size."""
    return item.size if isinstance(item.size, float) else 1.0


def drawn_traits(entry: SceneEntry | None) -> DrawnTraits:
    """Return what everybody with the library of an entry draws."""
    if entry is None:
        return DrawnTraits()
    return DrawnTraits(size=entry.value.size == DRAWN, style=entry.value.style == DRAWN)
