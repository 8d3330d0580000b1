"""Recipes of clips, and clips with their place in the behaviour graph: what builders of the cast return."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from gaitway.core.errors import LibraryError
from gaitway.motion.clip import Clip

Manner = TypeVar("Manner")
"""Type of a cast's styles."""


@dataclass(frozen=True, eq=False)
class CastClip:
    """One clip of a built-in character and its place in the behaviour graph.

    Builders (`locomotion_clips`, `action_clips`, `stepping_clips`, ...) are functions of style, seed, takes and the
    behaviours asked for (None for all), and return lists of these, made by `cast_clips`. `catalog.load_cast` gathers
    entries that have the same `behavior` into one `Behavior` (they are its takes, so they must agree in `start`, `end`
    and `obstacle`) and keeps `clip.name`, which must be unique within the cast.

    The first frame of the clip is the hub pose of `start` and its last frame the hub pose of `end`, up to a planar
    move: when B follows A, the first frame of B replaces the last frame of A. In further takes, pelvis and legs are
    those of the hubs, and trunk, arms and head differ, so that takes are not pinched to one pose at every join
    (`performing.joins` leads them on from one another).
    """

    clip: Clip
    behavior: str
    """Name of the behaviour that this is a take of, such as "jog_left_30"."""
    start: str
    """State (hub pose) that its first frame is in, such as "stand", "walk" or "jog"."""
    end: str
    """State that its last frame is in."""
    obstacle: str | None = None
    """Kind of special obstacle that it passes ("jump", "duck", "crawl" ...), or None."""
    pass_time: float | None = None
    """Seconds from the first frame to the middle of the passage; given if and only if `obstacle` is."""

    def __post_init__(self) -> None:
        if (self.obstacle is None) != (self.pass_time is None):
            raise LibraryError(f"clip '{self.clip.name}': give obstacle and pass_time together, or neither")
        if self.pass_time is not None and not 0.0 <= self.pass_time <= self.clip.duration:
            raise LibraryError(
                f"clip '{self.clip.name}': pass_time {self.pass_time:.3g} s is outside its {self.clip.duration:.3g} s"
            )


@dataclass(frozen=True)
class Recipe(Generic[Manner]):
    """How the takes of one behaviour are made."""

    behavior: str
    start: str
    end: str
    """States of the first frame and of the last frame."""
    make: Callable[[str, Manner, int], Clip | tuple[Clip, float]]
    """Function of name, style and seed that makes a take: the clip, and the time [s] at which it passes an obstacle."""
    obstacle: str | None = None
    further: Callable[[str, Manner, int], Clip] | None = None
    """Function that makes all takes but the first, with ends and a length of their own; None makes them as the
    first."""
    ways: Mapping[str, Callable[[str, Manner, int], Clip | tuple[Clip, float]]] = field(default_factory=dict)
    """Makers of further clips over the same steps in the same time, by a word for the way in which the body is carried.
    Every take has all of them, so that two people who pass the same obstacle do not do it alike."""


def cast_clips(
    recipes: Iterable[Recipe[Manner]],
    style: Manner,
    seed: int = 0,
    takes: int = 1,
    behaviors: Collection[str] | None = None,
) -> list[CastClip]:
    """Return the takes of all recipes that are asked for.

    Args:
        recipes: Recipes of a builder.
        style: Style of the character.
        seed: Seed of the differences between takes; the same seed gives the same bytes, whatever else is asked for.
        takes: Takes of a behaviour. The first has the behaviour's name, the others ".1", ".2" ... behind it, and the
            ways of a take their words behind that.
        behaviors: Only these; None for all.
    """
    out = []
    for recipe in recipes:
        if behaviors is not None and recipe.behavior not in behaviors:
            continue
        for take in range(takes):
            name = recipe.behavior if take == 0 else f"{recipe.behavior}.{take}"
            draw = int(np.random.SeedSequence([seed, take, *recipe.behavior.encode()]).generate_state(1)[0])
            make = recipe.make if take == 0 or recipe.further is None else recipe.further
            makers = {name: make, **{f"{name}.{word}": way for word, way in recipe.ways.items()}}
            for title, maker in makers.items():
                made = maker(title, style, draw)
                clip, passing = made if isinstance(made, tuple) else (made, None)
                out.append(CastClip(clip, recipe.behavior, recipe.start, recipe.end, recipe.obstacle, passing))
    return out
