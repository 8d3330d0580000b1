"""Bodies of a live throng: which way they must go to be out of one another and out of walls, and who has to wait."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.core.jit import kernel
from gaitway.crowd._capsule_kernels import nearest_shares, towards
from gaitway.crowd.dynamics._contact_kernels import between, is_beyond
from gaitway.crowd.dynamics._neighbor_kernels import hash_cell

_SWEEPS = 64
"""Most sweeps in which it is found out who has to wait."""
_EASE = 2e-4
"""Depth by which bodies that are in one another already may go deeper in a step, for rounding [m]."""
_FAINT = 1e-6
"""Length that is added where capsules are left out that are too far away, for rounding [m]."""
_WRONG = 0.25
"""Limbs deeper behind a wall than this are pushed no farther at once [m]."""

Spans = tuple[IntArray, FloatArray]
"""Capsules (C,), and a box for each: least and greatest distance along a line, across it, and height [m]; (C, 6)."""


@kernel
def near_pairs(places: FloatArray, near: float) -> IntArray:
    """Return who is nearer to whom than a distance, by the numbers of both, the smaller first, in rising order.

    Args:
        places: x, y [m]; (N, 2).
        near: the distance [m].
    """
    count = len(places)
    x0, y0, x1, y1 = np.inf, np.inf, -np.inf, -np.inf
    for i in range(count):
        x0, x1 = min(x0, places[i, 0]), max(x1, places[i, 0])
        y0, y1 = min(y0, places[i, 1]), max(y1, places[i, 1])
    # cells at least as wide as the distance, and not many more than people
    side = max(near, np.sqrt((x1 - x0) * (y1 - y0) / count), (x1 - x0) / count, (y1 - y0) / count)
    columns, rows = int((x1 - x0) / side) + 1, int((y1 - y0) / side) + 1
    cells, starts, order = np.empty(count, np.int64), np.zeros(columns * rows + 1, np.int64), np.empty(count, np.int64)
    for i in range(count):
        cells[i] = min(int((places[i, 0] - x0) / side), columns - 1) * rows
        cells[i] += min(int((places[i, 1] - y0) / side), rows - 1)
        starts[cells[i] + 1] += 1
    for cell in range(columns * rows):
        starts[cell + 1] += starts[cell]
    for i in range(count - 1, -1, -1):  # backward, so that numbers rise within a cell
        starts[cells[i] + 1] -= 1
        order[starts[cells[i] + 1]] = i
    for cell in range(columns * rows):
        starts[cell] = starts[cell + 1]
    starts[columns * rows] = count
    out, total = np.empty((8 * count, 2), np.int64), 0
    for i in range(count):
        first, across, up = total, cells[i] // rows, cells[i] % rows
        for column in range(max(across - 1, 0), min(across + 1, columns - 1) + 1):
            low = starts[column * rows + max(up - 1, 0)]
            for k in range(low, starts[column * rows + min(up + 1, rows - 1) + 1]):
                j = order[k]
                dx, dy = places[i, 0] - places[j, 0], places[i, 1] - places[j, 1]
                if j <= i or dx * dx + dy * dy > near * near:
                    continue
                if total == len(out):
                    longer = np.empty((2 * total, 2), np.int64)
                    for n in range(total):
                        longer[n, 0], longer[n, 1] = out[n, 0], out[n, 1]
                    out = longer
                at = total
                while at > first and out[at - 1, 1] > j:
                    out[at, 0], out[at, 1] = out[at - 1, 0], out[at - 1, 1]
                    at -= 1
                out[at, 0], out[at, 1] = i, j
                total += 1
    return out[:total].copy()


@kernel(inner=True, shared=True)
def _fill_reaches(
    segments: SingleArray, bodies: IntArray, radii: FloatArray, places: FloatArray, reaches: FloatArray
) -> None:
    """Find how far bodies reach from their roots to eight sides, from +X on counter-clockwise.

    Args:
        segments: axes of capsules [m]; (N, C, 2, 3).
        bodies: row of `radii` of each; (N,).
        radii: radii, 0 for capsules that do not count [m]; (B, C).
        places: where roots are [m]; (N, 2).
        reaches: receives how far they reach [m]; (N, 8).
    """
    for i in range(len(places)):
        for k in range(8):
            reaches[i, k] = 0.0
        for c in range(radii.shape[1]):
            own = radii[bodies[i], c]
            if own <= 0.0:
                continue
            for end in range(2):
                x, y = float(segments[i, c, end, 0]) - places[i, 0], float(segments[i, c, end, 1]) - places[i, 1]
                more, less = np.sqrt(0.5) * (x + y), np.sqrt(0.5) * (y - x)
                reaches[i, 0], reaches[i, 4] = max(reaches[i, 0], x + own), max(reaches[i, 4], own - x)
                reaches[i, 1], reaches[i, 5] = max(reaches[i, 1], more + own), max(reaches[i, 5], own - more)
                reaches[i, 2], reaches[i, 6] = max(reaches[i, 2], y + own), max(reaches[i, 6], own - y)
                reaches[i, 3], reaches[i, 7] = max(reaches[i, 3], less + own), max(reaches[i, 7], own - less)


@kernel(inner=True)
def _reach(reaches: FloatArray, i: int, x: float, y: float) -> float:
    """Return a bound of how far a body reaches along a vector, times the length of that vector [m2].

    Between two of the eight sides that is no more than the sum of the shares of both, for what is reached is convex.
    """
    wide, high = abs(x), abs(y)
    side = 0 if x >= 0.0 else 4
    above = 2 if y >= 0.0 else 6
    corner = (1 if y >= 0.0 else 7) if x >= 0.0 else (3 if y >= 0.0 else 5)
    if wide >= high:
        return float((wide - high) * reaches[i, side] + np.sqrt(2.0) * high * reaches[i, corner])
    return float((high - wide) * reaches[i, above] + np.sqrt(2.0) * wide * reaches[i, corner])


@kernel(inner=True)
def _far_apart(reaches: FloatArray, i: int, j: int, x: float, y: float, margin: float) -> bool:
    """Return whether two bodies are farther apart than a margin for sure; x, y is the way from the second's root."""
    far = x * x + y * y
    return bool(far > _reach(reaches, i, -x, -y) + _reach(reaches, j, x, y) + (margin + _FAINT) * np.sqrt(far))


@kernel(inner=True, shared=True)
def _facing(
    first: SingleArray, second: SingleArray, radii: FloatArray, others: FloatArray, wx: float, wy: float,
    margin: float, own: Spans, other: Spans,
) -> tuple[int, int]:  # fmt: skip
    """Find the capsules of two bodies that may be nearer to one another than a margin; return how many there are.

    Seen from above, along the line from root to root, these are the capsules of each body that reach beyond where the
    other one begins. Few do, so that few of the pairs of capsules have to be looked at; and of these only such whose
    boxes, with one side along that line, meet (`_apart`).

    Args:
        first: axes of the capsules of the first body [m]; (C, 2, 3).
        second: of the second; (D, 2, 3).
        radii: radii of the first, 0 for capsules that do not count [m]; (C,).
        others: of the second; (D,).
        wx: way from the root of the second body to that of the first [m].
        wy: the same.
        margin: distance that matters [m]; half of it is added to the boxes of each.
        own: receives the capsules of the first body and their boxes; C rows.
        other: receives those of the second; D rows.
    """
    far = np.sqrt(wx * wx + wy * wy)
    x, y = (wx / far, wy / far) if far > 1e-9 else (1.0, 0.0)
    more, low, high = 0.5 * margin + _FAINT, np.inf, -np.inf
    for i in range(len(radii)):
        if radii[i] > 0.0:
            at, to = x * first[i, 0, 0] + y * first[i, 0, 1], x * first[i, 1, 0] + y * first[i, 1, 1]
            low = min(low, min(at, to) - radii[i] - more)
    for j in range(len(others)):
        if others[j] > 0.0:
            at, to = x * second[j, 0, 0] + y * second[j, 0, 1], x * second[j, 1, 0] + y * second[j, 1, 1]
            high = max(high, max(at, to) + others[j] + more)
    if low >= high:
        return 0, 0
    return (
        _boxed(first, radii, x, y, more, -np.inf, high, own[0], own[1]),
        _boxed(second, others, x, y, more, low, np.inf, other[0], other[1]),
    )


@kernel(inner=True, shared=True)
def _boxed(
    segments: SingleArray, radii: FloatArray, x: float, y: float, more: float, low: float, high: float,
    rows: IntArray, boxes: FloatArray,
) -> int:  # fmt: skip
    """Find the capsules of a body that lie partly between two places along x, y, and their boxes; return how many."""
    count = 0
    for c in range(len(radii)):
        wide = radii[c] + more
        if radii[c] <= 0.0:
            continue
        ax, ay, az = float(segments[c, 0, 0]), float(segments[c, 0, 1]), float(segments[c, 0, 2])
        bx, by, bz = float(segments[c, 1, 0]), float(segments[c, 1, 1]), float(segments[c, 1, 2])
        at, to = x * ax + y * ay, x * bx + y * by
        if min(at, to) - wide >= high or max(at, to) + wide <= low:
            continue
        rows[count] = c
        boxes[count, 0], boxes[count, 1] = min(at, to) - wide, max(at, to) + wide
        at, to = x * ay - y * ax, x * by - y * bx
        boxes[count, 2], boxes[count, 3] = min(at, to) - wide, max(at, to) + wide
        boxes[count, 4], boxes[count, 5] = min(az, bz) - wide, max(az, bz) + wide
        count += 1
    return count


@kernel(inner=True)
def _apart(one: FloatArray, n: int, other: FloatArray, m: int) -> bool:
    """Return whether two boxes do not meet."""
    return bool(
        one[n, 0] >= other[m, 1]
        or one[n, 4] >= other[m, 5]
        or other[m, 4] >= one[n, 5]
        or one[n, 2] >= other[m, 3]
        or other[m, 2] >= one[n, 3]
    )


@kernel(inner=True, shared=True)
def _parts_meet(
    first: SingleArray, second: SingleArray, trunk: FloatArray, other_trunk: FloatArray, legs: FloatArray,
    other_legs: FloatArray, margin: float, rows: Spans, count: int, other_rows: Spans, other_count: int,
    worst: FloatArray, ways: FloatArray,
) -> bool:  # fmt: skip
    """Find how deep the parts of two bodies are in one another along the ground; return whether any is.

    Args:
        first: axes of the capsules of the first body [m]; (C, 2, 3).
        second: of the second; (C, 2, 3).
        trunk: radii of the first body without its lower legs [m]; (C,).
        other_trunk: of the second; (C,).
        legs: radii of the left and of the right leg of the first [m]; (2, C).
        other_legs: of the second; (2, C).
        margin: distance that bodies keep [m].
        rows: capsules of the first that matter, see `_facing`.
        count: how many.
        other_rows: those of the second.
        other_count: how many.
        worst: receives the depths of parts of the first in parts of the second [m]; (3, 3).
        ways: receives ways out for the first, as unit vectors; (3, 3, 2).
    """
    any_deep = False
    for k in range(3):
        for m in range(3):
            worst[k, m] = 0.0
    for n in range(count):
        i = rows[0][n]
        own = max(trunk[i], legs[0, i], legs[1, i])
        ax, ay, az = float(first[i, 0, 0]), float(first[i, 0, 1]), float(first[i, 0, 2])
        ux, uy, uz = float(first[i, 1, 0]) - ax, float(first[i, 1, 1]) - ay, float(first[i, 1, 2]) - az
        uu = ux * ux + uy * uy + uz * uz
        for m in range(other_count):
            j = other_rows[0][m]
            if _apart(rows[1], n, other_rows[1], m):
                continue
            wide = own + max(other_trunk[j], other_legs[0, j], other_legs[1, j]) + margin
            bx, by, bz = float(second[j, 0, 0]), float(second[j, 0, 1]), float(second[j, 0, 2])
            vx, vy, vz = float(second[j, 1, 0]) - bx, float(second[j, 1, 1]) - by, float(second[j, 1, 2]) - bz
            wx, wy, wz, vv = ax - bx, ay - by, az - bz, vx * vx + vy * vy + vz * vz
            uv, uw, vw = ux * vx + uy * vy + uz * vz, ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz
            s, t = nearest_shares(uu, vv, uv, uw, vw)
            px, py, pz = wx + s * ux - t * vx, wy + s * uy - t * vy, wz + s * uz - t * vz
            flat2 = px * px + py * py
            if flat2 + pz * pz >= wide * wide:
                continue
            # bodies part along the ground: how far until these two points are apart enough
            flat = np.sqrt(flat2)
            deep = np.sqrt(max(wide * wide - pz * pz, 0.0)) - flat
            any_deep = True
            for k in range(3):
                if (trunk[i] if k == 0 else legs[k - 1, i]) <= 0.0:
                    continue
                for o in range(3):
                    if (other_trunk[j] if o == 0 else other_legs[o - 1, j]) > 0.0 and deep > worst[k, o]:
                        worst[k, o] = deep
                        ways[k, o, 0], ways[k, o, 1] = (px / flat, py / flat) if flat > 1e-6 else (0.0, 0.0)
    return any_deep


@kernel
def part_bodies(
    pairs: IntArray,
    roots: FloatArray,
    segments: SingleArray,
    bodies: IntArray,
    trunks: FloatArray,
    legs: FloatArray,
    swings: BoolArray,
    fixed: BoolArray,
    fresh: BoolArray,
    margin: float,
    pushes: FloatArray,
    feet: FloatArray,
    depths: FloatArray,
) -> None:
    """Find the way that bodies and swinging feet must go at one moment so that bodies are out of one another.

    Args:
        pairs: rows of people who may touch; (P, 2).
        roots: where roots are [m]; (N, 2).
        segments: axes of capsules [m]; (N, C, 2, 3).
        bodies: kind of body of each row; (N,).
        trunks: radii of each kind of body without its lower legs, which have 0 [m]; (B, C).
        legs: radii of the left and of the right leg alone, all others have 0 [m]; (B, 2, C).
        swings: whether the left and the right foot swing and can be led aside; (N, 2).
        fixed: who cannot be moved; (N,).
        fresh: who was moved since it was last looked at; pairs of two others are left out; (N,).
        margin: distance that bodies keep [m].
        pushes: way to go for each root [m]; (N, 2). Added to.
        feet: way to go for each foot [m]; (N, 2, 2). Added to.
        depths: how deep each is in another [m], the margin included; (N,). Raised.
    """
    worst, ways = np.zeros((3, 3)), np.zeros((3, 3, 2))
    radii, reaches, most = np.zeros(trunks.shape), np.empty((len(roots), 8)), trunks.shape[1]
    rows = (np.empty(most, np.int64), np.empty((most, 6)))
    other_rows = (np.empty(most, np.int64), np.empty((most, 6)))
    for b in range(len(trunks)):
        for c in range(trunks.shape[1]):
            radii[b, c] = max(trunks[b, c], legs[b, 0, c], legs[b, 1, c])
    _fill_reaches(segments, bodies, radii, roots, reaches)
    for p in range(len(pairs)):
        i, j = pairs[p, 0], pairs[p, 1]
        if (fixed[i] and fixed[j]) or not (fresh[i] or fresh[j]):
            continue
        wx, wy = roots[i, 0] - roots[j, 0], roots[i, 1] - roots[j, 1]
        if _far_apart(reaches, i, j, wx, wy, margin):
            continue
        count, other_count = _facing(
            segments[i], segments[j], radii[bodies[i]], radii[bodies[j]], wx, wy, margin, rows, other_rows
        )
        if count == 0 or not _parts_meet(
            segments[i], segments[j], trunks[bodies[i]], trunks[bodies[j]], legs[bodies[i]], legs[bodies[j]], margin,
            rows, count, other_rows, other_count, worst, ways,
        ):  # fmt: skip
            continue
        own = 0.5
        if fixed[i] or fixed[j]:
            own = 0.0 if fixed[i] else 1.0
        # part 0 is all but the lower legs, 1 and 2 are these
        for k in range(3):
            for m in range(3):
                deep, nx, ny = worst[k, m], ways[k, m, 0], ways[k, m, 1]
                if deep <= 0.0:
                    continue
                depths[i], depths[j] = max(depths[i], deep), max(depths[j], deep)
                here = k > 0 and swings[i, k - 1] and not fixed[i]
                there = m > 0 and swings[j, m - 1] and not fixed[j]
                if here or there:  # swinging feet make room first
                    x, y = (nx, ny) if nx * nx + ny * ny > 0.5 else towards(nx, ny, wx, wy)
                    part = 0.5 if here and there else 1.0
                    if here:
                        feet[i, k - 1, 0] += part * deep * x
                        feet[i, k - 1, 1] += part * deep * y
                    if there:
                        feet[j, m - 1, 0] -= part * deep * x
                        feet[j, m - 1, 1] -= part * deep * y
                share = 0.3 * deep if here or there else deep
                x, y = towards(nx, ny, wx, wy)
                pushes[i, 0] += own * share * x
                pushes[i, 1] += own * share * y
                pushes[j, 0] -= (1.0 - own) * share * x
                pushes[j, 1] -= (1.0 - own) * share * y


@kernel(inner=True, shared=True)
def _wall_depth(
    segments: SingleArray, c: int, own: float, x: float, y: float, cell: int, e: int, edges: FloatArray,
    starts: IntArray, entries: IntArray,
) -> tuple[float, float, float]:  # fmt: skip
    """Return how deep a capsule is in an edge of a wall [m], negative by its distance from it, and the way out.

    A limb that is parted from the root by an odd number of edges is behind a wall.

    Args:
        segments: axes of the capsules of the body [m]; (C, 2, 3).
        c: which capsule.
        own: its radius [m].
        x: where the root is [m].
        y: the same.
        cell: cell of the root.
        e: the edge.
        edges: see `WallHash.edges`.
        starts: see `WallHash.starts`.
        entries: see `WallHash.entries`.
    """
    ax, ay = float(segments[c, 0, 0]), float(segments[c, 0, 1])
    ux, uy = 0.5 * (float(segments[c, 1, 0]) - ax), 0.5 * (float(segments[c, 1, 1]) - ay)
    mx, my, half = ax + ux, ay + uy, np.sqrt(ux * ux + uy * uy)
    if half > 1e-9:
        ux, uy = ux / half, uy / half
    else:
        ux, uy = 1.0, 0.0
    dx, dy, away = between(edges[e, 0] - mx, edges[e, 1] - my, ux, uy, half, edges[e, 2], edges[e, 3], edges[e, 4])
    wide = own + edges[e, 5]
    if away >= wide + 0.1:
        return wide - away, 0.0, 0.0
    behind = 0
    for k in range(starts[cell], starts[cell + 1]):
        b = entries[k]
        # where the line from the root to the limb, and the edge, cross
        px, py, vx, vy = edges[b, 0] - x, edges[b, 1] - y, edges[b, 2], edges[b, 3]
        rx, ry = mx - x, my - y
        across = rx * vy - ry * vx
        if abs(across) < 1e-12:
            continue
        along, at = (px * vy - py * vx) / across, (px * ry - py * rx) / across
        if 0.0 < along < 1.0 and -edges[b, 4] <= at < edges[b, 4]:
            behind += 1
    if away < 1e-9 or behind % 2 == 1:
        if away < 1e-9:  # across the edge: out to the side of the root
            along = min(
                max((x - edges[e, 0]) * edges[e, 2] + (y - edges[e, 1]) * edges[e, 3], -edges[e, 4]), edges[e, 4]
            )
            dx, dy = x - edges[e, 0] - along * edges[e, 2], y - edges[e, 1] - along * edges[e, 3]
            size = max(np.sqrt(dx * dx + dy * dy), 1e-9)
            return wide, dx / size, dy / size
        return wide + min(away, _WRONG), dx / away, dy / away
    return wide - away, -dx / away, -dy / away


@kernel
def part_from_walls(
    roots: FloatArray,
    segments: SingleArray,
    bodies: IntArray,
    trunks: FloatArray,
    legs: FloatArray,
    extents: FloatArray,
    fixed: BoolArray,
    place: FloatArray,
    shape: IntArray,
    edges: FloatArray,
    starts: IntArray,
    entries: IntArray,
    margin: float,
    pushes: FloatArray,
    depths: FloatArray,
) -> None:
    """Find the way that trunks and both legs must go to be out of walls, which count as high as people.

    Args:
        roots: where roots are [m]; (N, 2).
        segments: axes of capsules [m]; (N, C, 2, 3).
        bodies: kind of body of each row; (N,).
        trunks: radii of each kind of body without its lower legs, which have 0 [m]; (B, C).
        legs: radii of the left and of the right leg alone, all others have 0 [m]; (B, 2, C).
        extents: how far bodies reach from their roots [m]; (N,).
        fixed: who cannot be moved; (N,).
        place: see `WallHash.place`.
        shape: see `WallHash.shape`.
        edges: see `WallHash.edges`.
        starts: see `WallHash.starts`.
        entries: see `WallHash.entries`.
        margin: distance that bodies keep from walls [m].
        pushes: way to go for the trunk, the left and the right leg [m]; (N, 3, 2). Filled.
        depths: how deep each is in something, the margin included [m]; (N,). Raised.
    """
    for i in range(len(roots)):
        for k in range(3):
            pushes[i, k, 0], pushes[i, k, 1] = 0.0, 0.0
        if fixed[i]:
            continue
        x, y = roots[i, 0], roots[i, 1]
        cell = hash_cell(x, y, place, shape)
        for n in range(starts[cell], starts[cell + 1]):
            e = entries[n]
            if is_beyond(edges[e, 0] - x, edges[e, 1] - y, edges, e, extents[i] + margin):
                continue
            for k in range(3):
                worst, nx, ny = 0.0, 0.0, 0.0
                for c in range(trunks.shape[1]):
                    own = trunks[bodies[i], c] if k == 0 else legs[bodies[i], k - 1, c]
                    if own <= 0.0:
                        continue
                    deep, dx, dy = _wall_depth(segments[i], c, own, x, y, cell, e, edges, starts, entries)
                    if deep + margin > worst:
                        worst, nx, ny = deep + margin, dx, dy
                if worst > 0.0:
                    depths[i] = max(depths[i], worst)
                    # what another edge asks for already counts
                    more = max(worst - pushes[i, k, 0] * nx - pushes[i, k, 1] * ny, 0.0)
                    pushes[i, k, 0] += more * nx
                    pushes[i, k, 1] += more * ny


@kernel(inner=True, shared=True)
def _close_limbs(
    first: SingleArray, second: SingleArray, radii: FloatArray, others: FloatArray, rows: Spans, count: int,
    other_rows: Spans, other_count: int, found: IntArray,
) -> int:  # fmt: skip
    """Find the pairs of limbs of two bodies that may touch; return how many there are.

    Args:
        first: axes of the capsules of the first body [m]; (C, 2, 3).
        second: of the second; (D, 2, 3).
        radii: radii of the first, and how far capsules went, [m]; (C,).
        others: of the second; (D,).
        rows: capsules of the first that matter, see `_facing`.
        count: how many.
        other_rows: those of the second.
        other_count: how many.
        found: receives the pairs; (C x D, 2).
    """
    pairs = 0
    for n in range(count):
        i = rows[0][n]
        ax, ay, az = float(first[i, 0, 0]), float(first[i, 0, 1]), float(first[i, 0, 2])
        ux, uy, uz = float(first[i, 1, 0]) - ax, float(first[i, 1, 1]) - ay, float(first[i, 1, 2]) - az
        uu = ux * ux + uy * uy + uz * uz
        for m in range(other_count):
            j = other_rows[0][m]
            if _apart(rows[1], n, other_rows[1], m):
                continue
            wide = radii[i] + others[j] + _FAINT
            bx, by, bz = float(second[j, 0, 0]), float(second[j, 0, 1]), float(second[j, 0, 2])
            vx, vy, vz = float(second[j, 1, 0]) - bx, float(second[j, 1, 1]) - by, float(second[j, 1, 2]) - bz
            wx, wy, wz, vv = ax - bx, ay - by, az - bz, vx * vx + vy * vy + vz * vz
            uv, uw, vw = ux * vx + uy * vy + uz * vz, ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz
            s, t = nearest_shares(uu, vv, uv, uw, vw)
            px, py, pz = wx + s * ux - t * vx, wy + s * uy - t * vy, wz + s * uz - t * vz
            if px * px + py * py + pz * pz < wide * wide:
                found[pairs, 0], found[pairs, 1] = i, j
                pairs += 1
    return pairs


@kernel(inner=True, shared=True)
def _meet(
    first: SingleArray, second: SingleArray, radii: FloatArray, others: FloatArray, limbs: IntArray, low: int, high: int
) -> float:  # fmt: skip
    """Return how deep two bodies are in one another [m], 0 if they are apart.

    Args:
        first: axes of the capsules of the first body [m]; (C, 2, 3).
        second: of the second; (D, 2, 3).
        radii: radii of the first, 0 for capsules that do not count [m]; (C,).
        others: of the second; (D,).
        limbs: pairs of limbs of all bodies; (L, 2).
        low: the first of these two.
        high: the end of these.
    """
    worst = 0.0
    for k in range(low, high):
        i, j = limbs[k, 0], limbs[k, 1]
        if radii[i] <= 0.0 or others[j] <= 0.0:
            continue
        ax, ay, az = float(first[i, 0, 0]), float(first[i, 0, 1]), float(first[i, 0, 2])
        ux, uy, uz = float(first[i, 1, 0]) - ax, float(first[i, 1, 1]) - ay, float(first[i, 1, 2]) - az
        bx, by, bz = float(second[j, 0, 0]), float(second[j, 0, 1]), float(second[j, 0, 2])
        vx, vy, vz = float(second[j, 1, 0]) - bx, float(second[j, 1, 1]) - by, float(second[j, 1, 2]) - bz
        wx, wy, wz = ax - bx, ay - by, az - bz
        uu, vv = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz
        uv, uw, vw = ux * vx + uy * vy + uz * vz, ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz
        s, t = nearest_shares(uu, vv, uv, uw, vw)
        px, py, pz = wx + s * ux - t * vx, wy + s * uy - t * vy, wz + s * uz - t * vz
        wide, apart = radii[i] + others[j] - worst, px * px + py * py + pz * pz
        if apart < wide * wide:
            worst += wide - np.sqrt(apart)
    return worst


@kernel(inner=True, shared=True)
def _meet_on_the_way(
    i: int, j: int, still_i: bool, still_j: bool, moments: SingleArray, bodies: IntArray, radii: FloatArray,
    quick: FloatArray, limbs: IntArray, low: int, high: int,
) -> float:  # fmt: skip
    """Return how deep two bodies are in one another at most on their way [m]; see `who_waits`."""
    deep = 0.0
    for k in range(1, len(moments)):
        some = radii if k % 2 == 0 else quick
        one, other = some[bodies[i]], some[bodies[j]]
        first, second = 0 if still_i else k, 0 if still_j else k
        deep = max(deep, _meet(moments[first, i], moments[second, j], one, other, limbs, low, high))
    return deep


@kernel
def who_waits(
    pairs: IntArray,
    bodies: IntArray,
    radii: FloatArray,
    quick: FloatArray,
    moments: SingleArray,
    places: FloatArray,
    fixed: BoolArray,
    allowed: FloatArray,
    wall_depths: FloatArray,
    held: BoolArray,
) -> None:
    """Find who has to stay as it was a moment before, since bodies would be in one another, or in walls.

    Two who stay as they were are as far apart as they were. So in the end nobody is deeper in anybody than allowed, or
    than before, but for those who cannot stay. Feet are fast enough to pass through one another from frame to frame, so
    bodies are looked at half way, too, and lower legs in between.

    Args:
        pairs: rows of people who may touch; (P, 2).
        bodies: kind of body of each row; (N,).
        radii: radii of each kind of body [m]; (B, C).
        quick: the same, 0 for all but the lower legs [m]; (B, C).
        moments: axes of capsules a moment before, on the way, and now [m]; (M, N, C, 2, 3), M odd.
        places: where roots were [m]; (N, 2).
        fixed: who cannot stay; (N,).
        allowed: depth that matters to nobody [m]; (N,).
        wall_depths: how deep bodies were, and are, in walls [m]; (2, N).
        held: receives who stays; (N,).
    """
    for i in range(len(held)):
        deep = wall_depths[1, i]
        held[i] = not fixed[i] and deep > allowed[i] and deep > wall_depths[0, i] + _EASE
    last, count = len(moments) - 1, 0
    reach = np.zeros((len(held), radii.shape[1]))
    for i in range(len(held)):
        for c in range(radii.shape[1]):
            if radii[bodies[i], c] > 0.0:
                for end in range(2):
                    x = moments[last, i, c, end, 0] - moments[0, i, c, end, 0]
                    y = moments[last, i, c, end, 1] - moments[0, i, c, end, 1]
                    z = moments[last, i, c, end, 2] - moments[0, i, c, end, 2]
                    reach[i, c] = max(reach[i, c], radii[bodies[i], c] + np.sqrt(x * x + y * y + z * z))
    reaches, most, self_rows = np.empty((len(held), 8)), radii.shape[1], np.arange(len(held))
    _fill_reaches(moments[last], self_rows, reach, places, reaches)
    close, begins = np.empty((len(pairs), 2), np.int64), np.zeros(len(pairs) + 1, np.int64)
    rows = (np.empty(most, np.int64), np.empty((most, 6)))
    other_rows = (np.empty(most, np.int64), np.empty((most, 6)))
    found, limbs = np.empty((most * most, 2), np.int64), np.empty((8 * len(pairs) + most * most, 2), np.int64)
    for p in range(len(pairs)):
        i, j = pairs[p, 0], pairs[p, 1]
        x, y = places[i, 0] - places[j, 0], places[i, 1] - places[j, 1]
        if (fixed[i] and fixed[j]) or _far_apart(reaches, i, j, x, y, 0.0):
            continue
        many, many_others = _facing(moments[last, i], moments[last, j], reach[i], reach[j], x, y, 0.0, rows, other_rows)
        if many == 0:
            continue
        several = _close_limbs(
            moments[last, i], moments[last, j], reach[i], reach[j], rows, many, other_rows, many_others, found
        )
        if several == 0:
            continue
        begin = begins[count]
        if begin + several > len(limbs):
            longer = np.empty((2 * len(limbs) + several, 2), np.int64)
            for k in range(begin):
                longer[k, 0], longer[k, 1] = limbs[k, 0], limbs[k, 1]
            limbs = longer
        for k in range(several):
            limbs[begin + k, 0], limbs[begin + k, 1] = found[k, 0], found[k, 1]
        close[count, 0], close[count, 1] = i, j
        count += 1
        begins[count] = begin + several
    fine = np.full(count, -1)  # who of both stayed when a pair was found apart enough
    for _ in range(_SWEEPS):
        changed = False
        for p in range(count):
            i, j, low, high = close[p, 0], close[p, 1], begins[p], begins[p + 1]
            free_i, free_j = not (fixed[i] or held[i]), not (fixed[j] or held[j])
            state = (2 if held[i] else 0) + (1 if held[j] else 0)
            if not (free_i or free_j) or fine[p] == state:
                continue
            limit = max(allowed[i], allowed[j])
            deep = _meet_on_the_way(i, j, held[i], held[j], moments, bodies, radii, quick, limbs, low, high)
            if deep > limit:
                one, other = radii[bodies[i]], radii[bodies[j]]
                was = _meet(moments[0, i], moments[0, j], one, other, limbs, low, high)
                limit = max(limit, was + _EASE)
            if deep <= limit:
                fine[p] = state
                continue
            changed = True
            if not (free_i and free_j):
                held[i], held[j] = held[i] or free_i, held[j] or free_j
                continue
            # who gets into the other's way waits; both, if that does not serve
            first = _meet_on_the_way(i, j, True, False, moments, bodies, radii, quick, limbs, low, high)
            second = _meet_on_the_way(i, j, False, True, moments, bodies, radii, quick, limbs, low, high)
            held[i] = first <= second or second > limit
            held[j] = second < first or first > limit
        if not changed:
            break


@kernel
def depths_in_walls(
    roots: FloatArray,
    segments: SingleArray,
    bodies: IntArray,
    radii: FloatArray,
    extents: FloatArray,
    fixed: BoolArray,
    place: FloatArray,
    shape: IntArray,
    edges: FloatArray,
    starts: IntArray,
    entries: IntArray,
    depths: FloatArray,
) -> None:
    """Raise how deep bodies are in walls [m]; (N,). See `part_from_walls`."""
    for i in range(len(roots)):
        if fixed[i]:
            continue
        x, y = roots[i, 0], roots[i, 1]
        cell = hash_cell(x, y, place, shape)
        for n in range(starts[cell], starts[cell + 1]):
            e = entries[n]
            if is_beyond(edges[e, 0] - x, edges[e, 1] - y, edges, e, extents[i]):
                continue
            for c in range(radii.shape[1]):
                own = radii[bodies[i], c]
                if own > 0.0:
                    deep, _, _ = _wall_depth(segments[i], c, own, x, y, cell, e, edges, starts, entries)
                    depths[i] = max(depths[i], deep)
