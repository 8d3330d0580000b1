"""Benchmarks, with peers measured in the same run."""

from __future__ import annotations

from importlib import import_module

from gaitway.bench._timing import BenchRow, BenchTable, Timing
from gaitway.core.errors import GaitwayError

__all__ = ["BENCHES", "BenchRow", "BenchTable", "Timing", "run_benches"]


BENCHES = ("behavior", "graphs", "live", "motion", "render", "soak", "take", "tree", "variation", "world")
"""Names of all benchmarks: one module of this package each, loaded when it is run."""
LONG = ("soak",)
"""Benchmarks that run only if the user names them."""


def run_benches(name: str | None = None) -> list[BenchTable]:
    """Run one benchmark, or all that do not take long.

    Raises:
        GaitwayError: if there is no benchmark of that name.
    """
    if name is not None and name not in BENCHES:
        raise GaitwayError(f"no benchmark '{name}'; there are {', '.join(BENCHES)}")
    names = [key for key in BENCHES if key not in LONG] if name is None else [name]
    return [import_module(f"gaitway.bench.{key}").run() for key in names]
