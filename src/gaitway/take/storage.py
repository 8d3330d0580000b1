"""Takes on disk: one .npz file that NumPy alone can read, without pickle.

The file is a zip archive of plain .npy arrays (`numpy.load(path, allow_pickle=False)`):

* `header`: UTF-8 bytes of a JSON object: "format" ("gaitway take"), "version" (1), "fps", "names", "behaviors",
  "skeletons" (name, joints, roles, contact points, tips), "clips" (name, skeleton, fps, labels, whether contacts are
  known), "layers" (name, character, start, number of joints, which root offsets it has), "facts", and "sha256", the
  hexadecimal SHA-256 over the rest of the header and all other arrays (see `_digest`);
* `rows` (C + 1), `ends` (C), `bodies` (C), `goals` (C, 4), `radii` (C): as in `Take`;
* for each column of the segments, such as `start`: either `segments.start` itself, or, where few values occur, the
  different ones in `segments.start.values` and which one each segment has in `segments.start.index`, so that the
  column is `values[index]`;
* `segments.pose.x`, `.y`, `.heading`: whole numbers; divided by 2^20, 2^20 and 2^24 they are metres and radians;
* `skeleton.N.parents`, `.offsets`, `.rest`: of skeleton N;
* `clip.N.roots` (F, 3), `clip.N.rotations` (F, J, 4) in single precision, and `clip.N.contacts` (F, points);
* `layer.N.joints`, `.turns`, `.root_turns`, `.root_moves`: of layer N.

What is read is checked before it is believed: sizes against the limits before memory is taken, every array's type and
shape, the checksum, and then everything that `Take` checks.
"""

from __future__ import annotations

import hashlib
import json
import math
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gaitway._version import __version__
from gaitway.errors import FormatError, GaitwayError
from gaitway.files import atomic_write
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import MAX_JOINTS, ContactPoint, Skeleton
from gaitway.take.model import MAX_CHARACTERS, MAX_SEGMENTS, POSE_STEPS, Layer, Segments, Take

FORMAT, VERSION = "gaitway take", 1
MAX_BYTES = 8_000_000_000
"""Memory that the arrays of one file may take."""
MAX_HEADER = 256_000_000
"""Bytes of the header."""
_POSE_COLUMNS = ("x", "y", "heading")

Built = TypeVar("Built")
Arrays = dict[str, npt.NDArray[Any]]
_Spec = tuple[tuple[int | None, ...], str]
"""Expected shape (None: any) and type, as NumPy writes it."""


def save_take(take: Take, path: str | Path) -> None:
    """Write a take to one file, which appears only when it is complete.

    Raises:
        FormatError: if the file cannot be written.
    """
    header, arrays = _header(take), _arrays(take)
    header["sha256"] = _digest(header, arrays)
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
    with atomic_write(path) as file, zipfile.ZipFile(file, "w") as archive:
        _write(archive, "header", np.frombuffer(text, dtype=np.uint8))
        for name, array in arrays.items():
            _write(archive, name, array)


def load_take(path: str | Path) -> Take:
    """Read a take and check all of it.

    Raises:
        FormatError: if it is not a take, is damaged or was edited, is of a newer version, or asks for absurd sizes.
    """
    source = Path(path)
    with _opened(source) as archive:
        sizes = _members(source, archive)
        header = _read_header(source, archive, sizes)
        specs = _guarded(source, lambda: _specs(header, sizes))
        for name in sizes.keys() - specs.keys() - {"header"}:
            raise FormatError(source, f"has an array '{name}' that does not belong in a take")
        arrays = {name: _read(source, archive, name, spec, sizes) for name, spec in specs.items()}
    told = header.pop("sha256", None)
    if _digest(header, arrays) != told:
        raise FormatError(source, "is damaged or was edited: its content does not match its checksum")
    return _guarded(source, lambda: _take(header, arrays))


def _header(take: Take) -> dict[str, Any]:
    body = {id(skeleton): i for i, skeleton in enumerate(take.skeletons)}
    return {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"gaitway {__version__}",
        "fps": take.fps,
        "names": list(take.names),
        "behaviors": list(take.behaviors),
        "segments": len(take.segments),
        "skeletons": [_skeleton_words(skeleton) for skeleton in take.skeletons],
        "clips": [
            {"name": c.name, "skeleton": body[id(c.skeleton)], "fps": c.fps, "labels": list(c.labels),
             "contacts": c.contacts is not None}
            for c in take.clips
        ],
        "layers": [
            {"name": layer.name, "character": layer.character, "start": layer.start, "joints": len(layer.joints),
             "root_turns": layer.root_turns is not None, "root_moves": layer.root_moves is not None}
            for layer in take.layers
        ],
        "facts": dict(take.facts),
    }  # fmt: skip


def _skeleton_words(skeleton: Skeleton) -> dict[str, Any]:
    return {
        "name": skeleton.name,
        "joints": list(skeleton.names),
        "roles": dict(skeleton.roles),
        "contact_points": [[p.name, p.joint, list(p.offset), p.rolls] for p in skeleton.contact_points],
        "tips": {str(joint): list(tip) for joint, tip in skeleton.tips.items()},
    }


def _arrays(take: Take) -> Arrays:
    arrays: Arrays = {name: getattr(take, name) for name in ("rows", "ends", "bodies", "goals", "radii")}
    table = take.segments
    for name in ("clip", "start", "offset", "speed", "height", "blend", "behavior"):
        arrays |= _packed(f"segments.{name}", getattr(table, name))
    steps = np.round(table.pose * POSE_STEPS).astype(np.int64)
    small = np.int32 if len(steps) == 0 or np.abs(steps).max() < 2**31 else np.int64
    for k, name in enumerate(_POSE_COLUMNS):
        arrays[f"segments.pose.{name}"] = steps[:, k].astype(small)
    for i, skeleton in enumerate(take.skeletons):
        arrays[f"skeleton.{i}.parents"] = skeleton.parents
        arrays[f"skeleton.{i}.offsets"] = skeleton.offsets
        arrays[f"skeleton.{i}.rest"] = skeleton.rest_rotations
    for i, clip in enumerate(take.clips):
        arrays[f"clip.{i}.roots"] = clip.root_positions.astype(np.float32)
        arrays[f"clip.{i}.rotations"] = clip.rotations.astype(np.float32)
        if clip.contacts is not None:
            arrays[f"clip.{i}.contacts"] = clip.contacts
    for i, layer in enumerate(take.layers):
        for name in ("joints", "turns", "root_turns", "root_moves"):
            if getattr(layer, name) is not None:
                arrays[f"layer.{i}.{name}"] = getattr(layer, name)
    return arrays


def _packed(name: str, column: npt.NDArray[Any]) -> Arrays:
    """A column as it is, or its different values and the index of each, where that takes half the room or less."""
    values, index = np.unique(column, return_inverse=True)
    small = np.min_scalar_type(max(len(values) - 1, 0))
    if 2 * (values.nbytes + len(column) * small.itemsize) > column.nbytes:
        return {name: column}
    return {f"{name}.values": values, f"{name}.index": index.astype(small)}


def _digest(header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """SHA-256 over the header without its checksum, then each array's name, type, shape and bytes, by name."""
    words = json.dumps({k: v for k, v in header.items() if k != "sha256"}, sort_keys=True)
    total = hashlib.sha256(words.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        total.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        total.update(array.reshape(-1).view(np.uint8).data)
    return total.hexdigest()


def _write(archive: zipfile.ZipFile, name: str, array: npt.NDArray[Any]) -> None:
    # a fixed date, so that equal takes are equal files
    member = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
    member.compress_type = zipfile.ZIP_DEFLATED
    with archive.open(member, "w", force_zip64=True) as file:
        np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive; whatever is wrong with it as an archive becomes one line."""
    if path.is_dir():
        raise FormatError(path, "is a folder, not a take")
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except FormatError:
        raise
    except OSError as problem:
        raise FormatError(path, f"cannot be read: {problem.strerror or problem}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as problem:
        raise FormatError(path, f"is not a take, or is damaged: {_one_line(problem)}") from None


def _one_line(problem: BaseException) -> str:
    return " ".join(str(problem).split())[:200] or type(problem).__name__


def _members(path: Path, archive: zipfile.ZipFile) -> dict[str, int]:
    """Name and unpacked size of each array, whose sum is within the limit."""
    sizes: dict[str, int] = {}
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if name == member.filename or name in sizes:
            raise FormatError(path, f"has a part '{member.filename[:60]}' that does not belong in a take")
        sizes[name] = member.file_size
    if sum(sizes.values()) > MAX_BYTES:
        raise FormatError(path, f"asks for {sum(sizes.values()):,} bytes of memory; at most {MAX_BYTES:,} are given")
    if "header" not in sizes:
        raise FormatError(path, "is not a take: it has no array 'header'")
    return sizes


def _read(path: Path, archive: zipfile.ZipFile, name: str, spec: _Spec, sizes: Mapping[str, int]) -> npt.NDArray[Any]:
    """One array, its type and shape checked against `spec` before memory is taken."""
    if name not in sizes:
        raise FormatError(path, f"lacks the array '{name}'")
    with archive.open(f"{name}.npy") as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise FormatError(path, f"array '{name}' is in a version of the .npy format that is not used here")
        shape, by_column, dtype = np.lib.format.read_array_header_1_0(file)
        wanted, kinds = spec
        fits = len(shape) == len(wanted) and all(w in (None, n) for w, n in zip(wanted, shape, strict=True))
        if dtype.hasobject or dtype.str not in kinds.split() or not fits or (by_column and len(shape) > 1):
            raise FormatError(path, f"array '{name}' is {dtype} of shape {shape}, expected {kinds} of {wanted}")
        size = math.prod(shape) * dtype.itemsize
        if size > sizes[name]:
            raise FormatError(path, f"array '{name}' of shape {shape} does not fit into its {sizes[name]} bytes")
        data = file.read(size)
        if len(data) != size or file.read(1):
            raise FormatError(path, f"array '{name}' has not the {size} bytes that its shape asks for")
    return np.frombuffer(data, dtype=dtype).reshape(shape)


def _read_header(path: Path, archive: zipfile.ZipFile, sizes: Mapping[str, int]) -> dict[str, Any]:
    if sizes["header"] > MAX_HEADER:
        raise FormatError(path, f"has a header of {sizes['header']:,} bytes; at most {MAX_HEADER:,} are read")
    try:
        header = json.loads(_read(path, archive, "header", ((None,), "|u1"), sizes).tobytes().decode())
    except (ValueError, RecursionError) as problem:
        raise FormatError(path, f"is not a take, or is damaged: {_one_line(problem)}") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FormatError(path, "is not a take: its header does not say so")
    version = header.get("version")
    if not isinstance(version, int) or version < 1:
        raise FormatError(path, f"has version {version!r}, which is none")
    if version > VERSION:
        raise FormatError(path, f"has version {version} of the format; this gaitway reads up to {VERSION}: update it")
    return header


def _specs(header: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, _Spec]:
    """Type and shape of every array that belongs to this header."""
    people, segments = len(header["names"]), _count(header["segments"], MAX_SEGMENTS, "segments")
    _count(people, MAX_CHARACTERS, "characters")
    specs: dict[str, _Spec] = {
        "rows": ((people + 1,), "<i8"), "ends": ((people,), "<f8"), "bodies": ((people,), "<i8"),
        "goals": ((people, 4), "<f8"), "radii": ((people,), "<f8"),
    }  # fmt: skip
    for name in ("clip", "start", "offset", "speed", "height", "blend", "behavior"):
        whole, kind = f"segments.{name}", "<i4" if name in ("clip", "behavior") else "<f8"
        if whole in sizes:
            specs[whole] = ((segments,), kind)
        else:
            specs[f"{whole}.values"] = ((None,), kind)
            specs[f"{whole}.index"] = ((segments,), "|u1 <u2 <u4")
    specs |= {f"segments.pose.{name}": ((segments,), "<i4 <i8") for name in _POSE_COLUMNS}
    joints = [_count(len(s["joints"]), MAX_JOINTS, "joints") for s in header["skeletons"]]
    for i, count in enumerate(joints):
        specs[f"skeleton.{i}.parents"] = ((count,), "<i8")
        specs[f"skeleton.{i}.offsets"] = ((count, 3), "<f8")
        specs[f"skeleton.{i}.rest"] = ((count, 4), "<f8")
    for i, clip in enumerate(header["clips"]):
        body = _count(clip["skeleton"], len(joints) - 1, "skeletons")
        specs[f"clip.{i}.roots"] = ((None, 3), "<f4")
        specs[f"clip.{i}.rotations"] = ((None, joints[body], 4), "<f4")
        if clip["contacts"]:
            specs[f"clip.{i}.contacts"] = ((None, len(header["skeletons"][body]["contact_points"])), "|b1")
    for i, layer in enumerate(header["layers"]):
        turning = _count(layer["joints"], MAX_JOINTS, "joints")
        specs[f"layer.{i}.joints"] = ((turning,), "<i8")
        specs[f"layer.{i}.turns"] = ((None, turning, 4), "<f4")
        for name, width in (("root_turns", 4), ("root_moves", 3)):
            if layer[name]:
                specs[f"layer.{i}.{name}"] = ((None, width), "<f4")
    return specs


def _count(value: Any, most: int, what: str) -> int:
    if not isinstance(value, int) or not 0 <= value <= most:
        raise ValueError(f"{value!r} {what}; at most {most} are possible")
    return value


def _guarded(path: Path, build: Callable[[], Built]) -> Built:
    """What `build` returns; a header or arrays that do not fit together become one line."""
    try:
        return build()
    except (GaitwayError, KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as problem:
        raise FormatError(path, f"does not hold together: {type(problem).__name__}: {_one_line(problem)}") from None


def _take(header: Mapping[str, Any], arrays: Arrays) -> Take:
    skeletons = tuple(_skeleton(words, arrays, i) for i, words in enumerate(header["skeletons"]))
    clips = tuple(
        Clip(
            skeletons[words["skeleton"]], arrays[f"clip.{i}.roots"], arrays[f"clip.{i}.rotations"], words["fps"],
            words["name"], arrays.get(f"clip.{i}.contacts"), tuple(words["labels"]),
        )
        for i, words in enumerate(header["clips"])
    )  # fmt: skip
    layers = tuple(
        Layer(
            words["character"], words["start"], arrays[f"layer.{i}.joints"], arrays[f"layer.{i}.turns"],
            arrays.get(f"layer.{i}.root_turns"), arrays.get(f"layer.{i}.root_moves"), words["name"],
        )
        for i, words in enumerate(header["layers"])
    )  # fmt: skip
    return Take(
        names=tuple(header["names"]),
        skeletons=skeletons,
        bodies=arrays["bodies"],
        clips=clips,
        segments=_segments(arrays),
        rows=arrays["rows"],
        ends=arrays["ends"],
        fps=header["fps"],
        behaviors=tuple(header["behaviors"]),
        layers=layers,
        goals=arrays["goals"],
        radii=arrays["radii"],
        facts=header["facts"],
    )


def _skeleton(words: Mapping[str, Any], arrays: Arrays, i: int) -> Skeleton:
    return Skeleton(
        tuple(words["joints"]),
        arrays[f"skeleton.{i}.parents"],
        arrays[f"skeleton.{i}.offsets"],
        arrays[f"skeleton.{i}.rest"],
        words["roles"],
        tuple(ContactPoint(n, joint, (*offset,), bool(rolls)) for n, joint, offset, rolls in words["contact_points"]),
        {int(joint): (*tip,) for joint, tip in words["tips"].items()},
        words["name"],
    )


def _segments(arrays: Arrays) -> Segments:
    def column(name: str) -> npt.NDArray[Any]:
        if name in arrays:
            return arrays[name]
        return np.asarray(arrays[f"{name}.values"][arrays[f"{name}.index"]])

    steps = np.stack([arrays[f"segments.pose.{name}"] for name in _POSE_COLUMNS], axis=-1)
    names = ("clip", "start", "offset", "speed", "height", "blend", "behavior")
    return Segments(pose=steps / POSE_STEPS, **{name: column(f"segments.{name}") for name in names})
