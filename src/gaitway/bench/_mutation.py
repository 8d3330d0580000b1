"""Mutations of files: of their bytes, of numbers and words in text, and of what archives hold, with right checksums."""

from __future__ import annotations

import copy
import io
import json
import re
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.core import archives
from gaitway.core.archives import Arrays
from gaitway.tree import storage as tree_storage

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 7, 255, 256, 2**31, 2**63, -(2**63), 0.5, -0.5, 1e-300, 1e9, -1e9, 1e300, "", "x",
    "\x1b[31m", [], {}, [1], [[1, 2]], {"a": 1},
)  # fmt: skip
"""JSON values that belong nowhere."""
ODD_FLOATS = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30, 1e-9, -1.0, 0.5, 1e6, 1e9, -1e9, 1e30, 1e300, -1e300)
ODD_WORDS = (
    b"nan", b"inf", b"-inf", b"1e400", b"-0", b"-1", b"0", b"1e9", b"99999999999999999999", b"1e-320", b"0x10", b"",
    b"null", b"true", b"[]", b"{}", b"!!python/none x", b"&a [*a, *a]", b"\x00", b"\xff\xfe", b"\x1b[2J", b"..", b"~",
    b"\xf0\x9f\x90\x8e", b"'", b'"', b":", b"- - -", b"9" * 400,
)  # fmt: skip
"""Words that belong nowhere in a text."""
_FIXED = {"format", "version", "written_by", "sha256", "sums"}
_NUMBER = re.compile(rb"-?\d+\.?\d*(?:[eE][-+]?\d+)?")
_WORD = re.compile(rb"[^\s,:\[\]{}()\"']+")


def mutate_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """Return other bytes: some changed, some taken out, repeated or put elsewhere, or the end cut off."""
    data = bytearray(content)
    for _ in range(int(rng.choice([1, 1, 2, 4, 16]))):
        if not data:
            break
        at = int(rng.integers(len(data)))
        length = int(rng.integers(1, min(len(data), 64) + 1))
        match int(rng.integers(7)):
            case 0:
                data[at] = int(rng.integers(256))
            case 1:
                data[at] ^= 1 << int(rng.integers(8))
            case 2:
                del data[at : at + length]
            case 3:
                data[at:at] = data[at : at + length]
            case 4:
                data[at : at + 4] = struct.pack("<I", int(rng.choice([0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 0x40000000])))
            case 5:
                to = int(rng.integers(len(data)))
                data[to:to] = data[at : at + length]
            case _:
                if rng.random() < 0.3:
                    del data[at:]
    return bytes(data)


def mutate_text(content: bytes, rng: np.random.Generator) -> bytes:
    """Return another text: numbers and words replaced, lines taken out, repeated or moved; or other bytes."""
    if rng.random() < 0.25:
        return mutate_bytes(content, rng)
    for _ in range(int(rng.choice([1, 1, 1, 2, 5]))):
        if rng.random() < 0.3:
            lines = content.split(b"\n")
            at, to = (int(rng.integers(len(lines))) for _ in range(2))
            match int(rng.integers(4)):
                case 0:
                    lines.pop(at)
                case 1:
                    lines.insert(to, lines[at])
                case 2:
                    lines.insert(to, lines.pop(at))
                case _:
                    lines[at] = b" " * int(rng.integers(6)) + lines[at].lstrip()
            content = b"\n".join(lines)
            continue
        found = list((_NUMBER if rng.random() < 0.6 else _WORD).finditer(content))
        if not found:
            continue
        place, other = found[int(rng.integers(len(found)))], found[int(rng.integers(len(found)))]
        new = other.group() if rng.random() < 0.3 else ODD_WORDS[int(rng.integers(len(ODD_WORDS)))]
        content = content[: place.start()] + new + content[place.end() :]
    return content


def mutate_archive(content: tuple[dict[str, Any], Arrays], rng: np.random.Generator) -> tuple[dict[str, Any], Arrays]:
    """Return another header and other arrays, of which a few values have changed."""
    header, arrays = copy.deepcopy(content)
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        if arrays and rng.random() < 0.6:
            mutate_array(arrays, rng)
        else:
            mutate_header(header, rng)
    return header, arrays


def mutate_header(header: dict[str, Any], rng: np.random.Generator) -> None:
    """Change a value of a header."""
    known = _places(header)
    if not known:
        return
    place = known[int(rng.integers(len(known)))]
    holder: Any = header
    for step in place[:-1]:
        holder = holder[step]
    last, old = place[-1], holder[place[-1]]
    number = isinstance(old, int | float) and not isinstance(old, bool)
    match int(rng.integers(8)):
        case 0:
            holder.pop(last)
        case 1 if isinstance(holder, list):
            holder.append(copy.deepcopy(old))
        case 2 | 3 | 4 if number:
            holder[last] = old + [-1, 1, 1000, -0.5][int(rng.integers(4))]
        case 5 if number:
            holder[last] = old * [-1, 2, 1000, 0.001][int(rng.integers(4))]
        case _:
            holder[last] = copy.deepcopy(ODD_VALUES[int(rng.integers(len(ODD_VALUES)))])


def _places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return all places in a tree of JSON values."""
    found = [place] if place else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if place or key not in _FIXED:
            found += _places(inner, (*place, key))
    return found


def mutate_array(arrays: Arrays, rng: np.random.Generator) -> None:
    """Change numbers, the shape or the type of an array, or take it away."""
    name = list(arrays)[int(rng.integers(len(arrays)))]
    array = arrays[name] = np.array(arrays[name])
    match int(rng.integers(16)):
        case 0:
            arrays[name] = array[:-1]
        case 1:
            arrays[name] = np.concatenate([array, array[-1:]])
        case 2:
            arrays[name] = array[:0]
        case 3:
            kinds = [np.float64, np.float32, np.int64, np.int32, np.uint8]
            with np.errstate(all="ignore"):
                arrays[name] = array.astype(kinds[int(rng.integers(len(kinds)))])
        case 4:
            arrays.pop(name)
        case 5 if array.ndim > 1:
            arrays[name] = array[..., :-1]
        case _ if array.size:
            for place in rng.integers(array.size, size=int(rng.choice([1, 1, 2, 5]))):
                array.reshape(-1)[place] = _odd_number(array, int(place), rng)


def _odd_number(array: npt.NDArray[Any], place: int, rng: np.random.Generator) -> Any:
    """Return a number that does not belong where it is put."""
    old = array.reshape(-1)[place]
    if array.dtype.kind == "b":
        return not old
    with np.errstate(all="ignore"):
        if array.dtype.kind == "f":
            near = (old * -1, old * 2, old + 1, old * 1e-3, old * 1e3)
            return array.dtype.type([*ODD_FLOATS, *near][int(rng.integers(len(ODD_FLOATS) + len(near)))])
        ends = np.iinfo(array.dtype)
        odd = [ends.min, ends.max, 0, 1, len(array) % ends.max, int(old) + 1, int(old) - 1, int(rng.integers(100))]
        return np.clip(odd[int(rng.integers(len(odd)))], ends.min, ends.max)


def opened_archive(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of an archive, writable and unchecked."""
    with zipfile.ZipFile(path) as archive:
        arrays = {
            name.removesuffix(".npy"): np.array(np.load(io.BytesIO(archive.read(name)))) for name in archive.namelist()
        }
    return json.loads(arrays.pop("header").tobytes()), arrays


def craft_archive(path: Path, header: dict[str, Any], arrays: Arrays) -> None:
    """Write an archive of any content, whose checksum is right."""
    header = {key: value for key, value in header.items() if key != "sha256"}
    try:
        header["sha256"] = archives._digest(header, arrays)
    except (TypeError, ValueError):  # content that has none
        header["sha256"] = ""
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in {"header": text, **arrays}.items():
            archives._write(archive, name, array)


def opened_tree(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a tree, writable."""
    content = path.read_bytes()
    length = int.from_bytes(content[24:32], "little")
    header, first = json.loads(content[32 : 32 + length]), 32 + length
    first += -first % 64
    count, region = header["nodes"], header["region"]["shape"]
    wanted = [(name, kind, (count, *shape)) for name, kind, shape in tree_storage._MEMBERS]
    arrays: Arrays = {}
    for name, kind, shape in [*wanted, ("cells", "|u1", (-(-region[0] * region[1] // 8),))]:
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        arrays[name] = np.frombuffer(content[first : first + size], kind).reshape(shape).copy()
        first += size + -size % 64
    return header, arrays


def craft_tree(path: Path, header: dict[str, Any], arrays: Arrays, text: bytes | None = None) -> None:
    """Write a tree of any content, whose checksums are right; `text` replaces the header."""
    blocks = [tree_storage._padded(array) for array in arrays.values()]
    header = {**header, "sums": tree_storage._sums(blocks)}
    words = json.dumps(header).encode() if text is None else text
    prefix = struct.pack("<16sIIQ", tree_storage._MAGIC, tree_storage.VERSION, zlib.crc32(words), len(words))
    start = prefix + words
    path.write_bytes(start + bytes(-len(start) % 64) + b"".join(block.tobytes() for block in blocks))
