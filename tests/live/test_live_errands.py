"""Errands of a live crowd: everybody comes in, queues, waits and leaves, and nobody touches anybody."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.audit import audit_take
from gaitway.audit.natural.company import in_company
from gaitway.core.errors import LiveError
from gaitway.errands.dispatcher import DONE, GIVEN_UP, NOT_DONE
from gaitway.live.errands import ErrandDone, LiveErrands
from gaitway.live.libraries import level_speed
from gaitway.live.options import LiveOptions
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


def test_companions_come_in_side_by_side_at_one_of_two_speeds() -> None:
    pair = {"name": "pair", "area": [0.5, 0.5, 7, 7], "times": [0, 0], "companions": 2, "errands": [{"go": [12, 2]}]}
    with LiveErrands(scene_from_dict({**SHOP, "sources": [pair], "characters": [], "obstacles": []}), seed=4) as run:
        run.step(1 / 30)
        a, b = run.crowd.roots("pair-001")[0], run.crowd.roots("pair-002")[0]
        assert 0.7 < np.hypot(*(a - b)[:2]) < 1.2
        slots = run.crowd._places(None)
        numbers = set(run.crowd._started().library_numbers(slots).tolist())
        own = {run.crowd._libraries.kinds[number].speed for number in numbers}
        body = run._body("pair-001")
        levels = [level_speed(body, "normal", run.crowd.options.speed_spread, way) for way in (-1, 0, 1)]
        assert own <= {levels[0], "normal"} and levels[1] == "normal" and float(levels[0]) < float(levels[2])


def of_two(places, obstacles=(), count=2, **more) -> dict:
    group = {"name": "g", "count": count, "companions": count, "start_area": [2, 4.5, 5, 7.5], "errands": places}
    return {
        "gaitway": 1, "bounds": [0, 0, 24, 12], "end": 60, "places": {"far": [20, 6], "near": [3, 6]},
        "obstacles": list(obstacles), "characters": [group], **more,
    }  # fmt: skip


DOOR = (
    {"wall": {"points": [[12, 0], [12, 5.4]], "thickness": 0.3}},
    {"wall": {"points": [[12, 6.6], [12, 12]], "thickness": 0.3}},
)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "obstacles"), [(2, ()), (3, ()), (2, DOOR)])
def test_live_companions_stay_together(count, obstacles) -> None:
    scene = scene_from_dict(of_two([{"go": "far"}, {"wait": 1}, {"go": "near"}], obstacles, count))
    with LiveErrands(scene, seed=0) as run:
        told = played(run, 60.0)
        take = run.take(run.time)
        names = tuple(f"g-{number:02d}" for number in range(1, count + 1))
        shares = {name: share for name, (share, *_) in in_company(take, [names]).items()}
        assert min(shares.values()) > 95.0, shares
        assert len(told) == 3 * count and {event.span.outcome for event in told} == {DONE}
        report = audit_take(take, run.world)
        assert report.ok, str(report)


def test_who_walks_in_company_does_so_at_two_paces_and_the_take_shows_the_same() -> None:
    with LiveErrands(scene_from_dict(of_two([{"go": "far"}])), seed=0) as run:
        played(run, 6.0)
        first = run.dispatcher.people["g-01"].first
        (other,) = {"g-01", "g-02"} - {first}
        speeds = {step.speed for name in (first, other) for step in run.crowd.plan(name).steps}
        assert len(speeds) > 1  # some moves at the usual pace, and others slower
        assert run.crowd.plan(first).end_time - run.time > 6.0  # the whole way is known
        before = run.crowd.roots()
        saved = run.crowd.state()
        take = run.crowd.take()
        shown = np.array(
            [take.planar(np.array([take.duration]))[take.names.index(name), 0] for name in run.crowd.names]
        )
        np.testing.assert_allclose(shown[:, :2], before[:, :2], atol=0.02)
        run.crowd.step(0.5)
        after = run.crowd.joints().positions
        run.crowd.restore(saved)
        run.crowd.step(0.5)
        np.testing.assert_allclose(run.crowd.joints().positions, after, atol=1e-9)


def test_what_cannot_be_done_is_said() -> None:
    with pytest.raises(LiveError, match="nobody to do errands"):
        LiveErrands(scene_from_dict({"gaitway": 1, "bounds": [0, 0, 9, 9]}))
    deck = {"platform": {"center": [5, 5], "size": [4, 4], "height": 2.0}, "name": "deck"}
    with pytest.raises(LiveError, match="dynamics 'mixed' know one"):
        LiveErrands(
            scene_from_dict({**SHOP, "specials": [deck], "obstacles": []}), options=LiveOptions(dynamics="mixed")
        )
    with LiveErrands(scene_from_dict(SHOP)) as run, pytest.raises(LiveError, match="did you mean 'bell'"):
        run.let_happen("bel")


BENCH = {
    **SHOP,
    "places": {**SHOP["places"], "bench": {"seats": [[11.0, 7.0, -90], [12.0, 7.0, -90]]}},
    "obstacles": [{"box": {"center": [11.5, 7.21], "size": [2.4, 0.42], "height": 0.45}, "name": "bench"}],
    "sources": [],
    "rules": [{"event": "call", "at": 500, "send": "everybody", "errands": [{"leave": "door"}]}],
    "characters": [
        {"name": "ada", "start": [11, 4, 90], "errands": [{"sit": "bench", "seconds": 8}, {"leave": "door"}]},
        {"name": "ben", "start": [9, 6, 0], "errands": [{"sit": "bench", "seconds": 200}, {"leave": "door"}]},
    ],
}


@pytest.mark.slow
def test_people_sit_on_their_seats_get_up_when_called_and_touch_nothing() -> None:
    lowest = dict.fromkeys(("ada", "ben"), 2.0)
    with LiveErrands(scene_from_dict(BENCH), seed=3) as run:
        told, rests = [], {}
        while not run.over and run.time < 70.0:
            run.step(1 / 30)
            told += [event for event in run.events() if isinstance(event, ErrandDone)]
            for name in [name for name in lowest if name in run.crowd]:
                joints = run.crowd.joints(name)
                root, posed = joints.positions[0, 0], run.crowd.poses(name).root_positions[0]
                assert np.allclose(root, posed) and np.allclose(root, run.crowd.positions(name)[0])
                if root[2] < lowest[name]:
                    lowest[name], rests[name] = float(root[2]), root[:2]
            rose = any(event.name == "ada" and event.span.label == "sit bench" for event in told)
            if rose and run.sits("ben") and "call" not in run.dispatcher.events:
                run.let_happen("call")
        assert run.over and len(run.crowd) == 0
        assert all(height < 0.65 for height in lowest.values())  # hips of who stands are at 0.98 m
        seats = sorted(round(float(place[0])) for place in rests.values())
        assert seats == [11, 12] and all(7.0 < place[1] < 7.5 for place in rests.values())
        spans = {event.name: event.span for event in told if event.span.label == "sit bench"}
        assert (spans["ada"].outcome, spans["ben"].outcome) == (DONE, GIVEN_UP)
        gone = next(event.time for event in told if event.name == "ben" and event.span.label == "leave door")
        assert gone < 60.0
        take = run.crowd.take()
        report = audit_take(take, run.scene.world)
        assert report.ok, str(report)
        assert "sit" in take.behaviors


def test_who_cannot_sit_says_so_and_goes_on() -> None:
    horse = {"name": "ada", "start": [6, 4], "library": "horse", "errands": [{"sit": "bench"}, {"go": [9, 4]}]}
    with LiveErrands(scene_from_dict({**BENCH, "characters": [horse], "rules": []}), seed=3) as run:
        told = played(run, 5.0)
        assert told[0].span.outcome == NOT_DONE and "cannot sit" in told[0].span.reason


def test_a_place_that_is_moved_is_found_and_sources_come_and_go() -> None:
    first = scene_from_dict(SHOP)
    moved = {**SHOP, "places": {**SHOP["places"], "counter": {"line": [[5, 7], [5, 3]], "service": [1.5, 3]}}}
    more = {"name": "late", "area": [9, 2, 12, 5], "times": [0, 1], "errands": [{"leave": "door"}]}
    with LiveErrands(first, seed=2) as run:
        played(run, 4.0)
        run.change(scene_from_dict({**moved, "sources": [*SHOP["sources"], more]}))
        played(run, 4.5)
        goals = [order.goal[0] for name, order in run._walks.items() if name.startswith("guests")]
        assert goals == pytest.approx([5.0] * len(goals)) and goals
        played(run, 5.5)
        assert "late-001" in run.came and "late-002" in run.came
        run.change(scene_from_dict({**moved, "characters": []}))
        assert "ada" not in run.crowd and "late-001" in run.crowd
        with pytest.raises(LiveError, match="with other rules"):
            run.change(scene_from_dict({**SHOP, "rules": [*SHOP["rules"], {"event": "noon", "at": 90.0}]}))
        with pytest.raises(LiveError, match="nobody called 'adda' does errands here"):
            run.interrupt("adda")
        played(run, 120.0)
        assert run.over and len(run.crowd) == 0
