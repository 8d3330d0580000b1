"""Contacts of hands, knees and feet over time: which point is held where, from when to when."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d

from gaitway.cast.curves import smooth_step
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.skeleton import ContactPoint
from gaitway.motion.whole_body_ik import Stiffness, Targets, solve_poses

_EXTRA = tuple(
    ContactPoint(f"{side}_fingers", person_skeleton().index(f"{side.capitalize()}Hand"), (0.0, sign * 0.16, -0.02))
    for side, sign in (("left", 1.0), ("right", -1.0))
)
_ROUND = tuple(
    (ContactPoint(f"{side}_{name}", person_skeleton().index(side.capitalize() + joint), middle), radius - give)
    for side in ("left", "right")
    for name, joint, middle, radius, give in (
        ("kneecap", "Leg", (0.0, 0.0, 0.0), 0.050, 0.007),
        ("tip", "ToeBase", (0.07, 0.0, 0.006), 0.026, 0.006),
        ("pad", "Foot", (0.13, 0.0, -0.04), 0.040, 0.006),
    )
)
"""Middles of what rolls over the floor rather than standing on a point of it, and how high they stay over it [m]: as
they are thick, less what flesh gives way under the body's weight."""
_STIFFNESS = {
    # unwillingness about x, y, z of the joint's own frame: hinges bend about one axis, the spine shares a little
    "Hips": (2.0, 2.0, 2.0),
    "Spine": (3.0, 3.0, 3.0),
    "Spine1": (3.0, 3.0, 3.0),
    "Spine2": (3.0, 3.0, 3.0),
    "Neck": (10.0, 10.0, 10.0),
    "Head": (10.0, 10.0, 10.0),
    "Shoulder": (6.0, 6.0, 6.0),
    "Arm": (0.5, 0.8, 0.5),
    "ForeArm": (20.0, 0.2, 0.4),
    "Hand": (0.3, 3.0, 3.0),
    "UpLeg": (1.6, 0.4, 2.0),
    "Leg": (40.0, 0.4, 20.0),
    "Foot": (2.0, 0.3, 2.0),
    "ToeBase": (20.0, 5.0, 20.0),
    "_End": (1e6, 1e6, 1e6),
}


_POLISH = 3
"""Rounds of smoothing and solving again after frames were solved in turn."""


@dataclass(frozen=True)
class Hold:
    """A point of the body that rests at a place from `start` to `end` [s]."""

    point: str
    start: float
    end: float
    place: tuple[float, float, float]
    carry: float | None = None
    """How high [m] it is carried here from its last hold; None lets the body bring it freely."""
    bow: float = 0.0
    """How far to the left the path of the carried point bows [m]."""
    loose: float = 0.7
    """How much of its grip a carried point loses half-way. At 0 a lifted knee pushes the pelvis about like a rod."""
    direct: bool = False
    """Whether the grip pulls straight to the place; else it first follows the given motion and then comes nearer."""
    fade: float = 0.35
    """How long [s] the hold takes to win its grip before, and to lose it after, where the body moves freely."""


def hold_poses(
    name: str,
    root: FloatArray,
    local: FloatArray,
    fps: float,
    holds: Sequence[Hold],
    root_grip: FloatArray | float = 3000.0,
    in_turn: bool = False,
) -> Clip:
    """Return a clip near a given motion of the person that keeps a score of holds.

    Args:
        name: Name of the clip.
        root: Given root positions [m]; (F, 3).
        local: Given local rotations; (F, J, 4).
        fps: Frame rate [Hz].
        holds: The score; times in seconds from the first frame.
        root_grip: How unwilling the root is to leave its path [1/m^2], (F,) or one for all; lower follows the limbs.
        in_turn: As in `solve_poses`.

    Returns:
        The clip; contact flags are set exactly where a contact point of the skeleton is held.
    """
    skeleton = person_skeleton()
    points = {p.name: p for p in (*skeleton.contact_points, *_EXTRA)}
    used = tuple(points[n] for n in dict.fromkeys(h.point for h in holds))
    places, weights, flags = _tracks(used, root, local, fps, holds)
    flat = (*skeleton.contact_points, *_EXTRA)
    floor, heights = zip(*((p, 0.0) for p in flat), *_ROUND, strict=True)
    targets = Targets(used, places, weights, floor, heights)
    grips = np.broadcast_to(np.asarray(root_grip, dtype=np.float64), len(root))[:, None] * [1.0, 1.0, 0.5]
    stiffness = Stiffness.of(skeleton, _STIFFNESS, grips)
    root, local = solve_poses(skeleton, root, local, targets, stiffness, in_turn=in_turn)
    if in_turn:
        for _ in range(_POLISH):
            calm = _calmed(root, local)
            root, local = solve_poses(skeleton, *calm, targets, stiffness)
    contacts = np.zeros((len(root), len(skeleton.contact_points)), dtype=bool)
    for k, point in enumerate(used):
        if point in skeleton.contact_points:
            contacts[:, skeleton.contact_points.index(point)] = flags[:, k]
    return Clip(skeleton, root, rotations.continuous(local), fps, name, contacts)


def _calmed(root: FloatArray, local: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the motion without its quickest jerks; the first and last frames stay, and their neighbours almost."""
    frames = len(root)
    edge = smooth_step(np.minimum(np.arange(frames), np.arange(frames)[::-1]), 0.0, 6.0)
    steady = rotations.continuous(local)
    smooth = rotations.normalize(gaussian_filter1d(steady, 1.2, axis=0, mode="nearest"))
    calm = rotations.slerp(steady, smooth, np.broadcast_to(edge[:, None], steady.shape[:2]))
    return root + edge[:, None] * (gaussian_filter1d(root, 1.2, axis=0, mode="nearest") - root), calm


def _tracks(
    points: tuple[ContactPoint, ...],
    root: FloatArray,
    local: FloatArray,
    fps: float,
    holds: Sequence[Hold],
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return where each point shall be (F, P, 3), how firmly (F, P), and whether it is held (F, P)."""
    positions, world = forward_kinematics(person_skeleton(), root, local)
    times = np.arange(len(root)) / fps
    places = np.empty((len(root), len(points), 3))
    weights, flags = np.zeros(places.shape[:2]), np.zeros(places.shape[:2], dtype=bool)
    for k, point in enumerate(points):
        free = positions[:, point.joint] + rotations.rotate(world[:, point.joint], point.offset)
        places[:, k] = free
        own = sorted((h for h in holds if h.point == point.name), key=lambda h: h.start)
        grip = np.zeros(len(times))
        for hold in own:
            rise = smooth_step(times, hold.start - hold.fade, hold.start)
            fall = 1.0 - smooth_step(times, hold.end, hold.end + hold.fade)
            pull = np.minimum(rise, fall)
            nearer = pull > grip
            share = 1.0 if hold.direct else pull[nearer, None]
            places[nearer, k] = free[nearer] + share * (np.array(hold.place) - free[nearer])
            grip = np.maximum(grip, pull)
            flags[:, k] |= (times >= hold.start - 1e-9) & (times <= hold.end + 1e-9)
        for before, after in itertools.pairwise(own):
            if after.carry is not None:
                _carry(places[:, k], grip, times, before, after)
        weights[:, k] = grip * 10.0 ** (-5.0 * (1.0 - grip))  # a hold wins its grip evenly, not in its first frame
    return places, weights, flags


def _carry(places: FloatArray, grip: FloatArray, times: FloatArray, before: Hold, after: Hold) -> None:
    """Lead a point from one hold to the next in an arc (in place)."""
    inside = (times > before.end) & (times < after.start)
    share = (times[inside] - before.end) / (after.start - before.end)
    a, b = np.array(before.place), np.array(after.place)
    places[inside] = a + smooth_step(share)[:, None] * (b - a)
    places[inside, 2] += (after.carry or 0.0) * np.sin(np.pi * share) ** 2
    places[inside, 1] += after.bow * np.sin(np.pi * share) ** 2
    grip[inside] = 1.0 - after.loose * np.sin(np.pi * share) ** 2
