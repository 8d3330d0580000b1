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
_WRONG = 0.25
"""Limbs deeper behind a wall than this are pushed no farther at once [m]."""


@kernel(inner=True, shared=True)
def _fill_balls(segments: SingleArray, bodies: IntArray, radii: FloatArray, balls: FloatArray) -> None:
    """Find balls around all capsules, a negative radius for those that do not count: x, y, z, radius [m]; (N, C, 4)."""
    for i in range(len(bodies)):
        for c in range(radii.shape[1]):
            own = radii[bodies[i], c]
            x, y, z = float(segments[i, c, 0, 0]), float(segments[i, c, 0, 1]), float(segments[i, c, 0, 2])
            dx = 0.5 * (float(segments[i, c, 1, 0]) - x)
            dy = 0.5 * (float(segments[i, c, 1, 1]) - y)
            dz = 0.5 * (float(segments[i, c, 1, 2]) - z)
            balls[i, c, 0], balls[i, c, 1], balls[i, c, 2] = x + dx, y + dy, z + dz
            balls[i, c, 3] = own + np.sqrt(dx * dx + dy * dy + dz * dz) if own > 0.0 else -1.0


@kernel(inner=True, shared=True)
def _parts_meet(
    first: SingleArray, second: SingleArray, trunk: FloatArray, other_trunk: FloatArray, legs: FloatArray,
    other_legs: FloatArray, balls: FloatArray, others: FloatArray, margin: float, x: float, y: float,
    reach: float, worst: FloatArray, ways: FloatArray,
) -> bool:  # fmt: skip
    """Find how deep the parts of two bodies are in one another along the ground; return whether any is.

    Args:
        first: axes of the capsules of the first body [m]; (C, 2, 3).
        second: of the second; (C, 2, 3).
        trunk: radii of the first body without its lower legs [m]; (C,).
        other_trunk: of the second; (C,).
        legs: radii of the left and of the right leg of the first [m]; (2, C).
        other_legs: of the second; (2, C).
        balls: balls around the capsules of the first; (C, 4).
        others: around those of the second; (C, 4).
        margin: distance that bodies keep [m].
        x: where the root of the second body is [m].
        y: the same.
        reach: how far that body reaches from there [m].
        worst: receives the depths of parts of the first in parts of the second [m]; (3, 3).
        ways: receives ways out for the first, as unit vectors; (3, 3, 2).
    """
    any_deep = False
    for k in range(3):
        for m in range(3):
            worst[k, m] = 0.0
    for i in range(len(trunk)):
        cx, cy, cz, big = balls[i, 0], balls[i, 1], balls[i, 2], balls[i, 3] + margin
        far = reach + big
        if balls[i, 3] < 0.0 or (cx - x) * (cx - x) + (cy - y) * (cy - y) >= far * far:
            continue
        own = max(trunk[i], legs[0, i], legs[1, i])
        ax, ay, az = float(first[i, 0, 0]), float(first[i, 0, 1]), float(first[i, 0, 2])
        ux, uy, uz = float(first[i, 1, 0]) - ax, float(first[i, 1, 1]) - ay, float(first[i, 1, 2]) - az
        uu = ux * ux + uy * uy + uz * uz
        for j in range(len(other_trunk)):
            mx, my, mz, bound = others[j, 0] - cx, others[j, 1] - cy, others[j, 2] - cz, others[j, 3] + big
            if others[j, 3] < 0.0 or mx * mx + my * my + mz * mz >= bound * bound:
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
                for m in range(3):
                    if (other_trunk[j] if m == 0 else other_legs[m - 1, j]) > 0.0 and deep > worst[k, m]:
                        worst[k, m] = deep
                        ways[k, m, 0], ways[k, m, 1] = (px / flat, py / flat) if flat > 1e-6 else (0.0, 0.0)
    return any_deep


@kernel
def part_bodies(
    pairs: IntArray,
    roots: FloatArray,
    segments: SingleArray,
    bodies: IntArray,
    trunks: FloatArray,
    legs: FloatArray,
    extents: FloatArray,
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
        extents: how far bodies reach from their roots [m]; (N,).
        swings: whether the left and the right foot swing and can be led aside; (N, 2).
        fixed: who cannot be moved; (N,).
        fresh: who was moved since it was last looked at; pairs of two others are left out; (N,).
        margin: distance that bodies keep [m].
        pushes: way to go for each root [m]; (N, 2). Added to.
        feet: way to go for each foot [m]; (N, 2, 2). Added to.
        depths: how deep each is in another [m], the margin included; (N,). Raised.
    """
    worst, ways = np.zeros((3, 3)), np.zeros((3, 3, 2))
    radii, balls = np.zeros(trunks.shape), np.empty((len(roots), trunks.shape[1], 4))
    for b in range(len(trunks)):
        for c in range(trunks.shape[1]):
            radii[b, c] = max(trunks[b, c], legs[b, 0, c], legs[b, 1, c])
    _fill_balls(segments, bodies, radii, balls)
    for p in range(len(pairs)):
        i, j = pairs[p, 0], pairs[p, 1]
        if (fixed[i] and fixed[j]) or not (fresh[i] or fresh[j]):
            continue
        wx, wy = roots[i, 0] - roots[j, 0], roots[i, 1] - roots[j, 1]
        near = extents[i] + extents[j] + margin
        if wx * wx + wy * wy > near * near:
            continue
        if not _parts_meet(
            segments[i], segments[j], trunks[bodies[i]], trunks[bodies[j]], legs[bodies[i]], legs[bodies[j]], balls[i],
            balls[j], margin,
            roots[j, 0], roots[j, 1], extents[j], worst, ways,
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
def _meet(
    first: SingleArray, second: SingleArray, radii: FloatArray, others: FloatArray, x: float, y: float, reach: float
) -> float:
    """Return how deep two bodies are in one another [m], 0 if they are apart.

    Args:
        first: axes of the capsules of the first body [m]; (C, 2, 3).
        second: of the second; (D, 2, 3).
        radii: (C,) [m].
        others: (D,) [m].
        x: where the root of the second body is [m].
        y: the same.
        reach: how far that body reaches from there [m].
    """
    worst = 0.0
    for i in range(len(radii)):
        if radii[i] <= 0.0:
            continue
        ax, ay, az = float(first[i, 0, 0]), float(first[i, 0, 1]), float(first[i, 0, 2])
        ux, uy, uz = float(first[i, 1, 0]) - ax, float(first[i, 1, 1]) - ay, float(first[i, 1, 2]) - az
        mx, my, uu = ax + 0.5 * ux - x, ay + 0.5 * uy - y, ux * ux + uy * uy + uz * uz
        long = 0.5 * np.sqrt(uu)
        far = reach + radii[i] + long
        if mx * mx + my * my >= far * far:
            continue
        for j in range(len(others)):
            if others[j] <= 0.0:
                continue
            wide = radii[i] + others[j] - worst
            bx, by, bz = float(second[j, 0, 0]), float(second[j, 0, 1]), float(second[j, 0, 2])
            vx, vy, vz = float(second[j, 1, 0]) - bx, float(second[j, 1, 1]) - by, float(second[j, 1, 2]) - bz
            wx, wy, wz, vv = ax - bx, ay - by, az - bz, vx * vx + vy * vy + vz * vz
            mx, my, mz = wx + 0.5 * (ux - vx), wy + 0.5 * (uy - vy), wz + 0.5 * (uz - vz)
            bound = wide + long + 0.5 * np.sqrt(vv)
            if mx * mx + my * my + mz * mz >= bound * bound:
                continue
            uv, uw, vw = ux * vx + uy * vy + uz * vz, ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz
            s, t = nearest_shares(uu, vv, uv, uw, vw)
            px, py, pz = wx + s * ux - t * vx, wy + s * uy - t * vy, wz + s * uz - t * vz
            apart = px * px + py * py + pz * pz
            if apart < wide * wide:
                worst += wide - np.sqrt(apart)
    return worst


@kernel(inner=True, shared=True)
def _meet_on_the_way(
    i: int, j: int, still_i: bool, still_j: bool, moments: SingleArray, bodies: IntArray, radii: FloatArray,
    quick: FloatArray, places: FloatArray, extents: FloatArray,
) -> float:  # fmt: skip
    """Return how deep two bodies are in one another at most on their way [m]; see `who_waits`."""
    deep = 0.0
    for k in range(1, len(moments)):
        some = radii if k % 2 == 0 else quick
        one, other = some[bodies[i]], some[bodies[j]]
        first, second = 0 if still_i else k, 0 if still_j else k
        deep = max(
            deep, _meet(moments[first, i], moments[second, j], one, other, places[j, 0], places[j, 1], extents[j])
        )
    return deep


@kernel(inner=True, shared=True)
def _may_meet(
    first: SingleArray, second: SingleArray, radii: FloatArray, others: FloatArray, balls: FloatArray,
    other_balls: FloatArray, x: float, y: float, reach: float,
) -> bool:  # fmt: skip
    """Return whether two bodies may touch; radii (C,) include how far capsules went, as balls (C, 4) do [m].

    The second body reaches so far from x, y [m].
    """
    for i in range(len(radii)):
        cx, cy, cz, big = balls[i, 0], balls[i, 1], balls[i, 2], balls[i, 3]
        far = reach + big
        if big < 0.0 or (cx - x) * (cx - x) + (cy - y) * (cy - y) >= far * far:
            continue
        ax, ay, az = float(first[i, 0, 0]), float(first[i, 0, 1]), float(first[i, 0, 2])
        ux, uy, uz = float(first[i, 1, 0]) - ax, float(first[i, 1, 1]) - ay, float(first[i, 1, 2]) - az
        uu = ux * ux + uy * uy + uz * uz
        for j in range(len(others)):
            mx, my, mz = other_balls[j, 0] - cx, other_balls[j, 1] - cy, other_balls[j, 2] - cz
            bound = other_balls[j, 3] + big
            if other_balls[j, 3] < 0.0 or mx * mx + my * my + mz * mz >= bound * bound:
                continue
            wide = radii[i] + others[j]
            bx, by, bz = float(second[j, 0, 0]), float(second[j, 0, 1]), float(second[j, 0, 2])
            vx, vy, vz = float(second[j, 1, 0]) - bx, float(second[j, 1, 1]) - by, float(second[j, 1, 2]) - bz
            wx, wy, wz, vv = ax - bx, ay - by, az - bz, vx * vx + vy * vy + vz * vz
            uv, uw, vw = ux * vx + uy * vy + uz * vz, ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz
            s, t = nearest_shares(uu, vv, uv, uw, vw)
            px, py, pz = wx + s * ux - t * vx, wy + s * uy - t * vy, wz + s * uz - t * vz
            if px * px + py * py + pz * pz < wide * wide:
                return True
    return False


@kernel
def who_waits(
    pairs: IntArray,
    bodies: IntArray,
    radii: FloatArray,
    quick: FloatArray,
    moments: SingleArray,
    places: FloatArray,
    extents: FloatArray,
    fixed: BoolArray,
    allowed: FloatArray,
    wall_depths: FloatArray,
    held: BoolArray,
) -> None:
    """Find who has to stay as it was a moment before, since bodies would be in one another, or in walls.

    Two who stay as they were are as far apart as they were. So in the end nobody is deeper in anybody than allowed, or
    than before, but for those who cannot stay. Feet are fast enough to pass through one another from frame to frame, so
    bodies are looked at half way, too, and feet at quarters of the way.

    Args:
        pairs: rows of people who may touch; (P, 2).
        bodies: kind of body of each row; (N,).
        radii: radii of each kind of body [m]; (B, C).
        quick: the same, 0 for all but the lower legs [m]; (B, C).
        moments: axes of capsules a moment before, after each quarter of the way, and now [m]; (5, N, C, 2, 3).
        places: where roots were [m]; (N, 2).
        extents: how far bodies reach from there until now [m]; (N,).
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
    balls = np.empty((len(held), radii.shape[1], 4))
    _fill_balls(moments[last], bodies, radii, balls)
    for i in range(len(held)):
        for c in range(radii.shape[1]):
            if balls[i, c, 3] > 0.0:
                balls[i, c, 3] += reach[i, c] - radii[bodies[i], c]
    close = np.empty((len(pairs), 2), np.int64)
    for p in range(len(pairs)):
        i, j = pairs[p, 0], pairs[p, 1]
        x, y, near = places[i, 0] - places[j, 0], places[i, 1] - places[j, 1], extents[i] + extents[j]
        if (fixed[i] and fixed[j]) or x * x + y * y > near * near:
            continue
        if _may_meet(
            moments[last, i], moments[last, j], reach[i], reach[j], balls[i], balls[j], places[j, 0], places[j, 1],
            extents[j],
        ):  # fmt: skip
            close[count, 0], close[count, 1] = i, j
            count += 1
    for _ in range(_SWEEPS):
        changed = False
        for p in range(count):
            i, j = close[p, 0], close[p, 1]
            free_i, free_j = not (fixed[i] or held[i]), not (fixed[j] or held[j])
            if not (free_i or free_j):
                continue
            limit = max(allowed[i], allowed[j])
            deep = _meet_on_the_way(i, j, held[i], held[j], moments, bodies, radii, quick, places, extents)
            if deep <= limit:
                continue
            one, other = radii[bodies[i]], radii[bodies[j]]
            was = _meet(moments[0, i], moments[0, j], one, other, places[j, 0], places[j, 1], extents[j])
            limit = max(limit, was + _EASE)
            if deep <= limit:
                continue
            changed = True
            if not (free_i and free_j):
                held[i], held[j] = held[i] or free_i, held[j] or free_j
                continue
            # who gets into the other's way waits; both, if that does not serve
            first = _meet_on_the_way(i, j, True, False, moments, bodies, radii, quick, places, extents)
            second = _meet_on_the_way(i, j, False, True, moments, bodies, radii, quick, places, extents)
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
