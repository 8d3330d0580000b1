"""Compiled loops of locomotion: which gait a velocity asks for, when a foot is lifted and where it is set down.

A person is a row of `state` (columns `PHASE` to `STATE_COLUMNS`), and what its body does now is a row of `steps`
(columns `STEP_PHASE` to `STEP_COLUMNS`) with the four cycles that are blended in `corners`. `tables` are the arrays of
a `LocomotionSpace`: simplices, neighbours, transforms, hull, traits.

The left foot strikes at phase 0 and the right one at half a cycle. A foot that has nowhere to go is not lifted: the
phase waits in the double stance, and the gait fades into standing.
"""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.crowd.locomotion.cycles import SHARES
from gaitway.crowd.locomotion.space import DUTY, LIFT, PRINTS, RATE, STANCE, SWING, TURN_METRES

PHASE, ACTIVE, IDLE, CELL, CALM = range(5)
"""Columns of `state`: phase [cycles]; how far the gait is faded in, 0 to 1; time of standing [s]; tetrahedron of the
last velocity; by how much more a foot of who stands may be from where it should be before it steps, as a share."""
FOOT, FOOT_WIDTH = 5, 8
SWUNG, STOOD, FROM_X, FROM_Y, FROM_YAW, TO_X, TO_Y, TO_YAW = range(8)
"""Columns of a foot, from `FOOT` on: share of the swing, -1 in a stance; share of the stance; where it stands or stood;
where it will stand."""
STATE_COLUMNS = FOOT + 2 * FOOT_WIDTH
STEP_PHASE, STEP_IDLE, STEP_X, STEP_Y, STEP_HEADING, STEP_LEFT_ARM, STEP_RIGHT_ARM, STEP_WEIGHTS = range(8)
"""Columns of `steps`: phase, time of standing [s], planar pose, how far each arm is tucked before the belly (negative:
beside the thigh), weights of four cycles."""
STEP_FEET, STEP_WIDTH = 12, 11
ACROSS, RISE, PITCH, NEAR, LATE, HERE, THERE = 0, 1, 2, 3, 4, 5, 8
"""Columns of a foot of `steps`, from `STEP_FEET` on: how far it is from its last place to its next one, how high it is
carried [m], its pitch [rad], how much its toes bend, how much its heel may rise further; the two places."""
STEP_COLUMNS = STEP_FEET + 2 * STEP_WIDTH

NEARLY_IN = 1e-7
"""A velocity whose shares in a tetrahedron are no less than minus this is in it."""
FLAT = 2e-4
"""A standing foot whose pitch is less than this [rad] lies flat."""
FREE_SPEED = 0.33
"""Who goes faster than this [m/s] never waits with a step."""
NEED = 0.085
"""A foot that is this far [m] from where it should be steps."""
YAW_NEED = 0.20
"""How many metres a radian counts for there."""
READY = 0.55
"""How far a gait must be faded in before a foot is lifted."""
FADE_IN_S, FADE_OUT_S = 0.22, 0.5
"""Times in which a gait fades in and out [s]."""
BEHIND = 0.25
"""Share of a swing by which a foot that was lifted late may be behind the phase. The phase waits for one that is
farther behind: a foot never leaps to where it should be by now."""
FEET_APART, CLOSE_BY, PASSING = 0.135, 0.20, 0.36
"""Least distance aside between feet that stand beside one another; how far ahead they still are beside, and how far
ahead a foot may be put before the other [m]."""


@kernel(inner=True)
def _smooth(t: float) -> float:
    """Return a rise from 0 to 1 whose rate is 0 at both ends."""
    s = min(max(t, 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


@kernel(inner=True)
def _wrapped(angle: float) -> float:
    """Return the same angle within half a turn."""
    return float(angle - 2.0 * np.pi * np.floor(angle / (2.0 * np.pi) + 0.5))


@kernel(inner=True)
def _shares(cell: int, x: float, y: float, z: float, transforms: FloatArray) -> tuple[float, float, float, float]:
    """Return the barycentric coordinates of a scaled velocity in a tetrahedron."""
    px, py, pz = x - transforms[cell, 3, 0], y - transforms[cell, 3, 1], z - transforms[cell, 3, 2]
    a = transforms[cell, 0, 0] * px + transforms[cell, 0, 1] * py + transforms[cell, 0, 2] * pz
    b = transforms[cell, 1, 0] * px + transforms[cell, 1, 1] * py + transforms[cell, 1, 2] * pz
    c = transforms[cell, 2, 0] * px + transforms[cell, 2, 1] * py + transforms[cell, 2, 2] * pz
    return a, b, c, 1.0 - a - b - c


@kernel(inner=True, shared=True)
def _located(
    cell: int,
    forward: float,
    aside: float,
    turn: float,
    simplices: IntArray,
    neighbors: IntArray,
    transforms: FloatArray,
    hull: FloatArray,
    n: int,
    corners: IntArray,
    steps: FloatArray,
) -> tuple[int, float]:
    """Write the cycles and weights of a velocity into rows `n`; return its tetrahedron, and the factor of a clamp."""
    x, y, z = forward, aside, turn * TURN_METRES
    beyond = 1.0
    for h in range(len(hull)):
        out = hull[h, 0] * x + hull[h, 1] * y + hull[h, 2] * z
        if out > beyond * hull[h, 3]:
            beyond = out / hull[h, 3]
    if beyond > 1.0:
        x, y, z = x / beyond, y / beyond, z / beyond
    least = -1.0
    for _ in range(len(simplices)):
        a, b, c, d = _shares(cell, x, y, z, transforms)
        worst, least = 0, a
        if b < least:
            worst, least = 1, b
        if c < least:
            worst, least = 2, c
        if d < least:
            worst, least = 3, d
        if least >= -NEARLY_IN or neighbors[cell, worst] < 0:
            break
        cell = neighbors[cell, worst]
    if least < -NEARLY_IN:  # the way was cut off by a flat tetrahedron, or it went round by rounding
        for other in range(len(simplices)):
            a, b, c, d = _shares(other, x, y, z, transforms)
            if min(a, b, c, d) > least:
                cell, least = other, min(a, b, c, d)
    a, b, c, d = _shares(cell, x, y, z, transforms)
    a, b, c, d = max(a, 0.0), max(b, 0.0), max(c, 0.0), max(d, 0.0)
    total = a + b + c + d
    for i in range(4):
        corners[n, i] = simplices[cell, i]
    steps[n, STEP_WEIGHTS], steps[n, STEP_WEIGHTS + 1] = a / total, b / total
    steps[n, STEP_WEIGHTS + 2], steps[n, STEP_WEIGHTS + 3] = c / total, d / total
    return cell, beyond


@kernel(inner=True)
def _trait(traits: FloatArray, style: int, corners: IntArray, steps: FloatArray, n: int, column: int) -> float:
    """Return the blend of a trait of the four cycles of row `n`."""
    total = 0.0
    for i in range(4):
        total += steps[n, STEP_WEIGHTS + i] * traits[style, corners[n, i], column]
    return total


@kernel(inner=True)
def _profile(
    traits: FloatArray, style: int, corners: IntArray, steps: FloatArray, n: int, column: int, share: float
) -> float:
    """Return the blend of a trait over the shares of a stance or swing."""
    at = min(max(share, 0.0), 1.0) * (SHARES - 1)
    low = min(int(at), SHARES - 2)
    t = at - low
    b = _trait(traits, style, corners, steps, n, column + low)
    c = _trait(traits, style, corners, steps, n, column + low + 1)
    a = _trait(traits, style, corners, steps, n, column + low - 1) if low > 0 else 2.0 * b - c
    d = _trait(traits, style, corners, steps, n, column + low + 2) if low < SHARES - 2 else 2.0 * c - b
    first, last = 0.5 * (c - a), 0.5 * (d - b)
    # a cubic without corners at the samples; where both ends are 0 it is 0
    if b == 0.0 and c == 0.0:
        return 0.0
    return b + t * (first + t * (3.0 * (c - b) - 2.0 * first - last + t * (2.0 * (b - c) + first + last)))


@kernel(inner=True)
def _ahead(
    path: FloatArray, first: int, last: int, at: float, fps: float, forward: float, aside: float, turn: float
) -> tuple[float, float, float]:
    """Return the planar pose at row `at` of a path that goes on at these speeds beyond rows `first` and `last`."""
    held = min(max(at, float(first)), float(last))
    low = min(int(held), last)
    after = min(low + 1, last)
    t = held - low
    x = path[low, 0] + t * (path[after, 0] - path[low, 0])
    y = path[low, 1] + t * (path[after, 1] - path[low, 1])
    heading = path[low, 2] + t * _wrapped(path[after, 2] - path[low, 2])
    more = (at - held) / fps
    if more != 0.0:
        middle = heading + 0.5 * turn * more
        cosine, sine = np.cos(middle), np.sin(middle)
        x += more * (cosine * forward - sine * aside)
        y += more * (sine * forward + cosine * aside)
        heading += turn * more
    return x, y, heading


@kernel(inner=True, shared=True)
def _target(
    k: int,
    until: float,
    stance: float,
    path: FloatArray,
    first: int,
    last: int,
    at: float,
    fps: float,
    velocity: FloatArray,
    v: int,
    traits: FloatArray,
    style: int,
    corners: IntArray,
    steps: FloatArray,
    n: int,
    state: FloatArray,
    s: int,
    reach: float,
) -> tuple[float, float, float]:
    """Return where foot `k`, which lands in `until` seconds and stands for `stance` seconds, is set down."""
    forward, aside, turn = velocity[v, 0], velocity[v, 1], velocity[v, 2]
    x, y, heading = _ahead(path, first, last, at + fps * (until + 0.5 * stance), fps, forward, aside, turn)
    column = PRINTS + 3 * k
    px = _trait(traits, style, corners, steps, n, column)
    py = _trait(traits, style, corners, steps, n, column + 1)
    yaw = heading + _trait(traits, style, corners, steps, n, column + 2)
    cosine, sine = np.cos(heading), np.sin(heading)
    x, y = x + cosine * px - sine * py, y + sine * px + cosine * py
    # no farther than a leg reaches when it lands
    bx, by, heading = _ahead(path, first, last, at + fps * until, fps, forward, aside, turn)
    away = np.sqrt((x - bx) ** 2 + (y - by) ** 2)
    if away > reach:
        x, y = bx + (x - bx) * reach / away, by + (y - by) * reach / away
    # feet do not cross
    other = FOOT + (1 - k) * FOOT_WIDTH
    place = FROM_X if state[s, other + SWUNG] < 0.0 else TO_X
    cosine, sine = np.cos(heading), np.sin(heading)
    dx, dy = x - state[s, other + place], y - state[s, other + place + 1]
    along, side = cosine * dx + sine * dy, cosine * dy - sine * dx
    sign = 1.0 - 2.0 * k
    passing = min(max((abs(along) - CLOSE_BY) / (PASSING - CLOSE_BY), 0.0), 1.0)
    lack = FEET_APART * (1.0 - passing) + 0.04 * passing - sign * side
    if lack > 0.0:
        x, y = x - sine * sign * lack, y + cosine * sign * lack
    return x, y, yaw


@kernel(inner=True)
def _need(state: FloatArray, n: int, k: int, x: float, y: float, yaw: float, heading: float) -> float:
    """Return how far [m] foot `k` is from where it should be; the foot on the side that one goes to counts more."""
    foot = FOOT + k * FOOT_WIDTH
    dx, dy = x - state[n, foot + FROM_X], y - state[n, foot + FROM_Y]
    turned = _wrapped(yaw - state[n, foot + FROM_YAW])
    sign = 1.0 - 2.0 * k
    aside = np.cos(heading) * dy - np.sin(heading) * dx
    return float(np.sqrt(dx * dx + dy * dy) + YAW_NEED * abs(turned) + 0.25 * sign * (aside + YAW_NEED * turned))


@kernel(inner=True, shared=True)
def _advance(
    n: int,
    v: int,
    style: int,
    path: FloatArray,
    first: int,
    last: int,
    at: float,
    fps: float,
    dt: float,
    velocity: FloatArray,
    state: FloatArray,
    s: int,
    steps: FloatArray,
    corners: IntArray,
    simplices: IntArray,
    neighbors: IntArray,
    transforms: FloatArray,
    hull: FloatArray,
    traits: FloatArray,
    leg: float,
) -> float:
    """Let person `s` of `state` go on by `dt` seconds; its body is written into row `n`. Return the factor of a clamp.

    `path` rows `first` to `last` are where it is and will be, `at` is the row of now, `velocity[v]` its speeds.
    """
    fade = _smooth(state[s, ACTIVE])
    forward, aside, turn = velocity[v, 0], velocity[v, 1], velocity[v, 2]
    cell, beyond = _located(
        int(state[s, CELL]), fade * forward, fade * aside, fade * turn,
        simplices, neighbors, transforms, hull, n, corners, steps,
    )  # fmt: skip
    state[s, CELL] = cell
    rate = _trait(traits, style, corners, steps, n, RATE) * beyond
    speed = np.sqrt(forward * forward + aside * aside)
    heading, move, reach = path[int(at), 2], rate * dt, 0.40 * leg
    held, wanted, lifted = False, False, -1
    for k in range(2):
        foot, other = FOOT + k * FOOT_WIDTH, FOOT + (1 - k) * FOOT_WIDTH
        duty = _trait(traits, style, corners, steps, n, DUTY + k)
        place = state[s, PHASE] - 0.5 * k
        place -= np.floor(place)
        if state[s, foot + SWUNG] >= 0.0 or place + move < duty or place + move >= 1.0 or held:
            continue
        if state[s, other + SWUNG] >= 0.0 and duty >= 0.5:
            continue  # one foot after the other
        swing, stance = (1.0 - duty) / rate, duty / rate
        x, y, yaw = _target(
            k, swing, stance, path, first, last, at, fps, velocity, v, traits, style, corners, steps, n, state, s, reach
        )
        go = True
        if speed < FREE_SPEED:
            need = _need(state, s, k, x, y, yaw, heading)
            x2, y2, yaw2 = _target(
                1 - k, swing, stance, path, first, last, at, fps, velocity, v, traits, style, corners, steps, n, state,
                s, reach,
            )  # fmt: skip
            need2 = _need(state, s, 1 - k, x2, y2, yaw2, heading)
            least = NEED * (1.0 + state[s, CALM])
            wanted = need > least or need2 > least
            if state[s, ACTIVE] < 0.12 and need2 > max(need, least):  # at rest any foot may be the first
                state[s, PHASE] += 0.5
                state[s, foot + STOOD], state[s, other + STOOD] = 0.5, 1.0
                go = False
            else:
                go = (need > least or need2 > 1.5 * least) and state[s, ACTIVE] >= READY
        if go:
            state[s, foot + SWUNG] = min(max(place + move - duty, 0.0), move) / (1.0 - duty)
            lifted = k
            state[s, foot + TO_X], state[s, foot + TO_Y], state[s, foot + TO_YAW] = x, y, yaw
        else:
            held = True
    late = -1
    for k in range(2):
        foot, duty = FOOT + k * FOOT_WIDTH, _trait(traits, style, corners, steps, n, DUTY + k)
        place = state[s, PHASE] - 0.5 * k
        place -= np.floor(place)
        if state[s, foot + SWUNG] >= 0.0 and place - duty > (state[s, foot + SWUNG] + BEHIND) * (1.0 - duty):
            late = k
    pace = move
    if held or late >= 0:
        move = 0.0
    fading = dt / FADE_IN_S if (wanted or not held) else -dt / FADE_OUT_S
    state[s, ACTIVE] = min(max(state[s, ACTIVE] + fading, 0.0), 1.0)
    for k in range(2):
        foot = FOOT + k * FOOT_WIDTH
        duty = _trait(traits, style, corners, steps, n, DUTY + k)
        place = state[s, PHASE] - 0.5 * k
        place -= np.floor(place)
        if k == lifted:
            continue
        if k == late:
            state[s, foot + SWUNG] += pace / (1.0 - duty)
        elif state[s, foot + SWUNG] >= 0.0:
            left = 1.0 - place
            if move >= left:  # it lands
                state[s, foot + SWUNG], state[s, foot + STOOD] = -1.0, min((move - left) / duty, 0.2)
                for i in range(3):
                    state[s, foot + FROM_X + i] = state[s, foot + TO_X + i]
            else:
                state[s, foot + SWUNG] += (1.0 - state[s, foot + SWUNG]) * move / left
                follow = 1.0 - _smooth((state[s, foot + SWUNG] - 0.45) / 0.4)
                if follow > 0.0:
                    x, y, yaw = _target(
                        k, (left - move) / rate, duty / rate, path, first, last, at, fps, velocity, v, traits, style,
                        corners, steps, n, state, s, reach,
                    )  # fmt: skip
                    gain = follow * min(dt / 0.08, 1.0)
                    state[s, foot + TO_X] += gain * (x - state[s, foot + TO_X])
                    state[s, foot + TO_Y] += gain * (y - state[s, foot + TO_Y])
                    state[s, foot + TO_YAW] += gain * _wrapped(yaw - state[s, foot + TO_YAW])
        else:
            gone = (1.0 - state[s, foot + STOOD]) * (1.0 if place + move >= duty else move / (duty - place))
            state[s, foot + STOOD] += min(gone, 6.0 * dt)
    state[s, PHASE] += move
    state[s, PHASE] -= np.floor(state[s, PHASE])
    state[s, IDLE] += dt
    _shown(n, s, style, state, steps, corners, traits)
    return beyond


@kernel(inner=True, shared=True)
def _shown(
    n: int, s: int, style: int, state: FloatArray, steps: FloatArray, corners: IntArray, traits: FloatArray
) -> None:
    """Write what the body of person `s` does now into row `n`."""
    steps[n, STEP_PHASE], steps[n, STEP_IDLE] = state[s, PHASE], state[s, IDLE]
    for k in range(2):
        foot, out = FOOT + k * FOOT_WIDTH, STEP_FEET + k * STEP_WIDTH
        for i in range(3):
            steps[n, out + HERE + i], steps[n, out + THERE + i] = state[s, foot + FROM_X + i], state[s, foot + TO_X + i]
        share = state[s, foot + SWUNG]
        if share < 0.0:
            stood = state[s, foot + STOOD]
            steps[n, out + ACROSS], steps[n, out + RISE], steps[n, out + NEAR] = -1.0, 0.0, 1.0
            pitch = _profile(traits, style, corners, steps, n, STANCE + k * SHARES, stood)
            steps[n, out + PITCH] = pitch if abs(pitch) > FLAT else 0.0
            steps[n, out + LATE] = _smooth((stood - 0.3) / 0.3) * _smooth(state[s, ACTIVE])
        else:
            steps[n, out + ACROSS] = _smooth(share)
            steps[n, out + RISE] = _profile(traits, style, corners, steps, n, LIFT + k * SHARES, share)
            steps[n, out + PITCH] = _profile(traits, style, corners, steps, n, SWING + k * SHARES, share)
            steps[n, out + NEAR] = max(1.0 - _smooth(share / 0.4), _smooth((share - 0.6) / 0.4))
            steps[n, out + LATE] = (1.0 - _smooth(share / 0.6)) * _smooth(state[s, ACTIVE])


@kernel(inner=True, shared=True)
def _placed(
    s: int,
    v: int,
    n: int,
    style: int,
    path: FloatArray,
    first: int,
    last: int,
    at: float,
    fps: float,
    velocity: FloatArray,
    state: FloatArray,
    steps: FloatArray,
    corners: IntArray,
    simplices: IntArray,
    neighbors: IntArray,
    transforms: FloatArray,
    hull: FloatArray,
    traits: FloatArray,
    leg: float,
) -> None:
    """Set the feet of person `s`, whose phase is given, as if it had walked for a while."""
    forward, aside, turn = velocity[v, 0], velocity[v, 1], velocity[v, 2]
    goes = np.sqrt(forward * forward + aside * aside) > 0.1 or abs(turn) > 0.5
    state[s, ACTIVE] = 1.0 if goes else 0.0
    cell, beyond = _located(
        0, forward if goes else 0.0, aside if goes else 0.0, turn if goes else 0.0,
        simplices, neighbors, transforms, hull, n, corners, steps,
    )  # fmt: skip
    state[s, CELL] = cell
    rate = _trait(traits, style, corners, steps, n, RATE) * beyond
    if not goes:
        state[s, PHASE] = _trait(traits, style, corners, steps, n, DUTY)
    for k in range(2):
        foot = FOOT + k * FOOT_WIDTH
        duty = _trait(traits, style, corners, steps, n, DUTY + k)
        place = state[s, PHASE] - 0.5 * k
        place -= np.floor(place)
        px = _trait(traits, style, corners, steps, n, PRINTS + 3 * k)
        py = _trait(traits, style, corners, steps, n, PRINTS + 3 * k + 1)
        out = _trait(traits, style, corners, steps, n, PRINTS + 3 * k + 2)
        stands = place <= duty or not goes
        state[s, foot + SWUNG] = -1.0 if stands else (place - duty) / (1.0 - duty)
        state[s, foot + STOOD] = min(place / duty, 1.0) if goes else 0.5
        for i in range(2):  # the place that it left, or stands on, and the next one
            since = (0.5 * duty - place + i) / rate if goes else 0.0
            x, y, heading = _ahead(path, first, last, at + fps * since, fps, forward, aside, turn)
            cosine, sine = np.cos(heading), np.sin(heading)
            state[s, foot + FROM_X + 3 * i] = x + cosine * px - sine * py
            state[s, foot + FROM_X + 3 * i + 1] = y + sine * px + cosine * py
            state[s, foot + FROM_X + 3 * i + 2] = heading + out


@kernel
def follow_paths(
    rows: IntArray,
    styles: IntArray,
    phases: FloatArray,
    path: FloatArray,
    velocity: FloatArray,
    fps: float,
    simplices: IntArray,
    neighbors: IntArray,
    transforms: FloatArray,
    hull: FloatArray,
    traits: FloatArray,
    leg: float,
    steps: FloatArray,
    corners: IntArray,
    clamped: FloatArray,
) -> None:
    """Compute what the bodies of people do along whole paths; the last three arguments are written to.

    Args:
        rows: first row of each person, and the number of rows; (C + 1,).
        styles: style of each; (C,).
        phases: phase of each at its first row; (C,).
        path: planar poses of all people, one behind another; (R, 3).
        velocity: forward, sideways [m/s] and turn [rad/s]; (R, 3).
        fps: rows a second [Hz].
        simplices: see `LocomotionSpace`.
        neighbors: see `LocomotionSpace`.
        transforms: see `LocomotionSpace`.
        hull: see `LocomotionSpace`.
        traits: see `LocomotionSpace`.
        leg: length of a leg [m].
        steps: see the top of the module; (R, STEP_COLUMNS).
        corners: cycles that are blended; (R, 4).
        clamped: factor by which each velocity is outside of the hull, 1 for inside; (R,).
    """
    state = np.zeros((1, STATE_COLUMNS))
    for c in range(len(styles)):
        first, last = rows[c], rows[c + 1] - 1
        for i in range(STATE_COLUMNS):
            state[0, i] = 0.0
        state[0, PHASE], state[0, IDLE] = phases[c], 20.0 * phases[c]
        _placed(
            0, first, first, styles[c], path, first, last, float(first), fps, velocity, state, steps, corners,
            simplices, neighbors, transforms, hull, traits, leg,
        )  # fmt: skip
        for n in range(first, last + 1):
            clamped[n] = _advance(
                n, n, styles[c], path, first, last, float(n), fps, 1.0 / fps, velocity, state, 0, steps, corners,
                simplices, neighbors, transforms, hull, traits, leg,
            )  # fmt: skip
            steps[n, STEP_X], steps[n, STEP_Y], steps[n, STEP_HEADING] = path[n, 0], path[n, 1], path[n, 2]


@kernel
def begin_all(
    who: IntArray,
    styles: IntArray,
    path: FloatArray,
    velocity: FloatArray,
    simplices: IntArray,
    neighbors: IntArray,
    transforms: FloatArray,
    hull: FloatArray,
    traits: FloatArray,
    leg: float,
    state: FloatArray,
    steps: FloatArray,
    corners: IntArray,
) -> None:
    """Set the feet of people `who` (M,) whose phases are in `state` (N, STATE_COLUMNS); other arrays have N rows."""
    for n in who:
        _placed(
            n, n, n, styles[n], path, n, n, float(n), 1.0, velocity, state, steps, corners,
            simplices, neighbors, transforms, hull, traits, leg,
        )  # fmt: skip
        _shown(n, n, styles[n], state, steps, corners, traits)
        steps[n, STEP_X], steps[n, STEP_Y], steps[n, STEP_HEADING] = path[n, 0], path[n, 1], path[n, 2]


@kernel
def advance_all(
    low: int,
    high: int,
    dt: float,
    paces: FloatArray,
    styles: IntArray,
    path: FloatArray,
    velocity: FloatArray,
    simplices: IntArray,
    neighbors: IntArray,
    transforms: FloatArray,
    hull: FloatArray,
    traits: FloatArray,
    leg: float,
    state: FloatArray,
    steps: FloatArray,
    corners: IntArray,
) -> None:
    """Let people `low` to `high` go on by `dt` seconds; they will go on as they go now. Arrays have a row a person.

    `paces` (N,) is the share of that time for which their feet go on.
    """
    for n in range(low, high):
        # one row a person: beyond it the path goes on at the speeds of now, and a second is one row
        _advance(
            n, n, styles[n], path, n, n, float(n), 1.0, dt * paces[n], velocity, state, n, steps, corners,
            simplices, neighbors, transforms, hull, traits, leg,
        )  # fmt: skip
        steps[n, STEP_X], steps[n, STEP_Y], steps[n, STEP_HEADING] = path[n, 0], path[n, 1], path[n, 2]


@kernel
def set_down_all(
    who: IntArray,
    dt: float,
    styles: IntArray,
    traits: FloatArray,
    state: FloatArray,
    steps: FloatArray,
    corners: IntArray,
) -> None:
    """Let people `who` (M,) set their swinging feet down right where these are, for `dt` seconds of it.

    A step that is cut short leaves nobody in the midst of a stride, and the foot behind may come next.
    """
    for n in who:
        move = _trait(traits, styles[n], corners, steps, n, RATE) * dt
        for k in range(2):
            foot = FOOT + k * FOOT_WIDTH
            if state[n, foot + SWUNG] < 0.0:
                continue
            across = _smooth(state[n, foot + SWUNG])
            for i in range(3):
                way = state[n, foot + TO_X + i] - state[n, foot + FROM_X + i]
                here = state[n, foot + FROM_X + i] + across * (_wrapped(way) if i == 2 else way)
                state[n, foot + FROM_X + i] = state[n, foot + TO_X + i] = here
            left = state[n, PHASE] - 0.5 * k
            left = 1.0 - left + np.floor(left)
            if move >= left:
                state[n, foot + SWUNG], state[n, foot + STOOD] = -1.0, 0.0
            else:
                state[n, foot + SWUNG] += (1.0 - state[n, foot + SWUNG]) * move / left
        state[n, PHASE] += move
        state[n, PHASE] -= np.floor(state[n, PHASE])
        _shown(n, n, styles[n], state, steps, corners, traits)
