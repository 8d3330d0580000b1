"""The `gaitway` command. Each command imports what it needs when it runs, so that help and errors come at once."""

from __future__ import annotations

import json
import logging
import math
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, cast

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from gaitway._version import __version__
from gaitway.errors import GaitwayError
from gaitway.files import check_writable

if TYPE_CHECKING:
    from gaitway.motion import Clip
    from gaitway.motion.formats import LoadReport

_Show = Callable[[str, int, int | None], None]

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


_UsageError = cast("type[Exception]", typer.BadParameter.__base__)
"""What Typer raises for every wrong option or argument. The class has another home in each of its versions."""

Unit = Annotated[str | None, typer.Option(help="The file's unit: m, cm, mm, inch, cmu, or metres; judged if left out.")]
Up = Annotated[str | None, typer.Option(help="The file's vertical axis: x, y or z; judged if left out.")]
KeepTpose = Annotated[bool, typer.Option("--keep-tpose", help="Keep a converter's T-pose in the first frame.")]
Asf = Annotated[Path | None, typer.Option(help="Skeleton of an .amc file, if it is not beside it.")]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable.")]


def main() -> NoReturn:
    """Run the command line; wrong input ends in one line and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        cast("Any", stream).reconfigure(errors="backslashreplace")  # file names need not be text
    handler = _LogHandler()
    logging.basicConfig(level=logging.WARNING, format="%(message)s", handlers=[handler])
    logging.getLogger("gaitway").setLevel(logging.INFO)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # so that unfinished files are removed
    try:
        code = _run()
    except KeyboardInterrupt:
        code = 130
    if code == 130:
        err.print("interrupted", style="red")
    sys.exit(code)


def _run() -> int:
    try:
        code = int(app(standalone_mode=False) or 0)
        sys.stdout.flush()  # a full disk or a closed pipe shows here, not while Python shuts down
        return code
    except typer.Abort:
        return 130
    except GaitwayError as problem:
        _say_error(str(problem))
    except _UsageError as problem:
        _say_usage_error(problem)
    except BrokenPipeError:  # whoever read the output has seen enough
        _drop_output()
        return 1
    except OSError as problem:
        _drop_output()
        _say_error(f"{problem.filename or 'output'}: {problem.strerror or problem}")
    return 2


def _drop_output() -> None:
    """What could not be printed must not be tried again when Python shuts down."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say_error(message: str) -> None:
    err.print(f"error: {message}", style="red", markup=False, highlight=False, soft_wrap=True)


def _say_usage_error(problem: Exception) -> None:
    """One line for a wrong option; a command without any arguments shows its help."""
    if type(problem).__name__ == "NoArgsIsHelpError":  # Typer has printed the help while it made this error
        return
    context = getattr(problem, "ctx", None)
    message = cast("Any", problem).format_message().rstrip(".")
    _say_error(f"{message}; see '{context.command_path} --help'" if context is not None else message)


class _LogHandler(logging.Handler):
    """Shows what readers decided, one line each, above any progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        err.print(self.format(record), markup=False, highlight=False, soft_wrap=True)


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

    with _progress("starting") as show:
        result = run_demo(folder, seed=seed, width=width, progress=show)
    for what, path in result.files.items():
        out.print(f"{what:<8} {path}", markup=False, highlight=False, soft_wrap=True)
    compiled = f", of which {result.compile_s:.1f} s compiling (once on this machine)" if result.compile_s > 0 else ""
    out.print(f"done in {result.total_s:.1f} s{compiled}", highlight=False)


@clip_app.command("info")
def clip_info(
    file: Annotated[Path, typer.Argument(help="A .bvh, .amc (with its .asf), .gltf or .glb file.")],
    unit: Unit = None,
    up: Up = None,
    keep_tpose: KeepTpose = False,
    asf: Asf = None,
    as_json: Json = False,
) -> None:
    """Print what a motion file holds: rate, length, joints, roles, size."""
    import numpy as np

    from gaitway import rotations
    from gaitway.motion.roles import ALL_ROLES

    clip, report = _load(file, unit, up, keep_tpose, asf)
    positions, turned = clip.joint_transforms()
    ends = [positions[:, j] + rotations.rotate(turned[:, j], np.array(tip)) for j, tip in clip.skeleton.tips.items()]
    heights = np.concatenate([positions[..., 2], *(end[:, 2:] for end in ends)], axis=1)
    path = clip.planar_path()
    facts: dict[str, object] = {
        "file": str(file),
        "frames": len(clip),
        "fps": round(clip.fps, 6),
        "duration_s": round(clip.duration, 4),
        "joints": len(clip.skeleton),
        "unit": report.unit,
        "up": report.up,
        "dropped_tpose": report.dropped_tpose,
        "height_m": round(float(np.median(np.ptp(heights, axis=1))), 3),
        "path_m": round(float(np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1).sum()), 3),
        "turn_deg": _rounded(np.degrees(path[-1, 2] - path[0, 2]), 1),
        "roles_missing": [r for r in ALL_ROLES if r not in clip.skeleton.roles],
        "joint_names": list(clip.skeleton.names),
    }
    _show_facts(facts, as_json)


@clip_app.command("draw")
def clip_draw(
    files: Annotated[list[Path], typer.Argument(help="Motion files, one row each.")],
    output: Annotated[Path, typer.Option("--out", "-o", help="A .png strip, or a .mp4 or .webp film.")],
    unit: Unit = None,
    up: Up = None,
    keep_tpose: KeepTpose = False,
    asf: Asf = None,
    columns: Annotated[int, typer.Option(min=1, max=60, help="Figures in a row of the strip.")] = 12,
    view: Annotated[
        str | None,
        typer.Option(
            help="side, front, three-quarter, back, top, or degrees from the front; a strip is seen from the "
            "side and a film from three-quarter if left out."
        ),
    ] = None,
) -> None:
    """Draw motion files as a film strip or as a film."""
    from gaitway.render import film, filmstrip

    _check_output(output, ".png", ".mp4", ".webp")
    strip = output.suffix.lower() == ".png"
    seen_from = _view(view or ("side" if strip else "three-quarter"))
    clips = [_load(file, unit, up, keep_tpose, asf)[0] for file in files]
    with _progress(f"drawing {output.name}") as show:
        if strip:
            filmstrip(clips, output, columns=columns, view=seen_from)
        else:
            name = f"film {output.name}"
            film(clips, output, view=seen_from, progress=lambda done, total: show(name, done, total))
    out.print(f"wrote {output}", markup=False, highlight=False, soft_wrap=True)


@clip_app.command("convert")
def clip_convert(
    source: Annotated[Path, typer.Argument(help="File to read.")],
    target: Annotated[Path, typer.Argument(help="File to write; its ending chooses the format.")],
    unit: Unit = None,
    up: Up = None,
    keep_tpose: KeepTpose = False,
    asf: Asf = None,
    fps: Annotated[float | None, typer.Option(min=1.0, max=1000.0, help="Resample to this rate.")] = None,
) -> None:
    """Read one motion file and write it in another format."""
    from gaitway.motion.formats import save_clip

    _check_output(target, ".bvh", ".glb")
    clip, _ = _load(source, unit, up, keep_tpose, asf, fps)
    save_clip(clip, target)
    done = f"wrote {target}: {len(clip)} frames at {clip.fps:g} Hz"
    out.print(done, markup=False, highlight=False, soft_wrap=True)


@library_app.command("list")
def library_list(as_json: Json = False) -> None:
    """List the built-in casts."""
    from gaitway.library.cast.catalog import cast_names

    names = list(cast_names())
    if as_json:
        _show_json(names)
    else:
        out.print("\n".join(names))


@library_app.command("show")
def library_show(
    name: Annotated[str, typer.Argument(help="A built-in cast: person, horse or skateboarder.")],
    output: Annotated[Path | None, typer.Option("--out", "-o", help="Draw graph and strips to this PNG.")] = None,
    style: Annotated[str | None, typer.Option(help="Whose manner: neutral, style-1 to style-8, or a number.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Draw of the takes.")] = 0,
    as_json: Json = False,
) -> None:
    """Print a library's behaviours; with -o, draw its graph and a film strip of every clip."""
    import numpy as np

    from gaitway import planar
    from gaitway.library.cast.catalog import load_cast

    if output is not None:
        _check_output(output, ".png")
    library = load_cast(name, style=style, seed=seed)
    facts: list[dict[str, object]] = []
    for behavior in library.graph.behaviors:
        clip = library.clips[behavior.clips[0]]
        path = clip.planar_path()
        ahead, left, _ = (_rounded(value, 3) for value in planar.relative(path[0], path[-1]))
        facts.append(
            {
                "behavior": behavior.name,
                "start": behavior.start,
                "end": behavior.end,
                "clips": list(behavior.clips),
                "seconds": round(clip.duration, 3),
                "ahead_m": ahead,
                "left_m": left,
                "turn_deg": _rounded(np.degrees(path[-1, 2] - path[0, 2]), 1),
                "obstacle": behavior.obstacle,
                "pass_time_s": None if behavior.pass_time is None else round(behavior.pass_time, 3),
            }
        )
    if as_json:
        _show_json(facts)
    else:
        _show_rows(f"{library.name}: {len(facts)} behaviours", [_behavior_row(fact) for fact in facts])
    if output is not None:
        from gaitway.render.library_sheet import library_sheet

        with _progress(f"drawing {output.name}") as show:
            library_sheet(library, output, progress=lambda done, total: show(f"drawing {output.name}", done, total))
        err.print(f"wrote {output}", markup=False, highlight=False, soft_wrap=True)


@app.command()
def bench(
    name: Annotated[str | None, typer.Argument(help="Which benchmark; all if left out.")] = None,
    as_json: Json = False,
) -> None:
    """Measure gaitway beside its peers, in one run on this machine."""
    from gaitway.bench import run_benches

    with err.status("measuring ..."):
        tables = run_benches(name)
    if as_json:
        _show_json([table.as_dict() for table in tables])
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
        "ahead": f"{fact['ahead_m']:z.2f}",
        "left": f"{fact['left_m']:z.2f}",
        "turn": f"{fact['turn_deg']:z.0f}",
        "passes": passing,
    }


def _rounded(value: float, digits: int) -> float:
    """A rounded number that is never minus zero."""
    return round(float(value), digits) + 0.0


def _load(
    file: Path, unit: str | None, up: str | None, keep_tpose: bool, asf: Path | None, fps: float | None = None
) -> tuple[Clip, LoadReport]:
    from gaitway.motion.formats import load_clip_with_report

    wanted = _number_or_word(unit)
    return load_clip_with_report(file, unit=wanted, up=up, keep_tpose=keep_tpose, asf=asf, fps=fps)


def _check_output(path: Path, *endings: str) -> None:
    """Refuse a file that cannot be written before any work is done for it."""
    if path.suffix.lower() not in endings:
        raise GaitwayError(f"{path}: the output's name must end in {' or '.join(endings)}")
    check_writable(path)


def _number_or_word(text: str | None) -> str | float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _view(text: str) -> str | float:
    from gaitway.render.staging import VIEWS

    value = _number_or_word(text)
    if isinstance(value, float) and math.isfinite(value):
        return math.radians(value)
    if value in VIEWS:
        return text
    raise GaitwayError(f"--view '{text}': write {', '.join(VIEWS)} or degrees from the front")


@contextmanager
def _progress(what: str) -> Iterator[_Show]:
    """A progress bar on a terminal, and nothing where stderr is a file; yields f(what, done, total)."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(what, total=None)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)


def _show_json(data: object) -> None:
    out.print_json(json.dumps(data), ensure_ascii=True)


def _show_facts(facts: dict[str, object], as_json: bool) -> None:
    if as_json:
        _show_json(facts)
        return
    table = Table(show_header=False, box=None)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for key, value in facts.items():
        words = (", ".join(map(str, value)) or "none") if isinstance(value, list) else str(value)
        table.add_row(key.replace("_", " "), Text(words))
    out.print(table)


def _show_rows(title: str, rows: list[dict[str, object]]) -> None:
    """Print a table; in a narrow terminal words wrap between words, and names and numbers stay whole."""
    table = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0))
    for number, key in enumerate(rows[0] if rows else ()):
        numeric = all(str(row[key]).lstrip("-").replace(".", "", 1).isdigit() for row in rows)
        justify: Literal["right", "left"] = "right" if numeric else "left"
        table.add_column(key, justify=justify, overflow="fold", no_wrap=numeric or number == 0)
    for row in rows:
        table.add_row(*(Text(str(value)) for value in row.values()))
    out.print(table)
