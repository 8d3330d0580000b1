"""The built-in cast by name: `load_cast` returns a character's `Library`.

The libraries that are used most are shipped with the package (`gaitway.cast.baked`). All others are generated when they
are asked for (`gaitway.cast.generating`), and only those behaviours that are asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any
from zlib import crc32

from gaitway.core.errors import LibraryError
from gaitway.core.suggest import did_you_mean

if TYPE_CHECKING:
    from gaitway.library.behavior import Library

STYLE_NAMES = ("neutral", *(f"style-{number}" for number in range(1, 9)))
"""Names of the styles that every cast has: the mean one and eight others."""


@dataclass(frozen=True)
class CastParts:
    """The places of a character's parts. Modules are loaded on first use, so listing names costs nothing."""

    skeleton: str
    """"module:function" that makes the skeleton."""
    style: str
    """"module:class" of its style, with `named(name)` and `draw(seed)`."""
    builders: tuple[str, ...]
    """"module:function" of each that makes clips: f(style, seed, takes, behaviors) -> list of `CastClip`."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Cost factors of behaviours that begin or end in a state, by state: a person does not crawl where it can walk."""
    efforts: Mapping[str, float] = field(default_factory=dict)
    """Further cost factors, by behaviour: nobody jumps higher, or goes lower, than the obstacle asks for."""


_HERE = "gaitway.cast"
CASTS = {
    "person": CastParts(
        "person.skeleton:person_skeleton",
        "person.styles:Style",
        (
            "person.gait.clips:locomotion_clips",
            "person.actions.clips:action_clips",
            "person.steps.clips:stepping_clips",
        ),
        {"crawl": 4.0, "back": 1.5, "side_left": 1.5, "side_right": 1.5},
        {
            "hurdle": 1.1,
            "jump": 1.3,
            "long_jump": 1.5,
            "step_over_left": 1.05,
            "step_over_right": 1.05,
            "dip": 1.06,
            "duck": 1.12,
            "duck_jog": 1.12,
            "crouch": 2.5,
        },
    ),
    "horse": CastParts("horse.skeleton:horse_skeleton", "horse.body:HorseStyle", ("horse.clips:horse_clips",)),
    "skateboarder": CastParts(
        "skateboarder.skeleton:skateboarder_skeleton",
        "skateboarder.ride:SkaterStyle",
        ("skateboarder.clips:skateboarder_clips",),
    ),
}


def cast_names() -> tuple[str, ...]:
    """Return the names of the built-in characters."""
    return tuple(CASTS)


def style_names() -> tuple[str, ...]:
    """Return the names of the individuals that every cast has."""
    return STYLE_NAMES


def drawn_style(seed: int, name: str) -> str:
    """Return the style of somebody, drawn by name among all styles."""
    return STYLE_NAMES[crc32(f"{seed} {name} style".encode()) % len(STYLE_NAMES)]


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
    if name not in CASTS:
        raise LibraryError(f"no cast '{name}'; there are {', '.join(CASTS)}{did_you_mean(name, CASTS)}")
    if takes < 1:
        raise LibraryError(f"takes={takes}: every behaviour needs at least 1")
    if seed < 0:
        raise LibraryError(f"seed={seed} must not be negative")
    cast = CASTS[name]
    asked = None if behaviors is None else sorted(set(behaviors))
    baked = import_module("gaitway.cast.baked")
    known = _style_name(cast, style) if (seed, takes) == (baked.SEED, baked.TAKES) else None
    found: Library | None = None
    if known is not None:
        found = baked.baked_library(name, known, part_of(cast.skeleton)(), asked)
    if found is None:
        generating = import_module("gaitway.cast.generating")
        found = generating.generate_cast(name, style=style, seed=seed, takes=takes, behaviors=asked)
    return found


def _style_name(cast: CastParts, style: Any) -> str | None:
    """Return the name of a style if it is one of `style_names()`, or None. Words need no module of generators."""
    if style is None or isinstance(style, str | int):
        name = STYLE_NAMES[0] if style is None else style
        return name if isinstance(name, str) and name in STYLE_NAMES else None
    kind = part_of(cast.style)
    if type(style) is kind and style.name in STYLE_NAMES and style == kind.named(style.name):
        return str(style.name)
    return None


def part_of(place: str) -> Any:
    """Return a part of a cast that is named as "module:attribute" in `CastParts`."""
    module, _, attribute = place.partition(":")
    return getattr(import_module(f"{_HERE}.{module}"), attribute)
