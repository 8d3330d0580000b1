"""Assembly of a library from its behaviours, and of the report on the import."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import pairwise

import numpy as np

from gaitway.capture.making.accounting import time_uses
from gaitway.capture.making.clip_builder import BehaviorDraft, ClipBuilder
from gaitway.capture.making.gate import passing_height
from gaitway.capture.making.selection import missing_specials
from gaitway.capture.report import BehaviorReport, HubReport, ImportReport, TakeReport, turn_label
from gaitway.capture.takes import PreparedSubject, PreparedTake
from gaitway.core import planar
from gaitway.library.behavior import Behavior, BehaviorGraph, Library
from gaitway.motion.skeleton import Skeleton

_WEIGHTS = {"back": 1.5, "side": 1.5, "crouch": 2.0, "bent": 2.0, "crawl": 4.0}
"""Costs of behaviours relative to walking, by the first word of the gait; planners avoid walking backwards."""


def assemble_library(name: str, skeleton: Skeleton, drafts: Sequence[BehaviorDraft]) -> Library:
    """Build the library of behaviours."""
    clips, behaviors = {}, []
    for draft in with_distinct_names(drafts):
        title = draft.name
        names = []
        for k, snapped in enumerate(draft.clips):
            label = title if k == 0 else f"{title}.{k + 1}"
            turn = turn_label(draft.turn_of(snapped))
            words = (f"take {snapped.source}", turn, *(("made",) if snapped.made else ()))
            clips[label] = replace(snapped.clip, name=label, labels=words)
            names.append(label)
        behaviors.append(_behavior(title, draft, tuple(names)))
    return Library(name, skeleton, clips, BehaviorGraph(tuple(behaviors)))


def with_distinct_names(drafts: Sequence[BehaviorDraft]) -> list[BehaviorDraft]:
    """Return the behaviours with distinct names: the second behaviour of a name gets a number.

    A numbered name may be that of another behaviour: "stop_jog_2_l" is also a stop of the gait "jog_2".
    """
    names, used = {draft.name for draft in drafts}, set[str]()
    out = []
    for draft in drafts:
        name, number = draft.name, 1
        while name in used or (number > 1 and name in names):
            number += 1
            name = _numbered(draft.name, number)
        used.add(name)
        out.append(draft if number == 1 else replace(draft, name=name))
    return out


def _numbered(name: str, number: int) -> str:
    """Return a name with a number before the letter of its foot."""
    stem, _, foot = name.rpartition("_")
    return f"{stem}_{number}_{foot}" if foot in ("l", "r") else f"{name}_{number}"


def _behavior(title: str, draft: BehaviorDraft, clips: tuple[str, ...]) -> Behavior:
    first = draft.clips[0]
    special = draft.special or None
    gaits = {draft.start.gait.partition("_")[0], draft.end.gait.partition("_")[0]}
    return Behavior(
        name=title,
        clips=clips,
        start=draft.start.name,
        end=draft.end.name,
        obstacle=special,
        pass_time=first.pass_frame / first.clip.fps if special else None,
        weight=max((_WEIGHTS.get(gait, 1.0) for gait in gaits), default=1.0),
    )


def import_report(
    name: str,
    prepared: PreparedSubject,
    builder: ClipBuilder,
    drafts: Sequence[BehaviorDraft],
    left_out: Sequence[tuple[BehaviorDraft, str]],
    lacking: Sequence[str],
    times: Mapping[str, float],
) -> ImportReport:
    """Build the report on an import.

    Args:
        name: Name of the library.
        prepared: Prepared takes.
        builder: Builder that made the clips.
        drafts: Behaviours of the library.
        left_out: Behaviours that are left out, with the reason.
        lacking: Motions that the capture lacks.
        times: Times at the end of each stage, in order, as `time.perf_counter` gives them [s].
    """
    stages = list(times.items())
    used = {e.start.name for e in drafts} | {e.end.name for e in drafts}
    kinds = missing_specials(drafts)
    unusable = {kind: found for kind in (*lacking, *kinds) if (found := _unusable(kind, prepared, builder, left_out))}
    none = [kind for kind in kinds if kind not in unusable]
    warnings = [f"the capture holds no usable {kind}" for kind in none if kind in ("jump", "duck")]
    return ImportReport(
        name=name,
        files=prepared.facts.files,
        seconds=round(prepared.facts.seconds, 3),
        takes=tuple(_take_report(take, builder, drafts, left_out) for take in prepared.takes if not take.mirrored),
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
            for h in builder.hub_distances.hubs
            if h.name in used
        ),
        behaviors=tuple(_behavior_report(draft) for draft in with_distinct_names(drafts)),
        missing=(*(what for what in lacking if what not in unusable), *none),
        unusable=tuple(unusable.values()),
        warnings=tuple(warnings),
        left_out=(*((e.name, why) for e, why in left_out), *((n, "there are enough") for n in builder.passed_over)),
        facts=asdict(prepared.facts),
        timings={b[0]: round(b[1] - a[1], 3) for a, b in pairwise(stages)},
    )


_WORDS = {"standing": "stand", "a start": "start", "a stop": "stop"}
"""First word of the names of behaviours that are missed, by what is said of them."""
_REASONS = 2
"""Most reasons that are given why a motion cannot be used."""


def _unusable(
    what: str, prepared: PreparedSubject, builder: ClipBuilder, left_out: Sequence[tuple[BehaviorDraft, str]]
) -> tuple[str, str] | None:
    """Return how much of a missing motion was found in the capture, and why it cannot be used; None if none was."""
    word = _WORDS.get(what, what)
    refused = [why for name, where, why in builder.refused if where and word in name.split("_")]
    dropped = [why for draft, why in left_out if not draft.made and word in draft.name.split("_")]
    over = ["there are enough other behaviours" for name in builder.passed_over if word in name.split("_")]
    reasons = [why for why, _ in Counter([*dropped, *refused, *over]).most_common(_REASONS)]
    pieces = len(refused) + len(dropped) + len(over)
    amount = _amount(word, prepared) if what == word else f"{pieces} piece{'s' if pieces > 1 else ''}"
    if not amount or (what != word and not reasons):
        return None
    return f"{what} ({amount})", "; ".join(reasons) or "no piece of it begins and ends in a pose that other takes share"


def _amount(kind: str, prepared: PreparedSubject) -> str:
    """Return how much of a kind of motion the takes hold, in words; empty if none."""
    takes = [take for take in prepared.takes if not take.mirrored]
    passed = [sum(special.kind == kind for special in take.specials) for take in takes]
    seconds = [
        sum((p.stop - p.start) / take.clip.fps for p in take.phases if kind in (p.kind, p.detail)) for take in takes
    ]
    amounts = seconds if any(seconds) else passed
    count = sum(amount > 0 for amount in amounts)
    where = f"in {count} take{'s' if count > 1 else ''}"
    if any(seconds):
        return f"{sum(seconds):.1f} s {where}"
    return f"{sum(passed)} time{'s' if sum(passed) > 1 else ''} {where}" if any(passed) else ""


def _take_report(
    take: PreparedTake,
    builder: ClipBuilder,
    drafts: Sequence[BehaviorDraft],
    left_out: Sequence[tuple[BehaviorDraft, str]],
) -> TakeReport:
    frames, clips = np.zeros(len(take.clip), dtype=bool), 0
    for draft in drafts:
        for snapped in draft.clips:
            if not snapped.made and snapped.source.removesuffix(" mirrored") == take.name:
                frames[snapped.frames[0] : snapped.frames[1]] = True
                clips += not snapped.mirrored
    found: dict[str, float] = defaultdict(float)
    for phase in take.phases:
        found[phase.detail or phase.kind] += (phase.stop - phase.start) / take.clip.fps
    words = [f"{kind} {seconds:.1f} s" for kind, seconds in found.items()]
    words += [f"{s.kind} at {s.pass_frame / take.clip.fps:.1f} s" for s in take.specials]
    refused = [f"{name}: {why}" for name, where, why in builder.refused if where.startswith(f"{take.name} ")]
    return TakeReport(
        take=take.name,
        seconds=round(take.clip.duration, 3),
        clips=clips,
        used_seconds=round(float(frames.sum()) / take.clip.fps, 3),
        found=tuple(words),
        refused=tuple(dict.fromkeys(refused)),
        notes=take.notes,
        uses=time_uses(take, drafts, left_out, builder.unused, {h.manner for h in builder.hub_distances.hubs}),
    )


def _behavior_report(draft: BehaviorDraft) -> BehaviorReport:
    first = draft.clips[0]
    path = first.clip.planar_path()
    move = planar.relative(path[0], path[-1])
    return BehaviorReport(
        name=draft.name,
        start=draft.start.name,
        end=draft.end.name,
        clips=len(draft.clips),
        seconds=round(first.clip.duration, 3),
        ahead=round(float(move[0]), 3),
        left=round(float(move[1]), 3),
        turn_deg=round(float(np.degrees(draft.turn)), 1),
        takes=tuple(dict.fromkeys(c.source for c in draft.clips)),
        made=draft.made,
        obstacle=draft.special,
        pass_time=round(first.pass_frame / first.clip.fps, 3) if draft.special else None,
        gets_past=passing_height(first),
        pop=round(max(q.pop for q in draft.qualities), 2),
        slide_cm=round(100.0 * max(q.slide for q in draft.qualities), 2),
    )
