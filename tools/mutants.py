"""Plant small bugs one after another, and tell whether the tests notice each.

    python tools/mutants.py                      # all, in a copy of this tree; 1 if one survives
    python tools/mutants.py --only 'audit*'      # those whose room or place matches
    python tools/mutants.py --write              # all, and the table of docs/trust.md
    python tools/mutants.py --check              # only whether every edit and every test is still there

`tools/mutants.toml` lists the bugs: an edit of one place in the source, and the test that must fail with it. First all
these tests run on the unchanged copy, where they must pass. Then each bug gets a copy of its own, in which its test
runs with the copy's code alone: results that are kept on disk are not used, nor are kernels that were compiled from the
file that is edited, or from a file that imports it. A test that takes longer than the limit counts as failed.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tools" / "mutants.toml"
PAGE = ROOT / "docs" / "trust.md"
BEGIN, END = "<!-- mutants: begin; written by tools/mutants.py, do not edit -->", "<!-- mutants: end -->"
LIMIT = 300.0
"""Time that the test of one bug may take, compiling included [s]."""
_KEYS = {"room", "bug", "file", "old", "new", "test"}
_FAILED, _PASSED = 1, 0
"""Exit statuses of pytest; all others say that the test did not run."""


@dataclass(frozen=True)
class Mutant:
    """One bug."""

    room: str
    """Room of the package, as in docs/house.toml."""
    bug: str
    """What is wrong, in a few words."""
    file: str
    """The edited file, from the root of the repository."""
    old: str
    """Text that is in the file exactly once."""
    new: str
    """Text in its place."""
    test: str
    """Test that must fail, as pytest calls it."""


@dataclass(frozen=True)
class Outcome:
    """What a test said of a bug."""

    verdict: str
    """"killed", "survived" or "error"."""
    seconds: float
    said: str = ""
    """Last lines of the test, where something is wrong."""


def mutants() -> list[Mutant]:
    """Return all bugs of the table.

    Raises:
        SystemExit: if an entry lacks a key or has one too many.
    """
    found = tomllib.loads(TABLE.read_text(encoding="utf-8"))["mutant"]
    for number, entry in enumerate(found, 1):
        if entry.keys() != _KEYS:
            sys.exit(f"{TABLE.name}: mutant {number} has the keys {sorted(entry)}; write {', '.join(sorted(_KEYS))}")
    return [Mutant(**entry) for entry in found]


def problems(every: list[Mutant]) -> list[str]:
    """Return one line for each edit that does not fit the source, and for each test that there is not."""
    out = []
    for number, mutant in enumerate(every, 1):
        place = f"{TABLE.name}: mutant {number} ('{mutant.bug}')"
        file = ROOT / mutant.file
        if not file.is_file():
            out.append(f"{place}: there is no file {mutant.file}")
            continue
        if file.parts[len(ROOT.parts) : len(ROOT.parts) + 2] != ("src", "gaitway") or _room(file) != mutant.room:
            out.append(f"{place}: {mutant.file} is not in the room '{mutant.room}'")
        text = file.read_text(encoding="utf-8")
        if (count := text.count(mutant.old)) != 1:
            out.append(f"{place}: its old text is in {mutant.file} {count} times; write text that is there once")
        elif not _differs(text, text.replace(mutant.old, mutant.new)):
            out.append(f"{place}: the edit changes nothing, or leaves no Python")
        if not _is_test(mutant.test):
            out.append(f"{place}: there is no test {mutant.test}")
    edits = [(mutant.file, mutant.old, mutant.new) for mutant in every]
    out += [f"{TABLE.name}: an edit of {edit[0]} is listed twice" for edit in set(edits) if edits.count(edit) > 1]
    return out


def _room(file: Path) -> str:
    return file.relative_to(ROOT / "src" / "gaitway").parts[0].removesuffix(".py")


def _differs(before: str, after: str) -> bool:
    try:
        return ast.dump(ast.parse(before)) != ast.dump(ast.parse(after))
    except SyntaxError:
        return False


def _is_test(node: str) -> bool:
    """Return whether there is a test function of that name in that file, and in that class if one is named."""
    name, *parts = re.sub(r"\[.*\]$", "", node, flags=re.DOTALL).split("::")
    file = ROOT / name
    if not file.is_file() or not parts:
        return False
    body: list[ast.stmt] = _parsed(file).body
    for part in parts:
        found = [n for n in body if isinstance(n, ast.ClassDef | ast.FunctionDef) and n.name == part]
        if not found:
            return False
        body = found[-1].body
    return parts[-1].startswith("test")


@cache
def _parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def copy_tree(target: Path) -> None:
    """Copy the files of the repository, with their dates and compiled kernels; captures beside it are linked to."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    names = [name for name in listed.stdout.decode().split("\0") if name]
    names += [str(file.relative_to(ROOT)) for file in (ROOT / "src").rglob("__pycache__/*.nb?")]
    for name in names:
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    shared = ROOT.parent / "shared"
    if shared.is_dir() and not (target.parent / "shared").exists():
        (target.parent / "shared").symlink_to(shared, target_is_directory=True)


def plant(mutant: Mutant, tree: Path, base: Path) -> None:
    """Edit the source in a copy of a tree, and remove the compiled kernels that know the old one."""
    file = tree / mutant.file
    text = file.read_text(encoding="utf-8").replace(mutant.old, mutant.new)
    file.unlink()  # it is the same file in all copies
    file.write_text(text, encoding="utf-8")
    for module in dependants(base / "src", base / mutant.file):
        folder = tree / module.relative_to(base).parent / "__pycache__"
        for cached in folder.glob(f"{module.stem}.*.nb?"):
            cached.unlink()


def dependants(source: Path, file: Path) -> set[Path]:
    """Return a file of the package and all files that import it, directly or by way of others."""
    importers = _importers(source)
    out, waiting = {file}, [file]
    while waiting:
        for other in importers.get(waiting.pop(), ()):
            if other not in out:
                out.add(other)
                waiting.append(other)
    return out


@cache
def _importers(source: Path) -> dict[Path, set[Path]]:
    """Return the files that import each file of the package, by absolute imports, as everywhere in it."""
    files = {
        ".".join(file.relative_to(source).with_suffix("").parts).removesuffix(".__init__"): file
        for file in source.rglob("*.py")
    }
    out: dict[Path, set[Path]] = {}
    for file in files.values():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            for name in names:
                if name in files:
                    out.setdefault(files[name], set()).add(file)
    return out


def run_tests(tree: Path, tests: list[str], limit: float) -> tuple[int, str]:
    """Run tests in a copy with its own code; return the exit status of pytest (-1: too long) and what it printed."""
    own = {"PYTHONPATH": str(tree / "src"), "GAITWAY_CACHE": "off", "GAITWAY_TEST_PROFILE": "mutants"}
    environment = {**os.environ, **own}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired as late:
        return -1, (late.stdout or b"").decode(errors="replace") if isinstance(late.stdout, bytes) else ""
    return done.returncode, done.stdout + done.stderr


def tried(mutant: Mutant, base: Path, place: Path, limit: float) -> Outcome:
    """Plant one bug in a copy of a copy, and run its test."""
    tree = place / "planted"
    shutil.copytree(base, tree, copy_function=os.link)
    began = time.perf_counter()
    try:
        plant(mutant, tree, base)
        status, said = run_tests(tree, [mutant.test], limit)
    finally:
        shutil.rmtree(tree)
    verdict = {_FAILED: "killed", -1: "killed", _PASSED: "survived"}.get(status, "error")
    tail = "" if verdict == "killed" else "\n".join(said.splitlines()[-12:])
    return Outcome(verdict, time.perf_counter() - began, tail)


def table(every: list[Mutant]) -> str:
    """Return the section of docs/trust.md: all bugs, by room, with the tests that fail."""
    rooms = dict.fromkeys(mutant.room for mutant in every)
    lines = [
        BEGIN,
        "",
        f"{len(every)} bugs in {len(rooms)} rooms, each planted alone; with each, the named test fails.",
        "",
        "| room | bug | test |",
        "|---|---|---|",
    ]
    for mutant in sorted(every, key=lambda m: list(rooms).index(m.room)):
        test = mutant.test.removeprefix("tests/").partition("[")[0]
        lines.append(f"| `{mutant.room}` | {mutant.bug} | `{test}` |")
    return "\n".join([*lines, "", END])


def written(page: str, section: str) -> str:
    """Return a page with its section of bugs replaced."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{PAGE.name}: has no lines '{BEGIN}' and '{END}'")
    return before + section + after


def main() -> int:
    """Try all bugs, or check the table; 1 if one survives, 2 if the table does not fit the tree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", help="a pattern of rooms, files or tests")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for each test")
    parser.add_argument("--write", action="store_true", help="write the table of docs/trust.md if all are killed")
    parser.add_argument("--check", action="store_true", help="run nothing")
    asked = parser.parse_args()
    every = mutants()
    if wrong := problems(every):
        print("\n".join(wrong))
        return 2
    if asked.check:
        return 0
    chosen = [m for m in every if any(fnmatch(word, asked.only) for word in (m.room, m.file, m.test))]
    with tempfile.TemporaryDirectory(prefix="gaitway-mutants-") as folder:
        base = Path(folder) / "base" / "gaitway"
        copy_tree(base)
        status, said = run_tests(base, sorted({m.test for m in chosen}), len(chosen) * asked.limit)
        if status != _PASSED:
            print(said, "the tests do not pass without a bug; mend them first", sep="\n")
            return 2
        outcomes = {}
        for number, mutant in enumerate(chosen, 1):
            outcomes[mutant] = tried(mutant, base, base.parent, asked.limit)
            found = outcomes[mutant]
            print(f"{number:3} {found.verdict:8} {found.seconds:6.1f} s  {mutant.room:11} {mutant.bug}", flush=True)
            if found.said:
                print("    " + found.said.replace("\n", "\n    "), flush=True)
    alive = [mutant for mutant, found in outcomes.items() if found.verdict != "killed"]
    print(f"{len(chosen) - len(alive)} of {len(chosen)} killed" + "".join(f"\n  alive: {m.bug}" for m in alive))
    if asked.write and not alive and len(chosen) == len(every):
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), table(every)), encoding="utf-8")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
