"""Queues before links: where people stand in a throng, for how long, and when a link is free."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.levels.level_scene import LevelScene
from gaitway.levels.links import Link, level_library
from gaitway.levels.planner import _free_after
from gaitway.levels.queueing import queue_places, stood_for
from gaitway.scene import scene_from_dict
from gaitway.space.mover_sweep import Swept
from gaitway.space.plan import Plan
from gaitway.space.prepared import PreparedLibrary, planning_context
from gaitway.space.traffic import Traffic

DISCS = np.array([[0.0, 0.0, 0.3]])


@pytest.fixture(scope="module")
def place() -> tuple[PreparedLibrary, tuple[Link, ...]]:
    """A library in a place with a deck and one flight onto it, and the links of that."""
    scene = scene_from_dict(
        {
            "gaitway": 1,
            "bounds": [0, 0, 22, 9],
            "specials": [
                {"platform": {"center": [16, 4.5], "size": [9, 7], "height": 1.36}, "name": "deck"},
                {"stairs": {"center": [10.34, 4.5], "width": 2.2, "steps": 8}, "name": "flight"},
            ],
            "characters": [{"name": "ada", "start": [2, 2], "goal": [17, 6, 0, 1.36]}],
        }
    )
    (character,) = scene.characters
    levels = LevelScene.of(scene, {character.library: load_cast("person")})
    known = level_library(load_cast("person"), levels.floors)
    prepared = planning_context(levels.flat.world, levels.libraries).prepared(levels.flat.characters[0])
    return prepared, known.links


def test_people_queue_behind_one_another_with_room(place: tuple[PreparedLibrary, tuple[Link, ...]]) -> None:
    prepared, links = place
    up = next(link for link in links if link.played.rise > 0.0)
    places = queue_places(prepared, up)
    assert places
    x, y, heading = up.entry
    for px, py in places:
        ahead = math.cos(heading) * (px - x) + math.sin(heading) * (py - y)
        assert ahead <= -2.0  # nobody stands where others get on
        assert prepared.fields.clearance(np.array([[px, py]]))[0] >= 0.5
    away = [math.dist(p, up.entry[:2]) for p in places]
    assert away == sorted(away)


@pytest.mark.parametrize("seconds", [0.9, 4.3, 37.77])
def test_people_stand_for_just_as_long_as_needed(
    seconds: float, place: tuple[PreparedLibrary, tuple[Link, ...]]
) -> None:
    prepared, _ = place
    plan = stood_for(prepared, Traffic(prepared.fields.kinds), Plan((), (2.0, 2.0, 0.0), 1.0, 0.0), seconds)
    assert plan is not None
    assert plan.end_time == pytest.approx(1.0 + seconds, abs=1e-6)
    assert all(0.6 <= step.speed / plan.steps[0].speed <= 1.5 for step in plan.steps)
    times = np.diff([*(step.time for step in plan.steps), plan.end_time])
    assert times == pytest.approx(np.full(len(times), times[0]))


def test_nobody_stands_where_others_come(place: tuple[PreparedLibrary, tuple[Link, ...]]) -> None:
    prepared, _ = place
    traffic = Traffic(prepared.fields.kinds)
    traffic.add_standing(traffic.enroll("bo"), DISCS + np.array([2.0, 2.0, 0.0]), 9.0)
    begin = Plan((), (2.0, 2.0, 0.0), 1.0, 0.0)
    assert stood_for(prepared, traffic, begin, 5.0) is not None
    assert stood_for(prepared, traffic, begin, 12.0) is None


def test_the_moment_at_which_a_way_is_free() -> None:
    traffic = Traffic()
    traffic.add_standing(traffic.enroll("bo"), DISCS, 0.0, 10.0)
    traffic.add_standing(traffic.enroll("cleo"), DISCS, 10.5, 20.0)  # nobody fits between them
    way = Swept.standing(DISCS + np.array([0.2, 0.0, 0.0]), 0, 30, -1)
    free = _free_after(traffic, [way])
    assert 20.0 <= free <= 21.0
    assert traffic.met_by(replace(way, slots=way.slots + round(10.0 * free))) is None


def test_a_way_on_which_somebody_stands_for_good_is_never_free() -> None:
    traffic = Traffic()
    traffic.add_standing(traffic.enroll("bo"), DISCS, 40.0)
    assert math.isinf(_free_after(traffic, [Swept.standing(DISCS, 380, 410, -1)]))


def test_what_kernels_hold_of_traffic_is_made_again_after_a_change() -> None:
    traffic = Traffic()
    way = Swept.standing(DISCS, 0, 30, -1)
    assert traffic.met_by(way) is None
    assert traffic.handle is traffic.handle
    bo = traffic.enroll("bo")
    traffic.add_standing(bo, DISCS, 0.0)
    assert traffic.met_by(way) == "bo"
    traffic.cut(bo, 0.0)
    assert traffic.met_by(way) is None
    traffic.add_standing(bo, DISCS, 0.0)
    assert traffic.met_by(way) == "bo"
    traffic.remove(bo)
    assert traffic.met_by(way) is None
