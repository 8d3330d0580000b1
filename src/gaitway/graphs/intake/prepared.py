"""From a folder of raw captures to takes that can be cut: the first half of importing a library."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gaitway.errors import GaitwayError, LibraryError
from gaitway.graphs.intake.events import find_events
from gaitway.graphs.intake.folder import capture_files
from gaitway.graphs.intake.ground_contacts import resting_heights, with_contacts
from gaitway.graphs.intake.levelling import fit_floor, levelled, lifted, own_level, resting_balls
from gaitway.graphs.intake.measures import measure, stature
from gaitway.graphs.intake.phases import find_phases
from gaitway.graphs.intake.smoothing import at_rate
from gaitway.graphs.intake.specials import find_specials
from gaitway.graphs.intake.takes import (
    Dropped,
    Event,
    Phase,
    Prepared,
    PreparedTake,
    PrepareOptions,
    Special,
    SubjectFacts,
    Thresholds,
)
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import with_contact_points
from gaitway.motion.editing import mirror, with_name
from gaitway.motion.formats import load_clip_with_report

__all__ = [
    "Dropped",
    "Event",
    "Phase",
    "PrepareOptions",
    "Prepared",
    "PreparedTake",
    "Special",
    "SubjectFacts",
    "Thresholds",
    "prepare",
]


@dataclass(frozen=True, eq=False)
class _Read:
    path: Path
    clip: Clip
    notes: tuple[str, ...]


def prepare(source: str | Path | Iterable[str | Path], options: PrepareOptions = PrepareOptions()) -> Prepared:  # noqa: B008
    """Read captures of one person and make them ready to be cut into behaviours.

    Args:
        source: a folder, or the files one by one.
        options: rates, limits and what else can be chosen.

    Returns:
        The takes of one subject; files that cannot be used are in `dropped` with the reason.

    Raises:
        LibraryError: if no take at all is left.
    """
    files = capture_files(source, recursive=options.recursive, only=options.only)
    dropped: list[Dropped] = []
    read = [r for r in (_read(path, options, dropped) for path in files) if r is not None]
    if not read:
        raise LibraryError(f"{files[0].parent}: none of {len(files)} files can be used; the first: {dropped[0].reason}")
    skeleton = read[0].clip.skeleton
    read = [
        replace(r, clip=replace(r.clip, skeleton=skeleton)) for r in read if r.clip.skeleton.names == skeleton.names
    ]
    floor = fit_floor([resting_balls(r.clip) for r in read])
    clips = [levelled(r.clip, floor) for r in read]
    clips = [lifted(c, -own_level(c)[0]) for c in clips]
    rest = resting_heights(clips)
    takes = []
    for r, clip in zip(read, clips, strict=True):
        takes.append(_take(with_contacts(clip, rest, options.contacts), r, options))
    if options.mirror:
        takes += [_mirrored(take) for take in takes]
    figure = stature(skeleton)
    facts = SubjectFacts(
        name=options.name or files[0].parent.name,
        files=len(files),
        seconds=sum(t.clip.duration for t in takes if not t.mirrored),
        floor_height=floor.height,
        floor_slope=float(np.hypot(*floor.slope)),
        floor_residual=floor.residual,
        pelvis_height=figure.pelvis,
        head_height=figure.head,
    )
    return Prepared(skeleton, tuple(takes), tuple(dropped), facts)


def _read(path: Path, options: PrepareOptions, dropped: list[Dropped]) -> _Read | None:
    try:
        clip, report = load_clip_with_report(path)
        clip = with_contact_points(clip)
    except GaitwayError as error:
        dropped.append(Dropped(path, str(error)))
        return None
    return _Read(path, at_rate(clip, options.fps), report.notes)


def _take(clip: Clip, read: _Read, options: PrepareOptions) -> PreparedTake:
    measures = measure(clip)
    return PreparedTake(
        name=read.path.stem,
        clip=with_name(clip, read.path.stem),
        mirrored=False,
        source=read.path,
        events=find_events(measures, clip.skeleton, options.thresholds),
        phases=find_phases(measures, options.thresholds),
        specials=find_specials(measures, options.thresholds),
        notes=read.notes,
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
