"""Straight paths end where they should, and turn no more than the planned ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.performing.relaxing._straight_kernels import LONGEST, SHORTEST
from gaitway.performing.relaxing.straight_path import PathContact, StraightPath, turning

FRAMES = 20


def walked(turns: list[float], length: float = 1.4) -> tuple[FloatArray, IntArray]:
    """Return a path of steps that each turn by an angle [rad], and its knots."""
    heading = np.concatenate([[0.0], np.cumsum(np.repeat(turns, FRAMES) / FRAMES)])
    ahead = 0.5 * (heading[1:] + heading[:-1])
    moves = length / FRAMES * np.column_stack([np.cos(ahead), np.sin(ahead)])
    places = np.vstack([[0.0, 0.0], np.cumsum(moves, axis=0)])
    return np.column_stack([places, heading]), np.arange(len(turns) + 1) * FRAMES


def straight_path(
    path: FloatArray, knots: IntArray, place: tuple[float, float], heading: float | None
) -> FloatArray | None:
    return StraightPath(path, knots).find(place, heading)


def length_of(path: FloatArray) -> float:
    return float(np.hypot(*np.diff(path[:, :2], axis=0).T).sum())


def test_a_weave_becomes_a_line() -> None:
    path, knots = walked(list(np.radians([15.0, -15.0] * 5)))
    straight = straight_path(path, knots, (path[-1, 0], path[-1, 1]), float(path[-1, 2]))
    assert straight is not None
    assert turning(path, knots) == pytest.approx(np.radians(150.0))
    assert turning(straight, knots) < np.radians(25.0)
    np.testing.assert_allclose(straight[[0, -1]], path[[0, -1]], atol=1e-6)
    assert SHORTEST <= length_of(straight) / length_of(path) <= 1.0


def test_a_corner_stays_a_corner() -> None:
    path, knots = walked(list(np.radians([0.0, 15.0, -15.0, 45.0, 45.0, -15.0, 15.0, 0.0])))
    straight = straight_path(path, knots, (path[-1, 0], path[-1, 1]), float(path[-1, 2]))
    assert straight is not None
    turns = np.degrees(np.diff(straight[knots, 2]))
    assert turning(straight, knots) < np.radians(100.0)
    assert turns[3] + turns[4] > 50.0  # a few sharp turns, not a wide arc


def test_a_free_heading_saves_a_hook() -> None:
    path, knots = walked(list(np.radians([0.0, 0.0, 0.0, 0.0, 30.0, -45.0])))
    place = (float(path[-1, 0]), float(path[-1, 1]))
    kept, free = straight_path(path, knots, place, float(path[-1, 2])), straight_path(path, knots, place, None)
    assert kept is not None and free is not None
    assert turning(free, knots) < turning(kept, knots) < turning(path, knots)


def test_a_place_out_of_reach_is_refused() -> None:
    path, knots = walked([0.0, 0.1, -0.1])
    assert straight_path(path, knots, (1.3 * LONGEST * length_of(path), 0.0), None) is None


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([-45.0, -30.0, -15.0, 0.0, 15.0, 30.0, 45.0]), min_size=2, max_size=16), st.booleans())
def test_ends_stay_and_steps_keep_their_length(turns: list[float], keep: bool) -> None:
    path, knots = walked(list(np.radians(turns)))
    straight = straight_path(path, knots, (path[-1, 0], path[-1, 1]), float(path[-1, 2]) if keep else None)
    if straight is None:
        return
    np.testing.assert_allclose(straight[0], path[0], atol=1e-12)
    np.testing.assert_allclose(straight[-1, :2], path[-1, :2], atol=1e-5)
    assert not keep or straight[-1, 2] == pytest.approx(path[-1, 2])
    ratios = np.hypot(*np.diff(straight[:, :2], axis=0).T) / np.hypot(*np.diff(path[:, :2], axis=0).T)
    assert (ratios >= SHORTEST - 1e-9).all() and (ratios <= LONGEST + 1e-9).all()
    assert np.abs(np.diff(ratios)).max() < 0.02  # neighbours are stretched alike


def test_a_contact_holds_the_path_and_pushes_only() -> None:
    path, knots = walked(list(np.radians([15.0, -30.0, 15.0, 15.0, -30.0, 15.0])))
    place = (float(path[-1, 0]), float(path[-1, 1]))
    middle, left = len(path) // 2, np.array([0.0, 1.0])
    for offset, held in ((0.3, True), (-0.3, False)):
        straight = StraightPath(path, knots).find(place, None, [PathContact(middle, left, offset)])
        assert straight is not None
        assert bool(abs(straight[middle, 1] - offset) < 2e-3) is held
        assert straight[middle, 1] >= offset - 2e-3
        np.testing.assert_allclose(straight[-1, :2], place, atol=1e-5)


def test_steps_that_may_not_turn_or_be_stretched_keep_their_shape() -> None:
    path, knots = walked(list(np.radians([30.0, 0.0, -45.0, 15.0])))
    fixed = np.array([True, False, True, True])
    drawing = StraightPath(path, knots, turns=fixed, strides=fixed)
    straight = drawing.find((float(path[-1, 0]), float(path[-1, 1])), None)
    assert straight is not None and turning(straight, knots) < turning(path, knots)
    a, b = int(knots[1]), int(knots[2])
    np.testing.assert_allclose(np.diff(straight[a : b + 1, 2]), np.diff(path[a : b + 1, 2]), atol=1e-12)
    lengths = [np.hypot(*np.diff(p[a : b + 1, :2], axis=0).T) for p in (path, straight)]
    np.testing.assert_allclose(*lengths, atol=1e-12)


def test_limits_spread_a_turn_over_steps() -> None:
    path, knots = walked(list(np.radians([0.0, 0.0, 45.0, 45.0, 0.0, 0.0])))
    place = (float(path[-1, 0]), float(path[-1, 1]))
    limits = np.tile(np.radians([-25.0, 25.0]), (6, 1))
    sharp = StraightPath(path, knots).find(place, float(path[-1, 2]))
    drawing = StraightPath(path, knots, limits=limits)
    wide = drawing.find(place, float(path[-1, 2]))
    assert sharp is not None and wide is not None
    assert np.abs(np.diff(sharp[knots, 2])).max() > np.radians(30.0)
    assert drawing.excess() < np.radians(3.0)
