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
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from gaitway.core.archives import Header, checked, parse_json
from gaitway.core.arrays import read_only
from gaitway.core.errors import FormatError, GaitwayError
from gaitway.core.files import atomic_write, open_file
from gaitway.tree import _model_kernels as kernels
from gaitway.tree.model import MOST_LEVELS, MOST_NODES, Tree
from gaitway.tree.moves import MOST_MOVES, Moves
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

_Place = Annotated[float, Field(ge=-1e6, le=1e6)]
_Step = Annotated[float, Field(gt=0.0, le=1e6)]


class RegionHeader(Header):
    """The region of a tree in a header."""

    origin: Annotated[tuple[_Place, _Place], Field(strict=False)]
    cell: Annotated[float, Field(gt=0.0, le=1e4)]
    shape: Annotated[tuple[int, int], Field(strict=False)]


class TreeHeader(Header):
    """The header of a tree."""

    nodes: Annotated[int, Field(ge=1, le=MOST_NODES)]
    library: str
    root: str
    moves: Annotated[list[str], Field(max_length=MOST_MOVES)]
    place_step: _Step
    cost_step: _Step
    region: RegionHeader
    sums: Annotated[list[int], Field(min_length=2, max_length=2)]
    recipe: dict[str, Any] | None = None


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
        with open_file(place) as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as problem:
        raise FormatError(place, f"cannot be read: {problem.strerror or problem}") from None
    except ValueError:
        raise FormatError(place, "no tree: the file is empty; grow one and save it") from None
    header, first = _header(place, content)
    if header["library"] != moves.digest:
        raise FormatError(place, "tree of another library, or of other behaviours, costs or start; grow it anew")
    try:
        return _tree(place, content, header, first, moves)
    except FormatError:
        raise
    except (ValueError, ArithmeticError, GaitwayError) as problem:
        raise FormatError(place, f"damaged tree ({problem}); grow it anew") from None


def describe_tree(path: str | Path) -> dict[str, Any]:
    """Return the header of a tree: nodes, root, moves, region, the digest of its library, and how it was grown.

    Raises:
        FormatError: if there is none, it is damaged, or of another version.
    """
    place = Path(path)
    try:
        with open_file(place) as file:
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
    try:
        header: dict[str, Any] = parse_json(place, text)
        checked(TreeHeader, header)
    except (ValueError, RecursionError) as problem:
        raise FormatError(place, f"damaged tree (its header: {problem}); grow it anew") from None
    return header, end + -end % _ALIGNED


def _tree(place: Path, content: mmap.mmap, header: dict[str, Any], first: int, moves: Moves) -> Tree:
    count, region = header["nodes"], header["region"]
    spec = GridSpec(
        (region["origin"][0], region["origin"][1]), region["cell"], (region["shape"][0], region["shape"][1])
    )
    cells = spec.shape[0] * spec.shape[1]
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
    _check_steps(steps, moves)
    links, ends, places, headings, prices = (arrays[name] for name, _, _ in _MEMBERS)
    return Tree(moves, Region(spec, inside), links, ends, places, headings, prices, *steps)


def _check_steps(steps: tuple[float, float], moves: Moves) -> None:
    """Refuse steps of places and costs that are larger than any path of these moves needs; see `model.compact`.

    Raises:
        ValueError: if one is.
    """
    table, rows = moves.table, moves.actions
    longest = float(np.hypot(table.moves[rows, 0], table.moves[rows, 1]).max())
    for name, step, most, parts in (
        ("place_step", steps[0], longest, 32_767), ("cost_step", steps[1], float(moves.costs.max()), 65_534),
    ):  # fmt: skip
        if step > (1.0 + 1e-6) * max(MOST_LEVELS * most, 1.0) / parts:
            raise ValueError(f"{name} {step:g} is beyond what its moves can reach")


def _padded(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return the bytes of an array, padded with zeros to a whole number of blocks."""
    content = np.frombuffer(array.tobytes(), np.uint8)
    return np.concatenate([content, np.zeros(-len(content) % _ALIGNED, np.uint8)])


def _sums(blocks: list[npt.NDArray[np.uint8]]) -> list[int]:
    parts = np.zeros(2, np.uint64)
    for block in blocks:
        kernels.check_sum(read_only(block.view(np.uint64)), parts)  # type: ignore[type-var]
    return [int(part) for part in parts]
