"""`gaitway library`: what characters can do."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gaitway.cli.show import Json, check_output, out, progress, remark, rounded, say, show_json, show_rows

if TYPE_CHECKING:
    from gaitway.capture.report import ImportReport

library_app = typer.Typer(help="What characters can do.", no_args_is_help=True)


class Manner(StrEnum):
    """Whose motion a library is made of."""

    PLAIN = "plain"
    CARRY = "carry"


_TIMES = 4
"""Most reasons why parts of takes are not used that are printed."""
_REASONS = 12
"""Most reasons why files are not used that are printed."""


@library_app.command("list")
def library_list(as_json: Json = False) -> None:
    """List the built-in casts."""
    from gaitway.cast.catalog import cast_names

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
    from gaitway.capture.report import travel_turn_deg
    from gaitway.core import planar
    from gaitway.scene.characters import library_ref

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
                "turn_deg": rounded(travel_turn_deg(clip), 1),
                "obstacle": behavior.obstacle,
                "pass_time_s": None if behavior.pass_time is None else round(behavior.pass_time, 3),
            }
        )
    if as_json:
        show_json(facts)
    else:
        show_rows(f"{library.name}: {len(facts)} behaviours", [_behavior_row(fact) for fact in facts])
    if output is not None:
        from gaitway.render.sheets.library_sheet import library_sheet

        with progress(f"drawing {output.name}") as show:
            library_sheet(library, output, progress=show)
        remark(f"wrote {output}")


@library_app.command("import")
def library_import(
    folder: Annotated[Path, typer.Argument(help="Of BVH, AMC with ASF, or GLB files.")],
    output: Annotated[Path, typer.Option("--out", "-o", help="The library to write (.gwlib).")],
    name: Annotated[str | None, typer.Option(help="What to call it; the folder's name.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Files to use, such as '16_*'; may be given again.")] = None,
    mixed: Annotated[bool, typer.Option("--mixed", help="Put takes of several people on one skeleton.")] = False,
    make: Annotated[bool, typer.Option(help="Make what the capture lacks: starts, stops, turns.")] = True,
    clips: Annotated[int, typer.Option(min=1, max=100, help="Most clips of each behaviour.")] = 6,
    behaviors: Annotated[int, typer.Option(min=5, max=1000, help="Most behaviours.")] = 110,
    manner: Annotated[Manner, typer.Option(help="With free hands, or with an object in both hands.")] = Manner.PLAIN,
    overrides: Annotated[
        Path | None, typer.Option(help="What to decide otherwise; gaitway-import.yaml in the folder or beside it.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page with film strips into this folder.")] = None,
    as_json: Json = False,
) -> None:
    """Make a library of raw capture: cut, aligned, named, joined and checked; a planner can use it at once."""
    from gaitway.library.storage import SUFFIX, save_library

    check_output(output, SUFFIX)
    from gaitway.capture.importing import ImportOptions, import_library
    from gaitway.capture.takes import PrepareOptions

    options = ImportOptions(
        PrepareOptions(only=tuple(only or ()), overrides=overrides), mixed=mixed, clips=clips, behaviors=behaviors,
        make=make, manner=manner.value,
    )  # fmt: skip
    logging.getLogger("gaitway").setLevel(logging.WARNING)  # what readers decide about each file is in the report
    with progress("reading") as show:
        made = import_library(folder, name=name or output.stem, options=options, progress=show)
        save_library(made.library, output, {"report": made.report.to_dict()})
        page = None
        if report is not None:
            from gaitway.render.sheets.import_report import import_report

            page = import_report(made, report, progress=show)
    _show_import(made.report, output, page, as_json)


def _show_import(report: ImportReport, output: Path, page: Path | None, as_json: bool) -> None:
    if as_json:
        show_json(report.to_dict())
        return
    from gaitway.render.sheets.import_report import behavior_rows, summary

    rows = [{key: row[key] for key in row if key not in ("of", "made")} for row in behavior_rows(report)]
    for row, behavior in zip(rows, report.behaviors, strict=True):
        row["behaviour"] = f"{behavior.name}{' *' if behavior.made else ''}"
    show_rows(report.name, rows)
    if report.made:
        say("* made, for the capture has none; the report says how")
    say(summary(report))
    for line in (*_unused(report.dropped), *_unused_time(report)):
        say(line)
    for what, why in report.unusable:
        remark(f"found, not usable: {what}, because {why}", "yellow")
    for line in (*(f"the capture lacks: {what}" for what in report.missing), *report.warnings):
        remark(line, "yellow")
    say(f"wrote {output}" + (f" and {page}" if page is not None else ""))


def _unused(dropped: Sequence[tuple[str, str]]) -> list[str]:
    """One line for each reason why files are not used; of many files the first few are named."""
    files: dict[str, list[str]] = {}
    for file, why in dropped:
        files.setdefault(why, []).append(file)
    lines = [f"not used: {_few(names)}: {why}" for why, names in files.items()]
    more = len(lines) - _REASONS
    return lines if more <= 0 else [*lines[:_REASONS], f"... and {more} more reasons (--json lists every file)"]


def _unused_time(report: ImportReport) -> list[str]:
    """One line with the main reasons why parts of takes are not used."""
    reasons = [f"{seconds:.1f} s ({why})" for why, seconds in report.unused_seconds().items() if seconds >= 1.0]
    return [f"unused time: {', '.join(reasons[:_TIMES])}; --report tells it for every second"] if reasons else []


def _few(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} files ({', '.join(names[:3])}{' ...' * (len(names) > 3)})"


def _behavior_row(fact: dict[str, object]) -> dict[str, object]:
    """One behaviour in few enough columns for a terminal of 80."""
    passing = str(fact["obstacle"] or "")
    if fact["obstacle"] is not None and fact["pass_time_s"] is not None:
        passing = f"{passing} at {fact['pass_time_s']:.2f} s"
    return {
        "behaviour": fact["behavior"],
        "from > to": f"{fact['start']} > {fact['end']}",
        "s": f"{fact['seconds']:.2f}",
        "ahead": f"{fact['ahead_m']:z.2f}",
        "left": f"{fact['left_m']:z.2f}",
        "turn": f"{fact['turn_deg']:z.0f}",
        "passes": passing,
    }
