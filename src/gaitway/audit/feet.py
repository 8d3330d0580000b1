"""Checks of feet: planted points stay where they are, at the height of the ground."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gaitway.audit.bodies import AuditedCharacter, has_legs
from gaitway.audit.ground import AuditGround, worst_of_runs
from gaitway.audit.report import AuditBars, Finding
from gaitway.audit.sources import Played, Source
from gaitway.core.arrays import BoolArray
from gaitway.motion.contacts import detect_contacts, stances

_ON_GROUND = 0.03
"""Largest distance from the ground of a point that the audit itself finds planted [m]."""
_FOOT_PARTS = ("heel", "ball", "toe")


class Feet:
    """The feet of one character."""

    def __init__(
        self, walker: AuditedCharacter, sources: dict[int, Source], ground: AuditGround | None, bars: AuditBars
    ) -> None:
        self.walker, self.sources, self.ground, self.bars = walker, sources, ground, bars
        self.played = Played(walker.take, walker.index)
        self.points = walker.clip.contact_positions()
        self.names = [p.name for p in walker.clip.skeleton.contact_points]
        self.rolls = np.array([p.rolls for p in walker.clip.skeleton.contact_points], dtype=bool)

    def claimed(self) -> tuple[list[Finding], int]:
        """Return slides of points that the take calls planted, and the number of stances."""
        contacts = self.walker.clip.contacts
        return ([], 0) if contacts is None else self._slides("skate", contacts)

    def suspected(self) -> tuple[list[Finding], int]:
        """Return slides of points that the audit itself finds planted, in the take or in its source clips."""
        if not has_legs(self.walker.clip.skeleton):
            return [], 0
        flags = self.played.found(self.sources, self.walker.times)
        if flags is None:
            return [], 0
        if not self.played.plain:  # else nothing can be found that is not in the source clips
            found = detect_contacts(self.walker.clip).contacts
            flags = flags if found is None else flags | found
        for carrier, on in [] if self.ground is None else self.ground.carriers(self.points, self.walker.times):
            # what rests on a tread moves with it, so it is looked for as it is seen from there
            roots = np.array(self.walker.clip.root_positions)
            roots[:, :2] -= carrier.carried(self.walker.times)
            seen = detect_contacts(replace(self.walker.clip, root_positions=roots)).contacts
            flags = flags if seen is None else np.where(on, seen, flags)
        flags[:, [name.rpartition("_")[2] not in _FOOT_PARTS for name in self.names]] = False
        if self.ground is not None:
            near = np.flatnonzero(flags)
            frames = near // flags.shape[1]
            gaps = self.ground.gaps(self.points.reshape(-1, 3)[near], self.walker.times[frames])
            flags.reshape(-1)[near[np.abs(gaps) > _ON_GROUND]] = False
        return self._slides("skate_found", flags)

    def _slides(self, row: str, flags: BoolArray) -> tuple[list[Finding], int]:
        """Return findings beyond the bar, or the worst one, and the number of stances."""
        beyond: list[Finding] = []
        worst: Finding | None = None
        count = 0
        for column in np.flatnonzero(~self.rolls).tolist():
            for start, stop in stances(flags[:, column]):
                count += 1
                track = self.points[start:stop, column]
                track = (
                    track[:, :2] if self.ground is None else self.ground.at_rest(track, self.walker.times[start:stop])
                )
                away = np.linalg.norm(track - track[0], axis=-1)
                frame = int(np.argmax(away))
                if worst is None or away[frame] > self.bars.skate or away[frame] > worst.value:
                    finding = self._slide(row, column, start, stop, start + frame, float(away[frame]))
                    if finding.violated:
                        beyond.append(finding)
                    if worst is None or finding.value - finding.bar > worst.value - worst.bar:
                        worst = finding
        return beyond or ([worst] if worst is not None else []), count

    def _slide(self, row: str, column: int, start: int, stop: int, frame: int, slide: float) -> Finding:
        bar, times, clip = self.bars.skate, self.walker.times, ""
        if slide > bar:  # only then does it matter what the source does
            blamed = bar + self.played.slide(self.sources, column, times[start:stop])
            most = self.bars.clip_slide if row == "skate" else self.bars.clip_slide_found
            bar = min(blamed, max(bar, most))
            if bar < slide <= blamed:
                clip = self.played.clip_name(float(times[frame]))
        span = (float(times[start]), float(times[stop - 1]))
        return replace(self._finding(row, slide, bar, frame, column, span), clip=clip)

    def heights(self) -> tuple[list[Finding], int]:
        """Return distances of planted points from the ground, one finding for each span; and the number of points."""
        contacts = self.walker.clip.contacts
        if contacts is None or self.ground is None:
            return [], 0
        rows = np.flatnonzero(contacts)
        frames = rows // contacts.shape[1]
        gaps = np.zeros(contacts.size)
        gaps[rows] = self.ground.gaps(self.points.reshape(-1, 3)[rows], self.walker.times[frames])
        off = np.abs(gaps.reshape(contacts.shape))
        out: list[Finding] = []
        for frame, span in worst_of_runs(off.max(axis=1, initial=0.0), self.walker.times, self.bars.height):
            column = int(np.argmax(off[frame]))
            sign = "over" if gaps.reshape(contacts.shape)[frame, column] > 0.0 else "under"
            found = self._finding("height", float(off[frame, column]), self.bars.height, frame, column, span)
            out.append(replace(found, part=f"{found.part} {sign} the ground"))
        return out, len(rows)

    def _finding(
        self, row: str, value: float, bar: float, frame: int, column: int, span: tuple[float, float] | None
    ) -> Finding:
        time = float(self.walker.times[frame])
        x, y, z = (float(v) for v in self.points[frame, column])
        name = self.names[column]
        return Finding(
            row=row,
            value=value,
            bar=bar,
            time=time,
            frame=self.walker.frame(time),
            characters=(self.walker.name,),
            part=name,
            obstacle="",
            place=(x, y, z),
            span=span,
        )
