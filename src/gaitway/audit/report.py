"""The report of an audit: one row for each figure, and every violation with its time, place and characters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

_SCALES = {"m": (100.0, "cm"), **{unit: (1.0, unit) for unit in ("deg", "x", "", "%", "cm", "m/s", "deg/s", "deg/m")}}
"""How values are shown, by unit: factor and word."""


@dataclass(frozen=True, kw_only=True)
class AuditBars:
    """Bars of the audit: the greatest values that are good enough."""

    penetration: float = 0.01
    """Depth of a body in an obstacle, in another body or in the ground [m]."""
    disc: float = 0.001
    """Overlap of the discs that a planner keeps clear [m]; above 0 only for rounding."""
    bounds: float = 0.001
    """Distance of a root outside the bounds [m]; above 0 only for rounding."""
    skate: float = 0.005
    """Slide of a planted point beyond what it does in the source clip [m]."""
    height: float = 0.01
    """Height of a planted point over or under its ground [m]."""
    continuity: float = 1.5
    """Speed changes from frame to frame, as a multiple of the source clips' 99.9th percentile."""
    limit_deg: float = 2.0
    """Angle beyond a joint's limit [deg]."""
    heading_deg: float = 15.0
    """Angle between the final heading and the one asked for [deg]."""
    turn_deg: float = 60.0
    """Turn of a joint in 1/30 s, and change of that turn from one frame to the next [deg], whatever the clips do: fast
    kicks reach 50."""
    clip_slide: float = 0.04
    """Slide of a point that is called planted, whatever the source clip does [m]."""
    clip_slide_found: float = 0.06
    """Slide of a point that the audit itself finds planted, whatever the source clip does [m]: more than the above, for
    where a stance begins and ends is a guess."""
    clip_sink: float = 0.03
    """Depth of a body in the ground, whatever the source clip does [m]."""
    against: float = 0.5
    """Way that a character walks against a one-way area [m]; who turns around in one steps back a little."""
    over_limit: float = 1.15
    """Speed over the limit of an area, as a multiple, on average over a stride."""
    hand: float = 0.005
    """Distance of a hand from what it reaches for, at the moment of the reach [m]."""
    thing: float = 0.01
    """Jump of a thing that is taken or let go, and its depth in anything while somebody has it [m]."""
    speed: float = 12.5
    """Speed of the root of a person [m/s]: that of the fastest sprinters."""
    animal_speed: float = 20.0
    """Speed of the root of anything else [m/s]: that of the fastest horses."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One measured value: a violation, or the worst value of a row."""

    row: str
    """Name of the row."""
    value: float
    """The value, in the row's unit."""
    bar: float
    """Greatest value that would have been good enough here."""
    time: float
    """Time of the finding [s]."""
    frame: int
    """The take's frame nearest to that time."""
    characters: tuple[str, ...]
    """Names of the characters."""
    part: str = ""
    """Part of the body; for two characters, one part of each."""
    obstacle: str = ""
    """Name of the obstacle."""
    place: tuple[float, float, float] | None = None
    """Place of the finding [m]."""
    span: tuple[float, float] | None = None
    """Begin and end of the violation [s]."""
    clip: str = ""
    """Name of the source clip that does this itself: the fault is the library's, not the planner's."""

    @property
    def violated(self) -> bool:
        """Whether it is beyond the bar."""
        return not self.value <= self.bar  # also true of what is not a number

    def words(self) -> str:
        """Return the characters, the part, the time and whose fault it is in a few words."""
        who = " and ".join(self.characters)
        what = " in ".join(w for w in (self.part, self.obstacle) if w)
        fault = f"the library's fault: clip '{self.clip}' does it itself" if self.clip else ""
        return ", ".join(w for w in (who, what, f"{self.time:.2f} s (frame {self.frame})", fault) if w)


@dataclass(frozen=True, kw_only=True)
class ReportRow:
    """One figure of the quality table."""

    name: str
    title: str
    unit: str
    """"m", "deg", "x" (a multiple), nothing (a count), or a unit of `natural.BANDS`."""
    bar: float
    worst: Finding | None = None
    """The value nearest to or farthest beyond its bar; None if there was nothing to measure."""
    violations: tuple[Finding, ...] = ()
    """All values beyond the bar, the worst first; a violation that lasts counts once, at its worst moment."""
    decides: bool = True
    """Whether violations count. Rows that the planner did not keep clear are reported, but do not count."""
    checked: int = 0
    """Number of frames, stances or characters that were checked."""
    note: str = ""
    """Why nothing was checked, or what to know."""

    @property
    def ok(self) -> bool:
        """Whether nothing that counts is beyond the bar."""
        return not (self.decides and self.violations)

    @property
    def verdict(self) -> str:
        """One word."""
        if self.violations:
            return "violated" if self.decides else "beyond (not decisive)"
        return "ok" if self.checked else "not checked"

    def cells(self) -> tuple[str, str, str, str, str]:
        """Return a line of a table: title, bar, worst value, where, verdict."""
        bar, worst, where = shown(self.bar, self.unit), "-", self.note
        if self.worst is not None:
            worst = shown(self.worst.value, self.unit)
            where = self.worst.words() + (f" (+{len(self.violations) - 1} more)" if len(self.violations) > 1 else "")
            where += f"; {self.note}" if self.note else ""
        return self.title, bar, worst, where, self.verdict


@dataclass(frozen=True)
class Report:
    """All findings of an audit."""

    rows: tuple[ReportRow, ...]
    characters: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Worst value of each row for each character, in the row's unit."""
    collision: str = "body"
    """Shape that the planner kept clear: "body" or "disc"."""
    frames: int = 0
    """Number of poses that were checked at frames."""
    between: int = 0
    """Number of poses that were checked between frames."""

    def __getitem__(self, name: str) -> ReportRow:
        return next(row for row in self.rows if row.name == name)

    @property
    def ok(self) -> bool:
        """Whether nothing is beyond a bar that counts."""
        return all(row.ok for row in self.rows)

    @property
    def violations(self) -> tuple[Finding, ...]:
        """All that count, row after row, the worst of each first."""
        return tuple(f for row in self.rows if row.decides for f in row.violations)

    def table(self) -> list[tuple[str, str, str, str, str]]:
        """Return the lines of a table: title, bar, worst value, where, verdict."""
        return [row.cells() for row in self.rows]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        rows = []
        for row in self.rows:
            plain = asdict(row)
            rows.append({**plain, "ok": row.ok, "verdict": row.verdict})
        return {
            "ok": self.ok,
            "collision": self.collision,
            "frames": self.frames,
            "between": self.between,
            "rows": plain_values(rows),
            "characters": plain_values({name: dict(worst) for name, worst in self.characters.items()}),
        }


def shown(value: float, unit: str) -> str:
    """Return a value as text, lengths in centimetres; NaN means that the caller must decide."""
    if math.isnan(value):
        return "as asked"
    factor, word = _SCALES[unit]
    number = f"{value * factor:.2f}" if unit else f"{value:g}"
    return f"{number} {word}".strip()


def summed_up(findings: Sequence[Finding], kind: ReportRow, checked: int) -> ReportRow:
    """Return the row with its findings: the worst of all, and those beyond the bar, the worst first."""
    ordered = sorted(findings, key=lambda f: (-_excess(f), f.time, f.characters))
    beyond = tuple(f for f in ordered if f.violated)
    return ReportRow(
        name=kind.name,
        title=kind.title,
        unit=kind.unit,
        bar=kind.bar,
        worst=ordered[0] if ordered else None,
        violations=beyond,
        decides=kind.decides,
        checked=checked,
        note=kind.note,
    )


def _excess(finding: Finding) -> float:
    """Return by how much a value is beyond its bar; NaN is beyond all."""
    excess = finding.value - finding.bar
    return float("inf") if math.isnan(excess) else excess


def plain_values(value: Any) -> Any:
    """Return tuples as lists, and numbers that JSON does not know as None."""
    if isinstance(value, dict):
        return {k: plain_values(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_values(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
