"""How a pose of the skateboarder follows from what board, hips and feet do."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gaitway.cast.masses import centre_of_mass
from gaitway.cast.person.skeleton import BALL, SHANK, THIGH
from gaitway.cast.skateboarder.skeleton import AXLE_HEIGHT, DECK_RISE, FEET, skateboarder_skeleton
from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.ik import two_bone_from_pole
from gaitway.motion.kinematics import forward_kinematics, local_rotations
from gaitway.motion.skeleton import Skeleton

FPS = 30.0
TOE_HEIGHT = 0.02
"""Height of the toes' joint over the sole [m]."""


@dataclass(frozen=True, eq=False)
class FreeFoot:
    """The right foot in the frame of the ride (x ahead, y left, from under the board's middle), all (F,)."""

    ball: FloatArray
    """Position of the ball of the foot [m]; (F, 3)."""
    yaw: FloatArray
    pitch: FloatArray
    """Heel up [rad]."""
    toe: FloatArray
    """How much of that pitch the toes undo: 1 leaves them flat on the ground."""
    planted: BoolArray
    """Whether the ball rests on the ground."""
    on_board: FloatArray
    """1 where it stands on the deck and follows its lean, 0 where it is on its own."""


@dataclass(frozen=True, eq=False)
class Ride:
    """Everything that makes the poses of a clip, for F frames; angles in radians, lengths in metres, (F,) each."""

    path: FloatArray
    """Planar pose of the board's middle; (F, 3)."""
    lean: FloatArray
    """Lean of the rider into a turn, positive to the left."""
    deck_roll: FloatArray
    """Lean of the deck, positive to the left."""
    deck_pitch: FloatArray
    """Nose of the board up."""
    deck_lift: FloatArray
    """Height of the axles' middle over where it rides."""
    airborne: BoolArray
    hips_height: FloatArray
    balance: FloatArray
    """Wanted position of the centre of mass over the ground, in the frame of the ride; (F, 2)."""
    hips_yaw: FloatArray
    """Heading of the hips, relative to the ride's direction."""
    fold: FloatArray
    """Forward tilt of the pelvis."""
    curl: FloatArray
    """Forward bend of the spine on top of that."""
    twist: FloatArray
    """Turn of the chest against the hips."""
    look: FloatArray
    """Heading of the head, relative to the ride's direction."""
    nod: FloatArray
    """Head down."""
    spread: FloatArray
    """Left and right upper arm away from hanging; (F, 2)."""
    swing: FloatArray
    """Left and right upper arm forward; (F, 2)."""
    elbow: FloatArray
    """Bend of left and right elbow; (F, 2)."""
    foot: FreeFoot

    def __len__(self) -> int:
        return len(self.path)


def _about(axis: str, angle: FloatArray | float) -> FloatArray:
    return rotations.from_axis_angle(np.eye(3)["xyz".index(axis)], angle)


def make_clip(ride: Ride, name: str, labels: tuple[str, ...] = ()) -> Clip:
    """Pose rider and board in every frame."""
    skeleton = skateboarder_skeleton()
    heading = rotations.from_yaw(ride.path[:, 2])
    deck, deck_at = _deck(ride, heading)
    world = _trunk_world(ride, heading)
    feet = _feet_world(ride, heading, deck, deck_at)
    roots = ride.path[:, [0, 1, 1]] * np.array([1.0, 1.0, 0.0]) + np.array([0.0, 0.0, 1.0]) * ride.hips_height[:, None]
    for _ in range(
        4
    ):  # legs, then shift the hips until the mass is where it belongs; each turn halves the error or better
        local = _with_legs(skeleton, world, roots, feet)
        error = _mass_error(skeleton, ride, roots, local)
        roots[:, :2] += error
    local = _with_legs(skeleton, world, roots, feet)
    board = skeleton.index("Board")
    # deck against front foot, and trucks against deck
    foot_world = forward_kinematics(skeleton, roots, local)[1][:, skeleton.index("LeftFoot")]
    local[:, board] = rotations.multiply(rotations.conjugate(foot_world), deck)
    local[:, board + 1] = local[:, board + 2] = _about("x", ride.deck_roll)
    contacts = np.zeros((len(ride), len(skeleton.contact_points)), dtype=bool)
    clip = Clip(skeleton, roots, rotations.normalize(local), FPS, name, contacts, labels)
    return _with_contacts(clip, ride)


def _deck(ride: Ride, heading: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the world rotation (F, 4) and middle of the top (F, 3) of the deck."""
    pitched = rotations.multiply(heading, _about("y", -ride.deck_pitch))
    deck = rotations.multiply(pitched, _about("x", -ride.deck_roll))
    axle = np.column_stack([ride.path[:, :2], AXLE_HEIGHT + ride.deck_lift])
    return deck, axle + rotations.rotate(deck, np.array([0.0, 0.0, DECK_RISE]))


def _trunk_world(ride: Ride, heading: FloatArray) -> FloatArray:
    """Return the world rotations (F, J, 4) of everything but legs and board, which are left upright."""
    skeleton = skateboarder_skeleton()
    world = np.broadcast_to(heading[:, None], (len(ride), len(skeleton), 4)).copy()
    tilted = rotations.multiply(heading, _about("x", -0.75 * ride.lean))
    hips = rotations.multiply(tilted, rotations.multiply(_about("z", ride.hips_yaw), _about("y", ride.fold)))
    world[:, skeleton.index("Hips")] = hips
    above = hips
    for joint, share in (("Spine", 0.3), ("Spine1", 0.35), ("Spine2", 0.35)):
        bend = rotations.multiply(_about("z", share * ride.twist), _about("y", share * ride.curl))
        above = rotations.multiply(above, bend)
        world[:, skeleton.index(joint)] = above
    upright = rotations.multiply(heading, _about("x", -0.25 * ride.lean))
    head = rotations.multiply(upright, rotations.multiply(_about("z", ride.look), _about("y", ride.nod)))
    world[:, skeleton.index("Neck")] = rotations.slerp(above, head, np.full(len(ride), 0.5))
    world[:, skeleton.index("Head")] = world[:, skeleton.index("HeadTop_End")] = head
    for k, (side, sign) in enumerate((("Left", 1.0), ("Right", -1.0))):
        hang = _about("x", -sign * (0.5 * np.pi - ride.spread[:, k]))
        arm = rotations.multiply(above, rotations.multiply(_about("y", -ride.swing[:, k]), hang))
        forearm = rotations.multiply(arm, _about("z", -sign * ride.elbow[:, k]))
        world[:, skeleton.index(side + "Shoulder")] = above
        world[:, skeleton.index(side + "Arm")] = arm
        world[:, skeleton.index(side + "ForeArm")] = forearm
        world[:, skeleton.index(side + "Hand")] = rotations.multiply(forearm, _about("z", -sign * 0.1))
    return world


@dataclass(frozen=True, eq=False)
class _FootWorld:
    rotation: FloatArray
    ankle: FloatArray
    toe: FloatArray
    forward: FloatArray


def _feet_world(ride: Ride, heading: FloatArray, deck: FloatArray, deck_at: FloatArray) -> dict[str, _FootWorld]:
    """Return the world rotation, ankle and toe rotation of both feet, and the direction that the knee bends in."""
    out = {}
    for side, (x, y, yaw) in FEET.items():
        rotation = rotations.multiply(deck, rotations.from_yaw(yaw))
        ball = deck_at + rotations.rotate(deck, np.array([x, y, 0.0]))
        toe = rotation
        if side == "Right":
            foot = ride.foot
            free = rotations.multiply(heading, _about("z", foot.yaw))
            free_toe = rotations.multiply(free, _about("y", foot.pitch * (1.0 - foot.toe)))
            free = rotations.multiply(free, _about("y", foot.pitch))
            ground = np.column_stack([ride.path[:, :2], np.zeros(len(ride))]) + rotations.rotate(heading, foot.ball)
            rotation = rotations.slerp(free, rotation, foot.on_board)
            toe = rotations.slerp(free_toe, toe, foot.on_board)
            ball = ground + foot.on_board[:, None] * (ball - ground)
        up = np.array([0.0, 0.0, TOE_HEIGHT])
        hinge = ball + rotations.rotate(toe, up)  # the heel rises about the toes' joint, which lies above the sole
        ankle = hinge - rotations.rotate(rotation, np.array(BALL) + up)
        out[side] = _FootWorld(rotation, ankle, toe, rotations.rotate(rotation, np.array([1.0, 0.0, 0.0])))
    return out


def _with_legs(skeleton: Skeleton, trunk: FloatArray, roots: FloatArray, feet: dict[str, _FootWorld]) -> FloatArray:
    """Return the local rotations (F, J, 4) with both feet where they must be."""
    world = trunk.copy()
    hips = world[:, skeleton.index("Hips")]
    for side, foot in feet.items():
        thigh_at = skeleton.index(side + "UpLeg")
        hip = roots + rotations.rotate(hips, skeleton.offsets[thigh_at])
        thigh, shank = two_bone_from_pole(hip, foot.ankle, _knee_direction(foot.forward, hips), (THIGH, SHANK))
        for joint, turn in (("UpLeg", thigh), ("Leg", shank), ("Foot", foot.rotation), ("ToeBase", foot.toe)):
            world[:, skeleton.index(side + joint)] = turn
        world[:, skeleton.index(side + "Toe_End")] = foot.toe
    return local_rotations(skeleton, world)


def _knee_direction(foot_forward: FloatArray, hips: FloatArray) -> FloatArray:
    """Return knee directions half way between where the toes point and where the hips face."""
    level = foot_forward * np.array([1.0, 1.0, 0.0])
    level /= np.linalg.norm(level, axis=-1, keepdims=True)
    out: FloatArray = 0.5 * level + 0.5 * rotations.rotate(hips, np.array([1.0, 0.0, 0.0]))
    return out


def _mass_error(skeleton: Skeleton, ride: Ride, roots: FloatArray, local: FloatArray) -> FloatArray:
    """Return how far the hips must move over the ground for the mass to be balanced [m]; (F, 2)."""
    mass = centre_of_mass(skeleton, roots, local)
    c, s = np.cos(ride.path[:, 2]), np.sin(ride.path[:, 2])
    along, across = ride.balance[:, 0], ride.balance[:, 1] + mass[:, 2] * np.tan(ride.lean)
    wanted = ride.path[:, :2] + np.column_stack([c * along - s * across, s * along + c * across])
    out: FloatArray = wanted - mass[:, :2]
    return out


def _with_contacts(clip: Clip, ride: Ride) -> Clip:
    """Return the wheels that touch, and the points of the right foot that rest on the ground."""
    heights = clip.contact_positions()[..., 2]
    contacts = np.zeros(heights.shape, dtype=bool)
    for column, point in enumerate(clip.skeleton.contact_points):
        resting = ~ride.airborne if point.rolls else ride.foot.planted
        if point.name in ("right_heel", "right_toe"):  # both move a little once the foot tips over its ball
            resting = resting & (np.abs(ride.foot.pitch) < 0.002)
        contacts[:, column] = resting & (heights[:, column] < 0.002)
    return replace(clip, contacts=contacts)
