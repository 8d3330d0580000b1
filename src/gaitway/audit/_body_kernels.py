"""Capsules of bodies over time: where they are, how far they move, and where they lie in solids.

`stack` is as in `_solid_kernels`.
"""

from __future__ import annotations

import numpy as np

from gaitway.audit._solid_kernels import (
    BALL,
    COARSE,
    HIGH_X,
    HIGH_Y,
    HIGH_Z,
    LOW_X,
    LOW_Y,
    LOW_Z,
    Solids,
    capsule_depth,
    signed_distance,
)
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

HIT_FRAME, HIT_CAPSULE, HIT_SOLID = 0, 1, 2
"""Columns of the hits and flags of `scan`."""
HIT_DEPTH, HIT_SHARE = 0, 1
"""Columns of the depths of `scan`."""
HITS, FLAGS = 0, 1
"""Entries of the counts of `scan`."""
_FAR = 1e30


@kernel(inner=True)
def _apart(boxes: FloatArray, s: int, low: FloatArray, high: FloatArray, margin: float) -> bool:
    aside: bool = boxes[s, LOW_X] - margin > high[0] or boxes[s, HIGH_X] + margin < low[0]
    aside = aside or boxes[s, LOW_Y] - margin > high[1] or boxes[s, HIGH_Y] + margin < low[1]
    aside = aside or boxes[s, LOW_Z] - margin > high[2] or boxes[s, HIGH_Z] + margin < low[2]
    return aside


@kernel(inner=True, shared=True)
def _hull(segments: FloatArray, radii: FloatArray, first: int, stop: int, low: FloatArray, high: FloatArray) -> float:
    """Write the bounding box of some capsules (C, 2, 3); returns its diagonal [m]."""
    square = 0.0
    for i in range(3):
        low[i], high[i] = _FAR, -_FAR
        for c in range(first, stop):
            low[i] = min(low[i], min(segments[c, 0, i], segments[c, 1, i]) - radii[c])
            high[i] = max(high[i], max(segments[c, 0, i], segments[c, 1, i]) + radii[c])
        square += (high[i] - low[i]) ** 2
    diagonal: float = np.sqrt(square)
    return diagonal


@kernel
def hulls(segments: FloatArray, radii: FloatArray, starts: IntArray, low: FloatArray, high: FloatArray) -> None:
    """Write bounding boxes, low and high corners (N, 3) [m], of runs of capsules (M, 2, 3) from starts (N + 1,)."""
    for n in range(starts.shape[0] - 1):
        _hull(segments, radii, starts[n], starts[n + 1], low[n], high[n])


@kernel
def steps(before: FloatArray, after: FloatArray, out: FloatArray) -> None:
    """Write how far the farther end of each capsule (M, 2, 3) moves [m]; (M,)."""
    for m in range(before.shape[0]):
        out[m] = 0.0
        for e in range(2):
            square = 0.0
            for i in range(3):
                square += (after[m, e, i] - before[m, e, i]) ** 2
            out[m] = max(out[m], np.sqrt(square))


@kernel
def scan(
    segments: FloatArray, radii: FloatArray, reach: FloatArray, solids: Solids, bar: float, finest: float,
    stack: IntArray | None, hits: IntArray, depths: FloatArray, flags: IntArray, counts: IntArray,
) -> None:  # fmt: skip
    """Find where a body lies in solids, and between which frames it might without being seen.

    Args:
        segments: axes of capsules in every frame [m]; (F, C, 2, 3).
        radii: (C,) [m].
        reach: how far each capsule may go from a frame to the next [m]; (F - 1, C).
        solids: all solids.
        bar: depths beyond this are reported [m].
        finest: capsules that go less than this are not looked at between frames [m].
        stack: see `_solid_kernels`.
        hits: frame, capsule and solid for every frame and solid with something deeper than the bar, and in row 0 the
            deepest of all whether beyond the bar or not; (H, 3).
        depths: of these [m], and where along the axis; (H, 2).
        flags: frame, capsule and solid where the time up to the next frame must be looked at; (G, 3).
        counts: rows wanted of `hits` and of `flags`, which may be more than there is room for; (2,).
    """
    frames, count = segments.shape[0], segments.shape[1]
    spans = np.empty((64, 4))
    lows, highs, margins, wide = np.empty((frames, 3)), np.empty((frames, 3)), np.zeros(frames), np.empty(frames)
    least, most = np.empty(3), np.empty(3)
    before, now = np.empty(count), np.empty(count)
    counts[HITS], counts[FLAGS] = 1, 0
    hits[0, HIT_FRAME], hits[0, HIT_CAPSULE], hits[0, HIT_SOLID], depths[0, HIT_DEPTH], depths[0, HIT_SHARE] = (
        -1,
        -1,
        -1,
        -_FAR,
        0.0,
    )
    for f in range(frames):
        wide[f] = 0.5 * _hull(segments[f], radii, 0, count, lows[f], highs[f])
        for c in range(count):
            if f > 0:
                margins[f] = max(margins[f], reach[f - 1, c])
            if f < frames - 1:
                margins[f] = max(margins[f], reach[f, c])
    for s in range(solids.kinds.shape[0]):
        found, was_near = -_FAR, False  # the deepest of the frame before
        for f in range(frames):
            margin, low, high = margins[f], lows[f], highs[f]
            near = not _apart(solids.boxes, s, low, high, margin)
            if near and solids.kinds[s] != BALL:
                x, y, z = 0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0.5 * (low[2] + high[2])
                near = signed_distance(solids, s, x, y, z, stack) <= wide[f] + margin
            deepest, part, where = -_FAR, -1, 0.5
            for c in range(count if near or was_near else 0):
                now[c] = -margin
                if near:
                    _hull(segments[f], radii, c, c + 1, least, most)
                    if not _apart(solids.boxes, s, least, most, margin):
                        now[c], share = capsule_depth(solids, s, segments[f, c], radii[c], -margin, bar, stack, spans)
                        if now[c] > deepest:
                            deepest, part, where = now[c], c, share
            if part >= 0 and deepest > depths[0, HIT_DEPTH]:
                (
                    hits[0, HIT_FRAME],
                    hits[0, HIT_CAPSULE],
                    hits[0, HIT_SOLID],
                    depths[0, HIT_DEPTH],
                    depths[0, HIT_SHARE],
                ) = f, part, s, deepest, where
            if deepest > bar:
                n = counts[HITS]
                if n < hits.shape[0]:
                    (
                        hits[n, HIT_FRAME],
                        hits[n, HIT_CAPSULE],
                        hits[n, HIT_SOLID],
                        depths[n, HIT_DEPTH],
                        depths[n, HIT_SHARE],
                    ) = f, part, s, deepest, where
                counts[HITS] += 1
            for c in range(count if near or was_near else 0):
                if f > 0 and not was_near:
                    before[c] = -margins[f - 1]
                # what is seen at either frame anyway need not be looked for in between
                if f > 0 and reach[f - 1, c] >= finest and max(found, deepest) <= bar:
                    possible = 0.5 * (reach[f - 1, c] + before[c] + now[c])
                    if possible > max(0.5 * bar, max(before[c], now[c]) + COARSE):
                        n = counts[FLAGS]
                        if n < flags.shape[0]:
                            flags[n, HIT_FRAME], flags[n, HIT_CAPSULE], flags[n, HIT_SOLID] = f - 1, c, s
                        counts[FLAGS] += 1
                before[c] = now[c]
            found, was_near = deepest, near


@kernel
def axes(
    positions: FloatArray, world: FloatArray, joints: IntArray, starts: FloatArray, ends: FloatArray, out: FloatArray
) -> None:
    """Write axes of capsules (N, C, 2, 3) for joint positions (N, J, 3) and world rotations (N, J, 4)."""
    for n in range(positions.shape[0]):
        for c in range(joints.shape[0]):
            j = joints[c]
            w, x, y, z = world[n, j, 0], world[n, j, 1], world[n, j, 2], world[n, j, 3]
            for e in range(2):
                a = starts[c, 0] if e == 0 else ends[c, 0]
                b = starts[c, 1] if e == 0 else ends[c, 1]
                d = starts[c, 2] if e == 0 else ends[c, 2]
                tx, ty, tz = 2.0 * (y * d - z * b), 2.0 * (z * a - x * d), 2.0 * (x * b - y * a)
                out[n, c, e, 0] = positions[n, j, 0] + a + w * tx + y * tz - z * ty
                out[n, c, e, 1] = positions[n, j, 1] + b + w * ty + z * tx - x * tz
                out[n, c, e, 2] = positions[n, j, 2] + d + w * tz + x * ty - y * tx


@kernel
def turn_steps(q: FloatArray, fps: float, out: FloatArray) -> None:
    """Write the change of each joint's angular velocity between frames [rad/s] (F - 2, J) for rotations (F, J, 4)."""
    for j in range(q.shape[1]):
        px, py, pz = 0.0, 0.0, 0.0
        for f in range(q.shape[0] - 1):
            aw, ax, ay, az = q[f, j, 0], -q[f, j, 1], -q[f, j, 2], -q[f, j, 3]
            bw, bx, by, bz = q[f + 1, j, 0], q[f + 1, j, 1], q[f + 1, j, 2], q[f + 1, j, 3]
            w = aw * bw - ax * bx - ay * by - az * bz
            x = aw * bx + ax * bw + ay * bz - az * by
            y = aw * by - ax * bz + ay * bw + az * bx
            z = aw * bz + ax * by - ay * bx + az * bw
            if w < 0.0:
                w, x, y, z = -w, -x, -y, -z
            sine = np.sqrt(x * x + y * y + z * z)
            scale = 2.0 * fps
            if sine > 1e-7:
                scale = 2.0 * np.arctan2(sine, w) / sine * fps
            x, y, z = x * scale, y * scale, z * scale
            if f > 0:
                out[f - 1, j] = np.sqrt((x - px) ** 2 + (y - py) ** 2 + (z - pz) ** 2)
            px, py, pz = x, y, z
