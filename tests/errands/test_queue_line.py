"""Lines before a server: places that fit into the place, and an order that nobody breaks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaitway.errands.queue_line import QueueLine, drawn_line, own_line


def anywhere(points):
    return np.ones(len(points), dtype=bool)


def west_of(x):
    return lambda points: points[:, 0] > x


def line(count=6):
    places = np.column_stack([np.zeros(count), -np.arange(count)])
    return QueueLine(places.astype(float), np.full(count, np.pi / 2))


def test_a_drawn_line_has_places_at_equal_distances_and_goes_on_beyond_its_end():
    places, headings = drawn_line([(0.0, 0.0), (0.0, -1.8)], 0.9, lambda points: points[:, 1] > -4.0)
    assert places == pytest.approx(np.column_stack([np.zeros(5), -0.9 * np.arange(5)]), abs=1e-9)
    assert headings == pytest.approx(np.full(5, np.pi / 2))


def test_a_line_that_forms_by_itself_stands_behind_the_server_and_bends_at_walls():
    places, headings = own_line((0.0, 0.0), 0.0, 1.0, west_of(-3.5))
    assert places[:4] == pytest.approx(np.column_stack([-np.arange(4.0), np.zeros(4)]), abs=1e-9)
    assert headings[0] == 0.0
    assert len(places) > 10 and (places[:, 0] > -3.5).all()
    gaps = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1)) + 9.0 * np.eye(len(places))
    assert gaps.min() > 0.9


def test_people_stand_in_the_order_in_which_they_came_and_move_up():
    queue = line()
    assert [queue.join(name) for name in "abc"] == [0, 1, 2]
    assert not queue.move_up("b")
    queue.leave("a")
    assert queue.behind(0) == "b"
    assert queue.move_up("b") and queue.people == {"b": 0, "c": 2}
    assert queue.move_up("c") and queue.people == {"b": 0, "c": 1}


def test_a_full_line_takes_nobody():
    queue = line(2)
    assert [queue.join(name) for name in "abc"] == [0, 1, None]
    assert len(queue) == 2


@given(st.lists(st.sampled_from(["join", "serve", "up"]), max_size=60))
def test_nobody_is_overtaken_whatever_happens(moves):
    queue, came, number = line(8), [], 0
    for move in moves:
        if move == "join" and queue.join(f"p{number}") is not None:
            came.append(f"p{number}")
            number += 1
        if move == "serve" and came and queue.people[came[0]] == 0:
            queue.leave(came.pop(0))
        if move == "up":
            for name in came:
                queue.move_up(name)
        assert sorted(came, key=lambda name: queue.people[name]) == came
        assert len(set(queue.people.values())) == len(queue.people)
