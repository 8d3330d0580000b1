"""Whether two sets of motions come from one source: energy distance and a classifier, with p-values by permutation."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import VariationError

PERMUTATIONS = 999
_RIDGE = 1.0
"""Weight of the classifier's penalty, in deviations squared a column."""
_PARTS = 5
"""Of the samples, each judged by what the others teach."""


class Verdict(NamedTuple):
    """What a test says of two samples."""

    value: float
    """Energy distance, or the share of pairs that the classifier puts in the right order (AUC)."""
    p: float
    """How often two samples from one source differ by so much."""


def energy_test(
    first: FloatArray, second: FloatArray, rng: np.random.Generator, permutations: int = PERMUTATIONS
) -> Verdict:
    """Energy distance between two samples (n, k) and (m, k): 0 if they have one distribution, else above.

    Args:
        first: one sample a row.
        second: another one, of the same columns.
        rng: draws the permutations.
        permutations: how often samples are mixed; p is no less than 1 / (permutations + 1).
    """
    both, labels = _stacked(first, second)
    apart = _distances(both)

    def energies(flags: FloatArray) -> FloatArray:
        """Of divisions of all samples (P, n + m) into two."""
        n, m = len(first), len(second)
        other = 1.0 - flags
        across = np.einsum("pi,pi->p", flags @ apart, other) / (n * m)
        # without the zeros on the diagonal, so that samples of different size compare fairly
        inside = np.einsum("pi,pi->p", flags @ apart, flags) / (n * (n - 1))
        outside = np.einsum("pi,pi->p", other @ apart, other) / (m * (m - 1))
        return np.asarray(2.0 * across - inside - outside)

    return _verdict(labels, energies, rng, permutations)


def classifier_test(
    first: FloatArray, second: FloatArray, rng: np.random.Generator, permutations: int = PERMUTATIONS
) -> Verdict:
    """How well a linear classifier on columns and their squares tells samples it has not seen; 0.5 is not at all.

    Samples fall into five parts, each judged by ridge regression on the other four and only among themselves. What
    regression answers is linear in the labels, so permuting costs a product of matrices.

    Args:
        first: one sample a row (n, k).
        second: another one (m, k).
        rng: draws parts and permutations.
        permutations: as of `energy_test`.
    """
    both, labels = _stacked(first, second)
    spread = both.std(axis=0)
    z = (both - both.mean(axis=0)) / np.where(spread > 1e-12, spread, 1.0)
    columns = np.column_stack([z, z**2 - 1.0])
    gram = columns @ columns.T
    parts = rng.permutation(np.arange(len(both)) % _PARTS)
    folds = []
    for part in range(_PARTS):
        test, train = np.flatnonzero(parts == part), np.flatnonzero(parts != part)
        inner = gram[np.ix_(train, train)] + _RIDGE * columns.shape[1] * np.eye(len(train))
        folds.append((test, train, np.linalg.solve(inner, gram[np.ix_(train, test)])))

    def areas(flags: FloatArray) -> FloatArray:
        won, pairs = np.zeros(len(flags)), np.zeros(len(flags))
        for test, train, answers in folds:
            known = flags[:, train]
            scores = (known - known.mean(axis=1, keepdims=True)) @ answers
            more, of = _pairs_won(scores, flags[:, test])
            won, pairs = won + more, pairs + of
        return np.asarray(won / np.maximum(pairs, 1.0))

    return _verdict(labels, areas, rng, permutations)


def _pairs_won(scores: FloatArray, positive: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Pairs of a positive and a negative in which the positive has the higher score, ties half, and all pairs; (P,)."""
    ranks = scipy.stats.rankdata(scores, axis=1)
    n = positive.sum(axis=1)
    won = (ranks * positive).sum(axis=1) - n * (n + 1.0) / 2.0
    return np.asarray(won), np.asarray(n * (positive.shape[1] - n))


def _verdict(
    labels: FloatArray, measure: Callable[[FloatArray], FloatArray], rng: np.random.Generator, permutations: int
) -> Verdict:
    value = float(measure(labels[None])[0])
    shuffled = rng.permuted(np.repeat(labels[None], permutations, axis=0), axis=1)
    above = int((measure(shuffled) >= value - 1e-12).sum())
    return Verdict(value, (above + 1) / (permutations + 1))


def _stacked(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """All samples, and 1 for those of the first set (n + m,)."""
    if first.ndim != 2 or second.ndim != 2 or first.shape[1] != second.shape[1]:
        raise VariationError(f"samples of shapes {first.shape} and {second.shape}; give rows of the same columns")
    if min(len(first), len(second)) < 3:
        raise VariationError(f"{len(first)} and {len(second)} samples; a test needs 3 or more of each")
    both = np.concatenate([first, second])
    if not np.isfinite(both).all():
        raise VariationError("samples have values that are not finite")
    return both, np.concatenate([np.ones(len(first)), np.zeros(len(second))])


def _distances(points: FloatArray) -> FloatArray:
    squares = (points**2).sum(axis=1)
    return np.asarray(np.sqrt(np.maximum(squares[:, None] + squares[None] - 2.0 * points @ points.T, 0.0)))


def nearest(points: FloatArray, others: FloatArray | None = None) -> tuple[FloatArray, IntArray]:
    """Distance (n,) from each row to the nearest of others, or of its own kind without itself, and which that is."""
    if others is None:
        apart = _distances(points)
        np.fill_diagonal(apart, np.inf)
    else:
        count = len(points)
        apart = _distances(np.concatenate([points, others]))[:count, count:]
    which = np.argmin(apart, axis=1)
    return apart[np.arange(len(points)), which], which
