"""Names of many things in one file or folder."""

from __future__ import annotations

from collections.abc import Iterable


def different(names: Iterable[str]) -> list[str]:
    """The same names, with _2, _3 ... after those that occurred before; upper and lower case count as the same."""
    taken: set[str] = set()
    counts: dict[str, int] = {}
    found = []
    for name in names:
        unique = name
        while unique.casefold() in taken:
            counts[name] = counts.get(name, 1) + 1
            unique = f"{name}_{counts[name]}"
        taken.add(unique.casefold())
        found.append(unique)
    return found
