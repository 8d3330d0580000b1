"""Crafted files of gaitway's own formats are refused, or harmless to the kernels that trust them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COUNTS = {"take": 60, "tree": 60, "model": 40, "library": 40, "live": 20}
"""Number of mutated files of each kind."""


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """All kinds in one process: kernels that check their indices are not cached, and they take minutes to compile."""
    script, folder = Path(__file__).with_name("fuzz_archives.py"), tmp_path_factory.mktemp("fuzz")
    return subprocess.run(
        [sys.executable, script, "0", folder, *(f"{kind}={count}" for kind, count in COUNTS.items())],
        capture_output=True,
        text=True,
        timeout=1800,
        env=os.environ | {"GAITWAY_CHECK_BOUNDS": "1"},
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", COUNTS)
def test_mutated_files_are_refused_or_harmless(kind: str, fuzzed: subprocess.CompletedProcess[str]) -> None:
    said = {words[0]: words[1:] for words in map(str.split, fuzzed.stdout.splitlines())}
    assert kind in said, fuzzed.stderr[-3000:]
    accepted, refused = map(int, said[kind])
    assert accepted + refused == COUNTS[kind]
    assert min(accepted, refused) > COUNTS[kind] // 20  # both happen, so both are tested
