"""Crafted files of gaitway's own formats are refused, or harmless to the kernels that trust them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COUNTS = {"take": 60, "tree": 60, "model": 40, "library": 40, "live": 20}
"""Number of mutated files of each kind."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", COUNTS)
def test_mutated_files_are_refused_or_harmless(kind: str, tmp_path: Path) -> None:
    script = Path(__file__).with_name("fuzz_archives.py")
    done = subprocess.run(
        [sys.executable, script, kind, "0", str(COUNTS[kind]), tmp_path],
        capture_output=True,
        text=True,
        timeout=1800,
        env=os.environ | {"GAITWAY_CHECK_BOUNDS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    accepted, refused = map(int, done.stdout.split())
    assert accepted + refused == COUNTS[kind]
    assert min(accepted, refused) > COUNTS[kind] // 20  # both happen, so both are tested
