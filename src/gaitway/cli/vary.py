"""`gaitway vary`: libraries with more clips of every behaviour than were captured."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gaitway.cli.show import Json, check_output, err, progress, say, show_json, show_rows

if TYPE_CHECKING:
    from gaitway.variation.enriching import Enriched

_WORDS = {"whole": "whole body", "upper": "upper body only", "none": "nothing"}
"""What varies, as people say it."""


def vary(
    library: Annotated[str, typer.Argument(help="A built-in cast, or a .gwlib file.")],
    output: Annotated[Path, typer.Option("--out", "-o", help="The library with variants (.gwlib).")],
    count: Annotated[int, typer.Option(min=1, max=1000, help="Variants of each behaviour.")] = 12,
    behavior: Annotated[
        list[str] | None,
        typer.Option("--behavior", "-b", help="Only this one, or those like 'walk_*'; may be given again."),
    ] = None,
    takes: Annotated[int, typer.Option(min=1, max=64, help="Takes of a cast to learn from.")] = 4,
    gain: Annotated[float, typer.Option(help="How far from the mean; 1 is as far as takes are.")] = 1.0,
    upper: Annotated[bool, typer.Option("--upper", help="Vary upper bodies only; legs and path stay.")] = False,
    style: Annotated[str | None, typer.Option(help="Whose manner, of a cast.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of takes and variants.")] = 0,
    as_json: Json = False,
) -> None:
    """Learn how a library's behaviours vary, and add variants that begin and end as its own clips do."""
    from gaitway.cast.catalog import cast_names, load_cast
    from gaitway.library.storage import SUFFIX, save_library
    from gaitway.scene.libraries import library_ref
    from gaitway.variation.enriching import EnrichOptions, enrich
    from gaitway.variation.tasks import LEAST_TAKES, chosen_names

    check_output(output, SUFFIX)
    options = EnrichOptions(count=count, seed=seed, gain=gain, upper=upper)
    if library in cast_names():
        if behavior:  # a wrong name is said before takes are generated, which takes long the first time
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
        err.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)
    err.print(f"wrote {output}", markup=False, highlight=False, soft_wrap=True)


def _show(name: str, done: Enriched) -> None:
    """A table of behaviours and what it means, in words that need no knowledge of networks."""
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
    say("unlike_deg: how much joints differ from those of the most alike take, median of the variants [degrees]")
