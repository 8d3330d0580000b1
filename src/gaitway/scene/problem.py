"""Problems of scene files: the place, what is wrong, and what to write instead."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gaitway.core.errors import FormatError, SceneError

Place = tuple[str | int, ...]
"""A place in a file: keys and indices from its top, such as `("characters", 3, "goal")`."""


@dataclass(frozen=True)
class Problem:
    """One problem; `str(problem)` is the line that users read."""

    place: str
    """Path in the file, such as `characters[3].goal`; empty for the file as a whole."""
    text: str
    """What is wrong, with the value, and what to write instead."""
    file: Path | None = None
    """File of the scene; None if the scene does not come from a file."""
    line: int | None = None
    warning: bool = False
    """Whether the scene can be loaded all the same, but is probably not what the user meant."""

    def __str__(self) -> str:
        where = "" if self.file is None else f"{self.file}:" if self.line is None else f"{self.file}:{self.line}:"
        parts = [where, f"{self.place}:" if self.place else "", "warning:" if self.warning else "", self.text]
        return " ".join(part for part in parts if part)


def scene_error(problems: Sequence[Problem]) -> SceneError:
    """Return an exception with the first of some problems and the number of the others."""
    more = len(problems) - 1
    others = f" (and {more} more problem{'s' if more > 1 else ''})" if more else ""
    return SceneError(f"{problems[0]}{others}")


def file_problem(error: FormatError) -> Problem:
    """Return the problem of a file as a whole, or of its YAML."""
    place = f"{error.path}:{error.line}: " if error.line is not None else f"{error.path}: "
    return Problem("", str(error).removeprefix(place), error.path, error.line)


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Return problems file by file, in the order in which the files come up, and in each file from top to bottom."""
    given = list(problems)
    files = list(dict.fromkeys(problem.file for problem in given))
    return sorted(given, key=lambda problem: (files.index(problem.file), problem.line or 0))


def place_text(place: Iterable[str | int]) -> str:
    """Return a place as text: `characters[3].goal`."""
    out = ""
    for step in place:
        if isinstance(step, int):
            out += f"[{step}]"
        else:
            word = step if step.isidentifier() and len(step) <= 60 else shown(step)
            out += f".{word}" if out else word
    return out


def shown(value: Any, longest: int = 60) -> str:
    """Return a value as a scene file would have it, shortened if it is long; control characters are escaped."""
    text = _flow(value, 0)
    return text if len(text) <= longest else text[: longest - 3] + "..."


def _flow(value: Any, depth: int) -> str:
    if depth > 4:
        return "..."
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_flow(v, depth + 1)}" for k, v in list(value.items())[:20]) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(v, depth + 1) for v in value[:20]) + "]"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "nothing"}[value]
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**40 else "a number of more than 40 digits"
    return "'" + json.dumps(str(value)[:200], ensure_ascii=not str(value).isprintable())[1:-1] + "'"
