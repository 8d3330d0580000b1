"""Scene files with their includes: each file is read and validated on its own, then all are joined."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from gaitway.core.errors import FormatError, SceneError
from gaitway.scene.model import FORMAT_VERSION, SceneModel
from gaitway.scene.problem import Place, Problem, file_problem, place_text, shown
from gaitway.scene.reading.messages import findings
from gaitway.scene.reading.nodes import MAX_DEPTH, Key, Node, read_nodes

Model = TypeVar("Model", bound=BaseModel)
MAX_INCLUDE_DEPTH = 8
MAX_FILES = 1000
"""Largest number of files of one scene; includes of includes multiply."""

LISTS = ("obstacles", "specials", "movers", "doors", "lifts", "escalators", "areas", "characters", "objects",
         "sources", "rules")  # fmt: skip
"""Keys whose entries are joined. For all other keys the including file wins, then the last include."""


@dataclass(frozen=True, eq=False)
class Document:
    """One scene file, or one dictionary."""

    model: SceneModel
    folder: Path
    """Folder that file names in it are relative to."""
    path: Path | None = None
    nodes: Node | None = None
    """Tree of its values with line numbers; None for a dictionary."""
    includes: tuple[Document, ...] = ()
    """Included documents, in the order of `include`."""

    def problem(self, place: tuple[Key, ...], text: str, *, warning: bool = False, key: bool = False) -> Problem:
        """Return a problem at a place of this document."""
        if self.nodes is None:
            return Problem(place_text(place), text, self.path, None, warning)
        place = self.nodes.written(place)
        return Problem(place_text(place), text, self.path, self.nodes.line_of(place, key), warning)

    def everywhere(self) -> Iterator[Document]:
        """Yield all included documents, directly or not, and then this one: the order in which entries are joined."""
        for document in self.includes:
            yield from document.everywhere()
        yield self


@dataclass(frozen=True, eq=False)
class SceneEntry:
    """A value of a scene and where it is written."""

    value: Any
    document: Document
    place: Place

    def problem(self, *place: str | int, text: str, warning: bool = False) -> Problem:
        """Return a problem of the value, or of a place within it."""
        return self.document.problem((*self.place, *place), text, warning=warning)


@dataclass(eq=False)
class Reader:
    """A reader of scene files and their includes. It collects problems instead of stopping at the first one."""

    problems: list[Problem] = field(default_factory=list)
    count: int = 0

    def read(self, path: Path, above: tuple[Path, ...] = ()) -> Document | None:
        """Return the document of a file, or None if it is not valid.

        Raises:
            FormatError: If the topmost file is not YAML or cannot be read.
        """
        self.count += 1
        nodes = read_nodes(path)
        return self.document(nodes.plain(), path.parent, path, nodes, above)

    def document(
        self,
        data: Any,
        folder: Path,
        path: Path | None = None,
        nodes: Node | None = None,
        above: tuple[Path, ...] = (),
    ) -> Document | None:
        """Return the document of plain data, or None if it is not valid."""
        bare = Document(SceneModel(), folder, path, nodes)
        if not isinstance(data, dict):
            what = "is empty" if data is None else f"{shown(data)} is not a map"
            self.problems.append(bare.problem((), f"{what}; write keys and values, such as gaitway: {FORMAT_VERSION}"))
            return None
        empty = list(nodes.empty()) if nodes else []
        for place in empty:
            self.problems.append(bare.problem(place, "nothing is written; write a value, or leave the key out"))
        if empty:
            return None
        model = self.validate(bare, data, SceneModel, ())
        if model is None:
            return None
        if model.gaitway is None and not above:
            self.problems.append(bare.problem(("gaitway",), f"missing; write gaitway: {FORMAT_VERSION}"))
        return self.follow(model, bare, above)

    def follow(self, model: SceneModel, bare: Document, above: tuple[Path, ...]) -> Document:
        """Return the document of a validated model, with the documents that it includes."""
        trail = (*above, (bare.path or bare.folder).resolve())  # a dictionary stands for a file in its folder
        found = [self._included(bare, index, name, trail) for index, name in enumerate(model.include)]
        return Document(model, bare.folder, bare.path, bare.nodes, tuple(d for d in found if d is not None))

    def _included(self, parent: Document, index: int, name: str, trail: tuple[Path, ...]) -> Document | None:
        target, place = parent.folder / name, ("include", index)
        if target.resolve() in trail:
            text = f"{shown(name)} includes itself, directly or by way of others; leave it out"
        elif len(trail) > MAX_INCLUDE_DEPTH:
            text = f"{shown(name)} is included more than {MAX_INCLUDE_DEPTH} deep; write its entries further up"
        elif self.count >= MAX_FILES:
            text = f"{shown(name)} is one file too many; a scene may have {MAX_FILES}"
        else:
            try:
                return self.read(target, trail)
            except FormatError as error:
                found = file_problem(error)
                if found.line is not None:
                    self.problems.append(found)
                    return None
                text = f"{shown(name)} cannot be included: {found.text}"
        self.problems.append(parent.problem(place, text))
        return None

    def validate(self, document: Document, data: Any, model: type[Model], place: Place) -> Model | None:
        """Return `data` as a model, or None; problems are reported at `place` of the document."""
        try:
            return model.model_validate(data)
        except ValidationError as error:
            for inner, text, key in findings(error, model):
                self.problems.append(document.problem((*place, *inner), text, key=key))
            return None


@dataclass(frozen=True, eq=False)
class MergedScene:
    """A scene with its includes joined."""

    top: Document
    lists: dict[str, tuple[SceneEntry, ...]]
    """Entries by key, for the keys of `LISTS`."""
    singles: dict[str, SceneEntry]
    """All other values that are written, by key."""
    places: dict[str, SceneEntry]
    """Places by name; where a name is written twice, the including file wins."""


def merged(top: Document) -> MergedScene:
    """Return a document joined with its includes."""
    documents = list(top.everywhere())
    lists = {
        key: tuple(
            SceneEntry(value, document, (key, index))
            for document in documents
            for index, value in enumerate(getattr(document.model, key))
        )
        for key in LISTS
    }
    singles: dict[str, SceneEntry] = {}
    for document in documents:  # those that win come last
        for key in ("title", "description", "seed", "library", "bounds", "terrain", "plan", "camera", "end"):
            if getattr(document.model, key) is not None:
                singles[key] = SceneEntry(getattr(document.model, key), document, (key,))
    places = {
        name: SceneEntry(place, document, ("places", name))
        for document in documents
        for name, place in document.model.places.items()
    }
    return MergedScene(top, lists, singles, places)


def plain_data(value: Any, place: Place = ()) -> Any:
    """Return a value with lists and arrays as tuples, NumPy's numbers as Python's, and without keys that are None.

    Raises:
        SceneError: If a part has a type that a scene file cannot have.
    """
    if len(place) > MAX_DEPTH:
        raise SceneError(f"{place_text(place[:3])}...: is nested more than {MAX_DEPTH} deep")
    numpy = sys.modules.get("numpy")  # if NumPy is not loaded, no value has one of its types
    if numpy is not None and isinstance(value, numpy.ndarray | numpy.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise SceneError(f"{place_text(place) or 'scene'}: key {key!r} is not a text; write it in quotes")
        return {key: plain_data(item, (*place, key)) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return tuple(plain_data(item, (*place, index)) for index, item in enumerate(value))
    if isinstance(value, str | int | float):
        return value
    raise SceneError(f"{place_text(place) or 'scene'}: a {type(value).__name__} cannot be part of a scene")
