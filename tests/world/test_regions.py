"""Near and within regions and reaches, on a made-up motion whose numbers are known."""

import numpy as np
import pytest

from gaitway.core.errors import WorldError
from gaitway.world import Box, Cylinder, Footprint, Obstacle, Stairs
from gaitway.world.regions import MARGIN, Near, Reach, depth_along, near, obstruction, passable, reaches_for, within

FENCE = Obstacle(Box((10.0, 5.0), (0.2, 4.0), 0.5), "jump")


def hop(**changes):
    """Over 4 m: 0.8 m above the floor from 1.5 to 2.5 m, on it elsewhere; 1.5 m high, 2 m while it hops."""
    stations = -1.0 + 0.1 * np.arange(60) + 0.05
    up = (stations > 1.5) & (stations < 2.5)
    fields = {
        "behavior": "hop",
        "kind": "jump",
        "cell": 0.1,
        "first": -1.0,
        "lowest": np.where(up, 0.8, 0.0),
        "highest": np.where(up, 2.0, 1.5),
        "passing": 2.0,
        "move": (4.0, 0.0, 0.0),
        "heading": 0.0,
        "half_width": 0.3,
        "duration": 2.0,
        "pass_time": 1.0,
    }
    return Reach(**(fields | changes))


def test_what_a_reach_clears():
    reach = hop()
    assert reach.greatest_over(1.0) == pytest.approx(0.8 - MARGIN)
    assert reach.greatest_over(1.2) == 0.0
    assert reach.least_under(0.5) == pytest.approx(1.5 + MARGIN)
    assert reach.least_under(5.0) == np.inf


def test_placements_are_all_between_the_edges():
    assert hop().placements(0.2, 0.0, 0.5) == pytest.approx((1.6, 2.4))
    assert hop().placements(1.0, 0.0, 0.5) == pytest.approx((2.0, 2.0))
    assert hop().placements(1.2, 0.0, 0.5) is None
    assert hop(passing=2.1).placements(0.2, 1.8, 3.0) == pytest.approx((2.6, 3.8))  # nearest stretch to where it passes
    assert hop().placements(0.2, 0.0, 0.9) is None


def test_within_is_the_obstacle_grown():
    region = within(FENCE, 0.3)
    assert region.bounds == pytest.approx((9.6, 2.7, 10.4, 7.3))


def test_near_straight_on():
    region = near(FENCE, [hop()], direction=0.0)
    assert (region.nearest, region.farthest) == pytest.approx((1.5, 2.3))
    points = [(7.9, 5.0), (8.39, 5.0), (8.45, 5.0), (7.55, 5.0), (12.0, 5.0), (10.0, 9.0)]
    assert region.contains(points).tolist() == [True, True, False, False, True, True]
    assert region.outer.bounds == pytest.approx((9.9 - 2.3, 3.0 - 2.3, 10.1 + 2.3, 7.0 + 2.3))


def test_near_askew_begins_nearer_never_farther():
    straight, askew = near(FENCE, [hop()], direction=0.0), near(FENCE, [hop()])
    assert askew.nearest < straight.nearest
    assert askew.farthest == pytest.approx(straight.farthest)
    narrow = near(FENCE, [hop(half_width=5.0)])  # who is wide must come straight
    assert narrow.nearest == pytest.approx(straight.nearest)


def test_several_motions_together():
    both = near(FENCE, [hop(), hop(kind="duck"), hop(first=0.0, passing=3.0, move=(5.0, 0.0, 0.0))], direction=0.0)
    assert (both.nearest, both.farthest) == pytest.approx((1.5, 3.3))
    assert near(FENCE, [hop(kind="duck")]) is None
    assert not passable(FENCE, [])


def test_ground_counts():
    high = Obstacle(FENCE.shape.raised(3.0), "jump")
    assert not passable(high, [hop(highest=np.full(60, 9.0))])
    assert passable(high, [hop(highest=np.full(60, 9.0))], ground=3.0)


def up(rise=0.5, **changes):
    return hop(kind="box", rise=rise, step=(rise, 0.0), edge=(0.3, 0.6), **changes)


def test_blocks_must_be_as_high_as_the_motion_is():
    block = Box((5.0, 5.0), (2.0, 2.0), 0.5)
    region = near(Obstacle(block, "box"), [up()])
    assert (region.nearest, region.farthest) == (0.3, 0.6)
    assert passable(Obstacle(Box((5.0, 5.0), (2.0, 2.0), 0.52), "box"), [up()])
    assert obstruction(Obstacle(Box((5, 5), (2, 2), 0.6), "box"), [up(), up(0.8)], "me") == (
        "a top 0.60 m high cannot be passed by 'box' of library 'me' (made for 0.5 m or 0.8 m)"
    )
    down = near(Obstacle(block, "box"), [up(-0.5)])
    assert down.contains([(5.0, 5.0), (5.55, 5.0), (6.2, 5.0)]).tolist() == [False, True, False]


def test_stairs_are_passed_by_their_two_behaviours():
    flight = Obstacle(Stairs((5.0, 5.0), 2.0, 6, 0.17, 0.29), "stairs")
    ends = hop(kind="stairs_up", rise=0.34, step=(0.17, 0.0), edge=(1.3, 1.4))
    middle = hop(kind="stairs_up", rise=0.34, step=(0.17, 0.29), edge=(0.2, 0.3), enters=False)
    assert reaches_for(flight, [ends, hop(), middle]) == (ends, middle)
    region = near(flight, [ends, middle])
    assert (region.nearest, region.farthest) == (1.3, 1.4)
    deep = Obstacle(Stairs((5.0, 5.0), 2.0, 6, 0.17, 0.4), "stairs")
    assert not passable(deep, [ends, middle])
    assert near(deep, [ends, middle]) is None


def test_depths():
    assert depth_along(FENCE.shape.footprint()) == pytest.approx(0.2)
    assert depth_along(FENCE.shape.footprint(), np.pi / 2) == pytest.approx(4.0)
    assert depth_along(FENCE.shape.placed((1.0, 2.0, 0.7)).footprint()) == pytest.approx(0.2)
    assert depth_along(Cylinder((1.0, 2.0), 0.4, 1.0).footprint()) == pytest.approx(0.8)
    assert depth_along(Cylinder((1.0, 2.0), 0.4, 1.0).footprint(), 0.3) == pytest.approx(0.8)
    assert depth_along(Footprint.of_rings([[[0, 0], [3, 0]]], 0.1)) == pytest.approx(0.2)
    assert depth_along(Footprint.of_rings([])) == 0.0


def test_bad_reaches():
    with pytest.raises(WorldError, match="go together"):
        hop(lowest=np.zeros(3))
    with pytest.raises(WorldError, match="one number for each station"):
        hop(lowest=np.full(60, np.nan))
    assert not hop().lowest.flags.writeable
    assert isinstance(near(FENCE, [hop()]), Near)
