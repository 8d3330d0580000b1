"""What draws variants of a behaviour for a library: of whole bodies, or of upper bodies over legs that are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.motion.clip import Clip
from gaitway.variation.ends import with_upper
from gaitway.variation.learning import learn
from gaitway.variation.network import VariationModel
from gaitway.variation.options import LearnOptions
from gaitway.variation.synthesis import Given, sample

KEPT = ("lower",)
"""The part of the body that stays where only the upper body varies: the root and the legs."""

Models = dict[tuple[int, ...], VariationModel]
"""Those that were learnt already, by the identities of their takes."""


@dataclass(frozen=True, eq=False)
class Maker:
    """Draws variants."""

    method: str
    """"whole" or "upper"."""
    draw: Callable[[Clip, np.random.Generator], Clip]
    """A variant; legs, path and timing are those of the given take where they are kept."""

    @property
    def keeps_legs(self) -> bool:
        """Whether legs, path and timing are those of a take."""
        return self.method == "upper"


def whole_maker(takes: Sequence[Clip], gain: float, options: LearnOptions) -> Maker:
    """Learn from the takes of a behaviour, and vary all of the body and its timing."""
    # a library's clip is whole from hub to hub, even one that closes on itself: it is no cycle to be cut anywhere
    model = learn(takes, replace(options, cyclic=False))

    def draw(take: Clip, rng: np.random.Generator) -> Clip:
        del take
        return sample(model, rng, gain=gain)

    return Maker("whole", draw)


def upper_maker(pool: Sequence[Clip], gain: float, options: LearnOptions, known: Models) -> Maker:
    """Learn from all takes of a gait, and vary the upper body over the legs of one of them (chapter 6).

    Args:
        pool: takes of one gait, of one or several behaviours.
        gain: how far from the mean.
        options: how it is learnt.
        known: models that were learnt already; this one is added.
    """
    key = tuple(id(take) for take in pool)
    if key not in known:
        known[key] = learn(pool, replace(options, cyclic=False))
    model = known[key]

    def draw(take: Clip, rng: np.random.Generator) -> Clip:
        return with_upper(take, sample(model, rng, gain=gain, keep=Given(take, KEPT)))

    return Maker("upper", draw)
