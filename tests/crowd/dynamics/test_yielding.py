"""Knots at narrow places: one side steps back, and everybody gets through."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaitway.crowd.dynamics._route_kernels import MOST_CORNERS
from gaitway.crowd.dynamics.options import CrowdBody, CrowdOptions
from gaitway.crowd.dynamics.simulation import CrowdSimulation
from gaitway.crowd.dynamics.walls import Walls
from gaitway.crowd.dynamics.yielding import MOST, ways_ahead, who_follows, who_yields, wishes_back

EAST, WEST = (1.0, 0.0), (-1.0, 0.0)


def test_the_side_of_who_has_waited_longest_goes_first() -> None:
    places = np.array([[0.0, 0.0], [0.6, 0.0], [-0.6, 0.0], [9.0, 0.0]])
    found = who_yields(np.array([3, 5, 6, 8]), places, np.array([EAST, WEST, EAST, WEST]), np.array([9.0, 4.0, 9.0, 0]))
    assert sorted(found.rows.tolist()) == [3, 6]  # 8 is elsewhere, and nobody is against it there
    assert np.allclose(found.centers, (0.6, 0.0)) and np.allclose(found.lines, WEST)
    assert (found.seconds > 0.0).all()


def test_of_two_who_came_at_once_the_first_number_goes_first() -> None:
    found = who_yields(np.array([2, 7]), np.array([[0.0, 0.0], [0.6, 0.0]]), np.array([EAST, WEST]), np.zeros(2))
    assert found.rows.tolist() == [7]


def test_nobody_steps_back_where_all_go_the_same_way() -> None:
    places = np.array([[0.0, 0.0], [0.5, 0.0], [1.0, 0.1]])
    assert not len(who_yields(np.arange(3), places, np.array([EAST] * 3), np.zeros(3)).rows)
    assert not len(who_yields(np.arange(0), places[:0], places[:0], np.zeros(0)).rows)


def test_nobody_steps_back_in_a_crowd_that_is_larger_than_a_knot() -> None:
    for count in (MOST, MOST + 1):
        places = np.column_stack([0.5 * np.arange(count), np.zeros(count)])
        ways = np.where(np.arange(count)[:, None] < count // 2, EAST, WEST)
        found = who_yields(np.arange(count), places, ways, np.arange(count, dtype=float))
        assert bool(len(found.rows)) == (count == MOST)


@given(st.integers(0, 10_000), st.integers(2, 12))
def test_a_knot_never_sends_back_whom_it_lets_through(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    places, angles = rng.uniform(0.0, 1.5, (count, 2)), rng.uniform(-np.pi, np.pi, count)
    ways, since = np.column_stack([np.cos(angles), np.sin(angles)]), rng.integers(0, 4, count).astype(float)
    found = who_yields(np.arange(count), places, ways, since)
    assert len(np.unique(found.rows)) == len(found.rows) < count
    for row, center, line in zip(found.rows, found.centers, found.lines, strict=True):
        first = int(np.flatnonzero((places == center).all(axis=1))[0])
        assert first not in found.rows and ways[row] @ line < 0.0


def test_who_presses_from_behind_steps_back_too() -> None:
    yields, ways = np.array([True, False, False]), np.array([EAST, (0.0, 0.0), (0.0, 0.0)])
    assert who_follows(np.array([1, 2]), np.array([EAST, WEST]), np.array([0, 0]), yields, ways).tolist() == [1]
    assert not len(who_follows(np.array([1]), np.array([EAST]), np.array([-2]), yields, ways))


def test_people_step_back_and_out_of_the_line_and_then_wait() -> None:
    places = np.array([[0.3, 0.2], [0.3, -0.2], [4.0, 0.0]])
    wishes = wishes_back(places, np.array([WEST] * 3), np.zeros((3, 2)), np.array([EAST] * 3))
    assert (wishes[:2, 0] > 0.0).all() and wishes[0, 1] > 0.0 > wishes[1, 1]
    assert not wishes[2].any()


def test_the_way_ahead_leads_around_corners() -> None:
    corners = np.zeros((1, MOST_CORNERS, 2))
    corners[0, 0], corners[0, 1] = (50.0, 50.0), (1.0, 0.0)
    counts, numbers = np.array([2], np.int32), np.array([1], np.int32)
    way = ways_ahead(np.zeros((1, 2)), np.array([[1.0, 9.0]]), corners, counts, numbers)
    assert np.allclose(way, np.array([[1.0, 1.5]]) / np.hypot(1.0, 1.5))


@pytest.mark.slow
def test_two_clumps_get_through_one_gate() -> None:
    """Broad discs in a gate that lets one through: without stepping back one of them gets through, and no more."""
    arrived = []
    for after in (0.0, 3.0):
        walls = Walls.of_segments([[6.0, 0.0, 6.0, 3.65], [6.0, 4.35, 6.0, 8.0]], (0.0, 0.0, 12.0, 8.0))
        options = CrowdOptions(body=CrowdBody.disc(0.27), yield_after=after, threads=1)
        crowd, k = CrowdSimulation(walls, options, seed=1), np.arange(7)
        for side, goal in ((-1.0, 11.0), (1.0, 1.0)):
            spots = np.column_stack([6.0 + side * (1.5 + 0.8 * (k // 4)), 2.8 + 0.8 * (k % 4)])
            crowd.add(spots, np.column_stack([np.full(7, goal), 1.0 + k]))
        for _ in range(60 * 20):
            crowd.step(0.05)
        arrived.append(int(crowd.arrived.sum()))
    assert arrived[1] == 14 > arrived[0]
