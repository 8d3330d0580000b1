"""Compiled loops that tell how deep capsules lie in solids.

All depths are horizontal: how far a capsule has to be moved in the plan until it is clear. A capsule that passes
over or under a solid, however closely, has no depth.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

PRISM, BALL = 0, 1
"""Kinds of solid."""
BOTTOM, TOP, ROUNDING, BALL_HEIGHT, BALL_RADIUS = 0, 1, 2, 3, 4
"""Columns of `Solids.numbers`."""
AROUND_X, AROUND_Y, AROUND_R = 0, 1, 2
"""Columns of `Solids.around`."""
FROM_X, FROM_Y, TO_X, TO_Y, FILLED = 0, 1, 2, 3, 4
"""Columns of `Solids.edges`."""
_ROUNDS, _PARTS = 9, 4
"""Rounds of the search for the deepest point of an axis, and parts of it that are searched one by one."""
_PASSES = -1e9
"""Stands for a ball that passes over or under a solid."""
_GOLDEN = 0.6180339887498949


class Solids(NamedTuple):
    """Solids that do not move, and those that do in frames of their own, as plain arrays."""

    kinds: IntArray
    """(S,)."""
    numbers: FloatArray
    """Prism: bottom, top, rounding; ball: height of its middle and radius in the last two columns [m]; (S, 5)."""
    around: FloatArray
    """A disc around each solid in its own frame: x, y and radius [m]; (S, 3)."""
    spans: IntArray
    """First edge of each solid, and the one after its last; (S, 2)."""
    edges: FloatArray
    """Both ends of each edge, and 1 where it bounds a filled area; (E, 5)."""
    movers: IntArray
    """Number of the mover that carries each solid, or -1; (S,)."""
    convex: IntArray
    """Whether each footprint is convex; (S,)."""


@kernel(inner=True, shared=True, borrows=True)
def plan_distance(solids: Solids, s: int, x: float, y: float) -> tuple[float, float, float]:
    """Return the signed distance of a point from the footprint of a solid [m], and the direction away from it."""
    inside = False
    best, bx, by = 1e30, 1.0, 0.0
    flat_x, flat_y = 1.0, 0.0
    for e in range(solids.spans[s, 0], solids.spans[s, 1]):
        x0, y0 = solids.edges[e, FROM_X], solids.edges[e, FROM_Y]
        dx, dy = solids.edges[e, TO_X] - x0, solids.edges[e, TO_Y] - y0
        length = dx * dx + dy * dy
        share = 0.0
        if length > 0.0:
            share = min(max(((x - x0) * dx + (y - y0) * dy) / length, 0.0), 1.0)
        ax, ay = x - x0 - share * dx, y - y0 - share * dy
        square = ax * ax + ay * ay
        if square < best:
            best, bx, by = square, ax, ay
            if length > 0.0:  # on the edge itself the way out is across it; rings run anticlockwise
                long = np.sqrt(length)
                flat_x, flat_y = dy / long, -dx / long
        if solids.edges[e, FILLED] > 0.0 and (y0 > y) != (y0 + dy > y) and x < x0 + (y - y0) / dy * dx:
            inside = not inside
    away = np.sqrt(best)
    if away > 1e-9:
        bx, by = bx / away, by / away
    else:
        bx, by = flat_x, flat_y
        inside = False
    if inside:
        return -away - solids.numbers[s, ROUNDING], -bx, -by
    return away - solids.numbers[s, ROUNDING], bx, by


@kernel(borrows=True)
def clearances(solids: Solids, near: IntArray, points: FloatArray, out: FloatArray) -> None:
    """Write the distance of points (N, 2) from the nearest of some solids that do not move [m]; (N,)."""
    for i in range(len(points)):
        out[i] = 1e9
        for j in range(len(near)):
            if solids.movers[near[j]] < 0:
                away, _, _ = plan_distance(solids, near[j], points[i, 0], points[i, 1])
                out[i] = min(out[i], away)


@kernel(inner=True, shared=True, borrows=True)
def half_width(solids: Solids, s: int, z: float, r: float) -> float:
    """Return how far from the footprint a ball of radius r has to be at a height [m], or `_PASSES`."""
    if solids.kinds[s] == BALL:
        away = z - solids.numbers[s, BALL_HEIGHT]
        both = solids.numbers[s, BALL_RADIUS] + r
        square = both * both - away * away
        if square <= 0.0:
            return _PASSES
        return float(np.sqrt(square) - solids.numbers[s, BALL_RADIUS])
    over = max(solids.numbers[s, BOTTOM] - z, z - solids.numbers[s, TOP], 0.0)
    if over >= r:
        return _PASSES
    return float(np.sqrt(r * r - over * over))


@kernel(inner=True, shared=True, borrows=True)
def _depth_at(
    solids: Solids, s: int, ax: float, ay: float, az: float, bx: float, by: float, bz: float, r: float, t: float
) -> float:
    wide = half_width(solids, s, az + t * (bz - az), r)
    away, _, _ = plan_distance(solids, s, ax + t * (bx - ax), ay + t * (by - ay))
    if wide == _PASSES:
        return -away - 1.0
    return wide - away


@kernel(inner=True, shared=True, borrows=True)
def capsule_depth(
    solids: Solids, s: int, ax: float, ay: float, az: float, bx: float, by: float, bz: float, r: float, least: float
) -> tuple[float, float]:
    """Return how deep a capsule lies in a solid [m], at most `least` where it is not deeper, and the share of its axis.

    The depth along the axis has one peak for a convex footprint, which golden sections find. Other footprints are
    searched in parts.
    """
    low, high = 0.0, 1.0
    dz = bz - az
    if abs(dz) > 1e-12:  # only the part of the axis that is neither over nor under the solid
        if solids.kinds[s] == BALL:
            reach = solids.numbers[s, BALL_RADIUS] + r
            z0, z1 = solids.numbers[s, BALL_HEIGHT] - reach, solids.numbers[s, BALL_HEIGHT] + reach
        else:
            z0, z1 = solids.numbers[s, BOTTOM] - r, solids.numbers[s, TOP] + r
        t0, t1 = (z0 - az) / dz, (z1 - az) / dz
        low, high = max(low, min(t0, t1)), min(high, max(t0, t1))
    elif half_width(solids, s, az, r) == _PASSES:
        return least, 0.0
    if low >= high and abs(dz) > 1e-12:
        return least, 0.0
    mx, my = ax + 0.5 * (low + high) * (bx - ax), ay + 0.5 * (low + high) * (by - ay)
    half = 0.5 * (high - low) * np.sqrt((bx - ax) * (bx - ax) + (by - ay) * (by - ay))
    away, _, _ = plan_distance(solids, s, mx, my)
    wide = r + solids.numbers[s, BALL_RADIUS] if solids.kinds[s] == BALL else r
    if wide - away + half <= least:
        return least, 0.0
    best, at = least, 0.0
    e = solids.spans[s, 0]
    beside = min(az, bz) >= solids.numbers[s, BOTTOM] and max(az, bz) <= solids.numbers[s, TOP]
    if beside and solids.kinds[s] == PRISM and solids.spans[s, 1] == e + 1:
        lies_x = solids.edges[e, FROM_X] == solids.edges[e, TO_X]
        lies_y = solids.edges[e, FROM_Y] == solids.edges[e, TO_Y]
        if lies_x and lies_y:  # an upright cylinder beside the whole axis
            dx, dy = bx - ax, by - ay
            square = dx * dx + dy * dy
            if square > 0.0:
                ex, ey = solids.edges[e, FROM_X] - ax, solids.edges[e, FROM_Y] - ay
                at = min(max((ex * dx + ey * dy) / square, 0.0), 1.0)
            away, _, _ = plan_distance(solids, s, ax + at * dx, ay + at * dy)
            return max(r - away, least), at
    parts = 1 if solids.convex[s] == 1 else _PARTS
    for part in range(parts):
        a, b = low + (high - low) * part / parts, low + (high - low) * (part + 1) / parts
        c, d = b - _GOLDEN * (b - a), a + _GOLDEN * (b - a)
        fc = _depth_at(solids, s, ax, ay, az, bx, by, bz, r, c)
        fd = _depth_at(solids, s, ax, ay, az, bx, by, bz, r, d)
        for _ in range(_ROUNDS):
            if fc > fd:
                b, d, fd = d, c, fc
                c = b - _GOLDEN * (b - a)
                fc = _depth_at(solids, s, ax, ay, az, bx, by, bz, r, c)
            else:
                a, c, fc = c, d, fd
                d = a + _GOLDEN * (b - a)
                fd = _depth_at(solids, s, ax, ay, az, bx, by, bz, r, d)
        for t in (a, 0.5 * (a + b), b, low, high):
            f = _depth_at(solids, s, ax, ay, az, bx, by, bz, r, t)
            if f > best:
                best, at = f, t
    return best, at


@kernel(inner=True, shared=True, borrows=True)
def frame_depth(
    capsules: FloatArray, radii: FloatArray, solids: Solids, near: IntArray, moves: FloatArray, groups: IntArray,
    tolerance: float, depths: FloatArray, which: IntArray,
) -> None:  # fmt: skip
    """Write how deep groups of capsules lie in solids in one frame.

    Args:
        capsules: axes of the capsules in the world [m]; (C, 2, 3).
        radii: their radii [m]; (C,).
        solids: the solids.
        near: numbers of those that may be met.
        moves: where movers are; (M, 4).
        groups: group of each capsule, or -1 for one that is left out; (C,).
        tolerance: depth that does not count [m].
        depths: the depths, 0 where there is none [m]; (G,).
        which: number of the deepest solid; (G,).
    """
    for g in range(len(depths)):
        depths[g] = 0.0
    for j in range(len(near)):
        s = near[j]
        m = solids.movers[s]
        mx, my, mc, ms = 0.0, 0.0, 1.0, 0.0
        if m >= 0:
            mx, my, mc, ms = moves[m, 0], moves[m, 1], moves[m, 2], moves[m, 3]
        for k in range(len(radii)):
            if groups[k] < 0:
                continue
            ax, ay = capsules[k, 0, 0] - mx, capsules[k, 0, 1] - my
            bx, by = capsules[k, 1, 0] - mx, capsules[k, 1, 1] - my
            ax, ay, bx, by = mc * ax + ms * ay, mc * ay - ms * ax, mc * bx + ms * by, mc * by - ms * bx
            x, y = 0.5 * (ax + bx) - solids.around[s, AROUND_X], 0.5 * (ay + by) - solids.around[s, AROUND_Y]
            long = abs(bx - ax) + abs(by - ay)
            far = solids.around[s, AROUND_R] + radii[k] + long
            if x * x + y * y > far * far:
                continue
            g = groups[k]
            least = max(tolerance, depths[g])
            deep, _ = capsule_depth(solids, s, ax, ay, capsules[k, 0, 2], bx, by, capsules[k, 1, 2], radii[k], least)
            if deep > least:
                depths[g], which[g] = deep, s


@kernel(borrows=True)
def frame_depths(
    capsules: FloatArray, radii: FloatArray, solids: Solids, near: IntArray, moves: FloatArray, groups: IntArray,
    tolerance: float, depths: FloatArray, which: IntArray,
) -> None:  # fmt: skip
    """Write `frame_depth` of every frame: capsules (F, C, 2, 3), moves (F, M, 4), depths and which (F, G)."""
    for i in range(len(capsules)):
        frame_depth(capsules[i], radii, solids, near, moves[i], groups, tolerance, depths[i], which[i])


@kernel(inner=True, shared=True, borrows=True)
def _axis_distance(a: FloatArray, b: FloatArray) -> float:
    """Return the least distance between two axes (2, 3) each [m]."""
    ux, uy, uz = a[1, 0] - a[0, 0], a[1, 1] - a[0, 1], a[1, 2] - a[0, 2]
    vx, vy, vz = b[1, 0] - b[0, 0], b[1, 1] - b[0, 1], b[1, 2] - b[0, 2]
    wx, wy, wz = a[0, 0] - b[0, 0], a[0, 1] - b[0, 1], a[0, 2] - b[0, 2]
    uu, vv, uv = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz, ux * vx + uy * vy + uz * vz
    uw, vw = ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz
    least, t = uu * vv - uv * uv, 0.0
    if least > 1e-12 * uu * vv and least > 0.0:
        t = min(max((uv * vw - vv * uw) / least, 0.0), 1.0)
    s = min(max((uv * t + vw) / vv, 0.0), 1.0) if vv > 0.0 else 0.0
    t = min(max((uv * s - uw) / uu, 0.0), 1.0) if uu > 0.0 else 0.0
    dx, dy, dz = wx + t * ux - s * vx, wy + t * uy - s * vy, wz + t * uz - s * vz
    return float(np.sqrt(dx * dx + dy * dy + dz * dz))


@kernel(inner=True, borrows=True)
def _may_touch(a: FloatArray, b: FloatArray, reach: float) -> bool:
    """Return whether two axes (2, 3) each can be nearer to one another than a reach [m]: balls around them are."""
    square, long, other = 0.0, 0.0, 0.0
    for k in range(3):
        away = 0.5 * (a[0, k] + a[1, k] - b[0, k] - b[1, k])
        square += away * away
        long += (a[1, k] - a[0, k]) * (a[1, k] - a[0, k])
        other += (b[1, k] - b[0, k]) * (b[1, k] - b[0, k])
    far = reach + 0.5 * (np.sqrt(long) + np.sqrt(other))
    return bool(square < far * far)


@kernel(inner=True, shared=True, borrows=True)
def own_depth(capsules: FloatArray, radii: FloatArray, sides: IntArray, trunk: IntArray, out: FloatArray) -> None:
    """Write how deep the arms of a body lie in its own trunk and thighs in one frame.

    Args:
        capsules: axes of the capsules [m]; (C, 2, 3).
        radii: their radii [m]; (C,).
        sides: number of the arm that each capsule belongs to, or -1; (C,).
        trunk: 1 for capsules of trunk and thighs; (C,).
        out: depth of each arm, 0 where there is none [m]; (2,).
    """
    out[0], out[1] = 0.0, 0.0
    for k in range(len(radii)):
        if sides[k] >= 0:
            for m in range(len(radii)):
                if trunk[m] == 1 and _may_touch(capsules[k], capsules[m], radii[k] + radii[m] - out[sides[k]]):
                    deep = radii[k] + radii[m] - _axis_distance(capsules[k], capsules[m])
                    out[sides[k]] = max(out[sides[k]], deep)


@kernel(borrows=True)
def own_depths(capsules: FloatArray, radii: FloatArray, sides: IntArray, trunk: IntArray, out: FloatArray) -> None:
    """Write `own_depth` of every frame: capsules (F, C, 2, 3), out (F, 2)."""
    for i in range(len(capsules)):
        own_depth(capsules[i], radii, sides, trunk, out[i])
