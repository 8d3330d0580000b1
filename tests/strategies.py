"""Hypothesis strategies for rotations, skeletons and clips, and seeded figures for plain tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from gaitway.core import rotations
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import Skeleton


def _vector(values):
    return np.array(values, dtype=np.float64)


def quaternions(unit: bool = True):
    """Single quaternions; the special ones (identity, half turns, antipodes) come up often."""
    special = st.sampled_from(
        [(1, 0, 0, 0), (-1, 0, 0, 0), (0, 1, 0, 0), (0, 0, -1, 0), (0, 0, 0, 1), (0.5, 0.5, -0.5, 0.5), (1, 1e-9, 0, 0)]
    ).map(_vector)
    number = st.floats(-1.0, 1.0, allow_nan=False, width=32)
    general = st.tuples(number, number, number, number).map(_vector).filter(lambda q: np.linalg.norm(q) > 1e-3)
    both = special | general
    return both.map(rotations.normalize) if unit else st.tuples(both, st.floats(0.1, 10.0)).map(lambda p: p[0] * p[1])


def vectors(size: float = 10.0):
    """Single vectors (3,)."""
    number = st.floats(-size, size, allow_nan=False, width=32)
    return st.tuples(number, number, number).map(_vector)


def planar_poses():
    """Single poses (x, y, heading)."""
    return st.tuples(st.floats(-50, 50), st.floats(-50, 50), st.floats(-10, 10)).map(_vector)


@st.composite
def skeletons(draw, most: int = 12):
    """Trees of joints with names that mean nothing."""
    count = draw(st.integers(1, most))
    parents = [-1] + [draw(st.integers(0, j - 1)) for j in range(1, count)]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return Skeleton(
        tuple(f"j{j}" for j in range(count)),
        np.array(parents),
        rng.normal(0.0, 0.3, (count, 3)),
        rest_rotations=random_rotations(rng, count),
    )


@st.composite
def clips(draw, most_frames: int = 12):
    """Clips of random poses."""
    skeleton = draw(skeletons())
    frames = draw(st.integers(1, most_frames))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    local = random_rotations(rng, frames, len(skeleton))
    return Clip(skeleton, rng.normal(size=(frames, 3)), local, draw(st.sampled_from([24.0, 30.0, 59.94, 120.0])))


def random_rotations(rng: np.random.Generator, *shape: int, spread: float | None = None) -> np.ndarray:
    """Unit quaternions (*shape, 4): uniform, or within about `spread` [rad] of the identity."""
    if spread is None:
        return rotations.normalize(rng.normal(size=(*shape, 4)))
    return rotations.from_rotation_vector(rng.normal(0.0, spread, (*shape, 3)))


def oblique(skeleton: Skeleton, seed: int = 0) -> Skeleton:
    """The same figure in the same rest pose, with every joint's own axes turned at random."""
    rng = np.random.default_rng(seed)
    turn = random_rotations(rng, len(skeleton))
    offsets, rest = np.array(skeleton.offsets), np.array(skeleton.rest_rotations)
    tips = {j: tuple(rotations.rotate(rotations.conjugate(turn[j]), t)) for j, t in skeleton.tips.items()}
    for j, parent in enumerate(skeleton.parents):
        rest[j] = rotations.multiply(rest[j], turn[j])
        if parent >= 0:
            back = rotations.conjugate(turn[parent])
            offsets[j] = rotations.rotate(back, skeleton.offsets[j])
            rest[j] = rotations.multiply(back, rest[j])
    return Skeleton(skeleton.names, skeleton.parents, offsets, rest, tips=tips, name=f"{skeleton.name} (oblique)")


def same_motion(clip: Clip, skeleton: Skeleton) -> Clip:
    """The clip's exact motion on a skeleton that `oblique` made from the clip's own."""
    world = clip.joint_transforms()[1]
    rest, other = _world(clip.skeleton), _world(skeleton)
    turned = rotations.multiply(rotations.multiply(world, rotations.conjugate(rest)), other)
    local = np.array(turned)
    above = rotations.conjugate(turned[:, skeleton.parents[1:]])
    local[:, 1:] = rotations.multiply(above, turned[:, 1:])
    return Clip(skeleton, clip.root_positions, rotations.normalize(local), clip.fps, clip.name)


def _world(skeleton: Skeleton) -> np.ndarray:
    world = np.array(skeleton.rest_rotations)
    for j, parent in enumerate(skeleton.parents):
        if parent >= 0:
            world[j] = rotations.multiply(world[parent], world[j])
    return world
