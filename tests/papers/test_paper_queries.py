"""Random queries: as many as asked for, free at both ends, in the region, and the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.core import planar
from gaitway.papers.queries import START, Clutter, occupied, random_queries, world_bounds
from gaitway.tree.region import Region
from gaitway.world.exact import footprint_distance

REGION = Region.half_disc(8.0)
CLUTTER = Clutter((2, 9), (0.5, 3.0))
QUERIES = random_queries(REGION, CLUTTER, 0.3, 1.0, 40, 5)


def test_queries() -> None:
    assert len(QUERIES) == 40
    assert {len(query.world.obstacles) for query in QUERIES} <= set(range(2, 10))
    for query in QUERIES:
        assert REGION.holds(query.goal)
        assert max(map(abs, query.goal)) > 1.0
        footprints = [obstacle.shape.footprint() for obstacle in query.world.obstacles]
        ends = np.array([START[:2], query.world_goal])
        assert footprint_distance(footprints, ends).min() > 0.3
        x0, y0, x1, y1 = world_bounds(REGION)
        assert (ends > (x0, y0)).all()
        assert (ends < (x1, y1)).all()


def test_rectangles_overlap_the_region() -> None:
    middles = planar.transform_points(START, REGION.spec.all_centers()[REGION.inside])
    for query in QUERIES:
        for obstacle in query.world.obstacles:
            assert footprint_distance([obstacle.shape.footprint()], middles).min() < REGION.spec.cell


def test_seeds() -> None:
    again, other = (random_queries(REGION, CLUTTER, 0.3, 1.0, 3, seed) for seed in (5, 6))
    assert [q.goal for q in again] == [q.goal for q in QUERIES[:3]]
    assert [q.goal for q in other] != [q.goal for q in QUERIES[:3]]


def test_occupied_share() -> None:
    query = QUERIES[0]
    middles = planar.transform_points(START, REGION.spec.all_centers()[REGION.inside])
    footprints = [obstacle.shape.footprint() for obstacle in query.world.obstacles]
    assert occupied(query, REGION) == pytest.approx((footprint_distance(footprints, middles) <= 0.0).mean(), abs=1e-9)


def test_scaled() -> None:
    assert CLUTTER.scaled(2.0) == Clutter((2, 9), (1.0, 6.0))
