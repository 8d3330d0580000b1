"""Clips of the built-in cast that are shipped as data, so that the usual libraries need not be generated.

`data/NAME.npz` holds one library for each baked style of a cast, all of seed 0 and with one take for each behaviour.
`tools/bake_cast.py` writes these files. They have the very bytes that the generators gave on the machine that wrote
them: numbers are stored in double precision, without loss.

Members of the file:

* `facts`: JSON in UTF-8: for each style all parts of its packed library (`gaitway.library.packing`) that are no
  arrays, and whether it is "complete", that is, has all behaviours of the cast;
* `STYLE.root_positions`, `STYLE.rotations`: bytes of float64, shuffled (see `_shuffled`); `STYLE.contacts`: booleans.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray
from gaitway.core.files import atomic_write
from gaitway.library.behavior import BehaviorGraph, Library
from gaitway.library.storage import pack_library, unpack_library
from gaitway.motion.skeleton import Skeleton

FOLDER = Path(__file__).parent / "data"
SEED, TAKES = 0, 1
"""Seed and number of takes of all baked libraries."""
_FACTS = "facts"
_ARRAYS = ("root_positions", "rotations", "contacts")


def baked_library(
    cast: str, style: str, skeleton: Skeleton, behaviors: Collection[str] | None, folder: Path = FOLDER
) -> Library | None:
    """Return a baked library or the part of one that is asked for, or None if not all of that is baked.

    Args:
        cast: Name of the cast.
        style: Name of a style.
        skeleton: The skeleton of the cast.
        behaviors: Names of the wanted behaviours; None for all that the cast has.
        folder: Folder of the baked files.
    """
    words = baked_facts(cast, folder).get(style)
    if words is None:
        return None
    names = {behavior["name"] for behavior in words["behaviors"]}
    if not (words["complete"] if behaviors is None else names.issuperset(behaviors)):
        return None
    with np.load(folder / f"{cast}.npz", allow_pickle=False) as file:
        arrays = {name: file[f"{style}.{name}"] for name in _ARRAYS}
    frames = len(arrays["contacts"])
    arrays["root_positions"] = _restored(arrays["root_positions"], (frames, 3))
    arrays["rotations"] = _restored(arrays["rotations"], (frames, len(skeleton), 4))
    return _part(unpack_library({**words, **arrays}, skeleton), behaviors)


@cache
def baked_facts(cast: str, folder: Path = FOLDER) -> Mapping[str, Any]:
    """Return the facts of a baked file by style; nothing if there is no such file."""
    try:
        with np.load(folder / f"{cast}.npz", allow_pickle=False) as file:
            facts: dict[str, Any] = json.loads(file[_FACTS].tobytes())
    except FileNotFoundError:
        return {}
    return facts


def write_baked(cast: str, libraries: Mapping[str, Library], complete: Collection[str], folder: Path = FOLDER) -> Path:
    """Write the baked file of a cast and return its path.

    Args:
        cast: Name of the cast.
        libraries: Libraries by style.
        complete: Styles whose library has all behaviours of the cast.
        folder: Folder of the baked files.
    """
    styles, arrays = dict[str, Any](), dict[str, Any]()
    for style, library in libraries.items():
        packed = pack_library(library)
        styles[style] = {name: value for name, value in packed.items() if name not in _ARRAYS}
        styles[style]["complete"] = style in complete
        arrays[f"{style}.root_positions"] = _shuffled(packed["root_positions"])
        arrays[f"{style}.rotations"] = _shuffled(packed["rotations"])
        arrays[f"{style}.contacts"] = packed["contacts"]
    facts = json.dumps(styles).encode()
    path = folder / f"{cast}.npz"
    with atomic_write(path) as file:
        np.savez_compressed(file, **{_FACTS: np.frombuffer(facts, np.uint8), **arrays})
    return path


def _part(whole: Library, behaviors: Collection[str] | None) -> Library:
    """Return a library with only some behaviours and their clips, in the order of the whole."""
    if behaviors is None:
        return whole
    kept = tuple(behavior for behavior in whole.graph.behaviors if behavior.name in behaviors)
    names = {name for behavior in kept for name in behavior.clips}
    clips = {name: clip for name, clip in whole.clips.items() if name in names}
    return Library(whole.name, whole.skeleton, clips, BehaviorGraph(kept))


def _shuffled(values: FloatArray) -> npt.NDArray[np.uint8]:
    """Return the bytes of (F, ...) numbers, ordered for compression: first bytes of all numbers, second bytes, ...

    Numbers are taken column by column, so that neighbours belong to frames that follow one another.
    """
    columns = np.ascontiguousarray(values.reshape(len(values), -1).T, "<f8")
    return np.ascontiguousarray(columns.view(np.uint8).reshape(-1, 8).T)


def _restored(stored: npt.NDArray[np.uint8], shape: tuple[int, ...]) -> FloatArray:
    """Return the numbers that `_shuffled` was given, read-only."""
    columns = np.ascontiguousarray(stored.T).view("<f8").reshape(-1, shape[0])
    out = np.ascontiguousarray(columns.T, np.float64).reshape(shape)
    out.setflags(write=False)
    return out
