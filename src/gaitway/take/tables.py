"""A take as plain tables for other programs: all poses, or root paths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import TakeError
from gaitway.motion.kinematics import forward_kinematics
from gaitway.take import evaluation
from gaitway.take.data import TIME_SLACK, checked_rate
from gaitway.take.pool import PooledTake

MOST_JOINTS = 200_000_000
"""Greatest number of joints in all frames of a table."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Dense:
    """All poses of characters that share a skeleton, each character's frames in one run."""

    fps: float
    """Rate [Hz]."""
    names: tuple[str, ...]
    """Names of the characters; (C,)."""
    joint_names: tuple[str, ...]
    """Names of the joints; (J,)."""
    parents: IntArray
    """Parent of each joint, -1 for the root; (J,)."""
    offsets: FloatArray
    """Position of each joint in its parent's frame [m]; (J, 3)."""
    start: IntArray
    """Number of each character's first frame on the clock that begins at 0; (C,)."""
    length: IntArray
    """Number of frames of each character; (C,)."""
    root: FloatArray
    """World positions of the roots [m]; (N, 3)."""
    rotations: FloatArray
    """Local unit quaternions wxyz; (N, J, 4)."""
    positions: FloatArray
    """World positions of the joints [m]; (N, J, 3)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RootPaths:
    """Root paths, one row for each character and frame, sorted by character and then by frame."""

    fps: float
    """Rate [Hz]; frame 0 is time 0."""
    id: IntArray
    """Index of the character; (N,)."""
    frame: IntArray
    """Number of the frame on the common clock; (N,)."""
    x: FloatArray
    """Position x [m]; (N,)."""
    y: FloatArray
    """Position y [m]; (N,)."""
    heading: FloatArray
    """Heading [rad], in -pi to pi; (N,)."""
    behavior: tuple[str, ...]
    """Names of behaviours, "" where there is none; (N,)."""

    def __len__(self) -> int:
        return len(self.id)


def clock_frames(take: PooledTake, fps: float) -> tuple[IntArray, IntArray]:
    """Return first frame and number of frames of each character on the common clock (frame = time * fps); (C,) each.

    (C,) each.

    The frames are those that lie within the character's span; a character between two frames has none.
    """
    slack = TIME_SLACK * fps + 1e-6
    first = np.ceil(take.starts * fps - slack).astype(np.int64)
    last = np.floor(take.ends * fps + slack).astype(np.int64)
    return first, np.maximum(last - first + 1, 0)


def chosen_body(take: PooledTake, skeleton: int | None) -> int:
    """Return the index of the skeleton whose characters a table contains.

    Raises:
        TakeError: if characters have different ones and none is chosen, or if there is none of that number.
    """
    occurring = np.unique(take.bodies)
    if skeleton is None and len(occurring) > 1:
        bodies = ", ".join(f"{i} ('{take.skeletons[i].name}')" for i in occurring)
        raise TakeError(f"characters have {len(occurring)} different skeletons; choose one with skeleton=: {bodies}")
    body = int(occurring[0]) if skeleton is None else int(skeleton)
    if not 0 <= body < len(take.skeletons):
        raise TakeError(f"no skeleton {body}; the take has {len(take.skeletons)}, numbered from 0")
    return body


def dense(take: PooledTake, fps: float | None = None, skeleton: int | None = None) -> Dense:
    """See `Take.dense`."""
    rate = take.fps if fps is None else checked_rate(fps)
    body = chosen_body(take, skeleton)
    chosen = np.flatnonzero(take.bodies == body)
    first, length = (column[chosen] for column in clock_frames(take, rate))
    _check_size(rate, int(length.sum()), len(take.skeletons[body]))
    characters, frames = _rows(chosen, first, length)
    root, rotations = evaluation.sampled(take, body, characters, frames / rate)
    bones = take.skeletons[body]
    names = tuple(take.names[c] for c in chosen)
    return Dense(
        fps=rate,
        names=names,
        joint_names=bones.names,
        parents=bones.parents,
        offsets=bones.offsets,
        start=first,
        length=length,
        root=root,
        rotations=rotations,
        positions=forward_kinematics(bones, root, rotations)[0],
    )


def trajectories(take: PooledTake, fps: float | None = None) -> RootPaths:
    """See `Take.trajectories`."""
    rate = take.fps if fps is None else checked_rate(fps)
    first, length = clock_frames(take, rate)
    _check_size(rate, int(length.sum()), 1)
    characters, frames = _rows(np.arange(len(take)), first, length)
    times = frames / rate
    path = evaluation.planar_poses(take, characters, times)
    segments, _ = evaluation.locate(take, characters, times)
    names = np.array([*take.behaviors, ""], dtype=object)
    behavior = tuple(names[take.segments.behavior[segments]])
    return RootPaths(
        fps=rate, id=characters, frame=frames, x=path[:, 0], y=path[:, 1], heading=path[:, 2], behavior=behavior
    )


def _check_size(rate: float, frames: int, joints: int) -> None:
    """Refuse a table that would need many gigabytes.

    Raises:
        TakeError: if it is too large.
    """
    if frames * joints > MOST_JOINTS:
        raise TakeError(
            f"all characters at {rate:g} Hz are {frames} frames of {joints} joints, more than {MOST_JOINTS:,} joints; "
            "ask for a lower rate"
        )


def _rows(characters: IntArray, first: IntArray, length: IntArray) -> tuple[IntArray, IntArray]:
    """Return the character and frame of each row, one character's run after the other."""
    begins = np.cumsum(length) - length
    frames = np.arange(int(length.sum())) - np.repeat(begins - first, length)
    return np.repeat(characters, length), frames
