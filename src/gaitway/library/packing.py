"""A library as a few plain arrays and words, from which it can be made again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gaitway.library.behavior import Behavior, BehaviorGraph, Library
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import Skeleton


def pack_library(library: Library) -> dict[str, Any]:
    """Arrays, and what JSON can hold, by name; all but the skeleton, which all clips must share."""
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
    """The library that was packed, the same to the last bit."""
    clips, last = {}, 0
    for key, (name, frames, fps, has_contacts, labels) in zip(packed["keys"], packed["clips"], strict=True):
        part, last = slice(last, last + frames), last + frames
        contacts = packed["contacts"][part] if has_contacts else None
        root, local = packed["root_positions"][part], packed["rotations"][part]
        clips[key] = Clip(skeleton, root, local, fps, name, contacts, tuple(labels))
    behaviors = tuple(Behavior(**{**words, "clips": tuple(words["clips"])}) for words in packed["behaviors"])
    forbidden = frozenset((before, after) for before, after in packed["forbidden"])
    return Library(packed["name"], skeleton, clips, BehaviorGraph(behaviors, forbidden))
