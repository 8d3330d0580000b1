"""Who stands at a goal steps aside for whoever comes, and comes back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gaitway.crowd.dynamics.making_way import way_made
from gaitway.crowd.dynamics.simulation import CrowdSimulation
from gaitway.crowd.throng.simulation import throng_options
from gaitway.world.world import World

FRAME = 1.0 / 30.0


def test_people_step_aside_to_the_side_on_which_they_are() -> None:
    places = np.array([[1.0, 0.2], [1.0, -0.2], [1.0, 0.7], [1.0, 1.0], [-0.6, 0.0], [3.0, 0.0]])
    made = way_made(places, places, np.zeros((1, 2)), np.array([[1.0, 0.0]]), np.array([9.0]))
    assert made.asked.tolist() == [True, True, True, False, False, False]
    assert made.wishes[0, 1] > 0.1 and made.wishes[1, 1] == pytest.approx(-made.wishes[0, 1])
    assert np.abs(made.wishes[:, 0]).max() < 1e-12
    assert not made.wishes[2:].any()  # the third is asked only to stay where it is


def test_nobody_steps_aside_for_who_does_not_come_so_far_or_goes_far_from_its_place() -> None:
    place, way = np.array([[1.0, 0.1]]), np.array([[1.0, 0.0]])
    assert not way_made(place, place, np.zeros((1, 2)), way, np.array([0.4])).asked.any()
    away = place - np.array([0.0, 1.2])
    made = way_made(place, away, np.zeros((1, 2)), way, np.array([9.0]))
    assert made.asked[0] and made.wishes[0] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_who_stands_right_before_somebody_goes_to_the_side_of_its_own_place() -> None:
    places, way = np.array([[1.0, 0.02]]), np.array([[1.0, 0.0]])
    for side in (-1.0, 1.0):
        made = way_made(places, places + np.array([0.0, 0.4 * side]), np.zeros((1, 2)), way, np.array([9.0]))
        assert side * made.wishes[0, 1] > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("makes_way", [False, True])
def test_a_row_of_people_at_their_goals_lets_somebody_through_and_closes_again(makes_way: bool) -> None:
    """Gaps of the row are 0.42 m, less than an outline is wide."""
    crowd = CrowdSimulation(World((0.0, 0.0, 12.0, 6.3)), replace(throng_options(), makes_way=makes_way), seed=1)
    row = np.column_stack([np.full(7, 6.0), 0.45 + 0.9 * np.arange(7)])
    crowd.add(row, row, reach=0.2)
    for _ in range(10):
        crowd.step(FRAME)
    assert crowd.arrived.all()
    crowd.add([[2.0, 2.9]], [[10.0, 2.9]], reach=0.3)
    while crowd.time < 12.0 and not crowd.arrived[-1]:
        crowd.step(FRAME)
    took = crowd.time
    if not makes_way:
        assert took > 7.5
        return
    assert took < 7.5 and crowd.arrived[:-1].all()
    while crowd.time < took + 6.0:
        crowd.step(FRAME)
    assert np.hypot(*(crowd.positions[:-1] - row).T).max() < 0.15
    assert crowd.overlaps().max() < 0.01
