"""Texture coordinates of bodies: each garment is cut like cloth for a tailor and laid out flat on a square of its own.

Parts of a body that are tubes (trunk, arms, legs, hair) are cut open along one line, at the back or on the inner side,
and rolled out around their axis. Palms and fingers are halves that lie side by side. All parts of a garment have the
same scale, none covers another, and up on the body is up on the square.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.motion.skeleton import Skeleton

_GAP = 0.012
"""Free room around each part, as a share of the square."""
_REGIONS = ("trunk", "head", "left_arm", "right_arm", "left_hand", "right_hand", "left_leg", "right_leg", "foot")
_SHELL = 0.12
"""Share of a part that faces inwards from which on it counts as a shell, whose inner side is laid out apart."""
_UPRIGHT = ("trunk", "head")
"""Regions that are rolled out around the vertical."""
_ROOTS = {
    "left_shoulder": "left_arm", "right_shoulder": "right_arm", "left_wrist": "left_hand", "right_wrist": "right_hand",
    "left_hip": "left_leg", "right_hip": "right_leg", "left_ankle": "foot", "right_ankle": "foot",
    "neck": "head", "head": "head",
}  # fmt: skip
"""Role of the joint at which a region begins."""


@dataclass(frozen=True, eq=False)
class Unwrapped:
    """A mesh with texture coordinates; vertices on a cut are there twice."""

    source: IntArray
    """The vertex of the given mesh that each vertex was; (W,)."""
    triangles: IntArray
    """Corners by the new numbers; (T, 3), in the given order."""
    uvs: FloatArray
    """u to the right and v down, 0..1, on a square for each material; (W, 2)."""


def unwrapped(
    skeleton: Skeleton,
    points: FloatArray,
    joints: IntArray,
    triangles: IntArray,
    pieces: IntArray,
    material_of: IntArray,
) -> Unwrapped:
    """Give texture coordinates to a body.

    Args:
        skeleton: its joints.
        points: vertices in the rest pose, which stands upright and faces +X [m]; (V, 3).
        joints: the joint that moves each vertex most; (V,).
        triangles: (T, 3).
        pieces: the closed piece of the body that each triangle belongs to; (T,).
        material_of: material of each triangle; (T,).
    """
    region = _regions(skeleton)[joints[triangles]].max(
        axis=1
    )  # the outer one where two meet, so that cuts are straight
    keys = np.column_stack([material_of, pieces, region, _halves(points, triangles, pieces, region)])
    tubes, tube_of = np.unique(keys, axis=0, return_inverse=True)
    for tube in np.flatnonzero(tubes[:, 3] == _WHOLE):
        rows = np.flatnonzero(tube_of.reshape(-1) == tube)
        inner, area = _faces_inwards(points, triangles[rows], _REGIONS[tubes[tube, 2]])
        if area[inner].sum() > _SHELL * area.sum():  # hair and skirts, but not the hem of a sleeve
            keys[rows[inner], 3] = _LINING
    charts, chart_of = np.unique(keys, axis=0, return_inverse=True)
    chart_of = chart_of.reshape(-1)
    flat, new_triangles, source = [], np.empty_like(triangles), []
    sizes = np.empty((len(charts), 2))
    first, count = [], 0
    for chart, (_, _, where, part) in enumerate(charts):
        rows = np.flatnonzero(chart_of == chart)
        if part in (_WHOLE, _LINING):
            own, corners, spots = _rolled_out(points, triangles[rows], _REGIONS[where])
        else:
            own, corners, spots = _seen_flat(points, triangles[rows], int(part))
        new_triangles[rows] = corners + count
        spots = spots - spots.min(axis=0)
        sizes[chart] = spots.max(axis=0)
        flat.append(spots)
        source.append(own)
        first.append(count)
        count += len(own)
    uvs = np.empty((count, 2))
    for material in np.unique(charts[:, 0]):
        members = np.flatnonzero(charts[:, 0] == material)
        lower, side = _laid_out(sizes[members])
        for chart, corner in zip(members.tolist(), lower, strict=True):
            uvs[first[chart] : first[chart] + len(flat[chart])] = (corner + flat[chart]) / side
    uvs[:, 1] = 1.0 - uvs[:, 1]  # v runs down
    return Unwrapped(np.concatenate(source), new_triangles, uvs)


def _regions(skeleton: Skeleton) -> IntArray:
    """Return the region of each joint, as an index into `_REGIONS`; (J,)."""
    begins = {skeleton.roles[role]: _REGIONS.index(name) for role, name in _ROOTS.items() if role in skeleton.roles}
    out = np.zeros(len(skeleton), np.int64)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        out[joint] = begins.get(joint, out[parent] if parent >= 0 else 0)
    return out


_WHOLE, _LINING, _FRONT, _REAR, _ABOVE, _BELOW = range(6)
"""Parts of a region: rolled out as a whole, the inner side of a shell (hair, hems), or halves seen from one side."""


def _faces_inwards(points: FloatArray, triangles: IntArray, region: str) -> tuple[BoolArray, FloatArray]:
    """Return which triangles of a tube face its axis (T,), and twice their areas [m2] (T,)."""
    spots = points[np.unique(triangles)]
    middle = 0.5 * (spots.min(axis=0) + spots.max(axis=0))
    axis, _ = _axis(spots - middle, region)
    corners = points[triangles]
    facing = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    away = corners.mean(axis=1) - middle
    out = away - (away @ axis)[:, None] * axis
    area = np.linalg.norm(facing, axis=1)
    inwards: BoolArray = np.einsum("tc,tc->t", facing, out) < -0.25 * area * np.linalg.norm(out, axis=1)
    return inwards, area


def _halves(points: FloatArray, triangles: IntArray, pieces: IntArray, region: IntArray) -> IntArray:
    """Return which part of its region each triangle belongs to; (T,).

    Fingers are bent, so that they cannot be rolled out around a line. They are halved by the plane that they bend in.
    """
    hand = np.isin(region, [_REGIONS.index("left_hand"), _REGIONS.index("right_hand")])
    beyond = np.unique(pieces[~hand])  # pieces that are more than a finger
    finger = hand & ~np.isin(pieces, beyond)
    corners = points[triangles]
    facing = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    out = np.where(hand, np.where(facing[:, 2] >= 0.0, _ABOVE, _BELOW), _WHOLE)
    return np.where(finger, np.where(facing[:, 0] >= 0.0, _FRONT, _REAR), out)


def _seen_flat(points: FloatArray, triangles: IntArray, part: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Return triangles as they are seen from the front, the rear, above or below; see `_rolled_out`."""
    used, corners = np.unique(triangles, return_inverse=True)
    x, y, z = points[used].T
    right, up = {_FRONT: (y, z), _REAR: (-y, z), _ABOVE: (-y, x), _BELOW: (y, x)}[part]
    return used, corners.reshape(-1, 3), np.column_stack([right, up])


def _rolled_out(points: FloatArray, triangles: IntArray, region: str) -> tuple[IntArray, IntArray, FloatArray]:
    """Roll triangles out around their axis.

    Returns:
        The vertices used (twice on the cut), the corners by their place in that list, and their places on the plane.
    """
    used, corners = np.unique(triangles, return_inverse=True)
    corners = corners.reshape(-1, 3)
    spots = points[used]
    middle = 0.5 * (spots.min(axis=0) + spots.max(axis=0))
    axis, front = _axis(spots - middle, region)
    side = np.cross(axis, front)
    along, ahead, aside = ((spots - middle) @ d for d in (axis, front, side))
    away = np.hypot(ahead, aside)
    radius = float(np.sqrt((away**2).mean()))
    angle = np.arctan2(aside, ahead)[corners]  # the cut is opposite to the front
    # a point on the axis, or close to it, has no angle of its own: it takes that of the other corners of its triangle
    apart = np.abs(np.angle(np.exp(1j * (angle - np.roll(angle, -1, axis=1)))))  # of each corner and the next
    odd = (apart > 1.0) & (np.roll(apart, 1, axis=1) > 1.0) & (np.roll(apart, -1, axis=1) < 0.9)
    pole = odd | (away[corners] < 0.08 * radius)
    # corners of a triangle that lies across the cut are brought to one side of it
    low, high = (f(np.where(pole, empty, angle), axis=1) for f, empty in ((np.min, np.inf), (np.max, -np.inf)))
    angle = np.where((high - low > np.pi)[:, None] & (angle < 0.0), angle + 2.0 * np.pi, angle)
    others = np.where(pole, 0.0, angle).sum(axis=1) / np.maximum((~pole).sum(axis=1), 1)
    angle = np.where(pole, others[:, None], angle)
    keys = np.column_stack([corners.ravel(), np.round(angle.ravel(), 7)])
    kept, new = np.unique(keys, axis=0, return_inverse=True)
    source = kept[:, 0].astype(np.int64)
    # seen from outside, angles grow to the right
    return used[source], new.reshape(-1, 3), np.column_stack([radius * kept[:, 1], along[source]])


def _axis(spots: FloatArray, region: str) -> tuple[FloatArray, FloatArray]:
    """Return the axis of a part, upwards or outwards, and the direction away from its cut, at right angles to it."""
    up, ahead = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    axis = up
    if region not in _UPRIGHT:
        _, _, rows = np.linalg.svd(spots, full_matrices=False)
        axis = rows[0]
        strongest = int(np.abs(axis).argmax())
        axis = axis * np.sign(axis[strongest])
    front = up if region.endswith(("arm", "hand", "foot")) else ahead
    if region.endswith("leg"):
        front = np.array([0.3, 1.0 if region.startswith("left") else -1.0, 0.0])
    front = front - axis * (front @ axis)
    if np.linalg.norm(front) < 1e-3:
        front = ahead - axis * axis[0] if abs(axis[0]) < 0.9 else up - axis * axis[2]
    return axis, front / np.linalg.norm(front)


def _laid_out(sizes: FloatArray) -> tuple[FloatArray, float]:
    """Lay rectangles (N, 2) out in rows on a square.

    Returns:
        The lower corner of each (N, 2), and the side of the square.
    """
    side = float(np.sqrt(np.prod(sizes + 1e-6, axis=1).sum()))
    side = max(side, float(sizes.max()) / (1.0 - 2.0 * _GAP))
    while True:
        gap, corners = _GAP * side, np.empty_like(sizes)
        x, y, tall = gap, gap, 0.0
        for i in np.argsort(-sizes[:, 1], kind="stable"):
            if x + sizes[i, 0] + gap > side and x > gap:
                x, y, tall = gap, y + tall + gap, 0.0
            corners[i] = x, y
            x, tall = x + sizes[i, 0] + gap, max(tall, float(sizes[i, 1]))
        wide = float((corners + sizes).max()) + gap
        if wide <= side * (1.0 + 1e-9):
            return corners, side
        side *= 1.04
