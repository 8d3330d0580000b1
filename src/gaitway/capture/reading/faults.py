"""Repair of single-frame jumps, which swapped or lost markers leave in a capture."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances
from gaitway.motion.editing import slice_frames
from gaitway.motion.skeleton import Skeleton

_FASTEST_TURN = 35.0
"""Largest angular speed of a joint between two frames [rad/s]; a faster turn may be a jump."""
_LARGEST_TURN = np.radians(50.0)
"""Largest turn of a joint between two frames at any rate [rad]; a larger one may be a jump."""
_BRIDGE_TURN = 8.0
"""Largest mean angular speed of a joint over a bridge [rad/s]; a lasting flip of a foot takes many frames then."""
_LONGEST_BRIDGE_S = 0.5
"""Longest bridge [s]; the gate refuses clips that still flip."""
_FASTEST_ROOT = 8.0
"""Largest speed of the root between two frames [m/s]; a faster move may be a jump."""
_STANDS_OUT = 5.0
"""Ratio of a jump to the usual change in the frames around it."""
_AROUND_S = 0.1
"""Time before and after a frame in which the usual change is measured [s]."""
_WHOLE_BODY = 5
"""Number of joints that jump at once for a jump of the whole body."""
_BRIDGE_S = 0.05
"""Time on each side over which a lasting jump of a joint is interpolated [s]."""
_LONGEST_SPIKE_S = 0.1
"""Longest time after which a joint jumps back for both jumps to count as one spike, which is interpolated [s]."""


@dataclass(frozen=True, eq=False)
class MendedClip:
    """Clip without jumps, and notes on its repair."""

    clip: Clip
    notes: tuple[str, ...] = ()


def mend(clip: Clip) -> MendedClip:
    """Return the clip without jumps.

    If the whole body jumps, the longest part between such jumps is kept. Jumps of single joints are interpolated.
    """
    if len(clip) < 8:
        return MendedClip(clip)
    turns = _joint_faults(clip)
    limbs = _limb_joints(clip.skeleton)
    body = _root_faults(clip) | turns[:, 0] | (turns[:, limbs].sum(axis=1) >= _WHOLE_BODY)
    if not turns.any() and not body.any():
        return MendedClip(clip)
    first, last = _longest_part(body)
    notes = []
    if first > 0 or last < len(clip):
        cut = (first + len(clip) - last) / clip.fps
        where = "begin" if last == len(clip) else "end" if first == 0 else "begin and end"
        notes.append(f"cut off {cut:.2f} s at its {where}, where the capture jumps from one frame to the next")
    inner, inner_turns = slice_frames(clip, first, last), turns[first : max(last - 1, first)]
    joints = np.flatnonzero(inner_turns.any(axis=0))
    inner = _bridged(inner, inner_turns, joints)
    told = [j for j in joints.tolist() if j in limbs]  # toes and fingers jitter in nearly every capture
    if told:
        names = ", ".join(clip.skeleton.names[j] for j in told[:3])
        more = f" and {len(told) - 3} more" if len(told) > 3 else ""
        notes.append(f"bridged single-frame jumps of {names}{more}")
    return MendedClip(inner, tuple(notes))


def _joint_faults(clip: Clip) -> BoolArray:
    """Return whether each joint jumps from a frame to the next; (F - 1, J). The root counts as a joint."""
    q = clip.rotations
    angles = 2.0 * np.arccos(np.clip(np.abs(np.sum(q[1:] * q[:-1], axis=-1)), 0.0, 1.0))
    return _jumps(angles, min(_FASTEST_TURN / clip.fps, _LARGEST_TURN), clip.fps)


def _root_faults(clip: Clip) -> BoolArray:
    """Return whether the root position jumps from each frame to the next; (F - 1,)."""
    steps = np.linalg.norm(np.diff(clip.root_positions, axis=0), axis=-1)
    return _jumps(steps[:, None], _FASTEST_ROOT / clip.fps, clip.fps)[:, 0]


def _jumps(changes: FloatArray, limit: float, fps: float) -> BoolArray:
    """Return which changes (F, K) are above a limit and also far above the usual change in the frames around."""
    suspects = np.flatnonzero((changes > limit).any(axis=0))
    out = np.zeros(changes.shape, dtype=bool)
    if len(suspects):
        window = 2 * max(int(_AROUND_S * fps), 3) + 1
        usual = scipy.ndimage.median_filter(changes[:, suspects], size=(window, 1), mode="reflect")
        out[:, suspects] = (changes[:, suspects] > limit) & (changes[:, suspects] > _STANDS_OUT * usual)
    return out


def _longest_part(faults: BoolArray) -> tuple[int, int]:
    """Return the first frame and the stop of the longest part without a fault; `faults` (F - 1,) lie between frames."""
    edges = [0, *(np.flatnonzero(faults) + 1).tolist(), len(faults) + 1]
    longest = int(np.argmax(np.diff(edges)))
    return edges[longest], edges[longest + 1]


def _limb_joints(skeleton: Skeleton) -> list[int]:
    """Return all joints except toes and fingers."""
    small = {skeleton.roles[r] for r in ("left_toe", "right_toe") if r in skeleton.roles}
    wrists = {skeleton.roles[r] for r in ("left_wrist", "right_wrist") if r in skeleton.roles}
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent in wrists or parent in small:
            small.add(joint)
    return [j for j in range(len(skeleton)) if j not in small]


def _long_enough(turns: FloatArray, low: int, high: int, fps: float) -> tuple[int, int]:
    """Return the first and last frame of a bridge, moved apart until the turn (F, 4) between them is slow enough."""
    longest = _LONGEST_BRIDGE_S * fps
    while high - low < longest:
        angle = float(rotations.angle_between(turns[low], turns[high]))
        if angle <= _BRIDGE_TURN * (high - low) / fps or (low == 0 and high == len(turns) - 1):
            break
        low, high = max(low - 1, 0), min(high + 1, len(turns) - 1)
    return low, high


def _bridged(clip: Clip, faults: BoolArray, joints: IntArray) -> Clip:
    """Return the clip with the frames around each fault (F - 1, J) interpolated, joint by joint."""
    turned = np.array(clip.rotations)
    spike, ease = int(_LONGEST_SPIKE_S * clip.fps), max(int(_BRIDGE_S * clip.fps), 1)
    for joint in joints:
        near = scipy.ndimage.binary_closing(np.pad(faults[:, joint], spike + 1), np.ones(spike + 1))
        for start, stop in stances(near[spike + 1 : -spike - 1] | faults[:, joint]):
            low, high = (start, stop) if stop - start > 1 else (start - ease, stop + ease)
            low, high = max(low, 0), min(high, len(clip) - 1)
            low, high = _long_enough(turned[:, joint], low, high, clip.fps)
            t = np.linspace(0.0, 1.0, high - low + 1)
            turned[low : high + 1, joint] = rotations.slerp(turned[low, joint], turned[high, joint], t)
    return replace(clip, rotations=turned)
