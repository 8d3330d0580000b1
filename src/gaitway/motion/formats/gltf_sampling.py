"""glTF animations: keys of any spacing and interpolation, evaluated at the frames of a fixed rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.motion.formats.gltf_file import GltfFile, Json
from gaitway.motion.formats.source import quoted

_WIDTHS = {"translation": 3, "rotation": 4, "scale": 3}
_LEAST_TURN = 1e-6
"""Length of a quaternion below which it is no rotation; longer ones are made unit."""


@dataclass(frozen=True, eq=False)
class Channel:
    """One animated property of one node."""

    node: int
    path: str
    """ "translation", "rotation" or "scale"."""
    times: FloatArray
    """Key times [s], rising; (K,)."""
    values: FloatArray
    """Values at the times, (K, width), or (K, 3, width) with in-tangent, value and out-tangent for CUBICSPLINE.
    Rotations are xyzw."""
    interpolation: str

    def at(self, times: FloatArray) -> FloatArray:
        """Return the values at times [s], held before the first key and after the last; (n, width), rotations wxyz."""
        times = np.clip(times, self.times[0], self.times[-1])
        low = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, max(len(self.times) - 2, 0))
        high = np.minimum(low + 1, len(self.times) - 1)
        span = self.times[high] - self.times[low]
        t = np.where(span > 0.0, (times - self.times[low]) / np.where(span > 0.0, span, 1.0), 0.0)
        if self.interpolation == "CUBICSPLINE":
            values = _hermite(self.values, low, high, t[:, None], span[:, None])
        elif self.interpolation == "STEP":
            values = self.values[np.where(t >= 1.0, high, low)]
        elif self.path == "rotation":
            return _wxyz(rotations.slerp(self.values[low], self.values[high], t))
        else:
            values = self.values[low] + t[:, None] * (self.values[high] - self.values[low])
        return rotations.normalize(_wxyz(values)) if self.path == "rotation" else values


def _hermite(values: FloatArray, low: IntArray, high: IntArray, t: FloatArray, span: FloatArray) -> FloatArray:
    """Return the cubic Hermite spline; the tangents are per second."""
    start, leave, arrive, end = values[low, 1], values[low, 2], values[high, 0], values[high, 1]
    t2, t3 = t * t, t * t * t
    out: FloatArray = (
        (2 * t3 - 3 * t2 + 1) * start
        + span * (t3 - 2 * t2 + t) * leave
        + (3 * t2 - 2 * t3) * end
        + span * (t3 - t2) * arrive
    )
    return out


def _wxyz(q: FloatArray) -> FloatArray:
    return q[..., [3, 0, 1, 2]]


def read_channels(file: GltfFile, animation: Json) -> list[Channel]:
    """Return all channels of an animation that move a node; weights of morph targets are left out."""
    samplers = file.objects(animation, "samplers")
    channels = []
    taken = set()
    for place in file.objects(animation, "channels"):
        target = place.get("target")
        if not isinstance(target, dict):
            file.fail("an animation channel has no 'target'")
        path = target.get("path")
        if not isinstance(path, str):
            file.fail(f"'path' of an animation channel must be text, found {quoted(str(path))}")
        if path not in _WIDTHS or "node" not in target:
            continue
        node = file.integer(target, "node")
        file.item("nodes", node)
        if (node, path) in taken:
            file.fail(f"an animation has two channels for the {path} of nodes[{node}]")
        taken.add((node, path))
        index = file.integer(place, "sampler")
        if index >= len(samplers):
            file.fail(f"an animation channel refers to sampler {index}, but there are {len(samplers)}")
        channels.append(_read_channel(file, samplers[index], node, path))
    return channels


def _read_channel(file: GltfFile, sampler: Json, node: int, path: str) -> Channel:
    interpolation = sampler.get("interpolation", "LINEAR")
    if not isinstance(interpolation, str) or interpolation not in ("LINEAR", "STEP", "CUBICSPLINE"):
        file.fail(f"the interpolation of the {path} of nodes[{node}] must be LINEAR, STEP or CUBICSPLINE")
    times = file.accessor(file.integer(sampler, "input"), "SCALAR")[:, 0]
    values = file.accessor(file.integer(sampler, "output"), f"VEC{_WIDTHS[path]}")
    if len(times) == 0 or (np.diff(times) <= 0.0).any() or times[0] < 0.0:
        file.fail(f"the key times of the {path} of nodes[{node}] must rise from 0 or later")
    keys = 3 if interpolation == "CUBICSPLINE" else 1
    if len(values) != keys * len(times):
        file.fail(f"the {path} of nodes[{node}] has {len(values)} values for {len(times)} key times")
    if keys == 3:
        values = values.reshape(len(times), 3, -1)
    if path == "rotation":
        turns = values[:, 1] if keys == 3 else values
        none = np.linalg.norm(turns, axis=-1) < _LEAST_TURN
        if none.any():
            key = int(np.argmax(none))
            file.fail(f"the rotation of nodes[{node}] is (0, 0, 0, 0) at key {key}; a rotation has length one")
    return Channel(node, path, times, values, interpolation)
