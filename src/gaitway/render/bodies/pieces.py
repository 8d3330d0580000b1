"""Pieces of bodies: meshes that follow up to four joints, their builder, and the skinned mesh they are bound into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray, owned
from gaitway.motion.skeleton import Skeleton
from gaitway.render.bodies.palette import TONES
from gaitway.render.raster.mesh import SurfaceMesh, smooth_normals

INFLUENCES = 4
"""Largest number of joints that move one vertex; graphics cards and file formats take four."""
_FLAT = 0.15
"""Volume of a blend of rotations under which it is too flat to be undone."""


@dataclass(frozen=True, eq=False)
class BodyPiece:
    """A smooth mesh in the world of one pose, with the joints that move its vertices."""

    points: FloatArray
    """Vertices [m]; (V, 3)."""
    normals: FloatArray
    """Unit vectors outward; (V, 3)."""
    triangles: IntArray
    """Anticlockwise seen from outside; (T, 3)."""
    joints: IntArray
    """Joints that move each vertex, strongest first; (V, 4)."""
    weights: FloatArray
    """Shares of these joints; each row sums to one; (V, 4)."""
    tones: IntArray
    """Row of the palette of each vertex; (V,)."""


@dataclass(frozen=True, eq=False)
class BodyMesh:
    """A skinned mesh in its skeleton's rest pose (`rest_rotations`, the root at `offsets[0]`)."""

    points: FloatArray
    """World positions in the rest pose [m]; (V, 3)."""
    normals: FloatArray
    """Unit normals; (V, 3)."""
    joints: IntArray
    """Joints that move each vertex, strongest first; (V, 4)."""
    weights: FloatArray
    """Their shares, each row sums to one; (V, 4)."""
    triangles: npt.NDArray[np.int32]
    groups: npt.NDArray[np.int32]
    """Number of the piece that each triangle belongs to; (T,)."""
    tones: IntArray
    """Row of the palette, followed by `own_colors`; (V,)."""
    own_colors: FloatArray
    """Linear RGB of the recipe's own colours; (C, 3)."""
    rest_positions: FloatArray
    """World positions of the joints in the rest pose [m]; (J, 3)."""
    rest_turns: FloatArray
    """World rotations of the joints in the rest pose; (J, 4)."""


def rigid(mesh: SurfaceMesh, joint: int, tone: int) -> BodyPiece:
    """Return a piece that follows one joint and has one colour."""
    count = len(mesh.points)
    joints, weights = np.zeros((count, INFLUENCES), dtype=np.int64), np.zeros((count, INFLUENCES))
    joints[:, 0], weights[:, 0] = joint, 1.0
    return BodyPiece(mesh.points, mesh.normals, mesh.triangles, joints, weights, np.full(count, tone))


def strongest(weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the four joints (V, 4) with the greatest shares in (V, J), and their shares made to sum to one."""
    padded = np.pad(weights, ((0, 0), (0, max(0, INFLUENCES - weights.shape[1]))))
    joints = np.argsort(-padded, axis=1, kind="stable")[:, :INFLUENCES]
    shares = np.take_along_axis(padded, joints, axis=1)
    shares[shares < 0.004] = 0.0
    joints[shares == 0.0] = 0
    return joints, shares / shares.sum(axis=1, keepdims=True)


def bind(
    pieces: Sequence[BodyPiece],
    posed: tuple[FloatArray, FloatArray],
    rest: tuple[FloatArray, FloatArray],
    own_colors: FloatArray | None = None,
) -> BodyMesh:
    """Hang pieces on the joints that move them.

    Args:
        pieces: pieces in the world of one pose.
        posed: world positions [m] (J, 3) and rotations (J, 4) of the joints in that pose.
        rest: the same for the rest pose.
        own_colors: colours beyond the palette; (C, 3).
    """
    counts = [len(p.points) for p in pieces]
    starts = np.cumsum([0, *counts[:-1]])
    joints = np.concatenate([p.joints for p in pieces])
    weights = np.concatenate([p.weights for p in pieces])
    points, normals = _undone(
        np.concatenate([p.points for p in pieces]),
        np.concatenate([p.normals for p in pieces]),
        joints,
        weights,
        _moves(posed, rest),
    )
    triangles = np.concatenate([p.triangles + s for p, s in zip(pieces, starts, strict=True)])
    groups = np.repeat(np.arange(len(pieces)), [len(p.triangles) for p in pieces])
    tones = np.concatenate([p.tones for p in pieces])
    count = len(points)
    return BodyMesh(
        points=owned(points, "points", (count, 3)),
        normals=owned(normals, "normals", (count, 3)),
        joints=owned(joints, "joints", (count, INFLUENCES), np.int64),
        weights=owned(weights, "weights", (count, INFLUENCES)),
        triangles=owned(triangles, "triangles", (None, 3), np.int32),
        groups=owned(groups, "groups", (None,), np.int32),
        tones=owned(tones, "tones", (count,), np.int64),
        own_colors=owned(np.empty((0, 3)) if own_colors is None else own_colors, "own_colors", (None, 3)),
        rest_positions=owned(rest[0], "rest_positions", (None, 3)),
        rest_turns=owned(rest[1], "rest_turns", (len(rest[0]), 4)),
    )


def _moves(posed: tuple[FloatArray, FloatArray], rest: tuple[FloatArray, FloatArray]) -> FloatArray:
    """Return the transform of each joint from the rest pose to another pose; (..., J, 3, 4)."""
    turn = rotations.multiply(posed[1], rotations.conjugate(rest[1]))
    move = posed[0] - rotations.rotate(turn, rest[0])
    return np.concatenate([rotations.to_matrix(turn), move[..., None]], axis=-1)


def _undone(
    points: FloatArray, normals: FloatArray, joints: IntArray, weights: FloatArray, moves: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return skinned vertices in the rest pose; where a blend cannot be undone they follow their strongest joint."""
    blend = np.einsum("vk,vkab->vab", weights, moves[joints])
    flat = np.linalg.det(blend[:, :, :3]) < _FLAT
    blend[flat] = moves[joints[flat, 0]]
    back = np.linalg.inv(blend[:, :, :3])
    before = np.einsum("vab,vb->va", back, points - blend[:, :, 3])
    outward = np.einsum("vab,vb->va", back, normals)
    return before, outward / np.maximum(np.linalg.norm(outward, axis=-1, keepdims=True), 1e-12)


def bone_end(skeleton: Skeleton, joint: int) -> FloatArray | None:
    """Return the end of a joint's bone in its own frame [m] (3,): its first child with a length, else its tip."""
    for child in skeleton.children(joint):
        if np.linalg.norm(skeleton.offsets[child]) > 1e-6:
            return np.array(skeleton.offsets[child])
    if joint in skeleton.tips and np.linalg.norm(skeleton.tips[joint]) > 1e-6:
        return np.array(skeleton.tips[joint])
    return None


class SkinBuilder:
    """Collects rings of points and the triangles between them; strips that share a ring are welded there."""

    def __init__(self, joint_count: int) -> None:
        self.joint_count = joint_count
        self._points: list[FloatArray] = []
        self._weights: list[FloatArray] = []
        self._triangles: list[IntArray] = []
        self._tones: list[IntArray] = []
        self._count = 0

    def add(self, points: FloatArray, weights: FloatArray) -> IntArray:
        """Add points (N, 3) [m] with their shares of all joints (N, J); returns their numbers (N,)."""
        points = np.atleast_2d(points)
        self._points.append(points)
        self._weights.append(np.broadcast_to(weights, (len(points), self.joint_count)))
        self._count += len(points)
        return np.arange(self._count - len(points), self._count)

    def where(self, numbers: IntArray) -> FloatArray:
        """Return points by their numbers; (N, 3) [m]."""
        found: FloatArray = np.concatenate(self._points)[numbers]
        return found

    def faces(self, triangles: IntArray, tone: str) -> None:
        """Add triangles (T, 3), anticlockwise seen from outside, of one colour."""
        self._triangles.append(triangles)
        self._tones.append(np.full(len(triangles), TONES.index(tone)))

    def strip(self, low: IntArray, high: IntArray, tone: str, skip: IntArray | None = None) -> None:
        """Join two rings that run anticlockwise seen from the high one; `skip` leaves out some of the squares."""
        keep = np.setdiff1d(np.arange(len(low)), [] if skip is None else skip)
        a, b, c, d = low[keep], np.roll(low, -1)[keep], np.roll(high, -1)[keep], high[keep]
        self.faces(np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]), tone)

    def close(self, ring: IntArray, tip: IntArray, tone: str) -> None:
        """Draw a ring that runs anticlockwise seen from the tip to that one point."""
        tips = np.full(len(ring), tip[0])
        self.faces(np.stack([ring, np.roll(ring, -1), tips], axis=1), tone)

    def piece(self) -> BodyPiece:
        """Return the piece; normals are smooth within a garment, and vertices are doubled where colours meet."""
        points, weights = np.concatenate(self._points), np.concatenate(self._weights)
        triangles, tones = np.concatenate(self._triangles), np.concatenate(self._tones)
        family = np.array([TONES.index(TONES[t].split("_")[0]) for t in range(len(TONES))])
        keys = triangles * len(TONES) + tones[:, None]
        kept, corners = np.unique(keys, return_inverse=True)
        source, tone = kept // len(TONES), kept % len(TONES)
        # left, right and middle of a garment have different colours in some palettes but are one cloth
        cloth = np.unique(source * len(TONES) + family[tone], return_inverse=True)[1]
        split = corners.reshape(-1, 3)
        first = np.zeros(cloth.max() + 1, dtype=np.int64)
        first[cloth] = np.arange(len(cloth))
        normals = smooth_normals(points[source[first]], cloth[split])[cloth]
        joints, shares = strongest(weights[source])
        return BodyPiece(points[source], normals, split, joints, shares, tone)
