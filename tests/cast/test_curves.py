"""Curves that hand-built motion is drawn with: what they promise at their ends."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.cast.curves import bump, fill_smoothly, hermite, plateau, smooth_step, soft_clip, travelled


def slopes(curve, at: float, step: float = 1e-4) -> tuple[float, float]:
    """First and second derivative of a curve, by differences."""
    below, here, above = (float(np.asarray(curve(np.array([at + k * step])))[0]) for k in (-1, 0, 1))
    return (above - below) / (2.0 * step), (above - 2.0 * here + below) / step**2


def test_smooth_steps_have_no_corner() -> None:
    assert smooth_step([-1.0, 0.0, 0.5, 1.0, 3.0]).tolist() == [0.0, 0.0, 0.5, 1.0, 1.0]
    assert smooth_step([2.0, 3.0, 4.0], 2.0, 4.0).tolist() == [0.0, 0.5, 1.0]
    for end in (0.0, 1.0):
        assert np.abs(slopes(smooth_step, end)).max() < 0.01
    assert slopes(smooth_step, 0.5)[0] == pytest.approx(1.875, rel=1e-3)
    assert plateau([0.0, 1.0, 2.5, 4.0, 5.0], 0.0, 1.0, 4.0, 5.0).tolist() == [0.0, 1.0, 1.0, 1.0, 0.0]


def test_soft_bounds_hold_and_have_no_corner() -> None:
    asked = [-9.0, -1.5, -0.5, 0.2, 0.5, 1.5, 9.0]
    np.testing.assert_allclose(soft_clip(asked, -1.0, 1.0, 0.5), [-1.0, -1.0, -0.5, 0.2, 0.5, 1.0, 1.0], atol=1e-12)
    slope = np.gradient(soft_clip(np.linspace(-2.0, 2.0, 4001), -1.0, 1.0, 0.5), 1e-3)
    assert slope.min() > -1e-9 and slope.max() < 1.0 + 1e-9
    assert np.abs(np.diff(slope)).max() < 0.002  # a corner would be 1


def test_hills_peak_where_they_say() -> None:
    grid = np.linspace(-0.2, 1.2, 1401)
    hill = bump(grid, 4.0, 2.0)
    assert hill.max() == pytest.approx(1.0, abs=1e-5) and grid[hill.argmax()] == pytest.approx(4.0 / 6.0, abs=1e-3)
    assert not hill[(grid <= 0.0) | (grid >= 1.0)].any()


def test_quintics_have_the_rates_that_are_given() -> None:
    first, rate, last, last_rate = (np.array([v]) for v in (1.0, -2.0, 4.0, 0.5))

    def curve(s: np.ndarray) -> np.ndarray:
        return hermite(s, first, rate, last, last_rate)[:, 0]

    assert curve(np.array([0.0, 1.0])).tolist() == [1.0, 4.0]
    assert slopes(curve, 0.0)[0] == pytest.approx(-2.0, abs=1e-4)
    assert slopes(curve, 1.0)[0] == pytest.approx(0.5, abs=1e-4)
    assert max(abs(slopes(curve, end)[1]) for end in (0.0, 1.0)) < 0.01


def test_soft_samples_draw_and_known_ones_bind() -> None:
    known = np.zeros(21, dtype=bool)
    known[[0, 1, 19, 20]] = True
    plain = fill_smoothly(np.zeros(21), known)
    drawn = fill_smoothly(np.zeros(21), known, [(10, 1.0, 100.0)])
    assert np.abs(plain).max() < 1e-12
    assert drawn[10] == pytest.approx(1.0, abs=0.05) and not drawn[known].any()


def test_paths_follow_their_heading() -> None:
    times = np.linspace(0.0, 2.0, 201)
    path = travelled(times, np.full(201, 1.5), np.full(201, 0.5 * np.pi))
    np.testing.assert_allclose(path[-1], [0.0, 3.0, 0.5 * np.pi], atol=1e-12)
