"""Results agree on machines of all types whose figures are stored, and tests do not hang on one of them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import gaitway
from machine_figures import PARTS, TOLERANCES, differences, part_figures, stored

LONG = {"import"}


@pytest.mark.parametrize("part", [pytest.param(p, marks=pytest.mark.slow if p in LONG else ()) for p in PARTS])
def test_results_are_those_of_other_machines(part: str) -> None:
    mine, machines = part_figures(part), {name: parts[part] for name, parts in stored().items() if part in parts}
    assert len(mine) >= 4 and machines, "run: python tests/machine_figures.py --add"
    for name, figures in machines.items():
        assert not (wrong := differences(mine, figures)), "\n".join([name, *wrong])


def test_figures_of_two_types_of_machines_are_stored() -> None:
    assert {"aarch64 Linux", "x86_64 Linux"} <= stored().keys()


def test_differences_are_told() -> None:
    figures = next(parts["behavior"] for parts in stored().values() if "behavior" in parts)
    assert differences(figures, figures) == []
    for kind in ("count", "time", "cost", "place", "audit"):
        name = next(n for n in figures if n.startswith(f"{kind} ") and figures[n] != 0.0)
        most, share = TOLERANCES[kind]
        away = 1.1 * (most + share * abs(figures[name])) + 1e-9
        assert len(differences({**figures, name: figures[name] + away}, figures)) == 1, name
    assert differences({"place x": float("nan")}, {"place x": 0.0})
    assert differences({}, {"place x": 0.0}) == ["place x: only stored"]


SOURCE = Path(gaitway.__file__).parent
NO_FILES = {"os", "archive", "Image", "mmap", "webbrowser", "self", "libraries"}
"""Whose `open` is not that of a text file."""


def without_encoding(text: str) -> list[int]:
    """Lines in which a text file is opened in the encoding of the system, which differs from one to the next."""
    out = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or any(word.arg == "encoding" for word in node.keywords):
            continue
        owner, _, name = ast.unparse(node.func).rpartition(".")
        modes = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        opened = name == "open" and owner not in NO_FILES and not any("b" in mode for mode in modes)
        if opened or (owner and name in ("read_text", "write_text")):
            out.append(node.lineno)
    return out


@pytest.mark.slow
def test_text_is_read_and_written_as_utf_8_on_every_system() -> None:
    assert without_encoding('path.open()\nopen(x, "w")\npath.read_text()\nopen(x, "rb")\nos.open(x, 1)') == [1, 2, 3]
    found = {str(f.relative_to(SOURCE)): without_encoding(f.read_text(encoding="utf-8")) for f in SOURCE.rglob("*.py")}
    assert {name: lines for name, lines in found.items() if lines} == {}
