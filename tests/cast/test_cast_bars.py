"""Every clip against the bars of an audit, measured here from joints alone: nothing sinks, nothing pops."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast, style_names
from gaitway.core import rotations
from gaitway.library import Library
from gaitway.motion import Clip

OTHER_GROUND = ("stairs", "climb", "box")
"""Parts of the names of clips that leave the floor they begin on."""
DEEPEST = 0.010
"""How far a round part of the body may be under the floor [m]."""
SUDDEN = 1.5
"""Largest change of speed, as a share of the 99.9th percentile of the same joint in the same library."""
SLIGHT, SLIGHT_ROOT = 0.5, 0.05
"""Changes of speed that nobody sees [rad/s, m/s], however calm a library is."""
# joint, middle of a round part in its frame [m], radius [m]
ROUND = (
    ("ToeBase", (0.07, 0.0, 0.006), 0.026),
    ("ToeBase", (0.0, 0.0, 0.006), 0.026),
    ("Foot", (0.13, 0.0, -0.04), 0.040),
    ("Foot", (0.0, 0.0, -0.04), 0.040),
    ("Leg", (0.0, 0.0, 0.0), 0.050),
    ("Hand", (0.0, 0.0, 0.0), 0.020),
    ("ForeArm", (0.0, 0.0, 0.0), 0.037),
    ("UpLeg", (0.0, 0.0, 0.0), 0.075),
)
STYLES = [
    pytest.param(style, marks=[] if style == "neutral" else [pytest.mark.slow]) for style in style_names()
]  # the mean person at once, the others in the slow suite


@cache
def library(name: str, style: str) -> Library:
    return load_cast(name, style=style)


def speed_changes(clip: Clip) -> np.ndarray:
    """Change from frame to frame of every joint's angular velocity [rad/s], and of the root's velocity; (F-2, J+1)."""
    turn = rotations.multiply(rotations.conjugate(clip.rotations[:-1]), clip.rotations[1:])
    joints = np.linalg.norm(np.diff(rotations.to_rotation_vector(turn), axis=0), axis=-1)
    root = np.linalg.norm(np.diff(clip.root_positions, 2, axis=0), axis=-1)
    return np.column_stack([joints, root]) * clip.fps


def depths(clip: Clip) -> dict[str, np.ndarray]:
    """How far each round part is under height 0 [m], frame by frame."""
    positions, world = clip.joint_transforms()
    out = {}
    for side in ("Left", "Right"):
        for k, (name, middle, radius) in enumerate(ROUND):
            j = clip.skeleton.index(side + name)
            height = positions[:, j, 2] + rotations.rotate(world[:, j], np.array(middle))[:, 2]
            out[f"{side}{name} {k}"] = radius - height
    return out


@pytest.mark.parametrize("style", STYLES)
def test_no_part_of_a_person_is_under_the_floor(style: str) -> None:
    checked = 0
    for name, clip in library("person", style).clips.items():
        if any(word in name for word in OTHER_GROUND):
            continue
        for part, depth in depths(clip).items():
            frame = int(np.argmax(depth))
            assert depth[frame] <= DEEPEST, f"{name}: {part} is {100 * depth[frame]:.2f} cm under at frame {frame}"
            checked += 1
    assert checked > 500


def held_to_its_own_percentile(one: Library) -> None:
    changes = {name: speed_changes(clip) for name, clip in one.clips.items()}
    usual = np.percentile(np.concatenate(list(changes.values())), 99.9, axis=0)
    usual = np.maximum(usual, [*[SLIGHT] * (len(usual) - 1), SLIGHT_ROOT])
    names = (*one.skeleton.names, "root")
    for name, change in changes.items():
        share = change / usual
        frame, joint = np.unravel_index(int(np.argmax(share)), share.shape)
        assert share[frame, joint] <= SUDDEN, f"{name}: {names[joint]} {share[frame, joint]:.2f} at frame {frame + 1}"


@pytest.mark.parametrize("style", STYLES)
def test_no_clip_of_a_person_pops_against_its_library(style: str) -> None:
    held_to_its_own_percentile(library("person", style))


@pytest.mark.parametrize("name", ["horse", "skateboarder"])
def test_no_clip_of_the_others_pops_against_its_library(name: str) -> None:
    held_to_its_own_percentile(library(name, "neutral"))


def test_a_sunken_toe_is_seen() -> None:
    clip = library("person", "neutral").clips["stand"]
    lower = Clip(clip.skeleton, clip.root_positions - [0.0, 0.0, 0.02], clip.rotations, clip.fps)
    assert max(depth.max() for depth in depths(lower).values()) == pytest.approx(0.02, abs=0.002)
