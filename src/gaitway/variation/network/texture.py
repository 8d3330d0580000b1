"""The fine detail of a motion: heel strikes, tremor, the jitter of a capture.

A kernel regression is a mean, and means are smooth: what is finer than a twentieth of a second is averaged away where
takes have it, and where they have none the coming and going of neighbours adds a little of its own. So a variant has
the network's motion up to that scale, and beyond it the detail of the takes at the same phase: their mean, and a mix of
how they differ from it. The weights of the mix are of length one, so a variant is as rough as a take; they follow those
of the draws (`gaitway.variation.network.spread`), so fine and coarse belong together. No frame of a take is copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray, IntArray, SingleArray
from gaitway.variation.network.phase import Clock

_SCALE_S = 0.045
"""Deviation of the filter that parts motion from detail [s]."""
_REACH = 3.0
"""Of the filter to either side, in deviations."""


@dataclass(frozen=True, eq=False)
class Texture:
    """What of the takes is finer than the network."""

    details: SingleArray
    """Of every take by phase; (takes, G, n)."""
    gains: SingleArray
    """Of what differs between takes, so that variants are as rough as they are; (n,)."""

    def at(self, places: FloatArray, weights: SingleArray, parts: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean detail, and the mix of what differs from it.

        Args:
            places: in the table; (F,).
            weights: of takes, of whatever length; (F, parts + 1, takes).
            parts: part of the body of each column; (n,).

        Returns:
            (F, n) both; gains are not yet applied to the second.
        """
        every = self._curves(np.clip(places, 0.0, self.details.shape[1] - 1.0))
        mean = every.mean(axis=0)
        unit = _unit(weights.astype(np.float64))
        mixed = np.einsum("fnk,kfn->fn", unit[:, parts], every - mean)
        return mean, mixed

    @cached_property
    def _curves(self) -> scipy.interpolate.CubicSpline:
        """Details between the places of the table; lines between them would smooth it."""
        return scipy.interpolate.CubicSpline(np.arange(self.details.shape[1]), self.details, axis=1)


def filter_reach(fps: float) -> int:
    """Frames to either side that a smoothed frame depends on."""
    return int(np.ceil(_REACH * _SCALE_S * fps))


def filtered(rows: FloatArray, fps: float) -> FloatArray:
    """Rows without their detail, of all but `filter_reach` frames at either end; (F - 2 reach, n)."""
    reach = filter_reach(fps)
    away = np.arange(-reach, reach + 1) / (_SCALE_S * fps)
    kernel = np.exp(-0.5 * away**2)
    smooth = scipy.ndimage.convolve1d(rows, kernel / kernel.sum(), axis=0, mode="nearest")
    return np.asarray(smooth[reach : len(rows) - reach])


def smoothed(rows: FloatArray, fps: float, cyclic: bool = False) -> FloatArray:
    """Rows (F, n) without their detail; those of a motion that is no cycle begin and end where they did."""
    reach = filter_reach(fps)
    if cyclic and len(rows) > reach:  # the last frame is where the first was, maybe farther on
        before, after = rows[0] - (rows[-1] - rows[-1 - reach : -1]), rows[-1] + (rows[1 : reach + 1] - rows[0])
    else:
        reflected = np.pad(rows, ((reach, reach), (0, 0)), mode="reflect", reflect_type="odd")
        before, after = reflected[:reach], reflected[-reach:]
    return filtered(np.concatenate([before, rows, after]), fps)


def texture_of(takes: Sequence[FloatArray], clock: Clock, cyclic: bool, fps: float) -> Texture:
    """The detail of takes (F, n) by phase, with gains of one."""
    grid = np.linspace(0.0, clock.period, len(clock.mean))
    details = [
        scipy.interpolate.CubicSpline(phase, take - smoothed(take, fps, cyclic))(grid)
        for take, phase in zip(takes, clock.phases, strict=True)
    ]
    return Texture(np.array(details, dtype=np.float32), np.ones(takes[0].shape[1], np.float32))


def _unit(weights: FloatArray) -> FloatArray:
    """Weights (..., takes) less their mean, of length one: then their mixes vary as takes do."""
    centred = weights - weights.mean(axis=-1, keepdims=True)
    return np.asarray(centred / np.maximum(np.linalg.norm(centred, axis=-1, keepdims=True), 1e-9))
