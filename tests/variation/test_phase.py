"""Phases: takes of different timing are brought beside one another, and cycles are known as such."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gaitway.core.arrays import FloatArray
from gaitway.variation.network import _phase_kernels
from gaitway.variation.network.phase import align_phases, cycle_ends, phase_shares, resampled


def wave(frames: int, warp: float = 0.0, turns: float = 1.0) -> FloatArray:
    """Two columns, whose time runs unevenly by `warp`."""
    t = np.linspace(0.0, 1.0, frames)
    t = t + warp * np.sin(2 * np.pi * t) / (2 * np.pi)
    angle = 2 * np.pi * turns * t
    return np.sqrt(2.0) * np.column_stack([np.sin(angle), np.cos(angle), np.sin(angle + 1.0)])


def brute_force_warp(costs: FloatArray) -> float:
    """The cheapest path by trying all, recursively."""
    n, m = costs.shape

    def cost(i: int, j: int) -> float:
        if i == 0 and j == 0:
            return float(costs[0, 0])
        if i <= 0 or j <= 0:
            return np.inf
        options = [cost(i - 1, j - 1) + 2.0 * costs[i, j]]
        if i > 1:
            options.append(cost(i - 2, j - 1) + 2.0 * costs[i - 1, j] + costs[i, j])
        if j > 1:
            options.append(cost(i - 1, j - 2) + 2.0 * costs[i, j - 1] + costs[i, j])
        return float(min(options))

    return cost(n - 1, m - 1)


@given(st.integers(0, 10_000), st.integers(3, 6), st.integers(3, 6))
def test_the_cheapest_path_is_found(seed: int, n: int, m: int) -> None:
    costs = np.random.default_rng(seed).random((n, m))
    path = np.zeros((n + m, 2), np.int64)
    count = _phase_kernels.warp(costs, path)
    best = brute_force_warp(costs)
    if not np.isfinite(best):
        assert count == 0
        return
    rows = path[-count:]
    assert rows[0].tolist() == [0, 0]
    assert rows[-1].tolist() == [n - 1, m - 1]
    # a step that moves both sides costs twice, as does the first half of one that moves one side twice
    moved = np.diff(rows, axis=0)
    assert (moved >= 0).all()
    total, at = costs[0, 0], 1
    while at < count:
        if at + 1 < count and moved[at].sum() == 1:
            total += 2.0 * costs[tuple(rows[at])] + costs[tuple(rows[at + 1])]
            at += 2
        else:
            total += 2.0 * costs[tuple(rows[at])]
            at += 1
    assert total == np.float64(total)
    np.testing.assert_allclose(total, best, rtol=1e-9)


def test_uneven_time_is_undone() -> None:
    shares = phase_shares(wave(60, warp=0.6), wave(80), np.ones(3))
    t = np.linspace(0.0, 1.0, 60)
    np.testing.assert_allclose(shares, t + 0.6 * np.sin(2 * np.pi * t) / (2 * np.pi), atol=0.03)
    assert (np.diff(shares) > 0.0).all()
    assert shares[0] == 0.0
    assert shares[-1] == 1.0


def test_takes_come_to_lie_on_their_mean() -> None:
    takes = [wave(50), wave(60, 0.4), wave(55, -0.4), wave(58, 0.2)]
    alignment = align_phases(takes)
    assert alignment.period == np.mean([len(take) for take in takes]) - 1.0
    grid = np.linspace(0.0, alignment.period, len(alignment.mean))
    warped = np.array([resampled(take, phase, grid) for take, phase in zip(takes, alignment.phases, strict=True)])
    even = np.array([resampled(take, np.linspace(0.0, alignment.period, len(take)), grid) for take in takes])
    assert warped.std(axis=0).mean() < 0.4 * even.std(axis=0).mean()


def test_columns_that_differ_throughout_tell_little() -> None:
    rng = np.random.default_rng(0)
    takes = [np.column_stack([wave(50, 0.1 * k), np.full(50, rng.standard_normal())]) for k in range(4)]
    weights = align_phases(takes).weights
    assert weights[3] < 0.3 * weights[:3].min()


def test_cycles_are_known_with_and_without_a_tail() -> None:
    assert cycle_ends([wave(41), wave(43), wave(45)]) == [40, 42, 44]
    tailed = [np.concatenate([take, take[1:4]]) for take in (wave(41), wave(43))]
    assert cycle_ends(tailed) == [40, 42]
    assert cycle_ends([wave(41, turns=0.6), wave(43, turns=0.6)]) is None  # ends elsewhere
    rest = [np.sin(np.pi * np.linspace(0, 1, frames))[:, None] ** 2 * np.ones(3) for frames in (41, 44)]
    assert cycle_ends(rest) is None  # ends where it began, at rest
    assert cycle_ends([wave(9), wave(9)]) is None
