"""Selection of takes that go together well enough to learn variation from (Lau 2009, section 5.7).

A network is learnt from all but two takes, and tells how likely those two are. Other pairs follow until every take has
been judged. The tenth percentile of the likelihoods of takes that are known to go together is the threshold. Of new
takes the least likely one is left out while it is below the threshold, and the others are judged again without it.

    selection = select_takes(takes)  # leaves out what differs from most of them
    selection = select_takes(takes, SelectionMeasure.of([walks, others]))  # compared with known sets
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import VariationError
from gaitway.core.progress import Progress, silent
from gaitway.motion.clip import Clip
from gaitway.variation.inputs.outlier_score import OutlierScale, differences

PERCENTILE = 10.0
LEAST = 3
"""Smallest number of takes that a network is learnt from."""
_USUAL = -4.5
"""Log-likelihood that all but a few in a hundred takes that go together reach, on the scale of most of them. It was
found with generated walks and those of captured subjects 35, 39 and 07."""

Judge = Callable[[Sequence[Clip], Sequence[Clip]], npt.ArrayLike]
"""Function that learns a network from the first clips and judges each of the second: by a number, such as its
log-likelihood, or by a row of numbers."""
SourceOf = Callable[[Clip], str]
"""Function that returns the name of what a take comes from, such as a capture."""


@dataclass(frozen=True, eq=False)
class RejectedTake:
    """A take that was left out."""

    clip: Clip
    likelihood: float
    """Log-likelihood when it was judged last."""


@dataclass(frozen=True, eq=False)
class TakeSelection:
    """Takes that go together, and those that were left out."""

    kept: tuple[Clip, ...]
    likelihoods: tuple[float, ...]
    """Log-likelihood of each take that is kept, in the last round."""
    left: tuple[RejectedTake, ...]
    """Takes that were left out, in that order."""
    threshold: float


@dataclass(frozen=True, eq=False)
class SelectionMeasure:
    """The standard that takes are compared with: one scale and one threshold for every set."""

    scale: OutlierScale
    threshold: float
    """Log-likelihood below which a take does not go with the others."""
    known: FloatArray
    """Log-likelihoods of the takes that the measure was made from."""

    @staticmethod
    def of(
        sets: Sequence[Sequence[Clip]],
        rng: np.random.Generator | None = None,
        partitions: int = 1,
        progress: Progress = silent,
        source_of: SourceOf | None = None,
        percentile: float = PERCENTILE,
    ) -> SelectionMeasure:
        """Return the measure of takes that are known to go together within their set.

        One person's takes alone show how much that person varies; sets of several people show how much people vary.

        Args:
            sets: Sets of four takes or more; each is judged by networks of its own.
            rng: Generator that draws the pairs; None is a generator of seed 0.
            partitions: Number of times that every take is judged.
            progress: Function that is told how many pairs are done.
            source_of: As in `judge_held_out`.
            percentile: Percentage of takes that are below the threshold.
        """
        if not sets:
            raise VariationError("no set of takes that go together; give one or more, of four takes or more each")
        rng = np.random.default_rng(0) if rng is None else rng
        found = [judge_held_out(takes, differences, rng, partitions, progress, source_of) for takes in sets]
        known = np.concatenate(_known_likelihoods(found))
        return SelectionMeasure(OutlierScale.of_known(found), threshold_of(known, percentile), known)


def _known_likelihoods(found: Sequence[FloatArray]) -> list[FloatArray]:
    """Return log-likelihoods of sets' differences (partitions, n, 9), each on a scale without its own; (n,) each.

    On a scale of their own, takes would all be likely, and the threshold too high for new ones. A scale is that of the
    other sets, because new takes are other people's too. If there is only one set, it is that of its other takes.
    """
    if len(found) > 1:
        scales = [OutlierScale.of_known([*found[:k], *found[k + 1 :]]) for k in range(len(found))]
        return [scale.log_likelihood(one).mean(axis=0) for scale, one in zip(scales, found, strict=True)]
    only = found[0]
    scales = [OutlierScale.of_known([np.delete(only, k, axis=1)]) for k in range(only.shape[1])]
    return [np.array([scale.log_likelihood(only[:, k]).mean() for k, scale in enumerate(scales)])]


def select_takes(
    takes: Sequence[Clip],
    measure: SelectionMeasure | None = None,
    rng: np.random.Generator | None = None,
    partitions: int = 1,
    progress: Progress = silent,
    source_of: SourceOf | None = None,
) -> TakeSelection:
    """Leave out takes that do not go with the others, the worst first.

    A take is unlikely if it differs from what the others predict in the swing of its arms, in its turn, speed, length
    or roughness, or in any part of the body (`outlier_score.ASPECTS`).

    Args:
        takes: Takes of one motion, on one skeleton and at one rate; four or more.
        measure: Standard to compare with, from `SelectionMeasure.of`; sets may be looser by half as much again. None
            compares takes with how most of these very takes differ; a set that is loose throughout then stays as it is.
        rng: Generator that draws the pairs; None is a generator of seed 0.
        partitions: Number of times that every take is judged in a round.
        progress: Function that is told how many pairs are done.
        source_of: As in `judge_held_out`.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    own = OutlierScale.of_most(judge_held_out(takes, differences, rng, partitions, progress, source_of))
    scale = own if measure is None else measure.scale.allowing(own)
    threshold = _USUAL if measure is None else measure.threshold

    def judge(others: Sequence[Clip], judged: Sequence[Clip]) -> FloatArray:
        return scale.log_likelihood(differences(others, judged))

    return leave_out(takes, threshold, judge, rng, partitions, progress, source_of)


def leave_out(
    takes: Sequence[Clip],
    threshold: float,
    judge: Judge,
    rng: np.random.Generator,
    partitions: int = 1,
    progress: Progress = silent,
    source_of: SourceOf | None = None,
) -> TakeSelection:
    """Leave out takes, the least likely first, until all that are kept reach the threshold.

    If fewer than four would be left, none is kept: nothing can be learnt from them.

    Args:
        takes: Takes of one motion, on one skeleton.
        threshold: Least log-likelihood, as from `threshold_of`.
        judge: Function that learns and gives log-likelihoods.
        rng: Generator that draws the pairs.
        partitions: Number of times that every take is judged in a round.
        progress: Function that is told how many pairs are done.
        source_of: As in `judge_held_out`.
    """
    kept, left = list(takes), list[RejectedTake]()
    while True:
        found = judge_held_out(kept, judge, rng, partitions, progress, source_of).mean(axis=0)
        worst = int(np.argmin(found))
        if found[worst] >= threshold:
            return TakeSelection(tuple(kept), tuple(found.tolist()), tuple(left), threshold)
        left.append(RejectedTake(kept.pop(worst), float(found[worst])))
        if len(kept) < LEAST + 1:
            left += [RejectedTake(clip, float("nan")) for clip in kept]
            return TakeSelection((), (), tuple(left), threshold)


def judge_held_out(
    takes: Sequence[Clip],
    judge: Judge,
    rng: np.random.Generator,
    partitions: int = 1,
    progress: Progress = silent,
    source_of: SourceOf | None = None,
) -> FloatArray:
    """Return how networks judge takes that they were not learnt from.

    The thesis goes through combinations of six and two. Here the pairs divide the takes: each of a few partitions
    judges every take once.

    Args:
        takes: Four takes or more.
        judge: Function that learns and judges.
        rng: Generator that draws the pairs.
        partitions: Number of times that every take is judged.
        progress: Function that is told how many pairs are done.
        source_of: Function that names the source of a take, such as the capture that several cycles were cut from.
            Takes of one source are then left out together instead of pairs, because they are too similar to judge one
            another.

    Returns:
        Results of the judge; (partitions, takes) or (partitions, takes, columns).
    """
    count = len(takes)
    if count < LEAST + 1:
        raise VariationError(f"{count} takes to choose from; give {LEAST + 1} or more")
    size = 2 if count >= LEAST + 2 else 1
    groups = [(row, group) for row in range(partitions) for group in _pairs(rng.permutation(count), size)]
    if source_of is not None:
        names = [source_of(take) for take in takes]
        families = [[k for k, name in enumerate(names) if name == one] for one in dict.fromkeys(names)]
        if max(len(family) for family in families) <= count - LEAST:
            groups = [(row, family) for row in range(partitions) for family in families]
    found: list[list[FloatArray]] = [[np.zeros(0)] * count for _ in range(partitions)]
    for number, (row, group) in enumerate(groups):
        progress("comparing takes", number, len(groups))
        others = [takes[k] for k in range(count) if k not in group]
        judged = np.asarray(judge(others, [takes[k] for k in group]), dtype=np.float64)
        for place, values in zip(group, judged, strict=True):
            found[row][place] = values
    out = np.array(found)
    if not np.isfinite(out).all():
        raise VariationError("a take has no finite likelihood; look for frames that are not those of its motion")
    return out


def threshold_of(found: FloatArray, percentile: float = PERCENTILE) -> float:
    """Return the likelihood that all but a tenth of the takes that are known to go together reach."""
    return float(np.percentile(found, percentile))


def _pairs(order: IntArray, size: int) -> list[list[int]]:
    """Return the order in groups; a last group that is too small gets a member of the first."""
    groups = [order[k : k + size].tolist() for k in range(0, len(order), size)]
    if len(groups[-1]) < size:
        groups[-1] = [groups[0][0], *groups[-1]]
    return groups
