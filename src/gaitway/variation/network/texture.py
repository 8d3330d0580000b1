"""The fine detail of a motion: heel strikes, tremor, the jitter of a capture.

A kernel regression is a mean, and means are smooth. Where takes have detail that is finer than a twentieth of a second,
the mean loses it; where they have none, changing neighbours add a little. So a variant has the network's motion only
down to that scale. Its detail is that of the takes at the same phase: their mean detail, and a mix of how they differ
from it. The weights of the mix have length one, so a variant is as rough as a take. They follow the weights of the
draws (`gaitway.variation.network.spread`), so that fine and coarse motion belong together. No frame of a take is
copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray, IntArray, SingleArray
from gaitway.variation.network.phase import PhaseAlignment

_SCALE_S = 0.045
"""Standard deviation of the filter that separates motion from detail [s]."""
_REACH = 3.0
"""Reach of the filter to either side, in standard deviations."""


@dataclass(frozen=True, eq=False)
class Texture:
    """Detail of the takes that is finer than the network's motion."""

    details: SingleArray
    """Detail of every take by phase; (takes, G, n)."""
    gains: SingleArray
    """Gains of the differences between takes, by which variants are as rough as takes; (n,)."""

    def at(self, places: FloatArray, weights: SingleArray, parts: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean detail, and the mix of what differs from it.

        Args:
            places: Places in the table; (F,).
            weights: Weights of takes, of any length; (F, parts + 1, takes).
            parts: Part of the body of each column; (n,).

        Returns:
            Both (F, n); gains are not yet applied to the second.
        """
        every = self._curves(np.clip(places, 0.0, self.details.shape[1] - 1.0))
        mean = every.mean(axis=0)
        unit = _unit(weights.astype(np.float64))
        mixed = np.einsum("fnk,kfn->fn", unit[:, parts], every - mean)
        return mean, mixed

    @cached_property
    def _curves(self) -> scipy.interpolate.CubicSpline:
        """Splines through the details. Linear interpolation would smooth them."""
        return scipy.interpolate.CubicSpline(np.arange(self.details.shape[1]), self.details, axis=1)


def filter_reach(fps: float) -> int:
    """Return the number of frames to either side that a smoothed frame depends on."""
    return int(np.ceil(_REACH * _SCALE_S * fps))


def filtered(rows: FloatArray, fps: float) -> FloatArray:
    """Return rows without their detail, for all but `filter_reach` frames at either end; (F - 2 reach, n)."""
    reach = filter_reach(fps)
    away = np.arange(-reach, reach + 1) / (_SCALE_S * fps)
    kernel = np.exp(-0.5 * away**2)
    smooth = scipy.ndimage.convolve1d(rows, kernel / kernel.sum(), axis=0, mode="nearest")
    return np.asarray(smooth[reach : len(rows) - reach])


def smoothed(rows: FloatArray, fps: float, cyclic: bool = False) -> FloatArray:
    """Return rows (F, n) without their detail; where the motion is no cycle, both ends stay as they are."""
    reach = filter_reach(fps)
    if cyclic and len(rows) > reach:  # the last frame is the first again, maybe with an offset
        before, after = rows[0] - (rows[-1] - rows[-1 - reach : -1]), rows[-1] + (rows[1 : reach + 1] - rows[0])
    else:
        reflected = np.pad(rows, ((reach, reach), (0, 0)), mode="reflect", reflect_type="odd")
        before, after = reflected[:reach], reflected[-reach:]
    return filtered(np.concatenate([before, rows, after]), fps)


def texture_of(takes: Sequence[FloatArray], alignment: PhaseAlignment, cyclic: bool, fps: float) -> Texture:
    """Return the detail of takes (F, n) by phase, with gains of one."""
    grid = np.linspace(0.0, alignment.period, len(alignment.mean))
    details = [
        scipy.interpolate.CubicSpline(phase, take - smoothed(take, fps, cyclic))(grid)
        for take, phase in zip(takes, alignment.phases, strict=True)
    ]
    return Texture(np.array(details, dtype=np.float32), np.ones(takes[0].shape[1], np.float32))


def _unit(weights: FloatArray) -> FloatArray:
    """Return weights (..., takes) less their mean, scaled to length one, so that their mixes vary as takes do."""
    centred = weights - weights.mean(axis=-1, keepdims=True)
    return np.asarray(centred / np.maximum(np.linalg.norm(centred, axis=-1, keepdims=True), 1e-9))
