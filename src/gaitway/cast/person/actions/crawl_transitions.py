"""From standing down to hands and knees, and up again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator
from scipy.ndimage import gaussian_filter1d

from gaitway.cast.curves import plateau, smooth_step
from gaitway.cast.person.actions.crawling import CYCLE_FRAMES, Manner, crawl_holds, crawl_hub, varied_reference
from gaitway.cast.person.actions.holds import Hold, hold_poses
from gaitway.cast.person.gait.hubs import hub
from gaitway.cast.person.gait.stride import FPS, blend_poses, turn_joint
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.cast.person.styles import Style
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip

_DOWN_S, _UP_S = 2.5, 3.1
_DOWN_X, _UP_X = 0.60, 0.36
"""How far ahead of where it began the root is at the end [m]."""
_DOWN_ROOT = (
    (0.0, 0.0, 1.0),
    (0.3, 0.01, 0.96),
    (0.6, 0.06, 0.83),
    (0.9, 0.14, 0.66),
    (1.2, 0.24, 0.51),
    (1.6, 0.35, 0.48),
    (2.0, 0.44, 0.475),
)
_UP_ROOT = (
    (0.35, 0.05, 0.49),
    (0.8, 0.05, 0.50),
    (1.35, 0.08, 0.51),
    (1.7, 0.14, 0.58),
    (2.0, 0.22, 0.74),
    (2.3, 0.30, 0.89),
    (2.65, 0.35, 0.98),
    (3.1, 0.36, 1.0),
)
"""Keys of the root: time [s], way [m], height: over 0.7 as a share of the standing one, else in metres."""
_TOE_LIFTS = {"right_toe": 0.14, "left_toe": 0.045}
"""How high the toes are carried to where they rest behind the knees [m]."""
_ARRIVALS = {
    "right_toe": 0.66,
    "right_knee": 1.22,
    "left_hand": 1.40,
    "left_fingers": 1.43,
    "right_hand": 1.55,
    "right_fingers": 1.58,
    "left_toe": 1.80,
    "left_knee": 1.88,
}
_DEPARTURES = {
    "left_hand": 0.18,
    "left_fingers": 0.26,
    "right_hand": 0.26,
    "right_fingers": 0.34,
    "right_knee": 0.60,
    "right_toe": 0.56,
    "left_knee": 1.65,
    "left_toe": 1.95,
}
"""When each point comes down on the way to the floor, and leaves it on the way up [s]."""
_TOES_BENT_UNTIL = {"Right": (0.40, 1.40), "Left": (1.75, 2.45)}
"""Begin and end of the time in which foot and toes straighten on the way up [s]; not before they leave the floor."""


def crawl_start_clip(name: str, style: Style, seed: int | None = None) -> Clip:
    """Make the clip from the stand hub to the crawl hub: one foot back, then knee and hands down.

    Args:
        name: Name of the clip.
        style: Style of the character.
        seed: Seed of this take; None gives the mean take.
    """
    stand, manner, pace = hub("stand", style), Manner.draw(seed), _pace(seed)
    frames = round(_DOWN_S * pace * FPS)
    times = np.arange(frames + 1) * _DOWN_S / frames
    stretch = frames / FPS / _DOWN_S
    phase = (np.arange(frames + 1) - frames) / CYCLE_FRAMES
    crawl_root, crawl_pose = varied_reference(phase, manner, plateau(times, 0.3, 1.2, 1.9, 2.3))
    crawl_root[:, 0] += _DOWN_X
    keyed = _key_root((*_DOWN_ROOT, (_DOWN_S, _DOWN_X, 0.475)), times, stand.root, (0.0, 0.476))
    low = smooth_step(times, 1.7, 2.4)[:, None]
    root = keyed + low * (crawl_root - keyed)
    still = np.repeat(stand.rotations[None], len(times), axis=0)
    local = blend_poses(still, crawl_pose, smooth_step(times, 0.0, 1.5))
    turn_joint(
        local, "RightFoot", 0.0, 0.7 * plateau(times, 0.0, 0.3, 0.45, 0.9), 0.0
    )  # it leaves the floor heel first
    period = CYCLE_FRAMES / FPS / stretch
    holds = [
        replace(h, start=_ARRIVALS[h.point], end=_DOWN_S + 1.0, carry=_TOE_LIFTS.get(h.point), loose=0.2, fade=0.5)
        for h in crawl_holds(-1.0, 0.5, _DOWN_S - period, manner, _DOWN_X, period)
        if h.start <= _DOWN_S <= h.end
    ]
    feet = _soles(stand.root, stand.rotations)
    for side, fade, leaving in (("right", 0.1, (0.0, 0.1, 0.17)), ("left", 0.3, (0.45, 1.2, 1.5))):
        for part, until in zip(("heel", "ball", "toe"), leaving, strict=True):
            holds.append(Hold(f"{side}_{part}", 0.0, until, feet[f"{side}_{part}"], direct=True, fade=fade))
    clip = hold_poses(name, root, local, FPS, _stretched(holds, stretch), _root_grip(times), in_turn=True)
    return _ended(clip, (stand.root, stand.rotations), _moved_hub(_DOWN_X))


def crawl_stop_clip(name: str, style: Style, seed: int | None = None) -> Clip:
    """Make the clip from the crawl hub to the stand hub: up on the knees, one foot forward, then stand up on it.

    Args:
        name: Name of the clip.
        style: Style of the character.
        seed: Seed of this take; None gives the mean take.
    """
    stand, manner, pace = hub("stand", style), Manner.draw(seed), _pace(seed)
    frames = round(_UP_S * pace * FPS)
    times = np.arange(frames + 1) * _UP_S / frames
    stretch = frames / FPS / _UP_S
    phase = np.arange(frames + 1) / CYCLE_FRAMES
    crawl_root, crawl_pose = varied_reference(phase, manner, plateau(times, 0.05, 0.3, 0.5, 1.2))
    goal = stand.root + np.array([_UP_X, 0.0, 0.0])
    keyed = _key_root(((0.0, 0.0, crawl_root[0, 2]), *_UP_ROOT), times, stand.root, (0.476, 0.0))
    high = smooth_step(times, 0.0, 0.45)[:, None]
    root = crawl_root + high * (keyed - crawl_root)
    still = np.repeat(stand.rotations[None], len(times), axis=0)
    local = blend_poses(crawl_pose, still, smooth_step(times, 0.15, 1.45))
    for side, span in _TOES_BENT_UNTIL.items():
        bent = [person_skeleton().index(side + joint) for joint in ("Foot", "ToeBase")]
        local[:, bent] = blend_poses(crawl_pose[:, bent], still[:, bent], smooth_step(times, *span))
    tuck = plateau(times, 0.5, 1.2, 1.7, 2.5)
    fold = plateau(times, 0.55, 1.0, 1.1, 1.5)
    turn_joint(local, "RightUpLeg", 0.0, -1.2 * tuck - 0.3 * fold, 0.0)
    turn_joint(local, "RightLeg", 0.0, 1.0 * tuck + 0.4 * fold, 0.0)
    lean = plateau(times, 1.3, 1.8, 1.95, 2.7)
    for joint, share in (("Hips", 0.25), ("Spine", 0.12), ("Spine1", 0.10), ("Neck", -0.25)):
        turn_joint(local, joint, 0.0, share * lean, 0.0)
    period = CYCLE_FRAMES / FPS / stretch
    holds = [
        replace(h, end=_DEPARTURES[h.point], fade=0.7 if h.point.endswith(("hand", "fingers")) else 0.5)
        for h in crawl_holds(-0.5, 0.5, -0.5 * period, manner, 0.0, period)
        if h.start <= 0.0 <= h.end
    ]
    feet = _soles(goal, stand.rotations)
    for side, lift, bow, landing in (
        ("right", 0.11, -0.08, (1.66, 1.47, 1.44)),
        ("left", 0.06, 0.03, (2.72, 2.58, 2.55)),
    ):
        for part, since in zip(("heel", "ball", "toe"), landing, strict=True):
            carry = lift if part == "toe" else None
            place = feet[f"{side}_{part}"]
            holds.append(Hold(f"{side}_{part}", since, _UP_S + 1.0, place, carry, bow, 0.2, direct=True, fade=0.25))
    clip = hold_poses(name, root, local, FPS, _stretched(holds, stretch), _root_grip(times), in_turn=True)
    return _ended(clip, _moved_hub(0.0), (goal, stand.rotations))


def _pace(seed: int | None) -> float:
    """Return how much longer than the mean a take is."""
    return 1.0 if seed is None else float(np.random.default_rng([seed, 1]).uniform(0.95, 1.1))


def _stretched(holds: list[Hold], factor: float) -> list[Hold]:
    return [replace(h, start=h.start * factor, end=h.end * factor, fade=h.fade * factor) for h in holds]


def _root_grip(times: FloatArray) -> FloatArray:
    """Return the stiffness of the root: high at both ends, where the hubs are; low between, where limbs carry it."""
    edge = smooth_step(np.minimum(times, times[-1] - times), 0.05, 0.4)
    out: FloatArray = 10.0 ** (3.48 - 1.3 * edge)
    return out


def _key_root(
    keys: Sequence[tuple[float, float, float]], times: FloatArray, stand: FloatArray, rates: tuple[float, float]
) -> FloatArray:
    """Return a smooth root path (F, 3) through keys of time, way and height, leaving and arriving at `rates` [m/s]."""
    t, x, z = (np.array(column) for column in zip(*keys, strict=True))
    z = np.where(z > 0.7, z * stand[2], z)
    way = CubicSpline(t, x, bc_type=((1, rates[0]), (1, rates[1])))(times)
    height = PchipInterpolator(t, z)(times)
    smooth = gaussian_filter1d(height, 2.5, mode="nearest")
    inside = smooth_step(np.minimum(times, times[-1] - times), 0.0, 0.15)
    return np.column_stack([way, np.full(len(times), stand[1]), height + inside * (smooth - height)])


def _soles(root: FloatArray, local: FloatArray) -> dict[str, tuple[float, float, float]]:
    """Return where the points of both soles are in a pose."""
    skeleton = person_skeleton()
    places = Clip(skeleton, root[None], local[None], FPS).contact_positions()[0]
    out = {}
    for point, (x, y, z) in zip(skeleton.contact_points, places, strict=True):
        out[point.name] = (float(x), float(y), float(z))
    return out


def _moved_hub(x: float) -> tuple[FloatArray, FloatArray]:
    root, local = crawl_hub()
    return root + np.array([x, 0.0, 0.0]), local


def _ended(clip: Clip, first: tuple[FloatArray, FloatArray], last: tuple[FloatArray, FloatArray]) -> Clip:
    """Return the clip with its end frames equal to the hubs to the last bit; the solver met them nearly."""
    root, local = clip.root_positions.copy(), clip.rotations.copy()
    for at, (place, pose) in ((0, first), (-1, last)):
        root[at], local[at] = place, pose
    return Clip(clip.skeleton, root, rotations.continuous(local), clip.fps, clip.name, clip.contacts)
