"""How a horse's trunk, neck and tail move in a gallop and when it stands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from gaitway.cast.catalog import STYLE_NAMES
from gaitway.cast.horse.skeleton import LEGS, STAND_HEIGHT, horse_skeleton
from gaitway.cast.masses import GRAVITY
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.kinematics import forward_kinematics

STRIDE_TIME = 0.5
"""Seconds of one gallop stride: two strides a second."""
DUTY = 0.26
"""Part of a stride that each hoof is on the ground."""
MID_STANCE = {"LeftHind": 0.215, "RightHind": 0.355, "LeftFore": 0.6, "RightFore": 0.785}
"""Phase of the middle of each stance: a transverse gallop on the right lead, in flight around phase 0."""
_LOAD = {"LeftHind": 0.23, "RightHind": 0.21, "LeftFore": 0.28, "RightFore": 0.28}
"""Share of the weight's impulse that each leg gives."""


@dataclass(frozen=True)
class HorseStyle:
    """One horse's manner."""

    name: str = "neutral"
    speed: float = 7.5
    """Metres a second in the gallop."""
    back: float = 1.0
    """How much the loin bends and straightens."""
    nod: float = 1.0
    """How much neck and head swing."""
    carriage: float = 0.0
    """How much higher (positive) or lower the neck is carried [rad]."""
    tail: float = 0.0
    """How much higher the tail streams [rad]."""
    lift: float = 1.0
    """How much the legs fold in their swing."""

    @staticmethod
    def named(name: str) -> HorseStyle:
        """Return one of `STYLE_NAMES`."""
        number = STYLE_NAMES.index(name)
        return replace(HorseStyle.draw(number), name=name) if number else HorseStyle()

    @staticmethod
    def draw(seed: int) -> HorseStyle:
        """Return a horse at random; the same seed is the same horse."""
        draw = np.clip(np.random.default_rng(seed).normal(size=6), -2.0, 2.0)
        return HorseStyle(
            name=f"drawn-{seed}",
            speed=float(7.5 + 0.15 * draw[0]),
            back=float(1.0 + 0.12 * draw[1]),
            nod=float(1.0 + 0.2 * draw[2]),
            carriage=float(0.06 * draw[3]),
            tail=float(0.15 * draw[4]),
            lift=float(1.0 + 0.05 * draw[5]),
        )


@dataclass(frozen=True, eq=False)
class GallopCourse:
    """What the body follows through a clip, sampled on its fine time grid of N samples."""

    times: FloatArray
    """Seconds; (N,)."""
    path: FloatArray
    """Planar pose (x, y, heading) of the root; (N, 3)."""
    phase: FloatArray
    """Strides since a flight; (N,)."""
    gallop: FloatArray
    """0 where it stands, 1 where it gallops; (N,)."""
    bank: FloatArray
    """Lean into the turn, positive to the left [rad]; (N,)."""
    bend: FloatArray
    """How far neck and spine look into the turn, positive to the left [rad]; (N,)."""
    crouch: FloatArray
    """How far the haunches sink and the forehand rises, for a start or stop; (N,), about 0 to 1."""
    extra: dict[str, FloatArray]
    """Further turns of joints: rotation vectors [rad] (N, 3) by joint name ("Barrel" is the root)."""


@cache
def _bounce() -> FloatArray:
    """Return the height [m] of the centre of mass over its mean at even phases from 0 to 1, from the legs' forces.

    Each leg pushes with a smooth pulse, the four together carry the weight, and nothing else does: so the flight
    between the last lift and the first landing is a free fall by construction.
    """
    samples = 8192
    phase = np.arange(samples) / samples
    push = np.zeros(samples)
    for leg, middle in MID_STANCE.items():
        s = (phase - middle + 0.5 * DUTY) / DUTY
        push += np.where((s > 0.0) & (s < 1.0), _LOAD[leg] * 2.0 / DUTY * np.sin(np.pi * s) ** 2, 0.0)
    spectrum = np.fft.rfft(GRAVITY * (push / push.mean() - 1.0))
    spectrum[0] = 0.0
    cycles = np.arange(1, len(spectrum))
    spectrum[1:] /= -((2.0 * np.pi * cycles / STRIDE_TIME) ** 2)
    height = np.fft.irfft(spectrum)
    return np.append(height, height[0])


def _wave(phase: FloatArray, peak: float, lag: float = 0.0) -> FloatArray:
    out: FloatArray = np.cos(2.0 * np.pi * (phase - peak - lag))
    return out


def body_pose(course: GallopCourse, style: HorseStyle) -> tuple[FloatArray, FloatArray]:
    """Return root positions [m] (N, 3) and local rotation vectors [rad] (N, J, 3); those of the legs are zero."""
    skeleton = horse_skeleton()
    gallop, phase, crouch = course.gallop, course.phase, course.crouch
    vectors = np.zeros((len(course.times), len(skeleton), 3))

    def pitch(joint: str, degrees: FloatArray) -> None:
        vectors[:, skeleton.index(joint), 1] += np.radians(degrees)

    def sway(joint: str, radians: FloatArray) -> None:
        vectors[:, skeleton.index(joint), 2] += radians

    # positive pitch is nose down; the forehand is highest over the hind legs' stance and lowest over the forelegs'
    pitch("Barrel", gallop * (-3.2 * _wave(phase, 0.22)) - 7.0 * crouch)
    pitch("Loin", gallop * style.back * (-2.0 - 5.0 * _wave(phase, 0.05)) - 5.0 * crouch)
    pitch("Croup", gallop * style.back * (-3.0 - 8.0 * _wave(phase, 0.05)) - 7.0 * crouch)
    pitch("Chest", gallop * (1.0 + 1.5 * _wave(phase, 0.7)))
    lowered = 13.0 * gallop - 6.0 * crouch - np.degrees(style.carriage)
    for joint, share, lag in (("Neck", 0.5, 0.0), ("Neck1", 0.3, 0.03), ("Neck2", 0.2, 0.06)):
        pitch(joint, share * (lowered + gallop * style.nod * 11.0 * _wave(phase, 0.62, lag)))
        sway(joint, 0.28 * course.bend)
    pitch(
        "Head", gallop * (-9.0 - 5.0 * style.nod * _wave(phase, 0.66)) + 0.7 * np.degrees(style.carriage) + 8.0 * crouch
    )
    sway("Chest", 0.2 * course.bend)
    sway("Croup", -0.15 * course.bend)
    for joint, rise, swing, lag in (
        ("Tail", 30, 4, 0.0),
        ("Tail1", 15, 5, 0.14),
        ("Tail2", 7, 6, 0.3),
        ("Tail3", 3, 7, 0.46),
    ):
        pitch(joint, gallop * (rise + 0.5 * np.degrees(style.tail) + swing * _wave(phase, 0.35, lag)))
        sway(joint, -0.3 * course.bend)
    for joint, vector in course.extra.items():
        vectors[:, skeleton.index(joint)] += vector
    roots = np.empty((len(course.times), 3))
    roots[:, :2] = course.path[:, :2]
    table = _bounce()
    bounce = np.interp(phase % 1.0, np.linspace(0.0, 1.0, len(table)), table)
    ride = STAND_HEIGHT + gallop * (bounce - 0.075) - 0.07 * crouch
    roots[:, 2] = ride + STAND_HEIGHT * (np.cos(course.bank) - 1.0)
    return roots, vectors


def body_rotations(course: GallopCourse, vectors: FloatArray) -> FloatArray:
    """Return the local rotations (N, J, 4) of these vectors, with heading and lean put on the root."""
    local = rotations.from_rotation_vector(vectors)
    lean = rotations.from_axis_angle(np.array([1.0, 0.0, 0.0]), -course.bank)
    heading = rotations.multiply(rotations.from_yaw(course.path[:, 2]), lean)
    local[:, 0] = rotations.multiply(heading, local[:, 0])
    return local


def leg_mounts(course: GallopCourse, style: HorseStyle) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return the world position (N, 3) and rotation (N, 4) of the joint that each leg hangs from."""
    roots, vectors = body_pose(course, style)
    positions, world = forward_kinematics(horse_skeleton(), roots, body_rotations(course, vectors))
    joints = {leg: horse_skeleton().index("Chest" if leg.endswith("Fore") else "Croup") for leg in LEGS}
    return {leg: (positions[:, j], world[:, j]) for leg, j in joints.items()}
