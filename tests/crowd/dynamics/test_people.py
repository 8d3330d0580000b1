"""What people of a crowd can do and be: groups, queues, waiting, goals that are held, starts that cannot be, stuck."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.core.errors import CrowdError
from gaitway.crowd.dynamics.options import CrowdBody, CrowdOptions
from gaitway.crowd.dynamics.simulation import CrowdSimulation
from gaitway.crowd.dynamics.walls import Walls
from gaitway.world import Box, Cylinder, Obstacle, World

HALL = Walls.of_segments([], (0.0, 0.0, 14.0, 8.0))


@pytest.mark.slow
def test_a_thousand_people_on_one_spot_are_moved_apart_and_that_is_said() -> None:
    crowd = CrowdSimulation(Walls.of_segments([], (0.0, 0.0, 40.0, 40.0)))
    crowd.add(np.full((1000, 2), 20.0), (38.0, 38.0))
    assert crowd.overlaps().max() == 0.0
    assert len(crowd.repairs) == 1
    assert "999 people start in others, first person 1; moved apart" in crowd.repairs[0]
    away = np.hypot(*(crowd.positions - 20.0).T)
    assert away.max() < 10.0  # the nearest spots, not any
    with pytest.raises(CrowdError, match="no room for 1000 people here"):
        CrowdSimulation(Walls.of_segments([], (0.0, 0.0, 5.0, 5.0))).add(np.full((1000, 2), 2.0), (4.0, 4.0))


def test_people_who_start_in_walls_are_moved_clear() -> None:
    world = World(
        (0.0, 0.0, 10.0, 6.0), (Obstacle(Box((4.0, 3.0), (2.0, 2.0), 2.0)), Obstacle(Cylinder((8.0, 3.0), 0.5, 2.0)))
    )
    crowd = CrowdSimulation(world)
    crowd.add([[4.0, 3.0], [8.1, 3.0], [-2.0, 3.0]], (5.0, 5.5))
    assert "3 people start in walls or out of bounds, first person 0; moved clear" in crowd.repairs[0]
    assert crowd.wall_gaps().min() >= 0.0


def test_a_group_stays_together_though_its_speeds_differ() -> None:
    def spread(groups: list[int] | None) -> float:
        crowd = CrowdSimulation(HALL)
        crowd.add([[1.0, 3.4], [1.0, 4.0], [1.0, 4.6]], (13.0, 4.0), speeds=[1.0, 1.3, 1.6], groups=groups)
        crowd.step(6.0)
        return float(np.ptp(crowd.positions[:, 0]))

    assert spread([7, 7, 7]) < 1.0
    assert spread(None) > 2.5


def test_people_wait_until_a_time_or_until_told() -> None:
    crowd = CrowdSimulation(HALL)
    ids = crowd.add([[2.0, 2.0], [2.0, 4.0], [2.0, 6.0]], (13.0, 4.0), departs=[2.0, np.inf, -np.inf])
    crowd.step(1.9)
    moved = crowd.positions[:, 0] - 2.0
    assert moved[0] == 0.0 == moved[1]
    assert moved[2] > 1.0
    assert crowd.waiting.tolist() == [True, True, False]
    assert crowd.stuck() == []
    crowd.step(2.0)
    assert crowd.positions[0, 0] > 3.0
    crowd.step(4.0)
    assert crowd.stuck() == []  # who waits is not stuck
    crowd.release(ids[1])
    crowd.step(2.0)
    assert crowd.positions[1, 0] > 3.0


@pytest.mark.slow
def test_a_queue_moves_up_and_serves_one_after_another() -> None:
    crowd = CrowdSimulation(HALL)
    ids = crowd.add([[12.0, 1.0 + k] for k in range(5)], (1.0, 7.0))
    queue = crowd.queue(ids, [[4.0, 2.0], [12.0, 2.0]], service=1.5)
    leaving: list[float] = []
    while crowd.time < 60.0 and not crowd.arrived.all():
        before = len(queue.goals)
        crowd.step(0.1)
        if len(queue.goals) < before:
            leaving.append(crowd.time)
            if queue.waiting:
                np.testing.assert_allclose(queue.spot(0), (4.0, 2.0))
    assert crowd.arrived.all()
    assert len(leaving) == 5
    assert np.diff(leaving).min() > 1.4


@pytest.mark.slow
def test_a_goal_that_holds_one_has_the_others_gather_around_it_by_name() -> None:
    crowd = CrowdSimulation(HALL, CrowdOptions(at_goal="stand"))
    crowd.add([[1.0, 4.0], [3.0, 1.0], [3.0, 7.0], [1.0, 2.0]], (10.0, 4.0), reach=0.15)
    crowd.step(40.0)
    assert crowd.arrived.sum() == 1
    holder = int(crowd.ids[crowd.arrived][0])
    stuck = crowd.stuck()
    assert sorted(person.person for person in stuck) == sorted(set(range(4)) - {holder})
    assert all(f"stands around a goal that person {holder} holds" in person.reason for person in stuck)
    assert np.hypot(*(crowd.positions - (10.0, 4.0)).T).max() < 2.0
    crowd.set_goals(holder, (1.0, 1.0))
    crowd.step(15.0)
    assert crowd.arrived.sum() == 2  # the next one has the goal


def test_two_in_a_corridor_that_nobody_can_pass_are_named() -> None:
    walls = Walls.of_segments([], (0.0, 0.0, 10.0, 0.6))
    crowd = CrowdSimulation(walls, CrowdOptions(body=CrowdBody.disc(0.2)))
    crowd.add([[1.0, 0.3]], (9.5, 0.3))
    crowd.add([[9.0, 0.3]], (0.5, 0.3))
    crowd.step(15.0)
    stuck = crowd.stuck()
    assert stuck  # the one who pushes the other back may still get on by a hand's breadth
    for person in stuck:
        assert person.blocked_by == (1 - person.person,)
        assert 2.0 < person.since < 10.1
        assert "in a ring of 2 who block one another since" in person.reason


def test_nobody_can_reach_a_closed_room_and_that_is_said() -> None:
    walls = Walls.of_segments([[5.0, 0.0, 5.0, 8.0]], (0.0, 0.0, 10.0, 8.0))
    crowd = CrowdSimulation(walls)
    crowd.add([[2.0, 4.0]], (8.0, 4.0))
    crowd.step(8.0)
    assert [person.reason for person in crowd.stuck()] == ["person 0: no way to the goal at [8.0, 4.0]"]
    assert crowd.positions[0, 0] < 5.0


def test_a_wall_that_is_put_in_the_way_is_walked_around() -> None:
    crowd = CrowdSimulation(World((0.0, 0.0, 14.0, 8.0)))
    crowd.add([[1.0, 4.0]], (13.0, 4.0))
    crowd.step(2.0)
    crowd.set_place(World((0.0, 0.0, 14.0, 8.0), (Obstacle(Box((7.0, 3.0), (0.3, 6.0), 2.0)),)))
    crowd.step(25.0)
    assert crowd.arrived.all()


@pytest.mark.slow
def test_somebody_pushed_off_the_route_plans_anew() -> None:
    walls = Walls.of_segments([[5.0, 0.0, 5.0, 6.0], [9.0, 2.0, 9.0, 8.0]], (0.0, 0.0, 14.0, 8.0))
    crowd = CrowdSimulation(walls)
    crowd.add([[2.0, 2.0]], (12.0, 6.0))
    crowd.step(6.0)
    crowd._positions[0] = (2.0, 1.0)  # back behind the first wall
    crowd.step(30.0)
    assert crowd.arrived.all()


@pytest.mark.slow
def test_people_with_goals_of_their_own_share_no_field() -> None:
    rng = np.random.default_rng(3)
    posts = tuple(
        Obstacle(Box((float(x), float(y)), (1.0, 1.0), 2.0)) for x in range(5, 40, 5) for y in range(5, 40, 5)
    )
    crowd = CrowdSimulation(World((0.0, 0.0, 42.0, 42.0), posts))
    spots = rng.uniform(0.5, 41.5, (900, 2))
    spots = spots[crowd.walls.depths(spots) > 0.4]
    crowd.add(spots[:400], spots[400:800][: len(spots[:400])])
    assert len(crowd.router._fields) == 0
    crowd.step(20.0)
    assert (crowd._counts >= 0).all()
    assert crowd.arrived.mean() > 0.4


def test_removed_people_leave_no_trace() -> None:
    crowd = CrowdSimulation(HALL)
    ids = crowd.add([[1.0, 1.0], [1.0, 3.0], [1.0, 5.0]], (13.0, 4.0))
    crowd.remove(ids[1])
    assert crowd.ids.tolist() == [0, 2]
    assert crowd.add([[1.0, 3.0]], (13.0, 4.0)).tolist() == [3]
    with pytest.raises(CrowdError, match="no person 1 in the crowd"):
        crowd.release(1)
    crowd.step(0.5)


def test_shoulders_turn_in_a_gap_that_is_too_narrow_for_them() -> None:
    gap = 0.4
    walls = Walls.of_segments([[6.0, 0.0, 6.0, 4.0 - gap / 2], [6.0, 4.0 + gap / 2, 6.0, 8.0]], (0.0, 0.0, 14.0, 8.0))
    crowd = CrowdSimulation(walls)
    crowd.add([[3.0, 4.0]], (12.0, 4.0))
    most = 0.0
    while not crowd.arrived.all() and crowd.time < 25.0:
        crowd.step(0.05)
        if abs(crowd.positions[0, 0] - 6.0) < 0.1:
            most = max(most, abs(float(crowd.headings[0])))
    assert crowd.arrived.all()
    assert most > 0.6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "boids"}, "no crowd model 'boids'; write orca or social_force"),
        ({"headway": -1.0}, "crowd option headway is -1.0; write a number from 0 to 5"),
        ({"body": (0.2, 0.4)}, "a body 0.2 m wide and 0.4 m deep"),
        ({"threads": 0}, "threads is 0; write 1 or more"),
    ],
)
def test_bad_options_are_one_line(options: dict[str, object], message: str) -> None:
    with pytest.raises(CrowdError, match=message):
        if isinstance(options.get("body"), tuple):
            options["body"] = CrowdBody(*options["body"])  # type: ignore[misc]
        CrowdOptions(**options)  # type: ignore[arg-type]


def test_people_get_past_those_who_stand_and_these_return() -> None:
    walls = Walls.of_segments([[0.0, 0.0, 10.0, 0.0], [0.0, 1.3, 10.0, 1.3]], (0.0, -1.0, 10.0, 3.0))
    crowd = CrowdSimulation(walls, CrowdOptions(at_goal="stand"))
    places = np.array([[4.0, 0.5], [5.0, 0.8], [6.0, 0.65]])
    crowd.add(places, places)
    (walker,) = crowd.add([[1.0, 0.65]], [[9.0, 0.65]]).tolist()
    for _ in range(800):
        crowd.step(0.05)
        if crowd.arrived[walker]:
            break
    assert crowd.arrived[walker], crowd.stuck()
    for _ in range(100):
        crowd.step(0.05)
    assert np.hypot(*(crowd.positions[:3] - places).T).max() < 0.3
    assert (crowd.overlaps() < 0.01).all()


@pytest.mark.slow
def test_goals_beside_one_another_are_reached_past_those_who_stand() -> None:
    goals = np.array([[8.0 + 0.66 * i, 0.6 + 0.66 * j] for i in range(9) for j in range(4)])
    np.random.default_rng(0).shuffle(goals)
    starts = np.array([[0.5 + 0.7 * i, 0.5 + 0.7 * j] for i in range(9) for j in range(4)])
    crowd = CrowdSimulation(Walls.of_segments([], (0.0, 0.0, 15.0, 3.2)), CrowdOptions(at_goal="stand"))
    crowd.add(starts, goals)
    for _ in range(1200):
        crowd.step(0.05)
    assert crowd.arrived.sum() >= 26  # 18 when nobody gives way
