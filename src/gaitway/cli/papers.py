"""`gaitway papers`: results of papers, run again."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from gaitway.cli.show import Json, progress, remark, say, show_json, show_rows
from gaitway.core.errors import MissingExtraError


def papers(
    name: Annotated[
        str | None,
        typer.Argument(
            help="lau-3, lau-4.1, lau-4.2, lau-4.3, lau-5, lau-6, kovar, snap, choi, shapiro, kallmann or juelich; "
            "all of them if left out."
        ),
    ] = None,
    library: Annotated[
        str, typer.Option(help="Whose motion trees are grown of, and graphs without --mocap.")
    ] = "person",
    mocap: Annotated[Path | None, typer.Option(help="Folder of captures for kovar, snap, shapiro and lau-5.")] = None,
    pedestrians: Annotated[Path | None, typer.Option(help="Folder of experiments with people for juelich.")] = None,
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder to write each table (CSV) and its charts (PNG) to.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of random queries and trees.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Few queries: to see that it works.")] = False,
    as_json: Json = False,
) -> None:
    """Run the results of a paper again; 1 if what it claims does not hold here."""
    from gaitway.papers import PAPERS, PaperOptions, run_paper, save_paper
    from gaitway.papers.charts import can_draw

    if mocap is not None:
        logging.getLogger("gaitway").setLevel(logging.WARNING)  # what readers decide about each file is not asked for
    options, tables = PaperOptions(library, quick, seed, mocap, pedestrians), []
    for chosen in [name] if name is not None else PAPERS:
        with progress(chosen) as show:
            table = run_paper(chosen, show, options)
        tables.append(table)
        if not as_json:
            if table.parts:
                say(table.title)
            for title, rows in table.sections:
                show_rows(title, rows)
            for note in table.notes:
                say(note)
        if output is not None and table.charts and not can_draw():
            remark(str(MissingExtraError("drawing charts", "plot")))
        for path in save_paper(chosen, table, output) if output is not None else ():
            remark(f"wrote {path}")
    if quick and not as_json:
        say("a quick run has too few queries to judge every claim; without --quick they are all judged")
    if as_json:
        show_json(
            [{"title": t.title, "rows": list(t.data or t.rows), "notes": list(t.notes), "ok": t.ok} for t in tables]
        )
    if not all(table.ok for table in tables):
        raise typer.Exit(1)
