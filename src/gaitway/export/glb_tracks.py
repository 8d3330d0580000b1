"""Animation in a GLB file: tracks that are packed small and shared where they are equal."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, owned
from gaitway.motion.clip import Clip
from gaitway.motion.formats.glb_asset import Asset, y_up, y_up_xyzw
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.skeleton import Skeleton

_LONG_REACH = 0.9
"""Joints that carry something farther away than this [m] turn in single precision, the others in 16 bits: an end of the
figure is then less than 0.1 mm off (0.14 mm if all had 16 bits; measured on crawling and climbing)."""
_STILL = 1e-7
"""Values that differ less than this are the same."""
_WHOLE = 32767


class Tracks:
    """The one animation of a file; `start` is the time [s] at which it begins, since no key may be before nought."""

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
        for j, node in enumerate(joints):
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
    """Which joints carry something that is far away, so that small turns matter; (J,)."""
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
    """The first key alone where all are the same."""
    if len(values) > 1 and np.abs(values - values[0]).max() <= _STILL:
        return times[:1], values[:1]
    return times, values
