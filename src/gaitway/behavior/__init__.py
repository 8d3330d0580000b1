"""Behaviour planning: from a place, a library and a goal to a sequence of behaviours, for one character or a crowd."""

from gaitway.behavior.plan import Plan, PlanStep, SearchResult, Status

__all__ = ["Plan", "PlanStep", "SearchResult", "Status"]
