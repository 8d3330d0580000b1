"""Whole bodies of a live throng are moved out of one another and out of walls, limb by limb."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gaitway.core.arrays import FloatArray
from gaitway.crowd.dynamics.walls import WallHash, Walls
from gaitway.crowd.locomotion import locomotion_space
from gaitway.crowd.locomotion._feet_kernels import FOOT, FOOT_WIDTH, FROM_X, SWUNG, TO_X
from gaitway.crowd.throng import _parting_kernels as kernels
from gaitway.crowd.throng.bodies import ThrongBodies
from gaitway.crowd.throng.parting import (
    MARGIN,
    BodyCapsules,
    BodyShapes,
    body_pushes,
    bounded,
    depths_in_movers,
    pairs_of,
    part_throng,
    print_pushes,
    waiting,
)
from gaitway.crowd.throng.patience import BAR, allowed_depths, is_late, paces_on, pauses_on, waited_on
from gaitway.motion.body import capsule_body
from live_crowds import walker

BOUNDS = (-10.0, -10.0, 10.0, 10.0)
OPEN_WALLS = WallHash.of(Walls.of_segments([], BOUNDS).segments(), BOUNDS, 1.0)


def _people(places: list[tuple[float, float]], headings: list[float]) -> ThrongBodies:
    bodies, count = ThrongBodies(locomotion_space(walker())), len(places)
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (count, len(bodies.space.rig.skeleton), 1))
    bodies.join(np.arange(count), np.array(places), np.array(headings), np.zeros((count, 2)), turns, 0)
    return bodies


def _capsules(bodies: ThrongBodies) -> tuple[BodyShapes, BodyCapsules]:
    shapes = BodyShapes([bodies.space.rig.skeleton])
    return shapes, shapes.posed(np.zeros(len(bodies), np.int64), [(bodies.roots, bodies.turns)])


def _plain_depth(one: FloatArray, other: FloatArray, radii: FloatArray) -> float:
    """How far two bodies are within the margin, at most, by points along the axes."""
    t = np.linspace(0.0, 1.0, 41)[:, None]
    worst = 0.0
    for i, j in itertools.product(range(len(radii)), repeat=2):
        a, b = (s[0] + t * (s[1] - s[0]) for s in (one[i].astype(float), other[j].astype(float)))
        apart = a[:, None] - b[None]
        wide, flat = radii[i] + radii[j] + MARGIN, np.hypot(apart[..., 0], apart[..., 1])
        k = np.unravel_index(np.linalg.norm(apart, axis=-1).argmin(), flat.shape)
        if np.linalg.norm(apart[k]) < wide:
            worst = max(worst, float(np.sqrt(wide**2 - apart[k][2] ** 2) - flat[k]))
    return worst


def test_depths_are_those_of_all_pairs_of_capsules() -> None:
    bodies = _people([(0.0, 0.0), (0.05, 0.36)], [0.0, 0.4])
    shapes, found = _capsules(bodies)
    pushes = body_pushes(shapes, found, pairs_of(found.places), bodies.swings >= 0.0, np.zeros(2, bool), OPEN_WALLS)
    radii = capsule_body(bodies.space.rig.skeleton).radii
    expected = _plain_depth(found.segments[0], found.segments[1], radii)
    assert expected > 0.02  # they touch, so the test says something
    assert pushes.depths == pytest.approx(expected - MARGIN, abs=2e-3)


def test_bodies_are_moved_apart_until_they_are_out_of_one_another() -> None:
    bodies = _people([(0.0, 0.0), (0.02, 0.40), (0.30, 0.2)], [0.0, 3.0, 1.5])
    shapes, found = _capsules(bodies)
    first = None
    for _ in range(40):
        pushes = body_pushes(shapes, found, pairs_of(found.places), bodies.swings >= 0.0, np.zeros(3, bool), OPEN_WALLS)
        first = pushes if first is None else first
        bodies.push(bounded(pushes.roots, 0.02), np.zeros((3, 2, 2)), np.zeros((3, 2, 2)))
        shapes, found = _capsules(bodies)
    assert first is not None and first.depths.max() > 0.05
    assert pushes.depths.max() < 0.01
    assert np.abs(bodies.roots[:, :2] - [[0.0, 0.0], [0.02, 0.40], [0.30, 0.2]]).max() < 0.4


def test_who_is_fixed_stays_and_the_other_one_makes_all_the_room() -> None:
    bodies = _people([(0.0, 0.0), (0.0, 0.40)], [0.0, 0.0])
    shapes, found = _capsules(bodies)
    pairs, swings = pairs_of(found.places), np.zeros((2, 2), bool)
    both = body_pushes(shapes, found, pairs, swings, np.array([False, False]), OPEN_WALLS).roots
    one = body_pushes(shapes, found, pairs, swings, np.array([True, False]), OPEN_WALLS).roots
    assert (one[0] == 0.0).all()
    assert one[1] == pytest.approx(2.0 * both[1])
    assert both[0] == pytest.approx(-both[1]) and both[1, 1] > 0.0
    none = body_pushes(shapes, found, pairs, swings, np.array([True, True]), OPEN_WALLS)
    assert not none.roots.any() and not none.feet.any()


def test_a_swinging_foot_makes_room_before_the_body_does() -> None:
    bodies = _people([(0.0, 0.0), (0.0, 0.30)], [0.0, 0.0])
    found = _capsules(bodies)[1]
    legs_only = BodyShapes([bodies.space.rig.skeleton])
    legs_only.trunks[:] = 0.0  # legs alone, or trunks would push as well
    pairs = pairs_of(found.places)
    stands = body_pushes(legs_only, found, pairs, np.zeros((2, 2), bool), np.zeros(2, bool), OPEN_WALLS)
    swings = body_pushes(
        legs_only, found, pairs, np.array([[True, False], [False, False]]), np.zeros(2, bool), OPEN_WALLS
    )
    assert not stands.feet.any() and stands.roots.any()
    assert swings.feet[0, 0, 1] < 0.0 and not swings.feet[0, 1].any() and not swings.feet[1].any()
    assert np.abs(swings.roots).max() < np.abs(stands.roots).max()


def test_who_is_near_whom_is_found_as_by_comparing_all() -> None:
    rng = np.random.default_rng(5)
    for places in (rng.uniform(0.0, 9.0, (120, 2)), rng.normal(0.0, 0.3, (60, 2)), np.zeros((3, 2)), np.array(
        [[0.0, 0.0], [500.0, 0.0], [500.0, 1.0], [0.0, 1.7]])):  # fmt: skip
        away = np.hypot(*np.moveaxis(places[:, None] - places, -1, 0))
        wanted = [(i, j) for i in range(len(places)) for j in range(i + 1, len(places)) if away[i, j] <= 1.7]
        assert [(i, j) for i, j in pairs_of(places, 1.7).tolist()] == wanted
    assert not len(pairs_of(np.zeros((1, 2)))) and not len(pairs_of(np.zeros((0, 2))))


def test_limbs_are_moved_out_of_walls() -> None:
    walls = WallHash.of(Walls.of_segments([[-3.0, 0.2, 3.0, 0.2]], BOUNDS).segments(), BOUNDS, 1.0)
    bodies = _people([(0.0, 0.0), (0.0, -2.0)], [0.0, 0.0])
    shapes, found = _capsules(bodies)
    pushes = body_pushes(shapes, found, pairs_of(found.places), np.zeros((2, 2), bool), np.zeros(2, bool), walls)
    assert pushes.roots[0, 1] < -0.02 and not pushes.roots[1].any()


def test_footprints_are_not_set_down_on_those_of_others() -> None:
    prints = np.array([[[0.0, 0.0, 0.0], [0.0, -0.2, 0.0]], [[0.02, 0.05, 0.0], [0.0, 0.6, 0.0]]])
    places, pairs = np.array([[0.0, -0.1], [0.0, 0.4]]), np.array([[0, 1]])
    free = np.array([[True, False], [False, False]])
    moves = print_pushes(prints, places, pairs, free, np.zeros(2, bool), OPEN_WALLS)
    assert moves[0, 0, 1] < -0.05  # away from the foot that stands there
    assert not moves[1].any() and not moves[0, 1].any()


def test_pushed_bodies_keep_standing_feet_and_take_swinging_ones_along() -> None:
    bodies = _people([(0.0, 0.0)], [0.0])
    walks = 0.04 * np.arange(1, 40)
    for x in walks:
        bodies.follow(np.array([[x, 0.0]]), np.zeros(1), 1.0 / 30.0, np.zeros(1), np.ones(1), 1)
        if (bodies.swings[0] >= 0.0).sum() == 1 and bodies.swings[0].max() > 0.3:
            break
    swung = int(bodies.swings[0].argmax())
    before, roots = bodies.prints(), bodies.roots.copy()
    bodies.push(np.array([[0.0, 0.02]]), np.full((1, 2, 2), 0.03), np.zeros((1, 2, 2)))
    moved = bodies.prints() - before
    assert moved[0, swung, :2] == pytest.approx(0.03) and not moved[0, 1 - swung].any()
    assert (bodies.roots - roots)[0, :2] == pytest.approx([0.0, 0.02])
    assert bodies._state.feet[0, FOOT + swung * FOOT_WIDTH + SWUNG] > 0.0


def _in_stride() -> ThrongBodies:
    """Somebody who walks along x, in the first half of a swing."""
    bodies = _people([(0.0, 0.0)], [0.0])
    for x in 0.04 * np.arange(1, 60):
        bodies.follow(np.array([[x, 0.0]]), np.zeros(1), 1.0 / 30.0, np.zeros(1), np.ones(1), 1)
        if (bodies.swings[0] >= 0.0).sum() == 1 and 0.3 < bodies.swings[0].max() < 0.5:
            return bodies
    raise AssertionError("nobody swings a foot")


def test_a_step_that_is_cut_short_ends_where_the_foot_is() -> None:
    bodies = _in_stride()
    swung = int(bodies.swings[0].argmax())
    foot, share = bodies._state.feet[0, FOOT + swung * FOOT_WIDTH :], bodies.swings[0, swung]
    here = foot[FROM_X : FROM_X + 2] + share**2 * (3.0 - 2.0 * share) * (
        foot[TO_X : TO_X + 2] - foot[FROM_X : FROM_X + 2]
    )
    stands, places = bodies.prints()[0, 1 - swung], bodies.places.copy()
    for _ in range(40):
        bodies.set_down(np.array([0]), 1.0 / 30.0)
        if bodies.swings[0, swung] < 0.0:
            break
    assert bodies.swings[0].tolist() == [-1.0, -1.0]
    assert bodies.prints()[0, swung, :2] == pytest.approx(here)
    assert bodies.prints()[0, 1 - swung] == pytest.approx(stands)  # the other foot stays
    assert (bodies.places == places).all()


def test_nobody_leaves_a_standing_foot_behind() -> None:
    bodies = _people([(0.0, 0.0), (5.0, 0.0)], [0.0, 0.0])
    wished = np.array([[1.0, 0.0], [5.1, 0.0]])
    back = bodies.held_by_feet(wished)
    behind = (wished + back)[0, 0] - bodies.prints()[0, :, 0]
    assert 0.25 < behind.max() < 0.31
    assert not back[1].any()  # so far they may lean


def test_a_root_slows_down_before_a_foot_holds_it() -> None:
    bodies, speed = _people([(0.0, 0.0)], [0.0]), 0.02
    moves = []
    for _ in range(60):
        wished = bodies.places + np.array([speed, 0.0])
        moves.append(speed + bodies.held_by_feet(wished)[0, 0])
        bodies._state.path[0, 0] += moves[-1]  # feet stay
    moved = np.array(moves)
    assert moved[0] == pytest.approx(speed)
    assert (np.diff(moved) <= 1e-12).all()
    assert moved[-1] < 1e-3 and 0.25 < moved.sum() < 0.31
    assert -np.diff(moved).min() < 0.45 * speed  # not from full speed to none in a step or two


def test_who_is_calm_does_not_step_for_so_little() -> None:
    bodies = _people([(0.0, 0.0), (3.0, 0.0)], [0.0, 0.0])
    bodies.push(np.array([[0.16, 0.0], [0.16, 0.0]]), np.zeros((2, 2, 2)), np.zeros((2, 2, 2)))
    before = bodies.prints()[..., 0]
    for _ in range(60):
        bodies.calm_down(np.array([2.0, 0.0]))
        places = bodies.places.copy()
        bodies.follow(places, np.zeros(2), 1.0 / 30.0, np.zeros(2), np.ones(2), 1)
    moved = np.abs(bodies.prints()[..., 0] - before).max(axis=1)
    assert moved[0] == 0.0 and moved[1] > 0.1


def test_feet_that_were_left_behind_step_below_a_root_that_stays() -> None:
    bodies = _people([(0.0, 0.0), (3.0, 0.0)], [0.0, 0.0])
    bodies.push(np.array([[0.28, 0.0], [0.28, 0.0]]), np.zeros((2, 2, 2)), np.zeros((2, 2, 2)))
    places, behind = bodies.places.copy(), bodies.prints()[..., 0] - bodies.places[:, None, 0]
    assert (behind < -0.2).all()
    for _ in range(75):
        bodies.shift(np.array([0]), 1.0 / 30.0)
    after = bodies.prints()[..., 0] - bodies.places[:, None, 0]
    assert (np.abs(after[0]) < 0.1).all() and (bodies.swings[0] < 0.0).all()
    assert (after[1] == behind[1]).all()  # the other one was not asked to
    assert (bodies.places == places).all()


def test_who_has_waited_long_ends_its_step() -> None:
    """Somebody in the midst of a stride has no room to go on: the foot comes down all the same."""
    bodies = _in_stride()
    swung, other = int(bodies.swings[0].argmax()), _people([(bodies.roots[0, 0] + 0.6, 0.0)], [np.pi])
    for late in (False, True):
        saved, then = bodies.state(), (bodies.slots.copy(), (bodies.roots.copy(), bodies.turns.copy()))
        bodies.push(np.array([[0.5, 0.0]]), np.zeros((1, 2, 2)), np.zeros((1, 2, 2)))
        _, held = part_throng(
            [bodies], [then], [np.array([BAR])], [np.array([late])], [(bodies.roots, bodies.turns)],
            lambda: [(bodies.roots, bodies.turns)], [(other.roots, other.turns)], lambda some, wishes: np.zeros((1, 2)),
            lambda slots, saved=saved: bodies.put_back(saved, slots), OPEN_WALLS, 1.0 / 30.0,
        )  # fmt: skip
        assert held[0].all()
        assert (bodies.swings[0, swung] > saved["feet"][0, FOOT + swung * FOOT_WIDTH + SWUNG]) == late


def test_a_foot_that_waits_has_another_footprint_and_stays_where_it_is() -> None:
    bodies, none = _in_stride(), np.zeros((1, 2, 2))
    bodies.push(np.array([[1e-12, 0.0]]), none, none)
    swung, saved = int(bodies.swings[0].argmax()), bodies.state()
    moves = np.zeros((1, 2, 2))
    moves[0, swung] = 0.02, 0.03 * (1.0 - 2.0 * swung)
    bodies.redirect(np.array([0]), moves)
    assert bodies.prints()[0, swung, :2] - saved["feet"][0, FOOT + swung * FOOT_WIDTH :][TO_X : TO_X + 2] == (
        pytest.approx(moves[0, swung])
    )
    before = bodies.turns.copy()
    bodies.push(np.array([[1e-12, 0.0]]), none, none)  # posed anew
    assert bodies.turns == pytest.approx(before, abs=1e-5)
    bodies.put_back(saved, bodies.slots)
    bodies.redirect(np.empty(0, np.int64), moves)
    assert np.array_equal(bodies.state()["feet"], saved["feet"])


def test_who_leaned_one_way_in_vain_tries_another_one() -> None:
    """Two stand so that the one before cannot lean straight back; the ways that follow go to all sides."""
    bodies, other = _people([(0.0, 0.0)], [0.0]), _people([(0.0, 0.33)], [0.0])
    then, saved = (bodies.slots.copy(), (bodies.roots.copy(), bodies.turns.copy())), bodies.state()
    ways = []
    for number in range(6):
        bodies.push(np.array([[0.0, 0.3]]), np.zeros((1, 2, 2)), np.zeros((1, 2, 2)))
        moves, held = part_throng(
            [bodies], [then], [np.array([BAR])], [np.array([False])], [(bodies.roots, bodies.turns)],
            lambda: [(bodies.roots, bodies.turns)], [(other.roots, other.turns)], lambda some, wishes: 0.0 * wishes,
            lambda slots: bodies.put_back(saved, slots), OPEN_WALLS, 1.0 / 30.0, tries=[np.array([number])],
        )  # fmt: skip
        assert held[0].all()
        ways.append(moves[0][0].copy())
        bodies.put_back(saved, bodies.slots)
    found = np.array([way for way in ways if way.any()])
    assert np.hypot(*found.T).max() < 0.2 / 30.0 + 1e-9
    assert len(found) >= 3 and np.ptp(np.arctan2(found[:, 1], found[:, 0])) > 1.0


def test_footprints_that_are_moved_do_not_cross() -> None:
    bodies = _people([(0.0, 0.0)], [0.0])
    for x in 0.04 * np.arange(1, 60):
        bodies.follow(np.array([[x, 0.0]]), np.zeros(1), 1.0 / 30.0, np.zeros(1), np.ones(1), 1)
        if bodies.swings[0, 0] > 0.3:  # the left foot swings
            break
    moves = np.zeros((1, 2, 2))
    other = bodies.prints()[0, 1, :2]
    moves[0, 0] = other - (0.0, 0.1) - bodies.prints()[0, 0, :2]  # to the right of the right foot
    moved = bodies.prints()[0, 0, :2] + bodies.uncrossed(moves)[0, 0]
    assert moved[1] - other[1] == pytest.approx(0.1)
    assert not bodies.uncrossed(np.zeros((1, 2, 2)))[0, 1].any()  # a foot that stands stays


def test_trunks_turn_no_farther_than_standing_feet_allow() -> None:
    bodies = _people([(0.0, 0.0), (3.0, 0.0)], [0.0, 0.0])
    turned = bodies.turned_as_feet_allow(np.array([2.5, 0.3]), 1.0)
    assert 0.6 < turned[0] < 1.1
    assert turned[1] == pytest.approx(0.3)
    assert bodies.turned_as_feet_allow(np.array([0.9, -0.9]), 0.05) == pytest.approx([0.15, -0.15])  # nor at once


def test_part_bodies_is_the_same_in_either_order() -> None:
    bodies = _people([(0.0, 0.0), (0.1, 0.44)], [0.3, -0.2])
    shapes, found = _capsules(bodies)
    out = []
    for pairs in ([[0, 1]], [[1, 0]]):
        roots, feet, depths = np.zeros((2, 2)), np.zeros((2, 2, 2)), np.zeros(2)
        kernels.part_bodies(
            np.array(pairs), found.places, found.segments, found.kinds, shapes.trunks, shapes.legs,
            np.zeros((2, 2), bool), np.zeros(2, bool), np.ones(2, bool), MARGIN, roots, feet, depths,
        )  # fmt: skip
        out.append(roots)
    assert out[0] == pytest.approx(out[1], abs=1e-6)


def _waits(before: ThrongBodies, now: ThrongBodies, fixed: list[bool], walls: WallHash = OPEN_WALLS) -> list[bool]:
    shapes, then = _capsules(before)
    found = _capsules(now)[1]
    pairs, count = pairs_of(found.places), len(fixed)
    return waiting(shapes, then, found, pairs, np.array(fixed), np.full(count, BAR), walls).tolist()


def test_who_gets_into_another_waits_and_who_gets_out_does_not() -> None:
    apart, closer = _people([(0.0, 0.0), (0.0, 0.9)], [0.0, 0.0]), _people([(0.0, 0.0), (0.0, 0.35)], [0.0, 0.0])
    assert _waits(apart, closer, [False, False]) == [False, True]  # the one who moved
    assert _waits(apart, closer, [False, True]) == [True, False]  # there is nobody else who could
    assert _waits(closer, apart, [False, False]) == [False, False]
    assert _waits(apart, apart, [False, False]) == [False, False]
    assert _waits(closer, closer, [False, False]) == [False, False]  # no deeper than before


def test_who_would_pass_through_another_from_one_frame_to_the_next_waits() -> None:
    one_side, other_side = [(0.0, 0.0), (0.0, 0.6)], [(0.0, 0.0), (0.0, -0.6)]
    assert _waits(_people(one_side, [0.0, 0.0]), _people(other_side, [0.0, 0.0]), [False, False]) == [False, True]


def test_who_gets_into_a_wall_waits_also_at_its_corner() -> None:
    walls = WallHash.of(Walls.of_segments([[0.0, 0.3, 3.0, 0.3]], BOUNDS).segments(), BOUNDS, 1.0)
    free, inside = _people([(1.0, -0.5)], [0.0]), _people([(1.0, 0.2)], [0.0])
    assert _waits(free, inside, [False], walls) == [True]
    assert _waits(inside, free, [False], walls) == [False]
    beside = _people([(-0.5, 0.3)], [1.57])
    assert _waits(beside, _people([(-0.05, 0.3)], [1.57]), [False], walls) == [True]
    assert _waits(beside, _people([(-0.45, 0.3)], [1.57]), [False], walls) == [False]


def test_more_is_allowed_only_to_those_who_waited_long_and_feet_slow_down() -> None:
    waited, held = np.zeros(2), np.array([True, False])
    for _ in range(300):
        waited = waited_on(waited, held, 1.0 / 30.0)
    assert waited == pytest.approx([10.0, 0.0])
    assert allowed_depths(waited)[1] == BAR and 0.01 < allowed_depths(waited)[0] < 0.02
    assert 0.03 < allowed_depths(np.array([20.0]))[0] < 0.04  # for the few whom that does not set free
    assert BAR < allowed_depths(np.array([3.0]))[0] < 0.01  # less than the audit's bar, unless two are locked
    assert allowed_depths(np.array([0.5]))[0] == BAR
    assert paces_on(np.array([1.0, 0.5, 0.6]), np.array([True, False, True])).tolist() == [0.5, 0.7, 0.5]


def test_who_has_to_wait_gives_way_but_never_gets_deeper_into_anybody() -> None:
    """Somebody steps towards one who cannot move: it is put back, and leans away."""
    bodies, other = _people([(0.0, 0.0)], [0.0]), _people([(0.0, 0.35)], [0.0])
    shapes, found = _capsules(other)
    far = 0.35
    while True:  # as near as the margin and a little more
        bodies = _people([(0.0, 0.35 - far)], [0.0])
        if _gap(shapes, _capsules(bodies)[1], found) > 0.005:
            break
        far += 0.005
    then = (bodies.slots.copy(), (bodies.roots.copy(), bodies.turns.copy()))
    saved, start = bodies.state(), bodies.roots[0, 1]
    bodies.push(np.array([[0.0, 0.08]]), np.zeros((1, 2, 2)), np.zeros((1, 2, 2)))
    moves, held = part_throng(
        [bodies], [then], [np.array([BAR])], [np.array([False])], [(bodies.roots, bodies.turns)],
        lambda: [(bodies.roots, bodies.turns)], [(other.roots, other.turns)], lambda some, wishes: np.zeros((1, 2)),
        lambda slots: bodies.put_back(saved, slots), OPEN_WALLS, 1.0 / 30.0,
    )  # fmt: skip
    assert held[0].tolist() == [True]
    assert bodies.roots[0, 1] - start == pytest.approx(moves[0][0, 1])
    assert moves[0][0, 1] < -0.001
    assert _gap(shapes, _capsules(bodies)[1], found) > 0.005 - BAR


def _gap(shapes: BodyShapes, one: BodyCapsules, other: BodyCapsules) -> float:
    """Distance between two bodies along the ground, at most the margin."""
    return MARGIN - _plain_depth(one.segments[0], other.segments[0], shapes.radii[0])


def test_who_has_waited_longer_pauses_longer_and_no_two_alike() -> None:
    rows, none, long = np.arange(5), np.zeros(5), np.full(5, 2.0)
    first = pauses_on(none, none, rows)
    again = pauses_on(first, long, rows)
    for _ in range(20):
        last = pauses_on(again, long, rows)
        assert (last >= first).all() and (last < 0.8).all()
        again = last
    assert (first >= 0.2).all() and (again > 1.5 * first).all()
    assert len(np.unique(np.round(first, 6))) == 5
    assert pauses_on(again, none, rows) == pytest.approx(first)  # who is free again begins anew
    assert is_late(np.array([0.3]), strict=True)[0] and not is_late(np.array([0.3]))[0]


def test_who_would_be_run_over_does_not_stay() -> None:
    """Somebody who steps back from a cart into somebody else: that one has to wait, not the one before the cart."""
    bodies = _people([(0.0, 0.0), (0.0, 0.42)], [0.0, 0.0])
    before = _capsules(bodies)[1]
    bodies.push(np.array([[0.0, 0.04], [0.0, -0.02]]), np.zeros((2, 2, 2)), np.zeros((2, 2, 2)))
    shapes, now = _capsules(bodies)
    pairs, bars, free = pairs_of(now.places), np.full(2, BAR), np.zeros(2, bool)
    assert waiting(shapes, before, now, pairs, free, bars, OPEN_WALLS)[0]
    edge = Walls.of_segments([[-0.6, -0.2, 0.6, -0.2]], BOUNDS).segments()[:1]
    cart = OPEN_WALLS.joined(edge, 1.0, np.array([[0.0, 1.0]]))
    assert waiting(shapes, before, now, pairs, free, bars, cart).tolist() == [False, True]
    assert depths_in_movers(bodies, cart)[0] > 0.005 and depths_in_movers(bodies, cart)[1] == 0.0
    assert not depths_in_movers(bodies, OPEN_WALLS.joined(edge, 1.0)).any()
