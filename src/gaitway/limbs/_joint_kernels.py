"""Compiled loops over the posture of one limb: frames from angles, angles from frames, and analytic IK.

A limb is three segments: upper arm, forearm and hand, or thigh, shank and foot. Each has a frame with z along the bone
and y along the hinge of the middle joint; all are equal where the limb is straight. A posture is nine angles:

    upper = base swing(SWING_X, SWING_Y) Rz(TWIST)
    fore  = upper Ry(FLEX) Rx(SIDE) Rz(ROLL)
    end   = fore swing(END_X, END_Y) Rz(END_TWIST)

The first seven are planned. SIDE and END_TWIST hold what a rig has beyond an anatomical limb (an elbow that leaves its
plane, a forearm that is twisted at the hand), so that every captured pose is met exactly.
"""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

SWING_X, SWING_Y, TWIST, FLEX, ROLL, END_X, END_Y, SIDE, END_TWIST = range(9)
"""Columns of a posture [rad]."""
PLANNED, ANGLES = 7, 9
"""Number of planned angles, and of all."""
UPPER, FORE, END = 0, 1, 2
"""Segments."""
LOW, HIGH = 0, 1
"""Columns of ranges."""
SWING_ELLIPSE, TWIST_RANGE, FLEX_RANGE, ROLL_RANGE, END_ELLIPSE = range(5)
"""Rows of limits: ellipses are centre x, centre y, radius x, radius y; ranges are low, high [rad]; (5, 4)."""
WEDGES = END_ELLIPSE + 1
"""Row of limits at which wedges of spherical polygons begin, three rows each: the row of the ellipse whose swing they
limit (-1: none), and the inner normal of one side of the wedge; (3 W, 4)."""
_SMALL = 1e-9


@kernel(inner=True, borrows=True)
def swing_frame(x: float, y: float, m: FloatArray) -> None:
    """Write the matrix (3, 3) of the rotation vector (x, y, 0)."""
    square = x * x + y * y
    angle = math.sqrt(square)
    if angle < 1e-4:  # series: both fractions are 0 / 0 at rest
        s, c1 = 1.0 - square / 6.0, 0.5 - square / 24.0
    else:
        s, c1 = math.sin(angle) / angle, (1.0 - math.cos(angle)) / square
    c = 1.0 - c1 * square
    m[0, 0], m[0, 1], m[0, 2] = c + c1 * x * x, c1 * x * y, s * y
    m[1, 0], m[1, 1], m[1, 2] = c1 * x * y, c + c1 * y * y, -s * x
    m[2, 0], m[2, 1], m[2, 2] = -s * y, s * x, c


@kernel(inner=True, borrows=True)
def turn_columns(m: FloatArray, a: int, b: int, angle: float) -> None:
    """Multiply a matrix from the right by the turn that takes axis a to axis b."""
    c, s = math.cos(angle), math.sin(angle)
    for i in range(3):
        u, v = m[i, a], m[i, b]
        m[i, a], m[i, b] = u * c + v * s, v * c - u * s


@kernel(inner=True, borrows=True)
def product(a: FloatArray, b: FloatArray, out: FloatArray) -> None:
    """Write a b; (3, 3) each."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]


@kernel(inner=True, borrows=True)
def seen_from(a: FloatArray, b: FloatArray, out: FloatArray) -> None:
    """Write the transpose of a, times b; (3, 3) each."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[0, i] * b[0, j] + a[1, i] * b[1, j] + a[2, i] * b[2, j]


@kernel(inner=True, borrows=True)
def limb_frames(
    base: FloatArray, start: FloatArray, lengths: FloatArray, q: FloatArray, frames: FloatArray, points: FloatArray,
    swing: FloatArray,
) -> None:  # fmt: skip
    """Write the frames (3, 3, 3) of a posture (9,), and the places (3, 3) of its joints [m].

    Args:
        base: frame that the limb hangs on; (3, 3).
        start: place of the shoulder or hip [m]; (3,).
        lengths: of both bones [m]; (2,).
        q: the posture [rad]; (9,).
        frames: of the three segments; filled.
        points: shoulder, elbow and wrist, or hip, knee and ankle; filled.
        swing: memory; (3, 3).
    """
    swing_frame(q[SWING_X], q[SWING_Y], swing)
    product(base, swing, frames[UPPER])
    turn_columns(frames[UPPER], 0, 1, q[TWIST])
    for i in range(3):
        for j in range(3):
            frames[FORE, i, j] = frames[UPPER, i, j]
    turn_columns(frames[FORE], 2, 0, q[FLEX])
    turn_columns(frames[FORE], 1, 2, q[SIDE])
    turn_columns(frames[FORE], 0, 1, q[ROLL])
    swing_frame(q[END_X], q[END_Y], swing)
    product(frames[FORE], swing, frames[END])
    turn_columns(frames[END], 0, 1, q[END_TWIST])
    for i in range(3):
        points[0, i] = start[i]
        points[1, i] = start[i] + lengths[0] * frames[UPPER, i, 2]
        points[2, i] = points[1, i] + lengths[1] * frames[FORE, i, 2]


@kernel(inner=True, borrows=True)
def split_turn(m: FloatArray, twist_first: bool) -> tuple[float, float, float]:
    """Split a matrix into a swing (x, y) and a twist about z [rad].

    It is twist times swing if `twist_first`, else swing times twist. A swing by exactly pi has no twist.
    """
    w = math.sqrt(max(0.0, 1.0 + m[0, 0] + m[1, 1] + m[2, 2]))
    twist = 0.0
    if w > 1e-6:
        twist = 2.0 * math.atan2((m[1, 0] - m[0, 1]) / w, w)
    elif m[0, 0] + m[1, 1] < m[2, 2]:  # a turn by pi about z itself
        twist = math.pi
    if twist_first:
        bx, by = -m[2, 0], -m[2, 1]
    else:
        bx, by = m[0, 2], m[1, 2]
    sine = math.sqrt(bx * bx + by * by)
    angle = math.atan2(sine, m[2, 2])
    if sine < _SMALL and m[2, 2] < 0.0:  # a swing by pi: the axis is free, so it is x
        return math.pi, 0.0, twist
    scale = 1.0 if sine < _SMALL else angle / sine
    return -scale * by, scale * bx, twist


@kernel(inner=True, borrows=True)
def wrapped(angle: float) -> float:
    """Return an angle between -pi and pi."""
    return angle - 2.0 * math.pi * math.floor((angle + math.pi) / (2.0 * math.pi))


@kernel(inner=True, borrows=True)
def limb_angles(base: FloatArray, frames: FloatArray, q: FloatArray, memory: FloatArray) -> None:
    """Write the posture (9,) of three frames (3, 3, 3); the inverse of `limb_frames`. Memory is (3, 3)."""
    seen_from(base, frames[UPPER], memory)
    q[SWING_X], q[SWING_Y], q[TWIST] = split_turn(memory, False)
    seen_from(frames[UPPER], frames[FORE], memory)
    x, y, z = memory[0, 2], memory[1, 2], memory[2, 2]
    flat = math.sqrt(x * x + z * z)
    q[FLEX] = 0.0 if flat < _SMALL else math.atan2(x, z)
    q[SIDE] = math.atan2(-y, flat)
    # what is left after flexion and side is the roll: undo them on the x axis of the forearm
    c, s, cs, ss = math.cos(q[FLEX]), math.sin(q[FLEX]), math.cos(q[SIDE]), math.sin(q[SIDE])
    along = c * memory[0, 0] - s * memory[2, 0]
    ahead = s * memory[0, 0] + c * memory[2, 0]
    across = cs * memory[1, 0] + ss * ahead
    q[ROLL] = math.atan2(across, along)
    seen_from(frames[FORE], frames[END], memory)
    q[END_X], q[END_Y], q[END_TWIST] = split_turn(memory, False)


@kernel
def angles_of(bases: FloatArray, frames: FloatArray, out: FloatArray) -> None:
    """Write postures (N, 9) of frames (N, 3, 3, 3) that hang on bases (N, 3, 3)."""
    memory = np.empty((3, 3))
    for n in range(out.shape[0]):
        limb_angles(bases[n], frames[n], out[n], memory)


@kernel
def frames_of(
    bases: FloatArray, starts: FloatArray, lengths: FloatArray, q: FloatArray, frames: FloatArray, points: FloatArray
) -> None:
    """Write frames (N, 3, 3, 3) and joints (N, 3, 3) of postures (N, 9); see `limb_frames`."""
    swing = np.empty((3, 3))
    for n in range(q.shape[0]):
        limb_frames(bases[n], starts[n], lengths, q[n], frames[n], points[n], swing)


@kernel(inner=True, borrows=True)
def solve(
    base: FloatArray, start: FloatArray, lengths: FloatArray, target: FloatArray, hand: FloatArray, swivel: float,
    q: FloatArray, frame: FloatArray, memory: FloatArray,
) -> bool:  # fmt: skip
    """Find the posture that brings the wrist to a target with the hand's frame as asked (Tolani and Badler 1996).

    Args:
        base: frame that the limb hangs on; (3, 3).
        start: place of the shoulder or hip [m]; (3,).
        lengths: of both bones [m]; (2,).
        target: wanted place of the wrist or ankle [m]; (3,).
        hand: wanted frame of the last segment; (3, 3).
        swivel: angle of the elbow about the line from shoulder to wrist; 0 is as low as it can be [rad].
        q: its SIDE and END_TWIST are kept, the rest is filled; (9,).
        frame: memory; (3, 3).
        memory: memory; (3, 3).

    Returns:
        False if the target is out of reach.
    """
    nx, ny, nz = target[0] - start[0], target[1] - start[1], target[2] - start[2]
    square = nx * nx + ny * ny + nz * nz
    away, first, second = math.sqrt(square), lengths[0], lengths[1]
    if away > first + second + _SMALL or away < abs(first - second) + 1e-6:
        return False
    bend = (square - first * first - second * second) / (2.0 * first * second)  # cosine of the angle between the bones
    side = math.cos(q[SIDE])
    if abs(bend) > side + _SMALL:  # the middle joint leaves its plane so far that it cannot be this straight
        return False
    q[FLEX] = math.acos(min(max(bend / side, -1.0), 1.0))
    nx, ny, nz = nx / away, ny / away, nz / away
    near = (first * first + square - second * second) / (2.0 * first * away)
    out = math.sqrt(max(0.0, 1.0 - near * near))
    level = math.sqrt(max(1.0 - nz * nz, 0.0))
    ux, uy, uz = 1.0, 0.0, 0.0  # straight up or down there is no lowest place for the elbow
    if level > 1e-6:
        ux, uy, uz = nz * nx / level, nz * ny / level, -level
    vx, vy, vz = ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux
    c, s = math.cos(swivel), math.sin(swivel)
    kx, ky, kz = c * ux + s * vx, c * uy + s * vy, c * uz + s * vz
    ex, ey, ez = near * nx + out * kx, near * ny + out * ky, near * nz + out * kz
    # the forearm leads from the elbow back to the line: the hinge is across both
    hx, hy, hz = ky * nz - kz * ny, kz * nx - kx * nz, kx * ny - ky * nx
    frame[0, 0], frame[1, 0], frame[2, 0] = hy * ez - hz * ey, hz * ex - hx * ez, hx * ey - hy * ex
    frame[0, 1], frame[1, 1], frame[2, 1] = hx, hy, hz
    frame[0, 2], frame[1, 2], frame[2, 2] = ex, ey, ez
    turn_columns(frame, 0, 1, -math.atan2(-math.sin(q[SIDE]), math.sin(q[FLEX]) * side))
    seen_from(base, frame, memory)
    q[SWING_X], q[SWING_Y], q[TWIST] = split_turn(memory, False)
    turn_columns(frame, 2, 0, q[FLEX])
    turn_columns(frame, 1, 2, q[SIDE])
    seen_from(frame, hand, memory)
    turn_columns(memory, 0, 1, -q[END_TWIST])
    q[END_X], q[END_Y], q[ROLL] = split_turn(memory, True)
    return True


@kernel
def solve_all(
    bases: FloatArray, starts: FloatArray, lengths: FloatArray, targets: FloatArray, hands: FloatArray,
    swivels: FloatArray, q: FloatArray, reached: FloatArray,
) -> None:  # fmt: skip
    """Solve for N targets at once; see `solve`. `reached` (N,) is 1 where a target is in reach."""
    frame, memory = np.empty((3, 3)), np.empty((3, 3))
    for n in range(q.shape[0]):
        ok = solve(bases[n], starts[n], lengths, targets[n], hands[n], swivels[n], q[n], frame, memory)
        reached[n] = 1.0 if ok else 0.0


@kernel(inner=True, borrows=True)
def in_ellipse(limits: FloatArray, row: int, x: float, y: float) -> bool:
    """Return whether a swing is within its ellipse."""
    u, v = (x - limits[row, 0]) / limits[row, 2], (y - limits[row, 1]) / limits[row, 3]
    inside: bool = u * u + v * v <= 1.0 + _SMALL  # rounding must not decide at the rim
    return inside


@kernel(inner=True, borrows=True)
def in_polygon(limits: FloatArray, row: int, x: float, y: float) -> bool:
    """Return whether a swing is within the spherical polygon of its row: in one of its wedges; True if it has none."""
    if limits.shape[0] == WEDGES:
        return True
    angle = math.sqrt(x * x + y * y)
    if angle > math.pi:  # once around: swings are shorter than half a turn
        return False
    s = 1.0 if angle < _SMALL else math.sin(angle) / angle
    dx, dy, dz, limited = s * y, -s * x, math.cos(angle), False
    for wedge in range(WEDGES, limits.shape[0], 3):
        if limits[wedge, 0] != row:
            continue
        limited, inside = True, True
        for side in range(wedge, wedge + 3):
            if limits[side, 1] * dx + limits[side, 2] * dy + limits[side, 3] * dz < -_SMALL:
                inside = False
                break
        if inside:
            return True
    return not limited


@kernel(inner=True, borrows=True)
def within(limits: FloatArray, q: FloatArray) -> bool:
    """Return whether a posture keeps the limits (5 + 3 W, 4)."""
    for row, angle in ((TWIST_RANGE, q[TWIST]), (FLEX_RANGE, q[FLEX]), (ROLL_RANGE, q[ROLL])):
        if not limits[row, LOW] - _SMALL <= angle <= limits[row, HIGH] + _SMALL:
            return False
    if not in_ellipse(limits, SWING_ELLIPSE, q[SWING_X], q[SWING_Y]):
        return False
    if not in_ellipse(limits, END_ELLIPSE, q[END_X], q[END_Y]):
        return False
    return in_polygon(limits, SWING_ELLIPSE, q[SWING_X], q[SWING_Y]) and in_polygon(
        limits, END_ELLIPSE, q[END_X], q[END_Y]
    )


@kernel
def all_within(limits: FloatArray, q: FloatArray, out: FloatArray) -> None:
    """Write 1 for each posture (N, 9) that keeps the limits."""
    for n in range(q.shape[0]):
        out[n] = 1.0 if within(limits, q[n]) else 0.0


@kernel(inner=True, borrows=True)
def draw_posture(limits: FloatArray, draws: FloatArray, row: int, q: FloatArray) -> None:
    """Write the planned angles of a posture within the limits, uniform in its ellipses and ranges.

    Args:
        limits: (5, 4).
        draws: uniform numbers; columns 0 to 6 of the row are used; (N, 8).
        row: which.
        q: (9,); the first seven are filled.
    """
    for k in range(2):
        ellipse = SWING_ELLIPSE if k == 0 else END_ELLIPSE
        column = SWING_X if k == 0 else END_X
        r, turn = math.sqrt(draws[row, 2 * k]), 2.0 * math.pi * draws[row, 2 * k + 1]
        q[column] = limits[ellipse, 0] + limits[ellipse, 2] * r * math.cos(turn)
        q[column + 1] = limits[ellipse, 1] + limits[ellipse, 3] * r * math.sin(turn)
    for k in range(3):
        limit = TWIST_RANGE + k
        q[TWIST + k] = limits[limit, LOW] + draws[row, 4 + k] * (limits[limit, HIGH] - limits[limit, LOW])


@kernel
def draw_postures(limits: FloatArray, draws: FloatArray, q: FloatArray) -> None:
    """Write planned angles of postures (N, 9) from uniform numbers (N, 8); see `draw_posture`."""
    for n in range(q.shape[0]):
        draw_posture(limits, draws, n, q[n])


BASE, START, TARGET, TURN, SWIVEL, GIVEN = 0, 9, 12, 15, 19, 20
"""Columns of what a search is given: the frame that the limb hangs on (9), the place of shoulder or hip (3) [m],
wanted place (3) [m] and world turn wxyz (4) of wrist or ankle, and the swivel angle where it begins (1) [rad]; and how
many these are."""


@kernel(inner=True, borrows=True)
def _end_frame(given: FloatArray, turns: FloatArray, out: FloatArray) -> None:
    """Write the wanted frame (3, 3) of the last segment, from that of its joint; `turns` are those of `Limb`."""
    a, b, c, d = given[TURN], given[TURN + 1], given[TURN + 2], given[TURN + 3]
    e, f, g, h = turns[3, 0], turns[3, 1], turns[3, 2], turns[3, 3]
    w, x = a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g
    y, z = a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e
    n = 2.0 / max(w * w + x * x + y * y + z * z, 1e-300)
    out[0, 0], out[0, 1], out[0, 2] = 1.0 - n * (y * y + z * z), n * (x * y - w * z), n * (x * z + w * y)
    out[1, 0], out[1, 1], out[1, 2] = n * (x * y + w * z), 1.0 - n * (x * x + z * z), n * (y * z - w * x)
    out[2, 0], out[2, 1], out[2, 2] = n * (x * z - w * y), n * (y * z + w * x), 1.0 - n * (x * x + y * y)


@kernel(inner=True, borrows=True)
def _search(
    given: FloatArray, lengths: FloatArray, turns: FloatArray, offsets: FloatArray, first: int, limits: FloatArray,
    q: FloatArray, memory: FloatArray,
) -> int:  # fmt: skip
    """Return the first swivel angle whose posture keeps the limits; see `search_swivel`. Memory is (4, 3, 3)."""
    base, hand = memory[0], memory[1]
    for i in range(3):
        for j in range(3):
            base[i, j] = given[BASE + 3 * i + j]
    _end_frame(given, turns, hand)
    start, target = given[START:TARGET], given[TARGET:TURN]
    reached = False
    for n in range(first, offsets.shape[0]):
        if solve(base, start, lengths, target, hand, given[SWIVEL] + offsets[n], q, memory[2], memory[3]):
            reached = True
            if within(limits, q):
                return n
    return int(offsets.shape[0]) if reached or first > 0 else -1


@kernel
def search_swivel(
    given: FloatArray, lengths: FloatArray, turns: FloatArray, offsets: FloatArray, first: int, limits: FloatArray,
    q: FloatArray,
) -> int:  # fmt: skip
    """Return the first of some swivel angles, from `first` on, whose posture keeps the limits; see `solve`.

    Args:
        given: what is wanted; (20,).
        lengths: of both bones [m]; (2,).
        turns: joint-from-segment turns of base and segments; (4, 4).
        offsets: swivel angles beside the given one [rad]; (N,).
        first: number of the first that is tried.
        limits: (5, 4).
        q: its SIDE and END_TWIST are kept, the rest is filled; (9,).

    Returns:
        Its number; N if there is none, and -1 if the target is out of reach at all of them.
    """
    return _search(given, lengths, turns, offsets, first, limits, q, np.empty((4, 3, 3)))


@kernel
def search_swivels(
    given: FloatArray, lengths: FloatArray, turns: FloatArray, offsets: FloatArray, limits: FloatArray, q: FloatArray,
    out: IntArray,
) -> None:  # fmt: skip
    """Write for many targets (M, 20) what `search_swivel` returns (M,), and their postures (M, 9)."""
    memory = np.empty((4, 3, 3))
    for m in range(given.shape[0]):
        out[m] = _search(given[m], lengths, turns, offsets, 0, limits, q[m], memory)
