"""Gains and memory of a model's draws, found by trying: variants spread as wide as the takes, and are no rougher."""

from __future__ import annotations

from gaitway.variation.network import VariationModel
from gaitway.variation.spread import Variation


def calibrated(model: VariationModel) -> Variation:
    """The model's variation."""
    return model.variation
