"""What running a paper's results again yields, and the papers by name."""

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
"""Called with what is being done, how much of it is done and how much there is."""

PAPERS = {
    "lau-3": "Lau 2009, chapter 3: behaviour planning",
    "lau-4.1": "Lau 2009, table 4.1: ways to grow a tree",
    "lau-4.2": "Lau 2009, table 4.2: a tree against A*",
    "lau-4.3": "Lau 2009, table 4.3: grids of several resolutions",
    "lau-5": "Lau 2009, chapter 5: variants of motion",
    "lau-6": "Lau 2009, chapter 6: crowds of clips and of their variants",
    "kovar": "Kovar, Gleicher and Pighin 2002: motion graphs",
    "snap": "Gleicher, Shin, Kovar and Jepsen 2003: snap-together motion",
}
"""Every result that is run again; `lau-3` is module `lau_3`, whose `run(progress, options)` makes the table."""


@dataclass(frozen=True)
class PaperOptions:
    """How results are run again."""

    library: str = "person"
    """Whose motion."""
    quick: bool = False
    """Few queries, to see that it works; the numbers mean little."""
    seed: int = 0
    """Of all that is random."""
    mocap: Path | None = None
    """Folder of captures to use, where a paper is about captures; else the library's motion."""


class Claim(NamedTuple):
    """Something that a paper says."""

    words: str
    holds: bool
    """Whether it is so here."""
    ours: bool = True
    """Whether we say so too, so that it must be."""

    @property
    def note(self) -> str:
        """In a line."""
        return f"{'holds' if self.holds else 'DOES NOT HOLD'}: {self.words}"


@dataclass(frozen=True)
class PaperTable:
    """A table of results beside what the paper says."""

    title: str
    rows: tuple[dict[str, Any], ...]
    """In words, for people; those of one part have the same keys."""
    notes: tuple[str, ...] = ()
    """What the paper reports, and what else was seen; one line each."""
    ok: bool = True
    """Whether what the paper claims holds here too."""
    parts: tuple[tuple[str, int], ...] = ()
    """Titles of the parts that the rows fall into, and how many rows each has; one part if there are none."""
    data: tuple[dict[str, Any], ...] = ()
    """One number of the table a row, beside the paper's, for programs; the rows themselves where it is left out."""
    charts: tuple[Chart, ...] = ()
    pictures: tuple[tuple[str, Callable[[], Image.Image]], ...] = ()
    """Names of further pictures, and what draws them."""

    @property
    def sections(self) -> list[tuple[str, list[dict[str, Any]]]]:
        """Title and rows of each part."""
        out, first = list[tuple[str, list[dict[str, Any]]]](), 0
        for title, count in self.parts or ((self.title, len(self.rows)),):
            out.append((title, [dict(row) for row in self.rows[first : first + count]]))
            first += count
        return out


def kept(claims: Iterable[Claim]) -> bool:
    """Whether all that we say holds."""
    return all(claim.holds for claim in claims if claim.ours)


def run_paper(name: str, progress: Progress | None = None, options: PaperOptions | None = None) -> PaperTable:
    """Run the results of a paper again.

    Raises:
        GaitwayError: if there is none of that name, or its library is not to be had.
    """
    if name not in PAPERS:
        raise GaitwayError(f"no paper '{name}'; there are {', '.join(PAPERS)}")
    module = import_module(f"gaitway.papers.{name.replace('-', '_').replace('.', '_')}")
    table: PaperTable = module.run(progress or (lambda what, done, total: None), options or PaperOptions())
    return table


def save_paper(name: str, table: PaperTable, folder: Path) -> tuple[Path, ...]:
    """Write a table as CSV, and its charts and pictures as PNG, into a folder, which is made if there is none.

    Charts are left out where matplotlib is not installed; `charts.can_draw` tells.
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
