"""What characters can do: behaviours, their clips, and the built-in cast."""

from gaitway.library.behavior import Behavior, BehaviorGraph, Library

__all__ = ["Behavior", "BehaviorGraph", "Library"]
