"""The live scene of people who are planned by `deform`: they squeeze, and bend around what is moved."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gaitway.audit import audit_take
from gaitway.core.errors import StudioError
from gaitway.scene import scene_from_dict
from gaitway.studio import events
from gaitway.studio.deform_play import DeformPlay
from gaitway.studio.engine import StudioEngine
from gaitway.studio.live_play import LivePlay


def wall_with_a_gap(gap: float, planner: str = "deform", **more: Any) -> dict[str, Any]:
    ends = [
        {"box": {"center": [4, 3 + side * (0.5 * gap + 1.75)], "size": [0.3, 3.5], "height": 2}} for side in (-1, 1)
    ]
    crate = {"box": {"center": [1, 5.4], "size": [0.5, 0.5], "height": 1.5}, "name": "crate"}
    return {
        "gaitway": 1, "bounds": [0, 0, 8, 6], "obstacles": [*ends, crate],
        "characters": [{"name": "ada", "start": [1.2, 3, 0], "goal": [6.8, 3]}], "plan": {"planner": planner}, **more,
    }  # fmt: skip


def engine_of(content: dict[str, Any]) -> StudioEngine:
    return StudioEngine(scene_from_dict(content))


def where(engine: StudioEngine) -> tuple[float, float]:
    x, y = engine.frame().joints[0].positions[0, 0, :2].tolist()
    return x, y


@pytest.mark.slow
def test_a_gap_of_45_cm_is_passed_there_and_back_and_the_take_of_it_is_clean() -> None:
    engine = engine_of(wall_with_a_gap(0.45))
    reached = []
    for goal in ((6.8, 3.0), (1.2, 3.0)):
        for _ in range(30 * 30):
            engine.tick()
            if math.dist(where(engine), goal) < 0.6:
                reached.append(goal)
                break
    assert reached == [(6.8, 3.0), (1.2, 3.0)]
    assert engine.frame().figures.collisions == 0
    take = engine.live_take()
    assert take.duration == pytest.approx(engine.frame().time, abs=0.1)
    assert not audit_take(take, engine.scene.world).violations


@pytest.mark.slow
def test_a_crate_that_is_dragged_about_is_never_touched() -> None:
    engine = engine_of({**wall_with_a_gap(1.4), "seed": 2})
    gone, was = 0.0, where(engine)
    for number in range(30 * 30):
        if number % 30 == 29:  # the mouse drags it to and fro across the gap
            engine.apply(events.MoveItem("obstacles/2", 3.0, 3.0 + 1.6 * math.sin(0.02 * number), 0.1 * number))
        engine.tick()
        frame = engine.frame()
        assert frame.figures.collisions == 0 or frame.troubles
        gone, was = gone + math.dist(was, where(engine)), where(engine)
    assert gone > 6.0


@pytest.mark.slow
def test_a_crate_put_onto_somebody_is_named_and_undone() -> None:
    engine = engine_of(wall_with_a_gap(0.5))
    for _ in range(110):
        engine.tick()
    x, y = where(engine)
    engine.apply(events.MoveItem("obstacles/2", x, y, 0.0))
    for _ in range(30):
        engine.tick()
    assert where(engine) == (x, y)
    stuck = [trouble for trouble in engine.frame().troubles if trouble.kind == "stuck"]
    assert [trouble.names for trouble in stuck] == [("ada",)] and "'crate'" in stuck[0].reason
    engine.apply(events.Undo())
    for _ in range(30 * 20):
        engine.tick()
        if math.dist(where(engine), (6.8, 3.0)) < 0.6:
            break
    assert math.dist(where(engine), (6.8, 3.0)) < 0.6


@pytest.mark.slow
def test_people_are_sent_driven_taken_away_and_put_back() -> None:
    engine = engine_of(wall_with_a_gap(1.0))
    engine.apply(events.SetGoal("ada", 2.0, 5.0))
    for _ in range(30 * 30):
        engine.tick()
        if math.dist(where(engine), (2.0, 5.0)) < 0.6:
            break
    assert math.dist(where(engine), (2.0, 5.0)) < 0.6
    assert engine.ahead("ada").goal == (2.0, 5.0, 0.0) and engine.behavior("ada")
    engine.apply(events.Drive("ada", -1.0, 0.0))
    before = where(engine)
    for _ in range(30 * 9):
        engine.tick()
    assert math.dist(where(engine), before) > 0.5
    engine.apply(events.Drive("ada", 0.0, 0.0))
    engine.apply(events.RemovePeople(character="ada"))
    engine.tick()
    assert engine.frame().names == ()
    engine.apply(events.Undo())
    for _ in range(60):
        engine.tick()
    assert engine.frame().names == ("ada",)
    with pytest.raises(StudioError, match="no character here is called 'bo'"):
        engine.apply(events.SetGoal("bo", 1.0, 1.0))
    with pytest.raises(StudioError, match="outside the bounds"):
        engine.apply(events.SetGoal("ada", 99.0, 1.0))
    with pytest.raises(StudioError, match="no event"):
        engine.apply(events.LetHappen("tea"))


@pytest.mark.slow
def test_the_same_events_give_the_same_frames() -> None:
    seen = []
    for _ in range(2):
        engine = engine_of(wall_with_a_gap(0.6))
        for number in range(200):
            if number == 80:
                engine.apply(events.MoveItem("obstacles/2", 2.6, 3.4, 0.3))
            engine.tick()
        seen.append(engine.frame().joints[0].positions)
    assert np.array_equal(*seen)


def test_other_planners_live_as_before() -> None:
    engine = engine_of(wall_with_a_gap(2.0, "behavior"))
    assert isinstance(engine._live, LivePlay) and not isinstance(engine._live, DeformPlay)
    engine.close()
