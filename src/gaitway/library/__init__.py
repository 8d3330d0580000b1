"""What characters can do: behaviours, their clips, and the built-in cast."""

from gaitway.library.behavior import Behavior, BehaviorGraph, Library
from gaitway.library.checks import Join, check_graph, check_joins

__all__ = ["Behavior", "BehaviorGraph", "Join", "Library", "check_graph", "check_joins"]
