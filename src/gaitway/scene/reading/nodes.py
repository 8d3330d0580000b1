"""YAML text as a tree of values with line numbers.

The reader accepts a small, safe subset of YAML: plain values, lists, maps and bounded aliases. Keys are words and occur
once. There are no object tags. Numbers are read as in YAML 1.2 and JSON: `1e-3` is a number, `yes` is a word and `010`
is ten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gaitway.core.errors import FormatError
from gaitway.core.files import read_file
from gaitway.scene.problem import shown

MAX_BYTES = 16 * 1024 * 1024
"""Largest size of a scene file [bytes]; ten thousand characters written one by one take half a megabyte."""
MAX_DEPTH = 32
"""Deepest nesting of maps and lists; the format itself needs 8."""
MAX_NODES = 4_000_000
"""Largest number of values in a file after aliases are expanded."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?[0-9]{1,400}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
_TAGS = {
    "tag:yaml.org,2002:str": str,
    "tag:yaml.org,2002:seq": list,
    "tag:yaml.org,2002:map": dict,
    "!": str,
}

Key = str | int
"""A step into a tree: a map's key or a list's index."""


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """A value and its line."""

    value: Any
    """A plain value, a tuple of nodes, or a dict of nodes."""
    line: int
    """Line number, from 1."""
    size: int = 1
    """Number of values in it, itself included."""
    key_lines: dict[str, int] | None = None
    """The line of each key of a map; None if this is not a map."""

    def plain(self) -> Any:
        """Return the value without lines; lists become tuples, which models can keep without copying."""
        if isinstance(self.value, tuple):
            return tuple(item.plain() for item in self.value)
        if isinstance(self.value, dict):
            return {key: item.plain() for key, item in self.value.items()}
        return self.value

    def empty(self, place: tuple[Key, ...] = ()) -> Iterator[tuple[Key, ...]]:
        """Yield the places within it where no value is written."""
        if self.value is None:
            yield place
        elif isinstance(self.value, tuple | dict):
            items = self.value.items() if isinstance(self.value, dict) else enumerate(self.value)
            for key, item in items:
                yield from item.empty((*place, key))

    def line_of(self, place: tuple[Key, ...], key: bool = False) -> int:
        """Return the line of the value at a place, or of the nearest key around it that exists.

        Args:
            place: Keys and indices from this node on.
            key: Return the line of the last key instead of that of its value.
        """
        node, opened = self, self.line
        for depth, step in enumerate(place):
            key_line = (node.key_lines or {}).get(str(step))
            inner = node.child(step)
            if inner is None:
                return opened  # what is missing is missing under the key that was last
            if key and depth == len(place) - 1 and key_line:
                return key_line
            node, opened = inner, key_line or inner.line
        return node.line

    def child(self, step: Key) -> Node | None:
        """Return the node at a key or an index, or None."""
        if isinstance(self.value, dict):
            found: Node | None = self.value.get(step)
            return found
        if isinstance(self.value, tuple) and isinstance(step, int) and step < len(self.value):
            item: Node = self.value[step]
            return item
        return None

    def written(self, place: tuple[Key, ...]) -> tuple[Key, ...]:
        """Return a place without the keys that a short form leaves out.

        (`library: person` is short for `library: {cast: person}`; a problem with it is reported at `library`.)
        """
        node: Node | None = self
        for depth, step in enumerate(place):
            if node is None:
                break
            if isinstance(step, str) and not isinstance(node.value, dict):
                return place[:depth]
            node = node.child(step)
        return place


def plain_scalar(text: str) -> Any:
    """Return the value of a text without quotes: None, a truth value, a number or the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def read_nodes(path: Path) -> Node:
    """Read a file.

    Raises:
        FormatError: If it cannot be read, is too large, or is not the YAML described above.
    """
    try:
        if not path.exists():
            raise FormatError(path, "no such file")
        size = path.stat().st_size if path.is_file() else 0
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise FormatError(path, f"cannot be read: {reason}") from None
    if size > MAX_BYTES:
        raise FormatError(path, f"has {size} bytes; a scene file may have {MAX_BYTES}")
    if other := OTHERS.get(path.suffix.lower()):
        raise FormatError(path, f"is {other}, not a scene; write a scene file (.yaml) or the name of a ready scene")
    return parse_nodes(read_file(path, MAX_BYTES), path)


OTHERS = {
    ".npz": "a take ('gaitway audit', 'gaitway export' and 'gaitway take info' read it)",
    ".gwlib": "a library ('gaitway library show' reads it)",
    ".gwtree": "a search tree ('gaitway tree show' reads it)",
    **dict.fromkeys((".bvh", ".amc", ".asf"), "captured motion ('gaitway clip info' reads it)"),
    **dict.fromkeys(
        (".glb", ".gltf", ".obj", ".stl", ".ply"), "a mesh or motion (a scene names it, see mesh: {file: ...})"
    ),
}
"""Files that are taken for scenes by mistake, by ending: what they are."""


def parse_nodes(text: bytes, path: Path) -> Node:
    """Return the tree of a YAML text; messages name it `path`.

    Raises:
        FormatError: If it is not the YAML described above.
    """
    try:
        decoded = text.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = text.count(b"\n", 0, problem.start) + 1
        raise FormatError(path, "is not UTF-8 text; save it as UTF-8", line) from None
    try:
        return _TreeBuilder(path).build(yaml.parse(decoded, Loader=_LOADER))
    except yaml.MarkedYAMLError as problem:
        raise _syntax_error(path, problem) from None
    except yaml.reader.ReaderError as problem:
        line = decoded.count("\n", 0, int(problem.position)) + 1
        raise FormatError(path, "has a character that YAML does not allow; remove it", line) from None
    except yaml.YAMLError as problem:
        raise FormatError(path, f"is not YAML: {' '.join(str(problem).split())}") from None


def _syntax_error(path: Path, problem: yaml.MarkedYAMLError) -> FormatError:
    mark = problem.problem_mark or problem.context_mark
    what = " ".join(" ".join(filter(None, (problem.context, problem.problem))).split())
    if mark is None:
        return FormatError(path, f"is not YAML: {what}")
    return FormatError(path, f"is not YAML at column {mark.column + 1}: {what}", mark.line + 1)


class _TreeBuilder:
    """A builder of trees from the parser's events, without recursion and within the limits."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.anchors: dict[str, Node] = {}
        self.count = 0

    def build(self, events: Iterator[Any]) -> Node:
        """Return the tree of the only document of the file."""
        root: Node | None = None
        stack: list[_Open] = []
        for event in events:
            if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                self._check_tag(event, str(event.tag or ""), (dict,) if _is_map(event) else (list,))
                if len(stack) == MAX_DEPTH:
                    raise self._error(event, f"is nested more than {MAX_DEPTH} deep")
                stack.append(_Open(event))
                continue
            if isinstance(event, yaml.DocumentStartEvent) and root is not None:
                raise self._error(event, "a second document begins; a scene file has one")
            if isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                node, anchor = stack[-1].closed(), stack.pop().start.anchor
            elif isinstance(event, yaml.ScalarEvent):
                node, anchor = self._scalar(event), event.anchor
            elif isinstance(event, yaml.AliasEvent):
                node, anchor = self._alias(event), None
            else:
                continue
            if anchor:
                self.anchors[anchor] = node
            if stack:
                self._add(stack[-1], node, event)
            else:
                root = node
        return root if root is not None else Node(None, 1)

    def _add(self, parent: _Open, node: Node, event: Any) -> None:
        self.count += node.size if isinstance(event, yaml.AliasEvent) else 1
        if self.count > MAX_NODES:
            raise self._error(event, f"has more than {MAX_NODES} values")
        if not _is_map(parent.start):
            parent.items.append(node)
        elif parent.key is None:
            if not isinstance(node.value, str):
                raise self._error(event, f"a key must be a text; {_shown(node)} is not: write it in quotes")
            if node.value in parent.entries:
                raise self._error(event, f"key {_shown(node)} occurs twice; write it once")
            parent.key = node
        else:
            parent.entries[parent.key.value] = node
            parent.key_lines[parent.key.value] = parent.key.line
            parent.key = None

    def _scalar(self, event: Any) -> Node:
        line, text = event.start_mark.line + 1, event.value
        tag = "" if event.tag is None else str(event.tag)
        self._check_tag(event, tag, (str,))
        as_text = tag or not event.implicit[0]  # in quotes, a block, or named a text
        return Node(text if as_text else plain_scalar(text), line)

    def _alias(self, event: Any) -> Node:
        if event.anchor not in self.anchors:  # unknown, or of something that is still open around it
            raise self._error(event, f"alias *{event.anchor} has no anchor &{event.anchor} before it")
        return self.anchors[event.anchor]

    def _check_tag(self, event: Any, tag: str, allowed: tuple[type, ...]) -> None:
        if tag and _TAGS.get(tag) not in allowed:
            raise self._error(event, f"tag {shown(tag)} is not allowed; leave it out")

    def _error(self, event: Any, problem: str) -> FormatError:
        return FormatError(self.path, problem, event.start_mark.line + 1)


class _Open:
    """A list or map that has not been closed yet."""

    def __init__(self, start: Any) -> None:
        self.start = start
        self.items: list[Node] = []
        self.entries: dict[str, Node] = {}
        self.key_lines: dict[str, int] = {}
        self.key: Node | None = None

    def closed(self) -> Node:
        """Return the finished node."""
        line = self.start.start_mark.line + 1
        children = self.entries.values() if _is_map(self.start) else self.items
        size = 1 + sum(child.size for child in children)
        if _is_map(self.start):
            return Node(self.entries, line, size, self.key_lines)
        return Node(tuple(self.items), line, size)


def _is_map(event: Any) -> bool:
    return isinstance(event, yaml.MappingStartEvent)


def _shown(node: Node) -> str:
    return "a list or map" if isinstance(node.value, tuple | dict) else shown(node.value)
