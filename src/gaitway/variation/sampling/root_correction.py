"""Correction of the root by its feet: its position and heading follow from the points that rest on the ground.

A network draws the velocity of the root in every frame. Small errors add up to a drift, although the planted feet do
not move: a character that stands ends a hand's breadth aside. Feet are right where they rest, so the root follows them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import VariationError
from gaitway.motion.clip import Clip
from gaitway.variation.sampling._band_kernels import solve_band

_CALM_S = 0.2
"""Time that a correction takes to come and to go [s]. Faster corrections are left to the legs, so that the root does
not shake."""
_TURN_M = 0.5
"""Distance that counts as much as one radian of heading [m]."""
_NEAR = 1e-8
"""Weight of the correction itself; it only decides where nothing else does."""
_AS_ONE = 1e6
"""Weight of frames that are moved as one."""
_ROUNDS = 6


def follow_feet(clip: Clip, held: int = 1) -> Clip:
    """Return the clip with its root moved and turned on the ground so that planted points stay; the first frame stays.

    Heights, and all joints but the root, stay as they are.

    Args:
        clip: Motion with contacts; where nothing is planted, its own velocity counts.
        held: Number of frames at either end that are moved as one.
    """
    if clip.contacts is None:
        raise VariationError(f"clip '{clip.name}' has no contacts; find them first with motion.detect_contacts")
    if len(clip) < 3 or not clip.contacts.any():
        return clip
    steady = [column for column, point in enumerate(clip.skeleton.contact_points) if not point.rolls]
    for _ in range(_ROUNDS):
        shift = _correction(clip, steady, held)
        clip = _moved(clip, shift)
        if np.abs(shift).max() < 1e-6:
            break
    return clip


def _correction(clip: Clip, columns: list[int], held: int) -> FloatArray:
    """Return the shift and turn of the root in every frame (x, y, heading) that keep planted points still; (F, 3)."""
    contacts = np.asarray(clip.contacts)[:, columns]
    points = clip.contact_positions()[:, columns, :2]
    arms = points - clip.root_positions[:, None, :2]
    both = contacts[1:] & contacts[:-1]
    frames = len(clip)
    index = np.argwhere(both)
    count = 2 * len(index)
    blocks = np.zeros((count, 6))
    wanted = np.zeros(count)
    for axis in (0, 1):
        t, c = index[:, 0], index[:, 1]
        lever = -1.0 if axis == 0 else 1.0
        part = slice(axis, count, 2)
        blocks[part, axis], blocks[part, 3 + axis] = -1.0, 1.0
        blocks[part, 2] = -lever * arms[t, c, 1 - axis] / _TURN_M
        blocks[part, 5] = lever * arms[t + 1, c, 1 - axis] / _TURN_M
        wanted[part] = points[t, c, axis] - points[t + 1, c, axis]
    still = np.zeros((frames, 6, 6))  # blocks of frames t and t + 1
    np.add.at(still, index[:, 0].repeat(2), blocks[:, :, None] * blocks[:, None, :])
    pull = np.zeros((frames, 6))
    np.add.at(pull, index[:, 0].repeat(2), blocks * wanted[:, None])
    pull[1:, :3] += pull[:-1, 3:]
    _hold(still, clip.root_positions, held)
    # the first frame stays: its unknowns are left out
    shift = pull[1:, :3].ravel()
    solve_band(_banded(still, (_CALM_S * clip.fps) ** 2).reshape(3 * frames, -1)[3:], shift)
    out = np.concatenate([np.zeros(3), shift]).reshape(frames, 3)
    out[:, 2] /= _TURN_M
    return out


def _hold(still: FloatArray, roots: FloatArray, held: int) -> None:
    """Add to blocks (F, 6, 6) that frames at the ends are moved and turned as one; roots (F, 3) are their positions."""
    frames = len(roots)
    for t in (*range(held - 1), *range(frames - held, frames - 1)):
        step = roots[t + 1] - roots[t]
        rows = np.zeros((3, 6))
        rows[:, :3], rows[:, 3:] = -np.eye(3), np.eye(3)
        rows[0, 2], rows[1, 2] = step[1] / _TURN_M, -step[0] / _TURN_M  # a turn also turns the step
        still[t] += _AS_ONE * rows.T @ rows


def _banded(still: FloatArray, calm: float) -> FloatArray:
    """Return blocks (F, 6, 6) of every frame and the next, and second differences, as a band; (F, 3, 7)."""
    frames, width = len(still), 6
    band = np.zeros((frames, 3, width + 1))
    for row in range(3):
        band[:, row, width - row :] += still[:, row, : row + 1]
        band[1:, row, width - row - 3 :] += still[:-1, 3 + row, : row + 4]
    for first, one in enumerate((1.0, -2.0, 1.0)):
        for second, other in list(enumerate((1.0, -2.0, 1.0)))[first:]:
            band[second : frames - 2 + second, :, width - 3 * (second - first)] += calm * one * other
    band[:, :, width] += _NEAR
    return band


def _moved(clip: Clip, shift: FloatArray) -> Clip:
    roots, local = np.array(clip.root_positions), np.array(clip.rotations)
    roots[:, :2] += shift[:, :2]
    local[:, 0] = rotations.multiply(rotations.from_yaw(shift[:, 2]), local[:, 0])
    return replace(clip, root_positions=roots, rotations=rotations.normalize(local))
