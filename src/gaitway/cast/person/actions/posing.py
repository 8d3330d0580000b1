"""Whole-body posing: the smallest change of a motion that puts chosen points of the body where they must be.

Hands and knees on the floor bind the pelvis, the spine and all four limbs at once; no limb can be solved alone.
Every frame is one small least-squares problem (Gauss-Newton, damped by the stiffness of the joints). Where targets and
the given motion are smooth in time, so is the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.cast.person.actions import _kernels
from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import SkeletonError
from gaitway.motion.skeleton import ContactPoint, Skeleton

_FIRM = 1e5
"""Weight of a target [1/m^2] against a stiffness of 1 [1/rad^2]: leaves errors of a few hundredths of a millimetre."""
_FLOOR = 1e4
"""Weight against sinking [1/m^2]; below that of a target, so that the two cannot wrestle."""
_SETTLED = 1e-8
"""A step that changes the pose by less [m, rad] is the last."""


@dataclass(frozen=True, eq=False)
class Targets:
    """Where points of the body shall be, and which must stay over the floor."""

    points: tuple[ContactPoint, ...]
    places: FloatArray
    """World positions [m]; (F, P, 3)."""
    weights: FloatArray
    """How firmly each is held: 0 free, 1 exact; (F, P)."""
    floor: tuple[ContactPoint, ...] = ()
    """Points that must not sink."""
    heights: tuple[float, ...] | None = None
    """How far over the floor each of those must stay [m], such as the middle of a round knee; None is 0 for all."""


@dataclass(frozen=True, eq=False)
class Stiffness:
    """How unwilling the body is to leave the given motion."""

    joints: FloatArray
    """For each joint about its own x, y, z [1/rad^2]; (J, 3)."""
    root: FloatArray
    """For the root position along x, y, z [1/m^2]; (3,) or (F, 3)."""

    @staticmethod
    def of(skeleton: Skeleton, joints: Mapping[str, Sequence[float]], root: npt.ArrayLike) -> Stiffness:
        """From joint name endings ("UpLeg" serves both sides); the longest ending that fits counts, else 1."""
        rows = np.ones((len(skeleton), 3))
        for j, name in enumerate(skeleton.names):
            fitting = [key for key in joints if name.endswith(key)]
            if fitting:
                rows[j] = joints[max(fitting, key=len)]
        return Stiffness(rows, np.asarray(root, dtype=np.float64))


def solve_poses(
    skeleton: Skeleton,
    root: FloatArray,
    local: FloatArray,
    targets: Targets,
    stiffness: Stiffness,
    *,
    iterations: int = 12,
    in_turn: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Return the poses near a given motion whose points are on their targets.

    Args:
        skeleton: The skeleton of the motion.
        root: Root positions of the given motion [m]; (F, 3).
        local: Local rotations of it; (F, J, 4).
        targets: What must be met.
        stiffness: What it costs to leave the given motion.
        iterations: Gauss-Newton steps; a dozen is enough from half a metre away.
        in_turn: Begin each frame at the solution of the one before instead of at the given motion. Far from the given
            motion only this keeps neighbouring frames in the same one of several solutions.

    Returns:
        Root positions (F, 3) and local rotations (F, J, 4).
    """
    if targets.places.shape != (len(root), len(targets.points), 3):
        raise SkeletonError(
            f"target places have shape {targets.places.shape}, expected ({len(root)}, {len(targets.points)}, 3)"
        )
    if targets.heights is not None and len(targets.heights) != len(targets.floor):
        raise SkeletonError(
            f"{len(targets.floor)} points of the floor have {len(targets.heights)} heights; give one each"
        )
    points = (*targets.points, *targets.floor)
    place, turn = np.empty(root.shape), np.empty(local.shape)
    _kernels.solve_frames(
        skeleton.parents,
        skeleton.offsets,
        _ancestors(skeleton),
        np.ascontiguousarray(root),
        np.ascontiguousarray(local),
        np.array([p.joint for p in points], dtype=np.int64),
        np.array([p.offset for p in points], dtype=np.float64).reshape(-1, 3),
        np.ascontiguousarray(targets.places),
        _FIRM * targets.weights,
        _FLOOR,
        np.zeros(len(targets.floor)) if targets.heights is None else np.array(targets.heights, dtype=np.float64),
        stiffness.joints,
        np.ascontiguousarray(np.broadcast_to(stiffness.root, root.shape)),
        iterations,
        _SETTLED,
        in_turn,
        place,
        turn,
    )
    return place, rotations.normalize(turn)


def _ancestors(skeleton: Skeleton) -> BoolArray:
    """Return whether a joint moves another one when it turns: rows are moved, columns move; (J, J)."""
    out = np.eye(len(skeleton), dtype=bool)
    for j, p in enumerate(skeleton.parents):
        if p >= 0:
            out[j] |= out[p]
    return out
