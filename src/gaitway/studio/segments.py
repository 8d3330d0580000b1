"""Bodies cut into rigid pieces, one for each joint and colour, so that a crowd is drawn as copies of a few meshes.

A skinned mesh for each of hundreds of people is too much for a browser. Triangles that bend with two joints belong to
both pieces, which then overlap as a ball does in its socket, and no gap opens when a limb bends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import trimesh

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.body import capsule_body
from gaitway.motion.skeleton import Skeleton
from gaitway.render.bodies.body import body_mesh, built_in_palette, built_in_shape
from gaitway.render.bodies.palette import TONES
from gaitway.render.bodies.pieces import BodyMesh

_SHARE = 0.3
"""A triangle belongs to all joints that have this share in one of its corners."""
_SIDES = ("_left", "_right")


@dataclass(frozen=True, eq=False)
class BodySegment:
    """A rigid piece of a body."""

    joint: int
    tone: int
    """Row of the palette."""
    vertices: npt.NDArray[np.float32]
    """Vertices in the joint's frame [m]; (V, 3)."""
    faces: npt.NDArray[np.uint32]
    """(T, 3)."""


@lru_cache(maxsize=16)
def body_segments(skeleton: Skeleton) -> tuple[BodySegment, ...]:
    """Return the body of a skeleton in pieces."""
    mesh = body_mesh(skeleton, built_in_shape(skeleton), coarse=True)
    tones = np.array([TONES.index(_plain(TONES[t])) if t < len(TONES) else TONES.index("accent") for t in mesh.tones])
    corner_joints, corner_weights = mesh.joints[mesh.triangles], mesh.weights[mesh.triangles]
    face_tones = tones[mesh.triangles[:, 0]]
    points, places, turns = _stood(mesh, skeleton)
    out = []
    for joint in np.unique(mesh.joints[mesh.weights >= _SHARE]).tolist():
        shares = np.where(corner_joints == joint, corner_weights, 0.0).sum(axis=2)
        mine = (shares >= _SHARE).any(axis=1)
        inverse = rotations.conjugate(turns[joint])
        for tone in np.unique(face_tones[mine]).tolist():
            faces = mesh.triangles[mine & (face_tones == tone)]
            used, numbers = np.unique(faces, return_inverse=True)
            local = rotations.rotate(inverse, points[used] - places[joint])
            out.append(BodySegment(joint, tone, local.astype(np.float32), numbers.reshape(-1, 3).astype(np.uint32)))
    return tuple(out)


def _stood(mesh: BodyMesh, skeleton: Skeleton) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Points (V, 3), joint positions (J, 3) and turns (J, 4) of a body with its arms down.

    Pieces are cut from the pose that people are nearest to all the time: cut from spread arms, a shoulder's own piece
    and the arm's would stand apart whenever the arms hang.
    """
    places, turns = mesh.rest_positions.copy(), mesh.rest_turns.copy()
    for side, out in (("left", 1.0), ("right", -1.0)):
        shoulder, elbow = (skeleton.roles.get(f"{side}_{part}") for part in ("shoulder", "elbow"))
        if shoulder is None or elbow is None:
            continue
        turn = rotations.between(places[elbow] - places[shoulder], (0.05, 0.15 * out, -1.0))
        arm = [shoulder]
        for joint in range(shoulder + 1, len(places)):
            if joint not in arm and int(skeleton.parents[joint]) in arm:
                arm.append(joint)
        places[arm] = places[shoulder] + rotations.rotate(turn, places[arm] - places[shoulder])
        turns[arm] = rotations.multiply(turn, turns[arm])
    local = rotations.rotate(
        rotations.conjugate(mesh.rest_turns[mesh.joints]), mesh.points[:, None] - mesh.rest_positions[mesh.joints]
    )
    moved = rotations.rotate(turns[mesh.joints], local) + places[mesh.joints]
    return (mesh.weights[..., None] * moved).sum(axis=1), places, turns


def capsule_segments(skeleton: Skeleton) -> tuple[BodySegment, ...]:
    """Return the capsules of a body (`motion.body.capsule_body`), as audits check them."""
    body, out = capsule_body(skeleton), []
    for joint, start, end, radius in zip(body.joints.tolist(), body.starts, body.ends, body.radii, strict=True):
        along = end - start
        mesh = trimesh.creation.capsule(height=float(np.linalg.norm(along)), radius=radius, count=[10, 12])
        turn = rotations.between((0.0, 0.0, 1.0), along) if along.any() else rotations.identity()
        vertices = rotations.rotate(turn, mesh.vertices) + 0.5 * (start + end)
        out.append(BodySegment(joint, 0, vertices.astype(np.float32), mesh.faces.astype(np.uint32)))
    return tuple(out)


def segment_colors(skeleton: Skeleton, tone: int, individuals: Sequence[int]) -> npt.NDArray[np.uint8]:
    """Return colours (sRGB) of a tone for some individuals; (N, 3)."""
    linear: FloatArray = np.array([_palette(skeleton, who)[tone] for who in individuals]).reshape(-1, 3)
    coded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 0.0031308) ** (1 / 2.4) - 0.055)
    return np.clip(np.round(255.0 * coded), 0, 255).astype(np.uint8)


@lru_cache(maxsize=4096)
def _palette(skeleton: Skeleton, who: int) -> FloatArray:
    return built_in_palette(skeleton, who)


def _plain(tone: str) -> str:
    """Return the tone without its side."""
    for side in _SIDES:
        tone = tone.removesuffix(side)
    return tone
