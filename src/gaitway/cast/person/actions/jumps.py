"""Leaps out of a jog: off the left foot, through the air on an exact parabola, onto the right foot and on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gaitway.cast.curves import fill_smoothly, plateau, smooth_step
from gaitway.cast.masses import GRAVITY, centre_of_mass
from gaitway.cast.person.actions.model import LEAP_EVENTS, action_model, event_clock
from gaitway.cast.person.actions.staging import ActionStage, finer, shorten_steps, stage
from gaitway.cast.person.gait.hubs import hub
from gaitway.cast.person.gait.model import GaitModel
from gaitway.cast.person.gait.planting import Motion, Planted
from gaitway.cast.person.gait.stride import FPS, blend_poses, stance_schedule, turn_joint
from gaitway.cast.person.skeleton import HEEL, TOE_TIP, person_skeleton
from gaitway.cast.person.styles import Style
from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.kinematics import forward_kinematics

_PUSH_S = 0.15
"""The pelvis is lowest this long before take-off and after landing [s]."""
_CROUCH_HEIGHT, _ABSORB_HEIGHT = 0.81, 0.82
"""About how high it is then [m]; captured people go down to 0.77."""
_CROUCH_PULL = 0.3
_TRIES = 10
_STEP_ROUNDS, _FLIGHT_ROUNDS = 4, 3
"""The flight depends on the pose and the pose on the planted feet: they are found in turn, first with the footprints.
Each further round leaves a fiftieth of the error."""
_JUDGED, _DOUBT = 1, 0.03
"""An attempt that falls short by more than this after that round is given up [m]; later ones add 0.02 at most."""
_ROLL_OFF_S = 0.04
"""Delay of the toes after the fitted take-off [s]; that is the moment at which the ball of the foot begins to move."""
_LONGEST_FITTED = 0.52
"""Flight time [s] beyond which the poses stay as they are; the longest captured leap has 0.55."""
_LANDING_KNEE = 0.2
"""Further bend of the knee that lands [rad]."""
_SLACK = 0.035
"""The pelvis leaves and meets the ground this much lower than the fitted pose stands [m]; straight knees snap."""


@dataclass(frozen=True)
class Leap:
    """How a leap is to be."""

    flight_s: float
    """Time from the last contact of the left foot to the first contact of the right one [s]."""
    cycles_before: int = 1
    """Whole cycles of jogging from the hub to the cycle of the take-off."""
    cycles_after: int = 0
    """Whole cycles of jogging after the step that follows the landing."""
    top_speed: float = 2.8
    """Speed of the run-up at the take-off [m/s]."""
    tuck: float = 0.0
    """How much more than the captured people both legs are folded over the obstacle [rad of the knee]."""
    lean: float = 0.0
    """Additional forward lean of the trunk around the apex [rad]."""
    leg_at_takeoff: float = 0.93
    """Longest leg at the end of the last step, as a share of the straight one. Lower sets that foot farther ahead."""
    clears: float = 0.535
    """Height [m] of what the legs must pass over; a leap that falls short is made again, longer and more folded."""
    depth: float = 0.4
    """Depth of the obstacle along the path [m]."""


@dataclass(frozen=True)
class _Schedule:
    """Times of the events of a leap, seconds from the hub, by name; and the phase of the gait at each."""

    times: dict[str, float]
    phases: dict[str, float]
    frames: int
    phase: FloatArray
    """Phase of the gait in every frame [cycles]; (frames + 1,)."""

    @property
    def takeoff(self) -> float:
        return self.times["takeoff"]

    @property
    def landing(self) -> float:
        return self.times["landing"]


def leap_clip(name: str, leap: Leap, style: Style, seed: int | None = None) -> tuple[Clip, float]:
    """Return a leap from jog to jog.

    Args:
        name: Name of the clip.
        leap: How far and high.
        style: Style of the character.
        seed: Seed of this take; None gives the mean take.

    Returns:
        The clip, and the time [s] at which the body is over the middle of what it leaps over.
    """
    rng = np.random.default_rng(seed)
    variation = np.zeros(2) if seed is None else np.clip(0.3 * rng.normal(size=2), -0.5, 0.5)
    if seed is not None:
        leap = replace(leap, flight_s=leap.flight_s * (1.0 + 0.02 * np.clip(rng.normal(), -1.5, 1.5)))
    for left in range(_TRIES, 0, -1):
        clip, plan = _perform(name, leap, style, seed, variation, may_give_up=left > 1)
        when = best_pass_time(clip, plan.takeoff, plan.landing)
        if clearance_over(clip, when, leap.depth) >= leap.clears:
            break
        leap = replace(leap, flight_s=leap.flight_s + 0.01, tuck=min(leap.tuck + 0.1, 0.85))
    return clip, when


def _perform(
    name: str, leap: Leap, style: Style, seed: int | None, variation: FloatArray, *, may_give_up: bool
) -> tuple[Clip, _Schedule]:
    """Return one attempt at a leap. An attempt that may give up is not finished if it cannot clear its obstacle."""
    plan = _schedule(leap, style)
    set_up = stage(
        "jog", "jog", plan.phase, _speeds(plan, leap), style, jog=np.ones(plan.frames + 1), seed=seed, wobble=0.6
    )
    motion = _posed(set_up, plan, leap, style, variation)
    planted = set_up.plant(motion, name)
    airborne = _airborne(set_up, motion, plan)
    for round_ in range(_STEP_ROUNDS + _FLIGHT_ROUNDS):
        motion = _in_flight(set_up, motion, planted, plan, airborne)
        if round_ < _STEP_ROUNDS:  # then the footprints stay, so that the flight can settle
            motion = shorten_steps(motion, planted, 0.965, leap.leg_at_takeoff, int(np.flatnonzero(airborne)[0]))
        planted = set_up.plant(motion, name)
        if may_give_up and round_ == _JUDGED:
            clip = set_up.crop(planted.clip, name)
            when = best_pass_time(clip, plan.takeoff, plan.landing)
            if clearance_over(clip, when, leap.depth) < leap.clears - _DOUBT:
                break
    return set_up.crop(planted.clip, name), plan


def _schedule(leap: Leap, style: Style) -> _Schedule:
    start = hub("jog", style)
    _, begin, end = _timing(style)
    jump = leap.cycles_before
    phases = {
        "previous_touchdown": jump - 0.5 + begin,
        "previous_takeoff": jump - 0.5 + end,
        "touchdown": jump + begin,
        "takeoff": jump + end,
        "landing": jump + 0.5 + begin,
        "push_off": jump + 0.5 + end,
        "next_touchdown": jump + 1.0 + begin,
    }
    pace = start.rate * (0.90 + 0.2 * (leap.top_speed / start.speed - 1.0))
    takeoff = round(FPS * ((phases["takeoff"] - start.phase) / pace)) / FPS
    landing = takeoff + leap.flight_s
    finish = jump + 1.0 + leap.cycles_after + start.phase
    total = round(FPS * (landing + (finish - phases["landing"]) / (0.95 * start.rate))) / FPS
    after = (total - landing) / (finish - phases["landing"])
    before = takeoff / (phases["takeoff"] - start.phase)
    times = {
        key: takeoff + before * (p - phases["takeoff"])
        if p <= phases["takeoff"]
        else landing + after * (p - phases["landing"])
        for key, p in phases.items()
    }
    frames = round(FPS * total)
    # one more cycle of the hub's own rhythm at both ends gives the curve the hub's rate there
    knots = [(-1.0 / start.rate, start.phase - 1.0), (0.0, start.phase)]
    knots += [(times[k], phases[k]) for k in phases if times[k] > 0.05]
    knots += [(total, finish), (total + 1.0 / start.rate, finish + 1.0)]
    t, p = np.array(knots).T
    phase = event_clock(t, p)(np.arange(frames + 1) / FPS)
    phase[0], phase[-1] = start.phase, finish
    return _Schedule(times, phases, frames, phase)


def _timing(style: Style) -> tuple[float, float, float]:
    """Return cycle rate [Hz] and stance start and end [cycles] of the jog; a leap keeps them at every speed."""
    model = GaitModel.load()
    rate, begin, end = model.timings("jog", hub("jog", style).speed, 0.0, style.vector(model))
    return float(rate), float(begin), float(end)


def _speeds(plan: _Schedule, leap: Leap) -> FloatArray:
    """Return the speed of every frame [m/s]: up to the take-off, lost a little on landing, back to a jog."""
    t = np.arange(plan.frames + 1) / FPS
    cruise = hub("jog").speed
    rise = smooth_step(t, 0.1, max(plan.takeoff - 0.1, 0.3))
    lost = smooth_step(t, plan.landing, plan.landing + 0.2)
    back = smooth_step(t, plan.landing + 0.05, plan.frames / FPS - 0.05)
    peak = leap.top_speed - cruise
    return cruise + peak * (rise - lost) - 0.25 * (lost - back) * (1.0 if peak < 0.1 else 0.5)


def _posed(set_up: ActionStage, plan: _Schedule, leap: Leap, style: Style, variation: FloatArray) -> Motion:
    """Return the stage's gait with the leap's poses blended in."""
    t = set_up.times
    keys = list(LEAP_EVENTS)
    model_times = [LEAP_EVENTS[k] + _ROLL_OFF_S * (k == "takeoff") for k in keys]
    clock = event_clock([plan.times[k] for k in keys], model_times)
    model_time = clock(np.clip(t, plan.times[keys[0]], plan.times[keys[-1]]))
    poses = action_model().leap(model_time, min(leap.flight_s, _LONGEST_FITTED), variation)
    _fold(poses, (t - plan.takeoff) / leap.flight_s, leap)
    begin, full = plan.times["previous_touchdown"] + 0.05, plan.times["touchdown"] - 0.02
    after = plan.times["next_touchdown"]
    local = blend_poses(set_up.motion.rotations, poses, plateau(t, begin, full, plan.landing + 0.04, after + 0.08))
    # a jogger's own swing of the arms may be far from the leap's: they need longer to find it again
    arms = [j for j, joint in enumerate(person_skeleton().names) if joint.endswith(("Shoulder", "Arm", "Hand"))]
    swing = plateau(t, begin, full, plan.landing - 0.20, after + 0.12)
    local[:, arms] = blend_poses(set_up.motion.rotations[:, arms], poses[:, arms], swing)
    timing = np.broadcast_to(np.array(_timing(style)), (len(t), 2, 3))
    return replace(set_up.motion, rotations=local, stances=stance_schedule(set_up.motion.phase, timing))


def _fold(poses: FloatArray, share: FloatArray, leap: Leap) -> None:
    """Add our own keys to the fitted leap; `share` is 0 at take-off and 1 at landing."""
    trail = plateau(share, 0.05, 0.55, 0.62, 0.98)
    lead = plateau(share, -0.1, 0.36, 0.45, 0.9)
    middle = plateau(share, 0.05, 0.45, 0.6, 1.1)
    turn_joint(poses, "LeftLeg", 0.0, leap.tuck * trail, 0.0)
    turn_joint(poses, "LeftUpLeg", 0.0, -0.75 * leap.tuck * trail, 0.0)
    turn_joint(poses, "RightLeg", 0.0, 0.35 * leap.tuck * lead, 0.0)
    turn_joint(poses, "RightUpLeg", 0.0, -0.5 * leap.tuck * lead, 0.0)
    ready = plateau(share, 0.55, 0.9, 1.05, 1.25)  # people do not land on a straight leg
    turn_joint(poses, "RightLeg", 0.0, _LANDING_KNEE * ready, 0.0)
    turn_joint(poses, "RightUpLeg", 0.0, -0.5 * _LANDING_KNEE * ready, 0.0)
    for joint in ("Spine", "Spine1", "Spine2"):
        turn_joint(poses, joint, 0.0, leap.lean / 3.0 * middle, 0.0)
    turn_joint(poses, "Neck", 0.0, -0.6 * leap.lean * middle, 0.0)


def _airborne(set_up: ActionStage, motion: Motion, plan: _Schedule) -> BoolArray:
    """Return whether no foot may touch the ground in each frame, that is, from take-off to landing; (F,)."""
    stances = sorted(motion.stances, key=lambda s: s.start)
    t = set_up.times
    middle = int(np.argmin(np.abs(t - 0.5 * (plan.takeoff + plan.landing))))
    before = max(s.end for s in stances if s.end <= middle)
    after = min(s.start for s in stances if s.start > middle)
    frames = np.arange(len(t))
    return (frames >= before - 1) & (frames <= after)


def _in_flight(set_up: ActionStage, motion: Motion, planted: Planted, plan: _Schedule, airborne: BoolArray) -> Motion:
    """Return the motion with its root moved so that the planted body's centre of mass flies freely."""
    clip = planted.clip
    offset = centre_of_mass(clip.skeleton, clip.root_positions, clip.rotations) - clip.root_positions
    frames = np.flatnonzero(airborne)
    first, last = frames[0], frames[-1]
    span = (last - first) / motion.fps
    natural = motion.root[:, 2] + planted.pelvis
    low = _standing_heights(motion)
    ends = np.array([low[first, 0] + offset[first, 2], low[last, 1] + offset[last, 2]]) - _SLACK
    u = (frames - first) / motion.fps
    height = natural.copy()
    climb = (ends[1] - ends[0]) / span + 0.5 * GRAVITY * span
    height[frames] = ends[0] + climb * u - 0.5 * GRAVITY * u * u - offset[frames, 2]
    t = set_up.times
    known = airborne | (t <= plan.times["previous_touchdown"] + 0.08) | (t >= plan.times["next_touchdown"] + 0.02)
    crouch = (first - round(_PUSH_S * motion.fps), _CROUCH_HEIGHT, _CROUCH_PULL)
    absorb = (last + round(_PUSH_S * motion.fps), _ABSORB_HEIGHT, _CROUCH_PULL)
    height = fill_smoothly(height, known, [crouch, absorb])
    root = motion.root.copy()
    for axis in (0, 1):
        mass = root[frames, axis] + offset[frames, axis]
        straight = mass[0] + (mass[-1] - mass[0]) * u / span
        shift = np.zeros(len(root))
        shift[frames] = straight - mass
        root[:, axis] += shift
    return replace(motion, root=root, lift=height - natural)


def _standing_heights(motion: Motion) -> FloatArray:
    """Return the pelvis heights [m] at which the left toe tip, and the right heel or toe, would just touch; (F, 2)."""
    skeleton = person_skeleton()
    positions, world = forward_kinematics(skeleton, motion.root, motion.rotations)
    out = np.empty((len(motion.root), 2))
    for k, side in enumerate(("left", "right")):
        foot = skeleton.index(f"{side}_ankle")
        soles = [positions[:, foot, 2] + rotations.rotate(world[:, foot], p)[:, 2] for p in (HEEL, TOE_TIP)]
        out[:, k] = motion.root[:, 2] - np.minimum(*soles)
    return out


def clearance_over(clip: Clip, pass_time: float, depth: float) -> float:
    """Return the height [m] of the tallest bar, `depth` [m] deep along x, that the legs pass over.

    The middle of the bar is where the root is at `pass_time`.
    """
    return float(_clearances(clip, np.array([pass_time]), depth)[0])


def best_pass_time(clip: Clip, takeoff: float, landing: float, depth: float = 0.4) -> float:
    """Return the time in flight [s] at which the root should be over an obstacle's middle to clear it by most."""
    times = np.linspace(takeoff + 0.2 * (landing - takeoff), landing - 0.2 * (landing - takeoff), 25)
    return float(times[int(np.argmax(_clearances(clip, times, depth)))])


def _clearances(clip: Clip, pass_times: FloatArray, depth: float) -> FloatArray:
    """Return `clearance_over` at several times [s]; (N,)."""
    skeleton = clip.skeleton
    joints = [skeleton.index(s + part) for s in ("Left", "Right") for part in ("Leg", "Foot", "ToeBase", "Toe_End")]
    positions, world = clip.joint_transforms()
    heels = positions[:, joints[1::4]] + rotations.rotate(world[:, joints[1::4]], HEEL)
    x, _, z = finer(np.concatenate([positions[:, joints], heels], axis=1), 8)
    middles = np.interp(pass_times * clip.fps, np.arange(len(clip)), clip.root_positions[:, 0])
    lowest = [z[np.abs(x - middle) <= 0.5 * depth].min() for middle in middles]
    return np.array(lowest) - 0.02  # the sole is 2 cm under the toe's joints
