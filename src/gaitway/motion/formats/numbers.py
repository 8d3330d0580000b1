"""The table of motion numbers in a text file."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import FormatError
from gaitway.motion.formats import _kernels
from gaitway.motion.formats.limits import MAX_MAGNITUDE, MAX_VALUES
from gaitway.motion.formats.source import line_of, quoted

_LARGEST_POWER = 290
_EIGHT_BYTES = np.dtype([("eight", "<i8")])
"""A field of a packed record may lie at any address, where a plain integer may not."""


def _powers_of_ten() -> tuple[FloatArray, FloatArray]:
    exact = [Fraction(10) ** k for k in range(-_LARGEST_POWER, _LARGEST_POWER + 1)]
    high = [float(p) for p in exact]
    low = [float(p - Fraction(h)) for p, h in zip(exact, high, strict=True)]
    return np.array(high), np.array(low)


POWERS_HIGH, POWERS_LOW = _powers_of_ten()
"""10**k for k from -290 to 290 as pairs of doubles whose sum has 106 bits."""


def eight_bytes(data: bytes) -> _kernels.WordArray:
    """At each byte the integer of the eight bytes from there on, the first one lowest; a view without a copy."""
    return np.ndarray((max(len(data) - 7, 0),), dtype=_EIGHT_BYTES, buffer=data, strides=(1,))


def read_table(path: Path, data: bytes, start: int, columns: int) -> FloatArray:
    """The numbers from byte `start` to the end of the file, one line a row; (F, columns).

    Raises:
        FormatError: with the line of the first number that is none, or of the first line with another count.
    """
    # A number and the blank behind it take two bytes, so the file's own size bounds the table (memory that is not
    # written to is not taken).
    rows = min((len(data) - start + 1) // (2 * columns), MAX_VALUES // columns) + 1
    table = np.empty((rows, columns))
    buffer = np.frombuffer(data, dtype=np.uint8)
    status, whole, position, found = _kernels.parse_rows(
        buffer, eight_bytes(data), start, MAX_MAGNITUDE, POWERS_HIGH, POWERS_LOW, table
    )
    if status == _kernels.OK:
        return table[:whole]
    line = line_of(data, position)
    if status == _kernels.FULL:
        raise FormatError(path, f"has more than {MAX_VALUES} motion numbers", line)
    if status == _kernels.WRONG_COUNT:
        raise FormatError(path, f"frame {whole} has {found} numbers; {columns} were expected", line)
    token = quoted(data[position : position + 60].split(None, 1)[0])
    wrong = "is not a number" if status == _kernels.BAD_NUMBER else f"is beyond {MAX_MAGNITUDE:g}"
    raise FormatError(path, f"{token} (value {found} of frame {whole}) {wrong}; only finite decimals are read", line)
