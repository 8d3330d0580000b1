"""BVH files in."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import FormatError
from gaitway.motion.formats import _kernels
from gaitway.motion.formats.bvh_header import BvhHeader, read_header
from gaitway.motion.formats.limits import MAX_FPS
from gaitway.motion.formats.numbers import read_table
from gaitway.motion.formats.rates import whole_rate
from gaitway.motion.formats.raw import RawMotion, settle_offsets, unique_names
from gaitway.motion.formats.source import line_of, read_text


def read_bvh(path: Path, file_fps: float | None = None) -> RawMotion:
    """The motion in a BVH file, in the file's own units and axes.

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
    """Frames a second, a whole number where the frame time was a rounded one."""
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
    """A joint's position channels (F, 3), which stand in place of its OFFSET; a missing one is the OFFSET's."""
    offset = header.joints[joint].offset
    assert offset is not None  # the header parser insists on it
    values = np.tile(np.array(offset), (len(table), 1))
    for axis, column in enumerate(header.joints[joint].position_columns):
        if column >= 0:
            values[:, axis] = table[:, column]
    return values


def _offsets(header: BvhHeader, table: FloatArray, notes: list[str]) -> FloatArray:
    """Offsets (J, 3), with the position channels of joints other than the root folded in."""
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
