"""The models of places, errands and sources in a scene file: what people do, one thing after another."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema, model_serializer, model_validator

from gaitway.scene.area_models import AreaItem
from gaitway.scene.fields import (
    LATEST,
    MOST_POINTS,
    Name,
    Point,
    Pose,
    SceneItem,
    ThingPlace,
    check_number,
    check_pose,
    field,
    is_number,
    pose_schema,
    wrong,
)

HANDLING = ("touch", "press", "take", "put", "give", "hold")
"""Errands with a thing; see `gaitway.scene.things`."""
VERBS = ("go", "wait", "queue", "sit", "look", "meet", *HANDLING, "choose", "repeat", "leave")
"""What an errand can be; each errand has exactly one of these keys."""
CHOICES = ("chance", "distance", "queue")
"""How one of several errands is chosen."""
MOST_ERRANDS = 1000
"""Largest number of errands in one list."""
MOST_TIMES = 10_000
"""Largest number of times that errands are repeated."""
OPTIONS = {
    "go": (), "wait": (), "queue": (), "sit": ("seconds",), "look": ("seconds",), "meet": ("companions", "patience"),
    "choose": ("by", "weights"), "repeat": ("times",), "leave": (),
    "touch": ("hand",), "press": ("hand",), "take": ("hand", "from"), "put": ("at", "on"), "give": ("to", "patience"),
    "hold": ("seconds", "hand"),
}  # fmt: skip
"""Keys that may stand beside each verb."""


def _seconds(value: Any) -> Any:
    form = "seconds, such as 12, or [least, most] to draw from, such as [5, 20]"
    if is_number(value):
        check_number(value, 0.0, LATEST, form)
        return (float(value), float(value))
    if not isinstance(value, tuple) or len(value) != 2 or not all(map(is_number, value)):
        raise wrong("is not a time", form)
    for number in value:
        check_number(number, 0.0, LATEST, form)
    if value[0] > value[1]:
        raise wrong("has the greater time first", form)
    return (float(value[0]), float(value[1]))


_seconds_schema = WithJsonSchema(
    {
        "anyOf": [
            {"type": "number", "minimum": 0, "maximum": LATEST},
            {
                "type": "array",
                "items": {"type": "number", "minimum": 0, "maximum": LATEST},
                "minItems": 2,
                "maxItems": 2,
            },
        ]
    }
)
Seconds = Annotated[tuple[float, float], BeforeValidator(_seconds), _seconds_schema]
"""Least and greatest time, between which it is drawn [s]."""


def _target(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if not isinstance(value, tuple):
        raise wrong("is not a place", "the name of a place or of a character, or [x, y]")
    return check_pose(value)


Target = Annotated[
    str | tuple[float, ...],
    BeforeValidator(_target),
    WithJsonSchema({"anyOf": [{"type": "string"}, pose_schema.json_schema]}),
]
"""The name of a place or of a character, or a point."""


def _hand(value: Any) -> Any:
    if value not in ("left", "right", "any"):
        raise wrong("is not a hand", "left, right or any")
    return value


Hand = Annotated[str, BeforeValidator(_hand), WithJsonSchema({"enum": ["left", "right", "any"]})]
"""A hand, or either."""


class WaitItem(SceneItem):
    """How long to wait: some seconds, or until something. `wait: 12` is short for `wait: {seconds: 12}`."""

    seconds: Seconds | None = field("How long: seconds, or [least, most] to draw from", None, unit="s", example=12)
    until: float | None = field("Until this time of the run", None, unit="s", ge=0.0, le=LATEST)
    event: Name | None = field("Until an event of this name has happened", None, example="train stands")
    mover: Name | None = field("Until the mover of this name has come and stands", None, example="train")

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        return value if isinstance(value, dict) else {"seconds": value}

    @model_validator(mode="after")
    def _one_end(self) -> WaitItem:
        given = [key for key in ("seconds", "until", "event", "mover") if getattr(self, key) is not None]
        if len(given) != 1:
            what = f"has both {given[0]} and {given[1]}" if given else "has no end"
            raise wrong(what, "seconds, {until: 60}, {event: name} or {mover: name}")
        return self

    @model_serializer(mode="wrap")
    def _shortly(self, handler: Any) -> Any:
        return list(self.seconds) if self.seconds is not None else handler(self)


class ErrandItem(SceneItem):
    """One thing that somebody does: exactly one of the verbs, and what belongs to it."""

    go: Target | None = field("Walk to a place, into an area, to a point, or up to somebody", None, example="kiosk")
    wait: WaitItem | None = field(
        "Stand and wait: seconds, {until: ...}, {event: ...} or {mover: ...}", None, example=12
    )
    queue: Name | None = field("Stand in the line of a place with `service`, and be served", None, example="counter")
    sit: Name | None = field("Sit on a free seat of a place", None, example="bench")
    look: Target | None = field("Turn towards a place, a point or somebody", None, example="screen")
    meet: Target | None = field("Go to a place and wait there for companions", None, example="fountain")
    touch: Name | None = field("Touch a thing of `objects` with the fingers", None, example="vase")
    press: Name | None = field("Press a thing, such as a switch: `rules` may wait for that", None, example="switch")
    take: Name | None = field("Take a thing and carry it", None, example="cup")
    put: Name | None = field("Put down a thing that is carried: `at` a place, or `on` something", None, example="cup")
    give: Name | None = field("Give a thing that is carried to somebody, hand to hand", None, example="cup")
    hold: Name | None = field(
        "Hold a thing that is carried up before the chest, or a fixed one where it is", None, example="cup"
    )
    choose: tuple[tuple[ErrandItem, ...], ...] | None = field(
        "Lists of errands, one of which is done", None, min_length=1, max_length=100
    )
    repeat: tuple[ErrandItem, ...] | None = field(
        "Errands that are done several times", None, min_length=1, max_length=MOST_ERRANDS
    )
    leave: Target | None = field("Go to an exit and be gone", None, example="door")
    seconds: Seconds | None = field(
        "With `look`, `hold` or `sit`: how long, or [least, most]; 3, 3 or 30 by default", None, unit="s"
    )
    by: Annotated[str, Field(pattern=f"^({'|'.join(CHOICES)})$")] | None = field(
        "With `choose`: by chance, by distance (the nearest) or by queue (the shortest); chance by default", None
    )
    weights: tuple[Annotated[float, Field(ge=0.0, le=1e6)], ...] | None = field(
        "With `choose` by chance: how likely each list is", None, max_length=100
    )
    times: int | None = field("With `repeat`: how often; 2 by default", None, ge=1, le=MOST_TIMES)
    companions: tuple[Name, ...] | None = field(
        "With `meet`: names of those who meet; the members of its own group by default", None, max_length=1000
    )
    patience: float | None = field(
        "With `meet` or `give`: longest time to wait for the others; 120 by default", None, unit="s", ge=0.0, le=LATEST
    )
    hand: Hand | None = field("With `touch`, `press`, `take` or `hold`: left, right or any; by default any", None)
    giver: Name | None = field(
        "With `take`: who has the thing now, in a hand or on the head", None, alias="from", example="bob"
    )
    to: Name | None = field("With `give`: who gets it", None, example="bob")
    at: ThingPlace | None = field(
        "With `put`: where, [x, y, z] or [x, y, z, yaw_deg], the middle of the underside", None, example=[4, 2, 0.75]
    )
    on: Name | None = field("With `put`: the obstacle on which it is put, or `head`: one's own", None, example="table")

    @model_validator(mode="before")
    @classmethod
    def _a_map(cls, value: Any) -> Any:
        if isinstance(value, str):
            example = cls.model_fields[value].examples if value in VERBS else None
            shown = f"{{{value}: {example[0]}}}" if example else "{go: kiosk}"
            raise wrong("is a word alone", f"what to do and where, such as {shown}")
        return value

    @model_validator(mode="after")
    def _one_verb(self) -> ErrandItem:
        given = [verb for verb in VERBS if getattr(self, verb) is not None]
        if len(given) != 1:
            what = f"has both {given[0]} and {given[1]}" if given else "says nothing to do"
            raise wrong(what, f"one of {', '.join(VERBS)}")
        verb = given[0]
        keys = {k: k for options in OPTIONS.values() for k in options} | {"from": "giver"}
        beside = [key for key, name in keys.items() if getattr(self, name) is not None]
        if odd := [key for key in beside if key not in OPTIONS[verb]]:
            allowed = f"{verb} with {' and '.join(OPTIONS[verb])}" if OPTIONS[verb] else f"{verb} alone"
            raise wrong(f"has {odd[0]} beside {verb}", allowed)
        if self.give is not None and self.to is None:
            raise wrong("gives it to nobody", "give: thing, to: name")
        if self.put is not None and (self.at is None) == (self.on is None):
            what = "has both at and on" if self.at is not None else "puts it nowhere"
            raise wrong(what, "put: thing with at: [x, y, z], or on: the name of an obstacle, or on: head")
        if self.weights is not None and self.choose is not None:
            if len(self.weights) != len(self.choose) or sum(self.weights) <= 0.0:
                raise wrong(
                    f"has {len(self.weights)} weights for {len(self.choose)} lists", "a weight for each list, not all 0"
                )
            if self.by not in (None, "chance"):
                raise wrong(f"has weights and is chosen by {self.by}", "weights with by: chance alone")
        return self


class SeatItem(SceneItem):
    """A seat: where somebody sits, and which way."""

    at: Pose = field(
        "Middle of the seat's front edge and the way the sitter looks: [x, y, yaw_deg]", example=[3, 4, 90]
    )
    height: float = field("Height of its top above the floor", 0.45, unit="m", ge=0.38, le=0.55)
    depth: float = field("From its front edge to its back", 0.42, unit="m", ge=0.2, le=1.0)

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        return {"at": value} if isinstance(value, tuple) else value

    @model_validator(mode="after")
    def _turned(self) -> SeatItem:
        if len(self.at) < 3:
            raise wrong("has a seat without a direction", "[x, y, yaw_deg]: the way the sitter looks")
        return self


class PlaceItem(SceneItem):
    """A place with a name: a point, an area, a line before a server, or seats. `[x, y]` is short for `{at: [x, y]}`."""

    at: Pose | None = field("A point: [x, y], or [x, y, yaw_deg] to face a direction there", None, example=[13, 8])
    area: AreaItem | None = field("An area, anywhere in it", None)
    line: tuple[Point, ...] | None = field(
        "Where people queue, from the place where they are served backwards; without it the line forms by itself",
        None, unit="m", min_length=2, max_length=MOST_POINTS, example=[[6, 4], [6, 9]],
    )  # fmt: skip
    service: Seconds | None = field(
        "People queue here, and are served for so many seconds each, or [least, most]", None, unit="s", example=[8, 15]
    )
    spacing: float = field("Distance between those who queue", 0.9, unit="m", ge=0.5, le=5.0)
    seats: tuple[SeatItem, ...] | None = field("Seats", None, min_length=1, max_length=MOST_POINTS)
    floor: Name | None = field("Its floor: the name of a platform, or ground", None, example="deck")

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        return {"at": value} if isinstance(value, tuple) else value

    @model_validator(mode="after")
    def _somewhere(self) -> PlaceItem:
        given = [key for key in ("at", "area", "line", "seats") if getattr(self, key) is not None]
        if len(given) != 1:
            what = f"has both {given[0]} and {given[1]}" if given else "is nowhere"
            raise wrong(what, "[x, y], or one of {area: ...}, {line: ...} or {seats: ...}")
        if self.line is not None and self.service is None:
            raise wrong("has a line without a time of service", "service: 10, or [least, most] seconds")
        if self.service is not None and self.line is None and (self.at is None or len(self.at) < 3):
            raise wrong("serves people who face no direction", "at: [x, y, yaw_deg], or a line: [[x, y], ...]")
        return self

    @model_serializer(mode="wrap")
    def _shortly(self, handler: Any) -> Any:
        return list(self.at) if self.at is not None and self.model_fields_set == {"at"} else handler(self)


EVERYBODY = "everybody"


class RuleItem(SceneItem):
    """A rule: when something happens, it has a name that people can wait for, and it may send people elsewhere."""

    event: Name = field("Name of what happens; `wait: {event: ...}` waits for it", example="train stands")
    at: float | None = field("It happens at this time", None, unit="s", ge=0.0, le=LATEST, example=120)
    after: Name | None = field("It happens after another event", None, example="train stands")
    delay: float = field("So long after that", 0.0, unit="s", ge=0.0, le=LATEST)
    reach: Name | None = field("It happens when somebody has come to this place", None, example="hall")
    press: Name | None = field("It happens when somebody has pressed this thing", None, example="switch")
    count: int = field("So many people must have come there", 1, ge=1, le=1_000_000)
    send: tuple[Name, ...] | str | None = field(
        "Who gives up everything else then and does `errands`: names of characters, groups or sources, or everybody",
        None, example=EVERYBODY,
    )  # fmt: skip
    errands: tuple[ErrandItem, ...] | None = field(
        "What these do, such as [{leave: exit}]", None, min_length=1, max_length=MOST_ERRANDS
    )

    open: tuple[Name, ...] | None = field(
        "Doors that open then, by name", None, min_length=1, max_length=MOST_POINTS, example=["gate"]
    )
    close: tuple[Name, ...] | None = field(
        "Doors that close then, as soon as nobody is in the doorway", None, min_length=1, max_length=MOST_POINTS
    )

    @model_validator(mode="after")
    def _one_cause(self) -> RuleItem:
        given = [key for key in ("at", "after", "reach", "press") if getattr(self, key) is not None]
        if len(given) != 1:
            what = f"has both {given[0]} and {given[1]}" if given else "never happens"
            raise wrong(what, "at: seconds, after: event, reach: place, or press: thing")
        if self.delay and self.after is None:
            raise wrong("has a delay after nothing", "after: event, delay: seconds")
        if self.count > 1 and self.reach is None:
            raise wrong("has a count of people and no place", "reach: place, count: people")
        if both_ways := [name for name in self.open or () if name in (self.close or ())]:
            raise wrong(f"both opens and closes '{both_ways[0]}'", "two rules, one after the other")
        if isinstance(self.send, str) and self.send != EVERYBODY:
            raise wrong(f"sends '{self.send}'", f"send: {EVERYBODY}, or a list of names")
        if (self.send is None) != (self.errands is None):
            both = self.send is None
            raise wrong(
                "sends nobody on errands" if both else "sends people nowhere", "both send: ... and errands: [...]"
            )
        return self
