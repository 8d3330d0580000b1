"""The audit: an independent measurement of every figure of the quality table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from gaitway.audit.areas import against_ways, over_limit
from gaitway.audit.bodies import AuditedCharacter, bodies_of, has_legs, walker
from gaitway.audit.character_checks import (
    absence,
    arrivals,
    given_up,
    hurried,
    missing,
    outside,
    pops,
    strained,
    turned,
)
from gaitway.audit.crowding import Meetings
from gaitway.audit.discs import crossings, disc_groups, overlaps
from gaitway.audit.feet import Feet
from gaitway.audit.ground import AuditGround, sunk
from gaitway.audit.penetration import PenetrationSearch, groups_of, incidents
from gaitway.audit.report import AuditBars, Finding, Report, ReportRow, shown, summed_up
from gaitway.audit.sources import Source, usual_steps
from gaitway.audit.things import depth_findings, hand_findings, jump_findings, thing_rows
from gaitway.core.errors import GaitwayError
from gaitway.core.progress import Progress, silent
from gaitway.motion.limits import joint_limits
from gaitway.take.model import Take
from gaitway.world.world import World, realised

_NO_WORLD = "no world given"


def audit_take(
    take: Take,
    world: World | None = None,
    *,
    bars: AuditBars = AuditBars(),  # noqa: B008  (frozen)
    progress: Progress = silent,
) -> Report:
    """Check a take against its world.

    Bodies are capsules about the bones; they are compared with the exact solids in every frame, and between frames
    wherever the motion could hide something.

    Args:
        take: what the characters do. `take.facts["collision"]` says what its planner kept clear: "body" (the default)
            or "disc"; both are measured, only the one kept clear decides.
        world: where; None leaves out what needs it.
        bars: what is still good enough.
        progress: called after each character and each part of the crowd.
    """
    run = _AuditRun(take, world, bars, progress)
    total = Tally()
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:  # the kernels let other threads work
        for done, part in enumerate(pool.map(run.character, range(len(take.names)))):
            total.take_in(part)
            run.progress("characters", done + 1, len(take.names))
    run.crowd(total)
    return run.report(total)


@dataclass
class Tally:
    """Findings so far."""

    findings: dict[str, list[Finding]] = field(default_factory=dict)
    """Findings by row."""
    checked: dict[str, int] = field(default_factory=dict)
    excused: dict[str, Finding] = field(default_factory=dict)
    """Worst value beyond a bar that source clips have themselves, by row."""
    frames: int = 0
    between: int = 0

    def add(self, row: str, findings: list[Finding], checked: int) -> None:
        """Add findings of a row, and the number of items that were checked for them."""
        self.findings.setdefault(row, []).extend(findings)
        self.checked[row] = self.checked.get(row, 0) + checked

    def excuse(self, finding: Finding | None) -> None:
        """Remember a value beyond a bar that source clips have themselves."""
        if finding is not None:
            known = self.excused.get(finding.row, finding)
            self.excused[finding.row] = max(known, finding, key=lambda f: f.value)

    def take_in(self, other: Tally) -> None:
        """Add the findings of another tally."""
        for row, count in other.checked.items():
            self.add(row, other.findings[row], count)
        for finding in other.excused.values():
            self.excuse(finding)
        self.frames += other.frames
        self.between += other.between


class _AuditRun:
    """One audit, with all that its checks share."""

    def __init__(self, take: Take, world: World | None, bars: AuditBars, progress: Progress) -> None:
        world = realised(world, take.facts)
        self.take, self.world, self.bars, self.progress = take, world, bars, progress
        self.bodies = bodies_of(take)
        self.groups = groups_of(world) if world is not None else ()
        self.disc_groups = disc_groups(world) if world is not None else ()
        self.ground = AuditGround(world) if world is not None else None
        self.sources = {i: Source(clip, take.fps) for i, clip in enumerate(take.clips)}
        self.usual = [usual_steps(take, body) for body in range(len(take.skeletons))]
        self.limits = [joint_limits(s) if has_legs(s) else None for s in take.skeletons]
        self.disc = take.facts.get("collision", "body") == "disc"

    def character(self, index: int) -> Tally:
        """Check one character alone."""
        tally, why = Tally(), absence(self.take, index)
        try:
            figure = None if why else walker(self.take, index, self.bodies)
        except GaitwayError as problem:
            figure, why = None, str(problem)
        tally.add("presence", [missing(self.take, index, why)] if why else [], 1)
        if figure is not None:
            tally.frames = len(figure.times)
            self._motion(figure, tally)
            self._feet(figure, tally)
            if self.world is not None:
                self._place(figure, self.world, tally)
        return tally

    def _motion(self, figure: AuditedCharacter, tally: Tally) -> None:
        body, frames = int(self.take.bodies[figure.index]), len(figure.times)
        limits = self.limits[body]
        sudden, excused = pops(figure, self.usual[body], self.sources, self.bars.continuity, self.bars.turn_deg)
        tally.excuse(excused)
        tally.add("continuity", sudden, frames)
        tally.add("turn", turned(figure, self.sources, self.bars.turn_deg), frames)
        fastest = self.bars.speed if has_legs(self.take.skeletons[body]) else self.bars.animal_speed
        tally.add("speed", hurried(figure, self.sources, fastest), frames)
        if limits is not None and len(limits.joints):
            tally.add("limits", strained(figure, limits, self.bars.limit_deg), frames)
        for finding in arrivals(figure, self.bars):
            tally.add(finding.row, [finding], 1)

    def _feet(self, figure: AuditedCharacter, tally: Tally) -> None:
        if figure.clip.skeleton.contact_points:
            feet = Feet(figure, self.sources, self.ground, self.bars)
            tally.add("skate", *feet.claimed())
            tally.add("skate_found", *feet.suspected())
            tally.add("height", *feet.heights())

    def _place(self, figure: AuditedCharacter, world: World, tally: Tally) -> None:
        """Check one character against the world."""
        frames = len(figure.times)
        search = PenetrationSearch(figure, self.bars.penetration)
        for group in self.groups:
            search.against(group)
        tally.between = search.between
        for name, special in (("penetration", False), ("penetration_special", True)):
            tally.add(name, incidents(name, search, special), frames)
        under, excused = sunk(figure, world, self.sources, self.bars.penetration, self.bars.clip_sink)
        tally.excuse(excused)
        tally.add("under_ground", under, frames)
        tally.add("bounds", outside(figure, world, self.bars.bounds), frames)
        for area in world.areas:
            if area.one_way is not None and (found := against_ways(figure, area, self.bars.against)) is not None:
                tally.add("one_way", [found], 1)
            if area.speed_limit is not None and (found := over_limit(figure, area, self.bars.over_limit)) is not None:
                tally.add("speed_limit", [found], 1)
        if len(self.take.radii) and np.isfinite(self.take.radii[figure.index]):
            tally.add("disc", overlaps(figure, self.disc_groups, self.bars.disc), frames)

    def crowd(self, tally: Tally) -> None:
        """Check characters against one another."""
        meetings = Meetings(self.take, self.bodies, self.bars.penetration)
        meetings.look(lambda done, total: self.progress("characters against one another", done, total))
        tally.add("penetration_characters", meetings.findings("penetration_characters"), meetings.frames)
        tally.between += meetings.between
        discs = crossings(self.take, self.bars.disc, lambda done, total: self.progress("discs", done, total))
        if self.take.facts.get("things"):
            reached, jumps = hand_findings(self.take, self.bars), jump_findings(self.take, self.world, self.bars)
            tally.add("hand", reached, len(reached))
            tally.add("thing_jump", jumps, len(jumps))
            tally.add("thing_inside", *depth_findings(self.take, self.world, self.bars))
        known = int(np.isfinite(self.take.radii).sum()) if len(self.take.radii) else 0
        tally.add("disc_characters", discs, known if known > 1 else 0)

    def report(self, tally: Tally) -> Report:
        """Return the report."""
        rows = []
        things = thing_rows(self.bars) if self.take.facts.get("things") else ()
        for row in (*_rows(self.bars, self.disc), *_area_rows(self.bars, self.world), *things):
            checked, excused = tally.checked.get(row.name, 0), tally.excused.get(row.name)
            note = "" if checked else row.note
            if self.world is None and row.name in _NEED_WORLD:
                note = _NO_WORLD
            if row.name == "arrival" and (lost := given_up(self.take)):
                note = f"{_listed(lost)} not arrive, as the plan said, which does not count"
            if excused is not None:
                reach, clip = shown(excused.value, row.unit), excused.obstacle
                note = f"clip '{clip}' itself reaches {reach} ({excused.part}), which is within the bars for clips"
            rows.append(summed_up(tally.findings.get(row.name, []), replace(row, note=note), checked))
        worst: dict[str, dict[str, float]] = {name: {} for name in self.take.names}
        for name, findings in tally.findings.items():
            for finding in findings:
                for who in finding.characters:
                    worst[who][name] = max(finding.value, worst[who].get(name, finding.value))
        return Report(tuple(rows), worst, "disc" if self.disc else "body", tally.frames, tally.between)


def _listed(names: Sequence[str]) -> str:
    """Return the first names, how many more there are, and the verb."""
    more = len(names) - 3
    words = [f"'{name}'" for name in names[:3]] + ([f"{more} more"] if more > 0 else [])
    return f"{' and '.join(words)} {'does' if len(words) == 1 else 'do'}"


_NEED_WORLD = ("penetration", "penetration_special", "under_ground", "disc", "bounds", "height")


def _area_rows(bars: AuditBars, world: World | None) -> list[ReportRow]:
    """Return the rows of rules that the ground of a world has."""
    areas, nobody = () if world is None else world.areas, "nobody was there"
    rows = []
    if any(area.one_way is not None for area in areas):
        title = "way against a one-way area"
        rows.append(ReportRow(name="one_way", title=title, unit="m", bar=bars.against, note=nobody))
    if any(area.speed_limit is not None for area in areas):
        title = "speed over the limit of an area"
        rows.append(ReportRow(name="speed_limit", title=title, unit="x", bar=bars.over_limit, note=nobody))
    return rows


def _rows(bars: AuditBars, disc: bool) -> tuple[ReportRow, ...]:
    """Return all rows, empty, in the order of the table; notes say why a row may have nothing to check."""
    deep, no_discs = bars.penetration, "the take has no discs"
    return (
        ReportRow(name="presence", title="presence", unit="", bar=0.0),
        ReportRow(name="penetration", title="penetration, walls", unit="m", bar=deep, decides=not disc, note=_NO_WORLD),
        ReportRow(
            name="penetration_special", title="penetration, special obstacles", unit="m", bar=deep, note=_NO_WORLD
        ),
        ReportRow(
            name="penetration_characters",
            title="penetration, characters",
            unit="m",
            bar=deep,
            decides=not disc,
            note="nobody else",
        ),
        ReportRow(name="under_ground", title="body under the ground", unit="m", bar=deep, note=_NO_WORLD),
        ReportRow(name="disc", title="disc overlap, walls", unit="m", bar=bars.disc, decides=disc, note=no_discs),
        ReportRow(
            name="disc_characters",
            title="disc overlap, characters",
            unit="m",
            bar=bars.disc,
            decides=disc,
            note=no_discs,
        ),
        ReportRow(name="bounds", title="outside the bounds", unit="m", bar=bars.bounds, note=_NO_WORLD),
        ReportRow(
            name="skate", title="foot skate, claimed contacts", unit="m", bar=bars.skate, note="no contacts known"
        ),
        ReportRow(
            name="skate_found", title="foot skate, contacts found", unit="m", bar=bars.skate, note="no feet known"
        ),
        ReportRow(name="height", title="foot float or sink", unit="m", bar=bars.height, note="no contacts known"),
        ReportRow(name="continuity", title="continuity", unit="x", bar=bars.continuity, note="too short"),
        ReportRow(name="turn", title="turn of a joint in 1/30 s", unit="deg", bar=bars.turn_deg, note="too short"),
        ReportRow(name="speed", title="speed of the root", unit="m/s", bar=bars.speed, note="too short"),
        ReportRow(
            name="limits",
            title="joint limits",
            unit="deg",
            bar=bars.limit_deg,
            note="no limits known for this skeleton",
        ),
        ReportRow(name="arrival", title="distance to the goal", unit="m", bar=float("nan"), note="no goals asked for"),
        ReportRow(
            name="arrival_heading",
            title="heading at the goal",
            unit="deg",
            bar=bars.heading_deg,
            note="no headings asked for",
        ),
    )
