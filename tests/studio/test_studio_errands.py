"""Errands in the studio: lived and planned, places and sources that are dragged, events, lists and lanes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

from gaitway.core.errors import StudioError
from gaitway.planning import plan_scene
from gaitway.scene import scene_from_dict
from gaitway.scene.scene import load_scene
from gaitway.scene.writing import save_scene
from gaitway.studio import edits, events
from gaitway.studio.engine import StudioEngine
from gaitway.studio.errand_play import ErrandPlay
from gaitway.studio.frames import StudioErrand, StudioFigures, StudioFrame
from gaitway.studio.live_play import LivePlay
from gaitway.studio.page.camera import seen
from gaitway.studio.page.errands import errand_list, lanes
from gaitway.studio.page.places import line_mark, point_mark, queue_places, rimmed, seat_mark, source_words
from gaitway.studio.session import StudioSession, replay
from gaitway.studio.take_play import TakePlay
from gaitway.studio.waiting import standing_frame

SHOP: dict[str, Any] = {
    "gaitway": 1,
    "bounds": [0, 0, 14, 10],
    "places": {
        "counter": {"line": [[8, 7.4], [8, 4]], "service": [1, 2]},
        "till": {"at": [3, 8.2, 90], "service": 2},
        "bench": {"seats": [[11, 7, -90], [12, 7, -90]]},
        "door": {"area": [0.2, 0.2, 1.6, 4]},
        "ring": {"area": {"circle": {"center": [5, 2], "radius": 1}}},
        "corner": [12, 2],
        "screen": [5, 5, 90],
    },
    "obstacles": [{"box": {"center": [11.5, 7.21], "size": [2.4, 0.42], "height": 0.45}, "name": "bench"}],
    "characters": [
        {"name": "ada", "start": [11, 2], "errands": [{"wait": {"event": "bell"}}, {"go": "corner"}, {"leave": "door"}]}
    ],
    "sources": [
        {
            "name": "guests",
            "area": [0.2, 0.2, 3, 5],
            "times": [0, [1, 2]],
            "errands": [{"queue": "counter"}, {"leave": "door"}],
        }
    ],
    "rules": [
        {"event": "bell", "at": 500},
        {"event": "fire", "at": 600, "send": "everybody", "errands": [{"leave": "door"}]},
    ],
}


@pytest.fixture
def engine() -> Iterator[StudioEngine]:
    made = StudioEngine(scene_from_dict(SHOP))
    yield made
    made.close()


def played(engine: StudioEngine, seconds: float) -> StudioFrame:
    for _ in range(round(30 * seconds)):
        engine.tick()
    return engine.frame()


def states(engine: StudioEngine, name: str) -> list[tuple[str, str]]:
    return [(errand.label, errand.state) for errand in engine.ahead(name).errands]


def test_people_come_do_errands_and_go_on_after_edits(engine: StudioEngine) -> None:
    assert isinstance(engine._live, ErrandPlay)
    assert engine.frame().names == ("ada",)
    frame = played(engine, 2.0)
    assert frame.names == ("ada", "guests-001", "guests-002", "guests-003")
    assert states(engine, "ada") == [("wait", "now"), ("go corner", "to come"), ("leave door", "to come")]
    engine.apply(events.MovePlace("counter", 6.0, 5.0))
    played(engine, 0.2)
    goals = [engine.ahead(f"guests-00{k}").goal for k in (1, 2, 3)]
    assert sorted(round(goal[1], 1) for goal in goals if goal) == [4.9, 5.8, 6.7]  # the line at its new place
    assert all(goal is not None and abs(goal[0] - 6.0) < 1e-6 for goal in goals)
    engine.apply(events.AddSource("guests", 10.0, 5.0, 60.0, 2))
    frame = played(engine, 8.0)
    assert {"source-1-001", "source-1-002"} <= set(frame.names)  # times of a new source count from when it is put
    engine.apply(events.LetHappen("bell"))
    frame = played(engine, 1.5)
    assert frame.happened == ("bell",)
    assert states(engine, "ada")[:2] == [("wait", "done"), ("go corner", "now")]
    assert frame.figures.collisions == 0
    for _ in range(2):
        engine.apply(events.Undo())
    assert [source.name for source in engine.scene.sources] == ["guests"]
    assert engine.scene.places["counter"].point == (8.0, 7.4)


def test_who_is_sent_or_driven_does_the_rest_afterwards(engine: StudioEngine) -> None:
    played(engine, 0.5)
    rest = [("wait", "to come"), ("go corner", "to come"), ("leave door", "to come")]
    engine.apply(events.SetGoal("ada", 12.0, 8.5))
    assert states(engine, "ada") == [("go (12.0, 8.5)", "to come"), *rest]
    engine.apply(events.SetGoal("ada", 9.0, 3.0))
    assert states(engine, "ada") == [("go (9.0, 3.0)", "to come"), *rest]  # the second order replaces the first
    played(engine, 0.2)
    engine.apply(events.Undo())
    engine.apply(events.Undo())
    assert states(engine, "ada") == rest
    engine.apply(events.Drive("ada", 1.0, 0.0))
    played(engine, 0.5)
    engine.apply(events.Drive("ada", 0.0, 0.0))
    assert states(engine, "ada")[1:] == rest
    played(engine, 6.0)
    assert ("wait", "now") in states(engine, "ada")


def test_who_was_taken_away_comes_back_with_the_rest(engine: StudioEngine) -> None:
    played(engine, 2.0)
    engine.apply(events.RemovePeople(1, "guests-001"))
    assert "guests-001" not in played(engine, 0.5).names
    engine.apply(events.MovePlace("corner", 11.0, 3.0))
    assert "guests-001" not in engine.frame().names  # and stays away after another edit
    engine.apply(events.Undo())
    engine.apply(events.Undo())
    assert "guests-001" in played(engine, 4.0).names  # as soon as nobody is where it was
    assert states(engine, "guests-001") == [("queue counter", "now"), ("leave door", "to come")]


def test_what_cannot_be_done_is_said_and_changes_nothing(engine: StudioEngine) -> None:
    before = engine.scene
    for event, words in (
        (events.MovePlace("counte", 3.0, 3.0), "no place 'counte'; there are counter"),
        (events.MovePlace("counter", 11.5, 7.2), "nobody can stand at"),
        (events.MoveSource("guest", 3.0, 3.0), "no source 'guest'; there are guests"),
        (events.AddSource("nobody", 3.0, 3.0), "nobody called 'nobody' does errands that a source could do"),
        (events.LetHappen("bel"), "did you mean 'bell'"),
        (events.RemoveSource("x"), "no source 'x'"),
    ):
        with pytest.raises(StudioError, match=words):
            engine.apply(event)
    assert engine.scene is before
    plain = StudioEngine(
        scene_from_dict({"gaitway": 1, "bounds": [0, 0, 9, 9], "characters": [{"start": [2, 2], "goal": [7, 7]}]})
    )
    assert isinstance(plain._live, LivePlay) and not isinstance(plain._live, ErrandPlay)
    with pytest.raises(StudioError, match="nobody here does errands"):
        plain.apply(events.LetHappen("bell"))
    plain.close()


def test_a_session_with_errands_plays_again_to_the_same_bytes(tmp_path: Path) -> None:
    session = StudioSession(scene_from_dict(SHOP))
    session.record(tmp_path / "s.jsonl")
    for event in (
        None,
        events.MovePlace("counter", 6.0, 5.0),
        events.AddSource("ada", 5.0, 2.0),
        events.LetHappen("bell"),
    ):
        if event is not None:
            session.post(event)
        for _ in range(30):
            session.tick()
    first = session.engine.frame()
    session.close()
    again = replay(tmp_path / "s.jsonl")
    second = again.engine.frame()
    assert first.names == second.names and len(first.names) > 3
    assert all(np.array_equal(a.positions, b.positions) for a, b in zip(first.joints, second.joints, strict=True))
    again.close()


@pytest.mark.parametrize("place", list(SHOP["places"]))
def test_every_kind_of_place_is_moved_and_comes_back_out(place: str, tmp_path: Path) -> None:
    model = scene_from_dict(SHOP).source
    before = edits.place_area(model, place)
    moved = edits.move_place(model, place, before.centroid.x + 0.25, before.centroid.y - 0.5)
    after = edits.place_area(moved, place)
    assert shapely.equals_exact(shapely.affinity.translate(before, 0.25, -0.5), after, 1e-3)
    save_scene(moved, tmp_path / "out.yaml")
    again = load_scene(tmp_path / "out.yaml").places[place]
    was = scene_from_dict(SHOP).places[place]
    assert again.point == pytest.approx((was.point[0] + 0.25, was.point[1] - 0.5), abs=1e-3)
    assert (again.heading, again.service, len(again.seats)) == (was.heading, was.service, len(was.seats))
    others = [name for name in SHOP["places"] if name != place]
    assert all(edits.place_area(moved, name).equals(edits.place_area(model, name)) for name in others)


def test_sources_are_moved_added_and_removed() -> None:
    model = scene_from_dict(SHOP).source
    moved = edits.move_source(model, "guests", 5.0, 5.0)
    assert edits.source_area(moved, "guests").centroid.equals_exact(shapely.Point(5.0, 5.0), 1e-3)
    assert edits.errand_givers(model) == ("guests", "ada")
    more = edits.add_source(model, events.AddSource("ada", 4.0, 4.0, 30.0, 7), "source-1")
    assert [source.name for source in more.sources] == ["guests", "source-1"]
    assert more.sources[1].errands == more.characters[0].errands
    assert (more.sources[1].rate, more.sources[1].count) == (30.0, 7)
    assert [source.name for source in edits.remove_source(more, "guests").sources] == ["source-1"]


def test_a_take_tells_at_every_moment_what_is_done_and_what_comes() -> None:
    scene = scene_from_dict(
        {
            **SHOP,
            "sources": [],
            "rules": [],
            "characters": [
                {"name": "ada", "start": [3, 3], "errands": [{"wait": 2}, {"go": "screen"}, {"leave": "door"}]}
            ],
        }
    )
    play = TakePlay(plan_scene(scene).take, scene)
    wait, go, leave = play.all_errands["ada"]
    assert [one.label for one in (wait, go, leave)] == ["wait", "go screen", "leave door"]
    assert {one.state for one in (wait, go, leave)} == {"done"}
    for moment, wanted in (
        (1.0, ["now", "to come", "to come"]),
        ((go.start or 0.0) + 0.5, ["done", "now", "to come"]),
        ((leave.start or 0.0) + 0.5, ["done", "done", "now"]),
    ):
        play.scrub(moment)
        assert [one.state for one in play.errands("ada")] == wanted
        assert play.ahead("ada").errands == play.errands("ada")
    assert play.names == ("ada",)
    play.close()


def test_who_comes_later_is_not_shown_while_the_scene_is_prepared() -> None:
    late = {"name": "ben", "start": [5, 5], "start_time": 4.0, "errands": [{"leave": "door"}]}
    frame = standing_frame(scene_from_dict({**SHOP, "characters": [*SHOP["characters"], late]}))
    assert frame.names == ("ada",)
    empty = standing_frame(scene_from_dict({**SHOP, "characters": []}))
    assert empty.names == () and empty.joints == ()


def take_frame(time: float, **errands: tuple[StudioErrand, ...]) -> StudioFrame:
    return StudioFrame(
        number=0, mode="take", playing=False, time=time, length=40.0, names=(), joints=(), movers=np.empty((0, 3)),
        figures=StudioFigures(), edition=0, errands=errands,
    )  # fmt: skip


def test_the_list_shows_signs_times_and_reasons() -> None:
    text = errand_list(
        [
            StudioErrand("go <kiosk>", "done", 0.0, 4.0),
            StudioErrand("sit bench", "not done", 4.0, 9.0, "all 2 seats are taken"),
            StudioErrand("queue counter", "now", 9.0),
            StudioErrand("leave door", "to come"),
        ]
    )
    assert [text.count(f'data-errand="{s}"') for s in ("done", "not done", "now", "to come")] == [1, 1, 1, 1]
    assert "go &lt;kiosk&gt;" in text and "<kiosk>" not in text
    assert "all 2 seats are taken" in text and "4 to 9 s" in text and "✓" in text and "✗" in text
    assert errand_list([]) == ""
    many = errand_list([StudioErrand("wait", "done", k, k + 1) for k in range(30)] + [StudioErrand("go a", "now", 30)])
    assert "25 earlier" in many and "▶" in many


def test_lanes_have_the_selected_person_first_and_forget_who_is_gone() -> None:
    one = (
        StudioErrand("queue a", "done", 0.0, 10.0),
        StudioErrand("leave b", "given up", 10.0, 30.0, "sent elsewhere"),
    )
    two, three = ((StudioErrand("go a", "done", k, k + 5.0),) for k in (0.0, 20.0))
    text = lanes(take_frame(12.0, one=one, two=two, three=three), "three")
    assert text.index(">three<") < text.index(">one<") and ">two<" not in text  # who was gone at 5 s
    assert text.count("data-span") == 3 and "left:25.00%;width:50.00%" in text and "left:30.00%" in text
    assert "outline" in text and "sent elsewhere" in text
    assert lanes(take_frame(0.0), "") == ""
    crowd = {f"p{k:02d}": (StudioErrand("go a", "done", float(k), 40.0),) for k in range(12)}
    assert 'data-lanes="9"' in lanes(take_frame(3.0, **crowd), "") and "and 3 more" in lanes(
        take_frame(3.0, **crowd), ""
    )


def test_marks_show_lines_seats_and_directions() -> None:
    scene = scene_from_dict(SHOP)
    drawn = queue_places(scene, scene.places["counter"])
    assert drawn[0] == (8.0, 7.4) and [round(y, 6) for _, y in drawn] == [7.4, 6.5, 5.6, 4.7]
    assert all(line_mark(drawn).contains(shapely.Point(p)) for p in drawn)
    own = queue_places(scene, scene.places["till"])
    assert own[0] == (3.0, 8.2) and len(own) == 8 and all(b[1] < a[1] for a, b in itertools.pairwise(own))
    seats = seat_mark(scene.places["bench"])
    assert seats.contains(shapely.Point(11.0, 7.2)) and seats.contains(shapely.Point(12.0, 6.95))
    faced, plain = point_mark((5.0, 5.0), math.pi / 2), point_mark((5.0, 5.0), None)
    assert faced.bounds[3] > plain.bounds[3] + 0.15 and faced.bounds[1] == pytest.approx(plain.bounds[1])
    area = shapely.box(0, 0, 2, 2)
    assert 0.7 * area.area < rimmed(area).area < area.area and rimmed(area).bounds == area.bounds
    assert source_words(scene.sources[0]) == "3 by a timetable"


def test_who_sits_is_not_driven_and_gets_up_when_sent() -> None:
    sitter = {"name": "ada", "start": [11, 6.4, -90], "errands": [{"sit": "bench", "seconds": 60}, {"leave": "door"}]}
    engine = StudioEngine(scene_from_dict({**SHOP, "characters": [sitter], "sources": [], "rules": []}))
    frame = played(engine, 9.0)
    assert engine.behavior("ada") == "sit" and frame.joints[0].positions[0, 0, 2] < 0.65
    with pytest.raises(StudioError, match="'ada' sits; send it elsewhere"):
        engine.apply(events.Drive("ada", 1.0, 0.0))
    engine.apply(events.SetGoal("ada", 8.0, 3.0))
    frame = played(engine, 9.0)
    assert engine.behavior("ada") != "sit" and frame.joints[0].positions[0, 0, 2] > 0.9
    assert frame.figures.collisions == 0
    assert states(engine, "ada")[0][0] == "go (8.0, 3.0)"
    engine.close()


def test_the_whole_place_of_errands_is_in_view() -> None:
    low, high = seen(scene_from_dict({**SHOP, "obstacles": []}))
    assert low.max() <= 0.2 and high[0] >= 12.0 and high[1] >= 8.2  # from the door to the corner and the till


def test_a_bench_takes_its_seats_along_and_what_stands_beside_it_takes_none() -> None:
    chair = {"box": {"center": [11.5, 8.0], "size": [2.4, 1.0], "height": 1.0}, "name": "shelf"}
    model = scene_from_dict({**SHOP, "obstacles": [*SHOP["obstacles"], chair]}).source
    assert model is not None and model.places is not None
    moved = edits.move_item(model, "obstacles/0", 4.0, 6.0, 90.0)
    assert moved.places is not None
    seats = [seat.at for seat in moved.places["bench"].seats or ()]
    # half a metre either side of the middle, 0.21 m before it, and turned with it
    np.testing.assert_allclose(seats, [(4.21, 5.5, 0.0), (4.21, 6.5, 0.0)], atol=1e-6)
    assert moved.places["corner"] == model.places["corner"]
    assert edits.move_item(model, "obstacles/1", 4.0, 6.0, 0.0).places == model.places  # too high to sit on
    back = edits.move_item(moved, "obstacles/0", 11.5, 7.21, 0.0)
    assert back.places is not None
    np.testing.assert_allclose([seat.at for seat in back.places["bench"].seats or ()], [(11, 7, -90), (12, 7, -90)])


def test_doors_are_where_they_have_moved_to_also_in_a_planned_take() -> None:
    gate = {"name": "gate", "center": [7, 3], "size": [1.2, 0.1], "slide": [1.2, 0], "seconds": 1.0}
    rules = [{"event": "bell", "at": 0.5, "open": ["gate"]}]
    ada = {"name": "ada", "start": [11, 2], "errands": [{"wait": 2}]}
    parts = {"doors": [gate], "sources": [], "rules": rules, "characters": [ada]}
    scene = scene_from_dict({**SHOP, **parts})
    engine = StudioEngine(scene)
    engine.apply(events.SetMode("take"))
    for time, x in ((0.2, 7.0), (1.0, 7.6), (1.8, 8.2)):
        engine.apply(events.Scrub(time))
        np.testing.assert_allclose(engine.frame().movers[0], [x, 3.0, 0.0], atol=0.05)
    engine.close()


def test_doors_are_where_they_have_moved_to() -> None:
    gate = {"name": "gate", "center": [7, 3], "size": [1.2, 0.1], "slide": [1.2, 0], "seconds": 1.0}
    rules = [{"event": "bell", "at": 0.5, "open": ["gate"]}]
    scene = scene_from_dict({**SHOP, "doors": [gate], "sources": [], "rules": rules})
    engine = StudioEngine(scene)
    assert engine.frame().movers[0].tolist() == [7.0, 3.0, 0.0]
    np.testing.assert_allclose(played(engine, 1.0).movers[0, 0], 7.6, atol=0.1)
    np.testing.assert_allclose(played(engine, 1.0).movers[0], [8.2, 3.0, 0.0], atol=1e-6)
    engine.close()
