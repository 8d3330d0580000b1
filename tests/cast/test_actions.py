"""The person's special motions: what they pass, how they fly, and that takes differ by their seeds alone."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from gaitway.cast.masses import centre_of_mass
from gaitway.cast.person.actions import jumps
from gaitway.cast.person.actions.clips import (
    CRAWL_CLEARANCE,
    CROUCH_CLEARANCE,
    CROUCH_DEPTH,
    DIP_CLEARANCE,
    DUCK_CLEARANCE,
    DUCK_DEPTH,
    DUCKS,
    HURDLE_DEPTH,
    HURDLE_HEIGHT,
    JUMP_DEPTH,
    JUMP_HEIGHT,
    JUMPS,
    STOOP_CLEARANCE,
    action_clips,
    joined,
)
from gaitway.cast.person.actions.crawling import crawl_hub
from gaitway.cast.person.actions.ducking import body_tops
from gaitway.cast.person.actions.model import LEAP_EVENTS, action_model
from gaitway.cast.person.gait.hubs import hub
from gaitway.cast.person.gait.stride import FPS
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.cast.person.styles import Style
from gaitway.cast.recipes import CastClip
from gaitway.core import rotations
from gaitway.motion.clip import Clip

BEAMS = {
    "crouch": (CROUCH_DEPTH, CROUCH_CLEARANCE),
    "dip": (DUCK_DEPTH, DIP_CLEARANCE),
    "stoop": (DUCK_DEPTH, STOOP_CLEARANCE),
}
QUICK = (*JUMPS, *DUCKS, "crawl_forward", "wave", "cheer", "breast_stroke")


@cache
def entry(behavior: str, take: int = 0) -> CastClip:
    name = f"{behavior}.{take}" if take else behavior
    return ways(behavior, take)[name]


@cache
def ways(behavior: str, take: int = 0) -> dict[str, CastClip]:
    """All clips of a behaviour, by name."""
    return {made.clip.name: made for made in action_clips(takes=take + 1, behaviors=[behavior])}


def place_at(entry: CastClip) -> float:
    """Where along x the root is when the clip passes its obstacle [m]."""
    assert entry.pass_time is not None
    clip = entry.clip
    return float(np.interp(entry.pass_time * clip.fps, np.arange(len(clip)), clip.root_positions[:, 0]))


def test_only_what_is_asked_for_is_made() -> None:
    made = action_clips(behaviors=["wave", "nothing"], takes=3)
    assert [e.clip.name for e in made] == ["wave", "wave.1", "wave.2"]
    assert {e.behavior for e in made} == {"wave"}


@pytest.mark.parametrize("joint", ["LeftShoulder", "RightShoulder"])
def test_clavicles_of_a_leap_sink_and_rise_the_same_in_short_and_long_flights(joint: str) -> None:
    # one capture alone shows them: how they change with the flight, nobody knows
    times, j = (
        np.arange(LEAP_EVENTS["previous_takeoff"], LEAP_EVENTS["push_off"], 1.0 / FPS),
        person_skeleton().index(joint),
    )
    short, long = (action_model().leap(times, flight, np.array([0.5, -0.5]))[:, j] for flight in (0.3, 0.52))
    np.testing.assert_allclose(short, long, atol=1e-12)
    turn = rotations.to_rotation_vector(short)
    assert 4.0 < np.degrees(np.ptp(turn, axis=0).max()) < 12.0
    assert np.linalg.norm(np.diff(turn, 2, axis=0), axis=1).max() * FPS < 0.6  # it was 2 rad/s, a twitch


@pytest.mark.parametrize("behavior", QUICK)
def test_same_seed_same_bytes(behavior: str) -> None:
    again = action_clips(behaviors=[behavior])[0].clip
    first = entry(behavior).clip
    assert first.rotations.tobytes() == again.rotations.tobytes()
    assert first.root_positions.tobytes() == again.root_positions.tobytes()


@pytest.mark.parametrize("behavior", QUICK)
def test_takes_differ(behavior: str) -> None:
    one, two = entry(behavior).clip, entry(behavior, 1).clip
    count = min(len(one), len(two))
    apart = np.degrees(rotations.angle_between(one.rotations[:count], two.rotations[:count]))
    assert apart.max() > 2.0
    assert apart[0].max() < 1e-6


@pytest.mark.parametrize("behavior", [*JUMPS, *DUCKS, "wave", "cheer", "breast_stroke"])
def test_ends_are_the_hubs(behavior: str) -> None:
    made = entry(behavior)
    for frame, state in ((0, made.start), (-1, made.end)):
        at = hub(state)
        np.testing.assert_allclose(made.clip.root_positions[frame, 2], at.root[2], atol=1e-12)
        assert rotations.angle_between(made.clip.rotations[frame], at.rotations).max() < 1e-9


@pytest.mark.parametrize("behavior", JUMPS)
@pytest.mark.parametrize("take", [0, 1])
def test_legs_pass_over_the_bar(behavior: str, take: int) -> None:
    made = entry(behavior, take)
    assert made.obstacle == "jump"
    height, depth = (HURDLE_HEIGHT, HURDLE_DEPTH) if behavior == "hurdle" else (JUMP_HEIGHT, JUMP_DEPTH)
    middle = place_at(made)
    points = made.clip.contact_positions()[:, :6].reshape(-1, 3)  # soles of both feet
    over = np.abs(points[:, 0] - middle) <= 0.5 * depth
    assert over.any()
    assert points[over, 2].min() >= height


HIGHEST_HIPS = 1.45
"""Highest hips of any captured leap [m]."""


@pytest.mark.parametrize("behavior", JUMPS)
@pytest.mark.parametrize("take", [0, 1])
def test_nobody_leaps_higher_than_captured_people(behavior: str, take: int) -> None:
    assert entry(behavior, take).clip.root_positions[:, 2].max() < HIGHEST_HIPS


def test_a_hurdle_is_lower_and_shorter_than_a_jump() -> None:
    low, high = entry("hurdle").clip, entry("jump").clip
    assert low.root_positions[:, 2].max() < high.root_positions[:, 2].max() - 0.08
    assert low.duration < high.duration


@pytest.mark.parametrize("behavior", ["hurdle", "long_jump"])
def test_attempts_that_are_given_up_would_have_failed(behavior: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jumps, "_DOUBT", np.inf)
    patient = action_clips(behaviors=[behavior])[0].clip
    assert patient.rotations.tobytes() == entry(behavior).clip.rotations.tobytes()


def test_the_last_attempt_is_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    high = replace(JUMPS["jump"], clears=9.0)
    monkeypatch.setattr(jumps, "_TRIES", 1)
    rough, _ = jumps.leap_clip("jump", high, Style())
    monkeypatch.setattr(jumps, "_DOUBT", np.inf)
    finished, _ = jumps.leap_clip("jump", high, Style())
    assert rough.rotations.tobytes() == finished.rotations.tobytes()


@pytest.mark.parametrize("behavior", JUMPS)
def test_centre_of_mass_falls_freely(behavior: str) -> None:
    clip = entry(behavior).clip
    air = flight(clip)
    mass = centre_of_mass(clip.skeleton, clip.root_positions, clip.rotations)[air]
    pull = np.diff(mass, 2, axis=0) * clip.fps**2
    np.testing.assert_allclose(pull[:, 2], -9.81, atol=0.1)
    np.testing.assert_allclose(pull[:, :2], 0.0, atol=0.1)


def test_long_jump_spans_two_metres() -> None:
    clip = entry("long_jump").clip
    air = flight(clip)
    points, contacts = clip.contact_positions()[:, :6, 0], clip.contacts
    assert contacts is not None
    off = points[air.start - 1][contacts[air.start - 1, :6]].max()
    on = points[air.stop][contacts[air.stop, :6]].min()
    assert on - off > 2.0


def flight(clip: Clip) -> slice:
    """The longest run of frames without contact."""
    assert clip.contacts is not None
    free = np.concatenate([[0], (~clip.contacts.any(axis=1)).astype(int), [0]])
    edges = np.flatnonzero(np.diff(free)).reshape(-1, 2)
    a, b = max(edges, key=lambda e: e[1] - e[0])
    assert b - a >= 10
    return slice(int(a), int(b))


@pytest.mark.parametrize("behavior", DUCKS)
@pytest.mark.parametrize("take", [0, 1])
def test_body_passes_under_the_beam(behavior: str, take: int) -> None:
    made = entry(behavior, take)
    assert made.obstacle == "duck"
    depth, clearance = BEAMS.get(behavior, (DUCK_DEPTH, DUCK_CLEARANCE))
    assert clearance - 0.15 < highest_under(made, depth) < clearance


@pytest.mark.parametrize("behavior", DUCKS)
def test_ways_to_duck_differ_in_trunk_and_arms_alone(behavior: str) -> None:
    """Planners may play any of them in place of another: the same steps, the same time, and under the same beam."""
    usual, *others = ways(behavior).values()
    assert len(others) >= 2
    depth, clearance = BEAMS.get(behavior, (DUCK_DEPTH, DUCK_CLEARANCE))
    low = round(usual.pass_time * FPS)  # type: ignore[operator]
    joints = usual.clip.skeleton.require("chest", "head", "left_elbow", "right_elbow")
    poses = [usual.clip.joint_transforms()[1][low, list(joints)]]
    for other in others:
        assert (other.start, other.end, other.obstacle) == (usual.start, usual.end, usual.obstacle)
        assert len(other.clip) == len(usual.clip)
        np.testing.assert_array_equal(other.clip.planar_path()[-1], usual.clip.planar_path()[-1])
        assert highest_under(replace(other, pass_time=usual.pass_time), depth) < clearance
        for frame in (0, -1):
            np.testing.assert_array_equal(other.clip.rotations[frame], usual.clip.rotations[frame])
        pose = other.clip.joint_transforms()[1][low, list(joints)]
        assert all(np.degrees(rotations.angle_between(pose, seen)).max() > 10.0 for seen in poses)
        poses.append(pose)


@pytest.mark.parametrize(("behavior", "metres"), [("duck", 1.1), ("dip", 1.1), ("duck_jog", 1.7), ("stoop", 1.1)])
def test_a_duck_is_a_dip_at_the_beam(behavior: str, metres: float) -> None:
    made = entry(behavior)
    clip = made.clip
    head = clip.joint_positions()[:, clip.skeleton.index("HeadTop_End"), 2]
    bent = np.flatnonzero(head < head[0] - 0.1)
    assert place_at(made) - clip.root_positions[bent[0], 0] < metres
    assert np.count_nonzero(head < 0.5 * (head[0] + head.min())) / clip.fps < 0.95


@pytest.mark.parametrize("behavior", DUCKS)
def test_trunk_and_head_live_while_low(behavior: str) -> None:
    """As fast as captured people who walk or run bent do, in the second around the beam [deg/s].

    The head of who stoops stays as level as that of who walks upright.
    """
    made = entry(behavior)
    assert made.pass_time is not None
    middle, world = round(made.pass_time * made.clip.fps), made.clip.joint_transforms()[1]
    for joint in ("Spine2", "Head"):
        turned = world[middle - 8 : middle + 9, made.clip.skeleton.index(joint)]
        speed = np.degrees(rotations.angle_between(turned[1:], turned[:-1])) * made.clip.fps
        assert speed.mean() > (15.0 if (behavior, joint) == ("stoop", "Head") else 25.0)


def highest_under(made: CastClip, depth: float) -> float:
    points, tops = body_tops(made.clip)
    below = np.abs(points[..., 0] - place_at(made)) <= 0.5 * depth
    return float((points[..., 2] + tops)[below].max())


def test_styles_differ_and_still_pass() -> None:
    made = action_clips(Style.draw(4), behaviors=["duck"])[0]
    assert highest_under(made, DUCK_DEPTH) < DUCK_CLEARANCE
    assert np.abs(made.clip.rotations[0] - entry("duck").clip.rotations[0]).max() > 1e-3


def test_crawl_cycle_closes() -> None:
    clip = entry("crawl_forward").clip
    root, pose = crawl_hub()
    for frame in (0, -1):
        assert np.degrees(rotations.angle_between(clip.rotations[frame], pose).max()) < 0.5
        assert clip.root_positions[frame, 2] == pytest.approx(root[2], abs=1e-3)
    assert clip.root_positions[-1, 0] > 0.4


def test_crawling_stays_low() -> None:
    points, tops = body_tops(entry("crawl_forward").clip)
    assert (points[..., 2] + tops).max() < CRAWL_CLEARANCE


@pytest.mark.slow
def test_crawl_under_is_its_three_parts() -> None:
    made = entry("crawl_under")
    assert made.obstacle == "crawl"
    assert highest_under(made, depth=0.5) < CRAWL_CLEARANCE
    stand = hub("stand")
    for frame in (0, -1):
        assert rotations.angle_between(made.clip.rotations[frame], stand.rotations).max() < 1e-9


def test_joined_clips_continue_where_the_last_one_ended() -> None:
    one = entry("crawl_forward").clip
    both = joined([one, one], "twice")
    assert len(both) == 2 * len(one) - 1
    way = one.root_positions[-1, 0] - one.root_positions[0, 0]
    assert both.root_positions[-1, 0] - both.root_positions[0, 0] == pytest.approx(2 * way)
    assert np.abs(np.diff(both.root_positions[:, 0])).max() < 0.05


@pytest.mark.parametrize("behavior", ["wave", "cheer", "breast_stroke"])
def test_gestures_move_the_hands_and_leave_the_feet(behavior: str) -> None:
    clip = entry(behavior).clip
    positions = clip.joint_positions()
    hands = positions[:, clip.skeleton.require("left_wrist", "right_wrist")]
    assert np.ptp(hands[..., 2], axis=0).max() > 0.4
    balls = clip.contact_positions()[:, [1, 4]]
    assert np.ptp(balls, axis=0).max() < 0.002
