"""How much a capture file may ask for. All of these are checked before memory is taken."""

from __future__ import annotations

MAX_FILE_BYTES = 512 * 2**20
"""Largest file that is read [bytes]; an hour of 60 joints at 120 Hz is about half of it as text."""
MAX_VALUES = 100_000_000
"""Most motion numbers (frames times channels) in one file: 800 MB once read."""
MAX_DEPTH = 500
"""Most joints from the root to a tip."""
MAX_MAGNITUDE = 1e9
"""Largest offset, position or angle; beyond it a file is garbage, and squares and sums of smaller ones stay finite."""
MAX_FPS = 100_000.0
"""Highest frame rate [Hz]."""
