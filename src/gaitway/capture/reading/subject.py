"""The subject of an import: takes are grouped by person, and put on one common skeleton."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.motion.anatomy import leg_length
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import humanoid_contact_points
from gaitway.motion.retarget import retarget
from gaitway.motion.skeleton import Skeleton

_SAME_PERSON = 0.05
"""Largest relative difference of bones in takes of one person; bones of different people differ by 7 % and more."""
_SHORTEST = 0.1
"""Least length by which differences are divided [m], so that short bones do not count too much."""
_BONES = (
    *(
        (f"{side}_{a}", f"{side}_{b}")
        for side in ("left", "right")
        for a, b in (("hip", "knee"), ("knee", "ankle"), ("ankle", "toe"), ("shoulder", "elbow"), ("elbow", "wrist"))
    ),
    ("left_hip", "right_hip"),
)


@dataclass(frozen=True, eq=False)
class SubjectGroups:
    """Indices of takes by person."""

    main: tuple[int, ...]
    """Takes of the main person, who has the longest total duration."""
    others: tuple[tuple[int, ...], ...]
    """Takes of each other person."""
    skeleton: Skeleton
    """Skeleton of the main person: the rig with the longest total duration; bones are the median of its takes."""


def find_people(clips: Sequence[Clip]) -> SubjectGroups:
    """Group takes by the bone lengths of their skeletons."""
    groups: list[list[int]] = []
    bones = [bone_lengths(clip.skeleton) for clip in clips]
    for i, own in enumerate(bones):
        for group in groups:
            if difference(own, bones[group[0]]) < _SAME_PERSON:
                group.append(i)
                break
        else:
            groups.append([i])
    groups.sort(key=lambda group: -sum(clips[i].duration for i in group))
    main = [clips[i] for i in groups[0]]
    return SubjectGroups(tuple(groups[0]), tuple(tuple(g) for g in groups[1:]), _common_skeleton(main))


def bone_lengths(skeleton: Skeleton) -> FloatArray:
    """Return the lengths of the main bones [m]; NaN for a bone that the rig does not have."""
    rest, roles = skeleton.rest_positions, skeleton.roles
    ends = [(roles.get(a), roles.get(b)) for a, b in _BONES]
    return np.array([np.nan if a is None or b is None else np.linalg.norm(rest[a] - rest[b]) for a, b in ends])


def difference(a: FloatArray, b: FloatArray) -> float:
    """Return the largest relative difference of two people's bones."""
    ratio = np.abs(a - b) / np.maximum(0.5 * (a + b), _SHORTEST)
    known = ratio[np.isfinite(ratio)]
    return float(known.max()) if len(known) else 1.0


def same_rig(a: Skeleton, b: Skeleton) -> bool:
    """Return whether two skeletons have the same joints at nearly the same offsets, so that they share rotations."""
    if a.names != b.names or not np.array_equal(a.parents, b.parents):
        return False
    return bool(np.abs(a.offsets[1:] - b.offsets[1:]).max(initial=0.0) < _SAME_PERSON)


def on_skeleton(clip: Clip, skeleton: Skeleton) -> Clip:
    """Return the motion of a clip on the subject's common skeleton."""
    if not same_rig(clip.skeleton, skeleton):
        return retarget(clip, skeleton, flat_feet=True)
    scale = leg_length(skeleton) / leg_length(clip.skeleton)
    return replace(clip, skeleton=skeleton, root_positions=clip.root_positions * scale)


def _common_skeleton(clips: Sequence[Clip]) -> Skeleton:
    """Return the rig with the longest total duration; offsets are the median of its takes, contact points are new."""
    rigs: list[list[Clip]] = []
    for clip in clips:
        for rig in rigs:
            if same_rig(clip.skeleton, rig[0].skeleton):
                rig.append(clip)
                break
        else:
            rigs.append([clip])
    rig = max(rigs, key=lambda rig: sum(clip.duration for clip in rig))
    offsets = np.median([clip.skeleton.offsets for clip in rig], axis=0)
    skeleton = replace(rig[0].skeleton, offsets=offsets, contact_points=())
    return replace(skeleton, contact_points=humanoid_contact_points(skeleton))
