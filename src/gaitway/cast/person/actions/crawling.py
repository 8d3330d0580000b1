"""Cycles of crawling on hands and knees; hands, knees and toes stay where they rest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from gaitway.cast.curves import plateau
from gaitway.cast.person.actions.holds import Hold, hold_poses
from gaitway.cast.person.actions.model import action_model
from gaitway.cast.person.gait.model import moving_joints
from gaitway.cast.person.gait.stride import FPS, blend_poses, turn_joint
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip

CYCLE_FRAMES = 34
STRIDE = 0.54
"""Way of one cycle [m]."""
DUTY = 0.66
"""Share of the cycle that a limb rests."""
_KNEE_SPREAD, _HAND_SPREAD = 0.12, 0.19
_KNEE_AHEAD, _HAND_AHEAD, _TOE_BEHIND = -0.05, 0.54, 0.415
"""Where the limbs rest in the middle of their stance, ahead of the root [m]; the toes behind the knee."""
_KNEE_HEIGHT = 0.003
"""Height of the knee's contact point over the floor [m]: the shin slopes, so its round end touches beside the point."""
_SWINGS = {"left_hand": 0.22, "right_knee": 0.28, "right_hand": 0.72, "left_knee": 0.78}
"""Phase of the middle of each limb's swing: diagonal limbs move together, the hand a little ahead."""


@dataclass(frozen=True)
class Manner:
    """How one take of crawling differs from another."""

    sway: float = 0.025
    """Sway of the root to the side of the resting knee [m]."""
    twist: float = 0.10
    """Turn of the pelvis with the advancing knee [rad]."""
    bob: float = 0.008
    hand_lift: float = 0.065
    knee_lift: float = 0.035
    look: float = 0.0
    """Pitch of the head, up positive [rad]."""

    @staticmethod
    def draw(seed: int | None) -> Manner:
        """Return a take at random; None is the mean one."""
        if seed is None:
            return Manner()
        a, b, c, d, e = np.clip(np.random.default_rng(seed).normal(size=5), -2.0, 2.0)
        return Manner(0.025 + 0.006 * a, 0.10 + 0.03 * b, 0.008 + 0.002 * c, 0.065 + 0.012 * d, look=0.08 * e)


def all_fours(frames: int) -> FloatArray:
    """Return the mean pose on hands and knees, facing +X, in every frame; (F, J, 4)."""
    skeleton = person_skeleton()
    pose = rotations.identity(frames, len(skeleton))
    pose[:, moving_joints()] = action_model().arrays["crawl_pose"]
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        pose[:, skeleton.index(side + "Foot")] = rotations.from_rotation_vector((0.0, -0.15, 0.0))
        pose[:, skeleton.index(side + "ToeBase")] = rotations.from_rotation_vector((0.0, -1.05, 0.0))
        pose[:, skeleton.index(side + "Hand")] = rotations.from_rotation_vector((sign * 1.1, 0.0, 0.0))
    return pose


def crawl_reference(phase: FloatArray, manner: Manner) -> tuple[FloatArray, FloatArray]:
    """Return root (F, 3), at x = 0 in phase 0, and poses (F, J, 4) of crawling before the limbs are on the floor."""
    angle = 2.0 * np.pi * phase
    local = all_fours(len(phase))
    # the right knee swings about phase 0.28: the weight is then on the left one, and the pelvis turns to the left
    aside = np.cos(angle - 2.0 * np.pi * 0.28)
    onward = np.sin(angle - 2.0 * np.pi * 0.28)
    root = np.column_stack(
        [
            STRIDE * phase + 0.006 * np.sin(2.0 * angle),
            manner.sway * aside,
            action_model().arrays["crawl_height"] + manner.bob * np.cos(2.0 * angle),
        ]
    )
    yaw = rotations.from_axis_angle([0.0, 0.0, 1.0], manner.twist * onward)
    roll = rotations.from_axis_angle([1.0, 0.0, 0.0], -0.05 * aside)
    local[:, 0] = rotations.multiply(rotations.multiply(yaw, roll), local[:, 0])
    for joint in ("Spine", "Spine1", "Spine2"):  # the shoulders turn against the pelvis; x is down the trunk here
        turn_joint(local, joint, 0.55 * manner.twist * onward, 0.0, 0.04 * aside)
    turn_joint(local, "Neck", -0.8 * manner.twist * onward, -manner.look, 0.0)
    return root, local


def crawl_holds(
    first: float,
    last: float,
    start_time: float,
    manner: Manner,
    origin: float = 0.0,
    period: float = CYCLE_FRAMES / FPS,
) -> list[Hold]:
    """Return holds of steady crawling between two phases; `first` is at `start_time` [s], phase 0 at x = `origin`."""
    holds = []
    for limb, swing in _SWINGS.items():
        side, part = limb.split("_")
        sign = 1.0 if side == "left" else -1.0
        for cycle in range(int(np.floor(first)) - 1, int(np.ceil(last)) + 2):
            middle = cycle + swing + 0.5
            x = origin + STRIDE * middle
            begin = start_time + (middle - 0.5 * DUTY - first) * period
            span = (begin, begin + DUTY * period)
            if part == "hand":
                place = (x + _HAND_AHEAD, sign * _HAND_SPREAD, 0.0)
                holds.append(Hold(limb, *span, place, manner.hand_lift))
                ahead = (place[0] + 0.08, place[1] - sign * 0.005, 0.0)
                holds.append(Hold(f"{side}_fingers", *span, ahead, 0.6 * manner.hand_lift))
            else:
                place = (x + _KNEE_AHEAD, sign * _KNEE_SPREAD, _KNEE_HEIGHT)
                holds.append(Hold(limb, *span, place, manner.knee_lift))
                holds.append(Hold(f"{side}_toe", *span, (place[0] - _TOE_BEHIND, place[1], 0.0), 0.015))
    return holds


def varied_reference(phase: FloatArray, manner: Manner, amount: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return `crawl_reference` of a mix (F,) of the mean manner (0, as in the hub) and a take's own manner (1)."""
    root, local = crawl_reference(phase, Manner())
    own_root, own_local = crawl_reference(phase, manner)
    return root + amount[:, None] * (own_root - root), blend_poses(local, own_local, amount)


def crawl_cycles(name: str, cycles: int, manner: Manner) -> Clip:
    """Return steady crawling from phase 0, its root at x = 0, to phase `cycles`; both end frames are the crawl hub."""
    lead = 0.5
    frames = round((cycles + 2 * lead) * CYCLE_FRAMES)
    phase = -lead + np.arange(frames + 1) / CYCLE_FRAMES
    amount = plateau(phase, 0.0, 0.25, cycles - 0.25, cycles)
    root, local = varied_reference(phase, manner, amount)
    holds = crawl_holds(-lead, cycles + lead, 0.0, manner)
    whole = hold_poses(name, root, local, FPS, holds)
    inside = slice(round(lead * CYCLE_FRAMES), round((lead + cycles) * CYCLE_FRAMES) + 1)
    contacts = None if whole.contacts is None else whole.contacts[inside]
    return Clip(whole.skeleton, whole.root_positions[inside], whole.rotations[inside], FPS, name, contacts)


@cache
def crawl_hub() -> tuple[FloatArray, FloatArray]:
    """Return the root position (3,) and local rotations (J, 4) of the state "crawl"."""
    clip = crawl_cycles("hub", 1, Manner())
    return clip.root_positions[0], clip.rotations[0]
