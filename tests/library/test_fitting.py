"""Clips fitted to flights and blocks: feet on treads, nothing through an edge, and ends that join every walk."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.audit import audit_take
from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.errors import LibraryError
from gaitway.library import BehaviorGraph, Library, check_graph, check_joins
from gaitway.library.fitting.blocks import HEIGHTS, Block, block_heights, fitted_block
from gaitway.library.fitting.extending import fitted_library
from gaitway.library.fitting.fitted_clip import FittedClip
from gaitway.library.fitting.flights import DIRECTIONS, RISES, RUNS, Flight, fitted_flight, flight_profile
from gaitway.library.fitting.footholds import footholds, moved_to
from gaitway.motion import Clip, capsule_body, capsules, foot_slide, violations
from gaitway.motion.formats import load_clip
from gaitway.motion.quality import usual_velocity_changes, velocity_changes
from gaitway.take.tracks import assemble, lay_track
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box, Stairs
from gaitway.world.world import World
from knees import knee_angles, knee_speeds
from shared_data import MOCAP, needs_mocap

CORNERS = [(run, rise) for run in RUNS for rise in RISES]
FLIGHTS = st.builds(Flight, st.integers(1, 20), st.floats(*RUNS), st.floats(*RISES))


@cache
def person(style: str = "neutral") -> Library:
    return load_cast("person", style=style)


@cache
def usual() -> np.ndarray:
    """Velocity changes that are usual in the library [rad/s], and of its root [m/s]; (J + 1,)."""
    return usual_velocity_changes(list(person().clips.values()), least_joint=0.5, least_root=0.05)


def through_edges(fitted: FittedClip, flight: Flight, direction: str) -> float:
    """How far a shin or a foot is within the steps, seen from the side [m]: rings about their bones."""
    clip, ground = fitted.clip, flight_profile(flight, direction, fitted.edge)
    body, deepest = capsule_body(clip.skeleton), 0.0
    circle = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
    for k, name in enumerate(body.names):
        if name.rpartition("_")[2] in ("knee", "foot", "toes"):
            ends = capsules(clip, body)[:, k]
            bone = ends[:, :1] + np.linspace(0.0, 1.0, 7)[:, None] * (ends[:, 1:] - ends[:, :1])
            x = bone[..., 0, None] + body.radii[k] * np.cos(circle)
            z = bone[..., 2, None] + body.radii[k] * np.sin(circle)
            share = (x - fitted.edge) / flight.run
            beside = np.abs(share - np.round(share)) * flight.run
            deepest = max(deepest, float(np.minimum(ground(x) - z, beside).max()))
    return deepest


def check_flight(library: Library, flight: Flight, direction: str) -> None:
    fitted = fitted_flight(library, flight, direction)
    clip, sign = fitted.clip, 1.0 if direction == "up" else -1.0
    assert clip.contacts is not None
    levels = []
    for hold in footholds(clip):
        level = round(abs(hold.height) / flight.rise)
        levels.append(level)
        assert hold.height == pytest.approx(sign * level * flight.rise, abs=1e-6)
        behind = fitted.edge + (level - 1) * flight.run if level > 0 else -np.inf
        ahead = fitted.edge + level * flight.run if level < flight.steps else np.inf
        assert max(behind - hold.heel, hold.toe - ahead) <= hold.length / 3.0
        if direction == "up":  # nothing to stand in the way of the toes; going down, none behind the heel
            assert hold.toe <= ahead - 0.015
        else:
            assert hold.heel >= behind + 0.03
    assert sorted(set(levels)) == list(range(flight.steps + 1)), "a foot on every tread"
    assert foot_slide(clip, ("heel", "ball", "toe")).max() < 0.005
    assert through_edges(fitted, flight, direction) < 0.01
    assert violations(clip).max() < 2.0
    assert np.degrees(knee_angles(clip)).max() < 120.0
    assert knee_speeds(clip).max() < 12.0
    assert (velocity_changes(clip) / usual()).max() < 1.5
    assert fitted.rise == pytest.approx(sign * flight.steps * flight.rise)
    assert fitted.approach > 1.2
    assert fitted.leave > 1.2
    assert 0.0 < fitted.lift_s < fitted.pass_time < fitted.land_s < clip.duration


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_few_steps(steps: int, direction: str) -> None:
    check_flight(person(), Flight(steps, 0.29, 0.17), direction)


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("steps", range(1, 15))
def test_any_number_of_steps(steps: int, direction: str) -> None:
    for run, rise in CORNERS:
        check_flight(person(), Flight(steps, run, rise), direction)


@pytest.mark.slow
@given(FLIGHTS)
@settings(max_examples=200, deadline=None)
def test_stairs_of_random_geometries(flight: Flight) -> None:
    for direction in DIRECTIONS:
        check_flight(person(), flight, direction)


@pytest.mark.slow
@pytest.mark.parametrize("style", ["style-1", "style-4"])
def test_other_people(style: str) -> None:
    library = person(style)
    for direction in DIRECTIONS:
        for run, rise in CORNERS:
            clip = fitted_flight(library, Flight(5, run, rise), direction).clip
            assert foot_slide(clip, ("heel", "ball", "toe")).max() < 0.005
            assert violations(clip).max() < 2.0


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_both_ends_are_the_walk_to_the_last_bit(direction: str) -> None:
    library = person()
    fitted = fitted_flight(library, Flight(4, 0.25, 0.19), direction)
    walk = library.clips["walk_forward"]
    assert (fitted.start, fitted.end) == ("walk", "walk")
    np.testing.assert_allclose(fitted.clip.planar_path()[0], 0.0, atol=1e-9)
    np.testing.assert_allclose(fitted.clip.planar_path()[-1, 1:], 0.0, atol=1e-9)
    for frame, height in ((0, 0.0), (-1, fitted.rise)):
        assert rotations.angle_between(fitted.clip.rotations[frame], walk.rotations[frame]).max() < 1e-6
        assert fitted.clip.root_positions[frame, 2] - height == pytest.approx(walk.root_positions[frame, 2], abs=1e-6)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_clips_own_flight_is_hardly_changed(direction: str) -> None:
    """A flight of the measures that the clips were made for keeps their pose."""
    library = person()
    clip = fitted_flight(library, Flight(3, 0.29, 0.17), direction).clip
    start, stop = (library.clips[f"{part}_stairs_{direction}"] for part in ("start", "stop"))
    assert len(clip) == len(start) + len(stop) - 1
    same = clip.rotations[: len(start)], start.rotations
    assert rotations.angle_between(*same).max() < np.radians(6.0)


def test_speed_along_the_slope() -> None:
    for direction in DIRECTIONS:
        for run, rise in CORNERS:
            flight = Flight(12, run, rise)
            fitted = fitted_flight(person(), flight, direction)
            speed = flight.steps * np.hypot(run, rise) / (fitted.land_s - fitted.lift_s)
            assert 0.38 < speed < 0.65


@needs_mocap
@pytest.mark.slow
def test_knees_keep_the_range_of_a_captured_flight() -> None:
    captured = np.degrees(knee_angles(load_clip(MOCAP / "bvh" / "13_35.bvh")))
    for run, rise in CORNERS:
        for direction in DIRECTIONS:
            bent = np.degrees(knee_angles(fitted_flight(person(), Flight(5, run, rise), direction).clip))
            assert bent.max() < captured.max()
            assert bent.min() > captured.min() - 2.0


def flight_world(fitted: FittedClip, flight: Flight, direction: str) -> tuple[World, float]:
    """The flight as obstacles that are stood on, and the height that the clip begins at."""
    length, top = flight.steps * flight.run, flight.steps * flight.rise
    if direction == "up":
        stairs = Stairs((fitted.edge + 0.5 * length, 0.0), 3.0, flight.steps, flight.rise, flight.run)
        floor = Box((fitted.edge + length + 5.0, 0.0), (10.0, 3.0), top)
    else:  # its highest step is level with the upper floor
        middle = fitted.last_edge + 0.5 * length - length
        stairs = Stairs((middle, 0.0), 3.0, flight.steps, flight.rise, flight.run, np.pi)
        floor = Box((middle - 0.5 * length - 5.0, 0.0), (10.0, 3.0), top)
    world = World((-20.0, -9.0, 30.0, 9.0), tuple(Obstacle(shape, "stairs") for shape in (stairs, floor)))
    return world, 0.0 if direction == "up" else top


def check_audit(flight: Flight, direction: str) -> None:
    """Walk on, over the flight, and stop: the audit finds nothing wrong."""
    library, names = fitted_library(person(), [flight])
    fitted = names[f"stairs_{direction}_{flight.label}"]
    world, height = flight_world(fitted, flight, direction)
    clips = [library.clips[name] for name in ("start_walk", fitted.name, "stop_walk")]
    ahead = clips[0].planar_path()[-1, 0] - clips[0].planar_path()[0, 0]
    side = clips[0].planar_path()[-1, 1] - clips[0].planar_path()[0, 1]
    take = assemble([lay_track("ada", clips, (-ahead, -side, 0.0), height=height)])
    report = audit_take(take, world)
    assert report.ok, report.table()


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("run", "rise"), CORNERS)
def test_the_audit_finds_nothing(run: float, rise: float, direction: str) -> None:
    for steps in (1, 4, 7):
        check_audit(Flight(steps, run, rise), direction)


@pytest.mark.slow
@given(FLIGHTS, st.sampled_from(DIRECTIONS))
@settings(max_examples=30, deadline=None)
def test_the_audit_finds_nothing_on_random_flights(flight: Flight, direction: str) -> None:
    check_audit(flight, direction)


def _deepest(fitted: FittedClip) -> float:
    """Return how deep any capsule of a body is in the block that a clip leads onto or down from [m]."""
    clip, body = fitted.clip, capsule_body(fitted.clip.skeleton)
    positions, turns = clip.joint_transforms()
    ends = [positions[:, body.joints] + rotations.rotate(turns[:, body.joints], e) for e in (body.starts, body.ends)]
    deepest = 0.0
    for share in np.linspace(0.0, 1.0, 9):
        points = ends[0] + share * (ends[1] - ends[0])
        beside = fitted.edge - points[..., 0] if fitted.rise > 0.0 else points[..., 0] - fitted.edge
        above = points[..., 2] - max(fitted.rise, 0.0)
        apart = np.hypot(np.maximum(beside, 0.0), np.maximum(above, 0.0))
        out = np.where((beside > 0.0) | (above > 0.0), apart, np.maximum(beside, above))
        deepest = max(deepest, float((body.radii - out).max()))
    return deepest


class TestBlocks:
    @pytest.mark.parametrize(("kind", "direction"), HEIGHTS)
    def test_all_heights_in_range(self, kind: str, direction: str) -> None:
        library, sign = person(), 1.0 if direction == "up" else -1.0
        low, high = block_heights(library, kind, direction)
        for height in np.linspace(low, high, 5):
            fitted = fitted_block(library, kind, float(height), direction)
            clip = fitted.clip
            assert clip.contacts is not None
            feet = np.array(["hand" not in point.name for point in clip.skeleton.contact_points])
            for points, most in ((feet, 0.005), (~feet, 0.01)):
                resting = clip.contact_positions()[:, points][..., 2][clip.contacts[:, points]]
                assert np.minimum(np.abs(resting), np.abs(resting - sign * height)).max(initial=0.0) < most
            assert _deepest(fitted) < 0.01
            assert foot_slide(clip, ("heel", "ball", "toe", "hand")).max() < 0.005
            assert violations(clip).max() < 2.0
            assert (velocity_changes(clip) / usual()).max() < 1.6
            assert fitted.rise == pytest.approx(sign * height)

    def test_the_clips_own_height_is_the_clip(self) -> None:
        library = person()
        for kind, direction, name in (("climb", "up", "climb_up"), ("box", "up", "jump_on_box")):
            source = library.clips[name]
            height = 0.95 if kind == "climb" else 0.45
            clip = fitted_block(library, kind, height, direction).clip
            arms = [k for k, joint in enumerate(clip.skeleton.names) if "Arm" in joint or "Hand" in joint]
            turned = rotations.angle_between(clip.rotations, source.rotations)
            assert np.delete(turned, arms, axis=1).max() < np.radians(6.0)
            assert turned.max() < np.radians(40.0)  # palms lie flat on the block

    @pytest.mark.parametrize(
        ("kind", "height", "direction", "words"),
        [
            ("climb", 1.2, "up", r"a block of 1.2 m; library 'person' climbs up blocks of 0.84 to 0.97 m"),
            ("climb", 0.2, "down", r"climbs down blocks of 0.44 to 1.0\d m"),
            ("box", 0.8, "up", r"jumps onto blocks of 0.29 to 0.47 m"),
            ("fence", 0.8, "up", r"no clip leads up a block of kind 'fence'"),
            ("box", 0.4, "left", r"no clip leads left"),
        ],
    )
    def test_refused(self, kind: str, height: float, direction: str, words: str) -> None:
        with pytest.raises(LibraryError, match=words) as caught:
            fitted_block(person(), kind, height, direction)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("steps", "run", "rise", "words"),
    [
        (0, 0.29, 0.17, "a flight of 0 steps; write a whole number from 1"),
        (-3, 0.29, 0.17, "-3 steps"),
        (2.5, 0.29, 0.17, "2.5 steps"),
        (float("nan"), 0.29, 0.17, "nan steps"),
        (10_000, 0.29, 0.17, "10000 steps"),
        (5, 0.20, 0.17, r"treads of 0.2 m; clips are fitted to treads of 0.24 to 0.34 m"),
        (5, 0.4, 0.17, "treads of 0.4 m"),
        (5, float("nan"), 0.17, "treads of nan m"),
        (5, 0.29, 0.25, r"risers of 0.25 m; clips are fitted to risers of 0.13 to 0.2 m"),
        (5, 0.29, -0.17, "risers of -0.17 m"),
    ],
)
def test_a_flight_that_nobody_climbs(steps: float, run: float, rise: float, words: str) -> None:
    with pytest.raises(LibraryError, match=words) as caught:
        Flight(steps, run, rise)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_what_a_library_lacks_is_said() -> None:
    library = person()
    bare = Library("bare", library.skeleton, {}, BehaviorGraph(()))
    with pytest.raises(LibraryError, match="library 'bare' has no clips of kind 'stairs_up'"):
        fitted_flight(bare, Flight(3, 0.29, 0.17), "up")
    with pytest.raises(LibraryError, match="direction 'sideways' of a flight; write 'up' or 'down'"):
        fitted_flight(library, Flight(3, 0.29, 0.17), "sideways")
    with pytest.raises(LibraryError, match="library 'bare' has no clip of kind 'climb' that leads up"):
        fitted_block(bare, "climb", 0.9, "up")
    for kind, height, words in (("cube", 1.0, "kind 'cube'"), ("box", -1.0, "height -1.0 m"), ("box", np.nan, "nan")):
        with pytest.raises(LibraryError, match=words):
            Block(kind, height)


def test_a_library_keeps_what_it_has_and_gets_more() -> None:
    library = person()
    flights = [Flight(3, 0.29, 0.17), Flight(2, 0.3, 0.15), Flight(3, 0.29, 0.17)]
    more, names = fitted_library(library, flights, [Block("box", 0.45), Block("climb", 1.03)])
    assert list(names) == [
        *("stairs_up_3x290x170", "stairs_down_3x290x170", "stairs_up_2x300x150", "stairs_down_2x300x150"),
        *("box_up_450", "box_down_450", "climb_down_1030"),
    ]
    assert more.graph.behaviors[: len(library.graph.behaviors)] == library.graph.behaviors
    assert all(more.clips[name] is clip for name, clip in library.clips.items())
    assert not check_graph(more)
    worst = max((j for j in check_joins(more) if {j.before, j.after} & set(names)), key=lambda j: j.angle)
    assert worst.angle < 1e-5
    with pytest.raises(LibraryError, match="has a 'stairs_up_3x290x170' already"):
        fitted_library(more, flights)


def test_the_same_from_the_cache(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAITWAY_CACHE", str(tmp_path))
    flights = [Flight(steps, 0.28, 0.16) for steps in (5, 6, 7)]
    (_, made), (_, found) = fitted_library(person(), flights), fitted_library(person(), flights)
    assert list(made) == list(found)
    for name, one in made.items():
        np.testing.assert_array_equal(one.clip.rotations, found[name].clip.rotations)
        np.testing.assert_array_equal(one.clip.contacts, found[name].clip.contacts)
        assert (one.edge, one.rise, one.pass_time, one.kind) == (
            *(found[name].edge, found[name].rise, found[name].pass_time, found[name].kind),
        )


def test_footholds_that_stay_change_nothing() -> None:
    clip: Clip = person().clips["walk_forward"]
    holds = footholds(clip)
    same = moved_to(clip, holds, np.zeros((len(holds), 3)))
    np.testing.assert_allclose(same.rotations, clip.rotations, atol=1e-12)
    np.testing.assert_allclose(same.root_positions, clip.root_positions, atol=1e-12)
