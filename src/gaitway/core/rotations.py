"""Rotations as unit quaternions, scalar first (w, x, y, z), over any leading batch axes.

Degenerate input has one defined answer everywhere:
a quaternion of zero length stands for the identity; lengths other than one are normalised where the result would
otherwise be wrong; q and -q are the same rotation, and functions that interpolate take the short way;
a rotation by exactly pi has two axes, and the one whose first non-zero component is positive is returned.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError

_SMALL = 1e-12
_AXES = {"x": 0, "y": 1, "z": 2}


def identity(*shape: int) -> FloatArray:
    """Return identity quaternions of shape (*shape, 4)."""
    q = np.zeros((*shape, 4))
    q[..., 0] = 1.0
    return q


def normalize(q: npt.ArrayLike) -> FloatArray:
    """Return unit quaternions (..., 4); a zero quaternion becomes the identity."""
    q = np.asarray(q, dtype=np.float64)
    length = _length(q)
    long = length > _SMALL
    if long.all():
        return np.asarray(q / length)
    return np.where(long, q / np.maximum(length, _SMALL), identity())


def _length(v: FloatArray) -> FloatArray:
    """Return the lengths of vectors (..., n); (..., 1). The same bits as `np.linalg.norm`, in half the time."""
    square = v * v
    total = square[..., 0]
    for k in range(1, v.shape[-1]):
        total = total + square[..., k]
    return np.asarray(np.sqrt(total)[..., None])


def multiply(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return the rotation `b` followed by the rotation `a` (Hamilton product), (..., 4)."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    aw, ax, ay, az = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bw, bx, by, bz = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    out = np.empty((*np.broadcast_shapes(a.shape[:-1], b.shape[:-1]), 4))
    out[..., 0] = aw * bw - ax * bx - ay * by - az * bz
    out[..., 1] = aw * bx + ax * bw + ay * bz - az * by
    out[..., 2] = aw * by - ax * bz + ay * bw + az * bx
    out[..., 3] = aw * bz + ax * by - ay * bx + az * bw
    return out


def conjugate(q: npt.ArrayLike) -> FloatArray:
    """Return the inverse of unit quaternions (..., 4)."""
    out: FloatArray = np.asarray(q, dtype=np.float64) * np.array([1.0, -1.0, -1.0, -1.0])
    return out


def rotate(q: npt.ArrayLike, v: npt.ArrayLike) -> FloatArray:
    """Rotate vectors `v` (..., 3) by quaternions `q` (..., 4) of any length; batch axes broadcast."""
    q, v = np.asarray(q, dtype=np.float64), np.asarray(v, dtype=np.float64)
    u = q[..., 1:]
    square = np.einsum("...i,...i->...", q, q)[..., None]
    t = cross(u, v) * (2.0 / np.where(square > _SMALL * _SMALL, square, 1.0))
    out: FloatArray = v + q[..., :1] * t + cross(u, t)
    return out


def cross(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return cross products of vectors (..., 3); several times as fast as `np.cross` on one vector or a million."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    out = np.empty((*np.broadcast_shapes(a.shape[:-1], b.shape[:-1]), 3))
    out[..., 0] = ay * bz - az * by
    out[..., 1] = az * bx - ax * bz
    out[..., 2] = ax * by - ay * bx
    return out


def from_axis_angle(axis: npt.ArrayLike, angle: npt.ArrayLike) -> FloatArray:
    """Return rotations by `angle` [rad] (...) about `axis` (..., 3), which need not be a unit vector.

    A zero axis gives the identity.
    """
    axis = np.asarray(axis, dtype=np.float64)
    half = 0.5 * np.asarray(angle, dtype=np.float64)[..., None]
    length = np.linalg.norm(axis, axis=-1, keepdims=True)
    unit = np.where(length > _SMALL, axis / np.maximum(length, _SMALL), 0.0)
    vector = np.sin(half) * unit
    scalar = np.where(length > _SMALL, np.cos(half), 1.0)
    return np.concatenate([np.broadcast_to(scalar, (*vector.shape[:-1], 1)), vector], axis=-1)


def from_yaw(heading: npt.ArrayLike) -> FloatArray:
    """Return the rotation by `heading` [rad] about the vertical, (..., 4)."""
    half = 0.5 * np.asarray(heading, dtype=np.float64)
    zero = np.zeros_like(half)
    return np.stack([np.cos(half), zero, zero, np.sin(half)], axis=-1)


def from_rotation_vector(v: npt.ArrayLike) -> FloatArray:
    """Return the quaternions (..., 4) of rotation vectors [rad] (..., 3); zero gives the identity."""
    v = np.asarray(v, dtype=np.float64)
    angle = _length(v)
    # sin(a/2)/a by its series near zero, where the quotient loses its digits
    scale = np.where(angle > 1e-6, np.sin(0.5 * angle) / np.maximum(angle, 1e-6), 0.5 - angle**2 / 48.0)
    return np.concatenate([np.cos(0.5 * angle), scale * v], axis=-1)


def to_rotation_vector(q: npt.ArrayLike) -> FloatArray:
    """Return the rotation vectors [rad] (..., 3), of length pi at most, of quaternions (..., 4)."""
    q = normalize(q)
    at_pi, flip = np.abs(q[..., :1]) <= 1e-15, q[..., :1] < 0.0
    if at_pi.any():
        vector = q[..., 1:]
        first = np.take_along_axis(vector, np.argmax(np.abs(vector) > _SMALL, axis=-1)[..., None], axis=-1)
        flip = np.where(at_pi, first < 0.0, flip)
    if flip.any():
        q = np.where(flip, -q, q)
    sine = _length(q[..., 1:])
    angle = 2.0 * np.arctan2(sine, q[..., :1])
    scale = np.where(sine > 1e-7, angle / np.maximum(sine, 1e-7), 2.0)
    out: FloatArray = scale * q[..., 1:]
    return out


def to_matrix(q: npt.ArrayLike) -> FloatArray:
    """Return the rotation matrices (..., 3, 3) of quaternions (..., 4)."""
    q = normalize(q)
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    m = np.empty((*q.shape[:-1], 3, 3))
    m[..., 0, 0], m[..., 0, 1], m[..., 0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    m[..., 1, 0], m[..., 1, 1], m[..., 1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    m[..., 2, 0], m[..., 2, 1], m[..., 2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    return m


def from_matrix(m: npt.ArrayLike) -> FloatArray:
    """Return the quaternions (..., 4) of rotation matrices (..., 3, 3), stable for every angle."""
    m = np.asarray(m, dtype=np.float64)
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    # four times each product q_i q_j; the row of the largest diagonal divides by the largest number
    k = np.empty((*m.shape[:-2], 4, 4))
    k[..., 0, 0], k[..., 1, 1] = 1 + xx + yy + zz, 1 + xx - yy - zz
    k[..., 2, 2], k[..., 3, 3] = 1 - xx + yy - zz, 1 - xx - yy + zz
    k[..., 0, 1] = k[..., 1, 0] = m[..., 2, 1] - m[..., 1, 2]
    k[..., 0, 2] = k[..., 2, 0] = m[..., 0, 2] - m[..., 2, 0]
    k[..., 0, 3] = k[..., 3, 0] = m[..., 1, 0] - m[..., 0, 1]
    k[..., 1, 2] = k[..., 2, 1] = m[..., 1, 0] + m[..., 0, 1]
    k[..., 1, 3] = k[..., 3, 1] = m[..., 0, 2] + m[..., 2, 0]
    k[..., 2, 3] = k[..., 3, 2] = m[..., 2, 1] + m[..., 1, 2]
    best = np.argmax(np.diagonal(k, axis1=-2, axis2=-1), axis=-1)
    q = normalize(np.take_along_axis(k, best[..., None, None], axis=-2)[..., 0, :])
    return np.where(q[..., :1] < 0.0, -q, q)


def from_euler(order: str, angles: npt.ArrayLike) -> FloatArray:
    """Return the quaternions (..., 4) of Euler angles [rad] (..., n), multiplied left to right.

    `order` names the axes, one letter an angle: "zyx" is Rz Ry Rx, as a BVH file with the channels
    Zrotation Yrotation Xrotation means it. Axes may repeat and there may be any number of them.
    """
    angles = np.asarray(angles, dtype=np.float64)
    if len(order) != angles.shape[-1] or any(c not in _AXES for c in order.lower()):
        raise GaitwayError(f"Euler order '{order}' must have one of x, y, z for each of {angles.shape[-1]} angles")
    q = identity(*angles.shape[:-1])
    for i, letter in enumerate(order.lower()):
        turn = np.zeros((*angles.shape[:-1], 4))
        turn[..., 0] = np.cos(0.5 * angles[..., i])
        turn[..., 1 + _AXES[letter]] = np.sin(0.5 * angles[..., i])
        q = multiply(q, turn)
    return q


def to_euler(order: str, q: npt.ArrayLike) -> FloatArray:
    """Return Euler angles [rad] (..., 3) about three different axes, the inverse of `from_euler(order, ...)`.

    The middle angle is within +-pi/2. At +-pi/2 (gimbal lock) the third angle is set to zero.
    """
    if sorted(order.lower()) != ["x", "y", "z"]:
        raise GaitwayError(f"Euler order '{order}' must name each of x, y, z once")
    i, j, k = (_AXES[c] for c in order.lower())
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    m = to_matrix(q)
    across = np.hypot(m[..., i, i], m[..., i, j])  # cosine of the middle angle; arcsin would lose half the digits
    middle = np.arctan2(sign * m[..., i, k], across)
    locked = across < 1e-9
    first = np.where(
        locked, np.arctan2(sign * m[..., k, j], m[..., j, j]), np.arctan2(-sign * m[..., j, k], m[..., k, k])
    )
    third = np.where(locked, 0.0, np.arctan2(-sign * m[..., i, j], m[..., i, i]))
    return np.stack([first, middle, third], axis=-1)


def slerp(a: npt.ArrayLike, b: npt.ArrayLike, t: npt.ArrayLike) -> FloatArray:
    """Interpolate spherically the short way; t (...) goes from 0 (`a`) to 1 (`b`); (..., 4)."""
    a, b = normalize(a), normalize(b)
    t = np.asarray(t, dtype=np.float64)[..., None]
    cosine = np.sum(a * b, axis=-1, keepdims=True)
    b = np.where(cosine < 0.0, -b, b)
    cosine = np.minimum(np.abs(cosine), 1.0)
    angle = np.arctan2(np.linalg.norm(b - cosine * a, axis=-1, keepdims=True), cosine)
    sine = np.sin(angle)
    near = sine < 1e-6  # straight line: its error is of third order in an angle this small
    safe = np.where(near, 1.0, sine)
    wa = np.where(near, 1.0 - t, np.sin((1.0 - t) * angle) / safe)
    wb = np.where(near, t, np.sin(t * angle) / safe)
    return normalize(wa * a + wb * b)


def between(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return the shortest rotation that turns direction `a` (..., 3) into direction `b` (..., 3).

    Opposite directions turn by pi about some axis at right angles to both; a zero vector gives the identity.
    """
    a, b = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
    lengths = np.linalg.norm(a, axis=-1, keepdims=True) * np.linalg.norm(b, axis=-1, keepdims=True)
    cosine = np.sum(a * b, axis=-1, keepdims=True)
    q = np.concatenate([lengths + cosine, cross(a, b)], axis=-1)
    helper = np.where(np.abs(a[..., :1]) < np.abs(a[..., 1:2]), [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    turned = np.concatenate([np.zeros_like(cosine), cross(a, helper)], axis=-1)
    opposite = lengths + cosine < 1e-9 * np.maximum(lengths, _SMALL)
    return normalize(np.where(opposite & (lengths > _SMALL), turned, q))


def angle_between(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return the angle [rad] (...) in 0..pi of the rotation that takes quaternions `a` into `b`, precise near zero."""
    a, b = normalize(a), normalize(b)
    b = np.where(np.sum(a * b, axis=-1, keepdims=True) < 0.0, -b, b)
    out: FloatArray = 4.0 * np.arctan2(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))
    return out


def mean(q: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> FloatArray:
    """Return the chordal mean over the first axis: (n, ..., 4) to (..., 4), whatever the signs of the inputs."""
    q = normalize(q)
    w = np.ones(len(q)) if weights is None else np.asarray(weights, dtype=np.float64)
    products = np.einsum("n,n...i,n...j->...ij", w, q, q)
    vectors = np.linalg.eigh(products)[1][..., -1]
    return np.where(vectors[..., :1] < 0.0, -vectors, vectors)


def continuous(q: npt.ArrayLike) -> FloatArray:
    """Return the same rotations with signs chosen so that neighbours along axis 0 lie on the same side; (F, ..., 4)."""
    q = np.array(q, dtype=np.float64)
    if len(q) > 1:
        flips = np.sum(q[1:] * q[:-1], axis=-1) < 0.0
        signs = np.where(np.cumsum(flips, axis=0) % 2 == 1, -1.0, 1.0)
        q[1:] *= signs[..., None]
    return q


def swing_twist(q: npt.ArrayLike, axis: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Split q = swing * twist, the twist about the unit `axis` (..., 3); both (..., 4).

    A swing of exactly pi leaves the twist undefined; it is then the identity.
    """
    q, axis = normalize(q), np.asarray(axis, dtype=np.float64)
    along = np.sum(q[..., 1:] * axis, axis=-1, keepdims=True)
    twist = normalize(np.concatenate([q[..., :1], along * axis], axis=-1))
    return multiply(q, conjugate(twist)), twist
