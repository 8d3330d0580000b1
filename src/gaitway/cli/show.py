"""How commands speak: tables, facts, JSON, progress, and what is checked before any work is done."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gaitway.core.errors import GaitwayError
from gaitway.core.files import check_writable
from gaitway.core.warming import watch

Show = Callable[[str, int, int | None], None]
"""Tells a progress bar what is being done, how much of it, and of how much."""
Json = Annotated[bool, typer.Option("--json", help="Machine-readable.")]

_WORD = 14
"""Words that are no longer than this are not broken."""
_WHOLE = 32
"""Names in the first column that are no longer than this are not broken."""

out = Console(emoji=False)
err = Console(stderr=True, emoji=False)


def plain(text: str) -> str:
    """Text in one line of which a terminal shows every character: what is not printable is escaped.

    Names and paths come from files. A terminal would obey the escape codes in them.
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def say(text: str) -> None:
    """One line of result, as it is."""
    out.print(plain(text), markup=False, highlight=False, soft_wrap=True)


def remark(text: str, style: str | None = None) -> None:
    """One line on stderr, as it is."""
    err.print(plain(text), style=style, markup=False, highlight=False, soft_wrap=True)


def check_output(path: Path, *endings: str) -> None:
    """Refuse a file that cannot be written before any work is done for it."""
    if path.suffix.lower() not in endings:
        raise GaitwayError(f"{path}: the output's name must end in {' or '.join(endings)}")
    check_writable(path)


def rounded(value: float, digits: int) -> float:
    """A rounded number that is never minus zero."""
    return round(float(value), digits) + 0.0


@contextmanager
def progress(what: str) -> Iterator[Show]:
    """A progress bar on a terminal, and nothing where stderr is a file; yields f(what, done, total)."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(plain(what), total=None)
        compiling = bar.add_task("compiling for this machine, once", visible=False)
        watch(lambda ready, total: bar.update(compiling, completed=ready, total=total, visible=ready < total))
        try:
            yield lambda what, done, total: bar.update(task, description=plain(what), completed=done, total=total)
        finally:
            watch(None)


def show_json(data: object) -> None:
    """Print data for programs."""
    out.print_json(json.dumps(data), ensure_ascii=True)


def show_facts(facts: dict[str, object], as_json: bool) -> None:
    """Print names and values, one a line."""
    if as_json:
        show_json(facts)
        return
    table = Table(show_header=False, box=None)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for key, value in facts.items():
        words = (", ".join(map(str, value)) or "none") if isinstance(value, list) else str(value)
        table.add_row(Text(plain(key.replace("_", " "))), Text(plain(words)))
    out.print(table)


def show_rows(title: str, rows: list[dict[str, object]]) -> None:
    """Print a table; in a narrow terminal words wrap between words, and names and numbers stay whole."""
    table = Table(title=Text(plain(title)), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0))
    for number, key in enumerate(rows[0] if rows else ()):
        numeric = all(str(row[key]).lstrip("-").replace(".", "", 1).isdigit() for row in rows)
        justify: Literal["right", "left"] = "right" if numeric else "left"
        whole = numeric or (number == 0 and max(len(str(row[key])) for row in rows) <= _WHOLE)
        words = [word for row in rows for word in plain(str(row[key])).split()]
        least = min(max(map(len, words), default=0), _WORD)
        table.add_column(Text(plain(key)), justify=justify, overflow="fold", no_wrap=whole, min_width=least)
    for row in rows:
        table.add_row(*(Text(plain(str(value))) for value in row.values()))
    out.print(table)
