"""Elastic paths meet their pins, move as rigidly as they can, and say what contradicts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.core.errors import GaitwayError
from gaitway.deform.constraints import Contact, MotionLimits, Pin
from gaitway.deform.elastic_path import ElasticPath, raised

FRAMES = 40


def path_of(bend: float = 0.3, length: float = 2.0, frames: int = FRAMES) -> np.ndarray:
    """Return an arc."""
    way = np.linspace(0.0, 1.0, frames)
    return np.concatenate([[0.0], np.cumsum(length / (frames - 1) * np.exp(1j * bend * way[1:]))])


def augmented(elastic: ElasticPath, frames: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the deformed path by the augmented systems of equations 3 and 4, without any factorising beforehand."""
    p, n = elastic.points, len(elastic)
    chord = p[2:] - p[:-2]
    share, weight = (p[1:-1] - p[:-2]) / chord, np.maximum(np.abs(chord) / np.abs(chord).mean(), 0.02)
    shape = np.zeros((n - 2, n), complex)
    for i in range(n - 2):
        shape[i, i : i + 3] = weight[i] * np.array([share[i] - 1.0, 1.0, -share[i]])
    held, wanted = np.array([0, 1, *frames]), np.array([p[0], p[1], *places])
    rows = np.zeros((len(held), n))
    rows[np.arange(len(held)), held] = 1.0

    def solved(system: np.ndarray, target: np.ndarray) -> np.ndarray:
        square = np.block([[system.conj().T @ system, rows.T], [rows, np.zeros((len(held), len(held)))]])
        return np.linalg.solve(square, np.concatenate([system.conj().T @ target, wanted]))[:n]

    first = solved(shape, np.zeros(n - 2))
    edges = np.diff(first)
    q = np.concatenate([[p[0]], p[0] + np.cumsum(np.abs(np.diff(p)) * edges / np.abs(edges))])
    lengths = np.vstack([np.diff(np.eye(n), axis=0), 2.0 * np.diff(np.eye(n), 2, axis=0)])
    return solved(lengths.astype(complex), lengths @ q)


offsets = st.floats(-0.3, 0.3, allow_nan=False)
pin = st.tuples(st.integers(2, FRAMES - 1), offsets, offsets)
pinned = st.lists(pin, min_size=1, max_size=4, unique_by=lambda p: p[0] // 5)


@settings(max_examples=40, deadline=None)
@given(bend=st.floats(-1.5, 1.5), moved=pinned)
def test_pins_are_met_and_the_kernel_agrees_with_the_augmented_systems(bend, moved) -> None:
    elastic = ElasticPath(path_of(bend), 30.0)
    frames = np.array([frame for frame, _, _ in moved])
    places = elastic.points[frames] + np.array([complex(x, y) for _, x, y in moved])
    found = elastic.deform([Pin(f, (z.real, z.imag)) for f, z in zip(frames.tolist(), places.tolist(), strict=True)])
    assert not found.missed
    np.testing.assert_allclose(found.points[frames], places, atol=1e-7)
    np.testing.assert_allclose(found.points[:2], elastic.points[:2], atol=1e-12)
    np.testing.assert_allclose(found.points, augmented(elastic, frames, places), atol=1e-5)


@settings(max_examples=30, deadline=None)
@given(bend=st.floats(-1.5, 1.5), moved=pinned, turn=st.floats(-3.0, 3.0), x=st.floats(-9, 9), y=st.floats(-9, 9))
def test_moves_of_the_plane_commute_with_deforming(bend, moved, turn, x, y) -> None:
    here = ElasticPath(path_of(bend), 30.0)
    move = lambda z: complex(x, y) + np.exp(1j * turn) * z  # noqa: E731
    there = ElasticPath(move(here.points), 30.0)
    frames = np.array([frame for frame, _, _ in moved])
    places = here.points[frames] + np.array([complex(a, b) for _, a, b in moved])
    np.testing.assert_allclose(there.solve(frames, move(places)), move(here.solve(frames, places)), atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, FRAMES - 1), st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)), max_size=8))
def test_any_pins_give_a_finite_path_that_meets_all_but_the_missed(wild) -> None:
    elastic = ElasticPath(path_of(), 30.0)
    pins = [Pin(frame, (x, y)) for frame, x, y in wild]
    found = elastic.deform(pins)
    assert np.isfinite(found.points).all()
    for pin in pins:
        far = abs(found.points[pin.frame] - complex(*pin.place)) > 1e-6
        assert far == (pin in found.missed)


def test_nothing_moves_without_pins() -> None:
    elastic = ElasticPath(path_of(), 30.0)
    found = elastic.deform([])
    np.testing.assert_allclose(found.points, elastic.points, atol=1e-12)
    assert found.stretch == pytest.approx((1.0, 1.0)) and found.bend == pytest.approx(0.0, abs=1e-9)


def test_contradictory_pins_are_told() -> None:
    elastic = ElasticPath(path_of(), 30.0)
    pins = [Pin(20, (1.0, 0.2)), Pin(20, (1.0, 0.4)), Pin(0, (3.0, 0.0))]
    assert elastic.deform(pins).missed == (pins[1], pins[2])


def test_a_direction_is_pinned() -> None:
    elastic = ElasticPath(path_of(0.0), 30.0)
    found = elastic.deform([Pin(FRAMES - 1, (1.9, 0.3), np.radians(20.0))])
    assert found.turns[-1] == pytest.approx(np.radians(20.0))


def test_rigid_spans_keep_their_shape_and_flights_do_not_bend() -> None:
    limits = MotionLimits(rigid=((10, 18),), flight=((24, 32),))
    elastic = ElasticPath(path_of(0.0), 30.0, limits)
    found = elastic.deform([Pin(FRAMES - 1, (2.2, 0.5))])
    assert not found.missed
    np.testing.assert_allclose(np.abs(np.diff(found.points[10:19])), elastic.lengths[10:18], rtol=1e-9)
    assert np.ptp(np.angle(np.diff(found.points[10:19]))) < 1e-9
    flown = np.diff(found.points[24:33])
    assert np.ptp(np.angle(flown)) < 1e-9 and np.ptp(np.abs(flown)) < 1e-9 < abs(
        np.abs(flown[0]) / elastic.lengths[24] - 1
    )


def test_heights_follow_pins_and_gravity_stays() -> None:
    elastic = ElasticPath(path_of(0.8), 30.0)
    time = np.arange(FRAMES) / 30.0
    limits = MotionLimits(flight=((10, 20),))
    points, heights = raised(elastic, 1.0 - 4.905 * (time - 0.5) ** 2, [FRAMES - 1], [0.0], [0.4], limits)
    assert heights[-1] == pytest.approx(1.0 - 4.905 * (time[-1] - 0.5) ** 2 + 0.4)
    np.testing.assert_allclose(np.diff(heights[10:21], 2) * 900.0, -9.81, atol=1e-6)
    assert np.isfinite(points).all() and abs(points[-1] - elastic.points[-1]) < 0.05


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ElasticPath(np.zeros(10), 30.0), "0 m apart"),
        (lambda: ElasticPath(np.array([0.0, 1.0]), 30.0), "three finite points"),
        (lambda: ElasticPath(np.array([0.0, 1.0, np.nan]), 30.0), "three finite points"),
        (lambda: ElasticPath(path_of(), 30.0, MotionLimits(rigid=((3, 99),))), "beyond the 40 frames"),
        (lambda: ElasticPath(path_of(), 30.0).deform([Pin(40, (0.0, 0.0))]), "frames 0 to 39"),
        (lambda: MotionLimits(stretch=(1.2, 1.3)), "stretch"),
        (lambda: MotionLimits(bend=-1.0), "bend"),
        (lambda: MotionLimits(rigid=((3, 9),), flight=((8, 12),)), "overlaps"),
        (lambda: Pin(3, (np.nan, 0.0)), "not finite"),
        (lambda: Contact(3, 0, (1.0, 0.0), (0.0, 1.0)), "exchange them"),
        (lambda: Contact(3, 0, (0.0, 0.0), (1.0, 1.0), (1.0, 0.0)), "least first"),
    ],
)
def test_wrong_input_is_told_in_one_line(make, said) -> None:
    with pytest.raises(GaitwayError, match=said) as told:
        make()
    assert "\n" not in str(told.value)
