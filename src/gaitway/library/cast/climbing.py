"""Up a block at chest height with both hands on its top, and down from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from gaitway import rotations
from gaitway.arrays import FloatArray
from gaitway.library.cast.boxjump import step_ground
from gaitway.library.cast.curves import smooth_step, wobble
from gaitway.library.cast.footwork import Step, StepPlan
from gaitway.library.cast.keyed import Flight, Key, keyed_curve, pelvis_path, perform_falling
from gaitway.library.cast.leads import Join, lead_of
from gaitway.library.cast.locomotion import FPS, NEUTRAL
from gaitway.library.cast.person import person_skeleton
from gaitway.library.cast.staging import blend_poses
from gaitway.library.cast.stepping import PADDING, Tempo, plan_times
from gaitway.library.cast.stride import turn_joint
from gaitway.library.cast.styles import Style
from gaitway.motion.clip import Clip
from gaitway.motion.ik import LEFT_ARM, RIGHT_ARM, reach

BLOCK_HEIGHT = 0.95
"""Height of the block [m]."""
UP_EDGE, DOWN_EDGE = 0.44, 0.36
"""Its edge, ahead of where the climber stands first [m]."""
_ARMS = {"left": LEFT_ARM, "right": RIGHT_ARM}
_BOW_ROUNDS = 5
"""Rounds in which the trunk bows further until the hands reach their grips."""
_SHOULDER_LEVER = 0.55
"""How far the shoulders sink for a bow of one radian [m]; more is more careful."""
_HAND_REACH_S = 0.55
"""How long a hand takes to its hold and away from it [s]."""


@dataclass(frozen=True)
class _Grip:
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
    grips: tuple[_Grip, ...]
    splay: tuple[tuple[float, float], ...] = ()
    """Outward turn of the knees [rad]."""


def climb_up(name: str, style: Style = NEUTRAL, seed: int | None = None) -> tuple[Clip, float]:
    """Hands on the block, press up, right foot onto it, left foot after it, stand up; with the time on its edge."""
    lead, tempo = lead_of("stand", style), Tempo(seed)
    slow, edge, top = tempo.around(1.0, 0.05), UP_EDGE, BLOCK_HEIGHT
    end = round(3.4 * slow * FPS) / FPS
    move = np.array([edge + 0.24 + float(tempo.draw(0.015)[0]), 0.0, 0.0])
    score = _Score(
        x=((0.5, 0.0), (0.9, -0.05), (1.22, 0.08), (1.5, 0.19), (1.8, 0.29), (2.1, 0.46), (2.42, 0.60)),
        z=((0.5, 0.94), (0.9, 0.80), (1.22, 1.08), (1.5, 1.29), (1.8, 1.39), (2.1, 1.44), (2.42, 1.48), (2.75, 1.69)),
        pitch=((0.5, 0.6), (0.9, 0.85), (1.22, 0.9), (1.5, 1.15), (1.8, 1.38), (2.1, 1.25), (2.42, 0.95), (2.75, 0.5)),
        grips=(
            _Grip("left", 0.60 * slow, 1.82 * slow, (edge + 0.15, 0.27, top)),
            _Grip("right", 0.64 * slow, 1.90 * slow, (edge + 0.15, -0.27, top)),
        ),
        splay=((1.1, 0.0), (1.55, 0.4), (1.9, 0.45), (2.2, 0.45), (2.7, 0.1)),
    )
    right, left = lead.right.moved(move, top), lead.left.moved(move, top)
    steps = (
        Step(
            *("right", 1.19 * slow, 1.90 * slow, right, "jump"),
            gain=0.8,
            via=((0.45, edge - 0.45, -0.18, 0.72), (0.75, edge - 0.12, -0.2, top + 0.22)),
        ),
        Step(
            *("left", 1.24 * slow, 2.42 * slow, left, "jump"),
            gain=0.8,
            via=((0.35, edge - 0.47, 0.13, 0.46), (0.7, edge - 0.28, 0.2, top + 0.12)),
        ),
    )
    plan = StepPlan(lead.left, lead.right, steps, end, step_ground(edge, top))
    joins = [Join(lead, 0.0, np.zeros(3), 0.4), Join(lead, end, move, 0.6, top)]
    clip = _perform(name, plan, _slowed(score, slow), joins, None, style, seed)
    return clip, float(np.interp(edge, clip.root_positions[:, 0], np.arange(len(clip)) / FPS))


def climb_down(name: str, style: Style = NEUTRAL, seed: int | None = None) -> tuple[Clip, float]:
    """Squat at the edge, hands on it, slip the feet off, drop, land and stand up; with the time over the edge."""
    lead, tempo = lead_of("stand", style), Tempo(seed)
    slow, edge, floor = tempo.around(1.0, 0.05), DOWN_EDGE, -BLOCK_HEIGHT
    off = round(1.26 * slow * FPS) / FPS
    land = off + 9 / FPS
    end = land + round(1.1 * slow * FPS) / FPS
    move = np.array([edge + 0.34 + float(tempo.draw(0.015)[0]), 0.0, 0.0])
    x = move[0]
    score = _Score(
        x=((0.5, -0.03), (0.9, -0.03), (1.1, 0.05), (land + 0.22, x - 0.08)),
        z=((0.5, 0.62), (0.88, 0.37), (1.08, 0.37), (land + 0.22, floor + 0.60)),
        pitch=((0.5, 0.8), (0.88, 1.25), (1.15, 1.15), (land, 0.5), (land + 0.22, 0.75), (land + 0.6, 0.35)),
        grips=(
            _Grip("left", 0.90, off - 0.19, (edge - 0.06, 0.28, 0.0)),
            _Grip("right", 0.94, off - 0.16, (edge - 0.06, -0.28, 0.0)),
        ),
        splay=((0.3, 0.1), (0.9, 0.35), (off, 0.25), (land, 0.1)),
    )
    steps = tuple(
        Step(
            *(side, start, land + late, where.moved(move, floor), "jump"),
            gain=0.35,
            via=((0.3, edge - 0.06, y, 0.16), (0.55, edge + 0.2, y, 0.04), (0.8, edge + 0.3, y, -0.48)),
        )
        for side, where, y, start, late in (
            ("left", lead.left, 0.12, 1.02, 0.0),
            ("right", lead.right, -0.12, 1.05, 0.02),
        )
    )
    plan = StepPlan(lead.left, lead.right, steps, end, step_ground(edge, floor))
    joins = [Join(lead, 0.0, np.zeros(3), 0.4), Join(lead, end, move, 0.6, floor)]
    flight = Flight(off, land, (0.24, 0.37), (x - 0.16, floor + 0.82))
    clip = _perform(name, plan, score, joins, flight, style, seed)
    return clip, float(np.interp(edge, clip.root_positions[:, 0], np.arange(len(clip)) / FPS))


def _slowed(score: _Score, factor: float) -> _Score:
    """The same keys at other times; the grips have theirs already."""

    def stretched(keys: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
        return tuple((t * factor, value) for t, value in keys)

    x, z, pitch, splay = (stretched(keys) for keys in (score.x, score.z, score.pitch, score.splay))
    return replace(score, x=x, z=z, pitch=pitch, splay=splay)


def _keys(track: tuple[tuple[float, float], ...]) -> list[Key]:
    """Firm keys."""
    return [(t, value, 1.0) for t, value in track]


def _perform(
    name: str,
    plan: StepPlan,
    score: _Score,
    joins: Sequence[Join],
    flight: Flight | None,
    style: Style,
    seed: int | None,
) -> Clip:
    """Feet by the plan, trunk by the score, and then the hands on their grips."""
    times, last = plan_times(plan), joins[-1]
    stand = joins[0].lead.root[0]
    stands = (stand, stand + np.array([last.pose[0], last.pose[1], last.height]))
    keys = (_keys(score.x), _keys(score.z))
    splay = keyed_curve(times, _keys(score.splay), (0.0, 0.0), (0.0, plan.duration))
    bow = np.zeros(len(times))
    for _ in range(_BOW_ROUNDS):
        local = _trunk(times, score, plan.duration, style, seed, bow)
        clip = perform_falling(
            name,
            plan,
            local,
            joins,
            lambda mass: pelvis_path(times, keys, stands, plan.duration, flight, mass),
            splay,
        )
        bow = bow + np.pad(_missing_reach(clip, score.grips), PADDING, mode="edge") / _SHOULDER_LEVER
    for grip in score.grips:
        clip = _grasp(clip, grip)
    return clip


def _missing_reach(clip: Clip, grips: Sequence[_Grip]) -> FloatArray:
    """How much too far the shoulders are from the grips [m], eased in and out; (F,)."""
    positions, times = clip.joint_positions(), np.arange(len(clip)) / FPS
    lack = np.zeros(len(clip))
    for grip in grips:
        shoulder, elbow, wrist = clip.skeleton.require(*_ARMS[grip.side])
        arm = np.linalg.norm(clip.skeleton.offsets[[elbow, wrist]], axis=1).sum()
        distance = np.linalg.norm(positions[:, shoulder] - _wrist(grip), axis=1)
        held = (times > grip.start - 0.25) & (times < grip.end + 0.07)
        lack = np.maximum(lack, np.where(held, distance - 0.955 * arm, 0.0))
    wide = maximum_filter1d(lack, int(0.2 * FPS) | 1)
    out: FloatArray = gaussian_filter1d(wide, 0.07 * FPS, mode="nearest")
    return out


def _trunk(
    times: FloatArray, score: _Score, duration: float, style: Style, seed: int | None, bow: FloatArray
) -> FloatArray:
    """The stand with its trunk leant as keyed and by `bow` [rad] (F,), hanging arms and a level gaze; (F, J, 4)."""
    stand = lead_of("stand", style).rotations[0]
    local = np.tile(stand, (len(times), 1, 1))
    lean = keyed_curve(times, _keys(score.pitch), (0.0, 0.0), (0.0, duration)) + bow
    shares = {"Hips": 0.5, "Spine": 0.2, "Spine1": 0.15, "Spine2": 0.15, "Neck": -0.35, "Head": -0.35}
    shares |= {"LeftArm": -0.8, "RightArm": -0.8}
    for joint, share in shares.items():
        turn_joint(local, joint, 0.0, share * lean, 0.0)
    for side, sign in (("Left", -1.0), ("Right", 1.0)):
        turn_joint(local, f"{side}ForeArm", 0.0, 0.0, sign * 0.7 * lean)
    if seed is not None:
        noise = wobble(np.clip(times, 0.0, duration), 4, np.random.default_rng(seed), 0.7)
        for joint, roll, yaw in (("Spine", 0, 1), ("Neck", 2, 3)):
            turn_joint(local, joint, 0.03 * noise[:, roll], 0.0, 0.03 * noise[:, yaw])
    return local


def _grasp(clip: Clip, grip: _Grip) -> Clip:
    """The clip with one hand flat on its grip, fingers forward, and its contact marked."""
    column = [p.name for p in clip.skeleton.contact_points].index(f"{grip.side}_hand")
    times = np.arange(len(clip)) / FPS
    coming = smooth_step(times, grip.start - _HAND_REACH_S, grip.start)
    going = smooth_step(times, grip.end, grip.end + _HAND_REACH_S)
    weight = coming - going
    place = np.tile(_wrist(grip), (len(clip), 1))
    place[:, 2] += 0.4 * np.sin(np.pi * coming) ** 2 + 0.25 * np.sin(np.pi * going) ** 2
    palms = np.tile(_palm_down(grip), (len(clip), 1))
    there = reach(clip, _ARMS[grip.side], place, end_rotations=palms, softness=0.02)
    # between hanging and gripping the joints are faded, not the hand's place: a hand led too far snaps the elbow
    held = replace(clip, rotations=blend_poses(clip.rotations, there.rotations, weight))
    contacts = np.array(clip.contacts)
    contacts[:, column] = (times >= grip.start - 1e-9) & (times <= grip.end + 1e-9)
    return replace(held, contacts=contacts)


def _palm_down(grip: _Grip) -> FloatArray:
    """World rotation of a hand flat on the block, fingers forward and a little inward; (4,)."""
    return rotations.from_yaw((-1.0 if grip.side == "left" else 1.0) * (0.5 * np.pi - 0.25))


def _wrist(grip: _Grip) -> FloatArray:
    """Where the wrist of a gripping hand is [m]; (3,)."""
    palm = next(p for p in person_skeleton().contact_points if p.name == f"{grip.side}_hand")
    out: FloatArray = np.array(grip.place) - rotations.rotate(_palm_down(grip), palm.offset)
    return out
