"""`gaitway library`: what characters can do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gaitway.cli.show import Json, check_output, err, out, progress, rounded, show_json, show_rows

library_app = typer.Typer(help="What characters can do.", no_args_is_help=True)


@library_app.command("list")
def library_list(as_json: Json = False) -> None:
    """List the built-in casts."""
    from gaitway.library.cast.catalog import cast_names

    names = list(cast_names())
    if as_json:
        show_json(names)
    else:
        out.print("\n".join(names))


@library_app.command("show")
def library_show(
    name: Annotated[str, typer.Argument(metavar="LIBRARY", help="A built-in cast, or a .gwlib file.")],
    output: Annotated[Path | None, typer.Option("--out", "-o", help="Draw graph and strips to this PNG.")] = None,
    style: Annotated[str | None, typer.Option(help="Whose manner: neutral, style-1 to style-8, or a number.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Draw of the takes.")] = 0,
    as_json: Json = False,
) -> None:
    """Print a library's behaviours; with -o, draw its graph and a film strip of every clip."""
    import numpy as np

    from gaitway import planar
    from gaitway.scene.libraries import library_ref

    if output is not None:
        check_output(output, ".png")
    library = library_ref(name, style, seed).load()
    facts: list[dict[str, object]] = []
    for behavior in library.graph.behaviors:
        clip = library.clips[behavior.clips[0]]
        path = clip.planar_path()
        ahead, left, _ = (rounded(value, 3) for value in planar.relative(path[0], path[-1]))
        facts.append(
            {
                "behavior": behavior.name,
                "start": behavior.start,
                "end": behavior.end,
                "clips": list(behavior.clips),
                "seconds": round(clip.duration, 3),
                "ahead_m": ahead,
                "left_m": left,
                "turn_deg": rounded(np.degrees(path[-1, 2] - path[0, 2]), 1),
                "obstacle": behavior.obstacle,
                "pass_time_s": None if behavior.pass_time is None else round(behavior.pass_time, 3),
            }
        )
    if as_json:
        show_json(facts)
    else:
        show_rows(f"{library.name}: {len(facts)} behaviours", [_behavior_row(fact) for fact in facts])
    if output is not None:
        from gaitway.render.library_sheet import library_sheet

        with progress(f"drawing {output.name}") as show:
            library_sheet(library, output, progress=lambda done, total: show(f"drawing {output.name}", done, total))
        err.print(f"wrote {output}", markup=False, highlight=False, soft_wrap=True)


def _behavior_row(fact: dict[str, object]) -> dict[str, object]:
    """One behaviour in few enough columns for a terminal of 80."""
    passing = "" if fact["obstacle"] is None else f"{fact['obstacle']} at {fact['pass_time_s']:.2f} s"
    return {
        "behaviour": fact["behavior"],
        "from > to": f"{fact['start']} > {fact['end']}",
        "s": f"{fact['seconds']:.2f}",
        "ahead": f"{fact['ahead_m']:z.2f}",
        "left": f"{fact['left_m']:z.2f}",
        "turn": f"{fact['turn_deg']:z.0f}",
        "passes": passing,
    }
