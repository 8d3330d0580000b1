"""How people of a crowd differ (build, clothes and hair), and the frame that a person's body is modelled on.

The frame has the pose that the body is modelled in, its measures, and which joints move what. Lengths come from the
joints. Girths come from the length of the legs (the one measure that every rig has right), and the trunk's widths also
from how far apart the hips and the shoulders are, so that a rig whose trunk is too short or whose shoulders are narrow
still looks like a person. All numbers here and in the modules that build on it are metres for a leg of 0.85 m.

The body is modelled with arms half lowered: from there to hanging and to overhead is about as far, so shoulders keep
their shape both ways. (`pieces.bind` carries the result back into the rest pose.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.anatomy import leg_length, t_pose
from gaitway.motion.kinematics import forward_kinematics, local_rotations
from gaitway.motion.skeleton import Skeleton

SLEEVES = ("long", "short", "none")
LEGS = ("trousers", "shorts", "skirt")
HEMS = ("tucked", "shirt", "jacket")
HAIRS = ("short", "crop", "bob", "long", "tail", "bald")


@dataclass(frozen=True)
class PersonLook:
    """One person's build and clothes; plain numbers are shares of the average person's."""

    girth: float = 1.0
    """Thickness of everything but the head."""
    shoulders: float = 1.0
    """Width of the chest."""
    hips: float = 1.0
    """Width of the pelvis and thickness of the thighs."""
    belly: float = 0.0
    """How far it stands out; 0..1."""
    bust: float = 0.0
    """How far it stands out; 0..1."""
    sleeves: str = "long"
    """One of `SLEEVES`."""
    legs: str = "trousers"
    """One of `LEGS`."""
    hem: str = "shirt"
    """One of `HEMS`: where the top ends."""
    hair: str = "short"
    """One of `HAIRS`."""


_BUILDS = (
    # girth, shoulders, hips, belly, bust
    (1.00, 1.02, 0.98, 0.10, 0.0),
    (0.93, 0.94, 1.03, 0.00, 0.8),
    (1.10, 1.06, 1.00, 0.55, 0.0),
    (0.90, 0.98, 0.96, 0.00, 0.0),
    (1.05, 0.97, 1.09, 0.30, 1.0),
    (1.04, 1.09, 0.97, 0.00, 0.0),
    (0.97, 0.95, 1.05, 0.10, 0.9),
    (1.18, 1.05, 1.08, 0.95, 0.0),
)
_OUTFITS = (
    # sleeves, legs, hem
    ("long", "trousers", "jacket"),
    ("short", "trousers", "tucked"),
    ("short", "shorts", "shirt"),
    ("long", "trousers", "shirt"),
    ("short", "trousers", "shirt"),
    ("long", "skirt", "tucked"),
    ("none", "skirt", "tucked"),
)
_WITH_SKIRTS, _WITHOUT = len(_OUTFITS), len(_OUTFITS) - 2
LOOKS = 24
"""Number of different looks that seeds lead to."""


def person_look(seed: int) -> PersonLook:
    """Return the look of one person of a crowd. Neighbours in number differ; looks repeat after `LOOKS` numbers."""
    number = seed % LOOKS
    rng = np.random.default_rng([34, number])
    girth, shoulders, hips, belly, bust = _BUILDS[(3 * number + number // len(_BUILDS)) % len(_BUILDS)]
    feminine = bust > 0.0
    sleeves, legs, hem = _OUTFITS[rng.integers(_WITH_SKIRTS if feminine else _WITHOUT)]
    hairs, shares = (
        (("bob", "long", "tail", "short"), (0.3, 0.3, 0.25, 0.15))
        if feminine
        else (("short", "crop", "bald", "bob"), (0.55, 0.28, 0.12, 0.05))
    )
    return PersonLook(
        girth=girth,
        shoulders=shoulders,
        hips=hips,
        belly=belly,
        bust=bust,
        sleeves=sleeves,
        legs=legs,
        hem=hem,
        hair=str(rng.choice(hairs, p=shares)),
    )


_LEG = 0.85
_LOWERED = np.radians(48.0)
"""Angle of the model's arms below level [rad]."""
SIDES = (("left", 1.0), ("right", -1.0))


def smooth(values: npt.ArrayLike, low: float, high: float) -> FloatArray:
    """Return 0 below `low`, 1 above `high`, and a smooth rise between."""
    t = np.clip((np.asarray(values, dtype=np.float64) - low) / (high - low), 0.0, 1.0)
    return np.asarray(t * t * (3.0 - 2.0 * t))


def unit(vector: FloatArray) -> FloatArray:
    """Return the vector (3,) at length 1."""
    return vector / max(float(np.linalg.norm(vector)), 1e-9)


def model_pose(skeleton: Skeleton) -> tuple[FloatArray, FloatArray]:
    """Return world positions [m] (J, 3), root at 0, and rotations (J, 4) of the pose that people are modelled in."""
    turns = t_pose(skeleton)
    for side, sign in SIDES:
        lowered = rotations.from_axis_angle([1.0, 0.0, 0.0], -sign * _LOWERED)
        below = {skeleton.roles[f"{side}_shoulder"]}
        for joint, parent in enumerate(skeleton.parents):
            if joint in below or int(parent) in below:
                below.add(joint)
                turns[joint] = rotations.multiply(lowered, turns[joint])
    return forward_kinematics(skeleton, np.zeros(3), local_rotations(skeleton, turns))[0], turns


@dataclass(frozen=True, eq=False)
class BodyFrame:
    """The model's joints; the body faces +X and stands upright."""

    skeleton: Skeleton
    look: PersonLook
    coarse: bool = False
    forward = np.array([1.0, 0.0, 0.0])
    left = np.array([0.0, 1.0, 0.0])
    up = np.array([0.0, 0.0, 1.0])

    @cached_property
    def pose(self) -> tuple[FloatArray, FloatArray]:
        """Result of `model_pose`."""
        return model_pose(self.skeleton)

    @property
    def places(self) -> FloatArray:
        """World positions of the joints [m]; (J, 3)."""
        return self.pose[0]

    @property
    def turns(self) -> FloatArray:
        """World rotations of the joints; (J, 4)."""
        return self.pose[1]

    @cached_property
    def unit(self) -> float:
        """Lengths are this many times those of a person with a leg of 0.85 m."""
        return leg_length(self.skeleton) / _LEG

    def at(self, role: str) -> FloatArray:
        """Return the position of a role's joint [m]; (3,)."""
        here: FloatArray = self.places[self.skeleton.roles[role]]
        return here

    def middle(self, role: str) -> FloatArray:
        """Return the middle between the left and the right joint of a role [m]; (3,)."""
        return 0.5 * (self.at(f"left_{role}") + self.at(f"right_{role}"))

    def clavicle(self, side: str) -> int:
        """Return the joint that carries an arm."""
        roles = self.skeleton.roles
        return roles.get(f"{side}_clavicle", int(self.skeleton.parents[roles[f"{side}_shoulder"]]))

    @property
    def neck_joint(self) -> int:
        """The joint that carries the neck."""
        return self.skeleton.roles.get("neck", int(self.skeleton.parents[self.skeleton.roles["head"]]))

    def only(self, joint: int) -> FloatArray:
        """Return weights (J,) of a point that follows one joint."""
        weights = np.zeros(len(self.skeleton))
        weights[joint] = 1.0
        return weights

    @cached_property
    def _spine(self) -> tuple[list[int], FloatArray]:
        """Joints from the hips up to where the arms branch off, and the heights that follow each alone [m]."""
        roles, parents = self.skeleton.roles, self.skeleton.parents
        chain = [roles.get("chest", roles["hips"])]
        while chain[-1] != roles["hips"] and parents[chain[-1]] >= 0:
            chain.append(int(parents[chain[-1]]))
        chain = chain[::-1]
        levels = self.places[chain, 2]
        keep = [i for i in range(len(chain)) if i == len(chain) - 1 or levels[i + 1] > levels[i] + 0.02]
        levels = levels[keep]
        tops = np.append(levels[1:], max(float(self.middle("shoulder")[2]), float(levels[-1]) + 0.02))
        return [chain[i] for i in keep], 0.5 * (levels + tops)

    def trunk_weights(self, points: FloatArray) -> FloatArray:
        """Return shares of all joints (N, J) in moving points of the trunk and neck (N, 3), without arms and legs."""
        out = np.zeros((len(points), len(self.skeleton)))
        joints, middles = self._spine
        heights = points[:, 2]
        if len(joints) == 1:
            out[:, joints[0]] = 1.0
        else:
            upper = np.clip(np.searchsorted(middles, heights), 1, len(joints) - 1)
            share = np.clip((heights - middles[upper - 1]) / (middles[upper] - middles[upper - 1]), 0.0, 1.0)
            share = share * share * (3.0 - 2.0 * share)
            rows = np.arange(len(points))
            out[rows, np.array(joints)[upper - 1]] = 1.0 - share
            out[rows, np.array(joints)[upper]] += share
        level, size = float(self.middle("shoulder")[2]), self.unit
        for side, sign in SIDES:
            reach = sign * points[:, 1] / max(abs(float(self.at(f"{side}_shoulder")[1])), 1e-6)
            share = 0.85 * smooth(reach, 0.25, 0.85) * smooth(heights - level, -0.12 * size, 0.0)
            out = self._mixed(out, self.clavicle(side), share)
        near = np.exp(-((np.abs(points[:, 1]) / (0.10 * size)) ** 2))
        neck = smooth(heights - level, 0.045 * size, 0.11 * size) * near
        return self._mixed(out, self.neck_joint, neck)

    def thigh_share(self, points: FloatArray, side: str, sign: float) -> FloatArray:
        """Return the share (N,) of a thigh in moving points (N, 3) about its hip: below a slanted plane through it."""
        away, size = points - self.at(f"{side}_hip"), self.unit
        # the plane does not rise any further outside the hip joint: hems of stout people stay with the pelvis
        out = np.minimum(sign * away[:, 1], 0.05 * size)
        below = (0.40 * out - away[:, 2]) / np.hypot(1.0, 0.40)
        # the groin folds in a sharp line, the seat stretches over a wide one
        back = smooth(-points[:, 0], -0.02 * size, 0.10 * size)
        wide = (0.050 + 0.030 * back) * size
        share = np.clip((below + wide) / (2.0 * wide), 0.0, 1.0)
        return np.asarray(share * share * (3.0 - 2.0 * share))

    def hip_weights(self, points: FloatArray) -> FloatArray:
        """Return shares of all joints (N, J) in moving points between the waist and the legs (N, 3)."""
        out, reach = self.trunk_weights(points), 0.05 * self.unit
        shares = [
            self.thigh_share(points, side, sign) * smooth(sign * points[:, 1], -reach, reach) for side, sign in SIDES
        ]
        out *= np.maximum(1.0 - shares[0] - shares[1], 0.0)[:, None]
        for (side, _), share in zip(SIDES, shares, strict=True):
            out[:, self.skeleton.roles[f"{side}_hip"]] += share
        return np.asarray(out / out.sum(axis=1, keepdims=True))

    def arm_share(self, points: FloatArray, side: str, sign: float) -> FloatArray:
        """Return the share (N,) of an upper arm in moving points about its shoulder (N, 3)."""
        away, size = points - self.at(f"{side}_shoulder"), self.unit
        out = away @ np.array([0.0, 0.966 * sign, -0.26])
        # flanks lie as far out as the armpit but do not belong to the arm
        gate = smooth(away[:, 2], -0.13 * size, -0.06 * size)
        return smooth(out, -0.060 * size, 0.080 * size) * gate

    def body_weights(self, points: FloatArray) -> FloatArray:
        """Return shares of all joints (N, J) in moving points (N, 3) of the trunk with its openings."""
        out = self.hip_weights(points)
        for side, sign in SIDES:
            out = self._mixed(out, self.skeleton.roles[f"{side}_shoulder"], self.arm_share(points, side, sign))
        return out

    def limb_weights(
        self, points: FloatArray, share: float, chain: tuple[str, str, str], widths: tuple[float, float]
    ) -> FloatArray:
        """Return shares of all joints (N, J) in moving points of a ring around an arm or a leg.

        Args:
            points: points [m]; (N, 3).
            share: position of the ring between the limb's first joint (0) and the second (1).
            chain: roles of the limb's joints.
            widths: half the length over which the second and the third joint take over from the one before [m].
        """
        roles, size = self.skeleton.roles, self.unit
        if chain[0].endswith("hip"):
            side = chain[0].removesuffix("_hip")
            taken = self.thigh_share(points, side, 1.0 if side == "left" else -1.0)
        else:
            taken = np.full(len(points), smooth(share, -0.25, 0.36))
        out = self._mixed(self.trunk_weights(points), roles[chain[0]], taken)
        for k in (1, 2):
            ahead = unit(self.at(chain[2]) - self.at(chain[k - 1]))
            along = (points - self.at(chain[k])) @ ahead
            if k == 1:
                along = along - self._tip(points, chain)
            out = self._mixed(out, roles[chain[k]], smooth(along, -widths[k - 1] * size, widths[k - 1] * size))
        return out

    def _tip(self, points: FloatArray, chain: tuple[str, str, str]) -> FloatArray:
        """Return how much farther out than the joint itself the second bone takes over [m]; (N,).

        A kneecap goes with the thigh and the tip of an elbow with the forearm. With the same border all around, both
        would sink in when the limb bends.
        """
        is_leg = chain[1].endswith("knee")
        out = (points - self.at(chain[1])) @ self.forward * (1.0 if is_leg else -1.0)
        return (0.045 if is_leg else -0.025) * self.unit * smooth(out, 0.0, 0.045 * self.unit)

    @staticmethod
    def _mixed(weights: FloatArray, joint: int, share: FloatArray) -> FloatArray:
        """Return weights (N, J) in which a joint takes this share (N,) from all others."""
        out: FloatArray = weights * (1.0 - share)[:, None]
        out[:, joint] += share
        return out
