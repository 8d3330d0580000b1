"""How unlike two frames may be for a transition between them.

The measure is the motion's own tempo: how far a body's cloud moves within itself in a few hundredths of a second.
Frames that are no farther apart than that look like one motion, a moment early or late, and a blend between them
passes for it. Quick motions change much from frame to frame and allow more, slow ones less; the limit of a pair of
label sets lies between those of both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GraphError
from gaitway.graphs.corpus import Corpus
from gaitway.graphs.distance import pair_distances

TEMPO_S = 0.08
"""Frames are alike when they are no farther apart than a moving body is from itself so much later [s]."""
_LEAST = 0.035
"""Limits are no lower than this [m]: who stands twice does not stand more alike, and little moves in such a blend."""
_MOST = 0.10
"""And no higher than this [m]: beyond it postures differ, and a quick change of posture is seen in any motion."""
_STILL = 0.03
"""A cloud that changes more slowly than this stands still, and tells nothing about the motion [m/s]."""


@dataclass(frozen=True)
class Thresholds:
    """Limits on distances [m]."""

    common: float | None = None
    """For all transitions; None takes each label set's own tempo."""
    pairs: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """For transitions from frames with the first label to frames with the second, instead of the other limit."""
    ease: float | None = None
    """All limits are multiplied by this: more gives more transitions, less gives better ones. None takes the least that
    keeps nearly all motion that 1 keeps, and every way between label sets; it is 1 where `common` is given."""

    def __post_init__(self) -> None:
        given = [*self.pairs.values(), *(value for value in (self.common, self.ease) if value is not None)]
        if not all(np.isfinite(value) and value > 0.0 for value in given):
            raise GraphError("thresholds of transitions must be above 0 m")
        object.__setattr__(self, "pairs", MappingProxyType(dict(self.pairs)))


def limits(corpus: Corpus, thresholds: Thresholds) -> FloatArray:
    """Limits for transitions from each label set to each other one [m]; (S, S). An ease of None counts as 1."""
    if thresholds.common is None:
        own = tempos(corpus)
        table = 0.5 * (own[:, None] + own)
    else:
        table = np.full((len(corpus.sets), len(corpus.sets)), thresholds.common)
    for (before, after), limit in thresholds.pairs.items():
        table[np.ix_(corpus.having(before), corpus.having(after))] = limit
    return np.asarray(table * (1.0 if thresholds.ease is None else thresholds.ease))


def tempos(corpus: Corpus, tempo_s: float = TEMPO_S) -> FloatArray:
    """How far clouds of each label set move within themselves in a time [m]; (S,), medians of frames that move."""
    clouds = corpus.clouds
    before = np.flatnonzero(clouds.valid[:-1] & clouds.valid[1:] & (np.diff(corpus.clip_of) == 0))
    step = pair_distances(clouds, before, clouds, before + 1)
    moving, set_of = step * corpus.fps > _STILL, corpus.set_of[before]
    out = np.full(len(corpus.sets), _LEAST)
    for number in range(len(out)):
        mine = step[moving & (set_of == number)]
        if len(mine):
            out[number] = float(np.clip(np.median(mine) * corpus.fps * tempo_s, _LEAST, _MOST))
    return out
