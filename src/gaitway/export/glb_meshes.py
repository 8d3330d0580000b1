"""Meshes and materials in a GLB file."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.export.scenery import vertex_normals
from gaitway.export.skinned import Material, SkinnedMesh
from gaitway.motion.formats.glb_asset import INDICES, VERTICES, Asset, y_up

_SHARE = 65535


def add_material(asset: Asset, material: Material) -> int:
    """A plain colour; equal ones are one."""
    color = [round(float(c), 5) for c in material.color]
    surface = {"baseColorFactor": [*color, 1.0], "metallicFactor": 0.0, "roughnessFactor": material.roughness}
    return asset.shared("materials", {"name": material.name, "pbrMetallicRoughness": surface})


def add_body(asset: Asset, mesh: SkinnedMesh) -> int:
    """A skinned body with one part a material; parts that other bodies have, too, are stored once."""
    primitives = []
    for index, material in enumerate(mesh.materials):
        corners = mesh.triangles[mesh.material_of == index]
        used, renumbered = np.unique(corners, return_inverse=True)
        attributes = _attributes(asset, mesh.points[used], mesh.normals[used])
        joints = mesh.joints[used]
        attributes["JOINTS_0"] = asset.accessor(joints, "u1" if joints.max() < 256 else "u2", target=VERTICES)
        attributes["WEIGHTS_0"] = asset.accessor(_whole(mesh.weights[used]), "u2", normalized=True, target=VERTICES)
        primitives.append(_primitive(asset, attributes, renumbered, material))
    return asset.add("meshes", {"name": mesh.name, "primitives": primitives})


def add_thing(asset: Asset, vertices: FloatArray, triangles: IntArray, material: Material, name: str) -> int | None:
    """A mesh of one colour; None if there is nothing to see."""
    if len(triangles) == 0:
        return None
    attributes = _attributes(asset, vertices, vertex_normals(vertices, triangles))
    return asset.add("meshes", {"name": name, "primitives": [_primitive(asset, attributes, triangles, material)]})


def _attributes(asset: Asset, points: FloatArray, normals: FloatArray) -> dict[str, int]:
    # normals are made unit again in single precision, which the format asks for
    single = y_up(normals).astype(np.float32)
    single /= np.linalg.norm(single, axis=1, keepdims=True)
    return {
        "POSITION": asset.accessor(y_up(points), bounds=True, target=VERTICES),
        "NORMAL": asset.accessor(single, target=VERTICES),
    }


def _primitive(
    asset: Asset, attributes: dict[str, int], triangles: npt.NDArray[np.integer[Any]], material: Material
) -> dict[str, Any]:
    corners = triangles.reshape(-1)
    indices = asset.accessor(corners, "u2" if corners.max() < _SHARE else "u4", target=INDICES)
    return {"attributes": attributes, "indices": indices, "material": add_material(asset, material)}


def _whole(weights: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    """Weights (V, 4) as whole numbers that sum to exactly what one is."""
    whole = np.round(weights.astype(np.float64) * _SHARE).astype(np.int64)
    whole[:, 0] += _SHARE - whole.sum(axis=1)
    return whole
