"""A library like those of captures: the walk of the person, cut into single steps with a state for either foot."""

from __future__ import annotations

from dataclasses import replace

from gaitway.cast.catalog import load_cast
from gaitway.library.behavior import BehaviorGraph, Library
from gaitway.motion.editing import slice_frames, with_name

HALF = "walk_right"
"""The state in the middle of a stride; the cast itself has only that at its ends."""


def step_library() -> Library:
    """Return the person with walks in halves: from `walk` to `walk_right`, and from there to `walk` again."""
    person = load_cast("person")
    clips, behaviors = dict(person.clips), []
    for behavior in person.graph.behaviors:
        if (behavior.start, behavior.end) != ("walk", "walk") or behavior.obstacle is not None:
            behaviors.append(behavior)
            continue
        for part, start, end in (("first", "walk", HALF), ("second", HALF, "walk")):
            for name in behavior.clips:
                whole, middle = person.clips[name], len(person.clips[name]) // 2
                half = slice_frames(whole, 0, middle + 1) if part == "first" else slice_frames(whole, middle)
                clips[f"{name}_{part}"] = with_name(half, f"{name}_{part}")
            named = tuple(f"{name}_{part}" for name in behavior.clips)
            behaviors.append(replace(behavior, name=f"{behavior.name}_{part}", clips=named, start=start, end=end))
    return Library("steps", person.skeleton, clips, BehaviorGraph(tuple(behaviors)))
