"""Upper bodies over any take: where characters look, how they stand and wait, and how their steps differ."""

from gaitway.performing.upper_body.layers import LAYER, UpperBodies, with_upper_bodies
from gaitway.performing.upper_body.rig import UpperBody, upper_body
from gaitway.performing.upper_body.ways import WAYS, StandingWay

__all__ = ["LAYER", "WAYS", "StandingWay", "UpperBodies", "UpperBody", "upper_body", "with_upper_bodies"]
