"""Many full-body characters that find their ways while they are played (Lau 2009, 4.7.1)."""

from gaitway.live.engine import LiveEngine
from gaitway.live.forest import live_forest
from gaitway.live.options import LiveCounts, LiveOptions, PlanEffort
from gaitway.live.record import LiveRecord

__all__ = ["LiveCounts", "LiveEngine", "LiveOptions", "LiveRecord", "PlanEffort", "live_forest"]
