"""The joints of a glTF asset: which nodes they are, how they hang together and how they rest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.formats.gltf_file import GltfFile
from gaitway.motion.formats.source import MAX_DEPTH
from gaitway.motion.skeleton import MAX_JOINTS

_MAX_NODES = 1_000_000


@dataclass(frozen=True, eq=False)
class Transform:
    """A node's own translation (3,), rotation (4,) wxyz and scale (3,)."""

    translation: FloatArray
    rotation: FloatArray
    scale: FloatArray


class NodeTree:
    """Parents, names and resting transforms of all nodes."""

    def __init__(self, file: GltfFile) -> None:
        self._file = file
        count = file.count("nodes")
        if count > _MAX_NODES:
            file.fail(f"has {count} nodes; at most {_MAX_NODES} are read")
        self.parents = [-1] * count
        for node in range(count):
            for child in file.integers(file.item("nodes", node), "children"):
                if child >= count:
                    file.fail(f"nodes[{node}] has child {child}, but there are {count} nodes")
                if self.parents[child] >= 0:
                    file.fail(f"nodes[{child}] has two parents")
                self.parents[child] = node

    def name(self, node: int) -> str:
        """Return the node's name, or "node_7" where it has none."""
        name = self._file.item("nodes", node).get("name")
        return name if isinstance(name, str) and name else f"node_{node}"

    def ancestors(self, node: int) -> list[int]:
        """Return the node and what it hangs on, up to the scene."""
        chain = []
        while node >= 0:
            chain.append(node)
            if len(chain) > MAX_DEPTH:
                self._file.fail(f"nodes are nested more than {MAX_DEPTH} deep, or in a circle")
            node = self.parents[node]
        return chain

    def transform(self, node: int) -> Transform:
        """Return the translation, rotation and scale at rest."""
        place = self._file.item("nodes", node)
        if "matrix" in place:
            identity = tuple(np.eye(4).ravel())
            return decompose(self._file.vector(place, "matrix", identity).reshape(4, 4).T)
        x, y, z, w = self._file.vector(place, "rotation", (0.0, 0.0, 0.0, 1.0))
        if max(abs(x), abs(y), abs(z), abs(w)) < 1e-6:
            self._file.fail(f"the rotation of nodes[{node}] is (0, 0, 0, 0); a rotation has length one")
        return Transform(
            self._file.vector(place, "translation", (0.0, 0.0, 0.0)),
            rotations.normalize(np.array([w, x, y, z])),
            self._file.vector(place, "scale", (1.0, 1.0, 1.0)),
        )


@dataclass(frozen=True, eq=False)
class JointSet:
    """The nodes that become joints, parents first; the first is the root."""

    nodes: list[int]
    parents: list[int]
    """Index into `nodes`, -1 for the root."""
    above: list[int]
    """Nodes over the root, the nearest first."""

    @cached_property
    def index(self) -> dict[int, int]:
        """Place of a node in `nodes`."""
        return {node: j for j, node in enumerate(self.nodes)}


def joint_set(file: GltfFile, tree: NodeTree, wanted: Iterable[int]) -> JointSet:
    """Return the wanted nodes and all between them, down from the lowest node that carries them all."""
    chains = [tree.ancestors(node) for node in dict.fromkeys(wanted)]
    if not chains:
        file.fail("has no joints: neither a skin nor an animated node")
    shared = set(chains[0]).intersection(*map(set, chains[1:]))
    root = next((node for node in chains[0] if node in shared), None)
    if root is None:
        file.fail("has joints that hang on different roots; one figure a file is read")
    # the file's own order, but nothing before what it hangs on
    nodes = list(dict.fromkeys(node for chain in chains for node in reversed(chain[: chain.index(root) + 1])))
    if len(nodes) > MAX_JOINTS:
        file.fail(f"has {len(nodes)} joints; at most {MAX_JOINTS} are read")
    place = {node: j for j, node in enumerate(nodes)}
    parents = [-1 if node == root else place[tree.parents[node]] for node in nodes]
    return JointSet(nodes, parents, tree.ancestors(root)[1:])


def decompose(matrix: FloatArray) -> Transform:
    """Return translation, rotation and scale of an affine matrix (4, 4); a mirror image has a negative scale."""
    linear = matrix[:3, :3]
    scale = np.linalg.norm(linear, axis=0)
    if np.linalg.det(linear) < 0.0:
        scale = -scale
    safe = np.where(np.abs(scale) > 1e-12, scale, 1.0)
    u, _, vt = np.linalg.svd(linear / safe)
    turn = u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt)) or 1.0]) @ vt
    return Transform(matrix[:3, 3].copy(), rotations.from_matrix(turn), scale)
