"""Who is near whom, and who comes towards whom, in one pass over moments."""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel


@kernel
def meetings(
    places: FloatArray, rate: float, ahead: float, closing: float, near: float, far: float, nearest: IntArray,
    comers: IntArray,
) -> None:  # fmt: skip
    """Find who is nearest to each character at each moment, and who comes towards it, the nearest of them.

    Args:
        places: roots at each moment; NaN where somebody is not there [m]; (T, C, 2).
        rate: moments a second [Hz].
        ahead: cosine of the greatest angle between the way of a character and the place of who comes.
        closing: least speed of a character that looks at who comes, and of the approach beyond half of it [m/s].
        near: distance beyond which somebody comes [m].
        far: distance within which somebody comes [m].
        nearest: the nearest at each moment, written where there is one; (C, T).
        comers: who comes at each moment, written where there is one; (C, T).
    """
    count, present = places.shape[0], np.empty(places.shape[1], dtype=np.int64)
    for t in range(count):
        size = 0
        for c in range(places.shape[1]):
            if not math.isnan(places[t, c, 0]):
                present[size] = c
                size += 1
        # speeds are those from the moment before to the one after; at an end of time, from or to the moment itself
        before, after = max(t - 1, 0), min(t + 1, count - 1)
        pace = rate / max(after - before, 1)
        for i in range(size):
            me = present[i]
            x, y = places[t, me, 0], places[t, me, 1]
            step_x = (places[after, me, 0] - places[before, me, 0]) * pace
            step_y = (places[after, me, 1] - places[before, me, 1]) * pace
            speed = math.sqrt(step_x * step_x + step_y * step_y)
            goes = speed > closing  # not a number, and so not true, for who has just come or leaves
            least, soonest = np.inf, far * far
            for k in range(size):
                other = present[k]
                if other == me:
                    continue
                dx, dy = places[t, other, 0] - x, places[t, other, 1] - y
                square = dx * dx + dy * dy
                if square < least:
                    least = square
                    nearest[me, t] = other
                if not goes or square >= soonest or square <= near * near:
                    continue
                if not dx * step_x + dy * step_y > ahead * math.sqrt(square) * speed:
                    continue
                ax, ay = (
                    places[before, other, 0] - places[before, me, 0],
                    places[before, other, 1] - places[before, me, 1],
                )
                bx, by = places[after, other, 0] - places[after, me, 0], places[after, other, 1] - places[after, me, 1]
                approach = (math.sqrt(ax * ax + ay * ay) - math.sqrt(bx * bx + by * by)) * pace
                if approach > closing + 0.5 * speed:
                    soonest = square
                    comers[me, t] = other
