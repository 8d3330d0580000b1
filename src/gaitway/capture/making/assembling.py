"""From behaviours to a library, and to the report on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import pairwise

import numpy as np

from gaitway.capture.making.clip_builder import Entry, Workshop
from gaitway.capture.making.gate import gets_past
from gaitway.capture.making.selection import lacking_specials
from gaitway.capture.report import BehaviorReport, HubReport, ImportReport, TakeReport
from gaitway.capture.takes import Prepared, PreparedTake
from gaitway.core import planar
from gaitway.library.behavior import Behavior, BehaviorGraph, Library
from gaitway.motion.skeleton import Skeleton

_WEIGHTS = {"back": 1.5, "side": 1.5, "crouch": 2.0, "crawl": 4.0}
"""Of behaviours by the first word of a gait; nobody walks backwards across a square."""


def assembled(name: str, skeleton: Skeleton, entries: Sequence[Entry]) -> Library:
    """The library of behaviours."""
    clips, behaviors = {}, []
    for entry in distinct(entries):
        title = entry.name
        names = []
        for k, snapped in enumerate(entry.clips):
            label = title if k == 0 else f"{title}.{k + 1}"
            words = (f"take {snapped.source}", *(("made",) if snapped.made else ()))
            clips[label] = replace(snapped.clip, name=label, labels=words)
            names.append(label)
        behaviors.append(_behavior(title, entry, tuple(names)))
    return Library(name, skeleton, clips, BehaviorGraph(tuple(behaviors)))


def distinct(entries: Sequence[Entry]) -> list[Entry]:
    """Behaviours under different names: the second of a name gets a number."""
    used: dict[str, int] = defaultdict(int)
    out = []
    for entry in entries:
        used[entry.name] += 1
        number = used[entry.name]
        out.append(entry if number == 1 else replace(entry, name=_numbered(entry.name, number)))
    return out


def _numbered(name: str, number: int) -> str:
    """A name with a number before the word for its foot."""
    stem, _, foot = name.rpartition("_")
    return f"{stem}_{number}_{foot}" if foot in ("l", "r") else f"{name}_{number}"


def _behavior(title: str, entry: Entry, clips: tuple[str, ...]) -> Behavior:
    first = entry.clips[0]
    special = entry.special or None
    gaits = {entry.start.gait.partition("_")[0], entry.end.gait.partition("_")[0]}
    return Behavior(
        name=title,
        clips=clips,
        start=entry.start.name,
        end=entry.end.name,
        obstacle=special,
        pass_time=first.pass_frame / first.clip.fps if special else None,
        weight=max((_WEIGHTS.get(gait, 1.0) for gait in gaits), default=1.0),
    )


def reported(
    name: str,
    prepared: Prepared,
    workshop: Workshop,
    entries: Sequence[Entry],
    left_out: Sequence[tuple[Entry, str]],
    lacking: Sequence[str],
    times: Mapping[str, float],
) -> ImportReport:
    """What there is to say about an import."""
    stages = list(times.items())
    used = {e.start.name for e in entries} | {e.end.name for e in entries}
    none = lacking_specials(entries)
    warnings = [f"nothing in the capture gets past a {kind}" for kind in none if kind in ("jump", "duck")]
    return ImportReport(
        name=name,
        files=prepared.facts.files,
        seconds=round(prepared.facts.seconds, 3),
        takes=tuple(_take(take, workshop, entries) for take in prepared.takes if not take.mirrored),
        dropped=tuple((str(d.file), d.reason) for d in prepared.dropped),
        hubs=tuple(
            HubReport(
                h.name,
                h.members,
                len(h.takes),
                round(100 * h.spread, 1),
                round(100 * h.radius, 1),
                round(h.speed, 2),
                h.made,
            )
            for h in workshop.nearness.hubs
            if h.name in used
        ),
        behaviors=tuple(_described(entry) for entry in distinct(entries)),
        missing=(*lacking, *none),
        warnings=tuple(warnings),
        left_out=(*((e.name, why) for e, why in left_out), *((n, "there are enough") for n in workshop.passed_over)),
        facts=asdict(prepared.facts),
        timings={b[0]: round(b[1] - a[1], 3) for a, b in pairwise(stages)},
    )


def _take(take: PreparedTake, workshop: Workshop, entries: Sequence[Entry]) -> TakeReport:
    frames, clips = np.zeros(len(take.clip), dtype=bool), 0
    for entry in entries:
        for snapped in entry.clips:
            if not snapped.made and snapped.source.removesuffix(" mirrored") == take.name:
                frames[snapped.frames[0] : snapped.frames[1]] = True
                clips += not snapped.mirrored
    found: dict[str, float] = defaultdict(float)
    for phase in take.phases:
        found[phase.detail or phase.kind] += (phase.stop - phase.start) / take.clip.fps
    words = [f"{kind} {seconds:.1f} s" for kind, seconds in found.items()]
    words += [f"{s.kind} at {s.pass_frame / take.clip.fps:.1f} s" for s in take.specials]
    refused = [f"{name}: {why}" for name, where, why in workshop.refused if where.startswith(f"{take.name} ")]
    return TakeReport(
        take.name, round(take.clip.duration, 3), clips, round(float(frames.sum()) / take.clip.fps, 3), tuple(words),
        tuple(dict.fromkeys(refused)), take.notes,
    )  # fmt: skip


def _described(entry: Entry) -> BehaviorReport:
    first = entry.clips[0]
    path = first.clip.planar_path()
    move = planar.relative(path[0], path[-1])
    return BehaviorReport(
        name=entry.name,
        start=entry.start.name,
        end=entry.end.name,
        clips=len(entry.clips),
        seconds=round(first.clip.duration, 3),
        ahead=round(float(move[0]), 3),
        left=round(float(move[1]), 3),
        turn_deg=round(float(np.degrees(path[-1, 2] - path[0, 2])), 1),
        takes=tuple(dict.fromkeys(c.source for c in entry.clips)),
        made=entry.made,
        obstacle=entry.special,
        pass_time=round(first.pass_frame / first.clip.fps, 3) if entry.special else None,
        gets_past=gets_past(first),
        pop=round(max(q.pop for q in entry.qualities), 2),
        slide_cm=round(100.0 * max(q.slide for q in entry.qualities), 2),
    )
