"""Scenes: a world and its characters, read from a file, a dictionary or a model."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pydantic import BaseModel

from gaitway.core.errors import FormatError, SceneError
from gaitway.core.files import read_file
from gaitway.scene.building import WorldBuilder
from gaitway.scene.catalog import find_scene
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.errands import Place, Rule
from gaitway.scene.model import MAX_SEED, LibraryItem, SceneModel
from gaitway.scene.placing.errand_book import ErrandBook
from gaitway.scene.placing.groups import CharacterGroups
from gaitway.scene.placing.placement import CharacterGroup, Placement
from gaitway.scene.plan_options import PlanOptions
from gaitway.scene.problem import Problem, file_problem, in_order, scene_error
from gaitway.scene.reading.documents import Document, MergedScene, Reader, merged, plain_data
from gaitway.scene.sources import Source
from gaitway.scene.things import Thing
from gaitway.scene.warnings import passing_warnings, warnings
from gaitway.world import World

_FILE_NAMES: Mapping[str, Any] = {"file": True, "heights": True, "mesh": {"file": True}, "library": {"file": True}}
"""Keys whose values are file names."""
_WORLD_KEYS = frozenset(
    {"bounds", "obstacles", "specials", "movers", "doors", "lifts", "escalators", "terrain", "areas"}
)
"""Keys of a scene file that make its world."""
_UNPLANNED = ("title", "description", "camera")
"""Keys that no plan depends on."""
_MAX_BYTES = 2**30
"""Largest file of a scene: its readers have lower limits [bytes]."""


@dataclass(frozen=True, kw_only=True)
class SceneCamera:
    """The camera of a scene file."""

    eye: tuple[float, float, float]
    """Where it stands [m]."""
    target: tuple[float, float, float]
    """The point in the middle of the picture [m]."""
    field: float
    """Vertical opening angle [rad]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Scene:
    """A world, and characters with starts and goals."""

    world: World
    characters: tuple[Character, ...]
    title: str
    description: str
    seed: int
    plan: PlanOptions
    """Planner and options of the characters that have none of their own."""
    hash: str
    """SHA-256 over all that a plan depends on, with the bytes of meshes and heights. Titles, descriptions, the camera,
    comments and spaces do not change it, nor does moving entries into included files."""
    world_hash: str
    """The same over the world alone: bounds, obstacles, movers and terrain."""
    source: SceneModel
    """Content of the file (or dictionary) itself; to edit it, use `model_copy` and `build_scene`."""
    path: Path | None = None
    """File that the scene was read from."""
    folder: Path = field(default_factory=Path)
    """Folder that file names in `source` are relative to."""
    camera: SceneCamera | None = None
    """Where films of the scene are taken from, if the file says so."""
    warnings: tuple[Problem, ...] = ()
    """Warnings: content that can be loaded but is probably a mistake."""
    groups: tuple[CharacterGroup, ...] = ()
    """The entries that the characters come from, in the same order."""
    places: Mapping[str, Place] = field(default_factory=dict)
    """Places with names, for errands."""
    sources: tuple[Source, ...] = ()
    """Where further people come in, who do errands."""
    rules: tuple[Rule, ...] = ()
    """What happens when."""
    things: tuple[Thing, ...] = ()
    """Small things that people handle."""
    end: float | None = None
    """Time at which a run of errands ends [s]; None: when everybody has done."""

    @property
    def busy(self) -> bool:
        """Whether anybody does errands or there are doors, so that more happens than that everybody goes to a goal."""
        return bool(self.sources or self.world.doors) or any(character.errands for character in self.characters)

    @property
    def drawn(self) -> bool:
        """Whether the seed decides about a start or a goal."""
        areas = [area for group in self.groups for area in (group.item.start_area, group.item.goal_area)]
        return any(area is not None and area.ring is None for area in areas)


def load_scene(path: str | Path, *, seed: int | None = None) -> Scene:
    """Read a scene.

    Args:
        path: A scene file, or the name of a ready scene (`gaitway.scene.ready_scenes()`).
        seed: Seed instead of the file's own, which draws starts and goals in areas anew; None keeps it.

    Raises:
        FormatError: If there is no such file, or it is not YAML.
        SceneError: If the scene is not valid. The message names the first problem and the number of the others;
            `scene_problems` lists all of them.
    """
    if seed is not None and not 0 <= seed <= MAX_SEED:
        raise SceneError(f"seed {seed}; write a whole number from 0 to {MAX_SEED}")
    scene, problems = _load(find_scene(path), seed=seed)
    if scene is None:
        raise scene_error(problems)
    return scene


def load_world(path: str | Path) -> World:
    """Read the world of a scene, without its characters.

    Args:
        path: a scene file, or the name of a ready scene.

    Raises:
        FormatError: if there is no such file, or it is not YAML.
        SceneError: if the scene does not hold together.
    """
    return load_scene(path).world


def scene_problems(path: str | Path, *, passing: bool = True) -> list[Problem]:
    """Return the problems of a scene file or, if it can be loaded, its warnings.

    Args:
        path: As in `load_scene`.
        passing: Whether to check that the characters' behaviours can pass the special obstacles. This loads the
            characters' libraries, which may take seconds.
    """
    return examine_scene(path, passing=passing)[1]


def examine_scene(path: str | Path, *, passing: bool = True) -> tuple[Scene | None, list[Problem]]:
    """Read a scene if that can be done, and return it with its problems or warnings; arguments as `scene_problems`."""
    try:
        scene, problems = _load(find_scene(path), passing)
    except FormatError as problem:
        return None, [file_problem(problem)]
    return scene, problems if scene is None else list(scene.warnings)


def scene_from_dict(data: Mapping[str, Any], folder: str | Path = ".") -> Scene:
    """Return a scene from plain values, as a scene file has them.

    Args:
        data: The values; lists may be tuples or NumPy arrays.
        folder: Folder that file names in it are relative to.

    Raises:
        SceneError: If the scene is not valid.
    """
    reader = Reader()
    document = reader.document(plain_data(data), Path(folder))
    return _built_or_raise(document, reader)


def build_scene(model: SceneModel, folder: str | Path = ".", path: str | Path | None = None) -> Scene:
    """Return a scene from a model, such as an edited `scene.source`.

    Args:
        model: Content of a scene file.
        folder: Folder that file names in it are relative to.
        path: File of the scene, if there is one.

    Raises:
        SceneError: If the scene is not valid.
    """
    reader = Reader()
    bare = Document(model, Path(folder), None if path is None else Path(path))
    return _built_or_raise(reader.follow(model, bare, ()), reader)


def with_library(scene: Scene, library: LibraryRef) -> Scene:
    """Return a scene with another library for all of its characters.

    Raises:
        SceneError: If the scene is not valid with that library.
    """
    if library.file:
        item = LibraryItem(file=library.file, size=library.size)
    else:
        item = LibraryItem(
            cast=library.cast, style=library.style, takes=library.takes, seed=library.seed, size=library.size
        )
    people = [character.model_copy(update={"library": None}) for character in scene.source.characters]
    source = scene.source.model_copy(update={"library": item, "characters": tuple(people)})
    return build_scene(source, scene.folder, scene.path)


def _load(path: Path, passing: bool = False, seed: int | None = None) -> tuple[Scene | None, list[Problem]]:
    reader = Reader()
    document = reader.read(path)
    if document is not None and seed is not None:
        document = replace(document, model=document.model.model_copy(update={"seed": seed}))
    scene, problems = (None, reader.problems) if document is None or reader.problems else _built(document, passing)
    return scene, in_order(problems)


def _built_or_raise(document: Document | None, reader: Reader) -> Scene:
    scene, problems = (None, reader.problems) if document is None or reader.problems else _built(document)
    if scene is None:
        raise scene_error(problems)
    return scene


def _built(document: Document, passing: bool = False) -> tuple[Scene | None, list[Problem]]:
    """Return the scene of a valid document, or None and the problems."""
    whole = merged(document)
    groups = CharacterGroups(whole)
    builder = WorldBuilder()
    world = builder.world(whole)
    problems = [*builder.problems, *groups.problems]
    if world is None or problems:
        return None, problems
    seed = whole.singles["seed"].value if "seed" in whole.singles else 0
    book = ErrandBook(whole, groups, world)
    placement = Placement(world, builder.origins, groups.groups, seed)
    placement.run()
    if problems := [*groups.problems, *book.problems, *placement.problems]:
        return None, problems
    characters = tuple(c for group in groups.groups for c in groups.characters(group, placement, book.of(group)))
    libraries = [character.library for character in characters] if passing else []
    special = passing_warnings(world, builder.origins, libraries)
    texts = {key: whole.singles[key].value if key in whole.singles else "" for key in ("title", "description")}
    return (
        Scene(
            world=world,
            characters=characters,
            title=texts["title"],
            description=texts["description"].strip(),
            seed=seed,
            plan=groups.plan,
            hash=scene_hash(whole, [*builder.files, *groups.files]),
            world_hash=scene_hash(whole, builder.files, _WORLD_KEYS),
            source=document.model,
            path=document.path,
            folder=document.folder,
            camera=_camera(whole),
            warnings=(*warnings(world, builder.origins, groups.groups), *special),
            groups=tuple(groups.groups),
            places=book.places,
            sources=book.sources,
            rules=book.rules,
            things=book.things.things,
            end=whole.singles["end"].value if "end" in whole.singles else None,
        ),
        [],
    )


def _camera(scene: MergedScene) -> SceneCamera | None:
    if "camera" not in scene.singles:
        return None
    item = scene.singles["camera"].value
    return SceneCamera(eye=item.eye, target=item.target, field=math.radians(item.field_deg))


def scene_hash(scene: MergedScene, files: Iterable[Path], keys: Collection[str] | None = None) -> str:
    """Return the SHA-256 of a scene's values, with defaults filled in, and of the bytes of the files that it names.

    Args:
        scene: the scene.
        files: the files.
        keys: keys of the scene file that count; None for all that a plan depends on.
    """
    values = {key: _content(entry.value) for key, entry in scene.singles.items() if key not in _UNPLANNED}
    values.setdefault("seed", 0)
    lists: dict[str, Any] = {key: [_content(entry.value) for entry in entries] for key, entries in scene.lists.items()}
    for key in (
        "sources",
        "rules",
        "doors",
        "lifts",
        "escalators",
        "areas",
        "objects",
    ):  # scenes without these keep the hashes that they had before there were any
        if not scene.lists[key]:
            del lists[key]
    if scene.places:
        lists["places"] = {name: _content(entry.value) for name, entry in sorted(scene.places.items())}
    digests = [hashlib.sha256(read_file(part, _MAX_BYTES)).hexdigest() for path in files for part in _parts(path)]
    counted = {key: value for key, value in {**values, **lists}.items() if keys is None or key in keys}
    text = json.dumps({**counted, "files": digests}, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _parts(path: Path) -> list[Path]:
    """Return a file and, for glTF, the files of its buffers."""
    if path.suffix.lower() != ".gltf":
        return [path]
    buffers = json.loads(read_file(path, _MAX_BYTES)).get("buffers", [])  # the mesh was read, so they are what they are
    names = [buffer.get("uri", "data:") for buffer in buffers]
    return [path, *(path.parent / unquote(name) for name in names if not name.startswith("data:"))]


def _content(value: Any) -> Any:
    """Return a value as JSON, without file names: the bytes of the files are hashed instead."""
    if isinstance(value, BaseModel):
        out = value.model_dump(mode="json", exclude=dict(_FILE_NAMES))
        return (
            {k: v for k, v in out.items() if k not in ("errands", "companions", "open", "close") or v is not None}
            if isinstance(out, dict)
            else out
        )
    return value
