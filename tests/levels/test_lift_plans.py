"""Plans with lifts: people wait, ride and leave, and the audit finds their feet on the platform at its time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gaitway.audit.auditing import audit_take
from gaitway.audit.ground import AuditGround
from gaitway.cast.catalog import load_cast
from gaitway.levels.links import level_library
from gaitway.levels.riding import RIDE, ridden_clip
from gaitway.planning import Planned, plan_scene
from gaitway.scene import scene_from_dict
from gaitway.scene.scene import Scene
from gaitway.world.levels.floors import Floors


def scene_of(*characters: dict[str, Any], floors: tuple[float, ...] = (0, 3), **own: Any) -> Scene:
    return scene_from_dict({
        "gaitway": 1, "bounds": [0, 0, 18, 8], "seed": 3,
        "specials": [{"platform": {"center": [13.5, 4], "size": [8, 7], "clearance": 2.75, "height": 0.25},
                      "name": "gallery"}],
        "lifts": [{"center": [8.5, 4], "size": [2, 2], "floors": list(floors), "name": "lift", **own}],
        "characters": list(characters),
    })  # fmt: skip


ADA = {"name": "ada", "start": [2, 3, 0], "goal": [14, 5], "goal_floor": "gallery"}
CLEO = {"name": "cleo", "start": [15, 6, 180], "start_floor": "gallery", "goal": [2, 6], "goal_floor": "ground"}


@pytest.fixture(scope="module")
def planned() -> Planned:
    return plan_scene(scene_of(ADA, CLEO), upper_body=False)


def test_two_ride_up_and_down_and_the_audit_finds_nothing(planned: Planned) -> None:
    assert not planned.crowd.failed
    report = audit_take(planned.take, planned.scene.world)
    assert report.violations == ()


def test_they_are_on_the_platform_whenever_they_are_in_the_shaft(planned: Planned) -> None:
    (lift,) = planned.scene.world.lifts
    for who in range(len(planned.take)):
        clip = planned.take.clip(who)
        times = planned.take.start(who) + np.arange(len(clip)) / clip.fps
        inside = lift.inside(clip.root_positions[:, :2], -0.1)
        assert inside.any()
        over = clip.root_positions[inside, 2] - lift.height(times[inside])
        assert over.min() > 0.8
        assert over.max() < 1.1
        assert np.ptp(clip.root_positions[inside, 2]) > 2.8  # it has gone all the way with it


def test_the_audit_sees_who_is_not_carried(planned: Planned) -> None:
    """The same take beside a lift that comes a second later."""
    world = planned.scene.world
    late = replace(world, lifts=(replace(world.lifts[0], start=1.0),))
    report = audit_take(planned.take, late)
    assert any(finding.row == "height" for finding in report.violations)
    points = np.array([[8.5, 4.0, 1.5]])
    (lift,) = world.lifts
    half = lift.keys[0, 1] + 0.5 * (lift.keys[1, 0] - lift.keys[0, 1])
    assert AuditGround(world).gaps(points, np.array([half])) == pytest.approx(0.0)
    assert AuditGround(world).gaps(points, np.array([0.0])) == pytest.approx(1.5)


def test_the_same_scene_gives_the_same_take(planned: Planned) -> None:
    again = plan_scene(scene_of(ADA, CLEO), upper_body=False)
    assert np.array_equal(again.take.segments.start, planned.take.segments.start)
    assert all(np.array_equal(again.take.clip(k).root_positions, planned.take.clip(k).root_positions) for k in range(2))


def test_a_clip_of_a_ride_goes_with_the_platform() -> None:
    floors = Floors.of(scene_of(ADA).world)
    links = level_library(load_cast("person"), floors).links
    ride = next(link.ride for link in links if link.ride is not None and link.source.name == "ground")
    assert len(ride.places) == 4
    stand = load_cast("person").clips["stand"]
    clip = ridden_clip(stand, ride, 11.0, 3, 1.0, f"stand{RIDE}x")
    assert len(clip) == 3 * (len(stand) - 1) + 1
    times = 11.0 + np.arange(len(clip)) / clip.fps
    rise = clip.root_positions[:, 2] - stand.root_positions[np.arange(len(clip)) % (len(stand) - 1), 2]
    assert rise[:-1] == pytest.approx(ride.lift.height(times)[:-1], abs=1e-9)


@pytest.mark.parametrize(
    ("own", "problem"),
    [
        ({"floors": (0, 2)}, "lift 'lift': no floor at height 2.00 m beside it, where it stands"),
        ({"dwell": 1.5}, "lift 'lift' stands for 1.5 s; nobody boards and leaves it in less than 4 s"),
    ],
)
def test_why_nobody_gets_up_is_said_in_one_line(own: dict[str, Any], problem: str) -> None:
    planned = plan_scene(scene_of(ADA, **own), upper_body=False)
    assert list(planned.crowd.failed) == ["ada"]
    reason = planned.crowd.results["ada"].reason
    assert problem in reason
    assert "\n" not in reason
