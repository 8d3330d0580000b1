"""`gaitway animate`: full bodies for trajectories."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gaitway.cli.show import Json, check_output, progress, remark, say, show_json
from gaitway.cli.takes import SceneOption, read_scene

if TYPE_CHECKING:
    from gaitway.crowd.tracks.reading import TracksRead
    from gaitway.take import Take


def animate(
    tracks: Annotated[
        Path,
        typer.Argument(
            help="A trajectory table: CSV or Parquet with id, frame or time, x and y; text of PedPy and Juelich's "
            "archive; or JuPedSim's SQLite."
        ),
    ],
    output: Annotated[Path, typer.Option("--out", "-o", help="The take to write (.npz).")],
    library: Annotated[str, typer.Option(help="Whose motion: a built-in cast or a .gwlib file.")] = "person",
    seed: Annotated[int, typer.Option(min=0, help="Other seed, other people on the same tracks.")] = 0,
    unit: Annotated[str | None, typer.Option(help="Unit of the file: m, cm or mm; what it tells.")] = None,
    fps: Annotated[float | None, typer.Option(help="Frames a second of the file; what it tells.")] = None,
    rate: Annotated[float, typer.Option(min=1.0, max=1000.0, help="Frames a second of the take.")] = 30.0,
    begin: Annotated[float, typer.Option("--from", min=0.0, help="Time at which it begins, in seconds.")] = 0.0,
    until: Annotated[float | None, typer.Option(min=0.0, help="Time at which it ends, in seconds; the end.")] = None,
    people: Annotated[str | None, typer.Option(help="Only these: names and ranges of numbers, such as 3,8-20.")] = None,
    heads: Annotated[
        bool | None,
        typer.Option(
            "--heads/--no-heads",
            help="Whether heads were tracked, whose sway is removed; yes, unless simulated.",
        ),
    ] = None,
    most_gap: Annotated[
        float, typer.Option("--gap", min=0.0, max=60.0, help="Longest gap in a track that is filled, in seconds.")
    ] = 1.0,
    scene: SceneOption = None,
    as_json: Json = False,
) -> None:
    """Turn tracked or simulated people into full bodies that walk the same way."""
    check_output(output, ".npz")
    from gaitway.crowd.animating import animate as animated
    from gaitway.crowd.tracks import read_tracks
    from gaitway.take import save_take

    options: dict[str, Any] = {"unit": unit, "fps": fps, "heads": heads, "most_gap": most_gap}
    place, began = read_scene(scene), time.perf_counter()
    read = read_tracks(tracks, **options, begin=begin, until=until, people=people)
    if not as_json:
        first, *rest = read.lines()
        say(first)
        for line in rest:
            remark(f"note: {line}")
    facts = (
        {}
        if place is None
        else {"scene": place.path.name if place.path else place.title, "world_hash": place.world_hash}
    )
    with progress("bodies") as show:
        take = animated(read, library, seed=seed, rate=rate, facts=facts, progress=show)
        save_take(take, output)
    seconds = time.perf_counter() - began
    if as_json:
        show_json(_facts(read, take, output, seconds))
    else:
        say(f"wrote {output}: {len(take)} people, {take.duration:.4g} s at {take.fps:g} Hz, in {seconds:.1f} s")


def _facts(read: TracksRead, take: Take, output: Path, seconds: float) -> dict[str, Any]:
    return {
        "take": str(output),
        "tracks": read.facts(),
        "characters": len(take),
        "names": list(take.names),
        "duration_s": round(take.duration, 4),
        "fps": take.fps,
        "took_s": round(seconds, 3),
    }
