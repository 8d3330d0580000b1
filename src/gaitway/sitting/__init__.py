"""Sitting: people sit down on seats, sit in several manners, and get up, exact by contact, on any rig of a person.

Motion is made on demand, from the standing pose of a library to the same pose; see `docs/sitting.md`.
"""

from gaitway.sitting.figure import Figure, figure_of
from gaitway.sitting.manners import MANNERS, Manner
from gaitway.sitting.seat import HEIGHTS, Seat
from gaitway.sitting.visiting import (
    CALLED,
    Span,
    Visit,
    down_seconds,
    get_up,
    sit,
    sit_down,
    standing_place,
    up_seconds,
    visit,
)

__all__ = [
    "CALLED", "HEIGHTS", "MANNERS", "Figure", "Manner", "Seat", "Span", "Visit", "down_seconds", "figure_of",
    "get_up", "sit", "sit_down", "standing_place", "up_seconds", "visit",
]  # fmt: skip
