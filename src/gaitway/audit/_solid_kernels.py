"""Signed distances to solids, and how deep capsules lie in them.

`stack` is memory (64,) for walking the trees over meshes, or None if no solid is a mesh. Numba then leaves out all code
for meshes, and compiles in half the time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

CONVEX, CONCAVE, BALL, MESH = 0, 1, 2, 3
"""Kinds of solid: a prism over a convex footprint, over any other, a ball, a mesh of triangles."""
LOW_X, LOW_Y, LOW_Z, HIGH_X, HIGH_Y, HIGH_Z = 0, 1, 2, 3, 4, 5
"""Columns of bounding boxes."""
BOTTOM, TOP, ROUNDING = 0, 1, 2
"""Columns of `Solids.numbers` of a prism."""
BALL_X, BALL_Y, BALL_Z, BALL_RADIUS = 0, 1, 2, 3
"""Columns of `Solids.numbers` of a ball."""
CLOSED = 0
"""Column of `Solids.numbers` of a mesh."""
FIRST_EDGE, STOP_EDGE, ROOT_NODE = 0, 1, 0
"""Columns of `Solids.spans`: of a prism, and of a mesh."""
FROM_X, FROM_Y, TO_X, TO_Y, FILLED = 0, 1, 2, 3, 4
"""Columns of `Solids.edges`."""
_LOW, _HIGH, _AT_LOW, _AT_HIGH = 0, 1, 2, 3
"""Columns of the spans of `_any_depth`: shares of the axis, and depths there."""
FINE, COARSE = 1e-4, 1e-3
"""Accuracy of depths [m]: near the bar, and elsewhere (for solids that are not convex only)."""
_FAR = 1e30
_THROUGH = 1e-12
"""Squared distance from a triangle within which the plane through it is crossed in it [m^2]."""
_UPRIGHT = 1e-12
"""Twice the area in plan below which a triangle is upright [m^2]."""
_GOLDEN = 0.3819660112501051


class Solids(NamedTuple):
    """Solids as plain arrays; made by `solids.gather`."""

    kinds: IntArray
    """Kind of each solid; (S,)."""
    boxes: FloatArray
    """Bounding boxes: low corner, high corner [m]; (S, 6)."""
    numbers: FloatArray
    """Prism: bottom, top, rounding; ball: centre, radius; mesh: 1 if it is closed; (S, 4)."""
    spans: IntArray
    """Prism: first edge and the one after the last; mesh: root node; (S, 2)."""
    edges: FloatArray
    """Both ends of each edge, and 1 where it bounds a filled area; (E, 5)."""
    nodes: FloatArray
    """Bounding boxes of tree nodes; (N, 6)."""
    links: IntArray
    """Two children, or -1 - first triangle and the number of triangles; (N, 2)."""
    corners: FloatArray
    """Corners of triangles; (T, 9)."""


@kernel(inner=True, shared=True)
def planar_distance(solids: Solids, first: int, stop: int, rounding: float, x: float, y: float) -> float:
    """Return the signed distance of a point to the footprint that edges bound [m]."""
    inside = False
    filled, bare = _FAR, _FAR
    for e in range(first, stop):
        x0, y0 = solids.edges[e, FROM_X], solids.edges[e, FROM_Y]
        dx, dy = solids.edges[e, TO_X] - x0, solids.edges[e, TO_Y] - y0
        length = dx * dx + dy * dy
        share = 0.0
        if length > 0.0:
            share = min(max(((x - x0) * dx + (y - y0) * dy) / length, 0.0), 1.0)
        away_x, away_y = x - x0 - share * dx, y - y0 - share * dy
        square = away_x * away_x + away_y * away_y
        if solids.edges[e, FILLED] > 0.0:
            filled = min(filled, square)
            if (y0 > y) != (y0 + dy > y) and x < x0 + (y - y0) / dy * dx:
                inside = not inside
        else:
            bare = min(bare, square)
    distance = np.sqrt(filled)
    if inside:
        distance = -distance
    nearest: float = min(distance, np.sqrt(bare)) - rounding
    return nearest


@kernel
def planar_distances(solids: Solids, s: int, points: FloatArray, out: FloatArray) -> None:
    """Write signed distances (N,) of points (N, 2) to the footprint of a prism [m]."""
    for i in range(points.shape[0]):
        out[i] = planar_distance(
            solids,
            solids.spans[s, FIRST_EDGE],
            solids.spans[s, STOP_EDGE],
            solids.numbers[s, ROUNDING],
            points[i, 0],
            points[i, 1],
        )


@kernel
def disc_depths(
    points: FloatArray, bands: FloatArray, radius: float, solids: Solids, depths: FloatArray, which: IntArray
) -> None:
    """Write how far discs about points (N, 2) reach into prisms between heights `bands` (N, 2) [m].

    The deepest of each goes to `depths` (N,), and the prism to `which` (N,); minus infinity is left where no prism is
    within twice the radius.
    """
    for i in range(points.shape[0]):
        x, y = points[i, 0], points[i, 1]
        for s in range(solids.kinds.shape[0]):
            if solids.numbers[s, BOTTOM] >= bands[i, 1] or solids.numbers[s, TOP] <= bands[i, 0]:
                continue
            dx = max(solids.boxes[s, LOW_X] - x, x - solids.boxes[s, HIGH_X])
            dy = max(solids.boxes[s, LOW_Y] - y, y - solids.boxes[s, HIGH_Y])
            if max(dx, dy) > 2.0 * radius:
                continue
            away = planar_distance(
                solids, solids.spans[s, FIRST_EDGE], solids.spans[s, STOP_EDGE], solids.numbers[s, ROUNDING], x, y
            )
            if radius - away > depths[i]:
                depths[i], which[i] = radius - away, s


@kernel(inner=True)
def triangle_square(t: FloatArray, x: float, y: float, z: float) -> float:
    """Return the squared distance of a point to a triangle (9,) [m^2]."""
    ux, uy, uz = t[3] - t[0], t[4] - t[1], t[5] - t[2]
    vx, vy, vz = t[6] - t[0], t[7] - t[1], t[8] - t[2]
    wx, wy, wz = x - t[0], y - t[1], z - t[2]
    uu, uv, vv = ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz
    wu, wv = wx * ux + wy * uy + wz * uz, wx * vx + wy * vy + wz * vz
    area = uu * vv - uv * uv
    if area > 1e-12 * uu * vv:
        a, b = (vv * wu - uv * wv) / area, (uu * wv - uv * wu) / area
        if a >= 0.0 and b >= 0.0 and a + b <= 1.0:
            ox, oy, oz = wx - a * ux - b * vx, wy - a * uy - b * vy, wz - a * uz - b * vz
            on_face: float = ox * ox + oy * oy + oz * oz
            return on_face
    best = _FAR
    for side in range(3):  # the nearest point is on an edge
        i, j = 3 * side, 3 * ((side + 1) % 3)
        ex, ey, ez = t[j] - t[i], t[j + 1] - t[i + 1], t[j + 2] - t[i + 2]
        px, py, pz = x - t[i], y - t[i + 1], z - t[i + 2]
        length = ex * ex + ey * ey + ez * ez
        share = 0.0
        if length > 0.0:
            share = min(max((px * ex + py * ey + pz * ez) / length, 0.0), 1.0)
        ox, oy, oz = px - share * ex, py - share * ey, pz - share * ez
        best = min(best, ox * ox + oy * oy + oz * oz)
    return best


@kernel(inner=True, shared=True)
def _box_square(boxes: FloatArray, n: int, x: float, y: float, z: float) -> float:
    """Return the squared distance of a point to a bounding box [m^2]; 0 inside."""
    dx = max(boxes[n, LOW_X] - x, x - boxes[n, HIGH_X], 0.0)
    dy = max(boxes[n, LOW_Y] - y, y - boxes[n, HIGH_Y], 0.0)
    dz = max(boxes[n, LOW_Z] - z, z - boxes[n, HIGH_Z], 0.0)
    square: float = dx * dx + dy * dy + dz * dz
    return square


@kernel(inner=True)
def _mesh_square(solids: Solids, root: int, x: float, y: float, z: float, stack: IntArray) -> float:
    """Return the squared distance of a point to a mesh's surface [m^2], by descent into the nearer node first."""
    best = _FAR
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        n = stack[top]
        if _box_square(solids.nodes, n, x, y, z) >= best:
            continue
        a, b = solids.links[n, 0], solids.links[n, 1]
        if a < 0:
            for t in range(-1 - a, -1 - a + b):
                best = min(best, triangle_square(solids.corners[t], x, y, z))
        elif _box_square(solids.nodes, a, x, y, z) < _box_square(solids.nodes, b, x, y, z):
            stack[top], stack[top + 1] = b, a
            top += 2
        else:
            stack[top], stack[top + 1] = a, b
            top += 2
    return best


@kernel(inner=True)
def _ray_meets_box(boxes: FloatArray, n: int, p: tuple[float, float, float], d: tuple[float, float, float]) -> bool:
    low, high = 0.0, _FAR
    for i in range(3):
        a, b = (boxes[n, i] - p[i]) / d[i], (boxes[n, 3 + i] - p[i]) / d[i]
        low, high = max(low, min(a, b)), min(high, max(a, b))
    return low <= high * (1.0 + 1e-12) + 1e-12


@kernel(inner=True)
def _winding(
    solids: Solids, root: int, p: tuple[float, float, float], d: tuple[float, float, float], stack: IntArray
) -> tuple[int, bool]:
    """Count how often a mesh goes around a point by signed crossings of a ray; also whether none was on an edge."""
    turns, clear = 0, True
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        n = stack[top]
        if not _ray_meets_box(solids.nodes, n, p, d):
            continue
        a, b = solids.links[n, 0], solids.links[n, 1]
        if a >= 0:
            stack[top], stack[top + 1] = a, b
            top += 2
            continue
        for k in range(-1 - a, -1 - a + b):
            t = solids.corners[k]
            ux, uy, uz = t[3] - t[0], t[4] - t[1], t[5] - t[2]
            vx, vy, vz = t[6] - t[0], t[7] - t[1], t[8] - t[2]
            hx, hy, hz = d[1] * vz - d[2] * vy, d[2] * vx - d[0] * vz, d[0] * vy - d[1] * vx
            volume = ux * hx + uy * hy + uz * hz
            if abs(volume) < 1e-18:
                continue
            wx, wy, wz = p[0] - t[0], p[1] - t[1], p[2] - t[2]
            s = (wx * hx + wy * hy + wz * hz) / volume
            qx, qy, qz = wy * uz - wz * uy, wz * ux - wx * uz, wx * uy - wy * ux
            r = (d[0] * qx + d[1] * qy + d[2] * qz) / volume
            if min(s, r, 1.0 - s - r) < -1e-9 or (vx * qx + vy * qy + vz * qz) / volume <= 0.0:
                continue
            if min(s, r, 1.0 - s - r) < 1e-9:
                clear = False
            turns += 1 if volume < 0.0 else -1  # a ray that leaves through a front face comes from inside
    return turns, clear


@kernel(inline=True)
def _inside_mesh(solids: Solids, root: int, x: float, y: float, z: float, stack: IntArray) -> bool:
    if _box_square(solids.nodes, root, x, y, z) > 0.0:
        return False
    direction, turns, clear = (0.3911, 0.2713, 0.8795), 0, False
    for _ in range(2):
        if not clear:  # ask again in another direction
            turns, clear = _winding(solids, root, (x, y, z), direction, stack)
            direction = (-0.6121, 0.5237, 0.5926)
    return turns != 0


@kernel
def mesh_heights(solids: Solids, s: int, points: FloatArray, stack: IntArray, out: FloatArray) -> None:
    """Find the height of the surface of a mesh over or under each point, the nearest to it.

    Args:
        solids: all solids.
        s: number of the mesh.
        points: points; (N, 3) [m].
        stack: see the top of the module.
        out: receives the heights, minus infinity where the mesh is not; (N,) [m].
    """
    nodes = solids.nodes
    for k in range(len(points)):
        x, y, z = points[k, 0], points[k, 1], points[k, 2]
        best = _FAR
        out[k] = -np.inf
        stack[0] = solids.spans[s, ROOT_NODE]
        top = 1
        while top > 0:
            top -= 1
            n = stack[top]
            if x < nodes[n, LOW_X] or x > nodes[n, HIGH_X] or y < nodes[n, LOW_Y] or y > nodes[n, HIGH_Y]:
                continue
            if max(nodes[n, LOW_Z] - z, z - nodes[n, HIGH_Z]) > best:
                continue
            a, b = solids.links[n, 0], solids.links[n, 1]
            if a >= 0:
                stack[top], stack[top + 1] = a, b
                top += 2
                continue
            for t in range(-1 - a, -1 - a + b):
                c = solids.corners[t]
                area = (c[3] - c[0]) * (c[7] - c[1]) - (c[6] - c[0]) * (c[4] - c[1])
                if abs(area) <= _UPRIGHT:
                    continue
                u = ((x - c[0]) * (c[7] - c[1]) - (c[6] - c[0]) * (y - c[1])) / area
                v = ((c[3] - c[0]) * (y - c[1]) - (x - c[0]) * (c[4] - c[1])) / area
                if u >= -1e-9 and v >= -1e-9 and u + v <= 1.0 + 1e-9:
                    height = c[2] + u * (c[5] - c[2]) + v * (c[8] - c[2])
                    if abs(height - z) < best:
                        best, out[k] = abs(height - z), height


@kernel
def signed_distance(solids: Solids, s: int, x: float, y: float, z: float, stack: IntArray | None) -> float:
    """Return the distance of a point to a solid's surface [m], negative inside."""
    kind, distance = solids.kinds[s], _FAR
    if kind <= CONCAVE:
        flat = planar_distance(
            solids, solids.spans[s, FIRST_EDGE], solids.spans[s, STOP_EDGE], solids.numbers[s, ROUNDING], x, y
        )
        high = max(solids.numbers[s, BOTTOM] - z, z - solids.numbers[s, TOP])
        distance = max(flat, high)
        if flat > 0.0 and high > 0.0:
            distance = np.sqrt(flat * flat + high * high)
    elif kind == BALL:
        dx, dy, dz = x - solids.numbers[s, BALL_X], y - solids.numbers[s, BALL_Y], z - solids.numbers[s, BALL_Z]
        distance = np.sqrt(dx * dx + dy * dy + dz * dz) - solids.numbers[s, BALL_RADIUS]
    elif stack is not None:
        distance = np.sqrt(_mesh_square(solids, solids.spans[s, ROOT_NODE], x, y, z, stack))
        if solids.numbers[s, CLOSED] > 0.0 and _inside_mesh(solids, solids.spans[s, ROOT_NODE], x, y, z, stack):
            distance = -distance
    return distance


@kernel
def point_depths(solids: Solids, s: int, points: FloatArray, stack: IntArray, out: FloatArray) -> None:
    """Write how deep points (N, 3) are in a solid [m], 0 outside.

    Args:
        solids: solids.
        s: which of them.
        points: (N, 3) [m].
        stack: memory.
        out: filled; (N,).
    """
    for i in range(points.shape[0]):
        out[i] = max(-signed_distance(solids, s, points[i, 0], points[i, 1], points[i, 2], stack), 0.0)


@kernel(inner=True, shared=True)
def _along(solids: Solids, s: int, ends: FloatArray, share: float, radius: float, stack: IntArray | None) -> float:
    """Return how deep a capsule lies in a solid at a share of its axis [m]."""
    x = ends[0, 0] + share * (ends[1, 0] - ends[0, 0])
    y = ends[0, 1] + share * (ends[1, 1] - ends[0, 1])
    z = ends[0, 2] + share * (ends[1, 2] - ends[0, 2])
    return radius - signed_distance(solids, s, x, y, z, stack)


@kernel(inner=True, shared=True)
def edge_square(t: FloatArray, i: int, j: int, ends: FloatArray) -> tuple[float, float]:
    """Return the squared distance of an axis to an edge of a triangle [m^2], and where along the axis.

    Args:
        t: triangle; (9,).
        i: first of the numbers of one corner.
        j: first of those of the other.
        ends: ends of the axis [m]; (2, 3).
    """
    aa, ab, bb, aw, bw = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        a, b, w = ends[1, k] - ends[0, k], t[j + k] - t[i + k], ends[0, k] - t[i + k]
        aa, ab, bb, aw, bw = aa + a * a, ab + a * b, bb + b * b, aw + a * w, bw + b * w
    along, cross = 0.0, aa * bb - ab * ab
    if cross > 1e-12 * aa * bb:
        along = min(max((ab * bw - bb * aw) / cross, 0.0), 1.0)
    at = 0.0
    if bb > 0.0:
        at = min(max((ab * along + bw) / bb, 0.0), 1.0)
    if aa > 0.0:
        along = min(max((ab * at - aw) / aa, 0.0), 1.0)
    square = 0.0
    for k in range(3):
        away = ends[0, k] + along * (ends[1, k] - ends[0, k]) - t[i + k] - at * (t[j + k] - t[i + k])
        square += away * away
    return square, along


@kernel(inner=True, shared=True)
def crossing_share(t: FloatArray, ends: FloatArray) -> float:
    """Return where an axis (2, 3) goes through a triangle (9,) as a share of its length; -1.0 if it does not."""
    ux, uy, uz = t[3] - t[0], t[4] - t[1], t[5] - t[2]
    vx, vy, vz = t[6] - t[0], t[7] - t[1], t[8] - t[2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    first = nx * (ends[0, 0] - t[0]) + ny * (ends[0, 1] - t[1]) + nz * (ends[0, 2] - t[2])
    last = nx * (ends[1, 0] - t[0]) + ny * (ends[1, 1] - t[1]) + nz * (ends[1, 2] - t[2])
    if (first > 0.0) == (last > 0.0) or first == last:
        return -1.0
    share = first / (first - last)
    x = ends[0, 0] + share * (ends[1, 0] - ends[0, 0])
    y = ends[0, 1] + share * (ends[1, 1] - ends[0, 1])
    z = ends[0, 2] + share * (ends[1, 2] - ends[0, 2])
    return share if triangle_square(t, x, y, z) <= _THROUGH else -1.0


@kernel(inner=True, shared=True)
def axis_triangle(t: FloatArray, ends: FloatArray) -> tuple[float, float]:
    """Return the squared distance of an axis (2, 3) to a triangle (9,) [m^2], and where along the axis."""
    share = crossing_share(t, ends)
    if share >= 0.0:
        return 0.0, share
    best = triangle_square(t, ends[0, 0], ends[0, 1], ends[0, 2])
    share = 0.0
    other = triangle_square(t, ends[1, 0], ends[1, 1], ends[1, 2])
    if other < best:
        best, share = other, 1.0
    for side in range(3):
        square, along = edge_square(t, 3 * side, 3 * ((side + 1) % 3), ends)
        if square < best:
            best, share = square, along
    return best, share


@kernel(inner=True)
def _axis_square(solids: Solids, root: int, ends: FloatArray, length: float, stack: IntArray) -> tuple[float, float]:
    """Return the squared distance of an axis (2, 3) to a mesh's surface [m^2], and where along the axis."""
    x, y, z = 0.5 * (ends[0, 0] + ends[1, 0]), 0.5 * (ends[0, 1] + ends[1, 1]), 0.5 * (ends[0, 2] + ends[1, 2])
    best, share, half = _FAR, 0.5, 0.5 * length
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        n = stack[top]
        if np.sqrt(_box_square(solids.nodes, n, x, y, z)) - half >= np.sqrt(best):
            continue
        a, b = solids.links[n, 0], solids.links[n, 1]
        if a < 0:
            for t in range(-1 - a, -1 - a + b):
                square, along = axis_triangle(solids.corners[t], ends)
                if square < best:
                    best, share = square, along
        elif _box_square(solids.nodes, a, x, y, z) < _box_square(solids.nodes, b, x, y, z):
            stack[top], stack[top + 1] = b, a
            top += 2
        else:
            stack[top], stack[top + 1] = a, b
            top += 2
    return best, share


@kernel(inline=True)
def _convex_depth(
    solids: Solids, s: int, ends: FloatArray, radius: float, length: float, floor: float, stack: IntArray | None
) -> tuple[float, float]:
    """Find the greatest depth by golden section search: along a line, depth in a convex solid has one maximum."""
    low, high = 0.0, 1.0
    a, b = _GOLDEN, 1.0 - _GOLDEN
    at_a, at_b = _along(solids, s, ends, a, radius, stack), _along(solids, s, ends, b, radius, stack)
    while (high - low) * length > FINE:
        if max(at_a, at_b) + (high - low) * length <= floor:
            return floor, a
        if at_a >= at_b:
            high, b, at_b = b, a, at_a
            a = low + _GOLDEN * (high - low)
            at_a = _along(solids, s, ends, a, radius, stack)
        else:
            low, a, at_a = a, b, at_b
            b = high - _GOLDEN * (high - low)
            at_b = _along(solids, s, ends, b, radius, stack)
    best, share = (at_a, a) if at_a >= at_b else (at_b, b)
    for end in (0.0, 1.0):
        at_end = _along(solids, s, ends, end, radius, stack)
        if at_end > best:
            best, share = at_end, end
    return best, share


@kernel(inline=True)
def _any_depth(
    solids: Solids, s: int, ends: FloatArray, radius: float, length: float, floor: float, bar: float,
    stack: IntArray | None, spans: FloatArray,
) -> tuple[float, float]:  # fmt: skip
    """Find the greatest depth by branch and bound: it changes no faster than the distance along the axis."""
    spans[0, _LOW], spans[0, _HIGH], spans[0, _AT_LOW] = 0.0, 1.0, _along(solids, s, ends, 0.0, radius, stack)
    spans[0, _AT_HIGH] = _along(solids, s, ends, 1.0, radius, stack)
    best, share = (spans[0, _AT_LOW], 0.0) if spans[0, _AT_LOW] >= spans[0, _AT_HIGH] else (spans[0, _AT_HIGH], 1.0)
    missed, top = -_FAR, 1
    while top > 0:
        top -= 1
        low, high, at_low, at_high = spans[top, _LOW], spans[top, _HIGH], spans[top, _AT_LOW], spans[top, _AT_HIGH]
        most = 0.5 * (at_low + at_high + (high - low) * length)
        slack = FINE if best <= bar < most else COARSE
        if most <= floor or most <= best + max(slack, -0.25 * best):
            missed = max(missed, most)
            continue
        middle = 0.5 * (low + high)
        at = _along(solids, s, ends, middle, radius, stack)
        if at > best:
            best, share = at, middle
        left = 1 if at_low > at_high else 0  # the better half is looked at first
        for half in range(2):
            first = half != left
            spans[top, _LOW], spans[top, _HIGH] = (low, middle) if first else (middle, high)
            spans[top, _AT_LOW], spans[top, _AT_HIGH] = (at_low, at) if first else (at, at_high)
            top += 1
    # what is clear is reported a little nearer than it is, never farther
    return (best if best > 0.0 else max(best, min(missed, 0.0))), share


@kernel
def capsule_depth(
    solids: Solids, s: int, ends: FloatArray, radius: float, floor: float, bar: float,
    stack: IntArray | None, spans: FloatArray,
) -> tuple[float, float]:  # fmt: skip
    """Return how deep a capsule lies in a solid [m], negative if clear of it, and where along the axis.

    Args:
        solids: all solids.
        s: which.
        ends: of the axis [m]; (2, 3).
        radius: [m].
        floor: depths below this need not be known [m]; then `floor` comes back.
        bar: depths are known to `FINE` near this one [m].
        stack: see the top of the module.
        spans: (64, 4) room to work in.
    """
    dx, dy, dz = ends[1, 0] - ends[0, 0], ends[1, 1] - ends[0, 1], ends[1, 2] - ends[0, 2]
    length = np.sqrt(dx * dx + dy * dy + dz * dz)
    if stack is not None and solids.kinds[s] == MESH:
        root = solids.spans[s, ROOT_NODE]
        square, share = _axis_square(solids, root, ends, length, stack)
        x, y, z = ends[0, 0], ends[0, 1], ends[0, 2]
        if square > 0.0 and not (solids.numbers[s, CLOSED] > 0.0 and _inside_mesh(solids, root, x, y, z, stack)):
            return max(radius - np.sqrt(square), floor), share  # all of the axis is outside
    middle = _along(solids, s, ends, 0.5, radius, stack)
    if middle + 0.5 * length <= floor:
        return floor, 0.5
    if length < FINE:
        return middle, 0.5
    if solids.kinds[s] == CONVEX or solids.kinds[s] == BALL:
        return _convex_depth(solids, s, ends, radius, length, floor, stack)
    return _any_depth(solids, s, ends, radius, length, floor, bar, stack, spans)
