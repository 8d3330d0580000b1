"""The model of a scene file: all keys with their bounds and units.

A model holds the content of one file without its includes. `gaitway.scene.build_scene` makes a `Scene` of it.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema, model_serializer, model_validator

from gaitway.scene.area_models import AreaItem, GroundAreaItem
from gaitway.scene.door_model import DoorItem
from gaitway.scene.errand_models import MOST_ERRANDS, ErrandItem, PlaceItem, RuleItem
from gaitway.scene.fields import (
    LATEST,
    FileName,
    Name,
    Pose,
    Position,
    Rectangle,
    SceneItem,
    check_number,
    check_pose,
    field,
    pose_schema,
    wrong,
)
from gaitway.scene.lift_model import EscalatorItem, LiftItem
from gaitway.scene.object_models import ObjectItem
from gaitway.scene.world_models import MoverItem, ObstacleItem, SpecialItem, TerrainItem

FORMAT_VERSION = 1
MAX_SEED = 2**32 - 1
"""Greatest seed of a scene."""
MAX_CHARACTERS = 100_000
"""Largest number of characters of a scene: ten times the largest crowd that is planned today. Each character is an
object of its own, so a file of one line that asks for a million of them would take gigabytes."""
MAX_ITEMS = 100_000
"""Largest number of entries of one list of a scene file."""
OPPOSITE = "opposite"
DRAWN = "drawn"
SIZES = (0.8, 1.2)
"""Least and greatest size of a body: those of `gaitway.library.size`, which needs NumPy; a test holds them equal."""
SPEEDS = ("slow", "normal", "hurry", "fast")


def _style(value: Any) -> Any:
    if isinstance(value, str):
        return value
    form = "the name of a style, or a whole number that draws an individual"
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong("is not a style", form)
    check_number(value, 0, 999_999_999, form)
    return value


def _size(value: Any) -> Any:
    form = f"a factor on the height of the body from {SIZES[0]:g} to {SIZES[1]:g}, or {DRAWN}"
    if isinstance(value, str):
        if value != DRAWN:
            raise wrong("is not a size", form)
        return value
    check_number(value, *SIZES, form)
    return float(value)


class LibraryItem(SceneItem):
    """What a character can do: a built-in cast, or a library file."""

    file: FileName | None = field(
        "A library file (`gaitway library import`) relative to this one, instead of a cast",
        None,
        example="people.gwlib",
    )
    cast: Name = field("Built-in cast: person, horse or skateboarder", "person", example="person")
    style: (
        Annotated[
            str | int,
            BeforeValidator(_style),
            WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 0, "maximum": 999_999_999}]}),
        ]
        | None
    ) = field(
        "Style: neutral, style-1 to style-8, a number that draws an individual, or `drawn`: everybody's own",
        None,
        example="style-3",
    )
    takes: int = field("Clips for each behaviour", 1, ge=1, le=100)
    seed: int = field("Seed of the differences between takes", 0, ge=0, le=2**32 - 1)
    size: Annotated[
        str | float,
        BeforeValidator(_size),
        WithJsonSchema({"anyOf": [{"const": DRAWN}, {"type": "number", "minimum": SIZES[0], "maximum": SIZES[1]}]}),
    ] = field("Factor on the height of the body, or `drawn`: everybody's own, as adults differ", 1.0, example=DRAWN)

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, value: Any) -> Any:
        if isinstance(value, dict):
            return value
        if not isinstance(value, str):
            raise wrong("is not a library", "the name of a cast, such as person, or of a file, such as people.gwlib")
        return {"file" if re.search(r"[/\\.]", value) else "cast": value}

    @model_validator(mode="after")
    def _file_or_cast(self) -> LibraryItem:
        if self.file is not None and (more := self.model_fields_set - {"file", "size"}):
            raise wrong(f"has a file and {sorted(more)[0]}", "either a file or a cast with style, takes and seed")
        return self

    @model_serializer(mode="wrap")
    def _shortly(self, handler: Any) -> Any:
        out = handler(self)
        return next(iter(out.values())) if set(out) in ({"cast"}, {"file"}) else out


def _goal(value: Any) -> Any:
    if not isinstance(value, str):
        return check_pose(value)
    if value != OPPOSITE:
        raise wrong("is not a goal", "[x, y], [x, y, yaw_deg], [x, y, yaw_deg, z], or opposite for a group on a ring")
    return value


def _speed(value: Any) -> Any:
    form = "slow, normal, hurry, fast, or metres in a second from 0.05 to 15"
    if isinstance(value, str):
        if value not in SPEEDS:
            raise wrong("is not a speed", form)
        return value
    check_number(value, 0.05, 15.0, form)
    return float(value)


Goal = Annotated[
    str | tuple[float, ...],
    BeforeValidator(_goal),
    WithJsonSchema({"anyOf": [{"const": OPPOSITE}, pose_schema.json_schema]}),
]
Speed = Annotated[
    str | float,
    BeforeValidator(_speed),
    WithJsonSchema({"anyOf": [{"enum": list(SPEEDS)}, {"type": "number", "minimum": 0.05, "maximum": 15}]}),
]


def _table_time(value: Any) -> Any:
    form = "a time in seconds, or [time, number of people], such as [60, 20]"
    time, number = value if isinstance(value, tuple) and len(value) == 2 else (value, 1)
    check_number(time, 0.0, LATEST, form)
    if isinstance(number, bool) or not isinstance(number, int | float) or not float(number).is_integer():
        raise wrong("has a number of people that is not whole", form)
    check_number(number, 1, MAX_CHARACTERS, form)
    return (float(time), float(number))


TableTime = Annotated[
    tuple[float, float],
    BeforeValidator(_table_time),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": 0, "maximum": LATEST},
                {
                    "type": "array",
                    "prefixItems": [
                        {"type": "number", "minimum": 0, "maximum": LATEST},
                        {"type": "integer", "minimum": 1, "maximum": MAX_CHARACTERS},
                    ],
                    "minItems": 2,
                    "maxItems": 2,
                },
            ]
        }
    ),
]
"""A time [s] and how many people come then."""


def _as_errands(goal: Any) -> str:
    """Return how a goal is written as an errand; of an area, by a place."""
    if isinstance(goal, tuple):
        return f"errands: [{{go: [{goal[0]:g}, {goal[1]:g}]}}]"
    return "errands: [{go: there}] and places: {there: {area: ...}}"


class CharacterItem(SceneItem):
    """One character, or a group of `count` characters."""

    name: Name | None = field("Its name; the members of a group are numbered (crowd-01)", None, example="ada")
    count: int | None = field("Number of characters; makes it a group", None, ge=1, le=MAX_CHARACTERS, example=50)
    start: Pose | None = field(
        "Start: [x, y], [x, y, yaw_deg] or [x, y, yaw_deg, z]; without yaw the character faces its goal", None
    )
    start_area: AreaItem | None = field("Area that the character or group starts in", None)
    start_floor: Name | None = field("Floor of the start: the name of a platform, or ground", None, example="deck")
    goal: Goal | None = field(
        "Goal: [x, y], [x, y, yaw_deg] or [x, y, yaw_deg, z]; a group on a ring may have the goal opposite", None
    )
    goal_area: AreaItem | None = field("Area that the goals lie in", None)
    goal_floor: Name | None = field("Floor of the goal: the name of a platform, or ground", None, example="deck")
    errands: tuple[ErrandItem, ...] | None = field(
        "What it does, one errand after another, instead of a goal", None, min_length=1, max_length=MOST_ERRANDS
    )
    companions: int | None = field(
        "Members of a group with errands go together, so many at a time, side by side", None, ge=2, le=5, example=3
    )
    library: LibraryItem | None = field("Its library, instead of the scene's", None)
    plan: dict[str, Any] | None = field("Planner options that override the scene's", None, example={"weight": 2})
    speed: Speed = field("Preferred speed: slow, normal, hurry (walks fast), fast (jogs), or metres a second", "normal")
    age: float | None = field(
        "Age; who is older walks slower, at the speed that people of this age have", None, unit="years",
        ge=18.0, le=100.0, example=72
    )  # fmt: skip
    priority: int = field("Characters of higher priority are planned first", 0, ge=-1000, le=1000)
    radius: float | None = field(
        "Radius of the disc that it keeps clear; by default 0.3 for a person, 0.4 for a skateboarder, 0.8 for a horse",
        None,
        unit="m",
        ge=0.05,
        le=10.0,
    )
    start_time: float = field("Time at which it appears", 0.0, unit="s", ge=0.0, le=LATEST)

    @model_validator(mode="after")
    def _begins_and_goes_somewhere(self) -> CharacterItem:
        if (self.start is None) == (self.start_area is None):
            both = self.start is not None
            raise wrong("has both start and start_area" if both else "has no start", "start: [x, y] or start_area: ...")
        given = [key for key in ("goal", "goal_area", "errands") if getattr(self, key) is not None]
        if len(given) != 1:
            what = f"has both {given[0]} and {given[1]}" if given else "has no goal"
            raise wrong(what, "goal: [x, y], goal_area: ... or errands: [...]")
        if self.count is not None and self.start is not None:
            raise wrong(f"has one start for a count of {self.count}", "start_area: ... for a group")
        if self.companions is not None and self.count is None:
            raise wrong("has companions and is no group", "count: ...")
        if self.companions is not None and self.errands is None:
            raise wrong("has companions and a goal, but companions do errands", _as_errands(self.goal))
        if self.goal == OPPOSITE and (self.start_area is None or self.start_area.ring is None):
            raise wrong("has the goal opposite without a ring to begin on", "start_area: {ring: {center, radius}}")
        return self


class MixItem(SceneItem):
    """One kind of people that a source sends, with what differs from the source's own."""

    share: float = field("How often it is drawn, over the shares of the others", 1.0, gt=0.0, le=1e6)
    library: LibraryItem | None = field("Its library, instead of the source's", None)
    speed: Speed | None = field("Preferred speed, instead of the source's", None)
    age: float | None = field(
        "Age, instead of the source's", None, unit="years",
        ge=18.0, le=100.0, example=72
    )  # fmt: skip
    errands: tuple[ErrandItem, ...] | None = field(
        "What it does, instead of the source's errands", None, min_length=1, max_length=MOST_ERRANDS
    )


class SourceItem(SceneItem):
    """A source: people come in there, one after another, and do errands."""

    name: Name = field("Its name; those who come are numbered (guests-001)", example="guests")
    area: AreaItem = field("Where they come in", example=[0, 4, 2, 8])
    floor: Name | None = field("Floor of the area: the name of a platform, or ground", None, example="deck")
    rate: float | None = field(
        "People a minute on average; they come by chance", None, unit="1/min", gt=0.0, le=6000.0, example=12
    )
    times: tuple[TableTime, ...] | None = field(
        "Timetable instead of a rate: times [s], or [time, number of people]", None, min_length=1, max_length=MAX_ITEMS
    )
    start: float = field("Time from which people come at the rate", 0.0, alias="from", unit="s", ge=0.0, le=LATEST)
    until: float | None = field("Time until which they do", None, unit="s", gt=0.0, le=LATEST)
    count: int | None = field("Most people who come", None, ge=1, le=MAX_CHARACTERS, example=50)
    errands: tuple[ErrandItem, ...] = field(
        "What they do, one errand after another", min_length=1, max_length=MOST_ERRANDS, example=[{"leave": "door"}]
    )
    companions: int | None = field("People come so many at a time, and go together", None, ge=2, le=5, example=2)
    mix: tuple[MixItem, ...] = field("Kinds of people, one of which is drawn for each", (), max_length=1000)
    library: LibraryItem | None = field("Their library, instead of the scene's", None)
    plan: dict[str, Any] | None = field("Planner options that override the scene's", None, example={"weight": 2})
    speed: Speed = field("Preferred speed: slow, normal, hurry (walks fast), fast (jogs), or metres a second", "normal")
    age: float | None = field(
        "Age; who is older walks slower, at the speed that people of this age have", None, unit="years",
        ge=18.0, le=100.0, example=72
    )  # fmt: skip

    @model_validator(mode="after")
    def _ends(self) -> SourceItem:
        if (self.rate is None) == (self.times is None):
            both = self.rate is not None
            what = "has both rate and times" if both else "sends nobody"
            raise wrong(what, "rate: people a minute, or times: [...]")
        if self.rate is not None and self.until is None and self.count is None:
            raise wrong("never ends", "until: seconds, or count: people")
        if self.until is not None and self.until <= self.start:
            raise wrong(f"is over at {self.until:g} s, before it begins", f"until: more than {self.start:g}")
        return self


class CameraItem(SceneItem):
    """The camera of a scene's films: where it stands and where it looks."""

    eye: Position = field("Where the camera stands: x, y, z", unit="m", example=[20, -8, 6])
    target: Position = field("The point in the middle of the picture: x, y, z", unit="m", example=[20, 15, 1])
    field_deg: float = field("Vertical opening angle", 35.0, unit="degrees", ge=1.0, le=150.0)

    @model_validator(mode="after")
    def _looks_somewhere(self) -> CameraItem:
        if math.dist(self.eye, self.target) < 1e-3:
            raise wrong("has eye and target at the same point", "a target away from the eye, such as [20, 15, 1]")
        return self


def items(text: str) -> Any:
    """Return a field for a list of entries."""
    return field(text, (), max_length=MAX_ITEMS)


def _version(value: Any) -> Any:
    if isinstance(value, bool) or value != FORMAT_VERSION or not isinstance(value, int):
        raise wrong("is no version of the format that this gaitway reads", f"gaitway: {FORMAT_VERSION}")
    return value


class SceneModel(SceneItem):
    """A scene: a world, and characters with starts and goals."""

    gaitway: Annotated[int, BeforeValidator(_version), WithJsonSchema({"const": FORMAT_VERSION})] | None = field(
        "Version of the format; an included file may leave it out", None, example=FORMAT_VERSION
    )
    title: str | None = field("Title of the scene", None, max_length=200)
    description: str | None = field("Description of what the scene shows", None, max_length=10_000)
    seed: int | None = field("Seed of all random choices; 0 by default", None, ge=0, le=MAX_SEED)
    library: LibraryItem | None = field("Library of the characters' behaviours; person by default", None)
    include: tuple[FileName, ...] = field(
        "Scene files, relative to this one. Their lists come before those of this file; single values of this file win",
        (),
        max_length=100,
    )
    bounds: Rectangle | None = field(
        "xmin, ymin, xmax, ymax; no character may leave", None, unit="m", example=[0, 0, 40, 30]
    )
    obstacles: tuple[ObstacleItem, ...] = items("Obstacles that no character may touch")
    specials: tuple[SpecialItem, ...] = items("Obstacles that only a behaviour of their kind can pass")
    movers: tuple[MoverItem, ...] = items("Obstacles that move along known paths")
    doors: tuple[DoorItem, ...] = items("Doors that rules open and close, see [doors](errands.md#doors)")
    lifts: tuple[LiftItem, ...] = items("Platforms that go up and down between floors, see [lifts](levels.md#lifts)")
    escalators: tuple[EscalatorItem, ...] = items("Strips that carry people, see [escalators](levels.md#escalators)")
    terrain: TerrainItem | None = field("Ground that is not level", None)
    areas: tuple[GroundAreaItem, ...] = items("Ground that people avoid or like, and rules of how they walk there")
    characters: tuple[CharacterItem, ...] = items("Characters with starts and goals")
    places: dict[Name, PlaceItem] = field("Places by name, for errands", {}, max_length=MAX_ITEMS)
    objects: tuple[ObjectItem, ...] = items("Small things that people handle, and switches")
    sources: tuple[SourceItem, ...] = items("Sources of people who come in and do errands")
    rules: tuple[RuleItem, ...] = items("What happens when, whom it sends on other errands, and which doors it moves")
    end: float | None = field(
        "Time at which a run of errands ends; by default when everybody has done", None, unit="s", gt=0.0, le=LATEST
    )
    plan: dict[str, Any] | None = field("Which planner, and its options", None, example={"planner": "behavior"})
    camera: CameraItem | None = field("Where films of the scene are taken from", None)
