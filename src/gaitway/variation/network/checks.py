"""Whether takes can be learnt from, said in one line."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import VariationError
from gaitway.motion.clip import Clip
from gaitway.variation.network.phase import Clock, resampled

FEWEST = 4
"""Takes below which a learnt structure is little worth (the thesis found the same)."""
_SHORTEST = 8
"""Frames."""
LONGEST_RATIO = 2.0
"""A take that is so many times as long as another is of another motion."""

_OTHER, _OUTLIER = 1.2, 5.0
"""A take is of another motion if its mean squared difference from the rest is over the first, in variances of the
columns, and so many times what is usual among the takes."""
_UNLIKE = 0.85
"""Takes with such a mean squared difference have little in common."""
_TWO, _APART = 1.5, 3.0
"""Takes are of two motions if those of one group differ from those of the other by more than the first (2 is what
motions that have nothing in common differ by), and so many times as much as within a group."""


class VariationWarning(UserWarning):
    """Takes from which variation can be learnt, but not well."""


def check_takes(takes: Sequence[Clip]) -> None:
    """Refuse takes from which nothing can be learnt, and warn of those from which little can.

    Raises:
        VariationError: saying which take, and what to do.
    """
    if len(takes) < 2:
        raise VariationError(
            f"{len(takes)} take(s): variation is what takes differ by; give at least 2, better {FEWEST} or more, "
            "or vary a single one with a model of others by model.with_takes([take])"
        )
    first = takes[0]
    for take in takes:
        _check_take(take, first)
    longest, shortest = max(takes, key=len), min(takes, key=len)
    if len(longest) >= LONGEST_RATIO * len(shortest):
        raise VariationError(
            f"take '{longest.name}' ({len(longest)} frames) is {len(longest) / len(shortest):.1f} times as long as "
            f"'{shortest.name}' ({len(shortest)}); takes must be of one motion: cut them alike"
        )
    if len(takes) < FEWEST:
        warnings.warn(
            f"{len(takes)} takes: a structure learnt from fewer than {FEWEST} predicts little; give more takes",
            VariationWarning,
            stacklevel=3,
        )


def check_alike(names: Sequence[str], takes: Sequence[FloatArray], clock: Clock) -> None:
    """Refuse takes of another motion than the rest, and warn of takes that have little in common.

    Args:
        names: of the takes.
        takes: (F, n), columns of deviation one.
        clock: their phases.

    Raises:
        VariationError: naming the take.
    """
    grid = np.linspace(0.0, clock.period, len(clock.mean))
    warped = np.array([resampled(take, phase, grid) for take, phase in zip(takes, clock.phases, strict=True)])
    others = (warped.sum(axis=0) - warped) / (len(warped) - 1)
    apart = ((warped - others) ** 2).mean(axis=(1, 2))
    worst, usual = int(apart.argmax()), float(np.median(apart))
    if len(takes) > 2 and apart[worst] > max(_OTHER, _OUTLIER * usual):
        raise VariationError(
            f"take '{names[worst]}' is of another motion than the other {len(takes) - 1}: it differs from them "
            f"{apart[worst] / usual:.0f} times as much as they do from one another; leave it out"
        )
    _check_one_motion(names, warped)
    if usual > _UNLIKE:
        warnings.warn(
            f"the takes of '{names[0]}' differ from one another as much as they move; are they of one motion?",
            VariationWarning,
            stacklevel=3,
        )


def _check_one_motion(names: Sequence[str], warped: FloatArray) -> None:
    """Refuse takes (takes, G, n) that fall into two groups with nothing in common."""
    if len(warped) < 2 * 2:
        return
    apart = np.array([((warped - take) ** 2).mean(axis=(1, 2)) for take in warped])
    tree = scipy.cluster.hierarchy.linkage(scipy.spatial.distance.squareform(apart, checks=False), "average")
    first = scipy.cluster.hierarchy.fcluster(tree, 2, "maxclust") == 1
    groups = (first, ~first)
    if min(group.sum() for group in groups) < 2:
        return  # one take alone was judged already
    within = max(apart[np.ix_(g, g)].sum() / (g.sum() * (g.sum() - 1)) for g in groups)
    between = apart[np.ix_(*groups)].mean()
    if between > max(_TWO, _APART * within):
        one, other = (", ".join(f"'{name}'" for name, member in zip(names, g, strict=True) if member) for g in groups)
        raise VariationError(f"the takes are of two motions: {one}; and {other}; learn each alone")


def _check_take(take: Clip, first: Clip) -> None:
    if take.skeleton is not first.skeleton and (
        take.skeleton.names != first.skeleton.names
        or not np.array_equal(take.skeleton.parents, first.skeleton.parents)
        or not np.allclose(take.skeleton.offsets, first.skeleton.offsets, atol=1e-4)
    ):
        raise VariationError(
            f"take '{take.name}' is on skeleton '{take.skeleton.name}', '{first.name}' on '{first.skeleton.name}'; "
            "retarget all takes to one skeleton first"
        )
    if abs(take.fps - first.fps) > 1e-6:
        raise VariationError(
            f"take '{take.name}' has {take.fps:g} Hz, '{first.name}' {first.fps:g} Hz; resample all to one rate"
        )
    if len(take) < _SHORTEST:
        raise VariationError(
            f"take '{take.name}' has {len(take)} frames; at least {_SHORTEST} are needed to learn from"
        )
    for what, values in (("root position", take.root_positions), ("rotation", take.rotations)):
        if not np.isfinite(values).all():
            frame = int(np.argwhere(~np.isfinite(values))[0][0])
            raise VariationError(
                f"take '{take.name}' has a {what} in frame {frame} that is not finite; repair or cut it"
            )
