"""The studio without a page: live, takes, edits, keys; and sessions that play again to the same bytes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gaitway.core.errors import FormatError, StudioError
from gaitway.scene import scene_from_dict
from gaitway.scene.scene import Scene
from gaitway.studio import events
from gaitway.studio.engine import StudioEngine, inside, meetings
from gaitway.studio.events import StudioEvent
from gaitway.studio.frames import RecordingFront
from gaitway.studio.page.panel import about
from gaitway.studio.serving import file_name
from gaitway.studio.session import MOST_WAITING, StudioSession, replay


def place() -> Scene:
    return scene_from_dict({
        "gaitway": 1, "bounds": [0, 0, 16, 12], "seed": 3,
        "obstacles": [{"box": {"center": [8, 2], "size": [1, 1], "height": 2}}],
        "characters": [
            {"name": "ada", "start": [2, 6, 0], "goal": [14, 6]},
            {"name": "ben", "start": [14, 4, 180], "goal": [2, 4]},
            {"name": "cleo", "start": [2, 9, 0], "goal": [14, 9]},
        ],
    })  # fmt: skip


@pytest.fixture
def engine() -> Iterator[StudioEngine]:
    made = StudioEngine(place())
    yield made
    made.close()


def run(engine: StudioEngine, ticks: int) -> None:
    for _ in range(ticks):
        engine.tick()
        engine.frame()


def where(engine: StudioEngine, name: str) -> np.ndarray:
    frame = engine.frame()
    roots = np.concatenate([joints.positions[:, 0] for joints in frame.joints])
    return roots[frame.names.index(name), :2]


def test_people_go_to_their_goals_and_back(engine: StudioEngine) -> None:
    for goal in ((14.0, 6.0), (2.0, 6.0)):
        nearest = math.inf
        for _ in range(30 * 25):
            engine.tick()
            assert engine.frame().figures.collisions == 0
            nearest = min(nearest, math.dist(where(engine, "ada"), goal))
            if nearest < 0.6:
                break
        assert nearest < 0.6


def test_a_box_in_the_way_changes_the_plan_and_nobody_is_hit(engine: StudioEngine) -> None:
    run(engine, 30)
    straight = engine.ahead("ada").points
    engine.apply(events.AddItem("box", 8.0, 6.0, 0.0, 1.5, 1.5, 2.0))
    assert engine.frame().edition == 1
    sides = []
    for _ in range(30 * 25):
        engine.tick()
        assert engine.frame().figures.collisions == 0
        x, y = where(engine, "ada")
        if abs(x - 8.0) < 0.5:
            sides.append(abs(y - 6.0))
        if math.dist((x, y), (14.0, 6.0)) < 0.6:
            break
    assert np.abs(straight[:, 1] - 6.0).max() < 0.5
    assert sides
    assert min(sides) > 0.75


def test_somebody_is_sent_elsewhere_and_stays(engine: StudioEngine) -> None:
    engine.apply(events.SetGoal("ben", 10.0, 10.0))
    run(engine, 30 * 12)
    assert math.dist(where(engine, "ben"), (10.0, 10.0)) < 1.0
    at = where(engine, "ben")
    run(engine, 60)
    assert math.dist(where(engine, "ben"), at) < 0.3
    with pytest.raises(StudioError, match="out of bounds"):
        engine.apply(events.SetGoal("ben", 100.0, 10.0))
    with pytest.raises(StudioError, match="no character here is called 'zoe'"):
        engine.apply(events.SetGoal("zoe", 3.0, 3.0))


def test_keys_drive_somebody_by_the_same_behaviours(engine: StudioEngine) -> None:
    engine.apply(events.Drive("cleo", 1.0, 0.0))
    first = where(engine, "cleo")
    run(engine, 30 * 4)
    ahead = where(engine, "cleo")
    assert ahead[0] > first[0] + 1.5
    engine.apply(events.Drive("cleo", 0.6, -1.0))
    run(engine, 30 * 4)
    assert where(engine, "cleo")[1] < ahead[1] - 0.5
    engine.apply(events.Drive("cleo", 0.0, 0.0))
    run(engine, 30 * 5)
    still = where(engine, "cleo")
    run(engine, 30)
    assert math.dist(where(engine, "cleo"), still) < 0.2


def test_a_group_is_sent_elsewhere_and_back() -> None:
    group = {"count": 4, "name": "crowd", "start_area": [1, 1, 5, 11], "goal_area": [12, 1, 15, 4]}
    engine = StudioEngine(scene_from_dict({"gaitway": 1, "bounds": [0, 0, 16, 12], "characters": [group]}))
    names = engine.frame().names
    first = {name: engine.ahead(name).goal for name in names}
    run(engine, 30)
    engine.apply(events.MoveGoal("characters/0", 13.0, 9.5))
    second = {name: engine.ahead(name).goal for name in names}
    assert all(goal is not None and goal[0] > 11.0 and goal[1] > 7.0 for goal in second.values())
    run(engine, 30 * 14)
    assert all(where(engine, name)[1] > 6.0 or engine.ahead(name).goal != second[name] for name in names)
    engine.apply(events.Undo())
    assert {name: engine.ahead(name).goal for name in names} == first
    engine.close()


def test_what_a_plan_costs_and_took_is_told(engine: StudioEngine) -> None:
    run(engine, 45)
    live = engine.ahead("ada")
    assert live.found_by == "tree"
    assert live.nodes > 0
    assert live.cost is not None
    assert live.cost > 0.8 * live.length > 0.0
    text = about("ada", "walk_forward", live)
    assert f"cost {live.cost:.1f} · tree: {live.nodes:,} moves tested" in text
    engine.apply(events.SetMode("take"))
    take = engine.ahead("ada")
    assert (take.found_by, take.cost is not None) == ("A*", True)
    assert take.nodes > 0
    assert "nodes" in about("ada", "walk_forward", take)
    assert about("", "", None) == "Click a person to select it."


def test_who_had_no_room_comes_in_when_there_is_some() -> None:
    two = [{"name": name, "start": [2, 5, 0], "goal": [13, y], "radius": 0.05} for name, y in (("ada", 5), ("ben", 7))]
    two[1]["start"] = [2.3, 5, 0]
    engine = StudioEngine(scene_from_dict({"gaitway": 1, "bounds": [0, 0, 16, 12], "characters": two}))
    assert engine.frame().names == ("ada",)
    assert "ben" in engine.frame().message
    run(engine, 30 * 5)
    assert engine.frame().names == ("ada", "ben")
    engine.close()


def test_time_stands_still_steps_and_hurries(engine: StudioEngine) -> None:
    engine.apply(events.Pause())
    run(engine, 10)
    assert engine.frame().time == 0.0
    engine.apply(events.Step(3))
    run(engine, 10)
    assert engine.frame().time == pytest.approx(0.1)
    engine.apply(events.SetSpeed(2.0))
    engine.apply(events.Play())
    run(engine, 30)
    assert engine.frame().time == pytest.approx(2.1)


def test_people_come_and_go(engine: StudioEngine) -> None:
    engine.apply(events.AddPeople(5, 4.0, 9.0, 12.0, 3.0, 2.0))
    run(engine, 5)
    assert len(engine.frame().names) >= 7
    engine.apply(events.RemovePeople(1, "ada"))
    assert "ada" not in engine.frame().names
    engine.apply(events.Undo())
    run(engine, 5)
    assert len(engine.frame().names) <= 3


def test_a_take_is_planned_and_scrubbed(engine: StudioEngine) -> None:
    with pytest.raises(StudioError, match="plan one first"):
        engine.apply(events.Scrub(1.0))
    engine.apply(events.SetMode("take"))
    engine.apply(events.Pause())
    frame = engine.frame()
    assert frame.mode == "take"
    assert frame.length > 5.0
    for moment in (3.0, 1.0, 4.5):
        engine.apply(events.Scrub(moment))
        shown = engine.frame()
        assert shown.time == moment
        assert engine.take is not None
        (expected,) = engine.take.joints(moment)
        np.testing.assert_array_equal(shown.joints[0].positions, expected.positions)
    assert engine.behavior("ada")
    assert len(engine.ahead("ada").points) > 2
    with pytest.raises(StudioError, match="go back to live"):
        engine.apply(events.SetGoal("ada", 3.0, 3.0))
    engine.apply(events.SetMode("live"))
    assert engine.frame().mode == "live"


def test_where_nobody_can_be_planned_it_is_lived_on(engine: StudioEngine) -> None:
    engine.apply(events.SetMode("take"))
    engine.apply(events.RemovePeople(3))
    assert engine.mode == "live"
    assert "nobody to plan" in engine.frame().message
    with pytest.raises(StudioError, match="nobody to plan"):
        engine.apply(events.SetMode("take"))
    run(engine, 3)
    engine.apply(events.Undo())
    assert engine.frame().names == ("ada", "ben", "cleo")


def test_what_was_lived_is_a_take(engine: StudioEngine) -> None:
    run(engine, 90)
    take = engine.live_take(2.0)
    assert take.duration == pytest.approx(2.0, abs=0.1)
    assert set(take.names) and len(take) == 3


SESSION: tuple[tuple[int, StudioEvent], ...] = (
    (5, events.AddItem("cylinder", 9.0, 6.5, 0.0, 1.0, 1.0, 2.0)),
    (20, events.SetGoal("ben", 5.0, 9.0)),
    (30, events.Drive("cleo", 1.0, 0.0)),
    (45, events.MoveItem("obstacles/1", 9.5, 6.0, 0.0)),
    (50, events.SetGoal("nobody", 5.0, 9.0)),
    (60, events.AddPeople(3, 4.0, 9.0, 12.0, 3.0, 2.0)),
    (70, events.Undo()),
)


def test_a_recorded_session_plays_again_to_the_same_bytes(tmp_path: Path) -> None:
    first, again = RecordingFront(), RecordingFront()
    session = StudioSession(place(), first)
    for tick in range(100):
        for when, event in SESSION:
            if when == tick:
                session.post(event)
        session.tick()
    session.save_log(tmp_path / "log.jsonl")
    session.close()
    assert any("nobody" in message for message in first.messages)
    replay(tmp_path / "log.jsonl", again).close()
    assert len(first.frames) == len(again.frames) == 100
    for a, b in zip(first.frames, again.frames, strict=True):
        assert a.names == b.names
        assert a.joints[0].positions.tobytes() == b.joints[0].positions.tobytes()
    assert len(first.places) == len(again.places)


def test_a_flood_of_events_is_dropped_and_moves_are_joined() -> None:
    session = StudioSession(place())
    for k in range(2_000):
        session.post(events.MoveItem("obstacles/0", 8.0, 2.0 + 0.0001 * k, 0.0, False))
    session.tick()
    assert session.dropped == 0
    for _ in range(MOST_WAITING + 50):
        session.post(events.Pause())
    assert session.dropped == 50
    session.tick()
    session.close()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no record"),
        ("{}", "no record"),
        ("nonsense", "line 1 is not JSON"),
        ('{"gaitway session": 1, "scene": "x: [", "ticks": 1}', "does not hold together"),
        ('{"gaitway session": 1, "ticks": 1}', "lacks its scene"),
        ('{"gaitway session": 1, "scene": "", "ticks": 1}\n{"tick": 0, "do": "x"}', "line 2"),
        ('{"gaitway session": 1, "scene": "", "ticks": 1}\n[]\n', "line 2"),
    ],
)
def test_files_that_are_no_sessions(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=problem):
        replay(path)
    with pytest.raises(FormatError, match="cannot be read"):
        replay(tmp_path / "none.jsonl")


def test_the_watch_sees_what_it_is_for() -> None:
    roots = np.array([[8.0, 2.0], [8.3, 2.0], [1.0, 1.0]])
    assert meetings(roots) == 1
    assert inside(roots, place().world) == 2
    assert meetings(roots[2:]) == inside(roots[2:], place().world) == 0


@pytest.mark.parametrize("name", ["..", "../x", "a/b", "", " x", "x.", "a" * 200, "\x00", "a\nb", "~"])
def test_names_of_files_never_leave_the_folder(name: str) -> None:
    with pytest.raises(StudioError, match="no name for a file"):
        file_name("scene", name)
    assert file_name("glb", "my crowd-2") == "my crowd-2.glb"
    with pytest.raises(StudioError, match="no kind of file"):
        file_name("exe", "x")


def test_events_are_plain_lines(tmp_path: Path) -> None:
    session = StudioSession(place())
    session.post(events.Step(2))
    session.tick()
    session.save_log(tmp_path / "a.jsonl")
    session.close()
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    assert json.loads(lines[1]) == {"tick": 0, "do": "step", "frames": 2}
