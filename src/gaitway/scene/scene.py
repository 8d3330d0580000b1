"""Scenes: a place and who wants to be where, read from a file, a dictionary or a model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from gaitway.errors import FormatError
from gaitway.scene.building import Builder
from gaitway.scene.catalog import find_scene
from gaitway.scene.characters import RADII, Character, LibraryRef
from gaitway.scene.checks import warnings
from gaitway.scene.digest import scene_hash
from gaitway.scene.documents import Document, Entry, Merged, Reader, merged
from gaitway.scene.model import MAX_CHARACTERS, CharacterItem, LibraryItem, SceneModel
from gaitway.scene.placing import Cast, Placement, heading_towards
from gaitway.scene.plain import plain_data
from gaitway.scene.plan_options import DEFAULT_PLANNER, PlanOptions, options_model, planner_names
from gaitway.scene.problem import Problem, file_problem, in_order, nearest, scene_error, shown
from gaitway.world import World


@dataclass(frozen=True, eq=False)
class Scene:
    """A place, and who wants to be where."""

    world: World
    characters: tuple[Character, ...]
    title: str
    description: str
    seed: int
    plan: PlanOptions
    """The planner and its options for everybody who has none of their own."""
    hash: str
    """SHA-256 over all that matters for a plan, bytes of meshes and heights included: not over titles, descriptions,
    comments, spaces, or what is spread over included files."""
    source: SceneModel
    """What is written in the file (or dictionary) itself; change it with `model_copy` and build it again."""
    path: Path | None = None
    """The file it was read from."""
    folder: Path = field(default_factory=Path)
    """What file names in `source` are relative to."""
    warnings: tuple[Problem, ...] = ()
    """What is hardly meant so."""


def load_scene(path: str | Path) -> Scene:
    """Read a scene.

    Args:
        path: a scene file, or the name of a ready scene (`gaitway.scene.ready_scenes()`).

    Raises:
        FormatError: if there is no such file, or it is not YAML.
        SceneError: if the scene does not hold together; the message names the first problem and how many more there
            are, `scene_problems` lists them all.
    """
    scene, problems = _load(find_scene(path))
    if scene is None:
        raise scene_error(problems)
    return scene


def scene_problems(path: str | Path) -> list[Problem]:
    """All that is wrong with a scene file, warnings last; empty if there is nothing."""
    try:
        scene, problems = _load(find_scene(path))
    except FormatError as problem:
        return [file_problem(problem)]
    return problems if scene is None else list(scene.warnings)


def scene_from_dict(data: Mapping[str, Any], folder: str | Path = ".") -> Scene:
    """A scene out of plain values, as a scene file has them.

    Args:
        data: the values; lists may be tuples or NumPy arrays.
        folder: what file names in it are relative to.

    Raises:
        SceneError: if the scene does not hold together.
    """
    reader = Reader()
    document = reader.document(plain_data(data), Path(folder))
    return _built_or_raise(document, reader)


def build_scene(model: SceneModel, folder: str | Path = ".", path: str | Path | None = None) -> Scene:
    """A scene out of a model, such as an edited `scene.source`.

    Args:
        model: what a scene file would say.
        folder: what file names in it are relative to.
        path: the file it stands for, if any.

    Raises:
        SceneError: if the scene does not hold together.
    """
    reader = Reader()
    bare = Document(model, Path(folder), None if path is None else Path(path))
    return _built_or_raise(reader.follow(model, bare, ()), reader)


def _load(path: Path) -> tuple[Scene | None, list[Problem]]:
    reader = Reader()
    document = reader.read(path)
    scene, problems = (None, reader.problems) if document is None or reader.problems else _built(document)
    return scene, in_order(problems)


def _built_or_raise(document: Document | None, reader: Reader) -> Scene:
    scene, problems = (None, reader.problems) if document is None or reader.problems else _built(document)
    if scene is None:
        raise scene_error(problems)
    return scene


def _built(document: Document) -> tuple[Scene | None, list[Problem]]:
    """The scene of a document that validates, or None and what is wrong."""
    whole = merged(document)
    people = _People(whole)
    builder = Builder()
    world = builder.world(whole)
    problems = [*builder.problems, *people.problems]
    if world is None or problems:
        return None, problems
    seed = whole.singles["seed"].value if "seed" in whole.singles else 0
    placement = Placement(world, builder.origins, people.casts, seed)
    placement.run()
    if placement.problems:
        return None, placement.problems
    characters = tuple(c for cast in people.casts for c in people.characters(cast, placement))
    texts = {key: whole.singles[key].value if key in whole.singles else "" for key in ("title", "description")}
    return (
        Scene(
            world,
            characters,
            texts["title"],
            texts["description"].strip(),
            seed,
            people.plan,
            scene_hash(whole, builder.files),
            document.model,
            document.path,
            document.folder,
            tuple(warnings(world, builder.origins, people.casts)),
        ),
        [],
    )


class _People:
    """What is known of characters before they are placed: names, libraries, options."""

    def __init__(self, whole: Merged) -> None:
        self.whole = whole
        self.problems: list[Problem] = []
        self.library = self._library(whole.singles.get("library")) or LibraryRef()
        self.plan_data: dict[str, Any] = {}
        self.plan = self._options(whole.singles.get("plan"), {}) or options_model(DEFAULT_PLANNER)()
        if "plan" in whole.singles:
            self.plan_data = whole.singles["plan"].value
        entries = whole.lists["characters"]
        self.libraries = [self._library(_inner(e, "library")) or self.library for e in entries]
        self.plans = [self._options(_inner(e, "plan"), self.plan_data) or self.plan for e in entries]
        self.casts = self._casts(entries)

    def _casts(self, entries: tuple[Entry, ...]) -> list[Cast]:
        out: list[Cast] = []
        taken: dict[str, Entry] = {}
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
            radius = item.radius if item.radius is not None else RADII.get(library.cast, 0.3)
            out.append(Cast(entry, names, radius, first))
            first += len(names)
        return out

    def characters(self, cast: Cast, placement: Placement) -> list[Character]:
        """The characters of an entry, now that everybody has a place."""
        item, index = cast.item, placement.casts.index(cast)
        starts, goals = placement.starts[cast.first], placement.goals[cast.first]
        yaw = math.radians(item.start[2]) if item.start is not None and len(item.start) == 3 else None
        turned = isinstance(item.goal, tuple) and len(item.goal) == 3
        goal_heading = math.radians(float(item.goal[2])) if turned and item.goal else None
        return [
            Character(
                name,
                (float(start[0]), float(start[1]), heading_towards(start, goal) if yaw is None else yaw),
                (float(goal[0]), float(goal[1])),
                goal_heading,
                self.libraries[index],
                self.plans[index],
                cast.radius,
                item.speed,
                item.priority,
                item.start_time,
            )
            for name, start, goal in zip(cast.names, starts, goals, strict=True)
        ]

    def _library(self, entry: Entry | None) -> LibraryRef | None:
        if entry is None:
            return None
        item: LibraryItem = entry.value
        catalog = import_module("gaitway.library.cast.catalog")
        for key, value, choices in (
            ("cast", item.cast, catalog.cast_names()),
            ("style", item.style, catalog.style_names()),
        ):
            if isinstance(value, str) and value not in choices:
                near = nearest(value, choices)
                hint = f"did you mean '{near}'?" if near else f"write one of {', '.join(choices)}"
                self.problems.append(entry.problem(key, text=f"{shown(value)} is no {key} that there is; {hint}"))
        return LibraryRef(item.cast, item.style, item.takes, item.seed)

    def _options(self, entry: Entry | None, base: Mapping[str, Any]) -> PlanOptions | None:
        """Options checked by their planner's own model, over those of the scene if they are for the same planner."""
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
        checked = reader.validate(entry.document, own, options_model(planner), entry.place)
        self.problems += reader.problems
        if checked is None:
            return None
        return options_model(planner).model_validate({**base, **own}) if same else checked


def _inner(entry: Entry, key: str) -> Entry | None:
    value = getattr(entry.value, key)
    return None if value is None else Entry(value, entry.document, (*entry.place, key))


def _names(base: str, count: int | None) -> tuple[str, ...]:
    if count is None:
        return (base,)
    width = max(2, len(str(count)))
    return tuple(f"{base}-{number:0{width}d}" for number in range(1, count + 1))
