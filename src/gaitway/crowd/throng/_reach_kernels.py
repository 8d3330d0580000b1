"""Compiled loops over feet of a throng: how far roots, headings and swinging feet go before hips and ankles hold them.

A foot is measured from where it stands well, beside the root. It may be farther ahead and behind the faster somebody
goes; outward and across to the other side it may not. `path` (N, 3) are planar poses of roots, `velocity` (N, 3) their
speeds, and `feet` (N, STATE_COLUMNS) as in `gaitway.crowd.locomotion._feet_kernels`.
"""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.jit import kernel
from gaitway.crowd.locomotion._feet_kernels import FOOT, FOOT_WIDTH, FROM_X, FROM_YAW, SWUNG, TO_X, _smooth, _wrapped

STRETCH, STRIDE, LONGEST = 0.3, 0.4, 0.7
"""Greatest distance of a root from a foot that stands ahead or behind: of who stands [m], more for each metre a second
[s], and the most of it [m]. Even strides reach 0.16 m at 0.2 m/s and 0.57 m at 1.3 m/s. Where people hardly move, legs
that reach farther out get in between those of others, and nobody gets free again; with 0.8 m in all, hips are bent back
too far when somebody sets off at 2 m/s2 and has to stop."""
SWING, LIFTED = 0.1, 0.15
"""How much farther it may be from a foot that swings [m], and the share of the swing after which it may wholly."""
SOFT, FARTHEST = 0.88, 1.02
"""Shares of that distance from which on a root is held back more and more, and that it never gets beyond. Even strides
stay below the first one up to 1.6 m/s. Without it whoever sped up stood still at once, in some of its strides."""
STANDING = 0.5
"""How far ahead or behind a foot may be on which somebody stands [m]."""
BELOW, OUTWARD, ACROSS = 0.09, 0.45, 0.31
"""How far aside of a root its foot stands well, how much farther outward it may be, and how much farther inward, to the
other side [m]. Hips and ankles do not turn farther, and the pelvis would sink."""
TURN_RATE = 3.0
"""Greatest speed at which trunks turn [rad/s]."""
TWIST_OUT, TWIST_IN = 0.95, 0.7
"""Greatest angles between trunk and a standing foot that points outward, and one that points inward [rad]."""


@kernel(inner=True)
def _stride(velocity: FloatArray, n: int) -> float:
    """Return how far ahead or behind a foot may be of who goes like this [m]."""
    speed = np.sqrt(velocity[n, 0] * velocity[n, 0] + velocity[n, 1] * velocity[n, 1])
    return float(min(STRETCH + STRIDE * speed, LONGEST))


@kernel(inner=True)
def _stretch(x: float, y: float, heading: float, most: float, k: int) -> float:
    """Return how far foot `k`, at (x, y) from the root [m], is from where it stands well, as a share of the most."""
    cosine, sine, sign = np.cos(heading), np.sin(heading), 1.0 - 2.0 * k
    along = (cosine * x + sine * y) / most
    out = sign * (cosine * y - sine * x) - BELOW
    out /= OUTWARD if out > 0.0 else ACROSS
    return float(np.sqrt(along * along + out * out))


@kernel(inner=True)
def _foot_now(feet: FloatArray, n: int, k: int) -> tuple[float, float]:
    """Return where foot `k` is, also in the midst of a swing [m]."""
    foot = FOOT + k * FOOT_WIDTH
    across = _smooth(max(feet[n, foot + SWUNG], 0.0))
    x, y = feet[n, foot + FROM_X], feet[n, foot + FROM_X + 1]
    return x + across * (feet[n, foot + TO_X] - x), y + across * (feet[n, foot + TO_X + 1] - y)


@kernel(inner=True)
def _bounded(
    x: float, y: float, dx: float, dy: float, rx: float, ry: float, heading: float, most: float, k: int
) -> tuple[float, float]:
    """Return the move of foot `k` from (x, y) by (dx, dy), less far where a leg at the root (rx, ry) holds it."""
    farthest = max(_stretch(x - rx, y - ry, heading, most, k), 1.0)
    now = _stretch(x + dx - rx, y + dy - ry, heading, most, k)
    if now <= farthest:
        return dx, dy
    out = BELOW * (1.0 - 2.0 * k)
    wx, wy, share = rx - out * np.sin(heading), ry + out * np.cos(heading), farthest / now
    return wx + share * (x + dx - wx) - x, wy + share * (y + dy - wy) - y


@kernel(inner=True)
def _slowed(was: float, now: float) -> float:
    """Return the stretch that a root gets to that was at one and wants to be at another: slower the farther it is."""
    if now <= max(was, SOFT):
        return now
    if was >= FARTHEST:
        return was
    begin = max(was, SOFT)
    return float(FARTHEST - (FARTHEST - begin) * np.exp(-(now - begin) / (FARTHEST - SOFT)))


@kernel
def hold_roots(path: FloatArray, velocity: FloatArray, feet: FloatArray, places: FloatArray) -> None:
    """Move places (N, 2) back where roots cannot go, since feet hold them; who is too far already goes no farther."""
    for n in range(len(places)):
        heading, stride = path[n, 2], _stride(velocity, n)
        for k in range(2):
            x, y = _foot_now(feet, n, k)
            most = stride + SWING * min(max(feet[n, FOOT + k * FOOT_WIDTH + SWUNG], 0.0) / LIFTED, 1.0)
            now = _stretch(x - places[n, 0], y - places[n, 1], heading, most, k)
            can = _slowed(_stretch(x - path[n, 0], y - path[n, 1], heading, most, k), now)
            if now > can:
                out = BELOW * (1.0 - 2.0 * k)
                wx, wy, share = x + out * np.sin(heading), y - out * np.cos(heading), can / now
                places[n, 0] = wx + share * (places[n, 0] - wx)
                places[n, 1] = wy + share * (places[n, 1] - wy)


@kernel
def find_stretches(path: FloatArray, velocity: FloatArray, feet: FloatArray, stretches: FloatArray) -> None:
    """Find how far the farther foot of each is out, as a share of the most; `stretches` (N,) is written to.

    The most is that of a foot that stands, also in the midst of a swing, so that no stretch changes suddenly.
    """
    for n in range(len(stretches)):
        stretches[n] = 0.0
        for k in range(2):
            x, y = _foot_now(feet, n, k)
            away = _stretch(x - path[n, 0], y - path[n, 1], path[n, 2], _stride(velocity, n), k)
            stretches[n] = max(stretches[n], away)


@kernel
def hold_headings(
    path: FloatArray, velocity: FloatArray, feet: FloatArray, seconds: FloatArray, headings: FloatArray
) -> None:
    """Turn headings (N,) back where feet that stand would be twisted, stretched aside or crossed too far.

    Trunks turn for `seconds` (N,) from where they are.
    """
    for n in range(len(headings)):
        before, stride, most = path[n, 2], _stride(velocity, n), TURN_RATE * seconds[n]
        out = before + min(max(_wrapped(headings[n] - before), -most), most)
        for k in range(2):
            foot = FOOT + k * FOOT_WIDTH
            if feet[n, foot + SWUNG] < 0.0:
                away = _wrapped(out - feet[n, foot + FROM_YAW])
                low, high = (-TWIST_OUT, TWIST_IN) if k == 0 else (-TWIST_IN, TWIST_OUT)
                out += min(max(away, low), high) - away
        for k in range(2):
            foot = FOOT + k * FOOT_WIDTH
            if feet[n, foot + SWUNG] < 0.0:
                x, y = feet[n, foot + FROM_X] - path[n, 0], feet[n, foot + FROM_X + 1] - path[n, 1]
                was, now = _stretch(x, y, before, stride, k), _stretch(x, y, out, stride, k)
                if now > max(was, 1.0):
                    out = before + min(max((1.0 - was) / (now - was), 0.0), 1.0) * (out - before)
        headings[n] = out


@kernel
def hold_feet(path: FloatArray, velocity: FloatArray, feet: FloatArray, moves: FloatArray, prints: FloatArray) -> None:
    """Shorten moves (N, 2, 2) of swinging feet, and further ones of their coming footprints, to what legs reach."""
    for n in range(len(moves)):
        most = max(_stride(velocity, n), STANDING) + SWING
        for k in range(2):
            foot = FOOT + k * FOOT_WIDTH
            if feet[n, foot + SWUNG] < 0.0:
                moves[n, k, 0], moves[n, k, 1], prints[n, k, 0], prints[n, k, 1] = 0.0, 0.0, 0.0, 0.0
                continue
            rx, ry, heading = path[n, 0], path[n, 1], path[n, 2]
            if moves[n, k, 0] != 0.0 or moves[n, k, 1] != 0.0:
                x, y = _foot_now(feet, n, k)
                moves[n, k] = _bounded(x, y, moves[n, k, 0], moves[n, k, 1], rx, ry, heading, most, k)
            dx, dy = moves[n, k, 0] + prints[n, k, 0], moves[n, k, 1] + prints[n, k, 1]
            if dx != 0.0 or dy != 0.0:
                x, y = feet[n, foot + TO_X], feet[n, foot + TO_X + 1]
                dx, dy = _bounded(x, y, dx, dy, rx, ry, heading, most, k)
                prints[n, k, 0], prints[n, k, 1] = dx - moves[n, k, 0], dy - moves[n, k, 1]


@kernel
def could_stand(path: FloatArray, feet: FloatArray, able: BoolArray) -> None:
    """Find who could stand on its swinging feet if these were set down where they are; `able` (N,) is written to."""
    for n in range(len(able)):
        able[n] = True
        for k in range(2):
            if feet[n, FOOT + k * FOOT_WIDTH + SWUNG] >= 0.0:
                x, y = _foot_now(feet, n, k)
                if _stretch(x - path[n, 0], y - path[n, 1], path[n, 2], STANDING, k) > 1.0:
                    able[n] = False
