"""Generating libraries of the built-in cast; results that took long are kept on disk (`gaitway.core.cache`)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gaitway.cast.catalog import CASTS, STYLE_NAMES, CastParts, load_cast, part_of
from gaitway.cast.recipes import CastClip
from gaitway.core.cache import cached
from gaitway.core.errors import LibraryError
from gaitway.core.suggest import did_you_mean
from gaitway.library.behavior import Behavior, BehaviorGraph, Library
from gaitway.library.storage import pack_library, unpack_library
from gaitway.motion.skeleton import Skeleton


def generate_cast(
    name: str,
    *,
    style: str | int | object | None = None,
    seed: int = 0,
    takes: int = 1,
    behaviors: Collection[str] | None = None,
) -> Library:
    """Generate a built-in character's library, even if it is baked. The arguments are those of `load_cast`.

    Raises:
        LibraryError: If there is no such style or behaviour.
    """
    cast = CASTS[name]
    manner = _style(cast, style)
    asked = None if behaviors is None else sorted(set(behaviors))

    def generate() -> Library:
        return _generate(name, manner, seed, takes, asked)

    if type(manner) is not part_of(cast.style):  # a class of the caller's own, whose source is unknown
        return generate()
    return cached(
        "cast",
        ("gaitway.cast",),
        (name, manner, seed, takes, asked),
        generate,
        pack_library,
        lambda packed: unpack_library(packed, part_of(cast.skeleton)()),
    )


def _generate(name: str, manner: Any, seed: int, takes: int, asked: Collection[str] | None) -> Library:
    cast = CASTS[name]
    entries: list[CastClip] = []
    for builder in cast.builders:
        entries += part_of(builder)(manner, seed, takes, asked)
    if asked is not None:
        _check_asked(name, asked, entries)
    return library_of(name, part_of(cast.skeleton)(), entries, cast.weights, cast.efforts)


def library_of(
    name: str,
    skeleton: Skeleton,
    entries: Sequence[CastClip],
    weights: Mapping[str, float] | None = None,
    efforts: Mapping[str, float] | None = None,
) -> Library:
    """Gather clips into behaviours and these into a graph.

    Args:
        name: Name of the library.
        skeleton: Skeleton of all clips.
        entries: The clips.
        weights: Cost factors of behaviours that begin or end in a state, by state; 1 for all others.
        efforts: Further cost factors, by behaviour; 1 for all others.

    Raises:
        LibraryError: If two clips have one name, or takes of one behaviour disagree about their states or obstacle.
    """
    clips = {entry.clip.name: entry.clip for entry in entries}
    if len(clips) < len(entries):
        names = [entry.clip.name for entry in entries]
        raise LibraryError(f"cast '{name}' has two clips '{next(n for n in names if names.count(n) > 1)}'")
    takes: dict[str, list[CastClip]] = {}
    for entry in entries:
        takes.setdefault(entry.behavior, []).append(entry)
    made = (_behavior(name, takes[b], weights or {}, (efforts or {}).get(b, 1.0)) for b in takes)
    return Library(name, skeleton, clips, BehaviorGraph(tuple(made)))


def _behavior(cast: str, takes: Sequence[CastClip], weights: Mapping[str, float], effort: float) -> Behavior:
    first = takes[0]
    for other in takes[1:]:
        if (other.start, other.end, other.obstacle) != (first.start, first.end, first.obstacle):
            raise LibraryError(
                f"cast '{cast}': clips '{first.clip.name}' and '{other.clip.name}' are takes of '{first.behavior}' "
                "but differ in start, end or obstacle"
            )
    names = tuple(entry.clip.name for entry in takes)
    weight = max(weights.get(first.start, 1.0), weights.get(first.end, 1.0))
    return Behavior(first.behavior, names, first.start, first.end, first.obstacle, first.pass_time, weight * effort)


def _style(cast: CastParts, style: str | int | object | None) -> Any:
    kind = part_of(cast.style)
    if style is None or isinstance(style, kind):
        return kind() if style is None else style
    number = re.fullmatch(r"(?:drawn-)?(\d{1,9})", str(style))
    if number:
        return kind.draw(int(number[1]))
    if style not in STYLE_NAMES:
        raise LibraryError(
            f"no style '{style}'; there are {', '.join(STYLE_NAMES)}, or write a number to draw an individual"
        )
    return kind.named(style)


def _check_asked(name: str, asked: Collection[str], entries: Sequence[CastClip]) -> None:
    missing = sorted(set(asked) - {entry.behavior for entry in entries})
    if missing:
        everything = sorted(behavior.name for behavior in load_cast(name).graph.behaviors)
        raise LibraryError(
            f"cast '{name}' has no behaviour '{missing[0]}'{did_you_mean(missing[0], everything)}; "
            f"there are {', '.join(everything)}"
        )
