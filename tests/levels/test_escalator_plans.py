"""Escalators in plans and live: people step on, are carried on one tread, and step off; the audit sees it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import shapely

import gaitway
from gaitway.audit.auditing import audit_take
from gaitway.cast.catalog import load_cast
from gaitway.core.errors import SceneError
from gaitway.levels.links import level_library
from gaitway.levels.riding import carried_by
from gaitway.library.fitting.footholds import footholds
from gaitway.library.fitting.rides import Ride, fitted_ride
from gaitway.planning import Planned, plan_scene
from gaitway.scene import scene_from_dict
from gaitway.scene.scene import Scene
from gaitway.world.escalators import DEPTH
from gaitway.world.levels.floors import Floors

ADA = {"name": "ada", "start": [3.5, 3, 0], "goal": [19, 3], "goal_floor": "gallery"}
CLEO = {"name": "cleo", "start": [18.5, 6, 180], "start_floor": "gallery", "goal": [3.5, 6], "goal_floor": "ground"}


def scene_of(*characters: dict[str, Any], gallery: float = 3.0, **own: Any) -> Scene:
    return scene_from_dict({
        "gaitway": 1, "bounds": [0, 0, 24, 9], "seed": 3,
        "specials": [{"platform": {"center": [19.5, 4.5], "size": [8.6, 8.6], "clearance": gallery - 0.25,
                                   "height": 0.25}, "name": "gallery"}],
        "escalators": [{"center": [10.9, 3], "height": 3, "name": "way up", **own},
                       {"center": [10.9, 6], "height": 3, "direction": "down", "name": "way down"}],
        "characters": list(characters),
    })  # fmt: skip


@pytest.fixture(scope="module")
def planned() -> Planned:
    return plan_scene(scene_of(ADA, CLEO), upper_body=False)


def test_two_ride_up_and_down_and_the_audit_finds_nothing(planned: Planned) -> None:
    assert not planned.crowd.failed
    assert audit_take(planned.take, planned.scene.world).violations == ()


def test_each_stands_in_the_middle_of_one_tread_all_the_way(planned: Planned) -> None:
    for who, belt in enumerate(planned.scene.world.escalators):
        clip = planned.take.clip(who)
        points = clip.contact_positions()[:, :6]
        times = planned.take.start(who) + np.arange(len(clip)) / clip.fps
        own = belt.along(points[..., :2])[..., 0]
        riding = (own.min(axis=1) > 2.0) & (own.max(axis=1) < belt.length - 2.0)
        assert riding.sum() > 200
        ends = np.stack([own[riding].min(axis=1), own[riding].max(axis=1)])
        middle = belt.middle(ends.mean(axis=0), times[riding])
        assert ends.mean(axis=0) == pytest.approx(middle, abs=0.02)
        assert np.ptp(middle - belt.sign * belt.speed * times[riding]) < 1e-6  # one tread
        assert points[riding][..., 2] == pytest.approx(np.tile((belt.profile(middle))[:, None], (1, 6)), abs=0.01)


@pytest.mark.parametrize(("more", "row"), [({"speed": 0.4}, "skate"), ({"bottom": 0.05}, "height")])
def test_the_audit_sees_who_is_not_carried(planned: Planned, more: dict[str, float], row: str) -> None:
    """The same take beside escalators that are slower, or elsewhere."""
    world = planned.scene.world
    others = replace(world, escalators=tuple(replace(one, **more) for one in world.escalators))
    assert any(finding.row == row for finding in audit_take(planned.take, others).violations)


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize(("rise", "slope_deg", "speed"), [(1.0, 35.0, 0.75), (5.0, 27.0, 0.3)])
def test_a_fitted_ride_leads_from_floor_to_floor_without_a_slide(
    rise: float, slope_deg: float, speed: float, down: bool
) -> None:
    ride = Ride(rise, math.radians(slope_deg), speed, down)
    fitted = fitted_ride(load_cast("person"), ride)
    clip, belt = fitted.clip, ride.escalator
    assert fitted.rise == pytest.approx(-rise if down else rise)
    assert clip.root_positions[-1, 2] - clip.root_positions[0, 2] == pytest.approx(fitted.rise, abs=0.03)
    assert fitted.last_edge - fitted.edge == pytest.approx(belt.length)
    points, times = clip.contact_positions()[:, :6], np.arange(len(clip)) / clip.fps
    assert clip.contacts is not None
    for hold in footholds(clip):
        columns = range(3) if hold.side == "left" else range(3, 6)
        for column in columns:
            rests = np.flatnonzero(clip.contacts[hold.start : hold.stop, column]) + hold.start
            if len(rests) < 2:
                continue
            track = points[rests, column]
            floor = (track[:, 0] < fitted.edge).all() or (track[:, 0] > fitted.last_edge).all()
            aboard = (track[:, 0] > fitted.edge).all() and (track[:, 0] < fitted.last_edge).all()
            assert floor or aboard
            assert np.ptp(track[:, 0] - (0.0 if floor else speed * times[rests])) < 0.005
    still = np.linalg.norm(np.diff(clip.root_positions, axis=0), axis=1) * clip.fps
    assert np.abs(np.diff(still)).max() < 0.35  # nobody is jerked


def test_a_link_lies_where_a_tread_is_in_the_middle_at_its_time() -> None:
    scene = scene_of()
    made = level_library(load_cast("person"), Floors.of(scene.world))
    assert made.troubles == ()
    assert [link.name for link in made.links] == ["way up", "way down"]
    for link in made.links:
        assert link.belt is not None
        for time in (0.0, 0.31, 7.77, 123.4):
            at = link.at(time)
            assert abs(at.shift) <= 0.5 * DEPTH
            ahead = link.played.tread + at.shift + link.belt.speed * 9.0
            own = link.belt.length - ahead if link.belt.down else ahead
            assert link.belt.middle(own, time + 9.0) == pytest.approx(own, abs=1e-6)
            assert math.dist(at.entry[:2], link.entry[:2]) == pytest.approx(abs(at.shift))
            height = carried_by(at, link.played.clip).root_positions[270, 2] - link.played.clip.root_positions[270, 2]
            assert height == pytest.approx(float(link.belt.climbed(ahead) - link.belt.climbed(ahead - at.shift)))
    assert len(level_library(load_cast("person"), Floors.of(scene_of(width=1.5).world)).links) == 3  # two lanes


def test_an_escalator_that_leads_nowhere_is_told(planned: Planned) -> None:
    lost = plan_scene(scene_of(ADA, gallery=4.0), upper_body=False)
    result = lost.crowd.results["ada"]
    assert result.plan is None
    assert "escalator 'way up': no floor at height 3.00 m at (17.0, 3.0), where it leads to" in result.reason
    wrong = plan_scene(scene_of(ADA, direction="down"), upper_body=False).crowd.results["ada"]
    assert wrong.reason.endswith("to 'gallery' (3 m): escalator 'way up' carries people the other way")
    horse = level_library(load_cast("horse"), Floors.of(planned.scene.world))
    assert horse.troubles[0].startswith("escalator 'way up': library 'horse' has no clips that stop, stand and set off")


def test_nobody_starts_on_an_escalator() -> None:
    with pytest.raises(SceneError, match=r"start: \[10.9, 3\] is 0.266 m from escalators\[0\] 'way up'; write a point"):
        scene_of({**ADA, "start": [10.9, 3, 0]})
    crowd = scene_of({"count": 12, "start_area": [8, 1.5, 14, 4.5], "goal": [19, 3], "goal_floor": "gallery"})
    area = crowd.world.escalators[0].area
    assert not any(area.intersects(shapely.Point(one.start[:2])) for one in crowd.characters)


@pytest.mark.slow
def test_live_people_ride_it_and_the_audit_finds_nothing() -> None:
    scene = scene_of(ADA, CLEO)
    with gaitway.live(scene) as crowd:
        for _ in range(1200):
            crowd.step(1 / 30)
            if crowd.arrived().all():
                break
        assert crowd.arrived().all()
        take = crowd.take()
    assert audit_take(take, scene.world).violations == ()
