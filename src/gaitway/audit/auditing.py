"""The audit: every figure of the quality table, by somebody who does not trust the planner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gaitway.audit.arrival import absence, arrivals, missing, outside
from gaitway.audit.bodies import Walker, bodies_of, has_legs, walker
from gaitway.audit.continuity import pops, strained
from gaitway.audit.crowding import Meetings
from gaitway.audit.discs import crossings, disc_groups, overlaps
from gaitway.audit.feet import Feet
from gaitway.audit.ground import Ground, sunk
from gaitway.audit.penetration import Search, groups_of, incidents
from gaitway.audit.report import Bars, Finding, Report, Row, shown, summed_up
from gaitway.audit.sources import Source, usual_steps
from gaitway.errors import GaitwayError
from gaitway.motion.limits import joint_limits
from gaitway.take.model import Take
from gaitway.world.world import World

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done and how much there is."""

_NO_WORLD = "no world given"


def audit(
    take: Take,
    world: World | None = None,
    *,
    bars: Bars = Bars(),  # noqa: B008  (frozen)
    progress: Progress | None = None,
) -> Report:
    """Check a take against its world.

    Bodies are capsules about the bones; they are compared with the exact solids in every frame, and between frames
    wherever the motion could hide something.

    Args:
        take: what the characters do. `take.facts["collision"]` says what its planner kept clear: "body" (the default)
            or "disc"; both are measured, only the one kept clear decides.
        world: where; None leaves out what needs it.
        bars: what is still good enough.
        progress: called now and then with what is done, how much and of how much.
    """
    run = _Run(take, world, bars, progress or (lambda what, done, total: None))
    for character in range(len(take.names)):
        run.character(character)
        run.progress("characters", character + 1, len(take.names))
    run.crowd()
    return run.report()


class _Run:
    """One audit: what is known of the take, and what has been found so far."""

    def __init__(self, take: Take, world: World | None, bars: Bars, progress: Progress) -> None:
        self.take, self.world, self.bars, self.progress = take, world, bars, progress
        self.bodies = bodies_of(take)
        self.groups = groups_of(world) if world is not None else ()
        self.disc_groups = disc_groups(world) if world is not None else ()
        self.ground = Ground(world) if world is not None else None
        self.sources = {i: Source(clip, take.fps) for i, clip in enumerate(take.clips)}
        self.usual = [usual_steps(take, body) for body in range(len(take.skeletons))]
        self.limits = [joint_limits(s) if has_legs(s) else None for s in take.skeletons]
        self.disc = take.facts.get("collision", "body") == "disc"
        self.rows = {row.name: row for row in _rows(bars, self.disc)}
        self.findings: dict[str, list[Finding]] = {name: [] for name in self.rows}
        self.checked = dict.fromkeys(self.rows, 0)
        self.frames, self.between = 0, 0
        self.excused: dict[str, float] = {}

    def add(self, row: str, findings: list[Finding], checked: int) -> None:
        self.findings[row] += findings
        self.checked[row] += checked

    def excuse(self, row: str, value: float) -> None:
        """Remember what source clips do themselves beyond a bar."""
        if value > 0.0:
            self.excused[row] = max(value, self.excused.get(row, 0.0))

    def character(self, index: int) -> None:
        """Everything about one character that does not concern others."""
        why = absence(self.take, index)
        self.checked["presence"] += 1
        if why:
            self.findings["presence"].append(missing(self.take, index, why))
            return
        try:
            figure = walker(self.take, index, self.bodies)
        except GaitwayError as problem:
            self.findings["presence"].append(missing(self.take, index, str(problem)))
            return
        frames = len(figure.times)
        self.frames += frames
        body = int(self.take.bodies[index])
        limits = self.limits[body]
        sudden, excused = pops(figure, self.usual[body], self.sources, self.bars.continuity)
        self.excuse("continuity", excused)
        self.add("continuity", sudden, frames)
        if limits is not None and len(limits.joints):
            self.add("limits", strained(figure, limits, self.bars.limit_deg), frames)
        for finding in arrivals(figure, self.bars):
            self.add(finding.row, [finding], 1)
        self._feet(figure)
        if self.world is not None:
            self._place(figure, self.world)

    def _feet(self, figure: Walker) -> None:
        if not figure.clip.skeleton.contact_points:
            return
        feet = Feet(figure, self.sources, self.ground, self.bars)
        self.add("skate", *feet.claimed())
        self.add("skate_found", *feet.suspected())
        self.add("height", *feet.heights())

    def _place(self, figure: Walker, world: World) -> None:
        """What one character has to do with the world."""
        frames = len(figure.times)
        search = Search(figure, self.bars.penetration)
        for group in self.groups:
            search.against(group)
        self.between += search.between
        for name, special in (("penetration", False), ("penetration_special", True)):
            self.add(name, incidents(name, search, special), frames)
        under, excused = sunk(figure, world, self.sources, self.bars.penetration)
        self.excuse("under_ground", excused)
        self.add("under_ground", under, frames)
        self.add("bounds", outside(figure, world, self.bars.bounds), frames)
        if len(self.take.radii) and np.isfinite(self.take.radii[figure.index]):
            self.add("disc", overlaps(figure, self.disc_groups, self.bars.disc), frames)

    def crowd(self) -> None:
        """Characters against one another."""
        meetings = Meetings(self.take, self.bodies, self.bars.penetration)
        meetings.look(lambda done, total: self.progress("characters against one another", done, total))
        self.add("penetration_characters", meetings.findings("penetration_characters"), meetings.frames)
        self.between += meetings.between
        discs = crossings(self.take, self.bars.disc, lambda done, total: self.progress("discs", done, total))
        known = int(np.isfinite(self.take.radii).sum()) if len(self.take.radii) else 0
        self.add("disc_characters", discs, known if known > 1 else 0)

    def report(self) -> Report:
        """All of it."""
        rows = []
        for name, row in self.rows.items():
            note = row.note if self.checked[name] == 0 else ""
            if self.world is None and row.note != _NO_WORLD and name in _NEED_WORLD:
                note = _NO_WORLD
            if name in self.excused:
                note = f"source clips themselves reach {shown(self.excused[name], row.unit)}, which does not count"
            rows.append(summed_up(self.findings[name], replace(row, note=note), self.checked[name]))
        worst: dict[str, dict[str, float]] = {name: {} for name in self.take.names}
        for name, findings in self.findings.items():
            for finding in findings:
                for who in finding.characters:
                    worst[who][name] = max(finding.value, worst[who].get(name, finding.value))
        return Report(tuple(rows), worst, "disc" if self.disc else "body", self.frames, self.between)


_NEED_WORLD = ("penetration", "penetration_special", "under_ground", "disc", "bounds", "height")


def _rows(bars: Bars, disc: bool) -> tuple[Row, ...]:
    """All rows, empty, in the order of the table; notes say why a row may have nothing to check."""
    deep, no_discs = bars.penetration, "the take has no discs"
    return (
        Row("presence", "presence", "", 0.0),
        Row("penetration", "penetration, walls", "m", deep, decides=not disc, note=_NO_WORLD),
        Row("penetration_special", "penetration, special obstacles", "m", deep, note=_NO_WORLD),
        Row("penetration_characters", "penetration, characters", "m", deep, decides=not disc, note="nobody else"),
        Row("under_ground", "body under the ground", "m", deep, note=_NO_WORLD),
        Row("disc", "disc overlap, walls", "m", bars.disc, decides=disc, note=no_discs),
        Row("disc_characters", "disc overlap, characters", "m", bars.disc, decides=disc, note=no_discs),
        Row("bounds", "outside the bounds", "m", bars.bounds, note=_NO_WORLD),
        Row("skate", "foot skate, claimed contacts", "m", bars.skate, note="no contacts known"),
        Row("skate_found", "foot skate, contacts found", "m", bars.skate, note="no feet known"),
        Row("height", "foot float or sink", "m", bars.height, note="no contacts known"),
        Row("continuity", "continuity", "x", bars.continuity, note="too short"),
        Row("limits", "joint limits", "deg", bars.limit_deg, note="no limits known for this skeleton"),
        Row("arrival", "distance to the goal", "m", float("nan"), note="no goals asked for"),
        Row("arrival_heading", "heading at the goal", "deg", bars.heading_deg, note="no headings asked for"),
    )
