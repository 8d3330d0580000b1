"""Bodies along whole ways: which way they must go to be out of one another and out of walls."""

from __future__ import annotations

import numba
import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.core.jit import kernel
from gaitway.crowd._capsule_kernels import nearest_shares, towards
from gaitway.crowd.dynamics._neighbor_kernels import hash_cell

LEGS_APART = 1.1
"""Ankles that are farther apart than this have lower legs that do not touch, also half a frame later [m]."""


@kernel(inner=True)
def _deepest(
    first: SingleArray, second: SingleArray, radii: FloatArray, others: FloatArray, dx: float, dy: float, margin: float,
    x: float, y: float, reach: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Return how deep a body is in another at most [m], 0 if in none, and the way out for the first, as a unit vector.

    Args:
        first: axes of the capsules of the first body [m]; (C, 2, 3).
        second: of the second; (D, 2, 3).
        radii: (C,) [m].
        others: (D,) [m].
        dx: how far the first is moved against the second along x [m].
        dy: along y [m].
        margin: distance that bodies keep [m].
        x: where the root of the second body is [m].
        y: the same.
        reach: how far that body reaches from there [m].
    """
    worst, nx, ny = 0.0, 0.0, 0.0
    for i in range(len(radii)):
        if radii[i] <= 0.0:
            continue
        ax, ay, az = float(first[i, 0, 0]), float(first[i, 0, 1]), float(first[i, 0, 2])
        ux, uy, uz = float(first[i, 1, 0]) - ax, float(first[i, 1, 1]) - ay, float(first[i, 1, 2]) - az
        ax, ay = ax + dx, ay + dy
        # capsules that are nowhere near the other body
        mx, my = ax + 0.5 * ux - x, ay + 0.5 * uy - y
        far = reach + radii[i] + margin + 0.5 * np.sqrt(ux * ux + uy * uy)
        if mx * mx + my * my >= far * far:
            continue
        low, high, uu = min(az, az + uz), max(az, az + uz), ux * ux + uy * uy + uz * uz
        for j in range(len(others)):
            if others[j] <= 0.0:
                continue
            wide = radii[i] + others[j] + margin
            bz, vz = float(second[j, 0, 2]), float(second[j, 1, 2]) - float(second[j, 0, 2])
            if min(bz, bz + vz) - high >= wide or low - max(bz, bz + vz) >= wide:
                continue
            bx, by = float(second[j, 0, 0]), float(second[j, 0, 1])
            vx, vy = float(second[j, 1, 0]) - bx, float(second[j, 1, 1]) - by
            wx, wy, wz = ax - bx, ay - by, az - bz
            vv = vx * vx + vy * vy + vz * vz
            # a bound by middles and lengths, before the exact distance
            mx, my, mz = wx + 0.5 * (ux - vx), wy + 0.5 * (uy - vy), wz + 0.5 * (uz - vz)
            bound = wide + 0.5 * (np.sqrt(uu) + np.sqrt(vv))
            if mx * mx + my * my + mz * mz >= bound * bound:
                continue
            uv, uw, vw = ux * vx + uy * vy + uz * vz, ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz
            s, t = nearest_shares(uu, vv, uv, uw, vw)
            px, py, pz = wx + s * ux - t * vx, wy + s * uy - t * vy, wz + s * uz - t * vz
            flat2 = px * px + py * py
            if flat2 + pz * pz >= wide * wide:
                continue
            # bodies part along the ground: how far until these two points are apart enough
            flat = np.sqrt(flat2)
            deep = np.sqrt(max(wide * wide - pz * pz, 0.0)) - flat
            if deep > worst:
                worst = deep
                if flat > 1e-6:
                    nx, ny = px / flat, py / flat
                else:
                    nx, ny = 0.0, 0.0
    return worst, nx, ny


@kernel(parallel=True)
def part_people(
    frames: IntArray,
    rows: IntArray,
    roots: FloatArray,
    shifts: FloatArray,
    segments: SingleArray,
    bodies: IntArray,
    radii: FloatArray,
    extents: FloatArray,
    changed: BoolArray,
    margin: float,
    pushes: FloatArray,
    depths: FloatArray,
) -> None:
    """Find the way that everybody must go in every frame to be out of the others.

    Args:
        frames: first entry of each frame in `rows`, and their number; (F + 1,).
        rows: rows of the people of each frame; (R,).
        roots: where roots are [m]; (R, 2).
        shifts: how far people were moved from there [m]; (R, 2).
        segments: axes of capsules, before people were moved [m]; (R, C, 2, 3).
        bodies: kind of body of each row; (R,).
        radii: radii of each kind of body, 0 for capsules that do not count [m]; (B, C).
        extents: how far bodies reach from their roots [m]; (R,).
        changed: whether a row was moved since bodies were last apart; two that were not are still apart; (R,).
        margin: distance that bodies keep [m].
        pushes: way to go, for each row [m]; (R, 2). Filled.
        depths: how deep each is in another [m], the margin included; (R,). Filled.
    """
    for f in numba.prange(len(frames) - 1):
        for a in range(frames[f], frames[f + 1]):
            pushes[rows[a], 0], pushes[rows[a], 1], depths[rows[a]] = 0.0, 0.0, 0.0
        for a in range(frames[f], frames[f + 1]):
            i = rows[a]
            x, y = roots[i, 0] + shifts[i, 0], roots[i, 1] + shifts[i, 1]
            for b in range(a + 1, frames[f + 1]):
                j = rows[b]
                if not (changed[i] or changed[j]):
                    continue
                wx, wy = x - roots[j, 0] - shifts[j, 0], y - roots[j, 1] - shifts[j, 1]
                near = extents[i] + extents[j] + margin
                if wx * wx + wy * wy > near * near:
                    continue
                deep, nx, ny = _deepest(
                    segments[i], segments[j], radii[bodies[i]], radii[bodies[j]], shifts[i, 0] - shifts[j, 0],
                    shifts[i, 1] - shifts[j, 1], margin, roots[j, 0], roots[j, 1], extents[j],
                )  # fmt: skip
                if deep <= 0.0:
                    continue
                # limbs point any way; half of the way out is that of the roots, so that bodies part and do not circle
                nx, ny = towards(nx, ny, wx, wy)
                nx, ny = 0.5 * deep * nx, 0.5 * deep * ny
                pushes[i, 0] += nx
                pushes[i, 1] += ny
                pushes[j, 0] -= nx
                pushes[j, 1] -= ny
                depths[i] = max(depths[i], deep)
                depths[j] = max(depths[j], deep)


@kernel(parallel=True)
def part_from_walls(
    roots: FloatArray,
    shifts: FloatArray,
    segments: SingleArray,
    bodies: IntArray,
    radii: FloatArray,
    place: FloatArray,
    shape: IntArray,
    edges: FloatArray,
    starts: IntArray,
    entries: IntArray,
    margin: float,
    pushes: FloatArray,
    depths: FloatArray,
) -> None:
    """Add the way that everybody must go to be out of walls, which count as high as people; see `part_people`.

    Args:
        roots: where roots are [m]; (R, 2).
        shifts: how far people were moved from there [m]; (R, 2).
        segments: axes of capsules, before people were moved [m]; (R, C, 2, 3).
        bodies: kind of body of each row; (R,).
        radii: radii of each kind of body [m]; (B, C).
        place: see `WallHash.place`.
        shape: see `WallHash.shape`.
        edges: see `WallHash.edges`.
        starts: see `WallHash.starts`.
        entries: see `WallHash.entries`.
        margin: distance that bodies keep from walls [m].
        pushes: way to go, for each row [m]; (R, 2). Added to.
        depths: how deep each is in something [m]; (R,). Raised.
    """
    for i in numba.prange(len(roots)):
        x, y = roots[i, 0] + shifts[i, 0], roots[i, 1] + shifts[i, 1]
        cell = hash_cell(x, y, place, shape)
        own = radii[bodies[i]]
        for e in range(starts[cell], starts[cell + 1]):
            ex, ey, ux, uy, half, radius = edges[entries[e]]
            # the side of the wall on which the root is
            along = min(max((x - ex) * ux + (y - ey) * uy, -half), half)
            sx, sy = x - ex - along * ux, y - ey - along * uy
            side = np.sqrt(sx * sx + sy * sy)
            if side > 1.0 + radius or side < 1e-6:
                continue
            sx, sy = sx / side, sy / side
            deep = 0.0
            for c in range(len(own)):
                if own[c] <= 0.0:
                    continue
                for end in range(2):
                    px = segments[i, c, end, 0] + shifts[i, 0] - ex
                    py = segments[i, c, end, 1] + shifts[i, 1] - ey
                    at = px * ux + py * uy
                    if abs(at) > half + own[c]:
                        continue
                    at = min(max(at, -half), half)
                    gap = (px - at * ux) * sx + (py - at * uy) * sy - radius - own[c]
                    deep = max(deep, margin - gap)
            if deep > 0.0:
                pushes[i, 0] += deep * sx
                pushes[i, 1] += deep * sy
                depths[i] = max(depths[i], deep)


@kernel(inner=True)
def _between(segments: SingleArray, row: int, capsule: int, half: int, out: SingleArray) -> None:
    """Write the axis of a capsule in a row, or half way to the next one, to `out[0]`."""
    for end in range(2):
        for axis in range(3):
            here = segments[row, capsule, end, axis]
            out[0, end, axis] = here + 0.5 * half * (segments[row + half, capsule, end, axis] - here)


@kernel(parallel=True)
def part_feet(
    frames: IntArray,
    rows: IntArray,
    roots: FloatArray,
    segments: SingleArray,
    bodies: IntArray,
    radii: FloatArray,
    feet: IntArray,
    extents: FloatArray,
    lasts: BoolArray,
    changed: BoolArray,
    margin: float,
    pushes: FloatArray,
) -> None:
    """Find the way that every foot must go in every frame so that lower legs are out of those of others.

    Feet are fast, so they are looked at half way to the next frame, too.

    Args:
        frames: first entry of each frame in `rows`, and their number; (F + 1,).
        rows: rows of the people of each frame; (R,).
        roots: where roots are [m]; (R, 2).
        segments: axes of capsules [m]; (R, C, 2, 3).
        bodies: kind of body of each row; (R,).
        radii: radii of each kind of body [m]; (B, C).
        feet: capsules of the lower leg of each foot of each kind of body, -1 for none; (B, 2, L).
        extents: how far bodies reach from their roots [m]; (R,).
        lasts: whether a row is the last of a person; else the next row is its next frame; (R,).
        changed: whether a row was moved since feet were last apart; two that were not, in this frame and in the next,
            are still apart; (R,).
        margin: distance that legs keep [m].
        pushes: way to go, for each foot of each row [m]; (R, 2, 2). Filled.
    """
    for f in numba.prange(len(frames) - 1):
        one, other, first, second = (
            np.zeros((1, 2, 3), np.float32), np.zeros((1, 2, 3), np.float32), np.zeros(1), np.zeros(1)
        )  # fmt: skip
        for a in range(frames[f], frames[f + 1]):
            pushes[rows[a]] = 0.0
        for a in range(frames[f], frames[f + 1]):
            i = rows[a]
            for b in range(a + 1, frames[f + 1]):
                j = rows[b]
                wx, wy = roots[i, 0] - roots[j, 0], roots[i, 1] - roots[j, 1]
                near = extents[i] + extents[j] + margin
                if wx * wx + wy * wy > near * near:
                    continue
                halves = 1 if lasts[i] or lasts[j] else 2
                if not (changed[i] or changed[j] or (halves > 1 and (changed[i + 1] or changed[j + 1]))):
                    continue
                for k in range(2):
                    for m in range(2):
                        c, d = feet[bodies[i], k, 0], feet[bodies[j], m, 0]
                        if c >= 0 and d >= 0:  # shanks that are farther apart than both reach
                            x = segments[i, c, 1, 0] - segments[j, d, 1, 0]
                            y = segments[i, c, 1, 1] - segments[j, d, 1, 1]
                            if x * x + y * y > LEGS_APART * LEGS_APART:
                                continue
                        worst, nx, ny = 0.0, 0.0, 0.0
                        for half in range(halves):
                            for c in feet[bodies[i], k]:
                                if c < 0:
                                    continue
                                first[0] = radii[bodies[i], c]
                                _between(segments, i, c, half, one)
                                for d in feet[bodies[j], m]:
                                    if d < 0:
                                        continue
                                    second[0] = radii[bodies[j], d]
                                    _between(segments, j, d, half, other)
                                    deep, x, y = _deepest(
                                        one, other, first, second, 0.0, 0.0, margin, roots[j, 0], roots[j, 1], 3.0
                                    )
                                    if deep > worst:
                                        worst, nx, ny = deep, x, y
                        if worst <= 0.0:
                            continue
                        length = np.sqrt(nx * nx + ny * ny)
                        if length < 1e-6:
                            away = max(np.sqrt(wx * wx + wy * wy), 1e-6)
                            nx, ny, length = wx / away, wy / away, 1.0
                        nx, ny = 0.5 * worst * nx / length, 0.5 * worst * ny / length
                        pushes[i, k, 0] += nx
                        pushes[i, k, 1] += ny
                        pushes[j, m, 0] -= nx
                        pushes[j, m, 1] -= ny
