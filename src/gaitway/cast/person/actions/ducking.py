"""Going under: a walker or jogger folds down, passes and rises again without losing the rhythm of the steps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gaitway.cast.curves import plateau, smooth_step
from gaitway.cast.person.actions.model import action_model
from gaitway.cast.person.actions.staging import ActionStage, finer, shorten_steps, stage
from gaitway.cast.person.gait.hubs import hub
from gaitway.cast.person.gait.model import GaitModel
from gaitway.cast.person.gait.planting import Motion
from gaitway.cast.person.gait.stride import FPS, blend_poses, cycle_rate, stance_schedule, turn_joint
from gaitway.cast.person.styles import Style
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip

_TOPS = {"HeadTop_End": 0.0, "Head": 0.09, "Neck": 0.07, "Spine2": 0.13, "Spine1": 0.13, "Spine": 0.13, "Hips": 0.13}
_SIDE_TOPS = {"Arm": 0.07, "ForeArm": 0.05, "Hand": 0.04, "Leg": 0.07}
"""How far the body reaches above a joint [m]."""


@dataclass(frozen=True)
class Duck:
    """How a duck is to be."""

    gait: str
    """State it comes from and returns to: "walk" or "jog"."""
    depth: float = 0.85
    """How low: 0 upright, 1 head at about 0.9 m."""
    cycles: int = 3
    low_speed: float = 0.95
    """Speed [m/s] at the lowest."""
    quickness: float = 1.0
    """Factor on the step rate while low; crouched people take shorter, quicker steps."""
    keys: tuple[float, float, float, float] = (0.04, 0.39, 0.63, 0.96)
    """Shares of the clip at which it begins to go down, is down, begins to rise, is up."""
    longer_stance: float = 0.0
    """How much longer a foot stays down while low [cycles]; takes the flight out of a crouched run."""


@dataclass(frozen=True)
class DuckWay:
    """How somebody carries the body while low, beside what captured people do in the mean; steps and times stay."""

    sink: float = 0.0
    """How much lower the pelvis goes [m], at depth 1; knees bend more."""
    bow: float = 0.0
    """Further bend of the back [rad]; negative keeps it upright."""
    nod: float = 0.0
    """How much farther the head is bowed towards the floor [rad]."""
    turn: float = 0.0
    """Turn of the trunk to the left [rad]; the face stays on the way."""
    tilt: float = 0.0
    """Tilt of the trunk to the left [rad]."""
    early: float = 0.0
    """How much earlier it goes down and comes up [share of the clip]."""
    left: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """How much farther the left arm is raised to the front and out to its side, and its elbow bent [rad]."""
    right: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """The same of the right arm."""


AS_MOST = DuckWay()
"""As captured people duck in the mean."""


def duck_clip(
    name: str, duck: Duck, style: Style, seed: int | None = None, way: DuckWay = AS_MOST
) -> tuple[Clip, float]:
    """Return a duck that begins and ends in a gait.

    Args:
        name: Name of the clip.
        duck: How low and how fast.
        style: Style of the character.
        seed: Seed of this take; None gives the mean take.
        way: How the body is carried. Clips of one seed in different ways take the same steps in the same time.

    Returns:
        The clip, and the time [s] at which the root is under the middle of the obstacle.
    """
    rng = np.random.default_rng(seed)
    variation = np.zeros(2)
    if seed is not None:
        variation = np.clip(rng.normal(size=2), -1.2, 1.2) * [0.15, 0.25]  # more twists the ankles too far
        duck = replace(duck, depth=duck.depth + 0.02 * float(np.clip(rng.normal(), -1.0, 1.5)))
    phase, speed = _rhythm(duck, style)
    set_up = stage(duck.gait, duck.gait, phase, speed, style, seed=seed, wobble=0.6)
    motion = _posed(set_up, duck, variation, way)
    planted = set_up.plant(shorten_steps(motion, set_up.plant(motion, name), 0.95), name)
    clip = set_up.crop(planted.clip, name)
    return clip, best_pass_time(clip)


def _rhythm(duck: Duck, style: Style) -> tuple[FloatArray, FloatArray]:
    """Return the phases [cycles] and speeds [m/s] of all frames."""
    at = hub(duck.gait, style)
    share = np.linspace(0.0, 1.0, 401)
    low = plateau(share, *duck.keys)
    speed = at.speed + (duck.low_speed - at.speed) * low
    jog = np.full(len(share), float(duck.gait == "jog"))
    rate = cycle_rate(GaitModel.load(), speed, style, jog) * (1.0 + (duck.quickness - 1.0) * low)
    rate += at.rate - rate[0]
    rise = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1])) * (share[1] - share[0])])
    frames = round(FPS * duck.cycles / rise[-1])
    phase = at.phase + rise * frames / FPS
    phase += (duck.cycles - (phase[-1] - phase[0])) * smooth_step(share, 0.1, 0.9)  # less than a frame's worth
    grid = np.linspace(0.0, 1.0, frames + 1)
    return np.interp(grid, share, phase), np.interp(grid, share, speed)


def _posed(set_up: ActionStage, duck: Duck, variation: FloatArray, way: DuckWay) -> Motion:
    """Return the gait of the stage with a lowered body."""
    motion = set_up.motion
    share = set_up.times / ((set_up.last - set_up.first) / motion.fps)
    begin, low, rise, end = duck.keys
    down = plateau(share, begin - 0.5 * way.early, low - way.early, rise - way.early, end - 0.5 * way.early)
    poses, height = action_model().crouch(duck.gait, motion.phase, duck.depth * down, variation)
    weight = np.sin(0.5 * np.pi * down)  # the gait's own pose gives way before the body is down
    local = blend_poses(motion.rotations, poses, weight)
    root = motion.root.copy()
    root[:, 2] += weight * (height - duck.depth * way.sink - root[:, 2])
    _carry(local, way, weight)
    model = GaitModel.load()
    timing = np.repeat(model.timings(duck.gait, hub(duck.gait).speed)[None], len(root), axis=0)
    timing[:, 2] += duck.longer_stance * weight
    stances = (
        stance_schedule(motion.phase, np.stack([timing, timing], axis=1)) if duck.longer_stance else motion.stances
    )
    return replace(motion, root=root, rotations=local, stances=stances)


def _carry(local: FloatArray, way: DuckWay, weight: FloatArray) -> None:
    """Carry trunk, head and arms in a way of their own, by weights (F,); changes local rotations (F, J, 4) in place."""
    for joint, part in (("Spine", 0.35), ("Spine1", 0.35), ("Spine2", 0.3)):
        turn_joint(local, joint, -part * way.tilt * weight, part * way.bow * weight, part * way.turn * weight)
    for joint, part in (("Neck", 0.4), ("Head", 0.6)):  # the gaze stays level, but for the nod
        turn_joint(
            local, joint, 0.7 * part * way.tilt * weight, part * (way.nod - way.bow) * weight, -part * way.turn * weight
        )
    for side, out, (forward, aside, elbow) in (("Left", 1.0, way.left), ("Right", -1.0, way.right)):
        turn_joint(local, f"{side}Shoulder", 0.2 * out * aside * weight, 0.0, 0.0)
        # arms hang, however far the back is bent
        turn_joint(local, f"{side}Arm", 0.8 * out * aside * weight, -(forward + 0.8 * way.bow) * weight, 0.0)
        turn_joint(local, f"{side}ForeArm", 0.0, 0.0, -out * elbow * weight)


def clearance_under(clip: Clip, pass_time: float, depth: float) -> float:
    """Return the height [m] of the lowest beam, `depth` [m] deep along x, that the whole body passes under.

    The middle of the beam is where the root is at `pass_time`.
    """
    return float(_clearances(clip, np.array([pass_time]), depth)[0])


def best_pass_time(clip: Clip, depth: float = 0.5) -> float:
    """Return the time [s] at which the root should be under an obstacle's middle to have most room."""
    times = np.linspace(0.3, 0.7, 33) * clip.duration
    room = _clearances(clip, times, depth)
    lowest = np.flatnonzero(room <= room.min() + 0.005)
    return float(times[int(lowest[len(lowest) // 2])])


def _clearances(clip: Clip, pass_times: FloatArray, depth: float) -> FloatArray:
    """Return `clearance_under` at several times [s]; (N,)."""
    points, tops = body_tops(clip)
    x, _, z = finer(points, 4)
    height = z + tops
    middles = np.interp(pass_times * clip.fps, np.arange(len(clip)), clip.root_positions[:, 0])
    return np.array([height[np.abs(x - middle) <= 0.5 * depth].max(initial=0.0) for middle in middles])


def body_tops(clip: Clip) -> tuple[FloatArray, FloatArray]:
    """Return the joints that may be the highest of the body (F, K, 3) and how far it reaches above each [m] (K,)."""
    skeleton = clip.skeleton
    reach = {skeleton.index(name): top for name, top in _TOPS.items()}
    reach |= {skeleton.index(side + name): top for side in ("Left", "Right") for name, top in _SIDE_TOPS.items()}
    positions = clip.joint_positions()
    return positions[:, list(reach)], np.array(list(reach.values()))
