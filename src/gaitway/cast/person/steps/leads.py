"""Leads: the motion that a stepped clip comes out of and goes into, with the steps that are under way in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from gaitway.cast.person.gait.hubs import GaitHub, hub
from gaitway.cast.person.gait.planting import plant
from gaitway.cast.person.gait.stride import FPS, NEUTRAL, Controls, locomote
from gaitway.cast.person.steps.footwork import SIDES, FootPlacement, FootStep
from gaitway.cast.person.styles import Style
from gaitway.core.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Lead:
    """Motion that a stepped clip comes from or goes into, in the frame of its hub."""

    root: FloatArray
    """Root positions [m]; (2 reach + 1, 3). Row `reach` is the hub itself."""
    rotations: FloatArray
    """Local rotations; (2 reach + 1, J, 4)."""
    reach: int
    """Frames on either side of the hub."""
    left: FootPlacement
    right: FootPlacement
    """Positions of the feet before `steps`."""
    steps: tuple[FootStep, ...]
    """Steps around the hub, at times relative to it [s]."""
    feet: FloatArray
    """World targets of both feet in the hub: ankle, yaw, pitch, roll; (2, 6)."""

    def under_way(self) -> list[FootStep]:
        """Return the steps that have begun when the hub is reached, in order."""
        return [step for step in self.steps if step.lift < 0.0]

    def arrivals(self, pose: FloatArray, time: float, height: float = 0.0) -> list[FootStep]:
        """Return the steps into the hub placed at a planar pose (3,), time [s] and height [m], and the steps after it.

        The first one is the last that has landed by then.
        """
        landed = [i for i, step in enumerate(self.steps) if step.land <= 0.0]
        return [moved_step(step, pose, time, height) for step in self.steps[landed[-1] if landed else 0 :]]


@dataclass(frozen=True, eq=False)
class LeadJoin:
    """One end of a clip: a lead placed in the plan, and how it is faded."""

    lead: Lead
    time: float
    """Time of the hub in the plan [s]."""
    pose: FloatArray
    """Planar pose of the hub's frame in the plan; (3,)."""
    fade_s: float
    """How long the lead takes to give way [s]."""
    height: float = 0.0
    """Height of the ground that the hub stands on [m]."""


def moved_step(step: FootStep, pose: FloatArray, time: float, height: float = 0.0) -> FootStep:
    """Return the step carried along by a planar pose (3,), later by `time` [s] and higher by `height` [m]."""
    return replace(step, lift=step.lift + time, land=step.land + time, target=step.target.moved(pose, height))


@cache
def lead_of(state: str, style: Style = NEUTRAL) -> Lead:
    """Return the lead of "stand" or of a gait's state, for a person."""
    at = hub(state, style)
    if state == "stand":
        reach = int(1.5 * FPS)
        count = 2 * reach + 1
        prints = [FootPlacement(*where) for where in at.footprints if where is not None]
        still = np.broadcast_to(at.rotations, (count, *at.rotations.shape))
        return Lead(np.broadcast_to(at.root, (count, 3)), still, reach, prints[0], prints[1], (), at.pin.feet)
    return _gait_lead(at, style)


def _gait_lead(at: GaitHub, style: Style) -> Lead:
    """Return a steady gait around its hub, planted exactly as the hub was."""
    reach, total = 2 * at.frames, 5 * at.frames + 1
    cycle = at.phase + (np.arange(total) - reach) / at.frames
    motion = locomote(Controls(np.full(total, at.speed), np.zeros(total), cycle), style, start_frame=reach)
    planted = plant(motion)
    where: dict[str, FootPlacement] = {}
    steps: list[tuple[float, FootStep]] = []
    for stance in sorted(motion.stances, key=lambda s: s.start):
        flat = planted.feet[stance.start : stance.end, SIDES.index(stance.side)]
        x, y, _, yaw, *_ = flat[np.argmin(np.abs(flat[:, 4]))]
        target = FootPlacement(float(x), float(y), float(yaw))
        previous = [s for s in motion.stances if s.side == stance.side and s.end <= stance.start]
        if previous:
            lift = (max(s.end for s in previous) - 1 - reach) / FPS
            steps.append((lift, FootStep(stance.side, lift, (stance.start - reach) / FPS, target)))
        else:
            where[stance.side] = target
    kept = tuple(step for _, step in sorted(steps, key=lambda s: s[1].land) if step.land < reach / FPS)
    rows = slice(0, 2 * reach + 1)
    clip = planted.clip
    return Lead(
        clip.root_positions[rows], clip.rotations[rows], reach, where["left"], where["right"], kept, at.pin.feet
    )
