"""README and docs are true: every Python block runs, and every `gaitway` line of a shell block succeeds."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
BLOCKS = {
    page: re.findall(r"^```(\w+)\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for page in (README, *sorted((ROOT / "docs").glob("*.md")))
}
"""Language and text of every block, by page."""
PYTHON = [
    pytest.param(text, id=f"{page.stem}-{k}", marks=pytest.mark.slow)
    for page, blocks in BLOCKS.items()
    for k, text in enumerate(text for language, text in blocks if language == "python")
]
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
RUN_LINES = """
import json, sys
from gaitway.cli import _run
for words in json.loads(sys.argv[1]):
    sys.argv = words
    assert _run() == 0, words
"""
"""Runs commands in one process, which imports and compiles once."""


def run(arguments: list[str], folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=1800, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_is_something_to_run() -> None:
    assert PYTHON
    assert any(COMMANDS.values())


@pytest.mark.parametrize("code", PYTHON)
def test_python_block(code: str, tmp_path: Path) -> None:
    run(["-c", code], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page, commands in COMMANDS.items() if commands])
def test_shell_lines(page: str, tmp_path: Path) -> None:
    lines = [shlex.split(command) for command in COMMANDS[page]]
    if page != README.name:
        run(["-c", RUN_LINES, json.dumps(lines)], tmp_path)
    else:  # as a reader types them
        for words in lines:
            run(["-m", *words], tmp_path)


PAGES = (README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_pictures_exist(page: Path) -> None:
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^) ]+)\)", page.read_text(encoding="utf-8"))]
    assert page != README or any(link.endswith(".png") for link in links)
    missing = [k for k in links if k and "://" not in k and not (page.parent / k).is_file()]
    assert not missing, f"{page.name} links to {', '.join(missing)}, which is not there"


def test_new_names_of_the_changelog_exist() -> None:
    moves = re.findall(
        r"^\| `gaitway[^|]+\| `(gaitway[\w.]+)` \|$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE
    )
    assert moves
    assert [name for name in moves if not exists(name)] == []


def exists(name: str) -> bool:
    """Whether a dotted name is a module, something in a module, or a member or field of a class."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[cut:]:
            if not hasattr(found, attribute) and attribute not in getattr(found, "__dataclass_fields__", {}):
                return False
            found = getattr(found, attribute, None)
        return True
    return False
