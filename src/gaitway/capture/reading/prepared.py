"""From a folder of raw captures to takes that can be cut: the first half of importing a library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gaitway.capture.overrides import (
    OverridesItem,
    apply_labels,
    apply_overrides,
    find_overrides,
    library_wishes,
    read_overrides,
)
from gaitway.capture.reading.calibration import calibrate, calibrated, lift_toes
from gaitway.capture.reading.files import ReadTake, capture_files, read_takes
from gaitway.capture.reading.floor import (
    FloorPlane,
    fit_floor,
    levelled,
    lifted,
    own_level,
    resting_balls,
    with_contacts,
)
from gaitway.capture.reading.smoothing import at_rate
from gaitway.capture.reading.subject import bone_lengths, difference, find_people, on_skeleton
from gaitway.capture.recognising.events import find_events
from gaitway.capture.recognising.measures import measure, stature
from gaitway.capture.recognising.phases import find_phases
from gaitway.capture.recognising.specials import find_specials
from gaitway.capture.takes import (
    DroppedFile,
    PreparedSubject,
    PreparedTake,
    PrepareOptions,
    RecognitionThresholds,
    SubjectFacts,
)
from gaitway.core.errors import LibraryError
from gaitway.motion.clip import Clip
from gaitway.motion.editing import mirror, with_name
from gaitway.motion.skeleton import Skeleton

_PLATFORM = 0.04
"""A take whose feet rest this far off the subject's floor throughout was taken on something else [m]."""
_LOCOMOTION = ("walk", "jog", "run", "back", "side", "crawl", "low walk", "bent walk", "carry", "hop")
_LEAST_LOCOMOTION_S = 1.0
"""Less than this is no locomotion to make a library of [s]."""
_LOW_PEOPLE = 0.8
"""Share of somebody's way that is gone bent or low, above which that is the usual."""
_FINEST = 120.0
"""Contacts are found at the file's own rate, up to this [Hz]: a running foot is still for a tenth of a second."""
Progress = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class _Stood:
    """A take on the subject's level floor."""

    take: ReadTake
    clip: Clip
    notes: tuple[str, ...]


def prepare(
    source: str | Path | Iterable[str | Path],
    options: PrepareOptions = PrepareOptions(),  # noqa: B008  (frozen)
    progress: Progress | None = None,
) -> PreparedSubject:
    """Read captures of one person and make them ready to be cut into behaviours.

    Args:
        source: a folder, or the files one by one.
        options: rates, limits and what else can be chosen; what `gaitway-import.yaml` says wins.
        progress: told what is being done, a line each.

    Returns:
        The takes of one subject; files that cannot be used are in `dropped` with the reason.

    Raises:
        LibraryError: if no take at all is left, or the override file is wrong.
    """
    source = source if isinstance(source, str | Path) else tuple(source)
    files = capture_files(source, recursive=options.recursive, only=options.only)
    overrides = _overrides(source, files, options)
    options = apply_overrides(options, overrides)
    read, dropped = read_takes(files, options, overrides, progress)
    if not read:
        first = dropped[0]
        raise LibraryError(f"{first.file}: {first.reason} (none of {len(files)} files can be used)")
    people, notes = _people(read, options, dropped)
    if progress is not None:
        progress("levelling the floor, finding contacts")
    floor, stood = _stand(people, options)
    takes = [_recognised(s, options) for s in stood]
    if _goes_low(takes):
        options = replace(options, thresholds=_for_low_people(options.thresholds))
        takes = [_recognised(s, options) for s in stood]
        notes.append("goes bent or low nearly always, which is taken for this person's plain way of going")
    _require_locomotion(takes, files)
    if options.mirror:
        takes += [_mirrored(take) for take, s in zip(takes, stood, strict=True) if s.take.said.mirror]
    name = options.name or (Path(source).resolve().name if isinstance(source, str | Path) else files[0].parent.name)
    dropped.sort(key=lambda d: d.file)
    facts = _facts(name, files, takes, floor, notes)
    return PreparedSubject(takes[0].clip.skeleton, tuple(takes), tuple(dropped), facts, library_wishes(overrides))


def _overrides(
    source: str | Path | Sequence[str | Path], files: Sequence[Path], options: PrepareOptions
) -> OverridesItem:
    folder = Path(source) if isinstance(source, str | Path) else files[0].parent
    path = options.overrides or find_overrides(folder)
    if path is None:
        return OverridesItem()
    every = capture_files(folder, recursive=options.recursive) if isinstance(source, str | Path) else files
    return read_overrides(path, every)


def _people(
    read: Sequence[ReadTake], options: PrepareOptions, dropped: list[DroppedFile]
) -> tuple[list[list[ReadTake]], list[str]]:
    """Takes by person, the main one first, all on the main skeleton; other people are dropped unless mixed."""
    people = find_people([take.clip for take in read])
    groups, notes = [[read[i] for i in people.main]], []
    own = bone_lengths(people.skeleton)
    for group in people.others:
        members = [read[i] for i in group]
        if options.mixed:
            groups.append(members)
            notes.append(f"{len(members)} takes of another person ({members[0].name} ...) are put on this skeleton")
            continue
        off = 100.0 * difference(own, bone_lengths(members[0].clip.skeleton))
        for take in members:
            reason = (
                f"is another person's: its bones differ by up to {off:.0f} % (mixed: true puts it on this skeleton)"
            )
            dropped.append(DroppedFile(take.path, reason))
    rigs = {t.clip.skeleton.names for t in groups[0]} - {people.skeleton.names}
    if rigs:
        other = [t.name for t in groups[0] if t.clip.skeleton.names in rigs]
        notes.append(f"{len(other)} takes on another rig ({other[0]} ...) are put on this skeleton")
    placed = [[replace(t, clip=_not_finer(on_skeleton(t.clip, people.skeleton))) for t in group] for group in groups]
    return placed, notes


def _not_finer(clip: Clip) -> Clip:
    """The clip at no more than the finest rate that contacts are found at."""
    return at_rate(clip, _FINEST) if clip.fps > 1.05 * _FINEST else clip


def _stand(groups: Sequence[Sequence[ReadTake]], options: PrepareOptions) -> tuple[FloorPlane, list[_Stood]]:
    """All takes on one level floor at z = 0 with contacts; the floor is the main person's."""
    floors: list[FloorPlane] = []
    skeleton: Skeleton | None = None
    done = []
    for group in groups:
        floors.append(fit_floor([resting_balls(t.clip) for t in group if t.said.floor is None]))
        stood = [_levelled(take, floors[-1]) for take in group]
        calibration = calibrate([s.clip for s in stood])
        skeleton = skeleton or calibration.skeleton
        calibration, pelvis = replace(calibration, skeleton=skeleton), stature(skeleton).pelvis
        for s in stood:
            clip = with_contacts(lift_toes(calibrated(s.clip, calibration)), options.contacts, pelvis)
            done.append(replace(s, clip=at_rate(clip, options.fps)))
    return floors[0], done


def _levelled(take: ReadTake, floor: FloorPlane) -> _Stood:
    """A take on the plane z = 0: the subject's, or its own where it was taken on something else."""
    if take.said.floor is not None:
        return _Stood(take, lifted(take.clip, -take.said.floor), take.notes)
    clip = levelled(take.clip, floor)
    height, share = own_level(clip)
    if abs(height) <= _PLATFORM:
        return _Stood(take, lifted(clip, -height), take.notes)
    if share < 0.6:  # several levels, such as stairs: which one is the floor cannot be told from this take
        return _Stood(take, clip, take.notes)
    note = f"stands {height:+.2f} m off this person's floor throughout; it was put onto the floor"
    return _Stood(take, lifted(clip, -height), (*take.notes, note))


def _recognised(stood: _Stood, options: PrepareOptions) -> PreparedTake:
    clip, limits = with_name(stood.clip, stood.take.name), options.thresholds
    measures = measure(clip)
    take = PreparedTake(
        name=stood.take.name,
        clip=clip,
        mirrored=False,
        source=stood.take.path,
        events=find_events(measures, clip.skeleton, limits),
        phases=find_phases(measures, limits),
        specials=find_specials(measures, limits),
        notes=stood.notes,
    )
    return apply_labels(take, stood.take.said.labels, measures) if stood.take.said.labels else take


def _goes_low(takes: Sequence[PreparedTake]) -> bool:
    """Whether somebody walks bent or low for most of the time, and so knows no other walk."""
    phases = [(p, p.stop - p.start) for take in takes for p in take.phases]
    low = sum(frames for p, frames in phases if p.detail in ("bent walk", "low walk"))
    plain = sum(frames for p, frames in phases if p.kind in ("walk", "jog", "run", "back", "side"))
    return low > _LOW_PEOPLE * (low + plain)


def _for_low_people(limits: RecognitionThresholds) -> RecognitionThresholds:
    return replace(limits, low_head=limits.low_head - 0.2, low_pelvis=limits.low_pelvis - 0.2, bent_deg=60.0)


def _require_locomotion(takes: Sequence[PreparedTake], files: Sequence[Path]) -> None:
    """Refuse takes in which nobody goes anywhere.

    Raises:
        LibraryError: naming what there is instead.
    """
    seconds: dict[str, float] = {}
    for take in takes:
        for phase in take.phases:
            name = phase.detail or phase.kind
            seconds[name] = seconds.get(name, 0.0) + (phase.stop - phase.start) / take.clip.fps
    if sum(seconds.get(kind, 0.0) for kind in _LOCOMOTION) < _LEAST_LOCOMOTION_S:
        found = ", ".join(f"{kind} {s:.1f} s" for kind, s in sorted(seconds.items(), key=lambda item: -item[1])[:4])
        raise LibraryError(
            f"{files[0].parent}: nobody goes anywhere in {len(takes)} takes ({found}); "
            "add captures of walking, with a start and a stop"
        )


def _mirrored(take: PreparedTake) -> PreparedTake:
    swapped = {"left": "right", "right": "left", "": ""}
    name = f"{take.name} mirrored"
    return replace(
        take,
        name=name,
        clip=with_name(mirror(take.clip), name),
        mirrored=True,
        events=tuple(replace(e, foot=swapped[e.foot]) for e in take.events),  # type: ignore[arg-type]
        phases=tuple(replace(p, turn=-p.turn) for p in take.phases),
    )


def _facts(
    name: str, files: Sequence[Path], takes: Sequence[PreparedTake], floor: FloorPlane, notes: Sequence[str]
) -> SubjectFacts:
    figure = stature(takes[0].clip.skeleton)
    return SubjectFacts(
        name=name,
        files=len(files),
        seconds=sum(t.clip.duration for t in takes if not t.mirrored),
        floor_height=floor.height,
        floor_slope=float(np.hypot(*floor.slope)),
        floor_residual=floor.residual,
        pelvis_height=figure.pelvis,
        head_height=figure.head,
        notes=tuple(notes),
    )
