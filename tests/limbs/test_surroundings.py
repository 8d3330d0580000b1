"""Gaps of capsules: those of the audit's exact distances, at any time, with other bodies and the body itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from figures import standing, walking
from gaitway.audit._pair_kernels import segment_distance
from gaitway.audit._solid_kernels import signed_distance
from gaitway.audit.solids import gather, stack_of
from gaitway.core import rotations
from gaitway.core.arrays import read_only
from gaitway.core.errors import LimbError
from gaitway.limbs import _collision_kernels as kernels
from gaitway.limbs import find_limb
from gaitway.limbs.surroundings import (
    Carried,
    LimbCapsules,
    OtherBody,
    _pair_runs,
    absent,
    body_around,
    body_gaps,
    limb_around,
    shape_solids,
)
from gaitway.motion.body import capsule_body, capsules
from gaitway.world.obstacle import Mover, MoverPhase, Obstacle
from gaitway.world.shapes import Box, Cylinder, Polygon, Shape, Sphere, Stairs
from gaitway.world.world import World

BOUNDS = (-9.0, -9.0, 9.0, 9.0)
SHAPES: tuple[Shape, ...] = (
    Box((0.1, 0.0), (0.6, 0.3), 0.9, yaw=0.5, bottom=0.2),
    Cylinder((0.0, 0.1), 0.3, 1.0),
    Sphere((0.1, 0.0), 0.4, 0.2),
    Polygon(((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.7, 0.2), (0.0, 0.4)), 1.0),
    Stairs((0.0, 0.0), 0.8, 3),
)
place = st.tuples(st.floats(-1.2, 1.2), st.floats(-1.2, 1.2), st.floats(-0.3, 1.6))


def empty() -> World:
    return World(BOUNDS)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(SHAPES), place, place)
def test_distances_are_those_of_the_audit(shape, a, b) -> None:
    ends = np.array([[a, b]])
    ours = np.full(1, np.inf)
    solids = shape_solids(shape)
    for s in range(len(solids.kinds)):
        out = np.empty(1)
        kernels.axis_distances(solids, s, ends, 9.0, out)
        ours = np.minimum(ours, out)
    exact = gather(shape.solids())
    line = ends[0, 0] + np.linspace(0.0, 1.0, 801)[:, None] * (ends[0, 1] - ends[0, 0])
    stack = stack_of(exact)
    true = min(signed_distance(exact, s, x, y, z, stack) for s in range(len(exact.kinds)) for x, y, z in line.tolist())
    if true > 0.0:  # how deep something lies does not matter here, only that it does
        assert true - 6e-3 <= ours[0] <= true + 1e-6
    elif true < -1e-2:
        assert ours[0] < 0.0


@settings(max_examples=80, deadline=None)
@given(place, place, place, place)
def test_distances_of_axes(a, b, c, d) -> None:
    out = np.zeros((1, 1))
    first, second = np.array([[[a, b]]]), np.array([[[c, d]]])
    kernels.pair_depths(first, np.array([5.0]), second, np.array([5.0]), out)
    assert 10.0 - out[0, 0] == pytest.approx(segment_distance(first[0, 0], second[0, 0]), abs=1e-9)


def test_a_mesh_is_its_triangles() -> None:
    corners = np.array([[0.0, 0.0, 0.5, 1.0, 0.0, 0.5, 0.0, 1.0, 0.5]])
    rows = (
        np.array([kernels.TRIANGLE]), np.array([[0.0, 0.0, 0.5, 1.0, 1.0, 0.5]]), np.zeros((1, 4)), np.array([[0, 1]]),
        np.empty((0, 5)), corners, np.array([-1]), np.array([[-np.inf, np.inf]]),
    )  # fmt: skip
    triangle = kernels.WorldSolids(*(read_only(row) for row in rows))
    out = np.empty(3)
    ends = np.array([
        [[0.2, 0.2, 0.9], [0.3, 0.3, 0.7]], [[2.0, 0.0, 0.5], [3.0, 0.0, 0.5]], [[0.5, 0.5, 2.0], [1.5, 1.5, 0.5]]
    ])  # fmt: skip
    kernels.axis_distances(triangle, 0, ends, 9.0, out)
    t = np.linspace(0.0, 1.0, 200_001)[:, None]
    line = ends[2, 0] + t * (ends[2, 1] - ends[2, 0])
    along = np.clip((line - [1.0, 0.0, 0.5]) @ [-0.5, 0.5, 0.0], 0.0, 1.0)
    third = np.linalg.norm(line - ([1.0, 0.0, 0.5] + along[:, None] * [-1.0, 1.0, 0.0]), axis=1).min()
    assert out == pytest.approx([0.2, 1.0, third], abs=1e-3)


def test_a_body_is_as_near_to_a_wall_as_its_hand() -> None:
    clip = standing()
    hand = capsules(clip)[0, :, :, 1].max() + 0.5
    axes, radii, around = body_around(
        clip, 0.0, World(BOUNDS, (Obstacle(Box((0.0, hand + 0.5), (4.0, 1.0), 2.0)),)), reach=2.0
    )
    times = np.zeros(len(clip))
    gap = body_gaps(axes, radii, times, around, 2.0)
    body = capsule_body(clip.skeleton)
    exact = (hand - (capsules(clip)[0, :, :, 1] + body.radii[:, None])).min()
    assert gap == pytest.approx(exact, abs=1e-3)
    assert (body_gaps(axes, radii, times, around, 0.1) == 0.1).all()  # farther than the bar is the bar


def test_movers_are_where_they_are_at_that_time_and_phase() -> None:
    clip = walking(2.0)
    phases = (
        MoverPhase(-np.inf, Box((0.0, 0.0), (0.4, 0.4), 2.0)),
        MoverPhase(1.0, Box((0, 0), (9, 9), 2), "passable"),
    )
    mover = Mover(phases, [0.0, 2.0], [[-3.0, 1.5, 0.0], [3.0, 1.5, 3.0]])
    axes, radii, around = body_around(clip, 0.0, World(BOUNDS, movers=(mover,)))
    times = np.arange(len(clip)) / clip.fps
    gaps = body_gaps(axes, radii, times, around, 3.0)
    for frame in (0, 20, 47):
        still = World(BOUNDS, (mover.at(float(times[frame])),))
        twin = body_around(clip, 0.0, still, reach=3.0)[2]
        assert gaps[frame] == pytest.approx(body_gaps(axes[[frame]], radii, times[[frame]], twin, 3.0)[0], abs=2e-3)
    assert (gaps[times >= 1.0] == 3.0).all()
    assert (gaps[times < 0.99] < 3.0).all()


def test_other_bodies_count_only_while_they_are_there() -> None:
    clip = standing()
    other = capsules(clip) + np.array([0.0, 0.9, 0.0])
    there = np.arange(len(clip)) < 30
    body = OtherBody(absent(other, there), capsule_body(clip.skeleton).radii)
    axes, radii, around = body_around(clip, 0.0, empty(), [body])
    gaps = body_gaps(axes, radii, np.arange(len(clip)) / clip.fps, around, 1.0)
    mine = capsules(clip)[0]
    exact = min(
        segment_distance(mine[a], other[0, b]) - radii[a] - radii[b] for a in range(len(mine)) for b in range(len(mine))
    )
    assert gaps[:29] == pytest.approx(exact, abs=1e-9)
    assert (gaps[30:] == 1.0).all()


def test_a_body_may_touch_itself_as_it_does_anyway_but_no_deeper() -> None:
    clip, limb = standing(), find_limb(standing().skeleton, "left_arm")
    held = LimbCapsules.of(limb)
    around = limb_around(limb, held, clip, 0.0, empty())
    q = limb.postures(clip)[:1]
    into = np.array(q)
    into[0, 1] += 1.4  # the arm goes forward, and then across the chest
    into[0, 3] += 2.2
    frames, points = limb.places(clip, np.concatenate([q, into, np.tile(q, (len(clip) - 2, 1))]))
    axes = held.axes(frames, points)
    gaps = body_gaps(axes, held.radii, np.zeros(len(clip)), around, 0.5)
    assert gaps[0] == 0.5
    assert gaps[1] == -1.0


def test_a_whole_body_is_checked_as_by_plain_loops() -> None:
    clip, rng = walking(2.0), np.random.default_rng(5)
    obstacles = tuple(
        Obstacle(Box((x, y), (0.3, 0.2), 1.4) if k % 2 else Sphere((x, y), 0.2))
        for k, (x, y) in enumerate(rng.uniform((-1.0, -1.5), (3.0, 1.5), (14, 2)).tolist())
    )
    turning = Mover.of(Box((0.4, 0.0), (0.6, 0.1), 1.2), [0.0, 2.0], [[0.5, 0.8, 0.0], [1.5, 0.8, 3.0]])
    axes, radii, around = body_around(clip, 0.0, World(BOUNDS, obstacles, (turning,)))
    around = around._replace(floor=read_only(np.full(len(clip), -9.0)))
    shaken = axes + rng.normal(0.0, 0.05, axes.shape)
    times = np.arange(len(clip)) / clip.fps
    ours, out = body_gaps(shaken, radii, times, around, 0.1), np.empty(len(radii))
    for f in range(0, len(clip), 7):
        nearest, meets = 0.1, False
        for a, first, last, row in around.pairs.tolist():
            for b in range(first, last):
                deep = radii[a] + radii[b] - segment_distance(shaken[f, a], shaken[f, b])
                meets = meets or deep > around.ease[row + b - first]
        moved = around.solids._replace(movers=read_only(np.full(len(around.solids.kinds), -1)))
        for s, mover in enumerate(around.solids.movers.tolist()):
            seen = shaken[f]
            if mover >= 0:
                x, y, heading = around.moves[f, mover]
                seen = rotations.rotate(rotations.from_yaw(-heading), shaken[f] - [x, y, 0.0])
            kernels.axis_distances(moved, s, read_only(seen), 9.0, out)
            nearest = min(nearest, float((out - radii).min()))
        assert ours[f] == pytest.approx(-1.0 if meets else nearest, abs=1e-3)
    assert (ours == -1.0).any()
    assert ((ours > -1.0) & (ours < 0.1)).any()


@settings(max_examples=50, deadline=None)
@given(st.sets(st.tuples(st.integers(1, 7), st.integers(0, 6)).filter(lambda pair: pair[0] > pair[1])))
def test_runs_are_the_pairs(pairs: set[tuple[int, int]]) -> None:
    rows = np.array(list(pairs), dtype=np.int64).reshape(-1, 2)
    runs, ease = _pair_runs(rows, 10.0 * rows[:, 0] + rows[:, 1])
    told = [(a, b, ease[row + b - first]) for a, first, last, row in runs.tolist() for b in range(first, last)]
    assert sorted(told) == sorted((a, b, 10.0 * a + b) for a, b in pairs)


def test_nothing_goes_under_the_floor() -> None:
    clip, limb = standing(), find_limb(standing().skeleton, "left_arm")
    pole = Carried(np.zeros((1, 3)), np.array([[0.0, 1.5, 0.0]]), np.array([0.02]))
    held = LimbCapsules.of(limb, pole)
    assert len(held.radii) == 4
    around = limb_around(limb, held, clip, 0.0, empty(), carried=1)
    axes = held.axes(*limb.places(clip, limb.postures(clip)))
    assert axes[0, 3, 1, 2] < -0.1  # hanging down, through the floor
    lifted = np.array(limb.postures(clip))
    lifted[:, 0] += 1.0
    up = held.axes(*limb.places(clip, lifted))
    where = np.zeros(len(clip))
    flat = around._replace(floor=read_only(np.full(len(clip), -0.03)))
    assert (body_gaps(axes, held.radii, where, flat, 0.5) == -1.0).all()
    assert (body_gaps(up, held.radii, where, flat, 0.5) == 0.5).all()


def test_things_that_cannot_be_carried() -> None:
    with pytest.raises(LimbError, match="carried thing: capsule 0 has no thickness"):
        Carried(np.zeros((1, 3)), np.ones((1, 3)), np.zeros(1))
    with pytest.raises(LimbError, match=r"carried thing: ends must be finite numbers of shape \(1, 3\)"):
        Carried(np.zeros((1, 3)), np.ones((2, 3)), np.ones(1))
