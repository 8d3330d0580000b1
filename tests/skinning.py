"""Where the vertices of an exported body are in a pose: plain linear skinning."""

from __future__ import annotations

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.export.meshes import SkinnedMesh
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.skeleton import Skeleton


def deformed(mesh: SkinnedMesh, skeleton: Skeleton, positions: FloatArray, turns: FloatArray) -> FloatArray:
    """Return where the vertices of a body are in a pose, as programs that open our files should show them.

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
