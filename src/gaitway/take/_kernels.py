"""Compiled loops of `gaitway.take`: they compute poses from segment tables.

The loops share these arrays:

* `table` (S, 12), one row per segment, with the columns `START` to `FADE_ROW`. A row is all that is read of a segment,
  and lies in two cache lines.
* `frames` (P, 4, J + 1) in single precision: the local rotations, component by component, so that the processor works
  on several joints at once; the last column is the root's position and a zero.
* `work` (7, 4, J) and `roots` (7, 3): scratch poses of the same layout, with the rows `LAYER_TURN` to `RESULT`.

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
"""Values of `CHANNEL_JOINT` of a channel that turns or moves the root instead of turning a joint."""

START, FIRST_FRAME, RATE, X, Y, COS_HALF, SIN_HALF, HEIGHT, FADE, CLIP_ROW, FRAME_COUNT, FADE_ROW = range(12)
"""Columns of `table`: start [s], frame of the clip at the start, frames per second, x, y [m], cosine and sine of half
the heading, height [m], fade [s], first pool row of the clip, number of frames of the clip, and pool row of frame 0 of
the fade (-1: none)."""
CHANNEL_START, CHANNEL_LENGTH, CHANNEL_JOINT, CHANNEL_ROW = range(4)
"""Columns of `channels`: time of the first sample [s], number of samples, joint, and row of the first sample."""
LAYER_TURN, FADE_FROM, FADE_TO, FRAME_BEFORE, FRAME_AFTER, RESULT, SCRATCH_ROWS = 2, 2, 3, 4, 5, 6, 7
"""Rows of `work` and `roots`: the turn of a layer; the two clips of a fade; the frames before and after a moment in a
fade; the resulting pose. Then the number of rows."""


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
    """Write the segment that plays (N,) and the time within the character's span (N,) into the last two arguments."""
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


@kernel(inner=True)
def _snapped(u: float) -> float:
    """Return a number of frames, rounded if it is nearly whole."""
    nearest = np.floor(u + 0.5)
    return float(nearest if abs(u - nearest) < SNAP else u)


@kernel
def _share(t: float, gap: float) -> float:
    """Return the weight sin(t a) / sin(a) of the far end in slerp, where gap = 1 - cos(a) and a is at most pi / 2."""
    if gap < NEAR:
        tt = t * t  # Taylor series in the gap, which needs neither root nor division
        inner = 1.0 + (4.0 - tt) * 0.1 * gap * (1.0 + (9.0 - tt) * (1.0 / 21.0) * gap)
        return t * (1.0 + (1.0 - tt) * (1.0 / 3.0) * gap * inner)
    angle = np.arccos(1.0 - gap)
    return float(np.sin(t * angle) / np.sin(angle))


@kernel(inner=True)
def _mix(work: FloatArray, a: int, b: int, first: int, stop: int, t: float, n: int) -> None:
    """Interpolate joints `first` up to `stop` from work[a] to work[b], the short way, into work[n]."""
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


@kernel(inner=True, shared=True)
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
    """As `_sample`, into `RESULT`, for all joints but the root, and fast: a loop over joints without branches."""
    stop, r, after, far = work.shape[2], 1.0 - t, row + 1, 0
    if t == 0.0:
        after = row
        for k in range(4):
            for j in range(1, stop):
                work[RESULT, k, j] = frames[row, k, j]
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
        work[RESULT, 0, j], work[RESULT, 1, j] = p * w + q * w2, p * x + q * x2
        work[RESULT, 2, j], work[RESULT, 3, j] = p * y + q * y2, p * z + q * z2
    if far > 0:
        _sample(frames, row, t, 1, stop, RESULT, work)


@kernel(inner=True)
def _root(
    table: FloatArray, frames: Single, s: int, u: float, n: int, roots: FloatArray, work: FloatArray
) -> tuple[int, float]:
    """Write the placed root at frame `u` of segment `s`'s clip: position into roots[n], rotation into work[n].

    Returns:
        The pool row at or before that frame, and how far beyond it, in frames.
    """
    held = min(max(u, 0.0), table[s, FRAME_COUNT] - 1.0)
    low = int(held)
    t = held - low
    row, last = int(table[s, CLIP_ROW]) + low, frames.shape[2] - 1
    _sample(frames, row, t, 0, 1, n, work)
    for k in range(3):
        roots[n, k] = frames[row, k, last]
        if t > 0.0:
            roots[n, k] += t * (frames[row + 1, k, last] - roots[n, k])
    c, h = table[s, COS_HALF], table[s, SIN_HALF]
    cosine, sine, x, y = c * c - h * h, 2.0 * c * h, roots[n, 0], roots[n, 1]
    roots[n, 0] = table[s, X] + cosine * x - sine * y
    roots[n, 1] = table[s, Y] + sine * x + cosine * y
    roots[n, 2] += table[s, HEIGHT]
    for k in range(2):  # yaw times rotation pairs w with z, and x with y
        p, q = work[n, k, 0], work[n, 3 - k, 0]
        work[n, k, 0], work[n, 3 - k, 0] = c * p - h * q, c * q + h * p
    return row, t


@kernel(inner=True)
def _faded(table: FloatArray, frames: Single, s: int, k: int, n: int, work: FloatArray) -> None:
    """Write all joints but the root of segment `s`, fading in at frame `k` of its clip, into work[n]."""
    time, weight = _fade(table, s, float(k))
    for i in range(2):
        r = s - 1 + i
        u = float(k) if i == 1 else _snapped(table[r, FIRST_FRAME] + table[r, RATE] * (time - table[r, START]))
        held = min(max(u, 0.0), table[r, FRAME_COUNT] - 1.0)
        low = int(held)
        _sample(frames, int(table[r, CLIP_ROW]) + low, held - low, 1, work.shape[2], FADE_FROM + i, work)
    _mix(work, FADE_FROM, FADE_TO, 1, work.shape[2], weight, n)


@kernel(inner=True)
def _fade(table: FloatArray, s: int, u: float) -> tuple[float, float]:
    """Return when segment `s` shows frame `u` [s], and how far it has faded in by then, 0 to 1."""
    since = (u - table[s, FIRST_FRAME]) / table[s, RATE]
    share = min(max(since / table[s, FADE], 0.0), 1.0)
    return table[s, START] + since, share * share * (3.0 - 2.0 * share)


@kernel(inner=True, shared=True)
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
    """Apply the layers of character `c` to `RESULT`; `pool.LayerTable` explains the arrays."""
    for i in range(rows[c], rows[c + 1]):
        u = _snapped((time - channels[i, CHANNEL_START]) * fps)
        if u < 0.0 or u > channels[i, CHANNEL_LENGTH] - 1.0:
            continue
        low = int(u)
        t, row, what = u - low, int(channels[i, CHANNEL_ROW]) + low, channels[i, CHANNEL_JOINT]
        if what == ROOT_MOVE:
            for k in range(3):
                here = float(samples[row, k, 0])
                roots[RESULT, k] += here if t == 0.0 else here + t * (samples[row + 1, k, 0] - here)
            continue
        joint = int(max(what, 0.0))
        if joint >= work.shape[2]:
            continue
        if t == 0.0 and what != ROOT_TURN:  # as below, without the way through `work`
            w, x, y, z = work[RESULT, 0, joint], work[RESULT, 1, joint], work[RESULT, 2, joint], work[RESULT, 3, joint]
            w2, x2 = float(samples[row, 0, 0]), float(samples[row, 1, 0])
            y2, z2 = float(samples[row, 2, 0]), float(samples[row, 3, 0])
            work[RESULT, 0, joint] = w * w2 - x * x2 - y * y2 - z * z2
            work[RESULT, 1, joint] = w * x2 + x * w2 + y * z2 - z * y2
            work[RESULT, 2, joint] = w * y2 - x * z2 + y * w2 + z * x2
            work[RESULT, 3, joint] = w * z2 + x * y2 - y * x2 + z * w2
            continue
        _sample(samples, row, t, 0, 1, LAYER_TURN, work)
        # a = first times b; a turn of the root in the world comes after its own rotation
        a, b = (LAYER_TURN, RESULT) if what == ROOT_TURN else (RESULT, LAYER_TURN)
        i1, i2 = (0, joint) if what == ROOT_TURN else (joint, 0)
        w, x, y, z = work[a, 0, i1], work[a, 1, i1], work[a, 2, i1], work[a, 3, i1]
        w2, x2, y2, z2 = work[b, 0, i2], work[b, 1, i2], work[b, 2, i2], work[b, 3, i2]
        work[RESULT, 0, joint] = w * w2 - x * x2 - y * y2 - z * z2
        work[RESULT, 1, joint] = w * x2 + x * w2 + y * z2 - z * y2
        work[RESULT, 2, joint] = w * y2 - x * z2 + y * w2 + z * x2
        work[RESULT, 3, joint] = w * z2 + x * y2 - y * x2 + z * w2


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
    """Write the forward kinematics of `RESULT` into at[n] and world[n]."""
    for j in range(work.shape[2]):
        p = parents[j]
        w, x, y, z = work[RESULT, 0, j], work[RESULT, 1, j], work[RESULT, 2, j], work[RESULT, 3, j]
        if p < 0:
            world[n, j, 0], world[n, j, 1], world[n, j, 2], world[n, j, 3] = w, x, y, z
            at[n, j, 0], at[n, j, 1], at[n, j, 2] = roots[RESULT, 0], roots[RESULT, 1], roots[RESULT, 2]
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
    """Compute the poses of N characters of one skeleton at N times; the last four arguments are written to.

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
    roots, work = np.empty((SCRATCH_ROWS, 3)), np.empty((SCRATCH_ROWS, 4, stop))
    for n in range(len(characters)):
        s, time = segments[n], times[n]
        u = _snapped(table[s, FIRST_FRAME] + table[s, RATE] * (time - table[s, START]))
        fading = time - table[s, START] < table[s, FADE] - SLACK
        for r in range(s - 1 if fading else s, s + 1):
            shown = u if r == s else _snapped(table[r, FIRST_FRAME] + table[r, RATE] * (time - table[r, START]))
            row, t = _root(table, frames, r, shown, FADE_TO + r - s if fading else RESULT, roots, work)
        if fading:
            # the root is blended as of now, the other joints at the frames before and after, which are interpolated
            weight = _fade(table, s, u)[1]
            for k in range(3):
                roots[RESULT, k] = roots[FADE_FROM, k] + weight * (roots[FADE_TO, k] - roots[FADE_FROM, k])
            _mix(work, FADE_FROM, FADE_TO, 0, 1, weight, RESULT)
            low = int(np.floor(u))
            row, t = int(table[s, FADE_ROW]), u - low
            if row >= 0:
                row += low
            else:
                for i in range(2):
                    _faded(table, frames, s, low + i, FRAME_BEFORE + i, work)
                _mix(work, FRAME_BEFORE, FRAME_AFTER, 1, stop, t, RESULT)
        if row >= 0:
            _read(frames, row, t, work)
        if len(layer_rows) > 0:
            _layered(layer_rows, channels, samples, fps, characters[n], time, roots, work)
        if len(positions) > 0:
            _joints(parents, offsets, roots, work, n, positions, world)
        else:
            for k in range(3):
                roots_out[n, k] = roots[RESULT, k]
            for j in range(stop):
                for k in range(4):
                    local[n, j, k] = work[RESULT, k, j]
