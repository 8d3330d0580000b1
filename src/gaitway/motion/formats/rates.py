"""Frame rates that were rounded on their way into a file."""

from __future__ import annotations

_TOLERANCE = 5e-4
"""Relative. Frame times are written with a few digits (.0083333); 29.97 and 23.976 Hz are twice as far from whole."""


def whole_rate(rate: float) -> float:
    """The whole number of frames a second that a rate [Hz] stands for, or the rate itself where none is near."""
    whole = round(rate)
    return float(whole) if whole and abs(rate - whole) < _TOLERANCE * whole else rate
