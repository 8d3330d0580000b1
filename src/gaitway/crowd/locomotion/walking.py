"""How one person walks along its path: where its feet are set down and when, before poses are made of it."""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.crowd.locomotion import _feet_kernels
from gaitway.crowd.locomotion.posing import BodyPoses, posed
from gaitway.crowd.locomotion.space import LocomotionSpace
from gaitway.crowd.locomotion.steering import ARM_HABITS, SteeredPaths
from gaitway.motion.clip import Clip

_DROP_S = 0.07
"""Standard deviation with which the pelvis is lowered before and after a leg needs it [s]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Walk:
    """The steps of one person along its path."""

    name: str
    space: LocomotionSpace
    style: int
    fps: float
    steps: FloatArray
    """What the body does in every frame, see `_feet_kernels`; (F, STEP_COLUMNS)."""
    corners: IntArray
    """Gait cycles that are blended; (F, 4)."""
    beyond: FloatArray
    """Factors by which velocities lie outside of the space, 1 for inside; (F,)."""

    def clip(self) -> Clip:
        """Return the motion."""
        space, frames = self.space, len(self.steps)
        styles, drops = np.full(frames, self.style, dtype=np.int64), np.zeros(frames)
        needs = posed(space, styles, self.steps, self.corners, drops).needs
        poses = posed(space, styles, self.steps, self.corners, eased(needs, self.fps))
        return self.clip_of(poses)

    def clip_of(self, poses: BodyPoses) -> Clip:
        """Return the motion of poses of this walk, one for each frame."""
        return body_clip(self.space, poses, self.fps, self.name)


def body_clip(space: LocomotionSpace, poses: BodyPoses, fps: float, name: str) -> Clip:
    """Return the motion of the poses of a body, one for each frame.

    Args:
        space: gaits of the body.
        poses: the poses.
        fps: rate [Hz].
        name: of the clip.
    """
    rig = space.rig
    contacts = np.zeros((len(poses.roots), len(rig.skeleton.contact_points)), dtype=bool)
    for column, flags in zip(rig.columns.ravel(), poses.down.T, strict=True):
        if column >= 0:
            contacts[:, column] = flags
    turns = poses.rotations.astype(np.float64)
    turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
    return Clip(rig.skeleton, poses.roots, turns, fps, name, contacts)


def walk_along(
    space: LocomotionSpace,
    paths: SteeredPaths,
    person: int,
    near: FloatArray,
    name: str,
    seed: int,
    lowered: FloatArray | None = None,
) -> Walk:
    """Return how a person walks along its path.

    Args:
        space: gaits by velocity.
        paths: paths of all people.
        person: the person.
        near: how near others are in every row of the paths, 0 to 1; (R,).
        name: of the person.
        seed: draws the style, the foot that it begins with and the habit of its arms, together with the name.
        lowered: how far arms are held down beside the thighs, 0 to 1, which needs least room; (R,).
    """
    rng = np.random.default_rng([seed, crc32(name.encode())])
    left, right = rng.uniform(*ARM_HABITS, 2)
    style, phase = int(rng.integers(len(space.styles))), float(rng.random())
    rows = slice(int(paths.rows[person]), int(paths.rows[person + 1]))
    path = np.ascontiguousarray(paths.path[rows])
    frames = len(path)
    steps, corners = np.zeros((frames, _feet_kernels.STEP_COLUMNS)), np.zeros((frames, 4), dtype=np.int64)
    beyond = np.ones(frames)
    _feet_kernels.follow_paths(
        np.array([0, frames], dtype=np.int64), np.array([style], dtype=np.int64), np.array([phase]), path,
        np.ascontiguousarray(paths.velocity[rows]), paths.fps, space.simplices, space.neighbors, space.transforms,
        space.hull, space.traits, space.rig.leg, steps, corners, beyond,
    )  # fmt: skip
    free = near[rows] if lowered is None else near[rows] * (1.0 - lowered[rows])
    down = 0.0 if lowered is None else lowered[rows]
    steps[:, _feet_kernels.STEP_LEFT_ARM] = float(left) * free - down
    steps[:, _feet_kernels.STEP_RIGHT_ARM] = float(right) * free - down
    return Walk(name=name, space=space, style=style, fps=paths.fps, steps=steps, corners=corners, beyond=beyond)


def eased(needs: FloatArray, fps: float) -> FloatArray:
    """Return how much lower a pelvis is (F,): nowhere less than legs need, and without jerks."""
    reach = max(round(2.0 * _DROP_S * fps), 1)
    widest = scipy.ndimage.maximum_filter1d(needs, 2 * reach + 1, mode="nearest")
    out: FloatArray = np.maximum(scipy.ndimage.gaussian_filter1d(widest, _DROP_S * fps, mode="nearest"), 0.0)
    return out
