"""Motions of the built-in person for tests of snap-together motion: short, and made once."""

from __future__ import annotations

from functools import cache

import numpy as np

from gaitway.cast.catalog import load_cast
from gaitway.motion.blending import concatenate
from gaitway.motion.clip import Clip
from gaitway.motion.editing import move, with_name

WALKS = ("walk_forward", "walk_left_30", "walk_right_30", "walk_forward", "walk_short")


@cache
def person():
    """The library of the built-in person, with what walks and stands."""
    return load_cast("person", behaviors=(*WALKS, "stand", "step_front", "turn_left_45", "wait"))


@cache
def walk(style: int = 0) -> Clip:
    """Five walking behaviours one after another."""
    library = person()
    order = np.roll(np.arange(len(WALKS)), style)
    clips = [library.clips[library.graph[WALKS[i]].clips[0]] for i in order]
    return with_name(move(concatenate(clips, overlap=False), [0.3 * style, 0.5, 0.7 * style]), f"walk-{style}")


@cache
def stand() -> Clip:
    """Standing about, with a step in between."""
    library = person()
    clips = [library.clips[library.graph[name].clips[0]] for name in ("stand", "step_front", "stand", "turn_left_45")]
    return with_name(concatenate(clips, overlap=False), "stand")
