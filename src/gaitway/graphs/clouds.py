"""Point clouds: weighted body points of a character over a short window of time around a frame.

Two frames are compared by their clouds (Kovar, Gleicher and Pighin, "Motion graphs", 2002, section 3.1). A window holds
the same number of frames before and after its frame, so that velocities count as well as poses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, owned, read_only
from gaitway.core.errors import GraphError
from gaitway.motion.anatomy import t_pose, t_pose_positions
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import Skeleton

HALF_WINDOW_S = 0.13
"""Time before and after a frame that belongs to its window [s]; about a third of a second in all, as in the paper."""
_APART = 0.01
"""Least distance of two body points in the T-pose [m]."""
_FOOT_WEIGHT = 2.0
"""Weight of points of the feet; other points have 1. Feet count more because they touch the ground."""


@dataclass(frozen=True, eq=False)
class BodyPoints:
    """Points that are fixed to the joints of a skeleton."""

    joints: IntArray
    """Joint of each point; (P,)."""
    offsets: FloatArray
    """Position of each point in the frame of its joint [m]; (P, 3)."""
    weights: FloatArray
    """Weight of each point, above 0; (P,)."""

    def __post_init__(self) -> None:
        count = len(self.joints)
        object.__setattr__(self, "joints", owned(self.joints, "joints", (count,), np.int64, GraphError))
        object.__setattr__(self, "offsets", owned(self.offsets, "offsets", (count, 3), error=GraphError))
        object.__setattr__(self, "weights", owned(self.weights, "weights", (count,), error=GraphError))
        if count == 0 or (self.weights <= 0.0).any():
            raise GraphError("body points need at least one point, and every weight above 0")

    def __len__(self) -> int:
        return len(self.joints)

    def positions(self, clip: Clip) -> FloatArray:
        """Return the world positions in every frame of a clip [m]; (F, P, 3)."""
        places, world = clip.joint_transforms()
        return np.asarray(places[:, self.joints] + rotations.rotate(world[:, self.joints], self.offsets))


@lru_cache(maxsize=32)
def body_points(skeleton: Skeleton) -> BodyPoints:
    """Return the joints and bone ends of a skeleton, without fingers and coinciding joints; feet count double."""
    world = t_pose(skeleton)
    places, kept = t_pose_positions(skeleton, world), [np.zeros(3)][:0]
    rows: list[tuple[int, tuple[float, float, float], float]] = []
    hands, feet = _below(skeleton, "wrist"), _below(skeleton, "ankle") | _of(skeleton, "ankle")
    candidates = [(joint, (0.0, 0.0, 0.0)) for joint in range(len(skeleton))] + list(skeleton.tips.items())
    for joint, offset in candidates:
        place = places[joint] + rotations.rotate(world[joint], np.array(offset))
        if joint in hands or any(np.linalg.norm(place - other) < _APART for other in kept):
            continue
        kept.append(place)
        rows.append((joint, offset, _FOOT_WEIGHT if joint in feet else 1.0))
    joints, offsets, weights = zip(*rows, strict=True)
    return BodyPoints(np.array(joints), np.array(offsets), np.array(weights))


def _of(skeleton: Skeleton, part: str) -> set[int]:
    return {skeleton.roles[f"{side}_{part}"] for side in ("left", "right") if f"{side}_{part}" in skeleton.roles}


def _below(skeleton: Skeleton, part: str) -> set[int]:
    """Return all joints below a joint with this role, without that joint."""
    tops, below = _of(skeleton, part), set[int]()
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent in tops or parent in below:
            below.add(joint)
    return below


@dataclass(frozen=True, eq=False)
class Clouds:
    """Point clouds of a sequence of frames, from one clip or from several.

    A cloud is centred over the ground. Its points are scaled by the square roots of their weights, which sum to 1, so
    that sums of products are weighted means.
    """

    track: FloatArray
    """Positions of the body points [m]; (T, P, 3). Clips are continued beyond their first and last frame."""
    first: IntArray
    """Row of `track` at which the window of each frame begins; (F,)."""
    valid: BoolArray
    """Whether the window of each frame lies wholly inside its clip; (F,)."""
    weights: FloatArray
    """Weight of each point of a window, frame by frame; (W * P,), with sum 1."""
    fps: float
    """Frame rate [Hz]."""

    def __post_init__(self) -> None:
        for name in ("track", "first", "valid", "weights"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.first)

    @property
    def window(self) -> int:
        """Number of frames in a window."""
        return len(self.weights) // int(self.track.shape[1])

    @property
    def half(self) -> int:
        """Number of frames before, and after, the frame of a window."""
        return self.window // 2

    def chosen(self, frames: npt.ArrayLike) -> Clouds:
        """Return the clouds of some frames."""
        rows = np.asarray(frames, dtype=np.int64)
        return Clouds(self.track, self.first[rows], self.valid[rows], self.weights, self.fps)

    def points(self, frames: npt.ArrayLike) -> FloatArray:
        """Return the world positions of all points in the windows of some frames [m]; (N, W * P, 3)."""
        at = self.first[np.atleast_1d(np.asarray(frames, dtype=np.int64))]
        windows: FloatArray = self.track[at[:, None] + np.arange(self.window)]
        return windows.reshape(len(at), -1, 3)

    @cached_property
    def centres(self) -> FloatArray:
        """Weighted mean of each cloud over the ground [m]; (F, 2)."""
        share = self.weights.reshape(self.window, -1)
        means = np.einsum("tpc,wp->twc", self.track[..., :2], share)  # as the w-th frame of a window
        centres = sum(means[self.first + w, w] for w in range(self.window))
        return np.asarray(centres)

    def centred(self, frames: npt.ArrayLike) -> tuple[npt.NDArray[np.complex128], FloatArray]:
        """Return the centred and scaled clouds of some frames: x + iy (N, K), and heights (N, K) [m]."""
        frames = np.atleast_1d(np.asarray(frames, dtype=np.int64))
        points, roots = self.points(frames), np.sqrt(self.weights)
        level = points[..., :2] - self.centres[frames, None]
        return (level[..., 0] + 1j * level[..., 1]) * roots, points[..., 2] * roots


def point_clouds(
    clip: Clip,
    window_s: float = HALF_WINDOW_S,
    points: BodyPoints | None = None,
    weights: npt.ArrayLike | None = None,
) -> Clouds:
    """Build the clouds of all frames of a clip.

    Beyond its ends the clip is continued by point reflection in its end frame, which keeps its velocity. `Clouds.valid`
    is False for frames whose window reaches beyond the ends.

    Args:
        clip: Motion.
        window_s: Time before and after a frame that belongs to its window [s]; rounded to frames.
        points: Body points; None takes `body_points`.
        weights: Weight of each frame of a window; (W,). None takes a Hann window.

    Raises:
        GraphError: If the clip is shorter than half a window, or the number of weights is wrong.
    """
    points = body_points(clip.skeleton) if points is None else points
    half = max(round(window_s * clip.fps), 0)
    if len(clip) <= half:
        raise GraphError(
            f"clip '{clip.name}' has {len(clip)} frames; a window of {2 * half + 1} frames needs at least {half + 1}"
        )
    over_time = np.hanning(2 * half + 3)[1:-1] if weights is None else np.asarray(weights, dtype=np.float64)
    if over_time.shape != (2 * half + 1,) or not (over_time > 0.0).all():
        raise GraphError(f"weights of a window must be {2 * half + 1} numbers above 0; got {over_time!r}")
    share = np.outer(over_time, points.weights).ravel()
    track = points.positions(clip)
    if half:
        before, after = 2.0 * track[:1] - track[half:0:-1], 2.0 * track[-1:] - track[-2 : -half - 2 : -1]
        track = np.concatenate([before, track, after])
    at = np.arange(len(clip))
    return Clouds(track, at, (at >= half) & (at < len(clip) - half), share / share.sum(), clip.fps)


def joined(clouds: Sequence[Clouds]) -> Clouds:
    """Join the clouds of several clips to one sequence; windows never reach from one clip into another."""
    if not clouds:
        raise GraphError("clouds of no clips; give at least one")
    for other in clouds[1:]:
        check_alike(clouds[0], other)
    starts = np.cumsum([0, *(len(c.track) for c in clouds)])
    return Clouds(
        np.concatenate([c.track for c in clouds]),
        np.concatenate([c.first + start for c, start in zip(clouds, starts, strict=False)]),
        np.concatenate([c.valid for c in clouds]),
        clouds[0].weights,
        clouds[0].fps,
    )


def check_alike(a: Clouds, b: Clouds) -> None:
    """Check that two sequences of clouds have the same points and windows.

    Raises:
        GraphError: If they differ; the message says in what.
    """
    if a.track.shape[1] != b.track.shape[1] or a.weights.shape != b.weights.shape:
        raise GraphError(
            f"clouds of {a.track.shape[1]} points over {a.window} frames cannot be compared with clouds of "
            f"{b.track.shape[1]} points over {b.window} frames; take clips of one skeleton at one rate"
        )
    if not np.array_equal(a.weights, b.weights):
        raise GraphError("clouds with different weights cannot be compared; make both with the same")
