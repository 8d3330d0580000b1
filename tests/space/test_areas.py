"""Areas of the ground: costs, one-way rules, limits and sides in searches, routes and the audit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gaitway.audit import audit_take
from gaitway.core.errors import WorldError
from gaitway.planning import plan_scene
from gaitway.scene import scene_from_dict
from gaitway.scene.area_models import AREA_COSTS, KEEP_SIDES, SPEED_LIMITS
from gaitway.space._area_kernels import DEAR, WAY_X, area_terms
from gaitway.space.areas import AGAINST, area_grid, path_price
from gaitway.space.fields import WorldFields
from gaitway.space.routes import RouteMap
from gaitway.world.areas import COSTS, LIMITS, SIDES, Area, way_priority
from gaitway.world.world import World

BOUNDS = (0.0, 0.0, 20.0, 12.0)


def area(x0: float, y0: float, x1: float, y1: float, **rules) -> Area:
    return Area(outline=np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]]), **rules)


def scene(areas, characters=None, **more):
    people = characters or [{"name": "ada", "start": [1, 6], "goal": [19, 6]}]
    plan = {"start_spread": 0, "speed_spread": 0}
    return scene_from_dict(
        {"gaitway": 1, "bounds": list(BOUNDS), "areas": areas, "characters": people, "plan": plan, **more}
    )


def test_bounds_of_the_scene_file_are_those_of_areas():
    assert (AREA_COSTS, SPEED_LIMITS, set(KEEP_SIDES)) == (COSTS, LIMITS, set(SIDES))


def test_a_scene_without_areas_keeps_its_hash():
    data = {"gaitway": 1, "bounds": [0, 0, 20, 12], "characters": [{"start": [1, 6], "goal": [19, 6]}]}
    plain, empty = scene_from_dict(data), scene_from_dict({**data, "areas": []})
    dear = scene_from_dict({**data, "areas": [{"area": [1, 1, 2, 2], "cost": 2}]})
    assert plain.hash == empty.hash != dear.hash
    assert plain.world_hash == empty.world_hash != dear.world_hash


@pytest.mark.parametrize(
    "rules", [{"cost": 0.0}, {"cost": 99.0}, {"speed_limit": 0.1}, {"keep": 2}, {"one_way": math.nan}]
)
def test_rules_that_cannot_be(rules):
    with pytest.raises(WorldError):
        area(1, 1, 3, 3, **rules)


def test_a_world_without_rules_has_no_cells():
    assert not area_grid([], BOUNDS)
    assert not area_grid([area(1, 1, 3, 3, priority=2)], BOUNDS)


def test_the_least_factor_counts_as_one():
    grid = area_grid([area(1, 1, 3, 3, cost=0.5), area(5, 5, 8, 8, cost=4.0)], BOUNDS)
    dear = grid.arrays.cells[..., DEAR]
    assert grid.least == 0.5
    assert sorted(set(dear.ravel().tolist())) == [1.0, 2.0, 8.0]


def test_right_against_a_one_way_area_is_dear_and_along_it_is_not():
    grid = area_grid([area(2, 2, 10, 10, one_way=0.0)], BOUNDS)
    along, back, across = (np.array([[4, 4], [8, 4]]), np.array([[8, 4], [4, 4]]), np.array([[4, 4], [4, 8]]))
    assert path_price(grid, along) == pytest.approx(4.0)
    assert path_price(grid, across) == pytest.approx(4.0)
    assert path_price(grid, back) == pytest.approx(4.0 * (1.0 + AGAINST))


def test_the_kernel_agrees_with_the_price_of_a_path():
    rng = np.random.default_rng(3)
    areas = [
        area(2, 2, 10, 10, one_way=0.7),
        area(5, 1, 15, 8, cost=3.0),
        area(9, 3, 18, 11, keep=1),
        area(1, 1, 6, 6, cost=0.4),
    ]
    grid = area_grid(areas, BOUNDS)
    for a, b in rng.uniform((1, 1), (19, 11), (200, 2, 2)):
        points = a + np.linspace(0.0, 1.0, 5)[:, None] * (
            b - a
        )  # the middles of its pieces are what the kernel looks up
        factor, stretch = area_terms(grid.arrays, *a, *b, 1.0, 1.35)
        assert factor == pytest.approx(path_price(grid, points) / np.hypot(*(b - a)), rel=1e-4)
        assert stretch == 1.0


def test_a_limit_slows_down_and_what_is_still_too_fast_is_dear():
    grid = area_grid([area(2, 2, 10, 10, speed_limit=1.0)], BOUNDS)
    slow, near, fast = (area_terms(grid.arrays, 4.0, 4.0, 4.0 + v, 4.0, 1.0, 1.35) for v in (0.9, 1.2, 2.8))
    assert slow == (1.0, 1.0)
    assert near[0] == 1.0 and 1.2 < near[1] < 1.35
    assert fast[0] > 10.0 and fast[1] == 1.35
    assert area_terms(grid.arrays, 12.0, 4.0, 14.8, 4.0, 1.0, 1.35) == (1.0, 1.0)


def test_people_have_the_edge_on_the_side_that_they_keep_to():
    for keep in (1, -1):
        cells = area_grid([area(2, 2, 18, 6, keep=keep)], BOUNDS).arrays.cells
        low, high = cells[25, 100, WAY_X], cells[55, 100, WAY_X]
        assert low * keep > 0.5 and high * keep < -0.5


def test_routes_lead_around_dear_ground_and_hopeful_ones_do_not_know_it():
    world = World(BOUNDS, areas=(area(8, 2, 12, 10, cost=10.0),))
    plain = RouteMap.of(WorldFields.of(World(BOUNDS))).field((19.0, 6.0), 0.3)
    fields = WorldFields.of(world)
    dear, hopeful = RouteMap.of(fields), RouteMap.of(fields, hopeful=True)
    row, column = dear.spec.cells((1.0, 6.0))
    # the way around is longer than the straight one, and much cheaper than 4 m at ten times the cost
    around = 2.0 * math.hypot(7.0, 4.0) + 4.0
    assert dear.field((19.0, 6.0), 0.3).lengths[row, column] == pytest.approx(around, abs=1.5)
    assert hopeful.field((19.0, 6.0), 0.3).lengths[row, column] <= 18.0 + 1e-3
    assert (dear.field((19.0, 6.0), 0.3).lengths >= plain.lengths - 0.4).all()


def test_routes_know_which_way_a_lane_leads():
    world = World(BOUNDS, areas=(area(5, 0, 15, 12, one_way=0.0),))
    routes = RouteMap.of(WorldFields.of(world))
    row, left = routes.spec.cells((1.0, 6.0))
    _, right = routes.spec.cells((19.0, 6.0))
    assert routes.field((19.0, 6.0), 0.3).lengths[row, left] < 19.0
    assert routes.field((1.0, 6.0), 0.3).lengths[row, right] > 100.0


def path_of(planned, name="ada"):
    take = planned.take
    return take.planar(np.arange(0.0, take.duration, 0.1))[list(take.names).index(name)][:, :2]


def test_people_go_around_what_they_avoid_and_the_audit_is_clean():
    planned = plan_scene(scene([{"area": [8, 3, 12, 9], "cost": 5, "name": "lawn"}]))
    lawn = planned.scene.world.areas[0]
    assert not planned.failed
    assert lawn.contains(path_of(planned)).mean() < 0.05
    assert path_price(area_grid([lawn], BOUNDS), path_of(planned)) < 22.0
    assert audit_take(planned.take, planned.scene.world).ok


def test_people_walk_where_they_like_to():
    liked = [{"area": [0, 8, 20, 11], "cost": 0.3}]
    planned = plan_scene(scene(liked))
    assert path_of(planned)[:, 1].max() > 7.9
    assert not planned.failed


def test_a_limit_is_kept_and_the_audit_sees_who_does_not():
    limited = scene([{"area": [4, 2, 16, 10], "speed_limit": 1.0, "name": "yard"}])
    planned = plan_scene(limited)
    row = next(r for r in audit_take(planned.take, limited.world).rows if r.name == "speed_limit")
    assert row.ok and row.checked == 1
    free = plan_scene(scene([{"area": [4, 2, 16, 10], "priority": 1}]))  # as people walk without the limit
    row = next(r for r in audit_take(free.take, limited.world).rows if r.name == "speed_limit")
    assert not row.ok and row.worst.value == pytest.approx(1.35, abs=0.15)


def test_a_one_way_area_is_not_walked_against_and_the_audit_sees_who_does():
    gates = [{"box": {"center": [10, y], "size": [0.4, d], "height": 2}} for y, d in ((6, 3), (0.5, 3), (11.5, 3))]
    rules = [{"area": [8, 2, 12, 4.5], "one_way": 0}, {"area": [8, 7.5, 12, 10], "one_way": 180, "name": "out"}]
    people = [{"name": "ada", "start": [1, 9], "goal": [19, 9]}]
    ruled = scene(rules, people, obstacles=gates)
    planned = plan_scene(ruled)
    rows = {row.name: row for row in audit_take(planned.take, ruled.world).rows}
    assert rows["one_way"].ok and not planned.failed
    free = plan_scene(scene([], people, obstacles=gates))
    rows = {row.name: row for row in audit_take(free.take, ruled.world).rows}
    assert not rows["one_way"].ok
    assert rows["one_way"].worst.value == pytest.approx(4.0, abs=0.6)
    assert rows["one_way"].worst.obstacle == "out"
    assert "one_way" not in {row.name for row in audit_take(free.take, free.scene.world).rows}


def test_people_keep_right():
    people = [{"name": "ada", "start": [1, 2], "goal": [19, 2]}, {"name": "bob", "start": [19, 2], "goal": [1, 2]}]
    planned = plan_scene(scene([{"area": [3, 0, 17, 4], "keep": "right"}], people))
    assert not planned.failed
    for name, side in (("ada", -1.0), ("bob", 1.0)):
        path = path_of(planned, name)
        inside = path[(path[:, 0] > 6.0) & (path[:, 0] < 14.0)]
        assert np.mean(side * (inside[:, 1] - 2.0) > -0.1) > 0.8


def test_who_walks_along_a_priority_area_comes_first():
    lane = area(8, 0, 12, 12, priority=3)
    assert way_priority([lane], (10, 1), (10, 11)) == 3
    assert way_priority([lane], (1, 6), (19, 6)) == 0
    assert way_priority([area(8, 0, 12, 12)], (10, 1), (10, 11)) == 0
    people = [{"name": "ada", "start": [1, 6], "goal": [19, 6]}, {"name": "bob", "start": [10, 2], "goal": [10, 10]}]
    rules = [{"area": [8, 0, 12, 12], "priority": 3}]
    assert plan_scene(scene(rules, people)).crowd.order == ("bob", "ada")
    assert plan_scene(scene([], people)).crowd.order == ("ada", "bob")
