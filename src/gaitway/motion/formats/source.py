"""The bytes of a capture file: limits that are checked before memory is allocated, and quotes for messages."""

from __future__ import annotations

import re
from pathlib import Path

from gaitway.core.errors import FormatError
from gaitway.core.files import read_file

MAX_FILE_BYTES = 512 * 2**20
"""Largest file that is read [bytes]; an hour of 60 joints at 120 Hz is about half of it as text."""
MAX_VALUES = 100_000_000
"""Greatest number of motion values (frames times channels) in one file: 800 MB once read."""
MAX_FILLED = 8_000_000
"""Greatest number of motion values that a file gets without writing them down, as between keys that are far apart."""
MAX_DEPTH = 500
"""Greatest number of joints from the root to a tip."""
MAX_MAGNITUDE = 1e9
"""Largest offset, position or angle; a larger one means a broken file, and sums of squares stay finite."""
MAX_FPS = 100_000.0
"""Highest frame rate [Hz]."""


_QUOTE_LENGTH = 40
_LONGEST_NUMBER = 400


def read_bytes(path: Path) -> bytes:
    """Read the whole file.

    Raises:
        FormatError: if it cannot be opened, is empty or is larger than MAX_FILE_BYTES.
    """
    data = read_file(path, MAX_FILE_BYTES)
    if not data:
        raise FormatError(path, "is empty")
    return data


def read_text(path: Path) -> bytes:
    """Read a text file without byte-order mark; every line ends with a line feed (perhaps after a return).

    Raises:
        FormatError: as `read_bytes`, and if the text is UTF-16.
    """
    data = read_bytes(path)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FormatError(path, "is UTF-16 text; save it as UTF-8 or ASCII", 1)
    if data[:3] == b"\xef\xbb\xbf":
        data = data[3:]
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    return data if data.endswith(b"\n") else data + b"\n"


def line_of(data: bytes, position: int) -> int:
    """Return the number of the line, from 1, that holds the byte at `position`."""
    return data.count(b"\n", 0, position) + 1


def quoted(token: bytes | str) -> str:
    """Return a piece of a file for a message: in quotes, printable and short."""
    if isinstance(token, bytes):
        token = decoded(token[: _QUOTE_LENGTH + 1])
    text = token if len(token) <= _QUOTE_LENGTH else token[:_QUOTE_LENGTH] + "..."
    return "'" + "".join(c if c.isprintable() else "?" for c in text) + "'"


def decoded(token: bytes) -> str:
    """Return the text of a name; UTF-8, or Latin-1 where it is not UTF-8."""
    try:
        return token.decode("utf-8")
    except UnicodeDecodeError:
        return token.decode("latin-1")


def parse_number(token: bytes | str) -> float | None:
    """Return a plain decimal number of sensible size, or None for anything else (NaN, infinity, garbage)."""
    if (
        len(token) > _LONGEST_NUMBER
        or not token.isascii()
        or (b"_" in token if isinstance(token, bytes) else "_" in token)
    ):
        return None
    try:
        value = float(token)
    except ValueError:
        return None
    return value if abs(value) <= MAX_MAGNITUDE else None  # NaN compares false


def parse_count(token: bytes | str) -> int | None:
    """Return a whole number of at most 18 digits, perhaps negative, or None."""
    text = token.decode("latin-1") if isinstance(token, bytes) else token
    return int(text) if re.fullmatch(r"[+-]?\d{1,18}", text, re.ASCII) else None
