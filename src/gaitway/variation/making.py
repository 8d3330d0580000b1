"""What draws variants of a behaviour for a library: of whole bodies, or of upper bodies over legs that are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.motion.clip import Clip
from gaitway.variation.ends import joined, likest_ends, usual_changes, with_hands, with_upper
from gaitway.variation.keeping import Learnt, learnt
from gaitway.variation.options import LearnOptions
from gaitway.variation.synthesis import Given, sample
from gaitway.variation.transition import Progress

KEPT = ("lower",)
"""The part of the body that stays where only the upper body varies: the root and the legs."""


@dataclass(frozen=True, eq=False)
class Maker:
    """Draws variants."""

    method: str
    """"whole" or "upper"."""
    draw: Callable[[Clip, np.random.Generator], Clip]
    """A variant that begins and ends as takes do; where legs are kept, they, path and timing are those of the take."""
    notes: tuple[str, ...] = ()
    """What there was to say about the takes that it was learnt from."""


class Models:
    """Models that were learnt already, so that behaviours with the same takes share one."""

    def __init__(self, options: LearnOptions) -> None:
        # a library's clip is whole from hub to hub, even one that closes on itself: it is no cycle to be cut anywhere
        self._options = replace(options, cyclic=False)
        self._known: dict[tuple[int, ...], tuple[Sequence[Clip], Learnt]] = {}

    def of(self, takes: Sequence[Clip], progress: Progress | None = None) -> Learnt:
        """The model of some takes, learnt now, before, or in another process."""
        key = tuple(id(take) for take in takes)
        if key not in self._known:
            self._known[key] = takes, learnt(takes, self._options, progress)  # takes that are kept keep their identity
        return self._known[key][1]


def whole_maker(takes: Sequence[Clip], found: Learnt, gain: float) -> Maker:
    """Vary all of the body and its timing, from a model of the takes."""

    def draw(take: Clip, rng: np.random.Generator) -> Clip:
        del take
        variant = sample(found.model, rng, gain=gain)
        return joined(variant, likest_ends(variant, takes))

    return Maker("whole", draw, found.notes)


def upper_maker(takes: Sequence[Clip], found: Learnt, gain: float) -> Maker:
    """Vary the upper body over the legs of a take, from a model of all takes of its gait (chapter 6)."""
    usual = usual_changes(takes)

    def draw(take: Clip, rng: np.random.Generator) -> Clip:
        drawn = sample(found.model, rng, gain=gain, keep=Given(take, KEPT))
        return with_hands(with_upper(take, drawn, usual=usual), take)

    return Maker("upper", draw, found.notes)
