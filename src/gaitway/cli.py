"""The `gaitway` command. Each command imports what it needs when it runs, so that help and errors come at once."""

from __future__ import annotations

import json
import logging
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich import box
from rich.console import Console
from rich.logging import RichHandler
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from gaitway._version import __version__
from gaitway.errors import GaitwayError

if TYPE_CHECKING:
    from gaitway.motion import Clip

out = Console()
err = Console(stderr=True)

app = typer.Typer(
    help="Plan and synthesise full-body motion for crowds of virtual people.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)
clip_app = typer.Typer(help="Look at motion files and convert them.", no_args_is_help=True)
library_app = typer.Typer(help="What characters can do.", no_args_is_help=True)
app.add_typer(clip_app, name="clip")
app.add_typer(library_app, name="library")


def main() -> NoReturn:
    """Run the command line; wrong input ends in one line and exit code 2."""
    handler = RichHandler(console=err, show_time=False, show_level=False, show_path=False, markup=False)
    logging.basicConfig(level=logging.WARNING, format="%(message)s", handlers=[handler])
    logging.getLogger("gaitway").setLevel(logging.INFO)
    try:
        app()
    except GaitwayError as problem:
        err.print(f"error: {problem}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)
    except KeyboardInterrupt:
        err.print("interrupted", style="red")
        sys.exit(130)
    sys.exit(0)


def _show_version(wanted: bool) -> None:
    if wanted:
        out.print(f"gaitway {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    del version


@app.command()
def demo(
    folder: Annotated[Path, typer.Option("--out", "-o", help="Where to write.")] = Path("demo"),
    seed: Annotated[int, typer.Option(min=0, help="Other seed, other people.")] = 7,
    width: Annotated[int, typer.Option(min=160, max=3840, help="Picture width in pixels.")] = 1280,
) -> None:
    """Show the built-in cast: a picture, a film, and a BVH of one performance."""
    from gaitway.demo import run_demo

    with _progress() as bar:
        task = bar.add_task("starting", total=None)
        result = run_demo(
            folder,
            seed=seed,
            width=width,
            progress=lambda what, done, total: bar.update(task, description=what, completed=done, total=total),
        )
    for what, path in result.files.items():
        out.print(f"{what:<8} {path}", highlight=False, soft_wrap=True)
    compiled = f", of which {result.compile_s:.1f} s compiling (once on this machine)" if result.compile_s > 0 else ""
    out.print(f"done in {result.total_s:.1f} s{compiled}", highlight=False)


@clip_app.command("info")
def clip_info(
    file: Annotated[Path, typer.Argument(help="A .bvh, .amc (with its .asf), .gltf or .glb file.")],
    unit: Annotated[str | None, typer.Option(help="m, cm, mm, inch, cmu, or metres a file unit.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """Print what a motion file holds: rate, length, joints, roles, size."""
    import numpy as np

    from gaitway.motion.roles import ALL_ROLES

    clip = _load(file, unit)
    positions = clip.joint_positions()
    path = clip.planar_path()
    facts: dict[str, object] = {
        "file": str(file),
        "frames": len(clip),
        "fps": round(clip.fps, 6),
        "duration_s": round(clip.duration, 4),
        "joints": len(clip.skeleton),
        "height_m": round(float(np.median(np.ptp(positions[..., 2], axis=1))), 3),
        "path_m": round(float(np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1).sum()), 3),
        "turn_deg": round(float(np.degrees(path[-1, 2] - path[0, 2])), 1),
        "roles_missing": [r for r in ALL_ROLES if r not in clip.skeleton.roles],
        "joint_names": list(clip.skeleton.names),
    }
    _show_facts(facts, as_json)


@clip_app.command("draw")
def clip_draw(
    files: Annotated[list[Path], typer.Argument(help="Motion files, one row each.")],
    output: Annotated[Path, typer.Option("--out", "-o", help="A .png strip, or a .mp4 or .webp film.")],
    unit: Annotated[str | None, typer.Option(help="m, cm, mm, inch, cmu, or metres a file unit.")] = None,
    columns: Annotated[int, typer.Option(min=1, max=60, help="Figures in a row of the strip.")] = 12,
    view: Annotated[str, typer.Option(help="side, front, top, or an azimuth in degrees.")] = "side",
) -> None:
    """Draw motion files as a film strip or as a film."""
    from gaitway.render import film, filmstrip

    clips = [_load(file, unit) for file in files]
    if output.suffix.lower() == ".png":
        filmstrip(clips, output, columns=columns, view=_view(view))
    else:
        with _progress() as bar:
            task = bar.add_task(f"rendering {output.name}", total=None)
            film(clips, output, progress=lambda done, total: bar.update(task, completed=done, total=total))
    out.print(f"wrote {output}", highlight=False, soft_wrap=True)


@clip_app.command("convert")
def clip_convert(
    source: Annotated[Path, typer.Argument(help="File to read.")],
    target: Annotated[Path, typer.Argument(help="File to write; its ending chooses the format.")],
    unit: Annotated[str | None, typer.Option(help="Unit of the source: m, cm, mm, inch, cmu, or metres.")] = None,
    fps: Annotated[float | None, typer.Option(min=1.0, max=1000.0, help="Resample to this rate.")] = None,
) -> None:
    """Read one motion file and write it in another format."""
    from gaitway.motion.formats import save_clip

    clip = _load(source, unit, fps)
    save_clip(clip, target)
    out.print(f"wrote {target}: {len(clip)} frames at {clip.fps:g} Hz", highlight=False, soft_wrap=True)


@library_app.command("list")
def library_list(as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False) -> None:
    """List the built-in casts."""
    from gaitway.library.cast.catalog import cast_names

    names = list(cast_names())
    out.print_json(json.dumps(names)) if as_json else out.print("\n".join(names))


@library_app.command("show")
def library_show(
    name: Annotated[str, typer.Argument(help="A built-in cast: person, horse or skateboarder.")],
    output: Annotated[Path | None, typer.Option("--out", "-o", help="Draw graph and strips to this PNG.")] = None,
    style: Annotated[str | None, typer.Option(help="Whose body style; see the table's title for the names.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Draw of the takes.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """Print a library's behaviours; with -o, draw its graph and a film strip of every clip."""
    import numpy as np

    from gaitway import planar
    from gaitway.library.cast.catalog import load_cast

    library = load_cast(name, style=style, seed=seed)
    facts: list[dict[str, object]] = []
    for behavior in library.graph.behaviors:
        clip = library.clips[behavior.clips[0]]
        path = clip.planar_path()
        ahead, left, _ = (round(float(value), 3) for value in planar.relative(path[0], path[-1]))
        facts.append(
            {
                "behavior": behavior.name,
                "start": behavior.start,
                "end": behavior.end,
                "clips": list(behavior.clips),
                "seconds": round(clip.duration, 3),
                "ahead_m": ahead,
                "left_m": left,
                "turn_deg": round(float(np.degrees(path[-1, 2] - path[0, 2])), 1),
                "obstacle": behavior.obstacle,
                "pass_time_s": None if behavior.pass_time is None else round(behavior.pass_time, 3),
            }
        )
    if as_json:
        out.print_json(json.dumps(facts))
    else:
        _show_rows(f"{library.name}: {len(facts)} behaviours", [_behavior_row(fact) for fact in facts])
    if output is not None:
        from gaitway.render.library_sheet import library_sheet

        with err.status("drawing ..."):
            library_sheet(library, output)
        err.print(f"wrote {output}", highlight=False, soft_wrap=True)


@app.command()
def bench(
    name: Annotated[str | None, typer.Argument(help="Which benchmark; all if left out.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """Measure gaitway beside its peers, in one run on this machine."""
    from gaitway.bench import run_benches

    with err.status("measuring ..."):
        tables = run_benches(name)
    if as_json:
        out.print_json(json.dumps([table.as_dict() for table in tables]))
    for table in tables if not as_json else ():
        _show_rows(table.title, [{**row.as_dict()} for row in table.rows])
        out.print(table.machine, style="dim", highlight=False)
    if any(row.missed for table in tables for row in table.rows):
        raise typer.Exit(1)


def _behavior_row(fact: dict[str, object]) -> dict[str, object]:
    """One behaviour in few enough columns for a terminal of 80."""
    passing = "" if fact["obstacle"] is None else f"{fact['obstacle']} at {fact['pass_time_s']:.2f} s"
    return {
        "behaviour": fact["behavior"],
        "from > to": f"{fact['start']} > {fact['end']}",
        "s": f"{fact['seconds']:.2f}",
        "ahead": f"{fact['ahead_m']:.2f}",
        "left": f"{fact['left_m']:.2f}",
        "turn": f"{fact['turn_deg']:.0f}",
        "passes": passing,
    }


def _load(file: Path, unit: str | None, fps: float | None = None) -> Clip:
    from gaitway.motion.formats import load_clip

    return load_clip(file, unit=_number_or_word(unit), fps=fps)


def _number_or_word(text: str | None) -> str | float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _view(text: str) -> str | float:
    value = _number_or_word(text)
    if isinstance(value, float):
        return math.radians(value)
    if value in ("side", "front", "top"):
        return value
    raise GaitwayError(f"--view '{text}': write side, front, top or an azimuth in degrees")


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    return Progress(*columns, console=err, transient=True)


def _show_facts(facts: dict[str, object], as_json: bool) -> None:
    if as_json:
        out.print_json(json.dumps(facts))
        return
    table = Table(show_header=False, box=None)
    for key, value in facts.items():
        table.add_row(key.replace("_", " "), ", ".join(map(str, value)) if isinstance(value, list) else str(value))
    out.print(table)


def _show_rows(title: str, rows: list[dict[str, object]]) -> None:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for key in rows[0] if rows else ():
        numeric = all(str(row[key]).lstrip("-").replace(".", "", 1).isdigit() for row in rows)
        table.add_column(key, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    out.print(table)
