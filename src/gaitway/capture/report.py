"""Report of an import: plain values that can be written as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from gaitway.motion.clip import Clip

_TURN = "turn "
"""First word of the label that states the measured turn of a clip."""


def turn_label(turn: float) -> str:
    """Return the label of a clip that states how far the direction of travel turns in it, to the left [rad]."""
    return f"{_TURN}{np.degrees(turn):.1f}"


def travel_turn_deg(clip: Clip) -> float:
    """Return how far the direction of travel turns in a clip, to the left [degrees].

    An imported clip states it. In all other clips it is the turn of the pelvis, which in an imported step would twist.
    """
    stated = next((label.removeprefix(_TURN) for label in clip.labels if label.startswith(_TURN)), "")
    try:
        return float(stated)
    except ValueError:
        headings = clip.headings()
        return float(np.degrees(headings[-1] - headings[0]))


@dataclass(frozen=True)
class TimeUse:
    """What becomes of a part of a take."""

    start_s: float
    """Begin of the part [s]."""
    stop_s: float
    """End of the part [s]."""
    used: bool
    what: str
    """Behaviour that the part is in, or why it is in none."""


@dataclass(frozen=True)
class TakeReport:
    """Use of one take."""

    take: str
    seconds: float
    """Duration of the take [s]."""
    clips: int
    """Number of clips of the library that come from the take, without mirrored ones."""
    used_seconds: float
    """Duration of the frames of the take that are in these clips [s]."""
    found: tuple[str, ...] = ()
    """Recognised phases and special motions."""
    refused: tuple[str, ...] = ()
    """Clips that were cut from the take and refused, with the reason."""
    notes: tuple[str, ...] = ()
    """Decisions and repairs, a sentence each."""
    uses: tuple[TimeUse, ...] = ()
    """What becomes of every second of the take, in order."""


@dataclass(frozen=True)
class HubReport:
    """State of the library."""

    name: str
    members: int
    """Number of frames in its match set."""
    takes: int
    """Number of takes that these frames come from."""
    spread_cm: float
    """Mean distance of these frames to the middle one [cm]."""
    radius_cm: float
    """Largest distance at which frames count as alike [cm]."""
    speed: float
    """Speed over the ground [m/s]."""
    made: str = ""
    """How the state was made, if the capture does not have it."""


@dataclass(frozen=True, kw_only=True)
class BehaviorReport:
    """Behaviour of the library."""

    name: str
    start: str
    end: str
    clips: int
    seconds: float
    """Duration of its first clip [s]."""
    ahead: float
    """Distance ahead of its first clip [m]."""
    left: float
    """Distance to the left of its first clip [m]."""
    turn_deg: float
    """Turn to the left of the direction of travel in its first clip [degrees]; names say it in steps of 15 or 30."""
    takes: tuple[str, ...]
    """Names of the takes that its clips come from."""
    made: str = ""
    """How the behaviour was made, if it does not come from the capture."""
    obstacle: str = ""
    pass_time: float | None = None
    """Time at which the first clip passes the obstacle [s]."""
    gets_past: float | None = None
    """Height that a jump clears, or headroom that a duck or crawl needs, where the clip passes the obstacle [m]."""
    pop: float = 0.0
    """Largest change of angular velocity, as a multiple of the capture's 99.9th percentile."""
    slide_cm: float = 0.0
    """Largest slide of a planted foot [cm]."""


@dataclass(frozen=True, kw_only=True)
class ImportReport:
    """Report of an import."""

    name: str
    files: int
    seconds: float
    """Duration of the captured motion [s]."""
    takes: tuple[TakeReport, ...]
    dropped: tuple[tuple[str, str], ...]
    """Files that the import does not use, with the reason."""
    hubs: tuple[HubReport, ...]
    behaviors: tuple[BehaviorReport, ...]
    missing: tuple[str, ...]
    """Motions that the capture lacks, including those that the import made."""
    unusable: tuple[tuple[str, str], ...] = ()
    """Motions that were found in the capture and give no behaviour: what and how much of it, and why."""
    warnings: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    """Behaviours that were found but are not in the library, with the reason."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `SubjectFacts`."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Duration of each stage of the import [s]."""

    @property
    def made(self) -> tuple[str, ...]:
        """Names of the behaviours that the import made."""
        return tuple(b.name for b in self.behaviors if b.made)

    @property
    def coverage(self) -> float:
        """Share of the captured time that is in at least one clip."""
        return sum(t.used_seconds for t in self.takes) / self.seconds if self.seconds > 0.0 else 0.0

    def unused_seconds(self) -> dict[str, float]:
        """Return how many seconds are not used for each reason [s], the largest first; reasons come without names."""
        out: dict[str, float] = {}
        for use in (use for take in self.takes for use in take.uses if not use.used):
            why = use.what.partition(": ")[2] or use.what
            out[why] = out.get(why, 0.0) + use.stop_s - use.start_s
        return dict(sorted(out.items(), key=lambda item: -item[1]))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        out = asdict(self)
        out["facts"], out["timings"] = dict(self.facts), dict(self.timings)
        out["made"], out["coverage"] = list(self.made), self.coverage
        return out
