"""Two-sample tests: whether two sets of motions have one distribution, with p-values by permutation.

There are two tests, the energy distance and a classifier. SciPy computes distances and ranks. The rest is kept here
because SciPy lacks it: `scipy.stats.energy_distance` is for samples of one dimension, and
`scipy.stats.permutation_test` calls the statistic with permuted samples, where products with permuted labels are
enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import VariationError

PERMUTATIONS = 999
_RIDGE = 1.0
"""Weight of the classifier's penalty, in squared deviations a column."""
_PARTS = 5
"""Number of parts of the samples; each is judged by a classifier that is trained on the others."""


_ALIKE = 1e-12
"""Values that differ by less, in the unit of what they are computed from, differ by rounding."""
_DIGITS = 9
"""Decimal places of the classifier's scores, which are about -1 to 1; equal samples shall have equal ranks."""


class Verdict(NamedTuple):
    """Result of a two-sample test."""

    value: float
    """Energy distance, or the share of pairs that the classifier puts in the right order (AUC)."""
    p: float
    """Probability that two samples of one distribution differ by as much."""


def energy_test(
    first: FloatArray, second: FloatArray, rng: np.random.Generator, permutations: int = PERMUTATIONS
) -> Verdict:
    """Compute the energy distance between samples (n, k) and (m, k): 0 if their distributions are equal, else above.

    Args:
        first: First set of samples, one a row.
        second: Second set of samples, with the same columns.
        rng: Generator that draws the permutations.
        permutations: Number of permutations; p is at least 1 / (permutations + 1).
    """
    both, labels = _stacked(first, second)
    apart = scipy.spatial.distance.cdist(both, both)

    def energies(flags: FloatArray) -> FloatArray:
        """Return the energy distance of divisions of all samples (P, n + m) into two."""
        n, m = len(first), len(second)
        other = 1.0 - flags
        across = np.einsum("pi,pi->p", flags @ apart, other) / (n * m)
        # without the zeros on the diagonal, so that samples of different size compare fairly
        inside = np.einsum("pi,pi->p", flags @ apart, flags) / (n * (n - 1))
        outside = np.einsum("pi,pi->p", other @ apart, other) / (m * (m - 1))
        return np.asarray(2.0 * across - inside - outside)

    return _verdict(labels, energies, rng, permutations, _ALIKE * max(float(apart.max()), 1.0))


def classifier_test(
    first: FloatArray, second: FloatArray, rng: np.random.Generator, permutations: int = PERMUTATIONS
) -> Verdict:
    """Compute how well a linear classifier on columns and their squares separates unseen samples; 0.5 is not at all.

    Samples are divided into five parts. Each part is judged by ridge regression on the other four, and ranked only
    within itself. The result of the regression is linear in the labels, so permuting them costs a product of matrices.

    Args:
        first: First set of samples, one a row; (n, k).
        second: Second set of samples; (m, k).
        rng: Generator that draws parts and permutations.
        permutations: As in `energy_test`.
    """
    both, labels = _stacked(first, second)
    spread = both.std(axis=0)
    varies = spread > _ALIKE * np.maximum(np.abs(both).max(axis=0), 1.0)  # others tell nothing but how they round
    z = (both - both.mean(axis=0))[:, varies] / spread[varies]
    columns = np.column_stack([z, z**2 - 1.0])
    gram = columns @ columns.T
    parts = rng.permutation(np.arange(len(both)) % _PARTS)
    folds = []
    for part in range(_PARTS):
        test, train = np.flatnonzero(parts == part), np.flatnonzero(parts != part)
        inner = gram[np.ix_(train, train)] + _RIDGE * max(columns.shape[1], 1) * np.eye(len(train))
        folds.append((test, train, np.linalg.solve(inner, gram[np.ix_(train, test)])))

    def areas(flags: FloatArray) -> FloatArray:
        won, pairs = np.zeros(len(flags)), np.zeros(len(flags))
        for test, train, answers in folds:
            known = flags[:, train]
            scores = (known - known.mean(axis=1, keepdims=True)) @ answers
            more, of = _pairs_won(np.round(scores, _DIGITS), flags[:, test])
            won, pairs = won + more, pairs + of
        return np.asarray(won / np.maximum(pairs, 1.0))

    return _verdict(labels, areas, rng, permutations, _ALIKE)


def _pairs_won(scores: FloatArray, positive: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the number of pairs whose positive has the higher score (ties half), and of all pairs; (P,)."""
    ranks = scipy.stats.rankdata(scores, axis=1)
    n = positive.sum(axis=1)
    won = (ranks * positive).sum(axis=1) - n * (n + 1.0) / 2.0
    return np.asarray(won), np.asarray(n * (positive.shape[1] - n))


def _verdict(
    labels: FloatArray,
    measure: Callable[[FloatArray], FloatArray],
    rng: np.random.Generator,
    permutations: int,
    alike: float,
) -> Verdict:
    """Return the value of a measure, and its rank among permuted labels; values nearer than `alike` are equal."""
    value = float(measure(labels[None])[0])
    shuffled = rng.permuted(np.repeat(labels[None], permutations, axis=0), axis=1)
    above = int((measure(shuffled) >= value - alike).sum())
    return Verdict(value, (above + 1) / (permutations + 1))


def _stacked(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return all samples, and labels (n + m,) that are 1 for the first set."""
    if first.ndim != 2 or second.ndim != 2 or first.shape[1] != second.shape[1]:
        raise VariationError(f"samples of shapes {first.shape} and {second.shape}; give rows of the same columns")
    if min(len(first), len(second)) < 3:
        raise VariationError(f"{len(first)} and {len(second)} samples; a test needs 3 or more of each")
    both = np.concatenate([first, second])
    if not np.isfinite(both).all():
        raise VariationError("samples have values that are not finite")
    return both, np.concatenate([np.ones(len(first)), np.zeros(len(second))])


def nearest(points: FloatArray, others: FloatArray | None = None) -> tuple[FloatArray, IntArray]:
    """Return the distance (n,) from each row to the nearest of others, and the number of that row.

    Without others, it is that to the nearest other row.
    """
    apart = scipy.spatial.distance.cdist(points, points if others is None else others)
    if others is None:
        np.fill_diagonal(apart, np.inf)
    which = np.argmin(apart, axis=1)
    return apart[np.arange(len(points)), which], which
