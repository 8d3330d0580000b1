"""Skeletons, clips and what can be done with them."""

from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import ContactPoint, Skeleton

__all__ = ["Clip", "ContactPoint", "Skeleton"]
