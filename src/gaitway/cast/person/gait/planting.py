"""The foot planter: takes any motion and a stance schedule, and returns a clip whose feet stay where they stand.

In a stance the foot rolls over fixed pivots (heel, flat sole, ball, tip of the toes), driven by the motion's own foot
pitch, so a point is in contact exactly in the frames in which it does not move. The correction that this needs is
carried smoothly through the swings; the pelvis follows the floor, never a single leg; the legs are then solved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from gaitway.cast.curves import smooth_step
from gaitway.cast.person.gait.foot_roll import (
    TOES_FLAT,
    clear_floor,
    foot_rotation,
    foot_target,
    heel_rise,
    overstride,
    rest_flat,
    roll,
    toe_bend,
)
from gaitway.cast.person.skeleton import ANKLE_HEIGHT, BALL, LEG, person_skeleton
from gaitway.core import planar, rotations
from gaitway.core.arrays import BoolArray, FloatArray, owned
from gaitway.core.errors import ClipError
from gaitway.motion.clip import Clip
from gaitway.motion.ik import two_bone
from gaitway.motion.kinematics import forward_kinematics, local_rotations

SIDES = ("left", "right")
LEAST_KNEE = 0.06
"""Smallest knee flexion [rad] that the legs are solved from."""
REACH = 0.996
"""Longest leg a stance may ask for, as a share of the straight leg."""
MISSED = 0.0008
"""A leg that stays this far [m] from its foot's place has lost the ground."""
_UP: FloatArray = owned((0.0, 0.0, 1.0), "up", (3,))


@dataclass(frozen=True)
class FootStance:
    """One foot on the ground from frame `start` up to, not including, frame `end`."""

    side: str
    start: int
    end: int
    footprint: tuple[float, float, float] | None = None
    """Position of the sole: x, y [m] under the ankle and heading [rad]; None leaves it where the motion puts it."""
    height: float = 0.0
    """Height of the floor there [m]."""
    clearance: float = 0.0
    """Extra height [m] of the swing that leads into this stance, as for a stair."""


@dataclass(frozen=True, eq=False)
class Motion:
    """Motion that is not planted yet."""

    root: FloatArray
    """Root positions [m]; (F, 3)."""
    rotations: FloatArray
    """Local rotations of the person skeleton; (F, J, 4)."""
    stances: tuple[FootStance, ...]
    fps: float
    lift: FloatArray = field(default_factory=lambda: np.zeros(0))
    """Height that an edit adds to the pelvis on purpose [m]; (F,), or empty for none."""
    path: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    """Planar pose (x, y, heading) of the centre line; (F, 3)."""
    phase: FloatArray = field(default_factory=lambda: np.zeros(0))
    """Phase of the left foot's cycle [cycles]; (F,)."""


@dataclass(frozen=True, eq=False)
class FootPin:
    """A frame in which the planted pose is known: the two feet's targets and the pelvis correction pass through it."""

    frame: int
    feet: FloatArray
    """World target of each foot: ankle x, y, z [m], yaw, pitch, roll [rad]; (2, 6)."""
    pelvis: float
    """Height that the planter adds to the pelvis [m]."""


@dataclass(frozen=True, eq=False)
class Planted:
    """What the planter found, beside the clip."""

    clip: Clip
    feet: FloatArray
    """World targets of both feet; (F, 2, 6), columns as in `FootPin.feet`."""
    pelvis: FloatArray
    """Height that was added to the pelvis [m]; (F,)."""
    drop: FloatArray
    """The part of it that was needed because a leg was too short [m, >= 0]; (F,)."""


def plant(motion: Motion, pins: Sequence[FootPin] = (), name: str = "clip") -> Planted:
    """Plant the feet of a motion.

    Args:
        motion: Poses and stance schedule.
        pins: Frames whose result is given.
        name: Name of the clip.

    Returns:
        The clip with exact contacts, all frames of the motion.
    """
    skeleton = person_skeleton()
    frames = len(motion.root)
    lift = motion.lift if len(motion.lift) else np.zeros(frames)
    root = motion.root + lift[:, None] * _UP
    positions, world = forward_kinematics(skeleton, root, motion.rotations)
    own = [sorted((s for s in motion.stances if s.side == side), key=lambda s: s.start) for side in SIDES]
    wanted = []
    for k, side in enumerate(SIDES):
        _check(own[k], frames)
        foot = skeleton.index(f"{side}_ankle")
        wanted.append(foot_target(positions[:, foot], world[:, foot]))
    level = _level(own, wanted, lift, motion.fps)
    feet, bends = np.empty((frames, 2, 6)), np.empty((frames, 2))
    contacts = np.zeros((frames, len(skeleton.contact_points)), dtype=bool)
    stance_on = np.zeros((frames, 2), dtype=bool)
    for k, side in enumerate(SIDES):
        hip = positions[:, skeleton.index(f"{side}_hip")] + level[:, None] * _UP
        held, contacts[:, 3 * k : 3 * k + 3] = _hold(own[k], wanted[k], hip, motion.fps)
        for stance in own[k]:
            stance_on[stance.start : stance.end, k] = True
        pinned = [(pin.frame, pin.feet[k]) for pin in pins]
        feet[:, k] = wanted[k] + _bridge(own[k], held, wanted[k], pinned, motion.fps)
        bends[:, k] = toe_bend(feet[:, k, 4], stance_on[:, k], motion.fps)
        clear_floor(feet[:, k], bends[:, k], stance_on[:, k], _swing_floor(own[k], frames), motion.fps)
    drop = _drop(motion, root + level[:, None] * _UP, feet, stance_on)
    pelvis = _pinned(level - drop, pins, motion.fps)
    clip = _solve(motion, root + pelvis[:, None] * _UP, feet, bends, contacts, name)
    return Planted(clip, feet, pelvis, drop)


def _check(stances: list[FootStance], frames: int) -> None:
    for a, b in pairwise(stances):
        if a.end >= b.start:
            raise ClipError(
                f"{a.side} stances {a.start}..{a.end} and {b.start}..{b.end} leave no frame of swing between"
            )
    for s in stances:
        if not 0 <= s.start < s.end <= frames:
            raise ClipError(f"{s.side} stance {s.start}..{s.end} is not within the motion's {frames} frames")


def _hinged_knees(local: FloatArray) -> FloatArray:
    """Return the local rotations (F, J, 4) whose knees only bend, and at least by a few degrees.

    A captured knee that is almost straight seems to bend sideways as much as back; the legs' solver would go on so.
    """
    out = local.copy()
    for name in ("LeftLeg", "RightLeg"):
        knee = person_skeleton().index(name)
        flexion = planar.wrap_angle(2.0 * np.arctan2(local[:, knee, 2], local[:, knee, 0]))
        bent = 0.5 * (LEAST_KNEE + flexion + np.sqrt((flexion - LEAST_KNEE) ** 2 + 0.04**2))
        out[:, knee] = rotations.from_axis_angle(np.array([0.0, 1.0, 0.0]), bent)
    return out


def _middle(stance: FootStance) -> slice:
    """Return the frames of a stance in which the foot rests most."""
    length = stance.end - stance.start
    return slice(stance.start + int(0.25 * length), stance.start + int(0.6 * length) + 1)


def _level(stances: list[list[FootStance]], wanted: list[FloatArray], lift: FloatArray, fps: float) -> FloatArray:
    """Return the height to add to the pelvis (F,) so that the balls of the standing feet are at floor level.

    One number a stance, eased from each to the next: the knees keep the motion's own angles.
    """
    knots = []
    for own, foot in zip(stances, wanted, strict=True):
        for stance in own:
            z, pitch = foot[_middle(stance), 2], foot[_middle(stance), 4]
            ball = z - ANKLE_HEIGHT * np.cos(pitch) + BALL[0] * np.sin(pitch) - lift[_middle(stance)]
            knots.append((0.5 * (stance.start + stance.end), stance.height - float(ball.mean())))
    if not knots:
        return np.zeros(len(lift))
    when, height = np.array(sorted(knots)).T
    between = np.interp(np.arange(len(lift)), when, height)
    return np.asarray(gaussian_filter1d(between, 0.15 * fps, mode="nearest"))


def _hold(stances: list[FootStance], wanted: FloatArray, hip: FloatArray, fps: float) -> tuple[FloatArray, BoolArray]:
    """Return foot targets (F, 6) that roll over fixed pivots in each stance, and contacts of heel, ball, toe (F, 3)."""
    held, touch = wanted.copy(), np.zeros((len(wanted), 3), dtype=bool)
    for stance in stances:
        a, b = stance.start, stance.end
        x, y = wanted[_middle(stance), :2].mean(axis=0)
        yaw = float(wanted[_middle(stance), 3].mean())
        if stance.footprint is not None:
            x, y = stance.footprint[:2]
            yaw += float(planar.wrap_angle(stance.footprint[2] - yaw))
        ankle = np.array([x, y, stance.height + ANKLE_HEIGHT])
        pitch = rest_flat(wanted[a:b, 4])
        if stance.footprint is None and a > 0:
            ankle[:2] -= overstride(roll(ankle, yaw, pitch[:1])[0] - hip[a])
        if b < len(wanted):
            pitch = heel_rise(pitch, ankle, yaw, hip[a:b], (b - np.arange(a, b)) / fps)
        held[a:b, :3] = roll(ankle, yaw, pitch)
        held[a:b, 3], held[a:b, 4], held[a:b, 5] = yaw, pitch, 0.0
        touch[a:b, 0] = pitch >= 0.0
        touch[a:b, 1] = (pitch <= 0.0) & (pitch >= -TOES_FLAT)
        touch[a:b, 2] = pitch <= 0.0
    return held, touch


def _bridge(
    stances: list[FootStance],
    held: FloatArray,
    wanted: FloatArray,
    pins: list[tuple[int, FloatArray]],
    fps: float,
) -> FloatArray:
    """Return corrections (F, 6) to the wanted foot: those of the stances, led through the swings and the pins."""
    offsets = held - wanted
    offsets[:, 3] = planar.wrap_angle(offsets[:, 3])
    if not stances:
        return np.zeros_like(offsets)
    frames = len(wanted)
    on_ground = np.zeros(frames, dtype=bool)
    for stance in stances:
        on_ground[stance.start : stance.end] = True
    for frame, target in pins:
        if not on_ground[frame]:
            offsets[frame] = target - wanted[frame]
            offsets[frame, 3:] = planar.wrap_angle(offsets[frame, 3:])
    swing_pins = [frame for frame, _ in pins if not on_ground[frame]]
    for before, after in pairwise(stances):
        a, b = before.end, after.start
        knots = [a - 1, *(f for f in swing_pins if a <= f < b), b]
        slope_out = offsets[a - 1] - offsets[max(a - 2, before.start)]
        slope_in = offsets[min(b + 1, after.end - 1)] - offsets[b]
        for left, right in pairwise(knots):
            first = slope_out if left == a - 1 else 0.0 * slope_out
            last = slope_in if right == b else 0.0 * slope_in
            _carry(offsets, left, right, first, last, 0.04 * fps)
        share = np.arange(1, b - a + 1) / (b - a + 1)
        offsets[a:b, 2] += after.clearance * np.sin(np.pi * share) ** 2
    first_frame, last_frame = stances[0].start, stances[-1].end
    offsets[:first_frame] = offsets[first_frame]
    offsets[last_frame:] = offsets[last_frame - 1]
    return offsets


def _carry(offsets: FloatArray, left: int, right: int, first: FloatArray, last: FloatArray, fade: float) -> None:
    """Fill the frames between two knots; end slopes die out within `fade` frames, so that they cannot overshoot."""
    i = np.arange(1.0, right - left)[:, None]
    rest = right - left - i
    ease = smooth_step(i, 0.0, float(right - left))
    start, end = offsets[left].copy(), offsets[right].copy()
    offsets[left + 1 : right] = (
        start + (end - start) * ease + first * i * np.exp(-i / fade) - last * rest * np.exp(-rest / fade)
    )


def _swing_floor(stances: list[FootStance], frames: int) -> FloatArray:
    """Return the height of the floor under a swing [m] (F,): the lower one of the two stances it joins."""
    floor = np.zeros(frames)
    for before, after in pairwise(stances):
        floor[before.end : after.start] = min(before.height, after.height)
    return floor


def _drop(motion: Motion, root: FloatArray, feet: FloatArray, stance_on: BoolArray) -> FloatArray:
    """Return how far the pelvis must come down (F,) [m, >= 0] for every standing leg to reach its foot."""
    skeleton = person_skeleton()
    hips = forward_kinematics(skeleton, root, motion.rotations)[0][:, skeleton.require("left_hip", "right_hip")]
    reach = feet[..., :3] - hips
    flat = np.minimum((reach[..., :2] ** 2).sum(axis=-1), (0.99 * LEG) ** 2)
    lack = np.where(stance_on, -reach[..., 2] - np.sqrt((REACH * LEG) ** 2 - flat), 0.0).max(axis=1)
    wide = maximum_filter1d(np.maximum(lack, 0.0), int(0.17 * motion.fps) | 1)
    out: FloatArray = gaussian_filter1d(wide, 0.05 * motion.fps, mode="nearest")
    return out


def _pinned(pelvis: FloatArray, pins: Sequence[FootPin], fps: float) -> FloatArray:
    """Return the pelvis correction led smoothly through the pins; (F,)."""
    frames = np.arange(len(pelvis))
    for pin in pins:
        width = min([0.3 * fps, *(abs(other.frame - pin.frame) for other in pins if other.frame != pin.frame)])
        near = 1.0 - smooth_step(np.abs(frames - pin.frame), 0.0, width)
        pelvis = pelvis + (pin.pelvis - pelvis[pin.frame]) * near
    return pelvis


def _solve(
    motion: Motion, root: FloatArray, feet: FloatArray, bends: FloatArray, contacts: BoolArray, name: str
) -> Clip:
    """Return the legs that put the feet on their targets, and the clip."""
    skeleton = person_skeleton()
    positions, world = forward_kinematics(skeleton, root, _hinged_knees(motion.rotations))
    up = np.array([0.0, -1.0, 0.0])
    for k, side in enumerate(("Left", "Right")):
        thigh, shank, foot, toe = (skeleton.index(side + part) for part in ("UpLeg", "Leg", "Foot", "ToeBase"))
        ahead = rotations.rotate(world[:, thigh], np.array([1.0, 0.0, 0.0]))
        world[:, thigh], world[:, shank] = two_bone(
            positions[:, thigh],
            positions[:, shank],
            positions[:, foot],
            world[:, thigh],
            world[:, shank],
            feet[:, k, :3],
            ahead,
        )
        world[:, foot] = foot_rotation(feet[:, k, 3], feet[:, k, 4], feet[:, k, 5])
        world[:, toe] = rotations.multiply(world[:, foot], rotations.from_axis_angle(up, bends[:, k]))
        world[:, skeleton.index(side + "Toe_End")] = world[:, toe]
    local = local_rotations(skeleton, world)
    ankles = forward_kinematics(skeleton, root, local)[0][:, skeleton.require("left_ankle", "right_ankle")]
    missed = np.linalg.norm(ankles - feet[..., :3], axis=-1) > MISSED
    contacts[:, :6] &= ~np.repeat(missed, 3, axis=1)
    return Clip(skeleton, root, local, motion.fps, name, contacts)
