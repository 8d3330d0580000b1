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


@pytest.mark.parametrize("noise", [0.0, 1e-16, 3e-15])
def test_columns_that_differ_by_rounding_alone_tell_nothing(noise: float) -> None:
    """However they are rounded: 0.1 added up has other last bits than 0.1 times a number."""
    rng = np.random.default_rng(3)
    rounding = noise * rng.integers(-1, 2, (22, 3))
    both = np.array([0.1, 1.0, 300.0]) * (1.0 + rounding)
    same = classifier_test(both[:10], both[10:], rng, 99)
    assert (same.value, same.p) == (0.5, 1.0)
    told, mixed = (np.random.default_rng(4).normal(size=(22, 2)) for _ in range(2))
    alone = classifier_test(told[:10], told[10:], np.random.default_rng(5), 99)
    beside = np.column_stack([both[:, :1], mixed, both[:, 1:]])
    assert classifier_test(beside[:10], beside[10:], np.random.default_rng(5), 99) == alone


def test_samples_that_are_equal_rank_equally() -> None:
    """Both samples are the same rows: every order is a tie, however the products are rounded."""
    rows = np.random.default_rng(6).normal(size=(9, 4))
    twice = np.repeat(rows, 2, axis=0)
    for test in (energy_test, classifier_test):
        verdict = test(twice[::2], twice[1::2], np.random.default_rng(7), 99)
        assert verdict.p > 0.5


def test_p_counts_the_sample_itself() -> None:
    """What no permutation reaches has a p of 1 / (n + 1); what every permutation reaches has 1."""
    rng = np.random.default_rng(8)
    apart = rng.normal(size=(30, 2))
    for count in (19, 99):
        assert energy_test(apart + 50.0, apart - 50.0, rng, count).p == pytest.approx(1.0 / (count + 1))
    assert energy_test(np.ones((5, 1)), np.ones((6, 1)), rng, 19).p == 1.0


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
