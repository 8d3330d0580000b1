"""Bodies that follow a deformed path: feet that are down move as one, and legs follow.

It is what `performing.arrival.bending` does, compiled: all that does not hang on the path is found once for a clip.
"""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.deform._planting_kernels import PlantedFeet, plant_feet
from gaitway.motion.anatomy import pole_direction
from gaitway.motion.clip import Clip
from gaitway.motion.footplants import SLOPE_FROM_S, SLOPE_S, STEEPEST
from gaitway.motion.footskate import DAMPING_S, DEEPEST
from gaitway.motion.ik import LEFT_LEG, RIGHT_LEG, SOFTNESS, STRAIGHT
from gaitway.performing.arrival.bending import DROP_S, STRAIGHTEST, Bend, follow_path, on_two_legs, stance_weights
from gaitway.performing.arrival.footwork import Footwork

_LEGS = {"left": LEFT_LEG, "right": RIGHT_LEG}


def planted_feet(clip: Clip, work: Footwork | None) -> PlantedFeet | None:
    """Return a clip made ready to follow paths; None for a body that does not walk on two feet.

    Args:
        clip: the clip.
        work: its footwork.
    """
    if work is None or not on_two_legs(work):
        return None
    bend = follow_path(work, work.path)
    if bend is None:
        return None
    skeleton, frames = clip.skeleton, len(clip)
    positions, world = clip.joint_transforms()
    parents = skeleton.parents.tolist()
    joints = [[*skeleton.require(*chain), skeleton.roles.get(f"{side}_toe", -1)] for side, chain in _LEGS.items()]
    legs = [next(k for k, leg in enumerate(work.legs) if leg.joints[2] == row[2]) for row in joints]
    stance, weight = _around(bend, legs)
    fps, half = clip.fps, max(int(0.5 * DROP_S * clip.fps), 1)
    settings = np.array(
        [DEEPEST, SOFTNESS, STRAIGHT, STRAIGHTEST, 0.5 * DROP_S * fps, max(3.0 * DAMPING_S * fps, 1.0),
         max(SLOPE_S * fps, 2.0), max(round(SLOPE_FROM_S * fps), 1), STEEPEST / fps]
    )  # fmt: skip
    damping, last = DAMPING_S * fps, frames - 1
    at = [0 if s.start == 0 else last if s.stop > last else (s.start + s.stop) // 2 for s in bend.stances]
    above = np.stack([world[:, [parents[joint] for joint in row[:3]]] for row in joints])
    return PlantedFeet(
        read_only(work.path), read_only(clip.planar_path()), read_only(clip.root_positions), read_only(clip.rotations),
        read_only(work.ends[:, legs]), read_only(np.array(at, dtype=np.int64)), stance, weight,
        read_only(np.ascontiguousarray([_down(bend, leg) for leg in legs])),
        read_only(np.array(joints, dtype=np.int64)), read_only(np.stack([positions[:, row[:3]] for row in joints])),
        # a rig without toes has its ankle there, which is not looked at
        read_only(np.stack([world[:, [*row[:3], row[3] if row[3] >= 0 else row[2]]] for row in joints])),
        read_only(above), read_only(np.stack([pole_direction(skeleton, chain) for chain in _LEGS.values()])),
        read_only(settings), half_gaussian(0.4 * half, half), half_gaussian(damping, int(4.0 * damping + 0.5)),
    )  # fmt: skip


def planted(clip: Clip, feet: PlantedFeet, path: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return root positions [m] (F, 3) and local rotations (F, J, 4) of a clip that follows a path (F, 3)."""
    roots, local = np.empty(clip.root_positions.shape), np.empty(clip.rotations.shape)
    plant_feet(feet, read_only(np.ascontiguousarray(path)), roots, local)
    return roots, local


def half_gaussian(sigma: float, radius: int) -> FloatArray:
    """Return one half of a Gaussian filter, from its middle on; (radius + 1,)."""
    half = np.exp(-0.5 * (np.arange(radius + 1) / sigma) ** 2)
    return read_only(half / (2.0 * half.sum() - half[0]))


def _down(bend: Bend, leg: int) -> FloatArray:
    out = np.zeros(len(bend.work), dtype=bool)
    for stance in bend.stances:
        if stance.leg == leg:
            out[stance.start : stance.stop] = True
    return out


def _around(bend: Bend, legs: list[int]) -> tuple[IntArray, FloatArray]:
    """Return the stances before and after each frame of each leg (F, 2, 2), and how much they count (F, 2, 2)."""
    stance, weight = np.zeros((len(bend.work), 2, 2), dtype=np.int64), np.zeros((len(bend.work), 2, 2))
    for row, leg in enumerate(legs):
        for place, (number, before, after, share) in enumerate(stance_weights(bend, leg)):
            # of two stances in a row, one has an even place
            stance[before:after, row, place % 2] = number
            weight[before:after, row, place % 2] = share
    return read_only(stance), read_only(weight)
