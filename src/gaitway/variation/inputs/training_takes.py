"""Takes that variation is learnt from: those of a library's behaviours, and whether a model can be learnt from them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import VariationError
from gaitway.library.behavior import Behavior, Library
from gaitway.motion.clip import Clip
from gaitway.variation.network.phase import PhaseAlignment, resampled

VARIANT = "variant"
"""Label of generated variants; nothing is learnt from clips that have it."""
_RESTING = ("stand",)
"""States in which behaviours that begin and end there have nothing in common; a wave is not a turn."""
FEWEST = 4
"""Number of takes below which a learnt structure predicts little (the thesis found the same)."""
_SHORTEST = 8
"""Least number of frames of a take."""
LONGEST_RATIO = 2.0
"""Ratio of lengths from which two takes count as different motions."""

_OTHER, _OUTLIER = 1.2, 5.0
"""Limits beyond which a take is of another motion: its mean squared difference from the rest in variances of the
columns, and as a multiple of what is usual among the takes."""
_UNLIKE = 0.85
"""Mean squared difference above which takes have little in common."""
_TWO, _APART = 1.5, 3.0
"""Limits beyond which takes are of two motions: the mean squared difference between two groups (motions without
anything in common differ by 2), and as a multiple of that within a group."""


class VariationWarning(UserWarning):
    """Warning about takes from which variation can be learnt, but not well."""


def takes_of(library: Library, behavior: Behavior) -> list[Clip]:
    """Return the captured or generated takes of a behaviour, without its variants."""
    return [library.clips[name] for name in behavior.clips if VARIANT not in library.clips[name].labels]


class TrainingTakes:
    """Takes that upper bodies are learnt from: those of all behaviours with the same states and similar length."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._groups: dict[tuple[str | None, ...], list[list[Clip]]] = {}

    def of(self, behavior: Behavior) -> list[Clip]:
        """Return the takes that go with those of a behaviour; the same takes always give the same list."""
        key = _kind(behavior)
        if key not in self._groups:
            alike = [b for b in self._library.graph.behaviors if _kind(b) == key]
            unique = {id(clip): clip for b in alike for clip in takes_of(self._library, b)}
            self._groups[key] = by_length(list(unique.values()))
        own = sorted(takes_of(self._library, behavior), key=len)
        middle = own[len(own) // 2]
        return next(group for group in self._groups[key] if any(clip is middle for clip in group))


def by_length(clips: Sequence[Clip]) -> list[list[Clip]]:
    """Return clips in groups within which none is twice as long as another; the order of the clips is kept.

    One step and three steps between the same states are different motions. Groups are split where lengths differ most.
    """
    lengths = np.array(sorted(len(clip) for clip in clips), dtype=np.float64)
    if not len(lengths) or lengths[-1] < LONGEST_RATIO * lengths[0]:
        return [list(clips)] if clips else []
    jump = int(np.argmax(lengths[1:] / lengths[:-1]))
    shorter = [clip for clip in clips if len(clip) <= lengths[jump]]
    longer = [clip for clip in clips if len(clip) > lengths[jump]]
    return [*by_length(shorter), *by_length(longer)]


def _kind(behavior: Behavior) -> tuple[str | None, ...]:
    rests = behavior.start == behavior.end and behavior.start in _RESTING
    return behavior.start, behavior.end, behavior.obstacle, behavior.name if rests else None


def check_takes(takes: Sequence[Clip]) -> None:
    """Refuse takes from which nothing can be learnt, and warn about takes from which little can be learnt.

    Raises:
        VariationError: naming the take, and what to do.
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


def check_alike(names: Sequence[str], takes: Sequence[FloatArray], alignment: PhaseAlignment) -> None:
    """Refuse a take of another motion than the rest, and warn about takes that have little in common.

    Args:
        names: Names of the takes.
        takes: Takes (F, n), with columns of deviation one.
        alignment: Phases of the takes.

    Raises:
        VariationError: naming the take.
    """
    grid = np.linspace(0.0, alignment.period, len(alignment.mean))
    warped = np.array([resampled(take, phase, grid) for take, phase in zip(takes, alignment.phases, strict=True)])
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
    flat = warped.reshape(len(warped), -1)
    pairs = scipy.spatial.distance.pdist(flat, "sqeuclidean") / flat.shape[1]
    apart = scipy.spatial.distance.squareform(pairs)
    tree = scipy.cluster.hierarchy.linkage(pairs, "average")
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
