"""`gaitway vary`: libraries with more clips of every behaviour than were captured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gaitway.cli.show import Json, check_output, err, progress, say, show_json, show_rows


def vary(
    library: Annotated[str, typer.Argument(help="A built-in cast, or a .gwlib file.")],
    output: Annotated[Path, typer.Option("--out", "-o", help="The library with variants (.gwlib).")],
    count: Annotated[int, typer.Option(min=1, max=1000, help="Variants of each behaviour.")] = 12,
    behavior: Annotated[
        list[str] | None, typer.Option("--behavior", "-b", help="Only this one; may be given more than once.")
    ] = None,
    takes: Annotated[int, typer.Option(min=1, max=64, help="Takes of a cast to learn from.")] = 4,
    gain: Annotated[float, typer.Option(help="How far from the mean; 1 is as far as takes are.")] = 1.0,
    upper: Annotated[bool, typer.Option("--upper", help="Vary upper bodies only; legs and path stay.")] = False,
    style: Annotated[str | None, typer.Option(help="Whose manner, of a cast.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of takes and variants.")] = 0,
    as_json: Json = False,
) -> None:
    """Learn how a library's behaviours vary, and add variants that begin and end as its own clips do."""
    from gaitway.library.cast.catalog import cast_names, load_cast
    from gaitway.library.storage import SUFFIX, save_library
    from gaitway.scene.libraries import library_ref
    from gaitway.variation.enrich import EnrichOptions, enrich

    check_output(output, SUFFIX)
    options = EnrichOptions(count=count, seed=seed, gain=gain, upper=upper)
    if library in cast_names():
        loaded = load_cast(library, style=style, seed=seed, takes=takes)
    else:
        loaded = library_ref(library, style, seed).load()
    with progress("learning") as show:
        done = enrich(loaded, options, behavior, show)
    facts = {"varied": library, "count": count, "gain": gain, "seed": seed, "added": done.added}
    save_library(done.library, output, facts)
    rows: list[dict[str, object]] = [
        {
            "behaviour": row.behavior,
            "takes": row.takes,
            "added": row.added,
            "how": row.method,
            "unlike_deg": round(row.unlike_deg, 1),
            "refused": ", ".join(f"{number} x {fault}" for fault, number in row.refused),
        }
        for row in done.rows
    ]
    if as_json:
        show_json(rows)
    else:
        show_rows(f"{loaded.name}: {done.added} variants added", rows)
        say("unlike_deg: how much joints differ from those of the most alike take, median of the variants [degrees]")
    err.print(f"wrote {output}", markup=False, highlight=False, soft_wrap=True)
