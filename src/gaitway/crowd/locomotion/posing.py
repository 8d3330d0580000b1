"""Poses of many bodies at once, from what their feet do and which gaits are blended."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.crowd.locomotion import _pose_kernels
from gaitway.crowd.locomotion.sources import IDLE_FPS
from gaitway.crowd.locomotion.space import LocomotionSpace

_PART = 64
"""Fewer people than this are not worth a thread of their own."""


@dataclass(frozen=True, eq=False, kw_only=True)
class BodyPoses:
    """Poses of bodies on one skeleton."""

    roots: FloatArray
    """Positions of the roots [m]; (N, 3)."""
    rotations: SingleArray
    """Local rotations wxyz; (N, J, 4)."""
    down: BoolArray
    """Whether heel, ball and toe of the left and of the right foot rest on the ground; (N, 6)."""
    needs: FloatArray
    """How much lower the pelvis would have to be for all feet to be reached [m]; (N,)."""


def posed(
    space: LocomotionSpace,
    styles: IntArray,
    steps: FloatArray,
    corners: IntArray,
    drops: FloatArray,
    *,
    settle: float = 0.0,
    threads: int = 1,
) -> BodyPoses:
    """Return the poses of bodies.

    Args:
        space: their gaits.
        styles: style of each; (N,).
        steps: what they do: `_feet_kernels`; (N, STEP_COLUMNS).
        corners: cycles that are blended; (N, 4).
        drops: how much lower the pelvis is than in the blend [m]; (N,).
        settle: above 0, `drops` follow what legs need by this share of the way.
        threads: number of threads; the result is the same with any.
    """
    count, rig = len(steps), space.rig
    out = BodyPoses(
        roots=np.empty((count, 3)),
        rotations=np.empty((count, len(rig.skeleton), 4), dtype=np.float32),
        down=np.empty((count, 6), dtype=np.bool_),
        needs=np.empty(count),
    )

    def part(low: int, high: int) -> None:
        _pose_kernels.pose_bodies(
            low, high, styles, steps, corners, drops, space.poses, space.sources, space.rest, IDLE_FPS,
            rig.skeleton.parents, rig.skeleton.offsets, rig.legs, rig.paths, rig.lengths, rig.frames, rig.above,
            rig.feet, rig.tucked_joints, rig.tucked, settle, out.roots, out.rotations, out.down, out.needs,
        )  # fmt: skip

    in_parts(part, count, threads)
    return out


def in_parts(work: Callable[[int, int], None], count: int, threads: int) -> None:
    """Call `work(low, high)` for parts of `count` rows, one a thread."""
    if threads <= 1 or count < _PART * threads:
        work(0, count)
        return
    cuts = np.linspace(0, count, threads + 1).astype(int).tolist()
    with ThreadPoolExecutor(threads) as workers:
        list(workers.map(work, cuts[:-1], cuts[1:]))
