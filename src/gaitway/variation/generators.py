"""What draws variants of a behaviour for a library: of whole bodies, or of upper bodies over legs that are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.motion.clip import Clip
from gaitway.variation.network.model_cache import Learnt, learnt
from gaitway.variation.network.options import LearnOptions
from gaitway.variation.network.transition import Progress
from gaitway.variation.sampling.end_matching import joined, likest_ends, usual_changes, with_hands, with_upper
from gaitway.variation.sampling.synthesis import Given, sample_many

KEPT = ("lower",)
"""The part of the body that stays where only the upper body varies: the root and the legs."""


@dataclass(frozen=True, eq=False)
class Maker:
    """Draws variants."""

    method: str
    """"whole" or "upper"."""
    draw: Callable[[Sequence[Clip], np.random.Generator], Iterator[Clip]]
    """A variant for each of some takes, all of which begin and end as takes do; where legs are kept, they, path and
    timing are those of its take."""
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

    def draw(chosen: Sequence[Clip], rng: np.random.Generator) -> Iterator[Clip]:
        for variant in sample_many(found.model, rng, len(chosen), gain=gain):
            yield joined(variant, likest_ends(variant, takes))

    return Maker("whole", draw, found.notes)


def upper_maker(takes: Sequence[Clip], found: Learnt, gain: float) -> Maker:
    """Vary the upper body over the legs of a take, from a model of all takes of its gait (chapter 6)."""
    usual = usual_changes(takes)

    def draw(chosen: Sequence[Clip], rng: np.random.Generator) -> Iterator[Clip]:
        counts = Counter(id(take) for take in chosen)
        drawn = {
            id(take): iter(sample_many(found.model, rng, counts[id(take)], gain=gain, keep=Given(take, KEPT)))
            for take in {id(take): take for take in chosen}.values()
        }
        for take in chosen:
            yield with_hands(with_upper(take, next(drawn[id(take)]), usual=usual), take)

    return Maker("upper", draw, found.notes)
