"""AMC files in: the motion half of an Acclaim pair, with its ASF skeleton beside it."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import FormatError
from gaitway.motion.formats import _kernels
from gaitway.motion.formats.asf import AsfSkeleton, read_asf
from gaitway.motion.formats.raw import RawMotion
from gaitway.motion.formats.source import MAX_FPS, MAX_MAGNITUDE, MAX_VALUES, decoded, parse_number, quoted, read_text
from gaitway.motion.formats.units import state_unit

DEFAULT_RATE = 120.0
"""AMC files do not say their rate [Hz]; CMU recorded most at this one."""
_INCH = 0.0254
_AXES = {"x": 0, "y": 1, "z": 2}


def read_amc(path: Path, file_fps: float | None = None, asf: Path | None = None) -> RawMotion:
    """Return the motion in an AMC file, in the file's own units and axes.

    A joint is named after the bone that it turns and sits where that bone begins. Bone rotations are given in the
    bone's own axes C (a turn from the world's axes), so a joint's rotation is C M C^-1 with M from the channels.

    Args:
        path: the AMC file.
        file_fps: frame rate of the file [Hz], or None for DEFAULT_RATE.
        asf: skeleton file, or None to look beside the AMC file: `02_01.amc` goes with `02_01.asf`, `02.asf` or the only
            one there.

    Raises:
        FormatError: with the line of what is wrong, in either file.
    """
    skeleton = read_asf(asf if asf is not None else find_asf(path))
    notes: list[str] = []
    starts = np.cumsum([0, *(len(bone.dof) for bone in skeleton.bones)])
    values, radians, stated_rate = _read_frames(path, skeleton, starts)
    if stated_rate is None and file_fps is None:
        notes.append(f"an AMC file has no frame rate; {DEFAULT_RATE:g} Hz is assumed (file_fps= says another)")
    lengths = np.array([bone.length for bone in skeleton.bones])
    ends = np.array([bone.direction for bone in skeleton.bones]) * lengths[:, None]
    offsets = np.concatenate([np.zeros((1, 3)), ends[np.array(skeleton.parents[1:], dtype=np.int64)]])
    with_children = set(skeleton.parents)
    raw = RawMotion(
        names=[bone.name for bone in skeleton.bones],
        parents=np.array(skeleton.parents, dtype=np.int64),
        offsets=offsets,
        tips={j: (e[0], e[1], e[2]) for j, e in enumerate(ends.tolist()) if j and j not in with_children},
        roots=_roots(skeleton, values),
        rotations=_rotations(skeleton, values, starts, radians, notes),
        fps=file_fps or stated_rate or DEFAULT_RATE,
        up="y",
        may_have_tpose=False,
        notes=notes,
    )
    state_unit(raw, _INCH / skeleton.length_unit, f"the ASF says 'length {skeleton.length_unit:g}'")
    return raw


def find_asf(path: Path) -> Path:
    """Return the skeleton that belongs to an AMC file.

    Raises:
        FormatError: if there is none beside it, or several and none with a fitting name.
    """
    beside = sorted(p for p in path.parent.glob("*") if p.suffix.lower() == ".asf")
    stem = path.stem.lower()
    for name in (stem, stem.rsplit("_", 1)[0]):
        for candidate in beside:
            if candidate.stem.lower() == name:
                return candidate
    if len(beside) != 1:
        raise FormatError(path, "its .asf skeleton was not found beside it; name it with asf=")
    return beside[0]


def _read_frames(path: Path, skeleton: AsfSkeleton, starts: IntArray) -> tuple[FloatArray, bool, float | None]:
    """Return the channel values (F, C), whether angles are radians, and the rate where the file says one."""
    columns = int(starts[-1])
    if columns == 0:
        raise FormatError(skeleton.path, "no bone has a channel, so there is no motion to read")
    places = {bone.name: (int(starts[j]), len(bone.dof)) for j, bone in enumerate(skeleton.bones) if bone.dof}
    radians, rate = skeleton.radians, None
    table, row = array("d"), [0.0] * columns
    missing: set[str] = set()
    frame_line = 0
    for number, words in _lines(path):
        if words[0].startswith(":"):
            radians = {":degrees": False, ":radians": True}.get(words[0].lower(), radians)
            if words[0].lower() == ":samples-per-second" and len(words) > 1:
                rate = parse_number(words[1])
                if rate is None or not 0.0 < rate <= MAX_FPS:
                    raise FormatError(path, f"the rate {quoted(words[1])} must be above 0", number)
        elif len(words) == 1 and words[0].isdigit():
            _end_frame(path, table, row, missing, frame_line)
            missing, frame_line = set(places), number
        else:
            _read_bone(path, number, words, places, missing, frame_line, row)
    _end_frame(path, table, row, missing, frame_line)
    if not table:
        raise FormatError(path, "is not an AMC file: it has no frames")
    return np.array(table).reshape(-1, columns), radians, rate


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Return the number and words of each line that is neither blank nor a comment."""
    for number, text in enumerate(read_text(path).split(b"\n"), start=1):
        words = decoded(text).split()
        if words and not words[0].startswith("#"):
            yield number, words


def _read_bone(
    path: Path,
    number: int,
    words: list[str],
    places: dict[str, tuple[int, int]],
    missing: set[str],
    frame_line: int,
    row: list[float],
) -> None:
    """Read one line "bone value value ..." into the row of its frame."""
    name = words[0]
    if frame_line == 0:
        raise FormatError(path, f"is not an AMC file: expected a frame number, found {quoted(name)}", number)
    if name not in missing:
        why = "occurs twice in its frame" if name in places else "is no bone with channels in the skeleton"
        raise FormatError(path, f"{quoted(name)} {why}", number)
    missing.discard(name)
    start, count = places[name]
    if len(words) - 1 != count:
        raise FormatError(path, f"{quoted(name)} has {len(words) - 1} values; the skeleton has {count} for it", number)
    for column, word in enumerate(words[1:], start=start):
        value = parse_number(word)
        if value is None:
            raise FormatError(path, f"{quoted(word)} is not a finite number up to {MAX_MAGNITUDE:g}", number)
        row[column] = value


def _end_frame(path: Path, table: array[float], row: list[float], missing: set[str], frame_line: int) -> None:
    if frame_line == 0:
        return
    if missing:
        raise FormatError(path, f"the frame lacks {quoted(sorted(missing)[0])}", frame_line)
    if len(table) + len(row) > MAX_VALUES:
        raise FormatError(path, f"has more than {MAX_VALUES} motion numbers", frame_line)
    table.extend(row)


def _roots(skeleton: AsfSkeleton, values: FloatArray) -> FloatArray:
    """Return the root positions (F, 3), file units."""
    roots = np.tile(np.array(skeleton.position), (len(values), 1))
    for column, name in enumerate(skeleton.bones[0].dof):
        if name[0] == "t":
            roots[:, _AXES[name[1]]] += values[:, column]
    return roots


def _rotations(
    skeleton: AsfSkeleton, values: FloatArray, starts: IntArray, radians: bool, notes: list[str]
) -> FloatArray:
    """Return the local rotations (F, J, 4) in the axes of the rest pose."""
    count = len(skeleton.bones)
    columns, axes = np.full((count, 3), -1, dtype=np.int64), np.full((count, 3), -1, dtype=np.int64)
    own = np.empty((count, 4))
    stretching = []
    for j, bone in enumerate(skeleton.bones):
        # the first angle is applied first, so it stands last in the product
        turns = [(int(starts[j]) + k, _AXES[name[1]]) for k, name in enumerate(bone.dof) if name[0] == "r"][::-1]
        for k, (column, axis) in enumerate(turns):
            columns[j, k], axes[j, k] = column, axis
        angles = np.array([bone.axis[_AXES[letter]] for letter in reversed(bone.axis_order)])
        own[j] = rotations.from_euler(bone.axis_order[::-1], angles if skeleton.radians else np.radians(angles))
        if j and any(name[0] != "r" for name in bone.dof):
            stretching.append(bone.name)
    if stretching:
        notes.append(f"{len(stretching)} bones ('{stretching[0]}' ...) move or stretch; a clip has rotations only")
    local = np.empty((len(values), count, 4))
    degrees = np.degrees(values) if radians else values
    _kernels.euler_quaternions(degrees, columns, axes, np.empty((2, values.shape[1])), local)
    return rotations.multiply(rotations.multiply(own, local), rotations.conjugate(own))
