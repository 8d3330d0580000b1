"""Occupancy grids: conservative, tight, and the same after edits as when built anew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.core.errors import WorldError
from gaitway.world import (
    PASSABLE,
    WALL,
    Box,
    Cylinder,
    GridSpec,
    Mover,
    Obstacle,
    Occupancy,
    Polygon,
    Sphere,
    Stairs,
    Terrain,
    World,
)
from gaitway.world.exact import distance
from gaitway.world.occupancy import layer_kinds

KINDS = (WALL, "crawl", "duck", "jump")
coordinate = st.integers(-4, 44).map(lambda n: n / 4.0) | st.floats(-1.0, 11.0)
length = st.floats(0.1, 3.0)
angle = st.floats(-3.0, 3.0)


@st.composite
def obstacles(draw):
    x, y = draw(coordinate), draw(coordinate)
    form = draw(st.sampled_from(["box", "cylinder", "sphere", "polygon", "stairs"]))
    shape = {
        "box": lambda: Box((x, y), (draw(length), draw(length)), draw(length), draw(angle), draw(st.floats(-1.0, 2.5))),
        "cylinder": lambda: Cylinder((x, y), draw(length), draw(length)),
        "sphere": lambda: Sphere((x, y), draw(length), draw(st.floats(-1.0, 2.5))),
        "polygon": lambda: Polygon(((x, y), (x + draw(length), y + 0.05), (x + 0.05, y + draw(length))), 2.0),
        "stairs": lambda: Stairs((x, y), draw(length), draw(st.integers(1, 9)), yaw=draw(angle)),
    }[form]()
    return Obstacle(shape, draw(st.sampled_from((*KINDS, PASSABLE))))


def same(a: Occupancy, b: Occupancy) -> None:
    """Byte for byte."""
    assert a.kinds == b.kinds
    assert a.mask.tobytes() == b.mask.tobytes()
    for kind in a.kinds:
        assert a.counts(kind).tobytes() == b.counts(kind).tobytes()


def everywhere(spec: GridSpec, each: int = 3) -> np.ndarray:
    """Points of all cells, corners included; (rows, columns, each * each, 2)."""
    steps = np.linspace(-0.5, 0.5, each) * spec.cell
    offsets = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    return spec.all_centers()[:, :, None] + offsets


@settings(max_examples=15)
@given(st.lists(obstacles(), max_size=4), st.sampled_from([0.0, 0.3, 0.45]), st.sampled_from([0.4, 0.5]))
def test_free_is_free_and_nothing_is_grown_by_more_than_a_cell(many: list[Obstacle], radius: float, cell: float):
    world = World((0.0, 0.0, 10.0, 10.0), tuple(many))
    grid = Occupancy.of(world, cell, radius)
    points = everywhere(grid.spec)
    for number, kind in enumerate(grid.kinds):
        away = distance(world, points, [kind], 0.05, 2.0).min(axis=-1)
        covered = (grid.mask >> number & 1) == 1
        if number == 0:
            x0, y0, x1, y1 = np.moveaxis(np.concatenate([points - 0.0, 10.0 - points], axis=-1).min(axis=2), -1, 0)
            away = np.minimum(away, np.min([x0, y0, x1, y1], axis=0) + 1e-6)  # bounds may be touched, not crossed
        assert covered[away < radius - 1e-6].all()
        assert (away[covered] <= radius + 0.36 * cell).all()  # no sample is further than that from the nearest point


@settings(max_examples=40)
@given(st.lists(obstacles(), max_size=4), st.data())
def test_edits_leave_what_building_anew_gives(many: list[Obstacle], data: st.DataObject):
    bounds, terrain = (0.0, 0.0, 10.0, 9.3), Terrain(np.array([[0.0, 0.4], [0.1, 0.2]]), 10.0)
    grid = Occupancy.of(World(bounds, tuple(many), terrain=terrain), 0.3, 0.25, kinds=KINDS)
    now = dict(enumerate(many))
    for _ in range(data.draw(st.integers(1, 6))):
        action = data.draw(st.sampled_from(["add", "remove", "replace"])) if now else "add"
        before = grid.mask.copy()
        if action == "add":
            obstacle = data.draw(obstacles())
            key = grid.add(obstacle)
            window = grid.window(key)
            now[key] = obstacle
        else:
            key = data.draw(st.sampled_from(sorted(now)))
            if action == "remove":
                window = grid.remove(key)
                del now[key]
            else:
                now[key] = data.draw(obstacles())
                window = grid.replace(key, now[key])
        outside = np.ones(grid.spec.shape, dtype=bool)
        outside[window.row : window.row_end, window.column : window.column_end] = False
        assert (before == grid.mask)[outside].all(), "a cell outside the window changed"
    same(grid, Occupancy.of(World(bounds, tuple(now.values()), terrain=terrain), 0.3, 0.25, kinds=KINDS))
    assert grid.keys == tuple(now)
    assert all(grid.obstacle(key) is now[key] for key in now)


def test_copies_go_their_own_way():
    world = World((0.0, 0.0, 10.0, 10.0), (Obstacle(Cylinder((5.0, 5.0), 1.0, 2.0)),))
    grid = Occupancy.of(world, 0.25, 0.3)
    copy = grid.copy()
    copy.replace(0, Obstacle(Cylinder((2.0, 2.0), 1.0, 2.0), "jump"))
    same(grid, Occupancy.of(world, 0.25, 0.3))
    assert copy.kinds == (WALL, "jump")
    assert grid.blocked((5.0, 5.0)) and not copy.blocked((5.0, 5.0))
    assert copy.blocked((2.0, 2.0)) and not copy.blocked((2.0, 2.0), passing=("jump",))


def test_what_the_mask_is_read_with():
    world = World(
        (0.0, 0.0, 10.0, 10.0),
        (
            Obstacle(Box((3.0, 3.0), (1.0, 1.0), 0.5), "jump"),
            Obstacle(Box((3.0, 3.5), (1.0, 1.0), 2.0)),
            Obstacle(Box((7.0, 7.0), (2.0, 2.0), 0.01)),
            Obstacle(Box((7.0, 3.0), (1.0, 1.0), 1.0), PASSABLE),
        ),
    )
    grid = Occupancy.of(world, 0.5, 0.0)
    assert grid.kinds == (WALL, "jump")
    assert grid.bits(WALL) == 1 and grid.bits("jump") == 2 and grid.bits("jump", WALL, "fly") == 3
    points = [(3.0, 2.2), (3.0, 3.2), (3.0, 4.2), (7.0, 7.0), (7.0, 3.0), (11.0, 3.0), (-0.1, 3.0)]
    assert grid.blocked(points).tolist() == [True, True, True, False, False, True, True]
    assert grid.blocked(points, ["jump"]).tolist() == [False, True, True, False, False, True, True]
    assert not grid.mask.flags.writeable and not grid.counts(WALL).flags.writeable
    assert grid.counts(WALL)[6, 6] == 1


def test_movers_count_only_at_a_time():
    mover = Mover.of(Cylinder((0.0, 0.0), 0.5, 2.0), [0.0, 4.0], [(2.0, 2.0, 0.0), (8.0, 2.0, 0.0)], "duck")
    world = World((0.0, 0.0, 10.0, 10.0), movers=(mover,))
    assert layer_kinds(world) == (WALL, "duck")
    assert not Occupancy.of(world, 0.25, 0.3).blocked((5.0, 2.0))
    snapshot = Occupancy.of(world.at(2.0), 0.25, 0.3)
    assert snapshot.blocked((5.0, 2.0)) and not snapshot.blocked((2.0, 2.0))


def test_the_body_band_counts_from_the_ground():
    beam = Obstacle(Box((5.0, 5.0), (1.0, 1.0), 0.3, bottom=2.1))
    level = World((0.0, 0.0, 10.0, 10.0), (beam,))
    assert not Occupancy.of(level, 0.25, 0.3).blocked((5.0, 5.0))
    assert Occupancy.of(level, 0.25, 0.3, band=(0.05, 2.2)).blocked((5.0, 5.0))
    hill = World((0.0, 0.0, 10.0, 10.0), (beam,), terrain=Terrain(np.full((3, 3), 0.5), 5.0))
    assert Occupancy.of(hill, 0.25, 0.3).blocked((5.0, 5.0))
    mat = Obstacle(Box((5.0, 5.0), (1.0, 1.0), 0.52))
    assert not Occupancy.of(World((0, 0, 10, 10), (mat,), terrain=hill.terrain), 0.25, 0.3).blocked((5.0, 5.0))


def test_steep_ground_is_a_wall():
    heights = np.zeros((3, 11))
    heights[:, 5:] = 1.0  # one cell of 1 m rises by 1 m
    world = World((0.0, 0.0, 10.0, 2.0), terrain=Terrain(heights, 1.0))
    grid = Occupancy.of(world, 0.5, 0.0, max_slope=np.radians(40.0))
    assert (grid.mask[1] == 1).tolist() == [False] * 8 + [True] * 2 + [False] * 10
    assert not Occupancy.of(world, 0.5, 0.0, max_slope=np.radians(50.0)).mask.any()


def test_bounds_that_leave_no_room():
    grid = Occupancy.of(World((0.0, 0.0, 1.0, 0.5)), 0.1, 0.3)
    assert grid.mask.all()
    assert (grid.counts(WALL) == 1).all()
    assert not Occupancy(GridSpec((0.0, 0.0), 0.1, (4, 4)), 0.3).mask.any()  # without bounds the grid is open


def test_wrong_input():
    world = World((0.0, 0.0, 1.0, 1.0), tuple(Obstacle(Sphere((0.5, 0.5), 0.1), f"kind{n}") for n in range(16)))
    with pytest.raises(WorldError, match=r"17 kinds of obstacle \(wall, kind0.*can tell 16 apart"):
        Occupancy.of(world)
    with pytest.raises(WorldError, match="must begin with 'wall'"):
        Occupancy.of(world, kinds=("jump",))
    with pytest.raises(WorldError, match="body radius -1"):
        Occupancy.of(World((0.0, 0.0, 1.0, 1.0)), radius=-1.0)
    with pytest.raises(WorldError, match=r"body band .* lower one first"):
        Occupancy.of(World((0.0, 0.0, 1.0, 1.0)), band=(2.0, 1.0))
    grid = Occupancy.of(World((0.0, 0.0, 1.0, 1.0)))
    with pytest.raises(WorldError, match="no obstacle with key 0"):
        grid.remove(0)
    with pytest.raises(WorldError, match="no obstacle kind 'jump' in this grid; there are wall"):
        grid.counts("jump")
