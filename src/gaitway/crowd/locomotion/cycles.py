"""Gait cycles: one stride of a clip, measured so that strides of different clips can be blended.

A cycle runs from one strike of the left foot to the next; the right foot strikes at half of it. The root is kept
relative to a planar frame that moves at constant speeds, and each foot as what it does in its stance and in its swing:
where it stands, how it rolls and how high it is carried. So a blend of cycles keeps its phase, and its feet can be set
down anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.cast.curves import bump, plateau
from gaitway.cast.person.gait._kernels import roll
from gaitway.cast.person.gait.foot_roll import foot_target, rest_flat
from gaitway.core import planar, rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.crowd.locomotion.rig import BodyRig
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances

PHASES = 32
"""Poses of a cycle."""
SHARES = 13
"""Samples of what a foot does in a stance or a swing."""
LEAST_LIFT = 0.045
"""How high a foot is carried at least in the middle of its swing [m]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class GaitCycle:
    """One stride of one manner of going."""

    name: str
    velocity: FloatArray
    """Forward and sideways (left positive) [m/s], and turn [rad/s] (left positive); (3,)."""
    rate: float
    """Cycles a second [Hz]."""
    duty: FloatArray
    """Share of the cycle in which the left and the right foot stand; (2,)."""
    poses: FloatArray
    """Local rotations, the root's relative to the moving frame; (PHASES, J, 4)."""
    sway: FloatArray
    """Root in the moving frame: forward, left and up [m]; (PHASES, 3)."""
    prints: FloatArray
    """Where the flat feet stand (x, y, heading) in the moving frame of the middle of their stances; (2, 3)."""
    stance_pitch: FloatArray
    """Pitch of the feet over their stances, toes up positive [rad]; (2, SHARES)."""
    swing_pitch: FloatArray
    """The same over their swings; (2, SHARES)."""
    lift: FloatArray
    """How high the sole is carried over the ground in the swings [m]; (2, SHARES)."""


def measured_cycle(clip: Clip, rig: BodyRig, name: str) -> GaitCycle | None:
    """Return the stride in the middle of a clip of a steady gait, or None if it has no whole stride.

    Args:
        clip: several strides, with contacts.
        rig: of its skeleton.
        name: of the cycle.
    """
    on = feet_down(clip, rig)
    runs = [[run for run in stances(on[:, k]) if run[0] > 0] for k in range(2)]
    whole = []
    for (a, lift), (b, _) in zip(runs[0][:-1], runs[0][1:], strict=True):
        right = [(r, off) for r, off in runs[1] if a < r < b and off < len(clip)]
        if len(right) == 1 and lift < b:
            whole.append((a, lift, *right[0], b))
    if not whole:
        return None
    a, left_off, r, right_off, b = whole[len(whole) // 2]
    following = [run[0] for run in runs[1] if run[0] >= right_off]
    period = float(b - a)
    ends = ((a, left_off, b), (r, right_off, following[0] if following else r + period))
    seconds = period / clip.fps
    path, velocity = _steady_path(clip, a, b)
    at = np.concatenate([np.linspace(a, r, PHASES // 2 + 1)[:-1], np.linspace(r, b, PHASES // 2 + 1)[:-1]])
    poses, roots = _sampled(clip, at)
    frames = _carried(path, velocity, (at - a) / clip.fps)
    sway = np.column_stack([planar.relative(frames, np.column_stack([roots[:, :2], frames[:, 2]]))[:, :2], roots[:, 2]])
    poses[:, 0] = rotations.multiply(rotations.from_yaw(-frames[:, 2]), poses[:, 0])
    positions, world = clip.joint_transforms()
    prints, stance, swing, lifts = np.empty((2, 3)), np.empty((2, SHARES)), np.empty((2, SHARES)), np.empty((2, SHARES))
    for k, (strike, off, again) in enumerate(ends):
        foot = foot_target(
            positions[:, rig.legs[k, 2]],
            rotations.multiply(world[:, rig.legs[k, 2]], rotations.conjugate(rig.frames[k, 2])),
        )
        flat = np.empty((len(foot), 3))
        roll(np.zeros((1, 3)), np.zeros(1), np.ascontiguousarray(foot[:, 4]), np.ascontiguousarray(rig.feet[k]), flat)
        middle = slice(int(strike + 0.25 * (off - strike)), int(strike + 0.6 * (off - strike)) + 1)
        ahead = np.column_stack([np.cos(foot[:, 3]), np.sin(foot[:, 3])])
        place = (foot[:, :2] - flat[:, :1] * ahead)[middle].mean(axis=0)
        there = _carried(path, velocity, np.array([(0.5 * (strike + off) - a) / clip.fps]))[0]
        prints[k] = planar.relative(there, np.array([*place, foot[middle, 3].mean()]))
        prints[k, 2] = planar.wrap_angle(prints[k, 2])
        rows = np.arange(len(clip))
        stance[k] = rest_flat(np.interp(np.linspace(strike, off, SHARES), rows, foot[:, 4]))
        swing[k] = np.interp(np.linspace(off, again, SHARES), rows, foot[:, 4])
        swing[k, 0], swing[k, -1] = stance[k, -1], stance[k, 0]
        height = np.interp(np.linspace(off, again, SHARES), rows, foot[:, 2] - flat[:, 2] - rig.feet[k, 8])
        height -= np.linspace(height[0], height[-1], SHARES)
        height *= plateau(np.linspace(0.0, 1.0, SHARES), 0.0, 0.35, 0.65, 1.0)  # it leaves and meets the floor gently
        lifts[k] = np.maximum(height, LEAST_LIFT * bump(np.linspace(0.0, 1.0, SHARES), 2.0, 2.0))
    duty = np.array([(left_off - a) / period, (right_off - r) / period])
    return GaitCycle(
        name=name, velocity=velocity, rate=1.0 / seconds, duty=duty, poses=poses, sway=sway, prints=prints,
        stance_pitch=stance, swing_pitch=swing, lift=lifts,
    )  # fmt: skip


def feet_down(clip: Clip, rig: BodyRig) -> BoolArray:
    """Return whether the left and the right foot touch the ground in every frame; (F, 2)."""
    if clip.contacts is None:
        return np.zeros((len(clip), 2), dtype=bool)
    return np.stack([clip.contacts[:, row[row >= 0]].any(axis=1) for row in rig.columns], axis=1)


def standing_prints(clip: Clip, rig: BodyRig) -> tuple[FloatArray, FloatArray]:
    """Return where flat feet stand in the first frame of a clip (2, 3), in the frame of that pose (3,)."""
    positions, world = (a[0] for a in clip.joint_transforms())
    frame = np.array([*clip.root_positions[0, :2], clip.headings()[0]])
    prints = np.empty((2, 3))
    for k in range(2):
        ankle = rig.legs[k, 2]
        turn = rotations.multiply(world[ankle], rotations.conjugate(rig.frames[k, 2]))
        foot = foot_target(positions[ankle][None], turn[None])[0]
        prints[k] = planar.relative(frame, foot[[0, 1, 3]])
    middle = 0.5 * (prints[0, :2] + prints[1, :2])
    frame[:2] = planar.transform_points(frame, middle)
    prints[:, :2] -= middle
    prints[:, 2] = planar.wrap_angle(prints[:, 2])
    return prints, frame


def _sampled(clip: Clip, at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return local rotations (N, J, 4) and root positions (N, 3) between frames."""
    low = np.minimum(at.astype(np.int64), len(clip) - 2)
    share = at - low
    turns = rotations.slerp(
        clip.rotations[low], clip.rotations[low + 1], np.broadcast_to(share[:, None], (len(at), len(clip.skeleton)))
    )
    roots = clip.root_positions[low] + share[:, None] * (clip.root_positions[low + 1] - clip.root_positions[low])
    return turns, roots


def _steady_path(clip: Clip, first: int, last: int) -> tuple[FloatArray, FloatArray]:
    """Return the planar pose at a frame (3,) and the constant speeds (3,) of the middle line of a stride."""
    path, seconds = clip.planar_path(), (last - first) / clip.fps
    offset, times = np.zeros(3), np.arange(last - first) / clip.fps
    for _ in range(4):
        start = planar.compose(path[first], offset)
        velocity = _twist(planar.relative(start, planar.compose(path[last], offset)), seconds)
        off = planar.relative(_carried(start, velocity, times), path[first:last])
        offset = planar.relative(path[first], planar.compose(start, off.mean(axis=0)))
    return start, velocity


def _twist(move: FloatArray, seconds: float) -> FloatArray:
    """Return the constant speeds in the moving frame (3,) that lead along a planar move in a time [s]."""
    angle = float(planar.wrap_angle(move[2]))
    half = 0.5 * angle
    scale = half / np.tan(half) if abs(half) > 1e-6 else 1.0
    x = scale * move[0] + half * move[1]
    y = scale * move[1] - half * move[0]
    return np.array([x, y, angle]) / seconds


def _carried(start: FloatArray, velocity: FloatArray, times: FloatArray) -> FloatArray:
    """Return the planar poses (N, 3) of a frame that moves at constant speeds in itself."""
    angle = velocity[2] * times
    small = np.abs(angle) < 1e-6
    safe = np.where(small, 1.0, angle)
    along, across = np.where(small, 1.0, np.sin(safe) / safe), np.where(small, 0.0, (1.0 - np.cos(safe)) / safe)
    x = times * (along * velocity[0] - across * velocity[1])
    y = times * (across * velocity[0] + along * velocity[1])
    out = planar.compose(start, np.column_stack([x, y, angle]))
    out[:, 2] = start[2] + angle
    return out
