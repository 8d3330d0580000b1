"""Which takes go together well enough to learn variation from (Lau 2009, section 5.7).

A network is learnt from all but two takes, and says how likely those two are; other pairs follow until every take has
been judged. How likely takes are that are known to go together gives a threshold, the tenth percentile. Of new takes
the least likely one is left out while it is below the threshold, and the others are judged again without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.arrays import FloatArray, IntArray
from gaitway.errors import VariationError
from gaitway.motion.clip import Clip

PERCENTILE = 10.0
LEAST = 3
"""A network is learnt from no fewer takes than this."""

Likelihood = Callable[[Sequence[Clip], Sequence[Clip]], Sequence[float]]
"""Of a network learnt from the first clips: mean log-likelihood of a frame, for each of the second."""
Progress = Callable[[str, int, int | None], None]
Kin = Callable[[Clip], str]
"""Name of what a take comes from."""


@dataclass(frozen=True, eq=False)
class Left:
    """A take that was left out."""

    clip: Clip
    likelihood: float
    """Mean log-likelihood of a frame, when it was judged last."""


@dataclass(frozen=True, eq=False)
class Choice:
    """Takes that go together."""

    kept: tuple[Clip, ...]
    likelihoods: tuple[float, ...]
    """Of each that is kept, in the last round."""
    left: tuple[Left, ...]
    """In the order in which they were left out."""
    threshold: float


def likelihoods(
    takes: Sequence[Clip],
    judge: Likelihood,
    rng: np.random.Generator,
    partitions: int = 2,
    progress: Progress | None = None,
    kin: Kin | None = None,
) -> FloatArray:
    """How likely each take is by networks that were learnt without it.

    The thesis goes through combinations of six and two. Pairs are drawn here so that they divide the takes: each of a
    few partitions judges every take once.

    Args:
        takes: four or more.
        judge: learns and judges.
        rng: draws the pairs.
        partitions: how often every take is judged.
        progress: called after every pair.
        kin: what takes come from, such as the capture that several cycles were cut from. Those of one source are left
            out together and instead of pairs, or each would be judged by its twin.

    Returns:
        One row a partition, one column a take.
    """
    count = len(takes)
    if count < LEAST + 1:
        raise VariationError(f"{count} takes to choose from; give {LEAST + 1} or more")
    size = 2 if count >= LEAST + 2 else 1
    out = np.zeros((partitions, count))
    groups = [(row, group) for row in range(partitions) for group in _pairs(rng.permutation(count), size)]
    if kin is not None:
        names = [kin(take) for take in takes]
        families = [[k for k, name in enumerate(names) if name == one] for one in dict.fromkeys(names)]
        if max(len(family) for family in families) <= count - LEAST:
            groups = [(row, family) for row in range(partitions) for family in families]
    for number, (row, group) in enumerate(groups):
        if progress is not None:
            progress("judging takes", number, len(groups))
        others = [takes[k] for k in range(count) if k not in group]
        out[row, group] = judge(others, [takes[k] for k in group])
    if not np.isfinite(out).all():
        raise VariationError("a take has no finite likelihood; look for frames that are not those of its motion")
    return out


def threshold_of(found: FloatArray, percentile: float = PERCENTILE) -> float:
    """What takes that are known to go together reach, all but a tenth of them."""
    return float(np.percentile(found, percentile))


def choose(
    takes: Sequence[Clip],
    threshold: float,
    judge: Likelihood,
    rng: np.random.Generator,
    partitions: int = 2,
    progress: Progress | None = None,
    kin: Kin | None = None,
) -> Choice:
    """Leave out takes, the least likely first, until all that are kept reach the threshold.

    Where fewer than four would be left, none is kept: nothing can be learnt from them.

    Args:
        takes: of one motion, on one skeleton.
        threshold: as of `threshold_of`.
        judge: learns and judges.
        rng: draws the pairs.
        partitions: how often every take is judged in a round.
        progress: called after every pair.
        kin: as of `likelihoods`.
    """
    kept, left = list(takes), list[Left]()
    while True:
        found = likelihoods(kept, judge, rng, partitions, progress, kin).mean(axis=0)
        worst = int(np.argmin(found))
        if found[worst] >= threshold:
            return Choice(tuple(kept), tuple(found.tolist()), tuple(left), threshold)
        left.append(Left(kept.pop(worst), float(found[worst])))
        if len(kept) < LEAST + 1:
            left += [Left(clip, float("nan")) for clip in kept]
            return Choice((), (), tuple(left), threshold)


def _pairs(order: IntArray, size: int) -> list[list[int]]:
    """The order in groups; the last one takes what is over from those before."""
    groups = [order[k : k + size].tolist() for k in range(0, len(order), size)]
    if len(groups[-1]) < size:
        groups[-1] = [groups[0][0], *groups[-1]]
    return groups
