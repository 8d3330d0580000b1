"""Characters in USD: one prototype for each kind of body, referenced by every character that has it.

A prototype holds all that does not change: mesh, materials, skeleton, and an animation whose translations and scales
are constant. A character adds its rotations over time and, on its own prim, where it is: so the file grows by the
animation alone, the body's box stays as small as the body, and the prim's origin is on the floor below the hips.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel, Vt

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.export import usd_parts
from gaitway.export.meshes import SkinnedMesh
from gaitway.motion.clip import Clip
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.skeleton import Skeleton

_ANIMATION, _BODY, _SKELETON = "Animation", "Body", "Skeleton"


@dataclass(frozen=True, eq=False)
class Prototype:
    """A kind of body in the file."""

    path: str
    reach: FloatArray
    """Greatest distance of each joint to the vertices that it moves [m]; -inf where it moves none; (J,)."""


@dataclass(frozen=True, eq=False)
class UsdSpan:
    """First and last time code of a character or of the stage."""

    first: float
    last: float

    def visibility(self, whole: UsdSpan) -> dict[float, str]:
        """Return samples that show a prim within this span only; none if the span is that of the whole stage."""
        samples = {}
        if self.first > whole.first:
            samples[whole.first], samples[self.first] = usd_parts.UNSEEN, usd_parts.SEEN
        if self.last < whole.last:
            samples.setdefault(self.first, usd_parts.SEEN)
            samples[self.last + 1.0] = usd_parts.UNSEEN  # the last pose is shown as long as any other
        return samples


def joint_paths(skeleton: Skeleton) -> list[str]:
    """Return joint names of UsdSkel: the path from the root ("Hips/Spine/Neck"), with names that USD accepts."""
    names = usd_parts.identifiers(skeleton.names)
    paths: list[str] = []
    for joint, parent in enumerate(skeleton.parents):
        paths.append(names[joint] if parent < 0 else f"{paths[parent]}/{names[joint]}")
    return paths


def add_prototype(stage: Usd.Stage, path: str, skeleton: Skeleton, mesh: SkinnedMesh) -> Prototype:
    """Write one kind of body, in its rest pose.

    Args:
        stage: the stage.
        path: where; its parent should be abstract, so that only references to it are seen.
        skeleton: its joints.
        mesh: its body, skinned to these joints.
    """
    root = UsdSkel.Root.Define(stage, path)
    root.AddTranslateOp().Set(Gf.Vec3d(0.0, 0.0, 0.0))
    root.CreateExtentAttr(usd_parts.extent(mesh.points))
    root.GetPrim().SetDocumentation(f"Body '{mesh.name}' of skeleton '{skeleton.name}', in metres.")
    joints = Vt.TokenArray(joint_paths(skeleton))
    positions, world = forward_kinematics(skeleton, skeleton.offsets[0], skeleton.rest_rotations)
    bones = UsdSkel.Skeleton.Define(stage, f"{path}/{_SKELETON}")
    bones.CreateJointsAttr(joints)
    bones.CreateJointNamesAttr(Vt.TokenArray(list(skeleton.names)))
    bones.CreateBindTransformsAttr(_matrices(positions, world))
    bones.CreateRestTransformsAttr(_matrices(skeleton.offsets, skeleton.rest_rotations))
    UsdSkel.BindingAPI.Apply(bones.GetPrim()).CreateAnimationSourceRel().SetTargets([f"{path}/{_ANIMATION}"])
    animation = UsdSkel.Animation.Define(stage, f"{path}/{_ANIMATION}")
    animation.CreateJointsAttr(joints)
    animation.CreateTranslationsAttr(usd_parts.vectors(skeleton.offsets))
    animation.CreateRotationsAttr(usd_parts.quaternions(skeleton.rest_rotations[None])[0])
    animation.CreateScalesAttr(Vt.Vec3hArray(len(skeleton), Gf.Vec3h(1.0, 1.0, 1.0)))
    _add_body(stage, path, mesh)
    return Prototype(path, _reach(mesh, positions))


def add_character(layer: Sdf.Layer, path: str, prototype: Prototype, clip: Clip, span: UsdSpan, whole: UsdSpan) -> int:
    """Write one character's reference to its body, its rotations and its place over time.

    Args:
        layer: where to write. No stage is needed, which would compose everything again at each step.
        path: of its prim.
        prototype: its body.
        clip: what it does, in the world; its name is shown to users.
        span: time codes of its first and last frame.
        whole: time codes of the stage.

    Returns:
        How many bytes of samples that was.
    """
    character = Sdf.CreatePrimInLayer(layer, path)
    character.specifier, character.typeName = Sdf.SpecifierDef, "SkelRoot"
    character.referenceList.prependedItems = [Sdf.Reference("", prototype.path)]
    if character.name != clip.name:
        character.SetInfo("displayName", clip.name)
    origins = clip.root_positions - clip.skeleton.offsets[0]
    box = Sdf.AttributeSpec(character, "extent", Sdf.ValueTypeNames.Float3Array)
    box.default = _animated_extent(clip, origins, prototype.reach)
    place = Sdf.AttributeSpec(character, "xformOp:translate", Sdf.ValueTypeNames.Double3)
    animation = Sdf.PrimSpec(character, _ANIMATION, Sdf.SpecifierOver)
    pose = Sdf.AttributeSpec(animation, "rotations", Sdf.ValueTypeNames.QuatfArray)
    turns = usd_parts.quaternions(rotations.continuous(clip.rotations))
    with Sdf.ChangeBlock():
        for frame, (origin, turn) in enumerate(zip(origins.tolist(), turns, strict=True)):
            layer.SetTimeSample(place.path, span.first + frame, Gf.Vec3d(*origin))
            layer.SetTimeSample(pose.path, span.first + frame, turn)
    visibility = span.visibility(whole)
    if visibility:
        seen = Sdf.AttributeSpec(character, "visibility", Sdf.ValueTypeNames.Token)
        for code, token in visibility.items():
            layer.SetTimeSample(seen.path, code, token)
    return len(clip) * (16 * len(clip.skeleton) + 40)


def _add_body(stage: Usd.Stage, path: str, mesh: SkinnedMesh) -> None:
    """Add the mesh with its materials and its binding to the skeleton."""
    body = usd_parts.add_mesh(stage, f"{path}/{_BODY}", mesh.points, mesh.triangles, mesh.normals)
    usd_parts.add_uvs(body, mesh.uvs)
    materials = usd_parts.add_materials(stage, f"{path}/Materials", mesh.materials)
    usd_parts.paint(body, np.array([m.color for m in mesh.materials]), mesh.material_of)
    if len(materials) == 1:
        usd_parts.bind(body.GetPrim(), materials[0])
    else:
        for index, material in enumerate(materials):
            faces = np.flatnonzero(mesh.material_of == index).astype(np.int32)
            subset = UsdGeom.Subset.CreateGeomSubset(
                body, material.GetPrim().GetName(), "face", Vt.IntArray.FromNumpy(faces), "materialBind"
            )
            usd_parts.bind(subset.GetPrim(), material)
        UsdGeom.Subset.SetFamilyType(body, "materialBind", UsdGeom.Tokens.partition)
    binding = UsdSkel.BindingAPI.Apply(body.GetPrim())
    binding.CreateSkeletonRel().SetTargets([f"{path}/{_SKELETON}"])
    binding.CreateGeomBindTransformAttr(Gf.Matrix4d(1.0))
    width = mesh.joints.shape[1]
    binding.CreateJointIndicesPrimvar(False, width).Set(Vt.IntArray.FromNumpy(mesh.joints.astype(np.int32).ravel()))
    binding.CreateJointWeightsPrimvar(False, width).Set(
        Vt.FloatArray.FromNumpy(np.ascontiguousarray(mesh.weights, np.float32).ravel())
    )


def _matrices(positions: FloatArray, turns: FloatArray) -> Vt.Matrix4dArray:
    """Return transforms (J, 4, 4) in USD's order: vectors are rows, so the rotation is transposed and comes first."""
    matrices = np.zeros((len(positions), 4, 4))
    matrices[:, :3, :3] = np.swapaxes(rotations.to_matrix(turns), -1, -2)
    matrices[:, 3, :3] = positions
    matrices[:, 3, 3] = 1.0
    return Vt.Matrix4dArray.FromNumpy(matrices)


def _reach(mesh: SkinnedMesh, positions: FloatArray) -> FloatArray:
    """Return the greatest distance of each joint to the vertices it moves, at rest [m]; -inf for none; (J,)."""
    reach = np.full(len(positions), -np.inf)
    away = np.linalg.norm(mesh.points[:, None] - positions[mesh.joints], axis=-1)
    used = mesh.weights > 0.0
    np.maximum.at(reach, mesh.joints[used], away[used])
    return reach


def _animated_extent(clip: Clip, origins: FloatArray, reach: FloatArray) -> Vt.Vec3fArray:
    """Return a box around the body in all frames, seen from its own moving origin.

    A skinned vertex is a mean of where its joints carry it, and none carries it further than its distance at rest.
    """
    moving = np.isfinite(reach)
    places = (clip.joint_positions() - origins[:, None])[:, moving]
    low = (places - reach[moving, None]).min(axis=(0, 1))
    high = (places + reach[moving, None]).max(axis=(0, 1))
    return usd_parts.vectors(np.stack([low, high]))
