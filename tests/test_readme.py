"""README and docs are true: every Python block runs, and every `gaitway` line of a shell block succeeds."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
BLOCKS = [
    block
    for page in (README, *sorted((ROOT / "docs").glob("*.md")))
    for block in re.findall(r"^```(\w+)\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
]
PYTHON = [text for language, text in BLOCKS if language == "python"]
COMMANDS = [
    line.split("#")[0].strip()
    for language, text in BLOCKS
    if language == "sh"
    for line in text.splitlines()
    if line.startswith("gaitway ")
]


def run(arguments: list[str], folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_is_something_to_run() -> None:
    assert PYTHON
    assert COMMANDS


@pytest.mark.parametrize("code", PYTHON)
def test_python_block(code: str, tmp_path: Path) -> None:
    run(["-c", code], tmp_path)


def test_shell_lines(tmp_path: Path) -> None:
    for command in COMMANDS:  # in order: later lines may read what earlier ones wrote
        run(["-m", *shlex.split(command)], tmp_path)


def test_pictures_exist() -> None:
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README.read_text(encoding="utf-8"))
    assert pictures
    assert [p for p in pictures if not (README.parent / p).is_file()] == []
