"""Changes to a character's motion, kept as a layer over its take."""

from __future__ import annotations

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip
from gaitway.take.data import Layer, Single
from gaitway.take.model import Take

_SAME = 1e-7
"""Largest turn that counts as none [rad]."""


def layer_between(take: Take, character: int, before: Clip, after: Clip, name: str) -> Layer:
    """Return the layer that changes one motion into another.

    Args:
        take: take of the character.
        character: index of the character.
        before: `take.clip(character)`.
        after: wanted motion, frame by frame.
        name: name of the layer.
    """
    turns = rotations.multiply(rotations.conjugate(before.rotations), after.rotations)
    joints = np.flatnonzero(np.abs(turns[..., 1:]).max(axis=(0, 2)) > _SAME)
    moves = after.root_positions - before.root_positions
    return Layer(character, take.start(character), joints, _held(turns[:, joints]), root_moves=_held(moves), name=name)


def _held(samples: FloatArray) -> Single:
    """Return samples with the last one twice: a take may end between two frames."""
    return np.concatenate([samples, samples[-1:]]).astype(np.float32)
