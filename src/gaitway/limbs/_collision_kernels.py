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


class GapMemory(NamedTuple):
    """Memory of `least_gap` for K capsules; made by `gap_memory`."""

    moved: FloatArray
    """Axes as a mover sees them [m]; (K, 2, 3)."""
    other: FloatArray
    """Axis of one more capsule [m]; (1, 2, 3)."""
    boxes: FloatArray
    """Boxes around capsules, around all of them, and around one more thing: low, then high corners [m]; (6, K + 2)."""
    met: IntArray
    """The capsules of which one is too near to something, if the last search stopped there; else -1; (2,)."""


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
    """Pairs of our own capsules that must not meet, in runs: one capsule, the first and the one after the last that it
    must not meet, and the row of `ease` of the first; (R, 4)."""
    ease: FloatArray
    """How deep these pairs may lie in one another [m]; (P,)."""
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


@kernel(inner=True)
def gap_memory(count: int) -> GapMemory:
    """Return memory for so many capsules."""
    return GapMemory(np.empty((count, 2, 3)), np.empty((1, 2, 3)), np.empty((6, count + 2)), np.empty(2, np.int64))


@kernel(inner=True, borrows=True)
def _apart(boxes: FloatArray, k: int, reach: float, m: int) -> bool:
    """Return whether boxes k and m of `GapMemory.boxes` are farther apart than a reach [m]."""
    for i in range(3):
        if boxes[i, k] - reach > boxes[3 + i, m]:
            return True
        if boxes[3 + i, k] + reach < boxes[i, m]:
            return True
    return False


@kernel(inner=True, borrows=True)
def _beyond(boxes: FloatArray, k: int, reach: float, solids: WorldSolids, s: int) -> bool:
    """Return whether box k of `GapMemory.boxes` is farther from the box of a solid than a reach [m]."""
    for i in range(3):
        if boxes[i, k] - reach > solids.boxes[s, 3 + i]:
            return True
        if boxes[3 + i, k] + reach < solids.boxes[s, i]:
            return True
    return False


@kernel(inner=True, borrows=True)
def _fill_box(ends: FloatArray, k: int, radius: float, boxes: FloatArray, m: int) -> None:
    """Write the box around capsule k into column m of boxes."""
    for i in range(3):
        a, b = ends[k, 0, i], ends[k, 1, i]
        boxes[i, m], boxes[3 + i, m] = min(a, b) - radius, max(a, b) + radius


@kernel(inner=True, borrows=True)
def frame_at(around: Around, time: float) -> tuple[int, float]:
    """Return the frame before a time [s], and the share of the way to the next."""
    frames = around.floor.shape[0]
    f = min(max((time - around.begin) * around.rate, 0.0), frames - 1.0)
    i = min(int(f), max(frames - 2, 0))
    return i, f - i


@kernel(inner=True, shared=True, borrows=True)
def _meets_itself(ends: FloatArray, radii: FloatArray, around: Around, boxes: FloatArray, met: IntArray) -> bool:
    """Return whether two of our own capsules lie too deep in one another, and write which; their boxes are filled."""
    pairs, ease = around.pairs, around.ease
    for r in range(pairs.shape[0]):
        # what cannot be below 0 needs no look at the other end of an array
        a, first, last, row = pairs[r, 0], max(pairs[r, 1], 0), pairs[r, 2], max(pairs[r, 3], 0)
        x0, y0, z0, x1, y1, z1 = boxes[0, a], boxes[1, a], boxes[2, a], boxes[3, a], boxes[4, a], boxes[5, a]
        for b in range(first, last):
            e = ease[row + b - first]
            if z0 + e >= boxes[5, b] or boxes[2, b] + e >= z1:  # bodies are upright: most pairs differ in height
                continue
            if y0 + e >= boxes[4, b] or boxes[1, b] + e >= y1 or x0 + e >= boxes[3, b] or boxes[0, b] + e >= x1:
                continue
            thick = radii[a] + radii[b] - e
            if thick > 0.0 and segment_square(ends, a, ends, b) < thick * thick:
                met[0], met[1] = a, b
                return True
    return False


@kernel(inner=True, borrows=True)
def _fill_boxes(ends: FloatArray, radii: FloatArray, boxes: FloatArray) -> None:
    """Write the boxes around capsules, and around all of them, into columns 0 to K of boxes."""
    count = radii.shape[0]
    for i in range(3):
        boxes[i, count], boxes[3 + i, count] = _FAR, -_FAR
    for k in range(count):
        _fill_box(ends, k, radii[k], boxes, k)
        for i in range(3):
            boxes[i, count] = min(boxes[i, count], boxes[i, k])
            boxes[3 + i, count] = max(boxes[3 + i, count], boxes[3 + i, k])


@kernel(inner=True, shared=True, borrows=True)
def _moving_gap(
    ends: FloatArray, radii: FloatArray, around: Around, s: int, pose: tuple[float, float, float], best: float,
    bar: float, stop: bool, memory: GapMemory,
) -> float:  # fmt: skip
    """Return the least gap to a solid whose mover has a planar pose [m], if that is below `best`; see `least_gap`."""
    count, (x, y, heading), solids = radii.shape[0], pose, around.solids
    moved, boxes = memory.moved, memory.boxes
    c, n = math.cos(heading), math.sin(heading)
    # a ball around everything, as the mover sees it
    wide, middle = 0.0, count + 1
    for i in range(3):
        wide += (0.5 * (boxes[3 + i, count] - boxes[i, count])) ** 2
    ax, ay = 0.5 * (boxes[0, count] + boxes[3, count]) - x, 0.5 * (boxes[1, count] + boxes[4, count]) - y
    for e in range(2):
        boxes[3 * e, middle], boxes[3 * e + 1, middle] = c * ax + n * ay, c * ay - n * ax
        boxes[3 * e + 2, middle] = 0.5 * (boxes[2, count] + boxes[5, count])
    if _beyond(boxes, middle, math.sqrt(wide) + best, solids, s):
        return best
    for k in range(count):
        for e in range(2):
            ax, ay = ends[k, e, 0] - x, ends[k, e, 1] - y
            moved[k, e, 0], moved[k, e, 1], moved[k, e, 2] = c * ax + n * ay, c * ay - n * ax, ends[k, e, 2]
        _fill_box(moved, k, radii[k], boxes, middle)
        if not _beyond(boxes, middle, best, solids, s):
            best = min(best, axis_distance(solids, s, moved, k, radii[k] + best) - radii[k])
            if stop and best < bar:
                return best
    return best


@kernel(inner=True, shared=True, borrows=True)
def least_gap(
    ends: FloatArray, radii: FloatArray, time: float, around: Around, bar: float, stop: bool, memory: GapMemory
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
        memory: memory.
    """
    count = radii.shape[0]
    best: float = bar
    i, share = frame_at(around, time)
    j = min(i + 1, around.floor.shape[0] - 1)
    boxes, other, met = memory.boxes, memory.other, memory.met
    met[:] = -1
    _fill_boxes(ends, radii, boxes)
    if boxes[2, count] < (1.0 - share) * around.floor[i] + share * around.floor[j]:
        return -1.0
    if _meets_itself(ends, radii, around, boxes, met):
        return -1.0
    solids = around.solids
    for s in range(solids.kinds.shape[0]):
        mover = solids.movers[s]
        if mover < 0:
            if _beyond(boxes, count, best, solids, s):
                continue
            for k in range(count):
                if not _beyond(boxes, k, best, solids, s):
                    best = min(best, axis_distance(solids, s, ends, k, radii[k] + best) - radii[k])
                    if stop and best < bar:
                        met[:] = k
                        return best
        elif solids.phases[s, 0] <= time < solids.phases[s, 1]:
            x = (1.0 - share) * around.moves[i, mover, 0] + share * around.moves[j, mover, 0]
            y = (1.0 - share) * around.moves[i, mover, 1] + share * around.moves[j, mover, 1]
            heading = (1.0 - share) * around.moves[i, mover, 2] + share * around.moves[j, mover, 2]
            best = _moving_gap(ends, radii, around, s, (x, y, heading), best, bar, stop, memory)
            if stop and best < bar:
                return best
    for m in range(around.thick.shape[0]):
        for e in range(2):
            for d in range(3):
                other[0, e, d] = (1.0 - share) * around.axes[i, m, e, d] + share * around.axes[j, m, e, d]
        _fill_box(other, 0, around.thick[m], boxes, count + 1)
        own = around.own[m] == 1
        if _apart(boxes, count, 0.0 if own else best, count + 1):
            continue
        for k in range(count):
            thick = radii[k] + around.thick[m]
            if own:  # parts of the same body may touch, but not lie deeper in one another than they do anyway
                reach = thick - around.slack[k, m]
                near = reach > 0.0 and not _apart(boxes, k, -around.slack[k, m], count + 1)
                if near and segment_square(ends, k, other, 0) < reach * reach:
                    met[:] = k
                    return -1.0
            elif not _apart(boxes, k, best, count + 1):
                best = min(best, math.sqrt(segment_square(ends, k, other, 0)) - thick)
                if stop and best < bar:
                    met[:] = k
                    return best
    return best


@kernel
def body_gaps(
    ends: FloatArray, radii: FloatArray, times: FloatArray, around: Around, bar: float, stop: bool, out: FloatArray
) -> None:
    """Write the least gaps (N,) of capsules (N, K, 2, 3) at times (N,); see `least_gap`."""
    memory = gap_memory(radii.shape[0])
    for n in range(times.shape[0]):
        out[n] = least_gap(ends[n], radii, times[n], around, bar, stop, memory)


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


@kernel
def frame_gaps(ends: FloatArray, radii: FloatArray, others: FloatArray, thick: FloatArray, out: FloatArray) -> None:
    """Write the least gap (F,) of capsules (F, K, 2, 3) to others (F, M, 2, 3) in each frame [m]."""
    for f in range(ends.shape[0]):
        best = _FAR
        for k in range(radii.shape[0]):
            for m in range(thick.shape[0]):
                best = min(best, math.sqrt(segment_square(ends[f], k, others[f], m)) - radii[k] - thick[m])
        out[f] = best
