"""Forward kinematics: joint positions from joint rotations; and velocities."""

from __future__ import annotations

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, read_only
from gaitway.core.errors import ClipError
from gaitway.motion import _kernels
from gaitway.motion.skeleton import Skeleton


def forward_kinematics(
    skeleton: Skeleton, root_positions: FloatArray, local_rotations: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Compute world positions and rotations of all joints, over any leading axes (frames, characters, both).

    Args:
        skeleton: skeleton of the joints.
        root_positions: root positions [m]; (..., 3).
        local_rotations: local rotations as unit quaternions wxyz; (..., J, 4).

    Returns:
        Positions (..., J, 3) [m] and world rotations (..., J, 4).
    """
    local = read_only(np.asarray(local_rotations, dtype=np.float64))
    roots = read_only(np.asarray(root_positions, dtype=np.float64))
    batch, joints = local.shape[:-2], len(skeleton)
    if local.shape[-2:] != (joints, 4) or roots.shape != (*batch, 3):
        raise ClipError(
            f"root positions {roots.shape} and rotations {local.shape} do not fit a skeleton of {joints} joints; "
            f"expected (..., 3) and (..., {joints}, 4)"
        )
    positions = np.empty((*batch, joints, 3))
    world = np.empty((*batch, joints, 4))
    _kernels.forward_kinematics(
        skeleton.parents,
        skeleton.offsets,
        roots.reshape(-1, 3),
        local.reshape(-1, joints, 4),
        positions.reshape(-1, joints, 3),
        world.reshape(-1, joints, 4),
    )
    return positions, world


def contact_positions(skeleton: Skeleton, root_positions: FloatArray, local_rotations: FloatArray) -> FloatArray:
    """Return the world positions of a skeleton's contact points in F poses [m]; (F, C, 3).

    Args:
        skeleton: skeleton of the joints.
        root_positions: root positions [m]; (F, 3).
        local_rotations: local rotations as unit quaternions wxyz; (F, J, 4).
    """
    positions, world = forward_kinematics(skeleton, root_positions, local_rotations)
    joints = [p.joint for p in skeleton.contact_points]
    offsets = np.array([p.offset for p in skeleton.contact_points]).reshape(-1, 3)
    return positions[:, joints] + rotations.rotate(world[:, joints], offsets)


def local_rotations(skeleton: Skeleton, world: FloatArray) -> FloatArray:
    """Return the local rotations (..., J, 4) that have these world rotations (..., J, 4)."""
    local = np.array(world, dtype=np.float64)
    local[..., 1:, :] = rotations.multiply(rotations.conjugate(world[..., skeleton.parents[1:], :]), world[..., 1:, :])
    return local


def linear_velocities(positions: FloatArray, fps: float) -> FloatArray:
    """Return velocities [m/s] of positions (F, ..., 3) by central differences, one-sided at the ends."""
    return np.gradient(positions, axis=0) * fps if len(positions) > 1 else np.zeros_like(positions)


def angular_velocities(q: FloatArray, fps: float) -> FloatArray:
    """Return angular velocities [rad/s] (F-1, ..., 3) between frames of (F, ..., 4), in the parent's frame."""
    return rotations.to_rotation_vector(rotations.multiply(q[1:], rotations.conjugate(q[:-1]))) * fps
