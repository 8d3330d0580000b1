"""Small folders of captures for tests of the intake: a made person who walks and stands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from figures import standing, walking
from gaitway.core import rotations
from gaitway.motion.clip import Clip
from gaitway.motion.formats import save_clip


def good_folder(folder: Path) -> Path:
    """Two walks and a stand."""
    save_clip(walking(4.0, 60.0, 1.1), folder / "brisk.bvh")
    save_clip(walking(4.0, 60.0, 0.8), folder / "calm.bvh")
    save_clip(standing(120), folder / "stand.bvh")
    return folder


def moved(clip: Clip, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Clip:
    """The clip elsewhere, or on another floor."""
    return replace(clip, root_positions=clip.root_positions + np.array([x, y, z]))


def tilted(clip: Clip, slope: float) -> Clip:
    """The clip in a capture volume whose floor rises along X by `slope`."""
    turn = rotations.from_axis_angle([0.0, 1.0, 0.0], -np.arctan(slope))
    turned = np.array(clip.rotations)
    turned[:, 0] = rotations.multiply(turn, turned[:, 0])
    return replace(clip, root_positions=rotations.rotate(turn, clip.root_positions), rotations=turned)


def larger(clip: Clip, factor: float) -> Clip:
    """The same motion of a person whose bones are longer."""
    tips = {joint: (factor * x, factor * y, factor * z) for joint, (x, y, z) in clip.skeleton.tips.items()}
    skeleton = replace(clip.skeleton, offsets=clip.skeleton.offsets * factor, tips=tips, contact_points=())
    return replace(clip, skeleton=skeleton, root_positions=clip.root_positions * factor)


def on_treadmill(clip: Clip, speed: float) -> Clip:
    """The walk with the ground taken back under it at the walker's own speed."""
    roots = np.array(clip.root_positions)
    roots[:, 0] -= speed * np.arange(len(clip)) / clip.fps
    return replace(clip, root_positions=roots)
