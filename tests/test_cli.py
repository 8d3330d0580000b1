"""The command line from end to end, as a process: output, exit codes, one-line errors."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
import typer
from PIL import Image
from rich.console import Console
from rich.text import Text

from gaitway import __version__
from gaitway.cli import _run, app, show
from gaitway.cli.libraries import _unused
from gaitway.cli.show import rounded

BVH = """HIERARCHY
ROOT Hips
{
  OFFSET 0 90 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT LeftUpLeg
  {
    OFFSET 9 0 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT LeftLeg
    {
      OFFSET 0 -43 0
      CHANNELS 3 Zrotation Xrotation Yrotation
      End Site
      {
        OFFSET 0 -42 0
      }
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.0333333
0 90 0 0 0 0 0 0 0 0 0 0
1 90 0 0 0 0 0 5 0 0 0 0
"""


def gaitway(*arguments: str | Path, code: int = 0, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "gaitway", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=cwd,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    return done


def gaitway_here(*arguments: str | Path, code: int = 0, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command in this process, which takes a tenth of the time; `gaitway` is the way from end to end."""
    words, out, err = ["gaitway", *map(str, arguments)], io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr("sys.argv", words)
        patch.chdir(Path() if cwd is None else cwd)
        found = _run()
    done = subprocess.CompletedProcess(words, found, out.getvalue(), err.getvalue())
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    return done


def test_version_and_help() -> None:
    assert gaitway("--version").stdout.strip() == f"gaitway {__version__}"
    text = gaitway("--help").stdout
    assert all(word in text for word in ("demo", "clip", "library", "bench"))


def test_no_arguments_shows_help() -> None:
    assert "Usage" in gaitway(code=2).stdout


def test_clip_info_json(tmp_path: Path) -> None:
    file = tmp_path / "two.bvh"
    file.write_text(BVH)
    facts = json.loads(gaitway("clip", "info", file, "--json").stdout)
    assert facts["frames"] == 2
    assert facts["joint_names"] == ["Hips", "LeftUpLeg", "LeftLeg"]
    assert "right_knee" in facts["roles_missing"]


def test_clip_convert_and_draw(tmp_path: Path) -> None:
    file = tmp_path / "two.bvh"
    file.write_text(BVH)
    gaitway_here("clip", "convert", file, tmp_path / "again.bvh", "--fps", "60")
    facts = json.loads(gaitway_here("clip", "info", tmp_path / "again.bvh", "--json").stdout)
    assert facts["fps"] == pytest.approx(60, abs=0.01)
    gaitway_here("clip", "draw", file, "-o", tmp_path / "strip.png")
    with Image.open(tmp_path / "strip.png") as strip:
        assert strip.width > 100


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["clip", "info", "absent.bvh"], "absent.bvh"),
        (["clip", "info", "notes.txt"], "notes.txt"),
        (["clip", "info", "broken.bvh"], "broken.bvh:"),
        (["clip", "info", "good.bvh", "--unit", "furlong"], "furlong"),
        (["clip", "convert", "good.bvh", "out.xyz"], "out.xyz"),
        (["clip", "draw", "good.bvh", "-o", "out.png", "--view", "sideways"], "sideways"),
        (["clip", "draw", "good.bvh", "-o", "out.webp", "--view", "nan"], "nan"),
        (["clip", "convert", "good.bvh", "out.bvh", "--fps", "-3"], "--fps"),
        (["clip", "nonsense"], "gaitway clip --help"),
        (["library", "show", "horse", "-o", "out.jpg"], ".png"),
        (["clip", "draw", "good.bvh", "-o", "out.tiff"], "out.tiff"),
        (["clip", "draw", "good.bvh", "-o", "no/such/folder/out.png"], "folder"),
        (["library", "show", "persn"], "person"),
        (["bench", "nothing"], "nothing"),
        (["render"], "there is no command 'render'; did you mean 'gaitway export'? See"),
        (["scene", "chek"], "there is no command 'chek'; did you mean 'gaitway scene check'? See"),
        (["frobnicate"], "there are animate, audit, bench, clip, compile, correct, demo, export, library"),
        (["plan", "walk.npz", "-o", "out.npz"], "walk.npz: is a take ('gaitway audit'"),
        (
            ["scene", "draw", "good.bvh", "-o", "out.png"],
            "is captured motion ('gaitway clip info' reads it), not a",
        ),
    ],
)
def test_wrong_input_is_one_line_and_leaves_nothing(arguments: list[str], words: str, tmp_path: Path) -> None:
    (tmp_path / "good.bvh").write_text(BVH)
    (tmp_path / "broken.bvh").write_text(BVH.replace("1 90 0", "1 ninety 0"))
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "walk.npz").write_bytes(b"PK\x03\x04\xff")
    before = sorted(p.name for p in tmp_path.iterdir())
    run = gaitway if arguments == ["clip", "info", "broken.bvh"] else gaitway_here  # one as a process
    done = run(*arguments, code=2, cwd=tmp_path)
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert words in errors[0]
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_library_list() -> None:
    assert json.loads(gaitway("library", "list", "--json").stdout) == ["person", "horse", "skateboarder"]


def test_clip_info_says_how_the_file_was_understood_and_measures_to_the_tips(tmp_path: Path) -> None:
    file = tmp_path / "[bold]two[bold].bvh"
    file.write_text(BVH)
    facts = json.loads(gaitway_here("clip", "info", file, "--unit", "cm", "--keep-tpose", "--json").stdout)
    assert (facts["unit"], facts["up"], facts["dropped_tpose"]) == ("cm", "y", False)
    assert facts["height_m"] == pytest.approx(0.85, abs=0.01)  # thigh and shin, down to the End Site
    shown = gaitway_here("clip", "info", file, "--unit", "cm")
    assert "[bold]two[bold].bvh" in "".join(shown.stdout.split())  # a name is no markup, and is never cut short
    assert "\x1b" not in shown.stdout + shown.stderr


@pytest.mark.slow
def test_names_that_are_not_text_and_output_that_is_ascii(tmp_path: Path) -> None:
    file = os.fsencode(tmp_path) + b"/ba\xff.bvh"
    Path(os.fsdecode(file)).write_text(BVH)
    command = [os.fsencode(sys.executable), b"-m", b"gaitway", b"clip", b"info", file]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "300"}
    done = subprocess.run(command, capture_output=True, timeout=600, check=False, env=ascii_only)
    assert done.returncode == 0, done.stderr
    assert rb"ba\udcff.bvh" in done.stdout
    assert (done.stdout + done.stderr).isascii()


@pytest.mark.slow
def test_names_and_numbers_stay_whole_in_a_narrow_terminal() -> None:
    narrow = {**os.environ, "COLUMNS": "60"}
    command = [sys.executable, "-m", "gaitway", "library", "show", "horse"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True, env=narrow)
    assert all(len(line) <= 60 for line in done.stdout.splitlines())
    assert all(name in done.stdout for name in ("gallop_forward", "gallop_right_40", "-3.4"))
    assert "-0.00" not in done.stdout


FILMED = """
import pathlib, time
from gaitway.cli import interrupt, main
from gaitway.render.film import encoder
interrupt.PATIENCE_S = 600.0
drawn = encoder._Reel.seek
def seek(reel, frame):
    drawn(reel, frame)
    if frame == 5:
        pathlib.Path("begun").touch()
        time.sleep(3600.0)
encoder._Reel.seek = seek
main()
"""
"""A film that is not done before it is interrupted, however fast the machine."""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX systems")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_film_leaves_nothing(number: int, code: int, tmp_path: Path) -> None:
    frame = "1 90 0 0 0 0 0 5 0 0 0 0\n"
    (tmp_path / "long.bvh").write_text(BVH.replace("Frames: 2", "Frames: 902") + 900 * frame)
    command = [sys.executable, "-c", FILMED, "clip", "draw", "long.bvh", "-o", "film.webp"]
    with subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    ) as process:
        try:
            deadline = time.monotonic() + 600.0
            while not (tmp_path / "begun").exists() and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            assert list(tmp_path.glob(".film.*"))
            process.send_signal(number)
            _, errors = process.communicate(timeout=600)
        finally:
            process.kill()
    assert process.returncode == code
    assert "Traceback" not in errors
    assert sorted(p.name for p in tmp_path.iterdir()) == ["begun", "long.bvh"]


STUCK = """
import sys, time
from gaitway.cli import interrupt
from gaitway.core.files import atomic_folder, atomic_write
interrupt.PATIENCE_S = 0.5
interrupt.handle_signals()
with atomic_write("film.mp4") as file, atomic_folder("pictures") as folder:
    (folder / "1.png").write_bytes(b"begun")
    file.write(b"begun")
    while True:
        try:
            print("begun", flush=True)
            time.sleep(60.0)
        except BaseException:
            pass  # as a kernel that does not listen
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX systems")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_does_not_listen_is_ended_and_leaves_nothing(number: int, code: int, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STUCK], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  (jobs in the background ignore it)
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            assert len(list(tmp_path.iterdir())) == 2
            process.send_signal(number)
            _, errors = process.communicate(timeout=600)
        finally:
            process.kill()
    assert process.returncode == code
    assert errors == ("interrupted\n" if number == signal.SIGINT else "")
    assert list(tmp_path.iterdir()) == []


IMPORTING = """
import importlib.abc, sys, time
class Slow(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "gaitway.cli":
            print("importing", flush=True)
            time.sleep(3600.0)
sys.meta_path.insert(0, Slow())
from gaitway.__main__ import main
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX systems")
def test_an_interrupt_while_the_command_is_imported_is_silent() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", IMPORTING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "importing\n"
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=600)
        finally:
            process.kill()
    assert (process.returncode, errors) == (-signal.SIGINT, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_and_a_closed_pipe_are_no_tracebacks(unbuffered: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    command = f"{sys.executable} -m gaitway library list --json"
    full = subprocess.run(
        f"{command} > /dev/full", shell=True, capture_output=True, text=True, timeout=600, check=False
    )
    assert (full.returncode, full.stderr.count("\n")) == (2, 1), full.stderr
    closed = subprocess.run(f"{command} | true", shell=True, capture_output=True, text=True, timeout=600, check=False)
    assert closed.stderr == ""


def test_help_shows_every_character_that_is_written() -> None:
    """What stands in brackets is markup to the writer of help, and is not shown."""
    waiting, seen = [typer.main.get_command(app)], 0
    while waiting:
        command = waiting.pop()
        waiting += getattr(command, "commands", {}).values()
        texts = [command.help or "", *(getattr(parameter, "help", None) or "" for parameter in command.params)]
        for text in texts:
            assert Text.from_markup(text).plain == text
        seen += len(texts)
    assert seen > 100


def test_words_stay_whole_in_a_narrow_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(show, "out", Console(emoji=False))
    row = {"character": "north-01", "status": "partial", "steps": 12, "arrives_s": 12.345, "cost": 22.123, "by": "tree"}
    show.show_rows("crowd", [{**row, "why": "others are in the way, and it takes long to wait for them"}])
    said = capsys.readouterr().out
    assert "partial" in said and "tree" in said and max(map(len, said.splitlines())) <= 60


def test_files_that_an_import_does_not_use_are_told_by_reason() -> None:
    others = [(f"run_{k:03}.bvh", "is another person's") for k in range(100)]
    lines = _unused([*others, ("broken.bvh", "line 3: no HIERARCHY")])
    assert lines == [
        "not used: 100 files (run_000.bvh, run_001.bvh, run_002.bvh ...): is another person's",
        "not used: broken.bvh: line 3: no HIERARCHY",
    ]
    many = _unused([(f"{k}.bvh", f"reason {k}") for k in range(40)])
    assert len(many) == 13 and many[-1] == "... and 28 more reasons (--json lists every file)"


def test_rounded_numbers_are_never_minus_zero() -> None:
    assert [str(rounded(value, 2)) for value in (-0.001, -0.0, 0.001, -0.126)] == ["0.0", "0.0", "0.0", "-0.13"]
