"""Ramps and blocks between floors: scenes, plans, feet on the slope and hands on the edge."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from gaitway.audit.auditing import audit_take
from gaitway.cast.catalog import load_cast
from gaitway.core.errors import WorldError
from gaitway.levels.links import level_library
from gaitway.performing.terrain.underfoot import GroundSpan, Underfoot
from gaitway.planning import Planned, plan_scene
from gaitway.scene import scene_from_dict
from gaitway.scene.scene import Scene
from gaitway.scene.writing import scene_to_yaml
from gaitway.space.mover_sweep import Swept
from gaitway.space.traffic import Traffic
from gaitway.world.levels.floors import Floors
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box, Ramp, TriangleMesh
from gaitway.world.standing import top
from gaitway.world.terrain import Terrain
from gaitway.world.world import World

HIGH = 1.4


def slope(*characters: dict[str, Any], length: float = 7, width: float = 2.4, yaw_deg: float = 0.0) -> Scene:
    """Return a scene with a deck and a ramp that leads onto it from the left."""
    ramp = {
        "center": [12 if length == 7 else 15.5 - 0.5 * length, 4.5],
        "length": length,
        "width": width,
        "height": HIGH,
    }
    return scene_from_dict(
        {
            "gaitway": 1,
            "bounds": [0, 0, 26, 9],
            "specials": [
                {"platform": {"center": [20, 4.5], "size": [9, 7], "height": HIGH}, "name": "deck"},
                {"ramp": {**ramp, "yaw_deg": yaw_deg}, "name": "way up"},
            ],
            "characters": list(characters),
        }
    )


ADA = {"name": "ada", "start": [2, 2], "goal": [21, 6, 0, HIGH]}
BO = {"name": "bo", "start": [22, 3, 180, HIGH], "goal": [2, 7]}
CY = {"name": "cy", "start": [1, 6], "goal": [12, 4.5, 0, 0.7]}


class TestShape:
    def test_its_top_is_an_even_slope(self) -> None:
        ramp = Ramp((1.0, 2.0), 4.0, 2.0, 1.0, yaw=np.pi / 2.0, bottom=0.5)
        points = np.array([[1.0, 0.0], [1.0, 2.0], [0.5, 3.0], [1.0, 4.0]])
        assert top(ramp, points) == pytest.approx([0.5, 1.0, 1.25, 1.5])
        assert ramp.surface_height(points) == pytest.approx([0.5, 1.0, 1.25, 1.5])
        assert ramp.surface_height(np.array([[9.0, 9.0], [1.0, -9.0]])) == pytest.approx([1.5, 0.5])

    def test_it_is_closed_and_faces_outward(self) -> None:
        (mesh,) = Ramp((3.0, 1.0), 4.0, 2.0, 1.5, yaw=0.3, bottom=0.2).solids()
        assert isinstance(mesh, TriangleMesh)
        a, b, c = np.moveaxis(mesh.vertices[mesh.triangles], 1, 0)
        assert np.sum(a * np.cross(b, c)) / 6.0 == pytest.approx(4.0 * 2.0 * 1.5 / 2.0)
        edges = mesh.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2).tolist()
        assert sorted(edges) == sorted([end, begin] for begin, end in edges)

    @pytest.mark.parametrize(("low", "length"), [(-np.inf, 4.0), (0.0, 4.0), (0.5, 3.0), (1.5, 1.0)])
    def test_the_part_above_a_height(self, low: float, length: float) -> None:
        x0, _, x1, _ = Ramp((0.0, 0.0), 4.0, 2.0, 2.0).footprint(low).bounds
        assert (x1, x1 - x0) == pytest.approx((2.0, length))

    def test_nothing_is_left_beyond_its_heights(self) -> None:
        ramp = Ramp((0.0, 0.0), 4.0, 2.0, 2.0)
        assert ramp.footprint(2.0).empty
        assert ramp.footprint(-1.0, 0.0).empty

    def test_moves_carry_it(self) -> None:
        ramp = Ramp((1.0, 0.0), 4.0, 2.0, 2.0).placed((5.0, 1.0, np.pi / 2.0)).raised(1.0)
        assert ramp.center == pytest.approx((5.0, 2.0))
        assert ramp.heights == (1.0, 3.0)

    def test_a_length_of_nothing(self) -> None:
        with pytest.raises(WorldError, match="ramp has length 0"):
            Ramp((0.0, 0.0), 0.0, 2.0, 2.0)


class TestFloors:
    def test_a_ramp_is_a_floor_with_a_strip_of_both_others(self) -> None:
        floors = Floors.of(slope().world)
        ramp = floors.named("way up")
        assert ramp.region.area > ramp.core.area + 2.0
        assert ramp.core.area == pytest.approx(7.0 * 2.4)
        assert [(joint.floor, joint.upper) for joint in floors.joints] == [(0, False), (1, True)]
        assert floors.height(ramp, 12.0, 4.5) == pytest.approx(0.7, abs=0.002)
        assert floors.at(12.0, 4.5, 0.7) is ramp

    def test_the_plane_has_its_slope(self) -> None:
        floors = Floors.of(slope().world)
        (dx, dy), terrain = floors.named("way up").offset, floors.plane.terrain
        assert terrain is not None
        assert terrain.height((12.0 + dx, 4.5 + dy)) == pytest.approx(0.7, abs=0.01)
        assert terrain.height((12.0, 4.5)) == 0.0

    def test_who_is_on_a_strip_is_on_both_floors(self) -> None:
        floors = Floors.of(slope().world)
        traffic = Traffic(mirrors=floors.mirrors)
        owner, (dx, dy) = traffic.enroll("ada"), floors.named("way up").offset
        traffic.add_swept(owner, Swept.standing(np.array([[7.5, 4.5, 0.3]]), 0, 50, -1))
        assert traffic.hit(1.0, 7.5, 4.5, 0.1) == "ada"
        assert traffic.hit(1.0, 7.5 + dx, 4.5 + dy, 0.1) == "ada"
        traffic.remove(owner)
        assert traffic.hit(1.0, 7.5 + dx, 4.5 + dy, 0.1) is None

    def test_what_stands_on_a_ramp_is_in_the_way_there_alone(self) -> None:
        scene = slope()
        floors = Floors.of(scene.world)
        assert floors._on(floors.named("way up"), Obstacle(Box((12.0, 4.5), (0.5, 0.5), 1.0, bottom=0.7))) is not None
        assert floors._on(floors.named("way up"), Obstacle(Box((12.0, 4.5), (0.5, 0.5), 1.0, bottom=3.5))) is None
        assert floors._on(floors.named("deck"), Obstacle(Box((12.0, 4.5), (0.5, 0.5), 1.0, bottom=0.7))) is None


@pytest.mark.parametrize(
    ("change", "trouble"),
    [
        ({"length": 3.0}, r"ramp 'way up': 25 degrees steep; 'person' walks up to 18 degrees, so make it 4.4 m long"),
        ({"width": 0.5}, r"ramp 'way up': 0.5 m wide; a body needs 0.6 m"),
        ({"yaw_deg": 180.0}, r"ramp 'way up': no floor at height 1.40 m at \(8.5, 4.5\), where it leads to"),
    ],
)
def test_ramps_that_nobody_walks_up(change: dict[str, float], trouble: str) -> None:
    known = level_library(load_cast("person"), Floors.of(slope(**change).world))
    assert [one for one in known.troubles if re.search(trouble, one)], known.troubles


def test_a_goal_up_a_steep_ramp_says_so() -> None:
    planned = plan_scene(slope(ADA, length=3.0), upper_body=False)
    assert "25 degrees steep" in planned.failed["ada"].reason


def test_ramps_are_written_as_they_were_read() -> None:
    scene = slope(ADA)
    assert "ramp: {center: [12, 4.5], length: 7, width: 2.4, height: 1.4" in scene_to_yaml(scene.source)


def test_ground_by_time() -> None:
    world = World((0.0, 0.0, 9.0, 9.0))
    tilted = Terrain.of(lambda points: points[..., 0], (0.0, 0.0, 9.0, 9.0), 1.0)
    spans = [GroundSpan(-np.inf, None, 0.0, 0.0), GroundSpan(1.0, tilted, 0.0, 2.0), GroundSpan(2.0, None, 3.0, 2.0)]
    under = Underfoot(world, spans, np.array([0.0, 0.5, 1.0, 1.5, 2.0]))
    points = np.tile([4.0, 1.0], (5, 1))
    assert under.ground(points).tolist() == [0.0, 0.0, 4.0, 4.0, 3.0]
    assert np.asarray(under.level).tolist() == [0.0, 0.0, 2.0, 2.0, 2.0]
    assert float(under.during(2, 4).ground(np.array([5.0, 1.0]))) == 5.0
    assert not under.even
    assert Underfoot(world).even


@pytest.fixture(scope="module")
def walked() -> Planned:
    return plan_scene(slope(ADA, BO, CY), upper_body=False)


@pytest.mark.slow
def test_people_pass_each_other_on_a_ramp(walked: Planned) -> None:
    assert not walked.failed
    report = audit_take(walked.take, walked.scene.world)
    assert report.ok, [row for row in report.rows if not row.ok]


@pytest.mark.slow
def test_bodies_follow_the_slope(walked: Planned) -> None:
    take = walked.take
    ends = {name: take.clip(k).root_positions[-1, 2] for k, name in enumerate(take.names)}
    starts = {name: take.clip(k).root_positions[0, 2] for k, name in enumerate(take.names)}
    assert ends["ada"] - starts["ada"] == pytest.approx(HIGH, abs=0.05)
    assert starts["bo"] - ends["bo"] == pytest.approx(HIGH, abs=0.05)
    assert ends["cy"] - starts["cy"] == pytest.approx(0.7, abs=0.2)


@pytest.mark.slow
def test_trees_and_turned_ramps() -> None:
    scene = scene_from_dict(
        {
            "gaitway": 1,
            "bounds": [0, 0, 20, 20],
            "specials": [
                {"platform": {"center": [14, 14], "size": [6, 6], "yaw_deg": 45, "height": 1.0}, "name": "deck"},
                {"ramp": {"center": [10.11, 10.11], "length": 5, "width": 3, "height": 1, "yaw_deg": 45}, "name": "up"},
            ],
            "characters": [{"name": "ada", "start": [3, 3], "goal": [14, 14, 0, 1.0], "plan": {"planner": "tree"}}],
        }
    )
    planned = plan_scene(scene, upper_body=False)
    assert not planned.failed
    report = audit_take(planned.take, planned.scene.world)
    assert report.ok, [row for row in report.rows if not row.ok]


def blocks(*characters: dict[str, Any], high: float = 0.9) -> Scene:
    """Return a scene with a block to climb, a box to jump onto, and a ramp that leads nowhere."""
    return scene_from_dict(
        {
            "gaitway": 1,
            "bounds": [0, 0, 16, 12],
            "specials": [
                {"platform": {"center": [14, 10], "size": [2, 2], "height": 0.3}, "name": "deck"},
                {"climb": {"center": [7, 4], "size": [3, 3], "height": high}, "name": "block"},
                {"box": {"center": [7, 9], "size": [2.4, 2], "height": 0.45}, "name": "box"},
            ],
            "characters": list(characters),
        }
    )


class TestBlocks:
    def test_every_side_leads_up_and_down(self) -> None:
        known = level_library(load_cast("person"), Floors.of(blocks().world))
        names = [link.name for link in known.links]
        assert {name: names.count(name) for name in names} == {
            "block up": 12,
            "block down": 12,
            "box up": 10,
            "box down": 10,
        }
        assert known.troubles == ()
        for link in known.links:
            assert link.fitted is not None
            assert link.source.height != link.target.height

    def test_a_block_too_high_says_so(self) -> None:
        known = level_library(load_cast("person"), Floors.of(blocks(high=1.2).world))
        assert "climb 'block' needs a step of 1.2 m; 'person' climbs 0.84 to 0.97 m" in known.troubles
        assert not [link for link in known.links if link.name == "block up"]

    @pytest.mark.slow
    def test_people_get_onto_blocks_and_down(self) -> None:
        planned = plan_scene(
            blocks(
                {"name": "ada", "start": [2, 4], "goal": [7, 4], "goal_floor": "block"},
                {"name": "bo", "start": [7, 4.8, 90, 0.9], "goal": [13, 3]},
                {"name": "cy", "start": [3, 9], "goal": [7, 9], "goal_floor": "box"},
            ),
            upper_body=False,
        )
        assert not planned.failed
        report = audit_take(planned.take, planned.scene.world)
        assert report.ok, [row for row in report.rows if not row.ok]
        done = {step.behavior for plan in planned.crowd.plans.values() for step in plan.steps}
        assert {"climb_up_900", "climb_down_900", "box_up_450"} <= done


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_the_playground(seed: int) -> None:
    planned = plan_scene("playground", seed=seed)
    assert not planned.failed
    report = audit_take(planned.take, planned.scene.world)
    assert report.ok, [row for row in report.rows if not row.ok]
