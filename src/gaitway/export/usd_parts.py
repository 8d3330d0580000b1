"""Building blocks of USD files: names, meshes and materials. Needs the extra `usd`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdShade, Vt

from gaitway.export.characters import different
from gaitway.export.meshes import Material

SEEN, UNSEEN = UsdGeom.Tokens.inherited, UsdGeom.Tokens.invisible
"""Values of `visibility`."""


def identifiers(names: Iterable[str]) -> list[str]:
    """Return a name that USD accepts for each of `names`: letters, digits and _, all different."""
    return different(Tf.MakeValidIdentifier(name) for name in names)


def vectors(values: npt.ArrayLike) -> Any:
    """Return an array (N, 3) in the type of USD for points."""
    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(values, dtype=np.float32).reshape(-1, 3))


def quaternions(values: npt.NDArray[Any]) -> list[Any]:
    """Return rotations wxyz (F, N, 4) in the type of USD, one array for each of F.

    USD's memory holds the scalar last, whatever its constructors take.
    """
    packed = np.ascontiguousarray(values[..., [1, 2, 3, 0]], dtype=np.float32)
    return [Vt.QuatfArray.FromNumpy(row) for row in packed]


def extent(points: npt.NDArray[Any]) -> Any:
    """Return the two corners of the box around points (N, 3)."""
    return vectors(np.stack([points.min(axis=0), points.max(axis=0)]))


def add_mesh(
    stage: Usd.Stage,
    path: str,
    points: npt.NDArray[Any],
    triangles: npt.NDArray[Any],
    normals: npt.NDArray[Any],
) -> UsdGeom.Mesh:
    """Add a plain triangle mesh, not subdivided."""
    mesh = UsdGeom.Mesh.Define(stage, path)
    mesh.CreatePointsAttr(vectors(points))
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray(len(triangles), 3))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(triangles, np.int32).ravel()))
    mesh.CreateNormalsAttr(vectors(normals))
    mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    if len(points):
        mesh.CreateExtentAttr(extent(points))
    return mesh


def add_uvs(mesh: UsdGeom.Mesh, uvs: npt.NDArray[Any]) -> None:
    """Give a mesh texture coordinates (V, 2): u to the right, v down; USD's v runs up."""
    upward = np.column_stack([uvs[:, 0], 1.0 - uvs[:, 1]]).astype(np.float32)
    coordinates = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar(
        "st", Sdf.ValueTypeNames.TexCoord2fArray, UsdGeom.Tokens.vertex
    )
    coordinates.Set(Vt.Vec2fArray.FromNumpy(np.ascontiguousarray(upward)))


def add_materials(stage: Usd.Stage, scope: str, materials: Sequence[Material]) -> list[UsdShade.Material]:
    """Add one UsdPreviewSurface for each material, below a new scope."""
    UsdGeom.Scope.Define(stage, scope)
    made = []
    for name, look in zip(identifiers(m.name for m in materials), materials, strict=True):
        material = UsdShade.Material.Define(stage, f"{scope}/{name}")
        shader = UsdShade.Shader.Define(stage, f"{scope}/{name}/Surface")
        shader.CreateIdAttr("UsdPreviewSurface")
        shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).Set(Gf.Vec3f(*look.color))
        shader.CreateInput("roughness", Sdf.ValueTypeNames.Float).Set(look.roughness)
        surface = shader.CreateOutput("surface", Sdf.ValueTypeNames.Token)
        material.CreateSurfaceOutput().ConnectToSource(surface)
        made.append(material)
    return made


def bind(prim: Usd.Prim, material: UsdShade.Material) -> None:
    """Give a mesh or subset its material."""
    UsdShade.MaterialBindingAPI.Apply(prim).Bind(material)


def paint(mesh: UsdGeom.Mesh, colors: npt.NDArray[Any], faces: npt.NDArray[Any] | None = None) -> None:
    """Set colours for viewers that do not read materials.

    Args:
        mesh: the mesh.
        colors: linear RGB; (N, 3).
        faces: index of each face's colour (T,); None if there is one for all.
    """
    interpolation = UsdGeom.Tokens.constant if faces is None else UsdGeom.Tokens.uniform
    color = mesh.CreateDisplayColorPrimvar(interpolation)
    color.Set(vectors(colors))
    if faces is not None:
        color.SetIndices(Vt.IntArray.FromNumpy(np.ascontiguousarray(faces, np.int32)))
