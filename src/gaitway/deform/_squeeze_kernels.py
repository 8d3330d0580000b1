"""Compiled loops that squeeze a fragment between solids: how deep capsules lie in them, and pins that push them out.

All depths are horizontal: how far a capsule has to be moved in the plan until it is clear. A capsule that passes
over or under a solid, however closely, has no depth.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.deform._path_kernels import ComplexArray, deform_path, turn_of

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
_STALE = 2
"""Rounds without progress after which squeezing ends."""
_BETTER = 0.97
"""Share of the least depth so far below which a round counts as progress."""
_WRONG = -0.2
"""Cosine between a push and the side of the path below which the push would lead to the other side."""
DEEP, FRAME, PUSH_X, PUSH_Y, CAPSULE, SHARE = 0, 1, 2, 3, 4, 5
"""Columns of what `deepest` writes."""


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


@kernel(inner=True, shared=True)
def _planar(solids: Solids, s: int, x: float, y: float) -> tuple[float, float, float]:
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


@kernel(inner=True, shared=True)
def _wide(solids: Solids, s: int, z: float, r: float) -> float:
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


@kernel(inner=True, shared=True)
def _depth_at(
    solids: Solids, s: int, ax: float, ay: float, az: float, bx: float, by: float, bz: float, r: float, t: float
) -> float:
    wide = _wide(solids, s, az + t * (bz - az), r)
    away, _, _ = _planar(solids, s, ax + t * (bx - ax), ay + t * (by - ay))
    if wide == _PASSES:
        return -away - 1.0
    return wide - away


@kernel(inner=True, shared=True)
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
    elif _wide(solids, s, az, r) == _PASSES:
        return least, 0.0
    if low >= high and abs(dz) > 1e-12:
        return least, 0.0
    mx, my = ax + 0.5 * (low + high) * (bx - ax), ay + 0.5 * (low + high) * (by - ay)
    half = 0.5 * (high - low) * np.sqrt((bx - ax) * (bx - ax) + (by - ay) * (by - ay))
    away, _, _ = _planar(solids, s, mx, my)
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
            away, _, _ = _planar(solids, s, ax + at * dx, ay + at * dy)
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


@kernel(inner=True, shared=True)
def deepest(
    capsules: FloatArray, radii: FloatArray, reach: FloatArray, heading: complex, path: ComplexArray,
    deformed: ComplexArray, solids: Solids, s: int, moves: FloatArray, first: int, stop: int, tolerance: float,
    out: FloatArray,
) -> None:  # fmt: skip
    """Write the deepest point of capsules first to stop in a solid, over all frames; see the columns above.

    Args:
        capsules: axes of the capsules in every frame, as seen from the path and not turned [m]; (F, C, 2, 3).
        radii: their radii [m]; (C,).
        reach: greatest distance of the body from the path [m]; (F,).
        heading: direction in which the fragment begins, as a complex number of length 1.
        path: the path before it was deformed, in the world; (F,).
        deformed: the deformed path; (F,).
        solids: the solids.
        s: number of the solid.
        moves: x, y, cosine and sine of the heading of movers in every frame; (F, M, 4).
        first: first capsule.
        stop: capsule after the last.
        tolerance: depth that does not count [m].
        out: the result; a frame of -1 if nothing is deeper than the tolerance; (6,).
    """
    out[DEEP], out[FRAME] = tolerance, -1.0
    m = solids.movers[s]
    cx, cy, wide = solids.around[s, AROUND_X], solids.around[s, AROUND_Y], solids.around[s, AROUND_R]
    for i in range(len(deformed)):
        x, y = deformed[i].real, deformed[i].imag
        mc, ms = 1.0, 0.0
        if m >= 0:
            x, y = x - moves[i, m, 0], y - moves[i, m, 1]
            mc, ms = moves[i, m, 2], moves[i, m, 3]
            x, y = mc * x + ms * y, mc * y - ms * x
        far = wide + reach[i]
        if (x - cx) * (x - cx) + (y - cy) * (y - cy) > far * far:
            continue
        turn = heading * turn_of(path, deformed, i)
        c, n = turn.real * mc + turn.imag * ms, turn.imag * mc - turn.real * ms
        for k in range(first, stop):
            ax, ay, az = capsules[i, k, 0, 0], capsules[i, k, 0, 1], capsules[i, k, 0, 2]
            bx, by, bz = capsules[i, k, 1, 0], capsules[i, k, 1, 1], capsules[i, k, 1, 2]
            px, py = x + c * ax - n * ay, y + n * ax + c * ay
            qx, qy = x + c * bx - n * by, y + n * bx + c * by
            deep, share = capsule_depth(solids, s, px, py, az, qx, qy, bz, radii[k], out[DEEP])
            if deep > out[DEEP]:
                _, nx, ny = _planar(solids, s, px + share * (qx - px), py + share * (qy - py))
                out[DEEP], out[FRAME], out[CAPSULE], out[SHARE] = deep, i, k, share
                out[PUSH_X], out[PUSH_Y] = mc * nx - ms * ny, ms * nx + mc * ny


@kernel
def depths(
    capsules: FloatArray, radii: FloatArray, reach: FloatArray, path: ComplexArray, deformed: ComplexArray,
    heading: complex, solids: Solids, near: IntArray, moves: FloatArray, starts: IntArray, tolerance: float,
    out: FloatArray,
) -> None:  # fmt: skip
    """Write `deepest` of groups of capsules (G + 1,) in some solids (N,); out is (N, G, 6)."""
    for j in range(len(near)):
        for g in range(len(starts) - 1):
            deepest(
                capsules, radii, reach, heading, path, deformed, solids, near[j], moves, starts[g], starts[g + 1],
                tolerance, out[j, g],
            )  # fmt: skip


@kernel(inner=True, shared=True)
def _out_along(
    capsules: FloatArray, radii: FloatArray, heading: complex, path: ComplexArray, deformed: ComplexArray,
    solids: Solids, s: int, moves: FloatArray, found: FloatArray, ux: float, uy: float,
) -> float:  # fmt: skip
    """Return how far the deepest point has to be moved in a direction until it is out of a solid [m]."""
    i, k, t = int(found[FRAME]), int(found[CAPSULE]), found[SHARE]
    turn = heading * turn_of(path, deformed, i)
    lx = (1.0 - t) * capsules[i, k, 0, 0] + t * capsules[i, k, 1, 0]
    ly = (1.0 - t) * capsules[i, k, 0, 1] + t * capsules[i, k, 1, 1]
    z = (1.0 - t) * capsules[i, k, 0, 2] + t * capsules[i, k, 1, 2]
    x = deformed[i].real + turn.real * lx - turn.imag * ly
    y = deformed[i].imag + turn.imag * lx + turn.real * ly
    m = solids.movers[s]
    if m >= 0:
        x, y = x - moves[i, m, 0], y - moves[i, m, 1]
        c, n = moves[i, m, 2], moves[i, m, 3]
        x, y = c * x + n * y, c * y - n * x
        ux, uy = c * ux + n * uy, c * uy - n * ux
    wide, gone = _wide(solids, s, z, radii[k]), 0.0
    for _ in range(64):
        away, _, _ = _planar(solids, s, x + gone * ux, y + gone * uy)
        if wide - away <= 1e-4:
            break
        gone += wide - away
    return gone


@kernel(inner=True, shared=True)
def _middle(solids: Solids, s: int, moves: FloatArray, i: int) -> complex:
    """Return the middle of a solid in a frame."""
    x, y, m = solids.around[s, AROUND_X], solids.around[s, AROUND_Y], solids.movers[s]
    if m >= 0:
        c, n = moves[i, m, 2], moves[i, m, 3]
        x, y = moves[i, m, 0] + c * x - n * y, moves[i, m, 1] + n * x + c * y
    return complex(x, y)


@kernel(inner=True, shared=True)
def flipped(before: ComplexArray, after: ComplexArray, solids: Solids, s: int, moves: FloatArray) -> bool:
    """Return whether two paths with the same start pass the middle of a solid on different sides.

    One path, the straight line between their ends, and the other path back do not go around what both pass on one side.
    """
    around, n = 0.0, len(before)
    last = before[0] - _middle(solids, s, moves, 0)
    for i in range(1, n):
        now = before[i] - _middle(solids, s, moves, i)
        z = now * last.conjugate()
        around += np.arctan2(z.imag, z.real)
        last = now
    for i in range(n - 1, -1, -1):
        now = after[i] - _middle(solids, s, moves, i)
        z = now * last.conjugate()
        around += np.arctan2(z.imag, z.real)
        last = now
    return bool(abs(around) > np.pi)


@kernel
def situate(
    path: ComplexArray, lengths: FloatArray, shape: ComplexArray, scale: FloatArray, capsules: FloatArray,
    radii: FloatArray, reach: FloatArray, heading: complex, core: int, solids: Solids, near: IntArray,
    moves: FloatArray, frames: IntArray, places: ComplexArray, count: int, numbers: FloatArray, out: ComplexArray,
) -> tuple[float, int, int, int]:  # fmt: skip
    """Add pins until no capsule of the core lies in a solid (equation 7).

    Args:
        path: the path, where the fragment is to be played; (F,).
        lengths: lengths of its edges [m]; (F - 1,).
        shape: responses of the first step; (F, F).
        scale: responses of the second step; (F, F).
        capsules: axes as seen from the path, as in `deepest`; (F, C, 2, 3).
        radii: radii of the capsules [m]; (C,).
        reach: greatest distance of the body from the path [m]; (F,).
        heading: direction in which the fragment begins, as a complex number of length 1.
        core: number of capsules that count, the first ones.
        solids: the solids.
        near: numbers of those that may be met.
        moves: where movers are in every frame; (F, M, 4).
        frames: frames of the given pins, with room for more; (P,).
        places: their places; (P,).
        count: number of given pins.
        numbers: depth that does not count [m], what is added to a push [m], most rounds, frames within which pins are
            one; (4,).
        out: the deformed path; (F,).

    Returns:
        Depth that is left [m], rounds, pins, and the number of the solid that is in the way or passed on the other
        side; -1 for none.
    """
    tolerance, more, most, merge = numbers[0], numbers[1], int(numbers[2]), int(numbers[3])
    given, room, n = count, len(frames), len(path)
    lower, even = np.empty((room, room), np.complex128), np.empty((room, room))
    force, kept = np.empty(room, np.complex128), np.empty(room, np.bool_)
    found = np.zeros(6)
    least, stale, worst, blocker = 1e9, 0, 0.0, -1
    for rounds in range(most):
        deform_path(path, lengths, shape, scale, frames, places, count, out, lower, even, force, kept)
        worst, blocker = 0.0, -1
        for j in range(len(near)):
            s = near[j]
            deepest(capsules, radii, reach, heading, path, out, solids, s, moves, 0, core, tolerance, found)
            if found[FRAME] < 0.0:
                continue
            if found[DEEP] > worst:
                worst, blocker = found[DEEP], s
            i = int(found[FRAME])
            push = (found[DEEP] + more) * complex(found[PUSH_X], found[PUSH_Y])
            middle = _middle(solids, s, moves, i)
            ahead = path[min(i + 1, n - 1)] - path[max(i - 1, 0)]
            side = (middle - path[i]) * ahead.conjugate()
            long = np.sqrt(ahead.real * ahead.real + ahead.imag * ahead.imag)
            if long > 1e-9:  # the side on which the path passes decides, not that of a foot or a hand
                across = complex(ahead.imag / long, -ahead.real / long)
                if side.imag < 0.0:
                    across = -across
                if push.real * across.real + push.imag * across.imag < _WRONG * (found[DEEP] + more):
                    gone = _out_along(
                        capsules, radii, heading, path, out, solids, s, moves, found, across.real, across.imag
                    )
                    push = (gone + more) * across
            i = max(i, 2)
            hit = -1
            for m in range(given, count):
                if abs(frames[m] - i) < merge and (hit < 0 or abs(frames[m] - i) < abs(frames[hit] - i)):
                    hit = m
            for m in range(given):
                if abs(frames[m] - i) < 2:
                    hit = -2
            if hit >= 0:
                places[hit] += push
            elif hit == -1 and count < room:
                frames[count], places[count] = i, out[i] + push
                count += 1
        if blocker < 0:
            for j in range(len(near)):
                if flipped(path, out, solids, near[j], moves):
                    return 0.0, rounds, count, near[j]
            return 0.0, rounds, count, -1
        stale = 0 if worst < _BETTER * least else stale + 1
        least = min(least, worst)
        if stale > _STALE:
            return worst, rounds, count, blocker
    return worst, most, count, blocker


@kernel
def frame_depths(
    capsules: FloatArray, radii: FloatArray, solids: Solids, near: IntArray, moves: FloatArray, groups: IntArray,
    tolerance: float, depths: FloatArray, which: IntArray,
) -> None:  # fmt: skip
    """Write how deep groups of capsules lie in solids in every frame.

    Args:
        capsules: axes of the capsules in the world [m]; (F, C, 2, 3).
        radii: their radii [m]; (C,).
        solids: the solids.
        near: numbers of those that may be met.
        moves: where movers are in every frame; (F, M, 4).
        groups: group of each capsule; (C,).
        tolerance: depth that does not count [m].
        depths: the depths, 0 where there is none [m]; (F, G).
        which: number of the deepest solid; (F, G).
    """
    for i in range(len(capsules)):
        for j in range(len(near)):
            s = near[j]
            m = solids.movers[s]
            mx, my, mc, ms = 0.0, 0.0, 1.0, 0.0
            if m >= 0:
                mx, my, mc, ms = moves[i, m, 0], moves[i, m, 1], moves[i, m, 2], moves[i, m, 3]
            for k in range(len(radii)):
                ax, ay = capsules[i, k, 0, 0] - mx, capsules[i, k, 0, 1] - my
                bx, by = capsules[i, k, 1, 0] - mx, capsules[i, k, 1, 1] - my
                ax, ay, bx, by = mc * ax + ms * ay, mc * ay - ms * ax, mc * bx + ms * by, mc * by - ms * bx
                x, y = 0.5 * (ax + bx) - solids.around[s, AROUND_X], 0.5 * (ay + by) - solids.around[s, AROUND_Y]
                long = abs(bx - ax) + abs(by - ay)
                far = solids.around[s, AROUND_R] + radii[k] + long
                if x * x + y * y > far * far:
                    continue
                g = groups[k]
                least = max(tolerance, depths[i, g])
                deep, _ = capsule_depth(
                    solids, s, ax, ay, capsules[i, k, 0, 2], bx, by, capsules[i, k, 1, 2], radii[k], least
                )
                if deep > least:
                    depths[i, g], which[i, g] = deep, s
