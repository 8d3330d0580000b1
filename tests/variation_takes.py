"""Small takes whose variation is known, and models learnt from them once."""

from __future__ import annotations

from functools import cache

import numpy as np

from gaitway.core import rotations
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import ContactPoint, Skeleton
from gaitway.variation.learning.learn import LearnOptions, learn
from gaitway.variation.network.model import VariationModel
from gaitway.variation.network.prior import PriorSearch
from gaitway.variation.network.transition import TransitionSearch

FPS = 30.0
SMALL = LearnOptions(search=TransitionSearch(rounds=3, most_parents=4), prior=PriorSearch(most_parents=3))


@cache
def small_skeleton() -> Skeleton:
    """A hip with a spine and two arms of two joints; the last joint never moves."""
    names = ("Hips", "Spine", "LeftArm", "LeftForeArm", "RightArm", "RightForeArm", "Antenna")
    offsets = np.array([[0, 0, 1], [0, 0, 0.3], [0, 0.2, 0.2], [0, 0.3, 0], [0, -0.2, 0.2], [0, -0.3, 0], [0, 0, 0.3]])
    roles = {"hips": 0, "spine": 1, "left_shoulder": 2, "left_elbow": 3, "right_shoulder": 4, "right_elbow": 5}
    return Skeleton(
        names, np.array([-1, 0, 1, 2, 1, 4, 1]), offsets.astype(float), roles=roles,
        contact_points=(ContactPoint("foot", 0, (0.0, 0.0, -1.0)),), name="small",
    )  # fmt: skip


def make_take(amount: float, frames: int, cyclic: bool, name: str, rng: np.random.Generator) -> Clip:
    """One take: both arms swing more where `amount` is larger; arms of a motion that is no cycle rise and come down."""
    t = np.linspace(0.0, 1.0, frames)
    swing = np.sin(2 * np.pi * t) if cyclic else np.sin(np.pi * t) ** 2
    other = np.cos(2 * np.pi * t) if cyclic else np.sin(np.pi * t) ** 2 * np.cos(3 * np.pi * t)
    vectors = np.zeros((frames, 7, 3))
    vectors[:, 1, 2] = 0.1 * swing * (1 + 0.1 * rng.standard_normal())
    vectors[:, 2, 1] = (0.8 + 0.15 * amount) * swing
    vectors[:, 3, 2] = (0.5 + 0.10 * amount) * other
    vectors[:, 4, 1] = -(0.8 + 0.15 * amount) * swing
    vectors[:, 5, 2] = (0.5 + 0.05 * rng.standard_normal()) * other
    roots = np.zeros((frames, 3))
    roots[:, 0] = 1.2 * t * frames / FPS
    roots[:, 2] = 1.0 + 0.02 * np.cos(4 * np.pi * t)
    contacts = (np.sin(2 * np.pi * t) > 0.0)[:, None]
    return Clip(small_skeleton(), roots, rotations.from_rotation_vector(vectors), FPS, name, contacts)


def make_takes(count: int = 5, cyclic: bool = True, seed: int = 0, frames: int = 31) -> list[Clip]:
    """Takes that differ in amplitude and by a few frames in length."""
    rng = np.random.default_rng(seed)
    amounts = np.linspace(-1.2, 1.2, count)[rng.permutation(count)]
    return [
        make_take(float(amount), frames + int(rng.integers(-2, 3)), cyclic, f"take.{i}", rng)
        for i, amount in enumerate(amounts)
    ]


@cache
def small_model(cyclic: bool = True) -> VariationModel:
    """A model of small takes."""
    return learn(make_takes(cyclic=cyclic), SMALL)
