"""Motion of one humanoid on the skeleton of another.

Every joint's world turn away from the T-pose is copied to the joint with the same role, so limbs point exactly where
they did, whatever the rigs' own axes. The pelvis path is scaled by leg length and feet stay at floor level.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.anatomy import leg_length, t_pose, t_pose_positions
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import floor_height, sole_depth, with_contact_points
from gaitway.motion.kinematics import local_rotations
from gaitway.motion.roles import bare_names, split_side
from gaitway.motion.skeleton import Skeleton

_REQUIRED = ("hips", *(f"{side}_{part}" for side in ("left", "right") for part in ("hip", "knee", "ankle")))


def retarget(
    clip: Clip,
    skeleton: Skeleton,
    *,
    floor: float | None = None,
    flat_feet: bool = False,
    level_gaze: bool = False,
) -> Clip:
    """Return the clip's motion on another humanoid skeleton.

    Args:
        clip: motion of any humanoid whose legs and hips are known by role.
        skeleton: the figure that shall perform it.
        floor: height of the floor in `clip` [m]; None estimates it. The result has its floor at 0.
        flat_feet: turn the feet by a constant so that they lie flat while they rest. T-poses of captures disagree with
            the true sole by some degrees.
        level_gaze: turn neck and head by a constant so that the mean gaze is level; rigs disagree by up to 20 degrees.

    Raises:
        SkeletonError: naming the roles that one of the skeletons lacks.
    """
    source = clip.skeleton
    source.require(*_REQUIRED)
    skeleton.require(*_REQUIRED)
    positions, world = clip.joint_transforms()
    turns = rotations.multiply(world, rotations.conjugate(t_pose(source)))
    new_turns = _map_turns(turns, source, skeleton)
    new_world = rotations.multiply(new_turns, t_pose(skeleton))
    roots = _scaled_roots(clip, positions, new_turns[:, 0], skeleton, floor_height(clip) if floor is None else floor)
    contacts = _matching_contacts(clip, skeleton)
    result = Clip(
        skeleton,
        roots,
        rotations.normalize(local_rotations(skeleton, new_world)),
        clip.fps,
        clip.name,
        contacts,
        clip.labels,
    )
    if flat_feet:
        result = _flatten_feet(result)
    if level_gaze:
        result = _level_gaze(result)
    return result if floor is not None else _on_floor(result)


def _map_turns(turns: FloatArray, source: Skeleton, target: Skeleton) -> FloatArray:
    """Return the world turns away from the T-pose for each joint of the target; (F, J, 4)."""
    out = rotations.identity(len(turns), len(target))
    chains = {**_trunk(turns, source, target, "hips", "chest"), **_trunk(turns, source, target, "chest", "head")}
    fingers = _same_names_below_wrists(source, target)
    for joint, parent in enumerate(target.parents):
        role = next((r for r, j in target.roles.items() if j == joint and r in source.roles), None)
        if joint in chains:
            out[:, joint] = chains[joint]
        elif role is not None:
            out[:, joint] = turns[:, source.roles[role]]
        elif joint in fingers:
            out[:, joint] = turns[:, fingers[joint]]
        else:  # nothing known of it: it follows its parent rigidly
            out[:, joint] = out[:, parent] if parent >= 0 else turns[:, source.roles["hips"]]
    return out


def _trunk(turns: FloatArray, source: Skeleton, target: Skeleton, low: str, high: str) -> dict[int, FloatArray]:
    """Return the turns of the target's joints above `low` up to `high`, spread over chains of differing length."""
    if any(role not in s.roles for s in (source, target) for role in (low, high)):
        return {}
    chain, share = _chain(source, source.roles[low], source.roles[high])
    wanted, at = _chain(target, target.roles[low], target.roles[high])
    out = {}
    for joint, x in zip(wanted[1:], at[1:], strict=True):
        k = min(int(np.searchsorted(share, x, side="left")), len(share) - 1)
        below = max(k - 1, 0)
        span = share[k] - share[below]
        t = (x - share[below]) / span if span > 1e-9 else 1.0
        out[joint] = rotations.slerp(turns[:, chain[below]], turns[:, chain[k]], t)
    return out


def _chain(skeleton: Skeleton, low: int, high: int) -> tuple[list[int], FloatArray]:
    """Return the joints from `low` up to `high`, and the share of the trunk's turn of each, 0 to 1; (n,)."""
    joints = [high]
    while joints[-1] != low and skeleton.parents[joints[-1]] >= 0:
        joints.append(int(skeleton.parents[joints[-1]]))
    joints.reverse()
    return joints, np.linspace(0.0, 1.0, len(joints)) if len(joints) > 1 else np.ones(1)


def _same_names_below_wrists(source: Skeleton, target: Skeleton) -> dict[int, int]:
    """Return fingers with the same name on both rigs: target joint to source joint."""
    named = {split_side(n): j for j, n in enumerate(bare_names(source.names)) if _below_wrist(source, j)}
    wanted = {j: split_side(n) for j, n in enumerate(bare_names(target.names)) if _below_wrist(target, j)}
    return {j: named[word] for j, word in wanted.items() if word in named}


def _below_wrist(skeleton: Skeleton, joint: int) -> bool:
    wrists = {skeleton.roles.get("left_wrist"), skeleton.roles.get("right_wrist")}
    parent = int(skeleton.parents[joint])
    while parent >= 0:
        if parent in wrists:
            return True
        parent = int(skeleton.parents[parent])
    return False


def _scaled_roots(
    clip: Clip, positions: FloatArray, hip_turns: FloatArray, skeleton: Skeleton, floor: float
) -> FloatArray:
    """Return root positions [m] (F, 3) that place the middle of the hips as in the source, scaled by leg length."""
    source = clip.skeleton
    left, right = source.require("left_hip", "right_hip")
    middle = 0.5 * (positions[:, left] + positions[:, right])
    scale = leg_length(skeleton) / leg_length(source)
    goal = middle * scale
    goal[:, 2] = (middle[:, 2] - floor - sole_depth(source)) * scale + sole_depth(skeleton)
    rest = t_pose_positions(skeleton)
    left, right = skeleton.require("left_hip", "right_hip")
    carried = rotations.rotate(hip_turns, 0.5 * (rest[left] + rest[right]))
    return goal - carried


def _matching_contacts(clip: Clip, skeleton: Skeleton) -> BoolArray | None:
    """Return the contact columns for the target's points of the same name, or None if any is unknown."""
    if clip.contacts is None:
        return None
    column = {p.name: i for i, p in enumerate(clip.skeleton.contact_points)}
    if not skeleton.contact_points or any(p.name not in column for p in skeleton.contact_points):
        return None
    return np.asarray(clip.contacts[:, [column[p.name] for p in skeleton.contact_points]])


def _flatten_feet(clip: Clip) -> Clip:
    """Turn feet and toes by one constant rotation each, so that their mean resting pose is flat."""
    skeleton, rest = clip.skeleton, t_pose(clip.skeleton)
    positions, world = clip.joint_transforms()
    new_world = np.array(world)
    for side in ("left", "right"):
        ankle = skeleton.roles[f"{side}_ankle"]
        speed = np.linalg.norm(np.gradient(positions[:, ankle], axis=0), axis=-1) if len(clip) > 1 else np.zeros(1)
        still = speed <= np.quantile(speed, 0.15)
        joints = [ankle] + ([skeleton.roles[f"{side}_toe"]] if f"{side}_toe" in skeleton.roles else [])
        for joint in joints:
            _recentre(new_world, joint, rest[joint], still, rotations.identity())
    return _with_world(clip, new_world)


def _level_gaze(clip: Clip) -> Clip:
    """Turn neck and head by one constant rotation each: mean gaze level, no mean roll."""
    skeleton, rest = clip.skeleton, t_pose(clip.skeleton)
    new_world = np.array(clip.joint_transforms()[1])
    for role, lean in (("neck", 0.2), ("head", 0.03)):
        if role in skeleton.roles:
            joint = skeleton.roles[role]
            _recentre(
                new_world, joint, rest[joint], np.ones(len(clip), bool), rotations.from_axis_angle([0, 1, 0], lean)
            )
    return _with_world(clip, new_world)


def _recentre(world: FloatArray, joint: int, rest: FloatArray, frames: BoolArray, wanted: FloatArray) -> None:
    """Multiply a joint's turns by the constant that makes their mean over some frames, heading aside, `wanted`."""
    turns = rotations.multiply(world[:, joint], rotations.conjugate(rest))
    ahead = rotations.rotate(turns, np.array([1.0, 0.0, 0.0]))
    level = rotations.multiply(rotations.from_yaw(-np.arctan2(ahead[:, 1], ahead[:, 0])), turns)
    offset = rotations.mean(level[frames])
    fixed = rotations.multiply(rotations.multiply(turns, rotations.conjugate(offset)), wanted)
    world[:, joint] = rotations.multiply(fixed, rest)


def _with_world(clip: Clip, world: FloatArray) -> Clip:
    """Return the clip with other world rotations; joints without a role follow their parents as before."""
    known, local = set(clip.skeleton.roles.values()), np.array(clip.rotations)
    for joint, parent in enumerate(clip.skeleton.parents):
        if joint in known and parent >= 0:
            local[:, joint] = rotations.multiply(rotations.conjugate(world[:, parent]), world[:, joint])
        elif parent >= 0:
            world[:, joint] = rotations.multiply(world[:, parent], local[:, joint])
    return replace(clip, rotations=rotations.normalize(local))


def _on_floor(clip: Clip) -> Clip:
    """Return the clip lifted or lowered so that its feet rest at height 0."""
    height = floor_height(with_contact_points(clip))
    return replace(clip, root_positions=clip.root_positions - np.array([0.0, 0.0, height]))
