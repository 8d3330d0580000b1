"""Whole-body posing: the smallest change of a motion that puts chosen points of the body where they must be.

Hands and knees on the floor bind the pelvis, the spine and all four limbs at once; no limb can be solved alone.
Every frame is one small least-squares problem (Gauss-Newton, damped by the stiffness of the joints); all frames are
solved together. Where targets and the given motion are smooth in time, so is the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gaitway import rotations
from gaitway.arrays import BoolArray, FloatArray
from gaitway.errors import SkeletonError
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.skeleton import ContactPoint, Skeleton

_FIRM = 1e5
"""Weight of a target [1/m^2] against a stiffness of 1 [1/rad^2]: leaves errors of a few hundredths of a millimetre."""
_FLOOR = 1e4
"""Weight against sinking [1/m^2]; below that of a target, so that the two cannot wrestle."""


@dataclass(frozen=True, eq=False)
class Targets:
    """Where points of the body shall be, and which must stay over the floor."""

    points: tuple[ContactPoint, ...]
    places: FloatArray
    """World positions [m]; (F, P, 3)."""
    weights: FloatArray
    """How firmly each is held: 0 free, 1 exact; (F, P)."""
    floor: tuple[ContactPoint, ...] = ()
    """Points that must not sink below height 0."""


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
    """Poses near a given motion whose points are on their targets.

    Args:
        skeleton: whose joints.
        root: root positions of the given motion [m]; (F, 3).
        local: local rotations of it; (F, J, 4).
        targets: what must be met.
        stiffness: what it costs to leave the given motion.
        iterations: Gauss-Newton steps; a dozen is enough from half a metre away.
        in_turn: begin each frame at the solution of the one before instead of at the given motion. Slower, but far from
            the given motion only this keeps neighbouring frames in the same one of several solutions.

    Returns:
        Root positions (F, 3) and local rotations (F, J, 4).
    """
    if targets.places.shape != (len(root), len(targets.points), 3):
        raise SkeletonError(
            f"target places have shape {targets.places.shape}, expected ({len(root)}, {len(targets.points)}, 3)"
        )
    above = _ancestors(skeleton)
    place, turn = root.copy(), local.copy()
    spans = [slice(f, f + 1) for f in range(len(root))] if in_turn else [slice(0, len(root))]
    for span in spans:
        given, part = (
            (root[span], local[span]),
            replace(targets, places=targets.places[span], weights=targets.weights[span]),
        )
        stiff = replace(stiffness, root=np.broadcast_to(stiffness.root, root.shape)[span])
        now = (place[span], turn[span])
        if in_turn and span.start > 0:
            now = (place[span.start - 1 : span.start], turn[span.start - 1 : span.start])
        for _ in range(iterations if span.start == 0 else (iterations + 1) // 2):
            now = _step(skeleton, given, now, part, stiff, above)
        place[span], turn[span] = now
    return place, rotations.normalize(turn)


def _step(
    skeleton: Skeleton,
    given: tuple[FloatArray, FloatArray],
    now: tuple[FloatArray, FloatArray],
    targets: Targets,
    stiffness: Stiffness,
    above: BoolArray,
) -> tuple[FloatArray, FloatArray]:
    """One Gauss-Newton step: unknowns are the root's shift and one small world turn a joint."""
    place, turn = now
    positions, world = forward_kinematics(skeleton, place, turn)
    frames, joints = turn.shape[:2]
    axes = rotations.to_matrix(world)
    away = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(given[1]), turn))
    points = (*targets.points, *targets.floor)
    carriers = [p.joint for p in points]
    here = positions[:, carriers] + rotations.rotate(world[:, carriers], np.array([p.offset for p in points]))
    held = len(targets.points)
    error = here.copy()
    error[:, :held] -= targets.places
    weight = np.zeros((frames, len(points), 3))
    weight[:, :held] = _FIRM * targets.weights[..., None]
    weight[:, held:, 2] = _FLOOR * (here[:, held:, 2] < 0.0)
    slopes = _slopes(positions, here, above[carriers]).reshape(frames, 3 * len(points), -1)
    weighted = slopes * weight.reshape(frames, -1, 1)
    hessian = np.ascontiguousarray(np.swapaxes(weighted, -1, -2) @ slopes)
    gradient = np.einsum("fkd,fk->fd", weighted, error.reshape(frames, -1))
    blocks = (axes * stiffness.joints[:, None, :]) @ np.swapaxes(axes, -1, -2)
    for j in range(joints):
        at = slice(3 + 3 * j, 6 + 3 * j)
        hessian[:, at, at] += blocks[:, j]
    hessian[:, range(3), range(3)] += stiffness.root
    gradient[:, :3] += stiffness.root * (place - given[0])
    gradient[:, 3:] += np.einsum("fjik,fjk->fji", axes, stiffness.joints * away).reshape(frames, -1)
    change = -np.linalg.solve(hessian, gradient[..., None])[..., 0]
    vectors = change[:, 3:].reshape(frames, joints, 3)
    size = np.linalg.norm(vectors, axis=-1, keepdims=True)
    vectors = vectors * np.minimum(1.0, 0.5 / np.maximum(size, 1e-9))  # the linear model holds for half a radian
    local = np.einsum("fjki,fjk->fji", axes, vectors)  # a world turn, seen from the joint's own frame
    return place + change[:, :3], rotations.multiply(turn, rotations.from_rotation_vector(local))


def _slopes(positions: FloatArray, here: FloatArray, above: BoolArray) -> FloatArray:
    """How points (F, P, 3) move with the unknowns; (F, P, 3, 3 + 3 J). `above` (P, J): which joints move which."""
    frames, joints = positions.shape[:2]
    x, y, z = np.moveaxis((here[:, :, None] - positions[:, None]) * above[..., None], -1, 0)  # (F, P, J) each
    out = np.zeros((*here.shape, 3 + 3 * joints))
    out[..., :3] = np.eye(3)
    turns = out[..., 3:].reshape(*here.shape, joints, 3)  # a view
    turns[:, :, 0, :, 1], turns[:, :, 0, :, 2] = z, -y
    turns[:, :, 1, :, 0], turns[:, :, 1, :, 2] = -z, x
    turns[:, :, 2, :, 0], turns[:, :, 2, :, 1] = y, -x
    out[..., 3:] = turns.reshape(*here.shape, 3 * joints)
    return out


def _ancestors(skeleton: Skeleton) -> BoolArray:
    """Whether a joint moves another one when it turns: row the moved, column the mover; (J, J)."""
    out = np.eye(len(skeleton), dtype=bool)
    for j, p in enumerate(skeleton.parents):
        if p >= 0:
            out[j] |= out[p]
    return out
