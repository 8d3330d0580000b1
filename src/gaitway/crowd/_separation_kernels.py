"""Where the capsules of bodies are, and which way bodies must go to be out of one another and out of walls."""

from __future__ import annotations

import numba
import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.core.jit import kernel

LEGS_APART = 1.1
"""Ankles that are farther apart than this have lower legs that do not touch, also half a frame later [m]."""


@kernel
def capsule_axes(
    rows: IntArray,
    roots: FloatArray,
    local: SingleArray,
    parents: IntArray,
    offsets: FloatArray,
    joints: IntArray,
    starts: FloatArray,
    ends: FloatArray,
    radii: FloatArray,
    segments: SingleArray,
    places: FloatArray,
    extents: FloatArray,
) -> None:
    """Find the capsules of poses.

    Args:
        rows: which poses; (N,).
        roots: positions of roots [m]; (R, 3).
        local: local rotations; (R, J, 4).
        parents: of the joints; (J,).
        offsets: of the joints [m]; (J, 3).
        joints: see `CapsuleBody`.
        starts: see `CapsuleBody`.
        ends: see `CapsuleBody`.
        radii: see `CapsuleBody`.
        segments: axes of capsules [m]; (R, C, 2, 3). Rows are filled.
        places: where roots are on the ground [m]; (R, 2). Rows are filled.
        extents: how far bodies reach from there [m]; (R,). Rows are filled.
    """
    world, at = np.empty((len(parents), 4)), np.empty((len(parents), 3))
    for row in rows:
        for j in range(len(parents)):
            p = parents[j]
            w, x, y, z = (
                float(local[row, j, 0]),
                float(local[row, j, 1]),
                float(local[row, j, 2]),
                float(local[row, j, 3]),
            )
            if p < 0:
                world[j, 0], world[j, 1], world[j, 2], world[j, 3] = w, x, y, z
                at[j, 0], at[j, 1], at[j, 2] = roots[row, 0], roots[row, 1], roots[row, 2]
                continue
            a, b, c, d = world[p, 0], world[p, 1], world[p, 2], world[p, 3]
            world[j, 0], world[j, 1] = a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y
            world[j, 2], world[j, 3] = a * y - b * z + c * w + d * x, a * z + b * y - c * x + d * w
            ox, oy, oz = offsets[j, 0], offsets[j, 1], offsets[j, 2]
            tx, ty, tz = 2.0 * (c * oz - d * oy), 2.0 * (d * ox - b * oz), 2.0 * (b * oy - c * ox)
            at[j, 0] = at[p, 0] + ox + a * tx + c * tz - d * ty
            at[j, 1] = at[p, 1] + oy + a * ty + d * tx - b * tz
            at[j, 2] = at[p, 2] + oz + a * tz + b * ty - c * tx
        places[row, 0], places[row, 1] = roots[row, 0], roots[row, 1]
        farthest = 0.0
        for i in range(len(joints)):
            j = joints[i]
            a, b, c, d = world[j, 0], world[j, 1], world[j, 2], world[j, 3]
            for end in range(2):
                ox, oy, oz = (
                    (starts[i, 0], starts[i, 1], starts[i, 2]) if end == 0 else (ends[i, 0], ends[i, 1], ends[i, 2])
                )
                tx, ty, tz = 2.0 * (c * oz - d * oy), 2.0 * (d * ox - b * oz), 2.0 * (b * oy - c * ox)
                x, y = at[j, 0] + ox + a * tx + c * tz - d * ty, at[j, 1] + oy + a * ty + d * tx - b * tz
                segments[row, i, end, 0], segments[row, i, end, 1] = x, y
                segments[row, i, end, 2] = at[j, 2] + oz + a * tz + b * ty - c * tx
                x, y = x - roots[row, 0], y - roots[row, 1]
                farthest = max(farthest, np.sqrt(x * x + y * y) + radii[i])
        extents[row] = farthest


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
        ax, ay, az = first[i, 0, 0] + dx, first[i, 0, 1] + dy, float(first[i, 0, 2])
        ux, uy, uz = first[i, 1, 0] - first[i, 0, 0], first[i, 1, 1] - first[i, 0, 1], first[i, 1, 2] - first[i, 0, 2]
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
            bz, vz = float(second[j, 0, 2]), second[j, 1, 2] - second[j, 0, 2]
            if min(bz, bz + vz) - high >= wide or low - max(bz, bz + vz) >= wide:
                continue
            vx, vy = second[j, 1, 0] - second[j, 0, 0], second[j, 1, 1] - second[j, 0, 1]
            wx, wy, wz = ax - second[j, 0, 0], ay - second[j, 0, 1], az - bz
            vv = vx * vx + vy * vy + vz * vz
            # a bound by middles and lengths, before the exact distance
            mx, my, mz = wx + 0.5 * (ux - vx), wy + 0.5 * (uy - vy), wz + 0.5 * (uz - vz)
            bound = wide + 0.5 * (np.sqrt(uu) + np.sqrt(vv))
            if mx * mx + my * my + mz * mz >= bound * bound:
                continue
            uv, uw, vw = ux * vx + uy * vy + uz * vz, ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz
            area = uu * vv - uv * uv
            s, t = 0.0, 0.0
            if area > 1e-9 * uu * vv:
                s = min(max((uv * vw - vv * uw) / area, 0.0), 1.0)
            if vv > 0.0:
                t = min(max((uv * s + vw) / vv, 0.0), 1.0)
            if uu > 0.0:
                s = min(max((uv * t - uw) / uu, 0.0), 1.0)
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
                away = np.sqrt(wx * wx + wy * wy)
                if away > 1e-6:
                    nx, ny = nx + wx / away, ny + wy / away
                length = np.sqrt(nx * nx + ny * ny)
                if length < 1e-6:
                    nx, ny, length = 1.0, 0.0, 1.0
                nx, ny = 0.5 * deep * nx / length, 0.5 * deep * ny / length
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
        column = min(max(int((x - place[0]) * place[2]), 0), shape[0] - 1)
        row = min(max(int((y - place[1]) * place[2]), 0), shape[1] - 1)
        cell = column * shape[1] + row
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
