"""Trajectories of many people: where each was at every frame of the time that it was seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import CrowdError


@dataclass(frozen=True, kw_only=True)
class Trajectories:
    """Planar trajectories at one rate. The frames of a person lie in one run, and the runs lie one behind another."""

    fps: float
    """Rate [Hz]."""
    names: tuple[str, ...]
    starts: IntArray
    """First frame of each person; (C,)."""
    lengths: IntArray
    """Number of frames of each person; (C,)."""
    positions: FloatArray
    """Where people are [m]; (N, 2), with N the sum of the lengths."""
    headings: FloatArray
    """Which way trunks face [rad], NaN where that is not known; (N,)."""

    def __post_init__(self) -> None:
        count, total = len(self.names), int(self.lengths.sum())
        if not (np.isfinite(self.fps) and self.fps > 0.0):
            raise CrowdError(f"trajectories at {self.fps} Hz; write a rate above 0")
        if self.starts.shape != (count,) or self.lengths.shape != (count,) or (self.lengths < 1).any():
            raise CrowdError(
                f"{count} names, {len(self.starts)} starts and {len(self.lengths)} lengths, each at least 1"
            )
        if self.positions.shape != (total, 2) or self.headings.shape != (total,):
            raise CrowdError(f"trajectories of {total} frames with positions {self.positions.shape}")
        if not np.isfinite(self.positions).all() or np.isinf(self.headings).any():
            raise CrowdError("trajectories with positions that are not finite")

    def __len__(self) -> int:
        return len(self.names)

    def rows(self, person: int) -> slice:
        """Return where the frames of a person lie in `positions` and `headings`."""
        first = int(self.lengths[:person].sum())
        return slice(first, first + int(self.lengths[person]))

    def times(self, person: int) -> FloatArray:
        """Return the times of the frames of a person [s]."""
        frames: FloatArray = self.starts[person] + np.arange(float(self.lengths[person]))
        return frames / self.fps


def joined(fps: float, names: Sequence[str], starts: Sequence[int], paths: Sequence[FloatArray]) -> Trajectories:
    """Return trajectories from the path of each person.

    Args:
        fps: rate [Hz].
        names: names of people.
        starts: first frame of each.
        paths: positions [m] and, if known, headings [rad] of each; (F, 2) or (F, 3).
    """
    whole = [path if path.shape[1] == 3 else np.column_stack([path, np.full(len(path), np.nan)]) for path in paths]
    rows = np.concatenate([*whole, np.empty((0, 3))])
    return Trajectories(
        fps=fps,
        names=tuple(names),
        starts=np.array(starts, dtype=np.int64),
        lengths=np.array([len(path) for path in paths], dtype=np.int64),
        positions=rows[:, :2].copy(),
        headings=rows[:, 2].copy(),
    )
