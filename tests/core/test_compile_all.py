"""The kernels of all commands: compiled at once, or in the background."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from gaitway import cli
from gaitway.core import jit, warming
from test_cli import gaitway_here
from toy_package import make_package

pytestmark = pytest.mark.skipif(not jit.JIT_ENABLED, reason="kernels run as plain Python")
needs_locks = pytest.mark.skipif(warming.fcntl is None, reason="no locks on parts of a file here")

HOLD = """
import sys
from gaitway.core import warming
if sys.argv[1] == "command":
    warming._stop_background()
else:
    assert warming._open_lock() and warming._take(warming._place(warming._BACKGROUND))
print("held", flush=True)
sys.stdin.read()
"""
COMPILE_ALL = """
from gaitway.core import warming
warming.WORTH_HELP_S = 0.0
warming.expect(["compile"])
told = []
warming.watch(lambda *count: told.append(count))
print(*warming.compile_all(), told[-1:], warming.kernel_folder())
"""
COMPILE_REST = """
from gaitway.core import warming
warming.WORTH_HELP_S = 0.1
print(warming.compile_rest())
print(0 if warming._STATE.background is None else warming._STATE.background.pid)
"""
PATIENT_S = 300.0


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return make_package(tmp_path)


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[warming._State]:
    fresh = warming._State()
    monkeypatch.setattr(warming, "_STATE", fresh)
    monkeypatch.setenv("GAITWAY_CACHE", str(tmp_path))
    monkeypatch.setenv("GAITWAY_COMPILERS", "2")
    yield fresh
    if fresh.lock is not None:
        os.close(fresh.lock)


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming.Recorded, "is_cached", False)


def run(package: Path, program: str, **environment: str) -> list[str]:
    places = {"PYTHONPATH": str(package.parent), "NUMBA_CACHE_DIR": "", "GAITWAY_CACHE": str(package.parent / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | places | environment,
        capture_output=True,
        text=True,
        timeout=PATIENT_S,
        check=True,
    )
    return done.stdout.splitlines()


def compiled(package: Path) -> set[str]:
    return {file.name.split("-")[0] for file in package.glob("__pycache__/*.nbi")}


def wait_until(met: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENT_S
    while not met() and time.monotonic() < end:
        time.sleep(0.05)
    assert met()


def hold(what: str) -> subprocess.Popen[bytes]:
    holder = subprocess.Popen([sys.executable, "-c", HOLD, what], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    return holder


def end(holder: subprocess.Popen[bytes]) -> None:
    holder.kill()
    holder.communicate()


@pytest.mark.parametrize("compilers", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_all_kernels_of_all_commands_are_compiled_once(package: Path, compilers: str) -> None:
    (first,) = run(package, COMPILE_ALL, GAITWAY_COMPILERS=compilers)
    assert first == f"2 [] [(2, 2)] {package / '__pycache__'}"
    assert compiled(package) == {"above.twice", "above.thrice", "inside.add"}
    (again,) = run(package, COMPILE_ALL, GAITWAY_COMPILERS=compilers)
    assert again.startswith("0 [] [] ")


@pytest.mark.slow
def test_without_a_cache_folder_and_its_locks_kernels_are_compiled_too(package: Path) -> None:
    (first,) = run(package, COMPILE_ALL, GAITWAY_CACHE="off")
    assert first.startswith("2 [] [(2, 2)]")


@pytest.mark.slow
def test_kernels_that_are_no_more_are_named(package: Path) -> None:
    text = (package / "above.py").read_text()
    (package / "above.py").write_text(text.replace("return twice(x) + add(x)", "return twice(x) + no_such(x)"))
    (first,) = run(package, COMPILE_ALL)
    assert first.startswith("2 ['above.thrice'] ")


@pytest.mark.slow
def test_a_kernel_of_another_processor_or_other_types_is_missing(package: Path) -> None:
    other = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    assert run(package, COMPILE_ALL, **other)[0].startswith("2 []")
    assert run(package, COMPILE_ALL, **other)[0].startswith("0 []")
    assert run(package, COMPILE_ALL)[0].startswith("2 []")
    record = package / "core" / "kernels.json"
    record.write_text(record.read_text().replace('"float64"', '"float32"'))
    # kernels are known by code alone, not by the record
    assert run(package, COMPILE_ALL)[0].startswith("2 []")


def test_the_command_says_what_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "kernel_folder", lambda: Path("here"))
    for result, words in (
        ((0, []), "all kernels are compiled already (in here)"),
        ((7, []), "compiled 7 kernels in"),
        ((7, ["some.kernel"]), "compiled 6 kernels in"),
    ):
        monkeypatch.setattr(cli, "compile_all", lambda result=result: result)
        done = gaitway_here("compile")
        assert done.stdout.startswith(words)
        assert ("1 kernels could not" in done.stderr) is bool(result[1])
    monkeypatch.setattr(cli, "kernel_folder", lambda: None)
    assert "set NUMBA_CACHE_DIR to a folder that you alone" in gaitway_here("compile", code=2).stderr


@pytest.mark.slow
def test_no_folder_is_named_where_nothing_is_kept(package: Path) -> None:
    program = "from gaitway.core import warming\nprint(warming.kernel_folder(), warming.compile_all())"
    for switch in ("GAITWAY_NO_JIT", "GAITWAY_CHECK_BOUNDS"):
        assert run(package, program, **{switch: "1"}) == ["None (0, [])"]


@needs_locks
@pytest.mark.slow
def test_the_rest_is_compiled_by_a_process_that_outlives_its_command(package: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"  # files of the current folder are no modules of the process
    folder.mkdir()
    (folder / "numba.py").write_text("raise RuntimeError")
    program = f"import os, numba\nos.chdir({str(folder)!r})\n{COMPILE_REST}"
    told, number = run(package, program, GAITWAY_COMPILERS="2")
    assert "2 kernels of other commands are compiled in the background now, about 5 s, once" in told
    assert "GAITWAY_COMPILERS=1" in told
    wait_until(lambda: compiled(package) == {"above.twice", "above.thrice", "inside.add"})
    wait_until(lambda: not Path(f"/proc/{number}").exists() or not Path("/proc").exists())
    assert run(package, COMPILE_REST, GAITWAY_COMPILERS="2") == ["", "0"], "there is nothing left to compile"


@needs_locks
def test_a_background_process_has_a_session_and_no_streams_of_its_starter(
    state: warming._State, missing: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = tmp_path / "found"
    program = (
        "import os, pathlib\nsame = [os.path.samestat(os.fstat(n), os.stat(os.devnull)) for n in range(3)]\n"
        f"pathlib.Path({str(found)!r}).write_text(f'{{os.getsid(0) == os.getpid()}} {{same}}')"
    )
    monkeypatch.setattr(warming, "_program", lambda function: [sys.executable, "-c", program])
    assert "in the background" in warming.compile_rest()
    assert state.background is not None
    assert state.background.wait(PATIENT_S) == 0
    assert found.read_text() == "True [True, True, True]"


@needs_locks
def test_nothing_is_started_where_it_is_not_wanted_or_not_worth_it(
    state: warming._State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warming, "_program", lambda function: pytest.fail("a process is started"))
    monkeypatch.setattr(warming.Recorded, "is_cached", True)
    assert warming.compile_rest() == ""
    monkeypatch.setattr(warming.Recorded, "is_cached", False)
    for name, value in (("GAITWAY_COMPILERS", "1"), ("GAITWAY_CACHE", "off")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert warming.compile_rest() == ""
    other = hold("background")
    assert warming.compile_rest() == "", "there is one at a time"
    monkeypatch.setattr(warming, "_start_helper", lambda words: pytest.fail("a second one works"))
    monkeypatch.setattr(warming.os, "nice", lambda step: 0)
    warming.background()
    end(other)


@needs_locks
def test_a_command_that_compiles_goes_before_the_background(
    state: warming._State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a command holds its lock no helper works; one that works is ended, and begins anew afterwards."""
    done: list[str] = []
    command: list[subprocess.Popen[bytes]] = []

    def start(words: tuple[str, ...]) -> SimpleNamespace:
        done.append(" ".join(words))
        return SimpleNamespace(poll=lambda: 0 if done.count("compile") == 2 else None)

    def sleep(seconds: float) -> None:
        if done == ["compile"] and not command:
            command.append(hold("command"))
        elif done == ["compile", "ended"]:
            end(command[0])

    monkeypatch.setattr(warming, "_start_helper", start)
    monkeypatch.setattr(warming, "_end_helper", lambda helper: done.append("ended"))
    monkeypatch.setattr(warming.os, "nice", lambda step: done.append("low") if step != 19 else None)
    monkeypatch.setattr(warming, "time", SimpleNamespace(sleep=sleep, monotonic=time.monotonic))
    warming.background()
    assert done == ["compile", "ended", "compile"]


@needs_locks
def test_a_command_lets_the_background_go_on_once_it_has_its_kernels(
    state: warming._State, missing: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = warming.Recorded("some.kernel", [], 1.0)
    monkeypatch.setattr(warming, "kernels_of", lambda words: [kernel])
    free = "from gaitway.core import warming\nprint(warming._open_lock() and warming._is_free(warming._COMMAND))"

    def is_free() -> str:
        return subprocess.run([sys.executable, "-c", free], capture_output=True, text=True, check=True).stdout.strip()

    warming.begin()
    assert is_free() == "False"
    warming.ready("gaitway.some.kernel")
    assert is_free() == "True"


def test_the_demo_starts_it_once_and_only_if_it_compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import gaitway.demo

    result = SimpleNamespace(files={}, seconds={}, report=None, total_s=9.0, compile_s=3.0)
    result.planned = SimpleNamespace(scene=SimpleNamespace(title="a square"))
    started: list[str] = []
    monkeypatch.setattr(gaitway.demo, "run_demo", lambda *args, **options: result)
    monkeypatch.setattr(cli, "summary", lambda planned: "")
    monkeypatch.setattr(cli, "counted_violations", lambda report: "")
    monkeypatch.setattr(cli, "compile_rest", lambda: started.append("now") or "compiled in the background")
    assert "compiled in the background" in gaitway_here("demo", "-o", tmp_path).stderr
    result.compile_s = 0.0
    assert gaitway_here("demo", "-o", tmp_path).stderr == ""
    assert started == ["now"]
