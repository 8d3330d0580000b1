"""Test of all readers with mutated files: none may crash, hang or ask for much memory.

Each kind of file is read in a process of its own, which a file may end. What fails is kept, with the words that make it
again: its kind, seed and number.
"""

from __future__ import annotations

import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gaitway.bench._fuzz_kinds import ACCEPTED, BEGIN, CRASHED, END, KINDS, MOST_MEGABYTES, REFUSED
from gaitway.bench._timing import machine

MINUTES = 2.0
_START = 600.0
"""Longest time until a process has written and read its first valid files, which may compile kernels [s]."""
PROGRAM = (
    "import sys, pathlib; from gaitway.bench._fuzz_kinds import main; "
    "main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), pathlib.Path(sys.argv[5]))"
)
KEPT = 20
"""Number of failed files that are kept of each kind."""


@dataclass
class FuzzRow:
    """Figures of one kind of file. This class is **mutable** while files are read."""

    kind: str
    files: int = 0
    refused: int = 0
    accepted: int = 0
    hangs: int = 0
    slowest: float = 0.0
    """Longest time for one file [s]."""
    megabytes: float = 0.0
    """Greatest memory of a process [MB]."""
    crashes: Counter[str] = field(default_factory=Counter)
    """Number of files that crashed, by what was said."""

    @property
    def missed(self) -> bool:
        """Whether a file crashed, hung or took too much memory."""
        return bool(self.crashes) or self.hangs > 0 or self.megabytes > MOST_MEGABYTES

    def as_dict(self) -> dict[str, str]:
        """Return the row as text, for a table."""
        return {
            "kind": self.kind,
            "files": f"{self.files:,}",
            "refused": f"{self.refused:,}",
            "accepted": f"{self.accepted:,}",
            "crashes": str(self.crashes.total()),
            "hangs": str(self.hangs),
            "slowest s": f"{self.slowest:.2f}",
            "peak MB": f"{self.megabytes:.0f}",
        }


@dataclass(frozen=True)
class FuzzTable:
    """Figures of all kinds."""

    title: str
    rows: tuple[FuzzRow, ...]
    machine: str

    @property
    def notes(self) -> tuple[str, ...]:
        """What the files did that failed, one line each."""
        return tuple(
            f"{row.kind}: {count} times {said}" for row in self.rows for said, count in row.crashes.most_common(KEPT)
        )

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        rows = [{**asdict(row), "crashes": dict(row.crashes), "missed": row.missed} for row in self.rows]
        return {"title": self.title, "machine": self.machine, "rows": rows}


def run(minutes: float = MINUTES, seed: int = 0, folder: str | Path = "fuzz", patience: float = 1.0) -> FuzzTable:
    """Mutate and read files of all kinds in turn.

    Args:
        minutes: length of the test [min]; each kind has at least one turn.
        seed: seed of all mutations.
        folder: folder for files that fail; it is made only if there are any.
        patience: factor on the longest time for a file; above 1 on a machine that does other work too.
    """
    rows = {name: FuzzRow(name) for name in KINDS}
    ends, turn = time.monotonic() + 60.0 * minutes, 0
    with tempfile.TemporaryDirectory(prefix="gaitway-fuzz-") as place:
        while turn == 0 or time.monotonic() < ends:
            for name, row in rows.items():
                chunk = KINDS[name].chunk
                # a process costs seconds to start, so turns get longer
                count = chunk * min(1 << turn, 64)
                _read_files(row, seed, row.files, count, Path(place) / name.replace(" ", "_"), Path(folder), patience)
                if turn > 0 and time.monotonic() >= ends:
                    break
            turn += 1
    files = sum(row.files for row in rows.values())
    title = f"fuzz: {files:,} mutated files, seed {seed}; at most {MOST_MEGABYTES:.0f} MB each"
    return FuzzTable(title, tuple(rows.values()), machine())


def _read_files(row: FuzzRow, seed: int, first: int, count: int, place: Path, kept: Path, patience: float) -> None:
    """Have files read by processes, each of which goes on after the file that ended the one before."""
    end = first + count
    while first < end:
        first = _read_by_process(row, seed, first, end - first, place, kept, patience=patience)


def _read_by_process(
    row: FuzzRow, seed: int, first: int, count: int, place: Path, kept: Path, program: str = PROGRAM,
    patience: float = 1.0,
) -> int:  # fmt: skip
    """Have files read by one process; return the number of the first file that it did not come to."""
    words = [row.kind, str(seed), str(first), str(count), str(place)]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        encoding="utf-8", errors="replace",
    )  # fmt: skip
    lines: queue.Queue[str | None] = queue.Queue()
    errors: list[str] = []
    readers = [
        threading.Thread(target=_pass_on, args=(process.stdout, lines.put), daemon=True),
        threading.Thread(target=_pass_on, args=(process.stderr, lambda line: errors.append(line or "")), daemon=True),
    ]
    for reader in readers:
        reader.start()
    at, began, limit = first, time.monotonic(), _START
    try:
        while True:
            try:
                line = lines.get(timeout=limit)
            except queue.Empty:
                row.hangs += 1
                row.files += 1
                _keep(row, seed, at, place, kept, "hang")
                return at + 1
            if line is None:
                break
            word, number, *rest = line.strip().split(maxsplit=3)
            if word == BEGIN:
                at, began, limit = int(number), time.monotonic(), patience * KINDS[row.kind].seconds
            elif word == END:
                row.files += 1
                row.slowest = max(row.slowest, time.monotonic() - began)
                row.megabytes = max(row.megabytes, float(rest[0]))
                row.refused += rest[1] == REFUSED
                row.accepted += rest[1] == ACCEPTED
                limit = _START
                if rest[1].startswith(CRASHED):
                    row.crashes[rest[1].removeprefix(CRASHED).strip()] += 1
                    _keep(row, seed, at, place, kept, "crash")
                    return at + 1
                if float(rest[0]) > MOST_MEGABYTES:
                    _keep(row, seed, at, place, kept, "memory")
                    return at + 1
                at += 1
        process.wait(_START)
        readers[1].join(_START)
        if process.returncode == 0:
            return first + count
        row.files += 1
        row.crashes[f"process ended with {process.returncode}: {''.join(errors)[-200:].strip()}"] += 1
        _keep(row, seed, at, place, kept, "crash")
        return at + 1
    finally:
        process.kill()
        process.wait()
        for reader, stream in zip(readers, (process.stdout, process.stderr), strict=True):
            reader.join(10.0)
            if stream is not None:
                stream.close()


def _pass_on(stream: Any, tell: Callable[[str | None], object]) -> None:
    for line in stream:
        tell(line)
    tell(None)


def _keep(row: FuzzRow, seed: int, number: int, place: Path, kept: Path, why: str) -> None:
    """Copy the files that failed."""
    name = f"{row.kind.replace(' ', '_')}-{seed}-{number}-{why}"
    if len(list(kept.glob(f"{row.kind.replace(' ', '_')}-*"))) < KEPT:
        shutil.copytree(place / "mutated", kept / name, dirs_exist_ok=True)
