"""Skeletons, clips, and functions that measure and change them."""

from gaitway.motion.anatomy import missing_roles, t_pose
from gaitway.motion.blending import blend, concatenate, ease
from gaitway.motion.body import CapsuleBody, capsule_body, capsules
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import ContactLimits, detect_contacts, floor_height, humanoid_contact_points, stances
from gaitway.motion.editing import mirror, move, place, resample, root_path, slice_frames, slice_seconds, with_name
from gaitway.motion.footskate import clean_footskate
from gaitway.motion.ik import reach, two_bone
from gaitway.motion.kinematics import angular_velocities, forward_kinematics, linear_velocities, local_rotations
from gaitway.motion.limits import JointLimits, RoleLimit, clamp, joint_limits, violations
from gaitway.motion.quality import foot_slide
from gaitway.motion.retarget import retarget
from gaitway.motion.skeleton import ContactPoint, Skeleton

__all__ = [
    "CapsuleBody",
    "Clip",
    "ContactLimits",
    "ContactPoint",
    "JointLimits",
    "RoleLimit",
    "Skeleton",
    "angular_velocities",
    "blend",
    "capsule_body",
    "capsules",
    "clamp",
    "clean_footskate",
    "concatenate",
    "detect_contacts",
    "ease",
    "floor_height",
    "foot_slide",
    "forward_kinematics",
    "humanoid_contact_points",
    "joint_limits",
    "linear_velocities",
    "local_rotations",
    "mirror",
    "missing_roles",
    "move",
    "place",
    "reach",
    "resample",
    "retarget",
    "root_path",
    "slice_frames",
    "slice_seconds",
    "stances",
    "t_pose",
    "two_bone",
    "violations",
    "with_name",
]
