"""Handling: people who stand reach for things, grasp, carry, put down and hand them over (Shapiro et al. 2007)."""

from gaitway.handling.grips import ThingPose, grip_point, thing_carried, thing_obstacle
from gaitway.handling.handler import HandGoal, Handler, HandTask, HandWay
from gaitway.handling.motion import HandMotion, hand_motion

__all__ = [
    "HandGoal", "HandMotion", "HandTask", "HandWay", "Handler", "ThingPose", "grip_point", "hand_motion",
    "thing_carried", "thing_obstacle",
]  # fmt: skip
