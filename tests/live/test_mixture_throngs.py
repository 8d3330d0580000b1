"""Counter-flows of live crowds: two-way gates and openings that everybody must get through."""

from __future__ import annotations

import pytest

from gaitway.bench._live_throngs import gates, opening, run_live
from live_crowds import walker

pytestmark = pytest.mark.slow


def test_two_way_gates_are_got_through() -> None:
    result = run_live(gates(2, (8, 6)), walker())
    assert result.people == 14
    assert result.arrived == 14 and result.seconds < 60.0
    assert result.most >= 5


def test_two_streams_get_through_an_opening() -> None:
    result = run_live(opening(20, 2.5, 60.0, 0.99), walker())
    assert result.people == 40
    assert result.arrived == 40 and result.seconds < 60.0
