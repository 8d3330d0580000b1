"""Characters as files hold them: names that all differ, and frames on one clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from gaitway.core.arrays import IntArray
from gaitway.motion.clip import Clip
from gaitway.take.evaluation import sampled
from gaitway.take.model import Take
from gaitway.take.tables import clock_frames


def different(names: Iterable[str]) -> list[str]:
    """Return the names with _2, _3 ... appended to those that occurred before; upper and lower case count as equal."""
    taken: set[str] = set()
    counts: dict[str, int] = {}
    found = []
    for name in names:
        unique = name
        while unique.casefold() in taken:
            counts[name] = counts.get(name, 1) + 1
            unique = f"{name}_{counts[name]}"
        taken.add(unique.casefold())
        found.append(unique)
    return found


def clock_blocks(
    take: Take, fps: float, characters: IntArray, rows_at_once: int = 250_000
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the character and frame of every row, one character after another, in blocks of whole characters.

    Args:
        take: whose characters.
        fps: frames a second; frame 0 is time 0.
        characters: indices, in the order wanted.
        rows_at_once: how many rows a block has at most, unless one character alone has more.

    Yields:
        Characters (N,) and frames (N,).
    """
    first, length = (column[characters] for column in clock_frames(take, fps))
    ends = np.cumsum(length)
    begin = 0
    while begin < len(characters):
        room = ends[begin] - length[begin] + rows_at_once
        end = max(int(np.searchsorted(ends, room, side="right")), begin + 1)
        count = length[begin:end]
        starts = np.cumsum(count) - count - first[begin:end]
        if count.any():
            yield np.repeat(characters[begin:end], count), np.arange(count.sum()) - np.repeat(starts, count)
        begin = end


def frame_spans(take: Take, fps: float) -> tuple[IntArray, IntArray]:
    """Return first and last frame (C,) of each character; if it is present between two frames only, the later one."""
    first, length = clock_frames(take, fps)
    return first, first + np.maximum(length, 1) - 1


def character_motion(take: Take, character: int, first: int, last: int, fps: float) -> Clip:
    """Return the motion of a character from one frame of the clock to another, in the world."""
    frames = np.arange(first, last + 1)
    who, body = np.full(len(frames), character), int(take.bodies[character])
    roots, local = sampled(take, body, who, frames / fps)
    return Clip(take.skeletons[body], roots, local, fps, take.names[character])
