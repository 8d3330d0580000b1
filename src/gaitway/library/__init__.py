"""Libraries: behaviours, their clips, and what planners need to know of them."""

from gaitway.library.behavior import Behavior, BehaviorGraph, Library
from gaitway.library.checks import ClipJoin, check_graph, check_joins

__all__ = ["Behavior", "BehaviorGraph", "ClipJoin", "Library", "check_graph", "check_joins"]
