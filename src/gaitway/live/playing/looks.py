"""Looks of live characters over time: how heads, trunks and arms turned, kept compactly for a record of what was shown.

A crowd is read ten times a second, and the turns in between lie on smooth curves through what was read. A character
takes some 400 bytes a second.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray

RATE_HZ = 10.0
"""How often looks are kept [Hz]."""
_SOFT = 0.08
"""Standard deviation of the filter that rounds the corners of what was kept [s]."""
Half = npt.NDArray[np.float16]


class _Read(NamedTuple):
    """The looks of a crowd at one time."""

    time: float
    who: IntArray
    """Numbers of characters and how many have had each number; (N, 2)."""
    turns: Half
    """Vector parts of the rotations of their parts; (N, P, 3)."""


class RecordedLooks:
    """Looks of the last minutes. This class is **mutable**."""

    def __init__(self, seconds: float) -> None:
        """Keep looks for so long [s]."""
        self._seconds, self._reads = seconds, deque[_Read]()

    def note(self, time: float, who: IntArray, turns: FloatArray) -> None:
        """Keep the looks of some characters; those before are dropped if others were kept shortly before them.

        Args:
            time: time [s].
            who: numbers of characters and how many have had each number; (N, 2).
            turns: turns of their parts, wxyz; (N, P, 4).
        """
        if len(self._reads) > 1 and time < self._reads[-2].time + 1.0 / RATE_HZ + 1e-6:
            self._reads.pop()
        shorter = np.where(turns[..., :1] < 0.0, -turns[..., 1:], turns[..., 1:])
        self._reads.append(_Read(time, who.copy(), shorter.astype(np.float16)))
        while self._reads[0].time < time - self._seconds - 1.0:
            self._reads.popleft()

    def of(self, character: int, life: int, times: FloatArray) -> FloatArray | None:
        """Return the turns (F, P, 4) of a character at times [s], or None if none are known.

        Before and after what is known, the nearest are returned.
        """
        when, found = [], []
        for read in self._reads:
            rows = np.flatnonzero((read.who[:, 0] == character) & (read.who[:, 1] == life))
            if len(rows):
                when.append(read.time)
                found.append(read.turns[rows[0]].astype(np.float64))
        if not found:
            return None
        vector = np.array(found)
        real = np.sqrt(np.maximum(1.0 - (vector**2).sum(axis=-1, keepdims=True), 0.0))
        angles = rotations.to_rotation_vector(rotations.normalize(np.concatenate([real, vector], axis=-1)))
        at = np.clip(times, when[0], when[-1])
        if len(when) < 2:
            return rotations.from_rotation_vector(np.repeat(angles, len(times), axis=0))
        shown = scipy.interpolate.PchipInterpolator(np.array(when), angles, axis=0)(at)
        if len(times) > 1:  # what was read between two frames of a turn has corners that nobody saw
            shown = _rounded(shown, _SOFT / float(times[1] - times[0]))
        return rotations.from_rotation_vector(shown)


def _rounded(curve: FloatArray, deviation: float) -> FloatArray:
    """Return a curve (F, P, 3) without corners; its ends go on as they came, so that they are not pulled back."""
    width = min(int(np.ceil(4.0 * deviation)), len(curve) - 1)
    longer = np.pad(curve, ((width, width), (0, 0), (0, 0)), mode="reflect", reflect_type="odd")
    soft: FloatArray = scipy.ndimage.gaussian_filter1d(longer, deviation, axis=0, mode="nearest")
    return soft[width : width + len(curve)]
