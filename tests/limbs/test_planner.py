"""Plans of a limb in time: clear of everything, calm, back on their motion, and the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from figures import walking
from gaitway.core.arrays import read_only
from gaitway.core.errors import LimbError
from gaitway.limbs import _planner_kernels as kernels
from gaitway.limbs import find_limb
from gaitway.limbs._joint_kernels import frames_of
from gaitway.limbs.planner import ROOM, LimbPlan, LimbPlanOptions, LimbWindow
from gaitway.limbs.surroundings import Carried, body_gaps
from gaitway.motion.clip import Clip
from gaitway.world.obstacle import Mover, Obstacle
from gaitway.world.shapes import Box, Cylinder
from gaitway.world.world import World

BOUNDS = (-9.0, -9.0, 9.0, 9.0)
WALK = walking(3.0, 30.0)
LIMB = find_limb(WALK.skeleton, "left_arm")
OPTIONS = LimbPlanOptions()


def posts(aside: float = 0.16, height: float = 1.3, radius: float = 0.1) -> World:
    """A post beside the way of a walker's left hand, half way."""
    hand = WALK.joint_positions()[45, LIMB.joints[2]]
    return World(BOUNDS, (Obstacle(Cylinder((float(hand[0]), float(hand[1]) + aside), radius, height), name="post"),))


def bad_span(window: LimbWindow) -> tuple[float, float]:
    near = np.flatnonzero(window.gaps(bar=0.02) < 0.02)
    return float(near[0]) / window.clip.fps, float(near[-1] + 1) / window.clip.fps


@pytest.fixture(scope="module")
def window() -> LimbWindow:
    return LimbWindow(LIMB, WALK, 0.0, posts(0.08))


@pytest.fixture(scope="module")
def plans(window: LimbWindow) -> list[LimbPlan | None]:
    first, last = bad_span(window)
    return [window.plan(first - 0.5, last + 0.5, seed=seed) for seed in range(5)]


def test_gaps_are_those_of_the_body_check(window: LimbWindow) -> None:
    offsets = np.random.default_rng(0).uniform(-0.1, 0.1, (len(WALK), 7))
    postures = np.array(window.source)
    postures[:, :7] += offsets
    axes = window.capsules.axes(*LIMB.places(WALK, postures))
    times = np.arange(len(WALK)) / WALK.fps
    twin = body_gaps(axes, window.capsules.radii, times, window.table.around, 0.3)
    out = np.empty(len(WALK))
    kernels.gaps(window.table, read_only(offsets), 0, len(WALK), 1, 0.3, out)
    assert out == pytest.approx(np.where(LIMB.limits.widened(window.source).hold(postures), twin, -2.0), abs=1e-9)
    both = np.empty(len(WALK))
    kernels.gaps(window.table, read_only(offsets), 0, len(WALK), 2, 0.3, both)
    assert (both <= out + 1e-12).all()  # more looks see more


def test_the_walk_itself_hits_the_post(window: LimbWindow) -> None:
    assert window.gaps().min() < -0.01


def test_plans_are_clear_calm_and_back_on_their_motion(window: LimbWindow, plans: list[LimbPlan | None]) -> None:
    for plan in plans:
        assert plan is not None
        assert window.gaps(plan.offsets).min() >= 0.5 * OPTIONS.margin
        assert np.abs(np.diff(plan.offsets, axis=0)).max() * WALK.fps <= OPTIONS.fastest * 1.01
        times = np.arange(len(WALK)) / WALK.fps
        outside = (times < plan.span[0] - ROOM) | (times > plan.span[1] + ROOM)
        assert not plan.offsets[outside].any()
        assert plan.width > 0.0
        # the speed of the offset changes from frame to frame no more than a rounded ramp does: nothing pops
        assert np.abs(np.diff(plan.offsets, n=2, axis=0)).max() * WALK.fps < 2.0
        assert 0.0 < plan.effort < 0.1
        clip = window.applied(plan)
        assert np.array_equal(clip.root_positions, WALK.root_positions)
        feet = [WALK.skeleton.roles[f"{side}_ankle"] for side in ("left", "right")]
        assert clip.joint_positions()[:, feet] == pytest.approx(WALK.joint_positions()[:, feet], abs=1e-6)


def test_the_same_seed_gives_the_same_bytes(window: LimbWindow, plans: list[LimbPlan | None]) -> None:
    first, last = bad_span(window)
    again = window.plan(first - 0.5, last + 0.5, seed=3)
    assert again is not None and plans[3] is not None
    assert again.offsets.tobytes() == plans[3].offsets.tobytes()
    assert plans[0] is not None and plans[0].offsets.tobytes() != again.offsets.tobytes()


def test_trees_make_monotone_paths_within_the_speed_cap(window: LimbWindow) -> None:
    numbers, checks = read_only(OPTIONS.numbers()), np.zeros(1, np.int64)
    first, last = bad_span(window)
    solved = 0
    for seed in range(8):
        draws = read_only(np.random.default_rng(seed).random((20_000, 9)))
        path = kernels.grow(window.table, numbers, first - 0.5, last + 0.5, draws, 1000, checks)
        if len(path) == 0:
            continue
        solved += 1
        for way in (path, kernels.smooth(window.table, numbers, path, read_only(draws[:150, :3].copy()), checks)):
            steps = np.diff(way, axis=0)
            assert (steps[:, 7] > 0.0).all()
            assert (np.abs(steps[:, :7]) <= OPTIONS.fastest * steps[:, 7:] + 1e-9).all()
            assert not way[[0, -1], :7].any()
            assert way[[0, -1], 7] == pytest.approx([first - 0.5, last + 0.5])
            times = np.arange(0, len(WALK), 0.25) / WALK.fps
            times = times[(times > first - 0.45) & (times < last + 0.45)]
            at = np.stack([np.interp(times, way[:, 7], way[:, k]) for k in range(7)], axis=1)
            assert min(_gap(window, at[i], t) for i, t in enumerate(times)) > 0.0  # also between the checks of an edge
    assert solved >= 7
    assert checks[0] > 0


def _gap(window: LimbWindow, offset: np.ndarray, time: float) -> float:
    postures = np.array(window.source)
    for k in range(9):
        postures[:, k] = np.interp(time, np.arange(len(WALK)) / WALK.fps, window.source[:, k])
    postures[:, :7] += offset
    frame = time * WALK.fps
    low = int(frame)
    share, frames_points = frame - low, LIMB.places(WALK, postures)
    axes = window.capsules.axes(*frames_points)
    mixed = (1.0 - share) * axes[low] + share * axes[min(low + 1, len(axes) - 1)]
    return float(body_gaps(mixed[None], window.capsules.radii, np.array([time]), window.table.around, 0.3)[0])


def test_a_held_plan_holds_one_offset(window: LimbWindow) -> None:
    first, last = bad_span(window)
    times = np.array([first - 0.5, first - 0.05, last + 0.05, last + 0.5])
    draws = np.random.default_rng(1).random((400, 9))
    path = kernels.hold(
        window.table, read_only(OPTIONS.numbers()), read_only(times), read_only(draws), np.zeros(1, np.int64)
    )
    assert path[:, 7] == pytest.approx(times)
    assert np.array_equal(path[1, :7], path[2, :7])
    assert path[1, :7].any()
    assert not path[[0, 3], :7].any()


def test_nothing_is_found_where_there_is_no_way() -> None:
    wall = World(BOUNDS, (Obstacle(Box((1.5, 0.0), (0.3, 4.0), 3.0)),))
    window = LimbWindow(LIMB, WALK, 0.0, wall)
    options = LimbPlanOptions(iterations=40, plans=1)
    assert window.plan(0.3, 2.7, options=options) is None


def test_movers_and_carried_things_are_missed_in_time() -> None:
    hand = WALK.joint_positions()[45, LIMB.joints[2]]
    ball = Mover.of(
        Box((0.0, 0.0), (0.2, 0.2), 1.1), [0.0, 3.0],
        [[float(hand[0]) + 1.5, float(hand[1]) + 0.1, 0.0], [float(hand[0]) - 1.5, float(hand[1]) + 0.1, 0.0]],
    )  # fmt: skip
    stick = Carried(np.zeros((1, 3)), np.array([[0.0, 0.25, 0.0]]), np.array([0.02]))
    for carried in (None, stick):
        window = LimbWindow(LIMB, WALK, 0.0, World(BOUNDS, movers=(ball,)), carried=carried)
        first, last = bad_span(window)
        plan = window.plan(first - 0.6, last + 0.6, seed=1)
        assert plan is not None
        assert window.gaps(plan.offsets).min() >= 0.5 * OPTIONS.margin


def test_effort_is_that_of_plain_sums(window: LimbWindow) -> None:
    offsets = np.zeros((len(WALK), 7))
    offsets[20:70] = np.random.default_rng(1).uniform(-0.2, 0.2, (50, 7))
    marks = []
    for shift in (np.zeros_like(offsets), offsets):
        postures = np.array(window.source)
        postures[:, :7] += shift
        level = [np.tile(part, (len(WALK), *[1] * part.ndim)) for part in (np.eye(3), np.zeros(3))]
        frames, points = np.empty((len(WALK), 3, 3, 3)), np.empty((len(WALK), 3, 3))
        frames_of(read_only(level[0]), read_only(level[1]), LIMB.lengths, read_only(postures), frames, points)
        tips = points[:, 2] + frames[:, 2] @ LIMB.tip
        marks.append(np.stack([points[:, 1], points[:, 2], tips], axis=1))
    stray, wanted = marks[1] - marks[0], 0.0
    for order, weight in enumerate((1.0, 0.05, 0.0005)):
        rate = np.diff(stray, n=order, axis=0) * WALK.fps**order
        wanted += weight * float(np.mean(np.sum(rate**2, axis=2).max(axis=1)))
    assert window.effort(offsets) == pytest.approx(wanted, rel=1e-9)
    assert window.effort(np.zeros_like(offsets)) == 0.0


def test_what_is_not_needed_is_taken_back(window: LimbWindow, plans: list[LimbPlan | None]) -> None:
    plan = plans[0]
    assert plan is not None
    worse = np.array(plan.offsets)
    worse[:, 5:7] += 0.3 * (np.abs(plan.offsets).max(axis=1, keepdims=True) > 0.05)
    loud = LimbPlan(worse, plan.span, window.effort(worse), float(window.gaps(worse).min()), 0.1, False, 1, 1)
    calm = window._calmed(loud, *plan.span, OPTIONS)
    assert calm.effort < loud.effort
    assert window.gaps(calm.offsets).min() >= min(loud.gap, 0.5 * OPTIONS.margin)


def test_bad_spans_and_options_are_one_line(window: LimbWindow) -> None:
    with pytest.raises(LimbError, match=r"span -1\.00 s to 1\.00 s is not within the motion, 0\.00 s to 3\.00 s"):
        window.plan(-1.0, 1.0)
    with pytest.raises(LimbError, match=r"span of 0\.050 s is too short; 0\.133 s is the least"):
        window.plan(1.0, 1.05)
    with pytest.raises(LimbError, match=r"margin 2 of a plan must be between -0\.01 and 0\.5"):
        LimbPlanOptions(margin=2.0)
    with pytest.raises(LimbError, match="plans 0 of a plan"):
        LimbPlanOptions(plans=0)


def test_a_clip_keeps_its_own_motion_where_nothing_is_planned(window: LimbWindow) -> None:
    still = LimbPlan(np.zeros((len(WALK), 7)), (0.0, 1.0), 0.0, 0.1, 0.1, True, 1, 1)
    same: Clip = window.applied(still)
    assert same.rotations == pytest.approx(WALK.rotations, abs=1e-7)
