"""Ways to stand and wait: where the hands are, and how fast they come there.

Places of wrists are given on a person who faces ahead, in shares of its own body: forward and up from the middle of the
hips in lengths of the trunk (hips to shoulders), and sideways in half widths of the shoulders. Any rig of a person can
take them. Elbows point where they do when arms hang, unless told otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.motion.kinematics import forward_kinematics
from gaitway.performing.upper_body.rig import UpperBody

Place = tuple[float, float, float]
_HAND = 0.75
"""Length of the hand, as a share of the forearm."""
_THICK = 0.10
"""What a reach includes besides: thickness of arms, and sway of the trunk [m]."""

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
        vectors = self.hanging + weight[:, None, None] * (self.placed - self.hanging)
        return rotations.multiply(
            rotations.conjugate(rotations.from_rotation_vector(self.hanging)), rotations.from_rotation_vector(vectors)
        )


def taken(body: UpperBody, way: StandingWay, pose: FloatArray) -> TakenWay:
    """Return how a body takes a way to stand, beginning in a pose of standing.

    Args:
        body: the upper body; without arms nothing turns.
        way: the way.
        pose: local rotations of the pose, which may face anywhere; (J, 4).
    """
    skeleton, local = body.skeleton, np.array(pose)
    rows, hanging, placed = list[int](), list[FloatArray](), list[FloatArray]()
    ahead = rotations.rotate(local[0], skeleton.forward)
    local[0] = rotations.multiply(rotations.from_yaw(-np.arctan2(ahead[1], ahead[0])), local[0])
    positions, world = (np.array(a[0]) for a in forward_kinematics(skeleton, np.zeros((1, 3)), local[None]))
    if "left_shoulder" not in body.roles:
        return TakenWay(way, np.empty(0, np.int64), np.empty((0, 3)), np.empty((0, 3)), 0.0)
    roles = skeleton.roles
    shoulders = np.array([positions[roles["left_shoulder"]], positions[roles["right_shoulder"]]])
    hips = 0.5 * (positions[roles["left_hip"]] + positions[roles["right_hip"]])
    trunk = float(shoulders[:, 2].mean() - hips[2])
    half = 0.5 * float(np.hypot(*(shoulders[0] - shoulders[1])[:2]))
    middle = 0.5 * (hips[:2] + shoulders[:, :2].mean(axis=0))
    for side, sign, place, elbow in (
        ("left", 1.0, way.left, way.left_elbow), ("right", -1.0, way.right, way.right_elbow),
    ):  # fmt: skip
        upper, lower, hand = (roles[f"{side}_{part}"] for part in ("shoulder", "elbow", "wrist"))
        points = positions[[upper, lower, hand]]
        if place is not None:
            aside = middle[1] + sign * place[1] * half
            target = np.array([middle[0] + place[0] * trunk, aside, hips[2] + place[2] * trunk])
            points = _bent(points, target, np.array([elbow[0], sign * elbow[1], elbow[2]]))
            both = [body.column(f"{side}_shoulder"), body.column(f"{side}_elbow")]
            first, second = _hinged(points, sign, body.axes[both])
            for row, joint, above, new in (
                (both[0], upper, world[skeleton.parents[upper]], first), (both[1], lower, first, second),
            ):  # fmt: skip
                rest = rotations.conjugate(body.rest[row])
                wanted = rotations.multiply(rotations.conjugate(above), new)
                rows.append(row)
                hanging.append(rotations.to_rotation_vector(rotations.multiply(rest, local[joint])))
                placed.append(rotations.to_rotation_vector(rotations.multiply(rest, wanted)))
    own = TakenWay(way, np.array(rows, np.int64), np.reshape(hanging, (-1, 3)), np.reshape(placed, (-1, 3)), 0.0)
    return replace(own, reach=_reach(body, own, local))


def _reach(body: UpperBody, own: TakenWay, local: FloatArray) -> float:
    """Return how far arms and hands reach from the root on their way from hanging to their places [m]."""
    skeleton, weights = body.skeleton, np.linspace(0.0, 1.0, 7)
    poses = np.repeat(local[None], len(weights), axis=0)
    joints = body.joints[own.rows]
    poses[:, joints] = rotations.multiply(poses[:, joints], own.turns(weights))
    positions, _ = forward_kinematics(skeleton, np.zeros((len(weights), 3)), poses)
    points = []
    for side in ("left", "right"):
        elbow, wrist = (positions[:, skeleton.roles[f"{side}_{part}"]] for part in ("elbow", "wrist"))
        points += [elbow, wrist, wrist + _HAND * (wrist - elbow)]
    return float(np.hypot(*np.concatenate(points)[:, :2].T).max()) + _THICK


def _bent(points: FloatArray, target: FloatArray, pole: FloatArray) -> FloatArray:
    """Return shoulder, elbow and wrist of an arm with its wrist at a target and its elbow toward a pole; (3, 3)."""
    shoulder = points[0]
    upper, lower = (float(np.linalg.norm(points[k + 1] - points[k])) for k in range(2))
    away = target - shoulder
    nearest = np.sqrt(upper**2 + lower**2 - 2.0 * upper * lower * np.cos(np.pi - _MOST_BENT))
    far = float(np.clip(np.linalg.norm(away), nearest, 0.985 * (upper + lower)))
    along = away / max(float(np.linalg.norm(away)), 1e-9)
    aside = pole - along * float(pole @ along)
    aside /= max(float(np.linalg.norm(aside)), 1e-9)
    cosine = (upper**2 + far**2 - lower**2) / (2.0 * upper * far)
    elbow = shoulder + upper * (cosine * along + np.sqrt(max(1.0 - cosine**2, 0.0)) * aside)
    return np.array([shoulder, elbow, shoulder + far * along])


def _hinged(points: FloatArray, sign: float, axes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the world rotations of upper arm and forearm whose elbow bends about its hinge alone; (4,) each.

    Args:
        points: shoulder, elbow and wrist; (3, 3).
        sign: 1 for the left arm, -1 for the right one.
        axes: forward, left and up in the frames of both joints; (2, 3, 3).
    """
    bones = np.diff(points, axis=0)
    bones /= np.linalg.norm(bones, axis=1, keepdims=True)
    bend = bones[1] - bones[0] * float(bones[1] @ bones[0])
    bend /= max(float(np.linalg.norm(bend)), 1e-9)
    up = rotations.cross(bend, sign * bones[0])
    out = []
    for bone, own in zip(bones, axes, strict=True):
        left = sign * bone
        world = np.stack([rotations.cross(left, up), left, up], axis=-1)
        out.append(rotations.from_matrix(world @ own))
    return out[0], out[1]
