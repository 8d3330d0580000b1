"""Compiled loops of `gaitway.take`: from segment tables to poses.

The loops share these arrays:

* `table` (S, 12), one row a segment: start [s], frame of the clip at the start, frames a second, x, y [m], cosine and
  sine of half the heading, height [m], fade [s], first pool row of the clip, its number of frames, pool row of the
  fade's frame 0 (-1: none). A row is all that is read of a segment, and lies in two lines of the cache.
* `frames` (P, 4, J + 1) in single precision: the local rotations, component by component, which lets the processor take
  several joints at once; the last column is the root's position and a zero.
* `work` (7, 4, J) and `roots` (7, 3): scratch poses of the same layout. Row 6 is the result, the others are on the way.

Functions share few arrays and take indices, not slices: Numba counts references for every slice.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

Single = npt.NDArray[np.float32]

SLACK = 1e-9
"""Times that differ by less count as equal [s]."""
SNAP = 1e-6
"""A moment this near to a frame, in frames, is that frame."""
NEAR = 0.03
"""One minus the cosine, up to which slerp is done by its series; the error is then below 2e-8."""
ROOT_TURN, ROOT_MOVE = -1.0, -2.0
"""What a layer's channel does, where it does not turn a joint."""


@kernel
def locate(
    rows: IntArray,
    starts: FloatArray,
    ends: FloatArray,
    characters: IntArray,
    times: FloatArray,
    segments: IntArray,
    clamped: FloatArray,
) -> None:
    """Which segment plays (N,), and the time within the character's span (N,), written into the last two arguments."""
    for n in range(len(characters)):
        c = characters[n]
        low, high = rows[c], rows[c + 1] - 1
        t = min(max(times[n], starts[low]), ends[c])
        while low < high:
            middle = (low + high + 1) // 2
            if starts[middle] <= t + SLACK:
                low = middle
            else:
                high = middle - 1
        segments[n], clamped[n] = low, t


@kernel
def _snapped(u: float) -> float:
    """A number of frames, made whole where it is nearly so."""
    nearest = np.floor(u + 0.5)
    return float(nearest if abs(u - nearest) < SNAP else u)


@kernel
def _share(t: float, gap: float) -> float:
    """The weight sin(t a) / sin(a) of the far end in slerp, where gap = 1 - cos(a) and a is at most pi / 2."""
    if gap < NEAR:
        tt = t * t  # Taylor series in the gap, which needs neither root nor division
        inner = 1.0 + (4.0 - tt) * 0.1 * gap * (1.0 + (9.0 - tt) * (1.0 / 21.0) * gap)
        return t * (1.0 + (1.0 - tt) * (1.0 / 3.0) * gap * inner)
    angle = np.arccos(1.0 - gap)
    return float(np.sin(t * angle) / np.sin(angle))


@kernel
def _mix(work: FloatArray, a: int, b: int, first: int, stop: int, t: float, n: int) -> None:
    """Slerp of joints `first` up to `stop` from work[a] to work[b], the short way, into work[n]."""
    for j in range(first, stop):
        cosine = 0.0
        for k in range(4):
            cosine += work[a, k, j] * work[b, k, j]
        gap = 1.0 - abs(cosine)
        p, q = _share(1.0 - t, gap), _share(t, gap)
        if cosine < 0.0:
            q = -q
        for k in range(4):
            work[n, k, j] = p * work[a, k, j] + q * work[b, k, j]


@kernel
def _sample(frames: Single, row: int, t: float, first: int, stop: int, n: int, work: FloatArray) -> None:
    """Joints `first` up to `stop` between pool row `row` and the next, into work[n]; exact at t = 0."""
    after = row + 1 if t > 0.0 else row
    for j in range(first, stop):
        cosine = 0.0
        for k in range(4):
            work[n, k, j] = frames[row, k, j]
            cosine += work[n, k, j] * frames[after, k, j]
        if t > 0.0:
            gap = 1.0 - abs(cosine)
            p, q = _share(1.0 - t, gap), _share(t, gap)
            if cosine < 0.0:
                q = -q
            for k in range(4):
                work[n, k, j] = p * work[n, k, j] + q * frames[after, k, j]


@kernel(inline=True)
def _read(frames: Single, row: int, t: float, work: FloatArray) -> None:
    """As `_sample`, into row 6, for all joints but the root, and fast: a loop over joints without branches."""
    stop, r, after, far = work.shape[2], 1.0 - t, row + 1, 0
    if t == 0.0:
        after = row
        for k in range(4):
            for j in range(1, stop):
                work[6, k, j] = frames[row, k, j]
        stop = 0
    # the series of `_share`, with what does not depend on the joint taken out of the loop
    a1, a2, a3 = (1.0 - r * r) * (1.0 / 3.0), (4.0 - r * r) * 0.1, (9.0 - r * r) * (1.0 / 21.0)
    b1, b2, b3 = (1.0 - t * t) * (1.0 / 3.0), (4.0 - t * t) * 0.1, (9.0 - t * t) * (1.0 / 21.0)
    for j in range(1, stop):
        w, x = float(frames[row, 0, j]), float(frames[row, 1, j])
        y, z = float(frames[row, 2, j]), float(frames[row, 3, j])
        w2, x2 = float(frames[after, 0, j]), float(frames[after, 1, j])
        y2, z2 = float(frames[after, 2, j]), float(frames[after, 3, j])
        cosine = w * w2 + x * x2 + y * y2 + z * z2
        gap = 1.0 - abs(cosine)
        p = r * (1.0 + a1 * gap * (1.0 + a2 * gap * (1.0 + a3 * gap)))
        q = t * (1.0 + b1 * gap * (1.0 + b2 * gap * (1.0 + b3 * gap)))
        q = q if cosine >= 0.0 else -q
        far += gap > NEAR
        work[6, 0, j], work[6, 1, j] = p * w + q * w2, p * x + q * x2
        work[6, 2, j], work[6, 3, j] = p * y + q * y2, p * z + q * z2
    if far > 0:
        _sample(frames, row, t, 1, stop, 6, work)


@kernel
def _root(
    table: FloatArray, frames: Single, s: int, u: float, n: int, roots: FloatArray, work: FloatArray
) -> tuple[int, float]:
    """The root at frame `u` of the clip of segment `s`, placed: position into roots[n], rotation into work[n].

    Returns:
        The pool row at or before that frame, and how far beyond it, in frames.
    """
    held = min(max(u, 0.0), table[s, 10] - 1.0)
    low = int(held)
    t = held - low
    row, last = int(table[s, 9]) + low, frames.shape[2] - 1
    _sample(frames, row, t, 0, 1, n, work)
    for k in range(3):
        roots[n, k] = frames[row, k, last]
        if t > 0.0:
            roots[n, k] += t * (frames[row + 1, k, last] - roots[n, k])
    c, h = table[s, 5], table[s, 6]
    cosine, sine, x, y = c * c - h * h, 2.0 * c * h, roots[n, 0], roots[n, 1]
    roots[n, 0] = table[s, 3] + cosine * x - sine * y
    roots[n, 1] = table[s, 4] + sine * x + cosine * y
    roots[n, 2] += table[s, 7]
    for k in range(2):  # yaw times rotation pairs w with z, and x with y
        p, q = work[n, k, 0], work[n, 3 - k, 0]
        work[n, k, 0], work[n, 3 - k, 0] = c * p - h * q, c * q + h * p
    return row, t


@kernel
def _faded(table: FloatArray, frames: Single, s: int, k: int, n: int, work: FloatArray) -> None:
    """All joints but the root where segment `s`, fading in, shows frame `k` of its clip, into work[n]."""
    time, weight = _fade(table, s, float(k))
    for i in range(2):
        r = s - 1 + i
        u = float(k) if i == 1 else _snapped(table[r, 1] + table[r, 2] * (time - table[r, 0]))
        held = min(max(u, 0.0), table[r, 10] - 1.0)
        low = int(held)
        _sample(frames, int(table[r, 9]) + low, held - low, 1, work.shape[2], 2 + i, work)
    _mix(work, 2, 3, 1, work.shape[2], weight, n)


@kernel
def _fade(table: FloatArray, s: int, u: float) -> tuple[float, float]:
    """When segment `s` shows frame `u` [s], and how far it has faded in by then, 0 to 1."""
    since = (u - table[s, 1]) / table[s, 2]
    share = min(max(since / table[s, 8], 0.0), 1.0)
    return table[s, 0] + since, share * share * (3.0 - 2.0 * share)


@kernel
def _layered(
    rows: IntArray,
    channels: FloatArray,
    samples: Single,
    fps: float,
    c: int,
    time: float,
    roots: FloatArray,
    work: FloatArray,
) -> None:
    """What the layers of character `c` do to row 6; `pool.LayerTable` says what the arrays are."""
    for i in range(rows[c], rows[c + 1]):
        u = _snapped((time - channels[i, 0]) * fps)
        if u < 0.0 or u > channels[i, 1] - 1.0:
            continue
        low = int(u)
        t, row, what = u - low, int(channels[i, 3]) + low, channels[i, 2]
        if what == ROOT_MOVE:
            for k in range(3):
                here = float(samples[row, k, 0])
                roots[6, k] += here if t == 0.0 else here + t * (samples[row + 1, k, 0] - here)
            continue
        joint = int(max(what, 0.0))
        if joint >= work.shape[2]:
            continue
        _sample(samples, row, t, 0, 1, 2, work)
        # a = first times b; a turn of the root in the world comes after its own rotation
        a, b = (2, 6) if what == ROOT_TURN else (6, 2)
        i1, i2 = (0, joint) if what == ROOT_TURN else (joint, 0)
        w, x, y, z = work[a, 0, i1], work[a, 1, i1], work[a, 2, i1], work[a, 3, i1]
        w2, x2, y2, z2 = work[b, 0, i2], work[b, 1, i2], work[b, 2, i2], work[b, 3, i2]
        work[6, 0, joint] = w * w2 - x * x2 - y * y2 - z * z2
        work[6, 1, joint] = w * x2 + x * w2 + y * z2 - z * y2
        work[6, 2, joint] = w * y2 - x * z2 + y * w2 + z * x2
        work[6, 3, joint] = w * z2 + x * y2 - y * x2 + z * w2


@kernel(inline=True)
def _joints(
    parents: IntArray,
    offsets: FloatArray,
    roots: FloatArray,
    work: FloatArray,
    n: int,
    at: FloatArray,
    world: FloatArray,
) -> None:
    """Forward kinematics of row 6 into at[n] and world[n]."""
    for j in range(work.shape[2]):
        p = parents[j]
        w, x, y, z = work[6, 0, j], work[6, 1, j], work[6, 2, j], work[6, 3, j]
        if p < 0:
            world[n, j, 0], world[n, j, 1], world[n, j, 2], world[n, j, 3] = w, x, y, z
            at[n, j, 0], at[n, j, 1], at[n, j, 2] = roots[6, 0], roots[6, 1], roots[6, 2]
            continue
        a, b, c, d = world[n, p, 0], world[n, p, 1], world[n, p, 2], world[n, p, 3]
        world[n, j, 0] = a * w - b * x - c * y - d * z
        world[n, j, 1] = a * x + b * w + c * z - d * y
        world[n, j, 2] = a * y - b * z + c * w + d * x
        world[n, j, 3] = a * z + b * y - c * x + d * w
        ox, oy, oz = offsets[j, 0], offsets[j, 1], offsets[j, 2]
        tx, ty, tz = 2.0 * (c * oz - d * oy), 2.0 * (d * ox - b * oz), 2.0 * (b * oy - c * ox)
        at[n, j, 0] = at[n, p, 0] + ox + a * tx + c * tz - d * ty
        at[n, j, 1] = at[n, p, 1] + oy + a * ty + d * tx - b * tz
        at[n, j, 2] = at[n, p, 2] + oz + a * tz + b * ty - c * tx


@kernel
def evaluate(
    characters: IntArray,
    segments: IntArray,
    times: FloatArray,
    table: FloatArray,
    frames: Single,
    layer_rows: IntArray,
    channels: FloatArray,
    samples: Single,
    fps: float,
    parents: IntArray,
    offsets: FloatArray,
    roots_out: FloatArray,
    local: FloatArray,
    positions: FloatArray,
    world: FloatArray,
) -> None:
    """Poses of N characters of one skeleton at N times; the last four arguments are written to.

    Args:
        characters: indices; (N,).
        segments: what plays, from `locate`; (N,).
        times: [s]; (N,).
        table: see the top of the module.
        frames: see the top of the module.
        layer_rows: see `pool.LayerTable`; empty where there are no layers.
        channels: see `pool.LayerTable`.
        samples: see `pool.LayerTable`.
        fps: rate of the layers [Hz].
        parents: of the joints; (J,).
        offsets: of the joints; (J, 3).
        roots_out: root positions; (N, 3), or (0, 3) where only joints are wanted.
        local: local rotations of the first K joints; (N, K, 4), or (0, J, 4) where only joints are wanted.
        positions: world positions of the joints (N, J, 3), or (0, J, 3) where only poses are wanted.
        world: world rotations of the joints; (N, J, 4), or (0, J, 4).
    """
    stop = local.shape[1]
    roots, work = np.empty((7, 3)), np.empty((7, 4, stop))
    for n in range(len(characters)):
        s, time = segments[n], times[n]
        u = _snapped(table[s, 1] + table[s, 2] * (time - table[s, 0]))
        fading = time - table[s, 0] < table[s, 8] - SLACK
        for r in range(s - 1 if fading else s, s + 1):
            shown = u if r == s else _snapped(table[r, 1] + table[r, 2] * (time - table[r, 0]))
            row, t = _root(table, frames, r, shown, 3 + r - s if fading else 6, roots, work)
        if fading:
            # the root is blended as of now, the other joints at the frames before and after, which are interpolated
            weight = _fade(table, s, u)[1]
            for k in range(3):
                roots[6, k] = roots[2, k] + weight * (roots[3, k] - roots[2, k])
            _mix(work, 2, 3, 0, 1, weight, 6)
            low = int(np.floor(u))
            row, t = int(table[s, 11]), u - low
            if row >= 0:
                row += low
            else:
                for i in range(2):
                    _faded(table, frames, s, low + i, 4 + i, work)
                _mix(work, 4, 5, 1, stop, t, 6)
        if row >= 0:
            _read(frames, row, t, work)
        if len(layer_rows) > 0:
            _layered(layer_rows, channels, samples, fps, characters[n], time, roots, work)
        if len(positions) > 0:
            _joints(parents, offsets, roots, work, n, positions, world)
        else:
            for k in range(3):
                roots_out[n, k] = roots[6, k]
            for j in range(stop):
                for k in range(4):
                    local[n, j, k] = work[6, k, j]
