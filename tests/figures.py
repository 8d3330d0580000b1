"""Small hand-made figures and motions for tests: a stepping person whose feet are where the test says."""

from __future__ import annotations

import numpy as np

from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core import rotations
from gaitway.motion.clip import Clip
from gaitway.motion.ik import LEFT_LEG, RIGHT_LEG, reach


def standing(frames: int = 60, fps: float = 60.0, height: float = 0.98) -> Clip:
    """A person who stands still with slightly bent knees and arms that hang."""
    skeleton = person_skeleton()
    local = rotations.identity(frames, len(skeleton))
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        local[:, skeleton.index(f"{side}Arm")] = rotations.from_axis_angle([1, 0, 0], -1.3 * sign)
        local[:, skeleton.index(f"{side}UpLeg")] = rotations.from_axis_angle([0, 1, 0], -0.2)
        local[:, skeleton.index(f"{side}Leg")] = rotations.from_axis_angle([0, 1, 0], 0.4)
    clip = Clip(skeleton, np.tile([0.0, 0.0, height], (frames, 1)), local, fps, "standing")
    for side, chain in (("left", LEFT_LEG), ("right", RIGHT_LEG)):
        sign = 1.0 if side == "left" else -1.0
        feet = np.tile([0.0, 0.09 * sign, 0.08], (frames, 1))
        clip = reach(clip, chain, feet, end_rotations=rotations.identity(frames))
    return clip


def walking(
    seconds: float = 4.0, fps: float = 60.0, speed: float = 1.0, slide: float = 0.0, noise: float = 0.0, seed: int = 0
) -> Clip:
    """A plain walk along +X: feet rest flat, then swing in an arc. The pelvis bobs a little.

    Args:
        seconds: length.
        fps: rate.
        speed: of the pelvis [m/s].
        slide: how far each foot creeps forward during its stance [m]; 0 is a perfect plant.
        noise: jitter of the ankles [m].
        seed: of the jitter.
    """
    frames = int(seconds * fps) + 1
    t = np.arange(frames) / fps
    period, share = 1.1, 0.6  # of a cycle, and of it on the ground
    base = standing(frames, fps)
    roots = np.column_stack(
        [speed * t, 0.02 * np.sin(2 * np.pi * t / period), 0.90 + 0.015 * np.cos(4 * np.pi * t / period)]
    )
    clip = Clip(base.skeleton, roots, base.rotations, fps, "walking")
    rng = np.random.default_rng(seed)
    for sign, chain, phase0 in ((1.0, LEFT_LEG, 0.0), (-1.0, RIGHT_LEG, 0.5)):
        phase = t / period + phase0
        step, part = np.floor(phase), phase % 1.0
        stride = speed * period
        swing = np.clip((part - share) / (1.0 - share), 0.0, 1.0)
        eased = swing * swing * (3.0 - 2.0 * swing)
        creep = slide * np.minimum(part / share, 1.0) * (1.0 - eased)
        x = stride * (step - phase0 + eased + 0.3) + creep
        feet = np.column_stack([x, np.full(frames, 0.09 * sign), 0.08 + 0.12 * np.sin(np.pi * swing) ** 2])
        feet += noise * rng.normal(size=feet.shape)
        clip = reach(clip, chain, feet, end_rotations=rotations.identity(frames))
    return clip


def stance_truth(clip: Clip, seconds: float = 4.0) -> np.ndarray:
    """Which foot of `walking` is on the ground, left and right; (F, 2)."""
    t = np.arange(len(clip)) / clip.fps
    return np.stack([((t / 1.1 + phase0) % 1.0) < 0.6 for phase0 in (0.0, 0.5)], axis=1)
