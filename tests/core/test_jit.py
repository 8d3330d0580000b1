from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gaitway.core import jit as _jit

PROGRAM = """
import numpy as np
from gaitway.motion import _kernels
from gaitway.core import jit as _jit
fk = _kernels.forward_kinematics
out = np.zeros((1, 1, 3)), np.zeros((1, 1, 4))
fk(np.array([-1]), np.zeros((1, 3)), np.ones((1, 3)), np.array([[[1.0, 0, 0, 0]]]), *out)
print(out[0].ravel().tolist(), type(fk).__name__, _jit.compile_seconds() > 0)
"""


def run_program(**environment: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if k not in ("GAITWAY_NO_JIT", "NUMBA_CACHE_DIR")}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=clean | environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )


def test_plain_python_switch() -> None:
    done = run_program(GAITWAY_NO_JIT="1")
    assert done.stdout.split("] ")[1].split() == ["function", "False"]
    assert "compiling" not in done.stderr


@pytest.mark.slow
def test_first_compile_is_announced_once_and_then_cached(tmp_path: Path) -> None:
    first = run_program(NUMBA_CACHE_DIR=str(tmp_path))
    assert first.stdout.strip() == "[1.0, 1.0, 1.0] CPUDispatcher True"
    assert first.stderr.count("compiling") == 1
    second = run_program(NUMBA_CACHE_DIR=str(tmp_path))
    assert second.stdout.strip() == "[1.0, 1.0, 1.0] CPUDispatcher False"
    assert second.stderr == ""


def test_without_a_writable_cache_it_still_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(function: object) -> None:
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(_jit, "JIT_ENABLED", True)
    monkeypatch.setattr(_jit, "KernelCache", refuse)

    @_jit.kernel
    def twice(x: float) -> float:
        return 2.0 * x

    assert twice(np.float64(2.5)) == 5.0


@pytest.mark.skipif(not _jit.JIT_ENABLED, reason="kernels run as plain Python")
def test_constants_share_one_compiled_version_and_nothing_raises() -> None:
    @_jit.kernel
    def share(of: float, parts: int) -> float:
        return of / parts

    @_jit.kernel
    def shares(of: float) -> float:
        return share(of, 1) + share(of, 2) + share(of, 0)

    assert shares(3.0) == np.inf
    assert len(share.signatures) == 1


@pytest.mark.skipif(not _jit.JIT_ENABLED, reason="kernels run as plain Python")
@pytest.mark.parametrize("collects", [True, False])
def test_the_collector_is_as_it_was_after_compiling(collects: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if collects else gc.disable)()

        @_jit.kernel
        def thrice(x: float) -> float:
            return 3.0 * x

        assert thrice(2.0) == 6.0
        assert gc.isenabled() is collects
    finally:
        (gc.enable if before else gc.disable)()


def test_direct_calls_give_the_same_whatever_was_called_before() -> None:
    @_jit.kernel
    def doubled(values: np.ndarray) -> float:
        return 2.0 * values[0]

    call = _jit.direct(doubled)
    assert [call(np.array([value])) for value in (1.0, 2.5, -3.0)] == [2.0, 5.0, -6.0]
    doubled(np.array([7]))  # a second version
    late = _jit.direct(doubled)
    assert [late(np.array([1.5])), late(np.array([4])), late(np.array([1.5]))] == [3.0, 8.0, 3.0]


def test_direct_calls_of_plain_functions() -> None:
    call = _jit.direct(abs)
    assert [call(-2), call(-2.5)] == [2, 2.5]


@pytest.mark.skipif(not _jit.JIT_ENABLED, reason="kernels run as plain Python")
def test_inner_kernels_run_as_plain_python_when_python_calls_them() -> None:
    @_jit.kernel(inner=True)
    def twice(x: float) -> float:
        return 2.0 * x

    @_jit.kernel
    def four_times(x: float) -> float:
        return twice(twice(x))

    assert four_times(1.5) == 6.0, "compiled"
    assert four_times.py_func(1.5) == 6.0, "its plain Python calls the inner kernel"
    assert twice(1.5) == 3.0
