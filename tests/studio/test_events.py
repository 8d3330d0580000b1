"""Only events that can be meant reach the engine."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaitway.core.errors import StudioError
from gaitway.studio import events
from gaitway.studio.events import EVENTS, StudioEvent, event_from, event_to_dict

SOME = (
    events.Play(),
    events.Step(3),
    events.SetSpeed(0.5),
    events.SetMode("take"),
    events.MoveItem("obstacles/1", 1.0, 2.0, 30.0, False),
    events.AddItem("fence", 3.0, 4.0, 90.0, 5.0, 0.2, 0.4),
    events.AddPeople(20, 1.0, 2.0, 30.0, 4.0, 2.0),
    events.SetGoal("ada", -3.5, 2.0),
    events.MoveGoal("characters/0", 3.0, 4.5),
    events.Drive("ada", 1.0, -1.0),
    events.Choose("tree", "person", 7),
)


@pytest.mark.parametrize("event", SOME, ids=lambda e: events.name_of(type(e)))
def test_events_survive_a_file(event: StudioEvent) -> None:
    assert event_from(json.loads(json.dumps(event_to_dict(event)))) == event


def test_every_kind_has_a_name_and_a_page_can_say_it() -> None:
    assert EVENTS["set_goal"] is events.SetGoal
    assert len(EVENTS) == len(StudioEvent.__subclasses__())


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (None, "no event"),
        ([], "no event"),
        ({}, "'do' must be one of"),
        ({"do": "explode"}, "'do' must be one of"),
        ({"do": ["play"]}, "no event"),
        ({"do": "play", "now": 1}, "has no"),
        ({"do": "set_goal", "x": 1, "y": 2}, "without 'character'"),
        ({"do": "set_goal", "character": 3, "x": 1, "y": 2}, "must be a word"),
        ({"do": "set_goal", "character": "a" * 300, "x": 1, "y": 2}, "must be a word"),
        ({"do": "set_goal", "character": "a\n", "x": 1, "y": 2}, "must be a word"),
        ({"do": "set_goal", "character": "ada", "x": float("nan"), "y": 2}, "must be a number"),
        ({"do": "set_goal", "character": "ada", "x": float("inf"), "y": 2}, "must be a number"),
        ({"do": "set_goal", "character": "ada", "x": "1", "y": 2}, "must be a number"),
        ({"do": "set_goal", "character": "ada", "x": True, "y": 2}, "must be a number"),
        ({"do": "set_goal", "character": "ada", "x": 1e9, "y": 2}, "must be a number"),
        ({"do": "add_people", "count": 10**9, "x": 0, "y": 0, "goal_x": 1, "goal_y": 1}, "whole number"),
        ({"do": "add_people", "count": 2.5, "x": 0, "y": 0, "goal_x": 1, "goal_y": 1}, "whole number"),
        ({"do": "add_people", "count": 0, "x": 0, "y": 0, "goal_x": 1, "goal_y": 1}, "whole number"),
        ({"do": "add_item", "shape": "bomb", "x": 0, "y": 0}, "must be one of"),
        ({"do": "add_item", "shape": "box", "x": 0, "y": 0, "height": -1}, "must be a number"),
        ({"do": "move_item", "item": "obstacles/0", "x": 0, "y": 0, "yaw_deg": 0, "done": 1}, "true or false"),
        ({"do": "set_speed", "factor": 0}, "must be a number"),
        ({"do": "step", "frames": 10**7}, "whole number"),
    ],
)
def test_rubbish_is_refused_in_one_line(data: Any, problem: str) -> None:
    with pytest.raises(StudioError, match=problem) as caught:
        event_from(data)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
        max_leaves=8,
    ),
    st.sampled_from([*EVENTS, "x"]),
)
def test_anything_at_all_is_an_event_or_refused(junk: Any, name: str) -> None:
    data = {**junk, "do": name} if isinstance(junk, dict) else junk
    with contextlib.suppress(StudioError):
        assert isinstance(event_from(data), StudioEvent)
