"""An independent check of live characters that knows nothing of their plans."""

from __future__ import annotations

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray, IntArray


def overlaps(points: FloatArray, radius: float, slack: float = 1e-6) -> IntArray:
    """Return the pairs of characters whose discs overlap.

    Args:
        points: root positions, x and y first [m]; (N, 2 or more).
        radius: radius of the discs [m].
        slack: discs that overlap by no more than this only touch [m].

    Returns:
        Pairs of rows of `points`; (P, 2).
    """
    if len(points) < 2:
        return np.empty((0, 2), np.int64)
    places = scipy.spatial.cKDTree(points[:, :2])
    pairs: IntArray = places.query_pairs(2.0 * radius - slack, output_type="ndarray").astype(np.int64)
    return pairs
