"""Hints for misspelt words: the nearest word that would have been accepted."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """Return the choice that is most like a word, capital letters aside, or None if none is similar."""
    spelt: dict[str, str] = {}
    for choice in choices:
        spelt.setdefault(choice.lower(), choice)
    found = difflib.get_close_matches(word.lower(), list(spelt), n=1)
    return spelt[found[0]] if found else None


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return a hint to append to a message: "; did you mean 'x'?", or nothing if no choice is similar."""
    found = nearest(word, choices)
    return f"; did you mean '{found}'?" if found else ""
