"""Compiled check of capsules against the solids of a world at some time, other bodies, and their own body.

The gap of two things is the distance of their surfaces [m], negative where they overlap. Only what is nearer than a
bar matters: everything else is left out by bounding boxes. Distances are a little too small, never too large.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

CONVEX, CONCAVE, BALL, TRIANGLE = 0, 1, 2, 3
"""Kinds of solid: a prism over a convex footprint, over any other, a ball, a triangle of a mesh."""
BOTTOM, TOP, ROUNDING = 0, 1, 2
"""Columns of `WorldSolids.numbers` of a prism. Those of a ball are its centre and radius."""
_GOLDEN = 0.3819660112501051
_FINE, _COARSE = 5e-4, 2e-3
"""Parts of an axis below which distances are not looked at more closely [m]: convex solids, and others."""
_FAR = 1e30


class WorldSolids(NamedTuple):
    """Solids as plain arrays, in the frame of their mover if they have one; made by `surroundings.world_solids`."""

    kinds: IntArray
    """(S,)."""
    boxes: FloatArray
    """Low corner, high corner [m]; (S, 6)."""
    numbers: FloatArray
    """Prism: bottom, top, rounding; ball: centre, radius [m]; (S, 4)."""
    spans: IntArray
    """First row of `edges` or `corners` of each solid, and the one after its last; (S, 2)."""
    edges: FloatArray
    """Both ends of each edge, and 1 where it bounds a filled area; (E, 5)."""
    corners: FloatArray
    """Corners of triangles [m]; (T, 9)."""
    movers: IntArray
    """Column of `moves` of the mover that carries each solid, or -1; (S,)."""
    phases: FloatArray
    """Time from which on, and before which, each solid is there [s]; (S, 2)."""


class Around(NamedTuple):
    """What is around some capsules over a span of time, sampled at frames; made by `surroundings`."""

    begin: float
    """Time of the first frame [s]."""
    rate: float
    """Frames a second [Hz]."""
    solids: WorldSolids
    moves: FloatArray
    """Planar poses (x, y, heading) of movers; (F, V, 3)."""
    axes: FloatArray
    """Axes of other capsules: of other bodies, and of the body itself [m]; (F, M, 2, 3)."""
    thick: FloatArray
    """Their radii [m]; (M,)."""
    slack: FloatArray
    """How deep each of our capsules may lie in each of them [m]; infinite for pairs that are not looked at; (K, M)."""
    own: IntArray
    """1 where a capsule belongs to the body itself, whose parts may touch; (M,)."""
    pairs: IntArray
    """Pairs of our own capsules that must not meet; (P, 2)."""
    ease: FloatArray
    """How deep these may lie in one another [m]; (P,)."""
    floor: FloatArray
    """Lowest height that our capsules may have [m]; (F,)."""


@kernel(inner=True, shared=True, borrows=True)
def _footprint_distance(solids: WorldSolids, s: int, x: float, y: float) -> float:
    """Return the signed distance of a point to the footprint of a prism [m]."""
    inside, best = False, _FAR
    for e in range(solids.spans[s, 0], solids.spans[s, 1]):
        x0, y0 = solids.edges[e, 0], solids.edges[e, 1]
        dx, dy = solids.edges[e, 2] - x0, solids.edges[e, 3] - y0
        length = dx * dx + dy * dy
        share = 0.0
        if length > 0.0:
            share = min(max(((x - x0) * dx + (y - y0) * dy) / length, 0.0), 1.0)
        ax, ay = x - x0 - share * dx, y - y0 - share * dy
        best = min(best, ax * ax + ay * ay)
        if solids.edges[e, 4] > 0.0 and (y0 > y) != (y0 + dy > y) and x < x0 + (y - y0) / dy * dx:
            inside = not inside
    away = math.sqrt(best)
    if inside:
        away = -away
    signed: float = away - solids.numbers[s, ROUNDING]
    return signed


@kernel(inner=True, shared=True, borrows=True)
def _triangle_distance(corners: FloatArray, t: int, x: float, y: float, z: float) -> float:
    """Return the distance of a point to a triangle [m]."""
    ax, ay, az = corners[t, 0], corners[t, 1], corners[t, 2]
    ux, uy, uz = corners[t, 3] - ax, corners[t, 4] - ay, corners[t, 5] - az
    vx, vy, vz = corners[t, 6] - ax, corners[t, 7] - ay, corners[t, 8] - az
    wx, wy, wz = x - ax, y - ay, z - az
    uu, uv, vv = ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz
    uw, vw = ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz
    area = uu * vv - uv * uv
    if area > 1e-12 * uu * vv:
        a, b = (vv * uw - uv * vw) / area, (uu * vw - uv * uw) / area
        if a >= 0.0 and b >= 0.0 and a + b <= 1.0:
            ox, oy, oz = wx - a * ux - b * vx, wy - a * uy - b * vy, wz - a * uz - b * vz
            return math.sqrt(ox * ox + oy * oy + oz * oz)
    best = _FAR
    for side in range(3):  # the nearest point is on an edge
        i, j = 3 * side, 3 * ((side + 1) % 3)
        px, py, pz = corners[t, i], corners[t, i + 1], corners[t, i + 2]
        ex, ey, ez = corners[t, j] - px, corners[t, j + 1] - py, corners[t, j + 2] - pz
        length = ex * ex + ey * ey + ez * ez
        share = 0.0
        if length > 0.0:
            share = min(max(((x - px) * ex + (y - py) * ey + (z - pz) * ez) / length, 0.0), 1.0)
        ox, oy, oz = x - px - share * ex, y - py - share * ey, z - pz - share * ez
        best = min(best, ox * ox + oy * oy + oz * oz)
    return math.sqrt(best)


@kernel(inner=True, shared=True, borrows=True)
def _point_distance(solids: WorldSolids, s: int, x: float, y: float, z: float) -> float:
    """Return the distance of a point to a prism or triangle [m], negative inside a prism."""
    if solids.kinds[s] == TRIANGLE:
        return _triangle_distance(solids.corners, solids.spans[s, 0], x, y, z)
    flat = _footprint_distance(solids, s, x, y)
    over = max(solids.numbers[s, BOTTOM] - z, z - solids.numbers[s, TOP])
    if flat > 0.0 and over > 0.0:
        return math.sqrt(flat * flat + over * over)
    deepest: float = max(flat, over)
    return deepest


@kernel(inner=True, shared=True, borrows=True)
def axis_distance(solids: WorldSolids, s: int, ends: FloatArray, k: int, need: float) -> float:
    """Return the distance of axis k of `ends` (K, 2, 3) to a solid [m]; at least `need` where it is not nearer.

    Along a line, the distance to a convex solid has one valley, which golden sections find. Other solids are
    searched in steps that cannot pass over a nearer place.
    """
    ax, ay, az = ends[k, 0, 0], ends[k, 0, 1], ends[k, 0, 2]
    dx, dy, dz = ends[k, 1, 0] - ax, ends[k, 1, 1] - ay, ends[k, 1, 2] - az
    square = dx * dx + dy * dy + dz * dz
    if solids.kinds[s] == BALL:
        bx, by, bz = solids.numbers[s, 0] - ax, solids.numbers[s, 1] - ay, solids.numbers[s, 2] - az
        share = 0.0
        if square > 0.0:
            share = min(max((bx * dx + by * dy + bz * dz) / square, 0.0), 1.0)
        bx, by, bz = bx - share * dx, by - share * dy, bz - share * dz
        away: float = math.sqrt(bx * bx + by * by + bz * bz) - solids.numbers[s, 3]
        return away
    length = math.sqrt(square)
    middle = _point_distance(solids, s, ax + 0.5 * dx, ay + 0.5 * dy, az + 0.5 * dz)
    if middle - 0.5 * length >= need or length < _FINE:
        return middle - 0.5 * length
    if solids.kinds[s] == CONCAVE:
        best, t = middle, 0.0
        while t < 1.0:
            d = _point_distance(solids, s, ax + t * dx, ay + t * dy, az + t * dz)
            best = min(best, d)
            t += (d - best + _COARSE) / length
        return min(best, _point_distance(solids, s, ax + dx, ay + dy, az + dz)) - _COARSE
    low, high = 0.0, 1.0
    a, b = _GOLDEN, 1.0 - _GOLDEN
    at_a = _point_distance(solids, s, ax + a * dx, ay + a * dy, az + a * dz)
    at_b = _point_distance(solids, s, ax + b * dx, ay + b * dy, az + b * dz)
    while (high - low) * length > _FINE:
        if min(at_a, at_b) - (high - low) * length >= need:
            break
        if at_a <= at_b:
            high, b, at_b = b, a, at_a
            a = low + _GOLDEN * (high - low)
            at_a = _point_distance(solids, s, ax + a * dx, ay + a * dy, az + a * dz)
        else:
            low, a, at_a = a, b, at_b
            b = high - _GOLDEN * (high - low)
            at_b = _point_distance(solids, s, ax + b * dx, ay + b * dy, az + b * dz)
    return min(at_a, at_b) - (high - low) * length


@kernel(inner=True, borrows=True)
def segment_square(p: FloatArray, k: int, q: FloatArray, m: int) -> float:
    """Return the squared distance of axis k of p (K, 2, 3) and axis m of q (M, 2, 3) [m^2]; either may be a point."""
    ux, uy, uz = p[k, 1, 0] - p[k, 0, 0], p[k, 1, 1] - p[k, 0, 1], p[k, 1, 2] - p[k, 0, 2]
    vx, vy, vz = q[m, 1, 0] - q[m, 0, 0], q[m, 1, 1] - q[m, 0, 1], q[m, 1, 2] - q[m, 0, 2]
    wx, wy, wz = p[k, 0, 0] - q[m, 0, 0], p[k, 0, 1] - q[m, 0, 1], p[k, 0, 2] - q[m, 0, 2]
    uu, uv, vv = ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz
    uw, vw = ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz
    area = uu * vv - uv * uv
    s, t = 0.0, 0.0
    if area > 1e-12 * uu * vv:  # of parallel ones any place on the first will do to begin with
        s = min(max((uv * vw - vv * uw) / area, 0.0), 1.0)
    if vv > 0.0:
        t = min(max((uv * s + vw) / vv, 0.0), 1.0)
    if uu > 0.0:
        s = min(max((uv * t - uw) / uu, 0.0), 1.0)
    dx, dy, dz = wx + s * ux - t * vx, wy + s * uy - t * vy, wz + s * uz - t * vz
    square: float = dx * dx + dy * dy + dz * dz
    return square


@kernel(inner=True, borrows=True)
def _apart(ends: FloatArray, k: int, reach: float, boxes: FloatArray, s: int) -> bool:
    """Return whether axis k, grown by a reach [m], lies outside a bounding box."""
    for i in range(3):
        if min(ends[k, 0, i], ends[k, 1, i]) - reach > boxes[s, 3 + i]:
            return True
        if max(ends[k, 0, i], ends[k, 1, i]) + reach < boxes[s, i]:
            return True
    return False


@kernel(inner=True, borrows=True)
def _far_apart(ends: FloatArray, k: int, reach: float, other: FloatArray) -> bool:
    """Return whether the boxes around axis k and around the one axis of `other` are farther apart than a reach [m]."""
    for d in range(3):
        if min(ends[k, 0, d], ends[k, 1, d]) - reach > max(other[0, 0, d], other[0, 1, d]):
            return True
        if max(ends[k, 0, d], ends[k, 1, d]) + reach < min(other[0, 0, d], other[0, 1, d]):
            return True
    return False


@kernel(inner=True, borrows=True)
def frame_at(around: Around, time: float) -> tuple[int, float]:
    """Return the frame before a time [s], and the share of the way to the next."""
    frames = around.floor.shape[0]
    f = min(max((time - around.begin) * around.rate, 0.0), frames - 1.0)
    i = min(int(f), max(frames - 2, 0))
    return i, f - i


@kernel(inner=True, shared=True, borrows=True)
def _meets_itself(ends: FloatArray, radii: FloatArray, around: Around, balls: FloatArray) -> bool:
    """Return whether two of our own capsules lie too deep in one another. Memory for balls around them is (K, 2, 3)."""
    if around.pairs.shape[0] > 4:  # balls are worth their while
        for k in range(radii.shape[0]):
            square = 0.0
            for d in range(3):
                balls[k, 0, d] = 0.5 * (ends[k, 0, d] + ends[k, 1, d])
                square += (ends[k, 1, d] - ends[k, 0, d]) ** 2
            balls[k, 1, 0] = 0.5 * math.sqrt(square)
    for p in range(around.pairs.shape[0]):
        a, b = around.pairs[p, 0], around.pairs[p, 1]
        thick = radii[a] + radii[b] - around.ease[p]
        if around.pairs.shape[0] > 4:
            reach, square = thick + balls[a, 1, 0] + balls[b, 1, 0], 0.0
            for d in range(3):
                square += (balls[a, 0, d] - balls[b, 0, d]) ** 2
            if square >= reach * reach:
                continue
        if thick > 0.0 and segment_square(ends, a, ends, b) < thick * thick:
            return True
    return False


@kernel(inner=True, shared=True, borrows=True)
def least_gap(
    ends: FloatArray, radii: FloatArray, time: float, around: Around, bar: float, stop: bool, moved: FloatArray,
    other: FloatArray,
) -> float:  # fmt: skip
    """Return the least gap of capsules to what is around them [m], or `bar` if all is farther.

    Parts of the body itself and the floor have no gap: touching them is a gap of -1.

    Args:
        ends: axes of the capsules [m]; (K, 2, 3).
        radii: (K,) [m].
        time: when [s].
        around: what is around.
        bar: the gap that matters [m].
        stop: whether to return at once when something is nearer than the bar.
        moved: memory; (K, 2, 3).
        other: memory; (1, 2, 3).
    """
    count = radii.shape[0]
    best: float = bar
    i, share = frame_at(around, time)
    j = min(i + 1, around.floor.shape[0] - 1)
    floor = (1.0 - share) * around.floor[i] + share * around.floor[j]
    for k in range(count):
        if min(ends[k, 0, 2], ends[k, 1, 2]) - radii[k] < floor:
            return -1.0
    if _meets_itself(ends, radii, around, moved):
        return -1.0
    solids = around.solids
    for s in range(solids.kinds.shape[0]):
        mover = solids.movers[s]
        if mover < 0:
            for k in range(count):
                need = radii[k] + best
                if not _apart(ends, k, need, solids.boxes, s):
                    best = min(best, axis_distance(solids, s, ends, k, need) - radii[k])
                    if stop and best < bar:
                        return best
        elif solids.phases[s, 0] <= time < solids.phases[s, 1]:
            x = (1.0 - share) * around.moves[i, mover, 0] + share * around.moves[j, mover, 0]
            y = (1.0 - share) * around.moves[i, mover, 1] + share * around.moves[j, mover, 1]
            h = (1.0 - share) * around.moves[i, mover, 2] + share * around.moves[j, mover, 2]
            c, n = math.cos(h), math.sin(h)
            for k in range(count):
                for e in range(2):
                    ax, ay = ends[k, e, 0] - x, ends[k, e, 1] - y
                    moved[k, e, 0], moved[k, e, 1], moved[k, e, 2] = c * ax + n * ay, c * ay - n * ax, ends[k, e, 2]
                need = radii[k] + best
                if not _apart(moved, k, need, solids.boxes, s):
                    best = min(best, axis_distance(solids, s, moved, k, need) - radii[k])
                    if stop and best < bar:
                        return best
    for m in range(around.thick.shape[0]):
        for e in range(2):
            for d in range(3):
                other[0, e, d] = (1.0 - share) * around.axes[i, m, e, d] + share * around.axes[j, m, e, d]
        own = around.own[m] == 1
        for k in range(count):
            thick = radii[k] + around.thick[m]
            if own:  # parts of the same body may touch, but not lie deeper in one another than they do anyway
                reach = thick - around.slack[k, m]
                near = reach > 0.0 and not _far_apart(ends, k, reach, other)
                if near and segment_square(ends, k, other, 0) < reach * reach:
                    return -1.0
            elif not _far_apart(ends, k, thick + best, other):
                best = min(best, math.sqrt(segment_square(ends, k, other, 0)) - thick)
                if stop and best < bar:
                    return best
    return best


@kernel
def body_gaps(
    ends: FloatArray, radii: FloatArray, times: FloatArray, around: Around, bar: float, stop: bool, out: FloatArray
) -> None:
    """Write the least gaps (N,) of capsules (N, K, 2, 3) at times (N,); see `least_gap`."""
    moved, other = np.empty((radii.shape[0], 2, 3)), np.empty((1, 2, 3))
    for n in range(times.shape[0]):
        out[n] = least_gap(ends[n], radii, times[n], around, bar, stop, moved, other)


@kernel
def axis_distances(solids: WorldSolids, s: int, ends: FloatArray, need: float, out: FloatArray) -> None:
    """Write `axis_distance` of axes (N, 2, 3) to one solid; for tests and measurements."""
    for n in range(out.shape[0]):
        out[n] = axis_distance(solids, s, ends, n, need)


@kernel
def pair_depths(ends: FloatArray, radii: FloatArray, others: FloatArray, thick: FloatArray, out: FloatArray) -> None:
    """Raise (K, M) to how deep capsules (F, K, 2, 3) ever lie in others (F, M, 2, 3) over all frames [m]."""
    for f in range(ends.shape[0]):
        for k in range(radii.shape[0]):
            for m in range(thick.shape[0]):
                both = radii[k] + thick[m]
                out[k, m] = max(out[k, m], both - math.sqrt(segment_square(ends[f], k, others[f], m)))
