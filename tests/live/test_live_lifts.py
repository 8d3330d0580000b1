"""Live people in lifts: they wait, board, ride and leave, and go over narrow slopes in turns."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import gaitway
from gaitway.audit.auditing import audit_take
from gaitway.levels.links import Link
from gaitway.live.climbing.narrow_slopes import PATIENCE, NextLink, must_wait, one_lane
from gaitway.live.crowd import LiveCrowd
from gaitway.scene import scene_from_dict
from gaitway.scene.scene import Scene

FRAME = 1.0 / 30.0
ADA = {"name": "ada", "start": [2, 3, 0], "goal": [14, 5], "goal_floor": "gallery"}
BEN = {"name": "ben", "start": [2, 5, 0], "goal": [15, 3], "goal_floor": "gallery"}
CLEO = {"name": "cleo", "start": [15, 6, 180], "start_floor": "gallery", "goal": [2, 6], "goal_floor": "ground"}


def scene_of(*characters: dict[str, Any]) -> Scene:
    return scene_from_dict({
        "gaitway": 1, "bounds": [0, 0, 18, 8], "seed": 3,
        "specials": [{"platform": {"center": [13.5, 4], "size": [8, 7], "clearance": 2.75, "height": 0.25},
                      "name": "gallery"}],
        "lifts": [{"center": [8.5, 4], "size": [2, 2], "floors": [0, 3], "name": "lift"}],
        "characters": list(characters),
    })  # fmt: skip


def in_the_shaft(crowd: LiveCrowd, scene: Scene) -> list[float]:
    """Return how high the roots of those in the shaft are over the platform now [m]."""
    (lift,), roots = scene.world.lifts, crowd.positions()
    inside = lift.inside(roots[:, :2], -0.1)
    return (roots[inside, 2] - float(lift.height(crowd.time))).tolist()


@pytest.mark.slow
def test_people_ride_up_and_down_and_the_audit_finds_nothing() -> None:
    scene, over = scene_of(ADA, BEN, CLEO), list[float]()
    with gaitway.live(scene) as crowd:
        for _ in range(3000):
            crowd.step(FRAME)
            over += in_the_shaft(crowd, scene)
            if crowd.arrived().all():
                break
        assert crowd.arrived().all()
        take = crowd.take()
    assert len(over) > 300
    assert min(over) > 0.8
    assert max(over) < 1.1
    assert audit_take(take, scene.world).violations == ()


@pytest.mark.slow
def test_who_rides_stays_aboard_whatever_its_goal_becomes_and_a_restored_crowd_goes_on_alike(tmp_path: Path) -> None:
    scene, over = scene_of(ADA, CLEO), list[float]()
    with gaitway.live(scene, seed=1) as crowd, gaitway.live(scene, seed=1) as other:
        for _ in range(3000):
            crowd.step(FRAME)
            if in_the_shaft(crowd, scene) and 0.5 < float(scene.world.lifts[0].height(crowd.time)) < 2.5:
                break
        assert in_the_shaft(crowd, scene)
        crowd.send("ada", [2.0, 3.0, 0.0])
        crowd.save(tmp_path / "crowd.gwlive")
        other.restore(tmp_path / "crowd.gwlive")
        for _ in range(3600):
            crowd.step(FRAME)
            other.step(FRAME)
            over += in_the_shaft(crowd, scene)
            assert np.array_equal(crowd.positions(), other.positions())
            if crowd.arrived().all():
                break
        assert crowd.arrived().all()
        assert 0.8 < min(over) <= max(over) < 1.1
        assert audit_take(crowd.take(), scene.world).violations == ()


def test_people_go_over_a_narrow_slope_in_turns() -> None:
    ramp, low, high = (SimpleNamespace(relief=relief, mesh=False) for relief in (object(), None, None))

    def link(source: object, target: object, at: float) -> Link:
        made = SimpleNamespace(
            fitted=None, ride=None, source=source, target=target, entry=(at, 0.0, 0.0), exit=(at, 0.0, 0.0)
        )
        return cast(Link, made)

    onto, off = link(low, ramp, 0.0), link(ramp, high, 9.0)
    down, out = link(high, ramp, 9.0), link(ramp, low, 0.0)
    assert one_lane(onto, [onto, off, down, out])
    assert not one_lane(onto, [onto, link(low, ramp, 0.8), off, down, out])  # there is room for two
    assert not one_lane(off, [onto, off, down, out])
    assert not must_wait(0, onto, 0, [NextLink(0, onto, 0)])
    assert must_wait(0, onto, 0, [NextLink(1, out, 0)])  # somebody comes
    assert not must_wait(0, onto, 0, [NextLink(1, off, 0)])  # somebody goes ahead
    waits = NextLink(2, down, PATIENCE)
    assert must_wait(0, onto, 0, [NextLink(1, off, 0), waits])  # and another has waited for long
    assert not must_wait(0, onto, 0, [waits])  # the slope is empty
    assert not must_wait(0, onto, PATIENCE, [NextLink(1, off, 0), waits])
