"""Movers: trajectories, phases, speeds, repetition, and the thesis's falling tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaitway.core import planar
from gaitway.core.errors import WorldError
from gaitway.world import PASSABLE, WALL, Box, Cylinder, Mover, MoverPhase, Obstacle, Sphere, World
from gaitway.world.obstacle import swept_radius

CART = Box((0.5, 0.0), (2.0, 1.0), 1.0)
PATH = Mover.of(CART, [0.0, 2.0, 3.0, 6.0], [[0, 0, 0], [4, 0, 0], [4, 0, 1.5], [4, 3, 1.5]], name="cart")
ROUND = Mover.of(CART, [1.0, 2.0, 4.0], [[0, 0, 0], [2, 0, np.pi], [0, 0, 2 * np.pi]])


def test_poses_between_and_beyond_the_keys():
    assert PATH.pose([-5.0, 1.0, 2.5, 4.5, 99.0]).tolist() == [
        [0, 0, 0],
        [2, 0, 0],
        [4, 0, 0.75],
        [4, 1.5, 1.5],
        [4, 3, 1.5],
    ]
    at = PATH.at(1.0)
    assert (at.kind, at.name) == (WALL, "cart")
    assert at.shape == CART.placed((2.0, 0.0, 0.0))


def test_a_whole_turn_is_a_turn():
    assert ROUND.pose(1.5).tolist() == pytest.approx([1.0, 0.0, 0.5 * np.pi])


@given(st.floats(-2.0, 8.0), st.floats(-2.0, 8.0))
def test_nothing_moves_faster_than_it_says(a, b):
    start, end = min(a, b), max(a, b)
    bound = PATH.fastest(start, end)
    points = CART.outline.points
    moved = [planar.transform_points(PATH.pose(t), points) for t in (start, end)]
    assert np.linalg.norm(moved[1] - moved[0], axis=1).max() <= bound * (end - start) + 1e-9


def test_speeds_of_parts_of_the_way():
    assert PATH.speeds() == pytest.approx((2.0, 1.5))
    assert PATH.speeds(0.5, 1.0) == pytest.approx((2.0, 0.0))
    assert PATH.speeds(2.0, 3.0) == pytest.approx((0.0, 1.5))
    assert PATH.speeds(6.0, 9.0) == (0.0, 0.0)
    assert PATH.fastest(2.0, 3.0) == pytest.approx(1.5 * np.hypot(1.5, 0.5))
    assert Mover.of(CART, [0.0], [[1, 2, 3]]).fastest() == 0.0


def test_swept_radius():
    assert swept_radius(MoverPhase(0.0, CART)) == pytest.approx(np.hypot(1.5, 0.5))
    assert swept_radius(MoverPhase(0.0, Cylinder((3.0, 4.0), 0.5, 1.0))) == pytest.approx(5.5)
    assert swept_radius(MoverPhase(0.0, Sphere((0.0, 0.0), 0.5))) == 0.5


def test_repeated_goes_on_and_keeps_turning():
    again = ROUND.repeated(20.0)
    assert again.times[-1] == pytest.approx(22.0)
    for lap in range(7):
        for t in np.linspace(1.0, 4.0, 7, endpoint=False):
            expected = ROUND.pose(t) + np.array([0.0, 0.0, 2 * np.pi * lap])
            assert again.pose(t + 3.0 * lap) == pytest.approx(expected)
    assert again.speeds() == pytest.approx(ROUND.speeds())
    assert ROUND.repeated(-5.0).times.tolist() == ROUND.times.tolist()


def test_a_path_that_does_not_close_cannot_repeat():
    with pytest.raises(WorldError, match=r"mover 'cart' .* does not end where it began; end at \(0, 0, 0\)"):
        PATH.repeated(60.0)
    with pytest.raises(WorldError, match="times; end it earlier"):
        ROUND.repeated(1e9)
    with pytest.raises(WorldError, match="write a time in seconds"):
        ROUND.repeated(np.inf)


def test_breaks_are_keys_and_phases():
    tree = falling_tree()
    assert tree.breaks(-1.0, 100.0).tolist() == [0.0, 5.0, 6.5]
    assert tree.breaks(5.0, 6.5).tolist() == []
    assert PATH.breaks(0.0, 6.0).tolist() == [2.0, 3.0]


def falling_tree():
    """Stands beside the way until 5 s, falls across it until 6.5 s, then lies there to be jumped over."""
    trunk = Cylinder((0.0, 0.0), 0.16, 8.0)
    falling = Box((4.0, 0.0), (8.4, 0.9), 3.0)
    lying = Box((4.0, 0.0), (8.4, 0.32), 0.32)
    phases = (MoverPhase(0.0, trunk, PASSABLE), MoverPhase(5.0, falling, WALL), MoverPhase(6.5, lying, "jump"))
    return Mover(phases, np.array([0.0]), np.array([[20.0, 1.0, np.pi / 2]]), "tree")


def test_the_falling_tree():
    world = World((0, 0, 40, 12), (Obstacle(Box((20.0, 11.0), (40.0, 0.5), 1.0)),), (falling_tree(),))
    kinds = {t: world.at(t).moved[0].kind for t in (-1.0, 0.0, 4.99, 5.0, 6.49, 6.5, 1e6)}
    assert list(kinds.values()) == [PASSABLE, PASSABLE, PASSABLE, WALL, WALL, "jump", "jump"]
    lying = world.at(7.0).moved[0]
    assert lying.special
    assert lying.shape.heights == (0.0, 0.32)
    assert lying.shape.footprint().bounds == pytest.approx((19.84, 0.8, 20.16, 9.2))
    assert world.at(1.0).moved[0].shape.footprint().bounds == pytest.approx((19.84, 0.84, 20.16, 1.16))
    assert [p.kind for p in world.movers[0].phases_between(4.0, 6.0)] == [PASSABLE, WALL]
    assert [p.kind for p in world.movers[0].phases_between(7.0, 9.0)] == ["jump"]
    assert world.at(7.0).obstacles[0] is world.at(1.0).obstacles[0] is world.obstacles[0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Mover.of(CART, [], np.empty((0, 3))), "one or more and increase"),
        (lambda: Mover.of(CART, [1, 1], [[0, 0, 0]] * 2), "one or more and increase"),
        (lambda: Mover.of(CART, [0, 1], [[0, 0, 0]]), "shape"),
        (lambda: Mover.of(CART, [0], [[0, 0, np.nan]]), "not finite"),
        (lambda: Mover((), np.zeros(1), np.zeros((1, 3))), "phases"),
        (
            lambda: Mover((MoverPhase(1.0, CART), MoverPhase(1.0, CART)), np.zeros(1), np.zeros((1, 3))),
            "one after another",
        ),
        (
            lambda: Mover((MoverPhase(1.0, CART), MoverPhase(np.nan, CART)), np.zeros(1), np.zeros((1, 3))),
            "one after another",
        ),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(WorldError, match=message):
        make()
