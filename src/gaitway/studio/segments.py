"""Bodies cut into rigid pieces, one for each joint and colour, so that a crowd is drawn as copies of a few meshes.

People near a viewer are skinned (`page.skinned`), which is too dear for a crowd. Everybody else is seen from so far
that pieces can stand in for skinning. Where limbs bend most there is a piece that turns half as far as the limb does,
which covers the seam, and triangles that bend with two joints belong to both pieces, so that no gap opens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import trimesh

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.body import capsule_body
from gaitway.motion.skeleton import Skeleton
from gaitway.render.bodies.body import body_mesh, built_in_palette, built_in_shape
from gaitway.render.bodies.palette import TONES
from gaitway.render.bodies.pieces import BodyMesh
from gaitway.studio.tones import copied_albedo

_SHARE = 0.3
"""A triangle belongs to all joints that have this share in one of its corners."""
_BENDING = ("elbow", "knee", "hip", "shoulder")
"""Joints with a piece that turns half as far, by role, on both sides."""
_TUCK = 0.35
"""How far the ends of pieces are drawn in, as a share of their distance from the joint."""
_BENT = 0.12
"""Least share of each of two joints in a triangle that turns half as far."""
_SOLID = ("hips", "chest", "head", "elbow", "knee", "hip", "shoulder", "ankle")
"""Joints whose pieces cast shadows, by role; what hangs on others belongs to the next of these towards the root."""
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
    half: tuple[int, tuple[float, float, float, float]] | None = None
    """For a piece that turns half as far as its joint: the joint's parent, and how the joint is turned towards it in
    the pose that the piece was cut from."""

    def turns(self, rotations_: FloatArray) -> FloatArray:
        """Return how the piece is turned in the world (N, 4), for the rotations of all joints (N, J, 4)."""
        own: FloatArray = rotations_[:, self.joint]
        if self.half is None:
            return own
        parent, rest = self.half
        straight = rotations.multiply(rotations_[:, parent], np.array(rest))
        sign = np.where((straight * own).sum(axis=1, keepdims=True) < 0.0, -1.0, 1.0)
        return rotations.normalize(own + sign * straight)


@lru_cache(maxsize=16)
def body_segments(skeleton: Skeleton) -> tuple[BodySegment, ...]:
    """Return the body of a skeleton in pieces."""
    mesh = body_mesh(skeleton, built_in_shape(skeleton), coarse=True)
    tones = np.array([TONES.index(_plain(TONES[t])) if t < len(TONES) else TONES.index("accent") for t in mesh.tones])
    face_tones = tones[mesh.triangles[:, 0]]
    points, places, turns = _stood(mesh, skeleton)
    halves = _halves(skeleton, turns)
    table = _weight_table(mesh, len(places))
    out = []

    def cut(joint: int, mine: BoolArray, half: tuple[int, tuple[float, float, float, float]] | None = None) -> None:
        if half is None:
            bends, centres = _neighbours(table, joint, places, skeleton, frozenset(halves))
            own = np.where(bends, table[:, joint], 1.0)
        else:
            both = np.maximum(table[:, joint] + table[:, half[0]], 1e-9)
            own = 1.0 - 2.0 * np.abs(table[:, joint] / both - 0.5)
            centres = np.broadcast_to(places[joint], points.shape)
        tucked = centres + (points - centres) * _tucking(own)[:, None]
        inverse = rotations.conjugate(turns[joint])
        for tone in np.unique(face_tones[mine]).tolist():
            faces = mesh.triangles[mine & (face_tones == tone)]
            used, numbers = np.unique(faces, return_inverse=True)
            local = rotations.rotate(inverse, tucked[used] - places[joint]).astype(np.float32)
            out.append(BodySegment(joint, tone, local, numbers.reshape(-1, 3).astype(np.uint32), half))

    shares = table[mesh.triangles]
    for joint in np.unique(mesh.joints[mesh.weights >= _SHARE]).tolist():
        cut(joint, np.any(shares[..., joint] >= _SHARE, axis=1))
    for joint, (parent, rest) in halves.items():
        bends = (shares[..., joint].mean(axis=1) >= _BENT) & (shares[..., parent].mean(axis=1) >= _BENT)
        if bends.any():
            cut(joint, bends, (parent, rest))
    return tuple(out)


def _weight_table(mesh: BodyMesh, count: int) -> FloatArray:
    """Return the weight of every joint for every vertex; (V, J)."""
    table = np.zeros((len(mesh.points), count))
    for column in range(mesh.joints.shape[1]):
        np.add.at(table, (np.arange(len(table)), mesh.joints[:, column]), mesh.weights[:, column])
    return table


def _neighbours(
    table: FloatArray, joint: int, places: FloatArray, skeleton: Skeleton, bending: frozenset[int]
) -> tuple[BoolArray, FloatArray]:
    """Return for every vertex whether the joint that has the next share in it bends much, and where it is.

    Returns:
        Whether it bends much (V,), and the place where both pieces meet [m] (V, 3).
    """
    others = table.copy()
    others[:, joint] = -1.0
    other = others.argmax(axis=1)
    child = np.asarray(skeleton.parents)[other] == joint
    bends = (child & np.isin(other, list(bending))) | ((other == skeleton.parents[joint]) & (joint in bending))
    return bends, np.where(child[:, None], places[other], places[joint])


def _tucking(own: FloatArray) -> FloatArray:
    """Return how far vertices stay from the joint, as a share, by how much (0..1) they belong to a piece; (V,).

    Ends of pieces are tucked under the pieces that they meet, so that they do not stick out of them when a limb bends.
    """
    loose = np.clip(1.0 - own / 0.5, 0.0, 1.0)
    out: FloatArray = 1.0 - _TUCK * loose
    return out


@lru_cache(maxsize=16)
def shadow_segments(skeleton: Skeleton) -> tuple[BodySegment, ...]:
    """Return the body of a skeleton in a few pieces without colours, whose outlines are those of its shadow."""
    mesh = body_mesh(skeleton, built_in_shape(skeleton), coarse=True)
    wanted = {role for role in skeleton.roles if role.removeprefix("left_").removeprefix("right_") in _SOLID}
    solid = {skeleton.roles[role] for role in wanted} or set(range(len(skeleton.parents)))
    owner: list[int] = []
    for joint in range(len(skeleton.parents)):
        parent = int(skeleton.parents[joint])
        owner.append(joint if joint in solid or parent < 0 else owner[parent])
    points, places, turns = _stood(mesh, skeleton)
    strongest = mesh.joints[np.arange(len(mesh.points)), mesh.weights.argmax(axis=1)]
    owners = np.array(owner)[strongest]
    out = []
    for joint in np.unique(owners).tolist():
        faces = mesh.triangles[(owners[mesh.triangles] == joint).any(axis=1)]
        used, numbers = np.unique(faces, return_inverse=True)
        local = rotations.rotate(rotations.conjugate(turns[joint]), points[used] - places[joint]).astype(np.float32)
        out.append(BodySegment(joint, 0, local, numbers.reshape(-1, 3).astype(np.uint32)))
    return tuple(out)


def _halves(skeleton: Skeleton, turns: FloatArray) -> dict[int, tuple[int, tuple[float, float, float, float]]]:
    """Return the joints that bend most, with their parents, and how they are turned towards them; turns (J, 4)."""
    out = {}
    for role in _BENDING:
        for side in ("left", "right"):
            joint = skeleton.roles.get(f"{side}_{role}")
            if joint is not None and int(skeleton.parents[joint]) >= 0:
                parent = int(skeleton.parents[joint])
                w, x, y, z = rotations.multiply(rotations.conjugate(turns[parent]), turns[joint]).tolist()
                out[joint] = (parent, (w, x, y, z))
    return out


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
    """Return colours of a tone for some individuals, as copies of meshes have them; (N, 3)."""
    linear: FloatArray = np.array([_palette(skeleton, who)[tone] for who in individuals]).reshape(-1, 3)
    return copied_albedo(linear)


@lru_cache(maxsize=4096)
def _palette(skeleton: Skeleton, who: int) -> FloatArray:
    return built_in_palette(skeleton, who)


def _plain(tone: str) -> str:
    """Return the tone without its side."""
    for side in _SIDES:
        tone = tone.removesuffix(side)
    return tone
