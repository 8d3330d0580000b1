"""Behaviour planning: from a place, a library and a goal to a sequence of behaviours, for one character or a crowd."""

from gaitway.behavior.crowd import CrowdPlan, plan_crowd
from gaitway.behavior.heuristics import Heuristics
from gaitway.behavior.search import Query, Searcher, search
from gaitway.performing.synthesis import Performer, plans_to_take
from gaitway.space.fields import WorldFields
from gaitway.space.plan import Plan, PlanStep, SearchResult, Status
from gaitway.space.traffic import Traffic

__all__ = [
    "CrowdPlan",
    "Heuristics",
    "Performer",
    "Plan",
    "PlanStep",
    "Query",
    "SearchResult",
    "Searcher",
    "Status",
    "Traffic",
    "WorldFields",
    "plan_crowd",
    "plans_to_take",
    "search",
]
