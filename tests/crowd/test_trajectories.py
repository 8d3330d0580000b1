"""Trajectories hold together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gaitway.core.errors import CrowdError
from gaitway.crowd.trajectories import joined


def test_people_lie_one_behind_another() -> None:
    paths = [np.arange(6.0).reshape(3, 2), np.array([[7.0, 8.0, 0.5]])]
    both = joined(10.0, ["a", "b"], [2, 0], paths)
    assert len(both) == 2
    assert np.array_equal(both.positions[both.rows(0)], paths[0])
    assert np.isnan(both.headings[both.rows(0)]).all()
    assert both.headings[both.rows(1)] == [0.5]
    assert both.times(0) == pytest.approx([0.2, 0.3, 0.4])
    assert len(joined(10.0, [], [], [])) == 0


def test_what_does_not_hold_together_is_refused() -> None:
    good = joined(10.0, ["a"], [0], [np.zeros((3, 2))])
    for wrong in (
        {"fps": 0.0},
        {"fps": float("nan")},
        {"lengths": np.array([0])},
        {"starts": np.array([0, 1])},
        {"positions": np.zeros((4, 2))},
        {"positions": np.full((3, 2), np.nan)},
        {"headings": np.full(3, np.inf)},
    ):
        with pytest.raises(CrowdError):
            replace(good, **wrong)
