"""A standing jump with both feet onto a box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d

from gaitway.cast.person.gait.stride import FPS, NEUTRAL, turn_joint
from gaitway.cast.person.steps.footwork import FootStep, GroundHeight, StepPlan, both_feet
from gaitway.cast.person.steps.keyed import MASS_ROUNDS, Fall, Flight, pelvis_path
from gaitway.cast.person.steps.leads import LeadJoin, lead_of
from gaitway.cast.person.steps.model import BodyCurves, StepModel
from gaitway.cast.person.steps.stepping import Tempo, plan_times
from gaitway.cast.person.steps.trunk import whole_pose
from gaitway.cast.person.styles import Style
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip

BOX_HEIGHT = 0.45
"""Height of the box that the jump lands on [m]."""
BOX_EDGE = 0.52
"""Its near face, ahead of where the jumper stands [m]."""
_LAND_BEHIND_EDGE = 0.20
"""How far behind the near edge the jumper stands at the end [m]."""
_FLIGHT_FRAMES = 14
_ARM_SWING = (
    [0.0, 0.4, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 4.6, 5.0],
    [0.0, 0.2, 0.75, 0.4, -1.3, -1.5, -0.8, -0.35, -0.1, 0.0],
)
"""Backward swing of the arms [rad] at the jump model's times. People swing at different times, so their mean swings
too little."""


def step_ground(edge: float, height: float) -> GroundHeight:
    """Return level ground with one step of `height` [m], up or down, at x = `edge`."""

    def heights(points: FloatArray) -> FloatArray:
        return np.where(points[..., 0] > edge, height, 0.0)

    return heights


@dataclass(frozen=True)
class _Beat:
    """Times of a jump [s]: deepest crouch, take-off, landing, deepest landing, end."""

    low: float
    off: float
    land: float
    deep: float
    end: float

    def clock(self, times: FloatArray) -> FloatArray:
        """Return the jump model's own time, 0 (start) to 5 (end); (F,)."""
        out: FloatArray = np.interp(times, [0.0, self.low, self.off, self.land, self.deep, self.end], np.arange(6.0))
        return out


def box_jump(name: str, style: Style = NEUTRAL, seed: int | None = None) -> tuple[Clip, float]:
    """Make the jump from the stand onto a box; also return the time at which the pelvis is over its edge [s]."""
    lead, tempo = lead_of("stand", style), Tempo(seed)
    low = tempo.around(0.62)
    off = float(np.ceil((low + 0.28) * FPS) / FPS)
    land = off + _FLIGHT_FRAMES / FPS
    beat = _Beat(low, off, land, land + tempo.around(0.20), round((land + 1.0) * FPS) / FPS)
    move = np.array([BOX_EDGE + _LAND_BEHIND_EDGE + float(tempo.draw(0.02)[0]), 0.0, 0.0])
    steps = tuple(
        FootStep(side, beat.off, beat.land, where.moved(move, BOX_HEIGHT), "jump", 0.06, 1.0)
        for side, where in (("left", lead.left), ("right", lead.right))
    )
    plan = StepPlan(lead.left, lead.right, steps, beat.end, step_ground(BOX_EDGE, BOX_HEIGHT))
    joins = [LeadJoin(lead, 0.0, np.zeros(3), 0.5), LeadJoin(lead, beat.end, move, 0.55, BOX_HEIGHT)]
    times, x = plan_times(plan), float(lead.root[0, 0])
    stands = (lead.root[0], lead.root[0] + [move[0], 0.0, BOX_HEIGHT])
    keys = ([(beat.low, x - 0.03, 0.1)], [(beat.low, 0.77, 1.0), (beat.deep, BOX_HEIGHT + 0.68, 1.0)])
    # who stands lower pushes off lower too; legs that are stretched further would straighten too suddenly
    rise = float(lead.root[0, 2] - lead_of("stand", NEUTRAL).root[0, 2])
    flight = Flight(beat.off, beat.land, (x + 0.12, 1.07 + rise), (x + move[0] - 0.04, BOX_HEIGHT + 0.83))
    fall = Fall(
        name,
        plan,
        joins,
        lambda mass: pelvis_path(times, keys, stands, beat.end, flight, mass),
        both_feet(plan, times),
        np.zeros(len(times)),
    )
    clip, _ = fall.perform(_jump_pose(times, beat, style, seed), rounds=MASS_ROUNDS)
    return clip, float(np.interp(BOX_EDGE, clip.root_positions[:, 0], np.arange(len(clip)) / FPS))


def _jump_pose(times: FloatArray, beat: _Beat, style: Style, seed: int | None) -> FloatArray:
    """Return trunk and arms of the fitted jump; (F, J, 4)."""
    clock = beat.clock(times)
    still = np.zeros((len(times), 3))
    local = whole_pose(BodyCurves(still, still[:, 0], StepModel.load().jump(clock)), times, style, seed, beat.end)
    swing = gaussian_filter1d(np.interp(clock, *_ARM_SWING), 0.07 * FPS, mode="nearest")
    for side in ("Left", "Right"):
        turn_joint(local, f"{side}Arm", 0.0, swing, 0.0)
    return local
