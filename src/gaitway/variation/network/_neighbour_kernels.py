"""Kernel regression over the k nearest rows, whose distances are known.

Rows (training triples of frames) are sorted by the phase of the motion they belong to. The squared difference in phase
is part of every distance, so rows whose share alone is over the k-th distance need not be looked at: a window of the
sorted rows is enough, and the result is the same as over all rows. Rows of a cyclic motion are laid out twice, half a
period to either side, so that a window never wraps.

A window holds some twenty rows, too few for loops that are made for long arrays. So arrays are gone through in blocks
of `LANES` rows, and what is behind the last row is `FAR` and weighs nothing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import SingleArray
from gaitway.core.jit import kernel

Bits = npt.NDArray[np.int32]
"""Single floats as integers. Those that are not negative are in the same order, and integers are compared faster."""
FAR: Any = np.float32(1e30)
"""Instead of infinity."""
LANES = 8
"""Rows that are handled at a time."""
_GATE: Any = np.float32(1.25)
"""Of the k-th squared distance in the frame before; rows beyond it are looked at only where too few are within it."""
_FEW = 6
"""Distances that are set aside one by one."""
_LEAST_WEIGHT: Any = np.float32(1e-6)


@kernel(inner=True)
def padded(rows: int) -> int:
    """So many rows, in whole blocks."""
    return (rows + LANES - 1) // LANES * LANES


@kernel(inner=True)
def first_at_least(phases: SingleArray, count: int, value: float) -> int:
    """Index of the first of `count` rows whose phase is at least `value`."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if phases[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel(inner=True)
def reach(clock: float, half_period: float, gate: Any) -> float:
    """How far in phase a row can be and lie within `gate`."""
    if clock > 0.0 and gate < FAR:
        return min(half_period, math.sqrt(gate / clock))
    return half_period


@kernel(inner=True)
def next_gate(edge: Any) -> Any:
    """Where to look for rows in the next frame, the k-th distance having been `edge`."""
    return edge * _GATE + np.float32(1e-9)


@kernel(inner=True)
def wider(gate: Any) -> Any:
    """Where to look after too few rows were within `gate`."""
    return gate * np.float32(2.0) if gate < np.float32(1e6) else FAR


@kernel(fastmath=True, inner=True)
def exponential(x: Any) -> Any:
    """exp(x) for x of zero or less, to the precision of single floats; loops over it become vectors."""
    held = x if x > np.float32(-87.0) else np.float32(-87.0)
    whole = held * np.float32(1.4426950408889634)
    power = np.int32(whole - np.float32(0.5))
    rest = whole - np.float32(power)  # within half of zero; the polynomial goes through 2**rest at Chebyshev's points
    two = np.float32(0.0013390863) * rest + np.float32(0.009676032)
    two = two * rest + np.float32(0.055503571)
    two = two * rest + np.float32(0.240221075)
    two = two * rest + np.float32(0.693147188)
    two = two * rest + np.float32(1.0000000755)
    return np.int32((power + np.int32(127)) << np.int32(23)).view(np.float32) * two


@kernel(inner=True)
def within(bits: Bits, count: int, gate: Any) -> Any:
    """How many of the distances are less than `gate`."""
    limit, found = np.float32(gate).view(np.int32), np.int32(0)
    for j in range(count):
        found = np.int32(found + np.int32(bits[j] < limit))
    return found


@kernel(inner=True)
def kth_smallest(bits: Bits, count: int, k: int, found: Any, gate: Any, closest: Any) -> Any:
    """The k-th smallest distance, `found` of them being less than `gate` and none less than `closest`.

    Mostly few are beyond the k-th; then the greatest ones are set aside one by one. Before, the gate is halved while
    there are many.
    """
    low, bound = np.float32(closest).view(np.int32), np.float32(gate).view(np.int32)
    farther: Any = found - k
    while farther > _FEW and bound - low > 1:
        middle, inside = np.int32((low + bound) // 2), np.int32(0)
        for j in range(count):
            inside = np.int32(inside + np.int32(bits[j] < middle))
        if inside >= k:
            bound, farther = middle, inside - k
        else:
            low = middle
    while True:
        top, same = np.int32(-1), np.int32(0)
        for j in range(count):
            here = bits[j] if bits[j] < bound else np.int32(-1)
            top = here if here > top else top
        for j in range(count):
            same = np.int32(same + np.int32(bits[j] == top))
        if same > farther or top < 0:  # none is left only where there is NaN
            return np.int32(top).view(np.float32)
        farther -= same
        bound = top


@kernel(inner=True)
def smallest(bits: Bits, count: int) -> Any:
    """The smallest distance."""
    least = np.int32(2147483647)
    for j in range(count):
        least = bits[j] if bits[j] < least else least
    return np.int32(least).view(np.float32)


@kernel(fastmath=True, inner=True)
def regression(
    distances: SingleArray,
    bits: Bits,
    count: int,
    found: int,
    gate: Any,
    steps: SingleArray,
    values: SingleArray,
    k: int,
    width: Any,
    taper: bool,
    weights: SingleArray,
) -> tuple[Any, Any, Any, Any]:
    """Kernel-weighted mean and variance of steps, mean of values (equations 5.5 and 5.6), and the k-th distance.

    The smallest distance leaves the exponent: the ratios of the weights stay, and none is lost far from all rows.
    With `taper` weights fall to zero at the k-th row, so that no row comes or goes with a jerk.

    Args:
        distances: squared; of rows that do not count they are `FAR`.
        bits: the same as integers.
        count: how many, in whole blocks.
        found: distances below `gate`.
        gate: as far as which all rows are there.
        steps: of the rows.
        values: of the rows.
        k: nearest rows that count, where there are so many.
        width: of the kernel, in distances of the k-th.
        taper: whether weights fall to zero there.
        weights: scratch.
    """
    closest = smallest(bits, count)
    edge = kth_smallest(bits, count, min(k, found), found, gate, closest)
    scale = np.float32(-1.0) / (width * width * edge + np.float32(1e-12))
    least = exponential((edge - closest) * scale)
    least = least if taper and least < np.float32(0.99) else np.float32(0.0)
    total, first, place = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    used = np.int32(0)
    for j in range(count):
        apart = distances[j]
        counts = apart <= edge
        weight = exponential(((apart if counts else edge) - closest) * scale) - least
        counts = counts & (weight > _LEAST_WEIGHT)
        weight = weight if counts else np.float32(0.0)
        weights[j] = weight
        used = np.int32(used + np.int32(counts))
        total += weight
        first += weight * steps[j]
        place += weight * values[j]
    mean = first / total
    second = np.float32(0.0)
    for j in range(count):
        away = steps[j] - mean
        second += weights[j] * away * away
    variance = second / total * np.float32(used) / np.float32(used - 1) if used > 1 else np.float32(0.0)
    return mean, variance, place / total, edge


@kernel(inner=True)
def log_normal(error: float, variance: float, floor: float) -> float:
    """Logarithm of the normal density of `error`, the variance being at least `floor`."""
    held = max(variance, floor)
    return -0.5 * (error * error / held + math.log(2.0 * math.pi * held))
