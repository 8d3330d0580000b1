"""Benchmarks, with peers measured in the same run."""

from __future__ import annotations

from collections.abc import Callable

from gaitway.bench._timing import BenchRow, BenchTable, Timing
from gaitway.errors import GaitwayError

__all__ = ["BENCHES", "BenchRow", "BenchTable", "Timing", "run_benches"]


def _behavior() -> BenchTable:
    from gaitway.bench.behavior import run  # noqa: PLC0415  (naming the benchmarks must not load them)

    return run()


def _motion() -> BenchTable:
    from gaitway.bench.motion import run  # noqa: PLC0415

    return run()


def _render() -> BenchTable:
    from gaitway.bench.render import run  # noqa: PLC0415

    return run()


def _take() -> BenchTable:
    from gaitway.bench.take import run  # noqa: PLC0415

    return run()


def _world() -> BenchTable:
    from gaitway.bench.world import run  # noqa: PLC0415

    return run()


BENCHES: dict[str, Callable[[], BenchTable]] = {
    "behavior": _behavior,
    "motion": _motion,
    "render": _render,
    "take": _take,
    "world": _world,
}
"""Every benchmark by name."""


def run_benches(name: str | None = None) -> list[BenchTable]:
    """Run one benchmark, or all of them.

    Raises:
        GaitwayError: if there is none of that name.
    """
    if name is not None and name not in BENCHES:
        raise GaitwayError(f"no benchmark '{name}'; there are {', '.join(BENCHES)}")
    return [bench() for key, bench in BENCHES.items() if name in (None, key)]
