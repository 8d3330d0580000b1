"""The page of promises names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def test_every_promise_has_its_test() -> None:
    text = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    promises = [
        line for line in text.splitlines() if line.startswith("| ") and not line.startswith(("| ---", "| promise"))
    ]
    section = text.split("## Fuzz")[0]
    assert len(NAMED.findall(section)) > 30
    for line in promises:
        if line in section:
            assert NAMED.search(line), f"no test for: {line}"
    for file, name in NAMED.findall(text):
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        assert not name or name in names, f"{file} has no {name}"
