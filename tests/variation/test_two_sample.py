"""Tests of two samples: calm on one source, sharp on two, and the same as by hand."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.core.errors import VariationError
from gaitway.variation.evaluation.two_sample import classifier_test, energy_test, nearest


def test_energy_distance_is_that_of_its_definition() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(7, 3)), rng.normal(size=(9, 3)) + 1.0

    def mean(a: np.ndarray, b: np.ndarray, pairs: int) -> float:
        return float(sum(np.linalg.norm(p - q) for p in a for q in b)) / pairs

    by_hand = 2.0 * mean(x, y, 63) - mean(x, x, 42) - mean(y, y, 72)
    assert energy_test(x, y, rng, 99).value == pytest.approx(by_hand, rel=1e-9)


@pytest.mark.parametrize("test", [energy_test, classifier_test])
def test_false_alarms_are_as_rare_as_they_say(test) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(1)
    ps = [test(rng.normal(size=(12, 4)), rng.normal(size=(30, 4)), rng, 99).p for _ in range(60)]
    assert 0.0 <= np.mean(np.array(ps) <= 0.05) <= 0.12
    assert 0.35 < np.mean(ps) < 0.65


@pytest.mark.parametrize("test", [energy_test, classifier_test])
@pytest.mark.parametrize("change", [lambda x: x + 1.2, lambda x: 3.0 * x])
def test_other_sources_are_told(test, change) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(2)
    assert test(change(rng.normal(size=(25, 4))), rng.normal(size=(60, 4)), rng, 199).p <= 0.01


def test_classifier_of_what_is_apart_and_of_what_is_constant() -> None:
    rng = np.random.default_rng(3)
    apart = classifier_test(rng.normal(size=(20, 2)) + 9.0, rng.normal(size=(20, 2)), rng, 99)
    assert apart.value > 0.99
    same = classifier_test(np.ones((10, 2)), np.ones((12, 2)), rng, 99)
    assert same.value == pytest.approx(0.5)
    assert same.p > 0.9


def test_same_seed_same_verdict() -> None:
    x, y = np.random.default_rng(4).normal(size=(2, 15, 3))
    assert energy_test(x, y, np.random.default_rng(7)) == energy_test(x, y, np.random.default_rng(7))


def test_nearest_others_and_own_kind() -> None:
    points = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]])
    far, which = nearest(points)
    assert far.tolist() == pytest.approx([5.0, 1.0, 1.0])
    assert which.tolist() == [1, 2, 1]
    far, which = nearest(points, np.array([[0.0, 1.0], [3.0, 4.0]]))
    assert far.tolist() == pytest.approx([1.0, 0.0, 1.0])
    assert which.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        (np.zeros((2, 3)), np.zeros((9, 3)), "3 or more"),
        (np.zeros((5, 3)), np.zeros((5, 2)), "same columns"),
        (np.zeros(5), np.zeros(5), "same columns"),
        (np.full((5, 3), np.nan), np.zeros((5, 3)), "not finite"),
    ],
)
def test_bad_samples_are_refused(x: np.ndarray, y: np.ndarray, said: str) -> None:
    with pytest.raises(VariationError, match=said):
        energy_test(x, y, np.random.default_rng(0))
