"""Tables of computed results beside those of the papers, and the list of papers by name."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from gaitway.core.errors import GaitwayError
from gaitway.papers.charts import Chart, can_draw, draw_chart

Progress = Callable[[str, int, int | None], None]
"""Function that is called with the current task, the finished amount, and the total amount or None."""

PAPERS = {
    "lau-3": "Lau 2009, chapter 3: behaviour planning",
    "lau-4.1": "Lau 2009, table 4.1: ways to grow a tree",
    "lau-4.2": "Lau 2009, table 4.2: a tree against A*",
    "lau-4.3": "Lau 2009, table 4.3: grids of several resolutions",
    "lau-5": "Lau 2009, chapter 5: variants of motion",
    "lau-6": "Lau 2009, chapter 6: crowds of clips and of their variants",
    "kovar": "Kovar, Gleicher and Pighin 2002: motion graphs",
    "snap": "Gleicher, Shin, Kovar and Jepsen 2003: snap-together motion",
    "choi": "Choi, Kim, Hyun and Lee 2011: deformable motion",
    "shapiro": "Shapiro, Kallmann and Faloutsos 2007: motion correction",
    "kallmann": "Kallmann, Aubel, Abaci and Thalmann 2003: reaching roadmaps",
    "juelich": "Juelich's archive: real people beside simulations of them",
}
"""Names and titles of all results. The module of `lau-3` is `lau_3`; its `run(progress, options)` makes the table."""


@dataclass(frozen=True)
class PaperOptions:
    """Options of a run."""

    library: str = "person"
    """Name of the library whose motion is used."""
    quick: bool = False
    """Whether to run only a few queries, to see that the code works; the numbers then mean little."""
    seed: int = 0
    """Seed of all random choices."""
    mocap: Path | None = None
    """Folder of captures, for papers about captures. Without it, the library's motion is used."""
    pedestrians: Path | None = None
    """Folder of experiments with people, for `juelich`. Without it, `../shared/pedestrians` is used if it is there."""


class Claim(NamedTuple):
    """A statement of a paper."""

    words: str
    holds: bool
    """Whether the statement is true here."""
    ours: bool = True
    """Whether gaitway makes the same statement, so that it must be true."""

    @property
    def note(self) -> str:
        """One line of text; what gaitway does not claim, such as in a quick run, cannot fail."""
        verdict = "holds" if self.holds else "DOES NOT HOLD" if self.ours else "not so here, and not claimed"
        return f"{verdict}: {self.words}"


@dataclass(frozen=True)
class PaperTable:
    """A table of results beside those of the paper."""

    title: str
    rows: tuple[dict[str, Any], ...]
    """Rows as text for readers; the rows of one part have the same keys."""
    notes: tuple[str, ...] = ()
    """Notes about what the paper reports and what else was found; one line each."""
    ok: bool = True
    """Whether the claims of the paper that gaitway makes too are true here."""
    parts: tuple[tuple[str, int], ...] = ()
    """Title and number of rows of each part of the table; empty if there is only one part."""
    data: tuple[dict[str, Any], ...] = ()
    """Rows for programs, each with one number and that of the paper; if empty, `rows` is used instead."""
    charts: tuple[Chart, ...] = ()
    pictures: tuple[tuple[str, Callable[[], Image.Image]], ...] = ()
    """Names of further pictures, and the functions that draw them."""

    @property
    def sections(self) -> list[tuple[str, list[dict[str, Any]]]]:
        """Title and rows of each part."""
        out, first = list[tuple[str, list[dict[str, Any]]]](), 0
        for title, count in self.parts or ((self.title, len(self.rows)),):
            out.append((title, [dict(row) for row in self.rows[first : first + count]]))
            first += count
        return out


def kept(claims: Iterable[Claim]) -> bool:
    """Return whether all statements that gaitway makes too are true."""
    return all(claim.holds for claim in claims if claim.ours)


def run_paper(name: str, progress: Progress | None = None, options: PaperOptions | None = None) -> PaperTable:
    """Compute the results of a paper again.

    Raises:
        GaitwayError: if there is no paper of that name, or its library cannot be loaded.
    """
    if name not in PAPERS:
        raise GaitwayError(f"no paper '{name}'; there are {', '.join(PAPERS)}")
    module = import_module(f"gaitway.papers.{name.replace('-', '_').replace('.', '_')}")
    table: PaperTable = module.run(progress or (lambda what, done, total: None), options or PaperOptions())
    return table


def save_paper(name: str, table: PaperTable, folder: Path) -> tuple[Path, ...]:
    """Write a table as CSV, and its charts and pictures as PNG, into a folder; the folder is made if necessary.

    Charts are left out if matplotlib is not installed, see `charts.can_draw`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path, rows = folder / f"{name}.csv", table.data or table.rows
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else [])
        writer.writeheader()
        writer.writerows(rows)
    written = [path]
    charts = table.charts if can_draw() else ()
    drawn: list[tuple[str, Callable[[], Image.Image]]] = [(c.name, partial(draw_chart, c)) for c in charts]
    for what, draw in [*drawn, *table.pictures]:
        written.append(folder / f"{name}-{what}.png")
        draw().save(written[-1])
    return tuple(written)
