"""What is wrong with a scene, and where."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gaitway.core.errors import FormatError, SceneError

Place = tuple[str | int, ...]
"""Keys and indices from the top of a file: `("characters", 3, "goal")`."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong; `str(problem)` is the line that people read."""

    place: str
    """Path in the file, such as `characters[3].goal`; empty for the file as a whole."""
    text: str
    """What is wrong, with the value, and what to write instead."""
    file: Path | None = None
    """None where the scene does not come from a file."""
    line: int | None = None
    warning: bool = False
    """It can be loaded all the same, but is hardly what was meant."""

    def __str__(self) -> str:
        where = "" if self.file is None else f"{self.file}:" if self.line is None else f"{self.file}:{self.line}:"
        parts = [where, f"{self.place}:" if self.place else "", "warning:" if self.warning else "", self.text]
        return " ".join(part for part in parts if part)


def scene_error(problems: Sequence[Problem]) -> SceneError:
    """The first of some problems as an exception, which says how many more there are."""
    more = len(problems) - 1
    others = f" (and {more} more problem{'s' if more > 1 else ''})" if more else ""
    return SceneError(f"{problems[0]}{others}")


def file_problem(error: FormatError) -> Problem:
    """What is wrong with a file as a whole, or with its YAML."""
    place = f"{error.path}:{error.line}: " if error.line is not None else f"{error.path}: "
    return Problem("", str(error).removeprefix(place), error.path, error.line)


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """File by file as they come up, and in each from top to bottom."""
    given = list(problems)
    files = list(dict.fromkeys(problem.file for problem in given))
    return sorted(given, key=lambda problem: (files.index(problem.file), problem.line or 0))


def place_text(place: Iterable[str | int]) -> str:
    """A place as people write it: `characters[3].goal`."""
    out = ""
    for step in place:
        if isinstance(step, int):
            out += f"[{step}]"
        else:
            word = step if step.isidentifier() and len(step) <= 60 else shown(step)
            out += f".{word}" if out else word
    return out


def shown(value: Any, longest: int = 60) -> str:
    """A value as it would be written in a scene file, cut short where it is long; control characters are escaped."""
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
