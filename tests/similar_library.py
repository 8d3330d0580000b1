"""Libraries with identical and similar clips, made by hand: arms that swing otherwise, and paths that bend a little."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.library.behavior import Library
from gaitway.motion.clip import Clip

WALKS = ("walk_forward", "walk_left_30", "walk_right_30")
PARTS = (*WALKS, "stand", "wait", "start_walk", "stop_walk", "walk_short", "turn_left_90", "turn_right_90")


def armed(clip: Clip, number: int, angle: float) -> Clip:
    """A clip that moves alike, but lifts both arms sideways by an angle [rad] in the middle."""
    turned = np.array(clip.rotations)
    share = np.sin(np.linspace(0.0, np.pi, len(clip))) ** 2
    for role, side in (("left_shoulder", 1.0), ("right_shoulder", -1.0)):
        joint = clip.skeleton.roles[role]
        lift = rotations.from_rotation_vector(np.outer(side * angle * share, [1.0, 0.0, 0.0]))
        turned[:, joint] = rotations.multiply(lift, turned[:, joint])
    return Clip(
        clip.skeleton, clip.root_positions, rotations.normalize(turned), clip.fps, f"{clip.name}_armed_{number}",
        clip.contacts, ("variant",),
    )  # fmt: skip


def bent(clip: Clip, number: int, turn: float, stretch: float) -> Clip:
    """A similar clip: its path bends by a turn [rad] more and is longer by a factor; end poses stay."""
    share = turn * np.linspace(0.0, 1.0, len(clip))
    steps = stretch * np.diff(clip.root_positions[:, :2], axis=0)
    c, s = np.cos(share[1:]), np.sin(share[1:])
    steps = np.column_stack([c * steps[:, 0] - s * steps[:, 1], s * steps[:, 0] + c * steps[:, 1]])
    roots, turned = np.array(clip.root_positions), np.array(clip.rotations)
    roots[1:, :2] = roots[0, :2] + np.cumsum(steps, axis=0)
    turned[:, 0] = rotations.multiply(rotations.from_yaw(share), turned[:, 0])
    return Clip(clip.skeleton, roots, turned, clip.fps, f"{clip.name}_bent_{number}", clip.contacts, ("variant",))


def with_variants(library: Library, names: Sequence[str], make: Callable[[Clip], Sequence[Clip]]) -> Library:
    """A library with what is made of the first clip of some behaviours."""
    made = {name: make(library.clips[library.graph[name].clips[0]]) for name in names}
    behaviors = tuple(
        replace(b, clips=(*b.clips, *(clip.name for clip in made.get(b.name, ())))) for b in library.graph.behaviors
    )
    clips = dict(library.clips) | {clip.name: clip for some in made.values() for clip in some}
    return replace(library, clips=clips, graph=replace(library.graph, behaviors=behaviors))


def people() -> Library:
    """Who walks, turns and stands, one clip each."""
    return load_cast("person", behaviors=PARTS)


def identical(count: int = 4, angle: float = 0.3) -> Library:
    """People with so many twins of each walk."""
    return with_variants(people(), WALKS, lambda clip: [armed(clip, k, angle * (k + 1) / count) for k in range(count)])


def similar(count: int = 4) -> Library:
    """People with so many kin of each walk, who end some centimetres and degrees elsewhere."""
    turns = np.radians(np.linspace(-4.0, 4.0, count)).tolist()
    return with_variants(
        people(), WALKS, lambda clip: [bent(clip, k, turn, 1.0 + 0.01 * (k % 3)) for k, turn in enumerate(turns)]
    )
