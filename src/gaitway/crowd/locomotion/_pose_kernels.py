"""Compiled loops of locomotion: whole bodies from what they do, as rows of `steps` (see `_feet_kernels`).

Quaternions are scalars here, four at a time: Numba keeps them in registers.
"""

from __future__ import annotations

import numpy as np

from gaitway.cast.person.gait._kernels import rolled
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.core.jit import kernel
from gaitway.crowd.locomotion._feet_kernels import (
    ACROSS,
    HERE,
    LATE,
    NEAR,
    PITCH,
    RISE,
    STEP_FEET,
    STEP_HEADING,
    STEP_IDLE,
    STEP_LEFT_ARM,
    STEP_PHASE,
    STEP_RIGHT_ARM,
    STEP_WEIGHTS,
    STEP_WIDTH,
    STEP_X,
    STEP_Y,
    THERE,
    _smooth,
    _wrapped,
)
from gaitway.motion.limits import HUMAN_LIMITS

STRAIGHT, LANDING = 0.996, 0.982
"""Longest leg that pushes off, and that swings or lands, as shares of the straight one."""
TRAILING = 0.988
"""A standing leg that is longer than this raises its heel, as a share of the straight one."""
HEEL_UP, TIPTOE, BEHIND = -1.25, -0.6, 0.2
"""Lowest pitch of a foot that is left behind and of one that is not [rad], and how far behind the hip that is [m]."""
DEEP = 0.07
"""A foot that was left behind begins to raise its heel, whatever it does, where the pelvis would sink by this [m]."""
GENTLE = 0.985
"""A swinging leg that has to be longer than this follows its foot less and less, as a share of the straight one."""
TOES_FLAT, TOE_SHARE, ANKLE = 6, 7, 8
"""Columns of the shape of a foot."""
EASE = 0.95
"""Share of the range of an ankle that feet use."""
DORSAL, PLANTAR = (EASE * abs(float(np.radians(end))) for end in HUMAN_LIMITS["ankle"].swing_deg)
INWARD, OUTWARD = (EASE * abs(float(np.radians(end))) for end in HUMAN_LIMITS["ankle"].side_deg)
"""How far an ankle turns in the four directions [rad]."""
EASING, EASINGS = 0.1, 14
"""Steps in which a pitch is sought that an ankle allows [rad], and how many."""
Quaternion = tuple[float, float, float, float]


@kernel(inner=True)
def _times(a: Quaternion, b: Quaternion) -> Quaternion:
    """Return the product of two rotations."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@kernel(inner=True)
def _inverse(a: Quaternion) -> Quaternion:
    """Return the inverse of a rotation."""
    return a[0], -a[1], -a[2], -a[3]


@kernel(inner=True)
def _rotated(q: Quaternion, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a rotated vector."""
    tx, ty, tz = 2.0 * (q[2] * z - q[3] * y), 2.0 * (q[3] * x - q[1] * z), 2.0 * (q[1] * y - q[2] * x)
    return (
        x + q[0] * tx + q[2] * tz - q[3] * ty,
        y + q[0] * ty + q[3] * tx - q[1] * tz,
        z + q[0] * tz + q[1] * ty - q[2] * tx,
    )


@kernel(inner=True)
def _read(array: FloatArray, i: int, j: int) -> Quaternion:
    """Return array[i, j]."""
    return array[i, j, 0], array[i, j, 1], array[i, j, 2], array[i, j, 3]


@kernel(inner=True)
def _frame(px: float, py: float, pz: float, ux: float, uy: float, uz: float) -> Quaternion:
    """Return the rotation whose x axis is p and whose z axis is -u, two unit vectors at right angles."""
    zx, zy, zz = -ux, -uy, -uz
    yx, yy, yz = zy * pz - zz * py, zz * px - zx * pz, zx * py - zy * px
    trace = px + yy + zz
    if trace > 0.0:
        s = 2.0 * np.sqrt(trace + 1.0)
        return 0.25 * s, (yz - zy) / s, (zx - pz) / s, (py - yx) / s
    if px > yy and px > zz:
        s = 2.0 * np.sqrt(1.0 + px - yy - zz)
        return (yz - zy) / s, 0.25 * s, (yx + py) / s, (zx + pz) / s
    if yy > zz:
        s = 2.0 * np.sqrt(1.0 + yy - px - zz)
        return (zx - pz) / s, (yx + py) / s, 0.25 * s, (zy + yz) / s
    s = 2.0 * np.sqrt(1.0 + zz - px - yy)
    return (py - yx) / s, (zx + pz) / s, (zy + yz) / s, 0.25 * s


@kernel(inner=True, shared=True)
def _blended(
    n: int, style: int, steps: FloatArray, corners: IntArray, poses: SingleArray, sources: IntArray, rest: SingleArray,
    rest_fps: float, tucked_joints: IntArray, tucked: FloatArray, pose: SingleArray,
) -> None:  # fmt: skip
    """Write the blend of the four cycles of row `n`, arms tucked as far as somebody is near, into `pose` (4 J + 3)."""
    width, phases, moments = len(pose), poses.shape[2], rest.shape[1]
    joints = (width - 3) // 4
    for i in range(width):
        pose[i] = 0.0
    for corner in range(4):
        weight, cycle = steps[n, STEP_WEIGHTS + corner], corners[n, corner]
        if weight < 1e-5:
            continue
        if cycle == 0:
            at = steps[n, STEP_IDLE] * rest_fps
            at -= moments * np.floor(at / moments)
            low = min(int(at), moments - 1)
            after = low + 1 if low + 1 < moments else 0
            b = np.float32(weight * (at - low))
            a = np.float32(weight) - b
            for i in range(width):
                pose[i] += a * rest[style, low, i] + b * rest[style, after, i]
        else:
            at = steps[n, STEP_PHASE] * phases
            low = min(int(at), phases - 1)
            after = low + 1 if low + 1 < phases else 0
            b = np.float32(weight * (at - low))
            a = np.float32(weight) - b
            row = sources[cycle]
            for i in range(width):
                pose[i] += a * poses[style, row, low, i] + b * poses[style, row, after, i]
    if steps[n, STEP_LEFT_ARM] != 0.0 or steps[n, STEP_RIGHT_ARM] != 0.0:
        arms = len(tucked_joints)
        for i in range(arms):
            j = tucked_joints[i]
            how = steps[n, STEP_LEFT_ARM if 2 * i < arms else STEP_RIGHT_ARM]
            close, row = np.float32(_smooth(abs(how))), i if how >= 0.0 else i + arms
            along = np.float32(0.0)
            for c in range(4):
                along += pose[c * joints + j] * np.float32(tucked[row, c])
            sign = np.float32(1.0) if along >= 0.0 else np.float32(-1.0)
            for c in range(4):
                pose[c * joints + j] += close * (sign * np.float32(tucked[row, c]) - pose[c * joints + j])
    for j in range(joints):
        w, x, y, z = pose[j], pose[joints + j], pose[2 * joints + j], pose[3 * joints + j]
        scale = np.float32(1.0) / np.sqrt(w * w + x * x + y * y + z * z)
        pose[j], pose[joints + j] = w * scale, x * scale
        pose[2 * joints + j], pose[3 * joints + j] = y * scale, z * scale


@kernel(inner=True)
def _ankle(
    steps: FloatArray, n: int, out: int, pitch: float, foot: FloatArray, k: int
) -> tuple[float, float, float, float]:
    """Return the ankle (x, y, z) and the yaw of a foot with this pitch: on its place, or between two."""
    along, up = rolled(pitch, foot[k])
    yaw = steps[n, out + HERE + 2]
    x, y = steps[n, out + HERE] + along * np.cos(yaw), steps[n, out + HERE + 1] + along * np.sin(yaw)
    across = steps[n, out + ACROSS]
    if across > 0.0:
        other = steps[n, out + THERE + 2]
        x += across * (steps[n, out + THERE] + along * np.cos(other) - x)
        y += across * (steps[n, out + THERE + 1] + along * np.sin(other) - y)
        yaw += across * _wrapped(other - yaw)
    return x, y, foot[k, ANKLE] + up + steps[n, out + RISE], yaw


@kernel(inner=True)
def _leg(
    hx: float, hy: float, hz: float, ax: float, ay: float, az: float, a: float, b: float, knee: float, swings: bool
) -> tuple[Quaternion, Quaternion]:
    """Return the turns of the thigh (of length a) and the shank (of length b) from a hip to an ankle.

    `knee` is the direction that the knee points to [rad]; a leg that swings is never jerked straight.
    """
    dx, dy, dz = ax - hx, ay - hy, az - hz
    far = np.sqrt(dx * dx + dy * dy + dz * dz)
    ux, uy, uz = dx / far, dy / far, dz / far
    reach = min(max(far, 1.05 * abs(a - b) + 0.05), 0.9995 * (a + b))
    over = far / (a + b) - GENTLE
    if swings and over > 0.0:
        reach = (a + b) * (GENTLE + 0.012 * (1.0 - np.exp(-over / 0.012)))
    fx, fy = np.cos(knee), np.sin(knee)
    along = fx * ux + fy * uy
    px, py, pz = fx - along * ux, fy - along * uy, -along * uz
    size = 1.0 / np.sqrt(px * px + py * py + pz * pz)
    plane = _frame(px * size, py * size, pz * size, ux, uy, uz)
    bend = min((a * a + reach * reach - b * b) / (2.0 * a * reach), 1.0)
    fold = min((b * b + reach * reach - a * a) / (2.0 * b * reach), 1.0)
    thigh = _times(plane, (np.sqrt(0.5 + 0.5 * bend), 0.0, -np.sqrt(0.5 - 0.5 * bend), 0.0))
    shank = _times(plane, (np.sqrt(0.5 + 0.5 * fold), 0.0, np.sqrt(0.5 - 0.5 * fold), 0.0))
    return thigh, shank


@kernel(inner=True)
def _foot(toes: float, pitch: float) -> Quaternion:
    """Return the turn of a foot with this yaw and pitch [rad]."""
    turned = (np.cos(0.5 * toes), 0.0, 0.0, np.sin(0.5 * toes))
    return _times(turned, (np.cos(0.5 * pitch), 0.0, -np.sin(0.5 * pitch), 0.0))


@kernel(inner=True)
def _swing(turn: Quaternion) -> tuple[float, float, Quaternion]:
    """Return the rotation vector (x, y) of the swing of a turn that is a swing after a twist about z, and the twist."""
    size = max(np.sqrt(turn[0] * turn[0] + turn[3] * turn[3]), 1e-12)
    twist = (turn[0] / size, 0.0, 0.0, turn[3] / size)
    swing = _times(turn, _inverse(twist))
    across = np.sqrt(swing[1] * swing[1] + swing[2] * swing[2])
    scale = 2.0 if across < 1e-9 else 2.0 * np.arctan2(across, swing[0]) / across
    return scale * swing[1], scale * swing[2], twist


@kernel(inner=True)
def _strain(x: float, y: float, k: int) -> float:
    """Return the swing of an ankle of leg `k`, as a share of the farthest one in the same direction."""
    side = x * (1.0 - 2.0 * k)
    return float(
        np.sqrt((y / (PLANTAR if y > 0.0 else DORSAL)) ** 2 + (side / (OUTWARD if side > 0.0 else INWARD)) ** 2)
    )


@kernel(inner=True)
def _strain_of_pitch(
    steps: FloatArray, n: int, out: int, pitch: float, feet: FloatArray, k: int, hx: float, hy: float, hz: float,
    a: float, b: float, heading: float,
) -> float:  # fmt: skip
    """Return the strain of the ankle of a foot with this pitch below a hip."""
    ax, ay, az, toes = _ankle(steps, n, out, pitch, feet, k)
    knee = heading + 0.6 * _wrapped(toes - heading)
    _thigh, shank = _leg(hx, hy, hz, ax, ay, az, a, b, knee, steps[n, out + ACROSS] >= 0.0)
    x, y, _twist = _swing(_times(_inverse(shank), _foot(toes, pitch)))
    return _strain(x, y, k)


@kernel(inner=True)
def _eased(
    steps: FloatArray, n: int, out: int, pitch: float, lowest: float, feet: FloatArray, k: int, hx: float, hy: float,
    hz: float, a: float, b: float, heading: float,
) -> float:  # fmt: skip
    """Return the pitch of a foot, or the nearest one down to `lowest` at which its ankle is within its range."""
    strain = _strain_of_pitch(steps, n, out, pitch, feet, k, hx, hy, hz, a, b, heading)
    if strain <= 1.0:
        return pitch
    best, least, within = pitch, strain, False
    for i in range(1, EASINGS):
        for sign in (1.0, -1.0):
            tried = pitch + sign * i * EASING
            if tried < lowest or tried > max(pitch, 0.0):
                continue
            strain = _strain_of_pitch(steps, n, out, tried, feet, k, hx, hy, hz, a, b, heading)
            if strain < least and not within:
                best, least, within = tried, strain, strain <= 1.0
        if within:
            break
    if not within:
        return best
    good, bad = best, best - EASING if best > pitch else best + EASING
    for _ in range(5):
        middle = 0.5 * (good + bad)
        if _strain_of_pitch(steps, n, out, middle, feet, k, hx, hy, hz, a, b, heading) <= 1.0:
            good = middle
        else:
            bad = middle
    return good


@kernel
def pose_bodies(
    low: int,
    high: int,
    styles: IntArray,
    steps: FloatArray,
    corners: IntArray,
    drops: FloatArray,
    poses: SingleArray,
    sources: IntArray,
    rest: SingleArray,
    rest_fps: float,
    parents: IntArray,
    offsets: FloatArray,
    legs: IntArray,
    paths: IntArray,
    lengths: FloatArray,
    frames: FloatArray,
    above: FloatArray,
    feet: FloatArray,
    tucked_joints: IntArray,
    tucked: FloatArray,
    settle: float,
    roots: FloatArray,
    local: SingleArray,
    down: BoolArray,
    needs: FloatArray,
) -> None:
    """Compute the poses of rows `low` to `high`; the last four arguments, and `drops` if it settles, are written to.

    Args:
        low: first row.
        high: end of the rows.
        styles: style of each row; (N,).
        steps: see `_feet_kernels`; (N, STEP_COLUMNS).
        corners: cycles that are blended; (N, 4).
        drops: how much lower than in the blend each pelvis is [m]; (N,).
        poses: see `LocomotionSpace`.
        sources: see `LocomotionSpace`.
        rest: see `LocomotionSpace`.
        rest_fps: rate of `rest` [Hz].
        parents: of the joints; (J,).
        offsets: of the joints [m]; (J, 3).
        legs: see `BodyRig`.
        paths: see `BodyRig`.
        lengths: see `BodyRig`.
        frames: see `BodyRig`.
        above: see `BodyRig`.
        feet: see `BodyRig`.
        tucked_joints: see `BodyRig`.
        tucked: see `BodyRig`.
        settle: above 0, drops follow what legs need by this share of the way; 0 leaves them.
        roots: positions of the roots [m]; (N, 3).
        local: local rotations; (N, J, 4).
        down: whether heel, ball and toe of the left and of the right foot rest; (N, 6).
        needs: how much lower the pelvis would have to be for the legs to reach [m]; (N,).
    """
    joints = len(parents)
    pose = np.empty(4 * joints + 3, dtype=np.float32)
    pitches, hips = np.empty(2), np.empty((2, 3))
    for n in range(low, high):
        _blended(n, styles[n], steps, corners, poses, sources, rest, rest_fps, tucked_joints, tucked, pose)
        heading = steps[n, STEP_HEADING]
        cosine, sine = np.cos(heading), np.sin(heading)
        sway_x, sway_y = float(pose[4 * joints]), float(pose[4 * joints + 1])
        x = steps[n, STEP_X] + cosine * sway_x - sine * sway_y
        y = steps[n, STEP_Y] + sine * sway_x + cosine * sway_y
        z = float(pose[4 * joints + 2])
        half, yaw = np.cos(0.5 * heading), np.sin(0.5 * heading)
        w0, x0, y0, z0 = float(pose[0]), float(pose[joints]), float(pose[2 * joints]), float(pose[3 * joints])
        base = (half * w0 - yaw * z0, half * x0 - yaw * y0, half * y0 + yaw * x0, half * z0 + yaw * w0)
        for j in range(joints):
            for c in range(4):
                local[n, j, c] = pose[c * joints + j]
        for c in range(4):
            local[n, 0, c] = base[c]
        # what the legs need
        lack = 0.0
        for k in range(2):
            hx, hy, hz, turn = x, y, z, base
            for i in range(paths.shape[1]):
                j = paths[k, i]
                if j < 0:
                    continue
                ox, oy, oz = _rotated(turn, offsets[j, 0], offsets[j, 1], offsets[j, 2])
                hx, hy, hz = hx + ox, hy + oy, hz + oz
                if i + 1 < paths.shape[1]:
                    turn = _times(turn, (local[n, j, 0], local[n, j, 1], local[n, j, 2], local[n, j, 3]))
            hips[k, 0], hips[k, 1], hips[k, 2] = hx, hy, hz
            out, length = STEP_FEET + k * STEP_WIDTH, lengths[k, 0] + lengths[k, 1]
            pitch, late = steps[n, out + PITCH], steps[n, out + LATE]
            # only a leg that trails behind can raise its heel far
            ax, ay, az, toes = _ankle(steps, n, out, pitch, feet, k)
            trails = min(max(((hx - ax) * np.cos(toes) + (hy - ay) * np.sin(toes)) / BEHIND, 0.0), 1.0)
            pitch = max(pitch, TIPTOE - 2.0 * trails)
            lowest = min(pitch, TIPTOE + trails * (HEEL_UP - TIPTOE))
            # nobody kneels down for a foot that was left behind
            apart = min((ax - hx) ** 2 + (ay - hy) ** 2, (0.9 * length) ** 2)
            sinks = hz - az - np.sqrt((LANDING * length) ** 2 - apart)
            lifted = _smooth(4.0 * steps[n, out + ACROSS])  # 0 of a foot that stands
            late = max(late, (1.0 - lifted) * trails * _smooth((sinks - DEEP) / DEEP))
            if late > 0.0:
                for _ in range(4):  # a leg that trails too far raises its heel
                    ax, ay, az, _yaw = _ankle(steps, n, out, pitch, feet, k)
                    over = np.sqrt((ax - hx) ** 2 + (ay - hy) ** 2 + (az - hz + drops[n]) ** 2) - TRAILING * length
                    if over <= 0.0:
                        break
                    pitch = max(pitch - late * over * over / (over + 0.01) / 0.14, lowest)
            pitch = _eased(
                steps, n, out, pitch, lowest, feet, k, hx, hy, hz - drops[n], lengths[k, 0], lengths[k, 1], heading
            )
            pitches[k] = pitch
            ax, ay, az, _yaw = _ankle(steps, n, out, pitch, feet, k)
            flat = min((ax - hx) ** 2 + (ay - hy) ** 2, (0.9 * length) ** 2)
            longest = (LANDING + late * (STRAIGHT - LANDING)) * length
            lack = max(lack, hz - az - np.sqrt(longest**2 - flat))
        needs[n] = lack
        if settle > 0.0:
            drops[n] += (settle if lack > drops[n] else 0.35 * settle) * (lack - drops[n])
        z -= drops[n]
        roots[n, 0], roots[n, 1], roots[n, 2] = x, y, z
        for k in range(2):
            out, a, b = STEP_FEET + k * STEP_WIDTH, lengths[k, 0], lengths[k, 1]
            pitch = pitches[k]
            ax, ay, az, toes = _ankle(steps, n, out, pitch, feet, k)
            hx, hy, hz = hips[k, 0], hips[k, 1], hips[k, 2] - drops[n]
            dx, dy, dz = ax - hx, ay - hy, az - hz
            far = np.sqrt(dx * dx + dy * dy + dz * dz)
            knee, swings = heading + 0.6 * _wrapped(toes - heading), steps[n, out + ACROSS] >= 0.0
            thigh, shank = _leg(hx, hy, hz, ax, ay, az, a, b, knee, swings)
            foot = _foot(toes, pitch)
            if swings:  # a foot in the air goes along with its shank where an ankle does not turn farther
                sx, sy, twist = _swing(_times(_inverse(shank), foot))
                strain = _strain(sx, sy, k)
                if strain > 1.0:
                    angle = np.sqrt(sx * sx + sy * sy)
                    less = np.sin(0.5 * angle / strain) / angle
                    swung = (np.cos(0.5 * angle / strain), sx * less, sy * less, 0.0)
                    foot = _times(shank, _times(swung, twist))
            hip, knee_joint, ankle, toe = legs[k, 0], legs[k, 1], legs[k, 2], legs[k, 3]
            turn = base
            for i in range(paths.shape[1] - 1):
                j = paths[k, i]
                if j >= 0:
                    turn = _times(turn, (local[n, j, 0], local[n, j, 1], local[n, j, 2], local[n, j, 3]))
            first = _times(_inverse(turn), _times(thigh, _read(frames, k, 0)))
            second = _times(_inverse(_times(thigh, _read(above, k, 0))), _times(shank, _read(frames, k, 1)))
            third = _times(_inverse(_times(shank, _read(above, k, 1))), _times(foot, _read(frames, k, 2)))
            for c in range(4):
                local[n, hip, c], local[n, knee_joint, c], local[n, ankle, c] = first[c], second[c], third[c]
            lowered = max(-pitch, 0.0)
            if toe >= 0:
                curl = steps[n, out + NEAR] * (lowered - feet[k, TOE_SHARE] * max(lowered - feet[k, TOES_FLAT], 0.0))
                tip = _times(foot, (np.cos(0.5 * curl), 0.0, -np.sin(0.5 * curl), 0.0))
                fourth = _times(_inverse(_times(foot, _read(above, k, 2))), _times(tip, _read(frames, k, 3)))
                for c in range(4):
                    local[n, toe, c] = fourth[c]
            stands = steps[n, out + ACROSS] < 0.0 and far <= 1.0005 * (a + b)
            down[n, 3 * k] = stands and pitch >= 0.0
            down[n, 3 * k + 1] = stands and pitch <= 0.0 and lowered <= feet[k, TOES_FLAT]
            down[n, 3 * k + 2] = stands and pitch <= 0.0
