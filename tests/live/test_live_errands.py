"""Errands of a live crowd: everybody comes in, queues, waits and leaves, and nobody touches anybody."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.audit import audit_take
from gaitway.core.errors import LiveError
from gaitway.errands.dispatcher import DONE, GIVEN_UP
from gaitway.live.errands import ErrandDone, LiveErrands
from gaitway.scene import scene_from_dict

SHOP = {
    "gaitway": 1,
    "bounds": [0, 0, 14, 10],
    "places": {
        "counter": {"line": [[8, 8.4], [8, 4]], "service": [1.5, 3]},
        "door": {"area": [0.2, 0.2, 1.6, 4]},
    },
    "obstacles": [{"box": {"center": [8, 9.3], "size": [3, 0.7], "height": 1.0}, "name": "counter"}],
    "characters": [{"name": "ada", "start": [11, 2], "errands": [{"wait": {"event": "bell"}}, {"leave": "door"}]}],
    "sources": [
        {
            "name": "guests",
            "area": [0.2, 0.2, 3, 5],
            "times": [0, [3, 2]],
            "errands": [{"queue": "counter"}, {"leave": "door"}],
        }
    ],
    "rules": [{"event": "bell", "after": "open"}, {"event": "open", "at": 5.0}],
}


def played(run: LiveErrands, seconds: float) -> list[ErrandDone]:
    told = []
    while not run.over and run.time < seconds:
        run.step(1 / 30)
        told += [event for event in run.events() if isinstance(event, ErrandDone)]
    return told


def test_everybody_does_all_and_is_gone() -> None:
    with LiveErrands(scene_from_dict(SHOP), seed=2) as run:
        told = played(run, 120.0)
        assert run.over and len(run.crowd) == 0 and run.refused == {}
        assert {event.span.outcome for event in told} == {DONE}
        assert run.spans() == {}  # of people who are gone nothing is kept
        spans = {name: [event.span for event in told if event.name == name] for name in run.came}
        assert [span.label for span in spans["ada"]] == ["wait", "leave door"]
        assert spans["ada"][0].end > 5.0
        served = [spans[f"guests-00{k}"][0].end for k in (1, 2, 3)]
        assert served == sorted(served) and np.diff(served).min() > 1.5
        report = audit_take(run.crowd.take(), run.scene.world)
        assert report.ok, str(report)


def test_events_go_in_by_calls_and_rules_send_people_out() -> None:
    alarm = {"event": "fire", "after": "smoke", "send": "everybody", "errands": [{"leave": "door"}]}
    smoke = {"event": "smoke", "at": 500.0}
    scene = {**SHOP, "rules": [*SHOP["rules"], smoke, alarm]}
    with LiveErrands(scene_from_dict(scene), seed=2) as run:
        played(run, 8.0)
        run.let_happen("smoke")
        told = played(run, 60.0)
        assert run.over and len(run.crowd) == 0
        assert GIVEN_UP in {event.span.outcome for event in told}


def test_what_cannot_be_done_is_said() -> None:
    with pytest.raises(LiveError, match="nobody to do errands"):
        LiveErrands(scene_from_dict({"gaitway": 1, "bounds": [0, 0, 9, 9]}))
    deck = {"platform": {"center": [5, 5], "size": [4, 4], "height": 2.0}, "name": "deck"}
    with pytest.raises(LiveError, match="several floors"):
        LiveErrands(scene_from_dict({**SHOP, "specials": [deck], "obstacles": []}))
    with LiveErrands(scene_from_dict(SHOP)) as run, pytest.raises(LiveError, match="did you mean 'bell'"):
        run.let_happen("bel")
