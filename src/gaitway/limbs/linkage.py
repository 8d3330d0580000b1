"""Limbs of a rig in anatomical angles, whatever its axes: found by role, with the hinge taken from captures.

Rigs disagree about the axes of their joints. The arms of CMU's captures are turned by 30 degrees about their bones, and
ACCAD's elbows have three axes. A limb here measures its joints from the T-pose (`gaitway.motion.anatomy`), and its
elbow or knee about the axis on which captures bend it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, owned, read_only
from gaitway.core.errors import LimbError
from gaitway.core.suggest import did_you_mean
from gaitway.limbs import _joint_kernels
from gaitway.limbs._joint_kernels import (
    ANGLES,
    END_ELLIPSE,
    END_TWIST,
    END_X,
    END_Y,
    FLEX,
    FLEX_RANGE,
    FORE,
    PLANNED,
    ROLL,
    ROLL_RANGE,
    SWING_ELLIPSE,
    SWING_X,
    SWING_Y,
    TWIST,
    TWIST_RANGE,
    UPPER,
)
from gaitway.limbs.polygons import SwingPolygon, fit_polygon
from gaitway.motion.anatomy import t_pose, t_pose_positions
from gaitway.motion.clip import Clip
from gaitway.motion.ik import LEFT_ARM, LEFT_LEG, RIGHT_ARM, RIGHT_LEG, set_limb
from gaitway.motion.skeleton import Skeleton

ARMS, LEGS = ("left_arm", "right_arm"), ("left_leg", "right_leg")
LIMBS = (*ARMS, *LEGS)
"""Names of limbs."""
ELLIPSE, POLYGON = SHAPES = ("ellipse", "polygon")
"""Shapes of the limits of swings."""
_CHAINS = {"left_arm": LEFT_ARM, "right_arm": RIGHT_ARM, "left_leg": LEFT_LEG, "right_leg": RIGHT_LEG}
_LEAST_BEND, _CLEAR = 0.02, 8.0
"""Mean square of the bend below which captures do not show a hinge, and how far bends about it must outweigh others."""
_EDGE = 1.02
"""What is added when limits are widened to hold a posture, as a share."""

# Degrees, of the left side. Ellipses: centre x, centre y, radius x, radius y; ranges: low, high.
# Arms: x raises the arm, y brings it forward. Legs: x brings the leg inward, y backward. Ranges of healthy adults.
_ARM_LIMITS = ((-15, 27, 100, 105), (-100, 100), (-8, 150), (-110, 100), (0, 0, 72, 45))
_LEG_LIMITS = ((-20, -42, 62, 92), (-80, 60), (-8, 155), (-40, 60), (0, 0, 50, 65))


@dataclass(frozen=True, eq=False)
class LimbLimits:
    """Limits of a limb: swings lie in ellipses about a direction (spherical ellipses), twists and bends in ranges.

    A swing may have a spherical polygon, which counts instead of its ellipse.
    """

    rows: FloatArray
    """Swing ellipse, twist, bend, roll, end ellipse [rad]; (5, 4). Ellipses are centre x, y and radius x, y; ranges are
    low, high and two zeros."""
    swing: SwingPolygon | None = None
    """Polygon of the swing of shoulder or hip."""
    end: SwingPolygon | None = None
    """Polygon of the swing of wrist or ankle."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", owned(self.rows, "limits", (5, 4), error=LimbError))
        ellipses, ranges = self.rows[[SWING_ELLIPSE, END_ELLIPSE]], self.rows[TWIST_RANGE:END_ELLIPSE]
        if (ellipses[:, 2:] <= 0.0).any() or (ranges[:, 0] >= ranges[:, 1]).any():
            raise LimbError("limits of a limb need radii above 0, and a low end of each range below its high end")

    def hold(self, postures: FloatArray) -> BoolArray:
        """Return whether postures (N, 9) keep the limits; (N,)."""
        out = np.empty(len(postures))
        _joint_kernels.all_within(self.table, read_only(postures), out)
        return out > 0.0

    @cached_property
    def table(self) -> FloatArray:
        """What kernels read: the rows, with ellipses around polygons, and the wedges of these; (5 + 3 W, 4)."""
        rows, wedges = np.array(self.rows), [np.empty((0, 4))]
        for row, polygon in ((SWING_ELLIPSE, self.swing), (END_ELLIPSE, self.end)):
            if polygon is not None:
                rows[row] = polygon.ellipse()
                sides = polygon.wedges.reshape(-1, 3)
                wedges.append(np.column_stack([np.full(len(sides), float(row)), sides]))
        return read_only(np.concatenate([rows, *wedges]))

    def widened(self, postures: FloatArray) -> LimbLimits:
        """Return limits that are wide enough for postures (N, 9): what a motion does itself cannot be wrong."""
        rows = np.array(self.rows)
        for row, column in ((TWIST_RANGE, TWIST), (FLEX_RANGE, FLEX), (ROLL_RANGE, ROLL)):
            rows[row, 0] = min(rows[row, 0], float(postures[:, column].min()) - 1e-3)
            rows[row, 1] = max(rows[row, 1], float(postures[:, column].max()) + 1e-3)
        for row, columns in ((SWING_ELLIPSE, (SWING_X, SWING_Y)), (END_ELLIPSE, (END_X, END_Y))):
            away = (postures[:, columns] - rows[row, :2]) / rows[row, 2:]
            farthest = float(np.sqrt(np.sum(away**2, axis=1)).max())
            rows[row, 2:] *= max(1.0, _EDGE * farthest)
        polygons = (
            None if polygon is None else polygon.widened(postures[:, columns])
            for polygon, columns in ((self.swing, [SWING_X, SWING_Y]), (self.end, [END_X, END_Y]))
        )
        return LimbLimits(rows, *polygons)


@dataclass(frozen=True, eq=False)
class Limb:
    """One arm or leg of a skeleton; made by `find_limb` or `fit_limb`."""

    skeleton: Skeleton
    name: str
    """One of `LIMBS`."""
    joints: IntArray
    """Shoulder, elbow and wrist, or hip, knee and ankle; (3,)."""
    base: int
    """The joint that it hangs on."""
    lengths: FloatArray
    """Lengths of both bones [m]; (2,)."""
    turns: FloatArray
    """Joint-from-segment quaternions of base and segments; (4, 4)."""
    hinge: float
    """Turn of the hinge about the bone, away from the T-pose's lateral axis [rad]."""
    limits: LimbLimits
    fitted: bool = False
    """Whether captures showed the hinge."""
    tip: FloatArray = field(default_factory=lambda: np.zeros(3))
    """Far end of the last segment, in its frame [m]; (3,)."""

    def __post_init__(self) -> None:
        for name, shape, dtype in (("joints", (3,), np.int64), ("lengths", (2,), np.float64),
                                   ("turns", (4, 4), np.float64), ("tip", (3,), np.float64)):  # fmt: skip
            object.__setattr__(self, name, owned(getattr(self, name), name, shape, dtype, LimbError))

    def hanging(self, positions: FloatArray, world: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return where the limb begins [m] (F, 3) and the frames it hangs on (F, 3, 3), from `joint_transforms`."""
        frames = rotations.to_matrix(rotations.multiply(world[:, self.base], self.turns[0]))
        return np.ascontiguousarray(positions[:, self.joints[0]]), np.ascontiguousarray(frames)

    def segment_frames(self, world: FloatArray) -> FloatArray:
        """Return the frames of the three segments (F, 3, 3, 3) from world rotations of joints (F, J, 4)."""
        return rotations.to_matrix(rotations.multiply(world[:, self.joints], self.turns[1:]))

    def postures(self, clip: Clip) -> FloatArray:
        """Return the posture of the limb in every frame [rad]; (F, 9). Twists go on past half turns.

        Columns: swing x, swing y and twist of shoulder or hip; bend and roll of elbow or knee; swing x and y of wrist
        or ankle; then what anatomy does not have: sideward bend of elbow or knee, twist of wrist or ankle.
        """
        positions, world = clip.joint_transforms()
        out = np.empty((len(clip), ANGLES))
        _, bases = self.hanging(positions, world)
        frames = np.ascontiguousarray(self.segment_frames(world))
        _joint_kernels.angles_of(read_only(bases), read_only(frames), out)
        for column, middle in ((TWIST, self.limits.rows[TWIST_RANGE, :2]), (ROLL, self.limits.rows[ROLL_RANGE, :2])):
            out[:, column] = _near(np.unwrap(out[:, column]), float(middle.mean()))
        out[:, END_TWIST] = _near(np.unwrap(out[:, END_TWIST]), 0.0)
        return out

    def places(self, clip: Clip, postures: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the segment frames (F, 3, 3, 3) and joints [m] (F, 3, 3) that postures (F, 9) have on a clip."""
        starts, bases = self.hanging(*clip.joint_transforms())
        frames, points = np.empty((len(clip), 3, 3, 3)), np.empty((len(clip), 3, 3))
        _joint_kernels.frames_of(
            read_only(bases), read_only(starts), self.lengths, read_only(postures), frames, points
        )  # fmt: skip
        return frames, points

    def applied(self, clip: Clip, postures: FloatArray) -> Clip:
        """Return the clip with the limb in other postures (F, 9); all else, and every frame without a change, stays.

        Joints between those of the limb (roll bones) follow the one above.
        """
        if postures.shape != (len(clip), ANGLES):
            raise LimbError(f"postures of shape {postures.shape} do not fit clip '{clip.name}' of {len(clip)} frames")
        world = clip.joint_transforms()[1]
        frames, _ = self.places(clip, postures)
        wanted = rotations.multiply(rotations.from_matrix(frames), rotations.conjugate(self.turns[1:]))
        local = np.array(clip.rotations)
        changed = np.flatnonzero((np.abs(postures - self.postures(clip)) > 1e-12).any(axis=1))
        some = local[changed]
        set_limb(
            some, world[changed], clip.skeleton.parents.tolist(), self.joints.tolist(),
            [wanted[changed, k] for k in range(3)],
        )  # fmt: skip
        at = np.ix_(changed, self.joints)
        local[at] = rotations.normalize(some[:, self.joints])
        return replace(clip, rotations=local)


def find_limb(skeleton: Skeleton, name: str) -> Limb:
    """Return a limb of a rig from its roles alone; the hinge is the lateral axis of the T-pose.

    Raises:
        LimbError: if there is no limb of that name.
        SkeletonError: if the rig has no joints with its roles.
    """
    if name not in _CHAINS:
        raise LimbError(f"no limb '{name}'; there are {', '.join(LIMBS)}{did_you_mean(name, LIMBS)}")
    joints = skeleton.require(*_CHAINS[name])
    world, places = t_pose(skeleton), t_pose_positions(skeleton)
    base = int(skeleton.parents[joints[0]])
    if base < 0:
        raise LimbError(f"limb '{name}' of skeleton '{skeleton.name}' begins at the root, so it hangs on nothing")
    bones = [places[b] - places[a] for a, b in pairwise(joints)]
    lengths = np.array([float(np.linalg.norm(bone)) for bone in bones])
    if (lengths < 1e-3).any():
        raise LimbError(f"limb '{name}' of skeleton '{skeleton.name}' has a bone without length")
    toward = np.array([1.0 if name in ARMS else -1.0, 0.0, 0.0])  # elbows bend forward, knees backward
    axis = bones[0] / lengths[0]
    x = toward - axis * (axis @ toward)
    x /= np.linalg.norm(x)
    frame = rotations.from_matrix(np.stack([x, np.cross(axis, x), axis], axis=-1))
    turns = rotations.multiply(rotations.conjugate(world[[base, *joints]]), frame)
    limits = LimbLimits(_limit_rows(_ARM_LIMITS if name in ARMS else _LEG_LIMITS, name.startswith("right")))
    tip = rotations.rotate(rotations.conjugate(frame), _far_end(skeleton, joints[2], places) - places[joints[2]])
    return Limb(skeleton, name, np.array(joints), base, lengths, turns, 0.0, limits, tip=tip)


def fit_limb(skeleton: Skeleton, name: str, clips: Sequence[Clip]) -> Limb:
    """Return a limb of a rig with the hinge on which clips bend its elbow or knee.

    The directions of the lower bone, as seen from the upper one, lie in the plane across the hinge: an eigenproblem of
    two numbers. Clips that hardly bend the joint, or bend it in all directions, leave the hinge of `find_limb`.

    Args:
        skeleton: the rig.
        name: one of `LIMBS`.
        clips: motion on this rig.
    """
    limb = find_limb(skeleton, name)
    bends = [np.empty((0, 2))]
    for clip in clips:
        if len(clip.skeleton) != len(skeleton):
            raise LimbError(f"clip '{clip.name}' has {len(clip.skeleton)} joints, and the rig has {len(skeleton)}")
        frames = limb.segment_frames(clip.joint_transforms()[1])
        bends.append(np.einsum("fik,fi->fk", frames[:, UPPER], frames[:, FORE, :, 2])[:, :2])
    seen = np.concatenate(bends)
    if len(seen) == 0:
        return limb
    strengths, axes = np.linalg.eigh(seen.T @ seen / len(seen))
    if strengths[1] < _LEAST_BEND or strengths[1] < _CLEAR * strengths[0]:
        return limb
    ahead = axes[:, 1] * (1.0 if axes[:, 1] @ seen.mean(axis=0) >= 0.0 else -1.0)
    return turned(limb, math.atan2(ahead[1], ahead[0]))


def turned(limb: Limb, hinge: float) -> Limb:
    """Return the limb with its hinge turned about the bones by an angle [rad].

    Swings and rolls stay as they were. Twists are counted from the turned hinge, and their limits with them.
    """
    spin = rotations.from_axis_angle([0.0, 0.0, 1.0], hinge)
    turns, rows = np.array(limb.turns), np.array(limb.limits.rows)
    turns[1:3] = rotations.multiply(turns[1:3], spin)
    rows[TWIST_RANGE, :2] += hinge
    return replace(limb, turns=turns, hinge=limb.hinge + hinge, limits=replace(limb.limits, rows=rows), fitted=True)


def fit_limits(
    limb: Limb, clips: Sequence[Clip], share: float = 0.995, *, shape: str = ELLIPSE, corners: int = 16
) -> LimbLimits:
    """Return limits that hold a share of the frames of clips: those of one rig and its performers.

    Args:
        limb: the limb.
        clips: motion on its rig.
        share: share of the frames that each of the five limits holds.
        shape: of the limits of swings, "ellipse" or "polygon".
        corners: number of corners of a polygon.
    """
    if shape not in SHAPES:
        raise LimbError(f"no limits of shape '{shape}'; there are {' and '.join(SHAPES)}{did_you_mean(shape, SHAPES)}")
    if not clips:
        raise LimbError(f"limits of '{limb.name}' cannot be fitted without clips")
    if not 0.0 < share <= 1.0:
        raise LimbError(f"share {share:g} of the frames must be above 0 and at most 1")
    q, rows = np.concatenate([limb.postures(clip) for clip in clips]), np.zeros((5, 4))
    edges = (0.5 * (1.0 - share), 0.5 * (1.0 + share))
    for row, column in ((TWIST_RANGE, TWIST), (FLEX_RANGE, FLEX), (ROLL_RANGE, ROLL)):
        rows[row, :2] = np.quantile(q[:, column], edges) + np.array([-1e-3, 1e-3])
    for row, columns in ((SWING_ELLIPSE, (SWING_X, SWING_Y)), (END_ELLIPSE, (END_X, END_Y))):
        low, high = np.quantile(q[:, columns], edges, axis=0)
        middle, half = 0.5 * (low + high), np.maximum(0.5 * (high - low), 1e-2)
        reach = np.sqrt(np.sum(((q[:, columns] - middle) / half) ** 2, axis=1))
        rows[row] = np.concatenate([middle, half * max(float(np.quantile(reach, share)), 1e-3)])
    if shape == ELLIPSE:
        return LimbLimits(rows)
    swings = (np.ascontiguousarray(q[:, columns]) for columns in ([SWING_X, SWING_Y], [END_X, END_Y]))
    return LimbLimits(rows, *(fit_polygon(one, share, corners) for one in swings))


def limb_subtree(limb: Limb) -> BoolArray:
    """Return which joints move with the limb; (J,)."""
    inside = np.zeros(len(limb.skeleton), dtype=bool)
    inside[limb.joints[0]] = True
    for joint in range(int(limb.joints[0]) + 1, len(limb.skeleton)):
        inside[joint] = inside[limb.skeleton.parents[joint]]
    return inside


def _near(angles: FloatArray, middle: float) -> FloatArray:
    """Return continuous angles [rad] (F,) moved by whole turns, so that their median is nearest to `middle`."""
    return np.asarray(angles - 2.0 * np.pi * np.round((float(np.median(angles)) - middle) / (2.0 * np.pi)))


def _limit_rows(degrees: Sequence[Sequence[float]], mirrored: bool) -> FloatArray:
    rows = np.zeros((5, 4))
    for row, values in enumerate(degrees):
        rows[row, : len(values)] = np.radians(values)
    if mirrored:
        rows[[SWING_ELLIPSE, END_ELLIPSE], 0] *= -1.0
        for row in (TWIST_RANGE, ROLL_RANGE):
            rows[row, :2] = -rows[row, 1::-1]
    return rows


def _far_end(skeleton: Skeleton, joint: int, places: FloatArray) -> FloatArray:
    """Return the farthest place of the joints and tips that hang on a joint, in the T-pose [m]; (3,)."""
    world = t_pose(skeleton)
    inside, ends = {joint}, [places[joint]]
    for child in range(joint + 1, len(skeleton)):
        if int(skeleton.parents[child]) in inside:
            inside.add(child)
            ends.append(places[child])
    ends += [places[j] + rotations.rotate(world[j], skeleton.tips[j]) for j in inside if j in skeleton.tips]
    away = np.linalg.norm(np.array(ends) - places[joint], axis=1)
    return np.asarray(ends[int(np.argmax(np.round(away, 9)))])


assert PLANNED == FLEX + 4  # the planned angles come first
