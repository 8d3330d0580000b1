"""What was played live is what the take shows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gaitway.audit import audit_take
from gaitway.core import rotations
from gaitway.core.errors import TakeError
from gaitway.live.record import LiveRecord
from gaitway.performing.upper_body.layers import LAYER
from live_crowds import FRAME, crowd_in, ring


def test_a_take_shows_what_was_played() -> None:
    crowd = crowd_in(upper_body=False)
    record = LiveRecord(crowd)
    starts, goals = ring(5, 4.0)
    crowd.add(starts, goals)
    seen = {}
    for frame in range(1, 241):
        crowd.step(FRAME)
        if frame % 40 == 0:
            seen[crowd.time] = crowd.poses()
    take = record.take()
    assert take.names == tuple(f"person {k}" for k in range(1, 6))
    for time, poses in seen.items():
        (shown,) = take.poses(time)
        assert np.allclose(shown.root_positions, poses.root_positions, atol=1e-5)
        assert rotations.angle_between(shown.rotations, poses.rotations).max() < 1e-3


def test_a_take_looks_and_stands_as_was_shown() -> None:
    crowd = crowd_in()
    record = LiveRecord(crowd)
    starts, goals = ring(4, 3.0)
    crowd.add([*starts, [5.0, 5.0, 0.0]], [*goals, [5.0, 5.0]])
    seen = {}
    for frame in range(1, 271):
        crowd.step(FRAME)
        if frame % 30 == 0:
            seen[crowd.time] = crowd.poses()
    take = record.take()
    bare = replace(take, layers=tuple(layer for layer in take.layers if layer.name != LAYER))
    assert len(take.layers) == 5
    head, missed = take.skeletons[0].roles["head"], []
    for time, poses in seen.items():
        shown, without = (one.poses(time)[0].rotations for one in (take, bare))
        assert rotations.angle_between(shown, poses.rotations).max() < np.radians(1.5)
        missed.append(rotations.angle_between(without, poses.rotations)[:, head].max())
    assert np.degrees(max(missed)) > 5.0, "they did look about"
    assert audit_take(take)["continuity"].ok


def test_the_last_seconds_begin_at_zero() -> None:
    crowd = crowd_in()
    record = LiveRecord(crowd)
    crowd.add([[0.0, 0.0, 0.0]], [[8.0, 0.0]])
    for _ in range(150):
        crowd.step(FRAME)
    take = record.take(2.0)
    (shown,) = take.poses(2.0)
    assert take.ends[0] == pytest.approx(2.0)
    assert np.allclose(shown.root_positions, crowd.poses().root_positions, atol=1e-5)


def test_who_left_is_in_the_take_until_then() -> None:
    crowd = crowd_in()
    record = LiveRecord(crowd)
    crowd.add([[0.0, 0.0, 0.0], [0.0, 5.0, 0.0]], [[8.0, 0.0], [8.0, 5.0]])
    for _ in range(60):
        crowd.step(FRAME)
    crowd.remove([0])
    crowd.add([[-5.0, 0.0, 0.0]], [[-5.0, 5.0]])
    for _ in range(30):
        crowd.step(FRAME)
    take = record.take()
    ends = dict(zip(take.names, take.ends.tolist(), strict=True))
    assert ends == {"person 1": pytest.approx(2.0), "person 1 (2)": pytest.approx(3.0), "person 2": pytest.approx(3.0)}


def test_what_is_long_past_is_forgotten() -> None:
    crowd = crowd_in()
    record = LiveRecord(crowd, minutes=0.05)
    crowd.add([[0.0, 0.0, 0.0]], [[0.0, 0.0]])
    for _ in range(300):
        crowd.step(FRAME)
    assert record.take().ends[0] == pytest.approx(3.0)


def test_nothing_played_is_no_take() -> None:
    record = LiveRecord(crowd_in())
    with pytest.raises(TakeError, match="nothing was played"):
        record.take()
    with pytest.raises(TakeError, match="minutes"):
        LiveRecord(crowd_in(), minutes=0.0)
