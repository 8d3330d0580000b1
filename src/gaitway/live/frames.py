"""Poses of live characters: all frames of a library in one pool, and one kernel for everybody."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.live.bodies import frame_pool
from gaitway.space.prepared import PreparedLibrary
from gaitway.take import _kernels
from gaitway.take.evaluation import Joints, Poses
from gaitway.world.world import World

_NO_SAMPLES = np.empty((0, 4, 1), np.float32)
_NO_SAMPLES.setflags(write=False)


class LiveFrames:
    """Frames of a library, and poses out of them.

    Attributes:
        rows: first row of each action's clip after each action; see `bodies.frame_pool`.
        clips: first pose, number of frames and rate of each action's clip.
    """

    def __init__(self, prepared: PreparedLibrary) -> None:
        self._skeleton = prepared.library.skeleton
        self._pool, self.rows, self.clips = frame_pool(prepared)

    @property
    def nbytes(self) -> int:
        """Memory of the frames."""
        return int(self._pool.nbytes)

    def poses(self, who: IntArray, table: FloatArray, time: float, world: World) -> Poses:
        """Root positions and local joint rotations.

        Args:
            who: rows of the table; (N,).
            table: what is played, as `take._kernels` has it; (C, 12).
            time: [s].
            world: whose ground roots are raised by; feet do not follow its slope.
        """
        count, joints = len(who), len(self._skeleton)
        roots, local = np.empty((count, 3)), np.empty((count, joints, 4))
        self._evaluate(who, table, time, roots, local, np.empty((0, joints, 3)), np.empty((0, joints, 4)))
        if world.terrain is not None:
            roots[:, 2] += world.ground(roots[:, :2])
        return Poses(self._skeleton, who, roots, local)

    def joints(self, who: IntArray, table: FloatArray, time: float, world: World) -> Joints:
        """World positions and rotations of all joints; see `poses`."""
        count, joints = len(who), len(self._skeleton)
        positions, turns = np.empty((count, joints, 3)), np.empty((count, joints, 4))
        self._evaluate(who, table, time, np.empty((0, 3)), np.empty((0, joints, 4)), positions, turns)
        if world.terrain is not None:
            positions[..., 2] += world.ground(positions[:, 0, :2])[:, None]
        return Joints(self._skeleton, who, positions, turns)

    def _evaluate(
        self, who: IntArray, table: FloatArray, time: float, roots: FloatArray, local: FloatArray,
        positions: FloatArray, turns: FloatArray,
    ) -> None:  # fmt: skip
        none, skeleton = read_only(np.empty(0, np.int64)), self._skeleton
        rows, times = read_only(who), read_only(np.full(len(who), float(time)))
        _kernels.evaluate(
            rows, rows, times, read_only(table), self._pool, none, read_only(np.empty((0, 4))), _NO_SAMPLES, 1.0,
            skeleton.parents, skeleton.offsets, roots, local, positions, turns,
        )  # fmt: skip
