"""Throngs get through: streams against one another, gates, openings and doors, with bodies apart and out of walls."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.bench._crowd_scenes import ThrongResult, corridor, door, gates, opening, run_throng, square
from gaitway.crowd.dynamics.options import CrowdOptions

OPTIONS = CrowdOptions()


def _bodies_stay_apart(result: ThrongResult) -> None:
    assert result.close < 0.002
    assert result.deepest < 0.05
    assert result.least_gap > -1e-3


@pytest.mark.slow
def test_a_small_counter_flow_clears() -> None:
    result = run_throng(corridor(OPTIONS, people=12, width=2.0), 60.0)
    assert result.arrived == 24
    _bodies_stay_apart(result)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_a_corridor_of_4_m_with_100_against_100_clears(seed: int) -> None:
    result = run_throng(corridor(OPTIONS, seed), 150.0)
    assert result.arrived == 200
    _bodies_stay_apart(result)


@pytest.mark.slow
def test_six_gates_of_70_cm_with_both_directions_clear() -> None:
    result = run_throng(gates(OPTIONS), 120.0)
    assert result.arrived == 40
    _bodies_stay_apart(result)


@pytest.mark.slow
def test_500_people_change_places_through_an_opening() -> None:
    result = run_throng(opening(OPTIONS), 120.0)
    assert result.arrived >= 475
    _bodies_stay_apart(result)


@pytest.mark.slow
def test_100_people_change_places_through_an_opening() -> None:
    result = run_throng(opening(OPTIONS, people=50), 90.0)
    assert result.arrived >= 99
    _bodies_stay_apart(result)


@pytest.mark.slow
def test_200_people_leave_by_a_door_as_fast_as_people_do() -> None:
    result = run_throng(door(OPTIONS), 200.0)
    assert result.arrived == 200
    assert 1.2 < result.flow < 2.2
    _bodies_stay_apart(result)


@pytest.mark.slow
def test_nobody_is_lost_among_pillars() -> None:
    crowd = square(600).crowd(OPTIONS)
    crowd.step(10.0)
    assert np.isfinite(crowd.positions).all()
    present = crowd.present
    assert crowd.wall_gaps()[present].min() > -1e-3
    assert crowd.overlaps().max() < 0.05
    assert len(crowd) == 600
