"""Trees on disk, mapped into memory: all processes that use a tree share its pages, and none copies it.

A .gwtree file is a line of magic, the length and checksum of a header, the header in JSON, and the arrays of the
nodes and the region's cells, each at a multiple of 64 bytes.
"""

from __future__ import annotations

import json
import mmap
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import read_only
from gaitway.core.errors import FormatError, GaitwayError
from gaitway.core.files import atomic_write
from gaitway.tree import _model_kernels as kernels
from gaitway.tree.model import MOST_NODES, Tree
from gaitway.tree.moves import Moves
from gaitway.tree.region import Region
from gaitway.world.grid import GridSpec

VERSION = 1
_MAGIC = b"gaitway tree\r\n\x1a\n"
_PREFIX = struct.Struct("<16sIIQ")
"""Magic, version, checksum and length of the header."""
_ALIGNED = 64
_LONGEST = 1 << 20
"""Most bytes of a header."""
_MEMBERS = (("links", "<u4", ()), ("ends", "<i4", ()), ("places", "<i2", (2,)), ("headings", "<i2", ()),
            ("prices", "<u2", ()))  # fmt: skip


def save_tree(tree: Tree, path: str | Path, recipe: Mapping[str, Any] | None = None) -> None:
    """Write a tree to a file.

    Args:
        tree: tree of any kind.
        path: a .gwtree file.
        recipe: method and options that it was grown with, for `describe_tree`; plain JSON values.

    Raises:
        FormatError: if it cannot be written.
    """
    arrays = [np.ascontiguousarray(getattr(tree, name), dtype=kind) for name, kind, _ in _MEMBERS]
    arrays.append(np.packbits(tree.region.inside))
    blocks = [_padded(array) for array in arrays]
    spec = tree.region.spec
    header = json.dumps({
        "nodes": len(tree), "library": tree.moves.digest, "root": tree.moves.root,
        "moves": [tree.moves.table.clips[a] for a in tree.moves.actions.tolist()],
        "place_step": tree.place_step, "cost_step": tree.cost_step,
        "region": {"origin": list(spec.origin), "cell": spec.cell, "shape": list(spec.shape)},
        "sums": _sums(blocks), "recipe": None if recipe is None else dict(recipe),
    }, sort_keys=True).encode()  # fmt: skip
    with atomic_write(path) as file:
        file.write(_PREFIX.pack(_MAGIC, VERSION, zlib.crc32(header), len(header)))
        file.write(header + bytes(-(_PREFIX.size + len(header)) % _ALIGNED))
        for block in blocks:
            file.write(block.data)


def load_tree(path: str | Path, moves: Moves) -> Tree:
    """Map a tree of the same moves from a file. All its bytes are checked, in some milliseconds for 50 MB.

    Raises:
        FormatError: if there is none, it is damaged, or of another version or library.
    """
    place = Path(path)
    try:
        with place.open("rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as problem:
        raise FormatError(place, f"cannot be read: {problem.strerror or problem}") from None
    except ValueError:
        raise FormatError(place, "no tree: the file is empty; grow one and save it") from None
    header, first = _header(place, content)
    if header.get("library") != moves.digest:
        raise FormatError(place, "tree of another library, or of other behaviours, costs or start; grow it anew")
    try:
        return _tree(place, content, header, first, moves)
    except (KeyError, TypeError, ValueError, GaitwayError) as problem:
        if isinstance(problem, FormatError):
            raise
        raise FormatError(place, f"damaged tree ({problem}); grow it anew") from None


def describe_tree(path: str | Path) -> dict[str, Any]:
    """Return the header of a tree: nodes, root, moves, region, the digest of its library, and how it was grown.

    Raises:
        FormatError: if there is none, it is damaged, or of another version.
    """
    place = Path(path)
    try:
        with place.open("rb") as file:
            return _header(place, file.read(_PREFIX.size + _LONGEST))[0]
    except OSError as problem:
        raise FormatError(place, f"cannot be read: {problem.strerror or problem}") from None


def _header(place: Path, content: bytes | mmap.mmap) -> tuple[dict[str, Any], int]:
    """Return the header, and where the arrays begin."""
    if len(content) < _PREFIX.size or content[: len(_MAGIC)] != _MAGIC:
        raise FormatError(place, "no tree of gaitway; grow one with 'gaitway tree build'")
    _, version, check, length = _PREFIX.unpack(content[: _PREFIX.size])
    if version != VERSION:
        raise FormatError(place, f"tree of version {version}, this gaitway reads {VERSION}; grow it anew")
    end = _PREFIX.size + length
    if length > _LONGEST or end > len(content) or zlib.crc32(text := content[_PREFIX.size : end]) != check:
        raise FormatError(place, "damaged tree (its header); grow it anew")
    header: dict[str, Any] = json.loads(text)
    return header, end + -end % _ALIGNED


def _tree(place: Path, content: mmap.mmap, header: dict[str, Any], first: int, moves: Moves) -> Tree:
    count, region = int(header["nodes"]), header["region"]
    spec = GridSpec(
        (region["origin"][0], region["origin"][1]), region["cell"], (region["shape"][0], region["shape"][1])
    )
    cells = spec.shape[0] * spec.shape[1]
    if not 0 < count <= MOST_NODES:
        raise ValueError(f"{count} nodes")
    wanted = [(name, kind, (count, *shape)) for name, kind, shape in _MEMBERS] + [("cells", "|u1", (-(-cells // 8),))]
    arrays: dict[str, npt.NDArray[Any]] = {}
    blocks = []
    for name, kind, shape in wanted:
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        padded = size + -size % _ALIGNED
        if first + padded > len(content):
            raise ValueError(f"it ends before its {name}")
        arrays[name] = np.frombuffer(content, kind, int(np.prod(shape)), first).reshape(shape)
        blocks.append(np.frombuffer(content, np.uint8, padded, first))
        first += padded
    if first != len(content) or _sums(blocks) != header["sums"]:
        raise ValueError("its checksum")
    wrong = kernels.first_wrong(arrays["links"], arrays["ends"], len(moves))
    if wrong >= 0:
        raise ValueError(f"node {wrong}")
    inside = np.unpackbits(arrays.pop("cells"), count=cells).reshape(spec.shape).astype(np.bool_)
    steps = float(header["place_step"]), float(header["cost_step"])
    links, ends, places, headings, prices = (arrays[name] for name, _, _ in _MEMBERS)
    return Tree(moves, Region(spec, inside), links, ends, places, headings, prices, *steps)


def _padded(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return the bytes of an array, padded with zeros to a whole number of blocks."""
    content = np.frombuffer(array.tobytes(), np.uint8)
    return np.concatenate([content, np.zeros(-len(content) % _ALIGNED, np.uint8)])


def _sums(blocks: list[npt.NDArray[np.uint8]]) -> list[int]:
    parts = np.zeros(2, np.uint64)
    for block in blocks:
        kernels.check_sum(read_only(block.view(np.uint64)), parts)  # type: ignore[type-var]
    return [int(part) for part in parts]
