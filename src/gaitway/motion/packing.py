"""Skeletons and clips as words and arrays of an archive (`gaitway.core.archives`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from gaitway.core.archives import Arrays, Header, Spec, counted
from gaitway.core.errors import ClipError, SkeletonError
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import MAX_JOINTS, ContactPoint, Skeleton

MAX_DEPTH = 500
"""Greatest number of joints from the root to a tip, as in capture files."""
LARGEST = 1e9
"""Largest position of a root or offset of a joint [m], as in capture files: sums of squares stay finite."""
LONGEST_S = 86_400.0
"""Longest clip [s]: one day."""

Number = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
"""A number that is not larger than any length may be."""
Triple = Annotated[tuple[Number, Number, Number], Field(strict=False)]
"""Three numbers; JSON knows them as a list."""


class SkeletonHeader(Header):
    """Words of a header that describe a skeleton."""

    name: str
    joints: Annotated[list[str], Field(min_length=1, max_length=MAX_JOINTS)]
    roles: dict[str, Annotated[int, Field(ge=0, lt=MAX_JOINTS)]]
    contact_points: list[Annotated[tuple[str, int, Triple, bool], Field(strict=False)]]
    tips: dict[Annotated[str, Field(pattern=r"^[0-9]{1,5}$")], Triple]


class ClipHeader(Header):
    """Words of a header that describe a clip."""

    name: str
    skeleton: int
    fps: float
    labels: list[str]
    contacts: bool


def skeleton_words(skeleton: Skeleton) -> dict[str, Any]:
    """Return the words of a header that describe a skeleton."""
    return {
        "name": skeleton.name,
        "joints": list(skeleton.names),
        "roles": dict(skeleton.roles),
        "contact_points": [[p.name, p.joint, list(p.offset), p.rolls] for p in skeleton.contact_points],
        "tips": {str(joint): list(tip) for joint, tip in skeleton.tips.items()},
    }


def skeleton_arrays(skeleton: Skeleton, place: str) -> Arrays:
    """Return the arrays of a skeleton, under a name."""
    return {
        f"{place}.parents": skeleton.parents,
        f"{place}.offsets": skeleton.offsets,
        f"{place}.rest": skeleton.rest_rotations,
    }


def skeleton_specs(words: Mapping[str, Any], place: str) -> dict[str, Spec]:
    """Return the type and shape of the arrays of a skeleton."""
    joints = counted(len(words["joints"]), MAX_JOINTS, "joints")
    return {
        f"{place}.parents": ((joints,), "<i8"),
        f"{place}.offsets": ((joints, 3), "<f8"),
        f"{place}.rest": ((joints, 4), "<f8"),
    }


def skeleton_from(words: Mapping[str, Any], arrays: Arrays, place: str) -> Skeleton:
    """Build a skeleton from its words and arrays.

    Raises:
        SkeletonError: if it cannot be.
    """
    parents = arrays[f"{place}.parents"]
    _check_largest(arrays[f"{place}.offsets"], "offsets of joints", SkeletonError)
    skeleton = Skeleton(
        names=tuple(words["joints"]),
        parents=parents,
        offsets=arrays[f"{place}.offsets"],
        rest_rotations=arrays[f"{place}.rest"],
        roles=words["roles"],
        contact_points=tuple(
            ContactPoint(n, joint, (*offset,), bool(rolls)) for n, joint, offset, rolls in words["contact_points"]
        ),
        tips={int(joint): (*tip,) for joint, tip in words["tips"].items()},
        name=words["name"],
    )
    depths = [0] * len(skeleton)
    for joint, parent in enumerate(skeleton.parents.tolist()[1:], start=1):
        depths[joint] = depths[parent] + 1
    if max(depths) > MAX_DEPTH:
        raise SkeletonError(
            f"joints of skeleton '{skeleton.name}' are {max(depths)} deep; at most {MAX_DEPTH} are read"
        )
    return skeleton


def _check_largest(values: npt.NDArray[Any], what: str, error: type[SkeletonError | ClipError]) -> None:
    """Refuse numbers that are not finite or too large to be lengths [m]."""
    if values.size and not np.abs(values).max() <= LARGEST:
        raise error(f"{what} that are not finite or beyond {LARGEST:g} m")


def clips_words(clips: Iterable[Clip], skeletons: Mapping[int, int]) -> list[dict[str, Any]]:
    """Return the words of a header that describe clips; `skeletons` gives a skeleton's number by its `id`."""
    return [
        {"name": str(c.name), "skeleton": skeletons[id(c.skeleton)], "fps": c.fps, "labels": [*map(str, c.labels)],
         "contacts": c.contacts is not None}
        for c in clips
    ]  # fmt: skip


def clips_arrays(clips: Iterable[Clip]) -> Arrays:
    """Return the arrays of clips: `clip.N.roots` (F, 3), `.rotations` (F, J, 4), single precision, and `.contacts`."""
    arrays: Arrays = {}
    for i, clip in enumerate(clips):
        arrays[f"clip.{i}.roots"] = clip.root_positions.astype(np.float32)
        arrays[f"clip.{i}.rotations"] = clip.rotations.astype(np.float32)
        if clip.contacts is not None:
            arrays[f"clip.{i}.contacts"] = clip.contacts
    return arrays


def clips_specs(words: Iterable[Mapping[str, Any]], skeletons: list[Mapping[str, Any]]) -> dict[str, Spec]:
    """Return the type and shape of the arrays of clips, given the words of all skeletons."""
    specs: dict[str, Spec] = {}
    for i, clip in enumerate(words):
        body = skeletons[counted(clip["skeleton"], len(skeletons) - 1, "skeletons")]
        specs[f"clip.{i}.roots"] = ((None, 3), "<f4")
        specs[f"clip.{i}.rotations"] = ((None, len(body["joints"]), 4), "<f4")
        if clip["contacts"]:
            specs[f"clip.{i}.contacts"] = ((None, len(body["contact_points"])), "|b1")
    return specs


def clips_from(words: Iterable[Mapping[str, Any]], arrays: Arrays, skeletons: tuple[Skeleton, ...]) -> tuple[Clip, ...]:
    """Build clips from their words and arrays.

    Raises:
        ClipError: if one cannot be.
    """
    clips = tuple(
        Clip(
            skeletons[word["skeleton"]], arrays[f"clip.{i}.roots"], arrays[f"clip.{i}.rotations"], word["fps"],
            word["name"], arrays.get(f"clip.{i}.contacts"), tuple(word["labels"]),
        )
        for i, word in enumerate(words)
    )  # fmt: skip
    for clip in clips:
        _check_largest(clip.root_positions, f"root positions of clip '{clip.name}'", ClipError)
        if clip.duration > LONGEST_S:
            raise ClipError(f"clip '{clip.name}' lasts {clip.duration:g} s; at most {LONGEST_S:g} s are possible")
    return clips
