"""Which takes go together well enough to learn variation from (Lau 2009, section 5.7).

A network is learnt from all but two takes, and says how likely those two are; other pairs follow until every take has
been judged. How likely takes are that are known to go together gives a threshold, the tenth percentile. Of new takes
the least likely one is left out while it is below the threshold, and the others are judged again without it.

    choice = choose(takes)                                 # whatever differs from most of them is left out
    choice = choose(takes, Measure.of([walks, others]))    # held to sets of takes that are known to go together
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import VariationError
from gaitway.motion.clip import Clip
from gaitway.variation.inputs.outlier_score import Scale, differences

PERCENTILE = 10.0
LEAST = 3
"""A network is learnt from no fewer takes than this."""
_USUAL = -4.5
"""Log-likelihood that all but a few in a hundred takes reach which go together, by the scale of most of them: told from
generated walks and those of captured subjects 35, 39 and 07."""

Judge = Callable[[Sequence[Clip], Sequence[Clip]], npt.ArrayLike]
"""By a network learnt from the first clips: what each of the second is like; a number, such as its log-likelihood, or a
row of them."""
Progress = Callable[[str, int, int | None], None]
Kin = Callable[[Clip], str]
"""Name of what a take comes from."""


@dataclass(frozen=True, eq=False)
class Left:
    """A take that was left out."""

    clip: Clip
    likelihood: float
    """Log-likelihood when it was judged last."""


@dataclass(frozen=True, eq=False)
class Choice:
    """Takes that go together."""

    kept: tuple[Clip, ...]
    likelihoods: tuple[float, ...]
    """Of each that is kept, in the last round."""
    left: tuple[Left, ...]
    """In the order in which they were left out."""
    threshold: float


@dataclass(frozen=True, eq=False)
class Measure:
    """What takes are held to: one scale and one threshold for whatever set is judged."""

    scale: Scale
    threshold: float
    """Log-likelihood below which a take does not go with the others."""
    known: FloatArray
    """Log-likelihoods of the takes that the measure is of."""

    @staticmethod
    def of(
        sets: Sequence[Sequence[Clip]],
        rng: np.random.Generator | None = None,
        partitions: int = 1,
        progress: Progress | None = None,
        kin: Kin | None = None,
        percentile: float = PERCENTILE,
    ) -> Measure:
        """The measure of takes that are known to go together within their set.

        One person's takes alone say how much that person varies; sets of several people say how much people do.

        Args:
            sets: of four takes or more; each is judged by networks of its own.
            rng: draws the pairs; None is a generator of seed 0.
            partitions: how often every take is judged.
            progress: called after every pair.
            kin: as of `judged_apart`.
            percentile: of takes that are below the threshold.
        """
        if not sets:
            raise VariationError("no set of takes that go together; give one or more, of four takes or more each")
        rng = np.random.default_rng(0) if rng is None else rng
        found = [judged_apart(takes, differences, rng, partitions, progress, kin) for takes in sets]
        known = np.concatenate(_known_likelihoods(found))
        return Measure(Scale.of_known(found), threshold_of(known, percentile), known)


def _known_likelihoods(found: Sequence[FloatArray]) -> list[FloatArray]:
    """Log-likelihoods of sets' differences (partitions, n, 9), each by a scale that it has no part in; (n,) each.

    By a scale of their own, takes would all be likely, and the threshold too high for any that are new. A scale is of
    the other sets, as new ones are other people's; where there is but one set it is of its other takes.
    """
    if len(found) > 1:
        scales = [Scale.of_known([*found[:k], *found[k + 1 :]]) for k in range(len(found))]
        return [scale.log_likelihood(one).mean(axis=0) for scale, one in zip(scales, found, strict=True)]
    only = found[0]
    scales = [Scale.of_known([np.delete(only, k, axis=1)]) for k in range(only.shape[1])]
    return [np.array([scale.log_likelihood(only[:, k]).mean() for k, scale in enumerate(scales)])]


def choose(
    takes: Sequence[Clip],
    measure: Measure | None = None,
    rng: np.random.Generator | None = None,
    partitions: int = 1,
    progress: Progress | None = None,
    kin: Kin | None = None,
) -> Choice:
    """Leave out takes that do not go with the others, the worst first.

    A take that differs from what the others lead one to expect in how it swings its arms, turns, hurries, trembles or
    holds any part of the body (`judging.ASPECTS`) is unlikely.

    Args:
        takes: of one motion, on one skeleton and at one rate; four or more.
        measure: what takes are held to, as of `Measure.of`; sets may be looser by half as much again. None holds them
            to how most of these very takes differ, by which a set that is loose throughout stays as it is.
        rng: draws the pairs; None is a generator of seed 0.
        partitions: how often every take is judged in a round.
        progress: called after every pair.
        kin: as of `judged_apart`.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    own = Scale.of_most(judged_apart(takes, differences, rng, partitions, progress, kin))
    scale = own if measure is None else measure.scale.allowing(own)
    threshold = _USUAL if measure is None else measure.threshold

    def judge(others: Sequence[Clip], judged: Sequence[Clip]) -> FloatArray:
        return scale.log_likelihood(differences(others, judged))

    return leave_out(takes, threshold, judge, rng, partitions, progress, kin)


def leave_out(
    takes: Sequence[Clip],
    threshold: float,
    judge: Judge,
    rng: np.random.Generator,
    partitions: int = 1,
    progress: Progress | None = None,
    kin: Kin | None = None,
) -> Choice:
    """Leave out takes, the least likely first, until all that are kept reach the threshold.

    Where fewer than four would be left, none is kept: nothing can be learnt from them.

    Args:
        takes: of one motion, on one skeleton.
        threshold: as of `threshold_of`.
        judge: learns and gives log-likelihoods.
        rng: draws the pairs.
        partitions: how often every take is judged in a round.
        progress: called after every pair.
        kin: as of `judged_apart`.
    """
    kept, left = list(takes), list[Left]()
    while True:
        found = judged_apart(kept, judge, rng, partitions, progress, kin).mean(axis=0)
        worst = int(np.argmin(found))
        if found[worst] >= threshold:
            return Choice(tuple(kept), tuple(found.tolist()), tuple(left), threshold)
        left.append(Left(kept.pop(worst), float(found[worst])))
        if len(kept) < LEAST + 1:
            left += [Left(clip, float("nan")) for clip in kept]
            return Choice((), (), tuple(left), threshold)


def judged_apart(
    takes: Sequence[Clip],
    judge: Judge,
    rng: np.random.Generator,
    partitions: int = 1,
    progress: Progress | None = None,
    kin: Kin | None = None,
) -> FloatArray:
    """What networks say of takes that they were learnt without.

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
        What the judge gives; (partitions, takes) or (partitions, takes, columns).
    """
    count = len(takes)
    if count < LEAST + 1:
        raise VariationError(f"{count} takes to choose from; give {LEAST + 1} or more")
    size = 2 if count >= LEAST + 2 else 1
    groups = [(row, group) for row in range(partitions) for group in _pairs(rng.permutation(count), size)]
    if kin is not None:
        names = [kin(take) for take in takes]
        families = [[k for k, name in enumerate(names) if name == one] for one in dict.fromkeys(names)]
        if max(len(family) for family in families) <= count - LEAST:
            groups = [(row, family) for row in range(partitions) for family in families]
    found: list[list[FloatArray]] = [[np.zeros(0)] * count for _ in range(partitions)]
    for number, (row, group) in enumerate(groups):
        if progress is not None:
            progress("judging takes", number, len(groups))
        others = [takes[k] for k in range(count) if k not in group]
        judged = np.asarray(judge(others, [takes[k] for k in group]), dtype=np.float64)
        for place, values in zip(group, judged, strict=True):
            found[row][place] = values
    out = np.array(found)
    if not np.isfinite(out).all():
        raise VariationError("a take has no finite likelihood; look for frames that are not those of its motion")
    return out


def threshold_of(found: FloatArray, percentile: float = PERCENTILE) -> float:
    """What takes that are known to go together reach, all but a tenth of them."""
    return float(np.percentile(found, percentile))


def _pairs(order: IntArray, size: int) -> list[list[int]]:
    """The order in groups; the last one takes what is over from those before."""
    groups = [order[k : k + size].tolist() for k in range(0, len(order), size)]
    if len(groups[-1]) < size:
        groups[-1] = [groups[0][0], *groups[-1]]
    return groups
