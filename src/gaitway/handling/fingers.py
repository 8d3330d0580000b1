"""Hand shapes: on rigs that have fingers, these close around what a hand holds, as far as the thing is thin.

Every chain of joints that hangs on the wrist bends toward the palm: fingers, and a thumb from its side. How far follows
from the length of the finger and the width of the thing: a finger lies around it, and bends no farther than in a fist.
Rigs without fingers stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import GaitwayError
from gaitway.handling.grips import palm
from gaitway.limbs.linkage import find_limb
from gaitway.motion.anatomy import t_pose, t_pose_positions
from gaitway.motion.blending import ease
from gaitway.motion.skeleton import Skeleton
from gaitway.take.data import Layer
from gaitway.take.model import Take
from gaitway.take.things import ThingTrack

LAYER = "fingers"
"""Name of the layers."""
_CLOSE = 0.25
"""Time over which a hand closes before it has a thing, and opens after it [s]."""
_THICK = 0.009
"""Half the thickness of a finger [m]."""
_MOST = math.radians(85.0)
"""How far a joint of a finger bends at most [rad]."""
_ACROSS = 0.2
"""Least sine of the angle between a bone and the palm's direction; a bone along that does not bend toward it."""


@dataclass(frozen=True, eq=False)
class Fingers:
    """The fingers of one hand; made by `find_fingers`."""

    joints: IntArray
    """All joints that bend; (K,)."""
    axes: FloatArray
    """Axis about which each bends toward the palm, in its own frame; (K, 3)."""
    chains: IntArray
    """Number of the finger of each joint; (K,)."""
    lengths: FloatArray
    """Length of the finger of each joint, from its first joint to its tip [m]; (K,)."""

    def bends(self, width: float) -> FloatArray:
        """Return how far each joint bends around a thing of some width [rad]; (K,)."""
        counts = np.bincount(self.chains)[self.chains]
        around = self.lengths / (0.5 * max(width, 0.0) + _THICK)
        return np.asarray(np.minimum(around / counts, _MOST))

    def closed(self, width: float, weights: FloatArray) -> FloatArray:
        """Return local turns of a hand around a thing of some width, closed by weights (F,); (F, K, 4)."""
        angles = weights[:, None] * self.bends(width)
        return rotations.from_rotation_vector(angles[..., None] * self.axes)


def find_fingers(skeleton: Skeleton, hand: str) -> Fingers | None:
    """Return the fingers of the "left" or "right" hand of a rig; None if it has none."""
    try:
        limb = find_limb(skeleton, f"{hand}_arm")
    except GaitwayError:
        return None
    wrist, world = int(limb.joints[2]), t_pose(skeleton)
    places, parents = t_pose_positions(skeleton, world), skeleton.parents.tolist()
    facing = rotations.rotate(rotations.multiply(world[wrist], limb.turns[3]), palm(limb))
    below = [joint for joint in range(wrist + 1, len(skeleton)) if _hangs(parents, joint, wrist)]
    joints, axes, chains, lengths = list[int](), list[FloatArray](), list[int](), list[float]()
    for chain, tip in enumerate(joint for joint in below if joint not in parents):  # one finger for each last joint
        row = [tip]
        while parents[row[-1]] != wrist:
            row.append(parents[row[-1]])
        row.reverse()
        ends = [*places[row[1:]], places[tip] + rotations.rotate(world[tip], skeleton.tips.get(tip, np.zeros(3)))]
        bones = [end - places[joint] for joint, end in zip(row, ends, strict=True)]
        length = float(sum(np.linalg.norm(bone) for bone in bones))
        for joint, bone in zip(row, bones, strict=True):
            size = float(np.linalg.norm(bone))
            axis = np.cross(bone, facing)
            if joint not in joints and size > 1e-4 and np.linalg.norm(axis) > _ACROSS * size:
                joints.append(joint)
                chains.append(chain)
                lengths.append(length)
                axes.append(rotations.rotate(rotations.conjugate(world[joint]), axis / np.linalg.norm(axis)))
    if not joints:
        return None
    return Fingers(np.array(joints), np.array(axes), np.array(chains), np.array(lengths))


def with_fingers(take: Take, tracks: Sequence[ThingTrack]) -> Take:
    """Return a take in which hands close around the things that they have; the same take if no rig has fingers."""
    layers = []
    for track in tracks:
        for span, after in zip(track.spans, (*track.spans[1:], None), strict=True):
            hand = span.part.removesuffix("_wrist")
            if span.who not in take.names or hand not in ("left", "right"):
                continue
            character = take.index(span.who)
            fingers = find_fingers(take.skeletons[int(take.bodies[character])], hand)
            if fingers is not None:
                end = float(take.ends[character]) if after is None else after.start
                layers.append(_layer(take, character, fingers, track, (span.start, end), after is None))
    return replace(take, layers=(*take.layers, *layers)) if layers else take


def _layer(
    take: Take, character: int, fingers: Fingers, track: ThingTrack, span: tuple[float, float], lasts: bool
) -> Layer:
    begin = max(span[0] - _CLOSE, take.start(character))
    end = span[1] if lasts else min(span[1] + _CLOSE, float(take.ends[character]))
    times = begin + np.arange(max(round((end - begin) * take.fps), 1) + 1) / take.fps
    closing, opening = (times - begin) / max(span[0] - begin, 1e-9), (end - times) / max(end - span[1], 1e-9)
    if span[0] <= begin:
        closing = np.ones(len(times))  # held from the first moment on
    if lasts:
        opening = np.ones(len(times))
    weights = ease(np.clip(np.minimum(closing, opening), 0.0, 1.0))
    width = min(track.size[:2])
    return Layer(character, begin, fingers.joints, fingers.closed(width, weights).astype(np.float32), name=LAYER)


def _hangs(parents: list[int], joint: int, above: int) -> bool:
    while joint > above:
        joint = parents[joint]
    return joint == above
