"""Parts of a GLB file: meshes, materials, and animation tracks, packed small and shared where equal."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, owned
from gaitway.export.meshes import Material, SkinnedMesh, vertex_normals
from gaitway.motion.clip import Clip
from gaitway.motion.formats.glb_asset import INDICES, VERTICES, Asset, y_up, y_up_xyzw
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.skeleton import Skeleton

_SHARE = 65535


def add_material(asset: Asset, material: Material) -> int:
    """Add a plain colour; equal ones are stored once, and others of the same name are numbered: shirt, shirt_2."""
    color = [round(float(c), 5) for c in material.color]
    surface = {"baseColorFactor": [*color, 1.0], "metallicFactor": 0.0, "roughnessFactor": material.roughness}
    known = asset.json.setdefault("materials", [])
    alike = [i for i, other in enumerate(known) if other["extras"]["garment"] == material.name]
    for i in alike:
        if known[i]["pbrMetallicRoughness"] == surface:
            return i
    # names that are equal would be numbered by the programs that open the file: shirt.001
    name = material.name if not alike else f"{material.name}_{len(alike) + 1}"
    return asset.add("materials", {"name": name, "pbrMetallicRoughness": surface, "extras": {"garment": material.name}})


def add_body(asset: Asset, mesh: SkinnedMesh) -> int:
    """Add a skinned body with one part for each material; parts that bodies share are stored once."""
    primitives = []
    for index, material in enumerate(mesh.materials):
        corners = mesh.triangles[mesh.material_of == index]
        used, renumbered = np.unique(corners, return_inverse=True)
        attributes = _attributes(asset, mesh.points[used], mesh.normals[used])
        attributes["TEXCOORD_0"] = asset.accessor(mesh.uvs[used], target=VERTICES)
        joints = mesh.joints[used]
        attributes["JOINTS_0"] = asset.accessor(joints, "u1" if joints.max() < 256 else "u2", target=VERTICES)
        attributes["WEIGHTS_0"] = asset.accessor(_whole(mesh.weights[used]), "u2", normalized=True, target=VERTICES)
        primitives.append(_primitive(asset, attributes, renumbered, material))
    return asset.add("meshes", {"name": mesh.name, "primitives": primitives})


def add_thing(asset: Asset, vertices: FloatArray, triangles: IntArray, material: Material, name: str) -> int | None:
    """Add a mesh of one colour; returns None if it has no triangles."""
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
    """Return weights (V, 4) as whole numbers that sum to exactly 65535."""
    whole = np.round(weights.astype(np.float64) * _SHARE).astype(np.int64)
    whole[:, 0] += _SHARE - whole.sum(axis=1)
    return whole


_LONG_REACH = 0.9
"""Joints that carry something farther away than this [m] turn in single precision, the others in 16 bits: an end of the
figure is then less than 0.1 mm off (0.14 mm if all had 16 bits; measured on crawling and climbing)."""
_STILL = 1e-7
"""Largest difference of values that count as equal."""
_WHOLE = 32767


class Tracks:
    """The one animation of a file; `start` is the time [s] at which it begins, since no key may be before 0."""

    def __init__(self, asset: Asset, start: float) -> None:
        self.asset, self.start = asset, start
        self._samplers: list[dict[str, Any]] = []
        self._channels: list[dict[str, Any]] = []
        self._number: dict[tuple[int, int, str], int] = {}

    def add(self, node: int, path: str, times: FloatArray, output: int, *, step: bool = False) -> None:
        """Move a node.

        Args:
            node: its number.
            path: "translation", "rotation" or "scale".
            times: of the keys [s]; (K,).
            output: number of the accessor of the values.
            step: whether values hold until the next key, rather than change evenly.
        """
        source = self.asset.accessor(times - self.start, bounds=True)
        way = "STEP" if step else "LINEAR"
        if (source, output, way) not in self._number:
            sampler = {"input": source, "output": output}
            self._samplers.append({**sampler, "interpolation": way} if step else sampler)
            self._number[source, output, way] = len(self._samplers) - 1
        sampler_number = self._number[source, output, way]
        self._channels.append({"sampler": sampler_number, "target": {"node": node, "path": path}})

    def place(self, node: int, times: FloatArray, positions: FloatArray) -> None:
        """Move a node along world positions (K, 3) [m]; a single key where it does not move."""
        times, positions = _without_repeats(times, positions)
        self.add(node, "translation", times, self.asset.accessor(y_up(positions)))

    def turn(self, node: int, times: FloatArray, turns: FloatArray, *, precise: bool) -> None:
        """Turn a node by rotations (K, 4), wxyz, in single precision or 16 bits; one key where it does not turn."""
        times, turns = _without_repeats(times, turns)
        packed = y_up_xyzw(turns)
        if precise:
            output = self.asset.accessor(packed)
        else:
            output = self.asset.accessor(np.round(packed * _WHOLE), "i2", normalized=True)
        self.add(node, "rotation", times, output)

    def show(self, node: int, first: float, last: float, whole: tuple[float, float]) -> None:
        """Let a node have its size from one time [s] up to another, and none before and after.

        Args:
            node: its number.
            first: when it comes; up to the whole's beginning it is there from the start.
            last: when it goes; from the whole's end on it stays.
            whole: times of the whole animation.
        """
        keys = [(whole[0], 0.0)] if first > whole[0] else []
        keys.append((max(first, whole[0]), 1.0))
        if last < whole[1]:
            keys.append((last, 0.0))
        if len(keys) > 1:
            times, sizes = np.array(keys).T
            output = self.asset.accessor(np.repeat(sizes[:, None], 3, axis=1))
            self.add(node, "scale", times, output, step=True)

    def perform(self, clip: Clip, joints: list[int], first_frame: int) -> None:
        """Let joints do what a clip says; those that stay as they are at rest need no track."""
        skeleton = clip.skeleton
        times = (first_frame + np.arange(len(clip))) / clip.fps
        turns = rotations.continuous(clip.rotations)
        precise = far_reaching(skeleton)
        self.place(joints[0], times, clip.root_positions)
        for j, node in enumerate(joints[: len(skeleton)]):
            apart = np.abs(turns[:, j] - skeleton.rest_rotations[j]).max()
            if apart > _STILL:
                self.turn(node, times, turns[:, j], precise=bool(precise[j]))

    def finish(self, name: str) -> None:
        """Write the animation into the file, if anything moves."""
        if self._channels:
            animation = {"name": name, "samplers": self._samplers, "channels": self._channels}
            self.asset.add("animations", animation)


@lru_cache(maxsize=64)
def far_reaching(skeleton: Skeleton) -> BoolArray:
    """Return which joints move a point that is far away, so that small turns matter; (J,)."""
    places, world = forward_kinematics(skeleton, skeleton.offsets[0], skeleton.rest_rotations)
    ends = [(j, places[j]) for j in range(len(skeleton))]
    ends += [(j, places[j] + rotations.rotate(world[j], tip)) for j, tip in skeleton.tips.items()]
    reach = np.zeros(len(skeleton))
    for joint, end in ends:
        above = joint
        while above >= 0:
            reach[above] = max(reach[above], float(np.linalg.norm(end - places[above])))
            above = int(skeleton.parents[above])
    return owned(reach > _LONG_REACH, "far_reaching", (len(skeleton),), np.bool_)


def _without_repeats(times: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the first key alone where all keys are equal."""
    if len(values) > 1 and np.abs(values - values[0]).max() <= _STILL:
        return times[:1], values[:1]
    return times, values
