"""Narrow gaps are known beforehand: their axes, and the place to stop before them."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest

from gaitway.bench.deform import gate
from gaitway.core.arrays import FloatArray
from gaitway.deform.gaps import STOPPED, narrow_gaps
from gaitway.deform.place import SqueezePlace

START, GOAL = (1.2, 3.0, 0.0), np.array([6.8, 3.0])


def _through(at: tuple[float, float], points: FloatArray) -> FloatArray:
    """Return the length of the way from points (N, 2) to the goal by way of a gate."""
    middle = np.array(at)
    far = np.linalg.norm(points - middle, axis=1) + float(np.linalg.norm(GOAL - middle))
    return np.where(points[:, 0] < at[0], far, np.linalg.norm(points - GOAL, axis=1))


@pytest.mark.parametrize(("yaw", "aside"), [(0.0, 0.0), (15.0, 0.4), (-12.0, -0.5)])
def test_the_axis_of_an_oblique_gate_is_found(yaw: float, aside: float) -> None:
    place = SqueezePlace(gate(0.36, 0.4, yaw, aside).world)
    (gap,) = narrow_gaps(place, lambda points: _through((4.0, 3.0 + aside), points), START)
    assert math.degrees(abs(cmath.phase(gap.along * cmath.exp(-1j * math.radians(yaw))))) < 4.0
    assert abs(gap.on_axis(complex(4.0, 3.0 + aside)) - complex(4.0, 3.0 + aside)) < 0.02
    assert 0.15 < gap.room <= 0.181
    assert gap.ahead_of(gap.stop) and place.clearances(np.array([[gap.stop.real, gap.stop.imag]]))[0] >= STOPPED - 1e-6
    assert abs(gap.before(gap.stop - 0.3 * gap.along) - (gap.stop - 0.3 * gap.along)) < 1e-9


def test_the_axis_is_found_also_where_the_way_cuts_a_corner() -> None:
    place = SqueezePlace(gate(0.4, 0.13, -10.5, 0.48).world)
    (gap,) = narrow_gaps(place, lambda points: _through((4.05, 3.22), points), START)
    assert abs(gap.on_axis(complex(4.0, 3.48)) - complex(4.0, 3.48)) < 0.02 and gap.room > 0.17


def test_wide_gates_and_goals_beside_walls_are_no_narrow_gaps() -> None:
    wide, narrow = (SqueezePlace(gate(one).world) for one in (0.6, 0.36))
    assert narrow_gaps(wide, lambda points: _through((4.0, 3.0), points), START) == ()
    goal = np.array([3.75, 3.5])  # beside the wall
    assert narrow_gaps(narrow, lambda points: np.linalg.norm(points - goal, axis=1), START) == ()
