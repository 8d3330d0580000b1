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
BLOCKS = {
    page: re.findall(r"^```(\w+)\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for page in (README, *sorted((ROOT / "docs").glob("*.md")))
}
"""Language and text of every block, by page."""
PYTHON = [text for blocks in BLOCKS.values() for language, text in blocks if language == "python"]
COMMANDS = {
    page.name: [
        line.split("#")[0].strip()
        for language, text in blocks
        if language == "sh"
        for line in text.splitlines()
        if line.startswith("gaitway ")
    ]
    for page, blocks in BLOCKS.items()
}
"""Of each page, in order: later lines may read what earlier ones wrote."""


def run(arguments: list[str], folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_is_something_to_run() -> None:
    assert PYTHON
    assert any(COMMANDS.values())


@pytest.mark.parametrize("code", PYTHON)
def test_python_block(code: str, tmp_path: Path) -> None:
    run(["-c", code], tmp_path)


@pytest.mark.parametrize("page", [page for page, commands in COMMANDS.items() if commands])
def test_shell_lines(page: str, tmp_path: Path) -> None:
    for command in COMMANDS[page]:
        run(["-m", *shlex.split(command)], tmp_path)


def test_pictures_exist() -> None:
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README.read_text(encoding="utf-8"))
    assert pictures
    assert [p for p in pictures if not (README.parent / p).is_file()] == []
