"""The type of progress reports: how long-running work tells its caller how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int | None], None]
"""Function that is called with the task, the amount done and the total amount (None if unknown)."""


def silent(what: str, done: int, total: int | None) -> None:
    """Ignore a progress report; the default of every function that reports progress."""
    del what, done, total
