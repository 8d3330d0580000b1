"""Side steps for gaps that are narrower than a walk: the body stands upright, arms hang, feet turn out and lift little.

Side steps of people lean, swing their arms, and lift their knees ahead: they sweep more than 40 cm. Here each pose is
led to one that is as flat as a person can be. Feet are led while they swing alone, so that none slides. The first pose
of a clip that sets off sideways, and the last of one that ends it, stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.anatomy import leg_length, t_pose
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances
from gaitway.motion.editing import joined, place, slice_frames
from gaitway.motion.footplants import FootPlan
from gaitway.motion.footskate import lowered, root_drop, with_legs
from gaitway.motion.legs import legs_of

SIDES = ("left", "right")
_ASIDE = float(np.radians(40.0))
"""Greatest angle between the way of a clip and the line square to its heading for which it goes sideways [rad]."""
_SPLAY = float(np.radians(58.0))
"""How far feet and knees are turned out [rad]."""
_LOOK = float(np.radians(55.0))
"""How far the head is turned to where the body goes [rad]."""
_LIFT = 0.45
"""Share of the height of a swing that is left."""
_BALL, _LEG = 0.01, 0.85
"""Where the balls of feet are led, ahead of the root [m], for a leg of some length [m]."""
_APART, _RISE = 0.1, 0.05
"""How far balls of feet are led apart, since heels come together, and how far the root is raised, for straight legs, as
far as they reach [m]."""
_ARM = (0.0, 0.3)
"""How far hanging arms point ahead and to their own side, for a metre down."""
_STRAIGHTEST, _DROP_S = 0.995, 0.3
"""Share of its length to which a planted leg is stretched before the root sinks, and the time constant of that [s]."""


def goes_sideways(clip: Clip) -> bool:
    """Return whether a clip of a person walks sideways, whichever way it faces."""
    roles = clip.skeleton.roles
    if clip.contacts is None or not all(f"{s}_{p}" in roles for s in SIDES for p in ("wrist", "ankle", "toe")):
        return False
    way = clip.root_positions[-1, :2] - clip.root_positions[0, :2]
    if float(np.hypot(*way)) < 0.2:
        return False
    heading = clip.headings()
    off = np.arctan2(way[1], way[0]) - heading
    level = bool(np.abs(clip.root_positions[:, 2] - clip.root_positions[0, 2]).max() < 0.1)
    return level and bool((np.abs(np.abs(np.angle(np.exp(1j * off))) - 0.5 * np.pi) < _ASIDE).all())


def flattened(clip: Clip, cycle: Clip, begins: bool, ends: bool) -> Clip:
    """Return a clip of side steps made flat, so that it joins with the others that are.

    Args:
        clip: the clip.
        cycle: side steps that go on and on, which follow it or come before it.
        begins: whether it sets off from a usual pose, which is kept.
        ends: whether it ends in a usual pose, which is kept.
    """
    before, after = [] if begins else [cycle], [] if ends else [cycle]
    whole = joined(*before, clip, *after)
    first = 0 if begins else len(cycle) - 1
    last = first + len(clip) - 1
    seams = [*([] if begins else [first]), *([] if ends else [last])]
    made = slice_frames(_flat(whole, seams, begins, ends), first, last + 1)
    return replace(place(made, clip.planar_path()[0]), name=clip.name, labels=clip.labels)


def _flat(clip: Clip, seams: Sequence[int], begins: bool, ends: bool) -> Clip:
    """Return side steps made flat; seams are frames in which this clip and others meet."""
    skeleton, frames = clip.skeleton, len(clip)
    roles = skeleton.roles
    at = seams[0]
    weight = np.ones(frames)
    if begins:
        weight = np.asarray(ease(np.arange(frames) / (0.6 * at)))
    if ends:
        weight = weight * np.asarray(ease(np.arange(frames)[::-1] / (0.6 * (frames - 1 - at))))
    heading = float(clip.headings()[at])
    ahead = np.array([np.cos(heading), np.sin(heading), 0.0])
    line = float(clip.root_positions[at] @ ahead)
    way = clip.root_positions[-1] - clip.root_positions[0]
    side = 1.0 if float(way[0] * -ahead[1] + way[1] * ahead[0]) > 0.0 else -1.0
    positions, world = clip.joint_transforms()
    upright = _upright(clip, heading, side, world, weight)
    roots = clip.root_positions + (weight * (line - clip.root_positions @ ahead))[:, None] * ahead
    roots[:, 2] += _RISE * leg_length(skeleton) / _LEG * weight
    posed = replace(clip, root_positions=roots, rotations=upright)
    plans, size = {}, leg_length(skeleton) / _LEG
    turned = np.array(posed.rotations)
    led_world = posed.joint_transforms()[1]
    for leg in legs_of(skeleton):
        name = next(s for s in SIDES if leg.joints[2] == roles[f"{s}_ankle"])
        assert clip.contacts is not None
        down = np.asarray(clip.contacts[:, leg.columns].any(axis=1))
        share = _stepped(down, begins, ends)
        ankle, toe, hip = leg.joints[2], roles[f"{name}_toe"], leg.joints[0]
        out = rotations.from_yaw(share * _SPLAY * (1.0 if name == "left" else -1.0))
        # a foot is turned about its ball as a whole, so that what rests or rolls on the ground goes on doing so
        middle = _held(positions[:, toe], down, seams)
        own = np.array([-ahead[1], ahead[0], 0.0]) * (1.0 if name == "left" else -1.0)
        moved = (line + _BALL * size - middle @ ahead)[:, None] * ahead + _APART * size * own
        lift = (1.0 - _LIFT) * np.maximum(positions[:, toe, 2] - middle[:, 2], 0.0) * ~down
        base = middle + share[:, None] * (moved - lift[:, None] * np.array([0.0, 0.0, 1.0]))
        target = base + rotations.rotate(out, positions[:, ankle] - middle)
        plans[name] = FootPlan(
            target, rotations.multiply(out, world[:, ankle]), rotations.multiply(out, world[:, toe]), down
        )
        # knees point to where feet do
        parent = led_world[:, skeleton.parents[hip]]
        turned[:, hip] = rotations.multiply(rotations.conjugate(parent), rotations.multiply(out, led_world[:, hip]))
    posed = replace(posed, rotations=rotations.normalize(turned))
    drop = root_drop(posed, plans, straightest=_STRAIGHTEST, drop_s=_DROP_S)
    made = with_legs(lowered(posed, weight * drop), plans)
    return replace(made, contacts=clip.contacts)


def _held(points: FloatArray, down: BoolArray, seams: Sequence[int]) -> FloatArray:
    """Return where a foot stands in every frame [m]; (F, 3): in a swing it goes over from one stance to the next."""
    out, last = np.array(points), len(points) - 1
    spans = stances(down)
    # a foot that is down where clips meet belongs to the clips before or after too
    at = [points[next((seam for seam in seams if a <= seam < b), (a + b) // 2)] for a, b in spans]
    for k, (a, b) in enumerate(spans):
        out[a:b] = at[k]
        after = spans[k + 1][0] if k + 1 < len(spans) else last + 1
        goal = at[k + 1] if k + 1 < len(spans) else points[last]
        out[b:after] = at[k] + ease(np.arange(1, after - b + 1) / (after - b + 1))[:, None] * (goal - at[k])
        if k == 0 and a > 0:
            out[:a] = points[0] + ease(np.arange(a) / a)[:, None] * (at[0] - points[0])
    return out


def _stepped(down: BoolArray, begins: bool, ends: bool) -> FloatArray:
    """Return how far a foot is led in every frame: it goes over in its first swing, or comes back in its last; (F,)."""
    frames, out = len(down), np.ones(len(down))
    swings = [(a, b) for a, b in stances(~down) if a > 0 and b < frames]
    if begins and swings:
        a, b = swings[0]
        out[:a], out[a:b] = 0.0, ease(np.arange(1, b - a + 1) / (b - a + 1))
    if ends and swings:
        a, b = swings[-1]
        out[b:], out[a:b] = 0.0, ease(np.arange(b - a, 0, -1) / (b - a + 1))
    return out


def _upright(clip: Clip, heading: float, side: float, world: FloatArray, weight: FloatArray) -> FloatArray:
    """Return local rotations (F, J, 4) of a body that stands upright with hanging arms and looks aside, by a weight."""
    skeleton, rest = clip.skeleton, t_pose(clip.skeleton)
    roles, parents = skeleton.roles, skeleton.parents.tolist()
    facing, look = rotations.from_yaw(heading), rotations.from_yaw(heading + side * _LOOK)
    wanted = dict[int, FloatArray]()
    chest = roles["chest"] if "chest" in roles else parents[roles["head"]]
    joint = chest
    while joint >= 0:
        wanted[joint] = rotations.multiply(facing, rest[joint])
        joint = parents[joint]
    for role in ("neck", "head"):
        if role in roles:
            half = rotations.from_yaw(heading + 0.4 * side * _LOOK) if role == "neck" else look
            wanted[roles[role]] = rotations.multiply(half, rest[roles[role]])
    for name, sign in (("left", 1.0), ("right", -1.0)):
        hang = rotations.between(np.array([0.0, sign, 0.0]), np.array([_ARM[0], sign * _ARM[1], -1.0]))
        for part in ("clavicle", "shoulder", "elbow", "wrist"):
            joint = roles.get(f"{name}_{part}", -1)
            if joint >= 0:
                turn = facing if part == "clavicle" else rotations.multiply(facing, hang)
                wanted[joint] = rotations.multiply(turn, rest[joint])
    now = np.array(world)
    local = np.array(clip.rotations)
    for joint, parent in enumerate(parents):
        if joint in wanted:
            now[:, joint] = rotations.slerp(
                world[:, joint], np.broadcast_to(wanted[joint], world[:, joint].shape), weight
            )
        elif parent >= 0:
            now[:, joint] = rotations.multiply(now[:, parent], local[:, joint])
        if joint in wanted:
            local[:, joint] = (
                now[:, joint] if parent < 0 else rotations.multiply(rotations.conjugate(now[:, parent]), now[:, joint])
            )
    return rotations.normalize(local)
