from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest

from gaitway.audit.natural.bands import BANDS
from gaitway.audit.natural.gait import gait_figures
from gaitway.audit.natural.upper_body import head_figures, standing_life
from gaitway.audit.natural.way import way_of
from gaitway.cast.person.gait.clips import locomotion_clips
from gaitway.cast.person.gait.hubs import hub
from gaitway.cast.person.gait.performing import perform
from gaitway.cast.person.gait.stride import NEUTRAL, SPEEDS, STATES
from gaitway.cast.person.styles import STYLES, Style
from gaitway.cast.recipes import CastClip
from gaitway.core import planar, rotations
from gaitway.core.errors import LibraryError
from gaitway.motion.clip import Clip
from gaitway.motion.limits import violations
from gaitway.performing.joins import mend_joins
from gaitway.take.tracks import assemble, lay_track

# Change of a joint's angular velocity from frame to frame [rad/s], 99.9th percentile of the ACCAD captures at 30 Hz.
CAPTURED_STEPS = {"Hips": 5.6, "Spine": 7.5, "Neck": 8.1, "Head": 7.3, "Shoulder": 7.8, "Arm": 9.7, "ForeArm": 11.7}
CAPTURED_STEPS |= {"Hand": 13.8, "UpLeg": 10.0, "Leg": 14.7, "Foot": 18.3, "ToeBase": 23.9}
TURNS = {"left": 1.0, "right": -1.0}


@cache
def entries(style: Style = NEUTRAL, seed: int = 1) -> dict[str, CastClip]:
    return {e.clip.name: e for e in locomotion_clips(style, seed)}


def allowed_steps(clip: Clip) -> np.ndarray:
    words = [n.removeprefix("Left").removeprefix("Right").rstrip("0123456789") for n in clip.skeleton.names]
    return np.array([CAPTURED_STEPS.get(w, 15.0) for w in words])


def spins(clip: Clip) -> np.ndarray:
    """Angular velocity of every joint from frame to frame [rad/s], (F-1, J, 3)."""
    q = clip.rotations
    return rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(q[:-1]), q[1:])) * clip.fps


def move_of(clip: Clip) -> np.ndarray:
    path = clip.planar_path()
    return planar.relative(path[0], path[-1])


NAMES = sorted(entries())


@pytest.mark.parametrize("name", NAMES)
def test_feet_stay_and_joints_keep_their_limits(name: str) -> None:
    clip = entries()[name].clip
    assert clip.contacts is not None
    points = clip.contact_positions()
    for k in range(6):
        on = clip.contacts[:, k]
        edges = np.flatnonzero(np.diff(np.concatenate([[0], on.astype(int), [0]]))).reshape(-1, 2)
        for a, b in edges:
            assert np.ptp(points[a:b, k], axis=0).max() < 0.002, (name, k, a)
    assert points[:, :6, 2].min() > -0.001
    assert violations(clip).max() < 2.0


@pytest.mark.parametrize("name", NAMES)
def test_nothing_pops(name: str) -> None:
    clip = entries()[name].clip
    steps = np.linalg.norm(np.diff(spins(clip), axis=0), axis=-1)
    assert (steps / allowed_steps(clip)).max() < 1.2
    assert np.abs(np.diff(clip.root_positions, 2, axis=0)).max() * clip.fps**2 < 25.0


@pytest.mark.parametrize("name", NAMES)
def test_clip_begins_and_ends_in_its_hubs(name: str) -> None:
    entry = entries()[name]
    for frame, state in ((0, entry.start), (-1, entry.end)):
        at, place = hub(state), entry.clip.planar_path()[frame]
        np.testing.assert_allclose(
            entry.clip.rotations[frame, 1:] * np.sign(entry.clip.rotations[frame, 1:, :1]),
            at.rotations[1:] * np.sign(at.rotations[1:, :1]),
            atol=1e-9,
        )
        assert entry.clip.root_positions[frame, 2] == pytest.approx(at.root[2], abs=1e-9)
        tilt = rotations.multiply(rotations.from_yaw(-place[2]), entry.clip.rotations[frame, 0])
        assert rotations.angle_between(tilt, at.rotations[0]) < 1e-6


def test_any_two_clips_that_share_a_state_join_smoothly() -> None:
    all_of = list(entries().values())
    ends = {e.clip.name: spins(e.clip)[[0, -1]] for e in all_of}
    allowed = allowed_steps(all_of[0].clip)
    for before, after in product(all_of, all_of):
        if before.end == after.start:
            jump = np.linalg.norm(ends[after.clip.name][0] - ends[before.clip.name][1], axis=-1)
            assert (jump / allowed).max() < 0.7, (before.clip.name, after.clip.name)


@pytest.mark.parametrize("gait", ["walk", "jog"])
@pytest.mark.parametrize("degrees", [15, 30, 45])
@pytest.mark.parametrize("side", TURNS)
def test_turns_are_exact(gait: str, degrees: int, side: str) -> None:
    dx, dy, turn = move_of(entries()[f"{gait}_{side}_{degrees}"].clip)
    assert turn == pytest.approx(TURNS[side] * np.radians(degrees), abs=1e-9)
    assert dx > 0.5
    assert np.sign(dy) == TURNS[side]


@pytest.mark.parametrize(("name", "state"), [("walk_forward", "walk"), ("jog_forward", "jog"), ("back_walk", "back")])
def test_straight_cycles_go_straight_at_nominal_speed(name: str, state: str) -> None:
    clip = entries()[name].clip
    dx, dy, turn = move_of(clip)
    assert abs(dy) < 1e-6
    assert abs(turn) < 1e-9
    assert dx / clip.duration == pytest.approx(SPEEDS[state], rel=1e-9)


def test_short_clips_are_shorter() -> None:
    for gait in ("walk", "jog"):
        short, whole = entries()[f"{gait}_short"].clip, entries()[f"{gait}_forward"].clip
        assert len(short) <= len(whole)
        assert move_of(short)[0] < 0.75 * move_of(whole)[0]


def test_who_walks_slower_for_a_cycle_does_not_step_faster() -> None:
    assert len(entries()["walk_short"].clip) == len(entries()["walk_forward"].clip)


def test_head_turns_before_the_body() -> None:
    clip = entries()["walk_left_45"].clip
    world = clip.joint_transforms()[1]
    gaze = rotations.rotate(world[:, clip.skeleton.index("Head")], np.array([1.0, 0.0, 0.0]))
    yaw = np.unwrap(np.arctan2(gaze[:, 1], gaze[:, 0]))
    half = np.radians(22.5)
    assert np.argmax(yaw - yaw[0] > half) + 2 <= np.argmax(clip.headings() - clip.headings()[0] > half)


def test_standing_is_alive_and_the_feet_are_not() -> None:
    clip = entries()["stand"].clip
    moved = np.ptp(clip.joint_positions(), axis=0).max(axis=1)
    names = clip.skeleton.names
    assert moved[names.index("Head")] > 0.01
    assert moved[names.index("LeftHand")] > 0.01
    assert moved[names.index("LeftFoot")] < 1e-4
    left, right = clip.joint_positions()[0][[names.index("LeftFoot"), names.index("RightFoot")]]
    assert abs(left[0] - right[0]) > 0.03  # nobody stands in perfect symmetry


@pytest.mark.parametrize("name", ["stop_walk", "stop_jog", "start_walk", "start_jog"])
def test_pelvis_does_not_drop_in_starts_and_stops(name: str) -> None:
    entry = entries()[name]
    gait = entry.end if entry.start == "stand" else entry.start
    cycle = entries()[f"{gait}_forward"].clip
    assert entry.clip.root_positions[:, 2].min() > cycle.root_positions[:, 2].min() - 0.045


@pytest.mark.slow
def test_same_seed_same_bytes_other_seed_other_motion() -> None:
    first, again = locomotion_clips(NEUTRAL, seed=4, takes=2), locomotion_clips(NEUTRAL, seed=4, takes=2)
    for a, b in zip(first, again, strict=True):
        assert a.clip.rotations.tobytes() == b.clip.rotations.tobytes()
    names = [e.clip.name for e in first]
    assert len(set(names)) == len(names)
    assert "walk_forward.1" in names
    takes = {e.clip.name: e.clip for e in first}
    one, other = (takes[name].rotations[:30] for name in ("walk_forward", "walk_forward.1"))
    apart = rotations.angle_between(one, other)
    assert 0.01 < apart.max() < 1.0


def test_step_length_and_cadence_are_those_of_people() -> None:
    walk, jog = entries()["walk_forward"].clip, entries()["jog_forward"].clip
    assert 1.6 < 2.0 / walk.duration < 2.1  # captured 1.8 (90% below 2.02) steps a second
    assert 0.65 < move_of(walk)[0] / 2.0 < 0.83
    assert 2.4 < 2.0 / jog.duration < 2.9
    assert 0.95 < move_of(jog)[0] / 2.0 < 1.3
    assert 0.025 < np.ptp(walk.root_positions[:, 2]) < 0.05
    assert 0.06 < np.ptp(jog.root_positions[:, 2]) < 0.12


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES, ids=lambda s: s.name)
def test_everybody_keeps_the_figures(style: Style) -> None:
    for entry in entries(style, 2).values():
        clip = entry.clip
        assert clip.contacts is not None
        both = clip.contacts[1:, :6] & clip.contacts[:-1, :6]
        slide = np.linalg.norm(np.diff(clip.contact_positions()[:, :6], axis=0), axis=-1)
        assert np.where(both, slide, 0.0).max() < 0.002, entry.clip.name
        assert violations(clip).max() < 2.0, entry.clip.name
        steps = np.linalg.norm(np.diff(spins(clip), axis=0), axis=-1)
        assert (steps / allowed_steps(clip)).max() < 1.5, entry.clip.name


def test_people_walk_recognisably_differently() -> None:
    """At least as far apart as captured people are: 40 mm a joint on average, and no two alike."""

    def shape(style: Style) -> np.ndarray:
        clip = perform("walk", "walk", "walk", style=style)
        local = clip.joint_positions() - clip.root_positions[:, None] * [1.0, 1.0, 0.0]
        phases = np.linspace(0.0, len(clip) - 1.0, 16)
        rows = local.reshape(len(clip), -1).T
        return np.stack([np.interp(phases, np.arange(len(clip)), row) for row in rows], axis=1).reshape(16, -1, 3)

    shapes = [shape(s) for s in STYLES]
    assert len(shapes) >= 8
    apart = [float(np.linalg.norm(a - b, axis=-1).mean()) for i, a in enumerate(shapes) for b in shapes[:i]]
    assert min(apart) > 0.02
    assert np.median(apart) > 0.035


@pytest.mark.parametrize("style", [NEUTRAL, *STYLES[:2]], ids=lambda s: s.name)
def test_the_pelvis_turns_no_farther_in_a_slow_jog_than_in_captured_runs(style: Style) -> None:
    band = next(band for band in BANDS if band.name == "jog_pelvis_yaw")
    for entry in locomotion_clips(style, behaviors=["jog_short", "walk_to_jog", "jog_to_walk"]):
        left, right = entry.clip.skeleton.require("left_hip", "right_hip")
        across = entry.clip.joint_positions()[:, left] - entry.clip.joint_positions()[:, right]
        yaw = np.degrees(np.unwrap(np.arctan2(across[:, 1], across[:, 0])))
        assert 5.0 < np.ptp(yaw) < band.high, entry.clip.name


def test_unknown_names_are_refused() -> None:
    assert set(STATES) == {"stand", "walk", "jog", "back"}
    with pytest.raises(LibraryError, match="no state 'swim'"):
        hub("swim")
    with pytest.raises(LibraryError, match="no style 'ada'"):
        Style.named("ada")
    assert Style.named("style-3") == STYLES[2]
    assert Style.draw(5) == Style.draw(5) != Style.draw(6)


@cache
def live_figures() -> dict[str, float]:
    """Figures of naturalness of a walk, a jog, turns and a stand of the mean person, by the bands' names and units."""
    names = ["walk_forward", "jog_forward", "walk_left_30", "stand"]
    takes = {name: [e.clip for e in locomotion_clips(takes=3, behaviors=[name])] for name in names}
    walk = takes["walk_forward"]
    out: dict[str, float] = {}
    for parts in (walk * 3, takes["jog_forward"] * 4, [*walk, *takes["walk_left_30"], *walk], takes["stand"]):
        clip = mend_joins(assemble([lay_track("ada", parts)], 30.0)).clip(0)
        positions, world = clip.joint_transforms()
        way = way_of(clip.root_positions)
        figures = {**gait_figures(clip, way, positions, world), **head_figures(clip, way, world)}
        if parts is takes["stand"]:
            figures["standing_life"] = standing_life(clip, way)
        out = {**figures, **out}
    return {name: value * (100.0 if name in HUNDREDTHS else 1.0) for name, value in out.items()}


HUNDREDTHS = ("step_width", "sway", "arm_difference")


@pytest.mark.parametrize(
    "name",
    ["step_width", "sway", "trunk_pitch", "head_nod", "arm_difference", "jog_pelvis_yaw", "standing_life", "head_speed",
     "head_speed_turning", "head_lead"],
)  # fmt: skip
def test_the_mean_person_is_as_lively_as_captured_ones(name: str) -> None:
    band = next(b for b in BANDS if b.name == name)
    assert band.low <= live_figures()[name] <= band.high
