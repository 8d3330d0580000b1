"""Where gait cycles come from: the generator of the built-in person, clips of any library, and what is made of them.

A library without steps aside, backward or on the spot gets them: a walk played backward is a walk backward, and who
stands can set the feet down anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from gaitway.cast.catalog import STYLE_NAMES, load_cast
from gaitway.cast.curves import bump
from gaitway.cast.person.gait.hubs import hub
from gaitway.cast.person.gait.idling import idle
from gaitway.cast.person.gait.model import GaitModel
from gaitway.cast.person.gait.planting import plant
from gaitway.cast.person.gait.stride import FPS, Controls, cycle_rate, locomote
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.cast.person.styles import Style
from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import CrowdError
from gaitway.crowd.locomotion.cycles import LEAST_LIFT, PHASES, SHARES, GaitCycle, measured_cycle, standing_prints
from gaitway.crowd.locomotion.rig import BodyRig
from gaitway.library.behavior import Behavior, Library
from gaitway.library.standing import standing_behaviors
from gaitway.motion.anatomy import t_pose
from gaitway.motion.blending import concatenate
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import detect_contacts
from gaitway.motion.editing import resample

IDLE_FPS = 30.0
"""Rate at which standing is sampled [Hz]."""
_IDLE_SECONDS = (9.0, 7.0, 8.0)
STEP_RATE, STEP_DUTY = 0.72, 0.68
"""Cycles a second [Hz] and share of standing of steps that are made from rest."""
_WALKS = (0.32, 0.66, 1.02, 1.37, 1.76)
_JOGS = (2.62, 3.1)
_BACKS = (-0.34, -0.79, -1.06)
"""Speeds of the person's straight cycles [m/s]."""
_TURNS = ((0.68, 0.83), (1.31, 0.86), (2.52, 0.94))
"""Speed [m/s] and turn rate [rad/s] of its turning cycles, to both sides."""
_SIDE_SPEED, _SPOT_TURN = 0.62, 2.6
"""Sideways speed [m/s] and turn rate on the spot [rad/s] of steps that are made from rest."""
_FAST_SIDE = 1.55
"""Speed of the fastest walk aside, as a multiple of the clip that it is made of."""
_DRIFTS = ((0.32, 0.23, 1.4), (0.66, 0.32, 1.75), (1.37, 0.43, 1.9), (2.62, 0.47, 2.1), (-0.34, 0.22, 1.1))
"""Speed of a gait [m/s], and how fast it also goes aside [m/s] or turns [rad/s] with the same trunk."""
_AHEAD = 0.8
"""How much of the turn of the head is taken away from who walks aside."""
_SHUFFLE = {
    "spine": ((1.0, 0.0, 0.0), 0.022),
    "chest": ((0.0, 0.0, 1.0), 0.035),
    "head": ((1.0, 0.0, 0.0), -0.02),
    "left_shoulder": ((0.0, 1.0, 0.0), 0.07),
    "right_shoulder": ((0.0, 1.0, 0.0), -0.07),
}
"""About which axis and how far [rad] joints turn at most, when the left foot carries, in steps that are made."""
_BACKWARD = 0.55
"""Speed of a walk that is played backward, as a share of its own."""
_ALIKE = 1.0
"""Steps of the left and of the right foot whose speeds differ by less than this in all make one stride."""
_NEARLY = 0.25
"""Velocities that differ by less are nearly the same [m/s]; a turn of 1 rad/s counts for 0.4."""
_SLOWEST_RATE, _LIMP = 0.55, 0.12
"""Clips with fewer cycles a second [Hz], or whose feet stand for shares that differ by more, are no steady gait."""
_SLOWEST = 0.25
"""Clips of less than this speed [m/s] are no gait."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Rest:
    """How somebody stands."""

    poses: FloatArray
    """Local rotations at `IDLE_FPS`, the root's relative to the heading; played again and again; (I, J, 4)."""
    sway: FloatArray
    """Root over the middle between the feet: forward, left and up [m]; (I, 3)."""
    prints: FloatArray
    """Where the flat feet stand (x, y, heading); (2, 3)."""


def person_cycles(style: Style, rig: BodyRig) -> tuple[Rest, list[GaitCycle]]:
    """Return how a built-in person stands, and its cycles; the first one stands."""
    rest = _rest([idle(f"idle-{k}", s, style=style, seed=k) for k, s in enumerate(_IDLE_SECONDS)], rig)
    cycles = [made_step(rest, np.zeros(3), "stand", rig)]
    for speed in (*_WALKS, *_JOGS, *_BACKS):
        cycles += _generated(style, rig, speed, 0.0)
    for speed, turn in _TURNS:
        for sign in (1.0, -1.0):
            cycles += _generated(style, rig, speed, sign * turn)
    sides = load_cast("person", style=style, behaviors=("side_left_walk", "side_right_walk"))
    cycles += [_looking_ahead(cycle, rest, rig) for cycle in clip_cycles(list(sides.clips.values()), rig)]
    return rest, [*cycles, *_made(rest, cycles, rig), *_drifted(cycles)]


def _looking_ahead(cycle: GaitCycle, rest: Rest, rig: BodyRig) -> GaitCycle:
    """Return a walk aside whose head hardly turns: a little of it is in every turn, and heads would flick there."""
    poses = cycle.poses.copy()
    for role in ("neck", "head"):
        joint = rig.skeleton.roles[role]
        still = np.broadcast_to(rotations.mean(rest.poses[:, joint]), (PHASES, 4))
        poses[:, joint] = rotations.slerp(poses[:, joint], still, np.full(PHASES, _AHEAD))
    return replace(cycle, poses=poses)


def library_cycles(library: Library, rig: BodyRig) -> tuple[Rest, list[GaitCycle]]:
    """Return how the characters of a library stand, and their cycles; the first one stands.

    Raises:
        CrowdError: if the library has no clip to stand with, or none that walks.
    """
    style = style_of(library)
    if style is not None:
        return person_cycles(style, rig)
    standing = [library.clips[c] for b in standing_behaviors(library) for c in library.graph[b].clips]
    if not standing:
        raise CrowdError(f"library '{library.name}' has no clip to stand with; record somebody who stands for a while")
    rest = _rest([resample(c, FPS) if c.fps != FPS else c for c in standing[:4]], rig)
    found = _apart(clip_cycles(_loops(library), rig))
    walks = [c for c in found if c.velocity[0] > 0.5 and abs(c.velocity[2]) < 0.3 and abs(c.velocity[1]) < 0.3]
    if not walks:
        raise CrowdError(f"library '{library.name}' has no clip of a whole stride that walks ahead; record a walk")
    made = _made(rest, found, rig)
    if not any(c.velocity[0] < -0.2 for c in found):
        made += [backward(min(walks, key=lambda c: abs(float(c.velocity[0]) - 1.2)))]
    cycles = [made_step(rest, np.zeros(3), "stand", rig), *found, *made]
    return rest, [*cycles, *_drifted(cycles)]


@cache
def _stands(name: str) -> FloatArray:
    return hub("stand", Style.named(name)).rotations


def style_of(library: Library) -> Style | None:
    """Return which of the built-in people a library belongs to, or None."""
    if library.skeleton is not person_skeleton() or "walk_forward" not in library.clips:
        return None
    start = next((library.clips[c] for b in standing_behaviors(library) for c in library.graph[b].clips), None)
    if start is None:
        return None
    for name in STYLE_NAMES:
        if np.abs(rotations.angle_between(_stands(name)[1:], start.rotations[0, 1:])).max() < 0.002:
            return Style.named(name)
    return None


def clip_cycles(clips: Sequence[Clip], rig: BodyRig) -> list[GaitCycle]:
    """Return the cycles of clips that end in the pose in which they begin, after one stride."""
    out = []
    for clip in clips:
        tiled = concatenate([clip] * 4, overlap=False, name=clip.name)
        tiled = detect_contacts(tiled) if tiled.contacts is None else tiled
        found = measured_cycle(tiled, rig, clip.name)
        # who takes several strides until the pose comes again has no cycle of one stride
        if found is None or abs(tiled.fps / found.rate - (len(clip) - 1)) > 1.5:
            continue
        if found.rate > _SLOWEST_RATE and abs(found.duty[0] - found.duty[1]) < _LIMP:
            out.append(found)
    return out


def _apart(cycles: Sequence[GaitCycle]) -> list[GaitCycle]:
    """Return cycles that differ in their velocities; of two that hardly do, the first.

    Between takes of nearly one velocity, a blend would change from one to the other at every breath.
    """
    kept: list[GaitCycle] = []
    for cycle in cycles:
        if all(np.linalg.norm((cycle.velocity - other.velocity) * [1.0, 1.0, 0.4]) > _NEARLY for other in kept):
            kept.append(cycle)
    return kept


def _loops(library: Library) -> list[Clip]:
    """Return clips that go somewhere and end in the pose in which they begin, at `FPS`.

    Libraries that were cut from captures have single steps, of the left and of the right foot: two that lead there and
    back, at about the same speeds, are a stride.
    """
    going: list[tuple[Behavior, Clip, FloatArray]] = []
    for behavior in library.graph.behaviors:
        if behavior.obstacle is None and behavior.clips:
            clip = library.clips[behavior.clips[0]]
            even = resample(clip, FPS) if clip.fps != FPS else clip
            path = even.planar_path()
            speeds = planar.relative(path[0], path[-1]) / max(even.duration, 1e-6)
            if np.hypot(speeds[0], speeds[1]) > _SLOWEST:
                going.append((behavior, even, speeds))
    loops = [clip for behavior, clip, _ in going if behavior.start == behavior.end]
    for i, (one, clip, speeds) in enumerate(going):
        back = [
            (float(np.abs((speeds - other) * [1.0, 0.5, 0.5]).sum()), step)
            for follower, step, other in going[i + 1 :]
            if one.start == follower.end and one.end == follower.start and one.start != one.end
        ]
        if back:
            far, step = min(back, key=lambda pair: pair[0])
            if far < _ALIKE:
                loops.append(concatenate([clip, step], overlap=False, name=f"{clip.name}+{step.name}"))
    return loops


def made_step(rest: Rest, velocity: FloatArray, name: str, rig: BodyRig) -> GaitCycle:
    """Return a cycle of steps by somebody who stands: the weight goes from foot to foot, arms and trunk move a little.

    Args:
        rest: how it stands.
        velocity: forward, sideways [m/s] and turn [rad/s]; (3,).
        name: of the cycle.
        rig: of its skeleton.
    """
    still = rest.poses.mean(axis=0)
    still /= np.linalg.norm(still, axis=-1, keepdims=True)
    poses = np.repeat(still[None], PHASES, axis=0)
    sway = np.repeat(rest.sway.mean(axis=0)[None], PHASES, axis=0)
    size = float(np.hypot(velocity[0], velocity[1]))
    if size > 0.0 or velocity[2] != 0.0:  # the weight goes over the foot that stands
        phase = (np.arange(PHASES) + 0.5) / PHASES
        over = np.sin(2.0 * np.pi * (phase - 0.08))
        sway[:, 1] += 0.018 * over
        for role, (axis, angle) in _SHUFFLE.items():
            _turn(poses, rig, role, axis, angle * over)
        sway[:, 2] = rest.sway[:, 2].max() + 0.002
    rate = STEP_RATE + 0.35 * min(abs(velocity[2]) / 2.6, 1.0) + 0.3 * min(size / 0.62, 1.0)
    prints = rest.prints.copy()
    apart = 0.25 * abs(velocity[1]) / rate  # feet that go aside never cross
    prints[:, 1] += [apart, -apart]
    share = np.linspace(0.0, 1.0, SHARES)
    pitch = -0.16 * bump(share, 2.0, 3.0) * np.ones((2, 1))
    lift = (LEAST_LIFT + 0.01 * min(size + abs(velocity[2]), 1.0)) * bump(share, 2.0, 2.0) * np.ones((2, 1))
    return GaitCycle(
        name=name, velocity=np.asarray(velocity, dtype=np.float64), rate=rate, duty=np.full(2, STEP_DUTY), poses=poses,
        sway=sway, prints=prints, stance_pitch=np.zeros((2, SHARES)), swing_pitch=pitch, lift=lift,
    )  # fmt: skip


def _turn(poses: FloatArray, rig: BodyRig, role: str, axis: tuple[float, float, float], angles: FloatArray) -> None:
    """Turn a joint about an axis of the body that stands straight (x ahead, y left) by angles (N,) [rad], in place."""
    joint = rig.skeleton.roles.get(role)
    if joint is not None:
        parent = t_pose(rig.skeleton)[rig.skeleton.parents[joint]]
        turns = rotations.from_axis_angle(np.array(axis), angles)
        own = rotations.multiply(rotations.multiply(rotations.conjugate(parent), turns), parent)
        poses[:, joint] = rotations.multiply(own, poses[:, joint])


def drifted(cycle: GaitCycle, aside: float, turn: float, faster: float = 1.0) -> GaitCycle:
    """Return a gait that also goes aside [m/s] and turns [rad/s]; its feet do, and the trunk moves as before.

    Args:
        cycle: the gait.
        aside: speed to the left that is added [m/s].
        turn: turn rate [rad/s].
        faster: factor on the speed ahead.
    """
    prints = cycle.prints.copy()
    prints[:, 1] += np.array([0.25, -0.25]) * abs(aside) / cycle.rate
    velocity = np.array([faster * cycle.velocity[0], cycle.velocity[1] + aside, turn])
    return replace(cycle, name=f"{cycle.name} ~ {aside:g} {turn:g}", velocity=velocity, prints=prints)


def _drifted(cycles: Sequence[GaitCycle]) -> list[GaitCycle]:
    """Return drifts of the gaits nearest to `_DRIFTS`; who turns fast leans as in the sharpest turn that there is."""
    straight = [c for c in cycles[1:] if abs(c.velocity[2]) < 0.2 and abs(c.velocity[1]) < 0.2]
    out: list[GaitCycle] = []
    for speed, aside, turn in _DRIFTS:
        near = min(straight, key=lambda c: abs(float(c.velocity[0]) - speed))
        if abs(float(near.velocity[0]) - speed) > 0.35 * abs(speed):
            continue
        for sign in (1.0, -1.0):
            leans = [
                c for c in cycles[1:] if sign * c.velocity[2] > 0.5 and abs(c.velocity[0] - near.velocity[0]) < 0.2
            ]
            leaning = (leans or [near])[0]
            out.append(drifted(near, sign * aside, 0.0))
            for way, faster in ((1.0, 1.06), (0.0, 1.0), (-1.0, 0.93)):  # points in one plane would make flat cells
                out.append(drifted(leaning, sign * way * aside, sign * turn, faster))
    return out


def backward(cycle: GaitCycle) -> GaitCycle:
    """Return a walk played backward, slower, with shorter strides: that is how people step back."""
    # strikes become lifts: the phase is moved so that the left foot strikes at 0 again
    rows = (round(float(cycle.duty.mean()) * PHASES) - np.arange(PHASES)) % PHASES
    prints = cycle.prints.copy()
    prints[:, 0] *= -1.0
    return replace(
        cycle,
        name=f"{cycle.name}~back",
        velocity=-_BACKWARD * cycle.velocity,
        rate=0.9 * cycle.rate,
        poses=cycle.poses[rows],
        sway=cycle.sway[rows],
        prints=prints,
        stance_pitch=0.5 * cycle.stance_pitch[:, ::-1],
        swing_pitch=0.5 * cycle.swing_pitch[:, ::-1],
        lift=np.maximum(0.7 * cycle.lift[:, ::-1], LEAST_LIFT * bump(np.linspace(0.0, 1.0, SHARES))),
    )


def _made(rest: Rest, found: Sequence[GaitCycle], rig: BodyRig) -> list[GaitCycle]:
    """Return steps that are made from rest, of ways in which no cycle leads."""
    steps = [(0.0, 0.0, sign * _SPOT_TURN) for sign in (1.0, -1.0)]
    steps += [(0.13, 0.0, 0.0), (-0.15, 0.0, 0.0)]
    faster = []
    for sign in (1.0, -1.0):
        aside = [c for c in found if sign * c.velocity[1] > 0.3 and abs(c.velocity[0]) < 0.15]
        if aside:
            speed = (_FAST_SIDE - 1.0) * float(aside[0].velocity[1])
            faster.append(replace(drifted(aside[0], speed, 0.0), rate=1.2 * aside[0].rate))
        else:
            steps.append((0.0, sign * _SIDE_SPEED, 0.0))
    return [*(made_step(rest, np.array(v), f"step {v[0]:g} {v[1]:g} {v[2]:g}", rig) for v in steps), *faster]


def _generated(style: Style, rig: BodyRig, speed: float, turn: float) -> list[GaitCycle]:
    """Return the steady gait of a person at a speed and turn rate, as a list of one cycle or none."""
    jog = np.ones(1) if speed > 2.2 else None
    rate = float(cycle_rate(GaitModel.load(), np.array([speed]), style, jog)[0])
    frames = max(round(FPS / rate), 8)
    count = 5 * frames + 1
    controls = Controls(
        np.full(count, speed),
        np.full(count, turn),
        np.arange(count) / frames,
        jog=None if jog is None else np.ones(count),
    )
    motion = locomote(controls, style)
    clip = plant(motion, name=f"{speed:g} m/s {turn:g} rad/s").clip
    found = measured_cycle(clip, rig, clip.name)
    return [] if found is None else [found]


def _rest(clips: Sequence[Clip], rig: BodyRig) -> Rest:
    """Return how somebody stands, from clips that begin and end in one pose."""
    prints, _ = standing_prints(clips[0], rig)
    poses, sway = [], []
    for clip in clips:
        _, frame = standing_prints(clip, rig)
        at = np.arange(len(clip) - 1)  # the last frame is the first one of the next clip
        local = clip.rotations[at].copy()
        local[:, 0] = rotations.multiply(rotations.from_yaw(-frame[2]), local[:, 0])
        places = np.column_stack([clip.root_positions[at, :2], np.full(len(at), frame[2])])
        poses.append(local)
        sway.append(np.column_stack([planar.relative(frame, places)[:, :2], clip.root_positions[at, 2]]))
    turns = np.concatenate(poses)
    turns *= np.where(np.sum(turns * turns[:1], axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    return Rest(poses=turns, sway=np.concatenate(sway), prints=prints)
