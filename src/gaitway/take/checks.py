"""What must hold in a take, and how its parts are made fit to be kept."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.errors import TakeError
from gaitway.motion.clip import Clip

if TYPE_CHECKING:
    from gaitway.take.model import Take

TIME_SLACK = 1e-9
"""Times that differ by less count as equal [s]: sums of clip lengths are not exact."""
_FADE_SLACK = 1e-4
"""A fade may run this far into the next segment [s]; nothing of the one before is left of it then."""
MAX_FACTS = 16_000_000
"""Characters of JSON text."""


def checked_names(names: Sequence[str], most: int) -> tuple[str, ...]:
    """Names of characters, checked to be different."""
    names = tuple(str(n) for n in names)
    if not 1 <= len(names) <= most:
        raise TakeError(f"a take needs between 1 and {most} characters, got {len(names)}")
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(n for n in names if n in seen or seen.add(n))  # type: ignore[func-returns-value]
        raise TakeError(f"two characters are called '{twice}'; every name must occur once")
    return names


def checked_rate(fps: float) -> float:
    """A frame rate [Hz] within its bounds."""
    if not (np.isfinite(fps) and 0.0 < fps <= 100_000.0):
        raise TakeError(f"frame rate {fps} of the take must be above 0 and at most 100000 Hz")
    return float(fps)


def checked_character(take: Take, character: int) -> int:
    """The index of a character, which must exist."""
    if not 0 <= character < len(take.names):
        raise TakeError(f"no character {character}; the take has {len(take.names)}, numbered from 0")
    return int(character)


def checked_characters(take: Take, characters: npt.ArrayLike) -> IntArray:
    """Indices of characters (N,), which must exist."""
    given = np.atleast_1d(np.asarray(characters))
    if given.size and (given.dtype.kind not in "iu" or given.ndim != 1):
        raise TakeError(f"characters must be whole numbers in one row, got {given.dtype} of shape {given.shape}")
    if given.size and not (given.min() >= 0 and given.max() < len(take.names)):
        bad = int(given[(given < 0) | (given >= len(take.names))][0])
        raise TakeError(f"no character {bad}; the take has {len(take.names)}, numbered from 0")
    return given.astype(np.int64)


def index_of(names: Sequence[str], name: str) -> int:
    """Where a name stands among the names of the characters."""
    try:
        return names.index(name)
    except ValueError:
        near = difflib.get_close_matches(name, names[:10_000], n=1)
        hint = f"; did you mean '{near[0]}'?" if near else f"; the first is '{names[0]}'"
        raise TakeError(f"no character '{name}' among {len(names)}{hint}") from None


def single_precision(clip: Clip) -> Clip:
    """The clip with every number rounded to single precision; the same object where they are already."""
    roots, local = clip.root_positions.astype(np.float32), clip.rotations.astype(np.float32)
    if not np.isfinite(roots).all():
        raise TakeError(f"clip '{clip.name}' has root positions too large for single precision")
    if np.array_equal(roots, clip.root_positions) and np.array_equal(local, clip.rotations):
        return clip
    return replace(clip, root_positions=roots.astype(np.float64), rotations=local.astype(np.float64))


def with_gaps(value: npt.ArrayLike, name: str, shape: tuple[int, ...]) -> FloatArray:
    """A read-only copy in which NaN stands for what is not known; all NaN where nothing is given."""
    given = np.asarray(value, dtype=np.float64)
    array = np.array(given) if given.size else np.full(shape, np.nan)
    if array.shape != shape:
        raise TakeError(f"{name} has shape {array.shape}, expected {shape}")
    if np.isinf(array).any():
        raise TakeError(f"{name} of character {int(np.argwhere(np.isinf(array))[0][0])} is infinite")
    array.setflags(write=False)
    return array


def plain_facts(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """A copy of facts that are plain JSON values."""
    try:
        text = json.dumps(dict(facts), allow_nan=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as problem:
        raise TakeError(f"facts must be plain JSON values: {problem}") from None
    if len(text) > MAX_FACTS:
        raise TakeError(f"facts are {len(text)} characters of JSON; at most {MAX_FACTS} are kept")
    return MappingProxyType(json.loads(text))


def check_take(take: Take) -> None:
    """Refuse a take whose tables do not fit together.

    Raises:
        TakeError: naming the character and the segment.
    """
    _check_bodies(take)
    _check_rows(take)
    _check_segments(take)
    for number, layer in enumerate(take.layers):
        if not 0 <= layer.character < len(take.names):
            raise TakeError(f"layer {number} ('{layer.name}') is on character {layer.character} of {len(take.names)}")
        joints = len(take.skeletons[take.bodies[layer.character]])
        if (layer.joints >= joints).any():
            raise TakeError(
                f"layer {number} ('{layer.name}') turns joint {layer.joints.max()} of character "
                f"'{take.names[layer.character]}', which has {joints}"
            )
    tolerance, radii = take.goals[:, 3], take.radii
    for name, values in (("goal tolerance", tolerance), ("radius", radii)):
        if (values < 0.0).any():
            raise TakeError(f"character '{take.names[int(np.argmax(values < 0.0))]}' has a negative {name}")


def _check_bodies(take: Take) -> None:
    bodies, count = take.bodies, len(take.skeletons)
    if bodies.min() < 0 or bodies.max() >= count:
        c = int(np.argmax((bodies < 0) | (bodies >= count)))
        raise TakeError(f"character '{take.names[c]}' has body {bodies[c]} of {count} skeletons")
    for clip in take.clips:
        if not any(clip.skeleton is skeleton for skeleton in take.skeletons):
            raise TakeError(
                f"clip '{clip.name}' is on skeleton '{clip.skeleton.name}', which is not (the same object as) one "
                "of the take's skeletons"
            )


def _check_rows(take: Take) -> None:
    rows, count = take.rows, len(take.segments)
    if rows[0] != 0 or rows[-1] != count:
        raise TakeError(f"rows begin at {rows[0]} and end at {rows[-1]}; they must go from 0 to {count} segments")
    empty = np.diff(rows) < 1
    if empty.any():
        c = int(np.argmax(empty))
        raise TakeError(f"character '{take.names[c]}' has no segments (rows {rows[c]} to {rows[c + 1]})")


def _check_segments(take: Take) -> None:
    table, rows = take.segments, take.rows
    owner = np.repeat(np.arange(len(take.names)), np.diff(rows))

    def refuse(wrong: BoolArray, problem: str) -> None:
        if wrong.any():
            s = int(np.argmax(wrong))
            values = {"clip": table.clip[s], "start": table.start[s], "offset": table.offset[s]}
            shown = problem.format(**values, blend=table.blend[s], behavior=table.behavior[s], until=until[s])
            raise TakeError(f"character '{take.names[owner[s]]}', segment {s - rows[owner[s]]}: {shown}")

    until = np.append(table.start[1:], 0.0)
    until[rows[1:] - 1] = take.ends
    first = np.zeros(len(table), dtype=bool)
    first[rows[:-1]] = True
    refuse((table.clip < 0) | (table.clip >= len(take.clips)), f"clip {{clip}} of {len(take.clips)} does not exist")
    clip_body = np.array([_body_of(take, clip) for clip in take.clips])
    refuse(clip_body[table.clip] != take.bodies[owner], "clip {clip} is on another skeleton than the character's")
    refuse(
        (table.behavior < -1) | (table.behavior >= len(take.behaviors)),
        f"behaviour {{behavior}} of {len(take.behaviors)} does not exist; write -1 for none",
    )
    durations = np.array([clip.duration for clip in take.clips])
    refuse(until < table.start, "it begins at {start:g} s, after what comes next at {until:g} s")
    last = np.roll(first, -1)
    refuse((until <= table.start) & ~last, "it begins at {start:g} s, when the next one does")
    refuse(table.offset > durations[table.clip] + _FADE_SLACK, "it begins {offset:g} s into clip {clip}, past its end")
    refuse(first & (table.blend > 0.0), "the first segment has nothing to fade from; write blend 0")
    refuse(
        table.start + table.blend > until + _FADE_SLACK,
        "its fade of {blend:g} s from {start:g} s is not over at {until:g} s",
    )


def _body_of(take: Take, clip: Clip) -> int:
    return next(i for i, skeleton in enumerate(take.skeletons) if skeleton is clip.skeleton)
