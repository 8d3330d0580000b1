"""What a person knows better: `gaitway-import.yaml`, in the folder of the captures or beside it.

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

import dataclasses
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
from gaitway.core.suggest import nearest
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
    """What somebody does in a part of a take."""

    start_s: float = field("Where it begins", unit="s", ge=0.0, example=1.2)
    stop_s: float = field("Where it ends", unit="s", gt=0.0, example=2.4)
    kind: LabelKind = field(
        "A way of moving (stand, walk, jog, run, back, side, turn, crawl, other), something special (jump, duck, "
        "crawl, step), or plain: nothing special, whatever it looks like"
    )

    @model_validator(mode="after")
    def _in_order(self) -> LabelItem:
        if self.stop_s <= self.start_s:
            raise wrong("ends before it begins", "a stop_s after start_s")
        return self


class FileItem(SceneItem):
    """What is known about one file, or about all whose name fits a pattern."""

    skip: bool = field("Leave it out", False)
    fps: float | None = field("Its true rate, where the file is wrong", None, unit="Hz", gt=0.0, le=1000.0, example=60)
    unit: float | None = field("Metres in a unit of the file", None, unit="m", gt=0.0, le=1000.0, example=0.01)
    up: Literal["x", "y", "z"] | None = field("Its vertical axis", None)
    floor: float | None = field("Height of its floor", None, unit="m", ge=-100.0, le=100.0, example=-0.9)
    belt: float | None = field("Speed of the treadmill it walks on", None, unit="m/s", gt=0.0, le=15.0, example=1.2)
    mirror: bool = field("Use its mirror image too", True)
    start_s: float = field("Use it from here", 0.0, unit="s", ge=0.0)
    stop_s: float | None = field("Use it up to here", None, unit="s", gt=0.0)
    labels: tuple[LabelItem, ...] = field("What happens when, where it was not recognised", ())


class FilesItem(SceneItem):
    """By name of a file, with or without its ending, or by pattern."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, FileItem] = Field(init=False)

    @property
    def by_name(self) -> dict[str, FileItem]:
        """The entries in their order."""
        return dict(self.__pydantic_extra__)


def _share(text: str) -> Any:
    return field(text, None, gt=0.0, le=1.5)


def _length(text: str, unit: str) -> Any:
    return field(text, None, unit=unit, gt=0.0, le=100.0)


class ThresholdsItem(SceneItem):
    """Limits of the judgements, for a leg of 0.85 m."""

    stand_speed: float | None = _length("Slower is standing", "m/s")
    move_speed: float | None = _length("Faster is going somewhere", "m/s")
    run_speed: float | None = _length("Slower gaits with flight are jogs", "m/s")
    walk_speed: float | None = _length("No walk is faster", "m/s")
    turn_rate: float | None = _length("Turning faster on one spot is a turn", "rad/s")
    low_head: float | None = _share("Share of the standing head height below which somebody is low")
    low_pelvis: float | None = _share("The same for the pelvis")
    crawl_head: float | None = _share("Head height below which somebody crawls")
    bent_deg: float | None = field("Who leans farther while walking is bent", None, unit="degrees", gt=0.0, le=90.0)
    jump_flight_s: float | None = _length("Longer flights are jumps", "s")
    jump_rise: float | None = _length("Flights in which the pelvis rises more are jumps", "m")
    step_height: float | None = _length("A foot that rests higher stands on something", "m")
    shortest_phase_s: float | None = _length("Shorter phases join their neighbours", "s")


def _pair(text: str, unit: str) -> Any:
    return field(f"{text}: to begin, to go on", None, unit=unit)


class ContactsItem(SceneItem):
    """Limits of contacts, for a leg of 0.85 m."""

    height: tuple[float, float] | None = _pair("Height over rest", "m")
    speed: tuple[float, float] | None = _pair("Speed", "m/s")
    speed_share: tuple[float, float] | None = _pair("Added speed for each m/s of the pelvis", "m/s")
    settled: tuple[float, float] | None = _pair("Distance from where the point rests", "m")
    shortest_s: float | None = _length("Shorter contacts are dropped", "s")
    smoothing_s: float | None = _length("Width of the filter before speeds are taken", "s")


def _known_roles(value: Any) -> Any:
    for role in value if isinstance(value, dict) else ():
        if role not in ALL_ROLES:
            near = nearest(str(role), ALL_ROLES)
            raise wrong(f"has {shown(role)}, which is no role", f"'{near}'" if near else f"such as {ALL_ROLES[0]}")
    return value


Roles = Annotated[dict[str, str], BeforeValidator(_known_roles)]


class LibraryOverridesItem(SceneItem):
    """What becomes of the takes."""

    make: bool | None = field("Whether what is lacking may be made: starts, stops, turns", None)
    clips: int | None = field("Most clips of a behaviour", None, ge=1, le=1000)
    behaviors: int | None = field("Most behaviours", None, ge=10, le=10_000)
    leave_out: tuple[str, ...] = field("Behaviours that are not wanted, by name or pattern", (), example=("*duck*",))


class OverridesItem(SceneItem):
    """The whole file."""

    name: str | None = field("Name of the library", None, min_length=1, max_length=100)
    mirror: bool | None = field("Add mirror images", None)
    mixed: bool | None = field("Put takes of other people on the main person's skeleton", None)
    fps: float | None = field("Rate of the library", None, unit="Hz", ge=10.0, le=240.0)
    thresholds: ThresholdsItem = field("Limits of what is recognised", ThresholdsItem())
    contacts: ContactsItem = field("Limits of foot contacts", ContactsItem())
    roles: Roles = field(
        "Joints that are not known by their names: role and joint", {}, example={"left_knee": "shin_L"}
    )
    library: LibraryOverridesItem = field("What becomes of the takes", LibraryOverridesItem())
    files: FilesItem = field("What is known about single files", FilesItem())

    def file(self, path: Path) -> FileItem:
        """What is said about a file; its exact name wins over its name without ending, that over patterns."""
        entries = self.files.by_name
        for name in (path.name, path.stem):
            if name in entries:
                return entries[name]
        found = (
            item for pattern, item in entries.items() if fnmatch(path.name, pattern) or fnmatch(path.stem, pattern)
        )
        return next(found, FileItem())


def find_overrides(folder: Path) -> Path | None:
    """The override file in a folder or beside it, if there is one."""
    return next((path for path in (folder / FILE_NAME, folder.parent / FILE_NAME) if path.is_file()), None)


def read_overrides(path: Path, files: Sequence[Path]) -> OverridesItem:
    """Read an override file.

    Args:
        path: the file.
        files: captures that it may speak of.

    Raises:
        LibraryError: naming file, line and place of the first thing that is wrong.
        FormatError: if it is no YAML.
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
            near = nearest(name, [f.name for f in files] + [f.stem for f in files])
            hint = f"did you mean '{near}'?" if near else "name a capture file of the folder"
            raise _error(path, nodes, ("files", name), f"no such capture; {hint}", True)
    return overrides


def _error(path: Path, nodes: Node, place: tuple[str | int, ...], text: str, key: bool = False) -> LibraryError:
    written = nodes.written(place)
    return LibraryError(str(Problem(place_text(written), text, path, nodes.line_of(written, key))))


def apply_overrides(options: PrepareOptions, overrides: OverridesItem) -> PrepareOptions:
    """Options with what the file says as a whole."""
    plain = {key: getattr(overrides, key) for key in ("name", "mirror", "mixed", "fps")}
    return dataclasses.replace(
        options,
        **{key: value for key, value in plain.items() if value is not None},
        thresholds=dataclasses.replace(options.thresholds, **_given(overrides.thresholds)),
        contacts=dataclasses.replace(options.contacts, **_given(overrides.contacts)),
    )


def library_wishes(overrides: OverridesItem) -> LibraryWishes:
    """What the file says about the library."""
    return LibraryWishes(**overrides.library.model_dump())


def _given(item: SceneItem) -> dict[str, Any]:
    return item.model_dump(exclude_none=True)


def apply_labels(take: PreparedTake, labels: Sequence[LabelItem], measures: TakeMeasures) -> PreparedTake:
    """The take with what was recognised replaced, from each label's start to its stop."""
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
    """Phases with frames `start` to `stop` given to one kind; what remains of the others keeps theirs."""
    names = [""] * len(measures)
    for phase in phases:
        names[phase.start : phase.stop] = [f"{phase.kind}:{phase.detail}"] * (phase.stop - phase.start)
    names[start:stop] = [f"{kind}:"] * (stop - start)
    edges = [0, *(i for i in range(1, len(names)) if names[i] != names[i - 1]), len(names)]
    return tuple(make_phase(measures, a, b, names[a]) for a, b in pairwise(edges))
