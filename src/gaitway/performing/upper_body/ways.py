"""Ways to stand and wait: where the hands are, and how fast they come there.

Places of wrists are given on a person who faces ahead, in shares of its own body: forward and up from the middle of the
hips in lengths of the trunk (hips to shoulders), and sideways in half widths of the shoulders. Any rig of a person can
take them. Elbows point where they do when arms hang, unless told otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.skeleton import Skeleton
from gaitway.performing.upper_body.rig import UpperBody

Place = tuple[float, float, float]
_HAND = 0.75
"""Length of the hand, as a share of the forearm."""
_THICK = 0.10
"""What a reach includes besides: thickness of arms, and sway of the trunk [m]."""

_SIDE_NAMES = ("left", "right")
_MOST_BENT = np.radians(122.0)
"""Greatest angle of an elbow [rad]."""


@dataclass(frozen=True)
class StandingWay:
    """One way to stand."""

    name: str
    left: Place | None = None
    """Place of the left wrist: forward, outward, up; None for an arm that hangs."""
    right: Place | None = None
    """Place of the right wrist, outward to the right."""
    left_elbow: Place = (-0.4, 1.0, 0.0)
    """Direction in which the left elbow points: forward, outward, up."""
    right_elbow: Place = (-0.4, 1.0, 0.0)
    longest: float = 14.0
    """Longest time for which it is held [s]."""
    looks_down: float = 0.0
    """Angle by which the head is bowed [deg]."""
    share: float = 1.0
    """How often it is taken, beside the others."""

    def mirrored(self) -> StandingWay:
        """Return the same with left and right exchanged."""
        return StandingWay(
            f"{self.name}, other side", self.right, self.left, self.right_elbow, self.left_elbow, self.longest,
            self.looks_down, self.share,
        )  # fmt: skip


_SIDES = (-0.2, 1.0, -0.3)
_ONE_SIDED = (
    StandingWay("hand on the hip", left=(0.02, 1.12, 0.20)),
    StandingWay("hand in a pocket", left=(0.14, 1.04, 0.02), left_elbow=(-1.0, 0.5, 0.0), share=1.5),
    StandingWay("one arm held by the other hand", left=(0.36, -0.32, 0.42), left_elbow=(0.2, 1.0, -0.6)),
    StandingWay(
        "hand at the chin", left=(0.42, 0.22, 0.98), right=(0.36, -0.30, 0.44), left_elbow=(0.5, 0.6, -1.0),
        right_elbow=(0.2, 1.0, -0.6), longest=9.0, looks_down=4.0, share=0.6,
    ),
    StandingWay(
        "hand at the neck", left=(0.10, 0.55, 1.18), left_elbow=(0.6, 1.0, 0.2), longest=2.5, looks_down=6.0, share=0.5
    ),
    StandingWay(
        "look at the watch", left=(0.52, 0.15, 0.60), left_elbow=(-0.2, 1.0, -0.6), longest=2.0, looks_down=22.0,
        share=0.6,
    ),
    StandingWay(
        "look at the telephone", left=(0.55, 0.35, 0.66), left_elbow=(-0.4, 0.6, -0.8), longest=12.0, looks_down=24.0,
        share=0.8,
    ),
    StandingWay("hand on a strap", left=(0.42, 0.62, 0.78), left_elbow=(-0.2, 0.6, -1.0), share=0.7),
)  # fmt: skip
WAYS = (
    StandingWay("arms hang", share=1.5),
    StandingWay("arms akimbo", left=(0.02, 1.12, 0.20), right=(0.02, 1.12, 0.20)),
    StandingWay(
        "arms crossed", left=(0.42, -0.42, 0.50), right=(0.36, -0.50, 0.58), left_elbow=(0.1, 1.0, -0.8),
        right_elbow=(0.1, 1.0, -0.8), share=1.4,
    ),
    StandingWay(
        "hands folded in front", left=(0.34, 0.16, 0.06), right=(0.37, 0.12, 0.07), left_elbow=_SIDES,
        right_elbow=_SIDES, share=1.4,
    ),
    StandingWay(
        "hands behind the back", left=(-0.26, 0.30, 0.04), right=(-0.29, 0.26, 0.05), left_elbow=(-0.5, 1.0, 0.0),
        right_elbow=(-0.5, 1.0, 0.0), share=1.2,
    ),
    StandingWay(
        "hands in the pockets", left=(0.14, 1.04, 0.02), right=(0.14, 1.04, 0.02), left_elbow=(-1.0, 0.5, 0.0),
        right_elbow=(-1.0, 0.5, 0.0), share=1.5,
    ),
    *_ONE_SIDED,
    *(way.mirrored() for way in _ONE_SIDED),
)  # fmt: skip
"""All ways to stand."""


@dataclass(frozen=True, eq=False)
class TakenWay:
    """A way to stand as one body takes it."""

    way: StandingWay
    rows: IntArray
    """Joints of arms that leave their places, as rows of `UpperBody.roles`; (A,)."""
    hanging: FloatArray
    """Their turns from the T-pose while arms hang, as rotation vectors; (A, 3)."""
    placed: FloatArray
    """The same when the way is taken. Vectors in between bend joints as joints bend; (A, 3)."""
    reach: float
    """How far arms and hands reach from the root, along the floor, also on their way to their places [m]."""

    def turns(self, weight: FloatArray) -> FloatArray:
        """Return the turns of the joints in their own frames for weights between 0 and 1 (F,); (F, A, 4)."""
        return _turns(self.hanging, self.placed, weight[:, None, None])


def taken(body: UpperBody, ways: Sequence[StandingWay], pose: FloatArray) -> list[TakenWay]:
    """Return how a body takes ways to stand, beginning in a pose of standing; one for each way, found all at once.

    Args:
        body: the upper body; without arms nothing turns.
        ways: the ways.
        pose: local rotations of the pose, which may face anywhere; (J, 4).
    """
    if "left_shoulder" not in body.roles:
        return [TakenWay(way, np.empty(0, np.int64), np.empty((0, 3)), np.empty((0, 3)), 0.0) for way in ways]
    skeleton, local = body.skeleton, np.array(pose)
    faced = rotations.rotate(local[0], skeleton.forward)
    local[0] = rotations.multiply(rotations.from_yaw(-np.arctan2(faced[1], faced[0])), local[0])
    positions, world = (a[0] for a in forward_kinematics(skeleton, np.zeros((1, 3)), local[None]))
    roles = skeleton.roles
    shoulders = positions[[roles[f"{side}_shoulder"] for side in _SIDE_NAMES]]
    hips = 0.5 * (positions[roles["left_hip"]] + positions[roles["right_hip"]])
    trunk = float(shoulders[:, 2].mean() - hips[2])
    half = 0.5 * float(np.hypot(*(shoulders[0] - shoulders[1])[:2]))
    middle = 0.5 * (hips[:2] + shoulders[:, :2].mean(axis=0))
    # an arm that leaves its place: the way that it belongs to, its side, where its wrist goes, and where its elbow
    arms = [
        (k, side, place, elbow) for k, way in enumerate(ways)
        for side, place, elbow in ((0, way.left, way.left_elbow), (1, way.right, way.right_elbow)) if place is not None
    ]  # fmt: skip
    owners, sides = (np.array([arm[k] for arm in arms], dtype=np.int64) for k in (0, 1))
    signs: FloatArray = np.where(sides == 0, 1.0, -1.0)
    ahead, aside, up = np.array([arm[2] for arm in arms]).reshape(-1, 3).T
    targets = np.stack([middle[0] + ahead * trunk, middle[1] + signs * aside * half, hips[2] + up * trunk], axis=-1)
    poles = np.array([arm[3] for arm in arms]).reshape(-1, 3)
    poles[:, 1] *= signs
    chains = np.array([[roles[f"{side}_{part}"] for part in ("shoulder", "elbow", "wrist")] for side in _SIDE_NAMES])
    both = np.array([[body.column(f"{side}_{part}") for part in ("shoulder", "elbow")] for side in _SIDE_NAMES])
    rows, joints = both[sides], chains[sides, :2]
    first, second = _hinged(_bent(positions[chains[sides]], targets, poles), signs, body.axes[rows])
    above = np.stack([world[skeleton.parents[joints[:, 0]]], first], axis=1)
    wanted = rotations.multiply(rotations.conjugate(above), np.stack([first, second], axis=1))
    rest = rotations.conjugate(body.rest[rows])
    hanging = rotations.to_rotation_vector(rotations.multiply(rest, local[joints]))
    placed = rotations.to_rotation_vector(rotations.multiply(rest, wanted))
    weights = np.linspace(0.0, 1.0, 7)
    poses = np.tile(local, (len(ways), len(weights), 1, 1))
    turns = _turns(hanging[:, None], placed[:, None], weights[:, None, None])  # arms by weights by joints
    turned = rotations.multiply(local[joints][:, None], turns)
    for arm, owner in enumerate(owners.tolist()):
        poses[owner][:, joints[arm]] = turned[arm]
    out = []
    for k, (way, reach) in enumerate(zip(ways, _reaches(skeleton, poses).tolist(), strict=True)):
        own = owners == k
        vectors = hanging[own].reshape(-1, 3), placed[own].reshape(-1, 3)
        out.append(TakenWay(way, rows[own].reshape(-1), *vectors, reach))
    return out


def _turns(hanging: FloatArray, placed: FloatArray, weights: FloatArray) -> FloatArray:
    """Return turns of joints from where they hang toward their places, by weights from 0 to 1; (..., 4)."""
    back = rotations.conjugate(rotations.from_rotation_vector(hanging))
    return rotations.multiply(back, rotations.from_rotation_vector(hanging + weights * (placed - hanging)))


def _reaches(skeleton: Skeleton, poses: FloatArray) -> FloatArray:
    """Return how far arms and hands reach from the root in some poses of each of W ways (W, P, J, 4) [m]; (W,)."""
    positions, _ = forward_kinematics(skeleton, np.zeros((*poses.shape[:2], 3)), poses)
    points = []
    for side in _SIDE_NAMES:
        elbow, wrist = (positions[..., skeleton.roles[f"{side}_{part}"], :2] for part in ("elbow", "wrist"))
        points += [elbow, wrist, wrist + _HAND * (wrist - elbow)]
    away = np.stack(points, axis=-2)
    return np.asarray(np.hypot(away[..., 0], away[..., 1]).max(axis=(1, 2)) + _THICK)


def _bent(points: FloatArray, targets: FloatArray, poles: FloatArray) -> FloatArray:
    """Return shoulders, elbows and wrists of arms (A, 3, 3) with wrists at targets and elbows toward poles (A, 3)."""
    shoulders = points[:, 0]
    upper, lower = np.linalg.norm(np.diff(points, axis=1), axis=-1)[..., None].transpose(1, 0, 2)
    away = targets - shoulders
    distance = np.linalg.norm(away, axis=-1, keepdims=True)
    nearest = np.sqrt(upper**2 + lower**2 - 2.0 * upper * lower * np.cos(np.pi - _MOST_BENT))
    far = np.clip(distance, nearest, 0.985 * (upper + lower))
    along = away / np.maximum(distance, 1e-9)
    aside = poles - along * np.sum(poles * along, axis=-1, keepdims=True)
    aside /= np.maximum(np.linalg.norm(aside, axis=-1, keepdims=True), 1e-9)
    cosine = (upper**2 + far**2 - lower**2) / (2.0 * upper * far)
    elbows = shoulders + upper * (cosine * along + np.sqrt(np.maximum(1.0 - cosine**2, 0.0)) * aside)
    return np.stack([shoulders, elbows, shoulders + far * along], axis=1)


def _hinged(points: FloatArray, signs: FloatArray, axes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the world rotations of upper arms and forearms whose elbows bend about their hinges alone; (A, 4) each.

    Args:
        points: shoulders, elbows and wrists; (A, 3, 3).
        signs: 1 for a left arm, -1 for a right one; (A,).
        axes: forward, left and up in the frames of both joints; (A, 2, 3, 3).
    """
    bones = np.diff(points, axis=1)
    bones /= np.linalg.norm(bones, axis=-1, keepdims=True)
    bend = bones[:, 1] - bones[:, 0] * np.sum(bones[:, 1] * bones[:, 0], axis=-1, keepdims=True)
    bend /= np.maximum(np.linalg.norm(bend, axis=-1, keepdims=True), 1e-9)
    left = signs[:, None, None] * bones
    up = np.broadcast_to(rotations.cross(bend, left[:, 0])[:, None], left.shape)
    world = np.stack([rotations.cross(left, up), left, up], axis=-1)
    both = rotations.from_matrix(world @ axes)
    return both[:, 0], both[:, 1]
