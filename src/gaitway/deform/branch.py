"""Branches: fragments in a row become motion, whose arms and trunk are narrowed, and then clips of a plan's own steps.

Only the branch that a search has chosen is refined: the path level tells soon enough what cannot fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray
from gaitway.deform._tuck_kernels import CORE
from gaitway.deform.place import SqueezePlace
from gaitway.deform.planting import planted
from gaitway.deform.squeezing import Squeezed
from gaitway.deform.tucking import body_depths, capsule_groups, tuck
from gaitway.motion.clip import Clip
from gaitway.performing.arrival.bending import bent, follow_path
from gaitway.performing.arrival.footwork import laid

DEEPEST = 0.008
"""Greatest depth of the whole body in anything [m]; the audit allows 1 cm."""
_CHANGED = 1e-7


@dataclass(frozen=True, eq=False)
class RefinedBranch:
    """The motion of fragments in a row."""

    clips: tuple[Clip, ...]
    """Motion of each fragment in the world."""
    changed: tuple[bool, ...]
    """Whether each differs from its clip."""
    depth: float
    """How deep the body still lies in something [m]; 0 if it is clear."""
    failed: int
    """Number of the fragment in which it does, or -1."""
    blocker: str | None


def posed(squeezed: Squeezed) -> Clip:
    """Return the motion of a fragment in the world: its body follows the path, and feet that are down stay."""
    fragment = squeezed.fragment
    clip = fragment.clip
    if fragment.work is not None and fragment.work.rolled is None and _differs(squeezed):
        if fragment.feet is not None:
            roots, turns = planted(clip, fragment.feet, squeezed.path)
            return replace(clip, root_positions=roots, rotations=turns)
        bend = follow_path(laid([fragment.work], [squeezed.start]), squeezed.path)
        if bend is not None:
            return bent(clip, bend)
    carry = planar.compose(squeezed.start, planar.inverse(clip.planar_path()[0]))
    roots, turns = np.array(clip.root_positions), np.array(clip.rotations)
    roots[:, :2] = planar.transform_points(carry, roots[:, :2])
    turns[:, 0] = rotations.multiply(rotations.from_yaw(carry[2]), turns[:, 0])
    return replace(clip, root_positions=roots, rotations=turns)


def core_clears(squeezed: Squeezed, times: FloatArray, place: SqueezePlace) -> bool:
    """Return whether the body without its arms touches nothing once its feet are planted; times are (F,) [s]."""
    clip = posed(squeezed)
    depths, _ = body_depths(clip, place, times, capsule_groups(clip.skeleton), DEEPEST)
    return not bool((depths[:, CORE] > 0.0).any())


def refined(branch: Sequence[Squeezed], times: Sequence[FloatArray], place: SqueezePlace) -> RefinedBranch:
    """Make the motion of fragments in a row, and narrow it where it touches something.

    Args:
        branch: the fragments.
        times: times of the frames of each [s]; (F,) each.
        place: the place.
    """
    clips = [posed(one) for one in branch]
    found = tuck(_joined(clips), place, np.concatenate(times), tolerance=DEEPEST)
    starts = np.cumsum([0, *(len(clip) for clip in clips)])
    out, changed = [], []
    for one, clip, a, b in zip(branch, clips, starts[:-1], starts[1:], strict=True):
        narrow = bool(np.any(found.arms[a:b] > 0.0) or np.any(found.trunk[a:b] != 0.0))
        turns = found.clip.rotations[a:b] if narrow else clip.rotations
        out.append(replace(clip, rotations=turns))
        changed.append(narrow or one.fragment.flat or _differs(one))
    failed = -1 if found.frame < 0 else int(np.searchsorted(starts, found.frame, side="right")) - 1
    return RefinedBranch(tuple(out), tuple(changed), found.depth, failed, found.blocker)


def may_fit(branch: Sequence[Squeezed], times: Sequence[FloatArray], place: SqueezePlace) -> str | None:
    """Return what the whole body lies in however it is narrowed, or None; for a few fragments in mid-way."""
    if not any(one.narrow > 0.0 or _differs(one) for one in branch):
        return None
    clips = [posed(one) for one in branch]
    found = tuck(_joined(clips), place, np.concatenate(times), tolerance=DEEPEST, goes_on=True)
    return None if found.frame < 0 else found.blocker


def _joined(clips: Sequence[Clip]) -> Clip:
    """Return clips in a row as one."""
    return replace(
        clips[0],
        root_positions=np.concatenate([clip.root_positions for clip in clips]),
        rotations=np.concatenate([clip.rotations for clip in clips]),
        contacts=None,
    )


def _differs(squeezed: Squeezed) -> bool:
    """Return whether a fragment was deformed."""
    path = squeezed.fragment.path
    bent = path is not None and bool(np.abs(squeezed.points - path.points).max() > _CHANGED)
    return bent or squeezed.fragment.steered_by > 0.0
