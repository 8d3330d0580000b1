"""Companions: they do one list of errands together, side by side, and come behind one another in gates."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from gaitway.audit import audit_take, natural_report
from gaitway.audit.natural.company import in_company
from gaitway.cli.plans import together
from gaitway.errands.arrivals import arrivals
from gaitway.errands.companions import (
    chosen_sides,
    company_speeds,
    place_on_way,
    places_beside,
    slots,
    waiting_for_others,
)
from gaitway.planning import plan_scene
from gaitway.scene import scene_from_dict
from gaitway.space.plan import Plan, PlanStep

STRAIGHT = Plan(
    tuple(PlanStep("walk", "walk", (float(x), 5.0, 0.0), float(x)) for x in range(20)), (20.0, 5.0, 0.0), 20.0, 0.0
)
"""Somebody who walks along +x at 1 m/s."""


def scene(characters=(), sources=(), obstacles=(), **more):
    places = {"kiosk": [17, 5], "door": [1, 5]}
    data = {"gaitway": 1, "bounds": [0, 0, 20, 10], "places": places, "end": 60, **more}
    return scene_from_dict(
        {**data, "characters": list(characters), "sources": list(sources), "obstacles": list(obstacles)}
    )


def group(count, size, **more):
    return {
        "name": "g", "count": count, "companions": size, "start_area": [2, 3, 5, 7],
        "errands": [{"go": "kiosk"}, {"wait": 1}, {"leave": "door"}], **more,
    }  # fmt: skip


def everywhere(points):
    return np.ones(len(points), dtype=bool)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_companions_are_abreast_or_in_a_v(count):
    places = np.array([(0.0, 0.0), *slots(count)])
    gaps = np.hypot(*np.moveaxis(places[:, None] - places[None], -1, 0)) + 9.0 * np.eye(count)
    assert (gaps.min(axis=1) > 0.6).all() and (gaps.min(axis=1) < 1.0).all()
    order = places[np.argsort(places[:, 1])]
    outer, inner = order[[0, -1], 0].mean(), order[len(order) // 2, 0]
    assert outer >= inner  # a V is open to the front


def test_five_walk_in_two_rows():
    places = np.array([(0.0, 0.0), *slots(5)])
    assert np.ptp(places[:, 1]) < 2.0 and sorted((places[:, 0] < -0.5).tolist()) == 3 * [False] + 2 * [True]
    assert np.hypot(*(places - places.mean(axis=0)).T).max() < 1.3


def test_members_are_companions_in_the_order_of_their_names():
    people = scene([group(5, 2)]).characters
    assert [c.companions for c in people[:4]] == 2 * [("g-01", "g-02")] + 2 * [("g-03", "g-04")]
    assert people[4].companions == ()


def test_companions_start_beside_one_another():
    people = {c.name: c for c in scene([group(6, 3)]).characters}
    for character in people.values():
        first = people[character.companions[0]]
        assert math.dist(character.start[:2], first.start[:2]) < 2.2
    starts = np.array([c.start[:2] for c in people.values()])
    gaps = np.hypot(*np.moveaxis(starts[:, None] - starts[None], -1, 0)) + 9.0 * np.eye(6)
    assert gaps.min() > 0.6


def test_a_source_sends_them_together_and_as_many_as_before():
    source = {"name": "s", "area": [0, 0, 4, 4], "rate": 12, "count": 7, "errands": [{"leave": "door"}]}
    alone = arrivals(scene(sources=[source]).sources, 4)
    pairs = arrivals(scene(sources=[{**source, "companions": 2}]).sources, 4)
    assert [a.companions for a in alone] == [()] * 7
    assert len(pairs) == 7 and pairs[6].companions == ()
    for a, b in zip(pairs[0:6:2], pairs[1:6:2], strict=True):
        assert a.time == b.time and a.kind is b.kind and a.companions == b.companions == (a.name, b.name)


def test_hashes_of_scenes_without_companions_stay():
    item = {key: value for key, value in group(4, 2).items() if key != "companions"}
    assert scene([item]).hash == scene([{**item, "companions": None}]).hash != scene([group(4, 2)]).hash


def test_companions_walk_as_fast_as_the_slowest():
    people = scene([group(6, 3)]).characters
    speeds = company_speeds(people, 5)
    assert len({speeds[c.name] for c in people[:3]}) == 1
    alone = company_speeds(scene([{**group(6, 3), "companions": None}]).characters, 5)
    assert speeds["g-01"] < 1.15 * min(alone[c.name] for c in people[:3]) + 0.05


def test_the_place_beside_somebody_is_beside_the_way():
    company = places_beside(STRAIGHT, 3.0, (2.5, 4.0), (0.0, -0.85), 1, everywhere)
    times = company.start + np.arange(len(company.places)) / company.rate
    np.testing.assert_allclose(company.places[0], (2.5, 4.0))  # at first where that one stands
    there = (times > 8.0) & (times < 18.0)
    np.testing.assert_allclose(company.places[there], np.column_stack([times, np.full(len(times), 4.15)])[there])
    assert times[-1] > 25.0  # also after the way has ended


def test_in_a_gate_they_walk_one_after_another():
    def free(points):
        return (np.abs(points[:, 0] - 10.0) > 0.5) | (np.abs(points[:, 1] - 5.0) < 0.4)

    company = places_beside(STRAIGHT, 0.0, (0.0, 5.85), (0.0, 0.85), 2, free)
    times = np.arange(len(company.places)) / company.rate
    gate, before, after = (int(np.argmin(np.abs(times - t))) for t in (10.0, 5.0, 19.0))
    assert company.places[gate, 1] == pytest.approx(5.0) and company.places[gate, 0] == pytest.approx(10.0 - 1.7)
    assert company.places[before, 1] == pytest.approx(5.85)
    inside = np.abs(company.places[:, 0] - 10.0) < 0.5
    assert inside.any() and (np.abs(company.places[inside, 1] - 5.0) < 0.1).all()  # until that one is through itself
    assert 19.0 - 1.7 < company.places[after, 0] < 19.0  # it closes up little by little
    assert np.abs(np.diff(company.places, axis=0)).max() < 0.9  # nobody has to jump


def test_the_first_of_four_waits_until_the_others_have_turned():
    assert waiting_for_others(STRAIGHT, 3 * [0.0], everywhere) is None
    assert waiting_for_others(STRAIGHT, [math.pi], everywhere).places[8, 0] < 0.1  # and that of two as well
    waits = waiting_for_others(STRAIGHT, [0.0, 0.0, math.pi], everywhere)
    first = float(np.argmax(waits.places[:, 0] > 0.1)) / waits.rate
    assert 2.5 < first < 5.0
    np.testing.assert_allclose(waits.places[-1], (20.0, 5.0), atol=0.3)


def test_the_first_of_four_waits_behind_a_gate():
    def gate(points):
        return (np.abs(points[:, 0] - 10.0) > 0.5) | (np.abs(points[:, 1] - 5.0) < 0.4)

    waits = waiting_for_others(STRAIGHT, 3 * [0.0], gate)
    stays = np.flatnonzero(np.hypot(*np.diff(waits.places, axis=0).T) < 1e-9)
    assert 1.5 < len(stays) / waits.rate < 3.0
    assert (waits.places[stays, 0] > 11.0).all() and (waits.places[stays, 0] < 13.0).all()
    near_goal = waiting_for_others(STRAIGHT, 3 * [0.0], lambda points: gate(points - [7.5, 0.0]))
    assert near_goal is None  # all stop there anyway


def test_who_stands_on_the_left_stays_there_and_a_wall_decides_for_two():
    found = chosen_sides(STRAIGHT, 0.0, {"a": (0.0, 4.0), "b": (-0.2, 6.0)}, everywhere)
    assert found["a"][0][1] < 0.0 < found["b"][0][1]
    assert {found["a"][1], found["b"][1]} == {1, 2}
    walled = chosen_sides(STRAIGHT, 0.0, {"a": (0.0, 4.0)}, lambda points: points[:, 1] > 4.5)
    assert walled["a"][0][1] > 0.0


def test_who_is_led_walks_beside_the_way_and_behind_it_in_a_gate():
    def gate(points):
        return (np.abs(points[:, 0] - 10.0) > 1.0) | (np.abs(points[:, 1] - 5.0) < 0.3)

    np.testing.assert_allclose(place_on_way(STRAIGHT, 4.0, (0.0, 0.85), 1, everywhere), (4.0, 5.85, 0.0))
    np.testing.assert_allclose(place_on_way(STRAIGHT, 4.0, (0.1, -0.85), 1, everywhere), (4.1, 4.15, 0.0))
    x, y, way = place_on_way(STRAIGHT, 10.0, (0.0, 0.85), 2, gate)
    assert (y, way) == (5.0, 0.0) and 8.0 < x < 8.6


def test_companions_go_together_and_the_take_and_the_report_say_so():
    planned = plan_scene(scene([group(2, 2)]))
    assert planned.failed == {}
    assert planned.take.facts["companies"] == [["g-01", "g-02"]]
    spans = planned.take.facts["errands"]
    assert [row[0] for row in spans["g-01"]] == [row[0] for row in spans["g-02"]]
    begins = np.array([[row[1] for row in spans[name]] for name in ("g-01", "g-02")])
    assert np.abs(begins[0] - begins[1])[1:].max() < 1.0  # they wait for one another before each errand
    assert audit_take(planned.take, planned.scene.world).ok
    row = natural_report(planned.take)["company"]
    assert row.ok and row.characters == 2 and row.value > 95.0
    assert planned.company.keys() == {"g-01", "g-02"} and min(planned.company.values()) > 95.0
    assert together(planned).endswith("% of their way")
    apart = replace(planned, company={"g-01": 97.0, "g-02": 61.0})
    assert together(apart).endswith("1 of 2 for less than 95 %, least 'g-02' (61 %)")


def test_company_is_lost_by_who_walks_alone():
    apart = [
        {"name": "ada", "start": [2, 2], "errands": [{"go": "kiosk"}]},
        {"name": "bob", "start": [2, 8], "errands": [{"wait": 8}, {"go": "kiosk"}]},
    ]
    planned = plan_scene(scene(apart))
    take = planned.take
    assert planned.company == {} and "companies" not in take.facts
    assert all(row.band.name != "company" for row in natural_report(take).rows)
    shares = {name: shown[0] for name, shown in in_company(take, [["ada", "bob"]]).items()}
    assert max(shares.values()) < 60.0
