"""Bodies cut into rigid pieces, one a joint and colour, so that a crowd is drawn as copies of a few meshes.

A skinned mesh for each of hundreds of people is too much for a browser. Triangles that bend with two joints belong to
both pieces, which then overlap as a ball does in its socket, and no gap opens when a limb bends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gaitway import rotations
from gaitway.arrays import FloatArray
from gaitway.motion.skeleton import Skeleton
from gaitway.render.body import body_mesh
from gaitway.render.cast_bodies import built_in_palette, built_in_shape
from gaitway.render.palette import TONES

_SHARE = 0.3
"""A triangle belongs to all joints that have this share in one of its corners."""
_SIDES = ("_left", "_right")


@dataclass(frozen=True, eq=False)
class Segment:
    """A rigid piece of a body."""

    joint: int
    tone: int
    """Row of the palette."""
    vertices: npt.NDArray[np.float32]
    """In the joint's frame [m]; (V, 3)."""
    faces: npt.NDArray[np.uint32]
    """(T, 3)."""


@lru_cache(maxsize=16)
def body_segments(skeleton: Skeleton) -> tuple[Segment, ...]:
    """The body of a skeleton in pieces."""
    mesh = body_mesh(skeleton, built_in_shape(skeleton), coarse=True)
    tones = np.array([TONES.index(_plain(TONES[t])) if t < len(TONES) else TONES.index("accent") for t in mesh.tones])
    corner_joints, corner_weights = mesh.joints[mesh.triangles], mesh.weights[mesh.triangles]
    face_tones = tones[mesh.triangles[:, 0]]
    out = []
    for joint in np.unique(mesh.joints[mesh.weights >= _SHARE]).tolist():
        shares = np.where(corner_joints == joint, corner_weights, 0.0).sum(axis=2)
        mine = (shares >= _SHARE).any(axis=1)
        inverse = rotations.conjugate(mesh.rest_turns[joint])
        for tone in np.unique(face_tones[mine]).tolist():
            faces = mesh.triangles[mine & (face_tones == tone)]
            used, numbers = np.unique(faces, return_inverse=True)
            local = rotations.rotate(inverse, mesh.points[used] - mesh.rest_positions[joint])
            out.append(Segment(joint, tone, local.astype(np.float32), numbers.reshape(-1, 3).astype(np.uint32)))
    return tuple(out)


def segment_colors(skeleton: Skeleton, tone: int, individuals: Sequence[int]) -> npt.NDArray[np.uint8]:
    """Colours (sRGB) of a tone for some individuals; (N, 3)."""
    linear: FloatArray = np.array([_palette(skeleton, who)[tone] for who in individuals]).reshape(-1, 3)
    coded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 0.0031308) ** (1 / 2.4) - 0.055)
    return np.clip(np.round(255.0 * coded), 0, 255).astype(np.uint8)


@lru_cache(maxsize=4096)
def _palette(skeleton: Skeleton, who: int) -> FloatArray:
    return built_in_palette(skeleton, who)


def _plain(tone: str) -> str:
    """The tone without its side."""
    for side in _SIDES:
        tone = tone.removesuffix(side)
    return tone
