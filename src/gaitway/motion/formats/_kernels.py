"""Compiled loops of the readers: text to numbers, Euler angles to quaternions."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

ByteArray = npt.NDArray[np.uint8]
WordArray = npt.NDArray[np.void]
OK, BAD_NUMBER, TOO_LARGE, WRONG_COUNT, FULL = 0, 1, 2, 3, 4
"""Results of `parse_rows`."""


@kernel(inline=True)
def scaled_decimal(digits: int, exponent: int, high: FloatArray, low: FloatArray) -> float:
    """Return the value digits * 10**exponent, to within one unit in the last place.

    Args:
        digits: 0 .. 10**18 - 1.
        exponent: power of ten.
        high: 10**k rounded to a double, k from -(n//2) to n//2 where n = len(high).
        low: 10**k - high, rounded to a double.
    """
    middle = high.shape[0] // 2
    if digits == 0 or exponent < -middle:
        return 0.0
    if exponent > middle:
        return math.inf
    if digits <= 9007199254740992 and -22 <= exponent <= 22:
        # both operands are exact doubles, so one operation rounds correctly
        if exponent < 0:
            return digits / high[middle - exponent]
        return digits * high[middle + exponent]
    a = float(digits)
    rest = float(digits - int(a))
    b = high[middle + exponent]
    product = a * b
    # Dekker's exact product of two doubles, split into halves of 26 bits
    t = 134217729.0 * a
    a_high = t - (t - a)
    a_low = a - a_high
    t = 134217729.0 * b
    b_high = t - (t - b)
    b_low = b - b_high
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product + (error + (a * low[middle + exponent] + rest * b))


@kernel
def parse_number(data: ByteArray, start: int, high: FloatArray, low: FloatArray) -> tuple[int, float]:
    """Return the number whose first byte is at `start`: the position after it and its value.

    The text must end in a byte that is no part of a number. The position is -1 where the token is not a plain decimal.
    """
    i = start
    negative = data[i] == 45
    if negative or data[i] == 43:
        i += 1
    first = i
    digits, exponent, fraction = 0, 0, 0
    while 48 <= data[i] <= 57 or (data[i] == 46 and fraction == 0):
        if data[i] == 46:
            fraction = 1
        elif digits < 10**17:
            digits = digits * 10 + (int(data[i]) - 48)
            exponent -= fraction
        else:  # beyond 18 significant digits only the place counts
            exponent += 1 - fraction
        i += 1
    if i - first == fraction:
        return -1, 0.0
    if data[i] == 101 or data[i] == 69:
        i += 1
        down = data[i] == 45
        if down or data[i] == 43:
            i += 1
        first, power = i, 0
        while 48 <= data[i] <= 57:
            if power < 100_000_000:
                power = power * 10 + (int(data[i]) - 48)
            i += 1
        if i == first:
            return -1, 0.0
        exponent += -power if down else power
    if data[i] > 32:
        return -1, 0.0
    value = scaled_decimal(digits, exponent, high, low)
    return i, -value if negative else value


@kernel
def parse_rows(
    data: ByteArray, words: WordArray, start: int, limit: float, high: FloatArray, low: FloatArray, out: FloatArray
) -> tuple[int, int, int, int]:
    """Parse the numbers of all lines from byte `start` on into `out` (rows, columns); blank lines are skipped.

    Blank lines are skipped.

    `words` is `data` once more, as the integer of the eight bytes that begin at each byte (`numbers.eight_bytes`).

    Returns:
        What was found (OK ...), the number of whole rows, the byte where the trouble is, and how many numbers the
        line there has.
    """
    end, last = len(data), len(words)
    columns, middle = out.shape[1], high.shape[0] // 2
    row, column, i, line_start = 0, 0, start, start
    while True:
        while i < end and (data[i] == 32 or data[i] == 9 or 11 <= data[i] <= 13):
            i += 1
        if i >= end or data[i] == 10:
            if 0 < column != columns:
                return WRONG_COUNT, row, line_start, column
            if column > 0:
                row += 1
            if i >= end:
                return OK, row, i, 0
            column = 0
            i += 1
            line_start = i
            continue
        if row >= out.shape[0]:
            return FULL, row, i, 0
        # Nearly every number is a short plain decimal, and reading those here rather than by a call is five times
        # faster. Up to 15 digits and the power of ten below them are exact doubles, so the quotient rounds correctly.
        after = i
        negative = data[i] == 45
        if negative:
            after += 1
        first, fraction, dot = after, 0, 0
        digits = 0
        digit = int(data[after]) - 48
        while 0 <= digit <= 9:
            digits = digits * 10 + digit
            after += 1
            digit = int(data[after]) - 48
        if digit == -2:
            dot = 1
            after += 1
            point = after
            # Most writers give six decimals: tell by one load that there are six digits, and add them up in pairs.
            if after < last:
                word = int(words[after]["eight"]) ^ 0x303030303030  # a digit's byte is now its value
                if ((word + 0x767676767676) | word) & 0x808080808080 == 0:
                    pairs = (word * 10 + (word >> 8)) & 0xFF00FF00FF
                    digits = digits * 10**6 + (pairs & 255) * 10**4 + ((pairs >> 16) & 255) * 100 + (pairs >> 32)
                    after += 6
            digit = int(data[after]) - 48
            while 0 <= digit <= 9:
                digits = digits * 10 + digit
                after += 1
                digit = int(data[after]) - 48
            fraction = after - point
        if 1 <= after - first - dot <= 15 and data[after] <= 32:
            value = digits / high[middle + fraction]
            if negative:
                value = -value
        else:
            after, value = parse_number(data, i, high, low)
            if after < 0:
                return BAD_NUMBER, row, i, column
        if abs(value) > limit:
            return TOO_LARGE, row, i, column
        if column < columns:
            out[row, column] = value
        line_start = i if column == 0 else line_start
        column += 1
        i = after


@kernel(inline=True)
def half_angle(degrees: float) -> tuple[float, float]:
    """Return the cosine and sine of half an angle [degrees], to within 3e-16.

    Quarter turns are taken off in degrees, where that is exact (up to 1e9). The rest, at most 45 degrees, goes into the
    polynomials in x = half**2 that meet cosine and sine at Chebyshev's points. The C library takes twice as long.
    """
    quarters = math.floor(degrees * (1.0 / 180.0) + 0.5)
    half = (degrees - 180.0 * quarters) * (math.pi / 360.0)
    x = half * half
    xx = x * x
    a = 0.041666666666666664 - 0.0013888888888887398 * x
    a += xx * (
        (2.480158729876569e-05 - 2.7557317271729793e-07 * x) + xx * (2.08761462684032e-09 - 1.13826324255e-11 * x)
    )
    b = 0.16666666666666666 - 0.008333333333330948 * x
    b += xx * (
        (0.00019841269836758574 - 2.755731610255244e-06 * x) + xx * (2.5051131845003624e-08 - 1.59181292949e-10 * x)
    )
    cosine, sine = 1.0 - (0.5 * x - xx * a), half - half * (x * b)
    turn = quarters & 3
    swapped = turn & 1 == 1
    first = -sine if swapped else cosine
    second = cosine if swapped else sine
    return (-first, -second) if turn >= 2 else (first, second)


@kernel(fastmath=True)
def euler_quaternions(
    values: FloatArray, columns: IntArray, axes: IntArray, scratch: FloatArray, out: FloatArray
) -> None:
    """Compute quaternions (F, J, 4) from the Euler angles [degrees] in a table of channels.

    Args:
        values: channels of all frames; (F, C).
        columns: columns of a joint's angles in the order in which they are multiplied; -1 for none; (J, 3).
        axes: axis of each angle: 0, 1, 2 for x, y, z; (J, 3).
        scratch: working memory; (2, C), written.
        out: receives the quaternions; (F, J, 4).
    """
    for f in range(values.shape[0]):
        for column in range(values.shape[1]):  # a loop of its own, so that it is compiled to vector instructions
            scratch[0, column], scratch[1, column] = half_angle(values[f, column])
        for j in range(columns.shape[0]):
            w, x, y, z = 1.0, 0.0, 0.0, 0.0
            for k in range(columns.shape[1]):
                column = columns[j, k]
                if column < 0:
                    break
                c, s = scratch[0, column], scratch[1, column]
                axis = axes[j, k]
                if axis == 0:
                    w, x, y, z = w * c - x * s, w * s + x * c, y * c + z * s, z * c - y * s
                elif axis == 1:
                    w, x, y, z = w * c - y * s, x * c - z * s, w * s + y * c, x * s + z * c
                else:
                    w, x, y, z = w * c - z * s, x * c + y * s, y * c - x * s, w * s + z * c
            out[f, j, 0], out[f, j, 1], out[f, j, 2], out[f, j, 3] = w, x, y, z


@kernel
def reorder_axes(q: FloatArray, x: int, y: int, z: int) -> None:
    """Turn quaternions (F, J, 4) into other axes, in place: the new x is the old axis `x` (0, 1 or 2), and so on."""
    for f in range(q.shape[0]):
        for j in range(q.shape[1]):
            a, b, c = q[f, j, 1 + x], q[f, j, 1 + y], q[f, j, 1 + z]
            q[f, j, 1], q[f, j, 2], q[f, j, 3] = a, b, c


@kernel
def smooth_euler(angles: FloatArray) -> None:
    """Choose, in place, among the Euler angles [rad] (F, J, 3) of the same rotations those nearest to the frame before.

    About three different axes, (a, b, c) and (a + pi, pi - b, c + pi) are the same rotation, as is any whole turn more.
    """
    turn = 2.0 * math.pi
    for f in range(1, angles.shape[0]):
        for j in range(angles.shape[1]):
            a0, b0, c0 = angles[f - 1, j, 0], angles[f - 1, j, 1], angles[f - 1, j, 2]
            a1, b1, c1 = angles[f, j, 0], angles[f, j, 1], angles[f, j, 2]
            a2, b2, c2 = a1 + math.pi, math.pi - b1, c1 + math.pi
            a1 -= turn * round((a1 - a0) / turn)
            b1 -= turn * round((b1 - b0) / turn)
            c1 -= turn * round((c1 - c0) / turn)
            a2 -= turn * round((a2 - a0) / turn)
            b2 -= turn * round((b2 - b0) / turn)
            c2 -= turn * round((c2 - c0) / turn)
            if abs(a2 - a0) + abs(b2 - b0) + abs(c2 - c0) < abs(a1 - a0) + abs(b1 - b0) + abs(c1 - c0):
                a1, b1, c1 = a2, b2, c2
            angles[f, j, 0], angles[f, j, 1], angles[f, j, 2] = a1, b1, c1
