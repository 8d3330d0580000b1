"""Whole-body inverse kinematics: the smallest change of a motion that puts chosen points of the body on targets.

Hands and knees on the floor constrain the pelvis, the spine and all four limbs together, so no limb can be solved
alone. Each frame is one small least-squares problem (Gauss-Newton, damped by the stiffness of the joints). The result
is smooth in time if the targets and the given motion are.

`gaitway.variation.sampling.constraints` solves another problem: all frames of a clip at once (Lau 2009, equation 5.7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import SkeletonError
from gaitway.motion import _whole_body_ik_kernels
from gaitway.motion.skeleton import ContactPoint, Skeleton

_FIRM = 1e5
"""Weight of a target [1/m^2] against a stiffness of 1 [1/rad^2]: leaves errors of a few hundredths of a millimetre."""
_FLOOR = 1e4
"""Weight against sinking below the floor [1/m^2]; lower than that of a target, so that targets win."""
_SETTLED = 1e-8
"""Iterations end after a step that changes the pose by less than this [m, rad]."""


@dataclass(frozen=True, eq=False)
class Targets:
    """Wanted positions of points of the body, and points that must stay above the floor."""

    points: tuple[ContactPoint, ...]
    """Points that have targets."""
    places: FloatArray
    """Targets: world positions [m]; (F, P, 3)."""
    weights: FloatArray
    """Weight of each target: 0 ignores it, 1 meets it exactly; (F, P)."""
    floor: tuple[ContactPoint, ...] = ()
    """Points that must not sink below their height."""
    heights: tuple[float, ...] | None = None
    """Least height of each of those above the floor [m], such as the centre of a round knee; None is 0 for all."""


@dataclass(frozen=True, eq=False)
class Stiffness:
    """Cost of leaving the given motion."""

    joints: FloatArray
    """Stiffness of each joint about its own x, y, z [1/rad^2]; (J, 3)."""
    root: FloatArray
    """Stiffness of the root position along x, y, z [1/m^2]; (3,) or (F, 3)."""

    @staticmethod
    def of(skeleton: Skeleton, joints: Mapping[str, Sequence[float]], root: npt.ArrayLike) -> Stiffness:
        """Build the stiffness of a skeleton from endings of joint names; "UpLeg" covers both sides.

        Args:
            skeleton: Skeleton of the motion.
            joints: Stiffness about x, y, z [1/rad^2] by ending. The longest ending that fits a joint counts; 1 if none.
            root: Stiffness of the root position [1/m^2]; (3,) or (F, 3).
        """
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
    """Find poses near a given motion whose points are on their targets.

    Args:
        skeleton: Skeleton of the motion.
        root: Root positions of the given motion [m]; (F, 3).
        local: Local rotations of the given motion; (F, J, 4).
        targets: Targets to meet.
        stiffness: Cost of leaving the given motion.
        iterations: Number of Gauss-Newton steps; a dozen is enough for targets half a metre away.
        in_turn: Whether each frame begins at the solution of the frame before, not at the given motion. Far from the
            given motion only this keeps neighbouring frames in the same one of several solutions.

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
    _whole_body_ik_kernels.solve_frames(
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
    """Return whether a joint (row) moves when another joint (column) turns; (J, J)."""
    out = np.eye(len(skeleton), dtype=bool)
    for j, p in enumerate(skeleton.parents):
        if p >= 0:
            out[j] |= out[p]
    return out
