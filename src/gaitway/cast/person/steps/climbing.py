"""Up a block at chest height with both hands on its top, and down from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from gaitway.cast.curves import plateau, smooth_step, wobble
from gaitway.cast.person.gait.stride import FPS, NEUTRAL, blend_poses, turn_joint
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.cast.person.steps.box_jump import step_ground
from gaitway.cast.person.steps.footwork import FootPlacement, FootStep, StepPlan, both_feet
from gaitway.cast.person.steps.keyed import MASS_ROUNDS, Fall, Flight, Key, keyed_curve, pelvis_path
from gaitway.cast.person.steps.leads import LeadJoin, lead_of
from gaitway.cast.person.steps.stepping import PADDING, Tempo, plan_times
from gaitway.cast.person.styles import Style
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.ik import LEFT_ARM, RIGHT_ARM, reach

BLOCK_HEIGHT = 0.95
"""Height of the block [m]."""
UP_EDGE, DOWN_EDGE = 0.44, 0.36
"""Its edge, ahead of where the climber stands first [m]."""
_ARMS = {"left": LEFT_ARM, "right": RIGHT_ARM}
_BOW_ROUNDS = 7
"""Rounds in which the trunk bows further until the hands reach their grips."""
_NEAR_ENOUGH = 0.0005
"""The trunk bows no further for shoulders that are this much [m] too far from the grips."""
_SHOULDER_LEVER = 0.55
"""How far the shoulders sink for a bow of one radian [m]; more is more careful."""
_WRIST_RISE = 0.34
"""How far the hand tips over the palm [rad]; a wrist does not bend back square."""
_HAND_REACH_S = 0.6
"""How long a hand takes to its hold and away from it [s]."""
_ELBOW_LIFT = 1.1
"""How far an elbow bends on the way up to a hold [rad]; the fingers come over the edge, not through it."""

_OVER_EDGE, _OVER_FLOOR = 0.35, 0.15
"""How high a hand is led on its way to a hold [m]: over an edge ahead, or over the floor when the person squats. Then
the shoulders are so low that more would fold the elbow."""


@dataclass(frozen=True)
class _HandGrip:
    """A hand flat on the block from `start` to `end` [s], its palm at a place (x, y, z)."""

    side: str
    start: float
    end: float
    place: tuple[float, float, float]


@dataclass(frozen=True)
class _Score:
    """A climb: keys (time, value) of the pelvis and of the trunk, and the hands' grips."""

    x: tuple[tuple[float, float], ...]
    z: tuple[tuple[float, float], ...]
    pitch: tuple[tuple[float, float], ...]
    """Forward lean of the chest against the upright [rad]."""
    grips: tuple[_HandGrip, ...]
    splay: tuple[tuple[float, float], ...] = ()
    """Outward turn of the knees [rad]."""
    hike: tuple[tuple[float, float], ...] = ()
    """How far the right hip is hiked over the left one [rad]."""


def climb_up(name: str, style: Style = NEUTRAL, seed: int | None = None) -> tuple[Clip, float]:
    """Make the climb onto a block; also return the time at which the person is on its edge [s].

    Hands on the block, press up, right foot onto it, left foot after it, stand up.
    """
    lead, tempo = lead_of("stand", style), Tempo(seed)
    slow, edge, top = tempo.around(1.0, 0.03), UP_EDGE, BLOCK_HEIGHT
    end = round(3.7 * slow * FPS) / FPS
    move = np.array([edge + 0.24 + float(tempo.draw(0.015)[0]), 0.0, 0.0])
    score = _Score(
        x=((0.5, 0.0), (0.9, -0.05), (1.22, 0.06), (1.5, 0.14), (1.8, 0.21), (2.1, 0.38), (2.45, 0.57)),
        z=((0.5, 0.94), (0.9, 0.80), (1.22, 1.04), (1.5, 1.36), (1.8, 1.50), (2.1, 1.54), (2.45, 1.54), (2.8, 1.74)),
        pitch=((0.5, 0.7), (0.9, 0.9), (1.22, 0.95), (1.5, 1.25), (1.8, 1.4), (2.1, 1.25), (2.45, 0.9), (2.8, 0.45)),
        grips=(
            _HandGrip("left", 0.60, 1.72, (edge + 0.20, 0.22, top)),
            _HandGrip("right", 0.64, 1.76, (edge + 0.20, -0.30, top)),
        ),
        splay=((1.2, 0.0), (1.8, -0.1), (2.3, 0.05), (2.8, 0.05)),
        hike=((1.25, 0.0), (1.65, 0.38), (1.95, 0.28), (2.4, 0.0)),
    )
    wide = FootPlacement(edge + 0.24, -0.20, -0.2, top)
    steps = (
        FootStep(
            *("right", 1.18, 1.95, wide, "climb"),
            gain=0.75,
            via=((0.42, edge - 0.45, -0.24, 0.70), (0.74, edge - 0.10, -0.22, top + 0.17)),
        ),
        FootStep(
            *("left", 1.20, 2.46, lead.left.moved(move, top), "climb"),
            gain=0.62,
            via=((0.35, edge - 0.47, 0.13, 0.46), (0.7, edge - 0.26, 0.24, top + 0.16)),
        ),
        FootStep("right", 2.72, 3.02, lead.right.moved(move, top), "close", 0.03),
    )
    timed = tuple(replace(s, lift=s.lift * slow, land=s.land * slow) for s in steps)
    plan = StepPlan(lead.left, lead.right, timed, end, step_ground(edge, top))
    joins = [LeadJoin(lead, 0.0, np.zeros(3), 0.4), LeadJoin(lead, end, move, 0.6, top)]
    clip = _perform(name, plan, _slowed(score, slow), joins, None, seed)
    return clip, float(np.interp(edge, clip.root_positions[:, 0], np.arange(len(clip)) / FPS))


def climb_down(name: str, style: Style = NEUTRAL, seed: int | None = None) -> tuple[Clip, float]:
    """Squat at the edge, hands on it, slip the feet off, drop, land and stand up; with the time over the edge."""
    lead, tempo = lead_of("stand", style), Tempo(seed)
    edge, floor = DOWN_EDGE, -BLOCK_HEIGHT
    squat = tempo.around(1.1, 0.02)
    off = round((squat + 0.42) * FPS) / FPS
    land = off + 9 / FPS
    end = land + round(tempo.around(1.2, 0.05) * FPS) / FPS
    x = edge + 0.34 + float(tempo.draw(0.015)[0])
    score = _Score(
        x=((0.55 * squat, -0.03), (squat, -0.033), (squat + 0.25, 0.06), (land + 0.22, x - 0.08)),
        z=(
            *((0.55 * squat, 0.68), (squat, 0.44), (squat + 0.12, 0.475), (squat + 0.25, 0.56)),
            *((land + 0.24, floor + 0.60), (land + 0.48, floor + 0.75)),
            *((land + 0.7, floor + 0.90), (land + 0.95, floor + 0.973)),
        ),
        pitch=(
            (0.55 * squat, 0.75),
            (squat - 0.1, 1.25),
            (squat + 0.05, 1.25),
            (off, 0.75),
            (land, 0.45),
            (land + 0.22, 0.7),
            (land + 0.65, 0.3),
        ),
        grips=(
            _HandGrip("left", squat - 0.10, off - 0.36, (edge - 0.05, 0.22, 0.0)),
            _HandGrip("right", squat - 0.07, off - 0.33, (edge - 0.05, -0.22, 0.0)),
        ),
        splay=((0.55 * squat, 0.05), (squat, 0.03), (off, 0.05), (land, 0.05)),
    )
    move = np.array([x, 0.0, 0.0])
    steps = tuple(
        FootStep(
            *(side, squat + 0.17 + late, land + late, where.moved(move, floor), "jump"),
            gain=0.47,
            via=((0.3, edge - 0.05, y, 0.12), (0.55, edge + 0.2, y, 0.02), (0.8, edge + 0.3, y, -0.53)),
        )
        for side, where, y, late in (("left", lead.left, 0.12, 0.0), ("right", lead.right, -0.12, 0.02))
    )
    plan = StepPlan(lead.left, lead.right, steps, end, step_ground(edge, floor))
    joins = [LeadJoin(lead, 0.0, np.zeros(3), 0.4), LeadJoin(lead, end, move, 0.7, floor)]
    flight = Flight(off, land, (0.24, 0.56), (x - 0.16, floor + 0.78))
    clip = _perform(name, plan, score, joins, flight, seed)
    return clip, float(np.interp(edge, clip.root_positions[:, 0], np.arange(len(clip)) / FPS))


def _slowed(score: _Score, factor: float) -> _Score:
    """Return the same keys at other times."""

    def stretched(keys: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
        return tuple((t * factor, value) for t, value in keys)

    x, z, pitch, splay = (stretched(keys) for keys in (score.x, score.z, score.pitch, score.splay))
    hike = stretched(score.hike)
    grips = tuple(replace(grip, start=grip.start * factor, end=grip.end * factor) for grip in score.grips)
    return replace(score, x=x, z=z, pitch=pitch, splay=splay, hike=hike, grips=grips)


def _keys(track: tuple[tuple[float, float], ...]) -> list[Key]:
    """Return keys that the curve must pass through."""
    return [(t, value, 1.0) for t, value in track]


def _perform(
    name: str,
    plan: StepPlan,
    score: _Score,
    joins: Sequence[LeadJoin],
    flight: Flight | None,
    seed: int | None,
) -> Clip:
    """Lay the feet by the plan, the trunk by the score, and then the hands on their grips."""
    times, last = plan_times(plan), joins[-1]
    stand = joins[0].lead.root[0]
    stands = (stand, stand + np.array([last.pose[0], last.pose[1], last.height]))
    keys = (_keys(score.x), _keys(score.z))
    splay = keyed_curve(times, _keys(score.splay), (0.0, 0.0), (0.0, plan.duration))
    path = partial(pelvis_path, times, keys, stands, plan.duration, flight)
    fall = Fall(name, plan, joins, path, both_feet(plan, times), splay)
    bow, mass = np.zeros(len(times)), None
    for _ in range(_BOW_ROUNDS):
        clip, mass = fall.perform(_trunk(times, score, plan.duration, seed, bow), mass)
        lack = _missing_reach(clip, score.grips)
        if lack.max() < _NEAR_ENOUGH:
            break
        bow = bow + np.pad(lack, PADDING, mode="edge") / _SHOULDER_LEVER
    if flight is not None:
        clip, _ = fall.perform(_trunk(times, score, plan.duration, seed, bow), mass, MASS_ROUNDS)
    for grip in score.grips:
        clip = _grasp(clip, grip)
    return clip


def _missing_reach(clip: Clip, grips: Sequence[_HandGrip]) -> FloatArray:
    """Return how much too far the shoulders are from the grips [m], eased in and out; (F,)."""
    positions, times = clip.joint_positions(), np.arange(len(clip)) / FPS
    lack = np.zeros(len(clip))
    for grip in grips:
        shoulder, elbow, wrist = clip.skeleton.require(*_ARMS[grip.side])
        arm = np.linalg.norm(clip.skeleton.offsets[[elbow, wrist]], axis=1).sum()
        distance = np.linalg.norm(positions[:, shoulder] - _wrist(grip), axis=1)
        held = (times > grip.start - 0.25) & (times < grip.end + 0.07)
        lack = np.maximum(lack, np.where(held, distance - 0.975 * arm, 0.0))
    wide = maximum_filter1d(lack, int(0.2 * FPS) | 1)
    out: FloatArray = gaussian_filter1d(wide, 0.07 * FPS, mode="nearest")
    return out


def _trunk(times: FloatArray, score: _Score, duration: float, seed: int | None, bow: FloatArray) -> FloatArray:
    """Return the stand with the trunk leaning as keyed and by `bow` [rad] (F,), arms hanging, gaze level; (F, J, 4)."""
    stand = lead_of("stand").rotations[0]  # a climb leaves little room for manner
    local = np.tile(stand, (len(times), 1, 1))
    lean = keyed_curve(times, _keys(score.pitch), (0.0, 0.0), (0.0, duration)) + bow
    shares = {"Hips": 0.32, "Spine": 0.27, "Spine1": 0.22, "Spine2": 0.19, "Neck": -0.25, "Head": -0.25}
    shares |= {"LeftArm": -0.8, "RightArm": -0.8}
    for joint, share in shares.items():
        turn_joint(local, joint, 0.0, share * lean, 0.0)
    hike = keyed_curve(times, _keys(score.hike), (0.0, 0.0), (0.0, duration))
    turn_joint(local, "Hips", -hike, 0.0, 0.0)
    turn_joint(local, "Spine", 0.8 * hike, 0.0, 0.0)
    for side, sign in (("Left", -1.0), ("Right", 1.0)):
        turn_joint(local, f"{side}ForeArm", 0.0, 0.0, sign * 0.7 * lean)
    if seed is not None:
        noise = wobble(np.clip(times, 0.0, duration), 4, np.random.default_rng(seed), 0.7)
        for joint, roll, yaw in (("Spine", 0, 1), ("Neck", 2, 3)):
            turn_joint(local, joint, 0.03 * noise[:, roll], 0.0, 0.03 * noise[:, yaw])
    return local


def _grasp(clip: Clip, grip: _HandGrip) -> Clip:
    """Return the clip with one hand flat on its grip, fingers forward, and its contact marked."""
    column = [p.name for p in clip.skeleton.contact_points].index(f"{grip.side}_hand")
    times = np.arange(len(clip)) / FPS
    coming = smooth_step(times, max(grip.start - _HAND_REACH_S, 0.0), grip.start)
    going = smooth_step(times, grip.end, grip.end + _HAND_REACH_S)
    weight = coming - going
    # before and after the grip its place goes with the shoulder: an arm that is left behind straightens and snaps
    shoulder = clip.joint_positions()[:, clip.skeleton.require(_ARMS[grip.side][0])[0]]
    frames = np.clip(np.arange(len(clip)), int(np.ceil(grip.start * FPS)), int(grip.end * FPS))
    place = _wrist(grip) + shoulder - shoulder[frames]
    upward = grip.place[2] > 0.0
    place[:, 2] += (_OVER_EDGE if upward else _OVER_FLOOR) * np.sin(np.pi * coming) ** 2 + 0.12 * np.sin(
        np.pi * going
    ) ** 2
    palms = np.tile(_palm_down(grip), (len(clip), 1))
    there = reach(clip, _ARMS[grip.side], place, end_rotations=palms, softness=0.02)
    # between hanging and gripping the joints are faded, not the hand's place: a hand led too far snaps the elbow
    hanging = np.array(clip.rotations)
    lift = _ELBOW_LIFT if upward else 0.0
    bent = lift * plateau(times, max(grip.start - 0.6, 0.0), grip.start - 0.22, grip.start - 0.18, grip.start)
    turn_joint(hanging, f"{grip.side.title()}ForeArm", 0.0, 0.0, -bent if grip.side == "left" else bent)
    held = replace(clip, rotations=blend_poses(hanging, there.rotations, weight))
    contacts = np.array(clip.contacts)
    contacts[:, column] = (times >= grip.start - 1e-9) & (times <= grip.end + 1e-9)
    return replace(held, contacts=contacts)


def _palm_down(grip: _HandGrip) -> FloatArray:
    """Return the world rotation of a hand on the block: fingers forward and a little inward, the wrist raised; (4,)."""
    sign = 1.0 if grip.side == "left" else -1.0
    flat = rotations.from_yaw(-sign * (0.5 * np.pi - 0.25))
    return rotations.multiply(flat, rotations.from_axis_angle([1.0, 0.0, 0.0], -sign * _WRIST_RISE))


def _wrist(grip: _HandGrip) -> FloatArray:
    """Return where the wrist of a gripping hand is [m]; (3,)."""
    palm = next(p for p in person_skeleton().contact_points if p.name == f"{grip.side}_hand")
    out: FloatArray = np.array(grip.place) - rotations.rotate(_palm_down(grip), palm.offset)
    return out
