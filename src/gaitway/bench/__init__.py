"""Benchmarks, with peers measured in the same run."""

from __future__ import annotations

from importlib import import_module

from gaitway.bench._timing import BenchRow, BenchTable, Timing
from gaitway.core.errors import GaitwayError
from gaitway.core.suggest import did_you_mean

__all__ = ["BENCHES", "BenchRow", "BenchTable", "Timing", "run_benches"]


BENCHES = (
    "behavior",
    "bodies",
    "crowd",
    "deform",
    "fuzz",
    "graphs",
    "levels",
    "limbs",
    "live",
    "motion",
    "render",
    "soak",
    "take",
    "tree",
    "variation",
    "world",
)
"""Names of all benchmarks: one module of this package each, loaded when it is run."""
LONG = ("fuzz", "soak")
"""Benchmarks that run only if the user names them; the user can say for how long."""


def run_benches(name: str | None = None, minutes: float | None = None) -> list[BenchTable]:
    """Run one benchmark, or all that do not take long.

    Args:
        name: name of a benchmark; None for all but those of `LONG`.
        minutes: length of one of `LONG` [min]; None for its usual length.

    Raises:
        GaitwayError: if there is no benchmark of that name, or it has a length of its own.
    """
    if name is not None and name not in BENCHES:
        raise GaitwayError(f"no benchmark '{name}'; there are {', '.join(BENCHES)}{did_you_mean(name, BENCHES)}")
    if minutes is not None and name not in LONG:
        raise GaitwayError(f"--minutes is for the benchmarks {' and '.join(LONG)} only; leave it out")
    names = [key for key in BENCHES if key not in LONG] if name is None else [name]
    length = {} if minutes is None else {"minutes": minutes}
    return [import_module(f"gaitway.bench.{key}").run(**length) for key in names]
