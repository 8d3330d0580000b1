"""Libraries of shorter and taller bodies: the same motion at another size.

All lengths are scaled alike and times stay, so that feet rest where they did and clips meet as they did. Who is small
takes short steps in the rhythm of others, and walks slower; a speed in metres per second is kept by quicker steps.
Bodies in flight fall too slowly or too fast by the same factor, which is why sizes are limited.
"""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

import numpy as np

from gaitway.core.errors import LibraryError
from gaitway.library.behavior import Library
from gaitway.motion.skeleton import Skeleton

SIZES = (0.8, 1.2)
"""Least and greatest size: a child has other proportions than a small adult."""
DRAWN_SIZES = (0.92, 0.97, 1.0, 1.03, 1.08)
"""Sizes that are drawn, each as often as any other: adults differ in height by 5.5 % (standard deviation of women and
men together). They are few because planners prepare each of them."""


def sized(library: Library, size: float) -> Library:
    """Return a library on a body of another size.

    Args:
        library: the library.
        size: factor on the height of its body; one of 1.75 m (the built-in person) becomes 1.61 m with 0.92.

    Raises:
        LibraryError: if the size is beyond `SIZES`.
    """
    if not SIZES[0] <= size <= SIZES[1]:
        raise LibraryError(f"size {size:g} of library '{library.name}'; write {SIZES[0]:g} to {SIZES[1]:g}")
    skeleton = sized_skeleton(library.skeleton, size)
    clips = {
        name: replace(clip, skeleton=skeleton, root_positions=size * clip.root_positions)
        for name, clip in library.clips.items()
    }
    return replace(library, skeleton=skeleton, clips=clips)


def sized_skeleton(skeleton: Skeleton, size: float) -> Skeleton:
    """Return a skeleton whose bones are all longer by a factor."""
    points = tuple(replace(point, offset=_times(point.offset, size)) for point in skeleton.contact_points)
    tips = {joint: _times(tip, size) for joint, tip in skeleton.tips.items()}
    return replace(skeleton, offsets=size * skeleton.offsets, contact_points=points, tips=tips)


def drawn_size(seed: int, name: str) -> float:
    """Return the size of somebody, drawn by name among `DRAWN_SIZES`."""
    rng = np.random.default_rng([seed, crc32(name.encode()), 7])
    return DRAWN_SIZES[int(rng.integers(len(DRAWN_SIZES)))]


def _times(point: tuple[float, float, float], factor: float) -> tuple[float, float, float]:
    return factor * point[0], factor * point[1], factor * point[2]
