"""The built-in cast by name: `load_cast` returns a character's `Library`.

The libraries that are used most are shipped with the package (`gaitway.cast.baked`). All others are generated when they
are asked for, and only those behaviours that are asked for. What took long is kept on disk (`gaitway.core.cache`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from gaitway.cast.baked import SEED, TAKES, baked_library
from gaitway.cast.recipes import STYLE_NAMES, CastClip
from gaitway.core.cache import cached
from gaitway.core.errors import LibraryError
from gaitway.core.suggest import did_you_mean
from gaitway.library.behavior import Behavior, BehaviorGraph, Library
from gaitway.library.packing import pack_library, unpack_library
from gaitway.motion.skeleton import Skeleton


@dataclass(frozen=True)
class _CastParts:
    """Where a character's parts are; modules are loaded on first use, so that listing names costs nothing."""

    skeleton: str
    """"module:function" that makes the skeleton."""
    style: str
    """"module:class" of its style, with `named(name)` and `draw(seed)`."""
    builders: tuple[str, ...]
    """"module:function" of each that makes clips: f(style, seed, takes, behaviors) -> list of `CastClip`."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Cost factors of behaviours that begin or end in a state, by state: a person does not crawl where it can walk."""


_HERE = "gaitway.cast"
_CASTS = {
    "person": _CastParts(
        "person.skeleton:person_skeleton",
        "person.styles:Style",
        (
            "person.gait.clips:locomotion_clips",
            "person.actions.clips:action_clips",
            "person.steps.clips:stepping_clips",
        ),
        {"crawl": 4.0, "back": 1.5, "side_left": 1.5, "side_right": 1.5},
    ),
    "horse": _CastParts("horse.skeleton:horse_skeleton", "horse.body:HorseStyle", ("horse.clips:horse_clips",)),
    "skateboarder": _CastParts(
        "skateboarder.skeleton:skateboarder_skeleton",
        "skateboarder.ride:SkaterStyle",
        ("skateboarder.clips:skateboarder_clips",),
    ),
}


def cast_names() -> tuple[str, ...]:
    """Return the names of the built-in characters."""
    return tuple(_CASTS)


def style_names() -> tuple[str, ...]:
    """Return the names of the individuals that every cast has."""
    return STYLE_NAMES


def load_cast(
    name: str,
    *,
    style: str | int | object | None = None,
    seed: int = 0,
    takes: int = 1,
    behaviors: Collection[str] | None = None,
) -> Library:
    """Return a built-in character's library.

    The library of the mean style with seed 0 and one take is read from the package, and so is any part of it. What else
    is asked for is generated.

    Args:
        name: One of `cast_names()`.
        style: Style: one of `style_names()`, a number that draws an individual, or a style object of the cast;
            None is the mean style.
        seed: Seed of what differs between takes of one behaviour; the same seed gives the same clips.
        takes: Number of clips for each behaviour.
        behaviors: Names of the wanted behaviours; None for all.

    Raises:
        LibraryError: If there is no such cast, style or behaviour.
    """
    if name not in _CASTS:
        raise LibraryError(f"no cast '{name}'; there are {', '.join(_CASTS)}{did_you_mean(name, _CASTS)}")
    if takes < 1:
        raise LibraryError(f"takes={takes}: every behaviour needs at least 1")
    if seed < 0:
        raise LibraryError(f"seed={seed} must not be negative")
    cast = _CASTS[name]
    asked = None if behaviors is None else sorted(set(behaviors))
    if (seed, takes) == (SEED, TAKES):
        known = _style_name(cast, style)
        baked = None if known is None else baked_library(name, known, _named(cast.skeleton)(), asked)
        if baked is not None:
            return baked
    return generate_cast(name, style=style, seed=seed, takes=takes, behaviors=asked)


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
    cast = _CASTS[name]
    manner = _style(cast, style)
    asked = None if behaviors is None else sorted(set(behaviors))

    def generate() -> Library:
        return _generate(name, manner, seed, takes, asked)

    if type(manner) is not _named(cast.style):  # a class of the caller's own, whose source is unknown
        return generate()
    return cached(
        "cast",
        ("gaitway.cast",),
        (name, manner, seed, takes, asked),
        generate,
        pack_library,
        lambda packed: unpack_library(packed, _named(cast.skeleton)()),
    )


def _generate(name: str, manner: Any, seed: int, takes: int, asked: Collection[str] | None) -> Library:
    cast = _CASTS[name]
    entries: list[CastClip] = []
    for builder in cast.builders:
        entries += _named(builder)(manner, seed, takes, asked)
    if asked is not None:
        _check_asked(name, asked, entries)
    return library_of(name, _named(cast.skeleton)(), entries, cast.weights)


def library_of(
    name: str, skeleton: Skeleton, entries: Sequence[CastClip], weights: Mapping[str, float] | None = None
) -> Library:
    """Gather clips into behaviours and these into a graph.

    Args:
        name: Name of the library.
        skeleton: Skeleton of all clips.
        entries: The clips.
        weights: Cost factors of behaviours that begin or end in a state, by state; 1 for all others.

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
    return Library(name, skeleton, clips, BehaviorGraph(tuple(_behavior(name, takes[b], weights or {}) for b in takes)))


def _behavior(cast: str, takes: Sequence[CastClip], weights: Mapping[str, float]) -> Behavior:
    first = takes[0]
    for other in takes[1:]:
        if (other.start, other.end, other.obstacle) != (first.start, first.end, first.obstacle):
            raise LibraryError(
                f"cast '{cast}': clips '{first.clip.name}' and '{other.clip.name}' are takes of '{first.behavior}' "
                "but differ in start, end or obstacle"
            )
    names = tuple(entry.clip.name for entry in takes)
    weight = max(weights.get(first.start, 1.0), weights.get(first.end, 1.0))
    return Behavior(first.behavior, names, first.start, first.end, first.obstacle, first.pass_time, weight)


def _style_name(cast: _CastParts, style: Any) -> str | None:
    """Return the name of a style if it is one of `style_names()`, or None. Words need no module of generators."""
    if style is None or isinstance(style, str | int):
        name = STYLE_NAMES[0] if style is None else style
        return name if isinstance(name, str) and name in STYLE_NAMES else None
    kind = _named(cast.style)
    if type(style) is kind and style.name in STYLE_NAMES and style == kind.named(style.name):
        return str(style.name)
    return None


def _style(cast: _CastParts, style: str | int | object | None) -> Any:
    kind = _named(cast.style)
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


def _named(place: str) -> Any:
    module, _, attribute = place.partition(":")
    return getattr(import_module(f"{_HERE}.{module}"), attribute)


def _check_asked(name: str, asked: Collection[str], entries: Sequence[CastClip]) -> None:
    missing = sorted(set(asked) - {entry.behavior for entry in entries})
    if missing:
        everything = sorted(behavior.name for behavior in load_cast(name).graph.behaviors)
        raise LibraryError(
            f"cast '{name}' has no behaviour '{missing[0]}'{did_you_mean(missing[0], everything)}; "
            f"there are {', '.join(everything)}"
        )
