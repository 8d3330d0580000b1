"""What bodies are made of: pieces of mesh that follow one joint or two, and the skinned mesh they are bound into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway import rotations
from gaitway.arrays import FloatArray, IntArray, owned
from gaitway.motion.skeleton import Skeleton
from gaitway.render.mesh import Mesh


@dataclass(frozen=True, eq=False)
class Piece:
    """A mesh in the rest pose's world, with the joints that move its vertices."""

    mesh: Mesh
    joint_a: IntArray
    joint_b: IntArray
    weight: FloatArray
    """Share of `joint_a` in the place of each vertex; the rest is `joint_b`'s."""
    tones: IntArray
    """Row of the palette of each vertex."""


@dataclass(frozen=True, eq=False)
class BodyMesh:
    """A skinned mesh: vertices in the frames of the one or two joints that move them."""

    joint_a: IntArray
    joint_b: IntArray
    weight: FloatArray
    points_a: FloatArray
    points_b: FloatArray
    normals_a: FloatArray
    normals_b: FloatArray
    triangles: npt.NDArray[np.int32]
    groups: npt.NDArray[np.int32]
    """Number of the piece that each triangle belongs to; (T,)."""
    tones: IntArray
    """Row of the palette, followed by `own_colors`; (V,)."""
    own_colors: FloatArray
    """Linear RGB of the recipe's own colours; (C, 3)."""


def rigid(mesh: Mesh, joint: int, tone: int) -> Piece:
    """A piece that follows one joint and has one colour."""
    count = len(mesh.points)
    joints = np.full(count, joint)
    return Piece(mesh, joints, joints, np.ones(count), np.full(count, tone))


def bind(
    pieces: Sequence[Piece], places: FloatArray, turns: FloatArray, own_colors: FloatArray | None = None
) -> BodyMesh:
    """Hang pieces on the joints that move them.

    Args:
        pieces: in the world of one pose.
        places: world positions of the joints in that pose [m]; (J, 3).
        turns: their world rotations; (J, 4).
        own_colors: colours beyond the palette; (C, 3).
    """
    back = rotations.conjugate(turns)
    counts = [len(p.mesh.points) for p in pieces]
    starts = np.cumsum([0, *counts[:-1]])
    points = np.concatenate([p.mesh.points for p in pieces])
    normals = np.concatenate([p.mesh.normals for p in pieces])
    a, b = np.concatenate([p.joint_a for p in pieces]), np.concatenate([p.joint_b for p in pieces])
    triangles = np.concatenate([p.mesh.triangles + s for p, s in zip(pieces, starts, strict=True)])
    count = len(points)
    return BodyMesh(
        joint_a=owned(a, "joint_a", (count,), np.int64),
        joint_b=owned(b, "joint_b", (count,), np.int64),
        weight=owned(np.concatenate([p.weight for p in pieces]), "weight", (count,)),
        points_a=owned(rotations.rotate(back[a], points - places[a]), "points", (count, 3)),
        points_b=owned(rotations.rotate(back[b], points - places[b]), "points", (count, 3)),
        normals_a=owned(rotations.rotate(back[a], normals), "normals", (count, 3)),
        normals_b=owned(rotations.rotate(back[b], normals), "normals", (count, 3)),
        triangles=owned(triangles, "triangles", (None, 3), np.int32),
        groups=owned(
            np.repeat(np.arange(len(pieces)), [len(p.mesh.triangles) for p in pieces]), "groups", (None,), np.int32
        ),
        tones=owned(np.concatenate([p.tones for p in pieces]), "tones", (count,), np.int64),
        own_colors=owned(np.empty((0, 3)) if own_colors is None else own_colors, "own_colors", (None, 3)),
    )


def bone_end(skeleton: Skeleton, joint: int) -> FloatArray | None:
    """Where a joint's bone ends in its own frame [m] (3,): its first child with a length, else its tip."""
    for child in skeleton.children(joint):
        if np.linalg.norm(skeleton.offsets[child]) > 1e-6:
            return np.array(skeleton.offsets[child])
    if joint in skeleton.tips and np.linalg.norm(skeleton.tips[joint]) > 1e-6:
        return np.array(skeleton.tips[joint])
    return None
