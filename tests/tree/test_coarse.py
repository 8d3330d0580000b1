"""Ways over coarse cells: around obstacles, over special ones, as short as they can be, and sub-goals along them."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.space.fields import WorldFields
from gaitway.tree.subgoals.coarse import BEFORE, NEAR_GOAL, CoarsePlanner, CoarseWay
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World
from search_twin import JUMPER, small_reaches

BOUNDS = (0.0, 0.0, 30.0, 16.0)


def planner(*obstacles: Obstacle, cell: float = 0.35) -> CoarsePlanner:
    return CoarsePlanner(WorldFields.of(World(BOUNDS, obstacles), small_reaches(JUMPER)), 0.2, cell)


def wall(x: float, y: float, width: float, depth: float) -> Obstacle:
    return Obstacle(Box((x, y), (width, depth), 2.0))


def found(coarse: CoarsePlanner, start: tuple[float, float], goal: tuple[float, float]) -> CoarseWay:
    way = coarse.way(start, goal, 0.5)
    assert way is not None
    return way


def test_where_nothing_is_in_the_way_it_is_straight() -> None:
    way = found(planner(), (2.0, 3.0), (27.0, 11.0))
    assert np.allclose(way.places, [[2.0, 3.0], [27.0, 11.0]])
    assert way.length == pytest.approx(math.hypot(25.0, 8.0)) and not way.special.any()
    assert 0.9 * way.length - 1.0 < way.remaining < way.length + 1.0


def test_around_a_wall_it_is_hardly_longer_than_a_taut_string() -> None:
    way = found(planner(wall(15.0, 5.0, 0.4, 12.0)), (5.0, 3.0), (25.0, 3.0))
    taut = math.hypot(9.8, 8.0) * 2.0 + 0.4  # over the corners (14.8, 11) and (15.2, 11)
    assert taut < way.length < 1.06 * taut
    assert not shapely.LineString(way.places).intersects(shapely.box(14.8, -1.0, 15.2, 11.0))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_ways_keep_out_of_obstacles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    boxes = [(*rng.uniform((6.0, 1.0), (24.0, 15.0)), *rng.uniform(0.8, 3.0, 2)) for _ in range(8)]
    coarse = planner(*(wall(*box) for box in boxes))
    way = coarse.way((2.0, 8.0), (28.0, 8.0), 0.5)
    assert way is not None
    line = shapely.LineString(way.places)
    # lines are looked at four times a cell, so that they may cut a corner by a part of one
    shrunk = [shapely.box(x - 0.5 * w, y - 0.5 * d, x + 0.5 * w, y + 0.5 * d).buffer(-0.2) for x, y, w, d in boxes]
    assert not any(line.intersects(box) for box in shrunk)
    assert way.remaining <= way.length + 1.0


def test_a_closed_room_has_no_way() -> None:
    room = [wall(20.0, 5.0, 6.2, 0.4), wall(20.0, 11.0, 6.2, 0.4), wall(17.0, 8.0, 0.4, 6.0), wall(23.0, 8.0, 0.4, 6.0)]
    assert planner(*room).way((2.0, 8.0), (20.0, 8.0), 0.5) is None


def test_cells_become_smaller_where_they_close_a_door() -> None:
    coarse = planner(wall(15.0, 3.65, 0.4, 7.3), wall(15.0, 12.35, 0.4, 7.3), cell=1.4)  # 1.4 m wide
    way = found(coarse, (5.0, 8.0), (25.0, 8.0))
    assert coarse.map.spec.cell < 1.0 and way.length < 21.0


def fence() -> CoarsePlanner:
    return planner(Obstacle(Box((15.0, 8.0), (0.2, 16.0), 0.3), "jump"))


def test_it_goes_over_special_obstacles_and_knows_where() -> None:
    way = found(fence(), (2.0, 8.0), (28.0, 8.0))
    assert way.length == pytest.approx(26.0, abs=0.5)
    crossed = way.lengths[way.special]
    assert len(crossed) and np.abs(crossed - 13.0).max() < 1.2


@pytest.mark.parametrize(
    ("reach", "annotated", "x"),
    [(3.0, False, 5.0), (13.0 - 0.5 * BEFORE, True, 15.0 - 0.5 * BEFORE), (20.0, False, 22.0), (24.0, True, 26.0)],
)
def test_sub_goals_before_special_obstacles_and_the_goal_are_annotated(reach: float, annotated: bool, x: float) -> None:
    sub_goal = found(fence(), (2.0, 8.0), (28.0, 8.0)).sub_goal(reach, 4.0)
    assert sub_goal is not None and sub_goal.annotated is annotated
    assert sub_goal.place == pytest.approx((x, 8.0), abs=0.4)
    assert sub_goal.aim[0] == pytest.approx(min(x + 4.0, 28.0), abs=0.4)
    assert NEAR_GOAL < BEFORE


def test_no_sub_goal_lies_on_a_special_obstacle_or_right_before_one() -> None:
    coarse = fence()
    beyond = found(coarse, (5.0, 8.0), (28.0, 8.0)).sub_goal(10.0, 4.0)
    assert beyond is not None and beyond.place[0] > 15.3
    assert found(coarse, (11.0, 8.0), (28.0, 8.0)).sub_goal(2.0, 4.0) is None


def test_what_is_behind_a_wall_counts_as_far() -> None:
    way = found(planner(wall(15.0, 5.0, 0.4, 12.0)), (5.0, 3.0), (25.0, 3.0))
    sub_goal = way.sub_goal(13.0, 4.0)
    assert sub_goal is not None
    left = way.left(sub_goal, 2.0)
    row, column = way.spec.cells((16.0, 3.0))
    behind = way.spec.cells((14.0, 3.0))
    assert left.lengths[row, column] < left.frame[3] < left.lengths[behind[0], behind[1]]
