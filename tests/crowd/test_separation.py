"""Bodies of a throng are moved out of one another and out of walls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from gaitway.core.arrays import FloatArray
from gaitway.crowd import _separation_kernels as kernels
from gaitway.crowd.dynamics.walls import WallHash, Walls
from gaitway.crowd.locomotion._feet_kernels import ACROSS, HERE, STEP_FEET, STEP_PHASE, STEP_WIDTH, STEP_Y
from gaitway.crowd.locomotion.space import LocomotionSpace, locomotion_space
from gaitway.crowd.locomotion.steering import steered
from gaitway.crowd.locomotion.walking import Walk, walk_along
from gaitway.crowd.separation import BAR, separated, walk_apart
from gaitway.crowd.throng_bodies import ThrongBodies
from gaitway.crowd.trajectories import Trajectories, joined
from gaitway.motion.body import capsule_body, capsules
from gaitway.motion.clip import Clip

FPS = 30.0


@pytest.fixture(scope="module")
def space() -> LocomotionSpace:
    return locomotion_space("person")


def _straight(x: float, y: float, way: float, seconds: float = 4.0) -> FloatArray:
    """Return a straight path at 1.2 m/s towards +x or -x; (F, 3)."""
    times = np.arange(round(seconds * FPS)) / FPS
    along = x + way * 1.2 * times
    return np.column_stack([along, np.full(len(times), y), np.full(len(times), 0.0 if way > 0.0 else np.pi)])


def _walks(space: LocomotionSpace, tracks: Trajectories, members: Sequence[int]) -> dict[int, Walk]:
    paths = steered(tracks, FPS)
    near = np.ones(len(paths.path))
    return {k: walk_along(space, paths, k, near, tracks.names[k], 3) for k in members}


def _deepest(one: Clip, other: Clip) -> float:
    """Return how deep two bodies are in one another at most [m]."""
    pushes, worst = np.zeros((2, 2)), 0.0
    for first, second in zip(capsules(one), capsules(other), strict=True):
        depths = np.zeros(2)
        body = capsule_body(one.skeleton)
        kernels.part_people(
            np.array([0, 2]), np.array([0, 1]), np.zeros((2, 2)), np.zeros((2, 2)),
            np.stack([first, second]).astype(np.float32), np.array([0, 0]), body.radii[None], np.full(2, 10.0),
            np.ones(2, np.bool_), 0.0, pushes, depths,
        )  # fmt: skip
        worst = max(worst, float(depths.max()))
    return worst


@pytest.mark.slow
def test_two_who_pass_too_near_are_moved_apart(space: LocomotionSpace) -> None:
    tracks = joined(FPS, ["a", "b"], [0, 0], [_straight(-2.4, 0.0, 1.0), _straight(2.4, 0.30, -1.0)])
    walks = list(_walks(space, tracks, [0, 1]).values())
    before = [walk.clip() for walk in walks]
    found = separated(walks, tracks.starts)
    assert found.touching > 5
    assert found.deepest > 0.05
    after = walk_apart(tracks, lambda along, members: _walks(space, along, members))
    assert _deepest(*after) <= BAR
    for old, new in zip(before, after, strict=True):  # a little, smoothly, and only where they meet
        moved = new.root_positions[:, :2] - old.root_positions[:, :2]
        assert np.abs(moved[:15]).max() < 0.02
        assert np.abs(moved).max() < 0.25
        assert np.abs(np.diff(moved, 2, axis=0)).max() * FPS**2 < 8.0


def test_a_body_is_moved_out_of_a_wall(space: LocomotionSpace) -> None:
    tracks = joined(FPS, ["a"], [0], [_straight(-2.4, 0.18, 1.0)])
    walls = Walls.of_segments([[-1.0, 0.0, 1.0, 0.0]], [-5.0, -5.0, 5.0, 5.0])
    edges = WallHash.of(walls.segments(), walls.bounds, 1.0)
    (before,) = _walks(space, tracks, [0]).values()
    assert separated([before], tracks.starts, edges).deepest > 0.03
    (after,) = walk_apart(tracks, lambda along, members: _walks(space, along, members), edges)
    flesh = capsules(after)[..., 1].min(axis=-1) - capsule_body(after.skeleton).radii
    beside = np.abs(capsules(after)[..., 0]).max(axis=-1) < 0.95
    assert flesh[beside].min() > -BAR
    assert after.root_positions[:, 1].max() > 0.2


def test_who_is_alone_is_left_alone(space: LocomotionSpace) -> None:
    tracks = joined(FPS, ["a", "b"], [0, 0], [_straight(-2.4, 0.0, 1.0), _straight(2.4, 3.0, -1.0)])
    before = [walk.clip() for walk in _walks(space, tracks, [0, 1]).values()]
    after = walk_apart(tracks, lambda along, members: _walks(space, along, members))
    for old, new in zip(before, after, strict=True):
        assert np.array_equal(old.rotations, new.rotations)


def test_a_walk_that_is_moved_keeps_its_steps(space: LocomotionSpace) -> None:
    tracks = joined(FPS, ["a"], [0], [_straight(-2.4, 0.0, 1.0)])
    (walk,) = _walks(space, tracks, [0]).values()
    frames = len(walk.steps)
    bump = 0.04 * np.exp(-(((np.arange(frames) - 60) / 8.0) ** 2))
    none = tuple(np.zeros((int(walk.footprints[-1, k]) + 2, 4)) for k in range(2))
    assert np.array_equal(walk.moved(np.zeros((frames, 2)), (none[0], none[1])), walk.steps)
    steps = walk.moved(np.column_stack([np.zeros(frames), bump]), (none[0], none[1]))
    away = steps - walk.steps
    assert away[60, STEP_Y] == pytest.approx(0.04)
    assert np.array_equal(steps[:, STEP_PHASE], walk.steps[:, STEP_PHASE])
    farthest = 0.0
    for k in range(2):  # a foot that stands does not move, and goes aside with the path
        column = STEP_FEET + k * STEP_WIDTH + HERE + 1
        for number in np.unique(walk.footprints[:, k]):
            rows = (walk.footprints[:, k] == number) & (walk.steps[:, STEP_FEET + k * STEP_WIDTH + ACROSS] < 0.0)
            assert np.ptp(away[rows, column]) < 1e-9 if rows.any() else True
        farthest = max(farthest, float(away[:, column].max()))
    assert 0.01 < farthest < 0.04
    bodies = ThrongBodies([walk], tracks.starts)
    assert np.allclose(bodies.segments[:, : bodies.radii.shape[1]], capsules(walk.clip()), atol=1e-5)
    (before,) = bodies.clips()
    bodies.shifts[:, 1] = bump
    bodies.move([0])
    (after,) = bodies.clips()
    assert after.root_positions[60, 1] - before.root_positions[60, 1] == pytest.approx(0.04, abs=1e-6)
    assert np.array_equal(after.rotations[:5], before.rotations[:5])  # only where it is moved
    assert np.allclose(after.rotations[:15], before.rotations[:15], atol=1e-3)


def test_lowered_arms_need_least_room(space: LocomotionSpace) -> None:
    tracks = joined(FPS, ["a"], [0], [np.tile([0.0, 0.0, 0.0], (60, 1))])
    paths = steered(tracks, FPS)
    none, whole = np.zeros(len(paths.path)), np.ones(len(paths.path))
    widths = []
    for near, lowered in ((none, none), (whole, none), (none, whole)):
        clip = walk_along(space, paths, 0, near, "a", 1, lowered).clip()
        body = capsule_body(clip.skeleton)
        arms = [i for i, name in enumerate(body.names) if name.endswith(("_elbow", "_hand"))]
        reach = np.abs(capsules(clip)[:, arms, :, :2]) + body.radii[arms][:, None, None]
        widths.append(reach.max(axis=(0, 1, 2)))
    free, tucked, low = widths
    assert low[1] < min(free[1], tucked[1]) - 0.02  # beside the body
    assert low[0] < tucked[0] - 0.03  # and before it


def test_depths_are_those_of_points_on_the_capsules() -> None:
    rng = np.random.default_rng(4)
    shares = np.linspace(0.0, 1.0, 201)
    seen = 0
    for _ in range(60):
        first, second = rng.uniform(-0.3, 0.3, (2, 1, 2, 3)).astype(np.float32)
        radii = rng.uniform(0.03, 0.12, (2, 1))
        pushes, depths = np.zeros((2, 2)), np.zeros(2)
        kernels.part_people(
            np.array([0, 2]), np.array([0, 1]), np.zeros((2, 2)), np.zeros((2, 2)), np.stack([first, second]),
            np.array([0, 1]), radii, np.full(2, 2.0), np.ones(2, np.bool_), 0.0, pushes, depths,
        )  # fmt: skip
        one = first[0, 0] + shares[:, None] * (first[0, 1] - first[0, 0])
        two = second[0, 0] + shares[:, None] * (second[0, 1] - second[0, 0])
        apart = one[:, None] - two[None]
        near = np.unravel_index(np.argmin((apart**2).sum(axis=-1)), apart.shape[:2])
        x, y, z = apart[near]
        wide = float(radii.sum())
        if np.hypot(np.hypot(x, y), z) >= wide + 0.004:
            assert not depths.any()
        elif np.hypot(np.hypot(x, y), z) < wide - 0.004:
            seen += 1
            assert depths[0] == pytest.approx(np.sqrt(wide**2 - z**2) - np.hypot(x, y), abs=0.012)
            assert np.allclose(pushes[0], -pushes[1])
            assert np.hypot(*pushes[0]) == pytest.approx(0.5 * depths[0])
    assert seen > 10
