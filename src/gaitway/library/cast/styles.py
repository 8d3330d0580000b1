"""Who walks: a style is one person's way of moving, drawn from how captured people differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.arrays import FloatArray
from gaitway.library.cast.gait import GaitModel


@dataclass(frozen=True)
class Style:
    """One person's manner; the default is the mean of everyone."""

    name: str = "neutral"
    weights: tuple[float, ...] = ()
    """How far along each style direction of the gait model [standard deviations]; missing ones are 0."""

    @staticmethod
    def draw(seed: int, strength: float = 0.6) -> Style:
        """A person at random; the same seed is the same person."""
        draw = np.random.default_rng(seed).normal(size=GaitModel.load().style_count)
        return Style(f"style-{seed}", tuple(float(w) for w in strength * np.clip(draw, -2.0, 2.0)))

    def vector(self, model: GaitModel) -> FloatArray:
        """The weights as an array, one for each direction the model has."""
        out = np.zeros(model.style_count)
        count = min(len(self.weights), len(out))
        out[:count] = self.weights[:count]
        return out
