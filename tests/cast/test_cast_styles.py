"""Every person of the cast, in two takes of everything, held to nearly the figures of the mean one."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast, style_names
from gaitway.core import rotations
from gaitway.library import Library
from gaitway.motion import Clip
from gaitway.motion.anatomy import upper_joints
from gaitway.motion.limits import joint_limits, violations

pytestmark = pytest.mark.slow
STYLES = [name for name in style_names() if name != "neutral"]
OTHER_GROUND = ("stairs", "climb", "box")
"""Parts of the names of clips that leave the floor they begin on."""
# Change of angular velocity from one frame to the next [rad/s]: 99.9th percentile of the ACCAD captures at 30 Hz.
CAPTURED_STEPS = {
    **{"Hips": 5.6, "Spine": 7.5, "Neck": 8.1, "Head": 7.3, "Shoulder": 7.8, "Arm": 9.7, "ForeArm": 11.7},
    **{"Hand": 13.8, "UpLeg": 10.0, "Leg": 14.7, "Foot": 18.3, "ToeBase": 23.9},
}


@cache
def person(style: str) -> Library:
    return load_cast("person", style=style, seed=3, takes=2)


def speed_steps(clip: Clip) -> np.ndarray:
    """Change of each joint's angular velocity from frame to frame, as a share of what captures do; (F-2, J)."""
    words = [n.removeprefix("Left").removeprefix("Right").rstrip("0123456789") for n in clip.skeleton.names]
    turn = rotations.multiply(rotations.conjugate(clip.rotations[:-1]), clip.rotations[1:])
    speed = rotations.to_rotation_vector(turn) * clip.fps
    return np.linalg.norm(np.diff(speed, axis=0), axis=-1) / [CAPTURED_STEPS.get(word, 15.0) for word in words]


def worst(values: np.ndarray, names: tuple[str, ...], clip: Clip) -> tuple[float, str]:
    """The largest of values (frames, names), and where it is."""
    frame, column = np.unravel_index(int(np.argmax(values)), values.shape)
    return float(values[frame, column]), f"{clip.name}: {names[column]} at frame {frame}"


@pytest.mark.parametrize("style", STYLES)
def test_planted_points_stay(style: str) -> None:
    for clip in person(style).clips.values():
        assert clip.contacts is not None
        places = clip.contact_positions()
        both = clip.contacts[1:] & clip.contacts[:-1]
        for k, point in enumerate(clip.skeleton.contact_points):
            begun = np.flatnonzero(clip.contacts[:, k] & ~np.concatenate([[False], both[:, k]]))
            ended = np.flatnonzero(clip.contacts[:, k] & ~np.concatenate([both[:, k], [False]]))
            for first, last in zip(begun, ended, strict=True):
                away = places[first : last + 1, k] - places[first, k]
                assert np.linalg.norm(away[:, :2], axis=1).max() < 0.002, f"{clip.name}: {point.name} slides"
                assert np.ptp(away[:, 2]) < 0.003, f"{clip.name}: {point.name} rises or sinks"


@pytest.mark.parametrize("style", STYLES)
def test_nothing_pops(style: str) -> None:
    for clip in person(style).clips.values():
        share, where = worst(speed_steps(clip), clip.skeleton.names, clip)
        assert share < 1.15, f"{where} changes speed by {share:.2f} of what captures do"


@pytest.mark.parametrize("style", STYLES)
def test_joints_keep_their_limits(style: str) -> None:
    limits = joint_limits(person(style).skeleton)
    for clip in person(style).clips.values():
        over, where = worst(violations(clip, limits), clip.skeleton.names, clip)
        assert over < 2.5, f"{where} is {over:.1f} deg over"


@pytest.mark.parametrize("style", ["neutral", *STYLES])
def test_feet_stay_over_the_floor(style: str) -> None:
    for name, clip in person(style).clips.items():
        if not any(word in name for word in OTHER_GROUND):
            feet = [i for i, p in enumerate(clip.skeleton.contact_points) if p.name.endswith(("heel", "ball", "toe"))]
            depth, where = worst(-clip.contact_positions()[:, feet, 2], tuple(map(str, feet)), clip)
            assert depth < 0.01, f"{where} is {100 * depth:.1f} cm under the floor"


@pytest.mark.parametrize("style", STYLES)
def test_every_declared_transition_is_invisible(style: str) -> None:
    library = person(style)
    upper = upper_joints(library.skeleton)
    legs = ~upper
    legs[0] = False  # headings differ
    for behavior in library.graph.behaviors:
        after = [library.clips[c] for f in library.graph.followers(behavior.name) for c in library.graph[f].clips]
        for before in (library.clips[c] for c in behavior.clips):
            for follower in after:
                apart = np.degrees(rotations.angle_between(before.rotations[-1], follower.rotations[0]))
                pair = f"{before.name} -> {follower.name}"
                assert apart[legs].max() < 0.5, pair
                free = any("." in clip.name for clip in (before, follower))  # further takes have ends of their own
                assert apart[upper].max() < (30.0 if free else 0.5), pair
