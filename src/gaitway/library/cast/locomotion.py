"""Locomotion of the person: see `stride`, `hubs` and `performing`."""

from __future__ import annotations

from gaitway.library.cast.hubs import STAND_PHASE, Hub, HubFrame, cut_between, hub, plant_between
from gaitway.library.cast.performing import perform
from gaitway.library.cast.stride import (
    FPS,
    NEUTRAL,
    SPEEDS,
    STATES,
    Controls,
    Edit,
    cycle_rate,
    gait_weights,
    hub_phase,
    locomote,
    stance_schedule,
    wobble_weights,
)

__all__ = [
    "FPS",
    "NEUTRAL",
    "SPEEDS",
    "STAND_PHASE",
    "STATES",
    "Controls",
    "Edit",
    "Hub",
    "HubFrame",
    "cut_between",
    "cycle_rate",
    "gait_weights",
    "hub",
    "hub_phase",
    "locomote",
    "perform",
    "plant_between",
    "stance_schedule",
    "wobble_weights",
]
