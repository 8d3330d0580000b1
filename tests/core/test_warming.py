from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from numba.core import types

from gaitway.core import jit, warming
from gaitway.core.array_handle import ArrayHandle
from gaitway.space.traffic import TrafficArrays

pytestmark = pytest.mark.skipif(not jit.JIT_ENABLED, reason="kernels run as plain Python")
needs_locks = pytest.mark.skipif(warming.fcntl is None, reason="no locks on parts of a file here")

HOLDER = """
import sys
from gaitway.core import warming
assert warming._open_lock() and warming._take(warming._place("gaitway.some.kernel"))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[warming._State]:
    fresh = warming._State()
    monkeypatch.setattr(warming, "_STATE", fresh)
    monkeypatch.setenv("GAITWAY_CACHE", str(tmp_path))
    yield fresh
    if fresh.lock is not None:
        os.close(fresh.lock)


def kinds() -> list[object]:
    arrays = {name: np.zeros((2,) * rank) for name, rank in zip("abcdefgh", (1, 1, 2, 2, 2, 2, 2, 2), strict=True)}
    read_only = np.zeros(3)
    read_only.setflags(write=False)
    values = [1, 2.5, True, np.float32(1), read_only, np.zeros((3, 2, 4), np.uint16).T, (1, 2), (1, 2.0)]
    return [*map(numba.typeof, values), numba.typeof(ArrayHandle(TrafficArrays(*arrays.values(), 3)))]


@pytest.mark.parametrize("kind", kinds(), ids=str)
def test_types_are_read_as_they_were_written(kind: object) -> None:
    assert warming.read_type(warming.type_text(kind)) == kind


@pytest.mark.parametrize("kind", [types.Omitted(3), types.ListType(types.int64)], ids=str)
def test_other_types_are_refused(kind: object) -> None:
    with pytest.raises(ValueError, match=r"recorded|no type"):
        warming.type_text(kind)


@pytest.mark.parametrize("text", ["float65", "float64 2", "", ["no.such:Class", "int64"], ["gaitway:nothing"]], ids=str)
def test_wrong_text_is_no_type(text: object) -> None:
    with pytest.raises(ValueError, match="no type"):
        warming.read_type(text)


def test_all_recorded_kernels_exist() -> None:
    """If this fails, run `python tools/compile_times.py --record-all`."""
    commands = warming.recorded_commands()
    assert "demo" in commands
    for kernel in (kernel for kernels in commands.values() for kernel in kernels):
        arguments = kernel.dispatcher().py_func.__code__.co_argcount
        assert len([warming.read_type(kind) for kind in kernel.types]) == arguments, kernel.name
        assert kernel.seconds > 0.0


def test_the_record_of_the_command_with_most_words_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = {name: [warming.Recorded(name, [], 1.0)] for name in ("demo", "plan", "plan tree")}
    monkeypatch.setattr(warming, "recorded_commands", lambda: commands)
    warming._all_kernels_of.cache_clear()
    assert warming.kernels_of(["demo", "--seed", "3"]) == commands["demo"]
    assert warming.kernels_of(["plan", "maze", "--planner", "tree", "-o", "x.npz"]) == commands["plan tree"]
    assert warming.kernels_of(["plan", "maze", "-o", "x.npz"]) == commands["plan"]
    assert warming.kernels_of(["audit", "demo"]) == warming.kernels_of([]) == []
    warming._all_kernels_of.cache_clear()


def test_the_helper_takes_large_kernels_first_and_then_comes_from_the_end() -> None:
    sizes = {"a": 1.0, "b": 2.0, "c": 9.0, "d": 1.0, "e": 2.0}
    order = warming._helping_order([warming.Recorded(name, [], seconds) for name, seconds in sizes.items()])
    assert "".join(kernel.name for kernel in order) == "cedba"


@needs_locks
def test_who_comes_second_waits_for_the_first_which_may_die(state: warming._State) -> None:
    assert warming._open_lock()
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert not warming._take(warming._place("gaitway.some.kernel"))
        with warming.turn("gaitway.other.kernel"):
            pass
        assert state.waited == 0.0
        holder.kill()
        with warming.turn("gaitway.some.kernel"):
            pass
    assert warming._take(warming._place("gaitway.some.kernel"))


@needs_locks
def test_who_waits_helps_but_never_inside_another_kernel(
    state: warming._State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel that is compiled while one that it calls is half done would call nothing, and stay so in the cache."""
    helped: list[int] = []
    state.spare = [warming.Recorded(name, [], 1.0, inner=True) for name in ("some.a", "some.b")]
    assert warming._open_lock()
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"

        def compiled(kernel: object) -> bool:
            helped.append(state.depth)
            if len(helped) == 2:  # who is waited for is done, too
                holder.kill()
                holder.wait()
            return True

        monkeypatch.setattr(warming, "_compiled", compiled)
        monkeypatch.setattr(warming, "PATIENCE_S", 0.1)
        with warming.turn("gaitway.other.kernel"), warming.turn("gaitway.some.kernel"):
            assert helped == []
        monkeypatch.setattr(warming, "PATIENCE_S", 600.0)
        with warming.turn("gaitway.some.kernel"):
            assert helped == [0, 0]
    assert state.spare == []


def test_functions_of_the_library_do_not_rename_the_command(state: warming._State) -> None:
    warming.expect(["live"], unless_known=True)
    assert state.words == ("live",)
    warming.expect(["demo", "-o", "x"])
    warming.expect(["live"], unless_known=True)
    assert state.words == ("demo", "-o", "x")


@needs_locks
def test_nobody_waits_for_ever(state: warming._State, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count()
    clock = SimpleNamespace(perf_counter=lambda: 5.0 * next(ticks), sleep=time.sleep)
    monkeypatch.setattr(warming, "time", clock)
    assert warming._open_lock()
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with warming.turn("gaitway.some.kernel"):
            assert state.waited > 0.0
        holder.kill()


@needs_locks
def test_a_helper_ends_with_its_parent(tmp_path: Path) -> None:
    program = "from gaitway.core.warming import main; main()"
    environment = os.environ | {"GAITWAY_CACHE": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path)}
    helper = subprocess.Popen([sys.executable, "-c", program, "demo"], stdin=subprocess.PIPE, env=environment)
    assert helper.stdin is not None
    end = time.monotonic() + 300.0
    while not (tmp_path / "compiling.lock").exists() and helper.poll() is None and time.monotonic() < end:
        time.sleep(0.05)  # until it is at work
    helper.stdin.close()
    assert helper.wait(300) == 0


def test_there_is_no_helper_where_none_is_wanted_or_possible(
    state: warming._State, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[bool] = []
    monkeypatch.setattr(warming, "_start_helper", lambda words: started.append(True))
    monkeypatch.setattr(warming.Recorded, "is_cached", False)
    state.words = ("demo",)
    for name, value in (("GAITWAY_COMPILERS", "1"), ("GAITWAY_CACHE", "off")):
        with monkeypatch.context() as patch:
            patch.setenv("GAITWAY_COMPILERS", "2")
            patch.setenv(name, value)
            assert "kernels for this machine, about" in warming.begin()
    assert not started
    monkeypatch.setenv("GAITWAY_COMPILERS", "2")
    warming.begin()
    assert bool(started) is (warming.fcntl is not None)


def test_a_helper_has_no_helper(state: warming._State, monkeypatch: pytest.MonkeyPatch) -> None:
    """The helper compiles as every process does, which is what starts a helper elsewhere."""
    said: list[str] = []
    started: list[bool] = []
    monkeypatch.setattr(warming, "_start_helper", lambda words: started.append(True))
    monkeypatch.setattr(warming, "_end_with_parent", lambda: None)
    monkeypatch.setattr(warming, "help_out", lambda kernels: said.append(warming.begin()))
    monkeypatch.setattr(warming.Recorded, "is_cached", False)
    monkeypatch.setattr(warming.os, "_exit", lambda code: None)
    monkeypatch.setattr(warming.sys, "argv", ["helper", "demo"])
    monkeypatch.setenv("GAITWAY_COMPILERS", "2")
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        warming.main()
    finally:
        signal.signal(signal.SIGINT, interrupt)
    assert len(said) == (warming.fcntl is not None)
    assert not started


def test_unknown_commands_and_warm_caches_say_no_time(state: warming._State, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "first use" in warming.begin()
    monkeypatch.setattr(warming.Recorded, "is_cached", True)
    state.words = ("demo",)
    assert "first use" in warming.begin()


def test_ready_kernels_are_counted_once(state: warming._State) -> None:
    told: list[tuple[int, int]] = []
    warming.watch(lambda ready, total: told.append((ready, total)))
    state.missing = frozenset({"a.one", "a.two"})
    for name in ("gaitway.a.one", "gaitway.a.other", "gaitway.a.one", "gaitway.a.two"):
        warming.ready(name)
    assert told == [(1, 2), (2, 2)]
