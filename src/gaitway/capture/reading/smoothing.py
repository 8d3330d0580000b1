"""Filters over time: resampling without aliasing, and velocities without the jitter of markers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.editing import resample
from gaitway.motion.kinematics import linear_velocities

_WIDTH = 0.4
"""Width of the filter in frames of the new rate; less lets jitter through, more softens footfalls."""

_JITTER_S = 0.015
"""Width of the filter before velocities are computed [s]."""


def at_rate(clip: Clip, fps: float) -> Clip:
    """Return the clip at another frame rate [Hz]; a low-pass filter comes first if the new rate is lower."""
    if clip.fps > 1.05 * fps and len(clip) > 2:
        width = _WIDTH * clip.fps / fps
        smooth = low_pass(rotations.continuous(clip.rotations), width)
        clip = replace(clip, root_positions=low_pass(clip.root_positions, width), rotations=rotations.normalize(smooth))
    return resample(clip, fps)


def steady_velocities(points: FloatArray, fps: float) -> FloatArray:
    """Return velocities [m/s] of points (F, ..., 3) without the jitter of markers, which grows with the frame rate."""
    return linear_velocities(low_pass(points, _JITTER_S * fps), fps)


def low_pass(values: FloatArray, width: float) -> FloatArray:
    """Filter values along the first axis by a Gaussian of a width in frames; the slope at both ends is kept.

    Beyond its ends the signal is continued by reflection in the end point.
    """
    pad = min(len(values) - 1, int(np.ceil(4.0 * width)))
    if pad < 1:
        return np.array(values)
    before, after = 2.0 * values[:1] - values[pad:0:-1], 2.0 * values[-1:] - values[-2 : -pad - 2 : -1]
    longer = np.concatenate([before, values, after])
    smooth: FloatArray = scipy.ndimage.gaussian_filter1d(longer, width, axis=0, mode="nearest")[pad : pad + len(values)]
    return smooth
