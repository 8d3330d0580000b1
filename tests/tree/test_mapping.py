"""Obstacles in a tree's frame: what is wholly covered is marked, nothing else is, and a reset leaves nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gaitway.core import planar
from gaitway.core.errors import TreeError
from gaitway.tree.moves import choose_moves
from gaitway.tree.thesis import _mapping_kernels as kernels
from gaitway.tree.thesis.mapping import FIRST_KIND, FREE, OCCUPIED, MappedGrid, MappedThings
from gaitway.world.exact import footprint_distance
from gaitway.world.footprint import Footprint
from gaitway.world.grid import GridSpec
from gaitway.world.obstacle import PASSABLE, Obstacle
from gaitway.world.shapes import Box, Cylinder, Polygon
from gaitway.world.world import World
from search_twin import JUMPER, WALKER, small_table

WALKS = choose_moves(small_table(WALKER), "walk")
JUMPS = choose_moves(small_table(JUMPER), "walk", ["straight", "left", "right", "jump"])
SPEC = GridSpec((-2.0, -6.0), 0.25, (48, 40))
POSE = (3.0, -2.0, 0.7)
HOLED = Polygon(((0, 0), (4, 0), (4, 4), (0, 4)), 1.0, holes=(((1, 1), (3, 1), (3, 3), (1, 3)),))


def world(*obstacles: Obstacle, half: float = 60.0) -> World:
    return World((-half, -half, half, half), obstacles)


def random_world(seed: int) -> World:
    rng = np.random.default_rng(seed)
    boxes = [Obstacle(Box(tuple(rng.uniform(-8, 8, 2)), tuple(rng.uniform(0.05, 3, 2)), 2.0, float(rng.uniform(0, 7))))
             for _ in range(6)]  # fmt: skip
    rounds = [Obstacle(Cylinder(tuple(rng.uniform(-8, 8, 2)), float(rng.uniform(0.1, 1.5)), 2.0)) for _ in range(2)]
    return world(*boxes, *rounds, Obstacle(HOLED))


def offsets(count: int) -> np.ndarray:
    """Points all over a cell, its border included; (count * count, 2)."""
    line = np.linspace(0.0, 1.0, count)
    return np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("radius", [0.0, 0.3])
def test_cells_are_marked_where_something_is(seed: int, radius: float) -> None:
    """Figure 4.5: no cell that is wholly covered is missed, and none is marked that nothing reaches."""
    place = random_world(seed)
    grid = MappedGrid(SPEC)
    count = grid.map(MappedThings.of(place, WALKS), POSE, radius)
    footprints = [obstacle.shape.footprint() for obstacle in place.obstacles]
    corners = np.array(SPEC.origin) + SPEC.cell * np.stack(np.meshgrid(np.arange(40), np.arange(48)), -1).reshape(-1, 2)
    points = corners[:, None] + SPEC.cell * offsets(7)
    away = footprint_distance(footprints, planar.transform_points(POSE, points.reshape(-1, 2))).reshape(
        len(corners), -1
    )
    marked = grid.cells == OCCUPIED
    assert marked[(away <= radius - 1e-9).all(axis=1)].all()
    assert not marked[away.min(axis=1) > radius + SPEC.cell * math.sqrt(0.5) / 6].any()
    assert count == marked.sum() == len(set(grid.marked.tolist()))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("radius", [0.0, 0.3])
def test_marks_are_those_of_all_points(seed: int, radius: float) -> None:
    """Every point of every lattice by itself, by exact distances; points on an edge may count or not."""
    place, slack = random_world(seed), 1e-9
    grid = MappedGrid(SPEC)
    grid.map(MappedThings.of(place, WALKS), POSE, radius)
    sure, possible = set[int](), set[int]()
    for footprint in (obstacle.shape.footprint() for obstacle in place.obstacles):
        x0, y0, x1, y1 = footprint.grown(radius).bounds
        counts = [math.ceil((b - a) * math.sqrt(2.0) / SPEC.cell) + 1 for a, b in ((x0, x1), (y0, y1))]
        x, y = np.meshgrid(np.linspace(x0, x1, counts[0]), np.linspace(y0, y1, counts[1]))
        points = np.stack([x, y], axis=-1).reshape(-1, 2)
        away = footprint_distance([footprint], points)
        local = planar.transform_points(planar.inverse(POSE), points)
        corners = [SPEC.cells(local + slack * np.array(d)) for d in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
        one = np.logical_and.reduce([(corner == corners[0]).all(axis=1) for corner in corners])
        for corner in corners:
            inside = SPEC.contains(corner)
            numbers = corner[:, 0] * SPEC.shape[1] + corner[:, 1]
            sure.update(numbers[inside & one & (away <= radius - slack)].tolist())
            possible.update(numbers[inside & (away <= radius + slack)].tolist())
    assert len(sure) > 100
    assert sure <= set(np.flatnonzero(grid.cells).tolist()) <= possible


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_chords(seed: int) -> None:
    """Of an edge with a rim, by many points along the line."""
    rng = np.random.default_rng(seed)
    ends, radius = rng.normal(size=(2, 2)), float(rng.uniform(0.0, 0.8))
    footprint = Footprint.of_rings([ends])
    line = np.linspace(-5, 5, 20_001)
    for y in [*rng.uniform(-3, 3, 10).tolist(), float(ends[0, 1])]:
        points = np.column_stack([line, np.full(len(line), y)])
        inside = line[footprint_distance([footprint], points) <= radius]
        low, high = kernels.chord.py_func(*ends[0], *ends[1], radius, y)  # type: ignore[attr-defined]
        if len(inside):
            assert (low, high) == pytest.approx((inside[0], inside[-1]), abs=1e-3)
        else:
            assert high - low < 1e-3


def test_a_reset_leaves_nothing_and_touches_only_what_was_marked() -> None:
    grid, things = MappedGrid(SPEC), MappedThings.of(random_world(1), WALKS)
    grid.map(things, POSE, 0.3)
    free = np.flatnonzero(grid.cells == FREE)
    grid.cells[free[0]] = 7  # not by mapping
    grid.reset()
    assert np.flatnonzero(grid.cells).tolist() == [free[0]]
    assert len(grid.marked) == 0
    grid.cells[free[0]] = FREE
    again = MappedGrid(SPEC)
    assert grid.map(things, POSE, 0.3) == again.map(things, POSE, 0.3)
    assert (grid.cells == again.cells).all()


def test_kinds() -> None:
    """A fence is what jumpers pass, and a wall to all others; walls go before fences, and paint is nothing."""
    fence = Obstacle(Box((4.0, 0.0), (1.0, 6.0), 0.5), "jump")
    wall = Obstacle(Box((4.0, -1.0), (3.0, 1.0), 2.0))
    paint = Obstacle(Box((2.0, 2.0), (1.0, 1.0), 0.01), PASSABLE)
    spec = GridSpec((0.0, -4.0), 0.25, (32, 32))

    def at(grid: MappedGrid, x: float, y: float) -> int:
        row, column = spec.cells((x, y))
        return int(grid.cells[row * 32 + column])

    for order in ((fence, wall, paint), (paint, wall, fence)):
        grid = MappedGrid(spec)
        grid.map(MappedThings.of(world(*order), JUMPS), (0, 0, 0), 0.0)
        assert (at(grid, 4.1, 1.0), at(grid, 4.1, -1.0), at(grid, 2.0, 2.0)) == (FIRST_KIND, OCCUPIED, FREE)
        assert len(set(grid.marked.tolist())) == len(grid.marked) == np.count_nonzero(grid.cells)
        grid = MappedGrid(spec)
        grid.map(MappedThings.of(world(*order), WALKS), (0, 0, 0), 0.0)
        assert at(grid, 4.1, 1.0) == OCCUPIED


def test_the_border_is_a_wall() -> None:
    grid = MappedGrid(SPEC)
    grid.map(MappedThings.of(world(half=5.0), WALKS), (0, 0, 0), 0.3)
    centers = SPEC.all_centers().reshape(-1, 2)
    inside = (np.abs(centers) < 4.5).all(axis=1)
    outside = (np.abs(centers) > 5.0).any(axis=1) & (np.abs(centers) < 6.3).all(axis=1)
    assert (grid.cells[inside] == FREE).all()
    assert (grid.cells[outside] == OCCUPIED).all()


def test_what_is_far_away_marks_nothing() -> None:
    grid = MappedGrid(SPEC)
    far = Obstacle(Box((40.0, 0.0), (1.0, 1.0), 1.0))
    assert grid.map(MappedThings.of(world(far), WALKS), (0, 0, 0), 0.3) == 0
    assert grid.map(MappedThings.of(world(), WALKS), (0, 0, 0), 0.3) == 0


def test_refusals() -> None:
    grid, things = MappedGrid(SPEC), MappedThings.of(world(), WALKS)
    with pytest.raises(TreeError, match="radius"):
        grid.map(things, (0, 0, 0), -1.0)
    with pytest.raises(TreeError, match="pose"):
        grid.map(things, (0, 0), 0.3)
