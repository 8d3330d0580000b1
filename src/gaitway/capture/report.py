"""What an import found, used, made, left out and lacks; plain values that can be written as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class TakeReport:
    """What became of one file."""

    take: str
    seconds: float
    """Of motion [s]."""
    clips: int
    """Clips of the library that come from it, mirrored ones not counted."""
    used_seconds: float
    """How much of it is in those [s]."""
    found: tuple[str, ...] = ()
    """What was recognised: phases and special motions."""
    refused: tuple[str, ...] = ()
    """What was cut from it and is not good enough, with the reason."""
    notes: tuple[str, ...] = ()
    """What was judged or mended."""


@dataclass(frozen=True)
class HubReport:
    """One state of the library."""

    name: str
    members: int
    """Frames in its match set."""
    takes: int
    """Takes that they come from."""
    spread_cm: float
    radius_cm: float
    speed: float
    """[m/s]."""
    made: str = ""


@dataclass(frozen=True)
class BehaviorReport:
    """One behaviour of the library."""

    name: str
    start: str
    end: str
    clips: int
    seconds: float
    ahead: float
    """[m]."""
    left: float
    """[m]."""
    turn_deg: float
    takes: tuple[str, ...]
    made: str = ""
    """How, where it is not of the capture itself."""
    obstacle: str = ""
    pass_time: float | None = None
    gets_past: float | None = None
    """Height that a jump clears, or headroom that a duck or crawl needs, where it passes [m]."""
    pop: float = 0.0
    """Worst change of angular velocity over the capture's 99.9th percentile."""
    slide_cm: float = 0.0
    """Worst slide of a planted foot."""


@dataclass(frozen=True)
class ImportReport:
    """Everything about an import."""

    name: str
    files: int
    seconds: float
    """Of captured motion [s]."""
    takes: tuple[TakeReport, ...]
    dropped: tuple[tuple[str, str], ...]
    """Files that are not used, with the reason."""
    hubs: tuple[HubReport, ...]
    behaviors: tuple[BehaviorReport, ...]
    missing: tuple[str, ...]
    """What the capture lacks, whether or not it could be made."""
    warnings: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    """Behaviours that were found and are not in the library, with the reason."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Floor, stature and the like."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds for each stage."""

    @property
    def made(self) -> tuple[str, ...]:
        """Names of the behaviours that are not of the capture itself."""
        return tuple(b.name for b in self.behaviors if b.made)

    @property
    def coverage(self) -> float:
        """Share of the captured time that is in some clip."""
        return sum(t.used_seconds for t in self.takes) / self.seconds if self.seconds > 0.0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        out = asdict(self)
        out["facts"], out["timings"] = dict(self.facts), dict(self.timings)
        out["made"], out["coverage"] = list(self.made), self.coverage
        return out
