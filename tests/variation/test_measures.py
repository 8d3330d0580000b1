"""Cycles told by poses, and spread of several sets about their own means."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.motion.clip import Clip
from gaitway.variation.evaluation.features import Yardstick
from gaitway.variation.evaluation.measures import cycle_lengths, pooled_spread, spread_of
from gaitway.variation.learning.calibration import warped_cycles
from gaitway.variation.sampling.streaming import Stream
from variation_takes import make_takes, small_model


def test_cycles_are_counted_by_poses() -> None:
    model = small_model()
    rows, phases = Stream(model, np.random.default_rng(0)).next(600)
    lengths = cycle_lengths(model, rows)
    _, clocked = warped_cycles(model, rows, phases)
    assert abs(len(lengths) - len(clocked)) <= 1
    assert abs(float(lengths.mean() - clocked.mean())) < 0.3
    cycle = model.alignment.mean[:-1]
    twice = np.repeat(np.tile(cycle, (6, 1)), 2, axis=0)
    np.testing.assert_allclose(cycle_lengths(model, twice)[1:-1], 2 * len(cycle), atol=2.0)


def test_what_stands_still_makes_no_cycle() -> None:
    model = small_model()
    still = np.repeat(model.alignment.mean[:1], 300, axis=0)
    assert len(cycle_lengths(model, still)) == 0
    frozen = np.concatenate(
        [np.tile(model.alignment.mean[:-1], (3, 1)), np.repeat(model.alignment.mean[:1], 500, axis=0)]
    )
    assert len(cycle_lengths(model, frozen)) <= 3


def test_spread_of_sets_is_about_their_own_means() -> None:
    takes = make_takes(8)
    stick = Yardstick.of(takes)
    one, two = takes[:4], takes[4:]
    pooled = pooled_spread([one, two], stick)
    assert (
        min(spread_of(one, stick), spread_of(two, stick)) <= pooled <= max(spread_of(one, stick), spread_of(two, stick))
    )
    assert pooled == pytest.approx(np.sqrt(0.5 * (spread_of(one, stick) ** 2 + spread_of(two, stick) ** 2)))
    alike: list[Clip] = [takes[0], takes[0]]
    assert pooled_spread([alike, alike], stick) == pytest.approx(0.0, abs=1e-9)
