"""What running a paper's results again yields, and the papers by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from gaitway.errors import GaitwayError

Progress = Callable[[str, int, int | None], None]
"""Called with what is being done, how much of it is done and how much there is."""

PAPERS = {"lau-3": "Lau 2009, chapter 3: behaviour planning"}
"""Every result that is run again; `lau-3` is module `lau_3`, whose `run(progress)` makes the table."""


@dataclass(frozen=True)
class PaperTable:
    """A table of results beside what the paper says."""

    title: str
    rows: tuple[dict[str, Any], ...]
    notes: tuple[str, ...] = ()
    """What the paper reports, and what else was seen; one line each."""
    ok: bool = True
    """Whether what the paper claims holds here too."""


def run_paper(name: str, progress: Progress | None = None) -> PaperTable:
    """Run the results of a paper again.

    Raises:
        GaitwayError: if there is none of that name.
    """
    if name not in PAPERS:
        raise GaitwayError(f"no paper '{name}'; there are {', '.join(PAPERS)}")
    table: PaperTable = import_module(f"gaitway.papers.{name.replace('-', '_')}").run(
        progress or (lambda what, done, total: None)
    )
    return table
