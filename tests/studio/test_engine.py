"""The studio without a page: live, takes, edits, keys; and sessions that play again to the same bytes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from gaitway.audit import find_collisions
from gaitway.core.errors import FormatError, StudioError
from gaitway.planning import plan, plan_scene
from gaitway.scene import scene_from_dict
from gaitway.scene.scene import Scene
from gaitway.space.query import OTHER_PART
from gaitway.studio import events
from gaitway.studio.engine import StudioEngine
from gaitway.studio.events import StudioEvent
from gaitway.studio.page.panel import about
from gaitway.studio.serving import file_name
from gaitway.studio.session import MOST_WAITING, StudioSession, replay
from recording_front import RecordingFront


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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_somebody_is_sent_upstairs_and_is_still_to_go_there_after_an_edit() -> None:
    deck = {"center": [16, 4.5], "size": [9, 7], "height": 1.36}
    flight = {"center": [10.34, 4.5], "width": 2.2, "steps": 8, "rise": 0.17, "run": 0.29}
    scene = scene_from_dict({
        "gaitway": 1, "bounds": [0, 0, 22, 9], "seed": 1,
        "specials": [{"platform": deck, "name": "deck"}, {"stairs": flight, "name": "flight"}],
        "characters": [{"name": "finn", "start": [2, 2], "goal": [2, 7]}],
    })  # fmt: skip
    engine = StudioEngine(scene)
    engine.apply(events.SetGoal("finn", 17.0, 6.0, "deck"))
    engine.apply(events.AddItem("box", 6.0, 2.0, 0.0, 0.5, 0.5, 2.0))
    root, climbs, ahead = np.zeros(3), [], engine.ahead("finn")
    for number in range(30 * 60):
        engine.tick()
        ahead = ahead if number % 15 else engine.ahead("finn")
        climbs += [at for name, *at in ahead.labels if name.startswith("stairs_up")]
        assert (ahead.points[:, :2] >= 0.0).all()
        assert (ahead.points[:, :2] <= (22.0, 9.0)).all()
        frame = engine.frame()
        root = np.concatenate([joints.positions[:, 0] for joints in frame.joints])[frame.names.index("finn")]
        if math.dist(root[:2], (17.0, 6.0)) < 0.6:
            break
    assert root[2] == pytest.approx(1.36 + 0.95, abs=0.1)
    assert climbs
    assert all(6.0 < x < 9.5 and z == 0.0 for x, _, z in climbs)  # the way leads onto the flight from its foot
    assert ahead.goal == pytest.approx((17.0, 6.0, 1.36))
    with pytest.raises(StudioError, match="attic"):
        engine.apply(events.SetGoal("finn", 17.0, 6.0, "attic"))
    engine.close()


@pytest.mark.slow
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


@pytest.mark.slow
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
    run(engine, 30 * 8)
    still = where(engine, "cleo")
    run(engine, 30)
    assert math.dist(where(engine, "cleo"), still) < 0.2


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_who_had_no_room_comes_in_when_there_is_some() -> None:
    two = [{"name": name, "start": [2, 5, 0], "goal": [13, y], "radius": 0.05} for name, y in (("ada", 5), ("ben", 7))]
    two[1]["start"] = [2.3, 5, 0]
    engine = StudioEngine(scene_from_dict({"gaitway": 1, "bounds": [0, 0, 16, 12], "characters": two}))
    assert engine.frame().names == ("ada",)
    assert "ben" in engine.frame().message
    run(engine, 30 * 5)
    assert engine.frame().names == ("ada", "ben")
    engine.close()


@pytest.mark.slow
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


@pytest.mark.slow
def test_people_come_and_go(engine: StudioEngine) -> None:
    engine.apply(events.AddPeople(5, 4.0, 9.0, 12.0, 3.0, 2.0))
    run(engine, 5)
    assert len(engine.frame().names) >= 7
    engine.apply(events.RemovePeople(1, "ada"))
    assert "ada" not in engine.frame().names
    engine.apply(events.Undo())
    assert "ada" in engine.frame().names
    engine.apply(events.Undo())
    run(engine, 5)
    assert set(engine.frame().names) == {"ada", "ben", "cleo"}


@pytest.mark.slow
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


@pytest.mark.slow
def test_where_nobody_can_be_planned_it_is_lived_on(engine: StudioEngine) -> None:
    engine.apply(events.SetMode("take"))
    session = StudioSession(engine.scene, front := RecordingFront(), engine=engine)
    session.apply(events.RemovePeople(3))
    assert engine.mode == "live"
    assert any("nobody to plan" in message for message in front.messages)
    with pytest.raises(StudioError, match="nobody to plan"):
        engine.apply(events.SetMode("take"))
    run(engine, 3)
    engine.apply(events.Undo())
    assert engine.frame().names == ("ada", "ben", "cleo")


@pytest.mark.slow
def test_what_was_lived_is_a_take(engine: StudioEngine) -> None:
    run(engine, 90)
    take = engine.live_take(2.0)
    assert take.duration == pytest.approx(2.0, abs=0.1)
    assert set(take.names) and len(take) == 3


@pytest.mark.slow
def test_a_collision_counts_once_and_is_named(engine: StudioEngine) -> None:
    """A box that is put onto somebody: one collision, however long it lasts and time stands still."""
    run(engine, 30 * 4)
    x, y = where(engine, "ada").tolist()
    engine.apply(events.AddItem("box", x + 0.45, y, 0.0, 0.6, 0.6, 2.0))
    run(engine, 2)
    first = engine.frame()
    engine.apply(events.Pause())
    run(engine, 90)
    last = engine.frame()
    assert first.figures.collisions == last.figures.collisions == 1
    (trouble,) = [one for one in last.troubles if one.kind == "collision"]
    assert trouble.names == ("ada",) and trouble.reason.endswith("cm deep") and "wall 1" in trouble.reason
    assert trouble.place is not None and math.dist(trouble.place[:2], (x, y)) < 0.6
    assert trouble.time == pytest.approx(4.0, abs=0.1)
    engine.apply(events.Restart())
    assert engine.frame().figures.collisions == 0


@pytest.mark.slow
def test_collisions_of_a_take_are_those_of_its_audit(engine: StudioEngine) -> None:
    engine.apply(events.SetMode("take"))
    take = engine.take
    assert take is not None
    assert engine.checked() == find_collisions(take, engine.scene.world) == ()
    figures = engine.frame().figures
    assert (figures.collisions, figures.checking) == (0, False)
    through = plan(scene_from_dict({"gaitway": 1, "bounds": [0, 0, 16, 12], "characters": [
        {"name": "ada", "start": [2, 2, 0], "goal": [14, 2]}]}))  # fmt: skip
    engine.show_take(through)  # in this place there is a box at (8, 2)
    found = engine.checked()
    assert [one.characters for one in found] == [("ada",)]
    frame = engine.frame()
    assert frame.figures.collisions == 1
    (trouble,) = frame.troubles
    assert (trouble.kind, trouble.names, (trouble.time, trouble.end)) == ("collision", ("ada",), found[0].span)


def sealed() -> Scene:
    """Somebody whose goal is behind walls, and somebody whose goal is not."""
    walls = [([12, 6], [4, 0.3]), ([12, 2], [4, 0.3]), ([10, 4], [0.3, 4.3]), ([14, 4], [0.3, 4.3])]
    return scene_from_dict({
        "gaitway": 1, "bounds": [0, 0, 16, 12], "seed": 3,
        "obstacles": [{"box": {"center": at, "size": size, "height": 2}} for at, size in walls],
        "characters": [
            {"name": "ada", "start": [7, 4, 0], "goal": [12, 4]},
            {"name": "ben", "start": [2, 9, 0], "goal": [14, 9]},
        ],
    })  # fmt: skip


@pytest.mark.slow
def test_who_cannot_arrive_is_listed_live_and_in_takes_with_the_reason_of_the_command_line() -> None:
    engine = StudioEngine(sealed())
    for _ in range(30 * 20):
        engine.tick()
        stuck = engine.frame().troubles
        if stuck:
            break
    assert [(one.kind, one.names) for one in stuck] == [("stuck", ("ada",))]
    assert stuck[0].reason.startswith(OTHER_PART)
    engine.apply(events.SetGoal("ada", 3.0, 4.0))
    assert engine.frame().troubles == ()
    engine.apply(events.Undo())
    engine.apply(events.SetMode("take"))
    (failed,) = engine.frame().troubles
    planned = plan_scene(sealed())
    assert (failed.kind, failed.names) == ("not arrived", ("ada",))
    assert failed.reason == planned.failed["ada"].reason
    assert failed.place is not None and math.dist(failed.place[:2], (12.0, 4.0)) > 2.0
    assert 0.0 <= failed.time <= engine.frame().length
    engine.close()


@pytest.mark.slow
def test_every_command_is_undone_and_redone(engine: StudioEngine) -> None:
    """After each command, the goals and names of all are as before when it is undone, and as after when redone."""
    commands: tuple[tuple[StudioEvent, ...], ...] = (
        (events.SetGoal("ben", 10.0, 10.0),),
        (events.Drive("cleo", 1.0, 0.0), events.Drive("cleo", 0.0, 0.0)),
        (events.RemovePeople(1, "ada"),),
        (events.AddItem("box", 8.0, 10.5),),
        (events.MoveItem("obstacles/1", 8.5, 10.5, 0.0),),
        (events.RemoveItem("obstacles/0"),),
        (events.AddPeople(1, 5.0, 2.2, 12.0, 2.2, 1.0),),
        (events.RemovePeople(1),),
        (events.Choose("", "", 9),),
        (events.SetGoal("ben", 5.0, 10.0),),
        (events.Restart(),),
    )
    states = [told(engine)]
    for command in commands:
        for event in command:
            engine.apply(event)
            run(engine, 2)
        states.append(told(engine))
    assert all(a != b for a, b in pairwise(states))
    for state in states[-2::-1]:
        engine.apply(events.Undo())
        assert engine.frame().message.startswith("undone: ")
        run(engine, 2)
        assert told(engine) == state
    with pytest.raises(StudioError, match="nothing to undo"):
        engine.apply(events.Undo())
    for state in states[1:]:
        engine.apply(events.Redo())
        run(engine, 2)
        assert told(engine) == state


def told(engine: StudioEngine) -> object:
    """What everybody is to do, and the place."""
    return {name: engine.ahead(name).goal for name in engine.frame().names}, engine.scene.source


@pytest.mark.slow
def test_who_was_taken_away_comes_back_where_it_was(engine: StudioEngine) -> None:
    run(engine, 30 * 4)
    before = where(engine, "ada")
    engine.apply(events.RemovePeople(1, "ada"))
    assert "ada" not in engine.frame().names
    engine.apply(events.Undo())
    assert math.dist(where(engine, "ada"), before) < 0.4


SESSION: tuple[tuple[int, StudioEvent], ...] = (
    (5, events.AddItem("cylinder", 9.0, 6.5, 0.0, 1.0, 1.0, 2.0)),
    (20, events.SetGoal("ben", 5.0, 9.0)),
    (30, events.Drive("cleo", 1.0, 0.0)),
    (45, events.MoveItem("obstacles/1", 9.5, 6.0, 0.0)),
    (50, events.SetGoal("nobody", 5.0, 9.0)),
    (60, events.AddPeople(3, 4.0, 9.0, 12.0, 3.0, 2.0)),
    (70, events.Undo()),
)


@pytest.mark.slow
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


@pytest.mark.slow
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


NO_NAMES = ("..", "../x", "a/b", "", " x", "x.", "a" * 200, "\x00", "a\nb", "~", "a\\b", "C:x", "é")
DEVICES = ("CON", "nul", "Aux.old", "com1 .x")


@pytest.mark.parametrize("name", [*NO_NAMES, *DEVICES])
def test_names_of_files_never_leave_the_folder(name: str) -> None:
    with pytest.raises(StudioError, match="no name for a file"):
        file_name("scene", name)
    assert file_name("glb", "my crowd-2") == "my crowd-2.glb"
    with pytest.raises(StudioError, match="no kind of file"):
        file_name("exe", "x")


@pytest.mark.slow
def test_events_are_plain_lines(tmp_path: Path) -> None:
    session = StudioSession(place())
    session.post(events.Step(2))
    session.tick()
    session.save_log(tmp_path / "a.jsonl")
    session.close()
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    assert json.loads(lines[1]) == {"tick": 0, "do": "step", "frames": 2}


@pytest.mark.slow
@pytest.mark.parametrize(("planner", "dynamics"), [("crowd", "mixed"), ("behavior", "clips")])
def test_a_scene_that_is_planned_as_a_throng_lives_as_one(planner: str, dynamics: str) -> None:
    engine = StudioEngine(scene_from_dict({"gaitway": 1, "bounds": [0, 0, 8, 6], "plan": {"planner": planner}}))
    try:
        assert engine._live.crowd.options.dynamics == dynamics
    finally:
        engine.close()
