"""Standing bodies that reach: 22 numbers for arms, collarbones, trunk and pelvis, with both feet where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import shapely

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.core.errors import LimbError
from gaitway.limbs import _stance_kernels as kernels
from gaitway.limbs._collision_kernels import Around
from gaitway.limbs._stance_kernels import ANGLE, ARM, COLLAR, LIMB, MARKS, NUMBERS, TRUNK, Stance
from gaitway.limbs.linkage import Limb, find_limb, fit_limb
from gaitway.limbs.surroundings import OtherBody, body_around
from gaitway.motion.anatomy import leg_length
from gaitway.motion.body import CapsuleBody, capsule_body
from gaitway.motion.clip import Clip
from gaitway.motion.kinematics import local_rotations
from gaitway.motion.skeleton import Skeleton
from gaitway.world.world import World

HANDS = ("right", "left")
"""Names of hands, in the order of arms in a posture."""
GRIP = 0.5
"""Where on the way from the wrist to the fingertips the middle of the hand is."""
_ROLES = ("hips", "chest", "left_clavicle", "right_clavicle")
_LEG = 0.85
"""Length of the leg that the lengths below belong to [m]."""
_REACH = 1.3
"""Greatest distance from the stance at which things matter [m]."""
_PELVIS_SHARE = 0.35
"""Share of the flexion that the pelvis takes."""
_RANGES = ((-10.0, 30.0), (-15.0, 28.0), (-18.0, 80.0), (-28.0, 28.0), (-42.0, 42.0))
"""Collarbone raised, brought forward; flexion, lean and turn of the trunk [deg]."""
_DEEPEST = 0.42
"""Greatest drop of the pelvis [m]."""
_THUMB = 0.05
"""How far the mark at the side of the hand is from its middle [m]."""
_INSET = 0.01
"""How far inside the support polygon the centre of mass must be [m]."""
_BENT = 0.01
"""How far a knee must be beside the line from hip to ankle to show where it bends [m]."""
_TAUT = 0.9995
"""Greatest length of a leg, as a share of its bones; a straighter knee would jump."""
_MASSES = {
    # share of the body's mass in each capsule of `capsule_body`; those of a side count twice
    "hip": 0.100, "knee": 0.047, "foot": 0.013, "toes": 0.002, "shoulder": 0.028, "elbow": 0.016, "hand": 0.006,
    "pelvis": 0.12, "trunk": 0.22, "chest": 0.12, "shoulders": 0.035, "neck": 0.02, "head": 0.061,
}  # fmt: skip
"""Rounded from the usual tables."""


@dataclass(frozen=True, eq=False)
class Stander:
    """A body on its feet; made by `stand`."""

    clip: Clip
    """The stance, one frame, in the world."""
    limbs: tuple[Limb, Limb, Limb, Limb]
    """Right arm, left arm, right leg, left leg."""
    table: Stance
    rest: FloatArray
    """Numbers of the stance itself; (22,)."""

    def place(self, postures: FloatArray, margin: float = 0.0) -> Placed:
        """Return where the joints of postures (N, 22) are, and whether these are valid."""
        x = np.ascontiguousarray(postures, dtype=np.float64)
        if x.ndim != 2 or x.shape[1] != NUMBERS:
            raise LimbError(f"postures of a stance have {NUMBERS} numbers each, got an array of shape {x.shape}")
        count, joints = len(x), len(self.clip.skeleton)
        turns, places = np.zeros((count, joints, 3, 3)), np.zeros((count, joints, 3))
        marks, states = np.empty((count, MARKS, 3)), np.empty((count, 4))
        kernels.place_all(self.table, read_only(x), float(margin), turns, places, marks, states)
        flags = states > 0.0
        return Placed(turns, places, marks, flags[:, 0], flags[:, 1], flags[:, 2], flags[:, 3])

    def applied(self, postures: FloatArray, fps: float = 30.0, name: str = "reach") -> Clip:
        """Return postures (F, 22) as a clip; joints that they do not move stay as in the stance."""
        placed, skeleton = self.place(postures), self.clip.skeleton
        world = np.empty((len(postures), len(skeleton), 4))
        moved = np.zeros(len(skeleton), dtype=bool)
        moved[self.table.order] = True
        moved &= (self.table.kinds != kernels.PLAIN) | (self.table.parents < 0)
        still = self.clip.rotations[0]
        for joint, parent in enumerate(skeleton.parents.tolist()):
            if moved[joint]:
                world[:, joint] = rotations.from_matrix(placed.turns[:, joint])
            else:
                world[:, joint] = rotations.multiply(world[:, parent], still[joint])
        resting = self.clip.contacts
        contacts = None if resting is None else np.repeat(resting[:1], len(postures), axis=0)
        return replace(
            self.clip, name=name, fps=fps, root_positions=placed.places[:, 0], contacts=contacts,
            rotations=rotations.continuous(rotations.normalize(local_rotations(skeleton, world))),
        )  # fmt: skip

    def among(self, world: World, time: float = 0.0, others: Sequence[OtherBody] = ()) -> Stander:
        """Return the same stance in another world, or at another time."""
        return replace(self, table=self.table._replace(around=_around(self.clip, world, time, others)))


@dataclass(frozen=True, eq=False)
class Placed:
    """Postures of a stance, placed."""

    turns: FloatArray
    """World turns of joints; (N, J, 3, 3). Those of joints that carry nothing are zero."""
    places: FloatArray
    """(N, J, 3) [m]."""
    marks: FloatArray
    """Points by which postures are compared [m]; (N, 12, 3)."""
    within: BoolArray
    """Whether the limits of joints are kept; (N,)."""
    reached: BoolArray
    """Whether both legs reach their feet within their limits; (N,)."""
    balanced: BoolArray
    """Whether the centre of mass is over the feet; (N,)."""
    clear: BoolArray
    """Whether nothing is nearer than the margin; (N,)."""

    @property
    def valid(self) -> BoolArray:
        """Whether all is well; (N,)."""
        return self.within & self.reached & self.balanced & self.clear


def stand(
    clip: Clip, world: World, *, frame: int = 0, time: float = 0.0, others: Sequence[OtherBody] = (),
    captures: Sequence[Clip] = (),
) -> Stander:  # fmt: skip
    """Return the control layer of a body that stands as in a frame of a clip.

    Args:
        clip: motion in the world, in which both feet are on the ground in that frame.
        world: what is around.
        frame: which frame.
        time: when [s]; movers are where they are then.
        others: other bodies, with one frame each.
        captures: motion on the same rig that shows the hinges of elbows and knees; see `fit_limb`.

    Raises:
        SkeletonError: if the rig lacks a role.
        LimbError: if the clip has no such frame, or the body does not stand.
    """
    if not 0 <= frame < len(clip):
        raise LimbError(f"clip '{clip.name}' has {len(clip)} frames, and no frame {frame}")
    skeleton = clip.skeleton
    skeleton.require(*_ROLES)
    still = replace(
        clip, root_positions=clip.root_positions[frame : frame + 1], rotations=clip.rotations[frame : frame + 1],
        contacts=None if clip.contacts is None else clip.contacts[frame : frame + 1],
    )  # fmt: skip
    names = ("right_arm", "left_arm", "right_leg", "left_leg")
    found = [fit_limb(skeleton, name, captures) if captures else find_limb(skeleton, name) for name in names]
    own = [limb.postures(still)[0] for limb in found]
    right, left, right_leg, left_leg = (
        replace(limb, limits=limb.limits.widened(q[None])) for limb, q in zip(found, own, strict=True)
    )
    limbs = (right, left, right_leg, left_leg)
    rest = np.zeros(NUMBERS)
    for arm in range(2):
        rest[ARM * arm + ANGLE : ARM * arm + ARM] = own[arm][: ARM - ANGLE]
    table = _table(still, limbs, own, _around(still, world, time, others))
    stander = Stander(still, limbs, table, read_only(rest))
    placed = stander.place(rest[None])
    if not (placed.reached & placed.balanced)[0]:
        raise LimbError(f"clip '{clip.name}' does not stand on both feet in frame {frame}: its mass is beside them")
    return stander


def _around(still: Clip, world: World, time: float, others: Sequence[OtherBody]) -> Around:
    return body_around(still, time, world, others, reach=_REACH)[2]


def _table(still: Clip, limbs: tuple[Limb, ...], own: Sequence[FloatArray], around: Around) -> Stance:
    skeleton, body = still.skeleton, capsule_body(still.skeleton)
    places, world = (a[0] for a in still.joint_transforms())
    size, matrices = leg_length(skeleton) / _LEG, rotations.to_matrix(world)
    heading = float(still.headings()[0])
    frame = rotations.to_matrix(rotations.from_yaw(heading))
    kinds, shares, order, legs = _order(skeleton, limbs, body)
    feet = [limb.segment_frames(world[None])[0, 2] for limb in limbs[2:]]
    ankles = np.array([places[limb.joints[2]] for limb in limbs[2:]])
    hips = np.array([places[limb.joints[0]] for limb in limbs[2:]])
    bones = np.array([limb.lengths.sum() for limb in limbs[2:]])
    longest = np.minimum(np.maximum(_TAUT * bones, np.linalg.norm(hips - ankles, axis=1)), bones)
    mark_joints, mark_offsets = _marks(skeleton, limbs, size)
    ranges = np.radians(np.array([*_RANGES, (0.0, 0.0)]))
    ranges[5, 1] = _DEEPEST * size
    turns = np.stack([rotations.to_matrix(limb.turns) for limb in limbs])
    masses = np.array([_mass(name, body) for name in body.names])
    return Stance(
        order=order, legs=legs, kinds=kinds, parents=skeleton.parents, offsets=skeleton.offsets,
        local=read_only(rotations.to_matrix(still.rotations[0])),
        still=read_only(np.einsum("ji,njk->nik", frame, matrices)),
        shares=read_only(shares), frame=read_only(frame), root=read_only(np.array(places[0])), size=float(size),
        joints=read_only(np.stack([limb.joints for limb in limbs])),
        bases=read_only(np.array([limb.base for limb in limbs])),
        base_turns=read_only(np.ascontiguousarray(turns[:, 0])),
        back_turns=read_only(np.ascontiguousarray(turns[:, 1:].transpose(0, 1, 3, 2))),
        lengths=read_only(np.stack([limb.lengths for limb in limbs])),
        limits=read_only(_limit_tables(limbs)),
        extras=read_only(np.stack([q[ARM - ANGLE :] for q in own])),
        ankles=read_only(ankles), feet=read_only(np.stack(feet)),
        poles=read_only(np.stack([_pole(limb, places, foot) for limb, foot in zip(limbs[2:], feet, strict=True)])),
        longest=read_only(longest), ranges=read_only(ranges),
        capsule_joints=body.joints, capsule_starts=body.starts, capsule_ends=body.ends, radii=body.radii,
        capsule_arms=_capsule_arms(skeleton, body), masses=read_only(masses / masses.sum()),
        support=read_only(support_sides(still, body)),
        mark_joints=mark_joints, mark_offsets=mark_offsets, around=around,
    )  # fmt: skip


def _order(skeleton: Skeleton, limbs: Sequence[Limb], body: CapsuleBody) -> tuple[IntArray, FloatArray, IntArray, int]:
    """Return kinds of joints (J,), shares of the trunk's joints (J, 3), the order (N,) and where legs begin in it."""
    parents, roles = skeleton.parents.tolist(), skeleton.roles
    kinds, shares = np.zeros(len(skeleton), dtype=np.int64), np.zeros((len(skeleton), 3))
    trunk = [roles["chest"]]
    while trunk[-1] != roles["hips"]:
        if parents[trunk[-1]] < 0:
            raise LimbError(f"the chest of skeleton '{skeleton.name}' does not hang on its hips")
        trunk.append(parents[trunk[-1]])
    trunk.reverse()
    if len(trunk) < 2:
        raise LimbError(f"skeleton '{skeleton.name}' has no spine between hips and chest")
    spine = 0.5 ** np.arange(len(trunk) - 1)  # mostly low in the back, which stays straight
    shares[trunk[0], 0] = _PELVIS_SHARE
    shares[trunk[1:], 0] = (1.0 - _PELVIS_SHARE) * spine / spine.sum()
    shares[trunk[1:], 1:] = 1.0 / len(spine)
    kinds[trunk] = TRUNK
    for side, name in enumerate(HANDS):
        kinds[roles[f"{name}_clavicle"]] = COLLAR + side
    for number, limb in enumerate(limbs):
        kinds[limb.joints] = LIMB + number
    needed, in_leg = set(trunk), np.zeros(len(skeleton), dtype=bool)
    for joint in [*body.joints.tolist(), *(int(j) for limb in limbs for j in limb.joints)]:
        at = int(joint)
        while at >= 0:
            needed.add(at)
            at = parents[at]
    hips = {int(limb.joints[0]) for limb in limbs[2:]}
    for joint in range(len(skeleton)):
        in_leg[joint] = joint in hips or (parents[joint] >= 0 and bool(in_leg[parents[joint]]))
    above = [joint for joint in sorted(needed) if joint < trunk[0]]
    first = [*above, *trunk]
    rest = [j for j in sorted(needed) if j not in first and not in_leg[j]]
    last = [j for j in sorted(needed) if in_leg[j]]
    if first[0] != 0 or any(in_leg[j] for j in first):
        raise LimbError(f"the hips of skeleton '{skeleton.name}' do not hang on its root")
    return read_only(kinds), shares, read_only(np.array([*first, *rest, *last])), len(first) + len(rest)


def _capsule_arms(skeleton: Skeleton, body: CapsuleBody) -> IntArray:
    """Return the arm that moves each capsule, collarbones with it, or -1; (K,)."""
    parents, arms = skeleton.parents.tolist(), np.full(len(skeleton), -1)
    for joint, parent in enumerate(parents):
        arms[joint] = arms[parent] if parent >= 0 else -1
        for arm, name in enumerate(HANDS):
            if joint == skeleton.roles[f"{name}_clavicle"]:
                arms[joint] = arm
    return read_only(arms[body.joints])


def _marks(skeleton: Skeleton, limbs: Sequence[Limb], size: float) -> tuple[IntArray, FloatArray]:
    """Return joints (12,) and offsets [m] (12, 3) of the points by which postures are compared."""
    spine = skeleton.roles.get("spine", skeleton.roles["chest"])
    joints, offsets = [spine, skeleton.roles["chest"]], [np.zeros(3), np.zeros(3)]
    for limb in limbs[:2]:
        grip = GRIP * limb.tip
        side = grip + np.array([_THUMB * size, 0.0, 0.0])
        joints += [*limb.joints.tolist(), int(limb.joints[2]), int(limb.joints[2])]
        offsets += [np.zeros(3)] * 3 + [rotations.rotate(limb.turns[3], p) for p in (grip, side)]
    return read_only(np.array(joints)), read_only(np.array(offsets))


def _limit_tables(limbs: Sequence[Limb]) -> FloatArray:
    """Return the limits of all limbs, with empty wedges where one has fewer than another; (4, 5 + 3 W, 4)."""
    out = np.full((len(limbs), max(len(limb.limits.table) for limb in limbs), 4), -1.0)
    for limb, rows in zip(limbs, out, strict=True):
        rows[: len(limb.limits.table)] = limb.limits.table
    return out


def _pole(limb: Limb, places: FloatArray, foot: FloatArray) -> FloatArray:
    """Return the direction into which a knee bends: as in the stance, or ahead of the foot if it is straight."""
    hip, knee, ankle = places[limb.joints]
    line = (ankle - hip) / np.linalg.norm(ankle - hip)
    out = knee - hip - line * ((knee - hip) @ line)
    length = float(np.linalg.norm(out))
    return out / length if length > _BENT else -foot[:, 0]  # x of a leg's frames points backward


def _mass(name: str, body: CapsuleBody) -> float:
    part = name.removeprefix("left_").removeprefix("right_")
    if part.startswith("trunk"):
        return _MASSES["trunk"] / sum(one.startswith("trunk") for one in body.names)
    return _MASSES.get(part, 0.0)


def support_sides(still: Clip, body: CapsuleBody) -> FloatArray:
    """Return the sides (E, 3) of the convex hull of both feet on the ground, with a small inset; see `Stance`."""
    axes, rows = body.segments(*still.joint_transforms())[0], []
    for k, name in enumerate(body.names):
        if name.endswith(("_foot", "_toes")):
            rows += [shapely.Point(end[:2]).buffer(float(body.radii[k]), quad_segs=2) for end in axes[k]]
    hull = shapely.convex_hull(shapely.union_all(rows)).buffer(-_INSET, join_style="mitre")
    ring = np.asarray(shapely.get_coordinates(shapely.normalize(hull)))
    if shapely.is_ccw(shapely.get_exterior_ring(hull.normalize())):
        ring = ring[::-1]
    way = np.diff(ring, axis=0)  # clockwise: the outside is on the left
    normals = np.column_stack([-way[:, 1], way[:, 0]]) / np.linalg.norm(way, axis=1)[:, None]
    return np.column_stack([normals, np.sum(normals * ring[:-1], axis=1)])
