"""Straight paths end where they should, and turn no more than the planned ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.performing.relaxing._straight_kernels import (
    GIVE,
    HARD,
    LONGEST,
    SHORTEST,
    SMALL,
    STEP,
    prepare,
)
from gaitway.performing.relaxing.straight_path import PathContact, StraightPath, turning

FRAMES = 20


def walked(turns: list[float], length: float = 1.4) -> tuple[FloatArray, IntArray]:
    """Return a path of steps that each turn by an angle [rad], and its knots."""
    heading = np.concatenate([[0.0], np.cumsum(np.repeat(turns, FRAMES) / FRAMES)])
    ahead = 0.5 * (heading[1:] + heading[:-1])
    moves = length / FRAMES * np.column_stack([np.cos(ahead), np.sin(ahead)])
    places = np.vstack([[0.0, 0.0], np.cumsum(moves, axis=0)])
    return np.column_stack([places, heading]), np.arange(len(turns) + 1) * FRAMES


def straight_path(
    path: FloatArray, knots: IntArray, place: tuple[float, float], heading: float | None
) -> FloatArray | None:
    return StraightPath(path, knots).find(place, heading)


def length_of(path: FloatArray) -> float:
    return float(np.hypot(*np.diff(path[:, :2], axis=0).T).sum())


def test_a_weave_becomes_a_line() -> None:
    path, knots = walked(list(np.radians([15.0, -15.0] * 5)))
    straight = straight_path(path, knots, (path[-1, 0], path[-1, 1]), float(path[-1, 2]))
    assert straight is not None
    assert turning(path, knots) == pytest.approx(np.radians(150.0))
    assert turning(straight, knots) < np.radians(25.0)
    np.testing.assert_allclose(straight[[0, -1]], path[[0, -1]], atol=1e-6)
    assert SHORTEST <= length_of(straight) / length_of(path) <= 1.0


def test_a_corner_stays_a_corner() -> None:
    path, knots = walked(list(np.radians([0.0, 15.0, -15.0, 45.0, 45.0, -15.0, 15.0, 0.0])))
    straight = straight_path(path, knots, (path[-1, 0], path[-1, 1]), float(path[-1, 2]))
    assert straight is not None
    turns = np.degrees(np.diff(straight[knots, 2]))
    assert turning(straight, knots) < np.radians(100.0)
    assert turns[3] + turns[4] > 50.0  # a few sharp turns, not a wide arc


def test_a_free_heading_saves_a_hook() -> None:
    path, knots = walked(list(np.radians([0.0, 0.0, 0.0, 0.0, 30.0, -45.0])))
    place = (float(path[-1, 0]), float(path[-1, 1]))
    kept, free = straight_path(path, knots, place, float(path[-1, 2])), straight_path(path, knots, place, None)
    assert kept is not None and free is not None
    assert turning(free, knots) < turning(kept, knots) < turning(path, knots)


def test_a_place_out_of_reach_is_refused() -> None:
    path, knots = walked([0.0, 0.1, -0.1])
    assert straight_path(path, knots, (1.3 * LONGEST * length_of(path), 0.0), None) is None


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([-45.0, -30.0, -15.0, 0.0, 15.0, 30.0, 45.0]), min_size=2, max_size=16), st.booleans())
def test_ends_stay_and_steps_keep_their_length(turns: list[float], keep: bool) -> None:
    path, knots = walked(list(np.radians(turns)))
    straight = straight_path(path, knots, (path[-1, 0], path[-1, 1]), float(path[-1, 2]) if keep else None)
    if straight is None:
        return
    np.testing.assert_allclose(straight[0], path[0], atol=1e-12)
    np.testing.assert_allclose(straight[-1, :2], path[-1, :2], atol=1e-5)
    assert not keep or straight[-1, 2] == pytest.approx(path[-1, 2])
    ratios = np.hypot(*np.diff(straight[:, :2], axis=0).T) / np.hypot(*np.diff(path[:, :2], axis=0).T)
    assert (ratios >= SHORTEST - 1e-9).all() and (ratios <= LONGEST + 1e-9).all()
    assert np.abs(np.diff(ratios)).max() < 0.02  # neighbours are stretched alike


def test_a_contact_holds_the_path_and_pushes_only() -> None:
    path, knots = walked(list(np.radians([15.0, -30.0, 15.0, 15.0, -30.0, 15.0])))
    place = (float(path[-1, 0]), float(path[-1, 1]))
    middle, left = len(path) // 2, np.array([0.0, 1.0])
    for offset, held in ((0.3, True), (-0.3, False)):
        straight = StraightPath(path, knots).find(place, None, [PathContact(middle, left, offset)])
        assert straight is not None
        assert bool(abs(straight[middle, 1] - offset) < 2e-3) is held
        assert straight[middle, 1] >= offset - 2e-3
        np.testing.assert_allclose(straight[-1, :2], place, atol=1e-5)


def test_steps_that_may_not_turn_or_be_stretched_keep_their_shape() -> None:
    path, knots = walked(list(np.radians([30.0, 0.0, -45.0, 15.0])))
    fixed = np.array([True, False, True, True])
    drawing = StraightPath(path, knots, turns=fixed, strides=fixed)
    straight = drawing.find((float(path[-1, 0]), float(path[-1, 1])), None)
    assert straight is not None and turning(straight, knots) < turning(path, knots)
    a, b = int(knots[1]), int(knots[2])
    np.testing.assert_allclose(np.diff(straight[a : b + 1, 2]), np.diff(path[a : b + 1, 2]), atol=1e-12)
    lengths = [np.hypot(*np.diff(p[a : b + 1, :2], axis=0).T) for p in (path, straight)]
    np.testing.assert_allclose(*lengths, atol=1e-12)


def test_limits_spread_a_turn_over_steps() -> None:
    path, knots = walked(list(np.radians([0.0, 0.0, 45.0, 45.0, 0.0, 0.0])))
    place = (float(path[-1, 0]), float(path[-1, 1]))
    limits = np.tile(np.radians([-25.0, 25.0]), (6, 1))
    sharp = StraightPath(path, knots).find(place, float(path[-1, 2]))
    drawing = StraightPath(path, knots, limits=limits)
    wide = drawing.find(place, float(path[-1, 2]))
    assert sharp is not None and wide is not None
    assert np.abs(np.diff(sharp[knots, 2])).max() > np.radians(30.0)
    assert drawing.excess() < np.radians(3.0)


class Plainly:
    """What the kernels of straight paths compute, by whole arrays."""

    def __init__(self, drawing: StraightPath) -> None:
        self.it = drawing

    def moves(self) -> tuple[FloatArray, FloatArray]:
        it = self.it
        step = it.step[1:]
        angle = it.added[step] + it.half * (it.added[step + 1] - it.added[step])
        longer = it.longer[step] + it.half * (it.longer[step + 1] - it.longer[step])
        c, s, (x, y) = np.cos(angle), np.sin(angle), it.ahead.T
        turned = np.column_stack([c * x - s * y, s * x + c * y])
        return turned, turned * (1.0 + it.strides * longer)[:, None]

    def latest(self) -> FloatArray:
        it = self.it
        heading = it.path[:, 2] + it.added[it.step] + it.share * (it.added[it.step + 1] - it.added[it.step])
        return np.column_stack([it.path[0, :2] + _sums(self.moves()[1]), heading])

    def parts(self, frames: IntArray, size: int) -> FloatArray:
        """What headings of groups and lengths at knots do to frames; (C, 2, V)."""
        turned, moved = self.moves()
        cut = np.minimum(self.it.knots, frames[:, None])
        turning_ = self._by_knot(moved, cut) @ [[0.0, 1.0], [-1.0, 0.0]]
        stretching = self._by_knot(turned * self.it.strides[:, None], cut)
        by_group = np.moveaxis(turning_, 1, 2) @ self.basis(size)
        return np.concatenate([by_group, np.moveaxis(stretching, 1, 2)], axis=2)

    def basis(self, size: int) -> FloatArray:
        """Which knots each group turns; (K + 1, size)."""
        return np.eye(int(self.it.group[-1]) + 1)[self.it.group][:, 1 : 1 + size]

    def _by_knot(self, moves: FloatArray, parts: IntArray) -> FloatArray:
        later = moves * self.it.half[:, None]
        out = np.zeros((*parts.shape, 2))
        out[:, 1:] = np.diff(_sums(later)[parts], axis=1)
        out[:, :-1] += np.diff(_sums(moves - later)[parts], axis=1)
        return out

    def system(self, size: int, rows: FloatArray, held: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The system that straightens, and the slope of turning; see `_straight_kernels.assemble`."""
        it, count, total = self.it, rows.shape[1], sum(rows.shape)
        now, steps = it.planned + np.diff(it.added), np.diff(self.basis(size), axis=0)
        over = now - np.clip(now, it.limits[:, 0], it.limits[:, 1])
        weight, pushed = 1.0 / np.maximum(np.abs(now), SMALL), HARD * (over != 0.0)
        system = np.zeros((total, total))
        system[:size, :size] = (steps.T * (weight + pushed)) @ steps
        system[size:count, size:count] = it.stiff + np.diag(held)
        system[count:, :count], system[:count, count:] = rows, rows.T
        system[count:, count:] = -GIVE * np.eye(total - count)
        return system, steps.T @ (weight * now + pushed * over)


def _sums(moves: FloatArray) -> FloatArray:
    return np.concatenate([np.zeros((1, 2)), np.cumsum(moves, axis=0)])


def some_drawing(seed: int) -> tuple[StraightPath, np.random.Generator]:
    """A path of steps some of which neither turn nor stretch, half way through its drawing."""
    rng = np.random.default_rng(seed)
    path, knots = walked(list(rng.normal(0.0, 0.3, 7)))
    turns, strides = rng.random(7) < 0.7, rng.random(7) < 0.7
    limits = np.column_stack([-rng.uniform(0.1, 0.4, 7), rng.uniform(0.1, 0.4, 7)])
    drawing = StraightPath(path, knots, turns=turns, strides=strides, limits=limits)
    drawing.added[:] = rng.normal(0.0, 0.2, int(drawing.group[-1]) + 1)[drawing.group]
    drawing.longer[:] = rng.uniform(-0.1, 0.05, 8)
    return drawing, rng


@pytest.mark.parametrize("seed", range(8))
def test_kernels_agree_with_whole_arrays(seed: int) -> None:
    drawing, rng = some_drawing(seed)
    plain, frames = Plainly(drawing), np.array([3, 47, 61, 140])
    assert np.allclose(drawing.latest(), plain.latest(), rtol=0.0, atol=1e-12)
    last = int(drawing.group[-1])
    for size in (last, max(last - 1, 0)):
        count, held = size + 8, rng.random(8)
        here, parts = np.empty((4, 2)), np.empty((4, 2, count))
        system, right = np.empty((count + 5, count + 5)), np.empty(count + 5)
        prepare(
            drawing.path, drawing.ahead, drawing.step, drawing.half, drawing.strides, drawing.knots, drawing.group,
            drawing.added, drawing.longer, drawing.planned, drawing.limits, drawing.stiff, held, size, frames, 3.0, 1.0,
            True, here, parts, system, right,
        )  # fmt: skip
        assert np.allclose(here, plain.latest()[frames, :2], rtol=0.0, atol=1e-12)
        assert np.allclose(right[count : count + 2], [3.0, 1.0] - here[-1], rtol=0.0, atol=1e-12)
        assert np.allclose(parts, plain.parts(frames, size), rtol=0.0, atol=1e-12)
        rows = np.vstack([parts[-1], np.zeros((3, count))])
        expected_system, expected_slope = plain.system(size, rows, held)
        assert np.allclose(system, expected_system, rtol=1e-12, atol=1e-12)
        assert np.allclose(right[:size], -expected_slope, rtol=1e-12, atol=1e-12)


def test_stretching_costs_as_much_as_it_should() -> None:
    path, knots = walked([0.1] * 5)
    between = np.diff(np.eye(6), axis=0)
    assert np.allclose(StraightPath(path, knots).stiff, 60.0 / 6 * np.eye(6) + 15.0 * between.T @ between)


@pytest.mark.parametrize("seed", range(4))
def test_a_change_is_that_of_the_whole_system(seed: int) -> None:
    drawing, rng = some_drawing(seed)
    contacts = [PathContact(frame, np.array([0.6, -0.8]), rng.normal()) for frame in (30, 90)]
    size, place, held = int(drawing.group[-1]), (3.0, 1.0), np.zeros(8)
    drawing._hold(contacts)
    frames = np.array([140, 30, 90])
    plain = Plainly(drawing)
    parts, at = plain.parts(frames, size), plain.latest()[frames, :2]
    rows = np.vstack([parts[0], *(c.normal @ part for c, part in zip(contacts, parts[1:], strict=True))])
    lack = [*(place - at[0]), *(c.offset - c.normal @ here for c, here in zip(contacts, at[1:], strict=True))]
    expected, slope = plain.system(size, rows, held)
    system, right = drawing._system(place, size, held, True)
    assert np.allclose(system, expected, rtol=1e-12, atol=1e-12)
    whole = np.concatenate([-slope, -drawing.stiff @ drawing.longer, lack])
    assert np.allclose(right, whole, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("farthest", [np.inf, 0.2, 0.01])
def test_a_change_goes_no_farther_than_it_may(farthest: float) -> None:
    drawing, rng = some_drawing(5)
    size, before = int(drawing.group[-1]), drawing.latest()
    added, longer = drawing.added.copy(), drawing.longer.copy()
    change = rng.normal(0.0, 0.5, size + 8)
    held = drawing._apply(size, change, farthest)
    turn = np.concatenate([[0.0], change[:size]])[drawing.group]
    part = np.abs(drawing.added - added).max() / np.abs(turn).max()
    assert 0.0 < part * np.abs(turn).max() <= STEP + 1e-12
    assert np.allclose(drawing.added, added + part * turn, rtol=0.0, atol=1e-12)
    wanted = longer + part * change[size:]
    assert np.allclose(drawing.longer, np.clip(wanted, SHORTEST - 1.0, LONGEST - 1.0), rtol=0.0, atol=1e-12)
    assert ((held > 0.0) == (np.abs(wanted - drawing.longer) > 1e-12)).all()
    assert np.hypot(*(drawing.latest() - before)[:, :2].T).max() <= 1.5 * farthest
