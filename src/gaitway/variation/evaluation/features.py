"""Features by which motions are compared: poses, velocities, timing, correlations of joints, and texture.

Everything is measured relative to reference takes (a yardstick). A whole clip is one sample, because frames of one clip
are not independent. Time is separated from shape: a clip is warped to the mean of the reference. Poses and velocities
are compared at equal phases, and the warp itself is the timing. Poses, velocities and correlations are measured along
the directions in which takes differ. The rest, and the roughness of a motion, are its texture: sizes that a test may
detect although an observer may not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import VariationError
from gaitway.motion.anatomy import PARTS
from gaitway.motion.clip import Clip
from gaitway.variation.network.dofs import ROOT_NAMES, Dofs
from gaitway.variation.network.phase import PhaseAlignment, align_phases, phase_shares, resampled

GROUPS = ("poses", "velocities", "timing", "correlations")
TEXTURE = "texture"
"""Name of a further group: sizes of what is off the directions of takes, and of third differences."""
_PHASES = 24
"""Number of phases at which poses are compared."""
_AXES = 10
"""Greatest number of directions of variation that are compared."""
_LEAST = 0.02
"""Least deviation of a direction that is compared, as a share of that of the first."""
_UNSEEN = 0.25
"""Differences in time that do not count, because durations are whole numbers of frames [frames]."""
_LEAD = 10
"""Number of columns, those that vary most from take to take, whose correlations are compared."""
_BEATS = 7
"""Number of moments at which a clip may be early or late."""


@dataclass(frozen=True, eq=False)
class _Axes:
    """Directions in which takes differ, and how far."""

    mean: FloatArray
    axes: FloatArray
    """Unit vectors of the directions; (k, n)."""
    spread: FloatArray
    """Standard deviation along each; (k,)."""

    @staticmethod
    def of(rows: FloatArray, unseen: float = 0.0) -> _Axes:
        """Return the directions of rows (n, k) without those in which they differ by less than `unseen`."""
        mean = rows.mean(axis=0)
        _, sizes, axes = np.linalg.svd(rows - mean, full_matrices=False)
        spread = sizes / np.sqrt(max(len(rows) - 1, 1))
        seen = spread > max(_LEAST * spread[0], unseen, 1e-12)
        count = min(_AXES, max(len(rows) // 4, 1), int(seen.sum()) or 1)
        return _Axes(mean, axes[:count], np.maximum(spread[:count], 1e-9))

    def along(self, row: FloatArray) -> FloatArray:
        """Return the coordinates of a row along each direction; (k,)."""
        return np.asarray(self.axes @ (row - self.mean) / self.spread)

    def off(self, row: FloatArray) -> float:
        """Return the logarithm of the distance of a row from the space that the directions span."""
        away = row - self.mean
        return 0.5 * float(np.log(np.mean((away - (self.axes @ away) @ self.axes) ** 2) + 1e-12))


@dataclass(frozen=True, eq=False, kw_only=True)
class Yardstick:
    """Reference takes by which clips are measured; built by `Yardstick.of`."""

    dofs: Dofs
    scale: FloatArray
    """Standard deviation of each column over the reference; (D,)."""
    alignment: PhaseAlignment
    lead: IntArray
    """Columns whose correlations are compared."""
    groups: dict[str, _Axes]
    centre: dict[str, FloatArray]
    spread: dict[str, FloatArray]
    between: FloatArray
    """Deviation of each column between the reference's takes at equal phases, in deviations of the column; (D,)."""

    @staticmethod
    def of(takes: Sequence[Clip]) -> Yardstick:
        """Build the yardstick of some takes, the more the better.

        Raises:
            VariationError: if there are fewer than two.
        """
        if len(takes) < 2:
            raise VariationError(f"{len(takes)} reference takes; a yardstick needs 2 or more")
        dofs = Dofs.of(takes)
        rows = [dofs.rows(take) for take in takes]
        scale = np.concatenate(rows).std(axis=0)
        alignment = align_phases([row / scale for row in rows])
        bare = Yardstick(
            dofs=dofs,
            scale=scale,
            alignment=alignment,
            lead=np.arange(0),
            groups={},
            centre={},
            spread={},
            between=np.zeros(len(dofs)),
        )
        warped = np.array([bare.poses(take) for take in takes])
        joints = np.flatnonzero(dofs.kept >= len(ROOT_NAMES))
        between = np.sqrt(warped.var(axis=0, ddof=1).mean(axis=0))
        vary = between[joints]
        lead = np.sort(joints[np.argsort(-vary, kind="stable")[:_LEAD]])
        stick = replace(bare, lead=lead, between=between)
        raw = [stick._raw(take) for take in takes]
        unseen = {"timing": _UNSEEN / dofs.fps}
        groups = {name: _Axes.of(np.array([one[name] for one in raw]), unseen.get(name, 0.0)) for name in GROUPS}
        stick = replace(stick, groups=groups)
        first = [stick._seen(one) for one in raw]
        centre = {name: np.mean([one[name] for one in first], axis=0) for name in first[0]}
        spread = {name: np.std([one[name] for one in first], axis=0) + 1e-6 for name in first[0]}
        return replace(stick, centre=centre, spread=spread)

    def features(self, clips: Sequence[Clip]) -> dict[str, FloatArray]:
        """Return one row for each clip in each group and in `TEXTURE`, in deviations of the reference; (clips, k)."""
        seen = [self._seen(self._raw(clip)) for clip in clips]
        return {
            name: np.array([(one[name] - self.centre[name]) / self.spread[name] for one in seen])
            for name in self.centre
        }

    def rows(self, clip: Clip) -> FloatArray:
        """Return the columns of a clip in deviations; (F, D)."""
        return np.asarray(self.dofs.rows(clip) / self.scale)

    def poses(self, clip: Clip) -> FloatArray:
        """Return the columns of a clip at equal phases, in deviations; (24, D)."""
        rows = self.rows(clip)
        return resampled(rows, self._shares(rows), np.linspace(0.0, 1.0, _PHASES))

    def _shares(self, rows: FloatArray) -> FloatArray:
        return phase_shares(rows, self.alignment.mean, self.alignment.weights)

    def _raw(self, clip: Clip) -> dict[str, FloatArray]:
        rows = self.rows(clip)
        shares = self._shares(rows)
        moments = np.linspace(0.0, 1.0, _PHASES)
        poses = resampled(rows, shares, moments)
        speed = np.gradient(rows, axis=0) * clip.fps
        frames = np.arange(len(rows)) / clip.fps
        beats = np.interp(np.linspace(0.0, 1.0, _BEATS + 2)[1:-1], shares, frames)
        mean = resampled(self.alignment.mean, np.linspace(0.0, 1.0, len(self.alignment.mean)), moments)
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
        """Return the logarithm of the third differences of each part of the body; (4,)."""
        rows, fps = self.rows(clip), clip.fps
        jerk = np.diff(rows, 3, axis=0) * fps**3 if len(rows) > 3 else np.zeros((1, rows.shape[1]))
        joints, parts = self.dofs.kept >= len(ROOT_NAMES), self.dofs.parts
        sizes = [jerk[:, joints & (parts == part)] for part in range(len(PARTS))]
        return np.array([0.5 * np.log(np.mean(size**2) + 1e-6) if size.size else 0.0 for size in sizes])


def _together(away: FloatArray) -> FloatArray:
    """Return the correlations of columns (F, n) over time, Fisher-transformed; (n (n - 1) / 2,)."""
    away = away - away.mean(axis=0)
    size = np.sqrt((away**2).mean(axis=0)) + 1e-9
    matrix = (away / size).T @ (away / size) / len(away)
    return np.asarray(np.arctanh(np.clip(matrix[np.triu_indices(len(matrix), 1)], -0.99, 0.99)))
