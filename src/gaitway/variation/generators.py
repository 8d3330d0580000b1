"""Generators of variants for a library: of whole bodies, or of upper bodies over the legs of a take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.motion.clip import Clip
from gaitway.variation.learning.model_cache import LearntModel
from gaitway.variation.sampling.end_matching import (
    match_ends,
    most_similar_ends,
    rms_velocity_changes,
    with_hand_contacts,
    with_upper_body,
)
from gaitway.variation.sampling.synthesis import KeptJoints, sample_many

KEPT_PARTS = ("lower",)
"""Part of the body that stays where only the upper body varies: the root and the legs."""


@dataclass(frozen=True, eq=False)
class VariantGenerator:
    """Draws variants of a behaviour."""

    draw: Callable[[Sequence[Clip], np.random.Generator], Iterator[Clip]]
    """Function that yields one variant for each of some takes. A variant begins and ends on the feet of takes. Where
    legs are kept, then legs, path and timing are those of its take."""
    notes: tuple[str, ...] = ()
    """Warnings about the takes that the model was learnt from."""


def whole_body_generator(takes: Sequence[Clip], found: LearntModel, gain: float) -> VariantGenerator:
    """Return a generator that varies the whole body and its timing, from a model of the takes."""

    def draw(chosen: Sequence[Clip], rng: np.random.Generator) -> Iterator[Clip]:
        for variant in sample_many(found.model, rng, len(chosen), gain=gain):
            yield match_ends(variant, most_similar_ends(variant, takes))

    return VariantGenerator(draw, found.notes)


def upper_body_generator(takes: Sequence[Clip], found: LearntModel, gain: float) -> VariantGenerator:
    """Return a generator that varies the upper body over the legs of a take, from a model of all takes of its gait.

    This is chapter 6 of Lau 2009.
    """
    usual = rms_velocity_changes(takes)

    def draw(chosen: Sequence[Clip], rng: np.random.Generator) -> Iterator[Clip]:
        counts = Counter(id(take) for take in chosen)
        drawn = {
            id(take): iter(
                sample_many(found.model, rng, counts[id(take)], gain=gain, keep=KeptJoints(take, KEPT_PARTS))
            )
            for take in {id(take): take for take in chosen}.values()
        }
        for take in chosen:
            yield with_hand_contacts(with_upper_body(take, next(drawn[id(take)]), usual=usual), take)

    return VariantGenerator(draw, found.notes)
