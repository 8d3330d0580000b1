"""The stage of a special motion: locomotion that leads in and out of it, and footprints that its legs reach."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gaitway.cast.person.gait.hubs import GaitHub, HubFrame, cut_between, hub, plant_between
from gaitway.cast.person.gait.planting import SIDES, Motion, Planted
from gaitway.cast.person.gait.stride import FPS, Controls, locomote, wobble_weights
from gaitway.cast.person.skeleton import LEG, person_skeleton
from gaitway.cast.person.styles import Style
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip


@dataclass(frozen=True, eq=False)
class ActionStage:
    """Unplanted motion from one hub to another with steady gait before and after, so that its ends are exact."""

    motion: Motion
    first: int
    """Frame of the start hub within the motion."""
    last: int
    """Frame of the end hub."""
    hubs: tuple[GaitHub, GaitHub]

    @property
    def times(self) -> FloatArray:
        """Seconds since the start hub; (F,), negative before it."""
        return (np.arange(len(self.motion.root)) - self.first) / self.motion.fps

    def plant(self, motion: Motion, name: str) -> Planted:
        """Plant a changed motion of this stage, its feet in the hubs' own places at both ends."""
        return plant_between(motion, self._ends(), name)

    def crop(self, clip: Clip, name: str) -> Clip:
        """Return the frames from hub to hub, the two end frames equal to the hub poses to the last bit."""
        return cut_between(clip, self.motion.path, self._ends(), name)

    def _ends(self) -> tuple[HubFrame, HubFrame]:
        return HubFrame(self.first, self.hubs[0]), HubFrame(self.last, self.hubs[1])


def stage(
    start: str,
    end: str,
    phase: FloatArray,
    speed: FloatArray,
    style: Style,
    *,
    jog: FloatArray | None = None,
    seed: int | None = None,
    wobble: float = 1.0,
) -> ActionStage:
    """Return a gait along given phases [cycles] and speeds [m/s] (N,); it must begin and end as the two hubs do.

    Args:
        start: State at the first frame.
        end: State at the last frame.
        phase: Phase of the left foot's cycle in every frame.
        speed: Along the heading in every frame.
        style: Style of the character.
        jog: Share of jogging against walking (N,); None takes it from the speed.
        seed: Draws the wobble of the cycles; None has none.
        wobble: Strength of the wobble.
    """
    first, last = hub(start, style), hub(end, style)
    lead_in, lead_out = max(first.frames, 15), max(last.frames, 15)
    before = phase[0] + first.rate * np.arange(-lead_in, 0) / FPS
    after = phase[-1] + last.rate * np.arange(1, lead_out + 1) / FPS
    padded = np.concatenate([np.full(lead_in, speed[0]), speed, np.full(lead_out, speed[-1])])
    share = None if jog is None else np.concatenate([np.full(lead_in, jog[0]), jog, np.full(lead_out, jog[-1])])
    controls = Controls(padded, np.zeros(len(padded)), np.concatenate([before, phase, after]), share)
    count = len(phase) - 1
    inside = np.clip((np.arange(len(padded)) - lead_in) / count, 0.0, 1.0)
    noise = wobble_weights(controls.phase, inside, min(0.4, 0.3 * FPS / count), seed, wobble)
    motion = locomote(controls, style, wobble=noise, start_frame=lead_in)
    return ActionStage(motion, lead_in, lead_in + count, (first, last))


def finer(points: FloatArray, times: int) -> FloatArray:
    """Return points (F, K, 3) with `times` samples for each frame, on straight lines between frames; (3, N, K)."""
    at = np.arange((len(points) - 1) * times + 1) / times
    low = np.minimum(at.astype(np.int64), len(points) - 2)
    share = (at - low)[:, None, None]
    out: FloatArray = np.moveaxis(points[low] + share * (points[low + 1] - points[low]), -1, 0)
    return out


def shorten_steps(
    motion: Motion, planted: Planted, landing: float = 0.97, leaving: float = 1.0, last_step: int = -1
) -> Motion:
    """Return the motion with those footprints moved that a leg reaches or leaves only when it is almost straight.

    Args:
        motion: What was planted.
        planted: What came of it.
        landing: Longest leg at touch-down, as a share of the straight one. Lower is more crouched.
        leaving: Longest leg at the end of the one stance that frame `last_step` belongs to.
        last_step: A frame of it; -1 for none.
    """
    hips = planted.clip.joint_positions()[:, person_skeleton().require("left_hip", "right_hip")]
    stances = []
    for stance in motion.stances:
        k = SIDES.index(stance.side)
        feet = planted.feet[:, k]
        flat = stance.start + int(np.argmin(np.abs(feet[stance.start : stance.end, 4])))
        move = np.zeros(2)
        asked = [(stance.start, landing)]
        if stance.start <= last_step < stance.end:
            asked.append((stance.end - 1, leaving))
        for frame, share in asked:
            reach = feet[frame, :3] - hips[frame, k]
            room = np.sqrt(max((share * LEG) ** 2 - reach[2] ** 2, 0.01))
            length = max(float(np.hypot(reach[0], reach[1])), 1e-6)
            move -= reach[:2] * max(1.0 - room / length, 0.0)
        inside = stance.start > 0 and stance.end < len(feet)
        if inside and move.any():
            x, y = feet[flat, :2] + move
            stances.append(replace(stance, footprint=(float(x), float(y), float(feet[flat, 3]))))
        else:
            stances.append(stance)
    return replace(motion, stances=tuple(stances))
