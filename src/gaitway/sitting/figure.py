"""A body that sits down: its standing pose, its lengths and masses, and poses built from a few numbers.

Joints are found by role and turned away from the T-pose, so that any rig of a person can sit. All numbers here are in
the frame of a seat: the floor is at height 0, and +X is where the sitter looks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.core.errors import SittingError
from gaitway.library.behavior import Library
from gaitway.library.standing import standing_behaviors
from gaitway.limbs import Limb, find_limb
from gaitway.motion.anatomy import missing_roles, t_pose
from gaitway.motion.body import CapsuleBody, capsule_body
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import with_contact_points
from gaitway.motion.editing import place, slice_frames
from gaitway.motion.ik import LEFT_LEG, RIGHT_LEG, set_limb, two_bone_from_pole
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.skeleton import ContactPoint

SIDES = ("left", "right")
_NEEDED = (
    "hips", "chest", "head",
    *(f"{s}_{p}" for s in SIDES for p in ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")),
)  # fmt: skip
_FOOT = ("heel", "ball", "toe")
_FLOOR = 0.02
"""Height of the soles above which a standing pose is taken as one of a raw capture, with a floor of its own [m]."""
_MASSES = (
    # share of the body's mass, half way between two joints (rounded from the usual tables); "hip" is the middle of both
    ("hip", "chest", 0.281), ("chest", "shoulder", 0.216), ("head", "head", 0.081),
    *((f"{s}_{a}", f"{s}_{b}", m) for s in SIDES for a, b, m in (
        ("shoulder", "elbow", 0.028), ("elbow", "wrist", 0.022), ("hip", "knee", 0.100), ("knee", "ankle", 0.0465),
        ("ankle", "ankle", 0.0145),
    )),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Posture:
    """What a body does in each frame, but for its arms.

    Angles are turns away from standing upright. Each row of a bend is yaw (left), pitch (forward) and roll (to the
    right) [rad].
    """

    hips: FloatArray
    """Middle between the hips [m]; (F, 3)."""
    pelvis: FloatArray
    """Bend of the pelvis; (F, 3)."""
    chest: FloatArray
    """Bend of the chest; (F, 3)."""
    head: FloatArray
    """Bend of the head; (F, 3)."""
    seated: FloatArray
    """0 for a body that stands as in its standing pose, 1 for one that sits; (F,)."""
    ankles: FloatArray
    """Ankles of the left and right foot [m]; (F, 2, 3)."""
    turns: FloatArray
    """Yaw of both feet away from standing, and pitch of both (toes down) [rad]; (F, 2, 2)."""
    knees: FloatArray
    """How far outward of its foot each knee points, as a slope; (F, 2)."""

    def __len__(self) -> int:
        return len(self.hips)


@dataclass(frozen=True, eq=False)
class Figure:
    """A body that can sit; made by `figure_of`."""

    stand: Clip
    """One frame: the standing pose, with the root at x = y = 0 and heading 0."""
    body: CapsuleBody
    arms: tuple[Limb, Limb]
    """Left and right arm."""
    trunk: tuple[int, ...]
    """Joints above the root up to the chest."""
    neck: tuple[int, ...]
    """Joints above the chest up to the head."""
    residuals: FloatArray
    """Turns of root, trunk and neck in the standing pose, away from the T-pose; (1 + T + N, 4)."""
    positions: FloatArray
    """Joints of the standing pose [m]; (J, 3)."""
    world: FloatArray
    """World rotations of the standing pose; (J, 4)."""
    hip_offset: FloatArray
    """Middle between the hips in the frame of the root [m]; (3,)."""
    legs: FloatArray
    """Lengths of thigh and shank of both legs [m]; (2, 2)."""
    poles: FloatArray
    """Direction toward which each knee lies in the standing pose; (2, 3)."""
    twists: FloatArray
    """Twists of thigh and shank of both legs about their bones in the standing pose; (2, 2, 4)."""
    toes: FloatArray
    """Direction of each foot along the floor; (2, 3)."""

    def joint(self, role: str) -> int:
        """Return the joint of a role."""
        return int(self.stand.skeleton.roles[role])

    def standing(self, role: str) -> FloatArray:
        """Return where the joint of a role is in the standing pose [m]; (3,)."""
        return np.asarray(self.positions[self.joint(role)])

    def radius(self, name: str) -> float:
        """Return the radius of a capsule of the body [m]."""
        return float(self.body.radii[self.body.names.index(name)])

    @property
    def ankles(self) -> FloatArray:
        """Ankles of the standing pose [m]; (2, 3)."""
        return np.array([self.standing("left_ankle"), self.standing("right_ankle")])

    @property
    def hips(self) -> FloatArray:
        """Middle between the hips of the standing pose [m]; (3,)."""
        return 0.5 * (self.standing("left_hip") + self.standing("right_hip"))

    @property
    def size(self) -> float:
        """Length of the legs over that of the built-in person."""
        return float(self.legs.sum(axis=1).mean()) / 0.85

    def masses(self, positions: FloatArray) -> FloatArray:
        """Return the centre of mass for joint positions (..., J, 3) [m]; (..., 3)."""
        total = np.zeros((*positions.shape[:-2], 3))
        for first, second, mass in _MASSES:
            total += 0.5 * mass * (self._place(positions, first) + self._place(positions, second))
        return total / sum(mass for _, _, mass in _MASSES)

    def _place(self, positions: FloatArray, role: str) -> FloatArray:
        if role in ("hip", "shoulder"):
            return 0.5 * (
                positions[..., self.joint(f"left_{role}"), :] + positions[..., self.joint(f"right_{role}"), :]
            )
        return np.asarray(positions[..., self.joint(role), :])

    def posed(self, posture: Posture, fps: float) -> Clip:
        """Return the motion of a posture; arms hang on the chest as they do in the standing pose.

        Args:
            posture: what the body does.
            fps: frame rate [Hz].
        """
        skeleton, frames = self.stand.skeleton, len(posture)
        local = np.repeat(self.stand.rotations, frames, axis=0)
        chain = (0, *self.trunk, *self.neck)
        rest, above = t_pose(skeleton), rotations.identity(frames)
        # the pelvis loses what is its own of the standing pose, so that it lies flat on the seat; the rest keeps some
        for k, (joint, bend) in enumerate(zip(chain, self._bends(posture), strict=True)):
            kept = 1.0 - posture.seated * (1.0 if k == 0 else 0.6)
            own = rotations.from_rotation_vector(kept[:, None] * rotations.to_rotation_vector(self.residuals[k]))
            turn = rotations.multiply(rotations.from_euler("zyx", bend), own)
            world = rotations.multiply(turn, rest[joint])
            local[:, joint] = rotations.multiply(rotations.conjugate(above), world)
            above = world
        roots = posture.hips - rotations.rotate(local[:, 0], self.hip_offset)
        positions, world = forward_kinematics(skeleton, roots, local)
        self._set_legs(posture, local, positions, world)
        return Clip(skeleton, roots, rotations.normalize(local), fps, "sitting")

    def _bends(self, posture: Posture) -> list[FloatArray]:
        """Return yaw, pitch and roll of root, trunk and neck; (F, 3) each."""
        lower = [posture.pelvis + (k + 1) / len(self.trunk) * (posture.chest - posture.pelvis)
                 for k in range(len(self.trunk))]  # fmt: skip
        upper = [posture.chest + (k + 1) / len(self.neck) * (posture.head - posture.chest)
                 for k in range(len(self.neck))]  # fmt: skip
        return [posture.pelvis, *lower, *upper]

    def _set_legs(self, posture: Posture, local: FloatArray, positions: FloatArray, world: FloatArray) -> None:
        """Bring the ankles to their places, with knees over the feet (in place)."""
        skeleton, rest = self.stand.skeleton, t_pose(self.stand.skeleton)
        for k, chain in enumerate((LEFT_LEG, RIGHT_LEG)):
            joints = skeleton.require(*chain)
            turn = rotations.multiply(
                rotations.from_yaw(posture.turns[:, k, 0]),
                rotations.from_axis_angle(np.array([-self.toes[k, 1], self.toes[k, 0], 0.0]), posture.turns[:, k, 1]),
            )
            ahead = rotations.rotate(rotations.from_yaw(posture.turns[:, k, 0]), self.toes[k])
            # a knee of who turns lies between where the pelvis and the foot point
            still = rotations.rotate(
                rotations.from_yaw(0.5 * (posture.pelvis[:, 0] + posture.turns[:, k, 0])), self.poles[k]
            )
            weight = posture.seated[:, None]
            out = (1.0, -1.0)[k] * posture.knees[:, k, None] * np.array([0.0, 1.0, 0.0])
            pole = still + weight * (ahead + np.array([0.0, 0.0, 0.6]) + out - still)
            bones = two_bone_from_pole(
                positions[:, joints[0]], posture.ankles[:, k], pole, (self.legs[k, 0], self.legs[k, 1]), longest=1.0
            )
            wanted = []
            for bone, joint, twist in zip(bones, joints[:2], self.twists[k], strict=True):
                # twists fade before the knee bends far, where they would bend it sideways
                vector = (1.0 - weight) ** 4 * rotations.to_rotation_vector(twist)
                own = rotations.multiply(bone, rotations.from_rotation_vector(vector))
                wanted.append(rotations.multiply(own, rest[joint]))
            wanted.append(rotations.multiply(turn, self.world[joints[2]]))
            set_limb(local, world, skeleton.parents.tolist(), joints, wanted)
            if (toe := skeleton.roles.get(f"{SIDES[k]}_toe")) is not None and posture.turns[:, k, 1].any():
                # toes stay flat under a heel that is raised
                flat = rotations.multiply(rotations.from_yaw(posture.turns[:, k, 0]), self.world[toe])
                set_limb(local, world, skeleton.parents.tolist(), [*joints, toe], [*wanted, flat])

    def raised(self, foot: int, pitch: float) -> FloatArray:
        """Return the way of an ankle whose foot turns about its ball by a pitch [rad], toes down [m]; (3,)."""
        lever = self.ankles[foot] - self._balls[foot]
        axis = np.array([-self.toes[foot, 1], self.toes[foot, 0], 0.0])
        return np.asarray(rotations.rotate(rotations.from_axis_angle(axis, pitch), lever) - lever)

    @cached_property
    def _balls(self) -> FloatArray:
        """Balls of both feet in the standing pose [m]; (2, 3)."""
        points = {p.name: p for p in self.stand.skeleton.contact_points}
        return np.array([_point(points[f"{side}_ball"], self.positions, self.world) for side in SIDES])

    def contacts(self, planted: BoolArray, heels: BoolArray) -> BoolArray:
        """Return contacts in columns of the contact points; (F, C).

        Args:
            planted: which feet are planted; (F, 2).
            heels: which of them have their heels on the floor; (F, 2).
        """
        points = self.stand.skeleton.contact_points
        out = np.zeros((len(planted), len(points)), dtype=np.bool_)
        for column, point in enumerate(points):
            side, _, part = point.name.partition("_")
            if side in SIDES and part in _FOOT:
                k = SIDES.index(side)
                out[:, column] = planted[:, k] & heels[:, k] if part == "heel" else planted[:, k]
        return out


def smooth(x: FloatArray, low: float, high: float) -> FloatArray:
    """Return 0 below `low`, 1 above `high`, and a way of least jerk in between; (...)."""
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return np.asarray(t * t * t * (10.0 + t * (6.0 * t - 15.0)))


def stand_of(library: Library) -> Clip:
    """Return the pose in which a library stands: the first frame of its first standing clip.

    Raises:
        SittingError: if nothing in the library stands.
    """
    names = standing_behaviors(library)
    if not names:
        raise SittingError(f"library '{library.name}' has no behaviour to stand with, so nobody of it can sit down")
    return slice_frames(library.clips[library.graph[names[0]].clips[0]], 0, 1)


def figure_of(body: Library | Clip | Figure) -> Figure:
    """Return the figure of a library, or of a clip that begins in a standing pose.

    Raises:
        SittingError: if the body has no legs, arms, chest or head that are known by role, or does not stand.
    """
    if isinstance(body, Figure):
        return body
    if isinstance(body, Library):
        return _of_library(body)
    return _of_clip(body)


@lru_cache(maxsize=32)
def _of_library(library: Library) -> Figure:
    return _of_clip(stand_of(library))


def _of_clip(clip: Clip) -> Figure:
    skeleton = clip.skeleton
    lacking = [role for role in _NEEDED if role in missing_roles(skeleton)]
    if lacking:
        raise SittingError(f"skeleton '{skeleton.name}' cannot sit: it has no joint known as {', '.join(lacking)}")
    if skeleton.roles["hips"] != 0:
        raise SittingError(f"skeleton '{skeleton.name}' cannot sit: its root carries something else than the hips")
    first = with_contact_points(slice_frames(clip, 0, 1))
    return _measured(place(first, np.zeros(3)))


def _measured(stand: Clip) -> Figure:
    skeleton = stand.skeleton
    positions, world = (np.array(a[0]) for a in stand.joint_transforms())
    feet = [p for p in skeleton.contact_points if p.name.partition("_")[2] in _FOOT[:2]]
    soles = [_point(p, positions, world) for p in feet]
    floor = float(np.mean([sole[2] for sole in soles]))
    floor = floor if abs(floor) > _FLOOR else 0.0
    stand = replace(stand, root_positions=stand.root_positions - np.array([0.0, 0.0, floor]), name="stand")
    positions[:, 2] -= floor
    rest, roles = t_pose(skeleton), skeleton.roles
    trunk, neck = _above(skeleton.parents, 0, roles["chest"]), _above(skeleton.parents, roles["chest"], roles["head"])
    chain = [0, *trunk, *neck]
    legs, poles, twists, toes = np.empty((2, 2)), np.empty((2, 3)), np.empty((2, 2, 4)), np.empty((2, 3))
    for k, side in enumerate(SIDES):
        joints = skeleton.require(f"{side}_hip", f"{side}_knee", f"{side}_ankle")
        hip, knee, ankle = positions[joints]
        legs[k] = np.linalg.norm(knee - hip), np.linalg.norm(ankle - knee)
        toes[k] = _foot_direction(stand, positions, world, side)
        line = (ankle - hip) / np.linalg.norm(ankle - hip)
        out = (knee - hip) - line * float((knee - hip) @ line)
        poles[k] = out / np.linalg.norm(out) if np.linalg.norm(out) > 1e-4 else toes[k]
        bones = two_bone_from_pole(hip[None], ankle[None], poles[k][None], (legs[k, 0], legs[k, 1]), longest=1.0)
        for i, bone in enumerate(bones):
            turn = rotations.multiply(world[joints[i]], rotations.conjugate(rest[joints[i]]))
            twists[k, i] = rotations.multiply(rotations.conjugate(bone[0]), turn)
    middle = 0.5 * (positions[roles["left_hip"]] + positions[roles["right_hip"]])
    if middle[2] < 0.85 * float(legs.sum(axis=1).mean()):
        raise SittingError(f"clip '{stand.name}' of skeleton '{skeleton.name}' does not begin in a standing pose")
    return Figure(
        stand, capsule_body(skeleton), (find_limb(skeleton, "left_arm"), find_limb(skeleton, "right_arm")), trunk, neck,
        read_only(rotations.multiply(world[chain], rotations.conjugate(rest[chain]))), read_only(positions),
        read_only(world), rotations.rotate(rotations.conjugate(world[0]), middle - positions[0]), read_only(legs),
        read_only(poles), read_only(twists), read_only(toes),
    )  # fmt: skip


def _above(parents: IntArray, low: int, high: int) -> tuple[int, ...]:
    """Return the joints from the child of one joint up to another that hangs on it."""
    out = [high]
    while int(parents[out[-1]]) != low:
        out.append(int(parents[out[-1]]))
        if out[-1] < 0:
            raise SittingError("the joints known as hips, chest and head do not hang on one another")
    return tuple(reversed(out))


def _foot_direction(stand: Clip, positions: FloatArray, world: FloatArray, side: str) -> FloatArray:
    """Return the direction of a foot along the floor, from heel to ball; (3,)."""
    points = {p.name: p for p in stand.skeleton.contact_points}
    heel, ball = (_point(points[f"{side}_{part}"], positions, world) for part in ("heel", "ball"))
    way = np.array([*(ball - heel)[:2], 0.0])
    return way / max(float(np.linalg.norm(way)), 1e-9)


def _point(point: ContactPoint, positions: FloatArray, world: FloatArray) -> FloatArray:
    """Return where a contact point is [m]; (3,)."""
    return np.asarray(positions[point.joint] + rotations.rotate(world[point.joint], np.array(point.offset)))
