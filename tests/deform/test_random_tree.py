"""Random trees and lazy roadmaps: branches join, edges lead exactly from node to node; linear warping is the rival."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.cast.catalog import load_cast
from gaitway.deform.constraints import MotionLimits
from gaitway.deform.fragment import Fragment
from gaitway.deform.place import SqueezePlace
from gaitway.deform.random_tree import RandomTree
from gaitway.deform.roadmap import LazyRoadmap
from gaitway.deform.search import Choice
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World

BOUNDS = (-1.0, -2.0, 6.0, 2.0)


@pytest.fixture(scope="module")
def walk() -> Fragment:
    return Fragment.of(load_cast("person").clips["walk_forward"])


@pytest.fixture(scope="module")
def steered(walk: Fragment) -> list[Fragment]:
    return [walk.steered(math.radians(degrees)) for degrees in (-30, -15, 0, 15, 30)]


def walls(gap: float, aside: float = 0.0) -> World:
    """Return a world with a wall across it that has a gap."""
    boxes = [Box((2.4, aside + side * (0.5 * gap + 2.0)), (0.2, 4.0), 2.0) for side in (-1, 1)]
    return World((-2.0, -3.0, 7.0, 3.0), tuple(Obstacle(box, name="wall") for box in boxes) if gap >= 0.0 else ())


def tree(fragments: list[Fragment], world: World, *, deform: bool = True, seed: int = 1) -> RandomTree:
    choices = [Choice(0, fragment, 0, 0, 1.0, 1.0, 1.1) for fragment in fragments]
    grown = RandomTree(
        SqueezePlace(world), {0: choices}, (5.0, 0.0), lambda node: node.pose[0] > 4.0, MotionLimits(), BOUNDS,
        seed=seed, deform=deform,
    )  # fmt: skip
    grown.begin((0.0, 0.0, 0.0), 0, 0.0)
    return grown


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-0.8, 0.8), min_size=1, max_size=3))
def test_linear_warping_turns_evenly_and_keeps_lengths(angles) -> None:
    walk = Fragment.of(load_cast("person").clips["walk_forward"])
    warped = walk.steered(*angles)
    assert warped.root[-1, 2] == pytest.approx(walk.root[-1, 2] + sum(angles))
    np.testing.assert_allclose(np.abs(np.diff(warped.track)), np.abs(np.diff(walk.track)), atol=1e-12)
    away = [np.hypot(one.capsules[..., 0], one.capsules[..., 1]) for one in (walk, warped)]
    np.testing.assert_allclose(away[1], away[0], atol=1e-12)
    turned = np.diff(warped.root[:, 2] - walk.root[:, 2])
    assert len(angles) > 1 or np.ptp(turned) < 1e-12


def test_a_tree_finds_the_same_way_with_the_same_seed(steered) -> None:
    one, two = (tree(steered, walls(-1.0)) for _ in range(2))
    found, again = one.grow(500), two.grow(500)
    assert found is not None and again is not None and found.pose == again.pose and one.checks == two.checks
    poses = [node.squeezed.path for node in found.branch() if node.squeezed is not None]
    for before, after in pairwise(poses):
        np.testing.assert_allclose(after[0], before[-1], atol=1e-9)


def test_squeezing_passes_a_gap_that_linear_warping_does_not(steered) -> None:
    world = walls(0.45, aside=0.12)
    soft, hard = (tree(steered, world, deform=deform) for deform in (True, False))
    assert soft.grow(300) is not None
    assert hard.grow(300) is None and hard.blockers["wall"] > 0


def test_a_tree_that_is_shut_in_ends_when_all_fragments_were_tried(steered) -> None:
    shut = tree(steered, walls(0.1))
    assert shut.grow(100_000) is None
    assert shut.checks == 5 * len(shut.nodes)


def test_edges_of_a_roadmap_meet_their_nodes(walk, steered) -> None:
    roadmap = LazyRoadmap(
        SqueezePlace(walls(0.5)), [walk, *steered], MotionLimits(), BOUNDS, lambda place: abs(place[0] - 2.4) - 0.1
    )
    nodes = [roadmap.add((0.3, 0.0, 0.0)), roadmap.add((1.75, 0.05, 0.1)), roadmap.add((3.2, 0.0, -0.05))]
    way = roadmap.route(nodes[0], nodes[2])
    assert way is not None and [edge.end for edge in way] == nodes[1:]
    for edge in way:
        np.testing.assert_allclose(edge.squeezed.path[0], roadmap.nodes[edge.start], atol=1e-9)
        np.testing.assert_allclose(edge.squeezed.path[-1], roadmap.nodes[edge.end], atol=1e-6)
        assert edge.squeezed.fits and edge.length > 1.0
    assert roadmap.route(nodes[2], nodes[0]) is None  # nobody walks backward


def test_a_roadmap_grows_until_it_is_enough(steered) -> None:
    roadmap = LazyRoadmap(
        SqueezePlace(walls(0.5)), steered, MotionLimits(), BOUNDS, lambda place: abs(place[0] - 2.4) - 0.1, seed=3
    )
    assert roadmap.grow(lambda: len(roadmap.nodes) >= 4, 10) and len(roadmap.nodes) == 4
    assert not roadmap.grow(lambda: False, 6) and len(roadmap.nodes) == 6
