"""Where cells lie."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaitway.core.errors import WorldError
from gaitway.world.grid import EMPTY_WINDOW, GridSpec, Window


@given(st.floats(-100, 100), st.floats(-100, 100), st.floats(0.1, 30), st.floats(0.1, 30), st.floats(0.05, 2.0))
def test_a_covering_grid_covers_and_no_more(x: float, y: float, width: float, height: float, cell: float):
    spec = GridSpec.covering((x, y, x + width, y + height), cell)
    x0, y0, x1, y1 = spec.bounds
    assert (x0, y0) == (x, y)
    assert x + width - 1e-8 <= x1 < x + width + cell + 1e-8
    assert y + height - 1e-8 <= y1 < y + height + cell + 1e-8


def test_a_whole_number_of_cells_is_not_one_more():
    assert GridSpec.covering((0.0, 0.0, 54.0, 2.7), 0.05).shape == (54, 1080)


@given(st.integers(-20, 20), st.integers(-20, 20))
def test_cells_and_their_middles(row: int, column: int):
    spec = GridSpec((-1.0, 2.0), 0.3, (5, 7))
    middle = spec.centers((row, column))
    np.testing.assert_allclose(middle, (-1.0 + 0.3 * (column + 0.5), 2.0 + 0.3 * (row + 0.5)))
    assert spec.cells(middle).tolist() == [row, column]
    assert bool(spec.contains((row, column))) == (0 <= row < 5 and 0 <= column < 7)
    assert spec.all_centers().shape == (5, 7, 2)
    if spec.contains((row, column)):
        np.testing.assert_array_equal(spec.all_centers()[row, column], middle)


def test_windows():
    a, b = Window(1, 2, 3, 5), Window(0, 4, 2, 9)
    assert a.joined(b) == (0, 2, 3, 9)
    assert a.joined(EMPTY_WINDOW) == EMPTY_WINDOW.joined(a) == a
    assert a.grown(2) == (-1, 0, 5, 7)
    assert a.grown(2).clipped((4, 6)) == (0, 0, 4, 6)
    assert not a.empty and EMPTY_WINDOW.empty and a.clipped((1, 1)).empty


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: GridSpec((0.0, 0.0), 0.0, (3, 3)), "grid cell 0.*above 0 in metres"),
        (lambda: GridSpec((0.0, np.nan), 0.1, (3, 3)), "grid origin"),
        (lambda: GridSpec((0.0, 0.0), 0.1, (0, 3)), "grid of 0 x 3 cells; at least one"),
        (lambda: GridSpec.covering((0, 0, 1e5, 1e5), 0.01), "more than 100,000,000; write a larger cell"),
        (lambda: GridSpec.covering((0, 0, 1, 1), -1.0), "grid cell -1"),
    ],
)
def test_wrong_grids(make, words: str):
    with pytest.raises(WorldError, match=words):
        make()
