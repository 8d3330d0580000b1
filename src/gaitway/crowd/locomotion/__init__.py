"""Velocity-space locomotion: whole bodies that walk along any trajectory (Esteves et al. 2006, section 3.2.2)."""

from gaitway.crowd.locomotion.animation import animate
from gaitway.crowd.locomotion.live import BodyState, advance, begin_bodies, pose_bodies
from gaitway.crowd.locomotion.posing import BodyPoses
from gaitway.crowd.locomotion.space import LocomotionSpace, locomotion_space

__all__ = [
    "BodyPoses",
    "BodyState",
    "LocomotionSpace",
    "advance",
    "animate",
    "begin_bodies",
    "locomotion_space",
    "pose_bodies",
]
