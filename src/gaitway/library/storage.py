"""Libraries as plain arrays and words, for caches in memory and for files (.gwlib)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from gaitway.core.archives import (
    ArchiveFormat,
    Arrays,
    FileHeader,
    Header,
    Spec,
    checked,
    read_archive,
    read_header,
    write_archive,
)
from gaitway.core.errors import FormatError, LibraryError
from gaitway.library.behavior import Behavior, BehaviorGraph, Library
from gaitway.motion import packing
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import Skeleton


def pack_library(library: Library) -> dict[str, Any]:
    """Return a library as arrays and JSON values by name, without the skeleton that all clips share."""
    clips, skeleton = list(library.clips.values()), library.skeleton
    points = len(skeleton.contact_points)
    contacts = [np.zeros((len(c), points), np.bool_) if c.contacts is None else c.contacts for c in clips]
    return {
        "name": library.name,
        "keys": list(library.clips),
        "clips": [[c.name, len(c), c.fps, c.contacts is not None, list(c.labels)] for c in clips],
        "behaviors": [vars(behavior) for behavior in library.graph.behaviors],
        "forbidden": sorted(library.graph.forbidden),
        # the first of each is empty, for a library without clips
        "root_positions": np.concatenate([np.empty((0, 3)), *(c.root_positions for c in clips)]),
        "rotations": np.concatenate([np.empty((0, len(skeleton), 4)), *(c.rotations for c in clips)]),
        "contacts": np.concatenate([np.empty((0, points), np.bool_), *contacts]),
    }


def unpack_library(packed: Mapping[str, Any], skeleton: Skeleton) -> Library:
    """Return the library that was packed, bit for bit the same."""
    clips, last = {}, 0
    for key, (name, frames, fps, has_contacts, labels) in zip(packed["keys"], packed["clips"], strict=True):
        part, last = slice(last, last + frames), last + frames
        contacts = packed["contacts"][part] if has_contacts else None
        root, local = packed["root_positions"][part], packed["rotations"][part]
        clips[key] = Clip(skeleton, root, local, fps, name, contacts, tuple(labels))
    behaviors = tuple(Behavior(**{**words, "clips": tuple(words["clips"])}) for words in packed["behaviors"])
    forbidden = frozenset((before, after) for before, after in packed["forbidden"])
    return Library(packed["name"], skeleton, clips, BehaviorGraph(behaviors, forbidden))


SUFFIX = ".gwlib"
FORMAT = ArchiveFormat("library", 1)
MAX_CLIPS = 100_000
MAX_BEHAVIORS = 10_000
LONGEST_S = 3600.0
"""Longest clip of a library [s]; a planner samples all of it."""
FARTHEST = 10_000.0
"""Largest offset of a joint, and largest distance that a clip leads from its start [m]."""


class BehaviorHeader(Header):
    """Words of a header that describe a behaviour."""

    name: str
    clips: Annotated[list[str], Field(min_length=1)]
    start: str
    end: str
    obstacle: str | None
    pass_time: Annotated[float, Field(ge=0.0, le=packing.LONGEST_S)] | None
    weight: Annotated[float, Field(ge=0.0, le=1e6)]


class LibraryHeader(FileHeader):
    """The header of a library."""

    name: str
    skeleton: packing.SkeletonHeader
    keys: list[str]
    clips: Annotated[list[packing.ClipHeader], Field(max_length=MAX_CLIPS)]
    behaviors: Annotated[list[BehaviorHeader], Field(max_length=MAX_BEHAVIORS)]
    forbidden: list[Annotated[list[str], Field(min_length=2, max_length=2)]]
    facts: dict[str, Any]


def save_library(library: Library, path: str | Path, facts: Mapping[str, Any] | None = None) -> None:
    """Write a library to one file, which appears only when it is complete.

    Args:
        library: library whose clips are all on its skeleton.
        path: a .gwlib file.
        facts: facts about the library as plain JSON values, such as its origin.

    Raises:
        LibraryError: if a clip is on another skeleton.
        FormatError: if the file cannot be written.
    """
    for key, clip in library.clips.items():
        if clip.skeleton is not library.skeleton:
            raise LibraryError(f"clip '{key}' is not on the skeleton of library '{library.name}'; put it there first")
    clips = list(library.clips.values())
    header = {
        "name": library.name,
        "skeleton": packing.skeleton_words(library.skeleton),
        "keys": list(library.clips),
        "clips": packing.clips_words(clips, {id(library.skeleton): 0}),
        "behaviors": [{**vars(behavior), "clips": list(behavior.clips)} for behavior in library.graph.behaviors],
        "forbidden": sorted(map(list, library.graph.forbidden)),
        "facts": dict(facts or {}),
    }
    arrays = packing.skeleton_arrays(library.skeleton, "skeleton") | packing.clips_arrays(clips)
    write_archive(path, FORMAT, header, arrays)


def load_library(path: str | Path) -> Library:
    """Read a library and check all of it.

    Raises:
        FormatError: if it is not a library, is damaged or was edited, is of a newer version, or asks for absurd sizes.
    """
    return read_archive(path, FORMAT, _specs, _library)


def describe_library(path: str | Path) -> dict[str, Any]:
    """Return the header of a library: name, skeleton, clips, behaviours and facts. Its motion is not read.

    Raises:
        FormatError: if it is not a library, or of a newer version.
    """
    header = read_header(path, FORMAT)
    try:
        checked(LibraryHeader, header)
    except ValueError as problem:
        raise FormatError(path, f"does not hold together: {problem}; save the library anew") from None
    return header


def _specs(header: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Spec]:
    del sizes
    checked(LibraryHeader, header)
    skeleton = packing.skeleton_specs(header["skeleton"], "skeleton")
    return skeleton | packing.clips_specs(header["clips"], [header["skeleton"]])


def _library(header: Mapping[str, Any], arrays: Arrays) -> Library:
    skeleton = packing.skeleton_from(header["skeleton"], arrays, "skeleton")
    clips = packing.clips_from(header["clips"], arrays, (skeleton,))
    behaviors = tuple(Behavior(**{**words, "clips": tuple(words["clips"])}) for words in header["behaviors"])
    forbidden = frozenset((before, after) for before, after in header["forbidden"])
    keyed = dict(zip(header["keys"], clips, strict=True))
    if len(keyed) < len(clips):
        raise LibraryError("two clips have the same name")
    library = Library(header["name"], skeleton, keyed, BehaviorGraph(behaviors, forbidden))
    _check_extents(library)
    return library


def _check_extents(library: Library) -> None:
    """Refuse motion that a planner would need endless memory for.

    Raises:
        LibraryError: naming the clip.
    """
    if np.abs(library.skeleton.offsets).max() > FARTHEST:
        raise LibraryError(f"a joint is more than {FARTHEST:g} m from its parent; offsets are in metres")
    for key, clip in library.clips.items():
        if clip.duration > LONGEST_S:
            raise LibraryError(f"clip '{key}' lasts {clip.duration:g} s; at most {LONGEST_S:g} s are possible")
        if np.abs(clip.root_positions).max() > FARTHEST:
            raise LibraryError(f"clip '{key}' leads more than {FARTHEST:g} m away; positions are in metres")
