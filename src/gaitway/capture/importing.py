"""Raw capture to a library, in one call: `import_library`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path

from gaitway.capture.cutting.cuts import Nearness, cut, mirror_images
from gaitway.capture.cutting.hubs import STAND_RADIUS, Hub, find_hubs
from gaitway.capture.cutting.mirroring import evened
from gaitway.capture.cutting.pose_index import Sightings
from gaitway.capture.making.assembling import assembled, reported
from gaitway.capture.making.borrowed import CAST, borrowed_takes, standing_pose
from gaitway.capture.making.candidates import described, grouped
from gaitway.capture.making.clip_builder import NUMERIC, Entry, Workshop
from gaitway.capture.making.gate import Bars, Gate
from gaitway.capture.making.selection import connected, limited, missing, smooth_joins
from gaitway.capture.making.transitions import IDLE_S, gait_changes, moving_turns, setting_off, spot_turns, standing
from gaitway.capture.reading.prepared import LibraryWishes, Prepared, PrepareOptions, prepare
from gaitway.capture.report import ImportReport
from gaitway.core.errors import GaitwayError, LibraryError
from gaitway.library.actions import planning_problems
from gaitway.library.behavior import Library

_ROOM = 20
"""So many behaviours may still have to be made when enough are captured."""
Progress = Callable[[str, int, int | None], None]
"""Called with what is being done, how much of it is done and how much there is."""


@dataclass(frozen=True)
class ImportOptions:
    """How captures become a library."""

    prepare: PrepareOptions = field(default_factory=PrepareOptions)
    mixed: bool = False
    """Whether to put takes of several people on the skeleton of one, rather than leave all but one's out."""
    clips: int = 3
    """At most so many clips for each behaviour; more vary more and search slower."""
    behaviors: int = 110
    """At most so many behaviours; more fit goals better and search slower."""
    make: bool = True
    """Whether what is lacking may be made: starts, stops, standing, turns, changes of gait."""
    gate: Gate = field(default_factory=Gate)
    """How good clips must be."""


@dataclass(frozen=True, eq=False)
class Imported:
    """A library, and how it came about."""

    library: Library
    report: ImportReport


def import_library(
    folder: str | Path,
    *,
    name: str | None = None,
    options: ImportOptions = ImportOptions(),  # noqa: B008  (frozen)
    progress: Progress | None = None,
) -> Imported:
    """Make a library of a folder of raw captures.

    Args:
        folder: of BVH, AMC with ASF, or GLB files.
        name: of the library; None takes the folder's.
        options: what may be chosen.
        progress: called with what is being done, how much of it is done and how much there is.

    Raises:
        LibraryError: if no library can be planned with; the message says what is missing.
    """
    tell = progress or (lambda what, done, total: None)
    began = time.perf_counter()
    tell("reading", 0, None)
    wanted = replace(options.prepare, mixed=options.mixed or options.prepare.mixed)
    try:
        prepared = prepare(folder, wanted)
        return library_of(prepared, name=name, options=options, progress=tell, began=began)
    except NUMERIC as problem:  # motion that no check foresaw
        reason = " ".join(str(problem).split())
        raise LibraryError(
            f"{folder}: its motion cannot be made sense of ({reason}); try its files one by one"
        ) from problem


def library_of(
    prepared: Prepared,
    *,
    name: str | None = None,
    options: ImportOptions = ImportOptions(),  # noqa: B008  (frozen)
    progress: Progress | None = None,
    began: float | None = None,
) -> Imported:
    """Make a library of takes that are prepared already; as `import_library`.

    Args:
        prepared: takes of one skeleton.
        name: of the library; None takes the subject's.
        options: what may be chosen.
        progress: called with what is being done, how much of it is done and how much there is.
        began: when the work began, by `time.perf_counter`.
    """
    tell = progress or (lambda what, done, total: None)
    name = name or prepared.facts.name
    options = _wished(options, prepared.wishes)
    takes, unwanted = evened(prepared.takes)
    prepared = replace(prepared, takes=takes)
    times = {"start": time.perf_counter() if began is None else began, "read": time.perf_counter()}
    tell("hubs", 0, None)
    workshop = _workshop(prepared, name, options)
    workshop.unwanted = unwanted
    times["hubs"] = time.perf_counter()
    entries = _captured(workshop, options, tell)
    times["clips"] = time.perf_counter()
    lacking = missing(entries)
    if options.make:
        tell("what is lacking", 0, None)
        entries = _with_made(workshop, entries)
    times["made"] = time.perf_counter()
    entries, refused = _wanted(entries, prepared.wishes)
    library, kept, left_out = _library(name, prepared, entries, options)
    left_out = [*refused, *left_out]
    times["checks"] = time.perf_counter()
    return Imported(library, reported(name, prepared, workshop, kept, left_out, lacking, times))


def _wished(options: ImportOptions, wishes: LibraryWishes) -> ImportOptions:
    """Options with what the override file says about the library."""
    given = {key: getattr(wishes, key) for key in ("make", "clips", "behaviors") if getattr(wishes, key) is not None}
    return replace(options, **given)


def _wanted(entries: list[Entry], wishes: LibraryWishes) -> tuple[list[Entry], list[tuple[Entry, str]]]:
    """Behaviours that the override file does not leave out, and those that it does."""
    refused = [e for e in entries if any(fnmatch(e.name, pattern) for pattern in wishes.leave_out)]
    kept = [e for e in entries if not any(e is other for other in refused)]
    return kept, [(e, "left out, as the override file says") for e in refused]


def _workshop(prepared: Prepared, name: str, options: ImportOptions) -> Workshop:
    fps = prepared.takes[0].clip.fps
    try:
        borrowed = borrowed_takes(prepared.skeleton, fps) if options.make else ()
        sightings = Sightings.of([*prepared.takes, *borrowed])
        hubs = find_hubs(sightings)
    except GaitwayError as problem:
        raise LibraryError(f"'{name}' gives no library: {problem}") from None
    if not any(hub.kind == "step" for hub in hubs):
        raise LibraryError(
            f"'{name}' gives no library: {len(prepared.takes)} takes hold no steps; give captures of somebody who walks"
        )
    own = tuple(t for t in sightings.takes if t.source != CAST)
    hubs = _with_stand(hubs, sightings, name, options)
    return Workshop(Nearness.of(sightings, hubs), Bars.of(own, sightings.size), options.gate)


def _with_stand(hubs: tuple[Hub, ...], sightings: Sightings, name: str, options: ImportOptions) -> tuple[Hub, ...]:
    """Hubs with one to stand in."""
    if any(hub.name == "stand" for hub in hubs):
        return hubs
    if not options.make:
        raise LibraryError(f"'{name}' gives no library: nobody stands in it; give a take that begins or ends standing")
    stand = next(t for t in sightings.takes if t.source == CAST and t.name == "stand")
    pose = standing_pose(stand.clip, sightings)
    made = Hub(
        "stand", "stand", pose, STAND_RADIUS * sightings.size, 0, (), 0.0, 0.0, 0.0, -1, "stand",
        "made: a borrowed stance under the subject's own mean posture",
    )  # fmt: skip
    return (*hubs, made)


def _captured(workshop: Workshop, options: ImportOptions, tell: Progress) -> list[Entry]:
    pieces = cut(workshop.nearness)
    size = workshop.nearness.sightings.size
    mirrored = mirror_images(workshop.nearness, pieces)
    groups = grouped([described(a, b, size) for a, b in zip(pieces, mirrored, strict=True)], size)
    out: list[Entry] = []
    for done, group in enumerate(groups):
        tell("clips", done, len(groups))
        if len(out) >= options.behaviors - _ROOM:
            workshop.passed_over += [rest.name for rest in groups[done:]]
            break
        out += workshop.captured([group], options.clips)
    return out


def _with_made(workshop: Workshop, entries: list[Entry]) -> list[Entry]:
    entries = [e for e in entries if e.name != "stand" or e.clips[0].clip.duration >= IDLE_S]
    for make in (standing, setting_off, gait_changes, moving_turns, spot_turns):
        entries = [*entries, *make(workshop, entries)]
    return entries


def _library(
    name: str, prepared: Prepared, entries: list[Entry], options: ImportOptions
) -> tuple[Library, list[Entry], list[tuple[Entry, str]]]:
    """The library, its behaviours, and those left out with the reason."""
    smooth, rough = smooth_joins(entries)
    left_out = [(e, "its joins would be seen") for e in rough]
    kept, loose = connected(smooth)
    left_out += [(e, "it does not hang together with standing") for e in loose]
    if len(kept) > options.behaviors:
        kept, beyond = limited(kept, options.behaviors)
        kept, more = connected(kept)
        left_out += [(e, f"more than {options.behaviors} behaviours") for e in (*beyond, *more)]
    if lacking := missing(entries) or missing(kept):
        raise LibraryError(f"'{name}' gives no library that can be planned with: it lacks {', '.join(lacking)}")
    library = assembled(name, prepared.skeleton, kept)
    if problems := planning_problems(library):
        raise LibraryError(f"'{name}' gives no library that can be planned with: {problems[0]}")
    return library, kept, left_out
