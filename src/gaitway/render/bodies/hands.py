"""Hands: fingers in the curl of a hand that does nothing, as meshes and as joints.

Bodies have real fingers. The skeletons of libraries end at the wrist, where the fingers follow the hand as one. Files
for riggers get a skeleton with joints for them (`with_fingers`), named as Mixamo names them: LeftHandIndex1 to 4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.skeleton import Skeleton
from gaitway.render.bodies.human_frame import BodyFrame, PersonLook, unit
from gaitway.render.bodies.palette import TONES
from gaitway.render.bodies.pieces import BodyPiece, bone_end, strongest
from gaitway.render.raster.mesh import loft

_AROUND = 6
"""Points around a finger."""


@dataclass(frozen=True)
class _Finger:
    """One finger. Points and directions are along the hand, across it to the thumb, and out of its back."""

    name: str
    base: tuple[float, float, float]
    """Its knuckle, from the wrist [m]."""
    lengths: tuple[float, float, float]
    """Lengths of its bones [m]."""
    straight: tuple[float, float, float]
    """Direction of the stretched finger."""
    curl_deg: tuple[float, float, float]
    """How far each bone is bent towards the palm, away from the one before [degrees]."""
    radii: tuple[float, float]
    """Half thickness at the knuckle and at the tip [m]."""


_FINGERS = (
    _Finger("Thumb", (0.026, 0.020, -0.006), (0.036, 0.031, 0.024), (0.80, 0.58, -0.16), (0, 12, 16), (0.0130, 0.0092)),
    _Finger("Index", (0.090, 0.0290, -0.001), (0.042, 0.025, 0.020), (1.0, 0.05, 0.0), (16, 26, 14), (0.0108, 0.0078)),
    _Finger("Middle", (0.093, 0.0090, 0.000), (0.046, 0.029, 0.021), (1.0, 0.0, 0.0), (18, 29, 15), (0.0110, 0.0079)),
    _Finger("Ring", (0.090, -0.0110, -0.001), (0.042, 0.027, 0.021), (1.0, -0.04, 0.0), (21, 32, 16), (0.0104, 0.0075)),
    _Finger(
        "Pinky", (0.083, -0.0295, -0.003), (0.033, 0.020, 0.018), (1.0, -0.10, 0.0), (24, 34, 17), (0.0091, 0.0066)
    ),
)
FINGERS = tuple(finger.name for finger in _FINGERS)
"""Names of the fingers, as joints have them."""


def hand_axes(frame: BodyFrame, side: str) -> FloatArray:
    """Return directions along the hand, across it to the thumb, and out of its back, as rows; (3, 3)."""
    joint = frame.skeleton.roles[f"{side}_wrist"]
    along = unit(frame.at(f"{side}_wrist") - frame.at(f"{side}_elbow"))
    skeleton = frame.skeleton
    ours = f"{skeleton.names[joint]}{FINGERS[1]}1" in skeleton.names  # the thumb does not show where the hand points
    end = np.array(skeleton.tips[joint]) if joint in skeleton.tips else None if ours else bone_end(skeleton, joint)
    if end is not None and np.dot(rotations.rotate(frame.turns[joint], end), along) > 0.5 * np.linalg.norm(end):
        along = unit(rotations.rotate(frame.turns[joint], end))
    # with level arms palms face down and thumbs forward
    across = unit(frame.forward - along * np.dot(frame.forward, along))
    back = np.cross(across, along) if side == "left" else np.cross(along, across)
    return np.stack([along, across, back])


def _turns(finger: _Finger, axes: FloatArray) -> FloatArray:
    """Return how the bones of a finger are turned away from the stretched finger, in the world of `axes`; (3, 4)."""
    straight = unit(np.array(finger.straight) @ axes)
    # the thumb bends across the palm, the others towards it
    towards = unit(np.array([0.0, -0.75, -0.66]) @ axes) if finger.name == "Thumb" else -axes[2]
    axis = np.cross(straight, towards)
    return np.stack([rotations.from_axis_angle(axis, a) for a in np.cumsum(np.radians(finger.curl_deg))])


def _line(finger: _Finger, wrist: FloatArray, axes: FloatArray, size: float) -> FloatArray:
    """Return the knuckle, the two joints and the tip of a finger [m]; (4, 3)."""
    straight = unit(np.array(finger.straight) @ axes)
    bones = np.array(finger.lengths)[:, None] * rotations.rotate(_turns(finger, axes), straight)
    start = wrist + size * (np.array(finger.base) @ axes)
    return np.concatenate([start[None], start + size * np.cumsum(bones, axis=0)])


def fingers(frame: BodyFrame, side: str) -> list[BodyPiece]:
    """Return the fingers of a hand, which come out of the palm; they follow joints of their own where there are any."""
    skeleton, size = frame.skeleton, frame.unit
    wrist, axes = frame.skeleton.roles[f"{side}_wrist"], hand_axes(frame, side)
    tone = TONES.index(f"skin_{side}")
    pieces = []
    for finger in _FINGERS:
        line = _line(finger, frame.at(f"{side}_wrist"), axes, size)
        names = [f"{skeleton.names[wrist]}{finger.name}{k}" for k in (1, 2, 3)]
        joints = [skeleton.names.index(n) if n in skeleton.names else wrist for n in names]
        pieces.append(_finger_piece(frame, finger, line, axes, wrist, joints, tone))
    return pieces


def _finger_piece(
    frame: BodyFrame, finger: _Finger, line: FloatArray, axes: FloatArray, wrist: int, joints: list[int], tone: int
) -> BodyPiece:
    size, girth = frame.unit, 0.5 + 0.5 * frame.look.girth
    begin = line[0] - 0.35 * (line[1] - line[0])  # inside the palm
    # place along the line (whole numbers are joints), thickness as a share, and shares of wrist and the three bones
    rows = (
        (-0.35, 0.92, (1.0, 0.0, 0.0, 0.0)), (0.05, 1.0, (0.5, 0.5, 0.0, 0.0)), (0.5, 0.94, (0.0, 1.0, 0.0, 0.0)),
        (1.0, 1.0, (0.0, 0.5, 0.5, 0.0)), (1.5, 0.92, (0.0, 0.0, 1.0, 0.0)), (2.0, 0.97, (0.0, 0.0, 0.5, 0.5)),
        (2.45, 0.98, (0.0, 0.0, 0.0, 1.0)), (2.82, 0.72, (0.0, 0.0, 0.0, 1.0)),
    )  # fmt: skip
    steps = 2.0 * np.pi * np.arange(_AROUND) / _AROUND
    rings, weights = [], []
    for place, share, parts in rows:
        bone = int(np.clip(np.floor(place), 0, 2))
        middle = begin if place < 0.0 else line[bone] + (place - bone) * (line[bone + 1] - line[bone])
        before, after = line[max(bone - (place == bone), 0)], line[bone + 1]
        along = unit(after - before)
        side = (
            unit(axes[1] - along * np.dot(axes[1], along)) if finger.name != "Thumb" else unit(np.cross(axes[2], along))
        )
        up = np.cross(along, side)
        radius = size * girth * share * float(np.interp(place, (0.0, 3.0), finger.radii))
        rings.append(middle + radius * (np.cos(steps)[:, None] * side + 0.92 * np.sin(steps)[:, None] * up))
        row = np.zeros(len(frame.skeleton))
        for joint, part in zip((wrist, *joints), parts, strict=True):
            row[joint] += part
        weights.append(np.tile(row, (_AROUND, 1)))
    first, last = begin - 0.3 * finger.radii[0] * size * unit(line[1] - line[0]), line[3]
    mesh = loft(np.array(rings), first, last)
    shares = np.concatenate([*weights, weights[0][:1], weights[-1][:1]])
    return BodyPiece(mesh.points, mesh.normals, mesh.triangles, *strongest(shares), np.full(len(mesh.points), tone))


@lru_cache(maxsize=64)
def with_fingers(skeleton: Skeleton) -> Skeleton:
    """Return a humanoid with four joints for each finger, in a natural curl; any other skeleton as it is.

    The new joints come after the others, so that motion of the skeleton moves the first joints of the new one. A finger
    joint that is not turned stretches the finger. A hand that has joints below it already stays as it is.
    """
    if not all(f"{side}_{role}" in skeleton.roles for side in ("left", "right") for role in ("wrist", "elbow", "hip")):
        return skeleton
    frame = BodyFrame(skeleton, PersonLook())
    names, parents = list(skeleton.names), skeleton.parents.tolist()
    offsets, rest = list(skeleton.offsets), list(skeleton.rest_rotations)
    for side in ("left", "right"):
        wrist = skeleton.roles[f"{side}_wrist"]
        if len(skeleton.children(wrist)):
            continue
        axes = rotations.rotate(rotations.conjugate(frame.turns[wrist]), hand_axes(frame, side))
        for finger in _FINGERS:
            straight, turns = unit(np.array(finger.straight) @ axes), _turns(finger, axes)
            above, before = wrist, rotations.identity()
            for k in range(4):
                moved = np.array(finger.base) @ axes if k == 0 else finger.lengths[k - 1] * straight
                names.append(f"{skeleton.names[wrist]}{finger.name}{k + 1}")
                parents.append(above)
                offsets.append(frame.unit * moved)
                rest.append(
                    rotations.multiply(rotations.conjugate(before), turns[k]) if k < 3 else rotations.identity()
                )
                above, before = len(names) - 1, turns[min(k, 2)]
    if len(names) == len(skeleton) or len(set(names)) < len(names):
        return skeleton
    return replace(
        skeleton,
        names=tuple(names),
        parents=np.array(parents),
        offsets=np.array(offsets),
        rest_rotations=np.array(rest),
        roles=dict(skeleton.roles),
    )
