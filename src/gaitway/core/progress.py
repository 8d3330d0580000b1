"""How long work tells its caller how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int | None], None]
"""Called with what is being done, how much of it is done, and how much there is (None where that is unknown)."""


def silent(what: str, done: int, total: int | None) -> None:
    """Tell nobody; the default of every function that reports progress."""
    del what, done, total
