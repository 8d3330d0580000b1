"""Conditional mode (chapter 6): given joints are kept, the others are generated to go with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gaitway.motion.clip import Clip
from gaitway.variation.network.model import VariationModel
from gaitway.variation.sampling.synthesis import Gain, Given, sample, sample_many

__all__ = ["Given", "upper_bodies", "upper_body"]


def upper_body(
    model: VariationModel,
    clip: Clip,
    rng: np.random.Generator,
    gain: Gain = 1.0,
    joints: Sequence[str] = ("lower",),
    name: str | None = None,
) -> Clip:
    """The clip with its root, legs and timing as they are, and trunk, arms and head anew.

    `joints` says what is kept.
    """
    return sample(model, rng, gain=gain, keep=Given(clip, tuple(joints)), name=name or f"{clip.name}_variant")


def upper_bodies(
    model: VariationModel,
    clip: Clip,
    rng: np.random.Generator,
    count: int,
    gain: Gain = 1.0,
    joints: Sequence[str] = ("lower",),
    name: str | None = None,
) -> list[Clip]:
    """Several, as `upper_body`."""
    return sample_many(
        model, rng, count, gain=gain, keep=Given(clip, tuple(joints)), name=name or f"{clip.name}_variant"
    )
