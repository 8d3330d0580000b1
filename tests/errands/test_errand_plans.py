"""People who do errands, planned: whole bodies that queue, wait, meet and leave, and touch nobody."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from gaitway.audit import audit_take
from gaitway.core.errors import LiveError, PlanError
from gaitway.errands.arrivals import arrivals
from gaitway.live.opening import live
from gaitway.planning import plan_scene
from gaitway.scene import scene_from_dict

SHOP = {
    "gaitway": 1,
    "bounds": [0, 0, 16, 12],
    "places": {
        "counter": {"line": [[8, 10.4], [8, 6]], "service": [1.5, 3]},
        "lounge": {"area": [11, 2, 15, 9]},
        "door": {"area": [0.2, 0.2, 1.4, 4]},
    },
    "obstacles": [{"box": {"center": [8, 11.3], "size": [3, 0.7], "height": 1.0}, "name": "counter"}],
    "characters": [
        {"name": "ada", "start": [4, 3], "errands": [{"go": "lounge"}, {"look": "counter"}, {"leave": "door"}]},
        {"name": "bo", "start": [13, 1], "goal": [3, 10]},
    ],
    "sources": [
        {
            "name": "guests",
            "area": [0.2, 0.2, 3, 5],
            "times": [0, [4, 2]],
            "errands": [{"queue": "counter"}, {"leave": "door"}],
        }
    ],
}


@pytest.fixture(scope="module")
def shop():
    return plan_scene(scene_from_dict(SHOP), seed=1)


def test_every_errand_is_done_and_nobody_touches_anybody(shop):
    assert shop.failed == {}
    rows = shop.take.facts["errands"]
    assert set(rows) == {"ada", "bo", "guests-001", "guests-002", "guests-003"}
    assert {row[3] for some in rows.values() for row in some} == {"done"}
    assert [row[0] for row in rows["ada"]] == ["go lounge", "look counter", "leave door"]
    report = audit_take(shop.take, shop.scene.world)
    assert report.ok, str(report)


def test_spans_follow_one_another(shop):
    for rows in shop.take.facts["errands"].values():
        for before, after in pairwise(rows):
            assert before[1] <= before[2] <= after[1] + 1e-6


def test_who_leaves_is_gone_and_who_has_a_goal_stays_there(shop):
    take = shop.take
    for name in ("ada", "guests-001"):
        who = take.names.index(name)
        assert take.ends[who] == pytest.approx(take.facts["errands"][name][-1][2], abs=0.05)
        assert who not in take.present(take.duration - 0.01)
    bo = take.names.index("bo")
    assert take.ends[bo] == pytest.approx(take.ends.max())
    assert np.hypot(*(take.planar([take.ends[bo] - 0.1])[bo, 0, :2] - [3, 10])) < 0.6


def test_who_stands_at_an_exit_leaves_without_walking_about():
    scene = {
        "gaitway": 1, "bounds": [0, 0, 16, 8], "places": {"lift": [12, 4]},
        "characters": [{"name": "ada", "start": [6, 4], "errands": [{"go": "lift"}, {"leave": "lift"}]}],
    }  # fmt: skip
    take = plan_scene(scene_from_dict(scene), seed=1).take
    (_, _, arrived, *_), (_, _, gone, *_) = take.facts["errands"]["ada"]
    assert gone - arrived < 3.0


def test_a_queue_keeps_its_order_and_stands_on_its_line(shop):
    rows = shop.take.facts["errands"]
    served = [rows[f"guests-00{k}"][0][2] for k in (1, 2, 3)]
    assert served == sorted(served) and np.diff(served).min() > 1.5
    # the last one waits a while on the line, behind the server
    who = shop.take.names.index("guests-003")
    places = shop.take.planar(np.arange(served[1] - 2.0, served[1], 0.1))[who, :, :2]
    assert np.abs(places[:, 0] - 8.0).max() < 0.15


def test_the_same_seed_gives_the_same_take(shop):
    again = plan_scene(scene_from_dict(SHOP), seed=1)
    assert again.take.facts["errands"] == shop.take.facts["errands"]
    assert np.array_equal(again.take.segments.start, shop.take.segments.start)


def test_an_alarm_sends_everybody_out_in_the_midst_of_what_they_do():
    alarm = {"event": "alarm", "at": 6.0, "send": "everybody", "errands": [{"leave": "door"}]}
    found = plan_scene(scene_from_dict({**SHOP, "rules": [alarm]}), seed=1)
    rows = found.take.facts["errands"]
    assert all(some[-1][0] == "leave door" and some[-1][3] == "done" for some in rows.values())
    assert any(row[3] == "given up" for some in rows.values() for row in some)
    assert max(some[-1][2] for some in rows.values()) < 30.0
    report = audit_take(found.take, found.scene.world)
    assert report.ok, str(report)


def test_a_take_lasts_until_the_last_wait_is_over():
    waits = {"name": "ada", "start": [6, 2], "errands": [{"go": [4, 2]}, {"wait": 6}]}
    take = plan_scene(scene_from_dict({"gaitway": 1, "bounds": [0, 0, 9, 9], "characters": [waits]}), seed=1).take
    (_, wait) = take.facts["errands"]["ada"]
    assert wait[:1] == ["wait"] and take.duration >= wait[2] > 8.0


def test_a_run_ends_at_its_time():
    found = plan_scene(scene_from_dict({**SHOP, "end": 8.0}), seed=1)
    assert found.take.ends.max() == pytest.approx(8.0)
    assert any(row[3] == "going on" for some in found.take.facts["errands"].values() for row in some)


def test_arrivals_follow_the_timetable_or_come_at_the_rate():
    scene = scene_from_dict(SHOP)
    assert [arrival.time for arrival in arrivals(scene.sources, 0)] == [0.0, 4.0, 4.0]
    source = {**SHOP["sources"][0], "rate": 60.0, "until": 600.0}
    del source["times"]
    many = arrivals(scene_from_dict({**SHOP, "sources": [source]}).sources, 5)
    assert 520 < len(many) < 680
    assert len({arrival.name for arrival in many}) == len(many)


def test_what_cannot_be_done_is_said_in_one_line():
    with pytest.raises(PlanError, match="planner 'crowd' moves everybody at once"):
        plan_scene(scene_from_dict({**SHOP, "plan": {"planner": "crowd"}}))
    with pytest.raises(LiveError, match="people of this scene do errands; write LiveErrands"):
        live(scene_from_dict(SHOP))
    walled = {**SHOP, "obstacles": [{"wall": {"points": [[10, 0], [10, 12]]}}], "characters": [], "end": 60.0}
    walled["sources"] = [
        {"name": "p", "area": [0, 5, 3, 9], "times": [0], "errands": [{"go": "lounge"}, {"leave": "door"}]}
    ]
    found = plan_scene(scene_from_dict(walled))
    (reason,) = [result.reason for result in found.failed.values()]
    assert reason.startswith("go lounge: the goal lies in another part of free space")
    assert [row[3] for row in found.take.facts["errands"]["p-001"]] == ["not done", "done"]


def test_a_source_without_room_is_named():
    crowded = {**SHOP, "characters": [], "end": 90.0}
    crowded["sources"] = [{"name": "p", "area": [5, 5, 5.1, 5.1], "times": [[0, 2]], "errands": [{"wait": 80}]}]
    found = plan_scene(scene_from_dict(crowded))
    assert found.failed["p-002"].reason == "source 'p' has no room for 'p-002' within 60 s; write a larger area"


def test_two_sit_on_a_bench_and_go_on():
    bench = {"box": {"center": [5, 6.21], "size": [2.4, 0.42], "height": 0.45}, "name": "bench"}
    scene = {
        "gaitway": 1,
        "bounds": [0, 0, 10, 8],
        "obstacles": [bench],
        "places": {"bench": {"seats": [[4.4, 6, -90], [5.6, 6, -90]]}, "door": {"area": [0.2, 0.2, 1.2, 3]}},
        "characters": [
            {"name": "ada", "start": [2, 4], "errands": [{"sit": "bench", "seconds": 4}, {"leave": "door"}]},
            {"name": "bo", "start": [8, 4], "errands": [{"sit": "bench", "seconds": 4}, {"leave": "door"}]},
        ],
    }
    found = plan_scene(scene_from_dict(scene), seed=2)
    assert found.failed == {}
    take = found.take
    for name in ("ada", "bo"):
        who = take.names.index(name)
        rows = range(take.rows[who], take.rows[who + 1])
        (sit,) = [row for row in rows if take.behaviors[take.segments.behavior[row]] == "sit"]
        when = float(take.segments.start[sit]) + 4.0
        (poses,) = take.poses(when, [who])
        assert 0.45 < poses.root_positions[0, 2] < 0.7  # hips on the seat
        assert 6.0 < poses.root_positions[0, 1] < 6.4
    report = audit_take(take, found.scene.world)
    assert report.ok, str(report)
    bell = {"event": "bell", "at": 14.0, "send": "everybody", "errands": [{"leave": "door"}]}
    for character in scene["characters"]:
        character["errands"][0]["seconds"] = 60
    called = plan_scene(scene_from_dict({**scene, "rules": [bell]}), seed=2)
    assert {row[0]: row[3] for row in called.take.facts["errands"]["ada"]} == {
        "sit bench": "given up",
        "leave door": "done",
    }
    assert called.take.duration < 35.0
    report = audit_take(called.take, called.scene.world)
    assert report.ok, str(report)


@pytest.mark.slow
def test_errands_lead_over_stairs_to_other_floors_and_back():
    scene = {
        "gaitway": 1,
        "bounds": [0, 0, 26, 12],
        "specials": [
            {"platform": {"center": [17, 6], "size": [10, 8], "height": 2.04}, "name": "deck"},
            {"stairs": {"center": [10.26, 6], "width": 2.4, "steps": 12}, "name": "flight"},
        ],
        "places": {"view": {"at": [19, 8, 90], "floor": "deck"}, "door": [1, 2]},
        "characters": [
            {"name": "ada", "start": [3, 3], "errands": [{"go": "view"}, {"go": [15, 4, 0, 2.04]}, {"leave": "door"}]},
            {"name": "bo", "start": [2, 8], "goal": [20, 4, 90, 2.04]},
        ],
    }
    found = plan_scene(scene_from_dict(scene), seed=1)
    assert found.failed == {}
    rows = found.take.facts["errands"]
    assert [row[0] for row in rows["ada"]] == ["go view", "go (15, 4)", "leave door"]
    assert [row[0] for row in rows["bo"]] == ["go the goal"]
    (poses,) = found.take.poses(rows["ada"][0][2], [found.take.names.index("ada")])
    assert poses.root_positions[0, 2] > 2.8  # upstairs
    assert np.hypot(*(poses.root_positions[0, :2] - [19, 8])) < 0.7
    report = audit_take(found.take, found.scene.world)
    assert report.ok, str(report)


def test_an_alarm_in_the_midst_of_a_jump_is_heeded_after_it():
    data = {
        "gaitway": 1, "bounds": [0, 0, 20, 6], "end": 60,
        "places": {"far": [18, 3], "door": {"area": [0.3, 2, 1.2, 4]}},
        "specials": [{"jump": {"center": [10, 3], "size": [0.4, 6], "height": 0.4}}],
        "characters": [{"name": "ada", "start": [2, 3], "errands": [{"go": "far"}, {"wait": 20}]}],
    }  # fmt: skip
    crowd = plan_scene(scene_from_dict(data), upper_body=False).crowd
    steps, graph = crowd.plans["ada"].steps, crowd.libraries["ada"].graph
    number = next(k for k, step in enumerate(steps) if graph[step.behavior].obstacle is not None)
    begins, ends = steps[number].time, steps[number + 1].time
    alarm = {"event": "alarm", "at": begins + 0.1, "send": "everybody", "errands": [{"leave": "door"}]}
    planned = plan_scene(scene_from_dict({**data, "rules": [alarm]}), upper_body=False)
    rows = planned.take.facts["errands"]["ada"]
    assert [(row[0], row[3]) for row in rows] == [("go far", "given up"), ("leave door", "done")]
    after = planned.crowd.plans["ada"].steps
    assert after[: number + 1] == steps[: number + 1] and after[number + 1].time >= ends - 1e-6
