"""Capsules of bodies: where those of a pose are, where two of them are nearest, and which way bodies part.

Both that which plans the bodies of a whole throng (`separation`) and live throngs move bodies apart by these.
"""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray, SingleArray
from gaitway.core.jit import kernel


@kernel
def capsule_axes(
    rows: IntArray,
    roots: FloatArray,
    local: SingleArray,
    parents: IntArray,
    offsets: FloatArray,
    joints: IntArray,
    starts: FloatArray,
    ends: FloatArray,
    radii: FloatArray,
    segments: SingleArray,
    places: FloatArray,
    extents: FloatArray,
) -> None:
    """Find the capsules of poses.

    Args:
        rows: which poses; (N,).
        roots: positions of roots [m]; (R, 3).
        local: local rotations; (R, J, 4).
        parents: of the joints; (J,).
        offsets: of the joints [m]; (J, 3).
        joints: see `CapsuleBody`.
        starts: see `CapsuleBody`.
        ends: see `CapsuleBody`.
        radii: see `CapsuleBody`.
        segments: axes of capsules [m]; (R, C, 2, 3). Rows are filled.
        places: where roots are on the ground [m]; (R, 2). Rows are filled.
        extents: how far bodies reach from there [m]; (R,). Rows are filled.
    """
    world, at = np.empty((len(parents), 4)), np.empty((len(parents), 3))
    for row in rows:
        for j in range(len(parents)):
            p = parents[j]
            w, x, y, z = (
                float(local[row, j, 0]),
                float(local[row, j, 1]),
                float(local[row, j, 2]),
                float(local[row, j, 3]),
            )
            if p < 0:
                world[j, 0], world[j, 1], world[j, 2], world[j, 3] = w, x, y, z
                at[j, 0], at[j, 1], at[j, 2] = roots[row, 0], roots[row, 1], roots[row, 2]
                continue
            a, b, c, d = world[p, 0], world[p, 1], world[p, 2], world[p, 3]
            world[j, 0], world[j, 1] = a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y
            world[j, 2], world[j, 3] = a * y - b * z + c * w + d * x, a * z + b * y - c * x + d * w
            ox, oy, oz = offsets[j, 0], offsets[j, 1], offsets[j, 2]
            tx, ty, tz = 2.0 * (c * oz - d * oy), 2.0 * (d * ox - b * oz), 2.0 * (b * oy - c * ox)
            at[j, 0] = at[p, 0] + ox + a * tx + c * tz - d * ty
            at[j, 1] = at[p, 1] + oy + a * ty + d * tx - b * tz
            at[j, 2] = at[p, 2] + oz + a * tz + b * ty - c * tx
        places[row, 0], places[row, 1] = roots[row, 0], roots[row, 1]
        farthest = 0.0
        for i in range(len(joints)):
            j = joints[i]
            a, b, c, d = world[j, 0], world[j, 1], world[j, 2], world[j, 3]
            for end in range(2):
                ox, oy, oz = (
                    (starts[i, 0], starts[i, 1], starts[i, 2]) if end == 0 else (ends[i, 0], ends[i, 1], ends[i, 2])
                )
                tx, ty, tz = 2.0 * (c * oz - d * oy), 2.0 * (d * ox - b * oz), 2.0 * (b * oy - c * ox)
                x, y = at[j, 0] + ox + a * tx + c * tz - d * ty, at[j, 1] + oy + a * ty + d * tx - b * tz
                segments[row, i, end, 0], segments[row, i, end, 1] = x, y
                segments[row, i, end, 2] = at[j, 2] + oz + a * tz + b * ty - c * tx
                x, y = x - roots[row, 0], y - roots[row, 1]
                farthest = max(farthest, np.sqrt(x * x + y * y) + radii[i])
        extents[row] = farthest


@kernel(inner=True)
def nearest_shares(uu: float, vv: float, uv: float, uw: float, vw: float) -> tuple[float, float]:
    """Return where two segments are nearest to one another, as shares of their lengths.

    Args:
        uu: square of the length of the first.
        vv: of the second.
        uv: product of both.
        uw: product of the first and the way from the beginning of the second to that of the first.
        vw: product of the second and that way.
    """
    area = uu * vv - uv * uv
    s, t = 0.0, 0.0
    if area > 1e-9 * uu * vv:
        s = min(max((uv * vw - vv * uw) / area, 0.0), 1.0)
    if vv > 0.0:
        t = min(max((uv * s + vw) / vv, 0.0), 1.0)
    if uu > 0.0:
        s = min(max((uv * t - uw) / uu, 0.0), 1.0)
    return s, t


@kernel(inner=True)
def towards(nx: float, ny: float, wx: float, wy: float) -> tuple[float, float]:
    """Return the unit vector half way between the way out of a limb and the way from root to root."""
    away = np.sqrt(wx * wx + wy * wy)
    if away > 1e-6:
        nx, ny = nx + wx / away, ny + wy / away
    length = np.sqrt(nx * nx + ny * ny)
    if length < 1e-6:
        return 1.0, 0.0
    return nx / length, ny / length
