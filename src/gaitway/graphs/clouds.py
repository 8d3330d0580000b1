"""What a body looks like around a frame: weighted clouds of body points over short windows of time.

Two frames are compared by their clouds (Kovar, Gleicher and Pighin, "Motion graphs", 2002, section 3.1). A window holds
the same number of frames on both sides of its own, so that speeds count as well as poses.
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
"""Time that a window reaches to either side of its frame [s]; a third of a second in all, as in the paper."""
_APART = 0.01
"""Points nearer than this to another one in the T-pose tell nothing new [m]."""
_FOOT_WEIGHT = 2.0
"""How much more the points of feet count than others: they are held to the ground."""


@dataclass(frozen=True, eq=False)
class BodyPoints:
    """Points that move with the joints of a skeleton."""

    joints: IntArray
    """The joint that carries each point; (P,)."""
    offsets: FloatArray
    """Where it is in that joint's frame [m]; (P, 3)."""
    weights: FloatArray
    """How much each counts; (P,), above zero."""

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
        """World positions [m] in every frame of a clip; (F, P, 3)."""
        places, world = clip.joint_transforms()
        return np.asarray(places[:, self.joints] + rotations.rotate(world[:, self.joints], self.offsets))


@lru_cache(maxsize=32)
def body_points(skeleton: Skeleton) -> BodyPoints:
    """Joints and ends of bones, without fingers and without joints that lie on others; feet count double."""
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
    """All joints that hang on one with this role, without that one."""
    tops, below = _of(skeleton, part), set[int]()
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent in tops or parent in below:
            below.add(joint)
    return below


@dataclass(frozen=True, eq=False)
class Clouds:
    """The windowed clouds of a sequence of frames, from one clip or from several.

    A cloud is centred over the ground, and its points are scaled by the roots of their weights, which add up to one:
    sums over products of such numbers are weighted means.
    """

    track: FloatArray
    """Positions of the body points [m], with what continues a clip before its first and after its last frame;
    (T, P, 3)."""
    first: IntArray
    """Where in `track` the window of each frame begins; (F,)."""
    valid: BoolArray
    """Whether the window lies wholly inside the frame's clip; (F,)."""
    weights: FloatArray
    """Weight of each point of a window, frame by frame; (W * P,), with sum 1."""
    fps: float
    """[Hz]."""

    def __post_init__(self) -> None:
        for name in ("track", "first", "valid", "weights"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.first)

    @property
    def window(self) -> int:
        """Frames in a window."""
        return len(self.weights) // int(self.track.shape[1])

    @property
    def half(self) -> int:
        """Frames on either side of a window's own."""
        return self.window // 2

    def chosen(self, frames: npt.ArrayLike) -> Clouds:
        """The clouds of some frames."""
        rows = np.asarray(frames, dtype=np.int64)
        return Clouds(self.track, self.first[rows], self.valid[rows], self.weights, self.fps)

    def points(self, frames: npt.ArrayLike) -> FloatArray:
        """The points of the windows of some frames, as they lie in the world [m]; (N, W * P, 3)."""
        at = self.first[np.atleast_1d(np.asarray(frames, dtype=np.int64))]
        windows: FloatArray = self.track[at[:, None] + np.arange(self.window)]
        return windows.reshape(len(at), -1, 3)

    @cached_property
    def centres(self) -> FloatArray:
        """Where each cloud's weighted mean lies over the ground [m]; (F, 2)."""
        share = self.weights.reshape(self.window, -1)
        means = np.einsum("tpc,wp->twc", self.track[..., :2], share)  # what a track frame adds as the w-th of a window
        centres = sum(means[self.first + w, w] for w in range(self.window))
        return np.asarray(centres)

    def centred(self, frames: npt.ArrayLike) -> tuple[npt.NDArray[np.complex128], FloatArray]:
        """Clouds of some frames, centred and scaled: level parts as x + iy (N, K), and heights (N, K) [m]."""
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
    """The clouds of all frames of a clip.

    Near its ends the clip is continued as if it were turned about its end frame by half a turn, which keeps its speed;
    such frames are marked in `Clouds.valid`.

    Args:
        clip: the motion.
        window_s: time that a window reaches to either side of its frame [s]; rounded to frames.
        points: body points; None takes `body_points`.
        weights: how much each frame of a window counts (W,); None falls off towards both ends (Hann).

    Raises:
        GraphError: if the clip is shorter than half a window, or the weights do not fit.
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
    """Clouds of several clips as one sequence, in order; windows never reach from one clip into another."""
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
    """Two sets of clouds must be of the same points and windows.

    Raises:
        GraphError: saying what differs.
    """
    if a.track.shape[1] != b.track.shape[1] or a.weights.shape != b.weights.shape:
        raise GraphError(
            f"clouds of {a.track.shape[1]} points over {a.window} frames cannot be compared with clouds of "
            f"{b.track.shape[1]} points over {b.window} frames; take clips of one skeleton at one rate"
        )
    if not np.array_equal(a.weights, b.weights):
        raise GraphError("clouds with different weights cannot be compared; make both with the same")
