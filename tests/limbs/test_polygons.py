"""Spherical polygons: kernels and plain code agree on what they hold, captures teach them, and limits keep them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.cast.catalog import load_cast
from gaitway.core.arrays import read_only
from gaitway.core.errors import LimbError
from gaitway.limbs import find_limb, fit_limb, fit_limits, reach_posture
from gaitway.limbs._joint_kernels import END_X, END_Y, SWING_X, SWING_Y, all_within
from gaitway.limbs.polygons import SwingPolygon, directions, fit_polygon, swings_of
from gaitway.limbs.stance import _limit_tables
from gaitway.motion.formats import load_clip
from shared_data import MOCAP, needs_mocap

PERSON = load_cast("person")
WALK = PERSON.clips["walk_forward"]
angles = st.floats(-math.pi, math.pi)


def star(seed: int, count: int = 9) -> SwingPolygon:
    """A polygon whose corners are near and far in turn, around any middle."""
    rng = np.random.default_rng(seed)
    around = math.tau * (np.arange(count) + rng.uniform(-0.3, 0.3, count)) / count
    away = rng.uniform(0.15, 0.9, count)
    middle = rng.uniform(-0.9, 0.9, 2)
    base = fit_polygon(middle[None])  # its frame about the middle
    spread = np.stack([np.cos(around), np.sin(around)], axis=1) * away[:, None]
    ahead = directions(base.middle[None])[0]
    east = np.cross(ahead, [0.3, 0.5, 0.8])
    east /= np.linalg.norm(east)
    across = spread[:, :1] * east + spread[:, 1:] * np.cross(ahead, east)
    far = np.linalg.norm(across, axis=1, keepdims=True)
    return SwingPolygon(base.middle, swings_of(np.cos(far) * ahead + np.sin(far) * across / far))


def gnomonic(polygon: SwingPolygon, swings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points on the plane that touches the sphere at the middle: there, arcs of great circles are straight."""
    ahead = directions(polygon.middle[None])[0]
    east = np.cross(ahead, [0.0, 0.6, 0.8])
    east /= np.linalg.norm(east)
    ways = directions(swings)
    depth = ways @ ahead
    flat = np.stack([ways @ east, ways @ np.cross(ahead, east)], axis=1) / depth[:, None]
    return flat, depth > 1e-6


@settings(max_examples=60, deadline=None)
@given(angles, angles)
def test_swings_and_directions_are_inverse(x: float, y: float) -> None:
    swing = np.array([[x, y]])
    if np.linalg.norm(swing) < math.pi - 1e-3:
        assert swings_of(directions(swing)) == pytest.approx(swing, abs=1e-6)
    assert np.linalg.norm(directions(swing)) == pytest.approx(1.0)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_a_polygon_holds_what_a_plane_polygon_of_its_projection_holds(seed: int) -> None:
    polygon, rng = star(seed), np.random.default_rng(seed)
    swings = polygon.middle + rng.uniform(-1.2, 1.2, (300, 2))
    corners, seen = gnomonic(polygon, polygon.corners)
    assert seen.all()
    plane = shapely.Polygon(corners)
    points, front = gnomonic(polygon, swings)
    inside = np.array([bool(f) and plane.contains(shapely.Point(p)) for p, f in zip(points, front, strict=True)])
    near = np.array([plane.exterior.distance(shapely.Point(p)) < 1e-6 for p in points])
    assert (polygon.hold(swings) == inside)[~near].all()
    assert 0 < inside.sum() < len(swings)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_kernels_and_plain_code_agree_and_the_ellipse_holds_the_polygon(seed: int) -> None:
    limb, polygon = find_limb(WALK.skeleton, "left_arm"), star(seed)
    limits, rng = replace(limb.limits, swing=polygon), np.random.default_rng(seed)
    q = np.zeros((400, 9))
    q[:, 3] = 0.5
    q[:, [SWING_X, SWING_Y]] = polygon.middle + rng.uniform(-1.2, 1.2, (400, 2))
    assert (limits.hold(q) == polygon.hold(q[:, :2])).all()
    row = polygon.ellipse()
    assert (np.sum(((polygon.outline() - row[:2]) / row[2:]) ** 2, axis=1) < 1.0).all()


def test_the_order_of_corners_does_not_matter_and_wrong_ones_are_told() -> None:
    square = np.array([[0.5, 0.5], [-0.5, 0.5], [-0.5, -0.5], [0.5, -0.5]])
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (200, 2))
    one, other = (SwingPolygon(np.zeros(2), corners) for corners in (square, square[::-1]))
    assert (one.hold(points) == other.hold(points)).all()
    for corners, words in (
        (square[:2], "3 corners or more"), (square[[0, 2, 1, 3]], "once around its middle"),
        (square + 0.9, "once around its middle"), (8.0 * square, "within 175 degrees"),
    ):  # fmt: skip
        with pytest.raises(LimbError, match=words):
            SwingPolygon(np.zeros(2), corners)
    with pytest.raises(LimbError, match="no limits of shape 'polygone'"):
        fit_limits(find_limb(WALK.skeleton, "left_arm"), [WALK], shape="polygone")


def test_limits_of_captures_hold_their_share_and_less_than_ellipses_do() -> None:
    clips = [PERSON.clips[name] for name in ("walk_forward", "wave", "cheer", "jog_forward", "crawl_forward")]
    limb = fit_limb(WALK.skeleton, "left_arm", clips)
    round_ones, polygons = fit_limits(limb, clips), fit_limits(limb, clips, shape="polygon")
    q = np.concatenate([limb.postures(clip) for clip in clips])
    for polygon, columns in ((polygons.swing, [SWING_X, SWING_Y]), (polygons.end, [END_X, END_Y])):
        assert polygon is not None
        assert polygon.hold(q[:, columns]).mean() >= 0.995
    grid = np.stack(np.meshgrid(*[np.linspace(-2.5, 2.5, 101)] * 2), axis=-1).reshape(-1, 2)
    rows = np.tile(np.median(q, axis=0), (len(grid), 1))
    rows[:, [SWING_X, SWING_Y]] = grid
    assert 0 < polygons.hold(rows).sum() < 0.8 * round_ones.hold(rows).sum()
    assert polygons.widened(q).hold(q).all()


def test_a_reach_keeps_a_polygon() -> None:
    limb = fit_limb(WALK.skeleton, "left_arm", [WALK])
    positions, turns = WALK.joint_transforms()
    starts, bases = limb.hanging(positions, turns)
    target = positions[0, limb.joints[2]] + [0.1, 0.05, 0.15]
    free = reach_posture(limb, starts[0], bases[0], target, turns[0, limb.joints[2]])
    around = np.array([[math.cos(a), math.sin(a)] for a in np.arange(6) * math.tau / 6])
    wide = SwingPolygon(free.posture[:2], free.posture[:2] + 0.2 * around)
    narrow = SwingPolygon(free.posture[:2] + 0.35, free.posture[:2] + 0.35 + 0.2 * around)
    kept = reach_posture(replace(limb, limits=replace(limb.limits, swing=wide)), starts[0], bases[0], target,
                         turns[0, limb.joints[2]])  # fmt: skip
    assert kept.posture == pytest.approx(free.posture)
    closed = replace(limb, limits=replace(limb.limits, swing=narrow))
    try:
        other = reach_posture(closed, starts[0], bases[0], target, turns[0, limb.joints[2]])
        assert narrow.hold(other.posture[None, :2])[0]
        assert abs(other.swivel - free.swivel) > 0.05
    except LimbError as problem:
        assert "limits" in str(problem)


def test_limbs_with_and_without_polygons_share_one_table() -> None:
    plain = [find_limb(WALK.skeleton, name) for name in ("right_arm", "left_arm")]
    limbs = [plain[0], replace(plain[1], limits=replace(plain[1].limits, swing=star(3)))]
    tables = _limit_tables(limbs)
    q = np.zeros((300, 9))
    q[:, [SWING_X, SWING_Y]] = star(3).middle + np.random.default_rng(1).uniform(-1.2, 1.2, (300, 2))
    for limb, table in zip(limbs, tables, strict=True):
        held = np.empty(len(q))
        all_within(read_only(table), read_only(q), held)
        assert ((held > 0.0) == limb.limits.hold(q)).all()
        assert 0 < held.sum() < len(q)


@needs_mocap
@pytest.mark.parametrize("name", ["bvh/69_68.bvh", "bvh_accad/Female1_A05_PickUpBox.bvh"])
def test_polygons_of_captured_arms_hold_what_was_captured(name: str) -> None:
    clip = load_clip(MOCAP / name)
    limb = fit_limb(clip.skeleton, "right_arm", [clip])
    polygons = fit_limits(limb, [clip], shape="polygon")
    assert polygons.hold(limb.postures(clip)).mean() > 0.97
    assert polygons.widened(limb.postures(clip)).hold(limb.postures(clip)).all()
