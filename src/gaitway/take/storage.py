"""Takes on disk: one archive (`gaitway.core.archives`), which NumPy alone can read.

* `header`: "fps", "names", "behaviors", "skeletons" (name, joints, roles, contact points, tips), "clips" (name,
  skeleton, fps, labels, whether contacts are known), "layers" (name, character, start, number of joints, which root
  offsets it has) and "facts";
* `rows` (C + 1), `ends` (C), `bodies` (C), `goals` (C, 4), `radii` (C): as in `Take`;
* for each column of the segments, such as `start`: either `segments.start` itself, or, where few values occur, the
  different ones in `segments.start.values` and which one each segment has in `segments.start.index`, so that the
  column is `values[index]`;
* `segments.pose.x`, `.y`, `.heading`: whole numbers; divided by 2^20, 2^20 and 2^24 they are metres and radians;
* `skeleton.N.parents`, `.offsets`, `.rest`: of skeleton N;
* `clip.N.roots` (F, 3), `clip.N.rotations` (F, J, 4) in single precision, and `clip.N.contacts` (F, points);
* `layer.N.joints`, `.turns`, `.root_turns`, `.root_moves`: of layer N.

What is read is checked as archives are, and then by all that `Take` checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from gaitway.core.archives import (
    ArchiveFormat,
    Arrays,
    FileHeader,
    Header,
    Spec,
    checked,
    read_archive,
    write_archive,
)
from gaitway.motion import packing
from gaitway.motion.skeleton import MAX_JOINTS
from gaitway.take.data import MAX_CHARACTERS, MAX_SEGMENTS, POSE_STEPS, Layer, Segments
from gaitway.take.model import Take

FORMAT = ArchiveFormat("take", 1)
_POSE_COLUMNS = ("x", "y", "heading")


class LayerHeader(Header):
    """Words of a header that describe a layer."""

    name: str
    character: int
    start: float
    joints: Annotated[int, Field(ge=0, le=MAX_JOINTS)]
    root_turns: bool
    root_moves: bool


class TakeHeader(FileHeader):
    """The header of a take."""

    fps: float
    names: Annotated[list[str], Field(min_length=1, max_length=MAX_CHARACTERS)]
    behaviors: list[str]
    segments: Annotated[int, Field(ge=1, le=MAX_SEGMENTS)]
    skeletons: Annotated[list[packing.SkeletonHeader], Field(min_length=1)]
    clips: Annotated[list[packing.ClipHeader], Field(min_length=1)]
    layers: list[LayerHeader]
    facts: dict[str, Any]


def save_take(take: Take, path: str | Path) -> None:
    """Write a take to one file, which appears only when it is complete.

    Raises:
        FormatError: if the file cannot be written.
    """
    write_archive(path, FORMAT, _header(take), _arrays(take))


def load_take(path: str | Path) -> Take:
    """Read a take and check all of it.

    Raises:
        FormatError: if it is not a take, is damaged or was edited, is of a newer version, or asks for absurd sizes.
    """
    return read_archive(path, FORMAT, _specs, _take)


def _header(take: Take) -> dict[str, Any]:
    body = {id(skeleton): i for i, skeleton in enumerate(take.skeletons)}
    return {
        "fps": take.fps,
        "names": list(take.names),
        "behaviors": list(take.behaviors),
        "segments": len(take.segments),
        "skeletons": [packing.skeleton_words(skeleton) for skeleton in take.skeletons],
        "clips": packing.clips_words(take.clips, body),
        "layers": [
            {"name": layer.name, "character": layer.character, "start": layer.start, "joints": len(layer.joints),
             "root_turns": layer.root_turns is not None, "root_moves": layer.root_moves is not None}
            for layer in take.layers
        ],
        "facts": dict(take.facts),
    }  # fmt: skip


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
        arrays |= packing.skeleton_arrays(skeleton, f"skeleton.{i}")
    arrays |= packing.clips_arrays(take.clips)
    for i, layer in enumerate(take.layers):
        for name in ("joints", "turns", "root_turns", "root_moves"):
            if getattr(layer, name) is not None:
                arrays[f"layer.{i}.{name}"] = getattr(layer, name)
    return arrays


def _packed(name: str, column: npt.NDArray[Any]) -> Arrays:
    """Return a column, or its different values and their indices if that takes at most half the memory."""
    values, index = np.unique(column, return_inverse=True)
    small = np.min_scalar_type(max(len(values) - 1, 0))
    if 2 * (values.nbytes + len(column) * small.itemsize) > column.nbytes:
        return {name: column}
    return {f"{name}.values": values, f"{name}.index": index.astype(small)}


def _specs(header: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Spec]:
    """Return the type and shape of every array that belongs to this header."""
    checked(TakeHeader, header)
    people, segments = len(header["names"]), header["segments"]
    specs: dict[str, Spec] = {
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
    for i, words in enumerate(header["skeletons"]):
        specs |= packing.skeleton_specs(words, f"skeleton.{i}")
    specs |= packing.clips_specs(header["clips"], header["skeletons"])
    for i, layer in enumerate(header["layers"]):
        turning = layer["joints"]
        specs[f"layer.{i}.joints"] = ((turning,), "<i8")
        specs[f"layer.{i}.turns"] = ((None, turning, 4), "<f4")
        for name, width in (("root_turns", 4), ("root_moves", 3)):
            if layer[name]:
                specs[f"layer.{i}.{name}"] = ((None, width), "<f4")
    return specs


def _take(header: Mapping[str, Any], arrays: Arrays) -> Take:
    skeletons = tuple(
        packing.skeleton_from(words, arrays, f"skeleton.{i}") for i, words in enumerate(header["skeletons"])
    )
    clips = packing.clips_from(header["clips"], arrays, skeletons)
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


def _segments(arrays: Arrays) -> Segments:
    def column(name: str) -> npt.NDArray[Any]:
        if name in arrays:
            return arrays[name]
        return np.asarray(arrays[f"{name}.values"][arrays[f"{name}.index"]])

    steps = np.stack([arrays[f"segments.pose.{name}"] for name in _POSE_COLUMNS], axis=-1)
    names = ("clip", "start", "offset", "speed", "height", "blend", "behavior")
    return Segments(pose=steps / POSE_STEPS, **{name: column(f"segments.{name}") for name in names})
