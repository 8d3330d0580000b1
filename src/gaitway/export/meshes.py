"""Meshes and materials for files: skinned bodies of characters (the same as in pictures), ground and obstacles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.export.unwrapping import unwrapped
from gaitway.motion.skeleton import Skeleton
from gaitway.render.bodies.body import body_mesh, built_in_palette, individual_shape, is_humanoid
from gaitway.render.bodies.human_frame import LOOKS, PersonLook
from gaitway.render.bodies.palette import TONES, Palette
from gaitway.render.bodies.pieces import BodyMesh
from gaitway.render.raster.colors import from_hex, kind_color


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
    """Unit normals; (V, 3)."""
    uvs: npt.NDArray[np.float32]
    """Texture coordinates, 0..1, on a square for each material: u to the right, v down; (V, 2)."""
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


INDIVIDUALS = 2 * LOOKS
"""Number of different people that seeds lead to, each shape in two colourings; more would not be noticed in a crowd."""
_ROUGHNESS = {"skin": 0.6, "hair": 0.5, "shoe": 0.55, "eye": 0.25}


@lru_cache(maxsize=256)
def character_mesh(skeleton: Skeleton, seed: int = 0) -> SkinnedMesh:
    """Return the body of one individual.

    A humanoid (known by its roles) is a person with a build, clothes, hair and colours of its own, whose bones are the
    skeleton's; the built-in horse and skateboarder have bodies of their own; anything else gets tapered bones.

    Args:
        skeleton: of the character.
        seed: which individual; there are `INDIVIDUALS`, after which they repeat.

    Returns:
        A closed mesh in the skeleton's rest pose, its vertices sorted by material. Individuals with the same shape have
        the same arrays and differ in their materials alone.
    """
    seed = seed % INDIVIDUALS
    shape = individual_shape(skeleton, seed)
    body = body_mesh(skeleton, shape)
    names = _garments(skeleton, shape.look if shape else None)
    materials, material_of_tone = _materials(body, built_in_palette(skeleton, seed), names)
    return replace(_merged(skeleton, body, material_of_tone), materials=materials, name=f"{skeleton.name}_{seed}")


@lru_cache(maxsize=64)
def _merged(skeleton: Skeleton, body: BodyMesh, material_of_tone: tuple[int, ...]) -> SkinnedMesh:
    """Return a body without its colours; left, right and middle of a garment are one part here."""
    owner = np.array(material_of_tone)[body.tones]
    keys = np.column_stack([owner, body.points, body.normals, body.joints, body.weights])
    kept, first, where = np.unique(keys.round(7), axis=0, return_index=True, return_inverse=True)
    triangles = where.reshape(-1)[body.triangles]
    order = np.argsort(kept[triangles[:, 0], 0], kind="stable")
    triangles, pieces = triangles[order], body.groups[order].astype(np.int64)
    material_of = kept[triangles[:, 0], 0].astype(np.int64)
    flat = unwrapped(skeleton, body.points[first], body.joints[first, 0], triangles, pieces, material_of)
    chosen = first[flat.source]
    return SkinnedMesh(
        points=_frozen(body.points[chosen]),
        normals=_frozen(body.normals[chosen]),
        uvs=_frozen(flat.uvs.astype(np.float32)),
        joints=_frozen(body.joints[chosen].astype(np.uint16)),
        weights=_frozen(_exact(body.weights[chosen])),
        triangles=_frozen(flat.triangles.astype(np.int32)),
        material_of=_frozen(material_of.astype(np.int32)),
        materials=(),
    )


_PLAIN = {"top": "shirt", "bottom": "trousers", "shoe": "shoes", "eye": "eyes", "mouth": "lips", "accent": "board"}
_HORSE = {"top": "coat", "bottom": "legs", "skin": "muzzle", "hair": "mane", "shoe": "hooves", "accent": "tail"}


def _garments(skeleton: Skeleton, look: PersonLook | None) -> dict[str, str]:
    """Return the plain name of each tone's garment."""
    if skeleton.name == "horse":
        return {**_PLAIN, **_HORSE}
    if look is None:
        return _PLAIN if is_humanoid(skeleton) else {**_PLAIN, "bottom": "body"}
    return {**_PLAIN, "top": "jacket" if look.hem == "jacket" else "shirt", "bottom": look.legs}


def _materials(
    body: BodyMesh, palette: Palette, garments: Mapping[str, str]
) -> tuple[tuple[Material, ...], tuple[int, ...]]:
    """Return the materials that occur, and the index of the material of each tone (-1 if the tone does not occur)."""
    colors = np.concatenate([palette, body.own_colors])
    names = [tone.split("_")[0] for tone in TONES]
    for own in body.own_colors:  # parts of one colour share a material
        twin = next(i for i in range(len(TONES), len(colors)) if np.array_equal(colors[i], own))
        names.append(f"part_{twin - len(TONES)}")
    used = sorted({names[t] for t in np.unique(body.tones)}, key=names.index)
    materials = []
    for name in used:
        red, green, blue = map(float, colors[names.index(name)])
        materials.append(Material(garments.get(name, name), (red, green, blue), _ROUGHNESS.get(name, 0.85)))
    return tuple(materials), tuple(used.index(n) if n in used else -1 for n in names)


def _exact(weights: FloatArray) -> npt.NDArray[np.float32]:
    """Return weights in single precision whose rows still sum to one: the first takes the rest."""
    single = weights.astype(np.float32)
    single[:, 0] = np.float32(1.0) - single[:, 1:].sum(axis=1)
    return single


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.setflags(write=False)
    return array


_GROUND_COLOR = "#dedcd8"


def kind_material(kind: str, color: str | None = None) -> Material:
    """Return the material of an obstacle.

    Args:
        kind: as in `Obstacle.kind`; kinds that only some library knows share one colour.
        color: its own colour as "#rrggbb", if it has one.
    """
    name = kind if color is None else f"{kind}_{color.removeprefix('#').lower()}"
    return _material(name, color or kind_color(kind))


def ground_material() -> Material:
    """Return the material of the ground."""
    return _material("ground", _GROUND_COLOR)


def vertex_normals(vertices: FloatArray, triangles: IntArray) -> FloatArray:
    """Return unit normals (V, 3): the mean of the triangles at each vertex by their area; up where there are none."""
    corners = vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    total = np.stack(
        [np.bincount(triangles.ravel(), np.repeat(normals[:, i], 3), len(vertices)) for i in range(3)], axis=-1
    )
    length = np.linalg.norm(total, axis=-1, keepdims=True)
    unit: FloatArray = np.where(length > 0.0, total / np.where(length > 0.0, length, 1.0), [0.0, 0.0, 1.0])
    return unit


def _material(name: str, color: str) -> Material:
    red, green, blue = (float(v) for v in from_hex(color))
    return Material(name, (red, green, blue), 0.9)
