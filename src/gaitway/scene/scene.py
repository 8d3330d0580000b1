"""Scenes: a place and who wants to be where, read from a file, a dictionary or a model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pydantic import BaseModel

from gaitway.core.errors import FormatError
from gaitway.scene.building import WorldBuilder
from gaitway.scene.catalog import find_scene
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.model import LibraryItem, SceneModel
from gaitway.scene.placing.groups import CharacterGroups
from gaitway.scene.placing.placement import Placement
from gaitway.scene.plan_options import PlanOptions
from gaitway.scene.problem import Problem, file_problem, in_order, scene_error
from gaitway.scene.reading.documents import Document, MergedScene, Reader, merged, plain_data
from gaitway.scene.warnings import passing_warnings, warnings
from gaitway.world import World

_FILE_NAMES: Mapping[str, Any] = {"file": True, "heights": True, "mesh": {"file": True}, "library": {"file": True}}
"""Where names of files may stand."""


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


def scene_problems(path: str | Path, *, passing: bool = True) -> list[Problem]:
    """All that is wrong with a scene file: its problems or, if it can be loaded, its warnings.

    Args:
        path: as in `load_scene`.
        passing: whether to find special obstacles that no behaviour gets past. That takes seconds where there are any,
            for the characters' libraries have to be generated.
    """
    try:
        scene, problems = _load(find_scene(path), passing)
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


def with_library(scene: Scene, library: LibraryRef) -> Scene:
    """The scene with another library for everybody in it.

    Raises:
        SceneError: if it does not hold together so.
    """
    if library.file:
        item = LibraryItem(file=library.file)
    else:
        item = LibraryItem(cast=library.cast, style=library.style, takes=library.takes, seed=library.seed)
    people = [character.model_copy(update={"library": None}) for character in scene.source.characters]
    source = scene.source.model_copy(update={"library": item, "characters": tuple(people)})
    return build_scene(source, scene.folder, scene.path)


def _load(path: Path, passing: bool = False) -> tuple[Scene | None, list[Problem]]:
    reader = Reader()
    document = reader.read(path)
    scene, problems = (None, reader.problems) if document is None or reader.problems else _built(document, passing)
    return scene, in_order(problems)


def _built_or_raise(document: Document | None, reader: Reader) -> Scene:
    scene, problems = (None, reader.problems) if document is None or reader.problems else _built(document)
    if scene is None:
        raise scene_error(problems)
    return scene


def _built(document: Document, passing: bool = False) -> tuple[Scene | None, list[Problem]]:
    """The scene of a document that validates, or None and what is wrong."""
    whole = merged(document)
    groups = CharacterGroups(whole)
    builder = WorldBuilder()
    world = builder.world(whole)
    problems = [*builder.problems, *groups.problems]
    if world is None or problems:
        return None, problems
    seed = whole.singles["seed"].value if "seed" in whole.singles else 0
    placement = Placement(world, builder.origins, groups.groups, seed)
    placement.run()
    if placement.problems:
        return None, placement.problems
    characters = tuple(c for group in groups.groups for c in groups.characters(group, placement))
    libraries = [character.library for character in characters] if passing else []
    special = passing_warnings(world, builder.origins, libraries)
    texts = {key: whole.singles[key].value if key in whole.singles else "" for key in ("title", "description")}
    return (
        Scene(
            world,
            characters,
            texts["title"],
            texts["description"].strip(),
            seed,
            groups.plan,
            scene_hash(whole, [*builder.files, *groups.files]),
            document.model,
            document.path,
            document.folder,
            (*warnings(world, builder.origins, groups.groups), *special),
        ),
        [],
    )


def scene_hash(scene: MergedScene, files: Iterable[Path]) -> str:
    """SHA-256 in hexadecimal over a scene's values, defaults filled in, and over the bytes of the files it names."""
    values = {key: _content(entry.value) for key, entry in scene.singles.items() if key not in ("title", "description")}
    values.setdefault("seed", 0)
    lists = {key: [_content(entry.value) for entry in entries] for key, entries in scene.lists.items()}
    digests = [hashlib.sha256(part.read_bytes()).hexdigest() for path in files for part in _parts(path)]
    text = json.dumps({**values, **lists, "files": digests}, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _parts(path: Path) -> list[Path]:
    """A file and, for glTF, the files with its numbers."""
    if path.suffix.lower() != ".gltf":
        return [path]
    buffers = json.loads(path.read_bytes()).get("buffers", [])
    names = [buffer.get("uri", "data:") for buffer in buffers]
    return [path, *(path.parent / unquote(name) for name in names if not name.startswith("data:"))]


def _content(value: Any) -> Any:
    """A value as JSON; names of files are left out, for their bytes count."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude=dict(_FILE_NAMES))
    return value
