"""Files of gaitway's own formats with other content and right checksums, as somebody would craft them."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.core import archives
from gaitway.core.archives import ArchiveFormat, Arrays
from gaitway.tree import storage as tree_storage

Change = Callable[[dict[str, Any], Arrays], None]
HOSTILE = Path(__file__).resolve().parents[2] / "shared" / "hostile"


def opened(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of an archive, writable and unchecked."""
    with zipfile.ZipFile(path) as archive:
        arrays = {
            name.removesuffix(".npy"): np.array(np.load(io.BytesIO(archive.read(name)))) for name in archive.namelist()
        }
    return json.loads(arrays.pop("header").tobytes()), arrays


def craft(path: Path, header: dict[str, Any], arrays: Arrays) -> None:
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


def changed(path: Path, change: Change, kind: ArchiveFormat | None = None) -> Path:
    """Return another file beside an archive, with its content changed."""
    header, arrays = opened(path)
    change(header, arrays)
    if kind is not None:
        header["format"] = kind.name
    out = path.with_name(f"changed{path.suffix}")
    craft(out, header, arrays)
    return out


def opened_tree(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of a tree, writable."""
    content = path.read_bytes()
    length = int.from_bytes(content[24:32], "little")
    header, first = json.loads(content[32 : 32 + length]), 32 + length
    first += -first % 64
    count, region = header["nodes"], header["region"]["shape"]
    wanted = [(name, kind, (count, *shape)) for name, kind, shape in tree_storage._MEMBERS]
    arrays: dict[str, npt.NDArray[Any]] = {}
    for name, kind, shape in [*wanted, ("cells", "|u1", (-(-region[0] * region[1] // 8),))]:
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        arrays[name] = np.frombuffer(content[first : first + size], kind).reshape(shape).copy()
        first += size + -size % 64
    return header, arrays


def craft_tree(path: Path, header: dict[str, Any], arrays: Arrays, text: bytes | None = None) -> None:
    """Write a tree of any content, whose checksums are right."""
    blocks = [tree_storage._padded(array) for array in arrays.values()]
    header = {**header, "sums": tree_storage._sums(blocks)}
    words = json.dumps(header).encode() if text is None else text
    prefix = struct.pack("<16sIIQ", tree_storage._MAGIC, tree_storage.VERSION, zlib.crc32(words), len(words))
    start = prefix + words
    path.write_bytes(start + bytes(-len(start) % 64) + b"".join(block.tobytes() for block in blocks))
