"""Counter-flows of live crowds: two-way gates and openings that everybody must get through."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.audit.auditing import audit_take
from gaitway.bench._live_throngs import FRAME, gates, opening, run_live
from gaitway.live.crowd import LiveCrowd
from gaitway.live.options import LiveOptions
from live_crowds import walker

pytestmark = pytest.mark.slow


def test_two_way_gates_are_got_through() -> None:
    result = run_live(gates(2, (8, 6)), walker())
    assert result.people == 14
    assert result.arrived == 14 and result.seconds < 60.0
    assert result.most >= 5


def test_two_streams_get_through_an_opening() -> None:
    """By three seeds, since a few people may get locked by one: what the local dynamics do is chaotic."""
    results = [run_live(opening(20, 2.5, 60.0, 0.99), walker(), seed=seed) for seed in (1, 2, 3)]
    assert all(result.people == 40 for result in results)
    assert sum(result.arrived for result in results) >= 114
    assert sorted(result.seconds for result in results)[1] < 50.0


def test_bodies_at_two_way_gates_stay_out_of_one_another_and_of_walls() -> None:
    """As the audit measures it, between frames, too; there were touches of up to 6 cm, and 10 cm with walls."""
    throng = gates(2, (8, 6))
    with LiveCrowd(throng.world, seed=3, options=LiveOptions(dynamics="mixed"), record_minutes=1.0) as crowd:
        crowd.add_library(walker())
        crowd.add_many(throng.starts, throng.goals)
        farthest = 0.0
        while crowd.time < 20.0:
            crowd.step(FRAME)
            farthest = max(farthest, _farthest_foot(crowd))
        report = audit_take(crowd.take(), throng.world)
    for name in ("penetration", "penetration_characters"):
        found = report[name].violations
        assert len({finding.characters for finding in found}) <= 1, "hardly anybody touches"
        assert max((finding.value for finding in found), default=0.0) < 0.015
    assert 0.3 < farthest < 0.9  # nobody leaves a standing foot behind; it was up to 1.2 m, and is 0.8 m and a push


def _farthest_foot(crowd: LiveCrowd) -> float:
    """Greatest distance of a standing foot from the root, of people in the throng [m]."""
    engine = crowd._libraries.engine
    assert engine is not None and engine.mixture is not None
    away = [0.0]
    for bodies in engine.mixture._bodies:
        apart = bodies.prints()[..., :2] - bodies.places[:, None]
        away += np.hypot(apart[..., 0], apart[..., 1])[bodies.swings < 0.0].tolist()
    return max(away)
