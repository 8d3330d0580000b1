"""Hubs: the exact poses in which clips begin and end, so that any two clips that share one join by a plain cut.

Further takes of a behaviour share pelvis and legs of a hub and hold the rest of the body in their own way there.

A hub is the one pose (and velocity) of a state: "stand", or "walk", "jog", "back" in the middle of the left foot's
stance at the gait's nominal speed. The last frame of one clip is the first of the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from gaitway.cast.person.gait.model import GaitModel
from gaitway.cast.person.gait.planting import SIDES, FootPin, FootStance, Motion, Planted, plant
from gaitway.cast.person.gait.standing import FootPlacement, standing_pose
from gaitway.cast.person.gait.stride import FPS, NEUTRAL, SPEEDS, STATES, Controls, hub_phase, locomote
from gaitway.cast.person.styles import Style
from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import LibraryError
from gaitway.motion.anatomy import upper_joints
from gaitway.motion.clip import Clip

STAND_PHASE = 0.10
"""Phase at rest: both feet on the ground, the right one about to leave it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GaitHub:
    """The pose of a state, in the frame of the centre line: x forward, heading 0."""

    state: str
    phase: float
    """Phase of the left foot's cycle [cycles]."""
    speed: float
    """Along the heading [m/s]."""
    rate: float
    """Cycles a second [Hz]; 0 for "stand"."""
    frames: int
    """Frames of one steady cycle at `FPS`; 0 for "stand"."""
    root: FloatArray
    """Root position: sway x, y and height [m]; (3,)."""
    rotations: FloatArray
    """Local, wxyz; (J, 4)."""
    velocity: FloatArray
    """Velocity of the root [m/s]; (3,)."""
    footprints: tuple[FootPlacement | None, FootPlacement | None]
    """Positions of the left and the right sole (x, y, heading), None in the air."""
    pin: FootPin
    """Pin of the foot, for the planter."""


@cache
def hub(state: str, style: Style = NEUTRAL) -> GaitHub:
    """Return the exact pose and velocity of a state ("stand", "walk", "jog" or "back") for a person."""
    if state not in STATES:
        raise LibraryError(f"no state '{state}'; there are {', '.join(STATES)}")
    if state == "stand":
        still, frames = np.zeros(31), 0
        controls, middle = Controls(still, still, np.full(31, STAND_PHASE)), 15
        prints = standing_pose(style).footprints
        stances = tuple(FootStance(side, 0, 31, where) for side, where in zip(SIDES, prints, strict=True))
        motion = replace(locomote(controls, style, start_frame=middle), stances=stances)
    else:
        model = GaitModel.load()
        natural = model.timings(state, abs(SPEEDS[state]), 0.0, style.vector(model))[0]
        frames = round(FPS / float(natural))
        count, middle = 5 * frames + 1, 2 * frames
        cycle = hub_phase(state, style) + (np.arange(count) - middle) / frames
        controls = Controls(np.full(count, SPEEDS[state]), np.zeros(count), cycle)
        motion = locomote(controls, style, start_frame=middle)
    return _hub_at(state, plant(motion), motion, middle, frames)


def _hub_at(state: str, planted: Planted, motion: Motion, frame: int, frames: int) -> GaitHub:
    clip = planted.clip
    prints: list[FootPlacement | None] = [None, None]
    for stance in motion.stances:
        if stance.start <= frame < stance.end:
            k = SIDES.index(stance.side)
            feet = planted.feet[stance.start : stance.end, k]
            x, y, _, yaw, _, _ = feet[np.argmin(np.abs(feet[:, 4]))]
            prints[k] = (float(x), float(y), float(yaw))
    velocity = (clip.root_positions[frame + 1] - clip.root_positions[frame - 1]) * 0.5 * clip.fps
    return GaitHub(
        state=state,
        phase=float(motion.phase[frame]),
        speed=SPEEDS[state],
        rate=FPS / frames if frames else 0.0,
        frames=frames,
        root=clip.root_positions[frame],
        rotations=clip.rotations[frame],
        velocity=velocity,
        footprints=(prints[0], prints[1]),
        pin=FootPin(frame, planted.feet[frame], float(planted.pelvis[frame])),
    )


@dataclass(frozen=True, eq=False)
class HubFrame:
    """A frame of a motion in which a hub must be met."""

    frame: int
    hub: GaitHub


def plant_between(motion: Motion, ends: Sequence[HubFrame], name: str) -> Planted:
    """Plant a motion so that it passes through hubs: their footprints and foot targets are kept.

    Args:
        motion: With steady gait for about a cycle before the first hub and after the last one.
        ends: The frames in which hubs are met; the motion's path there gives their place.
        name: Name of the clip.
    """
    pins = []
    for end in ends:
        path, feet = motion.path[end.frame], end.hub.pin.feet.copy()
        feet[:, :2] = planar.transform_points(path, feet[:, :2])
        feet[:, 3] += path[2]
        pins.append(FootPin(end.frame, feet, end.hub.pin.pelvis))
    stances = tuple(_on_hub_footprint(stance, motion, ends) for stance in motion.stances)
    return plant(replace(motion, stances=stances), pins, name)


def _on_hub_footprint(stance: FootStance, motion: Motion, ends: Sequence[HubFrame]) -> FootStance:
    for end in ends:
        where = end.hub.footprints[SIDES.index(stance.side)]
        if stance.start <= end.frame < stance.end and where is not None:
            x, y, heading = planar.compose(motion.path[end.frame], np.array(where))
            return replace(stance, footprint=(float(x), float(y), float(heading)))
    return stance


def cut_between(
    clip: Clip, path: FloatArray, ends: tuple[HubFrame, HubFrame], name: str, *, free_ends: bool = False
) -> Clip:
    """Return the frames from one hub to the other, both set to the hub poses to the last bit.

    With free ends only pelvis and legs are; trunk, arms and head stay as they are.
    """
    held = ~upper_joints(clip.skeleton) if free_ends else np.ones(len(clip.skeleton), dtype=bool)
    a, b = ends[0].frame, ends[1].frame
    root, local = clip.root_positions[a : b + 1].copy(), clip.rotations[a : b + 1].copy()
    for i, end in ((0, ends[0]), (-1, ends[1])):
        place = path[end.frame]
        root[i, :2], root[i, 2] = planar.transform_points(place, end.hub.root[:2]), end.hub.root[2]
        local[i, held] = end.hub.rotations[held]
        local[i, 0] = rotations.multiply(rotations.from_yaw(place[2]), end.hub.rotations[0])
    contacts = None if clip.contacts is None else clip.contacts[a : b + 1]
    return Clip(clip.skeleton, root, rotations.continuous(local), clip.fps, name, contacts)
