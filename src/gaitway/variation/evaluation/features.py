"""What of a motion is compared with others: poses, velocities, timing, how joints go together, and texture.

Everything is measured by a yardstick of reference takes, and a whole clip is one sample: frames of one clip are no
independent witnesses. Time is taken apart from shape: a clip is warped to the mean of the reference, where its poses
and velocities are compared at equal phases, and the warp itself is its timing. Poses, velocities and correlations are
seen along the directions in which takes differ. What lies off them, and how rough a motion is, is its texture: sizes
without a place, by which a motion can be told that an eye may not tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import VariationError
from gaitway.motion.clip import Clip
from gaitway.variation.network.dofs import PARTS, ROOT_NAMES, Degrees
from gaitway.variation.network.phase import Clock, progress, resampled, set_clock

GROUPS = ("poses", "velocities", "timing", "correlations")
TEXTURE = "texture"
"""A group of its own: sizes of what is off the directions of takes, and of third differences."""
_PHASES = 24
"""Moments at which poses are compared."""
_AXES = 10
"""Most directions of variation that are looked at."""
_LEAST = 0.02
"""Of the first direction's deviation, which another must have to be looked at: by a smaller one hairs are split."""
_UNSEEN = 0.25
"""Differences in time that do not count, for durations are whole numbers of frames [frames]."""
_LEAD = 10
"""How many columns, those that vary most from take to take, are looked at for how they go together."""
_BEATS = 7
"""Moments at which a clip may be early or late."""


@dataclass(frozen=True, eq=False)
class _Axes:
    """Directions in which takes differ, and how far."""

    mean: FloatArray
    axes: FloatArray
    """(k, n)."""
    spread: FloatArray
    """Deviation along each; (k,)."""

    @staticmethod
    def of(rows: FloatArray, unseen: float = 0.0) -> _Axes:
        """Of rows (n, k); directions in which they differ by less than `unseen` are left out."""
        mean = rows.mean(axis=0)
        _, sizes, axes = np.linalg.svd(rows - mean, full_matrices=False)
        spread = sizes / np.sqrt(max(len(rows) - 1, 1))
        seen = spread > max(_LEAST * spread[0], unseen, 1e-12)
        count = min(_AXES, max(len(rows) // 4, 1), int(seen.sum()) or 1)
        return _Axes(mean, axes[:count], np.maximum(spread[:count], 1e-9))

    def along(self, row: FloatArray) -> FloatArray:
        """Where a row is along each; (k,)."""
        return np.asarray(self.axes @ (row - self.mean) / self.spread)

    def off(self, row: FloatArray) -> float:
        """Log of how far a row is from where takes can be."""
        away = row - self.mean
        return 0.5 * float(np.log(np.mean((away - (self.axes @ away) @ self.axes) ** 2) + 1e-12))


@dataclass(frozen=True, eq=False)
class Yardstick:
    """Reference takes by which clips are measured; made by `Yardstick.of`."""

    degrees: Degrees
    scale: FloatArray
    """Deviation of each column over the reference; (D,)."""
    clock: Clock
    lead: IntArray
    """Columns whose going together is looked at."""
    groups: dict[str, _Axes]
    centre: dict[str, FloatArray]
    spread: dict[str, FloatArray]
    between: FloatArray
    """Deviation of each column between the reference's takes at equal phases, in those of the column; (D,)."""

    @staticmethod
    def of(takes: Sequence[Clip]) -> Yardstick:
        """The yardstick of some takes, the more the better.

        Raises:
            VariationError: if there are fewer than two.
        """
        if len(takes) < 2:
            raise VariationError(f"{len(takes)} reference takes; a yardstick needs 2 or more")
        degrees = Degrees.of(takes)
        rows = [degrees.rows(take) for take in takes]
        scale = np.concatenate(rows).std(axis=0)
        clock = set_clock([row / scale for row in rows])
        bare = Yardstick(degrees, scale, clock, np.arange(0), {}, {}, {}, np.zeros(len(degrees)))
        warped = np.array([bare.poses(take) for take in takes])
        joints = np.flatnonzero(degrees.kept >= len(ROOT_NAMES))
        between = np.sqrt(warped.var(axis=0, ddof=1).mean(axis=0))
        vary = between[joints]
        lead = np.sort(joints[np.argsort(-vary, kind="stable")[:_LEAD]])
        stick = replace(bare, lead=lead, between=between)
        raw = [stick._raw(take) for take in takes]
        unseen = {"timing": _UNSEEN / degrees.fps}
        groups = {name: _Axes.of(np.array([one[name] for one in raw]), unseen.get(name, 0.0)) for name in GROUPS}
        stick = replace(stick, groups=groups)
        first = [stick._seen(one) for one in raw]
        centre = {name: np.mean([one[name] for one in first], axis=0) for name in first[0]}
        spread = {name: np.std([one[name] for one in first], axis=0) + 1e-6 for name in first[0]}
        return replace(stick, centre=centre, spread=spread)

    def features(self, clips: Sequence[Clip]) -> dict[str, FloatArray]:
        """One row a clip in each group and in `TEXTURE`, in deviations of the reference; (clips, k)."""
        seen = [self._seen(self._raw(clip)) for clip in clips]
        return {
            name: np.array([(one[name] - self.centre[name]) / self.spread[name] for one in seen])
            for name in self.centre
        }

    def rows(self, clip: Clip) -> FloatArray:
        """Columns of a clip in deviations; (F, D)."""
        return np.asarray(self.degrees.rows(clip) / self.scale)

    def poses(self, clip: Clip) -> FloatArray:
        """Columns of a clip at equal phases, in deviations; (24, D)."""
        rows = self.rows(clip)
        return resampled(rows, self._shares(rows), np.linspace(0.0, 1.0, _PHASES))

    def _shares(self, rows: FloatArray) -> FloatArray:
        return progress(rows, self.clock.mean, self.clock.weights)

    def _raw(self, clip: Clip) -> dict[str, FloatArray]:
        rows = self.rows(clip)
        shares = self._shares(rows)
        moments = np.linspace(0.0, 1.0, _PHASES)
        poses = resampled(rows, shares, moments)
        speed = np.gradient(rows, axis=0) * clip.fps
        frames = np.arange(len(rows)) / clip.fps
        beats = np.interp(np.linspace(0.0, 1.0, _BEATS + 2)[1:-1], shares, frames)
        mean = resampled(self.clock.mean, np.linspace(0.0, 1.0, len(self.clock.mean)), moments)
        return {
            "poses": poses.reshape(-1),
            "velocities": resampled(speed, shares, moments).reshape(-1),
            "timing": np.append(beats - np.linspace(0.0, frames[-1], _BEATS + 2)[1:-1], frames[-1]),
            "correlations": _together((poses - mean)[:, self.lead]),
            TEXTURE: self.roughness(clip),
        }

    def _seen(self, raw: dict[str, FloatArray]) -> dict[str, FloatArray]:
        seen = {name: self.groups[name].along(raw[name]) for name in GROUPS}
        off = [self.groups[name].off(raw[name]) for name in GROUPS[:2]]
        return {**seen, TEXTURE: np.append(raw[TEXTURE], off)}

    def roughness(self, clip: Clip) -> FloatArray:
        """Log of the third differences of each part of the body; (4,)."""
        rows, fps = self.rows(clip), clip.fps
        jerk = np.diff(rows, 3, axis=0) * fps**3 if len(rows) > 3 else np.zeros((1, rows.shape[1]))
        joints, parts = self.degrees.kept >= len(ROOT_NAMES), self.degrees.parts
        sizes = [jerk[:, joints & (parts == part)] for part in range(len(PARTS))]
        return np.array([0.5 * np.log(np.mean(size**2) + 1e-6) if size.size else 0.0 for size in sizes])


def _together(away: FloatArray) -> FloatArray:
    """How columns (F, n) go together over time: the upper half of their correlations, stretched; (n (n - 1) / 2,)."""
    away = away - away.mean(axis=0)
    size = np.sqrt((away**2).mean(axis=0)) + 1e-9
    matrix = (away / size).T @ (away / size) / len(away)
    return np.asarray(np.arctanh(np.clip(matrix[np.triu_indices(len(matrix), 1)], -0.99, 0.99)))
