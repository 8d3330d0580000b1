"""A skinned mesh as file formats want it: one rest pose, four joints a vertex, faces grouped by material."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.skeleton import Skeleton


@dataclass(frozen=True, eq=False)
class Material:
    """A plain colour."""

    name: str
    color: tuple[float, float, float]
    """Linear RGB."""
    roughness: float = 0.8


@dataclass(frozen=True, eq=False)
class SkinnedMesh:
    """The body of one kind of character in its skeleton's rest pose (`rest_rotations`, root at `offsets[0]`)."""

    points: FloatArray
    """World positions in the rest pose [m]; (V, 3)."""
    normals: FloatArray
    """Unit; (V, 3)."""
    joints: npt.NDArray[np.uint16]
    """Joints that move each vertex; unused ones are 0 with weight 0; (V, 4)."""
    weights: npt.NDArray[np.float32]
    """Their shares, each row sums to one; (V, 4)."""
    triangles: npt.NDArray[np.int32]
    """Corners, anticlockwise seen from outside; (T, 3)."""
    material_of: npt.NDArray[np.int32]
    """Index into `materials` of each triangle; (T,)."""
    materials: tuple[Material, ...]
    name: str = "body"


def deformed(mesh: SkinnedMesh, skeleton: Skeleton, positions: FloatArray, turns: FloatArray) -> FloatArray:
    """Where the vertices of a body are in a pose, as programs that open our files should show them.

    Args:
        mesh: the body.
        skeleton: its joints at rest.
        positions: world positions of the joints [m]; (J, 3).
        turns: their world rotations; (J, 4).

    Returns:
        World positions [m]; (V, 3).
    """
    rest_positions, rest_turns = forward_kinematics(skeleton, skeleton.offsets[0], skeleton.rest_rotations)
    local = rotations.rotate(
        rotations.conjugate(rest_turns)[mesh.joints], mesh.points[:, None] - rest_positions[mesh.joints]
    )
    moved = positions[mesh.joints] + rotations.rotate(turns[mesh.joints], local)
    return np.asarray(np.einsum("vk,vkc->vc", mesh.weights.astype(np.float64), moved))
