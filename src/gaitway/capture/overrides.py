"""The override file `gaitway-import.yaml`, in which a user corrects what an import decides.

It lies in the folder of the captures or beside that folder:

name: anna
mirror: false
thresholds: {jump_flight_s: 0.35}
library: {behaviors: 60, leave_out: ["*duck*"]}
files:
  take_07.bvh: {skip: true}
  take_09: {fps: 60, floor: -0.9}
  "jump_*":
    labels:
      - {start_s: 1.2, stop_s: 2.4, kind: jump}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatch
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from gaitway.capture.recognising.measures import TakeMeasures
from gaitway.capture.recognising.phases import KINDS, make_phase
from gaitway.capture.recognising.specials import SPECIAL_KINDS, stated_special
from gaitway.capture.takes import LibraryWishes, MotionPhase, PreparedTake, PrepareOptions, SpecialMotion
from gaitway.core.errors import LibraryError
from gaitway.core.suggest import did_you_mean, nearest
from gaitway.motion.roles import ALL_ROLES
from gaitway.scene.fields import SceneItem, field, wrong
from gaitway.scene.problem import Problem, place_text, shown
from gaitway.scene.reading.messages import findings
from gaitway.scene.reading.nodes import Node, read_nodes

FILE_NAME = "gaitway-import.yaml"
LabelKind = Literal[
    "stand", "walk", "jog", "run", "back", "side", "turn", "crawl", "other", "jump", "duck", "step", "plain"
]


class LabelItem(SceneItem):
    """Motion in a part of a take."""

    start_s: float = field("Where it begins", unit="s", ge=0.0, example=1.2)
    stop_s: float = field("Where it ends", unit="s", gt=0.0, example=2.4)
    kind: LabelKind = field(
        "Kind of motion (stand, walk, jog, run, back, side, turn, crawl, other), a special motion (jump, duck, "
        "crawl, step), or plain: no special motion here, even if one is recognised"
    )

    @model_validator(mode="after")
    def _in_order(self) -> LabelItem:
        if self.stop_s <= self.start_s:
            raise wrong("ends before it begins", "a stop_s after start_s")
        return self


class FileItem(SceneItem):
    """Statements about one file, or about all files whose name matches a pattern."""

    skip: bool = field("Whether the file is left out", False)
    fps: float | None = field(
        "True frame rate, if the file states a wrong one", None, unit="Hz", gt=0.0, le=1000.0, example=60
    )
    unit: float | None = field("Metres in a unit of the file", None, unit="m", gt=0.0, le=1000.0, example=0.01)
    up: Literal["x", "y", "z"] | None = field("Vertical axis", None)
    floor: float | None = field("Height of the floor", None, unit="m", ge=-100.0, le=100.0, example=-0.9)
    belt: float | None = field(
        "Speed of the treadmill under the walker", None, unit="m/s", gt=0.0, le=15.0, example=1.2
    )
    mirror: bool = field("Whether the mirror image is used too", True)
    start_s: float = field("Begin of the part to use", 0.0, unit="s", ge=0.0)
    stop_s: float | None = field("End of the part to use", None, unit="s", gt=0.0)
    labels: tuple[LabelItem, ...] = field("Motions that are recognised wrongly, with their times", ())


class FilesItem(SceneItem):
    """Statements by the name of a file, with or without its ending, or by a pattern of names."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, FileItem] = Field(init=False)

    @property
    def by_name(self) -> dict[str, FileItem]:
        """The statements by name or pattern, in the order of the override file."""
        return dict(self.__pydantic_extra__)


def _share(text: str) -> Any:
    return field(text, None, gt=0.0, le=1.5)


def _length(text: str, unit: str) -> Any:
    return field(text, None, unit=unit, gt=0.0, le=100.0)


class ThresholdsItem(SceneItem):
    """Limits for the recognition of motions, for a leg of 0.85 m."""

    stand_speed: float | None = _length("Speed below which a character stands", "m/s")
    move_speed: float | None = _length("Speed above which a character travels", "m/s")
    run_speed: float | None = _length("Speed below which a gait with flights is a jog", "m/s")
    walk_speed: float | None = _length("Speed above which a gait is no walk", "m/s")
    turn_rate: float | None = _length("Rate above which turning on one spot is a turn", "rad/s")
    low_head: float | None = _share("Share of the standing head height below which a character is low")
    low_pelvis: float | None = _share("Share of the standing pelvis height below which a character is low")
    crawl_head: float | None = _share("Share of the standing head height below which a character crawls")
    bent_deg: float | None = field("Lean above which a walk counts as bent", None, unit="degrees", gt=0.0, le=90.0)
    jump_flight_s: float | None = _length("Duration above which a flight is a jump", "s")
    jump_rise: float | None = _length("Rise of the pelvis above which a flight is a jump", "m")
    step_height: float | None = _length("Height above which a resting foot stands on an object", "m")
    shortest_phase_s: float | None = _length("Duration below which a phase joins its neighbours", "s")


def _pair(text: str, unit: str) -> Any:
    return field(f"{text}: limits to begin and to keep a contact", None, unit=unit)


class ContactsItem(SceneItem):
    """Limits of foot contacts, for a leg of 0.85 m."""

    height: tuple[float, float] | None = _pair("Height over the height at rest", "m")
    speed: tuple[float, float] | None = _pair("Speed", "m/s")
    speed_share: tuple[float, float] | None = _pair("Added speed for each m/s of the pelvis", "m/s")
    settled: tuple[float, float] | None = _pair("Distance from the place at which the point rests", "m")
    shortest_s: float | None = _length("Duration below which a contact is dropped", "s")
    smoothing_s: float | None = _length("Width of the filter before speeds are computed", "s")


def _known_roles(value: Any) -> Any:
    for role in value if isinstance(value, dict) else ():
        if role not in ALL_ROLES:
            near = nearest(str(role), ALL_ROLES)
            raise wrong(f"has {shown(role)}, which is no role", f"'{near}'" if near else f"such as {ALL_ROLES[0]}")
    return value


Roles = Annotated[dict[str, str], BeforeValidator(_known_roles)]


class LibraryOverridesItem(SceneItem):
    """Statements about the library that is made from the takes."""

    make: bool | None = field("Whether missing motions are made: starts, stops, turns", None)
    clips: int | None = field("Largest number of clips of a behaviour", None, ge=1, le=1000)
    behaviors: int | None = field("Largest number of behaviours", None, ge=10, le=10_000)
    leave_out: tuple[str, ...] = field("Behaviours to leave out, by name or pattern", (), example=("*duck*",))


class OverridesItem(SceneItem):
    """Override file as a whole."""

    name: str | None = field("Name of the library", None, min_length=1, max_length=100)
    mirror: bool | None = field("Whether mirror images are added", None)
    mixed: bool | None = field("Whether takes of other people are put on the main person's skeleton", None)
    fps: float | None = field("Frame rate of the library", None, unit="Hz", ge=10.0, le=240.0)
    thresholds: ThresholdsItem = field("Limits for the recognition of motions", ThresholdsItem())
    contacts: ContactsItem = field("Limits of foot contacts", ContactsItem())
    roles: Roles = field(
        "Roles of joints that their names do not tell: role and joint", {}, example={"left_knee": "shin_L"}
    )
    library: LibraryOverridesItem = field("Statements about the library", LibraryOverridesItem())
    files: FilesItem = field("Statements about single files", FilesItem())

    def file(self, path: Path) -> FileItem:
        """Return the statements about a file: by its exact name, else by its name without ending, else by pattern."""
        entries = self.files.by_name
        for name in (path.name, path.stem):
            if name in entries:
                return entries[name]
        found = (
            item for pattern, item in entries.items() if fnmatch(path.name, pattern) or fnmatch(path.stem, pattern)
        )
        return next(found, FileItem())


def find_overrides(folder: Path) -> Path | None:
    """Return the override file in a folder or beside it; None if there is none."""
    return next((path for path in (folder / FILE_NAME, folder.parent / FILE_NAME) if path.is_file()), None)


def read_overrides(path: Path, files: Sequence[Path]) -> OverridesItem:
    """Read an override file.

    Args:
        path: Override file.
        files: Capture files that it may name.

    Raises:
        LibraryError: If a statement is wrong; the message names the file, the line and the place.
        FormatError: If the file is not YAML.
    """
    nodes = read_nodes(path)
    data = nodes.plain()
    if data is None:
        return OverridesItem()
    if not isinstance(data, dict):
        raise _error(path, nodes, (), "is not a map; write keys and values, such as mirror: false")
    for place in nodes.empty():
        raise _error(path, nodes, place, "nothing is written; write a value, or leave the key out")
    try:
        overrides = OverridesItem.model_validate(data)
    except ValidationError as error:
        place, text, key = findings(error, OverridesItem)[0]
        raise _error(path, nodes, place, text, key) from None
    for name in overrides.files.by_name:
        if not any(fnmatch(file.name, name) or fnmatch(file.stem, name) or name == file.name for file in files):
            known = [f.name for f in files] + [f.stem for f in files]
            hint = did_you_mean(name, known) or "; name a capture file of the folder"
            raise _error(path, nodes, ("files", name), f"no such capture{hint}", True)
    return overrides


def _error(path: Path, nodes: Node, place: tuple[str | int, ...], text: str, key: bool = False) -> LibraryError:
    written = nodes.written(place)
    return LibraryError(str(Problem(place_text(written), text, path, nodes.line_of(written, key))))


def apply_overrides(options: PrepareOptions, overrides: OverridesItem) -> PrepareOptions:
    """Return the options with the statements of the override file that concern all takes."""
    plain = {key: getattr(overrides, key) for key in ("name", "mirror", "mixed", "fps")}
    return replace(
        options,
        **{key: value for key, value in plain.items() if value is not None},
        thresholds=replace(options.thresholds, **_given(overrides.thresholds)),
        contacts=replace(options.contacts, **_given(overrides.contacts)),
    )


def library_wishes(overrides: OverridesItem) -> LibraryWishes:
    """Return the statements of the override file about the library."""
    return LibraryWishes(**overrides.library.model_dump())


def _given(item: SceneItem) -> dict[str, Any]:
    return item.model_dump(exclude_none=True)


def apply_labels(take: PreparedTake, labels: Sequence[LabelItem], measures: TakeMeasures) -> PreparedTake:
    """Return the take with the recognised motions replaced by the labels, from each label's start to its stop."""
    phases, specials = take.phases, list(take.specials)
    for label in labels:
        start = min(round(label.start_s * take.clip.fps), len(take.clip) - 1)
        stop = min(round(label.stop_s * take.clip.fps) + 1, len(take.clip))
        if label.kind in KINDS:
            phases = _with_phase(phases, start, stop, label.kind, measures)
        specials = [s for s in specials if not start <= s.pass_frame < stop]
        if label.kind in SPECIAL_KINDS:
            specials.append(stated_special(measures, label.kind, start, stop))
    ordered: tuple[SpecialMotion, ...] = tuple(sorted(specials, key=lambda s: (s.start, s.stop)))
    return replace(take, phases=phases, specials=ordered)


def _with_phase(
    phases: Sequence[MotionPhase], start: int, stop: int, kind: str, measures: TakeMeasures
) -> tuple[MotionPhase, ...]:
    """Return the phases with the frames from `start` to `stop` set to one kind; other frames keep theirs."""
    names = [""] * len(measures)
    for phase in phases:
        names[phase.start : phase.stop] = [f"{phase.kind}:{phase.detail}"] * (phase.stop - phase.start)
    names[start:stop] = [f"{kind}:"] * (stop - start)
    edges = [0, *(i for i in range(1, len(names)) if names[i] != names[i - 1]), len(names)]
    return tuple(make_phase(measures, a, b, names[a]) for a, b in pairwise(edges))
