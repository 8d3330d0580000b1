"""Clips as rows of degrees of freedom (DOFs), and back.

The root is its velocity in the frame of its own heading, its turning rate and its height, so that a row does not depend
on where the character is. A joint is three numbers. By default these are the exponential map about its mean rotation
over all takes: it has no gimbal lock, needs no order of axes, and stays below half a turn for all joints that stay
within half a turn of their mean. Euler angles (as in the thesis) are the other mode. Both are continuous in time: an
angle that passes half a turn goes on, and of the two triples of Euler angles for one rotation the one nearer to the
frame before is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, owned
from gaitway.core.errors import VariationError
from gaitway.motion.anatomy import PARTS, joint_parts
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import Skeleton

Mode = Literal["exponential", "euler"]
ROOT_NAMES = ("ahead", "left", "turning", "height")
"""Names of the root's first columns: velocity [m/s] forward and to the left, turning rate [rad/s], height [m]."""
_EULER_ORDER = "zyx"
_TURN = 2.0 * np.pi
_STILL = np.array([0.004, 0.004, 0.008, 0.0004])
"""Deviations of root columns below which they count as constant (units as above)."""
_STILL_ANGLE = 0.001
"""Deviation of a joint's angle below which it counts as constant [rad]."""


@dataclass(frozen=True, eq=False)
class Dofs:
    """The mapping between clips of one skeleton and rows of numbers; built by `Dofs.of`."""

    skeleton: Skeleton
    mode: Mode
    fps: float
    reference: FloatArray
    """Rotations about which the exponential map is taken; that of the root is without heading; (J, 4)."""
    kept: IntArray
    """Numbers of the columns that vary; (D,)."""
    constant: FloatArray
    """Values of all columns; columns that are not kept always have these; (4 + 3 J,)."""

    def __post_init__(self) -> None:
        count, columns = len(self.skeleton), len(ROOT_NAMES) + 3 * len(self.skeleton)
        if self.mode not in ("exponential", "euler"):
            raise VariationError(f"mode '{self.mode}' of degrees of freedom; there are 'exponential' and 'euler'")
        checked: dict[str, npt.NDArray[Any]] = {
            "reference": owned(self.reference, "reference", (count, 4), error=VariationError),
            "kept": owned(self.kept, "kept", (None,), np.int64, VariationError),
            "constant": owned(self.constant, "constant", (columns,), error=VariationError),
        }
        for name, array in checked.items():
            object.__setattr__(self, name, array)

    @classmethod
    def of(cls, clips: Sequence[Clip], mode: Mode = "exponential") -> Dofs:
        """Build the degrees of freedom that vary in some clips, which share a skeleton and a frame rate."""
        skeleton = clips[0].skeleton
        reference = rotations.mean(np.concatenate([_heading_free(clip) for clip in clips]))
        every = np.arange(len(ROOT_NAMES) + 3 * len(skeleton))
        whole = cls(skeleton, mode, clips[0].fps, reference, every, np.zeros(len(every)))
        pool = np.concatenate([whole.rows(clip) for clip in clips])
        still = np.concatenate([_STILL, np.full(3 * len(skeleton), _STILL_ANGLE)])
        return cls(skeleton, mode, clips[0].fps, reference, np.flatnonzero(pool.std(axis=0) > still), pool.mean(axis=0))

    def __len__(self) -> int:
        return len(self.kept)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Name of each column: one of `ROOT_NAMES`, or joint and component, such as "LeftArm.x"."""
        every = [*ROOT_NAMES, *(f"{joint}.{axis}" for joint in self.skeleton.names for axis in "xyz")]
        return tuple(every[column] for column in self.kept)

    @cached_property
    def joints(self) -> IntArray:
        """Number of the joint that each column belongs to; (D,)."""
        return np.maximum(self.kept - len(ROOT_NAMES), 0) // 3

    @cached_property
    def parts(self) -> IntArray:
        """Part of the body that each column belongs to, an index into PARTS; (D,)."""
        return joint_parts(self.skeleton)[self.joints]

    def chosen_joints(self, names: Sequence[str]) -> BoolArray:
        """Return which joints are meant by names, roles or parts of the body; (J,).

        Raises:
            SkeletonError: if there is no such joint.
        """
        chosen, parts = np.zeros(len(self.skeleton), np.bool_), joint_parts(self.skeleton)
        for name in names:
            if name in PARTS:
                chosen |= parts == PARTS.index(name)
            else:
                chosen[self.skeleton.index(name)] = True
        return chosen

    def columns(self, joints: Sequence[str]) -> BoolArray:
        """Return which columns belong to these joints, roles or parts of the body; (D,).

        Raises:
            SkeletonError: if there is no such joint.
        """
        return self.chosen_joints(joints)[self.joints]

    def rows(self, clip: Clip) -> FloatArray:
        """Return the varying columns of a clip, frame by frame; (F, D)."""
        path, fps = clip.planar_path(), self.fps
        step = np.diff(path, axis=0)
        cosine, sine = np.cos(path[:-1, 2]), np.sin(path[:-1, 2])
        ahead, left = cosine * step[:, 0] + sine * step[:, 1], cosine * step[:, 1] - sine * step[:, 0]
        speed = fps * np.column_stack([ahead, left, step[:, 2]])  # row f leads from frame f - 1 to frame f
        speed = np.concatenate([speed[:1], speed]) if len(speed) else np.zeros((1, 3))
        local = _heading_free(clip)
        angles = self._vectors(local) if self.mode == "exponential" else _smooth_euler(local, self.reference)
        every = np.concatenate([speed, clip.root_positions[:, 2:], angles.reshape(len(clip), -1)], axis=1)
        return every[:, self.kept]

    def _vectors(self, local: FloatArray) -> FloatArray:
        vectors = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(self.reference), local))
        return smooth_vectors(vectors)

    def poses(
        self, rows: npt.ArrayLike, start: npt.ArrayLike = (0.0, 0.0, 0.0)
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return root positions (F, 3), local rotations (F, J, 4) and the planar path (F, 3); frame 0 is at `start`."""
        kept = np.asarray(rows, dtype=np.float64)
        every = np.repeat(self.constant[None], len(kept), axis=0)
        every[:, self.kept] = kept
        angles = every[:, len(ROOT_NAMES) :].reshape(len(kept), -1, 3)
        path = travel(every[:, :3] / self.fps, start)
        if self.mode == "exponential":
            local = rotations.multiply(self.reference, rotations.from_rotation_vector(angles))
        else:
            local = rotations.from_euler(_EULER_ORDER, angles)
        ahead = rotations.rotate(local[:, 0], self.skeleton.forward)
        # a changed row may face a little to the side; the turning rate decides the heading
        facing = path[:, 2] - np.arctan2(ahead[:, 1], ahead[:, 0])
        local[:, 0] = rotations.multiply(rotations.from_yaw(facing), local[:, 0])
        return np.column_stack([path[:, :2], every[:, 3]]), rotations.normalize(local), path

    def clip(
        self,
        rows: npt.ArrayLike,
        name: str,
        start: npt.ArrayLike = (0.0, 0.0, 0.0),
        contacts: BoolArray | None = None,
        labels: tuple[str, ...] = (),
    ) -> Clip:
        """Return the motion of rows (F, D); its root begins at the planar pose `start`."""
        roots, local, _ = self.poses(rows, start)
        return Clip(self.skeleton, roots, local, self.fps, name, contacts, labels)


def travel(steps: FloatArray, start: npt.ArrayLike) -> FloatArray:
    """Return the planar path (F, 3) from `start`, where row f of `steps` (F, 3) leads from frame f - 1 to frame f.

    Steps are in the frame of the heading before them.
    """
    x, y, heading = np.asarray(start, dtype=np.float64)
    turned = np.concatenate([[heading], heading + np.cumsum(steps[1:, 2])])
    cosine, sine = np.cos(turned[:-1]), np.sin(turned[:-1])
    across = cosine * steps[1:, 0] - sine * steps[1:, 1], sine * steps[1:, 0] + cosine * steps[1:, 1]
    return np.column_stack(
        [*(np.concatenate([[p], p + np.cumsum(d)]) for p, d in zip((x, y), across, strict=True)), turned]
    )


def smooth_vectors(vectors: FloatArray) -> FloatArray:
    """Return vectors (F, ..., 3) of the same rotations, each nearest to the frame before.

    Where several sequences do that, the shortest vectors are returned.
    """
    out = np.array(vectors)
    if (out**2).sum(axis=-1).max(initial=0.0) < (0.5 * np.pi) ** 2:  # far from half a turn: nothing to correct
        return out
    for frame in range(1, len(out)):
        out[frame] = _nearest_vectors(out[frame], out[frame - 1])
    size = np.linalg.norm(out, axis=-1)
    if size.size and size.max() > np.pi:  # maybe a whole turn off from the start: try the other branch
        first = out[0]
        length = np.maximum(np.linalg.norm(first, axis=-1, keepdims=True), 1e-12)
        other = np.array(out)
        other[0] = first - first * (_TURN / length)
        for frame in range(1, len(out)):
            other[frame] = _nearest_vectors(vectors[frame], other[frame - 1])
        smaller = np.mean(other**2, axis=(0, -1)) < np.mean(out**2, axis=(0, -1))
        out = np.where(smaller[None, ..., None], other, out)
    return out


def _nearest_vectors(vectors: FloatArray, before: FloatArray) -> FloatArray:
    """Return the vectors nearest to `before` among all that have the same axes and mean the same rotations."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    past = np.linalg.norm(before, axis=-1, keepdims=True)
    # no rotation is a whole turn about any axis; the axis before gives the nearest vector
    axis = np.where(length > 1e-9, vectors / np.maximum(length, 1e-12), before / np.maximum(past, 1e-12))
    along = np.sum(axis * before, axis=-1, keepdims=True)
    turns = np.round((along - length) / _TURN)
    out: FloatArray = vectors + axis * (turns * _TURN)
    return out


def _smooth_euler(local: FloatArray, reference: FloatArray) -> FloatArray:
    """Return Euler angles (F, J, 3); of the two triples of each frame, the one nearer to the frame before.

    The first frame is near the mean rotation (J, 4), so that takes lie beside one another and not a whole turn apart.
    """
    out = np.concatenate([rotations.to_euler(_EULER_ORDER, q) for q in (reference[None], local)])
    for frame in range(1, len(out)):
        first = out[frame]
        second = np.stack([first[:, 0] + np.pi, np.pi - first[:, 1], first[:, 2] + np.pi], axis=-1)
        both = np.stack([first, second])
        both -= _TURN * np.round((both - out[frame - 1]) / _TURN)
        far = np.abs(both - out[frame - 1]).sum(axis=-1)
        out[frame] = np.where((far[0] <= far[1])[:, None], both[0], both[1])
    return out[1:]


def _heading_free(clip: Clip) -> FloatArray:
    """Return local rotations (F, J, 4), with the heading of the root removed."""
    local = np.array(clip.rotations)
    local[:, 0] = rotations.multiply(rotations.from_yaw(-clip.headings()), local[:, 0])
    return local
