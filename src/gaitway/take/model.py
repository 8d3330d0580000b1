"""A take: what every character does over time, kept as references to clips rather than as poses.

`gaitway.take.data` says what a take consists of.
"""

from __future__ import annotations

import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.motion.clip import Clip
from gaitway.take import evaluation, tables
from gaitway.take.evaluation import Joints, Poses
from gaitway.take.pool import PooledTake


class Take(PooledTake):
    """The motion of all characters: the fields of `TakeData`, and poses, paths and tables at any time."""

    def __repr__(self) -> str:
        return (
            f"Take({len(self)} characters, {len(self.segments)} segments of {len(self.clips)} clips, "
            f"{self.duration:.4g} s at {self.fps:g} Hz)"
        )

    def present(self, time: float) -> IntArray:
        """Return the indices of the characters that are present at a time [s], from their start to their end."""
        return evaluation.present(self, time)

    def poses(
        self, time: float, characters: npt.ArrayLike | None = None, *, contacts: bool = False, threads: int = 1
    ) -> tuple[Poses, ...]:
        """Return the poses of characters at one time, one `Poses` for each skeleton that occurs among them.

        Args:
            time: when [s].
            characters: indices, in any order; None for all that are present. One that is asked for before its start
                or after its end holds its first or last pose.
            contacts: also tell which contact points rest.
            threads: number of threads; the result does not depend on it.
        """
        return evaluation.poses(self, time, characters, contacts=contacts, threads=threads)

    def joints(self, time: float, characters: npt.ArrayLike | None = None, *, threads: int = 1) -> tuple[Joints, ...]:
        """Return the positions of all joints at one time.

        Same as `poses(...)` with forward kinematics, in one pass over memory.
        """
        return evaluation.joints(self, time, characters, threads=threads)

    def clip(self, character: int, fps: float | None = None) -> Clip:
        """Return a character's whole track as a clip in the world; its first frame is at `start(character)`.

        Args:
            character: its index.
            fps: rate of the clip [Hz]; None for the take's.
        """
        return evaluation.clip(self, character, fps)

    def planar(self, times: npt.ArrayLike, characters: npt.ArrayLike | None = None) -> FloatArray:
        """Return the planar poses (x, y, heading) of roots; (C, T, 3), NaN where a character is not present.

        Args:
            times: when [s]; (T,) or one number.
            characters: indices (C,); None for all.
        """
        return evaluation.planar(self, times, characters)

    def behavior_at(self, time: float, characters: npt.ArrayLike | None = None) -> tuple[str | None, ...]:
        """Return the behaviour each character is in at a time [s]; None where it is not present or has no name."""
        return evaluation.behavior_at(self, time, characters)

    def dense(self, fps: float | None = None, skeleton: int | None = None) -> tables.Dense:
        """Return all poses as plain arrays, the frames of each character in one run; large.

        Args:
            fps: rate [Hz]; None for the take's.
            skeleton: index into `skeletons`: only characters with that body. May be left out if all have the same.

        Raises:
            TakeError: if characters have different bodies and none is chosen.
        """
        return tables.dense(self, fps, skeleton)

    def trajectories(self, fps: float | None = None) -> tables.RootPaths:
        """Return the root paths as columns (id, frame, x, y, heading, behaviour) on one clock for all characters."""
        return tables.trajectories(self, fps)
