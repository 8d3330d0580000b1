"""Takes that are planned while the live place goes on: progress, cancelling, errors, edits meanwhile, and records."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaitway.studio.take_planning as module
from gaitway.core.errors import PlanError
from gaitway.planning import plan_scene
from gaitway.scene import scene_from_dict
from gaitway.scene.scene import Scene
from gaitway.studio import events
from gaitway.studio.session import StudioSession, replay
from recording_front import RecordingFront
from wire_viewer import PATIENCE, until


def place() -> Scene:
    return scene_from_dict({
        "gaitway": 1, "bounds": [0, 0, 12, 8], "seed": 3,
        "characters": [
            {"name": "ada", "start": [2, 5, 0], "goal": [8, 5]},
            {"name": "ben", "start": [9, 3, 180], "goal": [3, 3]},
        ],
    })  # fmt: skip


class Held:
    """Planning that waits at its first sign of progress until it may go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.go_on, self.begun, self.count = threading.Event(), threading.Event(), 0
        monkeypatch.setattr(module, "plan_scene", self._plan)

    def _plan(self, scene: Scene, progress: Callable[[str, int, int | None], None]) -> Any:
        self.count += 1
        progress("walk", 1, 2)
        self.begun.set()
        assert self.go_on.wait(PATIENCE)
        progress("walk", 2, 2)
        return plan_scene(scene, progress=progress)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    return Held(monkeypatch)


def begun() -> tuple[StudioSession, RecordingFront]:
    front = RecordingFront()
    session = StudioSession(place(), front, plans="meanwhile")
    session.tick()
    return session, front


def ends(session: StudioSession) -> bool:
    """Whether planning has come to an end, and the session knows."""

    def ticked() -> bool:
        session.tick()
        return session.planning == ""

    return until(ticked)


@pytest.mark.slow
def test_people_go_on_while_a_take_is_planned_and_then_it_is_played(held: Held) -> None:
    session, front = begun()
    session.post(events.SetMode("take"))
    session.tick()
    assert held.begun.wait(PATIENCE)
    before = session.engine.frame()
    for _ in range(90):
        session.tick()
    after = front.frames[-1]
    assert (after.mode, after.planning) == ("live", "planning the take: walk 1 of 2")
    assert after.time == pytest.approx(before.time + 3.0)
    assert np.abs(after.joints[0].positions - before.joints[0].positions).max() > 0.3
    session.post(events.SetMode("take"))  # pressed once more: nothing is planned twice
    session.tick()
    held.go_on.set()
    assert ends(session)
    assert (session.engine.mode, held.count) == ("take", 1)
    session.tick()
    assert front.frames[-1].mode == "take"
    session.close()


@pytest.mark.slow
@pytest.mark.parametrize("event", [events.CancelPlanning(), events.SetMode("live")])
def test_planning_is_cancelled(held: Held, event: events.StudioEvent) -> None:
    session, front = begun()
    session.post(events.SetMode("take"))
    session.tick()
    assert held.begun.wait(PATIENCE)
    planning = session._planning
    assert planning is not None
    session.post(event)
    session.tick()
    assert session.planning == ""
    held.go_on.set()
    assert until(lambda: planning.done)
    session.tick()
    assert session.engine.mode == "live"
    assert session.engine.take is None
    assert front.frames[-1].planning == ""
    session.close()


@pytest.mark.slow
def test_an_error_of_planning_is_said_and_the_place_lives_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(scene: Scene, progress: object) -> None:
        raise PlanError("nobody can stand at its start")

    monkeypatch.setattr(module, "plan_scene", fail)
    session, front = begun()
    session.post(events.SetMode("take"))
    session.tick()
    assert ends(session)
    assert session.engine.mode == "live"
    assert front.messages[-1] == "nobody can stand at its start"
    time = session.engine.frame().time
    session.tick()
    assert session.engine.frame().time > time
    session.close()


@pytest.mark.slow
def test_an_edit_meanwhile_is_planned_instead_and_one_of_a_take_plans_it_anew(held: Held) -> None:
    session, _ = begun()
    session.post(events.SetMode("take"))
    session.tick()
    assert held.begun.wait(PATIENCE)
    session.post(events.AddItem("box", 5.0, 1.0))
    session.tick()
    held.go_on.set()
    assert ends(session)
    take = session.engine.take
    assert take is not None and held.count == 2
    assert take.facts["world_hash"] == session.engine.scene.world_hash
    session.post(events.Scrub(1.0))
    session.post(events.AddItem("box", 7.0, 7.0))
    session.tick()
    assert session.engine.mode == "take" and session.engine.stale  # the former one is played until then
    assert ends(session)
    assert session.engine.take is not None
    assert session.engine.take.facts["world_hash"] == session.engine.scene.world_hash != take.facts["world_hash"]
    assert session.engine.frame().time >= 1.0
    session.close()


@pytest.mark.slow
def test_a_record_with_takes_that_came_later_plays_again_to_the_same_bytes(held: Held, tmp_path: Path) -> None:
    session, front = begun()
    session.post(events.SetMode("take"))
    session.tick()
    assert held.begun.wait(PATIENCE)
    for _ in range(5):
        session.tick()
    held.go_on.set()
    assert ends(session)
    session.post(events.AddItem("box", 7.0, 7.0))
    session.tick()
    assert ends(session)
    for _ in range(5):
        session.tick()
    session.save_log(tmp_path / "log.jsonl")
    session.close()
    again = RecordingFront()
    replay(tmp_path / "log.jsonl", again).close()
    assert [frame.time for frame in again.frames] == [frame.time for frame in front.frames]
    for mine, theirs in zip(front.frames, again.frames, strict=True):
        assert (mine.mode, mine.names) == (theirs.mode, theirs.names)
        for one, other in zip(mine.joints, theirs.joints, strict=True):
            np.testing.assert_array_equal(one.positions, other.positions)
