"""Reader of glTF and GLB files: the skinned or animated nodes of one figure, sampled at a fixed rate."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.formats.gltf_file import GltfFile, Json
from gaitway.motion.formats.gltf_nodes import JointSet, NodeTree, decompose, joint_set
from gaitway.motion.formats.gltf_sampling import Channel, read_channels
from gaitway.motion.formats.raw import RawMotion, settle_offsets, unique_names
from gaitway.motion.formats.source import MAX_FILLED, MAX_VALUES, quoted
from gaitway.motion.formats.units import state_unit, whole_rate

_DEFAULT_RATE, _LEAST_RATE, _HIGHEST_RATE = 30.0, 15.0, 1000.0
"""Sampling [Hz] where the keys have no rate of their own, and between which rates they are believed to have one."""
_UNEVEN_SCALE = 1e-3
_PER_KEY = 100
"""Greatest number of numbers that are sampled for each number of a key, beyond `MAX_FILLED`."""


def read_gltf(path: Path, file_fps: float | None = None, animation: int | str = 0) -> RawMotion:
    """Read the motion of a skin's joints, or of all animated nodes if there is no skin; Y up, metres.

    Args:
        path: a .glb, or a .gltf whose buffers are inside it or in its folder.
        file_fps: rate of sampling [Hz]; None takes the spacing of the keys.
        animation: number or name of the animation.

    Raises:
        FormatError: for anything that is not as the standard has it.
    """
    file = GltfFile(path)
    notes: list[str] = []
    channels = read_channels(file, _choose_animation(file, animation, notes))
    if not channels:
        file.fail("has an animation that moves no node")
    tree = NodeTree(file)
    skin = _choose_skin(file, channels)
    joints = joint_set(file, tree, file.integers(skin, "joints") if skin else [c.node for c in channels])
    fps = file_fps or _key_rate(channels)
    first, last = min(float(c.times[0]) for c in channels), max(float(c.times[-1]) for c in channels)
    frames = int((last - first) * fps + 1e-3) + 1  # key times are single floats
    most = min(MAX_VALUES, max(MAX_FILLED, _PER_KEY * sum(channel.values.size for channel in channels)))
    if frames * len(joints.nodes) * 4 > most:
        file.fail(f"would be {frames} frames of {len(joints.nodes)} joints; at most {most} numbers are read")
    pose = _NodePose(file, tree, channels, first + np.arange(frames) / fps)
    raw = _build(pose, joints, fps, notes)
    raw.rest_rotations = _rest_rotations(file, pose, joints, skin)
    state_unit(raw, 1.0, "glTF is in metres")
    return raw


def _choose_animation(file: GltfFile, wanted: int | str, notes: list[str]) -> Json:
    count = file.count("animations")
    if count == 0:
        file.fail("has no animation")
    names = [str(file.item("animations", i).get("name", i)) for i in range(count)]
    if isinstance(wanted, str):
        if wanted not in names:
            file.fail(f"has no animation {quoted(wanted)}; there are {', '.join(map(quoted, names[:20]))}")
        wanted = names.index(wanted)
    elif not 0 <= wanted < count:
        file.fail(f"has no animation {wanted}; there are {count}, from 0")
    if count > 1:
        notes.append(f"animation {quoted(names[wanted])} of {count} was read (animation= chooses another)")
    return file.item("animations", wanted)


def _choose_skin(file: GltfFile, channels: list[Channel]) -> Json | None:
    """Return the skin with the most animated joints, or None where no skin has any."""
    animated = {channel.node for channel in channels}
    skins = [file.item("skins", i) for i in range(file.count("skins"))]
    counts = [len(animated.intersection(file.integers(skin, "joints"))) for skin in skins]
    if not counts or max(counts) == 0:
        return None
    skin = skins[counts.index(max(counts))]
    for node in file.integers(skin, "joints"):
        file.item("nodes", node)
    return skin


def _key_rate(channels: list[Channel]) -> float:
    """Return the key rate [Hz] of the channel with most keys, if it can be a frame rate."""
    times = max((channel.times for channel in channels), key=len)
    if len(times) < 3:
        return _DEFAULT_RATE
    rate = 1.0 / float(np.median(np.diff(times)))
    return whole_rate(rate) if _LEAST_RATE <= rate <= _HIGHEST_RATE else _DEFAULT_RATE


class _NodePose:
    """Local transforms of nodes at the sampled times."""

    def __init__(self, file: GltfFile, tree: NodeTree, channels: list[Channel], times: FloatArray) -> None:
        self.file = file
        self.tree = tree
        self.times = times
        self.channels = {(channel.node, channel.path): channel for channel in channels}
        self.uneven: list[int] = []

    def moves(self, node: int, path: str) -> bool:
        return (node, path) in self.channels

    def translation(self, node: int) -> FloatArray:
        """Return the translation (F, 3), or (1, 3) if it does not change."""
        if self.moves(node, "translation"):
            return self.channels[node, "translation"].at(self.times)
        return self.tree.transform(node).translation[None]

    def rotation(self, node: int) -> FloatArray:
        """Return the rotation (F, 4), or (1, 4) if it does not change."""
        if self.moves(node, "rotation"):
            return self.channels[node, "rotation"].at(self.times)
        return self.tree.transform(node).rotation[None]

    def scale(self, node: int) -> FloatArray:
        """Return the scale (3,), its mean if it changes; uneven scales are remembered."""
        values = self.tree.transform(node).scale[None]
        if self.moves(node, "scale"):
            values = self.channels[node, "scale"].at(self.times)
        mean: FloatArray = values.mean(axis=0)
        if (mean <= 0.0).any():
            self.file.fail(f"node {quoted(self.tree.name(node))} has a scale that is not above 0; mirrors are not read")
        if np.ptp(values, axis=0).max() > _UNEVEN_SCALE * mean.max() or np.ptp(mean) > _UNEVEN_SCALE * mean.max():
            self.uneven.append(node)
        return mean


def _build(pose: _NodePose, joints: JointSet, fps: float, notes: list[str]) -> RawMotion:
    """Return the joints' motion, with what is above the root folded into the root."""
    frames, count = len(pose.times), len(joints.nodes)
    position, turn, size = np.zeros((1, 3)), rotations.identity(1), np.ones(3)
    for node in reversed(joints.above):
        position = position + rotations.rotate(turn, size * pose.translation(node))
        turn = rotations.multiply(turn, pose.rotation(node))
        size = size * pose.scale(node)
    offsets, local = np.zeros((count, 3)), np.empty((frames, count, 4))
    sizes = np.empty((count, 3))
    moving = {}
    for j, node in enumerate(joints.nodes):
        above = size if j == 0 else sizes[joints.parents[j]]
        place = above * pose.translation(node)
        if j == 0:
            roots = np.broadcast_to(position + rotations.rotate(turn, place), (frames, 3)).copy()
            local[:, 0] = rotations.multiply(turn, pose.rotation(node))
        else:
            offsets[j], local[:, j] = place.mean(axis=0), pose.rotation(node)
            if pose.moves(node, "translation"):
                moving[j] = place
        sizes[j] = above * pose.scale(node)
    names = unique_names((pose.tree.name(node) for node in joints.nodes), notes)
    settle_offsets(names, offsets, moving, notes)
    if pose.uneven:
        notes.append(
            f"{len(pose.uneven)} nodes ({quoted(pose.tree.name(pose.uneven[0]))} ...) have a scale that changes or "
            "differs by axis; its mean is used, without shear"
        )
    return RawMotion(
        names=names,
        parents=np.array(joints.parents, dtype=np.int64),
        offsets=offsets,
        tips={},
        roots=roots,
        rotations=local,
        fps=fps,
        up="y",
        notes=notes,
    )


def _rest_rotations(file: GltfFile, pose: _NodePose, joints: JointSet, skin: Json | None) -> FloatArray:
    """Return the local rotations of the pose in which the skin was bound, or else of the nodes at rest."""
    rest = np.array([pose.tree.transform(node).rotation for node in joints.nodes])
    for node in joints.above:
        rest[0] = rotations.multiply(pose.tree.transform(node).rotation, rest[0])
    if skin is None or "inverseBindMatrices" not in skin:
        return rest
    bound = file.integers(skin, "joints")
    matrices = file.accessor(file.integer(skin, "inverseBindMatrices"), "MAT4").reshape(-1, 4, 4).transpose(0, 2, 1)
    if len(matrices) < len(bound):
        file.fail(f"a skin has {len(matrices)} inverseBindMatrices for {len(bound)} joints")
    # the inverse of a turned matrix is turned the other way, so no matrix needs inverting
    world = {node: rotations.conjugate(decompose(m).rotation) for node, m in zip(bound, matrices, strict=False)}
    for j, node in enumerate(joints.nodes[1:], start=1):
        parent = joints.nodes[joints.parents[j]]
        if node in world and parent in world:
            rest[j] = rotations.multiply(rotations.conjugate(world[parent]), world[node])
    return rest
