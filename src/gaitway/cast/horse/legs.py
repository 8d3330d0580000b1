"""How a horse's leg follows its hoof: exact inverse kinematics while it stands, a free swing in between.

In stance the toe is pinned. The pastern's slope and the roll of the hoof over its toe are given, which leaves three
bones between pivot and fetlock: the hind leg's stifle and hock flex together (as a real horse's tendons force them to),
the foreleg's knee is locked and shoulder and elbow take up the length. Between stances joint angles follow quintics
that carry on the stance's speeds at both ends, plus hills of flexion that lift the hoof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.cast.curves import bump, hermite
from gaitway.cast.horse.skeleton import HEEL, TOE, LegGeometry, horse_skeleton
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray

FLEXION_RATIOS = {True: (-1.0, 0.0), False: (1.0, -0.95)}
"""How the second and third bone turn [rad] for each radian of flexion, by whether the leg is a foreleg."""
SCAPULA_SHARE = 0.3
"""Part of a foreleg's swing to and fro that its shoulder blade makes."""
SWING_HILLS_DEG = {
    # extra turn of each joint from the top, positive backward, in three hills:
    # one that folds the leg, one that carries it forward, one that lifts the toe before it lands
    True: ((-2, 14, -50, 84, 45, 14), (-2, -6, -14, 26, 10, 0), (0, 0, 0, 0, -9, -14)),
    False: ((-18, 44, -56, 50, 14), (-20, 33, -31, 19, 0), (0, 0, 0, -8, -10)),
}
SWING_SHAPES = ((2.0, 3.5), (4.0, 3.2), (9.0, 2.5))
"""Powers of rise and fall of the three hills, which peak ever later in the swing."""
CLEARING_HILL_DEG = {True: (0, 0, -40, 55, -15, -10), False: (-14, 30, -34, -12, -10)}
"""Turns that lift a hoof clear of the ground wherever it is in its swing: fold above, toe up."""
CLEARANCE_TOLERANCE = 0.001
"""How far a hoof may dip under the ground in its swing before the leg is folded more [m]."""


@dataclass(frozen=True)
class HoofStance:
    """One hoof on the ground, from sample `first` to sample `last` of the clip's fine time grid."""

    first: int
    last: int
    x: float
    y: float
    yaw: float
    """Planar place of the toe [m] and direction of the hoof [rad]."""
    load: float = 1.0
    """How far the fetlock sinks and the hoof rolls over: 1 in a gallop, 0 when standing."""
    starts_planted: bool = False
    """The clip begins with this stance, so it has no landing."""
    ends_planted: bool = False
    """The clip ends with this stance, so the hoof does not roll off."""
    lift: float = 1.0
    """How high the swing after it goes; 1 in a gallop."""


def solve_chain(bones: FloatArray, ratios: tuple[float, float], target: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Solve a chain of three bones in a plane, of which the second and third flex together, for its end point.

    Args:
        bones: Rest vectors (x, z) [m]; (3, 2).
        ratios: Turn of the second and third bone [rad] for each radian of flexion.
        target: End point of the chain seen from its beginning, (x, z) [m]; (N, 2).

    Returns:
        Pitch of the first bone and flexion [rad], (N,) each. A target beyond reach is approached as near as possible.
    """
    first, second, third = bones[:, 0] + 1j * bones[:, 1]

    def end(flexion: FloatArray) -> np.ndarray:
        turned = second + np.exp(-1j * ratios[1] * flexion) * third
        out: np.ndarray = first + np.exp(-1j * ratios[0] * flexion) * turned
        return out

    # reach falls steadily from the straightest pose to this much flexion
    grid = np.linspace(-1.2, 2.2, 341)
    reach = np.abs(end(grid))
    straightest = int(np.argmax(reach[:241]))
    shortest = straightest + int(np.argmin(reach[straightest:]))
    wanted = np.hypot(target[:, 0], target[:, 1])
    low = np.full(len(target), grid[straightest])
    high = np.full(len(target), grid[shortest])
    for _ in range(50):
        middle = 0.5 * (low + high)
        longer = np.abs(end(middle)) > wanted
        low, high = np.where(longer, middle, low), np.where(longer, high, middle)
    flexion = 0.5 * (low + high)
    pitch = np.angle(end(flexion) / (target[:, 0] + 1j * target[:, 1]))
    return pitch, flexion


def _about_y(angle: FloatArray) -> FloatArray:
    return rotations.from_axis_angle(np.array([0.0, 1.0, 0.0]), angle)


def stance_angles(leg: LegGeometry, body: FloatArray, body_world: FloatArray, stance: HoofStance) -> FloatArray:
    """Return the local rotation vectors [rad] (M, joints, 3) that keep the toe in place for samples `first` to `last`.

    Args:
        leg: Which leg.
        body: World position [m] of the joint that the leg hangs from (chest or croup) in each sample; (N, 3).
        body_world: Its world rotation; (N, 4).
        stance: Place and time of the stance.
    """
    span = slice(stance.first, stance.last + 1)
    world, origin = body_world[span], body[span]
    hoof_pitch, pastern_pitch = _foot_roll(stance, leg.is_fore)
    yaw = rotations.from_yaw(stance.yaw)
    hoof_world = rotations.multiply(yaw, _about_y(hoof_pitch))
    pastern_world = rotations.multiply(yaw, _about_y(pastern_pitch))
    coffin = np.array([stance.x, stance.y, 0.0]) - rotations.rotate(hoof_world, np.array(TOE))
    fetlock = coffin - rotations.rotate(pastern_world, np.array([leg.pastern[0], 0.0, leg.pastern[1]]))
    offsets = horse_skeleton().offsets
    local = []
    origin = origin + rotations.rotate(world, offsets[leg.joints[0]])
    if leg.is_fore:
        seen = rotations.rotate(rotations.conjugate(world), fetlock - origin)
        rest = offsets[leg.joints[1]] + np.array([leg.bones[:, 0].sum(), 0.0, leg.bones[:, 1].sum()])
        turn = np.arctan2(rest[0], -rest[2]) - np.arctan2(seen[:, 0], -seen[:, 2])
        blade = _about_y(SCAPULA_SHARE * turn)
        local.append(blade)
        world = rotations.multiply(world, blade)
        origin = origin + rotations.rotate(world, offsets[leg.joints[1]])
    seen = rotations.rotate(rotations.conjugate(world), fetlock - origin)
    ratios = FLEXION_RATIOS[leg.is_fore]
    down = np.hypot(seen[:, 1], seen[:, 2])
    pitch, flexion = solve_chain(leg.bones, ratios, np.column_stack([seen[:, 0], -down]))
    outward = rotations.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.arctan2(seen[:, 1], -seen[:, 2]))
    local += [
        rotations.multiply(outward, _about_y(pitch)),
        _about_y(ratios[0] * flexion),
        _about_y(ratios[1] * flexion),
    ]
    for turn_of_bone in local[-3:]:
        world = rotations.multiply(world, turn_of_bone)
    local.append(rotations.multiply(rotations.conjugate(world), pastern_world))
    local.append(rotations.multiply(rotations.conjugate(pastern_world), hoof_world))
    return rotations.to_rotation_vector(np.stack(local, axis=1))


def _foot_roll(stance: HoofStance, is_fore: bool) -> tuple[FloatArray, FloatArray]:
    """Return the world pitch [rad] of hoof and pastern in a stance: landing, sinking fetlock, roll over the toe."""
    s = np.linspace(0.0, 1.0, stance.last - stance.first + 1)
    load = stance.load
    roll = 0.0 if stance.ends_planted else np.radians(32.0) * (0.35 + 0.65 * load)
    hoof = roll * np.clip((s - 0.4) / 0.6, 0.0, 1.0) ** 2
    land = 0.0 if stance.starts_planted else np.radians(-14.0) * load
    leave = 0.0 if stance.ends_planted else np.radians(24.0) * (0.4 + 0.6 * load)
    sink = np.radians(20.0 if is_fore else 23.0) * load
    pastern = land * (1.0 - s) ** 2 + leave * s**2 - sink * np.sin(np.pi * s) ** 2
    return hoof, pastern


@dataclass(frozen=True, eq=False)
class SwingReference:
    """A swing that crosses the end of a clip must meet the one on the other side: the angles of the standard stride.

    `angles` (N, joints, 3) covers every sample of the clip; only those before the first or after the last stance count.
    """

    angles: FloatArray
    at_start: bool
    at_end: bool


def leg_angles(
    leg: LegGeometry,
    body: FloatArray,
    body_world: FloatArray,
    stances: Sequence[HoofStance],
    reference: SwingReference | None = None,
) -> FloatArray:
    """Return the local rotation vectors [rad] (N, joints, 3) of a leg over the whole clip."""
    count = len(body)
    out = np.zeros((count, len(leg.joints) * 3))
    pieces = [stance_angles(leg, body, body_world, s).reshape(s.last - s.first + 1, -1) for s in stances]
    for stance, piece in zip(stances, pieces, strict=True):
        out[stance.first : stance.last + 1] = piece
    for i in range(len(stances) - 1):
        begin, end = stances[i].last, stances[i + 1].first
        s = np.linspace(0.0, 1.0, end - begin + 1)
        step = s[1]
        leave, arrive = (
            np.clip(rate / step, -_FASTEST_SWING, _FASTEST_SWING)
            for rate in (_end_rate(pieces[i]), _start_rate(pieces[i + 1]))
        )
        swing = hermite(s, pieces[i][-1], leave, pieces[i + 1][0], arrive)
        mount = body[begin : end + 1], body_world[begin : end + 1]
        out[begin : end + 1] = _clear_of_ground(leg, mount, swing, s, stances[i].lift)
    if reference is not None:
        _join_reference(out, reference, stances, pieces)
    return out.reshape(count, len(leg.joints), 3)


_FASTEST_SWING, _FASTEST_JOIN = 9.6, 2.0
"""Greatest rates at which a leg leaves or meets the ground, and greatest differences of them from the usual ones [rad a
swing]. A leg that is nearly straight there turns far faster for a moment, and would fold right over after it."""


def _fold(leg: LegGeometry, s: FloatArray) -> FloatArray:
    """Return extra turns [rad] that fold a leg in its swing, by progress `s` (N,); (N, joints * 3)."""
    out = np.zeros((len(s), 3 * len(leg.joints)))
    for shape, degrees in zip(SWING_SHAPES, SWING_HILLS_DEG[leg.is_fore], strict=True):
        out += _hill(s, shape, degrees)
    return out


def _hill(s: FloatArray, shape: tuple[float, float], degrees: Sequence[float]) -> FloatArray:
    """Return turns about each joint's y axis that rise and fall again; (N, joints * 3)."""
    out = np.zeros((len(s), len(degrees), 3))
    out[:, :, 1] = bump(s, *shape)[:, None] * np.radians(degrees)
    return out.reshape(len(s), -1)


def _clear_of_ground(
    leg: LegGeometry, mount: tuple[FloatArray, FloatArray], swing: FloatArray, s: FloatArray, lift: float
) -> FloatArray:
    """Return the swing folded as much as `lift` asks for, and more around where the hoof would dip into the ground."""
    angles = swing + lift * _fold(leg, s)
    for _ in range(8):
        heights = hoof_heights(leg, *mount, angles.reshape(len(swing), -1, 3))
        lowest = int(np.argmin(heights))
        if heights[lowest] > -CLEARANCE_TOLERANCE:
            break
        rise = float(np.clip(8.0 * s[lowest], 2.0, 6.0))
        angles = angles + 0.1 * _hill(s, (rise, 8.0 - rise), CLEARING_HILL_DEG[leg.is_fore])
    return angles


def hoof_heights(leg: LegGeometry, body: FloatArray, body_world: FloatArray, angles: FloatArray) -> FloatArray:
    """Return the height [m] (N,) of the lower of toe and heel for leg angles (N, joints, 3)."""
    offsets = horse_skeleton().offsets
    place, world = body, body_world
    for column, joint in enumerate(leg.joints):
        place = place + rotations.rotate(world, offsets[joint])
        world = rotations.multiply(world, rotations.from_rotation_vector(angles[:, column]))
    ends = [place + rotations.rotate(world, np.array(end)) for end in (TOE, HEEL)]
    return np.minimum(ends[0][:, 2], ends[1][:, 2])


def _join_reference(
    out: FloatArray, reference: SwingReference, stances: Sequence[HoofStance], pieces: Sequence[FloatArray]
) -> None:
    """Fill the swings before the first and after the last stance, in place."""
    standard = reference.angles.reshape(len(out), -1)
    still = np.zeros(out.shape[1])
    if reference.at_start:
        to = stances[0].first
        s = np.linspace(0.0, 1.0, to + 1)
        rate = np.clip((_start_rate(pieces[0]) - _start_rate(standard[to:])) * to, -_FASTEST_JOIN, _FASTEST_JOIN)
        out[: to + 1] = standard[: to + 1] + hermite(s, still, still, pieces[0][0] - standard[to], rate)
    if reference.at_end:
        begin = stances[-1].last
        span = len(out) - 1 - begin
        s = np.linspace(0.0, 1.0, span + 1)
        rate = (_end_rate(pieces[-1]) - _end_rate(standard[: begin + 1])) * span
        rate = np.clip(rate, -_FASTEST_JOIN, _FASTEST_JOIN)
        out[begin:] = standard[begin:] + hermite(s, pieces[-1][-1] - standard[begin], rate, still, still)


def _start_rate(samples: FloatArray) -> FloatArray:
    """Change a sample at the first of them, to second order."""
    out: FloatArray = 0.5 * (-3.0 * samples[0] + 4.0 * samples[1] - samples[2])
    return out


def _end_rate(samples: FloatArray) -> FloatArray:
    return -_start_rate(samples[::-1])
