"""Velocity-space locomotion: whole bodies that walk along any trajectory (Esteves et al. 2006, section 3.2.2)."""

from gaitway.crowd.locomotion.animation import animate
from gaitway.crowd.locomotion.space import LocomotionSpace, locomotion_space

__all__ = ["LocomotionSpace", "animate", "locomotion_space"]
