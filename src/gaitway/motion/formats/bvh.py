"""Reader of BVH files.

Kept beside general tools because it was measured to be worth it: 3,000 frames of 31 joints load in 19.5 ms, 11 times as
fast as upc-pymotion 0.3.4 (README, Speed).
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import FormatError
from gaitway.motion.formats import _kernels
from gaitway.motion.formats.bvh_header import BvhHeader, read_header
from gaitway.motion.formats.raw import RawMotion, settle_offsets, unique_names
from gaitway.motion.formats.source import MAX_FPS, MAX_MAGNITUDE, MAX_VALUES, line_of, quoted, read_text
from gaitway.motion.formats.units import whole_rate

_LARGEST_POWER = 290
_EIGHT_BYTES = np.dtype([("eight", "<i8")])
"""Type of eight bytes at any address; a plain integer needs an aligned one."""


def _powers_of_ten() -> tuple[FloatArray, FloatArray]:
    exact = [Fraction(10) ** k for k in range(-_LARGEST_POWER, _LARGEST_POWER + 1)]
    high = [float(p) for p in exact]
    low = [float(p - Fraction(h)) for p, h in zip(exact, high, strict=True)]
    return np.array(high), np.array(low)


POWERS_HIGH, POWERS_LOW = _powers_of_ten()
"""10**k for k from -290 to 290 as pairs of doubles whose sum has 106 bits."""


def eight_bytes(data: bytes) -> _kernels.WordArray:
    """Return the integer of the eight bytes from each byte on, the first one lowest; a view without a copy."""
    return np.ndarray((max(len(data) - 7, 0),), dtype=_EIGHT_BYTES, buffer=data, strides=(1,))


def read_table(path: Path, data: bytes, start: int, columns: int) -> FloatArray:
    """Read the numbers from byte `start` to the end of the file, one line per row; (F, columns).

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


def read_bvh(path: Path, file_fps: float | None = None) -> RawMotion:
    """Read the motion in a BVH file, in the file's own units and axes.

    Args:
        path: the file.
        file_fps: the true rate [Hz] where the header lies, or None to believe the header.

    Raises:
        FormatError: with the line of what is wrong.
    """
    data = read_text(path)
    header = read_header(path, data)
    table = read_table(path, data, header.data_start, header.columns)
    notes: list[str] = []
    if len(table) == 0:
        raise FormatError(path, "has no frames after 'Frame Time:'", line_of(data, len(data)))
    if len(table) != header.declared_frames:
        notes.append(f"'Frames:' says {header.declared_frames}, but there are {len(table)}; all of those are used")
    if header.ignored_tips:
        notes.append(f"{header.ignored_tips} End Sites beyond the first of their joint were left out")
    fps = file_fps if file_fps is not None else _header_rate(path, data, header)
    columns, axes = header.rotation_channels
    rotations = np.empty((len(table), len(header.joints), 4))
    _kernels.euler_quaternions(table, columns, axes, np.empty((2, header.columns)), rotations)
    return RawMotion(
        names=unique_names((joint.name for joint in header.joints), notes),
        parents=header.parents,
        offsets=_offsets(header, table, notes),
        tips=header.tips,
        roots=_positions(header, table, 0),
        rotations=rotations,
        fps=fps,
        notes=notes,
    )


def _header_rate(path: Path, data: bytes, header: BvhHeader) -> float:
    """Return the frame rate [Hz]; a whole number if the frame time was rounded."""
    line = line_of(data, header.data_start)
    if not header.frame_time > 0.0:
        raise FormatError(path, f"Frame Time: {header.frame_time:g} must be above 0; or load it with file_fps=", line)
    rate = 1.0 / header.frame_time
    if rate > MAX_FPS:
        raise FormatError(
            path, f"Frame Time: {header.frame_time:g} is {rate:g} frames a second; load it with file_fps=", line
        )
    return whole_rate(rate)


def _positions(header: BvhHeader, table: FloatArray, joint: int) -> FloatArray:
    """Return a joint's position channels (F, 3), which stand in place of its OFFSET; a missing one is the OFFSET's."""
    offset = header.joints[joint].offset
    assert offset is not None  # the header parser insists on it
    values = np.tile(np.array(offset), (len(table), 1))
    for axis, column in enumerate(header.joints[joint].position_columns):
        if column >= 0:
            values[:, axis] = table[:, column]
    return values


def _offsets(header: BvhHeader, table: FloatArray, notes: list[str]) -> FloatArray:
    """Return the offsets (J, 3), with the position channels of joints other than the root folded in."""
    offsets = header.offsets
    moving = {}
    unused = []
    for j in range(1, len(offsets)):
        columns = [column for column in header.joints[j].position_columns if column >= 0]
        if columns and not table[:, columns].any() and offsets[j].any():
            unused.append(header.joints[j].name)
        elif columns:
            moving[j] = _positions(header, table, j)
    if unused:
        notes.append(
            f"{len(unused)} joints ('{unused[0]}' ...) have position channels that are all zero; OFFSET is used"
        )
    settle_offsets([joint.name for joint in header.joints], offsets, moving, notes)
    return offsets
