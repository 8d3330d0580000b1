"""Straight paths for kernels: where the root goes when steps turn and stretch, and the system that says by how much.

Sums over frames run from the first to the last, so that results are those of NumPy's cumulative sums.
"""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

HARD = 100.0
"""Cost of a turn beyond the limits of its step, by its square [1/rad]."""
SMALL = math.radians(6.0)
"""Turn of a step below which it counts by its square [rad]."""
GIVE = 1e-9
"""How far a contact gives way, so that two that say the same do not contradict [m]."""
HELD = 1e4
"""Cost of stretching a step that is stretched as far as it may be."""
STEP = 0.3
"""Most that a round adds to a heading [rad]; a turn is only linear for a short way."""
SHORTEST, LONGEST = 0.88, 1.06
"""Least and greatest factor on the lengths of steps; what looks like the same walk."""


@kernel(borrows=True, inner=True)
def moved(
    ahead: FloatArray, step: IntArray, half: FloatArray, strides: FloatArray, added: FloatArray, longer: FloatArray,
    frame: int,
) -> tuple[float, float, float]:  # fmt: skip
    """Return the move of the root from a frame to the next, before it is stretched [m], and the factor on it.

    Args:
        ahead: moves from frame to frame as planned [m]; (F - 1, 2).
        step: step of each frame; (F,).
        half: share of what is added at the end of a step, between two frames; (F - 1,).
        strides: 1 where steps may be longer or shorter, else 0; (F - 1,).
        added: what is added to the heading at each knot [rad]; (K + 1,).
        longer: by which share steps are longer at each knot; (K + 1,).
        frame: the frame.
    """
    k, part = step[frame + 1], half[frame]
    angle = added[k] + part * (added[k + 1] - added[k])
    stretch = longer[k] + part * (longer[k + 1] - longer[k])
    c, s, u, v = math.cos(angle), math.sin(angle), ahead[frame, 0], ahead[frame, 1]
    return c * u - s * v, s * u + c * v, 1.0 + strides[frame] * stretch


@kernel(borrows=True, inner=True)
def lay_places(
    path: FloatArray, ahead: FloatArray, step: IntArray, half: FloatArray, strides: FloatArray, added: FloatArray,
    longer: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Write the places of the root into the first two columns of an array; arguments as in `moved`."""
    x = y = 0.0
    out[0, 0], out[0, 1] = path[0, 0] + x, path[0, 1] + y
    for frame in range(len(ahead)):
        u, v, factor = moved(ahead, step, half, strides, added, longer, frame)
        x, y = x + u * factor, y + v * factor
        out[frame + 1, 0], out[frame + 1, 1] = path[0, 0] + x, path[0, 1] + y


@kernel(borrows=True)
def lay_path(
    path: FloatArray, ahead: FloatArray, step: IntArray, share: FloatArray, half: FloatArray, strides: FloatArray,
    added: FloatArray, longer: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Write the path that follows from what is added to headings and lengths.

    Args:
        path: the path as planned; (F, 3).
        ahead: as in `moved`.
        step: as in `moved`.
        share: share of what is added at the end of a step, in each frame; (F,).
        half: as in `moved`.
        strides: as in `moved`.
        added: as in `moved`.
        longer: as in `moved`.
        out: the path, written; (F, 3).
    """
    lay_places(path, ahead, step, half, strides, added, longer, out)
    for frame in range(len(path)):
        k = step[frame]
        out[frame, 2] = path[frame, 2] + added[k] + share[frame] * (added[k + 1] - added[k])


@kernel(inner=True)
def effects(
    ahead: FloatArray, step: IntArray, half: FloatArray, strides: FloatArray, knots: IntArray, group: IntArray,
    added: FloatArray, longer: FloatArray, size: int, frames: IntArray, here: FloatArray, parts: FloatArray,
) -> None:  # fmt: skip
    """Compute where frames are, and what variables do about that: headings of groups of knots, and lengths at knots.

    Args:
        ahead: as in `moved`.
        step: as in `moved`.
        half: as in `moved`.
        strides: as in `moved`.
        knots: frame in which each step begins, and the last frame; (K + 1,).
        group: as in `assemble`.
        added: as in `moved`.
        longer: as in `moved`.
        size: number of groups that are variables.
        frames: the frames; (C,).
        here: how far each is from the first frame of the path [m], written; (C, 2).
        parts: how far it goes for a radian at each group, and for a share of 1 at each knot [m], written; (C, 2, V).
    """
    count = len(ahead) + 1
    sums = np.empty((count, 10))
    for k in range(10):
        sums[0, k] = 0.0
    for frame in range(count - 1):
        u, v, factor = moved(ahead, step, half, strides, added, longer, frame)
        x, y, part = u * factor, v * factor, half[frame]
        u, v = u * strides[frame], v * strides[frame]
        later_x, later_y, later_u, later_v = x * part, y * part, u * part, v * part
        after = frame + 1
        sums[after, 0], sums[after, 1] = sums[frame, 0] + x, sums[frame, 1] + y
        sums[after, 2], sums[after, 3] = sums[frame, 2] + later_x, sums[frame, 3] + later_y
        sums[after, 4], sums[after, 5] = sums[frame, 4] + (x - later_x), sums[frame, 5] + (y - later_y)
        sums[after, 6], sums[after, 7] = sums[frame, 6] + later_u, sums[frame, 7] + later_v
        sums[after, 8], sums[after, 9] = sums[frame, 8] + (u - later_u), sums[frame, 9] + (v - later_v)
    for c in range(len(frames)):
        here[c, 0], here[c, 1] = sums[frames[c], 0], sums[frames[c], 1]
        for i in range(size):
            parts[c, 0, i] = parts[c, 1, i] = 0.0
        for k in range(len(knots)):
            own = min(knots[k], frames[c])
            turn_x = turn_y = stretch_x = stretch_y = 0.0
            if k > 0:
                last = min(knots[k - 1], frames[c])
                turn_x, turn_y = sums[own, 2] - sums[last, 2], sums[own, 3] - sums[last, 3]
                stretch_x, stretch_y = sums[own, 6] - sums[last, 6], sums[own, 7] - sums[last, 7]
            if k < len(knots) - 1:
                after_it = min(knots[k + 1], frames[c])
                turn_x += sums[after_it, 4] - sums[own, 4]
                turn_y += sums[after_it, 5] - sums[own, 5]
                stretch_x += sums[after_it, 8] - sums[own, 8]
                stretch_y += sums[after_it, 9] - sums[own, 9]
            if 0 < group[k] <= size:
                parts[c, 0, group[k] - 1] -= turn_y
                parts[c, 1, group[k] - 1] += turn_x
            parts[c, 0, size + k], parts[c, 1, size + k] = stretch_x, stretch_y


@kernel(borrows=True, inner=True)
def assemble(
    planned: FloatArray, limits: FloatArray, group: IntArray, added: FloatArray, size: int, stiff: FloatArray,
    held: FloatArray, straightens: bool, system: FloatArray, right: FloatArray,
) -> None:  # fmt: skip
    """Write the linear system of a change: variables are headings of groups of knots, lengths at knots, and forces.

    Args:
        planned: turn of each step [rad]; (K,).
        limits: least and greatest turn of each step [rad]; (K, 2).
        group: group of each knot, whose heading is one variable; group 0 has none, nor has any beyond `size`; (K + 1,).
        added: what is added to the heading at each knot [rad]; (K + 1,).
        size: number of groups that are variables.
        stiff: what unequal lengths cost; (K + 1, K + 1).
        held: cost of stretching knots that are stretched as far as they may be; (K + 1,).
        straightens: whether turns are to become smaller, and not only to change as little as possible.
        system: zeros, written but for what variables do about the end and about contacts; (V + R, V + R).
        right: the right side; zeros, its first `size` elements are written; (V + R,).
    """
    knots = len(group)
    for k in range(knots - 1):
        now = planned[k] + (added[k + 1] - added[k])
        over = now - min(max(now, limits[k, 0]), limits[k, 1])
        pushed = HARD if over != 0.0 else 0.0
        weight = 1.0 / max(abs(now), SMALL)
        before, after = group[k] - 1, group[k + 1] - 1
        if before == after:
            continue  # the two turn together
        force = weight * now + pushed * over
        weight += pushed
        if 0 <= before < size:
            system[before, before] += weight
        if 0 <= after < size:
            system[after, after] += weight
        if 0 <= before < size and 0 <= after < size:
            system[before, after] -= weight
            system[after, before] -= weight
        if straightens and 0 <= before < size:
            right[before] += force
        if straightens and 0 <= after < size:
            right[after] -= force
    for i in range(knots):
        for j in range(knots):
            system[size + i, size + j] = stiff[i, j]
        system[size + i, size + i] += held[i]
    for r in range(size + knots, len(right)):
        system[r, r] = -GIVE


@kernel
def prepare(
    path: FloatArray, ahead: FloatArray, step: IntArray, half: FloatArray, strides: FloatArray, knots: IntArray,
    group: IntArray, added: FloatArray, longer: FloatArray, planned: FloatArray, limits: FloatArray, stiff: FloatArray,
    held: FloatArray, size: int, frames: IntArray, x: float, y: float, straightens: bool, here: FloatArray,
    parts: FloatArray, system: FloatArray, right: FloatArray,
) -> None:  # fmt: skip
    """Write the linear system of a change, but for contacts.

    Args:
        path: the path as planned; (F, 3).
        ahead: as in `moved`.
        step: as in `moved`.
        half: as in `moved`.
        strides: as in `moved`.
        knots: as in `effects`.
        group: as in `assemble`.
        added: as in `moved`.
        longer: as in `moved`.
        planned: as in `assemble`.
        limits: as in `assemble`.
        stiff: as in `assemble`.
        held: as in `assemble`.
        size: number of groups that are variables.
        frames: frames of contacts, and the last one; (C + 1,).
        x: x of the place where the last frame is to be [m].
        y: y of that place [m].
        straightens: as in `assemble`.
        here: where these frames are [m], written; (C + 1, 2).
        parts: as in `effects`, written; (C + 1, 2, V).
        system: written; zeros for what variables do about contacts; (V + 2 + C, V + 2 + C).
        right: the right side, written; zeros for the slope of lengths and for contacts; (V + 2 + C,).
    """
    for i in range(len(right)):
        right[i] = 0.0
        for j in range(len(right)):
            system[i, j] = 0.0
    effects(ahead, step, half, strides, knots, group, added, longer, size, frames, here, parts)
    for c in range(len(frames)):
        here[c, 0], here[c, 1] = path[0, 0] + here[c, 0], path[0, 1] + here[c, 1]
    assemble(planned, limits, group, added, size, stiff, held, straightens, system, right)
    count, last = size + len(knots), len(frames) - 1
    for r in range(2):
        for i in range(count):
            system[count + r, i] = system[i, count + r] = parts[last, r, i]
    right[count], right[count + 1] = x - here[last, 0], y - here[last, 1]


@kernel
def apply_change(
    path: FloatArray, ahead: FloatArray, step: IntArray, half: FloatArray, strides: FloatArray, group: IntArray,
    change: FloatArray, size: int, farthest: float, added: FloatArray, longer: FloatArray, held: FloatArray,
) -> None:  # fmt: skip
    """Change headings and lengths, as far as a path may move at once.

    Args:
        path: the path as planned; (F, 3).
        ahead: as in `moved`.
        step: as in `moved`.
        half: as in `moved`.
        strides: as in `moved`.
        group: as in `assemble`.
        change: change of each variable; (V,).
        size: number of groups that are variables.
        farthest: farthest that any frame may go [m]; infinity for any distance.
        added: what is added to the heading at each knot [rad], changed; (K + 1,).
        longer: by which share steps are longer at each knot, changed; (K + 1,).
        held: cost of stretching each knot that is stretched as far as it may be, written; (K + 1,).
    """
    knots, most = len(group), 0.0
    for k in range(knots):
        if 0 < group[k] <= size:
            most = max(most, abs(change[group[k] - 1]))
    part = min(1.0, STEP / max(most, STEP))
    old_added, old_longer = added.copy(), longer.copy()
    limited = not math.isinf(farthest)
    count = len(ahead) + 1 if limited else 0
    before, after = np.empty((count, 2)), np.empty((count, 2))
    if limited:
        lay_places(path, ahead, step, half, strides, added, longer, before)
    while True:
        for k in range(knots):
            turn = change[group[k] - 1] if 0 < group[k] <= size else 0.0
            wanted = old_longer[k] + part * change[size + k]
            added[k] = old_added[k] + part * turn
            longer[k] = min(max(wanted, SHORTEST - 1.0), LONGEST - 1.0)
            held[k] = HELD if wanted != longer[k] else 0.0
        if not limited:
            break
        lay_places(path, ahead, step, half, strides, added, longer, after)
        away = 0.0
        for frame in range(count):
            away = max(away, math.hypot(after[frame, 0] - before[frame, 0], after[frame, 1] - before[frame, 1]))
        if away <= 1.5 * farthest:
            break
        part *= farthest / away
