"""Compiled loops that find contacts: plain arrays in, plain arrays out."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.jit import kernel


@kernel
def select(values: FloatArray, count: int, rank: int) -> float:
    """Return the value of a rank (0 is the least) among the first `count`, which change their order."""
    low, high = 0, count - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return float(values[rank])


@kernel
def percentile(values: FloatArray, count: int, share: float) -> float:
    """Return the value below which a share (0 to 1) of the first `count` lies, linear between two of them."""
    at = share * (count - 1)
    rank = int(at)
    below = select(values, count, rank)
    if rank + 1 >= count:
        return below
    return below + (select(values, count, rank + 1) - below) * (at - rank)


@kernel
def resting_heights(
    points: FloatArray, speed: FloatArray, going: FloatArray, is_foot: BoolArray, uneven: float, resting: FloatArray
) -> None:
    """Write the height at which each point would rest at its place into `resting` (F, C).

    The floor is one plane for the clip, with one offset for each point of a foot; other points rest at their mean.

    Args:
        points: smoothed places [m]; (F, C, 3).
        speed: speed of every point [m/s]; (F, C).
        going: fastest speed of the pelvis about every frame [m/s]; (F,).
        is_foot: whether a point belongs to a foot; (C,).
        uneven: greatest difference between the resting heights of feet [m].
        resting: written; (F, C).
    """
    frames, count = speed.shape
    low, chosen = np.empty(count), np.empty(frames)
    still = np.empty((frames, count), dtype=np.bool_)
    lowest, cx, cy = np.inf, 0.0, 0.0
    for c in range(count):
        picked = 0
        for f in range(frames):
            cx += points[f, c, 0]
            cy += points[f, c, 1]
            still[f, c] = speed[f, c] < 0.3 + 0.1 * going[f]
            if still[f, c]:
                chosen[picked] = points[f, c, 2]
                picked += 1
        if picked > 4:
            low[c] = percentile(chosen, picked, 0.2)
        else:
            for f in range(frames):
                chosen[f] = points[f, c, 2]
            low[c] = percentile(chosen, frames, 0.03)
        if is_foot[c]:
            lowest = min(lowest, low[c])
    cx, cy = cx / (frames * count), cy / (frames * count)
    for c in range(count):
        if is_foot[c]:
            low[c] = min(low[c], lowest + uneven)  # a foot that is held in the air has no rest of its own
    sx, sy = 0.0, 0.0
    for _ in range(6):
        kept = 0
        for c in range(count):
            if not is_foot[c]:
                continue
            for f in range(frames):
                off = points[f, c, 2] - low[c] - (points[f, c, 0] - cx) * sx - (points[f, c, 1] - cy) * sy
                kept += still[f, c] and abs(off) < 0.03
        if kept < 12:
            break
        xx, xy, yy, xz, yz = 0.0, 0.0, 0.0, 0.0, 0.0
        for c in range(count):
            if not is_foot[c]:
                continue
            picked, before = 0, low[c]
            for f in range(frames):
                off = points[f, c, 2] - before - (points[f, c, 0] - cx) * sx - (points[f, c, 1] - cy) * sy
                if still[f, c] and abs(off) < 0.03:
                    chosen[picked] = off
                    picked += 1
            if picked > 4:
                low[c] += percentile(chosen, picked, 0.5)
            for f in range(frames):
                x, y, z = points[f, c, 0] - cx, points[f, c, 1] - cy, points[f, c, 2]
                if still[f, c] and abs(z - before - x * sx - y * sy) < 0.03:
                    xx += x * x
                    xy += x * y
                    yy += y * y
                    xz += x * (z - low[c])
                    yz += y * (z - low[c])
        ridge = 0.02 * kept  # as if every point had 14 cm of scatter on a level floor
        xx += ridge
        yy += ridge
        whole = xx * yy - xy * xy
        sx = min(max((xz * yy - yz * xy) / whole, -0.06), 0.06)
        sy = min(max((yz * xx - xz * xy) / whole, -0.06), 0.06)
    mean, feet = 0.0, 0
    for c in range(count):
        if is_foot[c]:
            mean += low[c]
            feet += 1
    for c in range(count):
        rest = low[c] if is_foot[c] else mean / feet
        for f in range(frames):
            resting[f, c] = rest + (points[f, c, 0] - cx) * sx + (points[f, c, 1] - cy) * sy


@kernel
def drop_blips(flags: BoolArray, gap: int, shortest: int) -> None:
    """Close gaps of up to `gap` frames in flags (F,), then drop runs of fewer than `shortest` frames, in place.

    Runs at the ends of a clip stay: they may go on beyond it.
    """
    frames, last = flags.shape[0], -1
    for f in range(frames):
        if flags[f]:
            if last >= 0 and f - last - 1 <= gap:
                flags[last:f] = True
            last = f
    start = 0
    while start < frames:
        stop = start
        while stop < frames and flags[stop]:
            stop += 1
        if 0 < start < stop < frames and stop - start < shortest:
            flags[start:stop] = False
        start = stop + 1


@kernel
def contacts(
    points: FloatArray,
    speed: FloatArray,
    going: FloatArray,
    resting: FloatArray,
    limits: FloatArray,
    gap: int,
    shortest: int,
    found: BoolArray,
) -> None:
    """Write whether each point rests in each frame into `found` (F, C).

    A contact lasts from the first frame within the limits `to begin` to the last one of that run within those `to go
    on`, less the frames at its ends in which the point still comes down or already leaves.

    Args:
        points: smoothed places [m]; (F, C, 3).
        speed: speed of every point [m/s]; (F, C).
        going: fastest speed of the pelvis about every frame [m/s]; (F,).
        resting: height at which each point would rest [m]; (F, C).
        limits: rows height, speed, share of the pelvis's speed, distance to the resting place; columns as in
            `ContactLimits`; (4, 2).
        gap: longest gap that is closed [frames].
        shortest: shortest contact [frames].
        found: written; (F, C).
    """
    frames, count = speed.shape
    middle, values = np.empty(3), np.empty(frames)
    for c in range(count):
        flags, down = found[:, c], False
        for f in range(frames):
            height = points[f, c, 2] - resting[f, c]
            begins = height < limits[0, 0] and speed[f, c] < limits[1, 0] + limits[2, 0] * going[f]
            goes_on = height < limits[0, 1] and speed[f, c] < limits[1, 1] + limits[2, 1] * going[f]
            down = begins or (down and goes_on)
            flags[f] = down
        drop_blips(flags, gap, shortest)
        start = 0
        while start < frames:
            stop = start
            while stop < frames and flags[stop]:
                stop += 1
            if stop > start:
                for axis in range(3):
                    values[: stop - start] = points[start:stop, c, axis]
                    middle[axis] = percentile(values, stop - start, 0.5)
                first, last = stop, stop  # never at rest
                for f in range(start, stop):
                    x, y = points[f, c, 0] - middle[0], points[f, c, 1] - middle[1]
                    settled = abs(points[f, c, 2] - middle[2]) < limits[3, 1] and (
                        np.sqrt(x * x + y * y) < limits[3, 0] or speed[f, c] < limits[1, 0]
                    )
                    if settled:
                        first, last = min(first, f), f + 1
                flags[start:first] = False
                flags[last:stop] = False
            start = stop + 1
        drop_blips(flags, gap, shortest)
