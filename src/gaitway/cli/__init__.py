"""The `gaitway` command. Each command imports what it needs when it runs, so that help and errors come at once."""

from __future__ import annotations

import difflib
import gc
import logging
import os
import sys
import time
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

import typer

from gaitway._version import __version__
from gaitway.cli.clips import clip_app
from gaitway.cli.interrupt import handle_signals
from gaitway.cli.libraries import library_app
from gaitway.cli.papers import papers
from gaitway.cli.plans import plan, summary
from gaitway.cli.scenes import scene_app
from gaitway.cli.show import Json, err, out, plain, progress, remark, say, show_json, show_rows
from gaitway.cli.studio import studio
from gaitway.cli.takes import audit, correct, counted_violations, export, take_app
from gaitway.cli.tracks import animate
from gaitway.cli.trees import tree_app
from gaitway.cli.vary import vary
from gaitway.core.errors import GaitwayError
from gaitway.core.warming import compile_all, compile_rest, expect, kernel_folder

app = typer.Typer(
    help="Plan and synthesise full-body motion for crowds of virtual people.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)
app.add_typer(clip_app, name="clip")
app.add_typer(library_app, name="library")
app.add_typer(scene_app, name="scene")
app.add_typer(take_app, name="take")
app.add_typer(tree_app, name="tree")
app.command()(plan)
app.command()(animate)
app.command()(audit)
app.command()(correct)
app.command()(export)
app.command()(papers)
app.command()(studio)
app.command()(vary)

_UsageError = cast("type[Exception]", typer.BadParameter.__base__)
"""What Typer raises for every wrong option or argument. The class has another home in each of its versions."""


def main() -> NoReturn:
    """Run the command line; wrong input ends in one line and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        cast("Any", stream).reconfigure(errors="backslashreplace")  # file names need not be text
    handler = _LogHandler()
    logging.basicConfig(level=logging.WARNING, format="%(message)s", handlers=[handler])
    logging.getLogger("gaitway").setLevel(logging.INFO)
    handle_signals()
    _start_sooner()
    expect(sys.argv[1:])
    try:
        code = _run()
    except KeyboardInterrupt:
        code = 130
    if code == 130:
        err.print("interrupted", style="red")
    sys.exit(code)


def _start_sooner() -> None:
    """Spare the time of what no command needs: looking through modules for garbage, and for plug-ins of Pydantic."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


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
    except MemoryError as problem:
        _say_error(f"there is not enough memory for this: {problem}" if str(problem) else "there is not enough memory")
    except RecursionError:
        _say_error("the input is nested too deep")
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
    remark(f"error: {message}", "red")


def _say_usage_error(problem: Exception) -> None:
    """One line for a wrong option; a command without any arguments shows its help."""
    if type(problem).__name__ == "NoArgsIsHelpError":  # Typer has printed the help while it made this error
        return
    context = getattr(problem, "ctx", None)
    message = cast("Any", problem).format_message().rstrip(".")
    if message.startswith("No such command"):
        message = _no_such_command(message, context)
    if context is not None:
        message += f"{' See' if message.endswith('?') else '; see'} '{context.command_path} --help'"
    _say_error(message)


_MEANT = {
    **dict.fromkeys(("render", "film", "video", "movie", "picture", "convert"), "export"),
    **dict.fromkeys(("import", "capture"), "library import"),
    **dict.fromkeys(("check", "validate", "lint"), "scene check"),
    **dict.fromkeys(("draw", "map"), "scene draw"),
    **dict.fromkeys(("show", "view", "play", "live", "open"), "studio"),
    **dict.fromkeys(("run", "simulate", "solve"), "plan"),
    **dict.fromkeys(("list", "scenes"), "scene list"),
    **dict.fromkeys(("verify", "test", "inspect"), "audit"),
    **dict.fromkeys(("fix", "repair", "mend"), "correct"),
    **dict.fromkeys(("benchmark", "perf"), "bench"),
    **dict.fromkeys(("build", "grow"), "tree build"),
    **dict.fromkeys(("warm", "warmup", "jit", "prepare"), "compile"),
    **dict.fromkeys(("tracks", "track", "trajectories", "follow", "pedestrians"), "animate"),
    "info": "take info",
}
"""What is meant by words that are no commands."""


def _no_such_command(message: str, context: Any) -> str:
    """Say what is meant by a word that is no command: another command, or one that is spelt alike."""
    word = message.split("'")[1] if "'" in message else ""
    names = getattr(getattr(context, "command", None), "commands", {})
    above: list[str] = []
    while getattr(context, "parent", None) is not None:
        above, context = [context.info_name, *above], context.parent
    meant = None if above else _MEANT.get(word.lower())
    near = meant or next(iter(difflib.get_close_matches(word.lower(), list(names), n=1, cutoff=0.7)), None)
    path = " ".join(["gaitway", *above, near or ""])
    hint = f"did you mean '{path}'?" if near else f"there are {', '.join(sorted(names))}"
    return f"there is no command '{plain(word)}'; {hint}"


class _LogHandler(logging.Handler):
    """Shows what readers decided, one line each, above any progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        remark(self.format(record))


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
    seed: Annotated[int, typer.Option(min=0, help="Other seed, other order and other people.")] = 7,
    width: Annotated[int, typer.Option(min=160, max=3840, help="Picture width in pixels.")] = 1280,
) -> None:
    """Plan thirty people who cross a square, audit it, and write pictures, a film, a GLB and the take."""
    from gaitway.demo import run_demo

    with progress("starting") as show:
        result = run_demo(folder, seed=seed, width=width, progress=show)
    files = [
        {"what": what, "file": str(path), "seconds": f"{result.seconds[what]:.1f}"}
        for what, path in result.files.items()
    ]
    show_rows(result.planned.scene.title, [dict(row) for row in files])
    say(summary(result.planned))
    say(f"audit: {counted_violations(result.report)}")
    compiled = f", of which {result.compile_s:.1f} s compiling (once on this machine)" if result.compile_s > 0 else ""
    say(f"done in {result.total_s:.1f} s{compiled}")
    if result.compile_s > 0 and (message := compile_rest()):
        remark(message)


@app.command("compile")
def compile_kernels() -> None:
    """Compile the kernels of all commands now: for images, for render farms, and before a show."""
    folder = kernel_folder()
    if folder is None:
        raise GaitwayError(
            "nothing compiled can be kept: no folder can be written, or GAITWAY_NO_JIT or GAITWAY_CHECK_BOUNDS is set; "
            "unset these, and set NUMBA_CACHE_DIR to a folder that you alone can write"
        )
    began = time.perf_counter()
    with progress("looking for what is missing"):
        missing, failed = compile_all()
    if not missing:
        say(f"all kernels are compiled already (in {folder})")
        return
    say(f"compiled {missing - len(failed)} kernels in {time.perf_counter() - began:.1f} s (kept in {folder})")
    if failed:
        remark(f"{len(failed)} kernels could not be compiled beforehand; their commands compile them at first use")


@app.command()
def bench(
    name: Annotated[
        str | None,
        typer.Argument(
            help="One of behavior, bodies, crowd, deform, fuzz, graphs, levels, limbs, live, motion, render, soak, "
            "take, tree, variation, world; all but fuzz and soak if left out."
        ),
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="How long fuzz or soak runs.", min=0.0, max=10_000.0)] = None,
    as_json: Json = False,
) -> None:
    """Measure gaitway beside its peers, in one run on this machine; 1 if a target is missed."""
    from gaitway.bench import run_benches

    with err.status("measuring ..."):
        tables = run_benches(name, minutes)
    if as_json:
        show_json([table.as_dict() for table in tables])
    for table in tables if not as_json else ():
        show_rows(table.title, [{**row.as_dict()} for row in table.rows])
        for note in table.notes:
            say(note)
        out.print(table.machine, style="dim", highlight=False)
    if any(row.missed for table in tables for row in table.rows):
        raise typer.Exit(1)
