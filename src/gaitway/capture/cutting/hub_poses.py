"""Operations on hub poses: mirror images, symmetric poses, joint limits, and the best place in a take."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gaitway.capture.cutting.mirroring import mirrored_on_feet
from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray
from gaitway.graphs.clouds import body_points
from gaitway.graphs.snap.common_pose import HubPose, satisfy_contacts
from gaitway.graphs.snap.foot_tracks import foot_track
from gaitway.motion.clip import Clip
from gaitway.motion.footskate import reach_feet
from gaitway.motion.limits import clamp, violations
from gaitway.motion.skeleton import Skeleton

_INSTANT = 1e-3
"""Time step by which velocities are mirrored as differences of poses [s]."""
_HELD = 6.0
"""Factor of the weights of points of planted feet when a pose is placed on a frame."""


def pose_clip(pose: HubPose, fps: float = 1.0 / _INSTANT) -> Clip:
    """Return a pose, and the pose one frame later, as a clip of two frames."""
    step = 1.0 / fps
    spin = rotations.from_rotation_vector(np.asarray(pose.angular_velocity) * step)
    turns = np.stack([pose.rotations, rotations.multiply(spin, pose.rotations)])
    roots = np.stack([pose.root, np.asarray(pose.root) + step * np.asarray(pose.root_velocity)])
    contacts = np.stack([pose.contacts, pose.contacts])
    return Clip(pose.skeleton, roots, turns, fps, contacts=contacts)


def mirrored_pose(pose: HubPose) -> HubPose:
    """Return the mirror image of a pose with its feet on the floor; left and right bones may differ in length."""
    seen = mirrored_on_feet(pose_clip(pose))
    turn = rotations.multiply(seen.rotations[1], rotations.conjugate(seen.rotations[0]))
    assert seen.contacts is not None
    return replace(
        pose,
        root=seen.root_positions[0],
        rotations=seen.rotations[0],
        root_velocity=np.asarray(pose.root_velocity) * [1.0, -1.0, 1.0],
        angular_velocity=rotations.to_rotation_vector(turn) / _INSTANT,
        contacts=seen.contacts[0],
    )


def stand_on_floor(pose: HubPose) -> HubPose:
    """Return the pose with its planted feet flat on the floor; the root moves only vertically, so it stays upright."""
    clip, count = pose.clip(), len(pose.skeleton.contact_points)
    free, level = np.zeros(1, dtype=bool), np.zeros(count)
    transforms = clip.joint_transforms()
    plans = {side: foot_track(clip, side, transforms, free, level) for side in ("left", "right")}
    legs = reach_feet(clip, plans)
    height = np.array([0.0, 0.0, legs.root_positions[0, 2]])
    return replace(pose, root=height, rotations=legs.rotations[0])


def within_limits(pose: HubPose) -> HubPose:
    """Return the pose with all joints within their limits and its feet on the floor."""
    clip = pose.clip()
    if violations(clip).max() <= 0.0:
        return pose
    return stand_on_floor(replace(pose, rotations=clamp(clip).rotations[0]))


def standing_on_both(pose: HubPose) -> HubPose:
    """Return a standing pose at rest whose legs are halfway to their mirror image, so that it serves both feet.

    Trunk, head and arms stay as they are: nobody holds both arms alike.
    """
    local, middle = np.array(pose.rotations), symmetric_pose(pose)
    above = trunk_joints(pose.skeleton)
    stood = np.array(middle.rotations)
    stood[above] = local[above]
    return replace(middle, rotations=stood)


def with_legs_between(pose: HubPose, other: HubPose) -> HubPose:
    """Return a pose with pelvis and legs halfway to another pose; trunk, head and arms stay as they are."""
    above = trunk_joints(pose.skeleton)
    local = rotations.slerp(pose.rotations, other.rotations, 0.5)
    spin = 0.5 * (pose.angular_velocity + other.angular_velocity)
    local[above], spin[above] = pose.rotations[above], pose.angular_velocity[above]
    middle = replace(
        pose,
        root=0.5 * (pose.root + other.root),
        rotations=local,
        root_velocity=0.5 * (pose.root_velocity + other.root_velocity),
        angular_velocity=spin,
    )
    return satisfy_contacts(middle)


def trunk_joints(skeleton: Skeleton) -> list[int]:
    """Return the joints above the hips, without legs."""
    tops = {skeleton.roles[f"{side}_hip"] for side in ("left", "right")}
    legs: set[int] = set(tops)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent in legs:
            legs.add(joint)
    # joints between hips and thighs carry no posture of the trunk
    for top in tops:
        above = int(skeleton.parents[top])
        while above > 0:
            legs.add(above)
            above = int(skeleton.parents[above])
    return [j for j in range(1, len(skeleton)) if j not in legs]


def symmetric_pose(pose: HubPose) -> HubPose:
    """Return a standing pose halfway to its mirror image and at rest, so that one hub serves both feet."""
    other = mirrored_pose(pose)
    middle = replace(
        pose,
        root=np.array([0.0, 0.0, pose.root[2]]),
        rotations=rotations.slerp(pose.rotations, other.rotations, 0.5),
        root_velocity=np.zeros(3),
        angular_velocity=np.zeros_like(pose.angular_velocity),
        contacts=pose.contacts | other.contacts,
    )
    return stand_on_floor(middle)


def place_on_frame(pose: HubPose, clip: Clip, frame: int) -> FloatArray:
    """Return the planar pose (3,) at which a hub pose fits a frame of a clip best; its planted feet count most."""
    points = body_points(pose.skeleton)
    weights = np.array(points.weights)
    held = {p.joint for p, down in zip(pose.skeleton.contact_points, pose.contacts, strict=True) if down}
    weights[[j in held for j in points.joints.tolist()]] *= _HELD
    weights /= weights.sum()
    one = Clip(clip.skeleton, clip.root_positions[frame : frame + 1], clip.rotations[frame : frame + 1], clip.fps)
    here, there = (points.positions(c)[0, :, :2] for c in (one, pose_clip(pose)))
    return align_points(there, here, weights)


def align_points(points: FloatArray, onto: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the planar move (3,) that maps points (N, 2) onto others in least squares; weights (N,) sum to 1."""
    centre, goal = weights @ points, weights @ onto
    a, b = points - centre, onto - goal
    across = np.sum(weights * (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]))
    turn = float(np.arctan2(across, np.sum(weights * np.sum(a * b, axis=1))))
    move = np.array([0.0, 0.0, turn])
    move[:2] = goal - planar.transform_points(move, centre)
    return move
