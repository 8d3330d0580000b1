"""`gaitway papers`: results of papers, run again."""

from __future__ import annotations

from typing import Annotated

import typer

from gaitway.cli.show import Json, progress, say, show_json, show_rows


def papers(
    name: Annotated[str | None, typer.Argument(help="Which; all that there are if left out.")] = None,
    as_json: Json = False,
) -> None:
    """Run the results of a paper again; 1 if what it claims does not hold here."""
    from gaitway.papers import PAPERS, run_paper

    tables = []
    for chosen in [name] if name is not None else PAPERS:
        with progress(chosen) as show:
            tables.append(run_paper(chosen, show))
    if as_json:
        show_json([{"title": t.title, "rows": list(t.rows), "notes": list(t.notes), "ok": t.ok} for t in tables])
    for table in tables if not as_json else ():
        show_rows(table.title, [dict(row) for row in table.rows])
        for note in table.notes:
            say(note)
    if not all(table.ok for table in tables):
        raise typer.Exit(1)
