"""Libraries extended by clips that fit the flights of stairs, the blocks and the escalators of one place."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from gaitway.core.cache import cached
from gaitway.core.errors import LibraryError
from gaitway.library.behavior import BehaviorGraph, Library
from gaitway.library.fitting.blocks import Block, block_heights, fitted_block
from gaitway.library.fitting.fitted_clip import FittedClip
from gaitway.library.fitting.flights import DIRECTIONS, Flight, fitted_flight
from gaitway.library.fitting.rides import Ride, fitted_ride, ride_clips
from gaitway.library.storage import pack_library, unpack_library

_FACTS = ("start", "end", "kind", "edge", "last_edge", "rise", "lift_s", "land_s", "pass_time", "tread")
"""What a fitted clip knows besides its clip."""


def fitted_library(
    library: Library, flights: Collection[Flight] = (), blocks: Collection[Block] = (), rides: Collection[Ride] = ()
) -> tuple[Library, dict[str, FittedClip]]:
    """Return a library with one more behaviour for each flight, block, direction and ride, and the new clips by name.

    All that the library has stays as it is and comes first. Equal flights share their clips. A block that is too low or
    too high in one direction gets no clip in it; `fitted_block` says why.

    Args:
        library: library with the clips that are fitted.
        flights: flights of stairs of a place.
        blocks: blocks of a place.
        rides: escalators of a place.

    Raises:
        LibraryError: if the library lacks the clips, or has a behaviour or clip of such a name already.
    """
    stairs = [(flight, direction) for flight in dict.fromkeys(flights) for direction in DIRECTIONS]
    climbs = [(block, way) for block in dict.fromkeys(blocks) for way in DIRECTIONS if _fits(library, block, way)]
    used = {name: library.clips[name] for b in library.graph.behaviors if b.obstacle is not None for name in b.clips}
    own = list(dict.fromkeys(rides))
    if own:
        used |= {name: library.clips[name] for behavior in ride_clips(library).used() for name in behavior.clips}
    fitted = cached(
        "fitted_clips",
        [__name__],
        [used, [b for b in library.graph.behaviors if b.obstacle is not None], stairs, climbs, *([own] if own else [])],
        lambda: (
            *(fitted_flight(library, flight, direction) for flight, direction in stairs),
            *(fitted_block(library, block.kind, block.height, direction) for block, direction in climbs),
            *(fitted_ride(library, ride) for ride in own),
        ),
        lambda made: _pack(library, made),
        lambda packed: _unpack(library, packed),
    )
    clips = {one.name: one for one in fitted}
    for name in clips:
        if name in library.clips or any(name == b.name for b in library.graph.behaviors):
            raise LibraryError(f"library '{library.name}' has a '{name}' already; give the library as it was before")
    graph = BehaviorGraph((*library.graph.behaviors, *(one.behavior for one in fitted)), library.graph.forbidden)
    added = {name: one.clip for name, one in clips.items()}
    return Library(library.name, library.skeleton, {**library.clips, **added}, graph), clips


def _fits(library: Library, block: Block, direction: str) -> bool:
    try:
        low, high = block_heights(library, block.kind, direction)
    except LibraryError:
        return False
    return low <= block.height <= high


def _pack(library: Library, fitted: tuple[FittedClip, ...]) -> dict[str, Any]:
    part = Library(library.name, library.skeleton, {one.name: one.clip for one in fitted})
    return pack_library(part) | {"fitted": [[getattr(one, fact) for fact in _FACTS] for one in fitted]}


def _unpack(library: Library, packed: Mapping[str, Any]) -> tuple[FittedClip, ...]:
    part = unpack_library(packed, library.skeleton)
    facts = [dict(zip(_FACTS, row, strict=True)) for row in packed["fitted"]]
    return tuple(FittedClip(clip=clip, **row) for clip, row in zip(part.clips.values(), facts, strict=True))
