"""Compiled loops that squeeze a fragment between solids: pins push it out until its core lies in none of them.

Three tests, from rough to fine, spare most of the work: which solids are near the fragment at all, in which frames
the body can reach one, and whether a disc around a capsule does. Only then is a depth computed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import ComplexArray, FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.deform._depth_kernels import (
    AROUND_R,
    AROUND_X,
    AROUND_Y,
    Solids,
    capsule_depth,
    half_width,
    plan_distance,
)
from gaitway.deform._path_kernels import FEWEST, deform_path, strain, turn_of

_STALE = 2
"""Rounds without progress after which squeezing ends."""
_BETTER = 0.97
"""Share of the least depth so far below which a round counts as progress."""
_WRONG = -0.2
"""Cosine between a push and the side of the path below which the push would lead to the other side."""
DEEP, FRAME, PUSH_X, PUSH_Y, CAPSULE, SHARE = 0, 1, 2, 3, 4, 5
"""Columns of what `_deepest` writes."""
NOTHING, MORE, MOST, MERGE, BEYOND = 0, 1, 2, 3, 4
"""Columns of the settings of `situate`: depth that does not count [m], what is added to a push [m], most rounds, frames
within which two pins are one, and how far beyond the reach of the fragment solids may be met [m]."""
DEPTH, NARROW, LEAST, GREATEST, BEND, ROUNDS, PINS, BLOCKER, SIDE = 0, 1, 2, 3, 4, 5, 6, 7, 8
"""Columns of what `situate` tells: depths of the core and of shoulders and arms [m], stretch, bend [rad a frame],
rounds, pins, and the numbers of the solid that is in the way and of the one that is passed on the other side, or -1."""
CORE, WHOLE = 0, 1
"""Columns of `FragmentArrays.reach`."""


class FragmentArrays(NamedTuple):
    """A fragment as plain arrays; all as seen from the first pose of its root."""

    track: ComplexArray
    """x + iy in every frame, sway left out [m]; (F,)."""
    root: FloatArray
    """Planar poses of the root, headings not wrapped; (F, 3)."""
    first: int
    """First frame of the path."""
    points: ComplexArray
    """The path; (P,), empty for a fragment that is only moved."""
    lengths: FloatArray
    """Lengths of its edges [m]; (P - 1,)."""
    shape: ComplexArray
    """Responses of the first step; (P, P)."""
    scale: FloatArray
    """Responses of the second step; (P, P)."""
    capsules: FloatArray
    """Axes as seen from the track and not turned [m]; (F, C, 2, 3)."""
    discs: FloatArray
    """x, y and radius of a disc around each capsule, likewise [m]; (F, C, 3)."""
    radii: FloatArray
    """Radii of the capsules [m]; (C,)."""
    core: int
    """Number of capsules of the core, the first ones."""
    reach: FloatArray
    """Greatest distance of the core and of the whole body from the track [m]; (F, 2)."""


@kernel(inner=True, shared=True, borrows=True)
def _middle(solids: Solids, s: int, moves: FloatArray, i: int) -> complex:
    """Return the middle of a solid in a frame."""
    x, y, m = solids.around[s, AROUND_X], solids.around[s, AROUND_Y], solids.movers[s]
    if m >= 0:
        c, n = moves[i, m, 2], moves[i, m, 3]
        x, y = moves[i, m, 0] + c * x - n * y, moves[i, m, 1] + n * x + c * y
    return complex(x, y)


@kernel(inner=True, shared=True, borrows=True)
def _deepest(
    body: FragmentArrays, places: ComplexArray, turns: ComplexArray, solids: Solids, s: int, moves: FloatArray,
    begin: int, stop: int, first: int, last: int, reach: int, tolerance: float, out: FloatArray,
) -> None:  # fmt: skip
    """Write the deepest point of some capsules in a solid over some frames; see the columns above.

    Args:
        body: the fragment.
        places: the track in the world; (F,).
        turns: direction of the body in every frame against its own, as complex numbers of length 1; (F,).
        solids: the solids.
        s: number of the solid.
        moves: x, y, cosine and sine of the heading of movers in every frame; (F, M, 4).
        begin: first frame.
        stop: frame after the last.
        first: first capsule.
        last: capsule after the last.
        reach: which column of the reach covers these capsules.
        tolerance: depth that does not count [m].
        out: the result; a frame of -1 if nothing is deeper than the tolerance; (6,).
    """
    out[DEEP], out[FRAME] = tolerance, -1.0
    m, wide = solids.movers[s], solids.around[s, AROUND_R]
    round_one = solids.spans[s, 1] - solids.spans[s, 0] == 1
    for i in range(begin, stop):
        at = places[i]
        to = _middle(solids, s, moves, i) - at
        far = wide + body.reach[i, reach]
        if to.real * to.real + to.imag * to.imag > far * far:
            continue
        x, y, mc, ms = at.real, at.imag, 1.0, 0.0
        if m >= 0:
            x, y = x - moves[i, m, 0], y - moves[i, m, 1]
            mc, ms = moves[i, m, 2], moves[i, m, 3]
            x, y = mc * x + ms * y, mc * y - ms * x
        if not round_one:
            away, _, _ = plan_distance(solids, s, x, y)
            if away > body.reach[i, reach]:
                continue
        turn = turns[i]
        seen = to * turn.conjugate()
        c, n = turn.real * mc + turn.imag * ms, turn.imag * mc - turn.real * ms
        for k in range(first, last):
            dx, dy = seen.real - body.discs[i, k, 0], seen.imag - body.discs[i, k, 1]
            near = wide + body.discs[i, k, 2] - out[DEEP]
            if near <= 0.0 or dx * dx + dy * dy >= near * near:
                continue
            ax, ay, az = body.capsules[i, k, 0, 0], body.capsules[i, k, 0, 1], body.capsules[i, k, 0, 2]
            bx, by, bz = body.capsules[i, k, 1, 0], body.capsules[i, k, 1, 1], body.capsules[i, k, 1, 2]
            px, py = x + c * ax - n * ay, y + n * ax + c * ay
            qx, qy = x + c * bx - n * by, y + n * bx + c * by
            deep, share = capsule_depth(solids, s, px, py, az, qx, qy, bz, body.radii[k], out[DEEP])
            if deep > out[DEEP]:
                _, nx, ny = plan_distance(solids, s, px + share * (qx - px), py + share * (qy - py))
                out[DEEP], out[FRAME], out[CAPSULE], out[SHARE] = deep, i, k, share
                out[PUSH_X], out[PUSH_Y] = mc * nx - ms * ny, ms * nx + mc * ny


@kernel(inner=True, shared=True, borrows=True)
def _out_along(
    body: FragmentArrays, places: ComplexArray, turns: ComplexArray, solids: Solids, s: int, moves: FloatArray,
    found: FloatArray, ux: float, uy: float,
) -> float:  # fmt: skip
    """Return how far the deepest point has to be moved in a direction until it is out of a solid [m]."""
    i, k, t = int(found[FRAME]), int(found[CAPSULE]), found[SHARE]
    turn = turns[i]
    lx = (1.0 - t) * body.capsules[i, k, 0, 0] + t * body.capsules[i, k, 1, 0]
    ly = (1.0 - t) * body.capsules[i, k, 0, 1] + t * body.capsules[i, k, 1, 1]
    z = (1.0 - t) * body.capsules[i, k, 0, 2] + t * body.capsules[i, k, 1, 2]
    x = places[i].real + turn.real * lx - turn.imag * ly
    y = places[i].imag + turn.imag * lx + turn.real * ly
    m = solids.movers[s]
    if m >= 0:
        x, y = x - moves[i, m, 0], y - moves[i, m, 1]
        c, n = moves[i, m, 2], moves[i, m, 3]
        x, y = c * x + n * y, c * y - n * x
        ux, uy = c * ux + n * uy, c * uy - n * ux
    wide, gone = half_width(solids, s, z, body.radii[k]), 0.0
    for _ in range(64):
        away, _, _ = plan_distance(solids, s, x + gone * ux, y + gone * uy)
        if wide - away <= 1e-4:
            break
        gone += wide - away
    return gone


@kernel(inner=True, shared=True, borrows=True)
def _crossing(last: complex, now: complex) -> int:
    """Return 1 or -1 if an edge crosses the ray ahead of the origin upward or downward, else 0."""
    if (last.imag > 0.0) == (now.imag > 0.0):
        return 0
    side = last.real * now.imag - last.imag * now.real
    if now.imag > 0.0:
        return 1 if side > 0.0 else 0
    return -1 if side < 0.0 else 0


@kernel(inner=True, shared=True, borrows=True)
def flipped(before: ComplexArray, after: ComplexArray, solids: Solids, s: int, moves: FloatArray, first: int) -> bool:
    """Return whether two paths with the same start pass the middle of a solid on different sides.

    One path, the straight line between their ends, and the other path back do not go around what both pass on one side.
    """
    around, n = 0, len(before)
    last = before[0] - _middle(solids, s, moves, first)
    for i in range(1, n):
        now = before[i] - _middle(solids, s, moves, first + i)
        around += _crossing(last, now)
        last = now
    for i in range(n - 1, -1, -1):
        now = after[i] - _middle(solids, s, moves, first + i)
        around += _crossing(last, now)
        last = now
    return around != 0


@kernel(inner=True, shared=True, borrows=True)
def _pushed(
    body: FragmentArrays, path: ComplexArray, places: ComplexArray, turns: ComplexArray, solids: Solids, s: int,
    moves: FloatArray, more: float, found: FloatArray,
) -> complex:  # fmt: skip
    """Return the way out of a solid for the deepest point, on the side on which the path passes the solid."""
    i = int(found[FRAME])
    deep = float(found[DEEP]) + more
    push = complex(deep * found[PUSH_X], deep * found[PUSH_Y])
    row = i - body.first
    ahead = path[min(row + 1, len(path) - 1)] - path[max(row - 1, 0)]
    side = (_middle(solids, s, moves, i) - path[row]) * ahead.conjugate()
    long = np.sqrt(ahead.real * ahead.real + ahead.imag * ahead.imag)
    if long <= 1e-9:
        return push
    across = complex(ahead.imag / long, -ahead.real / long)
    if side.imag < 0.0:
        across = -across
    # the side on which the path passes decides, not that of a foot or a hand
    if push.real * across.real + push.imag * across.imag >= _WRONG * deep:
        return push
    gone = _out_along(body, places, turns, solids, s, moves, found, across.real, across.imag)
    return (gone + more) * across


@kernel(inner=True, shared=True, borrows=True)
def _add_pin(
    frames: IntArray, places: ComplexArray, given: int, count: int, merge: int, row: int, here: complex, push: complex
) -> int:
    """Add a push to the pin next to a frame, or as a pin of its own; return the number of pins."""
    hit = -1
    for m in range(given, count):
        if abs(frames[m] - row) < merge and (hit < 0 or abs(frames[m] - row) < abs(frames[hit] - row)):
            hit = m
    for m in range(given):
        if abs(frames[m] - row) < 2:
            return count  # what was asked for is not moved
    if hit >= 0:
        places[hit] += push
    elif count < len(frames):
        frames[count], places[count] = row, here + push
        count += 1
    return count


@kernel(inner=True, shared=True, borrows=True)
def _lay(body: FragmentArrays, path: ComplexArray, spin: complex, places: ComplexArray, turns: ComplexArray) -> None:
    """Write directions along a deformed path, and what comes after the path, which moves with its end."""
    n, last = len(path), body.first + len(path) - 1
    for i in range(n):
        turns[body.first + i] = spin * turn_of(path, places[body.first : last + 1], i)
    turn = turns[last]
    for i in range(last + 1, len(places)):
        places[i] = places[last] + turn * (body.track[i] - body.track[last])
        turns[i] = turn


@kernel(inner=True, shared=True, borrows=True)
def _nearby(body: FragmentArrays, places: ComplexArray, solids: Solids, beyond: float, out: IntArray) -> int:
    """Write the numbers of the solids that a fragment may meet, and return how many; all that move are among them."""
    x0, y0, x1, y1, reach = 1e30, 1e30, -1e30, -1e30, 0.0
    for i in range(len(places)):
        x, y = places[i].real, places[i].imag
        x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x), max(y1, y)
        reach = max(reach, body.reach[i, WHOLE])
    reach += beyond
    count = 0
    for s in range(len(solids.kinds)):
        x, y = solids.around[s, AROUND_X], solids.around[s, AROUND_Y]
        dx, dy = max(x0 - x, x - x1, 0.0), max(y0 - y, y - y1, 0.0)
        far = reach + solids.around[s, AROUND_R]
        if solids.movers[s] >= 0 or dx * dx + dy * dy <= far * far:
            out[count] = s
            count += 1
    return count


@kernel
def situate(
    body: FragmentArrays, x: float, y: float, heading: float, solids: Solids, moves: FloatArray, frames: IntArray,
    pinned: ComplexArray, count: int, settings: FloatArray, root: FloatArray, points: ComplexArray, told: FloatArray,
) -> None:  # fmt: skip
    """Put a fragment into a place: add pins until no capsule of the core lies in a solid (equation 7).

    Args:
        body: the fragment.
        x: where its root begins [m].
        y: likewise.
        heading: its heading there [rad].
        solids: the solids.
        moves: where movers are in every frame: x, y, cosine and sine of the heading; (F, M, 4).
        frames: frames of the path for pins, with room for more; (R,).
        pinned: their places in the world; (R,).
        count: number of given pins.
        settings: see the columns above; (5,).
        root: planar poses of the root in the world, headings not wrapped; (F, 3).
        points: the deformed path, as seen from the start; (P,).
        told: what was done and what is wrong; see the columns above; (9,).
    """
    spin, at = complex(np.cos(heading), np.sin(heading)), complex(x, y)
    n, given, tolerance = len(body.points), count, settings[NOTHING]
    places, turns = np.empty(len(body.track), np.complex128), np.empty(len(body.track), np.complex128)
    for i in range(len(places)):
        places[i] = at + spin * body.track[i]
        turns[i] = spin
    near = np.empty(len(solids.kinds), np.int64)
    nearby = _nearby(body, places, solids, settings[BEYOND], near)
    found, strains = np.zeros(6), np.ones(3)
    strains[2] = 0.0
    least, stale, worst, blocker, rounds, flips = 1e9, 0, 0.0, -1, 0, -1
    path = places[body.first : body.first + n].copy()
    if n > 0:
        room = len(frames)
        lower, even = np.empty((room, room), np.complex128), np.empty((room, room))
        force, kept = np.empty(room, np.complex128), np.empty(room, np.bool_)
        now = places[body.first : body.first + n]
        going = True
        while going:
            if count > 0:
                deform_path(
                    path, body.lengths, body.shape, body.scale, frames, pinned, count, now, lower, even, force, kept
                )
                _lay(body, path, spin, places, turns)
            worst, blocker = 0.0, -1
            for j in range(nearby):
                s = near[j]
                _deepest(
                    body, places, turns, solids, s, moves, body.first, body.first + n, 0, body.core, CORE, tolerance,
                    found,
                )  # fmt: skip
                if found[FRAME] < 0.0:
                    continue
                if found[DEEP] > worst:
                    worst, blocker = found[DEEP], s
                push = _pushed(body, path, places, turns, solids, s, moves, settings[MORE], found)
                row = max(int(found[FRAME]) - body.first, 2)
                count = _add_pin(frames, pinned, given, count, int(settings[MERGE]), row, now[row], push)
            stale = 0 if worst < _BETTER * least else stale + 1
            least = min(least, worst)
            going = blocker >= 0 and stale <= _STALE and rounds + 1 < int(settings[MOST])
            rounds += 1 if blocker >= 0 else 0
        strain(path, now, min(FEWEST, n - 1), strains)
        if count > 0 and blocker < 0:
            for j in range(nearby):
                if flipped(path, now, solids, near[j], moves, body.first):
                    flips = near[j]
        for i in range(n):
            points[i] = (now[i] - at) * spin.conjugate()
    narrow, first, stop = 0.0, body.first, body.first + n
    for j in range(nearby):
        s = near[j]
        for part in range(2):
            a, b = (0, first) if part == 0 else (stop, len(places))
            if a < b:
                _deepest(body, places, turns, solids, s, moves, a, b, 0, body.core, CORE, tolerance, found)
                if found[FRAME] >= 0.0 and found[DEEP] > worst:
                    worst, blocker = found[DEEP], s
        if blocker < 0:  # a fragment that does not fit is not narrowed
            _deepest(
                body, places, turns, solids, s, moves, 0, len(places), body.core, len(body.radii), WHOLE, tolerance,
                found,
            )  # fmt: skip
            if found[FRAME] >= 0.0:
                narrow = max(narrow, found[DEEP])
    before, angle = spin, 0.0
    for i in range(len(places)):
        z = turns[i] * before.conjugate()
        angle += np.arctan2(z.imag, z.real)
        before = turns[i]
        away = complex(body.root[i, 0], body.root[i, 1]) - body.track[i]
        spot = places[i] + turns[i] * away
        root[i, 0], root[i, 1], root[i, 2] = spot.real, spot.imag, heading + body.root[i, 2] + angle
    root[0, 0], root[0, 1], root[0, 2] = x, y, heading
    told[DEPTH], told[NARROW], told[LEAST], told[GREATEST] = worst, narrow, strains[0], strains[1]
    told[BEND], told[ROUNDS], told[PINS], told[BLOCKER], told[SIDE] = strains[2], rounds, count, blocker, flips
