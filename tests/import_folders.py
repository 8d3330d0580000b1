"""Folders of raw captures made of the built-in person's clips, for tests of importing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gaitway.cast.catalog import load_cast
from gaitway.motion.blending import concatenate
from gaitway.motion.formats import save_clip

WALK = ("stand", "start_walk", *["walk_forward"] * 2, "walk_left_30", "walk_forward", "walk_right_45", "walk_forward",
        "stop_walk", "stand")  # fmt: skip
JUMP = ("start_jog", *["jog_forward"] * 2, "jump", *["jog_forward"] * 2, "jog_left_30", "jog_forward", "stop_jog")
DUCK = ("start_walk", "walk_forward", "duck", "walk_forward", "stop_walk")
STRAIGHT = ("walk_forward",) * 4


def capture_folder(folder: Path, takes: Mapping[str, Sequence[str]]) -> Path:
    """Write takes, each of some behaviours one after another, as BVH files; returns the folder."""
    person = load_cast("person", behaviors=sorted({name for take in takes.values() for name in take}))
    folder.mkdir(parents=True, exist_ok=True)
    for name, behaviors in takes.items():
        clips = [person.clips[person.graph[b].clips[0]] for b in behaviors]
        save_clip(concatenate(clips, overlap=False, name=name), folder / f"{name}.bvh")
    return folder
