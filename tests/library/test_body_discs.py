"""Discs over moving bodies: nothing of the body outside, little besides it inside, by dense sampling of capsules."""

from itertools import pairwise

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from figures import standing, walking
from gaitway.cast.catalog import load_cast
from gaitway.core import planar
from gaitway.core.errors import LibraryError
from gaitway.library import _disc_kernels
from gaitway.library.actions import action_table
from gaitway.library.behavior import Behavior, BehaviorGraph, Library
from gaitway.library.body_discs import CELL, BodyDiscs, body_discs, windows
from gaitway.motion.body import armless, capsule_body, capsules
from gaitway.motion.clip import Clip
from gaitway.motion.editing import resample, slice_frames
from gaitway.motion.formats import load_clip
from gaitway.motion.skeleton import Skeleton
from shared_data import MOCAP, needs_mocap

LEAVE = 1.5 * CELL + 1e-6
"""What discs may leave a body by, beyond the margin [m]."""


def of(*clips):
    """A library with one behaviour a clip."""
    behaviors = tuple(Behavior(clip.name, (clip.name,), "a", "a") for clip in clips)
    return Library("clips", clips[0].skeleton, {clip.name: clip for clip in clips}, BehaviorGraph(behaviors))


def plan(clip, times):
    """Axes (T, C, 2, 2) of a clip's capsules on the plan at so many times its rate, seen from the first frame."""
    fine = resample(clip, times * clip.fps)
    back = planar.inverse(clip.planar_path()[0])
    return planar.transform_points(back, capsules(fine)[..., :2])


def rims(axes, radii):
    """Points on the rims of stadiums, (..., C, 2, 2) to (..., N, 2)."""
    share = np.linspace(0.0, 1.0, 9)[:, None]
    along = axes[..., None, 0, :] + share * (axes[..., None, 1, :] - axes[..., None, 0, :])
    angles = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    ring = radii[:, None, None, None] * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    return (along[..., None, :] + ring).reshape(*axes.shape[:-3], -1, 2)


def outside(points, discs):
    """How far points (N, 2) are outside all discs (D, 3) [m]; negative inside; (N,)."""
    out = np.full(len(points), np.inf)
    for x, y, r in discs:
        np.minimum(out, np.hypot(points[:, 0] - x, points[:, 1] - y) - r, out=out)
    return out


def from_stadiums(points, axes, radii):
    """Distance of points (N, 2) from the nearest of stadiums (K, 2, 2), negative inside [m]; (N,)."""
    out = np.full(len(points), np.inf)
    for (start, end), radius in zip(axes, radii, strict=True):
        way = end - start
        share = np.clip((points - start) @ way / max(way @ way, 1e-18), 0.0, 1.0)
        np.minimum(out, np.linalg.norm(points - start - share[:, None] * way, axis=1) - radius, out=out)
    return out


def static_of(discs, a):
    return discs.static[discs.static_starts[a] : discs.static_starts[a + 1]]


def timed_of(discs, w):
    return discs.timed[discs.timed_starts[w] : discs.timed_starts[w + 1]]


@pytest.fixture(scope="module")
def casts():
    chosen = {"person": ["walk_forward", "jump", "turn_left_90"], "horse": ["gallop_left_20"], "skateboarder": ["push"]}
    made = {}
    for cast, names in chosen.items():
        library = load_cast(cast, behaviors=names)
        table = action_table(library)
        made[cast] = (library, table, body_discs(library, table))
    return made


@pytest.mark.slow
@pytest.mark.parametrize("cast", ["person", "horse", "skateboarder"])
def test_nothing_of_a_body_is_outside_between_frames_neither(casts, cast):
    library, table, discs = casts[cast]
    radii = capsule_body(library.skeleton).radii
    for a, name in enumerate(table.clips):
        points = rims(plan(library.clips[name], 7), radii)
        assert outside(points.reshape(-1, 2), static_of(discs, a)).max() <= 0.0, name
        for w in range(discs.window_starts[a], discs.window_starts[a + 1]):
            first, last = 7 * discs.window_frames[w]
            assert outside(points[first : last + 1].reshape(-1, 2), timed_of(discs, w)).max() <= 0.0, (name, w)


@pytest.mark.slow
@pytest.mark.parametrize("cast", ["person", "skateboarder"])
def test_no_disc_leaves_the_swept_body_by_more_than_the_margin_and_a_cell_and_a_half(casts, cast):
    library, table, discs = casts[cast]
    radii, angles = capsule_body(library.skeleton).radii, np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    for a, name in enumerate(table.clips):
        axes = plan(library.clips[name], 7)
        edge = (static_of(discs, a)[:, None, :2] + static_of(discs, a)[:, None, 2:] * ring).reshape(-1, 2)
        off = from_stadiums(edge, axes[::4].reshape(-1, 2, 2), np.tile(radii, len(axes[::4])))
        assert off.max() <= discs.margin + LEAVE + 0.01, name  # 1 cm for what lies between the samples
        for w in range(discs.window_starts[a], discs.window_starts[a + 1], 3):
            first, last = 7 * discs.window_frames[w]
            part = axes[first : last + 1]
            edge = (timed_of(discs, w)[:, None, :2] + timed_of(discs, w)[:, None, 2:] * ring).reshape(-1, 2)
            off = from_stadiums(edge, part.reshape(-1, 2, 2), np.tile(radii, len(part)))
            assert off.max() <= discs.timed_margin + LEAVE + 2e-3, (name, w)


@pytest.mark.slow
@needs_mocap
@pytest.mark.parametrize("file", ["bvh/131_01.bvh", "bvh_accad/Female1_B12_WalkTurnRight90.bvh"])
def test_captures_are_covered_as_they_are(file):
    clip = slice_frames(load_clip(MOCAP / file), 0, 200)
    library = of(clip)
    discs = body_discs(library, action_table(library))
    points = rims(plan(clip, 3), capsule_body(clip.skeleton).radii)
    assert outside(points.reshape(-1, 2), discs.static).max() <= 0.0
    for w, (first, last) in enumerate(3 * discs.window_frames):
        assert outside(points[first : last + 1].reshape(-1, 2), timed_of(discs, w)).max() <= 0.0
    assert np.diff(discs.timed_starts).mean() < 10.0


def test_covers_are_small(casts):
    _, table, discs = casts["person"]
    static, timed = np.diff(discs.static_starts), np.diff(discs.timed_starts)
    assert dict(zip(table.clips, static <= [20, 45, 12], strict=True)) == dict.fromkeys(table.clips, True)
    assert timed.mean() < 9.0
    largest = discs.static[discs.static_starts[:-1], 2]
    assert (largest > 0.25).all()  # the trunk, not a row of hands


def test_without_arms_a_body_is_as_wide_as_its_shoulders():
    library = of(standing(), walking(1.0))
    table = action_table(library)
    whole, bare = body_discs(library, table), body_discs(library, table, arms=False)
    assert (whole.arms, bare.arms) == (True, False)
    assert bare.around[0, 2] < whole.around[0, 2] - 0.1
    axes, body = plan(library.clips["standing"], 1), armless(capsule_body(library.skeleton))
    assert not any(name.endswith("_hand") for name in body.names)
    assert body is armless(body)
    widest = (axes[0, :, :, 1].max(axis=1) + capsule_body(library.skeleton).radii)[
        [name in body.names for name in capsule_body(library.skeleton).names]
    ].max()
    discs = bare.static[: bare.static_starts[1]]
    assert widest - 1e-6 <= (discs[:, 1] + discs[:, 2]).max() <= widest + bare.margin + LEAVE


def test_discs_come_largest_first(casts):
    for _, _, discs in casts.values():
        for a in range(len(discs)):
            assert (np.diff(static_of(discs, a)[:, 2]) <= 0.0).all()
        for w in range(len(discs.window_poses)):
            assert (np.diff(timed_of(discs, w)[:, 2]) <= 0.0).all()


def test_bounds_hold_all_discs_and_are_touched(casts):
    for _, _, discs in casts.values():
        for a in range(len(discs)):
            part = static_of(discs, a)
            assert (np.hypot(part[:, 0], part[:, 1]) + part[:, 2]).max() == pytest.approx(discs.bounds[a])
            x, y, r = discs.around[a]
            assert (np.hypot(part[:, 0] - x, part[:, 1] - y) + part[:, 2]).max() == pytest.approx(r)
            assert r <= discs.bounds[a] + 1e-9
        for w, pose in enumerate(discs.window_poses):
            part = timed_of(discs, w)
            reach = (np.hypot(part[:, 0] - pose[0], part[:, 1] - pose[1]) + part[:, 2]).max()
            assert reach == pytest.approx(discs.window_bounds[w])
            assert discs.window_around[w, 2] <= reach + 1e-9


def test_windows_follow_one_another_and_know_where_the_root_is(casts):
    for library, table, discs in casts.values():
        for a, name in enumerate(table.clips):
            part = slice(discs.window_starts[a], discs.window_starts[a + 1])
            frames, clip = discs.window_frames[part], library.clips[name]
            assert frames[0, 0] == 0 and frames[-1, 1] == len(clip) - 1
            np.testing.assert_array_equal(frames[1:, 0], frames[:-1, 1])
            assert (np.diff(frames, axis=1)[:-1] == 3).all() and 1 <= np.diff(frames[-1])[0] <= 3
            np.testing.assert_allclose(discs.window_times[part], frames / clip.fps)
            path = clip.planar_path()
            for pose, (first, last) in zip(discs.window_poses[part], frames, strict=True):
                middle = [np.interp(0.5 * (first + last), np.arange(len(clip)), path[:, k]) for k in range(3)]
                seen = planar.relative(path[0], middle)
                np.testing.assert_allclose(pose[:2], seen[:2], atol=1e-9)
                assert planar.wrap_angle(pose[2] - seen[2]) == pytest.approx(0.0, abs=1e-3)  # it turns along an arc


@pytest.mark.parametrize(("fps", "length"), [(10.0, 1), (24.0, 2), (25.0, 2), (30.0, 3), (60.0, 6), (120.0, 12)])
def test_windows_last_about_a_tenth_of_a_second_at_any_rate(fps, length):
    clip = walking(0.7, fps)
    made = windows(len(clip), fps)
    assert made[0].tolist() == [0, length]
    table = action_table(of(clip))
    discs = body_discs(of(clip), table)
    radii = capsule_body(clip.skeleton).radii
    points = rims(plan(clip, 5), radii)
    assert outside(points.reshape(-1, 2), discs.static).max() <= 0.0
    for w, (first, last) in enumerate(5 * discs.window_frames):
        assert outside(points[first : last + 1].reshape(-1, 2), timed_of(discs, w)).max() <= 0.0


def test_where_a_clip_lies_in_the_world_does_not_matter():
    clip = walking(0.5, 30.0)
    turn = np.array([np.cos(0.6), 0.0, 0.0, np.sin(0.6)])
    rotations = clip.rotations.copy()
    w, x, y, z = np.moveaxis(rotations[:, 0], -1, 0)
    c, s = turn[0], turn[3]
    rotations[:, 0] = np.stack([c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w], axis=-1)
    roots = clip.root_positions.copy()
    roots[:, :2] = planar.transform_points([5.0, -3.0, 1.2], roots[:, :2])
    moved = Clip(clip.skeleton, roots, rotations, clip.fps, clip.name)
    here, there = (body_discs(of(c), action_table(of(c))) for c in (clip, moved))
    points = rims(plan(moved, 5), capsule_body(clip.skeleton).radii).reshape(-1, 2)
    assert outside(points, here.static).max() <= 1e-6
    assert outside(points, there.static).max() <= 0.0


def test_a_clip_of_two_behaviours_is_covered_once_and_given_twice():
    clip = standing(4, 30.0)
    graph = BehaviorGraph((Behavior("one", ("standing",), "a", "a"), Behavior("two", ("standing",), "a", "a")))
    library = Library("twice", clip.skeleton, {"standing": clip}, graph)
    discs = body_discs(library, action_table(library))
    np.testing.assert_array_equal(static_of(discs, 0), static_of(discs, 1))
    assert discs.window_starts.tolist() == [0, 1, 2]


def test_a_skeleton_of_one_joint_is_a_disc():
    point = Skeleton(("ball",), np.array([-1]), np.array([[0.0, 0.0, 1.0]]))
    still = np.tile([1.0, 0.0, 0.0, 0.0], (4, 1, 1))
    clip = Clip(point, np.tile([2.0, 2.0, 1.0], (4, 1)), still, 30.0, "ball")
    discs = body_discs(of(clip), action_table(of(clip)))
    assert discs.static.shape == (1, 3)
    assert 0.1 < discs.static[0, 2] <= 0.15 + LEAVE
    np.testing.assert_allclose(discs.static[0, :2], 0.0, atol=2 * CELL)


@pytest.mark.usefixtures("no_cache")
def test_covers_are_the_same_every_time():
    clip = walking(0.4, 30.0)
    one, two = (body_discs(of(clip), action_table(of(clip))) for _ in range(2))
    for name in BodyDiscs.__annotations__:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    with pytest.raises(ValueError, match="read-only"):
        one.static[0, 0] = 1.0


@pytest.mark.parametrize("margin", [0.0, -1.0, 0.02, float("nan"), float("inf")])
def test_margins_that_cannot_be_are_refused(margin):
    clip = standing(4, 30.0)
    for arguments in ({"margin": margin}, {"timed_margin": margin}):
        with pytest.raises(LibraryError, match=r"of a body's discs; write a length of 0.0375 m or more"):
            body_discs(of(clip), action_table(of(clip)), **arguments)


def test_clips_that_sweep_a_country_are_refused_by_name():
    clip = walking(1.0, 30.0, speed=2000.0)
    far = clip.root_positions * [1.0, 1.0, 1.0] + np.linspace(0.0, 1500.0, len(clip))[:, None] * [0.0, 1.0, 0.0]
    flight = Clip(clip.skeleton, far, clip.rotations, clip.fps, "flight")
    with pytest.raises(LibraryError, match=r"clip 'flight' sweeps 2\d\d\d m by 15\d\d m.*are its lengths in metres"):
        body_discs(of(flight), action_table(of(flight)))


ENDS = st.floats(6.0, 24.0)


@given(ENDS, ENDS, ENDS, ENDS, st.floats(0.6, 5.0))
def test_stadiums_are_drawn_as_their_distance_says(sx, sy, ex, ey, radius):
    drawn = np.zeros((30, 31), np.bool_)
    _disc_kernels.draw(sx, sy, ex, ey, radius, drawn)
    rows, columns = np.mgrid[:30, :31]
    middles = np.stack([columns, rows], axis=-1).reshape(-1, 2).astype(float)
    off = from_stadiums(middles, np.array([[[sx, sy], [ex, ey]]]), [radius]).reshape(30, 31)
    sure = np.abs(off) > 1e-6
    np.testing.assert_array_equal(drawn[sure], (off < 0.0)[sure])


@given(ENDS, ENDS, st.floats(0.0, 6.283), st.floats(0.5, 3.0))
def test_upright_level_and_short_stadiums_are_drawn_too(x, y, angle, radius):
    rows, columns = np.mgrid[:40, :40]
    middles = np.stack([columns, rows], axis=-1).reshape(-1, 2).astype(float)
    for length, way in ((0.0, angle), (1e-10, angle), (7.0, 0.0), (7.0, 0.5 * np.pi), (1e-3, angle)):
        ends = np.array([[x, y], [x + length * np.cos(way), y + length * np.sin(way)]])
        drawn = np.zeros((40, 40), np.bool_)
        _disc_kernels.draw(*ends[0], *ends[1], radius, drawn)
        off = from_stadiums(middles, ends[None], [radius]).reshape(40, 40)
        sure = np.abs(off) > 1e-6
        np.testing.assert_array_equal(drawn[sure], (off < 0.0)[sure])


@pytest.mark.slow
@given(st.integers(0, 10**6), st.floats(0.02, 6.0))
@settings(max_examples=20)
def test_a_sweep_holds_all_that_moves_and_hardly_more(seed, pace):
    rng = np.random.default_rng(seed)
    axes = rng.uniform(15.0, 25.0, (1, 2, 2, 2)) + np.cumsum(pace * rng.uniform(-1.0, 1.0, (6, 2, 2, 2)), axis=0)
    radii = np.array([0.7, 2.0])
    drawn = np.zeros((70, 70), np.bool_)
    _disc_kernels.sweep(axes + 15.0, radii, 0.5, 1.0, drawn)
    shares = np.linspace(0.0, 1.0, 30)[:, None, None, None]
    dense = np.concatenate([a + shares * (b - a) for a, b in pairwise(axes)]) + 15.0
    rows, columns = np.mgrid[:70, :70]
    middles = np.stack([columns, rows], axis=-1).reshape(-1, 2).astype(float)
    off = from_stadiums(middles, dense.reshape(-1, 2, 2), np.tile(radii, len(dense))).reshape(70, 70)
    assert drawn[off < 0.5 - 1e-9].all()
    assert not drawn[off > 0.5 + 0.5 + pace / 10.0].any()


@given(st.integers(0, 10**6), st.floats(0.3, 0.98))
def test_inner_distances_are_euclidean(seed, share):
    room = np.zeros((19, 23), np.bool_)
    room[1:-1, 1:-1] = np.random.default_rng(seed).random((17, 21)) < share
    out = np.empty(room.shape)
    _disc_kernels.inner_distances(room, out)
    np.testing.assert_allclose(out, scipy.ndimage.distance_transform_edt(room))


def plain_cover(inner, todo, stride, shrink, half):
    """The greedy cover without any short cuts."""
    rows, columns = np.mgrid[: todo.shape[0], : todo.shape[1]]
    inside = {}
    for i in range(stride, todo.shape[0] - stride, stride):
        for j in range(stride, todo.shape[1] - stride, stride):
            near = [(a, b) for a in (-stride, 0, stride) for b in (-stride, 0, stride) if (a, b) != (0, 0)]
            held = any(inner[i + a, j + b] >= inner[i, j] + np.hypot(a, b) - 1e-9 for a, b in near)
            if inner[i, j] >= shrink + half and not held:
                radius = inner[i, j] - shrink - half
                inside[i, j] = np.hypot(rows - i, columns - j) <= radius + 1e-9
    left, chosen = todo.copy(), []
    while inside:
        place = max(inside, key=lambda p: ((inside[p] & left).sum(), -p[0], -p[1]))
        if not (inside[place] & left).any():
            break
        left &= ~inside[place]
        chosen.append((*place, inner[place] - shrink))
    return np.array(chosen, dtype=float).reshape(-1, 3), left


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from([1, 2, 3]))
@settings(max_examples=40)
def test_covers_are_those_of_the_plain_greedy_way(seed, stride):
    rng = np.random.default_rng(seed)
    body = np.zeros((44, 40), np.bool_)
    for _ in range(4):
        _disc_kernels.draw(*rng.uniform(10.0, 30.0, 4), rng.uniform(0.5, 4.0), body)
    room = scipy.ndimage.distance_transform_edt(~body) <= 3.0
    inner = scipy.ndimage.distance_transform_edt(room)
    shrink, half = np.sqrt(2.0) - 1.0, np.sqrt(0.5)
    todo = body.copy()
    found = _disc_kernels.cover(inner, todo, stride, shrink, half)
    expected, left = plain_cover(inner, body, stride, shrink, half)
    np.testing.assert_allclose(found, expected)
    np.testing.assert_array_equal(todo, left)
    _disc_kernels.cover(inner, todo, 1, shrink, half)
    assert not todo.any()


@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(-3, 3), st.floats(0.01, 1.0)), min_size=1, max_size=12))
def test_a_disc_around_others_is_nearly_the_smallest(parts):
    discs, out = np.array(parts), np.empty(3)
    _disc_kernels.enclose(discs, out)
    reach = np.hypot(discs[:, 0] - out[0], discs[:, 1] - out[1]) + discs[:, 2]
    assert reach.max() == pytest.approx(out[2])

    def radius(middle):
        return float((np.hypot(discs[:, 0] - middle[0], discs[:, 1] - middle[1]) + discs[:, 2]).max())

    best = scipy.optimize.minimize(radius, out[:2], method="Nelder-Mead").fun
    assert out[2] <= 1.03 * best + 1e-6
