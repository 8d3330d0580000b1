"""A crowd reaches its goals around walls, apart from one another, the same with any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.core.errors import CrowdError
from gaitway.crowd.dynamics.options import CrowdOptions
from gaitway.crowd.dynamics.simulation import CrowdSimulation, simulate
from gaitway.crowd.dynamics.walls import Walls

ROOM = Walls.of_segments([[6.0, 0.0, 6.0, 3.0], [6.0, 4.0, 6.0, 8.0]], (0.0, 0.0, 12.0, 8.0))
"""Two rooms with a door of 1 m between them."""


def _crowd(seed: int = 0, **options: object) -> CrowdSimulation:
    crowd = CrowdSimulation(ROOM, CrowdOptions(**options), seed)  # type: ignore[arg-type]
    x, y = (a.ravel() for a in np.meshgrid(np.arange(1.0, 4.0, 0.8), np.arange(1.0, 4.0, 0.8)))
    crowd.add(np.column_stack([x, y]), (10.0, 0.0, 12.0, 8.0))
    crowd.add(np.column_stack([x + 7.0, y + 3.0]), (0.0, 0.0, 2.0, 8.0))
    return crowd


@pytest.mark.slow
def test_two_streams_through_a_door_all_arrive_apart() -> None:
    crowd = _crowd()
    deepest, least = 0.0, 1.0
    while not crowd.arrived.all() and crowd.time < 90.0:
        crowd.step(0.05)
        deepest = max(deepest, float(crowd.overlaps().max()))
        least = min(least, float(crowd.wall_gaps()[crowd.present].min(initial=1.0)))
    assert crowd.arrived.all()
    assert deepest < 0.02
    assert least > -1e-3


@pytest.mark.parametrize("model", ["orca", "social_force"])
def test_same_bytes_with_any_number_of_threads(model: str) -> None:
    one, two = (_crowd(model=model, threads=threads) for threads in (1, 2))
    for crowd in (one, two):
        crowd.step(4.0)
    assert one.positions.tobytes() == two.positions.tobytes()
    assert one.headings.tobytes() == two.headings.tobytes()


def test_trajectories_end_where_people_leave() -> None:
    tracks = simulate(_crowd(), 4.0, 10.0)
    assert len(tracks) == 32
    assert tracks.fps == 10.0
    assert tracks.lengths.max() == 41


@pytest.mark.parametrize(
    ("positions", "goals", "message"),
    [
        ([[1.0, np.nan]], [5.0, 5.0], "positions of person 0 are"),
        ([[1.0, 1.0]], [50.0, 5.0], "goal of person 0 at"),
        ([[1.0, 1.0]], [5.0, 5.0, 4.0, 6.0], "write xmin, ymin, xmax, ymax"),
    ],
)
def test_bad_people_are_one_line(positions: object, goals: object, message: str) -> None:
    with pytest.raises(CrowdError, match=message) as caught:
        CrowdSimulation(ROOM).add(positions, goals)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_people_whose_bodies_must_follow_do_not_spring_aside() -> None:
    """Two streams at a door: velocities change no faster than told, and without a bound they do."""
    fastest = {}
    for agility in (0.0, 2.0):
        crowd = _crowd(agility=agility, threads=1)
        before, rises = crowd.velocities, list[float]()
        for _ in range(160):
            crowd.step(0.05)
            now = crowd.velocities
            rises.append(float(np.hypot(*(now - before)[crowd.present].T).max() / 0.05))
            before = now
        fastest[agility] = max(rises)
    assert fastest[0.0] > 6.0
    assert fastest[2.0] < 2.0 + 1e-6


def test_people_whose_bodies_must_follow_walk_backward_and_sideways_slowly() -> None:
    for heading, most in ((np.pi, 0.35), (0.5 * np.pi, 0.6)):  # the goal lies behind, and to the right
        speeds = {}
        for agility in (0.0, 2.0):
            crowd = CrowdSimulation(ROOM, CrowdOptions(agility=agility, trunk_rate=0.1, threads=1))
            crowd.add([[1.0, 1.0]], [[5.0, 1.0]], headings=[heading], speeds=[1.3])
            crowd.step(1.0)
            speeds[agility] = float(np.hypot(*crowd.velocities[0]))
        assert speeds[0.0] > 1.0
        assert speeds[2.0] < most + 0.1  # a little more, since trunks turn meanwhile


def test_a_bound_on_accelerations_that_cannot_be_is_said() -> None:
    with pytest.raises(CrowdError, match="crowd option agility is -1"):
        CrowdOptions(agility=-1.0)
