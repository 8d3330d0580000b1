"""`gaitway vary`: libraries with more clips of every behaviour than were captured."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gaitway.cli.show import Json, check_output, progress, remark, say, show_json, show_rows

if TYPE_CHECKING:
    from gaitway.variation.enriching import Enriched

_WORDS = {"whole": "whole body", "upper": "upper body only", "none": "nothing"}
"""Words for what varies."""


def vary(
    library: Annotated[str, typer.Argument(help="A built-in cast, or a .gwlib file.")],
    output: Annotated[Path, typer.Option("--out", "-o", help="The library with variants to write (.gwlib).")],
    count: Annotated[int, typer.Option(min=1, max=1000, help="Number of variants of each behaviour.")] = 12,
    behavior: Annotated[
        list[str] | None,
        typer.Option(
            "--behavior", "-b", help="Only this behaviour, or a pattern such as 'walk_*'; may be given several times."
        ),
    ] = None,
    takes: Annotated[int, typer.Option(min=1, max=64, help="Number of takes to learn from, of a built-in cast.")] = 4,
    gain: Annotated[float, typer.Option(help="How far variants go from the mean; 1 is as far as takes go.")] = 1.0,
    upper: Annotated[
        bool, typer.Option("--upper", help="Vary upper bodies only; legs and path stay the same.")
    ] = False,
    style: Annotated[str | None, typer.Option(help="Style of a built-in cast.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the takes of a cast, and of the variants.")] = 0,
    as_json: Json = False,
) -> None:
    """Learn how a library's behaviours vary, and add variants that begin and end as its own clips do."""
    from gaitway.cast.catalog import cast_names, load_cast
    from gaitway.library.storage import SUFFIX, save_library
    from gaitway.scene.characters import library_ref
    from gaitway.variation.enriching import EnrichOptions, enrich
    from gaitway.variation.tasks import LEAST_TAKES, chosen_names

    check_output(output, SUFFIX)
    options = EnrichOptions(count=count, seed=seed, gain=gain, upper=upper)
    if library in cast_names():
        if behavior:  # report a wrong name before takes are generated, which is slow the first time
            chosen_names(load_cast(library), behavior)
        loaded = load_cast(library, style=style, seed=seed, takes=takes)
    else:
        loaded = library_ref(library, style, seed).load()
    with progress("reading takes") as show:
        done = enrich(loaded, options, behavior, show)
    facts = {"varied": library, "count": count, "gain": gain, "seed": seed, "added": done.added}
    save_library(done.library, output, facts)
    if as_json:
        show_json([asdict(row) | {"refused": dict(row.refused)} for row in done.rows])
    else:
        _show(loaded.name, done)
        if library not in cast_names() and any(row.takes < LEAST_TAKES for row in done.rows):
            say(f"whole bodies vary with {LEAST_TAKES} takes; 'gaitway library import --clips 12' keeps more of them")
    for note in dict.fromkeys(note for row in done.rows for note in row.notes):
        remark(f"note: {note}")
    remark(f"wrote {output}")


def _show(name: str, done: Enriched) -> None:
    """Show a table of behaviours, and explain it without terms of networks."""
    rows: list[dict[str, object]] = [
        {
            "behaviour": row.behavior,
            "takes": row.takes,
            "added": row.added,
            "unlike_deg": round(row.unlike_deg, 1),
            "what varies": _WORDS[row.method],
            "refused": ", ".join(f"{number} x {fault}" for fault, number in row.refused),
        }
        for row in done.rows
    ]
    show_rows(f"{name}: {done.added} variants added", rows)
    for (method, why), count in Counter((row.method, row.why) for row in done.rows if row.why).most_common():
        say(f"{_WORDS[method]} ({count} behaviour{'s' if count > 1 else ''}): {why}")
    say("unlike_deg: how much joints differ from those of the most similar take, median of the variants [degrees]")
