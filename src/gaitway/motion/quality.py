"""Quality of a motion, as the makers of motion measure it: slides, pops, and joints beyond their limits.

The import of captures and learnt variation measure their results with these functions. Each caller passes its own
floors as parameters. The audit (`gaitway.audit`) measures the same things with code of its own, on purpose: a mistake
in this module must not hide itself from the audit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import detect_contacts, stances
from gaitway.motion.kinematics import angular_velocities
from gaitway.motion.limits import JointLimits, violations

USUAL_PERCENTILE = 99.9
"""Percentile of velocity changes that counts as usual."""


def foot_slide(clip: Clip, parts: tuple[str, ...] | None = ("heel", "ball")) -> FloatArray:
    """Return how far each planted contact point moves horizontally from where it was first planted [m]; one per stance.

    Points that roll, such as wheels, are left out.

    Args:
        clip: Motion; contacts are detected if it has none.
        parts: Contact points to measure, by the last word of their name; None measures all.
    """
    clip = clip if clip.contacts is not None else detect_contacts(clip)
    points, slides = clip.contact_positions(), []
    for column, point in enumerate(clip.skeleton.contact_points):
        measured = parts is None or point.name.rpartition("_")[2] in parts
        if measured and not point.rolls and clip.contacts is not None:
            for start, stop in stances(clip.contacts[:, column]):
                track = points[start:stop, column, :2]
                slides.append(float(np.linalg.norm(track - track[0], axis=-1).max()))
    return np.array(slides)


def greatest_slide(clip: Clip, parts: tuple[str, ...] | None = ("heel", "ball")) -> float:
    """Return the greatest `foot_slide` of a clip [m]; 0 if the clip has no contacts."""
    return float(foot_slide(clip, parts).max(initial=0.0)) if clip.contacts is not None else 0.0


def planted_height_error(clip: Clip) -> float:
    """Return the greatest distance of a planted contact point from the floor at z = 0, above or below it [m]."""
    if clip.contacts is None:
        return 0.0
    return float(np.abs(clip.contact_positions()[..., 2])[clip.contacts].max(initial=0.0))


def joint_velocity_changes(clip: Clip, *, in_joint_frame: bool = False) -> FloatArray:
    """Return the change of each joint's angular velocity from frame to frame [rad/s]; (F - 2, J).

    Args:
        clip: Motion.
        in_joint_frame: Whether velocities are expressed in the moving frame of the joint, not in that of its parent.
            The two results differ for joints that turn about a changing axis.
    """
    before, after = clip.rotations[:-1], clip.rotations[1:]
    back = rotations.conjugate(before)
    turns = rotations.multiply(back, after) if in_joint_frame else rotations.multiply(after, back)
    return np.asarray(np.linalg.norm(np.diff(rotations.to_rotation_vector(turns), axis=0), axis=-1) * clip.fps)


def root_velocity_changes(clip: Clip) -> FloatArray:
    """Return the change of the root's velocity from frame to frame [m/s]; (F - 2,)."""
    return np.asarray(np.linalg.norm(np.diff(clip.root_positions, n=2, axis=0), axis=-1) * clip.fps)


def velocity_changes(clip: Clip, *, in_joint_frame: bool = False) -> FloatArray:
    """Return `joint_velocity_changes` [rad/s], and `root_velocity_changes` [m/s] as last column; (F - 2, J + 1)."""
    joints = joint_velocity_changes(clip, in_joint_frame=in_joint_frame)
    return np.column_stack([joints, root_velocity_changes(clip)])


def usual_velocity_changes(
    clips: Sequence[Clip], *, least_joint: npt.ArrayLike, least_root: float, in_joint_frame: bool = False
) -> FloatArray:
    """Return the usual `velocity_changes` of clips, their 99.9th percentile: joints [rad/s], then the root; (J + 1,).

    Args:
        clips: Motions on one skeleton, at one frame rate.
        least_joint: Floor: changes of joints that are too small to be seen [rad/s]; a number or (J,).
        least_root: Floor: change of the root that is too small to be seen [m/s].
        in_joint_frame: As of `joint_velocity_changes`.
    """
    least = np.append(np.broadcast_to(np.asarray(least_joint, dtype=np.float64), len(clips[0].skeleton)), least_root)
    changes = np.concatenate([velocity_changes(clip, in_joint_frame=in_joint_frame) for clip in clips])
    return np.maximum(np.percentile(changes, USUAL_PERCENTILE, axis=0), least) if len(changes) else least


def end_velocities(clip: Clip, frame: int, heading: float) -> FloatArray:
    """Return velocities from a frame to the next, in a frame turned to a heading; (J + 1, 3).

    The velocities of two clips at their common pose, subtracted, are the velocity changes at their join.

    Args:
        clip: Motion.
        frame: First of the two frames.
        heading: Heading of the frame of reference [rad].

    Returns:
        Angular velocity of each joint [rad/s], then the velocity of the root [m/s].
    """
    back = rotations.from_yaw(-heading)
    spins = angular_velocities(clip.rotations[frame : frame + 2], clip.fps)[0]
    spins[0] = rotations.rotate(back, spins[0])
    drift = rotations.rotate(back, np.diff(clip.root_positions[frame : frame + 2], axis=0)[0] * clip.fps)
    return np.vstack([spins, drift])


def greatest_limit_excess(clip: Clip, limits: JointLimits | None = None) -> float:
    """Return by how much the worst joint is beyond its limits in any frame [degrees]; 0 if all joints keep them.

    Args:
        clip: Motion.
        limits: Limits of the clip's skeleton; None uses `joint_limits(clip.skeleton)`.
    """
    return float(violations(clip, limits).max(initial=0.0))
