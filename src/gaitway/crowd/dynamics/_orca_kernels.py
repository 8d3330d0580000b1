"""Compiled linear programs of optimal reciprocal collision avoidance (van den Berg et al. 2011), in two dimensions.

A line is a row (x, y, dx, dy): a point and a unit direction. What lies to its left is allowed.
"""

from __future__ import annotations

import math

from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel

_PARALLEL = 1e-7
"""Sine of the angle between lines below which they count as parallel."""
_SAME = 1e-6
"""Speed by which a line may be broken: lines that are the same up to rounding do not exclude one another [m/s]."""


@kernel(borrows=True, inner=True)
def on_line(
    lines: FloatArray, number: int, fastest: float, aim_x: float, aim_y: float, far: bool, out: FloatArray
) -> bool:
    """Find the best velocity on one line that keeps all lines before it; returns whether there is one.

    Args:
        lines: allowed half-planes; (L, 4).
        number: the line.
        fastest: greatest speed [m/s].
        aim_x: wished velocity, or a direction [m/s].
        aim_y: the same.
        far: whether the aim is a direction, in which to go as far as possible.
        out: receives the velocity [m/s]; (2,).
    """
    px, py, dx, dy = lines[number, 0], lines[number, 1], lines[number, 2], lines[number, 3]
    along = px * dx + py * dy
    rest = along * along + fastest * fastest - px * px - py * py
    if rest < 0.0:
        return False
    root = math.sqrt(rest)
    low, high = -along - root, -along + root
    for k in range(number):
        across = dx * lines[k, 3] - dy * lines[k, 2]
        away = lines[k, 2] * (py - lines[k, 1]) - lines[k, 3] * (px - lines[k, 0])
        if abs(across) <= _PARALLEL:
            if away < -_SAME:
                return False
            continue
        at = away / across
        if across >= 0.0:
            high = min(high, at)
        else:
            low = max(low, at)
        if low > high:
            return False
    if far:
        at = high if aim_x * dx + aim_y * dy > 0.0 else low
    else:
        at = min(max(dx * (aim_x - px) + dy * (aim_y - py), low), high)
    out[0], out[1] = px + at * dx, py + at * dy
    return True


@kernel(borrows=True, inner=True, shared=True)
def on_lines(
    lines: FloatArray, count: int, fastest: float, aim_x: float, aim_y: float, far: bool, out: FloatArray
) -> int:
    """Find the best velocity that keeps all lines; returns their number, or that of the first that cannot be kept."""
    size = math.sqrt(aim_x * aim_x + aim_y * aim_y)
    scale = fastest if far else (fastest / size if size > fastest else 1.0)
    out[0], out[1] = aim_x * scale, aim_y * scale
    for k in range(count):
        if lines[k, 2] * (lines[k, 1] - out[1]) - lines[k, 3] * (lines[k, 0] - out[0]) > _SAME:
            x, y = out[0], out[1]
            if not on_line(lines, k, fastest, aim_x, aim_y, far, out):
                out[0], out[1] = x, y
                return k
    return count


@kernel(borrows=True, inner=True, shared=True)
def least_broken(
    lines: FloatArray, count: int, hard: int, first: int, fastest: float, out: FloatArray, other: FloatArray
) -> None:
    """Change a velocity so that the line which is broken most is broken least; the first `hard` lines hold always.

    Args:
        lines: allowed half-planes; (L, 4).
        count: number of lines.
        hard: number of lines at the beginning that must be kept: walls.
        first: line at which `on_lines` failed.
        fastest: greatest speed [m/s].
        out: the velocity found so far; receives the new one; (2,).
        other: room for lines; (L, 4).
    """
    broken = 0.0
    for i in range(first, count):
        if lines[i, 2] * (lines[i, 1] - out[1]) - lines[i, 3] * (lines[i, 0] - out[0]) <= broken:
            continue
        for j in range(hard):
            for c in range(4):
                other[j, c] = lines[j, c]
        made = hard
        for j in range(hard, i):
            across = lines[i, 2] * lines[j, 3] - lines[i, 3] * lines[j, 2]
            if abs(across) <= _PARALLEL:
                if lines[i, 2] * lines[j, 2] + lines[i, 3] * lines[j, 3] > 0.0:
                    continue
                other[made, 0], other[made, 1] = 0.5 * (lines[i, 0] + lines[j, 0]), 0.5 * (lines[i, 1] + lines[j, 1])
            else:
                at = (lines[j, 2] * (lines[i, 1] - lines[j, 1]) - lines[j, 3] * (lines[i, 0] - lines[j, 0])) / across
                other[made, 0], other[made, 1] = lines[i, 0] + at * lines[i, 2], lines[i, 1] + at * lines[i, 3]
            ex, ey = lines[j, 2] - lines[i, 2], lines[j, 3] - lines[i, 3]
            size = math.sqrt(ex * ex + ey * ey)
            if size < 1e-12:
                continue
            other[made, 2], other[made, 3] = ex / size, ey / size
            made += 1
        x, y = out[0], out[1]
        if on_lines(other, made, fastest, -lines[i, 3], lines[i, 2], True, out) < made:
            out[0], out[1] = x, y
        broken = lines[i, 2] * (lines[i, 1] - out[1]) - lines[i, 3] * (lines[i, 0] - out[0])
