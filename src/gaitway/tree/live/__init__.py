"""Many full-body characters that find their ways while they are played (Lau 2009, 4.7.1)."""

from gaitway.tree.live.crowd import LiveCrowd
from gaitway.tree.live.forest import live_forest
from gaitway.tree.live.options import LiveCounts, LiveOptions, PlanEffort
from gaitway.tree.live.record import LiveRecord

__all__ = ["LiveCounts", "LiveCrowd", "LiveOptions", "LiveRecord", "PlanEffort", "live_forest"]
