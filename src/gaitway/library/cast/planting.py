"""The foot planter: takes any motion and a stance schedule, and returns a clip whose feet stay where they stand.

In a stance the foot rolls over fixed pivots (heel, flat sole, ball, tip of the toes), driven by the motion's own foot
pitch, so a point is in contact exactly in the frames in which it does not move. The correction that this needs is
carried smoothly through the swings; the pelvis follows the floor, never a single leg; the legs are then solved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from gaitway import planar, rotations
from gaitway.arrays import BoolArray, FloatArray
from gaitway.errors import ClipError
from gaitway.library.cast.curves import smooth_step
from gaitway.library.cast.person import ANKLE_HEIGHT, BALL, HEEL, LEG, TOE_TIP, person_skeleton
from gaitway.motion.clip import Clip
from gaitway.motion.ik import two_bone
from gaitway.motion.kinematics import forward_kinematics, local_rotations

SIDES = ("left", "right")
TOES_FLAT = 0.42
"""The heel rises by this angle [rad] over toes that lie flat; beyond it the toes rise as well."""
TOE_SHARE = 0.8
"""Share of any further rise that lifts the ball over the tip of the toes."""
LEAST_KNEE = 0.06
"""Smallest knee flexion [rad] that the legs are solved from."""
LANDING_REACH = 0.975
"""Longest leg with which a foot is set down where its place is free, as a share of the straight leg."""
TRAILING_REACH = 0.99
"""A standing leg that trails further than this raises its heel, as a share of the straight leg."""
REACH = 0.996
"""Longest leg a stance may ask for, as a share of the straight leg."""
MISSED = 0.0008
"""A leg that stays this far [m] from its foot's place has lost the ground."""
_UP = np.array([0.0, 0.0, 1.0])
_TOE_JOINT = np.array([0.13, 0.0, -0.06])
_TOE_TIP = np.array([TOE_TIP[0] - BALL[0], 0.0, -0.02])


@dataclass(frozen=True)
class Stance:
    """One foot on the ground from frame `start` up to, not including, frame `end`."""

    side: str
    start: int
    end: int
    footprint: tuple[float, float, float] | None = None
    """Where the sole stands: x, y [m] under the ankle and heading [rad]; None leaves it where the motion puts it."""
    height: float = 0.0
    """Of the floor there [m]."""
    clearance: float = 0.0
    """Extra height [m] of the swing that leads into this stance, as for a stair."""


@dataclass(frozen=True, eq=False)
class Motion:
    """Motion that is not planted yet."""

    root: FloatArray
    """(F, 3) [m]."""
    rotations: FloatArray
    """Local rotations of the person skeleton; (F, J, 4)."""
    stances: tuple[Stance, ...]
    fps: float
    lift: FloatArray = field(default_factory=lambda: np.zeros(0))
    """What an editor adds to the height of the pelvis on purpose [m]; (F,), or empty for none."""
    path: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    """Planar pose (x, y, heading) of the centre line; (F, 3)."""
    phase: FloatArray = field(default_factory=lambda: np.zeros(0))
    """Of the left foot's cycle [cycles]; (F,)."""


@dataclass(frozen=True, eq=False)
class Pin:
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
    """World targets of both feet; (F, 2, 6), columns as in `Pin.feet`."""
    pelvis: FloatArray
    """What was added to the height of the pelvis [m]; (F,)."""
    drop: FloatArray
    """The part of it that was needed because a leg was too short [m, >= 0]; (F,)."""


def plant(motion: Motion, pins: Sequence[Pin] = (), name: str = "clip") -> Planted:
    """Plant the feet of a motion.

    Args:
        motion: poses and stance schedule.
        pins: frames whose result is given.
        name: of the clip.

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
        wanted.append(_foot_angles(positions[:, foot], world[:, foot]))
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
        bends[:, k] = _toe_bend(feet[:, k, 4], stance_on[:, k], motion.fps)
        _clear_floor(feet[:, k], bends[:, k], stance_on[:, k], own[k], motion.fps)
    drop = _drop(motion, root + level[:, None] * _UP, feet, stance_on)
    pelvis = _pinned(level - drop, pins, motion.fps)
    clip = _solve(motion, root + pelvis[:, None] * _UP, feet, bends, contacts, name)
    return Planted(clip, feet, pelvis, drop)


def _check(stances: list[Stance], frames: int) -> None:
    for a, b in pairwise(stances):
        if a.end >= b.start:
            raise ClipError(
                f"{a.side} stances {a.start}..{a.end} and {b.start}..{b.end} leave no frame of swing between"
            )
    for s in stances:
        if not 0 <= s.start < s.end <= frames:
            raise ClipError(f"{s.side} stance {s.start}..{s.end} is not within the motion's {frames} frames")


def _foot_angles(ankle: FloatArray, world: FloatArray) -> FloatArray:
    """Ankle position and the foot's yaw, pitch (toes up positive) and roll; (F, 6)."""
    m = rotations.to_matrix(world)
    yaw = np.unwrap(np.arctan2(m[:, 1, 0], m[:, 0, 0]))
    pitch = np.arcsin(np.clip(m[:, 2, 0], -1.0, 1.0))
    return np.column_stack([ankle, yaw, pitch, np.arctan2(m[:, 2, 1], m[:, 2, 2])])


def _foot_rotation(yaw: FloatArray, pitch: FloatArray, roll: FloatArray) -> FloatArray:
    return rotations.from_euler("zyx", np.stack([yaw, -pitch, roll], axis=-1))


def _rest_flat(pitch: FloatArray) -> FloatArray:
    """Stance pitch with a flat part: small angles become exactly zero, and toes rise only near the ends."""
    size = np.abs(pitch)
    calm = pitch - np.clip(pitch, -0.07, 0.07) * (1.0 - smooth_step(size, 0.03, 0.30))
    calm = np.where(size < 0.03, 0.0, calm)
    share = np.linspace(0.0, 1.0, len(pitch))
    middle = smooth_step(share, 0.25, 0.4) * (1.0 - smooth_step(share, 0.6, 0.75))
    return np.where(calm > 0.0, calm * (1.0 - middle), calm)


def _hinged_knees(local: FloatArray) -> FloatArray:
    """Local rotations (F, J, 4) whose knees only bend, and at least by a few degrees.

    A captured knee that is almost straight seems to bend sideways as much as back; the legs' solver would go on so.
    """
    out = local.copy()
    for name in ("LeftLeg", "RightLeg"):
        knee = person_skeleton().index(name)
        flexion = planar.wrap_angle(2.0 * np.arctan2(local[:, knee, 2], local[:, knee, 0]))
        bent = 0.5 * (LEAST_KNEE + flexion + np.sqrt((flexion - LEAST_KNEE) ** 2 + 0.04**2))
        out[:, knee] = rotations.from_axis_angle(np.array([0.0, 1.0, 0.0]), bent)
    return out


def _middle(stance: Stance) -> slice:
    """The frames of a stance in which the foot rests most."""
    length = stance.end - stance.start
    return slice(stance.start + int(0.25 * length), stance.start + int(0.6 * length) + 1)


def _level(stances: list[list[Stance]], wanted: list[FloatArray], lift: FloatArray, fps: float) -> FloatArray:
    """Height to add to the pelvis (F,) so that the balls of the standing feet are at floor level.

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


def _hold(stances: list[Stance], wanted: FloatArray, hip: FloatArray, fps: float) -> tuple[FloatArray, BoolArray]:
    """Foot targets (F, 6) that roll over fixed pivots in each stance; contact flags of heel, ball and toe (F, 3)."""
    held, touch = wanted.copy(), np.zeros((len(wanted), 3), dtype=bool)
    for stance in stances:
        a, b = stance.start, stance.end
        x, y = wanted[_middle(stance), :2].mean(axis=0)
        yaw = float(wanted[_middle(stance), 3].mean())
        if stance.footprint is not None:
            x, y = stance.footprint[:2]
            yaw += float(planar.wrap_angle(stance.footprint[2] - yaw))
        ankle = np.array([x, y, stance.height + ANKLE_HEIGHT])
        pitch = _rest_flat(wanted[a:b, 4])
        if stance.footprint is None and a > 0:
            ankle[:2] -= _overstride(_roll(ankle, yaw, pitch[:1])[0] - hip[a])
        if b < len(wanted):
            pitch = _heel_rise(pitch, ankle, yaw, hip[a:b], (b - np.arange(a, b)) / fps)
        held[a:b, :3] = _roll(ankle, yaw, pitch)
        held[a:b, 3], held[a:b, 4], held[a:b, 5] = yaw, pitch, 0.0
        touch[a:b, 0] = pitch >= 0.0
        touch[a:b, 1] = (pitch <= 0.0) & (pitch >= -TOES_FLAT)
        touch[a:b, 2] = pitch <= 0.0
    return held, touch


def _overstride(reach: FloatArray) -> FloatArray:
    """How much further than a bent leg goes a foot would land: horizontal part of hip to ankle (2,) [m]."""
    length = float(np.hypot(reach[0], reach[1]))
    room = float(np.sqrt(max((LANDING_REACH * LEG) ** 2 - reach[2] ** 2, 0.01)))
    return np.asarray(reach[:2] * max(1.0 - room / max(length, 1e-9), 0.0))


def _heel_rise(pitch: FloatArray, ankle: FloatArray, yaw: float, hip: FloatArray, left: FloatArray) -> FloatArray:
    """Stance pitch with the heel raised as far as a leg that trails too far behind needs it, `left` [s] before lift."""
    late = smooth_step(np.linspace(0.0, 1.0, len(pitch)), 0.3, 0.6) * (1.0 - smooth_step(left, 0.2, 0.5))
    raised = pitch
    for _ in range(6):
        distance = np.linalg.norm(_roll(ankle, yaw, raised) - hip, axis=1)
        over = np.maximum(distance - TRAILING_REACH * LEG, 0.0)
        soft = over * over / (over + 0.01)  # begins gently
        raised = np.maximum(raised - late * soft / 0.14, -1.2)
    return np.where(late > 0.0, np.minimum(raised, pitch), pitch)


def _roll(ankle: FloatArray, yaw: float, pitch: FloatArray) -> FloatArray:
    """Ankle positions (n, 3) of a foot that stands flat with its ankle at `ankle` when the pitch is zero.

    All in the upright plane of the foot: a part at (along, up) of the flat foot is carried to the rolled one.
    """
    tilt = TOE_SHARE * np.maximum(-pitch - TOES_FLAT, 0.0)
    tip_along, tip_up = _rolled(_TOE_TIP, -tilt)
    joint_along, joint_up = _rolled(_TOE_JOINT, pitch)
    heel_along, heel_up = _rolled(np.array(HEEL), pitch)
    on_toes = pitch <= 0.0
    along = np.where(on_toes, _TOE_JOINT[0] + _TOE_TIP[0] - tip_along - joint_along, HEEL[0] - heel_along)
    up = np.where(on_toes, _TOE_JOINT[2] + _TOE_TIP[2] - tip_up - joint_up, HEEL[2] - heel_up)
    return np.asarray(ankle + np.stack([along * np.cos(yaw), along * np.sin(yaw), up], axis=1))


def _rolled(part: FloatArray, pitch: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How far along and up a part of the foot is from the ankle when the toes are up by `pitch` [rad]; (n,) each."""
    cosine, sine = np.cos(pitch), np.sin(pitch)
    return part[0] * cosine - part[2] * sine, part[0] * sine + part[2] * cosine


def _bridge(
    stances: list[Stance],
    held: FloatArray,
    wanted: FloatArray,
    pins: list[tuple[int, FloatArray]],
    fps: float,
) -> FloatArray:
    """Corrections (F, 6) to the wanted foot: those of the stances, carried through the swings and through the pins."""
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


def _toe_bend(pitch: FloatArray, on_ground: BoolArray, fps: float) -> FloatArray:
    """Upward bend of the toes [rad]: flat on the floor while the heel is up, relaxed in the swing; (F,)."""
    frames, never = np.arange(len(pitch)), 10 * len(pitch)
    since = frames - np.maximum.accumulate(np.where(on_ground, frames, -never))
    until = np.minimum.accumulate(np.where(on_ground, frames, never)[::-1])[::-1] - frames
    down = np.maximum(-pitch, 0.0)
    fade = np.minimum(0.2 * fps, 0.5 * (since + until))
    near = 1.0 - smooth_step(np.minimum(since, until) / np.maximum(fade, 1.0))
    bend: FloatArray = (down - TOE_SHARE * np.maximum(down - TOES_FLAT, 0.0)) * near
    return bend


def _clear_floor(foot: FloatArray, bend: FloatArray, on_ground: BoolArray, stances: list[Stance], fps: float) -> None:
    """Lift a swinging foot that would dig into the floor (in place)."""
    floor = np.zeros(len(foot))
    for before, after in pairwise(stances):
        floor[before.end : after.start] = min(before.height, after.height)
    turn = _foot_rotation(foot[:, 3], foot[:, 4], foot[:, 5])
    toes = rotations.multiply(turn, rotations.from_axis_angle([0.0, -1.0, 0.0], bend))
    heel = rotations.rotate(turn, HEEL)[:, 2]
    joint = rotations.rotate(turn, _TOE_JOINT)[:, 2]
    ball = joint + rotations.rotate(toes, [0.0, 0.0, -0.02])[:, 2]
    tip = joint + rotations.rotate(toes, _TOE_TIP)[:, 2]
    sole = foot[:, 2] + np.minimum(np.minimum(heel, ball), tip) - floor
    dig = np.where(on_ground, 0.0, np.maximum(-sole, 0.0))
    foot[:, 2] += np.where(on_ground, 0.0, np.maximum(dig, gaussian_filter1d(dig, 0.04 * fps)))


def _drop(motion: Motion, root: FloatArray, feet: FloatArray, stance_on: BoolArray) -> FloatArray:
    """How far the pelvis must come down (F,) [m, >= 0] for every standing leg to reach its foot."""
    skeleton = person_skeleton()
    hips = forward_kinematics(skeleton, root, motion.rotations)[0][:, skeleton.require("left_hip", "right_hip")]
    reach = feet[..., :3] - hips
    flat = np.minimum((reach[..., :2] ** 2).sum(axis=-1), (0.99 * LEG) ** 2)
    lack = np.where(stance_on, -reach[..., 2] - np.sqrt((REACH * LEG) ** 2 - flat), 0.0).max(axis=1)
    wide = maximum_filter1d(np.maximum(lack, 0.0), int(0.17 * motion.fps) | 1)
    out: FloatArray = gaussian_filter1d(wide, 0.05 * motion.fps, mode="nearest")
    return out


def _pinned(pelvis: FloatArray, pins: Sequence[Pin], fps: float) -> FloatArray:
    """The pelvis correction led smoothly through the pins; (F,)."""
    frames = np.arange(len(pelvis))
    for pin in pins:
        width = min([0.3 * fps, *(abs(other.frame - pin.frame) for other in pins if other.frame != pin.frame)])
        near = 1.0 - smooth_step(np.abs(frames - pin.frame), 0.0, width)
        pelvis = pelvis + (pin.pelvis - pelvis[pin.frame]) * near
    return pelvis


def _solve(
    motion: Motion, root: FloatArray, feet: FloatArray, bends: FloatArray, contacts: BoolArray, name: str
) -> Clip:
    """The legs that put the feet on their targets, and the clip."""
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
        world[:, foot] = _foot_rotation(feet[:, k, 3], feet[:, k, 4], feet[:, k, 5])
        world[:, toe] = rotations.multiply(world[:, foot], rotations.from_axis_angle(up, bends[:, k]))
        world[:, skeleton.index(side + "Toe_End")] = world[:, toe]
    clip = Clip(skeleton, root, local_rotations(skeleton, world), motion.fps, name, contacts)
    ankles = clip.joint_positions()[:, skeleton.require("left_ankle", "right_ankle")]
    missed = np.linalg.norm(ankles - feet[..., :3], axis=-1) > MISSED
    contacts[:, :6] &= ~np.repeat(missed, 3, axis=1)
    return replace(clip, contacts=contacts)
