"""Compiled loops of `gaitway.take`: from segment tables to poses.

Tables that the loops share, S segments and P frames of one skeleton's pool:

* `numbers` (S, 9): start [s], frame of the clip at the start, frames a second, x, y [m], cosine and sine of half the
  heading, height [m], fade [s];
* `places` (S, 3): first pool row of the clip, its number of frames, pool row of the fade's frame 0 (-1: no row);
* `frame_roots` (P, 3) and `frames` (P + fade rows, J, 4) in single precision.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gaitway._jit import kernel
from gaitway.arrays import FloatArray, IntArray

Single = npt.NDArray[np.float32]
Quaternion = tuple[float, float, float, float]
Placed = tuple[float, float, float, float, float, float, float]

SLACK = 1e-9
"""Times that differ by less count as equal [s]."""
SNAP = 1e-6
"""A moment this near to a frame, in frames, is that frame."""
STRAIGHT = 0.9995
"""Cosine above which slerp is done by the corrected straight line."""


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
def _frame_at(numbers: FloatArray, s: int, t: float) -> float:
    """The frame of its clip, unbounded, that segment `s` shows at a time."""
    u = float(numbers[s, 1] + numbers[s, 2] * (t - numbers[s, 0]))
    nearest = float(np.floor(u + 0.5))
    return nearest if abs(u - nearest) < SNAP else u


@kernel
def _between(u: float, count: int) -> tuple[int, float]:
    """The frame at or before `u` among `count`, and how far beyond it, in frames; the ends are held."""
    if u <= 0.0:
        return 0, 0.0
    if u >= count - 1.0:
        return count - 1, 0.0
    low = int(u)
    return low, u - low


@kernel
def _line(a: Quaternion, b: Quaternion, t: float, cosine: float) -> Quaternion:
    """From `a` to `b` (on its side: `cosine` >= 0) along the chord, with the uneven speed of that corrected.

    The error of the angle is of fifth order in the angle between the two.
    """
    s = t + (1.0 - cosine) * t * (1.0 - t) * (1.0 - 2.0 * t) / 3.0
    r = 1.0 - s
    w, x, y, z = r * a[0] + s * b[0], r * a[1] + s * b[1], r * a[2] + s * b[2], r * a[3] + s * b[3]
    scale = 1.0 / np.sqrt(w * w + x * x + y * y + z * z)
    return w * scale, x * scale, y * scale, z * scale


@kernel
def _slerp(a: Quaternion, b: Quaternion, t: float) -> Quaternion:
    """Spherical interpolation the short way."""
    cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    if cosine < 0.0:
        b, cosine = (-b[0], -b[1], -b[2], -b[3]), -cosine
    if cosine > STRAIGHT:
        return _line(a, b, t, cosine)
    angle = np.arccos(cosine)
    scale = 1.0 / np.sin(angle)
    wa, wb = np.sin((1.0 - t) * angle) * scale, np.sin(t * angle) * scale
    return wa * a[0] + wb * b[0], wa * a[1] + wb * b[1], wa * a[2] + wb * b[2], wa * a[3] + wb * b[3]


@kernel
def _nlerp(a: Quaternion, b: Quaternion, t: float) -> Quaternion:
    """Between neighbouring frames, which are never far apart; exact at t = 0."""
    if t == 0.0:
        return a
    cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    if cosine < 0.0:
        b, cosine = (-b[0], -b[1], -b[2], -b[3]), -cosine
    return _line(a, b, t, min(cosine, 1.0))


@kernel
def _quaternion(frames: Single, row: int, j: int) -> Quaternion:
    """One rotation in double precision; single times single would be single."""
    return float(frames[row, j, 0]), float(frames[row, j, 1]), float(frames[row, j, 2]), float(frames[row, j, 3])


@kernel
def _times(a: Quaternion, b: Quaternion) -> Quaternion:
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@kernel
def _sampled(frames: Single, first: int, count: int, u: float, j: int) -> Quaternion:
    """A joint's rotation at frame `u` of a clip."""
    low, t = _between(u, count)
    if t == 0.0:
        return _quaternion(frames, first + low, j)
    return _nlerp(_quaternion(frames, first + low, j), _quaternion(frames, first + low + 1, j), t)


@kernel
def _weight(numbers: FloatArray, s: int, k: float) -> tuple[float, float]:
    """When segment `s` shows frame `k` [s], and how far it has faded in by then, 0 to 1."""
    t = numbers[s, 0] + (k - numbers[s, 1]) / numbers[s, 2]
    share = min(max((t - numbers[s, 0]) / numbers[s, 8], 0.0), 1.0)
    return t, share * share * (3.0 - 2.0 * share)


@kernel
def _faded(numbers: FloatArray, places: IntArray, frames: Single, s: int, k: int, j: int) -> Quaternion:
    """Joint `j` (not the root) where segment `s`, fading in, shows frame `k` of its clip."""
    t, weight = _weight(numbers, s, k)
    before = _sampled(frames, places[s - 1, 0], places[s - 1, 1], _frame_at(numbers, s - 1, t), j)
    after = _sampled(frames, places[s, 0], places[s, 1], float(k), j)
    return _slerp(before, after, weight)


@kernel
def fill_fades(numbers: FloatArray, places: IntArray, fades: IntArray, counts: IntArray, frames: Single) -> None:
    """Write the frames of fades into their pool rows.

    Args:
        numbers: see the top of the module.
        places: see the top of the module.
        fades: for each fade a segment that has it, its first frame and the pool row of that; (D, 3).
        counts: frames of each fade; (D,).
        frames: the pool, written to.
    """
    for d in range(len(fades)):
        s, first, row = fades[d, 0], fades[d, 1], fades[d, 2]
        for i in range(counts[d]):
            for j in range(1, frames.shape[1]):
                q = _faded(numbers, places, frames, s, first + i, j)
                for k in range(4):
                    frames[row + i, j, k] = q[k]


@kernel
def _placed_root(
    numbers: FloatArray, places: IntArray, frame_roots: Single, frames: Single, s: int, u: float
) -> Placed:
    """World position and rotation of the root at frame `u` of the clip of segment `s`."""
    low, t = _between(u, places[s, 1])
    row = places[s, 0] + low
    x, y, z = float(frame_roots[row, 0]), float(frame_roots[row, 1]), float(frame_roots[row, 2])
    q = _quaternion(frames, row, 0)
    if t > 0.0:
        x += t * (frame_roots[row + 1, 0] - x)
        y += t * (frame_roots[row + 1, 1] - y)
        z += t * (frame_roots[row + 1, 2] - z)
        q = _nlerp(q, _quaternion(frames, row + 1, 0), t)
    c, h = numbers[s, 5], numbers[s, 6]
    cosine, sine = c * c - h * h, 2.0 * c * h
    return (
        numbers[s, 3] + cosine * x - sine * y,
        numbers[s, 4] + sine * x + cosine * y,
        z + numbers[s, 7],
        c * q[0] - h * q[3],
        c * q[1] - h * q[2],
        c * q[2] + h * q[1],
        c * q[3] + h * q[0],
    )


@kernel
def _faded_root(numbers: FloatArray, places: IntArray, frame_roots: Single, frames: Single, s: int, k: int) -> Placed:
    """World position and rotation of the root where segment `s`, fading in, shows frame `k` of its clip."""
    t, weight = _weight(numbers, s, k)
    a = _placed_root(numbers, places, frame_roots, frames, s - 1, _frame_at(numbers, s - 1, t))
    b = _placed_root(numbers, places, frame_roots, frames, s, float(k))
    q = _slerp((a[3], a[4], a[5], a[6]), (b[3], b[4], b[5], b[6]), weight)
    x, y, z = a[0] + weight * (b[0] - a[0]), a[1] + weight * (b[1] - a[1]), a[2] + weight * (b[2] - a[2])
    return x, y, z, q[0], q[1], q[2], q[3]


@kernel
def _mixed(a: Placed, b: Placed, t: float) -> Placed:
    q = _nlerp((a[3], a[4], a[5], a[6]), (b[3], b[4], b[5], b[6]), t)
    x, y, z = a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2])
    return x, y, z, q[0], q[1], q[2], q[3]


@kernel
def _write_root(placed: Placed, root: FloatArray, local: FloatArray) -> None:
    root[0], root[1], root[2] = placed[0], placed[1], placed[2]
    local[0, 0], local[0, 1], local[0, 2], local[0, 3] = placed[3], placed[4], placed[5], placed[6]


@kernel
def _write_rows(frames: Single, low: int, high: int, t: float, local: FloatArray) -> None:
    """All joints but the root, from pool row `low`, or between it and `high`."""
    for j in range(1, local.shape[0]):
        q = _nlerp(_quaternion(frames, low, j), _quaternion(frames, high, j), t)
        local[j, 0], local[j, 1], local[j, 2], local[j, 3] = q


@kernel
def _write_pose(
    numbers: FloatArray,
    places: IntArray,
    frame_roots: Single,
    frames: Single,
    s: int,
    time: float,
    root: FloatArray,
    local: FloatArray,
) -> None:
    """Root position (3,) and local rotations (J, 4) of one character without its layers."""
    u = _frame_at(numbers, s, time)
    if numbers[s, 8] <= 0.0 or time - numbers[s, 0] >= numbers[s, 8] - SLACK:
        _write_root(_placed_root(numbers, places, frame_roots, frames, s, u), root, local)
        low, t = _between(u, places[s, 1])
        row = places[s, 0] + low
        _write_rows(frames, row, row + 1 if t > 0.0 else row, t, local)
        return
    k = int(np.floor(u))
    t = u - k
    placed = _faded_root(numbers, places, frame_roots, frames, s, k)
    if t > 0.0:
        placed = _mixed(placed, _faded_root(numbers, places, frame_roots, frames, s, k + 1), t)
    _write_root(placed, root, local)
    if places[s, 2] >= 0:
        row = places[s, 2] + k
        _write_rows(frames, row, row + 1 if t > 0.0 else row, t, local)
        return
    for j in range(1, local.shape[0]):
        q = _faded(numbers, places, frames, s, k, j)
        if t > 0.0:
            q = _nlerp(q, _faded(numbers, places, frames, s, k + 1, j), t)
        local[j, 0], local[j, 1], local[j, 2], local[j, 3] = q


@kernel
def _turn_at(turns: Single, low: int, step: int, t: float) -> Quaternion:
    """A layer's rotation between row `low` and the one `step` rows on."""
    a = (float(turns[low, 0]), float(turns[low, 1]), float(turns[low, 2]), float(turns[low, 3]))
    if t == 0.0:
        return a
    high = low + step
    b = (float(turns[high, 0]), float(turns[high, 1]), float(turns[high, 2]), float(turns[high, 3]))
    return _nlerp(a, b, t)


@kernel
def _add_layers(
    layer_rows: IntArray,
    layer_starts: FloatArray,
    layer_places: IntArray,
    layer_joints: IntArray,
    turns: Single,
    moves: Single,
    fps: float,
    c: int,
    time: float,
    root: FloatArray,
    local: FloatArray,
) -> None:
    """Turn and move what the layers of character `c` say; see `gaitway.take.pool.LayerTable` for the tables."""
    for i in range(layer_rows[c], layer_rows[c + 1]):
        u = (time - layer_starts[i]) * fps
        nearest = np.floor(u + 0.5)
        u = nearest if abs(u - nearest) < SNAP else u
        count, width = layer_places[i, 0], layer_places[i, 1]
        if u < 0.0 or u > count - 1:
            continue
        low, t = _between(u, count)
        for k in range(width):
            j = layer_joints[layer_places[i, 2] + k]
            if j < local.shape[0]:
                turn = _turn_at(turns, layer_places[i, 3] + low * width + k, width, t)
                q = _times((local[j, 0], local[j, 1], local[j, 2], local[j, 3]), turn)
                local[j, 0], local[j, 1], local[j, 2], local[j, 3] = q
        if layer_places[i, 4] >= 0:
            turn = _turn_at(turns, layer_places[i, 4] + low, 1, t)
            q = _times(turn, (local[0, 0], local[0, 1], local[0, 2], local[0, 3]))
            local[0, 0], local[0, 1], local[0, 2], local[0, 3] = q
        if layer_places[i, 5] >= 0:
            row = layer_places[i, 5] + low
            for k in range(3):
                here = float(moves[row, k])
                root[k] += here if t == 0.0 else here + t * (moves[row + 1, k] - here)


@kernel
def _write_joints(
    parents: IntArray, offsets: FloatArray, root: FloatArray, local: FloatArray, at: FloatArray, world: FloatArray
) -> None:
    """Forward kinematics of one pose: positions (J, 3) and world rotations (J, 4)."""
    for j in range(local.shape[0]):
        p = parents[j]
        w, x, y, z = local[j, 0], local[j, 1], local[j, 2], local[j, 3]
        if p < 0:
            world[j, 0], world[j, 1], world[j, 2], world[j, 3] = w, x, y, z
            at[j, 0], at[j, 1], at[j, 2] = root[0], root[1], root[2]
            continue
        a, b, c, d = world[p, 0], world[p, 1], world[p, 2], world[p, 3]
        world[j, 0] = a * w - b * x - c * y - d * z
        world[j, 1] = a * x + b * w + c * z - d * y
        world[j, 2] = a * y - b * z + c * w + d * x
        world[j, 3] = a * z + b * y - c * x + d * w
        ox, oy, oz = offsets[j, 0], offsets[j, 1], offsets[j, 2]
        tx, ty, tz = 2.0 * (c * oz - d * oy), 2.0 * (d * ox - b * oz), 2.0 * (b * oy - c * ox)
        at[j, 0] = at[p, 0] + ox + a * tx + c * tz - d * ty
        at[j, 1] = at[p, 1] + oy + a * ty + d * tx - b * tz
        at[j, 2] = at[p, 2] + oz + a * tz + b * ty - c * tx


@kernel
def evaluate(
    characters: IntArray,
    segments: IntArray,
    times: FloatArray,
    numbers: FloatArray,
    places: IntArray,
    frame_roots: Single,
    frames: Single,
    layer_rows: IntArray,
    layer_starts: FloatArray,
    layer_places: IntArray,
    layer_joints: IntArray,
    turns: Single,
    moves: Single,
    fps: float,
    parents: IntArray,
    offsets: FloatArray,
    roots: FloatArray,
    local: FloatArray,
    positions: FloatArray,
    world: FloatArray,
) -> None:
    """Poses of N characters of one skeleton at N times; the last four arguments are written to.

    Args:
        characters: indices; (N,).
        segments: what plays, from `locate`; (N,).
        times: [s]; (N,).
        numbers: see the top of the module.
        places: see the top of the module.
        frame_roots: see the top of the module.
        frames: see the top of the module.
        layer_rows: first layer of each character; (C + 1,), or (0,) where there are no layers.
        layer_starts: times of the layers' first samples; (L,).
        layer_places: where their arrays begin; (L, 6).
        layer_joints: joints that layers turn.
        turns: rotations of layers.
        moves: root moves of layers.
        fps: rate of the layers.
        parents: of the joints; (J,).
        offsets: of the joints; (J, 3).
        roots: root positions; (N, 3).
        local: local rotations (N, J', 4) of the first J' joints; (1, J, 4) where joints are wanted, then overwritten.
        positions: world positions of the joints (N, J, 3), or (0, 0, 3) where not wanted.
        world: world rotations of the joints (N, J, 4), or (0, 0, 4).
    """
    wanted = len(positions) > 0
    for n in range(len(characters)):
        pose = local[0 if wanted else n]
        _write_pose(numbers, places, frame_roots, frames, segments[n], times[n], roots[n], pose)
        if len(layer_rows) > 0:
            _add_layers(
                layer_rows, layer_starts, layer_places, layer_joints, turns, moves, fps,
                characters[n], times[n], roots[n], pose,
            )  # fmt: skip
        if wanted:
            _write_joints(parents, offsets, roots[n], pose, positions[n], world[n])
