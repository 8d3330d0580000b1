"""Capture files: which files of a folder hold motion, and the takes in them, with faults and wrong rates corrected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path

from gaitway.capture.overrides import FileItem, OverridesItem
from gaitway.capture.reading.faults import mend
from gaitway.capture.reading.true_speed import RateEvidence, agreed_factor, belt_speed, judge_rate, travel_on_ground
from gaitway.capture.takes import DroppedFile, PrepareOptions
from gaitway.core.errors import ClipError, GaitwayError, LibraryError, SkeletonError
from gaitway.core.progress import Progress, silent
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import with_contact_points
from gaitway.motion.editing import slice_seconds
from gaitway.motion.formats import load_clip_with_report
from gaitway.motion.formats.gltf_file import GltfFile

ENDINGS = (".bvh", ".amc", ".glb", ".gltf")
"""Endings of files that hold motion; the `.asf` skeleton is found by the `.amc` file beside it."""
_LEGS = ("hips", *(f"{side}_{part}" for side in ("left", "right") for part in ("hip", "knee", "ankle")))
SHORTEST_S = 0.5
"""Duration below which a take holds no step [s]."""


def capture_files(
    source: str | Path | Iterable[str | Path], *, recursive: bool = True, only: Sequence[str] = ()
) -> tuple[Path, ...]:
    """Find the capture files of a folder, in the order of their names, or check files that are named one by one.

    Hidden files and folders (whose name begins with a dot) and files without one of the `ENDINGS` are ignored.

    Args:
        source: Folder, or capture files.
        recursive: Whether folders within the folder are searched.
        only: Patterns; the name of a file, with or without its ending, must match one of them. () takes all files.

    Raises:
        LibraryError: If there is no such folder, or no capture file in it.
    """
    if isinstance(source, str | Path):
        folder = Path(source)
        found = _in_folder(folder, recursive)
        place = str(folder)
    else:
        found = [Path(path) for path in source]
        place = "the files named"
        missing = [path for path in found if not path.is_file()]
        if missing:
            raise LibraryError(f"{missing[0]}: no such file; name capture files that exist")
    if only:
        found = [path for path in found if any(fnmatch(path.name, p) or fnmatch(path.stem, p) for p in only)]
    if not found:
        chosen = f" that matches {' or '.join(only)}" if only else ""
        raise LibraryError(
            f"{place}: no capture file{chosen} there; put .bvh, .amc with .asf, .glb or .gltf files in it"
        )
    return tuple(found)


def _in_folder(folder: Path, recursive: bool) -> list[Path]:
    if folder.is_file():
        raise LibraryError(
            f"{folder}: is a file; name the folder that holds it, so that all takes of a person are used"
        )
    if not folder.is_dir():
        raise LibraryError(f"{folder}: no such folder; name one that holds capture files")
    try:
        candidates = folder.rglob("*") if recursive else folder.glob("*")
        inside = [(path.relative_to(folder), path) for path in candidates]
    except OSError as problem:
        raise LibraryError(f"{folder}: cannot be read: {problem.strerror}; check its permissions") from None
    visible = [(name, path) for name, path in inside if not any(part.startswith(".") for part in name.parts)]
    return [p for _, p in sorted(visible) if p.suffix.lower() in ENDINGS and p.is_file()]


@dataclass(frozen=True, eq=False)
class ReadTake:
    """Take as its file holds it, at the file's true frame rate."""

    name: str
    path: Path
    clip: Clip
    stated: FileItem
    """Statements of the override file about the take."""
    notes: tuple[str, ...]


def read_takes(
    files: Sequence[Path],
    options: PrepareOptions,
    overrides: OverridesItem,
    progress: Progress = silent,
) -> tuple[list[ReadTake], list[DroppedFile]]:
    """Read capture files.

    Args:
        files: Files to read.
        options: Options of the preparation.
        overrides: Override file.
        progress: Function that is called before each file.

    Returns:
        The takes that can be used, and the files that cannot be used with the reason.
    """
    read: list[ReadTake] = []
    dropped: list[DroppedFile] = []
    for number, path in enumerate(files):
        progress("reading", number, len(files))
        stated = overrides.file(path)
        if stated.skip:
            dropped.append(DroppedFile(path, "left out, as the override file says"))
            continue
        for animation in range(_animations(path)):
            try:
                read.append(_read(path, animation, stated, overrides.roles))
            except GaitwayError as error:
                dropped.append(DroppedFile(path, _without_path(error, path)))
                break
    read = _with_true_rates(read)
    kept = []
    for take in map(_off_treadmill, read):
        reason = _too_little(take, options)
        if reason:
            dropped.append(DroppedFile(take.path, reason))
        else:
            kept.append(take)
    return _unique(kept), dropped


def _animations(path: Path) -> int:
    """Return the number of takes in a file; 1 for a file that cannot be read, so that reading it reports the error."""
    if path.suffix.lower() not in (".glb", ".gltf"):
        return 1
    try:
        return max(GltfFile(path).count("animations"), 1)
    except GaitwayError:
        return 1


def _read(path: Path, animation: int, stated: FileItem, roles: Mapping[str, str]) -> ReadTake:
    clip, report = load_clip_with_report(path, unit=stated.unit, up=stated.up, file_fps=stated.fps, animation=animation)
    if len(clip) < 2:
        raise ClipError("has a single frame; a take needs motion")
    clip = _on_feet(clip, roles)
    if stated.start_s > 0.0 or stated.stop_s is not None:
        clip = slice_seconds(clip, stated.start_s, stated.stop_s)
    mended = mend(clip)
    name = path.stem if animation == 0 else f"{path.stem}-{animation + 1}"
    return ReadTake(name, path, mended.clip, stated, (*report.notes, *mended.notes))


def _on_feet(clip: Clip, roles: Mapping[str, str]) -> Clip:
    """Return the clip on a skeleton whose legs have roles and whose feet have contact points."""
    stated = {role: joint for role, joint in roles.items() if joint in clip.skeleton.names}
    if stated:
        skeleton = replace(clip.skeleton.with_roles(**stated), contact_points=())
        clip = replace(clip, skeleton=skeleton, contacts=None)
    missing = [role for role in _LEGS if role not in clip.skeleton.roles]
    if missing:
        joints = ", ".join(clip.skeleton.names[:6])
        raise SkeletonError(
            f"no joint has the role {missing[0]} among {joints} ... (write roles: {{{missing[0]}: NAME}} in the "
            "override file)"
        )
    return with_contact_points(clip)


def _with_true_rates(takes: Sequence[ReadTake]) -> list[ReadTake]:
    """Return the takes with impossible frame rates divided by a factor.

    A take without evidence of its own follows the other takes of its session.
    """
    evidence = [RateEvidence(0) if take.stated.fps else judge_rate(take.clip) for take in takes]
    sessions: dict[object, list[RateEvidence]] = {}
    for take, own in zip(takes, evidence, strict=True):
        sessions.setdefault(_session(take.clip), []).append(own)
    out = []
    for take, own in zip(takes, evidence, strict=True):
        factor = 1 if take.stated.fps else own.factor or agreed_factor(sessions[_session(take.clip)])
        if factor == 1:
            out.append(take)
            continue
        true = take.clip.fps / factor
        why = own.reason if own.factor else "as in the other takes of this person"
        note = f"the file says {take.clip.fps:g} frames a second; {true:g} is taken for true ({why})"
        out.append(replace(take, clip=replace(take.clip, fps=true), notes=(*take.notes, note)))
    return out


def _session(clip: Clip) -> object:
    """Return what takes of one capture session have in common: frame rate and skeleton."""
    return clip.fps, clip.skeleton.names, clip.skeleton.offsets[1:].round(3).tobytes()


def _off_treadmill(take: ReadTake) -> ReadTake:
    belt = take.stated.belt
    return take if belt is None else replace(take, clip=travel_on_ground(take.clip, belt))


def _too_little(take: ReadTake, options: PrepareOptions) -> str:
    """Return why a take cannot be used; an empty string if it can."""
    clip = take.clip
    if clip.fps < options.lowest_fps:
        return (
            f"{clip.fps:g} frames a second show too little of a step; {options.lowest_fps:g} are needed "
            "(fps: in the override file states another rate)"
        )
    if clip.duration < SHORTEST_S:
        return f"lasts {clip.duration:.2f} s; a take needs {SHORTEST_S:g} s to hold a step"
    belt = belt_speed(clip)
    if belt > 0.0:
        return (
            f"walks on the spot: its feet slide back at {belt:.1f} m/s and the body stays "
            f"(belt: {belt:.1f} in the override file lets it travel)"
        )
    return ""


def _without_path(error: GaitwayError, path: Path) -> str:
    """Return the message without the path, which the report states beside it."""
    text = str(error).removeprefix(f"{path}")
    return text.removeprefix(": ").removeprefix(":").strip() or "cannot be read"


def _unique(takes: Sequence[ReadTake]) -> list[ReadTake]:
    """Return the takes with unique names: the second take of a name gets the name of its folder as a prefix."""
    seen: set[str] = set()
    out = []
    for take in takes:
        name, number = take.name, 2
        while name in seen:
            name = f"{take.path.parent.name}-{take.name}" if number == 2 else f"{take.name}-{number}"
            number += 1
        seen.add(name)
        out.append(replace(take, name=name))
    return out
