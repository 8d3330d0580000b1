"""Every clip of every cast, held to the figures an animator would check. Shares no code with the generators."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from gaitway.cast.catalog import cast_names, load_cast
from gaitway.core import planar, rotations
from gaitway.library import Library
from gaitway.motion import Clip
from gaitway.motion.limits import joint_limits, violations

CASTS = ("person", "horse", "skateboarder")
GRAVITY = 9.81
# Change of angular velocity from one frame to the next [rad/s]: 99.9th percentile of the ACCAD captures at 30 Hz.
CAPTURED_STEPS = {
    "Hips": 5.6,
    "Spine": 7.5,
    "Neck": 8.1,
    "Head": 7.3,
    "Shoulder": 7.8,
    "Arm": 9.7,
    "ForeArm": 11.7,
    "Hand": 13.8,
    "UpLeg": 10.0,
    "Leg": 14.7,
    "Foot": 18.3,
    "ToeBase": 23.9,
}


@cache
def cast(name: str) -> Library:
    return load_cast(name)


def all_clips() -> list[tuple[str, str]]:
    return [(name, clip) for name in CASTS for clip in cast(name).clips]


def runs(flags: np.ndarray) -> list[tuple[int, int]]:
    """Half-open spans in which a flag is true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    return list(zip(edges[::2], edges[1::2], strict=True))


def slides(clip: Clip) -> list[tuple[float, str, int]]:
    """Largest horizontal distance [m] a point strays from where its contact began, with point and first frame."""
    assert clip.contacts is not None
    points = clip.contact_positions()
    found = []
    for k, point in enumerate(clip.skeleton.contact_points):
        if "wheel" in point.name:  # wheels roll
            continue
        for a, b in runs(clip.contacts[:, k]):
            away = np.linalg.norm(points[a:b, k, :2] - points[a, k, :2], axis=1).max()
            found.append((float(away), point.name, int(a)))
    return found


def angular_steps(clip: Clip) -> np.ndarray:
    """Change of each joint's angular velocity from frame to frame [rad/s], (F-2, J)."""
    q = clip.rotations
    turn = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(q[:-1]), q[1:])) * clip.fps
    return np.linalg.norm(np.diff(turn, axis=0), axis=-1)


def allowed_step(joint: str) -> float:
    word = joint.removeprefix("Left").removeprefix("Right").rstrip("0123456789")
    return CAPTURED_STEPS.get(word, 15.0)


def test_the_casts_are_these() -> None:
    assert set(CASTS) == set(cast_names())


@pytest.mark.parametrize(("name", "clip_name"), all_clips())
class TestEveryClip:
    def test_planted_points_do_not_slide(self, name: str, clip_name: str) -> None:
        worst = max(slides(cast(name).clips[clip_name]), default=(0.0, "", 0))
        assert worst[0] < 0.002, f"{worst[1]} slides {1000 * worst[0]:.1f} mm from frame {worst[2]}"

    def test_planted_points_keep_their_height(self, name: str, clip_name: str) -> None:
        clip = cast(name).clips[clip_name]
        assert clip.contacts is not None
        z = clip.contact_positions()[..., 2]
        for k, point in enumerate(clip.skeleton.contact_points):
            for a, b in runs(clip.contacts[:, k]):
                assert np.ptp(z[a:b, k]) < 0.003, f"{point.name} rises or sinks from frame {a}"

    def test_nothing_pops(self, name: str, clip_name: str) -> None:
        clip = cast(name).clips[clip_name]
        allowed = np.array([allowed_step(joint) for joint in clip.skeleton.names])
        share = angular_steps(clip) / allowed
        frame, joint = np.unravel_index(np.argmax(share), share.shape)
        assert share[frame, joint] < 1.0, f"{clip.skeleton.names[joint]} pops at frame {frame}"

    def test_rate_and_names(self, name: str, clip_name: str) -> None:
        clip = cast(name).clips[clip_name]
        assert clip.fps == 30.0
        assert clip.name == clip_name
        assert clip.skeleton is cast(name).skeleton


@pytest.mark.parametrize(("name", "clip_name"), [c for c in all_clips() if c[0] != "horse"])  # known for people only
def test_joint_limits(name: str, clip_name: str) -> None:
    clip = cast(name).clips[clip_name]
    over = violations(clip, joint_limits(clip.skeleton))
    frame, joint = np.unravel_index(np.argmax(over), over.shape)
    assert over[frame, joint] < 2.0, f"{clip.skeleton.names[joint]} is {over[frame, joint]:.1f} deg over at {frame}"


@pytest.mark.slow
@pytest.mark.parametrize("name", CASTS)
def test_every_declared_transition_is_invisible(name: str) -> None:
    """The last frame of a clip is the first of its followers, in place, pose and velocity."""
    library = cast(name)
    for behavior in library.graph.behaviors:
        followers = library.graph.followers(behavior.name)
        assert followers, f"{behavior.name} is a dead end"
        for before in (library.clips[c] for c in behavior.clips):
            for after in (library.clips[c] for f in followers for c in library.graph[f].clips):
                pair = f"{before.name} -> {after.name}"
                angle = rotations.angle_between(before.rotations[-1, 1:], after.rotations[0, 1:]).max()
                assert np.degrees(angle) < 0.5, f"{pair}: poses differ by {np.degrees(angle):.2f} deg"
                tilt = [
                    rotations.multiply(rotations.from_yaw(-h), q)
                    for q, h in (
                        (before.rotations[-1, 0], before.headings()[-1]),
                        (after.rotations[0, 0], after.headings()[0]),
                    )
                ]
                assert np.degrees(rotations.angle_between(*tilt)) < 0.5, f"{pair}: the root tilts differently"
                assert abs(over_ground(before, -1) - over_ground(after, 0)) < 0.003, f"{pair}: the root jumps"
                joint, share = worst_join_step(before, after)
                assert share < 0.35, f"{pair}: {joint} changes speed by {100 * share:.0f} % of what captures do"


def over_ground(clip: Clip, frame: int) -> float:
    """Height of the root over what the figure stands on [m]; a clip may end on a stair or on top of a block."""
    assert clip.contacts is not None
    touching = clip.contacts[frame]
    floor = clip.contact_positions()[frame, touching, 2].min() if touching.any() else 0.0
    return float(clip.root_positions[frame, 2] - floor)


def height_over_ground(clip: Clip, frame: int) -> float:
    """Of the root, over the lowest point that rests in that frame; stairs and blocks end on other ground."""
    assert clip.contacts is not None
    resting = clip.contact_positions()[frame, clip.contacts[frame], 2]
    return float(clip.root_positions[frame, 2] - (resting.min() if len(resting) else 0.0))


def worst_join_step(before: Clip, after: Clip) -> tuple[str, float]:
    """The joint whose angular velocity changes most across a join, and by how much of what captures allow."""
    speeds = []
    for q in (before.rotations[-2:], after.rotations[:2]):
        turn = rotations.multiply(rotations.conjugate(q[0]), q[1])
        speeds.append(rotations.to_rotation_vector(turn) * before.fps)
    change = np.linalg.norm(speeds[1] - speeds[0], axis=-1)
    # the motion itself changes speed within a frame too; only what exceeds that is the join's fault
    own = np.maximum(angular_steps(before)[-1], angular_steps(after)[0])
    share = (change - own) / np.array([allowed_step(joint) for joint in before.skeleton.names])
    worst = int(np.argmax(share))
    return before.skeleton.names[worst], float(share[worst])


@pytest.mark.parametrize(("name", "clip_name"), [c for c in all_clips() if "jump" in c[1] and "box" not in c[1]])
def test_flight_obeys_gravity(name: str, clip_name: str) -> None:
    clip = cast(name).clips[clip_name]
    assert clip.contacts is not None
    flights = [(a, b) for a, b in runs(~clip.contacts.any(axis=1)) if b - a >= 7]
    assert flights, "a jump without flight"
    for a, b in flights:
        t = np.arange(b - a) / clip.fps
        curve = np.polyfit(t, clip.root_positions[a:b, 2], 2)
        assert abs(-2 * curve[0] - GRAVITY) < 1.0
        assert np.abs(np.polyval(curve, t) - clip.root_positions[a:b, 2]).max() < 0.02


def test_turns_turn_by_what_they_say() -> None:
    library = cast("person")
    for gait in ("walk", "jog"):
        for side, sign in (("left", 1), ("right", -1)):
            for degrees in (15, 30, 45):
                path = library.clips[f"{gait}_{side}_{degrees}"].planar_path()
                assert np.degrees(path[-1, 2] - path[0, 2]) == pytest.approx(sign * degrees, abs=1.0)


def test_left_and_right_turns_mirror_each_other() -> None:
    library = cast("person")
    for gait in ("walk", "jog"):
        moves = []
        for side in ("left", "right"):
            path = library.clips[f"{gait}_{side}_30"].planar_path()
            moves.append(planar.relative(path[0], path[-1]))
        assert moves[0][0] == pytest.approx(moves[1][0], rel=0.15)
