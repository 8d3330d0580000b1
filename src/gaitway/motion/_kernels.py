"""Compiled loops of `gaitway.motion`: plain arrays in, plain arrays out."""

from __future__ import annotations

from gaitway._jit import kernel
from gaitway.arrays import FloatArray, IntArray


@kernel
def forward_kinematics(
    parents: IntArray, offsets: FloatArray, roots: FloatArray, local: FloatArray, positions: FloatArray, world: FloatArray
) -> None:
    """World positions (N, J, 3) and rotations (N, J, 4) of N poses, written into the last two arguments."""
    for n in range(local.shape[0]):
        for j in range(local.shape[1]):
            p = parents[j]
            w, x, y, z = local[n, j, 0], local[n, j, 1], local[n, j, 2], local[n, j, 3]
            if p < 0:
                world[n, j, 0], world[n, j, 1], world[n, j, 2], world[n, j, 3] = w, x, y, z
                positions[n, j, 0], positions[n, j, 1], positions[n, j, 2] = roots[n, 0], roots[n, 1], roots[n, 2]
                continue
            a, b, c, d = world[n, p, 0], world[n, p, 1], world[n, p, 2], world[n, p, 3]
            world[n, j, 0] = a * w - b * x - c * y - d * z
            world[n, j, 1] = a * x + b * w + c * z - d * y
            world[n, j, 2] = a * y - b * z + c * w + d * x
            world[n, j, 3] = a * z + b * y - c * x + d * w
            ox, oy, oz = offsets[j, 0], offsets[j, 1], offsets[j, 2]
            tx, ty, tz = 2.0 * (c * oz - d * oy), 2.0 * (d * ox - b * oz), 2.0 * (b * oy - c * ox)
            positions[n, j, 0] = positions[n, p, 0] + ox + a * tx + c * tz - d * ty
            positions[n, j, 1] = positions[n, p, 1] + oy + a * ty + d * tx - b * tz
            positions[n, j, 2] = positions[n, p, 2] + oz + a * tz + b * ty - c * tx
