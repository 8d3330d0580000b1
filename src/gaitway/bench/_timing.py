"""Timing of benchmarks, and their results."""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any

from gaitway._version import __version__

resource: Any
try:
    import resource
except ImportError:  # Windows
    resource = None

_SHORTEST_TURN = 0.1
"""Least time that one task runs before the next task has its turn [s]."""


@dataclass(frozen=True)
class Timing:
    """Wall time of repeated runs [ms]."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        median, low, high = (f"{t:.3g}" if t < 1000.0 else f"{t:.0f}" for t in (self.median, self.low, self.high))
        return f"{median} [{low}..{high}]"


@dataclass(frozen=True)
class BenchRow:
    """One task, measured with gaitway and with a peer."""

    name: str
    peer: str
    """Name and version of the other library, or how to install it."""
    ours: Timing
    theirs: Timing | None
    """Time of the peer; None if it is not installed."""
    target: float | None = None
    """Target for the ratio of the peer's time to ours; None if there is no target."""

    @property
    def ratio(self) -> float | None:
        """Ratio of the peer's time to ours, by medians."""
        return None if self.theirs is None else self.theirs.median / self.ours.median

    @property
    def missed(self) -> bool:
        """Whether the target was measured and not reached."""
        return self.ratio is not None and self.target is not None and self.ratio < self.target

    def _target_label(self) -> str:
        return "" if self.target is None else f" (>= {self.target:g})"

    def as_dict(self) -> dict[str, str]:
        """Return the row as text, for a table."""
        return {
            "task": self.name,
            "gaitway ms": str(self.ours),
            "peer": self.peer,
            "peer ms": "" if self.theirs is None else str(self.theirs),
            "faster": "" if self.ratio is None else _times(self.ratio) + self._target_label(),
        }


def _times(ratio: float) -> str:
    return f"{ratio:.1f}x" if ratio >= 1.0 else f"{ratio:.2f}x"


@dataclass(frozen=True)
class BenchTable:
    """The rows of one benchmark, and the machine that it ran on."""

    title: str
    rows: tuple[BenchRow, ...]
    machine: str
    notes: tuple[str, ...] = ()
    """Lines below the table."""

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        rows = [{**asdict(row), "ratio": row.ratio, "missed": row.missed} for row in self.rows]
        return {"title": self.title, "machine": self.machine, "rows": rows}


def measure(tasks: Mapping[str, Callable[[], object]], rounds: int = 7) -> dict[str, Timing]:
    """Time tasks against one another: one warm-up each, then rounds in which each has a turn.

    Interleaving lets a busy spell of the machine fall on all tasks alike. A turn lasts at least a tenth of a second, so
    that a task of a millisecond is not judged by the few times that it met another process.
    """
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for task in tasks.values():
        task()
    for _ in range(rounds):
        for name, task in tasks.items():
            turn_ends = time.perf_counter() + _SHORTEST_TURN
            while True:
                began = time.perf_counter()
                task()
                ended = time.perf_counter()
                times[name].append(1e3 * (ended - began))
                if ended >= turn_ends:
                    break
    return {name: Timing(statistics.median(t), min(t), max(t)) for name, t in times.items()}


def machine(packages: Sequence[str] = ()) -> str:
    """Return the computer, Python and the versions of packages in one line."""
    versions = [f"{name} {metadata.version(name)}" for name in ("numpy", "numba", *packages) if installed(name)]
    return (
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}; "
        f"Python {platform.python_version()}, gaitway {__version__}, {', '.join(versions)}"
    )


def installed(package: str) -> bool:
    """Return whether a distribution of this name is installed."""
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def peer_label(package: str) -> str:
    """Return the name and version of a peer, or how to install it."""
    return (
        f"{package} {metadata.version(package)}"
        if installed(package)
        else "not installed: pip install 'gaitway[bench]'"
    )


def peak_memory() -> float:
    """Return the greatest memory that this process had [MB]; 0 where the system does not tell."""
    try:
        # Linux counts the parent's memory in ru_maxrss too: a child begins as a copy of it
        with open("/proc/self/status", encoding="utf-8") as file:  # noqa: PTH123  (a pseudo file of Linux)
            return next(float(line.split()[1]) / 1024.0 for line in file if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        if resource is None:
            return 0.0
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / (
            1024.0**2 if sys.platform == "darwin" else 1024.0
        )


def _processor() -> str:
    """Return the name of the processor if the system knows it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123  (a pseudo file of Linux)
            name = next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), "")
    except OSError:
        name = ""
    return name or platform.processor() or "unknown processor"
