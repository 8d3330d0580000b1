"""Whether everything hangs together: what can be reached, what can be stopped from, and what is missing."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gaitway.capture.making.clip_builder import Entry
from gaitway.capture.recognising.naming import STRAIGHT

_KINDS = ("jump", "duck", "crawl", "step")
"""Special motions that somebody may be captured in."""


def connected(entries: Sequence[Entry], home: str = "stand") -> tuple[list[Entry], list[Entry]]:
    """Behaviours between states that can be reached from standing and lead back to it; and those that are left out."""
    ways = [(e.start.name, e.end.name) for e in entries]
    ahead, back = _reached(ways, home), _reached([(b, a) for a, b in ways], home)
    inside = ahead & back
    kept = [e for e in entries if {e.start.name, e.end.name} <= inside]
    return kept, [e for e in entries if not {e.start.name, e.end.name} <= inside]


def _reached(ways: Collection[tuple[str, str]], start: str) -> set[str]:
    """States that can be reached from one."""
    found, edge = {start}, {start}
    while edge:
        edge = {b for a, b in ways if a in edge} - found
        found |= edge
    return found


def missing(entries: Sequence[Entry]) -> list[str]:
    """What a library lacks, a phrase each; the first ones make it useless."""
    going = [e for e in entries if e.start.kind == "step" or e.end.kind == "step"]
    out = []
    if not any(e.start.kind == "stand" and e.end.kind == "stand" and not e.special for e in entries):
        out.append("standing")
    if not any(e.start.kind == "stand" and e.end.kind == "step" for e in entries):
        out.append("a way to set off")
    if not any(e.end.kind == "stand" and e.start.kind == "step" for e in entries):
        out.append("a way to stop")
    if not any(e.start.kind == "step" and e.end.kind == "step" and not e.special for e in entries):
        out.append("steps that go on")
    turns = [e.turn for e in entries if not e.special]
    out += [f"a turn to the {side}" for side, sign in (("left", 1.0), ("right", -1.0))
            if not any(sign * t > STRAIGHT for t in turns)]  # fmt: skip
    if not going:
        out.append("anything that goes somewhere")
    return out


def lacking_specials(entries: Sequence[Entry]) -> list[str]:
    """Kinds of obstacle that nothing gets past."""
    return [kind for kind in _KINDS if not any(e.special == kind for e in entries)]


def limited(entries: Sequence[Entry], most: int) -> tuple[list[Entry], list[Entry]]:
    """No more behaviours than a number, those that come last left out unless they link states; and those that are."""
    order = sorted(range(len(entries)), key=lambda i: (not _links(entries[i]), i))
    kept = set(order[:most])
    return [e for i, e in enumerate(entries) if i in kept], [e for i, e in enumerate(entries) if i not in kept]


def _links(entry: Entry) -> bool:
    return entry.start.gait != entry.end.gait or entry.start.kind == "stand"
