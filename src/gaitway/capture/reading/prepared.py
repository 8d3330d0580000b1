"""Preparation of captures: raw files become takes that can be cut. This is the first half of an import."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    MotionPhase,
    PreparedSubject,
    PreparedTake,
    PrepareOptions,
    RecognitionThresholds,
    SubjectFacts,
)
from gaitway.core.errors import GraphError, LibraryError
from gaitway.core.progress import Progress, silent
from gaitway.graphs.corpus import Corpus, LabelSpan, build_corpus, label_spans
from gaitway.motion.clip import Clip
from gaitway.motion.editing import mirror, with_name
from gaitway.motion.skeleton import Skeleton

_PLATFORM = 0.04
"""Distance from the subject's floor above which a take was taken on another floor, such as a platform [m]."""
_SHORTEST_S = 1.0
"""Least duration of a take in a corpus [s]."""
_LOCOMOTION = ("walk", "jog", "run", "back", "side", "crawl", "low walk", "bent walk", "carry", "hop")
_LEAST_LOCOMOTION_S = 1.0
"""Least duration of locomotion for a library [s]."""
_LOW_PEOPLE = 0.8
"""Share of bent or low locomotion above which this is the subject's plain walk."""
_FINEST = 120.0
"""Largest frame rate at which contacts are detected [Hz]. A running foot is still for only a tenth of a second, so
contacts are detected at the rate of the file."""


@dataclass(frozen=True, eq=False)
class _Stood:
    """Take on the subject's level floor."""

    take: ReadTake
    clip: Clip
    notes: tuple[str, ...]


def prepare(
    source: str | Path | Iterable[str | Path],
    options: PrepareOptions = PrepareOptions(),  # noqa: B008  (frozen)
    progress: Progress = silent,
) -> PreparedSubject:
    """Read captures of one person and prepare them for cutting into behaviours.

    Args:
        source: Folder, or capture files.
        options: Options of the preparation; the statements of a `gaitway-import.yaml` override them.
        progress: Function that is called with the progress of reading.

    Returns:
        The takes of one subject; its `dropped` holds the files that cannot be used, with the reason.

    Raises:
        LibraryError: If no take can be used, or the override file is wrong.
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
    progress("floor and contacts", 0, None)
    floor, stood = _stand(people, options)
    takes = [_recognised(s, options) for s in stood]
    if _goes_low(takes):
        options = replace(options, thresholds=_for_low_people(options.thresholds))
        takes = [_recognised(s, options) for s in stood]
        notes.append("walks bent or low nearly always; the import treats that as this person's plain walk")
    _require_locomotion(takes, files)
    if options.mirror:
        takes += [_mirrored(take) for take, s in zip(takes, stood, strict=True) if s.take.stated.mirror]
    name = options.name or (Path(source).resolve().name if isinstance(source, str | Path) else files[0].parent.name)
    dropped.sort(key=lambda d: d.file)
    facts = _facts(name, files, takes, floor, notes)
    return PreparedSubject(takes[0].clip.skeleton, tuple(takes), tuple(dropped), facts, library_wishes(overrides))


def capture_corpus(prepared: PreparedSubject) -> Corpus:
    """Build a corpus from captures of one person; the label of a frame is its motion: "walk", "stand", "jump" ...

    Mirrored takes are included. The label of a phase of kind "other" is its detail, such as "low walk".

    Raises:
        GraphError: If no take is long enough.
    """
    clips, spans = [], list[LabelSpan]()
    for take in prepared.takes:
        if take.clip.duration < _SHORTEST_S:
            continue
        name = f"{take.name}~" if take.mirrored and not take.name.endswith("~") else take.name
        clips.append(replace(take.clip, name=name, skeleton=prepared.skeleton))
        words = [phase.detail or phase.kind if phase.kind == "other" else phase.kind for phase in take.phases]
        labels = [word for phase, word in zip(take.phases, words, strict=True) for _ in range(phase.stop - phase.start)]
        for special in take.specials:
            labels[special.start : special.stop] = [special.kind] * (special.stop - special.start)
        spans += label_spans(name, labels)
    if not clips:
        raise GraphError(f"no take of {prepared.facts.name} lasts {_SHORTEST_S:g} s; give longer captures")
    return build_corpus(clips, spans=spans)


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
    """Group takes by person, the main person first, all on the main skeleton; without `mixed`, drop other people."""
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
            reason = f"is another person's: its bones differ by up to {off:.0f} % (--mixed puts it on this skeleton)"
            dropped.append(DroppedFile(take.path, reason))
    rigs = {t.clip.skeleton.names for t in groups[0]} - {people.skeleton.names}
    if rigs:
        other = [t.name for t in groups[0] if t.clip.skeleton.names in rigs]
        notes.append(f"{len(other)} takes on another rig ({other[0]} ...) are put on this skeleton")
    placed = [[replace(t, clip=_not_finer(on_skeleton(t.clip, people.skeleton))) for t in group] for group in groups]
    return placed, notes


def _not_finer(clip: Clip) -> Clip:
    """Return the clip at no more than the largest rate at which contacts are detected."""
    return at_rate(clip, _FINEST) if clip.fps > 1.05 * _FINEST else clip


def _stand(groups: Sequence[Sequence[ReadTake]], options: PrepareOptions) -> tuple[FloorPlane, list[_Stood]]:
    """Return the main person's floor, and all takes on one level floor at z = 0, with contacts."""
    floors: list[FloorPlane] = []
    skeleton: Skeleton | None = None
    done = []
    for group in groups:
        floors.append(fit_floor([resting_balls(t.clip) for t in group if t.stated.floor is None]))
        stood = [_levelled(take, floors[-1]) for take in group]
        calibration = calibrate([s.clip for s in stood])
        skeleton = skeleton or calibration.skeleton
        calibration, pelvis = replace(calibration, skeleton=skeleton), stature(skeleton).pelvis
        for s in stood:
            clip = with_contacts(lift_toes(calibrated(s.clip, calibration)), options.contacts, pelvis)
            done.append(replace(s, clip=at_rate(clip, options.fps)))
    return floors[0], done


def _levelled(take: ReadTake, floor: FloorPlane) -> _Stood:
    """Return a take on the plane z = 0: on the subject's floor, or on its own if it was taken on another floor."""
    if take.stated.floor is not None:
        return _Stood(take, lifted(take.clip, -take.stated.floor), take.notes)
    clip = levelled(take.clip, floor)
    height, share = own_level(clip)
    if abs(height) <= _PLATFORM:
        return _Stood(take, lifted(clip, -height), take.notes)
    if share < 0.6:  # several levels, such as stairs: this take does not show which one is the floor
        return _Stood(take, clip, take.notes)
    note = f"stands {height:+.2f} m off this person's floor throughout; it was put onto the floor"
    return _Stood(take, lifted(clip, -height), (*take.notes, note))


def _recognised(stood: _Stood, options: PrepareOptions) -> PreparedTake:
    clip, limits = with_name(stood.clip, stood.take.name), options.thresholds
    measures = measure(clip)
    phases = find_phases(measures, limits)
    clip = _without_crawling_feet(clip, phases)
    take = PreparedTake(
        name=stood.take.name,
        clip=clip,
        mirrored=False,
        source=stood.take.path,
        events=find_events(measures, clip.skeleton, limits),
        phases=phases,
        specials=find_specials(measures, limits),
        notes=stood.notes,
    )
    return apply_labels(take, stood.take.stated.labels, measures) if stood.take.stated.labels else take


def _without_crawling_feet(clip: Clip, phases: Sequence[MotionPhase]) -> Clip:
    """Return the clip without contacts of feet in a crawl: the body rests on hands and knees, and feet drag behind."""
    crawls = [phase for phase in phases if phase.kind == "crawl"]
    if not crawls or clip.contacts is None:
        return clip
    contacts = np.array(clip.contacts)
    for phase in crawls:
        contacts[phase.start : phase.stop] = False
    return replace(clip, contacts=contacts)


def _goes_low(takes: Sequence[PreparedTake]) -> bool:
    """Return whether the subject walks bent or low nearly all the time."""
    phases = [(p, p.stop - p.start) for take in takes for p in take.phases]
    low = sum(frames for p, frames in phases if p.detail in ("bent walk", "low walk"))
    plain = sum(frames for p, frames in phases if p.kind in ("walk", "jog", "run", "back", "side"))
    return low > _LOW_PEOPLE * (low + plain)


def _for_low_people(limits: RecognitionThresholds) -> RecognitionThresholds:
    return replace(limits, low_head=limits.low_head - 0.2, low_pelvis=limits.low_pelvis - 0.2, bent_deg=60.0)


def _require_locomotion(takes: Sequence[PreparedTake], files: Sequence[Path]) -> None:
    """Check that the takes hold locomotion.

    Raises:
        LibraryError: If they do not; the message names the motions that were found.
    """
    seconds: dict[str, float] = {}
    for take in takes:
        for phase in take.phases:
            name = phase.detail or phase.kind
            seconds[name] = seconds.get(name, 0.0) + (phase.stop - phase.start) / take.clip.fps
    if sum(seconds.get(kind, 0.0) for kind in _LOCOMOTION) < _LEAST_LOCOMOTION_S:
        found = ", ".join(f"{kind} {s:.1f} s" for kind, s in sorted(seconds.items(), key=lambda item: -item[1])[:4])
        raise LibraryError(
            f"{files[0].parent}: {len(takes)} takes hold no locomotion ({found}); "
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
