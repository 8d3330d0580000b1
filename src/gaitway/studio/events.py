"""What users do in the studio, as plain data that can be checked, recorded and played again.

An event is a frozen data class whose fields are numbers and words. From a page or a file it comes as a dictionary with
its name under "do", such as {"do": "set_goal", "character": "ada", "x": 3.0, "y": 4.0}; `event_from` checks it. The
engine checks every event in the same way (`checked`), whoever made it, so that nothing else is ever carried out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from gaitway.core.errors import StudioError

FARTHEST = 100_000.0
"""Largest coordinate that is accepted [m]."""
LARGEST = 1_000.0
"""Largest size that is accepted [m]."""
LONGEST = 200
"""Largest number of letters of a word."""
MOST_PEOPLE = 20_000
"""Largest number of characters that may be added at once."""

SPEEDS = (0.05, 16.0)
"""Least and greatest speed, in multiples of that of life."""
MOST_FRAMES = 3_600
"""Largest number of frames that are stepped through at once."""

_LIMITS: Mapping[str, tuple[float, float]] = {
    "x": (-FARTHEST, FARTHEST),
    "y": (-FARTHEST, FARTHEST),
    "goal_x": (-FARTHEST, FARTHEST),
    "goal_y": (-FARTHEST, FARTHEST),
    "yaw_deg": (-36_000.0, 36_000.0),
    "length": (0.05, LARGEST),
    "width": (0.05, LARGEST),
    "height": (0.05, 100.0),
    "bottom": (-LARGEST, LARGEST),
    "radius": (0.1, LARGEST),
    "count": (1, MOST_PEOPLE),
    "frames": (1, MOST_FRAMES),
    "factor": SPEEDS,
    "time": (0.0, 1e6),
    "forward": (-1.0, 1.0),
    "turn": (-1.0, 1.0),
    "seed": (0, 2**32 - 1),
    "rate": (0.1, 600.0),
}
"""Least and greatest value of numbers, by the name of their field."""


class StudioEvent:
    """Anything that a user does."""


@dataclass(frozen=True)
class Play(StudioEvent):
    """Let time go on."""


@dataclass(frozen=True)
class Pause(StudioEvent):
    """Let time stand still."""


@dataclass(frozen=True)
class Step(StudioEvent):
    """Go on by some frames, and pause."""

    frames: int = 1


@dataclass(frozen=True)
class SetSpeed(StudioEvent):
    """Set how many times as fast as in life time goes."""

    factor: float


@dataclass(frozen=True)
class SetMode(StudioEvent):
    """Switch between the live scene and a take."""

    mode: Literal["live", "take"]


@dataclass(frozen=True)
class CancelPlanning(StudioEvent):
    """Give up the take that is being planned."""


@dataclass(frozen=True)
class Scrub(StudioEvent):
    """Show a moment of the take."""

    time: float


@dataclass(frozen=True)
class MoveItem(StudioEvent):
    """Move an obstacle or mover; many moves in a row are one edit until the last, which is `done`."""

    item: str
    x: float
    y: float
    yaw_deg: float
    done: bool = True


@dataclass(frozen=True)
class AddItem(StudioEvent):
    """Add an obstacle or mover."""

    shape: Literal["box", "cylinder", "fence", "beam", "mover"]
    x: float
    y: float
    yaw_deg: float = 0.0
    length: float = 1.0
    width: float = 1.0
    height: float = 1.0
    bottom: float = 0.0
    """Height of the floor that it stands on [m]."""


@dataclass(frozen=True)
class RemoveItem(StudioEvent):
    """Remove an obstacle or mover."""

    item: str


@dataclass(frozen=True)
class AddPeople(StudioEvent):
    """Add a group that starts about one place and goes to about another."""

    count: int
    x: float
    y: float
    goal_x: float
    goal_y: float
    radius: float = 3.0
    floor: str = ""
    """Name of the floor on which it starts; "" for the lowest."""
    goal_floor: str = ""
    """Name of the floor to which it goes; "" for the lowest."""


@dataclass(frozen=True)
class RemovePeople(StudioEvent):
    """Remove some characters, the latest first; or the one that is named."""

    count: int = 1
    character: str = ""


@dataclass(frozen=True)
class SetGoal(StudioEvent):
    """Send a character elsewhere."""

    character: str
    x: float
    y: float
    floor: str = ""
    """Name of the floor of that place; "" for the floor of its goal."""


@dataclass(frozen=True)
class MoveGoal(StudioEvent):
    """Move the goal area of a group, and send all of the group there; x, y is its middle."""

    group: str
    x: float
    y: float


@dataclass(frozen=True)
class MovePlace(StudioEvent):
    """Move a place where errands lead; x, y is its new middle."""

    place: str
    x: float
    y: float


@dataclass(frozen=True)
class MoveSource(StudioEvent):
    """Move the area of a source; x, y is its new middle."""

    source: str
    x: float
    y: float


@dataclass(frozen=True)
class AddSource(StudioEvent):
    """Add a source about a place, whose people do what those of another source, or of a group, do."""

    like: str
    """Name of the source, the group or the character whose errands they do."""
    x: float
    y: float
    rate: float = 12.0
    """People a minute on average [1/min]."""
    count: int = 10
    """Most people who come."""
    radius: float = 1.5
    floor: str = ""
    """Name of the floor; "" for the lowest."""


@dataclass(frozen=True)
class RemoveSource(StudioEvent):
    """Remove a source; who came out of it stays."""

    source: str


@dataclass(frozen=True)
class LetHappen(StudioEvent):
    """Let an event of the scene's rules happen now."""

    event: str


@dataclass(frozen=True)
class Drive(StudioEvent):
    """Drive a character by keys: ahead or back, left or right, each from -1 to 1; all 0 lets it stop."""

    character: str
    forward: float
    turn: float


@dataclass(frozen=True)
class Choose(StudioEvent):
    """Choose another planner for takes, library or seed; the scene begins again."""

    planner: str = ""
    library: str = ""
    seed: int = 0


@dataclass(frozen=True)
class Undo(StudioEvent):
    """Undo the latest edit."""


@dataclass(frozen=True)
class Redo(StudioEvent):
    """Do again what was undone."""


@dataclass(frozen=True)
class Restart(StudioEvent):
    """Put all characters back to their starts."""


def name_of(event: type[StudioEvent]) -> str:
    """Return the name of a kind of event in files: SetGoal is set_goal."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event.__name__).lower()


EVENTS: Mapping[str, type[StudioEvent]] = {name_of(kind): kind for kind in StudioEvent.__subclasses__()}
"""All kinds of events, by name."""


def event_to_dict(event: StudioEvent) -> dict[str, Any]:
    """Return an event as plain values, as `event_from` takes them."""
    return {"do": name_of(type(event)), **asdict(event)}  # type: ignore[call-overload]


def event_from(data: Any) -> StudioEvent:
    """Return an event from plain values, which are checked.

    Raises:
        StudioError: if it is none: what is wrong, and what to write instead.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("do"), str) or data["do"] not in EVENTS:
        raise StudioError(f"no event: {_short(data)}; 'do' must be one of {', '.join(EVENTS)}")
    name, kind = data["do"], EVENTS[data["do"]]
    hints = get_type_hints(kind)
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    for key in data:
        if key != "do" and key not in known:
            raise StudioError(f"event '{name}' has no '{_short(key)}'; it takes {', '.join(known) or 'nothing'}")
    values = {}
    for key, field in known.items():
        if key in data:
            values[key] = _checked(name, key, data[key], hints[key])
        elif field.default is MISSING:
            raise StudioError(f"event '{name}' without '{key}'; write it")
    return kind(**values)


def checked(event: StudioEvent) -> StudioEvent:
    """Return an event whose values are as `event_from` wants them.

    Raises:
        StudioError: if it is none.
    """
    if type(event) not in EVENTS.values():
        raise StudioError(f"no event: {_short(event)}; use one of gaitway.studio.events")
    return event_from(event_to_dict(event))


def _checked(name: str, key: str, value: Any, kind: Any) -> Any:
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise StudioError(f"event '{name}': {key} {_short(value)} must be one of {', '.join(get_args(kind))}")
        return value
    if kind is bool:
        if not isinstance(value, bool):
            raise StudioError(f"event '{name}': {key} {_short(value)} must be true or false")
        return value
    if kind is str:
        if not isinstance(value, str) or len(value) > LONGEST or not value.isprintable():
            raise StudioError(f"event '{name}': {key} {_short(value)} must be a word of at most {LONGEST} letters")
        return value
    low, high = _LIMITS[key]
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not number or not low <= value <= high or (kind is int and value != int(value)):
        what = "whole number" if kind is int else "number"
        raise StudioError(f"event '{name}': {key} {_short(value)} must be a {what} from {low:g} to {high:g}")
    return int(value) if kind is int else float(value)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
