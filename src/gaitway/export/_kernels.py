"""Compiled loops of the writers: numbers to text."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import IntArray
from gaitway.core.jit import kernel

ByteArray = npt.NDArray[np.uint8]
COMMA, NEW_LINE, MINUS, POINT, ZERO = 44, 10, 45, 46, 48


@kernel(inner=True)
def write_decimal(value: int, decimals: int, out: ByteArray, at: int) -> int:
    """Write value / 10**decimals as plain decimal text; returns the position after it."""
    if value < 0:
        out[at] = MINUS
        at += 1
        value = -value
    digits, rest = 1, value // 10
    while rest > 0:
        digits += 1
        rest //= 10
    digits = max(digits, decimals + 1)
    width = digits + (1 if decimals > 0 else 0)
    place = at + width
    for k in range(digits):
        if decimals > 0 and k == decimals:
            place -= 1
            out[place] = POINT
        place -= 1
        out[place] = ZERO + value % 10
        value //= 10
    return at + width


@kernel
def write_rows(
    numbers: IntArray,
    decimals: IntArray,
    words: IntArray,
    word_column: int,
    text: ByteArray,
    text_starts: IntArray,
    out: ByteArray,
) -> int:
    """Write lines of numbers and one word each, with commas between them.

    Args:
        numbers: value of each column times 10**decimals; (R, K).
        decimals: digits after the point; (K,).
        words: which word is in the line; (R,).
        word_column: the word stands before this column of numbers.
        text: bytes of all words, one after the other.
        text_starts: first byte of each word, and the number of bytes at the end; (W + 1,).
        out: room for all lines; a number takes up to 21 bytes and a comma.

    Returns:
        How many bytes were written.
    """
    at = 0
    for row in range(numbers.shape[0]):
        for column in range(numbers.shape[1]):
            if column == word_column:
                for k in range(text_starts[words[row]], text_starts[words[row] + 1]):
                    out[at] = text[k]
                    at += 1
                out[at] = COMMA
                at += 1
            at = write_decimal(numbers[row, column], decimals[column], out, at)
            out[at] = COMMA
            at += 1
        out[at - 1] = NEW_LINE
    return at
