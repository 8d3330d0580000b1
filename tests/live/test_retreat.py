"""People of a live throng whose limbs are locked walk back the way that they came."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.core.arrays import FloatArray
from gaitway.crowd.locomotion import locomotion_space
from gaitway.crowd.throng.bodies import ThrongBodies
from gaitway.live.mixing.retreat import LOCKED, Retreats
from gaitway.live.mixing.simulation import LiveSimulation
from gaitway.world.world import World
from live_crowds import walker

DT, SMOOTH = 1.0 / 30.0, slice(0, 6)


class Walk:
    """Two people side by side who walk along x."""

    def __init__(self, apart: float) -> None:
        self.bodies, self.numbers, self.retreats = (
            ThrongBodies(locomotion_space(walker())),
            np.zeros((2, 6)),
            Retreats(),
        )
        self.simulation, self.time = LiveSimulation(World((-5.0, -5.0, 15.0, 5.0)), 0, 0.0), 0.0
        self.places, slots, headings = np.array([[0.0, 0.0], [0.0, apart]]), np.arange(2), np.zeros(2)
        turns = np.tile([1.0, 0.0, 0.0, 0.0], (2, len(self.bodies.space.rig.skeleton), 1))
        self.bodies.join(slots, self.places, headings, np.zeros((2, 2)), turns, 0)
        self.simulation.enter(slots, self.places, headings, np.ones(2), headings)
        self.simulation.let_walk(
            slots, np.zeros((2, 2)), self.places + np.array([9.0, 0.0]), np.full(2, 0.3), np.zeros(2, bool)
        )
        self.shown: list[tuple[FloatArray, FloatArray]] = []

    def ahead(self, seconds: float, lowered: float = 1.0) -> None:
        """Walk on, among others or not."""
        for _ in range(round(seconds / DT)):
            self.places = self.places + np.array([DT, 0.0])
            self.numbers[:, :2] = self.places
            self.simulation.guide(np.arange(2), self.places, np.zeros(2), np.zeros((2, 2)))
            self.bodies.follow(self.places, np.zeros(2), DT, np.ones(2), np.ones(2), 1)
            self.note(np.zeros(2, np.bool_), lowered)

    def back(self, waited: tuple[float, float], held: tuple[bool, bool] = (False, False)) -> list[int]:
        """Take a step in which those who are locked go back; returns who is done."""
        self.retreats.begin(self.bodies, np.array(waited), self.time)
        self.retreats.go_back(self.bodies, self.simulation, self.numbers, SMOOTH, DT)
        return self.note(np.array(held), 1.0)

    def note(self, held: np.ndarray, lowered: float) -> list[int]:
        self.time += DT
        done = self.retreats.note(
            self.bodies, self.simulation, self.numbers, SMOOTH, np.full(2, lowered), held, DT, self.time
        )
        self.shown.append((self.bodies.roots.copy(), self.bodies.turns.copy()))
        return done.tolist()


def test_who_is_locked_shows_the_poses_once_more_that_led_there_and_lets_others_pass() -> None:
    walk = Walk(0.8)
    walk.ahead(1.5)
    before = list(walk.shown)
    done: list[int] = []
    while not done:
        done = walk.back((LOCKED + 1.0, 0.0))
        root, turns = walk.bodies.roots[0], walk.bodies.turns[0]
        assert any(np.allclose(root, r[0], atol=1e-6) and np.allclose(turns, t[0], atol=1e-6) for r, t in before)
        assert len(walk.shown) < 100
    assert done == [0]
    assert 0.45 < before[-1][0][0, 0] - walk.bodies.roots[0, 0] < 0.6
    assert np.array_equal(walk.bodies.roots[1], before[-1][0][1])  # the other one stays
    assert walk.simulation.positions[0, 0] == pytest.approx(walk.bodies.places[0, 0])
    assert walk.retreats.shares(np.arange(2), walk.time).tolist() == [0.3, 1.0]
    assert walk.retreats.shares(np.arange(2), walk.time + 5.0).tolist() == [1.0, 1.0]


def test_who_is_locked_goes_back_step_by_step() -> None:
    walk = Walk(0.8)
    walk.ahead(1.5)
    at = walk.bodies.roots[0, 0]
    for _ in range(8):
        walk.back((LOCKED + 1.0, 0.0))
        assert 0.0 < at - walk.bodies.roots[0, 0] <= 1.2 * DT + 0.05  # no faster than legs swing, or a pose at once
        at = walk.bodies.roots[0, 0]


def test_of_two_one_goes_back_at_a_time_and_both_where_that_failed() -> None:
    walk = Walk(0.8)
    walk.ahead(1.0)
    waited = (LOCKED + 0.5, LOCKED + 1.0)
    walk.back(waited, (True, True))
    assert walk.retreats.goes_back(np.arange(2)).tolist() == [False, True]
    while walk.retreats.goes_back(np.array([1]))[0]:
        walk.back(waited, (True, True))
    walk.back(waited, (True, True))
    assert walk.retreats.goes_back(np.arange(2)).tolist() == [True, False]
    while walk.time < 10.0 and not walk.retreats.goes_back(np.arange(2)).all():
        walk.back(waited, (True, True))
    assert walk.retreats.goes_back(np.arange(2)).all()


def test_people_far_from_one_another_go_back_at_once() -> None:
    walk = Walk(3.0)
    walk.ahead(1.0)
    walk.back((LOCKED + 0.5, LOCKED + 1.0))
    assert walk.retreats.goes_back(np.arange(2)).all()


def test_a_way_through_the_open_is_not_gone_back() -> None:
    walk = Walk(0.8)
    walk.ahead(1.0)
    walk.ahead(1.0, lowered=0.0)
    walk.back((LOCKED + 1.0, 0.0))
    assert not walk.retreats.goes_back(np.arange(2)).any()


def test_who_is_restored_goes_back_the_same_way() -> None:
    walk, again = Walk(0.8), Walk(0.8)
    for some in (walk, again):
        some.ahead(1.0)
        some.back((LOCKED + 1.0, 0.0))
    fresh = Retreats()
    fresh.restore(again.retreats.state(), again.bodies)
    again.retreats = fresh
    for _ in range(5):
        walk.back((LOCKED + 1.0, 0.0))
        again.back((LOCKED + 1.0, 0.0))
    assert np.array_equal(walk.bodies.roots, again.bodies.roots)
    assert np.array_equal(walk.bodies.turns, again.bodies.turns)
    walk.retreats.forget(np.array([0]))
    assert not walk.retreats.goes_back(np.arange(2)).any()


def test_a_way_back_of_bodies_that_cannot_be_is_refused() -> None:
    walk = Walk(0.8)
    walk.ahead(0.5)
    state = walk.retreats.state()
    state["poses"][..., 15:] = 5e6  # kernels would look far beyond their tables
    with pytest.raises(ValueError, match="ways back"):
        Retreats().restore(state, walk.bodies)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("counts", [99, 1]),
        ("nexts", [-1, 0]),
        ("slots", [7, 8]),
        ("marks", np.zeros((1, 3, 2))),
        ("back", [[5, 0, 0, 0]]),
    ],
)
def test_ways_back_that_cannot_be_are_refused(name: str, value: object) -> None:
    walk = Walk(0.8)
    walk.ahead(0.5)
    with pytest.raises(ValueError, match="ways back"):
        Retreats().restore(walk.retreats.state() | {name: np.array(value)}, walk.bodies)
