"""What a reader decided about a file, for the user to see."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

LOGGER = logging.getLogger("gaitway")


@dataclass(frozen=True)
class LoadReport:
    """How a capture file was understood. Each note is also logged to the logger "gaitway" at level INFO."""

    path: Path
    unit: str
    """Name of the file's unit of length: "m", "cm", "mm", "inch", "cmu", or "0.3 m" for any other factor."""
    metres_per_unit: float
    up: str
    """The file's vertical axis: "x", "y" or "z"."""
    file_fps: float
    """The rate the file's frames were taken to have [Hz]."""
    dropped_tpose: bool
    """Whether frame 0 was a converter's T-pose and was left out."""
    notes: tuple[str, ...]
    """Everything that was detected, assumed or repaired, a sentence each."""

    def log(self) -> None:
        """Send the notes to the logger "gaitway"."""
        for note in self.notes:
            LOGGER.info("%s: %s", self.path, note)
