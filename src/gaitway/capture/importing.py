"""Import of a folder of raw captures as a library, in one call: `import_library`."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Literal

from gaitway.capture.cutting.cuts import HubDistances, cut_takes, mirror_images
from gaitway.capture.cutting.hubs import STAND_RADIUS, CaptureHub, find_hubs
from gaitway.capture.cutting.mirroring import with_mirror_images
from gaitway.capture.cutting.pose_index import PoseIndex
from gaitway.capture.making.assembling import assemble_library, import_report
from gaitway.capture.making.borrowed import CAST, borrowed_takes, standing_pose
from gaitway.capture.making.candidates import group_candidates, make_candidate, named_by_turn
from gaitway.capture.making.clip_builder import NUMERIC_ERRORS, BehaviorDraft, ClipBuilder, UnusedPiece
from gaitway.capture.making.gate import CaptureBaseline, ClipGate
from gaitway.capture.making.selection import keep_connected, keep_first, missing_motions, smooth_joins
from gaitway.capture.making.transitions import (
    IDLE_S,
    gait_changes,
    idle_standing,
    spot_turns,
    starts_and_stops,
    turning_steps,
)
from gaitway.capture.reading.prepared import prepare
from gaitway.capture.report import ImportReport
from gaitway.capture.takes import LibraryWishes, Manner, PreparedSubject, PrepareOptions
from gaitway.core.errors import GaitwayError, LibraryError
from gaitway.core.progress import Progress, silent
from gaitway.library.actions import planning_problems
from gaitway.library.behavior import Library

_WORTH_S = 3.0
"""Least duration of carrying that may be worth a library of its own [s]."""
_RESERVE = 20
"""Number of behaviours, of the largest allowed number, that are reserved for behaviours that must be made."""


@dataclass(frozen=True)
class ImportOptions:
    """Options of an import."""

    prepare: PrepareOptions = field(default_factory=PrepareOptions)
    mixed: bool = False
    """Whether takes of all people are put on one skeleton; otherwise the import uses the takes of one person only."""
    clips: int = 6
    """Largest number of clips of one behaviour. More clips give more variety and a slower search."""
    behaviors: int = 110
    """Largest number of behaviours. More behaviours reach goals more precisely and make the search slower."""
    make: bool = True
    """Whether the import makes motions that the capture lacks: starts, stops, standing, turns, changes of gait."""
    gate: ClipGate = field(default_factory=ClipGate)
    """Quality that every clip must have."""
    manner: Literal["plain", "carry"] = "plain"
    """Whether the library is of somebody with free hands, or of somebody who carries an object in both hands."""


@dataclass(frozen=True, eq=False)
class Imported:
    """An imported library and the report on its import."""

    library: Library
    report: ImportReport


def import_library(
    folder: str | Path,
    *,
    name: str | None = None,
    options: ImportOptions = ImportOptions(),  # noqa: B008  (frozen)
    progress: Progress = silent,
) -> Imported:
    """Make a library from a folder of raw captures.

    Args:
        folder: Folder with BVH, AMC with ASF, GLB or glTF files.
        name: Name of the library; None takes the name of the folder.
        options: Options of the import.
        progress: Function that the import calls with its progress.

    Raises:
        LibraryError: If planners could not use the library; the message says what is missing.
    """
    began = time.perf_counter()
    progress("reading", 0, None)
    wanted = replace(options.prepare, mixed=options.mixed or options.prepare.mixed)
    try:
        prepared = prepare(folder, wanted, progress)
        return library_of(prepared, name=name, options=options, progress=progress, began=began)
    except NUMERIC_ERRORS as problem:  # motion that none of the checks refuses and that solvers cannot handle
        reason = " ".join(str(problem).split())
        raise LibraryError(
            f"{folder}: its motion cannot be processed ({reason}); import its files one by one to find the file"
        ) from problem


def library_of(
    prepared: PreparedSubject,
    *,
    name: str | None = None,
    options: ImportOptions = ImportOptions(),  # noqa: B008  (frozen)
    progress: Progress = silent,
    began: float | None = None,
) -> Imported:
    """Make a library from prepared takes; the second half of `import_library`.

    Args:
        prepared: Takes of one subject, all on one skeleton.
        name: Name of the library; None takes the name of the subject.
        options: Options of the import.
        progress: Function that the import calls with its progress.
        began: Time at which the import began, as `time.perf_counter` gives it [s].
    """
    name = name or prepared.facts.name
    options = _wished(options, prepared.wishes)
    takes, unwanted = with_mirror_images(prepared.takes)
    prepared = replace(prepared, takes=takes)
    times = {"start": time.perf_counter() if began is None else began, "read": time.perf_counter()}
    progress("hubs", 0, None)
    builder = _clip_builder(prepared, name, options)
    builder.unwanted = unwanted
    times["hubs"] = time.perf_counter()
    drafts = _captured(builder, options, progress)
    times["clips"] = time.perf_counter()
    lacking = missing_motions(drafts)
    if options.make:
        progress("missing motions", 0, None)
        drafts = _with_made(builder, drafts)
    drafts = _named_by_turn(drafts)
    times["made"] = time.perf_counter()
    drafts, refused = _wanted(drafts, prepared.wishes)
    library, kept, left_out = _library(name, prepared, drafts, options)
    left_out = [*refused, *left_out]
    times["checks"] = time.perf_counter()
    report = import_report(name, prepared, builder, kept, left_out, lacking, times)
    return Imported(library, replace(report, warnings=(*report.warnings, *_kept_apart(prepared, options))))


def _kept_apart(prepared: PreparedSubject, options: ImportOptions) -> list[str]:
    """Return a line that says how much of the capture is of another manner, if that is worth a library."""
    takes = [take for take in prepared.takes if not take.mirrored]
    seconds = [sum((p.stop - p.start) / t.clip.fps for p in t.phases if p.manner == "carry") for t in takes]
    if options.manner == "carry" or sum(seconds) < _WORTH_S:
        return []
    count = sum(s > 0.0 for s in seconds)
    return [f"{sum(seconds):.1f} s of carrying in {count} takes are kept apart; --manner carry makes a library of them"]


def _wished(options: ImportOptions, wishes: LibraryWishes) -> ImportOptions:
    """Return the options with the values that the override file states for the library."""
    given = {key: getattr(wishes, key) for key in ("make", "clips", "behaviors") if getattr(wishes, key) is not None}
    return replace(options, **given)


def _wanted(
    drafts: list[BehaviorDraft], wishes: LibraryWishes
) -> tuple[list[BehaviorDraft], list[tuple[BehaviorDraft, str]]]:
    """Split behaviours into those that the override file keeps and those that it leaves out, with the reason."""
    refused = [e for e in drafts if any(fnmatch(e.name, pattern) for pattern in wishes.leave_out)]
    kept = [e for e in drafts if not any(e is other for other in refused)]
    return kept, [(e, "left out, as the override file says") for e in refused]


def _clip_builder(prepared: PreparedSubject, name: str, options: ImportOptions) -> ClipBuilder:
    fps = prepared.takes[0].clip.fps
    try:
        borrowed = borrowed_takes(prepared.skeleton, fps) if options.make else ()
        pose_index = PoseIndex.of([*prepared.takes, *borrowed])
        hubs = find_hubs(pose_index, ("carry",) if options.manner == "carry" else ("", "low"))
    except GaitwayError as problem:
        raise LibraryError(f"'{name}' gives no library: {problem}") from None
    if not any(hub.kind == "step" for hub in hubs):
        carries = options.manner == "carry"
        raise LibraryError(
            f"'{name}' gives no library: {len(prepared.takes)} takes hold no steps"
            + (" of somebody who carries; leave --manner out" if carries else "; give captures of a walking person")
        )
    own = tuple(t for t in pose_index.takes if t.source != CAST)
    hubs = _with_stand(hubs, pose_index, name, options)
    return ClipBuilder(HubDistances.of(pose_index, hubs), CaptureBaseline.of(own, pose_index.size), options.gate)


def _with_stand(
    hubs: tuple[CaptureHub, ...], pose_index: PoseIndex, name: str, options: ImportOptions
) -> tuple[CaptureHub, ...]:
    """Return the hubs; if none of them is a stand, add one that is made."""
    if any(hub.name == "stand" for hub in hubs):
        return hubs
    if not options.make:
        raise LibraryError(f"'{name}' gives no library: no take stands still; give a take that begins or ends standing")
    stand = next(t for t in pose_index.takes if t.source == CAST and t.name == "stand")
    manner: Manner = "carry" if options.manner == "carry" else ""
    pose = standing_pose(stand.clip, pose_index, manner)
    made = CaptureHub(
        name="stand",
        kind="stand",
        pose=pose,
        radius=STAND_RADIUS * pose_index.size,
        members=0,
        takes=(),
        spread=0.0,
        speed=0.0,
        travel=0.0,
        centre=-1,
        gait="stand",
        manner=manner,
        made="made: legs of the built-in person's stand, trunk of the subject's mean posture",
    )
    return (*hubs, made)


def _captured(builder: ClipBuilder, options: ImportOptions, progress: Progress) -> list[BehaviorDraft]:
    pieces = cut_takes(builder.hub_distances)
    size = builder.hub_distances.pose_index.size
    mirrored = mirror_images(builder.hub_distances, pieces)
    candidates = [make_candidate(a, b, size) for a, b in zip(pieces, mirrored, strict=True)]
    groups, rest = group_candidates(candidates, size)
    builder.unused += [UnusedPiece.of(c.piece, why) for c, why in rest]
    out: list[BehaviorDraft] = []
    for done, group in enumerate(groups):
        progress("clips", done, len(groups))
        if len(out) >= options.behaviors - _RESERVE:
            builder.passed_over += [other.name for other in groups[done:]]
            over = [
                (c.piece, f"{other.name}: there are enough behaviours")
                for other in groups[done:]
                for c in other.candidates
            ]
            builder.unused += [UnusedPiece.of(piece, why) for piece, why in over]
            break
        out += builder.make_captured([group], options.clips)
    return out


def _with_made(builder: ClipBuilder, drafts: list[BehaviorDraft]) -> list[BehaviorDraft]:
    drafts = [e for e in drafts if e.name != "stand" or e.clips[0].clip.duration >= IDLE_S]
    for make in (idle_standing, starts_and_stops, gait_changes, turning_steps, spot_turns):
        drafts = [*drafts, *make(builder, drafts)]
    return drafts


def _named_by_turn(drafts: list[BehaviorDraft]) -> list[BehaviorDraft]:
    """Return the behaviours named by their measured turns; they were named before their clips were led to the hubs."""
    return [
        replace(e, name=named_by_turn(e.name, e.turn)) if not e.special and "step" in (e.start.kind, e.end.kind) else e
        for e in drafts
    ]


def _library(
    name: str, prepared: PreparedSubject, drafts: list[BehaviorDraft], options: ImportOptions
) -> tuple[Library, list[BehaviorDraft], list[tuple[BehaviorDraft, str]]]:
    """Return the library, its behaviours, and the behaviours that are left out with the reason."""
    smooth, rough = smooth_joins(drafts)
    left_out = [(e, "its joins would be visible") for e in rough]
    kept, loose = keep_connected(smooth)
    left_out += [(e, "it cannot be reached from standing, or does not lead back to it") for e in loose]
    if len(kept) > options.behaviors:
        kept, beyond = keep_first(kept, options.behaviors)
        kept, more = keep_connected(kept)
        left_out += [(e, f"more than {options.behaviors} behaviours") for e in (*beyond, *more)]
    if lacking := missing_motions(drafts) or missing_motions(kept):
        raise LibraryError(f"'{name}' gives no library that can be planned with: it lacks {', '.join(lacking)}")
    library = assemble_library(name, prepared.skeleton, kept)
    if problems := planning_problems(library):
        raise LibraryError(f"'{name}' gives no library that can be planned with: {problems[0]}")
    return library, kept, left_out
