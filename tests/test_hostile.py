"""Files that broke gaitway once, and files that are no files: each ends in one line, soon, and in little memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crafted import HOSTILE
from gaitway.core.errors import FormatError
from gaitway.scene.characters import LibraryRef
from gaitway.tree.building.recipe import TreeRecipe, open_tree
from gaitway.tree.storage import load_tree

needs_hostile = pytest.mark.skipif(not HOSTILE.is_dir(), reason="no hostile files beside the project")

_MEASURED = """
import atexit, pathlib, sys
from gaitway.bench._timing import peak_memory
report = pathlib.Path(sys.argv.pop(1))
atexit.register(lambda: report.write_text(str(peak_memory())))
from gaitway.cli import main
sys.argv[0] = "gaitway"
main()
"""
MOST_MB = 1000.0
COMMANDS = (
    ("audit contact_offset.npz", "skeletons[0].contact_points[0][2]"),
    ("audit ends_1e9.npz", "ends at 1e+09 s; at most 172800 s are possible"),
    ("take info header_bomb.npz", "asks for 240,000,173 bytes of memory"),
    ("plan corridor --library contact_offset.gwlib -o out.npz", "skeleton.contact_points[0][2]"),
    ("library show contact_offset.gwlib", "skeleton.contact_points[0][2]"),
    ("plan corridor --library role_half.gwlib -o out.npz", "skeleton.roles.left_hip"),
    ("library show role_half.gwlib", "skeleton.roles.left_hip"),
    ("tree show header.gwtree", "damaged tree (its header"),
    ("tree show takes_1e6.gwtree", "damaged tree (its header"),
    ("tree show deep.gwtree", "deep.gwtree: "),
    ("clip info path_is_a_list.glb", "'path' of an animation channel must be text"),
    ("plan wide.yaml -o out.npz", "bounds"),
    ("scene check wide.yaml", "bounds"),
)


def run(folder: Path, *arguments: object) -> tuple[subprocess.CompletedProcess[str], float]:
    """Run a command as a process of its own, which must not hang; also return its peak memory [MB]."""
    report = folder / "peak"
    command = [sys.executable, "-c", _MEASURED, report, *arguments]
    done = subprocess.run(map(str, command), capture_output=True, text=True, timeout=600, cwd=folder, check=False)
    return done, float(report.read_text())


@needs_hostile
@pytest.mark.slow
@pytest.mark.parametrize(("command", "problem"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_what_broke_it_once_is_one_line(tmp_path: Path, command: str, problem: str) -> None:
    arguments = [HOSTILE / word if (HOSTILE / word).is_file() else word for word in command.split()]
    done, peak = run(tmp_path, *arguments)
    said = done.stdout if command.startswith("scene check") else done.stderr
    assert done.returncode == 2, done.stderr
    assert problem in said
    assert len(said.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out.npz").exists()
    assert peak < MOST_MB


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pipes and devices are a POSIX matter")
def test_pipes_and_devices_are_not_read(tmp_path: Path) -> None:
    """Each command that reads a file, given a pipe that nobody writes to and a device that never ends."""
    os.mkfifo(tmp_path / "pipe")
    commands = {
        ".npz": ("take", "info"), ".bvh": ("clip", "info"), ".glb": ("clip", "info"), ".gwlib": ("library", "show"),
        ".gwtree": ("tree", "show"), ".yaml": ("scene", "check"),
    }  # fmt: skip
    for ending, command in commands.items():
        for source in (tmp_path / "pipe", Path("/dev/zero")):
            link = tmp_path / f"{source.name}{ending}"
            link.symlink_to(source)
            done, peak = run(tmp_path, *command, link)
            said = done.stdout + done.stderr
            assert done.returncode == 2, said
            assert "which is not read" in said
            assert len(said.strip().splitlines()) == 1
            assert peak < MOST_MB


@needs_hostile
def test_a_deep_tree_never_reaches_a_kernel() -> None:
    moves = TreeRecipe(library=LibraryRef("person")).moves()
    with pytest.raises(FormatError, match=r"damaged tree \(node 251\)|tree of another library"):
        load_tree(HOSTILE / "deep.gwtree", moves)


@needs_hostile
def test_recipes_ask_for_no_million_takes() -> None:
    with pytest.raises(FormatError, match="damaged tree"):
        open_tree(HOSTILE / "takes_1e6.gwtree")


def test_no_memory_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from gaitway import cli

    def fail(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 2.3 TiB")

    monkeypatch.setattr("gaitway.checking.check_scene", fail)
    monkeypatch.setattr("sys.argv", ["gaitway", "scene", "check", "maze"])
    assert cli._run() == 2
    assert capsys.readouterr().err.strip() == "error: there is not enough memory for this: Unable to allocate 2.3 TiB"


NAME = "\x1b]0;owned\x07\x1b[31m[bold]:skull:\u202e\r\nx"
SHOWN = r"\x1b]0;owned\x07\x1b[31m[bold]:skull:\u202e\r\nx"


def test_names_and_paths_are_shown_and_never_obeyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Escape codes, markup and emoji codes in names, keys, titles and paths."""
    from gaitway import cli
    from gaitway.take import save_take
    from small_takes import walkers

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "500")
    take = walkers(1, names=[NAME])
    object.__setattr__(take, "facts", {NAME: NAME})
    save_take(take, "a.npz")
    for arguments, code in ((("take", "info", "a.npz"), 0), (("take", "info", NAME + ".npz"), 2)):
        monkeypatch.setattr("sys.argv", ["gaitway", *arguments])
        assert cli._run() == code
        out, err = capsys.readouterr()
        assert not set(out + err) & {"\x1b", "\x07", "\r", "\u202e", "\U0001f480"}
        assert SHOWN in out + err
    monkeypatch.setattr("sys.argv", ["gaitway", "take", "info", "a.npz", "--json"])
    assert cli._run() == 0
    out = capsys.readouterr().out
    assert json.loads(out)["names"] == [NAME]
    assert out.isascii()
    assert "\x1b" not in out


@pytest.mark.parametrize("command", ["scene check", "plan"])
def test_scenes_of_unusual_names(
    tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from gaitway import cli

    path = tmp_path / "a\x1b[2J:skull:.yaml"
    path.write_text("gaitway: 1\nbounds: [0, 0, 1, 1]\ncharacters: [{name: 3}]\n")
    out = ("-o", str(tmp_path / "a.npz")) if command == "plan" else ()
    monkeypatch.setattr("sys.argv", ["gaitway", *command.split(), str(path), *out])
    with pytest.raises(SystemExit, match="2"):
        raise SystemExit(cli._run())
    told = "".join(capsys.readouterr())
    assert "\x1b" not in told
    assert r"a\x1b[2J:skull:.yaml" in told
