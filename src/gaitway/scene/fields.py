"""Types of the values in a scene file, each with its bounds, its unit and the words for error messages."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

FARTHEST = 100_000.0
"""Largest coordinate [m]; beyond it single-precision poses lose centimetres."""
LONGEST = 10_000.0
"""Largest size of an obstacle [m]."""
LARGEST_AREA = 4e6
"""Largest area of the bounds [m^2]: the grids of planners then have cells of a metre at most, and fit into memory."""
HIGHEST = 1_000.0
"""Largest height [m]."""
LATEST = 86_400.0
"""Latest time [s]: one day."""
MOST_POINTS = 100_000
"""Largest number of points of one outline or path."""


class SceneItem(BaseModel):
    """A map in a scene file: unknown keys are refused, nothing is converted, NaN and infinity are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def wrong(what: str, write: str) -> PydanticCustomError:
    """Return an error with the message `<value> <what>; write <write>`."""
    return PydanticCustomError("scene", "wrong", {"what": what, "write": write})


def field(text: str, default: Any = ..., *, unit: str = "", example: Any = None, **options: Any) -> Any:
    """Return a field with its meaning, unit, default and bounds (`gt`, `ge`, `lt`, `le`, lengths)."""
    extra: dict[str, Any] = {"unit": unit} if unit else {}
    description = f"{text} [{unit}]" if unit else text
    examples = None if example is None else [example]
    return Field(default, description=description, examples=examples, json_schema_extra=extra or None, **options)


def length_field(text: str, default: Any = ..., **options: Any) -> Any:
    """Return a field for a length above 0 [m]."""
    return field(text, default, unit="m", gt=0.0, le=LONGEST, **options)


def height_field(text: str, default: Any = ..., **options: Any) -> Any:
    """Return a field for a height above 0 [m]."""
    return field(text, default, unit="m", gt=0.0, le=HIGHEST, **options)


def bottom_field(text: str = "Underside above the ground") -> Any:
    """Return a field for the height of an underside above the ground [m]."""
    return field(text, 0.0, unit="m", ge=-HIGHEST, le=HIGHEST)


def turn_field(text: str = "Turn about the vertical, counter-clockwise") -> Any:
    """Return a field for an angle [degrees]."""
    return field(text, 0.0, unit="degrees", ge=-3600.0, le=3600.0)


def is_number(value: object) -> bool:
    """Return whether a value is a number and not a truth value."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_number(value: Any, low: float, high: float, write: str) -> None:
    """Raise an error if a value is not a finite number within bounds."""
    if not is_number(value):
        raise wrong("is not a number", write)
    if not _finite(value):
        raise wrong("is not a finite number", write)
    if not low <= value <= high:
        raise wrong(f"is not within {low:g} and {high:g}", write)


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no float can hold
        return False


def _numbers(lengths: tuple[int, ...], form: str, limits: tuple[float, ...]) -> Callable[[Any], tuple[float, ...]]:
    """Return a check for a list of numbers that has one of some lengths; `limits` are the largest absolute values."""

    def check(value: Any) -> tuple[float, ...]:
        if not isinstance(value, tuple):
            raise wrong("is not a list", form)
        if len(value) not in lengths:
            raise wrong(f"has {len(value)} number{'' if len(value) == 1 else 's'}", form)
        for number, limit in zip(value, limits, strict=False):
            if not is_number(number):
                raise wrong("has something that is not a number", form)
            if not _finite(number):
                raise wrong("has something that is not a finite number", form)
            if abs(number) > limit:
                raise wrong(f"has a number beyond {limit:g}", form)
        return tuple(float(number) for number in value)

    return check


def _schema(lengths: tuple[int, ...], form: str, limits: tuple[float, ...]) -> WithJsonSchema:
    items = [{"type": "number", "minimum": -limit, "maximum": limit} for limit in limits]
    return WithJsonSchema(
        {"type": "array", "prefixItems": items, "minItems": min(lengths), "maxItems": max(lengths), "description": form}
    )


_ANGLE = 3600.0
_POSE = (FARTHEST, FARTHEST, _ANGLE, HIGHEST)
check_pose = _numbers((2, 3, 4), "[x, y], [x, y, yaw_deg] or [x, y, yaw_deg, z]", _POSE)
pose_schema = _schema((2, 3, 4), "[x, y] in metres, [x, y, yaw_deg] or [x, y, yaw_deg, z]", _POSE)
Point = Annotated[
    tuple[float, ...],
    BeforeValidator(_numbers((2,), "[x, y] in metres", (FARTHEST,) * 2)),
    _schema((2,), "[x, y] in metres", (FARTHEST,) * 2),
]
"""x, y [m]."""
Pose = Annotated[tuple[float, ...], BeforeValidator(check_pose), pose_schema]
"""x, y [m], and optionally a yaw [degrees] and a height [m]."""
Position = Annotated[
    tuple[float, ...],
    BeforeValidator(_numbers((3,), "[x, y, z] in metres", (FARTHEST, FARTHEST, HIGHEST))),
    _schema((3,), "[x, y, z] in metres", (FARTHEST, FARTHEST, HIGHEST)),
]
"""x, y, z [m]."""
ThingPlace = Annotated[
    tuple[float, ...],
    BeforeValidator(_numbers((3, 4), "[x, y, z] or [x, y, z, yaw_deg]", (FARTHEST, FARTHEST, HIGHEST, _ANGLE))),
    _schema((3, 4), "[x, y, z] in metres or [x, y, z, yaw_deg]", (FARTHEST, FARTHEST, HIGHEST, _ANGLE)),
]
"""x, y, z of the middle of a thing's underside [m], and optionally a yaw [degrees]."""
PathKey = Annotated[
    tuple[float, ...],
    BeforeValidator(_numbers((3, 4), "[t, x, y] or [t, x, y, yaw_deg]", (LATEST, FARTHEST, FARTHEST, 36_000.0))),
    _schema((3, 4), "[t, x, y] (seconds, metres) or [t, x, y, yaw_deg]", (LATEST, FARTHEST, FARTHEST, 36_000.0)),
]
"""Time [s], x, y [m] and optionally a yaw [degrees]."""


def _rectangle(value: Any) -> tuple[float, ...]:
    form = "[xmin, ymin, xmax, ymax] in metres"
    out = _numbers((4,), form, (FARTHEST,) * 4)(value)
    if not (out[0] < out[2] and out[1] < out[3]):
        raise wrong("covers nothing: xmin must be below xmax and ymin below ymax", form)
    return out


Rectangle = Annotated[
    tuple[float, ...],
    BeforeValidator(_rectangle),
    _schema((4,), "[xmin, ymin, xmax, ymax] in metres", (FARTHEST,) * 4),
]
"""xmin, ymin, xmax, ymax [m]."""


def _extent(value: Any) -> tuple[float, ...]:
    form = "[length, width] in metres"
    out = _numbers((2,), form, (LONGEST,) * 2)(value)
    if min(out) <= 0.0:
        raise wrong("must have lengths above 0", form)
    return out


Extent = Annotated[
    tuple[float, ...],
    BeforeValidator(_extent),
    WithJsonSchema(
        {
            "type": "array",
            "prefixItems": [{"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST}] * 2,
            "minItems": 2,
            "maxItems": 2,
            "description": "[length along its own x, width along its own y] in metres",
        }
    ),
]
"""Length and width [m]."""

Word = Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[^\W\d]\w*$")]
"""One word of letters, digits and _."""
Name = Annotated[str, Field(min_length=1, max_length=60, pattern=r"^\w[\w .\-]*$")]
"""A name: letters, digits, spaces, dots, hyphens."""
FileName = Annotated[str, Field(min_length=1, max_length=1000, pattern=r"^[^\x00-\x1f\x7f]+$")]
"""A file name, relative to the file that it is written in."""
Color = Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")]
"""A colour as #rrggbb."""
