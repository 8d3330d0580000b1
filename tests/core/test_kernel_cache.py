"""Compiled kernels on disk: never out of date, never from a folder of others, and none left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gaitway.core import jit, kernel_cache
from gaitway.core.files import is_private
from toy_package import PACKAGE, make_package

pytestmark = pytest.mark.skipif(not jit.JIT_ENABLED, reason="kernels run as plain Python")

PROGRAM = """
from gaitway.above import {0}
from gaitway.core.jit import compile_seconds
value = {0}(2.0)
print(value, "compiled" if compile_seconds() > 0 else "loaded")
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return make_package(tmp_path)


def run(package: Path, kernel: str = "twice", **environment: str) -> list[str]:
    clean = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    own = {"PYTHONPATH": str(package.parent), "GAITWAY_CACHE": "off"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(kernel)],
        env=clean | own | environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.slow
def test_a_change_far_below_is_noticed(package: Path) -> None:
    assert run(package) == ["6.0", "compiled"]
    assert run(package) == ["6.0", "loaded"]
    assert run(package, "thrice") == ["9.0", "compiled"], "what was loaded without machine code is linked again"
    (package / "below.py").write_text(PACKAGE["below.py"].replace("1.0", "5.0"))
    assert run(package) == ["14.0", "compiled"]
    assert run(package, "thrice") == ["21.0", "compiled"]
    assert run(package, "thrice") == ["21.0", "loaded"]


@pytest.mark.slow
def test_a_kernel_that_moved_leaves_nothing_behind(package: Path) -> None:
    run(package)
    before = sorted(file.name for file in package.glob("__pycache__/*.nb?"))
    assert [name.split("-")[0] for name in before if name.endswith("nbi")] == ["above.twice", "inside.add"]
    (package / "above.py").write_text("# moved\n" + PACKAGE["above.py"])
    run(package)
    after = sorted(file.name for file in package.glob("__pycache__/*.nb?"))
    assert len(after) == len(before)
    assert after != before


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no such rights here")
def test_folders_that_others_can_write_are_not_used(package: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert not is_private(shared)
    assert is_private(tmp_path)
    kernel_cache._ensure_folder(str(tmp_path))
    with pytest.raises(PermissionError):
        kernel_cache._ensure_folder(str(shared))
    run(package)
    beside = package / "__pycache__"
    for file in beside.glob("*.nb?"):
        file.unlink()
    beside.chmod(0o777)
    assert run(package, XDG_CACHE_HOME=str(tmp_path / "own")) == ["6.0", "compiled"]
    assert not list(beside.glob("*.nb?"))
    assert list((tmp_path / "own").rglob("*.nbi"))


@pytest.mark.slow
def test_damaged_files_are_as_good_as_none(package: Path) -> None:
    run(package)
    for file in package.glob("__pycache__/*.nbi"):
        file.write_bytes(b"")
    assert run(package) == ["6.0", "compiled"]


@pytest.mark.slow
def test_bounds_are_checked_on_demand() -> None:
    program = (
        "import numpy as np\nfrom gaitway.core.jit import kernel\n"
        "@kernel\ndef at(values, k):\n    return values[k]\nprint(at(np.zeros(3), 7))"
    )
    clean = {k: v for k, v in os.environ.items() if k != "GAITWAY_CHECK_BOUNDS"} | {"GAITWAY_CHECK_BOUNDS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=clean, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 1
    assert "IndexError" in done.stderr
