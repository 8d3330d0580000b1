"""Kernels of the regression over the k nearest training rows.

Training rows (triples of frames) are sorted by phase. The squared difference in phase is part of every distance. So a
row whose phase alone puts it beyond the k-th distance need not be looked at: a window of the sorted rows is enough, and
the result is the same as over all rows. The rows of a cyclic motion are stored twice, half a period to either side, so
that a window never wraps.

A window holds about twenty rows, which is too few for loops that are made for long arrays. So kernels process arrays in
blocks of `LANES` rows. Entries behind the last row have the distance `FAR` and no weight.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import SingleArray
from gaitway.core.jit import kernel

Bits = npt.NDArray[np.int32]
"""Single floats, viewed as integers. Those that are not negative have the same order, and compare faster."""
FAR: Any = np.float32(1e30)
"""Distance and period that stand for infinity."""
LANES = 8
"""Number of rows that are processed at a time."""
_GATE: Any = np.float32(1.25)
"""Factor on the k-th squared distance of the frame before. Rows beyond the product are looked at only where too few
rows are within it."""
_FEW = 6
"""Number of distances that are removed one by one, at most."""
_LEAST_WEIGHT: Any = np.float32(1e-6)
"""Weight below which a row does not count."""
LOW, HIGH = 0, 1
"""Columns of `spans`: least and greatest value of a node."""


class RowArrays(NamedTuple):
    """Training rows as kernels need them; R rows of n nodes."""

    pairs: SingleArray
    """Frames t and t+1 of every row; (2n, R)."""
    steps: SingleArray
    """Steps from frame t+1 to t+2; (n, R)."""
    phases: SingleArray
    """Phase of frame t+1, rising; (R,)."""
    takes: npt.NDArray[Any]
    """Number of the take of each row; (R,)."""
    velocities: SingleArray
    """Weights of the velocity terms; (n,)."""
    spans: SingleArray
    """Least and greatest value of each node; (n, 2)."""


class KernelSettings(NamedTuple):
    """Settings of the regression as kernels need them."""

    k: int
    """Number of nearest rows that count."""
    width: Any
    """Kernel width, as a multiple of the k-th distance."""
    taper: bool
    """Whether weights fall to zero at the k-th distance."""
    pull: Any
    """Share of the distance to the neighbours' mean that a node moves in a frame."""
    phase_weight: Any
    """Weight of squared differences in phase."""
    half_period: Any
    """Half the period of a cyclic motion, whose rows are stored twice; FAR for other motions."""


@kernel(inner=True)
def padded(rows: int) -> int:
    """Return the number of rows, rounded up to whole blocks."""
    return (rows + LANES - 1) // LANES * LANES


@kernel(inner=True)
def first_at_least(phases: SingleArray, count: int, value: float) -> int:
    """Return the index of the first of `count` rows whose phase is at least `value`."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if phases[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel(inner=True)
def reach(phase_weight: float, half_period: float, gate: Any) -> float:
    """Return the greatest difference in phase that a row within the squared distance `gate` can have."""
    if phase_weight > 0.0 and gate < FAR:
        return min(half_period, math.sqrt(gate / phase_weight))
    return half_period


@kernel(inner=True)
def next_gate(edge: Any) -> Any:
    """Return the squared distance within which to look in the next frame, if the k-th distance was `edge`."""
    return edge * _GATE + np.float32(1e-9)


@kernel(inner=True)
def wider(gate: Any) -> Any:
    """Return a larger squared distance, after too few rows were within `gate`."""
    return gate * np.float32(2.0) if gate < np.float32(1e6) else FAR


@kernel(fastmath=True, inner=True)
def exponential(x: Any) -> Any:
    """Return exp(x) for x of zero or less, to the precision of single floats; loops over it are vectorised."""
    held = x if x > np.float32(-87.0) else np.float32(-87.0)
    whole = held * np.float32(1.4426950408889634)
    power = np.int32(whole - np.float32(0.5))
    rest = whole - np.float32(power)  # between -0.5 and 0.5; the polynomial interpolates 2**rest at Chebyshev points
    two = np.float32(0.0013390863) * rest + np.float32(0.009676032)
    two = two * rest + np.float32(0.055503571)
    two = two * rest + np.float32(0.240221075)
    two = two * rest + np.float32(0.693147188)
    two = two * rest + np.float32(1.0000000755)
    return np.int32((power + np.int32(127)) << np.int32(23)).view(np.float32) * two


@kernel(inner=True)
def within(bits: Bits, count: int, gate: Any) -> Any:
    """Return the number of distances that are less than `gate`."""
    limit, found = np.float32(gate).view(np.int32), np.int32(0)
    for j in range(count):
        found = np.int32(found + np.int32(bits[j] < limit))
    return found


@kernel(inner=True)
def kth_smallest(bits: Bits, count: int, k: int, found: Any, gate: Any, closest: Any) -> Any:
    """Return the k-th smallest distance, where `found` distances are less than `gate` and none is less than `closest`.

    The gate is halved while many distances are beyond the k-th. The last few are removed one by one, greatest first.
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
        if same > farther or top < 0:  # top < 0 only where there is NaN
            return np.int32(top).view(np.float32)
        farther -= same
        bound = top


@kernel(inner=True)
def smallest(bits: Bits, count: int) -> Any:
    """Return the smallest distance."""
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
    """Return the weighted mean and variance of steps, the mean of values (equations 5.5, 5.6), and the k-th distance.

    The smallest distance is subtracted in the exponent. This keeps the ratios of the weights, and no weight underflows
    far from all rows. With `taper`, weights fall to zero at the k-th row, so that no row comes or goes with a jerk.

    Args:
        distances: Squared distances; `FAR` for rows that do not count.
        bits: The same, viewed as integers.
        count: Number of distances, in whole blocks.
        found: Number of distances below `gate`.
        gate: Squared distance up to which all rows are listed.
        steps: Steps of the rows.
        values: Values of the rows.
        k: Number of nearest rows that count, if there are as many.
        width: Kernel width, as a multiple of the k-th distance.
        taper: Whether weights fall to zero at the k-th distance.
        weights: Scratch memory.
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
    """Return the logarithm of the normal density of `error`, with a variance of at least `floor`."""
    held = max(variance, floor)
    return -0.5 * (error * error / held + math.log(2.0 * math.pi * held))
