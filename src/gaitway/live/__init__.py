"""Live crowds: full-body characters that plan while they are played (Lau 2009, section 4.7.1).

The package can be called: `gaitway.live("market_square")` is `gaitway.live.opening.live("market_square")`.
"""

from typing import TYPE_CHECKING

from gaitway.core.callable_package import make_callable
from gaitway.live.crowd import LiveCrowd
from gaitway.live.engine import LiveEngine
from gaitway.live.events import Arrived, Blocked, LiveEvent, Refused, Removed, Stuck
from gaitway.live.options import LiveCounts, LiveOptions, PlanEffort
from gaitway.live.planning.forest import live_forest
from gaitway.live.playing.saving import LiveState
from gaitway.live.record import LiveRecord

if TYPE_CHECKING:
    from gaitway.live.opening import live as live

make_callable(__name__, "gaitway.live.opening", "live")

__all__ = [
    "Arrived",
    "Blocked",
    "LiveCounts",
    "LiveCrowd",
    "LiveEngine",
    "LiveEvent",
    "LiveOptions",
    "LiveRecord",
    "LiveState",
    "PlanEffort",
    "Refused",
    "Removed",
    "Stuck",
    "live",
    "live_forest",
]
